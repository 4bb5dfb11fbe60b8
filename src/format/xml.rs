//! Ads as XML, in the form of the reference (`docs/reference/classad-language.md` 8.8 and 9.4).
//!
//! The reference's reader knows its own tags and little else of XML: text before the first ad is skipped, names may
//! hold anything, end tags may be missing. General XML readers refuse such files, so this is its own.

use std::io::{self, Read};
use std::ops::Range;

use crate::ad::ClassAd;
use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::format::nested::{self, Start, ValueSyntax};
use crate::format::report::Report;
use crate::format::source::{LineSource, Source};
use crate::format::vocabulary::{Expressions, Names};
use crate::format::xml_token::{Elements, Tag, TagSide, decode_entities};
use crate::format::{MAX_ATTRIBUTES, TOO_LONG, TOO_MANY_ATTRIBUTES};
use crate::name::Name;
use crate::semantics::{Semantics, VersionRule};
use crate::span::Span;
use crate::syntax::literal::Literal;
use crate::syntax::number::{checked_integer, real_prefix};
use crate::syntax::parse::{ParseOptions, parse_prefix};
use crate::syntax::quote::unescape;
use crate::syntax::time::{parse_abs, parse_rel};
use crate::syntax::token::{Quoting, is_space};
use crate::text::Text;

pub use crate::format::xml_writer::XmlWriter;

/// Reads ads of the XML form one after another.
///
/// In memory are one ad and the window of the input. An ad that cannot be read is reported and skipped; an unknown
/// tag ends an ad, which keeps what was read of it, and is reported.
///
/// ```
/// use classmate::{Format, ParseOptions, Reader};
/// let text = "<classads>\n<c>\n    <a n=\"x\"><i>1</i></a>\n    <a n=\"y\"><e>x &lt; 2</e></a>\n</c>\n</classads>\n";
/// let mut reader = Reader::new(text.as_bytes(), Format::Xml, &ParseOptions::default());
/// assert_eq!(reader.next().unwrap()?.to_string(), "[ x = 1; y = x < 2 ]");
/// assert!(reader.next().is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub(crate) struct XmlReader<R> {
    source: Source<R>,
    parser: XmlParser,
    report: Report,
    /// The place of the last ad in the input.
    last: Range<u64>,
    /// True if anything but blanks stood outside ads so far, and no ad.
    stray: bool,
}

impl<R: Read> XmlReader<R> {
    pub(crate) fn over(source: Source<R>, options: &ParseOptions) -> Self {
        XmlReader { source, parser: XmlParser::new(options), report: Report::default(), last: 0..0, stray: false }
    }

    pub(crate) fn report(&self) -> &Report {
        &self.report
    }

    /// The place in the input of the ad that was read last.
    pub(crate) fn place(&self) -> Range<u64> {
        self.last.clone()
    }

    /// Reads the next ad; `None` at the end of the input.
    pub(crate) fn next_ad(&mut self) -> io::Result<Option<ClassAd>> {
        'ads: while self.seek()? {
            self.stray = false;
            let mut elements = Elements::default();
            let (end, whole) = loop {
                match elements.find(self.source.rest()) {
                    Some(end) => break (end, true),
                    None if self.source.more()? => {}
                    None if self.source.is_full() => {
                        self.skip(elements)?;
                        continue 'ads;
                    }
                    None => break (self.source.rest().len(), false),
                }
            };
            let text = &self.source.rest()[..end];
            // Only the end tag of the ad itself may be missing.
            let cut = !whole && ![b"</a>".as_slice(), b"<c>"].iter().any(|end| text.trim_ascii_end().ends_with(end));
            let (offset, position) = (self.source.offset(), self.source.position());
            let read = self.parser.parse(text).map_err(|error| {
                self.report.add(error, text, offset, position);
                self.report.skipped_ads += 1;
            });
            let read = read.ok().map(|read| {
                if let Some(error) = read.stop {
                    self.report.add(error, text, offset, position);
                    self.report.skipped_attributes += 1;
                } else if cut {
                    self.report.add(unexpected(text, text.len(), Expected::XmlAttribute), text, offset, position);
                }
                self.report.count(self.parser.expressions.chosen());
                read.ad
            });
            self.last = offset..offset + end as u64;
            self.source.consume(end);
            if read.is_some() {
                return Ok(read);
            }
        }
        self.report.is_cut = self.source.is_cut();
        if std::mem::take(&mut self.stray) && self.report.ads == 0 && self.report.errors == 0 {
            self.report.add(unexpected(b"", 0, Expected::XmlAd), b"", self.source.offset(), self.source.position());
        }
        Ok(None)
    }

    /// Skips an ad that is too long, whose beginning was searched for its end.
    fn skip(&mut self, mut elements: Elements) -> io::Result<()> {
        let error = SyntaxError::new(TOO_LONG, Span::new(0, 1));
        self.report.add(error, self.source.rest(), self.source.offset(), self.source.position());
        self.report.skipped_ads += 1;
        loop {
            let (rest, is_full) = (self.source.rest().len(), self.source.is_full());
            if let Some(end) = elements.find(self.source.rest()) {
                self.source.consume(end);
                return Ok(());
            }
            if is_full {
                self.source.consume(elements.forget(rest));
            } else if !self.source.more()? && !self.source.is_full() {
                self.source.consume(rest);
                return Ok(());
            }
        }
    }

    /// Skips to the next `<c>`; false at the end of the input.
    fn seek(&mut self) -> io::Result<bool> {
        let mut searched = 0;
        loop {
            let rest = self.source.rest();
            let start = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if start > 0 {
                self.stray |= rest[..start].iter().any(|byte| !is_space(*byte));
                self.source.consume(start);
                searched = 0;
                continue;
            }
            if memchr::memchr(b'>', &rest[searched..]).is_none() {
                searched = rest.len();
                if self.source.more()? {
                    continue;
                }
                let is_full = self.source.is_full();
                self.source.consume(searched);
                if is_full {
                    searched = 0;
                    continue;
                }
                return Ok(false);
            }
            let tag = Tag::at(rest, 0);
            if tag.name == b"c" && tag.side == TagSide::Start {
                return Ok(true);
            }
            self.stray |= tag.name != b"classads" && !tag.name.starts_with(b"?") && !tag.name.starts_with(b"!");
            self.source.consume(tag.end);
            searched = 0;
        }
    }
}

/// An ad that was read.
pub(crate) struct ReadAd {
    pub(crate) ad: ClassAd,
    /// Bytes that it takes.
    pub(crate) length: usize,
    /// The unknown tag that ended it before its `</c>`.
    stop: Option<SyntaxError>,
}

/// Parses ads of the XML form.
#[derive(Debug)]
pub(crate) struct XmlParser {
    names: Names,
    expressions: Expressions,
    /// The unknown tag that ended the ad.
    stop: Option<SyntaxError>,
}

impl XmlParser {
    pub(crate) fn new(options: &ParseOptions) -> Self {
        let options = ParseOptions { quoting: Quoting::New, places: false, ..options.clone() };
        XmlParser { names: Names::default(), expressions: Expressions::new(options, parse_prefix), stop: None }
    }

    /// Reads the ad whose `<c>` a text begins with.
    ///
    /// # Errors
    /// An attribute without a name, or a value that cannot be read.
    pub(crate) fn parse(&mut self, text: &[u8]) -> Result<ReadAd, SyntaxError> {
        self.stop = None;
        self.expressions.choose(text);
        self.expressions.begin();
        let mut ad = ClassAd::with_capacity(self.names.len());
        let mut at = Tag::at(text, 0).end;
        while let Some(name) = self.member(text, &mut at)? {
            let (value, end) = nested::value(self, text, at)?;
            ad.set(name, value);
            if ad.len() > MAX_ATTRIBUTES {
                return Err(SyntaxError::new(TOO_MANY_ATTRIBUTES, Span::new(0, 1)));
            }
            at = swallow(text, end, b"a");
        }
        self.names.restart(&ad);
        Ok(ReadAd { ad, length: at, stop: self.stop.take() })
    }

    /// Reads `<a n="name">`, or what ends the ad.
    fn member(&mut self, text: &[u8], at: &mut usize) -> Result<Option<Name>, SyntaxError> {
        while let Some(start) = memchr::memchr(b'<', &text[*at..]).map(|length| *at + length) {
            let tag = Tag::at(text, start);
            match (tag.name, tag.side) {
                (b"a", TagSide::Start) => {
                    *at = tag.end;
                    let missing = || SyntaxError::new(SyntaxErrorKind::EmptyName, Span::new(start, tag.end));
                    let name = decode_entities(tag.attribute(b"n").ok_or_else(missing)?);
                    let name = unescape(&name).map_err(|_| nul(start, tag.end))?;
                    if name.is_empty() {
                        return Err(missing());
                    }
                    return Ok(Some(self.names.name(&name)));
                }
                (b"c", TagSide::End) => {
                    *at = tag.end;
                    return Ok(None);
                }
                (b"a" | b"c", _) => *at = tag.end,
                _ => {
                    if self.stop.is_none() {
                        self.stop = Some(unexpected(text, start, Expected::XmlAttribute));
                    }
                    *at = tag.end;
                    return Ok(None);
                }
            }
        }
        *at = text.len();
        Ok(None)
    }

    /// Reads an element that is written as text.
    fn content(&mut self, text: &[u8], tag: Tag<'_>) -> Result<(Start, usize), SyntaxError> {
        let close = content_end(text, tag);
        let raw = &text[tag.end..close];
        let end = swallow(text, close, tag.name);
        let content = decode_entities(raw);
        if tag.name != b"s" && content.iter().all(|byte| is_space(*byte)) {
            return Err(unexpected(text, close, Expected::XmlText));
        }
        let semantics = self.expressions.options().semantics;
        let time = |literal: Option<Literal>| match literal {
            Some(literal) => Ok(literal),
            None if semantics.is_old(VersionRule::TimeLiteralBad) => Ok(Literal::Error),
            None => {
                let kind = SyntaxErrorKind::BadTime(String::from_utf8_lossy(&content).into_owned());
                Err(SyntaxError::new(kind, Span::new(tag.end, close)))
            }
        };
        let literal = match tag.name {
            b"s" if memchr::memchr(b'\\', &content).is_none() => Literal::Str(Text::new(&content)),
            b"s" => Literal::Str(Text::from(unescape(&content).map_err(|_| nul(tag.end, close))?)),
            b"i" => integer(&content, semantics).map_or(Literal::Error, Literal::Int),
            b"r" => real_prefix(&content).map_or(Literal::Error, |(value, _)| Literal::Real(value)),
            b"at" => {
                let zone = &self.expressions.options().zone;
                time(parse_abs(&content, zone).map(Literal::AbsTime))?
            }
            b"rt" => {
                let is_old = semantics.is_old(VersionRule::ReltimeLiteral);
                let literal = if is_old { Literal::OldRelTime } else { Literal::RelTime };
                time(parse_rel(&content).map(literal))?
            }
            _ => {
                let at = |error: SyntaxError| SyntaxError { span: Span::new(tag.end, close), ..error };
                return Ok((Start::Expression(self.expressions.parse(&content, 0).map_err(at)?.0), end));
            }
        };
        Ok((Start::Constant(literal), end))
    }
}

impl ValueSyntax for XmlParser {
    fn expressions(&mut self) -> &mut Expressions {
        &mut self.expressions
    }

    fn start(&mut self, text: &[u8], at: usize) -> Result<(Start, usize), SyntaxError> {
        let start = at + text[at..].iter().take_while(|byte| is_space(**byte)).count();
        if text.get(start) != Some(&b'<') {
            return Err(unexpected(text, start, Expected::XmlValue));
        }
        let tag = Tag::at(text, start);
        match (tag.name, tag.side) {
            (b"l", TagSide::Start) => return Ok((Start::List, tag.end)),
            (b"c", TagSide::Start) => return Ok((Start::Ad, tag.end)),
            (_, TagSide::End) => return Err(unexpected(text, start, Expected::XmlValue)),
            _ => {}
        }
        let literal = match tag.name {
            b"b" => Literal::Bool(matches!(tag.attribute(b"v"), Some(b"t" | b"T"))),
            b"un" => Literal::Undefined,
            b"er" => Literal::Error,
            b"s" | b"i" | b"r" | b"at" | b"rt" | b"e" => return self.content(text, tag),
            _ => return Err(unexpected(text, start, Expected::XmlValue)),
        };
        let close = content_end(text, tag);
        Ok((Start::Constant(literal), swallow(text, close, tag.name)))
    }

    fn following(&self, _: &[u8], at: usize) -> Result<usize, SyntaxError> {
        Ok(at)
    }

    /// A list ends at its `</l>`, or at the end of the text.
    fn next_element(&mut self, text: &[u8], at: &mut usize, _: bool) -> Result<bool, SyntaxError> {
        let start = *at + text[*at..].iter().take_while(|byte| is_space(**byte)).count();
        let end = match text.get(start) {
            None => Some(start),
            Some(b'<') => Some(Tag::at(text, start)).filter(|tag| tag.closes(b"l")).map(|tag| tag.end),
            Some(_) => None,
        };
        *at = end.unwrap_or(*at);
        Ok(end.is_none())
    }

    fn next_attribute(&mut self, text: &[u8], at: &mut usize, is_first: bool) -> Result<Option<Name>, SyntaxError> {
        if !is_first {
            *at = swallow(text, *at, b"a");
        }
        self.member(text, at)
    }
}

fn nul(start: usize, end: usize) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::NulInString, Span::new(start, end))
}

/// The end of the text of an element: the next tag.
fn content_end(text: &[u8], tag: Tag<'_>) -> usize {
    match tag.side {
        TagSide::Start => memchr::memchr(b'<', &text[tag.end..]).map_or(text.len(), |length| tag.end + length),
        _ => tag.end,
    }
}

/// Skips text up to the next tag, and that tag if it is the end tag expected; otherwise nothing.
fn swallow(text: &[u8], at: usize, name: &[u8]) -> usize {
    let Some(length) = memchr::memchr(b'<', &text[at..]) else { return at };
    let tag = Tag::at(text, at + length);
    if tag.closes(name) { tag.end } else { at }
}

/// The integer that a text begins with; what follows is ignored.
fn integer(text: &[u8], semantics: Semantics) -> Option<i64> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").filter(|_| semantics.is_old(VersionRule::IntegerRange)).unwrap_or(text);
    text.strip_prefix(b"-").unwrap_or(text).first().filter(|byte| byte.is_ascii_digit())?;
    checked_integer(text, semantics)
}

fn unexpected(text: &[u8], at: usize, expected: Expected) -> SyntaxError {
    let end = match text.get(at) {
        Some(b'<') => Tag::at(text, at).end.min(at + 40),
        Some(_) => at + memchr::memchr(b'<', &text[at..]).unwrap_or(text.len() - at).min(40),
        None => at,
    };
    let found = String::from_utf8_lossy(&text[at..end]).into_owned();
    SyntaxError::new(SyntaxErrorKind::Unexpected { expected, found }, Span::new(at, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, Reader};

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut reader = Reader::new(text.as_bytes(), Format::Xml, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        let faults = reader.report().faults.iter();
        let faults = faults.map(|fault| format!("{}:{} {fault}", fault.position.line, fault.position.column));
        (ads, faults.collect())
    }

    fn value(element: &str) -> Option<String> {
        let (ads, faults) = read(&format!("<c><a n=\"x\">{element}</a></c>"));
        assert!(!ads.is_empty() || !faults.is_empty(), "{element}");
        ads.first().map(|ad| ad["[ x = ".len()..ad.len() - " ]".len()].to_owned())
    }

    #[test]
    fn what_is_cut_or_no_xml_is_told() {
        let faults = |text: &str| {
            let mut reader = Reader::new(text.as_bytes(), Format::Xml, &ParseOptions::default());
            let ads = reader.by_ref().count();
            (ads, reader.report().faults.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let end = "expected `<a n=\"…\">` or `</c>`, found the end".to_owned();
        assert_eq!(faults("<c><a n=\"A\"><i>1"), (1, vec![end.clone()]));
        assert_eq!(faults("<c><a n=\"A\"><i>1</i></a><a n=\"B\"><s>x</s>"), (1, vec![end]));
        assert_eq!(faults("<c><a n=\"A\"><i>1</i></a>\n"), (1, vec![]));
        let none = "expected an ad in `<c>` and `</c>`, found the end".to_owned();
        assert_eq!(faults("A = 1\n"), (0, vec![none.clone()]));
        assert_eq!(faults("<?xml version=\"1.0\"?><html></html>"), (0, vec![none]));
        for empty in ["", "\n \n", "<?xml version=\"1.0\"?>\n<!DOCTYPE classads>\n<classads>\n</classads>\n"] {
            assert_eq!(faults(empty), (0, vec![]), "{empty}");
        }
    }

    #[test]
    fn elements_are_read_as_leniently_as_the_reference_does() {
        // All seen with the reference library.
        for (element, text) in [
            ("<i> 1 2</i>", "1"),
            ("<i>010</i>", "10"),
            ("<i>-9223372036854775808</i>", "-9223372036854775808"),
            ("<i>-9223372036854775809</i>", "error"),
            ("<i>- 1</i>", "error"),
            ("<r> 0x10z</r>", "1.600000000000000E+01"),
            ("<s> </s>", "\" \""),
            ("<s>a&b;c &amp;lt;</s>", "\"a&b;c &lt;\""),
            ("<s>\\101\\x\\</s>", "\"Ax\\\\\""),
            ("<s>a<i>b</i></s>", "\"a\""),
            ("<b v=\"t\">x</b>", "true"),
            ("<b v=t/>", "false"),
            ("<un>5</un>", "undefined"),
            ("<at> 2020-01-01T00:00:00Z</at>", "absTime(\"2020-01-01T00:00:00-00:00\")"),
            ("<rt>5</rt>", "relTime(\"05\")"),
            ("<e>true ? 1 : 2 x</e>", "true ? 1 : 2"),
            ("< i >1</ i >", "1"),
            ("<i>1", "1"),
        ] {
            assert_eq!(value(element).as_deref(), Some(text), "{element}");
        }
        for element in [
            "",
            "text",
            "<i/>",
            "<i> </i>",
            "<r></r>",
            "<e/>",
            "<e> </e>",
            "<e>)</e>",
            "<at></at>",
            "<s>\\0</s>",
            "<zz/>",
            "<l>x</l>",
        ] {
            assert_eq!(value(element), None, "{element}");
        }
    }

    #[test]
    fn missing_end_tags_are_tolerated() {
        for text in [
            "<c><a n=\"x\"><i>1</i></a>",
            "<c><a n=\"x\"><i>1</a>",
            "junk <zz> <c> text <a n=\"x\"> <i>1</i> </a> </c>",
            "<!-- <c --><c z=\"1\"><a n=\"x\"/><a n=\"x\"><i>1</i></c></classads>",
        ] {
            assert_eq!(read(text), (vec!["[ x = 1 ]".to_owned()], vec![]), "{text}");
        }
        // What is cut before the end of an attribute is read as far as it goes, and reported.
        for text in ["<c><a n=\"x\"><i>1", "<c><a n=\"x\"><l><i>1</i>"] {
            assert_eq!((read(text).0.len(), read(text).1.len()), (1, 1), "{text}");
        }
        // Tags have one spelling.
        assert_eq!(
            read("<C></C><d></d>"),
            (vec![], vec!["1:15 expected an ad in `<c>` and `</c>`, found the end".to_owned()])
        );
    }

    #[test]
    fn an_unknown_tag_ends_an_ad_and_a_bad_value_rejects_it() {
        let text = "<c>\n<a n=\"x\"><i>1</i></a><zz/><a n=\"y\"><i>2</i></a></c>\n<c><a n=\"x\"><i></i></a></c><c><a><i>1</i></a></c>\n<c><a n=\"z\"><i>3</i></a></c>";
        let (ads, faults) = read(text);
        assert_eq!(ads, ["[ x = 1 ]", "[ z = 3 ]"]);
        assert_eq!(
            faults,
            [
                "2:22 expected `<a n=\"…\">` or `</c>`, found `<zz/>`",
                "3:16 expected a string value, found `</i>`",
                "3:31 an attribute name cannot be empty",
            ]
        );
    }
}
