//! Several negotiation cycles in a row: matched jobs run, finished jobs leave, and usage is charged.
//!
//! In: a pool at one moment, and how time passes. Out: the outcome of each cycle, and the usage of each submitter after
//! it. A claim ends with its job. Displaced jobs become idle again and have lost their work.
//!
//! It shares claiming, carving and freeing of slots with [`super::slots`], and nothing else: a replay runs a fixed number
//! of cycles over a real queue, from slots already in use, with job ads that stay and change, usage charged after each
//! cycle, and slots in a stable order. A simulation goes from event to event over a workload, from an empty pool.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::Serialize;

use super::slot_index::{SlotIndex, dynamic_name, is_dynamic, is_partitionable, name_of};
use crate::accountant::factor::FactorRules;
use crate::accountant::{Accountant, AccountantLog};
use crate::negotiate::commit::{CommitError, charged};
use crate::negotiate::outcome::{Match, Outcome};
use crate::negotiate::rules::Rules;
use crate::negotiate::{CycleOptions, PreparedPool, Snapshot};
use crate::pool::ad_reader::AdReader;
use crate::pool::claim::{Claim, claim, roll_up};
use crate::pool::consumption::Consumption;
use crate::pool::projection::is_projected;
use crate::pool::stash::Stash;
use crate::pool::{Slot, State};
use crate::queue::Job;
use crate::queue::job::{Activity, JobId};
use crate::queue::submitter::named;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::accepts;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::text::Text;
use classmate::internal::value::Value;
use classmate_config::internal::config::ConfigError;

/// `JobStatus` of an idle, a running and a completed job.
const IDLE: i64 = 1;
const RUNNING: i64 = 2;
const COMPLETED: i64 = 4;

/// The cycles of a replay.
#[derive(Debug, Clone)]
pub struct ReplayPlan {
    /// Number of cycles.
    pub cycles: u32,
    /// Seconds from the start of a cycle to the start of the next.
    pub interval: i64,
    /// Run time of a job in seconds, evaluated in the job with the slot as TARGET. A job for which this is not a number
    /// never ends.
    pub run_time: Option<Expr>,
    /// True if jobs that end are idle again, as if others like them came: demand stays as it is.
    pub refill: bool,
}

/// A cycle, and the state of the pool after it.
#[derive(Debug, Clone, Serialize)]
pub struct CycleReport {
    /// Number of the cycle, from 1.
    pub cycle: u32,
    /// The clock, epoch seconds.
    pub now: i64,
    /// Jobs that ended since the previous cycle.
    pub ended: usize,
    /// Jobs that started, including those packed into the leftovers of a match.
    pub started: usize,
    /// Jobs that lost their slots to others.
    pub displaced: usize,
    /// Jobs that run after the cycle.
    pub running: usize,
    /// Jobs that are idle after the cycle.
    pub idle: usize,
    /// Usage after the cycle, by submitter name.
    pub submitters: Vec<SubmitterUsage>,
    /// The outcome of the cycle.
    pub outcome: Outcome,
}

/// The usage of a submitter after a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubmitterUsage {
    /// The submitter.
    pub submitter: String,
    /// Its effective priority; none under policies without an accountant.
    pub priority: Option<f64>,
    /// Weight of the slots its jobs run on.
    pub weight: f64,
    /// That as a fraction of all weight in use.
    pub share: f64,
    /// Its running jobs.
    pub running: usize,
    /// Its idle jobs.
    pub idle: usize,
}

/// Runs the cycles of a plan, calling `each` after every one.
///
/// `book` may charge a cycle to an accountant's log on disk and returns that log; without one, usage is kept in memory.
///
/// # Errors
/// An invalid setting, or a log that cannot be written.
pub fn replay(
    snapshot: Snapshot,
    plan: &ReplayPlan,
    mut book: impl FnMut(&Snapshot, &Outcome) -> Result<Option<AccountantLog>, CommitError>,
    mut each: impl FnMut(CycleReport),
) -> Result<(), CommitError> {
    let rules = Arc::new(Rules::read(&snapshot.config, &snapshot.settings())?);
    let seed = snapshot.seed;
    let mut pool = PoolState::new(snapshot, &rules, plan)?;
    let (mut policy, mut last_served) = (None, Vec::new());
    for cycle in 1..=plan.cycles {
        let ended = pool.end();
        let current = pool.use_kept_ads();
        // The same seed in every cycle would draw the same lots.
        pool.snapshot.seed = seed.wrapping_add(u64::from(cycle - 1));
        let uses_accountant = pool.snapshot.policy.uses_accountant();
        let is_kept = pool.snapshot.policy.is_stateful() && !uses_accountant;
        let mut prepared = PreparedPool::of_series(&pool.snapshot, &rules, policy.take())?;
        let made = prepared.negotiate(CycleOptions { last_served, ..CycleOptions::default() })?;
        let outcome = made.outcome;
        last_served = made.last_served;
        policy = is_kept.then(|| prepared.into_policy());
        if let Some(current) = current {
            pool.snapshot.slots = current;
        }
        if uses_accountant {
            pool.snapshot.log = match book(&pool.snapshot, &outcome)? {
                Some(log) => Some(log),
                None => Some(charged(&pool.snapshot, &outcome)?),
            };
        }
        let (started, displaced) = pool.start(&outcome);
        each(pool.report(cycle, (ended, started, displaced), outcome));
        pool.pass(plan.interval);
    }
    Ok(())
}

/// The slots of a snapshot after the matches of a cycle over it: each matched job has claimed its slot.
///
/// # Errors
/// An invalid setting.
pub fn slots_after(snapshot: &Snapshot, outcome: &Outcome) -> Result<Vec<ClassAd>, ConfigError> {
    let rules = Rules::read(&snapshot.config, &snapshot.settings())?;
    let plan = ReplayPlan { cycles: 1, interval: 1, run_time: None, refill: false };
    let mut pool = PoolState::new(snapshot.clone(), &rules, &plan)?;
    // No jobs beside those that were matched.
    pool.leftovers = false;
    pool.start(outcome);
    Ok(pool.snapshot.slots)
}

/// A job on its slot.
struct RunningJob {
    job: Option<usize>,
    slot: Vec<u8>,
    /// Epoch seconds; none: it never ends.
    end: Option<i64>,
}

/// Identity and state of a job.
struct PoolJob {
    id: JobId,
    /// The name its usage is charged to.
    submitter: Text,
    schedd: Option<Text>,
    activity: Activity,
}

/// Slots and jobs between two cycles.
struct PoolState<'r> {
    snapshot: Snapshot,
    plan: &'r ReplayPlan,
    rules: &'r Rules,
    slots: SlotIndex,
    /// The jobs of the snapshot; none for ads that are not jobs.
    jobs: Vec<Option<PoolJob>>,
    /// Jobs by ID and submitter, at any access point.
    by_id: HashMap<(JobId, Vec<u8>), Vec<usize>>,
    /// Jobs of a cluster, in the order in which they are offered.
    clusters: HashMap<i64, Vec<usize>>,
    running: Vec<RunningJob>,
    /// True if more jobs of a cluster start on what a match leaves of a partitionable slot.
    leftovers: bool,
    /// Slot ads kept for re-evaluation.
    stash: Stash,
}

impl<'r> PoolState<'r> {
    fn new(snapshot: Snapshot, rules: &'r Rules, plan: &'r ReplayPlan) -> Result<Self, ConfigError> {
        let settings = snapshot.settings();
        let domain = rules.knobs.accountant.domain.as_deref();
        let read: Vec<Option<Job<'_>>> = snapshot.jobs.iter().map(|ad| Job::new(ad, domain, &settings)).collect();
        let mut ordered: Vec<usize> = (0..read.len()).filter(|at| read[*at].is_some()).collect();
        ordered.sort_by_key(|at| read[*at].as_ref().map(Job::order));
        let queued = |job: Job<'_>| PoolJob {
            submitter: named(job.submitter.clone(), &settings).0,
            id: job.id,
            schedd: job.schedd.clone(),
            activity: job.activity,
        };
        let jobs: Vec<Option<PoolJob>> = read.into_iter().map(|job| job.map(queued)).collect();
        let mut by_id: HashMap<(JobId, Vec<u8>), Vec<usize>> = HashMap::new();
        let mut clusters: HashMap<i64, Vec<usize>> = HashMap::new();
        for (at, job) in ordered.into_iter().filter_map(|at| Some((at, jobs[at].as_ref()?))) {
            by_id.entry((job.id, job.submitter.to_vec())).or_default().push(at);
            clusters.entry(job.id.cluster).or_default().push(at);
        }
        let leftovers = snapshot.config.boolean("CLAIM_PARTITIONABLE_LEFTOVERS", true)?;
        let slots = SlotIndex::new(&snapshot.slots, &settings);
        let (running, stash) = (Vec::new(), Stash::default());
        let mut pool = Self { snapshot, plan, rules, slots, jobs, by_id, clusters, running, leftovers, stash };
        pool.find_running();
        Ok(pool)
    }

    /// Clock and seed.
    fn settings(&self) -> EvalOptions {
        self.snapshot.settings()
    }

    /// Finds the jobs that already run, by the claimed slots.
    fn find_running(&mut self) {
        let settings = self.settings();
        for ad in &self.snapshot.slots {
            let Some(slot) = Slot::new(ad.clone(), &self.rules.weighing, &settings) else { continue };
            if !slot.is_in_use() {
                continue;
            }
            let facts = AdReader::of(ad, &settings);
            let job = facts.string("JobId").and_then(|id| {
                self.job(String::from_utf8_lossy(&id).parse().ok()?, slot.charged.as_ref()?, Activity::Running)
            });
            let own = job.map(|at| &self.snapshot.jobs[at]);
            let began = own
                .and_then(|job| AdReader::of(job, &settings).integer("JobCurrentStartDate"))
                .filter(|date| *date > 0)
                .or_else(|| facts.integer("EnteredCurrentState"))
                .unwrap_or(self.snapshot.now);
            let end = self.run_time(own.unwrap_or(&ClassAd::new()), ad).map(|time| began.saturating_add(time));
            self.running.push(RunningJob { job, slot: slot.name.to_vec(), end });
        }
    }

    /// Replaces slot ads by kept ones that are as new, and returns the current ads; none if no ad was replaced.
    fn use_kept_ads(&mut self) -> Option<Vec<ClassAd>> {
        let settings = self.settings();
        let (stash, newer) = (&mut self.stash, self.rules.newer_ad.as_ref());
        // A projection of slots in use, when only idle slots are matched, lacks the request for re-evaluation.
        let preemption = self.rules.trim.preemption;
        let ads = self.snapshot.slots.iter().enumerate();
        let kept: Vec<(usize, ClassAd)> = ads
            .filter(|(_, ad)| preemption || !is_projected(ad, &settings))
            .filter_map(|(at, ad)| Some((at, stash.instead_of(ad, newer, &settings)?)))
            .collect();
        if kept.is_empty() {
            return None;
        }
        let current = self.snapshot.slots.clone();
        for (at, ad) in kept {
            self.snapshot.slots[at] = ad;
        }
        Some(current)
    }

    fn is(&self, job: usize, activity: Activity) -> bool {
        self.jobs[job].as_ref().is_some_and(|job| job.activity == activity)
    }

    /// The job with an ID and a submitter in a state.
    fn job(&self, id: JobId, submitter: &[u8], activity: Activity) -> Option<usize> {
        let found = self.by_id.get(&(id, submitter.to_vec()))?;
        found.iter().copied().find(|&at| self.is(at, activity))
    }

    fn run_time(&self, job: &ClassAd, slot: &ClassAd) -> Option<i64> {
        let settings = self.settings();
        let value = Scope::new(job, &settings).with_target(slot).eval(self.plan.run_time.as_ref()?).ok()?;
        value.as_number().filter(|time| time.is_finite()).map(|time| time.max(0.0).ceil() as i64)
    }

    /// Ends the jobs whose time is over, and returns their number.
    fn end(&mut self) -> usize {
        let now = self.snapshot.now;
        let (over, running): (Vec<RunningJob>, Vec<RunningJob>) =
            std::mem::take(&mut self.running).into_iter().partition(|run| run.end.is_some_and(|end| end <= now));
        self.running = running;
        for run in &over {
            if let Some(job) = run.job {
                self.set_job(job, if self.plan.refill { IDLE } else { COMPLETED }, None);
            }
            self.vacate(&run.slot);
        }
        self.compact();
        over.len()
    }

    fn vacate(&mut self, slot: &[u8]) {
        let settings = self.settings();
        self.slots.free(&mut self.snapshot.slots, slot, &settings);
    }

    fn compact(&mut self) {
        let settings = self.settings();
        self.slots.compact(&mut self.snapshot.slots, &settings);
    }

    /// Starts the matched jobs. Returns the number of jobs that started and of jobs that lost their slots.
    fn start(&mut self, outcome: &Outcome) -> (usize, usize) {
        let (mut started, mut displaced) = (0, 0);
        for made in &outcome.matches {
            let slot = made.slot.as_bytes();
            if made.unused {
                // The machine is woken; the job waits for it.
                if made.offline
                    && let Some(at) = self.slots.get(slot)
                {
                    self.snapshot.slots[at].insert("MachineLastMatchTime", self.snapshot.now);
                }
                continue;
            }
            if made.displaced.is_some() {
                displaced += self.displace(slot);
            }
            for dynamic in &made.released {
                displaced += self.displace(dynamic.as_bytes());
                self.vacate(dynamic.as_bytes());
            }
            let Some(job) = self.job(made.job, made.submitter.as_bytes(), Activity::Idle) else { continue };
            started += self.run_on(made, job);
        }
        self.compact();
        if self.rules.makes_room() {
            self.roll_up();
        }
        (started, displaced)
    }

    /// Lists dynamic slots in the ads of their partitionable slots, as machines do whose policy allows to give them up.
    fn roll_up(&mut self) {
        let settings = self.settings();
        let mut children: HashMap<usize, Vec<ClassAd>> = HashMap::new();
        for ad in self.snapshot.slots.iter_mut().filter(|ad| is_dynamic(ad, &settings)) {
            if let Some(parent) = name_of(ad, &settings).and_then(|name| self.slots.parent(&name)) {
                ad.insert("PslotRollupInformation", true);
                children.entry(parent).or_default().push(ad.clone());
            }
        }
        for (at, ad) in self.snapshot.slots.iter_mut().enumerate() {
            if is_partitionable(ad, &settings) {
                roll_up(ad, &children.remove(&at).unwrap_or_default(), &settings);
            }
        }
    }

    /// Puts the job of a slot back into the queue. Returns the number of jobs: 1 or 0.
    fn displace(&mut self, slot: &[u8]) -> usize {
        let Some(at) = self.running.iter().position(|run| run.slot == slot) else { return 0 };
        let run = self.running.remove(at);
        if let Some(job) = run.job {
            self.set_job(job, IDLE, None);
        }
        1
    }

    /// Starts a job on the slot of a match, and others of its cluster on what is left of it. Returns their number.
    fn run_on(&mut self, made: &Match, job: usize) -> usize {
        let settings = self.settings();
        let Some(at) = self.slots.get(made.slot.as_bytes()) else { return 0 };
        let ad = &mut self.snapshot.slots[at];
        if !is_partitionable(ad, &settings) {
            let state = AdReader::of(ad, &settings).string("State");
            if made.displaced.is_none() && state.is_some_and(|state| State::named(&state) == State::Claimed) {
                // Matched by an old ad, or twice in a cycle: the first job has the slot.
                return 0;
            }
            claim(ad, &claim_of(made, &self.snapshot.jobs[job]), &settings);
            self.runs(job, made.slot.clone().into_bytes(), at);
            return 1;
        }
        let pack = self.leftovers && Consumption::of(ad, &settings).is_none();
        let mut started = usize::from(self.carve_for(made, at, job));
        if started == 0 || !pack {
            return started;
        }
        for other in self.siblings(job) {
            let (slot, ad) = (&self.snapshot.slots[at], &self.snapshot.jobs[other]);
            let fits = accepts(ad, slot, &settings) && accepts(slot, ad, &settings);
            if !(fits && self.carve_for(made, at, other)) {
                break;
            }
            started += 1;
        }
        started
    }

    /// Idle jobs of the same cluster and submitter, in the order in which they are offered.
    fn siblings(&self, job: usize) -> Vec<usize> {
        let Some(first) = &self.jobs[job] else { return Vec::new() };
        let sibling = |other: &&usize| {
            self.jobs[**other].as_ref().is_some_and(|other| {
                other.activity == Activity::Idle && other.submitter == first.submitter && other.schedd == first.schedd
            })
        };
        self.clusters.get(&first.id.cluster).into_iter().flatten().filter(sibling).copied().collect()
    }

    /// Carves a slot for a job out of a partitionable one.
    fn carve_for(&mut self, made: &Match, at: usize, job: usize) -> bool {
        let settings = self.settings();
        let mut names = (1_u64..).map(|number| dynamic_name(&made.slot, number));
        let free = names.find(|name| self.slots.get(name.as_bytes()).is_none());
        let Some(name) = free else { return false };
        let Snapshot { slots, jobs, .. } = &mut self.snapshot;
        let carved = self.slots.carve(slots, at, &name, &claim_of(made, &jobs[job]), &settings);
        let Some(place) = carved else { return false };
        self.runs(job, name.into_bytes(), place);
        true
    }

    fn runs(&mut self, job: usize, slot: Vec<u8>, at: usize) {
        self.set_job(job, RUNNING, Some(&slot));
        let time = self.run_time(&self.snapshot.jobs[job], &self.snapshot.slots[at]);
        let end = time.map(|time| self.snapshot.now.saturating_add(time));
        self.running.push(RunningJob { job: Some(job), slot, end });
    }

    /// Sets the state of a job, in its ad and in the counts of its submitter.
    fn set_job(&mut self, at: usize, status: i64, slot: Option<&[u8]>) {
        let settings = self.settings();
        let Some(job) = &mut self.jobs[at] else { return };
        let before = job.activity;
        job.activity = match status {
            IDLE => Activity::Idle,
            RUNNING => Activity::Running,
            _ => Activity::Neither,
        };
        let (after, submitter, schedd) = (job.activity, job.submitter.clone(), job.schedd.clone());
        let ad = &mut self.snapshot.jobs[at];
        ad.insert("JobStatus", status);
        ad.insert("EnteredCurrentStatus", settings.now);
        match slot {
            Some(slot) => {
                ad.insert("JobCurrentStartDate", settings.now);
                ad.insert("RemoteHost", Value::text(slot));
                let starts = AdReader::of(ad, &settings).integer("NumJobStarts").unwrap_or(0);
                ad.insert("NumJobStarts", starts + 1);
            }
            None => {
                ad.remove("RemoteHost");
            }
        }
        let weight = self.rules.job_weighing.weight(ad, &settings);
        let change = |activity| i64::from(after == activity) - i64::from(before == activity);
        self.count(&submitter, schedd.as_deref(), change(Activity::Idle), change(Activity::Running), weight);
    }

    /// Corrects the counts of a submitter's ad.
    fn count(&mut self, submitter: &[u8], schedd: Option<&[u8]>, idle: i64, running: i64, weight: i64) {
        let settings = self.settings();
        let Some(ads) = &mut self.snapshot.submitters else { return };
        let of = |ad: &&mut ClassAd| {
            let facts = AdReader::of(ad, &settings);
            let here = schedd.is_none_or(|schedd| facts.string("ScheddName").is_none_or(|name| *name == *schedd));
            here && facts.string("Name").is_some_and(|name| *named(name, &settings).0 == *submitter)
        };
        let Some(ad) = ads.iter_mut().find(of) else { return };
        for (name, by) in [
            ("IdleJobs", idle),
            ("RunningJobs", running),
            ("WeightedIdleJobs", idle * weight),
            ("WeightedRunningJobs", running * weight),
        ] {
            if let Some(count) = AdReader::of(ad, &settings).integer(name) {
                ad.insert(name, count.saturating_add(by).max(0));
            }
        }
    }

    /// The state after a cycle.
    fn report(&self, cycle: u32, (ended, started, displaced): (usize, usize, usize), outcome: Outcome) -> CycleReport {
        let settings = self.settings();
        let mut held: BTreeMap<Vec<u8>, (f64, usize, usize)> = BTreeMap::new();
        for ad in &self.snapshot.slots {
            let Some(slot) = Slot::new(ad.clone(), &self.rules.weighing, &settings) else { continue };
            if let Some(user) = slot.charged.as_ref().filter(|_| slot.is_in_use()) {
                held.entry(user.to_vec()).or_default().0 += slot.weight;
            }
        }
        for job in self.jobs.iter().flatten() {
            let (_, running, idle) = held.entry(job.submitter.to_vec()).or_default();
            *running += usize::from(job.activity == Activity::Running);
            *idle += usize::from(job.activity == Activity::Idle);
        }
        let log = self.snapshot.log.as_ref().filter(|_| self.snapshot.policy.uses_accountant());
        let accountant = log.map(|log| Accountant::from_log(log, FactorRules::new(&self.rules.knobs.accountant)));
        let tree = &*self.rules.groups.tree;
        let total: f64 = held.values().map(|(weight, ..)| weight).sum();
        let usage = |(name, &(weight, running, idle)): (&Vec<u8>, &(f64, usize, usize))| SubmitterUsage {
            submitter: String::from_utf8_lossy(name).into_owned(),
            priority: accountant.as_ref().map(|accountant| accountant.effective_priority(name, tree)),
            weight,
            share: if total > 0.0 { weight / total } else { 0.0 },
            running,
            idle,
        };
        CycleReport {
            cycle,
            now: self.snapshot.now,
            ended,
            started,
            displaced,
            running: held.values().map(|(_, running, _)| running).sum(),
            idle: held.values().map(|(.., idle)| idle).sum(),
            submitters: held.iter().map(usage).collect(),
            outcome,
        }
    }

    /// Lets time pass.
    fn pass(&mut self, seconds: i64) {
        self.snapshot.now = self.snapshot.now.saturating_add(seconds);
        let settings = self.settings();
        for ad in &mut self.snapshot.slots {
            if let Some(number) = AdReader::of(ad, &settings).integer("UpdateSequenceNumber") {
                ad.insert("UpdateSequenceNumber", number.saturating_add(1));
            }
            for name in ["MyCurrentTime", "LastHeardFrom"] {
                if let Some(time) = AdReader::of(ad, &settings).integer(name) {
                    ad.insert(name, time.saturating_add(seconds));
                }
            }
        }
        for ad in &mut self.snapshot.jobs {
            if let Some(time) = AdReader::of(ad, &settings).integer("ServerTime") {
                ad.insert("ServerTime", time.saturating_add(seconds));
            }
        }
    }
}

/// The claim of a match for a job.
fn claim_of<'a>(made: &'a Match, job: &'a ClassAd) -> Claim<'a> {
    Claim { job, submitter: made.submitter.as_bytes(), limits: made.limits.as_deref() }
}
