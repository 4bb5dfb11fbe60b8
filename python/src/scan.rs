//! Reading the ads of a file into columns, all at once or in batches.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use classmate::{ClassAd, EvalOptions, Expr, Scope};
use classmate_cli::cli::library::{AdFile, Failure, Progress};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::pool::columns_of;
use crate::simulate::{refused, watched};
use crate::table::{PyColumn, into_python};
use crate::world;

/// The ads of a file that fulfill a condition.
struct Scan {
    file: AdFile,
    condition: Option<Expr>,
    options: EvalOptions,
}

impl Scan {
    /// The next ads, as long as `goes_on`.
    fn batch(&mut self, most: usize, goes_on: impl Fn() -> bool) -> Result<Vec<ClassAd>, Failure> {
        let mut ads = Vec::new();
        while ads.len() < most && goes_on() {
            let Some(ad) = self.file.next().transpose()? else { break };
            if self.condition.as_ref().is_none_or(|condition| Scope::new(&ad, &self.options).holds(condition)) {
                ads.push(ad);
            }
        }
        Ok(ads)
    }
}

/// The error of a file that cannot be opened, as Python's `open` raises it.
pub(crate) fn of_system(error: &std::io::Error, path: PathBuf) -> PyErr {
    let text = error.to_string();
    let text = text.split_once(" (os error").map_or(&*text, |(text, _)| text);
    PyOSError::new_err((error.raw_os_error(), text.to_owned(), path.into_os_string()))
}

/// Reads the ads of a file in batches.
#[pyclass(name = "_AdScan", frozen, module = "classmate._classmate")]
pub(crate) struct AdScan {
    scan: Arc<Mutex<Scan>>,
    attributes: Option<Vec<String>>,
    options: EvalOptions,
}

#[pymethods]
impl AdScan {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, attributes: Option<Vec<String>>, constraint: Option<&str>) -> PyResult<Self> {
        let parsed = |text: &str| {
            let parsed = Expr::parse_with(text, &world::parse_options());
            parsed.map_err(|error| PyValueError::new_err(format!("`{text}`: {error}")))
        };
        let condition = constraint.map(parsed).transpose()?;
        let options = world::with_options(Clone::clone);
        std::fs::File::open(&path).map_err(|error| of_system(&error, path.clone()))?;
        let settings = options.clone();
        let file = watched(py, None, move |_| AdFile::open(&path, &settings))?.map_err(|error| refused(&error))?;
        let scan = Arc::new(Mutex::new(Scan { file, condition, options: options.clone() }));
        Ok(AdScan { scan, attributes, options })
    }

    /// The columns of the next ads; nothing if there are no more.
    fn batch(&self, py: Python<'_>, most: usize) -> PyResult<Option<Vec<PyColumn>>> {
        let scan = Arc::clone(&self.scan);
        let (attributes, options) = (self.attributes.clone(), self.options.clone());
        let read = watched(py, None, move |watch| {
            let goes_on = || watch(Progress { done: 0, total: 0, now: 0 }).is_continue();
            let ads = scan.lock().unwrap_or_else(PoisonError::into_inner).batch(most, goes_on)?;
            Ok((!ads.is_empty()).then(|| columns_of(&ads, attributes.as_deref(), &options, goes_on)))
        })?;
        Ok(read.map_err(|error| refused(&error))?.map(|columns| into_python(py, columns)))
    }

    /// Messages about ads that were skipped so far.
    #[getter]
    fn problems(&self, py: Python<'_>) -> Vec<String> {
        // A batch may be read on another thread.
        py.detach(|| self.scan.lock().unwrap_or_else(PoisonError::into_inner).file.problems())
    }
}
