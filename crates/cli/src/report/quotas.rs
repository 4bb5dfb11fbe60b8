//! Group quotas as a table, or the derivation of one group's.

use std::io::{self, Write};

use comfy_table::CellAlignment::{Left, Right};

use crate::report::Color;
use crate::report::outcome::{TableColumn, write_table};
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
    let columns: [TableColumn<ExplainedGroup>; 12] = [
        ("GROUP", Left, |group| format!("{}{}", "  ".repeat(group.depth.min(MAX_INDENT)), group.summary.name)),
        ("CONFIGURED", Right, configured),
        ("QUOTA", Right, |group| slots(group.summary.quota)),
        ("SUBTREE", Right, |group| slots(group.summary.subtree_quota)),
        ("REQUESTED", Right, |group| slots(group.summary.demand)),
        ("IN USE", Right, |group| slots(group.summary.usage)),
        ("TAKES", Right, |group| {
            let taken = group.summary.rounds.first().into_iter().flat_map(|round| &round.taken);
            some(taken.map(|taken| taken.amount).sum())
        }),
        ("LEAVES", Right, |group| some(group.summary.rounds.first().map_or(0.0, |round| round.spare))),
        ("ALLOCATED", Right, |group| slots(group.summary.allocated)),
        ("SURPLUS", Left, |group| policy(group.summary.surplus).to_owned()),
        ("ORDER", Right, |group| group.place.to_string()),
        ("WHY", Left, |group| group.why.clone()),
    ];
    write_table(out, &columns, &division.groups, color)?;
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
