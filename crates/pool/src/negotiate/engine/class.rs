//! A class of requests during the negotiation loop: its heap of candidates, and its counts for rejections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use crate::negotiate::candidate::RankKey;
use crate::negotiate::engine::in_use::PreemptionOrder;
use crate::negotiate::engine::order::TiedSlots;
use crate::negotiate::engine::rows::RowState;
use crate::negotiate::engine::table::ClassTable;
use crate::negotiate::engine::verdict::ClassVerdict;
use crate::negotiate::outcome::MAX_TIED;
use crate::priority::Session;
use classmate::internal::program::mask::Mask;

/// Maximum number of consecutive candidates over the limit before the other candidates are counted.
const MAX_HEAVY_CANDIDATES: usize = 64;

/// Number of entries that can be checked in the time it takes to mark one.
const CHECKS_PER_MARK: usize = 4;

/// Number of rows per useless check before the candidates are counted.
const ROWS_PER_MISS: usize = 16;

/// A slot: its number in the order of the class, its place and its row.
pub(super) type Candidate = (u32, u32, u32);

/// The counts of free slots for a class.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotCounts {
    pub(super) unreachable: usize,
    pub(super) by_job: usize,
    pub(super) by_slot: usize,
    /// Suitable unclaimed slots, by cost.
    pub(super) idle: Vec<usize>,
}

/// The candidates of one cost: the limit is checked once for all of them.
#[derive(Debug)]
struct CostBucket {
    cost: f64,
    /// The best slot of each row that was free when it was looked at last.
    waiting: BinaryHeap<Reverse<Candidate>>,
}

/// The positions up to which an order of slots was searched. Candidates only become fewer, and the first free slot of a row moves
/// back only, so nothing is searched twice, unless it was not permitted.
#[derive(Debug, Default)]
struct Frontier {
    /// Candidates of the costs that are not `behind` do not come before this position.
    from: usize,
    /// Costs that were not permitted, by number, each with the position of the first candidate that it may have.
    behind: Vec<(u32, usize)>,
    /// The first position of a candidate that was out of reach.
    unreachable: Option<usize>,
}

impl Frontier {
    /// The position from which candidates of permitted costs have to be searched.
    fn start(&self, permits: impl Fn(u32) -> bool) -> usize {
        let behind = self.behind.iter().filter(|(cost, _)| permits(*cost));
        behind.map(|(_, at)| *at).fold(self.from, usize::min)
    }

    /// Notes a candidate whose cost is not permitted.
    fn leave(&mut self, cost: u32, at: usize) {
        if !self.behind.iter().any(|(known, _)| *known == cost) {
            self.behind.push((cost, at));
        }
    }

    /// Notes that candidates of permitted costs do not come before a position.
    fn advance(&mut self, at: usize, permits: impl Fn(u32) -> bool) {
        if at >= self.from {
            self.behind.retain(|(cost, _)| !permits(*cost));
            self.from = at;
        } else {
            for (cost, from) in &mut self.behind {
                if permits(*cost) {
                    *from = at.max(*from);
                }
            }
        }
    }

    /// Begins a search in which others are in reach.
    fn change_reach(&mut self) {
        if let Some(first) = self.unreachable.take() {
            self.from = first.min(self.from);
            self.behind.iter_mut().for_each(|(_, from)| *from = first.min(*from));
        }
    }
}

/// A class of requests.
#[derive(Debug)]
pub(super) struct RequestClass {
    pub(super) verdict: ClassVerdict,
    /// The number of its order.
    pub(super) order: usize,
    /// The entries of the order that are candidates, known after too many useless checks.
    marked: Option<Mask>,
    /// The word of the order that was checked last, and the candidates among its entries.
    looked_at: Option<(usize, u64)>,
    /// Number of useless checks.
    misses: usize,
    /// Maximum number of useless checks before the candidates are counted.
    max_misses: usize,
    /// Number of entries of the order that were searched.
    opened: usize,
    /// The state of its search in an order of slots.
    frontier: Frontier,
    /// The candidates found so far; those of slots that were taken since are removed lazily.
    buckets: Vec<CostBucket>,
    /// Candidates out of reach of the current submitter.
    unreachable: Vec<(usize, Candidate)>,
    reach: Option<Arc<Mask>>,
    /// The counts, and the number of slots taken by then.
    counts: Option<(usize, SlotCounts)>,
    /// Maximum number of slots of one rank.
    max_tie: usize,
    /// The number of the lowest cost of a suitable slot.
    lightest: usize,
    /// The slots in use that it may preempt; known from its first search on.
    pub(super) in_use: Option<Arc<PreemptionOrder>>,
    /// The number of these at the beginning that are taken.
    pub(super) first_in_use: usize,
    /// Maximum number of these of one key.
    pub(super) max_tie_in_use: usize,
}

impl RequestClass {
    /// A class, given the number of its order.
    pub(super) fn new(verdict: ClassVerdict, order: usize) -> Self {
        Self {
            max_misses: verdict.both.len() / ROWS_PER_MISS,
            verdict,
            order,
            marked: None,
            looked_at: None,
            misses: 0,
            opened: 0,
            frontier: Frontier::default(),
            buckets: Vec::new(),
            unreachable: Vec::new(),
            reach: None,
            counts: None,
            max_tie: usize::MAX,
            lightest: 0,
            in_use: None,
            first_in_use: 0,
            max_tie_in_use: 0,
        }
    }

    /// Returns whether the slots of a row match and are in reach of the current submitter.
    pub(super) fn accepts(&self, row: usize) -> bool {
        self.verdict.both.contains(row) && self.reach.as_ref().is_none_or(|reach| reach.contains(row))
    }

    /// Prepares for a search among the rows in reach; none if all are.
    pub(super) fn begin_turn(&mut self, reach: Option<Arc<Mask>>) {
        if reach.as_ref().map(Arc::as_ptr) != self.reach.as_ref().map(Arc::as_ptr) {
            for (bucket, candidate) in self.unreachable.drain(..) {
                self.buckets[bucket].waiting.push(Reverse(candidate));
            }
            self.frontier.change_reach();
            self.counts = None;
            self.lightest = 0;
            self.reach = reach;
        }
    }

    /// The best unclaimed slot that is permitted.
    pub(super) fn best(&mut self, rows: &mut RowState, table: &ClassTable, session: &Session) -> Option<Candidate> {
        if !rows.costs.iter().skip(self.lightest).any(|cost| session.permits_unclaimed(*cost)) {
            return None;
        }
        if let Some(positions) = self.verdict.order.positions() {
            rows.follow(self.order, positions, table);
            if self.frontier.from == 0 {
                // It does not accept most slots before that one, of which many are free.
                self.frontier.from = rows.first_of(self.order, &self.verdict.both, positions, table);
            }
            return self.best_by_slot(rows, session);
        }
        let mut best = None;
        for bucket in 0..self.buckets.len() {
            if session.permits_unclaimed(self.buckets[bucket].cost) {
                best = [best, self.top(bucket, rows, table)].into_iter().flatten().min();
            }
        }
        let mut heavy = 0;
        while let Some(bucket) = self.open(best, rows, table) {
            if session.permits_unclaimed(self.buckets[bucket].cost) {
                best = [best, self.top(bucket, rows, table)].into_iter().flatten().min();
            } else if best.is_none() {
                heavy += 1;
                if heavy == MAX_HEAVY_CANDIDATES && !self.has_permitted(rows, session) {
                    return None;
                }
            }
        }
        best
    }

    /// As [`RequestClass::best`], in an order of slots.
    fn best_by_slot(&mut self, rows: &RowState, session: &Session) -> Option<Candidate> {
        if let Ok(best) = self.search(MAX_HEAVY_CANDIDATES, rows, session) {
            return best;
        }
        if self.has_permitted(rows, session) { self.search(usize::MAX, rows, session).ok()? } else { None }
    }

    /// Searches an order of slots.
    ///
    /// # Errors
    /// The number of candidates that come first and are over the limit.
    fn search(&mut self, max_heavy: usize, rows: &RowState, session: &Session) -> Result<Option<Candidate>, ()> {
        let Some(positions) = self.verdict.order.positions() else { return Ok(None) };
        let (both, frontier) = (&self.verdict.both, &mut self.frontier);
        let permits = |cost: u32| session.permits_unclaimed(rows.costs[cost as usize]);
        let mut heavy = 0;
        for at in rows.orders[self.order].firsts_from(frontier.start(permits)) {
            let row = positions.rows[at] as usize;
            if !both.contains(row) || rows.in_use.contains(row) {
                continue;
            }
            if self.reach.as_ref().is_some_and(|reach| !reach.contains(row)) {
                frontier.unreachable = Some(frontier.unreachable.map_or(at, |first| first.min(at)));
                continue;
            }
            let cost = rows.cost_of[row];
            if permits(cost) {
                frontier.advance(at, permits);
                return Ok(Some((at as u32, positions.sorted[at], row as u32)));
            }
            frontier.leave(cost, at);
            heavy += 1;
            if heavy == max_heavy {
                return Err(());
            }
        }
        frontier.advance(positions.sorted.len(), permits);
        Ok(None)
    }

    /// Returns whether any suitable slot is permitted.
    fn has_permitted(&mut self, rows: &RowState, session: &Session) -> bool {
        let idle = &self.counts(rows).idle;
        rows.costs.iter().zip(idle).any(|(cost, free)| *free > 0 && session.permits_unclaimed(*cost))
    }

    /// The best candidate of a bucket.
    fn top(&mut self, bucket: usize, rows: &mut RowState, table: &ClassTable) -> Option<Candidate> {
        let (order, waiting) = (&*self.verdict.order, &mut self.buckets[bucket].waiting);
        loop {
            let mut top = waiting.peek_mut()?;
            let Reverse((number, place, row)) = *top;
            if !rows.is_free(place) {
                match rows.first_free(row, order, table) {
                    Some((number, place)) => *top = Reverse((number, place, row)),
                    None => {
                        PeekMut::pop(top);
                    }
                }
            } else if self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize)) {
                return Some((number, place, row));
            } else {
                self.unreachable.push((bucket, (number, place, row)));
                PeekMut::pop(top);
            }
        }
    }

    /// The entries of the order that are candidates still.
    fn marked(&self, rows: &RowState) -> Mask {
        let order = &self.verdict.order;
        let mut marked = Mask::none(order.rows.len());
        for row in self.verdict.both.rows().filter(|row| rows.free[*row] > 0 && !rows.in_use.contains(*row)) {
            marked.set(order.place_of[row] as usize, true);
        }
        marked
    }

    /// The place of the next candidate in the order; it may be taken already.
    fn next_candidate(&mut self, mut from: usize, rows: &RowState) -> Option<usize> {
        let end = self.verdict.order.rows.len();
        while from < end {
            let open = &rows.orders[self.order].open;
            if let Some(marked) = &self.marked {
                return marked.next_common(open, from);
            }
            let (at, open) = (from / 64, open.word(from / 64));
            let candidates = self.candidates(at, open, rows) & open & u64::MAX << (from % 64);
            if candidates != 0 {
                return Some(at * 64 + candidates.trailing_zeros() as usize);
            }
            from = (at + 1) * 64;
            if self.misses > self.max_misses {
                // To mark a candidate is as much work as some useless checks.
                self.max_misses = self.counts(rows).idle.iter().sum::<usize>() * CHECKS_PER_MARK;
                if self.misses > self.max_misses {
                    self.marked = Some(self.marked(rows));
                }
            }
        }
        None
    }

    /// The candidates among the open entries of a word of the order. The last result is cached.
    fn candidates(&mut self, at: usize, open: u64, rows: &RowState) -> u64 {
        if let Some((word, found)) = self.looked_at
            && word == at
        {
            return found;
        }
        let (order, both) = (&self.verdict.order, &self.verdict.both);
        let (mut found, mut left) = (0, open);
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            let row = order.rows[at * 64 + bit] as usize;
            found |= u64::from(both.contains(row) & !rows.in_use.contains(row)) << bit;
            left &= left - 1;
        }
        self.misses += (open & !found).count_ones() as usize;
        self.looked_at = Some((at, found));
        found
    }

    /// Adds the next row of the order to its bucket, if it can be better than the best so far.
    fn open(&mut self, best: Option<Candidate>, rows: &mut RowState, table: &ClassTable) -> Option<usize> {
        while let Some(at) = self.next_candidate(self.opened, rows) {
            let order = &self.verdict.order;
            let (row, number) = (order.rows[at], order.numbers[at]);
            self.opened = at;
            // Its first slot is looked up only if the numbers do not decide.
            let is_worse = |best: Candidate| best.0 < number || best.0 == number && best.1 < table.slots(row)[0];
            if best.is_some_and(is_worse) {
                return None;
            }
            self.opened += 1;
            let Some((number, place)) = rows.first_free(row, order, table) else {
                rows.orders[self.order].open.set(at, false);
                continue;
            };
            let cost = rows.cost[row as usize];
            let bucket = self.buckets.iter().position(|bucket| bucket.cost.to_bits() == cost.to_bits());
            let bucket = bucket.unwrap_or_else(|| {
                self.buckets.push(CostBucket { cost, waiting: BinaryHeap::new() });
                self.buckets.len() - 1
            });
            self.buckets[bucket].waiting.push(Reverse((number, place, row)));
            return Some(bucket);
        }
        self.opened = self.verdict.order.rows.len();
        None
    }

    /// The largest number of candidates of one rank, if it is more than is known; counted up to `MAX_TIED`.
    pub(super) fn largest_tie(&mut self, rows: &RowState, session: &Session, known: usize) -> usize {
        if self.max_tie <= known || known >= MAX_TIED {
            return known;
        }
        if self.reach.is_none() {
            let idle = self.counts(rows).idle.iter().zip(&rows.costs);
            let permitted = idle.filter(|(_, cost)| session.permits_unclaimed(**cost));
            if permitted.map(|(free, _)| free).sum::<usize>() <= known {
                return known;
            }
        }
        let (mut largest, mut bound) = (known, 1);
        for tied in &self.verdict.order.ties {
            if tied.slots <= largest || largest >= MAX_TIED {
                bound = bound.max(tied.slots);
                break;
            }
            let (all, permitted) = self.count_tied(tied, rows, session, largest);
            (bound, largest) = (bound.max(all), largest.max(permitted));
        }
        self.max_tie = bound;
        largest.min(MAX_TIED)
    }

    /// The number of candidates of a rank, together with a number of others of this rank, if it is more than is known.
    pub(super) fn tie_with(
        &self,
        (key, others): (&RankKey, usize),
        rows: &RowState,
        table: &ClassTable,
        session: &Session,
        known: usize,
    ) -> usize {
        let tied = self.verdict.order.tied_with(key, table);
        let tied = tied.filter(|tied| tied.slots.min(self.max_tie) + others > known);
        let candidates = tied.map_or(0, |tied| self.count_tied(&tied, rows, session, 0).1);
        known.max(candidates + others)
    }

    /// The unclaimed slots that match, are free and in reach.
    pub(super) fn all_left(&self, rows: &RowState, table: &ClassTable) -> Vec<Candidate> {
        let is_candidate = |row: &usize| rows.free[*row] > 0 && !rows.in_use.contains(*row) && self.accepts(*row);
        let left = self.verdict.both.rows().filter(is_candidate).flat_map(|row| {
            let row = row as u32;
            self.verdict.order.slots_of(row, table).map(move |(number, place)| (number, place, row))
        });
        left.filter(|(_, place, _)| rows.is_free(*place)).collect()
    }

    /// Number of unclaimed slots of a rank that match, and of those that are in reach and permitted; if there are not more than
    /// some number, not all are counted, and the first result is an upper bound.
    fn count_tied(&self, tied: &TiedSlots, rows: &RowState, session: &Session, known: usize) -> (usize, usize) {
        let (mut all, mut permitted, mut left) = (0, 0, tied.slots);
        for (row, place) in self.verdict.order.entries(tied.entries.clone()) {
            if all + left <= known {
                return (all + left, permitted);
            }
            left -= usize::from(place.is_some());
            let row = row as usize;
            if self.verdict.both.contains(row) && !rows.in_use.contains(row) {
                let free = place.map_or(rows.free[row] as usize, |place| usize::from(rows.is_free(place)));
                all += free;
                if self.accepts(row) && session.permits_unclaimed(rows.cost[row]) {
                    permitted += free;
                }
            }
        }
        (all, permitted)
    }

    /// The counts of free slots.
    pub(super) fn counts(&mut self, rows: &RowState) -> &SlotCounts {
        let now = rows.log.len();
        let (at, mut known) = match self.counts.take() {
            Some((at, known)) if now == at || now - at < rows.recount() => (at, known),
            _ => (now, self.counted(rows)),
        };
        self.subtract(&mut known, &rows.log[at..], rows);
        self.lightest = known.idle.iter().position(|free| *free > 0).unwrap_or(rows.costs.len());
        &self.counts.insert((now, known)).1
    }

    /// Subtracts the slots that were taken since.
    fn subtract(&self, known: &mut SlotCounts, taken: &[u32], rows: &RowState) {
        for row in taken.iter().map(|row| *row as usize) {
            if self.reach.as_ref().is_some_and(|reach| !reach.contains(row)) {
                known.unreachable -= 1;
            } else if !self.verdict.job.contains(row) {
                known.by_job -= 1;
            } else if !self.verdict.both.contains(row) {
                known.by_slot -= 1;
            } else if !rows.in_use.contains(row) {
                known.idle[rows.cost_of[row] as usize] -= 1;
            }
        }
    }

    /// As [`RequestClass::counted`], a word of rows at a time.
    fn counted_by_word(&self, rows: &RowState) -> SlotCounts {
        let ClassVerdict { job, both, .. } = &self.verdict;
        let (mut by_both, mut by_slot) = (0, 0);
        let mut idle = vec![0; rows.costs.len()];
        for run in &rows.runs {
            let mut of_run = 0;
            for (at, mask) in run.words() {
                let (job, both) = (job.word(at) & mask, both.word(at) & mask);
                let accepting = rows.planes.count(at, both);
                by_both += accepting;
                by_slot += rows.planes.count(at, job & !both);
                of_run += accepting - rows.planes.count(at, both & rows.in_use.word(at));
            }
            if let Some(idle) = idle.get_mut(run.cost as usize) {
                *idle += of_run;
            }
        }
        SlotCounts { unreachable: 0, by_job: rows.left - by_both - by_slot, by_slot, idle }
    }

    fn counted(&self, rows: &RowState) -> SlotCounts {
        if self.reach.is_none() {
            return self.counted_by_word(rows);
        }
        let mut counts = SlotCounts { idle: vec![0; rows.costs.len()], ..SlotCounts::default() };
        for (row, free) in rows.free.iter().enumerate().filter(|(_, free)| **free > 0) {
            let free = *free as usize;
            if self.reach.as_ref().is_some_and(|reach| !reach.contains(row)) {
                counts.unreachable += free;
            } else if !self.verdict.job.contains(row) {
                counts.by_job += free;
            } else if !self.verdict.both.contains(row) {
                counts.by_slot += free;
            } else if !rows.in_use.contains(row) {
                counts.idle[rows.cost_of[row] as usize] += free;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_on_where_no_candidate_can_come_before() {
        let mut frontier = Frontier::default();
        let (all, only_light) = (|_: u32| true, |cost: u32| cost == 0);
        // A heavy candidate at 3 is not permitted; the light one at 5 is found.
        frontier.leave(1, 3);
        frontier.leave(1, 4);
        frontier.advance(5, only_light);
        assert_eq!([frontier.start(only_light), frontier.start(all)], [5, 3]);
        // Heavy ones are permitted now, and the one at 4 is found: it is only behind for those.
        frontier.advance(4, all);
        assert_eq!([frontier.start(only_light), frontier.start(all)], [5, 4]);
        frontier.advance(6, all);
        assert_eq!([frontier.start(only_light), frontier.start(all)], [6, 6]);
        // What was out of reach is searched again when others are in reach.
        frontier.unreachable = Some(2);
        frontier.change_reach();
        assert_eq!([frontier.start(only_light), frontier.start(all)], [2, 2]);
        assert!(frontier.unreachable.is_none());
    }
}
