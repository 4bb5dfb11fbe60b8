//! Submitters and jobs that a constraint of the negotiator leaves out.
//!
//! In: a snapshot and its settings. Out: sentences that name the constraint, with the values beside it.

use crate::explain::clauses::truth;
use crate::explain::values::of_ad;
use classmate::internal::plural::counted;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalOptions, Scope};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::advertised;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::internal::queue::{Job, Submitter};

/// The submitter that `NEGOTIATOR_SUBMITTER_CONSTRAINT` excludes, and a sentence; none if it does not, or without such a submitter.
pub(crate) fn submitter(
    snapshot: &Snapshot,
    rules: &Rules,
    settings: &EvalOptions,
    name: &str,
) -> Option<(Submitter, String)> {
    let constraint = rules.submitters.as_ref()?;
    let ads = advertised(snapshot, rules, settings);
    let own: Vec<(&ClassAd, Submitter)> = ads
        .iter()
        .filter_map(|ad| Some((&**ad, Submitter::new(ad, settings)?)))
        .filter(|(_, one)| one.name.to_string().eq_ignore_ascii_case(name))
        .collect();
    let is_out = |ad: &ClassAd| truth(Scope::new(ad, settings), constraint) != Truth::True;
    let (ad, one) = own.iter().find(|_| own.iter().all(|(ad, _)| is_out(ad)))?;
    let values = of_ad(constraint, ad, settings);
    let text = format!("NEGOTIATOR_SUBMITTER_CONSTRAINT excludes {}: `{constraint:#}` is not true{values}", one.name);
    Some((one.clone(), text))
}

/// The sentence on idle jobs of a submitter that `NEGOTIATOR_JOB_CONSTRAINT` excludes; none if there are none.
pub(crate) fn jobs_of(snapshot: &Snapshot, rules: &Rules, settings: &EvalOptions, submitter: &str) -> Option<String> {
    rules.jobs.as_ref()?;
    let domain = rules.knobs.accountant.domain.as_deref();
    let idle = snapshot.jobs.iter().filter(|ad| {
        let job = Job::new(ad, domain, settings);
        job.is_some_and(|job| job.activity == Activity::Idle && job.submitter.to_string() == submitter)
    });
    jobs(rules, settings, &idle.collect::<Vec<_>>(), "idle job")
}

/// The sentence on those of some jobs that `NEGOTIATOR_JOB_CONSTRAINT` excludes; none if there are none.
pub(crate) fn jobs(rules: &Rules, settings: &EvalOptions, jobs: &[&ClassAd], which: &str) -> Option<String> {
    let constraint = rules.jobs.as_ref()?;
    let out: Vec<&&ClassAd> =
        jobs.iter().filter(|ad| truth(Scope::new(ad, settings), constraint) != Truth::True).collect();
    let first = out.first()?;
    let values = of_ad(constraint, first, settings);
    let (out, all) = (out.len(), counted(jobs.len(), which));
    Some(format!("NEGOTIATOR_JOB_CONSTRAINT excludes {out} of {all}: `{constraint:#}` is not true{values}"))
}
