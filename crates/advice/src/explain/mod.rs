//! Why a job does not run: which conditions refuse it, what is nearest, and what a cycle made of it.
//!
//! In: a snapshot and a job. Out: an [`Explanation`], plain data that serialises.

mod ad_table;
pub mod causes;
pub mod clauses;
mod correction;
pub mod cycle;
mod decide;
pub mod explanation;
pub mod names;
pub mod near_jobs;
pub mod prose;
pub mod repair;
pub mod replay;
pub mod slot;
mod slot_classes;
mod trial;
pub mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::explain::cycle::order::ServiceOrder;
pub use crate::explain::explanation::{Explanation, SlotPolicy};
use crate::explain::view::View;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate_config::internal::config::setting::Settings as Knobs;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::queue::Job;

/// A prepared pool, with what explanations ask of every slot.
pub struct Market<'p> {
    /// The slots; their ads have the Requirements that matchmaking uses. None after a cycle, which changes them.
    pub slots: &'p [Slot],
    /// Their names.
    pub names: Vec<String>,
    /// Flags of the slots that a cycle considers.
    pub looked_at: Vec<bool>,
    /// Their present or next users.
    pub users: Vec<Option<String>>,
    /// Their weights.
    pub weights: Vec<f64>,
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

impl<'p> Market<'p> {
    /// Looks at a pool that was prepared for explanations.
    pub fn new(pool: &'p PreparedPool<'_>) -> Self {
        let (slots, rules, settings) = (pool.slots(), Arc::clone(pool.rules()), pool.settings());
        Market {
            names: slots.par_iter().map(|slot| slot.name.to_string()).collect(),
            looked_at: slots.par_iter().map(|slot| rules.trim.keeps(slot, &settings)).collect(),
            users: slots.iter().map(|slot| slot.user.as_ref().map(ToString::to_string)).collect(),
            weights: slots.iter().map(|slot| slot.weight).collect(),
            left_out: pool.left_out(),
            unkept: &pool.snapshot().unkept,
            order: pool.order(),
            slots,
            rules,
            settings,
        }
    }

    /// The same without the slots themselves, so that a cycle may change them.
    #[must_use]
    pub fn without_slots(self) -> Market<'static> {
        let Market { names, looked_at, users, weights, order, rules, settings, .. } = self;
        let (slots, left_out, unkept) = (&[], &[], &[]);
        Market { slots, names, looked_at, users, weights, left_out, unkept, order, rules, settings }
    }

    /// The number of slots that match a job.
    pub fn matching(&self, job: &ClassAd) -> usize {
        self.slots.par_iter().filter(|slot| symmetric(job, &slot.ad, &self.settings)).count()
    }
}

/// The job of a snapshot with a number, or the first for which an expression holds.
pub fn find<'s>(
    snapshot: &'s Snapshot,
    wanted: impl Fn(&Job<'s>, &'s ClassAd) -> bool,
) -> Option<(Job<'s>, &'s ClassAd)> {
    let settings = snapshot.settings();
    let domain = Knobs::new(&snapshot.config).string("ACCOUNTING_DOMAIN").ok().flatten();
    snapshot.jobs.iter().find_map(|ad| {
        let job = Job::new(ad, domain.as_deref(), &settings)?;
        wanted(&job, ad).then_some((job, ad))
    })
}

/// Looks at a job against all slots.
pub fn explain(market: &Market, id: String, submitter: String, job: &ClassAd) -> Explanation {
    View::of(market, job).explanation(id, submitter)
}

/// `TruthCounts` by key, the most frequent first.
fn tally(keys: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
