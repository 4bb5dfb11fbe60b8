//! Comparisons of attributes that the text itself defines with constants of another type, and calls of functions with them.
//!
//! In: an expression, and the values of such attributes. Out: a warning of the rule `type-clash` or `bad-argument`.

use std::fmt::Display;

use super::arguments::{OF_STRINGS, looks_like_pattern};
use super::attributes::is_known;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::view::{RefScope, View};
use classmate::{Diagnostic, Expr, Name, Span};

/// Functions, lower case, with the places of the arguments that are lists.
const OF_LISTS: [(&[u8], &[usize]); 11] = [
    (b"allcompare", &[1]),
    (b"anycompare", &[1]),
    (b"avg", &[0]),
    (b"countmatches", &[1]),
    (b"evalineachcontext", &[1]),
    (b"identicalmember", &[1]),
    (b"max", &[0]),
    (b"member", &[1]),
    (b"min", &[0]),
    (b"regexpmember", &[1]),
    (b"sum", &[0]),
];

/// The finding about the first such comparison or call; `value` gives the value of an attribute that is defined.
pub(super) fn check(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    compared(expr, value)
        .or_else(|| called(expr, value))
        .or_else(|| swapped(expr, value))
        .or_else(|| pattern(expr, value))
        .or_else(|| joined(expr, value))
}

/// The finding about a string that is used as a condition.
pub(super) fn string_as_condition(name: impl Display, span: Span) -> Diagnostic {
    let message = format!("`{name}` is a string: as a condition it is ERROR");
    Diagnostic::warning(message, span).code("type-clash")
}

/// The finding about the first string that `&&`, `||` or `!` uses as a condition: the value is ERROR. Attributes that HTCondor
/// knows are left to the comparisons with their types.
fn joined(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    let tree = expr.tree();
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let operands = match *tree.node(id) {
            Node::Binary(BinaryOp::And | BinaryOp::Or, left, right) => vec![left, right],
            Node::Unary(UnaryOp::Not, inner) => vec![inner],
            _ => return None,
        };
        operands.into_iter().find_map(|operand| {
            let reference = tree.reference(tree.bare(operand))?;
            let name = reference.name;
            if is_known(name.folded()) || reference.scope == RefScope::Target {
                return None;
            }
            let own = value(name)?;
            let Node::Literal(Literal::Str(_)) = own.tree().node(own.tree().bare(own.root())) else { return None };
            let help = format!("write `{name} = true`, without quotes, or a comparison");
            Some(string_as_condition(name, tree.span(operand)?).help(help))
        })
    })
}

/// The finding about the first call of a function for lists with a string, or for strings with a list: its value is ERROR
/// (HTCondor's `fnCall.cpp` and `stringListMember_func` in `compat_classad.cpp`).
fn called(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    let tree = expr.tree();
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let View::Call { name, arguments } = tree.view(id) else { return None };
        let places = |all: &[(&[u8], &'static [usize])]| {
            all.iter().find(|(known, _)| *known == name.folded()).map(|(_, places)| *places)
        };
        let (places, wants_list) = match places(&OF_LISTS) {
            Some(places) => (places, true),
            None => (places(&OF_STRINGS)?, false),
        };
        places.iter().find_map(|place| {
            let argument = *arguments.get(*place)?;
            let reference = tree.reference(tree.bare(argument))?;
            let attribute = reference.name;
            if is_known(attribute.folded()) || reference.scope == RefScope::Target {
                return None;
            }
            let value = value(attribute)?;
            let tree_of_value = value.tree();
            let (message, help) = match (tree_of_value.node(tree_of_value.bare(value.root())), wants_list) {
                (Node::Literal(Literal::Str(_)), true) => (
                    format!("`{attribute}` is a string here, and `{name}` is ERROR without a list"),
                    format!(
                        "write the value of `{attribute}` as a list, `{{ \"a\", \"b\" }}`, or `split({attribute})` here"
                    ),
                ),
                (Node::List(_), false) => (
                    format!("`{attribute}` is a list here, and `{name}` is ERROR without a string"),
                    format!("write the value of `{attribute}` as a string, `\"a,b\"`"),
                ),
                _ => return None,
            };
            Some(Diagnostic::warning(message, tree.span(argument)?).help(help).code("bad-argument"))
        })
    })
}

/// The finding about the first search for a list in another one: `stringListMember(MY.Sites, TARGET.Site)` beside `+Sites = "a, b"`. An
/// item has no comma (`stringListMember_func` in HTCondor's `compat_classad.cpp`), and a list is never one (`fnCall.cpp`).
fn swapped(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    const OF_STRINGS: [&[u8]; 2] = [b"stringlistmember", b"stringlistimember"];
    const OF_LISTS: [&[u8]; 2] = [b"member", b"identicalmember"];
    let tree = expr.tree();
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let View::Call { name, arguments } = tree.view(id) else { return None };
        let &[item, list] = arguments else { return None };
        let reference = tree.reference(tree.bare(item)).filter(|one| one.scope != RefScope::Target)?;
        let own = value(reference.name)?;
        let (message, effect) = match own.tree().node(own.tree().bare(own.root())) {
            Node::Literal(Literal::Str(text)) if OF_STRINGS.contains(&name.folded()) && text.contains(&b',') => {
                ("is a list of several items here, and is looked for as one item", "false")
            }
            Node::List(_) if OF_LISTS.contains(&name.folded()) => {
                ("is a list here, and is looked for as an item", "ERROR")
            }
            _ => return None,
        };
        let message = format!("`{}` {message}: this is {effect}", reference.name);
        let found = Diagnostic::warning(message, tree.span(item)?).code("bad-argument");
        let is_swapped = tree.reference(tree.bare(list)).is_some();
        let help = if is_swapped { "the list is the second argument: swap them" } else { "write one item first" };
        Some(found.help(help))
    })
}

/// The finding about the first `regexp(TARGET.Subject, MY.Allowed)` beside `Allowed = "^/DC=org/"`: the pattern is the first argument.
fn pattern(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
    let tree = expr.tree();
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let View::Call { name, arguments } = tree.view(id) else { return None };
        let (first, second) = (*arguments.first()?, *arguments.get(1)?);
        let of = |id: NodeId| tree.reference(tree.bare(id));
        let (text, own) = (of(first)?, of(second).filter(|own| own.scope != RefScope::Target)?);
        let is_text = text.scope == RefScope::Target || is_known(text.name.folded());
        if name.folded() != b"regexp" || !is_text {
            return None;
        }
        let value = value(own.name)?;
        let Node::Literal(Literal::Str(pattern)) = value.tree().node(value.tree().bare(value.root())) else {
            return None;
        };
        let pattern = String::from_utf8_lossy(pattern).into_owned();
        let message = format!("`{}` is the pattern `{pattern}` here, and the pattern is the first argument", own.name);
        let found = Diagnostic::warning(message, tree.span(second)?).code("bad-argument");
        looks_like_pattern(&pattern).then(|| found.help("swap the two arguments"))
    })
}

/// The finding about the first comparison.
fn compared(expr: &Expr, value: &dyn Fn(Name) -> Option<Expr>) -> Option<Diagnostic> {
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
