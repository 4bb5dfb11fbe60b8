//! The result of a cycle for each submitter.
//!
//! In: the visits and matches of a cycle. Out: a line per submitter, in the order in which they were first served.

use serde::{Deserialize, Serialize};

use crate::OrderedMap;
use crate::negotiate::outcome::{Negotiation, Outcome, Rejection};
use crate::negotiate::single::OfferedCount;
use crate::priority::{End, Passed};
use crate::queue::Submitter;

/// The jobs, share, limit and matches of a submitter in a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitterSummary {
    /// The submitter.
    pub submitter: String,
    /// Its effective priority; lower is better. `None` if it was not negotiated with.
    pub priority: Option<f64>,
    /// Its fraction of the pie when first visited; `None` if it was not negotiated with.
    pub share: Option<f64>,
    /// Its submitter limit when first visited, in weighted slots; `None` if it was not negotiated with.
    pub limit: Option<f64>,
    /// Running jobs, according to its ads.
    pub running: i64,
    /// Idle jobs, according to its ads.
    pub idle: i64,
    /// Jobs that got a slot.
    pub matched: usize,
    /// Slot weight charged for them.
    pub weight: f64,
    /// The reason it got no more slots.
    pub stopped: Stopped,
}

/// The reason a submitter got no more slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// It had no idle jobs when the cycle began.
    NoIdleJobs,
    /// `NEGOTIATOR_SUBMITTER_CONSTRAINT` leaves it out.
    LeftOut,
    /// Its ads count idle jobs, but none of them is in the queue, or `NEGOTIATOR_JOB_CONSTRAINT` leaves them out.
    NoJobsInQueue,
    /// The policy does not serve those of its idle jobs yet that did not get a slot.
    HeldBack,
    /// Every idle job got a slot.
    AllMatched,
    /// No slot was left in the pool.
    NoSlotsLeft,
    /// The slots that were left do not match the jobs that were left.
    NoSlotMatches,
    /// A concurrency limit that its jobs require is reached.
    ConcurrencyLimit,
    /// It reached its submitter limit.
    ShareUsed,
    /// It is at its ceiling.
    AtCeiling,
    /// Its group has used its allocation, so it was not negotiated with.
    GroupQuota,
}

impl Stopped {
    /// The description for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Stopped::NoIdleJobs => "no idle jobs",
            Stopped::LeftOut => "excluded by NEGOTIATOR_SUBMITTER_CONSTRAINT",
            Stopped::NoJobsInQueue => "its idle jobs are not considered",
            Stopped::HeldBack => "idle jobs left may not run yet",
            Stopped::AllMatched => "all idle jobs matched",
            Stopped::NoSlotsLeft => "no slots left",
            Stopped::NoSlotMatches => "no matching slots left",
            Stopped::ConcurrencyLimit => "concurrency limit reached",
            Stopped::ShareUsed => "submitter limit reached",
            Stopped::AtCeiling => "ceiling reached",
            Stopped::GroupQuota => "group allocation used",
        }
    }
}

/// Summarizes a cycle, a line per submitter: first those that were served, in the order of their first turn, then the
/// others in the order of arrival. Several access points of one submitter are one line. `offered` is the number of jobs
/// that each of the submitters had in the queue when the cycle began.
pub fn summarize(outcome: &Outcome, submitters: &[Submitter], offered: &[OfferedCount]) -> Vec<SubmitterSummary> {
    // Each line, with the submitter's jobs in the queue.
    let mut lines: OrderedMap<String, (SubmitterSummary, OfferedCount)> = OrderedMap::default();
    let blank = |submitter: &String| {
        let summary = SubmitterSummary {
            submitter: submitter.clone(),
            priority: None,
            share: None,
            limit: None,
            running: 0,
            idle: 0,
            matched: 0,
            weight: 0.0,
            stopped: Stopped::NoIdleJobs,
        };
        (summary, OfferedCount::default())
    };
    for Negotiation { submitter, .. } in &outcome.negotiations {
        lines.entry(submitter.clone()).or_insert_with(|| blank(submitter));
    }
    for (submitter, offered) in submitters.iter().zip(offered) {
        let name = submitter.name.to_string();
        let (line, in_queue) = lines.entry(name).or_insert_with_key(blank);
        in_queue.jobs += offered.jobs;
        in_queue.held_back += offered.held_back;
        if !submitter.again {
            line.running = line.running.saturating_add(submitter.running);
            line.idle = line.idle.saturating_add(submitter.idle);
        }
    }
    for made in &outcome.matches {
        if let Some((line, _)) = lines.get_mut(&made.submitter) {
            line.matched += 1;
            line.weight += made.weight;
        }
    }
    let slots_left = outcome.statistics.trimmed_slots.saturating_sub(outcome.matches.len());
    for visit in &outcome.negotiations {
        let Some((line, in_queue)) = lines.get_mut(&visit.submitter) else { continue };
        line.priority = line.priority.or(Some(visit.priority));
        line.share = line.share.or(Some(visit.share));
        line.limit = line.limit.or(Some(visit.limit));
        line.stopped = match (visit.passed, visit.end) {
            _ if i64::try_from(line.matched).is_ok_and(|matched| matched >= line.idle) => Stopped::AllMatched,
            _ if in_queue.jobs == 0 => Stopped::NoJobsInQueue,
            _ if in_queue.held_back > 0 && line.matched + in_queue.held_back >= in_queue.jobs => Stopped::HeldBack,
            _ if outcome.statistics.trimmed_slots == 0 => Stopped::NoSlotsLeft,
            (Some(Passed::AtCeiling), _) => Stopped::AtCeiling,
            (Some(Passed::LessThanASlot), _) | (None, End::Resume) => Stopped::ShareUsed,
            (None, End::Done) if slots_left == 0 => Stopped::NoSlotsLeft,
            (None, End::Done) => Stopped::NoSlotMatches,
        };
    }
    // The visits do not record concurrency limits: the last rejection of the submitter decides.
    let limited = |line: &SubmitterSummary| {
        let last = outcome.rejections.iter().rev().find(|one| one.submitter == line.submitter);
        last.is_some_and(|one| one.rejection == Rejection::ConcurrencyLimit)
    };
    for (line, in_queue) in lines.values_mut() {
        if line.priority.is_none() && in_queue.held_back > 0 && in_queue.held_back >= in_queue.jobs {
            line.stopped = Stopped::HeldBack;
        } else if line.stopped == Stopped::NoSlotMatches && limited(line) {
            line.stopped = Stopped::ConcurrencyLimit;
        } else if line.priority.is_none() && line.idle > 0 && !outcome.groups.is_empty() {
            line.stopped = Stopped::GroupQuota;
        }
    }
    lines.into_values().map(|(line, _)| line).collect()
}
