//! The statements of submit files.

use std::borrow::Cow;

use super::queue::{ItemList, QueueStatement};

/// Returns true if a text looks like a submit file: it queues something, or names a program or a universe and attributes of jobs.
pub fn is_submit(text: &[u8]) -> bool {
    let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let names = |line: &[u8]| {
        let name = line[..memchr::memchr(b'=', line).unwrap_or(0)].trim_ascii();
        [b"executable".as_slice(), b"universe"].iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let is_attribute = |line: &[u8]| {
        let name = line.strip_prefix(b"+").and_then(|rest| Some(rest[..memchr::memchr(b'=', rest)?].trim_ascii()));
        name.is_some_and(|name| {
            !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        })
    };
    if lines().any(names) && lines().any(is_attribute) {
        return true;
    }
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

/// A name without the operator that adds to its value (`+=`, `+,=`, `+&&=`), and true if there is one.
pub(crate) fn appended(name: &str) -> (&str, bool) {
    let front = name.trim_end_matches([',', ';', '&', '|']);
    match front.strip_suffix('+') {
        Some(front) if !front.is_empty() => (front.trim_end(), true),
        _ => (name, false),
    }
}

/// Returns true if `condor_submit` takes a text in front of `=` for the name of a command, a macro, or an attribute.
pub(crate) fn is_name(name: &str) -> bool {
    let (plus, bare) = name.strip_prefix('+').map_or((false, name), |bare| (true, bare));
    let without_macros = bare.replace("$(", "").replace(')', "");
    let bare = if bare.contains("$(") { without_macros.as_str() } else { bare };
    let odd = |sign: char| !(sign.is_ascii_alphanumeric() || "_./".contains(sign));
    let invalid = if plus {
        bare.contains(|sign: char| sign.is_whitespace() || sign == ':')
    } else {
        bare.trim_start_matches('-').contains(odd)
    };
    !bare.is_empty() && !invalid && !name.eq_ignore_ascii_case("queue")
}

/// The fault of a statement that sets nothing: one of configuration files alone, or no name in front of `=`.
pub(crate) fn fault(statement: &str) -> Option<String> {
    let bare = statement.strip_prefix('@').unwrap_or(statement);
    let end = bare.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(bare.len());
    let (word, rest) = (bare[..end].to_ascii_lowercase(), bare[end..].trim_start());
    let is_condition = ["if", "elif", "else", "endif"].contains(&&*word);
    let ends = |sign: char| sign.is_ascii_whitespace() || sign == ':' && !is_condition;
    let is_word = bare[end..].chars().next().is_none_or(ends);
    let words = ["include", "use", "warning", "error"];
    if statement.starts_with('#')
        || statement.is_empty()
        || is_word && (is_condition || words.contains(&&*word)) && !rest.starts_with('=')
    {
        return None;
    }
    let Some(equals) = statement.find('=') else {
        return Some(format!("expected `NAME = value`, found `{statement}`"));
    };
    let name = statement[..equals].trim_end();
    let name = name.strip_suffix('@').map_or_else(|| appended(name).0, str::trim_end);
    (!is_name(name)).then(|| format!("`{name}` is not a name"))
}

/// The line that ends the value of several lines that begins with a statement, `NAME @=TAG`.
pub(crate) fn block_end(statement: &str) -> Option<String> {
    let (name, tag) = statement.split_once("@=")?;
    (!name.contains('=') && !name.starts_with('#')).then(|| format!("@{}", tag.trim()))
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

/// A statement on one line, without the blanks in front of what continues it.
pub(crate) fn folded(statement: &[u8]) -> Vec<u8> {
    let lines = statement.split(|byte| *byte == b'\n').enumerate();
    let mut line = Vec::with_capacity(statement.len());
    for (at, part) in lines {
        let part = part.trim_ascii();
        if at == 0 || !part.starts_with(b"#") {
            line.extend_from_slice(part.strip_suffix(b"\\").unwrap_or(part));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that `condor_submit` of 25.14.1 takes, and does not take.
    #[test]
    fn names_have_no_blanks_and_no_signs() {
        for name in ["arguments", "+Tag", "+a-b", "MY.Tag", "a.b", "a/b", "1a", "_", "$(M)y", "-foo", "+MY.a", "++a"] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "", "a b", "+ Tag", "+a b", "+a:b", "MY. a", "a-b", "a:b", ":a", "a ||", "a |", "@a", "a,b", "(a)", "é",
            "queue", "$x",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }

    /// Statements that `condor_submit` of 25.14.1 takes, and does not take.
    #[test]
    fn statements_of_configuration_files_are_no_commands() {
        for text in [
            "a = 1",
            "a += 1",
            "a +&&= 1",
            "x @=end",
            "use strict : true",
            "warning : x",
            "if true",
            "# a b",
            "error = e",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
        for text in
            ["executable : /bin/sleep", "a ||= 1", "a &&= 1", "queue=5", "this is not a command", "x", "end if", "if:3"]
        {
            assert!(fault(text).is_some(), "{text}");
        }
    }

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
