//! Streams of ads in brackets, one after another or in a list: new syntax and JSON.
//!
//! In: the text of ads and a parser of one. Out: ads, and a report of what was skipped. The brackets of a list are
//! those that the other form has around its ads.

use std::io::{self, Read};
use std::ops::Range;

use crate::ad::ClassAd;
use crate::error::{Expected, SyntaxError};
use crate::format::TOO_LONG;
use crate::format::extent::{Brackets, Extent};
use crate::format::report::Report;
use crate::format::source::{LineSource, Source};
use crate::format::vocabulary::Expressions;
use crate::span::Span;
use crate::syntax::parse::ParseOptions;
use crate::syntax::token::Quoting;

/// Parses one ad.
pub(crate) trait ParseAd {
    /// The brackets around an ad.
    const BRACKETS: Brackets;
    /// The expected text where something else is between ads.
    const EXPECTED: Expected;

    /// A parser with options.
    fn new(options: &ParseOptions) -> Self;

    /// The quoting of the input if it is text of the ClassAd language.
    const QUOTING: Option<Quoting>;

    /// Reads the ad that a text without NUL begins with, and how many bytes it takes.
    fn parse_without_nul(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError>;

    /// The parser of expressions.
    fn language(&mut self) -> &mut Expressions;

    /// Reads the ad that a text begins with, and how many bytes it takes. A NUL ends the text.
    fn parse(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        let text = memchr::memchr(0, text).map_or(text, |nul| &text[..nul]);
        self.language().choose(text);
        self.parse_without_nul(text)
    }
}

/// Reads ads in brackets.
#[derive(Debug)]
pub(crate) struct ListReader<R, P> {
    source: Source<R>,
    parser: P,
    report: Report,
    place: ListPlace,
    /// The place of the last ad in the input.
    last: Range<u64>,
    /// Bytes that were searched for the end of ads that are not closed.
    searched: u64,
}

/// Bytes that are searched for the end of ads that are not closed, again for every such ad, before the rest of the
/// input is given up.
const MAX_SEARCHED_BYTES: u64 = 256 << 20;

/// The first line after the first one of a text that begins like an ad, or with the comma before one.
fn next_line(text: &[u8], brackets: Brackets) -> Option<usize> {
    let (open, _) = brackets.bytes();
    memchr::memchr_iter(b'\n', text).map(|newline| newline + 1).find(|line| {
        let start = line + text[*line..].iter().take_while(|byte| matches!(byte, b',' | b' ')).count();
        let separated = start == *line || text[*line] == b',';
        separated && text.get(start) == Some(&open)
    })
}

/// The position of the reader in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ListPlace {
    /// Outside lists.
    Outside,
    /// Behind the bracket that opens a list, or a comma.
    BeforeElement,
    /// Behind an ad of a list.
    BehindElement,
}

impl<R: Read, P: ParseAd> ListReader<R, P> {
    pub(crate) fn new(source: Source<R>, options: &ParseOptions) -> Self {
        let (parser, report) = (P::new(options), Report::on(P::QUOTING));
        ListReader { source, parser, report, place: ListPlace::Outside, last: 0..0, searched: 0 }
    }

    /// The report on the input so far.
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// The place in the input of the ad that was read last.
    pub(crate) fn place(&self) -> Range<u64> {
        self.last.clone()
    }

    /// Reads the next ad; `None` at the end of the input.
    pub(crate) fn next_ad(&mut self) -> io::Result<Option<ClassAd>> {
        let (open, _) = P::BRACKETS.bytes();
        let (open_list, close_list) = P::BRACKETS.other().bytes();
        loop {
            let Some(first) = self.source.significant()? else {
                self.report.is_cut = self.source.is_cut();
                return Ok(None);
            };
            if first == open {
                self.place =
                    if self.place == ListPlace::Outside { ListPlace::Outside } else { ListPlace::BehindElement };
                if let Some(ad) = self.ad()? {
                    return Ok(Some(ad));
                }
            } else if (first, self.place) == (open_list, ListPlace::Outside)
                || (first, self.place) == (b',', ListPlace::BehindElement)
            {
                self.punctuation(ListPlace::BeforeElement);
            } else if first == close_list && self.place != ListPlace::Outside {
                self.punctuation(ListPlace::Outside);
            } else {
                self.source.stray(&mut self.report, open, P::EXPECTED)?;
            }
        }
    }

    fn punctuation(&mut self, place: ListPlace) {
        self.source.consume(1);
        self.place = place;
    }

    /// Reads the next ad; `None` if it had to be skipped.
    ///
    /// If it is not closed, reading goes on at the next line that begins like one.
    fn ad(&mut self) -> io::Result<Option<ClassAd>> {
        let mut extent = Extent::new(P::BRACKETS);
        let end = match self.source.extent(&mut extent)? {
            Some(end) => end,
            None if self.source.is_full() => {
                self.skip(extent)?;
                return Ok(None);
            }
            None => {
                let rest = self.source.rest();
                let next = if self.searched > MAX_SEARCHED_BYTES { None } else { next_line(rest, P::BRACKETS) };
                self.searched += rest.len() as u64;
                let line = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                self.report.unread_bytes += if next.is_some() { 0 } else { (rest.len() - line) as u64 };
                next.unwrap_or(rest.len())
            }
        };
        let text = &self.source.rest()[..end];
        let ad = match self.parser.parse(text) {
            Ok((ad, _)) => {
                self.report.count(self.parser.language().chosen());
                Some(ad)
            }
            Err(error) => {
                self.report.add(error, text, self.source.offset(), self.source.position());
                self.report.skipped_ads += 1;
                None
            }
        };
        let start = self.source.offset();
        self.last = start..start + end as u64;
        self.source.consume(end);
        Ok(ad)
    }

    /// Skips an ad that is too long, whose beginning was searched for its end.
    fn skip(&mut self, mut extent: Extent) -> io::Result<()> {
        let begin = self.source.offset();
        let error = SyntaxError::new(TOO_LONG, Span::new(0, 1));
        self.report.add(error, self.source.rest(), self.source.offset(), self.source.position());
        self.report.skipped_ads += 1;
        loop {
            self.source.consume(extent.forget());
            if let Some(end) = self.source.extent(&mut extent)? {
                self.source.consume(end);
                return Ok(());
            }
            if !self.source.is_full() {
                self.source.consume(self.source.rest().len());
                self.report.unread_bytes += self.source.offset() - begin;
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::format::{Format, Reader};
    use crate::syntax::parse::ParseOptions;

    #[test]
    fn reading_goes_on_behind_an_ad_that_is_not_closed() {
        let options = ParseOptions::default();
        for (text, ads, errors, unread) in [
            ("[a=1]\n[b=\"x]\n[c=3]\n[d=4]\n", 3, 1, 0),
            ("[a=1]\n[b=[2]\n [c=3]\n[d=4]\n", 2, 1, 0),
            ("{\n[a=1]\n,[b=\n,  [c=3]\n,\n[d=4]\n}\n", 3, 1, 0),
            ("[a=1]\n[b=2;\nc=[d=3]\ne=4", 1, 1, 11),
        ] {
            let mut reader = Reader::new(text.as_bytes(), Format::New, &options);
            let read = reader.by_ref().count();
            let report = reader.report();
            assert_eq!((read, report.errors, report.unread_bytes), (ads, errors, unread), "{text}");
        }
        let text = "[{\"a\":1},\n{\"b\":\"x},\n{\"c\":3},\n{\"d\":4}]\n";
        let mut reader = Reader::new(text.as_bytes(), Format::Json, &options);
        assert_eq!((reader.by_ref().count(), reader.report().errors), (3, 1));
        assert_eq!(reader.report().faults[0].position.line, 2);
    }

    #[test]
    fn lists_and_loose_ads_are_read_alike_in_both_forms() {
        let options = ParseOptions::default();
        // `(` and `)` stand for the brackets of an ad, `<` and `>` for those of a list.
        for (text, ads, errors) in [
            ("()()", 2, 0),
            ("<(),()>", 2, 0),
            ("<>()<()>", 2, 0),
            ("<(),>", 1, 0),
            ("<()()>", 2, 0),
            ("<,()>", 1, 1),
            (">()", 1, 1),
            ("(),()", 2, 1),
            ("<<()>>", 1, 2),
            ("()x()", 2, 1),
        ] {
            let written = |brackets: [&str; 4]| {
                let pairs = ["(", ")", "<", ">"].into_iter().zip(brackets);
                pairs.fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
            };
            let (new, json) = (written(["[a=1", "]", "{", "}"]), written(["{\"a\":1", "}", "[", "]"]));
            let mut reader = Reader::new(new.as_bytes(), Format::New, &options);
            assert_eq!((reader.by_ref().count(), reader.report().errors), (ads, errors), "{new}");
            let mut reader = Reader::new(json.as_bytes(), Format::Json, &options);
            assert_eq!((reader.by_ref().count(), reader.report().errors), (ads, errors), "{json}");
        }
    }
}
