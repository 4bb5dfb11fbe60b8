//! A simulation as tables, as lines for other programs, or as a page.

pub mod compared;
pub mod html;
mod plots;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::report::outcome::{lines, table};
use crate::report::{Color, counted, duration};
use classmate_pool::internal::simulate::SimulationResult;
use classmate_pool::internal::simulate::result::EntityRow;

/// Submitters in the table; the other forms have all.
const MAX_ROWS: usize = 20;

/// Writes the results: in all, by group and by submitter.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, simulated: &SimulationResult, color: Color) -> io::Result<()> {
    for line in counts(simulated) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let all = &simulated.all;
    let headings = ["", "JOBS", "DONE", "WAIT mean", "median", "95%", "LONGEST", "SLOWDOWN", "SHARE", "ENTITLED"];
    let numbers: Vec<usize> = (1..headings.len()).collect();
    let mut rows = table(&headings, &numbers, color);
    let mut ranked: Vec<&EntityRow> = simulated.submitters.iter().collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    let hidden = ranked.len().saturating_sub(MAX_ROWS);
    ranked.truncate(MAX_ROWS);
    let groups: &[EntityRow] = if simulated.groups.len() > 1 { &simulated.groups } else { &[] };
    for line in std::iter::once(all).chain(groups).chain(ranked) {
        rows.add_row([
            line.name.clone(),
            line.jobs.to_string(),
            line.completed.to_string(),
            duration(line.wait.mean),
            duration(line.wait.median),
            duration(line.wait.p95),
            duration(line.longest_wait as f64),
            format!("{:.2}", line.slowdown.mean),
            percent(Some(line.share)),
            percent(line.due),
        ]);
    }
    lines(out, &rows)?;
    if hidden > 0 {
        writeln!(out, "\n{} (use --format json to list all)", counted(hidden as u64, "more submitter"))?;
    }
    Ok(())
}

/// Results of a simulation as a whole, in lines.
fn counts(simulated: &SimulationResult) -> Vec<String> {
    let SimulationResult { jobs, all, .. } = simulated;
    vec![
        format!(
            "{}, {}, {}",
            counted(simulated.cores as u64, "core"),
            duration((simulated.end - simulated.start) as f64),
            counted(simulated.cycles, "cycle")
        ),
        format!(
            "jobs: {} completed, {} running, {} waiting ({} never started), {} not yet submitted",
            jobs.completed, jobs.running, jobs.waiting, jobs.never_started, jobs.yet_to_come
        ),
        format!(
            "{}; skipped: {} too large, {} malformed, {} canceled before they ran, {}",
            counted(jobs.records, "record"),
            jobs.too_large,
            jobs.bad,
            jobs.cancelled,
            counted(jobs.partial, "partial execution")
        ),
        format!(
            "utilization {:.1}%, Jain's index {:.3}, longest wait {}, {}, {:.0} core-seconds lost",
            simulated.utilisation * 100.0,
            simulated.jain,
            duration(all.longest_wait as f64),
            counted(all.preemptions, "preemption"),
            all.lost
        ),
    ]
}

/// A fraction in percent, or a dash.
fn percent(fraction: Option<f64>) -> String {
    fraction.map_or_else(|| "-".to_owned(), |fraction| format!("{:.1}%", fraction * 100.0))
}

/// A number without its decimals.
fn figure(number: f64) -> String {
    format!("{number:.0}")
}

/// Writes a heading and a line for all submitters together, each group and each submitter.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, simulated: &SimulationResult) -> io::Result<()> {
    writeln!(
        out,
        "kind,name,jobs,completed,too_large,wait_mean,wait_median,wait_p95,longest_wait,slowdown_mean,slowdown_median,\
         slowdown_p95,core_seconds,share,due,preemptions,lost"
    )?;
    let kinds = [
        ("all", std::slice::from_ref(&simulated.all)),
        ("group", &simulated.groups[..]),
        ("submitter", &simulated.submitters[..]),
    ];
    for (kind, line) in kinds.into_iter().flat_map(|(kind, lines)| lines.iter().map(move |line| (kind, line))) {
        let EntityRow { wait, slowdown, .. } = line;
        writeln!(
            out,
            "{kind},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            quoted(&line.name),
            line.jobs,
            line.completed,
            line.too_large,
            wait.mean,
            wait.median,
            wait.p95,
            line.longest_wait,
            slowdown.mean,
            slowdown.median,
            slowdown.p95,
            line.core_seconds,
            line.share,
            line.due.map(|due| due.to_string()).unwrap_or_default(),
            line.preemptions,
            line.lost
        )?;
    }
    Ok(())
}

/// Writes a heading and a line for all submitters together and for each, step by step: time, usage and queue, or share
/// and entitled share.
///
/// # Errors
/// The output cannot be written.
pub fn write_steps(out: &mut impl Write, simulated: &SimulationResult) -> io::Result<()> {
    writeln!(out, "start,kind,name,utilisation,waiting,share,due")?;
    for step in &simulated.over_time {
        writeln!(out, "{},all,all,{},{},,", step.start, step.utilisation, step.waiting)?;
        let both = [("group", &step.group_shares, &step.group_due), ("submitter", &step.shares, &step.due)];
        for (kind, shares, due) in both {
            let names: BTreeSet<&String> = shares.keys().chain(due.keys()).collect();
            for name in names {
                let text = |of: &BTreeMap<String, f64>| of.get(name).map(f64::to_string).unwrap_or_default();
                writeln!(out, "{},{kind},{},,,{},{}", step.start, quoted(name), text(shares), text(due))?;
            }
        }
    }
    Ok(())
}

/// A field that may hold anything.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
