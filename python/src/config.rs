//! The configuration in given files, as a mapping.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use classmate_config::Config;
use classmate_config::internal::config::Disk;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::convert;
use crate::pool::invalid;
use crate::scan::of_system;

/// A configuration: HTCondor's defaults, and the files that were read over them.
#[pyclass(name = "_Config", frozen, module = "classmate._classmate")]
pub(crate) struct ConfigBase {
    config: Mutex<Config>,
}

impl ConfigBase {
    fn lock(&self) -> MutexGuard<'_, Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ConfigBase {
    #[new]
    fn new() -> Self {
        ConfigBase { config: Mutex::default() }
    }

    /// Reads a file, and the files that it includes, over what there is.
    fn read(&self, path: PathBuf) -> PyResult<()> {
        let name = path.display().to_string();
        let text = std::fs::read(&path).map_err(|error| of_system(&error, path))?;
        self.lock().read(&name, &text, &Disk).map_err(|error| invalid(&error))
    }

    /// Reads a text over what there is.
    fn add(&self, name: &str, text: &str) -> PyResult<()> {
        self.lock().add(name, text.as_bytes()).map_err(|error| invalid(&error))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.lock().get(name).map_err(|error| invalid(&error))?;
        match found {
            Some(found) => convert::string(py, &found.text),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }

    /// The names that the files set.
    fn names(&self) -> Vec<String> {
        self.lock().names().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}
