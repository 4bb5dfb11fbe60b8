//! Dividing the share of a group among its users and their task queues (`docs/reference/dirac-shares.md` 3.1–3.3).

use super::queue::TaskQueue;
use super::weight::entity_priorities;
use crate::OrderedMap;
use classmate_config::internal::config::dirac::{Weighting, Word};

/// The default share of a group.
pub const DEFAULT_SHARE: f64 = 1000.0;

/// A group with what it has to divide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiracGroup {
    /// `JobShare`, corrected if shares are.
    pub share: f64,
    /// True if it is not divided among users.
    pub job_sharing: bool,
    /// True if queues of priority 0 get the minimum priority.
    pub background: bool,
}

/// Part of a group's share for one queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueuePart {
    /// The share of the user before correction; the group's own if it is not divided.
    pub share: f64,
    /// The same after correction.
    pub corrected: f64,
    /// The queue's priority; 0 without jobs.
    pub priority: f64,
}

/// Part of the share for each queue of a group.
///
/// `correct` is given the users with equal parts of the group's share, in the order of their first queue, and gives what
/// they get instead. In the observed weighting a user whose queues have run empty still counts.
pub fn group_priorities(
    queues: &[&TaskQueue],
    group: &DiracGroup,
    weighting: Weighting,
    correct: impl FnOnce(&[(Word, f64)]) -> Vec<f64>,
) -> Vec<QueuePart> {
    let DiracGroup { share, job_sharing, background } = *group;
    if job_sharing {
        let priorities = entity_priorities(queues, share, weighting, background);
        return priorities.into_iter().map(|priority| QueuePart { share, corrected: share, priority }).collect();
    }
    let mut users: OrderedMap<Word, Vec<usize>> = OrderedMap::default();
    for (at, queue) in queues.iter().enumerate() {
        if weighting == Weighting::Observed || !queue.jobs.is_empty() {
            users.entry(queue.requirements.owner.clone()).or_default().push(at);
        }
    }
    let part = share / users.len().max(1) as f64;
    let parts: Vec<(Word, f64)> = users.keys().map(|user| (user.clone(), part)).collect();
    let corrected = correct(&parts);
    let mut found = vec![QueuePart { share: part, corrected: part, priority: 0.0 }; queues.len()];
    for (places, corrected) in users.values().zip(corrected) {
        let own: Vec<&TaskQueue> = places.iter().map(|&at| queues[at]).collect();
        let priorities = entity_priorities(&own, corrected, weighting, background);
        for (&at, priority) in places.iter().zip(priorities) {
            found[at] = QueuePart { share: part, corrected, priority };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::dirac::queue::{QueuedJob, Requirements};

    /// Queues of one group; each is its owner and the number of its jobs, CPU times all different.
    fn queues(rows: &[(&str, usize)]) -> Vec<TaskQueue> {
        let queue = |(at, (owner, jobs)): (usize, &(&str, usize))| TaskQueue {
            id: at as i64 + 1,
            requirements: Requirements {
                owner: owner.as_bytes().into(),
                cpu_time: at as i64,
                ..Requirements::default()
            },
            jobs: vec![QueuedJob { id: 0, user_priority: 1.0 }; *jobs],
            unlisted: 0,
        };
        rows.iter().enumerate().map(queue).collect()
    }

    fn priorities(rows: &[(&str, usize)], share: f64, job_sharing: bool, weighting: Weighting) -> Vec<f64> {
        let queues = queues(rows);
        let queues: Vec<&TaskQueue> = queues.iter().collect();
        let group = DiracGroup { share, job_sharing, background: false };
        let same = |users: &[(Word, f64)]| users.iter().map(|(_, share)| *share).collect();
        group_priorities(&queues, &group, weighting, same).iter().map(|part| part.priority).collect()
    }

    /// `docs/reference/dirac-shares.md` 7.1: 300/4, for any owner.
    #[test]
    fn a_sharing_group_is_divided_by_its_queues() {
        let rows = [("a", 1), ("a", 2), ("b", 1), ("c", 7)];
        assert_eq!(priorities(&rows, 300.0, true, Weighting::Observed), [75.0; 4]);
    }

    /// `docs/reference/dirac-shares.md` 7.2: 10000/(2*2) twice, 10000/(1*2).
    #[test]
    fn other_groups_are_divided_by_users_then_by_their_queues() {
        let rows = [("a", 1), ("b", 1), ("a", 1)];
        assert_eq!(priorities(&rows, 10_000.0, false, Weighting::Observed), [2500.0, 5000.0, 2500.0]);
    }

    #[test]
    fn an_empty_queue_still_makes_its_owner_count_in_the_program_only() {
        let rows = [("a", 1), ("b", 0)];
        assert_eq!(priorities(&rows, 1000.0, false, Weighting::Observed), [500.0, 0.0]);
        assert_eq!(priorities(&rows, 1000.0, false, Weighting::Literal), [1000.0, 0.0]);
        assert_eq!(priorities(&[], 1000.0, false, Weighting::Literal), [0.0; 0]);
    }
}
