//! Comments in files that allow a finding: `# classmate: allow CODE` before a statement.
//!
//! In: the text of a file and its diagnostics. Out: those that no comment allows, and one for each comment without use.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::{catalogue, placed};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Excerpt;
use classmate::{Diagnostic, Span};

const MARK: &[u8] = b"classmate:";

/// A code that a comment allows in the statement after it.
struct Allowance<'t> {
    code: String,
    /// The line of the comment, and its number.
    line: &'t [u8],
    number: u64,
    /// The place of the code in the line.
    span: Span,
    /// The lines of the comment and of the statement.
    lines: RangeInclusive<u64>,
    used: bool,
}

/// Removes the diagnostics that comments of a file allow, and adds one for each code that is allowed in vain; returns the
/// number of those removed.
pub fn allow(file: &Arc<str>, text: &[u8], alarms: &mut Vec<Diagnostic>) -> u64 {
    let mut allowances = allowances(text);
    if allowances.is_empty() {
        return 0;
    }
    let before = alarms.len();
    // Of each code the allowances in their order, and the lines of its alarms.
    let mut of_code: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, one) in allowances.iter().enumerate() {
        of_code.entry(one.code.clone()).or_default().push(at);
    }
    let mut lines: HashMap<&str, BTreeSet<u64>> = HashMap::new();
    for alarm in alarms.iter().filter(|alarm| alarm.file() == &**file && of_code.contains_key(alarm.code)) {
        lines.entry(alarm.code).or_default().insert(alarm.range().0.line);
    }
    let (mut used, mut allowed) = (Vec::new(), HashSet::new());
    for (code, lines) in lines {
        let mut next = of_code[code].iter().peekable();
        // Those that begin before a line and may reach it: one that was used and ends earlier than another is left out.
        let mut open: Vec<usize> = Vec::new();
        for line in lines {
            while let Some(at) = next.next_if(|at| *allowances[**at].lines.start() <= line) {
                open.push(*at);
            }
            open.retain(|at| allowances[*at].lines.contains(&line));
            used.extend(open.iter().copied());
            if let Some(last) = open.iter().copied().max_by_key(|at| *allowances[*at].lines.end()) {
                open = vec![last];
                allowed.insert((code, line));
            }
        }
    }
    alarms.retain(|alarm| alarm.file() != &**file || !allowed.contains(&(alarm.code, alarm.range().0.line)));
    for at in used {
        allowances[at].used = true;
    }
    let removed = before - alarms.len();
    for one in allowances.iter().filter(|one| !one.used) {
        let code = &one.code;
        let found = if catalogue::find(code).is_some() {
            let message = format!("`{code}` is not reported in the next statement, so this comment has no effect");
            Diagnostic::warning(message, one.span).help("remove it")
        } else {
            let near = near::closest(code.as_bytes(), catalogue::CHECKS.iter().map(|check| check.code));
            let found = Diagnostic::warning(format!("unknown code `{code}`"), one.span);
            found
                .did_you_mean(near)
                .help_if(near.is_none().then_some("`classmate lint --list` lists all codes".to_owned()))
        };
        let excerpt = Excerpt { text: one.line.to_vec(), subject: None };
        alarms.push(placed(found.code("unused-allow"), file, one.number, excerpt, None));
    }
    removed as u64
}

/// The codes that the comments of a text allow.
fn allowances(text: &[u8]) -> Vec<Allowance<'_>> {
    let mut found = Vec::new();
    if memchr::memmem::find(text, MARK).is_none() {
        return found;
    }
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut ends: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(tag) = line.trim_ascii().strip_prefix(b"@") {
            ends.entry(tag).or_default().push(at);
        }
    }
    // From the end of the text: the last line of the statement that is next, and the last of the lines that `\` continues.
    let end = lines.len().saturating_sub(1);
    let (mut last, mut continued) = (end, end);
    for (at, line) in lines.iter().enumerate().rev() {
        if let Some(codes) = codes(line) {
            for span in codes.into_iter().rev() {
                let code = String::from_utf8_lossy(&line[span.range()]).into_owned();
                let (number, last) = (at as u64 + 1, last as u64 + 1);
                found.push(Allowance { code, line, number, span, lines: number..=last, used: false });
            }
        }
        let text = line.trim_ascii();
        if at == end || !text.ends_with(b"\\") {
            continued = at;
        }
        if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"//") {
            continue;
        }
        last = match memchr::memmem::find(text, b"@=") {
            Some(tag) => {
                let ends = ends.get(text[tag + 2..].trim_ascii()).map_or(&[][..], Vec::as_slice);
                ends.get(ends.partition_point(|end| *end < at)).copied().unwrap_or(end)
            }
            None => continued,
        };
    }
    found.reverse();
    found
}

/// The places of the codes in a comment `# classmate: allow CODE, CODE -- reason`.
fn codes(line: &[u8]) -> Option<Vec<Span>> {
    let comment = line.trim_ascii_start();
    let comment = comment.strip_prefix(b"#").or_else(|| comment.strip_prefix(b"//"))?.trim_ascii_start();
    let rest = comment.strip_prefix(MARK)?.trim_ascii_start().strip_prefix(b"allow")?;
    let mut at = line.len() - rest.len();
    let mut found = Vec::new();
    for word in rest.split(|byte| byte.is_ascii_whitespace() || *byte == b',') {
        if word == b"--" {
            break;
        }
        if !word.is_empty() {
            found.push(Span::new(at, at + word.len()));
        }
        at += word.len() + 1;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::config::lint;
    use super::*;
    use classmate_config::Config;

    /// The codes and lines that are left, and the number of those allowed.
    fn left(text: &str) -> (Vec<String>, u64) {
        let mut alarms = lint(&Config::parse("c", text.as_bytes()).unwrap());
        let removed = allow(&Arc::from("c"), text.as_bytes(), &mut alarms);
        (alarms.iter().map(|alarm| format!("{} {}", alarm.code, alarm.line())).collect(), removed)
    }

    #[test]
    fn a_comment_allows_codes_in_the_next_statement() {
        let wrong = "NEGOTIATOR_INTERVALL = 5\n";
        assert_eq!(left(wrong), (vec!["unknown-knob 1".to_owned()], 0));
        for comment in [
            "# classmate: allow unknown-knob",
            "  #classmate: allow odd-number, unknown-knob -- read by a script",
            "# classmate: allow unknown-knob\n\n# more",
        ] {
            let unused = u64::from(comment.contains("odd-number"));
            let (found, removed) = left(&format!("{comment}\n{wrong}"));
            assert_eq!((found.len() as u64, removed), (unused, 1), "{comment}: {found:?}");
        }
        let lines = "# classmate: allow contradiction\nSTART = TARGET.a > 5 && \\\n  TARGET.a < 3\n";
        assert_eq!(left(lines), (vec![], 1));
        let block = "# classmate: allow contradiction\nSTART @=end\n  TARGET.a > 5\n  && TARGET.a < 3\n@end\n";
        assert_eq!(left(block), (vec![], 1));
        // The statement after the next one is not meant.
        let later = format!("# classmate: allow unknown-knob\nSTART = true\n{wrong}");
        assert_eq!(left(&later), (vec!["unknown-knob 3".to_owned(), "unused-allow 1".to_owned()], 0));
    }

    #[test]
    fn comments_without_use_are_reported() {
        let unused = |text: &str| {
            let mut alarms = Vec::new();
            allow(&Arc::from("c"), text.as_bytes(), &mut alarms);
            alarms.iter().map(|alarm| (alarm.message.clone(), alarm.range().0.column)).collect::<Vec<_>>()
        };
        assert_eq!(unused("START = true\n# classmate: allow\n# classmate allow x\n"), vec![]);
        let message = "`unknown-knob` is not reported in the next statement, so this comment has no effect".to_owned();
        assert_eq!(unused("# classmate: allow unknown-knob\nSTART = true"), vec![(message, 20)]);
        assert_eq!(unused("# classmate: allow unknwn-knob\n"), vec![("unknown code `unknwn-knob`".to_owned(), 20)]);
    }
}
