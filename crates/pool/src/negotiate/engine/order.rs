//! Slots in the order of their ranks.
//!
//! In: rows, or slots, sorted by rank. Out: the rows by their best slots, and the slots of each row, best first. A class of
//! requests looks for the next row, not for the next slot, even if slots of a row differ in rank.

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::negotiate::candidate::RankKey;
use crate::negotiate::engine::table::ClassTable;

/// Slots in the order of their ranks, best first; slots of one rank are in the order in which they are evaluated.
///
/// Each slot has a number, and slots are compared by number, then by place. It is the number of its rank, 0 the best, or, if
/// slots of a row can differ in rank, its position among all slots.
#[derive(Debug, PartialEq)]
pub(super) struct SlotOrder {
    /// The rows, by their best slots.
    pub(super) rows: Vec<u32>,
    /// The number of the best slot of each of these.
    pub(super) numbers: Vec<u32>,
    /// For each row its place among `rows`.
    pub(super) place_of: Vec<u32>,
    /// The order of single slots, if slots of a row can differ in rank.
    slots: Option<SlotPositions>,
    /// Slots of one rank, if there are more than one, those of most slots first.
    pub(super) ties: Vec<TiedSlots>,
    /// The ranks, each with the first of its numbers; empty if they are not compared with others.
    keys: Vec<(u32, RankKey)>,
}

// Equal orders have equal rows and numbers.
impl Hash for SlotOrder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.rows, &self.numbers).hash(state);
    }
}

/// The positions of slots.
#[derive(Debug, PartialEq)]
pub(super) struct SlotPositions {
    /// The places of all slots, best first.
    pub(super) sorted: Vec<u32>,
    /// Their rows.
    pub(super) rows: Vec<u32>,
    /// The positions of the slots of each row, ascending.
    pub(super) of_rows: Vec<u32>,
}

/// Slots of one rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TiedSlots {
    /// Their entries in the order.
    pub(super) entries: Range<u32>,
    /// Number of slots.
    pub(super) slots: usize,
}

impl SlotOrder {
    /// The order of sorted rows, or of sorted slots by place, given the entries with which ranks begin, and the ranks
    /// themselves if they are compared with others.
    pub(super) fn new(
        entries: Vec<u32>,
        starts: &[u32],
        keys: Vec<RankKey>,
        by_slot: bool,
        table: &ClassTable,
    ) -> Self {
        let ends = starts.iter().skip(1).copied().chain([entries.len() as u32]);
        let slots_of = |entries: &[u32]| {
            if by_slot { entries.len() } else { entries.iter().map(|row| table.slots(*row).len()).sum() }
        };
        let tie = |(first, end): (u32, u32)| TiedSlots {
            slots: slots_of(&entries[first as usize..end as usize]),
            entries: first..end,
        };
        let mut ties: Vec<TiedSlots> =
            starts.iter().copied().zip(ends).map(tie).filter(|tied| tied.slots > 1).collect();
        ties.sort_by_key(|tied| Reverse(tied.slots));
        let first_number = |rank: usize| if by_slot { starts[rank] } else { rank as u32 };
        let keys = keys.into_iter().enumerate().map(|(rank, key)| (first_number(rank), key)).collect();
        let mut order =
            Self { rows: Vec::new(), numbers: Vec::new(), place_of: vec![0; table.len()], slots: None, ties, keys };
        if by_slot {
            order.sort_within_rows(entries, table);
        } else {
            for (rank, first) in starts.iter().enumerate() {
                order.numbers.resize(*first as usize, (rank as u32).saturating_sub(1));
            }
            order.numbers.resize(entries.len(), (starts.len() as u32).saturating_sub(1));
            order.rows = entries;
        }
        for (place, row) in order.rows.iter().enumerate() {
            order.place_of[*row as usize] = place as u32;
        }
        order
    }

    fn sort_within_rows(&mut self, sorted: Vec<u32>, table: &ClassTable) {
        let mut of_rows = vec![0; sorted.len()];
        let mut rows = Vec::with_capacity(sorted.len());
        let mut next: Vec<u32> = (0..table.len()).map(|row| table.range(row as u32).start as u32).collect();
        for (position, place) in sorted.iter().enumerate() {
            let row = table.row_of[*place as usize];
            rows.push(row);
            let next = &mut next[row as usize];
            if *next == table.range(row).start as u32 {
                self.rows.push(row);
                self.numbers.push(position as u32);
            }
            of_rows[*next as usize] = position as u32;
            *next += 1;
        }
        self.slots = Some(SlotPositions { sorted, rows, of_rows });
    }

    /// The positions of slots, if slots of a row can differ in rank.
    pub(super) fn positions(&self) -> Option<&SlotPositions> {
        self.slots.as_ref()
    }

    /// The number and the place of one of the slots of a row, 0 the best.
    pub(super) fn slot(&self, row: u32, at: usize, table: &ClassTable) -> Option<(u32, u32)> {
        match &self.slots {
            Some(slots) => {
                let position = *slots.of_rows[table.range(row)].get(at)?;
                Some((position, slots.sorted[position as usize]))
            }
            None => Some((self.numbers[self.place_of[row as usize] as usize], *table.slots(row).get(at)?)),
        }
    }

    /// The numbers and the places of the slots of a row, best first.
    pub(super) fn slots_of<'o>(&'o self, row: u32, table: &'o ClassTable) -> impl Iterator<Item = (u32, u32)> + 'o {
        (0..).map_while(move |at| self.slot(row, at, table))
    }

    /// The rows of some entries, and the place of the slot if the entry is a slot.
    pub(super) fn entries(&self, entries: Range<u32>) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
        let entries = entries.start as usize..entries.end as usize;
        let (rows, slots) = match &self.slots {
            Some(slots) => (&[][..], (&slots.rows[entries.clone()], &slots.sorted[entries])),
            None => (&self.rows[entries], (&[][..], &[][..])),
        };
        let of_slots = slots.0.iter().zip(slots.1).map(|(row, place)| (*row, Some(*place)));
        rows.iter().map(|row| (*row, None)).chain(of_slots)
    }

    /// The ordinal of the rank of a slot with this number, if ranks are compared with others.
    pub(super) fn rank_of(&self, number: u32) -> u32 {
        self.keys.partition_point(|(first, _)| *first <= number).saturating_sub(1) as u32
    }

    /// A rank by its ordinal; none if ranks are not compared with others.
    pub(super) fn key_of_rank(&self, rank: u32) -> Option<RankKey> {
        self.keys.get(rank as usize).map(|(_, key)| *key)
    }

    /// The slots of a rank; none if there are none.
    pub(super) fn tied_with(&self, key: &RankKey, table: &ClassTable) -> Option<TiedSlots> {
        let rank = self.keys.partition_point(|(_, better)| better.compare(key).is_gt());
        let (first, _) = self.keys.get(rank).filter(|(_, same)| same.compare(key).is_eq())?;
        let end = self.keys.get(rank + 1).map_or(u32::MAX, |(next, _)| *next);
        let entries = match &self.slots {
            Some(slots) => *first..end.min(slots.sorted.len() as u32),
            None => {
                let entry = |number: u32| self.numbers.partition_point(|other| *other < number) as u32;
                entry(*first)..entry(end)
            }
        };
        let slots_of = |(row, place): (u32, Option<u32>)| if place.is_some() { 1 } else { table.slots(row).len() };
        Some(TiedSlots { slots: self.entries(entries.clone()).map(slots_of).sum(), entries })
    }

    /// Approximate memory use, bytes.
    pub(super) fn bytes(&self) -> usize {
        let positions = self.slots.iter().flat_map(|slots| [&slots.sorted, &slots.rows, &slots.of_rows]);
        let numbers = [&self.rows, &self.numbers, &self.place_of].into_iter().chain(positions);
        numbers.map(|numbers| size_of_val(numbers.as_slice())).sum::<usize>()
            + size_of_val(self.keys.as_slice())
            + size_of_val(self.ties.as_slice())
    }
}
