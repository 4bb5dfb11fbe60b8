//! The statements of submit files.

use std::borrow::Cow;

use super::queue::{ItemList, QueueStatement};

/// Returns true if a text looks like a submit file: it queues something.
pub fn is_submit(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        queue_arguments(line).is_some_and(|rest| !rest.trim_ascii_start().starts_with(b"="))
    })
}

/// The arguments of a trimmed `queue` line; `None` for other lines, such as `queue_x = 1`. HTCondor also reads `iter`
/// up to `iterate` as `queue`.
pub(crate) fn queue_arguments(line: &[u8]) -> Option<&[u8]> {
    const OTHER: &[u8] = b"iterate";
    let (word, rest) = line.split_at(line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()));
    let is_other = || {
        let begins = OTHER.get(..word.len()).is_some_and(|known| known.eq_ignore_ascii_case(word));
        word.len() >= b"iter".len() && begins && !rest.trim_ascii_start().starts_with(b"=")
    };
    (word.eq_ignore_ascii_case(b"queue") || is_other()).then_some(rest)
}

/// A statement: the number of its first line, the offset of its first byte, and its text.
pub(crate) type SubmitLine<'t> = (u64, usize, &'t [u8]);

/// The statements of a submit file, without the items that a `queue` lists in parentheses on lines of their own, and true
/// if such a list has no end. A statement goes on behind a line that ends in `\`.
pub(crate) fn statements(text: &[u8]) -> (Vec<SubmitLine<'_>>, bool) {
    let end_of = |start: usize| memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
    let (mut found, mut listing, mut number, mut start) = (Vec::new(), false, 1, 0);
    while start < text.len() {
        let mut end = end_of(start);
        let line = text[start..end].trim_ascii();
        if listing {
            listing = !line.starts_with(b")");
        } else {
            let comment = line.starts_with(b"#");
            // A line of blanks ends it.
            while !comment && end < text.len() && last_line(&text[start..end]).ends_with(b"\\") {
                end = end_of(end + 1);
                // A comment between the lines does not end the statement.
                while end < text.len() && last_line(&text[start..end]).starts_with(b"#") {
                    end = end_of(end + 1);
                }
            }
            let statement = &text[start..end];
            listing = queue_arguments(joined(statement).trim_ascii()).is_some_and(|arguments| {
                let arguments = String::from_utf8_lossy(arguments);
                QueueStatement::parse(&arguments).is_ok_and(|queue| matches!(queue.list, ItemList::Lines(_)))
            });
            found.push((number, start, statement.strip_suffix(b"\r").unwrap_or(statement)));
        }
        number += memchr::memchr_iter(b'\n', &text[start..end]).count() as u64 + 1;
        start = end + 1;
    }
    (found, listing)
}

/// The lines of a text between a statement and the next one: the items of a `queue`.
pub(crate) fn lines_after<'t>(text: &'t [u8], all: &[SubmitLine<'t>], at: usize) -> Cow<'t, str> {
    let start = all.get(at).map_or(text.len(), |(_, start, line)| start + line.len());
    let end = all.get(at + 1).map_or(text.len(), |(_, next, _)| *next);
    let rest = text.get(start..end).unwrap_or_default();
    String::from_utf8_lossy(memchr::memchr(b'\n', rest).map_or(b"", |newline| &rest[newline + 1..]))
}

/// The last line of a text, without blanks around it.
fn last_line(text: &[u8]) -> &[u8] {
    text[memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1)..].trim_ascii()
}

/// A statement on one line: blanks replace what continues it and of comments between its lines, so that all
/// else stays where it is.
pub(crate) fn joined(statement: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(statement.len());
    for part in statement.split_inclusive(|byte| *byte == b'\n') {
        let comment = !line.is_empty() && part.trim_ascii_start().starts_with(b"#");
        let text = part.trim_ascii_end();
        let kept = if comment { 0 } else { text.strip_suffix(b"\\").map_or(text.len(), <[u8]>::len) };
        line.extend_from_slice(&part[..kept]);
        line.resize(line.len() + part.len() - kept, b' ');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submit_file_queues_something() {
        for text in ["queue", "a = b\n QUEUE 5\r\n", "queue\ta from (\n1\n)"] {
            assert!(is_submit(text.as_bytes()), "{text}");
        }
        for text in
            ["QUEUE_SUPER_USERS = root, condor", "queue = 5", "queue=5", "queued 5", "QUEUE_x 5", "# queue", "queu"]
        {
            assert!(!is_submit(text.as_bytes()), "{text}");
        }
    }
}
