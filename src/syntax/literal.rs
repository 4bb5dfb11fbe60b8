//! Constants as they are in an expression.

use crate::syntax::time::AbsTime;
use crate::text::Text;

/// A constant: what an expression consists of when nothing is left to compute.
#[derive(Clone, Debug)]
pub enum Literal {
    /// `undefined`
    Undefined,
    /// `error`
    Error,
    /// `true`, `false`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A string.
    Str(Text),
    /// `absTime("…")`
    AbsTime(AbsTime),
    /// `relTime("…")`, in seconds. As an expression it evaluates to a real (the reference does so).
    RelTime(f64),
    /// The same in versions where it evaluates to a relative time.
    OldRelTime(f64),
    /// `10K`, in versions that print it as it was written: the number, and the letter after it.
    Suffixed(Box<Literal>, SizeSuffix),
}

/// A letter that multiplies the number before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct SizeSuffix(u8);

impl SizeSuffix {
    const LETTERS: &'static [u8; 5] = b"BKMGT";

    /// The suffix that a byte is.
    pub fn of(byte: u8) -> Option<Self> {
        let byte = byte.to_ascii_uppercase();
        Self::LETTERS.contains(&byte).then_some(SizeSuffix(byte))
    }

    /// The upper-case letter.
    pub fn letter(self) -> u8 {
        self.0
    }

    /// The factor: a power of 1024.
    pub fn factor(self) -> f64 {
        let power = Self::LETTERS.iter().position(|letter| *letter == self.0).unwrap_or_default();
        1024_f64.powi(power as i32)
    }
}

impl Literal {
    /// The product of a number and its size suffix; other constants are returned as they are.
    #[must_use]
    pub fn product(&self) -> Literal {
        match self {
            Literal::Suffixed(number, suffix) => Literal::Real(match **number {
                Literal::Int(value) => value as f64 * suffix.factor(),
                Literal::Real(value) => value * suffix.factor(),
                _ => 0.0, // only numbers have a suffix
            }),
            other => other.clone(),
        }
    }

    /// Tests whether both are the same constant in the sense of structural equality
    /// (`docs/reference/classad-language.md` 10.4): same kind; reals within 2.2e-16 (the distance from 1 to the next
    /// double) of each other, NaN equal to NaN.
    pub fn same_as(&self, other: &Literal) -> bool {
        self.same_within(other, f64::EPSILON)
    }

    /// As [`Literal::same_as`], with another distance of reals that count as equal.
    pub(crate) fn same_within(&self, other: &Literal, distance: f64) -> bool {
        match (self, other) {
            (Literal::Undefined, Literal::Undefined) | (Literal::Error, Literal::Error) => true,
            (Literal::Bool(a), Literal::Bool(b)) => a == b,
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Str(a), Literal::Str(b)) => a == b,
            (Literal::AbsTime(a), Literal::AbsTime(b)) => a == b,
            (Literal::Suffixed(a, suffix), Literal::Suffixed(b, other)) => {
                suffix == other && a.same_within(b, distance)
            }
            (Literal::Real(a), Literal::Real(b))
            | (Literal::RelTime(a), Literal::RelTime(b))
            | (Literal::OldRelTime(a), Literal::OldRelTime(b)) => {
                a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= distance
            }
            _ => false,
        }
    }
}
