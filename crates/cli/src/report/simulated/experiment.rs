//! An experiment as tables: means with confidence intervals, and differences from the baseline.

use std::io;

use super::compared::{measure_heading, value_text};
use super::result_table::ResultTable;
use crate::report::table::{Screen, Table};
use crate::report::{Color, counted};
use classmate_pool::internal::simulate::compare::Unit;
use classmate_pool::internal::simulate::experiment::{Experiment, Interval, MeasureInterval, Variant, key};

/// The measures in the tables for people; the other forms have all.
pub(super) const SHOWN: [&str; 6] =
    ["utilization", "wait, mean", "wait, 95%", "slowdown, mean", "distance from entitlement", "Gini of slowdowns"];

/// Writes the means of each policy and setting, then the differences from the baseline.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Experiment, color: Color) -> io::Result<()> {
    let (headings, rows) = means(found, &SHOWN);
    drawn(out, &headings, rows, color)?;
    if let Some(baseline) = &found.baseline {
        writeln!(out, "\ndifference from {baseline}")?;
        let (headings, rows) = rows_against(found, &SHOWN);
        drawn(out, &headings, rows, color)?;
    }
    let seeds = found.points.len() / found.variants.len().max(1);
    writeln!(
        out,
        "\n{}, {} each; ± is half the 95% confidence interval",
        counted(found.points.len() as u64, "run"),
        counted(seeds as u64, "seed")
    )?;
    if found.baseline.is_some() {
        writeln!(out, "* the interval of the difference does not contain 0")?;
    }
    Ok(())
}

fn drawn(out: &mut impl Screen, headings: &[String], rows: Vec<Vec<String>>, color: Color) -> io::Result<()> {
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings, &(2..headings.len()).collect::<Vec<_>>());
    for row in rows {
        table.row(row);
    }
    table.write(out, color)
}

/// Headings, and a row for each policy and setting with the means of some measures.
pub(super) fn means(found: &Experiment, names: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    rows(found, names, |measure| interval(measure.unit, &measure.value))
}

/// Headings, and a row for each policy and setting with the texts of some measures.
fn rows(
    found: &Experiment,
    names: &[&str],
    text: impl Fn(&MeasureInterval) -> String,
) -> (Vec<String>, Vec<Vec<String>>) {
    let of = |variant: &Variant| -> Vec<String> {
        let measures = variant.measures.iter().filter(|measure| names.contains(&measure.name));
        let own = [variant.policy.clone(), variant.setting.clone()].into_iter();
        own.chain(measures.map(&text)).collect()
    };
    let first = found.variants.first().map_or([].as_slice(), |variant| &variant.measures);
    let measures = first.iter().filter(|measure| names.contains(&measure.name));
    let headings = ["POLICY".to_owned(), "SETTING".to_owned()].into_iter();
    let headings = headings.chain(measures.map(|measure| measure_heading(measure.name, measure.unit)));
    (headings.collect(), found.variants.iter().map(of).collect())
}

/// The same for the differences from the baseline; the baseline itself has none.
pub(super) fn rows_against(found: &Experiment, names: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let text = |measure: &MeasureInterval| match &measure.difference {
        None => "-".to_owned(),
        Some(found) => {
            let star = if found.is_significant() { "*" } else { " " };
            format!("{}{star}", interval(measure.unit, found))
        }
    };
    let (headings, mut rows) = rows(found, names, text);
    rows.retain(|row| row[2..].iter().any(|cell| cell != "-"));
    (headings, rows)
}

fn interval(unit: Unit, found: &Interval) -> String {
    let mean = value_text(unit, found.mean);
    match found.half_width {
        Some(half) if !found.mean.is_nan() => format!("{mean} ±{}", value_text(unit, half)),
        _ => mean,
    }
}

/// The runs with their measures and their provenance.
pub fn runs(found: &Experiment) -> ResultTable {
    let points = || found.points.iter();
    let mut table = ResultTable::default();
    table.texts("policy", points().map(|point| point.policy.as_str()));
    table.texts("setting", points().map(|point| point.setting.as_str()));
    table.counts("seed", points().map(|point| point.seed));
    for key in found.points.first().into_iter().flat_map(|point| point.measures.keys()) {
        table.numbers(key, points().map(|point| point.measures[key]));
    }
    table.texts("version", points().map(|point| point.version.as_str()));
    table.texts("workload_sha256", points().map(|point| point.workload_sha256.as_str()));
    table.texts("command", points().map(|point| point.command.as_str()));
    table
}

/// A row for each policy, setting and measure.
pub fn summary(found: &Experiment) -> ResultTable {
    let rows: Vec<(&Variant, &MeasureInterval)> =
        found.variants.iter().flat_map(|variant| variant.measures.iter().map(move |of| (variant, of))).collect();
    let keys: Vec<String> = rows.iter().map(|(_, of)| key(of.name)).collect();
    let half = |of: &Interval| of.half_width.unwrap_or(f64::NAN);
    let difference =
        |of: &MeasureInterval, part: &dyn Fn(&Interval) -> f64| of.difference.as_ref().map_or(f64::NAN, part);
    let mut table = ResultTable::default();
    table.texts("policy", rows.iter().map(|(variant, _)| variant.policy.as_str()));
    table.texts("setting", rows.iter().map(|(variant, _)| variant.setting.as_str()));
    table.texts("measure", keys.iter().map(String::as_str));
    table.counts("count", rows.iter().map(|(_, of)| of.value.count as u64));
    table.numbers("mean", rows.iter().map(|(_, of)| of.value.mean));
    table.numbers("half_width", rows.iter().map(|(_, of)| half(&of.value)));
    table.numbers("difference", rows.iter().map(|(_, of)| difference(of, &|found| found.mean)));
    table.numbers("difference_half_width", rows.iter().map(|(_, of)| difference(of, &half)));
    table
}
