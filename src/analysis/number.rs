//! Arithmetic on ranges of numbers.

use super::values::{ALL_REALS, Values, hull, kind};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::arith;

/// `left op right` for `+ - * / %`.
pub fn arithmetic(op: BinaryOp, left: &Values, right: &Values) -> Values {
    if let (Some(one), Some(two)) = (left.single(), right.single()) {
        return Values::value(&arith::arithmetic(op, &one, &two));
    }
    let mut result = strict(left, right);
    if !left.has_defined() || !right.has_defined() {
        return result;
    }
    let other = |set: &Values| set.has_text() || set.has(kind::LIST | kind::AD);
    if other(left) || other(right) {
        result.kinds |= kind::ERROR;
    }
    result.kinds |= times(op, left, right);
    let (one, two) = (whole(left), whole(right));
    if let (Some(one), Some(two)) = (one, two) {
        result = result.union(&integers(op, one, two));
    }
    let real = |set: &Values| set.reals.is_some() || set.has(kind::NAN);
    if (real(left) && right.has_number()) || (real(right) && left.has_number()) {
        result = result.union(&reals(op, left, right));
    }
    result
}

/// The kinds of the results of operations with a point in time or a duration.
fn times(op: BinaryOp, left: &Values, right: &Values) -> u16 {
    let is_number = |set: &Values| set.has(kind::NAN) || set.ints.is_some() || set.reals.is_some();
    let kinds = |set: &Values| {
        let other = set.has(kind::TRUE | kind::FALSE | kind::LIST | kind::AD) || set.has_text();
        let number = is_number(set).then_some(kind::NAN);
        let times = [kind::ABS_TIME, kind::REL_TIME].map(|time| set.has(time).then_some(time));
        times.into_iter().chain([number, other.then_some(kind::ERROR)]).flatten().collect::<Vec<u16>>()
    };
    let mut found = 0;
    for left in kinds(left) {
        for right in kinds(right) {
            found |= match (op, left, right) {
                (_, kind::NAN | kind::ERROR, kind::NAN | kind::ERROR) => 0,
                (BinaryOp::Add, kind::ABS_TIME, kind::REL_TIME) | (BinaryOp::Add, kind::REL_TIME, kind::ABS_TIME) => {
                    kind::ABS_TIME
                }
                (BinaryOp::Subtract, kind::ABS_TIME, kind::REL_TIME) => kind::ABS_TIME,
                (BinaryOp::Subtract, kind::ABS_TIME, kind::ABS_TIME)
                | (BinaryOp::Add | BinaryOp::Subtract, kind::REL_TIME, kind::REL_TIME)
                | (BinaryOp::Multiply, kind::NAN, kind::REL_TIME)
                | (BinaryOp::Multiply | BinaryOp::Divide, kind::REL_TIME, kind::NAN) => kind::REL_TIME,
                _ => kind::ERROR,
            };
        }
    }
    found
}

/// `left op right` for the operators on bits.
pub fn bitwise(op: BinaryOp, left: &Values, right: &Values) -> Values {
    if let (Some(one), Some(two)) = (left.single(), right.single()) {
        return Values::value(&arith::bitwise(op, &one, &two));
    }
    let mut result = strict(left, right);
    if left.ints.is_some() && right.ints.is_some() {
        result = result.union(&Values::any_int());
    }
    let other = |set: &Values| Values { ints: None, ..set.clone() }.has_defined();
    if (other(left) && right.has_defined()) || (other(right) && left.has_defined()) {
        result.kinds |= kind::ERROR;
    }
    result
}

/// `op operand` for `+ - ~`.
pub fn unary(op: UnaryOp, operand: &Values) -> Values {
    if let Some(value) = operand.single() {
        return Values::value(&arith::unary(op, value));
    }
    let mut result = Values::of_kinds(operand.kinds & (kind::UNDEFINED | kind::ERROR));
    let fails = kind::TRUE | kind::FALSE | kind::LIST | kind::AD | kind::ABS_TIME;
    if operand.has(fails) || operand.has_text() {
        result.kinds |= kind::ERROR;
    }
    match op {
        UnaryOp::BitNot => {
            let other = Values { ints: None, ..operand.clone() };
            if other.has_defined() {
                result.kinds |= kind::ERROR;
            }
            if operand.ints.is_some() {
                result.ints = Some((i64::MIN, i64::MAX));
            }
        }
        UnaryOp::Minus => {
            result.kinds |= operand.kinds & (kind::NAN | kind::REL_TIME);
            result.ints = operand.ints.map(|(low, high)| match (high.checked_neg(), low.checked_neg()) {
                (Some(low), Some(high)) => (low, high),
                _ => (i64::MIN, i64::MAX),
            });
            result.reals = operand.reals.map(|(low, high)| (-high, -low));
        }
        UnaryOp::Plus => {
            result.kinds |= operand.kinds & (kind::NAN | kind::REL_TIME);
            (result.ints, result.reals) = (operand.ints, operand.reals);
        }
        UnaryOp::Not => return Values::any(),
    }
    result
}

/// Undefined and error as every strict operator passes them on.
pub fn strict(left: &Values, right: &Values) -> Values {
    let mut kinds = (left.kinds | right.kinds) & kind::ERROR;
    let answers = |set: &Values| set.has(kind::UNDEFINED) || set.has_defined();
    if (left.has(kind::UNDEFINED) && answers(right)) || (right.has(kind::UNDEFINED) && answers(left)) {
        kinds |= kind::UNDEFINED;
    }
    // An operand that cannot have any value at all gives none.
    if left.is_empty() || right.is_empty() {
        kinds = 0;
    }
    Values::of_kinds(kinds)
}

/// Booleans and integers as integers.
pub fn whole(set: &Values) -> Option<(i64, i64)> {
    let bool = |kind: u16, value: i64| set.has(kind).then_some((value, value));
    hull(set.ints, hull(bool(kind::FALSE, 0), bool(kind::TRUE, 1)))
}

/// Booleans, integers and reals as reals, NaN apart.
fn as_reals(set: &Values) -> Option<(f64, f64)> {
    hull(whole(set).map(|(low, high)| (low as f64, high as f64)), set.reals)
}

fn integers(op: BinaryOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> Values {
    let all = Some((i64::MIN, i64::MAX));
    let corners = |apply: fn(i128, i128) -> i128| {
        let ends = [(a, c), (a, d), (b, c), (b, d)].map(|(one, two)| apply(one.into(), two.into()));
        let low = ends.into_iter().min().and_then(|low| i64::try_from(low).ok());
        let high = ends.into_iter().max().and_then(|high| i64::try_from(high).ok());
        low.zip(high).or(all)
    };
    let zero = if c <= 0 && d >= 0 { kind::ERROR } else { 0 };
    let ints = match op {
        BinaryOp::Add => corners(|one, two| one + two),
        BinaryOp::Subtract => corners(|one, two| one - two),
        BinaryOp::Multiply => corners(|one, two| one * two),
        BinaryOp::Divide if zero == 0 => corners(|one, two| one / two),
        BinaryOp::Modulo if c != i64::MIN => {
            let most = c.abs().max(d.abs()).saturating_sub(1).max(0);
            Some((if a >= 0 { 0 } else { -most }, if b <= 0 { 0 } else { most }))
        }
        _ => all,
    };
    let fails = if matches!(op, BinaryOp::Divide | BinaryOp::Modulo) { zero } else { 0 };
    if fails != 0 && (c, d) == (0, 0) {
        return Values::of_kinds(kind::ERROR);
    }
    Values { ints, ..Values::of_kinds(fails) }
}

fn reals(op: BinaryOp, left: &Values, right: &Values) -> Values {
    if op == BinaryOp::Modulo {
        return Values::of_kinds(kind::ERROR);
    }
    let nan = if left.has(kind::NAN) || right.has(kind::NAN) { kind::NAN } else { 0 };
    let (Some((a, b)), Some((c, d))) = (as_reals(left), as_reals(right)) else { return Values::of_kinds(nan) };
    let apply = |one: f64, two: f64| match op {
        BinaryOp::Add => one + two,
        BinaryOp::Subtract => one - two,
        BinaryOp::Multiply => one * two,
        _ => one / two,
    };
    let ends = [apply(a, c), apply(a, d), apply(b, c), apply(b, d)];
    let crosses_zero = op == BinaryOp::Divide && c <= 0.0 && d >= 0.0;
    if crosses_zero || ends.iter().any(|end| !end.is_finite()) {
        return Values { reals: Some(ALL_REALS), ..Values::of_kinds(kind::NAN | kind::ERROR) };
    }
    // Rounding keeps the order, so the ends bound what is between them.
    let low = ends.into_iter().fold(f64::INFINITY, f64::min);
    let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Values { reals: Some((low, high)), ..Values::of_kinds(nan) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(low: i64, high: i64) -> Values {
        Values { ints: Some((low, high)), ..Values::none() }
    }

    #[test]
    fn ranges_add_and_multiply_and_what_wraps_is_anything() {
        assert_eq!(arithmetic(BinaryOp::Add, &ints(1, 5), &ints(10, 20)), ints(11, 25));
        assert_eq!(arithmetic(BinaryOp::Multiply, &ints(-2, 3), &ints(4, 5)), ints(-10, 15));
        assert_eq!(arithmetic(BinaryOp::Add, &ints(1, i64::MAX), &ints(1, 1)), Values::any_int());
        assert_eq!(arithmetic(BinaryOp::Divide, &ints(10, 20), &ints(0, 5)).kinds, kind::ERROR);
        assert_eq!(arithmetic(BinaryOp::Modulo, &ints(0, 100), &ints(7, 9)), ints(0, 8));
    }

    #[test]
    fn a_string_in_arithmetic_is_an_error_unless_something_is_undefined() {
        let text = Values::any_text();
        assert_eq!(arithmetic(BinaryOp::Add, &text, &ints(1, 2)), Values::of_kinds(kind::ERROR));
        let maybe = Values::of_kinds(kind::UNDEFINED);
        assert_eq!(arithmetic(BinaryOp::Add, &text, &maybe), Values::of_kinds(kind::UNDEFINED));
    }
}
