//! Values of an ad that HTCondor never gives it beside other values of the same ad.
//!
//! In: an attribute of an ad. Out: findings of the rule `impossible-value`.

use super::exclusive::{APART, activities, are_apart};
use classmate::{ClassAd, Diagnostic, Name, Span, Value};

/// Attributes of slots of which the first is at most the second, lower case: a slot is a part of a machine, and a dynamic one of a
/// partitionable one (`Resource.cpp`, the manual's appendix on attributes of slots).
const OF_SLOTS: [(&str, &str); 4] =
    [("cpus", "totalcpus"), ("cpus", "totalslotcpus"), ("memory", "totalmemory"), ("memory", "totalslotmemory")];

/// Attributes of jobs of which the first is at most the second, lower case (the manual's appendix on attributes of jobs). Times that
/// did not come yet are missing or 0.
const OF_JOBS: [(&str, &str); 6] = [
    ("qdate", "jobstartdate"),
    ("qdate", "jobcurrentstartdate"),
    ("qdate", "completiondate"),
    ("jobstartdate", "completiondate"),
    ("currenthosts", "maxhosts"),
    ("minhosts", "maxhosts"),
];

/// Tests whether others of its ad decide if the value of an attribute is possible.
pub(super) fn depends_on_others(name: Name) -> bool {
    let is = |known: &str| known.as_bytes() == name.folded();
    is("activity") || OF_SLOTS.iter().chain(&OF_JOBS).any(|(one, _)| is(one)) || APART.iter().any(|[_, two]| is(two.0))
}

/// The finding about the value of an attribute beside another one of the ad.
///
/// `text` is what is written as the value. The ad is a slot's, or a job's.
pub(super) fn find(name: Name, text: &[u8], ad: &ClassAd, is_slot: bool) -> Option<Diagnostic> {
    if !depends_on_others(name) {
        return None;
    }
    let why = if is_slot {
        more_than(name, ad, &OF_SLOTS).or_else(|| apart(name, ad))
    } else {
        more_than(name, ad, &OF_JOBS)
    }?;
    let span = Span::new(0, text.trim_ascii().len());
    Some(Diagnostic::warning(why, span).help("correct one of the two attributes").code("impossible-value"))
}

fn more_than(name: Name, ad: &ClassAd, pairs: &[(&str, &str)]) -> Option<String> {
    let number = |name: Name| match ad.constant(name)? {
        Value::Int(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    };
    let own = number(name)?;
    let others = pairs.iter().filter(|(one, _)| one.as_bytes() == name.folded()).map(|(_, other)| Name::new(other));
    let (other, most) =
        others.filter_map(|other| Some((other, number(other)?))).find(|(_, most)| 0.0 < *most && *most < own)?;
    let shown = ad.names().find(|name| *name == other).unwrap_or(other);
    Some(format!("`{name}` is never more than `{shown}`, which is {most}"))
}

fn apart(name: Name, ad: &ClassAd) -> Option<String> {
    let word = |name: Name| match ad.constant(name)? {
        Value::Str(text) => Some(String::from_utf8_lossy(&text).to_ascii_lowercase()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    let own = word(name)?;
    let mut others = ad.names().filter_map(|other| Some((other, word(other)?)));
    let (other, value) = others.find(|(other, value)| are_apart((*other, value), (name, &own)))?;
    Some(match activities(&value).filter(|_| name.folded() == b"activity") {
        Some(all) => format!("a slot whose `{other}` is {value} is never {own}, but {}", all.join(" or ")),
        None => format!("`{name}` is never {own} where `{other}` is {value}"),
    })
}
