//! Strings of JSON: escapes, and the expressions that hide in them.

use std::borrow::Cow;

use crate::error::SyntaxErrorKind;
use crate::syntax::quote::join;

/// The meaning of a string token of JSON.
pub(crate) struct Decoded<'t> {
    /// The bytes of the string.
    pub(crate) bytes: Cow<'t, [u8]>,
    /// True if the raw text begins and ends with `\/`.
    marked: bool,
}

impl Decoded<'_> {
    /// The text of the expression that the string holds: `"\/Expr(…)\/"`, with these backslashes.
    pub(crate) fn expression(&self) -> Option<&[u8]> {
        let inner = self.bytes.strip_suffix(b")/").filter(|_| self.marked)?;
        let (head, expression) = inner.split_at_checked(6)?;
        head.eq_ignore_ascii_case(b"/Expr(").then_some(expression)
    }
}

/// Decodes a token with its quotes and what joins it.
///
/// # Errors
/// A `\u` without four hexadecimal digits, or of value 0.
pub(crate) fn decode(token: &[u8]) -> Result<Decoded<'_>, SyntaxErrorKind> {
    let inner = &token[1..token.len() - 1];
    if memchr::memchr2(b'\\', b'"', inner).is_none() {
        return Ok(Decoded { bytes: Cow::Borrowed(inner), marked: false });
    }
    let raw = join(token, b'"');
    let marked = raw.len() >= 4 && raw.starts_with(br"\/") && raw.ends_with(br"\/");
    Ok(Decoded { bytes: Cow::Owned(unescape(&raw)?), marked })
}

fn unescape(raw: &[u8]) -> Result<Vec<u8>, SyntaxErrorKind> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        bytes.extend_from_slice(&rest[..backslash]);
        let escape = &rest[backslash..];
        rest = &escape[escape.len().min(2)..];
        match escape.get(1) {
            None => bytes.push(b'\\'),
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'u') => {
                let (character, used) = code_point(escape)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &escape[used..];
            }
            Some(other) => bytes.push(*other),
        }
    }
    bytes.extend_from_slice(rest);
    Ok(bytes)
}

/// The character of `\uXXXX` and how long the escape is; two surrogates that belong together are one character.
fn code_point(escape: &[u8]) -> Result<(char, usize), SyntaxErrorKind> {
    let unit = hexadecimal(escape).ok_or_else(|| {
        SyntaxErrorKind::BadUnicodeEscape(String::from_utf8_lossy(&escape[..escape.len().min(6)]).into())
    })?;
    if unit == 0 {
        return Err(SyntaxErrorKind::NulInString);
    }
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (unit, escape.get(6..).and_then(hexadecimal)) {
        let combined = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return Ok((char::from_u32(combined).unwrap_or(char::REPLACEMENT_CHARACTER), 12));
    }
    Ok((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6))
}

/// The number of `\uXXXX`.
fn hexadecimal(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(br"\u")?.get(..4)?;
    digits.iter().try_fold(0, |sum, digit| Some(sum << 4 | (*digit as char).to_digit(16)?))
}

/// Writes a string with its quotes.
pub(crate) fn write_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    write_escaped(out, bytes);
    out.push(b'"');
}

/// Writes the escapes of JSON; bytes from 0x7f on stay as they are.
pub(crate) fn write_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            8 => out.extend_from_slice(br"\b"),
            12 => out.extend_from_slice(br"\f"),
            b'\n' => out.extend_from_slice(br"\n"),
            b'\r' => out.extend_from_slice(br"\r"),
            b'\t' => out.extend_from_slice(br"\t"),
            byte @ (b'"' | b'\\') => out.extend([b'\\', byte]),
            byte => {
                let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value)];
                out.extend_from_slice(br"\u00");
                out.extend([digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(token: &str) -> Result<Vec<u8>, SyntaxErrorKind> {
        decode(token.as_bytes()).map(|decoded| decoded.bytes.into_owned())
    }

    #[test]
    fn escapes_are_those_of_json_and_nothing_else_means_anything() {
        assert_eq!(bytes(r#""\"\\\/\b\f\n\r\t""#).unwrap(), b"\"\\/\x08\x0c\n\r\t");
        assert_eq!(bytes(r#""\x41\101\a\v""#).unwrap(), b"x41101av");
        assert_eq!(bytes(r#""a" "b\"" "c""#).unwrap(), b"ab\"c");
        assert_eq!(bytes("\"x\ny\"").unwrap(), b"x\ny");
    }

    #[test]
    fn code_points_become_utf8_and_surrogates_are_combined() {
        assert_eq!(bytes(r#""\u0041\u00e9\u20ac""#).unwrap(), "Aé€".as_bytes());
        assert_eq!(bytes(r#""\ud83d\ude00""#).unwrap(), "😀".as_bytes());
        assert_eq!(bytes(r#""\ud83dx\ude00""#).unwrap(), "\u{fffd}x\u{fffd}".as_bytes());
        assert_eq!(bytes(r#""\u0000""#), Err(SyntaxErrorKind::NulInString));
        for bad in [r#""\u00""#, r#""\u00zz""#, r#""\u+041""#, r#""\u""#] {
            assert!(matches!(bytes(bad), Err(SyntaxErrorKind::BadUnicodeEscape(_))), "{bad}");
        }
    }

    #[test]
    fn only_marked_strings_hold_expressions() {
        let expression = |token: &str| decode(token.as_bytes()).unwrap().expression().map(<[u8]>::to_vec);
        assert_eq!(expression(r#""\/Expr(1+2)\/""#).as_deref(), Some(b"1+2".as_slice()));
        assert_eq!(expression(r#""\/eXPR(1" ")\/""#).as_deref(), Some(b"1".as_slice()));
        for text in
            [r#""/Expr(1)/""#, r#""\/Expr(1)/""#, r#""\/Expr 1\/""#, r#"" \/Expr(1)\/""#, r#""\u002fExpr(1)\/""#]
        {
            assert_eq!(expression(text), None, "{text}");
        }
        assert_eq!(expression(r#""\/""#), None);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let all: Vec<u8> = (1..=255).collect();
        let mut out = Vec::new();
        write_string(&mut out, &all);
        assert_eq!(decode(&out).unwrap().bytes, all);
        out.clear();
        write_string(&mut out, b"\x1f\x7f");
        assert_eq!(out, b"\"\\u001F\x7f\"");
    }
}
