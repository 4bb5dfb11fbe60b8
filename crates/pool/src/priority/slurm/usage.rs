//! Usage: how it decays, and what running costs.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 3.2 to 3.4.

use serde::{Deserialize, Serialize};

/// The smallest factor of decay.
const MIN_USAGE: f64 = f64::MIN_POSITIVE;

/// The decay function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decay {
    /// `(1 − 0.693 / half-life)^seconds`, as Slurm does.
    #[default]
    Linearized,
    /// `2^(−seconds / half-life)`.
    Exact,
}

impl Decay {
    /// The factor on usage after some seconds; 1 with a half-life of 0.
    ///
    /// ```
    /// use classmate_pool::internal::priority::slurm::usage::Decay;
    /// assert_eq!(Decay::Exact.factor(3600.0, 3600.0), 0.5);
    /// assert!((Decay::Linearized.factor(3600.0, 3600.0) - 0.500_040).abs() < 1e-6);
    /// assert_eq!(Decay::Linearized.factor(0.0, 3600.0), 1.0);
    /// ```
    pub fn factor(self, half_life: f64, seconds: f64) -> f64 {
        if half_life <= 0.0 || seconds <= 0.0 {
            return 1.0;
        }
        match self {
            Self::Linearized => (1.0 - 0.693 / half_life).powf(seconds).max(MIN_USAGE),
            Self::Exact => (-seconds / half_life).exp2(),
        }
    }

    /// The usage of a job that ran for some seconds of one period: as if all of it had been spent at the period's start.
    pub fn charged(self, half_life: f64, seconds: f64, billing: f64) -> f64 {
        let run = seconds.max(0.0);
        run * self.factor(half_life, run) * billing
    }
}

/// One period of calculation for one job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// The end of the period before, epoch seconds.
    pub last: f64,
    /// The end of this one.
    pub now: f64,
    /// Start time of the job.
    pub start: f64,
    /// End time, if it ended.
    pub end: Option<f64>,
    /// Cost of one second, including the usage factor of its QOS.
    pub billing: f64,
}

impl Tick {
    /// The usage after the period: what was there decayed, and the new.
    ///
    /// ```
    /// use classmate_pool::internal::priority::slurm::usage::{Decay, Tick};
    /// // 53 s of 8 CPUs in a period of 60 s.
    /// let tick = Tick { last: 0.0, now: 60.0, start: 7.0, end: None, billing: 8.0 };
    /// assert!((tick.usage(1000.0, 1800.0, Decay::Linearized) - 1392.594_736).abs() < 1e-6);
    /// ```
    pub fn usage(&self, before: f64, half_life: f64, decay: Decay) -> f64 {
        let kept = before * decay.factor(half_life, self.now - self.last);
        let until = self.end.map_or(self.now, |end| end.min(self.now));
        kept + decay.charged(half_life, until - self.start.max(self.last), self.billing)
    }
}

/// The usage of version 2.0: the sum over periods, newest first, each worth `2^(−period / half-life)` of the one after it.
///
/// ```
/// use classmate_pool::internal::priority::slurm::usage::historical_usage;
/// assert_eq!(historical_usage(&[4.0, 4.0, 4.0], 300.0, 300.0), 7.0);
/// ```
pub fn historical_usage(periods: &[f64], period: f64, half_life: f64) -> f64 {
    let decay = Decay::Exact.factor(half_life, period);
    periods.iter().rev().fold(0.0, |sum, usage| usage + decay * sum)
}

/// `R_H`, what version 2.0 takes for all that can be used: processors × half-life × 2.
pub fn capacity(processors: f64, half_life: f64) -> f64 {
    processors * half_life * 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() < within, "{found} is not {expected}");
    }

    #[test]
    fn decay_is_as_logged() {
        // `docs/reference/slurm-multifactor.md` 8.7.
        close(Decay::Linearized.factor(1800.0, 60.0), 0.977_160_416_097_718, 1e-12);
        close(Decay::Linearized.factor(1800.0, 11.0), 0.995_773_142_966_254, 1e-12);
        close(7700.0 * Decay::Linearized.factor(1800.0, 131.0), 7321.2, 0.05);
        close(Decay::Linearized.factor(7.0 * 86_400.0, 7.0 * 86_400.0), 0.500_073, 1e-6);
    }

    #[test]
    fn decay_never_ends_and_half_lives_below_a_second_are_no_trouble() {
        assert_eq!(Decay::Linearized.factor(60.0, 1e9), f64::MIN_POSITIVE);
        let odd = Decay::Linearized.factor(0.1, 1.5);
        assert!(odd.is_finite() && odd > 0.0);
    }

    #[test]
    fn a_job_through_three_periods_costs_as_computed() {
        // `docs/reference/slurm-multifactor.md` 8.7: 16 CPUs, half-life 3600 s, 100000 before.
        let mut usage = 100_000.0;
        for (period, expected) in [98_918.691, 97_898.065, 96_934.716].into_iter().enumerate() {
            let last = 300.0 * period as f64;
            let tick = Tick { last, now: last + 300.0, start: 0.0, end: None, billing: 16.0 };
            usage = tick.usage(usage, 3600.0, Decay::Linearized);
            close(usage, expected, 1e-3);
        }
    }

    #[test]
    fn the_tail_of_a_job_is_charged_for_its_own_length() {
        // `docs/reference/slurm-multifactor.md` 8.7: a tail of 43 s on 8 CPUs adds 338.351.
        close(Decay::Linearized.charged(1800.0, 43.0, 8.0), 338.351, 1e-3);
        assert_eq!(Decay::Linearized.charged(1800.0, -5.0, 8.0), 0.0);
    }

    #[test]
    fn a_full_machine_uses_less_than_its_nominal_capacity() {
        // `docs/reference/slurm-multifactor.md` 3.4: with periods of 5 minutes and a half-life of 7 days U tends to 0.7214.
        let (half_life, period) = (7.0 * 86_400.0, 300.0);
        let mut usage = 0.0;
        for _ in 0..60_000 {
            usage = usage * Decay::Linearized.factor(half_life, period) + period * 8.0;
        }
        close(usage / capacity(8.0, half_life), 0.7216, 2e-4);
    }
}
