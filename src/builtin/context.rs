//! Expressions in the context of each ad of a list: `evalInEachContext`, `countMatches`.

use std::sync::Arc;

use crate::builtin::{Call, Exit, Function, list};
use crate::eval::{EvalError, Found, as_error_value};
use crate::syntax::expr::Expr;
use crate::value::{FrameId, List, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function::new("evalInEachContext(expression, list)", eval_in_each_context),
    Function::new("countMatches(expression, list)", count_matches),
];

/// The expression to evaluate in each ad: the argument as it is written, or the target of its reference.
enum Subject<'a> {
    Argument,
    Found(Found<'a>),
}

/// The subject, where it was found, and the ads in whose contexts it is to be evaluated.
///
/// The search for a reference leaves the reference library in the ad in which it ended; the list is evaluated from
/// there. So it is undefined when the list names an attribute of the target and the expression names nothing.
fn prepared<'a>(call: &mut Call<'_, 'a>) -> Result<(Subject<'a>, FrameId, Result<List, Value>), EvalError> {
    let (subject, at) = match call.evaluator.locate(call.tree, call.node(0), call.frame)? {
        Some(located) => (located.found.map_or(Subject::Argument, Subject::Found), located.at),
        None => (Subject::Argument, call.frame),
    };
    Ok((subject, at, list(as_error_value(call.argument(1))?)))
}

/// The value of the subject in the ad that is an element of the list: undefined for an undefined element, error for
/// one that is no ad, and for what fails.
fn in_context<'a>(
    call: &mut Call<'_, 'a>,
    (subject, found_at): (&Subject<'a>, FrameId),
    (list, at): (&List, usize),
) -> Result<Value, EvalError> {
    let ad = match as_error_value(call.element(list, at))? {
        Value::Ad(ad) => ad,
        Value::Undefined => return Ok(Value::Undefined),
        _ => return Ok(Value::Error),
    };
    let (argument, home) = (Expr::at(Arc::clone(call.tree), call.node(0)), call.frame);
    as_error_value(call.evaluator.with_fresh_depth_in(&ad, |evaluator, inside| match subject {
        Subject::Argument => evaluator.eval_relocated(home, &argument, inside),
        Subject::Found(found) => evaluator.found_in(found, found_at, inside),
    }))
}

fn eval_in_each_context(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let (subject, found_at, list) = prepared(call)?;
    let list = list?;
    let mut values = Vec::new();
    for at in 0..list.len() {
        let value = in_context(call, (&subject, found_at), (&list, at))?;
        call.reserve(size_of::<Value>())?;
        values.push(call.evaluator.detached(value)?);
    }
    call.list(values)
}

fn count_matches(call: &mut Call<'_, '_>) -> Result<Value, Exit> {
    let (subject, found_at, list) = prepared(call)?;
    let list = match list {
        Err(Value::Undefined) => return Ok(Value::Int(0)),
        list => list?,
    };
    let mut count = 0;
    for at in 0..list.len() {
        let value = in_context(call, (&subject, found_at), (&list, at))?;
        count += i64::from(value.as_condition() == Some(true));
    }
    Ok(Value::Int(count))
}

#[cfg(test)]
mod tests {
    use crate::ad::ClassAd;
    use crate::eval::EvalError;
    use crate::eval::scope::{EvalOptions, Scope};
    use crate::syntax::parse::parse_expr;
    use crate::value::Value;

    fn eval(my: &str, target: Option<&str>, expr: &str) -> Result<Value, EvalError> {
        let settings = EvalOptions::default();
        let my = ClassAd::parse(my.as_bytes()).unwrap();
        let target = target.map(|target| ClassAd::parse(target.as_bytes()).unwrap());
        let expr = parse_expr(expr.as_bytes(), &settings.parse_options()).unwrap();
        let scope = Scope::new(&my, &settings);
        target.as_ref().map_or(scope, |target| scope.with_target(target)).eval(&expr)
    }

    /// Values observed in the reference.
    #[test]
    fn contexts_see_the_side_opposite_to_the_one_they_are_part_of() {
        let my = "[w = \"job\"; G = [cap = 1]; L = {[w = \"jl\"]}; jo = 1]";
        let target = "[w = \"slot\"; LL = {G}; G = [cap = 2]; L = {[w = \"sl\"]}; so = w]";
        for (expr, expected) in [
            ("evalInEachContext(strcat(MY.w, TARGET.w), L)", "{ \"jlslot\" }"),
            ("evalInEachContext(strcat(MY.w, TARGET.w), TARGET.L)", "{ \"sljob\" }"),
            ("evalInEachContext(strcat(MY.w, TARGET.w), {TARGET})", "{ \"slotjob\" }"),
            ("evalInEachContext(strcat(so), {[a = 1]})", "{ \"slot\" }"),
            ("evalInEachContext(strcat(jo), TARGET.L)", "{ \"1\" }"),
            // What `so` refers to is in the target, so the list is looked up there.
            ("evalInEachContext(so, L)", "{ \"sl\" }"),
            ("evalInEachContext(so, TARGET.L)", "{ \"jl\" }"),
            // Nothing is called `cap`: the search ended around both sides, where there is no TARGET.
            ("evalInEachContext(cap, TARGET.LL)", "undefined"),
            ("evalInEachContext(cap + 0, TARGET.LL)", "{ 1 }"),
        ] {
            assert_eq!(eval(my, Some(target), expr).unwrap().to_string(), expected, "{expr}");
        }
    }

    /// Values observed in the reference: only names are looked up in the context.
    #[test]
    fn lists_and_ads_of_the_expression_stay_where_they_are_written() {
        for (my, expr, expected) in [
            ("[b = 5]", "evalInEachContext(0 + [z = b].z, {[b = 1]})", "{ 5 }"),
            ("[b = 5]", "evalInEachContext(sum({b}), {[b = 1]})", "{ 1 }"),
            ("[b = 5]", "evalInEachContext(0 + {b}[0], {[b = 1]})", "{ 5 }"),
            (
                "[a = 1; k = [a = 9]; d = [a = 7; g = evalInEachContext(a + q, {[q = 1]})]]",
                "evalInEachContext(d.g, {k})",
                "{ { 8 } }",
            ),
        ] {
            assert_eq!(eval(my, None, expr).unwrap().to_string(), expected, "{expr}");
        }
    }

    /// The reference overflows its stack.
    #[test]
    fn contexts_inside_contexts_are_bounded() {
        let endless = |my: &str| eval(my, None, "a").unwrap_err();
        assert_eq!(endless("[a = evalInEachContext(a, {[x = 1]})]"), EvalError::Contexts(12_800));
        assert_eq!(endless("[a = MY[\"a\"]]"), EvalError::Contexts(12_800));
    }

    /// Values observed in the reference: what follows in the same expression is looked up where the search ended.
    #[test]
    fn a_search_moves_the_rest_of_its_expression() {
        for (expr, expected) in [
            ("[u = countMatches(d.e, {}) + e; d = [e = 1; f = 2]; e = 5].u", "1"),
            ("[u = countMatches(d.g, {}) + e; d = [e = 1; f = 2]; e = 5].u", "undefined"),
            ("[u = countMatches(d.f, {}) + eval(\"e\"); d = [e = 1; f = 2]; e = 5].u", "1"),
            ("[u = strcat(countMatches(d.f, {}), { e }[0]); d = [e = 1; f = 2]; e = 5].u", "\"05\""),
            ("[u = strcat(countMatches(d.f, {}), sum({ e })); d = [e = 1; f = 2]; e = 5].u", "\"01\""),
            ("[u = strcat(countMatches(d.f, {}), w, e); d = [e = 1; f = 2]; e = 5; w = e].u", "\"051\""),
            ("[u = strcat(countMatches(d.f, {}), MY.e, unparse(e)); d = [e = 1; f = 2]; e = 5].u", "\"011\""),
            ("[u = strcat(unresolved(d.e), e); d = [e = f]; e = \"out\"].u", "undefined"),
            ("[u = strcat(unresolved({[a = b]}.a), e); e = 4].u", "\"4\""),
            ("[u = countMatches(d.f, {}) == 0 && e == 1; d = [e = 1; f = 2]; e = 5].u", "true"),
        ] {
            assert_eq!(eval("[]", None, expr).unwrap().to_string(), expected, "{expr}");
        }
        let (my, target) = ("[a = 1; x = 5]", "[a = 2; y = b + TARGET.x + zz; b = parent; l = { a }]");
        for (expr, expected) in [
            ("strcat(unresolved(y), a)", "\"a,b,parent,x,zz2\""),
            ("strcat(unresolved(nope) ?: \"\", a)", "undefined"),
            ("strcat(unresolved(TARGET.y), a, MY.a, TARGET.a)", "\"a,b,parent,x,zz221\""),
            ("unresolved(TARGET)", "\"a,b,parent,x,zz\""),
            ("unresolved(parent)", "\"a,b,parent,x,zz\""),
            ("evalInEachContext(a, [].TARGET)", "error"),
            ("evalInEachContext(y, { MY, TARGET })", "{ error,undefined }"),
        ] {
            assert_eq!(eval(my, Some(target), expr).unwrap().to_string(), expected, "{expr}");
        }
    }

    /// Values observed in the reference.
    #[test]
    fn what_fails_in_a_context_is_an_error_there() {
        for (expr, expected) in [
            ("evalInEachContext(random(0), {[]})", "{ error }"),
            ("evalInEachContext(1, { random(0), [] })", "{ error,1 }"),
            ("evalInEachContext(1, random(0))", "error"),
            ("countMatches(random(0), {[]})", "0"),
            ("countMatches(1, random(0))", "error"),
        ] {
            assert_eq!(eval("[]", None, expr).unwrap().to_string(), expected, "{expr}");
        }
    }

    /// 20,000 results that share one text of 300,000 bytes would print as 6 GB.
    #[test]
    fn results_count_as_if_they_shared_nothing() {
        let my = format!("[s = \"{}\"; L = {{{}}}]", "x".repeat(300_000), vec!["[]"; 20_000].join(","));
        assert!(matches!(eval(&my, None, "evalInEachContext(s, L)"), Err(EvalError::Memory(_))));
        assert!(matches!(eval(&my, None, "L.s"), Err(EvalError::Memory(_))));
        assert_eq!(eval(&my, None, "countMatches(size(s) == 300000, L)").unwrap().as_int(), Some(20_000));
    }

    #[test]
    fn the_texts_of_ads_of_the_evaluation_are_those_of_the_ads() {
        assert_eq!(eval("[a = b + 1]", None, "string({MY})").unwrap().to_string(), "\"{ MY }\"");
        assert_eq!(eval("[a = b + 1]", None, "string(MY)").unwrap().to_string(), "\"[ a = b + 1 ]\"");
        let text = eval("[a = b + 1]", None, "string(evalInEachContext(MY, {[]}))").unwrap();
        assert_eq!(text.to_string(), "\"{ [ a = b + 1 ] }\"");
    }
}
