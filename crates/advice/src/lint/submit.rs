//! Submit files: the commands whose values are expressions. One file: one walk over the statements makes all these checks, and a
//! fifth of the lines are tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ads::circular;
use super::attributes::{is_known, misspelled_own, only_in};
use super::commands::{self, CommandKind};
use super::comparison::{assigned as assigned_value, wrong_size};
use super::expression::{LintContext, Role, lint as lint_expression, unparsed};
use super::knobs::{HOLD, LONE_JOB, MATCH, MATCH_VALUE, ON_ACCESS_POINT, RELEASE};
use super::rules::{published, unquoted_text};
use super::submit_values::{is_size_unit, may_expand};
use super::units::{in_unit, meant_amount};
use super::versions::LintVersions;
use super::{beside_comment, is_slip, own_types, placed, refusals, shifted_fix, unknowns};
use crate::submit::bytes_of_unit;
use crate::submit::queue::{ItemKind, ItemList, QueueStatement, number};
use crate::submit::statements::{SubmitLine, joined, queue_arguments, statements};
use classmate::internal::analysis::evaluate::{Analysis, OPEN};
use classmate::internal::analysis::values::{Values, kind};
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions, Span};
use classmate_config::internal::config::check::seconds_of_days;
use classmate_config::internal::config::{BYTE_ORDER_MARK, origin, parenthesized};

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

/// Checks a submit file.
pub fn lint(file: &Arc<str>, text: &[u8], versions: &LintVersions) -> Vec<Diagnostic> {
    let own = Own { versions: versions.clone(), ..Own::of(text) };
    let (all, endless) = statements(text);
    let lines: Vec<String> = all.iter().map(|(.., line)| String::from_utf8_lossy(&joined(line)).into_owned()).collect();
    let reading = refusals::read(&lines, endless);
    let mut found: Vec<Diagnostic> = Vec::new();
    // The number of findings about each statement as a whole, and the last one of them.
    let mut of_reading: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (at, (number, start, line)) in all.iter().enumerate().filter(|(at, _)| !reading.unread.contains(at)) {
        let mut of_line = command((file, &own), line, (*number, *start));
        // The error of a value that another one replaces is without effect.
        of_line.retain(|one| one.severity != Severity::Error || !reading.replaced.contains(&at));
        found.extend(of_line);
    }
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
        let mut placed = match earlier {
            Some(earlier) => {
                let (first, one, both) = with_earlier(text, earlier, (*start, line), one);
                placed(one, file, first, Excerpt { text: both, subject: None }, fix)
            }
            None => placed(one, file, *number, Excerpt { text: line.to_vec(), subject: None }, fix),
        };
        placed.severity = severity;
        found.push(placed);
    }
    found.extend(byte_order_mark(file, text));
    found.extend(all.iter().filter_map(|(number, _, line)| comment_in_statement(file, line, *number)));
    found.extend(of_other_system(file, &all));
    found.extend(short_row(file, text, &all));
    found.extend(all.iter().filter_map(|(number, _, line)| swallowed(file, line, *number)));
    for (count, last) in of_reading.into_values().filter(|(count, _)| *count > MAX_OF_STATEMENT) {
        if let Some(last) = found.get_mut(last) {
            *last = last.clone().more_help(more(count));
        }
    }
    found.sort_by_cached_key(|one| one.range().0.line);
    found
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

/// A byte order mark at the beginning: `condor_submit` takes it for a part of the first name.
fn byte_order_mark(file: &Arc<str>, text: &[u8]) -> Option<Diagnostic> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK)?;
    let line = &text[..text.len() - rest.len() + memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let message = "the file starts with a byte order mark, which is not valid in a name";
    let found = Diagnostic::error(message, Span::new(0, BYTE_ORDER_MARK.len())).code("rejected-submit");
    let excerpt = Excerpt { text: line.to_vec(), subject: None };
    Some(placed(found.help("save the file as UTF-8 without the mark"), file, 1, excerpt, None))
}

/// `#SBATCH --mem=4G`: a comment with options of another batch system.
fn of_other_system(file: &Arc<str>, all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
    const MARKS: [&[u8]; 4] = [b"#SBATCH -", b"#PBS -", b"#$ -", b"#BSUB -"];
    let (number, _, line) = all.iter().find(|(.., line)| MARKS.iter().any(|mark| line.starts_with(mark)))?;
    let shown = String::from_utf8_lossy(line.trim_ascii()).into_owned();
    let finding = Diagnostic::warning(format!("`{shown}` is a comment"), Span::new(0, shown.len()));
    let help = "HTCondor has commands for requests, such as `request_memory` and `request_cpus`";
    let excerpt = Excerpt { text: line.to_vec(), subject: None };
    Some(placed(finding.help(help).code("odd-command"), file, *number, excerpt, None))
}

/// A row of items with fewer columns than `queue` has variables: the last ones are empty.
fn short_row(file: &Arc<str>, text: &[u8], all: &[SubmitLine<'_>]) -> Option<Diagnostic> {
    /// Rows that are looked at.
    const MAX_ROWS: usize = 10_000;
    let (number, start, statement) =
        all.iter().find(|(.., line)| queue_arguments(joined(line).trim_ascii()).is_some())?;
    let line = joined(statement);
    let arguments = String::from_utf8_lossy(queue_arguments(line.trim_ascii())?).into_owned();
    let queue = QueueStatement::parse(&arguments).ok()?;
    let is_list = queue.kind == ItemKind::Rows && matches!(queue.list, ItemList::Lines(first) if first.is_empty());
    if !is_list || queue.format.has_header() || queue.names.len() < 2 {
        return None;
    }
    let lines = memchr::memchr_iter(b'\n', statement).count() as u64;
    let rest = text.get(start + statement.len() + 1..)?;
    for (at, row) in rest.split(|byte| *byte == b'\n').enumerate().take(MAX_ROWS) {
        let items = row.trim_ascii();
        if items.starts_with(b")") {
            return None;
        }
        // A separator of its own, and macros, may hold anything.
        if items.is_empty() || items.starts_with(b"#") || items.iter().any(|byte| *byte == 0x1F || *byte == b'$') {
            continue;
        }
        let is_separator = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        let words = items.split(is_separator).filter(|item| !item.is_empty()).count();
        let columns = items.split(|byte| *byte == b',').count().max(words);
        let Some(missing) = queue.names.get(columns) else { continue };
        let shown = String::from_utf8_lossy(items).into_owned();
        let column = row.len() - row.trim_ascii_start().len();
        let message = format!("`{shown}` has {columns} of {} columns, so `{missing}` is empty", queue.names.len());
        let finding = Diagnostic::warning(message, Span::new(column, column + items.len()));
        let excerpt = Excerpt { text: row.to_vec(), subject: None };
        let finding = finding.help("write a value for each variable of `queue`").code("odd-command");
        return Some(placed(finding, file, number + lines + 1 + at as u64, excerpt, None));
    }
    None
}

/// A command on a line that the `\` at the end of the line before it makes a part of another value.
fn swallowed(file: &Arc<str>, statement: &[u8], number: u64) -> Option<Diagnostic> {
    let mut offset = 0;
    for (at, line) in statement.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.trim_ascii();
        let equals = memchr::memchr(b'=', text).unwrap_or_default();
        let name = String::from_utf8_lossy(text[..equals].trim_ascii_end()).to_ascii_lowercase();
        let compares = text.get(equals + 1).is_none_or(|next| b"=?!".contains(next));
        let queues = queue_arguments(text).is_some_and(|rest| rest.trim_ascii().iter().all(u8::is_ascii_digit));
        let is_command = !compares && commands::is_listed(&name);
        let command = if queues {
            Some(("queue".to_owned(), text.len()))
        } else {
            is_command.then(|| (format!("{name} ="), name.len()))
        };
        if let Some((shown, length)) = command.filter(|_| at > 0) {
            let start = offset + line.len() - line.trim_ascii_start().len();
            let message = format!("`{shown}` is a part of the value: the line before it ends with `\\`");
            // The sign is what is too much.
            let sign = memchr::memrchr(b'\\', &statement[..offset]).unwrap_or(start);
            let finding = Diagnostic::warning(message, Span::new(sign, sign + 1));
            let finding = finding.related(Span::new(start, start + length), "a command of its own");
            let excerpt = Excerpt { text: statement.to_vec(), subject: None };
            let help = "remove the `\\` at the end of the line before it";
            return Some(placed(finding.help(help).code("odd-command"), file, number, excerpt, None));
        }
        offset += line.len();
    }
    None
}

/// Findings in one statement that are reported; others are counted.
const MAX_OF_STATEMENT: usize = 20;

/// The words for findings that are only counted, of a number of findings.
fn more(count: usize) -> String {
    format!("there are {} more findings in this statement", count - MAX_OF_STATEMENT)
}

/// The number of lines in a statement before a place in it.
fn line_within(statement: &[u8], place: usize) -> u64 {
    memchr::memchr_iter(b'\n', &statement[..place.min(statement.len())]).count() as u64
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
    /// Their values, as far as they are known.
    ad: ClassAd,
    /// The values of those that have one value.
    types: ClassAd,
    /// The comment at the beginning of the file.
    header: String,
    /// True if the jobs run on the access point.
    is_local: bool,
    /// Macros that something refers to, or that `queue` sets.
    macros: BTreeSet<Vec<u8>>,
    /// The one value, with a unit, of each macro that has such: names in lower case.
    sizes: BTreeMap<String, String>,
    /// The comments right above statements, by the offsets of these.
    comments: BTreeMap<usize, String>,
    /// The values of commands that give a reason: names in lower case.
    reasons: BTreeMap<String, String>,
    /// The versions in which expressions are read and compared.
    versions: LintVersions,
}

impl Own {
    fn of(text: &[u8]) -> Self {
        let mut own = Own::default();
        let (mut comment, mut is_header) = (String::new(), true);
        for (_, start, line) in statements(text).0 {
            let line = line.trim_ascii();
            if line.starts_with(b"#") {
                comment.push_str(&String::from_utf8_lossy(line));
                comment.push(' ');
            } else if !comment.is_empty() {
                if is_header {
                    own.header.clone_from(&comment);
                }
                own.comments.insert(start, std::mem::take(&mut comment));
            }
            is_header &= line.starts_with(b"#");
            let name = line[..memchr::memchr(b'=', line).unwrap_or(0)].trim_ascii().to_ascii_uppercase();
            if let Some(name) = name.as_slice().strip_prefix(b"+").or_else(|| name.strip_prefix(b"MY.")) {
                let is_first = own.attributes.insert(name.to_vec());
                let value = &line[memchr::memchr(b'=', line).map_or(line.len(), |at| at + 1)..];
                if let Ok(expr) = parse_expr(value.trim_ascii(), &own.options()) {
                    own.ad.insert_expr(Name::new(name), &expr);
                    if is_first {
                        own.types.insert_expr(Name::new(name), &expr);
                    } else {
                        own.types.remove(Name::new(name));
                    }
                }
            }
            let value = line[(memchr::memchr(b'=', line).map_or(0, |at| at + 1))..].trim_ascii();
            let value = String::from_utf8_lossy(value).into_owned();
            let lower = String::from_utf8_lossy(&name).to_ascii_lowercase();
            if matches!(lower.as_str(), "universe" | "jobuniverse") {
                own.is_local = matches!(value.to_ascii_lowercase().as_str(), "local" | "scheduler" | "7" | "12");
            }
            if lower.ends_with("_reason") {
                own.reasons.insert(lower.clone(), value.clone());
            }
            let has_unit = is_amount(&value) && !value.ends_with(|sign: char| sign.is_ascii_digit() || sign == '.');
            // Of a name with several values, none is known.
            let known = if has_unit && !own.sizes.contains_key(&lower) { value } else { String::new() };
            if has_unit || own.sizes.contains_key(&lower) {
                own.sizes.insert(lower, known);
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

    /// The comment above the statement at an offset, and the reason of a command (lower case).
    fn beside(&self, start: usize, name: &str) -> String {
        let reason = self.reasons.get(&format!("{name}_reason")).map_or("", String::as_str);
        format!("{}{reason}", self.comments.get(&start).map_or("", String::as_str))
    }

    /// The finding about a number of seconds of which a comment says another amount. The comment at the beginning of the file
    /// counts if it has the same number.
    fn said_otherwise(&self, start: usize, name: &str, number: &str) -> Option<Diagnostic> {
        let mut of_file = self.header.split(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
        said_otherwise(name, number, &self.beside(start, name))
            .or_else(|| said_otherwise(name, number, &self.header).filter(|_| of_file.any(|word| word == number)))
    }

    /// The role of `requirements`.
    fn requirements(&self) -> Role {
        if self.is_local { ON_ACCESS_POINT } else { MATCH }
    }

    /// The reading of values, with places.
    fn options(&self) -> ParseOptions {
        let semantics = self.versions.read;
        ParseOptions { quoting: Quoting::Old, semantics, places: true, ..ParseOptions::default() }
    }

    /// The finding about a value that is a word of which nothing is known.
    fn unknown_value(&self, text: &[u8]) -> Option<Diagnostic> {
        let own = |word: Name| self.attributes.contains(&word.folded().to_ascii_uppercase());
        let no_macro = memchr::memchr(b'$', text).is_none();
        no_macro.then(|| published(text, &self.options(), &|word| is_known(word.folded()) || own(word)))?
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
        "request_memory" | "gpus_minimum_memory" => Some("MiB"),
        "request_disk" => Some("KiB"),
        _ => None,
    };
    if let Some(misspelled) = misspelled((file, own), line, line[..equals].trim_ascii(), (number, start)) {
        return Some(misspelled);
    }
    let is_size = unit.is_some() || name.starts_with("retry_request_") || name == "gpus_minimum_memory";
    let is_number = commands::is_listed(name);
    let finding = if is_number && text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
        let message = format!("`{name}` is a string, which slots compare with a number: the result is ERROR");
        Diagnostic::warning(message, span).help("write the number without quotes").code("type-clash")
    } else if let Some(list) = grouped_digits(name, &text) {
        list.shifted(value)
    } else if let Some(fault) = not_an_amount(&text, is_size, &own.options()) {
        let attribute = match name {
            "request_memory" => Some(&b"RequestMemory"[..]),
            "request_disk" => Some(&b"RequestDisk"[..]),
            _ => None,
        };
        in_unit(fault, text.as_bytes(), attribute).shifted(value)
    } else if let Some(word) = own.unknown_value(text.as_bytes()) {
        number_expected(word, name).shifted(value)
    } else if let Some(fault) = is_number.then(|| no_amount(name, &text).or_else(|| other_unit(name, &text))).flatten()
    {
        fault.shifted(value)
    } else {
        without_unit((own, start), (name, unit?), &text, span)?
    };
    let excerpt = Excerpt { text: line.to_vec(), subject: Some(name.to_owned()) };
    let fix = shifted_fix(&finding, start);
    Some(placed(finding, file, number, excerpt, fix))
}

/// The finding about a request without a unit: a number in another one than that of the request.
fn without_unit((own, start): (&Own, usize), (name, unit): (&str, &str), text: &str, span: Span) -> Option<Diagnostic> {
    let Ok(amount) = text.parse::<u32>() else { return product(name, text, span) };
    if let Some((meant, _)) = meant_amount(&own.beside(start, name), f64::from(amount), unit) {
        let message = format!("`{name}` without a unit is in {unit}, and the comment says `{}`", meant.shown);
        let help = format!("write `{}`", meant.shown.replace([' ', '-'], ""));
        return Some(Diagnostic::warning(message, span).code("odd-unit").help(help));
    }
    let looks = unlikely_request(name, unit, amount)?;
    let message = format!("`{name}` without a unit is in {unit}, and the number is probably {looks}");
    let meant = match looks {
        "MiB" => "MB",
        looks if looks.starts_with("KiB") => "KB",
        _ => "GB",
    };
    Some(Diagnostic::warning(message, span).help(format!("write a unit, as in `{text}{meant}`")).code("odd-unit"))
}

/// `request_disk = 20 * 1024`: a product of numbers in another unit than the request.
fn product(name: &str, text: &str, span: Span) -> Option<Diagnostic> {
    let is_product = name == "request_disk" && text.contains('*') && !text.contains('$');
    let amount = number(text).filter(|amount| is_product && *amount < f64::from(u32::MAX))?;
    let looks = unlikely_request(name, "KiB", amount as u32)?;
    let message = format!("`{name}` is in KiB, and `{text}` is probably {looks}");
    Some(Diagnostic::warning(message, span).code("odd-unit").help("write a number with a unit, as in `20GB`"))
}

/// A request that depends on what a job used in its last run: the first one has no value, and matches no slot.
fn undefined_at_first(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    const OF_RUNS: [&[u8]; 8] = [
        b"cpususage",
        b"exitcode",
        b"holdreasoncode",
        b"holdreasonsubcode",
        b"jobcurrentstartdate",
        b"lastremotehost",
        b"memoryusage",
        b"residentsetsize",
    ];
    let expr = parse_expr(text, options).ok().filter(|_| memchr::memchr(b'$', text).is_none())?;
    let (tree, root) = (expr.tree(), expr.root());
    let name = tree.references(root).map(|reference| reference.name).find(|name| OF_RUNS.contains(&name.folded()))?;
    let missing = |reference: Reference| {
        if OF_RUNS.contains(&reference.name.folded()) { Values::of_kinds(kind::UNDEFINED) } else { Values::any() }
    };
    let values = Analysis::new(tree, &missing).values(root);
    let only = |values: &Values| !values.has_defined() && !values.is_empty();
    let message = format!("`{name}` is UNDEFINED before the first run, and so is this: the job matches no slot");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("always-undefined");
    let help = format!("write `{name} =!= undefined && …`, or `MAX({{ 1024, … }})`, which leaves it out");
    only(&values).then(|| found.help(help))
}

/// The unit that the amount of a request is probably in, if it is not its own.
pub(super) fn unlikely_request(name: &str, unit: &str, amount: u32) -> Option<&'static str> {
    // A few MiB are less than a job writes.
    let is_small = name == "request_disk"
        && (1..=65_536).contains(&amount)
        && (amount.is_multiple_of(1000) || amount.is_multiple_of(1024));
    // No program runs in a few MiB.
    let is_tiny = name == "request_memory" && (1..=MAX_TINY).contains(&amount);
    wrong_size(unit, f64::from(amount)).or(is_small.then_some("MiB")).or(is_tiny.then_some("GiB"))
}

/// MiB in which no program runs.
const MAX_TINY: u32 = 10;

/// `request_memory = 2048KB` and `request_memory = 20480GB`: a size that no program needs, or no machine has.
fn other_unit(name: &str, text: &str) -> Option<Diagnostic> {
    let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic() || sign == ' ');
    let number = digits.parse::<f64>().ok().filter(|_| name == "request_memory" && digits.len() < text.len())?;
    let unit = match text[digits.len()..].trim() {
        "b" | "B" => 1,
        word => bytes_of_unit(word)?,
    };
    let mib = number * unit as f64 / f64::from(1 << 20);
    let what = if mib <= f64::from(MAX_TINY) {
        "less than a program needs"
    } else if mib >= 4.0 * 1024.0 * 1024.0 {
        "more than a machine has"
    } else {
        return None;
    };
    let message = format!("`{name}` is `{text}`, which is {what}");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-unit");
    Some(found.help("write another unit, such as `GB`"))
}

/// The finding about a word of which nothing is known, where a number is expected: quotes do not help.
fn number_expected(mut found: Diagnostic, name: &str) -> Diagnostic {
    if found.fix.is_none() || name.ends_with("_reason") {
        return found;
    }
    found.fix = None;
    found.help("write a number, or an expression of known attributes")
}

/// `request_cpus = 1-4`, which is -3, and `request_gpus = true`.
fn no_amount(name: &str, text: &str) -> Option<Diagnostic> {
    let amount = number(text)?;
    let span = Span::new(0, text.len());
    if amount < 0.0 {
        let message = format!("`{name}` is {amount}, which every slot has");
        return Some(Diagnostic::warning(message, span).help("write the amount that a job needs").code("odd-command"));
    }
    if matches!(name, "request_cpus" | "request_gpus") && amount.fract() != 0.0 {
        let message = format!("`{name}` is {amount}, and a slot has a whole number of them");
        let found = Diagnostic::warning(message, span).code("odd-command");
        return Some(found.help(format!("write {}", amount.ceil())));
    }
    // More than the largest machines have.
    let most = match name {
        "request_cpus" => 4_096.0,
        "request_gpus" => 1_024.0,
        "request_memory" => 1e9,
        "request_disk" => 1e15,
        _ => f64::INFINITY,
    };
    if amount >= most {
        let found = Diagnostic::warning(format!("`{name}` is {amount}, more than a machine has"), span);
        return Some(found.help("write the amount that one job needs").code("odd-command"));
    }
    if name == "request_cpus" && amount == 0.0 {
        let found = Diagnostic::warning(format!("`{name}` is 0, and a job runs on a core"), span);
        return Some(found.help("write 1").code("odd-command"));
    }
    let is_truth = ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let message = format!("`{name}` is a boolean, and counts as {amount}");
    is_truth.then(|| Diagnostic::warning(message, span).help("write a number").code("type-clash"))
}

/// `request_memory = 4,096`: a list of sizes to try one after the other.
fn grouped_digits(name: &str, text: &str) -> Option<Diagnostic> {
    let (first, rest) = text.split_once(',')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let behind = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
    // `1,5GB`: a comma in the place of the point.
    if first.len() <= 2
        && digits(first)
        && !first.is_empty()
        && !behind.is_empty()
        && behind.len() < rest.len()
        && is_size_unit(behind)
    {
        let message = format!("`{name}` is {first} at first, and `{rest}` for the next try: `,` separates amounts");
        let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
        return Some(found.help(format!("write `{}`", text.replace(',', "."))));
    }
    let grouped =
        (1..=3).contains(&first.len()) && digits(first) && rest.split(',').all(|part| part.len() == 3 && digits(part));
    let message = format!("`{name}` is {first} at first, and `{rest}` for the next tries: `,` separates amounts");
    let span = Span::new(0, text.len());
    grouped.then(|| {
        Diagnostic::warning(message, span).help(format!("write `{}`", text.replace(',', ""))).code("odd-command")
    })
}

/// The error of a requested amount that is neither an expression nor, if it is a size, a number with a unit.
fn not_an_amount(text: &str, size: bool, options: &ParseOptions) -> Option<Diagnostic> {
    if text.is_empty() || size && is_amount(text) || may_expand(text) {
        return None;
    }
    // Sizes to try one after the other, with an expression perhaps at the end.
    let mut sizes = text.split(',').map(str::trim);
    let last = sizes.next_back().unwrap_or_default();
    let text = if size && sizes.clone().next().is_some() && sizes.all(is_amount) {
        if is_amount(last) {
            return None;
        }
        last
    } else {
        text
    };
    let error = parse_expr(text.as_bytes(), options).err()?;
    // `4GB # per core`
    if let Some(at) = text.find(" #").filter(|at| size && is_amount(text[..*at].trim_end())) {
        let message = format!("`{}` is a part of the value: comments have lines of their own", &text[at + 1..]);
        let found = Diagnostic::error(message, Span::new(at + 1, text.len()));
        return Some(found.help(format!("write `{}`", text[..at].trim_end())).code("syntax"));
    }
    // `4GB ram`: the size is right, and the text after it is not.
    let mut amounts = text.match_indices(' ').map(|(at, _)| at).filter(|at| is_amount(&text[..*at]));
    if let Some(at) =
        amounts.next_back().filter(|at| size && text[*at..].trim().bytes().all(|byte| byte.is_ascii_alphabetic()))
    {
        let message = format!("text after the size: found `{}`", text[at..].trim());
        let found = Diagnostic::error(message, Span::new(at + 1, text.len()));
        // A number alone may have meant another unit.
        let help = match text.as_bytes().get(at.wrapping_sub(1)) {
            Some(byte) if byte.is_ascii_alphabetic() => format!("write `{}`", &text[..at]),
            _ => format!("write a unit right after the number, such as `{}GB`", &text[..at]),
        };
        return Some(found.help(help).code("syntax"));
    }
    Some(unparsed(text.as_bytes(), &error, options))
}

/// Returns true for a number with a unit, or without one.
pub(super) fn is_amount(text: &str) -> bool {
    let letters = text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    letters.len() < text.len() && is_size_unit(letters)
}

/// The finding about `+request_gpus`: it sets an attribute that nothing reads.
fn command_as_attribute(attribute: &str, line: &[u8]) -> Option<Diagnostic> {
    // What begins with `remote_` is for the job of a remote access point.
    let is_command = attribute.contains('_') && !attribute.starts_with("remote_") && commands::is_listed(attribute);
    if !is_command || is_known(attribute.as_bytes()) {
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
    if attribute.contains('-') && !attribute.contains('$') {
        let start = line.len() - line.trim_ascii_start().len();
        let span = Span::new(start, start + memchr::memchr(b'=', &line[start..])?);
        let message = format!("no expression can refer to `{attribute}`: it would read a difference");
        let help = format!("write `+{}`", attribute.replace('-', "_"));
        return Some(Diagnostic::warning(message, span).help(help).code("ignored-text"));
    }
    let meant = misspelled_own(attribute.as_bytes())?;
    let end = memchr::memchr(b'=', line).map_or(line.len(), |equals| line[..equals].trim_ascii_end().len());
    let start = end.checked_sub(attribute.len())?;
    let shown = String::from_utf8_lossy(&line[start..end]);
    let finding = Diagnostic::warning(format!("HTCondor does not know an attribute `{shown}`"), Span::new(start, end));
    Some(finding.did_you_mean(Some(meant)).code("unknown-attribute"))
}

/// The role of the condition or rank that a command is.
fn role_of(command: &str, own: &Own) -> Option<Role> {
    match command {
        "periodic_release" => Some(RELEASE),
        "periodic_hold" => Some(HOLD),
        "requirements" => Some(own.requirements()),
        "rank" | "preferences" => Some(MATCH_VALUE),
        _ => CONDITIONS.contains(&command).then_some(LONE_JOB),
    }
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
    let named = |name: &str| command_as_attribute(name, line).or_else(|| misspelled_name(name, line));
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
    if let Some(found) = date(&lower, &shown).or_else(|| minutes_of_days(&lower, &shown)) {
        let excerpt = Excerpt { text: statement.to_vec(), subject: Some(String::from_utf8_lossy(name).into_owned()) };
        return vec![placed(found.shifted(value), file, number, excerpt, None)];
    }
    let beside = || own.beside(start, &lower);
    let context =
        LintContext { defined, unknown_word, versions, beside: &beside, ..LintContext::of(text, Quoting::Old, role) };
    let of_macro = expanded_size(own, text);
    let mut found = lint_with_macros(&context, |_| {
        if lower == "require_gpus" {
            return of_gpus(text, &own.options());
        }
        if role == MATCH_VALUE
            && let Some(found) = of_rank(text, own, &lower)
        {
            return vec![found];
        }
        let attribute = attribute.filter(|_| memchr::memchr(b'$', text).is_none());
        let options = own.options();
        if attribute.is_none() && kind == Some(CommandKind::Expression) && role == Role::default() {
            let found = own.unknown_value(text).map(|found| number_expected(found, &lower));
            return found.or_else(|| string_for_number(&lower, text, &own.options())).into_iter().collect();
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
    if found.is_empty() && lower.starts_with("request_") {
        found.extend(undefined_at_first(text, &own.options()));
    }
    let count = found.len();
    found.truncate(MAX_OF_STATEMENT);
    if let Some(last) = found.last_mut().filter(|_| count > MAX_OF_STATEMENT) {
        *last = last.clone().more_help(more(count));
    }
    found.into_iter().map(|found| of_value(found, (file, name), statement, (number, start), value)).collect()
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

/// The findings about the properties of a GPU, which have no prefix: `Capability`, not `CUDACapability`.
fn of_gpus(text: &[u8], options: &ParseOptions) -> Vec<Diagnostic> {
    const SHORT: [(&str, &str); 7] = [
        ("globalmemory", "GlobalMemoryMb"),
        ("globalmemorymib", "GlobalMemoryMb"),
        ("memory", "GlobalMemoryMb"),
        ("memorymb", "GlobalMemoryMb"),
        ("name", "DeviceName"),
        ("devicememory", "GlobalMemoryMb"),
        ("computecapability", "Capability"),
    ];
    let Ok(expr) = parse_expr(text, options) else { return Vec::new() };
    let tree = expr.tree();
    let finding = |id| {
        if let Some(reference) = tree.reference(id) {
            let name = reference.name.display().into_owned();
            let lower = name.to_ascii_lowercase();
            if let Some((_, meant)) = SHORT.iter().find(|(short, _)| *short == lower) {
                let message = format!("`{name}` is not a property of a GPU");
                let found = Diagnostic::warning(message, tree.span(id)?).help(format!("write `{meant}`"));
                return Some(found.code("unseen-attribute"));
            }
            let property = ["cuda", "gpus_"]
                .iter()
                .find_map(|prefix| Some(&name[lower.strip_prefix(prefix).map(|_| prefix.len())?..]))?;
            let message = format!("`{name}` is not a property of a GPU: the properties have no prefix");
            return Some(
                Diagnostic::warning(message, tree.span(id)?)
                    .help(format!("write `{property}`"))
                    .code("unseen-attribute"),
            );
        }
        let Node::Binary(op, left, right) = *tree.node(id) else { return None };
        let name = tree.reference(tree.bare(left)).filter(|_| matches!(op.precedence(), 6 | 7))?.name;
        let span = tree.span(id)?;
        if let Node::Attr(word) = tree.node(tree.bare(right))
            && matches!(name.folded(), b"devicename" | b"deviceuuid")
        {
            let message = format!("`{word}` without quotes is an attribute, which a GPU does not have");
            let help = format!("write `{name} {} \"{word}\"`", op.symbol());
            return Some(Diagnostic::warning(message, span).help(help).code("unquoted-word"));
        }
        match (name.folded(), tree.node(tree.bare(right))) {
            (
                b"capability"
                | b"globalmemorymb"
                | b"driverversion"
                | b"maxsupportedversion"
                | b"computeunits"
                | b"clockmhz",
                Node::Literal(Literal::Str(text)),
            ) => {
                let message = format!("`{name}` is a number: its comparison with a string is ERROR");
                let help = format!("write `{name} {} {}`", op.symbol(), String::from_utf8_lossy(text));
                Some(Diagnostic::warning(message, span).help(help).code("type-clash"))
            }
            (b"globalmemorymb", Node::Literal(Literal::Int(number))) => {
                let looks = wrong_size("MiB", *number as f64)?;
                let message = format!("`{name}` is in MiB, and the number is probably {looks}");
                Some(Diagnostic::warning(message, span).help(format!("write `{number} * 1024`")).code("odd-unit"))
            }
            _ => None,
        }
    };
    (tree.first_of(expr.root())..=expr.root()).filter_map(finding).collect()
}

/// The error of an expression with a macro whose value has a unit: `TARGET.Memory >= $(request_memory)`.
fn expanded_size(own: &Own, text: &[u8]) -> Option<Diagnostic> {
    let text = String::from_utf8_lossy(text).into_owned();
    let references = text.match_indices("$(").filter(|(at, _)| !text[..*at].ends_with('$'));
    references.into_iter().find_map(|(at, _)| {
        let end = at + text[at..].find(')')? + 1;
        let size = own.sizes.get(&text[at + 2..end - 1].to_ascii_lowercase()).filter(|size| !size.is_empty())?;
        let (before, after) = (text[..at].trim_end(), text[end..].trim_start());
        let is_alone = before.ends_with(['<', '>', '=']) && (after.is_empty() || after.starts_with(['&', '|', ')']));
        let message = format!("`{}` is `{size}`, and numbers do not have units", &text[at..end]);
        let finding = Diagnostic::error(message, Span::new(at, end));
        is_alone.then(|| {
            finding
                .help("write `RequestMemory` or a plain number: `condor_submit` rejects the file")
                .code("size-suffix")
        })
    })
}

/// `deferral_time = 2026-12-01 08:00`: a date, where a number of seconds is read.
fn date(name: &str, text: &str) -> Option<Diagnostic> {
    let plain = text.trim_matches('"');
    let (day, time) = plain.split_once([' ', 'T']).unwrap_or((plain, "00:00"));
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let are_digits = |text: &str, sign: char, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(sign).collect();
        parts.len() == lengths.len() && parts.iter().zip(lengths).all(|(part, length)| digits(part, *length))
    };
    let time = time.trim_end_matches('Z').trim();
    let is_time = are_digits(time, ':', &[2, 2]) || are_digits(time, ':', &[2, 2, 2]);
    if name != "deferral_time" || !are_digits(day, '-', &[4, 2, 2]) || !is_time {
        return None;
    }
    let seconds = if time.len() == 5 { ":00" } else { "" };
    let message = format!("`{text}` is a date, and `{name}` is a number of seconds since 1970");
    let help =
        format!("write `int(absTime(\"{day}T{time}{seconds}Z\"))`, with a zone such as `+01:00` in place of `Z`");
    Some(Diagnostic::error(message, Span::new(0, text.len())).help(help).code("rejected-submit"))
}

/// Commands that are numbers of seconds.
const SECONDS: [&str; 8] = [
    "allowed_execute_duration",
    "allowed_job_duration",
    "deferral_window",
    "job_lease_duration",
    "job_max_vacate_time",
    "keep_claim_idle",
    "max_job_retirement_time",
    "next_job_start_delay",
];

/// A number of seconds of which the comment above says another amount.
fn said_otherwise(name: &str, text: &str, comment: &str) -> Option<Diagnostic> {
    let number = text.parse::<f64>().ok().filter(|_| SECONDS.contains(&name))?;
    let (amount, product) = meant_amount(comment, number, "seconds")?;
    let message = format!("`{name}` is in seconds, and the comment says `{}`", amount.shown);
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-unit");
    Some(found.help(format!("write `{product}`")))
}

/// `allowed_execute_duration = 24 * 60`: minutes of days, where seconds are read.
fn minutes_of_days(name: &str, text: &str) -> Option<Diagnostic> {
    let meant = seconds_of_days(text).filter(|_| SECONDS.contains(&name))?;
    let message = format!("`{name}` is in seconds, and `{text}` is a number of minutes");
    Some(Diagnostic::warning(message, Span::new(0, text.len())).help(format!("write `{meant}`")).code("odd-unit"))
}

/// `+WantGPULab = "true"`: a string, where the name asks for a boolean.
fn quoted_truth(attribute: &str, expr: &Expr) -> Option<Diagnostic> {
    const STARTS: [&str; 7] = ["want", "is", "has", "use", "allow", "enable", "require"];
    let Node::Literal(Literal::Str(text)) = expr.node() else { return None };
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let begins = |start: &&str| {
        let (word, rest) = attribute.split_at_checked(start.len()).unwrap_or_default();
        word.eq_ignore_ascii_case(start) && rest.starts_with(|next: char| next == '_' || next.is_ascii_uppercase())
    };
    let is_truth = matches!(text.as_str(), "true" | "false") && STARTS.iter().any(begins);
    let span = expr.tree().span(expr.root()).filter(|_| is_truth)?;
    let message = "this is a string, and not a boolean: a condition that takes it for one is ERROR";
    Some(Diagnostic::warning(message, span).help(format!("write `{text}` without quotes")).code("type-clash"))
}

/// The finding about a rank: a string, an attribute of the job, or a word.
fn of_rank(text: &[u8], own: &Own, name: &str) -> Option<Diagnostic> {
    if text.len() > 1 && text.starts_with(b"\"") && is_literal(text, &own.options()) {
        let warning = Diagnostic::warning("a string is not a number, so it counts as 0", Span::new(0, text.len()));
        return Some(warning.help("remove the quotes").code("type-clash"));
    }
    let same = same_for_all(text, &own.options());
    same.or_else(|| own.unknown_value(text).map(|found| number_expected(found, name)))
}

/// A rank of attributes that the job alone has: it is the same for all slots.
fn same_for_all(text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    let expr = parse_expr(text, options).ok().filter(|_| memchr::memchr(b'$', text).is_none())?;
    let (tree, root) = (expr.tree(), expr.root());
    let is_of_job =
        |reference: &Reference| reference.scope != RefScope::Target && only_in(reference.name.folded()) == Some("job");
    let mut all = tree.references(root).peekable();
    let first = all.peek()?.name;
    let message = format!("`{first}` is an attribute of the job, so this is the same for all slots");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("odd-command");
    all.all(|reference| is_of_job(&reference))
        .then(|| found.help("write attributes of slots, such as `Memory` or `KFlops`"))
}

/// A string as the value of a command that is a number or a condition: `retry_until = "0"`.
fn string_for_number(name: &str, text: &[u8], options: &ParseOptions) -> Option<Diagnostic> {
    const STRINGS: [&str; 3] = ["buffer_files", "concurrency_limits_expr", "file_remaps"];
    let is_string = parse_expr(text, options).is_ok_and(|expr| matches!(expr.node(), Node::Literal(Literal::Str(_))));
    if !is_string || name.ends_with("_reason") || STRINGS.contains(&name) {
        return None;
    }
    let shown = String::from_utf8_lossy(text).into_owned();
    let message = format!("`{name}` is a number or a condition, and `{shown}` is a string");
    let found = Diagnostic::warning(message, Span::new(0, text.len())).code("type-clash");
    Some(found.help(format!("write `{}`", shown.trim_matches('"'))))
}

/// Returns true for a constant.
fn is_literal(text: &[u8], options: &ParseOptions) -> bool {
    parse_expr(text, options).is_ok_and(|expr| matches!(expr.node(), Node::Literal(_)))
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
    // Whatever the macros are, a string that is not closed is no expression.
    if context.text.contains(&b'$') && unclosed(context.text) {
        let span = Span::new(0, context.text.trim_ascii_end().len());
        let found = Diagnostic::error("the string has no closing double quote", span).help("add the `\"`");
        return vec![found.code("syntax")];
    }
    let Some(open) = without_macros(context.text) else { return Vec::new() };
    let is_open = |name: Name| open.names.iter().any(|known| known.0 == name);
    let defined = |name: Name| is_open(name) || (context.defined)(name);
    let mut found = lint_expression(&LintContext { text: &open.text, defined: &defined, ..*context });
    // One place has one finding of a rule.
    let more = rule(&open.text);
    let says_more = |one: &Diagnostic, other: &Diagnostic| other.code == one.code || one.code == "single-quotes";
    found.retain(|one| !more.iter().any(|other| says_more(one, other) && other.span == one.span));
    found.extend(more);
    if !open.names.is_empty() {
        unknowns::retain(&open.text, context.versions.read, &is_open, &mut found);
        for found in &mut found {
            open.restore(found);
        }
    }
    found
}

/// Tests whether a text has an odd number of double quotes, outside of the arguments of macros.
fn unclosed(text: &[u8]) -> bool {
    let (mut quotes, mut depth, mut before) = (0_usize, 0_usize, b' ');
    for byte in text.iter().copied() {
        match byte {
            b'(' if depth > 0 || before == b'$' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 && before != b'\\' => quotes += 1,
            _ => {}
        }
        before = byte;
    }
    quotes % 2 == 1
}

/// A text whose macros are words of the same length, so that places stay.
pub(crate) struct WithoutMacros {
    pub(crate) text: Vec<u8>,
    /// The words, and the macros they replace.
    names: Vec<(Name, String)>,
}

impl WithoutMacros {
    /// Writes macros for their words in what was found.
    pub(super) fn restore(&self, finding: &mut Diagnostic) {
        finding.message = self.restored(&finding.message);
        finding.help = finding.help.as_deref().map(|help| self.restored(help).into());
        if finding.fix.as_ref().is_some_and(|fix| self.restored(&fix.text) != fix.text) {
            finding.fix = None;
        }
    }

    /// A text with the macros instead of their words.
    pub(crate) fn restored(&self, text: &str) -> String {
        let text = text.replace(char::from(OPEN), "_");
        self.names.iter().fold(text, |text, (name, written)| text.replace(&*name.display(), written))
    }
}

/// A text with a word in place of every `$(name)`, `$(name:default)`, `$$(name)` and `$FUNCTION(arguments)`: what they
/// will be is known when jobs are made. `None` if a `$` begins none of these.
pub(crate) fn without_macros(text: &[u8]) -> Option<WithoutMacros> {
    let mut open = WithoutMacros { text: text.to_vec(), names: Vec::new() };
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(dollar) = memchr::memchr(b'$', &text[at..]) {
        let start = at + dollar;
        let letters = text[start..].iter().take_while(|byte| **byte == b'$').count();
        let name = text[start + letters..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let bracket = start + letters + name.count();
        // Any other `$` is text, as at the end of a pattern.
        if text.get(bracket) != Some(&b'(') {
            at = start + letters;
            continue;
        }
        if letters > 2 {
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
