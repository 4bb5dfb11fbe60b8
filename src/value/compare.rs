//! `< <= > >= == !=` and identity.

use std::cell::Cell;
use std::cmp::Ordering;

use crate::syntax::operator::BinaryOp;
use crate::value::Value;

thread_local! {
    /// True once a string was compared with something else: the one mistake in an evaluation that the reference's
    /// library notes for `lastError`.
    static MIXED: Cell<bool> = const { Cell::new(false) };
}

/// Tests whether a string was compared with something else on this thread since the last call.
pub fn take_mixed() -> bool {
    MIXED.take()
}

/// `left op right` for an ordering or equality operator (`docs/reference/classad-language.md` 5.6). Error before
/// undefined before type rules.
pub fn compare(op: BinaryOp, left: &Value, right: &Value) -> Value {
    Value::Bool(match (left, right) {
        (Value::Int(a), Value::Int(b)) => decide(op, Some(a.cmp(b))),
        (Value::Error, _) | (_, Value::Error) => return Value::Error,
        (Value::Undefined, _) | (_, Value::Undefined) => return Value::Undefined,
        (Value::Ad(_) | Value::List(_), _) | (_, Value::Ad(_) | Value::List(_)) => return Value::Error,
        (Value::Str(a), Value::Str(b)) => return texts(op, a, b).map_or_else(Value::default, Value::Bool),
        (Value::AbsTime(a), Value::AbsTime(b)) => {
            let (a, b) = (a.seconds, b.seconds);
            decide(op, Some(a.cmp(&b)))
        }
        (Value::RelTime(a), Value::RelTime(b)) => decide(op, a.partial_cmp(b)),
        _ => match integers(left, right) {
            Some((a, b)) => decide(op, Some(a.cmp(&b))),
            None => match (left.as_number(), right.as_number()) {
                (Some(a), Some(b)) => decide(op, a.partial_cmp(&b)),
                _ => {
                    // A string, or a time, beside something else.
                    if matches!((left, right), (Value::Str(_), _) | (_, Value::Str(_))) {
                        MIXED.set(true);
                    }
                    return Value::Error;
                }
            },
        },
    })
}

/// The outcome of a comparison of two strings; none for other operators.
pub(crate) fn texts(op: BinaryOp, a: &[u8], b: &[u8]) -> Option<bool> {
    Some(match op {
        BinaryOp::Equal => equal(a, b),
        BinaryOp::NotEqual => !equal(a, b),
        BinaryOp::Is => a == b,
        BinaryOp::Isnt => a != b,
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            decide(op, Some(folded_order(a, b)))
        }
        _ => return None,
    })
}

/// Tests whether two strings are equal without case. Most that are equal are spelled alike, which is seen at once.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a == b || a.eq_ignore_ascii_case(b)
}

fn decide(op: BinaryOp, order: Option<Ordering>) -> bool {
    let Some(order) = order else {
        return op == BinaryOp::NotEqual; // NaN
    };
    match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        BinaryOp::GreaterEqual => order.is_ge(),
        BinaryOp::NotEqual => order.is_ne(),
        _ => order.is_eq(),
    }
}

/// Both operands as integers, booleans included.
pub(crate) fn integers(left: &Value, right: &Value) -> Option<(i64, i64)> {
    let integer = |value: &Value| match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some(i64::from(*value)),
        _ => None,
    };
    Some((integer(left)?, integer(right)?))
}

/// The order of strings without ASCII case, bytes compared in lower case.
pub fn folded_order(a: &[u8], b: &[u8]) -> Ordering {
    let fold = |bytes: &[u8]| bytes.first().copied().map(|byte| byte.to_ascii_lowercase());
    let common = a.iter().zip(b).take_while(|(x, y)| x.eq_ignore_ascii_case(y)).count();
    fold(&a[common..]).cmp(&fold(&b[common..]))
}

/// `left =?= right` (`docs/reference/classad-language.md` 5.7): error for two lists or two ads, otherwise a boolean.
pub fn identical(left: &Value, right: &Value) -> Value {
    Value::Bool(match (left, right) {
        (Value::List(_), Value::List(_)) | (Value::Ad(_), Value::Ad(_)) => return Value::Error,
        (Value::Undefined, Value::Undefined) | (Value::Error, Value::Error) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Real(a), Value::Real(b)) | (Value::RelTime(a), Value::RelTime(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::AbsTime(a), Value::AbsTime(b)) => a == b,
        _ => false,
    })
}

/// `left =!= right`
pub fn not_identical(left: &Value, right: &Value) -> Value {
    match identical(left, right) {
        Value::Bool(same) => Value::Bool(!same),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_compare_without_case_but_are_identical_only_with_it() {
        let (a, b) = (Value::from("LINUX"), Value::from("linux"));
        assert!(matches!(compare(BinaryOp::Equal, &a, &b), Value::Bool(true)));
        assert!(matches!(identical(&a, &b), Value::Bool(false)));
        // "Z" is below "_" in lower case only the other way round: 'z' is 0x7a, '_' is 0x5f.
        assert!(matches!(compare(BinaryOp::Less, &Value::from("Z"), &Value::from("_")), Value::Bool(false)));
    }

    #[test]
    fn nan_is_unequal_to_everything() {
        let nan = Value::Real(f64::NAN);
        assert!(matches!(compare(BinaryOp::NotEqual, &nan, &nan), Value::Bool(true)));
        assert!(matches!(compare(BinaryOp::LessEqual, &nan, &Value::Int(1)), Value::Bool(false)));
    }

    #[test]
    fn undefined_comes_before_the_type_rules_and_error_before_undefined() {
        let list = Value::List(crate::value::List::of(Vec::new()));
        assert!(compare(BinaryOp::Equal, &Value::Undefined, &list).is_undefined());
        assert!(compare(BinaryOp::Equal, &Value::Undefined, &Value::Error).is_error());
    }
}
