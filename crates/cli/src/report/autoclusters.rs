//! Significant attributes as a table, with reasons, before and after a change.

use std::io::{self, Write};

use crate::report::table::{Screen, Table};
use crate::report::{Color, counted};
use classmate_advice::internal::autoclusters::{Audit, Significance};
use classmate_advice::internal::explain::values::verb;

/// Writes the attributes with their costs, all `reasons` or only the first, and advice.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, audit: &Audit, reasons: bool, color: Color) -> io::Result<()> {
    let known = audit.idle_jobs > 0;
    let mut table = Table::default();
    table.column("ATTRIBUTE", false, 0);
    if known {
        table.column("VALUES", true, 0);
        table.column("AUTOCLUSTERS WITHOUT", true, 1);
        table.column("REQUESTS WITHOUT", true, 2);
    }
    table.column("MATTERS", false, 0);
    table.column("BECAUSE OF", false, 0);
    for one in &audit.attributes {
        let mut row = vec![one.name.clone()];
        if known {
            row.extend([
                one.values.to_string(),
                one.autoclusters_without.to_string(),
                one.requests_without.to_string(),
            ]);
        }
        row.extend([if one.matters { "yes" } else { "no" }.to_owned(), because(one)]);
        table.row(row);
    }
    table.write(out, color)?;
    writeln!(out)?;
    if reasons {
        for one in &audit.attributes {
            writeln!(out, "{}", one.name)?;
            for reason in &one.reasons {
                match (reason.source.as_str(), reason.slots) {
                    (source, _) if reason.jobs > 0 => {
                        writeln!(out, "  {source} = {}  ({})", reason.text, counted(reason.jobs as u64, "job"))?;
                    }
                    ("", _) => writeln!(out, "  {}", reason.text)?,
                    (source, 0) => writeln!(out, "  {source} = {}", reason.text)?,
                    (source, slots) => {
                        writeln!(out, "  {source} = {}  ({})", reason.text, counted(slots as u64, "slot"))?;
                    }
                }
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(audit))?;
    for warning in &audit.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

/// The audit in a few lines.
pub fn summary(audit: &Audit) -> String {
    let significant = audit.attributes.iter().filter(|one| one.significant).count();
    let mut text = format!(
        "{} {} to {}, of which {} can affect a match; {} {} significant",
        counted(audit.slots as u64, "slot"),
        if audit.slots == 1 { "refers" } else { "refer" },
        counted(audit.referred as u64, "job attribute"),
        audit.referred_that_matter,
        significant,
        if significant == 1 { "is" } else { "are" },
    );
    let others = audit.attributes.len() - significant;
    if others > 0 {
        text.push_str(&format!(", and values of these in jobs refer to {others} more"));
    }
    if audit.idle_jobs > 0 {
        text.push_str(&format!(
            "\n{} in {} and {}: up to {} request-slot pairs to evaluate",
            counted(audit.idle_jobs as u64, "idle job"),
            counted(audit.autoclusters as u64, "autocluster"),
            counted(audit.requests as u64, "request"),
            audit.tests,
        ));
        if audit.excluded_jobs > 0 {
            let excluded = counted(audit.excluded_jobs as u64, "more idle job");
            let counts = verb(audit.excluded_jobs, "does", "do");
            text.push_str(&format!("\n{excluded} {counts} not count: NEGOTIATOR_JOB_CONSTRAINT is not true"));
        }
        if let Some(outcomes) = audit.outcomes {
            text.push_str(&format!(
                "\n{} {} in the slots {} or in Rank",
                counted(outcomes as u64, "autocluster"),
                if outcomes == 1 { "differs" } else { "differ" },
                if outcomes == 1 { "it matches" } else { "they match" },
            ));
        }
    }
    text
}

/// Writes what a change does to the attributes and numbers.
///
/// # Errors
/// The output cannot be written.
pub fn write_change(out: &mut impl Write, before: &Audit, after: &Audit) -> io::Result<()> {
    let has = |audit: &Audit, name: &str| audit.attributes.iter().any(|one| one.name.eq_ignore_ascii_case(name));
    for one in &after.attributes {
        if !has(before, &one.name) {
            writeln!(out, "+ {}  {}", one.name, because(one))?;
        }
    }
    for one in &before.attributes {
        if !has(after, &one.name) {
            writeln!(out, "- {}  {}", one.name, because(one))?;
        }
    }
    writeln!(out, "before: {}", summary(before).replace('\n', "\n        "))?;
    writeln!(out, "after:  {}", summary(after).replace('\n', "\n        "))?;
    for warning in after.warnings.iter().filter(|warning| !before.warnings.contains(warning)) {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

/// The first reason of slots and the first of jobs, and how many others there are.
fn because(one: &Significance) -> String {
    let mut shown: Vec<String> = Vec::new();
    let of_slots = one.reasons.iter().find(|reason| reason.jobs == 0);
    let of_jobs = one.reasons.iter().find(|reason| reason.jobs > 0);
    for reason in of_slots.into_iter().chain(of_jobs) {
        shown.push(match (reason.source.as_str(), reason.slots, reason.jobs) {
            ("", ..) => reason.text.clone(),
            (source, 0, 0) => source.to_owned(),
            (source, slots, 0) => format!("{source} of {}", counted(slots as u64, "slot")),
            (source, _, jobs) => format!("{source} of {}", counted(jobs as u64, "job")),
        });
    }
    match one.reasons.len() - shown.len() {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}
