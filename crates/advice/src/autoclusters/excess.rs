//! Autoclusters beyond those that differ in what they match: the attributes that make them.

use hashbrown::HashMap;

use super::Audit;
use super::counting::JobValues;
use classmate::Name;

/// Autoclusters up to which nothing needs to be done.
pub(super) const FEW: usize = 10;
/// Minimum number of autoclusters to report when the number of different outcomes is unknown.
const MANY: usize = 100;
/// Attributes that are taken out together.
const TOGETHER: usize = 4;
/// Attributes that are tried, those with the most values first.
const TRIED: usize = 16;

/// Attributes that split the queue though hardly any match depends on how.
pub(super) struct Excess {
    /// Those that are not reported yet.
    pub names: Vec<Name>,
    /// All that have to be taken out together.
    pub together: Vec<Name>,
    /// Autoclusters without all of them.
    pub left: usize,
}

/// Returns whether an attribute is a condition: it takes with it what it refers to.
pub(super) fn is_condition(name: &str) -> bool {
    ["Requirements", "Rank"].iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// The names, from one on, that cannot be left out one by one; at least one of these is left.
pub(super) fn needed(mut names: Vec<Name>, from: usize, mut can_be_left: impl FnMut(&[Name]) -> bool) -> Vec<Name> {
    let mut at = from;
    while at < names.len() && names.len() > from + 1 {
        let mut fewer = names.clone();
        fewer.remove(at);
        if can_be_left(&fewer) {
            names = fewer;
        } else {
            at += 1;
        }
    }
    names
}

/// The attributes without which there are far fewer autoclusters, if there are at least twice those that differ; those
/// that are reported already are taken out first.
///
/// An attribute is judged by what is left if it is alike in all jobs that do not differ in what they match: one on which
/// matches depend saves nothing.
pub(super) fn of(
    audit: &Audit,
    job_values: &JobValues<'_>,
    outcomes: Option<&HashMap<u32, u32>>,
    reported: &[Name],
) -> Option<Excess> {
    if outcomes.is_none() && audit.autoclusters < MANY {
        return None;
    }
    let goal = FEW.max(audit.outcomes.unwrap_or_default() * 2);
    let alike = HashMap::new();
    let left = |without: &[Name]| job_values.differing(without, outcomes.unwrap_or(&alike));
    let start = if audit.autoclusters < goal { 0 } else { left(reported) };
    if start < goal {
        return None;
    }
    let mut tried: Vec<_> = audit.attributes.iter().filter(|one| one.values > 1).collect();
    tried.sort_by(|one, two| two.values.cmp(&one.values).then_with(|| one.name.cmp(&two.name)));
    let names = |conditions: bool| -> Vec<Name> {
        let of = tried.iter().filter(|one| conditions || !is_condition(&one.name)).map(|one| Name::new(&one.name));
        of.filter(|name| !reported.contains(name)).take(TRIED).collect()
    };
    let best = |among: &[Name]| {
        let (mut without, mut count) = (reported.to_vec(), start);
        while count >= goal && without.len() < reported.len() + TOGETHER {
            let with = |name: Name| [without.as_slice(), &[name]].concat();
            let others = among.iter().filter(|name| !without.contains(*name));
            // Of equals the one with the most values.
            let Some((less, name)) = others.map(|name| (left(&with(*name)), *name)).min_by_key(|(less, _)| *less)
            else {
                break;
            };
            without.push(name);
            count = less;
        }
        (count * 2 <= start).then_some((without, count))
    };
    let (together, count) = best(&names(false)).or_else(|| best(&names(true)))?;
    // Attributes that make nearly no difference are not reported.
    let together = needed(together, 0, |fewer| left(fewer) < count * 2);
    let names: Vec<Name> = together.iter().copied().filter(|name| !reported.contains(name)).collect();
    let left = job_values.count(&together).0;
    (!names.is_empty()).then_some(Excess { names, together, left })
}
