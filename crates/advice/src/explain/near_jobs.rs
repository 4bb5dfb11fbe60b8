//! The jobs nearest to a slot that no job matches: what keeps both apart, with the values, and the smallest changes of a job
//! or of the slot after which one would match.
//!
//! In: a slot and idle jobs. Out: plain data; every change was tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::explain::Market;
use crate::explain::ad_table::AdTable;
use crate::explain::causes::range;
use crate::explain::clauses::{AdCondition, AdConditions};
use crate::explain::names::references;
use crate::explain::repair::failure::failing;
use crate::explain::repair::nearest::{is_identity, nearest};
use crate::explain::repair::suggestion::{Change, Changed};
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::view::View;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::Scope;
use classmate::internal::name::Name;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;
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

/// A slot opposite to idle jobs.
pub(super) struct NearMissJobs<'s> {
    pub(super) slot: &'s Slot,
    /// The conditions of the slot.
    pub(super) plan: &'s AdConditions,
    pub(super) panel: &'s AdTable<'s>,
    pub(super) kinds: &'s SlotClasses,
    /// The numbers of the jobs.
    pub(super) ids: Vec<&'s str>,
}

/// A condition of one side, and the jobs for which it is not true.
pub(super) struct FailedCondition {
    /// In the words of the side.
    pub(super) text: String,
    /// The attribute that contains it, if it is not Requirements.
    pub(super) holder: Option<Name>,
    /// Number of jobs.
    pub(super) jobs: usize,
    /// The values beside it.
    pub(super) values: Vec<String>,
}

impl FailedCondition {
    /// The condition with its attribute and the values.
    pub(super) fn told(&self) -> String {
        let holder = self.holder.map(|name| format!(" in `{name}`")).unwrap_or_default();
        format!("`{}`{holder}{}", self.text, bracketed(&self.values))
    }
}

fn bracketed(values: &[String]) -> String {
    if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) }
}

impl NearMissJobs<'_> {
    /// The conditions of the slot that reject jobs, each counted by itself; the most jobs first.
    pub(super) fn refused_by_slot(&self) -> Vec<FailedCondition> {
        let refusal = |(at, condition): (usize, &AdCondition)| {
            let jobs = self.kinds.ads(|kind| kind.one[at] != Truth::True);
            (!jobs.is_empty()).then(|| FailedCondition {
                text: condition.expr.to_string(),
                holder: condition.place.via.last().copied(),
                values: self.beside(condition, true, &jobs),
                jobs: jobs.len(),
            })
        };
        let mut found: Vec<FailedCondition> = self.plan.required().filter_map(refusal).collect();
        found.sort_by_key(|refusal| std::cmp::Reverse(refusal.jobs));
        found
    }

    /// The first conditions by which some jobs reject the slot; the most jobs first.
    pub(super) fn refusing(&self, counts: impl Fn(&SlotClass) -> bool) -> Vec<FailedCondition> {
        let mut found: BTreeMap<String, (Option<&AdCondition>, Vec<usize>)> = BTreeMap::new();
        for (at, kind) in self.kinds.all.iter().enumerate().filter(|(_, kind)| !kind.accepts() && counts(kind)) {
            let plan = &self.kinds.policies[kind.policy].plan;
            let first = plan.required().find(|(at, _)| kind.many[*at] != Truth::True).map(|(_, condition)| condition);
            let text = match first {
                Some(condition) => condition.expr.to_string(),
                None if plan.all.is_empty() => "missing Requirements".to_owned(),
                None => continue,
            };
            found.entry(text).or_insert_with(|| (first, Vec::new())).1.push(at);
        }
        let refusal = |(text, (condition, kinds)): (String, (Option<&AdCondition>, Vec<usize>))| {
            let jobs = self.kinds.ads_of(&kinds);
            FailedCondition {
                text,
                holder: condition.and_then(|condition| condition.place.via.last().copied()),
                values: condition.map(|condition| self.beside(condition, false, &jobs)).unwrap_or_default(),
                jobs: jobs.len(),
            }
        };
        let mut found: Vec<FailedCondition> = found.into_iter().map(refusal).collect();
        found.sort_by_key(|refusal| std::cmp::Reverse(refusal.jobs));
        found
    }

    /// The values of what a condition refers to, of the slot and of jobs.
    fn beside(&self, condition: &AdCondition, of_slot: bool, jobs: &[u32]) -> Vec<String> {
        let Some(first) = jobs.first().map(|at| self.panel.ads[*at as usize]) else { return Vec::new() };
        let slot = &self.slot.ad;
        let (mut notes, mut seen): (Vec<String>, Vec<Name>) = (Vec::new(), Vec::new());
        for Reference { scope, name } in references(condition.expr.tree(), condition.expr.root()) {
            if seen.contains(&name) || notes.len() >= 4 {
                continue;
            }
            seen.push(name);
            let of_the_slot = match (scope, of_slot) {
                (RefScope::My, of_slot) => of_slot,
                (RefScope::Target, of_slot) => !of_slot,
                (RefScope::Either, true) => slot.contains(name),
                (RefScope::Either, false) => !first.contains(name) && slot.contains(name),
            };
            if of_the_slot {
                let scope = Scope::new(slot, self.panel.settings).with_target(first);
                let value = scope.eval_attr(name).unwrap_or(Value::Error);
                notes.push(format!("{name} of the slot is {value}"));
            } else {
                let values = self.panel.attribute(slot, name, jobs);
                let whose = if jobs.len() == 1 { "the job" } else { "jobs" };
                notes.push(format!("{name} of {whose} is {}", range(&values)));
            }
        }
        notes
    }

    /// The jobs that fail by the fewest conditions, and changes of one of them or of the slot that would match.
    pub(super) fn nearest(&self, market: &Market) -> (Vec<NearJobs>, Vec<SlotChange>) {
        type Failing = (usize, Vec<usize>, Vec<usize>);
        let mut classes: BTreeMap<Failing, Vec<usize>> = BTreeMap::new();
        for (at, kind) in self.kinds.all.iter().enumerate().filter(|(_, kind)| !kind.matches()) {
            let by_slot = failing(self.plan, &kind.one);
            let by_job = failing(&self.kinds.policies[kind.policy].plan, &kind.many);
            if !by_slot.is_empty() || !by_job.is_empty() {
                classes.entry((kind.policy, by_slot, by_job)).or_default().push(at);
            }
        }
        let mut classes: Vec<(Failing, Vec<u32>)> =
            classes.into_iter().map(|(failing, kinds)| (failing, self.kinds.ads_of(&kinds))).collect();
        classes.sort_by_key(|((_, by_slot, by_job), jobs)| {
            (by_slot.len() + by_job.len(), std::cmp::Reverse(jobs.len()), jobs.first().copied())
        });
        let near = |((policy, by_slot, by_job), jobs): &(Failing, Vec<u32>)| {
            let told = |plan: &AdConditions, of_slot: bool, places: &[usize]| {
                let one = |at: &usize| {
                    let condition = &plan.all[*at];
                    format!("{}{}", condition.expr, bracketed(&self.beside(condition, of_slot, jobs)))
                };
                places.iter().map(one).collect::<Vec<_>>()
            };
            NearJobs {
                jobs: jobs.len(),
                example: jobs.first().map(|at| self.ids[*at as usize].to_owned()).unwrap_or_default(),
                by_slot: told(self.plan, true, by_slot),
                by_job: told(&self.kinds.policies[*policy].plan, false, by_job),
            }
        };
        let told = classes.iter().take(MAX_NEAR_CLASSES).map(near).collect();
        let firsts = classes.iter().take(MAX_TRIED_CLASSES).filter_map(|(_, jobs)| jobs.first().copied());
        (told, self.changes(market, firsts))
    }

    /// Changes of the slot, or of one of some jobs, after which it matches.
    fn changes(&self, market: &Market, jobs: impl Iterator<Item = u32>) -> Vec<SlotChange> {
        let settings = &market.settings;
        let alone = Market {
            slots: std::slice::from_ref(self.slot),
            names: vec![self.slot.name.to_string()],
            looked_at: vec![true],
            users: vec![None],
            weights: vec![self.slot.weight],
            left_out: &[],
            order: Arc::clone(&market.order),
            unkept: market.unkept,
            rules: Arc::clone(&market.rules),
            settings: settings.clone(),
        };
        let mut found: Vec<(bool, SlotChange)> = Vec::new();
        for at in jobs {
            let (ad, id) = (self.panel.ads[at as usize], self.ids[at as usize]);
            for tried in nearest(&View::of(&alone, ad)).1 {
                let changes = tried.suggestion.changes;
                let of_slot = changes.iter().all(|change| change.of == Changed::Slot);
                let known = |(_, one): &(bool, SlotChange)| one.changes == changes && (of_slot || one.job == id);
                if found.iter().any(known) {
                    continue;
                }
                let matches = |job: &ClassAd| symmetric(job, &tried.after, settings);
                let count = if of_slot { self.panel.ads.iter().filter(|job| matches(job)).count() } else { 1 };
                let other = changes.iter().any(|change| is_identity(Name::new(&change.attribute)));
                let change = SlotChange { changes, job: id.to_owned(), jobs: count };
                found.push((other && !of_slot, change));
            }
        }
        // Stable: what the nearest jobs want comes first.
        found.sort_by_key(|(of_others, change)| (*of_others, change.changes.len()));
        found.into_iter().take(MAX_CHANGES).map(|(_, change)| change).collect()
    }
}
