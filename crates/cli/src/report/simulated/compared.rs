//! Several runs side by side as tables.

use std::io;

use super::{figure, percent, shares};
use crate::report::table::{Screen, Table};
use crate::report::{Color, duration};
use classmate_pool::internal::simulate::compare::{Comparison, EntityComparison, Measure, Unit};

/// Submitters in the table; the other forms have all.
const MAX_ROWS: usize = 20;

/// Writes what holds for each run as a whole, then who got what.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Comparison, color: Color) -> io::Result<()> {
    let headings: Vec<&str> = std::iter::once("").chain(found.runs.iter().map(String::as_str)).collect();
    drawn(out, &headings, measures(found), color)?;
    for (what, all) in [("GROUP", &found.groups), ("SUBMITTER", &found.submitters)] {
        if all.is_empty() {
            continue;
        }
        writeln!(out)?;
        let (mut headings, rows) = parts(&found.runs, all, MAX_ROWS);
        what.clone_into(&mut headings[0]);
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        drawn(out, &headings, rows, color)?;
        let hidden = all.len().saturating_sub(MAX_ROWS);
        if hidden > 0 {
            writeln!(out, "{hidden} more (use --format json to list all)")?;
        }
    }
    if found.submitters.iter().any(|one| one.contended.iter().any(Option::is_some)) {
        writeln!(out, "\n{CONTENDED}")?;
    }
    Ok(())
}

/// The meaning of shares under contention.
pub(super) const CONTENDED: &str = "contended: fraction of all cores in use, and the entitled one, while its jobs waited and no cycle could start them";

/// The meanings of measures, for pages.
pub(super) const MEANINGS: [(&str, &str); 5] = [
    ("contended time", "fraction of the simulated time in which jobs waited that no cycle could start"),
    (
        "distance from entitlement",
        "fraction of the pool that users with waiting jobs lacked to their entitled shares; its mean over the contended time",
    ),
    ("slowdown", "bounded slowdown: time from submission to end, divided by the run time (at least 10 s)"),
    (
        "Gini of slowdowns",
        "0 if the jobs of all users are slowed down alike, towards 1 if those of one user are slowed down most",
    ),
    ("Jain's index", "evenness of the core-seconds used in the whole run: 1 if all users used the same"),
];

fn drawn(out: &mut impl Screen, headings: &[&str], rows: Vec<Vec<String>>, color: Color) -> io::Result<()> {
    let mut table = Table::new(headings, &(1..headings.len()).collect::<Vec<_>>());
    for row in rows {
        table.row(row);
    }
    table.write(out, color)
}

/// A row for each number that holds for a run as a whole.
pub(super) fn measures(found: &Comparison) -> Vec<Vec<String>> {
    let row = |measure: &Measure| {
        let values = measure.values.iter().map(|value| value_text(measure.unit, *value));
        std::iter::once(measure_heading(measure.name, measure.unit)).chain(values).collect()
    };
    found.measures.iter().map(row).collect()
}

/// The name of a measure with its unit, if values do not show it.
pub(super) fn measure_heading(name: &str, unit: Unit) -> String {
    let unit = match unit {
        Unit::Count | Unit::Seconds | Unit::Ratio => "",
        Unit::Fraction => " (%)",
        Unit::CoreSeconds => " (core-s)",
    };
    format!("{name}{unit}")
}

/// A value of a measure; a dash if it is not known.
pub(super) fn value_text(unit: Unit, value: f64) -> String {
    let text = match unit {
        _ if value.is_nan() => return "-".to_owned(),
        Unit::Count | Unit::CoreSeconds => figure(value),
        Unit::Fraction => format!("{:.1}", value * 100.0),
        Unit::Seconds => duration(value),
        Unit::Ratio => format!("{value:.3}"),
    };
    // A difference may round to 0 from below.
    let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// One row per entity, limited in number: shares of all runs, those under contention, then mean waits.
pub(super) fn parts(runs: &[String], all: &[EntityComparison], most: usize) -> (Vec<String>, Vec<Vec<String>>) {
    let used = runs.iter().map(|run| format!("share, {run}"));
    let known = all.iter().any(|parts| parts.contended.iter().any(Option::is_some));
    let contended = runs.iter().filter(|_| known).map(|run| format!("contended, {run}"));
    let waits = runs.iter().map(|run| format!("wait, {run}"));
    let headings = std::iter::once(String::new()).chain(used).chain(contended).chain(waits).collect();
    let row = |parts: &EntityComparison| {
        let waits = parts.wait_mean.iter().map(|wait| wait.map_or_else(|| "-".to_owned(), duration));
        let used = parts.share.iter().map(|share| percent(*share));
        let contended = parts.contended.iter().filter(|_| known).map(|found| shares(found.as_ref()));
        std::iter::once(parts.name.clone()).chain(used).chain(contended).chain(waits).collect()
    };
    (headings, all.iter().take(most).map(row).collect())
}
