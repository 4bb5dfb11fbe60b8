//! Expressions and pools in two versions, for people.

use std::fmt::Display;
use std::io::{self, Write};

use crate::report::table::{Screen, Table};
use crate::report::{Color, counted, printable, whatif};
use classmate_advice::internal::versions::DifferenceSeverity;
use classmate_advice::internal::versions::configuration::PlacedValue;
use classmate_advice::internal::versions::defects::VersionDefect;
use classmate_advice::internal::versions::survey::{DefectRange, VersionSurvey};
use classmate_advice::internal::versions::upgrade::{PartialComparison, PlacedDefect, PlacedDifference, Upgrade};

/// A value beside its example: `with A = 1: true`.
fn with(example: &[String], value: &str) -> String {
    if example.is_empty() { value.to_owned() } else { format!("with {}: {value}", example.join(", ")) }
}

/// A range of series.
fn span(from: &str, to: &str) -> String {
    if from == to { from.to_owned() } else { format!("{from} to {to}") }
}

/// The sentence about a crash or hang of versions, and about the value here.
pub(crate) fn not_reproduced(defect: &VersionDefect, versions: impl Display) -> String {
    format!("HTCondor {versions} {}; here {}", defect.does, defect.here)
}

/// Writes the meanings of an expression in the series, the rules, and what to write. `of_ads` is true if they may be others in other
/// ads than the given ones.
///
/// # Errors
/// The output cannot be written.
pub fn write_survey(out: &mut impl Screen, found: &VersionSurvey, of_ads: bool, color: Color) -> io::Result<()> {
    if let ([only], true) = (found.ranges.as_slice(), found.rules.is_empty()) {
        let which = if of_ads { " for the given ads" } else { "" };
        writeln!(out, "`{}` means the same in HTCondor {} to {}{which}", found.text, only.from, only.to)?;
        return write_remarks(out, found);
    }
    let mut table = Table::new(["HTCONDOR", "MEANS", "VALUE"], &[]);
    for range in &found.ranges {
        let series = span(&range.from, &range.to);
        let means = match (&range.expression, &range.problem) {
            (Some(expression), Some(problem)) => format!("{expression} ({problem})"),
            (Some(expression), None) => expression.clone(),
            (None, problem) => format!("syntax error: {}", problem.as_deref().unwrap_or_default()),
        };
        let value = range.value.as_ref().map_or_else(|| "-".to_owned(), |value| with(&found.example, value));
        table.row(vec![series, means, value]);
        for other in &range.others {
            table.row(vec![String::new(), String::new(), with(&other.example, &other.value)]);
        }
    }
    table.write(out, color)?;
    writeln!(out)?;
    for rule in &found.rules {
        let ticket = rule.ticket.map(|ticket| format!(", {ticket}")).unwrap_or_default();
        writeln!(out, "{} (changed in {}{ticket})", rule.name, rule.since)?;
        writeln!(out, "  before: {}\n  since:  {}", rule.old, rule.now)?;
    }
    if let (Some(write), Some(keeps)) = (&found.write, &found.write_keeps) {
        writeln!(out, "write `{write}` for the meaning of {keeps} in all versions")?;
    }
    write_remarks(out, found)
}

fn write_remarks(out: &mut impl Screen, found: &VersionSurvey) -> io::Result<()> {
    for unproven in &found.unproven {
        writeln!(out, "note: {unproven}")?;
    }
    for DefectRange { from, to, defect } in &found.defects {
        writeln!(out, "not reproduced: {}", not_reproduced(defect, span(from, to)))?;
    }
    Ok(())
}

/// Names of attributes in the line about texts that were evaluated in some of their ads.
const SHOWN_NAMES: usize = 3;

/// Writes the texts that were evaluated in some of their ads only.
fn write_partial(out: &mut impl Screen, found: &Upgrade) -> io::Result<()> {
    for of_file in found.partial.chunk_by(|one, other| one.file == other.file) {
        let mut of_file: Vec<&PartialComparison> = of_file.iter().collect();
        of_file.sort_by_key(|one| std::cmp::Reverse(one.ads));
        let names = of_file.iter().take(SHOWN_NAMES).map(|one| {
            let line = one.line.map(|line| format!("line {line}, ")).unwrap_or_default();
            format!("{} ({line}{} of {} ads)", one.name, one.evaluated, one.ads)
        });
        let mut names = names.collect::<Vec<_>>().join(", ");
        if of_file.len() > SHOWN_NAMES {
            names.push_str(&format!(" and {} more", of_file.len() - SHOWN_NAMES));
        }
        let file = of_file.first().map_or("", |one| one.file.as_str());
        writeln!(out, "{file}: not evaluated in all ads with the same text: {names}")?;
    }
    Ok(())
}

/// Writes the effects of an upgrade.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Upgrade, color: Color) -> io::Result<()> {
    let (from, to) = (&found.from, &found.to);
    let of_expressions: Vec<&[PlacedDifference]> = found.expressions.chunk_by(is_of_same).collect();
    for found in &of_expressions {
        write_differences(out, found, [from, to])?;
    }
    match of_expressions.len() {
        0 => {
            let which = match (found.has_ads, found.partial.is_empty()) {
                (false, _) => "",
                (true, true) => " for these ads",
                (true, false) => " in the ads that were evaluated",
            };
            writeln!(out, "no expression means something else in {to} than in {from}{which}")?;
        }
        all => {
            let is_error = |one: &PlacedDifference| one.difference.severity == DifferenceSeverity::Error;
            let errors = of_expressions.iter().filter(|found| found.iter().any(is_error));
            let verb = if all == 1 { "means" } else { "mean" };
            let errors = counted(errors.count() as u64, "error");
            writeln!(
                out,
                "{} {verb} something else in {to} than in {from} ({errors})",
                counted(all as u64, "expression")
            )?;
        }
    }
    write_partial(out, found)?;
    if !found.settings.is_empty() {
        writeln!(out, "\nSet in different ways for {from} and {to}:")?;
        for one in &found.settings {
            for (version, value) in [(from, &one.before), (to, &one.after)] {
                match value {
                    Some(PlacedValue { value, file, line }) => {
                        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                        let value = printable(value.as_bytes());
                        writeln!(out, "  {file}{line}: {version}  {} = {value}", one.name)?;
                    }
                    None => writeln!(out, "  {version}  {} is not set", one.name)?,
                }
            }
        }
    }
    if !found.defects.is_empty() {
        writeln!(out, "\nCrashes and hangs, which are not reproduced:")?;
        for one in &found.defects {
            write_defect(out, one)?;
        }
    }
    if !found.variables.is_empty() {
        writeln!(out)?;
        let mut table = Table::new(["VARIABLE", "CHANGED IN", "DEFAULT BEFORE", "DEFAULT AFTER", "CONCERNS"], &[]);
        let default = |text: Option<&str>| text.unwrap_or("does not exist").to_owned();
        for one in &found.variables {
            let set = one.set_at.as_ref().map(|place| format!(" (set at {place})")).unwrap_or_default();
            let after = format!("{}{set}", default(one.after));
            let concerns = one.concerns.to_owned();
            table.row(vec![one.name.to_owned(), one.since.clone(), default(one.before), after, concerns]);
        }
        table.write(out, color)?;
    }
    if !found.behavior.is_empty() {
        writeln!(out, "\nChanges of the negotiator, which `--semantics` does not imitate:")?;
        for one in &found.behavior {
            let undone = if one.undone { format!(", not in {to}") } else { String::new() };
            writeln!(out, "  {}{undone}: {}", one.since, one.change)?;
        }
    }
    if let Some(difference) = &found.matches {
        writeln!(out, "\nOne cycle in the language of {from} and of {to}:")?;
        whatif::write(out, difference, color)?;
    }
    if !found.refusals.is_empty() {
        writeln!(out, "\nThe matches of {from} and of {to} cannot be compared:")?;
        for one in &found.refusals {
            writeln!(out, "  the language of {} refuses the configuration: {}", one.version, one.problem)?;
        }
    }
    Ok(())
}

fn write_defect(out: &mut impl Write, one: &PlacedDefect) -> io::Result<()> {
    let line = one.line.map(|line| format!(":{line}")).unwrap_or_default();
    let ads = if one.ads > 1 { format!(" (in {})", counted(one.ads as u64, "ad")) } else { String::new() };
    let in_front = match &one.part {
        Some(part) => format!("{}: {part}", one.name),
        None => format!("{} =", one.name),
    };
    writeln!(out, "  {}{line}: {in_front} {}{ads}", one.file, one.text)?;
    writeln!(out, "    {}: HTCondor {}; here {}", one.series.join(", "), one.defect.does, one.defect.here)
}

/// Tests whether two differences are those of one expression.
fn is_of_same(one: &PlacedDifference, other: &PlacedDifference) -> bool {
    let place = |one: &PlacedDifference| (one.line, one.ads);
    place(one) == place(other)
        && (&one.file, &one.name, &one.part, &one.difference.text)
            == (&other.file, &other.name, &other.part, &other.difference.text)
}

/// Writes the differences of one expression, by one rule each.
fn write_differences(out: &mut impl Write, found: &[PlacedDifference], [from, to]: [&str; 2]) -> io::Result<()> {
    let versions = found.iter().flat_map(|one| &one.difference.readings).map(|reading| reading.version().len());
    let width = versions.max().unwrap_or_default();
    for (at, one) in found.iter().enumerate() {
        let difference = &one.difference;
        let line = one.line.map(|line| format!(":{line}")).unwrap_or_default();
        let severity = match difference.severity {
            DifferenceSeverity::Error => "error",
            DifferenceSeverity::Warning => "warning",
            DifferenceSeverity::Note => "note",
        };
        let ads = if one.ads > 1 { format!(", in {}", counted(one.ads as u64, "ad")) } else { String::new() };
        let rule = difference.rule;
        writeln!(out, "{}{line}: {severity}: this means different things in {from} and {to} ({rule}{ads})", one.file)?;
        let in_front = one.part.clone().unwrap_or_else(|| format!("{} =", one.name));
        let variable = one.part.as_ref().map_or_else(String::new, |_| format!("{}: ", one.name));
        if at == 0 {
            writeln!(out, "    {variable}{in_front} {}", difference.text)?;
        }
        let [first, second] = &difference.readings;
        let alike = first.expression == second.expression && first.problem == second.problem;
        for reading in [first, second] {
            let means = match (&reading.expression, &reading.problem) {
                (None, problem) => Some(format!("syntax error: {}", problem.as_deref().unwrap_or_default())),
                (Some(expression), Some(problem)) => Some(format!("{expression} ({problem})")),
                (Some(expression), None) => Some(expression.clone()).filter(|_| !alike),
            };
            let value = reading.value.as_ref().map(|value| with(&difference.example, value));
            let shown: Vec<String> = means.into_iter().chain(value).collect();
            writeln!(out, "    {:width$}  {}", reading.version(), shown.join("  "))?;
        }
        if let (true, Some(write), Some(keeps)) = (at + 1 == found.len(), &difference.write, &difference.write_keeps) {
            writeln!(out, "    {:width$}  {in_front} {write}  (meaning of {keeps})", "write")?;
        }
    }
    writeln!(out)
}
