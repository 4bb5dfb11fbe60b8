//! The slots that fail by the fewest conditions, and the smallest changes after which they match.
//!
//! A change is made up from the conditions that fail, and told only after it was tried on all slots.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::ad::ClassAd;
use crate::eval::matching::symmetric;
use crate::eval::scope::Scope;
use crate::explain::clauses::{Condition, Joint, Plan, Truth, bare, others, own};
use crate::explain::kinds::Kinds;
use crate::explain::{Group, Market};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::Value;

/// Slots that fail by the same conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Near {
    /// How many.
    pub slots: usize,
    /// One of them.
    pub example: String,
    /// Conditions of the job that are not true for them.
    pub by_job: Vec<String>,
    /// Conditions of theirs that are not true for the job.
    pub by_slot: Vec<String>,
}

/// What a change changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// An attribute of the job gets another value.
    Job,
    /// A constant in an expression of the job becomes another.
    Constant,
    /// A condition of the job is left out.
    Condition,
    /// The policy of slots.
    Slot,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What is changed.
    pub of: Changed,
    /// The attribute.
    pub attribute: String,
    /// What is there now: a value, or a condition.
    pub before: String,
    /// What it becomes; `true` if a condition is left out.
    pub after: String,
}

/// Changes that were tried together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What to change.
    pub changes: Vec<Change>,
    /// Slots that match then.
    pub slots: usize,
    /// One that matches then and does not now.
    pub example: String,
}

/// Classes of slots that are told.
const TOLD: usize = 8;
/// Classes of slots for which changes are made up.
const TRIED: usize = 24;
/// Sets of attributes whose change is tried.
const SIGNATURES: usize = 8;
/// Suggestions told.
const SUGGESTED: usize = 8;

/// Where a value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    AtMost,
    Exactly,
    AtLeast,
}

/// One thing to change in the job.
#[derive(Debug, Clone)]
enum Edit {
    Attribute(Name, Bound, Literal),
    /// A node in the expression of an attribute.
    Constant(Name, Expr, NodeId, Bound, Literal),
    Condition(Name, Expr, NodeId),
}

impl Edit {
    fn key(&self) -> String {
        match self {
            Edit::Attribute(name, ..) => format!("a {}", name.display().to_ascii_lowercase()),
            Edit::Constant(holder, _, id, ..) => format!("b {} {id}", holder.display().to_ascii_lowercase()),
            Edit::Condition(holder, _, id) => format!("c {} {id}", holder.display().to_ascii_lowercase()),
        }
    }

    fn value(&self) -> Option<(&Literal, Bound)> {
        match self {
            Edit::Attribute(_, bound, value) | Edit::Constant(_, _, _, bound, value) => Some((value, *bound)),
            Edit::Condition(..) => None,
        }
    }

    fn change(&self, job: &ClassAd) -> Change {
        match self {
            Edit::Attribute(name, _, value) => Change {
                of: Changed::Job,
                attribute: name.to_string(),
                before: job.get(*name).map_or_else(|| "undefined".to_owned(), |expr| expr.to_string()),
                after: Expr::literal(value.clone()).to_string(),
            },
            Edit::Constant(holder, expr, id, _, value) => Change {
                of: Changed::Constant,
                attribute: holder.to_string(),
                before: expr.to_string(),
                after: expr.with_literal(*id, value.clone()).to_string(),
            },
            Edit::Condition(holder, expr, _) => Change {
                of: Changed::Condition,
                attribute: holder.to_string(),
                before: expr.to_string(),
                after: "true".to_owned(),
            },
        }
    }
}

/// A number of a literal.
fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Real(value) => Some(*value),
        _ => None,
    }
}

/// The job with changes made.
fn changed(job: &ClassAd, edits: &[Edit]) -> ClassAd {
    let mut job = job.clone();
    // Later nodes first: what is replaced moves only what stands behind it.
    let mut inside: Vec<(Name, NodeId, Literal)> = Vec::new();
    for edit in edits {
        match edit {
            Edit::Attribute(name, _, value) => job.insert_expr(*name, &Expr::literal(value.clone())),
            Edit::Constant(holder, _, id, _, value) => inside.push((*holder, *id, value.clone())),
            Edit::Condition(holder, _, id) => inside.push((*holder, *id, Literal::Bool(true))),
        }
    }
    inside.sort_by_key(|(_, id, _)| std::cmp::Reverse(*id));
    for (holder, id, value) in inside {
        if let Some(expr) = job.get(holder).filter(|expr| expr.root() >= id) {
            job.insert_expr(holder, &expr.with_literal(id, value));
        }
    }
    job
}

/// The bound on the left side of a comparison.
fn bound(op: BinaryOp, handle_is_left: bool) -> Option<(Bound, i64)> {
    let (bound, off) = match op {
        BinaryOp::LessEqual => (Bound::AtMost, 0),
        BinaryOp::Less => (Bound::AtMost, -1),
        BinaryOp::GreaterEqual => (Bound::AtLeast, 0),
        BinaryOp::Greater => (Bound::AtLeast, 1),
        BinaryOp::Equal | BinaryOp::Is => return Some((Bound::Exactly, 0)),
        _ => return None,
    };
    Some(match (handle_is_left, bound) {
        (true, bound) => (bound, off),
        (false, Bound::AtMost) => (Bound::AtLeast, -off),
        (false, _) => (Bound::AtMost, -off),
    })
}

/// A value that satisfies a bound as a constant.
fn constant(value: &Value, off: i64) -> Option<Literal> {
    match value {
        Value::Int(value) => value.checked_add(off).map(Literal::Int),
        Value::Real(value) if off == 0 && value.is_finite() => Some(Literal::Real(*value)),
        Value::Real(value) if value.is_finite() => Some(Literal::Real(value + off as f64)),
        Value::Str(text) if off == 0 => Some(Literal::Str(text.clone())),
        Value::Bool(value) if off == 0 => Some(Literal::Bool(*value)),
        _ => None,
    }
}

/// What to change in the job so that one of its own conditions holds.
fn of_job(condition: &Condition, job: &ClassAd, scope: Scope<'_>) -> Edit {
    let tree = condition.expr.tree();
    let drop = || Edit::Condition(condition.holder, condition.expr.clone(), condition.expr.root());
    let Node::Binary(op, left, right) = *condition.expr.node() else { return drop() };
    let wanted = |handle: NodeId, other: NodeId| -> Option<(Bound, Literal)> {
        let (bound, off) = bound(op, handle == left)?;
        let value = scope.eval(&condition.expr.part(other)).ok()?;
        Some((bound, constant(&value, off)?))
    };
    for (handle, other) in [(left, right), (right, left)] {
        let inner = bare(tree, handle);
        if let Some(name) = own(tree, inner).filter(|name| job.contains(*name))
            && let Some((bound, value)) = wanted(handle, other)
        {
            return Edit::Attribute(name, bound, value);
        }
    }
    for (handle, other) in [(left, right), (right, left)] {
        let inner = bare(tree, handle);
        if matches!(tree.node(inner), Node::Literal(_))
            && let Some((bound, value)) = wanted(handle, other)
        {
            return Edit::Constant(condition.holder, condition.expr.clone(), inner, bound, value);
        }
    }
    drop()
}

/// What to change in the job so that a condition of a slot holds, if that is known.
fn for_slot(tree: &Tree, expr: &Expr, slot: &ClassAd, scope: Scope<'_>) -> Option<Edit> {
    let root = bare(tree, expr.root());
    if let Some(name) = others(tree, root, slot) {
        return Some(Edit::Attribute(name, Bound::Exactly, Literal::Bool(true)));
    }
    match *tree.node(root) {
        Node::Unary(UnaryOp::Not, inner) => {
            let name = others(tree, bare(tree, inner), slot)?;
            Some(Edit::Attribute(name, Bound::Exactly, Literal::Bool(false)))
        }
        Node::Binary(op, left, right) => [(left, right), (right, left)].into_iter().find_map(|(handle, other)| {
            let name = others(tree, bare(tree, handle), slot)?;
            let (bound, off) = bound(op, handle == left)?;
            let value = scope.eval(&expr.part(other)).ok()?;
            Some(Edit::Attribute(name, bound, constant(&value, off)?))
        }),
        _ => None,
    }
}

/// Changes of the job after which all conditions that fail for a slot may hold.
fn edits(
    market: &Market,
    job: &ClassAd,
    at: usize,
    (plan, failing): (&Plan, &[usize]),
    (group, refusing): (&Group, &[usize]),
) -> Option<Vec<Edit>> {
    let slot = &market.slots[at];
    let scope = Scope::new(job, &market.settings).with_target(slot);
    let mut found: BTreeMap<String, Edit> = BTreeMap::new();
    let mut add = |edit: Edit| {
        let tighter = match (found.get(&edit.key()).and_then(Edit::value), edit.value()) {
            (Some((old, Bound::AtMost)), Some((new, Bound::AtMost))) => number(new) < number(old),
            (Some((old, Bound::AtLeast)), Some((new, Bound::AtLeast))) => number(new) > number(old),
            (Some((_, Bound::Exactly)), _) => false,
            _ => true,
        };
        if tighter {
            found.insert(edit.key(), edit);
        }
    };
    for condition in failing {
        add(of_job(&plan.conditions[*condition], job, scope));
    }
    let scope = Scope::new(slot, &market.settings).with_target(job);
    for condition in refusing.iter().map(|condition| &group.plan.conditions[*condition]) {
        let tree = condition.expr.tree();
        let mut parts = vec![condition.expr.clone()];
        if condition.joint == Joint::Any {
            parts = options(&condition.expr);
        }
        add(parts.iter().find_map(|part| for_slot(tree, part, slot, scope))?);
    }
    Some(found.into_values().collect())
}

/// The parts of a chain of `||`.
fn options(expr: &Expr) -> Vec<Expr> {
    let (mut waiting, mut found) = (vec![expr.root()], Vec::new());
    while let Some(id) = waiting.pop() {
        match *expr.tree().node(bare(expr.tree(), id)) {
            Node::Binary(BinaryOp::Or, left, right) => waiting.extend([right, left]),
            _ => found.push(expr.part(id)),
        }
    }
    found
}

/// Conditions without which the whole is not true, and that are not.
fn failing(plan: &Plan, row: &[Truth]) -> Vec<usize> {
    plan.required().map(|(at, _)| at).filter(|at| row[*at] != Truth::True).collect()
}

type Class = (Vec<usize>, usize, Vec<usize>);

/// The nearest slots and what would make them match.
pub(super) fn nearest(
    market: &Market,
    job: &ClassAd,
    (plan, rows): (&Plan, &[Vec<Truth>]),
    groups: &[Group],
    kinds: &Kinds,
) -> (Vec<Near>, Vec<Suggestion>) {
    let mut classes: BTreeMap<Class, Vec<usize>> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        for (at, row) in group.members.iter().zip(&group.rows) {
            let (by_job, by_slot) = (failing(plan, &rows[*at]), failing(&group.plan, row));
            let refused = [rows[*at].first(), row.first()].iter().any(|whole| *whole != Some(&Truth::True));
            // Without Requirements there is nothing to change in them.
            if refused && !(by_job.is_empty() && by_slot.is_empty()) {
                classes.entry((by_job, number, by_slot)).or_default().push(*at);
            }
        }
    }
    let mut classes: Vec<(Class, Vec<usize>)> = classes.into_iter().collect();
    classes.sort_by_key(|((by_job, _, by_slot), slots)| (by_job.len() + by_slot.len(), std::cmp::Reverse(slots.len())));
    let near = classes.iter().take(TOLD).map(|((by_job, group, by_slot), slots)| Near {
        slots: slots.len(),
        example: market.names[slots[0]].clone(),
        by_job: by_job.iter().map(|at| plan.conditions[*at].expr.to_string()).collect(),
        by_slot: by_slot.iter().map(|at| groups[*group].plan.conditions[*at].expr.to_string()).collect(),
    });
    let near = near.collect();
    let mut suggestions = of_the_job(market, job, plan, groups, &classes, kinds);
    suggestions.extend(of_slots(market, job, groups, &classes, kinds));
    // Stable: of the same attribute the smallest change stays first, and what the nearest slots want before the rest.
    let order = |one: &Suggestion| (one.changes.len(), one.changes.iter().map(|change| change.of).max());
    suggestions.sort_by_key(order);
    suggestions.truncate(SUGGESTED);
    (near, suggestions)
}

/// Edits, what they write, and how many slots want them.
type Variant = (Vec<Edit>, String, usize);

/// Changes of the job, tried.
fn of_the_job(
    market: &Market,
    job: &ClassAd,
    plan: &Plan,
    groups: &[Group],
    classes: &[(Class, Vec<usize>)],
    kinds: &Kinds,
) -> Vec<Suggestion> {
    let matches = matching(market, job, kinds);
    // By what is changed: the values wanted, and how many slots want each.
    let mut signatures: Vec<(Vec<String>, Vec<Variant>)> = Vec::new();
    for ((by_job, group, by_slot), slots) in classes.iter().take(TRIED) {
        let made: Vec<(Vec<Edit>, usize)> = kinds
            .among(slots)
            .into_par_iter()
            .filter_map(|(at, count)| {
                Some((edits(market, job, at, (plan, by_job), (&groups[*group], by_slot))?, count))
            })
            .collect();
        for (edits, count) in made {
            let keys: Vec<String> = edits.iter().map(Edit::key).collect();
            let value = edits.iter().map(|edit| edit.change(job).after).collect::<Vec<_>>().join("\n");
            let known = signatures.iter().position(|(other, _)| *other == keys);
            let variants = match known {
                Some(at) => &mut signatures[at].1,
                None => {
                    signatures.push((keys, Vec::new()));
                    let last = signatures.len() - 1;
                    &mut signatures[last].1
                }
            };
            match variants.iter().position(|(_, text, _)| *text == value) {
                Some(at) => variants[at].2 += count,
                None if variants.len() < 1000 => variants.push((edits, value, count)),
                None => {}
            }
        }
    }
    signatures.sort_by_key(|(keys, _)| keys.len());
    let mut found: Vec<Suggestion> = Vec::new();
    for (_, variants) in signatures.iter().take(SIGNATURES) {
        for at in chosen(variants) {
            let edits = &variants[at].0;
            let changes: Vec<Change> = edits.iter().map(|edit| edit.change(job)).collect();
            if found.iter().all(|one| one.changes != changes)
                && let Some(suggestion) = tried(market, &matches, &changed(job, edits), changes, kinds)
            {
                found.push(suggestion);
            }
        }
    }
    found
}

/// The variants worth trying: the smallest change, the one that most slots want, and the largest.
fn chosen(variants: &[(Vec<Edit>, String, usize)]) -> Vec<usize> {
    let distance = |edits: &[Edit]| -> f64 {
        edits
            .iter()
            .filter_map(|edit| edit.value())
            .map(|(value, bound)| match (number(value), bound) {
                (Some(value), Bound::AtMost) => -value,
                (Some(value), Bound::AtLeast) => value,
                _ => 0.0,
            })
            .sum()
    };
    let all = || 0..variants.len();
    let by_distance = |a: &usize, b: &usize| distance(&variants[*a].0).total_cmp(&distance(&variants[*b].0));
    let picks = [all().min_by(by_distance), all().rev().max_by_key(|at| variants[*at].2), all().max_by(by_distance)];
    let mut chosen: Vec<usize> = Vec::new();
    for at in picks.into_iter().flatten() {
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    chosen
}

/// Whether each kind of slot matches a job.
fn matching(market: &Market, job: &ClassAd, kinds: &Kinds) -> Vec<bool> {
    kinds.first.par_iter().map(|at| symmetric(job, &market.slots[*at], &market.settings)).collect()
}

/// A change of the job with what it does to all slots; none if no slot is won.
fn tried(market: &Market, old: &[bool], after: &ClassAd, changes: Vec<Change>, kinds: &Kinds) -> Option<Suggestion> {
    let new = matching(market, after, kinds);
    let won = old.iter().zip(&new).position(|(old, new)| *new && !old)?;
    let slots = new.iter().zip(&kinds.sizes).filter(|(matches, _)| **matches).map(|(_, size)| size).sum();
    Some(Suggestion { changes, slots, example: market.names[kinds.first[won]].clone() })
}

/// Changes of the policies of slots, tried on the slots that only their own conditions keep away.
fn of_slots(
    market: &Market,
    job: &ClassAd,
    groups: &[Group],
    classes: &[(Class, Vec<usize>)],
    kinds: &Kinds,
) -> Vec<Suggestion> {
    let mut found = Vec::new();
    for ((by_job, group, by_slot), slots) in classes.iter().take(TRIED) {
        if !by_job.is_empty() {
            continue;
        }
        let plan = &groups[*group].plan;
        let mut conditions: Vec<&Condition> = by_slot.iter().map(|at| &plan.conditions[*at]).collect();
        // What stands last is replaced first, since that moves nothing before it; and once, however often a policy
        // refers to the attribute it stands in.
        conditions.sort_by_key(|condition| (std::cmp::Reverse(condition.expr.root()), condition.holder.folded()));
        conditions.dedup_by_key(|condition| (condition.expr.root(), condition.holder.folded()));
        let with = |at: usize| {
            let mut slot = market.slots[at].clone();
            for condition in &conditions {
                match own(condition.expr.tree(), condition.expr.root()).filter(|name| slot.contains(*name)) {
                    Some(name) => slot.insert(name, true),
                    None => {
                        if let Some(expr) = slot.get(condition.holder) {
                            let part = condition.expr.root();
                            slot.insert_expr(condition.holder, &expr.with_literal(part, Literal::Bool(true)));
                        }
                    }
                }
            }
            slot
        };
        let won: Vec<(usize, usize)> =
            kinds.among(slots).into_par_iter().filter(|(at, _)| symmetric(job, &with(*at), &market.settings)).collect();
        let Some((first, _)) = won.first() else { continue };
        let change = |condition: &&Condition| {
            let text = condition.expr.to_string();
            match own(condition.expr.tree(), condition.expr.root()).filter(|name| market.slots[*first].contains(*name))
            {
                Some(name) => Change {
                    of: Changed::Slot,
                    attribute: name.to_string(),
                    before: market.slots[*first].get(name).map(|expr| expr.to_string()).unwrap_or_default(),
                    after: "true".to_owned(),
                },
                None => Change {
                    of: Changed::Slot,
                    attribute: condition.holder.to_string(),
                    before: text,
                    after: "true".to_owned(),
                },
            }
        };
        found.push(Suggestion {
            changes: conditions.iter().map(change).collect(),
            slots: won.iter().map(|(_, count)| count).sum(),
            example: market.names[*first].clone(),
        });
    }
    found
}
