//! Attributes that conditions refer to and that no ad defines, with names that look like them.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdConditions, deciding_leaves};
use crate::explain::slot_classes::SlotClasses;
use crate::submit::added::Origin;
use classmate::internal::builtin::near::closest;
use classmate::internal::eval::conditions::Connective;
use classmate::internal::name::{Key, known};
use classmate::internal::syntax::expr::{Node, NodeId, Tree, base_of};
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Name};
use classmate_pool::internal::pool::similar::slip;

/// An attribute that no ad defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingAttribute {
    /// As it is written.
    pub name: String,
    /// The condition that refers to it, cut at 10,000 characters.
    pub clause: String,
    /// The condition is the job's; otherwise it is a condition of slots.
    pub of_job: bool,
    /// A name that looks like it, in the ads where it is looked for; with a scope, such as `TARGET.Memory`, the name itself, which only
    /// the opposite ad has.
    pub similar: Option<String>,
    /// A condition that refers to it decides that some slot does not match.
    pub decides: bool,
}

impl MissingAttribute {
    /// Tests if it is written with the scope `MY`.
    pub fn is_of_own_ad(&self) -> bool {
        self.name.get(..3).is_some_and(|scope| scope.eq_ignore_ascii_case("MY."))
    }
}

/// Slots whose names are looked through for similar ones.
const MAX_SEARCHED_SLOTS: usize = 1000;

/// Missing attributes of an explanation: a condition may name any number.
const MAX_MISSING: usize = 1000;

/// Characters of the text of a condition.
const MAX_CLAUSE: usize = 10_000;

/// Tests if a reference is to the clock, which no ad has to define.
fn is_clock(found: &Reference) -> bool {
    found.scope == RefScope::Either && found.name.key() == known::CURRENT_TIME
}

/// The references of a part that are looked up in one of the two ads, in the order of the text; not the clock.
pub(super) fn references(tree: &Tree, id: NodeId) -> Vec<Reference> {
    tree.outer_references(id).into_iter().filter(|found| !is_clock(found)).collect()
}

/// Standard attributes, lower case: if one is missing, no similar name is suggested.
const STANDARD_NAMES: &[&[u8]] = &[
    b"requestgpus",
    b"requiregpus",
    b"gpus",
    b"totalgpus",
    b"detectedgpus",
    b"gpus_capability",
    b"availablegpus",
    b"cudacapability",
    b"accountinggroup",
    b"acctgroup",
    b"acctgroupuser",
    b"concurrencylimits",
    b"remoteowner",
    b"remoteuser",
    b"rank",
    b"flockto",
    b"jobprio",
    b"niceuser",
    b"owner",
    b"user",
];

/// Tests if a function evaluates its first argument in each ad of a list.
pub(super) fn is_in_contexts(function: Name) -> bool {
    matches!(function.folded(), b"evalineachcontext" | b"countmatches")
}

/// The references that a condition needs, in the order of the text: without those that have a default there (`?:`), are
/// tested for being defined, or are evaluated in each element of a list.
fn relied_on(tree: &Tree, root: NodeId) -> Vec<Reference> {
    let (mut waiting, mut found, mut guards) = (vec![root], Vec::new(), HashSet::new());
    while let Some(id) = waiting.pop() {
        match tree.view(id) {
            View::Reference(reference) => found.push(reference),
            View::Ad(_) => {}
            View::Binary { op: BinaryOp::Default, right, .. } => waiting.push(right),
            View::Call { name, arguments: [_, rest @ ..] } if is_in_contexts(name) => waiting.extend(rest),
            view => {
                if let View::Choice { condition, .. } = view {
                    guards.extend(tested(tree, condition));
                }
                waiting.extend(tree.parts(id));
            }
        }
    }
    // A name without scope is missing only if both ads lack it.
    let is_guarded = |found: &Reference| match found.scope {
        RefScope::Either => guards.iter().any(|guard| guard.name == found.name),
        _ => guards.contains(found),
    };
    found.retain(|found| !is_clock(found) && !is_guarded(found));
    found.reverse();
    found
}

/// The references that a condition tests for being defined.
fn tested(tree: &Tree, root: NodeId) -> Vec<Reference> {
    let (mut waiting, mut found) = (vec![root], Vec::new());
    while let Some(id) = waiting.pop() {
        match tree.defined_test(id) {
            Some(test) => found.extend(references(tree, test.of)),
            None => waiting.extend(tree.parts(id)),
        }
    }
    found
}

/// The attributes that conditions of the job and of slots refer to and that no ad defines where they are looked up, the first 1000.
pub(super) fn absent(
    pool: &PoolFacts,
    table: &AdTable<'_>,
    job: &ClassAd,
    conditions: &AdConditions,
    classes: &SlotClasses,
) -> Vec<MissingAttribute> {
    let policies = &classes.policies;
    let deciding_texts = deciding(conditions, classes);
    let mut found: Vec<MissingAttribute> = Vec::new();
    let mut places: HashMap<(bool, String), usize> = HashMap::new();
    // Without slots nothing can be said of what they have.
    if pool.slots.is_empty() {
        return found;
    }
    // What a condition names can be reached from Requirements.
    let in_slots = |name: Name| table.has(name);
    for (of_job, conditions) in
        std::iter::once((true, conditions)).chain(policies.iter().map(|policy| (false, &policy.conditions)))
    {
        for condition in conditions.all.iter().filter(|condition| condition.connective == Connective::Leaf) {
            let mut told: Option<MissingIn> = None;
            for reference in relied_on(condition.expr.tree(), condition.expr.root()) {
                let name = reference.name;
                let (job_side, slot_side) = match (reference.scope, of_job) {
                    (RefScope::Either, _) => (true, true),
                    (RefScope::My, true) | (RefScope::Target, false) => (true, false),
                    _ => (false, true),
                };
                if (job_side && job.contains(name)) || (slot_side && in_slots(name)) {
                    continue;
                }
                let told = told.get_or_insert_with(|| {
                    let key = (of_job, format!("{:#}", condition.expr));
                    let decides = deciding_texts.contains(&key);
                    let is_own = !of_job || Origin::of(job, &condition.expr).is_none();
                    MissingIn { clause: shortened(key.1), decides, is_own, selected: selected(&condition.expr) }
                });
                let written = reference.to_string();
                match places.entry((of_job, written.to_ascii_lowercase())) {
                    // The deciding condition is reported.
                    Entry::Occupied(place) => {
                        let known = &mut found[*place.get()];
                        if told.decides && !known.decides {
                            (known.decides, known.clause) = (true, told.clause.clone());
                        }
                    }
                    Entry::Vacant(place) if found.len() < MAX_MISSING => {
                        place.insert(found.len());
                        let similar = match told.is_own {
                            false => None,
                            true if told.selected.contains(&name) => {
                                closest(name.as_bytes(), SCOPES).map(str::to_owned)
                            }
                            true => opposite(reference, of_job, job.contains(name), in_slots(name))
                                .or_else(|| similar(pool, job, name, (job_side, slot_side))),
                        };
                        let (clause, decides) = (told.clause.clone(), told.decides);
                        found.push(MissingAttribute { name: written, clause, of_job, similar, decides });
                    }
                    Entry::Vacant(_) => {}
                }
            }
        }
    }
    found
}

/// A condition that refers to a missing attribute.
struct MissingIn {
    clause: String,
    /// It decides that some slot does not match.
    decides: bool,
    /// The condition is not one that `condor_submit` adds.
    is_own: bool,
    /// The names before a dot in it.
    selected: HashSet<Name>,
}

/// The names before a dot in an expression.
fn selected(expr: &Expr) -> HashSet<Name> {
    let tree = expr.tree();
    let name = |id: NodeId| match (tree.node(id), tree.node(base_of(id))) {
        (Node::Select(_), Node::Attr(name)) => Some(*name),
        _ => None,
    };
    (tree.first_of(expr.root())..=expr.root()).filter_map(name).collect()
}

/// The beginning of a text.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_CLAUSE) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The texts of the conditions of either side that decide that some slot does not match.
fn deciding(conditions: &AdConditions, classes: &SlotClasses) -> HashSet<(bool, String)> {
    let mut found = HashSet::new();
    let mut of = |of_job: bool, conditions: &AdConditions, rows: &mut dyn Iterator<Item = &Vec<Truth>>| {
        let mut places: HashSet<usize> = HashSet::new();
        for row in rows {
            for (at, _) in conditions.required().filter(|(at, _)| row[*at] != Truth::True) {
                places.extend(deciding_leaves(conditions, row, at).into_iter().map(|(leaf, _)| leaf));
            }
        }
        found.extend(places.into_iter().map(|at| (of_job, format!("{:#}", conditions.all[at].expr))));
    };
    of(true, conditions, &mut classes.all.iter().map(|class| &class.one));
    for policy in &classes.policies {
        of(false, &policy.conditions, &mut policy.classes.iter().map(|at| &classes.all[*at].many));
    }
    found
}

/// The scopes that may be meant by a name before a dot.
const SCOPES: [&str; 2] = ["MY", "TARGET"];

/// A name in a condition of the job with the other scope, if that is the ad which has it.
fn opposite(Reference { scope, name }: Reference, of_job: bool, in_job: bool, in_slots: bool) -> Option<String> {
    match scope {
        RefScope::My if of_job && in_slots => Some(format!("TARGET.{name}")),
        RefScope::Target if of_job && in_job => Some(format!("MY.{name}")),
        _ => None,
    }
}

/// The name nearest to a missing one; of several, the alphabetically first.
fn similar(pool: &PoolFacts, job: &ClassAd, name: Name, (job_side, slot_side): (bool, bool)) -> Option<String> {
    if STANDARD_NAMES.contains(&name.folded()) {
        return None;
    }
    let mut ads: Vec<&ClassAd> = Vec::new();
    if job_side {
        ads.push(job);
        ads.extend(job.chained().map(|parent| &**parent));
    }
    if slot_side {
        ads.extend(pool.slots.iter().take(MAX_SEARCHED_SLOTS).map(|slot| &slot.ad));
    }
    // Most ads have the same names.
    let mut seen: HashSet<Key> = HashSet::new();
    let unkept = pool.unkept.iter().copied().filter(|_| slot_side);
    let names = ads.into_iter().flat_map(ClassAd::names).chain(unkept).filter(|name| seen.insert(name.key()));
    let near = names.filter_map(|other| Some((slip(name.as_bytes(), other.as_bytes())?, other.folded(), other)));
    near.min_by_key(|(edits, folded, _)| (*edits, *folded)).map(|(_, _, other)| other.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::ParseOptions;
    use classmate::internal::syntax::parse::parse_expr;

    fn needed(text: &str) -> Vec<String> {
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        relied_on(expr.tree(), expr.root()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_list_of_a_call_is_needed_unless_it_has_a_default() {
        assert_eq!(needed("countMatches(A > 1, Missing) > 0"), ["Missing"]);
        assert_eq!(needed("countMatches(A > 1, Missing ?: {}) > 0"), [""; 0]);
    }

    #[test]
    fn a_test_of_one_ad_guards_no_reference_to_the_other() {
        assert_eq!(needed("isUndefined(MY.X) ? true : TARGET.X < 5"), ["TARGET.X"]);
        assert_eq!(needed("isUndefined(MY.X) ? true : MY.X < 5"), [""; 0]);
        assert_eq!(needed("(MY.X ?: 1) > 0 && TARGET.X > 5"), ["TARGET.X"]);
        assert_eq!(needed("(TARGET.X ?: 1) > 0 && TARGET.X > 5"), ["TARGET.X"]);
        assert_eq!(needed("countMatches(A > 1, L) > 0 && A > 4"), ["L", "A"]);
        // Where `X` is missing, so is `TARGET.X`.
        assert_eq!(needed("isUndefined(TARGET.X) ? true : X < 5"), [""; 0]);
    }
}
