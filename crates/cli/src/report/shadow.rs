//! The cycles of a shadow: as lines of text, and as a page that browsers load again by themselves.

use std::io::{self, Write};

use crate::cli::{ShadowHistory, ShadowRow};
use crate::report::counted;
use crate::report::page::{Page, PageColumn};
use crate::report::verify::time;

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
