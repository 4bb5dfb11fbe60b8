//! The trace of a quota in a cycle: its derivation, its allocation, and the matches of its submitters, step by step.

use serde::Serialize;

use crate::explain::cycle::record::{OutcomeRecord, Subtree};
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
    let record = OutcomeRecord::new(outcome, &[]);
    let end = record.group(group);
    let is_of = |submitter: &str| record.group_of(submitter).map(|(at, _)| at) == end.map(|(at, _)| at);
    let members = outcome.submitters.iter().filter(|line| is_of(&line.submitter));
    let submitters: Vec<_> = members
        .map(|line| (line.submitter.clone(), line.idle, line.matched, line.stopped.as_str().to_owned()))
        .collect();
    let mut steps = explained.story.clone();
    for (submitter, idle, matched, stopped) in &submitters {
        steps.push(format!("{submitter}: {matched} of {} matched; {stopped}", counted(*idle, "idle job")));
    }
    let (used, granted) = end.map_or((0.0, 0.0), |(_, end)| (end.usage, end.granted()));
    let why = end.and_then(|(at, _)| record.beyond(at)).unwrap_or_else(|| explained.why.clone());
    let quota = end.map(|(_, end)| end.quota).filter(|quota| used > granted && *quota > granted);
    steps.push(match quota {
        Some(quota) => format!(
            "after the cycle it uses {} of its quota of {}, with {} allocated: {why}",
            slots(used),
            slots(quota),
            slots(granted)
        ),
        None => format!("after the cycle it uses {} of {} allocated: {why}", slots(used), slots(granted)),
    });
    // The requests of groups below are not in the figures of the group itself.
    let below = outcome.groups.iter().any(|one| one.parent.as_deref() == Some(group));
    if let Some((at, end)) = end.filter(|(_, end)| below && end.parent.is_some()) {
        let Subtree { usage, demand } = record.subtree(at);
        let full = match record.is_full(at) {
            true if demand > usage => "; it does not accept surplus, which limits all of them",
            true => "; it does not accept surplus",
            false => "",
        };
        steps.push(format!(
            "including its subgroups, it uses {} of its subtree quota of {}, and {} is requested{full}",
            slots(usage),
            slots(end.subtree_quota),
            slots(demand)
        ));
    }
    let explained = ExplainedGroup { why, ..explained };
    Some(QuotaTrace { explained, used, granted, submitters, steps })
}
