//! One negotiation cycle: a snapshot of a pool in, what the negotiator decides out.
//!
//! A pure function: the same snapshot always gives the same outcome.

pub mod advertisement;
pub mod candidate;
pub mod commit;
pub mod concurrency;
pub mod deal;
pub mod engine;
pub mod groups;
pub mod market;
pub mod needed;
pub mod offer;
pub mod outcome;
pub mod preemption;
pub mod prospect;
pub mod quotas;
pub mod rules;
pub mod scene;
pub mod single;
pub mod snapshot;
pub mod summary;
pub mod survey;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use commit::commit;
pub use outcome::Outcome;
pub use prospect::Prospect;
pub use snapshot::Snapshot;
pub use survey::{Survey, survey};

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::accountant::usage::{Account, SlotInUse};
use crate::negotiate::deal::Dealing;
use crate::negotiate::engine::{Engine, ROOM, Sample, VARYING};
use crate::negotiate::groups::KnownQuotas;
use crate::negotiate::market::{Classes, Market};
use crate::negotiate::offer::Offers;
use crate::negotiate::preemption::{Groups, Introduction, LiveUsage};
use crate::negotiate::rules::Rules;
use crate::negotiate::scene::Opened;
use crate::pool::facts::Facts;
use crate::pool::projection::{is_projected, project};
use crate::pool::slot::{copies, is_slot};
use crate::pool::{PoolSize, Slot};
use crate::priority::{Deal, End, Opening, PriorityPolicy};
use crate::queue::request::{CARRIED, Queue, Request};
use crate::queue::{Job, JobId, Submitter};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{Scope, Settings};
use classmate::internal::name::{Key, Name};
use classmate_config::internal::config::ConfigError;

/// Runs one cycle.
///
/// # Errors
/// A setting of the configuration that is wrong, or not supported yet.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_pool::internal::negotiate::{Snapshot, negotiate};
/// let snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]")?],
///     jobs: vec![ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?],
///     ..Snapshot::default()
/// };
/// let outcome = negotiate(&snapshot).unwrap();
/// assert_eq!((outcome.matches[0].job.as_str(), outcome.matches[0].slot.as_str()), ("1.0", "slot1@m"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn negotiate(snapshot: &Snapshot) -> Result<Outcome, ConfigError> {
    run(snapshot, Path::Fast, &mut Unwatched).map(|cycle| cycle.outcome)
}

/// How slots are looked for. Both ways give the same outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Path {
    /// By classes of slots, as far as that is possible without a doubt.
    #[default]
    Fast,
    /// As `Fast`, with about so many bytes for classes of requests, instead of 2 GiB: others are made when they are asked
    /// for, and forgotten again.
    Within(usize),
    /// Slot by slot, as the reference negotiator does.
    Reference,
}

/// Is told which phase of a cycle begins; those who want to know how long each takes look at their own clock.
pub trait Watch {
    /// A phase begins; the one before is over.
    fn begins(&mut self, phase: &'static str);

    /// The slots know their users, and nobody was served yet.
    fn opens(&mut self, _: Opened<'_>) {}
}

/// Nobody watches.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&mut self, _: &'static str) {}
}

/// What a cycle decided, and how it went about it.
#[derive(Debug)]
pub struct Cycle {
    /// What was decided.
    pub outcome: Outcome,
    /// Into how many classes slots and requests fell; none if slot was looked at after slot.
    pub classes: Option<Classes>,
    /// Why slot was looked at after slot for every request; none if that was not needed.
    pub by_slot: Option<&'static str>,
    /// Requests in the queue: runs of like jobs.
    pub requests: usize,
    /// The slots as the cycle left them, with what it added to their ads.
    pub slots: Vec<Slot>,
    /// The idle jobs that were offered, by number; none unless asked for.
    pub prospects: Vec<Prospect>,
}

/// Runs one cycle, and tells of every idle job whether any slot would do for it.
///
/// # Errors
/// As [`negotiate`].
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_pool::internal::negotiate::{Snapshot, run_with_prospects};
/// let job = ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?;
/// let cycle = run_with_prospects(&Snapshot { jobs: vec![job], ..Snapshot::default() }).unwrap();
/// assert_eq!(cycle.prospects[0].stuck_in, Some(cycle.prospects[0].job));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn run_with_prospects(snapshot: &Snapshot) -> Result<Cycle, ConfigError> {
    let slots = copies(&snapshot.slots);
    phases(snapshot, slots, Path::Fast, true, &mut Unwatched)
}

/// As [`run_with_prospects`], but the slots are taken out of the snapshot, which saves a copy of them.
///
/// # Errors
/// As [`negotiate`].
pub fn run_with_prospects_taking(snapshot: &mut Snapshot) -> Result<Cycle, ConfigError> {
    let slots = std::mem::take(&mut snapshot.slots);
    phases(snapshot, slots, Path::Fast, true, &mut Unwatched)
}

/// Runs one cycle on a path of choice, and tells of its phases.
///
/// # Errors
/// As [`negotiate`].
pub fn run(snapshot: &Snapshot, path: Path, watch: &mut dyn Watch) -> Result<Cycle, ConfigError> {
    watch.begins("slots");
    let slots = copies(&snapshot.slots);
    phases(snapshot, slots, path, false, watch)
}

/// As [`run`], but the slots are taken out of the snapshot, which saves a copy of them.
///
/// # Errors
/// As [`negotiate`].
pub fn run_taking(snapshot: &mut Snapshot, path: Path, watch: &mut dyn Watch) -> Result<Cycle, ConfigError> {
    watch.begins("slots");
    let slots = std::mem::take(&mut snapshot.slots);
    phases(snapshot, slots, path, false, watch)
}

/// The phases of a cycle over slots, one after another.
fn phases(
    snapshot: &Snapshot,
    slots: Vec<ClassAd>,
    path: Path,
    prospects: bool,
    watch: &mut dyn Watch,
) -> Result<Cycle, ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let strange = strange(&slots);
    let slots = self::slots(slots, &rules, &settings);
    watch.begins("charge");
    let mut policy = charge(snapshot, &slots, &rules, &settings);
    let offered = Offered { slots, strange, size: None, prospects, unlisted: HashMap::new() };
    run_open(snapshot, &rules, &mut *policy, offered, path, watch)
}

/// Runs one of several cycles under a policy that keeps by itself what was used; `kept` is the policy, once it is open.
pub(crate) fn run_kept(
    snapshot: &Snapshot,
    rules: &Rules,
    kept: &mut Option<Box<dyn PriorityPolicy>>,
) -> Result<Outcome, ConfigError> {
    let settings = snapshot.settings();
    let strange = strange(&snapshot.slots);
    let slots = self::slots(snapshot.slots.clone(), rules, &settings);
    let mut policy = kept.take().unwrap_or_else(|| open(snapshot, &slots, rules, &settings));
    charge_slots(&mut *policy, &slots, snapshot, &settings);
    let offered = Offered { slots, strange, size: None, prospects: false, unlisted: HashMap::new() };
    let cycle = run_open(snapshot, rules, &mut *policy, offered, Path::Fast, &mut Unwatched)?;
    *kept = Some(policy);
    Ok(cycle.outcome)
}

/// What is dealt in a cycle.
pub(crate) struct Offered {
    /// The slots that take part.
    pub(crate) slots: Vec<Slot>,
    /// Ads that are none of slots, and those of slots without a name.
    pub(crate) strange: (usize, usize),
    /// The size of the pool, if these slots are not all of it.
    pub(crate) size: Option<PoolSize>,
    /// Whether it is asked of every job if any slot would do for it.
    pub(crate) prospects: bool,
    /// Behind which jobs so many more wait that are like them, and are not in the snapshot.
    pub(crate) unlisted: HashMap<JobId, usize>,
}

/// The phases of a cycle behind the charges, under a policy that is open: one that lasts for many cycles, or for one.
pub(crate) fn run_open(
    snapshot: &Snapshot,
    rules: &Rules,
    policy: &mut dyn PriorityPolicy,
    Offered { mut slots, strange, size, prospects, unlisted }: Offered,
    path: Path,
    watch: &mut dyn Watch,
) -> Result<Cycle, ConfigError> {
    let mut settings = snapshot.settings();
    watch.begins("queue");
    let (submitters, mut queue, known) = queue(snapshot, &slots, rules, &*policy, &settings);
    queue.unlisted = unlisted;
    readable(&queue, rules, &settings)?;
    watch.begins("divide");
    let all = || PoolSize::of(&slots, rules.pool_size.as_ref(), rules.weighing.weighted, &settings);
    let size = size.unwrap_or_else(all);
    rules.groups.fit(&size)?;
    let quotas = KnownQuotas::of(&rules.groups, &size).map(Arc::new);
    watch.begins("introduce");
    let live = Arc::new(LiveUsage::new(quotas.clone().map(|quotas| quotas as Arc<dyn Groups>)));
    introduce(&mut slots, rules, &*policy, quotas.as_deref(), &live, &mut settings);
    watch.opens(Opened {
        slots: &mut slots,
        rules,
        policy,
        submitters: &submitters,
        size: &size,
        quotas: quotas.as_ref(),
        settings: &settings,
    });
    let total_slots = slots.len();
    let offered = single::offered(&queue, known);
    let mut left_out = left_out(strange, snapshot, &queue, known);
    left_out.extend(rules.groups.odd.iter().cloned());
    left_out.extend(rules.concurrency.odd().map(told));
    let mut offers = Offers::new(slots, rules, &settings);
    if let Some(log) = &snapshot.log {
        offers = offers.with_books(log);
    }
    watch.begins("requests");
    let (market, by_slot) = market(offers, &queue, &submitters, rules, &*policy, path, watch);
    let prospects =
        if prospects { prospect::prospects(&*market, &queue, &submitters, rules, &*policy) } else { Vec::new() };
    watch.begins("deal");
    let mut dealing = Dealing::new(&submitters, rules, &settings, queue, market, &live, policy);
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
    watch.begins("report");
    let (classes, requests) = (dealing.offers.classes(), dealing.requests);
    let (mut outcome, slots) = report(dealing, &submitters, &offered);
    outcome.quirks = left_out;
    Ok(Cycle { outcome, classes, by_slot, requests, slots, prospects })
}

/// Tells the slots what the configuration adds to them and who uses those in use.
fn introduce(
    slots: &mut [Slot],
    rules: &Rules,
    policy: &dyn PriorityPolicy,
    quotas: Option<&KnownQuotas>,
    live: &Arc<LiveUsage>,
    settings: &mut Settings,
) {
    // Only now: what is copied into the slots counts neither as significant nor in the size of the pool.
    for slot in slots.iter_mut() {
        for (name, expr) in &rules.match_exprs {
            slot.ad.insert_expr(*name, expr);
        }
    }
    for (name, usage) in policy.in_use() {
        live.set(name, usage);
    }
    settings.usage = Some(live.clone());
    if rules.trim.preemption {
        let siblings = rules.knobs.matching.cross_slot_prios.then_some(&*rules.knobs.matching.resource_prefix);
        let groups = quotas.map(|quotas| quotas as &dyn Groups);
        let introduction = Introduction { policy, groups, siblings, settings };
        for slot in slots {
            introduction.of(slot);
        }
    }
}

/// Where requests look for slots; and why slot after slot, if so.
fn market<'c>(
    offers: Offers<'c>,
    queue: &Queue<'_>,
    submitters: &[Submitter],
    rules: &'c Rules,
    policy: &dyn PriorityPolicy,
    path: Path,
    watch: &mut dyn Watch,
) -> (Box<dyn Market + 'c>, Option<&'static str>) {
    let room = match path {
        Path::Fast => ROOM,
        Path::Within(room) => room,
        Path::Reference => return (Box::new(offers), Some("the slow way was asked for")),
    };
    let firsts: Vec<(usize, Request)> = queue.first_of_each().collect();
    let ads: Vec<ClassAd> = firsts.par_iter().map(|(who, request)| queue.request_ad(*who, request)).collect();
    let marked = |((who, request), mut ad): (&(usize, Request), ClassAd)| {
        deal::mark_at_start(&mut ad, &submitters[*who].name, policy, rules);
        Sample { autocluster: request.autocluster, ad }
    };
    let samples: Vec<Sample> = firsts.iter().zip(ads).map(marked).collect();
    match Engine::new(offers, rules, &samples, (&varying(queue), room), watch) {
        Ok(engine) => (Box::new(engine), None),
        Err((offers, obstacle)) => (offers, Some(obstacle)),
    }
}

/// What requests of the queue say that others of their autocluster need not.
fn varying(queue: &Queue<'_>) -> HashSet<Key> {
    let carried = CARRIED.map(Name::new);
    let varies = |name: &Name| !(carried.contains(name) && queue.is_significant(*name));
    VARYING.map(Name::new).into_iter().filter(varies).map(Name::key).collect()
}

/// Whether the concurrency limits that waiting jobs ask for are numbers.
fn readable(queue: &Queue<'_>, rules: &Rules, settings: &Settings) -> Result<(), ConfigError> {
    if rules.concurrency.odd().next().is_none() {
        return Ok(());
    }
    let waiting = queue.lists.iter().flatten().map(|queued| &queue.jobs[queued.job]);
    let mut asked = waiting.filter_map(|job| Facts::of(&job.ad, settings).string("ConcurrencyLimits"));
    match asked.find_map(|text| rules.concurrency.unreadable(&text.to_ascii_lowercase()).cloned()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A fault of the settings that stops nothing, in words.
fn told(error: &ConfigError) -> String {
    let help = error.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
    error.to_line() + &help
}

/// How many ads are none of slots, and how many of slots have no name.
fn strange(slots: &[ClassAd]) -> (usize, usize) {
    let name = Name::new("Name");
    let others = slots.par_iter().filter(|ad| !is_slot(ad)).count();
    (others, slots.par_iter().filter(|ad| is_slot(ad) && !ad.contains(name)).count())
}

/// What of the snapshot the cycle leaves out, in words.
fn left_out((others, nameless): (usize, usize), snapshot: &Snapshot, queue: &Queue<'_>, known: usize) -> Vec<String> {
    let notes = [
        (others, "ads among the slots are none and were left out"),
        (nameless, "slots without a name were left out"),
        (snapshot.jobs.len() - known, "jobs without a ClusterId or a submitter were left out"),
        (single::strangers(queue, known), "idle jobs belong to no submitter that is advertised and were not offered"),
    ];
    notes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

/// The slots that take part, as the negotiator sees them: without preemption a part of the ads of those in use.
pub(crate) fn slots(ads: Vec<ClassAd>, rules: &Rules, settings: &Settings) -> Vec<Slot> {
    let asked_for = |mut ad: ClassAd| {
        if !rules.trim.preemption && is_projected(&ad, settings) {
            project(&mut ad, settings);
        }
        ad
    };
    fetched(ads, rules, settings, asked_for)
}

/// The slots that take part with all there is to know of them.
pub(crate) fn whole_slots(ads: Vec<ClassAd>, rules: &Rules, settings: &Settings) -> Vec<Slot> {
    fetched(ads, rules, settings, |ad| ad)
}

fn fetched(
    ads: Vec<ClassAd>,
    rules: &Rules,
    settings: &Settings,
    asked_for: impl Fn(ClassAd) -> ClassAd + Sync + Send,
) -> Vec<Slot> {
    let takes_part = |ad: &ClassAd| {
        is_slot(ad) && rules.slots.as_ref().is_none_or(|constraint| Scope::new(ad, settings).holds(constraint))
    };
    let view = |ad: ClassAd| if takes_part(&ad) { Slot::new(asked_for(ad), &rules.weighing, settings) } else { None };
    let views: Vec<Option<Slot>> = ads.into_par_iter().map(view).collect();
    // Nearly all take part: they move up in the memory they stand in.
    views.into_iter().flatten().collect()
}

/// The submitters, their jobs by autocluster, and how many jobs there are.
fn queue<'s>(
    snapshot: &'s Snapshot,
    slots: &[Slot],
    rules: &Rules,
    policy: &dyn PriorityPolicy,
    settings: &Settings,
) -> (Vec<Submitter>, Queue<'s>, usize) {
    let (submitters, jobs) = self::submitters(snapshot, rules, settings);
    let known = jobs.len();
    let jobs = single::candidates(jobs, policy);
    let significant = rules.significant(slots.iter().map(|slot| &slot.ad));
    let queue = Queue::new(jobs, &submitters, significant, &rules.offering(), settings);
    (submitters, queue, known)
}

/// The submitters in the order in which they reach the negotiator, and the jobs of the queue.
fn submitters<'s>(snapshot: &'s Snapshot, rules: &Rules, settings: &Settings) -> (Vec<Submitter>, Vec<Job<'s>>) {
    let domain = rules.knobs.accountant.domain.as_deref();
    let jobs = Job::all(&snapshot.jobs, domain, settings);
    let takes_part =
        |ad: &ClassAd| rules.submitters.as_ref().is_none_or(|constraint| Scope::new(ad, settings).holds(constraint));
    let made = || {
        let mut made = Submitter::of_jobs(&jobs, settings);
        made.retain(|one| rules.submitters.is_none() || takes_part(&one.to_ad()));
        made
    };
    let mut submitters: Vec<(Submitter, Vec<i64>)> = match &snapshot.submitters {
        Some(ads) => {
            let read = |ad| Some((Submitter::new(ad, settings)?, Submitter::job_prios(ad, settings)));
            ads.iter().filter(|ad| takes_part(ad)).filter_map(read).collect()
        }
        None if rules.knobs.pie.use_global_job_prios => {
            let of = |one: Submitter| {
                let priorities = one.job_prios_of(&jobs, rules.knobs.pie.most_global_job_prios);
                (one, priorities)
            };
            made().into_iter().map(of).collect()
        }
        None => made().into_iter().map(|one| (one, Vec::new())).collect(),
    };
    Submitter::sort_as_collected(&mut submitters);
    if snapshot.submitters.is_none() && !snapshot.served.is_empty() {
        submitters.sort_by_key(|(submitter, _)| snapshot.served.get(&*submitter.name));
    }
    let asking = |(submitter, priorities): (Submitter, Vec<i64>)| {
        let priorities = if rules.knobs.pie.use_global_job_prios { priorities } else { Vec::new() };
        submitter.by_job_prio(&priorities)
    };
    (submitters.into_iter().flat_map(asking).collect(), jobs)
}

/// The ads of all who ask, left out or not: those of the snapshot, or such as the access points of its jobs would send.
pub fn advertised<'s>(snapshot: &'s Snapshot, rules: &Rules, settings: &Settings) -> Vec<Cow<'s, ClassAd>> {
    if let Some(ads) = &snapshot.submitters {
        return ads.iter().map(Cow::Borrowed).collect();
    }
    let jobs = Job::all(&snapshot.jobs, rules.knobs.accountant.domain.as_deref(), settings);
    Submitter::of_jobs(&jobs, settings).iter().map(|one| Cow::Owned(one.to_ad())).collect()
}

/// The policy over the pool of a snapshot, as its files left it.
pub(crate) fn open(snapshot: &Snapshot, slots: &[Slot], rules: &Rules, settings: &Settings) -> Box<dyn PriorityPolicy> {
    snapshot.policy.open(&Opening {
        log: snapshot.log.as_ref(),
        knobs: &rules.knobs,
        groups: rules.groups.tree.clone(),
        quota: &|group| rules.groups.quota(group),
        slots,
        jobs: &snapshot.jobs,
        settings,
    })
}

/// Priorities and usage, brought up to the moment of the snapshot.
fn charge(snapshot: &Snapshot, slots: &[Slot], rules: &Rules, settings: &Settings) -> Box<dyn PriorityPolicy> {
    let mut policy = open(snapshot, slots, rules, settings);
    charge_slots(&mut *policy, slots, snapshot, settings);
    policy
}

/// Charges the slots in use up to a moment.
fn charge_slots(policy: &mut dyn PriorityPolicy, slots: &[Slot], snapshot: &Snapshot, settings: &Settings) {
    let running = if policy.asks_jobs() { running(&snapshot.jobs, settings) } else { HashMap::new() };
    let in_use: Vec<SlotInUse<'_>> = slots
        .iter()
        .filter(|slot| slot.is_in_use())
        .filter_map(|slot| {
            let submitter = slot.charged.as_deref()?;
            let job = running.get(&slot.name.to_ascii_lowercase()).copied();
            let account = job.map_or(Account::Submitter, |job| policy.account(job, &slot.ad));
            let weight = policy.cost(job, &slot.ad, slot.weight);
            Some(SlotInUse { submitter, account, weight, suspended: slot.suspended })
        })
        .collect();
    policy.charge(&in_use, snapshot.now);
}

/// The jobs that run, by the name of their slot in lower case.
fn running<'j>(jobs: &'j [ClassAd], settings: &Settings) -> HashMap<Vec<u8>, &'j ClassAd> {
    let host = |ad: &'j ClassAd| Some((Facts::of(ad, settings).string("RemoteHost")?.to_ascii_lowercase(), ad));
    jobs.iter().filter_map(host).collect()
}

/// Counts what a deal decided, and gives the slots back.
fn report(dealing: Dealing<'_>, submitters: &[Submitter], offered: &[usize]) -> (Outcome, Vec<Slot>) {
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
    (outcome, offers.into_slots())
}
