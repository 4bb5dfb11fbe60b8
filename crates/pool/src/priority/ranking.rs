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

impl Order {
    /// Whether the visits of a cycle tell which submitter goes first.
    pub fn is_of_submitters(&self) -> bool {
        matches!(self, Self::Submitters)
    }

    /// How a job stands, if jobs are ordered.
    pub fn rank(&self, job: &str) -> Option<&Rank> {
        match self {
            Self::Jobs { ranks, .. } => ranks.get(job),
            _ => None,
        }
    }

    /// How many of some slots are not in the partition of a job, and the partition; none if there is none.
    pub fn elsewhere<'n>(&self, job: &str, names: impl Iterator<Item = &'n String>) -> Option<(&str, usize)> {
        let Self::Jobs { ranks, partitions } = self else { return None };
        let rank = ranks.get(job).filter(|rank| !rank.partition.is_empty())?;
        let lists = |name: &&String| {
            partitions.get(*name).is_some_and(|of| of.iter().any(|one| one.eq_ignore_ascii_case(&rank.partition)))
        };
        Some((&rank.partition, names.filter(|name| !lists(name)).count()))
    }
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
