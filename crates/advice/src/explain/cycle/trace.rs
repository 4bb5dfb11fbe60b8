//! The part of a job in a cycle: its turn, its share, and the users of the slots that it could have used.
//!
//! In: the record of a cycle. Out: a [`CycleTrace`].

use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::clauses::Clause;
use crate::explain::cycle::competition::{Competition, competition};
use crate::explain::cycle::group_status::GroupStatus;
use crate::explain::cycle::left_out;
use crate::explain::cycle::limit_status::{LimitStatus, at_the_end};
use crate::explain::cycle::order::{JobRank, standing};
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::record::{OutcomeRecord, Turn};
use crate::explain::cycle::unsent::UnsentAttributes;
use classmate::ClassAd;
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::negotiate::summary::Stopped;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{JobId, Match, Outcome, Rejected, Snapshot};

/// The part of a job in a cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CycleTrace {
    /// The match, if it got a slot.
    pub matched: Option<Match>,
    /// The last rejection of a request like the job, if one was rejected.
    pub refused: Option<Rejected>,
    /// Its submitter's place in the order of the first turns, from 1; none if it had no turn.
    pub place: Option<usize>,
    /// The figure by which the policy ranks the submitter; for `HTCondor` its priority, lower is better.
    pub priority: Option<f64>,
    /// The meaning of that figure.
    pub standing: Option<String>,
    /// The rank of the job among all jobs, if the policy orders jobs.
    pub rank: Option<JobRank>,
    /// Jobs of the submitter that got a slot.
    pub submitter_matched: usize,
    /// The weight of these slots.
    pub submitter_weight: f64,
    /// Jobs the submitter says are idle.
    pub submitter_idle: i64,
    /// The reason the submitter got no more.
    pub stopped: Option<Stopped>,
    /// The visits to the submitter.
    pub turns: Vec<Turn>,
    /// The group the submitter belongs to, if there are groups.
    pub group: Option<GroupStatus>,
    /// Weighted slots the submitter uses at the beginning.
    pub usage: f64,
    /// The submitter's ceiling in weighted slots, if it has one.
    pub ceiling: Option<i64>,
    /// The concurrency limits that the job requests.
    pub limits: Vec<LimitStatus>,
    /// The conditions of `PREEMPTION_REQUIREMENTS`, for the matching slots in use that it protects.
    pub preemption: Vec<Clause>,
    /// The constraint that leaves its submitter out, if one does.
    pub left_out: Option<String>,
    /// The match that preempts the job, if there is one.
    pub displaced: Option<Match>,
    /// Attributes that its requests do not have, although slots require them.
    pub unsent: Option<UnsentAttributes>,
    /// The users of the slots it could have used.
    pub taken: Competition,
}

/// A job of a cycle.
#[derive(Debug, Clone, Copy)]
pub struct JobInCycle<'a> {
    /// Its number.
    pub id: JobId,
    /// The access point that it names.
    pub schedd: Option<&'a [u8]>,
    /// Its submitter.
    pub submitter: &'a str,
    /// Its activity.
    pub activity: Activity,
    /// Its ad and its submitter, as slots see them.
    pub asker: &'a PreparedJob,
}

impl CycleTrace {
    /// The trace of a job that could use these slots; `division` is the allocation of the groups, if there are any.
    pub fn of(
        record: &OutcomeRecord<'_>,
        snapshot: &Snapshot,
        division: Option<&Division>,
        (pool, pre_cycle): (&PoolFacts, &PreCycleFacts),
        asked: &JobInCycle<'_>,
    ) -> Self {
        let JobInCycle { id, schedd, submitter, asker, activity } = *asked;
        let matched = record.matched(submitter, (schedd, id)).cloned();
        let line = record.line(submitter);
        let summary = line.map(|(_, line)| line);
        let turns = record.turns(submitter);
        let unsent = pre_cycle.unsent.as_ref().map_or(&[][..], |unsent| &unsent.slots);
        CycleTrace {
            refused: record.rejection(submitter, (schedd, id)).filter(|_| matched.is_none()).cloned(),
            place: line.filter(|_| !turns.is_empty()).map(|(at, _)| at + 1),
            priority: summary.and_then(|line| line.priority),
            standing: summary.and_then(|line| line.priority).map(|priority| standing(&pool.order, priority)),
            submitter_matched: summary.map_or(0, |line| line.matched),
            submitter_weight: summary.map_or(0.0, |line| line.weight),
            submitter_idle: summary.map_or(0, |line| line.idle),
            stopped: summary.map(|line| line.stopped),
            group: GroupStatus::of(record, division, pool, submitter),
            usage: asker.standing.usage,
            ceiling: ceiling(snapshot, submitter),
            limits: at_the_end(&pre_cycle.limits, record.outcome),
            preemption: pre_cycle.preemption.clone(),
            left_out: if summary.is_some() {
                None
            } else {
                left_out::submitter(snapshot, &pool.rules, &pool.settings, submitter).map(|(_, text)| text)
            },
            displaced: displaced(record.outcome, &asker.ad, submitter).filter(|_| activity == Activity::Running),
            taken: competition(record, (pool, snapshot), asked, (&pre_cycle.usable, unsent)),
            unsent: pre_cycle.unsent.clone().map(|unsent| unsent.after(record, pool)),
            rank: pool.order.rank(id).cloned(),
            matched,
            turns,
        }
    }
}

/// The match that takes the slot a job runs in.
fn displaced(outcome: &Outcome, job: &ClassAd, submitter: &str) -> Option<Match> {
    let host = job.constant("RemoteHost")?;
    let host = String::from_utf8_lossy(host.as_bytes()?).into_owned();
    let takes = |made: &&Match| {
        made.slot == host && made.displaced.as_deref() == Some(submitter) || made.released.contains(&host)
    };
    outcome.matches.iter().find(takes).cloned()
}

/// The ceiling of a submitter, as the accountant's log has it.
pub(crate) fn ceiling(snapshot: &Snapshot, submitter: &str) -> Option<i64> {
    of_record(snapshot, submitter, "Ceiling").filter(|ceiling| *ceiling >= 0)
}

/// The floor of a submitter, as the accountant's log has it.
pub(crate) fn floor(snapshot: &Snapshot, submitter: &str) -> Option<i64> {
    of_record(snapshot, submitter, "Floor").filter(|floor| *floor > 0)
}

/// An integer of a submitter's record.
fn of_record(snapshot: &Snapshot, submitter: &str, attribute: &str) -> Option<i64> {
    let record = snapshot.log.as_ref()?.get(format!("Customer.{submitter}").as_bytes())?;
    record.integer(attribute)
}
