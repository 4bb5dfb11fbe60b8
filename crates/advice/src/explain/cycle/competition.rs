//! The users of the slots that a job could have used, and the turns in which they got them.

use hashbrown::HashSet;
use indexmap::IndexMap;
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::cycle::order::{ServiceOrder, precedence_of_policy, standing};
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::cycle::trace::{JobInCycle, floor};
use crate::explain::values::tally;
use classmate::internal::plural::counted;
use classmate_pool::internal::quota::derivation::slots;
use classmate_pool::{Match, Snapshot};

/// Slots that a submitter got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WonSlots {
    /// The submitter.
    pub submitter: String,
    /// Number of slots.
    pub slots: usize,
    /// Its turns in which it got them, among all turns of the cycle, from 1.
    pub turns: Vec<usize>,
    /// The turns, and the figures by which both submitters are ordered.
    pub why: String,
}

/// The users of slots that the job could have used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Competition {
    /// Slots that match the job, claimed or not.
    pub usable: usize,
    /// Of these, those that are still unclaimed after the cycle.
    pub left: usize,
    /// The weight of the lightest.
    #[serde(skip)]
    pub(crate) weight: f64,
    /// The weight of the lightest that the cycle considered, that matches requests and that is still unclaimed.
    #[serde(skip)]
    pub(crate) unclaimed_weight: Option<f64>,
    /// True if the job's group has all of them: another quota gives it no more.
    #[serde(skip)]
    pub(crate) is_of_group: bool,
    /// Those that other jobs got in this cycle, by submitter.
    pub won: Vec<WonSlots>,
    /// Of these, those that were in use by other submitters before the cycle and could be preempted.
    #[serde(skip)]
    pub(crate) preempted: usize,
    /// Those that were in use before the cycle and were not matched, by user.
    pub in_use: Vec<(String, usize)>,
    /// Those that the cycle did not consider: in use while preemption is not considered, within retirement
    /// time, or shutting down.
    pub not_looked_at: usize,
    /// The reasons for that, with the number of slots.
    pub excluded: Vec<(String, usize)>,
}

/// Numbers of turns in words.
fn listed(turns: &[usize]) -> String {
    const SHOWN: usize = 3;
    match turns {
        [] => "no turn".to_owned(),
        [one] => format!("turn {one}"),
        _ => {
            let shown: Vec<String> = turns.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = turns.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("turns {}{more}", shown.join(", "))
        }
    }
}

/// The turns in which a submitter got slots, and those of the job's submitter, with the figures that order them.
fn why(
    record: &OutcomeRecord<'_>,
    (pool, snapshot): (&PoolFacts, &Snapshot),
    (winner, matches): (&str, &[&Match]),
    turns: &[usize],
    loser: &JobInCycle<'_>,
) -> String {
    let own = loser.submitter;
    let visit = |name: &str| record.turns(name).first().map(|turn| &record.outcome.negotiations[turn.turn - 1]);
    if let Some(why) = precedence_of_policy(&pool.order, matches[0].job, loser.id, [visit(winner), visit(own)]) {
        return why;
    }
    if winner == own {
        return "other jobs of the same submitter".to_owned();
    }
    let standing = |name: &str| match record.line(name).and_then(|(_, line)| line.priority) {
        Some(priority) => format!(" ({})", standing(&pool.order, priority)),
        None => String::new(),
    };
    let of_own: Vec<usize> = record.turns(own).iter().map(|turn| turn.turn).collect();
    // Priorities decide within one group alone, and there only after the pie of submitters below their floor.
    let visit = |turn: &usize| &record.outcome.negotiations[*turn - 1];
    let first = of_own.first().filter(|first| !turns.is_empty() && turns.iter().all(|turn| turn < first)).map(visit);
    if let Some(first) = first.filter(|_| matches!(*pool.order, ServiceOrder::Submitters)) {
        let told = |why: &str| format!("in {}; {own} had {}, as {why}", listed(turns), listed(&of_own));
        if turns.iter().map(visit).all(|turn| turn.group != first.group) {
            return told("its group came later");
        }
        let is_earlier_pie = turns.iter().map(visit).all(|turn| turn.group == first.group && turn.pie < first.pie);
        if is_earlier_pie && floor(snapshot, winner).is_some() {
            return told("submitters below their floor came first");
        }
    }
    // A turn before those of the other is none if its limit is too small.
    let last = turns.last().copied().unwrap_or(0);
    let least = matches.iter().map(|made| made.weight).fold(f64::INFINITY, f64::min);
    let limited = of_own.iter().take_while(|turn| **turn < last).find(|turn| visit(turn).limit < least);
    let limited =
        limited.map(|turn| format!("; its limit in turn {turn} was {}", slots(visit(turn).limit))).unwrap_or_default();
    format!("in {}{}; {own} had {}{}{limited}", listed(turns), standing(winner), listed(&of_own), standing(own))
}

/// The users of some slots of the pool, apart from the job itself. `unsent` are those that do not match its requests.
pub(crate) fn competition(
    record: &OutcomeRecord<'_>,
    (pool, snapshot): (&PoolFacts, &Snapshot),
    loser: &JobInCycle<'_>,
    (usable, unsent): (&[usize], &[usize]),
) -> Competition {
    let mut won: IndexMap<&str, Vec<&Match>> = IndexMap::new();
    let (mut in_use, mut left, mut excluded, mut preempted) = (Vec::new(), 0, Vec::new(), 0);
    let unsent: HashSet<&usize> = unsent.iter().collect();
    let (mut weight, mut unclaimed_weight) = (f64::INFINITY, None);
    // What others took from its user only after the last rejection was in use when the job was considered.
    let refused = record.rejection(loser.submitter, (loser.schedd, loser.id));
    let refused = refused.and_then(|refused| record.turn_of(&refused.submitter, (refused.pie, refused.spin)));
    let is_later = |made: &Match| {
        let turn = record.turn_of(&made.submitter, (made.pie, made.spin));
        refused.is_some_and(|refused| turn.is_some_and(|turn| turn > refused))
    };
    for (at, slot) in usable.iter().map(|at| (at, &pool.of_slots[*at])) {
        excluded.extend(slot.exclusion.map(|why| (why.to_owned(), 1)));
        let is_own = |made: &Match| (made.job, made.schedd.as_deref()) == (loser.id, loser.schedd);
        match (record.taker(&slot.name), &slot.user) {
            (Some(made), Some(user)) if !is_own(made) && is_later(made) => in_use.push((user.clone(), 1)),
            (Some(made), user) if !is_own(made) => {
                let is_preempted =
                    slot.exclusion.is_none() && user.as_deref().is_some_and(|user| user != loser.submitter);
                preempted += usize::from(is_preempted);
                won.entry(&made.submitter).or_default().push(made);
            }
            (Some(_), _) => {}
            (None, Some(user)) => in_use.push((user.clone(), 1)),
            (None, None) if slot.claimed => {}
            (None, None) => {
                left += 1;
                if slot.exclusion.is_none() && !unsent.contains(at) {
                    unclaimed_weight = Some(slot.weight.min(unclaimed_weight.unwrap_or(f64::INFINITY)));
                }
            }
        }
        weight = slot.weight.min(weight);
    }
    let group = |name: &str| record.group_of(name).map(|(at, _)| at);
    let of_own = group(loser.submitter);
    let is_all = left == 0 && in_use.is_empty() && excluded.is_empty();
    let is_of_group = is_all && of_own.is_some() && won.keys().all(|name| group(name) == of_own);
    let mut won: Vec<WonSlots> = won
        .into_iter()
        .map(|(submitter, matches)| {
            let is_of = |pie, spin| matches.iter().any(|made| (made.pie, made.spin) == (pie, spin));
            let turns = record.turns(submitter).into_iter().filter(|turn| turn.passed.is_none());
            let turns: Vec<usize> = turns.filter(|turn| is_of(turn.pie, turn.spin)).map(|turn| turn.turn).collect();
            let why = why(record, (pool, snapshot), (submitter, &matches), &turns, loser);
            WonSlots { submitter: submitter.to_owned(), slots: matches.len(), turns, why }
        })
        .collect();
    won.sort_by(|a, b| b.slots.cmp(&a.slots).then_with(|| a.submitter.cmp(&b.submitter)));
    let (not_looked_at, excluded) = (excluded.len(), tally(excluded));
    Competition {
        usable: usable.len(),
        left,
        weight,
        unclaimed_weight,
        is_of_group,
        won,
        preempted,
        in_use: tally(in_use),
        not_looked_at,
        excluded,
    }
}

impl Competition {
    /// Number of slots that other jobs got in this cycle.
    pub(crate) fn matched_slots(&self) -> usize {
        self.won.iter().map(|won| won.slots).sum()
    }

    /// The causes, at most `most` of a kind: slots that others got, all together where these are more, and slots in use.
    pub fn causes(&self, most: usize) -> Vec<Cause> {
        let uses = |(who, count): &(String, usize)| format!("{who} uses {} since before the cycle", self.part(*count));
        let in_use = self.in_use.iter().take(most).map(uses).map(of_taken);
        self.won_causes(most).into_iter().chain(in_use).collect()
    }

    /// The causes, at most `most`, about slots that others got in this cycle.
    pub(crate) fn won_causes(&self, most: usize) -> Vec<Cause> {
        let is_many = self.won.len() > most;
        let together = self.won.first().filter(|_| is_many).map(|first| {
            let (all, submitters) = (self.part(self.matched_slots()), self.won.len());
            format!(
                "{all} went to {submitters} submitters in this cycle, most to {} ({})",
                first.submitter, first.slots
            )
        });
        let one = |won: &WonSlots| format!("{} got {}: {}", won.submitter, self.part(won.slots), won.why);
        let won = self.won.iter().take(most - usize::from(is_many)).map(one);
        together.into_iter().chain(won).map(of_taken).collect()
    }

    /// Some of the matching slots, in words.
    fn part(&self, count: usize) -> String {
        match self.usable {
            1 => "the only matching slot".to_owned(),
            all => format!("{count} of the {}", counted(all, "matching slot")),
        }
    }
}

/// The cause of a job whose matching slots others got or use.
fn of_taken(text: String) -> Cause {
    Cause::new(Reason::Taken, "the matching slots are taken by other jobs", text)
}
