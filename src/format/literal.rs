//! Constants read without the parser.
//!
//! Nine values of ten in real ads are plain constants. Each function here either reads the whole text as one, exactly
//! as the parser would, or declines; it never reports an error.

use crate::semantics::Semantics;
use crate::syntax::literal::Literal;
use crate::syntax::number;
use crate::syntax::quote::unquote;
use crate::syntax::token::Quoting;
use crate::text::Text;

/// A constant as it is in a text.
pub(crate) enum Constant<'t> {
    /// Its value.
    Literal(Literal),
    /// A string that is written as it is.
    Text(&'t [u8]),
}

/// Reads a value of the long format that is a single constant. `text` carries no white space at its ends.
#[inline]
pub(crate) fn old_constant(text: &[u8]) -> Option<Constant<'_>> {
    match text.first()? {
        b'"' => old_string(text),
        b'0'..=b'9' | b'-' | b'.' => number(text).map(Constant::Literal),
        b't' | b'T' | b'f' | b'F' | b'u' | b'U' | b'e' | b'E' => word(text).map(Constant::Literal),
        _ => None,
    }
}

/// As [`old_constant`], with strings copied.
pub(crate) fn old_literal(text: &[u8]) -> Option<Literal> {
    match old_constant(text)? {
        Constant::Literal(literal) => Some(literal),
        Constant::Text(text) => Some(Literal::Str(Text::new(text))),
    }
}

/// Reads a value of new syntax that is a single constant. `text` carries no white space at its ends.
pub(crate) fn new_literal(text: &[u8]) -> Option<Literal> {
    match text.first()? {
        b'"' => new_string(text),
        _ => old_literal(text),
    }
}

fn old_string(text: &[u8]) -> Option<Constant<'_>> {
    let inner = text.get(1..)?;
    let end = memchr::memchr2(b'"', 0, inner)?;
    if inner[end] == 0 {
        return None;
    }
    if end + 1 == inner.len() && (end == 0 || inner[end - 1] != b'\\') {
        return Some(Constant::Text(&inner[..end]));
    }
    escaped_old_string(text, end).map(Constant::Literal)
}

/// A string with quotes inside, each behind a backslash; `first` is the first quote, in `text[1..]`.
fn escaped_old_string(text: &[u8], first: usize) -> Option<Literal> {
    let inner = &text[1..];
    let mut at = first;
    loop {
        // Only the last quote may close the string: then the rest is the end, and no junk.
        let escaped = at > 0 && inner[at - 1] == b'\\';
        let last = at + 1 == inner.len();
        if last {
            // Behind a backslash it closes only at the end of the line, where the caller cut off spaces.
            return if escaped { None } else { Some(unquoted(text, Quoting::Old)?) };
        }
        if !escaped {
            return None;
        }
        at += 1 + memchr::memchr2(b'"', 0, &inner[at + 1..])?;
        if inner[at] == 0 {
            return None;
        }
    }
}

fn unquoted(token: &[u8], quoting: Quoting) -> Option<Literal> {
    unquote(token, quoting).ok().map(|bytes| Literal::Str(Text::new(bytes)))
}

fn new_string(text: &[u8]) -> Option<Literal> {
    let mut at = 1;
    let mut escapes = false;
    loop {
        at += memchr::memchr3(b'"', b'\\', 0, text.get(at..)?)?;
        match text[at] {
            b'"' if at + 1 == text.len() && escapes => return unquoted(text, Quoting::New),
            b'"' if at + 1 == text.len() => return Some(Literal::Str(Text::new(&text[1..at]))),
            b'\\' if text.get(at + 1).is_some_and(|byte| *byte != 0) => {
                escapes = true;
                at += 2;
            }
            _ => return None,
        }
    }
}

/// Reads a number with its sign, as the lexer does at the beginning of an expression.
pub(crate) fn number(text: &[u8]) -> Option<Literal> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == digits.len() {
        // Zeros in front are for the lexer to judge.
        let is_plain = whole > 0 && (whole == 1 || digits[0] != b'0');
        return is_plain.then(|| integer(text, digits)).flatten().map(Literal::Int);
    }
    let mut at = whole;
    if digits[at] == b'.' {
        let fraction = digits[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = digits.get(at) {
        at += 1 + usize::from(matches!(digits.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    (at == digits.len()).then(|| Literal::Real(number::parse_real(text)))
}

/// An integer; none for one that the lexer has to judge.
fn integer(text: &[u8], digits: &[u8]) -> Option<i64> {
    if digits.len() > 18 {
        return number::checked_integer(text, Semantics::default());
    }
    let value = digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    Some(if digits.len() < text.len() { -value } else { value })
}

fn word(text: &[u8]) -> Option<Literal> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    match text.len() {
        4 if is(b"true") => Some(Literal::Bool(true)),
        5 if is(b"false") => Some(Literal::Bool(false)),
        5 if is(b"error") => Some(Literal::Error),
        9 if is(b"undefined") => Some(Literal::Undefined),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    const TEXTS: &[&str] = &[
        "1",
        "-5",
        "0",
        "-0",
        "00",
        "010",
        "-010",
        "08",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "99999999999999999999",
        "123456789012345678",
        "-999999999999999999",
        "1.5",
        "-.5",
        ".5",
        "5.",
        "1e5",
        "1e",
        "1E+",
        "1e-7",
        "-1.25E+300",
        "1e400",
        "0x10",
        "-0x10",
        "1K",
        "--5",
        "- 5",
        "-",
        ".",
        ".e5",
        "08.5",
        "1.5.5",
        "1_",
        "true",
        "TRUE",
        "False",
        "UNDEFINED",
        "error",
        "truex",
        "errors",
        "e",
        "\"\"",
        "\"x\"",
        "\"x",
        "\"",
        "\"a\\b\"",
        "\"a\\\"b\"",
        "\"c:\\dir\\\"",
        "\"a\\\\\"",
        "\"a\" \"b\"",
        "\"a\"b",
        "\"a\\\"\"",
        "\"\\\"\"",
        "\"x\\0y\"",
        "\"x\\n\\101\"",
        "\"a\0b\"",
        "\"a\\\0b\"",
        "\"q\\\" == \"b\"",
        "\"h\u{e9}\"",
        "a",
        "",
        "\"a\\\"b\\\\\\\"c\"",
        "\"\\\\\"",
        "1 + 1",
        "\"a\nb\"",
        "-a",
        "1-",
        "1e5.5",
    ];

    #[test]
    fn what_is_read_here_is_what_the_parser_reads() {
        for quoting in [Quoting::Old, Quoting::New] {
            let options = ParseOptions { quoting, ..ParseOptions::default() };
            for text in TEXTS {
                let fast = if quoting == Quoting::Old { old_literal } else { new_literal };
                let Some(literal) = fast(text.as_bytes()) else { continue };
                let parsed = parse_expr(text.as_bytes(), &options).unwrap();
                let same = parsed.as_literal().is_some_and(|known| known.same_as(&literal));
                assert!(same, "{quoting:?} {text}: {literal:?} instead of {parsed}");
            }
        }
    }

    #[test]
    fn common_constants_do_not_need_the_parser() {
        for text in ["1", "-5", "0", "1.5", "-1.25E+300", "true", "Undefined", "error", "\"\"", "\"a\\b\""] {
            assert!(old_literal(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["\"a\\\"b\"", "\"\\\"\\\"\""] {
            assert!(old_literal(text.as_bytes()).is_some(), "{text}");
            assert!(new_literal(text.as_bytes()).is_some(), "{text}");
        }
        for text in ["a", "", "1 + 1", "\"a\" + \"b\"", "\"a\" \"b\"", "010", "1.", "\"x"] {
            assert!(old_literal(text.as_bytes()).is_none(), "{text}");
            assert!(new_literal(text.as_bytes()).is_none(), "{text}");
        }
    }
}
