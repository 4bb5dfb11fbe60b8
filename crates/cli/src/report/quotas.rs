//! Group quotas as a table, or the derivation of one group's.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::table::{Screen, TableColumn, write_table};
use classmate_pool::internal::negotiate::quotas::{Division, ExplainedGroup};
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::internal::quota::summary::{QuotaKind, SurplusPolicy, scaled_down};

/// Levels by which names are indented at most.
const MAX_INDENT: usize = 10;

/// Writes a line a group.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, division: &Division, color: Color) -> io::Result<()> {
    let columns: [TableColumn<ExplainedGroup>; 12] = [
        TableColumn::left("GROUP", 0, |group| {
            format!("{}{}", "  ".repeat(group.depth.min(MAX_INDENT)), group.summary.name)
        }),
        TableColumn::right("CONFIGURED", 2, configured),
        TableColumn::right("QUOTA", 0, |group| slots(group.summary.quota)),
        TableColumn::right("SUBTREE", 6, |group| slots(group.summary.subtree_quota)),
        TableColumn::right("REQUESTED", 0, |group| slots(group.summary.demand)),
        TableColumn::right("IN USE", 1, |group| slots(group.summary.usage)),
        TableColumn::right("TAKES", 4, |group| {
            let taken = group.summary.rounds.first().into_iter().flat_map(|round| &round.taken);
            some(taken.map(|taken| taken.amount).sum())
        }),
        TableColumn::right("LEAVES", 5, |group| some(group.summary.rounds.first().map_or(0.0, |round| round.spare))),
        TableColumn::right("ALLOCATED", 0, |group| slots(group.summary.allocated)),
        TableColumn::left("SURPLUS", 3, |group| policy(group.summary.surplus).to_owned()),
        TableColumn::right("ORDER", 7, |group| group.place.to_string()),
        TableColumn::left("WHY", 0, |group| group.why.clone()),
    ];
    write_table(out, &columns, &division.groups, color)?;
    let unit = if division.weighted { "slot weight" } else { "slots" };
    writeln!(out)?;
    writeln!(
        out,
        "Pool size {} ({unit}); {} not allocated to any group",
        slots(division.pool),
        slots(division.surplus)
    )?;
    oversubscribed(division).iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
    scaled_down(division.groups.iter().map(|group| &group.summary))
        .iter()
        .try_for_each(|sentence| writeln!(out, "{sentence}"))
}

/// The sentence about quotas that add up to more than the pool has, so that more is allocated and not allocated than there is.
fn oversubscribed(division: &Division) -> Option<String> {
    let mut all = division.groups.iter().map(|group| group.summary.allocated);
    // Users without a group may get what the groups leave.
    let of_none = all.next().unwrap_or(0.0);
    let of_groups: f64 = all.sum();
    let allocated = of_none + of_groups;
    (of_groups + division.surplus > division.pool + 1e-6).then(|| {
        format!(
            "quotas add up to {}, more than the pool size (NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION): {} allocated, {} not allocated",
            slots(allocated + division.surplus),
            slots(allocated),
            slots(division.surplus)
        )
    })
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
