//! `ExprTree`: an expression.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use classmate::internal::eval::Evaluator;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::print::Style;
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, Expr, Scope, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::ad::AdBase;
use crate::classes::{ClassAdException, classes, new_expr};
use crate::{convert, key, read, world};

static UNDEFINED: LazyLock<Expr> = LazyLock::new(|| Value::Undefined.to_expr());

/// The compiled part of `ExprTree`. As with ads, the lock is never held while Python code may run.
#[pyclass(name = "_ExprTree", frozen, subclass, module = "classmate._classmate")]
pub(crate) struct ExprBase {
    /// The first expression, which nearly all objects keep: it is read without a lock.
    first: OnceLock<Expr>,
    /// True once there is another one.
    is_replaced: AtomicBool,
    /// The one that replaced the first.
    later: RwLock<Option<Arc<Expr>>>,
    /// Evaluations in an ad, until the expression is compiled.
    evaluations: AtomicU8,
}

/// Evaluations after which an expression is compiled.
const COMPILED_AFTER: u8 = 8;

/// The error of an evaluation that was abandoned.
pub(crate) fn failed() -> PyErr {
    ClassAdException::new_err("failed to evaluate expression")
}

/// Evaluates an expression in an ad, and in the other ad of a match if there is one.
pub(crate) fn evaluate(expr: &Expr, scope: &ClassAd, target: Option<&ClassAd>) -> PyResult<Value> {
    // It is written to its place: each return from a closure would move it.
    let mut value = Ok(Value::Undefined);
    world::with_options(|options| {
        let scope = Scope::new(scope, options);
        value = target.map_or(scope, |target| scope.with_target(target)).eval(expr);
    });
    value.map_err(|_| failed())
}

fn evaluate_nowhere(expr: &Expr) -> PyResult<Value> {
    static NO_AD: LazyLock<ClassAd> = LazyLock::new(ClassAd::new);
    let value = world::with_options(|options| Evaluator::new(Scope::new(&NO_AD, options)).eval_nowhere(expr));
    value.map_err(|_| failed())
}

fn ad<'a, 'py>(ad: Option<&'a Bound<'py, PyAny>>, role: &str) -> PyResult<Option<&'a Bound<'py, AdBase>>> {
    match ad {
        None => Ok(None),
        Some(ad) => match ad.cast::<AdBase>() {
            Ok(ad) => Ok(Some(ad)),
            Err(_) => Err(PyTypeError::new_err(format!("{role} must be a ClassAd"))),
        },
    }
}

impl ExprBase {
    /// Calls a function with the expression as it is now.
    pub(crate) fn with<T>(&self, function: impl FnOnce(&Expr) -> T) -> T {
        if !self.is_replaced.load(Ordering::Acquire) {
            return function(self.first.get().unwrap_or(&UNDEFINED));
        }
        // Shared, so that the lock is not held meanwhile.
        let later = self.later.read().unwrap_or_else(PoisonError::into_inner).clone();
        function(later.as_deref().unwrap_or(&UNDEFINED))
    }

    /// The expression as it is now.
    pub(crate) fn expr(&self) -> Expr {
        self.with(Expr::clone)
    }

    /// Sets the expression anew.
    pub(crate) fn replace(&self, expr: Expr) {
        if let Err(expr) = self.first.set(expr) {
            let expr = Some(Arc::new(expr));
            let old = std::mem::replace(&mut *self.later.write().unwrap_or_else(PoisonError::into_inner), expr);
            self.is_replaced.store(true, Ordering::Release);
            drop(old);
        }
        self.evaluations.store(0, Ordering::Relaxed);
    }

    /// Evaluates the expression as often as one that is to be compiled.
    fn value(
        &self,
        scope: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Result<Truth, Value>> {
        let (scope, target) = (ad(scope, "scope")?, ad(target, "target")?);
        let Some(scope) = scope else { return evaluate_nowhere(&self.expr()).map(Err) };
        let target = target.filter(|target| !target.is(scope)).map(|target| target.get().ad());
        // It is written to its place: each return from a closure would move it.
        let mut value = Ok(Value::Undefined);
        let truth = self.with(|expr| {
            let evaluations = self.evaluations.load(Ordering::Relaxed);
            if evaluations <= COMPILED_AFTER {
                if evaluations == COMPILED_AFTER {
                    expr.tree().compile();
                }
                self.evaluations.store(evaluations + 1, Ordering::Relaxed);
            }
            let ad = scope.get().read();
            world::with_options(|options| {
                let scope = Scope::new(&ad, options);
                let scope = target.as_ref().map_or(scope, |target| scope.with_target(target));
                let truth = scope.truth_of_constants(expr);
                if truth.is_none() {
                    value = Evaluator::new(scope).eval_root(expr);
                }
                truth
            })
        });
        match truth {
            Some(truth) => Ok(Ok(truth)),
            None => value.map(Err).map_err(|_| failed()),
        }
    }
}

#[pymethods]
impl ExprBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        ExprBase {
            first: OnceLock::new(),
            is_replaced: AtomicBool::new(false),
            later: RwLock::new(None),
            evaluations: AtomicU8::new(0),
        }
    }

    /// Sets the expression anew: to undefined, or to that of a text.
    fn _set(&self, expr: &Bound<'_, PyAny>) -> PyResult<()> {
        if expr.is_none() {
            self.replace(UNDEFINED.clone());
            return Ok(());
        }
        let text = expr.str()?;
        // What follows the expression is ignored, as by the reference.
        let ad = read::parse_ad(&format!("[expression = {}]", key::without_nul(text.to_str()?)?))?;
        self.replace(ad.get("expression").ok_or_else(read::not_an_ad)?);
        Ok(())
    }

    /// Evaluates the expression and returns its value.
    ///
    /// Names are looked up in the ad `scope`, and in `target` as the other ad of a match. Without a scope they are undefined.
    #[pyo3(signature = (scope = None, target = None))]
    fn eval<'py>(
        &self,
        py: Python<'py>,
        scope: Option<&Bound<'py, PyAny>>,
        target: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.value(scope, target)? {
            Ok(truth) => convert::truth_to_python(py, truth),
            Err(value) => convert::value_to_python(py, &value),
        }
    }

    /// Evaluates the expression and returns its value as an expression.
    #[pyo3(signature = (scope = None, target = None))]
    fn simplify<'py>(
        &self,
        py: Python<'py>,
        scope: Option<&Bound<'py, PyAny>>,
        target: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value(scope, target)?.map_or_else(|value| value, Truth::value);
        new_expr(py, value.to_expr())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<ExprBase>() else { return false };
        // An expression equals itself even if a number in it does not, unless it is that number.
        let expr = slf.get().expr();
        let is_literal = matches!(expr.nodes(), [Node::Literal(_)]);
        slf.is(other) && !is_literal || convert::same_exprs(&expr, &other.get().expr())
    }

    fn __ne__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        !Self::__eq__(slf, other)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::string(py, &self.expr().to_text(Style::New))
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::string(py, &self.expr().to_text(Style::Pretty))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let py = slf.py();
        Ok((classes(py)?.expr.bind(py).clone().into_any(), (slf.get().__repr__(py)?,)))
    }
}
