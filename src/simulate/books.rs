//! What machines of every kind keep: the ads of jobs, who uses how much, and the policy.
//!
//! The cycle is that of the negotiator; the policy lasts through the whole simulation if it keeps what was used.

use hashbrown::{HashMap, HashSet};

use crate::accountant::usage::SlotInUse;
use crate::config::ConfigError;
use crate::eval::scope::Settings;
use crate::negotiate::outcome::{Negotiation, Outcome};
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Offered, Path, Snapshot, Unwatched};
use crate::pool::{PoolSize, Slot};
use crate::priority::PriorityPolicy;
use crate::queue::Job;
use crate::queue::submitter::named;
use crate::workload::Workload;

/// The books of a simulation.
pub(super) struct Books<'w> {
    pub(super) workload: &'w Workload,
    pub(super) rules: &'w Rules,
    /// Jobs that wait, and those of which the policy wants to know.
    pub(super) snapshot: Snapshot,
    seed: u64,
    /// Where a job's ad is in the snapshot, and which job an ad is of.
    places: HashMap<usize, usize>,
    jobs: Vec<usize>,
    /// Of each submitter the name its use is charged to, and the weight of what it uses.
    used: Vec<(Option<Vec<u8>>, f64)>,
    by_name: HashMap<Vec<u8>, usize>,
    /// What each job that runs is charged.
    weights: HashMap<usize, f64>,
    policy: Option<Box<dyn PriorityPolicy + 'w>>,
    cycles: u64,
}

impl<'w> Books<'w> {
    /// Nobody waits and nothing is in use, under the settings, the policy and the slots of a snapshot.
    pub(super) fn new(workload: &'w Workload, rules: &'w Rules, base: &Snapshot) -> Self {
        Self {
            workload,
            rules,
            seed: base.seed,
            snapshot: Snapshot { jobs: Vec::new(), submitters: None, ..base.clone() },
            places: HashMap::new(),
            jobs: Vec::new(),
            used: vec![(None, 0.0); workload.submitters.len()],
            by_name: HashMap::new(),
            weights: HashMap::new(),
            policy: None,
            cycles: 0,
        }
    }

    /// A job waits: one that comes, or one that was displaced.
    pub(super) fn wait(&mut self, job: usize, now: i64) {
        if let Some(&place) = self.places.get(&job) {
            let ad = &mut self.snapshot.jobs[place];
            ad.insert("JobStatus", 1_i64);
            ad.remove("RemoteHost");
            return;
        }
        let ad = self.workload.job_ad(job);
        let submitter = self.workload.arrivals[job].submitter;
        if self.used[submitter].0.is_none() {
            self.snapshot.now = now;
            let settings = self.snapshot.settings();
            let domain = self.rules.knobs.accountant.domain.as_deref();
            if let Some(job) = Job::new(&ad, domain, &settings) {
                let name = named(job.submitter.clone(), &settings).0.to_vec();
                self.by_name.insert(name.clone(), submitter);
                self.used[submitter].0 = Some(name);
            }
        }
        self.places.insert(job, self.jobs.len());
        self.jobs.push(job);
        self.snapshot.jobs.push(ad);
    }

    /// A job starts on a slot, for which it is charged so much.
    pub(super) fn start(&mut self, job: usize, weight: f64, slot: &[u8], now: i64) {
        self.used[self.workload.arrivals[job].submitter].1 += weight;
        self.weights.insert(job, weight);
        if !self.snapshot.policy.asks_history() {
            self.forget(job);
        } else if let Some(&place) = self.places.get(&job) {
            let ad = &mut self.snapshot.jobs[place];
            ad.insert("JobStatus", 2_i64);
            ad.insert("JobCurrentStartDate", now);
            ad.insert("RemoteHost", crate::value::Value::text(slot));
        }
    }

    /// A job that runs is charged no longer.
    pub(super) fn stop(&mut self, job: usize) {
        let weight = self.weights.remove(&job).unwrap_or(0.0);
        let used = &mut self.used[self.workload.arrivals[job].submitter].1;
        *used = (*used - weight).max(0.0);
    }

    /// A job that runs is done.
    pub(super) fn end(&mut self, job: usize, now: i64) {
        self.stop(job);
        if let Some(&place) = self.places.get(&job) {
            let ad = &mut self.snapshot.jobs[place];
            ad.insert("JobStatus", 4_i64);
            ad.insert("CompletionDate", now);
        }
    }

    /// Takes the ad of a job out of the snapshot.
    fn forget(&mut self, job: usize) {
        let Some(place) = self.places.remove(&job) else { return };
        self.snapshot.jobs.swap_remove(place);
        self.jobs.swap_remove(place);
        if let Some(moved) = self.jobs.get(place) {
            self.places.insert(*moved, place);
        }
    }

    /// The ad of a job that is kept.
    pub(super) fn ad(&self, job: usize) -> Option<&crate::ad::ClassAd> {
        self.snapshot.jobs.get(*self.places.get(&job)?)
    }

    /// The name to which a job's use is charged.
    pub(super) fn charged_to(&self, job: usize) -> &[u8] {
        self.used[self.workload.arrivals[job].submitter].0.as_deref().unwrap_or_default()
    }

    /// Brings the policy up to a moment, if it is open.
    pub(super) fn charge(&mut self, now: i64) {
        if let Some(mut policy) = self.policy.take() {
            self.charge_to(&mut *policy, now);
            self.policy = Some(policy);
        }
    }

    fn charge_to(&self, policy: &mut dyn PriorityPolicy, now: i64) {
        let in_use = self.used.iter().filter(|(_, weight)| *weight > 0.0).filter_map(|(name, weight)| {
            Some(SlotInUse { submitter: name.as_deref()?, weight: *weight, suspended: false })
        });
        policy.charge(&in_use.collect::<Vec<_>>(), now);
    }

    /// The settings of a cycle at a moment.
    pub(super) fn settings(&mut self, now: i64) -> Settings {
        self.snapshot.now = now;
        // The same seed in every cycle would draw the same lots.
        self.snapshot.seed = self.seed.wrapping_add(self.cycles);
        self.snapshot.settings()
    }

    /// Runs a cycle over slots. A policy that lasts sees those that `whole` gives when it is opened: all there are.
    pub(super) fn cycle(
        &mut self,
        settings: &Settings,
        slots: Vec<Slot>,
        whole: impl FnOnce() -> Vec<Slot>,
        size: Option<PoolSize>,
    ) -> Result<Outcome, ConfigError> {
        let now = settings.now;
        self.cycles += 1;
        let lasts = self.snapshot.policy.lasts();
        let mut policy = match self.policy.take() {
            Some(policy) => policy,
            None if lasts => negotiate::open(&self.snapshot, &whole(), self.rules, settings),
            None => negotiate::open(&self.snapshot, &slots, self.rules, settings),
        };
        self.charge_to(&mut *policy, now);
        let offered = Offered { slots, strange: (0, 0), size, prospects: false };
        let cycle = negotiate::run_open(&self.snapshot, self.rules, &mut *policy, offered, Path::Fast, &mut Unwatched)?;
        if lasts {
            self.policy = Some(policy);
        }
        Ok(cycle.outcome)
    }

    /// What the policy gave those who asked: their parts of the first pass in which each is visited, and of what its group
    /// was granted then.
    pub(super) fn due(&self, outcome: &Outcome, weight: f64) -> Vec<(usize, f64)> {
        let granted = |name: &String| {
            let group = outcome.groups.iter().find(|group| group.name == *name);
            group.map_or(1.0, |group| group.allocated / weight)
        };
        let mut seen = HashSet::new();
        let first = outcome.negotiations.iter().filter(|visit| visit.spin == 1);
        let part = |visit: &Negotiation| visit.share * visit.group.as_ref().map_or(1.0, granted);
        let known = first.filter_map(|visit| Some((*self.by_name.get(visit.submitter.as_bytes())?, part(visit))));
        known.filter(|(who, _)| seen.insert(*who)).collect()
    }
}

/// Which job of the workload a job of an outcome is: they are numbered by their ads.
pub(super) fn number(job: &str) -> Option<usize> {
    job.split('.').next()?.parse::<usize>().ok()?.checked_sub(1)
}
