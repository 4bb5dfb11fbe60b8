//! Task queues for people: what each holds, its priority and how that came about, its chance
//! (`docs/reference/dirac-shares.md` 9).

use serde::Serialize;

use super::chance::chances;
use super::cycle::{DiracPriority, WaitingQueues};
use super::draw::{MAX_TRIED, SplitMix64, draw_job, draw_order};
use super::queue::TaskQueue;
use super::table::Row;
use crate::pool::Slot;
use crate::priority::Waiting;
use crate::queue::Job;
use crate::queue::job::JobAd;
use classmate::internal::eval::matching;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::dirac::{PolicyOptions, Word};

/// The task queues of a pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    /// The slot the chances are for; none: one that accepts all queues.
    pub slot: Option<String>,
    /// True if that slot runs a job, and so requests none.
    pub busy: bool,
    /// The choices made where the documentation and the program differ.
    pub options: PolicyOptions,
    /// True if shares are corrected.
    pub corrected: bool,
    /// Number of queues, including those that the slot does not accept.
    pub in_all: usize,
    /// The queues, in ascending order of their numbers.
    pub queues: Vec<TaskQueueRow>,
    /// Draws, if requested.
    pub draws: Vec<SampleDraw>,
}

/// A task queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskQueueRow {
    /// Derivation of the priority.
    #[serde(flatten)]
    pub row: Row,
    /// Its chance to be tried first.
    pub chance: f64,
    /// Number of idle jobs.
    pub jobs: usize,
    /// The oldest of them, `cluster.process`.
    pub oldest_job: String,
    /// The average of their user priorities, as the users gave them.
    pub user_priority: f64,
    /// Owner of the jobs.
    pub owner: String,
    /// The group.
    pub group: String,
    /// CPU time in seconds, a segment.
    pub cpu_time: i64,
    /// Sites; empty: any.
    pub sites: Vec<String>,
    /// Sites that are banned.
    pub banned_sites: Vec<String>,
    /// Computing elements; empty: any.
    pub ces: Vec<String>,
    /// Platforms; empty: any.
    pub platforms: Vec<String>,
    /// Kinds of job.
    pub job_types: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The autocluster of the jobs.
    pub autocluster: u32,
}

/// A draw for a slot that requests a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SampleDraw {
    /// Queues in the order in which they are tried.
    pub order: Vec<i64>,
    /// The job taken from the first of them, `cluster.process`.
    pub job: Option<String>,
}

/// Options of a listing.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListingOptions<'w> {
    /// Only the queues that this slot accepts.
    pub slot: Option<&'w Slot>,
    /// Number of independent draws.
    pub draws: usize,
}

impl Listing {
    /// Lists the queues of those who wait in a pool.
    pub fn new(
        policy: &DiracPriority,
        claimants: usize,
        waiting: &dyn Waiting,
        wanted: ListingOptions<'_>,
        settings: &EvalOptions,
    ) -> Self {
        let waiters = policy.waiters(claimants, waiting);
        let jobs = views(&waiters, claimants, waiting);
        let view = |id: i64| usize::try_from(id).ok().and_then(|id| jobs.get(id).copied().flatten());
        let ad = |queue: &TaskQueue| queue.jobs.first().and_then(|job| view(job.id)).map(|job| &job.ad);
        let suits = |slot: &Slot, queue: &TaskQueue| {
            let both = |ad: &JobAd<'_>| matching::symmetric(ad, &slot.ad, settings);
            !slot.is_in_use() && policy.accepts(slot, &queue.requirements) && ad(queue).is_some_and(both)
        };
        let accepted = |queue: &&TaskQueue| wanted.slot.is_none_or(|slot| suits(slot, queue));
        let queues: Vec<&TaskQueue> = waiters.queues.iter().filter(accepted).collect();
        let priorities: Vec<f64> = queues.iter().map(|queue| waiters.table.priority(queue.id)).collect();
        let options = policy.settings().options;
        let chances = chances(&priorities, options);
        let name = |id: i64| view(id).map(|job| job.id.to_string()).unwrap_or_default();
        let lots: Vec<(i64, f64)> = queues.iter().map(|queue| queue.id).zip(priorities).collect();
        let mut generator = SplitMix64::new(settings.seed);
        let mut draw = || {
            let order = draw_order(&lots, &mut generator, options, MAX_TRIED);
            let first = order.first().and_then(|id| waiters.queues.get(*id));
            let job = first.and_then(|queue| draw_job(&queue.jobs, &mut generator, options)).map(name);
            SampleDraw { order, job }
        };
        let draws = (0..wanted.draws).map(|_| draw()).collect();
        let row = |id: i64| waiters.table.row(id);
        let line = |(queue, chance): (&TaskQueue, f64)| Some(line(queue, row(queue.id)?, chance, name));
        Self {
            slot: wanted.slot.map(|slot| slot.name.to_string()),
            busy: wanted.slot.is_some_and(Slot::is_in_use),
            options,
            corrected: policy.settings().correct && !policy.settings().corrections.instances.is_empty(),
            in_all: waiters.queues.iter().len(),
            queues: queues.iter().copied().zip(chances).filter_map(line).collect(),
            draws,
        }
    }
}

/// The jobs that wait, by age.
fn views<'w>(waiters: &WaitingQueues, claimants: usize, waiting: &'w dyn Waiting) -> Vec<Option<&'w Job<'w>>> {
    let lists: Vec<hashbrown::HashMap<usize, &Job>> =
        (0..claimants).map(|who| waiting.jobs(who).into_iter().collect()).collect();
    waiters.jobs.iter().map(|waiter| lists.get(waiter.who)?.get(&waiter.job).copied()).collect()
}

fn line(queue: &TaskQueue, row: Row, chance: f64, name: impl Fn(i64) -> String) -> TaskQueueRow {
    let wanted = &queue.requirements;
    let text = |word: &Word| String::from_utf8_lossy(word).into_owned();
    let texts = |words: &[Word]| words.iter().map(text).collect();
    let sum: f64 = queue.jobs.iter().map(|job| job.user_priority).sum();
    TaskQueueRow {
        row,
        chance,
        jobs: queue.jobs.len(),
        oldest_job: queue.jobs.iter().map(|job| job.id).min().map(name).unwrap_or_default(),
        user_priority: sum / queue.jobs.len().max(1) as f64,
        owner: text(&wanted.owner),
        group: text(&wanted.group),
        cpu_time: wanted.cpu_time,
        sites: texts(&wanted.sites),
        banned_sites: texts(&wanted.banned_sites),
        ces: texts(&wanted.ces),
        platforms: texts(&wanted.platforms),
        job_types: texts(&wanted.job_types),
        tags: texts(&wanted.tags),
        autocluster: wanted.autocluster,
    }
}
