//! Random numbers: the same sequence from the same seed, on every machine.

/// The generator `SplitMix64` by Sebastiano Vigna.
///
/// ```
/// use classmate::internal::random::SplitMix64;
/// assert_eq!(SplitMix64::new(0).next_u64(), 0xe220_a839_7b1d_cdaf);
/// let mut generator = SplitMix64::new(42);
/// assert_eq!([generator.uniform(), generator.uniform()], [0.7415648787718233, 0.1599103928769201]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitMix64(u64);

/// The step of the generator.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// The generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.skip(1);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Skips a number of draws.
    pub fn skip(&mut self, draws: u64) {
        self.0 = self.0.wrapping_add(GAMMA.wrapping_mul(draws));
    }

    /// The next number, uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * UNIT
    }

    /// The next number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_equals_drawing() {
        let (mut skipped, mut drawn) = (SplitMix64::new(7), SplitMix64::new(7));
        skipped.skip(3);
        for _ in 0..3 {
            drawn.next_u64();
        }
        assert_eq!(skipped, drawn);
        assert!((0..1000).all(|_| skipped.below(10) < 10) && skipped.below(0) == 0);
    }
}
