//! Reading ads: texts as constructors read them, and the ads of a text one after another.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use classmate::internal::format::binding::{
    BindingFormat, BindingParsers, BindingReader, FileStep, read_file_as_binding,
};
use classmate::{ClassAd, Semantics};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::classes::{ClassAdException, new_ad};
use crate::world;

thread_local! {
    /// The parsers that read a text last on this thread, unless a reader has them. Ads that are read one by one are mostly alike.
    static KEPT: Cell<Option<KeptParsers>> = const { Cell::new(None) };
}

/// Parsers, and the zone and the version that they read in.
struct KeptParsers {
    of: (u64, Semantics),
    parsers: Box<BindingParsers>,
}

impl KeptParsers {
    /// Parsers for a text that is read now.
    fn take() -> Self {
        let now = (world::zone_number(), world::semantics());
        KEPT.take()
            .filter(|kept| kept.of == now)
            .unwrap_or_else(|| KeptParsers { of: now, parsers: Box::new(BindingParsers::new(&world::parse_options())) })
    }

    /// Keeps the parsers for the next text, unless the thread ends.
    fn keep(self) {
        let _ = KEPT.try_with(|kept| kept.set(Some(self)));
    }
}

/// The error of the constructors.
pub(crate) fn not_an_ad() -> PyErr {
    ClassAdException::new_err("Unable to parse string into a ClassAd.")
}

/// Reads the ad that a text begins with.
pub(crate) fn parse_ad(text: &str) -> PyResult<ClassAd> {
    let mut kept = KeptParsers::take();
    let read = kept.parsers.parse_ad(text.as_bytes());
    kept.keep();
    read.map(|(ad, _)| ad).map_err(|_| not_an_ad())
}

fn format(number: i64) -> BindingFormat {
    match number {
        -1 => BindingFormat::Text,
        1 => BindingFormat::Xml,
        2 => BindingFormat::Json,
        3 => BindingFormat::New,
        4 => BindingFormat::JsonLines,
        _ => BindingFormat::Long,
    }
}

fn unreadable() -> PyErr {
    PyValueError::new_err("Unable to parse input stream into a ClassAd.")
}

/// Reads the first ad of a file from the beginning of what is left of it.
///
/// Returns nothing if more is needed, otherwise the ad, `None` at the end or `False` for what cannot be read, and how
/// many bytes were read.
#[pyfunction]
#[pyo3(name = "_read_file")]
pub(crate) fn read_file<'py>(
    py: Python<'py>,
    data: &[u8],
    parser: i64,
    is_all: bool,
) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
    let mut kept = KeptParsers::take();
    let (step, used) = read_file_as_binding(format(parser), data, is_all, &mut kept.parsers);
    kept.keep();
    let ad = match step {
        FileStep::More => return Ok(None),
        FileStep::Ad(ad) => new_ad(py, ad)?,
        FileStep::End => py.None().into_bound(py),
        FileStep::Unreadable => PyBool::new(py, false).to_owned().into_any(),
    };
    Ok(Some((ad, used)))
}

/// Reads the ads of a text one after another.
#[pyclass(frozen, module = "classmate._classmate")]
pub(crate) struct AdReader {
    /// The zone and the version, and the reader until it is dropped.
    of: (u64, Semantics),
    reader: Mutex<Option<BindingReader>>,
}

impl Drop for AdReader {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            KeptParsers { of: self.of, parsers: reader.into_parsers() }.keep();
        }
    }
}

#[pymethods]
impl AdReader {
    #[new]
    fn new(text: &Bound<'_, PyString>, parser: i64) -> PyResult<Self> {
        let text = text.to_str()?.as_bytes().to_vec();
        let KeptParsers { of, parsers } = KeptParsers::take();
        Ok(AdReader { of, reader: Mutex::new(Some(BindingReader::new(format(parser), text, parsers))) })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.read(py)?.map(|(ad, _)| ad))
    }

    /// The next ad, and how many bytes of the text it took; nothing at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let next = reader.as_mut().map_or(Ok(None), BindingReader::next_ad);
        // The reference cuts strings at NUL when it prints them, so it has no text of its own to lose here.
        let is_lossy = reader.as_ref().is_some_and(BindingReader::loses_string);
        drop(reader);
        match next {
            _ if is_lossy => Err(unreadable()),
            Ok(Some((ad, length))) => Ok(Some((new_ad(py, ad)?, length))),
            Ok(None) => Ok(None),
            Err(_) => Err(unreadable()),
        }
    }
}
