//! The slots of a pool: static ones, and partitionable ones of which jobs carve what they ask for.
//!
//! Requirements and ranks of jobs and slots hold, and a match may displace a job, as in any cycle. A claim ends with its
//! job.

use hashbrown::HashMap;

use super::books::{Books, number};
use super::machines::{Decided, Machines};
use crate::config::ConfigError;
use crate::eval::scope::Settings;
use crate::negotiate::outcome::Match;
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Snapshot};
use crate::pool::claim::{Claim, carve, claim, give_back, release};
use crate::pool::facts::Facts;
use crate::pool::slot::is_slot;
use crate::workload::Workload;

/// The slots of a pool, and the jobs that wait for them.
pub struct Slots<'w> {
    books: Books<'w>,
    /// Where slots are, by name; those carved out stand behind the others.
    places: HashMap<Vec<u8>, usize>,
    cores: f64,
    largest: f64,
    weight: f64,
    /// Which job is on a slot, and on which slot a job is.
    jobs: HashMap<Vec<u8>, usize>,
    running: HashMap<usize, Running>,
    /// How many slots were carved out so far: their names are numbered.
    carved: u64,
}

/// Where a job runs.
struct Running {
    slot: Vec<u8>,
    /// The slot that its own was carved out of.
    parent: Option<Vec<u8>>,
}

impl<'w> Slots<'w> {
    /// The slots of a snapshot, all of them free at the beginning, under its settings and policy.
    pub fn new(workload: &'w Workload, rules: &'w Rules, base: &Snapshot) -> Self {
        let mut books = Books::new(workload, rules, base);
        let settings = books.snapshot.settings();
        empty(&mut books.snapshot, &settings);
        let ads = &books.snapshot.slots;
        let named = |(at, ad)| Some((Facts::of(ad, &settings).string("Name")?.to_vec(), at));
        let places = ads.iter().enumerate().filter_map(named).collect();
        let cpus: Vec<f64> = ads.iter().map(|ad| Facts::of(ad, &settings).number("Cpus").unwrap_or(1.0)).collect();
        let weight = negotiate::slots(ads.clone(), rules, &settings).iter().map(|slot| slot.weight).sum();
        Self {
            places,
            cores: cpus.iter().sum(),
            largest: cpus.iter().copied().fold(0.0, f64::max),
            weight,
            books,
            jobs: HashMap::new(),
            running: HashMap::new(),
            carved: 0,
        }
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.cores > 0.0
    }

    /// Puts a matched job on its slot. Whether it fits, is the machine's to say.
    fn run(&mut self, made: &Match, job: usize, settings: &Settings) -> bool {
        let name = made.slot.as_bytes();
        let Some(&at) = self.places.get(name) else { return false };
        let Some(ad) = self.books.ad(job).cloned() else { return false };
        let submitter = self.books.charged_to(job).to_vec();
        let of = Claim { job: &ad, submitter: &submitter, limits: made.limits.as_deref() };
        let partitionable =
            Facts::of(&self.books.snapshot.slots[at], settings).truth("PartitionableSlot") == Some(true);
        let running = if partitionable {
            let (slot, machine) = made.slot.split_once('@').unwrap_or((&made.slot, ""));
            self.carved += 1;
            let own = format!("{slot}_{}@{machine}", self.carved);
            let parent = &mut self.books.snapshot.slots[at];
            let Some(mut child) = carve(parent, &own, &ad, settings) else { return false };
            claim(&mut child, &of, settings);
            self.places.insert(own.clone().into_bytes(), self.books.snapshot.slots.len());
            self.books.snapshot.slots.push(child);
            Running { slot: own.into_bytes(), parent: Some(name.to_vec()) }
        } else {
            claim(&mut self.books.snapshot.slots[at], &of, settings);
            Running { slot: name.to_vec(), parent: self.running_on(name).and_then(|running| running.parent.clone()) }
        };
        self.books.start(job, made.weight, &running.slot, settings.now);
        self.jobs.insert(running.slot.clone(), job);
        self.running.insert(job, running);
        true
    }

    fn running_on(&self, slot: &[u8]) -> Option<&Running> {
        self.running.get(self.jobs.get(slot)?)
    }

    /// Frees the slot of a job; what was carved out goes back.
    fn vacate(&mut self, job: usize, now: i64) {
        self.books.snapshot.now = now;
        let settings = self.books.snapshot.settings();
        let Some(Running { slot, parent }) = self.running.remove(&job) else { return };
        self.jobs.remove(&slot);
        let Some(&at) = self.places.get(&slot) else { return };
        let slots = &mut self.books.snapshot.slots;
        let Some(&parent) = parent.as_ref().and_then(|parent| self.places.get(parent)) else {
            release(&mut slots[at], &settings);
            return;
        };
        let child = slots.swap_remove(at);
        give_back(&mut slots[parent], &child, &settings);
        self.places.remove(&slot);
        let moved = slots.get(at).and_then(|moved| Some(Facts::of(moved, &settings).string("Name")?.to_vec()));
        if let Some(moved) = moved {
            self.places.insert(moved, at);
        }
    }
}

/// Frees all slots, and puts what was carved out back.
fn empty(snapshot: &mut Snapshot, settings: &Settings) {
    let ads = std::mem::take(&mut snapshot.slots);
    let carved = |ad: &crate::ad::ClassAd| Facts::of(ad, settings).truth("DynamicSlot") == Some(true);
    let (children, mut whole): (Vec<_>, Vec<_>) = ads.into_iter().filter(is_slot).partition(carved);
    let name = |ad: &crate::ad::ClassAd| Facts::of(ad, settings).string("Name").map(|name| name.to_vec());
    let places: HashMap<Vec<u8>, usize> =
        whole.iter().enumerate().filter_map(|(at, ad)| Some((name(ad)?, at))).collect();
    for child in &children {
        // `slot1_4@m` came out of `slot1@m`.
        let parent = name(child).and_then(|name| {
            let end = memchr::memchr(b'@', &name).unwrap_or(name.len());
            let number = memchr::memrchr(b'_', &name[..end])?;
            places.get(&[&name[..number], &name[end..]].concat()).copied()
        });
        if let Some(parent) = parent {
            give_back(&mut whole[parent], child, settings);
        }
    }
    for ad in &mut whole {
        if Facts::of(ad, settings).string("State").is_some_and(|state| state.eq_ignore_ascii_case(b"Claimed")) {
            release(ad, settings);
        }
    }
    snapshot.slots = whole;
}

impl Machines for Slots<'_> {
    fn cores(&self) -> f64 {
        self.cores
    }

    fn could_run(&self, cores: u32) -> bool {
        f64::from(cores) <= self.largest
    }

    fn arrive(&mut self, job: usize, now: i64) {
        self.books.wait(job, now);
    }

    fn end(&mut self, job: usize, now: i64) {
        self.books.end(job, now);
        self.vacate(job, now);
    }

    fn charge(&mut self, now: i64) {
        self.books.charge(now);
    }

    /// Expressions may look at the clock, and at jobs that run: only a cycle can tell.
    fn may_start(&self) -> bool {
        true
    }

    fn cycle(&mut self, now: i64) -> Result<Decided, ConfigError> {
        let settings = self.books.settings(now);
        let rules = self.books.rules;
        let ads = self.books.snapshot.slots.clone();
        let whole = || negotiate::slots(ads.clone(), rules, &settings);
        let outcome = self.books.cycle(&settings, whole(), whole, None)?;
        let due = self.books.due(&outcome, self.weight);
        let mut decided = Decided { due, ..Decided::default() };
        for made in &outcome.matches {
            let Some(job) = number(&made.job) else { continue };
            let before = made.displaced.as_ref().and_then(|_| self.jobs.get(made.slot.as_bytes()).copied());
            if !self.run(made, job, &settings) {
                continue;
            }
            decided.started.push(job);
            if let Some(before) = before {
                // Its slot has the next job already.
                self.running.remove(&before);
                self.books.stop(before);
                decided.displaced.push(before);
            }
        }
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::config::Config;
    use crate::simulate::{Plan, Simulated, simulate};
    use crate::workload::swf;

    fn pool(slots: &[&str], config: &str) -> Snapshot {
        Snapshot {
            slots: slots.iter().map(|ad| ClassAd::parse(ad.as_bytes()).unwrap()).collect(),
            config: Config::parse("config", config.as_bytes()).unwrap(),
            ..Snapshot::default()
        }
    }

    fn played(trace: &str, base: &Snapshot) -> Simulated {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = Rules::read(&base.config, &base.settings()).unwrap();
        let mut machines = Slots::new(&workload, &rules, base);
        let plan = Plan { interval: 60, until: None, step: None };
        let simulated = simulate(&workload, &mut machines, &plan, &mut |_, _| {}).unwrap();
        assert!(machines.running.is_empty() && machines.jobs.is_empty());
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
