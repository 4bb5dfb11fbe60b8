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
