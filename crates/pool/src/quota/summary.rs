//! Result of a cycle for each group, as plain data that serializes.
//!
//! The names of the fields are the names in `--format json`.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::derivation::slots;
use super::grant::{Grant, SurplusPot};
use super::rounds::{Round, Rounds};
use super::tree::{Configured, Group, GroupTree, ROOT};

/// A group: what it is configured to have, what that is in this pool, what it was granted and what it uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupSummary {
    /// Its full name; `<none>` for those in no group.
    pub name: String,
    /// The group above; none for the root.
    pub parent: Option<String>,
    /// `static`, `dynamic`, or `pool` for the root.
    pub kind: QuotaKind,
    /// The quota as configured: weighted slots or a fraction; 0 for the root. `ConfigQuota` of the accountant.
    pub configured: f64,
    /// The rule by which it accepts surplus. `SurplusPolicy` of the accountant.
    pub surplus: SurplusPolicy,
    /// Its own quota in weighted slots. `EffectiveQuota` of the accountant.
    pub quota: f64,
    /// The quota of it and all below it. `SubtreeQuota` of the accountant.
    pub subtree_quota: f64,
    /// Demand of its submitters, including running jobs. `Requested` of the accountant.
    pub demand: f64,
    /// Usage at the start of the cycle.
    pub usage_before: f64,
    /// Usage at the end.
    pub usage: f64,
    /// Weighted slots allocated in the last round.
    pub allocated: f64,
    /// Its place in the order of the last round: the lowest goes first. `GroupSortKey` of the accountant.
    pub sort_key: f64,
    /// The grant of each round, and its derivation.
    pub rounds: Vec<RoundSummary>,
}

impl GroupSummary {
    /// Weighted slots to which it was entitled: the grant of the first round, before groups released what they could not use. The
    /// grant of the last round is what it had in the end.
    pub fn granted(&self) -> f64 {
        self.rounds.first().map_or(self.allocated, |round| round.allocated)
    }

    /// The largest limit of its calls, in weighted slots: up to its quota, although it may be allocated less. None if it was
    /// not negotiated with.
    pub fn limit(&self) -> Option<f64> {
        self.rounds.iter().flat_map(|round| &round.limits).max().map(|limit| f64::from(*limit))
    }
}

/// The kind of a configured quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaKind {
    /// Weighted slots.
    Static,
    /// A fraction of the parent's quota.
    Dynamic,
    /// All of the pool that is not given to groups.
    Pool,
}

/// Source of usage beyond a quota; spelled as the accountant does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurplusPolicy {
    /// Nothing.
    No,
    /// Surplus, in proportion to quotas.
    ByQuota,
    /// Its submitters are served once more with those in no group.
    Regroup,
}

impl SurplusPolicy {
    /// The policy of a group.
    pub fn of(group: &Group) -> Self {
        match (group.autoregroup, group.accepts_surplus) {
            (true, _) => Self::Regroup,
            (false, true) => Self::ByQuota,
            (false, false) => Self::No,
        }
    }

    /// As the accountant spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::ByQuota => "byquota",
            Self::Regroup => "regroup",
        }
    }
}

/// The grant of a group in one round: `allocated` is `fair`, plus surplus taken, plus `rounding`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundSummary {
    /// Number of the round, from 1.
    pub round: u32,
    /// Demand.
    pub demand: f64,
    /// Usage at the start.
    pub usage: f64,
    /// Demand covered by its own quota.
    pub fair: f64,
    /// Unused part of its own quota, which became surplus.
    pub spare: f64,
    /// The pot shared between it and the groups directly below it.
    pub level: SurplusPot,
    /// Surplus it took, by the group that owns the pot.
    pub taken: Vec<Source>,
    /// Without slot weights: fractions given up (negative) and single slots won.
    pub rounding: f64,
    /// Weighted slots allocated.
    pub allocated: f64,
    /// Demand beyond that.
    pub unmet: f64,
    /// Its place in the order.
    pub sort_key: f64,
    /// The limits of its calls, as whole numbers.
    pub limits: Vec<i32>,
}

/// A source of surplus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The group whose pot it was.
    pub from: String,
    /// Weighted slots.
    pub amount: f64,
}

/// All groups of a cycle, breadth first, with their results so far. `demand` is that at the start of the cycle.
pub fn summaries(tree: &GroupTree, rounds: &Rounds<'_>, demand: &[f64]) -> Vec<GroupSummary> {
    let mut limits: Vec<Vec<Vec<i32>>> = Vec::with_capacity(rounds.record().len());
    for round in rounds.record() {
        let mut of_round = vec![Vec::new(); tree.len()];
        for call in &round.calls {
            // Nothing is matched where the limit cannot be computed.
            of_round[call.group].push(call.limit.map_or(0, |_| call.whole_limit()));
        }
        limits.push(of_round);
    }
    let first = rounds.record().first();
    let summary = |(at, group): (usize, &Group)| {
        let last: Option<&Grant> = rounds.record().last().map(|round| &round.grants[at]);
        let assigned = rounds.assigned()[at];
        GroupSummary {
            name: tree.display(at),
            parent: (at != ROOT).then(|| tree.display(group.parent)),
            kind: match group.configured {
                Configured::Static(_) => QuotaKind::Static,
                Configured::Dynamic(_) => QuotaKind::Dynamic,
                Configured::Pool => QuotaKind::Pool,
            },
            configured: group.configured.number(),
            surplus: SurplusPolicy::of(group),
            quota: last.map_or(assigned.quota, |grant| grant.quota),
            subtree_quota: assigned.subtree_quota,
            demand: demand.get(at).copied().unwrap_or(0.0),
            usage_before: first.map_or(0.0, |round| round.grants[at].usage),
            usage: rounds.in_use()[at],
            allocated: last.map_or(0.0, |grant| grant.allocated),
            sort_key: last.map_or(0.0, |grant| grant.sort_key),
            rounds: rounds
                .record()
                .iter()
                .zip(&mut limits)
                .map(|(round, limits)| of_round(tree, round, at, std::mem::take(&mut limits[at])))
                .collect(),
        }
    };
    tree.groups().iter().enumerate().map(summary).collect()
}

/// A sentence for each group with static quotas below it that are scaled down, because they sum to more than it has.
///
/// ```
/// use classmate_config::Config;
/// use classmate_pool::{Snapshot, negotiate};
/// use classmate_pool::internal::quota::summary::scaled_down;
/// let mut pool = Snapshot::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groups"))?.snapshot;
/// assert!(scaled_down(&negotiate(&pool).unwrap().groups).is_empty());
/// // The pool has 30 slots, and chemistry a quota of 10.
/// pool.config.add("more", b"GROUP_QUOTA_physics = 50").unwrap();
/// assert_eq!(
///     scaled_down(&negotiate(&pool).unwrap().groups),
///     ["static quotas at the top level sum to 60, more than the pool's 30: they are scaled down"]
/// );
/// # Ok::<(), classmate_pool::internal::negotiate::LoadError>(())
/// ```
pub fn scaled_down<'g>(groups: impl IntoIterator<Item = &'g GroupSummary, IntoIter: Clone>) -> Vec<String> {
    let groups = groups.into_iter();
    // By parent the sum of the static quotas below it, and whether one of them is scaled down.
    let mut below: HashMap<&str, (f64, bool)> = HashMap::new();
    for group in groups.clone().filter(|group| group.kind == QuotaKind::Static) {
        let Some(parent) = &group.parent else { continue };
        let (sum, is_scaled) = below.entry(parent.as_str()).or_default();
        *sum += group.configured.max(0.0);
        *is_scaled |= group.subtree_quota < group.configured;
    }
    let sentence = |parent: &GroupSummary| {
        let (sum, _) = below.get(parent.name.as_str()).filter(|(_, is_scaled)| *is_scaled)?;
        let (place, owner) = match parent.kind {
            QuotaKind::Pool => ("at the top level".to_owned(), "the pool's"),
            _ => (format!("below `{}`", parent.name), "its"),
        };
        let (sum, has) = (slots(*sum), slots(parent.subtree_quota));
        Some(format!("static quotas {place} sum to {sum}, more than {owner} {has}: they are scaled down"))
    };
    groups.filter_map(sentence).collect()
}

fn of_round(tree: &GroupTree, round: &Round, group: usize, limits: Vec<i32>) -> RoundSummary {
    let grant = &round.grants[group];
    let source = |taken: &super::grant::SurplusTaken| Source { from: tree.display(taken.from), amount: taken.amount };
    RoundSummary {
        round: round.round,
        demand: grant.demand,
        usage: grant.usage,
        fair: grant.fair,
        spare: grant.spare,
        level: grant.level,
        taken: grant.taken.iter().map(source).collect(),
        rounding: grant.rounding,
        allocated: grant.allocated,
        unmet: grant.unmet,
        sort_key: grant.sort_key,
        limits,
    }
}
