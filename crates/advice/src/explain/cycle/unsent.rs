//! Attributes of a job that slots require and that its requests do not have, because they are not significant.
//!
//! In: a job and the slots that match it. Out: the attributes, and the slots that do not match its requests.

use serde::Serialize;

use crate::explain::PoolFacts;
use crate::explain::causes::{Cause, Reason};
use crate::explain::clauses::is_of_others;
use crate::explain::cycle::record::OutcomeRecord;
use crate::explain::job_view::JobView;
use crate::explain::values::verb;
use crate::setting_change::SettingChange;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::plural::counted;
use classmate::{ClassAd, Expr, Name};
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::queue::autocluster::relevant;
use classmate_pool::internal::queue::significant::Significant;

/// Attributes that are missing in the requests of a job, and what that costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnsentAttributes {
    /// The attributes; with all of them, each slot that matches the job matches its requests.
    pub names: Vec<String>,
    /// The setting that leaves out all of them; none if there are several, or if the access point always does.
    pub setting: Option<&'static str>,
    /// Slots that match the job and not its requests, and that are unclaimed after the cycle.
    pub unclaimed: usize,
    /// True if each of these slots requires each of the attributes.
    #[serde(skip)]
    pub(crate) all_require_all: bool,
    /// The slots that match the job and not its requests, by their places in the pool.
    #[serde(skip)]
    pub(crate) slots: Vec<usize>,
    /// The changes of settings after which requests have them.
    #[serde(skip)]
    pub(crate) changes: Vec<SettingChange>,
}

impl UnsentAttributes {
    /// The attributes without which some of the slots that match a job do not match its requests; `unsent` are all that its
    /// requests do not have.
    pub(super) fn of(view: &JobView<'_>, usable: &[usize], unsent: &[Name]) -> Option<Self> {
        let JobView { pool, job, .. } = *view;
        let without = |names: &[Name]| {
            let mut request = ClassAd::new();
            for (name, value) in job.lineage().flat_map(ClassAd::attributes) {
                if !names.contains(&name) && !request.contains(name) {
                    request.set(name, value.clone());
                }
            }
            request
        };
        let matches = |request: &ClassAd, at: usize| symmetric(request, &pool.slots[at].ad, &pool.settings);
        let request = (!unsent.is_empty()).then(|| without(unsent))?;
        let slots: Vec<usize> = usable.iter().copied().filter(|at| !matches(&request, *at)).collect();
        let used = Significant::of_pool(slots.iter().map(|at| &pool.slots[*at].ad), &[], &[]);
        let used = relevant(job, &used);
        let (mut needed, mut left_out): (Vec<Name>, Vec<Name>) = unsent.iter().partition(|name| used.contains(name));
        // Some attributes are never significant, whatever refers to them.
        if !slots.iter().all(|slot| matches(&without(&left_out), *slot)) {
            (needed, left_out) = (unsent.to_vec(), Vec::new());
        }
        // An access point may add what is in the list.
        needed.sort_by_key(|name| name.folded());
        needed.dedup();
        // Those that no slot requires are left out, one after the other.
        let mut at = 0;
        while let Some(name) = needed.get(at) {
            left_out.push(*name);
            let request = without(&left_out);
            if slots.iter().all(|slot| matches(&request, *slot)) {
                needed.remove(at);
            } else {
                left_out.pop();
                at += 1;
            }
        }
        let is_required_by_all = |name: &Name| {
            let request = without(&[left_out.as_slice(), &[*name]].concat());
            !slots.iter().any(|slot| matches(&request, *slot))
        };
        let all_require_all = needed.iter().all(is_required_by_all);
        let settings = needed.iter().map(|name| setting(&pool.rules, *name));
        let first = settings.clone().next().flatten();
        (!needed.is_empty()).then(|| UnsentAttributes {
            names: needed.iter().map(|name| name.display().into_owned()).collect(),
            setting: first.filter(|_| settings.clone().all(|one| one == first)),
            all_require_all,
            changes: changes(&pool.rules, needed.iter().copied().zip(settings)),
            slots,
            unclaimed: 0,
        })
    }

    /// The same with the number of slots that are unclaimed after a cycle.
    pub(super) fn after(mut self, record: &OutcomeRecord<'_>, pool: &PoolFacts<'_>) -> Self {
        let facts = self.slots.iter().map(|at| &pool.of_slots[*at]);
        self.unclaimed = facts.filter(|facts| record.is_unclaimed(facts)).count();
        self
    }

    /// The sentence about them; `usable` is the number of slots that match the job.
    pub(super) fn cause(&self, usable: usize) -> Cause {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        let label = match self.setting {
            Some(setting) => format!("{setting} leaves out {names}"),
            None => format!("{names} {} not significant", verb(self.names.len(), "is", "are")),
        };
        let slots = match (self.slots.len(), usable) {
            (1, 1) => "the only matching slot".to_owned(),
            (some, all) if some == all => format!("all {}", counted(all, "matching slot")),
            (some, all) => format!("{some} of {}", counted(all, "matching slot")),
        };
        let require = verb(self.slots.len(), "requires", "require");
        let text = if self.all_require_all {
            format!("{label}, which {slots} {require} of requests")
        } else {
            format!("{label}; {slots} {require} at least one of them of requests")
        };
        Cause::new(Reason::NotSent, &label, text)
    }
}

/// The attribute of a job, in a condition of a slot, that a setting leaves out of its requests, and the setting.
pub(crate) fn left_out_by([job, slot]: [&ClassAd; 2], rules: &Rules, condition: &Expr) -> Option<(Name, &'static str)> {
    let references = condition.tree().outer_references(condition.root()).into_iter();
    let of_job = references.filter(|found| is_of_others(found, slot));
    let mut names = of_job.map(|found| found.name).filter(|name| job.contains(*name));
    names.find_map(|name| Some((name, setting(rules, name).filter(|_| !rules.replaces_significant())?)))
}

/// The setting for which an attribute is not significant.
fn setting(rules: &Rules, name: Name) -> Option<&'static str> {
    let knobs = &rules.knobs.significant;
    let is_listed = |list: &[Vec<u8>]| list.iter().any(|one| Name::new(one) == name);
    if rules.replaces_significant() {
        Some("SIGNIFICANT_ATTRIBUTES")
    } else if is_listed(&knobs.removed) {
        Some("REMOVE_SIGNIFICANT_ATTRIBUTES")
    } else {
        let is_removed = rules.removes_significant(name);
        is_removed.then_some("REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX")
    }
}

/// The changes of settings after which some attributes are significant.
fn changes(rules: &Rules, some: impl Iterator<Item = (Name, Option<&'static str>)>) -> Vec<SettingChange> {
    let knobs = &rules.knobs.significant;
    let text = |list: &[Vec<u8>]| list.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>();
    let (mut replaced, mut added, mut removed) = (text(&knobs.replaced_by), text(&knobs.added), text(&knobs.removed));
    let [before_replaced, before_added, before_removed] = [replaced.len(), added.len(), removed.len()];
    for (name, setting) in some {
        let shown = name.display().into_owned();
        match setting {
            Some("SIGNIFICANT_ATTRIBUTES") => replaced.push(shown),
            Some("REMOVE_SIGNIFICANT_ATTRIBUTES") => removed.retain(|one| !one.eq_ignore_ascii_case(&shown)),
            _ => added.push(shown),
        }
    }
    [
        ("SIGNIFICANT_ATTRIBUTES", replaced, before_replaced),
        ("ADD_SIGNIFICANT_ATTRIBUTES", added, before_added),
        ("REMOVE_SIGNIFICANT_ATTRIBUTES", removed, before_removed),
    ]
    .into_iter()
    .filter(|(_, list, before)| list.len() != *before)
    .map(|(name, list, _)| SettingChange::Line(name.to_owned(), list.join(", ")))
    .collect()
}
