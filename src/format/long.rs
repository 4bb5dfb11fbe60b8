//! The long format: one attribute a line, ads separated by blank lines (§9.2 of the language description).
//!
//! This is what `condor_status -long` and `condor_q -long` print and what most files of ads hold.

use std::io::{self, Read};

use crate::ad::{Attribute, ClassAd};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::format::literal::old_literal;
use crate::format::report::Report;
use crate::format::source::Source;
use crate::format::vocabulary::{Expressions, Names};
use crate::span::Span;
use crate::syntax::expr::Expr;
use crate::syntax::parse::{ParseOptions, parse_prefix};
use crate::syntax::token::{Quoting, is_space};

/// Reads ads of the long format one after another.
///
/// In memory are one ad and the window of the input; a file of any size can be read. A line that cannot be read is
/// reported, and the rest of its ad is skipped, as the reference does; what was read of the ad before is kept.
///
/// ```
/// use classmate::format::long::LongReader;
/// use classmate::syntax::parse::ParseOptions;
/// let text = "Name = \"slot1\"\nCpus = 4\n\nName = \"slot2\"\nCpus = (\n";
/// let mut reader = LongReader::new(text.as_bytes(), &ParseOptions::default());
/// let ads: Vec<_> = reader.by_ref().collect::<Result<_, _>>()?;
/// assert_eq!((ads.len(), ads[0].len(), ads[1].len()), (2, 2, 1));
/// let fault = &reader.report().faults[0];
/// assert_eq!((fault.position.line, fault.position.column), (5, 9));
/// assert_eq!(fault.to_string(), "expected an expression, found the end");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LongReader<R> {
    source: Source<R>,
    lines: Lines,
    delimiter: Option<Vec<u8>>,
}

impl<R: Read> LongReader<R> {
    /// Reads an input; of the options, strings are always of old syntax.
    pub fn new(input: R, options: &ParseOptions) -> Self {
        LongReader::over(Source::new(input), options)
    }

    pub(crate) fn over(source: Source<R>, options: &ParseOptions) -> Self {
        let options = ParseOptions { quoting: Quoting::Old, ..options.clone() };
        let lines = Lines {
            names: Names::default(),
            expressions: Expressions::new(options, value_of),
            report: Report::default(),
        };
        LongReader { source, lines, delimiter: None }
    }

    /// Ads end at lines that begin with this text, and no longer at blank lines. History files use `***`.
    #[must_use]
    pub fn delimited_by(mut self, delimiter: impl Into<Vec<u8>>) -> Self {
        self.delimiter = Some(delimiter.into());
        self
    }

    /// What was read and skipped so far.
    pub fn report(&self) -> &Report {
        &self.lines.report
    }

    /// Reads to the end of the next ad. The ad may be empty: then nothing stands before the delimiter that could be
    /// read. `None` at the end of the input.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn next_ad(&mut self) -> io::Result<Option<ClassAd>> {
        let mut ad = ClassAd::with_capacity(self.lines.names.len());
        let mut state = State::Before;
        while let Some((end, next)) = self.source.line()? {
            let line = &self.source.rest()[..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if ends_ad(line, self.delimiter.as_deref()) {
                self.source.advance(next, u64::from(next > end));
                if state == State::Before {
                    continue;
                }
                return Ok(Some(self.finish(ad)));
            }
            let significant = significant(line);
            match state {
                _ if significant.is_none() => state = state.max(State::Begun),
                State::Bad => self.lines.report.skipped_attributes += 1,
                State::Before | State::Begun => {
                    state = State::Begun;
                    if let Err(error) = self.lines.attribute(&mut ad, line, significant.unwrap_or_default()) {
                        self.lines.report.add(error, line, self.source.offset(), self.source.line_number());
                        self.lines.report.skipped_attributes += 1;
                        state = State::Bad;
                    }
                }
            }
            self.source.advance(next, u64::from(next > end));
        }
        Ok((state != State::Before).then(|| self.finish(ad)))
    }

    fn finish(&mut self, ad: ClassAd) -> ClassAd {
        self.lines.names.restart(&ad);
        ad
    }

    pub(crate) fn at_end(&mut self) -> io::Result<bool> {
        self.source.at_end()
    }
}

impl<R: Read> Iterator for LongReader<R> {
    type Item = io::Result<ClassAd>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let errors = self.lines.report.errors;
            match self.next_ad() {
                Ok(Some(ad)) if !ad.is_empty() => {
                    self.lines.report.ads += 1;
                    return Some(Ok(ad));
                }
                Ok(Some(_)) => self.lines.report.skipped_ads += u64::from(self.lines.report.errors > errors),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Nothing of the ad was seen.
    Before,
    /// Inside an ad.
    Begun,
    /// Behind a line that could not be read.
    Bad,
}

fn ends_ad(line: &[u8], delimiter: Option<&[u8]>) -> bool {
    match delimiter {
        Some(delimiter) => line.starts_with(delimiter),
        None => line.first().is_none_or(|first| is_space(*first) && line.iter().all(|byte| is_space(*byte))),
    }
}

/// The line from its first character that is no white space; `None` for comments and blank lines.
fn significant(line: &[u8]) -> Option<usize> {
    let start = line.iter().position(|byte| !is_space(*byte))?;
    // Only spaces and tabs may stand before the `#` of a comment.
    let comment = line[start] == b'#' && line[..start].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    (!comment).then_some(start)
}

/// Reads the lines of ads.
#[derive(Debug)]
struct Lines {
    names: Names,
    expressions: Expressions,
    report: Report,
}

impl Lines {
    /// Reads `name = value`, which begins at `start` of the line, into an ad.
    #[inline]
    fn attribute(&mut self, ad: &mut ClassAd, line: &[u8], start: usize) -> Result<(), SyntaxError> {
        let text = &line[start..];
        let (name, rest) = match self.names.expected() {
            Some(name) if assigned(text, name.as_bytes()) => {
                self.names.confirm();
                (name, start + name.as_bytes().len() + 3)
            }
            _ => {
                let Some(assign) = memchr::memchr(b'=', text) else {
                    let end = start + text.trim_ascii_end().len();
                    return Err(SyntaxError::new(SyntaxErrorKind::NoAssign, Span::new(start, end)));
                };
                let length = text[..assign].iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
                if length == 0 {
                    return Err(SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(start, start + assign + 1)));
                }
                (self.names.name(&text[..length]), start + assign + 1)
            }
        };
        let rest = line.len() - line[rest..].trim_ascii_start().len();
        let value = &line[rest..];
        let attribute = match old_literal(value.trim_ascii_end()) {
            Some(literal) => Attribute::Literal(literal),
            None => self.expressions.parse(value).map_err(|error| at(error, rest, line))?,
        };
        ad.set(name, attribute);
        Ok(())
    }
}

/// Whether a text begins with `name = `, in exactly these bytes.
#[inline]
fn assigned(text: &[u8], name: &[u8]) -> bool {
    text.get(name.len()..name.len() + 3).is_some_and(|next| next == b" = ") && &text[..name.len()] == name
}

/// The value of a line; what follows the expression is ignored.
fn value_of(text: &[u8], options: &ParseOptions) -> Result<Expr, SyntaxError> {
    parse_prefix(text, options).map(|(expr, _)| expr)
}

/// An error in the value of a line, in terms of the line.
fn at(error: SyntaxError, offset: usize, line: &[u8]) -> SyntaxError {
    let span = error.span.shifted(offset);
    let length = line.trim_ascii_end().len() as u32;
    SyntaxError { span: Span { start: span.start.min(length), end: span.end.min(length) }, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Vec<String>, Report) {
        let mut reader = LongReader::new(text, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        (ads, reader.report().clone())
    }

    #[test]
    fn the_rest_of_an_ad_is_skipped_behind_a_line_that_cannot_be_read() {
        let (ads, report) = read(b"a = 1\nb = (\nc = 3\n# d\ne = 5\n\nd = 4\n\nno\n\nz = 1");
        assert_eq!(ads, ["[ a = 1 ]", "[ d = 4 ]", "[ z = 1 ]"]);
        assert_eq!((report.ads, report.skipped_ads, report.skipped_attributes, report.errors), (3, 1, 4, 2));
        assert_eq!(report.faults[0].position, crate::span::Position { line: 2, column: 6 });
        assert_eq!(report.faults[0].excerpt, b"b = (");
        assert_eq!(report.faults[1].to_string(), "expected `name = value`, found no `=`");
        assert_eq!((report.faults[1].position.line, report.faults[1].ad, report.faults[1].offset), (9, 3, 36));
    }

    #[test]
    fn line_ends_of_both_kinds_and_missing_ones_are_understood() {
        let (ads, _) = read(b"\r\n\na = 1\r\nb = \"c:\\dir\\\"\r\n \t\r\n\r\na = 2");
        assert_eq!(ads, [r#"[ a = 1; b = "c:\\dir\\" ]"#, "[ a = 2 ]"]);
        assert_eq!(read(b"").0.len(), 0);
        assert_eq!(read(b"\n\r\n# only a comment").0.len(), 0);
    }

    #[test]
    fn other_names_than_expected_are_read_as_well() {
        let (ads, _) =
            read(b"a = 1\nb = 2\nc = 3\n\nA = 1\nbb = 2\nc=3\n\na = 1\nb== 2\n\na = 1\nc  = 2\nb = 1\nx = 1\n");
        assert_eq!(
            ads,
            ["[ a = 1; b = 2; c = 3 ]", "[ A = 1; c = 3; bb = 2 ]", "[ a = 1 ]", "[ a = 1; b = 1; c = 2; x = 1 ]"]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_and_nul_ends_a_value() {
        let (ads, report) = read(b"a\xff = \"\xfe\x80\"\nb = 1\0 junk\nc = \"x\0y\"\n");
        assert_eq!(ads, [r#"[ b = 1; 'a\377' = "\376\200" ]"#]);
        assert_eq!(report.errors, 1);
        assert_eq!(report.faults[0].to_string(), "the string is not closed: expected `\"` before the end");
    }

    #[test]
    fn a_delimiter_replaces_blank_lines() {
        let text = b"a = 1\n\nb = 2\n*** Offset = 0\nc = 3\n***\n";
        let ads: Vec<ClassAd> = LongReader::new(text.as_slice(), &ParseOptions::default())
            .delimited_by("***")
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(ads.iter().map(ClassAd::len).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn expressions_of_equal_text_share_a_tree() {
        let mut reader = LongReader::new(b"a = x + 1\n\na = x + 1\n".as_slice(), &ParseOptions::default());
        let (a, b) = (reader.next().unwrap().unwrap(), reader.next().unwrap().unwrap());
        assert!(std::sync::Arc::ptr_eq(a.get("a").unwrap().tree(), b.get("a").unwrap().tree()));
    }
}
