//! Comparisons of attributes that the text itself defines with constants of another type.
//!
//! In: an expression, and the values of such attributes. Out: a warning of the rule `type-clash`.

use super::attributes::is_known;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, Expr, Name};

/// The finding about the first such comparison; `value` gives the value of an attribute that is defined.
pub(super) fn check(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    let tree = expr.tree();
    let kind = |literal: &Literal| match literal {
        Literal::Str(_) => Some("a string"),
        Literal::Int(_) | Literal::Real(_) => Some("a number"),
        Literal::Bool(_) => Some("a boolean"),
        _ => None,
    };
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let Node::Binary(op, left, right) = *tree.node(id) else { return None };
        let reference = tree.reference(tree.bare(left)).filter(|_| op.is_comparison())?;
        let Node::Literal(other) = tree.node(tree.bare(right)) else { return None };
        let name = reference.name;
        if is_known(name.folded()) || reference.scope == RefScope::Target {
            return None;
        }
        let value = value(name)?;
        let Node::Literal(own) = value.node() else { return None };
        let (own, other) = (kind(own)?, kind(other)?);
        // A boolean counts as 0 or 1.
        if own == other || own != "a string" && other != "a string" {
            return None;
        }
        let effect = match op {
            BinaryOp::Is => "is always false",
            BinaryOp::Isnt => "is always true",
            _ => "is ERROR",
        };
        let span = tree.span(id)?;
        let message = format!("`{name}` is {own} here: its comparison with {other} {effect}");
        Some(Diagnostic::warning(message, span).help(format!("compare it with {own}")).code("type-clash"))
    })
}
