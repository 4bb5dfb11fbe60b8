//! Places in a source text: a [`Span`] of bytes, a [`Position`] for people, a [`Location`] in a file.

use std::fmt;
use std::sync::Arc;

/// A range of bytes in a source text, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`; offsets beyond 4 GiB are capped.
    pub fn new(start: usize, end: usize) -> Self {
        let cap = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: cap(start), end: cap(end) }
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range as indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same range in a text that this one begins `offset` bytes into.
    #[must_use]
    pub fn shifted(self, offset: usize) -> Span {
        Span::new(self.start as usize + offset, self.end as usize + offset)
    }
}

/// A place for people: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1; a byte that is not UTF-8 counts as one.
    pub column: u64,
}

impl Position {
    /// The position of a byte offset in a text.
    ///
    /// ```
    /// use classmate::internal::span::Position;
    /// assert_eq!(Position::of(b"a = 1\nb = *", 10), Position { line: 2, column: 5 });
    /// ```
    pub fn of(source: &[u8], offset: usize) -> Position {
        let before = &source[..offset.min(source.len())];
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1;
        Position { line, column }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The name under which the file was handed in, or the source of a value that is in no file.
    pub file: Arc<str>,
    /// Physical line, from 1; 0 for a value that is in no file.
    pub line: u32,
    /// Byte in that line, from 1.
    pub column: u32,
}

impl Location {
    /// The place of a value that is in no file, such as an environment variable.
    pub fn outside(source: &str) -> Self {
        Location { file: Arc::from(source), line: 0, column: 0 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}
