//! Several cycles as a table: who holds how much of what is in use.

use std::io;

use crate::report::table::{Screen, Table};
use crate::report::{Color, counted};
use classmate_pool::internal::simulate::replay::{CycleReport, SubmitterUsage};

/// Submitters with a column of their own.
const MAX_COLUMNS: usize = 8;

/// Writes a line a cycle, with the shares of the submitters that hold most.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, cycles: &[CycleReport], color: Color) -> io::Result<()> {
    let names = largest(cycles);
    let fixed = ["CYCLE", "TIME", "ENDED", "STARTED", "DISPLACED", "RUNNING", "IDLE"];
    let mut table = Table::default();
    for (at, heading) in fixed.iter().copied().chain(names.iter().map(String::as_str)).enumerate() {
        // Of the submitters the last ones are left out first; then what happened to jobs.
        let spare = if at >= fixed.len() { at } else { usize::from(["ENDED", "DISPLACED"].contains(&heading)) };
        table.column(heading, true, spare as u8);
    }
    let first = cycles.first().map_or(0, |cycle| cycle.now);
    for cycle in cycles {
        let of = |name: &String| cycle.submitters.iter().find(|usage| usage.submitter == *name);
        let counts = [cycle.ended, cycle.started, cycle.displaced, cycle.running, cycle.idle];
        let row = [cycle.cycle.to_string(), format!("+{}", elapsed(cycle.now - first))]
            .into_iter()
            .chain(counts.iter().map(usize::to_string))
            .chain(names.iter().map(|name| of(name).map_or_else(|| "-".to_owned(), share)));
        table.row(row);
    }
    table.write(out, color)?;
    let all_names = cycles.iter().flat_map(|cycle| &cycle.submitters).map(|usage| &usage.submitter);
    let known = all_names.collect::<std::collections::BTreeSet<_>>().len();
    if known > names.len() {
        writeln!(out, "\n{} (use --format json to list all)", counted((known - names.len()) as u64, "more submitter"))?;
    }
    writeln!(out, "\nshare of the slot weight in use, with the effective priority in parentheses")
}

/// The submitters that held most over all cycles, in the order of their names.
fn largest(cycles: &[CycleReport]) -> Vec<String> {
    let mut sums: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for usage in cycles.iter().flat_map(|cycle| &cycle.submitters) {
        *sums.entry(&usage.submitter).or_default() += usage.weight;
    }
    let mut ranked: Vec<(&str, f64)> = sums.into_iter().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked.truncate(MAX_COLUMNS);
    let mut names: Vec<String> = ranked.into_iter().map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names
}

fn share(usage: &SubmitterUsage) -> String {
    let share = format!("{:.1}%", usage.share * 100.0);
    match usage.priority {
        Some(priority) => format!("{share} ({priority:.2})"),
        None => share,
    }
}

/// Seconds as `d+hh:mm:ss`, days only if there are any.
fn elapsed(seconds: i64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if days > 0 { format!("{days}+{clock}") } else { clock }
}
