//! The parts of `classad2` that are written in Python, as the compiled part needs them.

use classmate::{ClassAd, Expr};
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::ad::AdBase;
use crate::expr::ExprBase;

pyo3::create_exception!(
    classmate.classad2,
    ClassAdException,
    PyException,
    "Raised when a text is not an ad or an expression, a value cannot be converted, or an evaluation fails."
);

/// Classes, values and functions of the Python files.
pub(crate) struct Classes {
    /// `ClassAd`
    pub(crate) ad: Py<PyType>,
    /// `ClassAd.__new__`, and its arguments: the class.
    new_ad: Py<PyAny>,
    of_ad: Py<PyTuple>,
    /// `ExprTree`
    pub(crate) expr: Py<PyType>,
    /// `ExprTree.__new__`, and its arguments.
    new_expr: Py<PyAny>,
    of_expr: Py<PyTuple>,
    /// `Value`
    pub(crate) value: Py<PyType>,
    /// `Value.Undefined`
    pub(crate) undefined: Py<PyAny>,
    /// `Value.Error`
    pub(crate) error: Py<PyAny>,
    /// `datetime.datetime`
    pub(crate) datetime: Py<PyType>,
    /// The seconds of a `datetime`.
    pub(crate) seconds: Py<PyAny>,
    /// The `datetime` of seconds.
    pub(crate) moment: Py<PyAny>,
    /// `collections.abc.Mapping.__contains__` and `get`, for classes with a `__getitem__` of their own.
    pub(crate) contains: Py<PyAny>,
    pub(crate) get: Py<PyAny>,
    /// `itertools.chain.from_iterable`
    pub(crate) chain: Py<PyAny>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// Takes the parts that are written in Python, by their names; called once, when `classmate.classad2` is imported.
#[pyfunction]
#[pyo3(name = "_set_classes", signature = (**parts))]
pub(crate) fn set_classes(py: Python<'_>, parts: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let part = |name: &str| match parts.map(|parts| parts.get_item(name)).transpose()?.flatten() {
        Some(part) => Ok(part),
        None => Err(PyTypeError::new_err(format!("missing argument `{name}`"))),
    };
    let class = |name: &str| Ok::<_, PyErr>(part(name)?.cast_into::<PyType>()?.unbind());
    let of = |name: &str, attribute: &str| Ok::<_, PyErr>(part(name)?.getattr(attribute)?.unbind());
    let classes = Classes {
        ad: class("ad")?,
        of_ad: PyTuple::new(py, [part("ad")?])?.unbind(),
        new_ad: of("ad", "__new__")?,
        expr: class("expr")?,
        of_expr: PyTuple::new(py, [part("expr")?])?.unbind(),
        new_expr: of("expr", "__new__")?,
        value: class("value")?,
        undefined: of("value", "Undefined")?,
        error: of("value", "Error")?,
        datetime: class("datetime")?,
        seconds: part("seconds")?.unbind(),
        moment: part("moment")?.unbind(),
        contains: of("mapping", "__contains__")?,
        get: of("mapping", "get")?,
        chain: of("chain", "from_iterable")?,
    };
    // A second import of the same module has the same classes.
    let _ = CLASSES.set(py, classes);
    Ok(())
}

/// The parts that are written in Python.
pub(crate) fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get(py).ok_or_else(|| PyRuntimeError::new_err("import classmate.classad2 first"))
}

/// A `ClassAd` of Python.
pub(crate) fn new_ad(py: Python<'_>, ad: ClassAd) -> PyResult<Bound<'_, PyAny>> {
    let classes = classes(py)?;
    let made = classes.new_ad.bind(py).call1(classes.of_ad.bind(py))?;
    made.cast::<AdBase>()?.get().replace(ad);
    Ok(made)
}

/// An `ExprTree` of Python.
pub(crate) fn new_expr(py: Python<'_>, expr: Expr) -> PyResult<Bound<'_, PyAny>> {
    let classes = classes(py)?;
    let made = classes.new_expr.bind(py).call1(classes.of_expr.bind(py))?;
    made.cast::<ExprBase>()?.get().replace(expr);
    Ok(made)
}
