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
        numbers.sort_unstable_by(f64::total_cmp);
        Self::of_sorted(&numbers)
    }

    /// As [`Spread::of`], of ascending numbers.
    pub fn of_sorted(numbers: &[f64]) -> Self {
        if numbers.is_empty() {
            return Self::default();
        }
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

/// Gini's coefficient of numbers of 0 or more: 0 if all are equal, towards 1 if one has everything; 0 if there is nothing.
///
/// ```
/// use classmate_pool::internal::simulate::spread::gini;
/// assert_eq!((gini(vec![2.0, 2.0]), gini(vec![0.0, 3.0]), gini(vec![])), (0.0, 0.5, 0.0));
/// ```
pub fn gini(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let count = numbers.len() as f64;
    let (sum, ranked) = numbers
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(sum, ranked), (at, number)| (sum + number, ranked + (at as f64 + 1.0) * number));
    if sum == 0.0 { 0.0 } else { 2.0 * ranked / (count * sum) - (count + 1.0) / count }
}

/// The numbers that 0, 5, 10, … 100 % of ascending ones are not above, each the nearest rank; none without numbers.
pub fn quantiles(numbers: &[f64]) -> Vec<f64> {
    let rank = |percent: usize| (numbers.len() * percent).div_ceil(100).clamp(1, numbers.len());
    if numbers.is_empty() { Vec::new() } else { (0..=100).step_by(5).map(|at| numbers[rank(at) - 1]).collect() }
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

    #[test]
    fn giant_shares_raise_the_coefficient() {
        // 1, 2, 3, 4: 2 · (1 + 4 + 9 + 16) / (4 · 10) - 5 / 4
        assert!((gini(vec![4.0, 1.0, 3.0, 2.0]) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_numbers_that_occur() {
        let found = quantiles(&(1..=40).map(f64::from).collect::<Vec<_>>());
        assert_eq!((found.len(), found[0], found[1], found[10], found[20]), (21, 1.0, 2.0, 20.0, 40.0));
        assert_eq!(quantiles(&[7.0]), [7.0; 21]);
    }
}
