//! Lists written in one string: how they are cut into tokens, and what the `stringList` functions ask of them.

use hashbrown::HashSet;

use crate::syntax::number::{real_prefix, real_to_integer};
use crate::syntax::token::is_space;
use crate::value::Value;

/// Default delimiters of the tokens of a list.
pub const DELIMITERS: &[u8] = b" ,";

/// Default delimiters for the functions that test members and subsets.
pub const MEMBER_DELIMITERS: &[u8] = b", \t\r\n";

/// Default separators of `split`.
pub const SPLIT_SEPARATORS: &[u8] = b", \t";

/// A set of bytes, one bit each: cheap enough to make for every call.
#[derive(Clone)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn new(bytes: &[u8]) -> ByteSet {
        let mut set = [0; 4];
        for &byte in bytes {
            set[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
        ByteSet(set)
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

/// The tokens of a list: cut at any delimiter, white space around them removed, empty ones left out.
///
/// ```
/// # use classmate::internal::builtin::tokens::{DELIMITERS, tokens};
/// let found: Vec<_> = tokens(b" a, b ,,c", DELIMITERS).collect();
/// assert_eq!(found, [b"a", b"b", b"c"]);
/// ```
pub fn tokens<'t>(text: &'t [u8], delimiters: &[u8]) -> Tokens<'t> {
    Tokens { rest: text, delimiters: ByteSet::new(delimiters) }
}

/// An iterator over the tokens of a list; see [`tokens`].
#[derive(Clone)]
pub struct Tokens<'t> {
    rest: &'t [u8],
    delimiters: ByteSet,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let start = self.rest.iter().position(|&b| !is_space(b) && !self.delimiters.contains(b))?;
        let text = &self.rest[start..];
        let end = text.iter().position(|&b| self.delimiters.contains(b)).unwrap_or(text.len());
        self.rest = text.get(end + 1..).unwrap_or_default();
        let token = &text[..end];
        let length = token.iter().rposition(|&b| !is_space(b)).map_or(0, |last| last + 1);
        Some(&token[..length])
    }
}

/// The parts of a list that `stringListsIntersect` compares: cut at any delimiter, empty ones left out, not trimmed.
fn parts<'t>(text: &'t [u8], delimiters: &[u8]) -> impl Iterator<Item = &'t [u8]> {
    let delimiters = ByteSet::new(delimiters);
    text.split(move |&b| delimiters.contains(b)).filter(|part| !part.is_empty())
}

/// Tests whether two lists have a part in common, by the rules of `stringListsIntersect`: case counts, white space too.
///
/// No delimiters at all stand for [`DELIMITERS`].
pub fn intersect(a: &[u8], b: &[u8], delimiters: &[u8]) -> bool {
    let delimiters = if delimiters.is_empty() { DELIMITERS } else { delimiters };
    let known: HashSet<&[u8]> = parts(a, delimiters).collect();
    parts(b, delimiters).any(|part| known.contains(part))
}

/// Tests whether some token of a list is this item, which is taken as it is.
pub fn member(item: &[u8], list: &[u8], delimiters: &[u8], caseless: bool) -> bool {
    tokens(list, delimiters).any(|token| if caseless { token.eq_ignore_ascii_case(item) } else { token == item })
}

/// Tests whether every token of `items` is a token of `list`. No text at all is a subset; one without tokens is none.
pub fn subset(items: &[u8], list: &[u8], delimiters: &[u8], caseless: bool) -> bool {
    if items.is_empty() {
        return true;
    }
    let fold = |token: &[u8]| {
        if caseless { token.to_ascii_lowercase() } else { token.to_vec() }
    };
    let known: HashSet<Vec<u8>> = tokens(list, delimiters).map(fold).collect();
    let mut wanted = tokens(items, delimiters).peekable();
    wanted.peek().is_some() && wanted.all(|token| known.contains(&fold(token)))
}

/// Cuts a text as `split` does: white space separates, any other separator also makes an empty part when it is
/// repeated.
///
/// An empty part appears only between two separators of the same kind; nothing is trimmed.
///
/// ```
/// # use classmate::internal::builtin::tokens::{SPLIT_SEPARATORS, split};
/// assert!(split(b"a,,b c", SPLIT_SEPARATORS).eq([&b"a"[..], b"", b"b", b"c"]));
/// assert!(split(b",a,", SPLIT_SEPARATORS).eq([b"a"]));
/// ```
pub fn split<'t>(text: &'t [u8], separators: &[u8]) -> impl Iterator<Item = &'t [u8]> {
    let separators = ByteSet::new(separators);
    let mut start = 0;
    let mut previous = None;
    (0..=text.len()).filter_map(move |at| {
        let Some(&byte) = text.get(at) else {
            return (start < at).then(|| &text[start..at]);
        };
        if !separators.contains(byte) {
            return None;
        }
        let part = (at > start || previous == Some(byte)).then(|| &text[start..at]);
        start = at + 1;
        if !is_space(byte) {
            previous = Some(byte);
        }
        part
    })
}

/// Reductions of a list of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The arithmetic mean.
    Average,
    /// The smallest number, but never more than the largest single-precision number.
    Minimum,
    /// The largest number, but never less than the smallest positive single-precision number.
    Maximum,
}

/// Reduces a list of numbers; undefined is the minimum or maximum of no numbers, and a token that is no number is an
/// error.
///
/// A token needs only begin with a number. The result is an integer, computed in double precision and truncated, when
/// no token has a character other than digits and signs. The sum and mean of no numbers are the real 0.
///
/// ```
/// # use classmate::internal::builtin::tokens::{DELIMITERS, Reduction, reduce};
/// # use classmate::Value;
/// assert!(matches!(reduce(b"1, 2.5", DELIMITERS, Reduction::Sum), Value::Real(3.5)));
/// assert!(matches!(reduce(b"1,2", DELIMITERS, Reduction::Average), Value::Int(1)));
/// ```
pub fn reduce(text: &[u8], delimiters: &[u8], reduction: Reduction) -> Value {
    let mut result = match reduction {
        Reduction::Sum | Reduction::Average => 0.0,
        // The reference takes the limits of single precision for those of double.
        Reduction::Minimum => f64::from(f32::MAX),
        Reduction::Maximum => f64::from(f32::MIN_POSITIVE),
    };
    let mut count = 0_u64;
    let mut integers = true;
    for token in tokens(text, delimiters) {
        let Some(value) = scanned(token) else { return Value::Error };
        integers &= token.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-'));
        count += 1;
        match reduction {
            Reduction::Sum | Reduction::Average => result += value,
            Reduction::Minimum if value < result => result = value,
            Reduction::Maximum if value > result => result = value,
            Reduction::Minimum | Reduction::Maximum => {}
        }
    }
    if count == 0 {
        let sums = matches!(reduction, Reduction::Sum | Reduction::Average);
        return if sums { Value::Real(0.0) } else { Value::Undefined };
    }
    if reduction == Reduction::Average {
        result /= count as f64;
    }
    if integers { Value::Int(real_to_integer(result)) } else { Value::Real(result) }
}

/// Reads a number as C `scanf("%lf")` does.
///
/// It differs from `strtod` where that would step back: an unfinished `infinity` and a bare `0x` are no numbers.
fn scanned(token: &[u8]) -> Option<f64> {
    let (value, length) = real_prefix(token)?;
    let body = token.strip_prefix(b"+").or_else(|| token.strip_prefix(b"-")).unwrap_or(token);
    let after = &token[length..];
    let bare_prefix =
        length == token.len() - body.len() + 1 && matches!(body, [b'0', b'x' | b'X', ..]) && body.get(2) != Some(&b'.');
    let unfinished = value.is_infinite() && !body[0].is_ascii_digit() && matches!(after, [b'i' | b'I', ..]);
    let unfinished = unfinished && body.len() - after.len() == 3;
    (!bare_prefix && !unfinished).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Number {
        Integer(i64),
        Real(f64),
    }

    fn words(text: &str, delimiters: &str) -> Vec<String> {
        let found = tokens(text.as_bytes(), delimiters.as_bytes());
        found.map(|token| String::from_utf8(token.to_vec()).unwrap()).collect()
    }

    fn cut(text: &str, separators: &str) -> Vec<String> {
        let found = split(text.as_bytes(), separators.as_bytes());
        found.map(|part| String::from_utf8(part.to_vec()).unwrap()).collect()
    }

    fn reduced(text: &str, reduction: Reduction) -> Result<Option<Number>, ()> {
        match reduce(text.as_bytes(), DELIMITERS, reduction) {
            Value::Int(value) => Ok(Some(Number::Integer(value))),
            Value::Real(value) => Ok(Some(Number::Real(value))),
            Value::Undefined => Ok(None),
            _ => Err(()),
        }
    }

    #[test]
    fn tokens_are_trimmed_and_never_empty() {
        assert_eq!(words(" a b c ", " ,"), ["a", "b", "c"]);
        assert_eq!(words(" a b ,c", ","), ["a b", "c"]);
        assert_eq!(words("a, \x0b ,b", ","), ["a", "b"]);
        assert_eq!(words(" \x0ba,b\x0b", " ,"), ["a", "b"]);
        assert_eq!(words("a b", ""), ["a b"]);
        assert_eq!(words(" a", "b"), ["a"]);
        assert!(words(",, \t", ",").is_empty());
        assert!(words("", ",").is_empty());
    }

    #[test]
    fn members_are_compared_untrimmed() {
        assert!(member(b"a b", b" a b ,c", b",", false));
        assert!(member(b"A", b"b,a", DELIMITERS, true));
        assert!(!member(b"A", b"b,a", DELIMITERS, false));
        assert!(!member(b" a", b" a", b",", false));
        assert!(!member(b"", b"a,,b", b",", false));
    }

    #[test]
    fn subsets_need_a_token_unless_the_text_is_empty() {
        assert!(subset(b"", b"", MEMBER_DELIMITERS, false));
        assert!(subset(b"b,a", b"a b c", MEMBER_DELIMITERS, false));
        assert!(subset(b"B", b"a b c", MEMBER_DELIMITERS, true));
        assert!(!subset(b"B", b"a b c", MEMBER_DELIMITERS, false));
        assert!(!subset(b",,", b"a", MEMBER_DELIMITERS, false));
        assert!(!subset(b"a,z", b"a", MEMBER_DELIMITERS, false));
    }

    #[test]
    fn intersection_does_not_trim() {
        assert!(intersect(b"a b", b"b,c", DELIMITERS));
        assert!(!intersect(b" a", b"a", b","));
        assert!(!intersect(b"a", b"A", DELIMITERS));
        assert!(!intersect(b",,", b",,", DELIMITERS));
        assert!(intersect(b"a b", b"b", b""));
        assert!(!intersect(b"a;b", b"b", b""));
    }

    #[test]
    fn split_follows_the_reference() {
        let default = ", \t";
        assert_eq!(cut("a,,b", ",;"), ["a", "", "b"]);
        assert_eq!(cut("a , ,b", default), ["a", "", "b"]);
        assert_eq!(cut("a;,b", ";,"), ["a", "b"]);
        assert_eq!(cut("a,\t,b", default), ["a", "", "b"]);
        assert_eq!(cut("a,, ,b", default), ["a", "", "", "b"]);
        assert_eq!(cut("abb", "b"), ["a", ""]);
        assert_eq!(cut("a\n,b", ","), ["a\n", "b"]);
        assert_eq!(cut("a,\x0b,b", ",\x0b"), ["a", "", "b"]);
        assert_eq!(cut("a b", ""), ["a b"]);
        assert_eq!(cut("a,", default), ["a"]);
        assert!(cut("", default).is_empty());
        assert!(cut("", "").is_empty());
    }

    #[test]
    fn numbers_stay_integers_only_when_written_so() {
        assert_eq!(reduced("1,2", Reduction::Sum), Ok(Some(Number::Integer(3))));
        assert_eq!(reduced("1,2.0", Reduction::Maximum), Ok(Some(Number::Real(2.0))));
        assert_eq!(reduced("+1,-2", Reduction::Sum), Ok(Some(Number::Integer(-1))));
        assert_eq!(reduced("1-2", Reduction::Sum), Ok(Some(Number::Integer(1))));
        assert_eq!(reduced("99999999999999999999", Reduction::Sum), Ok(Some(Number::Integer(i64::MIN))));
        assert_eq!(reduced("0x10", Reduction::Sum), Ok(Some(Number::Real(16.0))));
        assert_eq!(reduced("12abc", Reduction::Sum), Ok(Some(Number::Real(12.0))));
    }

    #[test]
    fn extremes_start_from_single_precision() {
        assert_eq!(reduced("-5,-3", Reduction::Maximum), Ok(Some(Number::Integer(0))));
        assert_eq!(reduced("-5.0", Reduction::Maximum), Ok(Some(Number::Real(1.175_494_350_822_287_5e-38))));
        assert_eq!(reduced("1e39", Reduction::Minimum), Ok(Some(Number::Real(3.402_823_466_385_288_6e38))));
        assert_eq!(reduced("nan", Reduction::Maximum), Ok(Some(Number::Real(1.175_494_350_822_287_5e-38))));
    }

    #[test]
    fn nothing_has_a_sum_but_no_extreme() {
        assert_eq!(reduced(",", Reduction::Sum), Ok(Some(Number::Real(0.0))));
        assert_eq!(reduced("", Reduction::Average), Ok(Some(Number::Real(0.0))));
        assert_eq!(reduced("", Reduction::Minimum), Ok(None));
        assert_eq!(reduced("", Reduction::Maximum), Ok(None));
    }

    #[test]
    fn numbers_are_scanned_not_converted() {
        for text in ["x", "infi", "-infin", "0x", "0xg", "-0x", "0xp1", ".", "-", "na", "+-1", "1,x"] {
            assert!(reduced(text, Reduction::Sum).is_err(), "{text}");
        }
        for (text, value) in [("0x.", 0.0), ("0x.p1", 0.0), ("1e", 1.0), ("1e+", 1.0), ("0x1p+", 1.0), ("1.2.3", 1.2)] {
            assert_eq!(reduced(text, Reduction::Sum), Ok(Some(Number::Real(value))), "{text}");
        }
        for text in ["inf", "infx", "infinityx", "+INF", "1e400i"] {
            assert_eq!(reduced(text, Reduction::Sum), Ok(Some(Number::Real(f64::INFINITY))), "{text}");
        }
    }
}
