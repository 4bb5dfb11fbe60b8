//! Conditions of both sides that state one fact, so that it is reported once.
//!
//! In: conditions that are not true for some slots. Out: which of them state the same, and the one that stands for all.

use std::collections::{BTreeMap, HashSet};

use crate::explain::causes::{Failing, Obstacle};
use crate::explain::clauses::AdCondition;
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use crate::explain::repair::edit::{comparison, presence};
use classmate::internal::eval::conditions::Connective;
use classmate::internal::program::Side;
use classmate::internal::syntax::expr::{NodeId, Tree};
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Name, Scope, Value};

/// A key that conditions of the job and of slots share if they compare amounts of the same attributes the same way, or if they
/// require that the same attribute is defined.
pub(super) fn key(condition: &AdCondition, ad: &ClassAd, of_job: bool) -> String {
    key_of(condition, (ad, of_job), |tree, id| references(tree, id).first().copied())
}

/// As [`key`], but only conditions share it that compare the same: attributes themselves, or what is computed in the same words.
pub(super) fn exact_key(condition: &AdCondition, ad: &ClassAd, of_job: bool) -> String {
    key_of(condition, (ad, of_job), |tree, id| tree.reference(tree.bare(id)))
}

/// The key of a condition, given the attribute that represents a side of a comparison.
fn key_of(
    condition: &AdCondition,
    (ad, of_job): (&ClassAd, bool),
    attribute: impl Fn(&Tree, NodeId) -> Option<Reference>,
) -> String {
    let tree = condition.expr.tree();
    let is_own =
        |found: &Reference| found.scope == RefScope::My || found.scope == RefScope::Either && ad.contains(found.name);
    let named =
        |found: &Reference| format!("{} {}", is_own(found) == of_job, found.name.display().to_ascii_lowercase());
    let side = |id: NodeId| match attribute(tree, id) {
        Some(found) => named(&found),
        None if references(tree, id).is_empty() => condition.expr.part(id).to_string(),
        None => format!("{of_job} {}", condition.expr.part(id)),
    };
    if let Some((of, there)) = presence(tree, condition.expr.root())
        && let Some(found) = tree.reference(of)
    {
        return format!("{there} defined {}", named(&found));
    }
    let is_of_job = |found: &Reference| is_own(found) == of_job;
    let root = guarded(tree, condition.expr.root(), is_of_job).unwrap_or(condition.expr.root());
    match comparison(tree, root) {
        Some((op, left, right)) if !references(tree, root).is_empty() => {
            let (left, right) = (side(left), side(right));
            match op {
                BinaryOp::Greater => format!("{right} < {left}"),
                BinaryOp::GreaterEqual => format!("{right} <= {left}"),
                BinaryOp::Less | BinaryOp::LessEqual => format!("{left} {} {right}", op.as_str()),
                _ => format!("{} {} {}", (&left).min(&right), op.as_str(), (&left).max(&right)),
            }
        }
        _ => format!("{of_job} {:#}", condition.expr),
    }
}

/// The comparison in an alternative to attributes of its own that are undefined, or to what the job has no part in: `x >= y` of
/// `x is undefined || x >= y`, or of `versionGE(TARGET.CondorVersion, "25.12") || TARGET.x >= y`.
fn guarded(tree: &Tree, root: NodeId, is_of_job: impl Fn(&Reference) -> bool) -> Option<NodeId> {
    let operands = tree.flattened(BinaryOp::Or, root);
    let absent = |id: NodeId| presence(tree, id).filter(|(_, there)| !there).map(|(of, _)| of);
    let is_of_job = |id: NodeId| references(tree, id).iter().any(&is_of_job);
    let compared: Vec<NodeId> = operands.iter().copied().filter(|id| absent(*id).is_none()).collect();
    let one = match *compared.as_slice() {
        [one] if operands.len() > 1 => one,
        [_, _, ..] => {
            let mut of_job = compared.into_iter().filter(|id| is_of_job(*id));
            let (Some(one), None) = (of_job.next(), of_job.next()) else { return None };
            one
        }
        _ => return None,
    };
    comparison(tree, one)?;
    let named = references(tree, one);
    let is_named = |of: NodeId| references(tree, of).iter().all(|found| named.contains(found));
    operands.iter().filter_map(|id| absent(*id)).all(is_named).then_some(one)
}

/// The classes of all conditions of an obstacle.
pub(super) fn classes_of(obstacle: &Obstacle<'_>) -> Vec<usize> {
    classes_together(obstacle.values())
}

/// The classes for which some conditions are not true.
fn classes_together<'f, 'v: 'f>(failing: impl Iterator<Item = &'f Failing<'v>>) -> Vec<usize> {
    let mut all: Vec<usize> = failing.flat_map(|failing| failing.classes.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The condition that stands for all of an obstacle, with the classes for which it is not true: one that is not true for any of
/// them. None if there is none, so that the conditions of the obstacle do not state one fact.
pub(super) fn representative<'v>(view: &'v JobView<'_>, obstacle: &Obstacle<'v>) -> Option<Failing<'v>> {
    let most = obstacle.values().rev().max_by_key(|failing| view.classes.size(&failing.classes))?;
    let all = classes_of(obstacle);
    if most.classes == all {
        return Some(most.clone());
    }
    of_job(view, obstacle, &all).or_else(|| of_slots(view, obstacle, &all))
}

/// The comparison of the job that states the fact of an obstacle, if it is not true for just these classes.
fn of_job<'v>(view: &'v JobView<'_>, obstacle: &Obstacle<'v>, all: &[usize]) -> Option<Failing<'v>> {
    let wanted = obstacle.values().find(|failing| failing.of_job)?;
    let key_of = |at: usize| key(&view.conditions.all[at], view.job, true);
    let wanted = key_of(wanted.condition?.1);
    let leaves = (0..view.conditions.all.len()).filter(|at| view.conditions.all[*at].connective == Connective::Leaf);
    leaves.filter(|at| key_of(*at) == wanted).find_map(|at| {
        let fails = |class: &usize| view.classes.all[*class].one[at] != Truth::True;
        let classes: Vec<usize> = (0..view.classes.all.len()).filter(fails).collect();
        (classes == all).then_some(Failing { condition: Some((&view.conditions, at)), of_job: true, classes })
    })
}

/// The shortest condition of slots in an obstacle that would not be true for any slot of these classes, if all of them require it,
/// in its own words or in others.
fn of_slots<'v>(view: &'v JobView<'_>, obstacle: &Obstacle<'v>, all: &[usize]) -> Option<Failing<'v>> {
    let slots = view.classes.ads_of(all);
    let mut found: Vec<&Failing<'v>> = obstacle.values().filter(|failing| !failing.of_job).collect();
    let exact = |failing: &&Failing<'v>| {
        let (conditions, at) = failing.condition?;
        let first = view.classes.all.get(*failing.classes.first()?)?.first;
        Some(exact_key(&conditions.all[at], &view.pool.slots[first].ad, false))
    };
    let keys: HashSet<Option<String>> = found.iter().map(exact).collect();
    if keys.len() != 1 || classes_together(found.iter().copied()) != all {
        return None;
    }
    found.sort_by_cached_key(|failing| {
        failing.condition.map(|(conditions, at)| format!("{:#}", conditions.all[at].expr).len())
    });
    let (conditions, at) = found.into_iter().find_map(|failing| {
        let (conditions, at) = failing.condition?;
        let values = view.table.values(view.job, Side::Row, &conditions.all[at].expr, &slots);
        let fails = values.values.iter().all(|value| Truth::of(value) != Truth::True);
        fails.then_some((conditions, at))
    })?;
    Some(Failing { condition: Some((conditions, at)), of_job: false, classes: all.to_vec() })
}

/// Tests if a condition fails because an attribute is undefined or 0 for all its slots, the only one in it or in another condition,
/// which fails for these slots too.
pub(super) fn is_part_of(view: &JobView<'_>, one: &Failing<'_>, other: &Failing<'_>) -> bool {
    if one.of_job != other.of_job || !one.classes.iter().all(|class| other.classes.binary_search(class).is_ok()) {
        return false;
    }
    let slots = view.classes.ads_of(&one.classes);
    let own = |at: &u32| if one.of_job { view.job } else { &view.pool.slots[*at as usize].ad };
    // The attributes in a condition, and if each is one of the ad opposite.
    let named = |failing: &Failing<'_>| -> BTreeMap<String, (bool, Name)> {
        let (Some((conditions, at)), Some(first)) = (failing.condition, slots.first()) else { return BTreeMap::new() };
        let expr = &conditions.all[at].expr;
        let found = references(expr.tree(), expr.root()).into_iter().map(|Reference { scope, name }| {
            let is_own = scope == RefScope::My || scope == RefScope::Either && own(first).contains(name);
            (format!("{is_own} {}", name.display().to_ascii_lowercase()), (is_own, name))
        });
        found.collect()
    };
    let (first, second) = (named(one), named(other));
    let is_same = one.classes.len() == other.classes.len();
    let shared = match (first.len(), second.len()) {
        (1, _) => first.iter().find(|(key, _)| second.contains_key(*key)),
        (_, 1) if is_same => second.iter().find(|(key, _)| first.contains_key(*key)),
        _ => None,
    };
    let Some((_, (is_own, name))) = shared else { return false };
    let is_nothing = |at: &u32| {
        let ad = if *is_own == one.of_job { view.job } else { &view.pool.slots[*at as usize].ad };
        let value = Scope::new(ad, &view.pool.settings).eval_attr(*name).unwrap_or(Value::Undefined);
        matches!(value, Value::Undefined | Value::Int(0))
    };
    slots.iter().all(is_nothing)
}
