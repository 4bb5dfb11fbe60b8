//! Names of attributes as Python has them.

use std::cell::RefCell;
use std::sync::{PoisonError, RwLock};

use classmate::Name;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Texts that were looked up lately, by their address: constants of a program stay where they are.
type Recent = [Option<(Box<str>, Name)>; SLOTS];

const SLOTS: usize = 256;

thread_local! {
    static RECENT: RefCell<Recent> = const { RefCell::new([const { None }; SLOTS]) };
}

/// A text that the reference takes as a text of C.
pub(crate) fn without_nul(text: &str) -> PyResult<&str> {
    if text.as_bytes().contains(&0) {
        return Err(PyValueError::new_err("embedded null character"));
    }
    Ok(text)
}

/// The text of a key.
pub(crate) fn text<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    match key.cast::<PyString>() {
        Ok(key) => key.to_str(),
        Err(_) => Err(PyTypeError::new_err("ClassAd keys are strings")),
    }
}

fn found(text: &str, make: impl FnOnce(&str) -> PyResult<Option<Name>>) -> PyResult<Option<Name>> {
    let slot = (text.as_ptr().addr().wrapping_mul(0x9E37_79B9) >> 12) % SLOTS;
    RECENT.with(|recent| {
        let Ok(mut recent) = recent.try_borrow_mut() else { return make(text) };
        if let Some((known, name)) = &recent[slot]
            && **known == *text
        {
            return Ok(Some(*name));
        }
        let name = make(text)?;
        if let Some(name) = name {
            recent[slot] = Some((text.into(), name));
        }
        Ok(name)
    })
}

/// The name of a key that is looked up. What was never the name of an attribute is not kept: `None`.
pub(crate) fn known(text: &str) -> PyResult<Option<Name>> {
    found(text, |text| Ok(Name::known(without_nul(text)?.as_bytes())))
}

/// The name of a key that is set, spelled like it.
pub(crate) fn name(text: &str) -> PyResult<Name> {
    let found = found(text, |text| Ok(Some(Name::new(without_nul(text)?))))?;
    Ok(found.filter(|name| name.as_bytes() == text.as_bytes()).unwrap_or_else(|| Name::new(text)))
}

/// Python strings of names, by the number of their spelling. Names stay for the life of the process, and so do these.
static STRINGS: RwLock<Vec<Option<Py<PyString>>>> = RwLock::new(Vec::new());

/// The Python strings of names.
pub(crate) fn strings(py: Python<'_>, names: impl ExactSizeIterator<Item = Name>) -> PyResult<Vec<Py<PyString>>> {
    let names: Vec<Name> = names.collect();
    let found = {
        // Nothing here lets another thread of Python go on, which might wait for this lock.
        let known = STRINGS.read().unwrap_or_else(PoisonError::into_inner);
        let string = |name: &Name| known.get(name.number())?.as_ref().map(|string| string.clone_ref(py));
        names.iter().map(string).collect::<Vec<_>>()
    };
    let made = |(name, found): (Name, Option<Py<PyString>>)| match found {
        Some(string) => Ok(string),
        None => make(py, name),
    };
    names.into_iter().zip(found).map(made).collect()
}

#[cold]
fn make(py: Python<'_>, name: Name) -> PyResult<Py<PyString>> {
    let string = PyString::from_bytes(py, name.as_bytes())?.unbind();
    let kept = string.clone_ref(py);
    let mut known = STRINGS.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() <= name.number() {
        known.resize_with(name.number() + 1, || None);
    }
    let before = known[name.number()].replace(kept);
    drop(known);
    drop(before);
    Ok(string)
}
