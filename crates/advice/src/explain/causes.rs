//! The causes for which a job matches no slot, the most significant first, with the values beside the conditions.
//!
//! In: what every condition is for every slot. Out: sentences, each about one condition or one rule of the cycle.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::clauses::{AdCondition, truth};
use crate::explain::correction::{pattern, quoted};
use crate::explain::decide::{DecidingCondition, deciding};
use crate::explain::job_view::JobView;
use crate::explain::names::{MissingAttribute, references};
use crate::explain::slot_classes::{Policy, SlotClass};
use crate::explain::values::{Opposites, beside, range, verb};
use classmate::internal::eval;
use classmate::internal::eval::explain::explain;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::walk::{AdSide, Via};
use classmate::internal::plural::counted;
use classmate::internal::program::view::RowValues;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{Scope, Value};
use classmate_pool::internal::pool::Slot;

/// The kind of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    /// Slots that the job accepts reject it.
    Refused,
    /// The group has used its allocation.
    GroupQuota,
    /// The share of the submitter is used up, or what is left of it is less than a slot.
    Share,
    /// The submitter is at its ceiling.
    Ceiling,
    /// A concurrency limit is reached.
    ConcurrencyLimit,
    /// `PREEMPTION_REQUIREMENTS` is not true.
    PreemptionRequirements,
    /// Slots in use prefer the jobs they run.
    Rank,
    /// The cycle does not consider matching slots.
    NotLookedAt,
    /// Other jobs got or use the slots.
    Taken,
    /// It gets a slot.
    Matched,
    /// It loses the slot it has.
    Displaced,
}

/// A cause for which a job is idle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// The kind of a cause.
    pub reason: Reason,
    /// In a sentence.
    pub text: String,
}

impl Cause {
    pub(super) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Cause { reason, text: text.into() }
    }
}

/// Maximum number of causes of one kind.
const MAX_CAUSES: usize = 4;
/// Maximum number of deciding conditions in a cause.
const MAX_DECIDING: usize = 3;

/// The causes for which no slot matches; empty if one does.
pub(super) fn of_match(view: &JobView<'_>) -> Vec<Cause> {
    if view.pool.slots.is_empty() {
        let left_out = left_out(view);
        let none = || Cause::new(Reason::NoSlots, "there are no slots in the cycle");
        return vec![left_out.unwrap_or_else(none)];
    }
    if view.conditions.all.is_empty() {
        let text = "the job does not have Requirements, so it does not match any slot";
        return vec![Cause::new(Reason::NoRequirements, text)];
    }
    if view.classes.all.iter().any(SlotClass::matches) {
        return Vec::new();
    }
    let by_job = view.classes.all.iter().any(SlotClass::is_accepted);
    let mut found = never(view);
    if !by_job && found.is_empty() {
        found.push(apart(view));
    }
    found.extend(refusals(view, by_job));
    if by_job {
        found.extend(unsatisfied(view));
    }
    if let Some(cause) = left_out(view) {
        // Matching slots that are left out come before those that do not match.
        let is_feasible = view.pool.left_out.iter().any(|slot| symmetric(view.job, &slot.ad, &view.pool.settings));
        found.insert(if is_feasible { 0 } else { found.len() }, cause);
    }
    found
}

impl JobView<'_> {
    /// The values beside a condition of the job, or of some slots.
    fn beside(&self, condition: &AdCondition, of_job: bool, slots: &[u32]) -> String {
        let opposites = Opposites { one: self.job, many: &self.table, is_job: true };
        opposites.beside(&condition.expr, of_job, slots)
    }
}

/// Slots that the cycle does not know of.
fn left_out(view: &JobView<'_>) -> Option<Cause> {
    let PoolFacts { left_out, rules, slots, settings, .. } = view.pool;
    let constraint = rules.slots.as_ref().filter(|_| !left_out.is_empty())?;
    let all = left_out.len() + slots.len();
    let which =
        if slots.is_empty() { format!("all {all} slots") } else { format!("{} of {all} slots", left_out.len()) };
    let is_feasible = left_out.iter().filter(|slot| symmetric(view.job, &slot.ad, settings)).count();
    let values = beside(constraint, |Reference { name, .. }| {
        let value = |slot: &Slot| Scope::new(&slot.ad, settings).eval_attr(name).unwrap_or(Value::Undefined);
        let values = left_out.iter().map(value).collect::<Vec<_>>();
        format!("their {name} is {}", range(&RowValues { of: (0..values.len() as u32).collect(), values }))
    });
    let text = format!(
        "NEGOTIATOR_SLOT_CONSTRAINT excludes {which}, of which {is_feasible} match: `{constraint:#}` is not true{values}"
    );
    Some(Cause::new(Reason::LeftOut, text))
}

/// The subject of a sentence on slots that do not satisfy a condition.
fn unsatisfying(view: &JobView<'_>, slots: usize) -> String {
    match view.pool.slots.len() {
        all if all == slots => "no slot satisfies".to_owned(),
        all => format!("{slots} of {} {} satisfy", counted(all, "slot"), verb(slots, "does not", "do not")),
    }
}

/// The conditions of the job that most other slots do not satisfy.
fn unsatisfied(view: &JobView<'_>) -> Vec<Cause> {
    let failing = |at: usize| view.classes.ads(|class| class.one[at] != Truth::True);
    let required = view.conditions.required().map(|(at, condition)| (condition, failing(at)));
    let mut found: Vec<(&AdCondition, Vec<u32>)> = required.filter(|(_, slots)| !slots.is_empty()).collect();
    found.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.len()));
    let cause = |(condition, slots): (&AdCondition, Vec<u32>)| {
        let values = view.beside(condition, true, &slots);
        let text = format!("{} `{:#}`{values}", unsatisfying(view, slots.len()), condition.expr);
        Cause::new(Reason::Unsatisfied, text)
    };
    found.into_iter().take(2).map(cause).collect()
}

/// Conditions of the job that are true for no slot. Those with undefined names come first.
fn never(view: &JobView<'_>) -> Vec<Cause> {
    let everything: Vec<u32> = (0..view.pool.slots.len() as u32).collect();
    let all = |at: usize, is: Truth| view.classes.all.iter().all(|class| class.one[at] == is);
    let none = |at: usize| view.classes.all.iter().all(|class| class.one[at] != Truth::True);
    let never = view.conditions.required().filter(|(at, _)| none(*at));
    let classes: Vec<usize> = (0..view.classes.all.len()).collect();
    let described = |(at, condition): (usize, &AdCondition)| {
        let deciders = deciding(view, &view.conditions, true, at, &classes);
        if let Some((absent, text)) = descended(view, condition, deciders) {
            return (!absent, text);
        }
        let expr = &condition.expr;
        if let Some(note) = note_on(view, condition, true, &everything) {
            return (false, format!("no slot satisfies `{expr:#}`: {note}"));
        }
        let value = match [Truth::Undefined, Truth::Error].map(|truth| all(at, truth)) {
            [true, _] => ", which is UNDEFINED for all slots",
            [_, true] => ", which is ERROR for all slots",
            _ => "",
        };
        let wildcard = match pattern(expr) {
            Some(_) => "; `*` is not a wildcard in comparisons, use `regexp` for patterns",
            None => "",
        };
        let values = view.beside(condition, true, &everything);
        (true, format!("no slot satisfies `{expr:#}`{value}{values}{wildcard}"))
    };
    let mut found: Vec<(bool, String)> = never.map(described).collect();
    found.sort_by_key(|(plain, _)| *plain);
    found.into_iter().take(MAX_CAUSES).map(|(_, text)| Cause::new(Reason::NeverTrue, text)).collect()
}

/// States that no slot satisfies a condition, with its deciding parts first; true if the first names an undefined attribute.
/// None if the condition is not made of others.
fn descended(view: &JobView<'_>, whole: &AdCondition, mut deciders: Vec<DecidingCondition>) -> Option<(bool, String)> {
    sort(view, &mut deciders);
    let (first, rest) = deciders.split_first().filter(|(first, _)| is_below(whole, first))?;
    let absent = note_on(view, &first.condition, first.of_job, &first.slots).is_some();
    let mut text = format!("{} {}", unsatisfying(view, first.slots.len()), phrase(view, first));
    for other in rest.iter().take(MAX_DECIDING - 1) {
        let word = match other.slots.len() {
            slots if slots == view.pool.slots.len() => "nor".to_owned(),
            slots => format!("and {slots} {}", verb(slots, "does not", "do not")),
        };
        text.push_str(&format!(", {word} {}", phrase(view, other)));
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
        format!(", so `{:#}` is not true", whole.expr)
    } else {
        format!(", in the branch of `{:#}` where {since}", whole.expr)
    }
}

/// Sorts conditions with undefined names last, unless the name may be a typo.
fn sort(view: &JobView<'_>, deciders: &mut [DecidingCondition]) {
    deciders.sort_by_key(|one| {
        let slip = absent_in(view, &one.condition, one.of_job).map(|note| !note.contains("did you mean"));
        (std::cmp::Reverse(one.slots.len()), slip.unwrap_or(false))
    });
}

/// Tests if a deciding condition differs from the whole condition.
fn is_below(whole: &AdCondition, one: &DecidingCondition) -> bool {
    !one.through.is_empty() || one.condition.expr.to_string() != whole.expr.to_string()
}

/// A deciding condition, with its attribute and its values.
fn phrase(view: &JobView<'_>, one: &DecidingCondition) -> String {
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
        None => view.beside(condition, one.of_job, &one.slots),
    };
    format!("`{:#}`{holder}{note}", condition.expr)
}

/// Two conditions of the job that are true for some slots each, and for none both; or all of them.
fn apart(view: &JobView<'_>) -> Cause {
    let required: Vec<(usize, &AdCondition)> = view.conditions.required().collect();
    let holds = |class: &SlotClass, at: usize| class.one[at] == Truth::True;
    for (place, (second, later)) in required.iter().enumerate() {
        for (first, earlier) in &required[..place] {
            if !view.classes.all.iter().any(|class| holds(class, *first) && holds(class, *second)) {
                let count = |at: usize| view.classes.count(|class| holds(class, at));
                let (one, other) = (count(*first), count(*second));
                let (does, also) = (verb(one, "slot does", "slots do"), verb(other, "does", "do"));
                let (earlier, later) = (&earlier.expr, &later.expr);
                let text = format!("no slot satisfies both `{earlier}` ({one} {does}) and `{later}` ({other} {also})");
                return Cause::new(Reason::NotTogether, text);
            }
        }
    }
    let text = format!("no slot satisfies all {} conditions of the job together", required.len());
    Cause::new(Reason::NotTogether, text)
}

/// The conditions by which slots reject the job: slots that the job accepts, or all if it accepts none.
fn refusals(view: &JobView<'_>, by_job: bool) -> Vec<Cause> {
    let counts = |class: &SlotClass| !by_job || class.is_accepted();
    let mut bare_slots = 0;
    // By the text of the condition: its policy and number, and the classes.
    let text =
        |policy: &Policy| policy.conditions.all.iter().map(|condition| format!("{:#}", condition.expr)).collect();
    let texts: Vec<Vec<String>> = view.classes.policies.iter().map(text).collect();
    let mut found: BTreeMap<&str, ((usize, usize), Vec<usize>)> = BTreeMap::new();
    for (at, class) in view.classes.all.iter().enumerate().filter(|(_, class)| counts(class)) {
        let policy = &view.classes.policies[class.policy];
        if policy.conditions.all.is_empty() {
            bare_slots += class.size;
            continue;
        }
        for (place, _) in policy.conditions.required().filter(|(place, _)| class.many[*place] != Truth::True) {
            let key = (class.policy, place);
            let (first, classes) = found.entry(&texts[class.policy][place]).or_insert((key, Vec::new()));
            *first = key.min(*first);
            // A text may be in a policy twice.
            if classes.last() != Some(&at) {
                classes.push(at);
            }
        }
    }
    let all = view.classes.count(counts);
    let slot = verb(all, "slot", "slots");
    let among = if by_job { format!("{slot} that the job accepts") } else { slot.to_owned() };
    let mut causes = Vec::new();
    if bare_slots > 0 {
        let text = format!("{bare_slots} of {all} {among} do not have Requirements, so they do not match any job");
        causes.push(Cause::new(Reason::Refused, text));
    }
    let found = found.into_values().map(|(first, classes)| (view.classes.size(&classes), first, classes));
    let mut found: Vec<_> = found.collect();
    // Stable: the order of the text decides among equals.
    found.sort_by_key(|(slots, first, _)| (std::cmp::Reverse(*slots), *first));
    for (slots, (number, place), classes) in found.into_iter().take(MAX_CAUSES) {
        let condition = &view.classes.policies[number].conditions.all[place];
        let of_policy: Vec<usize> =
            classes.iter().copied().filter(|at| view.classes.all[*at].policy == number).collect();
        let mut deciders = deciding(view, &view.classes.policies[number].conditions, false, place, &of_policy);
        sort(view, &mut deciders);
        let rejects = verb(slots, "rejects", "reject");
        let text = if deciders.first().is_some_and(|first| is_below(condition, first)) {
            let parts: Vec<String> = deciders.iter().take(MAX_DECIDING).map(|one| phrase(view, one)).collect();
            format!(" because of {}{}", parts.join(" and "), decided(condition, &deciders))
        } else {
            let refusing = view.classes.ads_of(&classes);
            let note = match note_on(view, condition, false, &refusing) {
                Some(note) => format!(", but {note}"),
                None => view.beside(condition, false, &refusing),
            };
            let holder = condition.place.via.last().map_or_else(|| "Requirements".to_owned(), ToString::to_string);
            format!(": `{holder}` requires `{:#}`{note}", condition.expr)
        };
        causes.push(Cause::new(Reason::Refused, format!("{slots} of {all} {among} {rejects} the job{text}")));
    }
    causes
}

/// The note on a condition with a circular reference or an undefined name.
fn note_on(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    circle(view, condition, of_job, slots).or_else(|| absent_in(view, condition, of_job))
}

/// The note on a circular reference, with its path and ad, if it makes a condition fail for the first of some slots
/// because of that.
fn circle(view: &JobView<'_>, condition: &AdCondition, of_job: bool, slots: &[u32]) -> Option<String> {
    let slot = &view.pool.slots.get(*slots.first()? as usize)?.ad;
    let (my, target) = if of_job { (view.job, slot) } else { (slot, view.job) };
    let scope = Scope::new(my, &view.pool.settings).with_target(target);
    if !matches!(truth(scope, &condition.expr), Truth::Undefined | Truth::Error) {
        return None;
    }
    let found = explain(scope, &condition.expr);
    let back = found.iter().find(|cause| matches!(cause.reason, eval::explain::Reason::Circular))?;
    let in_side = back.path.last()?.side;
    let across = |side: AdSide| if side == AdSide::My { AdSide::Target } else { AdSide::My };
    let Reference { scope, name } = back.part.tree().reference(back.part.root())?;
    let is_own = (if in_side == AdSide::My { my } else { target }).contains(name);
    let side = match scope {
        RefScope::My => in_side,
        RefScope::Either if is_own => in_side,
        RefScope::Target | RefScope::Either => across(in_side),
    };
    let first = back.path.iter().rposition(|via| via.name == name && via.side == side)?;
    let way = &back.path[first..];
    let whose = |via: &Via| if (via.side == AdSide::My) == of_job { "the job" } else { "slots" };
    let (one, apart) = (whose(&way[0]), way.iter().any(|via| whose(via) != whose(&way[0])));
    let step = |via: &Via| if apart { format!("`{}` of {}", via.name, whose(via)) } else { format!("`{}`", via.name) };
    let steps: Vec<String> = way.iter().chain([&way[0]]).map(step).collect();
    let place = if apart { String::new() } else { format!(" in {one}") };
    Some(format!("{} is a circular reference{place}, so it is UNDEFINED", steps.join(" → ")))
}

/// The note on an undefined name in a condition.
fn absent_in(view: &JobView<'_>, condition: &AdCondition, of_job: bool) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use crate::explain::PoolFacts;
    use crate::explain::job_view::JobView;
    use classmate::internal::ad::ClassAd;
    use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};

    fn first(job: &str, slots: &[&str]) -> String {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots = slots.iter().map(|text| ad(text)).collect();
        let snapshot = Snapshot { slots, ..Snapshot::default() };
        let prepared = PreparedPool::for_explanation(&snapshot).unwrap();
        let pool = PoolFacts::new(&prepared);
        JobView::of(&pool, &ad(job)).explanation("1.0".to_owned(), "a@x".to_owned()).causes[0].text.clone()
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
    fn an_unquoted_word_and_a_misspelled_name_are_reported() {
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
    fn conditions_that_exclude_each_other_are_reported() {
        assert_eq!(
            first(
                "[Requirements = TARGET.Memory < 20 && TARGET.OpSys == \"LINUX\" && TARGET.GPUs > 1]",
                &[SMALL, LARGE]
            ),
            "no slot satisfies both `TARGET.Memory < 20` (1 slot does) and `TARGET.GPUs > 1` (1 does)"
        );
    }
}
