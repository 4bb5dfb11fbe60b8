//! Values in a form of their own: networks, periods and modes of cron jobs, patterns, and words.

use super::types::Problem;
use classmate::internal::diagnostic::Severity;
use classmate::internal::pcre::{self, Options};

/// A check of the value of a variable (upper case).
pub(super) type Rule = fn(&str, &str) -> Option<Problem>;

/// The check of the values of a variable (upper case), if there is one.
pub(super) fn rule(upper: &str) -> Option<Rule> {
    let is_cron = ["STARTD_CRON_", "SCHEDD_CRON_", "BENCHMARKS_"].iter().any(|start| upper.starts_with(start));
    let is_access = ["ALLOW_", "DENY_"].iter().any(|start| upper.starts_with(start));
    if is_cron && upper.ends_with("_PERIOD") {
        Some(period)
    } else if is_cron && upper.ends_with("_MODE") {
        Some(mode)
    } else if is_access {
        Some(network)
    } else if upper.ends_with("_REGEX") || upper.ends_with("_REGEXP") {
        Some(pattern)
    } else if matches!(upper, "ENABLE_IPV4" | "ENABLE_IPV6") {
        Some(truth_or_auto)
    } else {
        None
    }
}

fn one_of(upper: &str, value: &str, known: &[&str], help: &str) -> Option<Problem> {
    let is_known = known.iter().any(|word| word.eq_ignore_ascii_case(value));
    (!is_known).then(|| (Severity::Error, format!("`{upper}` is `{value}`"), help.to_owned()))
}

/// The time between two runs of a cron job.
fn period(upper: &str, value: &str) -> Option<Problem> {
    let unit = value.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let known = unit.is_empty() || unit.starts_with(['s', 'm', 'h', 'S', 'M', 'H']);
    let help = "write a number of seconds, or a number with `s`, `m` or `h`, as in `5m`";
    let message = || format!("`{upper}` is `{value}`, so the job never runs");
    (unit.len() == value.len() || !known).then(|| (Severity::Error, message(), help.to_owned()))
}

/// When a cron job runs.
fn mode(upper: &str, value: &str) -> Option<Problem> {
    let known = ["Periodic", "WaitForExit", "OneShot", "OnDemand"];
    one_of(upper, value, &known, "write `Periodic`, `WaitForExit`, `OneShot` or `OnDemand`")
}

/// Hosts that may do something: networks in them.
fn network(upper: &str, value: &str) -> Option<Problem> {
    let items = value.split([',', ' ', '\t', '\n']);
    let wrong = items.filter(|item| !item.is_empty()).find(|item| {
        let mut parts = item.rsplit('/');
        let (Some(mask), Some(address)) = (parts.next(), parts.next()) else { return false };
        let octets: Vec<&str> = address.split('.').collect();
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = octets.len() == 4 && octets.iter().all(|octet| digits(octet));
        let small = |text: &str, most: u32| text.parse::<u32>().is_ok_and(|number| number <= most);
        is_address && digits(mask) && !(small(mask, 32) && octets.iter().all(|octet| small(octet, 255)))
    })?;
    let message = format!("`{wrong}` in `{upper}` is not a network");
    Some((Severity::Warning, message, "write a network as `10.0.0.0/8`: up to 32 bits, numbers up to 255".to_owned()))
}

/// A regular expression.
fn pattern(upper: &str, value: &str) -> Option<Problem> {
    let error = pcre::compile(value, Options::default(), false).err()?;
    Some((Severity::Error, format!("`{upper}` is `{value}`: {error}"), "correct the regular expression".to_owned()))
}

/// `true`, `false` or `auto`.
fn truth_or_auto(upper: &str, value: &str) -> Option<Problem> {
    one_of(upper, value, &["true", "false", "auto", "yes", "no", "t", "f", "1", "0"], "write `TRUE`, `FALSE` or `AUTO`")
}
