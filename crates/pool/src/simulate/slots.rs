//! The slots of a pool: static ones, and partitionable ones from which jobs carve the resources they request.
//!
//! Requirements and ranks of jobs and slots hold, and a match may displace a job, as in any cycle. A claim ends with its
//! job.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::clock::Clock;
use super::cluster::{Cluster, CycleDecisions};
use super::ledger::{Ledger, number};
use super::slot_index::{SlotIndex, dynamic_name, is_dynamic, is_partitionable, name_of};
use crate::negotiate::outcome::{Match, Negotiation, Outcome, Rejected, Rejection, Tally};
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Snapshot};
use crate::pool::ad_reader::AdReader;
use crate::pool::claim::{Claim, claim, give_back, holds, release};
use crate::pool::slot::is_slot;
use crate::priority::End;
use crate::workload::Workload;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::accepts;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::syntax::expr::Node;
use classmate_config::internal::config::ConfigError;

/// The slots of a pool, and the jobs that wait for them.
pub struct SlotCluster<'w> {
    ledger: Ledger<'w>,
    /// Dynamic slots come after the others.
    index: SlotIndex,
    cores: f64,
    largest: f64,
    weight: f64,
    /// The job on a slot, and the slot of a job.
    jobs: HashMap<Vec<u8>, usize>,
    running: HashMap<usize, Vec<u8>>,
    /// Number of slots carved so far: their names are numbered.
    carved: u64,
    clock: Clock,
    /// The unclaimed slots.
    whole: Vec<ClassAd>,
    /// True if rules, or requirements of slots, look at the clock.
    rules_look: bool,
    requirements_look: bool,
    /// The jobs that wait; those whose requirements look at the clock.
    waiting: HashSet<usize>,
    clocked: HashSet<usize>,
    /// True if the next cycle would be like the last one, which started no job.
    settled: bool,
}

impl<'w> SlotCluster<'w> {
    /// The slots of a snapshot, all of them free at the beginning, under its settings and policy.
    pub fn new(workload: &'w Workload, rules: &'w Arc<Rules>, base: &Snapshot) -> Self {
        let mut ledger = Ledger::new(workload, rules, base);
        let settings = ledger.snapshot.settings();
        let index = empty(&mut ledger.snapshot, &settings);
        let ads = &ledger.snapshot.slots;
        let cpus: Vec<f64> = ads.iter().map(|ad| AdReader::of(ad, &settings).number("Cpus").unwrap_or(1.0)).collect();
        let clock = Clock::new(ads.iter());
        let weight = negotiate::slots(ads.clone(), rules, &settings).iter().map(|slot| slot.weight).sum();
        Self {
            index,
            cores: cpus.iter().sum(),
            largest: cpus.iter().copied().fold(0.0, f64::max),
            weight,
            jobs: HashMap::new(),
            running: HashMap::new(),
            carved: 0,
            rules_look: clock.of_rules(rules, workload),
            requirements_look: clock.of_slots(),
            clock,
            whole: ledger.snapshot.slots.clone(),
            waiting: HashSet::new(),
            clocked: HashSet::new(),
            settled: false,
            ledger,
        }
    }

    /// Returns whether there are any.
    pub fn any(&self) -> bool {
        self.cores > 0.0
    }

    /// Starts a matched job on its slot. Returns whether it runs: a machine rejects a job that requests more than the slot
    /// has.
    fn run(&mut self, made: &Match, job: usize, settings: &EvalOptions) -> bool {
        let Some(at) = self.index.get(made.slot.as_bytes()) else { return false };
        let Some(ad) = self.ledger.ad(job).cloned() else { return false };
        let submitter = self.ledger.charged_to(job).to_vec();
        let of = Claim { job: &ad, submitter: &submitter, limits: made.limits.as_deref() };
        let slots = &mut self.ledger.snapshot.slots;
        let (name, at) = if is_partitionable(&slots[at], settings) {
            self.carved += 1;
            let name = dynamic_name(&made.slot, self.carved);
            let Some(at) = self.index.carve(slots, at, &name, &of, settings) else { return false };
            (name, at)
        } else {
            if !holds(&slots[at], &ad, settings) {
                return false;
            }
            claim(&mut slots[at], &of, settings);
            (made.slot.clone(), at)
        };
        let slot = slots[at].clone();
        let weight = self.ledger.price(job, made, &slot, settings);
        self.ledger.start(job, made, weight, &slot, settings);
        self.waiting.remove(&job);
        self.clocked.remove(&job);
        self.jobs.insert(name.clone().into_bytes(), job);
        self.running.insert(job, name.into_bytes());
        true
    }

    /// Returns whether a cycle that started no job would start none again, as long as no job arrives and no slot is
    /// freed.
    ///
    /// This holds if every submitter negotiated for every job, and slots rejected all of them for reasons that do not
    /// change with time: shares do change, and priorities matter only where they decide on displacement.
    fn is_settled(&self, outcome: &Outcome) -> bool {
        let never = self.ledger.rules.preemption.requirements.as_ref();
        let never = never.is_some_and(|expr| matches!(expr.tree().node(expr.tree().root()), Node::Literal(_)));
        let lasting = |rejected: &Rejected| {
            let Tally { considered, unreachable, refused_by_job, refused_by_slot, .. } = rejected.slots;
            let Tally { used_by_submitter, preemption_not_required, prefers_its_job, .. } = rejected.slots;
            let in_use = preemption_not_required + used_by_submitter + prefers_its_job;
            considered == unreachable + refused_by_job + refused_by_slot + in_use
                && rejected.rejection != Rejection::ConcurrencyLimit
                && (never || in_use == 0)
                && (refused_by_slot == 0 || !self.requirements_look)
        };
        let asked = |visit: &Negotiation| visit.passed.is_none() && visit.end == End::Done;
        let mut unasked: HashSet<&str> = HashSet::new();
        for visit in &outcome.negotiations {
            if asked(visit) {
                unasked.remove(&*visit.submitter)
            } else {
                unasked.insert(&visit.submitter)
            };
        }
        let rejected: usize = outcome.rejections.iter().filter(|rejected| rejected.spin == 1).map(|one| one.jobs).sum();
        !self.rules_look
            && self.clocked.is_empty()
            && !self.ledger.delays(self.ledger.snapshot.now)
            && unasked.is_empty()
            && rejected >= self.waiting.len()
            && outcome.rejections.iter().all(lasting)
    }

    /// The ad of the slot that a job runs on.
    fn slot_of(&self, job: usize) -> ClassAd {
        let at = self.running.get(&job).and_then(|slot| self.index.get(slot));
        at.map(|at| self.ledger.snapshot.slots[at].clone()).unwrap_or_default()
    }
}

/// Frees all slots, and gives dynamic slots back to their parents.
fn empty(snapshot: &mut Snapshot, settings: &EvalOptions) -> SlotIndex {
    let ads = std::mem::take(&mut snapshot.slots).into_iter().filter(is_slot);
    let (children, mut whole): (Vec<_>, Vec<_>) = ads.partition(|ad| is_dynamic(ad, settings));
    let index = SlotIndex::new(&whole, settings);
    for child in &children {
        if let Some(parent) = name_of(child, settings).and_then(|name| index.parent(&name)) {
            give_back(&mut whole[parent], child, settings);
        }
    }
    for ad in &mut whole {
        if AdReader::of(ad, settings).string("State").is_some_and(|state| state.eq_ignore_ascii_case(b"Claimed")) {
            release(ad, settings);
        }
    }
    snapshot.slots = whole;
    index
}

impl Cluster for SlotCluster<'_> {
    fn cores(&self) -> f64 {
        self.cores
    }

    fn could_run(&self, cores: u32) -> bool {
        f64::from(cores) <= self.largest
    }

    fn arrive(&mut self, job: usize, now: i64) {
        self.ledger.wait(job, now, now);
        self.waiting.insert(job);
        if self.ledger.ad(job).is_some_and(|ad| self.clock.of_job(ad)) {
            self.clocked.insert(job);
        }
        self.settled = false;
    }

    fn end(&mut self, job: usize, now: i64) {
        let settings = self.ledger.settings(now);
        let slot = self.slot_of(job);
        self.ledger.stop(job, &slot, &settings);
        if let Some(slot) = self.running.remove(&job) {
            self.jobs.remove(&slot);
            let slots = &mut self.ledger.snapshot.slots;
            if let Some(gap) = self.index.free(slots, &slot, &settings) {
                self.index.swap_remove(slots, gap, &settings);
            }
        }
        self.settled = false;
    }

    fn charge(&mut self, now: i64) {
        self.ledger.charge(now);
    }

    fn may_start(&self) -> bool {
        !self.settled
    }

    fn looks_at_clock(&self) -> bool {
        self.rules_look
            || self.requirements_look
            || !self.clocked.is_empty()
            || self.ledger.delays(self.ledger.snapshot.now)
    }

    fn why_waiting(&mut self, job: usize, now: i64) -> String {
        let settings = self.ledger.settings(now);
        if let Some(why) = self.ledger.left_out(job, &settings) {
            return why;
        }
        let Some(ad) = self.ledger.ad(job) else { return "its submitter was never reached".to_owned() };
        let slots = &self.whole;
        let taken: Vec<_> = slots.iter().filter(|slot| accepts(ad, slot, &settings)).collect();
        let both = taken.iter().filter(|slot| accepts(slot, ad, &settings)).count();
        let (all, by_job) = (slots.len(), slots.len() - taken.len());
        if both > 0 {
            return format!("{both} of {all} slots match, but were never free for this job");
        }
        let by_slot = taken.len();
        format!(
            "no slot matches: its Requirements reject {by_job} of {all}, Requirements of slots reject it for \
        {by_slot}"
        )
    }

    fn cycle(&mut self, now: i64) -> Result<CycleDecisions, ConfigError> {
        let settings = self.ledger.settings(now);
        let rules = self.ledger.rules;
        let ads = self.ledger.snapshot.slots.clone();
        let whole = || negotiate::slots(ads.clone(), rules, &settings);
        let outcome = self.ledger.cycle(&settings, whole(), whole, None, HashMap::new())?;
        let due = self.ledger.due(&outcome, self.weight);
        let mut decided = CycleDecisions { due, ..CycleDecisions::default() };
        for made in &outcome.matches {
            let Some(job) = number(made.job) else { continue };
            let before = made.displaced.as_ref().and_then(|_| self.jobs.get(made.slot.as_bytes()).copied());
            let slot = before.map(|before| self.slot_of(before));
            if !self.run(made, job, &settings) {
                decided.refused += 1;
                continue;
            }
            decided.started.push(job);
            if let (Some(before), Some(slot)) = (before, slot) {
                // Its slot has the next job already.
                self.running.remove(&before);
                self.ledger.stop(before, &slot, &settings);
                decided.displaced.push(before);
            }
        }
        self.ledger.settle(now);
        self.settled = outcome.matches.is_empty() && self.is_settled(&outcome);
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{SimulationPlan, SimulationResult, simulate};
    use crate::workload::swf;
    use classmate_config::internal::config::Config;

    fn pool(slots: &[&str], config: &str) -> Snapshot {
        Snapshot {
            slots: slots.iter().map(|ad| ClassAd::parse(ad.as_bytes()).unwrap()).collect(),
            config: Config::parse("config", config.as_bytes()).unwrap(),
            ..Snapshot::default()
        }
    }

    fn played(trace: &str, base: &Snapshot) -> SimulationResult {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut cluster = SlotCluster::new(&workload, &rules, base);
        let plan = SimulationPlan { interval: 60, until: None, step: None };
        let simulated = simulate(&workload, &mut cluster, &plan, &mut |_, _| {}).unwrap();
        let empty = cluster.running.is_empty() && cluster.jobs.is_empty();
        assert!(empty || simulated.stopped.is_some());
        simulated
    }

    fn line(id: i64, submit: i64, run: i64, cores: i64, user: i64) -> String {
        format!("{id} {submit} -1 {run} -1 -1 -1 {cores} -1 -1 1 {user} -1 -1 -1 -1 -1 -1\n")
    }

    const PARTITIONABLE: &str = "[Name = \"slot1@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; PartitionableSlot = true; \
                                 Cpus = 4; Requirements = TARGET.RequestCpus <= MY.Cpus; SlotWeight = Cpus]";

    #[test]
    fn what_jobs_carve_out_comes_back_and_is_carved_again() {
        // 4 cores: job 1 has 3 from 0 to 100, job 2 one from 60 on; job 3 needs 2, which are there at 100: it runs from the
        // cycle of 120 to 130; job 4 needs 5, which no slot has.
        let trace = line(1, 0, 100, 3, 1) + &line(2, 1, 200, 1, 2) + &line(3, 2, 10, 2, 3) + &line(4, 0, 10, 5, 1);
        let simulated = played(&trace, &pool(&[PARTITIONABLE], ""));
        assert_eq!((simulated.jobs.completed, simulated.jobs.too_large), (3, 1));
        assert_eq!(simulated.cores, 4.0);
        let waits: Vec<f64> = simulated.submitters.iter().map(|line| line.wait.max).collect();
        assert_eq!(waits, [0.0, 59.0, 118.0]);
        let used: Vec<f64> = simulated.submitters.iter().map(|line| line.core_seconds).collect();
        assert_eq!(used, [300.0, 200.0, 20.0]);
    }

    #[test]
    fn a_job_of_a_better_user_displaces_one_that_has_lost_its_work() {
        // One core. User 1 runs alone for hours, and its priority gets worse; user 2 comes and is better.
        let slot = "[Name = \"slot1@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Requirements = true; \
                    SlotWeight = 1; Rank = 0]";
        let config = "PRIORITY_HALFLIFE = 3600\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2";
        let trace = line(1, 0, 10_000, 1, 1) + &line(2, 7200, 600, 1, 2);
        let simulated = played(&trace, &pool(&[slot], config));
        // Displaced at 7200, job 1 has lost two hours; it runs again from 7800 to 17800.
        assert_eq!((simulated.all.preemptions, simulated.all.lost), (1, 7200.0));
        assert_eq!((simulated.jobs.completed, simulated.end), (2, 17_800));
        let kept = played(&trace, &pool(&[slot], "PREEMPTION_REQUIREMENTS = false"));
        assert_eq!((kept.all.preemptions, kept.end), (0, 10_620));
    }

    #[test]
    fn a_job_is_charged_what_was_carved_out_for_it() {
        // Four cores, four jobs of one core at once, one match a cycle: had the first been charged all four, its user would
        // be at its share until the job ends. Starts at 0, 60, 120, 180; the last ends at 20,180.
        let trace: String = (1..=4).map(|id| line(id, 0, 20_000, 1, 1)).collect();
        let simulated = played(&trace, &pool(&[&PARTITIONABLE.replace("TARGET.RequestCpus <= MY.Cpus", "true")], ""));
        assert_eq!((simulated.end, simulated.all.longest_wait, simulated.jobs.completed), (20_180, 180, 4));
    }

    #[test]
    fn a_job_that_displaces_another_must_fit_into_its_slot() {
        // As the next test but one, but the second job requests two cores, and the slot accepts any job: its machine
        // rejects every claim until the end, and the first job stays.
        let slot = "[Name = \"slot1@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Requirements = true; \
                    SlotWeight = 1; Rank = 0]";
        let large = "[Name = \"slot2@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 2; Requirements = false; \
                     SlotWeight = 2; Rank = 0]";
        let config = "PRIORITY_HALFLIFE = 3600\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2";
        let trace = line(1, 0, 10_000, 1, 1) + &line(2, 7200, 600, 2, 2);
        let simulated = played(&trace, &pool(&[slot, large], config));
        assert_eq!((simulated.all.preemptions, simulated.jobs.completed, simulated.jobs.never_started), (0, 1, 1));
        assert!(simulated.refused > 0 && simulated.utilisation <= 1.0, "{simulated:?}");
    }

    #[test]
    fn a_cycle_is_left_out_while_nothing_can_change() {
        // Job 1 runs for ten days, job 2 is rejected by the slot's and its own requirements: a cycle for each arrival,
        // and one after the end of job 1.
        let slot = |requirements: &str| {
            format!(
                "[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; SlotWeight = 1; Requirements = {requirements}]"
            )
        };
        let trace = line(1, 0, 864_000, 1, 1) + &line(2, 5, 10, 1, 2);
        let cycles = |requirements: &str| {
            let simulated = played(&trace, &pool(&[&slot(requirements)], ""));
            let why = simulated.never_started.iter().map(|job| job.reason.clone().unwrap()).collect::<Vec<_>>();
            (simulated.cycles, why)
        };
        let why = "no slot matches: its Requirements reject 0 of 1, Requirements of slots reject it for 1".to_owned();
        assert_eq!(cycles("TARGET.Owner == \"user1\""), (3, vec![why]));
        assert_eq!(cycles("true"), (3, vec![]));
    }

    #[test]
    fn rules_that_look_at_the_clock_are_asked_again() {
        // The slot opens after 5000: the first cycle then is at 5040, 84 times 60 s.
        let slot =
            "[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; SlotWeight = 1; Requirements = time() > 5000]";
        let simulated = played(&line(1, 0, 100, 1, 1), &pool(&[slot], ""));
        assert_eq!((simulated.jobs.completed, simulated.all.longest_wait), (1, 5040));
        // One that never opens is given up after a month.
        let simulated = played(&line(1, 0, 100, 1, 1), &pool(&[&slot.replace("> 5000", "< 0")], ""));
        assert_eq!((simulated.jobs.never_started, simulated.end), (1, 31 * 86_400));
        assert!(simulated.stopped.unwrap().contains("--until"));
    }

    #[test]
    fn jobs_that_displace_each_other_for_ever_are_noticed() {
        // The slot always prefers the other job, and no job gets through its ten minutes.
        let slot = "[Name = \"slot1@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; Requirements = true; \
                    SlotWeight = 1; Rank = time()]";
        let simulated = played(&(line(1, 0, 600, 1, 1) + &line(2, 0, 600, 1, 2)), &pool(&[slot], ""));
        assert_eq!(simulated.jobs.completed, 0);
        // A displacement a minute, the first at 60, until more than thirty run times have passed: 18,030 s, so 18,060.
        assert_eq!((simulated.end, simulated.all.preemptions), (18_060, 301));
        assert!(simulated.stopped.unwrap().contains("preempt each other"));
    }

    #[test]
    fn slots_in_use_are_free_at_the_beginning() {
        let parent = PARTITIONABLE.replace("Cpus = 4", "Cpus = 1");
        let child = "[Name = \"slot1_1@m\"; DynamicSlot = true; State = \"Claimed\"; Activity = \"Busy\"; Cpus = 3; \
                     RemoteUser = \"a@x\"; Requirements = true]";
        let other = "[Name = \"slot2@m\"; State = \"Claimed\"; Activity = \"Busy\"; Cpus = 1; RemoteUser = \"a@x\"; \
                     Requirements = true]";
        let simulated = played(&line(1, 0, 5, 4, 1), &pool(&[&parent, child, other], ""));
        assert_eq!((simulated.cores, simulated.jobs.completed), (5.0, 1));
    }
}
