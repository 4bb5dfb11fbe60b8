//! The causes for which idle jobs got no slot in a cycle, those of the most jobs first.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;
use serde::Serialize;

use crate::explain::AbandonedSlots;
use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::causes::{Cause, Reason, of_match};
use crate::explain::cycle::obstacle::{CycleObstacle, SUBMITTER_LIMIT, held_back, of_cycle, unmatched as of_universe};
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use crate::explain::job_view::{JobView, expressions};
use crate::explain::replay::division_of;
use classmate::internal::plural::counted;
use classmate::internal::program::table::redefines_scopes;
use classmate::internal::threads;
use classmate_config::ConfigError;
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::negotiate::prepared::OfferedJob;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::{Activity, UNMATCHED_UNIVERSES};
use classmate_pool::{CycleOptions, JobId, Outcome, PreparedPool, Snapshot};

/// A cause with the jobs it keeps waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommonCause {
    /// The kind of the cause.
    pub reason: Reason,
    /// In words that are true of all these jobs.
    pub label: String,
    /// In a sentence about the example.
    pub text: String,
    /// Jobs that wait for it.
    pub jobs: usize,
    /// Groups of equal jobs that they belong to.
    pub requests: usize,
    /// The first of the jobs: its ID, or its `GlobalJobId` if another access point has a job with this ID.
    pub example: String,
    /// The group with which the label begins.
    #[serde(skip)]
    group: Option<String>,
}

impl CommonCause {
    /// The cause of a job that is in a universe that is not matched; of no jobs yet.
    fn of_universe(label: &str, job: &Job<'_>) -> Self {
        let (label, text, example) = (label.to_owned(), format!("the job {label}"), job.id.to_string());
        CommonCause { reason: Reason::NotIdle, label, text, jobs: 0, requests: 0, example, group: None }
    }
}

/// The causes for which some idle jobs got no slot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CauseSurvey {
    /// Number of idle jobs.
    pub idle: usize,
    /// Those that got a slot.
    pub matched: usize,
    /// Held jobs, which are not idle.
    #[serde(skip)]
    pub held: usize,
    /// Jobs that wait, but not for a match, by their universe.
    #[serde(skip)]
    pub unmatched: Vec<CommonCause>,
    /// The causes of the others, those of the most jobs first.
    pub causes: Vec<CommonCause>,
    /// The causes by submitter.
    #[serde(skip)]
    by_submitter: BTreeMap<String, Vec<CommonCause>>,
    /// Groups of equal jobs that were not evaluated: their cause is what the cycle recorded.
    #[serde(skip)]
    pub unexamined: usize,
    /// Slots whose evaluation was abandoned for some job, if there are any.
    #[serde(skip)]
    pub abandoned: Option<AbandonedSlots>,
}

impl CauseSurvey {
    /// The causes for which the idle jobs of a submitter got no slot, those of the most jobs first.
    pub fn of(&self, submitter: &str) -> &[CommonCause] {
        self.by_submitter.get(submitter).map_or(&[], Vec::as_slice)
    }

    /// The causes, where those that differ only in the group are one with the groups of the most jobs.
    pub fn by_kind(&self) -> Vec<CommonCause> {
        /// Groups that are named.
        const MAX_GROUPS: usize = 3;
        let kind = |one: &CommonCause| match &one.group {
            Some(group) => one.label.replacen(&format!("group {group}"), "", 1),
            None => one.label.clone(),
        };
        let mut kinds: IndexMap<String, Vec<&CommonCause>> = IndexMap::new();
        for one in &self.causes {
            kinds.entry(kind(one)).or_default().push(one);
        }
        let merged = |all: Vec<&CommonCause>| {
            let (jobs, requests) = all.iter().fold((0, 0), |sum, one| (sum.0 + one.jobs, sum.1 + one.requests));
            let first = all[0].clone();
            let Some(group) = first.group.as_ref().filter(|_| all.len() > 1) else { return first };
            let named = all.iter().filter_map(|one| Some(format!("{} ({})", one.group.as_ref()?, one.jobs)));
            let mut groups: Vec<String> = named.take(MAX_GROUPS).collect();
            groups.extend(all.len().checked_sub(MAX_GROUPS + 1).map(|more| counted(more + 1, "other group")));
            let label = first.label.replacen(&format!("group {group}"), "their group", 1);
            let label = format!("{label}: {}", groups.join(", "));
            CommonCause { label, jobs, requests, ..first }
        };
        let mut causes: Vec<CommonCause> = kinds.into_values().map(merged).collect();
        causes.sort_by_key(|one| std::cmp::Reverse(one.jobs));
        causes
    }
}

/// Maximum number of evaluated pairs of a job and a slot.
const MAX_EVALUATIONS: usize = 20_000_000;

/// Evaluations that take as long as to split the Requirements of slots.
const EVALUATIONS_PER_POLICY: usize = 50;

/// Evaluations that take as long as to find and to state the causes of a request.
const EVALUATIONS_PER_REQUEST: usize = 8000;

/// `JobStatus` of a job that waits, and of a held one.
const IDLE: i64 = 1;
const HELD: i64 = 5;

/// Jobs with the same expressions that are explained with one table of the slots.
const JOBS_PER_TABLE: usize = 64;

/// Idle jobs of one submitter that make equal requests.
struct EqualJobs<'s> {
    first: Job<'s>,
    submitter: String,
    jobs: usize,
}

/// Runs a cycle over a snapshot: its outcome, and the queue before it.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn ran(snapshot: &Snapshot) -> Result<(Outcome, Vec<OfferedJob>), ConfigError> {
    let mut pool = PreparedPool::new(snapshot)?;
    let queue = pool.queued();
    Ok((pool.negotiate(CycleOptions::default())?.outcome, queue))
}

/// The causes for which the idle jobs that are wanted got no slot in a cycle over the snapshot.
///
/// # Errors
/// A setting of the configuration that is wrong.
pub fn survey<'s>(
    snapshot: &'s Snapshot,
    record: &OutcomeRecord<'_>,
    wanted: impl Fn(&Job<'s>) -> bool,
) -> Result<CauseSurvey, ConfigError> {
    let prepared = PreparedPool::for_explanation(snapshot)?;
    let pool = PoolFacts::new(&prepared);
    let domain = pool.rules.knobs.accountant.domain.as_deref();
    let (mut idle, mut matched, mut held) = (0, 0, 0);
    let mut unmatched: IndexMap<&'static str, CommonCause> = IndexMap::new();
    // Jobs whose access point is not known may have the same ID.
    let mut matches: HashMap<(String, Option<Vec<u8>>, JobId), usize> = HashMap::new();
    for made in &record.outcome.matches {
        *matches.entry((made.submitter.clone(), made.schedd.as_deref().map(<[u8]>::to_vec), made.job)).or_default() +=
            1;
    }
    // Of equal requests, some may not be served yet.
    let mut equal: IndexMap<_, EqualJobs<'s>> = IndexMap::new();
    let jobs = snapshot.jobs.iter().filter_map(|ad| Job::new(ad, domain, &pool.settings));
    for job in jobs.filter(&wanted) {
        if job.activity != Activity::Idle {
            let facts = AdReader::of(&job.ad, &pool.settings);
            let (status, universe) = (facts.integer("JobStatus"), facts.integer("JobUniverse"));
            held += usize::from(status == Some(HELD));
            if status == Some(IDLE) && universe.is_some_and(|universe| UNMATCHED_UNIVERSES.contains(&universe)) {
                let label = of_universe(universe);
                unmatched.entry(label).or_insert_with(|| CommonCause::of_universe(label, &job)).jobs += 1;
            }
            continue;
        }
        idle += 1;
        let (submitter, id) = (job.submitter.to_string(), (job.schedd.as_deref(), job.id));
        let of_job = (submitter.clone(), id.0.map(<[u8]>::to_vec), id.1);
        if let Some(left) = matches.get_mut(&of_job).filter(|left| **left > 0) {
            *left -= 1;
            matched += 1;
            continue;
        }
        let back = pool.order.held_back(job.id).map(|held| held_back(held).label);
        // Jobs of one autocluster may differ in what a policy requires beside Requirements.
        let autocluster = record.autocluster(id).filter(|_| pool.order.requirements().is_none());
        let key = (submitter.clone(), autocluster.ok_or(job.id), back);
        let known = equal.entry(key).or_insert_with(|| EqualJobs { first: job.clone(), submitter, jobs: 0 });
        known.jobs += 1;
        if job.id < known.first.id {
            known.first = job;
        }
    }
    let mut equal: Vec<EqualJobs<'s>> = equal.into_values().collect();
    equal.sort_by_key(|one| (std::cmp::Reverse(one.jobs), one.first.id));
    let division = division_of(&prepared);
    // Jobs beyond the maximum are explained by what was recorded alone.
    let first = equal.first().map(|one| prepared.job(&one.first.ad, &one.first.submitter));
    let first = first.map(|asker| Arc::new(JobView::table(&pool, &asker.ad)));
    let policies = first.as_ref().map_or(0, |table| table.policies.count);
    let of_request = EVALUATIONS_PER_REQUEST + pool.slots.len() + policies * EVALUATIONS_PER_POLICY;
    let examined = equal.len().min(MAX_EVALUATIONS / of_request);
    let unexamined = equal.len() - examined;
    let askers: Vec<(&EqualJobs<'s>, PreparedJob)> =
        equal[..examined].iter().map(|one| (one, prepared.job(&one.first.ad, &one.first.submitter))).collect();
    let explained = |at: usize, table: &Arc<AdTable<'_>>| {
        let (EqualJobs { first, submitter, .. }, asker) = &askers[at];
        let schedd = first.schedd.as_deref();
        let asked = JobInCycle { id: first.id, schedd, submitter, activity: first.activity, asker };
        let view = JobView::with_table(&pool, &asker.ad, Arc::clone(table));
        let facts = PreCycleFacts::of(&view, submitter, &asker.unsent);
        let story = CycleTrace::of(record, snapshot, division.as_ref(), (&pool, &facts), &asked);
        let causes = of_cycle(&story, (&pool, &facts), &asked).into_iter().chain(of_match(&view, false).0);
        let cause = causes.into_iter().next().unwrap_or_else(|| recorded(record, submitter, first));
        (cause, view.abandoned())
    };
    let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, (_, asker)) in askers.iter().enumerate() {
        alike.entry((redefines_scopes(&asker.ad), expressions(&asker.ad))).or_default().push(at);
    }
    let parts: Vec<&[usize]> = alike.values().flat_map(|places| places.chunks(JOBS_PER_TABLE)).collect();
    let explained = threads::map_all(&parts, |places| {
        let known = first.as_ref().filter(|_| places[0] == 0);
        let table = known.map_or_else(|| Arc::new(JobView::table(&pool, &askers[places[0]].1.ad)), Arc::clone);
        places.iter().map(|at| (*at, explained(*at, &table))).collect::<Vec<_>>()
    });
    let mut explained: Vec<(usize, (Cause, Option<AbandonedSlots>))> = explained.into_iter().flatten().collect();
    explained.sort_unstable_by_key(|(at, _)| *at);
    let (causes, abandoned): (Vec<_>, Vec<_>) = explained.into_iter().map(|(_, found)| found).unzip();
    let abandoned =
        abandoned.into_iter().flatten().reduce(|one, other| if other.slots > one.slots { other } else { one });
    let rest = equal[examined..].iter().map(|one| recorded(record, &one.submitter, &one.first));
    let shared = shared_ids(snapshot, &pool, equal.iter().map(|one| one.first.id));
    let mut found: IndexMap<String, CommonCause> = IndexMap::new();
    let mut of: BTreeMap<String, IndexMap<String, CommonCause>> = BTreeMap::new();
    for (one, cause) in equal.iter().zip(causes.into_iter().chain(rest)) {
        let Cause { reason, label, text, group } = cause;
        let global = shared.contains(&one.first.id).then(|| one.first.ad.eval_string("GlobalJobId")).flatten();
        let example = global.unwrap_or_else(|| one.first.id.to_string());
        let new = CommonCause { reason, label, text, jobs: 0, requests: 0, example, group };
        for found in [&mut found, of.entry(one.submitter.clone()).or_default()] {
            // Of two policies, one may write `START` and the other `Start`.
            let cause = found.entry(new.label.to_ascii_lowercase()).or_insert_with(|| new.clone());
            cause.jobs += one.jobs;
            cause.requests += 1;
        }
    }
    let sorted = |found: IndexMap<String, CommonCause>| {
        let mut causes: Vec<CommonCause> = found.into_values().collect();
        causes.sort_by_key(|one| std::cmp::Reverse(one.jobs));
        causes
    };
    let by_submitter = of.into_iter().map(|(name, found)| (name, sorted(found))).collect();
    let unmatched = unmatched.into_values().collect();
    Ok(CauseSurvey { idle, matched, held, unmatched, causes: sorted(found), by_submitter, abandoned, unexamined })
}

/// Those of some IDs that jobs of several access points have.
fn shared_ids(snapshot: &Snapshot, pool: &PoolFacts<'_>, ids: impl Iterator<Item = JobId>) -> HashSet<JobId> {
    let mut schedds: HashMap<JobId, HashSet<Option<Vec<u8>>>> = ids.map(|id| (id, HashSet::new())).collect();
    let domain = pool.rules.knobs.accountant.domain.as_deref();
    for job in snapshot.jobs.iter().filter_map(|ad| Job::new(ad, domain, &pool.settings)) {
        if let Some(known) = schedds.get_mut(&job.id) {
            known.insert(job.schedd.as_deref().map(<[u8]>::to_vec));
        }
    }
    schedds.into_iter().filter(|(_, known)| known.len() > 1).map(|(id, _)| id).collect()
}

/// The cause of a job by what the cycle recorded alone.
fn recorded(record: &OutcomeRecord<'_>, submitter: &str, job: &Job<'_>) -> Cause {
    let refused = record.rejection(submitter, (job.schedd.as_deref(), job.id));
    let line = record.line(submitter);
    let stopped = line.map(|(_, line)| line.stopped);
    let (reason, label) = match CycleObstacle::of(refused, stopped) {
        CycleObstacle::ConcurrencyLimit => (Reason::ConcurrencyLimit, "concurrency limit reached".to_owned()),
        CycleObstacle::Limit(_) => (Reason::Share, SUBMITTER_LIMIT.to_owned()),
        CycleObstacle::PreemptionRequirements => {
            (Reason::PreemptionRequirements, "PREEMPTION_REQUIREMENTS protects matching slots in use".to_owned())
        }
        CycleObstacle::Rank => (Reason::Rank, "matching slots in use prefer the jobs they run".to_owned()),
        CycleObstacle::Taken => {
            let reason = refused.map(|refused| refused.reason.as_str());
            let stopped = stopped.map_or("submitter not in the cycle", |stopped| stopped.as_str());
            (Reason::Taken, reason.unwrap_or(stopped).to_owned())
        }
    };
    Cause::plain(reason, label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::ClassAd;

    #[test]
    fn jobs_of_two_access_points_with_one_id_are_two_jobs() {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let job = |schedd: &str, condition: &str| {
            ad(&format!(
                "[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"a@x\"; Owner = \"a\"; GlobalJobId = \"{schedd}#1.0#1\"; \
                 RequestCpus = 1; JobUniverse = 5; Requirements = {condition}]"
            ))
        };
        let slot = ad("[Name = \"slot1@m\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true; SlotWeight = 1]");
        let snapshot = Snapshot {
            slots: vec![slot],
            jobs: vec![job("s1", "true"), job("s2", "true")],
            now: 100,
            ..Snapshot::default()
        };
        let (outcome, queue) = ran(&snapshot).unwrap();
        let found = survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true).unwrap();
        assert_eq!((outcome.matches.len(), found.idle, found.matched), (1, 2, 1));
        assert_eq!(found.causes.iter().map(|cause| cause.jobs).sum::<usize>(), 1);
        // One of them matches no slot: it is this one that waits, and its rejection is the one that is named.
        let jobs = vec![job("s1", "TARGET.Cpus > 4"), job("s2", "true")];
        let snapshot = Snapshot { jobs, ..snapshot };
        let (outcome, queue) = ran(&snapshot).unwrap();
        let record = OutcomeRecord::new(&outcome, &queue);
        let id = JobId { cluster: 1, process: 0 };
        let got = [b"s1", b"s2"].map(|schedd| {
            let job = (Some(schedd.as_slice()), id);
            (record.matched("a@x", job).is_some(), record.rejection("a@x", job).is_some())
        });
        assert_eq!(got, [(false, true), (true, false)]);
        let found = survey(&snapshot, &record, |_| true).unwrap();
        assert_eq!((found.matched, found.causes[0].reason, found.causes[0].jobs), (1, Reason::NeverTrue, 1));
        // The ID alone would name the job that is matched.
        assert_eq!(found.causes[0].example, "s1#1.0#1");
    }
}
