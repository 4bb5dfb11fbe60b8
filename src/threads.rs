//! Work on all threads, or on one thread without the feature `parallel`. Results come in the order of what they are for,
//! whatever the number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Parts for each thread, so that threads with quick parts help those with slow ones.
const PARTS_PER_THREAD: usize = 32;

/// The number of threads that share work.
fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// Sets the number of threads of the program. Does nothing after the first work that was shared.
pub fn set_number(number: usize) {
    #[cfg(feature = "parallel")]
    let _ = rayon::ThreadPoolBuilder::new().num_threads(number).build_global();
    #[cfg(not(feature = "parallel"))]
    let _ = number;
}

/// Calls the function once on every thread, and returns when all calls have ended.
pub fn on_all(function: &(dyn Fn() + Sync)) {
    #[cfg(feature = "parallel")]
    rayon::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|_| function());
        }
    });
    #[cfg(not(feature = "parallel"))]
    function();
}

/// Drops a value while the program goes on.
pub fn drop_later(value: impl Send + 'static) {
    // A thread that shares work would leave it for later, and a program whose threads always have work would keep all of them.
    #[cfg(feature = "parallel")]
    if rayon::current_thread_index().is_none() {
        rayon::spawn(move || drop(value));
    }
    #[cfg(not(feature = "parallel"))]
    drop(value);
}

/// Calls the function with each number below the count. It is not generic, so that it is compiled once.
fn for_each(count: usize, function: &(dyn Fn(usize) + Sync)) {
    if count <= 1 || threads() == 1 {
        return (0..count).for_each(function);
    }
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count);
    on_all(&|| {
        while let Some(at) = take() {
            function(at);
        }
    });
}

/// The parts of the range of this length that threads share; see [`map_parts`].
fn parts(length: usize, least: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let parts = if threads() == 1 { 1 } else { (length / least.max(1)).clamp(1, threads() * PARTS_PER_THREAD) };
    (0..parts).map(move |at| length * at / parts..length * (at + 1) / parts)
}

/// The results of the function for the parts of the range of this length that threads share, in order. A part has `least` members
/// or more, unless there are fewer in all. Where parts meet depends on the number of threads.
pub fn map_parts<R: Send + Sync>(length: usize, least: usize, function: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let parts: Vec<_> = parts(length, least).map(|part| (part, OnceLock::new())).collect();
    for_each(parts.len(), &|at| {
        let (part, result) = &parts[at];
        let _ = result.set(function(part.clone()));
    });
    parts.into_iter().filter_map(|(_, result)| result.into_inner()).collect()
}

/// The results of the function for parts of the range of this length, one after the other.
pub fn flat_map_parts<R: Send + Sync>(
    length: usize,
    least: usize,
    function: impl Fn(Range<usize>) -> Vec<R> + Sync,
) -> Vec<R> {
    let mut parts = map_parts(length, least, function).into_iter();
    let mut all = parts.next().unwrap_or_default();
    all.reserve(parts.as_slice().iter().map(Vec::len).sum());
    parts.for_each(|part| all.extend(part));
    all
}

/// The results of the function for all numbers below the count, in their order.
pub fn map_range<R: Send + Sync>(count: usize, function: impl Fn(usize) -> R + Sync) -> Vec<R> {
    flat_map_parts(count, 1, |range| range.map(&function).collect())
}

/// The results of the function for all items, in their order.
pub fn map_all<'t, T: Sync, R: Send + Sync>(items: &'t [T], function: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
    map_range(items.len(), |at| function(&items[at]))
}

/// The results of the function for all items, which it takes over, in their order, without those that are `None`.
pub fn filter_map_into<T: Send, R: Send + Sync>(items: Vec<T>, function: impl Fn(T) -> Option<R> + Sync) -> Vec<R> {
    let ranges = parts(items.len(), 1);
    let mut items = items.into_iter();
    let parts = ranges.map(|range| Mutex::new(items.by_ref().take(range.len()).collect())).collect::<Vec<_>>();
    let take = |part: &Mutex<Vec<T>>| std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner));
    flat_map_parts(parts.len(), 1, |range| parts[range].iter().flat_map(take).filter_map(&function).collect())
}

/// Returns whether the function holds for an item.
pub fn any<T: Sync>(items: &[T], function: impl Fn(&T) -> bool + Sync) -> bool {
    let found = AtomicBool::new(false);
    map_parts(items.len(), 1, |range| {
        for item in &items[range] {
            if found.load(Ordering::Relaxed) || function(item) {
                return found.store(true, Ordering::Relaxed);
            }
        }
    });
    found.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map_all(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(map_all(&[0; 0], |item| *item), [0; 0]);
        assert_eq!(filter_map_into(items.clone(), Some), items);
        let odd = |item: usize| (item % 2 == 1).then_some(item / 2);
        assert_eq!(filter_map_into(items, odd), (0..500).collect::<Vec<usize>>());
    }

    #[test]
    fn parts_cover_the_range_and_are_not_shorter_than_the_least() {
        for (length, least) in [(0, 5), (3, 5), (10, 5), (1000, 1), (999, 100)] {
            let parts = map_parts(length, least, |range| range);
            assert_eq!(parts.iter().cloned().flatten().collect::<Vec<_>>(), (0..length).collect::<Vec<_>>());
            assert!(parts.iter().all(|part| part.len() >= least.min(length)), "{parts:?}");
        }
    }

    #[test]
    fn any_finds_the_only_one() {
        let items: Vec<usize> = (0..1000).collect();
        assert!(any(&items, |item| *item == 999));
        assert!(!any(&items, |item| *item == 1000));
    }

    #[test]
    fn work_may_be_shared_within_shared_work() {
        let sums = map_range(50, |of| map_range(of, |at| at).into_iter().sum::<usize>());
        assert_eq!(sums, (0..50_usize).map(|of| of * of.saturating_sub(1) / 2).collect::<Vec<_>>());
    }
}
