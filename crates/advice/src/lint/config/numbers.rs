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
        if zero.is_none() && unit.is_none() || definition.place.is_none() || definition.template.is_some() {
            return;
        }
        let Some(value) = unknowns::known_value(self.config, definition) else { return };
        let Some(number) = std::str::from_utf8(&value).ok().and_then(|text| text.parse::<f64>().ok()) else { return };
        let name = shown_name(definition.name);
        let comment = self.beside(definition);
        let found = zero.and_then(|zero| of_zero(&name, zero, number, &comment)).or_else(|| {
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
