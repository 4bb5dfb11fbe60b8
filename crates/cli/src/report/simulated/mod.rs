//! A simulation as tables, as lines for other programs, or as a page.

pub mod compared;
pub mod experiment;
pub mod html;
mod plots;
mod result_table;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::report::table::{Screen, TableColumn, write_table};
use crate::report::{Color, counted, duration, page};
use classmate_pool::SimulationResult;
use classmate_pool::internal::simulate::contention::ContendedShare;
use classmate_pool::internal::simulate::result::EntityRow;

/// Submitters in the table; the other forms have all.
const MAX_ROWS: usize = 20;

/// Writes the results: in all, by group and by submitter.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, simulated: &SimulationResult, color: Color) -> io::Result<()> {
    for line in counts(simulated) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let columns: [TableColumn<EntityRow>; 10] = [
        TableColumn::left("", 0, |line| line.name.clone()),
        TableColumn::right("JOBS", 0, |line| line.jobs.to_string()),
        TableColumn::right("DONE", 0, |line| line.completed.to_string()),
        TableColumn::right("WAIT mean", 0, |line| duration(line.wait.mean)),
        TableColumn::right("median", 1, |line| duration(line.wait.median)),
        TableColumn::right("95%", 2, |line| duration(line.wait.p95)),
        TableColumn::right("LONGEST", 4, |line| duration(line.longest_wait as f64)),
        TableColumn::right("SLOWDOWN", 3, |line| format!("{:.2}", line.slowdown.mean)),
        TableColumn::right("SHARE", 0, |line| percent(Some(line.share))),
        TableColumn::right("ENTITLED", 0, |line| percent(line.due)),
    ];
    let mut ranked: Vec<&EntityRow> = simulated.submitters.iter().collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    let hidden = ranked.len().saturating_sub(MAX_ROWS);
    ranked.truncate(MAX_ROWS);
    let groups: &[EntityRow] = if simulated.groups.len() > 1 { &simulated.groups } else { &[] };
    write_table(out, &columns, std::iter::once(&simulated.all).chain(groups).chain(ranked), color)?;
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
            counted(jobs.source.records, "record"),
            jobs.too_large,
            jobs.source.bad,
            jobs.source.cancelled,
            counted(jobs.source.partial, "partial execution")
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

fn contended(line: &EntityRow, number: fn(&ContendedShare) -> f64) -> String {
    line.contended.as_ref().map(|found| number(found).to_string()).unwrap_or_default()
}

/// Usage and entitled share under contention, or a dash.
fn shares(contended: Option<&ContendedShare>) -> String {
    contended.map_or_else(|| "-".to_owned(), |found| format!("{:.1} of {:.1}%", found.share * 100.0, found.due * 100.0))
}

/// A number without its decimals.
fn figure(number: f64) -> String {
    format!("{number:.0}")
}

/// All submitters together, each group and each submitter, by their kind.
pub fn kinds(simulated: &SimulationResult) -> [(&'static str, &[EntityRow]); 3] {
    [
        ("all", std::slice::from_ref(&simulated.all)),
        ("group", &simulated.groups[..]),
        ("submitter", &simulated.submitters[..]),
    ]
}

/// Writes a heading and a line for all submitters together, each group and each submitter.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, simulated: &SimulationResult) -> io::Result<()> {
    let columns: [page::PageColumn<EntityRow>; 19] = [
        ("name", |line| quoted(&line.name)),
        ("jobs", |line| line.jobs.to_string()),
        ("completed", |line| line.completed.to_string()),
        ("too_large", |line| line.too_large.to_string()),
        ("wait_mean", |line| line.wait.mean.to_string()),
        ("wait_median", |line| line.wait.median.to_string()),
        ("wait_p95", |line| line.wait.p95.to_string()),
        ("longest_wait", |line| line.longest_wait.to_string()),
        ("slowdown_mean", |line| line.slowdown.mean.to_string()),
        ("slowdown_median", |line| line.slowdown.median.to_string()),
        ("slowdown_p95", |line| line.slowdown.p95.to_string()),
        ("core_seconds", |line| line.core_seconds.to_string()),
        ("share", |line| line.share.to_string()),
        ("due", |line| line.due.map(|due| due.to_string()).unwrap_or_default()),
        ("preemptions", |line| line.preemptions.to_string()),
        ("lost", |line| line.lost.to_string()),
        ("contended_seconds", |line| contended(line, |found| found.seconds)),
        ("contended_share", |line| contended(line, |found| found.share)),
        ("contended_due", |line| contended(line, |found| found.due)),
    ];
    writeln!(out, "kind,{}", columns.map(|(heading, _)| heading).join(","))?;
    for (kind, line) in
        kinds(simulated).into_iter().flat_map(|(kind, lines)| lines.iter().map(move |line| (kind, line)))
    {
        writeln!(out, "{kind},{}", columns.map(|(_, text)| text(line)).join(","))?;
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
