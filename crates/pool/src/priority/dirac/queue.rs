//! Task queues: all waiting jobs of an owner and group with the same requirements (`docs/reference/dirac-shares.md` 2).

use std::collections::BTreeSet;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use smallvec::{SmallVec, smallvec};

use classmate_config::internal::config::dirac::Word;

/// Most jobs of one task queue; more make another one.
pub const MAX_QUEUE_JOBS: usize = 5000;

/// Properties common to the jobs of a task queue. Sets are sorted, without blanks and without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Requirements {
    /// Owner of the jobs.
    pub owner: Word,
    /// The group they were submitted with.
    pub group: Word,
    /// CPU time in seconds, a segment.
    pub cpu_time: i64,
    /// Sites they may run at; empty: any.
    pub sites: Vec<Word>,
    /// Computing elements they may run on; empty: any.
    pub ces: Vec<Word>,
    /// Sites they must not run at.
    pub banned_sites: Vec<Word>,
    /// Platforms they may run on; empty: any.
    pub platforms: Vec<Word>,
    /// Types of the jobs.
    pub job_types: Vec<Word>,
    /// Tags that a resource must all have.
    pub tags: Vec<Word>,
    /// The autocluster: what else matters to a match and DIRAC does not see; 0 if nothing does.
    pub autocluster: u32,
}

impl Requirements {
    /// A set of values: trimmed, sorted, without blanks and without the same value twice.
    pub fn set<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Vec<Word> {
        let set: BTreeSet<&[u8]> =
            values.into_iter().map(<[u8]>::trim_ascii).filter(|value| !value.is_empty()).collect();
        set.into_iter().map(Word::from).collect()
    }

    /// All but the sites and the autocluster: queues that agree in it are a family.
    fn family(&self) -> Family<'_> {
        let Self { owner, group, cpu_time, ces, platforms, job_types, tags, .. } = self;
        ([owner, group], *cpu_time, [ces, platforms, job_types, tags])
    }
}

/// Owner and group, CPU time, and the lists other than sites.
type Family<'q> = ([&'q Word; 2], i64, [&'q [Word]; 4]);

/// A waiting job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueuedJob {
    /// Its number; older jobs have lower ones.
    pub id: i64,
    /// `UserPriority`, as the user gave it.
    pub user_priority: f64,
}

/// A task queue.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskQueue {
    /// Its number, from 1.
    pub id: i64,
    /// Properties common to its jobs.
    pub requirements: Requirements,
    /// Its jobs, in the order in which they came.
    pub jobs: Vec<QueuedJob>,
    /// Number of unlisted jobs after them, with the user priority of the last.
    pub unlisted: usize,
}

impl TaskQueue {
    /// Number of waiting jobs.
    ///
    /// ```
    /// use classmate_pool::internal::priority::dirac::{QueuedJob, Requirements, TaskQueue};
    /// let jobs = vec![QueuedJob { id: 1, user_priority: 1.0 }];
    /// let queue = TaskQueue { id: 1, requirements: Requirements::default(), jobs, unlisted: 4 };
    /// assert_eq!((queue.waiting(), queue.sum(|priority| 2.0 * priority)), (5, 10.0));
    /// ```
    pub fn waiting(&self) -> usize {
        self.jobs.len() + self.unlisted
    }

    /// The sum over all its jobs of a figure that depends on the user priority.
    pub fn sum(&self, figure: impl Fn(f64) -> f64) -> f64 {
        let listed: f64 = self.jobs.iter().map(|job| figure(job.user_priority)).sum();
        match self.jobs.last() {
            Some(last) if self.unlisted > 0 => listed + self.unlisted as f64 * figure(last.user_priority),
            _ => listed,
        }
    }
}

/// All task queues.
///
/// ```
/// use classmate_pool::internal::priority::dirac::{QueuedJob, Requirements, TaskQueues};
/// let mut queues = TaskQueues::new(2);
/// let wanted = Requirements { cpu_time: 3600, ..Requirements::default() };
/// for id in 0..3 {
///     queues.push(wanted.clone(), QueuedJob { id, user_priority: 1.0 });
/// }
/// assert_eq!(queues.iter().map(|queue| queue.jobs.len()).collect::<Vec<_>>(), [2, 1]);
/// ```
#[derive(Debug, Clone)]
pub struct TaskQueues {
    queues: Vec<TaskQueue>,
    /// Queues with the same requirements: number of jobs and place of each, in ascending order. At least one.
    alike: HashTable<AlikeQueues>,
    hasher: DefaultHashBuilder,
    most_jobs: usize,
}

/// Number of jobs and place of each of some queues. Mostly there is one.
type AlikeQueues = SmallVec<[(usize, usize); 1]>;

/// Puts the new number of jobs of a queue in the place of the one before.
fn counted(alike: &mut AlikeQueues, before: Option<(usize, usize)>, now: (usize, usize)) {
    if let Some(at) = before.and_then(|before| alike.binary_search(&before).ok()) {
        alike.remove(at);
    }
    alike.insert(alike.partition_point(|other| *other < now), now);
}

impl Default for TaskQueues {
    fn default() -> Self {
        Self::new(MAX_QUEUE_JOBS)
    }
}

impl TaskQueues {
    /// No queue; the maximum number of jobs in each will be `most`, at least 1.
    pub fn new(most_jobs: usize) -> Self {
        let (queues, alike, hasher) = (Vec::new(), HashTable::new(), DefaultHashBuilder::default());
        Self { queues, alike, hasher, most_jobs: most_jobs.max(1) }
    }

    /// Puts a job into the queue with its requirements that has the fewest jobs; into a new one if that is full.
    /// Returns the number of the queue.
    pub fn push(&mut self, requirements: Requirements, job: QueuedJob) -> i64 {
        self.push_first(requirements, job, 0)
    }

    /// The same for a job with unlisted equal jobs after it, which fill its queue at most.
    pub fn push_first(&mut self, requirements: Requirements, job: QueuedJob, unlisted: usize) -> i64 {
        let Self { queues, alike, hasher, most_jobs } = self;
        let next = queues.len();
        let hash = hasher.hash_one(&requirements);
        let same = |alike: &AlikeQueues| queues[alike[0].1].requirements == requirements;
        match alike.find_mut(hash, same) {
            Some(alike) => match alike.first().copied().filter(|(jobs, _)| *jobs < *most_jobs) {
                Some((jobs, at)) => {
                    counted(alike, Some((jobs, at)), (jobs + 1 + unlisted, at));
                    queues[at].jobs.push(job);
                    queues[at].unlisted += unlisted;
                    return queues[at].id;
                }
                None => counted(alike, None, (1 + unlisted, next)),
            },
            None => {
                let hash_of = |alike: &AlikeQueues| hasher.hash_one(&queues[alike[0].1].requirements);
                alike.insert_unique(hash, smallvec![(1 + unlisted, next)], hash_of);
            }
        }
        let id = next as i64 + 1;
        queues.push(TaskQueue { id, requirements, jobs: vec![job], unlisted });
        id
    }

    /// Makes room for more queues.
    pub(super) fn reserve(&mut self, more: usize) {
        let Self { queues, alike, hasher, .. } = self;
        alike.reserve(more, |alike| hasher.hash_one(&queues[alike[0].1].requirements));
        queues.reserve(more);
    }

    /// All queues, those without jobs included, in ascending order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TaskQueue> {
        self.queues.iter()
    }

    /// All queues, in ascending order of their numbers.
    pub fn as_slice(&self) -> &[TaskQueue] {
        &self.queues
    }

    /// A queue by its number.
    pub fn get(&self, id: i64) -> Option<&TaskQueue> {
        self.queues.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// Takes a job, or an unlisted one that it stands for, out of a queue; whether it was there. The queue stays, even without
    /// jobs.
    pub fn remove(&mut self, queue: i64, job: i64) -> bool {
        let place = usize::try_from(queue).ok().and_then(|id| id.checked_sub(1));
        let Some((place, found)) = place.and_then(|place| Some((place, self.queues.get_mut(place)?))) else {
            return false;
        };
        let Some(at) = found.jobs.iter().position(|other| other.id == job) else { return false };
        let waiting = found.waiting();
        let hash = self.hasher.hash_one(&found.requirements);
        if let Some(alike) = self.alike.find_mut(hash, |alike| alike.contains(&(waiting, place))) {
            counted(alike, Some((waiting, place)), (waiting - 1, place));
        }
        let last = found.jobs.last().map(|last| last.user_priority);
        if found.unlisted > 0 && last == Some(found.jobs[at].user_priority) {
            found.unlisted -= 1;
        } else {
            found.jobs.remove(at);
        }
        true
    }
}

/// The family of each of some queues: queues that are equal except for sites and autocluster.
pub(super) fn families(queues: &[&TaskQueue]) -> Vec<usize> {
    let mut numbers: HashMap<Family<'_>, usize> = HashMap::with_capacity(queues.len());
    queues
        .iter()
        .map(|queue| {
            let next = numbers.len();
            *numbers.entry(queue.requirements.family()).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: i64) -> QueuedJob {
        QueuedJob { id, user_priority: 1.0 }
    }

    fn at(sites: &[&str]) -> Requirements {
        let sites = Requirements::set(sites.iter().map(|site| site.as_bytes()));
        Requirements { owner: b"a"[..].into(), cpu_time: 360, sites, ..Requirements::default() }
    }

    #[test]
    fn sets_must_be_equal_whatever_their_order() {
        let mut queues = TaskQueues::default();
        assert_eq!(queues.push(at(&["CERN", "RAL"]), job(1)), 1);
        assert_eq!(queues.push(at(&["RAL", " CERN ", "", "RAL"]), job(2)), 1);
        assert_eq!(queues.push(at(&["CERN"]), job(3)), 2, "a subset is another queue");
        assert_eq!(queues.push(at(&[]), job(4)), 3);
    }

    #[test]
    fn a_full_queue_has_a_twin_and_the_shorter_one_grows() {
        let mut queues = TaskQueues::new(2);
        let ids: Vec<i64> = (0..4).map(|id| queues.push(at(&[]), job(id))).collect();
        assert_eq!(ids, [1, 1, 2, 2]);
        assert!(queues.remove(1, 0) && !queues.remove(1, 0) && !queues.remove(9, 1) && !queues.remove(0, 1));
        assert_eq!(queues.push(at(&[]), job(5)), 1);
        assert_eq!(queues.push(at(&[]), job(6)), 3);
    }

    #[test]
    fn families_differ_in_sites_and_autocluster_only() {
        let mut queues = TaskQueues::default();
        for (requirements, id) in [
            (at(&[]), 1),
            (at(&["CERN"]), 2),
            (Requirements { autocluster: 7, ..at(&[]) }, 3),
            (Requirements { cpu_time: 1800, ..at(&[]) }, 4),
        ] {
            queues.push(requirements, job(id));
        }
        let all: Vec<&TaskQueue> = queues.iter().collect();
        assert_eq!(families(&all), [0, 0, 0, 1]);
    }
}
