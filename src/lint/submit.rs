//! Submit files: the commands whose values are expressions.

use std::sync::Arc;

use super::expression::{Question, Role, lint as lint_expression};
use super::{Alarm, Edit, Excerpt};
use crate::analysis::evaluate::unknown;
use crate::error::Finding;
use crate::span::Span;
use crate::syntax::token::Quoting;

/// Commands that are conditions, lower case.
const CONDITIONS: &[&str] = &[
    "requirements",
    "periodic_hold",
    "periodic_remove",
    "periodic_release",
    "periodic_vacate",
    "on_exit_hold",
    "on_exit_remove",
    "leave_in_queue",
];

/// Other commands that are expressions, lower case.
const VALUES: &[&str] =
    &["rank", "preferences", "job_lease_duration", "next_job_start_delay", "max_job_retirement_time"];

/// Whether a text looks like a submit file: it queues something.
pub fn is_submit(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        let word = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        line[..word].eq_ignore_ascii_case(b"queue") && !line[word..].trim_ascii_start().starts_with(b"=")
    })
}

/// What is wrong with the expressions of a submit file.
pub fn lint(file: &Arc<str>, text: &[u8]) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    let mut start = 0;
    for (at, raw) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = raw.strip_suffix(b"\r").unwrap_or(raw);
        command(file, line, at as u64 + 1, start, &mut alarms);
        start += raw.len() + 1;
    }
    alarms
}

fn command(file: &Arc<str>, line: &[u8], number: u64, start: usize, alarms: &mut Vec<Alarm>) {
    let trimmed = line.trim_ascii();
    if trimmed.is_empty() || trimmed.starts_with(b"#") || trimmed.ends_with(b"\\") {
        return;
    }
    let Some(equals) = memchr::memchr(b'=', line) else { return };
    let name = line[..equals].trim_ascii();
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let own = lower.strip_prefix('+').or_else(|| lower.strip_prefix("my."));
    let role = if CONDITIONS.contains(&lower.as_str()) {
        Role { condition: true, looks_at_jobs: false }
    } else if VALUES.contains(&lower.as_str()) || own.is_some() {
        Role::default()
    } else {
        return;
    };
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = line[value..].trim_ascii_end();
    if text.is_empty() {
        return;
    }
    let found = if let Some(misused) = misused_macro(text) {
        vec![misused]
    } else if memchr::memmem::find(text, b"$(").is_some() || memchr::memmem::find(text, b"$$").is_some() {
        // What it will be is known when jobs are made.
        return;
    } else {
        let question = Question { text, quoting: Quoting::Old, role, defined: &|_| false, base: &unknown };
        lint_expression(&question)
    };
    for found in found {
        let offset = start + value;
        let edit = found.finding.fix.as_ref().filter(|_| found.is_certain()).map(|fix| {
            let range = fix.span.range();
            Edit { range: offset + range.start..offset + range.end, text: fix.text.clone() }
        });
        alarms.push(Alarm {
            code: found.code,
            finding: found.finding.shifted(value),
            excerpt: Excerpt { file: Arc::clone(file), line: number, column: 1, text: line.to_vec() },
            subject: Some(String::from_utf8_lossy(name).into_owned()),
            repeated: 0,
            edit,
        });
    }
}

/// `$(JobStatus != 3)`: a macro that is none.
fn misused_macro(text: &[u8]) -> Option<super::expression::Found> {
    for at in memchr::memmem::find_iter(text, b"$(") {
        let name = &text[at + 2..];
        let end = name.iter().position(|byte| matches!(byte, b')' | b':' | b'('))?;
        let plain = name[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
        if !plain && name[end] == b')' {
            let span = Span::new(at, at + end + 3);
            let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
            let finding = Finding::error(format!("`{shown}` is no macro: it is left as it is"), span);
            let help = "`$(NAME)` holds the name of a macro and nothing else; a condition is written without it";
            return Some(super::expression::Found::new("leftover-macro", finding.help(help)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_are_expressions_are_looked_at() {
        let text = "executable = /bin/sleep\nrequirements = OpSys == LINUX\n+Tag = \"x\" +\n\
                    periodic_remove = $(JobStatus != 3)\narguments = a = b\nrequest_memory = 2G\nqueue 5\n";
        assert!(is_submit(text.as_bytes()));
        let shown = |alarm: &Alarm| format!("{} {}:{}", alarm.code, alarm.place().0.line, alarm.place().0.column);
        let found: Vec<String> = lint(&Arc::from("f"), text.as_bytes()).iter().map(shown).collect();
        assert_eq!(found, ["unquoted-word 2:25", "syntax 3:13", "leftover-macro 4:19"]);
    }
}
