//! Group quotas as a table, or the derivation of one group's.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::outcome::{lines, table};
use classmate_pool::internal::negotiate::quotas::{Division, ExplainedGroup};
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::internal::quota::summary::{QuotaKind, SurplusPolicy};

/// Levels by which names are indented at most.
const MAX_INDENT: usize = 10;

/// Writes a line a group.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, division: &Division, color: Color) -> io::Result<()> {
    let headings = [
        "GROUP",
        "CONFIGURED",
        "QUOTA",
        "SUBTREE",
        "REQUESTED",
        "IN USE",
        "TAKES",
        "LEAVES",
        "ALLOCATED",
        "SURPLUS",
        "ORDER",
        "WHY",
    ];
    let mut table = table(&headings, &[1, 2, 3, 4, 5, 6, 7, 8, 10], color);
    for group in &division.groups {
        let ExplainedGroup { summary, depth, place, why, .. } = group;
        let round = summary.rounds.first();
        let taken: f64 = round.map_or(0.0, |round| round.taken.iter().map(|taken| taken.amount).sum());
        let left = round.map_or(0.0, |round| round.spare);
        table.add_row([
            format!("{}{}", "  ".repeat((*depth).min(MAX_INDENT)), summary.name),
            configured(group),
            slots(summary.quota),
            slots(summary.subtree_quota),
            slots(summary.demand),
            slots(summary.usage),
            some(taken),
            some(left),
            slots(summary.allocated),
            policy(summary.surplus).to_owned(),
            place.to_string(),
            why.clone(),
        ]);
    }
    lines(out, &table)?;
    let unit = if division.weighted { "slot weight" } else { "slots" };
    writeln!(out)?;
    writeln!(out, "Pool size {} ({unit}); {} not allocated to any group", slots(division.pool), slots(division.surplus))
}

/// Writes how the grant of one group came about.
///
/// # Errors
/// The output cannot be written.
pub fn write_story(out: &mut impl Write, group: &ExplainedGroup) -> io::Result<()> {
    writeln!(out, "{}", group.summary.name)?;
    for line in &group.story {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn configured(group: &ExplainedGroup) -> String {
    match group.summary.kind {
        QuotaKind::Pool => "-".to_owned(),
        QuotaKind::Static => slots(group.summary.configured),
        QuotaKind::Dynamic => format!("{}%", slots(group.summary.configured * 100.0)),
    }
}

fn some(number: f64) -> String {
    if number > 0.0 { slots(number) } else { "-".to_owned() }
}

fn policy(policy: SurplusPolicy) -> &'static str {
    match policy {
        SurplusPolicy::No => "no",
        SurplusPolicy::ByQuota => "accepts",
        SurplusPolicy::Regroup => "autoregroups",
    }
}
