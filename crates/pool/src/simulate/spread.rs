//! Many numbers in a few: mean, median, high percentile, largest; and how even they are.

use serde::{Deserialize, Serialize};

/// Summary of many numbers; all 0 without any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// The one in the middle, or the mean of the two there.
    pub median: f64,
    /// The least of them that 95 % are not above.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Sums up.
    ///
    /// ```
    /// use classmate_pool::internal::simulate::spread::Spread;
    /// let spread = Spread::of(vec![4.0, 1.0, 3.0, 0.0]);
    /// assert_eq!(spread, Spread { mean: 2.0, median: 2.0, p95: 4.0, max: 4.0 });
    /// ```
    pub fn of(mut numbers: Vec<f64>) -> Self {
        if numbers.is_empty() {
            return Self::default();
        }
        numbers.sort_unstable_by(f64::total_cmp);
        let count = numbers.len();
        let rank = (count * 95).div_ceil(100).clamp(1, count);
        Self {
            mean: numbers.iter().sum::<f64>() / count as f64,
            median: f64::midpoint(numbers[(count - 1) / 2], numbers[count / 2]),
            p95: numbers[rank - 1],
            max: numbers[count - 1],
        }
    }
}

/// Jain's index of fairness, `(Σx)² / (n·Σx²)`: 1 if all are equal, 1/n if one has everything; 1 if there is nothing.
///
/// ```
/// use classmate_pool::internal::simulate::spread::jain;
/// assert_eq!((jain(&[2.0, 2.0]), jain(&[3.0, 0.0])), (1.0, 0.5));
/// ```
pub fn jain(parts: &[f64]) -> f64 {
    let (sum, squares) = parts.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 { 1.0 } else { sum * sum / (parts.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_95th_percentile_is_the_nearest_rank() {
        // 95 % of 20 numbers are 19, of 21 numbers 19.95: the 20th.
        assert_eq!(Spread::of((1..=20).map(f64::from).collect()).p95, 19.0);
        assert_eq!(Spread::of((1..=21).map(f64::from).collect()).p95, 20.0);
        assert_eq!(Spread::of(vec![7.0]), Spread { mean: 7.0, median: 7.0, p95: 7.0, max: 7.0 });
    }
}
