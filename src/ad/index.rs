//! The place of each name in an ad: a table of keys, searched by one short walk.
//!
//! In: keys and places. Out: the place of a key. Names that an ad lacks are asked for as often as those it has, so at
//! most half of the table is used and a search mostly ends at its first cell. A cell is two bytes, the place; which key
//! is there, the caller knows.

use crate::name::Key;

/// A place that no attribute has: the cell is free.
const FREE: u32 = u32::MAX;
const FREE_NARROW: u16 = u16::MAX;

/// A cell of a table.
trait PlaceCell: Copy {
    /// The place, unless the cell is free.
    fn place(self) -> Option<usize>;
}

impl PlaceCell for u16 {
    #[inline]
    fn place(self) -> Option<usize> {
        (self != FREE_NARROW).then_some(self as usize)
    }
}

impl PlaceCell for u32 {
    #[inline]
    fn place(self) -> Option<usize> {
        (self != FREE).then_some(self as usize)
    }
}

/// The cell to look at first in a table of so many cells.
#[inline]
fn first(key: Key, cells: usize) -> usize {
    // The upper bits of a product with the golden ratio: keys are numbered one after another and so spread.
    let product = (key.index() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as usize & cells.wrapping_sub(1)
}

#[inline]
fn search<C: PlaceCell>(cells: &[C], key: Key, key_at: impl Fn(usize) -> Key) -> Option<usize> {
    let mut at = first(key, cells.len());
    loop {
        let place = cells.get(at)?.place()?;
        if key_at(place) == key {
            return Some(place);
        }
        at = (at + 1) & (cells.len() - 1);
    }
}

/// The places of keys. The caller knows which key is at a place.
#[derive(Clone, Default)]
pub(super) struct Index {
    /// A power of two of cells, or none.
    narrow: Vec<u16>,
    /// The cells of an ad that is too large for narrow ones.
    wide: Vec<u32>,
    used: usize,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn len(&self) -> usize {
        self.narrow.len().max(self.wide.len())
    }

    /// The place in a cell, if it is not free.
    fn cell(&self, at: usize) -> Option<usize> {
        match self.narrow.get(at) {
            Some(cell) => cell.place(),
            None => self.wide.get(at)?.place(),
        }
    }

    /// The place of a key.
    #[inline]
    pub(super) fn find(&self, key: Key, key_at: impl Fn(usize) -> Key) -> Option<usize> {
        if self.wide.is_empty() { search(&self.narrow, key, key_at) } else { search(&self.wide, key, key_at) }
    }

    /// Adds a key that is not there yet.
    pub(super) fn insert(&mut self, key: Key, place: usize, key_at: impl Fn(usize) -> Key) {
        let outgrown = self.wide.is_empty() && place >= FREE_NARROW as usize;
        if outgrown || (self.used + 1) * 2 > self.len() {
            self.grow(outgrown, key_at);
        }
        self.used += 1;
        self.put(key, place);
    }

    fn put(&mut self, key: Key, place: usize) {
        let mut at = first(key, self.len());
        while self.cell(at).is_some() {
            at = (at + 1) & (self.len() - 1);
        }
        match self.narrow.get_mut(at) {
            Some(cell) => *cell = place as u16,
            None => self.wide[at] = place as u32,
        }
    }

    fn grow(&mut self, outgrown: bool, key_at: impl Fn(usize) -> Key) {
        let places: Vec<usize> = (0..self.len()).filter_map(|at| self.cell(at)).collect();
        let len = (self.len() * 2).max(32);
        if outgrown || !self.wide.is_empty() {
            (self.narrow, self.wide) = (Vec::new(), vec![FREE; len]);
        } else {
            self.narrow = vec![FREE_NARROW; len];
        }
        for place in places {
            self.put(key_at(place), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn every_key_is_found_at_its_place_and_no_other_key_is() {
        // More than narrow cells have room for.
        let keys: Vec<Key> = (0..140_000).map(|number| Name::new(format!("IndexTest{number}")).key()).collect();
        let key_at = |place: usize| keys[place * 2];
        let mut index = Index::default();
        assert_eq!(index.find(keys[0], key_at), None);
        // Every other key is in; the table grows several times on the way.
        for (place, key) in keys.iter().step_by(2).enumerate() {
            index.insert(*key, place, key_at);
        }
        for (number, key) in keys.iter().enumerate() {
            assert_eq!(index.find(*key, key_at), (number % 2 == 0).then_some(number / 2));
        }
        index.clear();
        assert!(index.is_empty());
        assert_eq!(index.find(keys[0], key_at), None);
    }
}
