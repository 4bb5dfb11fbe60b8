//! One customer of the accountant: a submitter's or a group's usage and priority.
//!
//! Pure numbers; times are epoch seconds. Formula source: `docs/reference/accountant.md` 1, 2, 4.

use super::lease::{Lease, LeaseKind};
use super::record::Record;

/// Start value and floor of the real user priority.
pub const BEST_PRIORITY: f64 = 0.5;

/// A submitter's or group's record.
#[derive(Debug, Clone, PartialEq)]
pub struct Customer {
    /// Stored real user priority; read it with [`Customer::real_priority`].
    pub priority: f64,
    /// Stored priority factor, if any.
    pub factor: Option<f64>,
    /// Slots in use.
    pub resources: i64,
    /// Weighted slots in use.
    pub weighted_resources: f64,
    /// Weighted slots in use by a group and all below it; 0 for submitters.
    pub hierarchical_resources: f64,
    /// Slot-seconds to charge at the next update on top of (or off) the steady use.
    pub uncharged: i64,
    /// The same, weighted.
    pub weighted_uncharged: f64,
    /// Slot-seconds used so far.
    pub accumulated: f64,
    /// Weighted slot-seconds used so far; none until first charged.
    pub weighted_accumulated: Option<f64>,
    /// Start of usage; 0 if there never was any.
    pub begin_usage: i64,
    /// Time of the last usage; 0 if there never was any.
    pub last_usage: i64,
    /// Most weighted slots allowed; negative: no limit.
    pub ceiling: i64,
    /// Weighted slots that are served first; 0: none.
    pub floor: i64,
    /// Leases on ceiling, floor and factor, in the order of [`LeaseKind::ALL`].
    pub leases: [Lease; 3],
    /// True if usage was counted or charged since the record was read: its counters are then written even if 0.
    pub(super) counted: bool,
}

impl Default for Customer {
    fn default() -> Self {
        Self {
            priority: BEST_PRIORITY,
            factor: None,
            resources: 0,
            weighted_resources: 0.0,
            hierarchical_resources: 0.0,
            uncharged: 0,
            weighted_uncharged: 0.0,
            accumulated: 0.0,
            weighted_accumulated: None,
            begin_usage: 0,
            last_usage: 0,
            ceiling: -1,
            floor: 0,
            leases: [Lease::default(); 3],
            counted: false,
        }
    }
}

impl From<&Record> for Customer {
    fn from(record: &Record) -> Self {
        // Infinities and NaN would spread to all shares.
        let real = |name| record.real(name).filter(|value| value.is_finite());
        let integer = |name| record.integer(name);
        Self {
            priority: real("Priority").unwrap_or(BEST_PRIORITY),
            factor: real("PriorityFactor"),
            resources: integer("ResourcesUsed").unwrap_or(0),
            weighted_resources: real("WeightedResourcesUsed").unwrap_or(0.0),
            hierarchical_resources: real("HierWeightedResourcesUsed").unwrap_or(0.0),
            uncharged: integer("UnchargedTime").unwrap_or(0),
            weighted_uncharged: real("WeightedUnchargedTime").unwrap_or(0.0),
            accumulated: real("AccumulatedUsage").unwrap_or(0.0),
            weighted_accumulated: real("WeightedAccumulatedUsage"),
            begin_usage: integer("BeginUsageTime").unwrap_or(0),
            last_usage: integer("LastUsageTime").unwrap_or(0),
            ceiling: integer("Ceiling").filter(|c| *c >= 0).unwrap_or(-1),
            floor: integer("Floor").filter(|f| *f >= 0).unwrap_or(0),
            leases: LeaseKind::ALL.map(|kind| {
                let (before, expires) = kind.attributes();
                Lease { before: real(before).unwrap_or(0.0), expires: integer(expires).unwrap_or(0) }
            }),
            counted: false,
        }
    }
}

impl Customer {
    /// Real user priority, at least 0.5; lower is better.
    pub fn real_priority(&self) -> f64 {
        // Not `max`: a stored NaN must not win.
        if self.priority >= BEST_PRIORITY { self.priority } else { BEST_PRIORITY }
    }

    /// Decays the priority and charges the use of the last `dt` seconds (positive), with `beta` =
    /// 0.5 ^ (dt / half-life).
    pub(super) fn update(&mut self, now: i64, dt: f64, beta: f64) {
        let steady = if self.hierarchical_resources > 0.0 {
            self.hierarchical_resources
        } else {
            self.weighted_resources + self.weighted_uncharged / dt
        };
        let priority = beta * self.real_priority() + (1.0 - beta) * steady;
        self.priority = written(if priority >= BEST_PRIORITY { priority } else { BEST_PRIORITY });
        let weighted_before = self.weighted_accumulated.unwrap_or(self.accumulated);
        self.accumulated = written(self.accumulated + self.resources as f64 * dt + self.uncharged as f64);
        self.weighted_accumulated =
            Some(written(weighted_before + self.weighted_resources * dt + self.weighted_uncharged));
        if self.accumulated > 0.0 && self.begin_usage == 0 {
            self.begin_usage = now;
        }
        if self.resources as f64 + self.uncharged as f64 / dt > 0.0 {
            self.last_usage = now;
        }
        self.uncharged = 0;
        self.weighted_uncharged = 0.0;
        self.counted = true;
    }

    /// Adds one slot of `weight`, matched `late` seconds after the last update.
    pub(super) fn add(&mut self, weight: f64, late: i64) {
        self.resources += 1;
        self.weighted_resources = written(self.weighted_resources + weight);
        if late != 0 {
            self.uncharged = self.uncharged.saturating_sub(late);
            self.weighted_uncharged = written(self.weighted_uncharged - late as f64 * weight);
        }
        self.counted = true;
    }

    /// Sets the accumulated usage to nothing, as of `now`.
    pub(super) fn reset_accumulated(&mut self, now: i64) {
        self.accumulated = 0.0;
        self.weighted_accumulated = Some(0.0);
        self.begin_usage = now;
    }

    /// Returns whether nothing would be lost with the record: nothing used, charged, set or leased.
    pub(super) fn is_blank(&self, default_factor: f64) -> bool {
        let unused = self.resources == 0 && self.weighted_resources == 0.0 && self.hierarchical_resources == 0.0;
        let uncharged = self.uncharged == 0 && self.weighted_uncharged == 0.0;
        let never = self.accumulated == 0.0 && self.weighted_accumulated.unwrap_or(0.0) == 0.0;
        let plain = self.factor.is_none_or(|factor| factor == default_factor) && self.ceiling < 0 && self.floor == 0;
        let unleased = self.leases.iter().all(|lease| lease.expires == 0);
        unused && uncharged && never && plain && unleased && self.real_priority() == BEST_PRIORITY
    }

    /// Adds `weight` to what a group and those below it use.
    pub(super) fn add_hierarchical(&mut self, weight: f64) {
        self.hierarchical_resources = written(self.hierarchical_resources + weight);
    }

    /// Forgets what is in use, so that it can be counted anew.
    pub(super) fn reset_use(&mut self) {
        self.resources = 0;
        self.weighted_resources = 0.0;
        self.hierarchical_resources = 0.0;
        self.counted = true;
    }
}

/// A real as it comes back from the log, which keeps six decimals.
#[inline]
pub(super) fn written(number: f64) -> f64 {
    // Mostly an integer: weights and sums of them.
    if number as i64 as f64 == number { number } else { with_six_decimals(number) }
}

fn with_six_decimals(number: f64) -> f64 {
    // Where the millionths are far from a tie, rounding them is exact, and their quotient is the nearest real as a reader
    // finds it; the error of the product is less than 2^-8.
    let millionths = number * 1e6;
    if millionths.abs() < (1_u64 << 44) as f64 {
        // By conversion, which is exact here and takes no call of a function of the C library.
        let whole = millionths as i64;
        let rest = millionths - whole as f64;
        if (rest.abs() - 0.5).abs() > 0.01 {
            let rounded = whole + i64::from(rest > 0.5) - i64::from(rest < -0.5);
            // What is negative stays negative, even if nothing is left of it.
            return (rounded as f64 / 1e6).copysign(number);
        }
    }
    if number.fract() == 0.0 || !number.is_finite() {
        return number;
    }
    format!("{number:.6}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn six_decimals_are_those_of_the_text(number in prop_oneof![
            -1.0..1.0_f64, -1e4..1e4_f64, -1e8..1e8_f64, -1e15..1e15_f64,
            // At ties and next to them.
            (-1_000_000_000_i64..1_000_000_000).prop_map(|half| (half as f64 + 0.5) / 1e6),
            (-1_000_000_000_i64..1_000_000_000).prop_map(|half| (half as f64 + 0.490_000_1) / 1e6),
        ]) {
            let text: f64 = format!("{number:.6}").parse().unwrap();
            prop_assert_eq!(written(number).to_bits(), text.to_bits());
        }
    }

    const DAY: f64 = 86400.0;

    fn after(start: f64, cores: f64, seconds: f64) -> f64 {
        let mut customer = Customer { priority: start, weighted_resources: cores, ..Customer::default() };
        customer.update(0, seconds, 0.5_f64.powf(seconds / DAY));
        customer.priority
    }

    /// The table of `docs/reference/accountant.md` 2, half-life one day.
    #[test]
    fn priorities_follow_use_with_the_half_life() {
        assert_eq!(after(0.5, 10.0, DAY), 5.25);
        assert_eq!(after(0.5, 100.0, 2.0 * DAY), 75.125);
        let idle: Vec<f64> = [1.0, 2.0, 3.0, 5.0].iter().map(|days| after(10.0, 0.0, days * DAY)).collect();
        assert_eq!(idle, [5.0, 2.5, 1.25, 0.5]);
        // 10 · 0.5^0.5 = 7.0710678, written with six decimals
        assert_eq!(after(10.0, 0.0, DAY / 2.0), 7.071_068);
    }

    proptest! {
        /// Decay over Δt is decay over any division of Δt, but for the six decimals that each step keeps.
        #[test]
        fn any_division_of_time_gives_the_same(
            start in 0.5_f64..1e6, cores in 0_u32..10_000, steps in prop::collection::vec(1_u32..200_000, 1..12)
        ) {
            let cores = f64::from(cores);
            let whole = after(start, cores, steps.iter().map(|step| f64::from(*step)).sum());
            let divided = steps.iter().fold(start, |priority, step| after(priority, cores, f64::from(*step)));
            // Rounding errs by half a unit of the sixth decimal a step, and decays with the rest.
            prop_assert!((whole - divided).abs() <= 1e-6 * steps.len() as f64 + 1e-9 * whole, "{whole} {divided}");
        }
    }

    #[test]
    fn the_result_does_not_depend_on_how_time_is_divided() {
        let whole = after(3.0, 7.0, DAY);
        let halves = after(after(3.0, 7.0, DAY / 2.0), 7.0, DAY / 2.0);
        assert!((whole - halves).abs() < 2e-6);
    }

    /// Updated at 1000, a match of weight 4 at 1030, update at 1100: 4·100 − 4·30 = 280 (`docs/reference/accountant.md` 4.3).
    #[test]
    fn a_match_is_charged_from_when_it_was_made() {
        let mut customer = Customer::default();
        customer.add(4.0, 30);
        assert_eq!((customer.uncharged, customer.weighted_uncharged), (-30, -120.0));
        customer.update(1100, 100.0, 1.0);
        assert_eq!((customer.accumulated, customer.weighted_accumulated), (70.0, Some(280.0)));
        assert_eq!((customer.uncharged, customer.weighted_uncharged), (0, 0.0));
        assert_eq!((customer.begin_usage, customer.last_usage), (1100, 1100));
    }

    #[test]
    fn weighted_usage_starts_at_the_unweighted_one() {
        let mut customer = Customer { accumulated: 50.0, ..Customer::default() };
        customer.update(10, 10.0, 1.0);
        assert_eq!(customer.weighted_accumulated, Some(50.0));
    }

    #[test]
    fn a_priority_is_never_below_one_half() {
        for priority in [0.3, -1.0, f64::NAN] {
            let customer = Customer { priority, ..Customer::default() };
            assert_eq!(customer.real_priority(), 0.5);
        }
    }

    #[test]
    fn the_log_keeps_six_decimals() {
        assert_eq!(written(1e-7), 0.0);
        assert_eq!(written(0.123_456_78), 0.123_457);
        assert_eq!(written(1e10), 1e10);
    }
}
