//! A simulation as tables, or as lines for other programs.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::outcome::{lines, table};
use crate::simulate::Simulated;
use crate::simulate::result::Line;

/// Submitters in the table; the other forms have all.
const MOST: usize = 20;

/// Writes what it came to, who got what by groups and by submitters.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, simulated: &Simulated, color: Color) -> io::Result<()> {
    let Simulated { jobs, all, .. } = simulated;
    writeln!(out, "{} cores, {} s, {} cycles", simulated.cores, simulated.end - simulated.start, simulated.cycles)?;
    writeln!(
        out,
        "jobs: {} completed, {} running, {} waiting ({} never started), {} yet to come",
        jobs.completed, jobs.running, jobs.waiting, jobs.never_started, jobs.yet_to_come
    )?;
    writeln!(
        out,
        "of {} records left out: {} too large, {} bad, {} cancelled before they ran, {} parts of others",
        jobs.records, jobs.too_large, jobs.bad, jobs.cancelled, jobs.partial
    )?;
    writeln!(
        out,
        "utilisation {:.1} %, Jain's index {:.3}, {} preemptions, {:.0} core-seconds lost\n",
        simulated.utilisation * 100.0,
        simulated.jain,
        all.preemptions,
        all.lost
    )?;
    let headings = ["", "JOBS", "DONE", "WAIT mean", "median", "95 %", "LONGEST", "SLOWDOWN", "SHARE", "DUE"];
    let numbers: Vec<usize> = (1..headings.len()).collect();
    let mut rows = table(&headings, &numbers, color);
    let mut ranked: Vec<&Line> = simulated.submitters.iter().collect();
    ranked.sort_by(|one, other| other.core_seconds.total_cmp(&one.core_seconds));
    let hidden = ranked.len().saturating_sub(MOST);
    ranked.truncate(MOST);
    let groups: &[Line] = if simulated.groups.len() > 1 { &simulated.groups } else { &[] };
    for line in std::iter::once(all).chain(groups).chain(ranked) {
        rows.add_row([
            line.name.clone(),
            line.jobs.to_string(),
            line.completed.to_string(),
            format!("{:.0}", line.wait.mean),
            format!("{:.0}", line.wait.median),
            format!("{:.0}", line.wait.p95),
            line.longest_wait.to_string(),
            format!("{:.2}", line.slowdown.mean),
            format!("{:.1} %", line.share * 100.0),
            line.due.map_or_else(|| "-".to_owned(), |due| format!("{:.1} %", due * 100.0)),
        ]);
    }
    lines(out, &rows)?;
    if hidden > 0 {
        writeln!(out, "\n{hidden} more submitters: --format json has all")?;
    }
    Ok(())
}

/// Writes a heading and a line for everybody, each group and each submitter.
///
/// # Errors
/// The output cannot be written.
pub fn write_csv(out: &mut impl Write, simulated: &Simulated) -> io::Result<()> {
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
        let Line { wait, slowdown, .. } = line;
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

/// A field that may hold anything.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
