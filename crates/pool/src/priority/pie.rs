//! The arithmetic of the pie: shares, limits, starvation, the order of submitters.
//!
//! Numbers in, numbers out. Formula source: `docs/reference/negotiation.md` 7.2, 7.3.

use std::cmp::Ordering;

/// The modulus of the pseudo-random tie break between submitters.
pub const TIE_BREAK: i64 = 1009;

/// Shares of the pie, one for each entry of `(name, priority)`: (1/P) / Σ 1/P over distinct names.
///
/// Names are numbers below `names`; a name may appear several times and counts once. Priorities are
/// positive; lower gets more.
///
/// ```
/// use classmate_pool::internal::priority::pie::shares;
/// assert_eq!(shares(&[(0, 5.0), (1, 10.0), (2, 20.0)], 3), [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
/// ```
pub fn shares(entries: &[(usize, f64)], names: usize) -> Vec<f64> {
    let worst = entries.iter().fold(f64::MIN, |worst, (_, priority)| worst.max(*priority));
    let mut seen = vec![false; names];
    let mut normal = 0.0;
    for (name, priority) in entries {
        if !std::mem::replace(&mut seen[*name], true) {
            normal += worst / priority;
        }
    }
    entries.iter().map(|(_, priority)| worst / (priority * normal)).collect()
}

/// Bounds of a limit besides the share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Weighted slots of the pie: the pool, or the group's quota if that is less.
    pub pie: f64,
    /// Rest of the group's quota, if there is a group.
    pub group_left: Option<f64>,
    /// True if claimed slots may be matched.
    pub preemption: bool,
    /// True if shares are ignored.
    pub ignore_priorities: bool,
    /// The floor that bounds the limit in a floor round.
    pub floor: Option<i64>,
}

/// A submitter's limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubmitterLimits {
    /// Weighted slots in all.
    pub limit: f64,
    /// Limit for unclaimed slots, weighted.
    pub unclaimed: f64,
}

/// The current limits of a submitter: its share of the pie less its usage.
pub fn limits(share: f64, usage: f64, bounds: &Bounds) -> SubmitterLimits {
    let open = if bounds.ignore_priorities { f64::MAX } else { share * bounds.pie - usage };
    let mut limit = open.max(0.0);
    let mut unclaimed = limit;
    if let Some(left) = bounds.group_left {
        // HTCondor computes this difference in single precision.
        unclaimed = unclaimed.min(f64::from(left as f32).max(0.0));
    }
    if !bounds.preemption {
        limit = unclaimed;
    }
    if let Some(floor) = bounds.floor {
        limit = limit.min(floor as f64);
    }
    SubmitterLimits { limit, unclaimed }
}

/// Fraction of its limit that a submitter uses: 0 none, 1 all; `f32::MAX` without limit and usage.
pub fn starvation(usage: f64, limit: f64) -> f64 {
    if usage + limit > 0.0 { usage / (usage + limit) } else { f64::from(f32::MAX) }
}

/// Room below a ceiling (negative: none), in whole weighted slots.
pub fn below_ceiling(ceiling: i64, usage: f64) -> f64 {
    if ceiling < 0 { f64::from(i32::MAX) } else { (ceiling as f64 - usage.trunc()).max(0.0) }
}

/// Returns whether a slot of weight `cost` may be taken after `used` of `allowed`.
///
/// The first slot of a turn may be heavier than the allowance, if there is any; without this rule, remainders smaller
/// than a slot would never be used.
pub fn permits(cost: f64, used: f64, allowed: f64) -> bool {
    used + cost <= allowed || (used <= 0.0 && allowed > 0.0)
}

/// Sort key of submitters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SubmitterOrderKey {
    /// Effective priority; smaller first.
    pub priority: f64,
    /// The priority of the requested jobs, with `USE_GLOBAL_JOB_PRIOS`; larger first, none last.
    pub job_prio: Option<i64>,
    /// See [`starvation`]; smaller first.
    pub starvation: f64,
    /// Time of the submitter's last update, epoch seconds: a pseudo-random tie break.
    pub last_heard: i64,
}

impl SubmitterOrderKey {
    /// The order in which submitters are served; up to 16 that compare equal stay in order of arrival.
    pub fn compare(&self, other: &Self) -> Ordering {
        let by = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        by(self.priority, other.priority)
            .then(other.job_prio.cmp(&self.job_prio))
            .then(by(self.starvation, other.starvation))
            .then((self.last_heard % TIE_BREAK).cmp(&(other.last_heard % TIE_BREAK)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Bounds =
        Bounds { pie: 30.0, group_left: None, preemption: true, ignore_priorities: false, floor: None };

    #[test]
    fn a_name_with_ads_at_several_access_points_counts_once() {
        // A (priority 1) twice, B (priority 1): each has one half.
        assert_eq!(shares(&[(0, 1.0), (1, 1.0), (0, 1.0)], 2), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn a_limit_is_the_share_less_the_usage() {
        assert_eq!(limits(0.5, 4.0, &OPEN), SubmitterLimits { limit: 11.0, unclaimed: 11.0 });
        assert_eq!(limits(0.5, 20.0, &OPEN), SubmitterLimits { limit: 0.0, unclaimed: 0.0 });
    }

    #[test]
    fn a_group_bounds_what_is_unclaimed_only_if_preemption_is_considered() {
        let group = Bounds { group_left: Some(3.0), ..OPEN };
        assert_eq!(limits(0.5, 0.0, &group), SubmitterLimits { limit: 15.0, unclaimed: 3.0 });
        let idle_only = Bounds { preemption: false, ..group };
        assert_eq!(limits(0.5, 0.0, &idle_only), SubmitterLimits { limit: 3.0, unclaimed: 3.0 });
        let over = Bounds { group_left: Some(-2.0), ..OPEN };
        assert_eq!(limits(0.5, 0.0, &over).unclaimed, 0.0);
    }

    #[test]
    fn a_floor_bounds_the_limit_but_not_what_is_unclaimed() {
        let floor = Bounds { floor: Some(5), ..OPEN };
        assert_eq!(limits(0.5, 0.0, &floor), SubmitterLimits { limit: 5.0, unclaimed: 15.0 });
    }

    #[test]
    fn without_priorities_there_is_no_limit() {
        assert_eq!(limits(0.5, 9.0, &Bounds { ignore_priorities: true, ..OPEN }).limit, f64::MAX);
    }

    #[test]
    fn starvation_is_the_served_fraction() {
        assert_eq!(starvation(6.0, 2.0), 0.75);
        assert_eq!(starvation(0.0, 0.0), f64::from(f32::MAX));
    }

    #[test]
    fn ceilings_count_whole_slots() {
        assert_eq!(below_ceiling(12, 11.9), 1.0);
        assert_eq!(below_ceiling(12, 13.0), 0.0);
        assert_eq!(below_ceiling(-1, 1e6), 2_147_483_647.0);
    }

    #[test]
    fn the_first_slot_of_a_turn_may_be_too_heavy() {
        assert!(permits(8.0, 0.0, 0.33));
        assert!(!permits(8.0, 0.0, 0.0));
        assert!(!permits(8.0, 8.0, 10.67));
        assert!(permits(8.0, 2.0, 10.0));
    }

    #[test]
    fn submitters_are_ordered_by_priority_then_starvation_then_a_tie_break() {
        let key =
            |priority, starvation, last_heard| SubmitterOrderKey { priority, job_prio: None, starvation, last_heard };
        assert_eq!(key(1.0, 9.0, 5).compare(&key(2.0, 0.0, 0)), Ordering::Less);
        assert_eq!(key(1.0, 0.5, 0).compare(&key(1.0, 0.4, 9)), Ordering::Greater);
        // 1010 mod 1009 = 1 comes before 2.
        assert_eq!(key(1.0, 0.5, 1010).compare(&key(1.0, 0.5, 2)), Ordering::Less);
        assert_eq!(key(1.0, 0.5, 1010).compare(&key(1.0, 0.5, 1)), Ordering::Equal);
        let asking = |job_prio, starvation| SubmitterOrderKey { job_prio, ..key(1.0, starvation, 0) };
        assert_eq!(asking(Some(7), 0.9).compare(&asking(Some(5), 0.1)), Ordering::Less);
        assert_eq!(asking(None, 0.1).compare(&asking(Some(-5), 0.9)), Ordering::Greater);
    }
}
