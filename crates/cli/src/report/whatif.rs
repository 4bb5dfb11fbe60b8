//! The difference of two outcomes, for people.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::outcome::{lines, table};
use classmate_advice::internal::whatif::{Difference, Short};

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
    let reasons: Vec<String> =
        found.reasons.iter().map(|one| format!("{} ({} → {})", one.name, one.before, one.after)).collect();
    let of_requests = |short: &[Short]| -> (usize, Vec<String>) {
        let told = short.iter().map(|one| format!("{} of the request of {}", one.jobs, one.request));
        (short.iter().map(|one| one.jobs).sum(), told.collect())
    };
    let (now, before) = (of_requests(&found.no_match_now), of_requests(&found.no_match_before));
    let all = |names: &Vec<String>| names.len();
    writeln!(out)?;
    for (many, one, count, names) in [
        ("jobs get a slot now", "job gets a slot now", all(&found.jobs_won), &found.jobs_won),
        ("jobs get none now", "job gets none now", all(&found.jobs_lost), &found.jobs_lost),
        ("jobs get another slot", "job gets another slot", all(&moved), &moved),
        ("slots matched now", "slot matched now", all(&found.slots_won), &found.slots_won),
        ("slots not matched now", "slot not matched now", all(&found.slots_lost), &found.slots_lost),
        (
            "requests match no slot at all now",
            "request matches no slot at all now",
            all(&found.stranded),
            &found.stranded,
        ),
        ("requests match some slot now", "request matches some slot now", all(&found.freed), &found.freed),
        ("jobs find no slot left now", "job finds no slot left now", now.0, &now.1),
        ("jobs found no slot left before", "job found no slot left before", before.0, &before.1),
        ("requests are refused for another reason", "request is refused for another reason", all(&reasons), &reasons),
    ] {
        if names.is_empty() {
            continue;
        }
        let what = if count == 1 { one } else { many };
        let most = if many.contains("another") { MOVED } else { LISTED };
        let more = if names.len() > most { format!(" and {} more", names.len() - most) } else { String::new() };
        let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
        writeln!(out, "{count} {what}: {}{more}", shown.join(", "))?;
    }
    Ok(())
}
