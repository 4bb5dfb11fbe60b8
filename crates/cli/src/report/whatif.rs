//! The difference of two outcomes, for people.

use std::borrow::Cow;
use std::io;

use serde::Serialize;

use crate::report::table::{Screen, Table};
use crate::report::{Color, counted};
use classmate_advice::internal::whatif::{Delta, Difference, ShortRequest};

/// Names listed in one line.
const LISTED: usize = 10;
/// Jobs that get another slot listed in one line.
const MOVED: usize = 3;

fn amount(figure: f64) -> String {
    format!("{figure:.2}")
}

fn counts(one: &Delta<usize>) -> [String; 3] {
    [one.name.clone(), one.before.to_string(), one.after.to_string()]
}

/// Writes a table of figures before and after, if there are any.
fn deltas<const N: usize>(
    out: &mut impl Screen,
    headings: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    color: Color,
) -> io::Result<()> {
    let mut table = Table::new(headings, &(1..N).collect::<Vec<_>>());
    rows.for_each(|row| table.row(row));
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table.write(out, color)
}

/// A figure before and after, for programs.
#[derive(Serialize)]
pub struct ChangedFigure {
    kind: &'static str,
    name: String,
    before: f64,
    after: f64,
}

/// The figures that differ, one by one.
pub fn rows(found: &Difference) -> Vec<ChangedFigure> {
    let row = |kind, name: &str, before, after| ChangedFigure { kind, name: name.to_owned(), before, after };
    let counts = |kind: &'static str, all: &[Delta<usize>]| -> Vec<ChangedFigure> {
        all.iter().map(|one| row(kind, &one.name, one.before as f64, one.after as f64)).collect()
    };
    let mut rows = vec![row("matches", "", found.matches.0 as f64, found.matches.1 as f64)];
    rows.extend(found.weights.iter().map(|one| row("weight of a submitter", &one.name, one.before, one.after)));
    rows.extend(counts("matches of a submitter", &found.submitters));
    for Delta { name, before, after } in &found.groups {
        rows.extend([
            row("quota of a group", name, before.quota, after.quota),
            row("allocation of a group", name, before.allocated, after.allocated),
            row("usage of a group", name, before.usage, after.usage),
        ]);
    }
    rows.extend(counts("matches of a slot kind", &found.classes));
    rows
}

/// Writes a difference.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, found: &Difference, color: Color) -> io::Result<()> {
    if found.is_none() {
        return writeln!(out, "no difference: {} before and after", counted(found.matches.0 as u64, "match"));
    }
    writeln!(
        out,
        "matches {} → {}, weight {:.2} → {:.2}, preemptions {} → {}",
        found.matches.0, found.matches.1, found.weight.0, found.weight.1, found.preemptions.0, found.preemptions.1
    )?;
    let weights = found.weights.iter().map(|one| [one.name.clone(), amount(one.before), amount(one.after)]);
    deltas(out, ["SUBMITTER", "WEIGHT BEFORE", "AFTER"], weights, color)?;
    deltas(out, ["SUBMITTER", "MATCHED BEFORE", "AFTER"], found.submitters.iter().map(counts), color)?;
    let groups = found.groups.iter().map(|Delta { name, before: old, after: new }| {
        let figures = [old.quota, new.quota, old.allocated, new.allocated, old.usage, new.usage];
        let [a, b, c, d, e, f] = figures.map(amount);
        [name.clone(), a, b, c, d, e, f]
    });
    let headings = ["GROUP", "QUOTA BEFORE", "AFTER", "ALLOCATED BEFORE", "AFTER", "USED BEFORE", "AFTER"];
    deltas(out, headings, groups, color)?;
    found.scaled_quotas.iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
    deltas(out, ["SLOT KIND", "MATCHED BEFORE", "AFTER"], found.classes.iter().map(counts), color)?;
    writeln!(out)?;
    for (what, count, names) in lists(found) {
        let most = if what.contains("another") { MOVED } else { LISTED };
        let more = if names.len() > most { format!(" and {} more", names.len() - most) } else { String::new() };
        let shown: Vec<&str> = names.iter().take(most).map(String::as_str).collect();
        writeln!(out, "{count} {what}: {}{more}", shown.join(", "))?;
    }
    Ok(())
}

/// The jobs, slots and requests that differ: what they have in common, their number, and their names.
pub fn lists(found: &Difference) -> Vec<(&'static str, usize, Cow<'_, [String]>)> {
    let moved: Vec<String> = found.jobs_moved.iter().map(|(job, from, to)| format!("{job} {from} → {to}")).collect();
    let reasons: Vec<String> =
        found.reasons.iter().map(|one| format!("{} ({} → {})", one.name, one.before, one.after)).collect();
    let of_requests = |short: &[ShortRequest]| -> (usize, Vec<String>) {
        let texts = short.iter().map(|one| format!("{} from the request of job {}", one.jobs, one.request));
        (short.iter().map(|one| one.jobs).sum(), texts.collect())
    };
    let (now, before) = (of_requests(&found.no_match_now), of_requests(&found.no_match_before));
    let all = |many, one, names| (many, one, None, names);
    let of = |names| Cow::Borrowed::<[String]>(names);
    let lists: [(_, _, Option<usize>, Cow<'_, [String]>); 10] = [
        all("jobs now match", "job now matches", of(&found.jobs_won)),
        all("jobs no longer match", "job no longer matches", of(&found.jobs_lost)),
        all("jobs match another slot", "job matches another slot", moved.into()),
        all("slots are now matched", "slot is now matched", of(&found.slots_won)),
        all("slots are no longer matched", "slot is no longer matched", of(&found.slots_lost)),
        all(
            "requests have no slots that match any more",
            "request has no slots that match any more",
            of(&found.stranded),
        ),
        all("requests now have slots that match", "request now has slots that match", of(&found.freed)),
        ("jobs are left without a slot", "job is left without a slot", Some(now.0), now.1.into()),
        ("jobs were left without a slot before", "job was left without a slot before", Some(before.0), before.1.into()),
        all("requests are rejected for another reason", "request is rejected for another reason", reasons.into()),
    ];
    let kept = lists.into_iter().filter(|(.., names)| !names.is_empty());
    kept.map(|(many, one, count, names)| {
        let count = count.unwrap_or(names.len());
        (if count == 1 { one } else { many }, count, names)
    })
    .collect()
}
