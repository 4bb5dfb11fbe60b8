//! Values of Python as expressions, and expressions as values of Python.

use classmate::internal::ad::Attribute;
use classmate::internal::syntax::build::Builder;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::quote::quoted;
use classmate::internal::value::logic::Truth;
use classmate::{AbsTime, ClassAd, Expr, Text, Value};
use pyo3::exceptions::{PyException, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyList, PyString, PyTuple};

use crate::ad::AdBase;
use crate::classes::{ClassAdException, Classes, classes, new_ad, new_expr};
use crate::expr::ExprBase;
use crate::key;
use crate::world;

/// Deepest nesting of lists and mappings that is converted.
const MAX_DEPTH: usize = 10_000;

/// The Python string of some bytes.
pub(crate) fn string<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyString::from_bytes(py, bytes)?.into_any())
}

fn moment(py: Python<'_>, seconds: i64) -> PyResult<Bound<'_, PyAny>> {
    classes(py)?.moment.bind(py).call1((seconds,))
}

/// Tests whether a constant equals itself in Python's module: infinities do not, nor does NaN.
fn equals_itself(literal: &Literal) -> bool {
    !matches!(literal, Literal::Real(value) | Literal::RelTime(value) if !value.is_finite())
}

/// Tests whether two expressions are equal by their form.
pub(crate) fn same_exprs(a: &Expr, b: &Expr) -> bool {
    let is_own = |node: &Node| if let Node::Literal(literal) = node { equals_itself(literal) } else { true };
    a.same_as(b) && a.nodes().iter().all(is_own)
}

/// Tests whether two ads have the same attributes with the same expressions.
pub(crate) fn same_ads(a: &ClassAd, b: &ClassAd) -> bool {
    let is_own = |attribute: &Attribute| match attribute {
        Attribute::Literal(literal) => equals_itself(literal),
        Attribute::Tree(tree) => {
            tree.nodes.iter().all(|node| if let Node::Literal(literal) = node { equals_itself(literal) } else { true })
        }
    };
    a.same_as(b) && a.attributes().all(|(_, attribute)| is_own(attribute))
}

/// The Python value of a number, a boolean or a string, if that is UTF-8: no Python code runs, so locks may be held.
#[inline]
pub(crate) fn plain_to_python<'py>(py: Python<'py>, literal: &Literal) -> Option<Bound<'py, PyAny>> {
    Some(match literal {
        Literal::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Literal::Int(value) => PyInt::new(py, *value).into_any(),
        Literal::Real(value) | Literal::RelTime(value) | Literal::OldRelTime(value) => {
            PyFloat::new(py, *value).into_any()
        }
        Literal::Str(text) => PyString::new(py, std::str::from_utf8(text).ok()?).into_any(),
        _ => return None,
    })
}

/// The Python value of a constant.
pub(crate) fn literal_to_python<'py>(py: Python<'py>, literal: &Literal) -> PyResult<Bound<'py, PyAny>> {
    if let Some(value) = plain_to_python(py, literal) {
        return Ok(value);
    }
    Ok(match literal {
        Literal::Undefined => classes(py)?.undefined.bind(py).clone(),
        Literal::Str(text) => string(py, text)?,
        Literal::AbsTime(time) => moment(py, time.seconds)?,
        Literal::Suffixed(..) => literal_to_python(py, &literal.product())?,
        _ => classes(py)?.error.bind(py).clone(),
    })
}

/// The Python value of what an attribute holds, by its form: nothing is evaluated.
pub(crate) fn attribute_to_python<'py>(py: Python<'py>, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    match attribute {
        Attribute::Literal(literal) => literal_to_python(py, literal),
        Attribute::Tree(tree) => form_to_python(py, &Expr::whole(tree.clone())),
    }
}

/// Tests whether an attribute surely has a Python value: a text may not be UTF-8, a time may be too far away.
pub(crate) fn is_readable(attribute: &Attribute) -> bool {
    match attribute {
        Attribute::Literal(Literal::Str(text)) => std::str::from_utf8(text).is_ok(),
        Attribute::Literal(Literal::AbsTime(_)) => false,
        Attribute::Literal(_) => true,
        Attribute::Tree(tree) => !matches!(tree.node(tree.root()), Node::List(_)),
    }
}

/// A list whose elements are not all converted.
struct OpenList<'e, 'py> {
    elements: std::slice::Iter<'e, NodeId>,
    done: Vec<Bound<'py, PyAny>>,
}

/// The Python value of an expression, by its form: nothing is evaluated.
pub(crate) fn form_to_python<'py>(py: Python<'py>, expr: &Expr) -> PyResult<Bound<'py, PyAny>> {
    let tree = expr.tree();
    let mut open: Vec<OpenList<'_, 'py>> = Vec::new();
    let mut id = expr.root();
    loop {
        let mut value = match tree.node(id) {
            Node::Literal(literal) => literal_to_python(py, literal)?,
            Node::List(run) => {
                let elements = tree.run(*run);
                let mut list = OpenList { elements: elements.iter(), done: Vec::with_capacity(elements.len()) };
                if let Some(first) = list.elements.next() {
                    id = *first;
                    open.push(list);
                    continue;
                }
                PyList::empty(py).into_any()
            }
            Node::Ad(_) => new_ad(py, ClassAd::from_expr(&expr.part(id)).unwrap_or_default())?,
            _ => new_expr(py, Expr::whole(expr.part(id).to_tree()))?,
        };
        loop {
            let Some(list) = open.last_mut() else { return Ok(value) };
            list.done.push(value);
            if let Some(next) = list.elements.next() {
                id = *next;
                break;
            }
            let done = open.pop().map(|list| list.done).unwrap_or_default();
            value = PyList::new(py, done)?.into_any();
        }
    }
}

/// The Python value of the result of a condition.
pub(crate) fn truth_to_python(py: Python<'_>, truth: Truth) -> PyResult<Bound<'_, PyAny>> {
    Ok(match truth {
        Truth::True | Truth::False => PyBool::new(py, truth == Truth::True).to_owned().into_any(),
        Truth::Undefined => classes(py)?.undefined.bind(py).clone(),
        Truth::Error | Truth::NotBoolean => classes(py)?.error.bind(py).clone(),
    })
}

/// The Python value of the result of an evaluation.
pub(crate) fn value_to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Undefined => classes(py)?.undefined.bind(py).clone(),
        Value::Error => classes(py)?.error.bind(py).clone(),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => PyInt::new(py, *value).into_any(),
        Value::Real(value) | Value::RelTime(value) => PyFloat::new(py, *value).into_any(),
        Value::Str(text) => string(py, text)?,
        // The reference keeps 32 bits of a time that was computed.
        Value::AbsTime(time) => moment(py, i64::from(time.seconds as i32))?,
        Value::List(_) => form_to_python(py, &value.to_expr())?,
        Value::Ad(ad) => new_ad(py, ad.to_ad())?,
    })
}

fn unconvertible() -> PyErr {
    ClassAdException::new_err("Unable to convert Python object to a ClassAd expression.")
}

/// The constant of a Python value, if it is one of those that become constants.
fn scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Literal>> {
    let py = value.py();
    // The types that most values have, before what may be derived from them.
    if let Ok(text) = value.cast_exact::<PyString>() {
        return Ok(Some(Literal::Str(Text::from(text.to_str()?))));
    }
    if value.cast_exact::<PyInt>().is_ok() {
        return Ok(Some(Literal::Int(value.extract()?)));
    }
    if let Ok(value) = value.cast_exact::<PyBool>() {
        return Ok(Some(Literal::Bool(value.is_true())));
    }
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Ok(Some(Literal::Real(value.value())));
    }
    if value.is_none() {
        return Ok(Some(Literal::Undefined));
    }
    if let Ok(expr) = value.cast::<ExprBase>() {
        return Ok(expr.get().expr().as_literal().cloned());
    }
    let classes = classes(py)?;
    if value.get_type().is(classes.value.bind(py)) {
        let is_error = value.is(classes.error.bind(py));
        return Ok(Some(if is_error { Literal::Error } else { Literal::Undefined }));
    }
    if value.is_instance(classes.datetime.bind(py))? {
        return time(value, classes).map(Some);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(Literal::Str(Text::from(text.to_str()?))));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Some(Literal::Str(Text::new(bytes.as_bytes()))));
    }
    if value.cast::<PyInt>().is_ok() {
        return Ok(Some(Literal::Int(value.extract()?)));
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(Some(Literal::Real(value.value())));
    }
    Ok(None)
}

fn time(value: &Bound<'_, PyAny>, classes: &Classes) -> PyResult<Literal> {
    let seconds = classes.seconds.bind(value.py()).call1((value,))?.extract()?;
    Ok(Literal::AbsTime(AbsTime { seconds, offset: 0 }))
}

/// A list or mapping that is not converted to its end, and the number of elements or attributes when it began.
enum Open<'py> {
    List(usize, Bound<'py, PyIterator>),
    Ad(usize, Bound<'py, PyIterator>),
}

/// What a Python value becomes when an attribute is set to it. It runs Python code (`items`, `__iter__`).
pub(crate) fn to_attribute(value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    if let Some(literal) = scalar(value)? {
        return Ok(Attribute::Literal(literal));
    }
    if let Ok(expr) = value.cast::<ExprBase>() {
        return Ok(Attribute::from(&expr.get().expr()));
    }
    if let Ok(ad) = value.cast::<AdBase>() {
        return Ok(Attribute::from(&ad.get().ad().to_expr()));
    }
    let options = world::parse_options();
    let mut builder = Builder::new(&options);
    let mut open = vec![begin(value, &mut builder)?];
    // The names of attributes whose values are being converted; none for an entry that is dropped.
    let mut names = Vec::new();
    let mut done: Option<NodeId> = None;
    loop {
        let Some(last) = open.last_mut() else { return Err(unconvertible()) };
        let next = match last {
            Open::List(_, items) => {
                if let Some(element) = done.take() {
                    builder.element(element);
                }
                items.next().transpose()?
            }
            Open::Ad(_, items) => {
                if let Some(element) = done.take()
                    && let Some(Some(name)) = names.pop()
                {
                    builder.bind(0, name, element, 0).map_err(|_| unconvertible())?;
                }
                match items.next().transpose()? {
                    Some(item) => {
                        let (name, value) = entry(&item)?;
                        names.push(name);
                        Some(value)
                    }
                    None => None,
                }
            }
        };
        match next {
            Some(value) => match node(&value, &mut builder)? {
                Some(id) => done = Some(id),
                None if open.len() >= MAX_DEPTH => {
                    let message = "maximum nesting exceeded while converting a Python object to a ClassAd expression";
                    return Err(PyRecursionError::new_err(message));
                }
                None => open.push(begin(&value, &mut builder)?),
            },
            None => {
                let id = match open.pop() {
                    Some(Open::List(mark, _)) => builder.list(0, mark, 0),
                    Some(Open::Ad(mark, _)) => builder.ad(0, mark, 0),
                    None => return Err(unconvertible()),
                };
                if open.is_empty() {
                    return Ok(Attribute::from(&Expr::whole(std::sync::Arc::new(builder.finish()))));
                }
                done = Some(id);
            }
        }
    }
}

/// The node of a value without parts that need converting.
fn node(value: &Bound<'_, PyAny>, builder: &mut Builder<'_>) -> PyResult<Option<NodeId>> {
    if let Some(literal) = scalar(value)? {
        return Ok(Some(builder.push(0, Node::Literal(literal), 0)));
    }
    if let Ok(expr) = value.cast::<ExprBase>() {
        return Ok(Some(builder.graft(&expr.get().expr())));
    }
    if let Ok(ad) = value.cast::<AdBase>() {
        return Ok(Some(builder.graft(&ad.get().ad().to_expr())));
    }
    Ok(None)
}

/// Begins with a mapping or an iterable.
fn begin<'py>(value: &Bound<'py, PyAny>, builder: &mut Builder<'_>) -> PyResult<Open<'py>> {
    if let Some(items) = items(value)? {
        return Ok(Open::Ad(builder.bindings(), items));
    }
    match value.try_iter() {
        Ok(elements) => Ok(Open::List(builder.mark(), elements)),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(unconvertible()),
        Err(error) => Err(error),
    }
}

/// The items of a mapping: of what has `__getitem__` and `items`.
fn items<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyIterator>>> {
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        // A copy: what is converted may change the dictionary.
        return dict.items().try_iter().map(Some);
    }
    if !value.get_type().hasattr(pyo3::intern!(value.py(), "__getitem__"))? {
        return Ok(None);
    }
    // What has no items that work is looked at as a list.
    match value.call_method0(pyo3::intern!(value.py(), "items")).and_then(|items| items.try_iter()) {
        Ok(items) => Ok(Some(items)),
        Err(error) if error.is_instance_of::<PyException>(value.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name and the value of an entry of a mapping; no name if it is empty.
fn entry<'py>(item: &Bound<'py, PyAny>) -> PyResult<(Option<classmate::Name>, Bound<'py, PyAny>)> {
    let pair = item.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
    let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = match pair {
        Some(pair) => (pair.get_item(0)?, pair.get_item(1)?),
        None => item.extract()?,
    };
    let text = key::text(&key)?;
    Ok((if text.is_empty() { None } else { Some(key::name(text)?) }, value))
}

/// The ad of a dictionary.
pub(crate) fn to_ad(dict: &Bound<'_, PyAny>) -> PyResult<ClassAd> {
    let Some(items) = items(dict)? else { return Err(unconvertible()) };
    let mut ad = ClassAd::with_capacity(dict.len().unwrap_or(0));
    for item in items {
        if let (Some(name), value) = entry(&item?)? {
            ad.set(name, to_attribute(&value)?);
        }
    }
    Ok(ad)
}

/// Quotes a string as the ClassAd language writes it.
#[pyfunction]
#[pyo3(signature = (input))]
pub(crate) fn quote<'py>(py: Python<'py>, input: &str) -> PyResult<Bound<'py, PyAny>> {
    string(py, &quoted(key::without_nul(input)?.as_bytes()))
}

/// Returns the string that a ClassAd string constant stands for: the inverse of `quote`.
#[pyfunction]
#[pyo3(signature = (input))]
pub(crate) fn unquote<'py>(py: Python<'py>, input: &str) -> PyResult<Bound<'py, PyAny>> {
    let expr = Expr::parse_with(key::without_nul(input)?, &crate::world::parse_options())
        .map_err(|_| PyValueError::new_err("Invalid string to unquote"))?;
    match expr.as_literal() {
        Some(Literal::Str(text)) => string(py, text),
        Some(_) => Err(PyValueError::new_err("ClassAd literal is not a string value")),
        None => Err(PyValueError::new_err("String does not parse to a ClassAd literal")),
    }
}
