//! The difference of two outcomes, for people.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::outcome::{lines, table};
use crate::whatif::Difference;

/// Names listed in one line.
const LISTED: usize = 10;
/// Jobs that get another slot listed in one line.
const MOVED: usize = 3;

fn counted_matches(count: usize) -> String {
    if count == 1 { "1 match".to_owned() } else { format!("{count} matches") }
}

/// Writes a difference.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, found: &Difference, color: Color) -> io::Result<()> {
    if found.is_none() {
        return writeln!(out, "no difference: {} before and after", counted_matches(found.matches.0));
    }
    writeln!(
        out,
        "matches {} → {}, weight {:.2} → {:.2}, pre-emptions {} → {}",
        found.matches.0, found.matches.1, found.weight.0, found.weight.1, found.preemptions.0, found.preemptions.1
    )?;
    if !found.weights.is_empty() {
        writeln!(out)?;
        let mut table = table(&["SUBMITTER", "WEIGHT BEFORE", "AFTER"], &[1, 2], color);
        for one in &found.weights {
            table.add_row([one.name.clone(), format!("{:.2}", one.before), format!("{:.2}", one.after)]);
        }
        lines(out, &table)?;
    }
    if !found.submitters.is_empty() {
        writeln!(out)?;
        let mut table = table(&["SUBMITTER", "MATCHED BEFORE", "AFTER"], &[1, 2], color);
        for one in &found.submitters {
            table.add_row([one.name.clone(), one.before.to_string(), one.after.to_string()]);
        }
        lines(out, &table)?;
    }
    if !found.groups.is_empty() {
        writeln!(out)?;
        let headings = ["GROUP", "QUOTA BEFORE", "AFTER", "GRANTED BEFORE", "AFTER", "USED BEFORE", "AFTER"];
        let mut table = table(&headings, &[1, 2, 3, 4, 5, 6], color);
        for one in &found.groups {
            let (old, new) = (&one.before, &one.after);
            let figures = [old.quota, new.quota, old.allocated, new.allocated, old.usage, new.usage];
            let mut row = vec![one.name.clone()];
            row.extend(figures.iter().map(|figure| format!("{figure:.2}")));
            table.add_row(row);
        }
        lines(out, &table)?;
    }
    if !found.classes.is_empty() {
        writeln!(out)?;
        let mut table = table(&["KIND OF SLOT", "MATCHED BEFORE", "AFTER"], &[1, 2], color);
        for one in &found.classes {
            table.add_row([one.name.clone(), one.before.to_string(), one.after.to_string()]);
        }
        lines(out, &table)?;
    }
    let moved: Vec<String> = found.jobs_moved.iter().map(|(job, from, to)| format!("{job} {from} → {to}")).collect();
    writeln!(out)?;
    for (many, one, names) in [
        ("jobs get a slot now", "job gets a slot now", &found.jobs_won),
        ("jobs get none now", "job gets none now", &found.jobs_lost),
        ("jobs get another slot", "job gets another slot", &moved),
        ("slots matched now", "slot matched now", &found.slots_won),
        ("slots not matched now", "slot not matched now", &found.slots_lost),
        ("requests match no slot at all now", "request matches no slot at all now", &found.stranded),
        ("requests match some slot now", "request matches some slot now", &found.freed),
        ("requests find no slot left now", "request finds no slot left now", &found.no_match_now),
        ("requests found no slot left before", "request found no slot left before", &found.no_match_before),
    ] {
        if names.is_empty() {
            continue;
        }
        let what = if names.len() == 1 { one } else { many };
        let most = if many.contains("another") { MOVED } else { LISTED };
        let more = if names.len() > most { format!(" and {} more", names.len() - most) } else { String::new() };
        let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
        writeln!(out, "{} {what}: {}{more}", names.len(), shown.join(", "))?;
    }
    Ok(())
}
