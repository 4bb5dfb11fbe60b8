//! Numbers of which the comment above says another amount, or the opposite of what 0 means.

use super::{Linter, shown_name};
use crate::lint::knobs::bare;
use crate::lint::units::meant_amount;
use crate::lint::unknowns;
use classmate::Diagnostic;
use classmate_config::Definition;
use classmate_config::internal::config::check::{AtZero, at_zero, unit};
use classmate_config::internal::config::setting::list_items;

impl Linter<'_> {
    /// Reports a number that the comment above it contradicts.
    pub(super) fn number(&mut self, definition: &Definition<'_>) {
        let name = bare(definition.name);
        let (zero, unit) = (at_zero(name), unit(name));
        let upper = shown_name(name).to_ascii_uppercase();
        let is_sized = SIZES.iter().any(|(known, ..)| *known == upper);
        let is_plain = zero.is_none() && unit.is_none() && !is_sized;
        if is_plain || definition.place.is_none() || definition.template.is_some() {
            return;
        }
        let Some(value) = unknowns::known_value(self.config, definition) else { return };
        let Some(number) = std::str::from_utf8(&value).ok().and_then(|text| text.parse::<f64>().ok()) else { return };
        let name = shown_name(definition.name);
        let comment = self.beside(definition);
        let default = self.config.built_in(upper.as_bytes()).and_then(|one| std::str::from_utf8(one.raw).ok());
        let default = default.and_then(|text| text.trim().parse::<f64>().ok());
        let found = zero.and_then(|zero| of_zero(&name, zero, number, &comment));
        let found = found.or_else(|| of_size(&name, &upper, (number, unit, default))).or_else(|| {
            let (amount, product) = meant_amount(&comment, number, unit?)?;
            let message = format!("`{name}` is in {}, and the text beside it says `{}`", unit?, amount.shown);
            Some((message, format!("write `{product}`"), "odd-unit"))
        });
        let Some((message, help, code)) = found else { return };
        let place = definition.value_place().or_else(|| definition.place.cloned());
        let found = Diagnostic::warning_at(message, place).width(definition.raw.len()).help(help);
        self.report(found.code(code), Some(name));
    }
}

impl Linter<'_> {
    /// Reports a list that replaces its default, where the comment above it asks for an addition.
    pub(super) fn replaced_list(&mut self, definition: &Definition<'_>) {
        const LISTS: [&str; 4] = ["BENCHMARKS_JOBLIST", "FILETRANSFER_PLUGINS", "SCHEDD_ATTRS", "STARTD_ATTRS"];
        const WORDS: [&str; 6] = [
            "in addition",
            "additional plugin",
            "additional attr",
            "additional benchmark",
            "additionally",
            "on top of the",
        ];
        const NOT: [&str; 4] = ["no ", "not ", "without ", "instead"];
        let upper = shown_name(bare(definition.name)).to_ascii_uppercase();
        let is_plain = definition.place.is_some() && definition.template.is_none();
        if !LISTS.contains(&upper.as_str()) || !is_plain || memchr::memchr(b'$', definition.raw).is_some() {
            return;
        }
        let default = self.config.built_in(upper.as_bytes()).map(|one| list_items(one.raw)).unwrap_or_default();
        let base = |item: &[u8]| shown_name(item.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
        let own: Vec<String> = list_items(definition.raw).iter().map(|item| base(item)).collect();
        let lost = default.iter().find(|item| !own.contains(&base(item)));
        let Some(lost) = lost.filter(|_| !default.iter().any(|item| own.contains(&base(item)))) else { return };
        let comment = self.beside(definition).to_ascii_lowercase();
        let is_meant =
            WORDS.iter().any(|word| comment.contains(word)) && !NOT.iter().any(|word| comment.contains(word));
        if is_meant {
            let message = format!("this replaces the default of `{upper}`, so `{}` is lost", base(lost));
            let place = definition.value_place().or_else(|| definition.place.cloned());
            let found = Diagnostic::warning_at(message, place).width(definition.raw.len());
            let found = found.help(format!("write `{upper} = $({upper}) …`")).code("conflicting-knobs");
            self.report(found, Some(upper));
        }
    }
}

/// A variable, the unit of its number, numbers that are unlikely in it, and the unit in which they look right.
type Size = (&'static str, &'static str, std::ops::RangeInclusive<f64>, &'static str);

/// Numbers that are right in another unit (the manual's chapters on the configuration have the units).
const SIZES: [Size; 16] = [
    ("CLAIM_WORKLIFE", "seconds", 1.0..=30.0, "minutes"),
    ("CLASSAD_LIFETIME", "seconds", 1.0..=59.0, "minutes"),
    ("DEFRAG_INTERVAL", "seconds", 1.0..=30.0, "minutes"),
    ("EVENT_LOG_MAX_SIZE", "bytes", 1.0..=1024.0, "MB"),
    ("HIBERNATE_CHECK_INTERVAL", "seconds", 1.0..=15.0, "minutes"),
    ("JOB_DEFAULT_LEASE_DURATION", "seconds", 1.0..=59.0, "minutes"),
    ("JOB_DEFAULT_REQUESTMEMORY", "MiB", 1e6..=1e12, "KiB"),
    ("LVM_BACKING_FILE_SIZE_MB", "MB", 1.0..=256.0, "GB"),
    ("MAX_EVENT_LOG", "bytes", 1.0..=1024.0, "MB"),
    ("MAX_HISTORY_LOG", "bytes", 1.0..=1024.0, "MB"),
    ("MEMORY", "MiB", 1.0..=256.0, "GiB"),
    ("MEMORY", "MiB", 33_554_432.0..=1e15, "KiB or bytes"),
    ("PRIORITY_HALFLIFE", "seconds", 1.0..=59.0, "days or hours"),
    ("ROOSTER_INTERVAL", "seconds", 1.0..=30.0, "minutes"),
    ("SHADOW_WORKLIFE", "seconds", 1.0..=59.0, "minutes"),
    ("VM_MEMORY", "MiB", 1.0..=64.0, "GiB"),
];

/// The finding about a number that is right in another unit only. `default` is the one of the variable.
fn of_size(
    name: &str,
    upper: &str,
    (number, unit, default): (f64, Option<&'static str>, Option<f64>),
) -> Option<(String, String, &'static str)> {
    const DAY: f64 = 86400.0;
    let found = |unit: &str, looks: &str| {
        let message = format!("`{name}` is in {unit}, and {number} looks like a number of {looks}");
        Some((message, format!("write the number in {unit}"), "odd-unit"))
    };
    if let Some((_, unit, _, looks)) = SIZES.iter().find(|(known, _, odd, _)| *known == upper && odd.contains(&number))
    {
        return found(unit, looks);
    }
    // A variable that is a day or more without a value.
    if unit != Some("seconds") || default.is_none_or(|default| default < DAY) || number.fract() != 0.0 {
        return None;
    }
    match number as i64 {
        1..=31 => found("seconds", "days or hours"),
        1440 | 10080 => found("seconds", "minutes"),
        _ => None,
    }
}

/// The finding about a limit of 0, or below, that means the opposite of what a comment says.
fn of_zero(name: &str, zero: AtZero, number: f64, comment: &str) -> Option<(String, String, &'static str)> {
    const ENDLESS: [&str; 7] =
        ["unlimited", "no limit", "without limit", "without a limit", "infinite", "no restriction", "no maximum"];
    const NONE: [&str; 10] =
        ["no", "none", "never", "disable", "disabled", "disallow", "forbid", "prevent", "block", "stop"];
    let lower = comment.to_ascii_lowercase();
    let is_endless = ENDLESS.iter().any(|words| lower.contains(words));
    let mut words = lower.split(|sign: char| !sign.is_ascii_alphabetic());
    let is_none = !is_endless && words.any(|word| NONE.contains(&word));
    match zero {
        AtZero::Unlimited if number == 0.0 && is_none => {
            let message = format!("`{name}` is 0, which allows any number");
            Some((message, "write the largest number that is allowed, at least 1".to_owned(), "bad-value"))
        }
        AtZero::Nothing if number == 0.0 && is_endless => {
            let message = format!("`{name}` is 0, which allows none");
            Some((message, "remove the line: the default allows any number, or many".to_owned(), "bad-value"))
        }
        AtZero::Nothing if number < 0.0 && OF_JOBS.contains(&name.to_ascii_uppercase().as_str()) => {
            let message = format!("`{name}` is {number}, which allows none");
            Some((message, "remove the line: the default allows any number, or many".to_owned(), "bad-value"))
        }
        _ => None,
    }
}

/// Limits of which a number below 0 allows nothing (`schedd.cpp`, `qmgmt.cpp`).
const OF_JOBS: [&str; 4] = ["MAX_JOBS_PER_OWNER", "MAX_JOBS_PER_SUBMISSION", "MAX_JOBS_RUNNING", "MAX_JOBS_SUBMITTED"];
