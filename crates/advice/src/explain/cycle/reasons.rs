//! The causes for which jobs did not run in a cycle, those of the most jobs first.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::causes::of_match;
use crate::explain::cycle::obstacle::of_cycle;
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::trace::{JobInCycle, trace};
use crate::explain::job_view::JobView;
use classmate_config::ConfigError;
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{JobId, Outcome, PreparedPool, Snapshot};

/// A cause with the jobs it keeps waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommonCause {
    /// In a sentence.
    pub text: String,
    /// Jobs that wait for it.
    pub jobs: usize,
    /// Requests they belong to.
    pub requests: usize,
    /// The first job of one of the requests.
    pub example: String,
}

/// Maximum number of evaluated pairs of a request and a slot.
const MAX_EVALUATIONS: usize = 1_000_000;
/// Maximum number of explained requests.
const MAX_REQUESTS: usize = 50;

/// The most common causes: of the rejected requests with most jobs, and of submitters that had no turn.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn common(snapshot: &Snapshot, outcome: &Outcome) -> Result<Vec<CommonCause>, ConfigError> {
    let settings = snapshot.settings();
    let prepared = PreparedPool::for_explanation(snapshot)?;
    let domain = &prepared.rules().knobs.accountant.domain;
    let jobs: Vec<Job<'_>> = snapshot.jobs.iter().filter_map(|ad| Job::new(ad, domain.as_deref(), &settings)).collect();
    let got: HashSet<JobId> = outcome.matches.iter().map(|made| made.job).collect();
    // By submitter, the idle jobs that got nothing, in the order of their numbers.
    let mut left: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.activity == Activity::Idle) {
        if !got.contains(&job.id) {
            left.entry(job.submitter.to_string()).or_default().push(at);
        }
    }
    left.values_mut().for_each(|list| list.sort_by_key(|at| jobs[*at].id));
    let mut waiting = representatives(outcome, &jobs, &left);
    waiting.sort_by_key(|(at, count)| (std::cmp::Reverse(*count), jobs[*at].id));
    waiting.truncate((MAX_EVALUATIONS / snapshot.slots.len().max(1)).clamp(1, MAX_REQUESTS));
    let askers: Vec<PreparedJob> =
        waiting.iter().map(|(at, _)| prepared.job(&jobs[*at].ad, &jobs[*at].submitter)).collect();
    let pool = PoolFacts::new(&prepared);
    let division = (!outcome.groups.is_empty()).then(|| prepared.division());
    let mut found: BTreeMap<String, CommonCause> = BTreeMap::new();
    for ((at, count), asker) in waiting.iter().zip(&askers) {
        let job = &jobs[*at];
        let submitter = job.submitter.to_string();
        let asked = JobInCycle { id: job.id, submitter: &submitter, activity: job.activity, asker };
        let view = JobView::of(&pool, &asker.ad);
        let pre_cycle = PreCycleFacts::of(&view, &submitter);
        let known = (&pool, &pre_cycle);
        let story = trace(outcome, snapshot, division.as_ref(), known, &asked);
        let mut causes = of_cycle(&story, outcome, known, &asked);
        causes.extend(of_match(&view));
        let text = causes.into_iter().next().map_or_else(|| "no slots were left".to_owned(), |cause| cause.text);
        let example = job.id.to_string();
        let entry = found.entry(text.clone()).or_insert(CommonCause { text, jobs: 0, requests: 0, example });
        entry.jobs += count;
        entry.requests += 1;
    }
    let mut found: Vec<CommonCause> = found.into_values().collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.jobs));
    Ok(found)
}

/// A job of each rejected request, and of each submitter with jobs that were never rejected, with the number of jobs it
/// represents. Every job that is left is counted once: with the last refusal of a request that it belonged to.
fn representatives(outcome: &Outcome, jobs: &[Job<'_>], left: &HashMap<String, Vec<usize>>) -> Vec<(usize, usize)> {
    let mut waiting: BTreeMap<&str, Vec<usize>> =
        left.iter().map(|(submitter, list)| (submitter.as_str(), list.clone())).collect();
    let mut found: Vec<(usize, usize)> = Vec::new();
    // A request is rejected once in every pie; its jobs follow one another from the first that it names.
    for refused in outcome.rejections.iter().rev() {
        let Some(list) = waiting.get_mut(refused.submitter.as_str()) else { continue };
        let from = list.partition_point(|at| jobs[*at].id < refused.job);
        let to = list.len().min(from.saturating_add(refused.jobs));
        if let Some(at) = list[from..to].first().copied() {
            found.push((at, to - from));
            list.drain(from..to);
        }
    }
    found.extend(waiting.into_values().filter_map(|list| Some((*list.first()?, list.len()))));
    found
}
