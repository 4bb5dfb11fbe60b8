//! Choice, and expressions as data: `ifThenElse`, `eval`, `unparse`, `unresolved`, `debug`.

use crate::builtin::pattern::{Effort, MatchError, Options, Pattern};
use crate::builtin::{Call, Exit, Function};
use crate::eval::EvalError;
use crate::eval::references::{self, Naming};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::syntax::expr::{Expr, Node};
use crate::syntax::parse::parse_full;
use crate::syntax::print::Style;
use crate::syntax::table_order::in_table_order;
use crate::value::Value;
use crate::value::logic::Truth;

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("ifThenElse(condition, yes, no)", if_then_else),
    Function::impure("eval(text)", eval),
    Function::new("unparse(attribute)", unparse),
    Function::new("unresolved(attribute [, pattern])", unresolved),
    Function::new("debug(value)", |call| Ok(call.argument(0)?)),
];

fn if_then_else(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    match Truth::of(&call.argument(0)?) {
        Truth::True => Ok(call.unread(1)?),
        Truth::False => Ok(call.unread(2)?),
        Truth::Undefined => Ok(Value::Undefined),
        Truth::Error | Truth::NotBoolean => Ok(Value::Error),
    }
}

/// Bytes of source text that are parsed in about the time of one node evaluation.
const PARSED_PER_STEP: usize = 4;

fn eval(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let value = call.argument(0)?;
    let text = call.text(&value).map_err(Exit::into_error)?;
    call.charge(text.len() / PARSED_PER_STEP)?;
    let Ok(expr) = parse_full(&text, &call.parse_options()) else { return Ok(Value::Error) };
    call.reserve(expr.tree().nodes.len() * size_of::<Node>())?;
    let frame = call.evaluator.current(call.frame);
    Ok(call.evaluator.deeper(|evaluator| evaluator.eval(expr.tree(), expr.root(), frame))?)
}

fn is_reference(node: &Node) -> bool {
    matches!(node, Node::Attr(_) | Node::Absolute(_) | Node::Select(_))
}

fn unparse(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    if !is_reference(call.written(0)) {
        return Ok(Value::Error);
    }
    call.evaluator.look()?;
    // The text of the whole reference is taken for a name, so only plain names can be found.
    let reference = Expr::at(call.tree.clone(), call.node(0));
    let text = printed(call, &reference, Style::New)?;
    let Some(expr) =
        Name::known(&text).and_then(|name| call.evaluator.expression(name, call.evaluator.current(call.frame)))
    else {
        return call.string("");
    };
    let text = printed(call, &expr, Style::Pretty)?;
    call.string(text)
}

/// The text of an expression, counted as steps.
fn printed(call: &mut Call<'_, '_>, expr: &Expr, style: Style) -> Result<Vec<u8>, Exit> {
    let ordered = call.is_old(VersionRule::AttributeOrder).then(|| in_table_order(expr));
    let text = ordered.as_ref().unwrap_or(expr).to_text_within(style, call.evaluator.bytes_left());
    let text = text.ok_or_else(|| call.evaluator.too_many_bytes())?;
    call.charge(text.len() / 64)?;
    Ok(text)
}

fn unresolved(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let Some(located) = call.evaluator.locate(call.tree, call.node(0), call.frame)? else { return Ok(Value::Error) };
    let Some(found) = located.found else { return Ok(Value::Undefined) };
    let pattern = match (call.len() == 2).then(|| call.argument(1)).transpose()? {
        None => None,
        Some(Value::Str(pattern)) => Some(pattern),
        Some(_) => return Err(EvalError::Function("unresolved").into()),
    };
    let names = references::of_found(call.evaluator, &found, located.at, Naming::Full)?;
    let names = names.iter().map(|name| without_target(name));
    let Some(pattern) = pattern else {
        let mut joined = Vec::new();
        for name in names {
            call.reserve(name.len() + 1)?;
            if !joined.is_empty() {
                joined.push(b',');
            }
            joined.extend_from_slice(name);
        }
        return Ok(Value::text(joined));
    };
    let options = Options { caseless: true, ..Options::default() };
    let Ok(pattern) = Pattern::compile(&pattern, options) else { return Ok(Value::Error) };
    for name in names {
        call.charge(STEPS_PER_BYTE * name.len())?;
        match matches_something(&pattern, name) {
            Ok(true) => return Ok(Value::Bool(true)),
            Ok(false) => {}
            Err(_) => return Ok(Value::Error),
        }
    }
    Ok(Value::Bool(false))
}

/// Tests whether a pattern matches some part of a name that is not empty.
fn matches_something(pattern: &Pattern, name: &[u8]) -> Result<bool, MatchError> {
    let Some(first) = pattern.captures(name)? else { return Ok(false) };
    if matches!(first.first(), Some(Some((start, end))) if start < end) {
        return Ok(true);
    }
    let mut search = pattern.search(Effort::Full, name);
    for start in 0..name.len() {
        if search.find(start, true)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Maximum cost of a search for each byte of a name, in node evaluations.
const STEPS_PER_BYTE: usize = 1000;

/// The name without a leading `TARGET.`, in any case.
fn without_target(name: &[u8]) -> &[u8] {
    match name.split_at_checked(7) {
        Some((scope, rest)) if scope.eq_ignore_ascii_case(b"target.") => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::ClassAd;
    use crate::eval::EvalError;
    use crate::eval::scope::{EvalOptions, Scope};

    fn attribute(ad: &str, name: &str) -> Result<String, EvalError> {
        let (ad, settings) = (ClassAd::parse(ad.as_bytes()).unwrap(), EvalOptions::default());
        Scope::new(&ad, &settings).eval_attr(name).map(|value| value.to_string())
    }

    /// Values observed in the reference.
    #[test]
    fn no_name_is_unresolved_when_names_cannot_be_traced() {
        let unresolved = |ad: &str| attribute(&format!("[u = unresolved(a); {ad}]"), "u").unwrap();
        assert_eq!(unresolved("a = Target.x + TARGET.X + target.y + TARGETx"), "\"x,y,TARGETx\"");
        assert_eq!(unresolved("a = TARGET.Mem > 1 && OpSys == \"L\""), "\"OpSys,Mem\"");
        assert_eq!(unresolved("a = x + c + y; c = 1"), "\"x,y\"");
        assert_eq!(unresolved("a = x + a + y"), "\"\"");
        assert_eq!(unresolved("a = x + b.c; b = 5"), "\"\"");
        assert_eq!(unresolved("a = b.c; b = 5"), "\"\"");
    }

    #[test]
    fn a_pattern_that_is_no_string_fails_and_one_that_is_no_pattern_is_an_error() {
        assert_eq!(attribute("[u = unresolved(a, 1); a = x]", "u"), Err(EvalError::Function("unresolved")));
        assert_eq!(attribute("[u = unresolved(a, \"[\"); a = x]", "u").unwrap(), "error");
        assert_eq!(attribute("[u = unresolved(b, 1); a = x]", "u").unwrap(), "undefined");
        // The reference's answers: some part that is not empty must match.
        for (pattern, found) in
            [("q*?", false), ("x*?", true), ("|x", true), ("y*", true), ("y*?z*", true), ("^", false), ("z*?", false)]
        {
            let ad = format!("[u = unresolved(a, \"{pattern}\"); a = xy]");
            assert_eq!(attribute(&ad, "u").unwrap(), found.to_string(), "{pattern}");
        }
    }

    #[test]
    fn expressions_are_unparsed_as_they_are_written() {
        // The value of a relative-time constant is a real; its text is not.
        assert_eq!(attribute("[u = unparse(p); p = relTime(\"1:00\")]", "u").unwrap(), "\"relTime(\\\"01:00\\\")\"");
        assert_eq!(attribute("[u = unparse(MY.p); p = 1]", "u").unwrap(), "\"\"");
        assert_eq!(attribute("[u = unparse(MY.p); 'MY.p' = 1]", "u").unwrap(), "\"1\"");
    }

    /// 160 ads inside one another, around a list: pretty, each of the 40,000 elements is indented by 1,286 bytes.
    #[test]
    fn pretty_texts_are_bounded() {
        let list = format!("{{{}}}", vec!["1"; 40_000].join(","));
        let ad = format!("[u = unparse(a); a = {}{list}{}]", "[a=".repeat(160), "]".repeat(160));
        assert!(matches!(attribute(&ad, "u"), Err(EvalError::Memory(_))));
    }
}
