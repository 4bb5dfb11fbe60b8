//! Times: `absTime`, `relTime`, the clock, the fields of times and their formats.

use crate::ad::ClassAd;
use crate::builtin::{Call, Exit, Function};
use crate::eval::{EvalError, as_error_value};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::syntax::calendar::{Civil, DAY};
use crate::syntax::time::{AbsTime, truncate_to_32};
use crate::value::time::{day_numbers, strftime, write_interval};
use crate::value::{AdValue, Type, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::impure("absTime([seconds [, offset]])", abs_time),
    Function::new("relTime(seconds)", rel_time),
    Function::impure("time()", |call| Ok(Value::Int(call.settings().time()))),
    Function::impure("currentTime()", |call| Ok(current_time(call))),
    Function::impure("timeZoneOffset()", |call| {
        Ok(Value::RelTime(f64::from(local(call, call.settings().time()).offset)))
    }),
    Function::impure("dayTime()", day_time),
    Function::new("getYear(absTime)", |call| field(call, |fields| fields.year, None)),
    Function::new("getMonth(absTime)", |call| field(call, |fields| fields.month, None)),
    Function::new("getDayOfYear(absTime)", |call| field(call, |fields| fields.yearday, None)),
    Function::new("getDayOfMonth(absTime)", |call| field(call, |fields| fields.day, None)),
    Function::new("getDayOfWeek(absTime)", |call| field(call, |fields| fields.weekday, None)),
    Function::new("getDays(relTime)", get_days),
    Function::new("getHours(time)", |call| field(call, |fields| fields.hour, Some(|seconds| seconds % DAY / 3600))),
    Function::new("getMinutes(time)", |call| field(call, |fields| fields.minute, Some(|seconds| seconds % 3600 / 60))),
    Function::new("getSeconds(time)", |call| field(call, |fields| fields.second, Some(|seconds| seconds % 60))),
    Function::new("splitTime(time)", split_time),
    Function::impure("formatTime([time [, format]])", format_time),
    Function::new("interval(seconds)", interval),
];

/// The point in time, with the offset of the local clock at that instant.
fn local(call: &Call<'_, '_>, seconds: i64) -> AbsTime {
    AbsTime { seconds, offset: call.settings().zone.offset_at(seconds) }
}

fn abs_time(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    if call.is_empty() {
        return Ok(current_time(call));
    }
    let time = call.argument(0)?;
    let offset = match call.len() {
        1 => None,
        _ => match call.argument(1)? {
            Value::Int(offset) => Some(offset as i32),
            Value::Real(offset) | Value::RelTime(offset) => Some(truncate_to_32(offset)),
            _ => return Ok(Value::Error),
        },
    };
    let seconds = match time {
        Value::Int(_) if offset == Some(-1) => return Err(EvalError::Function("absTime").into()),
        Value::Int(seconds) => i64::from(seconds as i32),
        Value::Real(seconds) | Value::RelTime(seconds) => i64::from(truncate_to_32(seconds)),
        Value::Undefined | Value::AbsTime(_) | Value::Str(_) => return Ok(time),
        _ => return Ok(Value::Error),
    };
    Ok(Value::AbsTime(match offset {
        Some(offset) => AbsTime { seconds, offset },
        None => local(call, seconds),
    }))
}

fn rel_time(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(match call.argument(0)? {
        Value::Int(seconds) => Value::RelTime(f64::from(seconds as i32)),
        Value::Real(seconds) | Value::RelTime(seconds) => Value::RelTime(seconds),
        Value::AbsTime(time) => Value::RelTime(time.seconds as f64),
        Value::Undefined => Value::Undefined,
        // A text that is not written in place: the reference reads stale memory.
        _ => Value::Error,
    })
}

fn current_time(call: &Call<'_, '_>) -> Value {
    Value::AbsTime(local(call, call.settings().time()))
}

fn day_time(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let now = local(call, call.settings().time());
    let clock = (now.seconds % DAY + i64::from(now.offset)).rem_euclid(DAY);
    Ok(Value::RelTime(clock as f64))
}

/// The fields of a point in time; `None` for years beyond 32 bits, where the fields of the reference are stale.
fn fields_of(time: AbsTime) -> Option<Civil> {
    let fields = Civil::from_seconds(time.seconds, time.offset);
    i32::try_from(fields.year).is_ok().then_some(fields)
}

/// A field of a point in time on the local clock, or of the whole seconds of a duration if it has such a field.
fn field(
    call: &mut Call<'_, '_>,
    of_clock: fn(&Civil) -> i64,
    of_duration: Option<fn(i64) -> i64>,
) -> Result<Value, Exit> {
    Ok(match (call.argument(0)?, of_duration) {
        (Value::AbsTime(time), _) => {
            fields_of(local(call, time.seconds)).map_or(Value::Error, |fields| Value::Int(of_clock(&fields)))
        }
        (Value::RelTime(seconds), Some(of_duration)) => Value::Int(of_duration(i64::from(truncate_to_32(seconds)))),
        _ => Value::Error,
    })
}

fn get_days(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(match call.argument(0)? {
        Value::RelTime(seconds) => Value::Int(i64::from(truncate_to_32(seconds)) / DAY),
        _ => Value::Error,
    })
}

/// The point in time that a value names: itself, or seconds on the local clock.
fn point_in_time(call: &Call<'_, '_>, value: &Value) -> Option<AbsTime> {
    match value {
        Value::AbsTime(time) => Some(*time),
        Value::Int(seconds) if call.is_old(VersionRule::Time32bit) => Some(local(call, i64::from(*seconds as i32))),
        Value::Int(seconds) => Some(local(call, *seconds)),
        Value::Real(seconds) => Some(local(call, i64::from(truncate_to_32(*seconds)))),
        _ => None,
    }
}

fn split_time(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let mut ad = ClassAd::with_capacity(8);
    if let Some(time) = point_in_time(call, &value) {
        let Some(fields) = fields_of(time) else { return Ok(Value::Error) };
        ad.insert("Type", "AbsoluteTime");
        ad.insert("Year", fields.year);
        ad.insert("Month", fields.month);
        ad.insert("Day", fields.day);
        ad.insert("Hours", fields.hour);
        ad.insert("Minutes", fields.minute);
        ad.insert("Seconds", fields.second);
        ad.insert("Offset", i64::from(time.offset));
    } else if let Value::RelTime(seconds) = value {
        let (whole, seconds) = split_duration(seconds);
        ad.insert("Type", "RelativeTime");
        for (name, value) in ["Days", "Hours", "Minutes"].into_iter().zip(whole) {
            ad.insert(name, value);
        }
        ad.insert("Seconds", seconds);
    } else {
        let is_error = !value.is_undefined() || call.is_old(VersionRule::SplittimeUndefined);
        return Ok(if is_error { Value::Error } else { Value::Undefined });
    }
    call.reserve(ad.len() * 64)?;
    Ok(Value::Ad(AdValue::of(ad)))
}

/// Days, hours, minutes, and the seconds with their fraction. The largest that is not zero has the sign.
fn split_duration(seconds: f64) -> ([i64; 3], f64) {
    let magnitude = if seconds < 0.0 { -seconds } else { seconds };
    let whole = i64::from(truncate_to_32(magnitude));
    let mut fields = [whole / DAY, whole % DAY / 3600, whole % 3600 / 60];
    let mut rest = (whole % 60) as f64 + (magnitude - magnitude.floor());
    if seconds < 0.0 {
        match fields.iter_mut().find(|field| **field > 0) {
            Some(field) => *field = -*field,
            None => rest = -rest,
        }
    }
    (fields, rest)
}

fn format_time(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let time = if call.is_empty() { Value::Int(call.settings().time()) } else { call.argument(0)? };
    if !matches!(time.type_of(), Type::Int | Type::Real | Type::AbsTime | Type::Ad) {
        return Ok(Value::Error);
    }
    let format = if call.len() > 1 { call.argument(1)? } else { Value::text(b"%c") };
    let Some(format) = format.as_bytes() else { return Ok(Value::Error) };
    let fields = match (point_in_time(call, &time), &time) {
        (Some(time), _) => fields_of(time),
        (None, Value::Ad(ad)) => Some(fields_of_ad(call, ad)?),
        (None, _) => None,
    };
    let Some(mut fields) = fields else { return Ok(Value::Error) };
    let (weekday, yearday) = day_numbers(fields.year as i32, fields.month as i32, fields.day as i32);
    (fields.weekday, fields.yearday) = (i64::from(weekday), i64::from(yearday));
    let (offset, zone) = call.settings().zone.standard_at(fields.to_seconds());
    call.charge(16 + format.len() / 4)?;
    let mut text = Vec::new();
    strftime(&mut text, format, &fields, offset, zone.as_bytes());
    call.string(text)
}

/// The fields that an ad names by integers; others are the least there are.
fn fields_of_ad(call: &mut Call<'_, '_>, ad: &AdValue) -> Result<Civil, EvalError> {
    let mut number = |name: &str| -> Result<Option<i32>, EvalError> {
        Ok(as_error_value(call.attribute(ad, Name::from(name)))?.as_int().map(|value| value as i32))
    };
    let (second, minute) = (number("Seconds")?.unwrap_or(0), number("Minutes")?.unwrap_or(0));
    let (hour, day) = (number("Hours")?.unwrap_or(0), number("Day")?.unwrap_or(0));
    Ok(Civil {
        year: i64::from(number("Year")?.unwrap_or(1900)),
        month: i64::from(number("Month")?.unwrap_or(1)),
        day: i64::from(day),
        hour: i64::from(hour),
        minute: i64::from(minute),
        second: i64::from(second),
        ..Civil::default()
    })
}

fn interval(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let Ok(seconds) = call.int(&value) else { return Ok(Value::Error) };
    let mut text = Vec::new();
    write_interval(&mut text, seconds as i32);
    call.string(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::tests::evaluate;
    use crate::eval::scope::EvalOptions;
    use crate::syntax::time::Zone;

    /// 2020-06-15T12:00:00Z in New York, in summer.
    fn new_york() -> EvalOptions {
        let zone = Zone::named("America/New_York").unwrap();
        EvalOptions { zone, now: 1_592_222_400, ..EvalOptions::default() }
    }

    #[test]
    fn local_times_are_those_of_the_zone() {
        // Answers of the reference with TZ=America/New_York; those of the clock by hand: noon UTC is 8 o'clock there.
        for (text, expected) in [
            (
                "formatTime(1592222400, \"%F %T %j %a %Z %z %s\")",
                "\"2020-06-15 08:00:00 167 Mon EST +0000 1592226000\"",
            ),
            ("formatTime(1580000000, \"%F %T %Z %s\")", "\"2020-01-25 19:53:20 EST 1580000000\""),
            (
                "formatTime(absTime(\"2020-06-15T12:00:00+05:30\"), \"%F %T %Z %s\")",
                "\"2020-06-15 12:00:00 EST 1592240400\"",
            ),
            ("formatTime([ ], \"%F %T %j %a %s\")", "\"1900-01-00 00:00:00 000 Sun -2209057200\""),
            ("getHours(absTime(\"2020-06-15T12:00:00+05:30\"))", "2"),
            ("getHours(absTime(1592222400))", "8"),
            ("splitTime(1592222400).Offset", "-14400"),
            ("splitTime(absTime(\"2020-06-15T12:00:00+05:30\")).Offset", "19800"),
            ("absTime(1592222400)", "absTime(\"2020-06-15T08:00:00-04:00\")"),
            ("currentTime()", "absTime(\"2020-06-15T08:00:00-04:00\")"),
            ("absTime() =?= currentTime()", "true"),
            ("time()", "1592222400"),
            ("timeZoneOffset()", "relTime(\"-04:00:00\")"),
            ("dayTime()", "relTime(\"08:00:00\")"),
        ] {
            assert_eq!(evaluate(text, &new_york()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn ads_name_any_field() {
        // Answers of the reference.
        for (text, expected) in [
            ("formatTime([Year=2020.5;Month=2;Day=3], \"%F %T\")", "\"1900-02-03 00:00:00\""),
            ("formatTime([Year=2020;Month=true;Day=error], \"%F\")", "\"2020-01-00\""),
            ("formatTime([Year=1+2019;Month=Day;Day=3], \"%F\")", "\"2020-03-03\""),
            ("formatTime([Year=4294967297+2020;Month=2;Day=3], \"%F\")", "\"2021-02-03\""),
            (
                "formatTime([Year=2020;Month=2;Day=4294967299;Hours=25;Minutes=70;Seconds=-5], \"%F %T %j %a\")",
                "\"2020-02-03 25:70:-5 034 Mon\"",
            ),
            ("formatTime([Year=2020;Month=13;Day=40], \"%F %j %a %b\")", "\"2020-13-40 406 Tue ?\""),
            ("formatTime([Year=2020;Month=-2147483648;Day=40], \"%Y %m %b %j\")", "\"2020 -2147483648 ? 178956980\""),
            ("formatTime([Year=-2147483648;Month=1;Day=1], \"%Y %m %b\")", "\"-2147483648 01 Jan\""),
            ("[Year=2020; b=formatTime([Month=2;Day=3], \"%F\")].b", "\"2020-02-03\""),
        ] {
            assert_eq!(evaluate(text, &EvalOptions::default()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn times_pass_through_32_bits() {
        // Answers of the reference, except that it shows stale fields for years beyond 32 bits.
        for (text, expected) in [
            ("absTime(4294967297, 0)", "absTime(\"1970-01-01T00:00:01-00:00\")"),
            ("absTime(1e10)", "absTime(\"1901-12-13T20:45:52-00:00\")"),
            ("absTime(0, 4294967297)", "absTime(\"1970-01-01T00:00:01+00:00\")"),
            ("absTime(0, true)", "error"),
            ("absTime(undefined, true)", "error"),
            ("relTime(4294967297) == relTime(1)", "true"),
            ("getDays(relTime(1e12))", "-24855"),
            ("splitTime(relTime(-1e12)).Seconds", "8.000000000000000E+00"),
            ("splitTime(relTime(1e12)).Seconds", "-8.000000000000000E+00"),
            ("interval(1e300)", "\"0\""),
            ("interval(-2147483648)", "\"-24855+03:14:08\""),
            ("formatTime(5000000000, \"%F %T\")", "\"2128-06-11 08:53:20\""),
            ("formatTime(67767976233532799, \"%F %T\")", "\"2147483647-12-31 23:59:59\""),
            ("formatTime(67767976233532800, \"%F %T\")", "error"),
            ("splitTime(9223372036854775807)", "error"),
        ] {
            assert_eq!(evaluate(text, &EvalOptions::default()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_offset_of_minus_one_abandons_integers_only() {
        for text in ["absTime(0, -1)", "absTime(0, -1.9)", "absTime(0, relTime(-1.9))"] {
            assert_eq!(evaluate(text, &EvalOptions::default()), Err(EvalError::Function("absTime")), "{text}");
        }
        assert_eq!(evaluate("isAbsTime(absTime(0.0, -1))", &EvalOptions::default()).as_deref(), Ok("true"));
    }
}
