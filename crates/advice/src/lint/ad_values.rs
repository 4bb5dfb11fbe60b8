//! Values of an ad that HTCondor never gives it beside other values of the same ad.
//!
//! In: an attribute of an ad. Out: findings of the rule `impossible-value`.

use super::attributes::{exists_only, fact};
use super::exclusive::{APART, activities, are_apart};
use classmate::{ClassAd, Diagnostic, Name, Span, Value};

/// Attributes of slots of which the first is at most the second, lower case: a slot is a part of a machine, and a dynamic one of a
/// partitionable one (`Resource.cpp`, the manual's appendix on attributes of slots).
const OF_SLOTS: [(&str, &str); 14] = [
    ("cpus", "totalcpus"),
    ("cpus", "totalslotcpus"),
    ("memory", "totalmemory"),
    ("memory", "totalslotmemory"),
    ("totalslotcpus", "totalcpus"),
    ("totalslotmemory", "totalmemory"),
    ("gpus", "totalgpus"),
    ("gpus", "totalslotgpus"),
    ("totalslotgpus", "totalgpus"),
    ("daemonstarttime", "mycurrenttime"),
    ("enteredcurrentstate", "mycurrenttime"),
    ("enteredcurrentactivity", "mycurrenttime"),
    ("daemonstarttime", "enteredcurrentstate"),
    ("enteredcurrentstate", "enteredcurrentactivity"),
];

/// Attributes of jobs of which the first is at most the second, lower case (the manual's appendix on attributes of jobs). Times that
/// did not come yet are missing or 0.
const OF_JOBS: [(&str, &str); 9] = [
    ("qdate", "enteredcurrentstatus"),
    ("jobstartdate", "jobcurrentstartdate"),
    ("joblaststartdate", "jobcurrentstartdate"),
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
    is_state_of(name).is_some()
        || has_form(name)
        || is("activity")
        || OF_SLOTS.iter().chain(&OF_JOBS).any(|(one, _)| is(one))
        || APART.iter().any(|[_, two]| is(two.0))
}

/// The finding about the value of an attribute beside another one of the ad.
///
/// `text` is what is written as the value. The ad is a slot's, or a job's.
pub(super) fn find(name: Name, text: &[u8], ad: &ClassAd, is_slot: bool) -> Option<Diagnostic> {
    if !depends_on_others(name) {
        return None;
    }
    let span = Span::new(0, text.trim_ascii().len());
    if let Some((why, help)) = of_form(name, ad) {
        return Some(Diagnostic::warning(why, span).help(help).code("impossible-value"));
    }
    let why = if is_slot {
        more_than(name, ad, &OF_SLOTS).or_else(|| apart(name, ad))
    } else {
        more_than(name, ad, &OF_JOBS)
    };
    let why = why.or_else(|| of_other_state(name, ad))?;
    Some(Diagnostic::warning(why, span).help("correct one of the two attributes").code("impossible-value"))
}

/// Tests whether values of an attribute have a form, or are times.
fn has_form(name: Name) -> bool {
    fact(name.folded()).is_some_and(|fact| fact.sign.is_some() || fact.unit == Some("time"))
}

/// The value of an attribute in another form than HTCondor gives it: a user without a domain, a time in milliseconds.
fn of_form(name: Name, ad: &ClassAd) -> Option<(String, String)> {
    let fact = fact(name.folded())?;
    match ad.constant(name)? {
        Value::Str(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            let message = format!("`{}` is `{text}`, and HTCondor gives it", fact.name);
            match fact.sign {
                Some(true) if !text.contains('@') && !text.is_empty() => {
                    Some((format!("{message} a name with its domain"), format!("write `\"{text}@example.org\"`")))
                }
                Some(false) if text.contains('@') => {
                    let plain = text.split('@').next().unwrap_or_default();
                    Some((format!("{message} a name without a domain"), format!("write `\"{plain}\"`")))
                }
                _ => None,
            }
        }
        Value::Int(number) if fact.unit == Some("time") && number > MAX_TIME => {
            let message = format!("`{}` is a time in seconds since 1970, and this one is in milliseconds", fact.name);
            Some((message, format!("write `{}`", number / 1000)))
        }
        _ => None,
    }
}

/// A time in seconds that is thousands of years away.
const MAX_TIME: i64 = 100_000_000_000;

/// The state, of a slot or a job, with the values that it has while there is an attribute.
fn is_state_of(name: Name) -> Option<(&'static str, Vec<&'static str>)> {
    exists_only(name.folded()).filter(|(state, _)| matches!(*state, "State" | "JobStatus"))
}

/// An attribute that is not there in the state of the ad.
fn of_other_state(name: Name, ad: &ClassAd) -> Option<String> {
    let (state, values) = is_state_of(name)?;
    let own = match ad.constant(Name::new(state))? {
        Value::Str(text) => String::from_utf8_lossy(&text).into_owned(),
        Value::Int(number) => number.to_string(),
        _ => return None,
    };
    let is_there = values.iter().any(|value| value.eq_ignore_ascii_case(&own));
    let message = format!("`{name}` exists only while `{state}` is {}, and it is {own}", values.join(" or "));
    (!is_there).then_some(message)
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
