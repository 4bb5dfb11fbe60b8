//! One negotiation cycle: a snapshot of a pool in, what the negotiator decides out.
//!
//! A pure function: the same snapshot always gives the same outcome.

pub mod advertisement;
pub mod candidate;
pub mod concurrency;
pub mod deal;
pub mod groups;
pub mod offer;
pub mod outcome;
pub mod preemption;
pub mod quotas;
pub mod rules;
pub mod snapshot;
pub mod summary;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use outcome::Outcome;
pub use snapshot::Snapshot;

use crate::accountant::factor::FactorRules;
use crate::accountant::usage::SlotInUse;
use crate::accountant::{Accountant, GroupOf};
use crate::ad::ClassAd;
use crate::config::ConfigError;
use crate::eval::scope::{Scope, Settings};
use crate::negotiate::deal::Dealing;
use crate::negotiate::groups::{Dealt, PoolGroups, Quotas};
use crate::negotiate::offer::Offers;
use crate::negotiate::outcome::{Negotiation, Pie};
use crate::negotiate::preemption::{Groups, Introduction, LiveUsage};
use crate::negotiate::rules::Rules;
use crate::pool::slot::is_slot;
use crate::pool::{PoolSize, Slot};
use crate::priority::{Claimant, CondorPriority, Deal, End, PriorityPolicy, Spin};
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
    let (submitters, queue) = queue(snapshot, &slots, &rules, &settings);
    let total_slots = slots.len();
    let groups = PoolGroups::read(&snapshot.config)?;
    let mut policy = charge(snapshot, &slots, &rules, &*groups.tree);
    let size = PoolSize::of(&slots, rules.pool_size.as_ref(), rules.weighing.weighted, &settings);

    let divided = groups.pool(&size, &submitters, &policy)?;
    let grouped = !groups.tree.is_empty();
    let offered: Vec<usize> = queue.lists.iter().map(Vec::len).collect();
    let left_out = left_out(snapshot, &queue);
    // Only now: what is copied into the slots counts neither as significant nor in the size of the pool.
    for slot in &mut slots {
        for (name, expr) in &rules.match_exprs {
            slot.ad.insert_expr(*name, expr);
        }
    }
    let quotas = grouped.then(|| Arc::new(Quotas::new(&groups, divided.total)) as Arc<dyn Groups>);
    let live = Arc::new(LiveUsage::new(quotas.clone()));
    for (name, customer) in policy.accountant().iter() {
        live.set(name, customer.weighted_resources);
    }
    settings.usage = Some(live.clone());
    if rules.trim.preemption {
        let siblings = rules.knobs.matching.cross_slot_prios.then_some(&*rules.knobs.matching.resource_prefix);
        let introduction = Introduction { policy: &policy, groups: quotas.as_deref(), siblings, settings: &settings };
        for slot in &mut slots {
            introduction.of(slot);
        }
    }
    let claimants = claimants(&submitters);
    let mut dealing = Dealing {
        submitters: &submitters,
        rules: &rules,
        settings: &settings,
        queue,
        offers: Offers::new(slots, &rules, &settings),
        live: &live,
        policy: &mut policy,
        negotiating: None,
        outcome: Outcome::default(),
    };
    let statistics = &mut dealing.outcome.statistics;
    (statistics.total_slots, statistics.pool_weight) = (total_slots, size.weight);
    statistics.trimmed_slots = dealing.offers.left();
    statistics.candidate_slots = if grouped { size.slots } else { statistics.trimmed_slots };
    statistics.autoclusters = dealing.queue.autoclusters;
    let dealt = if grouped {
        let (dealt, summaries) = dealing.run_groups(&groups, &divided, &size, &claimants);
        dealing.outcome.groups = summaries;
        dealt
    } else {
        let deal = Deal { weight: size.weight, smallest_weight: size.smallest_weight, group: None, first_pie: 1 };
        let mut turns = dealing.policy.begin(&claimants, &deal);
        let members: Vec<usize> = (0..submitters.len()).collect();
        dealing.run(&mut *turns, &members);
        vec![Dealt { group: None, members, history: turns.history().clone() }]
    };
    dealing.outcome.statistics.largest_tie = dealing.offers.largest_tie();
    let mut outcome = report(dealing.outcome, &dealt, &submitters, &offered);
    outcome.quirks = left_out;
    Ok(outcome)
}

/// What of the snapshot the cycle leaves out, in words.
fn left_out(snapshot: &Snapshot, queue: &Queue) -> Vec<String> {
    let others = snapshot.slots.iter().filter(|ad| !is_slot(ad)).count();
    let nameless = snapshot.slots.iter().filter(|ad| is_slot(ad) && !ad.contains("Name")).count();
    let notes = [
        (others, "ads among the slots are none and were left out"),
        (nameless, "slots without a name were left out"),
        (snapshot.jobs.len() - queue.jobs.len(), "jobs without a ClusterId or a submitter were left out"),
        (queue.strangers, "idle jobs belong to no submitter that is advertised and were not offered"),
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

/// The submitters, and their jobs by autocluster.
fn queue(snapshot: &Snapshot, slots: &[Slot], rules: &Rules, settings: &Settings) -> (Vec<Submitter>, Queue) {
    let (submitters, jobs) = self::submitters(snapshot, rules, settings);
    let significant = rules.significant(slots.iter().map(|slot| &slot.ad));
    let queue = Queue::new(jobs, &submitters, significant, rules.jobs.as_ref(), settings);
    (submitters, queue)
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
fn charge<'g>(
    snapshot: &Snapshot,
    slots: &[Slot],
    rules: &Rules,
    groups: &'g (dyn GroupOf + Sync),
) -> CondorPriority<'g> {
    let factors = FactorRules::new(&rules.knobs.accountant);
    let accountant = match &snapshot.log {
        Some(log) => Accountant::from_log(log, factors),
        None => Accountant::new(factors),
    };
    let mut policy = CondorPriority::new(accountant, groups, &rules.knobs);
    let in_use: Vec<SlotInUse<'_>> = slots
        .iter()
        .filter(|slot| slot.is_in_use())
        .filter_map(|slot| {
            let submitter = slot.charged.as_deref()?;
            Some(SlotInUse { submitter, weight: slot.weight, suspended: slot.suspended })
        })
        .collect();
    policy.charge(&in_use, snapshot.now);
    policy
}

fn claimants(submitters: &[Submitter]) -> Vec<Claimant> {
    let claimant = |submitter: &Submitter| Claimant {
        submitter: submitter.name.to_vec(),
        idle_jobs: submitter.idle,
        last_heard: submitter.last_heard,
    };
    submitters.iter().map(claimant).collect()
}

/// Adds to an outcome what the turns have to tell, and counts.
fn report(mut outcome: Outcome, dealt: &[Dealt], submitters: &[Submitter], offered: &[usize]) -> Outcome {
    let mut seen = BTreeSet::new();
    let mut limited = BTreeSet::new();
    let visits = dealt.iter().flat_map(|dealt| dealt.history.visits.iter().map(move |visit| (dealt, visit)));
    for (Dealt { group, members, .. }, visit) in visits {
        let submitter = &submitters[members[visit.who]];
        if seen.insert(members[visit.who]) {
            outcome.statistics.idle_jobs = outcome.statistics.idle_jobs.saturating_add(submitter.idle);
        }
        if visit.end == End::Resume {
            limited.insert(submitter.name.to_string());
        }
        outcome.negotiations.push(Negotiation {
            submitter: submitter.name.to_string(),
            schedd: submitter.schedd.to_string(),
            priority: visit.priority,
            share: visit.share,
            limit: visit.limit,
            starved: visit.starved,
            passed: visit.passed,
            end: visit.end,
            pie: visit.pie,
            spin: visit.spin,
            group: group.clone(),
        });
    }
    for Dealt { group, history, .. } in dealt {
        let pie = |spin: &Spin| Pie { pie: spin.pie, spin: spin.spin, pie_left: spin.pie_left, group: group.clone() };
        outcome.pies.extend(history.spins.iter().map(pie));
    }
    let distinct =
        |of: fn(&Submitter) -> &[u8]| seen.iter().map(|&who| of(&submitters[who])).collect::<BTreeSet<_>>().len();
    let (schedulers, active_submitters) = (distinct(|s| &s.address), distinct(|s| &s.name));
    let statistics = &mut outcome.statistics;
    (statistics.schedulers, statistics.active_submitters) = (schedulers, active_submitters);
    (statistics.matches, statistics.rejections) = (outcome.matches.len(), outcome.rejections.len());
    statistics.pies = dealt.iter().map(|dealt| dealt.history.pies).sum();
    statistics.pie_spins = dealt.iter().map(|dealt| dealt.history.passes).sum();
    statistics.submitters_share_limit = limited.into_iter().collect();
    outcome.submitters = summary::summarise(&outcome, submitters, offered);
    outcome
}
