//! The competition for the slots that a job could have used, and the reasons it lost.

use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::cycle::order::precedence_of_policy;
use crate::explain::cycle::trace::JobInCycle;
use crate::explain::values::tally;
use classmate::internal::plural::counted;
use classmate_pool::internal::priority::pie::starvation;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{JobId, Match, Outcome};

/// Slots that a submitter got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WonSlots {
    /// The submitter.
    pub submitter: String,
    /// Number of slots.
    pub slots: usize,
    /// The reason it was served before the job.
    pub why: String,
}

/// The users of slots that the job could have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Competition {
    /// Slots that match the job, claimed or not.
    pub usable: usize,
    /// Of these, those that are still unclaimed after the cycle.
    pub left: usize,
    /// Those that other jobs got in this cycle, by submitter.
    pub won: Vec<WonSlots>,
    /// Those that were in use before the cycle and were not matched, by user.
    pub in_use: Vec<(String, usize)>,
    /// Those that the cycle did not consider: in use while preemption is not considered, retiring, or shutting down.
    pub not_looked_at: usize,
}

/// The reason one submitter was served before another: the first key in which they differ; `JobPrio` is not known here.
fn precedence(outcome: &Outcome, pool: &PoolFacts, (winner, winning): (&str, JobId), loser: &JobInCycle<'_>) -> String {
    let visit = |name: &str| outcome.negotiations.iter().find(|visit| visit.submitter == name);
    let JobInCycle { submitter: loser, id: job, .. } = *loser;
    if let Some(why) = precedence_of_policy(&pool.order, winning, job, [visit(winner), visit(loser)]) {
        return why;
    }
    if winner == loser {
        return "its own jobs with a higher JobPrio or lower job ID were matched first".to_owned();
    }
    let (Some(won), Some(lost)) = (visit(winner), visit(loser)) else {
        return "this submitter did not negotiate".to_owned();
    };
    if won.group != lost.group {
        let name = |group: &Option<String>| group.clone().unwrap_or_default();
        return format!("group {} negotiates before {}", name(&won.group), name(&lost.group));
    }
    let place = |name: &str| outcome.negotiations.iter().position(|visit| visit.submitter == name);
    if place(winner) > place(loser) {
        return "matched later, in a later pie spin or with slots that this submitter could not take".to_owned();
    }
    if won.priority < lost.priority {
        format!("its priority is better: {:.2} against {:.2}", won.priority, lost.priority)
    } else {
        // The next key: starvation, computed with the limit before it was reduced to what was left of the pie.
        let [one, other] = [won, lost].map(|visit| {
            let own = pool.of_slots.iter().filter(|slot| slot.user.as_deref() == Some(visit.submitter.as_str()));
            starvation(own.map(|slot| slot.weight).sum(), visit.limit + visit.starved)
        });
        if one < other {
            format!(
                "same priority ({:.2}), but it used less of its share: {} against {}",
                won.priority,
                slots(one),
                slots(other)
            )
        } else if won.priority > lost.priority {
            format!("its priority is {:.2} against {:.2}, but JobPrio orders it first", won.priority, lost.priority)
        } else {
            format!("same priority ({:.2}); ties go to the submitter that was seen first, then by name", won.priority)
        }
    }
}

/// The users of some slots of the pool, apart from the job itself.
pub(crate) fn competition(
    outcome: &Outcome,
    pool: &PoolFacts,
    loser: &JobInCycle<'_>,
    usable: &[usize],
) -> Competition {
    let (own, others): (Vec<&Match>, Vec<&Match>) = outcome.matches.iter().partition(|made| made.job == loser.id);
    let got: HashMap<&str, &Match> = own.iter().chain(&others).map(|made| (made.slot.as_str(), *made)).collect();
    // For each submitter, its first job that was matched on a usable slot.
    let wanted: HashSet<&str> = usable.iter().map(|at| pool.of_slots[*at].name.as_str()).collect();
    let mut winning: HashMap<&str, JobId> = HashMap::new();
    for made in others.iter().filter(|made| wanted.contains(made.slot.as_str())) {
        winning.entry(&made.submitter).or_insert(made.job);
    }
    let (mut won, mut in_use, mut left, mut not_looked_at) = (Vec::new(), Vec::new(), 0, 0);
    for slot in usable.iter().map(|at| &pool.of_slots[*at]) {
        not_looked_at += usize::from(!slot.is_considered);
        match (got.get(slot.name.as_str()), &slot.user) {
            (Some(made), _) if made.job != loser.id => won.push((made.submitter.clone(), 1)),
            (Some(_), _) => {}
            (None, Some(user)) => in_use.push((user.clone(), 1)),
            (None, None) => left += 1,
        }
    }
    let won = tally(won).into_iter().filter_map(|(submitter, slots)| {
        let why = precedence(outcome, pool, (&submitter, *winning.get(submitter.as_str())?), loser);
        Some(WonSlots { submitter, slots, why })
    });
    Competition { usable: usable.len(), left, won: won.collect(), in_use: tally(in_use), not_looked_at }
}

/// The causes: slots not considered, slots that others got, slots in use. `first`: no cause was found before.
pub(crate) fn competition_causes(taken: &Competition, pool: &PoolFacts, first: bool) -> Vec<Cause> {
    let mut found = Vec::new();
    let usable = counted(taken.usable, "matching slot");
    if first && taken.not_looked_at > 0 && taken.not_looked_at == taken.usable {
        let why = if pool.rules.trim.preemption {
            "retiring or shutting down"
        } else {
            "in use, and NEGOTIATOR_CONSIDER_PREEMPTION is false"
        };
        let text = format!("the cycle does not consider any of the {usable}: {why}");
        found.push(Cause::new(Reason::NotLookedAt, text));
    }
    for won in taken.won.iter().take(3) {
        let text = format!("{} took {} of the {usable}: {}", won.submitter, won.slots, won.why);
        found.push(Cause::new(Reason::Taken, text));
    }
    for (who, count) in taken.in_use.iter().take(3) {
        found.push(Cause::new(Reason::Taken, format!("{who} uses {count} of the {usable}")));
    }
    found
}
