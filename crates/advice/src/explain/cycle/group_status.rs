//! The status of a submitter's group at the end of a cycle, and the level of the tree that capped it.

use serde::Serialize;

use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::{PoolFacts, SlotFacts};
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::priority::Passed;

/// Quota and use of the group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStatus {
    /// Its name.
    pub group: String,
    /// Its quota in weighted slots.
    pub quota: f64,
    /// Its allocation in the first round.
    pub allocated: f64,
    /// Demand of its submitters, with running jobs, in weighted slots.
    pub demand: f64,
    /// Its usage at the end.
    pub usage: f64,
    /// The largest limit of its calls; the allocation of the last round if there was none.
    pub limit: f64,
    /// That limit less usage; a group above may allow less.
    pub left: f64,
    /// True if that was less than a slot for each of its submitters in their last turns.
    pub exhausted: bool,
    /// True if a group above has no quota left for it.
    pub capped: bool,
    /// True if it uses more than its quota, and matches that count a whole partitionable slot are part of that.
    #[serde(skip)]
    pub counts_whole_slots: bool,
    /// The reason it was allocated no more, in a clause.
    pub why: String,
    /// The derivation of quota and allocation, line by line.
    pub steps: Vec<String>,
}

impl GroupStatus {
    /// The status of the group of a submitter.
    pub(crate) fn of(
        record: &OutcomeRecord<'_>,
        division: Option<&Division>,
        pool: &PoolFacts,
        submitter: &str,
    ) -> Option<Self> {
        let (at, group) = record.group_of(submitter)?;
        let explained = division.and_then(|division| division.groups.iter().find(|one| one.summary.name == group.name));
        let (why, steps) = explained.map(|one| (one.why.clone(), one.story.clone())).unwrap_or_default();
        let limit = group.limit().unwrap_or(group.allocated);
        let is_whole = |slot: &SlotFacts| {
            let made = record.taker(&slot.name).filter(|_| slot.partitionable);
            made.is_some_and(|made| made.group.as_ref() == Some(&group.name))
        };
        Some(GroupStatus {
            counts_whole_slots: group.usage > group.quota && pool.of_slots.iter().any(is_whole),
            group: group.name.clone(),
            quota: group.quota,
            allocated: group.granted(),
            demand: group.demand,
            usage: group.usage,
            exhausted: exhausted(record, &group.name),
            limit,
            left: limit - group.usage,
            capped: record.cap(at).is_some(),
            why: record.beyond(at).unwrap_or(why),
            steps,
        })
    }
}

/// Tests if each submitter of a group was skipped for less than a slot in the last pie spin that had something to share.
fn exhausted(record: &OutcomeRecord<'_>, name: &str) -> bool {
    let visits = || record.outcome.negotiations.iter().filter(|visit| visit.group.as_deref() == Some(name));
    let Some(last) = visits().rfind(|visit| visit.limit > 0.0) else { return false };
    let mut spin = visits().filter(|visit| (visit.pie, visit.spin) == (last.pie, last.spin));
    spin.all(|visit| visit.passed == Some(Passed::LessThanASlot))
}
