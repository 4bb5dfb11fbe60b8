//! The order in which HTCondor's daemons walk through what they keep in a hash table.
//!
//! In: hashes in the order of insertion. Out: the order of the table. It has 7 buckets at first, and 2n + 1 whenever it is 80 %
//! full; a bucket has the newest entry first.

/// A hash table that keeps the places of what is inserted.
#[derive(Debug, Clone)]
pub(super) struct HashTable {
    /// The entries of each bucket, newest last: hash and place.
    buckets: Vec<Vec<(u64, usize)>>,
    count: usize,
}

impl Default for HashTable {
    fn default() -> Self {
        Self { buckets: vec![Vec::new(); 7], count: 0 }
    }
}

impl HashTable {
    /// Inserts an entry, and makes more buckets when they are full.
    pub(super) fn insert(&mut self, hash: u64) {
        let size = self.size();
        self.buckets[(hash % size) as usize].push((hash, self.count));
        self.count += 1;
        if self.count as f64 / size as f64 >= 0.8 {
            let size = size * 2 + 1;
            let mut buckets = vec![Vec::new(); size as usize];
            for (hash, place) in self.buckets.iter().flat_map(|bucket| bucket.iter().rev()) {
                buckets[(hash % size) as usize].push((*hash, *place));
            }
            self.buckets = buckets;
        }
    }

    /// Number of buckets.
    pub(super) fn size(&self) -> u64 {
        self.buckets.len() as u64
    }

    /// The places of the entries, counted in the order of insertion, in the order of the table.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        self.buckets.iter().flat_map(|bucket| bucket.iter().rev().map(|(_, place)| *place))
    }
}

impl FromIterator<u64> for HashTable {
    fn from_iter<I: IntoIterator<Item = u64>>(hashes: I) -> Self {
        let mut table = Self::default();
        for hash in hashes {
            table.insert(hash);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_the_newest_first_until_it_is_divided() {
        let mut table: HashTable = [0, 7, 1, 14, 2].into_iter().collect();
        assert_eq!((table.size(), table.order().collect::<Vec<_>>()), (7, vec![3, 1, 0, 2, 4]));
        // Six of seven: of fifteen buckets, the first has 15 and then 0.
        table.insert(15);
        assert_eq!((table.size(), table.order().collect::<Vec<_>>()), (15, vec![5, 0, 2, 4, 1, 3]));
        assert_eq!([5, 6, 12].map(|count| (0..count).collect::<HashTable>().size()), [7, 15, 31]);
    }
}
