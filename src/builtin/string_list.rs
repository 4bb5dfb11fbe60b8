//! Lists in one string: `stringListSize` … `stringListsIntersect`.

use crate::builtin::pattern::Options;
use crate::builtin::tokens::{DELIMITERS, MEMBER_DELIMITERS, Reduction, intersect, member, reduce, subset, tokens};
use crate::builtin::{Call, Exit, Function, regex};
use crate::eval::EvalError;
use crate::semantics::VersionRule;
use crate::text::Text;
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("stringListSize(list [, delimiters])", size),
    Function::new("stringListSum(list [, delimiters])", |call| reduced(call, Reduction::Sum)),
    Function::new("stringListAvg(list [, delimiters])", |call| reduced(call, Reduction::Average)),
    Function::new("stringListMin(list [, delimiters])", |call| reduced(call, Reduction::Minimum)),
    Function::new("stringListMax(list [, delimiters])", |call| reduced(call, Reduction::Maximum)),
    Function::new("stringListMember(item, list [, delimiters])", is_member::<false>),
    Function::new("stringListIMember(item, list [, delimiters])", is_member::<true>),
    Function::new("stringListSubsetMatch(items, list [, delimiters])", is_subset::<false>),
    Function::new("stringListISubsetMatch(items, list [, delimiters])", is_subset::<true>),
    Function::new("stringList_regexpMember(pattern, list [, delimiters [, options]])", regexp_member),
    Function::new("stringListsIntersect(list, list [, delimiters])", lists_intersect),
];

/// All arguments, evaluated in order; an error unless all are strings.
fn strings<const MOST: usize>(call: &mut Call<'_, '_>) -> Result<[Option<Text>; MOST], Exit> {
    let mut texts = [const { None }; MOST];
    let mut all = true;
    for at in 0..call.len() {
        match (call.argument(at)?, texts.get_mut(at)) {
            (Value::Str(text), Some(place)) => *place = Some(text),
            _ => all = false,
        }
    }
    if all { Ok(texts) } else { Err(Exit::Value(Value::Error)) }
}

/// Counts the steps of reading a number of bytes.
fn charge_for(call: &mut Call<'_, '_>, bytes: usize) -> Result<(), EvalError> {
    call.charge(bytes / 8)
}

fn size(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let [Some(list), delimiters] = strings::<2>(call)? else { return Ok(Value::Error) };
    charge_for(call, list.len())?;
    Ok(Value::Int(tokens(&list, delimiters.as_deref().unwrap_or(DELIMITERS)).count() as i64))
}

fn reduced(call: &mut Call<'_, '_>, reduction: Reduction) -> Result<Value, Exit> {
    let [Some(list), delimiters] = strings::<2>(call)? else { return Ok(Value::Error) };
    // Reading numbers takes longer than looking for delimiters.
    charge_for(call, list.len().saturating_mul(4))?;
    Ok(reduce(&list, delimiters.as_deref().unwrap_or(DELIMITERS), reduction))
}

/// Asks about an item, or several, and a list. Undefined counts as empty, but not both.
///
/// A byte takes `cost` times the time of looking for a delimiter.
fn asked(call: &mut Call<'_, '_>, cost: usize, question: fn(&[u8], &[u8], &[u8]) -> bool) -> Result<Value, Exit> {
    let (items, list) = (call.argument(0)?, call.argument(1)?);
    let delimiters = if call.len() > 2 { call.argument(2)? } else { Value::Undefined };
    let text = |value: &'_ Value| match value {
        Value::Undefined => Some(None),
        Value::Str(text) => Some(Some(text.clone())),
        _ => None,
    };
    let (Some(items), Some(list), Some(delimiters)) = (text(&items), text(&list), text(&delimiters)) else {
        return Ok(Value::Error);
    };
    if items.is_none() && list.is_none() {
        return Ok(Value::Undefined);
    }
    let (items, list) = (items.as_deref().unwrap_or_default(), list.as_deref().unwrap_or_default());
    charge_for(call, (items.len() + list.len()).saturating_mul(cost))?;
    Ok(Value::Bool(question(items, list, delimiters.as_deref().unwrap_or(MEMBER_DELIMITERS))))
}

fn is_member<const CASELESS: bool>(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    asked(call, 1, |item, list, delimiters| member(item, list, delimiters, CASELESS))
}

fn is_subset<const CASELESS: bool>(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    asked(call, 4, |items, list, delimiters| subset(items, list, delimiters, CASELESS))
}

fn regexp_member(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let [Some(pattern), Some(list), delimiters, options] = strings::<4>(call)? else { return Ok(Value::Error) };
    let options = options.as_deref().unwrap_or_default().to_ascii_lowercase();
    let Some(pattern) = regex::compiled(call, &pattern, Options::from_letters(&options))? else {
        let is_undefined = call.is_old(VersionRule::RegexpmemberEmpty)
            && tokens(&list, delimiters.as_deref().unwrap_or(DELIMITERS)).next().is_none();
        return Ok(if is_undefined { Value::Undefined } else { Value::Error });
    };
    let mut found = Value::Undefined;
    for token in tokens(&list, delimiters.as_deref().unwrap_or(DELIMITERS)) {
        match regex::is_match(call, &pattern, token)? {
            Some(true) => return Ok(Value::Bool(true)),
            // A search that is given up has found nothing.
            Some(false) | None => found = Value::Bool(false),
        }
    }
    Ok(found)
}

fn lists_intersect(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let mut values = [Value::Undefined, Value::Undefined, Value::text(DELIMITERS)];
    let mut abandoned = false;
    for (at, value) in values.iter_mut().enumerate().take(call.len()) {
        match call.argument(at) {
            Ok(argument) => *value = argument,
            // The reference takes an abandoned argument for an error here; our own limits stay limits.
            Err(EvalError::Depth(_) | EvalError::Circular | EvalError::Function(_)) => abandoned = true,
            Err(limit) => return Err(limit.into()),
        }
    }
    if abandoned || values.iter().any(Value::is_error) {
        return Ok(Value::Error);
    }
    if values.iter().any(Value::is_undefined) {
        return Ok(Value::Undefined);
    }
    let [Value::Str(a), Value::Str(b), Value::Str(delimiters)] = &values else { return Ok(Value::Error) };
    charge_for(call, a.len() + b.len())?;
    Ok(Value::Bool(intersect(a, b, delimiters)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::tests::evaluate;
    use crate::eval::scope::{EvalOptions, Limits};

    #[test]
    fn an_abandoned_argument_is_an_error_only_for_intersections() {
        // As in the reference; an offset of -1 makes absTime give up.
        let settings = EvalOptions::default();
        assert_eq!(evaluate("stringListsIntersect(absTime(0, -1), \"a\")", &settings).as_deref(), Ok("error"));
        assert_eq!(evaluate("isError(stringListsIntersect(\"a\", absTime(0, -1)))", &settings).as_deref(), Ok("true"));
        assert!(evaluate("isError(stringListMember(absTime(0, -1), \"a\"))", &settings).is_err());
    }

    #[test]
    fn one_undefined_is_empty_and_two_are_undefined() {
        for (text, expected) in [
            ("stringListMember(undefined, undefined)", "undefined"),
            ("stringListMember(undefined, \"a\")", "false"),
            ("stringListMember(\"a\", undefined)", "false"),
            ("stringListSubsetMatch(undefined, \"a\")", "true"),
            ("stringListSubsetMatch(\"a\", undefined)", "false"),
            ("stringListMember(\"a\", \"b\\ta\", undefined)", "true"),
            ("stringListMember(\"a\", \"b;a\", 1)", "error"),
        ] {
            assert_eq!(evaluate(text, &EvalOptions::default()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn reading_long_lists_is_work() {
        let limits = Limits { work: 1000, ..Limits::default() };
        let settings = EvalOptions { limits, ..EvalOptions::default() };
        let long = "a,".repeat(40_000);
        for function in ["stringListSize", "stringListMax", "split"] {
            assert_eq!(
                evaluate(&format!("{function}(\"{long}\")"), &settings),
                Err(EvalError::Work(1000)),
                "{function}"
            );
        }
        assert_eq!(evaluate(&format!("stringListMember(\"b\", \"{long}\")"), &settings), Err(EvalError::Work(1000)));
    }
}
