//! Conversions between values: to text, to real, to integer (`docs/reference/classad-language.md` 7.1).

use crate::syntax::number::{real_prefix, real_to_integer};
use crate::syntax::print::{Style, write_integer};
use crate::syntax::time::{truncate_to_32, write_abs, write_rel_whole};
use crate::text::Text;
use crate::value::Value;

/// The value as text: strings as they are, times bare, everything else in canonical form; `None` when the text of a list
/// or ad is longer than `limit` bytes.
///
/// Undefined and error have no text; they are returned as they are.
///
/// # Errors
/// The value itself, when it is undefined or error.
pub fn to_text_within(value: &Value, limit: usize) -> Result<Option<Text>, Value> {
    Ok(Some(match value {
        Value::Undefined | Value::Error => return Err(value.clone()),
        Value::Str(text) => text.clone(),
        Value::AbsTime(time) => {
            let mut out = Vec::new();
            write_abs(&mut out, *time);
            Text::from(out)
        }
        Value::RelTime(seconds) => {
            let mut out = Vec::new();
            write_rel_whole(&mut out, *seconds);
            Text::from(out)
        }
        Value::Bool(value) => Text::new(if *value { "true" } else { "false" }),
        Value::Int(value) => {
            let mut out = Vec::with_capacity(20);
            write_integer(&mut out, *value);
            Text::from(out)
        }
        other => return Ok(other.to_expr().to_text_within(Style::New, limit).map(Text::from)),
    }))
}

/// The value as a real: the longest numeric prefix of a string, seconds of a time.
///
/// # Errors
/// Undefined for undefined; error for error, lists, ads, and strings that begin with no number.
pub fn to_real(value: &Value) -> Result<f64, Value> {
    Ok(match value {
        Value::Undefined => return Err(Value::Undefined),
        Value::Error | Value::List(_) | Value::Ad(_) => return Err(Value::Error),
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Int(value) => *value as f64,
        Value::Real(value) => *value,
        Value::AbsTime(time) => time.seconds as f64,
        Value::RelTime(seconds) => f64::from(truncate_to_32(*seconds)),
        Value::Str(text) => real_prefix(text).ok_or(Value::Error)?.0,
    })
}

/// The value as an integer: as [`to_real`], then truncated toward zero; what does not fit is the smallest integer.
///
/// # Errors
/// As [`to_real`].
pub fn to_int(value: &Value) -> Result<i64, Value> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::AbsTime(time) => Ok(time.seconds),
        other => to_real(other).map(real_to_integer),
    }
}
