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
        // One table for each quantity: the runs side by side fit more often than all of them.
        for quantity in quantities(all) {
            writeln!(out)?;
            let first = found.runs.iter().take(1).map(|run| format!("{}, {run}", quantity.name));
            let headings = std::iter::once(what.to_owned()).chain(first).chain(found.runs.iter().skip(1).cloned());
            let headings: Vec<String> = headings.collect();
            let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
            let row = |one: &EntityComparison| std::iter::once(one.name.clone()).chain((quantity.texts)(one)).collect();
            drawn(out, &headings, all.iter().take(MAX_ROWS).map(row).collect(), color)?;
        }
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

/// A quantity of a group or submitter in each run.
struct Quantity {
    name: &'static str,
    texts: fn(&EntityComparison) -> Vec<String>,
}

/// The quantities of groups or submitters; those under contention if any run has them.
fn quantities(all: &[EntityComparison]) -> Vec<Quantity> {
    let share = Quantity { name: "share", texts: |one| one.share.iter().map(|share| percent(*share)).collect() };
    let known = all.iter().any(|one| one.contended.iter().any(Option::is_some));
    let contended =
        Quantity { name: "contended", texts: |one| one.contended.iter().map(|found| shares(found.as_ref())).collect() };
    let wait = Quantity {
        name: "wait",
        texts: |one| one.wait_mean.iter().map(|wait| wait.map_or_else(|| "-".to_owned(), duration)).collect(),
    };
    [share].into_iter().chain(known.then_some(contended)).chain([wait]).collect()
}

/// One row per entity, limited in number: shares of all runs, those under contention, then mean waits.
pub(super) fn parts(runs: &[String], all: &[EntityComparison], most: usize) -> (Vec<String>, Vec<Vec<String>>) {
    let quantities = quantities(all);
    let names = quantities.iter().flat_map(|quantity| runs.iter().map(move |run| format!("{}, {run}", quantity.name)));
    let headings = std::iter::once(String::new()).chain(names).collect();
    let row = |one: &EntityComparison| {
        let texts = quantities.iter().flat_map(|quantity| (quantity.texts)(one));
        std::iter::once(one.name.clone()).chain(texts).collect()
    };
    (headings, all.iter().take(most).map(row).collect())
}
