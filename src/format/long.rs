//! The long format: one attribute a line, ads separated by blank lines (`docs/reference/classad-language.md` 9.2).
//!
//! This is what `condor_status -long` and `condor_q -long` print and what most files of ads hold.
//! One file: what is written is what is read, and the tests compare the two.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use logos::Logos as _;

use crate::ad::{Attribute, ClassAd, Shapes};
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::format::literal::{Constant, old_constant};
use crate::format::order::Order;
use crate::format::report::Report;
use crate::format::selection::{Chooser, Selection};
use crate::format::source::{LineSource, Source};
use crate::format::vocabulary::{Expressions, Names, SharedTexts};
use crate::format::{MAX_AD_BYTES, MAX_ATTRIBUTES, TOO_LONG, TOO_MANY_ATTRIBUTES};
use crate::name::{Name, is_spelled};
use crate::span::{Position, Span};
use crate::syntax::expr::Node;
use crate::syntax::lexer::keyword;
use crate::syntax::literal::Literal;
use crate::syntax::parse::{ParseOptions, parse_expr, parse_prefix};
use crate::syntax::print::{Style, write_expr, write_literal, write_name};
use crate::syntax::token::{Quoting, Raw, ScanError, is_space};
use crate::text::Text;

/// Attributes for which every ad has room beside those of the one before: the negotiator adds some to every slot.
const SPARE: usize = 2;

/// Reads ads of the long format one after another.
///
/// In memory are one ad and the window of the input; a file of any size can be read. A line that cannot be read is
/// reported, and the rest of its ad is skipped, as the reference does; what was read of the ad before is kept.
///
/// ```
/// use classmate::internal::format::long::LongReader;
/// use classmate::ParseOptions;
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
    lines: LineReader,
}

impl<R: Read> LongReader<R> {
    /// Reads an input; of the options, strings are always of old syntax.
    pub fn new(input: R, options: &ParseOptions) -> Self {
        LongReader::over(Source::new(input), options)
    }

    pub(crate) fn over(source: Source<R>, options: &ParseOptions) -> Self {
        LongReader { source, lines: LineReader::new(options) }
    }

    /// Goes on with another input, with what was learned from this one. Gives the report on this one, and its buffer.
    pub(crate) fn go_on(&mut self, source: Source<R>) -> (Report, Vec<u8>) {
        let report = std::mem::replace(&mut self.lines.report, Report::on(Some(Quoting::Old)));
        (report, std::mem::replace(&mut self.source, source).into_buffer())
    }

    /// Equal strings are kept once, for ads that are all kept.
    #[must_use]
    pub(crate) fn sharing(mut self) -> Self {
        self.lines = self.lines.sharing();
        self
    }

    /// Of constants only those of a selection are kept.
    #[must_use]
    pub fn selecting(mut self, selection: Arc<Selection>) -> Self {
        self.lines = self.lines.selecting(selection);
        self
    }

    /// The report on the input so far.
    pub fn report(&self) -> &Report {
        &self.lines.report
    }

    /// Reads to the end of the next ad. The ad may be empty: then it has only comments and lines that cannot be read, or is too
    /// large. `None` at the end of the input.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn next_ad(&mut self) -> io::Result<Option<ClassAd>> {
        let ad = self.lines.next_ad(&mut self.source);
        self.lines.report.is_cut |= self.source.is_cut();
        ad
    }
}

impl<R: Read> Iterator for LongReader<R> {
    type Item = io::Result<ClassAd>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let errors = self.lines.report.errors;
            match self.next_ad() {
                Ok(Some(ad)) if self.lines.read > 0 => {
                    self.lines.report.count(self.lines.expressions.chosen());
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
    /// Behind what is too much of one ad.
    Large,
}

fn is_blank(line: &[u8]) -> bool {
    line.first().is_none_or(|first| is_space(*first) && line.iter().all(|byte| is_space(*byte)))
}

/// The line from its first character that is no white space; `None` for comments and blank lines. `first` lines are
/// those in front of an ad.
fn significant(line: &[u8], first: bool) -> Option<usize> {
    let start = line.iter().position(|byte| !is_space(*byte))?;
    // Inside an ad only spaces and tabs may precede the `#` of a comment.
    let blank = |byte: &u8| first || matches!(byte, b' ' | b'\t');
    let comment = line[start] == b'#' && line[..start].iter().all(blank);
    (!comment).then_some(start)
}

/// Reads ads whose lines something else has told apart, such as HTCondor's wire protocol: a value may hold line ends.
///
/// ```
/// use classmate::ParseOptions;
/// use classmate::internal::format::long::LineReader;
/// let mut reader = LineReader::new(&ParseOptions::default());
/// reader.begin();
/// reader.line(b"Name = \"slot1\"");
/// reader.line(b"Cpus = (");
/// assert_eq!(reader.finish().to_string(), "[ Name = \"slot1\" ]");
/// assert_eq!(reader.report().faults[0].position.line, 2);
/// ```
#[derive(Debug)]
pub struct LineReader {
    names: Names,
    expressions: Expressions,
    report: Report,
    /// The attributes of this ad that are kept.
    entries: Vec<(Name, Attribute)>,
    /// Number of attributes that were read.
    read: usize,
    shapes: Shapes,
    texts: SharedTexts,
    /// True if equal strings are kept once.
    sharing: bool,
    chooser: Option<Chooser>,
    /// Lines that [`LineReader::line`] was given, and their bytes.
    given: (u64, u64),
    /// Lines of an ad whose version is not known yet.
    waiting: Vec<Box<[u8]>>,
}

impl LineReader {
    /// Reads lines; of the options, strings are always of old syntax.
    pub fn new(options: &ParseOptions) -> Self {
        LineReader {
            names: Names::default(),
            expressions: Expressions::new(ParseOptions { quoting: Quoting::Old, ..options.clone() }, parse_prefix),
            report: Report::on(Some(Quoting::Old)),
            entries: Vec::new(),
            read: 0,
            shapes: Shapes::default(),
            texts: SharedTexts::default(),
            sharing: false,
            chooser: None,
            given: (0, 0),
            waiting: Vec::new(),
        }
    }

    /// Equal strings are kept once, for ads that are all kept.
    #[must_use]
    pub fn sharing(mut self) -> Self {
        self.sharing = true;
        self
    }

    /// Of constants only those of a selection are kept.
    #[must_use]
    pub fn selecting(mut self, selection: Arc<Selection>) -> Self {
        self.chooser = Some(Chooser::new(selection));
        self
    }

    /// Of expressions so many bytes of text are remembered, each with its tree.
    #[must_use]
    pub fn remembering(mut self, bytes: usize) -> Self {
        self.expressions.remember(bytes);
        self
    }

    /// The report on the lines so far. Places count the lines that were given, from 1.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Reads to the end of the next ad. The ad may be empty: then it has only comments and lines that cannot be read, or is too
    /// large. `None` at the end of the input.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn next_ad(&mut self, source: &mut impl LineSource) -> io::Result<Option<ClassAd>> {
        if self.expressions.is_by_ad() {
            self.expressions.choose(source.ad()?);
        }
        self.begin();
        let mut state = State::Before;
        let mut begin = source.offset();
        // True if the part of a line that comes next is not its first.
        let mut inside = false;
        while let Some((end, next)) = source.line()? {
            let line = &source.rest()[..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let is_whole = !std::mem::replace(&mut inside, end == next && source.is_full());
            if is_whole && !inside && is_blank(line) {
                source.next_line(next);
                if state == State::Before {
                    begin = source.offset();
                    continue;
                }
                return Ok(Some(self.ad()));
            }
            if state != State::Large && source.offset() + next as u64 - begin > MAX_AD_BYTES as u64 {
                state = State::Large;
                self.refuse(TOO_LONG, line, source);
            }
            let significant = significant(line, state == State::Before);
            match state {
                State::Large => {}
                _ if significant.is_none() => state = state.max(State::Begun),
                State::Bad => self.report.skipped_attributes += 1,
                State::Before | State::Begun => {
                    state = State::Begun;
                    match self.attribute(line, significant.unwrap_or_default()) {
                        Ok(_) if self.read > MAX_ATTRIBUTES => {
                            state = State::Large;
                            self.refuse(TOO_MANY_ATTRIBUTES, line, source);
                        }
                        Ok(None) => {}
                        Ok(Some(ignored)) => {
                            self.report.remark(ignored, line, source.offset(), source.position());
                        }
                        Err(error) => {
                            self.report.add(error, line, source.offset(), source.position());
                            self.report.skipped_attributes += 1;
                            state = State::Bad;
                        }
                    }
                }
            }
            if inside {
                source.next_part(next);
            } else {
                source.next_line(next);
            }
        }
        Ok((state != State::Before).then(|| self.ad()))
    }

    /// Begins an ad.
    pub fn begin(&mut self) {
        self.expressions.begin();
        self.entries.clear();
        self.waiting.clear();
        self.read = 0;
    }

    /// Forgets what was read of an ad that is too large, and reports it at a line.
    #[cold]
    fn refuse(&mut self, kind: SyntaxErrorKind, line: &[u8], source: &impl LineSource) {
        self.entries = Vec::new();
        self.read = 0;
        self.names.again();
        self.report.add(SyntaxError::new(kind, Span::new(0, 1)), line, source.offset(), source.position());
    }

    /// Reads one line, `Name = expression`. One that cannot be read is reported and left out. If each ad is read in its own version,
    /// the line waits until that is known.
    pub fn line(&mut self, line: &[u8]) {
        if self.expressions.is_by_ad() {
            self.waiting.push(line.into());
        } else {
            self.waiting_line(line);
        }
    }

    /// Reads one of the lines that waited.
    pub fn waiting_line(&mut self, line: &[u8]) {
        let (before, offset) = self.given;
        let position = Position { line: before + 1, column: 1 };
        match self.attribute(line, line.iter().take_while(|byte| is_space(**byte)).count()) {
            Ok(None) => {}
            Ok(Some(ignored)) => self.report.remark(ignored, line, offset, position),
            Err(error) => {
                self.report.add(error, line, offset, position);
                self.report.skipped_attributes += 1;
            }
        }
        self.given = (before + 1, offset + line.len() as u64);
    }

    /// Chooses the version of the ad, and returns the lines that waited for it.
    pub fn waiting(&mut self) -> Vec<Box<[u8]>> {
        let lines = std::mem::take(&mut self.waiting);
        if !lines.is_empty() {
            self.expressions.choose(&lines.join(&b'\n'));
        }
        lines
    }

    /// The ad of the lines since [`LineReader::begin`].
    pub fn finish(&mut self) -> ClassAd {
        for line in self.waiting() {
            self.waiting_line(&line);
        }
        self.report.count(self.expressions.chosen());
        self.ad()
    }

    /// Forgets the lines since [`LineReader::begin`], whose ad is skipped.
    pub fn skip(&mut self) {
        self.begin();
        // Small things behind what the ad took would keep the allocator from giving it back.
        (self.entries, self.waiting, self.names) = (Vec::new(), Vec::new(), Names::default());
        self.ad();
        self.report.skipped_ads += 1;
    }

    /// The ad of the lines that were read.
    fn ad(&mut self) -> ClassAd {
        self.names.again();
        if let Some(chooser) = &mut self.chooser {
            chooser.settle(&mut self.entries, &mut self.texts);
        }
        self.shapes.make(&mut self.entries, SPARE)
    }

    /// Takes a constant, or holds it back.
    #[inline]
    fn constant(&mut self, name: Name, value: Constant<'_>) {
        self.read += 1;
        if let Some(chooser) = &mut self.chooser
            && !chooser.keeps(name)
        {
            match value {
                Constant::Literal(literal) => chooser.hold(self.entries.len(), name, literal),
                Constant::Text(text) => chooser.hold_text(self.entries.len(), name, text),
            }
            return;
        }
        let literal = match value {
            Constant::Literal(literal) => literal,
            Constant::Text(text) if self.sharing => Literal::Str(self.texts.text(text)),
            Constant::Text(text) => Literal::Str(Text::new(text)),
        };
        self.entries.push((name, Attribute::Literal(literal)));
    }

    /// Reads `name = value`, which begins at `start` of the line. Returns why what follows the value is no
    /// part of it, if something follows: the reference ignores it.
    #[inline]
    fn attribute(&mut self, line: &[u8], start: usize) -> Result<Option<SyntaxError>, SyntaxError> {
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
        if let Some(constant) = old_constant(value.trim_ascii_end()) {
            self.constant(name, constant);
            return Ok(None);
        }
        let (attribute, length) = self.expressions.parse(value, rest).map_err(|error| at(error, rest, line))?;
        match attribute {
            Attribute::Literal(literal) => self.constant(name, Constant::Literal(literal)),
            Attribute::Tree(_) => {
                self.read += 1;
                self.entries.push((name, attribute));
            }
        }
        // The parser stops at a NUL, as at the end.
        Ok(if length < value.len() { self.ignored(value).map(|error| at(error, rest, line)) } else { None })
    }

    /// The reason that a value ends before the line does.
    #[cold]
    fn ignored(&self, value: &[u8]) -> Option<SyntaxError> {
        parse_expr(value, self.expressions.options()).err()
    }
}

/// Tests whether a line of the long format assigns a plain constant, which takes no more memory than its text.
pub fn is_constant(line: &[u8]) -> bool {
    let value = memchr::memchr(b'=', line).map(|assign| line[assign + 1..].trim_ascii());
    value.is_some_and(|value| old_constant(value).is_some())
}

/// Tests whether all names of a line were seen before: reading it interns none. May be false for one that is not valid.
pub fn is_known(line: &[u8]) -> bool {
    let Some(assign) = memchr::memchr(b'=', line) else { return true };
    let (name, value) = (line[..assign].trim_ascii_end(), &line[assign + 1..]);
    let is_spelled = |text: &[u8]| is_spelled(text) || keyword(text).is_some();
    let is_known = |(token, span): (Result<Raw, ScanError>, Range<usize>)| match token {
        Ok(Raw::Word) => is_spelled(&value[span]),
        Ok(Raw::QuotedName) => is_spelled(&value[span.start + 1..span.end - 1]),
        _ => true,
    };
    is_spelled(name.trim_ascii_start())
        && (is_constant(line) || Raw::lexer_with_extras(value, Quoting::Old).spanned().all(is_known))
}

/// Tests whether a text begins with `name = `, in exactly these bytes.
#[inline]
fn assigned(text: &[u8], name: &[u8]) -> bool {
    text.get(name.len()..name.len() + 3).is_some_and(|next| next == b" = ") && &text[..name.len()] == name
}

/// An error in the value of a line, in terms of the line.
fn at(error: SyntaxError, offset: usize, line: &[u8]) -> SyntaxError {
    let span = error.span.shifted(offset);
    let length = line.trim_ascii_end().len() as u32;
    SyntaxError { span: Span { start: span.start.min(length), end: span.end.min(length) }, ..error }
}

/// Reasons that a value cannot be read back from the long format as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// A string holds a line end or NUL, which no escape can express.
    LineEnd,
    /// Inside an expression a string ends in a backslash, which then hides its closing quote.
    Backslash,
    /// The name is empty or holds `=`, a line end, or spaces at its ends, or it begins a comment.
    Name,
    /// A number has a size suffix, which versions before 23.2 do not write in JSON and XML.
    SizeSuffix,
}

/// An attribute that was written but cannot be read back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The attribute.
    pub name: Name,
    /// The reason.
    pub loss: Loss,
}

/// Writes ads as `condor_status -long` does (`docs/reference/classad-language.md` 8.5): sorted by the bytes of the
/// names, with what shows through of the chained parent, without private attributes. One writer for many ads of the
/// same kind sorts their names only once.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::format::long::LongWriter;
/// let ad = ClassAd::parse(br#"[ b = 2.0; A = "x"; ClaimId = "secret"; c = "two\nlines" ]"#)?;
/// let mut out = Vec::new();
/// let lost = LongWriter::default().write(&mut out, &ad);
/// assert_eq!(out, b"A = \"x\"\nb = 2.0\nc = \"two\nlines\"\n");
/// assert_eq!(lost[0].name.as_bytes(), b"c");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LongWriter {
    order: Order,
}

impl LongWriter {
    /// Writes one ad, without the blank line that separates ads, and returns the attributes that cannot be read back.
    pub fn write(&mut self, out: &mut Vec<u8>, ad: &ClassAd) -> Vec<Lost> {
        let mut lost = Vec::new();
        if ad.chained().is_some() {
            for (name, value) in Order::of_merged(ad) {
                write_line(out, name, value, &mut lost);
            }
        } else {
            for (name, value) in self.order.of(ad) {
                write_line(out, name, value, &mut lost);
            }
        }
        lost
    }
}

fn write_line(out: &mut Vec<u8>, name: Name, value: &Attribute, lost: &mut Vec<Lost>) {
    if is_private(name) {
        return;
    }
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b" = ");
    let start = out.len();
    write_value(out, value);
    if let Some(loss) = loss(name, value, &out[start..]) {
        lost.push(Lost { name, loss });
    }
    out.push(b'\n');
}

fn write_value(out: &mut Vec<u8>, value: &Attribute) {
    match value {
        Attribute::Literal(literal) => write_literal(out, literal, Style::Old),
        Attribute::Tree(tree) => write_expr(out, tree, tree.root(), Style::Old),
    }
}

fn loss(name: Name, value: &Attribute, written: &[u8]) -> Option<Loss> {
    if !name.is_plain() && !readable(name.as_bytes()) {
        return Some(Loss::Name);
    }
    if let Attribute::Literal(Literal::Int(_) | Literal::Bool(_) | Literal::Real(_)) = value {
        return None;
    }
    if memchr::memchr2(b'\n', 0, written).is_some() {
        return Some(Loss::LineEnd);
    }
    let Attribute::Tree(tree) = value else { return None };
    let hides = |text: &[u8]| text.last() == Some(&b'\\');
    let suspect = tree.attributes.iter().any(|(name, _)| hides(name.as_bytes()))
        || tree.nodes.iter().any(|node| match node {
            Node::Literal(Literal::Str(text)) => hides(text),
            Node::Attr(name) | Node::Absolute(name) => hides(name.as_bytes()),
            _ => false,
        });
    if !suspect {
        return None;
    }
    // At the very end of the line such a string is read as it was.
    let options = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    let same = parse_prefix(written, &options).is_ok_and(|(read, _)| read.same_as(&value.to_expr()));
    (!same).then_some(Loss::Backslash)
}

/// Tests whether a name can be read back from a line.
fn readable(name: &[u8]) -> bool {
    memchr::memchr3(b'=', b'\n', 0, name).is_none()
        && name.first().is_some_and(|first| *first != b'#' && !is_space(*first))
        && name.last() != Some(&b' ')
}

/// Tests whether HTCondor keeps an attribute to itself when it prints an ad for others: claim ids and transfer keys,
/// which are secrets.
pub fn is_private(name: Name) -> bool {
    is_private_text(name.folded())
}

/// Tests whether an attribute with this spelling is private.
pub fn is_private_text(name: &[u8]) -> bool {
    let is = |private: &str| name.eq_ignore_ascii_case(private.as_bytes());
    match name.first() {
        Some(b'c' | b'C') => ["Capability", "ChildClaimIds", "ClaimId", "ClaimIdList", "ClaimIds"].into_iter().any(is),
        Some(b't' | b'T') => is("TransferKey"),
        Some(b'_') => name.get(..12).is_some_and(|start| start.eq_ignore_ascii_case(b"_condor_priv")),
        _ => false,
    }
}

/// Writes an ad as the library's old-syntax printer does: in listing order, names quoted where they need it, its own
/// attributes only. An ad without attributes is one line end.
pub fn write_old(out: &mut Vec<u8>, ad: &ClassAd) {
    if ad.is_empty() {
        out.push(b'\n');
    }
    for (name, value) in ad.listed() {
        write_name(out, name, Style::Old);
        out.extend_from_slice(b" = ");
        write_value(out, value);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantics::{DOCUMENTED, Semantics};

    fn read(text: &[u8]) -> (Vec<String>, Report) {
        let mut reader = LongReader::new(text, &ParseOptions::default());
        let ads = reader.by_ref().map(|ad| ad.unwrap().to_string()).collect();
        (ads, reader.report().clone())
    }

    #[test]
    fn in_front_of_an_ad_any_white_space_may_stand_before_a_comment() {
        // Answers of the reference.
        assert_eq!(read(b"a = 1\n\n \x0b #\nb = 2").0, ["[ a = 1 ]", "[ b = 2 ]"]);
        assert_eq!(read(b"\x0b #\nb = 2").0, ["[ b = 2 ]"]);
        assert_eq!(read(b"b = 2\n \x0b #\na = 1").0, ["[ b = 2 ]"]);
        assert!(read(b"# c\n \x0b #\nb = 2").0.is_empty());
    }

    #[test]
    fn what_follows_a_value_is_ignored_and_told() {
        // The reference reads 10, 1 and "a" (ads.jsonl has such lines), and 2 behind which a comment stands.
        let (ads, report) = read(b"a = 10K\nb = 1 // one\nc = \"a\" b\nd = 2 3\n");
        assert_eq!(ads, ["[ a = 10; b = 1; c = \"a\"; d = 2 ]"]);
        assert!(report.is_clean());
        let places: Vec<_> = report.ignored.iter().map(|fault| (fault.position.line, fault.position.column)).collect();
        assert_eq!(places, [(1, 7), (3, 9), (4, 7)]);
        let text = b"a = 10K\n\n".repeat(1000);
        let mut many = LongReader::new(text.as_slice(), &ParseOptions::default());
        assert_eq!(many.by_ref().count(), 1000);
        assert_eq!((many.report().ignored_texts, many.report().ignored.len()), (1000, 100));
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

    /// The reader of HTCondor's Python bindings refused such texts from 23.10 to 25.0 (`docs/reference/versions.md` 5).
    #[test]
    fn blank_lines_in_front_and_between_are_skipped_in_every_version() {
        for series in DOCUMENTED {
            let options = ParseOptions { semantics: Semantics::of(series), ..ParseOptions::default() };
            let reader = LongReader::new(b"\n\na = 1\n\n\n\nb = 2\n".as_slice(), &options);
            let ads: Vec<String> = reader.map(|ad| ad.unwrap().to_string()).collect();
            assert_eq!(ads, ["[ a = 1 ]", "[ b = 2 ]"], "{series}");
        }
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
    fn expressions_of_equal_text_share_a_tree() {
        let mut reader = LongReader::new(b"a = x + 1\n\na = x + 1\n".as_slice(), &ParseOptions::default());
        let (a, b) = (reader.next().unwrap().unwrap(), reader.next().unwrap().unwrap());
        assert!(std::sync::Arc::ptr_eq(a.get("a").unwrap().tree(), b.get("a").unwrap().tree()));
    }

    #[test]
    fn lines_are_sorted_by_bytes_and_names_are_raw() {
        let ad = ClassAd::parse(
            br#"[b=1; aa=x is y; Big=1e15; A=2; Zed=3; 'q r'=[z=1; Y={"c:\\d",2.0}]; transferKEY=1; _condor_privX=2]"#,
        );
        let mut out = Vec::new();
        assert_eq!(LongWriter::default().write(&mut out, &ad.unwrap()), []);
        let expected =
            "A = 2\nBig = 1000000000000000.0\nZed = 3\naa = x =?= y\nb = 1\nq r = [ Y = { \"c:\\d\",2.0 }; z = 1 ]\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_read_back_is_told() {
        let text =
            br#"[a="x\ny"; b={"c:\\","d"}; c="c:\\"; d=x=="c:\\"; 'e=f'=1; ' g'=1; '#h'=1; 'i j'=1; k="a\\\"b"]"#;
        let ad = ClassAd::parse(text).unwrap();
        let mut out = Vec::new();
        let lost = LongWriter::default().write(&mut out, &ad);
        let lost: Vec<(&[u8], Loss)> = lost.iter().map(|lost| (lost.name.as_bytes(), lost.loss)).collect();
        let expected: [(&[u8], Loss); 5] = [
            (b" g", Loss::Name),
            (b"#h", Loss::Name),
            (b"a", Loss::LineEnd),
            (b"b", Loss::Backslash),
            (b"e=f", Loss::Name),
        ];
        assert_eq!(lost, expected);
        let kept = ClassAd::parse(br#"[c="c:\\"; d=x=="c:\\"; 'i j'=1; k="a\\\"b"]"#).unwrap();
        out.clear();
        assert_eq!(LongWriter::default().write(&mut out, &kept), []);
        let read = LongReader::new(out.as_slice(), &ParseOptions::default()).next().unwrap().unwrap();
        assert!(read.same_as(&kept));
    }
}
