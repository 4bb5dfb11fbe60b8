//! Work on all threads, or on one thread without the feature `parallel`. The results do not depend on it.

/// The results of the function for all items, in their order.
pub(crate) fn map_all<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        items.par_iter().map(function).collect()
    }
    #[cfg(not(feature = "parallel"))]
    items.iter().map(function).collect()
}

/// Calls the function once on every thread, and returns when all calls have ended.
pub(crate) fn on_all(function: impl Fn() + Sync) {
    #[cfg(feature = "parallel")]
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| function());
        }
    });
    #[cfg(not(feature = "parallel"))]
    function();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(map_all(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}
