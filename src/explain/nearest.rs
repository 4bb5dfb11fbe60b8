//! The slots that fail by the fewest conditions, and the smallest changes after which they match.
//!
//! A change is made up from the conditions that fail, and told only after it was tried on all slots.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use indexmap::IndexMap;
use serde::Serialize;

use crate::eval::matching::symmetric;
use crate::explain::clauses::{Condition, Plan, Truth, own};
use crate::explain::edit::{Bound, Edit, changed, number};
use crate::explain::panel::Sight;
use crate::explain::suggestion::{Change, Changed, Suggestion};
use crate::explain::trial::Trials;
use crate::explain::view::View;
use crate::explain::wish::{self, Wishes};
use crate::name::{Key, Name};
use crate::program::Side;
use crate::program::atom::Surveyed;
use crate::syntax::expr::Expr;
use crate::syntax::literal::Literal;

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

/// Classes of slots that are told.
const TOLD: usize = 8;
/// Classes of slots for which changes are made up.
const TRIED: usize = 24;
/// Sets of attributes whose change is tried.
const SIGNATURES: usize = 8;
/// Suggestions told.
const SUGGESTED: usize = 8;

/// Conditions without which the whole is not true, and that are not.
fn failing(plan: &Plan, row: &[Truth]) -> Vec<usize> {
    plan.required().map(|(at, _)| at).filter(|at| row[*at] != Truth::True).collect()
}

/// Slots that fail by the same conditions.
struct Class {
    by_job: Vec<usize>,
    policy: usize,
    by_slot: Vec<usize>,
    /// Their kinds, the first slot of all in front.
    kinds: Vec<usize>,
    slots: usize,
}

impl Class {
    fn conditions(&self) -> usize {
        self.by_job.len() + self.by_slot.len()
    }
}

/// The slots that do not match by what fails, fewest conditions first.
fn classes(view: &View<'_>) -> Vec<Class> {
    let mut classes: BTreeMap<(Vec<usize>, usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for (at, kind) in view.kinds.all.iter().enumerate() {
        let policy = &view.kinds.policies[kind.policy];
        let (by_job, by_slot) = (failing(&view.plan, &kind.one), failing(&policy.plan, &kind.many));
        // Without Requirements there is nothing to change in them.
        let fails = !by_job.is_empty() || !by_slot.is_empty();
        if fails && !kind.matches() {
            classes.entry((by_job, kind.policy, by_slot)).or_default().push(at);
        }
    }
    let size = |kinds: &[usize]| kinds.iter().map(|at| view.kinds.all[*at].size).sum();
    let mut classes: Vec<Class> = classes
        .into_iter()
        .map(|((by_job, policy, by_slot), kinds)| Class { slots: size(&kinds), by_job, policy, by_slot, kinds })
        .collect();
    classes.sort_by_key(|class| (class.conditions(), std::cmp::Reverse(class.slots)));
    classes
}

/// The nearest slots and what would make them match.
pub(super) fn nearest(view: &View<'_>) -> (Vec<Near>, Vec<Suggestion>) {
    let classes = classes(view);
    let near = classes.iter().take(TOLD).map(|class| {
        let text = |plan: &Plan, conditions: &[usize]| {
            conditions.iter().map(|at| plan.conditions[*at].expr.to_string()).collect::<Vec<_>>()
        };
        Near {
            slots: class.slots,
            example: view.market.names[view.kinds.all[class.kinds[0]].first].clone(),
            by_job: text(&view.plan, &class.by_job),
            by_slot: text(&view.kinds.policies[class.policy].plan, &class.by_slot),
        }
    });
    let near = near.collect();
    let mut made: Vec<MadeUp<'_>> = of_the_job(view, &classes).into_iter().map(MadeUp::OfJob).collect();
    let tried = classes.iter().take(TRIED).filter(|class| class.by_job.is_empty());
    made.extend(tried.map(|class| MadeUp::OfSlots(class, replaced(view, class))));
    // Stable: of the same attribute the smallest change stays first, and what the nearest slots want before the rest.
    made.sort_by_key(MadeUp::order);
    let trials = Trials::new(&view.panel, view.job);
    let mut told: Vec<Suggestion> = Vec::new();
    for one in made {
        if told.len() == SUGGESTED {
            break;
        }
        let found = match one {
            MadeUp::OfJob(edits) => of_edits(view, &trials, &edits, &told),
            MadeUp::OfSlots(class, conditions) => without(view, class, &conditions),
        };
        told.extend(found);
    }
    (near, told)
}

/// Whether an attribute says who somebody is: to be somebody else is no small change.
fn is_identity(name: Name) -> bool {
    let identity: [&[u8]; 8] = [
        b"owner",
        b"user",
        b"accountinggroup",
        b"acctgroup",
        b"acctgroupuser",
        b"ntdomain",
        b"x509userproxysubject",
        b"clusterid",
    ];
    identity.contains(&name.folded())
}

/// A change that was not tried yet.
enum MadeUp<'c> {
    OfJob(Vec<Edit>),
    OfSlots(&'c Class, Vec<&'c Condition>),
}

impl MadeUp<'_> {
    /// How much it changes, and what.
    fn order(&self) -> (bool, usize, Option<Changed>) {
        match self {
            MadeUp::OfJob(edits) => {
                let of_others = edits.iter().any(|edit| is_identity(edit.name()));
                (of_others, edits.len(), edits.iter().map(Edit::of).max())
            }
            MadeUp::OfSlots(_, conditions) => {
                (false, conditions.len(), (!conditions.is_empty()).then_some(Changed::Slot))
            }
        }
    }
}

/// A change of the job with what it does to all slots; none if no slot is won.
fn of_edits(view: &View<'_>, trials: &Trials<'_, '_>, edits: &[Edit], told: &[Suggestion]) -> Option<Suggestion> {
    let changes: Vec<Change> = edits.iter().map(|edit| edit.change(view.job)).collect();
    if told.iter().any(|one| one.changes == changes) {
        return None;
    }
    let names: Vec<Name> = edits.iter().map(Edit::name).collect();
    let won = trials.of(&changed(view.job, edits), &names)?;
    Some(Suggestion { changes, slots: won.matching, example: view.market.names[won.first].clone() })
}

/// Edits by number: the same of one place and value is one.
#[derive(Default)]
struct Edits {
    known: HashMap<(u32, String), u32>,
    keys: IndexMap<String, ()>,
    /// Each with the number of its key.
    all: Vec<(u32, Edit)>,
}

impl Edits {
    fn number(&mut self, edit: &Edit, key: u32) -> u32 {
        let value = edit.value().map(|(value, _)| Expr::literal(value.clone()).to_string()).unwrap_or_default();
        let next = self.all.len() as u32;
        *self.known.entry((key, value)).or_insert_with(|| {
            self.all.push((key, edit.clone()));
            next
        })
    }

    fn key(&mut self, text: String) -> u32 {
        self.keys.insert_full(text, ()).0 as u32
    }

    /// The numbers of the edits of some wishes.
    fn numbers(&mut self, wishes: &Wishes) -> Vec<u32> {
        // Edits of one place follow one another.
        let mut last: Option<(&Edit, u32)> = None;
        let mut numbers = Vec::with_capacity(wishes.edits.len());
        for edit in &wishes.edits {
            let key = match last.filter(|(one, _)| one.is_of_the_place_of(edit)) {
                Some((_, key)) => key,
                None => self.key(edit.key()),
            };
            last = Some((edit, key));
            numbers.push(self.number(edit, key));
        }
        numbers
    }

    /// Adds an edit to others, unless there is one of its place that asks for as much.
    fn add(&self, found: &mut Vec<u32>, new: u32) {
        let (key, edit) = &self.all[new as usize];
        let Some(at) = found.iter().position(|old| self.all[*old as usize].0 == *key) else {
            return found.push(new);
        };
        let tighter = match (self.all[found[at] as usize].1.value(), edit.value()) {
            (Some((old, Bound::AtMost)), Some((new, Bound::AtMost))) => number(new) < number(old),
            (Some((old, Bound::AtLeast)), Some((new, Bound::AtLeast))) => number(new) > number(old),
            (Some((_, Bound::Exactly)), _) => false,
            _ => true,
        };
        if tighter {
            found[at] = new;
        }
    }
}

/// Changes of the job that the nearest slots want: the sets of edits worth trying, those of few attributes first.
fn of_the_job(view: &View<'_>, classes: &[Class]) -> Vec<Vec<Edit>> {
    let mut edits = Edits::default();
    // By what is changed: the values wanted, and how many slots want each.
    let mut signatures: IndexMap<Vec<u32>, IndexMap<Vec<u32>, usize>> = IndexMap::new();
    for class in classes.iter().take(TRIED) {
        let slots = view.kinds.ads_of(&class.kinds);
        let wanted = wanted(view, class, &slots, &mut edits);
        for mut set in wanted.into_iter().flatten() {
            set.sort_unstable_by(|a, b| {
                let key = |number: &u32| edits.keys.get_index(edits.all[*number as usize].0 as usize);
                key(a).cmp(&key(b))
            });
            let keys: Vec<u32> = set.iter().map(|number| edits.all[*number as usize].0).collect();
            *signatures.entry(keys).or_default().entry(set).or_default() += 1;
        }
    }
    let mut signatures: Vec<_> = signatures.into_iter().collect();
    signatures.sort_by_key(|(keys, _): &(Vec<u32>, _)| keys.len());
    let made = |set: &Vec<u32>| set.iter().map(|number| edits.all[*number as usize].1.clone()).collect();
    let mut found: Vec<Vec<Edit>> = Vec::new();
    for (_, variants) in signatures.iter().take(SIGNATURES) {
        let variants: Vec<(Vec<Edit>, usize)> = variants.iter().map(|(set, count)| (made(set), *count)).collect();
        found.extend(chosen(&variants).into_iter().map(|at| variants[at].0.clone()));
    }
    found
}

/// For each slot of a class, edits after which all conditions that fail for it may hold.
fn wanted(view: &View<'_>, class: &Class, slots: &[u32], edits: &mut Edits) -> Vec<Option<Vec<u32>>> {
    let mut wanted = vec![None; slots.len()];
    let mut parts: IndexMap<u32, (Vec<usize>, Vec<u32>)> = IndexMap::new();
    for (place, slot) in slots.iter().enumerate() {
        let part = parts.entry(view.panel.block_of(*slot as usize)).or_default();
        part.0.push(place);
        part.1.push(*slot);
    }
    for (places, part) in parts.values() {
        let sight = view.panel.sight(part, view.job);
        for (at, set) in places.iter().zip(wanted_in_block(view, class, sight, edits)) {
            wanted[*at] = set;
        }
    }
    wanted
}

/// As [`wanted`], of slots of one block.
fn wanted_in_block(view: &View<'_>, class: &Class, sight: Sight<'_, '_>, edits: &mut Edits) -> Vec<Option<Vec<u32>>> {
    let of_slots = &view.kinds.policies[class.policy].plan;
    let mut all: Vec<(Wishes, Vec<u32>)> = Vec::new();
    let by_job = class.by_job.iter().map(|at| wish::of_job(sight, &view.plan.conditions[*at]));
    for wishes in by_job.chain(class.by_slot.iter().map(|at| wish::of_slots(sight, &of_slots.conditions[*at]))) {
        let numbers = edits.numbers(&wishes);
        all.push((wishes, numbers));
    }
    let set = |slot: usize| {
        let mut set = Vec::with_capacity(all.len());
        for (wishes, numbers) in &all {
            edits.add(&mut set, numbers[wishes.of(slot)?]);
        }
        Some(set)
    };
    (0..sight.ads.len()).map(set).collect()
}

/// The variants worth trying: the smallest change, the one that most slots want, and the largest.
fn chosen(variants: &[(Vec<Edit>, usize)]) -> Vec<usize> {
    let distance = |(edits, _): &(Vec<Edit>, usize)| -> f64 {
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
    let distances: Vec<f64> = variants.iter().map(distance).collect();
    let all = || 0..variants.len();
    let by_distance = |a: &usize, b: &usize| distances[*a].total_cmp(&distances[*b]);
    let picks = [all().min_by(by_distance), all().rev().max_by_key(|at| variants[*at].1), all().max_by(by_distance)];
    let mut chosen: Vec<usize> = Vec::new();
    for at in picks.into_iter().flatten() {
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    chosen
}

/// The conditions of the slots of a class that fail, in the order in which they are replaced.
fn replaced<'v>(view: &'v View<'_>, class: &Class) -> Vec<&'v Condition> {
    let plan = &view.kinds.policies[class.policy].plan;
    let mut conditions: Vec<&Condition> = class.by_slot.iter().map(|at| &plan.conditions[*at]).collect();
    // What stands last is replaced first, since that moves nothing before it; and once, however often a policy
    // refers to the attribute it stands in.
    conditions.sort_by_key(|condition| (std::cmp::Reverse(condition.expr.root()), condition.holder.folded()));
    conditions.dedup_by_key(|condition| (condition.expr.root(), condition.holder.folded()));
    conditions
}

/// A change of the policy of slots that only their own conditions keep away; none if no slot is won.
fn without(view: &View<'_>, class: &Class, conditions: &[&Condition]) -> Option<Suggestion> {
    let with = |at: usize| {
        let mut slot = view.market.slots[at].ad.clone();
        for condition in conditions {
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
    let matches = |at: usize| symmetric(view.job, &with(at), &view.market.settings);
    let (mut won, mut first) = (0, None::<usize>);
    for at in &class.kinds {
        let kind = &view.kinds.all[*at];
        if view.panel.is_foreseen() && is_apart(view, class, conditions, kind.first) {
            // All conditions are what they are for the first one, but those that are replaced.
            if matches(kind.first) {
                won += kind.size;
                first = first.into_iter().chain([kind.first]).min();
            }
            continue;
        }
        let own = view.kinds.ads_of(&[*at]).into_iter().map(|slot| slot as usize);
        let own: Vec<usize> = own.filter(|slot| matches(*slot)).collect();
        won += own.len();
        first = first.into_iter().chain(own.first().copied()).min();
    }
    let first = first?;
    let slot = &view.market.slots[first].ad;
    let change = |condition: &&Condition| {
        let of_name = own(condition.expr.tree(), condition.expr.root()).filter(|name| slot.contains(*name));
        let (attribute, before) = match of_name {
            Some(name) => (name, slot.get(name).map(|expr| expr.to_string()).unwrap_or_default()),
            None => (condition.holder, condition.expr.to_string()),
        };
        Change { of: Changed::Slot, attribute: attribute.to_string(), before, after: "true".to_owned() }
    };
    let changes = conditions.iter().map(change).collect();
    Some(Suggestion { changes, slots: won, example: view.market.names[first].clone() })
}

/// Whether nothing else that both sides ask looks at what is replaced: then what is left is the same for all slots of a kind.
fn is_apart(view: &View<'_>, class: &Class, conditions: &[&Condition], slot: usize) -> bool {
    let ads = [slot as u32];
    let (world, mut surveyed) = (view.panel.sight(&ads, view.job).world(), Surveyed::default());
    let written: Vec<Key> = conditions
        .iter()
        .flat_map(|condition| [own(condition.expr.tree(), condition.expr.root()), Some(condition.holder)])
        .flatten()
        .map(Name::key)
        .collect();
    let plan = &view.kinds.policies[class.policy].plan;
    let all = view.plan.required().map(|(_, condition)| (Side::Other, condition));
    let others =
        plan.required().filter(|(at, _)| !class.by_slot.contains(at)).map(|(_, condition)| (Side::Row, condition));
    let mut all = all.chain(others);
    all.all(|(side, condition)| {
        let depends = world.depends(condition.expr.tree(), condition.expr.root(), side, &mut surveyed);
        !depends.row.iter().any(|name| written.contains(&name.key()))
    })
}
