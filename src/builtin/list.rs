//! Lists: `sum`, `avg`, `min`, `max`, `member`, `identicalMember`, `anyCompare`, `allCompare`.

use crate::builtin::{Call, Exit, Function, list};
use crate::eval::{EvalError, operate};
use crate::syntax::operator::BinaryOp;
use crate::value::compare::{compare, identical, integers};
use crate::value::{List, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("sum(list)", sum),
    Function::new("avg(list)", avg),
    Function::new("min(list)", |call| extreme(call, BinaryOp::Less)),
    Function::new("max(list)", |call| extreme(call, BinaryOp::Greater)),
    Function::new("member(value, list)", member),
    Function::new("identicalMember(value, list)", identical_member),
    Function::new("anyCompare(operator, list, value)", |call| compare_each(call, true)),
    Function::new("allCompare(operator, list, value)", |call| compare_each(call, false)),
];

/// Folds the defined elements of the list that is the only argument; anything but a number is an error, undefined
/// stays undefined. `step` gets what was folded before and the next number.
fn folded(
    call: &mut Call<'_, '_>,
    mut step: impl FnMut(&Value, &Value) -> Value,
) -> Result<(Option<Value>, usize), Exit> {
    let list = list(call.argument(0)?)?;
    let (mut result, mut count) = (None, 0);
    for at in 0..list.len() {
        match call.element(&list, at)? {
            Value::Undefined => {}
            number @ (Value::Bool(_) | Value::Int(_) | Value::Real(_)) => {
                count += 1;
                result = Some(match result {
                    None => number,
                    Some(before) => step(&before, &number),
                });
            }
            _ => return Err(Exit::Value(Value::Error)),
        }
    }
    Ok((result, count))
}

fn plus(before: &Value, number: &Value) -> Value {
    operate(BinaryOp::Add, before, number)
}

fn sum(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(folded(call, plus)?.0.unwrap_or(Value::Int(0)))
}

fn avg(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(match folded(call, plus)? {
        (None, _) => Value::Int(0),
        (Some(sum), count) => operate(BinaryOp::Divide, &sum, &Value::Real(count as f64)),
    })
}

fn extreme(call: &mut Call<'_, '_>, better: BinaryOp) -> Result<Value, Exit> {
    let (found, _) = folded(call, |before, number| {
        // The comparison of the reference leaves both sides promoted to the same type.
        let (before, number) = promoted(before, number);
        if matches!(compare(better, &number, &before), Value::Bool(true)) { number } else { before }
    })?;
    Ok(found.unwrap_or(Value::Undefined))
}

fn promoted(a: &Value, b: &Value) -> (Value, Value) {
    if let Some((a, b)) = integers(a, b) {
        return (Value::Int(a), Value::Int(b));
    }
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => (Value::Real(a), Value::Real(b)),
        _ => (a.clone(), b.clone()),
    }
}

/// Counts the comparison of two strings of that size.
fn charge_comparison(call: &mut Call<'_, '_>, a: &Value, b: &Value) -> Result<(), EvalError> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => call.charge(a.len().min(b.len()) / 32),
        _ => Ok(()),
    }
}

fn member(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let list = match list(call.argument(1)?) {
        Ok(_) if matches!(value, Value::List(_) | Value::Ad(_) | Value::Error) => return Ok(Value::Error),
        Ok(_) | Err(Value::Error) if value.is_undefined() => return Ok(Value::Undefined),
        list => list?,
    };
    search(call, &list, |element| compare(BinaryOp::Equal, element, &value), &value)
}

fn identical_member(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let list = list(call.argument(1)?)?;
    if matches!(value, Value::List(_) | Value::Ad(_)) {
        return Ok(Value::Error);
    }
    search(call, &list, |element| identical(element, &value), &value)
}

fn search(
    call: &mut Call<'_, '_>,
    list: &List,
    matches: impl Fn(&Value) -> Value,
    value: &Value,
) -> Result<Value, Exit> {
    for at in 0..list.len() {
        let element = call.element(list, at)?;
        charge_comparison(call, &element, value)?;
        if matches!(matches(&element), Value::Bool(true)) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn operator(text: &[u8]) -> Option<BinaryOp> {
    Some(match text {
        b"<" => BinaryOp::Less,
        b"<=" => BinaryOp::LessEqual,
        b"!=" => BinaryOp::NotEqual,
        b"==" => BinaryOp::Equal,
        b">" => BinaryOp::Greater,
        b">=" => BinaryOp::GreaterEqual,
        b"is" => BinaryOp::Is,
        b"isnt" => BinaryOp::Isnt,
        _ => return None,
    })
}

/// Compares element by element until one comparison decides: `any` is decided by true, all by false.
fn compare_each(call: &mut Call<'_, '_>, any: bool) -> Result<Value, Exit> {
    let op = match call.argument(0)? {
        Value::Undefined => return Ok(Value::Undefined),
        Value::Str(text) => operator(&text).ok_or(Value::Error)?,
        _ => return Ok(Value::Error),
    };
    let list = list(call.argument(1)?)?;
    let value = call.argument(2)?;
    for at in 0..list.len() {
        let element = call.element(&list, at)?;
        charge_comparison(call, &element, &value)?;
        match operate(op, &element, &value) {
            // An undefined comparison ends the search of the reference like a false one that decides.
            Value::Undefined => return Ok(Value::Bool(false)),
            Value::Bool(result) if result == any => return Ok(Value::Bool(any)),
            Value::Bool(_) => {}
            _ => return Ok(Value::Error),
        }
    }
    Ok(Value::Bool(!any))
}

#[cfg(test)]
mod tests {
    use crate::ad::ClassAd;
    use crate::eval::EvalError;
    use crate::eval::scope::{EvalOptions, Scope};
    use crate::syntax::parse::parse_expr;
    use crate::value::Value;

    fn eval(my: &str, target: &str, expr: &str) -> Result<Value, EvalError> {
        let settings = EvalOptions::default();
        let (my, target) = (ClassAd::parse(my.as_bytes()).unwrap(), ClassAd::parse(target.as_bytes()).unwrap());
        let expr = parse_expr(expr.as_bytes(), &settings.parse_options()).unwrap();
        Scope::new(&my, &settings).with_target(&target).eval(&expr)
    }

    /// Values observed in the reference: functions and projections look names up where they are used, a subscript
    /// where the list is from.
    #[test]
    fn elements_are_evaluated_where_the_function_is_called() {
        let (my, target) = ("[a = 1; G = [cap = 1]]", "[a = 2; L = {a}; LL = {G}; G = [cap = 2]]");
        for (expr, expected) in [
            ("sum(TARGET.L)", "1"),
            ("member(2, TARGET.L)", "false"),
            ("join(TARGET.L)", "\"1\""),
            ("quantize(1.5, TARGET.L)", "2.000000000000000E+00"),
            ("TARGET.LL.cap", "{ 1 }"),
            ("TARGET.L[0]", "2"),
        ] {
            assert_eq!(eval(my, target, expr).unwrap().to_string(), expected, "{expr}");
        }
    }

    /// An ad written in a list stays part of the ad around the list, wherever it is taken from: `b` is 6 in `d`.
    #[test]
    fn ads_in_lists_stay_where_they_are_written() {
        let my = "[b = 5; d = [b = 6; q = {[z = b], true ? [z = b + 1] : 0}]]";
        assert_eq!(eval(my, "[]", "sum(d.q.z)").unwrap().to_string(), "13");
    }

    #[test]
    fn comparing_long_strings_counts_as_work() {
        let element = format!("\"{}y\"", "x".repeat(100_000));
        let my = format!("[s = {element}; t = \"{}z\"; L = {{{}}}]", "x".repeat(100_000), vec!["s"; 10_000].join(","));
        assert!(matches!(eval(&my, "[]", "member(t, L)"), Err(EvalError::Work(_))));
    }
}
