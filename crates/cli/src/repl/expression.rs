//! Commands about one expression: trace, ast, refs, flatten, type, time.

use std::time::Duration;

use crate::repl::command::{CommandInput, problem, text, usage};
use crate::repl::draw;
use crate::repl::{Output, Session};
use crate::report::{counted, printable};
use classmate::internal::eval::references::{Naming, external, internal};
use classmate::internal::eval::trace::trace;
use classmate::internal::syntax::print::Style;
use classmate::{EvalOptions, Expr, Flattened, Inlining, Text, flatten};

/// Parts of an expression that `:trace` and `:ast` show at most.
const PARTS: usize = 200;

/// Maximum duration of `:time`.
const LONGEST: Duration = Duration::from_millis(300);

fn with_expression(
    session: &mut Session,
    input: CommandInput<'_>,
    name: &str,
    run: impl FnOnce(&Session, &Expr, &EvalOptions) -> Vec<Output>,
) -> Vec<Output> {
    if input.text().is_empty() {
        return usage(name);
    }
    match session.parse(input.line, input.begins) {
        Ok((expr, warnings)) => {
            let settings = session.settings();
            let mut outputs = run(session, &expr, &settings);
            outputs.extend(warnings);
            outputs
        }
        Err(problem) => vec![problem],
    }
}

pub(super) fn trace_expression(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "trace", |session, expr, settings| {
        let steps = trace(session.scope(settings), expr, PARTS);
        let mut drawn = draw::trace(&steps);
        if steps.len() == PARTS {
            drawn.push_str("\n… more parts may be omitted");
        }
        text(drawn)
    })
}

pub(super) fn ast(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "ast", |_, expr, _| text(draw::nodes(expr, PARTS)))
}

pub(super) fn refs(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "refs", |session, expr, settings| {
        let list = |names: Vec<Text>| match names.as_slice() {
            [] => "none".to_owned(),
            names => names.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", "),
        };
        let (outside, inside) =
            (external(&session.my, expr, Naming::Full, settings), internal(&session.my, expr, settings));
        match (outside, inside) {
            (Ok(outside), Ok(inside)) => text(format!("external: {}\ninternal: {}", list(outside), list(inside))),
            (Err(why), _) | (_, Err(why)) => problem(why.to_string()),
        }
    })
}

pub(super) fn flatten_expression(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "flatten", |session, expr, settings| {
        match flatten(&session.my, expr, Inlining::Inline, settings) {
            Ok(Flattened::Value(value)) => vec![Output::Value(session.shown(&value))],
            Ok(Flattened::Residue(rest)) => {
                vec![Output::Value(session.painted(&printable(&rest.to_text(Style::New))))]
            }
            Err(failed) => problem(format!("flattening stopped: {failed}")),
        }
    })
}

pub(super) fn type_of(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "type", |session, expr, settings| match session.scope(settings).eval(expr) {
        Ok(value) => text(value.type_of().as_str()),
        Err(failed) => problem(format!("evaluation stopped: {failed}")),
    })
}

pub(super) fn time(session: &mut Session, input: CommandInput<'_>) -> Vec<Output> {
    with_expression(session, input, "time", |session, expr, settings| {
        let scope = session.scope(settings);
        let begin = session.host.elapsed();
        let mut runs: u32 = 0;
        let spent = loop {
            let _ = std::hint::black_box(scope.eval(expr));
            runs += 1;
            let spent = session.host.elapsed().saturating_sub(begin);
            if spent >= LONGEST || runs >= 100_000 {
                break spent;
            }
        };
        text(format!("{:.3?} each, over {}", spent / runs, counted(u64::from(runs), "evaluation")))
    })
}
