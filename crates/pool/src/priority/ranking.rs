//! The order of service of a policy: by submitters, by lots, or by a priority of each job.
//!
//! The interface of a policy for explanations of a cycle.

use std::fmt::Debug;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::Serialize;

use crate::queue::JobId;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;

/// The requirements of a policy for a job and a slot beside the Requirements of both.
pub trait PolicyRequirements: Debug + Send + Sync {
    /// For each slot, the attribute of the job by which the policy does not give it to the job; none if it may.
    fn unmet(&self, job: &ClassAd, slots: &[&ClassAd], settings: &EvalOptions) -> Vec<Option<&'static str>>;
}

/// The reason a policy does not serve a job yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldBack {
    /// The kind of the reason.
    pub until: HeldUntil,
    /// The reason as the scheduler lists it, if it does.
    pub listed: Option<String>,
}

/// The event for which a job that is not served yet waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldUntil {
    /// Its release: its priority is 0.
    Released,
    /// The time at which it may begin, epoch seconds.
    Time(i64),
    /// A time at which it may begin, which it does not have, as one that depends on other jobs.
    Known,
}

/// Rank of a job in an order of all jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobRank {
    /// Its partition.
    pub partition: String,
    /// `PriorityTier` of the partition; the highest goes first.
    pub tier: u16,
    /// The priority; the highest goes first.
    pub priority: u32,
    /// Submission time, epoch seconds; the earliest goes first.
    pub submitted: i64,
    /// The factors times their weights, whose sum it is.
    pub factors: Vec<(&'static str, f64)>,
    /// The reason it is not served yet; none if it is.
    pub held_back: Option<HeldBack>,
}

/// The order of jobs.
#[derive(Debug, Clone, Default)]
pub enum ServiceOrder {
    /// Priority of their submitters, a pie dealt in spins.
    #[default]
    Submitters,
    /// Lots among task queues.
    Lots(Arc<dyn PolicyRequirements>),
    /// A priority of each job.
    Jobs {
        /// Ranks by job ID, each in the partition of its best rank.
        ranks: HashMap<JobId, JobRank>,
        /// The partitions that slots are in, by the name of the slot, in lower case.
        partitions: HashMap<String, Vec<String>>,
    },
}

impl ServiceOrder {
    /// Rank of a job, if jobs are ordered.
    pub fn rank(&self, job: JobId) -> Option<&JobRank> {
        match self {
            Self::Jobs { ranks, .. } => ranks.get(&job),
            _ => None,
        }
    }

    /// The requirements of the policy for a job and a slot beside their Requirements, if it has some.
    pub fn requirements(&self) -> Option<&dyn PolicyRequirements> {
        match self {
            Self::Lots(requirements) => Some(&**requirements),
            _ => None,
        }
    }

    /// The reason a job is not served yet, if it is not.
    pub fn held_back(&self, job: JobId) -> Option<&HeldBack> {
        self.rank(job)?.held_back.as_ref()
    }

    /// The partition of a job, and the number of given slots outside it; none without a partition.
    pub fn elsewhere<'n>(&self, job: JobId, names: impl Iterator<Item = &'n String>) -> Option<(&str, usize)> {
        let Self::Jobs { ranks, partitions } = self else { return None };
        let rank = ranks.get(&job).filter(|rank| !rank.partition.is_empty())?;
        let lists = |name: &&String| {
            partitions.get(*name).is_some_and(|of| of.iter().any(|one| one.eq_ignore_ascii_case(&rank.partition)))
        };
        Some((&rank.partition, names.filter(|name| !lists(name)).count()))
    }
}

/// The kind of an order, without the order itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderedBy {
    /// Priority of their submitters.
    Submitters,
    /// Lots among task queues.
    Lots,
    /// A priority of each job.
    Jobs,
}
