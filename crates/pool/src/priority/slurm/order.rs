//! The order in which jobs are looked at.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 2.6.

use std::cmp::{Ordering, Reverse};

/// What jobs are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderKey<I> {
    /// `PriorityTier` of the partition; higher first.
    pub tier: u16,
    /// The priority in the partition; higher first. Jobs with 0 are not looked at.
    pub priority: u32,
    /// When it was submitted, epoch seconds; earlier first.
    pub submitted: i64,
    /// Its number; lower first.
    pub id: I,
}

impl<I: Ord> OrderKey<I> {
    /// Which of two jobs goes first.
    ///
    /// ```
    /// use classmate_pool::internal::priority::slurm::order::OrderKey;
    /// let low = OrderKey { tier: 2, priority: 5, submitted: 0, id: 1 };
    /// let high = OrderKey { tier: 1, priority: 900, submitted: 0, id: 2 };
    /// assert!(low.compare(&high).is_lt());
    /// ```
    pub fn compare(&self, other: &Self) -> Ordering {
        let first = |key: &Self| (Reverse(key.tier), Reverse(key.priority), key.submitted);
        first(self).cmp(&first(other)).then_with(|| self.id.cmp(&other.id))
    }
}
