//! The slots in use that a class of requests may preempt, best first.
//!
//! In: the order of ranks and the preemption verdict of a class. Out: candidates. A search goes through them only until one is
//! permitted; all slots in use are counted only when a request is rejected.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use crate::negotiate::candidate::PreemptState;
use crate::negotiate::engine::ClassMatcher;
use crate::negotiate::engine::candidates::CandidateList;
use crate::negotiate::engine::evaluate::{PreemptionVerdict, SlotOrder, descending};
use crate::negotiate::engine::rows::RowState;
use crate::negotiate::engine::table::ClassTable;
use crate::negotiate::offer::RankedOffer;
use crate::negotiate::outcome::{MAX_TIED, Tally};
use crate::priority::Session;
use crate::priority::session::Serve;

/// The slots in use that accept preemption by a request, best first; those of one key are in the order in which they are
/// evaluated.
#[derive(Debug, Default)]
pub(super) struct PreemptionOrder {
    places: Vec<u32>,
    /// The slots of each key, as a range of `places`; keys of most slots first.
    ties: Vec<Range<u32>>,
}

/// The count of a tally that a slot is added to.
type CountOf = fn(&mut Tally) -> &mut usize;

impl PreemptionVerdict {
    /// The ground on which a request may take a slot of a row from anyone else; none if it may not.
    fn ground(&self, row: usize) -> Option<PreemptState> {
        if self.prefers[row] {
            Some(PreemptState::Rank)
        } else {
            (self.required[row] && self.likes_as_well[row]).then_some(PreemptState::Priority)
        }
    }

    /// `PREEMPTION_RANK` of the slots of a row.
    fn rank(&self, row: usize) -> f64 {
        f64::from_bits(self.preemption[row])
    }
}

impl PreemptionOrder {
    fn new(order: &SlotOrder, verdict: &PreemptionVerdict, rows: &RowState, table: &ClassTable) -> Self {
        let mut sorted = Vec::new();
        for row in rows.in_use.rows() {
            let Some(ground) = verdict.ground(row) else { continue };
            let rank = descending(verdict.rank(row));
            let free = table.slots(row as u32).iter().filter(|place| rows.is_free(**place));
            sorted.extend(free.map(|&place| (order.rank_of(row as u32, place), Reverse(ground), rank, place)));
        }
        sorted.sort_unstable();
        let key = |of: &(u32, Reverse<PreemptState>, u64, u32)| (of.0, of.1, of.2);
        let mut end = 0;
        let tie = |tied: &[_]| {
            end += tied.len() as u32;
            end - tied.len() as u32..end
        };
        let mut ties: Vec<Range<u32>> = sorted.chunk_by(|a, b| key(a) == key(b)).map(tie).collect();
        ties.sort_by_key(|tied| Reverse(tied.len()));
        Self { places: sorted.into_iter().map(|of| of.3).collect(), ties }
    }

    /// Maximum number of slots of one key.
    fn largest_tie(&self) -> usize {
        self.ties.first().map_or(0, Range::len)
    }

    /// Approximate memory use, bytes.
    fn bytes(&self) -> usize {
        size_of_val(self.places.as_slice()) + size_of_val(self.ties.as_slice())
    }
}

impl ClassMatcher<'_> {
    /// Sorts the slots in use for a class, unless that was done for a class with the same ranks.
    pub(super) fn sort_in_use(&mut self, class: usize) {
        let of_class = &mut self.classes[class];
        let Some(verdict) = of_class.verdict.preemption.as_ref().filter(|_| of_class.in_use.is_none()) else { return };
        let same = [Arc::as_ptr(&of_class.verdict.order).addr(), Arc::as_ptr(verdict).addr()];
        let order = self.preemption_orders.entry(same).or_insert_with(|| {
            let made = PreemptionOrder::new(&of_class.verdict.order, verdict, &self.rows, &self.compiled.table);
            self.taken += made.bytes();
            if class < self.pinned.classes {
                self.pinned.bytes += made.bytes();
            }
            Arc::new(made)
        });
        of_class.max_tie_in_use = order.largest_tie();
        of_class.in_use = Some(Arc::clone(order));
    }

    /// The verdict of a search on the slots in use of a row that match the request.
    fn verdict_in_use(&self, found: &CandidateList, row: usize) -> Result<PreemptState, CountOf> {
        let Some(verdict) = &self.classes[found.class].verdict.preemption else {
            return Err(|tally| &mut tally.preemption_not_required);
        };
        let user = || self.slot_of(self.compiled.table.slots(row as u32)[0]).user.as_deref().unwrap_or_default();
        if verdict.prefers[row] {
            Ok(PreemptState::Rank)
        } else if found.listed.serve != Serve::Any {
            Err(|tally| &mut tally.beyond_share)
        } else if user() == found.name {
            Err(|tally| &mut tally.used_by_submitter)
        } else if !verdict.required[row] {
            Err(|tally| &mut tally.preemption_not_required)
        } else if !verdict.likes_as_well[row] {
            Err(|tally| &mut tally.prefers_its_job)
        } else if !found.session.permits_preempting(self.rows.cost[row]) {
            Err(|tally| &mut tally.over_limit)
        } else {
            Ok(PreemptState::Priority)
        }
    }

    /// The best slot in use that the search found, is not taken, and is still permitted, unless it is the `first` offer; none
    /// if they are listed.
    pub(super) fn best_in_use(
        &mut self,
        found: &mut CandidateList,
        session: &Session,
        first: bool,
    ) -> Option<RankedOffer> {
        let order = Arc::clone(self.classes[found.class].in_use.as_ref()?);
        let mut next = found.next_in_use?;
        let mut best = None;
        while let Some(&place) = order.places.get(next).filter(|_| best.is_none()) {
            let row = self.compiled.table.row_of[place as usize];
            let class = &mut self.classes[found.class];
            if !self.rows.is_free(place) {
                class.first_in_use += usize::from(class.first_in_use == next);
            } else if class.accepts(row as usize)
                && let Ok(preempt_state) = self.verdict_in_use(found, row as usize)
            {
                let (verdict, offer) = (&self.classes[found.class].verdict, self.offer(place, preempt_state));
                // Slots that were suitable at the time of the search may be over the limit by now.
                if first || offer.is_permitted(session) {
                    let rank = verdict.preemption.as_ref()?.rank(row as usize);
                    best = Some((verdict.order.key_of(row, place, preempt_state, rank), offer));
                    continue;
                }
            }
            next += 1;
        }
        found.next_in_use = Some(next);
        best
    }

    /// The counts of matching slots in use at the time of the search; zero if they are listed.
    pub(super) fn tally_in_use(&self, found: &CandidateList) -> Tally {
        let (class, mut tally) = (&self.classes[found.class], Tally::default());
        if class.verdict.preemption.is_none() || found.next_in_use.is_none() {
            return tally;
        }
        let mut next = 0;
        while let Some(row) = class.verdict.both.next_common(&self.rows.in_use, next) {
            next = row + 1;
            let free = self.rows.free[row] as usize;
            if free > 0 && class.accepts(row) {
                match self.verdict_in_use(found, row) {
                    Ok(_) => tally.suitable += free,
                    Err(count) => *count(&mut tally) += free,
                }
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
        let (mut bound, mut largest) = (0, known);
        for tied in &order.ties {
            if tied.len() <= largest || largest >= MAX_TIED {
                bound = bound.max(tied.len());
                break;
            }
            let places = order.places[tied.start as usize..tied.end as usize].iter();
            let free = places.filter(|place| self.rows.is_free(**place));
            let rows = free.map(|place| self.compiled.table.row_of[*place as usize] as usize);
            let (mut all, mut permitted) = (0, 0);
            for row in rows.filter(|row| class.verdict.both.contains(*row)) {
                all += 1;
                permitted += usize::from(class.accepts(row) && self.verdict_in_use(found, row).is_ok());
            }
            (bound, largest) = (bound.max(all), largest.max(permitted));
        }
        self.classes[found.class].max_tie_in_use = bound;
        largest.min(MAX_TIED)
    }
}
