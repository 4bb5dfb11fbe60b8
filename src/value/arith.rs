//! `+ - * / %`, unary minus and plus, shifts and bits.

use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::time::{AbsTime, truncate_to_32};
use crate::value::Value;
use crate::value::compare::integers;

/// `left op right` for an arithmetic operator (`docs/reference/classad-language.md` 5.4, 5.8). Error before undefined
/// before type rules.
pub fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => integer(op, *a, *b),
        (Value::Error, _) | (_, Value::Error) => Value::Error,
        (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
        (Value::AbsTime(_) | Value::RelTime(_), _) | (_, Value::AbsTime(_) | Value::RelTime(_)) => {
            time(op, left, right)
        }
        _ => match integers(left, right) {
            Some((a, b)) => integer(op, a, b),
            None => match (left.as_number(), right.as_number()) {
                (Some(a), Some(b)) => real(op, a, b),
                _ => Value::Error,
            },
        },
    }
}

fn integer(op: BinaryOp, a: i64, b: i64) -> Value {
    Value::Int(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide | BinaryOp::Modulo if b == 0 => return Value::Error,
        // The one quotient that overflows, i64::MIN / -1, is the largest integer in the reference.
        BinaryOp::Divide => a.saturating_div(b),
        BinaryOp::Modulo => a.wrapping_rem(b),
        _ => return Value::Error,
    })
}

fn real(op: BinaryOp, a: f64, b: f64) -> Value {
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => return Value::Error,
    };
    // Positive infinity is an error, negative infinity and NaN are results.
    if result == f64::INFINITY { Value::Error } else { Value::Real(result) }
}

fn time(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match (op, left, right) {
        (BinaryOp::Add, Value::AbsTime(at), Value::RelTime(by))
        | (BinaryOp::Add, Value::RelTime(by), Value::AbsTime(at)) => shifted(*at, *by, i64::wrapping_add),
        (BinaryOp::Subtract, Value::AbsTime(at), Value::RelTime(by)) => shifted(*at, *by, i64::wrapping_sub),
        (BinaryOp::Subtract, Value::AbsTime(a), Value::AbsTime(b)) => {
            Value::RelTime(a.seconds.wrapping_sub(b.seconds) as f64)
        }
        (BinaryOp::Add, Value::RelTime(a), Value::RelTime(b)) => Value::RelTime(a + b),
        (BinaryOp::Subtract, Value::RelTime(a), Value::RelTime(b)) => Value::RelTime(a - b),
        (BinaryOp::Multiply, Value::RelTime(a), Value::Int(b))
        | (BinaryOp::Multiply, Value::Int(b), Value::RelTime(a)) => Value::RelTime(a * *b as f64),
        (BinaryOp::Multiply, Value::RelTime(a), Value::Real(b))
        | (BinaryOp::Multiply, Value::Real(b), Value::RelTime(a)) => Value::RelTime(a * b),
        (BinaryOp::Divide, Value::RelTime(a), Value::Int(b)) => Value::RelTime(a / *b as f64),
        (BinaryOp::Divide, Value::RelTime(a), Value::Real(b)) => Value::RelTime(a / b),
        _ => Value::Error,
    }
}

/// The reference keeps 32 bits of the seconds.
fn shifted(at: AbsTime, by: f64, combine: fn(i64, i64) -> i64) -> Value {
    Value::AbsTime(AbsTime { seconds: combine(at.seconds, i64::from(truncate_to_32(by))), offset: at.offset })
}

/// `left op right` for `& | ^ << >> >>>` (`docs/reference/classad-language.md` 5.5): integers only.
pub fn bitwise(op: BinaryOp, left: &Value, right: &Value) -> Value {
    let (a, b) = match (left, right) {
        (Value::Int(a), Value::Int(b)) => (*a, *b),
        (Value::Error, _) | (_, Value::Error) => return Value::Error,
        (Value::Undefined, _) | (_, Value::Undefined) => return Value::Undefined,
        _ => return Value::Error,
    };
    Value::Int(match op {
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft => a.wrapping_shl(b as u32),
        BinaryOp::ShiftRight if a >= 0 => a.wrapping_shr(b as u32),
        BinaryOp::ShiftRight => a >> b.clamp(0, 63),
        BinaryOp::ShiftRightZero if a >= 0 => a.wrapping_shr(b as u32),
        BinaryOp::ShiftRightZero => ((a as u64 >> 1) as i64).wrapping_shr(b.wrapping_sub(1) as u32),
        _ => return Value::Error,
    })
}

/// `op value` for `- + ~` (`docs/reference/classad-language.md` 5.4, 5.5).
pub fn unary(op: UnaryOp, value: Value) -> Value {
    match (op, value) {
        (_, Value::Undefined) => Value::Undefined,
        (UnaryOp::Minus, Value::Int(value)) => Value::Int(value.wrapping_neg()),
        (UnaryOp::Minus, Value::Real(value)) => Value::Real(-value),
        (UnaryOp::Minus, Value::RelTime(value)) => Value::RelTime(-value),
        (UnaryOp::Plus, value @ (Value::Int(_) | Value::Real(_) | Value::RelTime(_))) => value,
        (UnaryOp::BitNot, Value::Int(value)) => Value::Int(!value),
        _ => Value::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_those_of_the_description() {
        let shift = |op, a, b| bitwise(op, &Value::Int(a), &Value::Int(b)).as_int();
        assert_eq!(shift(BinaryOp::ShiftLeft, 1, 64), Some(1));
        assert_eq!(shift(BinaryOp::ShiftLeft, 1, -1), Some(i64::MIN));
        assert_eq!(shift(BinaryOp::ShiftRight, -8, 70), Some(-1));
        assert_eq!(shift(BinaryOp::ShiftRight, -8, -1), Some(-8));
        assert_eq!(shift(BinaryOp::ShiftRightZero, -8, 1), Some(9_223_372_036_854_775_804));
        assert_eq!(shift(BinaryOp::ShiftRightZero, -8, 0), Some(0));
        assert_eq!(shift(BinaryOp::ShiftRightZero, -8, 65), Some(9_223_372_036_854_775_804));
    }

    #[test]
    fn only_positive_infinity_is_an_error() {
        let divide = |a, b| arithmetic(BinaryOp::Divide, &Value::Real(a), &Value::Real(b));
        assert!(divide(5.0, 0.0).is_error());
        assert!(matches!(divide(-5.0, 0.0), Value::Real(value) if value == f64::NEG_INFINITY));
        assert!(matches!(divide(0.0, 0.0), Value::Real(value) if value.is_nan()));
    }

    #[test]
    fn a_time_moves_by_32_bits_of_seconds() {
        // absTime(0) + relTime(1e10) and absTime(0) - relTime(1e10), as the reference answers them.
        let (at, by) = (Value::AbsTime(AbsTime { seconds: 0, offset: 0 }), Value::RelTime(1e10));
        let seconds = |op| match arithmetic(op, &at, &by) {
            Value::AbsTime(time) => Some(time.seconds),
            _ => None,
        };
        assert_eq!(seconds(BinaryOp::Add), Some(-2_147_483_648));
        assert_eq!(seconds(BinaryOp::Subtract), Some(2_147_483_648));
    }

    #[test]
    fn the_smallest_integer_divides_by_minus_one_without_overflow() {
        let of = |op| arithmetic(op, &Value::Int(i64::MIN), &Value::Int(-1)).as_int();
        assert_eq!(of(BinaryOp::Divide), Some(i64::MAX));
        assert_eq!(of(BinaryOp::Modulo), Some(0));
    }
}
