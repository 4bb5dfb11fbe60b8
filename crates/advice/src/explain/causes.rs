//! The causes why a job matches no slot, the most telling first, with the values beside the conditions.
//!
//! In: what every condition is for every slot. Out: sentences, each about one condition or one rule of the cycle.

use classmate::internal::plural::counted;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::explain::Market;
use crate::explain::clauses::{AdCondition, truth};
use crate::explain::correction::{pattern, quoted};
use crate::explain::decide::{DecidingCondition, deciding};
use crate::explain::names::{MissingAttribute, references};
use crate::explain::prose::prose;
use crate::explain::slot_classes::{Policy, SlotClass};
use crate::explain::view::View;
use classmate::internal::eval;
use classmate::internal::eval::explain::explain;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::Scope;
use classmate::internal::eval::walk::{Side, Via};
use classmate::internal::name::Name;
use classmate::internal::program::view::Values;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;
use classmate_pool::internal::pool::Slot;

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The job does not wait: it is held, runs, or is of a kind that is not matched.
    NotIdle,
    /// The cycle leaves the job, its submitter or slots out.
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

/// A cause for which a job is idle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The kind of a cause.
    pub reason: Reason,
    /// In a sentence.
    pub text: String,
}

impl Cause {
    pub(super) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Cause { reason, text: prose(&text.into()) }
    }
}

/// Maximum number of causes of one kind.
const MAX_CAUSES: usize = 4;
/// Maximum number of values of an attribute.
const MAX_VALUES: usize = 3;
/// Maximum number of deciding conditions in a cause.
const MAX_DECIDING: usize = 3;

/// The causes for which no slot matches; empty if one does.
pub(super) fn of_match(view: &View<'_>) -> Vec<Cause> {
    if view.market.slots.is_empty() {
        let left_out = left_out(view);
        let none = || Cause::new(Reason::NoSlots, "there are no slots in the cycle");
        return vec![left_out.unwrap_or_else(none)];
    }
    if view.plan.all.is_empty() {
        return vec![Cause::new(
            Reason::NoRequirements,
            "the job does not have Requirements, so it does not match any \
        slot",
        )];
    }
    if view.kinds.all.iter().any(SlotClass::matches) {
        return Vec::new();
    }
    let mut found = not_matched(view);
    if let Some(cause) = left_out(view) {
        // Slots that would do come before those that do not.
        let is_feasible = view.market.left_out.iter().any(|slot| symmetric(view.job, &slot.ad, &view.market.settings));
        found.insert(if is_feasible { 0 } else { found.len() }, cause);
    }
    found
}

/// Slots that the cycle does not know of.
fn left_out(view: &View<'_>) -> Option<Cause> {
    let Market { left_out, rules, slots, settings, .. } = view.market;
    let constraint = rules.slots.as_ref().filter(|_| !left_out.is_empty())?;
    let all = left_out.len() + slots.len();
    let which =
        if slots.is_empty() { format!("all {all} slots") } else { format!("{} of {all} slots", left_out.len()) };
    let is_feasible = left_out.iter().filter(|slot| symmetric(view.job, &slot.ad, settings)).count();
    let mut seen: Vec<Name> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for Reference { name, .. } in references(constraint.tree(), constraint.root()) {
        if seen.contains(&name) || notes.len() >= 4 {
            continue;
        }
        seen.push(name);
        let value = |slot: &Slot| Scope::new(&slot.ad, settings).eval_attr(name).unwrap_or(Value::Undefined);
        let values = left_out.iter().map(value).collect::<Vec<_>>();
        let of = (0..values.len() as u32).collect();
        notes.push(format!("their {name} is {}", range(&Values { of, values })));
    }
    let text = format!(
        "NEGOTIATOR_SLOT_CONSTRAINT excludes {which}, of which {is_feasible} match: `{constraint}` is not true{}",
        bracketed(&notes)
    );
    Some(Cause::new(Reason::LeftOut, text))
}

/// The causes for which no slot in the cycle matches.
fn not_matched(view: &View<'_>) -> Vec<Cause> {
    let by_job = view.kinds.all.iter().any(SlotClass::is_accepted);
    let mut found = never(view);
    if !by_job && found.is_empty() {
        found.extend(apart(view));
    }
    found.extend(refusals(view, by_job));
    if by_job {
        found.extend(unsatisfied(view));
    }
    found
}

/// The conditions of the job that most other slots do not satisfy.
fn unsatisfied(view: &View<'_>) -> Vec<Cause> {
    let failing = |at: usize| view.kinds.ads(|kind| kind.one[at] != Truth::True);
    let mut found: Vec<(&AdCondition, Vec<u32>)> = view
        .plan
        .required()
        .map(|(at, condition)| (condition, failing(at)))
        .filter(|(_, slots)| !slots.is_empty())
        .collect();
    found.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.len()));
    let cause = |(condition, slots): (&AdCondition, Vec<u32>)| {
        let notes = bracketed(&beside(view, condition, true, &slots));
        let all = view.market.slots.len();
        let text = format!(
            "{} of {} {} satisfy `{}`{notes}",
            slots.len(),
            counted(all, "slot"),
            does_not(slots.len()),
            condition.expr
        );
        Cause::new(Reason::Unsatisfied, text)
    };
    found.into_iter().take(2).map(cause).collect()
}

/// Conditions of the job that are true for no slot. Those with undefined names come first.
fn never(view: &View<'_>) -> Vec<Cause> {
    let everything: Vec<u32> = (0..view.market.slots.len() as u32).collect();
    let all = |at: usize, is: Truth| view.kinds.all.iter().all(|kind| kind.one[at] == is);
    let none = |at: usize| view.kinds.all.iter().all(|kind| kind.one[at] != Truth::True);
    let never = view.plan.required().filter(|(at, _)| none(*at));
    let kinds: Vec<usize> = (0..view.kinds.all.len()).collect();
    let mut found: Vec<(bool, Cause)> = never
        .map(|(at, condition)| {
            let deciders = deciding(view, &view.plan, true, at, &kinds);
            if let Some((absent, text)) = descended(view, condition, deciders) {
                return (!absent, Cause::new(Reason::NeverTrue, text));
            }
            let absent = note_on(view, condition, true, &everything);
            let mut text = format!("no slot satisfies `{}`", condition.expr);
            match &absent {
                Some(note) => text.push_str(&format!(": {note}")),
                None => {
                    if all(at, Truth::Undefined) {
                        text.push_str(", which is UNDEFINED for all slots");
                    } else if all(at, Truth::Error) {
                        text.push_str(", which is ERROR for all slots");
                    }
                    text.push_str(&bracketed(&beside(view, condition, true, &everything)));
                    if pattern(&condition.expr).is_some() {
                        text.push_str("; `*` is not a wildcard in comparisons, use `regexp` for patterns");
                    }
                }
            }
            (absent.is_none(), Cause::new(Reason::NeverTrue, text))
        })
        .collect();
    found.sort_by_key(|(plain, _)| *plain);
    found.into_iter().take(MAX_CAUSES).map(|(_, cause)| cause).collect()
}

/// States that no slot satisfies a condition, with its deciding parts first; true if the first names an undefined attribute.
/// None if the condition is not made of others.
fn descended(view: &View<'_>, whole: &AdCondition, mut deciders: Vec<DecidingCondition>) -> Option<(bool, String)> {
    let all = view.market.slots.len();
    sort(view, &mut deciders);
    let first = deciders.first().filter(|first| is_below(whole, first))?;
    let absent = note_on(view, &first.condition, first.of_job, &first.slots).is_some();
    let mut text = if first.slots.len() == all {
        format!("no slot satisfies {}", told(view, first))
    } else {
        format!(
            "{} of {} {} satisfy {}",
            first.slots.len(),
            counted(all, "slot"),
            does_not(first.slots.len()),
            told(view, first)
        )
    };
    for other in deciders.iter().skip(1).take(MAX_DECIDING - 1) {
        let word = if other.slots.len() == all { "nor" } else { "and" };
        let count = if other.slots.len() == all {
            String::new()
        } else {
            format!("{} {} ", other.slots.len(), does_not(other.slots.len()))
        };
        text.push_str(&format!(", {word} {count}{}", told(view, other)));
    }
    text.push_str(&decided(whole, &deciders));
    Some((absent, text))
}

/// The condition that some parts decide, and the branch they are in.
fn decided(whole: &AdCondition, deciders: &[DecidingCondition]) -> String {
    let since = match deciders {
        [one] => one.since.iter().map(|(text, is)| format!("`{text}` is {is}")).collect::<Vec<_>>().join(" and "),
        _ => String::new(),
    };
    if since.is_empty() {
        format!(", so `{}` is not true", whole.expr)
    } else {
        format!(", in the branch of `{}` where {since}", whole.expr)
    }
}

/// Sorts conditions with undefined names last, unless the name may be a typo.
fn sort(view: &View<'_>, deciders: &mut [DecidingCondition]) {
    deciders.sort_by_key(|one| {
        let slip = absent_of(view, one).map(|note| !note.contains("did you mean"));
        (std::cmp::Reverse(one.slots.len()), slip.unwrap_or(false))
    });
}

/// Tests if a deciding condition differs from the whole condition.
fn is_below(whole: &AdCondition, one: &DecidingCondition) -> bool {
    !one.through.is_empty() || one.condition.expr.to_string() != whole.expr.to_string()
}

/// A deciding condition, with its attribute and its values.
fn told(view: &View<'_>, one: &DecidingCondition) -> String {
    let condition = &one.condition;
    let holder = match (one.through.last(), condition.place.via.last()) {
        (Some(_), Some(name)) | (Some(name), None) => {
            format!(" in `{name}` of {}", if one.of_job { "the job" } else { "slots" })
        }
        (None, Some(name)) => format!(" in `{name}`"),
        (None, None) => String::new(),
    };
    let note = match note_on(view, condition, one.of_job, &one.slots) {
        Some(note) => format!(": {note}"),
        None => bracketed(&beside(view, condition, one.of_job, &one.slots)),
    };
    format!("`{}`{holder}{note}", condition.expr)
}

/// The note on an undefined name in a deciding condition.
fn absent_of(view: &View<'_>, one: &DecidingCondition) -> Option<String> {
    absent_in(view, &one.condition, one.of_job)
}

/// Two conditions of the job that are true for some slots each, and for none both; or all of them.
fn apart(view: &View<'_>) -> Vec<Cause> {
    let required: Vec<(usize, &AdCondition)> = view.plan.required().collect();
    let holds = |kind: &SlotClass, at: usize| kind.one[at] == Truth::True;
    for (place, (second, later)) in required.iter().enumerate() {
        for (first, earlier) in &required[..place] {
            if !view.kinds.all.iter().any(|kind| holds(kind, *first) && holds(kind, *second)) {
                let count = |at: usize| view.kinds.count(|kind| holds(kind, at));
                let one = count(*first);
                let text = format!(
                    "no slot satisfies both `{}` ({one} {}) and `{}` ({} {})",
                    earlier.expr,
                    if one == 1 { "slot does" } else { "slots do" },
                    later.expr,
                    count(*second),
                    if count(*second) == 1 { "does" } else { "do" }
                );
                return vec![Cause::new(Reason::NotTogether, text)];
            }
        }
    }
    let text = format!("no slot satisfies all {} conditions of the job together", required.len());
    vec![Cause::new(Reason::NotTogether, text)]
}

/// The conditions by which slots reject the job: slots that the job accepts, or all if it accepts none.
fn refusals(view: &View<'_>, by_job: bool) -> Vec<Cause> {
    let counts = |kind: &SlotClass| !by_job || kind.is_accepted();
    let mut bare_slots = 0;
    // By the text of the condition: its policy and number, the kinds, and how many slots these have.
    let text = |policy: &Policy| policy.plan.all.iter().map(|condition| condition.expr.to_string()).collect();
    let texts: Vec<Vec<String>> = view.kinds.policies.iter().map(text).collect();
    let mut found: BTreeMap<&str, (usize, usize, Vec<usize>, usize)> = BTreeMap::new();
    for (at, kind) in view.kinds.all.iter().enumerate().filter(|(_, kind)| counts(kind)) {
        let policy = &view.kinds.policies[kind.policy];
        if policy.plan.all.is_empty() {
            bare_slots += kind.size;
            continue;
        }
        for (place, _) in policy.plan.required().filter(|(place, _)| kind.many[*place] != Truth::True) {
            let entry = found.entry(&texts[kind.policy][place]).or_insert((usize::MAX, place, Vec::new(), 0));
            if kind.policy < entry.0 {
                (entry.0, entry.1) = (kind.policy, place);
            }
            // A text may be in a policy twice.
            if entry.2.last() != Some(&at) {
                entry.2.push(at);
                entry.3 += kind.size;
            }
        }
    }
    let all = view.kinds.count(counts);
    let slot = if all == 1 { "slot" } else { "slots" };
    let among = if by_job { format!("{slot} that the job accepts") } else { slot.to_owned() };
    let mut causes = Vec::new();
    if bare_slots > 0 {
        let text = format!("{bare_slots} of {all} {among} do not have Requirements, so they do not match any job");
        causes.push(Cause::new(Reason::Refused, text));
    }
    let mut found: Vec<_> = found.into_values().collect();
    // Stable: the order of the text decides among equals.
    found.sort_by_key(|(number, place, _, slots)| (std::cmp::Reverse(*slots), *number, *place));
    for (number, place, kinds, slots) in found.into_iter().take(MAX_CAUSES) {
        let condition = &view.kinds.policies[number].plan.all[place];
        let of_policy: Vec<usize> = kinds.iter().copied().filter(|at| view.kinds.all[*at].policy == number).collect();
        let mut deciders = deciding(view, &view.kinds.policies[number].plan, false, place, &of_policy);
        sort(view, &mut deciders);
        if deciders.first().is_some_and(|first| is_below(condition, first)) {
            let parts: Vec<String> = deciders.iter().take(MAX_DECIDING).map(|one| told(view, one)).collect();
            let text = format!(
                "{slots} of {all} {among} {} the job because of {}{}",
                rejects(slots),
                parts.join(" and "),
                decided(condition, &deciders)
            );
            causes.push(Cause::new(Reason::Refused, text));
            continue;
        }
        let refusing = view.kinds.ads_of(&kinds);
        let note = match note_on(view, condition, false, &refusing) {
            Some(note) => format!(", but {note}"),
            None => bracketed(&beside(view, condition, false, &refusing)),
        };
        let holder = condition.place.via.last().map_or_else(|| "Requirements".to_owned(), ToString::to_string);
        let verb = rejects(slots);
        let text = format!("{slots} of {all} {among} {verb} the job: `{holder}` requires `{}`{note}", condition.expr);
        causes.push(Cause::new(Reason::Refused, text));
    }
    causes
}

/// The note on a condition with a circular reference or an undefined name.
fn note_on(view: &View<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    circle(view, condition, of_job, slots).or_else(|| absent_in(view, condition, of_job))
}

/// The note on a circular reference, with its path and ad, if it makes a condition fail for the first of some slots
/// because of that.
fn circle(view: &View<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    let slot = &view.market.slots.get(*slots.first()? as usize)?.ad;
    let (my, target) = if of_job { (view.job, slot) } else { (slot, view.job) };
    let scope = Scope::new(my, &view.market.settings).with_target(target);
    if !matches!(truth(scope, &condition.expr), Truth::Undefined | Truth::Error) {
        return None;
    }
    let found = explain(scope, &condition.expr);
    let back = found.iter().find(|cause| matches!(cause.reason, eval::explain::Reason::Circular))?;
    let in_side = back.path.last()?.side;
    let across = |side: Side| if side == Side::My { Side::Target } else { Side::My };
    let Reference { scope, name } = back.part.tree().reference(back.part.root())?;
    let is_own = (if in_side == Side::My { my } else { target }).contains(name);
    let side = match scope {
        RefScope::My => in_side,
        RefScope::Either if is_own => in_side,
        RefScope::Target | RefScope::Either => across(in_side),
    };
    let first = back.path.iter().rposition(|via| via.name == name && via.side == side)?;
    let way = &back.path[first..];
    let whose = |via: &Via| if (via.side == Side::My) == of_job { "the job" } else { "slots" };
    let (one, apart) = (whose(&way[0]), way.iter().any(|via| whose(via) != whose(&way[0])));
    let step = |via: &Via| if apart { format!("`{}` of {}", via.name, whose(via)) } else { format!("`{}`", via.name) };
    let steps: Vec<String> = way.iter().chain([&way[0]]).map(step).collect();
    let place = if apart { String::new() } else { format!(" in {one}") };
    Some(format!("{} is a circular reference{place}, so it is UNDEFINED", steps.join(" → ")))
}

/// The note on an undefined name in a condition.
fn absent_in(view: &View<'_>, condition: &AdCondition, of_job: bool) -> Option<String> {
    let names = references(condition.expr.tree(), condition.expr.root());
    let is_here = |one: &&MissingAttribute| {
        let is_named = |found: &Reference| one.name.eq_ignore_ascii_case(&found.to_string());
        one.of_job == of_job && one.decides && names.iter().any(is_named)
    };
    let one = view.absent.iter().find(is_here)?;
    // Other jobs may have what this one lacks.
    let mut note = match one.name.split_once('.') {
        Some((_, name)) if one.is_of_own_ad() == of_job => format!("the job does not define `{name}`"),
        Some((_, name)) => format!("no slot advertises `{name}`"),
        None => format!("neither this job nor any slot defines `{}`", one.name),
    };
    if let Some(word) = quoted(view, &condition.expr, &one.name, of_job) {
        note.push_str(&format!("; did you mean the string \"{word}\"?"));
    } else if let Some(name) = &one.similar {
        note.push_str(&format!("; did you mean `{name}`?"));
    } else if !of_job && !one.name.to_ascii_uppercase().starts_with("MY.") {
        note = format!("the job does not define `{}`", one.name.trim_start_matches("TARGET."));
    }
    Some(note)
}

/// The verb for a number of slots or jobs.
pub(super) fn rejects(count: usize) -> &'static str {
    if count == 1 { "rejects" } else { "reject" }
}

/// The negated auxiliary verb for a number of slots.
fn does_not(count: usize) -> &'static str {
    if count == 1 { "does not" } else { "do not" }
}

fn bracketed(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

/// The values of the attributes of a condition: of the job, and of slots.
fn beside(view: &View<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut seen: Vec<Name> = Vec::new();
    for Reference { scope, name } in references(condition.expr.tree(), condition.expr.root()) {
        if seen.contains(&name) || notes.len() >= 4 {
            continue;
        }
        seen.push(name);
        let first = slots.first().and_then(|at| view.market.slots.get(*at as usize)).map(|slot| &slot.ad);
        let of_the_job = match (scope, of_job) {
            (RefScope::My, true) | (RefScope::Target, false) => true,
            (RefScope::My, false) | (RefScope::Target, true) => false,
            (RefScope::Either, true) => view.job.contains(name),
            (RefScope::Either, false) => {
                let lacks = first.is_none_or(|slot| !slot.contains(name));
                // What the job has not and other slots have, these slots lack.
                if lacks && !view.job.contains(name) && view.panel.has(name) {
                    notes.push(format!("these slots do not define {name}, but others do"));
                    continue;
                }
                lacks
            }
        };
        if of_the_job {
            let mut scope = Scope::new(view.job, &view.market.settings);
            if let Some(slot) = first {
                scope = scope.with_target(slot);
            }
            let value = scope.eval_attr(name).map_or_else(|failed| failed.to_string(), |value| value.to_string());
            notes.push(format!("{name} of the job is {value}"));
        } else {
            let values = view.panel.attribute(view.job, name, slots);
            notes.push(format!("{name} of slots is {}", range(&values)));
        }
    }
    notes
}

/// Values in a few words: a range of numbers, or the most frequent.
pub(super) fn range(found: &Values) -> String {
    let mut counts = vec![0usize; found.values.len()];
    found.of.iter().for_each(|value| counts[*value as usize] += 1);
    let number = |value: &Value| value.as_number().filter(|_| value.as_bytes().is_none());
    let mut low: Option<(f64, &Value)> = None;
    let mut high: Option<(f64, &Value)> = None;
    let mut numbers = true;
    for value in &found.values {
        let Some(number) = number(value) else {
            numbers = false;
            break;
        };
        if low.is_none_or(|(low, _)| number < low) {
            low = Some((number, value));
        }
        if high.is_none_or(|(high, _)| number > high) {
            high = Some((number, value));
        }
    }
    if let (true, Some((least, lowest)), Some((most, highest))) = (numbers, low, high)
        && least < most
    {
        return format!("{lowest} to {highest}");
    }
    let mut by_text: BTreeMap<String, usize> = BTreeMap::new();
    for (value, count) in found.values.iter().zip(&counts) {
        *by_text.entry(value.to_string()).or_default() += count;
    }
    let mut counts: Vec<(String, usize)> = by_text.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let more = if counts.len() > MAX_VALUES { " …" } else { "" };
    let shown: Vec<&str> = counts.iter().take(MAX_VALUES).map(|(value, _)| value.as_str()).collect();
    format!("{}{more}", shown.join(" or "))
}

#[cfg(test)]
mod tests {
    use crate::explain::{Market, explain};
    use classmate::internal::ad::ClassAd;
    use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};

    fn first(job: &str, slots: &[&str]) -> String {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots = slots.iter().map(|text| ad(text)).collect();
        let snapshot = Snapshot { slots, ..Snapshot::default() };
        let pool = PreparedPool::for_explanation(&snapshot).unwrap();
        let market = Market::new(&pool);
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
            "1 of 1 slot that the job accepts rejects the job: `START` requires `TARGET.Owner == \"bob\"` (Owner of the job is \"al\")"
        );
    }

    #[test]
    fn an_unquoted_word_and_a_misspelt_name_are_told() {
        assert_eq!(
            first("[Requirements = TARGET.Memory > 1 && TARGET.OpSys == LINUX]", &[SMALL]),
            "no slot satisfies `TARGET.OpSys == LINUX`: neither this job nor any slot defines `LINUX`; did you mean the string \"LINUX\"?"
        );
        assert_eq!(
            first("[Requirements = TARGET.Memroy > 1]", &[SMALL]),
            "no slot satisfies `TARGET.Memroy > 1`: no slot advertises `Memroy`; did you mean `Memory`?"
        );
    }

    #[test]
    fn conditions_that_exclude_each_other_are_told() {
        assert_eq!(
            first(
                "[Requirements = TARGET.Memory < 20 && TARGET.OpSys == \"LINUX\" && TARGET.GPUs > 1]",
                &[SMALL, LARGE]
            ),
            "no slot satisfies both `TARGET.Memory < 20` (1 slot does) and `TARGET.GPUs > 1` (1 does)"
        );
    }
}
