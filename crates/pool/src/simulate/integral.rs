//! A level that changes now and then, summed up over time: in all, and step by step.

/// Steps that are kept; the last one holds whatever comes later.
pub(super) const MAX_STEPS: i64 = 10_000;

/// Equal steps of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Start of the first, epoch seconds.
    pub start: i64,
    /// Length of each, seconds, 1 or more.
    pub length: i64,
}

impl Steps {
    /// The step in which a moment lies.
    pub(super) fn of(self, time: i64) -> i64 {
        ((time - self.start) / self.length).clamp(0, MAX_STEPS - 1)
    }

    /// Number of seconds of a step up to the end of all, 1 or more.
    pub(super) fn seconds(self, step: i64, end: i64) -> i64 {
        let rest = end - (self.start + step * self.length);
        if step == MAX_STEPS - 1 { rest.max(1) } else { rest.clamp(1, self.length) }
    }
}

/// A level and its sum over time.
///
/// ```
/// use classmate_pool::internal::simulate::integral::{Integral, Steps};
/// let mut level = Integral::new(Steps { start: 0, length: 10 });
/// level.add(5, 2.0);
/// level.add(25, -2.0);
/// assert_eq!(level.total(), 40.0);
/// assert_eq!(level.steps(), [(0, 10.0), (1, 20.0), (2, 10.0)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Integral {
    by: Steps,
    level: f64,
    since: i64,
    total: f64,
    steps: Vec<(i64, f64)>,
}

impl Integral {
    /// A level of 0.
    pub fn new(by: Steps) -> Self {
        Self { by, since: by.start, ..Self::default() }
    }

    /// Changes the level at a moment, not earlier than the last one.
    pub fn add(&mut self, now: i64, change: f64) {
        self.pass(now);
        self.level += change;
    }

    /// Sums up to a moment.
    pub fn pass(&mut self, now: i64) {
        if self.level != 0.0 && now > self.since {
            self.total += self.level * (now - self.since) as f64;
            let last = self.by.of(now);
            for step in self.by.of(self.since)..=last {
                let begin = self.since.max(self.by.start + step * self.by.length);
                let end = if step == last { now } else { now.min(self.by.start + (step + 1) * self.by.length) };
                if end <= begin {
                    continue;
                }
                let sum = self.level * (end - begin) as f64;
                match self.steps.last_mut().filter(|(at, _)| *at == step) {
                    Some((_, had)) => *had += sum,
                    None => self.steps.push((step, sum)),
                }
            }
        }
        self.since = now;
    }

    /// The sum, level times seconds.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The level now.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The sums of the steps in which there was anything, by their numbers from 0.
    pub fn steps(&self) -> &[(i64, f64)] {
        &self.steps
    }
}

/// The mean of a number that is reported from time to time: in all, and by step.
#[derive(Debug, Clone, Default)]
pub struct Mean {
    sum: f64,
    count: u64,
    /// Steps with sums and counts.
    steps: Vec<(i64, f64, u64)>,
}

impl Mean {
    /// Adds a number at a moment, not earlier than the last one.
    pub fn add_at(&mut self, by: Steps, now: i64, number: f64) {
        self.sum += number;
        self.count += 1;
        let step = by.of(now);
        match self.steps.last_mut().filter(|(at, ..)| *at == step) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + number, *count + 1),
            None => self.steps.push((step, number, 1)),
        }
    }

    /// The mean; none without numbers.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The means of the steps with numbers, by their indices from 0.
    pub fn steps(&self) -> impl Iterator<Item = (i64, f64)> {
        self.steps.iter().map(|(step, sum, count)| (*step, sum / *count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_numbers_of_a_step() {
        let mut mean = Mean::default();
        assert_eq!(mean.mean(), None);
        let by = Steps { start: 100, length: 10 };
        for (now, number) in [(100, 1.0), (109, 3.0), (125, 8.0)] {
            mean.add_at(by, now, number);
        }
        assert_eq!(mean.mean(), Some(4.0));
        assert_eq!(mean.steps().collect::<Vec<_>>(), [(0, 2.0), (2, 8.0)]);
    }

    #[test]
    fn what_comes_late_goes_into_the_last_step() {
        let mut level = Integral::new(Steps { start: 100, length: 1 });
        level.add(100, 1.0);
        level.pass(1 << 40);
        assert_eq!(level.steps().len(), MAX_STEPS as usize);
        // Steps of a second; the last one has the rest.
        assert_eq!(level.steps()[MAX_STEPS as usize - 1].1, ((1_i64 << 40) - 100 - (MAX_STEPS - 1)) as f64);
        assert_eq!(level.steps().iter().map(|(_, sum)| sum).sum::<f64>(), level.total());
    }
}
