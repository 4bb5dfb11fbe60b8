//! How the group of a submitter stands at the end of a cycle, and which level of the tree capped it.

use serde::Serialize;

use crate::config::ConfigError;
use crate::negotiate::quotas::divide;
use crate::negotiate::{Outcome, Snapshot};
use crate::quota::story::slots;
use crate::quota::summary::SurplusPolicy;

/// Quota and use of the group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStand {
    /// Its name.
    pub group: String,
    /// Its quota in weighted slots.
    pub quota: f64,
    /// What it was granted in the last round.
    pub allocated: f64,
    /// What its submitters ask for.
    pub demand: f64,
    /// What it uses at the end.
    pub usage: f64,
    /// Why it was granted no more, in a clause.
    pub why: String,
    /// How quota and grant came about, line by line.
    pub steps: Vec<String>,
}

/// The innermost group whose name begins the submitter's.
pub(super) fn stand(
    outcome: &Outcome,
    snapshot: &Snapshot,
    submitter: &str,
) -> Result<Option<GroupStand>, ConfigError> {
    let within = |group: &str| {
        submitter.len() > group.len()
            && submitter.is_char_boundary(group.len())
            && submitter[..group.len()].eq_ignore_ascii_case(group)
            && submitter.as_bytes()[group.len()] == b'.'
    };
    let innermost = outcome.groups.iter().filter(|group| within(&group.name)).max_by_key(|group| group.name.len());
    let Some(group) = innermost.or_else(|| outcome.groups.iter().find(|group| group.parent.is_none())) else {
        return Ok(None);
    };
    let division = divide(snapshot)?;
    let told = division.groups.into_iter().find(|one| one.summary.name == group.name);
    let (why, steps) = told.map(|one| (one.why, one.story)).unwrap_or_default();
    let full = |name: &str| -> Option<String> {
        let above = outcome.groups.iter().find(|one| one.name == name)?;
        let used: f64 =
            outcome.groups.iter().filter(|one| is_within(outcome, &one.name, name)).map(|one| one.usage).sum();
        let strict = above.surplus == SurplusPolicy::No && above.parent.is_some() && used + 1e-6 >= above.subtree_quota;
        strict.then(|| {
            format!(
                "`{name}` above it accepts no surplus, and all below it use {} of its {}",
                slots(used),
                slots(above.subtree_quota)
            )
        })
    };
    let mut above = group.parent.clone();
    let mut capped = None;
    for _ in 0..outcome.groups.len() {
        let Some(name) = above else { break };
        capped = full(&name);
        if capped.is_some() {
            break;
        }
        above = outcome.groups.iter().find(|one| one.name == name).and_then(|one| one.parent.clone());
    }
    let why = capped.unwrap_or(why);
    Ok(Some(GroupStand {
        group: group.name.clone(),
        quota: group.quota,
        allocated: group.allocated,
        demand: group.demand,
        usage: group.usage,
        why,
        steps,
    }))
}

/// Whether a group is another one or stands below it.
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
