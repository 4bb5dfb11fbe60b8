//! The order in which jobs are looked at.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 2.6.

use std::cmp::{Ordering, Reverse};

/// Sort key of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobOrderKey<I> {
    /// `PriorityTier` of the partition; higher first.
    pub tier: u16,
    /// The priority in the partition; higher first. Jobs with 0 are not looked at.
    pub priority: u32,
    /// Submission time, epoch seconds; earlier first.
    pub submitted: i64,
    /// Its number; lower first.
    pub id: I,
}

impl<I: Ord> JobOrderKey<I> {
    /// Compares two jobs by the order of service.
    ///
    /// ```
    /// use classmate_pool::internal::priority::slurm::order::JobOrderKey;
    /// let low = JobOrderKey { tier: 2, priority: 5, submitted: 0, id: 1 };
    /// let high = JobOrderKey { tier: 1, priority: 900, submitted: 0, id: 2 };
    /// assert!(low.compare(&high).is_lt());
    /// ```
    pub fn compare(&self, other: &Self) -> Ordering {
        let first = |key: &Self| (Reverse(key.tier), Reverse(key.priority), key.submitted);
        first(self).cmp(&first(other)).then_with(|| self.id.cmp(&other.id))
    }
}
