//! A negotiation cycle as text: the numbers of its page as tables.

use std::io;

use super::cycle::part_of;
use super::page::decimal;
use super::table::{Screen, TableColumn, write_table};
use super::{Color, counted, gigabytes};
use classmate_advice::internal::picture::{Amounts, GroupUsage, PoolPicture, ReasonCount, SubmitterUsage};
use classmate_advice::internal::whatif::kind::SlotKind;

/// A resource of the pool: name, amounts, and how they are written.
type Resource = (&'static str, Amounts, fn(f64) -> String);

/// Writes what is in use, groups, submitters, the reasons why jobs stayed idle, and slots.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Screen, picture: &PoolPicture, kinds: &[SlotKind], color: Color) -> io::Result<()> {
    let idle = counted(picture.idle as u64, "idle job");
    writeln!(out, "{idle} in the queue, {} of which got a slot.\n", picture.matched)?;
    let resources = &picture.resources;
    let columns: [TableColumn<Resource>; 6] = [
        TableColumn::left("RESOURCE", 0, |(name, ..)| (*name).to_owned()),
        TableColumn::right("TOTAL", 0, |(_, amounts, shown)| shown(amounts.total)),
        TableColumn::right("BEFORE", 2, |(_, amounts, shown)| shown(amounts.before)),
        TableColumn::right("IN USE", 0, |(_, amounts, shown)| shown(amounts.used)),
        TableColumn::right("PART", 1, |(_, amounts, _)| part_of(amounts.used, amounts.total)),
        TableColumn::right("WASTED", 0, |(_, amounts, shown)| shown(amounts.wasted)),
    ];
    let rows: [Resource; 3] = [
        ("cores", resources.cores, decimal),
        ("memory", resources.memory, gigabytes),
        ("GPUs", resources.gpus, decimal),
    ];
    write_table(out, &columns, rows.iter().filter(|(_, amounts, _)| amounts.total > 0.0), color)?;
    if !picture.groups.is_empty() {
        writeln!(out)?;
        groups(out, &picture.groups, color)?;
    }
    if !picture.submitters.is_empty() {
        writeln!(out)?;
        submitters(out, &picture.submitters, color)?;
    }
    if !picture.reasons.is_empty() {
        writeln!(out)?;
        let columns: [TableColumn<ReasonCount>; 3] = [
            TableColumn::right("JOBS", 0, |one| one.jobs.to_string()),
            TableColumn::left("IDLE BECAUSE OF", 0, |one| one.reason.as_str().to_owned()),
            TableColumn::left("MOST COMMON CAUSE", 1, |one| {
                one.causes.first().map(|cause| cause.label.clone()).unwrap_or_default()
            }),
        ];
        write_table(out, &columns, &picture.reasons, color)?;
    }
    writeln!(out)?;
    let columns: [TableColumn<SlotKind>; 4] = [
        TableColumn::left("KIND OF SLOT", 0, |kind| kind.name.clone()),
        TableColumn::right("SLOTS", 0, |kind| kind.slots.to_string()),
        TableColumn::right("IN USE BEFORE", 0, |kind| kind.in_use.to_string()),
        TableColumn::right("MATCHED", 0, |kind| kind.matched.to_string()),
    ];
    write_table(out, &columns, kinds, color)
}

fn groups(out: &mut impl Screen, groups: &[GroupUsage], color: Color) -> io::Result<()> {
    let columns: [TableColumn<GroupUsage>; 9] = [
        TableColumn::left("GROUP", 0, |group| group.name.clone()),
        TableColumn::right("QUOTA", 0, |group| decimal(group.quota)),
        TableColumn::right("ALLOCATED", 0, |group| decimal(group.allocated)),
        TableColumn::right("IN USE", 0, |group| decimal(group.used)),
        TableColumn::right("COUNTED", 2, |group| decimal(group.counted)),
        TableColumn::right("REQUESTED", 0, |group| decimal(group.requested)),
        TableColumn::right("BORROWED", 2, |group| decimal(group.borrowed)),
        TableColumn::right("LENT", 3, |group| decimal(group.lent)),
        TableColumn::right("UNMET", 1, |group| decimal(group.unmet)),
    ];
    write_table(out, &columns, groups, color)?;
    writeln!(out, "\nAmounts are in slot weight; REQUESTED: running and idle jobs, as submitter ads count them")?;
    if groups.iter().any(|group| group.counted > group.used + 1e-6) {
        writeln!(out, "COUNTED: during the cycle, a match counts with the weight of the whole partitionable slot")?;
    }
    Ok(())
}

fn submitters(out: &mut impl Screen, submitters: &[SubmitterUsage], color: Color) -> io::Result<()> {
    let columns: [TableColumn<SubmitterUsage>; 9] = [
        TableColumn::left("SUBMITTER", 0, |one| one.summary.submitter.clone()),
        TableColumn::right("PRIORITY", 3, |one| {
            one.summary.priority.map_or_else(|| "-".to_owned(), |priority| format!("{priority:.2}"))
        }),
        TableColumn::right("IN USE", 0, |one| part_of(one.pool_share, 1.0)),
        TableColumn::right("ENTITLED", 0, |one| one.entitled.map_or_else(|| "-".to_owned(), |part| part_of(part, 1.0))),
        TableColumn::right("LIMIT", 4, |one| one.summary.limit.map_or_else(|| "-".to_owned(), decimal)),
        TableColumn::right("IDLE", 0, |one| one.summary.idle.to_string()),
        TableColumn::right("MATCHED", 0, |one| one.summary.matched.to_string()),
        TableColumn::right("WEIGHT", 2, |one| decimal(one.used)),
        TableColumn::left("STOPPED", 1, |one| one.summary.stopped.as_str().to_owned()),
    ];
    write_table(out, &columns, submitters, color)
}
