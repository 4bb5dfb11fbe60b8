//! Values of an ad that HTCondor never gives it beside other values of the same ad.
//!
//! In: an attribute of an ad. Out: findings of the rule `impossible-value`.

use super::attributes::{exists_only, fact};
use super::compared_values::wrong_size;
use super::exclusive::{APART, activities, are_apart};
use classmate::{ClassAd, Diagnostic, Name, Span, Value};

/// Attributes of slots of which the first is at most the second, lower case: a slot is a part of a machine, and a dynamic one of a
/// partitionable one (`Resource.cpp`, the manual's appendix on attributes of slots).
const OF_SLOTS: [(&str, &str); 16] = [
    ("condorloadavg", "loadavg"),
    ("keyboardidle", "consoleidle"),
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
        || is_list(name)
        || is("opsysmajorver")
        || is("slotid")
        || BESIDE.iter().any(|known| is(known))
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
    let why = why.or_else(|| of_other_state(name, ad)).or_else(|| of_other_release(name, ad));
    let why = why.or_else(|| of_other_slot(name, ad)).or_else(|| no_list(name, ad));
    let why = why.or_else(|| if is_slot { of_other_machine(name, ad) } else { of_other_job(name, ad) })?;
    Some(Diagnostic::warning(why, span).help("correct one of the two attributes").code("impossible-value"))
}

/// Tests whether values of an attribute have a form, or are times.
fn has_form(name: Name) -> bool {
    fact(name.folded()).is_some_and(|fact| fact.sign.is_some() || matches!(fact.unit, Some("time" | "MiB" | "KiB")))
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
        Value::Int(number) => {
            let unit = fact.unit.filter(|unit| matches!(*unit, "MiB" | "KiB"))?;
            let looks = wrong_size(unit, number as f64).filter(|looks| looks.ends_with("bytes"))?;
            Some((format!("`{}` is in {unit}, and the number is probably {looks}", fact.name), format!("write {unit}")))
        }
        _ => None,
    }
}

/// The major version of Linux, beside the name with the version, and the number of the version (`sysapi/arch.cpp`).
fn of_other_release(name: Name, ad: &ClassAd) -> Option<String> {
    let is_linux = matches!(ad.constant("OpSys"), Some(Value::Str(text)) if text.eq_ignore_ascii_case(b"linux"));
    let Value::Int(major) = ad.constant(name).filter(|_| name.folded() == b"opsysmajorver")? else { return None };
    let is_other = ad.contains("OpSys") && !is_linux;
    if let Some(Value::Str(text)) = ad.constant("OpSysAndVer").filter(|_| !is_other) {
        let text = String::from_utf8_lossy(&text).into_owned();
        let digits = &text[text.trim_end_matches(|sign: char| sign.is_ascii_digit()).len()..];
        if digits.parse::<i64>().is_ok_and(|number| number != major) {
            return Some(format!("`{name}` is {major}, and `OpSysAndVer` is `{text}`"));
        }
    }
    let Value::Int(version) = ad.constant("OpSysVer").filter(|_| is_linux)? else { return None };
    let message = format!("`{name}` is {major}, and `OpSysVer` is {version}: the release and two digits");
    (version >= 100 && version / 100 != major).then_some(message)
}

/// The number of a slot that has another one in its name, `slot2@…` (`Resource.cpp`).
fn of_other_slot(name: Name, ad: &ClassAd) -> Option<String> {
    let Value::Int(number) = ad.constant(name).filter(|_| name.folded() == b"slotid")? else { return None };
    let Value::Str(text) = ad.constant("Name")? else { return None };
    let text = String::from_utf8_lossy(&text).into_owned();
    let (slot, _) = text.strip_prefix("slot")?.split_once('@')?;
    let own = slot.split('_').next()?.parse::<i64>().ok()?;
    (own != number).then(|| format!("`{name}` is {number}, and the slot is called `{text}`"))
}

/// Attributes whose values other attributes repeat in part, or exclude, lower case.
const BESIDE: [&str; 15] = [
    "accountinggroup",
    "availablegpus",
    "completiondate",
    "dockerversion",
    "dynamicslot",
    "exitcode",
    "exitsignal",
    "globaljobid",
    "javaversion",
    "opsysandver",
    "owner",
    "partitionableslot",
    "singularityversion",
    "slottype",
    "user",
];

fn text_of(name: &str, ad: &ClassAd) -> Option<String> {
    match ad.constant(name)? {
        Value::Str(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        _ => None,
    }
}

fn number_of(name: &str, ad: &ClassAd) -> Option<i64> {
    match ad.constant(name)? {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

/// An attribute of a slot that other attributes of it exclude (`Resource.cpp`, the starter's own ad).
fn of_other_machine(name: Name, ad: &ClassAd) -> Option<String> {
    const SOFTWARE: [(&str, &str); 3] =
        [("dockerversion", "HasDocker"), ("javaversion", "HasJava"), ("singularityversion", "HasSingularity")];
    let folded = String::from_utf8_lossy(name.folded()).into_owned();
    if let Some((_, has)) = SOFTWARE.iter().find(|(known, _)| *known == folded) {
        let lacks = matches!(ad.constant(*has), Some(Value::Bool(false)));
        return lacks.then(|| format!("`{name}` exists only while `{has}` is true, and it is false"));
    }
    // The names of dynamic slots have two numbers.
    let numbers = text_of("Name", ad)
        .and_then(|text| {
            let numbers = text.strip_prefix("slot")?.split_once('@')?.0;
            let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            numbers.split('_').all(is_number).then(|| numbers.split('_').count())
        })
        .filter(|count| *count <= 2);
    let is = |value: &str| match ad.constant(name) {
        Some(Value::Bool(truth)) => truth.to_string() == value,
        Some(Value::Str(text)) => text.eq_ignore_ascii_case(value.as_bytes()),
        _ => false,
    };
    let of_name = match folded.as_str() {
        "slottype" => is("Dynamic").then_some(2).or_else(|| (is("Partitionable") || is("Static")).then_some(1)),
        "dynamicslot" => is("true").then_some(2),
        "partitionableslot" => is("true").then_some(1),
        "opsysandver" => {
            let system = text_of("OpSys", ad)?.to_ascii_lowercase();
            let version = text_of("OpSysAndVer", ad)?.to_ascii_lowercase();
            let is_windows = version.starts_with("win");
            let differs = system == "linux" && is_windows || system == "windows" && !is_windows;
            return differs.then(|| format!("`{name}` is `{version}`, and `OpSys` is `{system}`"));
        }
        _ => None,
    }?;
    let numbers = numbers?;
    let kind = if of_name == 2 {
        "a dynamic slot has two numbers in its name"
    } else {
        "only a dynamic slot has two numbers in its name"
    };
    (numbers != of_name).then(|| format!("{kind}, and this one is `{}`", text_of("Name", ad).unwrap_or_default()))
}

/// An attribute of a job that other attributes of it exclude (the manual's appendix on attributes of jobs).
fn of_other_job(name: Name, ad: &ClassAd) -> Option<String> {
    match name.folded() {
        b"exitcode" | b"exitsignal" => {
            let by_signal = matches!(ad.constant("ExitBySignal")?, Value::Bool(true));
            let is_other = matches!(ad.constant("ExitBySignal"), Some(Value::Bool(_)))
                && by_signal == (name.folded() == b"exitcode");
            // An earlier run may have ended in the other way.
            let again =
                ["NumJobStarts", "JobRunCount", "NumShadowStarts"].iter().any(|name| number_of(name, ad) > Some(1));
            (is_other && !again)
                .then(|| format!("`{name}` exists only while `ExitBySignal` is {}, and it is {by_signal}", !by_signal))
        }
        b"completiondate" => {
            let is_done = number_of("JobStatus", ad) == Some(4) && number_of("CompletionDate", ad) == Some(0);
            is_done.then(|| format!("`{name}` is 0, and `JobStatus` is 4: the job is completed"))
        }
        b"globaljobid" => {
            let text = text_of("GlobalJobId", ad)?;
            let own = text.split('#').nth(1)?.to_owned();
            let (cluster, process) = (number_of("ClusterId", ad)?, number_of("ProcId", ad)?);
            let numbers = own.split_once('.').and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)))?;
            (numbers != (cluster, process))
                .then(|| format!("`{name}` is that of the job {own}, and this is {cluster}.{process}"))
        }
        b"user" => {
            let (user, owner) = (text_of("User", ad)?, text_of("Owner", ad)?);
            let plain = user.split('@').next().unwrap_or_default();
            let differs = !plain.is_empty() && !owner.is_empty() && !owner.ends_with(plain) && !plain.ends_with(&owner);
            (differs && user.contains('@') && !owner.contains('@'))
                .then(|| format!("`{name}` is `{user}`, and `Owner` is `{owner}`: the name before the `@`"))
        }
        b"accountinggroup" => {
            let (all, group, user) =
                (text_of("AccountingGroup", ad)?, text_of("AcctGroup", ad)?, text_of("AcctGroupUser", ad)?);
            let own = format!("{group}.{user}");
            (!all.eq_ignore_ascii_case(&own)).then(|| format!("`{name}` is `{all}`, and group and user are `{own}`"))
        }
        _ => None,
    }
}

/// Tests for the attributes of a partitionable slot that are lists of those of its dynamic slots, and the list of its GPUs.
fn is_list(name: Name) -> bool {
    let of_child = name.folded().strip_prefix(b"child").is_some_and(|rest| fact(rest).is_some());
    of_child || name.folded() == b"availablegpus"
}

/// A list that is another value.
fn no_list(name: Name, ad: &ClassAd) -> Option<String> {
    let is_constant = matches!(ad.constant(name)?, Value::Str(_) | Value::Int(_) | Value::Real(_) | Value::Bool(_));
    (is_list(name) && is_constant).then(|| format!("`{name}` is a list, such as `{{ … }}`"))
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
    /// Seconds by which a daemon that has much to do may be late when it notes the time of its ad.
    const LATE: f64 = 60.0;
    let number = |name: Name| match ad.constant(name)? {
        Value::Int(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    };
    let own = number(name)?;
    let others = pairs.iter().filter(|(one, _)| one.as_bytes() == name.folded()).map(|(_, other)| Name::new(other));
    let (other, most) = others.filter_map(|other| Some((other, number(other)?))).find(|(other, most)| {
        let late = if other.folded() == b"mycurrenttime" { LATE } else { 0.0 };
        0.0 < *most && *most + late < own
    })?;
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
