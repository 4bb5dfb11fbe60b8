//! Strings: `strcat`, `join`, `toUpper`, `toLower`, `substr`, `strcmp`, `stricmp`, `size`.

use std::cmp::Ordering;

use crate::builtin::{Call, Exit, Function};
use crate::eval::EvalError;
use crate::text::Text;
use crate::value::Value;
use crate::value::compare::folded_order;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("strcat([value, …])", strcat),
    Function { least: 0, ..Function::new("join(separator, value, …) or join(separator, list) or join(list)", join) },
    Function::new("toUpper(value)", |call| cased(call, <[u8]>::to_ascii_uppercase)),
    Function::new("toLower(value)", |call| cased(call, <[u8]>::to_ascii_lowercase)),
    Function::new("substr(text, offset [, length])", substr),
    Function::new("strcmp(a, b)", |call| ordered(call, Ord::cmp)),
    Function::new("stricmp(a, b)", |call| ordered(call, folded_order)),
    Function::new("size(value)", size),
];

fn strcat(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let mut joined = Joined::new(Text::new(""));
    for at in 0..call.len() {
        let value = call.argument_deeper(at)?;
        let text = call.text(&value)?;
        joined.add(call, &text)?;
    }
    Ok(Value::text(joined.text))
}

/// A text that grows within the limit of bytes.
struct Joined {
    separator: Text,
    text: Vec<u8>,
}

impl Joined {
    fn new(separator: Text) -> Self {
        Joined { separator, text: Vec::new() }
    }

    fn add(&mut self, call: &mut Call<'_, '_>, part: &[u8]) -> Result<(), EvalError> {
        let separator: &[u8] = if self.text.is_empty() { b"" } else { &self.separator };
        call.reserve(separator.len() + part.len())?;
        self.text.extend_from_slice(separator);
        self.text.extend_from_slice(part);
        Ok(())
    }
}

fn join(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    if call.is_empty() {
        return Ok(Value::text(""));
    }
    let first = call.argument_deeper(0)?;
    if call.len() == 1 {
        return match first {
            Value::Undefined | Value::Error => Ok(first),
            Value::List(list) => join_with(call, Some(Text::new("")), list.len(), |call, at| call.element(&list, at)),
            _ => Ok(Value::text("")),
        };
    }
    let separator = match call.text(&first) {
        Err(Exit::Value(Value::Undefined)) => None,
        text => Some(text?),
    };
    if call.len() == 2 {
        let second = call.argument_deeper(1)?;
        return match second {
            // Between no elements, all that could be defined is the separator.
            Value::List(list) if list.is_empty() && first.is_undefined() => Ok(Value::Undefined),
            Value::List(list) => join_with(call, separator, list.len(), |call, at| call.element(&list, at)),
            other => join_with(call, separator, 1, |_, _| Ok(other.clone())),
        };
    }
    let parts = call.len() - 1;
    join_with(call, separator, parts, |call, at| call.argument_deeper(at + 1))
}

/// Joins a number of parts. Without a separator, no part at all is undefined, like parts that are all undefined.
fn join_with<'m, 'a>(
    call: &mut Call<'m, 'a>,
    separator: Option<Text>,
    parts: usize,
    mut part: impl FnMut(&mut Call<'m, 'a>, usize) -> Result<Value, EvalError>,
) -> Result<Value, Exit> {
    let none_is_empty = separator.is_some();
    let mut joined = Joined::new(separator.unwrap_or_else(|| Text::new("")));
    let mut defined = none_is_empty && parts == 0;
    for at in 0..parts {
        let value = part(call, at)?;
        match call.text(&value) {
            Err(Exit::Value(Value::Undefined)) => {}
            text => {
                defined = true;
                joined.add(call, &text?)?;
            }
        }
    }
    Ok(if defined { Value::text(joined.text) } else { Value::Undefined })
}

fn cased(call: &mut Call<'_, '_>, change: fn(&[u8]) -> Vec<u8>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let text = call.text(&value)?;
    call.reserve(text.len())?;
    Ok(Value::text(change(&text)))
}

fn substr(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let text = call.argument(0)?;
    let offset = call.argument(1)?;
    let length = if call.len() == 3 { Some(call.argument(2)?) } else { None };
    if text.is_undefined() || offset.is_undefined() || length.as_ref().is_some_and(Value::is_undefined) {
        return Ok(Value::Undefined);
    }
    let (Value::Str(text), Value::Int(offset)) = (&text, &offset) else { return Ok(Value::Error) };
    let length = match length {
        None => None,
        Some(Value::Int(length)) => Some(length),
        Some(_) => return Ok(Value::Error),
    };
    let (from, to) = part(text.len() as i64, *offset, length);
    call.string(&text[from..to])
}

/// The ends of a part of a string of `size` bytes. The reference keeps the low 32 bits of offset and length.
fn part(size: i64, offset: i64, length: Option<i64>) -> (usize, usize) {
    let offset = i64::from(offset as i32);
    let from = if offset < 0 { (size + offset).max(0) } else { offset.min(size) };
    let to = match length.map(|length| i64::from(length as i32)) {
        None => size,
        Some(length) if length < 0 => (size + length).max(from),
        Some(length) => (from + length).min(size),
    };
    (from as usize, to as usize)
}

fn ordered(call: &mut Call<'_, '_>, order: fn(&[u8], &[u8]) -> Ordering) -> Result<Value, Exit> {
    let (a, b) = two_texts(call)?;
    Ok(Value::Int(order(&a, &b) as i64))
}

/// Two arguments as texts: undefined if one of them is undefined, else error if one of them is error.
pub(crate) fn two_texts(call: &mut Call<'_, '_>) -> Result<(Text, Text), Exit> {
    let (a, b) = (call.argument(0)?, call.argument(1)?);
    if a.is_undefined() || b.is_undefined() {
        return Err(Exit::Value(Value::Undefined));
    }
    let (a, b) = (call.text(&a)?, call.text(&b)?);
    call.charge(a.len().min(b.len()) / 32)?;
    Ok((a, b))
}

fn size(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    Ok(match call.unread(0)? {
        Value::Undefined => Value::Undefined,
        Value::Str(text) => Value::Int(text.len() as i64),
        Value::List(list) => Value::Int(list.len() as i64),
        Value::Ad(ad) => {
            let frame = call.evaluator.frame_of(&ad)?;
            Value::Int(call.evaluator.size_of(frame) as i64)
        }
        _ => Value::Error,
    })
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_of_strings_are_clamped_to_them() {
        assert_eq!(part(6, 2, None), (2, 6));
        assert_eq!(part(6, -9, None), (0, 6));
        assert_eq!(part(6, 9, None), (6, 6));
        assert_eq!(part(6, 4, Some(9)), (4, 6));
        assert_eq!(part(6, 4, Some(-3)), (4, 4));
        // 4294967297 is 1 in its low 32 bits.
        assert_eq!(part(6, 4_294_967_297, Some(4_294_967_298)), (1, 3));
        assert_eq!(part(6, i64::from(i32::MAX), Some(i64::from(i32::MAX))), (6, 6));
    }
}
