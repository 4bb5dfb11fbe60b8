//! A small random sequence: the same numbers from the same seed, on every machine.

use classmate::internal::random::SplitMix64;

/// The random numbers of one ad.
#[derive(Debug, Clone)]
pub(super) struct Random(SplitMix64);

impl Random {
    /// The sequence of a seed and a number: each ad has its own, so that ads do not depend on how many there are.
    pub(super) fn of(seed: u64, kind: u64, number: u64) -> Self {
        let seed = SplitMix64::new(seed ^ kind.wrapping_mul(0xD6E8_FEB8_6659_FD93)).next_u64();
        let mut random = SplitMix64::new(seed);
        random.skip(number);
        random.next_u64();
        Random(random)
    }

    /// 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 if that is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Returns whether an event of this probability happens.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// One of a list of choices with weights.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[(u32, T)]) -> Option<T> {
        let total: u64 = choices.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut at = self.below(total);
        choices.iter().find_map(|(weight, choice)| {
            let here = at < u64::from(*weight);
            at = at.saturating_sub(u64::from(*weight));
            here.then_some(*choice)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_as_often_as_they_weigh() {
        let mut random = Random::of(1, 2, 3);
        let heavy = (0..10_000).filter(|_| random.pick(&[(3, true), (1, false)]) == Some(true)).count();
        // 7,500 expected, standard deviation 43.
        assert!((7_300..7_700).contains(&heavy), "{heavy}");
        assert_eq!(random.pick::<u8>(&[]), None);
    }

    #[test]
    fn sequences_of_neighbours_differ() {
        assert_ne!(Random::of(1, 1, 1).next(), Random::of(1, 1, 2).next());
        assert_ne!(Random::of(1, 1, 1).next(), Random::of(2, 1, 1).next());
        assert_eq!(Random::of(1, 1, 1).next(), Random::of(1, 1, 1).next());
    }
}
