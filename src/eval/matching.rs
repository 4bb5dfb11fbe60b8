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

/// Tests whether two different ads accept each other, as `symmetricMatch` of HTCondor's Python module does: the
/// Requirements of the right one, then of the left one, evaluated as an expression in its ad. In contrast to
/// [`symmetric`], one that refers to itself finds itself, and a duration other than zero accepts.
///
/// # Errors
/// An evaluation was abandoned.
pub fn symmetric_by_expression(left: &ClassAd, right: &ClassAd, settings: &EvalOptions) -> Result<bool, EvalError> {
    Evaluator::new(Scope { my: right, target: Some(left), settings }).both_nonzero()
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
    rank_counted(my, target, settings).0
}

/// As [`rank`]; also how many steps of [`Limits::work`](crate::eval::scope::Limits::work) it took.
pub fn rank_counted(my: &ClassAd, target: &ClassAd, settings: &EvalOptions) -> (f64, u64) {
    let name = Name::new("Rank");
    let (value, steps) = Scope::new(my, settings).with_target(target).holding(name).eval_attr_counted(name);
    (value.ok().and_then(|value| value.as_number()).unwrap_or(0.0), steps)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::scope::Limits;

    /// Requirements of all kinds; the other attributes are the same in both ads.
    const REQUIREMENTS_OF_ALL_KINDS: [&str; 18] = [
        "true",
        "0",
        "2.5",
        "\"text\"",
        "undefined",
        "error",
        "relTime(5)",
        "relTime(0)",
        "{ true }",
        "TARGET.Cpus > 1",
        "Missing || Cpus > 1 && TARGET.Missing =?= undefined",
        "requirements =?= undefined",
        "TARGET.requirements =?= true || Requirements",
        "LEFT.Side == 1",
        "RIGHT.Side == 1 && .LEFT.Side == 2",
        "random(0)",
        "sum({ Cpus, TARGET.Cpus }) > 2 && isError(random(\"x\"))",
        "[a = TARGET.Side].a == 1 ? relTime(1) : false",
    ];

    #[test]
    fn both_sides_at_once_are_what_each_side_says() {
        let ad = |requirements: &str, side: u8| {
            ClassAd::parse(format!("[Cpus = 2; Side = {side}; Requirements = {requirements}]").as_bytes()).unwrap()
        };
        let limits = (1..12).map(|work| Limits { work, ..Limits::default() });
        for limits in limits.chain([Limits::default()]) {
            let settings = EvalOptions { limits, ..EvalOptions::default() };
            let alone = |my: &ClassAd, target: &ClassAd| {
                let expr = my.get(*REQUIREMENTS).unwrap();
                Scope::new(my, &settings).with_target(target).eval(&expr).map(|value| value.is_nonzero())
            };
            for mine in REQUIREMENTS_OF_ALL_KINDS {
                for theirs in REQUIREMENTS_OF_ALL_KINDS {
                    let (left, right) = (ad(mine, 1), ad(theirs, 2));
                    let one_by_one = alone(&right, &left).and_then(|accepts| Ok(accepts && alone(&left, &right)?));
                    let both = symmetric_by_expression(&left, &right, &settings);
                    assert_eq!(both, one_by_one, "{mine} with {theirs} within {limits:?}");
                }
            }
        }
        assert_eq!(symmetric_by_expression(&ad("true", 1), &ClassAd::new(), &EvalOptions::default()), Ok(false));
    }
}
