//! Partitions of ads into classes.
//!
//! In: a property of each ad. Out: classes of ads that agree in all properties so far.

use hashbrown::HashMap;

/// Classes are looked up in an array if it needs at most this many cells per ad.
const MAX_CELLS_PER_AD: usize = 8;

/// A partition of ads, its classes numbered in the order of their first ads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partition {
    /// The class of each ad.
    pub of: Vec<u32>,
    /// Number of classes.
    pub count: usize,
}

impl Partition {
    /// One class of all ads.
    pub fn whole(ads: usize) -> Self {
        Self { of: vec![0; ads], count: usize::from(ads > 0) }
    }

    /// Splits each class by another property of its ads.
    pub fn split(&mut self, property: impl Fn(usize) -> u32) {
        let width = (0..self.of.len()).map(&property).max().map_or(0, |most| most as usize + 1);
        let key = |at: usize, class: u32| u64::from(class) * width as u64 + u64::from(property(at));
        if self.count.saturating_mul(width) <= MAX_CELLS_PER_AD * self.of.len() {
            const NEW: u32 = u32::MAX;
            let (mut numbers, mut next) = (vec![NEW; self.count * width], 0);
            for (at, class) in self.of.iter_mut().enumerate() {
                let number = &mut numbers[key(at, *class) as usize];
                if *number == NEW {
                    *number = next;
                    next += 1;
                }
                *class = *number;
            }
            self.count = next as usize;
            return;
        }
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut last = (u64::MAX, 0);
        for (at, class) in self.of.iter_mut().enumerate() {
            let key = key(at, *class);
            if key != last.0 {
                let next = numbers.len() as u32;
                last = (key, *numbers.entry(key).or_insert(next));
            }
            *class = last.1;
        }
        self.count = numbers.len();
    }

    /// The first ad of each class.
    pub fn firsts(&self) -> Vec<u32> {
        let mut firsts = Vec::with_capacity(self.count);
        for (at, class) in self.of.iter().enumerate() {
            if *class as usize == firsts.len() {
                firsts.push(at as u32);
            }
        }
        firsts
    }

    /// The ads of each class, ascending.
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.count];
        for (at, class) in self.of.iter().enumerate() {
            members[*class as usize].push(at as u32);
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use hashbrown::HashSet;

    use super::*;

    #[test]
    fn classes_are_split_in_the_order_of_first_sight() {
        let mut classes = Partition { of: vec![0, 0, 1, 1, 0], count: 2 };
        classes.split(|at| [7, 8, 7, 7, 7][at]);
        assert_eq!(classes, Partition { of: vec![0, 1, 2, 2, 0], count: 3 });
        assert_eq!(classes.firsts(), [0, 1, 2]);
        assert_eq!(classes.members(), [vec![0, 4], vec![1], vec![2, 3]]);
        let mut none = Partition::whole(0);
        none.split(|_| 0);
        assert_eq!((none.count, none.firsts()), (0, Vec::new()));
    }

    #[test]
    fn classes_are_the_same_whether_an_array_is_small_enough_or_not() {
        let values: Vec<u32> = (0..400).map(|at: u32| at.wrapping_mul(2_654_435_761) >> 28).collect();
        let mut before = Partition::whole(400);
        before.split(|at| at as u32 / 7 % 5);
        let distinct: HashSet<(u32, u32)> = before.of.iter().copied().zip(values.iter().copied()).collect();
        let (mut small, mut large) = (before.clone(), before);
        small.split(|at| values[at]);
        assert_eq!(small.count, distinct.len());
        // The same values far apart.
        large.split(|at| values[at] * 1_000_000);
        assert_eq!(small, large);
    }
}
