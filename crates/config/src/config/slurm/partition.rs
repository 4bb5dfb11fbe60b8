//! A partition of `slurm.conf`.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 6.1.

use serde::{Deserialize, Serialize};

use super::{Duration, HostList, TresWeights};

/// A partition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Its name, as written.
    pub name: String,
    /// `PriorityJobFactor`, or `Priority`.
    pub job_factor: u16,
    /// `PriorityTier`, or `Priority`; jobs of a higher tier go first.
    pub tier: u16,
    /// `TRESBillingWeights`; none: allocated CPUs are billed.
    pub billing: Option<TresWeights>,
    /// `MaxTime`: the time limit of jobs that have none.
    pub max_time: Duration,
    /// `Nodes`.
    pub nodes: HostList,
    /// `Default`: where jobs go that name no partition.
    pub default: bool,
}

impl Partition {
    /// A partition of which only the name is known.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Partition;
    /// assert_eq!(Partition::named("batch").job_factor, 1);
    /// ```
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            job_factor: 1,
            tier: 1,
            billing: None,
            max_time: Duration::Infinite,
            nodes: HostList::default(),
            default: false,
        }
    }
}
