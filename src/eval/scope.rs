//! The scope of an evaluation: its ad, the ad on the other side, and the settings of the world.

use std::sync::Arc;

use crate::ad::ClassAd;
use crate::builtin::in_use::Usage;
use crate::builtin::user_map::{Homes, UserMaps};
use crate::eval::compiled::truth_of_constants;
use crate::eval::{EvalError, Evaluator};
use crate::name::Name;
use crate::semantics::Semantics;
use crate::syntax::expr::Expr;
use crate::syntax::parse::{Mode, ParseOptions};
use crate::syntax::time::Zone;
use crate::syntax::token::Quoting;
use crate::value::Value;
use crate::value::logic::Truth;

/// Limits of an evaluation, beyond which it fails (`docs/reference/classad-language.md` 12).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Operators, parentheses and references on one path. The reference allows 400.
    pub depth: u32,
    /// Node evaluations, and comparable steps inside functions. The reference allows 10,000,000.
    pub work: u64,
    /// Bytes of strings and lists made by one evaluation; the reference has no such limit.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 400, work: 10_000_000, bytes: 32 << 20 }
    }
}

/// The inputs of an evaluation beside the ads.
///
/// Nothing here is read from the process: the clock, the zone and the seed of `random()` are given.
#[derive(Clone, Debug)]
pub struct EvalOptions {
    /// HTCondor or strict mode.
    pub mode: Mode,
    /// The version of the language.
    pub semantics: Semantics,
    /// The result of `time()`, in seconds since 1970.
    pub now: i64,
    /// A clock that is looked at instead of [`EvalOptions::now`] whenever an evaluation needs the time.
    pub clock: Option<fn() -> i64>,
    /// The zone of local times.
    pub zone: Zone,
    /// The seed of `random()`.
    pub seed: u64,
    /// The limits of an evaluation.
    pub limits: Limits,
    /// The maps that `userMap` looks into.
    pub maps: Arc<UserMaps>,
    /// The home directories that `userHome` knows.
    pub homes: Arc<Homes>,
    /// The current usage, in a negotiator.
    pub usage: Option<Arc<dyn Usage>>,
}

impl Default for EvalOptions {
    /// HTCondor mode at the beginning of 1970, UTC.
    fn default() -> Self {
        EvalOptions {
            mode: Mode::HTCondor,
            semantics: Semantics::default(),
            now: 0,
            clock: None,
            zone: Zone::utc(),
            seed: 0,
            limits: Limits::default(),
            maps: Arc::default(),
            homes: Arc::default(),
            usage: None,
        }
    }
}

impl EvalOptions {
    /// The time, in seconds since 1970.
    pub fn time(&self) -> i64 {
        self.clock.map_or(self.now, |clock| clock())
    }

    /// The options for texts that an evaluation parses, or that are evaluated with these settings.
    pub fn parse_options(&self) -> ParseOptions {
        let EvalOptions { mode, semantics, ref zone, .. } = *self;
        ParseOptions { mode, quoting: Quoting::New, semantics, places: false, zone: zone.clone() }
    }
}

/// The ads an expression sees.
///
/// ```
/// use classmate::{ClassAd, EvalOptions, Scope, parse_expr};
///
/// let job = ClassAd::parse(b"[ RequestCpus = 2 ]")?;
/// let slot = ClassAd::parse(b"[ Cpus = 4 ]")?;
/// let fits = parse_expr(b"TARGET.Cpus >= MY.RequestCpus")?;
/// let settings = EvalOptions::default();
/// let scope = Scope::new(&job, &settings).with_target(&slot);
/// assert_eq!(scope.eval(&fits).unwrap().to_string(), "true");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The ad that references without a scope are looked up in first.
    pub my: &'a ClassAd,
    pub(crate) target: Option<&'a ClassAd>,
    pub(crate) settings: &'a EvalOptions,
}

impl<'a> Scope<'a> {
    /// Evaluation in an ad alone.
    pub fn new(my: &'a ClassAd, settings: &'a EvalOptions) -> Self {
        Scope { my, target: None, settings }
    }

    /// Evaluation with an ad on the other side. A target that is the ad itself changes nothing
    /// (`docs/reference/classad-language.md` 6.6).
    #[must_use]
    pub fn with_target(self, target: &'a ClassAd) -> Self {
        Scope { target: (!std::ptr::eq(self.my, target)).then_some(target), ..self }
    }

    /// The value of an expression. Lists and ads keep their parts unevaluated.
    ///
    /// # Errors
    /// The evaluation was abandoned: a limit was exceeded, or a function failed (`docs/reference/classad-language.md`
    /// 6.9).
    pub fn eval(&self, expr: &Expr) -> Result<Value, EvalError> {
        match self.truth_of_constants(expr) {
            Some(truth) => Ok(truth.value()),
            None => Evaluator::new(*self).eval_root(expr),
        }
    }

    /// The meaning of the value of a condition that is evaluated often ([`Tree::compile`]) and looks at constants only; none
    /// for other expressions.
    ///
    /// [`Tree::compile`]: crate::syntax::expr::Tree::compile
    pub fn truth_of_constants(&self, condition: &Expr) -> Option<Truth> {
        truth_of_constants(self, condition)
    }

    /// Tests whether a condition holds: true, or a number that is not zero. What cannot be evaluated does not.
    ///
    /// ```
    /// use classmate::{ClassAd, EvalOptions, Scope, parse_expr};
    /// let (ad, settings) = (ClassAd::parse(b"[Cpus = 2]")?, EvalOptions::default());
    /// let holds = |text: &str| parse_expr(text.as_bytes()).map(|c| Scope::new(&ad, &settings).holds(&c));
    /// assert!(holds("Cpus > 1")? && holds("Cpus")? && !holds("Memory > 1")? && !holds("Cpus > \"x\"")?);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn holds(&self, condition: &Expr) -> bool {
        self.eval(condition).is_ok_and(|value| value.as_condition() == Some(true))
    }

    /// As [`Scope::eval`]; also how much work it took: steps of [`Limits::work`], and one for every 16 bytes that were made.
    pub fn eval_counted(&self, expr: &Expr) -> (Result<Value, EvalError>, u64) {
        let mut evaluator = Evaluator::new(*self);
        (evaluator.eval_root(expr), evaluator.effort())
    }

    /// As [`Scope::eval_attr`]; also how much work it took: steps of [`Limits::work`], and one for every 16 bytes that were made.
    pub fn eval_attr_counted(&self, name: impl Into<Name>) -> (Result<Value, EvalError>, u64) {
        let mut evaluator = Evaluator::new(*self);
        (evaluator.eval_attribute(name.into()), evaluator.effort())
    }

    /// The value of an attribute of the ad; undefined if it is missing (`docs/reference/classad-language.md` 10.5).
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn eval_attr(&self, name: impl Into<Name>) -> Result<Value, EvalError> {
        Evaluator::new(*self).eval_attribute(name.into())
    }

    /// The value of an attribute of the ad if it has one of that name, otherwise of the target
    /// (`docs/reference/classad-language.md` 10.5).
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn eval_attr_either(&self, name: impl Into<Name>) -> Result<Value, EvalError> {
        let name = name.into();
        self.holding(name).eval_attr(name)
    }

    /// The scope in which [`Scope::eval_attr_either`] evaluates an attribute: of the target if that alone has it.
    pub(crate) fn holding(&self, name: Name) -> Scope<'a> {
        match self.target {
            Some(target) if !self.my.contains(name) && target.contains(name) => {
                Scope { my: target, target: Some(self.my), ..*self }
            }
            _ => *self,
        }
    }
}
