//! `classmate sprio --against FILE`: the comparison with what Slurm printed.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::cli::Failure;
use crate::cli::settings::contents;
use crate::report::counted;
use crate::report::sprio::{Format, PriorityLine};
use classmate_config::SlurmConf;

/// A listing that Slurm printed.
pub(super) struct PrintedPriorities {
    name: String,
    format: Format,
    /// The headers of the columns.
    columns: Vec<String>,
    /// The cells of each line.
    rows: Vec<Vec<String>>,
}

/// When the age of a job begins, and its priority without its age.
pub(super) struct JobAge {
    pub(super) since: i64,
    pub(super) rest: f64,
}

/// The facts of a job that Slurm prints in its priorities alone.
#[derive(Default)]
pub(super) struct BeyondLists {
    /// Its priority, if that was set by hand.
    pub(super) by_hand: Option<i64>,
    /// Its site factor, if it has one.
    pub(super) site: Option<i64>,
}

/// SITE and NICE of a job in several partitions before 23.02, whose priority was set by hand.
const UNSET: i64 = i32::MIN as i64;

/// A cell that differs.
struct CellDifference {
    job: String,
    partition: String,
    column: String,
    computed: String,
    printed: String,
}

/// The result of a comparison.
pub(super) struct PriorityComparison {
    cells: usize,
    differences: Vec<CellDifference>,
    /// Job and partition of lines that only Slurm printed, and of those that it did not print.
    missing: Vec<[String; 2]>,
    unexpected: Vec<[String; 2]>,
}

impl PrintedPriorities {
    /// Reads the output of `sprio`, in a format that is given or in that of its header.
    pub(super) fn read(path: &Path, given: Option<&Format>, known: &[Format]) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = String::from_utf8_lossy(&contents(path)?).into_owned();
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
        let invalid = |line: usize, what: &str| {
            Failure::input(format!("{name}:{line}: {what}"))
                .help("expected the output of `sprio`, for example of `sprio -l`")
        };
        let Some(&(number, first)) = lines.peek() else { return Err(invalid(1, "the file is empty")) };
        let headers = cells(first);
        let has_header = headers.first().is_some_and(|word| word == "JOBID");
        if has_header {
            lines.next();
        }
        let rows: Vec<(usize, Vec<String>)> = lines.map(|(number, line)| (number, cells(line))).collect();
        let format = match (has_header, given) {
            (true, _) => {
                let same = known.iter().find(|format| format.header().trim_end() == first.trim_end());
                let listed = || Format::of_listing(&headers, rows.first().map_or(&[][..], |(_, row)| row));
                same.cloned().or_else(listed)
            }
            (false, Some(format)) => Some(format.clone()),
            (false, None) => None,
        };
        let format = format.filter(Format::names_lines);
        let format =
            format.ok_or_else(|| invalid(number, "its columns are not known, or do not have JOBID and PARTITION"))?;
        let columns = cells(&format.header());
        if let Some((line, row)) =
            rows.iter().find(|(_, row)| row.len() > columns.len() || row.len() + 1 < columns.len())
        {
            let (expected, found) = (columns.len(), row.len());
            return Err(invalid(*line, &format!("expected {}, found {found}", counted(expected, "column"))));
        }
        Ok(Self { name, format, columns, rows: rows.into_iter().map(|(_, row)| row).collect() })
    }

    /// Compares lines with it.
    pub(super) fn compare(&self, lines: &[PriorityLine]) -> PriorityComparison {
        let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(&self.format.row(line))).collect();
        let mut computed: HashMap<[String; 2], &Vec<String>> = rows.iter().map(|row| (self.key(row), row)).collect();
        let mut result =
            PriorityComparison { cells: 0, differences: Vec::new(), missing: Vec::new(), unexpected: Vec::new() };
        for row in &self.rows {
            let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
            let name = self.key(row);
            let Some(found) = computed.remove(&name) else {
                result.missing.push(name);
                continue;
            };
            result.cells += self.columns.len();
            for (at, column) in self.columns.iter().enumerate() {
                let (computed, printed) = (cell(found, at), cell(row, at));
                if computed != printed {
                    let [job, partition] = name.clone();
                    result.differences.push(CellDifference {
                        job,
                        partition,
                        column: column.clone(),
                        computed,
                        printed,
                    });
                }
            }
        }
        result.unexpected = rows.iter().map(|row| self.key(row)).filter(|name| computed.contains_key(name)).collect();
        result
    }

    /// The facts of jobs beyond Slurm's other listings. A job has factors, and none are printed: its priority was set by hand.
    pub(super) fn beyond_lists(&self, lines: &[PriorityLine]) -> HashMap<String, BeyondLists> {
        const FACTORS: [&str; 7] = ["AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS", "TRES"];
        // The partition of a job and its factor have the same header.
        let name = self.column("PARTITION");
        let headers = self.columns.iter().enumerate().filter(|(at, _)| Some(*at) != name);
        let factors = headers.filter(|(_, header)| FACTORS.contains(&header.as_str())).map(|(at, _)| at);
        let factors: Vec<usize> = factors.collect();
        let number = |row: &[String], header: &str| row.get(self.column(header)?)?.parse::<f64>().ok();
        let none = |row: &[String]| {
            let cell = |at: &usize| row.get(*at).map_or("", String::as_str);
            factors.iter().map(cell).all(|cell| cell.is_empty() || cell.parse::<f64>() == Ok(0.0))
        };
        let computed: HashMap<[String; 2], Vec<String>> =
            lines.iter().map(|line| cells(&self.format.row(line))).map(|row| (self.key(&row), row)).collect();
        let mut found: HashMap<String, BeyondLists> = HashMap::new();
        for row in &self.rows {
            let key = self.key(row);
            let has_factors = computed.get(&key).is_some_and(|row| !none(row));
            let [job, _] = key;
            let site = number(row, "SITE").map(|site| site as i64).filter(|site| *site != 0);
            let beyond = found.entry(job).or_default();
            if site == Some(UNSET) {
                beyond.by_hand = Some(1);
            } else if has_factors && none(row) {
                beyond.by_hand = number(row, "PRIORITY").map(|priority| priority as i64);
            } else {
                beyond.site = site;
            }
        }
        found
    }

    /// The second, up to `now`, at which most ages of jobs and priorities are those that were printed: one that differs for
    /// another reason leaves the others as they are. `now` if none of them depends on the time. Slurm computes priorities once in
    /// each `PriorityCalcPeriod`, and prints these until the next time.
    pub(super) fn computed_at(&self, ages: &HashMap<[String; 2], JobAge>, conf: &SlurmConf, now: i64) -> i64 {
        let Some(most) = conf.max_age.seconds().filter(|seconds| *seconds > 0 && conf.weights.age > 0) else {
            return now;
        };
        let weight = f64::from(conf.weights.age);
        let (of_age, of_sum) = (self.column("AGE"), self.column("PRIORITY"));
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for row in &self.rows {
            let Some(age) = ages.get(&self.key(row)) else { continue };
            let number = |at: Option<usize>| at.and_then(|at| row.get(at)?.parse::<f64>().ok());
            let decimals = of_age.and_then(|at| row.get(at)).is_some_and(|cell| cell.contains('.'));
            // The weighted age is within these: the age is rounded, the sum cut.
            let rounded = number(of_age).map(|age| if decimals { (age * weight, weight * 5e-8) } else { (age, 0.5) });
            let rounded = rounded.map(|(age, half)| (age - half, age + half));
            let cut = number(of_sum).filter(|sum| *sum > 1.0).map(|sum| (sum - age.rest, sum + 1.0 - age.rest));
            spans.extend(rounded.into_iter().chain(cut).map(|(least, greatest)| {
                let seconds = |amount: f64| age.since as f64 + amount / weight * most as f64;
                let from = if least > 0.0 { seconds(least) } else { f64::NEG_INFINITY };
                (from, if greatest < weight { seconds(greatest) } else { f64::INFINITY })
            }));
        }
        let (from, to) = most_common(&spans, now as f64);
        let first = ages.values().map(|age| age.since).min().unwrap_or(now) as f64;
        let chosen = if from.is_finite() { f64::midpoint(from, to) } else { to.min(first) };
        if to >= now as f64 { now } else { chosen.round() as i64 }
    }

    /// The place of the first column with a header.
    fn column(&self, header: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == header)
    }

    /// The job and the partition of a row.
    fn key(&self, row: &[String]) -> [String; 2] {
        ["JOBID", "PARTITION"].map(|header| self.column(header).and_then(|at| row.get(at)).cloned().unwrap_or_default())
    }

    /// The job and the partition of a line, as they are printed.
    pub(super) fn key_of(&self, line: &PriorityLine) -> [String; 2] {
        self.key(&cells(&self.format.row(line)))
    }

    /// The name of the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// The cells of a line, which are separated by blanks or `|`.
fn cells(line: &str) -> Vec<String> {
    if line.contains('|') {
        return line.split('|').map(|cell| cell.trim().to_owned()).collect();
    }
    line.split_whitespace().map(str::to_owned).collect()
}

/// The latest part of the time up to `now` that is in most of the spans.
fn most_common(spans: &[(f64, f64)], now: f64) -> (f64, f64) {
    // Where spans begin and end. At the same time, those that begin come first: both ends belong to a span.
    let begins = spans.iter().map(|span| (span.0, 1));
    let mut bounds: Vec<(f64, i64)> =
        begins.chain(spans.iter().map(|span| (span.1, -1))).filter(|(at, _)| *at <= now).collect();
    bounds.sort_by(|(one, begins), (other, also)| one.total_cmp(other).then(also.cmp(begins)));
    let (mut best, mut found) = (0, (f64::NEG_INFINITY, now));
    let mut depth = 0;
    for (place, (at, change)) in bounds.iter().enumerate() {
        depth += change;
        if *change > 0 && depth >= best {
            best = depth;
            found = (*at, bounds.get(place + 1).map_or(now, |(next, _)| *next));
        }
    }
    found
}

impl PriorityComparison {
    /// True if nothing differs.
    pub(super) fn is_identical(&self) -> bool {
        self.differences.is_empty() && self.missing.is_empty() && self.unexpected.is_empty()
    }

    /// True if all that differs can come from the time: the ages and their sums.
    pub(super) fn is_of_time(&self) -> bool {
        let of_time = |cell: &CellDifference| ["AGE", "PRIORITY"].contains(&cell.column.as_str());
        self.missing.is_empty() && self.unexpected.is_empty() && self.differences.iter().all(of_time)
    }

    /// The lines for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let same = self.cells - self.differences.len();
        let mut lines = vec![format!("{same} of {} identical", counted(self.cells, "cell"))];
        lines.extend(self.differences.iter().map(|cell| {
            let CellDifference { job, partition, column, computed, printed } = cell;
            format!("job {job} in {partition}: {column} is {computed}, Slurm printed {printed}")
        }));
        lines.extend(
            self.missing.iter().map(|[job, partition]| format!("job {job} in {partition}: only Slurm lists it")),
        );
        let unexpected = self.unexpected.iter();
        lines.extend(unexpected.map(|[job, partition]| format!("job {job} in {partition}: Slurm does not list it")));
        lines
    }

    /// The object for programs.
    pub(super) fn json(&self) -> (Json, Vec<Json>) {
        let cell = |cell: &CellDifference| {
            json!({
                "job": cell.job, "partition": cell.partition, "column": cell.column,
                "computed": cell.computed, "printed": cell.printed,
            })
        };
        let line = |[job, partition]: &[String; 2]| json!({ "job": job, "partition": partition });
        let differences: Vec<Json> = self.differences.iter().map(cell).collect();
        let result = json!({
            "cells": self.cells,
            "identical": self.cells - self.differences.len(),
            "differences": differences,
            "missing": self.missing.iter().map(line).collect::<Vec<_>>(),
            "unexpected": self.unexpected.iter().map(line).collect::<Vec<_>>(),
        });
        (result, differences)
    }
}
