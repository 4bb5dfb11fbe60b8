//! The slots in use that a class of requests may preempt, best first.
//!
//! In: the order of ranks and the preemption verdict of a class. Out: candidates. A search goes through them only until one is
//! permitted; all slots in use are counted only when a request is rejected.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use crate::negotiate::candidate::{PreemptState, RankKey};
use crate::negotiate::engine::ClassMatcher;
use crate::negotiate::engine::candidates::CandidateList;
use crate::negotiate::engine::evaluate::{PreemptionRanks, PriorityVerdict, descending};
use crate::negotiate::engine::order::SlotOrder;
use crate::negotiate::engine::rows::RowState;
use crate::negotiate::engine::table::ClassTable;
use crate::negotiate::engine::verdict::ClassPreemption;
use crate::negotiate::offer::RankedOffer;
use crate::negotiate::outcome::{MAX_TIED, Tally};
use crate::negotiate::preemption::{PreemptionRefusal, PreemptionTests, ground};
use crate::priority::Session;
use crate::priority::session::Serve;
use classmate::internal::program::mask::Mask;

/// The slots in use, best first; those of one key are in the order in which they are evaluated.
#[derive(Debug, Default)]
pub(super) struct PreemptionOrder {
    slots: Vec<SlotInOrder>,
    /// The slots of one key, if there are more than one, as ranges of `slots`; those of most slots first.
    ties: Vec<Range<u32>>,
}

/// A slot in use with its key.
#[derive(Debug)]
struct SlotInOrder {
    place: u32,
    /// The ordinal of its rank.
    rank: u32,
    /// `PREEMPTION_RANK`.
    preemption: f64,
    preempt_state: PreemptState,
}

impl SlotInOrder {
    fn key(&self, order: &SlotOrder) -> Option<RankKey> {
        let Self { preempt_state, preemption, .. } = *self;
        Some(RankKey { preempt_state, preemption, ..order.key_of_rank(self.rank)? })
    }
}

impl PreemptionOrder {
    fn new(order: &SlotOrder, prefers: &Mask, ranks: &PreemptionRanks, rows: &RowState, table: &ClassTable) -> Self {
        let mut sorted = Vec::new();
        for row in rows.in_use.rows() {
            let state = if prefers.contains(row) { PreemptState::Rank } else { PreemptState::Priority };
            for (number, place) in order.slots_of(row as u32, table).filter(|(_, place)| rows.is_free(*place)) {
                let (rank, preemption) = (order.rank_of(number), ranks.of(row as u32, place));
                let key = (rank, Reverse(state), descending(preemption));
                sorted.push((key, SlotInOrder { place, rank, preemption, preempt_state: state }));
            }
        }
        sorted.sort_unstable_by_key(|(key, slot)| (*key, slot.place));
        let mut end = 0;
        let tie = |tied: &[_]| {
            end += tied.len() as u32;
            (tied.len() > 1).then(|| end - tied.len() as u32..end)
        };
        let mut ties: Vec<Range<u32>> = sorted.chunk_by(|a, b| a.0 == b.0).filter_map(tie).collect();
        ties.sort_by_key(|tied| Reverse(tied.len()));
        Self { slots: sorted.into_iter().map(|(_, slot)| slot).collect(), ties }
    }

    /// The slots of a key, as a range.
    fn tied_with(&self, key: &RankKey, order: &SlotOrder) -> Range<u32> {
        let up_to = |is_before: fn(std::cmp::Ordering) -> bool| {
            let before = |slot: &SlotInOrder| slot.key(order).is_some_and(|other| is_before(other.compare(key)));
            self.slots.partition_point(before) as u32
        };
        up_to(std::cmp::Ordering::is_gt)..up_to(std::cmp::Ordering::is_ge)
    }

    /// Approximate memory use, bytes.
    fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice()) + size_of_val(self.ties.as_slice())
    }
}

impl ClassPreemption {
    /// Returns whether a request may ever take a slot of a row from another user.
    fn permits(&self, row: usize) -> bool {
        let PriorityVerdict { required, likes_as_well } = &*self.by_priority;
        self.prefers.contains(row) || (required.contains(row) && likes_as_well.contains(row))
    }
}

impl ClassMatcher<'_> {
    /// Sorts the slots in use for a class, unless that was done for a class with the same ranks.
    pub(super) fn sort_in_use(&mut self, class: usize) {
        let of_class = &mut self.classes[class];
        let Some(preemption) = of_class.verdict.preemption.as_ref().filter(|_| of_class.in_use.is_none()) else {
            return;
        };
        let (order, prefers) = (&of_class.verdict.order, &preemption.prefers);
        let same = [Arc::as_ptr(order).addr(), Arc::as_ptr(prefers).addr(), Arc::as_ptr(&preemption.ranks).addr()];
        let order = self.preemption_orders.entry(same).or_insert_with(|| {
            let (rows, table) = (&self.rows, &self.compiled.table);
            let made = PreemptionOrder::new(order, prefers, &preemption.ranks, rows, table);
            self.taken += made.bytes();
            if class < self.pinned.classes {
                self.pinned.bytes += made.bytes();
            }
            Arc::new(made)
        });
        of_class.max_tie_in_use = order.ties.first().map_or(1, Range::len);
        of_class.in_use = Some(Arc::clone(order));
    }

    /// The ground on which a search may take slots in use of a row that match the request.
    ///
    /// # Errors
    /// The reason it may not; none if it might, within its limit.
    fn ground_in_use(&self, found: &CandidateList, row: usize) -> Result<PreemptState, Option<PreemptionRefusal>> {
        let Some(preemption) = &self.classes[found.class].verdict.preemption else { return Err(None) };
        let by_priority = &preemption.by_priority;
        let user = || self.slot_of(self.compiled.table.slots(row as u32)[0]).user.as_deref().unwrap_or_default();
        let tests = PreemptionTests {
            is_required: || by_priority.required.contains(row),
            likes_as_well: || by_priority.likes_as_well.contains(row),
        };
        let only_preferring = found.listed.serve != Serve::Any;
        match ground(preemption.prefers.contains(row), only_preferring, || user() == found.name, tests) {
            Ok(PreemptState::Priority) if !found.session.permits_preempting(self.rows.cost[row]) => Err(None),
            ground => ground.map_err(Some),
        }
    }

    /// The best slot in use that the search found, is not taken, and is still permitted, unless it is the `first` offer.
    pub(super) fn best_in_use(
        &mut self,
        found: &mut CandidateList,
        session: &Session,
        first: bool,
    ) -> Option<RankedOffer> {
        let order = Arc::clone(self.classes[found.class].in_use.as_ref()?);
        while let Some(slot) = order.slots.get(found.next_in_use) {
            let (class, place) = (&mut self.classes[found.class], slot.place);
            let row = self.compiled.table.row_of[place as usize] as usize;
            let may_be = class.verdict.preemption.as_ref().is_some_and(|preemption| preemption.permits(row));
            if !self.rows.is_free(place) || !class.verdict.both.contains(row) || !may_be {
                // Nor will it be for another request of the class.
                class.first_in_use += usize::from(class.first_in_use == found.next_in_use);
            } else if class.accepts(row)
                && let Ok(preempt_state) = self.ground_in_use(found, row)
            {
                let offer = self.offer(place, preempt_state);
                // Slots that were suitable at the time of the search may be over the limit by now.
                if first || offer.is_permitted(session) {
                    return Some((slot.key(&self.classes[found.class].verdict.order)?, offer));
                }
            }
            found.next_in_use += 1;
        }
        None
    }

    /// The counts of matching slots in use at the time of the search.
    pub(super) fn tally_in_use(&self, found: &CandidateList) -> Tally {
        let (class, mut tally) = (&self.classes[found.class], Tally::default());
        if class.verdict.preemption.is_none() {
            return tally;
        }
        let mut next = 0;
        while let Some(row) = class.verdict.both.next_common(&self.rows.in_use, next) {
            next = row + 1;
            let free = self.rows.free[row] as usize;
            if free > 0 && class.accepts(row) {
                let count = match self.ground_in_use(found, row) {
                    Ok(_) => &mut tally.suitable,
                    Err(None) => &mut tally.over_limit,
                    Err(Some(refusal)) => refusal.count_in(&mut tally),
                };
                *count += free;
            }
        }
        // Those that this request was given since were suitable.
        let taken = self.rows.log[found.taken_before..].iter();
        tally.suitable += taken.filter(|row| self.rows.in_use.contains(**row as usize)).count();
        tally
    }

    /// The largest number of candidates of one key among the slots in use, if it is more than is known; counted up to
    /// `MAX_TIED`.
    pub(super) fn largest_tie_in_use(&mut self, found: &CandidateList, known: usize) -> usize {
        let class = &self.classes[found.class];
        let Some(order) = class.in_use.as_ref().filter(|_| class.max_tie_in_use > known && known < MAX_TIED) else {
            return known;
        };
        let (mut bound, mut largest) = (1, known);
        for tied in &order.ties {
            if tied.len() <= largest || largest >= MAX_TIED {
                bound = bound.max(tied.len());
                break;
            }
            let (all, permitted) = self.count_in_use(found, order, tied.clone());
            (bound, largest) = (bound.max(all), largest.max(permitted));
        }
        self.classes[found.class].max_tie_in_use = bound;
        largest.min(MAX_TIED)
    }

    /// The number of candidates of a key among the slots in use, together with so many others of this key, if it is more
    /// than is known.
    pub(super) fn tie_in_use_with(
        &self,
        found: &CandidateList,
        (key, others): (&RankKey, usize),
        known: usize,
    ) -> usize {
        let class = &self.classes[found.class];
        let Some(order) = &class.in_use else { return known.max(others) };
        let tied = order.tied_with(key, &class.verdict.order);
        if tied.len().min(class.max_tie_in_use) + others <= known {
            return known;
        }
        known.max(others + self.count_in_use(found, order, tied).1)
    }

    /// Number of slots in use among some that match, and of those that are suitable.
    fn count_in_use(&self, found: &CandidateList, order: &PreemptionOrder, slots: Range<u32>) -> (usize, usize) {
        let class = &self.classes[found.class];
        let slots = order.slots[slots.start as usize..slots.end as usize].iter();
        let free = slots.map(|slot| slot.place).filter(|place| self.rows.is_free(*place));
        let rows = free.map(|place| self.compiled.table.row_of[place as usize] as usize);
        let (mut all, mut suitable) = (0, 0);
        for row in rows.filter(|row| class.verdict.both.contains(*row)) {
            all += 1;
            suitable += usize::from(class.accepts(row) && self.ground_in_use(found, row).is_ok());
        }
        (all, suitable)
    }
}
