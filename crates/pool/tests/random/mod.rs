//! A small random sequence for tests.

use classmate::internal::random::SplitMix64;

/// Random numbers for tests.
pub(crate) struct Random(SplitMix64);

impl Random {
    /// The sequence of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMix64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D))
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }
}
