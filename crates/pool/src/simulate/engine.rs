//! The engine: from event to event.
//!
//! At one moment jobs end first, then others arrive, then the negotiator runs. It runs at a fixed interval from the
//! first arrival on, as long as a waiting job might start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::cluster::Cluster;
use super::job_run::JobRun;
use super::result::{NeverStarted, SimulationResult};
use super::tally::SimulationTally;
use crate::workload::{Arrival, Workload};
use classmate_config::internal::config::ConfigError;

/// Timing of a simulation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SimulationPlan {
    /// Seconds from one cycle to the next, 1 or more.
    pub interval: i64,
    /// End time, epoch seconds; none: when nothing can happen any more.
    pub until: Option<i64>,
    /// Length of the steps of shares over time, seconds; none: chosen by the length of the workload.
    pub step: Option<i64>,
}

/// Simulates a workload. `each` receives the simulated time and the number of arrivals so far.
///
/// # Errors
/// A setting that is wrong.
pub fn simulate(
    workload: &Workload,
    cluster: &mut dyn Cluster,
    plan: &SimulationPlan,
    each: &mut dyn FnMut(i64, usize),
) -> Result<SimulationResult, ConfigError> {
    let mut on = |now, arrived| {
        each(now, arrived);
        ControlFlow::Continue(())
    };
    simulate_jobs(workload, cluster, plan, &mut on).map(|(simulated, _)| simulated)
}

/// As [`simulate`], with the times of each job, in the order of [`Workload::arrivals`]. The simulation stops when `each` breaks.
///
/// # Errors
/// A setting that is wrong.
pub fn simulate_jobs(
    workload: &Workload,
    cluster: &mut dyn Cluster,
    plan: &SimulationPlan,
    each: &mut dyn FnMut(i64, usize) -> ControlFlow<()>,
) -> Result<(SimulationResult, Vec<JobRun>), ConfigError> {
    let jobs = &workload.arrivals;
    let start = jobs.first().map_or(0, |job| job.submit);
    let interval = plan.interval.max(1);
    let mut tally = SimulationTally::new(workload, start, plan, cluster.cores());
    let mut engine = EventQueue { runs: vec![0; jobs.len()], ends: BinaryHeap::new(), next: 0 };
    let mut now = start;
    let mut looked: Option<i64> = None;
    let mut patience = Patience::new(jobs, start);
    let stopped = loop {
        // On the grid from the first arrival, at most once a moment.
        let cycle = (tally.waiting() > 0 && cluster.may_start()).then(|| {
            let grid = start + (now - start + interval - 1) / interval * interval;
            if looked == Some(grid) { grid + interval } else { grid }
        });
        let arrival = jobs.get(engine.next).map(|job| job.submit);
        let event = [engine.next_end(), arrival, cycle].into_iter().flatten().min();
        let Some(event) = event.filter(|event| plan.until.is_none_or(|until| *event <= until)) else { break None };
        now = event;
        let mut ended = false;
        while let Some(job) = engine.ended(now) {
            cluster.end(job, now);
            tally.end(job, now);
            patience.progress(now);
            ended = true;
        }
        if ended {
            cluster.charge(now);
        }
        while let Some(job) = jobs.get(engine.next).filter(|job| job.submit <= now) {
            if cluster.could_run(job.cores) {
                tally.arrive(engine.next, now);
                cluster.arrive(engine.next, now);
            } else {
                tally.too_large(engine.next);
            }
            engine.next += 1;
            patience.progress(now);
        }
        if each(now, engine.next).is_break() {
            break Some("interrupted".to_owned());
        }
        if cycle != Some(now) || tally.waiting() == 0 {
            // Without a free core no cycle runs.
            tally.contend(now, tally.waiting() > 0 && (tally.is_contended() || !cluster.may_start()));
            continue;
        }
        looked = Some(now);
        let decided = cluster.cycle(now)?;
        for &job in &decided.displaced {
            engine.runs[job] += 1;
            tally.displace(job, now);
            cluster.arrive(job, now);
        }
        for &job in &decided.started {
            engine.start(job, now.saturating_add(jobs[job].run_time));
            tally.start(job, now);
        }
        tally.cycle(now, &decided.due);
        tally.contend(now, tally.waiting() > 0);
        tally.refused(decided.refused);
        let still = decided.started.is_empty() && decided.displaced.is_empty();
        let idle = still && engine.next_end().is_none() && engine.next == jobs.len();
        if idle && !cluster.looks_at_clock() {
            break None;
        }
        if let Some(reason) = patience.is_over(now, idle && plan.until.is_none(), decided.displaced.len()) {
            break Some(reason);
        }
    };
    let goes_on = stopped.is_none() && (engine.is_busy(jobs.len()) || tally.waiting() > 0);
    let end = plan.until.filter(|_| goes_on).unwrap_or(now).max(now);
    let never = tally.never_started();
    let why = |(at, job): (usize, usize)| NeverStarted {
        job: jobs[job].id.to_string(),
        place: jobs[job].place,
        submitter: String::from_utf8_lossy(&workload.submitters[jobs[job].submitter].name).into_owned(),
        reason: (at < MAX_EXPLAINED).then(|| cluster.why_waiting(job, end)),
    };
    let never_started = never.into_iter().enumerate().map(why).collect();
    let (simulated, runs) = tally.finish(end, cluster.cores());
    Ok((SimulationResult { never_started, stopped, ..simulated }, runs))
}

/// Maximum number of jobs that never started with a reason.
const MAX_EXPLAINED: usize = 100;

/// Maximum time without an event although a rule looks at the clock, if there is no end time, seconds: a month.
const MAX_IDLE_SECONDS: i64 = 31 * 86_400;

/// Maximum time in longest run times, and number of displacements, without the end of a job.
const MAX_RUN_TIMES: i64 = 30;
const MAX_DISPLACED: usize = 100;

/// Notices when a simulation does not get on.
struct Patience {
    /// The longest run time, seconds.
    longest: i64,
    /// Time of the last arrival or end of a job.
    since: i64,
    /// Number of displacements since then.
    displaced: usize,
}

impl Patience {
    fn new(jobs: &[Arrival], start: i64) -> Self {
        Self { longest: jobs.iter().map(|job| job.run_time).max().unwrap_or(0).max(1), since: start, displaced: 0 }
    }

    fn progress(&mut self, now: i64) {
        (self.since, self.displaced) = (now, 0);
    }

    /// The reason to stop after a cycle with these displacements, if there is one.
    fn is_over(&mut self, now: i64, idle: bool, displaced: usize) -> Option<String> {
        self.displaced += displaced;
        let passed = now - self.since;
        if idle && passed >= MAX_IDLE_SECONDS {
            return Some(format!(
                "stopped after {passed} s without a running job: some rules depend on the time, so a job may start \
                later; set the end with --until"
            ));
        }
        let endless = self.displaced >= MAX_DISPLACED && passed / MAX_RUN_TIMES > self.longest;
        endless.then(|| {
            let displaced = self.displaced;
            format!(
                "stopped after {passed} s in which no job completed and {displaced} were preempted: jobs preempt \
            each other"
            )
        })
    }
}

/// Running jobs and future arrivals.
struct EventQueue {
    /// Number of displacements of each job: ends planned before the last one are void.
    runs: Vec<u32>,
    ends: BinaryHeap<Reverse<(i64, usize, u32)>>,
    /// The next arrival.
    next: usize,
}

impl EventQueue {
    fn start(&mut self, job: usize, end: i64) {
        self.ends.push(Reverse((end, job, self.runs[job])));
    }

    /// End time of the next job to end.
    fn next_end(&mut self) -> Option<i64> {
        while let Some(&Reverse((end, job, run))) = self.ends.peek() {
            if self.runs[job] == run {
                return Some(end);
            }
            self.ends.pop();
        }
        None
    }

    /// A job that ends at this moment.
    fn ended(&mut self, now: i64) -> Option<usize> {
        self.next_end().filter(|end| *end <= now)?;
        self.ends.pop().map(|Reverse((_, job, _))| job)
    }

    fn is_busy(&mut self, jobs: usize) -> bool {
        self.next < jobs || self.next_end().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::CycleDecisions;
    use super::*;
    use crate::workload::swf;

    /// First come, first served on identical cores; at one moment the job that runs makes room.
    struct Fifo {
        workload: Workload,
        free: u32,
        total: u32,
        waiting: std::collections::VecDeque<usize>,
        displace: Option<(i64, usize)>,
        looked: Vec<i64>,
    }

    impl Cluster for Fifo {
        fn cores(&self) -> f64 {
            f64::from(self.total)
        }

        fn could_run(&self, cores: u32) -> bool {
            cores <= self.total
        }

        fn arrive(&mut self, job: usize, _: i64) {
            self.waiting.push_back(job);
        }

        fn end(&mut self, job: usize, _: i64) {
            self.free += self.workload.arrivals[job].cores;
        }

        fn charge(&mut self, _: i64) {}

        fn may_start(&self) -> bool {
            self.free > 0 || self.displace.is_some()
        }

        fn cycle(&mut self, now: i64) -> Result<CycleDecisions, ConfigError> {
            self.looked.push(now);
            let mut decided = CycleDecisions::default();
            if let Some((_, job)) = self.displace.take_if(|(at, _)| *at <= now) {
                self.free += self.workload.arrivals[job].cores;
                decided.displaced.push(job);
            }
            while let Some(&job) = self.waiting.front() {
                let cores = self.workload.arrivals[job].cores;
                if cores > self.free {
                    break;
                }
                self.free -= cores;
                self.waiting.pop_front();
                decided.started.push(job);
            }
            Ok(decided)
        }
    }

    /// Jobs as number, submission, run time, cores, user.
    fn workload(jobs: &[(i64, i64, i64, i64, i64)]) -> Workload {
        let line = |(id, submit, run, cores, user): &(i64, i64, i64, i64, i64)| {
            format!("{id} {submit} -1 {run} -1 -1 -1 {cores} -1 -1 1 {user} -1 -1 -1 -1 -1 -1\n")
        };
        swf::read(&mut jobs.iter().map(line).collect::<String>().as_bytes()).unwrap()
    }

    fn played(
        jobs: &[(i64, i64, i64, i64, i64)],
        cores: u32,
        plan: &SimulationPlan,
        displace: Option<(i64, usize)>,
    ) -> (SimulationResult, Vec<i64>) {
        let workload = workload(jobs);
        let waiting = std::collections::VecDeque::new();
        let mut cluster =
            Fifo { workload: workload.clone(), free: cores, total: cores, waiting, displace, looked: Vec::new() };
        let simulated = simulate(&workload, &mut cluster, plan, &mut |_, _| {}).unwrap();
        (simulated, cluster.looked)
    }

    const EVERY_10: SimulationPlan = SimulationPlan { interval: 10, until: None, step: Some(100) };

    #[test]
    fn waits_slowdowns_and_use_are_those_of_a_hand_calculation() {
        // 2 cores, cycles at 0, 10, 20, …: job 1 has both from 0 to 25, job 2 starts at 30 and ends at 50, job 3 comes at
        // 31, starts at the next cycle, 40, and ends at 45.
        let jobs = [(1, 0, 25, 2, 1), (2, 5, 20, 1, 2), (3, 31, 5, 1, 1)];
        let (simulated, looked) = played(&jobs, 2, &EVERY_10, None);
        assert_eq!(looked, [0, 30, 40]);
        assert_eq!((simulated.start, simulated.end, simulated.jobs.completed), (0, 50, 3));
        // Waits 0, 25, 9.
        let wait = simulated.all.wait;
        assert_eq!((wait.median, wait.p95, simulated.all.longest_wait), (9.0, 25.0, 25));
        assert!((wait.mean - 34.0 / 3.0).abs() < 1e-12);
        // Slowdowns 25/25, 45/20, 14/10: job 3 counts as 10 s long.
        assert!((simulated.all.slowdown.mean - (1.0 + 2.25 + 1.4) / 3.0).abs() < 1e-12);
        assert_eq!(simulated.over_time.len(), 1);
        // Core-seconds: 50 + 5 and 20, of 2 · 50.
        assert_eq!(simulated.utilisation, 0.75);
        assert_eq!(simulated.submitters[0].core_seconds, 55.0);
        // (55 + 20)² / (2 · (55² + 20²)) = 5625 / 6850
        assert!((simulated.jain - 5625.0 / 6850.0).abs() < 1e-12);
    }

    #[test]
    fn a_job_that_is_displaced_waits_again_and_has_lost_its_work() {
        // Job 1 runs from 0, is displaced at 20, and runs again from 20 on: it comes after job 2, and both fit.
        let jobs = [(1, 0, 30, 1, 1), (2, 15, 10, 1, 2)];
        let (simulated, _) = played(&jobs, 1, &EVERY_10, Some((20, 0)));
        // Cycle 20: job 1 out, job 2 in from 20 to 30; job 1 again from 30 to 60.
        assert_eq!((simulated.all.preemptions, simulated.all.lost, simulated.end), (1, 20.0, 60));
        assert_eq!(simulated.submitters[0].core_seconds, 50.0);
        assert_eq!(simulated.jobs.completed, 2);
    }

    #[test]
    fn a_cycle_at_the_very_end_makes_no_step_of_time() {
        // The job that comes at 100 has its cycle at 100, where the second step would begin.
        let plan = SimulationPlan { until: Some(100), ..EVERY_10 };
        let (simulated, looked) = played(&[(1, 0, 50, 1, 1), (2, 100, 5, 1, 2)], 1, &plan, None);
        assert_eq!((looked, simulated.over_time.len()), (vec![0, 100], 1));
        assert_eq!(simulated.over_time[0].utilisation, 0.5);
    }

    #[test]
    fn jobs_larger_than_the_machines_are_counted_and_hold_nobody_up() {
        let (simulated, _) = played(&[(1, 0, 5, 9, 1), (2, 0, 5, 1, 1)], 2, &EVERY_10, None);
        assert_eq!((simulated.jobs.too_large, simulated.jobs.completed), (1, 1));
        assert_eq!(simulated.submitters[0].too_large, 1);
    }

    #[test]
    fn a_simulation_that_is_stopped_tells_what_is_left() {
        let plan = SimulationPlan { until: Some(20), ..EVERY_10 };
        let jobs = [(1, 0, 100, 1, 1), (2, 4, 5, 1, 2), (3, 90, 5, 1, 2)];
        let (simulated, _) = played(&jobs, 1, &plan, None);
        let left = (simulated.jobs.running, simulated.jobs.waiting, simulated.jobs.yet_to_come);
        assert_eq!((left, simulated.jobs.never_started, simulated.end), ((1, 1, 1), 1, 20));
        assert_eq!((simulated.utilisation, simulated.all.longest_wait), (1.0, 16));
    }
}
