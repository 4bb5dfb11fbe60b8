//! The causes why a job matches no slot, the most telling first, with the values beside the conditions.
//!
//! In: what every condition is for every slot. Out: sentences, each about one condition or one rule of the cycle.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ad::ClassAd;
use crate::eval::scope::Scope;
use crate::explain::clauses::{Condition, Plan, Truth, bare, others};
use crate::explain::names::{Absent, Place, references};
use crate::explain::{Group, Market};
use crate::name::Name;
use crate::syntax::expr::Node;
use crate::syntax::operator::BinaryOp;
use crate::value::Value;

/// What kind of cause it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The job does not wait: it is held, runs, or is of a kind that is not matched.
    NotIdle,
    /// The cycle leaves the job or its submitter out.
    LeftOut,
    /// There are no slots.
    NoSlots,
    /// The job has no Requirements.
    NoRequirements,
    /// A condition of the job is true for no slot.
    NeverTrue,
    /// Conditions of the job are true for some slots, but never together.
    NotTogether,
    /// A condition of the job is not true for slots beside those that it accepts.
    Unsatisfied,
    /// Slots that the job accepts refuse it.
    Refused,
    /// The group may use no more.
    GroupQuota,
    /// The share of the submitter is used up, or what is left of it is less than a slot.
    Share,
    /// The submitter is at its ceiling.
    Ceiling,
    /// A concurrency limit is reached.
    ConcurrencyLimit,
    /// `PREEMPTION_REQUIREMENTS` is not true.
    PreemptionRequirements,
    /// Slots in use like the jobs they run better.
    Rank,
    /// Slots that would do are not looked at.
    NotLookedAt,
    /// Others got or have the slots.
    Taken,
    /// It gets a slot.
    Matched,
    /// It loses the slot it has.
    Displaced,
}

/// Why a job does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// What kind of cause it is.
    pub reason: Reason,
    /// In a sentence.
    pub text: String,
}

impl Cause {
    pub(super) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Cause { reason, text: text.into() }
    }
}

/// What is known of a job and the slots.
pub(super) struct View<'a> {
    pub(super) market: &'a Market,
    pub(super) job: &'a ClassAd,
    pub(super) plan: &'a Plan,
    pub(super) rows: &'a [Vec<Truth>],
    pub(super) groups: &'a [Group],
    pub(super) absent: &'a [Absent],
}

/// Causes told of one kind.
const TOLD: usize = 4;
/// Values told of an attribute.
const VALUES: usize = 3;

/// Why no slot matches; nothing if one does.
pub(super) fn of_match(view: &View<'_>) -> Vec<Cause> {
    let accepts = |row: Option<&Vec<Truth>>| row.and_then(|row| row.first()) == Some(&Truth::True);
    if view.market.slots.is_empty() {
        return vec![Cause::new(Reason::NoSlots, "no slot takes part in the cycle")];
    }
    if view.plan.conditions.is_empty() {
        return vec![Cause::new(Reason::NoRequirements, "the job has no Requirements, and so it matches nothing")];
    }
    let mut accepted = vec![false; view.market.slots.len()];
    for group in view.groups {
        for (at, row) in group.members.iter().zip(&group.rows) {
            accepted[*at] = accepts(Some(row));
        }
    }
    let by_job: Vec<usize> = (0..view.rows.len()).filter(|at| accepts(view.rows.get(*at))).collect();
    if by_job.iter().any(|at| accepted[*at]) {
        return Vec::new();
    }
    let mut found = never(view);
    if by_job.is_empty() && found.is_empty() {
        found.extend(apart(view));
    }
    found.extend(refusals(view, &by_job));
    if !by_job.is_empty() {
        found.extend(unsatisfied(view));
    }
    found
}

/// Which conditions of the job most other slots do not satisfy.
fn unsatisfied(view: &View<'_>) -> Vec<Cause> {
    let failing =
        |at: usize| (0..view.rows.len()).filter(|slot| view.rows[*slot][at] != Truth::True).collect::<Vec<_>>();
    let mut found: Vec<(&Condition, Vec<usize>)> = view
        .plan
        .required()
        .map(|(at, condition)| (condition, failing(at)))
        .filter(|(_, slots)| !slots.is_empty())
        .collect();
    found.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.len()));
    let cause = |(condition, slots): (&Condition, Vec<usize>)| {
        let notes = bracketed(&beside(view, condition, true, &slots));
        let text = format!("{} of {} slots do not satisfy `{}`{notes}", slots.len(), view.rows.len(), condition.expr);
        Cause::new(Reason::Unsatisfied, text)
    };
    found.into_iter().take(2).map(cause).collect()
}

/// Conditions of the job that are true for no slot. Those that name what exists nowhere come first.
fn never(view: &View<'_>) -> Vec<Cause> {
    let everything: Vec<usize> = (0..view.market.slots.len()).collect();
    let never = view.plan.required().filter(|(at, _)| view.rows.iter().all(|row| row[*at] != Truth::True));
    let mut found: Vec<(bool, Cause)> = never
        .map(|(at, condition)| {
            let absent = absent_in(view, condition, true);
            let mut text = format!("no slot satisfies `{}`", condition.expr);
            match &absent {
                Some(note) => text.push_str(&format!(": {note}")),
                None => {
                    if view.rows.iter().all(|row| row[at] == Truth::Undefined) {
                        text.push_str(", which is undefined for all of them");
                    } else if view.rows.iter().all(|row| row[at] == Truth::Error) {
                        text.push_str(", which is an error for all of them");
                    }
                    text.push_str(&bracketed(&beside(view, condition, true, &everything)));
                }
            }
            (absent.is_none(), Cause::new(Reason::NeverTrue, text))
        })
        .collect();
    found.sort_by_key(|(plain, _)| *plain);
    found.into_iter().take(TOLD).map(|(_, cause)| cause).collect()
}

/// Two conditions of the job that are true for some slots each, and for none both; or all of them.
fn apart(view: &View<'_>) -> Vec<Cause> {
    let required: Vec<(usize, &Condition)> = view.plan.required().collect();
    let holds = |row: &Vec<Truth>, at: usize| row[at] == Truth::True;
    for (place, (second, later)) in required.iter().enumerate() {
        for (first, earlier) in &required[..place] {
            if !view.rows.iter().any(|row| holds(row, *first) && holds(row, *second)) {
                let count = |at: usize| view.rows.iter().filter(|row| holds(row, at)).count();
                let text = format!(
                    "no slot satisfies both `{}` ({} slots do) and `{}` ({} do)",
                    earlier.expr,
                    count(*first),
                    later.expr,
                    count(*second)
                );
                return vec![Cause::new(Reason::NotTogether, text)];
            }
        }
    }
    let text = format!("no slot satisfies all {} conditions of the job together", required.len());
    vec![Cause::new(Reason::NotTogether, text)]
}

/// By which conditions slots refuse the job: those that the job accepts, or all if it accepts none.
fn refusals(view: &View<'_>, by_job: &[usize]) -> Vec<Cause> {
    let counts = |at: &usize| by_job.is_empty() || by_job.binary_search(at).is_ok();
    let mut bare_slots = 0;
    // By the text of the condition: in which group and where it stands, and the slots.
    let text = |group: &Group| group.plan.conditions.iter().map(|condition| condition.expr.to_string()).collect();
    let texts: Vec<Vec<String>> = view.groups.iter().map(text).collect();
    let mut found: BTreeMap<&str, (usize, usize, Vec<usize>)> = BTreeMap::new();
    for (number, group) in view.groups.iter().enumerate() {
        if group.plan.conditions.is_empty() {
            bare_slots += group.members.iter().filter(|at| counts(at)).count();
            continue;
        }
        for (at, row) in group.members.iter().zip(&group.rows).filter(|(at, _)| counts(at)) {
            for (place, _) in group.plan.required().filter(|(place, _)| row[*place] != Truth::True) {
                let entry = found.entry(&texts[number][place]).or_insert((number, place, Vec::new()));
                entry.2.push(*at);
            }
        }
    }
    let among = if by_job.is_empty() { "slots" } else { "slots that the job accepts" };
    let all = if by_job.is_empty() { view.market.slots.len() } else { by_job.len() };
    let mut causes = Vec::new();
    if bare_slots > 0 {
        let text = format!("{bare_slots} of {all} {among} have no Requirements, and so they match nothing");
        causes.push(Cause::new(Reason::Refused, text));
    }
    let mut found: Vec<_> = found.into_values().collect();
    // Stable: the order of the text decides among equals.
    found.sort_by_key(|(number, place, slots)| (std::cmp::Reverse(slots.len()), *number, *place));
    for (number, place, slots) in found.into_iter().take(TOLD) {
        let condition = &view.groups[number].plan.conditions[place];
        let note = match absent_in(view, condition, false) {
            Some(note) => format!(": {note}"),
            None => bracketed(&beside(view, condition, false, &slots)),
        };
        let via = condition.via.last().map(|name| format!(" in `{name}`")).unwrap_or_default();
        let text = format!("{} of {all} {among} refuse it by `{}`{via}{note}", slots.len(), condition.expr);
        causes.push(Cause::new(Reason::Refused, text));
    }
    causes
}

/// What is said of an attribute of a condition that exists nowhere.
fn absent_in(view: &View<'_>, condition: &Condition, of_job: bool) -> Option<String> {
    let text = condition.expr.to_string();
    let one = view.absent.iter().find(|one| one.of_job == of_job && text.contains(&one.name))?;
    let mut note = format!("`{}` exists nowhere", one.name);
    if let Some(word) = quoted(view, condition, &one.name) {
        note.push_str(&format!("; did you mean the text \"{word}\"?"));
    } else if let Some(name) = &one.similar {
        note.push_str(&format!("; did you mean `{name}`?"));
    } else if !of_job && !one.name.to_ascii_uppercase().starts_with("MY.") {
        note = format!("the job has no `{}`", one.name.trim_start_matches("TARGET."));
    }
    Some(note)
}

/// The text that a slot has where a condition compares with an unquoted word.
fn quoted(view: &View<'_>, condition: &Condition, word: &str) -> Option<String> {
    let tree = condition.expr.tree();
    let Node::Binary(BinaryOp::Equal | BinaryOp::Is, left, right) = *condition.expr.node() else { return None };
    let of_slot = [left, right].into_iter().find_map(|side| {
        let name = others(tree, bare(tree, side), view.job)?;
        (!name.to_string().eq_ignore_ascii_case(word)).then_some(name)
    })?;
    view.market.slots.iter().find_map(|slot| {
        let value = slot.constant(of_slot)?;
        let text = String::from_utf8_lossy(value.as_bytes()?).into_owned();
        text.eq_ignore_ascii_case(word).then_some(text)
    })
}

fn bracketed(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

/// The values of the attributes of a condition: of the job, and of slots.
fn beside(view: &View<'_>, condition: &Condition, of_job: bool, slots: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut seen: Vec<Name> = Vec::new();
    for (name, place) in references(condition.expr.tree(), condition.expr.root()) {
        if seen.contains(&name) || notes.len() >= 4 {
            continue;
        }
        seen.push(name);
        let first = slots.first().and_then(|at| view.market.slots.get(*at));
        let of_the_job = match (place, of_job) {
            (Place::My, true) | (Place::Target, false) => true,
            (Place::My, false) | (Place::Target, true) => false,
            (Place::Either, true) => view.job.contains(name),
            (Place::Either, false) => first.is_none_or(|slot| !slot.contains(name)),
        };
        if of_the_job {
            let mut scope = Scope::new(view.job, &view.market.settings);
            if let Some(slot) = first {
                scope = scope.with_target(slot);
            }
            let value = scope.eval_attr(name).map_or_else(|failed| failed.to_string(), |value| value.to_string());
            notes.push(format!("{name} of the job is {value}"));
        } else {
            let values = slots.iter().map(|at| {
                let scope = Scope::new(&view.market.slots[*at], &view.market.settings).with_target(view.job);
                scope.eval_attr(name).unwrap_or(Value::Error)
            });
            notes.push(format!("{name} of slots is {}", range(values)));
        }
    }
    notes
}

/// Values in a few words: a range of numbers, or the most frequent.
pub(super) fn range(values: impl Iterator<Item = Value>) -> String {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut lowest, mut highest) = (String::new(), String::new());
    let mut numbers = true;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in values {
        match value.as_number().filter(|_| value.as_bytes().is_none()) {
            Some(number) if numbers => {
                if number < low {
                    (low, lowest) = (number, value.to_string());
                }
                if number > high {
                    (high, highest) = (number, value.to_string());
                }
            }
            _ => numbers = false,
        }
        if counts.len() < 1000 {
            *counts.entry(value.to_string()).or_default() += 1;
        }
    }
    if numbers && counts.len() > 1 {
        return format!("{lowest} to {highest}");
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = if counts.len() > VALUES { " …" } else { "" };
    let shown: Vec<&str> = counts.iter().take(VALUES).map(|(value, _)| value.as_str()).collect();
    format!("{}{more}", shown.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::explain;
    use crate::negotiate::Snapshot;

    fn first(job: &str, slots: &[&str]) -> String {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots = slots.iter().map(|text| ad(text)).collect();
        let market = Market::of(&Snapshot { slots, ..Snapshot::default() }).unwrap();
        explain(&market, "1.0".to_owned(), "a@x".to_owned(), &ad(job)).causes[0].text.clone()
    }

    const SMALL: &str =
        "[Name = \"a\"; MyType = \"Machine\"; OpSys = \"LINUX\"; Memory = 10; GPUs = 0; Requirements = true]";
    const LARGE: &str = "[Name = \"b\"; MyType = \"Machine\"; OpSys = \"LINUX\"; Memory = 40; GPUs = 2; \
                         Requirements = START; START = TARGET.Owner == \"bob\"]";

    #[test]
    fn the_values_stand_beside_the_condition() {
        assert_eq!(
            first("[RequestMemory = 50; Requirements = TARGET.Memory >= RequestMemory]", &[SMALL, LARGE]),
            "no slot satisfies `TARGET.Memory >= RequestMemory` (Memory of slots is 10 to 40, RequestMemory of the job is 50)"
        );
        assert_eq!(
            first("[Owner = \"al\"; Requirements = TARGET.Memory >= 20]", &[SMALL, LARGE]),
            "1 of 1 slots that the job accepts refuse it by `TARGET.Owner == \"bob\"` in `START` (Owner of the job is \"al\")"
        );
    }

    #[test]
    fn an_unquoted_word_and_a_misspelt_name_are_told() {
        assert_eq!(
            first("[Requirements = TARGET.Memory > 1 && TARGET.OpSys == LINUX]", &[SMALL]),
            "no slot satisfies `TARGET.OpSys == LINUX`: `LINUX` exists nowhere; did you mean the text \"LINUX\"?"
        );
        assert_eq!(
            first("[Requirements = TARGET.Memroy > 1]", &[SMALL]),
            "no slot satisfies `TARGET.Memroy > 1`: `TARGET.Memroy` exists nowhere; did you mean `Memory`?"
        );
    }

    #[test]
    fn conditions_that_exclude_each_other_are_told() {
        assert_eq!(
            first(
                "[Requirements = TARGET.Memory < 20 && TARGET.OpSys == \"LINUX\" && TARGET.GPUs > 1]",
                &[SMALL, LARGE]
            ),
            "no slot satisfies both `TARGET.Memory < 20` (1 slots do) and `TARGET.GPUs > 1` (1 do)"
        );
    }
}
