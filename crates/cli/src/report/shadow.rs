//! The cycles of a shadow: as lines of text, and as a page that browsers load again by themselves.

use std::io::{self, Write};

use crate::cli::{ShadowHistory, ShadowRow};
use crate::report::page::{Page, PageColumn};
use crate::report::table::{Screen, Table};
use crate::report::verify::time;
use crate::report::{Color, counted, duration};
use classmate_advice::internal::shadow::policy::PolicyComparison;

/// Seconds after which the page is loaded again.
const REFRESH: u32 = 30;

/// Writes a cycle in a line, and each difference below it.
pub(crate) fn write_cycle(out: &mut impl Write, row: &ShadowRow) -> io::Result<()> {
    write!(out, "{}  cycle {}: ", time(row.started), row.cycle)?;
    if row.is_missed {
        return writeln!(out, "not predicted: {}", row.notes.join("; "));
    }
    let matches = match row.published {
        Some(published) => format!("{} of {} seen", row.actual, counted(published, "match")),
        None => counted(row.actual, "match"),
    };
    let age = row.age.map(|age| format!(" (read {age} s before)")).unwrap_or_default();
    if row.identical {
        return writeln!(out, "{matches}, all predicted{age}");
    }
    writeln!(out, "{matches}, {} predicted, {} as predicted{age}", row.predicted, row.agreed)?;
    for note in &row.notes {
        writeln!(out, "  {note}")?;
    }
    let hidden = row.different.saturating_sub(row.notes.len() as u64);
    if hidden > 0 {
        writeln!(out, "  {} not shown", counted(hidden, "more difference"))?;
    }
    Ok(())
}

/// All cycles in a sentence, without its full stop.
pub(crate) fn summary(history: &ShadowHistory) -> String {
    let different = history.cycles - history.identical - history.missed;
    format!(
        "{}: {} identical, {different} different, {} not predicted; {} of {} made as predicted",
        counted(history.cycles, "cycle"),
        history.identical,
        history.missed,
        history.agreed,
        counted(history.actual, "match"),
    )
}

/// Headings of the lines of a comparison of policies.
const POLICY_HEADINGS: [&str; 7] = ["SUBMITTER", "POLICY", "STARTED", "SHARE", "MEAN WAIT", "LONGEST", "PREEMPTIONS"];

/// A line for each submitter and policy.
fn policy_lines(compared: &PolicyComparison) -> impl Iterator<Item = Vec<String>> {
    compared.rows.iter().flat_map(|row| {
        let columns =
            [("happened", row.happened), ("present, simulated", row.present), ("other, simulated", row.other)];
        columns.map(|(policy, figures)| {
            let name = if row.name.is_empty() { "(all)" } else { &row.name };
            vec![
                if policy == "happened" { name.to_owned() } else { String::new() },
                policy.to_owned(),
                format!("{} of {}", figures.started, row.jobs),
                format!("{:.1}%", figures.share * 100.0),
                duration(figures.wait),
                duration(figures.longest as f64),
                figures.preemptions.to_string(),
            ]
        })
    })
}

/// The time and the jobs of a comparison of policies.
fn policy_span(compared: &PolicyComparison) -> String {
    let left = match compared.left_out {
        0 => String::new(),
        left => format!("; {} in the queue left out, because they do not run", counted(left, "job")),
    };
    format!("{} to {}{left}", time(compared.from), time(compared.until))
}

/// Writes the load under the other policy, next to what happened.
pub(crate) fn write_policy(out: &mut impl Screen, compared: &PolicyComparison) -> io::Result<()> {
    writeln!(out, "\nLoad from {}\n", policy_span(compared))?;
    let mut table = Table::new(POLICY_HEADINGS, &[2, 3, 4, 5, 6]);
    policy_lines(compared).for_each(|line| table.row(line));
    table.write(out, Color::Off)
}

/// The page of all cycles.
pub(crate) fn page(history: &ShadowHistory) -> String {
    let mut page = Page::reloading(&format!("Shadow of {}", history.pool), REFRESH);
    page.paragraph(&format!("Since {}: {}.", time(history.began), summary(history)));
    let mut causes: Vec<(&String, &u64)> = history.causes.iter().collect();
    causes.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
    if !causes.is_empty() {
        page.heading("Differences by cause");
        let rows: Vec<Vec<String>> =
            causes.iter().map(|(cause, count)| vec![(*cause).clone(), count.to_string()]).collect();
        page.table("of all cycles", &["cause", "differences"], &rows);
    }
    if let Some(compared) = &history.policy {
        page.heading("The load under another policy");
        page.table(&policy_span(compared), &POLICY_HEADINGS, &policy_lines(compared).collect::<Vec<_>>());
    }
    page.heading("Last cycles");
    let number = |row: &ShadowRow, value: u64| if row.is_missed { "-".to_owned() } else { value.to_string() };
    let rows: Vec<Vec<String>> = history
        .last
        .iter()
        .map(|row| {
            let age = row.age.map_or_else(|| "-".to_owned(), |age| age.to_string());
            let counts = [row.predicted, row.actual, row.agreed, row.different].map(|value| number(row, value));
            [vec![format!("{} ({})", row.cycle, time(row.started)), age], counts.to_vec()].concat()
        })
        .collect();
    let headings = ["cycle", "seconds since reading", "predicted", "made", "as predicted", "differences"];
    page.table("the latest first", &headings, &rows);
    let notes: Vec<Vec<String>> = history
        .last
        .iter()
        .flat_map(|row| row.notes.iter().map(|note| vec![note.clone(), row.cycle.to_string()]))
        .collect();
    if !notes.is_empty() {
        page.table("differences", &["difference", "cycle"], &notes);
    }
    if !history.events.is_empty() {
        page.heading("Events");
        let columns: [PageColumn<(i64, String)>; 2] =
            [("event", |event| event.1.clone()), ("time", |event| time(event.0))];
        page.columns("the latest first", &columns, &history.events);
    }
    page.finish()
}
