//! `&&`, `||`, `!`: logic of true, false, undefined and error.
//!
//! The tables are not symmetric (`true || error` is true, `error || true` is error), so operands must never be
//! swapped.

use crate::value::Value;

/// The meaning of a value as an operand of logic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// True, or a number other than zero.
    True,
    /// False, or zero.
    False,
    /// Undefined.
    Undefined,
    /// Error.
    Error,
    /// A string, list, ad or time: no condition at all.
    NotBoolean,
}

use Truth::{Error as E, False as F, True as T, Undefined as U};

/// `left && right`; rows are the left operand in the order true, false, undefined, error, not boolean.
const AND: [[Truth; 5]; 5] = [[T, F, U, E, E], [F, F, F, F, F], [U, F, U, E, E], [E, E, E, E, E], [E, E, E, E, E]];

/// `left || right`
const OR: [[Truth; 5]; 5] = [[T, T, T, T, T], [T, F, U, E, E], [T, U, U, E, E], [E, E, E, E, E], [E, E, E, E, E]];

impl Truth {
    /// The meaning of a value.
    pub fn of(value: &Value) -> Truth {
        match value {
            Value::Bool(true) => T,
            Value::Bool(false) => F,
            Value::Undefined => U,
            Value::Error => E,
            other => match other.as_condition() {
                Some(true) => T,
                Some(false) => F,
                None => Truth::NotBoolean,
            },
        }
    }

    /// `self && right`
    #[must_use]
    pub fn and(self, right: Truth) -> Truth {
        AND[self as usize][right as usize]
    }

    /// `self || right`
    #[must_use]
    pub fn or(self, right: Truth) -> Truth {
        OR[self as usize][right as usize]
    }

    /// `!self`
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "an operator of the language, beside and and or")]
    pub fn not(self) -> Truth {
        match self {
            T => F,
            F => T,
            U => U,
            E | Truth::NotBoolean => E,
        }
    }

    /// Tests whether `self && …` is decided without the right operand. A value that is not boolean does not decide, though the result
    /// is error either way: the reference evaluates the right operand then.
    pub fn decides_and(self) -> bool {
        matches!(self, F | E)
    }

    /// Tests whether `self || …` is decided without the right operand.
    pub fn decides_or(self) -> bool {
        matches!(self, T | E)
    }

    /// The value of a result.
    pub fn value(self) -> Value {
        match self {
            T => Value::Bool(true),
            F => Value::Bool(false),
            U => Value::Undefined,
            E | Truth::NotBoolean => Value::Error,
        }
    }
}

/// `!value`
pub fn not(value: &Value) -> Value {
    Truth::of(value).not().value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_on_the_left_is_never_outvoted() {
        for right in [T, F, U, E, Truth::NotBoolean] {
            assert_eq!(E.and(right), E);
            assert_eq!(E.or(right), E);
        }
        assert_eq!(F.and(E), F);
        assert_eq!(T.or(E), T);
        assert_eq!(U.and(E), E);
    }

    #[test]
    fn what_decides_alone_has_a_constant_row() {
        for left in [T, F, U, E, Truth::NotBoolean] {
            let constant = |row: [Truth; 5]| row.iter().all(|result| *result == row[0]);
            if left.decides_and() {
                assert!(constant(AND[left as usize]), "{left:?}");
            }
            if left.decides_or() {
                assert!(constant(OR[left as usize]), "{left:?}");
            }
        }
    }
}
