//! Types and conversions: `isUndefined` … `isRelTime`, `int`, `real`, `string`, `bool`, `floor` … `round`.

use crate::builtin::{Call, Exit, Function};
use crate::syntax::number::real_to_integer;
use crate::value::{Type, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("isUndefined(value)", is::<{ Type::Undefined as u8 }>),
    Function::new("isError(value)", is::<{ Type::Error as u8 }>),
    Function::new("isString(value)", is::<{ Type::Str as u8 }>),
    Function::new("isInteger(value)", is::<{ Type::Int as u8 }>),
    Function::new("isReal(value)", is::<{ Type::Real as u8 }>),
    Function::new("isBoolean(value)", is::<{ Type::Bool as u8 }>),
    Function::new("isList(value)", is::<{ Type::List as u8 }>),
    Function::new("isClassAd(value)", is::<{ Type::Ad as u8 }>),
    Function::new("isAbsTime(value)", is::<{ Type::AbsTime as u8 }>),
    Function::new("isRelTime(value)", is::<{ Type::RelTime as u8 }>),
    Function::new("int(value)", int),
    Function::new("real(value)", real),
    Function::new("string(value)", string),
    Function::new("bool(value)", bool),
    Function::new("floor(number)", |call| rounded(call, f64::floor)),
    Function::new("ceil(number)", |call| rounded(call, f64::ceil)),
    Function::new("ceiling(number)", |call| rounded(call, f64::ceil)),
    Function::new("round(number)", |call| rounded(call, f64::round_ties_even)),
];

fn is<const TYPE: u8>(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(Value::Bool(call.type_of(0)? as u8 == TYPE))
}

fn int(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    Ok(Value::Int(call.int(&value)?))
}

fn real(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    Ok(Value::Real(call.real(&value)?))
}

fn string(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    call.text(&value).map(Value::Str)
}

fn bool(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(match call.argument(0)? {
        Value::RelTime(seconds) => Value::Bool(seconds.trunc() != 0.0),
        Value::Str(text) if text.eq_ignore_ascii_case(b"true") => Value::Bool(true),
        Value::Str(text) if text.eq_ignore_ascii_case(b"false") => Value::Bool(false),
        Value::Undefined | Value::Str(_) => Value::Undefined,
        other => other.as_condition().map_or(Value::Error, Value::Bool),
    })
}

fn rounded(call: &mut Call<'_, '_>, round: fn(f64) -> f64) -> Result<Value, Exit> {
    Ok(match call.argument(0)? {
        Value::Int(value) => Value::Int(value),
        other => call.real(&other).map_or(Value::Error, |value| Value::Int(real_to_integer(round(value)))),
    })
}
