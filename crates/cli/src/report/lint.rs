//! Alarms for people, for tools, and for platforms that show them beside the code (SARIF 2.1.0).

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::escape::own;
use super::{Color, Origin, counted, render_within};
use classmate::Diagnostic;
use classmate::internal::diagnostic::Severity;
use classmate::internal::span::Position;
use classmate_advice::internal::lint::catalogue::{CHECKS, Check};
use classmate_advice::internal::lint::is_safe;

/// The number of errors and the number of warnings.
pub fn counts(alarms: &[Diagnostic]) -> (u64, u64) {
    (number(alarms, Severity::Error), number(alarms, Severity::Warning))
}

/// The number of findings of a severity.
fn number(alarms: &[Diagnostic], severity: Severity) -> u64 {
    alarms.iter().filter(|alarm| alarm.severity == severity).count() as u64
}

/// Numbers of findings that are not shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Suppressed {
    /// Those that comments in the files allow.
    pub allowed: u64,
    /// Those of the baseline.
    pub known: u64,
}

/// The last line: numbers of errors and warnings, of notes if there are any, and of the findings that are not shown.
fn summary(alarms: &[Diagnostic], suppressed: Suppressed) -> String {
    let (errors, warnings) = counts(alarms);
    let notes = number(alarms, Severity::Note);
    let notes = if notes > 0 { format!(", {}", counted(notes, "note")) } else { String::new() };
    let line = format!("{}, {}{notes}", counted(errors, "error"), counted(warnings, "warning"));
    let allowed = Some(format!("{} allowed by comments", suppressed.allowed)).filter(|_| suppressed.allowed > 0);
    let known = Some(format!("{} in the baseline", suppressed.known)).filter(|_| suppressed.known > 0);
    let more: Vec<String> = allowed.into_iter().chain(known).collect();
    if more.is_empty() { line } else { format!("{line} ({})", more.join(", ")) }
}

/// Writes the number of alarms of each code, the most frequent first.
///
/// # Errors
/// The output cannot be written.
pub fn statistics(out: &mut impl Write, alarms: &[Diagnostic], suppressed: Suppressed) -> io::Result<()> {
    let count = |check: &&Check| alarms.iter().filter(|alarm| alarm.code == check.code).count();
    let mut found: Vec<(usize, &Check)> = CHECKS.iter().map(|check| (count(&check), check)).collect();
    found.retain(|(count, _)| *count > 0);
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let width = found.iter().map(|(_, check)| check.code.len()).max().unwrap_or_default();
    for (count, check) in found {
        writeln!(out, "{count:6}  {:width$}  {:7}  {}", check.code, check.severity.as_str(), check.about)?;
    }
    writeln!(out, "{}", summary(alarms, suppressed))
}

/// Writes each alarm with its place and help, and how many there are; lines of files are cut to a number of columns, if
/// there is one.
///
/// # Errors
/// The output cannot be written.
pub fn write(
    out: &mut impl Write,
    alarms: &[Diagnostic],
    suppressed: Suppressed,
    color: Color,
    columns: Option<usize>,
) -> io::Result<()> {
    for alarm in alarms {
        writeln!(out, "{}\n", own(&render(alarm, color, columns)))?;
    }
    writeln!(out, "{}", summary(alarms, suppressed))
}

fn render(alarm: &Diagnostic, color: Color, columns: Option<usize>) -> String {
    let mut alarm = alarm.clone();
    if alarm.repeated > 0 {
        let more = format!("the same problem is in {}", counted(alarm.repeated as u64, "other ad"));
        alarm = alarm.more_help(more);
    }
    let line = alarm.line();
    let named = match alarm.subject() {
        Some(subject) if line == 0 => format!("{}, {subject}", alarm.file()),
        _ => alarm.file().to_owned(),
    };
    let origin = Origin { name: &named, line: line.max(1).into(), column: 1 };
    render_within(&alarm, Some(alarm.code), alarm.text(), &origin, (color, columns))
}

/// All alarms with their rows as one object.
pub fn json(alarms: &[Diagnostic], rows: &[Json]) -> Json {
    let (errors, warnings) = counts(alarms);
    json!({ "errors": errors, "warnings": warnings, "alarms": rows })
}

/// An object for each alarm.
pub fn rows(alarms: &[Diagnostic]) -> Vec<Json> {
    alarms
        .iter()
        .map(|alarm| {
            let (start, end) = alarm.range();
            json!({
                "code": alarm.code,
                "severity": alarm.severity.as_str(),
                "message": alarm.message,
                "help": alarm.help,
                "file": alarm.file(),
                "line": start.line,
                "column": start.column,
                "end_line": end.line,
                "end_column": end.column,
                "subject": alarm.subject(),
                "repeated": alarm.repeated,
                "fix": alarm.fix.as_ref().map(|fix| json!({
                    "start": fix.range.start,
                    "end": fix.range.end,
                    "text": fix.text,
                    "safe": is_safe(alarm.code),
                })),
            })
        })
        .collect()
}

/// All alarms as a SARIF log with one run.
pub fn sarif(alarms: &[Diagnostic]) -> Json {
    let rule = |check: &Check| {
        json!({
            "id": check.code,
            "shortDescription": { "text": check.about },
            "defaultConfiguration": { "level": check.severity.as_str() },
        })
    };
    let results: Vec<Json> = alarms
        .iter()
        .map(|alarm| {
            let text = match &alarm.help {
                Some(help) => format!("{}. Help: {help}", alarm.message),
                None => alarm.message.clone(),
            };
            let physical = |(start, end): (Position, Position)| {
                let mut physical = json!({ "artifactLocation": { "uri": uri(alarm.file()) } });
                if start.line > 0 {
                    physical["region"] = json!({
                        "startLine": start.line,
                        "startColumn": start.column,
                        "endLine": end.line,
                        "endColumn": end.column,
                    });
                }
                physical
            };
            let mut result = json!({
                "ruleId": alarm.code,
                "ruleIndex": CHECKS.iter().position(|check| check.code == alarm.code),
                "level": alarm.severity.as_str(),
                "message": { "text": text },
                "locations": [{ "physicalLocation": physical(alarm.range()) }],
            });
            if let Some(label) = &alarm.related {
                result["relatedLocations"] = json!([{
                    "physicalLocation": physical(alarm.range_of(label.span)),
                    "message": { "text": label.text },
                }]);
            }
            result
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "classmate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": CHECKS.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// The name of a file as a reference of RFC 3986: other bytes than the unreserved ones and `/` are percent-encoded.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Writes what is looked for.
///
/// # Errors
/// The output cannot be written.
pub fn list(out: &mut impl Write) -> io::Result<()> {
    let width = CHECKS.iter().map(|check| check.code.len()).max().unwrap_or_default();
    CHECKS
        .iter()
        .try_for_each(|check| writeln!(out, "{:width$}  {:7}  {}", check.code, check.severity.as_str(), check.about))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_percent_encoded() {
        assert_eq!(uri("sp ace/\u{e4}#.conf"), "sp%20ace/%C3%A4%23.conf");
        assert_eq!(uri("/etc/condor/condor_config"), "/etc/condor/condor_config");
    }
}
