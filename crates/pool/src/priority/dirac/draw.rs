//! Drawing lots: which queue is tried first, which job is taken from it (`docs/reference/dirac-shares.md` 5, 5.1).
//!
//! The order in which random numbers are used is part of the contract: the same seed gives the same draws for ever.

use std::borrow::Cow;

pub use classmate::internal::random::SplitMix64;

use super::queue::QueuedJob;
use super::weight::real_priority;
use classmate_config::internal::config::dirac::{Lottery, Order, PolicyOptions};

/// Queues that are tried for one slot.
pub const MAX_TRIED: usize = 10;
/// Oldest jobs of a priority among which one is taken.
pub const WINDOW: usize = 50;

/// A key by which lots are sorted: the smallest is drawn first.
fn key(generator: &mut SplitMix64, priority: f64, lottery: Lottery) -> f64 {
    let uniform = generator.uniform();
    match lottery {
        Lottery::Observed => uniform / priority,
        // Waiting times with the priorities as rates: the first is distributed in proportion to them.
        Lottery::Proportional => -(-uniform).ln_1p() / priority,
    }
}

/// The order in which queues are tried, given as (number, priority); at most `limit` of them.
///
/// Random: one uniform number for each queue in ascending order of the numbers; without lots: by priority, the lower number
/// first among equals. Source: `docs/reference/dirac-shares.md` 5.1.
///
/// ```
/// use classmate_config::internal::config::dirac::PolicyOptions;
/// use classmate_pool::internal::priority::dirac::{SplitMix64, draw_order};
/// let queues = [(1, 1000.0), (2, 250.0), (3, 0.001)];
/// let mut generator = SplitMix64::new(42);
/// assert_eq!(draw_order(&queues, &mut generator, PolicyOptions::default(), 10), [2, 1, 3]);
/// ```
pub fn draw_order(queues: &[(i64, f64)], generator: &mut SplitMix64, options: PolicyOptions, limit: usize) -> Vec<i64> {
    let mut queues = Cow::Borrowed(queues);
    if !queues.is_sorted_by_key(|(id, _)| *id) {
        queues.to_mut().sort_unstable_by_key(|(id, _)| *id);
    }
    let mut lots: Vec<(f64, i64)> = queues
        .iter()
        .map(|&(id, priority)| match options.order {
            Order::Random => (key(generator, priority, options.lottery), id),
            Order::Greedy => (-priority, id),
        })
        .collect();
    let by_lot = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if limit < lots.len() {
        lots.select_nth_unstable_by(limit, by_lot);
        lots.truncate(limit);
    }
    lots.sort_unstable_by(by_lot);
    lots.into_iter().map(|(_, id)| id).collect()
}

/// The job that is taken from a queue; none if it has no jobs.
///
/// Random: one uniform number for each job in ascending order gives the user priority; one more the job among the 50 oldest
/// with it. Without lots: the highest real priority, then the oldest. Source: `docs/reference/dirac-shares.md` 5.1.
///
/// ```
/// use classmate_config::internal::config::dirac::PolicyOptions;
/// use classmate_pool::internal::priority::dirac::{QueuedJob, SplitMix64, draw_job};
/// let jobs = [(11, 1.0), (12, 1.0), (14, 1.0), (13, 9.0)].map(|(id, user_priority)| QueuedJob { id, user_priority });
/// let mut generator = SplitMix64::new(7);
/// let drawn = [(); 3].map(|()| draw_job(&jobs, &mut generator, PolicyOptions::default()).unwrap());
/// assert_eq!(drawn, [12, 13, 13]);
/// ```
pub fn draw_job(jobs: &[QueuedJob], generator: &mut SplitMix64, options: PolicyOptions) -> Option<i64> {
    draw_listed(jobs, 0, generator, options).map(|drawn| drawn.job)
}

/// A job that was drawn from a queue of which not all jobs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// The number of the job, or of one that represents it.
    pub job: i64,
    /// Its position among those with its user priority, the oldest is 0; none if it is the job itself.
    pub place: Option<usize>,
}

/// The same for a queue with `unlisted` more jobs after the listed ones, all with the user priority of the last one: the first
/// of that priority represents any of them.
pub fn draw_listed(
    jobs: &[QueuedJob],
    unlisted: usize,
    generator: &mut SplitMix64,
    options: PolicyOptions,
) -> Option<Drawn> {
    let itself = |job: i64| Drawn { job, place: None };
    let first = jobs.first()?;
    if options.order == Order::Random
        && jobs.is_sorted_by_key(|job| job.id)
        && jobs.iter().all(|job| job.user_priority == first.user_priority)
    {
        // The priority of the best lot is that of all.
        generator.skip((jobs.len() + unlisted) as u64);
        let place = (generator.next_u64() % (jobs.len() + unlisted).min(WINDOW) as u64) as usize;
        return match unlisted {
            0 => jobs.get(place).map(|job| itself(job.id)),
            _ => Some(Drawn { job: first.id, place: Some(place) }),
        };
    }
    let mut jobs: Vec<QueuedJob> = jobs.to_vec();
    jobs.sort_unstable_by_key(|job| job.id);
    if options.order == Order::Greedy {
        let better = |a: &&QueuedJob, b: &&QueuedJob| {
            real_priority(a.user_priority).total_cmp(&real_priority(b.user_priority)).then(b.id.cmp(&a.id))
        };
        return jobs.iter().max_by(better).map(|job| itself(job.id));
    }
    let mut lot = |job: &QueuedJob| key(generator, real_priority(job.user_priority), options.lottery);
    let lots: Vec<(f64, &QueuedJob)> = jobs.iter().map(|job| (lot(job), job)).collect();
    let by_lot = |a: &(f64, &QueuedJob), b: &(f64, &QueuedJob)| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id));
    let best = lots.into_iter().min_by(by_lot)?;
    let last = jobs.last()?.user_priority;
    let behind = (0..unlisted).map(|_| key(generator, real_priority(last), options.lottery));
    let drawn = if behind.fold(f64::INFINITY, f64::min) < best.0 { last } else { best.1.user_priority };
    let alike: Vec<i64> = jobs.iter().filter(|job| job.user_priority == drawn).map(|job| job.id).collect();
    let unlisted = if drawn == last { unlisted } else { 0 };
    let place = (generator.next_u64() % (alike.len() + unlisted).clamp(1, WINDOW) as u64) as usize;
    match unlisted {
        0 => alike.get(place).copied().map(itself),
        _ => alike.first().map(|&job| Drawn { job, place: Some(place) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(queues: &[(i64, f64)], seed: u64, options: PolicyOptions, times: usize) -> Vec<Vec<i64>> {
        let mut generator = SplitMix64::new(seed);
        (0..times).map(|_| draw_order(queues, &mut generator, options, MAX_TRIED)).collect()
    }

    /// `docs/reference/dirac-shares.md` 7.11.
    #[test]
    fn seeded_draws_are_those_of_the_contract() {
        let queues = [(3, 0.001), (1, 1000.0), (2, 250.0)];
        let found = order(&queues, 42, PolicyOptions::default(), 6);
        assert_eq!(found, [[2, 1, 3], [2, 1, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]);
        let jobs =
            [(11, 1.0), (12, 1.0), (13, 9.0), (14, 1.0)].map(|(id, user_priority)| QueuedJob { id, user_priority });
        let mut generator = SplitMix64::new(7);
        let drawn: Vec<_> = (0..8).filter_map(|_| draw_job(&jobs, &mut generator, PolicyOptions::default())).collect();
        assert_eq!(drawn, [12, 13, 13, 13, 13, 13, 13, 12]);
    }

    #[test]
    fn jobs_that_are_not_listed_have_their_lots_all_the_same() {
        let queue = |priority: &dyn Fn(i64) -> f64| -> Vec<QueuedJob> {
            (0..200).map(|id| QueuedJob { id, user_priority: priority(id) }).collect()
        };
        let alike = queue(&|_| 3.0);
        // The first five are others, of whom any may have the best lot.
        let mixed = queue(&|id| if id < 5 { 9.0 } else { 1.0 });
        for jobs in [alike, mixed] {
            for lottery in [Lottery::Observed, Lottery::Proportional] {
                let options = PolicyOptions { lottery, ..PolicyOptions::default() };
                let (mut all, mut listed) = (SplitMix64::new(11), SplitMix64::new(11));
                for _ in 0..500 {
                    let Drawn { job, place } = draw_listed(&jobs[..7], 193, &mut listed, options).unwrap();
                    let alike = jobs.iter().filter(|other| other.user_priority == jobs[job as usize].user_priority);
                    let drawn = place.map_or(job, |place| alike.map(|job| job.id).nth(place).unwrap());
                    assert_eq!(Some(drawn), draw_job(&jobs, &mut all, options));
                    assert_eq!(all, listed);
                }
            }
        }
    }

    #[test]
    fn without_lots_the_highest_priority_goes_first() {
        let greedy = PolicyOptions { order: Order::Greedy, ..PolicyOptions::default() };
        assert_eq!(order(&[(4, 5.0), (1, 1.0), (3, 5.0)], 1, greedy, 1), [[3, 4, 1]]);
        let jobs = [(2, 12.0), (1, 3.0), (3, 10.0)].map(|(id, user_priority)| QueuedJob { id, user_priority });
        assert_eq!(draw_job(&jobs, &mut SplitMix64::new(1), greedy), Some(2), "10 and more are worth the same");
        assert_eq!(draw_job(&[], &mut SplitMix64::new(1), greedy), None);
    }

    #[test]
    fn only_ten_queues_are_tried() {
        let queues: Vec<(i64, f64)> = (1..=100).map(|id| (id, 1.0)).collect();
        let all = draw_order(&queues, &mut SplitMix64::new(5), PolicyOptions::default(), usize::MAX);
        let first = draw_order(&queues, &mut SplitMix64::new(5), PolicyOptions::default(), MAX_TRIED);
        assert_eq!((all.len(), &all[..MAX_TRIED]), (100, &first[..]));
    }

    #[test]
    fn only_the_oldest_of_a_priority_are_taken() {
        let jobs: Vec<QueuedJob> = (0..1000).rev().map(|id| QueuedJob { id, user_priority: 1.0 }).collect();
        let mut generator = SplitMix64::new(3);
        let drawn: Vec<i64> =
            (0..200).filter_map(|_| draw_job(&jobs, &mut generator, PolicyOptions::default())).collect();
        assert!(drawn.iter().all(|id| (0..50).contains(id)) && drawn.iter().any(|id| *id > 40), "{drawn:?}");
    }

    #[test]
    fn the_proportional_lottery_is_proportional_and_the_observed_one_is_not() {
        let first = |lottery| {
            let options = PolicyOptions { lottery, ..PolicyOptions::default() };
            let drawn = order(&[(1, 3.0), (2, 1.0)], 9, options, 20_000);
            drawn.iter().filter(|order| order[0] == 1).count() as f64 / 20_000.0
        };
        // Standard deviations: 0.003.
        assert!((first(Lottery::Proportional) - 0.75).abs() < 0.01, "{}", first(Lottery::Proportional));
        assert!((first(Lottery::Observed) - 5.0 / 6.0).abs() < 0.01, "{}", first(Lottery::Observed));
    }
}
