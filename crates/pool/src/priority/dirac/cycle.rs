//! The policy in a cycle: slots request jobs one after another, and each draws a queue and a job
//! (`docs/reference/dirac-shares.md` 9).

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::ad::{JobReader, group, resource};
use super::chance::chances;
use super::draw::{Drawn, MAX_TRIED, SplitMix64, draw_listed, draw_order};
use super::history::RunHistory;
use super::past::Past;
use super::queue::{QueuedJob, Requirements, TaskQueues};
use super::resource::SiteResource;
use super::segment::Segments;
use super::site::SiteLimits;
use super::table::PriorityTable;
use crate::OrderedMap;
use crate::accountant::GroupOf;
use crate::accountant::usage::{Account, SlotInUse};
use crate::pool::Slot;
use crate::pool::ad_reader::AdReader;
use crate::priority::policy::Opening;
use crate::priority::{
    Allowance, ChargedUsage, Claimant, EquivalentJobs, Fits, PieHistory, PieInput, PriorityPolicy, Standing, Turn,
    TurnResult, Turns, Visit, Waiting,
};
use crate::queue::job::shared_part;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::dirac::{DiracSettings, Word};

/// Job shares of DIRAC.
pub struct DiracPriority {
    settings: Arc<DiracSettings>,
    groups: Arc<dyn GroupOf + Send + Sync>,
    evaluation: EvalOptions,
    /// HTCondor group quotas: shares of groups without a `JobShare`.
    quotas: HashMap<Word, f64>,
    slots: Vec<FreeSlot>,
    history: Arc<RunHistory>,
    limits: SiteLimits,
    /// Weighted slots in use, by submitter.
    usage: OrderedMap<Vec<u8>, f64>,
}

/// Number of queues for which room is made at first, at most.
const MAX_RESERVED: usize = 1024;

/// A slot that requests a job.
#[derive(Debug, Clone)]
struct FreeSlot {
    /// Its number in the pool.
    slot: usize,
    resource: Arc<SiteResource>,
    /// True if it may take another job after one.
    again: bool,
}

/// The task queues of a pool, with their priorities.
#[derive(Debug, Clone, Default)]
pub struct WaitingQueues {
    /// The queues; their jobs are numbered by age.
    pub queues: TaskQueues,
    /// The priorities.
    pub table: PriorityTable,
    /// Claimant and number of each job, by age.
    pub jobs: Vec<WaitingJob>,
}

/// A job that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingJob {
    /// Index of the claimant.
    pub who: usize,
    /// The number of the job in the deal.
    pub job: usize,
}

impl DiracPriority {
    /// The policy over a pool. Its history comes from the ads of running and ended jobs, unless a history was kept.
    pub fn new(settings: &Arc<DiracSettings>, opening: &Opening<'_>, past: Option<&Past>) -> Self {
        let reader = reader(settings, opening.settings);
        let mut places: HashMap<&[u8], &Slot> = HashMap::new();
        for slot in opening.slots {
            places.insert(&slot.name, slot);
        }
        let (mut history, mut limits) = (RunHistory::default(), SiteLimits::new(settings));
        let mut quotas = HashMap::new();
        let mut seen: HashSet<*const ClassAd> = HashSet::new();
        for ad in opening.jobs {
            if shared_part(ad).is_none_or(|part| seen.insert(Arc::as_ptr(part))) {
                let group = group(AdReader::of(ad, opening.settings));
                if let Some(quota) = (opening.quota)(&group) {
                    quotas.insert(group, quota);
                }
            }
            // Without corrections and limits, nothing depends on the history.
            if past.is_some() || (!settings.correct && limits.is_empty()) {
                continue;
            }
            let Some(run) = reader.run(ad) else { continue };
            let job = reader.requirements(ad);
            history.ran(&job.group, &job.owner, run.start, run.end);
            if limits.is_empty() {
                continue;
            }
            let host = if run.end.is_none() { "RemoteHost" } else { "LastRemoteHost" };
            let host = AdReader::of(ad, opening.settings).string(host);
            if let Some(slot) = host.and_then(|host| places.get(&*host).copied()) {
                let sites = resource(&slot.ad, opening.settings).sites;
                match run.end {
                    None => limits.started(&sites, &job, run.start),
                    Some(_) => limits.matched(&sites, &job, run.start),
                }
            }
        }
        let mut shared_resources: HashMap<ResourceKey, Arc<SiteResource>> = HashMap::new();
        let free = opening.slots.iter().enumerate().filter(|(_, slot)| !slot.is_in_use());
        let slots = free.map(|(at, slot)| {
            let resource = resource(&slot.ad, opening.settings);
            let resource = shared_resources.entry(signature(&resource)).or_insert_with(|| Arc::new(resource)).clone();
            FreeSlot { slot: at, resource, again: slot.consumption.is_some() }
        });
        Self {
            groups: Arc::clone(&opening.groups),
            evaluation: opening.settings.clone(),
            quotas,
            slots: slots.collect(),
            history: past.map_or_else(|| Arc::new(history), |past| Arc::clone(past.history())),
            limits: past.map_or(limits, |past| past.limits().clone()),
            usage: OrderedMap::default(),
            settings: Arc::clone(settings),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &DiracSettings {
        &self.settings
    }

    /// The task queues of those who wait: jobs are numbered by age, queues by their oldest job.
    pub fn waiters(&self, claimants: usize, waiting: &dyn Waiting) -> WaitingQueues {
        let reader = reader(&self.settings, &self.evaluation);
        let mut found = Vec::new();
        for who in 0..claimants {
            waiting.each(who, &mut |job, view, autocluster| found.push((view.id, job, who, view, autocluster)));
        }
        found.sort_unstable_by_key(|&(id, job, ..)| (id, job));
        let mut waiters = WaitingQueues::default();
        // Mostly one job stands for its queue.
        waiters.queues.reserve(found.len().min(MAX_RESERVED));
        waiters.jobs.reserve(found.len());
        let mut shared: HashMap<*const ClassAd, (Requirements, f64)> = HashMap::new();
        for (age, (_, job, who, view, autocluster)) in found.into_iter().enumerate() {
            let read = || (reader.requirements(&view.ad), reader.user_priority(&view.ad));
            let (requirements, user_priority) = match shared_part(&view.ad) {
                Some(part) => shared.entry(Arc::as_ptr(part)).or_insert_with(read).clone(),
                None => read(),
            };
            let requirements = Requirements { autocluster, cpu_time: reader.cpu_time(&view.ad), ..requirements };
            let job_in_queue = QueuedJob { id: age as i64, user_priority };
            let unlisted = waiting.behind(view).map_or(0, |behind| behind.count);
            waiters.queues.push_first(requirements, job_in_queue, unlisted);
            waiters.jobs.push(WaitingJob { who, job });
        }
        let quota = |group: &[u8]| self.quotas.get(group).copied();
        waiters.table =
            PriorityTable::new(&waiters.queues, &self.settings, quota, &self.history, self.evaluation.now as f64);
        waiters
    }

    /// Returns whether a slot accepts the jobs of a queue, and its sites still take such jobs.
    pub fn accepts(&self, slot: &Slot, queue: &Requirements) -> bool {
        let resource = resource(&slot.ad, &self.evaluation);
        resource.accepts(queue, |group| self.settings.shares_jobs(group))
            && self.limits.allow(&resource.sites, queue, self.evaluation.now as f64)
    }
}

pub(super) fn reader<'s>(settings: &DiracSettings, evaluation: &'s EvalOptions) -> JobReader<'s> {
    let segments = settings.segments.as_deref().map_or_else(Segments::default, Segments::new);
    JobReader { settings: evaluation, segments, memory_tags: settings.options.memory_tags }
}

/// The CPU time of a slot, and all its lists.
type ResourceKey = (u64, [Vec<Word>; 12]);

/// The fields in which slots that share one `SiteResource` agree.
fn signature(slot: &SiteResource) -> ResourceKey {
    let SiteResource {
        cpu_time,
        owners,
        groups,
        sites,
        ces,
        platforms,
        job_types,
        tags,
        required_tags,
        banned_sites,
        banned_ces,
        banned_platforms,
        banned_job_types,
    } = slot;
    let lists = [
        owners,
        groups,
        sites,
        ces,
        platforms,
        job_types,
        tags,
        required_tags,
        banned_sites,
        banned_ces,
        banned_platforms,
        banned_job_types,
    ];
    (cpu_time.to_bits(), lists.map(Clone::clone))
}

impl PriorityPolicy for DiracPriority {
    fn charge(&mut self, in_use: &[SlotInUse<'_>], _: i64) {
        for slot in in_use {
            *self.usage.entry(slot.submitter.to_vec()).or_default() += slot.weight;
        }
    }

    /// Users have no priority of their own: all are equal.
    fn standing(&self, submitter: &[u8]) -> Standing {
        Standing { priority: 1.0, usage: self.usage.get(submitter).copied().unwrap_or(0.0), floor: 0 }
    }

    fn group_usage(&self, group: &[u8]) -> f64 {
        self.usage.iter().filter(|(name, _)| self.groups.group_of(name) == group).map(|(_, usage)| usage).sum()
    }

    fn matched(&mut self, submitter: &[u8], _: Account, weight: f64, _: i64) {
        *self.usage.entry(submitter.to_vec()).or_default() += weight;
    }

    fn in_use(&self) -> Vec<(&[u8], f64)> {
        self.usage.iter().map(|(name, usage)| (name.as_slice(), *usage)).collect()
    }

    fn divides_among_groups(&self) -> bool {
        false
    }

    fn begin(&self, claimants: &[Claimant], waiting: &dyn Waiting, deal: &PieInput) -> Box<dyn Turns> {
        let waiters = self.waiters(claimants.len(), waiting);
        Box::new(Draws::new(self, waiters, claimants, deal))
    }
}

/// The draws of a cycle.
struct Draws {
    waiters: WaitingQueues,
    settings: Arc<DiracSettings>,
    now: f64,
    limits: SiteLimits,
    generator: SplitMix64,
    slots: Vec<FreeSlot>,
    /// Queues that a resource accepts, by its address.
    accepted: HashMap<*const SiteResource, Arc<[i64]>>,
    /// Queues that a limit keeps from a resource, by its address.
    held: HashSet<(i64, *const SiteResource)>,
    /// The slot that requests a job.
    at: usize,
    /// Jobs of each queue when the deal began.
    equivalent_jobs: Vec<EquivalentJobs>,
    /// Queues still to be tried for the current slot, next one last; none before the draw.
    order: Option<Vec<i64>>,
    /// Queue and job of the last turn.
    offered: Option<(i64, i64)>,
    history: PieHistory,
    pie: u32,
}

impl Draws {
    fn new(policy: &DiracPriority, waiters: WaitingQueues, claimants: &[Claimant], deal: &PieInput) -> Self {
        let priorities: Vec<f64> = waiters.table.rows().iter().map(|row| row.priority).collect();
        let chances = chances(&priorities, policy.settings.options);
        // A claimant's priority and chance: the sums over its queues, each times its fraction of the queue's jobs.
        let mut due = vec![(0.0, 0.0); claimants.len()];
        for ((queue, priority), chance) in waiters.queues.iter().zip(priorities).zip(chances) {
            let mut own: SmallVec<[usize; 8]> =
                queue.jobs.iter().map(|job| waiters.jobs[job.id as usize].who).collect();
            own.sort_unstable();
            for same in own.chunk_by(|a, b| a == b) {
                let part = same.len() as f64 / queue.jobs.len() as f64;
                due[same[0]].0 += priority * part;
                due[same[0]].1 += chance * part;
            }
        }
        let equivalent_jobs = waiters.queues.iter().map(|queue| {
            let waiter = |job: &QueuedJob| waiters.jobs[job.id as usize];
            let jobs = queue.jobs.iter().map(waiter).map(|WaitingJob { who, job }| (who, job)).collect();
            EquivalentJobs { jobs, held_by: Vec::new() }
        });
        let equivalent_jobs = equivalent_jobs.collect();
        let visit = |(who, (priority, share)): (usize, (f64, f64))| Visit::of_jobs(who, deal, priority, share);
        let visits = due.into_iter().enumerate().filter(|(who, _)| claimants[*who].idle_jobs > 0).map(visit).collect();
        Self {
            waiters,
            settings: Arc::clone(&policy.settings),
            now: policy.evaluation.now as f64,
            limits: policy.limits.clone(),
            generator: SplitMix64::new(policy.evaluation.seed),
            slots: policy.slots.clone(),
            accepted: HashMap::new(),
            held: HashSet::new(),
            at: 0,
            equivalent_jobs,
            order: None,
            offered: None,
            history: PieHistory::of_jobs(deal, visits),
            pie: deal.first_pie,
        }
    }

    /// Queues that a resource accepts, regardless of the other requirements of their jobs.
    fn accepted(&mut self, resource: &Arc<SiteResource>) -> Arc<[i64]> {
        let (queues, settings) = (&self.waiters.queues, &self.settings);
        let accepted = self.accepted.entry(Arc::as_ptr(resource)).or_insert_with(|| {
            let accepts = |queue: &&super::queue::TaskQueue| {
                resource.accepts(&queue.requirements, |group| settings.shares_jobs(group))
            };
            queues.iter().filter(accepts).map(|queue| queue.id).collect()
        });
        Arc::clone(accepted)
    }

    /// Draws the order in which queues are tried for a slot.
    fn draw(&mut self, asking: &FreeSlot, fits: Fits<'_>) -> Vec<i64> {
        let accepted = self.accepted(&asking.resource);
        let mut candidates = Vec::with_capacity(accepted.len());
        for &id in &*accepted {
            let Some(queue) = self.waiters.queues.get(id) else { continue };
            let Some(job) = queue.jobs.first() else { continue };
            let sites = &asking.resource.sites;
            if !self.limits.allow(sites, &queue.requirements, self.now) {
                // Queues are numbered from 1.
                let jobs = self.equivalent_jobs.get_mut(id as usize - 1);
                if let Some(jobs) = jobs.filter(|_| self.held.insert((id, Arc::as_ptr(&asking.resource)))) {
                    for limit in self.limits.reached(sites, &queue.requirements, self.now) {
                        if !jobs.held_by.contains(&limit) {
                            jobs.held_by.push(limit);
                        }
                    }
                }
                continue;
            }
            let WaitingJob { who, job } = self.waiters.jobs[job.id as usize];
            if fits(who, job, asking.slot) {
                candidates.push((id, self.waiters.table.priority(id)));
            }
        }
        let mut order = draw_order(&candidates, &mut self.generator, self.settings.options, MAX_TRIED);
        order.reverse();
        order
    }
}

impl Turns for Draws {
    fn next_turn(&mut self) -> Option<Turn> {
        self.next_suited(&mut |_, _, _| true)
    }

    fn next_suited(&mut self, fits: Fits<'_>) -> Option<Turn> {
        loop {
            let asking = self.slots.get(self.at)?.clone();
            let mut order = match self.order.take() {
                Some(order) => order,
                None => self.draw(&asking, fits),
            };
            let Some(id) = order.pop() else {
                self.at += 1;
                continue;
            };
            self.order = Some(order);
            let Some(queue) = self.waiters.queues.get(id) else { continue };
            let drawn = draw_listed(&queue.jobs, queue.unlisted, &mut self.generator, self.settings.options);
            let Some(Drawn { job, place }) = drawn else { continue };
            self.offered = Some((id, job));
            let WaitingJob { who, job } = self.waiters.jobs[job as usize];
            let (job, slot) = (Some(job), Some(asking.slot));
            return Some(Turn { who, job, place, slot, allowance: Allowance::UNLIMITED, pie: self.pie, spin: 1 });
        }
    }

    fn ended(&mut self, spent: TurnResult, _: Option<ChargedUsage>) {
        let Some((queue, job)) = self.offered.take() else { return };
        // Without a match, the next queue is tried.
        if spent.weight <= 0.0 {
            return;
        }
        let asking = &self.slots[self.at];
        if let Some(found) = self.waiters.queues.get(queue) {
            self.limits.started(&asking.resource.sites, &found.requirements, self.now);
        }
        self.waiters.queues.remove(queue, job);
        self.order = None;
        if !asking.again {
            self.at += 1;
        }
    }

    fn history(&self) -> &PieHistory {
        &self.history
    }

    fn equivalent_jobs(&self) -> &[EquivalentJobs] {
        &self.equivalent_jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_differ_in_one_field_have_different_signatures() {
        let fields: [fn(&mut SiteResource) -> &mut Vec<Word>; 12] = [
            |slot| &mut slot.owners,
            |slot| &mut slot.groups,
            |slot| &mut slot.sites,
            |slot| &mut slot.ces,
            |slot| &mut slot.platforms,
            |slot| &mut slot.job_types,
            |slot| &mut slot.tags,
            |slot| &mut slot.required_tags,
            |slot| &mut slot.banned_sites,
            |slot| &mut slot.banned_ces,
            |slot| &mut slot.banned_platforms,
            |slot| &mut slot.banned_job_types,
        ];
        let plain = SiteResource::default();
        let mut seen = vec![signature(&plain), signature(&SiteResource { cpu_time: 1.0, ..plain.clone() })];
        for field in fields {
            let mut slot = plain.clone();
            field(&mut slot).push(Word::from(&b"x"[..]));
            let found = signature(&slot);
            assert!(!seen.contains(&found), "{slot:?}");
            seen.push(found);
        }
    }
}
