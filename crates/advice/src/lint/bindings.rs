//! Operators that bind more tightly than the text suggests: `&&` beside alternatives of one attribute, and `+` after a comparison.
//!
//! In: an expression. Out: findings of the rule `precedence`.

use std::collections::BTreeSet;

use super::attributes::only_in;
use super::expression::{LintContext, quoted};
use super::scope::Seen;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::{Diagnostic, Expr, Name, Span};

/// Alternatives that are looked at.
const MAX_ALTERNATIVES: usize = 40;

/// Adds what is found in an expression.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    if context.role.condition {
        found.extend(alternatives(context, expr));
    } else if matches!((context.role.mine, context.role.other), (Seen::Job, Seen::Slot) | (Seen::Slot, Seen::Job)) {
        found.extend(sum(context, expr));
    }
}

/// `Machine == "a" || Machine == "b" && Cpus > 4`: the last clause counts for one of the alternatives alone.
fn alternatives(context: &LintContext<'_>, expr: &Expr) -> Option<Diagnostic> {
    let tree = expr.tree();
    let all = tree.first_of(expr.root())..=expr.root();
    let inner = |id: NodeId| match *tree.node(id) {
        Node::Binary(BinaryOp::Or, left, _) => Some(left),
        _ => None,
    };
    // A part of a chain is looked at with the whole.
    let parts: BTreeSet<NodeId> = all.clone().filter_map(inner).collect();
    all.filter(|id| inner(*id).is_some() && !parts.contains(id)).find_map(|id| {
        let alternatives = unparenthesized(tree, BinaryOp::Or, id)?;
        // The attribute, and the clauses that go with it, of each alternative.
        let parts: Option<Vec<(Name, Vec<NodeId>)>> = alternatives.iter().map(|one| part(tree, *one)).collect();
        let parts = parts?;
        let (attribute, _) = parts.first()?;
        let same = parts.iter().all(|(name, _)| name == attribute);
        let mut mixed = parts.iter().enumerate().filter(|(_, (_, clauses))| clauses.len() > 1);
        let (at, (_, clauses)) = mixed.next()?;
        let is_only = mixed.next().is_none() && parts.len() > 1;
        // What goes with it is at one end of the whole.
        let value = clauses.iter().position(|clause| compared(tree, *clause) == Some(*attribute))?;
        let is_end = at + 1 == parts.len() && value == 0 || at == 0 && value + 1 == clauses.len();
        let others = clauses.iter().filter(|clause| **clause != clauses[value]);
        let is_apart = others.clone().all(|other| tree.references(*other).all(|one| one.name != *attribute));
        if !same || !is_only || !is_end || !is_apart {
            return None;
        }
        let other = *others.into_iter().next()?;
        let (place, bound) = (tree.span(other)?, tree.span(clauses[value])?);
        let shown = |span: Span| quoted(context.text, span);
        let message =
            format!("`&&` binds more tightly than `||`: `{}` counts for `{}` alone", shown(place), shown(bound));
        let help = format!("write parentheses around the alternatives of `{attribute}`, or around this `&&`");
        let found = Diagnostic::warning(message, place).related(bound, "for this one");
        Some(found.help(help).code("precedence"))
    })
}

/// The operands of a chain, of which those in parentheses are one each; nothing for a chain of too many.
fn unparenthesized(tree: &Tree, op: BinaryOp, id: NodeId) -> Option<Vec<NodeId>> {
    Some(tree.operands(op, id)).filter(|operands| operands.len() <= MAX_ALTERNATIVES)
}

/// The attribute that an alternative compares with a string, and its clauses; none of an alternative in parentheses with several.
fn part(tree: &Tree, id: NodeId) -> Option<(Name, Vec<NodeId>)> {
    let clauses = unparenthesized(tree, BinaryOp::And, id)?;
    let name = clauses.iter().find_map(|clause| compared(tree, *clause))?;
    Some((name, clauses))
}

/// The attribute of `Machine == "a"`.
fn compared(tree: &Tree, id: NodeId) -> Option<Name> {
    let Node::Binary(BinaryOp::Equal | BinaryOp::Is, left, right) = *tree.node(tree.bare(id)) else { return None };
    let is_text = matches!(tree.node(tree.bare(right)), Node::Literal(Literal::Str(_)));
    tree.reference(tree.bare(left)).filter(|_| is_text).map(|reference| reference.name)
}

/// `Memory >= 64000 + KFlops` as a rank: it is the truth of a comparison, and not a sum with one.
fn sum(context: &LintContext<'_>, expr: &Expr) -> Option<Diagnostic> {
    let tree = expr.tree();
    let Node::Binary(op, left, right) = *tree.node(tree.bare(expr.root())) else { return None };
    // The sum itself has no parentheses, and begins with a constant.
    let terms = unparenthesized(tree, BinaryOp::Add, right).filter(|terms| terms.len() > 1)?;
    let (first, rest) = terms.split_first()?;
    let is_constant = matches!(tree.node(tree.bare(*first)), Node::Literal(_));
    let own: Vec<Name> = tree.references(left).map(|one| one.name).collect();
    let added = rest.iter().find(|term| tree.references(**term).next().is_some())?;
    let is_other = tree.references(*added).all(|one| !own.contains(&one.name));
    // An amount of one ad beside that of the other, or of the same resource, is a sum that is meant.
    let mut both = tree.references(left).chain(tree.references(*added)).map(|one| owner(context, one));
    let ad = both.next()??;
    let is_of_one = both.all(|one| one == Some(ad));
    let amounts = |id: NodeId| tree.references(id).filter_map(|one| resource(one.name)).collect::<Vec<_>>();
    let is_same = amounts(*added).iter().any(|one| amounts(left).contains(one));
    if !op.is_comparison() || !is_constant || own.is_empty() || !is_other || !is_of_one || is_same {
        return None;
    }
    let (whole, place) = (tree.span(right)?, tree.span(*added)?);
    let compared = Span::new(tree.span(left)?.range().start, tree.span(*first)?.range().end);
    let shown = |span: Span| quoted(context.text, span);
    let message = format!("`+` binds more tightly than `{}`: this compares with `{}`", op.symbol(), shown(whole));
    let help = format!("write `({}) + {}`", shown(compared), shown(place));
    Some(Diagnostic::warning(message, whole).help(help).code("precedence"))
}

/// The ad in which an attribute is looked up, if it is known.
fn owner(context: &LintContext<'_>, reference: Reference) -> Option<Seen> {
    match reference.scope {
        RefScope::My => Some(context.role.mine),
        RefScope::Target => Some(context.role.other),
        RefScope::Either => match only_in(reference.name.folded())? {
            "job" => Some(Seen::Job),
            "slot" => Some(Seen::Slot),
            _ => None,
        },
    }
}

/// The resource that an attribute counts: that of `RequestMemory` and of `TotalMemory` is the same.
fn resource(name: Name) -> Option<&'static [u8]> {
    const RESOURCES: [&[u8]; 4] = [b"memory", b"disk", b"cpus", b"gpus"];
    RESOURCES.into_iter().find(|resource| name.folded().ends_with(resource))
}

#[cfg(test)]
mod tests {
    use super::super::expression::{LintContext, Role, lint};
    use super::super::knobs::{MATCH, MATCH_VALUE};
    use classmate::internal::diagnostic::Severity;
    use classmate::internal::syntax::token::Quoting;

    fn is_found(text: &str, role: Role) -> bool {
        lint(&LintContext::of(text.as_bytes(), Quoting::Old, role)).iter().any(|one| one.code == "precedence")
    }

    #[test]
    fn a_clause_beside_alternatives_counts_for_one() {
        for text in [
            r#"Machine == "a" || Machine == "b" && Cpus > 4"#,
            r#"Cpus > 4 && Machine == "a" || Machine == "b""#,
            r#"(Machine == "a") || (Machine == "b") && Cpus > 4"#,
        ] {
            assert!(is_found(text, MATCH), "{text}");
        }
        for text in [
            r#"(Machine == "a" || Machine == "b") && Cpus > 4"#,
            r#"Machine == "a" || (Machine == "b" && Cpus > 4)"#,
            r#"Machine == "a" && Memory > 5 || Machine == "b" && Cpus > 4"#,
            r#"Machine == "a" || Arch == "b" && Cpus > 4"#,
            r#"Machine == "a" || Cpus > 4 && Machine == "b""#,
            r#"Machine == "a" || Machine == "b" && Cpus > 4 || Machine == "c""#,
        ] {
            assert!(!is_found(text, MATCH), "{text}");
        }
    }

    #[test]
    fn a_clause_beside_alternatives_is_a_warning_at_both_ends() {
        let severity = |text: &str| {
            let found = lint(&LintContext::of(text.as_bytes(), Quoting::Old, MATCH));
            found.iter().find(|one| one.code == "precedence").map(|one| one.severity)
        };
        assert_eq!(severity(r#"Machine == "a" || Machine == "b" && Cpus > 4"#), Some(Severity::Warning));
        assert_eq!(severity(r#"Cpus > 4 && Machine == "a" || Machine == "b""#), Some(Severity::Warning));
    }

    #[test]
    fn a_sum_after_a_comparison_is_compared() {
        assert!(is_found("TARGET.Memory >= 64000 + TARGET.KFlops / 1000", MATCH_VALUE));
        for text in [
            "(Memory >= 64000) + KFlops",
            "Memory >= (64000 + KFlops)",
            "Memory >= RequestMemory + 100",
            "TARGET.Memory >= 1024 + RequestMemory",
            "TARGET.Memory >= 1024 + TARGET.TotalMemory / 2",
        ] {
            assert!(!is_found(text, MATCH_VALUE), "{text}");
        }
        assert!(!is_found("TARGET.Memory >= 64000 + TARGET.KFlops / 1000", MATCH));
    }
}
