//! The size of the pool that is shared.
//!
//! Formula source: `docs/reference/negotiation.md` 5. Claimed slots count: the pie is the whole pool.

use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;

/// The size of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolSize {
    /// Number of slots that count.
    pub slots: usize,
    /// The sum of their weights; their number if slots are not weighted.
    pub weight: f64,
    /// Their number, with each partitionable slot counted by its cores.
    pub effective: f64,
    /// The smallest weight of all slots, including those that do not count; `f64::MAX` without slots.
    pub smallest_weight: f64,
}

impl PoolSize {
    /// Sums up the slots; those for which the constraint does not hold count only for the smallest weight.
    pub fn of(slots: &[Slot], constraint: Option<&Expr>, weighted: bool, settings: &EvalOptions) -> Self {
        let mut size = Self { slots: 0, weight: 0.0, effective: 0.0, smallest_weight: f64::MAX };
        for slot in slots {
            let weight = slot.weight * slot.ghosts;
            size.smallest_weight = size.smallest_weight.min(weight);
            if constraint.is_none_or(|constraint| Scope::new(&slot.ad, settings).holds(constraint)) {
                size.slots += 1;
                size.weight += weight;
                size.effective += if slot.partitionable {
                    AdReader::of(&slot.ad, settings).number("Cpus").unwrap_or(0.0)
                } else {
                    1.0
                };
            }
        }
        if !weighted {
            size.weight = size.slots as f64;
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::slot::Weighing;
    use classmate::internal::ad::ClassAd;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn pool() -> Vec<Slot> {
        let ads = [
            "[Name = \"a\"; SlotWeight = 8; PartitionableSlot = true; Cpus = 8]",
            "[Name = \"b\"; SlotWeight = 1; Cpus = 1; State = \"Claimed\"]",
            "[Name = \"c\"; SlotWeight = 0.5; Cpus = 1; GhostMultiplier = 3]",
        ];
        let weighing = Weighing { weighted: true, default: None, forced: false };
        let slot = |ad: &&str| Slot::new(ClassAd::parse(ad.as_bytes()).unwrap(), &weighing, &EvalOptions::default());
        ads.iter().filter_map(slot).collect()
    }

    #[test]
    fn busy_slots_count_and_ghosts_multiply() {
        // 8 + 1 + 0.5·3 = 10.5; 8 cores + 2 slots = 10
        let size = PoolSize::of(&pool(), None, true, &EvalOptions::default());
        assert_eq!(size, PoolSize { slots: 3, weight: 10.5, effective: 10.0, smallest_weight: 1.0 });
        assert_eq!(PoolSize::of(&pool(), None, false, &EvalOptions::default()).weight, 3.0);
    }

    #[test]
    fn a_constraint_bounds_the_sums_but_not_the_smallest_weight() {
        let constraint = parse_expr(b"Cpus > 4", &ParseOptions::default()).unwrap();
        let size = PoolSize::of(&pool(), Some(&constraint), true, &EvalOptions::default());
        assert_eq!(size, PoolSize { slots: 1, weight: 8.0, effective: 8.0, smallest_weight: 1.0 });
        let nobody = parse_expr(b"Cpus > 40", &ParseOptions::default()).unwrap();
        assert_eq!(PoolSize::of(&pool(), Some(&nobody), true, &EvalOptions::default()).weight, 0.0);
    }

    #[test]
    fn an_empty_pool_has_no_smallest_slot() {
        assert_eq!(PoolSize::of(&[], None, true, &EvalOptions::default()).smallest_weight, f64::MAX);
    }
}
