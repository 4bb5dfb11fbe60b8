//! A job and all slots: what every condition of either side is for every pair, evaluated once for all explanations.

use std::sync::Arc;

use crate::explain::ad_table::AdTable;
use crate::explain::clauses::{AdConditions, conditions_of};
use crate::explain::full_slots;
use crate::explain::names::{self, MissingAttribute};
use crate::explain::slot_classes::{SlotClass, SlotClasses};
use crate::explain::{AbandonedSlots, PoolFacts};
use classmate::internal::ad::Attribute;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalError, Expr, Name, Scope};

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
    pub(super) table: Arc<AdTable<'m>>,
    pub(super) classes: SlotClasses,
    pub(super) absent: Vec<MissingAttribute>,
}

impl<'m> JobView<'m> {
    /// Evaluates a job, as slots see it, against all slots.
    pub fn of(pool: &'m PoolFacts<'m>, job: &'m ClassAd) -> Self {
        Self::with_table(pool, job, Arc::new(Self::table(pool, job)))
    }

    /// The slots by column, for a job and all others with the same [`expressions`].
    pub(super) fn table(pool: &'m PoolFacts<'m>, job: &ClassAd) -> AdTable<'m> {
        let is_divided = pool.slots.iter().any(|slot| slot.partitionable);
        let totals = if is_divided { full_slots::totals() } else { Vec::new() };
        let totals: Vec<&Expr> = totals.iter().collect();
        AdTable::of(pool.slots.iter().map(|slot| &slot.ad).collect(), job, &totals, &pool.settings)
    }

    /// As [`JobView::of`], with a table that was made for a job with the same [`expressions`].
    pub(super) fn with_table(pool: &'m PoolFacts<'m>, job: &'m ClassAd, table: Arc<AdTable<'m>>) -> Self {
        let conditions = conditions_of(job, Name::new("Requirements"));
        let classes = SlotClasses::of(&table, job, &conditions);
        let absent = names::absent(pool, &table, job, &conditions, &classes);
        JobView { pool, job, conditions, table, classes, absent }
    }
}

impl JobView<'_> {
    /// The slots for which an evaluation of Requirements was abandoned, if there are any.
    pub(super) fn abandoned(&self) -> Option<AbandonedSlots> {
        let (name, settings) = (Name::new("Requirements"), &self.pool.settings);
        let is_abandoned = |class: &&SlotClass| {
            // A failure is an error.
            let is_error = [&class.one, &class.many].iter().any(|side| side.first() == Some(&Truth::Error));
            let slot = &self.pool.slots[class.first].ad;
            let fails = |my, target| {
                let value = Scope::new(my, settings).with_target(target).eval_attr(name);
                matches!(value, Err(EvalError::Work(_)))
            };
            is_error && (fails(slot, self.job) || fails(self.job, slot))
        };
        let mut found = self.classes.all.iter().filter(is_abandoned).peekable();
        let example = self.pool.of_slots[found.peek()?.first].name.clone();
        Some(AbandonedSlots { slots: found.map(|class| class.size).sum(), example, steps: settings.limits.work })
    }
}

/// The expressions of a job: their names and the addresses of their trees, in order. The values beside them do not change the
/// table of slots.
pub(super) fn expressions(job: &ClassAd) -> Vec<(Name, usize)> {
    let address = |value: &Attribute| value.tree().map(|tree| Arc::as_ptr(tree) as usize);
    let mut found: Vec<(Name, usize)> =
        job.lineage().flat_map(ClassAd::attributes).filter_map(|(name, value)| Some((name, address(value)?))).collect();
    found.sort_unstable_by(|(one, _), (other, _)| one.folded().cmp(other.folded()));
    found
}
