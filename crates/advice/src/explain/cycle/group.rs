//! The trace of a quota in a cycle: its derivation, its allocation, and the matches of its submitters, step by step.

use serde::Serialize;

use crate::explain::cycle::group_status::{cap_reason, group_of, is_full, subtree_sum};
use classmate::internal::plural::counted;
use classmate_pool::Outcome;
use classmate_pool::internal::negotiate::quotas::{Division, ExplainedGroup};
use classmate_pool::internal::quota::derivation::slots;

/// A group, and its quota in a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuotaTrace {
    /// Its numbers and how they came about.
    #[serde(flatten)]
    pub explained: ExplainedGroup,
    /// Its usage at the end of the cycle.
    pub used: f64,
    /// The allocation of the first round.
    pub granted: f64,
    /// Its submitters: name, idle jobs, matches, and why each got no more.
    pub submitters: Vec<(String, i64, usize, String)>,
    /// Line by line.
    pub steps: Vec<String>,
}

/// The derivation of the quota of a group; none if there is no such group.
pub fn trace(outcome: &Outcome, division: Division, name: &str) -> Option<QuotaTrace> {
    let explained = division.groups.into_iter().find(|one| one.summary.name.eq_ignore_ascii_case(name))?;
    let group = &explained.summary.name;
    let end = outcome.groups.iter().find(|one| one.name == *group);
    let members = outcome
        .submitters
        .iter()
        .filter(|line| group_of(outcome, &line.submitter).is_some_and(|one| one.name == *group));
    let submitters: Vec<_> = members
        .map(|line| (line.submitter.clone(), line.idle, line.matched, line.stopped.as_str().to_owned()))
        .collect();
    let mut steps = explained.story.clone();
    for (submitter, idle, matched, stopped) in &submitters {
        steps.push(format!("{submitter}: {matched} of {} matched; {stopped}", counted(*idle, "idle job")));
    }
    let (used, granted) = end.map_or((0.0, 0.0), |end| (end.usage, end.granted()));
    let why = cap_reason(outcome, group).unwrap_or_else(|| explained.why.clone());
    steps.push(format!("after the cycle it uses {} of {} allocated: {why}", slots(used), slots(granted)));
    // The requests of groups below are not in the figures of the group itself.
    let below = outcome.groups.iter().any(|one| one.parent.as_deref() == Some(group));
    if let Some(end) = end.filter(|end| below && end.parent.is_some()) {
        let [usage, demand] =
            [subtree_sum(outcome, group, |one| one.usage), subtree_sum(outcome, group, |one| one.demand)].map(slots);
        let full = match is_full(outcome, end) {
            true if subtree_sum(outcome, group, |one| one.demand) > subtree_sum(outcome, group, |one| one.usage) => {
                "; it does not accept surplus, which limits all of them"
            }
            true => "; it does not accept surplus",
            false => "",
        };
        steps.push(format!(
            "including its subgroups, it uses {usage} of its subtree quota of {}, and {demand} is requested{full}",
            slots(end.subtree_quota)
        ));
    }
    let explained = ExplainedGroup { why, ..explained };
    Some(QuotaTrace { explained, used, granted, submitters, steps })
}
