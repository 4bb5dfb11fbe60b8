//! An experiment as tables: means with confidence intervals, and differences from the baseline.

use std::io::{self, Write};

use super::compared::{measure_heading, value_text};
use super::quoted;
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

/// Writes a heading and a line for each run.
///
/// # Errors
/// The output cannot be written.
pub fn write_points(out: &mut impl Write, found: &Experiment) -> io::Result<()> {
    let keys: Vec<&String> = found.points.first().map_or_else(Vec::new, |point| point.measures.keys().collect());
    let headings: String = keys.iter().map(|key| format!(",{key}")).collect();
    writeln!(out, "policy,setting,seed{headings},version,workload_sha256,command")?;
    for point in &found.points {
        let values: String = keys.iter().map(|key| format!(",{}", known(point.measures[*key]))).collect();
        let (version, command) = (quoted(&point.version), quoted(&point.command));
        let (policy, setting, sum) = (&point.policy, &point.setting, &point.workload_sha256);
        writeln!(out, "{policy},{setting},{}{values},{version},{sum},{command}", point.seed)?;
    }
    Ok(())
}

/// Writes a heading and a line for each policy, setting and measure.
///
/// # Errors
/// The output cannot be written.
pub fn write_summary(out: &mut impl Write, found: &Experiment) -> io::Result<()> {
    writeln!(out, "policy,setting,measure,count,mean,half_width,difference,difference_half_width")?;
    for variant in &found.variants {
        for measure in &variant.measures {
            let half = |of: &Interval| of.half_width.map(known).unwrap_or_default();
            let difference = measure.difference.as_ref();
            writeln!(
                out,
                "{},{},{},{},{},{},{},{}",
                variant.policy,
                variant.setting,
                key(measure.name),
                measure.value.count,
                known(measure.value.mean),
                half(&measure.value),
                difference.map(|found| known(found.mean)).unwrap_or_default(),
                difference.map(half).unwrap_or_default()
            )?;
        }
    }
    Ok(())
}

/// A number; nothing if it is unknown.
fn known(number: f64) -> String {
    if number.is_nan() { String::new() } else { number.to_string() }
}
