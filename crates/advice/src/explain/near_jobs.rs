//! The jobs nearest to a slot that no job matches: what keeps both apart, with the values, and the smallest changes of a job
//! or of the slot after which one would match.
//!
//! In: a slot and idle jobs. Out: plain data; every change was tried.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdCondition, AdConditions};
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use crate::explain::repair::failure::{FailureClass, failures};
use crate::explain::repair::nearest::{is_identity, nearest};
use crate::explain::repair::suggestion::{Change, Changed};
use crate::explain::same_fact::key;
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::values::Opposites;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::Key;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Name, Text};
use classmate_pool::JobId;
use classmate_pool::internal::pool::Slot;

/// Idle jobs that fail by the same conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearJobs {
    /// Number of jobs.
    pub jobs: usize,
    /// One of them.
    pub example: String,
    /// Conditions of the slot that are not true for them, with the values beside.
    pub by_slot: Vec<String>,
    /// Conditions of theirs that are not true for the slot, with the values beside.
    pub by_job: Vec<String>,
}

/// A change after which an idle job matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlotChange {
    /// The changes, in the named job or in the slot.
    pub changes: Vec<Change>,
    /// A job that matches then.
    pub job: String,
    /// Idle jobs that match then: one if the job is changed.
    pub jobs: usize,
}

/// Maximum number of classes of jobs in the output.
const MAX_NEAR_CLASSES: usize = 5;
/// Maximum number of classes of jobs for which changes are constructed.
const MAX_TRIED_CLASSES: usize = 4;
/// Maximum number of changes in the output.
const MAX_CHANGES: usize = 8;
/// The condition by which jobs without Requirements reject every slot.
const MISSING: &str = "missing Requirements";

/// An idle job.
pub(super) struct IdleJob<'s> {
    pub(super) ad: &'s ClassAd,
    pub(super) submitter: String,
    pub(super) id: JobId,
    /// The access point that it names.
    pub(super) schedd: Option<Text>,
}

/// A slot opposite to idle jobs.
pub(super) struct NearMissJobs<'s> {
    pub(super) slot: &'s Slot,
    /// The conditions of the slot.
    pub(super) conditions: &'s AdConditions,
    pub(super) table: &'s AdTable<'s>,
    pub(super) classes: &'s SlotClasses,
    pub(super) jobs: &'s [IdleJob<'s>],
}

/// A condition of one side, and the jobs for which it is not true.
pub(super) struct FailedCondition {
    /// The condition.
    pub(super) text: String,
    /// The condition in a sentence, with its attribute and the values beside it.
    pub(super) phrase: String,
    /// Number of jobs.
    pub(super) jobs: usize,
    /// A key that conditions of both sides share if they state the same.
    pub(super) key: String,
    /// The attributes that it refers to.
    pub(super) names: Vec<Key>,
}

impl NearMissJobs<'_> {
    /// The values of what a condition refers to, of the slot and of jobs.
    fn beside(&self, condition: &AdCondition, of_slot: bool, jobs: &[u32]) -> String {
        let opposites = Opposites { one: &self.slot.ad, many: self.table, is_job: false };
        opposites.beside(&condition.expr, of_slot, jobs)
    }

    /// Conditions with the jobs for which each is not true, the most jobs first; none are missing Requirements.
    fn failed(&self, found: Vec<(Option<&AdCondition>, Vec<u32>)>, of_slot: bool) -> Vec<FailedCondition> {
        let failed = |(condition, jobs): (Option<&AdCondition>, Vec<u32>)| {
            let Some(condition) = condition else {
                let text = MISSING.to_owned();
                // Not one fact on both sides.
                let (key, names) = (format!("{MISSING} {of_slot}"), Vec::new());
                return FailedCondition { phrase: format!("`{text}`"), text, jobs: jobs.len(), key, names };
            };
            let ad = if of_slot { &self.slot.ad } else { self.jobs[jobs[0] as usize].ad };
            let key = key(condition, ad, !of_slot);
            let tree = condition.expr.tree();
            let names = references(tree, condition.expr.root()).iter().map(|found| found.name.key()).collect();
            let holder = condition.place.via.last().map(|name| format!(" in `{name}`")).unwrap_or_default();
            let (text, values) = (format!("{:#}", condition.expr), self.beside(condition, of_slot, &jobs));
            FailedCondition { phrase: format!("`{text}`{holder}{values}"), text, jobs: jobs.len(), key, names }
        };
        let mut found: Vec<FailedCondition> = found.into_iter().map(failed).collect();
        found.sort_by_key(|failed| std::cmp::Reverse(failed.jobs));
        found
    }

    /// The conditions of the slot that reject jobs, each counted by itself; the most jobs first.
    pub(super) fn refused_by_slot(&self) -> Vec<FailedCondition> {
        let jobs = |at: usize| self.classes.ads(|class| class.one[at] != Truth::True);
        let found = self.conditions.required().map(|(at, condition)| (Some(condition), jobs(at)));
        self.failed(found.filter(|(_, jobs)| !jobs.is_empty()).collect(), true)
    }

    /// The conditions by which some jobs reject the slot, each counted by itself; the most jobs first.
    pub(super) fn refusing(&self, counts: impl Fn(&SlotClass) -> bool) -> Vec<FailedCondition> {
        let mut found: BTreeMap<String, (Option<&AdCondition>, BTreeSet<usize>)> = BTreeMap::new();
        for (at, class) in self.classes.all.iter().enumerate().filter(|(_, class)| !class.accepts() && counts(class)) {
            let conditions = &self.classes.policies[class.policy].conditions;
            let failing = conditions.required().filter(|(at, _)| class.many[*at] != Truth::True);
            let failing = failing.map(|(_, condition)| Some(condition));
            for condition in failing.chain(conditions.all.is_empty().then_some(None)) {
                let text = condition.map_or_else(|| MISSING.to_owned(), |condition| format!("{:#}", condition.expr));
                found.entry(text).or_insert_with(|| (condition, BTreeSet::new())).1.insert(at);
            }
        }
        let ads = |classes: BTreeSet<usize>| self.classes.ads_of(&classes.into_iter().collect::<Vec<_>>());
        let found = found.into_values().map(|(condition, classes)| (condition, ads(classes)));
        self.failed(found.collect(), false)
    }

    /// The jobs that fail by the fewest conditions, and changes of one of them or of the slot that would match.
    pub(super) fn nearest(&self, pool: &PoolFacts) -> (Vec<NearJobs>, Vec<SlotChange>) {
        let mut failures = failures(self.conditions, self.classes);
        let first = |failure: &FailureClass| self.classes.all[failure.classes[0]].first;
        failures.sort_by_key(|failure| (failure.conditions(), std::cmp::Reverse(failure.size), first(failure)));
        let near = |failure: &FailureClass| {
            let jobs = self.classes.ads_of(&failure.classes);
            let texts = |conditions: &AdConditions, of_slot: bool, failing: &[usize]| {
                let conditions = failing.iter().map(|at| &conditions.all[*at]);
                conditions.map(|one| format!("{:#}{}", one.expr, self.beside(one, of_slot, &jobs))).collect()
            };
            NearJobs {
                jobs: failure.size,
                example: self.jobs[first(failure)].id.to_string(),
                by_slot: texts(self.conditions, true, &failure.by_one),
                by_job: texts(&self.classes.policies[failure.policy].conditions, false, &failure.by_many),
            }
        };
        let near = failures.iter().take(MAX_NEAR_CLASSES).map(near).collect();
        (near, self.changes(pool, failures.iter().take(MAX_TRIED_CLASSES).map(first)))
    }

    /// Changes of the slot, or of one of some jobs, after which it matches.
    fn changes(&self, pool: &PoolFacts, jobs: impl Iterator<Item = usize>) -> Vec<SlotChange> {
        let settings = &pool.settings;
        let alone = pool.of_slot(self.slot);
        let mut found: Vec<(bool, SlotChange)> = Vec::new();
        for at in jobs {
            let (ad, id) = (self.jobs[at].ad, self.jobs[at].id.to_string());
            for tried in nearest(&JobView::of(&alone, ad)).1 {
                let changes = tried.suggestion.changes;
                let of_slot = changes.iter().all(|change| change.of == Changed::Slot);
                let known = |(_, one): &(bool, SlotChange)| one.changes == changes && (of_slot || one.job == id);
                if found.iter().any(known) {
                    continue;
                }
                let matches = |job: &ClassAd| symmetric(job, &tried.after, settings);
                let count = if of_slot { self.jobs.iter().filter(|job| matches(job.ad)).count() } else { 1 };
                let other = changes.iter().any(|change| is_identity(Name::new(&change.attribute)));
                let change = SlotChange { changes, job: id.clone(), jobs: count };
                found.push((other && !of_slot, change));
            }
        }
        // Stable: what the nearest jobs want comes first.
        found.sort_by_key(|(of_others, change)| (*of_others, change.changes.len()));
        found.into_iter().take(MAX_CHANGES).map(|(_, change)| change).collect()
    }
}
