//! Usage against entitled shares while jobs wait for cores: the time in which a policy decides who goes without.
//!
//! Contention lasts while jobs wait that no cycle can start. The entitled share of an entity is that of the last cycle, and
//! counts while the entity has waiting jobs.

use serde::{Deserialize, Serialize};

/// Usage and entitled share of an entity while it had waiting jobs under contention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ContendedShare {
    /// Length of that time, seconds.
    pub seconds: f64,
    /// Fraction of all cores in use, its mean over that time.
    pub share: f64,
    /// Entitled share, its mean over that time.
    pub due: f64,
}

/// Usage and entitled shares of some entities over the contended time.
#[derive(Debug, Default)]
pub(super) struct Contention {
    /// Start of the contention, if there is one now.
    since: Option<i64>,
    /// Seconds of contention before that.
    before: i64,
    entities: Vec<EntityContention>,
    /// Sum of what the entities lack to their entitled shares, in fractions of the pool, and its sum over time.
    shortfall: f64,
    passed: i64,
    total: f64,
    cores: f64,
}

/// An entity: all times are seconds of contention.
#[derive(Debug, Clone, Default)]
struct EntityContention {
    /// Fraction of the cores in use.
    used: f64,
    waiting: u32,
    due: Option<f64>,
    since: i64,
    seconds: i64,
    used_sum: f64,
    due_sum: f64,
}

impl EntityContention {
    fn claimed(&self) -> Option<f64> {
        self.due.filter(|_| self.waiting > 0)
    }

    fn shortfall(&self) -> f64 {
        self.claimed().map_or(0.0, |due| (due - self.used).max(0.0))
    }

    fn pass(&mut self, clock: i64) {
        let seconds = clock - self.since;
        self.since = clock;
        if let Some(due) = self.claimed() {
            self.seconds += seconds;
            self.used_sum += self.used * seconds as f64;
            self.due_sum += due * seconds as f64;
        }
    }
}

impl Contention {
    pub(super) fn new(entities: usize, cores: f64) -> Self {
        Self { entities: vec![EntityContention::default(); entities], cores: cores.max(1.0), ..Self::default() }
    }

    /// Seconds of contention up to a moment.
    fn clock(&self, now: i64) -> i64 {
        self.before + self.since.map_or(0, |since| now - since)
    }

    /// Starts or ends contention.
    pub(super) fn set(&mut self, now: i64, contended: bool) {
        if self.since.is_some() != contended {
            self.before = self.clock(now);
            self.since = contended.then_some(now);
        }
    }

    /// True under contention.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    fn change(&mut self, at: usize, now: i64, change: impl FnOnce(&mut EntityContention)) {
        let clock = self.clock(now);
        self.total += self.shortfall * (clock - self.passed) as f64;
        self.passed = clock;
        let claim = &mut self.entities[at];
        claim.pass(clock);
        self.shortfall -= claim.shortfall();
        change(claim);
        self.shortfall += claim.shortfall();
    }

    /// An entity has more or fewer waiting jobs, and cores in use.
    pub(super) fn add(&mut self, at: usize, now: i64, waiting: i32, cores: f64) {
        let used = cores / self.cores;
        self.change(at, now, |claim| {
            claim.waiting = claim.waiting.saturating_add_signed(waiting);
            claim.used += used;
        });
    }

    /// The entitled share of an entity by a cycle; none without requests.
    pub(super) fn entitle(&mut self, at: usize, now: i64, due: Option<f64>) {
        if self.entities[at].due != due {
            self.change(at, now, |claim| claim.due = due);
        }
    }

    /// Seconds of contention, and the mean of what the entities lacked to their entitled shares; none without
    /// contention.
    pub(super) fn distance(&mut self, end: i64) -> (i64, Option<f64>) {
        let clock = self.clock(end);
        self.total += self.shortfall * (clock - self.passed) as f64;
        self.passed = clock;
        self.entities.iter_mut().for_each(|claim| claim.pass(clock));
        (clock, (clock > 0).then(|| (self.total / clock as f64).max(0.0)))
    }

    /// The means of an entity, after [`Contention::distance`]; none if it never waited under contention.
    pub(super) fn shares(&self, at: usize) -> Option<ContendedShare> {
        let claim = &self.entities[at];
        let seconds = claim.seconds as f64;
        (claim.seconds > 0).then(|| ContendedShare {
            seconds,
            share: claim.used_sum / seconds,
            due: claim.due_sum / seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_with_waiting_jobs_under_contention_counts() {
        // 4 cores. The first entity uses 3 from 0 on, the second 1; both wait and are entitled to a half.
        let mut contention = Contention::new(2, 4.0);
        contention.add(0, 0, 1, 3.0);
        contention.add(1, 0, 1, 1.0);
        contention.entitle(0, 0, Some(0.5));
        contention.entitle(1, 0, Some(0.5));
        contention.set(10, true);
        // The second one gets a core of the first at 30, and nothing waits from 40 on.
        contention.add(0, 30, 0, -1.0);
        contention.add(1, 30, 0, 1.0);
        contention.set(40, false);
        contention.add(0, 50, -1, 0.0);
        // Of 30 s, 20 lack a quarter and 10 nothing.
        let (seconds, distance) = contention.distance(100);
        assert_eq!((seconds, distance), (30, Some(20.0 * 0.25 / 30.0)));
        let second = contention.shares(1).unwrap();
        assert_eq!((second.seconds, second.share, second.due), (30.0, (20.0 * 0.25 + 10.0 * 0.5) / 30.0, 0.5));
        assert_eq!(Contention::new(1, 4.0).distance(100), (0, None));
    }
}
