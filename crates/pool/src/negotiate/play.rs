//! Several cycles one after another: what is matched runs, what has run is gone, and the books move on.
//!
//! In: a pool at one moment, and how time passes. Out: the outcome of each cycle, and who had what behind it. A claim
//! ends with its job. Jobs that are displaced wait again and have lost what they did.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::Serialize;

use crate::accountant::factor::FactorRules;
use crate::accountant::{Accountant, Log};
use crate::negotiate::commit::{CommitError, charged};
use crate::negotiate::outcome::{Match, Outcome};
use crate::negotiate::rules::Rules;
use crate::negotiate::{Snapshot, negotiate, run_kept};
use crate::pool::claim::{Claim, carve, claim, give_back, release, roll_up};
use crate::pool::consumption::Consumption;
use crate::pool::facts::Facts;
use crate::pool::projection::is_projected;
use crate::pool::stash::Stash;
use crate::pool::{Slot, State};
use crate::queue::Job;
use crate::queue::job::{Activity, JobId};
use crate::queue::submitter::named;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::accepts;
use classmate::internal::eval::scope::{Scope, Settings};
use classmate::internal::syntax::expr::Expr;
use classmate::internal::text::Text;
use classmate::internal::value::Value;
use classmate_config::internal::config::setting::Settings as Knobs;

/// `JobStatus` of a job that waits, of one that runs, of one that is done.
const IDLE: i64 = 1;
const RUNNING: i64 = 2;
const COMPLETED: i64 = 4;

/// How time passes.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many cycles.
    pub cycles: u32,
    /// From the start of a cycle to the start of the next, seconds.
    pub interval: i64,
    /// How long a job runs: seconds, evaluated in the job with the slot as TARGET. A job for which this is no number
    /// runs for ever.
    pub run_time: Option<Expr>,
}

/// One cycle, and what there was behind it.
#[derive(Debug, Clone, Serialize)]
pub struct Played {
    /// Which cycle, from 1.
    pub cycle: u32,
    /// The clock, epoch seconds.
    pub now: i64,
    /// Jobs that ended since the cycle before.
    pub ended: usize,
    /// Jobs that started, those packed into what a match left over included.
    pub started: usize,
    /// Jobs that lost their slots to others.
    pub displaced: usize,
    /// Jobs that run behind the cycle.
    pub running: usize,
    /// Jobs that wait behind the cycle.
    pub idle: usize,
    /// Who has what behind the cycle, by name.
    pub submitters: Vec<Holding>,
    /// The outcome of the cycle.
    pub outcome: Outcome,
}

/// What a submitter has behind a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Holding {
    /// The submitter.
    pub submitter: String,
    /// Its effective priority; none under policies that keep no books.
    pub priority: Option<f64>,
    /// Weight of the slots its jobs run on.
    pub weight: f64,
    /// That as a fraction of all weight in use.
    pub share: f64,
    /// Its jobs that run.
    pub running: usize,
    /// Its jobs that wait.
    pub idle: usize,
}

/// Plays cycles, calling `each` behind every one.
///
/// `book` may charge a cycle to books on disk and returns them; without books on disk they are kept in memory.
///
/// # Errors
/// A wrong setting, or books that cannot be written.
pub fn play(
    snapshot: Snapshot,
    plan: &Plan,
    mut book: impl FnMut(&Snapshot, &Outcome) -> Result<Option<Log>, CommitError>,
    mut each: impl FnMut(Played),
) -> Result<(), CommitError> {
    let rules = Rules::read(&snapshot.config, &snapshot.settings())?;
    let seed = snapshot.seed;
    let mut floor = Floor::new(snapshot, plan.clone())?;
    let mut kept = None;
    for cycle in 1..=plan.cycles {
        let ended = floor.end();
        let current = floor.keep();
        // The same seed in every cycle would draw the same lots.
        floor.snapshot.seed = seed.wrapping_add(u64::from(cycle - 1));
        let policy = &floor.snapshot.policy;
        let outcome = if policy.lasts() && !policy.keeps_books() {
            run_kept(&floor.snapshot, &rules, &mut kept)?
        } else {
            negotiate(&floor.snapshot)?
        };
        if let Some(current) = current {
            floor.snapshot.slots = current;
        }
        if floor.snapshot.policy.keeps_books() {
            floor.snapshot.log = match book(&floor.snapshot, &outcome)? {
                Some(log) => Some(log),
                None => Some(charged(&floor.snapshot, &outcome)?),
            };
        }
        let (started, displaced) = floor.start(&outcome);
        let played = floor.played(cycle, (ended, started, displaced), outcome);
        each(played);
        floor.pass(plan.interval);
    }
    Ok(())
}

/// A job on its slot.
struct Run {
    job: Option<usize>,
    slot: Vec<u8>,
    /// Epoch seconds; none: it never ends.
    end: Option<i64>,
}

/// What is asked of a job again and again.
struct Known {
    id: JobId,
    /// The name its use is charged to.
    submitter: Text,
    schedd: Option<Text>,
    activity: Activity,
}

/// The machines and the jobs while time passes.
struct Floor {
    snapshot: Snapshot,
    plan: Plan,
    rules: Rules,
    /// Slots by name.
    slots: HashMap<Vec<u8>, usize>,
    /// Jobs by number and submitter, where the access point does not matter.
    jobs: Vec<Option<Known>>,
    by_id: HashMap<(JobId, Vec<u8>), Vec<usize>>,
    /// Jobs of a cluster, in the order in which they are offered.
    clusters: HashMap<i64, Vec<usize>>,
    running: Vec<Run>,
    /// Whether more jobs of a cluster start on what a match leaves of a partitionable slot.
    leftovers: bool,
    /// Ads of slots that want another look.
    stash: Stash,
}

impl Floor {
    fn new(snapshot: Snapshot, plan: Plan) -> Result<Self, CommitError> {
        let settings = snapshot.settings();
        let rules = Rules::read(&snapshot.config, &settings)?;
        let domain = rules.knobs.accountant.domain.as_deref();
        let jobs: Vec<Option<Job<'_>>> = snapshot.jobs.iter().map(|ad| Job::new(ad, domain, &settings)).collect();
        let mut by_id: HashMap<(JobId, Vec<u8>), Vec<usize>> = HashMap::new();
        let mut clusters: HashMap<i64, Vec<usize>> = HashMap::new();
        let mut numbered: Vec<(usize, &Job)> =
            jobs.iter().enumerate().filter_map(|(at, job)| Some((at, job.as_ref()?))).collect();
        numbered.sort_by_key(|(_, job)| job.order());
        let name = |job: &Job<'_>| named(job.submitter.clone(), &settings).0;
        for (at, job) in numbered {
            by_id.entry((job.id, name(job).to_vec())).or_default().push(at);
            clusters.entry(job.id.cluster).or_default().push(at);
        }
        let known = |job: Job<'_>| Known {
            submitter: name(&job),
            id: job.id,
            schedd: job.schedd.clone(),
            activity: job.activity,
        };
        let jobs: Vec<Option<Known>> = jobs.into_iter().map(|job| job.map(known)).collect();
        let leftovers = Knobs::new(&snapshot.config).boolean("CLAIM_PARTITIONABLE_LEFTOVERS", true)?;
        let slots = HashMap::new();
        let (running, stash) = (Vec::new(), Stash::default());
        let mut floor = Self { snapshot, plan, rules, slots, jobs, by_id, clusters, running, leftovers, stash };
        floor.index();
        floor.find_running();
        Ok(floor)
    }

    /// Clock and seed.
    fn settings(&self) -> Settings {
        self.snapshot.settings()
    }

    fn index(&mut self) {
        let settings = self.settings();
        let named = self.snapshot.slots.iter().enumerate();
        self.slots =
            named.filter_map(|(at, ad)| Some((Facts::of(ad, &settings).string("Name")?.to_vec(), at))).collect();
    }

    /// The jobs that run already: those that the claimed slots name.
    fn find_running(&mut self) {
        let settings = self.settings();
        for ad in &self.snapshot.slots {
            let Some(slot) = Slot::new(ad.clone(), &self.rules.weighing, &settings) else { continue };
            if !slot.is_in_use() {
                continue;
            }
            let facts = Facts::of(ad, &settings);
            let job = facts.string("JobId").and_then(|id| {
                let id = job_id(&String::from_utf8_lossy(&id))?;
                let found = self.by_id.get(&(id, slot.charged.as_ref()?.to_vec()))?;
                found.iter().copied().find(|&at| self.is(at, Activity::Running))
            });
            let own = job.map(|at| &self.snapshot.jobs[at]);
            let began = own
                .and_then(|job| Facts::of(job, &settings).integer("JobCurrentStartDate"))
                .or_else(|| facts.integer("EnteredCurrentState"))
                .unwrap_or(self.snapshot.now);
            let end = self.run_time(own.unwrap_or(&ClassAd::new()), ad).map(|time| began.saturating_add(time));
            self.running.push(Run { job, slot: slot.name.to_vec(), end });
        }
    }

    /// Puts ads that were kept in the place of those that are not newer, and gives all as they were; none if no ad was
    /// replaced.
    fn keep(&mut self) -> Option<Vec<ClassAd>> {
        let settings = self.settings();
        let (stash, newer) = (&mut self.stash, self.rules.newer_ad.as_ref());
        // What is asked of slots in use where only idle ones are looked at does not tell that they want another look.
        let preemption = self.rules.trim.preemption;
        let kept: Vec<(usize, ClassAd)> = self
            .snapshot
            .slots
            .iter()
            .enumerate()
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

    fn run_time(&self, job: &ClassAd, slot: &ClassAd) -> Option<i64> {
        let settings = self.settings();
        let value = Scope::new(job, &settings).with_target(slot).eval(self.plan.run_time.as_ref()?).ok()?;
        value.as_number().filter(|time| time.is_finite()).map(|time| time.max(0.0).ceil() as i64)
    }

    /// Ends the jobs whose time is over, and says how many.
    fn end(&mut self) -> usize {
        let now = self.snapshot.now;
        let (over, running): (Vec<Run>, Vec<Run>) =
            std::mem::take(&mut self.running).into_iter().partition(|run| run.end.is_some_and(|end| end <= now));
        self.running = running;
        for run in &over {
            if let Some(job) = run.job {
                self.set_job(job, COMPLETED, None);
            }
            self.vacate(&run.slot);
        }
        self.tidy();
        over.len()
    }

    /// Frees a slot; a dynamic one goes back into the slot it came from.
    fn vacate(&mut self, name: &[u8]) {
        let settings = self.settings();
        let Some(&at) = self.slots.get(name) else { return };
        let parent = parent_of(name).and_then(|parent| self.slots.get(&parent).copied());
        let dynamic = Facts::of(&self.snapshot.slots[at], &settings).truth("DynamicSlot") == Some(true);
        match parent {
            Some(parent) if dynamic => {
                let child = std::mem::take(&mut self.snapshot.slots[at]);
                give_back(&mut self.snapshot.slots[parent], &child, &settings);
                self.slots.remove(name);
            }
            _ => release(&mut self.snapshot.slots[at], &settings),
        }
    }

    /// Drops the ads of dynamic slots that are no more.
    fn tidy(&mut self) {
        let before = self.snapshot.slots.len();
        self.snapshot.slots.retain(|ad| !ad.is_empty());
        if self.snapshot.slots.len() != before {
            self.index();
        }
    }

    /// Starts what was matched. Returns how many jobs started, and how many lost their slots.
    fn start(&mut self, outcome: &Outcome) -> (usize, usize) {
        let (mut started, mut displaced) = (0, 0);
        for made in &outcome.matches {
            if made.offline {
                // It is woken; the job waits for it.
                if let Some(&at) = self.slots.get(made.slot.as_bytes()) {
                    self.snapshot.slots[at].insert("MachineLastMatchTime", self.snapshot.now);
                }
                continue;
            }
            if made.displaced.is_some() {
                displaced += self.displace(made.slot.as_bytes());
            }
            for dynamic in &made.released {
                displaced += self.displace(dynamic.as_bytes());
                self.vacate(dynamic.as_bytes());
            }
            let Some(job) = self.waiting(made) else { continue };
            started += self.run_on(made, job);
        }
        self.tidy();
        if self.rules.makes_room() {
            self.roll_up();
        }
        (started, displaced)
    }

    /// Tells partitionable slots of the dynamic ones carved from them, as machines do whose policy allows to give them up.
    fn roll_up(&mut self) {
        let settings = self.settings();
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, ad) in self.snapshot.slots.iter_mut().enumerate() {
            if Facts::of(ad, &settings).truth("DynamicSlot") == Some(true) {
                let name = Facts::of(ad, &settings).string("Name");
                if let Some(parent) = name.and_then(|name| self.slots.get(&parent_of(&name)?)) {
                    ad.insert("PslotRollupInformation", true);
                    children.entry(*parent).or_default().push(at);
                }
            }
        }
        for at in 0..self.snapshot.slots.len() {
            if Facts::of(&self.snapshot.slots[at], &settings).truth("PartitionableSlot") == Some(true) {
                let own = children.remove(&at).unwrap_or_default();
                let own: Vec<ClassAd> = own.iter().map(|&at| self.snapshot.slots[at].clone()).collect();
                roll_up(&mut self.snapshot.slots[at], &own, &settings);
            }
        }
    }

    /// Puts the job of a slot back into the queue.
    fn displace(&mut self, slot: &[u8]) -> usize {
        let Some(at) = self.running.iter().position(|run| run.slot == slot) else { return 0 };
        let run = self.running.remove(at);
        if let Some(job) = run.job {
            self.set_job(job, IDLE, None);
        }
        1
    }

    fn waiting(&self, made: &Match) -> Option<usize> {
        let found = self.by_id.get(&(job_id(&made.job)?, made.submitter.clone().into_bytes()))?;
        found.iter().copied().find(|&at| self.is(at, Activity::Idle))
    }

    /// Starts a job on the slot of a match, and others of its cluster on what is left of it. Returns how many.
    fn run_on(&mut self, made: &Match, job: usize) -> usize {
        let settings = self.settings();
        let Some(&at) = self.slots.get(made.slot.as_bytes()) else { return 0 };
        let facts = Facts::of(&self.snapshot.slots[at], &settings);
        if facts.truth("PartitionableSlot") != Some(true) {
            let claimed = facts.string("State").is_some_and(|state| State::named(&state) == State::Claimed);
            if claimed && made.displaced.is_none() {
                // Matched by an old ad, or twice in a cycle: whoever came first has it.
                return 0;
            }
            let of = Claim {
                job: &self.snapshot.jobs[job],
                submitter: made.submitter.as_bytes(),
                limits: made.limits.as_deref(),
            };
            claim(&mut self.snapshot.slots[at], &of, &settings);
            self.runs(job, made.slot.clone().into_bytes(), at);
            return 1;
        }
        let pack = self.leftovers && Consumption::of(&self.snapshot.slots[at], &settings).is_none();
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

    /// Waiting jobs of the same cluster and submitter, in the order in which they are offered.
    fn siblings(&self, job: usize) -> Vec<usize> {
        let Some(first) = &self.jobs[job] else { return Vec::new() };
        let alike = |other: &&usize| {
            self.jobs[**other].as_ref().is_some_and(|other| {
                other.activity == Activity::Idle && other.submitter == first.submitter && other.schedd == first.schedd
            })
        };
        self.clusters.get(&first.id.cluster).into_iter().flatten().filter(alike).copied().collect()
    }

    /// Carves a slot for a job out of a partitionable one.
    fn carve_for(&mut self, made: &Match, at: usize, job: usize) -> bool {
        let settings = self.settings();
        let name = self.free_name(&made.slot);
        let ad = &self.snapshot.jobs[job];
        let Some(mut child) = carve(&mut self.snapshot.slots[at], &name, ad, &settings) else { return false };
        let of = Claim { job: ad, submitter: made.submitter.as_bytes(), limits: made.limits.as_deref() };
        claim(&mut child, &of, &settings);
        self.snapshot.slots.push(child);
        let place = self.snapshot.slots.len() - 1;
        self.slots.insert(name.clone().into_bytes(), place);
        self.runs(job, name.into_bytes(), place);
        true
    }

    /// The first name for a dynamic slot that is not taken: `slot1_4@machine`.
    fn free_name(&self, parent: &str) -> String {
        let (slot, machine) =
            parent.split_once('@').map_or((parent, String::new()), |(slot, machine)| (slot, format!("@{machine}")));
        let names = (1_u64..).map(|number| format!("{slot}_{number}{machine}"));
        let free = names.into_iter().find(|name| !self.slots.contains_key(name.as_bytes()));
        free.unwrap_or_else(|| parent.to_owned())
    }

    fn runs(&mut self, job: usize, slot: Vec<u8>, at: usize) {
        self.set_job(job, RUNNING, Some(&slot));
        let time = self.run_time(&self.snapshot.jobs[job], &self.snapshot.slots[at]);
        let end = time.map(|time| self.snapshot.now.saturating_add(time));
        self.running.push(Run { job: Some(job), slot, end });
    }

    /// Sets what a job does, in its ad and in the counts of its submitter.
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
                let starts = Facts::of(ad, &settings).integer("NumJobStarts").unwrap_or(0);
                ad.insert("NumJobStarts", starts + 1);
            }
            None => {
                ad.remove("RemoteHost");
            }
        }
        let cores = Facts::of(ad, &settings).integer("RequestCpus").unwrap_or(1);
        let change = |activity| i64::from(after == activity) - i64::from(before == activity);
        self.count(&submitter, schedd.as_deref(), change(Activity::Idle), change(Activity::Running), cores);
    }

    /// Corrects the counts of a submitter's ad.
    fn count(&mut self, submitter: &[u8], schedd: Option<&[u8]>, idle: i64, running: i64, cores: i64) {
        let settings = self.settings();
        let Some(ads) = &mut self.snapshot.submitters else { return };
        let of = |ad: &&mut ClassAd| {
            let facts = Facts::of(ad, &settings);
            let here = schedd.is_none_or(|schedd| facts.string("ScheddName").is_none_or(|name| *name == *schedd));
            here && facts.string("Name").is_some_and(|name| *named(name, &settings).0 == *submitter)
        };
        let Some(ad) = ads.iter_mut().find(of) else { return };
        for (name, by) in [
            ("IdleJobs", idle),
            ("RunningJobs", running),
            ("WeightedIdleJobs", idle * cores),
            ("WeightedRunningJobs", running * cores),
        ] {
            if let Some(count) = Facts::of(ad, &settings).integer(name) {
                ad.insert(name, count.saturating_add(by).max(0));
            }
        }
    }

    /// What there is behind a cycle.
    fn played(&self, cycle: u32, (ended, started, displaced): (usize, usize, usize), outcome: Outcome) -> Played {
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
        let books = self.snapshot.log.as_ref().filter(|_| self.snapshot.policy.keeps_books());
        let accountant = books.map(|log| Accountant::from_log(log, FactorRules::new(&self.rules.knobs.accountant)));
        let tree = &*self.rules.groups.tree;
        let total: f64 = held.values().map(|(weight, ..)| weight).sum();
        let holding = |(name, &(weight, running, idle)): (&Vec<u8>, &(f64, usize, usize))| Holding {
            submitter: String::from_utf8_lossy(name).into_owned(),
            priority: accountant.as_ref().map(|books| books.effective_priority(name, tree)),
            weight,
            share: if total > 0.0 { weight / total } else { 0.0 },
            running,
            idle,
        };
        Played {
            cycle,
            now: self.snapshot.now,
            ended,
            started,
            displaced,
            running: held.values().map(|(_, running, _)| running).sum(),
            idle: held.values().map(|(.., idle)| idle).sum(),
            submitters: held.iter().map(holding).collect(),
            outcome,
        }
    }

    /// Lets time pass.
    fn pass(&mut self, seconds: i64) {
        self.snapshot.now = self.snapshot.now.saturating_add(seconds);
        let settings = self.settings();
        for ad in &mut self.snapshot.slots {
            if let Some(number) = Facts::of(ad, &settings).integer("UpdateSequenceNumber") {
                ad.insert("UpdateSequenceNumber", number.saturating_add(1));
            }
            for name in ["MyCurrentTime", "LastHeardFrom"] {
                if let Some(time) = Facts::of(ad, &settings).integer(name) {
                    ad.insert(name, time.saturating_add(seconds));
                }
            }
        }
        for ad in &mut self.snapshot.jobs {
            if let Some(time) = Facts::of(ad, &settings).integer("ServerTime") {
                ad.insert("ServerTime", time.saturating_add(seconds));
            }
        }
    }
}

/// `12.3`
fn job_id(text: &str) -> Option<JobId> {
    let (cluster, process) = text.split_once('.')?;
    Some(JobId { cluster: cluster.parse().ok()?, process: process.parse().ok()? })
}

/// The name of the slot that a dynamic slot was carved from: `slot1@m` for `slot1_4@m`.
fn parent_of(name: &[u8]) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'@', name).unwrap_or(name.len());
    let number = memchr::memrchr(b'_', &name[..end])?;
    Some([&name[..number], &name[end..]].concat())
}
