//! The engine: from event to event.
//!
//! At one moment jobs end first, then others come, then the negotiator looks. It looks every so many seconds from the
//! first arrival on, as long as a job waits that might start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::machines::Machines;
use super::result::Simulated;
use super::tally::Tally;
use crate::config::ConfigError;
use crate::workload::Workload;

/// How a workload is played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    /// Seconds from one cycle to the next, 1 or more.
    pub interval: i64,
    /// When to stop, epoch seconds; none: when nothing can happen any more.
    pub until: Option<i64>,
    /// Length of the steps in which shares are told, seconds; none: as fits the workload.
    pub step: Option<i64>,
}

/// Plays a workload. `each` is told the simulated time and how many arrivals there were so far.
///
/// # Errors
/// A setting that is wrong.
pub fn simulate(
    workload: &Workload,
    machines: &mut dyn Machines,
    plan: &Plan,
    each: &mut dyn FnMut(i64, usize),
) -> Result<Simulated, ConfigError> {
    let jobs = &workload.arrivals;
    let start = jobs.first().map_or(0, |job| job.submit);
    let interval = plan.interval.max(1);
    let mut tally = Tally::new(workload, start, plan);
    let mut engine = Engine { runs: vec![0; jobs.len()], ends: BinaryHeap::new(), next: 0 };
    let mut now = start;
    let mut looked: Option<i64> = None;
    loop {
        // On the grid from the first arrival, at most once a moment.
        let cycle = (tally.waiting() > 0 && machines.may_start()).then(|| {
            let grid = start + (now - start + interval - 1) / interval * interval;
            if looked == Some(grid) { grid + interval } else { grid }
        });
        let arrival = jobs.get(engine.next).map(|job| job.submit);
        let event = [engine.next_end(), arrival, cycle].into_iter().flatten().min();
        let Some(event) = event.filter(|event| plan.until.is_none_or(|until| *event <= until)) else { break };
        now = event;
        let mut ended = false;
        while let Some(job) = engine.ended(now) {
            machines.end(job, now);
            tally.end(job, now);
            ended = true;
        }
        if ended {
            machines.charge(now);
        }
        while let Some(job) = jobs.get(engine.next).filter(|job| job.submit <= now) {
            if machines.could_run(job.cores) {
                tally.arrive(engine.next, now);
                machines.arrive(engine.next, now);
            } else {
                tally.too_large(engine.next);
            }
            engine.next += 1;
        }
        each(now, engine.next);
        if cycle != Some(now) || tally.waiting() == 0 {
            continue;
        }
        looked = Some(now);
        let decided = machines.cycle(now)?;
        for &job in &decided.displaced {
            engine.runs[job] += 1;
            tally.displace(job, now);
            machines.arrive(job, now);
        }
        for &job in &decided.started {
            engine.start(job, now.saturating_add(jobs[job].run_time));
            tally.start(job, now);
        }
        tally.cycle(&decided.due);
        let still = decided.started.is_empty() && decided.displaced.is_empty();
        if still && engine.next_end().is_none() && engine.next == jobs.len() {
            break;
        }
    }
    let end = plan.until.filter(|_| engine.is_busy(jobs.len()) || tally.waiting() > 0).unwrap_or(now).max(now);
    Ok(tally.finish(end, machines.cores()))
}

/// Who runs, and who is yet to come.
struct Engine {
    /// How often each job was displaced: an end that was planned before is none.
    runs: Vec<u32>,
    ends: BinaryHeap<Reverse<(i64, usize, u32)>>,
    /// The next arrival.
    next: usize,
}

impl Engine {
    fn start(&mut self, job: usize, end: i64) {
        self.ends.push(Reverse((end, job, self.runs[job])));
    }

    /// When the next job ends.
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
