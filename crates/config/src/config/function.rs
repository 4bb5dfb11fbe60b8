//! Function macros: `$INT(…)`, `$ENV(…)`, `$Fn(…)` and their kind (`docs/reference/config-language.md` 11).
//!
//! In: the text of a call. Out: the text that takes its place, or why there is none.

use std::ops::Range;

use super::expand::{ExpandError, Scope, Surroundings};
use super::facts::{self, UNKNOWN};
use super::reference::{NESTED, Text};
use super::{format, path};
use classmate::Expr;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Limits, Scope as Evaluation};
use classmate::internal::random::SplitMix64;
use classmate::internal::syntax::number::write_general;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::value::Value;

/// Makes the text that takes the place of a call, given its arguments.
type Evaluate = fn(&[u8], &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed>;

/// A function of the configuration language.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Named(&'static str, Evaluate),
    /// `$F…`, with its letters.
    Path(path::Parts),
}

/// Names are case-sensitive.
const NAMED: [(&str, Evaluate); 11] = [
    ("ENV", env),
    ("INT", int),
    ("REAL", real),
    ("STRING", string),
    ("EVAL", eval),
    ("CHOICE", choice),
    ("SUBSTR", substr),
    ("RANDOM_CHOICE", random_choice),
    ("RANDOM_INTEGER", random_integer),
    ("BASENAME", base_name),
    ("DIRNAME", |argument, scope| Ok(path::folder(&file_name(argument, scope)?).to_vec())),
];

/// Longest name of a function.
const LONGEST_NAME: usize = 16;

/// A call at the beginning of a text.
pub(crate) struct Call {
    pub(crate) function: Function,
    /// The text between the parentheses.
    pub(crate) argument: Range<usize>,
    /// Bytes from `$` to `)`.
    pub(crate) length: usize,
}

/// The call at the beginning of a text, which starts with `$`. It ends at the first `)`.
pub(crate) fn find(text: &Text<'_>) -> Option<Call> {
    let mut name = Vec::new();
    let open = (1..=LONGEST_NAME + 1).find_map(|at| match text.get(at)? {
        b'(' => Some(Some(at)),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            name.push(byte);
            None
        }
        _ => Some(None),
    })??;
    let named = NAMED.iter().find(|(known, _)| known.as_bytes() == name);
    let function = named.map(|&(name, evaluate)| Function::Named(name, evaluate));
    let function = function.or_else(|| path::Parts::parse(&name).map(Function::Path))?;
    let start = open + 1;
    let (mut colon, mut depth, mut before) = (false, 0usize, b'(');
    for at in start.. {
        let byte = text.get(at)?;
        match byte {
            b')' if depth == 0 => return Some(Call { function, argument: start..at, length: at + 1 }),
            _ if name != b"ENV" => {}
            // Only a name, and perhaps a default; a reference in it is replaced first.
            b')' => depth -= 1,
            b'(' if before == b'$' && depth < NESTED => depth += 1,
            b'(' => return None,
            b':' if depth == 0 => colon = true,
            b'$' | b'_' | b'.' | b'/' => {}
            _ if byte.is_ascii_alphanumeric() || colon || depth > 0 => {}
            _ => return None,
        }
        before = byte;
    }
    None
}

/// An error in a call.
pub(crate) enum Failed {
    /// A name in it cannot be expanded.
    Expand(ExpandError),
    /// The arguments are wrong.
    Call(String),
}

impl From<ExpandError> for Failed {
    fn from(error: ExpandError) -> Self {
        Failed::Expand(error)
    }
}

fn failed(why: impl Into<String>) -> Failed {
    Failed::Call(why.into())
}

/// Returns true if the value of a call hangs on a machine, on its environment or on chance.
fn is_open(function: &str, argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<bool, Failed> {
    match function {
        "ENV" => {
            let name = argument.split(|byte| *byte == b':').next().unwrap_or_default();
            return Ok(!scope.around.environment.contains_key(name));
        }
        "RANDOM_CHOICE" | "RANDOM_INTEGER" => return Ok(true),
        _ => {}
    }
    for part in argument.split(|byte| *byte == b',') {
        let named = scope.value(part.trim_ascii())?;
        if named.is_some_and(|text| facts::is_open(&text)) || facts::is_open(&scope.expanded(part)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if all arguments of `$RANDOM_INTEGER` are known, and in the range that [`random_integer`] reads.
fn are_known(argument: &[u8]) -> bool {
    let is_wide = |text: &str| text.parse::<i64>().is_ok() && text.parse::<i32>().is_err();
    let mut parts = argument.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    !facts::is_open(argument)
        && parts.all(|part| std::str::from_utf8(part).is_ok_and(|text| !text.is_empty() && !is_wide(text)))
}

/// The value of a call.
pub(crate) fn value(function: Function, argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let name = if let Function::Named(name, _) = function { name } else { "F" };
    if scope.around.unknowing && is_open(name, argument, scope)? {
        if name == "RANDOM_INTEGER" && are_known(argument) {
            random_integer(argument, scope)?;
        }
        return Ok(format!("{UNKNOWN}{name}").into_bytes());
    }
    match function {
        Function::Named(_, evaluate) => evaluate(argument, scope),
        Function::Path(parts) => Ok(parts.of(&file_name(argument, scope)?)),
    }
}

/// An argument and what follows its comma.
fn split(argument: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b',', argument) {
        Some(comma) => (&argument[..comma], Some(&argument[comma + 1..])),
        None => (argument, None),
    }
}

/// The value of a name, or the text itself if there is no such name.
fn looked_up(text: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let text = text.trim_ascii();
    Ok(scope.value(text)?.unwrap_or_else(|| text.to_vec()))
}

fn env(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let argument = scope.expanded(argument)?;
    let mut parts = argument.splitn(2, |byte| *byte == b':');
    let found = scope.around.environment.get(parts.next().unwrap_or_default()).map(Vec::as_slice);
    Ok(found.or(parts.next()).unwrap_or(b"UNDEFINED").to_vec())
}

/// A text that is not an expression has no value, or, if it has a `$`, itself, expanded.
fn eval(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let argument = argument.trim_ascii();
    let raw = (scope.around.lookup)(argument).unwrap_or(argument);
    if raw.is_empty() {
        return Ok(Vec::new());
    }
    let has_macros = raw.contains(&b'$');
    let text = looked_up(argument, scope)?;
    let Ok(expr) = parsed(&text, scope)? else {
        return Ok(if has_macros { text } else { Vec::new() });
    };
    Ok(match result(&text, &expr, scope)? {
        Value::Str(text) => text.as_bytes().to_vec(),
        other => other.to_text(Style::New),
    })
}

fn base_name(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (file, suffix) = split(argument);
    let file = file_name(file, scope)?;
    Ok(path::base_name(&file, suffix.unwrap_or_default().trim_ascii()).to_vec())
}

/// The text of an argument after look-up, and its value.
fn evaluated(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<(Vec<u8>, Value), Failed> {
    let text = looked_up(argument, scope)?;
    let expr = parsed(&text, scope)?.map_err(failed)?;
    let value = result(&text, &expr, scope)?;
    Ok((text, value))
}

/// The expression that a text is, or the reason why it is none.
fn parsed(text: &[u8], scope: &mut Scope<'_, '_>) -> Result<Result<Expr, String>, Failed> {
    scope.spend(text.len() / 16)?;
    if text.trim_ascii().is_empty() {
        return Ok(Err("expected a name or an expression".to_owned()));
    }
    let options = ParseOptions { quoting: Quoting::Old, semantics: scope.around.semantics, ..ParseOptions::default() };
    let invalid = |error| format!("`{}` is not a valid expression: {error}", super::shown(text));
    Ok(parse_expr(text, &options).map_err(invalid))
}

/// The value of an expression whose text is given.
fn result(text: &[u8], expr: &Expr, scope: &Scope<'_, '_>) -> Result<Value, Failed> {
    let limits = Limits { work: 20_000, bytes: 1 << 20, ..Limits::default() };
    let Surroundings { now, seed, semantics, .. } = scope.around;
    let settings = EvalOptions { now, seed, semantics, limits, ..EvalOptions::default() };
    let endless = |_| failed(format!("`{}` takes too long to evaluate", super::shown(text)));
    Evaluation::new(&ClassAd::new(), &settings).eval(expr).map_err(endless)
}

/// An argument that must be a number.
fn number(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<f64, Failed> {
    let (text, value) = evaluated(argument, scope)?;
    let number = value.as_number().filter(|number| !number.is_nan());
    number.ok_or_else(|| failed(format!("`{}` is not a number", super::shown(&text))))
}

/// An argument that must be a whole number; reals lose their fraction.
fn whole(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<i64, Failed> {
    let (text, value) = evaluated(argument, scope)?;
    let real = || value.as_number().filter(|number| number.abs() < 9.2e18).map(|number| number as i64);
    let whole = value.as_int().or_else(real);
    whole.ok_or_else(|| failed(format!("`{}` is not a number", super::shown(&text))))
}

fn int(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (what, form) = split(argument);
    let number = whole(what, scope)?;
    match form {
        None => Ok(number.to_string().into_bytes()),
        Some(form) => formatted(form, "an integer, such as `%04d`", |directive| directive.integer(number)),
    }
}

fn real(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (what, form) = split(argument);
    let number = number(what, scope)?;
    match form {
        None => {
            let mut text = Vec::new();
            write_general(&mut text, number, 16, true);
            Ok(text)
        }
        Some(form) => {
            let mut text = formatted(form, "a real, such as `%.2f`", |directive| directive.real(number))?;
            if !text.contains(&b'.') {
                text.extend_from_slice(b".0");
            }
            Ok(text)
        }
    }
}

fn string(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (what, form) = split(argument);
    let text = match evaluated(what, scope) {
        Ok((_, Value::Str(text))) => text.as_bytes().to_vec(),
        Ok((text, _)) => text,
        Err(Failed::Expand(error)) => return Err(Failed::Expand(error)),
        // Text that is not an expression is plain text.
        Err(Failed::Call(_)) => looked_up(what, scope)?,
    };
    match form {
        None => Ok(text),
        Some(form) => formatted(form, "a string, such as `%10s`", |directive| directive.string(&text)),
    }
}

fn formatted(
    form: &[u8],
    what: &str,
    value: impl Fn(&format::Directive<'_>) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, Failed> {
    format::format(form, value).ok_or_else(|| failed(format!("`{}` does not format {what}", super::shown(form))))
}

fn choice(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (index, items) = split(argument);
    let at = whole(index, scope)?;
    let items = items.ok_or_else(|| failed("expected an index and a list"))?;
    let list = listed(items, scope)?;
    let items: Vec<&[u8]> = list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
    let item = usize::try_from(at).ok().and_then(|at| items.get(at));
    let item = item.ok_or_else(|| failed(format!("the index is {at}: expected 0 to {}", items.len() - 1)))?;
    Ok(item.to_vec())
}

/// The items of an argument: as they are if there are several, otherwise the value of a name.
fn listed(items: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    if items.contains(&b',') {
        return Ok(items.to_vec());
    }
    let name = items.trim_ascii();
    let list = scope.value(name)?;
    list.ok_or_else(|| failed(format!("`{}` is neither a list nor the name of one", super::shown(name))))
}

fn substr(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let (name, rest) = split(argument);
    let rest = rest.ok_or_else(|| failed("expected a name and a start position"))?;
    let text = scope.value(name.trim_ascii())?;
    let text = text.ok_or_else(|| failed(format!("`{}` is not defined", super::shown(name.trim_ascii()))))?;
    let (start, length) = split(rest);
    let size = text.len() as i64;
    let start = whole(start, scope)?;
    let first = if start < 0 { (size.saturating_add(start)).max(0) } else { start.min(size) };
    let last = match length {
        None => size,
        Some(length) => match whole(length, scope)? {
            cut if cut < 0 => size.saturating_add(cut),
            length => first.saturating_add(length).min(size),
        },
    };
    Ok(text[first as usize..last.max(first) as usize].to_vec())
}

fn random_choice(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let list = listed(argument, scope)?;
    let items: Vec<&[u8]> = if argument.contains(&b',') {
        list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect()
    } else {
        let blank = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
        list.split(blank).filter(|item| !item.is_empty()).collect()
    };
    if items.is_empty() {
        return Err(failed("the list of choices is empty"));
    }
    let at = draw(scope) % items.len() as u64;
    Ok(items[at as usize].to_vec())
}

fn random_integer(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let mut bounds = Vec::new();
    for part in argument.split(|byte| *byte == b',') {
        let text = std::str::from_utf8(part.trim_ascii()).unwrap_or_default();
        let wrong = |_| failed(format!("`{}` is not a whole number", super::shown(part.trim_ascii())));
        bounds.push(i64::from(text.parse::<i32>().map_err(wrong)?));
    }
    let (min, max, step) = match bounds[..] {
        [min, max] => (min, max, 1),
        [min, max, step] => (min, max, step),
        _ => return Err(failed("expected two or three numbers: minimum, maximum and step")),
    };
    if min > max || step < 1 {
        return Err(failed("expected a maximum that is not below the minimum, and a step of at least 1"));
    }
    let steps = ((max - min) / step + 1) as u64;
    Ok((min + step * (draw(scope) % steps) as i64).to_string().into_bytes())
}

/// The next random number of an expansion: it depends on the seed and on how many were drawn before.
fn draw(scope: &mut Scope<'_, '_>) -> u64 {
    let mut random = SplitMix64::new(scope.around.seed);
    random.skip(scope.budget.drawn);
    scope.budget.drawn += 1;
    random.next_u64() >> 1
}

fn file_name(argument: &[u8], scope: &mut Scope<'_, '_>) -> Result<Vec<u8>, Failed> {
    let text = looked_up(argument, scope)?;
    Ok(path::unquoted(&text).to_vec())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::expand::{Surroundings, expand};

    fn lookup(name: &[u8]) -> Option<&'static [u8]> {
        Some(match name {
            b"X" => b"7.9",
            b"FORTY" => b"42",
            b"SUM" => b"2*(3+4)",
            b"WORD" => b"toLower(\"ABC\")",
            b"LETTERS" => b"abcdefg",
            b"TWO" => b"2",
            b"LIST" => b"a b,c d",
            b"WORDS" => b"x x",
            b"FILE" => b"/data/simulate.tar.gz",
            b"SELF" => b"$INT(SELF)",
            b"V" => b"FOO",
            b"NOTHING" => b"",
            _ => return None,
        })
    }

    fn expanded(text: &str) -> Result<String, String> {
        let environment = BTreeMap::from([(b"FOO".to_vec(), b"bar".to_vec()), (b"EMPTY".to_vec(), Vec::new())]);
        let table = |name: &[u8]| lookup(name);
        let around = Surroundings {
            lookup: &table,
            environment: &environment,
            now: 0,
            seed: 7,
            semantics: classmate::Semantics::default(),
            unknowing: false,
            known: None,
        };
        match expand(b"", text.as_bytes(), around) {
            Ok(expanded) => Ok(String::from_utf8(expanded.text).unwrap()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, value) in cases {
            assert_eq!(expanded(text).as_deref(), Ok(*value), "{text}");
        }
    }

    /// Values of this and the following tests are those of the reference library.
    #[test]
    fn int_evaluates_truncates_and_formats() {
        check(&[
            ("$INT(3*4)", "12"),
            ("$INT(X)", "7"),
            ("$INT(SUM)", "14"),
            ("$INT(true)", "1"),
            ("$INT(X,%04d)", "0007"),
            ("$INT(12,%5d)|", "   12|"),
            ("$INT(12,%x)", "c"),
            ("$INT(FORTY,%X)$INT(FORTY,%+d)$INT(FORTY,%o)", "2A+4252"),
            ("$INT(FORTY,%8.3d)", "     042"),
            ("$INT(FORTY,a%db)$INT(FORTY,%lld)$INT(FORTY, %d)", "a42b42 42"),
        ]);
    }

    #[test]
    fn real_keeps_what_is_needed_or_formats() {
        check(&[
            ("$REAL(10/4.0)", "2.5"),
            ("$REAL(3*4)", "12"),
            ("$REAL(1/3.0)", "0.3333333333333333"),
            ("$REAL(1e300)", "1E+300"),
            ("$REAL(3,%.2f)", "3.00"),
            ("$REAL(3,%g)", "3.0"),
            ("$REAL(2,%5.1e)", "2.0e+00"),
            ("$REAL(FORTY,%e)", "4.200000e+01"),
            ("$REAL(FORTY,%8.3f)", "  42.000"),
        ]);
    }

    #[test]
    fn string_and_eval_take_the_value_of_a_string() {
        check(&[
            ("$STRING(WORD)", "abc"),
            ("$STRING(foo)", "foo"),
            ("$STRING(3+4)", "3+4"),
            ("$STRING(a b c)", "a b c"),
            ("$STRING(WORD,%10s)|", "       abc|"),
            ("$STRING(WORD,%-10s)|", "abc       |"),
            ("$STRING(WORD,%.2s)", "ab"),
            ("$EVAL(WORD)", "abc"),
            ("$EVAL(1+2)", "3"),
            ("$EVAL({1,2})", "{ 1,2 }"),
            ("$EVAL(1 2)|", "|"),
            ("$EVAL(1+)|", "|"),
            ("$EVAL()|", "|"),
            ("$EVAL(foo)", "undefined"),
            ("$EVAL(2.50)", "2.500000000000000E+00"),
            ("$EVAL([a=1])", "[ a = 1 ]"),
        ]);
    }

    /// As `condor_config_val` 25.14.1 prints them.
    #[test]
    fn an_empty_value_is_the_value_of_a_name() {
        check(&[
            ("x$Fn(NOTHING)", "x"),
            ("x$BASENAME(NOTHING)", "x"),
            ("x$DIRNAME(NOTHING)", "x"),
            ("x$EVAL(NOTHING)", "x"),
            ("x$STRING(NOTHING)", "x"),
            ("x$SUBSTR(NOTHING,0)", "x"),
            ("x$CHOICE(0,NOTHING)", "x"),
            ("x$(NOTHING:def)", "xdef"),
        ]);
        for call in ["$CHOICE(1,NOTHING)", "$RANDOM_CHOICE(NOTHING)", "$INT(NOTHING)", "$CHOICE(NOTHING,p,q)"] {
            assert!(expanded(call).is_err(), "{call}");
        }
    }

    #[test]
    fn choice_counts_from_zero() {
        check(&[
            ("$CHOICE(2,x,y,z)", "z"),
            ("$CHOICE(TWO,x,y,z)", "z"),
            ("$CHOICE(1,LIST)", "c d"),
            ("$CHOICE(1, a , b )", "b"),
            ("$CHOICE(1,a,,c)|", "|"),
        ]);
        assert_eq!(expanded("$CHOICE(5,a,b)").unwrap_err(), "`$CHOICE(5,a,b)`: the index is 5: expected 0 to 1");
        assert_eq!(
            expanded("$CHOICE(0,NOPE)").unwrap_err(),
            "`$CHOICE(0,NOPE)`: `NOPE` is neither a list nor the name of one"
        );
    }

    #[test]
    fn substr_counts_from_either_end() {
        check(&[
            ("$SUBSTR(LETTERS,2)", "cdefg"),
            ("$SUBSTR(LETTERS,2,3)", "cde"),
            ("$SUBSTR(LETTERS,-3)", "efg"),
            ("$SUBSTR(LETTERS,1,-2)", "bcde"),
            ("$SUBSTR(LETTERS,-3,2)", "ef"),
            ("$SUBSTR(LETTERS,9)|", "|"),
            ("$SUBSTR(LETTERS,-20,3)", "abc"),
            ("$SUBSTR(LETTERS,0,TWO)", "ab"),
            ("$SUBSTR(LETTERS,2,-9)|", "|"),
        ]);
        assert_eq!(expanded("$SUBSTR(hello,1)").unwrap_err(), "`$SUBSTR(hello,1)`: `hello` is not defined");
    }

    #[test]
    fn env_takes_its_default_or_says_undefined() {
        check(&[
            ("$ENV(FOO)", "bar"),
            ("$ENV(NOPE)", "UNDEFINED"),
            ("$ENV(NOPE:def)", "def"),
            ("$ENV(EMPTY:x)|", "|"),
            ("$ENV($(V))", "bar"),
            ("$ENV(NOPE:$(V))", "FOO"),
            ("$ENV( FOO )", "$ENV( FOO )"),
        ]);
    }

    #[test]
    fn parts_of_paths_are_taken_from_the_file_a_name_holds() {
        check(&[
            ("$BASENAME(FILE)", "simulate.tar.gz"),
            ("$BASENAME(FILE,.gz)", "simulate.tar"),
            ("$DIRNAME(FILE)", "/data/"),
            ("$Fn(FILE) $Fx(FILE) $Fp(FILE) $Fd(FILE)", "simulate.tar .gz /data/ data/"),
            ("$Fn(/a/b.c)", "b"),
        ]);
    }

    #[test]
    fn random_values_come_from_the_seed() {
        let drawn = expanded("$RANDOM_INTEGER(0,1000000) $RANDOM_INTEGER(0,1000000)").unwrap();
        assert_eq!(expanded("$RANDOM_INTEGER(0,1000000) $RANDOM_INTEGER(0,1000000)").unwrap(), drawn);
        let (first, second) = drawn.split_once(' ').unwrap();
        assert_ne!(first, second);
        check(&[("$RANDOM_CHOICE(WORDS)", "x"), ("$RANDOM_INTEGER(3,3)", "3"), ("$RANDOM_INTEGER(5,9,10)", "5")]);
        for _ in 0..50 {
            let number: i64 = expanded("$RANDOM_INTEGER(-6,6,3)").unwrap().parse().unwrap();
            assert!([-6, -3, 0, 3, 6].contains(&number));
        }
        assert!(expanded("$RANDOM_INTEGER(5,3)").is_err());
        assert!(expanded("$RANDOM_CHOICE(NOPE)").is_err());
    }

    #[test]
    fn what_is_no_call_stays() {
        for text in ["$int(3)", "$Int(3)", "$INT (3)", "$INTX(3)", "$FOO(3)", "$Fz(P)", "$$INT(3)", "$INT(3"] {
            assert_eq!(expanded(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_call_that_fails_says_why() {
        for (text, why) in [
            ("$INT(3+)", "`$INT(3+)`: `3+` is not a valid expression: expected an expression, found the end"),
            ("$INT(nope)", "`$INT(nope)`: `nope` is not a number"),
            ("$INT()", "`$INT()`: expected a name or an expression"),
            ("$INT(3,%s)", "`$INT(3,%s)`: `%s` does not format an integer, such as `%04d`"),
            ("$INT(SELF)", "`SELF` refers to itself: SELF → SELF"),
        ] {
            assert_eq!(expanded(text).unwrap_err(), why);
        }
    }
}
