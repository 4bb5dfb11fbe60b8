//! Classes of slots: slots that no request of the cycle can distinguish are one row.
//!
//! In: slots, their structures and a [`Partitioner`]. Out: rows, each with its slots in the order in which they are
//! evaluated. Rows of one structure are adjacent, a block, which begins at a multiple of 64.

use std::ops::Range;

use hashbrown::HashMap;

use crate::negotiate::engine::partitioning::Partitioner;
use crate::pool::Slot;
use classmate::internal::program::partition::Partition;

/// No row.
const NO_ROW: u32 = u32::MAX;

/// Rows of one structure.
#[derive(Debug)]
pub(super) struct Block {
    /// Its first row, a multiple of 64.
    pub(super) first: usize,
    /// For each row its first slot, by place.
    pub(super) slots: Vec<u32>,
    /// All of its slots, by place, row by row.
    pub(super) members: Vec<u32>,
}

/// The rows of a cycle.
#[derive(Debug, Default)]
pub(super) struct ClassTable {
    pub(super) blocks: Vec<Block>,
    /// For each slot, by place, its row.
    pub(super) row_of: Vec<u32>,
    /// For each row the places of its slots, ascending: a range of `members`.
    starts: Vec<u32>,
    members: Vec<u32>,
    /// Number of rows that have slots.
    pub(super) classes: usize,
}

impl ClassTable {
    /// Partitions the slots of each structure, given by place.
    pub(super) fn new<'s>(
        slots: &dyn Fn(u32) -> &'s Slot,
        structures: &Partition,
        partitioner: &Partitioner<'_>,
    ) -> Self {
        let members = structures.members();
        let mut groups = structures.clone();
        split_by_facts(&mut groups, slots);
        partitioner.split(&mut groups, &members);
        Self::of_groups(&groups, structures, &|place| slots(place).weight.to_bits())
    }

    /// Numbers the rows, block by block; in a block, rows of one cost are adjacent.
    fn of_groups(groups: &Partition, structures: &Partition, cost: &dyn Fn(u32) -> u64) -> Self {
        let members = groups.members();
        let mut of_block: Vec<Vec<&[u32]>> = vec![Vec::new(); structures.count];
        for places in &members {
            of_block[structures.of[places[0] as usize] as usize].push(places);
        }
        let mut table = Self { row_of: vec![NO_ROW; groups.of.len()], classes: groups.count, ..Self::default() };
        for mut groups in of_block {
            groups.sort_by_cached_key(|places| cost(places[0]));
            let first = table.starts.len();
            let mut block = Block { first, slots: Vec::with_capacity(groups.len()), members: Vec::new() };
            for places in groups {
                let row = table.starts.len() as u32;
                table.starts.push(table.members.len() as u32);
                for place in places {
                    table.row_of[*place as usize] = row;
                }
                table.members.extend(places);
                block.slots.push(places[0]);
                block.members.extend(places);
            }
            let end = table.members.len() as u32;
            table.starts.resize(table.starts.len().next_multiple_of(64), end);
            table.blocks.push(block);
        }
        table.starts.push(table.members.len() as u32);
        table
    }

    /// Number of rows, those without slots included.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The slots of a row, as a range of all slots row by row.
    pub(super) fn range(&self, row: u32) -> Range<usize> {
        self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize
    }

    /// The places of the slots of a row, ascending.
    pub(super) fn slots(&self, row: u32) -> &[u32] {
        &self.members[self.range(row)]
    }
}

/// Splits classes by the properties of slots that the negotiator itself uses.
fn split_by_facts<'s>(groups: &mut Partition, slots: &dyn Fn(u32) -> &'s Slot) {
    let mut weights: HashMap<u64, u32> = HashMap::new();
    let mut names: HashMap<&[u8], u32> = HashMap::new();
    let mut numbered = |text: Option<&'s [u8]>| {
        let next = names.len() as u32 + 1;
        text.map_or(0, |text| *names.entry(text).or_insert(next))
    };
    let ids: Vec<[u32; 4]> = (0..groups.of.len() as u32)
        .map(|place| {
            let slot = slots(place);
            let next = weights.len() as u32;
            let weight = *weights.entry(slot.weight.to_bits()).or_insert(next);
            let bits =
                u32::from(slot.partitionable) | u32::from(slot.protocols.v4) << 1 | u32::from(slot.protocols.v6) << 2;
            [weight, bits, numbered(slot.user.as_deref()), numbered(slot.claimed_by.as_deref())]
        })
        .collect();
    for fact in [0, 1, 2, 3] {
        groups.split(|at| ids[at][fact]);
    }
}
