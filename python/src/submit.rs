//! Submit descriptions, as mappings of their commands.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use classmate_advice::internal::submit_description::SubmitDescription;
use classmate_config::ConfigError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::key::without_nul;
use crate::world;

fn invalid(error: &ConfigError) -> PyErr {
    PyValueError::new_err(error.to_line())
}

/// The values of variables in an item.
type Values = Vec<(String, String)>;

/// The commands of a submit file and its `queue` statement.
#[pyclass(name = "_Submit", frozen, module = "classmate._classmate")]
pub(crate) struct SubmitBase {
    description: Mutex<SubmitDescription>,
}

impl SubmitBase {
    fn lock(&self) -> MutexGuard<'_, SubmitDescription> {
        self.description.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SubmitBase {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let bytes = OsString::into_encoded_bytes;
        let environment = std::env::vars_os().map(|(name, value)| (bytes(name), bytes(value))).collect();
        let text = without_nul(text)?.as_bytes();
        let parsed = SubmitDescription::parse("submit description", text, environment, world::semantics());
        let parsed = parsed.map_err(|error| invalid(&error))?;
        Ok(SubmitBase { description: Mutex::new(parsed) })
    }

    /// Names and values as they are written.
    fn commands(&self) -> Vec<(String, String)> {
        self.lock().commands().collect()
    }

    /// The value of a command as it is written.
    fn value(&self, command: &str) -> Option<String> {
        self.lock().value(command)
    }

    /// Sets a command.
    fn set(&self, command: &str, value: &str) -> PyResult<()> {
        let (command, value) = (without_nul(command)?, without_nul(value)?);
        self.lock().set(command, value).map_err(|error| invalid(&error))
    }

    /// The value of a command, expanded.
    fn expand(&self, command: &str) -> PyResult<Option<String>> {
        self.lock().expand(command).map_err(|error| invalid(&error))
    }

    /// The arguments of `queue`.
    fn queue(&self) -> Option<String> {
        self.lock().queue().map(str::to_owned)
    }

    /// Replaces the arguments of `queue`.
    fn set_queue(&self, arguments: &str) -> PyResult<()> {
        self.lock().set_queue(without_nul(arguments)?);
        Ok(())
    }

    /// The variables of `queue` with their values in each item, of which a blank one has none; other arguments of `queue` than
    /// those of the description if they are given. None without a list.
    fn items(&self, arguments: Option<&str>) -> PyResult<Option<Vec<Values>>> {
        let mut description = self.lock().clone();
        if let Some(arguments) = arguments {
            description.set_queue(arguments);
        }
        let found = description.items(Path::new("")).map_err(PyValueError::new_err)?;
        Ok(found.map(|items| {
            let pair = |(name, value): (&String, &str)| (name.clone(), value.to_owned());
            let values = |row: &String| items.names.iter().zip(items.values(row)).map(pair).collect();
            items.rows.iter().map(values).collect()
        }))
    }
}
