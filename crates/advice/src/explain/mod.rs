//! Explanations of idle jobs: the conditions that fail, the nearest slots, and the job's part in a cycle.
//!
//! In: a snapshot and a job. Out: an [`Explanation`], plain serializable data.

mod ad_table;
pub mod causes;
pub mod clauses;
mod clock;
mod correction;
pub mod cycle;
mod decide;
pub mod explanation;
mod free_gpus;
mod full_slots;
pub mod job_view;
pub mod names;
pub mod near_jobs;
mod policy_notes;
pub mod repair;
pub mod replay;
pub mod replayed_change;
mod same_fact;
pub mod slot;
mod slot_classes;
pub mod tested_setting;
mod trial;
pub mod values;

use std::sync::Arc;

use crate::explain::cycle::order::ServiceOrder;
pub use crate::explain::explanation::{Explanation, SlotPolicy};
use classmate::internal::threads;
use classmate::{ClassAd, EvalOptions, Name, Scope};
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::pool::{Slot, State};
use classmate_pool::internal::queue::Job;
use classmate_pool::{PreparedPool, Snapshot};
use hashbrown::HashSet;

/// Facts about a slot that last through a cycle, which changes the slot.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct SlotFacts {
    /// Its name.
    pub name: String,
    /// Its present or next user.
    pub user: Option<String>,
    /// True if it is claimed, also without a user, as a partitionable slot can be.
    pub claimed: bool,
    /// Its weight.
    pub weight: f64,
    /// True if it is partitionable.
    pub partitionable: bool,
    /// True if it is a part of a partitionable slot.
    pub dynamic: bool,
    /// True if it counts for the size of the pool.
    pub counts: bool,
    /// The reason the cycle does not consider it; none if it does.
    pub exclusion: Option<&'static str>,
}

/// A prepared pool with the facts that explanations need.
pub struct PoolFacts<'p> {
    /// The slots; their ads have the Requirements that matchmaking uses. None after a cycle, which changes them.
    pub slots: &'p [Slot],
    /// Facts about each of them.
    pub of_slots: Vec<SlotFacts>,
    /// Slots that `NEGOTIATOR_SLOT_CONSTRAINT` leaves out.
    pub left_out: &'p [Slot],
    /// Names of slot attributes whose values were not kept.
    pub unkept: &'p [Name],
    /// The order of jobs.
    pub order: Arc<ServiceOrder>,
    /// The configuration.
    pub rules: Arc<Rules>,
    /// Clock, seed, and usage.
    pub settings: EvalOptions,
}

impl<'p> PoolFacts<'p> {
    /// The facts about a pool that was prepared for explanations.
    pub fn new(prepared: &'p PreparedPool<'_>) -> Self {
        let (rules, settings) = (Arc::clone(prepared.rules()), prepared.settings());
        let (left_out, unkept) = (prepared.left_out(), &prepared.snapshot().unkept);
        Self { left_out, unkept, ..Self::of(prepared.slots(), prepared.order(), rules, settings) }
    }

    /// The facts about some slots.
    pub(crate) fn of(slots: &'p [Slot], order: Arc<ServiceOrder>, rules: Arc<Rules>, settings: EvalOptions) -> Self {
        let facts = |slot: &Slot| SlotFacts {
            name: slot.name.to_string(),
            user: slot.user.as_ref().map(ToString::to_string),
            claimed: slot.state == State::Claimed,
            weight: slot.weight,
            partitionable: slot.partitionable,
            dynamic: slot.ad.eval_bool("DynamicSlot") == Some(true),
            counts: rules.pool_size.as_ref().is_none_or(|one| Scope::new(&slot.ad, &settings).holds(one)),
            exclusion: rules.trim.exclusion(slot, &settings),
        };
        let of_slots = threads::map_all(slots, facts);
        let settings = bounded(settings, slots);
        PoolFacts { slots, of_slots, left_out: &[], unkept: &[], order, rules, settings }
    }

    /// The same for one job, whose Requirements may reach long expressions.
    pub(crate) fn for_job(mut self, job: &ClassAd, settings: &EvalOptions) -> Self {
        let (mut open, mut seen, mut size) = (vec![Name::new("Requirements")], HashSet::new(), 0);
        while let Some(name) = open.pop() {
            let Some(expr) = job.get(name).filter(|_| seen.insert(name)) else { continue };
            size += clauses::size(&expr);
            open.extend(expr.tree().names(expr.root()));
        }
        let limits = &mut self.settings.limits;
        limits.work = limits.work.max(steps(size, self.slots.len())).min(settings.limits.work);
        self
    }

    /// The facts about one of the slots.
    fn of_slot<'s>(&'s self, slot: &'s Slot) -> PoolFacts<'s> {
        let (order, rules) = (Arc::clone(&self.order), Arc::clone(&self.rules));
        let alone = PoolFacts::of(std::slice::from_ref(slot), order, rules, self.settings.clone());
        PoolFacts { unkept: self.unkept, ..alone }
    }

    /// The same without the slots themselves, so that a cycle may change them.
    #[must_use]
    pub fn without_slots(self) -> PoolFacts<'static> {
        let PoolFacts { of_slots, order, rules, settings, .. } = self;
        PoolFacts { slots: &[], of_slots, left_out: &[], unkept: &[], order, rules, settings }
    }
}

/// Slots whose Requirements, or those of the job for them, take too many steps to evaluate: they count as not matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbandonedSlots {
    /// Number of slots.
    pub slots: usize,
    /// One of them.
    pub example: String,
    /// Steps after which an evaluation is abandoned.
    pub steps: u64,
}

/// Steps of the evaluations of all slots together.
const ALL_STEPS: u64 = 40_000_000;

/// Limits the steps of one evaluation, because an explanation evaluates each slot many times. Requirements of real slots take a few
/// hundred.
fn bounded(mut settings: EvalOptions, slots: &[Slot]) -> EvalOptions {
    /// Steps that each slot may take in a large pool, and in a small one.
    const EACH: [u64; 2] = [20_000, 100_000];
    let each = (ALL_STEPS / slots.len().max(1) as u64).clamp(EACH[0], EACH[1]);
    // The lists of a few slots may be long.
    let longest = if each == EACH[1] { slots.iter().map(|slot| longest(&slot.ad)).max() } else { None };
    let limits = &mut settings.limits;
    limits.work = limits.work.min(each.max(steps(longest.unwrap_or(0), slots.len())));
    settings
}

/// The steps that the evaluation of expressions of a size may take for each of some slots.
fn steps(size: usize, slots: usize) -> u64 {
    /// Steps for a part, or for a byte of a string.
    const STEPS: usize = 8;
    const MOST: u64 = 4_000_000;
    let all = STEPS.saturating_mul(size) as u64;
    all.min(ALL_STEPS / slots.max(1) as u64).min(MOST)
}

/// The size of the longest attribute of an ad.
fn longest(ad: &ClassAd) -> usize {
    let size = |(name, _)| ad.get(name).map_or(0, |expr| clauses::size(&expr));
    ad.lineage().flat_map(ClassAd::attributes).map(size).max().unwrap_or(0)
}

/// The job of a snapshot with a number, or the first for which an expression holds.
pub fn find<'s>(
    snapshot: &'s Snapshot,
    wanted: impl Fn(&Job<'s>, &'s ClassAd) -> bool,
) -> Option<(Job<'s>, &'s ClassAd)> {
    let settings = snapshot.settings();
    let domain = snapshot.config.string("ACCOUNTING_DOMAIN").ok().flatten();
    snapshot.jobs.iter().find_map(|ad| {
        let job = Job::new(ad, domain.as_deref(), &settings)?;
        wanted(&job, ad).then_some((job, ad))
    })
}
