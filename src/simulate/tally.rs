//! What happened to every job and every submitter, while it happens.

use std::collections::BTreeMap;

use super::engine::Plan;
use super::integral::{Integral, Steps};
use super::result::{Counted, Line, Simulated, Step};
use super::spread::{Spread, jain};
use crate::workload::Workload;

/// Jobs shorter than this count as so long in a slowdown, seconds.
const SHORTEST: f64 = 10.0;

/// Steps a workload is told in, about.
const WANTED: i64 = 100;

/// Counts and sums of a simulation.
pub(super) struct Tally<'w> {
    workload: &'w Workload,
    steps: Steps,
    states: Vec<State>,
    persons: Vec<Person>,
    /// Jobs that wait.
    queue: Integral,
    too_large: u64,
    cycles: u64,
}

/// Where a job stands.
#[derive(Clone, Copy, Default)]
struct State {
    /// When it started first.
    first: Option<i64>,
    /// Since when it runs, if it does.
    since: Option<i64>,
    arrived: bool,
    ended: bool,
}

/// What a submitter got.
struct Person {
    use_: Integral,
    lost: f64,
    preemptions: u64,
    jobs: u64,
    too_large: u64,
    completed: u64,
    waits: Vec<f64>,
    slowdowns: Vec<f64>,
    /// The longest time to a first start, or to the end for those that never started.
    longest: i64,
    due: f64,
    asked: u64,
}

impl<'w> Tally<'w> {
    pub(super) fn new(workload: &'w Workload, start: i64, plan: &Plan) -> Self {
        let jobs = &workload.arrivals;
        let last = jobs.iter().map(|job| job.submit.saturating_add(job.run_time)).max().unwrap_or(start);
        let last = plan.until.unwrap_or(last).max(start);
        let hours = ((last - start) / WANTED / 3600).saturating_add(1);
        let length = plan.step.unwrap_or(hours * 3600).max(1);
        let steps = Steps { start, length };
        let person = |_| Person {
            use_: Integral::new(steps),
            lost: 0.0,
            preemptions: 0,
            jobs: 0,
            too_large: 0,
            completed: 0,
            waits: Vec::new(),
            slowdowns: Vec::new(),
            longest: 0,
            due: 0.0,
            asked: 0,
        };
        Self {
            workload,
            steps,
            states: vec![State::default(); jobs.len()],
            persons: (0..workload.submitters.len()).map(person).collect(),
            queue: Integral::new(steps),
            too_large: 0,
            cycles: 0,
        }
    }

    /// Jobs that wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.level() as usize
    }

    fn person(&mut self, job: usize) -> &mut Person {
        &mut self.persons[self.workload.arrivals[job].submitter]
    }

    pub(super) fn arrive(&mut self, job: usize, now: i64) {
        self.queue.add(now, 1.0);
        self.states[job].arrived = true;
        self.person(job).jobs += 1;
    }

    pub(super) fn too_large(&mut self, job: usize) {
        self.too_large += 1;
        let person = self.person(job);
        person.jobs += 1;
        person.too_large += 1;
    }

    pub(super) fn start(&mut self, job: usize, now: i64) {
        self.queue.add(now, -1.0);
        let arrival = &self.workload.arrivals[job];
        let state = &mut self.states[job];
        state.since = Some(now);
        let first = state.first.replace(state.first.unwrap_or(now)).is_none();
        let person = &mut self.persons[arrival.submitter];
        person.use_.add(now, f64::from(arrival.cores));
        if first {
            let wait = now - arrival.submit;
            person.waits.push(wait as f64);
            person.longest = person.longest.max(wait);
        }
    }

    pub(super) fn displace(&mut self, job: usize, now: i64) {
        self.queue.add(now, 1.0);
        let ran = self.states[job].since.take().map_or(0, |since| now - since);
        let cores = f64::from(self.workload.arrivals[job].cores);
        let person = self.person(job);
        person.use_.add(now, -cores);
        person.lost += cores * ran as f64;
        person.preemptions += 1;
    }

    pub(super) fn end(&mut self, job: usize, now: i64) {
        let arrival = &self.workload.arrivals[job];
        let state = &mut self.states[job];
        (state.since, state.ended) = (None, true);
        let person = &mut self.persons[arrival.submitter];
        person.use_.add(now, -f64::from(arrival.cores));
        person.completed += 1;
        let stay = (now - arrival.submit) as f64;
        person.slowdowns.push((stay / (arrival.run_time as f64).max(SHORTEST)).max(1.0));
    }

    pub(super) fn cycle(&mut self, due: &[(usize, f64)]) {
        self.cycles += 1;
        for &(who, share) in due {
            self.persons[who].due += share;
            self.persons[who].asked += 1;
        }
    }

    /// Sums up at the end.
    pub(super) fn finish(mut self, end: i64, cores: f64) -> Simulated {
        self.queue.pass(end);
        self.persons.iter_mut().for_each(|person| person.use_.pass(end));
        let (mut waiting, mut running, mut never) = (0, 0, 0);
        for (job, state) in self.workload.arrivals.iter().zip(&self.states) {
            let waits = state.arrived && !state.ended && state.since.is_none();
            waiting += u64::from(waits);
            running += u64::from(state.since.is_some());
            never += u64::from(state.arrived && state.first.is_none());
            if waits && state.first.is_none() {
                let person = &mut self.persons[job.submitter];
                person.longest = person.longest.max(end - job.submit);
            }
        }
        let used: f64 = self.persons.iter().map(|person| person.use_.total()).sum();
        let everybody: Vec<usize> = (0..self.persons.len()).collect();
        let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let mut groups: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (at, submitter) in self.workload.submitters.iter().enumerate() {
            groups.entry(&submitter.group).or_default().push(at);
        }
        let mut submitters: Vec<Line> =
            everybody.iter().map(|&at| self.line(name(&self.workload.submitters[at].name), &[at], used)).collect();
        submitters.sort_by(|one, other| one.name.cmp(&other.name));
        let none = |group: &[u8]| if group.is_empty() { "<none>".to_owned() } else { name(group) };
        let groups = groups.iter().map(|(group, members)| self.line(none(group), members, used)).collect();
        let parts: Vec<f64> =
            self.persons.iter().filter(|person| person.jobs > 0).map(|person| person.use_.total()).collect();
        let source = self.workload.counts;
        let seconds = (end - self.steps.start) as f64;
        let arrived: u64 = self.persons.iter().map(|person| person.jobs).sum();
        let all = self.line("all".to_owned(), &everybody, used);
        Simulated {
            start: self.steps.start,
            end,
            cores,
            cycles: self.cycles,
            jobs: Counted {
                records: source.records,
                bad: source.bad,
                cancelled: source.cancelled,
                partial: source.partial,
                too_large: self.too_large,
                yet_to_come: self.workload.arrivals.len() as u64 - arrived,
                completed: all.completed,
                running,
                waiting,
                never_started: never,
            },
            utilisation: if cores * seconds > 0.0 { used / (cores * seconds) } else { 0.0 },
            jain: jain(&parts),
            over_time: self.over_time(end, cores),
            step: self.steps.length,
            all,
            submitters,
            groups,
        }
    }

    /// What some of the submitters come to.
    fn line(&self, name: String, members: &[usize], used: f64) -> Line {
        let persons = || members.iter().map(|&at| &self.persons[at]);
        let own: f64 = persons().map(|person| person.use_.total()).sum();
        let due = |person: &Person| if person.asked > 0 { person.due / person.asked as f64 } else { 0.0 };
        let due = (persons().any(|person| person.asked > 0) && members.len() == 1).then(|| persons().map(due).sum());
        Line {
            name,
            jobs: persons().map(|person| person.jobs).sum(),
            completed: persons().map(|person| person.completed).sum(),
            too_large: persons().map(|person| person.too_large).sum(),
            wait: Spread::of(persons().flat_map(|person| person.waits.iter().copied()).collect()),
            longest_wait: persons().map(|person| person.longest).max().unwrap_or(0),
            slowdown: Spread::of(persons().flat_map(|person| person.slowdowns.iter().copied()).collect()),
            core_seconds: own,
            share: if used > 0.0 { own / used } else { 0.0 },
            due,
            preemptions: persons().map(|person| person.preemptions).sum(),
            lost: persons().map(|person| person.lost).sum(),
        }
    }

    /// Use, queue and shares, step by step.
    fn over_time(&self, end: i64, cores: f64) -> Vec<Step> {
        let mut found: BTreeMap<i64, (f64, f64, BTreeMap<String, f64>)> = BTreeMap::new();
        for (submitter, person) in self.workload.submitters.iter().zip(&self.persons) {
            for &(step, used) in person.use_.steps() {
                let (sum, _, parts) = found.entry(step).or_default();
                *sum += used;
                parts.insert(String::from_utf8_lossy(&submitter.name).into_owned(), used);
            }
        }
        for &(step, waited) in self.queue.steps() {
            found.entry(step).or_default().1 = waited;
        }
        let step = |(step, (used, waited, mut shares)): (i64, (f64, f64, BTreeMap<String, f64>))| {
            let start = self.steps.start + step * self.steps.length;
            let seconds = (end - start).clamp(1, self.steps.length) as f64;
            shares.values_mut().for_each(|part| *part /= used);
            Step { start, utilisation: used / (cores * seconds), waiting: waited / seconds, shares }
        };
        found.into_iter().map(step).collect()
    }
}
