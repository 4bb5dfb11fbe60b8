//! Linear inequalities over variables, by the elimination of one variable after another (Fourier and Motzkin).
//!
//! In: inequalities with exact coefficients. Out: the certainty that no numbers satisfy them all, or such numbers. Where
//! the work or the coefficients become too large, neither.

use std::cmp::Ordering;

/// Maximum number of inequalities that one elimination may make.
const MAX_INEQUALITIES: usize = 200;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    pub(super) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(super) const ONE: Self = Self { numerator: 1, denominator: 1 };

    fn of(numerator: i128, denominator: i128) -> Option<Self> {
        let (mut one, mut other) = (numerator.checked_abs()?, denominator.checked_abs()?);
        while other != 0 {
            (one, other) = (other, one % other);
        }
        if denominator == 0 {
            return None;
        }
        let sign = denominator.signum();
        Some(Self { numerator: sign * (numerator / one), denominator: sign * (denominator / one) })
    }

    pub(super) fn whole(number: i64) -> Self {
        Self { numerator: number.into(), denominator: 1 }
    }

    /// The number that a real is written as: 1.2 is six fifths.
    pub(super) fn written(number: f64) -> Option<Self> {
        let text = format!("{number}");
        let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
        let denominator = 10i128.checked_pow(u32::try_from(part.len()).ok()?)?;
        Self::of(format!("{whole}{part}").parse().ok()?, denominator)
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::of(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Self::of(numerator, self.denominator.checked_mul(other.denominator)?)
    }

    pub(super) fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(super) fn inverse(self) -> Option<Self> {
        Self::of(self.denominator, self.numerator)
    }

    fn is_positive(self) -> bool {
        self.numerator > 0
    }

    fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The magnitude, rounded.
    pub(super) fn real(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        self.plus(other.negated()).map(|difference| difference.numerator.cmp(&0))
    }

    fn floor(self) -> Self {
        Self { numerator: self.numerator.div_euclid(self.denominator), denominator: 1 }
    }
}

/// A sum of variables with coefficients, and a constant.
#[derive(Clone, Debug)]
pub(super) struct LinearSum {
    /// In the order of variables, none with the coefficient zero.
    pub(super) terms: Vec<(usize, Fraction)>,
    pub(super) constant: Fraction,
}

impl LinearSum {
    pub(super) fn constant(constant: Fraction) -> Self {
        Self { terms: Vec::new(), constant }
    }

    pub(super) fn variable(variable: usize) -> Self {
        Self { terms: vec![(variable, Fraction::ONE)], constant: Fraction::ZERO }
    }

    fn coefficient(&self, variable: usize) -> Fraction {
        self.terms.iter().find(|(of, _)| *of == variable).map_or(Fraction::ZERO, |(_, coefficient)| *coefficient)
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.plus(other.constant)?;
        for &(variable, coefficient) in &other.terms {
            match sum.terms.binary_search_by_key(&variable, |(of, _)| *of) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.plus(coefficient)?,
                Err(at) => sum.terms.insert(at, (variable, coefficient)),
            }
        }
        sum.terms.retain(|(_, coefficient)| !coefficient.is_zero());
        Some(sum)
    }

    pub(super) fn times(&self, factor: Fraction) -> Option<Self> {
        let terms: Option<Vec<_>> =
            self.terms.iter().map(|(variable, coefficient)| Some((*variable, coefficient.times(factor)?))).collect();
        let mut product = Self { terms: terms?, constant: self.constant.times(factor)? };
        product.terms.retain(|(_, coefficient)| !coefficient.is_zero());
        Some(product)
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.times(Fraction::ONE.negated())?)
    }
}

/// `sum <= 0`, or `sum < 0` if strict.
#[derive(Clone, Debug)]
pub(super) struct Inequality {
    pub(super) sum: LinearSum,
    pub(super) is_strict: bool,
}

/// The answer about some inequalities.
#[derive(Clone, Debug)]
pub(super) enum Solution {
    /// No numbers satisfy them.
    None,
    /// These do: the variables in them with their numbers.
    Numbers(Vec<(usize, Fraction)>),
    /// Too much work.
    Open,
}

/// Solves inequalities; whole numbers are preferred.
pub(super) fn solve(inequalities: &[Inequality]) -> Solution {
    solved(inequalities.to_vec()).unwrap_or(Solution::Open)
}

fn solved(mut all: Vec<Inequality>) -> Option<Solution> {
    // The inequalities of each variable when it was eliminated, from which its number is chosen in the end.
    let mut eliminated: Vec<(usize, Vec<Inequality>)> = Vec::new();
    while let Some(variable) = cheapest(&all) {
        let (with, mut without): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|inequality| !inequality.sum.coefficient(variable).is_zero());
        let (above, below): (Vec<_>, Vec<_>) =
            with.iter().partition(|inequality| inequality.sum.coefficient(variable).is_positive());
        if without.len() + above.len() * below.len() > MAX_INEQUALITIES {
            return None;
        }
        for upper in &above {
            for lower in &below {
                let scale =
                    upper.sum.coefficient(variable).times(lower.sum.coefficient(variable).inverse()?.negated())?;
                let sum = upper.sum.plus(&lower.sum.times(scale)?)?;
                without.push(Inequality { sum, is_strict: upper.is_strict || lower.is_strict });
            }
        }
        eliminated.push((variable, with));
        all = without;
    }
    let fails = |inequality: &Inequality| {
        let constant = inequality.sum.constant;
        constant.is_positive() || inequality.is_strict && constant.is_zero()
    };
    if all.iter().any(fails) {
        return Some(Solution::None);
    }
    let mut numbers: Vec<(usize, Fraction)> = Vec::new();
    while let Some((variable, inequalities)) = eliminated.pop() {
        numbers.push((variable, number_of(variable, &inequalities, &numbers)?));
    }
    Some(Solution::Numbers(numbers))
}

/// The variable whose elimination makes the fewest inequalities.
fn cheapest(all: &[Inequality]) -> Option<usize> {
    let mut counts: std::collections::BTreeMap<usize, (usize, usize)> = std::collections::BTreeMap::new();
    for (variable, coefficient) in all.iter().flat_map(|inequality| &inequality.sum.terms) {
        let (above, below) = counts.entry(*variable).or_default();
        *(if coefficient.is_positive() { above } else { below }) += 1;
    }
    counts.into_iter().min_by_key(|(_, (above, below))| above * below).map(|(variable, _)| variable)
}

/// An end of the numbers of a variable, and whether it is none of them.
type Bound = Option<(Fraction, bool)>;

/// A number of a variable within its bounds, where other variables have numbers: zero, a whole number near a bound, or
/// the middle.
fn number_of(variable: usize, inequalities: &[Inequality], numbers: &[(usize, Fraction)]) -> Option<Fraction> {
    let (mut low, mut high): (Bound, Bound) = (None, None);
    for inequality in inequalities {
        let mut rest = inequality.sum.constant;
        for (other, coefficient) in inequality.sum.terms.iter().filter(|(other, _)| *other != variable) {
            // A variable without bounds of its own is zero.
            let number = numbers.iter().find(|(of, _)| of == other).map_or(Fraction::ZERO, |(_, number)| *number);
            rest = rest.plus(coefficient.times(number)?)?;
        }
        let coefficient = inequality.sum.coefficient(variable);
        let bound = rest.negated().times(coefficient.inverse()?)?;
        let (side, tighter) =
            if coefficient.is_positive() { (&mut high, Ordering::Less) } else { (&mut low, Ordering::Greater) };
        let order = side.map_or(Some(tighter), |(before, _)| bound.compare(before))?;
        if order == tighter {
            *side = Some((bound, inequality.is_strict));
        } else if order == Ordering::Equal {
            *side = side.map(|(bound, is_strict)| (bound, is_strict || inequality.is_strict));
        }
    }
    let fits = |number: Fraction| -> Option<bool> {
        let above = match low {
            Some((low, is_strict)) => {
                number.compare(low)? >= if is_strict { Ordering::Greater } else { Ordering::Equal }
            }
            None => true,
        };
        let below = match high {
            Some((high, is_strict)) => {
                number.compare(high)? <= if is_strict { Ordering::Less } else { Ordering::Equal }
            }
            None => true,
        };
        Some(above && below)
    };
    let next = low.map(|(low, _)| low.floor().plus(Fraction::ONE));
    let last = high.map(|(high, _)| high.plus(Fraction::ONE.negated()).map(|high| high.negated().floor().negated()));
    let middle =
        low.zip(high).map(|((low, _), (high, _))| low.plus(high)?.times(Fraction { numerator: 1, denominator: 2 }));
    let same = low.map(|(low, _)| Some(low));
    for candidate in [Some(Some(Fraction::ZERO)), same, next, last, middle].into_iter().flatten() {
        let candidate = candidate?;
        if fits(candidate)? {
            return Some(candidate);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a * x + b * y + c < 0`, or `<= 0`.
    fn inequality(terms: [i64; 2], constant: f64, is_strict: bool) -> Inequality {
        let mut sum = LinearSum::constant(Fraction::written(constant).unwrap());
        for (variable, factor) in terms.into_iter().enumerate() {
            let term = LinearSum::variable(variable).times(Fraction::whole(factor)).unwrap();
            sum = sum.plus(&term).unwrap();
        }
        Inequality { sum, is_strict }
    }

    #[test]
    fn what_adds_up_to_a_contradiction_has_no_solution() {
        // x < y and y <= x
        let all = [inequality([1, -1], 0.0, true), inequality([-1, 1], 0.0, false)];
        assert!(matches!(solve(&all), Solution::None));
        // x <= y and y <= x have x = y.
        let all = [inequality([1, -1], 0.0, false), inequality([-1, 1], 0.0, false)];
        assert!(matches!(solve(&all), Solution::Numbers(_)));
        // x > 1.2, 2x <= y, y < 2.4
        let all = [inequality([-1, 0], 1.2, true), inequality([2, -1], 0.0, false), inequality([0, 1], -2.4, true)];
        assert!(matches!(solve(&all), Solution::None));
    }

    #[test]
    fn numbers_satisfy_the_inequalities() {
        // x > 1024 y, x <= 2048 y, y >= 0.5
        let all =
            [inequality([-1, 1024], 0.0, true), inequality([1, -2048], 0.0, false), inequality([0, -1], 0.5, false)];
        let Solution::Numbers(numbers) = solve(&all) else { panic!("there are such numbers") };
        let number = |variable: usize| numbers.iter().find(|(of, _)| *of == variable).unwrap().1.real();
        assert!(number(0) > 1024.0 * number(1) && number(0) <= 2048.0 * number(1) && number(1) >= 0.5);
    }

    #[test]
    fn reals_are_what_is_written() {
        assert_eq!(Fraction::written(1.2), Fraction::of(6, 5));
        assert_eq!(Fraction::written(-0.5), Fraction::of(-1, 2));
        assert_eq!(Fraction::written(1e300), None);
        assert_eq!(Fraction::written(f64::NAN), None);
    }
}
