//! Version numbers: `versioncmp`, `versionLT` … `versionGT`, `version_in_range`, and the natural comparison.

use crate::builtin::string::two_texts;
use crate::builtin::{Call, Exit, Function};
use crate::name::Name;
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("versioncmp(a, b)", |call| compared(call).map(Value::Int)),
    Function::new("versionLT(a, b)", |call| decide(call, |order| order < 0)),
    Function::new("versionLE(a, b)", |call| decide(call, |order| order <= 0)),
    Function::new("versionEQ(a, b)", |call| decide(call, |order| order == 0)),
    Function::new("versionGE(a, b)", |call| decide(call, |order| order >= 0)),
    Function::new("versionGT(a, b)", |call| decide(call, |order| order > 0)),
    Function::new("version_in_range(version, least, most)", version_in_range),
];

/// Functions that older versions know only as they are spelled here.
const COMPARISONS: [&str; 5] = ["versionLT", "versionLE", "versionEQ", "versionGE", "versionGT"];

/// Tests whether older versions know a function by a name.
pub fn is_spelled(function: &str, name: Name) -> bool {
    name.as_bytes() == function.as_bytes() || !COMPARISONS.contains(&function)
}

/// Bytes of a version that are compared in about the time of one node evaluation.
const COMPARED_PER_STEP: usize = 16;

fn compared(call: &mut Call<'_, '_>) -> Result<i64, Exit> {
    let (a, b) = two_texts(call)?;
    call.charge((a.len() + b.len()) / COMPARED_PER_STEP)?;
    Ok(natural_compare(&a, &b))
}

fn decide(call: &mut Call<'_, '_>, holds: fn(i64) -> bool) -> Result<Value, Exit> {
    compared(call).map(|order| Value::Bool(holds(order)))
}

fn version_in_range(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let (version, least, most) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    if least.is_undefined() || most.is_undefined() {
        return Ok(Value::Undefined);
    }
    let mut text = |value: &Value| call.text(value).map_err(Exit::into_error);
    let (version, least, most) = (text(&version)?, text(&least)?, text(&most)?);
    call.charge(2 * version.len() / COMPARED_PER_STEP)?;
    Ok(Value::Bool(natural_compare(&least, &version) <= 0 && natural_compare(&version, &most) <= 0))
}

/// Compares two texts as versions: runs of digits compare as numbers, everything else byte by byte.
///
/// Less than, equal to or greater than 0. The size of the result means nothing, but programs see it, so it is the one
/// of the reference: the difference of the first two bytes that differ (the end counts as 0), or of the number of
/// leading zeros, or of the lengths of two numbers. A number with more leading zeros comes first: `000 < 00 < 01 < 09 <
/// 0 < 1`.
///
/// ```
/// # use classmate::internal::builtin::version::natural_compare;
/// assert!(natural_compare(b"8.9.1", b"8.10.0") < 0);
/// assert_eq!(natural_compare(b"1", b"1.0"), -46);
/// ```
pub fn natural_compare(a: &[u8], b: &[u8]) -> i64 {
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    if common == a.len() && common == b.len() {
        return 0;
    }
    let (x, y) = (byte_at(a, common), byte_at(b, common));
    // Bytes are signed in the reference, so those above 127 sort before the others.
    let difference = i64::from(x as i8) - i64::from(y as i8);
    // A number that began in the common part belongs to both texts.
    let number = a[..common].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
    if number == common && !(x.is_ascii_digit() && y.is_ascii_digit()) {
        return difference;
    }
    let (zeros_a, zeros_b) = (leading_zeros(&a[number..]), leading_zeros(&b[number..]));
    if zeros_a != zeros_b {
        return zeros_b as i64 - zeros_a as i64;
    }
    if zeros_a > 0 {
        return difference;
    }
    let (digits_a, digits_b) = (digits(&a[number..]), digits(&b[number..]));
    if digits_a == digits_b { difference } else { digits_a as i64 - digits_b as i64 }
}

/// The byte at an index, 0 after the end.
fn byte_at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or(0)
}

/// The zeros before a number; the last one is not leading when no other digit follows.
fn leading_zeros(text: &[u8]) -> usize {
    let zeros = text.iter().take_while(|byte| **byte == b'0').count();
    if byte_at(text, zeros).is_ascii_digit() { zeros } else { zeros.saturating_sub(1) }
}

/// The number of digits at the start.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_reference() {
        for (a, b, expected) in CASES {
            assert_eq!(natural_compare(a.as_bytes(), b.as_bytes()), *expected, "{a} {b}");
        }
    }

    #[test]
    fn leading_zeros_order_as_documented() {
        let order = ["000", "00", "01", "010", "09", "0", "1", "9", "10"];
        for (i, a) in order.iter().enumerate() {
            for (j, b) in order.iter().enumerate() {
                let sign = natural_compare(a.as_bytes(), b.as_bytes()).signum();
                assert_eq!(sign, (i as i64 - j as i64).signum(), "{a} {b}");
            }
        }
    }

    /// Proofs rely on it that versions have an order.
    #[test]
    fn the_comparison_is_an_order() {
        let letters = ["", "0", "1", "9", ".", "a", "é"];
        let texts: Vec<String> = letters
            .iter()
            .flat_map(|one| letters.iter().map(move |two| format!("{one}{two}")))
            .flat_map(|text| ["", "0", "7"].map(|end| format!("{text}{end}")))
            .collect();
        let is_less = |a: &String, b: &String| natural_compare(a.as_bytes(), b.as_bytes()) < 0;
        for a in &texts {
            for b in &texts {
                assert_eq!(is_less(a, b), natural_compare(b.as_bytes(), a.as_bytes()) > 0, "{a} {b}");
                for c in texts.iter().filter(|_| is_less(a, b)) {
                    assert!(!is_less(b, c) || is_less(a, c), "{a} < {b} < {c}");
                    assert!(is_less(a, c) || is_less(c, b), "{c} is beside {a} and {b}");
                }
            }
        }
    }

    const CASES: &[(&str, &str, i64)] = &[
        ("8.9", "8.10", -1),
        ("é", "a", -158),
        ("a", "é", 158),
        ("a", "", 97),
        ("", "é", 61),
        ("1é", "1a", -158),
        ("1", "1é", 61),
        ("1", "1.0", -46),
        ("1.0", "1.", 48),
        ("a1b", "a1", 98),
        ("100", "10", 1),
        ("00a", "000a", 1),
        ("00", "000", 1),
        ("0", "00", 1),
        ("001", "002", -1),
        ("10a", "1a", 1),
        ("1.05", "1.5", -1),
        ("1.0a", "1.0.", 51),
        ("1x", "1", 120),
        ("x9", "x10", -1),
        ("9x", "x9", -63),
        ("0a", "0", 97),
        ("01", "0a", -1),
        ("00", "0a", -1),
        ("100000000000000000000", "99999999999999999999", 1),
        ("1.0", "1.0", 0),
    ];
}
