//! A class of requests during the deal: its heap of candidates, and what it knows of refusals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::negotiate::candidate::RankKey;
use crate::negotiate::engine::agreed;
use crate::negotiate::engine::evaluate::Verdict;
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
    /// For each bit of the numbers of free slots the rows that have it: so that they are counted a word at a time.
    planes: Vec<Mask>,
    /// For each cost the rows that nobody uses.
    idle: Vec<Mask>,
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
        let cost_of = cost.iter().map(number).collect();
        let uses = |row: usize| preemption && first(row).is_some_and(|slot| slot.user.is_some());
        let free: Vec<u32> = (0..table.len()).map(|row| table.slots(row as u32).len() as u32).collect();
        let bits = u32::BITS - free.iter().max().copied().unwrap_or(0).leading_zeros();
        let in_use = Mask::of(table.len(), uses);
        let cost_of: Vec<u32> = cost_of;
        let of_cost =
            |number: usize| Mask::of(free.len(), |row| cost_of[row] as usize == number && !in_use.contains(row));
        Self {
            planes: (0..bits).map(|bit| Mask::of(free.len(), |row| free[row] >> bit & 1 == 1)).collect(),
            idle: if costs.len() > COSTS { Vec::new() } else { (0..costs.len()).map(of_cost).collect() },
            left: free.iter().map(|free| *free as usize).sum(),
            free,
            cost,
            cost_of,
            costs,
            next: vec![0; table.len()],
            taken: vec![false; table.row_of.len()],
            log: Vec::new(),
            in_use,
            unclaimed: each().flatten().all(|slot| !(slot.partitionable && slot.claimed_by.is_some())),
            protocols: agreed(each().flatten().map(|slot| slot.protocols)),
        }
    }

    /// Notes that a slot is taken.
    pub(super) fn taken(&mut self, place: u32, row: u32) {
        if !std::mem::replace(&mut self.taken[place as usize], true) {
            let row = row as usize;
            self.free[row] -= 1;
            self.left -= 1;
            for (bit, plane) in self.planes.iter_mut().enumerate() {
                plane.set(row, self.free[row] >> bit & 1 == 1);
            }
            let row = row as u32;
            self.log.push(row);
        }
    }

    /// How many slots taken cost about as much to take away from a count as to count anew.
    fn recount(&self) -> usize {
        if self.idle.is_empty() {
            self.free.len()
        } else {
            self.free.len() / 64 * self.planes.len() * (2 + self.idle.len()) / 4
        }
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

/// With more costs than this, slots are counted row by row.
const COSTS: usize = 64;

/// Of so many entries of an order one is a candidate if candidates are few.
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
    /// How far the order was looked through, or `few` if there are some.
    opened: usize,
    /// Where in the order the candidates stand, ascending, if they are few: then the others need not be passed over.
    few: Option<Vec<u32>>,
    /// The candidates found so far; those of slots that were taken since stay until somebody comes upon them.
    shelves: Vec<Shelf>,
    /// Candidates out of reach for who asks at the moment.
    aside: Vec<(usize, Candidate)>,
    reach: Option<Mask>,
    /// What was counted when so many slots were taken.
    tallied: Option<(usize, Tallied)>,
    /// No more slots than this are of one rank.
    bound: usize,
}

impl Class {
    pub(super) fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            opened: 0,
            few: None,
            shelves: Vec::new(),
            aside: Vec::new(),
            reach: None,
            tallied: None,
            bound: usize::MAX,
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

    fn is_candidate(&self, row: u32, rows: &Rows) -> bool {
        self.verdict.both.contains(row as usize) && !rows.in_use.contains(row as usize)
    }

    /// The best slot that nobody uses and that may be taken.
    pub(super) fn best(&mut self, rows: &mut Rows, table: &Table, session: &Session) -> Option<(RankKey, u32)> {
        // Whether there is anything is counted anyway, for those who are refused: then nobody need look for it.
        let permitted = |cost: &f64| session.permits_unclaimed(*cost);
        let tallied = self.tallied(rows);
        if !rows.costs.iter().zip(&tallied.idle).any(|(cost, free)| *free > 0 && permitted(cost)) {
            return None;
        }
        let mut best = None;
        for shelf in 0..self.shelves.len() {
            if session.permits_unclaimed(self.shelves[shelf].cost) {
                best = [best, self.top(shelf, rows, table)].into_iter().flatten().min();
            }
        }
        while let Some(shelf) = self.open(best, rows, table) {
            if session.permits_unclaimed(self.shelves[shelf].cost) {
                best = [best, self.top(shelf, rows, table)].into_iter().flatten().min();
            }
        }
        best.map(|(rank, place)| (self.verdict.order.keys[rank as usize], place))
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
    fn few(&self, rows: &Rows, table: &Table) -> Option<Vec<u32>> {
        let order = &self.verdict.order;
        let candidates = || self.verdict.both.rows().filter(|row| rows.free[*row] > 0 && !rows.in_use.contains(*row));
        let slots = |row: usize| table.slots(row as u32);
        let count: usize = candidates().map(|row| if order.by_slot { slots(row).len() } else { 1 }).sum();
        if count > order.entries.len() / FEW {
            return None;
        }
        let mut few = Vec::with_capacity(count);
        for row in candidates() {
            if order.by_slot {
                few.extend(slots(row).iter().map(|place| order.place_of[*place as usize]));
            } else {
                few.push(order.place_of[row]);
            }
        }
        few.sort_unstable();
        Some(few)
    }

    /// Puts the next entry of the order that is a candidate on its shelf, if it can be better than the best so far.
    fn open(&mut self, best: Option<(u32, u32)>, rows: &mut Rows, table: &Table) -> Option<usize> {
        if self.opened == 0 {
            self.few = self.few(rows, table);
        }
        let order = &self.verdict.order;
        let next = |opened: usize| match &self.few {
            Some(few) => few.get(opened).map(|at| *at as usize),
            None => Some(opened),
        };
        while let Some((at, entry)) = next(self.opened).and_then(|at| Some((at, order.entries.get(at)?))) {
            let rank = order.ranks[at];
            let (row, first) =
                if order.by_slot { (table.row_of[*entry as usize], *entry) } else { (*entry, table.slots(*entry)[0]) };
            if best.is_some_and(|best| best < (rank, first)) {
                return None;
            }
            self.opened += 1;
            if rows.free[row as usize] == 0 || !self.is_candidate(row, rows) {
                continue;
            }
            let place = if order.by_slot { Some(first) } else { rows.first_free(row, table) };
            if let Some(place) = place.filter(|place| rows.is_free(*place)) {
                let cost = rows.cost[row as usize];
                let shelf = self.shelves.iter().position(|shelf| shelf.cost.to_bits() == cost.to_bits());
                let shelf = shelf.unwrap_or_else(|| {
                    self.shelves.push(Shelf { cost, heap: BinaryHeap::new() });
                    self.shelves.len() - 1
                });
                self.shelves[shelf].heap.push(Reverse((rank, place, row)));
                return Some(shelf);
            }
        }
        None
    }

    /// The most candidates of one rank, if it is more than was seen before.
    pub(super) fn largest_tie(&mut self, rows: &Rows, table: &Table, session: &Session, known: usize) -> usize {
        if self.bound <= known {
            return known;
        }
        let order = std::sync::Arc::clone(&self.verdict.order);
        let (mut largest, mut bound) = (known, 0);
        for chunk in 0..order.keys.len() {
            let size = order.sizes[chunk] as usize;
            if size <= known {
                bound = bound.max(size);
                continue;
            }
            let first = order.ranks.partition_point(|rank| (*rank as usize) < chunk);
            let last = order.ranks.partition_point(|rank| *rank as usize <= chunk);
            let (mut all, mut permitted) = (0, 0);
            for entry in &order.entries[first..last] {
                let (row, free) = if order.by_slot {
                    (table.row_of[*entry as usize], u32::from(rows.is_free(*entry)))
                } else {
                    (*entry, rows.free[*entry as usize])
                };
                if free > 0 && self.is_candidate(row, rows) {
                    all += free as usize;
                    let in_reach = self.reach.as_ref().is_none_or(|reach| reach.contains(row as usize));
                    if in_reach && session.permits_unclaimed(rows.cost[row as usize]) {
                        permitted += free as usize;
                    }
                }
            }
            (bound, largest) = (bound.max(all), largest.max(permitted));
        }
        self.bound = bound;
        largest
    }

    /// How many of the free slots are which.
    pub(super) fn tallied(&mut self, rows: &Rows) -> &Tallied {
        let now = rows.log.len();
        let (at, mut known) = match self.tallied.take() {
            Some((at, known)) if now == at || (self.reach.is_none() && now - at < rows.recount()) => (at, known),
            _ => (now, self.counted(rows)),
        };
        self.less(&mut known, &rows.log[at..], rows);
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
        let sum = |of: &dyn Fn(&Mask) -> usize| -> usize {
            rows.planes.iter().enumerate().map(|(bit, plane)| of(plane) << bit).sum()
        };
        let (job, accepted) = (sum(&|plane| plane.common(job)), sum(&|plane| plane.common(both)));
        let idle = rows.idle.iter().map(|idle| sum(&|plane| plane.common_of(both, idle))).collect();
        Tallied { unreachable: 0, by_job: rows.left - job, by_slot: job - accepted, idle }
    }

    fn counted(&self, rows: &Rows) -> Tallied {
        if self.reach.is_none() && !rows.idle.is_empty() {
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
