//! Memory that several threads share: a thread waits for its part until others have given back theirs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug)]
struct Account {
    total: usize,
    left: Mutex<usize>,
    returned: Condvar,
}

/// A number of bytes that are taken and given back.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<Account>);

impl Default for Budget {
    /// One share.
    fn default() -> Self {
        Budget::of(1)
    }
}

impl Budget {
    pub(crate) fn of(total: usize) -> Self {
        Budget(Arc::new(Account { total, left: Mutex::new(total), returned: Condvar::new() }))
    }

    /// Takes so many bytes, or all of them if it has fewer. `None` if that is not possible in this time.
    pub(crate) fn take(&self, bytes: usize, time: Duration) -> Option<Share> {
        let Account { total, left, returned } = &*self.0;
        let bytes = bytes.min(*total);
        let left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = returned.wait_timeout_while(left, time, |left| *left < bytes);
        let (mut left, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *left = left.checked_sub(bytes)?;
        Some(Share { budget: self.clone(), bytes })
    }
}

/// Bytes that were taken from a budget, which gets them back when this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.budget.0.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.0.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_missing_until_it_is_given_back() {
        let budget = Budget::of(10);
        let six = budget.take(6, Duration::ZERO).unwrap();
        let _four = budget.take(4, Duration::ZERO).unwrap();
        assert!(budget.take(1, Duration::from_millis(1)).is_none());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(5, Duration::MAX).is_some());
            drop(six);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn more_than_all_is_all() {
        let budget = Budget::of(10);
        let all = budget.take(1000, Duration::ZERO);
        assert!(all.is_some() && budget.take(1, Duration::ZERO).is_none());
        drop(all);
        assert!(budget.take(10, Duration::ZERO).is_some());
    }
}
