//! Sets of values: kinds, a range of integers, a range of reals, some strings or all.

use crate::syntax::literal::Literal;
use crate::text::Text;
use crate::value::Value;
use crate::value::compare::folded_order;
use crate::value::logic::Truth;

/// Kinds of values that a set may hold beside numbers and strings; one bit each.
pub mod kind {
    /// `undefined`
    pub const UNDEFINED: u16 = 1;
    /// `error`
    pub const ERROR: u16 = 2;
    /// `true`
    pub const TRUE: u16 = 4;
    /// `false`
    pub const FALSE: u16 = 8;
    /// The real that is no number.
    pub const NAN: u16 = 16;
    /// Lists.
    pub const LIST: u16 = 32;
    /// Ads.
    pub const AD: u16 = 64;
    /// Points in time.
    pub const ABS_TIME: u16 = 128;
    /// Durations.
    pub const REL_TIME: u16 = 256;
    /// All of them.
    pub const ALL: u16 = 511;
}

/// Strings that a set holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Texts {
    /// None.
    None,
    /// These.
    Exact(Vec<Text>),
    /// These in any case.
    Folded(Vec<Text>),
    /// All.
    Any,
}

/// Maximum number of strings in a set; more are all strings.
const MAX_TEXTS: usize = 16;

/// A set of values.
#[derive(Clone, PartialEq, Debug)]
pub struct Values {
    /// Bits of [`kind`].
    pub kinds: u16,
    /// Integers, both ends included.
    pub ints: Option<(i64, i64)>,
    /// Reals other than NaN, both ends included; the two zeros are one.
    pub reals: Option<(f64, f64)>,
    /// Strings.
    pub texts: Texts,
}

/// The meaning of a set as a condition: the possible ones of true, false, undefined and error, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truths(pub u8);

impl Truths {
    /// Nothing.
    pub const NONE: Truths = Truths(0);
    /// True, or a number other than zero.
    pub const TRUE: Truths = Truths(1);
    /// False, or zero.
    pub const FALSE: Truths = Truths(2);
    /// Undefined.
    pub const UNDEFINED: Truths = Truths(4);
    /// Error, or a value that is no condition.
    pub const ERROR: Truths = Truths(8);

    /// Tests whether one of `other` is possible.
    pub fn has(self, other: Truths) -> bool {
        self.0 & other.0 != 0
    }

    /// Tests whether nothing but `other` is possible.
    pub fn within(self, other: Truths) -> bool {
        self.0 & !other.0 == 0
    }

    /// The union.
    #[must_use]
    pub fn or(self, other: Truths) -> Truths {
        Truths(self.0 | other.0)
    }

    /// The intersection.
    #[must_use]
    pub fn and(self, other: Truths) -> Truths {
        Truths(self.0 & other.0)
    }

    /// The results of an operation on each.
    #[must_use]
    pub fn map(self, of: impl Fn(Truth) -> Truth) -> Truths {
        let each = [Truth::True, Truth::False, Truth::Undefined, Truth::Error];
        let possible = each.into_iter().filter(|truth| self.has(Truths::of(*truth)));
        possible.fold(Truths::NONE, |found, truth| found.or(Truths::of(of(truth))))
    }

    /// The set of one.
    pub fn of(truth: Truth) -> Truths {
        match truth {
            Truth::True => Truths::TRUE,
            Truth::False => Truths::FALSE,
            Truth::Undefined => Truths::UNDEFINED,
            Truth::Error | Truth::NotBoolean => Truths::ERROR,
        }
    }

    /// The set of logical values.
    pub fn values(self) -> Values {
        let kind = |truth: Truths, kind: u16| if self.has(truth) { kind } else { 0 };
        let decided = kind(Truths::TRUE, kind::TRUE) | kind(Truths::FALSE, kind::FALSE);
        Values::of_kinds(decided | kind(Truths::UNDEFINED, kind::UNDEFINED) | kind(Truths::ERROR, kind::ERROR))
    }
}

impl Values {
    /// The empty set.
    pub fn none() -> Self {
        Values::of_kinds(0)
    }

    /// All values.
    pub fn any() -> Self {
        Values { kinds: kind::ALL, ints: Some((i64::MIN, i64::MAX)), reals: Some(ALL_REALS), texts: Texts::Any }
    }

    /// Values of some kinds.
    pub fn of_kinds(kinds: u16) -> Self {
        Values { kinds, ints: None, reals: None, texts: Texts::None }
    }

    /// All integers.
    pub fn any_int() -> Self {
        Values { ints: Some((i64::MIN, i64::MAX)), ..Values::none() }
    }

    /// All reals.
    pub fn any_real() -> Self {
        Values { reals: Some(ALL_REALS), ..Values::of_kinds(kind::NAN) }
    }

    /// All strings.
    pub fn any_text() -> Self {
        Values { texts: Texts::Any, ..Values::none() }
    }

    /// The same set with more kinds.
    #[must_use]
    pub fn with(mut self, kinds: u16) -> Self {
        self.kinds |= kinds;
        self
    }

    /// The same set without some kinds.
    #[must_use]
    pub fn without(mut self, kinds: u16) -> Self {
        self.kinds &= !kinds;
        self
    }

    /// The set of one constant.
    pub fn literal(literal: &Literal) -> Self {
        Values::value(&Value::from(literal))
    }

    fn real(value: f64) -> Self {
        if value.is_nan() {
            return Values::of_kinds(kind::NAN);
        }
        Values { reals: Some((value, value)), ..Values::none() }
    }

    /// The set of one value; lists, ads and times stand for all of their kind.
    pub fn value(value: &Value) -> Self {
        match value {
            Value::Undefined => Values::of_kinds(kind::UNDEFINED),
            Value::Error => Values::of_kinds(kind::ERROR),
            Value::Bool(true) => Values::of_kinds(kind::TRUE),
            Value::Bool(false) => Values::of_kinds(kind::FALSE),
            Value::Int(value) => Values { ints: Some((*value, *value)), ..Values::none() },
            Value::Real(value) => Values::real(*value),
            Value::Str(text) => Values { texts: Texts::Exact(vec![text.clone()]), ..Values::none() },
            Value::AbsTime(_) => Values::of_kinds(kind::ABS_TIME),
            Value::RelTime(_) => Values::of_kinds(kind::REL_TIME),
            Value::List(_) => Values::of_kinds(kind::LIST),
            Value::Ad(_) => Values::of_kinds(kind::AD),
        }
    }

    /// The only value of the set, if it has one and that can be written.
    pub fn single(&self) -> Option<Value> {
        if self.kinds == 0 {
            return match (&self.ints, &self.reals, &self.texts) {
                (Some((low, high)), None, Texts::None) if low == high => Some(Value::Int(*low)),
                // The two zeros are one here and behave differently in a division.
                (None, Some((low, high)), Texts::None) if low == high && *low != 0.0 => Some(Value::Real(*low)),
                (None, None, Texts::Exact(texts)) if texts.len() == 1 => Some(Value::Str(texts[0].clone())),
                _ => None,
            };
        }
        if self.ints.is_some() || self.reals.is_some() || self.texts != Texts::None {
            return None;
        }
        match self.kinds {
            kind::UNDEFINED => Some(Value::Undefined),
            kind::ERROR => Some(Value::Error),
            kind::TRUE => Some(Value::Bool(true)),
            kind::FALSE => Some(Value::Bool(false)),
            _ => None,
        }
    }

    /// Tests whether the set has one of these kinds.
    pub fn has(&self, kinds: u16) -> bool {
        self.kinds & kinds != 0
    }

    /// Tests whether the set has numbers: booleans, integers or reals.
    pub fn has_number(&self) -> bool {
        self.has(kind::TRUE | kind::FALSE | kind::NAN) || self.ints.is_some() || self.reals.is_some()
    }

    /// Tests whether the set has strings.
    pub fn has_text(&self) -> bool {
        self.texts != Texts::None
    }

    /// Tests whether the set has a value other than undefined and error.
    pub fn has_defined(&self) -> bool {
        self.has(kind::ALL & !(kind::UNDEFINED | kind::ERROR)) || self.has_number() || self.has_text()
    }

    /// Tests whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.kinds == 0 && self.ints.is_none() && self.reals.is_none() && !self.has_text()
    }

    /// Tests whether a value is in the set.
    pub fn contains(&self, value: &Value) -> bool {
        match value {
            Value::Int(value) => self.ints.is_some_and(|(low, high)| (low..=high).contains(value)),
            Value::Real(value) if !value.is_nan() => self.reals.is_some_and(|(low, high)| (low..=high).contains(value)),
            Value::Str(text) => match &self.texts {
                Texts::None => false,
                Texts::Exact(texts) => texts.contains(text),
                Texts::Folded(texts) => texts.iter().any(|known| alike(known, text)),
                Texts::Any => true,
            },
            other => self.has(Values::value(other).kinds),
        }
    }

    /// The union, with all numbers between those of the sets.
    #[must_use]
    pub fn union(&self, other: &Values) -> Values {
        let texts = match (&self.texts, &other.texts) {
            (Texts::None, texts) | (texts, Texts::None) => texts.clone(),
            (Texts::Any, _) | (_, Texts::Any) => Texts::Any,
            (Texts::Exact(one), Texts::Exact(two)) => few(one, two, |a, b| a == b, Texts::Exact),
            (Texts::Exact(one) | Texts::Folded(one), Texts::Exact(two) | Texts::Folded(two)) => {
                few(one, two, alike, Texts::Folded)
            }
        };
        let (ints, reals) = (hull(self.ints, other.ints), hull(self.reals, other.reals));
        Values { kinds: self.kinds | other.kinds, ints, reals, texts }
    }

    /// The intersection.
    #[must_use]
    pub fn intersection(&self, other: &Values) -> Values {
        let kept = |texts: &[Text], of: &dyn Fn(&Text) -> bool| texts.iter().filter(|text| of(text)).cloned().collect();
        let texts = match (&self.texts, &other.texts) {
            (Texts::None, _) | (_, Texts::None) => Texts::None,
            (Texts::Any, texts) | (texts, Texts::Any) => texts.clone(),
            (Texts::Exact(one), Texts::Exact(two)) => Texts::Exact(kept(one, &|text| two.contains(text))),
            (Texts::Exact(one), Texts::Folded(two)) | (Texts::Folded(two), Texts::Exact(one)) => {
                Texts::Exact(kept(one, &|text| two.iter().any(|known| alike(known, text))))
            }
            (Texts::Folded(one), Texts::Folded(two)) => {
                Texts::Folded(kept(one, &|text| two.iter().any(|known| alike(known, text))))
            }
        };
        let texts = match texts {
            Texts::Exact(list) | Texts::Folded(list) if list.is_empty() => Texts::None,
            other => other,
        };
        let (ints, reals) = (common(self.ints, other.ints), common(self.reals, other.reals));
        Values { kinds: self.kinds & other.kinds, ints, reals, texts }
    }

    /// The meaning of the values as conditions.
    pub fn truths(&self) -> Truths {
        let mut truths = Truths::NONE;
        let mut add = |truth: Truths, possible: bool| {
            if possible {
                truths = truths.or(truth);
            }
        };
        add(Truths::TRUE, self.has(kind::TRUE | kind::NAN));
        add(Truths::FALSE, self.has(kind::FALSE));
        add(Truths::UNDEFINED, self.has(kind::UNDEFINED));
        add(Truths::ERROR, self.has(kind::ERROR | kind::LIST | kind::AD | kind::ABS_TIME | kind::REL_TIME));
        add(Truths::ERROR, self.has_text());
        if let Some((low, high)) = self.ints {
            add(Truths::FALSE, low <= 0 && high >= 0);
            add(Truths::TRUE, (low, high) != (0, 0));
        }
        if let Some((low, high)) = self.reals {
            add(Truths::FALSE, low <= 0.0 && high >= 0.0);
            add(Truths::TRUE, low != 0.0 || high != 0.0);
        }
        truths
    }
}

/// A range of numbers, both ends included.
type NumberRange<T> = Option<(T, T)>;

/// The smallest range that holds both.
pub(super) fn hull<T: PartialOrd + Copy>(one: NumberRange<T>, two: NumberRange<T>) -> NumberRange<T> {
    match (one, two) {
        (Some((a, b)), Some((c, d))) => Some((if c < a { c } else { a }, if d > b { d } else { b })),
        (one, two) => one.or(two),
    }
}

/// The numbers that are in both ranges.
fn common<T: PartialOrd + Copy>(one: NumberRange<T>, two: NumberRange<T>) -> NumberRange<T> {
    let ((a, b), (c, d)) = (one?, two?);
    Some((if c > a { c } else { a }, if d < b { d } else { b })).filter(|(low, high)| low <= high)
}

/// All reals but NaN.
pub const ALL_REALS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Tests whether two strings are the same but for the case of letters.
pub fn alike(one: &Text, other: &Text) -> bool {
    folded_order(one.as_bytes(), other.as_bytes()).is_eq()
}

fn few(one: &[Text], two: &[Text], same: impl Fn(&Text, &Text) -> bool, make: fn(Vec<Text>) -> Texts) -> Texts {
    let mut all = one.to_vec();
    for text in two {
        if !all.iter().any(|known| same(known, text)) {
            all.push(text.clone());
        }
    }
    if all.len() > MAX_TEXTS { Texts::Any } else { make(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Values {
        Values::value(&Value::text(text))
    }

    #[test]
    fn unions_hold_both_and_intersections_only_what_both_hold() {
        let both = Values::value(&Value::Int(3)).union(&Values::value(&Value::Int(7))).union(&text("A"));
        assert!(both.contains(&Value::Int(5)) && both.contains(&Value::text("A")) && !both.contains(&Value::text("a")));
        assert!(!both.contains(&Value::Real(5.0)));
        let folded = Values { texts: Texts::Folded(vec![Text::new("a")]), ..Values::none() };
        assert!(both.intersection(&folded).contains(&Value::text("A")));
        assert!(both.intersection(&text("B")).is_empty());
        assert!(Values::any().intersection(&both) == both);
    }

    #[test]
    fn truths_follow_the_language() {
        assert_eq!(Values::value(&Value::Int(0)).truths(), Truths::FALSE);
        assert_eq!(Values::value(&Value::Real(f64::NAN)).truths(), Truths::TRUE);
        assert_eq!(text("true").truths(), Truths::ERROR);
        assert_eq!(Values::any().truths(), Truths(15));
        assert_eq!(Values { ints: Some((1, 9)), ..Values::none() }.truths(), Truths::TRUE);
    }

    #[test]
    fn many_strings_are_all_strings() {
        let many = (0..40).fold(Values::none(), |set, at| set.union(&text(&format!("t{at}"))));
        assert_eq!(many.texts, Texts::Any);
    }
}
