//! Regular expressions: `regexp`, `regexpMember`, `regexps`, `replace`, `replaceAll`.

use std::cell::RefCell;
use std::rc::Rc;

use crate::builtin::pattern::{Effort, MatchError, Options, Pattern, QUICK_LENGTH};
use crate::builtin::substitute::{LONGEST_RESULT, SubstituteError, Substitution, substitute};
use crate::builtin::{Call, Exit, Function};
use crate::eval::{EvalError, as_error_value};
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("regexp(pattern, text [, options])", regexp),
    Function::new("regexpMember(pattern, list [, options])", regexp_member),
    Function::new("regexps(pattern, text, replacement [, options])", |call| substituted(call, Substitution::default())),
    Function::new("replace(pattern, text, replacement [, options])", |call| {
        substituted(call, Substitution { full: true, every: false })
    }),
    Function::new("replaceAll(pattern, text, replacement [, options])", |call| {
        substituted(call, Substitution { full: true, every: true })
    }),
];

/// Patterns that a thread keeps compiled.
const MAX_PATTERNS: usize = 64;

/// Longer patterns are not kept.
const MAX_PATTERN_LENGTH: usize = 4096;

/// Steps that compiling a pattern counts for, beside one for every byte.
const COMPILE_STEPS: usize = 100;

/// Further steps for a pattern that repeats parts, for each repetition is compiled: up to half a millisecond,
/// beyond which the engine refuses a pattern as too long.
const REPEAT_STEPS: usize = 10_000;

/// Steps that a quick search counts for, beside one for every byte.
const SEARCH_STEPS: usize = 4;

/// Steps that a search counts for that a quick one was not enough for: it may take a tenth of a second.
const FULL_STEPS: usize = 600_000;

/// Further steps for one that was given up, for it did take that long.
const GIVEN_UP_STEPS: usize = 1_000_000;

/// A pattern and what came of compiling it; texts that are no patterns are worth remembering too.
struct Kept {
    text: Box<[u8]>,
    options: Options,
    pattern: Option<Rc<Pattern>>,
}

thread_local! {
    /// The most recently used pattern is first. The cache never changes a result, only the time it takes.
    static COMPILED: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// The compiled form of a pattern; `None` if it is no pattern.
pub(crate) fn compiled(
    call: &mut Call<'_, '_>,
    text: &[u8],
    options: Options,
) -> Result<Option<Rc<Pattern>>, EvalError> {
    call.charge(text.len() / 64)?;
    let known = COMPILED.with_borrow_mut(|kept| {
        let at = kept.iter().position(|known| known.options == options && *known.text == *text)?;
        kept[..=at].rotate_right(1);
        Some(kept[0].pattern.clone())
    });
    if let Some(pattern) = known {
        return Ok(pattern);
    }
    let repeats = text.windows(2).any(|pair| pair[0] == b'{' && pair[1].is_ascii_digit());
    call.charge(COMPILE_STEPS + text.len() + if repeats { REPEAT_STEPS } else { 0 })?;
    let pattern = Pattern::compile(text, options).ok().map(Rc::new);
    if text.len() <= MAX_PATTERN_LENGTH {
        COMPILED.with_borrow_mut(|kept| {
            kept.truncate(MAX_PATTERNS - 1);
            kept.insert(0, Kept { text: text.into(), options, pattern: pattern.clone() });
        });
    }
    Ok(pattern)
}

/// Searches a text of some length, quickly if that is enough; the steps that the evaluation counts bound the time that
/// all its searches take together.
fn searched<T, E: From<MatchError> + PartialEq>(
    call: &mut Call<'_, '_>,
    length: usize,
    search: impl Fn(Effort) -> Result<T, E>,
) -> Result<Result<T, E>, EvalError> {
    call.charge(SEARCH_STEPS + length)?;
    if length <= QUICK_LENGTH {
        let found = search(Effort::Quick);
        if !matches!(&found, Err(error) if *error == E::from(MatchError::LimitExceeded)) {
            return Ok(found);
        }
    }
    call.charge(FULL_STEPS)?;
    let found = search(Effort::Full);
    if matches!(&found, Err(error) if *error == E::from(MatchError::LimitExceeded)) {
        call.charge(GIVEN_UP_STEPS)?;
    }
    Ok(found)
}

/// Tests whether a pattern matches anywhere in a text; `None` if the search was given up.
pub(crate) fn is_match(call: &mut Call<'_, '_>, pattern: &Pattern, text: &[u8]) -> Result<Option<bool>, EvalError> {
    Ok(searched(call, text.len(), |effort| pattern.is_match_with(effort, text))?.ok())
}

/// All arguments, evaluated in order, with an empty string for options that are not given; or, instead, the error or
/// undefined that one of them is.
fn arguments<const MOST: usize>(call: &mut Call<'_, '_>) -> Result<[Value; MOST], Exit> {
    let mut values = [const { Value::Undefined }; MOST];
    if call.len() < MOST {
        values[MOST - 1] = Value::text(b"");
    }
    for (at, value) in values.iter_mut().enumerate().take(call.len()) {
        *value = call.argument(at)?;
    }
    if values.iter().any(Value::is_error) {
        return Err(Exit::Value(Value::Error));
    }
    if values.iter().any(Value::is_undefined) { Err(Exit::Value(Value::Undefined)) } else { Ok(values) }
}

fn regexp(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let values = arguments::<3>(call)?;
    let [Value::Str(pattern), Value::Str(text), Value::Str(options)] = &values else { return Ok(Value::Error) };
    let Some(pattern) = compiled(call, pattern, Options::from_letters(options))? else { return Ok(Value::Error) };
    Ok(is_match(call, &pattern, text)?.map_or(Value::Error, Value::Bool))
}

fn regexp_member(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let values = arguments::<3>(call)?;
    let [Value::Str(pattern), Value::List(list), Value::Str(options)] = &values else { return Ok(Value::Error) };
    // What is no pattern is found in no string.
    let pattern = compiled(call, pattern, Options::from_letters(options))?;
    let mut found = Value::Bool(false);
    for at in 0..list.len() {
        match (as_error_value(call.element(list, at))?, &pattern) {
            (Value::Str(text), Some(pattern)) if is_match(call, pattern, &text)? == Some(true) => {
                return Ok(Value::Bool(true));
            }
            (Value::Str(_), _) => {}
            (Value::Undefined, _) => found = Value::Undefined,
            _ => return Ok(Value::Error),
        }
    }
    Ok(found)
}

fn substituted(call: &mut Call<'_, '_>, added: Substitution) -> Result<Value, Exit> {
    let values = arguments::<4>(call)?;
    let [Value::Str(pattern), Value::Str(text), Value::Str(replacement), Value::Str(options)] = &values else {
        return Ok(Value::Error);
    };
    let asked = Substitution::from_letters(options);
    let how = Substitution { every: asked.every || added.every, full: asked.full || added.full };
    let Some(pattern) = compiled(call, pattern, Options::from_letters(options))? else { return Ok(Value::Error) };
    let substituted = searched(call, text.len(), |effort| substitute(effort, &pattern, text, replacement, how))?;
    let made = match &substituted {
        Ok(result) => result.len(),
        Err(SubstituteError::TooLong) => LONGEST_RESULT,
        Err(_) => 0,
    };
    call.charge(made / 64)?;
    substituted.map_or(Ok(Value::Error), |result| call.string(result))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::builtin::tests::evaluate;
    use crate::eval::scope::EvalOptions;

    #[test]
    fn a_thread_keeps_a_bounded_number_of_patterns() {
        let settings = EvalOptions::default();
        for round in 0..2 {
            for number in 0..MAX_PATTERNS + 10 {
                let text = format!("regexp(\"^a{number}$\", \"a{}\")", MAX_PATTERNS + round);
                assert_eq!(evaluate(&text, &settings), Ok((number == MAX_PATTERNS + round).to_string()), "{text}");
            }
        }
        assert_eq!(COMPILED.with_borrow(Vec::len), MAX_PATTERNS);
        assert_eq!(evaluate("regexp(\"[\", \"a\")", &settings).as_deref(), Ok("error"));
        assert!(COMPILED.with_borrow(|kept| *kept[0].text == *b"[" && kept[0].pattern.is_none()));
        // The same text with other options is another pattern.
        assert_eq!(evaluate("regexp(\"^A9$\", \"a9\", \"i\")", &settings).as_deref(), Ok("true"));
        assert_eq!(evaluate("regexp(\"^A9$\", \"a9\")", &settings).as_deref(), Ok("false"));
        let long = "b".repeat(MAX_PATTERN_LENGTH + 1);
        assert_eq!(evaluate(&format!("regexp(\"{long}\", \"{long}\")"), &settings).as_deref(), Ok("true"));
        assert!(COMPILED.with_borrow(|kept| kept.iter().all(|known| known.text.len() <= MAX_PATTERN_LENGTH)));
    }

    #[test]
    fn an_evaluation_cannot_search_for_long() {
        let settings = EvalOptions::default();
        let hostile = format!("\"{}b\"", "a".repeat(19));
        for text in [
            format!("regexpMember(\"(a+)+$\", {{ {} }})", vec![hostile.as_str(); 1000].join(",")),
            format!(
                "stringList_regexpMember(\"(a+)+$\", {})",
                hostile.replace('b', "b,").repeat(1000).replace("\"\"", "")
            ),
        ] {
            let begin = Instant::now();
            assert_eq!(evaluate(&text, &settings), Err(EvalError::Work(settings.limits.work)));
            assert!(begin.elapsed() < Duration::from_secs(30), "took {:?}", begin.elapsed());
        }
    }

    #[test]
    fn searches_that_a_quick_one_is_not_enough_for_are_done_in_full() {
        let settings = EvalOptions::default();
        let text = format!("{}b", "a".repeat(16));
        assert_eq!(evaluate(&format!("regexp(\"(a+)+$\", \"{text}\")"), &settings).as_deref(), Ok("false"));
        let replaced = evaluate(&format!("replaceAll(\"(a+)+$|b\", \"{text}\", \"c\")"), &settings);
        assert_eq!(replaced, Ok(format!("\"{}c\"", "a".repeat(16))));
    }

    #[test]
    fn results_count_against_the_limit_of_bytes() {
        let settings = EvalOptions::default();
        let text = format!("replaceAll(\"a\", \"{}\", \"{}\")", "a".repeat(10_000), "b".repeat(4000));
        assert_eq!(evaluate(&text, &settings), Err(EvalError::Memory(settings.limits.bytes)));
    }
}
