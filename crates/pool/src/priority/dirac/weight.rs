//! Dividing the share of one entity among its task queues (`docs/reference/dirac-shares.md` 3.2, 3.3).

use super::queue::{TaskQueue, families};
use classmate_config::internal::config::dirac::Weighting;

/// Least priority of a queue.
const MIN_WEIGHT: f64 = 0.001;
/// Queues with an average priority up to this may count as background.
const BACKGROUND_WEIGHT: f64 = 0.1;

/// Weight of a `UserPriority`: its integer part, but almost nothing from 0 down, and a million from 10 up.
///
/// ```
/// use classmate_pool::internal::priority::dirac::real_priority;
/// assert_eq!([-3.0, 0.9, 1.0, 9.9, 10.0, 500.0].map(real_priority), [1e-5, 1e-5, 1.0, 9.0, 1e6, 1e6]);
/// ```
pub fn real_priority(user_priority: f64) -> f64 {
    let whole = user_priority.trunc();
    if whole >= 10.0 {
        1e6
    } else if whole >= 1.0 {
        whole
    } else {
        1e-5
    }
}

/// The priority of each of the queues of one entity, 0 for a queue without jobs.
///
/// An entity is a group whose jobs are shared, or a user in another group; `share` is its share. `background`: queues of
/// priority 0 get the least priority there is. Sources: `docs/reference/dirac-shares.md` 3.3 for [`Weighting::Observed`],
/// `docs/reference/dirac-shares.md` 3.2 for the others; when all user priorities are 0 these give equal parts.
///
/// ```
/// use classmate_config::internal::config::dirac::Weighting;
/// use classmate_pool::internal::priority::dirac::{QueuedJob, Requirements, TaskQueue, entity_priorities};
/// let queue = |id, user_priority| {
///     let requirements = Requirements { cpu_time: id, ..Requirements::default() };
///     TaskQueue { id, requirements, jobs: vec![QueuedJob { id, user_priority }], unlisted: 0 }
/// };
/// let queues = [queue(1, 1.0), queue(2, 3.0)];
/// assert_eq!(entity_priorities(&[&queues[0], &queues[1]], 1000.0, Weighting::Observed, false), [250.0, 750.0]);
/// assert_eq!(entity_priorities(&[&queues[0], &queues[1]], 1000.0, Weighting::Literal, false), [125.0, 375.0]);
/// ```
pub fn entity_priorities(queues: &[&TaskQueue], share: f64, weighting: Weighting, background: bool) -> Vec<f64> {
    match weighting {
        Weighting::Observed => observed(queues, share, background),
        Weighting::Literal => {
            let waiting = queues.iter().filter(|queue| !queue.jobs.is_empty()).count();
            by_sums(queues, share / waiting.max(1) as f64)
        }
        Weighting::Proportional => by_sums(queues, share),
    }
}

fn by_sums(queues: &[&TaskQueue], share: f64) -> Vec<f64> {
    let mut sums: Vec<f64> = queues.iter().map(|queue| queue.sum(|priority| priority)).collect();
    if sums.iter().sum::<f64>() == 0.0 {
        sums = queues.iter().map(|queue| if queue.jobs.is_empty() { 0.0 } else { 1.0 }).collect();
    }
    let total: f64 = sums.iter().sum();
    sums.iter().map(|sum| if total == 0.0 { 0.0 } else { share * sum / total }).collect()
}

fn observed(queues: &[&TaskQueue], share: f64, background: bool) -> Vec<f64> {
    let average = |queue: &&TaskQueue| {
        if queue.jobs.is_empty() { None } else { Some(queue.sum(real_priority) / queue.waiting() as f64) }
    };
    let averages: Vec<Option<f64>> = queues.iter().map(average).collect();
    let is_background = |average: f64| background && average <= BACKGROUND_WEIGHT;
    let total: f64 = averages.iter().flatten().filter(|&&average| !is_background(average)).sum();
    let own =
        |average: f64| if is_background(average) { MIN_WEIGHT } else { (share / total * average).max(MIN_WEIGHT) };
    let families = families(queues);
    let mut sums = vec![0.0; queues.len()];
    for (&family, average) in families.iter().zip(&averages) {
        sums[family] += average.map_or(0.0, own);
    }
    families.iter().zip(&averages).map(|(&family, average)| average.map_or(0.0, |_| sums[family])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::dirac::queue::{QueuedJob, Requirements};

    /// Queues of one entity; each is its CPU time, its sites and the priorities of its jobs.
    fn queues(rows: &[(i64, &[&str], &[f64])]) -> Vec<TaskQueue> {
        let queue = |(at, (cpu_time, sites, priorities)): (usize, &(i64, &[&str], &[f64]))| TaskQueue {
            id: at as i64 + 1,
            requirements: Requirements {
                cpu_time: *cpu_time,
                sites: Requirements::set(sites.iter().map(|site| site.as_bytes())),
                ..Requirements::default()
            },
            jobs: priorities.iter().map(|&user_priority| QueuedJob { id: 0, user_priority }).collect(),
            unlisted: 0,
        };
        rows.iter().enumerate().map(queue).collect()
    }

    fn priorities(queues: &[TaskQueue], share: f64, weighting: Weighting, background: bool) -> Vec<f64> {
        let queues: Vec<&TaskQueue> = queues.iter().collect();
        entity_priorities(&queues, share, weighting, background)
    }

    fn near(found: &[f64], expected: &[f64]) {
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-4 * b.abs().max(1e-6);
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?}, not {expected:?}");
    }

    /// `docs/reference/dirac-shares.md` 7.3.
    #[test]
    fn user_priorities_weigh_as_averages_or_as_sums() {
        let queues = queues(&[(1, &[], &[1.0; 3]), (2, &[], &[5.0]), (3, &[], &[2.0; 2])]);
        near(&priorities(&queues, 1000.0, Weighting::Observed, false), &[125.0, 625.0, 250.0]);
        near(&priorities(&queues, 1000.0, Weighting::Literal, false), &[83.3333, 138.8889, 111.1111]);
        near(&priorities(&queues, 1000.0, Weighting::Proportional, false), &[250.0, 416.6667, 333.3333]);
    }

    /// `docs/reference/dirac-shares.md` 7.4.
    #[test]
    fn queues_that_differ_in_sites_only_count_double() {
        let queues = queues(&[(3600, &[], &[1.0]), (3600, &["CERN"], &[1.0]), (86_400, &[], &[1.0])]);
        near(&priorities(&queues, 900.0, Weighting::Observed, false), &[600.0, 600.0, 300.0]);
    }

    /// `docs/reference/dirac-shares.md` 7.5.
    #[test]
    fn background_queues_get_next_to_nothing() {
        let rows: [(i64, &[&str], &[f64]); 3] = [(1, &[], &[0.0; 2]), (2, &[], &[1.0, 3.0]), (3, &[], &[10.0])];
        let two = queues(&rows[..2]);
        near(&priorities(&two, 1000.0, Weighting::Observed, false), &[0.004_999_975, 999.995]);
        near(&priorities(&two, 1000.0, Weighting::Observed, true), &[0.001, 1000.0]);
        near(&priorities(&queues(&rows), 1000.0, Weighting::Observed, true), &[0.001, 0.001_999_996, 999.998]);
    }

    #[test]
    fn queues_without_jobs_take_no_part() {
        let queues = queues(&[(1, &[], &[]), (2, &[], &[1.0])]);
        for weighting in [Weighting::Observed, Weighting::Literal, Weighting::Proportional] {
            assert_eq!(priorities(&queues, 1000.0, weighting, false), [0.0, 1000.0], "{weighting:?}");
        }
    }

    #[test]
    fn when_nobody_has_a_priority_the_parts_are_equal() {
        let queues = queues(&[(1, &[], &[0.0]), (2, &[], &[0.0; 5]), (3, &[], &[])]);
        assert_eq!(priorities(&queues, 1000.0, Weighting::Proportional, false), [500.0, 500.0, 0.0]);
        assert_eq!(priorities(&[], 1000.0, Weighting::Literal, false), [0.0; 0]);
    }
}
