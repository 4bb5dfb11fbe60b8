//! Cores that are all alike, as one machine under a negotiator: the machine of a trace.
//!
//! The cycle is that of the negotiator; the policy and its books last through the whole simulation.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::machines::{Decided, Machines};
use crate::accountant::usage::SlotInUse;
use crate::ad::ClassAd;
use crate::config::ConfigError;
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Offered, Path, Snapshot, Unwatched};
use crate::pool::PoolSize;
use crate::priority::PriorityPolicy;
use crate::queue::Job;
use crate::queue::submitter::named;
use crate::workload::{Arrival, Workload};

/// So many cores, and the jobs that wait for them.
pub struct Alike<'w> {
    workload: &'w Workload,
    rules: &'w Rules,
    /// Jobs that wait, and those of which the policy wants to know; the slots are made for every cycle.
    snapshot: Snapshot,
    seed: u64,
    total: u32,
    free: u32,
    /// Where a job's ad is in the snapshot, and which job an ad is of.
    places: HashMap<usize, usize>,
    jobs: Vec<usize>,
    /// How many jobs wait, by cores.
    asked: BTreeMap<u32, usize>,
    /// Of each submitter the name its use is charged to, and the weight of what it uses.
    used: Vec<(Option<Vec<u8>>, f64)>,
    by_name: HashMap<Vec<u8>, usize>,
    weights: HashMap<usize, f64>,
    policy: Option<Box<dyn PriorityPolicy + 'w>>,
    cycles: u64,
}

impl<'w> Alike<'w> {
    /// So many cores under the settings and the policy of a snapshot, whose slots and jobs do not count.
    pub fn new(workload: &'w Workload, rules: &'w Rules, base: &Snapshot, cores: u32) -> Self {
        let snapshot = Snapshot { slots: Vec::new(), jobs: Vec::new(), submitters: None, ..base.clone() };
        Self {
            workload,
            rules,
            seed: base.seed,
            snapshot,
            total: cores,
            free: cores,
            places: HashMap::new(),
            jobs: Vec::new(),
            asked: BTreeMap::new(),
            used: vec![(None, 0.0); workload.submitters.len()],
            by_name: HashMap::new(),
            weights: HashMap::new(),
            policy: None,
            cycles: 0,
        }
    }

    /// The machine with so many cores left.
    fn slot(&self, cores: u32) -> ClassAd {
        let mut ad = ClassAd::new();
        for (name, text) in [("Name", "slot1@machines"), ("State", "Unclaimed"), ("Activity", "Idle")] {
            ad.insert(name, text);
        }
        ad.insert("MachineResources", "Cpus");
        for name in ["PartitionableSlot", "Requirements"] {
            ad.insert(name, true);
        }
        ad.insert("Cpus", i64::from(cores));
        // Weight and cost of a match are cores.
        for (name, expr) in [("SlotWeight", "Cpus"), ("ConsumptionCpus", "TARGET.RequestCpus")] {
            if let Ok(expr) =
                crate::syntax::parse::parse_expr(expr.as_bytes(), &crate::syntax::parse::ParseOptions::default())
            {
                ad.insert_expr(name, &expr);
            }
        }
        ad
    }

    fn ad(&self, job: usize) -> ClassAd {
        let arrival: &Arrival = &self.workload.arrivals[job];
        let submitter = &self.workload.submitters[arrival.submitter];
        let mut ad = arrival.ad.clone().unwrap_or_else(|| {
            let mut ad = ClassAd::new();
            let own = memchr::memrchr(b'@', &submitter.name).map_or(&submitter.name[..], |at| &submitter.name[..at]);
            let user = if submitter.group.is_empty() { own } else { &own[submitter.group.len() + 1..] };
            let domain = &submitter.name[own.len()..];
            ad.insert("User", crate::value::Value::text([user, domain].concat()));
            ad.insert("Owner", crate::value::Value::text(user));
            if !submitter.group.is_empty() {
                ad.insert("AccountingGroup", crate::value::Value::text(own));
            }
            ad.insert("Requirements", true);
            ad.insert("RequestCpus", i64::from(arrival.cores));
            ad.insert("QDate", arrival.submit);
            if let Some(time) = arrival.asked_time {
                ad.insert("CPUTime", time);
            }
            ad
        });
        // Numbered anew, in the order in which they come.
        ad.insert("ClusterId", job as i64 + 1);
        ad.insert("ProcId", 0_i64);
        ad.insert("JobStatus", 1_i64);
        ad
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

    fn keeps_history(&self) -> bool {
        self.snapshot.policy.asks_history()
    }

    /// Charges what is in use.
    fn charge_to(&self, policy: &mut dyn PriorityPolicy, now: i64) {
        let in_use = self.used.iter().filter(|(_, weight)| *weight > 0.0).filter_map(|(name, weight)| {
            Some(SlotInUse { submitter: name.as_deref()?, weight: *weight, suspended: false })
        });
        policy.charge(&in_use.collect::<Vec<_>>(), now);
    }

    /// A job has started: its ad leaves the queue.
    fn started(&mut self, job: usize, weight: f64, now: i64) {
        let arrival = &self.workload.arrivals[job];
        self.free = self.free.saturating_sub(arrival.cores);
        self.used[arrival.submitter].1 += weight;
        self.weights.insert(job, weight);
        if let Some(count) = self.asked.get_mut(&arrival.cores) {
            *count -= 1;
            if *count == 0 {
                self.asked.remove(&arrival.cores);
            }
        }
        if !self.keeps_history() {
            self.forget(job);
        } else if let Some(&place) = self.places.get(&job) {
            self.snapshot.jobs[place].insert("JobStatus", 2_i64);
            self.snapshot.jobs[place].insert("JobCurrentStartDate", now);
        }
    }
}

impl Machines for Alike<'_> {
    fn cores(&self) -> f64 {
        f64::from(self.total)
    }

    fn could_run(&self, cores: u32) -> bool {
        cores <= self.total
    }

    fn arrive(&mut self, job: usize, now: i64) {
        let arrival = &self.workload.arrivals[job];
        let ad = self.ad(job);
        if self.used[arrival.submitter].0.is_none() {
            self.snapshot.now = now;
            let settings = self.snapshot.settings();
            let domain = self.rules.knobs.accountant.domain.as_deref();
            if let Some(job) = Job::new(&ad, domain, &settings) {
                let name = named(job.submitter, &settings).0.to_vec();
                self.by_name.insert(name.clone(), arrival.submitter);
                self.used[arrival.submitter].0 = Some(name);
            }
        }
        self.places.insert(job, self.jobs.len());
        self.jobs.push(job);
        self.snapshot.jobs.push(ad);
        *self.asked.entry(arrival.cores).or_default() += 1;
    }

    fn end(&mut self, job: usize, now: i64) {
        let arrival = &self.workload.arrivals[job];
        self.free += arrival.cores;
        let weight = self.weights.remove(&job).unwrap_or(0.0);
        let used = &mut self.used[arrival.submitter].1;
        *used = (*used - weight).max(0.0);
        if let Some(&place) = self.places.get(&job) {
            self.snapshot.jobs[place].insert("JobStatus", 4_i64);
            self.snapshot.jobs[place].insert("CompletionDate", now);
        }
    }

    fn charge(&mut self, now: i64) {
        if let Some(mut policy) = self.policy.take() {
            self.charge_to(&mut *policy, now);
            self.policy = Some(policy);
        }
    }

    fn may_start(&self) -> bool {
        self.asked.first_key_value().is_some_and(|(least, _)| *least <= self.free)
    }

    fn cycle(&mut self, now: i64) -> Result<Decided, ConfigError> {
        self.snapshot.now = now;
        // The same seed in every cycle would draw the same lots.
        self.snapshot.seed = self.seed.wrapping_add(self.cycles);
        self.cycles += 1;
        let settings = self.snapshot.settings();
        let lasts = self.snapshot.policy.lasts();
        let slots = negotiate::slots(vec![self.slot(self.free)], self.rules, &settings);
        let mut policy = match self.policy.take() {
            Some(policy) => policy,
            None => {
                let whole = negotiate::slots(vec![self.slot(self.total)], self.rules, &settings);
                negotiate::open(&self.snapshot, if lasts { &whole } else { &slots }, self.rules, &settings)
            }
        };
        self.charge_to(&mut *policy, now);
        let weight = f64::from(self.total);
        let size = PoolSize { slots: self.total as usize, weight, effective: weight, smallest_weight: 1.0 };
        let offered = Offered { slots, strange: (0, 0), size: Some(size) };
        let path = Path::Fast;
        let cycle = negotiate::run_open(&self.snapshot, self.rules, &mut *policy, offered, path, &mut Unwatched)?;
        if lasts {
            self.policy = Some(policy);
        }
        let mut decided = Decided::default();
        for visit in cycle.outcome.negotiations.iter().filter(|visit| (visit.pie, visit.spin) == (1, 1)) {
            if let Some(&who) = self.by_name.get(visit.submitter.as_bytes()) {
                decided.due.push((who, visit.share));
            }
        }
        for made in &cycle.outcome.matches {
            let cluster = made.job.split('.').next().and_then(|cluster| cluster.parse::<usize>().ok());
            if let Some(job) = cluster.and_then(|cluster| cluster.checked_sub(1)) {
                self.started(job, made.weight, now);
                decided.started.push(job);
            }
        }
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Plan, Simulated, simulate};
    use crate::workload::swf;

    fn played(trace: &str, cores: u32, base: &Snapshot) -> Simulated {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = Rules::read(&base.config, &base.settings()).unwrap();
        let mut machines = Alike::new(&workload, &rules, base, cores);
        let plan = Plan { interval: 60, until: None, step: None };
        simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap()
    }

    fn line(id: i64, submit: i64, run: i64, cores: i64, user: i64) -> String {
        format!("{id} {submit} -1 {run} -1 -1 -1 {cores} -1 -1 1 {user} 1 -1 -1 -1 -1 -1\n")
    }

    #[test]
    fn jobs_that_fit_start_in_one_cycle_and_the_next_when_cores_are_free() {
        // 4 cores: jobs 1 and 2 take them from 0 to 100 and 130; job 3 asks for 2, which are free at 100: cycle 120.
        let trace = line(1, 0, 100, 2, 1) + &line(2, 0, 130, 2, 2) + &line(3, 0, 10, 2, 1);
        let simulated = played(&trace, 4, &Snapshot::default());
        assert_eq!((simulated.cycles, simulated.end), (2, 130));
        assert_eq!((simulated.jobs.completed, simulated.all.longest_wait), (3, 120));
    }

    #[test]
    fn equal_users_end_equal() {
        // Two users keep 4 cores busy with jobs of a minute.
        let trace: String = (0..400).map(|id| line(id, 0, 60, 1, id % 2)).collect();
        let simulated = played(&trace, 4, &Snapshot::default());
        assert_eq!(simulated.jobs.completed, 400);
        assert!(simulated.jain > 0.999, "{}", simulated.jain);
        assert_eq!(simulated, played(&trace, 4, &Snapshot::default()));
    }

    #[test]
    fn shares_and_lots_play_and_drop_no_job() {
        let trace: String = (0..60).map(|id| line(id, id * 7, 45 + id, 1 + id % 2, id % 3)).collect();
        let lots = Snapshot {
            policy: crate::priority::Policy::Dirac(crate::priority::dirac::DiracChoice::default()),
            ..Snapshot::default()
        };
        for base in [Snapshot::default(), lots] {
            assert_eq!(played(&trace, 4, &base).jobs.completed, 60);
        }
    }
}
