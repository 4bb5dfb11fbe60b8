//! The state of the rows during the negotiation loop: the free slots of each, and their cost.

use hashbrown::HashSet;

use crate::negotiate::engine::order::{SlotOrder, SlotPositions};
use crate::negotiate::engine::table::ClassTable;
use crate::pool::Slot;
use crate::pool::address::Protocols;
use classmate::internal::program::mask::Mask;

/// The state of the rows during the negotiation loop.
#[derive(Debug)]
pub(super) struct RowState {
    /// Number of free slots of each row.
    pub(super) free: Vec<u32>,
    /// The cost of a slot of each row.
    pub(super) cost: Vec<f64>,
    /// The distinct costs, ascending, and the number of the cost of each row.
    pub(super) costs: Vec<f64>,
    pub(super) cost_of: Vec<u32>,
    /// The numbers of free slots, by bit, so that they are counted one word of rows at a time.
    pub(super) planes: BitPlanes,
    /// Adjacent rows of one cost.
    pub(super) runs: Vec<CostRun>,
    /// The state of the rows in each order.
    pub(super) orders: Vec<OrderState>,
    /// Free slots of all rows.
    pub(super) left: usize,
    /// For each row the number of its slots at the beginning that are taken, as far as known.
    next: Vec<u32>,
    /// By place, whether a slot is taken.
    taken: Mask,
    /// The rows of the slots that were taken, in order.
    pub(super) log: Vec<u32>,
    /// Rows of slots in use.
    pub(super) in_use: Mask,
    /// The access points that have claimed partitionable slots.
    pub(super) claimants: HashSet<Box<[u8]>>,
    /// The protocols that reach the slots, if they are the same for all.
    pub(super) protocols: Option<Protocols>,
}

impl RowState {
    /// The state with all slots free.
    pub(super) fn new<'s>(table: &ClassTable, slot: &dyn Fn(u32) -> &'s Slot, preemption: bool) -> Self {
        let first = |row: usize| table.slots(row as u32).first().map(|place| slot(*place));
        let each = || (0..table.len()).map(first);
        let cost: Vec<f64> = each().map(|slot| slot.map_or(0.0, |slot| slot.weight)).collect();
        let mut costs: Vec<f64> = each().flatten().map(|slot| slot.weight).collect();
        costs.sort_by(f64::total_cmp);
        costs.dedup_by_key(|cost| cost.to_bits());
        let number = |cost: &f64| costs.binary_search_by(|known| known.total_cmp(cost)).unwrap_or_default() as u32;
        let cost_of: Vec<u32> = cost.iter().map(number).collect();
        let uses = |row: usize| preemption && first(row).is_some_and(|slot| slot.user.is_some());
        let claimant = |slot: &Slot| Some(Box::from(slot.claimed_by.as_deref()?));
        let free: Vec<u32> = (0..table.len()).map(|row| table.slots(row as u32).len() as u32).collect();
        Self {
            planes: BitPlanes::of(&free),
            runs: CostRun::all(&cost_of),
            orders: Vec::new(),
            left: free.iter().map(|free| *free as usize).sum(),
            free,
            cost,
            cost_of,
            costs,
            next: vec![0; table.len()],
            taken: Mask::none(table.row_of.len()),
            log: Vec::new(),
            in_use: Mask::of(table.len(), uses),
            claimants: each().flatten().filter(|slot| slot.partitionable).filter_map(claimant).collect(),
            protocols: agreed(each().flatten().map(|slot| slot.protocols)),
        }
    }

    /// Adds an order; returns its number.
    pub(super) fn add_order(&mut self, order: &SlotOrder) -> usize {
        self.orders.push(match order.positions() {
            Some(positions) => {
                let mut firsts = Mask::none(positions.sorted.len());
                let mut least = vec![u32::MAX; self.next.len().div_ceil(64)];
                for (row, number) in order.rows.iter().zip(&order.numbers) {
                    firsts.set(*number as usize, true);
                    let least = &mut least[*row as usize / 64];
                    *least = (*least).min(*number);
                }
                OrderState { open: Mask::default(), firsts, least, next: vec![0; self.next.len()], followed: 0 }
            }
            None => OrderState { open: Mask::all(order.rows.len()), ..OrderState::default() },
        });
        self.orders.len() - 1
    }

    /// Marks a slot as taken.
    pub(super) fn take(&mut self, place: u32, row: u32) {
        if self.is_free(place) {
            self.taken.set(place as usize, true);
            let row = row as usize;
            self.free[row] -= 1;
            self.left -= 1;
            self.planes.set(row, self.free[row]);
            self.log.push(row as u32);
        }
    }

    /// Number of taken slots whose subtraction from a count takes about as long as a new count.
    pub(super) fn recount(&self) -> usize {
        self.planes.words.len() / 2
    }

    /// Returns whether a slot is not taken.
    pub(super) fn is_free(&self, place: u32) -> bool {
        !self.taken.contains(place as usize)
    }

    /// The first slot of a row that is not taken, with its number, in an order of rows.
    pub(super) fn first_free(&mut self, row: u32, order: &SlotOrder, table: &ClassTable) -> Option<(u32, u32)> {
        let next = &mut self.next[row as usize];
        while let Some((number, place)) = order.slot(row, *next as usize, table) {
            if !self.taken.contains(place as usize) {
                return Some((number, place));
            }
            *next += 1;
        }
        None
    }

    /// The position of the first free slot of some rows, in an order of slots from which taken ones were removed; the number of
    /// positions if there is none.
    pub(super) fn first_of(&self, number: usize, rows: &Mask, positions: &SlotPositions, table: &ClassTable) -> usize {
        let OrderState { least, next, .. } = &self.orders[number];
        let mut first = positions.sorted.len() as u32;
        for (at, least) in least.iter().enumerate() {
            let mut left = rows.word(at);
            while left != 0 && *least < first {
                let row = at * 64 + left.trailing_zeros() as usize;
                let of_row = &positions.of_rows[table.range(row as u32)];
                first = of_row.get(next[row] as usize).map_or(first, |position| first.min(*position));
                left &= left - 1;
            }
        }
        first as usize
    }

    /// Replaces the first slots of rows, in an order of slots, that were taken since this was done last.
    pub(super) fn follow(&mut self, number: usize, positions: &SlotPositions, table: &ClassTable) {
        let (taken, log) = (&self.taken, &self.log);
        let OrderState { firsts, next, followed, .. } = &mut self.orders[number];
        for row in &log[*followed..] {
            let of_row = &positions.of_rows[table.range(*row)];
            let next = &mut next[*row as usize];
            while let Some(position) = of_row.get(*next as usize) {
                let is_free = !taken.contains(positions.sorted[*position as usize] as usize);
                firsts.set(*position as usize, is_free);
                if is_free {
                    break;
                }
                *next += 1;
            }
        }
        *followed = log.len();
    }
}

/// The state of the rows in one order.
#[derive(Debug, Default)]
pub(super) struct OrderState {
    /// In an order of rows the entries that may still be free; taken ones are removed lazily.
    pub(super) open: Mask,
    /// In an order of slots the positions of those that are the first free ones of their rows.
    firsts: Mask,
    /// For each 64 rows the first position of their slots, taken or not.
    least: Vec<u32>,
    /// As `next` of all rows, in an order of slots.
    next: Vec<u32>,
    /// Number of taken slots that `firsts` is without.
    followed: usize,
}

impl OrderState {
    /// The positions of the first free slots of rows from some position on, ascending.
    pub(super) fn firsts_from(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.firsts.len().div_ceil(64);
        let mut at = position / 64;
        let mut left = if at < words { self.firsts.word(at) & u64::MAX << (position % 64) } else { 0 };
        std::iter::from_fn(move || {
            while left == 0 {
                at += 1;
                if at >= words {
                    return None;
                }
                left = self.firsts.word(at);
            }
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            Some(at * 64 + bit)
        })
    }
}

/// Numbers of free slots, 64 rows to a word of each bit.
#[derive(Debug)]
pub(super) struct BitPlanes {
    /// For each 64 rows where their words begin: as many as the largest of the numbers has bits.
    starts: Vec<u32>,
    words: Vec<u64>,
}

impl BitPlanes {
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

    /// The sum of the numbers of some of 64 rows.
    pub(super) fn count(&self, at: usize, rows: u64) -> usize {
        // In most words there are none of the rarer kinds.
        if rows == 0 {
            return 0;
        }
        let planes = &self.words[self.starts[at] as usize..self.starts[at + 1] as usize];
        planes.iter().enumerate().map(|(bit, plane)| ((plane & rows).count_ones() as usize) << bit).sum()
    }

    /// Sets the number of a row to one that is not larger.
    fn set(&mut self, row: usize, number: u32) {
        let range = self.starts[row / 64] as usize..self.starts[row / 64 + 1] as usize;
        for (bit, word) in self.words[range].iter_mut().enumerate() {
            *word = *word & !(1 << (row % 64)) | u64::from(number >> bit & 1) << (row % 64);
        }
    }
}

/// Adjacent rows of one cost.
#[derive(Debug)]
pub(super) struct CostRun {
    pub(super) cost: u32,
    first: usize,
    end: usize,
}

impl CostRun {
    fn all(costs: &[u32]) -> Vec<Self> {
        let mut first = 0;
        let run = |rows: &[u32]| {
            first += rows.len();
            Self { cost: rows[0], first: first - rows.len(), end: first }
        };
        costs.chunk_by(|a, b| a == b).map(run).collect()
    }

    /// The words in which its rows are, with those rows.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, end) = (self.first, self.end);
        (first / 64..end.div_ceil(64)).map(move |at| {
            let from = u64::MAX << first.saturating_sub(at * 64);
            let to = u64::MAX >> (at * 64 + 64).saturating_sub(end);
            (at, from & to)
        })
    }
}

/// The protocols of all slots, if they agree.
fn agreed(mut protocols: impl Iterator<Item = Protocols>) -> Option<Protocols> {
    let first = protocols.next()?;
    protocols.all(|other| other == first).then_some(first)
}
