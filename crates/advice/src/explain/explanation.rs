//! The explanation of a job without a cycle: plain data that serializes.

use serde::Serialize;

use crate::explain::AbandonedSlots;
use crate::explain::causes::{self, Cause, Reason};
use crate::explain::clauses::{Clause, counted, is_long};
use crate::explain::cycle::order::ServiceOrder;
use crate::explain::cycle::pre_cycle::PARTITION;
use crate::explain::cycle::trace::CycleTrace;
use crate::explain::job_view::JobView;
use crate::explain::names::MissingAttribute;
use crate::explain::repair::nearest::{NearSlots, gives_up, nearest};
use crate::explain::repair::selection;
use crate::explain::repair::suggestion::{Change, Changed, Suggestion, TestedChange};
use crate::explain::slot_classes::{Policy, SlotClass};
use crate::explain::tested_setting::TestedSetting;
use classmate::Name;
use classmate_pool::internal::queue::significant::STANDING;

/// Slots that have the same requirements, and what they say of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SlotPolicy {
    /// Their Requirements.
    pub text: String,
    /// Number of slots with this policy.
    pub slots: usize,
    /// Number of these that accept the job.
    pub accepting: usize,
    /// One of those that reject it; of all if none does.
    pub example: String,
    /// Its conditions.
    pub clauses: Vec<Clause>,
}

/// The explanation of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The job, `cluster.process`; a job factory, `cluster`.
    pub job: String,
    /// Its submitter.
    pub submitter: String,
    /// The causes for which it is idle, the most significant first; or its match.
    pub causes: Vec<Cause>,
    /// If the causes are conditions, because no slot matches: slots that fail none of these.
    pub others: usize,
    /// Number of slots.
    pub slots: usize,
    /// Slots that the job accepts.
    pub accepted_by_job: usize,
    /// Slots that accept the job.
    pub accepting_job: usize,
    /// Slots that accept the job and that it accepts.
    pub matching: usize,
    /// The conditions of its Requirements; none if it has none, and then it matches nothing.
    pub clauses: Vec<Clause>,
    /// Conditions that must be true and are for no slot.
    pub never: Vec<String>,
    /// Conditions that must be true and are for every slot.
    pub always: Vec<String>,
    /// Attributes that conditions refer to and that exist nowhere.
    pub absent: Vec<MissingAttribute>,
    /// The policies of slots, those by which most slots reject the job first.
    pub policies: Vec<SlotPolicy>,
    /// Slots that do not match, by the conditions that fail; fewest first.
    pub nearest: Vec<NearSlots>,
    /// Changes after which more slots match, each tried; the smallest first.
    pub suggestions: Vec<Suggestion>,
    /// Changes of settings after which the job gets a slot, each tried in a cycle; empty if no limit keeps it idle.
    pub settings: Vec<TestedSetting>,
    /// The trace of one cycle; none if no cycle was run.
    pub cycle: Option<CycleTrace>,
    /// Conditions of the job that are too long to be changed in their parts: only their removal is tested.
    #[serde(skip)]
    pub long: usize,
    /// Slots whose evaluation was abandoned, if there are any.
    #[serde(skip)]
    pub abandoned: Option<AbandonedSlots>,
}

impl Explanation {
    /// Marks the suggestions that can help, by the first cause, and of these the ones to show.
    pub(super) fn judge_suggestions(&mut self) {
        /// The factor by which a change has to raise the number of matching slots to help, although none of them is unclaimed.
        const MANY_OF: usize = 2;
        let (first, matching) = (self.causes.first().map(|cause| cause.reason), self.matching);
        // Dynamic slots in use are gone when they are free.
        let wins_unclaimed = self.suggestions.iter().any(|one| one.unclaimed > 0);
        let of_conditions = |reason: &Reason| {
            matches!(reason, Reason::NeverTrue | Reason::NotTogether | Reason::Unsatisfied | Reason::Refused)
        };
        let fails = self.causes.iter().any(|cause| of_conditions(&cause.reason));
        for one in &mut self.suggestions {
            // What is a mistake is one whatever slots are left.
            let corrects = one.changes.iter().all(|change| change.of == Changed::Correction);
            let is_transient = wins_unclaimed && one.transient == one.won && !corrects;
            let is_of_slots = one.changes.iter().any(|change| change.of == Changed::Slot);
            one.helps = match first {
                // A job that matches slots gets one if it matches another that is left, and sooner if it matches many more.
                Some(Reason::Taken | Reason::PreemptionRequirements | Reason::Rank | Reason::NotLookedAt) => {
                    let is_many = !is_of_slots && one.won >= MANY_OF * matching;
                    (one.unclaimed > 0 || is_many) && !one.changes.iter().any(gives_up)
                }
                // Slots that are left out of the cycle do not keep others from matching.
                Some(Reason::LeftOut) => matching == 0 && fails && !is_transient,
                Some(reason) => of_conditions(&reason) && !is_transient,
                None => !is_transient,
            };
        }
        selection::mark(&mut self.suggestions);
    }
}

impl JobView<'_> {
    /// The explanation without a cycle.
    pub fn explanation(&self, id: String, submitter: String) -> Explanation {
        self.with_changes(id, submitter, nearest(self))
    }

    /// The same with these slots as the nearest ones, and these changes as suggestions.
    pub(super) fn with_changes(
        &self,
        id: String,
        submitter: String,
        (nearest, mut suggestions): (Vec<NearSlots>, Vec<TestedChange>),
    ) -> Explanation {
        let slots = self.pool.slots.len();
        let clauses =
            counted(&self.conditions, self.classes.all.iter().map(|class| (class.one.as_slice(), class.size)));
        let all = |pick: fn(&Clause, usize) -> bool| {
            let required = self.conditions.required().filter(|(at, _)| slots > 0 && pick(&clauses[*at], slots));
            required.map(|(at, _)| clauses[at].text.clone()).collect::<Vec<_>>()
        };
        let mut policies: Vec<SlotPolicy> = self.classes.policies.iter().map(|policy| self.policy(policy)).collect();
        policies.sort_by_key(|policy| std::cmp::Reverse(policy.slots - policy.accepting));
        // The negotiator replaces these in every request.
        let is_replaced = |change: &Change| {
            change.of == Changed::Job && STANDING.iter().any(|name| *name == Name::new(&change.attribute))
        };
        suggestions.retain(|tried| !tried.suggestion.changes.iter().any(is_replaced));
        if let ServiceOrder::Jobs { .. } = &*self.pool.order {
            // The policy adds the condition on partitions, which is in no file of the user.
            let names = |text: &String| text.contains(PARTITION);
            let is_added = |change: &Change| [&change.attribute, &change.before].into_iter().any(names);
            suggestions.retain(|tried| !tried.suggestion.changes.iter().any(is_added));
        }
        let (causes, others) = causes::of_match(self, true);
        let mut found = Explanation {
            job: id,
            submitter,
            causes,
            others,
            slots,
            accepted_by_job: self.classes.count(SlotClass::is_accepted),
            accepting_job: self.classes.count(SlotClass::accepts),
            matching: self.classes.count(SlotClass::matches),
            never: all(|clause, _| clause.alone.yes == 0),
            always: all(|clause, slots| clause.alone.yes == slots),
            absent: self.absent.clone(),
            clauses,
            policies,
            nearest,
            suggestions: suggestions.into_iter().map(|tried| tried.suggestion).collect(),
            settings: Vec::new(),
            cycle: None,
            long: self.conditions.required().filter(|(_, condition)| is_long(&condition.expr)).count(),
            abandoned: self.abandoned(),
        };
        found.judge_suggestions();
        found
    }

    /// Slots of a policy, and what they say of the job.
    fn policy(&self, policy: &Policy) -> SlotPolicy {
        let classes = || policy.classes.iter().map(|at| &self.classes.all[*at]);
        let refusing = classes().find(|class| !class.accepts());
        let first = refusing.map_or(policy.first, |class| class.first);
        SlotPolicy {
            text: self.pool.slots[first].ad.get("Requirements").map(|expr| format!("{expr:#}")).unwrap_or_default(),
            slots: policy.size,
            accepting: classes().filter(|class| class.accepts()).map(|class| class.size).sum(),
            example: self.pool.of_slots[first].name.clone(),
            clauses: counted(&policy.conditions, classes().map(|class| (class.many.as_slice(), class.size))),
        }
    }
}
