//! Texts as the Python binding of the reference reads them: the ads, and an error after them if it saw one.
//!
//! The conformance records were made through that binding, which restarts its reader for every ad, stops at the
//! first ad without attributes, and does not notice an error when nothing of the text is left behind it. The ads are
//! those of the usual readers; only when to stop is decided here.

use crate::ad::ClassAd;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::format::Format;
use crate::format::detect::{detect_file, detect_text};
use crate::format::json::parse_json;
use crate::format::long::LongReader;
use crate::format::new::parse_ad;
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
    let text = memchr::memchr(0, text).map_or(text, |nul| &text[..nul]);
    if format == "single" {
        return Some(match parse_ad(text, options) {
            Ok((ad, _)) => (vec![ad], true),
            Err(_) => (Vec::new(), false),
        });
    }
    let mut ads = Vec::new();
    let mut rest = text;
    loop {
        let step = match format {
            "new" | "newl" => new(rest, options),
            "json" => json(rest, options),
            "jsonl" => line(rest, parse_json, options),
            "xml" => xml(rest, options),
            "auto" if detect_text(rest) == Format::New => new(rest, options),
            "old" | "auto" => long(rest, options),
            "fileauto" => file(rest, options),
            _ => return None,
        };
        match step {
            ReadStep::Ad(ad, length) => {
                ads.push(ad);
                rest = &rest[length..];
            }
            ReadStep::Stop { ok } => return Some((ads, ok)),
        }
    }
}

/// The result of one call of the binding's reader.
enum ReadStep {
    /// An ad with attributes, and how much of the text was used up.
    Ad(ClassAd, usize),
    /// Nothing more, with or without an error.
    Stop { ok: bool },
}

/// An ad that ends at some place. Behind an ad without attributes the binding goes on as if the text had been in the
/// long form all along.
fn found(ad: ClassAd, length: usize, text: &[u8], options: &ParseOptions) -> ReadStep {
    if !ad.is_empty() {
        return ReadStep::Ad(ad, length);
    }
    // It reads to a blank line, or to one with a fault, not to the next ad behind it.
    let mut end = length;
    for line in text[length..].split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let mut reader = LongReader::new(line, options);
        let blank = line.iter().all(|byte| is_space(*byte));
        if blank || reader.next_ad().is_err() || reader.report().errors > 0 {
            break;
        }
    }
    let ad = LongReader::new(&text[length..end], options).next_ad().ok().flatten().unwrap_or_default();
    if ad.is_empty() { ReadStep::Stop { ok: end == text.len() } } else { ReadStep::Ad(ad, end) }
}

fn new(text: &[u8], options: &ParseOptions) -> ReadStep {
    bracketed(text, b'{', parse_ad, options)
}

fn json(text: &[u8], options: &ParseOptions) -> ReadStep {
    bracketed(text, b'[', parse_json, options)
}

type Parse = fn(&[u8], &ParseOptions) -> Result<(ClassAd, usize), SyntaxError>;

/// Reads an ad, or a bracket that opens a list and an ad. That bracket may even be the fault of an ad.
fn bracketed(text: &[u8], list: u8, parse: Parse, options: &ParseOptions) -> ReadStep {
    let mut start = 0;
    loop {
        let rest = &text[start..];
        match parse(rest, options) {
            Ok((ad, length)) => return found(ad, start + length, text, options),
            Err(error) => {
                let end = reached(rest, &error, options);
                if start > 0 || end == 0 || rest.get(end - 1) != Some(&list) {
                    return ReadStep::Stop { ok: start + end >= text.len() };
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
        SyntaxErrorKind::UnterminatedString { .. } | SyntaxErrorKind::UnterminatedComment => return text.len(),
        SyntaxErrorKind::LeadingZero(_)
        | SyntaxErrorKind::Hexadecimal(_)
        | SyntaxErrorKind::IncompleteNumber(_)
        | SyntaxErrorKind::NulInString
        | SyntaxErrorKind::BadUnicodeEscape(_) => return end + 1,
        _ => {}
    }
    // The error may be about the beginning of a token only.
    let mut lexer = Lexer::new(&text[start..], options.mode, options.quoting);
    let end = match lexer.next() {
        Some(Ok(_)) => start + lexer.offset(),
        Some(Err(SyntaxError { kind: SyntaxErrorKind::UnterminatedString { .. }, .. })) => return text.len(),
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
    let mut lexer = Lexer::new(text, options.mode, options.quoting);
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
    let mut lexer = Lexer::new(&text[name..], options.mode, options.quoting);
    let mut tokens = std::iter::from_fn(|| {
        let token = lexer.next()?.ok()?;
        Some((name + lexer.offset(), token))
    });
    let json = text[name..].starts_with(b"\"");
    let (Some(_), Some(mut start)) = (tokens.next(), tokens.next().map(|(end, _)| end)) else { return text.len() };
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
    text.len()
}

/// Reads an ad that must be on one line; what follows it on that line is ignored.
fn line(text: &[u8], parse: Parse, options: &ParseOptions) -> ReadStep {
    let blank = text.iter().take_while(|byte| is_space(**byte)).count();
    let end = memchr::memchr(b'\n', &text[blank..]).map_or(text.len(), |length| blank + length + 1);
    if blank == text.len() {
        return ReadStep::Stop { ok: true };
    }
    match parse(&text[blank..end], options) {
        Ok((ad, _)) => found(ad, end, text, options),
        Err(_) => ReadStep::Stop { ok: end == text.len() },
    }
}

fn long(text: &[u8], options: &ParseOptions) -> ReadStep {
    let mut reader = LongReader::new(text, options);
    // Reading from memory does not fail.
    match reader.next_ad() {
        Ok(Some(ad)) if !ad.is_empty() => ReadStep::Ad(ad, reader.offset()),
        Ok(Some(_)) => ReadStep::Stop { ok: reader.offset() == text.len() },
        _ => ReadStep::Stop { ok: true },
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
                Err(error) => ReadStep::Stop { ok: error.span.end as usize >= ad.len() },
            };
        }
        if tag.name == b"c" {
            return ReadStep::Stop { ok: tag.end >= text.len() };
        }
        at = tag.end;
    }
    ReadStep::Stop { ok: true }
}

/// Reads an ad in the format that the text seems to be in, from here on.
fn file(text: &[u8], options: &ParseOptions) -> ReadStep {
    if significant(text) == text.len() {
        return ReadStep::Stop { ok: true };
    }
    let lone = lone_bracket(text);
    match detect_file(text, options) {
        Format::Long => match lone {
            // The character that was peeked at after the bracket is lost, and the line end with it.
            Some(end) => match long(&[&text[..end], text.get(end + 2..).unwrap_or_default()].concat(), options) {
                ReadStep::Ad(ad, length) => ReadStep::Ad(ad, (length + 2).min(text.len())),
                stop @ ReadStep::Stop { .. } => stop,
            },
            None => long(text, options),
        },
        Format::Xml => xml(text, options),
        format => {
            let start = significant(text);
            let rest = &text[start..];
            let step = match (format, lone) {
                (Format::Json, _) => json(rest, options),
                (Format::New, Some(_)) => new(rest, options),
                (Format::New, None) => line(rest, parse_ad, options),
                _ => line(rest, parse_json, options),
            };
            match step {
                ReadStep::Ad(ad, length) => ReadStep::Ad(ad, start + length),
                stop @ ReadStep::Stop { .. } => stop,
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
