//! The feasibility of jobs: a job is feasible if it matches any slot, claimed or not.
//!
//! In: the queue, and the matcher before the first slot is taken. Out: a [`Feasibility`] for each job that is offered.

use hashbrown::HashSet;

use crate::negotiate::request_standing::submitter_attributes_at_start;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::priority::PriorityPolicy;
use crate::queue::Submitter;
use crate::queue::job::JobId;
use crate::queue::request::Queue;
use classmate::internal::ad::Excerpts;

/// The feasibility of an idle job: feasible if it matches any slot, claimed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feasibility {
    /// The job.
    pub job: JobId,
    /// The first job of its request, if no slot matches; `None` if the job is feasible.
    pub infeasible_request: Option<JobId>,
}

/// The feasibility of each job of the queue, by job ID. One request of each autocluster is tested.
pub(super) fn feasibility(
    market: &dyn SlotMatcher,
    queue: &Queue<'_>,
    submitters: &[Submitter],
    rules: &Rules,
    policy: &dyn PriorityPolicy,
) -> Vec<Feasibility> {
    let mut stuck: HashSet<u32> = HashSet::new();
    for (who, request) in queue.first_of_each() {
        let ad = || {
            let mut ad = queue.request_ad(who, &request, &mut Excerpts::default());
            ad.update(&submitter_attributes_at_start(&submitters[who].name, policy, rules));
            ad
        };
        if !market.is_feasible(request.autocluster, &ad) {
            stuck.insert(request.autocluster);
        }
    }
    let mut found: Vec<Feasibility> = Vec::new();
    for (autocluster, jobs) in queue.runs() {
        let mut jobs = jobs.peekable();
        let infeasible_request = jobs.peek().copied().filter(|_| stuck.contains(&autocluster));
        found.extend(jobs.map(|job| Feasibility { job, infeasible_request }));
    }
    // A job may have several candidacies: a feasible one sorts first, and is kept.
    found.sort_unstable();
    found.dedup_by_key(|prospect| prospect.job);
    found
}
