//! What a cycle decided, and why.
//!
//! Plain data that serialises; the names of its fields are the names in `--format json`.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::negotiate::candidate::PreemptState;
use crate::negotiate::summary::SubmitterSummary;
use crate::priority::{End, Passed};
use crate::queue::JobId;
use crate::quota::summary::GroupSummary;
use classmate::internal::ad::ClassAd;

/// Slots equal on every key are counted up to so many: far more than it takes to make the order of the reference arbitrary,
/// whose sort is not stable (`docs/reference/negotiation.md` 10.6).
pub const MAX_TIED: usize = 1024;

/// What a cycle decided.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What the cycle meant for each submitter.
    pub submitters: Vec<SubmitterSummary>,
    /// Matches in the order in which they were made.
    pub matches: Vec<Match>,
    /// Refusals in the order in which they were given.
    pub rejections: Vec<Rejected>,
    /// Visits to submitters with idle jobs, in order.
    pub negotiations: Vec<Negotiation>,
    /// Passes over all submitters, in order.
    pub pies: Vec<Pie>,
    /// The groups; none without group quotas.
    pub groups: Vec<GroupSummary>,
    /// Counts over the whole cycle.
    pub statistics: Statistics,
    /// Where the answer differs from the reference's, or may.
    pub quirks: Vec<String>,
}

/// The ad that a policy made of a job for a way to serve it, if it did. It tells how an answer came about and is no part of
/// it: answers that differ in it alone are the same.
#[derive(Debug, Clone, Default)]
pub struct Candidacy(pub Option<Arc<ClassAd>>);

impl PartialEq for Candidacy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A job and the slot it got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The job.
    pub job: JobId,
    /// Which of the jobs that wait in its queue it stands for, if more wait there than the cycle was shown.
    #[serde(skip)]
    pub place: Option<usize>,
    /// The cluster of the request: that of its first job, as the reference's log has it.
    pub cluster: i64,
    /// The submitter.
    pub submitter: String,
    /// The slot.
    pub slot: String,
    /// Why somebody may be displaced.
    pub preempting: PreemptState,
    /// Who is displaced.
    pub displaced: Option<String>,
    /// Dynamic slots that are given up to make room for the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<String>,
    /// Whether the slot is offline: it is woken, and the job waits for another cycle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    /// True if the access point does not use the slot, so that the job stays idle: it gets no claim, because the slot is
    /// offline or has `WantClaiming = false`, or it has no idle job that fits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unused: bool,
    /// Concurrency limits the job holds, in lower case; none if it asked for none.
    pub limits: Option<String>,
    /// Slot weight charged.
    pub weight: f64,
    /// The ad with which the job stood in the queue, if the policy made one of its own for it.
    #[serde(skip)]
    pub candidacy: Candidacy,
    /// Which pie of the cycle, from 1.
    pub pie: u32,
    /// Which pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
}

/// A request and why it got nothing (more).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// The first job of the request, which names it; it may be matched itself while others of the request are not.
    pub job: JobId,
    /// Jobs of the request that are not matched.
    pub jobs: usize,
    /// The submitter.
    pub submitter: String,
    /// The reason in the words of the reference.
    pub reason: String,
    /// The reason as a value.
    pub rejection: Rejection,
    /// What became of the slots that were looked at.
    pub slots: Tally,
    /// Which pie of the cycle, from 1.
    pub pie: u32,
    /// Which pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
}

/// Why a request got no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A slot would do, but a concurrency limit is reached.
    ConcurrencyLimit,
    /// A slot in use would do, but `PREEMPTION_REQUIREMENTS` is not true.
    PreemptionRequirements,
    /// A slot would do, but it weighs more than the submitter may still take.
    SubmitterLimit,
    /// No slot would do.
    NoMatch,
}

impl Rejection {
    /// The reason in the words of the reference, with the names of the concurrency limits that are reached.
    pub fn reason(self, reached: &[String]) -> String {
        match self {
            Self::ConcurrencyLimit => format!("concurrency limit {} reached", reached.join(", ")),
            Self::PreemptionRequirements => "PREEMPTION_REQUIREMENTS == False".to_owned(),
            Self::SubmitterLimit => "submitter limit exceeded".to_owned(),
            Self::NoMatch => "no match found".to_owned(),
        }
    }
}

/// What became of the slots that were looked at for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tally {
    /// Looked at: all that were left in the list.
    pub considered: usize,
    /// Cannot be reached from the access point, or belong to another one.
    pub unreachable: usize,
    /// Refused by the job's requirements.
    pub refused_by_job: usize,
    /// Accepted by the job, but their own requirements refuse it.
    pub refused_by_slot: usize,
    /// Run a job of the same submitter that they do not like less.
    pub used_by_submitter: usize,
    /// In use, and `PREEMPTION_REQUIREMENTS` is not true.
    pub preemption_not_required: usize,
    /// In use, and they like the job they run better.
    pub prefers_its_job: usize,
    /// Do not prefer the job to one they run, when the submitter has its share and may only take slots that do.
    pub beyond_share: usize,
    /// Too heavy for what the submitter may still take.
    pub over_limit: usize,
    /// Would have done but for a concurrency limit that depends on the slot.
    pub over_concurrency_limit: usize,
    /// Would have done.
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
pub struct Negotiation {
    /// The submitter.
    pub submitter: String,
    /// Its access point.
    pub schedd: String,
    /// Its priority; lower is better.
    pub priority: f64,
    /// Its fraction of the pie.
    pub share: f64,
    /// Weighted slots it might take.
    pub limit: f64,
    /// Weighted slots by which the limit was cut because the pie is used up.
    pub starved: f64,
    /// Why it was not served, if it was not.
    pub passed: Option<Passed>,
    /// Whether it stays in the pie.
    pub end: End,
    /// Which pie of the cycle, from 1.
    pub pie: u32,
    /// Which pass over all submitters, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
}

/// A pass over all submitters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pie {
    /// Which pie of the cycle, from 1.
    pub pie: u32,
    /// Which pass, from 1.
    pub spin: u32,
    /// Weighted slots to deal at its beginning.
    pub pie_left: f64,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
}

/// Counts over a cycle, as the negotiator ad has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Slots fetched.
    pub total_slots: usize,
    /// Slots that were looked at.
    pub trimmed_slots: usize,
    /// Slots that were candidates.
    pub candidate_slots: usize,
    /// Weighted slots of the pool.
    pub pool_weight: f64,
    /// Access points negotiated with.
    pub schedulers: usize,
    /// Submitters negotiated with.
    pub active_submitters: usize,
    /// Idle jobs of submitters when first negotiated with.
    pub idle_jobs: i64,
    /// Requests considered, each repetition of a counted one included.
    pub jobs_considered: u64,
    /// Autoclusters in the queue.
    pub autoclusters: usize,
    /// Matches.
    pub matches: usize,
    /// Rejections.
    pub rejections: usize,
    /// Most slots that were equal on every key when one was looked for, counted up to [`MAX_TIED`]: ties go to the one
    /// that comes first.
    pub largest_tie: usize,
    /// Pies dealt.
    pub pies: u32,
    /// Passes over the submitters, of all pies.
    pub pie_spins: usize,
    /// Submitters that could take more than their limit, alphabetically.
    pub submitters_share_limit: Vec<String>,
}
