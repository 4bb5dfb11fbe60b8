//! Comparison and identity of sets of values, and what a comparison says of its operand.

use super::number::{strict, whole};
use super::values::{Texts, Truths, Values, kind};
use crate::syntax::operator::BinaryOp;
use crate::text::Text;
use crate::value::Value;
use crate::value::compare::texts;

const ABSENT: u16 = kind::UNDEFINED | kind::ERROR;
const AGGREGATE: u16 = kind::LIST | kind::AD;

/// `left op right` for `< <= > >= == !=`.
pub fn compare(op: BinaryOp, left: &Values, right: &Values) -> Truths {
    let mut result = strict(left, right).truths();
    if !left.has_defined() || !right.has_defined() {
        return result;
    }
    let fails = |one: &Values, two: &Values| {
        let has_time = two.has(kind::ABS_TIME | kind::REL_TIME);
        one.has(AGGREGATE)
            || one.has_number() && (two.has_text() || has_time)
            || one.has_text() && has_time
            || one.has(kind::ABS_TIME) && two.has(kind::REL_TIME)
    };
    if fails(left, right) || fails(right, left) {
        result = result.or(Truths::ERROR);
    }
    for time in [kind::ABS_TIME, kind::REL_TIME] {
        if left.has(time) && right.has(time) {
            result = result.or(Truths::TRUE).or(Truths::FALSE);
        }
    }
    if left.has_text() && right.has_text() {
        result = result.or(compare_texts(op, &left.texts, &right.texts));
    }
    if left.has_number() && right.has_number() {
        result = result.or(compare_numbers(op, left, right));
    }
    result
}

fn either() -> Truths {
    Truths::TRUE.or(Truths::FALSE)
}

fn decided(answer: bool) -> Truths {
    if answer { Truths::TRUE } else { Truths::FALSE }
}

fn compare_texts(op: BinaryOp, left: &Texts, right: &Texts) -> Truths {
    let (Some(left), Some(right)) = (listed(left), listed(right)) else { return either() };
    let mut result = Truths::NONE;
    // Comparison ignores case, so one spelling represents all.
    for one in left {
        for two in right {
            if let Some(answer) = texts(op, one, two) {
                result = result.or(decided(answer));
            }
        }
    }
    result
}

fn listed(texts: &Texts) -> Option<&[Text]> {
    match texts {
        Texts::Exact(list) | Texts::Folded(list) => Some(list),
        Texts::None => Some(&[]),
        Texts::Any => None,
    }
}

fn compare_numbers(op: BinaryOp, left: &Values, right: &Values) -> Truths {
    let mut result = Truths::NONE;
    if left.has(kind::NAN) || right.has(kind::NAN) {
        result = decided(op == BinaryOp::NotEqual);
    }
    let as_real = |range: Option<(i64, i64)>| range.map(|(low, high)| (low as f64, high as f64));
    if let (Some(one), Some(two)) = (whole(left), whole(right)) {
        result = result.or(ranges(op, one, two));
    }
    for (one, two) in
        [(as_real(whole(left)), right.reals), (left.reals, as_real(whole(right))), (left.reals, right.reals)]
    {
        if let (Some(one), Some(two)) = (one, two) {
            result = result.or(ranges(op, one, two));
        }
    }
    result
}

fn ranges<T: PartialOrd + Copy>(op: BinaryOp, (a, b): (T, T), (c, d): (T, T)) -> Truths {
    let (can, cannot) = match op {
        BinaryOp::Less => (a < d, b >= c),
        BinaryOp::LessEqual => (a <= d, b > c),
        BinaryOp::Greater => (b > c, a <= d),
        BinaryOp::GreaterEqual => (b >= c, a < d),
        BinaryOp::Equal => (a <= d && c <= b, !(a == b && c == d && a == c)),
        _ => (!(a == b && c == d && a == c), a <= d && c <= b),
    };
    let mut result = Truths::NONE;
    if can {
        result = result.or(Truths::TRUE);
    }
    if cannot {
        result = result.or(Truths::FALSE);
    }
    result
}

/// `left =?= right`
pub fn identical(left: &Values, right: &Values) -> Truths {
    let mut result = Truths::NONE;
    if left.is_empty() || right.is_empty() {
        return result;
    }
    if left.has(AGGREGATE) && right.has(AGGREGATE) {
        result = either().or(Truths::ERROR);
    }
    let shared = left.intersection(right);
    if !shared.without(AGGREGATE | kind::NAN).is_empty() {
        result = result.or(Truths::TRUE);
    }
    match (left.single(), right.single()) {
        (Some(one), Some(two)) if one.type_of() == two.type_of() && left == right => {}
        _ => result = result.or(Truths::FALSE),
    }
    result
}

/// The possible values of the left operand of a comparison, given its outcome: one of true, false, undefined, error.
pub fn narrowed(op: BinaryOp, left: &Values, right: &Values, outcome: Truths) -> Values {
    let other = right.clone().without(ABSENT);
    let only_numbers = other.has_number() && !other.has_text() && !other.has(times_and_more());
    let only_texts = other.has_text() && !other.has_number() && !other.has(times_and_more());
    match outcome {
        Truths::UNDEFINED if !right.has(kind::UNDEFINED) => left.intersection(&Values::of_kinds(kind::UNDEFINED)),
        Truths::UNDEFINED => left.clone().without(kind::ERROR),
        Truths::ERROR if right.has(ABSENT) => left.clone(),
        Truths::ERROR if only_numbers => Values {
            ints: None,
            reals: None,
            ..left.clone().without(kind::UNDEFINED | kind::TRUE | kind::FALSE | kind::NAN)
        },
        Truths::ERROR if only_texts => Values { texts: Texts::None, ..left.clone().without(kind::UNDEFINED) },
        Truths::ERROR => left.clone(),
        _ => {
            let left = left.clone().without(ABSENT | AGGREGATE);
            if only_texts {
                let left = Values { kinds: 0, ints: None, reals: None, ..left };
                narrowed_texts(op, &left, &other, outcome == Truths::TRUE)
            } else if only_numbers {
                let left = Values { texts: Texts::None, ..left.without(kind::ABS_TIME | kind::REL_TIME) };
                narrowed_numbers(op, &left, &other, outcome == Truths::TRUE)
            } else {
                left
            }
        }
    }
}

fn times_and_more() -> u16 {
    kind::ABS_TIME | kind::REL_TIME | AGGREGATE
}

fn narrowed_texts(op: BinaryOp, left: &Values, right: &Values, holds: bool) -> Values {
    let Some(others) = listed(&right.texts) else { return left.clone() };
    let equal = (op == BinaryOp::Equal && holds) || (op == BinaryOp::NotEqual && !holds);
    if equal {
        return left.intersection(&Values { texts: Texts::Folded(others.to_vec()), ..Values::none() });
    }
    let possible = |text: &Text| others.iter().any(|other| texts(op, text, other) == Some(holds));
    let kept = |list: &[Text]| list.iter().filter(|text| possible(text)).cloned().collect::<Vec<_>>();
    let texts = match &left.texts {
        Texts::Exact(list) => Texts::Exact(kept(list)),
        Texts::Folded(list) => Texts::Folded(kept(list)),
        other => other.clone(),
    };
    Values { texts, ..left.clone() }.intersection(&Values::any())
}

/// An end of a range of numbers: integers and reals compare in different ways.
#[derive(Clone, Copy)]
struct Ends {
    ints: Option<(i64, i64)>,
    reals: Option<(f64, f64)>,
}

fn narrowed_numbers(op: BinaryOp, left: &Values, right: &Values, holds: bool) -> Values {
    let unordered = holds == (op == BinaryOp::NotEqual);
    if right.has(kind::NAN) && unordered {
        return left.clone();
    }
    let ends = Ends { ints: whole(right), reals: right.reals };
    let relation = match (op, holds) {
        (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => BinaryOp::Less,
        (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => BinaryOp::LessEqual,
        (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => BinaryOp::Greater,
        (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => BinaryOp::GreaterEqual,
        (BinaryOp::Equal, true) | (BinaryOp::NotEqual, false) => BinaryOp::Equal,
        _ => BinaryOp::NotEqual,
    };
    let below = matches!(relation, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Equal);
    let above = matches!(relation, BinaryOp::Greater | BinaryOp::GreaterEqual | BinaryOp::Equal);
    let open = matches!(relation, BinaryOp::Less | BinaryOp::Greater);
    let mut allowed_ints = (i64::MIN, i64::MAX);
    let mut allowed_reals = (f64::NEG_INFINITY, f64::INFINITY);
    if below {
        allowed_ints.1 = ends.most_int(open);
        allowed_reals.1 = ends.most_real(open);
    }
    if above {
        // The largest integer also represents the smallest one, which has no negative.
        let most = ends.negated().most_int(open);
        allowed_ints.0 = if most == i64::MAX { i64::MIN } else { most.checked_neg().unwrap_or(i64::MAX) };
        allowed_reals.0 = -ends.negated().most_real(open);
    }
    let mut kinds = left.kinds & kind::NAN;
    if !unordered {
        kinds = 0;
    }
    for (kind, value) in [(kind::FALSE, 0), (kind::TRUE, 1)] {
        if left.has(kind) && (allowed_ints.0..=allowed_ints.1).contains(&value) {
            kinds |= kind;
        }
    }
    let allowed = Values {
        kinds,
        ints: Some(allowed_ints).filter(|(low, high)| low <= high),
        reals: Some(allowed_reals).filter(|(low, high)| low <= high),
        texts: Texts::None,
    };
    let mut narrowed = left.intersection(&allowed);
    if relation == BinaryOp::NotEqual
        && let Some(Value::Int(value)) = right.single()
    {
        trim(&mut narrowed, value);
    }
    narrowed
}

/// Removes a number at an end of a set.
fn trim(set: &mut Values, value: i64) {
    set.ints = set.ints.and_then(|(low, high)| match (low == value, high == value) {
        (true, true) => None,
        (true, false) => Some((low + 1, high)),
        (false, true) => Some((low, high - 1)),
        _ => Some((low, high)),
    });
    match value {
        0 => set.kinds &= !kind::FALSE,
        1 => set.kinds &= !kind::TRUE,
        _ => {}
    }
    set.reals = set.reals.filter(|(low, high)| !(low == high && *low == value as f64));
}

/// Integers below this have reals of their own.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Ends {
    fn negated(self) -> Ends {
        let negated = |value: i64| value.checked_neg().unwrap_or(i64::MAX);
        Ends {
            ints: self.ints.map(|(low, high)| (negated(high), negated(low))),
            reals: self.reals.map(|(low, high)| (-high, -low)),
        }
    }

    /// The largest integer that is less than (or equal to) some number of the range.
    fn most_int(self, open: bool) -> i64 {
        let mut most = i64::MIN;
        if let Some((_, high)) = self.ints {
            most = if open { high.saturating_sub(1) } else { high };
            if high == i64::MAX {
                most = high;
            }
        }
        if let Some((_, high)) = self.reals {
            // From here on a larger integer may be the same as a real.
            let bound = if high.abs() < EXACT {
                let floor = high.floor();
                if open && floor == high { floor as i64 - 1 } else { floor as i64 }
            } else if high > 0.0 {
                i64::MAX
            } else {
                -(EXACT as i64)
            };
            most = most.max(bound);
        }
        most
    }

    /// The largest real that is less than (or equal to) some number of the range.
    fn most_real(self, open: bool) -> f64 {
        let mut most = f64::NEG_INFINITY;
        for high in [self.ints.map(|(_, high)| high as f64), self.reals.map(|(_, high)| high)].into_iter().flatten() {
            most = most.max(if open && high.is_finite() { high.next_down() } else { high });
        }
        most
    }
}

/// The possible values of the left operand of `=?=`, given its outcome.
pub fn narrowed_identical(left: &Values, right: &Values, holds: bool) -> Values {
    if holds {
        return left.intersection(right).without(kind::NAN | AGGREGATE);
    }
    match right.single() {
        Some(Value::Int(value)) => {
            let mut ints = Values { ints: left.ints, ..Values::none() };
            trim(&mut ints, value);
            Values { ints: ints.ints, ..left.clone() }
        }
        Some(Value::Str(text)) => {
            let texts = match &left.texts {
                Texts::Exact(list) => {
                    let kept: Vec<Text> = list.iter().filter(|known| **known != text).cloned().collect();
                    if kept.is_empty() { Texts::None } else { Texts::Exact(kept) }
                }
                other => other.clone(),
            };
            Values { texts, ..left.clone() }
        }
        Some(Value::Undefined | Value::Error | Value::Bool(_)) => left.clone().without(right.kinds),
        _ => left.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Values {
        Values::value(&Value::Int(value))
    }

    #[test]
    fn what_is_less_than_ten_is_a_number_below_ten() {
        let set = narrowed(BinaryOp::Less, &Values::any(), &int(10), Truths::TRUE);
        assert!(set.contains(&Value::Int(9)) && !set.contains(&Value::Int(10)));
        assert!(set.contains(&Value::Real(9.999)) && !set.contains(&Value::Real(10.0)));
        assert!(
            set.contains(&Value::Bool(true)) && !set.contains(&Value::Undefined) && !set.contains(&Value::text(""))
        );
        // What is not less is at least ten, or NaN.
        let set = narrowed(BinaryOp::Less, &Values::any(), &int(10), Truths::FALSE);
        assert!(set.contains(&Value::Int(10)) && !set.contains(&Value::Int(9)) && set.has(kind::NAN));
    }

    #[test]
    fn the_smallest_integer_is_not_lost() {
        let infinity = Values { reals: Some((f64::NEG_INFINITY, f64::NEG_INFINITY)), ..Values::none() };
        let set = narrowed(BinaryOp::Greater, &Values::any(), &infinity, Truths::TRUE);
        assert!(set.contains(&Value::Int(i64::MIN)));
        let set = narrowed(BinaryOp::GreaterEqual, &Values::any(), &int(i64::MIN), Truths::TRUE);
        assert!(set.contains(&Value::Int(i64::MIN)));
        let set = narrowed(BinaryOp::Greater, &Values::any(), &int(i64::MAX), Truths::TRUE);
        assert!(!set.contains(&Value::Int(0)));
    }

    #[test]
    fn integers_that_share_a_real_are_equal_to_it() {
        // 2^53 + 1 is 2^53 as a real: `9007199254740993 == 9007199254740992.0` is true.
        let real = |value: f64| Values::value(&Value::Real(value));
        for (op, sign) in [(BinaryOp::LessEqual, 1), (BinaryOp::GreaterEqual, -1), (BinaryOp::Equal, 1)] {
            let set = narrowed(op, &Values::any(), &real(9_007_199_254_740_992.0 * f64::from(sign)), Truths::TRUE);
            assert!(set.contains(&Value::Int(9_007_199_254_740_993 * i64::from(sign))), "{op:?}");
        }
        let set = narrowed(BinaryOp::Greater, &Values::any(), &real(9_007_199_254_740_992.0), Truths::FALSE);
        assert!(set.contains(&Value::Int(9_007_199_254_740_993)));
    }

    #[test]
    fn a_comparison_is_undefined_only_if_an_operand_is() {
        let set = narrowed(BinaryOp::Equal, &Values::any(), &int(1), Truths::UNDEFINED);
        assert_eq!(set, Values::of_kinds(kind::UNDEFINED));
    }

    #[test]
    fn strings_that_are_equal_are_alike() {
        let linux = Values::value(&Value::text("LINUX"));
        let set = narrowed(BinaryOp::Equal, &Values::any(), &linux, Truths::TRUE);
        assert!(set.contains(&Value::text("linux")) && !set.contains(&Value::text("WINDOWS")));
        assert_eq!(compare(BinaryOp::Equal, &set, &Values::value(&Value::text("windows"))), Truths::FALSE);
        assert_eq!(compare(BinaryOp::Equal, &set, &linux), Truths::TRUE);
        assert_eq!(identical(&set, &linux), either());
    }
}
