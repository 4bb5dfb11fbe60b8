//! A job explained together with the cycle that is replayed over the same slots.
//!
//! In: a prepared pool and one of its jobs. Out: an [`Explanation`] with the cycle's [`CycleTrace`].
//!
//! [`CycleTrace`]: crate::explain::cycle::trace::CycleTrace

use crate::explain::causes::{Cause, Reason};
use crate::explain::cycle::leftovers::leftovers;
use crate::explain::cycle::obstacle::{of_cycle, of_factory};
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use crate::explain::job_view::JobView;
use crate::explain::repair::nearest::{NearSlots, gives_up, is_identity, nearest};
use crate::explain::repair::suggestion::{Changed, Suggestion, TestedChange};
use crate::explain::{Explanation, PoolFacts, SlotFacts, find, replayed_change, tested_setting};
use classmate::{ClassAd, Name, Text};
use classmate_config::ConfigError;
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{CycleOptions, JobId, Match, Outcome, PreparedPool, Snapshot};

/// A job of a snapshot, by itself.
#[derive(Debug, Clone)]
pub struct ExplainedJob {
    id: JobId,
    schedd: Option<Text>,
    submitter: Vec<u8>,
    activity: Activity,
    ad: ClassAd,
}

impl ExplainedJob {
    /// A job and its ad.
    pub fn of(job: &Job<'_>, ad: &ClassAd) -> Self {
        ExplainedJob {
            id: job.id,
            schedd: job.schedd.clone(),
            submitter: job.submitter.to_vec(),
            activity: job.activity,
            ad: ad.clone(),
        }
    }

    /// Its submitter.
    pub(super) fn submitter(&self) -> String {
        String::from_utf8_lossy(&self.submitter).into_owned()
    }

    /// Its ad.
    pub(super) fn ad(&self) -> &ClassAd {
        &self.ad
    }

    /// Tests if a match is the job's, whatever group it names.
    pub(super) fn is_of(&self, made: &Match) -> bool {
        made.job == self.id && made.schedd.as_deref() == self.schedd.as_deref()
    }

    /// Tests if it is a job of a snapshot.
    pub(super) fn is_job(&self, job: &Job<'_>) -> bool {
        job.id == self.id && job.schedd == self.schedd
    }
}

/// Explains why a job is idle, or which slot it matched, in a cycle over the snapshot, which it runs: the one of
/// [`negotiate`](classmate_pool::negotiate). `None` if the snapshot has no such job.
///
/// # Errors
/// A setting that is wrong for a cycle.
///
/// ```
/// use classmate_advice::explain_job;
/// use classmate_pool::Snapshot;
/// let pool = Snapshot::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/stuck"))?;
/// let explanation = explain_job(&pool.snapshot, "2.0".parse()?)?.ok_or("no such job")?;
/// for cause in &explanation.causes {
///     println!("{}", cause.text);
/// }
/// assert!(explanation.causes[0].text.contains("did you mean `HasSingularity`?"));
/// assert!(explain_job(&pool.snapshot, "99999.0".parse()?)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain_job(snapshot: &Snapshot, id: JobId) -> Result<Option<Explanation>, ConfigError> {
    let Some((job, ad)) = find(snapshot, |job, _| job.id == id) else { return Ok(None) };
    of_job(&mut PreparedPool::for_explanation(snapshot)?, &ExplainedJob::of(&job, ad), true).map(Some)
}

/// Explains a job, with a cycle if it is wanted. The pool must be prepared for explanations; a cycle uses it up. Settings are
/// tested, and suggestions replayed, if the snapshot has its slots.
///
/// # Errors
/// A setting that is wrong for a cycle.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_advice::internal::explain::{find, replay::{ExplainedJob, of_job}};
/// use classmate_pool::{PreparedPool, Snapshot};
/// let snapshot = Snapshot {
///     slots: vec![ClassAd::parse(b"[Name = \"s\"; State = \"Unclaimed\"; Requirements = true]")?],
///     jobs: vec![ClassAd::parse(b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Requirements = true]")?],
///     ..Snapshot::default()
/// };
/// let subject = find(&snapshot, |_, _| true).map(|(job, ad)| ExplainedJob::of(&job, ad)).unwrap();
/// let explanation = PreparedPool::for_explanation(&snapshot).and_then(|mut prepared| of_job(&mut prepared, &subject, true));
/// assert_eq!(explanation.unwrap().causes[0].text, "the job matched s in spin 1 of pie 1");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn of_job(
    prepared: &mut PreparedPool<'_>,
    subject: &ExplainedJob,
    cycle: bool,
) -> Result<Explanation, ConfigError> {
    let asker = prepared.job(&subject.ad, &subject.submitter);
    let pool = PoolFacts::new(prepared).for_job(&asker.ad, &prepared.settings());
    let before = BeforeCycle::of(&pool, subject, &asker);
    if !cycle {
        return Ok(before.explanation);
    }
    let pool = pool.without_slots();
    let (mut explanation, outcome) = before.in_cycle(prepared, &pool)?;
    let snapshot = prepared.snapshot();
    explanation.settings = tested_setting::settings(snapshot, subject, (&outcome, &pool), &explanation);
    replayed_change::replay(snapshot, subject, &mut explanation);
    Ok(explanation)
}

/// Explains a job with a cycle, as [`of_job`] does, but without suggestions and settings.
pub(super) fn without_suggestions(
    prepared: &mut PreparedPool<'_>,
    subject: &ExplainedJob,
) -> Result<Explanation, ConfigError> {
    let asker = prepared.job(&subject.ad, &subject.submitter);
    let pool = PoolFacts::new(prepared).for_job(&asker.ad, &prepared.settings());
    let before = BeforeCycle::with_changes(&JobView::of(&pool, &asker.ad), subject, &asker, Default::default());
    let pool = pool.without_slots();
    Ok(before.in_cycle(prepared, &pool)?.0)
}

/// The division of the pool among the groups, if there are any.
pub fn division_of(prepared: &PreparedPool<'_>) -> Option<Division> {
    (!prepared.rules().groups.tree.is_empty()).then(|| prepared.division())
}

/// A job explained before the cycle, with the facts that the cycle changes.
pub struct BeforeCycle<'j> {
    explanation: Explanation,
    facts: PreCycleFacts,
    subject: &'j ExplainedJob,
    asker: &'j PreparedJob,
}

impl<'j> BeforeCycle<'j> {
    /// Explains a job before the cycle; `asker` is the job as slots see it.
    pub fn of(pool: &PoolFacts<'_>, subject: &'j ExplainedJob, asker: &'j PreparedJob) -> Self {
        let view = JobView::of(pool, &asker.ad);
        Self::with_changes(&view, subject, asker, nearest(&view))
    }

    /// Explains a job before the cycle, with these slots as the nearest ones, and these changes as suggestions.
    fn with_changes(
        view: &JobView<'_>,
        subject: &'j ExplainedJob,
        asker: &'j PreparedJob,
        near: (Vec<NearSlots>, Vec<TestedChange>),
    ) -> Self {
        let pool = view.pool;
        let submitter = subject.submitter();
        let facts = PreCycleFacts::of(view, &submitter, &asker.unsent);
        let factory = of_factory(AdReader::of(&subject.ad, &pool.settings), subject.activity);
        let id = if factory.is_some() { subject.id.cluster.to_string() } else { subject.id.to_string() };
        let mut explanation = view.with_changes(id, submitter, near);
        if pool.order.requirements().is_some() {
            // Changes were tested by Requirements alone.
            explanation.matching = facts.usable.len();
            explanation.suggestions.clear();
        }
        if let Some(cause) = factory {
            (explanation.causes, explanation.others) = (vec![cause], 0);
            explanation.judge_suggestions();
        }
        BeforeCycle { explanation, facts, subject, asker }
    }

    /// Runs the cycle. Returns the explanation with the job's part in it, and the outcome.
    fn in_cycle(
        self,
        prepared: &mut PreparedPool<'_>,
        pool: &PoolFacts<'_>,
    ) -> Result<(Explanation, Outcome), ConfigError> {
        let (queue, division) = (prepared.queued(), division_of(prepared));
        let outcome = prepared.negotiate(CycleOptions::default())?.outcome;
        let explanation = {
            let record = OutcomeRecord::new(&outcome, &queue);
            self.after(&record, (prepared.snapshot(), division.as_ref()), pool)
        };
        Ok((explanation, outcome))
    }

    /// The explanation with the job's part in the cycle.
    pub fn after(
        self,
        record: &OutcomeRecord<'_>,
        (snapshot, division): (&Snapshot, Option<&Division>),
        pool: &PoolFacts<'_>,
    ) -> Explanation {
        let BeforeCycle { mut explanation, facts, subject, asker } = self;
        let (submitter, activity) = (subject.submitter(), subject.activity);
        let schedd = subject.schedd.as_deref();
        let asked = JobInCycle { id: subject.id, schedd, submitter: &submitter, activity, asker };
        let story = CycleTrace::of(record, snapshot, division, (pool, &facts), &asked);
        let causes = of_cycle(&story, (pool, &facts), &asked);
        // Of a job that does not wait, what matches is no cause.
        let decided = causes.first().is_some_and(|cause| cause.reason != Reason::Unsatisfied);
        let is_matched = causes.first().is_some_and(|cause| cause.reason == Reason::Matched);
        if is_matched && explanation.matching == 0 && !asker.unsent.is_empty() {
            // The slot sees the whole job when it is claimed.
            let text = "the request matched, but no slot matches the whole job: a slot rejects it when it is claimed";
            let refused = Cause::new(Reason::NotSent, "slots require attributes that are not significant", text);
            explanation.causes.splice(0..0, causes.into_iter().chain([refused]));
        } else if decided {
            explanation.causes = causes;
            explanation.others = 0;
        } else {
            explanation.causes.splice(0..0, causes);
        }
        if story.matched.is_none() && activity == Activity::Idle {
            let leftovers = leftovers(record, snapshot, (pool, &facts.usable), (&story, &asked, &subject.ad));
            let at = explanation.causes.len().min(1);
            explanation.causes.splice(at..at, leftovers);
        }
        for suggestion in &mut explanation.suggestions {
            let facts = suggestion.won_slots.iter().map(|at| &pool.of_slots[*at as usize]);
            let is_won = |facts: &&SlotFacts| facts.exclusion.is_none() && record.is_unclaimed(facts);
            suggestion.unclaimed = facts.clone().filter(is_won).count();
            suggestion.transient = facts.filter(|facts| facts.dynamic && !record.is_unclaimed(facts)).count();
        }
        // Of equal suggestions for the job those that win unclaimed slots come first.
        let is_equal = |a: &Suggestion, b: &Suggestion| {
            let key =
                |one: &Suggestion| (one.changes.len(), one.changes.iter().map(|change| change.of).max(), one.slots);
            key(a) == key(b)
        };
        for equal in explanation.suggestions.chunk_by_mut(is_equal) {
            if equal[0].changes.iter().all(|change| change.of != Changed::Slot) {
                equal.sort_by_key(|one| std::cmp::Reverse(one.unclaimed));
            }
        }
        // So do those of as many changes, but for corrections.
        let kind = |one: &Suggestion| {
            let is = |of: Changed| one.changes.iter().any(|change| change.of == of);
            (one.changes.len(), one.reduction, is(Changed::Slot), is(Changed::Correction))
        };
        for equal in explanation.suggestions.chunk_by_mut(|a, b| kind(a) == kind(b)) {
            equal.sort_by_key(|one| one.unclaimed == 0);
        }
        // A change after which the job gets a slot comes before those that leave it idle, of changes that ask for much less, too.
        let order = |one: &Suggestion| {
            let is = |of: Changed| one.changes.iter().any(|change| change.of == of);
            let is_of_others = one.changes.iter().any(|change| is_identity(Name::new(&change.attribute)));
            let is_idle = one.unclaimed == 0 && !is(Changed::Correction);
            let reduction = if one.reduction > 0 { (one.changes.len(), one.reduction) } else { (0, 0) };
            let is_last = (one.changes.iter().any(gives_up), one.reduction > 0, is(Changed::Slot), is_of_others);
            (is_last, is_idle, reduction)
        };
        explanation.suggestions.sort_by_key(order);
        explanation.judge_suggestions();
        explanation.cycle = Some(story);
        explanation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use classmate::internal::format::long::LongReader;
    use classmate::internal::syntax::parse::ParseOptions;
    use classmate_config::internal::config::Config;
    use classmate_pool::internal::generate::{GeneratedPool, NOW};
    use classmate_pool::internal::negotiate::negotiate;

    /// A pool some of whose slots are in use, with groups or without, whose policy looks at what is in use.
    fn made(seed: u64) -> Snapshot {
        let groups = seed % 3;
        let pool = GeneratedPool {
            slots: 60,
            jobs: 80,
            autoclusters: 12,
            submitters: 5,
            groups,
            seed,
            ..GeneratedPool::default()
        };
        let (mut slots, mut jobs, mut config) = (Vec::new(), Vec::new(), Vec::new());
        pool.write_slots(&mut slots).unwrap();
        pool.write_jobs(&mut jobs).unwrap();
        pool.write_config(&mut config).unwrap();
        config.extend_from_slice(
            b"\nPREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2 && RemoteUserResourcesInUse > 2\n",
        );
        if seed % 2 == 1 {
            config.extend_from_slice(b"NEGOTIATOR_SLOT_CONSTRAINT = Memory > 4000\n");
        }
        let ads =
            |text: &[u8]| LongReader::new(text, &ParseOptions::default()).collect::<Result<Vec<ClassAd>, _>>().unwrap();
        let (mut slots, jobs) = (ads(&slots), ads(&jobs));
        for slot in slots.iter_mut().step_by(3) {
            slot.insert("State", "Claimed");
            slot.insert("RemoteUser", "somebody@else");
        }
        Snapshot { slots, jobs, config: Config::parse("config", &config).unwrap(), now: NOW, ..Snapshot::default() }
    }

    #[test]
    fn an_explanation_agrees_with_the_cycle_and_with_one_without_it() {
        let (mut matched, mut preempting) = (0, 0);
        for seed in 0..6 {
            let snapshot = made(seed);
            let outcome = negotiate(&snapshot).unwrap();
            for at in (0..snapshot.jobs.len()).step_by(9) {
                let ad = &snapshot.jobs[at];
                let subject =
                    find(&snapshot, |_, one| std::ptr::eq(one, ad)).map(|(job, ad)| ExplainedJob::of(&job, ad));
                let subject = subject.unwrap();
                let explained = |cycle| {
                    let mut prepared = PreparedPool::for_explanation(&snapshot).unwrap();
                    of_job(&mut prepared, &subject, cycle).unwrap()
                };
                let mut whole = explained(true);
                let story = whole.cycle.unwrap();
                let got = outcome.matches.iter().find(|made| made.job == subject.id);
                assert_eq!(story.matched.as_ref(), got);
                matched += usize::from(story.matched.is_some());
                preempting += usize::from(!story.preemption.is_empty());
                // Without the cycle the slots are explained in the same way.
                let mut alone = explained(false);
                for suggestions in [&mut whole.suggestions, &mut alone.suggestions] {
                    for one in suggestions.iter_mut() {
                        (one.unclaimed, one.transient, one.helps) = (0, 0, true);
                        (one.is_shown, one.replayed) = (false, None);
                    }
                    // Those that win unclaimed slots come first in a cycle.
                    suggestions.sort_by_key(|one| format!("{:?}", one.changes));
                }
                assert_eq!(
                    (alone.clauses, alone.policies, alone.suggestions),
                    (whole.clauses, whole.policies, whole.suggestions)
                );
            }
        }
        assert!(matched > 5 && preempting > 5, "{matched} {preempting}");
    }
}
