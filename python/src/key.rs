//! Names of attributes as Python has them.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

use classmate::Name;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Names of texts that were looked up lately, by the address of the text: constants of a program stay where they are, and
/// so do the texts that names of attributes became.
type Recent = [Cell<Option<Name>>; 1 << SLOT_BITS];

const SLOT_BITS: u32 = 12;

thread_local! {
    static RECENT: Recent = const { [const { Cell::new(None) }; 1 << SLOT_BITS] };
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

/// The place of a text among the recent ones.
fn slot(text: &str) -> usize {
    let product = (text.as_ptr().addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> (u64::BITS - SLOT_BITS)) as usize
}

/// The name of a key that is looked up, in any spelling. What was never the name of an attribute is not kept: `None`.
pub(crate) fn known(text: &str) -> PyResult<Option<Name>> {
    RECENT.with(|recent: &Recent| {
        let recent = &recent[slot(text)];
        if let Some(name) = recent.get()
            && (name.as_bytes() == text.as_bytes() || name.as_bytes().eq_ignore_ascii_case(text.as_bytes()))
        {
            return Ok(Some(name));
        }
        let name = Name::known(without_nul(text)?.as_bytes());
        if name.is_some() {
            recent.set(name);
        }
        Ok(name)
    })
}

/// The name of a key that is set, spelled like it.
pub(crate) fn name(text: &str) -> PyResult<Name> {
    RECENT.with(|recent: &Recent| {
        let recent = &recent[slot(text)];
        if let Some(name) = recent.get().filter(|name| name.as_bytes() == text.as_bytes()) {
            return Ok(name);
        }
        let name = Name::new(without_nul(text)?);
        recent.set(Some(name));
        Ok(name)
    })
}

/// Python strings of names, by the number of their spelling. Names stay for the life of the process, and so do these.
static STRINGS: RwLock<Vec<Option<Py<PyString>>>> = RwLock::new(Vec::new());

/// The Python strings of names.
pub(crate) fn strings(
    py: Python<'_>,
    names: impl ExactSizeIterator<Item = Name> + Clone,
) -> PyResult<Vec<Py<PyString>>> {
    let string = |known: &[Option<Py<PyString>>], name: Name| Some(known.get(name.number())?.as_ref()?.clone_ref(py));
    // Nothing here lets another thread of Python go on, which might wait for this lock.
    let known = || STRINGS.read().unwrap_or_else(PoisonError::into_inner);
    let mut strings = Vec::with_capacity(names.len());
    {
        let known = known();
        strings.extend(names.clone().map_while(|name| string(&known, name)));
    }
    for name in names.skip(strings.len()) {
        let found = string(&known(), name);
        strings.push(match found {
            Some(string) => string,
            None => make(py, name)?,
        });
    }
    Ok(strings)
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
