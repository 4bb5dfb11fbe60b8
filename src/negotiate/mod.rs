//! One negotiation cycle: a snapshot of a pool in, what the negotiator decides out.
//!
//! A pure function: the same snapshot always gives the same outcome.

pub mod advertisement;
pub mod candidate;
pub mod commit;
pub mod concurrency;
pub mod deal;
pub mod groups;
pub mod offer;
pub mod outcome;
pub mod play;
pub mod preemption;
pub mod quotas;
pub mod rules;
pub mod single;
pub mod snapshot;
pub mod summary;
pub mod survey;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use commit::commit;
pub use outcome::Outcome;
pub use snapshot::Snapshot;
pub use survey::{Survey, survey};

use crate::accountant::usage::SlotInUse;
use crate::ad::ClassAd;
use crate::config::ConfigError;
use crate::eval::scope::{Scope, Settings};
use crate::negotiate::deal::Dealing;
use crate::negotiate::groups::KnownQuotas;
use crate::negotiate::offer::Offers;
use crate::negotiate::preemption::{Groups, Introduction, LiveUsage};
use crate::negotiate::rules::Rules;
use crate::pool::slot::is_slot;
use crate::pool::{PoolSize, Slot};
use crate::priority::{Deal, End, Opening, PriorityPolicy};
use crate::queue::request::Queue;
use crate::queue::{Job, Submitter};

/// Runs one cycle.
///
/// # Errors
/// A setting of the configuration that is wrong, or not supported yet.
///
/// ```
/// use classmate::ad::ClassAd;
/// use classmate::negotiate::{Snapshot, negotiate};
/// let snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]")?],
///     jobs: vec![ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?],
///     ..Snapshot::default()
/// };
/// let outcome = negotiate(&snapshot).unwrap();
/// assert_eq!((outcome.matches[0].job.as_str(), outcome.matches[0].slot.as_str()), ("1.0", "slot1@m"));
/// # Ok::<(), classmate::error::SyntaxError>(())
/// ```
pub fn negotiate(snapshot: &Snapshot) -> Result<Outcome, ConfigError> {
    let mut settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let mut slots = slots(snapshot, &rules, &settings);
    let mut policy = charge(snapshot, &slots, &rules, &settings);
    let (submitters, queue, known) = queue(snapshot, &slots, &rules, &*policy, &settings);
    let total_slots = slots.len();
    let size = PoolSize::of(&slots, rules.pool_size.as_ref(), rules.weighing.weighted, &settings);
    rules.groups.fit(&size)?;
    let offered = single::offered(&queue, known);
    let mut left_out = left_out(snapshot, &queue, known);
    left_out.extend(rules.groups.odd.iter().cloned());
    // Only now: what is copied into the slots counts neither as significant nor in the size of the pool.
    for slot in &mut slots {
        for (name, expr) in &rules.match_exprs {
            slot.ad.insert_expr(*name, expr);
        }
    }
    let quotas = KnownQuotas::of(&rules.groups, &size).map(Arc::new);
    let live = Arc::new(LiveUsage::new(quotas.clone().map(|quotas| quotas as Arc<dyn Groups>)));
    for (name, usage) in policy.in_use() {
        live.set(name, usage);
    }
    settings.usage = Some(live.clone());
    if rules.trim.preemption {
        let siblings = rules.knobs.matching.cross_slot_prios.then_some(&*rules.knobs.matching.resource_prefix);
        let groups = quotas.as_deref().map(|quotas| quotas as &dyn Groups);
        let introduction = Introduction { policy: &*policy, groups, siblings, settings: &settings };
        for slot in &mut slots {
            introduction.of(slot);
        }
    }
    let mut dealing =
        Dealing::new(&submitters, &rules, &settings, queue, Offers::new(slots, &rules, &settings), &live, &mut *policy);
    let statistics = &mut dealing.outcome.statistics;
    (statistics.total_slots, statistics.pool_weight) = (total_slots, size.weight);
    statistics.trimmed_slots = dealing.offers.left();
    statistics.candidate_slots = if quotas.is_some() { size.slots } else { statistics.trimmed_slots };
    statistics.autoclusters = dealing.queue.autoclusters;
    if quotas.is_some() && dealing.policy.divides_among_groups() {
        groups::deal(&mut dealing, &size, &settings);
    } else {
        let deal = Deal { weight: size.weight, smallest_weight: size.smallest_weight, group: None, first_pie: 1 };
        let everybody: Vec<usize> = (0..submitters.len()).collect();
        dealing.deal(&everybody, &deal);
    }
    let mut outcome = report(dealing, &submitters, &offered);
    outcome.quirks = left_out;
    Ok(outcome)
}

/// What of the snapshot the cycle leaves out, in words.
fn left_out(snapshot: &Snapshot, queue: &Queue, known: usize) -> Vec<String> {
    let others = snapshot.slots.iter().filter(|ad| !is_slot(ad)).count();
    let nameless = snapshot.slots.iter().filter(|ad| is_slot(ad) && !ad.contains("Name")).count();
    let notes = [
        (others, "ads among the slots are none and were left out"),
        (nameless, "slots without a name were left out"),
        (snapshot.jobs.len() - known, "jobs without a ClusterId or a submitter were left out"),
        (single::strangers(queue, known), "idle jobs belong to no submitter that is advertised and were not offered"),
    ];
    notes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

/// The slots that take part, as the negotiator sees them.
fn slots(snapshot: &Snapshot, rules: &Rules, settings: &Settings) -> Vec<Slot> {
    let asked_for = |ad: &&ClassAd| {
        let constraint = rules.slots.as_ref();
        let holds = |constraint| Scope::new(ad, settings).eval(constraint);
        is_slot(ad) && constraint.is_none_or(|c| holds(c).is_ok_and(|value| value.as_condition() == Some(true)))
    };
    let view = |ad: &ClassAd| Slot::new(ad.clone(), &rules.weighing, settings);
    snapshot.slots.iter().filter(asked_for).filter_map(view).collect()
}

/// The submitters, their jobs by autocluster, and how many jobs there are.
fn queue(
    snapshot: &Snapshot,
    slots: &[Slot],
    rules: &Rules,
    policy: &dyn PriorityPolicy,
    settings: &Settings,
) -> (Vec<Submitter>, Queue, usize) {
    let (submitters, jobs) = self::submitters(snapshot, rules, settings);
    let known = jobs.len();
    let jobs = single::candidates(jobs, policy);
    let significant = rules.significant(slots.iter().map(|slot| &slot.ad));
    let queue = Queue::new(jobs, &submitters, significant, rules.jobs.as_ref(), settings);
    (submitters, queue, known)
}

/// The submitters in the order in which they reach the negotiator, and the jobs of the queue.
fn submitters(snapshot: &Snapshot, rules: &Rules, settings: &Settings) -> (Vec<Submitter>, Vec<Job>) {
    let domain = rules.knobs.accountant.domain.as_deref();
    let jobs: Vec<Job> = snapshot.jobs.iter().filter_map(|ad| Job::new(ad.clone(), domain, settings)).collect();
    let mut submitters: Vec<Submitter> = match &snapshot.submitters {
        Some(ads) => {
            let takes_part = |ad: &&_| match &rules.submitters {
                None => true,
                Some(constraint) => {
                    let value = Scope::new(ad, settings).eval(constraint);
                    value.is_ok_and(|value| value.as_condition() == Some(true))
                }
            };
            ads.iter().filter(takes_part).filter_map(|ad| Submitter::new(ad, settings)).collect()
        }
        None => Submitter::of_jobs(&jobs, settings),
    };
    Submitter::sort_as_collected(&mut submitters);
    (submitters, jobs)
}

/// Priorities and usage, brought up to the moment of the snapshot.
fn charge<'r>(
    snapshot: &Snapshot,
    slots: &[Slot],
    rules: &'r Rules,
    settings: &Settings,
) -> Box<dyn PriorityPolicy + 'r> {
    let mut policy = snapshot.policy.open(&Opening {
        log: snapshot.log.as_ref(),
        knobs: &rules.knobs,
        groups: &rules.groups.tree,
        quota: &|group| rules.groups.quota(group),
        slots,
        jobs: &snapshot.jobs,
        settings,
    });
    let in_use: Vec<SlotInUse<'_>> = slots
        .iter()
        .filter(|slot| slot.is_in_use())
        .filter_map(|slot| {
            let submitter = slot.charged.as_deref()?;
            let weight = policy.cost(&slot.ad, slot.weight);
            Some(SlotInUse { submitter, weight, suspended: slot.suspended })
        })
        .collect();
    policy.charge(&in_use, snapshot.now);
    policy
}

/// Counts what a deal decided.
fn report(dealing: Dealing<'_>, submitters: &[Submitter], offered: &[usize]) -> Outcome {
    let Dealing { mut outcome, offers, seen, .. } = dealing;
    outcome.statistics.largest_tie = offers.largest_tie();
    for &who in &seen {
        outcome.statistics.idle_jobs = outcome.statistics.idle_jobs.saturating_add(submitters[who].idle);
    }
    let limited: BTreeSet<&String> =
        outcome.negotiations.iter().filter(|visit| visit.end == End::Resume).map(|visit| &visit.submitter).collect();
    let limited = limited.into_iter().cloned().collect();
    let distinct =
        |of: fn(&Submitter) -> &[u8]| seen.iter().map(|&who| of(&submitters[who])).collect::<BTreeSet<_>>().len();
    let (schedulers, active_submitters) = (distinct(|s| &s.address), distinct(|s| &s.name));
    let statistics = &mut outcome.statistics;
    (statistics.schedulers, statistics.active_submitters) = (schedulers, active_submitters);
    (statistics.matches, statistics.rejections) = (outcome.matches.len(), outcome.rejections.len());
    statistics.submitters_share_limit = limited;
    outcome.submitters = summary::summarise(&outcome, submitters, offered);
    outcome
}
