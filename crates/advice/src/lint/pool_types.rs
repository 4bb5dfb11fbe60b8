//! Values that do not go with those that the ads of the pool have: another type, another case, a blank too many.
//!
//! In: a part of an expression and the attributes of all ads. Out: a finding, if slots and jobs are checked together.

use super::attributes::fact;
use super::expression::{LintContext, written};
use classmate::internal::syntax::expr::{NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::internal::value::Type;
use classmate::{Diagnostic, Name};

/// Functions, lower case, that take a string, and the place of it among their arguments.
const OF_STRINGS: [(&[u8], usize); 5] =
    [(b"regexp", 1), (b"regexps", 1), (b"replace", 1), (b"replaceall", 1), (b"stringlistmember", 1)];

/// The finding about a comparison or a call.
pub(super) fn unlike_pool(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    match tree.view(id) {
        View::Compare { op, left, right } => comparison(context, tree, id, (op, left, right)),
        View::Call { name, arguments } => call(context, tree, name, arguments),
        _ => None,
    }
}

/// An attribute of which only the ads of the pool say what it is.
fn foreign(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Reference> {
    let reference = tree.reference(tree.bare(id))?;
    let ours = reference.scope != RefScope::Target && (context.defined)(reference.name);
    let is_known = fact(reference.name.folded()).is_some_and(|fact| fact.kind.is_some());
    (!ours && !is_known).then_some(reference)
}

fn is_number(kind: Type) -> bool {
    matches!(kind, Type::Int | Type::Real | Type::Bool)
}

fn comparison(
    context: &LintContext<'_>,
    tree: &Tree,
    id: NodeId,
    (op, left, right): (BinaryOp, NodeId, NodeId),
) -> Option<Diagnostic> {
    let schema = context.schema.filter(|schema| schema.is_whole())?;
    let literal = |id: NodeId| match tree.view(tree.bare(id)) {
        View::Literal(literal) => Some(literal),
        _ => None,
    };
    let pair = |one: NodeId, other: NodeId| Some((foreign(context, tree, one)?, literal(other)?));
    let (reference, literal) = pair(left, right).or_else(|| pair(right, left))?;
    let (span, kind) = (tree.span(id)?, schema.type_of(reference.name)?);
    let own = match literal {
        Literal::Str(_) => Type::Str,
        Literal::Int(_) => Type::Int,
        Literal::Real(_) => Type::Real,
        Literal::Bool(_) => Type::Bool,
        _ => return None,
    };
    let name = reference.name;
    if own != kind && !(is_number(own) && is_number(kind)) {
        let effect = match op {
            BinaryOp::Is => "this is never true",
            BinaryOp::Isnt => "this is always true",
            _ => "the comparison is ERROR",
        };
        let message = format!("`{name}` is {} in all ads of the pool: {effect}", kind.with_article());
        let help = format!("compare it with {}", kind.with_article());
        return Some(Diagnostic::warning(message, span).help(help).code("type-clash"));
    }
    let Literal::Str(text) = literal else { return None };
    let text = String::from_utf8_lossy(text).into_owned();
    let values = schema.texts(name)?;
    let is_identity = matches!(op, BinaryOp::Is | BinaryOp::Isnt);
    let is_it = |value: &&String| if is_identity { **value == text } else { value.eq_ignore_ascii_case(&text) };
    if values.iter().any(|value| is_it(&value)) || !(is_identity || op == BinaryOp::Equal) {
        return None;
    }
    let meant = values.iter().find(|value| value.trim().eq_ignore_ascii_case(text.trim()))?;
    let why = if meant.trim() == text.trim() { "blanks count" } else { "the case of letters counts" };
    let message = format!("`{name}` is never `{text}` in the pool, but `{meant}`: {why}");
    let help = format!("write `{} {} \"{meant}\"`", written(context.text, tree.span(left)?), op.symbol());
    Some(Diagnostic::warning(message, span).help(help).code("impossible-value"))
}

fn call(context: &LintContext<'_>, tree: &Tree, function: Name, arguments: &[NodeId]) -> Option<Diagnostic> {
    let schema = context.schema.filter(|schema| schema.is_whole())?;
    let argument = |at: usize| {
        let id = *arguments.get(at)?;
        let name = foreign(context, tree, id)?.name;
        Some((id, name, schema.type_of(name)?))
    };
    let of_string = OF_STRINGS.iter().find(|(name, _)| *name == function.folded());
    if let Some((id, name, kind)) = of_string.and_then(|(_, at)| argument(*at)).filter(|(.., kind)| is_number(*kind)) {
        let message = format!("`{name}` is {} in all ads of the pool: the call is ERROR", kind.with_article());
        let help = format!("write `string({})`, or compare the value", written(context.text, tree.span(id)?));
        return Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("type-clash"));
    }
    let is_member = matches!(function.folded(), b"member" | b"identicalmember");
    let (id, name, _) = argument(1).filter(|(.., kind)| is_member && *kind == Type::Str)?;
    let message = format!("`member` takes a list, and `{name}` is a string in all ads of the pool");
    let shown = |at: usize| Some(written(context.text, tree.span(*arguments.get(at)?)?));
    let help = format!("write `stringListMember({}, {})`", shown(0)?, shown(1)?);
    Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("bad-argument"))
}
