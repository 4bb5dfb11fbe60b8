//! The obstacles that kept a job from a slot in a cycle, in sentences, the most significant first.

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::truth;
use crate::explain::cycle::competition::competition_causes;
use crate::explain::cycle::group_status::GroupStatus;
use crate::explain::cycle::limit_status::reached;
use crate::explain::cycle::pre_cycle::PreCycleFacts;
use crate::explain::cycle::trace::{CycleTrace, JobInCycle};
use crate::explain::values::verb;
use classmate::Scope;
use classmate::internal::eval::conditions::Connective;
use classmate::internal::value::logic::Truth;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::summary::Stopped;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::Activity;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{Match, Outcome, Rejection};

/// The sentence about a group whose allocation leaves no room for the lightest matching slot.
fn group_quota(group: &GroupStatus, lightest: f64) -> String {
    let heavy = if group.left > 0.0 && !group.capped {
        format!("; the lightest matching slot has weight {}", slots(lightest))
    } else {
        String::new()
    };
    let full =
        if group.allocated - group.usage < lightest { "has used its allocation" } else { "cannot use more slots" };
    format!(
        "group {} {full}: quota {}, allocated {}, in use {}, requested {}; {}{heavy}",
        group.group,
        slots(group.quota),
        slots(group.allocated),
        slots(group.usage),
        slots(group.demand),
        group.why
    )
}

/// The causes for which the job got no slot although some match, the most significant first; or its match.
pub fn of_cycle(
    story: &CycleTrace,
    outcome: &Outcome,
    (pool, pre_cycle): (&PoolFacts, &PreCycleFacts),
    asked: &JobInCycle<'_>,
) -> Vec<Cause> {
    if let Some(made) = &story.matched {
        let text =
            format!("the job matched {} in spin {} of pie {}{}", made.slot, made.spin, made.pie, displacing(made));
        return vec![Cause::new(Reason::Matched, text)];
    }
    if let Some(cause) = not_waiting(story, pool, asked) {
        return vec![cause];
    }
    if story.taken.usable == 0 {
        return partition(story, pool, asked).into_iter().collect();
    }
    let mut found = Vec::new();
    let weights = pre_cycle.usable.iter().map(|at| pool.of_slots[*at].weight);
    let lightest = weights.fold(f64::INFINITY, f64::min).min(1e9);
    let rejection = story.refused.as_ref().map(|refused| refused.rejection);
    // Requests like one that met a limit are not tried again.
    if rejection == Some(Rejection::ConcurrencyLimit) || rejection.is_none() {
        found.extend(story.limits.iter().filter_map(reached));
    }
    let group_full = story.group.as_ref().filter(|group| group.capped || group.left < lightest);
    let short = matches!(story.stopped, Some(Stopped::GroupQuota | Stopped::ShareUsed))
        || matches!(rejection, Some(Rejection::SubmitterLimit));
    if let Some(group) = group_full.filter(|_| short && rejection != Some(Rejection::ConcurrencyLimit)) {
        found.push(Cause::new(Reason::GroupQuota, group_quota(group, lightest)));
    }
    if story.stopped == Some(Stopped::AtCeiling) {
        let ceiling = story.ceiling.map(|ceiling| format!(" of {ceiling}")).unwrap_or_default();
        let got = outcome.matches.iter().filter(|made| made.submitter == asked.submitter).map(|made| made.weight);
        let uses = slots(story.usage + got.sum::<f64>());
        let text = format!("{} has reached its ceiling{ceiling}: {uses} in use", asked.submitter);
        found.push(Cause::new(Reason::Ceiling, text));
    }
    if rejection == Some(Rejection::PreemptionRequirements) {
        let failing =
            story.preemption.iter().filter(|clause| clause.joint != Connective::All && clause.together.is_some());
        for clause in failing.filter(|clause| clause.alone.yes < clause.alone.total()).take(3) {
            let (failing, total) = (clause.alone.total() - clause.alone.yes, clause.alone.total());
            let text = match clause.text.as_str() {
                "false" => {
                    let busy = verb(total, "slot is", "slots are");
                    format!(
                        "{total} matching {busy} busy, and PREEMPTION_REQUIREMENTS (`false`) never allows preemption"
                    )
                }
                text => format!(
                    "PREEMPTION_REQUIREMENTS protects {failing} of {total} matching slots in use: `{text}` is not true"
                ),
            };
            found.push(Cause::new(Reason::PreemptionRequirements, text));
        }
    }
    // Who has every slot that matches does not lack a share.
    let has_all = story.taken.left == 0
        && story.taken.in_use.is_empty()
        && story.taken.won.iter().all(|won| won.submitter == asked.submitter);
    let share = (story.stopped == Some(Stopped::ShareUsed) || rejection == Some(Rejection::SubmitterLimit)) && !has_all;
    if share && found.is_empty() {
        let turn = story.turns.last();
        let (fraction, limit) = turn.map_or((0.0, 0.0), |turn| (turn.share * 100.0, turn.limit));
        let text = format!(
            "submitter limit of {} reached: share {fraction:.1}% of the pie, {} in use before the cycle, {} matched, \
            limit {} in its last turn; the lightest matching slot has weight {}",
            asked.submitter,
            slots(story.usage),
            story.submitter_matched,
            slots(limit),
            slots(lightest)
        );
        found.push(Cause::new(Reason::Share, text));
    }
    if let Some(tally) = story.refused.as_ref().map(|refused| refused.slots).filter(|_| found.is_empty())
        && tally.prefers_its_job > 0
    {
        found.extend(pre_cycle.keeping.iter().cloned());
    }
    found.extend(partition(story, pool, asked));
    found.extend(competition_causes(&story.taken, pool, found.is_empty()));
    found
}

/// The partition of a job, if it keeps it from slots.
fn partition(story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Option<Cause> {
    let (name, slots) = pool.order.elsewhere(asked.id, pool.of_slots.iter().map(|facts| &facts.name))?;
    let all = pool.of_slots.len();
    let taken = story.taken.usable;
    (slots > 0).then(|| {
        let text = format!("partition `{name}` of the job has {} of {all} slots, {taken} of which match", all - slots);
        Cause::new(Reason::Unsatisfied, text)
    })
}

/// The user that a match preempts and the reason, or a note that the slot is offline.
fn displacing(made: &Match) -> String {
    let whom = made.displaced.as_deref().unwrap_or("another user");
    let mut text = match made.preempting {
        PreemptState::None => String::new(),
        PreemptState::Rank => format!(", preempting {whom}: the slot prefers this job"),
        PreemptState::Priority => {
            format!(", preempting {whom}: PREEMPTION_REQUIREMENTS is true and its priority is better")
        }
    };
    if made.offline {
        text.push_str("; the slot is offline, so the match only wakes it and the job waits for another cycle");
    }
    text
}

/// The cause for which the cycle does not offer the job.
fn not_waiting(story: &CycleTrace, pool: &PoolFacts, asked: &JobInCycle<'_>) -> Option<Cause> {
    let facts = AdReader::of(&asked.asker.ad, &pool.settings);
    if let Some(made) = &story.displaced {
        let ground = match made.preempting {
            PreemptState::Rank => "the slot prefers the other job",
            _ => "PREEMPTION_REQUIREMENTS is true and its priority is worse",
        };
        let text = format!("the job is preempted on {} by job {} of {}: {ground}", made.slot, made.job, made.submitter);
        return Some(Cause::new(Reason::Displaced, text));
    }
    if asked.activity != Activity::Idle {
        let status = facts.integer("JobStatus");
        let word = match status {
            Some(1) => "is in a universe that is not matched",
            Some(2) => "is running",
            Some(3) => "was removed",
            Some(4) => "is completed",
            Some(5) => "is held",
            Some(6) => "is transferring output",
            Some(7) => "is suspended",
            _ => "is not idle",
        };
        let status = status.map_or_else(|| "not defined".to_owned(), |status| status.to_string());
        let universe = facts.integer("JobUniverse").filter(|_| word.contains("universe"));
        let universe = universe.map(|universe| format!(", JobUniverse is {universe}")).unwrap_or_default();
        let reason = facts.string("HoldReason").map(|reason| format!(": {reason}")).unwrap_or_default();
        return Some(Cause::new(Reason::NotIdle, format!("the job {word} (JobStatus is {status}{universe}){reason}")));
    }
    if let Some(constraint) = &pool.rules.jobs {
        let holds = truth(Scope::new(&asked.asker.ad, &pool.settings), constraint);
        if holds != Truth::True {
            let text = format!("NEGOTIATOR_JOB_CONSTRAINT excludes the job: `{constraint:#}` is not true");
            return Some(Cause::new(Reason::LeftOut, text));
        }
    }
    if story.stopped.is_none() {
        let unknown = || {
            format!(
                "submitter {} is not in the cycle: it is not advertised, or its ad does not request any slots",
                asked.submitter
            )
        };
        return Some(Cause::new(Reason::LeftOut, story.left_out.clone().unwrap_or_else(unknown)));
    }
    None
}
