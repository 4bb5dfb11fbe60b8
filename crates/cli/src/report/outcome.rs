//! The outcome of a cycle as tables.

use std::io::{self, Write};

use comfy_table::CellAlignment::{Left, Right};
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};
use indexmap::{IndexMap, IndexSet};

use crate::report::{Color, counted};
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::{GroupSummary, JobId, Match, Outcome, Rejected, Rejection, Tally};

/// Writes submitters, at most so many matches, rejections by reason, and statistics.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, outcome: &Outcome, matches: usize, color: Color) -> io::Result<()> {
    submitters(out, outcome, color)?;
    if !outcome.groups.is_empty() {
        writeln!(out)?;
        groups(out, outcome, color)?;
    }
    if matches > 0 {
        writeln!(out)?;
        made(out, outcome, matches, color)?;
    }
    if !outcome.rejections.is_empty() {
        writeln!(out)?;
        rejections(out, outcome, color)?;
    }
    writeln!(out)?;
    statistics(out, outcome)?;
    for quirk in &outcome.quirks {
        writeln!(out, "note: {quirk}")?;
    }
    Ok(())
}

pub(super) fn table(headings: &[&str], numbers: &[usize], color: Color) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    match color {
        Color::On => table.enforce_styling(),
        Color::Off => table.force_no_tty(),
    };
    table.set_header(headings.iter().map(|heading| Cell::new(heading).add_attribute(Attribute::Bold)));
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&at) {
            column.set_cell_alignment(Right);
        }
    }
    table
}

pub(super) fn lines(out: &mut impl Write, table: &Table) -> io::Result<()> {
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A column of a table: its heading, its alignment, and its text for a row.
pub(super) type TableColumn<R> = (&'static str, CellAlignment, fn(&R) -> String);

/// Writes a table with a line for each row.
pub(super) fn write_table<'r, R: 'r>(
    out: &mut impl Write,
    columns: &[TableColumn<R>],
    rows: impl IntoIterator<Item = &'r R>,
    color: Color,
) -> io::Result<()> {
    let headings: Vec<&str> = columns.iter().map(|(heading, ..)| *heading).collect();
    let numbers: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].1 == Right).collect();
    let mut drawn = table(&headings, &numbers, color);
    for row in rows {
        drawn.add_row(columns.iter().map(|(.., text)| text(row)));
    }
    lines(out, &drawn)
}

fn submitters(out: &mut impl Write, outcome: &Outcome, color: Color) -> io::Result<()> {
    if outcome.submitters.is_empty() {
        return writeln!(out, "no submitters: there are no idle or running jobs");
    }
    let columns: [TableColumn<SubmitterSummary>; 9] = [
        ("SUBMITTER", Left, |line| line.submitter.clone()),
        ("PRIORITY", Right, |line| line.priority.map_or("-".to_owned(), |priority| format!("{priority:.2}"))),
        ("SHARE", Right, |line| line.share.map_or("-".to_owned(), |share| format!("{:.1}%", share * 100.0))),
        ("LIMIT", Right, |line| line.limit.map_or("-".to_owned(), number)),
        ("RUNNING", Right, |line| line.running.to_string()),
        ("IDLE", Right, |line| line.idle.to_string()),
        ("MATCHED", Right, |line| line.matched.to_string()),
        ("WEIGHT", Right, |line| number(line.weight)),
        ("STOPPED", Left, |line| line.stopped.as_str().to_owned()),
    ];
    write_table(out, &columns, &outcome.submitters, color)
}

fn groups(out: &mut impl Write, outcome: &Outcome, color: Color) -> io::Result<()> {
    let columns: [TableColumn<GroupSummary>; 7] = [
        ("GROUP", Left, |group| group.name.clone()),
        ("QUOTA", Right, |group| number(group.quota)),
        ("REQUESTED", Right, |group| number(group.demand)),
        ("USED BEFORE", Right, |group| number(group.usage_before)),
        ("ALLOCATED", Right, |group| number(group.granted())),
        ("USED", Right, |group| number(group.usage)),
        ("ROUNDS", Right, |group| group.rounds.len().to_string()),
    ];
    write_table(out, &columns, &outcome.groups, color)
}

/// At most two decimals, none if they are zero.
fn number(value: f64) -> String {
    if value >= 1e15 {
        return "unlimited".to_owned();
    }
    let text = format!("{value:.2}");
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}

fn made(out: &mut impl Write, outcome: &Outcome, most: usize, color: Color) -> io::Result<()> {
    if outcome.matches.is_empty() {
        return writeln!(out, "no matches");
    }
    let columns: [TableColumn<(usize, &Match)>; 8] = [
        ("#", Right, |(at, _)| (at + 1).to_string()),
        ("JOB", Left, |(_, made)| made.job.to_string()),
        ("SUBMITTER", Left, |(_, made)| made.submitter.clone()),
        ("SLOT", Left, |(_, made)| made.slot.clone()),
        ("WEIGHT", Right, |(_, made)| number(made.weight)),
        ("PREEMPTING", Left, |(_, made)| match (made.preempting, &made.displaced) {
            (PreemptState::None, _) => "-".to_owned(),
            (_, Some(user)) => user.clone(),
            (_, None) => "unknown".to_owned(),
        }),
        ("PIE", Right, |(_, made)| made.pie.to_string()),
        ("SPIN", Right, |(_, made)| made.spin.to_string()),
    ];
    write_table(out, &columns, &outcome.matches.iter().enumerate().take(most).collect::<Vec<_>>(), color)?;
    let hidden = outcome.matches.len().saturating_sub(most);
    if hidden > 0 {
        writeln!(out, "{} not shown (use --matches all)", counted(hidden as u64, "more match"))?;
    }
    Ok(())
}

/// Rejections of one submitter for one reason.
#[derive(Default)]
struct Group<'a> {
    last: Option<&'a Rejected>,
    requests: IndexSet<JobId>,
}

fn rejections(out: &mut impl Write, outcome: &Outcome, color: Color) -> io::Result<()> {
    let mut groups: IndexMap<(&str, &str), Group<'_>> = IndexMap::new();
    for rejected in &outcome.rejections {
        let group = groups.entry((&rejected.reason, &rejected.submitter)).or_default();
        group.requests.insert(rejected.job);
        group.last = Some(rejected);
    }
    groups.sort_by(|a, _, b, _| a.0.cmp(b.0));
    let mut table = table(&["REJECTED FOR", "SUBMITTER", "REQUESTS", "FIRST JOB", "SLOTS"], &[2], color);
    for ((reason, submitter), group) in &groups {
        let first = group.requests.first().map(ToString::to_string).unwrap_or_default();
        let slots = match group.last {
            // The limit is looked at before any slot.
            Some(last) if last.rejection == Rejection::ConcurrencyLimit && last.slots.considered == 0 => {
                "not considered".to_owned()
            }
            Some(last) => considered(&last.slots),
            None => String::new(),
        };
        table.add_row([*reason, *submitter, &group.requests.len().to_string(), &first, &slots]);
    }
    lines(out, &table)
}

/// The results of the slots that were considered, in words.
fn considered(tally: &Tally) -> String {
    let parts = [
        (tally.refused_by_job, "rejected by the job"),
        (tally.refused_by_slot, "reject the job"),
        (tally.used_by_submitter, "run jobs of the same submitter"),
        (tally.preemption_not_required, "protected by PREEMPTION_REQUIREMENTS"),
        (tally.prefers_its_job, "prefer the job they run"),
        (tally.unreachable, "unreachable"),
        (tally.beyond_share, "above the submitter limit"),
        (tally.over_limit, "heavier than the rest of the submitter limit"),
        (tally.over_concurrency_limit, "above a concurrency limit"),
    ];
    let parts: Vec<(usize, &str)> = parts.into_iter().filter(|(count, _)| *count > 0).collect();
    let left = format!("{} left", counted(tally.considered as u64, "candidate slot"));
    match (tally.considered, parts.as_slice()) {
        (0, _) => "no candidate slots left".to_owned(),
        (_, []) => left,
        (count, [only]) if count > 1 && only.0 == count => format!("{left}, all {}", only.1),
        _ => {
            let parts: Vec<String> = parts.iter().map(|(count, what)| format!("{count} {what}")).collect();
            format!("{left}: {}", parts.join(", "))
        }
    }
}

fn statistics(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let counts = &outcome.statistics;
    writeln!(
        out,
        "{} with weight {}, {} considered; {} with {} in {}",
        counted(counts.total_slots as u64, "slot"),
        number(counts.pool_weight),
        counts.trimmed_slots,
        counted(counts.active_submitters as u64, "submitter"),
        counted(counts.idle_jobs as u64, "idle job"),
        counted(counts.autoclusters as u64, "autocluster")
    )?;
    let pies = if counts.pies > 1 { format!(" in {} pies", counts.pies) } else { String::new() };
    writeln!(
        out,
        "{} considered: {}, {} ({}{pies})",
        counted(counts.jobs_considered, "request"),
        counted(counts.matches as u64, "match"),
        counted(counts.rejections as u64, "rejection"),
        counted(counts.pie_spins as u64, "pie spin")
    )
}
