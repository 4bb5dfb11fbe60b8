//! A job and all slots: what every condition of either side is for every pair, evaluated once for all explanations.

use crate::explain::PoolFacts;
use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdConditions, conditions_of};
use crate::explain::names::{self, MissingAttribute};
use crate::explain::slot_classes::SlotClasses;
use classmate::{ClassAd, Name};

/// A job evaluated against all slots.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_advice::internal::explain::{PoolFacts, job_view::JobView};
/// use classmate_pool::{PreparedPool, Snapshot};
/// let slot = ClassAd::parse(b"[Name = \"s\"; Memory = 10; Requirements = true]")?;
/// let snapshot = Snapshot { slots: vec![slot], ..Snapshot::default() };
/// let prepared = PreparedPool::for_explanation(&snapshot).unwrap();
/// let pool = PoolFacts::new(&prepared);
/// let job = ClassAd::parse(b"[Requirements = TARGET.Memory > 20]")?;
/// assert_eq!(JobView::of(&pool, &job).explanation("1.0".to_owned(), "a@x".to_owned()).matching, 0);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub struct JobView<'m> {
    pub(super) pool: &'m PoolFacts<'m>,
    pub(super) job: &'m ClassAd,
    /// The conditions of the job.
    pub(super) conditions: AdConditions,
    pub(super) table: AdTable<'m>,
    pub(super) classes: SlotClasses,
    pub(super) absent: Vec<MissingAttribute>,
}

impl<'m> JobView<'m> {
    /// Evaluates a job, as slots see it, against all slots.
    pub fn of(pool: &'m PoolFacts<'m>, job: &'m ClassAd) -> Self {
        let conditions = conditions_of(job, Name::new("Requirements"));
        let table = AdTable::of(pool.slots.iter().map(|slot| &slot.ad).collect(), job, &[], &pool.settings);
        let classes = SlotClasses::of(&table, job, &conditions);
        let absent = names::absent(pool, &table, job, &conditions, &classes);
        JobView { pool, job, conditions, table, classes, absent }
    }
}
