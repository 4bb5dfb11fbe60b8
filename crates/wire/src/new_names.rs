//! Names of attributes that were never seen before: they stay in memory until the process ends, so there is a limit on those that
//! servers send. Within a short time they can be few only; over months, an honest pool may have any number.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of new names that may come at once.
const MAX: usize = 8 << 20;

/// The time after which as many may come again.
const PERIOD: Duration = Duration::from_hours(1);

/// The limit, in words.
pub(crate) const TOO_MANY: &str = "too many different attribute names, more than 8 MiB of new ones within an hour";

/// The new names that all conversations of a client have met.
#[derive(Debug)]
pub(crate) struct NewNames(Mutex<Met>);

#[derive(Debug)]
struct Met {
    /// Their bytes, less what time has given back.
    bytes: usize,
    /// The time up to which it has.
    until: Instant,
}

impl Default for NewNames {
    fn default() -> Self {
        NewNames(Mutex::new(Met { bytes: 0, until: Instant::now() }))
    }
}

impl NewNames {
    /// Counts bytes of new names; false if they are too many.
    pub(crate) fn count(&self, bytes: usize) -> bool {
        self.count_at(bytes, Instant::now())
    }

    fn count_at(&self, bytes: usize, now: Instant) -> bool {
        let mut met = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.saturating_duration_since(met.until).as_nanos();
        let back = usize::try_from(elapsed * MAX as u128 / PERIOD.as_nanos()).unwrap_or(usize::MAX);
        met.bytes = met.bytes.saturating_sub(back).saturating_add(bytes);
        met.until = met.until.max(now);
        met.bytes <= MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_names_are_too_many() {
        let (names, began) = (NewNames::default(), Instant::now());
        // Eight times 1 MiB, whatever the time; then as much as comes back.
        assert!((0..8).all(|_| names.count_at(1 << 20, began)));
        assert!(!names.count_at(1 << 20, began));
        assert!(!names.count_at(1, began + PERIOD / 16));
        // However long they stayed away.
        let later = began + Duration::from_hours(1000);
        assert!((0..8).all(|_| names.count_at(1 << 20, later)));
        assert!(!names.count_at(1 << 20, later));
    }

    #[test]
    fn honest_names_are_not_in_any_time() {
        let (names, began) = (NewNames::default(), Instant::now());
        // A thousand names of 200 bytes in a reading of 2 minutes: 6 MB an hour, 13 GB in three months.
        for reading in 0..65_000 {
            assert!(names.count_at(200_000, began + Duration::from_mins(2 * reading)), "{reading}");
        }
    }
}
