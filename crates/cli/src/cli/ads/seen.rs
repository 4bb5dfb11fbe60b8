//! Texts that were printed before.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

/// Texts that were printed, each by 128 bits that no other text has but by a chance of one in 10^26 among a million.
#[derive(Default)]
pub(super) struct Seen(HashSet<(u64, u64)>);

impl Seen {
    /// True if a text is new.
    pub(super) fn insert(&mut self, text: &[u8]) -> bool {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(salt);
            hasher.write(text);
            hasher.finish()
        };
        self.0.insert((half(0), half(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_new_once() {
        let mut seen = Seen::default();
        assert!(seen.insert(b"a") && seen.insert(b"") && seen.insert(b"ab") && !seen.insert(b"a") && !seen.insert(b""));
    }
}
