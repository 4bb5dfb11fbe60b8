//! Choice of the policy of a cycle: the one place where a choice becomes an object.
//!
//! In: the choice with its settings, and the pool at the beginning of a cycle. Out: the policy, not charged yet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::dirac::{
    DiracChoice, DiracPriority, MAX_QUEUE_JOBS, Past, SplitMix64, TaskRequirements, distinguishing_request,
};
use super::ranking::{OrderedBy, ServiceOrder};
use super::slurm::ranking::ranking;
use super::slurm::{SlurmPriority, SlurmSettings};
use super::{CondorPriority, PriorityPolicy};
use crate::accountant::factor::FactorRules;
use crate::accountant::{Accountant, AccountantLog, GroupOf};
use crate::pool::Slot;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::knobs::NegotiatorKnobs;

/// The choice of a policy, with what it reads from files of its own.
///
/// ```
/// use classmate_pool::Policy;
/// assert_eq!(Policy::default(), Policy::Condor);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// `HTCondor`'s user priorities: a pie dealt in spins.
    #[default]
    Condor,
    /// DIRAC's job shares: slots draw lots among task queues.
    Dirac(DiracChoice),
    /// Slurm's multifactor priority: a total order of jobs.
    Slurm(Box<SlurmSettings>),
}

/// Service of jobs that differ only in their age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDiscipline {
    /// True if the state of each job in earlier cycles decides.
    pub remembers: bool,
    /// True if one job stands for those behind it: only the oldest of each queue has to be listed.
    pub stands: bool,
    /// Length of the queues, the oldest jobs in the first, of which the policy chooses by position; none if all jobs
    /// are in one queue and the oldest starts.
    pub queue: Option<usize>,
}

/// A pool at the beginning of a cycle, as far as policies need it.
#[derive(Clone)]
pub struct Opening<'o> {
    /// The accountant's log, if there is one.
    pub log: Option<&'o AccountantLog>,
    /// True if submitters that are equal in everything else keep their order.
    pub in_order: bool,
    /// The settings of the cycle.
    pub knobs: &'o NegotiatorKnobs,
    /// Maps a submitter to its group.
    pub groups: Arc<dyn GroupOf + Send + Sync>,
    /// The quota of a group in slots, if it has a static one.
    pub quota: &'o dyn Fn(&[u8]) -> Option<f64>,
    /// The slots that take part.
    pub slots: &'o [Slot],
    /// The ads of all jobs.
    pub jobs: &'o [ClassAd],
    /// Clock and seed.
    pub settings: &'o EvalOptions,
}

/// The seed of a cycle of many: cycles of one seed draw different lots, and those of the next seed others again.
///
/// ```
/// use classmate_pool::internal::priority::seed_of_cycle;
/// assert_eq!(seed_of_cycle(7, 3), seed_of_cycle(7, 0) + 3);
/// assert!(seed_of_cycle(7, 1).abs_diff(seed_of_cycle(8, 0)) > 1_000_000);
/// ```
pub fn seed_of_cycle(seed: u64, cycle: u64) -> u64 {
    SplitMix64::new(seed).next_u64().wrapping_add(cycle)
}

impl Policy {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Condor => "condor",
            Self::Dirac(_) => "dirac",
            Self::Slurm(_) => "slurm",
        }
    }

    /// Returns whether usage is charged to the accountant's log.
    pub fn uses_accountant(&self) -> bool {
        matches!(self, Policy::Condor)
    }

    /// Returns whether the policy keeps usage from cycle to cycle once it is open. Others are opened anew for every
    /// cycle.
    pub fn is_stateful(&self) -> bool {
        matches!(self, Policy::Condor | Policy::Slurm(_))
    }

    /// Service of jobs that differ only in their age.
    ///
    /// ```
    /// use classmate_pool::internal::priority::{QueueDiscipline, Policy};
    /// let oldest_first = QueueDiscipline { remembers: false, stands: false, queue: None };
    /// assert_eq!(Policy::Condor.queue_discipline(), oldest_first);
    /// ```
    pub fn queue_discipline(&self) -> QueueDiscipline {
        match self {
            Self::Condor => QueueDiscipline { remembers: false, stands: false, queue: None },
            Self::Dirac(_) => QueueDiscipline { remembers: false, stands: true, queue: Some(MAX_QUEUE_JOBS) },
            // A priority that never sinks remembers every cycle in which the job waited.
            Self::Slurm(settings) => {
                QueueDiscipline { remembers: settings.conf().flags.increase_only, stands: true, queue: None }
            }
        }
    }

    /// Returns whether the policy reads the history of jobs from their ads.
    pub fn asks_history(&self) -> bool {
        match self {
            Self::Condor | Self::Slurm(_) => false,
            Self::Dirac(choice) => {
                let settings = choice.settings();
                let limited = !settings.running_limits.is_empty() || !settings.matching_delays.is_empty();
                settings.correct || limited
            }
        }
    }

    /// The part of the requested memory (MB, 0 if not given) and time (seconds) that the policy distinguishes, all else
    /// being equal and every slot accepting every job: jobs for which it is equal are served equally, the oldest first.
    ///
    /// ```
    /// use classmate_pool::internal::priority::{Policy, dirac::DiracChoice};
    /// let dirac = Policy::Dirac(DiracChoice::default());
    /// assert_eq!(dirac.distinguishing_request(500, Some(1000)), dirac.distinguishing_request(900, Some(1800)));
    /// assert_ne!(dirac.distinguishing_request(500, Some(1000)), dirac.distinguishing_request(500, Some(1801)));
    /// assert_eq!(Policy::Condor.distinguishing_request(500, Some(1000)), (0, None));
    /// ```
    pub fn distinguishing_request(&self, memory: u32, time: Option<i64>) -> (u32, Option<i64>) {
        match self {
            Self::Condor => (0, None),
            Self::Dirac(choice) => distinguishing_request(choice.settings(), memory, time),
            Self::Slurm(settings) => {
                let conf = settings.conf();
                let by_time = conf.weights.job_size != 0 && conf.flags.small_relative_to_time;
                // A bill may be one for memory.
                let by_memory = ["mem", "billing"].iter().any(|name| conf.tres_weights.of(name) != 0.0);
                (if by_memory { memory } else { 0 }, time.filter(|_| by_time))
            }
        }
    }

    /// Returns whether a second of a slot in use may cost something other than its weight.
    pub fn has_prices(&self) -> bool {
        match self {
            Self::Condor | Self::Dirac(_) => false,
            Self::Slurm(settings) => {
                settings.conf().partitions.iter().any(|partition| partition.billing.is_some())
                    || settings.files().qos.iter().any(|qos| qos.usage_factor != 1.0)
            }
        }
    }

    /// An empty history of runs, for a policy that reads it and is opened anew for every cycle.
    pub fn past(&self) -> Option<Past> {
        match self {
            Self::Dirac(choice) if self.asks_history() => Some(Past::new(choice.settings())),
            _ => None,
        }
    }

    /// The kind of order of its jobs.
    pub fn key(&self) -> OrderedBy {
        match self {
            Self::Condor => OrderedBy::Submitters,
            Self::Dirac(_) => OrderedBy::Lots,
            Self::Slurm(_) => OrderedBy::Jobs,
        }
    }

    /// The order in which jobs of a pool are served, with the rank of each job under a policy that orders jobs.
    pub fn ranking(&self, slots: &[ClassAd], jobs: &[ClassAd], settings: &EvalOptions) -> ServiceOrder {
        match self {
            Self::Condor => ServiceOrder::Submitters,
            Self::Dirac(choice) => ServiceOrder::Lots(Arc::new(TaskRequirements::new(choice.settings()))),
            Self::Slurm(slurm) => ranking(slurm, slots, jobs, settings),
        }
    }

    /// The policy over a pool, with a recorded history of jobs that ran; without it, the history is read from their
    /// ads.
    pub fn open(&self, opening: &Opening<'_>, past: Option<&Past>) -> Box<dyn PriorityPolicy> {
        match self {
            Self::Condor => {
                let factors = FactorRules::new(&opening.knobs.accountant);
                let accountant = match opening.log {
                    Some(log) => {
                        let mut accountant = Accountant::from_log(log, factors);
                        accountant.recount_records(log, &*opening.groups);
                        accountant
                    }
                    None => Accountant::new(factors),
                };
                let policy = CondorPriority::new(accountant, Arc::clone(&opening.groups), opening.knobs);
                Box::new(policy.in_order(opening.in_order))
            }
            Self::Dirac(choice) => Box::new(DiracPriority::new(choice.settings(), opening, past)),
            Self::Slurm(settings) => Box::new(SlurmPriority::new(settings, opening)),
        }
    }
}
