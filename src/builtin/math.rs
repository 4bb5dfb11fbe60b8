//! Numbers: `pow`, `quantize`, `random`.

use crate::builtin::{Call, Exit, Function};
use crate::eval::EvalError;
use crate::syntax::number::real_to_integer;
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("pow(base, exponent)", pow),
    Function::new("quantize(number, quantum) or quantize(number, list)", quantize),
    Function::impure("random([limit])", random),
];

fn pow(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let (base, exponent) = (call.argument(0)?, call.argument(1)?);
    if let (Value::Int(base), Value::Int(exponent)) = (&base, &exponent)
        && *exponent >= 0
    {
        // Half is added even to negative powers, as in the reference: pow(-2, 3) is -7.
        return Ok(Value::Int(real_to_integer((*base as f64).powf(*exponent as f64) + 0.5)));
    }
    Ok(match (call.real(&base), call.real(&exponent)) {
        (Ok(base), Ok(exponent)) => Value::Real(base.powf(exponent)),
        _ => Value::Error,
    })
}

/// Quanta that are this small leave a number as it is.
const NO_QUANTUM: f64 = 1e-8;

fn quantize(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let number = call.argument(0)?;
    let mut quantum = call.argument(1)?;
    let Ok(real) = call.real(&number) else { return Ok(Value::Error) };
    if let Value::List(list) = &quantum {
        let mut last = Value::Real(0.0);
        for at in 0..list.len() {
            last = call.element(list, at)?;
            match call.real(&last) {
                Ok(step) if step >= real => return Ok(last),
                Ok(_) => {}
                Err(_) => return Ok(Value::Error),
            }
        }
        quantum = last;
    }
    Ok(match (&number, &quantum) {
        (_, Value::Int(0)) => number,
        (Value::Int(number), Value::Int(quantum)) => {
            let above = number.wrapping_add(*quantum).wrapping_sub(1);
            Value::Int(above.wrapping_div(*quantum).wrapping_mul(*quantum))
        }
        _ => match call.real(&quantum) {
            Err(_) => Value::Error,
            Ok(quantum) if quantum.abs() <= NO_QUANTUM => number,
            Ok(quantum) => Value::Real((real / quantum).ceil() * quantum),
        },
    })
}

/// The largest number of the reference's generator, which has 31 bits.
const MAX_RANDOM: u64 = (1 << 31) - 1;

fn random(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let limit = if call.is_empty() { Value::Real(1.0) } else { call.argument(0)? };
    let draw = call.random() >> 33;
    match limit {
        Value::Int(limit) => match i64::from(limit as i32) {
            limit @ 1.. => Ok(Value::Int(draw as i64 % limit)),
            _ => Err(EvalError::Function("random").into()),
        },
        Value::Real(limit) if limit <= 0.0 => Err(EvalError::Function("random").into()),
        Value::Real(limit) => Ok(Value::Real(limit * (draw as f64 / MAX_RANDOM as f64))),
        _ => Ok(Value::Error),
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::ClassAd;
    use crate::eval::EvalError;
    use crate::eval::scope::{EvalOptions, Scope};
    use crate::syntax::parse::parse_expr;
    use crate::value::Value;

    fn eval(text: &str, seed: u64) -> Result<Value, EvalError> {
        let (ad, settings) = (ClassAd::new(), EvalOptions { seed, ..EvalOptions::default() });
        Scope::new(&ad, &settings).eval(&parse_expr(text.as_bytes(), &settings.parse_options()).unwrap())
    }

    #[test]
    fn random_numbers_follow_from_the_seed_and_stay_in_range() {
        let draws = |seed| eval("strcat(random(1000000), \" \", random(1000000))", seed).unwrap().to_string();
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
        for seed in 0..200 {
            let value = eval("random(3)", seed).unwrap().as_int().unwrap();
            assert!((0..3).contains(&value));
            let real = eval("random()", seed).unwrap().as_number().unwrap();
            assert!((0.0..=1.0).contains(&real));
        }
        assert_eq!(eval("isError(random(0))", 0).unwrap_err(), EvalError::Function("random"));
    }

    #[test]
    fn integer_powers_are_rounded_like_the_reference() {
        // pow(-2, 3) + 0.5 = -7.5, truncated; 2^63 does not fit.
        assert_eq!(eval("pow(-2, 3)", 0).unwrap().to_string(), "-7");
        assert_eq!(eval("pow(2, 63)", 0).unwrap().as_int(), Some(i64::MIN));
    }

    #[test]
    fn the_smallest_integers_quantize_without_overflow() {
        assert_eq!(eval("quantize(-9223372036854775807 - 1, -1)", 0).unwrap().type_of().as_str(), "integer");
    }
}
