//! What is wrong, or hardly meant, in configurations, ads, submit files and expressions.
//!
//! In: text and what it is. Out: [`Alarm`]s with stable codes, places, help, and edits where it is certain what to write.
//! Claims about what a clause can be are proven by [`classmate::internal::analysis`].

pub mod ads;
pub mod attributes;
pub mod catalogue;
mod commands;
pub mod config;
pub mod expression;
pub mod knobs;
pub mod missing;
mod placing;
pub mod rules;
pub mod submit;
pub mod suite;
mod transforms;
pub mod universe;
mod unknowns;
mod versions;

use std::ops::Range;
use std::sync::Arc;

use classmate::internal::error::{Finding, Severity};
use classmate::internal::span::{Position, Span};

/// Something found, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    /// What it is, a code of [`catalogue::CHECKS`].
    pub code: &'static str,
    /// What is wrong and what to do; its span counts in [`Excerpt::text`].
    pub finding: Finding,
    /// The text it is about.
    pub excerpt: Excerpt,
    /// The knob or attribute it is about.
    pub subject: Option<String>,
    /// How often the same stands in other ads of the file.
    pub repeated: usize,
    /// What to write instead, if that is certain.
    pub edit: Option<Edit>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The file.
    pub file: Arc<str>,
    /// The line on which the text begins, from 1; 0 if it stands nowhere.
    pub line: u64,
    /// The column at which the text begins, from 1.
    pub column: u64,
    /// The text.
    pub text: Vec<u8>,
}

/// A replacement of bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// What is written instead.
    pub text: String,
}

impl Alarm {
    /// The severity of the check.
    pub fn severity(&self) -> Severity {
        catalogue::find(self.code).map_or(self.finding.severity, |check| check.severity)
    }

    /// Line and column of the beginning and the end of the place, from 1.
    pub fn place(&self) -> (Position, Position) {
        self.place_of(self.finding.span)
    }

    /// Line and column of the beginning and the end of a part of the excerpt, from 1.
    pub fn place_of(&self, span: Span) -> (Position, Position) {
        let at = |offset: u32| {
            let within = Position::of(&self.excerpt.text, offset as usize);
            let column = if within.line == 1 { within.column + self.excerpt.column - 1 } else { within.column };
            Position { line: self.excerpt.line + within.line - 1, column }
        };
        (at(span.start), at(span.end))
    }
}

/// A text with edits applied; of those that overlap, the first.
pub fn edited(text: &[u8], edits: &[&Edit]) -> Vec<u8> {
    let mut sorted: Vec<&&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut written = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in sorted {
        let range = edit.range.start.min(text.len())..edit.range.end.min(text.len());
        if range.start < at {
            continue;
        }
        written.extend_from_slice(&text[at..range.start]);
        written.extend_from_slice(edit.text.as_bytes());
        at = range.end.max(range.start);
    }
    written.extend_from_slice(&text[at..]);
    written
}

/// Whether a code says that a text is no expression, or hardly one.
fn is_slip(code: &str) -> bool {
    matches!(code, "syntax" | "assignment" | "size-suffix" | "leftover-macro")
}

/// Help that tells of a comment inside of a continued value.
fn within_comment(help: Option<String>, line: u64) -> String {
    let told = format!("the comment on line {line} is inside of a continued value, which goes on behind it");
    help.map_or_else(|| told.clone(), |help| format!("{told}; {help}"))
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(crate) fn of(text: &[u8]) -> Self {
        LineStarts(std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1)).collect())
    }

    /// The offset of a place, line and column (in bytes) from 1.
    pub(crate) fn offset(&self, line: u32, column: u32) -> Option<usize> {
        Some(self.0.get((line as usize).checked_sub(1)?)? + (column as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_applied_in_order_and_overlaps_left_for_later() {
        let edit = |range: Range<usize>, text: &str| Edit { range, text: text.to_owned() };
        let edits = [edit(4..5, "X"), edit(0..1, ""), edit(4..6, "Y")];
        assert_eq!(edited(b"abcdef", &edits.iter().collect::<Vec<_>>()), b"bcdXf");
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
