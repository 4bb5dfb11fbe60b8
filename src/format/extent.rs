//! The extent of the next ad of a stream, found without parsing it.

use std::io::{self, Read};

use crate::error::{Expected, SyntaxError, SyntaxErrorKind};
use crate::format::new::unexpected;
use crate::format::report::Report;
use crate::format::source::{LineSource, Source};
use crate::span::Span;
use crate::syntax::token::{is_space, new_string};

/// The kind of brackets around an ad.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Brackets {
    /// `[ ]`, new syntax.
    Square,
    /// `{ }`, JSON.
    Curly,
}

impl Brackets {
    /// The bracket that opens and the one that closes.
    pub(crate) fn bytes(self) -> (u8, u8) {
        match self {
            Brackets::Square => (b'[', b']'),
            Brackets::Curly => (b'{', b'}'),
        }
    }

    /// The other kind.
    pub(crate) fn other(self) -> Brackets {
        match self {
            Brackets::Square => Brackets::Curly,
            Brackets::Curly => Brackets::Square,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Code,
    Quotes(u8),
    LineComment,
    BlockComment,
}

/// The ad in new syntax that a text begins with, found without parsing it; `None` if it is not closed.
pub fn bracketed(text: &[u8]) -> Option<&[u8]> {
    let is_ad = text.first() == Some(&b'[');
    let end = if is_ad { Extent::new(Brackets::Square).find(text) } else { None };
    text.get(..end?)
}

/// Looks for the bracket that closes the one a text begins with; can go on when more of the text arrives.
#[derive(Debug)]
pub(crate) struct Extent {
    brackets: Brackets,
    at: usize,
    depth: usize,
    inside: Inside,
}

/// The possible meanings of a byte outside quotes and comments.
const PLAIN: u8 = 0;
const QUOTE: u8 = 1;
const SLASH: u8 = 2;
const SQUARE: u8 = 3;
const CURLY: u8 = 4;

static KIND: [u8; 256] = {
    let mut kind = [PLAIN; 256];
    kind[b'"' as usize] = QUOTE;
    kind[b'\'' as usize] = QUOTE;
    kind[b'/' as usize] = SLASH;
    kind[b'[' as usize] = SQUARE;
    kind[b']' as usize] = SQUARE;
    kind[b'{' as usize] = CURLY;
    kind[b'}' as usize] = CURLY;
    kind
};

impl Extent {
    pub(crate) fn new(brackets: Brackets) -> Self {
        Extent { brackets, at: 0, depth: 0, inside: Inside::Code }
    }

    /// The length of the bracketed text; `None` if its end is not there yet.
    pub(crate) fn find(&mut self, text: &[u8]) -> Option<usize> {
        let (open, close) = self.brackets.bytes();
        while self.at < text.len() {
            match self.inside {
                Inside::Code => {
                    let Some(next) = text[self.at..].iter().position(|byte| KIND[*byte as usize] != PLAIN) else {
                        self.at = text.len();
                        return None;
                    };
                    self.at += next;
                    let byte = text[self.at];
                    match byte {
                        b'/' => match text.get(self.at + 1) {
                            Some(b'/') => self.enter(Inside::LineComment, 2),
                            Some(b'*') => self.enter(Inside::BlockComment, 2),
                            Some(_) => self.at += 1,
                            None => return None,
                        },
                        b'"' | b'\'' => self.enter(Inside::Quotes(byte), 1),
                        _ => {
                            self.at += 1;
                            self.depth += usize::from(byte == open);
                            if byte == close {
                                self.depth -= 1;
                                if self.depth == 0 {
                                    return Some(self.at);
                                }
                            }
                        }
                    }
                }
                Inside::Quotes(quote) => {
                    self.at += memchr::memchr2(quote, b'\\', &text[self.at..]).unwrap_or(text.len() - self.at);
                    match text.get(self.at) {
                        Some(b'\\') if self.at + 1 == text.len() => return None,
                        Some(b'\\') => self.at += 2,
                        Some(_) => self.enter(Inside::Code, 1),
                        None => return None,
                    }
                }
                Inside::LineComment => {
                    self.at = memchr::memchr(b'\n', &text[self.at..]).map_or(text.len(), |end| self.at + end);
                    if self.at < text.len() {
                        self.enter(Inside::Code, 1);
                    }
                }
                Inside::BlockComment => {
                    let Some(end) = memchr::memmem::find(&text[self.at..], b"*/") else {
                        // The star may be the last byte that is there.
                        self.at = text.len() - usize::from(text.last() == Some(&b'*'));
                        return None;
                    };
                    self.enter(Inside::Code, end + 2);
                }
            }
        }
        None
    }

    /// Forgets the text that was searched: the next one begins behind it. Returns the length of what is forgotten.
    pub(crate) fn forget(&mut self) -> usize {
        std::mem::take(&mut self.at)
    }

    fn enter(&mut self, inside: Inside, used: usize) {
        self.inside = inside;
        self.at += used;
    }
}

/// The end of the value that begins at `start`: the first `;` or closing bracket outside of its own brackets,
/// strings and comments, or at the end of the text.
pub(crate) fn value_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(&byte) = text.get(at) {
        match byte {
            b';' | b']' | b')' | b'}' if depth == 0 => return at,
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            b'"' | b'\'' => match new_string(&text[at + 1..], byte) {
                Some(length) => at += length,
                None => return text.len(),
            },
            b'/' => match skip_blank(text, at) {
                Ok(behind) if behind > at => {
                    at = behind;
                    continue;
                }
                Ok(_) => {}
                Err(_) => return text.len(),
            },
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Skips white space and comments.
///
/// # Errors
/// A comment is not closed.
#[inline]
pub(crate) fn skip_blank(text: &[u8], mut at: usize) -> Result<usize, SyntaxError> {
    loop {
        match text.get(at) {
            Some(byte) if is_space(*byte) => at += 1,
            Some(b'/') => match comment(text, at)? {
                Some(end) => at = end,
                None => return Ok(at),
            },
            _ => return Ok(at),
        }
    }
}

/// The end of the comment that begins at the slash at `at`, if one begins there.
fn comment(text: &[u8], at: usize) -> Result<Option<usize>, SyntaxError> {
    match text.get(at + 1) {
        Some(b'/') => Ok(Some(memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end))),
        Some(b'*') => match memchr::memmem::find(&text[at + 2..], b"*/") {
            Some(end) => Ok(Some(at + end + 4)),
            None => Err(SyntaxError::new(SyntaxErrorKind::UnterminatedComment, Span::new(at, at + 2))),
        },
        _ => Ok(None),
    }
}

impl<R: Read> Source<R> {
    /// Skips white space and comments between ads; the byte after them.
    pub(crate) fn significant(&mut self) -> io::Result<Option<u8>> {
        loop {
            let blank = self.rest().iter().take_while(|byte| is_space(**byte)).count();
            self.consume(blank);
            match self.rest().first().copied() {
                Some(b'/') => match self.behind_comment(0)? {
                    Some(end) => self.consume(end),
                    None => return Ok(Some(b'/')),
                },
                Some(byte) => return Ok(Some(byte)),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// The length of the bracketed text that comes next; `None` if it is not closed in what is left of the input, which is
    /// then in memory, or in what fits.
    pub(crate) fn extent(&mut self, extent: &mut Extent) -> io::Result<Option<usize>> {
        loop {
            if let Some(end) = extent.find(self.rest()) {
                return Ok(Some(end));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Reports text between ads where nothing is allowed, and skips it up to the next `open`.
    pub(crate) fn stray(&mut self, report: &mut Report, open: u8, expected: Expected) -> io::Result<()> {
        self.need(200)?;
        report.add(unexpected(self.rest(), 0, expected), self.rest(), self.offset(), self.position());
        // The first byte may be the bracket itself, where it does not belong.
        self.consume(self.rest().len().min(1));
        loop {
            if let Some(next) = memchr::memchr(open, self.rest()) {
                self.consume(next);
                return Ok(());
            }
            self.consume(self.rest().len());
            if !self.more()? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(text: &[u8], brackets: Brackets) -> Option<usize> {
        let whole = Extent::new(brackets).find(text);
        // The same must be found when the text arrives byte by byte.
        let mut slow = Extent::new(brackets);
        let found = (0..=text.len()).find_map(|length| slow.find(&text[..length]));
        assert_eq!(found, whole, "{}", String::from_utf8_lossy(text));
        whole
    }

    #[test]
    fn brackets_in_strings_names_and_comments_do_not_count() {
        for (text, length) in [
            (r#"[a = "]"; 'b]' = [c = 1]] x"#, Some(25)),
            (r#"[a = "\"]"] x"#, Some(11)),
            ("[a = 1 // ]\n] x", Some(13)),
            ("[a = 1 /* ] **/] x", Some(16)),
            ("[a = 1 / 2] x", Some(11)),
            ("[a = {1, (2}]", Some(13)),
            ("[a = 1", None),
            ("[a = \"]", None),
            ("[a = 1 /* ]", None),
            ("[a = 1 // ]", None),
        ] {
            assert_eq!(extent(text.as_bytes(), Brackets::Square), length, "{text}");
        }
        assert_eq!(extent(b"{\"a\": [{}, \"}\"]} {", Brackets::Curly), Some(16));
    }

    #[test]
    fn a_value_ends_outside_of_its_brackets() {
        for (text, end) in [
            ("1; b", 1),
            ("f(1;2); b", 6),
            ("[a = 1; b = 2] ]", 15),
            ("\"a;\\\";\" + ';' ; b", 14),
            ("1 /* ; */ ; b", 10),
            ("1 // ;\n ; b", 8),
            ("a / b ; c", 6),
            ("(1 ]", 4),
            ("1 ) ;", 2),
            ("\"a;", 3),
            ("\"a\\", 3),
        ] {
            assert_eq!(value_end(text.as_bytes(), 0), end, "{text}");
        }
    }
}
