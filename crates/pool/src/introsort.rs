//! The sort of the daemons: `std::sort` of libstdc++, with its order of equal items.
//!
//! In: items and a comparison. Out: the items in order. `std::sort` is not stable, but it is deterministic: the order of
//! equal items depends on their number and on the order in which they came. Up to [`SHORT`] items keep it.

/// Length of a list that is sorted by insertion.
const SHORT: usize = 16;

/// Sorts items; `less` returns whether the first of two comes before the second.
pub fn sort<T>(items: &mut [T], mut less: impl FnMut(&T, &T) -> bool) {
    if items.len() > 1 {
        partition_until_short(items, 2 * items.len().ilog2(), &mut less);
        insert_all(items, &mut less);
    }
}

/// Partitions the items until parts are short, or sorts a part in a heap if that takes too long.
fn partition_until_short<T>(items: &mut [T], depth: u32, less: &mut impl FnMut(&T, &T) -> bool) {
    let (mut items, mut depth) = (items, depth);
    while items.len() > SHORT {
        if depth == 0 {
            return sort_in_heap(items, less);
        }
        depth -= 1;
        let cut = partition(items, less);
        let (first, last) = items.split_at_mut(cut);
        partition_until_short(last, depth, less);
        items = first;
    }
}

/// Moves items that come before the median of three to the front. Returns where the others begin.
fn partition<T>(items: &mut [T], less: &mut impl FnMut(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let median = if less(&items[a], &items[b]) {
        if less(&items[b], &items[c]) {
            b
        } else if less(&items[a], &items[c]) {
            c
        } else {
            a
        }
    } else if less(&items[a], &items[c]) {
        a
    } else if less(&items[b], &items[c]) {
        c
    } else {
        b
    };
    items.swap(0, median);
    let (mut first, mut last) = (1, items.len());
    loop {
        // The bounds only matter for a comparison that contradicts itself.
        while first < items.len() - 1 && less(&items[first], &items[0]) {
            first += 1;
        }
        last -= 1;
        while last > 0 && less(&items[0], &items[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

/// Inserts each item among those before it.
fn insert_all<T>(items: &mut [T], less: &mut impl FnMut(&T, &T) -> bool) {
    for at in 1..items.len() {
        let to = if at < SHORT && less(&items[at], &items[0]) {
            0
        } else {
            let before = items[..at].iter().rev().take_while(|before| less(&items[at], before)).count();
            at - before
        };
        items[to..=at].rotate_right(1);
    }
}

/// Sorts items as a heap.
fn sort_in_heap<T>(items: &mut [T], less: &mut impl FnMut(&T, &T) -> bool) {
    for top in (0..items.len() / 2).rev() {
        sift(items, top, less);
    }
    for last in (1..items.len()).rev() {
        items.swap(0, last);
        sift(&mut items[..last], 0, less);
    }
}

/// Moves an item of a heap down to the end, then up to its place.
fn sift<T>(items: &mut [T], top: usize, less: &mut impl FnMut(&T, &T) -> bool) {
    let mut at = top;
    while 2 * at + 2 < items.len() {
        let right = 2 * at + 2;
        let child = if less(&items[right], &items[right - 1]) { right - 1 } else { right };
        items.swap(at, child);
        at = child;
    }
    if 2 * at + 2 == items.len() {
        items.swap(at, 2 * at + 1);
        at = 2 * at + 1;
    }
    while at > top && less(&items[(at - 1) / 2], &items[at]) {
        items.swap(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a of the numbers of the items, 4 bytes each, the lowest first.
    fn hash(numbers: impl Iterator<Item = u32>) -> u64 {
        let bytes = numbers.flat_map(u32::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    fn sorted(keys: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut items: Vec<(u32, u32)> = keys.zip(0..).collect();
        sort(&mut items, |a, b| a.0 < b.0);
        assert!(items.is_sorted_by_key(|(key, _)| *key));
        items.into_iter().map(|(_, number)| number).collect()
    }

    /// Keys of a linear congruential generator, with many equal ones.
    fn keys(count: usize, distinct: u32) -> impl Iterator<Item = u32> {
        let next = |x: &u32| Some(x.wrapping_mul(1_103_515_245).wrapping_add(12345));
        std::iter::successors(next(&1), next).map(move |x| (x >> 16) % distinct).take(count)
    }

    /// The numbers were printed by a C++ program with `std::sort` of GCC 12.2.
    #[test]
    fn equal_items_are_ordered_as_by_libstdcxx() {
        assert_eq!(sorted(keys(16, 3)), [1, 2, 3, 4, 9, 12, 5, 10, 15, 0, 6, 7, 8, 11, 13, 14]);
        assert_eq!(sorted(keys(17, 1)), [8, 16, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1]);
        let expected = [
            39, 29, 13, 8, 12, 30, 10, 27, 18, 16, 14, 31, 37, 38, 2, 20, 32, 33, 36, 28, 25, 1, 0, 19, 21, 9, 6, 11,
            3, 4, 5, 35, 34, 7, 15, 17, 26, 24, 23, 22,
        ];
        assert_eq!(sorted(keys(40, 4)), expected);
        assert_eq!(hash(sorted(keys(1000, 7)).into_iter()), 0x6089_1707_4259_ef91);
        assert_eq!(hash(sorted(keys(100_000, 50)).into_iter()), 0xefe9_4005_db98_0389);
    }

    /// As above, with the keys that make partitioning slowest, found by answering comparisons to that end ("A killer
    /// adversary for quicksort", 1999), and then divided by 3.
    #[test]
    fn a_list_that_partitions_badly_is_sorted_in_a_heap() {
        const COUNT: u32 = 2000;
        let mut keys = vec![COUNT; COUNT as usize];
        let (mut solid, mut candidate) = (0, 0);
        let mut items: Vec<usize> = (0..keys.len()).collect();
        sort(&mut items, |&a, &b| {
            if keys[a] == COUNT && keys[b] == COUNT {
                keys[if a == candidate { a } else { b }] = solid;
                solid += 1;
            }
            if keys[a] == COUNT {
                candidate = a;
            } else if keys[b] == COUNT {
                candidate = b;
            }
            keys[a] < keys[b]
        });
        assert_eq!(keys[..8], [1519, 1, 1037, 3, 1759, 5, 1035, 7]);
        assert_eq!(hash(sorted(keys.iter().map(|key| key / 3)).into_iter()), 0x54a9_8104_850c_dc51);
    }

    #[test]
    fn a_comparison_that_contradicts_itself_ends() {
        let mut items: Vec<u32> = (0..500).collect();
        sort(&mut items, |_, _| true);
        items.sort_unstable();
        assert!(items.into_iter().eq(0..500));
    }
}
