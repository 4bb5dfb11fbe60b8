//! Partitionable slots that are large enough for a job, but of which dynamic slots leave too little.
//!
//! In: what every condition of either side is for every slot. Out: the slots that would match if no part of them were in use.

use crate::explain::causes::{Cause, Obstacle, Reason};
use crate::explain::clauses::{AdCondition, AdConditions, is_long, truth_of};
use crate::explain::job_view::JobView;
use crate::explain::slot_classes::SlotClass;
use crate::explain::values::{summary, verb};
use classmate::internal::name::Key;
use classmate::internal::plural::counted;
use classmate::internal::program::Side;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalOptions, Expr, Name, ParseOptions};
use classmate_pool::internal::pool::Slot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::quota::derivation::slots;

/// A resource of slots: what is left of it in a partitionable slot, and what the slot has in all.
struct Resource {
    left: &'static str,
    total: &'static str,
    unit: &'static str,
}

/// The resources that partitionable slots divide among dynamic slots.
const RESOURCES: [Resource; 4] = [
    Resource { left: "Cpus", total: "TotalSlotCpus", unit: "cores" },
    Resource { left: "Memory", total: "TotalSlotMemory", unit: "MB of memory" },
    Resource { left: "Disk", total: "TotalSlotDisk", unit: "KB of disk" },
    Resource { left: "GPUs", total: "TotalSlotGPUs", unit: "GPUs" },
];

/// The cause of all jobs for which slots are large enough but in use.
const LABEL: &str = "slots that are large enough are in use";

fn parsed(text: &str) -> Option<Expr> {
    parse_expr(text.as_bytes(), &ParseOptions::default()).ok()
}

/// Expressions that name the totals of slots, so that a table of slots has them.
pub(super) fn totals() -> Vec<Expr> {
    RESOURCES.iter().filter_map(|resource| parsed(&format!("TARGET.{}", resource.total))).collect()
}

/// The resources of a slot that a condition of one of the two sides refers to.
fn named(expr: &Expr, of_job: bool, job: &ClassAd) -> Vec<&'static Resource> {
    let is_of_slot = |found: &Reference| is_of_slot(found, of_job, job);
    let names: Vec<Key> =
        expr.tree().references(expr.root()).filter(is_of_slot).map(|found| found.name.key()).collect();
    RESOURCES.iter().filter(|resource| names.contains(&Name::new(resource.left).key())).collect()
}

/// Tests if a condition of one of the two sides refers to what is left of a slot.
pub(super) fn is_about(expr: &Expr, of_job: bool, job: &ClassAd) -> bool {
    !named(expr, of_job, job).is_empty()
}

/// Tests if a reference in a condition of one of the two sides is to the slot.
fn is_of_slot(found: &Reference, of_job: bool, job: &ClassAd) -> bool {
    match found.scope {
        RefScope::My => !of_job,
        RefScope::Target => of_job,
        // Slots have all of these; jobs seldom do.
        RefScope::Either => !of_job || !job.contains(found.name),
    }
}

/// A condition that looks at the whole slot in place of what is left of it.
fn of_whole_slot(expr: &Expr, of_job: bool, job: &ClassAd) -> Expr {
    let tree = expr.tree();
    let mut whole = expr.clone();
    if is_long(expr) {
        return whole;
    }
    // Later nodes first: a replacement moves only the nodes after it.
    for id in (tree.first_of(expr.root())..=expr.root()).rev() {
        let Some(found) = tree.reference(id).filter(|found| is_of_slot(found, of_job, job)) else { continue };
        let resource = RESOURCES.iter().find(|resource| Name::new(resource.left) == found.name);
        let scope = if of_job { "TARGET" } else { "MY" };
        let total = resource.and_then(|one| parsed(&format!("({scope}.{} ?: {scope}.{})", one.total, one.left)));
        if let Some(total) = total {
            whole = whole.with_part(id, &total);
        }
    }
    whole
}

/// The resource of a partitionable slot of which its dynamic slots use all, and the sentence about it; none if something is left of each.
pub(super) fn in_use(slot: &Slot, settings: &EvalOptions) -> Option<(Name, String)> {
    let facts = AdReader::of(&slot.ad, settings);
    let is_used = |one: &&Resource| facts.number(one.left) == Some(0.0) && facts.number(one.total) > Some(0.0);
    let used = RESOURCES.iter().filter(|_| slot.partitionable).filter(|one| one.left != "GPUs").find(is_used)?;
    let total = slots(facts.number(used.total)?);
    Some((Name::new(used.left), format!("it is in use: its dynamic slots have all of its {total} {}", used.unit)))
}

/// Partitionable slots that would match a job if no part of them were in use.
pub(super) struct FullSlots {
    /// The slots, by their places in the pool.
    pub(super) slots: Vec<u32>,
    /// The resources of which too little is left.
    lacking: Vec<&'static Resource>,
}

impl FullSlots {
    /// The slots that would match; none if there are none.
    pub(super) fn of(view: &JobView<'_>) -> Option<Self> {
        let mut found = FullSlots { slots: Vec::new(), lacking: Vec::new() };
        for at in 0..view.classes.all.len() {
            found.add(view, at);
        }
        found.slots.sort_unstable();
        (!found.slots.is_empty()).then_some(found)
    }

    /// Adds the slots of a class that would match.
    fn add(&mut self, view: &JobView<'_>, at: usize) {
        let class = &view.classes.all[at];
        let of_slots = &view.classes.policies[class.policy].conditions;
        let of_job = view.conditions.required().map(|(place, one)| (true, one, class.one[place]));
        let of_slots = of_slots.required().map(|(place, one)| (false, one, class.many[place]));
        let all: Vec<(bool, &AdCondition, Truth)> = of_job.chain(of_slots).collect();
        let about = |(of_job, one, _): &(bool, &AdCondition, Truth)| named(&one.expr, *of_job, view.job);
        let mut failing = all.iter().filter(|(.., truth)| *truth != Truth::True).peekable();
        if failing.peek().is_none() || class.is_closed() || failing.clone().any(|one| about(one).is_empty()) {
            return;
        }
        let mut slots = view.classes.ads_of(&[at]);
        slots.retain(|slot| view.pool.slots[*slot as usize].partitionable);
        for one in all.iter().filter(|one| !about(one).is_empty()) {
            let (of_job, side) = (one.0, if one.0 { Side::Other } else { Side::Row });
            let whole = of_whole_slot(&one.1.expr, of_job, view.job);
            let found = view.table.values(view.job, side, &whole, &slots);
            let mut values = found.of.iter().map(|value| found.values.get(*value as usize).map(truth_of));
            slots.retain(|_| values.next().flatten() == Some(Truth::True));
        }
        if !slots.is_empty() {
            for resource in failing.flat_map(about) {
                if !self.lacking.iter().any(|known| std::ptr::eq(*known, resource)) {
                    self.lacking.push(resource);
                }
            }
        }
        self.slots.extend(slots);
    }

    /// Tests if an obstacle is what is left of these slots, and keeps away no others.
    pub(super) fn explains(&self, view: &JobView<'_>, obstacle: &Obstacle<'_>) -> bool {
        obstacle.values().all(|failing| {
            let is_about =
                |(conditions, at): (&AdConditions, usize)| is_about(&conditions.all[at].expr, failing.of_job, view.job);
            let slots = view.classes.ads_of(&failing.classes);
            failing.condition.is_some_and(is_about) && slots.iter().all(|slot| self.slots.binary_search(slot).is_ok())
        })
    }

    /// Tests if some of the slots would satisfy a condition of the job if no part of them were in use.
    pub(super) fn would_satisfy(view: &JobView<'_>, condition: &AdCondition, slots: &[u32]) -> bool {
        let is_partitionable = |slot: &&u32| view.pool.slots[**slot as usize].partitionable;
        let some: Vec<u32> = slots.iter().filter(is_partitionable).copied().collect();
        let whole = of_whole_slot(&condition.expr, true, view.job);
        let found = view.table.values(view.job, Side::Other, &whole, &some);
        !some.is_empty() && found.values.iter().any(|value| truth_of(value) == Truth::True)
    }

    /// The sentence about them.
    pub(super) fn cause(&self, view: &JobView<'_>) -> Cause {
        let (some, all) = (self.slots.len(), counted(view.pool.slots.len(), "slot"));
        let value = |name: &str| summary(&view.table.attribute(view.job, Name::new(name), &self.slots));
        let mut lacking: Vec<&Resource> = RESOURCES.iter().collect();
        lacking.retain(|one| self.lacking.iter().any(|known| std::ptr::eq(*known, *one)));
        let left = |one: &&Resource| format!("{} of {} {}", value(one.left), value(one.total), one.unit);
        let left = lacking.iter().map(left).collect::<Vec<_>>().join(" and ");
        let text = format!(
            "{some} of {all} {} large enough for the job, but in use: {left} are free",
            verb(some, "is", "are")
        );
        Cause::new(Reason::Taken, LABEL, text)
    }
}

impl SlotClass {
    /// Returns whether the conditions of one side are missing.
    fn is_closed(&self) -> bool {
        self.one.is_empty() || self.many.is_empty()
    }
}
