//! Whole ads as text: the long format, new syntax, JSON and XML.
//!
//! [`Reader`] and [`Writer`] handle streams of ads in any of them. What a reader cannot read is a value in its
//! [`report::Report`], with line and column, and reading goes on behind it.

use std::io::{self, Read, Write};
use std::ops::Range;

use crate::ad::{Attribute, ClassAd};
use crate::error::SyntaxErrorKind;
use crate::syntax::expr::Node;
use crate::syntax::literal::Literal;
use crate::syntax::parse::ParseOptions;

pub mod binding;
pub mod detect;
pub mod json;
pub mod long;
pub mod new;
pub mod parallel;
pub mod report;
pub mod room;
pub mod selection;
pub mod xml;

mod extent;
mod json_string;
mod json_writer;
mod list;
mod literal;
mod nested;
mod notation;
mod order;
mod source;
mod vocabulary;
mod xml_token;
mod xml_writer;

use json::{JsonParser, JsonWriter};
use list::ListReader;
use long::{LongReader, LongWriter, Loss, Lost};
use new::AdParser;
use report::Report;
use source::Source;
use xml::{XmlReader, XmlWriter};

pub use extent::bracketed;
pub use vocabulary::advertised;

/// Maximum nesting of lists and ads in JSON and XML. In the other formats the expression parser has its own limit.
const MAX_DEPTH: usize = 1000;

/// Bytes of the text of an ad at most. A file of a few kilobytes can expand to any amount: longer ads are skipped.
const MAX_AD_BYTES: usize = 64 << 20;
const TOO_LONG: SyntaxErrorKind = SyntaxErrorKind::TooLarge("more than 64 MiB of text");

/// Attributes of an ad at most; each takes several times the memory of its shortest text.
const MAX_ATTRIBUTES: usize = 1 << 20;
const TOO_MANY_ATTRIBUTES: SyntaxErrorKind = SyntaxErrorKind::TooLarge("more than 1,048,576 attributes");

/// Deepest indentation of ads over several lines, in columns: without a bound, the text of brackets inside brackets grows with
/// the square of their number.
const MAX_INDENT: usize = 128;

/// A written form of ads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One attribute a line, a blank line behind every ad: `condor_status -long`.
    Long,
    /// New syntax; written as a list, `{`, ads separated by `,`, `}`: `condor_status -long:new`.
    New,
    /// JSON; written as a list: `condor_status -json`.
    Json,
    /// JSON, one ad a line.
    JsonLines,
    /// XML: `condor_status -xml`.
    Xml,
}

/// Reads ads from any input, one after another, in a memory that one ad and a window of the input need.
///
/// ```
/// use classmate::{Format, ParseOptions, Reader};
/// let mut reader = Reader::detect("{\"a\": 1}\n{\"a\": 2}\n".as_bytes(), &ParseOptions::default())?;
/// assert_eq!(reader.format(), Format::JsonLines);
/// assert_eq!(reader.by_ref().count(), 2);
/// assert!(reader.report().is_clean());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    format: Format,
    ads: Ads<R>,
}

#[derive(Debug)]
enum Ads<R> {
    Long(Box<LongReader<R>>),
    New(ListReader<R, AdParser>),
    Json(ListReader<R, JsonParser>),
    Xml(XmlReader<R>),
}

impl<R: Read> Reader<R> {
    /// Reads an input in a known format.
    pub fn new(input: R, format: Format, options: &ParseOptions) -> Self {
        Reader::over(Source::new(input), format, options)
    }

    /// Reads an input in the format that its first lines show, by the rule of the tools for files.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn detect(input: R, options: &ParseOptions) -> io::Result<Self> {
        let mut source = Source::new(input);
        let format = source.detect(options)?;
        Ok(Reader::over(source, format, options))
    }

    fn over(source: Source<R>, format: Format, options: &ParseOptions) -> Self {
        let ads = match format {
            Format::Long => Ads::Long(Box::new(LongReader::over(source, options))),
            Format::New => Ads::New(ListReader::new(source, options)),
            Format::Json | Format::JsonLines => Ads::Json(ListReader::new(source, options)),
            Format::Xml => Ads::Xml(XmlReader::over(source, options)),
        };
        Reader { format, ads }
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The report on the input so far.
    pub fn report(&self) -> &Report {
        match &self.ads {
            Ads::Long(reader) => reader.report(),
            Ads::New(reader) => reader.report(),
            Ads::Json(reader) => reader.report(),
            Ads::Xml(reader) => reader.report(),
        }
    }

    /// The place in the input of the ad that was read last, from its opening bracket or tag to its end; `None` in the long
    /// format.
    #[doc(hidden)]
    pub fn place(&self) -> Option<Range<u64>> {
        match &self.ads {
            Ads::Long(_) => None,
            Ads::New(reader) => Some(reader.place()),
            Ads::Json(reader) => Some(reader.place()),
            Ads::Xml(reader) => Some(reader.place()),
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<ClassAd>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.ads {
            Ads::Long(reader) => reader.next(),
            Ads::New(reader) => reader.next_ad().transpose(),
            Ads::Json(reader) => reader.next_ad().transpose(),
            Ads::Xml(reader) => reader.next_ad().transpose(),
        }
    }
}

/// The attributes of an ad with numbers that lose their size suffix in JSON and XML. Inside expressions they keep it.
fn suffixed(ad: &ClassAd) -> Vec<Lost> {
    let is_suffixed = |value: &Attribute| {
        let tree = match value {
            Attribute::Literal(literal) => return matches!(literal, Literal::Suffixed(..)),
            Attribute::Tree(tree) => tree,
        };
        let mut parts = vec![tree.root()];
        while let Some(id) = parts.pop() {
            match tree.node(id) {
                Node::Literal(Literal::Suffixed(..)) => return true,
                Node::List(_) | Node::Ad(_) => parts.extend(tree.parts(id)),
                _ => {}
            }
        }
        false
    };
    let lost = ad.listed().filter(|(_, value)| is_suffixed(value));
    lost.map(|(name, _)| Lost { name, loss: Loss::SizeSuffix }).collect()
}

/// Bytes that are gathered before they are handed on.
const BUFFER_SIZE: usize = 64 << 10;

/// Writes ads to any output, one after another, as the tools of a pool do.
///
/// ```
/// use classmate::{ClassAd, Format, Writer};
/// let mut writer = Writer::new(Vec::new(), Format::New);
/// writer.write(&ClassAd::parse(b"[a = 1]")?)?;
/// writer.write(&ClassAd::parse(b"[b = 2]")?)?;
/// assert_eq!(writer.finish()?, b"{\n[ a = 1 ]\n,\n[ b = 2 ]\n}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    text: Vec<u8>,
    count: u64,
    format: Format,
    layout: Layout,
    ads: Printer,
}

/// The layout of ads in forms that have two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// As the tools print them: new syntax in one line an ad, XML with an attribute a line.
    #[default]
    Usual,
    /// New syntax with an attribute a line.
    Pretty,
    /// XML in one line an ad.
    Compact,
}

#[derive(Debug)]
enum Printer {
    Long(LongWriter),
    New,
    Json(JsonWriter),
    Xml(XmlWriter),
}

impl Format {
    /// The texts before the first ad, between ads and after the last one.
    fn frame(self) -> [&'static str; 3] {
        match self {
            Format::Long | Format::JsonLines => ["", "", ""],
            Format::New => ["{\n", ",\n", "}\n"],
            Format::Json => ["[\n", ",\n", "]\n"],
            Format::Xml => [xml_writer::HEADER, "", xml_writer::FOOTER],
        }
    }
}

impl<W: Write> Writer<W> {
    /// Writes to an output. Nothing is certain to be written before [`Writer::finish`].
    pub fn new(output: W, format: Format) -> Self {
        let ads = match format {
            Format::Long => Printer::Long(LongWriter::default()),
            Format::New => Printer::New,
            Format::Json | Format::JsonLines => Printer::Json(JsonWriter::default()),
            Format::Xml => Printer::Xml(XmlWriter::default()),
        };
        Writer { output, text: format.frame()[0].into(), count: 0, format, layout: Layout::Usual, ads }
    }

    /// Lays ads out in another way.
    #[must_use]
    pub fn laid_out(self, layout: Layout) -> Self {
        Writer { layout, ..self }
    }

    /// Writes an ad. Returns the attributes that cannot be read back as they were: some of the long format, and numbers with a
    /// size suffix, which versions before 23.2 read, in JSON and XML.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, ad: &ClassAd) -> io::Result<Vec<Lost>> {
        let (text, output) = (&mut self.text, &mut self.output);
        if self.count > 0 {
            text.extend_from_slice(self.format.frame()[1].as_bytes());
        }
        self.count += 1;
        let (mut lost, mut handed_on) = (Vec::new(), Ok(()));
        // Lines with spaces before them can be a hundred times as long as the ad in memory.
        let mut hand_on = |text: &mut Vec<u8>| {
            if text.len() >= BUFFER_SIZE {
                if handed_on.is_ok() {
                    handed_on = output.write_all(text);
                }
                text.clear();
            }
        };
        match &mut self.ads {
            Printer::Long(writer) => lost = writer.write(text, ad),
            Printer::New if self.layout == Layout::Pretty => new::write_pretty_in_pieces(text, ad, &mut hand_on),
            Printer::New => new::write_ad(text, ad),
            Printer::Json(writer) => {
                writer.write_in_pieces(text, ad, self.format != Format::JsonLines, &mut hand_on);
            }
            Printer::Xml(writer) => {
                let has_lines = self.layout != Layout::Compact;
                writer.write_in_pieces(text, ad, has_lines, &mut hand_on);
                text.extend(has_lines.then_some(b'\n'));
            }
        }
        let has_lost = match &mut self.ads {
            Printer::Json(writer) => std::mem::take(&mut writer.notation.has_lost_suffix),
            Printer::Xml(writer) => std::mem::take(&mut writer.notation.has_lost_suffix),
            Printer::Long(_) | Printer::New => false,
        };
        if has_lost {
            lost = suffixed(ad);
        }
        text.push(b'\n');
        hand_on(text);
        handed_on.map(|()| lost)
    }

    /// Writes what closes the list, hands everything on and returns the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.text.extend_from_slice(self.format.frame()[2].as_bytes());
        self.output.write_all(&self.text)?;
        self.output.flush()?;
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_lose_their_size_suffix_are_told() {
        let options = ParseOptions { semantics: "10.0".parse().unwrap(), ..ParseOptions::default() };
        let ad =
            ClassAd::parse_with("[a = 10M; b = {2, [c = 1K]}; d = x * 1K; e = {x * 1K}; f = 2]", &options).unwrap();
        for (format, expected) in
            [(Format::Json, &["a", "b"][..]), (Format::Xml, &["a", "b"]), (Format::Long, &[]), (Format::New, &[])]
        {
            let mut writer = Writer::new(Vec::new(), format);
            for _ in 0..2 {
                let lost = writer.write(&ad).unwrap();
                assert!(lost.iter().all(|lost| lost.loss == Loss::SizeSuffix));
                assert_eq!(lost.iter().map(|lost| lost.name.to_string()).collect::<Vec<_>>(), expected, "{format:?}");
            }
            assert_eq!(writer.write(&ClassAd::new()).unwrap(), []);
        }
    }
}
