//! Submit files: the commands whose values are expressions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::attributes::is_known;
use super::commands::{self, CommandKind};
use super::comparison::wrong_size;
use super::expression::{LintContext, Role, lint as lint_expression, unparsed};
use super::knobs::{LONE_JOB, MATCH, MATCH_VALUE, RELEASE};
use super::rules::{published, unquoted_text};
use super::versions::LintVersions;
use super::{beside_comment, is_slip, placed, refusals, shifted_fix, unknowns};
use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, Name, ParseOptions, Span};
use classmate_config::internal::config::{origin, parenthesized};

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

/// Returns true if a text looks like a submit file: it queues something.
pub fn is_submit(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        queue_arguments(line).is_some_and(|rest| !rest.trim_ascii_start().starts_with(b"="))
    })
}

/// The arguments of a trimmed `queue` line; `None` for other lines, such as `queue_x = 1`.
pub(crate) fn queue_arguments(line: &[u8]) -> Option<&[u8]> {
    let (word, rest) = line.split_at_checked(b"queue".len())?;
    (word.eq_ignore_ascii_case(b"queue") && rest.first().is_none_or(u8::is_ascii_whitespace)).then_some(rest)
}

/// The statements of a submit file, each with the number of its first line and the offset of its first byte, without
/// the items that a `queue` lists in parentheses on lines of their own. A statement goes on behind a line that ends in
/// `\`.
pub(crate) fn lines(text: &[u8]) -> Vec<(u64, usize, &[u8])> {
    lines_and_list(text).0
}

/// A statement: the number of its first line, the offset of its first byte, and its text.
type SubmitLine<'t> = (u64, usize, &'t [u8]);

/// The statements as in [`lines`], and true if the list of items of a `queue` has no end.
fn lines_and_list(text: &[u8]) -> (Vec<SubmitLine<'_>>, bool) {
    let end_of = |start: usize| memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
    let (mut found, mut listing, mut number, mut start) = (Vec::new(), false, 1, 0);
    while start < text.len() {
        let mut end = end_of(start);
        let line = text[start..end].trim_ascii();
        if listing {
            // `)` begins the last line; that of `in (a, b` may follow an item.
            listing = !(line.starts_with(b")") || line.ends_with(b")") && !line.contains(&b'('));
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
            listing = queue_arguments(line)
                .and_then(|rest| Some(&rest[memchr::memrchr(b'(', rest)?..]))
                .is_some_and(|items| !items.contains(&b')'));
            found.push((number, start, statement.strip_suffix(b"\r").unwrap_or(statement)));
        }
        number += memchr::memchr_iter(b'\n', &text[start..end]).count() as u64 + 1;
        start = end + 1;
    }
    (found, listing)
}

/// The last line of a text, without blanks around it.
fn last_line(text: &[u8]) -> &[u8] {
    text[memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1)..].trim_ascii()
}

/// A statement on one line: blanks replace what continues it and of comments between its lines, so that all
/// else stays where it is.
fn joined(statement: &[u8]) -> Vec<u8> {
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

/// Checks the expressions of a submit file.
pub fn lint(file: &Arc<str>, text: &[u8], versions: &LintVersions) -> Vec<Diagnostic> {
    let own = Own { versions: versions.clone(), ..Own::of(text) };
    let (all, endless) = lines_and_list(text);
    let mut found: Vec<Diagnostic> =
        all.iter().flat_map(|(number, start, line)| command((file, &own), line, (*number, *start))).collect();
    let overwritten = overwritten(&all);
    found.retain(|one| one.severity != Severity::Error || !overwritten.contains(&one.range().0.line));
    let statements: Vec<String> =
        all.iter().map(|(.., line)| String::from_utf8_lossy(&joined(line)).into_owned()).collect();
    let referenced = |name: &str| own.macros.contains(&name.to_ascii_uppercase().into_bytes());
    let refused = refusals::check(&statements, endless, &referenced).into_iter().filter_map(|(at, one)| {
        let (number, _, line) = all.get(at)?;
        let excerpt = Excerpt { text: line.to_vec(), subject: None };
        Some(placed(one, file, *number, excerpt, None))
    });
    // What one rule says of a line, another need not repeat.
    let lines: Vec<u64> = found.iter().map(|one| one.range().0.line).collect();
    let refused: Vec<Diagnostic> = refused.filter(|one| !lines.contains(&one.range().0.line)).collect();
    found.extend(refused);
    found.extend(all.iter().filter_map(|(number, _, line)| comment_in_statement(file, line, *number)));
    found.sort_by_key(|one| one.range().0.line);
    found
}

/// The numbers of the lines whose command is set again later, outside of any `if`.
fn overwritten(all: &[(u64, usize, &[u8])]) -> BTreeSet<u64> {
    let (mut seen, mut found, mut depth) = (BTreeSet::new(), BTreeSet::new(), 0_usize);
    for (number, _, line) in all.iter().rev() {
        let line = line.trim_ascii();
        let word = line.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        if word.eq_ignore_ascii_case(b"endif") {
            depth += 1;
        } else if word.eq_ignore_ascii_case(b"if") {
            depth = depth.saturating_sub(1);
        }
        let Some(equals) = memchr::memchr(b'=', line) else { continue };
        let name = refusals::command_name(&String::from_utf8_lossy(&line[..equals]));
        if seen.contains(&name) {
            found.insert(*number);
        } else if depth == 0 {
            seen.insert(name);
        }
    }
    found
}

/// A comment between the lines of a statement that does not end in a backslash: it ends the statement.
fn comment_in_statement(file: &Arc<str>, statement: &[u8], number: u64) -> Option<Diagnostic> {
    let mut offset = 0;
    for (at, line) in statement.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        if at > 0 && text.starts_with(b"#") && !text.ends_with(b"\\") {
            let start = offset + line.len() - line.trim_ascii_start().len();
            let finding = Diagnostic::error(
                "a comment inside of a continued value ends it",
                Span::new(start, start + text.len()),
            );
            let help = "end the comment line with `\\`, or move it above the command";
            let excerpt = Excerpt { text: statement.to_vec(), subject: None };
            return Some(placed(finding.help(help).code("comment-in-value"), file, number, excerpt, None));
        }
        offset += line.len();
    }
    None
}

/// The names that a submit file defines, upper case.
#[derive(Default)]
struct Own {
    /// Attributes it gives its jobs.
    attributes: BTreeSet<Vec<u8>>,
    /// Macros that something refers to, or that `queue` sets.
    macros: BTreeSet<Vec<u8>>,
    /// The versions in which expressions are read and compared.
    versions: LintVersions,
}

impl Own {
    fn of(text: &[u8]) -> Self {
        let mut own = Own::default();
        for line in lines(text).into_iter().map(|(.., line)| line.trim_ascii()) {
            let name = line[..memchr::memchr(b'=', line).unwrap_or(0)].trim_ascii().to_ascii_uppercase();
            if let Some(name) = name.strip_prefix(b"+").or_else(|| name.strip_prefix(b"MY.")) {
                own.attributes.insert(name.to_vec());
            }
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            for at in memchr::memchr_iter(b'(', line) {
                let rest = &line[at + 1..];
                own.macros.insert(rest[..rest.iter().take_while(|byte| is_word(byte)).count()].to_ascii_uppercase());
            }
            // Names without a sign of their own: `queue name from …`, `if defined name`, `$CHOICE(Process, names)`.
            let first = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let tests = [b"if".as_slice(), b"elif"].iter().any(|word| line[..first].eq_ignore_ascii_case(word));
            let names = if queue_arguments(line).is_some() || tests { Some(line) } else { called(line) };
            if let Some(names) = names {
                own.macros.extend(names.split(|byte| !is_word(byte)).map(<[u8]>::to_ascii_uppercase));
            }
        }
        own
    }

    /// The reading of values, with places.
    fn options(&self) -> ParseOptions {
        let semantics = self.versions.read;
        ParseOptions { quoting: Quoting::Old, semantics, places: true, ..ParseOptions::default() }
    }

    /// Returns true if a word is probably not an attribute. Custom attributes of slots mostly have capitals.
    fn is_unknown_word(&self, word: Name) -> bool {
        let capital = word.display().bytes().any(|byte| byte.is_ascii_uppercase());
        !(capital || is_known(word.folded()) || self.attributes.contains(&word.folded().to_ascii_uppercase()))
    }
}

/// A line from the first function on that it calls, `$NAME(arguments)`: a part of these may be the name of a macro.
fn called(line: &[u8]) -> Option<&[u8]> {
    let rests = memchr::memchr_iter(b'$', line).map(|dollar| &line[dollar + 1..]);
    let mut calls = rests.filter(|rest| {
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        name > 0 && rest.get(name) == Some(&b'(')
    });
    calls.next()
}

/// A diagnostic of a name that looks like a misspelled command.
fn misspelled(
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

/// The finding about a request: a name that is misspelled, a number in quotes, or in another unit.
fn request(
    (file, own): (&Arc<str>, &Own),
    line: &[u8],
    (name, equals): (&str, usize),
    (number, start): (u64, usize),
) -> Option<Diagnostic> {
    let value = equals + 1 + line[equals + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = String::from_utf8_lossy(line[value.min(line.len())..].trim_ascii_end()).into_owned();
    let span = Span::new(value, value + text.len());
    let unit = match name {
        "request_memory" => Some("MiB"),
        "request_disk" => Some("KiB"),
        _ => None,
    };
    if let Some(misspelled) = misspelled((file, own), line, line[..equals].trim_ascii(), (number, start)) {
        return Some(misspelled);
    }
    let finding = if text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
        let message = format!("`{name}` is a string, which slots compare with a number: the result is ERROR");
        Diagnostic::warning(message, span).help("write the number without quotes").code("type-clash")
    } else if let Some(fault) = not_an_amount(&text, unit.is_some(), &own.options()) {
        fault.shifted(value)
    } else {
        let (unit, amount) = (unit?, text.parse::<u32>().ok()?);
        let looks = wrong_size(unit, f64::from(amount))?;
        let message = format!("`{name}` without a unit is in {unit}, and the number is probably {looks}");
        Diagnostic::warning(message, span).help(format!("write a unit, as in `{text}GB`")).code("odd-unit")
    };
    let excerpt = Excerpt { text: line.to_vec(), subject: Some(name.to_owned()) };
    let fix = shifted_fix(&finding, start);
    Some(placed(finding, file, number, excerpt, fix))
}

/// The error of a requested amount that is neither an expression nor, if it is a size, a number with a unit.
fn not_an_amount(text: &str, size: bool, options: &ParseOptions) -> Option<Diagnostic> {
    let letters = text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let unit = letters.trim().to_ascii_lowercase();
    let is_size =
        letters.len() < text.len() && matches!(unit.as_str(), "k" | "kb" | "m" | "mb" | "g" | "gb" | "t" | "tb");
    if text.is_empty() || size && is_size || text.contains('$') {
        return None;
    }
    let error = parse_expr(text.as_bytes(), options).err()?;
    Some(unparsed(text.as_bytes(), &error, options))
}

/// The diagnostics of a statement.
fn command((file, own): (&Arc<str>, &Own), statement: &[u8], (number, start): (u64, usize)) -> Vec<Diagnostic> {
    let line = joined(statement);
    let line = line.as_slice();
    let equals = memchr::memchr(b'=', line).filter(|_| !statement.trim_ascii().starts_with(b"#"));
    let Some(equals) = equals else { return Vec::new() };
    let name = line[..equals].trim_ascii();
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let attribute = lower.strip_prefix('+').or_else(|| lower.strip_prefix("my."));
    let unknown_word = |word: Name| own.is_unknown_word(word);
    let unknown_word: Option<&dyn Fn(Name) -> bool> = Some(&unknown_word);
    let role = if lower == "periodic_release" {
        RELEASE
    } else if lower == "requirements" {
        MATCH
    } else if matches!(lower.as_str(), "rank" | "preferences") {
        MATCH_VALUE
    } else if CONDITIONS.contains(&lower.as_str()) {
        LONE_JOB
    } else if lower.starts_with("request_") {
        return request((file, own), statement, (&lower, equals), (number, start)).into_iter().collect();
    } else if commands::kind(&lower) == Some(CommandKind::Expression) || attribute.is_some() {
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
    let context = LintContext { defined, unknown_word, versions, ..LintContext::of(text, Quoting::Old, role) };
    let found = lint_with_macros(&context, |_| {
        let attribute = attribute.filter(|_| memchr::memchr(b'$', text).is_none());
        let options = own.options();
        let (Some(attribute), Ok(expr)) = (attribute, parse_expr(text, &options)) else { return Vec::new() };
        let text_attribute = unquoted_text(Name::new(attribute), text, &expr, &own_attribute);
        let known = |word: Name| is_known(word.folded()) || own_attribute(word);
        text_attribute.or_else(|| published(text, &options, &known)).into_iter().collect()
    });
    // Text after a comment between the lines may not belong to the value.
    let comment = origin::comment_within(statement);
    let place = |found: Diagnostic| {
        let fix = shifted_fix(&found, start + value).filter(|_| comment.is_none());
        let found = match comment.filter(|_| is_slip(found.code)) {
            Some(line) => beside_comment(found, number + line),
            None => found,
        };
        let subject = Some(String::from_utf8_lossy(name).into_owned());
        let excerpt = Excerpt { text: statement.to_vec(), subject };
        placed(found.shifted(value), file, number, excerpt, fix)
    };
    found.into_iter().map(place).collect()
}

/// Checks an expression whose macros are expanded later, also with a rule of the caller; it is given the text with
/// words in place of macros.
pub(super) fn lint_with_macros(
    context: &LintContext<'_>,
    rule: impl FnOnce(&[u8]) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if let Some(misused) = misused_macro(context.text) {
        return vec![misused];
    }
    let Some(open) = without_macros(context.text) else { return Vec::new() };
    let is_open = |name: Name| open.names.iter().any(|known| known.0 == name);
    let defined = |name: Name| is_open(name) || (context.defined)(name);
    let mut found = lint_expression(&LintContext { text: &open.text, defined: &defined, ..*context });
    found.extend(rule(&open.text));
    if !open.names.is_empty() {
        unknowns::retain(&open.text, &is_open, &mut found);
        for found in &mut found {
            open.restore(found);
        }
    }
    found
}

/// A text whose macros are words of the same length, so that places stay.
struct WithoutMacros {
    text: Vec<u8>,
    /// The words, and the macros they replace.
    names: Vec<(Name, String)>,
}

impl WithoutMacros {
    /// Writes macros for their words in what was found.
    fn restore(&self, finding: &mut Diagnostic) {
        let restored = |message: &str| {
            let message = message.replace(char::from(OPEN), "_");
            self.names.iter().fold(message, |text, (name, written)| text.replace(&*name.display(), written))
        };
        finding.message = restored(&finding.message);
        finding.help = finding.help.as_deref().map(|help| restored(help).into());
        if finding.fix.as_ref().is_some_and(|fix| restored(&fix.text) != fix.text) {
            finding.fix = None;
        }
    }
}

/// A text with a word in place of every `$(name)`, `$(name:default)`, `$$(name)` and `$FUNCTION(arguments)`: what they
/// will be is known when jobs are made. `None` if a `$` begins none of these.
fn without_macros(text: &[u8]) -> Option<WithoutMacros> {
    let mut open = WithoutMacros { text: text.to_vec(), names: Vec::new() };
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(dollar) = memchr::memchr(b'$', &text[at..]) {
        let start = at + dollar;
        let letters = text[start..].iter().take_while(|byte| **byte == b'$').count();
        let name = text[start + letters..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let bracket = start + letters + name.count();
        if text.get(bracket) != Some(&b'(') || letters > 2 {
            return None;
        }
        let end = bracket + parenthesized(&text[bracket..])?;
        for byte in &mut open.text[start..end] {
            if !byte.is_ascii_alphanumeric() {
                *byte = b'_';
            }
        }
        // Different macros may look alike then: nothing is said.
        let name = Name::new(&open.text[start..end]);
        let written = String::from_utf8_lossy(&text[start..end]).into_owned();
        if open.names.iter().any(|(known, other)| *known == name && *other != written) {
            return None;
        }
        open.names.push((name, written));
        places.push(start);
        at = end;
    }
    for place in unknowns::within_strings(text, &places) {
        open.text[place] = OPEN;
    }
    Some(open)
}

/// `$(JobStatus != 3)`: a macro that is none.
fn misused_macro(text: &[u8]) -> Option<Diagnostic> {
    for at in memchr::memmem::find_iter(text, b"$(") {
        let name = &text[at + 2..];
        let end = name.iter().position(|byte| matches!(byte, b')' | b':' | b'('))?;
        let plain = name[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
        if !plain && name[end] == b')' {
            let span = Span::new(at, at + end + 3);
            let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
            let finding = Diagnostic::error(format!("`{shown}` is not a macro reference and is not expanded"), span);
            let help = "`$(NAME)` can only contain the name of a macro; write a condition in plain parentheses";
            return Some(finding.help(help).code("leftover-macro"));
        }
    }
    None
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

    #[test]
    fn commands_that_are_expressions_are_looked_at() {
        let text = "executable = /bin/sleep\nrequirements = OpSys == LINUX\n+Tag = \"x\" +\n\
                    periodic_remove = $(JobStatus != 3)\narguments = a = b\nrequest_memory = 2G\nqueue 5\n";
        assert!(is_submit(text.as_bytes()));
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
            "executable = /bin/a\nqueue 2 a,b in (outputs = 3,\n  requirments = x\n)",
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
