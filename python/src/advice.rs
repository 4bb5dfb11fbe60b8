//! Lint and layout of texts.

use classmate::Diagnostic;
use classmate_advice::internal::fmt;
use classmate_advice::lint;
use classmate_config::Config;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::key::without_nul;
use crate::world;

fn shown(found: &Diagnostic) -> Json {
    let place = found.place.as_ref();
    json!({
        "rule": found.code,
        "severity": found.severity.as_str(),
        "file": place.map(|place| place.file.to_string()),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "message": found.message,
        "help": found.help.as_deref(),
    })
}

/// Finds errors and likely mistakes in the text of a configuration; the rows of a table as JSON.
#[pyfunction]
#[pyo3(name = "_lint")]
pub(crate) fn lint_config(py: Python<'_>, texts: Vec<(String, Vec<u8>)>) -> PyResult<String> {
    let semantics = world::semantics();
    crate::pool::detached(py, move || {
        let mut config = Config::default().read_as(semantics);
        for (name, text) in &texts {
            if let Err(error) = config.add(name, text) {
                return Json::Array(vec![shown(&error)]).to_string();
            }
        }
        Json::Array(lint(&config).iter().map(shown).collect()).to_string()
    })
}

/// Lays out a text: `expression`, `config` or `ads`.
#[pyfunction]
#[pyo3(name = "_format")]
pub(crate) fn format_text(py: Python<'_>, text: String, kind: String, width: usize) -> PyResult<Bound<'_, PyAny>> {
    without_nul(&text)?;
    let options = world::parse_options();
    let laid_out = crate::pool::detached(py, move || {
        let text = text.as_bytes();
        match &*kind {
            "expression" => fmt::ads::expression_with(text, width, &options).map_err(|error| error.to_string()),
            "config" => Ok(fmt::config::config(text, width, options.semantics)),
            "ads" => Ok(fmt::ads::long(text, options.semantics)),
            _ => Err(format!("`{kind}` is not expression, config or ads")),
        }
    })?;
    crate::convert::string(py, &laid_out.map_err(PyValueError::new_err)?)
}
