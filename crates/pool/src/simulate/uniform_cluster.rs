//! Uniform cores as one machine under a negotiator: the machine of a trace.
//!
//! Jobs of a trace that differ in nothing but their age wait in one line, and a cycle is shown no more of a line than could
//! start: its cost does not grow with the queue. What it decides is what it would decide if it were shown all. One
//! file: more than a quarter of it is tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use crate::OrderedMap;
use hashbrown::HashMap;

use super::clock::Clock;
use super::cluster::{Cluster, CycleDecisions};
use super::ledger::{Ledger, number};
use super::tied_jobs::TiedJobs;
use crate::negotiate::concurrency::{Demand, demands};
use crate::negotiate::outcome::{Match, Outcome, Rejected};
use crate::negotiate::rules::Rules;
use crate::negotiate::{self, Snapshot};
use crate::pool::PoolSize;
use crate::priority::QueueDiscipline;
use crate::queue::JobId;
use crate::queue::request::JobsBehind;
use crate::workload::{Arrival, Workload};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::value::Value;
use classmate_config::internal::config::ConfigError;

/// Attributes that depend on the age of a job.
const AGE_ATTRIBUTES: [&str; 5] = ["QDate", "EnteredCurrentStatus", "ClusterId", "ProcId", "GlobalJobId"];

/// The name of the machine.
const MACHINE_NAME: &str = "slot1@machines";

/// Properties common to jobs of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct QueueKind {
    submitter: usize,
    cores: u32,
    memory: u32,
    asked_time: Option<i64>,
    /// The job itself, if it is like no other.
    alone: Option<usize>,
}

/// A number of equal cores, and the jobs that wait for them.
pub struct UniformCluster<'w> {
    ledger: Ledger<'w>,
    /// Other attributes of the machine.
    says: ClassAd,
    total: u32,
    free: u32,
    /// Number of waiting jobs, by cores.
    asked: BTreeMap<u32, usize>,
    lines: OrderedMap<QueueKind, TiedJobs>,
    /// The queues that are not empty.
    open: BTreeSet<usize>,
    /// True if every job is shown, because the demand of groups, or the state of each job in earlier cycles, decides
    /// too.
    all: bool,
    /// True for memory, and for time, if it distinguishes jobs even if the policy ignores it.
    apart: (bool, bool),
    /// Service of jobs of one queue by the policy.
    served: QueueDiscipline,
    /// Units of concurrency limits that are held, by name, and the limits of each job that runs.
    held: BTreeMap<Vec<u8>, f64>,
    limits: HashMap<usize, String>,
    /// The rejections of the last cycle.
    rejections: Vec<Rejected>,
    /// True if the rules look at the clock.
    looks_at_clock: bool,
}

impl<'w> UniformCluster<'w> {
    /// A number of cores under the settings and the policy of a snapshot, whose slots and jobs do not count. The
    /// machine has the attributes of its first slot, if there is one.
    pub fn new(workload: &'w Workload, rules: &'w Arc<Rules>, base: &Snapshot, cores: u32) -> Self {
        let mut ledger = Ledger::anywhere(workload, rules, base);
        let says = std::mem::take(&mut ledger.snapshot.slots).into_iter().next().unwrap_or_default();
        let served = base.policy.queue_discipline();
        // To count the jobs of a queue, it must be known which jobs are in it: those for which a rule holds, and that
        // are equal in every attribute that is used.
        let significant = rules.significant([&slot(&says, cores)]);
        let looked_at = |names: &[&str]| names.iter().any(|name| significant.contains(Name::new(name)));
        let counted = served.queue.is_some();
        let uncountable = counted && (rules.jobs.is_some() || looked_at(&AGE_ATTRIBUTES));
        let chosen_by_age = rules.jobs.as_ref().is_some_and(may_look_at_age);
        let all = !rules.groups.tree.is_empty() || served.remembers || uncountable || chosen_by_age;
        // A rule that selects the offered jobs may use their requests.
        let apart = |names: &[&str]| rules.jobs.is_some() || counted && looked_at(names);
        let apart = (apart(&["RequestMemory"]), apart(&["CPUTime", "AllowedJobDuration"]));
        let looks_at_clock = Clock::new(std::iter::once(&says)).of_rules(rules, workload);
        let (asked, lines, open) = (BTreeMap::new(), OrderedMap::default(), BTreeSet::new());
        let (held, limits, rejections) = (BTreeMap::new(), HashMap::new(), Vec::new());
        Self {
            ledger,
            says,
            total: cores,
            free: cores,
            asked,
            lines,
            open,
            all,
            apart,
            served,
            held,
            limits,
            rejections,
            looks_at_clock,
        }
    }

    /// The same, but every cycle is shown all jobs that wait: the slow way, which decides the same.
    #[must_use]
    pub fn showing_all(mut self) -> Self {
        self.all = true;
        self
    }

    /// The line in which a job waits.
    fn kind(&self, job: usize) -> QueueKind {
        QueueKind {
            alone: (self.all || self.ledger.workload.arrivals[job].ad.is_some()).then_some(job),
            ..self.asking(job)
        }
    }

    /// The request of a job: a result for one job holds for all with the same request, shown or not.
    fn asking(&self, job: usize) -> QueueKind {
        let arrival = &self.ledger.workload.arrivals[job];
        let alone = arrival.ad.is_some().then_some(job);
        let Arrival { submitter, cores, .. } = *arrival;
        let (memory, asked_time) =
            self.ledger.snapshot.policy.distinguishing_request(arrival.memory, arrival.asked_time);
        let memory = if self.apart.0 { arrival.memory } else { memory };
        let asked_time = if self.apart.1 { arrival.asked_time } else { asked_time };
        QueueKind { submitter, cores, memory, asked_time, alone }
    }

    /// Shows the cycle the oldest job of each queue, if it stands for the others; otherwise as many as there are cores for,
    /// and one more, because shares depend on the submitters with requests; in lines that are not shown in full, twice as
    /// many as started recently, and two more. Returns the jobs that shown ones stand for.
    fn show(&mut self, now: i64, full: &Full) -> HashMap<JobId, JobsBehind> {
        let Self { ledger, lines, open, free, served, .. } = self;
        let mut hidden = HashMap::with_capacity(if served.stands { open.len() } else { 0 });
        let Workload { arrivals, .. } = ledger.workload;
        let id = |job: usize| JobId { cluster: job as i64 + 1, process: 0 };
        let most = served.queue.unwrap_or(usize::MAX);
        open.retain(|at| {
            let Some((kind, line)) = lines.get_index_mut(*at) else { return false };
            let fitting = (*free / kind.cores) as usize;
            let first = match full {
                _ if served.stands => 1,
                full if full.has(*at) => fitting + 1,
                _ => (fitting + 1).min(2 * line.lately + 2),
            };
            let wanted = line.wanted(first, most);
            for job in line.shown.iter().filter(|job| wanted.binary_search(job).is_err()) {
                ledger.forget(*job);
            }
            for &job in wanted.iter().filter(|job| line.shown.binary_search(job).is_err()) {
                ledger.wait(job, arrivals[job].submit, now);
            }
            line.shown = wanted;
            if served.stands {
                // A policy that chooses by position needs no ages.
                let fitting = if served.queue.is_some() { 0 } else { fitting };
                let next =
                    || line.all.iter().skip(1).take(fitting).map(|job| (id(*job), arrivals[*job].submit)).collect();
                let behind = line.unlisted(most).into_iter();
                hidden.extend(behind.map(|(job, count)| (id(job), JobsBehind { count, next: next() })));
            }
            !line.all.is_empty()
        });
        ledger.put_in_order();
        hidden
    }

    /// A job has got its cores.
    fn started(&mut self, job: usize, made: &Match, settings: &EvalOptions) {
        let kind = self.kind(job);
        let cores = kind.cores;
        if kind.alone.is_none()
            && let Some(line) = self.lines.get_mut(&kind)
        {
            line.remove(job);
        }
        if self.ledger.ad(job).is_none() {
            // Another one stood for it.
            self.ledger.wait(job, self.ledger.workload.arrivals[job].submit, settings.now);
        }
        let cost = self.ledger.price_of_cores(job, made, cores, settings);
        self.ledger.start(job, made, cost, &self.says, settings);
        if let Some(limits) = &made.limits {
            self.hold(limits.to_ascii_lowercase().as_bytes(), 1.0);
            self.limits.insert(job, limits.to_ascii_lowercase());
        }
        self.free = self.free.saturating_sub(cores);
        if let Some(count) = self.asked.get_mut(&cores) {
            *count -= 1;
            if *count == 0 {
                self.asked.remove(&cores);
            }
        }
    }
}

/// Lines of which a cycle is shown as many jobs as could start.
enum Full {
    All,
    Some(BTreeSet<usize>),
}

impl Full {
    fn has(&self, line: usize) -> bool {
        match self {
            Full::All => true,
            Full::Some(lines) => lines.contains(&line),
        }
    }
}

/// Number of attempts with queues that are not shown in full.
const MAX_GUESSES: usize = 3;

/// Places of queues that were given cores in a cycle, ascending; by line and beginning of the queue.
type ServedPlaces = HashMap<(usize, usize), Vec<usize>>;

impl UniformCluster<'_> {
    /// The job that a shown one stands for, at a position among those of its queue that still wait; it is then taken.
    fn meant(&self, job: usize, place: Option<usize>, taken: &mut ServedPlaces) -> usize {
        let Some((line, start, own)) = self.queue_of(job) else { return job };
        let taken = taken.entry((line, start)).or_default();
        let at = taken.iter().fold(place.unwrap_or(own), |at, gone| at + usize::from(*gone <= at));
        taken.insert(taken.partition_point(|gone| *gone < at), at);
        self.lines[line].all.get(start + at).copied().unwrap_or(job)
    }

    /// The line of a job, the beginning of its queue in that, and its place in the queue.
    fn queue_of(&self, job: usize) -> Option<(usize, usize, usize)> {
        let line = self.lines.get_index_of(&self.kind(job))?;
        let (start, place) = self.lines[line].place(job, self.served.queue.unwrap_or(usize::MAX))?;
        Some((line, start, place))
    }

    /// Runs a cycle, and returns whether shown jobs stood for others. A hidden job would get nothing if a shown job of its
    /// line got nothing; if all shown jobs of a line got cores, and stand for no others, more are shown, and the cycle is run
    /// again.
    fn decide(&mut self, now: i64, settings: &EvalOptions) -> Result<(Outcome, bool), ConfigError> {
        let (rules, total) = (self.ledger.rules, self.total);
        let weight = f64::from(total);
        let size = PoolSize { slots: total as usize, weight, effective: weight, smallest_weight: 1.0 };
        let asked: usize = self.asked.iter().map(|(cores, jobs)| *cores as usize * jobs).sum();
        // If there are cores for all jobs, all jobs are needed.
        let guesses = !self.all && !self.served.stands && asked > self.free as usize;
        let mut full = if guesses { Full::Some(BTreeSet::new()) } else { Full::All };
        let mut runs = 0;
        loop {
            let hidden = self.show(now, &full);
            let hides = !hidden.is_empty();
            let slots = negotiate::slots(vec![self.machine()], rules, settings);
            let whole = slot(&self.says, total);
            let whole = || negotiate::slots(vec![whole], rules, settings);
            let outcome = self.ledger.cycle(settings, slots, whole, Some(size), hidden)?;
            let Full::Some(lines) = &mut full else { return Ok((outcome, hides)) };
            let exhausted = self.exhausted(&outcome);
            if exhausted.is_empty() {
                return Ok((outcome, hides));
            }
            self.ledger.undo_cycle();
            lines.extend(exhausted);
            runs += 1;
            if runs == MAX_GUESSES {
                full = Full::All;
            }
        }
    }

    /// The lines of which all shown jobs got cores, and that hold more. Records the number of started jobs by line.
    fn exhausted(&mut self, outcome: &Outcome) -> BTreeSet<usize> {
        let mut started: BTreeMap<usize, usize> = BTreeMap::new();
        let line_of = |made: &Match| self.lines.get_index_of(&self.kind(number(made.job)?));
        for line in outcome.matches.iter().filter_map(line_of) {
            *started.entry(line).or_default() += 1;
        }
        let is_exhausted = |(line, started): &(&usize, &usize)| {
            let TiedJobs { all, shown, .. } = &self.lines[**line];
            all.len() > shown.len() && **started >= shown.len()
        };
        let exhausted = started.iter().filter(is_exhausted).map(|(line, _)| *line).collect();
        for at in &self.open {
            self.lines[*at].lately /= 2;
        }
        for (line, started) in started {
            let lately = &mut self.lines[line].lately;
            *lately = started.max(*lately);
        }
        exhausted
    }

    /// Holds the concurrency limits of a string, or (`by` -1) releases them.
    fn hold(&mut self, limits: &[u8], by: f64) {
        for Demand { name, amount } in demands(limits) {
            let held = self.held.entry(name.to_vec()).or_insert(0.0);
            *held += amount * by;
            if *held <= 0.0 {
                self.held.remove(name);
            }
        }
    }

    /// The machine with what is left of it, and the concurrency limits that those who run on it hold.
    fn machine(&self) -> ClassAd {
        let mut ad = slot(&self.says, self.free);
        if !self.held.is_empty() {
            let entry = |(name, amount): (&Vec<u8>, &f64)| [name, format!(":{amount}").as_bytes()].concat();
            let held: Vec<Vec<u8>> = self.held.iter().map(entry).collect();
            ad.insert("ConcurrencyLimits", Value::text(held.join(&b',')));
        }
        ad
    }
}

/// Returns whether an expression may distinguish jobs of one queue: by their age, or at random.
fn may_look_at_age(expr: &Expr) -> bool {
    let found = Mentions::of(expr.tree());
    let ages = AGE_ATTRIBUTES.map(|name| Name::new(name).key());
    found.opaque
        || found.random
        || !found.selectors.is_empty()
        || found.names.iter().any(|name| ages.contains(&name.key()))
}

/// The machine with a number of free cores.
fn slot(says: &ClassAd, cores: u32) -> ClassAd {
    let mut ad = says.clone();
    for (name, text) in
        [("Name", MACHINE_NAME), ("State", "Unclaimed"), ("Activity", "Idle"), ("MachineResources", "Cpus")]
    {
        ad.insert(name, text);
    }
    for name in ["PartitionableSlot", "Requirements"] {
        ad.insert(name, true);
    }
    ad.insert("Cpus", i64::from(cores));
    for (name, expr) in PRICES.iter() {
        ad.insert_expr(*name, expr);
    }
    ad
}

/// Weight and cost of a match: cores.
static PRICES: LazyLock<Vec<(&str, Expr)>> = LazyLock::new(|| {
    let prices = [("SlotWeight", "Cpus"), ("ConsumptionCpus", "TARGET.RequestCpus")];
    let read = |text: &str| parse_expr(text.as_bytes(), &ParseOptions::default()).ok();
    prices.into_iter().filter_map(|(name, text)| Some((name, read(text)?))).collect()
});

impl Cluster for UniformCluster<'_> {
    fn cores(&self) -> f64 {
        f64::from(self.total)
    }

    fn could_run(&self, cores: u32) -> bool {
        // The maximum value represents all larger ones too.
        cores <= self.total && cores < u32::MAX
    }

    fn arrive(&mut self, job: usize, now: i64) {
        let kind = self.kind(job);
        *self.asked.entry(kind.cores).or_default() += 1;
        if kind.alone.is_some() {
            self.ledger.wait(job, self.ledger.workload.arrivals[job].submit, now);
            return;
        }
        let entry = self.lines.entry(kind);
        self.open.insert(entry.index());
        entry.or_default().all.push_back(job);
    }

    fn end(&mut self, job: usize, now: i64) {
        self.free += self.ledger.workload.arrivals[job].cores;
        if let Some(limits) = self.limits.remove(&job) {
            self.hold(limits.as_bytes(), -1.0);
        }
        let settings = self.ledger.settings(now);
        self.ledger.stop(job, &self.says, &settings);
    }

    fn looks_at_clock(&self) -> bool {
        self.ledger.delays(self.ledger.snapshot.now) || self.looks_at_clock
    }

    fn why_waiting(&mut self, job: usize, now: i64) -> String {
        let settings = self.ledger.settings(now);
        if let Some(why) = self.ledger.left_out(job, &settings) {
            return why;
        }
        let asking = self.asking(job);
        let equal = |rejected: &&Rejected| number(rejected.job).is_some_and(|other| self.asking(other) == asking);
        let rejected = self.rejections.iter().rev().find(equal);
        rejected.map_or("its submitter was never reached", |rejected| rejected.reason.as_str()).to_owned()
    }

    fn charge(&mut self, now: i64) {
        self.ledger.charge(now);
    }

    fn may_start(&self) -> bool {
        self.asked.first_key_value().is_some_and(|(least, _)| *least <= self.free)
    }

    fn cycle(&mut self, now: i64) -> Result<CycleDecisions, ConfigError> {
        let settings = self.ledger.settings(now);
        let weight = f64::from(self.total);
        let (outcome, hides) = self.decide(now, &settings)?;
        let due = self.ledger.due(&outcome, weight);
        let mut decided = CycleDecisions { due, ..CycleDecisions::default() };
        let mut taken = ServedPlaces::default();
        let matched = |made: &Match| {
            number(made.job).map(|job| if hides { self.meant(job, made.place, &mut taken) } else { job })
        };
        let started: Vec<Option<usize>> = outcome.matches.iter().map(matched).collect();
        for (made, job) in outcome.matches.iter().zip(started) {
            let Some(job) = job else { continue };
            // The negotiator may match more than is left of a slot with a consumption policy; its machine rejects the claim.
            if self.kind(job).cores > self.free {
                decided.refused += 1;
                continue;
            }
            self.started(job, made, &settings);
            decided.started.push(job);
        }
        self.rejections = outcome.rejections;
        self.ledger.settle(now);
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::Policy;
    use crate::priority::dirac::DiracChoice;
    use crate::priority::slurm::{SlurmFiles, SlurmSettings};
    use crate::simulate::{SimulationPlan, SimulationResult, simulate};
    use crate::workload::swf;
    use classmate::internal::random::SplitMix64;

    fn played(trace: &str, cores: u32, base: &Snapshot) -> SimulationResult {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut cluster = UniformCluster::new(&workload, &rules, base, cores);
        let plan = SimulationPlan { interval: 60, until: None, step: None };
        simulate(&workload, &mut cluster, &plan, &mut |_, _| {}).unwrap()
    }

    fn line(id: i64, submit: i64, run: i64, cores: i64, user: i64) -> String {
        format!("{id} {submit} -1 {run} -1 -1 -1 {cores} -1 -1 1 {user} 1 -1 -1 -1 -1 -1\n")
    }

    #[test]
    fn no_more_cores_are_in_use_than_there_are() {
        // Jobs of one and of four cores of two users, more than 20 cores can run at a time.
        let mut random = SplitMix64::new(1);
        let mut draw = |all: &[i64]| all[(random.next_u64() % all.len() as u64) as usize];
        let trace: String =
            (1..=200).map(|id| line(id, 20 * id, draw(&[900, 1800, 2500]), draw(&[1, 4]), draw(&[1, 2]))).collect();
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let base = Snapshot::default();
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut cluster = UniformCluster::new(&workload, &rules, &base, 20);
        let plan = SimulationPlan { interval: 600, until: None, step: Some(600) };
        let simulated = simulate(&workload, &mut cluster, &plan, &mut |_, _| {}).unwrap();
        let most = simulated.over_time.iter().map(|step| step.utilisation).fold(0.0, f64::max);
        assert!(most <= 1.0 && simulated.refused > 0, "{most} {}", simulated.refused);
        assert_eq!(simulated.jobs.completed, 200);
    }

    #[test]
    fn jobs_that_fit_start_in_one_cycle_and_the_next_when_cores_are_free() {
        // 4 cores: jobs 1 and 2 take them from 0 to 100 and 130; job 3 requests 2, which are free at 100: cycle 120.
        let trace = line(1, 0, 100, 2, 1) + &line(2, 0, 130, 2, 2) + &line(3, 0, 10, 2, 1);
        let simulated = played(&trace, 4, &Snapshot::default());
        assert_eq!((simulated.cycles, simulated.end), (2, 130));
        assert_eq!((simulated.jobs.completed, simulated.all.longest_wait), (3, 120));
    }

    #[test]
    fn a_cycle_is_shown_no_more_of_a_line_than_could_start() {
        // A thousand jobs of one user at once, on 3 cores; the oldest go first.
        let trace: String = (0..1000).map(|id| line(id, 0, 50, 1, 1)).collect();
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let base = Snapshot::default();
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut cluster = UniformCluster::new(&workload, &rules, &base, 3);
        for job in 0..1000 {
            cluster.arrive(job, 0);
        }
        assert_eq!(cluster.cycle(0).unwrap().started, [0, 1, 2]);
        assert!(!cluster.may_start());
        cluster.end(1, 50);
        assert_eq!(cluster.cycle(60).unwrap().started, [3]);
        assert_eq!(cluster.ledger.snapshot.jobs.len(), 1);
        assert_eq!(cluster.lines[0].all.len(), 996);
    }

    #[test]
    fn one_job_stands_for_those_behind_it() {
        // Three hundred jobs of one user at once, and one of another; five cores, and then two that are free again.
        let trace: String = (0..300).map(|id| line(id, 0, 50, 1, 1)).collect::<String>() + &line(300, 0, 50, 1, 2);
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let slurm = SlurmSettings::new(SlurmFiles::default()).unwrap();
        for policy in [Policy::Slurm(Box::new(slurm)), Policy::Dirac(DiracChoice::default())] {
            let base = Snapshot { policy, ..Snapshot::default() };
            let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
            let few = UniformCluster::new(&workload, &rules, &base, 5);
            let all = UniformCluster::new(&workload, &rules, &base, 5).showing_all();
            let started = [few, all].map(|mut cluster| {
                for job in 0..301 {
                    cluster.arrive(job, 0);
                }
                let first = cluster.cycle(0).unwrap().started;
                let shown = cluster.ledger.snapshot.jobs.len();
                for job in &first[..2] {
                    cluster.end(*job, 50);
                }
                (shown, [first, cluster.cycle(60).unwrap().started])
            });
            let [(shown, few), (_, all)] = started;
            assert_eq!(few, all, "{}", base.policy.name());
            assert_eq!((few[0].len(), few[1].len()), (5, 2));
            assert!(shown <= 2, "{shown} jobs");
        }
    }

    fn ads(jobs: &[&str]) -> Workload {
        let ads = jobs.iter().map(|ad| ClassAd::parse(ad.as_bytes()).unwrap()).collect();
        let run_time = parse_expr(b"RemoteWallClockTime", &ParseOptions::default()).unwrap();
        crate::workload::job_ads::read(ads, &run_time, Some(b"x"), &EvalOptions::default())
    }

    fn played_ads(jobs: &[&str], cores: u32, base: &Snapshot) -> SimulationResult {
        let workload = ads(jobs);
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut cluster = UniformCluster::new(&workload, &rules, base, cores);
        let plan = SimulationPlan { interval: 60, until: None, step: None };
        simulate(&workload, &mut cluster, &plan, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn of_what_job_ads_require_cores_alone_count() {
        let job = "[ClusterId = 1; Owner = \"a\"; QDate = 0; RemoteWallClockTime = 100; RequestCpus = 2; \
                   Requirements = TARGET.Memory > 5 && TARGET.Arch == \"X86_64\" && TARGET.HasFileTransfer]";
        assert_eq!(played_ads(&[job], 2, &Snapshot::default()).jobs.completed, 1);
        assert_eq!(played_ads(&[job], 1, &Snapshot::default()).jobs.too_large, 1);
    }

    #[test]
    fn concurrency_limits_count_those_who_run() {
        // One licence: the second job starts in the first cycle after the first ended at 100.
        let job = |id: u32| {
            format!(
                "[ClusterId = {id}; Owner = \"a\"; QDate = 0; RemoteWallClockTime = 100; ConcurrencyLimits = \"LIC\"; \
                 Requirements = true]"
            )
        };
        let config = |text: &str| classmate_config::internal::config::Config::parse("config", text.as_bytes()).unwrap();
        let jobs = [job(1), job(2)];
        let played = |text: &str| {
            let base = Snapshot { config: config(text), ..Snapshot::default() };
            let simulated = played_ads(&[&jobs[0], &jobs[1]], 4, &base);
            assert_eq!(simulated.jobs.completed, 2);
            simulated.all.longest_wait
        };
        assert_eq!((played("LIC_LIMIT = 1"), played("LIC_LIMIT = 2")), (120, 0));
    }

    #[test]
    fn kinds_that_the_policy_cannot_tell_apart_wait_in_one_line() {
        // Every job requests a time and an amount of memory of its own: queues are users and cores.
        let job = |id: i64| {
            let (user, cores) = (id % 3, 1 + id % 2);
            format!("{id} 0 -1 50 -1 -1 -1 {cores} {} {} 1 {user} 1 -1 -1 -1 -1 -1\n", 100 + id, 1000 * id)
        };
        let trace: String = (0..60).map(job).collect();
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let base = Snapshot::default();
        let rules = Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let mut merged = UniformCluster::new(&workload, &rules, &base, 7);
        let mut apart = UniformCluster::new(&workload, &rules, &base, 7);
        apart.apart = (true, true);
        let plan = SimulationPlan { interval: 60, until: None, step: None };
        let simulated = simulate(&workload, &mut merged, &plan, &mut |_, _| {}).unwrap();
        assert_eq!((merged.lines.len(), simulated.jobs.completed), (6, 60));
        let alone = simulate(&workload, &mut apart, &plan, &mut |_, _| {}).unwrap();
        assert_eq!((apart.lines.len(), alone == simulated), (60, true));
    }

    #[test]
    fn a_job_waits_from_its_arrival_on_and_remembers_no_earlier_life() {
        let job = "[ClusterId = 1; Owner = \"a\"; QDate = 7; RemoteWallClockTime = 9; CompletionDate = 50; \
                   JobStartDate = 3; EnteredCurrentStatus = 50; JobStatus = 4; RemoteHost = \"m\"]";
        let ad = ads(&[job]).job_ad(0);
        let number = |name: &str| ad.constant(name).and_then(|value| value.as_number());
        assert_eq!((number("EnteredCurrentStatus"), number("JobStatus")), (Some(7.0), Some(1.0)));
        assert!(["CompletionDate", "JobStartDate", "RemoteHost"].iter().all(|name| !ad.contains(*name)));
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
        let lots = Snapshot { policy: Policy::Dirac(DiracChoice::default()), ..Snapshot::default() };
        for base in [Snapshot::default(), lots] {
            assert_eq!(played(&trace, 4, &base).jobs.completed, 60);
        }
    }
}
