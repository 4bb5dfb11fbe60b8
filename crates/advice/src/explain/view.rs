//! A job and all slots: what every condition of either side is for every pair, worked out once for whoever asks.

use crate::explain::causes::{self, Cause};
use crate::explain::clauses::{AdConditions, Clause, conditions, counted};
use crate::explain::kinds::{Kind, Kinds, Policy};
use crate::explain::names::{self, Absent};
use crate::explain::nearest;
use crate::explain::panel::Panel;
use crate::explain::{Explanation, Market, SlotPolicy};
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Name;

/// A job looked at against all slots.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate_advice::internal::explain::{Market, view::View};
/// use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};
/// let slot = ClassAd::parse(b"[Name = \"s\"; Memory = 10; Requirements = true]")?;
/// let snapshot = Snapshot { slots: vec![slot], ..Snapshot::default() };
/// let pool = PreparedPool::for_explanation(&snapshot).unwrap();
/// let market = Market::new(&pool);
/// let job = ClassAd::parse(b"[Requirements = TARGET.Memory > 20]")?;
/// assert!(View::of(&market, &job).matching().is_empty());
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub struct View<'m> {
    pub(super) market: &'m Market<'m>,
    pub(super) job: &'m ClassAd,
    /// The conditions of the job.
    pub(super) plan: AdConditions,
    pub(super) panel: Panel<'m>,
    pub(super) kinds: Kinds,
    pub(super) absent: Vec<Absent>,
}

impl<'m> View<'m> {
    /// Looks at a job, as slots see it, against all slots.
    pub fn of(market: &'m Market<'m>, job: &'m ClassAd) -> Self {
        let plan = conditions(job, Name::new("Requirements"));
        let panel = Panel::of(market.slots.iter().map(|slot| &slot.ad).collect(), job, &market.settings);
        let kinds = Kinds::of(&panel, job, &plan);
        let absent = names::absent(market, &panel, job, &plan, &kinds);
        View { market, job, plan, panel, kinds, absent }
    }

    /// The slots that match the job, whoever has them, by their places in the market.
    pub fn matching(&self) -> Vec<usize> {
        self.kinds.ads(Kind::matches).into_iter().map(|at| at as usize).collect()
    }

    /// Why no slot matches, the most telling first; nothing if one does.
    pub fn causes(&self) -> Vec<Cause> {
        causes::of_match(self)
    }

    /// Everything there is to say without a cycle.
    pub fn explanation(&self, id: String, submitter: String) -> Explanation {
        let slots = self.market.slots.len();
        let clauses = counted(&self.plan, self.kinds.all.iter().map(|kind| (kind.one.as_slice(), kind.size)));
        let all = |pick: fn(&Clause, usize) -> bool| {
            let required = self.plan.required().filter(|(at, _)| slots > 0 && pick(&clauses[*at], slots));
            required.map(|(at, _)| clauses[at].text.clone()).collect::<Vec<_>>()
        };
        let mut policies: Vec<SlotPolicy> = self.kinds.policies.iter().map(|policy| self.policy(policy)).collect();
        policies.sort_by_key(|policy| std::cmp::Reverse(policy.slots - policy.accepting));
        let (nearest, suggestions) = nearest::nearest(self);
        Explanation {
            job: id,
            submitter,
            causes: self.causes(),
            slots,
            accepted_by_job: self.kinds.count(Kind::is_accepted),
            accepting_job: self.kinds.count(Kind::accepts),
            matching: self.kinds.count(Kind::matches),
            never: all(|clause, _| clause.alone.yes == 0),
            always: all(|clause, slots| clause.alone.yes == slots),
            absent: self.absent.clone(),
            clauses,
            policies,
            nearest,
            suggestions: suggestions.into_iter().map(|tried| tried.suggestion).collect(),
            cycle: None,
        }
    }

    /// Slots of a policy, and what they say of the job.
    fn policy(&self, policy: &Policy) -> SlotPolicy {
        let kinds = || policy.kinds.iter().map(|at| &self.kinds.all[*at]);
        let refusing = kinds().find(|kind| !kind.accepts());
        let first = refusing.map_or(policy.first, |kind| kind.first);
        SlotPolicy {
            text: self.market.slots[first].ad.get("Requirements").map(|expr| expr.to_string()).unwrap_or_default(),
            slots: policy.size,
            accepting: kinds().filter(|kind| kind.accepts()).map(|kind| kind.size).sum(),
            example: self.market.names[first].clone(),
            clauses: counted(&policy.plan, kinds().map(|kind| (kind.many.as_slice(), kind.size))),
        }
    }
}
