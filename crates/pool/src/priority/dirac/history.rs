//! Recent runs: for each group and user the running jobs as a step function of time (`docs/reference/dirac-shares.md`
//! 4.2, 9).
//!
//! In: starts and ends of jobs. Out: running jobs on average over a stretch of time, exact. A question costs the logarithm
//! of what happened, not its length.

use crate::OrderedMap;
use hashbrown::HashMap;

use classmate_config::internal::config::dirac::Word;

/// Runs by group and user. Times are seconds.
///
/// ```
/// use classmate_config::internal::config::dirac::Word;
/// use classmate_pool::internal::priority::dirac::RunHistory;
/// let (group, user): (Word, Word) = (b"mc"[..].into(), b"ann"[..].into());
/// let mut history = RunHistory::default();
/// history.ran(&group, &user, 0.0, Some(30.0));
/// history.ran(&group, &user, 20.0, None);
/// // Of the last 60 seconds, 10 with one job, 10 with two, 20 with one, beginning at 40 - 60.
/// let running = history.of_groups(40.0, 60.0);
/// assert_eq!(running[&group], 50.0 / 60.0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunHistory {
    groups: OrderedMap<Word, GroupHistory>,
}

#[derive(Debug, Clone, Default)]
struct GroupHistory {
    all: Track,
    users: OrderedMap<Word, Track>,
}

impl RunHistory {
    /// A job that ran from `start` to `end`, or still runs.
    pub fn ran(&mut self, group: &Word, user: &Word, start: f64, end: Option<f64>) {
        if end.is_some_and(|end| end <= start) {
            return;
        }
        self.change(group, user, start, 1.0);
        if let Some(end) = end {
            self.change(group, user, end, -1.0);
        }
    }

    /// A job started (`by` 1) or ended (`by` -1). Cheapest in the order of time.
    pub fn change(&mut self, group: &Word, user: &Word, at: f64, by: f64) {
        if !at.is_finite() {
            return;
        }
        let group = self.groups.entry(group.clone()).or_default();
        group.all.change(at, by);
        group.users.entry(user.clone()).or_default().change(at, by);
    }

    /// Running jobs of each group on average over the last `span` seconds; groups without any are absent.
    pub fn of_groups(&self, now: f64, span: f64) -> HashMap<Word, f64> {
        used(self.groups.iter().map(|(name, group)| (name, &group.all)), now, span)
    }

    /// Running jobs of each user of a group on average over the last `span` seconds; users without any are absent.
    pub fn of_users(&self, group: &[u8], now: f64, span: f64) -> HashMap<Word, f64> {
        let users = self.groups.get(group).into_iter().flat_map(|group| &group.users);
        used(users, now, span)
    }

    /// Number of changes that are kept, over all groups.
    pub fn steps(&self) -> usize {
        self.groups.values().map(|group| group.all.0.len()).sum()
    }

    /// Forgets what ended before a time.
    pub fn forget(&mut self, before: f64) {
        for group in self.groups.values_mut() {
            group.all.forget(before);
            group.users.values_mut().for_each(|track| track.forget(before));
            group.users.retain(|_, track| !track.is_over(before));
        }
        self.groups.retain(|_, group| !group.all.is_over(before));
    }
}

fn used<'h>(tracks: impl Iterator<Item = (&'h Word, &'h Track)>, now: f64, span: f64) -> HashMap<Word, f64> {
    let running =
        |(name, track): (&Word, &Track)| Some((name.clone(), track.average(now, span))).filter(|(_, r)| *r > 0.0);
    tracks.filter_map(running).collect()
}

/// A step function with its integral.
#[derive(Debug, Clone, Default)]
struct Track(Vec<HistoryStep>);

/// Number of running jobs from a moment on.
#[derive(Debug, Clone, Copy)]
struct HistoryStep {
    at: f64,
    /// Job seconds before.
    area: f64,
    running: f64,
}

impl Track {
    fn change(&mut self, at: f64, by: f64) {
        let place = self.0.partition_point(|step| step.at <= at);
        match place.checked_sub(1).map(|before| self.0[before]) {
            Some(before) if before.at == at => self.0[place - 1].running += by,
            before => {
                let step =
                    HistoryStep { at, area: self.area(at), running: before.map_or(0.0, |before| before.running) + by };
                self.0.insert(place, step);
            }
        }
        // What comes later was noted before.
        for later in place..self.0.len() {
            if self.0[later].at > at {
                self.0[later].running += by;
                self.0[later].area += by * (self.0[later].at - at);
            }
        }
    }

    /// Job seconds before a moment.
    fn area(&self, at: f64) -> f64 {
        let place = self.0.partition_point(|step| step.at <= at);
        let Some(step) = place.checked_sub(1).map(|before| self.0[before]) else { return 0.0 };
        step.area + step.running * (at - step.at)
    }

    fn average(&self, now: f64, span: f64) -> f64 {
        let seconds = self.area(now) - self.area(now - span);
        if span > 0.0 { seconds / span } else { 0.0 }
    }

    /// Drops the steps that end before a moment, once they are half of all.
    fn forget(&mut self, before: f64) {
        let over = self.0.partition_point(|step| step.at <= before).saturating_sub(1);
        if over > self.0.len() / 2 {
            self.0.drain(..over);
            let gone = self.0.first().map_or(0.0, |step| step.area);
            self.0.iter_mut().for_each(|step| step.area -= gone);
        }
    }

    /// Returns whether nothing has run since a moment.
    fn is_over(&self, since: f64) -> bool {
        self.0.last().is_none_or(|step| step.at <= since && step.running <= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Word {
        Word::from(text.as_bytes())
    }

    #[test]
    fn averages_are_integrals_over_the_window() {
        let mut history = RunHistory::default();
        history.ran(&name("g"), &name("a"), 0.0, Some(50.0));
        history.ran(&name("g"), &name("b"), 90.0, None);
        history.ran(&name("h"), &name("a"), 10.0, Some(10.0));
        let users = history.of_users(b"g", 100.0, 60.0);
        // a: from 40 to 50, b: from 90 to 100.
        assert_eq!((users[&name("a")], users[&name("b")]), (10.0 / 60.0, 10.0 / 60.0));
        assert_eq!(history.of_groups(100.0, 100.0).len(), 1, "who never ran has no record");
        assert_eq!(history.of_groups(100.0, 100.0)[&name("g")], 0.6);
        assert!(history.of_users(b"x", 100.0, 100.0).is_empty());
    }

    #[test]
    fn the_order_of_noting_does_not_matter() {
        let intervals = [(5.0, 25.0), (0.0, 10.0), (20.0, 30.0), (0.0, 30.0), (5.0, 10.0)];
        let of = |order: &[usize]| {
            let mut history = RunHistory::default();
            for &at in order {
                history.ran(&name("g"), &name("a"), intervals[at].0, Some(intervals[at].1));
            }
            [30.0, 22.0, 9.0].map(|now| history.of_groups(now, 15.0)[&name("g")])
        };
        let expected = of(&[0, 1, 2, 3, 4]);
        assert_eq!(expected[0], (10.0 + 10.0 + 15.0) / 15.0);
        assert_eq!(of(&[4, 3, 2, 1, 0]), expected);
        assert_eq!(of(&[2, 0, 4, 1, 3]), expected);
    }

    #[test]
    fn forgetting_changes_nothing_that_is_still_asked_for() {
        let mut history = RunHistory::default();
        for at in 0..100 {
            history.ran(&name("g"), &name("a"), f64::from(at), Some(f64::from(at) + 3.0));
        }
        history.ran(&name("g"), &name("gone"), 0.0, Some(5.0));
        let before = history.of_groups(100.0, 20.0);
        history.forget(80.0);
        assert_eq!(history.of_groups(100.0, 20.0), before);
        assert!(history.groups[&name("g")].all.0.len() < 50);
        assert_eq!(history.groups[&name("g")].users.len(), 1);
    }
}
