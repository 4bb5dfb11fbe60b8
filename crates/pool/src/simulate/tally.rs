//! Results of all jobs and submitters, collected during a simulation.

use std::collections::{BTreeMap, BTreeSet};

use super::contention::{ContendedShare, Contention};
use super::engine::SimulationPlan;
use super::integral::{Integral, MAX_STEPS, Mean, Steps};
use super::job_run::{JobEnd, JobRun};
use super::result::{EntityRow, JobCounts, SimulationResult, TimeStep, TooLarge, WaitBin};
use super::spread::{Spread, gini, jain, quantiles};
use crate::workload::{Arrival, Workload};

/// Approximate number of steps over the workload.
const TARGET_STEPS: i64 = 100;

/// Upper bounds of the classes of waiting times, seconds: a minute, five, a quarter of an hour, an hour, four, a day, a
/// week.
const WAIT_CLASSES: [i64; 7] = [60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400];

/// Counts and sums of a simulation.
pub(super) struct SimulationTally<'w> {
    workload: &'w Workload,
    steps: Steps,
    states: Vec<JobState>,
    tallies: Vec<SubmitterTally>,
    /// Names of groups, and which of them each submitter is in.
    groups: Vec<&'w [u8]>,
    group_of: Vec<usize>,
    /// Entitled shares of the groups; sums within a cycle.
    group_due: Vec<Mean>,
    cycle_due: Vec<f64>,
    /// Jobs that wait.
    queue: Integral,
    /// Usage and entitled shares under contention: of the submitters, and of the groups.
    contention: Contention,
    group_contention: Contention,
    /// Submitters with requests in the last cycle.
    entitled: Vec<usize>,
    /// The last cycle in which a submitter, or a group, was entitled to a share.
    entitled_in: Vec<u64>,
    group_entitled_in: Vec<u64>,
    too_large: Vec<usize>,
    refused: u64,
    cycles: u64,
}

/// State of a job.
#[derive(Clone, Copy, Default)]
struct JobState {
    run: JobRun,
    /// Time of its last start, epoch seconds; of no meaning unless it runs.
    since: i64,
}

/// Results of a submitter.
#[derive(Default)]
struct SubmitterTally {
    use_: Integral,
    lost: f64,
    preemptions: u64,
    jobs: u64,
    too_large: u64,
    completed: u64,
    /// The longest time to a first start, or to the end for those that never started.
    longest: i64,
    due: Mean,
}

impl<'w> SimulationTally<'w> {
    pub(super) fn new(workload: &'w Workload, start: i64, plan: &SimulationPlan, cores: f64) -> Self {
        let jobs = &workload.arrivals;
        let last = jobs.iter().map(|job| job.submit.saturating_add(job.run_time)).max().unwrap_or(start);
        let last = plan.until.unwrap_or(last).max(start);
        let hours = ((last - start) / TARGET_STEPS / 3600).saturating_add(1);
        // The expected time has a limited number of steps.
        let length = plan.step.unwrap_or(hours * 3600).max((last - start) / MAX_STEPS + 1);
        let steps = Steps { start, length };
        let tally = |_| SubmitterTally { use_: Integral::new(steps), ..SubmitterTally::default() };
        let names: BTreeSet<&[u8]> = workload.submitters.iter().map(|one| one.group.as_slice()).collect();
        let groups: Vec<&[u8]> = names.into_iter().collect();
        let group_of = workload.submitters.iter().map(|one| groups.binary_search(&&one.group[..]).unwrap_or(0));
        Self {
            workload,
            steps,
            group_of: group_of.collect(),
            group_due: vec![Mean::default(); groups.len()],
            cycle_due: vec![0.0; groups.len()],
            contention: Contention::new(workload.submitters.len(), cores),
            group_contention: Contention::new(groups.len(), cores),
            entitled: Vec::new(),
            entitled_in: vec![0; workload.submitters.len()],
            group_entitled_in: vec![0; groups.len()],
            groups,
            states: vec![JobState::default(); jobs.len()],
            tallies: (0..workload.submitters.len()).map(tally).collect(),
            queue: Integral::new(steps),
            too_large: Vec::new(),
            refused: 0,
            cycles: 0,
        }
    }

    /// Jobs that wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.level() as usize
    }

    /// Sets whether jobs wait that no cycle can start.
    pub(super) fn contend(&mut self, now: i64, contended: bool) {
        self.contention.set(now, contended);
        self.group_contention.set(now, contended);
    }

    /// True under contention.
    pub(super) fn is_contended(&self) -> bool {
        self.contention.is_on()
    }

    /// A job begins or ceases to wait, and its cores to be in use.
    fn changed(&mut self, job: usize, now: i64, waiting: i32, running: f64) {
        let arrival = &self.workload.arrivals[job];
        let cores = running * f64::from(arrival.cores);
        self.queue.add(now, f64::from(waiting));
        self.contention.add(arrival.submitter, now, waiting, cores);
        self.group_contention.add(self.group_of[arrival.submitter], now, waiting, cores);
        self.tallies[arrival.submitter].use_.add(now, cores);
    }

    fn tally(&mut self, job: usize) -> &mut SubmitterTally {
        &mut self.tallies[self.workload.arrivals[job].submitter]
    }

    pub(super) fn arrive(&mut self, job: usize, now: i64) {
        self.changed(job, now, 1, 0.0);
        self.states[job].run.state = JobEnd::Waiting;
        self.tally(job).jobs += 1;
    }

    pub(super) fn too_large(&mut self, job: usize) {
        self.too_large.push(job);
        self.states[job].run.state = JobEnd::TooLarge;
        let tally = self.tally(job);
        tally.jobs += 1;
        tally.too_large += 1;
    }

    /// Counts rejected matches of a cycle.
    pub(super) fn refused(&mut self, matches: u64) {
        self.refused += matches;
    }

    /// Jobs that came and never started.
    pub(super) fn never_started(&self) -> Vec<usize> {
        let never = |job: &usize| self.states[*job].run.never_started();
        (0..self.states.len()).filter(never).collect()
    }

    pub(super) fn start(&mut self, job: usize, now: i64) {
        self.changed(job, now, -1, 1.0);
        let arrival = &self.workload.arrivals[job];
        let state = &mut self.states[job];
        (state.since, state.run.state) = (now, JobEnd::Running);
        if state.run.start.is_none() {
            state.run.start = Some(now);
            let tally = &mut self.tallies[arrival.submitter];
            tally.longest = tally.longest.max(now - arrival.submit);
        }
    }

    pub(super) fn displace(&mut self, job: usize, now: i64) {
        self.changed(job, now, 1, -1.0);
        let state = &mut self.states[job];
        let ran = now - state.since;
        state.run.state = JobEnd::Waiting;
        state.run.preemptions += 1;
        let cores = f64::from(self.workload.arrivals[job].cores);
        let tally = self.tally(job);
        tally.lost += cores * ran as f64;
        tally.preemptions += 1;
    }

    pub(super) fn end(&mut self, job: usize, now: i64) {
        self.changed(job, now, 0, -1.0);
        let state = &mut self.states[job];
        (state.run.end, state.run.state) = (Some(now), JobEnd::Completed);
        self.tally(job).completed += 1;
    }

    /// Records a cycle, with the entitled shares of the submitters that had requests.
    pub(super) fn cycle(&mut self, now: i64, due: &[(usize, f64)]) {
        self.cycles += 1;
        let before = std::mem::take(&mut self.entitled);
        for &(who, share) in due {
            self.contention.entitle(who, now, Some(share));
            self.entitled.push(who);
            self.entitled_in[who] = self.cycles;
            self.tallies[who].due.add_at(self.steps, now, share);
            self.cycle_due[self.group_of[who]] += share;
        }
        for &(who, _) in due {
            let group = self.group_of[who];
            // Added once, with the sum of all members.
            let sum = std::mem::take(&mut self.cycle_due[group]);
            if sum > 0.0 {
                self.group_contention.entitle(group, now, Some(sum));
                self.group_entitled_in[group] = self.cycles;
                self.group_due[group].add_at(self.steps, now, sum);
            }
        }
        for who in before {
            let group = self.group_of[who];
            if self.entitled_in[who] != self.cycles {
                self.contention.entitle(who, now, None);
            }
            if self.group_entitled_in[group] != self.cycles {
                self.group_contention.entitle(group, now, None);
            }
        }
    }

    /// Sums up at the end.
    pub(super) fn finish(mut self, end: i64, cores: f64) -> (SimulationResult, Vec<JobRun>) {
        self.queue.pass(end);
        let (contended, distance) = self.contention.distance(end);
        self.group_contention.distance(end);
        self.tallies.iter_mut().for_each(|tally| tally.use_.pass(end));
        let (mut waiting, mut running, mut never) = (0, 0, 0);
        for (job, state) in self.workload.arrivals.iter().zip(&self.states) {
            waiting += u64::from(state.run.state == JobEnd::Waiting);
            running += u64::from(state.run.state == JobEnd::Running);
            if state.run.never_started() {
                never += 1;
                let tally = &mut self.tallies[job.submitter];
                tally.longest = tally.longest.max(end - job.submit);
            }
        }
        let used: f64 = self.tallies.iter().map(|tally| tally.use_.total()).sum();
        let (mut submitters, groups, all) = self.rows(used);
        submitters.sort_by(|one, other| one.name.cmp(&other.name));
        let parts: Vec<f64> =
            self.tallies.iter().filter(|tally| tally.jobs > tally.too_large).map(|tally| tally.use_.total()).collect();
        let seconds = (end - self.steps.start) as f64;
        let slowdowns: Vec<f64> =
            submitters.iter().filter(|line| line.completed > 0).map(|line| line.slowdown.mean).collect();
        let arrived: u64 = self.tallies.iter().map(|tally| tally.jobs).sum();
        let simulated = SimulationResult {
            start: self.steps.start,
            end,
            cores,
            cycles: self.cycles,
            jobs: JobCounts {
                source: self.workload.counts,
                too_large: self.too_large.len() as u64,
                yet_to_come: self.workload.arrivals.len() as u64 - arrived,
                completed: all.completed,
                running,
                waiting,
                never_started: never,
            },
            refused: self.refused,
            too_large: self.too_large.iter().map(|&job| self.oversized(job)).collect(),
            never_started: Vec::new(),
            stopped: None,
            utilisation: if cores * seconds > 0.0 { used / (cores * seconds) } else { 0.0 },
            jain: jain(&parts),
            contended: if seconds > 0.0 { Some(contended as f64 / seconds) } else { None },
            distance,
            gini: (!slowdowns.is_empty()).then(|| gini(slowdowns)),
            waits: self.waits(),
            over_time: self.over_time(end, cores),
            step: self.steps.length,
            all,
            submitters,
            groups,
        };
        (simulated, self.states.into_iter().map(|state| state.run).collect())
    }

    fn oversized(&self, job: usize) -> TooLarge {
        let arrival = &self.workload.arrivals[job];
        TooLarge { job: arrival.id.to_string(), place: arrival.place, cores: arrival.cores }
    }

    /// Results of each submitter, of each group, and of all.
    fn rows(&self, used: f64) -> (Vec<EntityRow>, Vec<EntityRow>, EntityRow) {
        let submitters: Vec<usize> = (0..self.tallies.len()).collect();
        let groups = (0..self.groups.len())
            .map(|at| submitters.iter().copied().filter(|who| self.group_of[*who] == at).collect());
        let mut entities: Vec<Vec<usize>> = submitters.iter().map(|&at| vec![at]).chain(groups).collect();
        entities.push(submitters);
        // One after the other: there may be many jobs.
        let waits = self.summaries(
            &entities,
            |run, job| Some(run.wait(job)? as f64),
            |waits| (Spread::of_sorted(waits), quantiles(waits)),
        );
        let slowdowns = self.summaries(&entities, JobRun::slowdown, Spread::of_sorted);
        let rows = entities.iter().zip(waits).zip(slowdowns).enumerate().map(
            |(at, ((members, (wait, wait_quantiles)), slowdown))| {
                let (name, due, contended) = self.entity(at);
                let tallies = || members.iter().map(|&at| &self.tallies[at]);
                let own: f64 = tallies().map(|tally| tally.use_.total()).sum();
                EntityRow {
                    name,
                    jobs: tallies().map(|tally| tally.jobs).sum(),
                    completed: tallies().map(|tally| tally.completed).sum(),
                    too_large: tallies().map(|tally| tally.too_large).sum(),
                    wait,
                    wait_quantiles,
                    longest_wait: tallies().map(|tally| tally.longest).max().unwrap_or(0),
                    slowdown,
                    core_seconds: own,
                    share: if used > 0.0 { own / used } else { 0.0 },
                    due,
                    contended,
                    preemptions: tallies().map(|tally| tally.preemptions).sum(),
                    lost: tallies().map(|tally| tally.lost).sum(),
                }
            },
        );
        let mut rows: Vec<EntityRow> = rows.collect();
        let all = rows.pop().unwrap_or_default();
        let groups = rows.split_off(self.tallies.len());
        (rows, groups, all)
    }

    /// Name and entitled share, in all and under contention, of a submitter, of a group (they come after the submitters) or of
    /// all.
    fn entity(&self, at: usize) -> (String, Option<f64>, Option<ContendedShare>) {
        if let Some(tally) = self.tallies.get(at) {
            let name = String::from_utf8_lossy(&self.workload.submitters[at].name).into_owned();
            return (name, tally.due.mean(), self.contention.shares(at));
        }
        let group = at - self.tallies.len();
        match self.group_due.get(group) {
            Some(due) => (self.group_name(group), due.mean(), self.group_contention.shares(group)),
            None => ("all".to_owned(), None, None),
        }
    }

    /// A summary, for sets of submitters, of a figure of their jobs. It gets the figures in ascending order.
    fn summaries<T>(
        &self,
        entities: &[Vec<usize>],
        figure: impl Fn(&JobRun, &Arrival) -> Option<f64>,
        summary: impl Fn(&[f64]) -> T,
    ) -> Vec<T> {
        let mut own: Vec<Vec<f64>> = self.tallies.iter().map(|tally| Vec::with_capacity(tally.jobs as usize)).collect();
        for (job, state) in self.workload.arrivals.iter().zip(&self.states) {
            own[job.submitter].extend(figure(&state.run, job));
        }
        let of = |members: &Vec<usize>| {
            let mut figures: Vec<f64> = members.iter().flat_map(|&who| own[who].iter().copied()).collect();
            figures.sort_unstable_by(f64::total_cmp);
            summary(&figures)
        };
        entities.iter().map(of).collect()
    }

    fn group_name(&self, at: usize) -> String {
        let name = self.groups[at];
        if name.is_empty() { "<none>".to_owned() } else { String::from_utf8_lossy(name).into_owned() }
    }

    /// Histogram of the waiting times of jobs that started.
    fn waits(&self) -> Vec<WaitBin> {
        let mut jobs = [0; WAIT_CLASSES.len() + 1];
        let runs = self.workload.arrivals.iter().zip(&self.states);
        for wait in runs.filter_map(|(job, state)| state.run.wait(job)) {
            jobs[WAIT_CLASSES.partition_point(|most| *most < wait)] += 1;
        }
        let class = |(at, jobs): (usize, u64)| WaitBin { up_to: WAIT_CLASSES.get(at).copied(), jobs };
        jobs.into_iter().enumerate().map(class).collect()
    }

    /// Use, queue and shares, step by step.
    fn over_time(&self, end: i64, cores: f64) -> Vec<TimeStep> {
        let empty = |number| TimeStep { start: self.steps.start + number * self.steps.length, ..TimeStep::default() };
        let several = self.groups.len() > 1;
        let mut found: BTreeMap<i64, TimeStep> = BTreeMap::new();
        for (who, tally) in self.tallies.iter().enumerate() {
            let name = String::from_utf8_lossy(&self.workload.submitters[who].name).into_owned();
            for &(number, used) in tally.use_.steps() {
                let step = found.entry(number).or_insert_with(|| empty(number));
                step.utilisation += used;
                step.shares.insert(name.clone(), used);
                if several {
                    *step.group_shares.entry(self.group_name(self.group_of[who])).or_default() += used;
                }
            }
            for (number, due) in tally.due.steps() {
                found.entry(number).or_insert_with(|| empty(number)).due.insert(name.clone(), due);
            }
        }
        for (at, due) in self.group_due.iter().enumerate().filter(|_| several) {
            for (number, due) in due.steps() {
                found.entry(number).or_insert_with(|| empty(number)).group_due.insert(self.group_name(at), due);
            }
        }
        for &(number, waited) in self.queue.steps() {
            found.entry(number).or_insert_with(|| empty(number)).waiting = waited;
        }
        let level = |(number, mut step): (i64, TimeStep)| {
            let seconds = self.steps.seconds(number, end) as f64;
            let used = step.utilisation;
            step.shares.values_mut().chain(step.group_shares.values_mut()).for_each(|part| *part /= used);
            TimeStep { utilisation: used / (cores * seconds), waiting: step.waiting / seconds, ..step }
        };
        // Numbers added at the very end belong to no step of time.
        found.into_iter().filter(|(number, step)| *number == 0 || step.start < end).map(level).collect()
    }
}
