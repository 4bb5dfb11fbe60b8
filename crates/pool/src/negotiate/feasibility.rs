//! Whether any slot would do for a job, whoever has the slot.
//!
//! In: the queue, and the market before the first slot is taken. Out: a [`Feasibility`] for each job that is offered.

use hashbrown::HashSet;

use crate::negotiate::negotiation_loop::insert_submitter_attributes_at_start;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::priority::PriorityPolicy;
use crate::queue::Submitter;
use crate::queue::job::JobId;
use crate::queue::request::Queue;

/// An idle job, and whether any slot would do for it, whoever has the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feasibility {
    /// The job.
    pub job: JobId,
    /// The first job of the request it belongs to, if no slot would do; none if one would.
    pub infeasible_request: Option<JobId>,
}

/// Whether any slot would do for each job of the queue, by number.
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
            let mut ad = queue.request_ad(who, &request);
            insert_submitter_attributes_at_start(&mut ad, &submitters[who].name, policy, rules);
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
    // A job may be a candidate more than once; where any slot would do comes first.
    found.sort_unstable();
    found.dedup_by_key(|prospect| prospect.job);
    found
}
