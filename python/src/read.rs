//! Reading ads: texts as constructors read them, and the ads of a text one after another.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use classmate::internal::format::binding::{BindingFormat, BindingReader, FileStep, read_file_as_binding};
use classmate::internal::format::new::{self, AdParser};
use classmate::{ClassAd, Semantics};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::classes::{ClassAdException, new_ad};
use crate::world;

thread_local! {
    /// Ads that are read one by one are mostly alike: names, expressions and shapes are remembered.
    static PARSER: RefCell<Option<((u64, Semantics), AdParser)>> = const { RefCell::new(None) };
}

/// The error of the constructors.
pub(crate) fn not_an_ad() -> PyErr {
    ClassAdException::new_err("Unable to parse string into a ClassAd.")
}

/// Reads the ad that a text begins with.
pub(crate) fn parse_ad(text: &str) -> PyResult<ClassAd> {
    let text = text.as_bytes();
    let read = PARSER.with(|parser| {
        let Ok(mut parser) = parser.try_borrow_mut() else {
            return new::parse_ad(text, &world::parse_options());
        };
        let zone = (world::zone_number(), world::semantics());
        let current = parser.take().filter(|(of, _)| *of == zone);
        let (_, current) =
            parser.insert(current.unwrap_or_else(|| (zone, AdParser::with_options(&world::parse_options()))));
        current.parse_ad(text)
    });
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
    let (step, used) = read_file_as_binding(format(parser), data, is_all, &world::parse_options());
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
    reader: Mutex<BindingReader>,
}

#[pymethods]
impl AdReader {
    #[new]
    fn new(text: &Bound<'_, PyString>, parser: i64) -> PyResult<Self> {
        let text = text.to_str()?.as_bytes().to_vec();
        let reader = BindingReader::new(format(parser), text, &world::parse_options());
        Ok(AdReader { reader: Mutex::new(reader) })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.read(py)?.map(|(ad, _)| ad))
    }

    /// The next ad, and how many bytes of the text it took; nothing at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
        let next = self.reader.lock().unwrap_or_else(PoisonError::into_inner).next_ad();
        match next {
            Ok(Some((ad, length))) => Ok(Some((new_ad(py, ad)?, length))),
            Ok(None) => Ok(None),
            Err(_) => Err(unreadable()),
        }
    }
}
