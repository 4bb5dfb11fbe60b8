//! A class of requests during the negotiation loop: its heap of candidates, and its counts for rejections.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::negotiate::candidate::RankKey;
use crate::negotiate::engine::in_use::PreemptionOrder;
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

/// Rank, 0 the best; place; row.
type Candidate = Reverse<(u32, u32, u32)>;

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
    waiting: CandidateQueue,
}

/// A queue of candidates.
#[derive(Debug)]
enum CandidateQueue {
    /// Slots, which are found best first.
    Slots(VecDeque<(u32, u32, u32)>),
    /// Rows: the place of a row depends on its free slots.
    RowState(BinaryHeap<Candidate>),
}

impl CandidateQueue {
    /// Adds a candidate that is worse than all others.
    fn push(&mut self, candidate: (u32, u32, u32)) {
        match self {
            Self::Slots(slots) => slots.push_back(candidate),
            Self::RowState(rows) => rows.push(Reverse(candidate)),
        }
    }

    /// Puts a candidate back that was the best when it was taken out.
    fn put_back(&mut self, candidate: (u32, u32, u32)) {
        match self {
            Self::Slots(slots) => slots.push_front(candidate),
            Self::RowState(rows) => rows.push(Reverse(candidate)),
        }
    }

    /// The best candidate that is free.
    fn best(&mut self, rows: &mut RowState, table: &ClassTable) -> Option<(u32, u32, u32)> {
        match self {
            Self::Slots(slots) => {
                while slots.front().is_some_and(|(_, place, _)| !rows.is_free(*place)) {
                    slots.pop_front();
                }
                slots.front().copied()
            }
            Self::RowState(heap) => loop {
                let mut top = heap.peek_mut()?;
                let Reverse((rank, place, row)) = *top;
                if rows.is_free(place) {
                    return Some((rank, place, row));
                }
                match rows.first_free(row, table) {
                    Some(place) => *top = Reverse((rank, place, row)),
                    None => {
                        PeekMut::pop(top);
                    }
                }
            },
        }
    }

    /// Takes the best out.
    fn pop(&mut self) {
        match self {
            Self::Slots(slots) => {
                slots.pop_front();
            }
            Self::RowState(rows) => {
                rows.pop();
            }
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
    /// The candidates found so far; those of slots that were taken since are removed lazily.
    buckets: Vec<CostBucket>,
    /// Candidates out of reach of the current submitter.
    unreachable: Vec<(usize, (u32, u32, u32))>,
    reach: Option<Mask>,
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

    /// Prepares for another submitter, or another turn.
    pub(super) fn begin_turn(&mut self, reach: Option<Mask>) {
        // The last first, so that each is again before those that were worse.
        for (bucket, candidate) in self.unreachable.drain(..).rev() {
            self.buckets[bucket].waiting.put_back(candidate);
        }
        if reach.is_some() || self.reach.is_some() {
            self.counts = None;
        }
        self.reach = reach;
    }

    /// The best unclaimed slot that is permitted: the number of its rank, and its place.
    pub(super) fn best(&mut self, rows: &mut RowState, table: &ClassTable, session: &Session) -> Option<(u32, u32)> {
        if !rows.costs.iter().skip(self.lightest).any(|cost| session.permits_unclaimed(*cost)) {
            return None;
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

    /// Returns whether any suitable slot is permitted.
    fn has_permitted(&mut self, rows: &RowState, session: &Session) -> bool {
        let idle = &self.counts(rows).idle;
        rows.costs.iter().zip(idle).any(|(cost, free)| *free > 0 && session.permits_unclaimed(*cost))
    }

    /// The rank and place of the best candidate of a bucket.
    fn top(&mut self, bucket: usize, rows: &mut RowState, table: &ClassTable) -> Option<(u32, u32)> {
        let waiting = &mut self.buckets[bucket].waiting;
        loop {
            let (rank, place, row) = waiting.best(rows, table)?;
            if self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize)) {
                return Some((rank, place));
            }
            self.unreachable.push((bucket, (rank, place, row)));
            waiting.pop();
        }
    }

    /// The entries of the order that are candidates still.
    fn marked(&self, rows: &RowState, table: &ClassTable) -> Mask {
        let order = &self.verdict.order;
        let mut marked = Mask::none(order.entries.len());
        for row in self.verdict.both.rows().filter(|row| rows.free[*row] > 0 && !rows.in_use.contains(*row)) {
            if order.by_slot {
                for place in table.slots(row as u32).iter().filter(|place| rows.is_free(**place)) {
                    marked.set(order.place_of[*place as usize] as usize, true);
                }
            } else {
                marked.set(order.place_of[row] as usize, true);
            }
        }
        marked
    }

    /// The place of the next candidate in a part of the order; it may be taken already.
    fn next_candidate(&mut self, part: Range<usize>, rows: &RowState, table: &ClassTable) -> Option<usize> {
        let end = part.end.min(self.verdict.order.entries.len());
        let mut from = part.start;
        while from < end {
            let open = &rows.open[self.order];
            if let Some(marked) = &self.marked {
                return marked.next_common(open, from).filter(|at| *at < end);
            }
            let (at, open) = (from / 64, open.word(from / 64));
            let candidates = self.candidates(at, open, rows) & open & u64::MAX << (from % 64);
            if candidates != 0 {
                return Some(at * 64 + candidates.trailing_zeros() as usize).filter(|at| *at < end);
            }
            from = (at + 1) * 64;
            if self.misses > self.max_misses {
                // To mark a candidate is as much work as some useless checks.
                self.max_misses = self.counts(rows).idle.iter().sum::<usize>() * CHECKS_PER_MARK;
                if self.misses > self.max_misses {
                    self.marked = Some(self.marked(rows, table));
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
            let row = order.row(at * 64 + bit) as usize;
            found |= u64::from(both.contains(row) & !rows.in_use.contains(row)) << bit;
            left &= left - 1;
        }
        self.misses += (open & !found).count_ones() as usize;
        self.looked_at = Some((at, found));
        found
    }

    /// Adds the next candidate of the order to its bucket, if it can be better than the best so far.
    fn open(&mut self, best: Option<(u32, u32)>, rows: &mut RowState, table: &ClassTable) -> Option<usize> {
        while let Some(at) = self.next_candidate(self.opened..usize::MAX, rows, table) {
            let order = &self.verdict.order;
            let (row, rank) = (order.row(at), order.ranks[at]);
            let first = if order.by_slot { order.entries[at] } else { table.slots(row)[0] };
            self.opened = at;
            if best.is_some_and(|best| best < (rank, first)) {
                return None;
            }
            self.opened += 1;
            let place = if order.by_slot { Some(first) } else { rows.first_free(row, table) };
            let Some(place) = place.filter(|place| rows.is_free(*place)) else {
                rows.open[self.order].set(at, false);
                continue;
            };
            let cost = rows.cost[row as usize];
            let bucket = self.buckets.iter().position(|bucket| bucket.cost.to_bits() == cost.to_bits());
            let bucket = bucket.unwrap_or_else(|| {
                let waiting = if order.by_slot {
                    CandidateQueue::Slots(VecDeque::new())
                } else {
                    CandidateQueue::RowState(BinaryHeap::new())
                };
                self.buckets.push(CostBucket { cost, waiting });
                self.buckets.len() - 1
            });
            self.buckets[bucket].waiting.push((rank, place, row));
            return Some(bucket);
        }
        self.opened = self.verdict.order.entries.len();
        None
    }

    /// The largest number of candidates of one rank, if it is more than was seen before; counted up to `MAX_TIED`.
    pub(super) fn largest_tie(
        &mut self,
        rows: &RowState,
        table: &ClassTable,
        session: &Session,
        known: usize,
    ) -> usize {
        if self.max_tie <= known || known >= MAX_TIED {
            return known;
        }
        let permitted = |cost: f64| session.permits_unclaimed(cost);
        if self.reach.is_none() {
            let idle = self.counts(rows).idle.iter().zip(&rows.costs);
            let allowed: usize = idle.filter(|(_, cost)| permitted(**cost)).map(|(free, _)| free).sum();
            if allowed <= known {
                return known;
            }
        }
        let order = Arc::clone(&self.verdict.order);
        let (mut largest, mut bound) = (known, 0);
        for rank in &order.by_size {
            let size = order.sizes[*rank as usize] as usize;
            if size <= largest || largest >= MAX_TIED {
                bound = bound.max(size);
                break;
            }
            let (all, allowed) = self.count_rank(*rank, rows, table, &permitted);
            (bound, largest) = (bound.max(all), largest.max(allowed));
        }
        self.max_tie = bound;
        largest.min(MAX_TIED)
    }

    /// The number of candidates of a rank, together with so many others of this rank, if it is more than was seen before.
    pub(super) fn tie_with(
        &mut self,
        (key, others): (&RankKey, usize),
        rows: &RowState,
        table: &ClassTable,
        session: &Session,
        known: usize,
    ) -> usize {
        let order = &self.verdict.order;
        let rank = order.keys.partition_point(|better| better.compare(key).is_gt());
        let size = match order.keys.get(rank) {
            Some(same) if same.compare(key).is_eq() => self.max_tie.min(order.sizes[rank] as usize),
            _ => 0,
        };
        if size + others <= known || known >= MAX_TIED {
            return known;
        }
        let (_, allowed) = self.count_rank(rank as u32, rows, table, &|cost| session.permits_unclaimed(cost));
        known.max(allowed + others).min(MAX_TIED)
    }

    /// The unclaimed slots that match, are free and in reach: the number of their rank, and their place.
    pub(super) fn all_left(&mut self, rows: &RowState, table: &ClassTable) -> Vec<(u32, u32)> {
        let order = Arc::clone(&self.verdict.order);
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(at) = self.next_candidate(from..usize::MAX, rows, table) {
            from = at + 1;
            let row = order.row(at);
            if self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize)) {
                let places = if order.by_slot { &order.entries[at..=at] } else { table.slots(row) };
                let free = places.iter().filter(|place| rows.is_free(**place));
                found.extend(free.map(|place| (order.ranks[at], *place)));
            }
        }
        found
    }

    /// Number of candidates of a rank, and of those that are in reach and permitted.
    fn count_rank(
        &mut self,
        rank: u32,
        rows: &RowState,
        table: &ClassTable,
        permitted: &dyn Fn(f64) -> bool,
    ) -> (usize, usize) {
        let order = Arc::clone(&self.verdict.order);
        let end = order.ranks.partition_point(|other| *other <= rank);
        let mut from = order.ranks.partition_point(|other| *other < rank);
        let (mut all, mut allowed) = (0, 0);
        while let Some(at) = self.next_candidate(from..end, rows, table) {
            from = at + 1;
            let row = order.row(at);
            let free = if order.by_slot {
                usize::from(rows.is_free(order.entries[at]))
            } else {
                rows.free[row as usize] as usize
            };
            all += free;
            let in_reach = self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize));
            if in_reach && permitted(rows.cost[row as usize]) {
                allowed += free;
            }
        }
        (all, allowed)
    }

    /// The counts of free slots.
    pub(super) fn counts(&mut self, rows: &RowState) -> &SlotCounts {
        let now = rows.log.len();
        let (at, mut known) = match self.counts.take() {
            Some((at, known)) if now == at || (self.reach.is_none() && now - at < rows.recount()) => (at, known),
            _ => (now, self.counted(rows)),
        };
        self.subtract(&mut known, &rows.log[at..], rows);
        if self.reach.is_none() {
            self.lightest = known.idle.iter().position(|free| *free > 0).unwrap_or(rows.costs.len());
        }
        &self.counts.insert((now, known)).1
    }

    /// Subtracts the slots that were taken since.
    fn subtract(&self, known: &mut SlotCounts, taken: &[u32], rows: &RowState) {
        for row in taken.iter().map(|row| *row as usize) {
            if !self.verdict.job.contains(row) {
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
        let (mut by_both, mut by_job) = (0, 0);
        let mut idle = vec![0; rows.costs.len()];
        for run in &rows.runs {
            let mut of_run = 0;
            for (at, mask) in run.words() {
                let (job, both) = (job.word(at) & mask, both.word(at) & mask);
                if job == 0 {
                    continue;
                }
                let unclaimed = !rows.in_use.word(at);
                for (bit, plane) in rows.planes.of_word(at).iter().enumerate() {
                    by_job += ((plane & job).count_ones() as usize) << bit;
                    by_both += ((plane & both).count_ones() as usize) << bit;
                    of_run += ((plane & both & unclaimed).count_ones() as usize) << bit;
                }
            }
            if let Some(idle) = idle.get_mut(run.cost as usize) {
                *idle += of_run;
            }
        }
        SlotCounts { unreachable: 0, by_job: rows.left - by_job, by_slot: by_job - by_both, idle }
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
