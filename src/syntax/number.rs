//! Numbers as text: how reals are written, and how numbers are read, byte for byte as the C library does it.
//! One file, because what is written is what is read, and the tests compare the two.

use std::io::Write as _;

use crate::semantics::{Semantics, VersionRule};
use crate::syntax::token::is_space;

/// Longest mantissa kept by [`write_general`]; a double has at most 767 significant decimal digits, the rest are zeros.
const MAX_PRECISION: usize = 1100;

/// Writes a real in canonical new syntax, C `%1.15E`: sixteen significant digits, correctly rounded.
///
/// Zero, NaN and the infinities have texts of their own that read back as the same value.
///
/// ```
/// # use classmate::internal::syntax::number::write_real;
/// let mut out = Vec::new();
/// write_real(&mut out, 1.5);
/// assert_eq!(out, b"1.500000000000000E+00");
/// ```
pub fn write_real(out: &mut Vec<u8>, value: f64) {
    if !write_special(out, value) {
        write_scientific(out, value);
    }
}

/// Writes a real as old syntax and JSON do, C `%.16G` with `.0` appended when nothing else marks it as a real.
///
/// Zero, NaN and the infinities are written as in new syntax.
///
/// ```
/// # use classmate::internal::syntax::number::write_real_short;
/// let mut out = Vec::new();
/// write_real_short(&mut out, 100.0);
/// assert_eq!(out, b"100.0");
/// ```
pub fn write_real_short(out: &mut Vec<u8>, value: f64) {
    /// Whole numbers below have fewer than sixteen digits, so nothing is rounded and there is no exponent.
    const SHORT: f64 = 1e15;
    if write_special(out, value) {
        return;
    }
    if value.abs() < SHORT && value.trunc() == value {
        let _ = write!(out, "{}.0", value as i64);
        return;
    }
    let start = out.len();
    write_general(out, value, 16, true);
    if !out.get(start..).is_some_and(|text| text.iter().any(|b| matches!(b, b'.' | b'E'))) {
        out.extend_from_slice(b".0");
    }
}

/// Writes a real with as few digits as tell it apart from all others: `1.5`, `8.0`, `1e300`.
///
/// Zero, NaN and the infinities are written as in new syntax.
pub fn write_real_plain(out: &mut Vec<u8>, value: f64) {
    if !write_special(out, value) {
        let _ = if (1e-5..1e15).contains(&value.abs()) { write!(out, "{value:?}") } else { write!(out, "{value:e}") };
    }
}

/// Writes a real as C `%.{precision}g` does, or `%.{precision}G` when `upper`.
///
/// A precision of 0 counts as 1. Infinities and NaN are `inf`, `-inf`, `nan`, `-nan`.
///
/// ```
/// # use classmate::internal::syntax::number::write_general;
/// let mut out = Vec::new();
/// write_general(&mut out, 0.00001, 6, false);
/// assert_eq!(out, b"1e-05");
/// ```
pub fn write_general(out: &mut Vec<u8>, value: f64, precision: usize, upper: bool) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        let text: &[u8] = match (magnitude.is_nan(), upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        out.extend_from_slice(text);
        return;
    }
    let precision = precision.clamp(1, MAX_PRECISION);
    let (mut digits, exponent) = decimal_digits(magnitude, precision);
    let significant = digits.iter().rposition(|&d| d != b'0').map_or(1, |last| last + 1);
    digits.truncate(significant);
    if exponent < -4 || exponent >= precision as i32 {
        push_point(out, &digits, 1);
        out.push(if upper { b'E' } else { b'e' });
        push_exponent(out, exponent);
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(&digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() < whole {
            digits.resize(whole, b'0');
        }
        push_point(out, &digits, whole);
    }
}

/// Writes the values that have a text of their own, and returns whether it did.
fn write_special(out: &mut Vec<u8>, value: f64) -> bool {
    let text: &[u8] = if value == 0.0 {
        if value.is_sign_negative() { b"-0.0" } else { b"0.0" }
    } else if value.is_nan() {
        b"real(\"NaN\")"
    } else if value == f64::INFINITY {
        b"real(\"INF\")"
    } else if value == f64::NEG_INFINITY {
        b"real(\"-INF\")"
    } else {
        return false;
    };
    out.extend_from_slice(text);
    true
}

/// Writes a finite number other than zero as `%1.15E`.
fn write_scientific(out: &mut Vec<u8>, value: f64) {
    /// Every whole number up to here is exact, and has at most sixteen digits, so it needs no rounding.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    if magnitude < EXACT && magnitude.trunc() == magnitude {
        let mut buffer = [b'0'; 17];
        let mut rest = magnitude as u64;
        let mut length = 0;
        let mut reversed = [0_u8; 16];
        while rest > 0 && length < reversed.len() {
            reversed[length] = b'0' + (rest % 10) as u8;
            rest /= 10;
            length += 1;
        }
        buffer[0] = reversed[length.saturating_sub(1)];
        buffer[1] = b'.';
        for (place, &digit) in buffer[2..].iter_mut().zip(reversed[..length].iter().rev().skip(1)) {
            *place = digit;
        }
        out.extend_from_slice(&buffer);
        out.push(b'E');
        push_exponent(out, length as i32 - 1);
        return;
    }
    let start = out.len();
    // Writing to a vector cannot fail. Rust rounds to the nearest with ties to even, as the C library does.
    let _ = write!(out, "{magnitude:.15e}");
    let Some(mark) = out.get(start..).and_then(|text| memchr::memchr(b'e', text)).map(|i| start + i) else {
        return;
    };
    let exponent = signed(out.get(mark + 1..).unwrap_or_default());
    out.truncate(mark);
    out.push(b'E');
    push_exponent(out, exponent);
}

/// The first `count` significant decimal digits of a finite number, correctly rounded, and its decimal exponent.
fn decimal_digits(magnitude: f64, count: usize) -> (Vec<u8>, i32) {
    let mut text = Vec::with_capacity(count + 8);
    let _ = write!(text, "{magnitude:.precision$e}", precision = count - 1);
    let mark = memchr::memchr(b'e', &text).unwrap_or(text.len());
    let exponent = signed(text.get(mark + 1..).unwrap_or_default());
    text.truncate(mark);
    if text.len() > 1 {
        text.remove(1);
    }
    (text, exponent)
}

/// The value of the short exponent that Rust's formatting writes.
fn signed(text: &[u8]) -> i32 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Writes digits with a point after the first `whole` of them; without a point when nothing follows it.
fn push_point(out: &mut Vec<u8>, digits: &[u8], whole: usize) {
    let (left, right) = digits.split_at(whole.min(digits.len()));
    out.extend_from_slice(left);
    if !right.is_empty() {
        out.push(b'.');
        out.extend_from_slice(right);
    }
}

/// Writes a decimal exponent with its sign and at least two digits.
fn push_exponent(out: &mut Vec<u8>, exponent: i32) {
    out.push(if exponent < 0 { b'-' } else { b'+' });
    let magnitude = exponent.unsigned_abs();
    if magnitude >= 100 {
        out.push(b'0' + (magnitude / 100 % 10) as u8);
    }
    out.push(b'0' + (magnitude / 10 % 10) as u8);
    out.push(b'0' + (magnitude % 10) as u8);
}

/// Reads the longest number that C `strtod` accepts at the start of a text: its value and the bytes it takes.
///
/// Leading white space, a sign, decimal and hexadecimal floating point, `inf`, `infinity`, `nan` and `nan(…)` in any
/// case. `None` when nothing converts.
///
/// ```
/// # use classmate::internal::syntax::number::real_prefix;
/// assert_eq!(real_prefix(b" 12abc"), Some((12.0, 3)));
/// assert_eq!(real_prefix(b"abc"), None);
/// ```
pub fn real_prefix(text: &[u8]) -> Option<(f64, usize)> {
    let blank = text.iter().take_while(|b| is_space(**b)).count();
    let rest = text.get(blank..)?;
    let signed = matches!(rest.first(), Some(b'+' | b'-'));
    let negative = rest.first() == Some(&b'-');
    let body = rest.get(usize::from(signed)..)?;
    let (magnitude, length) = hexadecimal(body).or_else(|| decimal(body)).or_else(|| named(body))?;
    let value = if negative { -magnitude } else { magnitude };
    Some((value, blank + usize::from(signed) + length))
}

/// The longest unsigned decimal number at the start.
fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    let mut fraction = 0;
    if text.get(whole) == Some(&b'.') {
        fraction = digits(whole + 1);
        length += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    Some((parse_real(text.get(..length)?), length))
}

/// `inf`, `infinity`, `nan`, `nan(…)` at the start, in any case.
fn named(text: &[u8]) -> Option<(f64, usize)> {
    let starts = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    if starts(b"infinity") {
        Some((f64::INFINITY, 8))
    } else if starts(b"inf") {
        Some((f64::INFINITY, 3))
    } else if starts(b"nan") {
        let inner = text.iter().skip(4).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let tagged = text.get(3) == Some(&b'(') && text.get(4 + inner) == Some(&b')');
        Some((f64::NAN, if tagged { 5 + inner } else { 3 }))
    } else {
        None
    }
}

/// The longest unsigned hexadecimal floating number at the start, `0x` included.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    if text.first() != Some(&b'0') || !matches!(text.get(1), Some(b'x' | b'X')) {
        return None;
    }
    let mut at = 2;
    let mut digits = 0_usize;
    let mut point = false;
    let mut mantissa = 0_u64;
    let mut exponent = 0_i64;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !point {
            point = true;
        } else if let Some(digit) = (byte as char).to_digit(16) {
            digits += 1;
            if mantissa >> 59 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= if point { 4 } else { 0 };
            } else {
                // Digits beyond the precision only decide whether the number lies above a tie.
                mantissa |= u64::from(digit != 0);
                exponent += if point { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let power = text.iter().skip(at + 1 + sign).take_while(|b| b.is_ascii_digit()).count();
        if power > 0 {
            let first = at + 1 + sign;
            let magnitude = text.iter().skip(first).take(power);
            let magnitude = magnitude.fold(0_i64, |sum, &d| sum.saturating_mul(10).saturating_add(i64::from(d - b'0')));
            let signed = if text.get(at + 1) == Some(&b'-') { -magnitude } else { magnitude };
            exponent = exponent.saturating_add(signed);
            at = first + power;
        }
    }
    Some((scaled(mantissa, exponent), at))
}

/// `mantissa · 2^exponent`, rounded to the nearest double with ties to even, denormals and overflow included.
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = i64::from(mantissa.leading_zeros());
    let mantissa = mantissa << shift;
    // The value is 1.… · 2^power.
    let power = exponent.saturating_sub(shift).saturating_add(63);
    if power > 1023 {
        return f64::INFINITY;
    }
    // 11 bits more than a normal double holds; a denormal holds fewer still.
    let dropped = if power >= -1022 { 11 } else { 11 + (-1022 - power) };
    if dropped > 64 {
        return 0.0;
    }
    let wide = u128::from(mantissa);
    let kept = (wide >> dropped) as u64;
    let remainder = wide & ((1_u128 << dropped) - 1);
    let half = 1_u128 << (dropped - 1);
    let up = remainder > half || (remainder == half && kept & 1 == 1);
    let biased = if power >= -1022 { (power + 1022) as u64 } else { 0 };
    // For a normal number the hidden bit of `kept` adds the missing one to the exponent; a carry does the same.
    f64::from_bits((biased << 52) + kept + u64::from(up))
}

/// Reads an already validated decimal real (digits, point, exponent, an optional sign), correctly rounded.
///
/// Overflow is infinity, underflow zero or a denormal. A text that is no number is 0.
///
/// ```
/// # use classmate::internal::syntax::number::parse_real;
/// assert_eq!(parse_real(b"2.5e3"), 2500.0);
/// ```
pub fn parse_real(digits: &[u8]) -> f64 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// Reads an integer token, with an optional leading minus sign; a number that does not fit 64 bits is 0, in older
/// versions the nearest integer.
///
/// Reading stops at the first byte that is no digit, so that hexadecimal tokens are 0 as in the reference.
///
/// ```
/// # use classmate::internal::syntax::number::parse_integer;
/// # use classmate::Semantics;
/// assert_eq!(parse_integer(b"-9223372036854775808", Semantics::default()), i64::MIN);
/// assert_eq!(parse_integer(b"9223372036854775808", Semantics::default()), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_integer(digits: &[u8], semantics: Semantics) -> i64 {
    checked_integer(digits, semantics).unwrap_or(0)
}

/// Reads an integer token as C reads literals: octal after `0`, hexadecimal after `0x`; what does not fit 64 bits is the
/// nearest integer.
pub(crate) fn parse_c_integer(text: &[u8]) -> i64 {
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', digits @ ..] => (8, digits),
        _ => (10, digits),
    };
    let digits = digits.iter().map_while(|digit| char::from(*digit).to_digit(base));
    let magnitude = digits.fold(0_u128, |sum, digit| (sum * u128::from(base) + u128::from(digit)).min(1 << 64));
    nearest(is_negative, magnitude)
}

fn nearest(is_negative: bool, magnitude: u128) -> i64 {
    let magnitude = magnitude as i128;
    let value = if is_negative { -magnitude } else { magnitude };
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// As [`parse_integer`]; none for a number that does not fit 64 bits, unless it is the nearest integer.
pub(crate) fn checked_integer(digits: &[u8], semantics: Semantics) -> Option<i64> {
    let (negative, digits) = match digits.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, digits),
    };
    let mut digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    // Counting downwards, because the most negative number has no positive counterpart.
    let value = digits.try_fold(0_i64, |sum, digit| sum.checked_mul(10)?.checked_sub(i64::from(digit - b'0')));
    let value = if negative { value } else { value.and_then(i64::checked_neg) };
    let nearest = if negative { i64::MIN } else { i64::MAX };
    value.or_else(|| semantics.is_old(VersionRule::IntegerRange).then_some(nearest))
}

/// Truncates a real to an integer as x86-64 does (`cvttsd2si`): what does not fit, and NaN, is the smallest integer.
///
/// ```
/// # use classmate::internal::syntax::number::real_to_integer;
/// assert_eq!(real_to_integer(-7.9), -7);
/// assert_eq!(real_to_integer(1e19), i64::MIN);
/// ```
pub fn real_to_integer(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(digits: &[u8]) -> i64 {
        parse_integer(digits, Semantics::default())
    }

    #[test]
    fn older_versions_read_integers_as_c_does() {
        let old = Semantics::of(crate::semantics::OLDEST);
        assert_eq!(parse_integer(b"9223372036854775808", old), i64::MAX);
        assert_eq!(parse_integer(b"-99999999999999999999", old), i64::MIN);
        for (text, expected) in [
            (&b"0777"[..], 511),
            (b"-010", -8),
            (b"0", 0),
            (b"-0x10", -16),
            (b"0x7fffffffffffffff", i64::MAX),
            (b"0xffffffffffffffffffffffffffffffffff", i64::MAX),
            (b"-0xffffffffffffffffffffffffffffffffff", i64::MIN),
            (b"12", 12),
        ] {
            assert_eq!(parse_c_integer(text), expected);
        }
    }

    fn real(value: f64) -> String {
        let mut out = Vec::new();
        write_real(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    fn short(value: f64) -> String {
        let mut out = Vec::new();
        write_real_short(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    fn general(value: f64, precision: usize) -> String {
        let mut out = Vec::new();
        write_general(&mut out, value, precision, false);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn canonical_reals_have_sixteen_digits() {
        assert_eq!(real(1.5), "1.500000000000000E+00");
        assert_eq!(real(1e100), "1.000000000000000E+100");
        assert_eq!(real(-123.0), "-1.230000000000000E+02");
        assert_eq!(real(0.1 + 0.2), "3.000000000000000E-01");
        assert_eq!(real(5e-324), "4.940656458412465E-324");
        assert_eq!(real(f64::MAX), "1.797693134862316E+308");
        assert_eq!(real(9_007_199_254_740_991.0), "9.007199254740991E+15");
        assert_eq!(real(9_007_199_254_740_993_000.0), "9.007199254740993E+18");
    }

    #[test]
    fn ties_round_to_even() {
        // 2^-24 = 5.9604644775390625e-8 and 3 · 2^-24 = 1.78813934326171875e-7 have exactly seventeen and eighteen digits.
        assert_eq!(real(2f64.powi(-24)), "5.960464477539062E-08");
        assert_eq!(real(2f64.powi(-24) * 3.0), "1.788139343261719E-07");
        // 2^-25 = 2.98023223876953125e-8, cut at ...953|125.
        assert_eq!(real(2f64.powi(-25)), "2.980232238769531E-08");
        assert_eq!(general(2.5, 1), "2");
        assert_eq!(general(3.5, 1), "4");
        assert_eq!(general(0.5, 0), "0.5");
    }

    #[test]
    fn special_reals_have_their_own_text() {
        assert_eq!(real(0.0), "0.0");
        assert_eq!(real(-0.0), "-0.0");
        assert_eq!(real(f64::NAN), "real(\"NaN\")");
        assert_eq!(real(f64::INFINITY), "real(\"INF\")");
        assert_eq!(real(f64::NEG_INFINITY), "real(\"-INF\")");
        assert_eq!(short(-0.0), "-0.0");
        assert_eq!(short(f64::NAN), "real(\"NaN\")");
    }

    #[test]
    fn short_reals_follow_the_old_syntax() {
        for (value, text) in [
            (1.5, "1.5"),
            (100.0, "100.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1E+16"),
            (0.1, "0.1"),
            (1e-7, "1E-07"),
            (123_456_789.125, "123456789.125"),
            (0.0001, "0.0001"),
            (-2.0, "-2.0"),
            (1e300, "1E+300"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn general_format_is_that_of_c() {
        // printf("%.6g"), printf("%.3g") and so on.
        assert_eq!(general(4.5, 6), "4.5");
        assert_eq!(general(0.00001, 6), "1e-05");
        assert_eq!(general(999_999.5, 6), "1e+06");
        assert_eq!(general(0.0, 6), "0");
        assert_eq!(general(-0.0, 6), "-0");
        assert_eq!(general(123_456.0, 3), "1.23e+05");
        assert_eq!(general(100_000.0, 6), "100000");
        assert_eq!(general(f64::NEG_INFINITY, 6), "-inf");
        assert_eq!(general(0.1, 30), "0.100000000000000005551115123126");
    }

    #[test]
    fn prefixes_follow_strtod() {
        for (text, value, length) in [
            ("12abc", 12.0, 2),
            (" \t\n-1.5e3x", -1500.0, 9),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            (".5", 0.5, 2),
            ("5.", 5.0, 2),
            ("+.5e-1", 0.05, 6),
            ("0x10", 16.0, 4),
            ("0x", 0.0, 1),
            ("0xg", 0.0, 1),
            ("0x.8p1", 1.0, 6),
            ("0x.p1", 0.0, 1),
            ("0x1p", 1.0, 3),
            ("0X1.8P+3z", 12.0, 8),
            ("infinite", f64::INFINITY, 3),
            ("-InFiNiTyx", f64::NEG_INFINITY, 9),
            ("1e400", f64::INFINITY, 5),
            ("1e-400", 0.0, 6),
            ("1e99999999999999999999", f64::INFINITY, 22),
            ("0x1p99999999999999999999", f64::INFINITY, 24),
            ("0x1p-1074", 5e-324, 9),
            ("0x1p-1075", 0.0, 9),
            ("0x1.8p-1075", 5e-324, 11),
            ("0x1.fffffffffffff8p0", 2.0, 20),
            ("0x1.00000000000008p0", 1.0, 20),
            ("0x1.000000000000080000000000001p0", 1.000_000_000_000_000_2, 33),
            ("0x1.fffffffffffff8p1023", f64::INFINITY, 23),
        ] {
            assert_eq!(real_prefix(text.as_bytes()), Some((value, length)), "{text}");
        }
        for text in ["", " ", ".", "-", "+", "x12", "e5", ".e5", "-.", "in", "na", "- 5"] {
            assert_eq!(real_prefix(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn nan_takes_a_tag_only_when_it_is_closed() {
        for (text, length) in [("nan", 3), ("NaN(12_x)y", 9), ("nan(", 3), ("nan(a-b)", 3), ("-nan()", 6)] {
            let (value, used) = real_prefix(text.as_bytes()).unwrap();
            assert!(value.is_nan());
            assert_eq!(used, length, "{text}");
        }
    }

    #[test]
    fn integers_out_of_range_are_zero() {
        assert_eq!(integer(b"9223372036854775807"), i64::MAX);
        assert_eq!(integer(b"9223372036854775808"), 0);
        assert_eq!(integer(b"-9223372036854775808"), i64::MIN);
        assert_eq!(integer(b"-9223372036854775809"), 0);
        assert_eq!(integer(b"99999999999999999999"), 0);
        assert_eq!(integer(b"010"), 10);
        assert_eq!(integer(b"-0x10"), 0);
    }

    #[test]
    fn conversion_to_integer_truncates_or_saturates_low() {
        assert_eq!(real_to_integer(7.9), 7);
        assert_eq!(real_to_integer(-7.9), -7);
        assert_eq!(real_to_integer(f64::NAN), i64::MIN);
        assert_eq!(real_to_integer(f64::INFINITY), i64::MIN);
        assert_eq!(real_to_integer(9.3e18), i64::MIN);
        assert_eq!(real_to_integer(-9_223_372_036_854_775_808.0), i64::MIN);
        assert_eq!(real_to_integer(9_223_372_036_854_774_784.0), 9_223_372_036_854_774_784);
    }

    #[test]
    fn a_million_digits_are_read_in_one_pass() {
        let text = vec![b'9'; 1_000_000];
        assert_eq!(real_prefix(&text), Some((f64::INFINITY, 1_000_000)));
        assert_eq!(integer(&text), 0);
    }
}
