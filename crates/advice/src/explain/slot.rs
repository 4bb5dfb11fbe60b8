//! Why a slot is idle, or who got it: which jobs it accepts, which accept it, and what became of them.

use classmate::internal::plural;
use rayon::prelude::*;
use serde::Serialize;

use crate::explain::ad_table::AdTable;
use crate::explain::causes::{Cause, Reason, rejects};
use crate::explain::clauses::{Clause, conditions, counted, deciding_leaves, truth};
use crate::explain::cycle::left_out;
use crate::explain::cycle::slot_rank::RankObjection;
use crate::explain::names::references;
use crate::explain::near_jobs::{FailedCondition, NearJobs, NearMissJobs, SlotChange};
use crate::explain::prose::prose;
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::{Market, tally};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::Scope;
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::view::Reference;
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::outcome::Match;
use classmate_pool::internal::negotiate::preemption::PreemptionRefusal;
use classmate_pool::internal::negotiate::{Outcome, PreparedJob, PreparedPool, Snapshot};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::queue::job::Activity;

/// The explanation of a slot that is idle, or of its match.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Idle jobs looked at.
    pub jobs: usize,
    /// Jobs that it accepts.
    pub accepted_by_slot: usize,
    /// Jobs that accept it.
    pub accepting_slot: usize,
    /// Jobs that it accepts and that accept it.
    pub matching: usize,
    /// The conditions of its Requirements, counted over the idle jobs.
    pub clauses: Vec<Clause>,
    /// Conditions by which jobs refuse it first, with how many jobs: of those that it accepts, or of all if it accepts none.
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

/// A slot that is asked about.
struct ExplainedSlot<'m> {
    slot: &'m Slot,
    ad: &'m ClassAd,
    name: String,
    user: Option<String>,
    weight: f64,
    looked_at: bool,
    /// It is excluded by `NEGOTIATOR_SLOT_CONSTRAINT`.
    left_out: bool,
}

impl<'m> ExplainedSlot<'m> {
    fn of(market: &'m Market, name: &str) -> Option<Self> {
        if let Some(at) = market.names.iter().position(|one| one.eq_ignore_ascii_case(name)) {
            return Some(ExplainedSlot {
                slot: &market.slots[at],
                ad: &market.slots[at].ad,
                name: market.names[at].clone(),
                user: market.users[at].clone(),
                weight: market.weights[at],
                looked_at: market.looked_at[at],
                left_out: false,
            });
        }
        let slot = market.left_out.iter().find(|slot| slot.name.to_string().eq_ignore_ascii_case(name))?;
        Some(ExplainedSlot {
            slot,
            ad: &slot.ad,
            name: slot.name.to_string(),
            user: slot.user.as_ref().map(ToString::to_string),
            weight: slot.weight,
            looked_at: true,
            left_out: true,
        })
    }
}

/// Looks at a slot against all idle jobs; none if no slot that takes part has that name.
pub fn explain(pool: &PreparedPool<'_>, outcome: &Outcome, name: &str) -> Option<SlotExplanation> {
    let (market, snapshot) = (&Market::new(pool), pool.snapshot());
    let subject = ExplainedSlot::of(market, name)?;
    let (slot, settings) = (subject.ad, &market.settings);
    let domain = market.rules.knobs.accountant.domain.as_deref();
    let idle: Vec<(&ClassAd, String, String)> = snapshot
        .jobs
        .par_iter()
        .filter_map(|ad| {
            let job = Job::new(ad, domain, settings)?;
            (job.activity == Activity::Idle).then(|| (ad, job.submitter.to_string(), job.id.to_string()))
        })
        .collect();
    let plan = conditions(slot, Name::new("Requirements"));
    let panel = AdTable::of(idle.iter().map(|(ad, ..)| *ad).collect(), slot, settings);
    let kinds = SlotClasses::of(&panel, slot, &plan);
    let matching: Vec<bool> = kinds.of.iter().map(|kind| kinds.all[*kind as usize].matches()).collect();
    let matched = outcome.matches.iter().find(|made| made.slot == subject.name).cloned();
    let mut explanation = SlotExplanation {
        slot: subject.name.clone(),
        state: slot
            .constant("State")
            .and_then(|state| Some(String::from_utf8_lossy(state.as_bytes()?).into_owned()))
            .unwrap_or_default(),
        user: subject.user.clone(),
        weight: subject.weight,
        causes: Vec::new(),
        jobs: idle.len(),
        accepted_by_slot: kinds.count(SlotClass::is_accepted),
        accepting_slot: kinds.count(SlotClass::accepts),
        matching: kinds.count(SlotClass::matches),
        clauses: counted(&plan, kinds.all.iter().map(|kind| (kind.one.as_slice(), kind.size))),
        refused_by: Vec::new(),
        nearest: Vec::new(),
        changes: Vec::new(),
        candidates: candidates(market, snapshot, outcome, (&idle, &matching), &subject.name),
        matched,
    };
    let ids = idle.iter().map(|(_, _, id)| id.as_str()).collect();
    let near_miss = NearMissJobs { slot: subject.slot, plan: &plan, panel: &panel, kinds: &kinds, ids };
    let some = explanation.accepted_by_slot > 0;
    let refusing = near_miss.refusing(|kind| !some || kind.is_accepted());
    explanation.refused_by = refusing.iter().map(|refusal| (refusal.text.clone(), refusal.jobs)).collect();
    if explanation.matching == 0 && explanation.matched.is_none() {
        (explanation.nearest, explanation.changes) = near_miss.nearest(market);
    }
    let preempting = preempting(market, pool, &subject, &explanation, &idle, &matching);
    let matching_jobs: Vec<&ClassAd> =
        idle.iter().zip(&matching).filter(|(_, matches)| **matches).map(|((ad, ..), _)| *ad).collect();
    let constrained = left_out::jobs(&market.rules, settings, &matching_jobs, "matching job");
    explanation.causes =
        causes(&explanation, &subject, market, (constrained, preempting), (&near_miss.refused_by_slot(), &refusing));
    Some(explanation)
}

fn candidates(
    market: &Market,
    snapshot: &Snapshot,
    outcome: &Outcome,
    (idle, matching): (&[(&ClassAd, String, String)], &[bool]),
    name: &str,
) -> Vec<CandidateSubmitter> {
    let absent = |submitter: &str| {
        let out = left_out::submitter(snapshot, &market.rules, &market.settings, submitter);
        out.map_or_else(|| "not in the cycle".to_owned(), |(_, text)| prose(&text))
    };
    let jobs = || idle.iter().zip(matching).filter(|(_, matches)| **matches).map(|(job, _)| job);
    let got: hashbrown::HashMap<String, &str> =
        outcome.matches.iter().map(|made| (made.job.to_string(), made.slot.as_str())).collect();
    let candidate = |(submitter, count): (String, usize)| CandidateSubmitter {
        jobs: count,
        elsewhere: jobs()
            .filter(|(_, whose, id)| *whose == submitter && got.get(id.as_str()).is_some_and(|slot| *slot != name))
            .count(),
        stopped: outcome
            .submitters
            .iter()
            .find(|line| line.submitter == submitter)
            .map_or_else(|| absent(&submitter), |line| line.stopped.as_str().to_owned()),
        submitter,
    };
    tally(jobs().map(|(_, submitter, _)| submitter.clone())).into_iter().take(20).map(candidate).collect()
}

/// The cause for a slot that is offline, draining or drained.
fn resting(subject: &ExplainedSlot<'_>, market: &Market) -> Option<Cause> {
    let facts = AdReader::of(subject.ad, &market.settings);
    let is = |name: &str, value: &[u8]| facts.string(name).is_some_and(|text| text.eq_ignore_ascii_case(value));
    let text = if facts.truth("Offline") == Some(true) {
        "it is offline (Offline is true): a match only wakes it"
    } else if facts.truth("Draining") == Some(true) {
        "it is draining (Draining is true)"
    } else if is("State", b"Drained") {
        "it is drained (State is \"Drained\")"
    } else {
        return None;
    };
    Some(Cause::new(Reason::NotLookedAt, text))
}

/// The causes for which matching jobs may or may not preempt the user of a slot.
fn preempting(
    market: &Market,
    pool: &PreparedPool<'_>,
    subject: &ExplainedSlot<'_>,
    found: &SlotExplanation,
    idle: &[(&ClassAd, String, String)],
    matching: &[bool],
) -> Vec<Cause> {
    let Some(user) = subject.user.as_ref().filter(|_| found.matched.is_none() && found.matching > 0) else {
        return Vec::new();
    };
    let uses = |more: String| vec![Cause::new(Reason::Taken, format!("{user} uses it, {more}"))];
    let first_of = |candidate: &CandidateSubmitter| {
        let jobs = idle.iter().zip(matching);
        jobs.filter(|(job, matches)| **matches && job.1 == candidate.submitter).map(|(job, _)| job).next()
    };
    let asking: Vec<_> = found.candidates.iter().filter(|one| one.submitter != *user).filter_map(first_of).collect();
    if asking.is_empty() {
        return uses("and only its own jobs match".to_owned());
    }
    let preemption = &market.rules.preemption;
    let always = Expr::literal(Literal::Bool(true));
    let expr = preemption.requirements.as_ref().unwrap_or(&always);
    let askers: Vec<PreparedJob> = asking.iter().map(|(ad, who, _)| pool.job(ad, who.as_bytes())).collect();
    let name = Name::new("PREEMPTION_REQUIREMENTS");
    let mut with = subject.ad.clone();
    with.insert_expr(name, expr);
    let plan = conditions(&with, name);
    let mut allowed: Vec<&str> = Vec::new();
    let mut terms: Vec<(String, Vec<String>, usize)> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for (asker, (_, who, _)) in askers.iter().zip(&asking) {
        let scope = Scope::new(&with, &market.settings).with_target(&asker.ad);
        let row: Vec<Truth> = plan.all.iter().map(|condition| truth(scope, &condition.expr)).collect();
        let pair = (user.as_bytes(), who.as_bytes());
        match preemption.verdict(subject.ad, &asker.ad, pair, false, &market.settings) {
            Err(PreemptionRefusal::Requirements) => {}
            Err(PreemptionRefusal::Rank) => {
                kept.push(RankObjection::of(subject.ad, &asker.ad, &market.settings).told(who));
                continue;
            }
            _ => {
                allowed.push(who);
                continue;
            }
        }
        for (at, _) in deciding_leaves(&plan, &row, 0) {
            let expr = &plan.all[at].expr;
            let text = expr.to_string();
            if let Some(known) = terms.iter_mut().find(|known| known.0 == text) {
                known.2 += 1;
                continue;
            }
            let mut values: Vec<String> = Vec::new();
            for Reference { name, .. } in references(expr.tree(), expr.root()) {
                let value = if with.contains(name) {
                    scope.eval_attr(name)
                } else {
                    Scope::new(&asker.ad, &market.settings).with_target(&with).eval_attr(name)
                };
                let value = format!("{name} is {}", value.unwrap_or(Value::Undefined));
                if !values.contains(&value) && values.len() < 4 {
                    values.push(value);
                }
            }
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
    let term = |(text, values, count): (String, Vec<String>, usize)| {
        let values = if values.is_empty() { values.concat() } else { format!(" ({})", values.join(", ")) };
        let text = format!(
            "{user} uses it, and PREEMPTION_REQUIREMENTS protects it from {count} of {} with matching jobs: `{text}` \
            is not true{values}",
            plural::counted(asking.len(), "submitter")
        );
        Cause::new(Reason::PreemptionRequirements, text)
    };
    by_rank.chain(terms.into_iter().take(3).map(term)).collect()
}

fn causes(
    found: &SlotExplanation,
    subject: &ExplainedSlot<'_>,
    market: &Market,
    (constrained, preempting): (Option<String>, Vec<Cause>),
    (refused, refusing): (&[FailedCondition], &[FailedCondition]),
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let constrained = constrained.map(|text| Cause::new(Reason::LeftOut, text));
    if let Some(constraint) = market.rules.slots.as_ref().filter(|_| subject.left_out) {
        let text = format!("excluded by NEGOTIATOR_SLOT_CONSTRAINT: `{constraint}` is not true");
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
        causes.extend(resting(subject, market));
        return causes;
    }
    causes.extend(resting(subject, market));
    if !subject.looked_at {
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
        causes.push(Cause::new(
            Reason::NoRequirements,
            "the slot does not have Requirements, so it does not match any \
        job",
        ));
        return causes;
    }
    let all = plural::counted(found.jobs, "idle job");
    if found.accepted_by_slot == 0 {
        let every = refused.iter().filter(|refusal| refusal.jobs == found.jobs).take(3);
        let every = every.map(|refusal| format!("it rejects all idle jobs because of {}", refusal.told()));
        let before = causes.len();
        causes.extend(every.map(|text| Cause::new(Reason::Refused, text)));
        if causes.len() == before {
            causes.push(Cause::new(Reason::NotTogether, "no idle job satisfies all of its conditions together"));
            let some = refused.iter().take(3);
            let some = some.map(|refusal| {
                format!(
                    "it rejects {} of {all} because of \
                {}",
                    refusal.jobs,
                    refusal.told()
                )
            });
            causes.extend(some.map(|text| Cause::new(Reason::Refused, text)));
        }
        for refusal in refusing.iter().take(3) {
            let text = format!("{} of {all} {} it because of {}", refusal.jobs, rejects(refusal.jobs), refusal.told());
            causes.push(Cause::new(Reason::NeverTrue, text));
        }
    } else if found.matching == 0 {
        for refusal in refusing.iter().take(3) {
            let accepted = found.accepted_by_slot;
            let text = format!(
                "{} of the {accepted} jobs that it accepts reject it because of \
                {}",
                refusal.jobs,
                refusal.told()
            );
            causes.push(Cause::new(Reason::NeverTrue, text));
        }
        for refusal in refused.iter().take(2) {
            let text = format!("it rejects {} of {all} because of {}", refusal.jobs, refusal.told());
            causes.push(Cause::new(Reason::Refused, text));
        }
    } else {
        causes.extend(constrained);
        causes.extend(preempting);
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
