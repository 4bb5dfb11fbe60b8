//! Slots that do not match, by the conditions that fail.

use std::collections::BTreeMap;

use crate::explain::clauses::AdConditions;
use crate::explain::view::View;
use classmate::internal::value::logic::Truth;

/// Conditions without which the whole is not true, and that are not.
pub(crate) fn failing(plan: &AdConditions, row: &[Truth]) -> Vec<usize> {
    plan.required().map(|(at, _)| at).filter(|at| row[*at] != Truth::True).collect()
}

/// Slots that fail by the same conditions.
pub(crate) struct FailureClass {
    pub(super) by_job: Vec<usize>,
    pub(super) policy: usize,
    pub(super) by_slot: Vec<usize>,
    /// Their kinds, the first slot of all in front.
    pub(super) kinds: Vec<usize>,
    pub(super) slots: usize,
}

impl FailureClass {
    pub(super) fn conditions(&self) -> usize {
        self.by_job.len() + self.by_slot.len()
    }
}

/// The slots that do not match by what fails, fewest conditions first.
pub(super) fn classes(view: &View<'_>) -> Vec<FailureClass> {
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
    let mut classes: Vec<FailureClass> = classes
        .into_iter()
        .map(|((by_job, policy, by_slot), kinds)| FailureClass { slots: size(&kinds), by_job, policy, by_slot, kinds })
        .collect();
    classes.sort_by_key(|class| (class.conditions(), std::cmp::Reverse(class.slots)));
    classes
}
