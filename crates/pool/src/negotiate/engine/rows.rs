//! The state of the rows during the negotiation loop: the free slots of each, and their cost.

use hashbrown::HashSet;

use crate::negotiate::engine::order::SlotOrder;
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
        let next = if order.is_by_slot() { vec![0; self.next.len()] } else { Vec::new() };
        self.orders.push(OrderState { open: Mask::all(order.rows.len()), next });
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

    /// The first slot of a row in an order that is not taken, with its number.
    pub(super) fn first_free(
        &mut self,
        row: u32,
        (number, order): (usize, &SlotOrder),
        table: &ClassTable,
    ) -> Option<(u32, u32)> {
        let own = &mut self.orders[number].next;
        let next = if own.is_empty() { &mut self.next[row as usize] } else { &mut own[row as usize] };
        while let Some((number, place)) = order.slot(row, *next as usize, table) {
            if !self.taken.contains(place as usize) {
                return Some((number, place));
            }
            *next += 1;
        }
        None
    }
}

/// The state of the rows in one order.
#[derive(Debug)]
pub(super) struct OrderState {
    /// The entries that may still be free; taken ones are removed lazily.
    pub(super) open: Mask,
    /// As `next` of all rows, in this order; empty if the slots of rows are in the order of their places.
    next: Vec<u32>,
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

    /// The words of 64 rows, the lowest bit first.
    pub(super) fn of_word(&self, at: usize) -> &[u64] {
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
