//! Why a job does not run: which conditions refuse it, what is nearest, and what a cycle made of it.
//!
//! In: a snapshot and a job. Out: an [`Explanation`], plain data that serialises.

mod border;
pub mod causes;
pub mod clauses;
pub mod cycle;
mod decide;
mod edit;
pub mod group;
mod kinds;
mod left_out;
pub mod limit;
mod meant;
mod membership;
pub mod names;
pub mod nearest;
pub mod obstacle;
pub mod order;
mod panel;
pub mod prose;
mod rank;
pub mod reasons;
pub mod replay;
mod rewrite;
mod route;
pub mod slot;
pub mod stake;
pub mod stand;
pub mod submitter;
pub mod suggestion;
pub mod suitor;
pub mod taken;
mod trial;
pub mod turn;
pub mod view;
mod wish;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::explain::causes::Cause;
use crate::explain::clauses::{Clause, truth};
use crate::explain::cycle::Story;
use crate::explain::names::Absent;
use crate::explain::nearest::Near;
use crate::explain::order::ServiceOrder;
use crate::explain::suggestion::Suggestion;
use crate::explain::view::View;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::{Scope, Settings};
use classmate::internal::name::Name;
use classmate::internal::value::logic::Truth;
use classmate_config::internal::config::ConfigError;
use classmate_pool::internal::negotiate::Snapshot;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::negotiate::scene::{Asker, Scene, scene};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::Standing;
use classmate_pool::internal::queue::Job;

/// Slots that have the same requirements, and what they say of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotPolicy {
    /// Their Requirements.
    pub text: String,
    /// How many slots have it.
    pub slots: usize,
    /// How many of them accept the job.
    pub accepting: usize,
    /// One of those that refuse; of all if none does.
    pub example: String,
    /// Its conditions.
    pub clauses: Vec<Clause>,
}

/// Why a job does not run, or could.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The job, `cluster.process`.
    pub job: String,
    /// Whom it belongs to.
    pub submitter: String,
    /// Why it does not run, the most telling first; or what it gets.
    pub causes: Vec<Cause>,
    /// Slots looked at.
    pub slots: usize,
    /// Slots that the job accepts.
    pub accepted_by_job: usize,
    /// Slots that accept the job.
    pub accepting_job: usize,
    /// Slots that accept the job and that it accepts.
    pub matching: usize,
    /// The conditions of its Requirements; none if it has none, and then it matches nothing.
    pub clauses: Vec<Clause>,
    /// Conditions that must be true and are for no slot.
    pub never: Vec<String>,
    /// Conditions that must be true and are for every slot.
    pub always: Vec<String>,
    /// Attributes that conditions refer to and that exist nowhere.
    pub absent: Vec<Absent>,
    /// The policies of slots, what refuses most slots first.
    pub policies: Vec<SlotPolicy>,
    /// Slots that do not match, by the conditions that fail; fewest first.
    pub nearest: Vec<Near>,
    /// Changes after which more slots match, each tried; the smallest first.
    pub suggestions: Vec<Suggestion>,
    /// What one cycle makes of it; none if no cycle was run.
    pub cycle: Option<Story>,
}

/// Slots as a cycle sees them, the settings and the clock.
pub struct Market {
    /// The slots; their ads have the Requirements that matchmaking uses.
    pub slots: Vec<Slot>,
    /// Their names.
    pub names: Vec<String>,
    /// Which of them a cycle looks at.
    pub looked_at: Vec<bool>,
    /// Who uses them or is about to.
    pub users: Vec<Option<String>>,
    /// What they weigh.
    pub weights: Vec<f64>,
    /// Slots that `NEGOTIATOR_SLOT_CONSTRAINT` leaves out.
    pub left_out: Vec<Slot>,
    /// Names of attributes of slots whose values were not kept.
    pub unkept: Vec<Name>,
    /// By what jobs are ordered.
    pub order: ServiceOrder,
    /// The configuration.
    pub rules: Rules,
    /// Clock, seed, and what is in use.
    pub settings: Settings,
}

impl Market {
    /// The slots of a snapshot that take part in a cycle.
    ///
    /// # Errors
    /// A setting of the configuration that is wrong, or not supported.
    pub fn of(snapshot: &Snapshot) -> Result<Self, ConfigError> {
        scene(snapshot, &[]).map(|(scene, _)| Market::seen(scene, Besides::of(snapshot)))
    }

    /// As [`Market::of`], with a job as slots see it: the negotiator tells them how its submitter stands.
    ///
    /// # Errors
    /// As [`Market::of`].
    pub fn with(snapshot: &Snapshot, job: &ClassAd, submitter: &[u8]) -> Result<(Self, Asker), ConfigError> {
        let (market, askers) = Market::asked(snapshot, &[(job, submitter)])?;
        Ok((market, askers.into_iter().next().unwrap_or_else(|| unknown(job))))
    }

    /// As [`Market::of`], with jobs and their submitters as slots see them.
    fn asked(snapshot: &Snapshot, asking: &[(&ClassAd, &[u8])]) -> Result<(Self, Vec<Asker>), ConfigError> {
        let (scene, askers) = scene(snapshot, asking)?;
        Ok((Market::seen(scene, Besides::of(snapshot)), askers))
    }

    fn seen(Scene { slots, rules, settings }: Scene, Besides { order, left_out, unkept }: Besides) -> Self {
        let looked_at = slots.par_iter().map(|slot| rules.trim.keeps(slot, &settings)).collect();
        let names = slots.par_iter().map(|slot| slot.name.to_string()).collect();
        let users = slots.iter().map(|slot| slot.user.as_ref().map(ToString::to_string)).collect();
        let weights = slots.iter().map(|slot| slot.weight).collect();
        Market { slots, names, looked_at, users, weights, left_out, unkept, order, rules, settings }
    }

    /// How many slots match a job.
    pub fn matching(&self, job: &ClassAd) -> usize {
        self.slots.par_iter().filter(|slot| symmetric(job, &slot.ad, &self.settings)).count()
    }
}

/// A job of somebody of whom nothing is known.
fn unknown(job: &ClassAd) -> Asker {
    Asker { ad: job.clone(), standing: Standing { priority: 0.0, usage: 0.0, floor: 0 } }
}

/// What a snapshot tells besides the slots that take part.
struct Besides {
    order: ServiceOrder,
    left_out: Vec<Slot>,
    unkept: Vec<Name>,
}

impl Besides {
    fn of(snapshot: &Snapshot) -> Self {
        let (order, left_out) = (snapshot.order(), left_out(snapshot).unwrap_or_default());
        Besides { order, left_out, unkept: snapshot.unkept.clone() }
    }
}

/// The slots that `NEGOTIATOR_SLOT_CONSTRAINT` leaves out.
fn left_out(snapshot: &Snapshot) -> Option<Vec<Slot>> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings).ok()?;
    let constraint = rules.slots.as_ref()?;
    let out = |ad: &&ClassAd| is_slot(ad) && truth(Scope::new(ad, &settings), constraint) != Truth::True;
    let out = snapshot.slots.par_iter().filter(out);
    Some(out.filter_map(|ad| Slot::new(ad.clone(), &rules.weighing, &settings)).collect())
}

/// The job of a snapshot with a number, or the first for which an expression holds.
pub fn find<'s>(
    snapshot: &'s Snapshot,
    wanted: impl Fn(&Job<'s>, &'s ClassAd) -> bool,
) -> Option<(Job<'s>, &'s ClassAd)> {
    let settings = snapshot.settings();
    let domain = Rules::read(&snapshot.config, &settings).ok().and_then(|rules| rules.knobs.accountant.domain.clone());
    snapshot.jobs.iter().find_map(|ad| {
        let job = Job::new(ad, domain.as_deref(), &settings)?;
        wanted(&job, ad).then_some((job, ad))
    })
}

/// Looks at a job against all slots.
pub fn explain(market: &Market, id: String, submitter: String, job: &ClassAd) -> Explanation {
    View::of(market, job).explanation(id, submitter)
}

/// Counts by key, the most frequent first.
fn tally(keys: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
