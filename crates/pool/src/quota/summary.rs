//! What a cycle meant for each group, as plain data that serialises.
//!
//! The names of the fields are the names in `--format json`.

use serde::{Deserialize, Serialize};

use super::grant::{Grant, Level};
use super::rounds::{Round, Rounds};
use super::tree::{Configured, Group, GroupTree, ROOT};

/// A group: what it is configured to have, what that is in this pool, what it was granted and what it uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Its full name; `<none>` for those in no group.
    pub name: String,
    /// The group above; none for the root.
    pub parent: Option<String>,
    /// `static`, `dynamic`, or `pool` for the root.
    pub kind: Kind,
    /// The quota as configured: weighted slots or a fraction; 0 for the root. `ConfigQuota` of the accountant.
    pub configured: f64,
    /// Whether it takes what others leave. `SurplusPolicy` of the accountant.
    pub surplus: SurplusPolicy,
    /// Its own quota in weighted slots. `EffectiveQuota` of the accountant.
    pub quota: f64,
    /// The quota of it and all below it. `SubtreeQuota` of the accountant.
    pub subtree_quota: f64,
    /// What its submitters ask for, running jobs included. `Requested` of the accountant.
    pub demand: f64,
    /// What it used when the cycle began.
    pub usage_before: f64,
    /// What it uses at the end.
    pub usage: f64,
    /// What it was granted in the last round.
    pub allocated: f64,
    /// Its place in the order of the last round: the lowest goes first. `GroupSortKey` of the accountant.
    pub sort_key: f64,
    /// What each round granted, and how.
    pub rounds: Vec<RoundSummary>,
}

impl GroupSummary {
    /// What it was entitled to in weighted slots: what the first round granted. What the last round granted is what was
    /// left to be used.
    pub fn granted(&self) -> f64 {
        self.rounds.first().map_or(self.allocated, |round| round.allocated)
    }
}

/// How a quota is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Weighted slots.
    Static,
    /// A fraction of the parent's quota.
    Dynamic,
    /// All of the pool that is not given to groups.
    Pool,
}

/// What a group may use beyond its quota; spelled as the accountant does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurplusPolicy {
    /// Nothing.
    No,
    /// What others leave, in proportion to quotas.
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

/// What one round granted to a group: `allocated` is `fair`, what was taken, and `rounding`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundSummary {
    /// Which round, from 1.
    pub round: u32,
    /// What it asked for.
    pub demand: f64,
    /// What it used at the beginning.
    pub usage: f64,
    /// What its own quota covers of its demand.
    pub fair: f64,
    /// What it did not need of its own quota, and left to others.
    pub spare: f64,
    /// The pot shared between it and the groups directly below it.
    pub level: Level,
    /// What it took of surplus, by the group whose pot it was.
    pub taken: Vec<Source>,
    /// Without slot weights: fractions given up (negative) and single slots won.
    pub rounding: f64,
    /// What it may use.
    pub allocated: f64,
    /// What it asked for beyond that.
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

/// All groups of a cycle, breadth first, with what has happened to them so far. `demand` is what they asked for at its
/// beginning.
pub fn summaries(tree: &GroupTree, rounds: &Rounds<'_>, demand: &[f64]) -> Vec<GroupSummary> {
    let mut limits: Vec<Vec<Vec<i32>>> = Vec::with_capacity(rounds.record().len());
    for round in rounds.record() {
        let mut of_round = vec![Vec::new(); tree.len()];
        for call in &round.calls {
            of_round[call.group].push(call.whole_limit());
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
                Configured::Static(_) => Kind::Static,
                Configured::Dynamic(_) => Kind::Dynamic,
                Configured::Pool => Kind::Pool,
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

fn of_round(tree: &GroupTree, round: &Round, group: usize, limits: Vec<i32>) -> RoundSummary {
    let grant = &round.grants[group];
    let source = |taken: &super::grant::Taken| Source { from: tree.display(taken.from), amount: taken.amount };
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
