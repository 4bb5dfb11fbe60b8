//! Names of attributes that were never seen before: they stay in memory until the process ends, so there is a limit on those that
//! servers send. Beyond it, ads are read whose names are all known.

use std::sync::atomic::{AtomicUsize, Ordering};

use classmate::internal::format::long::is_known;
use classmate::internal::name::interned;

/// Bytes of new names.
const MAX: usize = 16 << 20;

/// The limit, in words.
pub(crate) const TOO_MANY: &str = "too many different attribute names, more than 16 MiB of them in this process";

/// Bytes of the new names that servers have sent.
#[derive(Debug)]
pub(crate) struct NewNames(AtomicUsize);

/// Those that this process has met in all conversations.
pub(crate) static OF_PROCESS: NewNames = NewNames::none();

impl NewNames {
    pub(crate) const fn none() -> Self {
        NewNames(AtomicUsize::new(0))
    }

    /// As after so many names that there is room for none.
    #[cfg(test)]
    pub(crate) const fn full() -> Self {
        NewNames(AtomicUsize::new(MAX))
    }

    /// Begins to count again: each input of a fuzzer is as one of a new process.
    pub(crate) fn restart(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Reads a line, and counts its new names; false if they would be too many.
    pub(crate) fn read(&self, line: &[u8], read: impl FnOnce(&[u8])) -> bool {
        if self.0.load(Ordering::Relaxed) >= MAX && !is_known(line) {
            return false;
        }
        let before = interned();
        read(line);
        let new = interned() - before;
        if new > 0 {
            self.0.fetch_add(new, Ordering::Relaxed);
        }
        true
    }
}
