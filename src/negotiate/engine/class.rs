//! A class of requests during the deal: its heap of candidates, and what it knows of refusals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;
use std::sync::Arc;

use crate::negotiate::candidate::RankKey;
use crate::negotiate::engine::evaluate::{Order, Verdict};
use crate::negotiate::engine::table::Table;
use crate::pool::Slot;
use crate::pool::address::Protocols;
use crate::priority::Session;
use crate::program::mask::Mask;

/// The rows during the deal: what is left of each.
#[derive(Debug)]
pub(super) struct Rows {
    /// Slots of each row that are not taken.
    pub(super) free: Vec<u32>,
    /// What a slot of each row costs.
    pub(super) cost: Vec<f64>,
    /// The different costs, ascending, and which of them it is.
    pub(super) costs: Vec<f64>,
    cost_of: Vec<u32>,
    /// The free slots of each row, by bit: so that they are counted a word of rows at a time.
    planes: Planes,
    /// Rows of one cost that stand next to each other.
    runs: Vec<Run>,
    /// For each order the entries that may still be free; what is found not to be is taken out.
    open: Vec<Mask>,
    /// For each order and rank in it what the slots cost, if all the same.
    cost_of_rank: Vec<Vec<Option<f64>>>,
    /// Free slots of all rows.
    left: usize,
    /// For each row where to look for its first slot that is not taken.
    next: Vec<u32>,
    /// By place, whether a slot is taken.
    taken: Vec<bool>,
    /// The rows of the slots that were taken, in order.
    log: Vec<u32>,
    /// Rows of slots that somebody uses.
    pub(super) in_use: Mask,
    /// Whether no partitionable slot belongs to an access point.
    pub(super) unclaimed: bool,
    /// How all slots can be reached, if all by the same protocols.
    pub(super) protocols: Option<Protocols>,
}

impl Rows {
    /// All slots are free.
    pub(super) fn new<'s>(table: &Table, slot: &dyn Fn(u32) -> &'s Slot, preemption: bool) -> Self {
        let first = |row: usize| table.slots(row as u32).first().map(|place| slot(*place));
        let each = || (0..table.len()).map(first);
        let cost: Vec<f64> = each().map(|slot| slot.map_or(0.0, |slot| slot.weight)).collect();
        let mut costs: Vec<f64> = each().flatten().map(|slot| slot.weight).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup_by_key(|cost| cost.to_bits());
        let number = |cost: &f64| costs.binary_search_by(|known| known.total_cmp(cost)).unwrap_or_default() as u32;
        let cost_of: Vec<u32> = cost.iter().map(number).collect();
        let uses = |row: usize| preemption && first(row).is_some_and(|slot| slot.user.is_some());
        let free: Vec<u32> = (0..table.len()).map(|row| table.slots(row as u32).len() as u32).collect();
        Self {
            planes: Planes::of(&free),
            runs: Run::all(&cost_of),
            open: Vec::new(),
            cost_of_rank: Vec::new(),
            left: free.iter().map(|free| *free as usize).sum(),
            free,
            cost,
            cost_of,
            costs,
            next: vec![0; table.len()],
            taken: vec![false; table.row_of.len()],
            log: Vec::new(),
            in_use: Mask::of(table.len(), uses),
            unclaimed: each().flatten().all(|slot| !(slot.partitionable && slot.claimed_by.is_some())),
            protocols: agreed(each().flatten().map(|slot| slot.protocols)),
        }
    }

    /// Notes another order; its number.
    pub(super) fn add_order(&mut self, order: &Order, table: &Table) -> usize {
        let mut costs: Vec<Option<f64>> = Vec::with_capacity(order.keys.len());
        for (entry, rank) in order.entries.iter().zip(&order.ranks) {
            let row = order.row_of(*entry, table);
            let cost = self.cost[row as usize];
            match costs.get_mut(*rank as usize) {
                Some(known) => *known = known.filter(|known| known.to_bits() == cost.to_bits()),
                None => costs.push(Some(cost)),
            }
        }
        self.cost_of_rank.push(costs);
        self.open.push(Mask::all(order.entries.len()));
        self.open.len() - 1
    }

    /// Notes that a slot is taken.
    pub(super) fn taken(&mut self, place: u32, row: u32) {
        if !std::mem::replace(&mut self.taken[place as usize], true) {
            let row = row as usize;
            self.free[row] -= 1;
            self.left -= 1;
            self.planes.set(row, self.free[row]);
            self.log.push(row as u32);
        }
    }

    /// How many slots taken cost about as much to take away from a count as to count anew.
    fn recount(&self) -> usize {
        self.planes.words.len() / 2
    }

    /// Whether a slot is not taken.
    pub(super) fn is_free(&self, place: u32) -> bool {
        !self.taken[place as usize]
    }

    /// The first slot of a row that is not taken.
    fn first_free(&mut self, row: u32, table: &Table) -> Option<u32> {
        let slots = table.slots(row);
        let next = &mut self.next[row as usize];
        while let Some(place) = slots.get(*next as usize) {
            if !self.taken[*place as usize] {
                return Some(*place);
            }
            *next += 1;
        }
        None
    }
}

/// Numbers of free slots, 64 rows to a word of each bit.
#[derive(Debug)]
struct Planes {
    /// For each 64 rows where their words begin: as many as the largest of the numbers has bits.
    starts: Vec<u32>,
    words: Vec<u64>,
}

impl Planes {
    fn of(numbers: &[u32]) -> Self {
        let (mut starts, mut words) = (vec![0], Vec::new());
        for chunk in numbers.chunks(64) {
            let bits = u32::BITS - chunk.iter().max().copied().unwrap_or(0).leading_zeros();
            let plane = |bit: u32| chunk.iter().rev().fold(0, |word, number| word << 1 | u64::from(number >> bit & 1));
            words.extend((0..bits).map(plane));
            starts.push(words.len() as u32);
        }
        Self { starts, words }
    }

    /// The words of 64 rows, the lowest bit first.
    fn of_word(&self, at: usize) -> &[u64] {
        &self.words[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Sets the number of a row to one that is not larger.
    fn set(&mut self, row: usize, number: u32) {
        let range = self.starts[row / 64] as usize..self.starts[row / 64 + 1] as usize;
        for (bit, word) in self.words[range].iter_mut().enumerate() {
            *word = *word & !(1 << (row % 64)) | u64::from(number >> bit & 1) << (row % 64);
        }
    }
}

/// Rows of one cost that stand next to each other.
#[derive(Debug)]
struct Run {
    cost: u32,
    first: usize,
    end: usize,
}

impl Run {
    fn all(costs: &[u32]) -> Vec<Self> {
        let mut first = 0;
        let run = |rows: &[u32]| {
            first += rows.len();
            Self { cost: rows[0], first: first - rows.len(), end: first }
        };
        costs.chunk_by(|a, b| a == b).map(run).collect()
    }

    /// The words in which its rows are, with those rows.
    fn words(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, end) = (self.first, self.end);
        (first / 64..end.div_ceil(64)).map(move |at| {
            let from = u64::MAX << first.saturating_sub(at * 64);
            let to = u64::MAX >> (at * 64 + 64).saturating_sub(end);
            (at, from & to)
        })
    }
}

/// So many candidates in a row that are too heavy are looked at before it is counted whether there are others.
const PATIENCE: usize = 64;

/// If no more than one row of so many is a candidate, candidates are few.
const FEW: usize = 16;

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
    heap: BinaryHeap<Candidate>,
}

/// A class of requests.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) verdict: Verdict,
    /// The number of its order.
    order: usize,
    /// Whether somebody asked for candidates.
    asked: bool,
    /// Where the candidates stand in the order, if they are few: then the others need not be passed over.
    standing: Option<Mask>,
    /// How far the order was looked through.
    opened: usize,
    /// The candidates found so far; those of slots that were taken since stay until somebody comes upon them.
    shelves: Vec<Shelf>,
    /// Candidates out of reach for who asks at the moment.
    aside: Vec<(usize, Candidate)>,
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
            verdict,
            order,
            asked: false,
            standing: None,
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
        for (shelf, candidate) in self.aside.drain(..) {
            self.shelves[shelf].heap.push(candidate);
        }
        if reach.is_some() || self.reach.is_some() {
            self.tallied = None;
        }
        self.reach = reach;
    }

    /// The best slot that nobody uses and that may be taken.
    pub(super) fn best(&mut self, rows: &mut Rows, table: &Table, session: &Session) -> Option<(RankKey, u32)> {
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
        best.map(|(rank, place)| (self.verdict.order.keys[rank as usize], place))
    }

    /// Whether any slot that will do may be taken.
    fn has_permitted(&mut self, rows: &Rows, session: &Session) -> bool {
        let idle = &self.tallied(rows).idle;
        rows.costs.iter().zip(idle).any(|(cost, free)| *free > 0 && session.permits_unclaimed(*cost))
    }

    /// The rank and place of the best candidate of a shelf.
    fn top(&mut self, shelf: usize, rows: &mut Rows, table: &Table) -> Option<(u32, u32)> {
        let heap = &mut self.shelves[shelf].heap;
        loop {
            let mut top = heap.peek_mut()?;
            let Reverse((rank, place, row)) = *top;
            if !rows.is_free(place) {
                let next = if self.verdict.order.by_slot { None } else { rows.first_free(row, table) };
                match next {
                    Some(place) => *top = Reverse((rank, place, row)),
                    None => {
                        PeekMut::pop(top);
                    }
                }
            } else if self.reach.as_ref().is_some_and(|reach| !reach.contains(row as usize)) {
                self.aside.push((shelf, PeekMut::pop(top)));
            } else {
                return Some((rank, place));
            }
        }
    }

    /// Where the candidates stand in the order, if they are few.
    fn standing(&self, rows: &Rows, table: &Table) -> Option<Mask> {
        let order = &self.verdict.order;
        if self.verdict.both.count() > table.len() / FEW {
            return None;
        }
        let mut standing = Mask::none(order.entries.len());
        for row in self.verdict.both.rows().filter(|row| rows.free[*row] > 0 && !rows.in_use.contains(*row)) {
            if order.by_slot {
                for place in table.slots(row as u32) {
                    standing.set(order.place_of[*place as usize] as usize, true);
                }
            } else {
                standing.set(order.place_of[row] as usize, true);
            }
        }
        Some(standing)
    }

    /// Where the next candidate stands in a part of the order; it may be taken already.
    fn next_candidate(&mut self, part: Range<usize>, rows: &Rows, table: &Table) -> Option<usize> {
        if !std::mem::replace(&mut self.asked, true) {
            self.standing = self.standing(rows, table);
        }
        let open = &rows.open[self.order];
        if let Some(standing) = &self.standing {
            return standing.next_common(open, part.start).filter(|at| *at < part.end);
        }
        let (order, both) = (&self.verdict.order, &self.verdict.both);
        let mut from = part.start;
        loop {
            let at = open.next_common(open, from).filter(|at| *at < part.end)?;
            let row = order.row(at, table) as usize;
            if both.contains(row) && !rows.in_use.contains(row) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Puts the next entry of the order that is a candidate on its shelf, if it can be better than the best so far.
    fn open(&mut self, best: Option<(u32, u32)>, rows: &mut Rows, table: &Table) -> Option<usize> {
        while let Some(at) = self.next_candidate(self.opened..usize::MAX, rows, table) {
            let order = &self.verdict.order;
            let (row, rank) = (order.row(at, table), order.ranks[at]);
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
                self.shelves.push(Shelf { cost, heap: BinaryHeap::new() });
                self.shelves.len() - 1
            });
            self.shelves[shelf].heap.push(Reverse((rank, place, row)));
            return Some(shelf);
        }
        self.opened = self.verdict.order.entries.len();
        None
    }

    /// The most candidates of one rank, if it is more than was seen before.
    pub(super) fn largest_tie(&mut self, rows: &Rows, table: &Table, session: &Session, known: usize) -> usize {
        if self.bound <= known {
            return known;
        }
        let permitted = |cost: f64| session.permits_unclaimed(cost);
        let order = Arc::clone(&self.verdict.order);
        let (mut largest, mut bound) = (known, 0);
        for rank in &order.by_size {
            let size = order.sizes[*rank as usize] as usize;
            if size <= known || rows.cost_of_rank[self.order][*rank as usize].is_some_and(|cost| !permitted(cost)) {
                bound = bound.max(size);
                if size <= known {
                    break;
                }
                continue;
            }
            let (all, allowed) = self.count_rank(*rank, rows, table, &permitted);
            (bound, largest) = (bound.max(all), largest.max(allowed));
        }
        self.bound = bound;
        largest
    }

    /// How many candidates a rank has, and how many of them are in reach and permitted.
    fn count_rank(&mut self, rank: u32, rows: &Rows, table: &Table, permitted: &dyn Fn(f64) -> bool) -> (usize, usize) {
        let order = Arc::clone(&self.verdict.order);
        let end = order.ranks.partition_point(|other| *other <= rank);
        let mut from = order.ranks.partition_point(|other| *other < rank);
        let (mut all, mut allowed) = (0, 0);
        while let Some(at) = self.next_candidate(from..end, rows, table) {
            from = at + 1;
            let row = order.row(at, table);
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

/// How an address can be reached, if all slots agree.
fn agreed(mut protocols: impl Iterator<Item = Protocols>) -> Option<Protocols> {
    let first = protocols.next()?;
    protocols.all(|other| other == first).then_some(first)
}
