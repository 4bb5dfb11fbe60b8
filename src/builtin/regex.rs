//! Regular expressions: `regexp`, `regexpMember`, `regexps`, `replace`, `replaceAll`.

use std::cell::RefCell;
use std::rc::Rc;

use crate::builtin::pattern::{MatchError, Options, Pattern};
use crate::builtin::substitute::{SubstituteError, Substitution, substitute};
use crate::builtin::{Call, Function};
use crate::eval::Failed;
use crate::value::Value;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "regexp",
        signature: "regexp(pattern, text [, options])",
        least: 2,
        most: Some(3),
        pure: true,
        can_error: true,
        run: regexp,
        about: "Whether a regular expression (PCRE) matches anywhere in a text. The options are letters: i without regard \
                to case, m lines, s dots match newlines, x white space in the pattern does not count.",
        examples: &[
            ("regexp(\"^slot[0-9]+@\", \"slot1@node7\")", "true"),
            ("regexp(\"LINUX\", \"linux\", \"i\")", "true"),
            ("regexp(\"[\", \"a\")", "error"),
        ],
    },
    Function {
        name: "regexpMember",
        signature: "regexpMember(pattern, list [, options])",
        least: 2,
        most: Some(3),
        pure: true,
        can_error: true,
        run: regexp_member,
        about: "Whether a regular expression matches some string of a list. Without a match, undefined elements make the \
                answer undefined.",
        examples: &[
            ("regexpMember(\"^b\", {\"abc\", \"bcd\"})", "true"),
            ("regexpMember(\"^x\", {\"abc\", undefined})", "undefined"),
        ],
    },
    Function {
        name: "regexps",
        signature: "regexps(pattern, text, replacement [, options])",
        least: 3,
        most: Some(4),
        pure: true,
        can_error: true,
        run: regexps,
        about: "The replacement for the first match of a regular expression, with \\0 to \\9 standing for groups; the \
                empty string if nothing matches. Further options: f returns the whole text, g replaces every match.",
        examples: &[
            ("regexps(\"(\\\\w+)@(\\\\w+)\", \"joe@cs\", \"\\\\2/\\\\1\")", "\"cs/joe\""),
            ("regexps(\"x\", \"joe@cs\", \"y\")", "\"\""),
        ],
    },
    Function {
        name: "replace",
        signature: "replace(pattern, text, replacement [, options])",
        least: 3,
        most: Some(4),
        pure: true,
        can_error: true,
        run: replace,
        about: "The text with the first match of a regular expression replaced.",
        examples: &[("replace(\"a\", \"banana\", \"o\")", "\"bonana\"")],
    },
    Function {
        name: "replaceAll",
        signature: "replaceAll(pattern, text, replacement [, options])",
        least: 3,
        most: Some(4),
        pure: true,
        can_error: true,
        run: replace_all,
        about: "The text with every match of a regular expression replaced; an error if the pattern matches the empty end \
                of the text.",
        examples: &[("replaceAll(\"a\", \"banana\", \"o\")", "\"bonono\"")],
    },
];

/// Patterns that a thread keeps compiled.
const KEPT: usize = 64;

/// Longer patterns are not kept.
const LONGEST_KEPT: usize = 4096;

/// Steps that compiling a pattern counts for, beside one for every byte.
const COMPILE_STEPS: usize = 100;

/// Steps that a search counts for, beside one for every 64 bytes.
const SEARCH_STEPS: usize = 4;

/// Steps that a search counts for which had to be given up.
const GIVEN_UP_STEPS: usize = 1_000_000;

/// A pattern and what came of compiling it; texts that are no patterns are worth remembering too.
struct Kept {
    text: Box<[u8]>,
    options: Options,
    pattern: Option<Rc<Pattern>>,
}

thread_local! {
    /// What was used last is first. What is kept never changes an answer, only how soon it comes.
    static COMPILED: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// The compiled form of a pattern; `None` if it is no pattern.
pub(crate) fn compiled(call: &mut Call<'_, '_>, text: &[u8], options: Options) -> Result<Option<Rc<Pattern>>, Failed> {
    call.charge(text.len() / 64)?;
    let known = COMPILED.with_borrow_mut(|kept| {
        let at = kept.iter().position(|known| known.options == options && *known.text == *text)?;
        kept[..=at].rotate_right(1);
        Some(kept[0].pattern.clone())
    });
    if let Some(pattern) = known {
        return Ok(pattern);
    }
    call.charge(COMPILE_STEPS + text.len())?;
    let pattern = Pattern::compile(text, options).ok().map(Rc::new);
    if text.len() <= LONGEST_KEPT {
        COMPILED.with_borrow_mut(|kept| {
            kept.truncate(KEPT - 1);
            kept.insert(0, Kept { text: text.into(), options, pattern: pattern.clone() });
        });
    }
    Ok(pattern)
}

/// Whether a pattern matches anywhere in a text; `None` if the search was given up.
pub(crate) fn is_match(call: &mut Call<'_, '_>, pattern: &Pattern, text: &[u8]) -> Result<Option<bool>, Failed> {
    call.charge(SEARCH_STEPS + text.len() / 64)?;
    match pattern.is_match(text) {
        Ok(found) => Ok(Some(found)),
        Err(error) => given_up(call, error).map(|()| None),
    }
}

/// Counts a search that had no answer.
fn given_up(call: &mut Call<'_, '_>, error: MatchError) -> Result<(), Failed> {
    match error {
        MatchError::LimitExceeded => call.charge(GIVEN_UP_STEPS),
        MatchError::NotUtf8 => Ok(()),
    }
}

/// All arguments, evaluated in order, with an empty string for options that are not given; or, instead, the error or
/// undefined that one of them is.
fn arguments<const MOST: usize>(call: &mut Call<'_, '_>) -> Result<Result<[Value; MOST], Value>, Failed> {
    let mut values = [const { Value::Undefined }; MOST];
    if call.len() < MOST {
        values[MOST - 1] = Value::text(b"");
    }
    for (at, value) in values.iter_mut().enumerate().take(call.len()) {
        *value = call.argument(at)?;
    }
    if values.iter().any(Value::is_error) {
        return Ok(Err(Value::Error));
    }
    Ok(if values.iter().any(Value::is_undefined) { Err(Value::Undefined) } else { Ok(values) })
}

fn regexp(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    let values = match arguments::<3>(call)? {
        Ok(values) => values,
        Err(other) => return Ok(other),
    };
    let [Value::Str(pattern), Value::Str(text), Value::Str(options)] = &values else { return Ok(Value::Error) };
    let Some(pattern) = compiled(call, pattern, Options::from_letters(options))? else { return Ok(Value::Error) };
    Ok(is_match(call, &pattern, text)?.map_or(Value::Error, Value::Bool))
}

fn regexp_member(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    let values = match arguments::<3>(call)? {
        Ok(values) => values,
        Err(other) => return Ok(other),
    };
    let [Value::Str(pattern), Value::List(list), Value::Str(options)] = &values else { return Ok(Value::Error) };
    // What is no pattern is found in no string.
    let pattern = compiled(call, pattern, Options::from_letters(options))?;
    let mut found = Value::Bool(false);
    for at in 0..list.len() {
        match (call.element(list, at)?, &pattern) {
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

fn substituted(call: &mut Call<'_, '_>, added: Substitution) -> Result<Value, Failed> {
    let values = match arguments::<4>(call)? {
        Ok(values) => values,
        Err(other) => return Ok(other),
    };
    let [Value::Str(pattern), Value::Str(text), Value::Str(replacement), Value::Str(options)] = &values else {
        return Ok(Value::Error);
    };
    let asked = Substitution::from_letters(options);
    let how = Substitution { every: asked.every || added.every, full: asked.full || added.full };
    let Some(pattern) = compiled(call, pattern, Options::from_letters(options))? else { return Ok(Value::Error) };
    call.charge(SEARCH_STEPS + text.len() / 64)?;
    match substitute(&pattern, text, replacement, how) {
        Ok(result) => {
            call.charge(result.len() / 64)?;
            call.string(result)
        }
        Err(error) => {
            if let SubstituteError::Match(error) = error {
                given_up(call, error)?;
            }
            Ok(Value::Error)
        }
    }
}

fn regexps(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    substituted(call, Substitution::default())
}

fn replace(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    substituted(call, Substitution { full: true, every: false })
}

fn replace_all(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    substituted(call, Substitution { full: true, every: true })
}
