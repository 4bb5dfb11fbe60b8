//! The status of a submitter's group at the end of a cycle, and the level of the tree that capped it.

use std::iter;

use serde::Serialize;

use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::internal::quota::summary::SurplusPolicy;
use classmate_pool::{GroupSummary, Outcome};

/// Quota and use of the group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStatus {
    /// Its name.
    pub group: String,
    /// Its quota in weighted slots.
    pub quota: f64,
    /// Its allocation in the first round.
    pub allocated: f64,
    /// Demand of its submitters, with running jobs, in weighted slots.
    pub demand: f64,
    /// Its usage at the end.
    pub usage: f64,
    /// Allocation of the last round less usage; a group above may allow less.
    pub left: f64,
    /// True if a group above has no quota left for it.
    pub capped: bool,
    /// The reason it was allocated no more, in a clause.
    pub why: String,
    /// The derivation of quota and allocation, line by line.
    pub steps: Vec<String>,
}

/// The innermost group whose name begins the submitter's; the root for others.
pub(crate) fn group_of<'o>(outcome: &'o Outcome, submitter: &str) -> Option<&'o GroupSummary> {
    let is_within = |group: &str| {
        submitter.get(..group.len()).is_some_and(|start| start.eq_ignore_ascii_case(group))
            && submitter.as_bytes().get(group.len()) == Some(&b'.')
    };
    let innermost = outcome.groups.iter().filter(|group| is_within(&group.name)).max_by_key(|group| group.name.len());
    innermost.or_else(|| outcome.groups.iter().find(|group| group.parent.is_none()))
}

/// The status of the group of a submitter.
pub(crate) fn group_status(outcome: &Outcome, division: Option<&Division>, submitter: &str) -> Option<GroupStatus> {
    let group = group_of(outcome, submitter)?;
    let explained = division.and_then(|division| division.groups.iter().find(|one| one.summary.name == group.name));
    let (why, steps) = explained.map(|one| (one.why.clone(), one.story.clone())).unwrap_or_default();
    let cap = cap_reason(outcome, &group.name);
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

/// A group and the groups above it, the innermost first.
fn upward<'o>(outcome: &'o Outcome, name: &str) -> impl Iterator<Item = &'o GroupSummary> {
    let of = |name: &str| outcome.groups.iter().find(|one| one.name == name);
    // No more than there are, should they form a circle.
    iter::successors(of(name), move |one| of(one.parent.as_deref()?)).take(outcome.groups.len())
}

/// The nearest group above that does not accept surplus and has less than a slot left, as a clause; none if the group
/// requests no more.
pub(crate) fn cap_reason(outcome: &Outcome, name: &str) -> Option<String> {
    let mut groups = upward(outcome, name);
    groups.next().filter(|group| group.demand > group.usage)?;
    let full = groups.find(|above| is_full(outcome, above))?;
    Some(format!(
        "group `{}` above it does not accept surplus, and its subtree uses {} of its quota of {}",
        full.name,
        slots(subtree_sum(outcome, &full.name, |one| one.usage)),
        slots(full.subtree_quota)
    ))
}

/// Tests if a group does not accept surplus and has less than the lightest matched slot left for its subtree.
pub(crate) fn is_full(outcome: &Outcome, group: &GroupSummary) -> bool {
    let lightest = outcome.matches.iter().map(|made| made.weight).fold(f64::INFINITY, f64::min);
    let lightest = if lightest.is_finite() { lightest } else { 1e-6 };
    group.surplus == SurplusPolicy::No
        && group.parent.is_some()
        && subtree_sum(outcome, &group.name, |one| one.usage) + lightest > group.subtree_quota + 1e-6
}

/// The sum of a figure of a group and of all groups below it.
pub(crate) fn subtree_sum(outcome: &Outcome, above: &str, figure: impl Fn(&GroupSummary) -> f64) -> f64 {
    let is_within = |group: &&GroupSummary| upward(outcome, &group.name).any(|one| one.name == above);
    outcome.groups.iter().filter(is_within).map(figure).fold(0.0, |sum, one| sum + one)
}
