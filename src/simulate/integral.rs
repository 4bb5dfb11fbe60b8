//! A level that changes now and then, summed up over time: in all, and step by step.

/// Steps that are kept; the last one holds whatever comes later.
const MOST: i64 = 10_000;

/// Equal steps of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// When the first begins, epoch seconds.
    pub start: i64,
    /// How long each is, seconds, 1 or more.
    pub length: i64,
}

impl Steps {
    /// The step in which a moment lies.
    fn of(self, time: i64) -> i64 {
        ((time - self.start) / self.length).clamp(0, MOST - 1)
    }
}

/// A level and its sum over time.
///
/// ```
/// use classmate::simulate::integral::{Integral, Steps};
/// let mut level = Integral::new(Steps { start: 0, length: 10 });
/// level.add(5, 2.0);
/// level.add(25, -2.0);
/// assert_eq!(level.total(), 40.0);
/// assert_eq!(level.steps(), [(0, 10.0), (1, 20.0), (2, 10.0)]);
/// ```
#[derive(Debug, Clone)]
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
        Self { by, level: 0.0, since: by.start, total: 0.0, steps: Vec::new() }
    }

    /// Changes the level at a moment, which is no earlier than the last one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_late_goes_into_the_last_step() {
        let mut level = Integral::new(Steps { start: 100, length: 1 });
        level.add(100, 1.0);
        level.pass(1 << 40);
        assert_eq!(level.steps().len(), MOST as usize);
        // Steps of a second; the last one has the rest.
        assert_eq!(level.steps()[MOST as usize - 1].1, ((1_i64 << 40) - 100 - (MOST - 1)) as f64);
        assert_eq!(level.steps().iter().map(|(_, sum)| sum).sum::<f64>(), level.total());
    }
}
