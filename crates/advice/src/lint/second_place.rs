//! A second place of a finding about two variables of a configuration.
//!
//! In: a finding with its place, and the place of the other variable. Out: the finding with both, in lines that hold both.

use super::LineIndex;
use classmate::internal::diagnostic::Excerpt;
use classmate::{Diagnostic, Span};
use classmate_config::{Config, Location};

/// Lines between two places of which both are shown.
pub(super) const MAX_LINES: u32 = 100;

/// The later of two places, with the other one, in the order in which files are opened: mostly the one that has to be changed, as its
/// author had not seen the effect of the earlier one.
pub(super) fn later<'n>(
    config: &Config,
    (one, first): (&'n str, Location),
    (other, second): (&'n str, Location),
) -> [(&'n str, Location); 2] {
    let order = |place: &Location| {
        let file = config.sources().iter().position(|source| source.name == place.file);
        (file, place.line, place.column)
    };
    if order(&first) > order(&second) { [(one, first), (other, second)] } else { [(other, second), (one, first)] }
}

/// The finding with a second place and its length in bytes. One that is far away, or in another file, is named in the help.
pub(super) fn beside(
    config: &Config,
    found: Diagnostic,
    (other, width): (&Location, usize),
    label: &str,
) -> Diagnostic {
    let Some(place) = found.place.clone() else { return found };
    let source = config.sources().iter().find(|source| source.name == place.file);
    let is_near = place.file == other.file && (1..=MAX_LINES).contains(&place.line.abs_diff(other.line));
    let Some(source) = source.filter(|_| is_near) else {
        let is_elsewhere = place.file != other.file;
        let file = if is_elsewhere { format!("`{}`, ", other.file) } else { String::new() };
        let is_same = !is_elsewhere && place.line == other.line;
        return if is_same { found } else { found.more_help(format!("{label}, in {file}line {}", other.line)) };
    };
    let lines = LineIndex::of(&source.text);
    let first = place.line.min(other.line);
    let end_of = |start: usize| {
        let rest = source.text.get(start..).unwrap_or_default();
        start + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    };
    let range = |at: &Location, width: usize| {
        let (start, column) = (lines.offset(at.line, 1)?, at.column.max(1) as usize - 1);
        let end = end_of(start);
        let from = (start + column).min(end);
        let text = source.text[from..end].trim_ascii_end();
        Some((from, from + if width == 0 { text.len() } else { width.min(end - from) }))
    };
    let places = || {
        let start = lines.offset(first, 1)?;
        let end = end_of(lines.offset(place.line.max(other.line), 1)?);
        Some((start, end, range(&place, found.span.range().len())?, range(other, width)?))
    };
    let Some((start, end, own, related)) = places() else { return found };
    let excerpt = Excerpt { text: source.text[start..end].to_vec(), subject: None };
    let span = |(from, to): (usize, usize)| Span::new(from - start, to - start);
    let mut found = found.at(Location { line: first, column: 1, ..place }).related(span(related), label);
    (found.span, found.excerpt) = (span(own), Some(Box::new(excerpt)));
    found
}
