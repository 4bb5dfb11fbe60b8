//! Statements of a configuration that another one replaces, that are not continued, or that are no longer read.
//!
//! In: the files of a configuration. Out: warnings at the statements.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::knobs::{bare, role};
use super::{Linter, shown_name};
use classmate::Diagnostic;
use classmate_config::Location;
use classmate_config::internal::config::check::{is_variable, lists_groups};
use classmate_config::internal::config::history::{Assigned, assigned};
use classmate_config::internal::config::knob;
use classmate_pool::internal::quota::{GroupTree, QuotaSettings};

/// The lines of a text with `if`, `include` and `use`, in upper case.
pub(super) fn statements(text: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 5] = [b"IF", b"ELIF", b"INCLUDE", b"USE", b"@"];
    let begins =
        |line: &[u8], word: &[u8]| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    let lines: Vec<&[u8]> = lines.filter(|line| WORDS.iter().any(|word| begins(line, word))).collect();
    lines.join(&b'\n').to_ascii_uppercase()
}

/// Tests whether a value refers to the variable that it is for, both in upper case.
fn refers_to_itself(name: &[u8], value: &[u8]) -> bool {
    let own = [b"$(", name].concat();
    memchr::memmem::find_iter(value, &own).any(|at| matches!(value.get(at + own.len()), Some(b')' | b':')))
}

impl Linter<'_> {
    /// Adds the warnings of the quota division.
    pub(super) fn quotas(&mut self) {
        if !lists_groups(self.config) {
            return;
        }
        let tree = GroupTree::new(&QuotaSettings::readable(self.config));
        // What names are wrong was said already.
        let is_name = |alarm: &&Diagnostic| {
            matches!(alarm.code, "undeclared-group" | "obsolete-knob" | "unseen-attribute" | "unknown-knob")
        };
        let place = |alarm: &Diagnostic| (alarm.range().0.line, Arc::<str>::from(alarm.file()));
        let known: BTreeSet<(u64, Arc<str>)> = self.alarms.iter().filter(is_name).map(place).collect();
        for warning in tree.warnings() {
            if known.contains(&(u64::from(warning.line()), Arc::from(warning.file()))) {
                continue;
            }
            self.report(warning.clone(), None);
        }
    }

    /// Knobs that one file sets twice, the second time without regard to the first.
    pub(super) fn redefined(&mut self) {
        let config = self.config;
        for source in config.sources() {
            let mut last: BTreeMap<Vec<u8>, Assigned> = BTreeMap::new();
            let statements = LazyCell::new(|| statements(&source.text));
            for one in assigned(source) {
                let upper = one.name.to_ascii_uppercase();
                self.not_continued(&one);
                let refers = refers_to_itself(&upper, &one.value.to_ascii_uppercase());
                if one.conditional {
                    last.remove(&upper);
                    continue;
                }
                let adds = !one.replaces || refers;
                let (line, value) = (one.place.line, one.value.clone());
                let earlier = last.insert(upper.clone(), one).filter(|first| first.value != value);
                let Some(first) = earlier.filter(|_| !adds) else { continue };
                // A statement in between may have used a macro of the file's own.
                let known = bare(&upper);
                let is_knob = is_variable(known) || role(known).is_some() || config.built_in(known).is_some();
                if !is_knob && memchr::memmem::find(&statements, &upper).is_some() {
                    continue;
                }
                let name = String::from_utf8_lossy(&first.name).into_owned();
                let message = format!("`{name}` is set again on line {line}, so this value has no effect");
                let warning = Diagnostic::warning_at(message, first.place)
                    .width(first.name.len())
                    .help("remove one of them; `+=` appends to a value, `$(NAME)` refers to the earlier value");
                self.report(warning.code("redefined-knob"), Some(name));
            }
        }
    }

    /// A setting on an indented line right behind one that ends with a comma: the list is probably meant to go on.
    pub(super) fn not_continued(&mut self, one: &Assigned) {
        let Some(number) = one.place.line.checked_sub(1).filter(|number| *number > 0) else { return };
        let above = Location { line: number, column: 1, ..one.place.clone() };
        let indent = |line: &[u8]| line.len() - line.trim_ascii_start().len();
        let (Some((line, _)), Some((before, _))) = (self.line(&one.place), self.line(&above)) else { return };
        let is_list = before.trim_ascii_end().ends_with(b",") && before.contains(&b'=') && indent(before) == 0;
        if !is_list || indent(line) == 0 || before.starts_with(b"#") {
            return;
        }
        let name = shown_name(&one.name);
        let message = format!("`{name}` is a setting of its own: the line before it has no `\\` at its end");
        let at = Location { column: indent(line) as u32 + 1, ..one.place.clone() };
        let found = Diagnostic::warning_at(message, Some(at)).width(one.name.len());
        let help = "end the line before it with `\\`, or without the comma";
        self.report(found.help(help).code("odd-line"), Some(name));
    }

    /// Transforms and routes in the form of an ad, and other settings of routes that are no longer read.
    pub(super) fn old_transforms(&mut self) {
        const ROUTES: [&str; 4] =
            ["JOB_ROUTER_ENTRIES", "JOB_ROUTER_ENTRIES_FILE", "JOB_ROUTER_ENTRIES_CMD", "JOB_ROUTER_DEFAULTS"];
        const HELP: &str = "write one command per line, `SET Attribute expression`, between `@=end` and `@end`";
        let config = self.config;
        for definition in config.definitions() {
            let known = bare(definition.name);
            let is_old = ROUTES.iter().any(|old| old.as_bytes().eq_ignore_ascii_case(known));
            let is_ad = knob::is_transform(known) && definition.raw.trim_ascii_start().starts_with(b"[");
            let shown = String::from_utf8_lossy(definition.name).into_owned();
            let (message, help) = if is_ad {
                (format!("`{shown}` uses the old ad format, which is ignored"), HELP)
            } else if is_old && !definition.raw.trim_ascii().is_empty() {
                let help = "define each route as `JOB_ROUTER_ROUTE_<name>` and list it in `JOB_ROUTER_ROUTE_NAMES`";
                (format!("`{shown}` is the old format of routes, which is ignored"), help)
            } else {
                continue;
            };
            let warning = definition.name_warning(message).help(help);
            self.report(warning.code("obsolete-knob"), Some(shown));
        }
    }
}
