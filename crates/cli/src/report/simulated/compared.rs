//! Several runs side by side as tables.

use std::io;

use super::{figure, percent};
use crate::report::table::{Screen, Table};
use crate::report::{Color, duration};
use classmate_pool::internal::simulate::compare::{Comparison, EntityComparison, Unit};

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
    Ok(())
}

fn drawn(out: &mut impl Screen, headings: &[&str], rows: Vec<Vec<String>>, color: Color) -> io::Result<()> {
    let mut table = Table::new(headings, &(1..headings.len()).collect::<Vec<_>>());
    for row in rows {
        table.row(row);
    }
    table.write(out, color)
}

/// A row for each number that holds for a run as a whole.
pub(super) fn measures(found: &Comparison) -> Vec<Vec<String>> {
    let row = |measure: &classmate_pool::internal::simulate::compare::Measure| {
        let (unit, text): (&str, fn(f64) -> String) = match measure.unit {
            Unit::Count => ("", figure),
            Unit::Fraction => (" (%)", |value| format!("{:.1}", value * 100.0)),
            Unit::Seconds => ("", duration),
            Unit::CoreSeconds => (" (core-s)", figure),
            Unit::Ratio => ("", |value| format!("{value:.3}")),
        };
        let name = format!("{}{unit}", measure.name);
        std::iter::once(name).chain(measure.values.iter().map(|value| text(*value))).collect()
    };
    found.measures.iter().map(row).collect()
}

/// One row per entity, limited in number: shares of all runs, then mean waits.
pub(super) fn parts(runs: &[String], all: &[EntityComparison], most: usize) -> (Vec<String>, Vec<Vec<String>>) {
    let shares = runs.iter().map(|run| format!("share, {run}"));
    let waits = runs.iter().map(|run| format!("wait, {run}"));
    let headings = std::iter::once(String::new()).chain(shares).chain(waits).collect();
    let row = |parts: &EntityComparison| {
        let waits = parts.wait_mean.iter().map(|wait| wait.map_or_else(|| "-".to_owned(), duration));
        let shares = parts.share.iter().map(|share| percent(*share));
        std::iter::once(parts.name.clone()).chain(shares).chain(waits).collect()
    };
    (headings, all.iter().take(most).map(row).collect())
}
