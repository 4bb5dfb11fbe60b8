//! Ads that do not match the one opposite, by the conditions that fail.

use std::collections::BTreeMap;

use crate::explain::clauses::AdConditions;
use crate::explain::slot_classes::SlotClasses;
use classmate::internal::value::logic::Truth;

/// Ads that fail by the same conditions.
pub(crate) struct FailureClass {
    /// The conditions of the one ad opposite that fail.
    pub(crate) by_one: Vec<usize>,
    pub(crate) policy: usize,
    /// The conditions of their policy that fail.
    pub(crate) by_many: Vec<usize>,
    /// Their classes, the first ad of all in front.
    pub(crate) classes: Vec<usize>,
    /// Number of ads.
    pub(crate) size: usize,
}

impl FailureClass {
    pub(crate) fn conditions(&self) -> usize {
        self.by_one.len() + self.by_many.len()
    }
}

/// The ads that do not match by the conditions that fail, fewest conditions first.
pub(crate) fn failures(one: &AdConditions, classes: &SlotClasses) -> Vec<FailureClass> {
    // Conditions without which the whole is not true, and that are not.
    let failing = |conditions: &AdConditions, row: &[Truth]| -> Vec<usize> {
        conditions.required().map(|(at, _)| at).filter(|at| row[*at] != Truth::True).collect()
    };
    let mut failures: BTreeMap<(Vec<usize>, usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for (at, class) in classes.all.iter().enumerate().filter(|(_, class)| !class.matches()) {
        let by_one = failing(one, &class.one);
        let by_many = failing(&classes.policies[class.policy].conditions, &class.many);
        // Without Requirements there is nothing to change in them.
        if !by_one.is_empty() || !by_many.is_empty() {
            failures.entry((by_one, class.policy, by_many)).or_default().push(at);
        }
    }
    let failure = |((by_one, policy, by_many), of): (_, Vec<usize>)| FailureClass {
        by_one,
        policy,
        by_many,
        size: classes.size(&of),
        classes: of,
    };
    let mut failures: Vec<FailureClass> = failures.into_iter().map(failure).collect();
    failures.sort_by_key(|failure| (failure.conditions(), std::cmp::Reverse(failure.size)));
    failures
}
