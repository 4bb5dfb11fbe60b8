//! Placeholders that are not filled in: `<path>`, `??`, `@HOST@`, `{{ host }}`.
//!
//! In: the statements of a submit file, or a line of a configuration. Out: the places of the placeholders. A file that is a
//! template for people or for programs is reported once, and not for each effect that its placeholders have.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::commands::{CommandKind, kind};
use super::placed;
use crate::submit::statements::{SubmitLine, queue_arguments};
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::{Excerpt, Severity};
use classmate::{Diagnostic, Span};

/// Words in `$( )` that programs which fill in templates leave, lower case: no slot has such attributes.
const OF_JOBS: [&str; 4] = ["$$(cluster)", "$$(clusterid)", "$$(process)", "$$(procid)"];

/// The findings about a submit file, with one instead of those that are due to its placeholders.
pub(super) fn without_placeholders(
    file: &Arc<str>,
    all: &[SubmitLine<'_>],
    lines: &[String],
    unread: &BTreeSet<usize>,
    mut found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut open = placeholders(lines);
    open.retain(|(at, _)| !unread.contains(at) && all.get(*at).is_some());
    let Some(((first, place), others)) = open.split_first() else { return found };
    let rows = |at: usize| {
        let (number, _, line) = &all[at];
        *number..=number + memchr::memchr_iter(b'\n', line.trim_ascii_end()).count() as u64
    };
    let is_due = |one: &Diagnostic| {
        let is_of_name = matches!(one.code, "redefined-knob" | "unknown-command" | "odd-line");
        !is_of_name && open.iter().any(|(at, _)| rows(*at).contains(&one.range().0.line))
    };
    let is_rejected = found.iter().any(|one| is_due(one) && one.severity == Severity::Error);
    found.retain(|one| !is_due(one));
    let (number, _, line) = &all[*first];
    let shown = lines[*first].get(place.clone()).unwrap_or_default();
    let (message, help) = said(shown, others.iter().map(|(at, _)| all[*at].0));
    let (severity, code) =
        if is_rejected { (Severity::Error, "rejected-submit") } else { (Severity::Note, "odd-command") };
    let one = Diagnostic::warning(message, Span::new(place.start, place.end)).help(help).code(code);
    let mut one = placed(one, file, *number, Excerpt { text: line.to_vec(), subject: None }, None);
    one.severity = severity;
    found.push(one);
    found
}

/// The message and the help about placeholders: the first one, and the lines of the others.
pub(super) fn said(first: &str, others: impl Iterator<Item = u64>) -> (String, String) {
    /// Lines that are named.
    const MOST: usize = 8;
    let mut lines: Vec<u64> = others.collect();
    lines.dedup();
    let message = match lines.len() {
        0 => format!("`{first}` is a placeholder that is not filled in"),
        1 => format!("`{first}` is a placeholder that is not filled in, and there is another one"),
        more => format!("`{first}` is a placeholder that is not filled in, and there are {more} more"),
    };
    let rest = lines.len().saturating_sub(MOST);
    let named: Vec<String> = lines.iter().take(MOST).map(ToString::to_string).collect();
    let help = match (lines.len(), rest) {
        (0, _) => "write the value".to_owned(),
        (1, _) => format!("write the value, also in line {}", named.join(", ")),
        (_, 0) => format!("write the values, also in lines {}", named.join(", ")),
        _ => format!("write the values, also in lines {}, and {rest} more", named.join(", ")),
    };
    (message, help)
}

/// The statements with placeholders, and the place of the first one in each.
pub(super) fn placeholders(statements: &[String]) -> Vec<(usize, Range<usize>)> {
    /// Statements with `${name}` that make a template: one may be a slip.
    const TEMPLATE: usize = 3;
    let own: BTreeSet<String> = statements
        .iter()
        .filter_map(|one| Some(one.split_once('=')?.0.trim().trim_end_matches('+').to_ascii_lowercase()))
        .collect();
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let mut dollars: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, statement) in statements.iter().enumerate().filter(|(_, one)| !one.trim_start().starts_with('#')) {
        if let Some(place) = of_statement(statement, &own) {
            found.push((at, place));
        } else if let Some(place) = of_program(statement, &own) {
            dollars.push((at, place));
        }
    }
    if dollars.len() >= TEMPLATE {
        let of_jobs = statements.iter().enumerate().filter_map(|(at, statement)| {
            let lower = statement.to_ascii_lowercase();
            let (start, word) = OF_JOBS.iter().find_map(|word| Some((lower.find(word)?, word)))?;
            (!statement.trim_start().starts_with('#')).then(|| (at, start..start + word.len()))
        });
        dollars.extend(of_jobs);
        found.extend(dollars);
    }
    found.sort_by_key(|(at, place)| (*at, place.start));
    found.dedup_by_key(|(at, _)| *at);
    found
}

/// The place of a placeholder in a statement.
fn of_statement(statement: &str, own: &BTreeSet<String>) -> Option<Range<usize>> {
    if let Some(arguments) = queue_arguments(statement.trim().as_bytes()) {
        let start = statement.trim_end().len() - arguments.len();
        let arguments = statement.get(start..)?;
        let lead = arguments.len() - arguments.trim_start().len();
        let first = arguments.split_whitespace().next().unwrap_or_default();
        let marks = is_mark(first).then(|| lead..lead + first.len());
        let name = (arguments.trim() == "QUEUE").then(|| lead..lead + "QUEUE".len());
        let place = marks.or(name).or_else(|| in_angles(arguments, true))?;
        return Some(start + place.start..start + place.end);
    }
    let (name, value) = statement.split_once('=')?;
    let start = statement.len() - value.trim_start().len();
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    let place = match name.as_str() {
        "arguments" | "args" | "environment" | "env" => {
            let inner = value.trim_matches('"');
            let lead = value.len() - value.trim_start_matches('"').len();
            in_angles(inner, false).filter(|place| *place == (0..inner.len())).map(|_| lead..lead + inner.len())
        }
        _ => in_angles(value, !is_expression(&name))
            .or_else(|| marks(value))
            .or_else(|| in_braces(&name, value, own))
            .or_else(|| own_name(&name, value, own)),
    };
    let place = place.or_else(|| between_ats(value))?;
    Some(start + place.start..start + place.end)
}

/// Tests whether the value of a command is an expression, in which `<` and `>` compare.
fn is_expression(name: &str) -> bool {
    let fronts = ["+", "my.", "request_", "periodic_", "on_exit_", "gpus_"];
    kind(name) == Some(CommandKind::Expression)
        || matches!(name, "requirements" | "rank" | "preferences" | "leave_in_queue" | "require_gpus")
        || fronts.iter().any(|front| name.starts_with(front))
}

/// `<path to the program>`; in an expression only at its beginning.
fn in_angles(value: &str, anywhere: bool) -> Option<Range<usize>> {
    /// Bytes of a placeholder.
    const MOST: usize = 80;
    let is_inner = |sign: char| sign.is_ascii_alphanumeric() || " _-.#/'|".contains(sign);
    value.match_indices('<').find_map(|(at, _)| {
        let inner = &value[at + 1..];
        let end = inner.find(|sign: char| !is_inner(sign)).filter(|end| inner[*end..].starts_with('>'))?;
        let is_words = inner.starts_with(|first: char| first.is_ascii_alphabetic()) && end <= MOST;
        let is_here = anywhere || value[..at].trim_matches('"').is_empty();
        (is_words && is_here).then(|| at..at + end + 2)
    })
}

/// Tests whether a word is `??`, or more of these signs.
fn is_mark(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte == b'?')
}

/// Tests whether a text can be the name of a macro.
fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `??`, or several of them.
fn marks(value: &str) -> Option<Range<usize>> {
    value
        .split([',', ' '])
        .filter(|item| !item.is_empty())
        .all(is_mark)
        .then(|| 0..value.find([',', ' ']).unwrap_or(value.len()))
        .filter(|place| !place.is_empty())
}

/// `executable = EXECUTABLE`: the name of the command in capitals, give or take a letter.
fn own_name(name: &str, value: &str, own: &BTreeSet<String>) -> Option<Range<usize>> {
    // Files may well be called so.
    if matches!(name, "output" | "error" | "input") {
        return None;
    }
    let name = name.trim_start_matches('+').trim_start_matches("my.");
    let lower = value.to_ascii_lowercase();
    let is_upper = value.len() > 4 && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let is_name = is_upper && (lower == name || !own.contains(&lower));
    (is_name && near::distance(lower.as_bytes(), name.as_bytes(), 1).is_some()).then_some(0..value.len())
}

/// `@CONDOR_HOST@`, which `configure` and scripts replace.
pub(super) fn between_ats(value: &str) -> Option<Range<usize>> {
    value.match_indices('@').find_map(|(at, _)| {
        let inner = &value[at + 1..];
        let end = inner.find(|sign: char| !(sign.is_ascii_uppercase() || sign == '_')).filter(|end| *end > 1)?;
        let before = value[..at].chars().next_back();
        let is_alone = before.is_none_or(|sign| !sign.is_ascii_alphanumeric());
        (is_alone && inner[end..].starts_with('@')).then(|| at..at + end + 2)
    })
}

/// `{{ name }}`, `%(name)s`, and `{name}` in an amount, which programs in Python replace; a macro of the file is meant as one.
fn in_braces(name: &str, value: &str, own: &BTreeSet<String>) -> Option<Range<usize>> {
    let is_amount = name.starts_with("request_");
    [("{{", "}}"), ("%(", ")s"), ("{", "}")].into_iter().find_map(|(open, close)| {
        let at = value.find(open).filter(|at| open != "{" || is_amount && *at == 0)?;
        let inner = &value[at + open.len()..];
        let end = inner.find(close)?;
        let word = inner[..end].trim();
        let is_other = is_name(word) && !own.contains(&word.to_ascii_lowercase());
        is_other.then(|| at..at + open.len() + end + close.len())
    })
}

/// `${name}` with a name that the file does not define, and not in capitals, as those of the environment are.
fn of_program(statement: &str, own: &BTreeSet<String>) -> Option<Range<usize>> {
    let (name, value) = statement.split_once('=')?;
    let start = statement.len() - value.trim_start().len();
    let value = value.trim();
    let is_for_shell =
        matches!(name.trim().to_ascii_lowercase().as_str(), "arguments" | "args" | "environment" | "env");
    let (at, inner) = value.match_indices("${").map(|(at, _)| (at, &value[at + 2..])).next()?;
    let end = inner.find('}')?;
    let word = &inner[..end];
    let is_upper = !word.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_whole = at == 0 && end + 3 == value.len();
    let is_macro = own.contains(&word.to_ascii_lowercase()) && !name.trim().eq_ignore_ascii_case(word);
    (is_name(word) && !is_upper && !is_macro && (is_whole || !is_for_shell)).then(|| start + at..start + at + end + 3)
}

/// The findings about a configuration, with one of each file instead of those that are due to its placeholders.
pub(super) fn once_in_each_file(found: &mut Vec<Diagnostic>) {
    let shown = |one: &Diagnostic| {
        let text = one.excerpt.as_ref().map(|excerpt| String::from_utf8_lossy(&excerpt.text).into_owned())?;
        let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value).trim();
        let place = between_ats(value).or_else(|| in_angles(value, true))?;
        Some(value[place].to_owned())
    };
    let mut first: Vec<(String, usize, String, Vec<u64>)> = Vec::new();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for one in found.drain(..) {
        let Some(shown) = (one.code == "bad-value").then(|| shown(&one)).flatten() else {
            kept.push(one);
            continue;
        };
        let line = one.range().0.line;
        match first.iter_mut().find(|(file, ..)| *file == one.file()) {
            Some((.., at, _, lines)) => {
                if kept[*at].range().0.line != line {
                    lines.push(line);
                }
            }
            None => {
                first.push((one.file().to_owned(), kept.len(), shown, Vec::new()));
                kept.push(one);
            }
        }
    }
    for (_, at, shown, lines) in first {
        let one = &mut kept[at];
        let (message, help) = said(&shown, lines.into_iter());
        (one.message, one.help, one.fix) = (message, Some(help.into()), None);
    }
    *found = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(statements: &[&str]) -> Vec<String> {
        let lines: Vec<String> = statements.iter().map(ToString::to_string).collect();
        placeholders(&lines).into_iter().map(|(at, place)| format!("{at} {}", &lines[at][place])).collect()
    }

    #[test]
    fn placeholders_are_found_where_they_stand() {
        assert_eq!(shown(&["log = <log dir>/a.log", "# log = <x>", "queue <n>"]), ["0 <log dir>", "2 <n>"]);
        assert_eq!(shown(&["output = ??, ??", "queue ??", "log = a?", "+X = ??"]), ["0 ??", "1 ??", "3 ??"]);
        assert_eq!(shown(&["output = @JOBNUM@.out", "notify_user = me@HOST@x"]), ["0 @JOBNUM@"]);
        assert_eq!(shown(&["request_cpus = {n}", "n = 2", "rank = {n}"]), Vec::<String>::new());
        assert_eq!(shown(&["request_cpus = {n}", "executable = {{ program }}"]), ["0 {n}", "1 {{ program }}"]);
        let words =
            ["executable = EXECUTABLE", "+JobFlavour = JOBFLAVOR", "queue QUEUE", "universe = VANILLA", "log = LOG"];
        assert_eq!(shown(&words), ["0 EXECUTABLE", "1 JOBFLAVOR", "2 QUEUE"]);
        // Comparisons, and what a shell or another program reads.
        let plain =
            ["requirements = a <b && c> d", "rank = a <b> c", "arguments = <a> > b", "input = < a", "log = a>b"];
        assert_eq!(shown(&plain), Vec::<String>::new());
    }

    #[test]
    fn names_in_braces_make_a_template_if_there_are_several() {
        let three = ["request_cpus=${Cores}", "request_memory=${Memory}", "environment=${Environment}"];
        assert_eq!(shown(&three).len(), 3);
        assert_eq!(shown(&three[..2]), Vec::<String>::new());
        let of_jobs = ["log = $$(cluster).log", three[0], three[1], three[2]];
        assert_eq!(shown(&of_jobs)[0], "0 $$(cluster)");
        // Those of the environment, and macros of the file.
        let own =
            ["Cores = 1", "log = ${HOME}/a", "output = ${HOME}/b", "error = ${HOME}/c", "request_cpus = ${Cores}"];
        assert_eq!(shown(&own), Vec::<String>::new());
    }
}
