//! Escapes: the text between quotes and the bytes it stands for.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::syntax::literal::Literal;
use crate::syntax::parse::{ParseOptions, parse_expr};
use crate::syntax::token::{Quoting, is_space, new_string};
use crate::text::Text;

/// The error of a quoted text that has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NulEscape;

/// The bytes that a quoted token stands for; `token` includes its quotes and whatever joins it.
///
/// # Errors
/// An octal escape of value 0.
pub fn unquote(token: &[u8], quoting: Quoting) -> Result<Cow<'_, [u8]>, NulEscape> {
    let quote = token[0];
    let inner = &token[1..token.len() - 1];
    match quoting {
        Quoting::Old => Ok(unquote_old(inner, quote)),
        Quoting::New => {
            if memchr::memchr2(quote, b'\\', inner).is_none() {
                return Ok(inner.into());
            }
            unescape(&join(token, quote)).map(Into::into)
        }
    }
}

/// Joins `"a" "b"` to the raw text `ab`, escapes untouched.
pub(crate) fn join(token: &[u8], quote: u8) -> Cow<'_, [u8]> {
    let mut pieces: SmallVec<[&[u8]; 2]> = SmallVec::new();
    let mut rest = &token[1..];
    while let Some(length) = new_string(rest, quote) {
        pieces.push(&rest[..length - 1]);
        let gap = rest[length..].iter().take_while(|byte| is_space(**byte)).count();
        // Behind the quote that opens the next string, if there is one.
        rest = rest.get(length + gap + 1..).unwrap_or_default();
    }
    match pieces[..] {
        [piece] => Cow::Borrowed(piece),
        _ => Cow::Owned(pieces.concat()),
    }
}

/// Replaces the escapes of new syntax.
///
/// # Errors
/// An octal escape of value 0.
pub fn unescape(raw: &[u8]) -> Result<Vec<u8>, NulEscape> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        bytes.extend_from_slice(&rest[..backslash]);
        let Some(&escape) = rest.get(backslash + 1) else {
            bytes.push(b'\\');
            return Ok(bytes);
        };
        let mut used = 2;
        bytes.push(match escape {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'7' => {
                let digits = &rest[backslash + 1..];
                let (value, count) = octal(digits);
                used = 1 + count;
                if value == 0 {
                    return Err(NulEscape);
                }
                value
            }
            other => other,
        });
        rest = &rest[backslash + used..];
    }
    bytes.extend_from_slice(rest);
    Ok(bytes)
}

/// An octal escape: two digits, and a third if the first two stay below 32.
fn octal(digits: &[u8]) -> (u8, usize) {
    let digit = |at: usize| digits.get(at).filter(|byte| (b'0'..=b'7').contains(*byte)).map(|byte| byte - b'0');
    let mut value = 0;
    let mut count = 0;
    while count < 3 && (count < 2 || value < 32) {
        let Some(next) = digit(count) else { break };
        value = value * 8 + next;
        count += 1;
    }
    (value, count)
}

fn unquote_old(inner: &[u8], quote: u8) -> Cow<'_, [u8]> {
    if memchr::memchr(quote, inner).is_none() {
        return inner.into();
    }
    let mut bytes = Vec::with_capacity(inner.len());
    for &byte in inner {
        if byte == quote {
            bytes.pop(); // every quote inside follows a backslash
        }
        bytes.push(byte);
    }
    bytes.into()
}

/// Writes a string or quoted name in new syntax with its quotes.
pub fn write_quoted(out: &mut Vec<u8>, bytes: &[u8], quote: u8) {
    out.push(quote);
    write_escaped(out, bytes, Some(quote));
    out.push(quote);
}

/// Writes the escapes of new syntax; `quote` is escaped too.
pub fn write_escaped(out: &mut Vec<u8>, bytes: &[u8], quote: Option<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| needs_escape(byte, quote)) {
        out.extend_from_slice(&rest[..at]);
        let byte = rest[at];
        out.push(b'\\');
        match byte {
            7 => out.push(b'a'),
            8 => out.push(b'b'),
            12 => out.push(b'f'),
            b'\n' => out.push(b'n'),
            b'\r' => out.push(b'r'),
            b'\t' => out.push(b't'),
            11 => out.push(b'v'),
            b'\\' => out.push(b'\\'),
            quoted if Some(quoted) == quote => out.push(quoted),
            other => out.extend([b'0' + (other >> 6), b'0' + (other >> 3 & 7), b'0' + (other & 7)]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// A string as it is written in new syntax.
///
/// ```
/// use classmate::internal::syntax::quote::quoted;
/// assert_eq!(quoted(b"a\n"), br#""a\n""#);
/// ```
pub fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 2);
    write_quoted(&mut out, bytes, b'"');
    out
}

/// The string that a text of new syntax is, if it is one string and nothing else; adjacent strings are one.
///
/// ```
/// use classmate::internal::syntax::quote::unquoted;
/// assert_eq!(unquoted(br#" "a\n" "b" "#).as_deref(), Some(&b"a\nb"[..]));
/// assert!(unquoted(b"a").is_none());
/// ```
pub fn unquoted(text: &[u8]) -> Option<Text> {
    match parse_expr(text, &ParseOptions::default()).ok()?.as_literal()? {
        Literal::Str(bytes) => Some(bytes.clone()),
        _ => None,
    }
}

fn needs_escape(byte: u8, quote: Option<u8>) -> bool {
    !(b' '..=b'~').contains(&byte) || byte == b'\\' || Some(byte) == quote
}

/// Writes a string or quoted name in old syntax: only the quote is escaped.
pub fn write_quoted_old(out: &mut Vec<u8>, bytes: &[u8], quote: u8) {
    out.push(quote);
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(quote, rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend([b'\\', quote]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(quote);
}

/// Writes a string or quoted name inside a sentence: as [`write_quoted`], but a backslash is one, as in old syntax, and letters of
/// any language are themselves.
pub fn write_quoted_plain(out: &mut Vec<u8>, bytes: &[u8], quote: u8) {
    out.push(quote);
    for chunk in bytes.utf8_chunks() {
        let mut buffer = [0; 4];
        for letter in chunk.valid().chars() {
            let letter_bytes = letter.encode_utf8(&mut buffer).as_bytes();
            if letter == '\\' || !letter.is_ascii() && letter.is_alphanumeric() {
                out.extend_from_slice(letter_bytes);
            } else {
                write_escaped(out, letter_bytes, Some(quote));
            }
        }
        write_escaped(out, chunk.invalid(), Some(quote));
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(token: &str) -> Result<Vec<u8>, NulEscape> {
        unquote(token.as_bytes(), Quoting::New).map(std::borrow::Cow::into_owned)
    }

    #[test]
    fn escapes_are_those_of_the_description() {
        assert_eq!(new(r#""a\tb""#).unwrap(), b"a\tb");
        assert_eq!(new(r#""\400""#).unwrap(), [32, b'0']);
        assert_eq!(new(r#""\1234""#).unwrap(), b"S4");
        assert_eq!(new(r#""\38""#).unwrap(), [3, b'8']);
        assert_eq!(new(r#""\377""#).unwrap(), [255]);
        assert_eq!(new(r#""\x41\/\?""#).unwrap(), b"x41/?");
        assert_eq!(new(r#""\0""#), Err(NulEscape));
        assert_eq!(new(r#""\00x""#), Err(NulEscape));
    }

    #[test]
    fn adjacent_strings_join_before_escapes_are_replaced() {
        assert_eq!(new("\"a\" \n\"b\"").unwrap(), b"ab");
        assert_eq!(new(r#""a\"" "b""#).unwrap(), b"a\"b");
        assert_eq!(new(r#""\1" "23""#).unwrap(), b"S");
    }

    #[test]
    fn old_strings_keep_their_backslashes() {
        let old = |token: &str| unquote(token.as_bytes(), Quoting::Old).unwrap().into_owned();
        assert_eq!(old(r#""a\b""#), br"a\b");
        assert_eq!(old(r#""a\"b""#), br#"a"b"#);
        assert_eq!(old(r#""c:\dir\""#), br"c:\dir\");
        assert_eq!(old(r#""\n""#), br"\n");
    }

    #[test]
    fn letters_of_any_language_are_themselves_inside_sentences() {
        let mut text = Vec::new();
        write_quoted_plain(&mut text, b"Z\xc3\xbcrich \\ \" \x01 \xff \xc2\xa0", b'"');
        assert_eq!(text, b"\"Z\xc3\xbcrich \\ \\\" \\001 \\377 \\302\\240\"");
    }

    #[test]
    fn written_strings_read_back() {
        let all: Vec<u8> = (1..=255).collect();
        let mut text = Vec::new();
        write_quoted(&mut text, &all, b'"');
        assert!(text.is_ascii());
        assert_eq!(unquote(&text, Quoting::New).unwrap(), all);
    }
}
