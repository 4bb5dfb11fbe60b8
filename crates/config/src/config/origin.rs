//! The sources of the parts of an expanded value.
//!
//! In: a value of a [`Config`] before and after expansion. Out: [`Piece`]s of both that belong together, and where the
//! bytes of a value are in its file when that is continued over lines (`docs/reference/config-language.md` 2, 4).

use std::ops::Range;

use super::condor::Config;
use super::function;
use super::reference::{self, Text};

/// Maximum number of pieces of one value.
const MAX_PIECES: usize = 1000;

/// A part of a value before and after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The bytes of the value as it is written: a reference, a call, or text that stays.
    pub raw: Range<usize>,
    /// The bytes of the expansion.
    pub text: Range<usize>,
    /// True if they stay as they are.
    pub stays: bool,
}

impl Config {
    /// The pieces that the expansion of a name's value is made of; `None` if it is not made piece by piece, as where a
    /// reference begins in one value and ends in another.
    pub fn pieces(&self, owner: &[u8], raw: &[u8], text: &[u8]) -> Option<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut at, mut done) = (0, 0);
        while at < raw.len() {
            let rest = &raw[at..];
            let made = if !rest.starts_with(b"$") {
                None
            } else if rest.starts_with(b"$$") {
                at = stay(&mut pieces, at, 2, &mut done);
                continue;
            } else {
                let reference = reference::find(&Text::Forward(rest)).map(|found| found.length);
                reference.or_else(|| function::find(&Text::Forward(rest)).map(|call| call.length))
            };
            let Some(length) = made else {
                let more = memchr::memchr(b'$', &rest[1..]).map_or(rest.len(), |next| next + 1);
                at = stay(&mut pieces, at, more, &mut done);
                continue;
            };
            if pieces.len() >= MAX_PIECES {
                return None;
            }
            let value = self.expansion(owner, &rest[..length]).ok()?;
            pieces.push(Piece { raw: at..at + length, text: done..done + value.len(), stays: false });
            (at, done) = (at + length, done + value.len());
            if text.get(done - value.len()..done) != Some(value.as_slice()) {
                return None;
            }
        }
        let same = |piece: &Piece| !piece.stays || text.get(piece.text.clone()) == raw.get(piece.raw.clone());
        (done == text.len() && pieces.iter().all(same)).then_some(pieces)
    }
}

/// Takes bytes over as they are; where the next ones begin.
fn stay(pieces: &mut Vec<Piece>, at: usize, length: usize, done: &mut usize) -> usize {
    let text = *done..*done + length;
    *done = text.end;
    match pieces.last_mut().filter(|last| last.stays) {
        Some(last) => (last.raw.end, last.text.end) = (at + length, text.end),
        None => pieces.push(Piece { raw: at..at + length, text, stays: true }),
    }
    at + length
}

/// The part of the raw value that a part of its expansion comes from, with the whole of every reference it touches.
pub fn origin(pieces: &[Piece], part: Range<usize>) -> Range<usize> {
    let end_of_all = pieces.last().map_or(0, |piece| piece.raw.end);
    let start = match pieces.iter().find(|piece| part.start < piece.text.end) {
        Some(piece) if piece.stays => piece.raw.start + (part.start - piece.text.start),
        Some(piece) => piece.raw.start,
        None => end_of_all,
    };
    let last = part.end.max(part.start + 1);
    let end = match pieces.iter().find(|piece| last <= piece.text.end) {
        Some(piece) if !piece.stays => piece.raw.end,
        // Nothing at a place that stays, such as the end.
        Some(_) if part.is_empty() => start,
        Some(piece) => piece.raw.start + (last - piece.text.start),
        None => end_of_all,
    };
    start..end.max(start)
}

/// The beginning of every line of a continued value: its offset in the value and in the file. `None` if the
/// value is not there from `start` on, apart from continuations.
pub fn lines(file: &[u8], start: usize, raw: &[u8]) -> Option<Vec<(usize, usize)>> {
    let mut lines = vec![(0, start)];
    let mut at = start;
    for (done, byte) in raw.iter().enumerate() {
        while let Some(next) = continued(file, at) {
            at = next;
            lines.push((done, at));
        }
        if *byte == b'\n' {
            // A line of a block: blanks around it, empty lines and comments are not part of it.
            at += file.get(at..)?.iter().position(|byte| !is_blank(*byte))?;
            if file[at] != b'\n' {
                return None;
            }
            at = behind_comments(file, at + 1, true)?;
            lines.push((done + 1, at));
            continue;
        }
        if file.get(at) != Some(byte) {
            return None;
        }
        at += 1;
    }
    Some(lines)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// The first byte of a line that is not a comment, nor empty if empty lines are skipped too. Where they are not, a value
/// continues: a comment that does not end with a backslash ends it with its last byte.
fn behind_comments(file: &[u8], mut next: usize, empty_too: bool) -> Option<usize> {
    loop {
        let line = file.get(next..)?;
        let first = next + line.iter().position(|byte| !is_blank(*byte))?;
        match file[first] {
            b'#' => {
                let end = first + memchr::memchr(b'\n', &file[first..]).unwrap_or(file.len() - first);
                let comment = file[first..end].trim_ascii_end();
                if !empty_too && !comment.ends_with(b"\\") {
                    return Some(first + comment.len() - 1);
                }
                next = end + 1;
            }
            b'\n' if empty_too => next = first + 1,
            _ => return Some(first),
        }
    }
}

/// The offset of the first line of a block `NAME @=TAG`, given the offset of its tag.
pub fn block(file: &[u8], tag: usize) -> Option<usize> {
    file.get(..tag)?.trim_ascii_end().strip_suffix(b"@=")?;
    let end = tag + memchr::memchr(b'\n', &file[tag..])?;
    behind_comments(file, end + 1, true)
}

/// The offset at which a value continues after a trailing backslash; comments between its lines are skipped.
fn continued(file: &[u8], at: usize) -> Option<usize> {
    if file.get(at) != Some(&b'\\') {
        return None;
    }
    let end = at + 1 + file[at + 1..].iter().position(|byte| !is_blank(*byte))?;
    if file[end] != b'\n' {
        return None;
    }
    behind_comments(file, end + 1, false)
}

/// The offset in the file of a byte of a value, by its [`lines`].
pub fn offset(lines: &[(usize, usize)], at: usize) -> usize {
    let line = lines.iter().rev().find(|(value, _)| *value <= at).or(lines.first());
    line.map_or(at, |(value, file)| file + (at - value))
}

/// The number of the first line, from 0, that is a comment inside of a value which a `\` continues, in the lines of a
/// statement.
pub fn comment_within(statement: &[u8]) -> Option<u64> {
    let mut continued = false;
    for (number, line) in (0..).zip(statement.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if continued && line.starts_with(b"#") {
            return Some(number);
        }
        continued = line.ends_with(b"\\");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<(String, String)>> {
        let config = Config::parse("c", text.as_bytes()).unwrap();
        let raw = config.definition(b"A").unwrap().raw;
        let whole = config.expansion(b"A", raw).unwrap();
        let part = |text: &[u8], range: &Range<usize>| String::from_utf8(text[range.clone()].to_vec()).unwrap();
        let pieces = config.pieces(b"A", raw, &whole)?;
        Some(pieces.iter().map(|piece| (part(raw, &piece.raw), part(&whole, &piece.text))).collect())
    }

    fn pairs(expected: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(expected.iter().map(|(raw, text)| ((*raw).to_owned(), (*text).to_owned())).collect())
    }

    #[test]
    fn references_and_calls_are_pieces_of_their_own() {
        assert_eq!(
            shown("A = x > $(B) && $INT(C) && $$(D) $(E:7)\nB = $(C) + 1\nC = 2"),
            pairs(&[
                ("x > ", "x > "),
                ("$(B)", "2 + 1"),
                (" && ", " && "),
                ("$INT(C)", "2"),
                (" && $$(D) ", " && $$(D) "),
                ("$(E:7)", "7")
            ])
        );
        assert_eq!(shown("A = x $ y"), pairs(&[("x $ y", "x $ y")]));
    }

    #[test]
    fn what_is_not_made_piece_by_piece_has_none() {
        // `$` of one value and `(B)` of the other make a reference.
        assert_eq!(shown("A = $(D)(B)\nB = 3\nD = $"), None);
    }

    #[test]
    fn a_part_of_a_reference_is_all_of_it() {
        let config = Config::parse("c", b"A = a > $(B) && c\nB = 10 + d").unwrap();
        let raw = config.definition(b"A").unwrap().raw;
        let text = config.expansion(b"A", raw).unwrap();
        let pieces = config.pieces(b"A", raw, &text).unwrap();
        assert_eq!(text, b"a > 10 + d && c");
        // `a > 10`, `d`, `c`, and the end.
        assert_eq!(origin(&pieces, 0..6), 0..8);
        assert_eq!(origin(&pieces, 9..10), 4..8);
        assert_eq!(origin(&pieces, 14..15), 12..13);
        assert_eq!(origin(&pieces, 15..15), 13..13);
    }

    #[test]
    fn a_continued_value_stands_on_several_lines() {
        let file = b"A = a > 1 \\\n  && b \\\n # not this \\\n  && c\n";
        let config = Config::parse("c", file).unwrap();
        let raw = config.definition(b"A").unwrap().raw;
        let lines = lines(file, 4, raw).unwrap();
        for word in ["a", "b", "c"] {
            let find = |text: &[u8]| memchr::memmem::find(text, word.as_bytes()).unwrap();
            assert_eq!(offset(&lines, find(raw)), find(file).max(4), "{word} in {}", String::from_utf8_lossy(raw));
        }
        assert_eq!(super::lines(file, 3, raw), None);
        let ended = b"A = a > 1 \\\n # or b\nB = 1\n";
        let config = Config::parse("c", ended).unwrap();
        let raw = config.definition(b"A").unwrap().raw;
        assert_eq!((raw, super::lines(ended, 4, raw)), (b"a > 1 b".as_slice(), Some(vec![(0, 4), (6, 18)])));
        let file = b"A @=end\n  a > 1\n\n # not this\n  && c\n@end\n";
        let config = Config::parse("c", file).unwrap();
        let raw = config.definition(b"A").unwrap().raw;
        assert_eq!(raw, b"a > 1\n&& c");
        let lines = super::lines(file, block(file, 4).unwrap(), raw).unwrap();
        assert_eq!(offset(&lines, raw.len() - 1), file.len() - 7);
    }
}
