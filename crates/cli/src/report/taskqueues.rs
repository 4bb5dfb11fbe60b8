//! Task queues as a table.

use std::io;

use crate::report::table::{Screen, TableColumn, write_table};
use crate::report::{Color, counted};
use classmate_pool::internal::priority::dirac::Listing;
use classmate_pool::internal::priority::dirac::listing::TaskQueueRow;

/// Writes a line a queue, and the draws.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, listing: &Listing, color: Color) -> io::Result<()> {
    if listing.queues.is_empty() {
        return match &listing.slot {
            Some(slot) if listing.busy => writeln!(out, "{slot} runs a job and does not request another one"),
            Some(slot) if listing.in_all > 0 => {
                writeln!(out, "{slot} accepts none of the {}", counted(listing.in_all as u64, "task queue"))
            }
            _ => writeln!(out, "no task queues: there are no waiting jobs"),
        };
    }
    let columns: [TableColumn<TaskQueueRow>; 12] = [
        TableColumn::right("TQ", 0, |line| line.row.queue.to_string()),
        TableColumn::right("JOBS", 0, |line| line.jobs.to_string()),
        TableColumn::left("OWNER", 0, |line| line.owner.clone()),
        TableColumn::left("GROUP", 0, |line| line.group.clone()),
        TableColumn::right("CPU TIME", 3, |line| line.cpu_time.to_string()),
        TableColumn::left("SITES", 2, sites),
        TableColumn::left("PLATFORMS", 5, |line| set(&line.platforms)),
        TableColumn::left("TAGS", 6, |line| set(&line.tags)),
        TableColumn::right("GROUP SHARE", 4, |line| share(line.row.group_share, line.row.group_correction)),
        TableColumn::right("SHARE", 1, |line| share(line.row.share, line.row.user_correction)),
        TableColumn::right("PRIORITY", 0, |line| format!("{:.4}", line.row.priority)),
        TableColumn::right("FIRST", 0, |line| format!("{:.2}%", line.chance * 100.0)),
    ];
    write_table(out, &columns, &listing.queues, color)?;
    let jobs: usize = listing.queues.iter().map(|line| line.jobs).sum();
    writeln!(out)?;
    let shown = counted(listing.queues.len() as u64, "task queue");
    let jobs = counted(jobs as u64, "job");
    match &listing.slot {
        Some(slot) => writeln!(out, "{slot} accepts {shown} of {} with {jobs}", listing.in_all)?,
        None => writeln!(out, "{shown} with {jobs}")?,
    }
    for (at, draw) in listing.draws.iter().enumerate() {
        let order: Vec<String> = draw.order.iter().map(ToString::to_string).collect();
        let job = draw.job.as_deref().unwrap_or("-");
        writeln!(out, "draw {}: {} -> job {job}", at + 1, order.join(" "))?;
    }
    Ok(())
}

/// A share and its correction, if there is one.
fn share(share: f64, correction: f64) -> String {
    let number = format!("{share:.2}");
    let number = number.strip_suffix(".00").unwrap_or(&number);
    if correction == 1.0 { number.to_owned() } else { format!("{number} x{correction:.2}") }
}

fn set(values: &[String]) -> String {
    if values.is_empty() { "-".to_owned() } else { values.join(",") }
}

fn sites(line: &TaskQueueRow) -> String {
    let banned = line.banned_sites.iter().map(|site| format!("!{site}"));
    set(&line.sites.iter().cloned().chain(banned).collect::<Vec<_>>())
}
