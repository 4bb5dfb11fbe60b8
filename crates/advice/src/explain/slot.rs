//! The reason a slot is idle, or its match: the jobs that it accepts, those that accept it, and their results in the cycle.

use classmate::internal::plural;
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{Clause, conditions_of, counted, deciding_leaves, truth};
use crate::explain::cycle::left_out;
use crate::explain::cycle::slot_rank::RankObjection;
use crate::explain::near_jobs::{FailedCondition, IdleJob, NearJobs, NearMissJobs, SlotChange};
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::values::{beside, tally, verb};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::Reference;
use classmate::internal::threads;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name, Scope, Value};
use classmate_pool::internal::negotiate::PreparedJob;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::preemption::PreemptionRefusal;
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::{JobId, Match, Outcome, PreparedPool, Snapshot};

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
        Some(IdleJob { ad, submitter: job.submitter.to_string(), id: job.id })
    };
    let idle: Vec<IdleJob<'_>> = threads::map_all(&snapshot.jobs, idle).into_iter().flatten().collect();
    let conditions = conditions_of(&slot.ad, Name::new("Requirements"));
    let table = AdTable::of(idle.iter().map(|job| job.ad).collect(), &slot.ad, &[], settings);
    let classes = SlotClasses::of(&table, &slot.ad, &conditions);
    let matching: Vec<&IdleJob<'_>> =
        classes.ads(SlotClass::matches).into_iter().map(|at| &idle[at as usize]).collect();
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
    explanation.causes = causes(&explanation, slot, (pool, prepared), (&matching, &refused, &refusing));
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
    let elsewhere: hashbrown::HashSet<JobId> =
        outcome.matches.iter().filter(|made| made.slot != name).map(|made| made.job).collect();
    let candidate = |(submitter, jobs): (String, usize)| {
        let own = matching.iter().filter(|job| job.submitter == submitter);
        let line = outcome.submitters.iter().find(|line| line.submitter == submitter);
        CandidateSubmitter {
            jobs,
            elsewhere: own.filter(|job| elsewhere.contains(&job.id)).count(),
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
    Some(Cause::new(Reason::NotLookedAt, text))
}

/// The causes for which matching jobs may or may not preempt the user of a slot.
fn preempting(
    (pool, prepared): (&PoolFacts, &PreparedPool<'_>),
    slot: &Slot,
    found: &SlotExplanation,
    matching: &[&IdleJob<'_>],
) -> Vec<Cause> {
    let Some(user) = found.user.as_ref().filter(|_| found.matched.is_none() && found.matching > 0) else {
        return Vec::new();
    };
    let uses = |more: String| vec![Cause::new(Reason::Taken, format!("{user} uses it, {more}"))];
    let first_of = |one: &CandidateSubmitter| matching.iter().find(|job| job.submitter == one.submitter);
    let asking: Vec<_> = found.candidates.iter().filter(|one| one.submitter != *user).filter_map(first_of).collect();
    if asking.is_empty() {
        return uses("and only its own jobs match".to_owned());
    }
    let (preemption, settings) = (&pool.rules.preemption, &pool.settings);
    let always = Expr::literal(Literal::Bool(true));
    let name = Name::new("PREEMPTION_REQUIREMENTS");
    let mut with = slot.ad.clone();
    with.insert_expr(name, preemption.requirements.as_ref().unwrap_or(&always));
    let conditions = conditions_of(&with, name);
    let mut allowed: Vec<&str> = Vec::new();
    let mut terms: Vec<(String, String, usize)> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for job in &asking {
        let PreparedJob { ad, .. } = prepared.job(job.ad, job.submitter.as_bytes());
        let pair = (user.as_bytes(), job.submitter.as_bytes());
        match preemption.verdict(&slot.ad, &ad, pair, false, settings) {
            Err(PreemptionRefusal::Requirements) => {}
            Err(PreemptionRefusal::Rank) => {
                kept.push(RankObjection::of(&slot.ad, &ad, settings).sentence(&job.submitter));
                continue;
            }
            _ => {
                allowed.push(&job.submitter);
                continue;
            }
        }
        let scope = Scope::new(&with, settings).with_target(&ad);
        let row: Vec<Truth> = conditions.all.iter().map(|condition| truth(scope, &condition.expr)).collect();
        for (at, _) in deciding_leaves(&conditions, &row, 0) {
            let expr = &conditions.all[at].expr;
            let text = format!("{expr:#}");
            if let Some(known) = terms.iter_mut().find(|known| known.0 == text) {
                known.2 += 1;
                continue;
            }
            let values = beside(expr, |Reference { name, .. }| {
                let of_job = Scope::new(&ad, settings).with_target(&with);
                let value = if with.contains(name) { scope } else { of_job }.eval_attr(name);
                format!("{name} is {:#}", value.unwrap_or(Value::Undefined))
            });
            terms.push((text, values, 1));
        }
    }
    if !allowed.is_empty() {
        let whose = allowed.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        return uses(format!("and jobs of {whose} may preempt it, but did not need it or reached a limit"));
    }
    kept.dedup();
    let by_rank = kept.into_iter().take(3).map(|text| Cause::new(Reason::Rank, format!("{user} uses it, and {text}")));
    terms.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    let submitters = plural::counted(asking.len(), "submitter");
    let term = |(text, values, count): (String, String, usize)| {
        let text = format!(
            "{user} uses it, and PREEMPTION_REQUIREMENTS protects it from {count} of {submitters} with matching jobs: \
            `{text}` is not true{values}"
        );
        Cause::new(Reason::PreemptionRequirements, text)
    };
    by_rank.chain(terms.into_iter().take(3).map(term)).collect()
}

/// The causes for which a slot is idle, or its match; with the matching jobs, and the conditions by which either side
/// rejects the other.
fn causes(
    found: &SlotExplanation,
    slot: &Slot,
    (pool, prepared): (&PoolFacts, &PreparedPool<'_>),
    (matching, refused, refusing): (&[&IdleJob<'_>], &[FailedCondition], &[FailedCondition]),
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let is_left_out = !pool.slots.iter().any(|one| std::ptr::eq(one, slot));
    if let Some(constraint) = pool.rules.slots.as_ref().filter(|_| is_left_out) {
        let text = format!("excluded by NEGOTIATOR_SLOT_CONSTRAINT: `{constraint:#}` is not true");
        causes.push(Cause::new(Reason::LeftOut, text));
    }
    if let Some(made) = &found.matched {
        let whom = made.displaced.as_ref().map(|user| format!(", preempting {user}")).unwrap_or_default();
        let ground = match made.preempting {
            PreemptState::None => "",
            PreemptState::Rank => ": the slot prefers it",
            PreemptState::Priority => ": its priority is better",
        };
        let offline = if made.offline { "; it is offline, so the match only wakes it and the job waits" } else { "" };
        let text = format!(
            "matched to job {} of {} in spin {} of pie {}{whom}{ground}{offline}",
            made.job, made.submitter, made.spin, made.pie
        );
        causes.push(Cause::new(Reason::Matched, text));
        causes.extend(resting(slot, pool));
        return causes;
    }
    causes.extend(resting(slot, pool));
    if !is_left_out && !pool.rules.trim.keeps(slot, &pool.settings) {
        let why = match &found.user {
            Some(user) => format!("{user} uses it, and slots in this state are not considered"),
            None => "it is retiring, shutting down, or does not want matches".to_owned(),
        };
        causes.push(Cause::new(Reason::NotLookedAt, format!("the cycle does not consider it: {why}")));
    }
    if found.jobs == 0 {
        causes.push(Cause::new(Reason::NoSlots, "there are no idle jobs"));
        return causes;
    }
    if found.clauses.is_empty() {
        let text = "the slot does not have Requirements, so it does not match any job";
        causes.push(Cause::new(Reason::NoRequirements, text));
        return causes;
    }
    let all = plural::counted(found.jobs, "idle job");
    let rejects = |some: &FailedCondition| {
        let text = if found.accepted_by_slot == 0 && some.jobs == found.jobs {
            format!("it rejects all idle jobs because of {}", some.phrase)
        } else {
            format!("it rejects {} of {all} because of {}", some.jobs, some.phrase)
        };
        Cause::new(Reason::Refused, text)
    };
    let rejected = |some: &FailedCondition| {
        let jobs = if found.accepted_by_slot == 0 {
            format!("{all} {}", verb(some.jobs, "rejects", "reject"))
        } else {
            format!("the {} jobs that it accepts reject", found.accepted_by_slot)
        };
        let text = format!("{} of {jobs} it because of {}", some.jobs, some.phrase);
        Cause::new(Reason::NeverTrue, text)
    };
    if found.accepted_by_slot == 0 {
        let mut every = refused.iter().filter(|refusal| refusal.jobs == found.jobs).peekable();
        if every.peek().is_some() {
            causes.extend(every.take(3).map(rejects));
        } else {
            causes.push(Cause::new(Reason::NotTogether, "no idle job satisfies all of its conditions together"));
            causes.extend(refused.iter().take(3).map(rejects));
        }
        causes.extend(refusing.iter().take(3).map(rejected));
    } else if found.matching == 0 {
        causes.extend(refusing.iter().take(3).map(rejected));
        causes.extend(refused.iter().take(2).map(rejects));
    } else {
        let ads: Vec<&ClassAd> = matching.iter().map(|job| job.ad).collect();
        let constrained = left_out::jobs(&pool.rules, &pool.settings, &ads, "matching job");
        causes.extend(constrained.map(|text| Cause::new(Reason::LeftOut, text)));
        causes.extend(preempting((pool, prepared), slot, found, matching));
        for one in found.candidates.iter().take(4) {
            let text = format!(
                "{} of the {} matching jobs of {} got other slots; {}",
                one.elsewhere, one.jobs, one.submitter, one.stopped
            );
            causes.push(Cause::new(Reason::Taken, text));
        }
    }
    causes
}
