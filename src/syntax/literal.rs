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
}

impl Literal {
    /// Tests whether both are the same constant in the sense of structural equality
    /// (`docs/reference/classad-language.md` 10.4): same kind; reals within 2.2e-16 (the distance from 1 to the next
    /// double) of each other, NaN equal to NaN.
    pub fn same_as(&self, other: &Literal) -> bool {
        match (self, other) {
            (Literal::Undefined, Literal::Undefined) | (Literal::Error, Literal::Error) => true,
            (Literal::Bool(a), Literal::Bool(b)) => a == b,
            (Literal::Int(a), Literal::Int(b)) => a == b,
            (Literal::Str(a), Literal::Str(b)) => a == b,
            (Literal::AbsTime(a), Literal::AbsTime(b)) => a == b,
            (Literal::Real(a), Literal::Real(b)) | (Literal::RelTime(a), Literal::RelTime(b)) => {
                a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= f64::EPSILON
            }
            _ => false,
        }
    }
}
