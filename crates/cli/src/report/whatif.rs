//! The difference of two outcomes, for people.

use std::io::{self, Write};

use crate::report::outcome::{lines, table};
use crate::report::{Color, counted};
use classmate_advice::internal::whatif::{Difference, ShortRequest};

/// Names listed in one line.
const LISTED: usize = 10;
/// Jobs that get another slot listed in one line.
const MOVED: usize = 3;

/// Writes a difference.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, found: &Difference, color: Color) -> io::Result<()> {
    if found.is_none() {
        return writeln!(out, "no difference: {} before and after", counted(found.matches.0 as u64, "match"));
    }
    writeln!(
        out,
        "matches {} → {}, weight {:.2} → {:.2}, preemptions {} → {}",
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
        let headings = ["GROUP", "QUOTA BEFORE", "AFTER", "ALLOCATED BEFORE", "AFTER", "USED BEFORE", "AFTER"];
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
        let mut table = table(&["SLOT KIND", "MATCHED BEFORE", "AFTER"], &[1, 2], color);
        for one in &found.classes {
            table.add_row([one.name.clone(), one.before.to_string(), one.after.to_string()]);
        }
        lines(out, &table)?;
    }
    let moved: Vec<String> = found.jobs_moved.iter().map(|(job, from, to)| format!("{job} {from} → {to}")).collect();
    let reasons: Vec<String> =
        found.reasons.iter().map(|one| format!("{} ({} → {})", one.name, one.before, one.after)).collect();
    let of_requests = |short: &[ShortRequest]| -> (usize, Vec<String>) {
        let told = short.iter().map(|one| format!("{} from the request of job {}", one.jobs, one.request));
        (short.iter().map(|one| one.jobs).sum(), told.collect())
    };
    let (now, before) = (of_requests(&found.no_match_now), of_requests(&found.no_match_before));
    let all = |names: &Vec<String>| names.len();
    writeln!(out)?;
    for (many, one, count, names) in [
        ("jobs now match", "job now matches", all(&found.jobs_won), &found.jobs_won),
        ("jobs no longer match", "job no longer matches", all(&found.jobs_lost), &found.jobs_lost),
        ("jobs match another slot", "job matches another slot", all(&moved), &moved),
        ("slots are now matched", "slot is now matched", all(&found.slots_won), &found.slots_won),
        ("slots are no longer matched", "slot is no longer matched", all(&found.slots_lost), &found.slots_lost),
        (
            "requests no longer match any slot",
            "request no longer matches any slot",
            all(&found.stranded),
            &found.stranded,
        ),
        ("requests now match a slot", "request now matches a slot", all(&found.freed), &found.freed),
        ("jobs are left without a slot", "job is left without a slot", now.0, &now.1),
        ("jobs were left without a slot before", "job was left without a slot before", before.0, &before.1),
        ("requests are rejected for another reason", "request is rejected for another reason", all(&reasons), &reasons),
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
