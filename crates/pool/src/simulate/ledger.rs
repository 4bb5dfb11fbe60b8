//! State common to all clusters: job ads, usage, and the policy.
//!
//! The cycle is that of the negotiator; the policy `is_stateful` through the whole simulation if it keeps what was used.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::accountant::usage::{Account, SlotInUse};
use crate::negotiate::outcome::{Match, Outcome};
use crate::negotiate::rules::Rules;
use crate::negotiate::{ChargedPool, CycleOptions, IgnoredAds, KnownJobs, Snapshot, opening};
use crate::pool::ad_reader::AdReader;
use crate::pool::{PoolSize, Slot};
use crate::priority::{Past, PriorityPolicy, seed_of_cycle};
use crate::queue::request::JobsBehind;
use crate::queue::submitter::named;
use crate::queue::{Job, JobId};
use crate::workload::{Arrival, Workload};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate_config::internal::config::ConfigError;

/// Number of requests that are remembered.
const MAX_REQUESTS: usize = 4096;

/// Job ads, usage and policy of a simulation.
pub(super) struct Ledger<'w> {
    pub(super) workload: &'w Workload,
    pub(super) rules: &'w Arc<Rules>,
    /// Number of jobs started so far.
    starts: u64,
    /// The ads of the jobs that wait, and of those that the policy wants to know.
    pub(super) snapshot: Snapshot,
    seed: u64,
    /// The ads of jobs of a trace without what is their own, by submitter and request: equal jobs share them.
    requests: HashMap<(usize, u32, u32), Arc<ClassAd>>,
    /// The properties of jobs that earlier cycles found.
    known: KnownJobs,
    /// The place of a job's ad in the snapshot, and the job of an ad.
    places: HashMap<usize, usize>,
    jobs: Vec<usize>,
    /// The name each submitter's usage is charged to.
    names: Vec<Option<Vec<u8>>>,
    /// Usage of submitters, by the account it is charged to.
    used: BTreeMap<(usize, Account), f64>,
    by_name: HashMap<Vec<u8>, usize>,
    /// Charge and account of each running job.
    bills: HashMap<usize, (Account, f64)>,
    /// Past runs, for a policy that reads them and is opened anew for every cycle.
    past: Option<Past>,
    /// True if every machine suits every job: their requirements are ignored.
    anywhere: bool,
    policy: Option<Box<dyn PriorityPolicy>>,
    cycles: u64,
}

impl<'w> Ledger<'w> {
    /// An empty simulation with the settings, the policy and the slots of a snapshot.
    pub(super) fn new(workload: &'w Workload, rules: &'w Arc<Rules>, base: &Snapshot) -> Self {
        Self {
            workload,
            rules,
            seed: base.seed,
            snapshot: Snapshot { jobs: Vec::new(), submitters: None, ..base.clone() },
            requests: HashMap::new(),
            known: KnownJobs::default(),
            places: HashMap::new(),
            jobs: Vec::new(),
            names: vec![None; workload.submitters.len()],
            used: BTreeMap::new(),
            by_name: HashMap::new(),
            bills: HashMap::new(),
            starts: 0,
            past: base.policy.past(),
            anywhere: false,
            policy: None,
            cycles: 0,
        }
    }

    /// The same for machines that suit every job that is not too large.
    pub(super) fn anywhere(workload: &'w Workload, rules: &'w Arc<Rules>, base: &Snapshot) -> Self {
        Self { anywhere: true, ..Self::new(workload, rules, base) }
    }

    /// The ad of a job as it comes.
    pub(super) fn job_ad(&self, job: usize) -> ClassAd {
        let mut ad = self.workload.job_ad(job);
        if self.anywhere {
            ad.insert("Requirements", true);
            ad.insert("RequestCpus", i64::from(self.workload.arrivals[job].cores));
        }
        ad
    }

    /// The ad of a job as it waits. Jobs of a trace have what equal jobs have in common in a parent.
    fn waiting_ad(&mut self, job: usize) -> ClassAd {
        let Arrival { submitter, cores, memory, ref ad, .. } = self.workload.arrivals[job];
        if ad.is_some() {
            return self.job_ad(job);
        }
        if self.requests.len() >= MAX_REQUESTS {
            self.requests.clear();
        }
        let made = || Arc::new(self.workload.request_ad(job));
        let parent = self.requests.entry((submitter, cores, memory)).or_insert_with(made);
        let mut ad = ClassAd::new();
        self.workload.insert_own(job, &mut ad);
        ad.chain(Some(Arc::clone(parent)));
        ad
    }

    /// A job waits: one that comes, or one that was displaced; since when, epoch seconds.
    pub(super) fn wait(&mut self, job: usize, since: i64, now: i64) {
        let mut ad = self.waiting_ad(job);
        ad.insert("EnteredCurrentStatus", since);
        let submitter = self.workload.arrivals[job].submitter;
        self.snapshot.now = now;
        let settings = self.snapshot.settings();
        let domain = self.rules.knobs.accountant.domain.as_deref();
        if self.names[submitter].is_none()
            && let Some(job) = Job::new(&ad, domain, &settings)
        {
            let name = named(job.submitter.clone(), &settings).0.to_vec();
            self.by_name.insert(name.clone(), submitter);
            self.names[submitter] = Some(name);
        }
        self.known.add(&ad, domain, &settings);
        self.places.insert(job, self.jobs.len());
        self.jobs.push(job);
        self.snapshot.jobs.push(ad);
    }

    /// Starts a job on the slot it was matched to, and charges it a weight.
    pub(super) fn start(&mut self, job: usize, made: &Match, weight: f64, slot: &ClassAd, settings: &EvalOptions) {
        let account = self.account(job, made, slot);
        *self.used.entry((self.workload.arrivals[job].submitter, account)).or_default() += weight;
        self.bills.insert(job, (account, weight));
        let name = self.charged_to(job).to_vec();
        self.starts += 1;
        self.snapshot.served.insert(name, self.starts);
        if let Some(mut past) = self.past.take() {
            if let Some(ad) = self.ad(job) {
                past.started(ad, slot, settings, settings.now);
            }
            self.past = Some(past);
        }
        self.forget(job);
    }

    /// A job that ran on a slot is done, or has lost it: it is charged no longer.
    pub(super) fn stop(&mut self, job: usize, slot: &ClassAd, settings: &EvalOptions) {
        if self.past.is_some() {
            let ad = self.waiting_ad(job);
            if let Some(past) = &mut self.past {
                past.ended(&ad, slot, settings, settings.now);
            }
        }
        let (account, weight) = self.bills.remove(&job).unwrap_or_default();
        if let Some(used) = self.used.get_mut(&(self.workload.arrivals[job].submitter, account)) {
            *used = (*used - weight).max(0.0);
        }
    }

    /// The account to which the use of a slot is charged by the job that was matched.
    fn account(&self, job: usize, made: &Match, slot: &ClassAd) -> Account {
        let policy = self.policy.as_ref().filter(|policy| policy.asks_jobs());
        let account = policy.zip(self.candidacy(job, made)).map(|(policy, ad)| policy.account(ad, slot));
        account.unwrap_or(Account::Submitter)
    }

    /// The ad with which a job was matched: its own, unless the policy made another. What was made for a job that stood for it
    /// is not its own.
    fn candidacy<'a>(&'a self, job: usize, made: &'a Match) -> Option<&'a ClassAd> {
        let candidacy = made.candidacy.0.as_deref().filter(|_| number(made.job) == Some(job));
        candidacy.or_else(|| self.ad(job))
    }

    /// Cost of a slot for one second, for the job that was matched.
    pub(super) fn price(&self, job: usize, made: &Match, slot: &ClassAd, settings: &EvalOptions) -> f64 {
        let Some(slot) = Slot::new(slot.clone(), &self.rules.weighing, settings) else { return 0.0 };
        let policy = self.policy.as_ref();
        policy.map_or(slot.weight, |policy| policy.cost(self.candidacy(job, made), &slot.ad, slot.weight))
    }

    /// Cost of a number of cores, and of the other requested resources, for one second.
    pub(super) fn price_of_cores(&self, job: usize, made: &Match, cores: u32, settings: &EvalOptions) -> f64 {
        let (Some(policy), Some(ad)) = (&self.policy, self.candidacy(job, made)) else { return made.weight };
        if !self.snapshot.policy.has_prices() {
            return made.weight;
        }
        let mut slot = ClassAd::new();
        slot.insert("Cpus", i64::from(cores));
        for (name, asked) in [("Memory", "RequestMemory"), ("GPUs", "RequestGpus")] {
            if let Some(amount) = AdReader::of(ad, settings).number(asked) {
                slot.insert(name, amount);
            }
        }
        policy.cost(Some(ad), &slot, made.weight)
    }

    /// Returns whether the policy itself delays a job.
    pub(super) fn delays(&self, now: i64) -> bool {
        self.past.as_ref().is_some_and(|past| past.delays(now))
    }

    /// Puts the ads of the jobs that wait into the order in which they came, whatever came and went in between.
    pub(super) fn put_in_order(&mut self) {
        if self.jobs.is_sorted() {
            return;
        }
        let (ads, views) = (std::mem::take(&mut self.snapshot.jobs), std::mem::take(&mut self.known.lasting));
        let mut all: Vec<_> = std::mem::take(&mut self.jobs).into_iter().zip(ads.into_iter().zip(views)).collect();
        all.sort_unstable_by_key(|(job, _)| *job);
        for (place, (job, (ad, view))) in all.into_iter().enumerate() {
            self.places.insert(job, place);
            self.jobs.push(job);
            self.snapshot.jobs.push(ad);
            self.known.lasting.push(view);
        }
    }

    /// Takes the ad of a job out of the snapshot.
    pub(super) fn forget(&mut self, job: usize) {
        let Some(place) = self.places.remove(&job) else { return };
        self.snapshot.jobs.swap_remove(place);
        self.jobs.swap_remove(place);
        self.known.lasting.swap_remove(place);
        if let Some(moved) = self.jobs.get(place) {
            self.places.insert(*moved, place);
        }
    }

    /// The reason for which the settings exclude a job, if they do.
    pub(super) fn left_out(&self, job: usize, settings: &EvalOptions) -> Option<String> {
        let constraint = self.rules.jobs.as_ref()?;
        let out = !Scope::new(&self.job_ad(job), settings).holds(constraint);
        out.then(|| "NEGOTIATOR_JOB_CONSTRAINT excludes it".to_owned())
    }

    /// The ad of a job that is kept.
    pub(super) fn ad(&self, job: usize) -> Option<&ClassAd> {
        self.snapshot.jobs.get(*self.places.get(&job)?)
    }

    /// The name to which a job's use is charged.
    pub(super) fn charged_to(&self, job: usize) -> &[u8] {
        self.names[self.workload.arrivals[job].submitter].as_deref().unwrap_or_default()
    }

    /// Charges the starts of a cycle to a policy with accounts: it knows only of matches, not of the carved slots and
    /// their cost.
    pub(super) fn settle(&mut self, now: i64) {
        let asks = self.policy.as_ref().is_some_and(|policy| policy.asks_jobs());
        // A match of uniform cores costs what was requested.
        if asks && (!self.anywhere || self.snapshot.policy.has_prices()) {
            self.charge(now);
        }
    }

    /// Brings the policy up to a moment, if it is open.
    pub(super) fn charge(&mut self, now: i64) {
        if let Some(mut policy) = self.policy.take() {
            self.charge_to(&mut *policy, now);
            self.policy = Some(policy);
        }
    }

    fn charge_to(&self, policy: &mut dyn PriorityPolicy, now: i64) {
        let mut in_use = Vec::with_capacity(self.used.len());
        in_use.extend(self.used.iter().filter(|(_, weight)| **weight > 0.0).filter_map(|(&(who, account), weight)| {
            Some(SlotInUse { submitter: self.names[who].as_deref()?, account, weight: *weight, suspended: false })
        }));
        policy.charge(&in_use, now);
    }

    /// The settings of a cycle at a moment.
    pub(super) fn settings(&mut self, now: i64) -> EvalOptions {
        self.snapshot.now = now;
        // The same seed in every cycle would draw the same lots, and the next seed those of the next cycle.
        self.snapshot.seed = seed_of_cycle(self.seed, self.cycles);
        self.snapshot.settings()
    }

    /// Runs a cycle over slots. A policy that `is_stateful` sees those that `whole` gives when it is opened: all there are.
    pub(super) fn cycle(
        &mut self,
        settings: &EvalOptions,
        slots: Vec<Slot>,
        whole: impl FnOnce() -> Vec<Slot>,
        size: Option<PoolSize>,
        behind: HashMap<JobId, JobsBehind>,
    ) -> Result<Outcome, ConfigError> {
        let now = settings.now;
        self.cycles += 1;
        let is_stateful = self.snapshot.policy.is_stateful();
        let mut policy = match self.policy.take() {
            Some(policy) => policy,
            None if is_stateful => self.open(&whole(), settings),
            None => self.open(&slots, settings),
        };
        self.charge_to(&mut *policy, now);
        let known = Some(&mut self.known);
        let (snapshot, rules, ignored) = (&self.snapshot, Arc::clone(self.rules), IgnoredAds::default());
        let mut pool = ChargedPool { snapshot, rules, slots, ignored, policy, size, behind, known }.prepare(&mut ())?;
        let cycle = pool.negotiate(CycleOptions { brief: true, ..CycleOptions::default() })?;
        if is_stateful {
            self.policy = Some(pool.into_policy());
        }
        Ok(cycle.outcome)
    }

    /// The last cycle did not count: the next one, at the same moment, takes its place. It charges all use anew, and so no
    /// policy knows of the one before.
    pub(super) fn undo_cycle(&mut self) {
        self.cycles -= 1;
    }

    fn open(&self, slots: &[Slot], settings: &EvalOptions) -> Box<dyn PriorityPolicy> {
        let (policy, past) = (&self.snapshot.policy, self.past.as_ref());
        opening(&self.snapshot, slots, self.rules, settings, |opening| policy.open(opening, past))
    }

    /// Entitled shares of the submitters: their parts of the first spin in which each is visited, and of the allocation
    /// of its group then.
    pub(super) fn due(&self, outcome: &Outcome, weight: f64) -> Vec<(usize, f64)> {
        let granted = |name: &String| {
            let group = outcome.groups.iter().find(|group| group.name == *name);
            group.map_or(1.0, |group| group.allocated / weight)
        };
        let mut seen = vec![false; self.names.len()];
        let mut due = Vec::with_capacity(outcome.negotiations.len());
        for visit in outcome.negotiations.iter().filter(|visit| visit.spin == 1) {
            if let Some(&who) = self.by_name.get(visit.submitter.as_bytes())
                && !std::mem::replace(&mut seen[who], true)
            {
                due.push((who, visit.share * visit.group.as_ref().map_or(1.0, granted)));
            }
        }
        due
    }
}

/// The job of the workload of a job in an outcome: they are numbered by their ads.
pub(super) fn number(job: JobId) -> Option<usize> {
    usize::try_from(job.cluster).ok()?.checked_sub(1)
}
