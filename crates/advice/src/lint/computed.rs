//! Comparisons of what a function computes with constants that it never gives: a part of a split string that holds a separator, and
//! the time of the clock as a duration.
//!
//! In: a part of an expression. Out: a finding of the rules `impossible-value` and `odd-unit`.

use super::attributes::fact;
use super::expression::{LintContext, written};
use classmate::Diagnostic;
use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;

/// Seconds since 1970 that are over since 2001: numbers below are durations.
const EARLIEST: i64 = 1_000_000_000;

/// The finding about a comparison with such a constant.
pub(super) fn computed(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let View::Compare { op, left, right } = tree.view(id) else { return None };
    [(left, right), (right, left)]
        .into_iter()
        .find_map(|(one, other)| part(context, tree, (op, one, other)).or_else(|| clock(context, tree, (one, other))))
}

/// `split(Machine, ".")[0] == "node1.example.org"`
fn part(context: &LintContext<'_>, tree: &Tree, (op, one, other): (BinaryOp, NodeId, NodeId)) -> Option<Diagnostic> {
    let View::Subscript { base, index } = tree.view(tree.bare(one)) else { return None };
    let View::Call { name, arguments } = tree.view(tree.bare(base)) else { return None };
    let is_first = matches!(tree.node(tree.bare(index)), Node::Literal(Literal::Int(0)));
    let separators = match (name.folded(), arguments) {
        (b"split", [_]) => ", ".to_owned(),
        (b"split", [_, separators]) => text(tree, *separators)?,
        // These split at the first one.
        (b"splitusername" | b"splitslotname", [_]) if is_first => "@".to_owned(),
        _ => return None,
    };
    let value = text(tree, other)?;
    let separator = value.chars().find(|sign| separators.contains(*sign))?;
    let always = match op {
        BinaryOp::Equal | BinaryOp::Is => "never true",
        BinaryOp::NotEqual | BinaryOp::Isnt => "always true",
        _ => return None,
    };
    let shown = written(context.text, tree.span(one)?);
    let message = format!("`{shown}` has no `{separator}`, which separates: this is {always}");
    let found = Diagnostic::warning(message, tree.span(other)?).code("impossible-value");
    Some(found.help("compare it with one part, or the whole string with this one"))
}

/// `time() > 3600`, `time() - RemoteWallClockTime > 3600`
fn clock(context: &LintContext<'_>, tree: &Tree, (one, other): (NodeId, NodeId)) -> Option<Diagnostic> {
    let Node::Literal(Literal::Int(number)) = *tree.node(tree.bare(other)) else { return None };
    if !(1..EARLIEST).contains(&number) {
        return None;
    }
    let is_now = |id: NodeId| match tree.view(tree.bare(id)) {
        View::Call { name, arguments } => name.folded() == b"time" && arguments.is_empty(),
        _ => false,
    };
    let is_time = match tree.view(tree.bare(one)) {
        View::Call { .. } => is_now(one),
        View::Binary { op: BinaryOp::Subtract, left, right } if is_now(left) => {
            let name = tree.reference(tree.bare(right))?.name;
            fact(name.folded()).is_some_and(|fact| fact.unit == Some("seconds"))
        }
        _ => false,
    };
    let shown = written(context.text, tree.span(one)?);
    let message = format!("`{shown}` is a time since 1970, of more than {EARLIEST} seconds: `{number}` is a duration");
    let found = Diagnostic::warning(message, tree.span(one)?).code("odd-unit");
    is_time.then(|| found.help("subtract a time, as in `time() - EnteredCurrentStatus`"))
}

/// A constant string in which nothing is open.
fn text(tree: &Tree, id: NodeId) -> Option<String> {
    match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Str(text)) if !text.contains(&OPEN) => std::str::from_utf8(text).ok().map(str::to_owned),
        _ => None,
    }
}
