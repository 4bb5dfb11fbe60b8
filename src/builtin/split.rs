//! Splitting strings into lists: `split`, `splitUserName`, `splitSlotName`.

use crate::builtin::tokens::{SPLIT_SEPARATORS, split as parts};
use crate::builtin::{Call, Exit, Function};
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("split(text [, separators])", split),
    Function::new("splitUserName(name)", |call| around_at(call, |user| vec![user, Value::text(b"")])),
    Function::new("splitSlotName(name)", |call| around_at(call, |host| vec![Value::text(b""), host])),
];

fn split(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let text = call.argument(0)?;
    let separators = if call.len() > 1 { Some(call.argument(1)?) } else { None };
    let Some(text) = text.as_bytes() else { return Ok(Value::Error) };
    let separators = match &separators {
        None => SPLIT_SEPARATORS,
        Some(Value::Str(separators)) => separators,
        Some(_) => return Ok(Value::Error),
    };
    call.charge(text.len() / 16)?;
    let mut found = Vec::new();
    for part in parts(text, separators) {
        call.charge(1)?;
        call.reserve(STRING_SIZE)?;
        found.push(call.string(part)?);
    }
    call.list(found)
}

/// Bytes of a string beside its text.
const STRING_SIZE: usize = 16;

/// The parts around the first `@`; without one, `whole` arranges the text as two parts.
fn around_at(call: &mut Call<'_, '_>, whole: fn(Value) -> Vec<Value>) -> Result<Value, Exit> {
    let Value::Str(text) = call.argument(0)? else { return Ok(Value::Error) };
    call.charge(text.len() / 16)?;
    call.reserve(text.len())?;
    call.list(match memchr::memchr(b'@', &text) {
        Some(at) => vec![Value::text(&text[..at]), Value::text(&text[at + 1..])],
        None => whole(Value::Str(text)),
    })
}

#[cfg(test)]
mod tests {
    use crate::builtin::tests::evaluate;
    use crate::eval::EvalError;
    use crate::eval::scope::{EvalOptions, Limits};

    #[test]
    fn parts_count_against_the_limit_of_bytes() {
        let limits = Limits { bytes: 100_000, ..Limits::default() };
        let settings = EvalOptions { limits, ..EvalOptions::default() };
        let text = format!("split(\"{}\")", ",".repeat(50_000));
        assert_eq!(evaluate(&text, &settings), Err(EvalError::Memory(100_000)));
        let short = format!("size(split(\"{}\"))", "a ".repeat(1000));
        assert_eq!(evaluate(&short, &settings).as_deref(), Ok("1000"));
    }
}
