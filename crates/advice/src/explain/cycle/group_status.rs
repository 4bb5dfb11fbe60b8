//! The status of a submitter's group at the end of a cycle, and the level of the tree that capped it.

use serde::Serialize;

use classmate_pool::internal::negotiate::Outcome;
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::internal::quota::summary::{GroupSummary, SurplusPolicy};

/// Quota and use of the group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStatus {
    /// Its name.
    pub group: String,
    /// Its quota in weighted slots.
    pub quota: f64,
    /// Its allocation in the first round.
    pub allocated: f64,
    /// The requests of its submitters.
    pub demand: f64,
    /// Its usage at the end.
    pub usage: f64,
    /// The rest of its allocation after the last round, whatever groups above it may use.
    pub left: f64,
    /// A group above it caps it.
    pub capped: bool,
    /// The reason it was allocated no more, in a clause.
    pub why: String,
    /// The derivation of quota and allocation, line by line.
    pub steps: Vec<String>,
}

/// The innermost group whose name begins the submitter's.
pub(crate) fn group_status(outcome: &Outcome, division: Option<&Division>, submitter: &str) -> Option<GroupStatus> {
    let within = |group: &str| {
        submitter.len() > group.len()
            && submitter.is_char_boundary(group.len())
            && submitter[..group.len()].eq_ignore_ascii_case(group)
            && submitter.as_bytes()[group.len()] == b'.'
    };
    let innermost = outcome.groups.iter().filter(|group| within(&group.name)).max_by_key(|group| group.name.len());
    let group = innermost.or_else(|| outcome.groups.iter().find(|group| group.parent.is_none()))?;
    let told = division.and_then(|division| division.groups.iter().find(|one| one.summary.name == group.name));
    let (why, steps) = told.map(|one| (one.why.clone(), one.story.clone())).unwrap_or_default();
    let cap = capped(outcome, &group.name);
    Some(GroupStatus {
        group: group.name.clone(),
        quota: group.quota,
        allocated: group.granted(),
        demand: group.demand,
        usage: group.usage,
        left: group.allocated - group.usage,
        capped: cap.is_some(),
        why: cap.unwrap_or(why),
        steps,
    })
}

/// The nearest group above that accepts no surplus and of whose quota less than a slot is left, in a clause; none if
/// the group wants no more.
pub(crate) fn capped(outcome: &Outcome, name: &str) -> Option<String> {
    let of = |name: &str| outcome.groups.iter().find(|one| one.name == name);
    let group = of(name)?;
    if group.demand <= group.usage {
        return None;
    }
    let mut above = group.parent.clone();
    for _ in 0..outcome.groups.len() {
        let at = of(above.as_deref()?)?;
        if is_full(outcome, at) {
            return Some(format!(
                "group `{}` above it does not accept surplus, and its subtree uses {} of its quota of {}",
                at.name,
                slots(within(outcome, &at.name, |one| one.usage)),
                slots(at.subtree_quota)
            ));
        }
        above.clone_from(&at.parent);
    }
    None
}

/// Tests if a group accepts no surplus and has less than a slot left for its subtree.
pub(crate) fn is_full(outcome: &Outcome, group: &GroupSummary) -> bool {
    let lightest = outcome.matches.iter().map(|made| made.weight).fold(f64::INFINITY, f64::min);
    let lightest = if lightest.is_finite() { lightest } else { 1e-6 };
    group.surplus == SurplusPolicy::No
        && group.parent.is_some()
        && within(outcome, &group.name, |one| one.usage) + lightest > group.subtree_quota + 1e-6
}

/// The sum of a figure of a group and of all groups below it.
pub(crate) fn within(outcome: &Outcome, above: &str, figure: impl Fn(&GroupSummary) -> f64) -> f64 {
    outcome.groups.iter().filter(|one| is_within(outcome, &one.name, above)).map(figure).fold(0.0, |sum, one| sum + one)
}

/// Tests if a group is in the subtree of another one.
fn is_within(outcome: &Outcome, name: &str, above: &str) -> bool {
    let mut at = Some(name.to_owned());
    for _ in 0..=outcome.groups.len() {
        match at {
            Some(name) if name == above => return true,
            Some(name) => at = outcome.groups.iter().find(|one| one.name == name).and_then(|one| one.parent.clone()),
            None => return false,
        }
    }
    false
}
