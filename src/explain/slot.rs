//! Why a slot is idle, or who got it: which jobs it accepts, which accept it, and what became of them.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::ad::ClassAd;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::{Clause, Joint, Plan, Truth};
use crate::explain::kinds::{Kind, Kinds};
use crate::explain::panel::Panel;
use crate::explain::{Market, tally};
use crate::name::Name;
use crate::negotiate::Outcome;
use crate::negotiate::Snapshot;
use crate::negotiate::candidate::Tier;
use crate::negotiate::outcome::Match;
use crate::queue::Job;
use crate::queue::job::Activity;

/// Why a slot is idle, or who got it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlotExplanation {
    /// Its name.
    pub slot: String,
    /// `State`, as the ad has it.
    pub state: String,
    /// Who uses it.
    pub user: Option<String>,
    /// What it weighs.
    pub weight: f64,
    /// Why it is idle, the most telling first; or who gets it.
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
    /// Conditions of jobs that refuse it, with how many jobs that it accepts.
    pub refused_by: Vec<(String, usize)>,
    /// Submitters whose jobs match: matching jobs, jobs of these that got a slot, and why no more.
    pub candidates: Vec<Candidate>,
    /// The match, if somebody gets it.
    pub matched: Option<Match>,
}

/// A submitter some of whose jobs match a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Who.
    pub submitter: String,
    /// Its idle jobs that match.
    pub jobs: usize,
    /// Of these, those that got another slot.
    pub elsewhere: usize,
    /// Why it got no more.
    pub stopped: String,
}

/// Looks at a slot against all idle jobs; none if no slot that takes part has that name.
pub fn explain(market: &Market, snapshot: &Snapshot, outcome: &Outcome, name: &str) -> Option<SlotExplanation> {
    let at = market.names.iter().position(|one| one.eq_ignore_ascii_case(name))?;
    let (slot, settings) = (&market.slots[at], &market.settings);
    let domain = market.rules.knobs.accountant.domain.as_deref();
    let idle: Vec<(&ClassAd, String, String)> = snapshot
        .jobs
        .par_iter()
        .filter_map(|ad| {
            let job = Job::new(ad, domain, settings)?;
            (job.activity == Activity::Idle).then(|| (ad, job.submitter.to_string(), job.id.to_string()))
        })
        .collect();
    let plan = Plan::of(slot, Name::new("Requirements"));
    let panel = Panel::of(idle.iter().map(|(ad, ..)| *ad).collect(), slot, settings);
    let kinds = Kinds::of(&panel, slot, &plan);
    let matching: Vec<bool> = kinds.of.iter().map(|kind| kinds.kinds[*kind as usize].matches()).collect();
    let matched = outcome.matches.iter().find(|made| made.slot == market.names[at]).cloned();
    let mut explanation = SlotExplanation {
        slot: market.names[at].clone(),
        state: slot
            .constant("State")
            .and_then(|state| Some(String::from_utf8_lossy(state.as_bytes()?).into_owned()))
            .unwrap_or_default(),
        user: market.users[at].clone(),
        weight: market.weights[at],
        causes: Vec::new(),
        jobs: idle.len(),
        accepted_by_slot: kinds.count(Kind::is_accepted),
        accepting_slot: kinds.count(Kind::accepts),
        matching: kinds.count(Kind::matches),
        clauses: plan.counted(kinds.kinds.iter().map(|kind| (kind.one.as_slice(), kind.size))),
        refused_by: refusals(&kinds),
        candidates: candidates(outcome, &idle, &matching, &market.names[at]),
        matched,
    };
    explanation.causes = causes(&explanation, market.looked_at[at]);
    Some(explanation)
}

/// By which conditions jobs that a slot accepts refuse it first, and how many; the most jobs first.
fn refusals(kinds: &Kinds) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for kind in kinds.kinds.iter().filter(|kind| kind.is_accepted() && !kind.accepts()) {
        let plan = &kinds.policies[kind.policy].plan;
        let first = plan.required().find(|(at, _)| kind.many[*at] != Truth::True);
        let text = match first {
            Some((_, condition)) => condition.expr.to_string(),
            None if plan.conditions.is_empty() => "no Requirements".to_owned(),
            None => continue,
        };
        *counts.entry(text).or_default() += kind.size;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

fn candidates(outcome: &Outcome, idle: &[(&ClassAd, String, String)], matching: &[bool], name: &str) -> Vec<Candidate> {
    let jobs = || idle.iter().zip(matching).filter(|(_, matches)| **matches).map(|(job, _)| job);
    let got: hashbrown::HashMap<&str, &str> =
        outcome.matches.iter().map(|made| (made.job.as_str(), made.slot.as_str())).collect();
    let candidate = |(submitter, count): (String, usize)| Candidate {
        jobs: count,
        elsewhere: jobs()
            .filter(|(_, whose, id)| *whose == submitter && got.get(id.as_str()).is_some_and(|slot| *slot != name))
            .count(),
        stopped: outcome
            .submitters
            .iter()
            .find(|line| line.submitter == submitter)
            .map_or("took no part in the cycle", |line| line.stopped.as_str())
            .to_owned(),
        submitter,
    };
    tally(jobs().map(|(_, submitter, _)| submitter.clone())).into_iter().take(20).map(candidate).collect()
}

fn causes(found: &SlotExplanation, looked_at: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(made) = &found.matched {
        let whom = made.displaced.as_ref().map(|user| format!(", which displaces {user}")).unwrap_or_default();
        let ground = match made.preempting {
            Tier::None => "",
            Tier::Rank => ": the slot likes it better",
            Tier::Priority => ": its priority is better",
        };
        let text = format!(
            "job {} of {} gets it, in spin {} of pie {}{whom}{ground}",
            made.job, made.submitter, made.spin, made.pie
        );
        causes.push(Cause::new(Reason::Matched, text));
        return causes;
    }
    if !looked_at {
        let why = match &found.user {
            Some(user) => format!("{user} uses it, and such slots are not considered"),
            None => "it is retiring, shutting down, or wants no matches".to_owned(),
        };
        causes.push(Cause::new(Reason::NotLookedAt, format!("the cycle does not look at it: {why}")));
    }
    if found.jobs == 0 {
        causes.push(Cause::new(Reason::NoSlots, "no job is idle"));
        return causes;
    }
    if found.clauses.is_empty() {
        causes.push(Cause::new(Reason::NoRequirements, "the slot has no Requirements, and so it matches nothing"));
        return causes;
    }
    if found.accepted_by_slot == 0 {
        let required = found.clauses.iter().filter(|clause| clause.joint != Joint::All && clause.together.is_some());
        let mut never: Vec<&Clause> = required.filter(|clause| clause.alone.yes == 0).collect();
        never.sort_by_key(|clause| clause.depth);
        for clause in never.into_iter().take(3) {
            let via = clause.via.last().map(|name| format!(" in `{name}`")).unwrap_or_default();
            let text = format!("it refuses every idle job by `{}`{via}", clause.text);
            causes.push(Cause::new(Reason::Refused, text));
        }
        if causes.is_empty() {
            causes.push(Cause::new(Reason::NotTogether, "no idle job satisfies all of its conditions together"));
        }
    } else if found.matching == 0 {
        for (text, count) in found.refused_by.iter().take(3) {
            let text = format!("{count} of the {} jobs that it accepts refuse it by `{text}`", found.accepted_by_slot);
            causes.push(Cause::new(Reason::NeverTrue, text));
        }
    } else {
        if let Some(user) = &found.user {
            causes
                .push(Cause::new(Reason::Taken, format!("{user} uses it, and no job that matches may displace them")));
        }
        for one in found.candidates.iter().take(4) {
            let text = format!(
                "{} of the {} jobs of {} that match got other slots; {}",
                one.elsewhere, one.jobs, one.submitter, one.stopped
            );
            causes.push(Cause::new(Reason::Taken, text));
        }
    }
    causes
}
