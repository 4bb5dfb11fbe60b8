//! Submit files: one walk over their statements, which looks at the value of each command.
//!
//! In: the text of a file. Out: the findings about it, in the order of its lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ads::circular;
use super::attributes::{is_known, misspelled_own};
use super::commands::{self, CommandKind};
use super::compared_values::assigned as assigned_value;
use super::expression::{LintContext, Role};
use super::knobs::{EXIT, HOLD, LEAVE, MATCH_VALUE, RELEASE, REMOVE, VACATE};
use super::open_macros::lint_with_macros;
use super::rules::{published, unquoted_text};
use super::submit_expressions::{
    Own, date, minutes_of_days, of_any_status, of_gpus, of_rank, property_of_gpu, quoted_truth, string_for_number,
    unknown_part, word_for_policy, word_of_time,
};
use super::submit_lines::{byte_order_mark, comment_in_statement, joined_command, odd_row, of_other_system};
use super::submit_requests::{expanded_size, is_amount, number_expected, request, undefined_at_first, zero_quotient};
use super::templates::without_placeholders;
use super::versions::LintVersions;
use super::{beside_comment, is_slip, own_types, placed, refusals, second_place, shifted_fix, submit_expanded};
use crate::submit::other_names::{self, command_of_other};
use crate::submit::statements::{SubmitLine, joined, statements};
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, Name, Span};
use classmate_config::internal::config::origin;

/// Checks a submit file.
pub fn lint(file: &Arc<str>, text: &[u8], versions: &LintVersions) -> Vec<Diagnostic> {
    lint_given(file, text, versions, BTreeSet::new())
}

/// Checks a submit file to whose jobs a DAG gives macros with some names, lower case.
pub fn lint_given(file: &Arc<str>, text: &[u8], versions: &LintVersions, given: BTreeSet<String>) -> Vec<Diagnostic> {
    let own = Own { versions: versions.clone(), ..Own::of(text) };
    let (all, endless) = statements(text);
    let lines: Vec<String> = all.iter().map(|(.., line)| String::from_utf8_lossy(&joined(line)).into_owned()).collect();
    let reading = refusals::read(&lines, endless, given);
    let mut found: Vec<Diagnostic> = Vec::new();
    // The number of findings about each statement as a whole, and the last one of them.
    let mut of_reading: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut reported: BTreeSet<usize> = reading.found.iter().map(|(at, _)| *at).collect();
    for (at, (number, start, line)) in all.iter().enumerate().filter(|(at, _)| !reading.unread.contains(at)) {
        let mut of_line = command((file, &own), line, (*number, *start));
        // The error of a value that another one replaces is without effect.
        of_line.retain(|one| one.severity != Severity::Error || !reading.replaced.contains(&at));
        of_line.retain(|_| !reading.macros.contains(&at));
        reported.extend((!of_line.is_empty()).then_some(at));
        found.extend(of_line);
    }
    let of_expanded = submit_expanded::find((file, &own), text, (&all, &lines), &reading, &reported);
    // What one rule says of a line, another need not repeat.
    let known: BTreeSet<u64> = found.iter().map(|one| one.range().0.line).collect();
    for (at, one) in reading.found {
        let Some((number, start, line)) = all.get(at) else { continue };
        if known.contains(&(number + line_within(line, one.span.range().start))) && one.code != "redefined-knob" {
            continue;
        }
        let (count, last) = of_reading.entry(at).or_default();
        *count += 1;
        if *count > MAX_OF_STATEMENT {
            continue;
        }
        *last = found.len();
        let severity = one.severity;
        let fix = shifted_fix(&one, *start);
        let earlier = reading.earlier.get(&at).filter(|_| one.code == "redefined-knob").and_then(|at| all.get(*at));
        let subject = command_of(line);
        let mut placed = match earlier {
            Some((first, ..)) if number - first > second_place::MAX_LINES.into() => {
                let one = one.more_help(format!("the earlier value is in line {first}"));
                placed(one, file, *number, Excerpt { text: line.to_vec(), subject }, fix)
            }
            Some(earlier) => {
                let (first, one, both) = with_earlier(text, earlier, (*start, line), one);
                placed(one, file, first, Excerpt { text: both, subject }, fix)
            }
            None => placed(one, file, *number, Excerpt { text: line.to_vec(), subject }, fix),
        };
        placed.severity = severity;
        found.push(placed);
    }
    found.extend(of_expanded);
    found.extend(byte_order_mark(file, text));
    found.extend(all.iter().filter_map(|(number, _, line)| comment_in_statement(file, line, *number)));
    found.extend(of_other_system(file, &all));
    found.extend(odd_row(file, text, &all));
    found.extend(all.iter().filter_map(|(number, _, line)| joined_command(file, line, *number)));
    for (count, last) in of_reading.into_values().filter(|(count, _)| *count > MAX_OF_STATEMENT) {
        if let Some(last) = found.get_mut(last) {
            *last = last.clone().more_help(more(count));
        }
    }
    let mut found = without_placeholders(file, &all, &lines, &reading.unread, found);
    found.sort_by_cached_key(|one| one.range().0.line);
    found
}

/// The command of a line `command = value`, as it is written.
fn command_of(line: &[u8]) -> Option<String> {
    let name = line[..memchr::memchr(b'=', line)?].trim_ascii();
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.+".contains(byte));
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}

/// A finding about a statement that replaces the value of an earlier one, in the lines from that one on, which are returned with
/// the number of the first.
fn with_earlier(
    text: &[u8],
    (number, first, earlier): &SubmitLine<'_>,
    (start, line): (usize, &[u8]),
    one: Diagnostic,
) -> (u64, Diagnostic, Vec<u8>) {
    let both = text.get(*first..start + line.len()).unwrap_or_default().to_vec();
    let indent = earlier.len() - earlier.trim_ascii_start().len();
    let first_line = earlier.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let label = Span::new(indent, first_line.trim_ascii_end().len().max(indent));
    (*number, one.shifted(start - first).related(label, "this value has no effect"), both)
}

/// Findings in one statement that are reported; others are counted.
const MAX_OF_STATEMENT: usize = 20;

/// The words for findings that are only counted, of a number of findings.
pub(super) fn more(count: usize) -> String {
    format!("there are {} more findings in this statement", count - MAX_OF_STATEMENT)
}

/// The number of lines in a statement before a place in it.
fn line_within(statement: &[u8], place: usize) -> u64 {
    memchr::memchr_iter(b'\n', &statement[..place.min(statement.len())]).count() as u64
}

/// A diagnostic of a name that looks like a misspelled command.
pub(super) fn misspelled(
    (file, own): (&Arc<str>, &Own),
    line: &[u8],
    name: &[u8],
    (number, start): (u64, usize),
) -> Option<Diagnostic> {
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let meant = commands::misspelled_command(&lower).filter(|_| !own.macros.contains(&name.to_ascii_uppercase()))?;
    let shown = String::from_utf8_lossy(name).into_owned();
    let at = line.len() - line.trim_ascii_start().len();
    let span = Span::new(at, at + name.len());
    let finding = Diagnostic::warning(format!("`{shown}` is not a command of submit files"), span);
    let finding = finding.did_you_mean(Some(meant)).fix(span, meant).code("unknown-command");
    let (fix, excerpt) = (shifted_fix(&finding, start), Excerpt { text: line.to_vec(), subject: Some(shown) });
    Some(placed(finding, file, number, excerpt, fix))
}

/// The finding about `+request_gpus`: it sets an attribute that nothing reads.
fn command_as_attribute(attribute: &str, line: &[u8], own: &Own) -> Option<Diagnostic> {
    /// Commands in one word: their attributes have other names, which are not those of any attribute of a job.
    const WORDS: [&str; 11] = [
        "executable",
        "getenv",
        "initialdir",
        "notification",
        "preferences",
        "prio",
        "priority",
        "transferinputfiles",
        "transferoutputfiles",
        "universe",
        "useoauthservices",
    ];
    /// Commands whose names may as well be those of notes about a job, if it has the command too.
    const STREAMS: [&str; 7] = ["error", "input", "log", "output", "stderr", "stdin", "stdout"];
    let has_command = |name: &str| {
        let command = command_of_other(name).unwrap_or(name);
        other_names::names(command).any(|one| own.numbers.contains_key(one))
    };
    let is_word = WORDS.contains(&attribute) || STREAMS.contains(&attribute) && !has_command(attribute);
    // What begins with `remote_` is for the job of a remote access point.
    let is_command = attribute.contains('_')
        && !attribute.starts_with("remote_")
        && commands::is_listed(attribute)
        && !is_known(attribute.as_bytes());
    if !is_command && !is_word {
        return None;
    }
    let start = line.len() - line.trim_ascii_start().len();
    let end = start + line[start..].iter().take_while(|byte| !(byte.is_ascii_whitespace() || **byte == b'=')).count();
    let message = format!("`{}` sets an attribute that nothing reads", String::from_utf8_lossy(&line[start..end]));
    let finding = Diagnostic::warning(message, Span::new(start, end));
    Some(finding.write(Span::new(start, end), attribute).code("unknown-command"))
}

/// The finding about `+WantFlockign`: almost the name of an attribute that HTCondor knows.
fn misspelled_name(attribute: &str, line: &[u8]) -> Option<Diagnostic> {
    // `IsValidAttrName` in HTCondor's `compat_classad.cpp`, which the schedd calls.
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = attribute.bytes().all(is_inner) && !attribute.starts_with(|first: char| first.is_ascii_digit());
    // As it is written.
    let end = memchr::memchr(b'=', line).map_or(line.len(), |equals| line[..equals].trim_ascii_end().len());
    let span = Span::new(end.checked_sub(attribute.len())?, end);
    let shown = String::from_utf8_lossy(&line[span.range()]);
    if !is_name && !attribute.is_empty() && !attribute.contains('$') {
        let message = format!("`{shown}` is not the name of an attribute: the access point refuses the job");
        let plain: String = shown.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
        let skipped = if attribute.starts_with("my.") { "my.".len() } else { 0 };
        let plain: String = plain.chars().skip(skipped).collect();
        let front = if plain.starts_with(|first: char| first.is_ascii_digit()) { "_" } else { "" };
        let help = format!("write `+{front}{plain}`");
        return Some(Diagnostic::error(message, span).help(help).code("rejected-submit"));
    }
    let meant = misspelled_own(attribute.as_bytes())?;
    let finding = Diagnostic::warning(format!("HTCondor does not know an attribute `{shown}`"), span);
    Some(finding.did_you_mean(Some(meant)).code("unknown-attribute"))
}

/// The role of the condition or rank that a command is.
fn role_of(command: &str, own: &Own) -> Option<Role> {
    match command {
        "periodic_release" => Some(RELEASE),
        "periodic_hold" => Some(HOLD),
        "periodic_vacate" => Some(VACATE),
        "leave_in_queue" => Some(LEAVE),
        "on_exit_hold" | "on_exit_remove" => Some(EXIT),
        "requirements" => Some(own.requirements()),
        "rank" => Some(MATCH_VALUE),
        "periodic_remove" => Some(REMOVE),
        _ => None,
    }
}

/// The diagnostics of a statement.
pub(super) fn command(
    (file, own): (&Arc<str>, &Own),
    statement: &[u8],
    (number, start): (u64, usize),
) -> Vec<Diagnostic> {
    let line = joined(statement);
    let line = line.as_slice();
    let equals = memchr::memchr(b'=', line).filter(|_| !statement.trim_ascii().starts_with(b"#"));
    // `NAME @=end` begins a value of several lines, which are not in the statement.
    let Some(equals) = equals.filter(|at| !line[..*at].ends_with(b"@")) else { return Vec::new() };
    let name = line[..equals].trim_ascii();
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let attribute = lower.strip_prefix('+').or_else(|| lower.strip_prefix("my."));
    let named = |name: &str| command_as_attribute(name, line, own).or_else(|| misspelled_name(name, line));
    if let Some(finding) = attribute.and_then(named) {
        let fix = shifted_fix(&finding, start);
        let excerpt = Excerpt { text: statement.to_vec(), subject: Some(String::from_utf8_lossy(name).into_owned()) };
        return vec![placed(finding, file, number, excerpt, fix)];
    }
    let amount = String::from_utf8_lossy(line[equals + 1..].trim_ascii());
    let at = line.len() - line[equals + 1..].trim_ascii_start().len();
    if let Some(found) = own.said_otherwise(start, &lower, &amount) {
        let excerpt = Excerpt { text: statement.to_vec(), subject: Some(lower) };
        return vec![placed(found.shifted(at), file, number, excerpt, None)];
    }
    let unknown_word = |word: Name| own.is_unknown_word(word);
    let unknown_word: Option<&dyn Fn(Name) -> bool> = Some(&unknown_word);
    // All that follows knows a command by its first name.
    let lower = command_of_other(&lower).map_or_else(|| lower.clone(), str::to_owned);
    let kind = commands::kind(&lower);
    let role = if let Some(role) = role_of(&lower, own) {
        role
    } else if ["request_", "retry_request_", "gpus_m"].iter().any(|start| lower.starts_with(start)) {
        if let Some(found) = request((file, own), statement, (&lower, equals), (number, start)) {
            return vec![found];
        }
        let text = line[equals + 1..].trim_ascii();
        // Amounts with units, and macros, are no expressions yet.
        let amount = is_amount(&String::from_utf8_lossy(text));
        if amount || text.contains(&b'$') || parse_expr(text, &own.options()).is_err() {
            return Vec::new();
        }
        Role::default()
    } else if kind == Some(CommandKind::Expression) || attribute.is_some() {
        Role::default()
    } else {
        return misspelled((file, own), statement, name, (number, start)).into_iter().collect();
    };
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = line[value..].trim_ascii_end();
    if text.is_empty() {
        return Vec::new();
    }
    let own_attribute = |word: Name| own.attributes.contains(&word.folded().to_ascii_uppercase());
    let (defined, versions): (&dyn Fn(Name) -> bool, _) = (&own_attribute, &own.versions);
    let shown = String::from_utf8_lossy(text);
    let beside = || own.beside(start, &lower);
    let of_time =
        date(&lower, &shown).or_else(|| minutes_of_days(&lower, &shown)).or_else(|| closes_added(&lower, text, own));
    if let Some(found) = of_time.or_else(|| of_any_status(&lower, &shown, &beside())) {
        return vec![of_value(found, (file, name), statement, (number, start), value)];
    }
    let context =
        LintContext { defined, unknown_word, versions, beside: &beside, ..LintContext::of(text, Quoting::Old, role) };
    let of_macro = expanded_size(own, text).or_else(|| zero_quotient(own, text));
    let mut found = lint_with_macros(&context, |_| {
        if lower == "require_gpus" {
            return of_gpus(text, &own.options());
        }
        let of_word = word_of_time(text, own).or_else(|| word_for_policy(&lower, text, own));
        if let Some(found) = of_word.or_else(|| property_of_gpu(&lower, text, own)) {
            return vec![found];
        }
        if let Some(found) = (role == MATCH_VALUE).then(|| of_rank(text, own, &lower)).flatten() {
            return vec![found];
        }
        let attribute = attribute.filter(|_| memchr::memchr(b'$', text).is_none());
        let options = own.options();
        if attribute.is_none() && kind == Some(CommandKind::Expression) && role == Role::default() {
            return no_number(&lower, text, own).into_iter().collect();
        }
        let parsed = parse_expr(text, &options);
        // Macros may stand for anything.
        if let Some(expr) = parsed.as_ref().ok().filter(|_| attribute.is_none() && memchr::memchr(b'$', text).is_none())
        {
            return own_types::check(expr, &|name| own.types.get(name)).into_iter().collect();
        }
        let (Some(attribute), Ok(expr)) = (attribute, parsed) else { return Vec::new() };
        // As it is written, with its capitals.
        let written = name.get(name.len() - attribute.len()..).unwrap_or_default();
        if let Some(found) = quoted_truth(&String::from_utf8_lossy(written), &expr) {
            return vec![found];
        }
        let text_attribute = unquoted_text(Name::new(attribute), text, &expr, &own_attribute);
        let known = |word: Name| is_known(word.folded()) || own_attribute(word);
        let constant = || {
            let Node::Literal(literal) = expr.node() else { return None };
            let span = Span::new(0, text.len());
            assigned_value(Name::new(attribute), literal, &String::from_utf8_lossy(text), span)
        };
        let word = || published(text, &options, &known).or_else(|| circular(Name::new(attribute), &expr, &own.ad));
        text_attribute.or_else(constant).or_else(word).into_iter().collect()
    });
    found.extend(of_macro);
    if found.is_empty() && attribute.is_none() {
        found.extend(without_a_value(&lower, text, own));
    }
    cut(found).into_iter().map(|found| of_value(found, (file, name), statement, (number, start), value)).collect()
}

/// The findings of a statement that are reported.
fn cut(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let count = found.len();
    found.truncate(MAX_OF_STATEMENT);
    if let Some(last) = found.last_mut().filter(|_| count > MAX_OF_STATEMENT) {
        *last = last.clone().more_help(more(count));
    }
    found
}

/// A request that has no value before the first run, and a value that needs the attribute that its command sets, which has the name
/// of the command: `request_memory = RequestMemory + 1024`.
fn without_a_value(name: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    if name.starts_with("request_")
        && let Some(found) = undefined_at_first(text, &own.options())
    {
        return Some(found);
    }
    // Requirements that refer to themselves are rejected.
    let is_plain = memchr::memchr(b'$', text).is_none() && name != "requirements";
    let expr = parse_expr(text, &own.options()).ok().filter(|_| is_plain)?;
    circular(Name::new(name.replace('_', "")), &expr, &own.ad)
}

/// The finding about the value of a command that is a number or a condition: a word, or a string.
fn no_number(name: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    let found = own.unknown_value(text).map(|found| number_expected(found, name));
    let found = found.or_else(|| unknown_part(name, text, own));
    found.or_else(|| string_for_number(name, text, &own.options()))
}

/// `requirements = A) && (B`: `condor_submit` puts the condition into parentheses, and these are closed (`SetRequirements` in HTCondor's
/// `submit_utils.cpp`).
fn closes_added(name: &str, text: &[u8], own: &Own) -> Option<Diagnostic> {
    let options = own.options();
    let whole = [b"(", text, b")"].concat();
    let is_closed =
        name == "requirements" && parse_expr(text, &options).is_err() && parse_expr(&whole, &options).is_ok();
    let at = memchr::memchr(b')', text).filter(|_| is_closed)?;
    let message = "this is valid only inside the parentheses that `condor_submit` adds";
    let found = Diagnostic::new(Severity::Note, message, Span::new(at, at + 1)).code("odd-command");
    Some(found.help("write a `(` for each `)`"))
}

/// A finding in the value of a statement, which begins at an offset, at its place in the file.
fn of_value(
    found: Diagnostic,
    (file, name): (&Arc<str>, &[u8]),
    statement: &[u8],
    (number, start): (u64, usize),
    value: usize,
) -> Diagnostic {
    // Text after a comment between the lines may not belong to the value.
    let comment = origin::comment_within(statement);
    let fix = shifted_fix(&found, start + value).filter(|_| comment.is_none());
    let found = match comment.filter(|_| is_slip(found.code)) {
        Some(line) => beside_comment(found, number + line),
        None => found,
    };
    let subject = Some(String::from_utf8_lossy(name).into_owned());
    placed(found.shifted(value), file, number, Excerpt { text: statement.to_vec(), subject }, fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_are_expressions_are_looked_at() {
        let text = "executable = /bin/sleep\nrequirements = OpSys == LINUX\n+Tag = \"x\" +\n\
                    periodic_remove = $(JobStatus != 3)\narguments = a = b\nrequest_memory = 2G\nqueue 5\n";
        let shown = |alarm: &Diagnostic| format!("{} {}:{}", alarm.code, alarm.range().0.line, alarm.range().0.column);
        let found: Vec<String> =
            lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default()).iter().map(shown).collect();
        assert_eq!(found, ["unquoted-word 2:25", "syntax 3:13", "leftover-macro 4:19"]);
    }

    #[test]
    fn attributes_that_are_there_when_they_are_asked_for_are_not_missed() {
        let found = |text: &str| {
            lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default())
                .iter()
                .map(|alarm| alarm.code)
                .collect::<Vec<&str>>()
        };
        for text in [
            "on_exit_remove = (ExitBySignal == False) && (ExitCode == 0)",
            "on_exit_remove = ExitBySignal == false && ExitCode != 3",
            "periodic_remove = JobStatus == 2 && RemoteWallClockTime != 0",
            "periodic_remove = HoldReasonCode == 13 && HoldReasonSubCode != 2",
            "periodic_remove = JobStatus == 5 && HoldReasonCode != 1",
            "periodic_release = HoldReasonCode != 1 && NumJobStarts < 3",
            // Another clause needs the attribute.
            "requirements = TARGET.Foo > 1 && TARGET.Foo != 3",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
        for text in [
            "periodic_remove = HoldReasonCode != 1 && JobStatus != 2",
            "periodic_remove = JobStatus == 2 && HoldReasonCode != 1",
            "on_exit_remove = ExitCode != 3",
            "requirements = TARGET.Foo > 1 && TARGET.Bar != 3",
        ] {
            assert_eq!(found(text), ["undefined-means-no"], "{text}");
        }
        assert_eq!(found("requirements = TARGET.Foo != 3 && !(TARGET.Foo == 4)"), ["undefined-means-no"]);
    }

    #[test]
    fn slips_and_texts_without_quotes_are_told() {
        let found = |text: &str| {
            let shown =
                |alarm: &Diagnostic| format!("{} {}:{}", alarm.code, alarm.range().0.line, alarm.range().0.column);
            lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default()).iter().map(shown).collect::<Vec<String>>()
        };
        assert_eq!(found("  requirments = x\nrequest_cpu = 1"), ["unknown-command 1:3", "unknown-command 2:1"]);
        // Behind the items, and behind those on one line.
        let text = "queue a from (\r\n  outputs = 3\r\n)\r\nrequirments = x\r\n";
        assert_eq!(found(text), ["unknown-command 4:1"]);
        assert_eq!(found("queue a in (1 2)\nrequirments = x"), ["unknown-command 2:1"]);
        // The name that a line sets is not an argument of the function that the line calls.
        assert_eq!(found("outputs = $INT(x)\nrequirments = x"), ["unknown-command 1:1", "unknown-command 2:1"]);
        assert_eq!(found("+AccountingGroup = physics"), ["unquoted-word 1:20"]);
        assert_eq!(found("MY.AcctGroupUser = alice"), ["unquoted-word 1:20"]);
        assert_eq!(found("requirements = TARGET.Machine == node01"), ["unquoted-word 1:34"]);
        // Of two names that are like the one of the items, none is meant.
        let helps = |text: &str| {
            let all = lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default());
            all.iter().flat_map(|one| one.help.iter().map(ToString::to_string)).collect::<Vec<String>>().join(" ")
        };
        let two = "executable = a\narguments = $(username) $(filename)\nqueue name in (a b c)\n";
        assert!(!helps(two).contains("did you mean"), "{}", helps(two));
        assert!(helps(&two.replace("username", "Process")).contains("did you mean `$(name)`?"));
        // Each second name of a command is reported once.
        let text = "executable = a\nlog = a.log\ncmd = b\noutput = a\nstdout = b\npriority = 1\nprio = 2\nqueue\n";
        assert_eq!(found(text), ["odd-command 3:1", "odd-command 5:1", "odd-command 7:1"]);
        for text in [
            "+AccountingGroup = \"physics\"",
            "+AccountingGroup = strcat(\"a.\", Owner)",
            "+AccountingGroup = $(group)",
            "+AccountingGroup = physics\n+Physics = \"p\"",
            "accounting_group = physics",
            "inputt = a\narguments = $(inputt)",
            "arguments = $Fnx(inputt)\ninputt = x",
            "executable = /bin/a\ninputt = x\nqueue inputt from list.txt",
            "executable = /bin/a\nexecutables = /bin/a, /bin/b\narguments = -p $CHOICE(Process, executables)\nqueue 2",
            "outputs = yes\nIF defined outputs\noutput = o\nendif",
            "inputt = yes\nif false\nelif defined inputt\nendif",
            "executable = /bin/a\nqueue arguments from (\n  outputs = 3\n  requirments = x\n)",
            "executable = /bin/a\nqueue 2 a in (outputs = 3,\n  requirments = x\n)",
            "requirements = TARGET.Machine == LastHost",
            "requirements = TARGET.Machine != mine\n+mine = \"x\"",
            "request_fpus = 1",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn continued_lines_keep_their_places() {
        let found = |text: &str| {
            let shown = |alarm: &Diagnostic| {
                let (start, end) = alarm.range();
                format!("{} {}:{}-{}:{}", alarm.code, start.line, start.column, end.line, end.column)
            };
            lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default()).iter().map(shown).collect::<Vec<String>>()
        };
        let text = "executable = /bin/a\nrequirements = TARGET.Memory > 1 && \\\n  OpSys == LINUX\nrequirments = x\n";
        assert_eq!(found(text), ["unquoted-word 3:12-3:17", "unknown-command 4:1-4:12"]);
        assert_eq!(found(&text.replace('\n', "\r\n")), ["unquoted-word 3:12-3:17", "unknown-command 4:1-4:12"]);
        // A comment between the lines is not part of it; one by itself is not continued.
        assert_eq!(found("requirements = a > 1 && \\\n# x == LINUX \\\n  a > 1\n"), ["duplicate-clause 3:3-3:8"]);
        assert_eq!(found("# requirements \\\nrequirments = x"), ["unknown-command 2:1-2:12"]);
        assert_eq!(found("+Tag = 1 + \\\n  2 3\n"), ["syntax 2:5-2:6"]);
        // A line of blanks ends what is continued.
        assert_eq!(found("requirements = A > 1 \\\n\nrank = 3\n"), Vec::<String>::new());
        // What follows is no command: condor_submit rejects `  B > 2`.
        let ended = ["syntax 1:24-1:24", "rejected-submit 3:3-3:8"];
        assert_eq!(found("requirements = A > 1 && \\\n\n  B > 2\n"), ended);
        assert_eq!(found("requirements = A > 1 && \\\n# c \\\n \nrank = OpSys == LINUX\n").len(), 2);
        // A continuation line is not a command, whatever it looks like, and the last line may have no continuation.
        assert_eq!(found("executable = /bin/a\narguments = a \\\n requirments = x\nqueue"), Vec::<String>::new());
        assert_eq!(found("requirements = a > 1 \\"), Vec::<String>::new());
        assert_eq!(found("requirements = a > 1 &&\\\n"), ["syntax 1:24-1:24"]);
    }

    #[test]
    fn what_is_continued_is_mended_in_the_file() {
        let mended = |text: &str| {
            let alarms = lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default());
            let fixes: Vec<&classmate::internal::diagnostic::Fix> =
                alarms.iter().filter_map(|alarm| alarm.fix.as_deref()).collect();
            String::from_utf8(super::super::fixed(text.as_bytes(), &fixes)).unwrap()
        };
        assert_eq!(
            mended("rank = 1\nrequirements = a > 1 && \\\n  b > 1 && \\\n  a > 1 && c > 1\n"),
            "rank = 1\nrequirements = a > 1 && \\\n  b > 1 && c > 1\n"
        );
        for comment in [
            "requirements = a > 1 && \\\n  b > 1 && \\\n  # why\n  a > 1\n",
            "requirements = a > 1 && \\\n# c\nrank = 3\n",
        ] {
            assert_eq!(mended(comment), comment);
        }
        // A line of blanks ends the value: the reference reads `(A > 1) && ` and `Memory`.
        for blank in ["requirements = A > 1 && \\\n\nrank = Memory\nqueue\n", "rank = A > 1 && \\\n \t\nrank = b\n"] {
            assert_eq!(mended(blank), blank);
        }
    }

    #[test]
    fn what_stands_beside_a_macro_is_looked_at() {
        let found = |text: &str| {
            let shown = |alarm: &Diagnostic| format!("{} {}", alarm.code, alarm.range().0.column);
            lint(&Arc::from("f"), text.as_bytes(), &LintVersions::default()).iter().map(shown).collect::<Vec<String>>()
        };
        assert_eq!(found("requirements = OpSys == LINUX && TARGET.Memory > $(mem)"), ["unquoted-word 25"]);
        assert_eq!(found("requirements = a > $(x) && b && a > $(x)"), ["duplicate-clause 33"]);
        // A macro may be anything: also a text with operators, and any text inside a string.
        for text in [
            "requirements = a > 5 && $(more) && a > 1",
            "requirements = a > 5 $(more)",
            "requirements = \"$(site)\" == \"A\" && \"$ENV(X)\" == \"B\"",
            "requirements = $(x) != 3 && !$(y) && $$(Memory) > 3",
            "requirements = $RANDOM_INTEGER(1, 5) > 3",
            "requirements = a > $(x.y) && a > $(x:y)",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        let alarms = lint(&Arc::from("f"), b"requirements = a > $(x) && b && a > $(x)", &LintVersions::default());
        assert_eq!(alarms[0].message, "`a > $(x)` is repeated");
    }
}
