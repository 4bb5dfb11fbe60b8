//! Columns of tables, in the layout of Arrow: what `classmate.table.Table` holds.
//!
//! In: rows of cells. Out: for each column its name, its Arrow format, the number of rows and of nulls, and its buffers as
//! `bytes`, which consumers of the table use in place.

use classmate::internal::syntax::print::Style;
use classmate::{Text, Value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value as Json;

/// A value in a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(Text),
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        match value {
            Value::Undefined | Value::Error => Cell::Null,
            Value::Bool(value) => Cell::Bool(*value),
            Value::Int(value) => Cell::Int(*value),
            Value::Real(value) | Value::RelTime(value) => Cell::Real(*value),
            Value::Str(text) => Cell::Text(text.clone()),
            Value::AbsTime(time) => Cell::Int(time.seconds),
            Value::List(_) | Value::Ad(_) => Cell::Text(Text::new(value.to_text(Style::Plain))),
        }
    }
}

impl From<&Json> for Cell {
    fn from(value: &Json) -> Self {
        match value {
            Json::Null => Cell::Null,
            Json::Bool(value) => Cell::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Cell::Int(value),
                None => number.as_f64().map_or(Cell::Null, Cell::Real),
            },
            Json::String(text) => Cell::Text(Text::from(text.as_str())),
            Json::Array(_) | Json::Object(_) => Cell::Text(Text::from(value.to_string().as_str())),
        }
    }
}

/// A column of a table for Python.
pub(crate) type PyColumn = (String, &'static str, usize, usize, Vec<Py<PyBytes>>);

/// A column of a table, made without the lock of the interpreter.
pub(crate) struct Column {
    name: String,
    format: &'static str,
    length: usize,
    nulls: usize,
    buffers: Vec<Vec<u8>>,
}

impl Column {
    pub(crate) fn into_python(self, py: Python<'_>) -> PyColumn {
        let buffers = self.buffers.iter().map(|data| PyBytes::new(py, data).unbind()).collect();
        (self.name, self.format, self.length, self.nulls, buffers)
    }
}

/// Columns for Python.
pub(crate) fn into_python(py: Python<'_>, columns: Vec<Column>) -> Vec<PyColumn> {
    columns.into_iter().map(|column| column.into_python(py)).collect()
}

/// The type that all cells of a column have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Bool,
    Int,
    Real,
    Text,
}

/// Integers beside reals are reals; other mixtures are text.
fn common_type(cells: &[Cell]) -> ColumnType {
    let of = |cell: &Cell| match cell {
        Cell::Null => None,
        Cell::Bool(_) => Some(ColumnType::Bool),
        Cell::Int(_) => Some(ColumnType::Int),
        Cell::Real(_) => Some(ColumnType::Real),
        Cell::Text(_) => Some(ColumnType::Text),
    };
    let both = |a, b| match (a, b) {
        (a, b) if a == b => a,
        (ColumnType::Int, ColumnType::Real) | (ColumnType::Real, ColumnType::Int) => ColumnType::Real,
        _ => ColumnType::Text,
    };
    cells.iter().filter_map(of).reduce(both).unwrap_or(ColumnType::Text)
}

/// Bits, eight to a byte, the first one lowest.
fn bits(values: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0; values.len().div_ceil(8)];
    for (at, value) in values.enumerate() {
        bytes[at / 8] |= u8::from(value) << (at % 8);
    }
    bytes
}

fn text(cell: &Cell) -> Vec<u8> {
    match cell {
        Cell::Null => Vec::new(),
        Cell::Bool(value) => value.to_string().into_bytes(),
        Cell::Int(value) => value.to_string().into_bytes(),
        Cell::Real(value) => value.to_string().into_bytes(),
        Cell::Text(text) => text.to_string_lossy().into_owned().into_bytes(),
    }
}

/// The column of some cells.
pub(crate) fn column(name: String, cells: &[Cell]) -> Column {
    let is_null = |cell: &Cell| matches!(cell, Cell::Null);
    let nulls = cells.iter().filter(|cell| is_null(cell)).count();
    let validity = bits(cells.iter().map(|cell| !is_null(cell)));
    let (format, data) = match common_type(cells) {
        ColumnType::Bool => ("b", vec![bits(cells.iter().map(|cell| matches!(cell, Cell::Bool(true))))]),
        ColumnType::Int => {
            let value = |cell: &Cell| if let Cell::Int(value) = cell { *value } else { 0 };
            ("l", vec![cells.iter().flat_map(|cell| value(cell).to_ne_bytes()).collect()])
        }
        ColumnType::Real => {
            let value = |cell: &Cell| match cell {
                Cell::Real(value) => *value,
                Cell::Int(value) => *value as f64,
                _ => 0.0,
            };
            ("g", vec![cells.iter().flat_map(|cell| value(cell).to_ne_bytes()).collect()])
        }
        ColumnType::Text => {
            let mut offsets = 0i64.to_ne_bytes().to_vec();
            let mut texts = Vec::new();
            for cell in cells {
                match cell {
                    Cell::Text(text) if std::str::from_utf8(text).is_ok() => texts.extend_from_slice(text),
                    other => texts.extend(text(other)),
                }
                offsets.extend((texts.len() as i64).to_ne_bytes());
            }
            ("U", vec![offsets, texts])
        }
    };
    let buffers = std::iter::once(validity).chain(data).collect();
    Column { name, format, length: cells.len(), nulls, buffers }
}

/// The columns of rows, in the order in which their names first come.
fn columns_of_rows(rows: &str) -> Result<Vec<Column>, serde_json::Error> {
    let rows: Vec<serde_json::Map<String, Json>> = serde_json::from_str(rows)?;
    let mut names: Vec<&String> = Vec::new();
    for row in &rows {
        for (at, name) in row.keys().enumerate() {
            if names.get(at) != Some(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let cells = |name: &String| rows.iter().map(|row| row.get(name).map_or(Cell::Null, Cell::from)).collect::<Vec<_>>();
    Ok(names.into_iter().map(|name| column(name.clone(), &cells(name))).collect())
}

/// The columns of rows in JSON.
#[pyfunction]
#[pyo3(name = "_columns")]
pub(crate) fn columns(py: Python<'_>, rows: String) -> PyResult<Vec<PyColumn>> {
    let columns = crate::pool::detached(py, move || columns_of_rows(&rows))?;
    Ok(into_python(py, columns.map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?))
}
