//! Expressions in the context of each ad of a list: `evalInEachContext`, `countMatches`.

use std::sync::Arc;

use crate::builtin::{Call, Function};
use crate::eval::{Failed, Found};
use crate::syntax::expr::{Expr, Node};
use crate::value::{FrameId, List, Value};

/// The family's table.
pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "evalInEachContext",
        signature: "evalInEachContext(expression, list)",
        least: 2,
        most: Some(2),
        pure: true,
        can_error: true,
        run: eval_in_each_context,
        about: "The values of an expression evaluated in each ad of a list in turn. If the expression is the name of an \
                attribute that exists here, it is the attribute's expression that is evaluated there.",
        examples: &[
            ("evalInEachContext(cap * 2, { [cap = 1],[cap = 3],5 })", "{ 2,6,error }"),
            ("[ fits = cap > 2; all = evalInEachContext(fits, { [cap = 1],[cap = 3] }) ].all", "{ false,true }"),
        ],
    },
    Function {
        name: "countMatches",
        signature: "countMatches(expression, list)",
        least: 2,
        most: Some(2),
        pure: true,
        can_error: true,
        run: count_matches,
        about: "The number of ads of a list in which an expression is true, evaluated as evalInEachContext does. \
                Undefined and error do not count.",
        examples: &[("countMatches(cap > 2, { [cap = 1],[cap = 3],[] })", "1"), ("countMatches(true, nosuch)", "0")],
    },
];

/// What to evaluate in each ad: the argument as it is written, or what it refers to.
enum Subject<'a> {
    Argument,
    Found(Found<'a>),
}

/// The subject, and the ads in whose contexts it is to be evaluated, where their names are looked up.
///
/// The search for a reference leaves the reference library in the ad in which it ended; the list is evaluated from
/// there. So it is undefined when the list names an attribute of the target and the expression names nothing.
fn prepared<'a>(call: &mut Call<'_, 'a>) -> Result<(Subject<'a>, Result<List, Value>, FrameId), Failed> {
    let (subject, frame) = match call.machine.locate(call.tree, call.node(0), call.frame)? {
        Some(located) => (located.found.map_or(Subject::Argument, Subject::Found), located.at),
        None => (Subject::Argument, call.frame),
    };
    let list = match call.machine.eval(call.tree, call.node(1), list_frame(call, frame))? {
        Value::List(list) => Ok(list),
        Value::Undefined => Err(Value::Undefined),
        _ => Err(Value::Error),
    };
    Ok((subject, list, frame))
}

/// A list that stands in the call keeps the scope it is written in; its elements are evaluated elsewhere.
fn list_frame(call: &Call<'_, '_>, frame: FrameId) -> FrameId {
    if matches!(call.written(1), Node::List(_)) { call.frame } else { frame }
}

/// The value of the subject in the ad that is an element of the list: undefined for an undefined element, error for
/// one that is no ad.
fn in_context<'a>(
    call: &mut Call<'_, 'a>,
    subject: &Subject<'a>,
    element: (&List, usize, FrameId),
) -> Result<Value, Failed> {
    let (list, at, frame) = element;
    let ad = match call.machine.element_in(list, at, frame)? {
        Value::Ad(ad) => ad,
        Value::Undefined => return Ok(Value::Undefined),
        _ => return Ok(Value::Error),
    };
    let (argument, home) = (Expr::at(Arc::clone(call.tree), call.node(0)), call.frame);
    call.machine.afresh_in(&ad, |machine, inside| match subject {
        Subject::Argument => machine.away_from(home, &argument, inside),
        Subject::Found(found) => machine.found_in(found, frame, inside),
    })
}

fn eval_in_each_context(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    let (subject, list, frame) = prepared(call)?;
    let list = match list {
        Ok(list) => list,
        Err(other) => return Ok(other),
    };
    let mut values = Vec::new();
    for at in 0..list.len() {
        let value = in_context(call, &subject, (&list, at, frame))?;
        call.reserve(size_of::<Value>())?;
        values.push(call.machine.detached(value)?);
    }
    call.list(values)
}

fn count_matches(call: &mut Call<'_, '_>) -> Result<Value, Failed> {
    let (subject, list, frame) = prepared(call)?;
    let list = match list {
        Ok(list) => list,
        Err(Value::Undefined) => return Ok(Value::Int(0)),
        Err(other) => return Ok(other),
    };
    let mut count = 0;
    for at in 0..list.len() {
        let value = in_context(call, &subject, (&list, at, frame))?;
        count += i64::from(value.as_condition() == Some(true));
    }
    Ok(Value::Int(count))
}

#[cfg(test)]
mod tests {
    use crate::ad::ClassAd;
    use crate::eval::Failed;
    use crate::eval::scope::{Scope, Settings};
    use crate::syntax::parse::parse_expr;
    use crate::value::Value;

    fn eval(my: &str, target: Option<&str>, expr: &str) -> Result<Value, Failed> {
        let settings = Settings::default();
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
        assert_eq!(eval("[a = evalInEachContext(a, {[x = 1]})]", None, "a").unwrap_err(), Failed::Depth(400));
    }

    /// 20,000 results that share one text of 300,000 bytes would print as 6 GB.
    #[test]
    fn results_count_as_if_they_shared_nothing() {
        let my = format!("[s = \"{}\"; L = {{{}}}]", "x".repeat(300_000), vec!["[]"; 20_000].join(","));
        assert!(matches!(eval(&my, None, "evalInEachContext(s, L)"), Err(Failed::Memory(_))));
        assert!(matches!(eval(&my, None, "L.s"), Err(Failed::Memory(_))));
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
