//! Symmetric match and rank of two ads (`docs/reference/classad-language.md` 11).

use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Scope};
use crate::eval::{EvalError, Evaluator, REQUIREMENTS};
use crate::name::Name;
use crate::value::Value;
use crate::value::logic::Truth;

/// Tests whether both ads accept each other: the Requirements of the right one, then of the left one, are true or a
/// number other than zero. A missing or failing Requirements is no match.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::eval::matching::symmetric;
/// use classmate::EvalOptions;
/// let job = ClassAd::parse(b"[ RequestCpus = 2; Requirements = TARGET.Cpus >= RequestCpus ]")?;
/// let slot = ClassAd::parse(b"[ Cpus = 4; Requirements = true ]")?;
/// assert!(symmetric(&job, &slot, &EvalOptions::default()));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn symmetric(left: &ClassAd, right: &ClassAd, settings: &EvalOptions) -> bool {
    if std::ptr::eq(left, right) {
        return accepts(left, right, settings);
    }
    Evaluator::new(Scope::new(left, settings).with_target(right)).both_accept()
}

/// Tests whether the Requirements of one ad accept another.
pub fn accepts(my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> bool {
    let scope = Scope::new(my, settings).with_target(target);
    Evaluator::new(scope).attribute_truth(*REQUIREMENTS) == Ok(Truth::True)
}

/// The value of the Requirements of one ad for another.
///
/// # Errors
/// The evaluation was abandoned.
pub fn requirements(my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> Result<Value, EvalError> {
    Scope::new(my, settings).with_target(target).eval_attr(*REQUIREMENTS)
}

/// Tests whether a Requirements with this outcome accepts.
pub fn is_true(outcome: &Result<Value, EvalError>) -> bool {
    outcome.as_ref().is_ok_and(|value| value.as_condition() == Some(true))
}

/// The preference of one ad for another: its Rank as a number, larger is better; 0 if it is missing or no number.
///
/// If the ranking ad has no Rank but the candidate has one, the candidate's is used, as in the reference.
pub fn rank(my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> f64 {
    let value = Scope::new(my, settings).with_target(target).eval_attr_either("Rank");
    value.ok().and_then(|value| value.as_number()).unwrap_or(0.0)
}

/// The value of an attribute of the ad around a match: `symmetricMatch`, `leftMatchesRight`,
/// `rightMatchesLeft`, `leftRankValue`, `rightRankValue`.
///
/// # Errors
/// The evaluation was abandoned.
pub fn match_attribute(
    left: &ClassAd,
    right: &ClassAd,
    name: &str,
    settings: &EvalOptions,
) -> Result<Value, EvalError> {
    Evaluator::new(Scope::new(left, settings).with_target(right)).eval_match_attribute(Name::new(name))
}
