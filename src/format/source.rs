//! A window on a stream of bytes: what was read and not yet used up, in one piece.

use std::io::{self, ErrorKind, Read};

use crate::format::MAX_AD_BYTES;
use crate::format::room::is_too_large;
use crate::span::Position;
use crate::syntax::token::is_space;

/// Bytes that are requested at once.
const CHUNK: usize = 64 << 10;

/// The factor by which the window grows. Pages that are not written take no memory.
const GROWTH: usize = 4;

/// The part of an input that is in memory. It grows as far as one ad (one line, in the long format) needs, and no further
/// than an ad may be long.
#[derive(Debug)]
pub(crate) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    line: u64,
    column: u64,
    ended: bool,
    /// True if the input was not read to its end, because it takes too much room.
    is_cut: bool,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(input: R) -> Self {
        Source {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            line: 1,
            column: 1,
            ended: false,
            is_cut: false,
        }
    }

    /// A part of an input that is in memory already, the first bytes of a buffer, and begins at this offset and line;
    /// behind it comes nothing.
    pub(crate) fn at(buffer: Vec<u8>, nothing: R, offset: u64, line: u64) -> Self {
        Source { end: buffer.len(), buffer, ended: true, offset, line, ..Source::new(nothing) }
    }

    /// The buffer, to be used again.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Tests whether the input was not read to its end, because it takes too much room.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Reads more behind [`Source::rest`]; false at the end of the input, and if the window is full.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        if self.ended || self.is_full() {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            // Allocators keep for a while what becomes too small, so that there should be little of it.
            let size = (self.buffer.len() * GROWTH).clamp(CHUNK, MAX_AD_BYTES + CHUNK);
            let mut larger = vec![0; size];
            larger[..self.end].copy_from_slice(&self.buffer);
            self.buffer = larger;
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_too_large(&error) => {
                    (self.ended, self.is_cut) = (true, true);
                    return Ok(false);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads until this number of bytes is in memory; false if that many do not come or do not fit.
    pub(crate) fn need(&mut self, count: usize) -> io::Result<bool> {
        while self.end - self.start < count {
            if !self.more()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Drops bytes from the front.
    pub(crate) fn consume(&mut self, bytes: usize) {
        let dropped = &self.rest()[..bytes];
        let lines = memchr::memchr_iter(b'\n', dropped).count() as u64;
        let last = memchr::memrchr(b'\n', dropped).map_or(dropped, |newline| &dropped[newline + 1..]);
        // Bytes 0x80 to 0xbf continue a character.
        let characters = last.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        self.column = characters + if lines > 0 { 1 } else { self.column };
        self.line += lines;
        self.start += bytes;
        self.offset += bytes as u64;
    }
}

/// Lines, one after another.
pub(crate) trait LineSource {
    /// The bytes that are in memory.
    fn rest(&self) -> &[u8];

    /// The text to the blank line after the next ad, as far as it fits.
    fn ad(&mut self) -> io::Result<&[u8]>;

    /// Tests whether more is in memory than an ad may be long.
    fn is_full(&self) -> bool {
        false
    }

    /// The end of the next line in [`LineSource::rest`], its line end not counted, and the start of the one after it. Of a
    /// line that does not fit, its next part. `None` at the end of the input.
    fn line(&mut self) -> io::Result<Option<(usize, usize)>>;

    /// Drops the bytes of one line and its line end.
    fn next_line(&mut self, bytes: usize);

    /// Drops the bytes of a part of a line.
    fn next_part(&mut self, bytes: usize) {
        self.next_line(bytes);
    }

    /// Bytes used up so far.
    fn offset(&self) -> u64;

    /// The place where [`LineSource::rest`] begins.
    fn position(&self) -> Position;
}

impl<R: Read> LineSource for Source<R> {
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn ad(&mut self) -> io::Result<&[u8]> {
        let end = loop {
            match ad_end(self.rest()) {
                Some(end) => break end,
                None if self.more()? => {}
                None => break self.rest().len(),
            }
        };
        Ok(&self.rest()[..end])
    }

    fn is_full(&self) -> bool {
        self.end - self.start > MAX_AD_BYTES
    }

    fn next_part(&mut self, bytes: usize) {
        self.consume(bytes);
    }

    fn line(&mut self) -> io::Result<Option<(usize, usize)>> {
        let (end, next) = self.line_from(0)?;
        Ok((next > 0).then_some((end, next)))
    }

    #[inline]
    fn next_line(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
        self.line += 1;
        self.column = 1;
    }

    fn offset(&self) -> u64 {
        self.offset
    }

    fn position(&self) -> Position {
        Position { line: self.line, column: self.column }
    }
}

/// The place of the first blank line of a text after one that is not.
fn ad_end(text: &[u8]) -> Option<usize> {
    let mut start = text.iter().position(|byte| !is_space(*byte))?;
    loop {
        start += memchr::memchr(b'\n', &text[start..])? + 1;
        let end = memchr::memchr(b'\n', &text[start..])?;
        if text[start..start + end].iter().all(|byte| is_space(*byte)) {
            return Some(start);
        }
    }
}

/// The lines of a text that is in memory.
#[derive(Debug)]
pub(crate) struct SliceSource<'t> {
    text: &'t [u8],
    at: usize,
    /// The place where the line before begins.
    before: usize,
    line: u64,
}

impl<'t> SliceSource<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        SliceSource { text, at: 0, before: 0, line: 1 }
    }

    /// Bytes used up so far.
    pub(crate) fn used(&self) -> usize {
        self.at
    }

    /// The line that was used up last, with its end.
    pub(crate) fn last_line(&self) -> &'t [u8] {
        &self.text[self.before..self.at]
    }
}

impl LineSource for SliceSource<'_> {
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn ad(&mut self) -> io::Result<&[u8]> {
        Ok(&self.rest()[..ad_end(self.rest()).unwrap_or(self.rest().len())])
    }

    #[inline]
    fn line(&mut self) -> io::Result<Option<(usize, usize)>> {
        let rest = self.rest();
        Ok(match memchr::memchr(b'\n', rest) {
            Some(end) => Some((end, end + 1)),
            None => (!rest.is_empty()).then_some((rest.len(), rest.len())),
        })
    }

    #[inline]
    fn next_line(&mut self, bytes: usize) {
        self.before = self.at;
        self.at += bytes;
        self.line += 1;
    }

    fn offset(&self) -> u64 {
        self.at as u64
    }

    fn position(&self) -> Position {
        Position { line: self.line, column: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input that gives one byte at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lines_are_found_whatever_the_input_gives_at_once() {
        let mut source = Source::new(Trickle(b"ab\n\nlast"));
        let mut lines = Vec::new();
        while let Some((end, next)) = source.line().unwrap() {
            lines.push((source.position().line, source.offset(), source.rest()[..end].to_vec()));
            source.consume(next);
        }
        assert_eq!(lines, [(1, 0, b"ab".to_vec()), (2, 3, vec![]), (3, 4, b"last".to_vec())]);
        assert!(source.line().unwrap().is_none());
    }

    #[test]
    fn the_window_grows_over_a_line_longer_than_a_chunk() {
        let text = [vec![b'x'; 3 * CHUNK], b"\ny".to_vec()].concat();
        let mut source = Source::new(text.as_slice());
        assert_eq!(source.line().unwrap(), Some((3 * CHUNK, 3 * CHUNK + 1)));
        assert!(source.buffer.len() <= 4 * CHUNK);
        source.consume(3 * CHUNK + 1);
        assert_eq!(source.line().unwrap(), Some((1, 1)));
        assert_eq!(source.position(), Position { line: 2, column: 1 });
        source.consume(1);
        assert_eq!(source.position(), Position { line: 2, column: 2 });
    }
}
