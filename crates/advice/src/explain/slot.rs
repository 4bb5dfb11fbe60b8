//! The reason a slot is idle, or its match: the jobs that it accepts, those that accept it, and their results in the cycle.

use std::collections::HashSet;

use classmate::internal::plural;
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{Clause, conditions_of, counted};
use crate::explain::cycle::left_out;
use crate::explain::cycle::obstacle::{of_cycle, protected};
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use crate::explain::full_slots;
use crate::explain::job_view::JobView;
use crate::explain::near_jobs::{FailedCondition, IdleJob, NearJobs, NearMissJobs, SlotChange};
use crate::explain::replay::division_of;
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::values::{tally, verb};
use classmate::internal::threads;
use classmate::{ClassAd, Name, Value};
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{Match, Outcome, PreparedPool, Snapshot};

/// The explanation of a slot that is idle, or of its match.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SlotExplanation {
    /// Its name.
    pub slot: String,
    /// `State`, as the ad has it.
    pub state: String,
    /// Its user.
    pub user: Option<String>,
    /// Its weight.
    pub weight: f64,
    /// The causes for which it is idle, the most significant first; or its match.
    pub causes: Vec<Cause>,
    /// Number of idle jobs.
    pub jobs: usize,
    /// Jobs that it accepts.
    pub accepted_by_slot: usize,
    /// Jobs that accept it.
    pub accepting_slot: usize,
    /// Jobs that it accepts and that accept it.
    pub matching: usize,
    /// The conditions of its Requirements, counted over the idle jobs.
    pub clauses: Vec<Clause>,
    /// The first conditions by which jobs reject it, and the number of jobs: of those that it accepts, or of all if it accepts none.
    pub refused_by: Vec<(String, usize)>,
    /// Idle jobs that do not match, by the conditions that fail, fewest first; nothing if one matches.
    pub nearest: Vec<NearJobs>,
    /// Changes after which a job matches, each tried; nothing if one matches.
    pub changes: Vec<SlotChange>,
    /// Submitters whose jobs match: matching jobs, jobs of these that got a slot, and why no more.
    pub candidates: Vec<CandidateSubmitter>,
    /// The match, if a job gets it.
    pub matched: Option<Match>,
}

/// A submitter some of whose jobs match a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CandidateSubmitter {
    /// The submitter.
    pub submitter: String,
    /// Its idle jobs that match.
    pub jobs: usize,
    /// Of these, those that got another slot.
    pub elsewhere: usize,
    /// The reason it got no more.
    pub stopped: String,
}

/// Explains a slot by all idle jobs; none if no slot that takes part has that name.
pub fn explain(prepared: &PreparedPool<'_>, outcome: &Outcome, name: &str) -> Option<SlotExplanation> {
    let (pool, snapshot) = (&PoolFacts::new(prepared), prepared.snapshot());
    let all = pool.slots.iter().chain(pool.left_out);
    let slot = all.into_iter().find(|slot| slot.name.to_string().eq_ignore_ascii_case(name))?;
    let (name, settings) = (slot.name.to_string(), &pool.settings);
    let domain = pool.rules.knobs.accountant.domain.as_deref();
    let idle = |ad| {
        let job = Job::new(ad, domain, settings).filter(|job| job.activity == Activity::Idle)?;
        Some(IdleJob { ad, submitter: job.submitter.to_string(), id: job.id, schedd: job.schedd.clone() })
    };
    let idle: Vec<IdleJob<'_>> = threads::map_all(&snapshot.jobs, idle).into_iter().flatten().collect();
    let conditions = conditions_of(&slot.ad, Name::new("Requirements"));
    let table = AdTable::of(idle.iter().map(|job| job.ad).collect(), &slot.ad, &[], settings);
    let classes = SlotClasses::of(&table, &slot.ad, &conditions);
    let mut matching: Vec<&IdleJob<'_>> =
        classes.ads(SlotClass::matches).into_iter().map(|at| &idle[at as usize]).collect();
    let mut unmet: Vec<String> = Vec::new();
    if let Some(requirements) = pool.order.requirements() {
        matching.retain(|job| {
            let names = requirements.unmet(job.ad, &[&slot.ad], settings);
            unmet.extend(names.iter().flatten().map(|name| (*name).to_owned()));
            names == [None]
        });
    }
    let withheld = classes.count(SlotClass::matches) - matching.len();
    let matched = outcome.matches.iter().find(|made| made.slot == name).cloned();
    let near_miss = NearMissJobs { slot, conditions: &conditions, table: &table, classes: &classes, jobs: &idle };
    let accepted_by_slot = classes.count(SlotClass::is_accepted);
    let refusing = near_miss.refusing(|class| accepted_by_slot == 0 || class.is_accepted());
    let (nearest, changes) =
        if matching.is_empty() && matched.is_none() { near_miss.nearest(pool) } else { Default::default() };
    let text = |state: Value| Some(String::from_utf8_lossy(state.as_bytes()?).into_owned());
    let mut explanation = SlotExplanation {
        state: slot.ad.constant("State").and_then(text).unwrap_or_default(),
        user: slot.user.as_ref().map(ToString::to_string),
        weight: slot.weight,
        causes: Vec::new(),
        jobs: idle.len(),
        accepted_by_slot,
        accepting_slot: classes.count(SlotClass::accepts),
        matching: matching.len(),
        clauses: counted(&conditions, classes.all.iter().map(|class| (class.one.as_slice(), class.size))),
        refused_by: refusing.iter().map(|refusal| (refusal.text.clone(), refusal.jobs)).collect(),
        nearest,
        changes,
        candidates: candidates(pool, snapshot, outcome, &matching, &name),
        matched,
        slot: name,
    };
    let refused = near_miss.refused_by_slot();
    explanation.causes = causes(&explanation, slot, (pool, prepared, outcome), (&matching, &refused, &refusing));
    if withheld > 0 && explanation.matched.is_none() {
        let reasons: Vec<String> =
            tally(unmet.into_iter().map(|name| (name, 1))).into_iter().map(|(name, _)| name).collect();
        let jobs = plural::counted(withheld, "idle job");
        let matches = verb(withheld, "matches", "match");
        let text = format!(
            "{jobs} {matches} by Requirements alone, but the policy does not give the slot to {}: {}",
            verb(withheld, "it", "them"),
            reasons.join(", ")
        );
        explanation.causes.push(Cause::plain(Reason::Unsatisfied, text));
    }
    Some(explanation)
}

fn candidates(
    pool: &PoolFacts,
    snapshot: &Snapshot,
    outcome: &Outcome,
    matching: &[&IdleJob<'_>],
    name: &str,
) -> Vec<CandidateSubmitter> {
    let absent = |submitter: &str| {
        let out = left_out::submitter(snapshot, &pool.rules, &pool.settings, submitter);
        out.map_or_else(|| "not in the cycle".to_owned(), |(_, text)| text)
    };
    let other = outcome.matches.iter().filter(|made| made.slot != name);
    let elsewhere: HashSet<_> = other.map(|made| (made.schedd.as_deref(), made.job)).collect();
    let candidate = |(submitter, jobs): (String, usize)| {
        let own = matching.iter().filter(|job| job.submitter == submitter);
        let line = outcome.submitters.iter().find(|line| line.submitter == submitter);
        CandidateSubmitter {
            jobs,
            elsewhere: own.filter(|job| elsewhere.contains(&(job.schedd.as_deref(), job.id))).count(),
            stopped: line.map_or_else(|| absent(&submitter), |line| line.stopped.as_str().to_owned()),
            submitter,
        }
    };
    tally(matching.iter().map(|job| (job.submitter.clone(), 1))).into_iter().take(20).map(candidate).collect()
}

/// The cause for a slot that is offline, draining or drained.
fn resting(slot: &Slot, pool: &PoolFacts) -> Option<Cause> {
    let facts = AdReader::of(&slot.ad, &pool.settings);
    let text = if facts.truth("Offline") == Some(true) {
        "it is offline (Offline is true): a match only wakes it"
    } else if facts.truth("Draining") == Some(true) {
        "it is draining (Draining is true)"
    } else if facts.string("State").is_some_and(|text| text.eq_ignore_ascii_case(b"Drained")) {
        "it is drained (State is \"Drained\")"
    } else {
        return None;
    };
    Some(Cause::plain(Reason::NotLookedAt, text))
}

/// The causes for which matching jobs may or may not preempt the user of a slot: of the first job of each submitter.
fn preempting(
    (pool, prepared): (&PoolFacts, &PreparedPool<'_>),
    slot: &Slot,
    found: &SlotExplanation,
    matching: &[&IdleJob<'_>],
) -> Vec<Cause> {
    let Some(user) = found.user.as_ref().filter(|_| found.matched.is_none() && found.matching > 0) else {
        return Vec::new();
    };
    let first_of = |one: &CandidateSubmitter| matching.iter().find(|job| job.submitter == one.submitter);
    let asking: Vec<_> = found.candidates.iter().filter(|one| one.submitter != *user).filter_map(first_of).collect();
    if asking.is_empty() {
        return vec![Cause::plain(Reason::Taken, format!("{user} uses it, and only its own jobs match"))];
    }
    let alone = pool.of_slot(slot);
    let mut causes: Vec<Cause> = Vec::new();
    for job in asking.into_iter().take(3) {
        let PreparedJob { ad, .. } = prepared.job(job.ad, job.submitter.as_bytes());
        let facts = PreCycleFacts::of(&JobView::of(&alone, &ad), &job.submitter, &[]);
        let kept: Vec<Cause> = protected(&facts, 0).into_iter().chain(facts.keeping).collect();
        let whose = format!("{user} uses it; job {} of {}", job.id, job.submitter);
        match kept.as_slice() {
            [] => causes.push(Cause::plain(Reason::Taken, format!("{whose} may preempt it"))),
            kept => {
                causes.extend(kept.iter().map(|cause| Cause::plain(cause.reason, format!("{whose}: {}", cause.text))));
            }
        }
    }
    causes
}

/// The sentences about the matching jobs of each submitter: the slots that they got instead, or why the first of them got none.
fn without_it(
    (pool, prepared): (&PoolFacts, &PreparedPool<'_>),
    outcome: &Outcome,
    found: &SlotExplanation,
    matching: &[&IdleJob<'_>],
) -> Vec<Cause> {
    /// Submitters whose jobs are looked at.
    const MAX_SUBMITTERS: usize = 4;
    let (queue, division) = (prepared.queued(), division_of(prepared));
    let record = OutcomeRecord::new(outcome, &queue);
    let sentence = |one: &CandidateSubmitter| {
        let own = || matching.iter().filter(|job| job.submitter == one.submitter);
        let made = |job: &IdleJob<'_>| record.matched(&job.submitter, (job.schedd.as_deref(), job.id));
        let Some(job) = own().find(|job| made(job).is_none()) else {
            let got = own().next().and_then(|job| Some((job.id, made(job)?)));
            return Some(match got.filter(|_| one.jobs == 1) {
                Some((id, made)) => format!("job {id} of {} matches, but got {}", one.submitter, made.slot),
                None => format!("the {} matching jobs of {} got other slots", one.jobs, one.submitter),
            });
        };
        let asker = prepared.job(job.ad, job.submitter.as_bytes());
        let (schedd, submitter) = (job.schedd.as_deref(), job.submitter.as_str());
        let asked = JobInCycle { id: job.id, schedd, submitter, activity: Activity::Idle, asker: &asker };
        let facts = PreCycleFacts::of(&JobView::of(pool, &asker.ad), submitter, &asker.unsent);
        let story = CycleTrace::of(&record, prepared.snapshot(), division.as_ref(), (pool, &facts), &asked);
        let cause = of_cycle(&story, (pool, &facts), &asked).into_iter().next();
        let why = cause.map_or_else(|| one.stopped.clone(), |cause| cause.text);
        let more = match (one.jobs - one.elsewhere).saturating_sub(1) {
            0 => String::new(),
            more => format!(" ({more} more of its jobs too)"),
        };
        Some(format!("job {} of {submitter} matches{more}, but {why}", job.id))
    };
    let sentences = found.candidates.iter().take(MAX_SUBMITTERS).filter_map(sentence);
    sentences.map(|text| Cause::plain(Reason::Taken, text)).collect()
}

/// The causes for which a slot is idle, or its match; with the matching jobs, and the conditions by which either side
/// rejects the other.
fn causes(
    found: &SlotExplanation,
    slot: &Slot,
    (pool, prepared, outcome): (&PoolFacts, &PreparedPool<'_>, &Outcome),
    (matching, refused, refusing): (&[&IdleJob<'_>], &[FailedCondition], &[FailedCondition]),
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let is_left_out = !pool.slots.iter().any(|one| std::ptr::eq(one, slot));
    if let Some(constraint) = pool.rules.slots.as_ref().filter(|_| is_left_out) {
        let text = format!("excluded by NEGOTIATOR_SLOT_CONSTRAINT: `{constraint:#}` is not true");
        causes.push(Cause::plain(Reason::LeftOut, text));
    }
    if let Some(made) = &found.matched {
        let whom = made.displaced.as_ref().map(|user| format!(", preempting {user}")).unwrap_or_default();
        let ground = match made.preempting {
            PreemptState::None => "",
            PreemptState::Rank => ": the slot prefers it",
            PreemptState::Priority => ": PREEMPTION_REQUIREMENTS is true",
        };
        let offline = if made.offline { "; it is offline, so the match only wakes it and the job waits" } else { "" };
        let text = format!(
            "matched to job {} of {} in spin {} of pie {}{whom}{ground}{offline}",
            made.job, made.submitter, made.spin, made.pie
        );
        causes.push(Cause::plain(Reason::Matched, text));
        causes.extend(resting(slot, pool));
        return causes;
    }
    causes.extend(resting(slot, pool));
    let in_use = full_slots::in_use(slot, &pool.settings);
    causes.extend(in_use.iter().map(|(_, text)| Cause::plain(Reason::Taken, text)));
    // What is in use, and what both sides say of one fact, is said once.
    let is_known = |some: &&FailedCondition| in_use.as_ref().is_some_and(|(name, _)| some.names.contains(&name.key()));
    let refused: Vec<&FailedCondition> = refused.iter().filter(|some| !is_known(some)).collect();
    let is_repeated = |some: &&FailedCondition| {
        found.accepted_by_slot == 0 && refused.iter().any(|known| known.key == some.key && known.jobs >= some.jobs)
    };
    let refusing: Vec<&FailedCondition> =
        refusing.iter().filter(|some| !is_known(some) && !is_repeated(some)).collect();
    let exclusion = pool.rules.trim.exclusion(slot, &pool.settings).filter(|_| !is_left_out);
    if let Some(why) = exclusion {
        causes.push(Cause::plain(Reason::NotLookedAt, format!("the cycle does not consider it: it is {why}")));
    }
    if found.jobs == 0 {
        causes.push(Cause::plain(Reason::NoSlots, "there are no idle jobs"));
        return causes;
    }
    if found.clauses.is_empty() {
        let text = "the slot does not have Requirements, so it does not match any job";
        causes.push(Cause::plain(Reason::NoRequirements, text));
        return causes;
    }
    let all = plural::counted(found.jobs, "idle job");
    let rejects = |some: &FailedCondition| {
        let text = if found.accepted_by_slot == 0 && some.jobs == found.jobs {
            format!("it rejects all idle jobs because of {}", some.phrase)
        } else {
            format!("it rejects {} of {all} because of {}", some.jobs, some.phrase)
        };
        Cause::plain(Reason::Refused, text)
    };
    let rejected = |some: &FailedCondition| {
        let jobs = if found.accepted_by_slot == 0 {
            format!("{all} {}", verb(some.jobs, "rejects", "reject"))
        } else {
            format!("the {} that it accepts reject", plural::counted(found.accepted_by_slot, "job"))
        };
        let text = format!("{} of {jobs} it because of {}", some.jobs, some.phrase);
        Cause::plain(Reason::NeverTrue, text)
    };
    if found.accepted_by_slot == 0 {
        let mut every = refused.iter().copied().filter(|refusal| refusal.jobs == found.jobs).peekable();
        if every.peek().is_some() {
            causes.extend(every.take(3).map(rejects));
        } else if in_use.is_none() {
            causes.push(Cause::plain(Reason::NotTogether, "no idle job satisfies all of its conditions together"));
            causes.extend(refused.iter().copied().take(3).map(rejects));
        }
        if found.accepting_slot == 0 {
            causes.extend(refusing.iter().copied().take(3).map(rejected));
        }
    } else if found.matching == 0 {
        causes.extend(refusing.iter().copied().take(3).map(rejected));
        causes.extend(refused.iter().copied().take(2).map(rejects));
    } else {
        let ads: Vec<&ClassAd> = matching.iter().map(|job| job.ad).collect();
        let constrained = left_out::jobs(&pool.rules, &pool.settings, &ads, "matching job");
        causes.extend(constrained.map(|text| Cause::plain(Reason::LeftOut, text)));
        if exclusion.is_none() {
            causes.extend(preempting((pool, prepared), slot, found, matching));
        }
        causes.extend(without_it((pool, prepared), outcome, found, matching));
    }
    causes
}
