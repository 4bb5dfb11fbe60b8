//! A class of requests during the deal: its heap of candidates, and what it knows of refusals.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use crate::negotiate::engine::rows::Rows;
use crate::negotiate::engine::table::Table;
use crate::negotiate::engine::verdict::Verdict;
use crate::negotiate::outcome::MOST_TIED;
use crate::priority::Session;
use classmate::internal::program::mask::Mask;

/// So many candidates in a row that are too heavy are looked at before it is counted whether there are others.
const PATIENCE: usize = 64;

/// So many entries are looked at in the time in which one is marked.
const MARKED: usize = 4;

/// One row of so many may be looked at in vain before the candidates are counted.
const IN_VAIN: usize = 16;

/// Rank, 0 the best; place; row.
type Candidate = Reverse<(u32, u32, u32)>;

/// How many of the free slots are which, for a class.
#[derive(Debug, Clone, Default)]
pub(super) struct Tallied {
    pub(super) unreachable: usize,
    pub(super) by_job: usize,
    pub(super) by_slot: usize,
    /// Suitable slots that nobody uses, by their cost.
    pub(super) idle: Vec<usize>,
}

/// The candidates of one cost: whether that may be taken is asked once for all of them.
#[derive(Debug)]
struct Shelf {
    cost: f64,
    waiting: Waiting,
}

/// Candidates that were found.
#[derive(Debug)]
enum Waiting {
    /// Slots: they are found best first, and stay so.
    Slots(VecDeque<(u32, u32, u32)>),
    /// Rows: where one stands depends on which of its slots are left.
    Rows(BinaryHeap<Candidate>),
}

impl Waiting {
    /// Adds a candidate that was found behind all others.
    fn push(&mut self, candidate: (u32, u32, u32)) {
        match self {
            Self::Slots(slots) => slots.push_back(candidate),
            Self::Rows(rows) => rows.push(Reverse(candidate)),
        }
    }

    /// Puts a candidate back that was the best when it was taken out.
    fn put_back(&mut self, candidate: (u32, u32, u32)) {
        match self {
            Self::Slots(slots) => slots.push_front(candidate),
            Self::Rows(rows) => rows.push(Reverse(candidate)),
        }
    }

    /// The best candidate that is free.
    fn best(&mut self, rows: &mut Rows, table: &Table) -> Option<(u32, u32, u32)> {
        match self {
            Self::Slots(slots) => {
                while slots.front().is_some_and(|(_, place, _)| !rows.is_free(*place)) {
                    slots.pop_front();
                }
                slots.front().copied()
            }
            Self::Rows(heap) => loop {
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
            Self::Rows(rows) => {
                rows.pop();
            }
        }
    }
}

/// A class of requests.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) verdict: Verdict,
    /// The number of its order.
    pub(super) order: usize,
    /// Where the candidates stand in the order, once too many entries were looked at in vain.
    standing: Option<Mask>,
    /// The word of the order that was looked at last, and which of its entries are candidates.
    looked_at: Option<(usize, u64)>,
    /// How many entries were none of candidates.
    in_vain: usize,
    /// How many may be none before the candidates are counted.
    patience: usize,
    /// How far the order was looked through.
    opened: usize,
    /// The candidates found so far; those of slots that were taken since stay until somebody comes upon them.
    shelves: Vec<Shelf>,
    /// Candidates out of reach for who asks at the moment.
    aside: Vec<(usize, (u32, u32, u32))>,
    reach: Option<Mask>,
    /// What was counted when so many slots were taken.
    tallied: Option<(usize, Tallied)>,
    /// No more slots than this are of one rank.
    bound: usize,
    /// No slot that will do costs less than the cost of this number.
    lightest: usize,
}

impl Class {
    /// A class with an order of this number.
    pub(super) fn new(verdict: Verdict, order: usize) -> Self {
        Self {
            patience: verdict.both.len() / IN_VAIN,
            verdict,
            order,
            standing: None,
            looked_at: None,
            in_vain: 0,
            opened: 0,
            shelves: Vec::new(),
            aside: Vec::new(),
            reach: None,
            tallied: None,
            bound: usize::MAX,
            lightest: 0,
        }
    }

    /// Somebody else asks, or in another turn.
    pub(super) fn begin(&mut self, reach: Option<Mask>) {
        // The last first: so each is again before those that were behind it.
        for (shelf, candidate) in self.aside.drain(..).rev() {
            self.shelves[shelf].waiting.put_back(candidate);
        }
        if reach.is_some() || self.reach.is_some() {
            self.tallied = None;
        }
        self.reach = reach;
    }

    /// The best slot that nobody uses and that may be taken: the number of its rank, and its place.
    pub(super) fn best(&mut self, rows: &mut Rows, table: &Table, session: &Session) -> Option<(u32, u32)> {
        if !rows.costs.iter().skip(self.lightest).any(|cost| session.permits_unclaimed(*cost)) {
            return None;
        }
        let mut best = None;
        for shelf in 0..self.shelves.len() {
            if session.permits_unclaimed(self.shelves[shelf].cost) {
                best = [best, self.top(shelf, rows, table)].into_iter().flatten().min();
            }
        }
        let mut heavy = 0;
        while let Some(shelf) = self.open(best, rows, table) {
            if session.permits_unclaimed(self.shelves[shelf].cost) {
                best = [best, self.top(shelf, rows, table)].into_iter().flatten().min();
            } else if best.is_none() {
                heavy += 1;
                if heavy == PATIENCE && !self.has_permitted(rows, session) {
                    return None;
                }
            }
        }
        best
    }

    /// Whether any slot that will do may be taken.
    fn has_permitted(&mut self, rows: &Rows, session: &Session) -> bool {
        let idle = &self.tallied(rows).idle;
        rows.costs.iter().zip(idle).any(|(cost, free)| *free > 0 && session.permits_unclaimed(*cost))
    }

    /// The rank and place of the best candidate of a shelf.
    fn top(&mut self, shelf: usize, rows: &mut Rows, table: &Table) -> Option<(u32, u32)> {
        let waiting = &mut self.shelves[shelf].waiting;
        loop {
            let (rank, place, row) = waiting.best(rows, table)?;
            if self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize)) {
                return Some((rank, place));
            }
            self.aside.push((shelf, (rank, place, row)));
            waiting.pop();
        }
    }

    /// Where the candidates that are left stand in the order.
    fn standing(&self, rows: &Rows, table: &Table) -> Mask {
        let order = &self.verdict.order;
        let mut standing = Mask::none(order.entries.len());
        for row in self.verdict.both.rows().filter(|row| rows.free[*row] > 0 && !rows.in_use.contains(*row)) {
            if order.by_slot {
                for place in table.slots(row as u32).iter().filter(|place| rows.is_free(**place)) {
                    standing.set(order.place_of[*place as usize] as usize, true);
                }
            } else {
                standing.set(order.place_of[row] as usize, true);
            }
        }
        standing
    }

    /// Where the next candidate stands in a part of the order; it may be taken already.
    fn next_candidate(&mut self, part: Range<usize>, rows: &Rows, table: &Table) -> Option<usize> {
        let end = part.end.min(self.verdict.order.entries.len());
        let mut from = part.start;
        while from < end {
            let open = &rows.open[self.order];
            if let Some(standing) = &self.standing {
                return standing.next_common(open, from).filter(|at| *at < end);
            }
            let (at, open) = (from / 64, open.word(from / 64));
            let candidates = self.among(at, open, rows) & open & u64::MAX << (from % 64);
            if candidates != 0 {
                return Some(at * 64 + candidates.trailing_zeros() as usize).filter(|at| *at < end);
            }
            from = (at + 1) * 64;
            if self.in_vain > self.patience {
                // To mark where one of those that are left stands is as much work as some looks in vain.
                self.patience = self.tallied(rows).idle.iter().sum::<usize>() * MARKED;
                if self.in_vain > self.patience {
                    self.standing = Some(self.standing(rows, table));
                }
            }
        }
        None
    }

    /// Which of the open entries of a word of the order are candidates. Those of the word asked last are remembered.
    fn among(&mut self, at: usize, open: u64, rows: &Rows) -> u64 {
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
        self.in_vain += (open & !found).count_ones() as usize;
        self.looked_at = Some((at, found));
        found
    }

    /// Puts the next entry of the order that is a candidate on its shelf, if it can be better than the best so far.
    fn open(&mut self, best: Option<(u32, u32)>, rows: &mut Rows, table: &Table) -> Option<usize> {
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
            let shelf = self.shelves.iter().position(|shelf| shelf.cost.to_bits() == cost.to_bits());
            let shelf = shelf.unwrap_or_else(|| {
                let waiting =
                    if order.by_slot { Waiting::Slots(VecDeque::new()) } else { Waiting::Rows(BinaryHeap::new()) };
                self.shelves.push(Shelf { cost, waiting });
                self.shelves.len() - 1
            });
            self.shelves[shelf].waiting.push((rank, place, row));
            return Some(shelf);
        }
        self.opened = self.verdict.order.entries.len();
        None
    }

    /// The most candidates of one rank, if it is more than was seen before; counted up to `MOST_TIED`.
    pub(super) fn largest_tie(&mut self, rows: &Rows, table: &Table, session: &Session, known: usize) -> usize {
        if self.bound <= known || known >= MOST_TIED {
            return known;
        }
        let permitted = |cost: f64| session.permits_unclaimed(cost);
        if self.reach.is_none() {
            let idle = self.tallied(rows).idle.iter().zip(&rows.costs);
            let allowed: usize = idle.filter(|(_, cost)| permitted(**cost)).map(|(free, _)| free).sum();
            if allowed <= known {
                return known;
            }
        }
        let order = Arc::clone(&self.verdict.order);
        let (mut largest, mut bound) = (known, 0);
        for rank in &order.by_size {
            let size = order.sizes[*rank as usize] as usize;
            if size <= largest || largest >= MOST_TIED {
                bound = bound.max(size);
                break;
            }
            let (all, allowed) = self.count_rank(*rank, rows, table, &permitted);
            (bound, largest) = (bound.max(all), largest.max(allowed));
        }
        self.bound = bound;
        largest.min(MOST_TIED)
    }

    /// How many candidates a rank has, and how many of them are in reach and permitted.
    fn count_rank(&mut self, rank: u32, rows: &Rows, table: &Table, permitted: &dyn Fn(f64) -> bool) -> (usize, usize) {
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

    /// How many of the free slots are which.
    pub(super) fn tallied(&mut self, rows: &Rows) -> &Tallied {
        let now = rows.log.len();
        let (at, mut known) = match self.tallied.take() {
            Some((at, known)) if now == at || (self.reach.is_none() && now - at < rows.recount()) => (at, known),
            _ => (now, self.counted(rows)),
        };
        self.less(&mut known, &rows.log[at..], rows);
        if self.reach.is_none() {
            self.lightest = known.idle.iter().position(|free| *free > 0).unwrap_or(rows.costs.len());
        }
        &self.tallied.insert((now, known)).1
    }

    /// Takes the slots away that were taken since.
    fn less(&self, known: &mut Tallied, taken: &[u32], rows: &Rows) {
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

    /// As [`Class::counted`], a word of rows at a time.
    fn counted_by_word(&self, rows: &Rows) -> Tallied {
        let Verdict { job, both, .. } = &self.verdict;
        let (mut by_both, mut by_job) = (0, 0);
        let mut idle = vec![0; rows.costs.len()];
        for run in &rows.runs {
            let mut of_run = 0;
            for (at, mask) in run.words() {
                let (job, both) = (job.word(at) & mask, both.word(at) & mask);
                if job == 0 {
                    continue;
                }
                let nobody = !rows.in_use.word(at);
                for (bit, plane) in rows.planes.of_word(at).iter().enumerate() {
                    by_job += ((plane & job).count_ones() as usize) << bit;
                    by_both += ((plane & both).count_ones() as usize) << bit;
                    of_run += ((plane & both & nobody).count_ones() as usize) << bit;
                }
            }
            if let Some(idle) = idle.get_mut(run.cost as usize) {
                *idle += of_run;
            }
        }
        Tallied { unreachable: 0, by_job: rows.left - by_job, by_slot: by_job - by_both, idle }
    }

    fn counted(&self, rows: &Rows) -> Tallied {
        if self.reach.is_none() {
            return self.counted_by_word(rows);
        }
        let mut tallied = Tallied { idle: vec![0; rows.costs.len()], ..Tallied::default() };
        for (row, free) in rows.free.iter().enumerate().filter(|(_, free)| **free > 0) {
            let free = *free as usize;
            if self.reach.as_ref().is_some_and(|reach| !reach.contains(row)) {
                tallied.unreachable += free;
            } else if !self.verdict.job.contains(row) {
                tallied.by_job += free;
            } else if !self.verdict.both.contains(row) {
                tallied.by_slot += free;
            } else if !rows.in_use.contains(row) {
                tallied.idle[rows.cost_of[row] as usize] += free;
            }
        }
        tallied
    }
}
