//! In which order a policy serves: by submitters, by lots, or by a priority of each job.
//!
//! What those who explain a cycle ask the policy for, and all they know of it.

use hashbrown::HashMap;
use serde::Serialize;

/// How a job stands in an order of all jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rank {
    /// Its partition.
    pub partition: String,
    /// `PriorityTier` of the partition; the highest goes first.
    pub tier: u16,
    /// The priority; the highest goes first.
    pub priority: u32,
    /// When it was submitted, epoch seconds; the earliest goes first.
    pub submitted: i64,
    /// The factors times their weights, whose sum it is.
    pub factors: Vec<(&'static str, f64)>,
}

/// By what jobs are ordered.
#[derive(Debug, Clone, Default)]
pub enum Order {
    /// By the priority of their submitters, a pie dealt in spins.
    #[default]
    Submitters,
    /// By lots among task queues.
    Lots,
    /// By a priority of each job.
    Jobs {
        /// By the number of the job, in the partition where it stands best.
        ranks: HashMap<String, Rank>,
        /// The partitions that slots are in, by the name of the slot, in lower case.
        partitions: HashMap<String, Vec<String>>,
    },
}

/// By what jobs are ordered, without the order itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// By the priority of their submitters.
    Submitters,
    /// By lots among task queues.
    Lots,
    /// By a priority of each job.
    Jobs,
}
