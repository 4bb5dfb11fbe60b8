//! `ClassAd`, as far as it is compiled, and the iterator over its names.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use classmate::internal::ad::Attribute;
use classmate::internal::eval::fold::{FoldedAd, accepts_folded, symmetric_folded};
use classmate::internal::eval::matching::symmetric_by_expression;
use classmate::internal::eval::references::{self, Naming};
use classmate::internal::format::json::JsonWriter;
use classmate::internal::format::long::write_old;
use classmate::internal::format::new::{write_ad, write_pretty};
use classmate::{ClassAd, Flattened, Inlining, Name, Text, flatten};
use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use crate::classes::{ClassAdException, classes, new_expr};
use crate::convert;
use crate::expr::{ExprBase, evaluate, failed};
use crate::{key, read, world};

/// The compiled part of `ClassAd`. The lock is never held while Python code may run, nor while waiting for another ad:
/// an ad that is needed for longer is shared, and an ad that is shared is copied before it is changed.
#[pyclass(name = "_ClassAd", frozen, subclass, mapping, module = "classmate._classmate")]
pub(crate) struct AdBase {
    ad: RwLock<HeldAd>,
}

/// An ad, and what helps to match it many times, which is forgotten whenever the ad may change.
#[derive(Default)]
pub(crate) struct HeldAd {
    ad: Arc<ClassAd>,
    matches: AtomicU32,
    folded: OnceLock<Option<Arc<FoldedAd>>>,
}

/// Matches after which an ad is folded, which takes as long as some matches.
const FOLDED_AFTER: u32 = 8;

impl HeldAd {
    /// The folded ad, if this one was matched often enough and can be folded.
    fn folded(&self) -> Option<Arc<FoldedAd>> {
        if self.matches.load(Ordering::Relaxed) < FOLDED_AFTER {
            self.matches.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.folded.get_or_init(|| FoldedAd::new(&self.ad).map(Arc::new)).clone()
    }
}

impl Deref for HeldAd {
    type Target = Arc<ClassAd>;

    fn deref(&self) -> &Arc<ClassAd> {
        &self.ad
    }
}

impl DerefMut for HeldAd {
    fn deref_mut(&mut self) -> &mut Arc<ClassAd> {
        self.folded.take();
        *self.matches.get_mut() = 0;
        &mut self.ad
    }
}

impl AdBase {
    /// The ad, which stays as it is meanwhile.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, HeldAd> {
        self.ad.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HeldAd> {
        self.ad.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ad as it is now.
    pub(crate) fn ad(&self) -> Arc<ClassAd> {
        Arc::clone(&self.read())
    }

    /// The Python value of the attribute that a function finds.
    #[inline]
    fn value<'py>(
        &self,
        py: Python<'py>,
        find: impl FnOnce(&ClassAd) -> Option<&Attribute>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let attribute = {
            let ad = self.read();
            let Some(attribute) = find(&ad) else { return Ok(None) };
            if let Attribute::Literal(literal) = attribute
                && let Some(value) = convert::plain_to_python(py, literal)
            {
                return Ok(Some(value));
            }
            attribute.clone()
        };
        convert::attribute_to_python(py, &attribute).map(Some)
    }

    /// Sets all attributes anew.
    pub(crate) fn replace(&self, ad: ClassAd) {
        let old = std::mem::replace(&mut **self.write(), Arc::new(ad));
        drop(old);
    }
}

fn missing<T>(key: &Bound<'_, T>) -> PyErr {
    PyKeyError::new_err((key.clone().into_any().unbind(),))
}

/// Tests whether the class of an object is `ClassAd` itself.
fn is_plain(ad: &Bound<'_, AdBase>) -> PyResult<bool> {
    Ok(ad.get_type().is(classes(ad.py())?.ad.bind(ad.py())))
}

fn expr_argument<'a, 'py>(expr: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, ExprBase>> {
    expr.cast::<ExprBase>().map_err(|_| PyTypeError::new_err("expr must be an ExprTree"))
}

fn ad_argument<'a, 'py>(ad: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, AdBase>> {
    ad.cast::<AdBase>().map_err(|_| PyTypeError::new_err("ad must be a ClassAd"))
}

/// The names; one with a comma in it is several, and no name is an empty one.
fn joined<'py>(py: Python<'py>, names: &[Text]) -> PyResult<Bound<'py, PyList>> {
    let mut parts = Vec::with_capacity(names.len().max(1));
    for name in names {
        match std::str::from_utf8(name) {
            Ok(name) => parts.extend(name.split(',')),
            // The error tells the place in all of them.
            Err(_) => {
                let joined = names.iter().map(Text::as_bytes).collect::<Vec<_>>().join(&b',');
                return PyString::from_bytes(py, &joined)?.to_str().and_then(|text| PyList::new(py, [text]));
            }
        }
    }
    if parts.is_empty() {
        parts.push("");
    }
    PyList::new(py, parts)
}

/// The value of the Requirements of an ad, whose class may have its own idea of attributes, as a condition.
fn requirements(ad: &Bound<'_, AdBase>, target: &Bound<'_, AdBase>) -> PyResult<bool> {
    let py = ad.py();
    if is_plain(ad)? {
        if !ad.is(target) {
            let (my, other) = (ad.get().read().folded(), target.get().read().folded());
            if let (Some(my), Some(other)) = (my, other)
                && let Some(accepts) = world::with_options(|options| accepts_folded(&my, &other, options))
            {
                return Ok(accepts);
            }
        }
        let target = (!ad.is(target)).then(|| target.get().ad());
        let my = ad.get().read();
        let Some(expr) = my.get(*REQUIREMENTS) else { return Ok(false) };
        return Ok(evaluate(&expr, &my, target.as_deref())?.is_nonzero());
    }
    let expr = match ad.call_method1(pyo3::intern!(py, "lookup"), ("requirements",)) {
        Ok(expr) => expr,
        Err(error) if error.is_instance_of::<PyKeyError>(py) => return Ok(false),
        Err(error) => return Err(error),
    };
    let arguments = PyDict::new(py);
    arguments.set_item("scope", ad)?;
    arguments.set_item("target", target)?;
    let value = expr.call_method(pyo3::intern!(py, "eval"), (), Some(&arguments))?;
    let is_value = value.get_type().is(classes(py)?.value.bind(py));
    let is_number = value.cast::<pyo3::types::PyInt>().is_ok() || value.cast::<pyo3::types::PyFloat>().is_ok();
    if is_number && !is_value { value.is_truthy() } else { Ok(false) }
}

static REQUIREMENTS: std::sync::LazyLock<Name> = std::sync::LazyLock::new(|| Name::new("Requirements"));

#[pymethods]
impl AdBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        AdBase { ad: RwLock::default() }
    }

    /// Sets all attributes anew: to none, to those of a text, or to those of a dictionary.
    fn _set(&self, input: &Bound<'_, PyAny>) -> PyResult<()> {
        let ad = if input.is_none() {
            ClassAd::new()
        } else if input.cast::<PyDict>().is_ok() {
            convert::to_ad(input)?
        } else if let Ok(text) = input.cast::<PyString>() {
            read::parse_ad(key::without_nul(text.to_str()?)?)?
        } else {
            return Err(PyTypeError::new_err("input must be None, str, or dict"));
        };
        self.replace(ad);
        Ok(())
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut text = Vec::new();
        write_ad(&mut text, &self.ad());
        convert::string(py, &text)
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut text = Vec::new();
        write_pretty(&mut text, &self.ad());
        convert::string(py, &text)
    }

    /// Returns the ad as JSON.
    #[pyo3(name = "printJson")]
    fn print_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut text = Vec::new();
        JsonWriter::default().write(&mut text, &self.ad());
        convert::string(py, &text)
    }

    /// Returns the ad in the long form: a line `name = value` for each attribute.
    #[pyo3(name = "printOld")]
    fn print_old<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut text = Vec::new();
        write_old(&mut text, &self.ad());
        convert::string(py, &text)
    }

    fn __len__(&self) -> usize {
        self.read().len()
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let value = match key::known(key::text(key)?)? {
            Some(name) => self.value(key.py(), |ad| ad.lookup(name))?,
            None => None,
        };
        value.ok_or_else(|| missing(key))
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = key::text(key)?;
        // Before the ad is touched: this may run Python code.
        let attribute = convert::to_attribute(value)?;
        if text.is_empty() {
            world::set_last_error("no attribute name when inserting expression in classad");
            return Err(ClassAdException::new_err("Insert(key, v) failed"));
        }
        let name = key::name(text)?;
        let mut ad = self.write();
        Arc::make_mut(&mut ad).set(name, attribute);
        Ok(())
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let removed = match key::known(key::text(key)?)? {
            Some(name) => {
                let mut ad = self.write();
                if ad.contains(name) { Arc::make_mut(&mut ad).remove(name) } else { None }
            }
            None => None,
        };
        removed.map(drop).ok_or_else(|| missing(key))
    }

    fn __contains__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if !is_plain(slf)? {
            return classes(slf.py())?.contains.bind(slf.py()).call1((slf, key))?.extract();
        }
        let Some(name) = key::known(key::text(key)?)? else { return Ok(false) };
        let attribute = match slf.get().read().lookup(name) {
            Some(attribute) if !convert::is_readable(attribute) => attribute.clone(),
            found => return Ok(found.is_some()),
        };
        convert::attribute_to_python(slf.py(), &attribute)?;
        Ok(true)
    }

    /// Returns the value of an attribute, or a default if the ad does not have it.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !is_plain(slf)? {
            return classes(py)?.get.bind(py).call1((slf, key, default));
        }
        let value = match key::known(key::text(key)?)? {
            Some(name) => slf.get().value(py, |ad| ad.lookup(name))?,
            None => None,
        };
        Ok(value.or(default).unwrap_or_else(|| py.None().into_bound(py)))
    }

    /// Returns an iterator over the names, as they are when the first one is taken.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let names = NameLists { ad: slf.clone().unbind(), is_taken: AtomicBool::new(false) };
        classes(slf.py())?.chain.bind(slf.py()).call1((names,))
    }

    fn __richcmp__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let wanted = match op {
            CompareOp::Eq => true,
            CompareOp::Ne => false,
            _ => return Ok(py.NotImplemented()),
        };
        let same_type = slf.get_type().is(other.get_type());
        let Some(other) = other.cast::<AdBase>().ok().filter(|_| same_type) else {
            return Ok(py.NotImplemented());
        };
        // An ad equals itself, even if a number in it does not.
        let same = slf.is(other) || convert::same_ads(&slf.get().ad(), &other.get().ad());
        Ok(PyBool::new(py, same == wanted).to_owned().into_any().unbind())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyString>,))> {
        Ok((classes(slf.py())?.ad.bind(slf.py()).clone().into_any(), (slf.repr()?,)))
    }

    /// Returns the expression of an attribute.
    fn lookup<'py>(&self, attr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let found = match key::known(key::text(attr)?)? {
            Some(name) => self.read().get(name),
            None => None,
        };
        new_expr(attr.py(), found.ok_or_else(|| missing(attr))?)
    }

    /// Evaluates an attribute in the ad.
    fn eval<'py>(slf: &Bound<'py, Self>, attr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !is_plain(slf)? {
            let expr = slf.call_method1(pyo3::intern!(py, "lookup"), (attr,))?;
            return expr.call_method1(pyo3::intern!(py, "eval"), (slf,));
        }
        let ad = slf.get().ad();
        let found = key::known(key::text(attr)?)?.and_then(|name| ad.get(name));
        let value = evaluate(&found.ok_or_else(|| missing(attr))?, &ad, None)?;
        convert::value_to_python(py, &value)
    }

    /// Computes what the ad decides of an expression. Returns a value, or the expression that remains.
    fn flatten<'py>(&self, expr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = expr.py();
        let (ad, expr) = (self.ad(), expr_argument(expr)?.get().expr());
        match world::with_options(|options| flatten(&ad, &expr, Inlining::Keep, options)) {
            Ok(Flattened::Value(value)) => convert::value_to_python(py, &value),
            Ok(Flattened::Residue(rest)) => new_expr(py, rest),
            Err(_) => Err(PyValueError::new_err("Unable to flatten expression.")),
        }
    }

    /// Returns the names that an expression needs and the ad does not define.
    #[pyo3(name = "externalRefs")]
    fn external_refs<'py>(&self, expr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = expr.py();
        let found = expr_argument(expr)?.get().with(|expr| {
            let ad = self.read();
            world::with_options(|options| references::external(&ad, expr, Naming::Full, options))
        });
        match found {
            Ok(names) => joined(py, &names),
            Err(_) => Err(PyValueError::new_err("Unable to determine external references.")),
        }
    }

    /// Returns the attributes of the ad that an expression needs.
    #[pyo3(name = "internalRefs")]
    fn internal_refs<'py>(&self, expr: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = expr.py();
        let found = expr_argument(expr)?.get().with(|expr| {
            let ad = self.read();
            world::with_options(|options| references::internal(&ad, expr, options))
        });
        match found {
            Ok(names) => joined(py, &names),
            Err(_) => Err(PyValueError::new_err("Unable to determine internal references.")),
        }
    }

    /// Tests whether the Requirements of another ad accept this one.
    fn matches(slf: &Bound<'_, Self>, ad: &Bound<'_, PyAny>) -> PyResult<bool> {
        requirements(ad_argument(ad)?, slf)
    }

    /// Tests whether both ads accept each other.
    #[pyo3(name = "symmetricMatch")]
    fn symmetric_match(slf: &Bound<'_, Self>, ad: &Bound<'_, PyAny>) -> PyResult<bool> {
        if is_plain(slf)? {
            let ad = ad_argument(ad)?;
            if is_plain(ad)? {
                if ad.is(slf) {
                    return requirements(slf, slf);
                }
                let (mine, theirs) = (slf.get().read().folded(), ad.get().read().folded());
                if let (Some(mine), Some(theirs)) = (mine, theirs)
                    && let Some(accepts) = world::with_options(|options| symmetric_folded(&mine, &theirs, options))
                {
                    return Ok(accepts);
                }
                let other = ad.get().ad();
                let my = slf.get().read();
                return world::with_options(|options| symmetric_by_expression(&my, &other, options))
                    .map_err(|_| failed());
            }
        }
        let matches = pyo3::intern!(slf.py(), "matches");
        Ok(slf.call_method1(matches, (ad,))?.is_truthy()? && ad.call_method1(matches, (slf,))?.is_truthy()?)
    }
}

/// An iterator that has one element: the names of an ad as they are when it is taken. Python's own iterator over the
/// elements of such elements is faster than one that is called for each name.
#[pyclass(frozen, module = "classmate._classmate")]
pub(crate) struct NameLists {
    ad: Py<AdBase>,
    is_taken: AtomicBool,
}

#[pymethods]
impl NameLists {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if self.is_taken.swap(true, Ordering::Relaxed) {
            return Ok(None);
        }
        let ad = self.ad.get().ad();
        PyTuple::new(py, key::strings(py, ad.listed().map(|(name, _)| name))?).map(Some)
    }
}

/// An attribute whose value is not taken yet.
struct Entry {
    name: Name,
    /// The place of the attribute in the ad when the first one was taken.
    place: u32,
    key: Py<PyString>,
}

/// An iterator over the values of an ad, or over its names and values. The names are as they are when the first one is
/// taken; each value is looked up when it is taken.
#[pyclass(name = "_Entries", frozen, module = "classmate._classmate")]
pub(crate) struct Entries {
    ad: Py<AdBase>,
    has_names: bool,
    attributes: OnceLock<Vec<Entry>>,
    next: AtomicUsize,
}

#[pymethods]
impl Entries {
    #[new]
    fn new(ad: Py<AdBase>, has_names: bool) -> Self {
        Entries { ad, has_names, attributes: OnceLock::new(), next: AtomicUsize::new(0) }
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let entries = match self.attributes.get() {
            Some(entries) => entries,
            None => {
                let made = entries(py, &self.ad.get().ad())?;
                self.attributes.get_or_init(|| made)
            }
        };
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(Entry { name, place, key }) = entries.get(at) else { return Ok(None) };
        match self.ad.get().value(py, |ad| ad.lookup_near(*name, *place as usize)) {
            Ok(Some(value)) if self.has_names => (key.clone_ref(py), value).into_bound_py_any(py).map(Some),
            Ok(Some(value)) => Ok(Some(value)),
            failed => {
                // As a generator does, it ends with its first exception.
                self.next.store(entries.len(), Ordering::Relaxed);
                failed?;
                Err(missing(key.bind(py)))
            }
        }
    }
}

/// The attributes of an ad in the order in which it lists them.
fn entries(py: Python<'_>, ad: &ClassAd) -> PyResult<Vec<Entry>> {
    let keys = key::strings(py, ad.listed().map(|(name, _)| name))?;
    let attributes = ad.listed().zip(ad.listing()).zip(keys);
    Ok(attributes.map(|(((name, _), place), key)| Entry { name, place: *place, key }).collect())
}
