//! Texts as the Python binding of the reference reads them: the ads, and an error after them if it saw one.
//!
//! The conformance records were made through that binding, which restarts its reader for every ad, stops at the
//! first ad without attributes, and does not notice an error when nothing of the text is left behind it. The ads are
//! those of the usual readers; only when to stop is decided here. One file: the formats share the rules for where an ad ends.

use crate::ad::ClassAd;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::format::Format;
use crate::format::detect::{detect_file, detect_text};
use crate::format::json::JsonParser;
use crate::format::list::ParseAd;
use crate::format::long::{LineReader, LongReader};
use crate::format::new::{AdParser, parse_ad};
use crate::format::source::SliceSource;
use crate::format::xml::XmlParser;
use crate::format::xml_token::{Tag, TagSide};
use crate::syntax::lexer::Lexer;
use crate::syntax::parse::ParseOptions;
use crate::syntax::token::is_space;

/// The ads of a text, and whether the binding reports no error behind them.
///
/// `format` is `single` (one ad of new syntax, what follows is ignored) or a stream: `new`, `newl`, `old`, `json`,
/// `jsonl`, `xml`, `auto` (the binding's detection), `fileauto` (that of the tools). `None` for other formats.
pub fn read_as_binding(format: &str, text: &[u8], options: &ParseOptions) -> Option<(Vec<ClassAd>, bool)> {
    if format == "single" {
        return Some(match parse_ad(text, options) {
            Ok((ad, _)) => (vec![ad], true),
            Err(_) => (Vec::new(), false),
        });
    }
    let format = match format {
        "new" | "newl" => BindingFormat::New,
        "json" => BindingFormat::Json,
        "jsonl" => BindingFormat::JsonLines,
        "xml" => BindingFormat::Xml,
        "old" => BindingFormat::Long,
        "auto" => BindingFormat::Text,
        "fileauto" => BindingFormat::File,
        _ => return None,
    };
    let mut reader = BindingReader::new(format, text.to_vec(), Box::new(BindingParsers::new(options)));
    let mut ads = Vec::new();
    loop {
        match reader.next_ad() {
            Ok(Some((ad, _))) => ads.push(ad),
            Ok(None) => return Some((ads, true)),
            Err(Unreadable) => return Some((ads, false)),
        }
    }
}

/// A form of ads that the binding reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindingFormat {
    /// The long form.
    Long,
    /// New syntax.
    New,
    /// JSON.
    Json,
    /// JSON, one ad a line.
    JsonLines,
    /// XML.
    Xml,
    /// New syntax or the long form, by the first character.
    Text,
    /// Any, by the detection of the tools.
    File,
}

/// The error that the binding reports for a text, without more detail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreadable;

/// Reads the ads of a text one after another, in time in proportion to the text.
#[derive(Debug)]
pub struct BindingReader {
    format: BindingFormat,
    text: Vec<u8>,
    /// Bytes used up so far.
    at: usize,
    /// A string with a NUL is a part of what the binding drops without an error.
    loses_string: bool,
    /// The NUL at which the text was cut is in a string.
    is_cut: bool,
    parsers: Box<BindingParsers>,
}

/// Parsers, with what they learned from the ads read so far: names, strings, texts of expressions, shapes. They serve
/// text after text, so that ads share them whose texts were read at different times.
#[derive(Debug)]
pub struct BindingParsers {
    options: ParseOptions,
    long: LineReader,
    new: AdParser,
    json: JsonParser,
}

impl BindingReader {
    /// A reader of a text, which ends at its first NUL.
    pub fn new(format: BindingFormat, mut text: Vec<u8>, parsers: Box<BindingParsers>) -> Self {
        let nul = memchr::memchr(0, &text);
        text.truncate(nul.unwrap_or(text.len()));
        // Strings of the long form end with their line, others may span several.
        let is_long = match format {
            BindingFormat::Long | BindingFormat::File => true,
            BindingFormat::Text => detect_text(&text) != Format::New,
            _ => false,
        };
        let is_cut = nul.is_some() && ends_in_string(&text, is_long, &parsers.options);
        BindingReader { format, text, at: 0, loses_string: false, is_cut, parsers }
    }

    /// Tests whether a string with a NUL is a part of what was dropped without an error so far: one with `\u0000` or
    /// `\0`, or in which the text was cut.
    pub fn loses_string(&self) -> bool {
        self.loses_string
    }

    /// The parsers, for the next text.
    pub fn into_parsers(self) -> Box<BindingParsers> {
        self.parsers
    }

    /// The next ad that has attributes, and how many bytes it took, what precedes it included. `None` at the end.
    ///
    /// # Errors
    /// The binding reports that what follows cannot be read.
    pub fn next_ad(&mut self) -> Result<Option<(ClassAd, usize)>, Unreadable> {
        let (rest, parsers) = (&self.text[self.at..], &mut *self.parsers);
        let step = match self.format {
            BindingFormat::New => new(rest, parsers),
            BindingFormat::Json => json(rest, parsers),
            BindingFormat::JsonLines => line(rest, parsers, BindingParsers::parse_json),
            BindingFormat::Xml => xml(rest, &parsers.options),
            BindingFormat::Text if detect_text(rest) == Format::New => new(rest, parsers),
            BindingFormat::Long | BindingFormat::Text => long(rest, parsers),
            BindingFormat::File => file(rest, parsers),
        };
        match step {
            ReadStep::Ad { ad, length, .. } => {
                self.loses_string = self.is_cut && length >= rest.len();
                self.at += length;
                Ok(Some((ad, length)))
            }
            ReadStep::Stop { reached, has_nul } if reached >= rest.len() => {
                self.loses_string = self.is_cut || has_nul;
                Ok(None)
            }
            ReadStep::Stop { .. } => Err(Unreadable),
        }
    }
}

/// The result of reading one ad of a file.
#[derive(Debug)]
pub enum FileStep {
    /// An ad with attributes.
    Ad(ClassAd),
    /// Nothing more.
    End,
    /// What follows cannot be read.
    Unreadable,
    /// More of the file is needed.
    More,
}

/// Reads the first ad of a file; also returns how many bytes of it the binding reads for that. `text` is the beginning
/// of what is left of the file, all of it if `is_all`.
///
/// The binding reads a file byte by byte, and what it cannot read is an error unless it has noticed the end of the file.
pub fn read_file_as_binding(
    format: BindingFormat,
    text: &[u8],
    is_all: bool,
    parsers: &mut BindingParsers,
) -> (FileStep, usize) {
    let visible = &text[..memchr::memchr(0, text).unwrap_or(text.len())];
    let first = visible.iter().position(|byte| *byte == b'\n').map_or(visible.len(), |end| end + 1);
    let is_blank = visible[..first].iter().all(|byte| is_space(*byte));
    let step = match format {
        BindingFormat::JsonLines | BindingFormat::File | BindingFormat::Long if is_blank => {
            ReadStep::stop(noticed(visible, first, true))
        }
        BindingFormat::JsonLines | BindingFormat::File => line(visible, parsers, BindingParsers::parse_json),
        BindingFormat::Long => long(visible, parsers),
        BindingFormat::Text if detect_text(visible) == Format::Long => long(visible, parsers),
        BindingFormat::New | BindingFormat::Text => new(visible, parsers),
        BindingFormat::Json => json(visible, parsers),
        BindingFormat::Xml => xml(visible, &parsers.options),
    };
    match step {
        ReadStep::Ad { open: true, .. } if !is_all => (FileStep::More, 0),
        ReadStep::Ad { ad, length, .. } => (FileStep::Ad(ad), length),
        ReadStep::Stop { reached, .. } if reached >= visible.len() && !is_all => (FileStep::More, 0),
        // What is behind a NUL is not dropped in silence.
        ReadStep::Stop { reached, .. } if reached > visible.len() && visible.len() < text.len() => {
            (FileStep::Unreadable, visible.len() + 1)
        }
        ReadStep::Stop { reached, has_nul: true } => (FileStep::Unreadable, reached.min(text.len())),
        ReadStep::Stop { reached, .. } if reached > visible.len() => (FileStep::End, text.len()),
        ReadStep::Stop { reached, .. } => (FileStep::Unreadable, reached),
    }
}

impl BindingParsers {
    /// Parsers that know nothing yet.
    pub fn new(options: &ParseOptions) -> Self {
        BindingParsers {
            options: options.clone(),
            long: LineReader::new(options).sharing(),
            new: AdParser::new(options),
            json: JsonParser::new(options),
        }
    }

    /// Reads the ad in new syntax that a text begins with; also returns how many bytes it takes.
    ///
    /// # Errors
    /// The text does not begin with an ad.
    pub fn parse_ad(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        self.new.parse_ad(text)
    }

    fn parse_new(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        self.new.parse_without_nul(text)
    }

    fn parse_json(&mut self, text: &[u8]) -> Result<(ClassAd, usize), SyntaxError> {
        self.json.parse_without_nul(text)
    }
}

/// The result of one call of the binding's reader.
enum ReadStep {
    /// An ad with attributes, and how much of the text was used up. If it is open, more text could be part of it.
    Ad { ad: ClassAd, length: usize, open: bool },
    /// Nothing more. The reader got to this place; beyond the end of the text if it noticed the end. An escape of NUL
    /// can be the reason.
    Stop { reached: usize, has_nul: bool },
}

impl ReadStep {
    /// Nothing more, for another reason than an escape of NUL.
    fn stop(reached: usize) -> Self {
        ReadStep::Stop { reached, has_nul: false }
    }
}

/// Tests whether a string is open where a text ends, or its last line.
fn ends_in_string(text: &[u8], is_long: bool, options: &ParseOptions) -> bool {
    let line = memchr::memrchr(b'\n', text).filter(|_| is_long).map_or(0, |newline| newline + 1);
    let mut lexer = Lexer::new(&text[line..], options);
    let fault = std::iter::from_fn(|| lexer.next()).find_map(Result::err);
    fault.is_some_and(|error| matches!(error.kind, SyntaxErrorKind::UnterminatedString { .. }))
}

/// The end of lines that were read to a place, as a reader of files notices it: beyond the end of the text, unless a
/// line end was the last that it saw.
fn noticed(text: &[u8], end: usize, is_done: bool) -> usize {
    let unfinished = end == text.len() && !(is_done && text.ends_with(b"\n"));
    end + usize::from(unfinished)
}

/// An ad that ends at some place. Behind an ad without attributes the binding goes on as if the text had been in the
/// long form all along.
fn found(ad: ClassAd, length: usize, text: &[u8], options: &ParseOptions) -> ReadStep {
    if !ad.is_empty() {
        return ReadStep::Ad { ad, length, open: false };
    }
    // It reads to a blank line, or to one with a fault, not to the next ad behind it.
    let (mut end, mut is_done) = (length, false);
    for line in text[length..].split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let mut reader = LongReader::new(line, options);
        let blank = line.iter().all(|byte| is_space(*byte));
        is_done = blank || reader.next_ad().is_err() || reader.report().errors > 0;
        if is_done {
            break;
        }
    }
    let ad = LongReader::new(&text[length..end], options).next_ad().ok().flatten().unwrap_or_default();
    let reached = noticed(text, end, is_done);
    if ad.is_empty() { ReadStep::stop(reached) } else { ReadStep::Ad { ad, length: end, open: reached > end } }
}

fn new(text: &[u8], parsers: &mut BindingParsers) -> ReadStep {
    bracketed(text, b'{', parsers, BindingParsers::parse_new)
}

fn json(text: &[u8], parsers: &mut BindingParsers) -> ReadStep {
    bracketed(text, b'[', parsers, BindingParsers::parse_json)
}

type Parse = fn(&mut BindingParsers, &[u8]) -> Result<(ClassAd, usize), SyntaxError>;

/// Reads an ad, or a bracket that opens a list and an ad. That bracket may even be the fault of an ad.
fn bracketed(text: &[u8], list: u8, parsers: &mut BindingParsers, parse: Parse) -> ReadStep {
    let mut start = 0;
    loop {
        let rest = &text[start..];
        match parse(parsers, rest) {
            Ok((ad, length)) => return found(ad, start + length, text, &parsers.options),
            Err(error) => {
                let end = reached(rest, &error, &parsers.options);
                // A bracket that was only looked at behind a bad token opens nothing.
                let bad = rest.get(error.span.start as usize) == Some(&list) && error.span.start as usize + 1 == end;
                if start > 0 || !bad {
                    let has_nul = error.kind == SyntaxErrorKind::NulInString;
                    return ReadStep::Stop { reached: start + end, has_nul };
                }
                start += end;
            }
        }
    }
}

/// The place that the reference's lexer has reached when it notices an error: the end of the bad token, and one
/// character more if the token could go on.
fn reached(text: &[u8], error: &SyntaxError, options: &ParseOptions) -> usize {
    let end = (error.span.end as usize).min(text.len());
    let start = (error.span.start as usize).min(end);
    if error.kind == SyntaxErrorKind::EmptyName {
        return behind_value(text, start, options);
    }
    if let Some(end) = string_around(text, start, options) {
        return looked_ahead(text, start, end);
    }
    match error.kind {
        SyntaxErrorKind::UnterminatedString { .. } | SyntaxErrorKind::UnterminatedComment => return text.len() + 1,
        SyntaxErrorKind::LeadingZero(_)
        | SyntaxErrorKind::Hexadecimal(_)
        | SyntaxErrorKind::IncompleteNumber(_)
        | SyntaxErrorKind::NulInString
        | SyntaxErrorKind::BadUnicodeEscape(_) => return end + 1,
        _ => {}
    }
    // The error may be about the beginning of a token only.
    let mut lexer = Lexer::new(&text[start..], options);
    let end = match lexer.next() {
        Some(Ok(_)) => start + lexer.offset(),
        None | Some(Err(SyntaxError { kind: SyntaxErrorKind::UnterminatedString { .. }, .. })) => {
            return text.len() + 1;
        }
        Some(Err(SyntaxError { kind: SyntaxErrorKind::IncompleteNumber(_), span, .. })) => {
            return start + span.end as usize + 1;
        }
        _ if text[start..].starts_with(b"=?") => (start + 3).min(text.len()),
        _ if text.get(start).is_some_and(|byte| !byte.is_ascii()) => start + 1,
        _ => end,
    };
    looked_ahead(text, start, end)
}

/// The place that the reference's lexer reaches for a token.
fn looked_ahead(text: &[u8], start: usize, end: usize) -> usize {
    let blanks = || text[end..].iter().take_while(|byte| is_space(**byte)).count();
    match &text[start..end] {
        b"-" | b"/" | b"=" | b"<" | b">" | b">>" | b"!" | b"&" | b"|" | b"." | b".." => end + 1,
        // Another string, or a colon, may follow after blanks.
        [.., b'"' | b'\''] | b"?" => end + blanks() + 1,
        [.., byte] if byte.is_ascii_alphanumeric() || *byte == b'_' => end + 1,
        _ => end,
    }
}

/// The end of the string that a place is in.
fn string_around(text: &[u8], place: usize, options: &ParseOptions) -> Option<usize> {
    let mut lexer = Lexer::new(text, options);
    loop {
        let before = lexer.offset();
        lexer.next()?.ok()?;
        if lexer.offset() > place {
            let string = memchr::memchr(b'"', text.get(before..=place)?).is_some();
            return (string && text[lexer.offset() - 1] == b'"').then(|| lexer.offset());
        }
    }
}

/// The place that the reference has reached when it finds an empty name, which is after the value: in JSON right there,
/// in new syntax when the next token is known.
fn behind_value(text: &[u8], name: usize, options: &ParseOptions) -> usize {
    let mut lexer = Lexer::new(&text[name..], options);
    let mut tokens = std::iter::from_fn(|| {
        let token = lexer.next()?.ok()?;
        Some((name + lexer.offset(), token))
    });
    let json = text[name..].starts_with(b"\"");
    let (Some(_), Some(mut start)) = (tokens.next(), tokens.next().map(|(end, _)| end)) else { return text.len() + 1 };
    let mut depth = 0;
    for (end, _) in tokens {
        match text[start..end].trim_ascii_start() {
            b"[" | b"{" | b"(" => depth += 1,
            b"]" | b";" if depth == 0 => return end,
            b"]" | b"}" | b")" => {
                depth -= 1;
                if depth == 0 && json {
                    return end;
                }
            }
            _ if depth == 0 && json => return looked_ahead(text, start, end),
            _ => {}
        }
        start = end;
    }
    text.len() + 1
}

/// Reads an ad that must be on one line; what follows it on that line is ignored.
fn line(text: &[u8], parsers: &mut BindingParsers, parse: Parse) -> ReadStep {
    let blank = text.iter().take_while(|byte| is_space(**byte)).count();
    let end = memchr::memchr(b'\n', &text[blank..]).map_or(text.len(), |length| blank + length + 1);
    if blank == text.len() {
        return ReadStep::stop(end + 1);
    }
    match parse(parsers, &text[blank..end]) {
        Ok((ad, _)) if !ad.is_empty() => ReadStep::Ad { ad, length: end, open: !text[..end].ends_with(b"\n") },
        Ok((ad, _)) => found(ad, end, text, &parsers.options),
        Err(_) => ReadStep::stop(noticed(text, end, true)),
    }
}

fn long(text: &[u8], parsers: &mut BindingParsers) -> ReadStep {
    let mut source = SliceSource::new(text);
    // Reading from memory does not fail.
    match parsers.long.next_ad(&mut source) {
        Ok(Some(ad)) => {
            let (read, last) = (&text[..source.used()], source.last_line());
            let reached = noticed(text, read.len(), last.iter().all(|byte| is_space(*byte)));
            if ad.is_empty() {
                ReadStep::stop(reached)
            } else {
                ReadStep::Ad { ad, length: read.len(), open: reached > read.len() }
            }
        }
        _ => ReadStep::stop(text.len() + 1),
    }
}

fn xml(text: &[u8], options: &ParseOptions) -> ReadStep {
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'<', &text[at..]).map(|length| at + length) {
        let tag = Tag::at(text, start);
        if tag.name == b"c" && tag.side == TagSide::Start {
            let ad = &text[start..];
            return match XmlParser::new(options).parse(ad) {
                Ok(read) => found(read.ad, start + read.length, text, options),
                Err(error) if error.span.end as usize >= ad.len() => ReadStep::stop(text.len() + 1),
                Err(error) => ReadStep::stop(start + error.span.end as usize),
            };
        }
        if tag.name == b"c" {
            return ReadStep::stop(tag.end);
        }
        at = tag.end;
    }
    ReadStep::stop(text.len() + 1)
}

/// Reads an ad in the format that the text seems to be in, from here on.
fn file(text: &[u8], parsers: &mut BindingParsers) -> ReadStep {
    if significant(text) == text.len() {
        return ReadStep::stop(text.len() + 1);
    }
    let lone = lone_bracket(text);
    match detect_file(text, &parsers.options) {
        Format::Long => match lone {
            // The character that was peeked at after the bracket is lost, and the line end with it.
            Some(end) => match long(&[&text[..end], text.get(end + 2..).unwrap_or_default()].concat(), parsers) {
                ReadStep::Ad { ad, length, open } => ReadStep::Ad { ad, length: (length + 2).min(text.len()), open },
                ReadStep::Stop { reached, has_nul } => ReadStep::Stop { reached: reached + 2, has_nul },
            },
            None => long(text, parsers),
        },
        Format::Xml => xml(text, &parsers.options),
        format => {
            let start = significant(text);
            let rest = &text[start..];
            let step = match (format, lone) {
                (Format::Json, _) => json(rest, parsers),
                (Format::New, Some(_)) => new(rest, parsers),
                (Format::New, None) => line(rest, parsers, BindingParsers::parse_new),
                _ => line(rest, parsers, BindingParsers::parse_json),
            };
            match step {
                ReadStep::Ad { ad, length, open } => ReadStep::Ad { ad, length: start + length, open },
                ReadStep::Stop { reached, has_nul } => ReadStep::Stop { reached: start + reached, has_nul },
            }
        }
    }
}

/// The end of the first significant line, if it is a bracket alone.
fn lone_bracket(text: &[u8]) -> Option<usize> {
    let start = significant(text);
    let end = start + memchr::memchr(b'\n', &text[start..])?;
    matches!(text[start..end].trim_ascii(), b"[" | b"{").then_some(end)
}

/// The start of the first line that is neither blank nor a `#` comment.
fn significant(text: &[u8]) -> usize {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.iter().find(|byte| !is_space(**byte)).is_some_and(|first| *first != b'#') {
            break;
        }
        start += line.len();
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::fold::tests::random_expr;
    use crate::random::SplitMix64;

    /// Answers of 25.14.1.
    #[test]
    fn a_bracket_that_was_only_looked_at_opens_no_list() {
        for (text, format) in [("x[{\"a\": 1}]", "json"), ("1{[a = 1]}", "new"), ("=?{[a = 1]}", "new")] {
            let (ads, good) = read_as_binding(format, text.as_bytes(), &ParseOptions::default()).unwrap();
            assert_eq!((ads.len(), good), (0, false), "{text}");
        }
    }

    #[test]
    fn a_string_with_nul_that_is_dropped_is_noticed() {
        let cases: [(BindingFormat, &[u8], bool); 12] = [
            (BindingFormat::Json, b"{\"a\": 1, \"b\": \"x\\u0000y\"}", true),
            (BindingFormat::Json, b"{\"a\": 1, \"b\": \"x\\u12\"}", false),
            (BindingFormat::New, b"[ b = 1 ] [ a = \"\\000\"]", true),
            (BindingFormat::Long, b"a = 1\nb = \"x\0y\"\nc = 2\n", true),
            (BindingFormat::Text, b"a = \"x\0y\"\n", true),
            (BindingFormat::New, b"[ a = \"x\0y\" ]", true),
            (BindingFormat::New, b"[ a = 1; b = \"x\ny\0\" ]", true),
            (BindingFormat::Text, b"[ a = 1; b = \"x\ny\0\" ]", true),
            (BindingFormat::New, b"[ a = \"x\ny\"; b = 1\0 ]", false),
            (BindingFormat::Long, b"a = 1\0\nb = \"x\"\n", false),
            (BindingFormat::Long, b"a = \"x\"\nb\0c = 2\n", false),
            (BindingFormat::Long, b"a = \"x", false),
        ];
        for (format, text, lost) in cases {
            let parsers = Box::new(BindingParsers::new(&ParseOptions::default()));
            let mut reader = BindingReader::new(format, text.to_vec(), parsers);
            while !reader.loses_string() && reader.next_ad().is_ok_and(|ad| ad.is_some()) {}
            assert_eq!(reader.loses_string(), lost, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn parsers_that_have_read_other_texts_read_the_same_as_new_ones() {
        let mut random = SplitMix64::new(3);
        let options = ParseOptions::default();
        let mut used = Box::new(BindingParsers::new(&options));
        let (mut count, mut bad) = (0, 0);
        for round in 0..4_000 {
            let mut value = || match random_expr(&mut random, round % 3) {
                // Not an expression any more.
                text if round % 11 == 0 && text.len() % 3 == 0 => format!("{text} ("),
                text => text,
            };
            let [a, b, c] = [value(), value(), value()];
            let texts = [
                (BindingFormat::Long, format!("a = {a}\nb = {b}\n\nB = {b}\nc = \"{round}\"\n\nA = {c}\n")),
                (BindingFormat::New, format!("[ a = {a}; b = {b} ]\n[ B = {b}; c = \"x\" ] [ a = {c} ]")),
                (
                    BindingFormat::Json,
                    format!("{{\"a\": \"\\/Expr({})\\/\", \"c\": {round}}}\n", a.replace('"', "\\\"")),
                ),
                (BindingFormat::Text, format!("A = {a}\nC = {c}\n")),
                (BindingFormat::File, format!("[ b = {b}; C = {c} ]\n")),
            ];
            for (format, text) in texts {
                let mut fresh =
                    BindingReader::new(format, text.clone().into(), Box::new(BindingParsers::new(&options)));
                let mut again = BindingReader::new(format, text.clone().into(), used);
                loop {
                    let shown = |step: Result<Option<(ClassAd, usize)>, Unreadable>| {
                        step.map(|found| found.map(|(ad, length)| (ad.to_string(), length)))
                    };
                    let (first, second) = (shown(fresh.next_ad()), shown(again.next_ad()));
                    assert_eq!(first, second, "{text}");
                    match first {
                        Ok(Some(_)) => count += 1,
                        end => {
                            bad += u32::from(end.is_err());
                            break;
                        }
                    }
                }
                used = again.into_parsers();
            }
        }
        assert!(count > 20_000 && bad > 300, "{count} {bad}");
    }

    #[test]
    fn equal_strings_of_the_long_form_are_one() {
        let text = b"a = \"x\"\n\na = \"x\"\n";
        let (ads, _) = read_as_binding("old", text, &ParseOptions::default()).unwrap();
        let text = |ad: &ClassAd| ad.constant("a").and_then(|value| value.as_bytes().map(<[u8]>::as_ptr));
        assert!(text(&ads[0]).is_some());
        assert_eq!(text(&ads[0]), text(&ads[1]));
    }

    #[test]
    fn what_is_behind_a_nul_in_a_file_is_an_error() {
        for format in [BindingFormat::New, BindingFormat::Json, BindingFormat::Long, BindingFormat::Text] {
            let mut parsers = BindingParsers::new(&ParseOptions::default());
            let (step, used) = read_file_as_binding(format, b"a\0b = 1\n", true, &mut parsers);
            assert!(matches!(step, FileStep::Unreadable) && used == 2, "{format:?}: {step:?} {used}");
        }
    }

    #[test]
    fn operators_that_are_cut_at_the_end_are_read_to_the_end() {
        for text in [
            "=?",
            "=",
            "[a =?",
            "[a = 1 =?",
            "=!",
            "?",
            "[a = b.",
            "\"",
            "[a = \"",
            "[a = 1e",
            "[a = 0x",
            "[a = 'b",
            "<",
            "[a = 1 >>",
        ] {
            for format in ["new", "newl", "json", "jsonl", "old", "xml", "auto", "fileauto"] {
                let read = read_as_binding(format, text.as_bytes(), &ParseOptions::default());
                assert!(read.is_none_or(|(ads, _)| ads.len() <= 1), "{format}: {text}");
            }
        }
    }
}
