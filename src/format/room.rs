//! The room for what compressed input becomes: its text, and the ads that are kept of it.
//!
//! A few kilobytes can expand to any amount. Real files of ads expand to ten times their size, and long queues of like jobs to
//! eighty times; what takes more room than that is not read.

use std::io::{self, ErrorKind, Read};
use std::mem::size_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ad::{Attribute, ClassAd};
use crate::syntax::expr::{Node, Tree};
use crate::syntax::literal::Literal;

/// Room for each compressed byte: of text, and of memory for ads.
pub const RATIO: u64 = 100;

/// Room that there is in any case.
const LEAST: u64 = 64 << 20;

/// Room that a line takes at least: the ads of short lines need more memory than their text.
const LINE: u64 = 32;

/// The compressed bytes that were read so far; none for an input that is not compressed, which has room for everything.
#[derive(Clone, Debug, Default)]
pub struct Room(Option<Arc<Compressed>>);

/// Compressed input: bytes that were read, and memory of the ads that are kept of it.
#[derive(Debug, Default)]
struct Compressed {
    read: AtomicU64,
    kept: AtomicU64,
}

impl Room {
    /// The room for compressed input, of which nothing was read.
    pub fn of_compressed() -> Self {
        Room(Some(Arc::default()))
    }

    fn allows(&self, bytes: u64) -> bool {
        let most = |input: &Arc<Compressed>| input.read.load(Ordering::Relaxed).saturating_mul(RATIO).max(LEAST);
        self.0.as_ref().is_none_or(|input| bytes <= most(input))
    }

    /// Counts an ad that is kept.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn keep(&self, ad: &ClassAd) -> io::Result<()> {
        let Some(input) = &self.0 else { return Ok(()) };
        let memory = memory(ad);
        let kept = input.kept.fetch_add(memory, Ordering::Relaxed) + memory;
        if self.allows(kept) { Ok(()) } else { Err(too_large("its ads take more memory than")) }
    }
}

/// Memory of an ad beside its values: the ad itself, its place in a list that grows by copying, and what its allocations take.
const AD: usize = 176;

/// The memory of an ad in bytes, nearly.
fn memory(ad: &ClassAd) -> u64 {
    let of_literal = |literal: &Literal| if let Literal::Str(text) = literal { text.as_bytes().len() } else { 0 };
    let of_node = |node: &Node| if let Node::Literal(literal) = node { of_literal(literal) } else { 0 };
    let of_value = |value: &Attribute| match value {
        Attribute::Literal(literal) => of_literal(literal),
        Attribute::Tree(tree) => {
            size_of::<Tree>() + size_of::<Node>() * tree.nodes.len() + tree.nodes.iter().map(of_node).sum::<usize>()
        }
    };
    let values: usize = ad.attributes().map(|(_, value)| size_of::<Attribute>() + of_value(value)).sum();
    (AD + values) as u64
}

fn too_large(what: &str) -> io::Error {
    let reason = format!("{what} {RATIO} times its compressed size (expand it first if it is what it should be)");
    io::Error::new(ErrorKind::FileTooLarge, reason)
}

/// Tests whether an error is that of input that takes more room than there is. Readers of ads take it for the end.
pub(crate) fn is_too_large(error: &io::Error) -> bool {
    error.kind() == ErrorKind::FileTooLarge
}

/// Counts the compressed bytes on their way to a decoder.
#[derive(Debug)]
pub struct Counted<R> {
    input: R,
    room: Room,
}

impl<R> Counted<R> {
    /// Counts what is read from an input.
    pub fn new(input: R, room: Room) -> Self {
        Counted { input, room }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(input) = &self.room.0 {
            input.read.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Hands on what a decoder expands, as long as there is room for it.
#[derive(Debug)]
pub struct Expanded<R> {
    decoder: R,
    room: Room,
    bytes: u64,
    lines: u64,
}

impl<R> Expanded<R> {
    /// Hands on what a decoder makes of compressed input.
    pub fn new(decoder: R, room: Room) -> Self {
        Expanded { decoder, room, bytes: 0, lines: 0 }
    }
}

impl<R: Read> Read for Expanded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.room.allows(self.bytes.max(self.lines * LINE)) {
            return Err(too_large("it expands to more than"));
        }
        let count = self.decoder.read(buffer)?;
        self.bytes += count as u64;
        self.lines += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_expands_too_much_is_an_error() {
        // The decoder of the test makes zeros of one byte.
        let room = Room::of_compressed();
        Counted::new(&b"x"[..], room.clone()).read_exact(&mut [0]).unwrap();
        let mut expanded = Expanded::new(io::repeat(0), room);
        let (mut taken, mut buffer) = (0, vec![0; 1 << 16]);
        let error = loop {
            match expanded.read(&mut buffer) {
                Ok(count) => taken += count as u64,
                Err(error) => break error,
            }
        };
        assert!(is_too_large(&error));
        assert!(taken > LEAST && taken <= LEAST + (1 << 16), "{taken}");
        assert!(Room::default().allows(u64::MAX));
    }

    #[test]
    fn ads_that_take_more_memory_than_their_text_are_counted() {
        let room = Room::of_compressed();
        let ad = ClassAd::parse(format!("[a = x{}]", "+x".repeat(1_500_000))).unwrap();
        // 3,000,001 nodes of 16 bytes: one such ad has room, and two have not.
        assert!(room.keep(&ad).is_ok());
        assert!(is_too_large(&room.keep(&ad).unwrap_err()));
        assert!(Room::default().keep(&ad).is_ok());
    }
}
