//! Where each name stands in an ad: a table of keys, searched by one short walk.
//!
//! In: keys and places. Out: the place of a key. Names that an ad lacks are asked for as often as those it has, so
//! at most half of the table is used and a search mostly ends at its first cell. A key and its place are one cell
//! of 8 bytes: a search touches one line of memory.

use crate::name::Key;

/// A place that no attribute has: the cell is free.
const FREE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Cell {
    key: u32,
    place: u32,
}

/// The places of keys.
#[derive(Clone, Default)]
pub(super) struct Index {
    /// A power of two of cells, or none.
    cells: Vec<Cell>,
    used: usize,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.used = 0;
    }

    /// The cell to look at first.
    #[inline]
    fn first(&self, key: u32) -> usize {
        // The upper bits of a product with the golden ratio: keys are numbered one after another and so spread.
        (u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & self.cells.len().wrapping_sub(1)
    }

    /// The place of a key.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        let key = key.index() as u32;
        let mut at = self.first(key);
        loop {
            let cell = self.cells.get(at)?;
            if cell.place == FREE {
                return None;
            }
            if cell.key == key {
                return Some(cell.place as usize);
            }
            at = (at + 1) & (self.cells.len() - 1);
        }
    }

    /// Adds a key that is not there yet.
    pub(super) fn insert(&mut self, key: Key, place: usize) {
        if (self.used + 1) * 2 > self.cells.len() {
            self.grow();
        }
        self.used += 1;
        self.put(Cell { key: key.index() as u32, place: place as u32 });
    }

    fn put(&mut self, cell: Cell) {
        let mut at = self.first(cell.key);
        while self.cells[at].place != FREE {
            at = (at + 1) & (self.cells.len() - 1);
        }
        self.cells[at] = cell;
    }

    fn grow(&mut self) {
        let larger = vec![Cell { key: 0, place: FREE }; (self.cells.len() * 2).max(32)];
        let cells = std::mem::replace(&mut self.cells, larger);
        cells.into_iter().filter(|cell| cell.place != FREE).for_each(|cell| self.put(cell));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn every_key_is_found_at_its_place_and_no_other_key_is() {
        let keys: Vec<Key> = (0..2_000).map(|number| Name::new(format!("IndexTest{number}")).key()).collect();
        let mut index = Index::default();
        assert_eq!(index.find(keys[0]), None);
        // Every other key is in; the table grows several times on the way.
        for (place, key) in keys.iter().step_by(2).enumerate() {
            index.insert(*key, place);
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(index.find(*key), (number % 2 == 0).then_some(number / 2));
        }
        index.clear();
        assert!(index.is_empty());
        assert_eq!(index.find(keys[0]), None);
    }
}
