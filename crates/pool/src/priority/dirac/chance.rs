//! Probability of each queue to be tried first (`docs/reference/dirac-shares.md` 5, "Choice of the queue").

use std::sync::LazyLock;

use classmate_config::internal::config::dirac::{Lottery, Order, PolicyOptions};

/// Nodes of the quadrature in each panel.
const NODES: usize = 32;

/// Nodes in 0 to 1 and weights of the Gauss–Legendre quadrature, exact for polynomials of degree 63.
static QUADRATURE: LazyLock<[(f64, f64); NODES]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        // Newton's method for the roots of the Legendre polynomial, from a good guess.
        let mut x = (std::f64::consts::PI * (at as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut before, mut value) = (1.0, x);
            for degree in 2..=NODES {
                let degree = degree as f64;
                (before, value) = (value, ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree);
            }
            slope = NODES as f64 * (x * value - before) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        (f64::midpoint(1.0, x), 1.0 / ((1.0 - x * x) * slope * slope))
    })
});

/// The chance of each queue to be tried first when queues are sorted by uniform number / priority.
///
/// `P(i) = p_i · ∫ from 0 to 1/max(p) of Π over j ≠ i of (1 − p_j·x) dx`. Priorities are not negative; if all are 0 the
/// chances are equal.
///
/// ```
/// use classmate_pool::internal::priority::dirac::first_chances;
/// let chances = first_chances(&[3.0, 1.0]);
/// assert!((chances[0] - 5.0 / 6.0).abs() < 1e-12, "not 3/4: this is no lottery in proportion to priority");
/// ```
pub fn first_chances(priorities: &[f64]) -> Vec<f64> {
    let top = priorities.iter().copied().fold(0.0, f64::max);
    if top <= 0.0 {
        return vec![1.0 / priorities.len().max(1) as f64; priorities.len()];
    }
    let relative: Vec<f64> = priorities.iter().map(|priority| priority / top).collect();
    // Equal priorities have equal chances: each number is computed once.
    let mut distinct = relative.clone();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup_by(|one, other| one.to_bits() == other.to_bits());
    let find = |q: &f64| distinct.binary_search_by(|other| other.total_cmp(q)).unwrap_or(0);
    let places: Vec<usize> = relative.iter().map(find).collect();
    let mut chances = vec![0.0; distinct.len()];
    let mut logarithms = vec![0.0; distinct.len()];
    // The product falls like exp(-x · sum): panels that double from where that begins.
    let sum: f64 = relative.iter().sum();
    // The last panel is never so short that a node in it rounds to 1, where the logarithm has no value.
    let last = |to: f64| if to > 0.75 { 1.0 } else { to };
    let (mut from, mut to) = (0.0, last(4.0 / sum));
    while from < 1.0 {
        for (node, weight) in *QUADRATURE {
            let x = from + (to - from) * node;
            for (logarithm, q) in logarithms.iter_mut().zip(&distinct) {
                *logarithm = (-q * x).ln_1p();
            }
            let product: f64 = places.iter().map(|place| logarithms[*place]).sum();
            for ((chance, q), logarithm) in chances.iter_mut().zip(&distinct).zip(&logarithms) {
                *chance += (to - from) * weight * q * (product - logarithm).exp();
            }
        }
        (from, to) = (to, last(2.0 * to));
    }
    places.into_iter().map(|place| chances[place]).collect()
}

/// The chance of each queue to be tried first, as the policy draws.
pub fn chances(priorities: &[f64], options: PolicyOptions) -> Vec<f64> {
    match (options.order, options.lottery) {
        (Order::Random, Lottery::Observed) => first_chances(priorities),
        (Order::Random, Lottery::Proportional) => {
            let sum: f64 = priorities.iter().sum();
            let equal = 1.0 / priorities.len().max(1) as f64;
            priorities.iter().map(|priority| if sum > 0.0 { priority / sum } else { equal }).collect()
        }
        (Order::Greedy, _) => {
            let top = priorities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let first = priorities.iter().position(|priority| *priority == top);
            (0..priorities.len()).map(|at| if Some(at) == first { 1.0 } else { 0.0 }).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(priorities: &[f64], expected: &[f64], within: f64) {
        let found = first_chances(priorities);
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < within;
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(same), "{found:?}, not {expected:?}");
    }

    /// `docs/reference/dirac-shares.md` 7.10.
    #[test]
    fn chances_are_not_proportional_to_priority() {
        near(&[3.0, 1.0], &[5.0 / 6.0, 1.0 / 6.0], 1e-14);
        near(&[100.0, 50.0, 50.0], &[0.583_333_333, 0.208_333_333, 0.208_333_333], 1e-9);
        near(&[10.0, 1.0, 1.0, 1.0], &[0.859_75, 0.046_75, 0.046_75, 0.046_75], 1e-12);
        near(&[1000.0, 250.0, 0.001], &[0.874_999_583, 0.124_999_958, 4.6e-7], 5e-9);
    }

    /// `docs/reference/dirac-shares.md` 7.12.
    #[test]
    fn three_quarters_of_the_shares_are_four_fifths_of_the_first_picks() {
        near(&[250.0, 250.0, 500.0, 1500.0, 1500.0], &[0.048_920, 0.048_920, 0.102_160, 0.4, 0.4], 1e-6);
    }

    #[test]
    fn thousands_of_queues_have_exact_chances() {
        let equal = first_chances(&vec![7.0; 5000]);
        assert!(equal.iter().all(|chance| (chance - 1.0 / 5000.0).abs() < 1e-13), "{}", equal[0]);
        let mut one = vec![1.0; 1001];
        one[0] = 1e6;
        // With q = 1e-6 each: 1/1001 · (1 - (1 - q)^1001) / q is the first's chance.
        let q: f64 = 1e-6;
        let expected = (1.0 - (1.0 - q).powi(1001)) / (1001.0 * q);
        assert!((first_chances(&one)[0] - expected).abs() < 1e-10);
    }

    /// The sum of these is just above 8: panels would end just below 1.
    #[test]
    fn panels_that_almost_reach_the_end_reach_it() {
        let mut priorities = vec![1.0; 8];
        priorities.push(3e-15);
        let found = first_chances(&priorities);
        assert!(found[..8].iter().all(|chance| (chance - 0.125).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn the_other_lotteries_have_simple_chances() {
        let options = |order, lottery| PolicyOptions { lottery, order, ..PolicyOptions::default() };
        assert_eq!(chances(&[3.0, 1.0], options(Order::Random, Lottery::Proportional)), [0.75, 0.25]);
        assert_eq!(chances(&[1.0, 3.0, 3.0], options(Order::Greedy, Lottery::Observed)), [0.0, 1.0, 0.0]);
        assert_eq!(chances(&[0.0, 0.0], PolicyOptions::default()), [0.5, 0.5]);
        assert_eq!(chances(&[], PolicyOptions::default()), [0.0; 0]);
    }
}
