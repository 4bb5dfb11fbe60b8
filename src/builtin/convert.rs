//! Types and conversions: `isUndefined` … `isRelTime`, `int`, `real`, `string`, `bool`, `floor` … `round`.

use crate::builtin::{Call, Exit, Function};
use crate::syntax::number::real_to_integer;
use crate::value::text::{to_int, to_real};
use crate::value::{Type, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new(
        "isUndefined(value)",
        is::<{ Type::Undefined as u8 }>,
        "Whether the value is UNDEFINED, like the value of a missing attribute.",
        &[("isUndefined(nosuch)", "true"), ("isUndefined(error)", "false")],
    ),
    Function::new(
        "isError(value)",
        is::<{ Type::Error as u8 }>,
        "Whether the value is ERROR.",
        &[("isError(1 / 0)", "true"), ("isError(undefined)", "false")],
    ),
    Function::new(
        "isString(value)",
        is::<{ Type::Str as u8 }>,
        "Whether the value is a string.",
        &[("isString(\"a\")", "true"), ("isString(1)", "false")],
    ),
    Function::new(
        "isInteger(value)",
        is::<{ Type::Int as u8 }>,
        "Whether the value is an integer.",
        &[("isInteger(1)", "true"), ("isInteger(1.0)", "false")],
    ),
    Function::new(
        "isReal(value)",
        is::<{ Type::Real as u8 }>,
        "Whether the value is a real, including relative-time literals.",
        &[("isReal(1.0)", "true"), ("isReal(relTime(\"5\"))", "true")],
    ),
    Function::new(
        "isBoolean(value)",
        is::<{ Type::Bool as u8 }>,
        "Whether the value is true or false.",
        &[("isBoolean(1 == 1)", "true"), ("isBoolean(1)", "false")],
    ),
    Function::new(
        "isList(value)",
        is::<{ Type::List as u8 }>,
        "Whether the value is a list.",
        &[("isList({ 1,2 })", "true"), ("isList(\"1,2\")", "false")],
    ),
    Function::new(
        "isClassAd(value)",
        is::<{ Type::Ad as u8 }>,
        "Whether the value is an ad.",
        &[("isClassAd([ a = 1 ])", "true"), ("isClassAd({ 1 })", "false")],
    ),
    Function::new(
        "isAbsTime(value)",
        is::<{ Type::AbsTime as u8 }>,
        "Whether the value is an absolute time.",
        &[("isAbsTime(absTime(\"2020-01-01T00:00:00Z\"))", "true"), ("isAbsTime(time())", "false")],
    ),
    Function::new(
        "isRelTime(value)",
        is::<{ Type::RelTime as u8 }>,
        "Whether the value is a relative time. A relative-time literal is a real instead.",
        &[("isRelTime(relTime(90))", "true"), ("isRelTime(relTime(\"1:30\"))", "false")],
    ),
    Function::new(
        "int(value)",
        int,
        "Converts to an integer: numbers are truncated toward zero, strings yield the number they start with.",
        &[("int(2.9)", "2"), ("int(\"12abc\")", "12"), ("int(undefined)", "undefined")],
    ),
    Function::new(
        "real(value)",
        real,
        "Converts to a real: strings yield the number they start with, including hexadecimal, INF and NaN.",
        &[("real(2)", "2.000000000000000E+00"), ("real(\"1e3\")", "1.000000000000000E+03"), ("real(\"x\")", "error")],
    ),
    Function::new(
        "string(value)",
        string,
        "Converts to a string; UNDEFINED stays UNDEFINED.",
        &[("string(1 + 1)", "\"2\""), ("string(1.5)", "\"1.500000000000000E+00\"")],
    ),
    Function::new(
        "bool(value)",
        bool,
        "Converts to a boolean: nonzero numbers are true, strings must be true or false.",
        &[("bool(\"TRUE\")", "true"), ("bool(0)", "false"), ("bool(\"yes\")", "undefined")],
    ),
    Function::new(
        "floor(number)",
        |call| rounded(call, f64::floor),
        "The largest integer not above the number; integers are unchanged.",
        &[("floor(1.9)", "1"), ("floor(\"1.5\")", "1"), ("floor(undefined)", "error")],
    ),
    Function::new(
        "ceil(number)",
        |call| rounded(call, f64::ceil),
        "The smallest integer not below the number.",
        &[("ceil(1.1)", "2")],
    ),
    Function::new(
        "ceiling(number)",
        |call| rounded(call, f64::ceil),
        "The smallest integer not below the number.",
        &[("ceiling(1.1)", "2")],
    ),
    Function::new(
        "round(number)",
        |call| rounded(call, f64::round_ties_even),
        "The nearest integer; halves are rounded to the even integer.",
        &[("round(2.5)", "2"), ("round(3.5)", "4")],
    ),
];

fn is<const TYPE: u8>(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(Value::Bool(call.unread(0)?.type_of() as u8 == TYPE))
}

fn int(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(Value::Int(to_int(&call.argument(0)?)?))
}

fn real(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(Value::Real(to_real(&call.argument(0)?)?))
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
        other => to_real(&other).map_or(Value::Error, |value| Value::Int(real_to_integer(round(value)))),
    })
}
