//! Typed fields of JSON cases: each reader names the field in its error.

use serde_json::{Value as Json, json};

/// A number; none if it is missing or null. `"inf"` and `"INFINITE"` are infinite, for which JSON has no number.
pub(super) fn number(of: &Json, key: &str) -> Result<Option<f64>, String> {
    match of.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            as_number(value).map(Some).ok_or_else(|| format!("expected a number in `{key}`, found `{value}`"))
        }
    }
}

/// A number, infinite as for [`number`].
pub(super) fn as_number(value: &Json) -> Option<f64> {
    match value {
        Json::String(text) if text == "inf" || text == "INFINITE" => Some(f64::INFINITY),
        value => value.as_f64(),
    }
}

/// A number that must be there.
pub(super) fn real(of: &Json, key: &str) -> Result<f64, String> {
    number(of, key)?.ok_or_else(|| format!("`{key}` is missing"))
}

/// A whole number that must be there.
pub(super) fn whole(of: &Json, key: &str) -> Result<i64, String> {
    of.get(key).and_then(Json::as_i64).ok_or_else(|| format!("expected a whole number in `{key}`"))
}

/// A truth value; none if it is missing or null.
pub(super) fn truth(of: &Json, key: &str) -> Result<Option<bool>, String> {
    match of.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Bool(value)) => Ok(Some(*value)),
        Some(value) => Err(format!("expected true or false in `{key}`, found `{value}`")),
    }
}

/// A truth value, false if it is missing or null.
pub(super) fn flag(of: &Json, key: &str) -> Result<bool, String> {
    Ok(truth(of, key)?.unwrap_or(false))
}

/// A string.
pub(super) fn text<'j>(of: &'j Json, key: &str) -> Result<&'j str, String> {
    of.get(key).and_then(Json::as_str).ok_or_else(|| format!("expected a string in `{key}`"))
}

/// A list.
pub(super) fn list<'j>(of: &'j Json, key: &str) -> Result<&'j [Json], String> {
    of.get(key).and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| format!("expected a list in `{key}`"))
}

/// A list of numbers.
pub(super) fn numbers(of: &Json, key: &str) -> Result<Vec<f64>, String> {
    let numbers = list(of, key)?.iter().map(as_number).collect::<Option<_>>();
    numbers.ok_or_else(|| format!("expected numbers in `{key}`"))
}

/// An object.
pub(super) fn object<'j>(of: &'j Json, key: &str) -> Result<&'j Json, String> {
    of.get(key).filter(|value| value.is_object()).ok_or_else(|| format!("expected an object in `{key}`"))
}

/// Answers a case with an operation `op` and its `input` as `output`.
pub(super) fn answer_operation(
    case: &Json,
    run: impl FnOnce(&str, &Json) -> Result<Json, String>,
) -> Result<Json, String> {
    Ok(json!({ "output": run(text(case, "op")?, object(case, "input")?)? }))
}
