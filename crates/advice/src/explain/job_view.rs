//! A job and all slots: what every condition of either side is for every pair, evaluated once for all explanations.

use crate::explain::Market;
use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdConditions, conditions};
use crate::explain::names::{self, MissingAttribute};
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Name;

/// A job looked at against all slots.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_advice::internal::explain::{Market, view::View};
/// use classmate_pool::{PreparedPool, Snapshot};
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
    pub(super) panel: AdTable<'m>,
    pub(super) kinds: SlotClasses,
    pub(super) absent: Vec<MissingAttribute>,
}

impl<'m> View<'m> {
    /// Looks at a job, as slots see it, against all slots.
    pub fn of(market: &'m Market<'m>, job: &'m ClassAd) -> Self {
        let plan = conditions(job, Name::new("Requirements"));
        let panel = AdTable::of(market.slots.iter().map(|slot| &slot.ad).collect(), job, &market.settings);
        let kinds = SlotClasses::of(&panel, job, &plan);
        let absent = names::absent(market, &panel, job, &plan, &kinds);
        View { market, job, plan, panel, kinds, absent }
    }

    /// The slots that match the job, claimed or not, by their places in the pool.
    pub fn matching(&self) -> Vec<usize> {
        self.kinds.ads(SlotClass::matches).into_iter().map(|at| at as usize).collect()
    }
}
