//! Streams of ads in brackets, one after another or in a list: new syntax and JSON.
//!
//! In: the text of ads and a parser of one. Out: ads, and a report of what was skipped. The brackets of a list are
//! those that the other form has around its ads.

use std::io::{self, Read};

use crate::ad::ClassAd;
use crate::error::{Expected, SyntaxError};
use crate::format::extent::{Brackets, Extent};
use crate::format::report::Report;
use crate::format::source::Source;

/// Parses one ad.
pub(crate) trait ParseAd {
    /// What stands around an ad.
    const BRACKETS: Brackets;
    /// What is missing where something else stands between ads.
    const EXPECTED: Expected;

    /// An empty report on an input of this form.
    fn report() -> Report;

    /// Reads the ad that a text begins with, and how many bytes it takes.
    fn parse_ad(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError>;
}

/// Reads ads in brackets.
#[derive(Debug)]
pub(crate) struct ListReader<R, P> {
    source: Source<R>,
    parser: P,
    report: Report,
    place: Place,
}

/// Where in a list the reader stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Outside lists.
    Outside,
    /// Behind the bracket that opens a list, or a comma.
    BeforeElement,
    /// Behind an ad of a list.
    BehindElement,
}

impl<R: Read, P: ParseAd> ListReader<R, P> {
    pub(crate) fn new(source: Source<R>, parser: P) -> Self {
        ListReader { source, parser, report: P::report(), place: Place::Outside }
    }

    /// What was read and skipped so far.
    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    fn next_ad(&mut self) -> io::Result<Option<ClassAd>> {
        let (open, _) = P::BRACKETS.bytes();
        let (open_list, close_list) = P::BRACKETS.other().bytes();
        loop {
            let Some(first) = self.source.significant()? else { return Ok(None) };
            if first == open {
                self.place = if self.place == Place::Outside { Place::Outside } else { Place::BehindElement };
                if let Some(ad) = self.ad()? {
                    return Ok(Some(ad));
                }
            } else if (first, self.place) == (open_list, Place::Outside)
                || (first, self.place) == (b',', Place::BehindElement)
            {
                self.punctuation(Place::BeforeElement);
            } else if first == close_list && self.place != Place::Outside {
                self.punctuation(Place::Outside);
            } else {
                self.source.stray(&mut self.report, open, P::EXPECTED)?;
            }
        }
    }

    fn punctuation(&mut self, place: Place) {
        self.source.consume(1);
        self.place = place;
    }

    /// Reads the ad that stands next; `None` if it had to be skipped.
    fn ad(&mut self) -> io::Result<Option<ClassAd>> {
        let end = self.source.extent(Extent::new(P::BRACKETS))?;
        let text = &self.source.rest()[..end];
        let ad = match self.parser.parse_ad(text) {
            Ok((ad, _)) => {
                self.report.ads += 1;
                Some(ad)
            }
            Err(error) => {
                self.report.add(error, text, self.source.offset(), self.source.position());
                self.report.skipped_ads += 1;
                None
            }
        };
        self.source.consume(end);
        Ok(ad)
    }
}

impl<R: Read, P: ParseAd> Iterator for ListReader<R, P> {
    type Item = io::Result<ClassAd>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_ad().transpose()
    }
}

#[cfg(test)]
mod tests {
    use crate::format::json::JsonReader;
    use crate::format::new::NewReader;
    use crate::syntax::parse::ParseOptions;

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
            let mut reader = NewReader::new(new.as_bytes(), &options);
            assert_eq!((reader.by_ref().count(), reader.report().errors), (ads, errors), "{new}");
            let mut reader = JsonReader::new(json.as_bytes(), &options);
            assert_eq!((reader.by_ref().count(), reader.report().errors), (ads, errors), "{json}");
        }
    }
}
