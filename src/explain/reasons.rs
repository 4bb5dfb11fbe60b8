//! Why the jobs of a cycle did not run: the causes of what was refused, the most jobs first.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::ConfigError;
use crate::explain::cycle::{Asked, of_cycle, story};
use crate::explain::{Market, why};
use crate::negotiate::Snapshot;
use crate::negotiate::outcome::{Outcome, Rejected};
use crate::negotiate::scene::{Asker, scene};
use crate::queue::Job;

/// A cause with the jobs it keeps waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Common {
    /// In a sentence.
    pub text: String,
    /// Jobs that wait for it.
    pub jobs: usize,
    /// Requests they belong to.
    pub requests: usize,
    /// The first job of one of the requests.
    pub example: String,
}

/// Pairs of a request and a slot that are looked at, at most.
const EVALUATIONS: usize = 1_000_000;
/// Requests that are looked at, at most.
const REQUESTS: usize = 50;

/// The most common causes: of the requests with most jobs that were refused, and of submitters that had no turn.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn common(snapshot: &Snapshot, outcome: &Outcome) -> Result<Vec<Common>, ConfigError> {
    // The last refusal of a request says how many are left.
    let mut last: BTreeMap<&str, &Rejected> = BTreeMap::new();
    for refused in &outcome.rejections {
        last.insert(&refused.job, refused);
    }
    let mut refused: Vec<&Rejected> = last.into_values().collect();
    refused.sort_by(|a, b| b.jobs.cmp(&a.jobs).then(a.job.cmp(&b.job)));
    refused.truncate((EVALUATIONS / snapshot.slots.len().max(1)).clamp(1, REQUESTS));
    let settings = snapshot.settings();
    let market = Market::of(snapshot)?;
    let domain = market.rules.knobs.accountant.domain.clone();
    let wanted: hashbrown::HashMap<&str, usize> =
        refused.iter().enumerate().map(|(at, one)| (one.job.as_str(), at)).collect();
    let mut jobs: Vec<Option<Job<'_>>> = Vec::new();
    jobs.resize_with(refused.len(), || None);
    for ad in &snapshot.jobs {
        if let Some(job) = Job::new(ad, domain.as_deref(), &settings)
            && let Some(at) = wanted.get(job.id.to_string().as_str())
        {
            jobs[*at] = Some(job);
        }
    }
    let mut found: BTreeMap<String, Common> = BTreeMap::new();
    let known: Vec<(&Rejected, &Job<'_>)> =
        refused.iter().zip(&jobs).filter_map(|(one, job)| Some((*one, job.as_ref()?))).collect();
    let asking: Vec<_> = known.iter().map(|(_, job)| (&*job.ad, &*job.submitter)).collect();
    let (_, askers): (_, Vec<Asker>) = scene(snapshot, &asking)?;
    for ((one, job), asker) in known.iter().zip(&askers) {
        let submitter = job.submitter.to_string();
        let asked = Asked { id: job.id, submitter: &submitter, activity: job.activity, asker };
        let mut causes = of_cycle(&story(outcome, snapshot, &market, &asked)?, outcome, &market, &asked);
        causes.extend(why(&market, &asker.ad));
        let text = causes.into_iter().next().map_or_else(|| one.reason.clone(), |cause| cause.text);
        let entry =
            found.entry(text.clone()).or_insert(Common { text, jobs: 0, requests: 0, example: one.job.clone() });
        entry.jobs += one.jobs;
        entry.requests += 1;
    }
    let mut found: Vec<Common> = found.into_values().collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.jobs));
    Ok(found)
}
