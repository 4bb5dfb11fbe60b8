//! What a cycle meant for each submitter.
//!
//! In: the visits and matches of a cycle. Out: a line per submitter, in the order in which they were served.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::negotiate::outcome::{Outcome, Rejection};
use crate::priority::{End, Passed};
use crate::queue::Submitter;

/// What a submitter had, was due and got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmitterSummary {
    /// The submitter.
    pub submitter: String,
    /// Its priority; lower is better. None if it was not negotiated with.
    pub priority: Option<f64>,
    /// Its fraction of the pie when first visited.
    pub share: Option<f64>,
    /// Weighted slots it might take when first visited.
    pub limit: Option<f64>,
    /// Jobs it says are running.
    pub running: i64,
    /// Jobs it says are idle.
    pub idle: i64,
    /// Jobs that got a slot.
    pub matched: usize,
    /// Weight of the slots they got.
    pub weight: f64,
    /// Why it got no more.
    pub stopped: Stopped,
}

/// Why a submitter got no more slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// It had no idle jobs to begin with.
    NoIdleJobs,
    /// `NEGOTIATOR_SUBMITTER_CONSTRAINT` leaves it out.
    LeftOut,
    /// It says it has idle jobs, but the queue holds none of them.
    NoJobsInQueue,
    /// Every idle job got a slot.
    AllMatched,
    /// No slot was left for anyone.
    NoSlotsLeft,
    /// The slots that were left do not match the jobs that were left.
    NoSlotMatches,
    /// A concurrency limit that its jobs ask for is reached.
    ConcurrencyLimit,
    /// It has its share of the pool.
    ShareUsed,
    /// It is at its ceiling.
    AtCeiling,
    /// Its group may use no more, so it was not negotiated with.
    GroupQuota,
}

impl Stopped {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Stopped::NoIdleJobs => "no idle jobs",
            Stopped::LeftOut => "excluded by NEGOTIATOR_SUBMITTER_CONSTRAINT",
            Stopped::NoJobsInQueue => "its idle jobs are not in the queue",
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

/// A line per submitter, from what each had in the queue when the cycle began: those that were served in the order of their first turn, then the others in the order
/// of arrival. Several access points of one submitter are one line.
pub fn summarize(outcome: &Outcome, submitters: &[Submitter], offered: &[usize]) -> Vec<SubmitterSummary> {
    let mut lines: Vec<SubmitterSummary> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let visited = outcome.negotiations.iter().map(|visit| visit.submitter.clone());
    for name in visited.chain(submitters.iter().map(|submitter| submitter.name.to_string())) {
        index.entry(name.clone()).or_insert_with(|| {
            lines.push(SubmitterSummary {
                submitter: name,
                priority: None,
                share: None,
                limit: None,
                running: 0,
                idle: 0,
                matched: 0,
                weight: 0.0,
                stopped: Stopped::NoIdleJobs,
            });
            lines.len() - 1
        });
    }
    let mut in_queue = vec![0; lines.len()];
    for (submitter, offered) in submitters.iter().zip(offered) {
        if let Some(&at) = index.get(&submitter.name.to_string()) {
            in_queue[at] += offered;
        }
    }
    for submitter in submitters.iter().filter(|submitter| !submitter.again) {
        if let Some(&at) = index.get(&submitter.name.to_string()) {
            lines[at].running = lines[at].running.saturating_add(submitter.running);
            lines[at].idle = lines[at].idle.saturating_add(submitter.idle);
        }
    }
    for made in &outcome.matches {
        if let Some(&at) = index.get(&made.submitter) {
            lines[at].matched += 1;
            lines[at].weight += made.weight;
        }
    }
    let slots_left = outcome.statistics.trimmed_slots.saturating_sub(outcome.matches.len());
    for visit in &outcome.negotiations {
        let Some(&at) = index.get(&visit.submitter) else { continue };
        let line = &mut lines[at];
        line.priority = line.priority.or(Some(visit.priority));
        line.share = line.share.or(Some(visit.share));
        line.limit = line.limit.or(Some(visit.limit));
        line.stopped = match (visit.passed, visit.end) {
            _ if i64::try_from(line.matched).is_ok_and(|matched| matched >= line.idle) => Stopped::AllMatched,
            _ if in_queue[at] == 0 => Stopped::NoJobsInQueue,
            _ if outcome.statistics.trimmed_slots == 0 => Stopped::NoSlotsLeft,
            (Some(Passed::AtCeiling), _) => Stopped::AtCeiling,
            (Some(Passed::LessThanASlot), _) | (None, End::Resume) => Stopped::ShareUsed,
            (None, End::Done) if slots_left == 0 => Stopped::NoSlotsLeft,
            (None, End::Done) => Stopped::NoSlotMatches,
        };
    }
    // The last refusal tells what slots are not asked for.
    let limited = |line: &SubmitterSummary| {
        let last = outcome.rejections.iter().rev().find(|one| one.submitter == line.submitter);
        last.is_some_and(|one| one.rejection == Rejection::ConcurrencyLimit)
    };
    for line in lines.iter_mut().filter(|line| line.stopped == Stopped::NoSlotMatches) {
        if limited(line) {
            line.stopped = Stopped::ConcurrencyLimit;
        }
    }
    let passed_by = |line: &&mut SubmitterSummary| line.priority.is_none() && line.idle > 0;
    for line in lines.iter_mut().filter(passed_by).filter(|_| !outcome.groups.is_empty()) {
        line.stopped = Stopped::GroupQuota;
    }
    lines
}
