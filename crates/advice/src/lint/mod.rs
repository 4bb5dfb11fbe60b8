//! Errors and likely mistakes in configurations, ads, submit files and expressions.
//!
//! In: text and what it is. Out: [`Diagnostic`]s with stable codes, places, help, and fixes where it is certain what to
//! write.
//! Claims about what a clause can be are proven by [`classmate::internal::analysis`].

mod ad_values;
pub mod ads;
pub mod allowed;
mod alternatives;
mod arguments;
pub mod attribute_lines;
pub mod attributes;
mod bindings;
pub mod catalogue;
mod commands;
mod compared_values;
mod comparison;
mod computed;
pub mod config;
mod daemon_list;
mod effects;
mod exclusive;
mod execution_point;
pub mod expression;
pub mod knobs;
mod lists;
mod method_files;
pub mod missing;
mod near_names;
mod odd_calls;
pub(crate) mod open_macros;
mod opposites;
mod own_types;
mod pairs;
pub(crate) mod placing;
pub mod policy_state;
mod pool_types;
mod refusals;
mod relations;
pub mod rules;
mod samples;
pub mod schema;
mod scope;
mod second_place;
mod slips;
pub mod submit;
mod submit_clouds;
mod submit_companions;
mod submit_expanded;
mod submit_expressions;
mod submit_files;
mod submit_items;
mod submit_lines;
mod submit_macros;
mod submit_names;
mod submit_notations;
mod submit_odd;
mod submit_policy;
mod submit_programs;
mod submit_queue;
mod submit_relations;
mod submit_requests;
mod submit_shapes;
mod submit_sums;
mod submit_values;
mod submit_whole;
pub mod suite;
mod template_order;
mod templates;
mod transform_steps;
pub(crate) mod transforms;
mod undone;
mod units;
mod unknowns;
mod user_maps;
pub mod versions;

use std::sync::Arc;

use classmate::Diagnostic;
use classmate::internal::diagnostic::{Excerpt, Fix, Severity};
use classmate_config::Location;

/// A diagnostic of a text as one of the file that the text is in: its span counts in the excerpt, which begins on a
/// line of the file, and its fix in the file.
pub fn placed(mut found: Diagnostic, file: &Arc<str>, line: u64, excerpt: Excerpt, fix: Option<Fix>) -> Diagnostic {
    let line = u32::try_from(line).unwrap_or(u32::MAX);
    // A difference between versions is as severe as what is lost, and a value as what becomes of it: one that is read as something else
    // is less than one that is rejected or ignored. So is what something outside may complete.
    if !matches!(found.code, "bad-value" | "version-dependent") && found.severity != Severity::Note {
        found.severity = catalogue::find(found.code).map_or(found.severity, |check| check.severity);
    }
    (found.excerpt, found.fix) = (Some(Box::new(excerpt)), fix.map(Box::new));
    found.at(Location { file: Arc::clone(file), line, column: 1 })
}

/// Returns true if the fixes of a code are safe: they write what certainly was meant, or change no value.
pub fn is_safe(code: &str) -> bool {
    const SAFE: [&str; 7] = [
        "assignment",
        "bitwise-operator",
        "compared-with-undefined",
        "duplicate-clause",
        "implied-clause",
        "obsolete-knob",
        "version-dependent",
    ];
    SAFE.contains(&code)
}

/// The fix of a diagnostic, in a text that the diagnostic's own begins `offset` bytes into.
pub fn shifted_fix(found: &Diagnostic, offset: usize) -> Option<Fix> {
    Some(found.fix.as_ref()?.shifted(offset))
}

/// The text with fixes applied; of those that overlap, the first.
pub fn fixed(text: &[u8], fixes: &[&Fix]) -> Vec<u8> {
    let mut sorted: Vec<&&Fix> = fixes.iter().collect();
    sorted.sort_by_key(|fix| (fix.range.start, fix.range.end));
    let mut written = Vec::with_capacity(text.len());
    let mut at = 0;
    for fix in sorted {
        let range = fix.range.start.min(text.len())..fix.range.end.min(text.len());
        if range.start < at {
            continue;
        }
        written.extend_from_slice(&text[at..range.start]);
        written.extend_from_slice(fix.text.as_bytes());
        at = range.end.max(range.start);
    }
    written.extend_from_slice(&text[at..]);
    written
}

/// Returns true for codes of a text that is not an expression, or probably not.
fn is_slip(code: &str) -> bool {
    matches!(code, "syntax" | "assignment" | "size-suffix" | "leftover-macro")
}

/// The diagnostic with the note that a comment is inside of the continued value, ahead of its help.
fn beside_comment(found: Diagnostic, line: u64) -> Diagnostic {
    let note = format!("the comment on line {line} is inside a continued value");
    match found.help.clone() {
        Some(help) => found.help(note).more_help(help),
        None => found.help(note),
    }
}

/// Findings on one line that are reported; others are counted.
pub(crate) const MAX_OF_LINE: usize = 20;

/// The offsets at which the lines of a text begin.
#[derive(Debug)]
pub(crate) struct LineIndex(Vec<usize>);

impl LineIndex {
    pub(crate) fn of(text: &[u8]) -> Self {
        LineIndex(std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1)).collect())
    }

    /// The offset of a place, line and column (in bytes) from 1.
    pub(crate) fn offset(&self, line: u32, column: u32) -> Option<usize> {
        Some(self.0.get((line as usize).checked_sub(1)?)? + (column as usize).checked_sub(1)?)
    }

    /// The text of the line of an offset that is before it.
    pub(crate) fn before<'a>(&self, text: &'a [u8], offset: usize) -> &'a [u8] {
        let line = self.0.partition_point(|start| *start <= offset);
        self.0.get(line.saturating_sub(1)).and_then(|start| text.get(*start..offset)).unwrap_or_default()
    }

    /// The line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> u64 {
        self.0.partition_point(|start| *start <= offset) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixes_are_applied_in_order_and_overlaps_left_for_later() {
        let fix = |range: std::ops::Range<usize>, text: &str| Fix { range, text: text.to_owned() };
        let fixes = [fix(4..5, "X"), fix(0..1, ""), fix(4..6, "Y")];
        assert_eq!(fixed(b"abcdef", &fixes.iter().collect::<Vec<_>>()), b"bcdXf");
    }

    #[test]
    fn every_code_is_listed_once() {
        let mut codes: Vec<&str> = catalogue::CHECKS.iter().map(|check| check.code).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
