//! The parts of an input that a reader could not read, with their places.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::error::SyntaxError;
use crate::semantics::{Semantics, Series};
use crate::span::Position;
use crate::syntax::token::Quoting;

/// Errors that a [`Report`] keeps; the others are only counted.
const MAX_FAULTS: usize = 100;

/// Bytes of a text that a [`Fault`] keeps on either side of the place.
const MAX_EXCERPT: usize = 200;

/// One thing that is wrong in an input, and its place.
///
/// `Display` is the message alone; [`Fault::excerpt`] is the text of the line around the place.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{error}")]
pub struct Fault {
    /// The error. Its span counts within [`Fault::excerpt`].
    pub error: SyntaxError,
    /// Line and column in the input, both from 1, columns in characters.
    pub position: Position,
    /// Offset in the input of the first byte that is wrong.
    pub offset: u64,
    /// The number of the ad of the input that it is in, from 1.
    pub ad: u64,
    /// The line, or the part of it around the place when it is long, without the line end.
    pub excerpt: Vec<u8>,
    /// The quoting of the excerpt if it is text of the ClassAd language; JSON and XML are not.
    pub quoting: Option<Quoting>,
}

/// The ads that a reader has read so far, and the parts that it left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Ads read, those counted that lost attributes.
    pub ads: u64,
    /// Ads of which nothing was kept.
    pub skipped_ads: u64,
    /// Attributes left out of ads that were kept or skipped, as far as they can be counted: in the long format,
    /// lines.
    pub skipped_attributes: u64,
    /// Bytes behind an ad that is not closed of which nothing is known.
    pub unread_bytes: u64,
    /// True if the input was not read to its end, because it is compressed and expands too much.
    pub is_cut: bool,
    /// The first errors, at most 100.
    pub faults: Vec<Fault>,
    /// Number of errors.
    pub errors: u64,
    /// The first texts behind a value that were ignored, as the reference ignores them, at most 100: `A = 10K` in the
    /// long format is 10.
    pub ignored: Vec<Fault>,
    /// Number of such texts.
    pub ignored_texts: u64,
    /// Versions that ads advertise and that were not measured: these ads are read in the nearest that was.
    pub unmeasured: BTreeSet<Series>,
    /// The quoting of the input if it is text of the ClassAd language.
    quoting: Option<Quoting>,
}

impl Report {
    /// A report on an input, with its quoting if it is text of the ClassAd language.
    pub(crate) fn on(quoting: Option<Quoting>) -> Self {
        Report { quoting, ..Report::default() }
    }

    /// Tests whether everything was read.
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && !self.is_cut
    }

    /// Counts an ad that was read, in the version that it advertises if each ad is read in its own.
    pub(crate) fn count(&mut self, advertised: Option<Semantics>) {
        self.ads += 1;
        if let Some(version) = advertised.filter(|version| version.measured() != *version) {
            self.unmeasured.insert(version.series());
        }
    }

    /// Adds the report on the part of the input that follows.
    pub(crate) fn join(&mut self, next: Report) {
        let before = self.ads + self.skipped_ads;
        self.ads += next.ads;
        self.skipped_ads += next.skipped_ads;
        self.skipped_attributes += next.skipped_attributes;
        self.errors += next.errors;
        self.is_cut |= next.is_cut;
        self.quoting = self.quoting.or(next.quoting);
        self.ignored_texts += next.ignored_texts;
        self.unmeasured.extend(next.unmeasured);
        for (known, next) in [(&mut self.faults, next.faults), (&mut self.ignored, next.ignored)] {
            let room = MAX_FAULTS - known.len().min(MAX_FAULTS);
            known.extend(next.into_iter().take(room).map(|fault| Fault { ad: fault.ad + before, ..fault }));
        }
    }

    /// Adds an error in `text`, which begins at `offset` of the input, in this position.
    pub(crate) fn add(&mut self, error: SyntaxError, text: &[u8], offset: u64, start: Position) {
        self.errors += 1;
        let fault = (self.faults.len() < MAX_FAULTS).then(|| self.fault(error, text, offset, start));
        self.faults.extend(fault);
    }

    /// Adds a text behind a value that is ignored, as [`Report::add`] adds an error.
    pub(crate) fn remark(&mut self, error: SyntaxError, text: &[u8], offset: u64, start: Position) {
        self.ignored_texts += 1;
        let fault = (self.ignored.len() < MAX_FAULTS).then(|| self.fault(error, text, offset, start));
        self.ignored.extend(fault);
    }

    fn fault(&self, error: SyntaxError, text: &[u8], offset: u64, start: Position) -> Fault {
        let at = (error.span.start as usize).min(text.len());
        let within = Position::of(text, at);
        let first = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let last = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
        let begin = first.max(at.saturating_sub(MAX_EXCERPT));
        let excerpt = text[begin..last.min(at + MAX_EXCERPT)].trim_ascii_end().to_vec();
        let end = (error.span.end as usize).clamp(at, begin + excerpt.len().max(at - begin));
        let error = SyntaxError { span: crate::span::Span::new(at - begin, end - begin), ..error };
        Fault {
            error,
            position: Position {
                line: start.line + within.line - 1,
                column: within.column + if within.line == 1 { start.column - 1 } else { 0 },
            },
            offset: offset + at as u64,
            ad: self.ads + self.skipped_ads + 1,
            excerpt,
            quoting: self.quoting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SyntaxErrorKind;
    use crate::span::Span;

    #[test]
    fn a_fault_names_line_and_column_and_keeps_the_line() {
        let mut report = Report::default();
        let error = SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(10, 13));
        report.add(error, "aa\nb = é ***\ncc".as_bytes(), 100, Position { line: 7, column: 5 });
        report.add(
            SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(1, 2)),
            b"aa",
            0,
            Position { line: 7, column: 5 },
        );
        assert_eq!(report.faults[1].position, Position { line: 7, column: 6 });
        let fault = &report.faults[0];
        assert_eq!(fault.position, Position { line: 8, column: 7 });
        assert_eq!(fault.offset, 110);
        assert_eq!(fault.excerpt, "b = é ***".as_bytes());
        assert_eq!(fault.error.span, Span::new(7, 10));
        assert_eq!(fault.ad, 1);
    }

    #[test]
    fn excerpts_of_long_lines_and_the_list_of_faults_are_bounded() {
        let mut report = Report::default();
        let text = vec![b'x'; 100_000];
        for _ in 0..1000 {
            report.add(
                SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(50_000, 90_000)),
                &text,
                0,
                Position { line: 1, column: 1 },
            );
        }
        assert_eq!(report.errors, 1000);
        assert_eq!(report.faults.len(), MAX_FAULTS);
        assert_eq!(report.faults[0].excerpt.len(), 2 * MAX_EXCERPT);
        assert_eq!(report.faults[0].error.span, Span::new(MAX_EXCERPT, 2 * MAX_EXCERPT));
        assert_eq!(report.faults[0].position.column, 50_001);
    }
}
