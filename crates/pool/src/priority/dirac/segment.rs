//! CPU-time segments: requests are rounded up to one of a few lengths (`docs/reference/dirac-shares.md` 2).

/// The segments of DIRAC, in seconds.
const DEFAULT: [i64; 13] =
    [360, 1_800, 3_600, 21_600, 43_200, 86_400, 172_800, 259_200, 345_600, 518_400, 691_200, 864_000, 1_080_000];

/// Lengths of CPU time, in seconds, increasing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments(Vec<i64>);

impl Default for Segments {
    fn default() -> Self {
        Self(DEFAULT.to_vec())
    }
}

impl Segments {
    /// These segments, or DIRAC's own if the list is empty or does not strictly increase from above 0.
    pub fn new(list: &[i64]) -> Self {
        let usable = list.first().is_some_and(|first| *first > 0) && list.is_sorted_by(|a, b| a < b);
        if usable { Self(list.to_vec()) } else { Self::default() }
    }

    /// The smallest segment not below a request in seconds; the last one if the request is larger.
    ///
    /// ```
    /// use classmate_pool::internal::priority::dirac::Segments;
    /// let fit = |seconds| Segments::default().fit(seconds);
    /// assert_eq!([0.0, 360.0, 361.0, 2_000_000.0].map(fit), [360, 360, 1800, 1_080_000]);
    /// ```
    pub fn fit(&self, seconds: f64) -> i64 {
        let at = self.0.partition_point(|&segment| (segment as f64) < seconds);
        self.0.get(at).or(self.0.last()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_do_not_increase_are_ignored() {
        for list in [&[][..], &[0, 5], &[-1, 5], &[5, 5], &[9, 5]] {
            assert_eq!(Segments::new(list), Segments::default(), "{list:?}");
        }
        assert_eq!(Segments::new(&[500, 900]).fit(1000.0), 900);
    }

    #[test]
    fn requests_of_any_size_have_a_segment() {
        let segments = Segments::default();
        assert_eq!(segments.fit(-5.0), 360);
        assert_eq!(segments.fit(f64::INFINITY), 1_080_000);
        assert_eq!(segments.fit(f64::NAN), 360);
        assert_eq!(segments.fit(86_400.5), 172_800);
    }
}
