//! The outcome of a cycle as tables.

use std::io;

use indexmap::{IndexMap, IndexSet};

use crate::report::table::{Screen, Table, TableColumn, write_table};
use crate::report::{Color, counted};
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::internal::quota::summary::scaled_down;
use classmate_pool::{GroupSummary, JobId, Match, Outcome, Rejected, Rejection, Tally};

/// Writes submitters, at most so many matches, rejections by reason, and statistics.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, outcome: &Outcome, matches: usize, color: Color) -> io::Result<()> {
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

fn submitters(out: &mut impl Screen, outcome: &Outcome, color: Color) -> io::Result<()> {
    if outcome.submitters.is_empty() {
        return writeln!(out, "no submitters request slots");
    }
    let columns: [TableColumn<SubmitterSummary>; 9] = [
        TableColumn::left("SUBMITTER", 0, |line| line.submitter.clone()),
        TableColumn::right("PRIORITY", 1, |line| {
            line.priority.map_or("-".to_owned(), |priority| format!("{priority:.2}"))
        }),
        TableColumn::right("SHARE", 2, |line| {
            line.share.map_or("-".to_owned(), |share| format!("{:.1}%", share * 100.0))
        }),
        TableColumn::right("LIMIT", 0, |line| line.limit.map_or("-".to_owned(), number)),
        TableColumn::right("RUNNING", 4, |line| line.running.to_string()),
        TableColumn::right("IDLE", 0, |line| line.idle.to_string()),
        TableColumn::right("MATCHED", 0, |line| line.matched.to_string()),
        TableColumn::right("WEIGHT", 3, |line| number(line.weight)),
        TableColumn::left("STOPPED", 0, |line| line.stopped.as_str().to_owned()),
    ];
    write_table(out, &columns, &outcome.submitters, color)
}

fn groups(out: &mut impl Screen, outcome: &Outcome, color: Color) -> io::Result<()> {
    let columns: [TableColumn<GroupSummary>; 7] = [
        TableColumn::left("GROUP", 0, |group| group.name.clone()),
        TableColumn::right("QUOTA", 0, |group| number(group.quota)),
        TableColumn::right("REQUESTED", 0, |group| number(group.demand)),
        TableColumn::right("USED BEFORE", 1, |group| number(group.usage_before)),
        TableColumn::right("ALLOCATED", 0, |group| number(group.allocated)),
        TableColumn::right("USED", 0, |group| number(group.usage)),
        TableColumn::right("ROUNDS", 2, |group| group.rounds.len().to_string()),
    ];
    write_table(out, &columns, &outcome.groups, color)?;
    let differs = |group: &&GroupSummary| number(group.granted()) != number(group.allocated);
    let first = outcome.groups.iter().filter(differs);
    let first: Vec<String> = first.map(|group| format!("{} {}", group.name, number(group.granted()))).collect();
    if !first.is_empty() {
        writeln!(out, "ALLOCATED is of the last round; in the first round: {}", first.join(", "))?;
    }
    scaled_down(&outcome.groups).iter().try_for_each(|sentence| writeln!(out, "{sentence}"))
}

/// At most two decimals, none if they are zero.
fn number(value: f64) -> String {
    if value >= 1e15 {
        return "unlimited".to_owned();
    }
    let text = format!("{value:.2}");
    text.strip_suffix(".00").map_or(text.clone(), str::to_owned)
}

fn made(out: &mut impl Screen, outcome: &Outcome, most: usize, color: Color) -> io::Result<()> {
    if outcome.matches.is_empty() {
        return writeln!(out, "no matches");
    }
    let columns: [TableColumn<(usize, &Match)>; 8] = [
        TableColumn::right("#", 3, |(at, _)| (at + 1).to_string()),
        TableColumn::left("JOB", 0, |(_, made)| made.job.to_string()),
        TableColumn::left("SUBMITTER", 0, |(_, made)| made.submitter.clone()),
        TableColumn::left("SLOT", 0, |(_, made)| made.slot.clone()),
        TableColumn::right("WEIGHT", 2, |(_, made)| number(made.weight)),
        TableColumn::left("PREEMPTING", 1, |(_, made)| match (made.preempting, &made.displaced) {
            (PreemptState::None, _) => "-".to_owned(),
            (_, Some(user)) => user.clone(),
            (_, None) => "unknown".to_owned(),
        }),
        TableColumn::right("PIE", 4, |(_, made)| made.pie.to_string()),
        TableColumn::right("SPIN", 5, |(_, made)| made.spin.to_string()),
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

fn rejections(out: &mut impl Screen, outcome: &Outcome, color: Color) -> io::Result<()> {
    let mut groups: IndexMap<(&str, &str), Group<'_>> = IndexMap::new();
    for rejected in &outcome.rejections {
        let group = groups.entry((&rejected.reason, &rejected.submitter)).or_default();
        group.requests.insert(rejected.job);
        group.last = Some(rejected);
    }
    groups.sort_by(|a, _, b, _| a.0.cmp(b.0));
    let mut table = Table::default();
    for (heading, right, spare) in [
        ("REJECTED FOR", false, 0),
        ("SUBMITTER", false, 0),
        ("REQUESTS", true, 0),
        ("FIRST JOB", false, 1),
        ("SLOTS", false, 2),
    ] {
        table.column(heading, right, spare);
    }
    for ((reason, submitter), group) in &groups {
        let first = group.requests.first().map(ToString::to_string).unwrap_or_default();
        let slots = group.last.map(slots_left).unwrap_or_default();
        table.row([*reason, *submitter, &group.requests.len().to_string(), &first, &slots]);
    }
    table.write(out, color)
}

/// The results of the slots that were left for a request, in words.
pub(super) fn slots_left(rejected: &Rejected) -> String {
    // The limit is looked at before any slot.
    if rejected.rejection == Rejection::ConcurrencyLimit && rejected.slots.considered == 0 {
        return "not considered".to_owned();
    }
    considered(&rejected.slots)
}

const HEAVIER: &str = "heavier than the rest of the submitter limit";

/// The results of the slots that were considered, in words.
fn considered(tally: &Tally) -> String {
    let parts = [
        (tally.refused_by_job, "rejected by the job", "rejected by the job"),
        (tally.refused_by_slot, "reject the job", "rejects the job"),
        (tally.used_by_submitter, "run jobs of the same submitter", "runs a job of the same submitter"),
        (tally.preemption_not_required, "protected by PREEMPTION_REQUIREMENTS", "protected by PREEMPTION_REQUIREMENTS"),
        (tally.prefers_its_job, "prefer the job they run", "prefers the job it runs"),
        (tally.unreachable, "unreachable", "unreachable"),
        (tally.beyond_share, "above the submitter limit", "above the submitter limit"),
        (tally.over_limit, HEAVIER, HEAVIER),
        (tally.over_concurrency_limit, "above a concurrency limit", "above a concurrency limit"),
    ];
    let counted_parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts: Vec<(usize, &str)> =
        counted_parts.map(|(count, several, one)| (count, if count == 1 { one } else { several })).collect();
    // Without those that were given to the submitter since they were searched for.
    let left = if parts.is_empty() { tally.considered } else { parts.iter().map(|(count, _)| count).sum() };
    let text = format!("{} left", counted(left as u64, "candidate slot"));
    match (left, parts.as_slice()) {
        (0, _) => "no candidate slots left".to_owned(),
        (_, []) => text,
        (count, [only]) if count > 1 => format!("{text}, all {}", only.1),
        _ => {
            let parts: Vec<String> = parts.iter().map(|(count, what)| format!("{count} {what}")).collect();
            format!("{text}: {}", parts.join(", "))
        }
    }
}

fn statistics(out: &mut impl Screen, outcome: &Outcome) -> io::Result<()> {
    let counts = &outcome.statistics;
    let with = |submitters: usize, jobs: i64| {
        format!("{} with {}", counted(submitters as u64, "submitter"), counted(jobs as u64, "idle job"))
    };
    let (all, active) = (outcome.submitters.len(), counts.active_submitters);
    let idle = outcome.submitters.iter().fold(0_i64, |sum, line| sum.saturating_add(line.idle));
    let mut submitters = format!("{} in {}", with(all, idle), counted(counts.autoclusters as u64, "autocluster"));
    if (all, idle) != (active, counts.idle_jobs) {
        submitters.push_str(&format!("; {} negotiated", with(active, counts.idle_jobs)));
    }
    writeln!(
        out,
        "{} with weight {}, {} considered; {submitters}",
        counted(counts.total_slots as u64, "slot"),
        number(counts.pool_weight),
        counts.trimmed_slots
    )?;
    let pies = if counts.pies > 1 { format!(" in {} pies", counts.pies) } else { String::new() };
    // Where slots choose jobs, others may be left without a turn.
    let not_drawn =
        |one: &&Rejected| matches!(one.rejection, Rejection::NotRequested | Rejection::NotDrawn | Rejection::SiteLimit);
    let left = outcome.rejections.iter().filter(not_drawn).count();
    let left_text = if left > 0 { format!("; {left} not considered") } else { String::new() };
    writeln!(
        out,
        "{} considered: {}, {}{left_text} ({}{pies})",
        counted(counts.jobs_considered, "request"),
        counted(counts.matches as u64, "match"),
        counted((counts.rejections - left) as u64, "rejection"),
        counted(counts.pie_spins as u64, "pie spin")
    )
}
