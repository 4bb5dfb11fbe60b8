//! Suggested changes of a job, each made in a copy of the snapshot, in which the cycle is replayed: more slots that match are not a
//! match.
//!
//! In: a snapshot, and a job explained in its cycle. Out: the [`ReplayedJob`] of each suggestion that is shown. Nothing else is changed
//! in the copy, so that a change of the owner or the group, which is one of the submitter too, is not replayed.

use crate::explain::Explanation;
use crate::explain::causes::Reason;
use crate::explain::repair::nearest::is_identity;
use crate::explain::repair::suggestion::{ANY_STRING, Changed, ReplayedJob, Suggestion};
use crate::explain::replay::{ExplainedJob, without_suggestions};
use classmate_pool::internal::queue::Job;
use classmate_pool::{PreparedPool, Snapshot};

/// Slots, and jobs, of the largest pool whose cycle is replayed.
const MAX_ADS: usize = 20_000;

/// Replays the cycle with each suggestion that is shown, and puts those after which the job matches before those after which it stays
/// idle. The snapshot must have its slots.
pub fn replay(snapshot: &Snapshot, job: &ExplainedJob, explanation: &mut Explanation) {
    let is_small = |count: usize| (1..=MAX_ADS).contains(&count);
    let is_wanted = explanation.suggestions.iter().any(|one| one.is_shown);
    if !is_wanted || !is_small(snapshot.slots.len()) || !is_small(snapshot.jobs.len()) {
        return;
    }
    let settings = snapshot.settings();
    let is_mine = |at: &usize| Job::new(&snapshot.jobs[*at], None, &settings).is_some_and(|one| job.is_job(&one));
    let mut places = (0..snapshot.jobs.len()).filter(is_mine);
    // Of several jobs with one ID, it is not known which one matches.
    let (Some(at), None) = (places.next(), places.next()) else { return };
    let mut changed = snapshot.clone();
    for one in explanation.suggestions.iter_mut().filter(|one| one.is_shown) {
        let mut names = one.written.names().peekable();
        if names.peek().is_none() || names.any(is_identity) || has_placeholder(one) {
            continue;
        }
        changed.jobs[at] = snapshot.jobs[at].clone();
        one.written.write(&mut changed.jobs[at]);
        one.replayed = replayed(&changed, at, job);
    }
    matched_first(&mut explanation.suggestions);
}

/// Of the suggestions that were replayed, puts those after which the job matches before the others, but for those that only correct
/// mistakes; the rest stay in their places.
fn matched_first(all: &mut [Suggestion]) {
    let places: Vec<usize> = (0..all.len()).filter(|at| all[*at].replayed.is_some()).collect();
    let mut replayed: Vec<Suggestion> = places.iter().map(|at| all[*at].clone()).collect();
    let corrects = |one: &Suggestion| one.changes.iter().all(|change| change.of == Changed::Correction);
    replayed.sort_by_key(|one| !corrects(one) && one.replayed != Some(ReplayedJob::Matched));
    for (at, one) in places.into_iter().zip(replayed) {
        all[at] = one;
    }
}

/// Tests if a change leaves a string open, which is not a value then.
fn has_placeholder(one: &Suggestion) -> bool {
    let placeholder = format!("\"{ANY_STRING}\"");
    one.changes.iter().any(|change| change.after.contains(&placeholder))
}

/// A job in the cycle of a snapshot in which its ad was changed; none if it does not wait there.
fn replayed(snapshot: &Snapshot, at: usize, before: &ExplainedJob) -> Option<ReplayedJob> {
    let domain = snapshot.config.string("ACCOUNTING_DOMAIN").ok().flatten();
    let ad = snapshot.jobs.get(at)?;
    let job = Job::new(ad, domain.as_deref(), &snapshot.settings()).filter(|job| before.is_job(job))?;
    // Its submitter may be made of an attribute that changes, and is not one of the cycle then.
    if *job.submitter != *before.submitter().as_bytes() {
        return None;
    }
    let mut pool = PreparedPool::for_explanation(snapshot).ok()?;
    let found = without_suggestions(&mut pool, &ExplainedJob::of(&job, ad)).ok()?;
    if let Some(made) = found.cycle?.matched {
        // A match that the access point does not use leaves the job idle.
        return (!made.offline && !made.unused).then_some(ReplayedJob::Matched);
    }
    let first = found.causes.into_iter().next()?;
    let waits = !matches!(first.reason, Reason::NotIdle | Reason::Displaced);
    waits.then_some(ReplayedJob::Idle(first.label))
}
