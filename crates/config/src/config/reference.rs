//! The shape of a reference: where `$(NAME:default)` begins and ends.
//!
//! In: a text, also one kept last byte first. Out: the parts of the reference at its beginning.

use std::ops::Range;

/// Deepest nesting of references within one text; deeper ones are plain text. Bounds the look-ahead too.
pub(crate) const NESTED: usize = 32;

/// A text to look into.
pub(crate) enum Text<'a> {
    /// In the order of reading.
    Forward(&'a [u8]),
    /// Last byte first.
    Backward(&'a [u8]),
}

impl Text<'_> {
    /// The byte at a place in the order of reading.
    pub(crate) fn get(&self, at: usize) -> Option<u8> {
        match self {
            Text::Forward(text) => text.get(at).copied(),
            Text::Backward(text) => text.len().checked_sub(at + 1).map(|at| text[at]),
        }
    }
}

/// The parts of a reference, as ranges of the text it begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The name, which may hold further references; may be empty.
    pub(crate) name: Range<usize>,
    /// The text after the colon.
    pub(crate) default: Option<Range<usize>>,
    /// Bytes from `$(` to `)`.
    pub(crate) length: usize,
}

/// Returns true if a byte can be part of the name of a reference.
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/')
}

/// The length of the parentheses that a text begins with; `None` if they are not closed.
pub fn parenthesized(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let close = text.iter().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    close.map(|close| close + 1)
}

/// The places of the parentheses of a text that are opened and not closed, in order.
pub fn unclosed(text: &[u8]) -> Vec<usize> {
    let mut open = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => drop(open.pop()),
            _ => {}
        }
    }
    open
}

/// The reference at the beginning of a text, if `$(` there opens a well-formed one.
pub(crate) fn find(text: &Text<'_>) -> Option<Reference> {
    if text.get(0) != Some(b'$') || text.get(1) != Some(b'(') {
        return None;
    }
    let mut colon = None;
    let mut depth = 0usize;
    let mut before = b'(';
    for at in 2.. {
        let byte = text.get(at)?;
        match byte {
            b'(' => {
                // In the name part parentheses only come with a `$`.
                if colon.is_none() && depth == 0 && before != b'$' {
                    return None;
                }
                depth += 1;
                if depth > NESTED {
                    return None;
                }
            }
            b')' if depth == 0 => {
                let name = 2..colon.unwrap_or(at);
                let default = colon.map(|colon| colon + 1..at);
                return Some(Reference { name, default, length: at + 1 });
            }
            b')' => depth -= 1,
            b':' if colon.is_none() && depth == 0 => colon = Some(at),
            b'$' => {}
            _ if is_name_byte(byte) => {}
            // In a default a few more are allowed, and anything inside parentheses.
            b',' | b'\\' | b':' | b' ' if colon.is_some() || depth > 0 => {}
            _ if colon.is_some() && depth > 0 => {}
            _ => return None,
        }
        before = byte;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(String, Option<String>, usize)> {
        let found = find(&Text::Forward(text.as_bytes()))?;
        let reversed: Vec<u8> = text.bytes().rev().collect();
        assert_eq!(find(&Text::Backward(&reversed)).as_ref(), Some(&found));
        Some((text[found.name].to_owned(), found.default.map(|range| text[range].to_owned()), found.length))
    }

    #[test]
    fn a_reference_has_a_name_and_perhaps_a_default() {
        assert_eq!(parts("$(A.b/c_1) x"), Some(("A.b/c_1".to_owned(), None, 10)));
        assert_eq!(parts("$(A:b c)"), Some(("A".to_owned(), Some("b c".to_owned()), 8)));
        assert_eq!(parts("$(A:$(B:x))"), Some(("A".to_owned(), Some("$(B:x)".to_owned()), 11)));
        assert_eq!(parts("$(A:f(x=y))"), Some(("A".to_owned(), Some("f(x=y)".to_owned()), 11)));
        assert_eq!(parts("$($(N))"), Some(("$(N)".to_owned(), None, 7)));
    }

    #[test]
    fn other_characters_make_it_plain_text() {
        for text in ["$( A)", "$(A", "$A", "$((A))", "$(A:[x])", "$(A:x=y)", "$(A:\"q\")", "(A)", "$(A B)", "$(A?)"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
