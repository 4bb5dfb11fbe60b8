//! The decisions of a cycle, with their reasons.
//!
//! Plain data that can be serialized; the names of its fields are the names in `--format json`.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::negotiate::candidate::PreemptState;
use crate::negotiate::summary::SubmitterSummary;
use crate::priority::{End, Passed};
use crate::queue::JobId;
use crate::quota::summary::GroupSummary;
use classmate::internal::ad::ClassAd;
use classmate::internal::text::Text;

/// Slots that are equal on every key are counted up to this number: far more than make the order in `condor_negotiator`
/// arbitrary, whose sort is not stable (`docs/reference/negotiation.md` 10.6).
pub const MAX_TIED: usize = 1024;

/// The decisions of a cycle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The result for each submitter: first those negotiated with, in the order of their first turn, then the others.
    pub submitters: Vec<SubmitterSummary>,
    /// Matches in the order in which they were made.
    pub matches: Vec<Match>,
    /// Rejections in the order in which they were made.
    pub rejections: Vec<Rejected>,
    /// Visits to submitters with idle jobs, in order.
    pub negotiations: Vec<Negotiation>,
    /// Passes over all submitters, in order.
    pub pies: Vec<Pie>,
    /// The groups; empty without group quotas.
    pub groups: Vec<GroupSummary>,
    /// Counts over the whole cycle.
    pub statistics: Statistics,
    /// Notes on skipped ads, and warnings about settings that have no effect; one sentence or line each.
    pub quirks: Vec<String>,
}

/// The ad that a policy made for one way to run a job, if it made one. It is not compared: matches that differ only in
/// it are equal.
#[derive(Debug, Clone, Default)]
pub struct Candidacy(pub Option<Arc<ClassAd>>);

impl PartialEq for Candidacy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A job and the slot that it was matched to. The job starts there unless `offline` or `unused` is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Match {
    /// The job.
    pub job: JobId,
    /// The access point that the job names; each numbers its jobs on its own.
    #[serde(skip)]
    pub schedd: Option<Text>,
    /// Position of the represented job among those waiting in its queue, 0 for the oldest, if more jobs wait there than
    /// the cycle was given; `None`: the job itself.
    #[serde(skip)]
    pub place: Option<usize>,
    /// The cluster of the request: that of its first job, as in the log of `condor_negotiator`.
    pub cluster: i64,
    /// The submitter.
    pub submitter: String,
    /// The slot.
    pub slot: String,
    /// The ground on which the match takes the slot: unclaimed, or preemption by rank or by priority.
    pub preempting: PreemptState,
    /// The user whose job is preempted; `various_dSlot_users` if dynamic slots are. `None` if no job is preempted.
    pub displaced: Option<String>,
    /// Names of the dynamic slots that are preempted to make room for the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
    /// True if the slot is offline: the match only wakes it, and the job waits for another cycle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    /// True if the access point does not use the slot, so that the job stays idle: it gets no claim, because the slot is
    /// offline or has `WantClaiming = false`, or it has no idle job that fits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unused: bool,
    /// Concurrency limits that the match holds, in lower case: those of the job, or else of the slot; `None` if neither
    /// has any.
    pub limits: Option<String>,
    /// Slot weight charged.
    pub weight: f64,
    /// The ad by which the job was queued, if the policy made one for it.
    #[serde(skip)]
    pub candidacy: Candidacy,
    /// Number of the pie in the cycle, from 1.
    pub pie: u32,
    /// Number of the pie spin, a pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; `None` without groups.
    pub group: Option<String>,
}

/// A rejected request, with the reason it got no slot, or no further one. A request is a run of like jobs of a submitter and
/// is known by its first job, which may be matched itself: why a single job is idle is said by `explain_job` of the crate
/// `classmate-advice`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rejected {
    /// The first job of the request, which identifies it; it may be matched itself while others of the request are not.
    pub job: JobId,
    /// The access point that the job names.
    #[serde(skip)]
    pub schedd: Option<Text>,
    /// Jobs of the request that are not matched.
    pub jobs: usize,
    /// The submitter.
    pub submitter: String,
    /// The reason, in the words of `condor_negotiator` where it has such a reason.
    pub reason: String,
    /// The reason as a value.
    pub rejection: Rejection,
    /// The verdicts on slots, counted.
    pub slots: Tally,
    /// Number of the pie in the cycle, from 1.
    pub pie: u32,
    /// Number of the pie spin, a pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; `None` without groups.
    pub group: Option<String>,
}

/// The reason a request got no slot: the first that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rejection {
    /// A concurrency limit is reached.
    ConcurrencyLimit,
    /// A slot in use matches, but `PREEMPTION_REQUIREMENTS` is not true.
    PreemptionRequirements,
    /// A slot matches, but weighs more than the submitter may still take.
    SubmitterLimit,
    /// No slot is suitable, for any other reason; also if the share is used up ([`Tally::beyond_share`]) or no slot is left.
    /// `condor_negotiator` does not tell these apart.
    NoMatch,
    /// The policy did not offer the jobs to slots because of a limit of their site.
    SiteLimit,
    /// The policy looks for jobs for slots, and no slot looked at these.
    NotRequested,
    /// The policy looks for jobs for slots, and other jobs were drawn.
    NotDrawn,
}

impl Rejection {
    /// The reason in the words of `condor_negotiator`, with the concurrency limits or the limits of sites that are reached.
    pub fn reason(self, reached: &[String]) -> String {
        match self {
            Self::ConcurrencyLimit => format!("concurrency limit {} reached", reached.join(", ")),
            Self::PreemptionRequirements => "PREEMPTION_REQUIREMENTS == False".to_owned(),
            Self::SubmitterLimit => "submitter limit exceeded".to_owned(),
            Self::NoMatch => "no match found".to_owned(),
            Self::SiteLimit => match reached {
                [first, _, rest @ ..] => format!("held by {first} and {} more", rest.len() + 1),
                _ => format!("held by {}", reached.concat()),
            },
            Self::NotRequested => "no slot requested it".to_owned(),
            Self::NotDrawn => "other jobs were drawn".to_owned(),
        }
    }
}

/// The verdicts on the slots considered for a request, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tally {
    /// Slots that were left in the list when candidates were searched.
    pub considered: usize,
    /// Not reachable from the access point, claimed by another one, or available only through their partitionable slot.
    pub unreachable: usize,
    /// Rejected by the job's Requirements.
    pub refused_by_job: usize,
    /// Accepted by the job, but rejected by their own Requirements; or rejected by their consumption policy.
    pub refused_by_slot: usize,
    /// In use by the same submitter, without a higher Rank for the new job.
    pub used_by_submitter: usize,
    /// In use, and `PREEMPTION_REQUIREMENTS` is not true.
    pub preemption_not_required: usize,
    /// In use, and their `Rank` of the job is not at least their `CurrentRank`.
    pub prefers_its_job: usize,
    /// Unclaimed, or without preference for the job over the one they run, when the submitter has reached its limit and
    /// may take only slots that prefer its job.
    pub beyond_share: usize,
    /// Heavier than the rest of the submitter limit.
    pub over_limit: usize,
    /// Rejected because a concurrency limit is reached. If the limit does not depend on the slot, a request is usually
    /// rejected before slots are evaluated.
    pub over_concurrency_limit: usize,
    /// Suitable.
    pub suitable: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.considered += other.considered;
        self.unreachable += other.unreachable;
        self.refused_by_job += other.refused_by_job;
        self.refused_by_slot += other.refused_by_slot;
        self.used_by_submitter += other.used_by_submitter;
        self.preemption_not_required += other.preemption_not_required;
        self.prefers_its_job += other.prefers_its_job;
        self.beyond_share += other.beyond_share;
        self.over_limit += other.over_limit;
        self.over_concurrency_limit += other.over_concurrency_limit;
        self.suitable += other.suitable;
    }
}

/// A visit to a submitter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Negotiation {
    /// The submitter.
    pub submitter: String,
    /// Its access point.
    pub schedd: String,
    /// Its priority; lower is better.
    pub priority: f64,
    /// Its fraction of the pie.
    pub share: f64,
    /// Submitter limit, in weighted slots.
    pub limit: f64,
    /// Weighted slots by which the limit was cut because the pie is used up.
    pub starved: f64,
    /// The reason it was passed over; `None` if it was served.
    pub passed: Option<Passed>,
    /// The end of its turn: `Resume` if it stays in the pie, `Done` if it leaves.
    pub end: End,
    /// Number of the pie in the cycle, from 1.
    pub pie: u32,
    /// Number of the pie spin, a pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; `None` without groups.
    pub group: Option<String>,
}

/// A pass over all submitters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pie {
    /// Number of the pie in the cycle, from 1.
    pub pie: u32,
    /// Number of the pie spin, from 1.
    pub spin: u32,
    /// Weighted slots left to deal at its start.
    pub pie_left: f64,
    /// The group negotiated for; `None` without groups.
    pub group: Option<String>,
}

/// Counts over a cycle, like those in the negotiator ad.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Slots that take part, before any are left out of matchmaking.
    pub total_slots: usize,
    /// Slots left to match when the negotiation loop began.
    pub trimmed_slots: usize,
    /// Candidate slots: with group quotas those that count for the size of the pool, otherwise the same as
    /// `trimmed_slots`.
    pub candidate_slots: usize,
    /// Weighted slots of the pool.
    pub pool_weight: f64,
    /// Access points negotiated with.
    pub schedulers: usize,
    /// Submitters negotiated with.
    pub active_submitters: usize,
    /// Idle jobs of submitters when first negotiated with.
    pub idle_jobs: i64,
    /// Requests considered; a request for several jobs counts again for each further job.
    pub jobs_considered: u64,
    /// Autoclusters in the queue.
    pub autoclusters: usize,
    /// Matches.
    pub matches: usize,
    /// Rejections.
    pub rejections: usize,
    /// The largest number of slots that were equal on every key in a search, up to 1024 (`MAX_TIED`): ties go to the slot
    /// that comes first.
    pub largest_tie: usize,
    /// Pies dealt.
    pub pies: u32,
    /// Pie spins (passes over the submitters) in all pies.
    pub pie_spins: usize,
    /// Submitters that reached their limit with jobs left to serve, alphabetically.
    pub submitters_share_limit: Vec<String>,
}
