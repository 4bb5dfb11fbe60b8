//! Alternatives, `a || b`: those that are true together whatever the ad is, and those that a missing attribute leaves
//! to the others.

use super::expression::{LintContext, quoted};
use super::missing::{comes_along, is_there, unless, where_missing};
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::facts::Facts;
use classmate::internal::analysis::values::{Truths, Values, kind};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, Expr};

/// Alternatives of one chain that are compared.
const MAX_ALTERNATIVES: usize = 40;

/// Adds what is found in the alternatives of a condition.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let tree = expr.tree();
    for id in tree.first_of(expr.root())..=expr.root() {
        if !matches!(tree.node(id), Node::Binary(BinaryOp::Or, ..)) || is_inner(tree, id) {
            continue;
        }
        let mut alternatives = tree.flattened(BinaryOp::Or, id);
        alternatives.truncate(MAX_ALTERNATIVES);
        let analysis = Analysis::new(tree, &unknown);
        match never_false(context, &analysis, &alternatives) {
            Some(one) => found.push(one),
            None => found.extend(left_to_others(context, &analysis, &alternatives, expr.root())),
        }
    }
}

/// Returns true if a chain is a part of a longer one.
fn is_inner(tree: &Tree, id: NodeId) -> bool {
    let mut around = id + 1;
    // The node after a subtree uses it, or its neighbour does.
    while let Some(node) = tree.nodes.get(around as usize) {
        match *node {
            Node::Paren(inner) if tree.bare(inner) == tree.bare(id) => around += 1,
            Node::Binary(BinaryOp::Or, left, right) if [left, right].iter().any(|part| tree.bare(*part) == id) => {
                return true;
            }
            _ => around += 1,
        }
        if around > id.saturating_add(4096) {
            break;
        }
    }
    false
}

/// `x != "a" || x != "b"`: where the first is false, the second is true.
fn never_false(context: &LintContext<'_>, analysis: &Analysis<'_>, alternatives: &[NodeId]) -> Option<Diagnostic> {
    let tree = analysis.tree();
    let is_constant = |id: &NodeId| matches!(tree.node(tree.bare(*id)), Node::Literal(_));
    for (at, &second) in alternatives.iter().enumerate().skip(1) {
        for &first in &alternatives[..at] {
            if is_constant(&first) || is_constant(&second) {
                continue;
            }
            let Some(mut facts) = analysis.where_it_is(first, Truths::FALSE, &Facts::default()) else { continue };
            // No attribute is NaN, which is neither less nor more.
            for reference in tree.references(second).take(MAX_ALTERNATIVES) {
                if let Some(values) = facts.get(reference).cloned() {
                    facts.set(reference, values.without(kind::NAN));
                }
            }
            if facts.is_empty() || analysis.values_where(second, &facts).truths() != Truths::TRUE {
                continue;
            }
            if analysis.truths(second) == Truths::TRUE {
                continue;
            }
            let (place, other) = (tree.span(second)?, tree.span(first)?);
            let (one, two) = (quoted(context.text, other), quoted(context.text, place));
            let message = format!("`{one} || {two}` is never false: one of the two is true for every value");
            let finding = Diagnostic::warning(message, place).related(other, "the other one");
            return Some(finding.help("write `&&` to exclude both").code("never-false"));
        }
    }
    None
}

/// `!regexp("x", Site) || Cpus > 4`: without `Site`, only the alternative can be true.
fn left_to_others(
    context: &LintContext<'_>,
    analysis: &Analysis<'_>,
    alternatives: &[NodeId],
    root: NodeId,
) -> Option<Diagnostic> {
    let tree = analysis.tree();
    alternatives.iter().find_map(|&clause| {
        let (reference, help) = unless(tree, tree.bare(clause), context.text)?;
        let name = reference.name;
        let ours = reference.scope == RefScope::My
            || reference.scope == RefScope::Either && (context.defined)(name)
            || is_there(context, name);
        let mentioned = tree.nodes.iter().enumerate().any(|(id, _)| {
            let id = id as NodeId;
            let inside = tree.first_of(clause) <= id && id <= clause;
            !inside && tree.reference(id).is_some_and(|other| other.name == name)
        });
        let constant = |id: &NodeId| matches!(tree.node(tree.bare(*id)), Node::Literal(Literal::Bool(_)));
        if ours || mentioned || alternatives.iter().any(constant) {
            return None;
        }
        let mut facts = Facts::default();
        facts.set(reference, Values::of_kinds(kind::UNDEFINED));
        let truths = analysis.values_where(clause, &facts).truths();
        if truths.has(Truths::TRUE.or(Truths::FALSE)) || comes_along(analysis, root, reference) {
            return None;
        }
        // Another alternative may be true wherever the attribute is missing: `ExitBySignal || ExitCode != 0`.
        let missing = where_missing(tree, reference);
        let is_covered = |other: &NodeId| analysis.values_where(*other, &missing).truths() == Truths::TRUE;
        if !missing.is_empty() && alternatives.iter().any(is_covered) {
            return None;
        }
        let place = tree.span(clause)?;
        let shown = quoted(context.text, place);
        let message =
            format!("where `{name}` is missing, `{shown}` is UNDEFINED, so only the other side of `||` counts");
        Some(Diagnostic::warning(message, place).help(help).code("undefined-means-no"))
    })
}
