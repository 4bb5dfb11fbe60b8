//! Conditions on attributes that may be missing.

use super::attributes::{PresenceCondition, is_always_present, presence_conditions};
use super::expression::{LintContext, written};
use super::scope::Seen;
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::facts::Facts;
use classmate::internal::analysis::values::{Truths, Values, kind};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{Diagnostic, Expr, Name};

/// Clauses that are looked at.
const MAX_CLAUSES: usize = 200;

/// Functions that ask something of a text, and have no answer where there is none.
const ASKING: [&[u8]; 3] = [b"regexp", b"member", b"regexpmember"];

/// Clauses that say "unless": where their attribute is missing, the whole condition is never true; and `=!= true`,
/// which is true then.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let tree = expr.tree();
    let analysis = Analysis::new(tree, &unknown);
    let whole = analysis.truths(expr.root());
    let mut seen: Vec<Reference> = Vec::new();
    for clause in joined(&[BinaryOp::And, BinaryOp::Or], tree, expr.root()) {
        let Some(place) = tree.span(clause) else { continue };
        let shown = written(context.text, place);
        let is_optional = |reference: &Reference| {
            let name = reference.name;
            let is_own = reference.scope == RefScope::Either && (context.defined)(name);
            !is_own && !is_there(context, name) && reference.scope != RefScope::My
        };
        let asked = unless(tree, clause, context.text).or_else(|| no_request(context, tree, clause));
        let (references, help) = match asked {
            Some((reference, help)) => (vec![reference], help),
            None => none_of(tree, clause, context.text).unwrap_or_default(),
        };
        if let Some(&reference) = references.iter().find(|one| is_optional(one)) {
            let name = reference.name;
            if seen.contains(&reference) {
                continue;
            }
            let mut facts = Facts::default();
            facts.set(reference, Values::of_kinds(kind::UNDEFINED));
            let truths = analysis.values_where(expr.root(), &facts).truths();
            // Another clause may refuse what has no such attribute: on purpose, or because it asks for its value.
            let meant =
                joined(&[BinaryOp::And], tree, expr.root()).into_iter().filter(|other| *other != clause).any(|other| {
                    let truths = analysis.values_where(other, &facts).truths();
                    truths.within(Truths::FALSE.or(Truths::ERROR))
                        || !truths.has(Truths::TRUE) && unless(tree, other, context.text).is_none()
                });
            if comes_along(&analysis, expr.root(), reference) {
                continue;
            }
            if whole.has(Truths::TRUE) && !truths.has(Truths::TRUE) && !meant {
                seen.push(reference);
                let fails = analysis.values_where(clause, &facts).truths() == Truths::ERROR;
                let what = if fails { "ERROR" } else { "UNDEFINED" };
                let finding = Diagnostic::warning(
                    format!("where `{name}` is missing, `{shown}` is {what}, so the condition fails"),
                    place,
                );
                found.push(finding.help(help).code("undefined-means-no"));
            }
        }
        if let Some(condition) = flipped(tree, clause)
            && let Some(names) = lets_in(context, &analysis, (expr.root(), clause, condition))
        {
            let (what, is) = if names.len() == 1 { ("is", "") } else { ("are", "all ") };
            let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("where {is}{} {what} missing, `{shown}` is true", listed.join(", "));
            let help = "`=!= true` is also true for UNDEFINED; write `!(…)` to reject missing attributes";
            found.push(Diagnostic::warning(message, place).help(help).code("true-when-undefined"));
        }
    }
}

/// Returns true if an attribute is there whenever the expression is asked.
pub(super) fn is_there(context: &LintContext<'_>, name: Name) -> bool {
    let folded = name.folded();
    let everywhere = context.schema.is_some_and(|schema| schema.is_everywhere(name));
    everywhere || is_always_present(folded) || context.role.there.iter().any(|known| known.as_bytes() == folded)
}

/// Returns true if an attribute is there wherever the whole condition is true, for another attribute says so:
/// `HoldReasonCode` is there while `JobStatus` is 5.
pub(super) fn comes_along(analysis: &Analysis<'_>, root: NodeId, reference: Reference) -> bool {
    let Some(facts) = analysis.where_it_is(root, Truths::TRUE, &Facts::default()) else { return false };
    presence_conditions(reference.name.folded()).any(|(attribute, condition)| {
        [RefScope::Either, RefScope::My, RefScope::Target].into_iter().any(|scope| {
            let known = facts.get(Reference { scope, name: Name::new(attribute.as_bytes()) });
            known.is_some_and(|known| says(known, condition))
        })
    })
}

/// The values of other attributes where an attribute is missing: none of the conditions under which it exists holds.
pub(super) fn where_missing(tree: &Tree, reference: Reference) -> Facts {
    let mut facts = Facts::default();
    for (attribute, condition) in presence_conditions(reference.name.folded()) {
        let values = match condition {
            PresenceCondition::True => Truths::FALSE.values(),
            PresenceCondition::False => Truths::TRUE.values(),
            PresenceCondition::Defined => Values::of_kinds(kind::UNDEFINED),
            PresenceCondition::Is(_) => continue,
        };
        for other in tree.nodes.iter().enumerate().filter_map(|(id, _)| tree.reference(id as NodeId)) {
            if other.name == Name::new(attribute.as_bytes()) {
                facts.set(other, values.clone());
            }
        }
    }
    facts
}

/// Returns true if a condition holds for all values of an attribute.
fn says(known: &Values, condition: PresenceCondition) -> bool {
    match condition {
        PresenceCondition::Is(number) => {
            let (integer, real) = (i64::from(number), f64::from(number));
            // `== 5` leaves the integer and the real.
            known.has_number()
                && known.kinds == 0
                && !known.has_text()
                && known.ints.is_none_or(|range| range == (integer, integer))
                && known.reals.is_none_or(|range| range == (real, real))
        }
        PresenceCondition::True => known.truths() == Truths::TRUE,
        PresenceCondition::False => known.truths() == Truths::FALSE,
        PresenceCondition::Defined => !known.is_empty() && !known.has(kind::UNDEFINED),
    }
}

/// The attributes without which the condition in `(condition) =!= true` is certainly undefined, so that the clause
/// holds and `!(condition)` would not: one alone, otherwise all together. Nothing where the whole expression refuses
/// then.
fn lets_in(
    context: &LintContext<'_>,
    analysis: &Analysis<'_>,
    (root, clause, condition): (NodeId, NodeId, NodeId),
) -> Option<Vec<Name>> {
    let mut optional: Vec<Reference> = references(analysis.tree(), condition);
    optional.retain(|reference| {
        let name = reference.name;
        !is_there(context, name) && !(context.defined)(name)
    });
    let missing = |references: &[Reference]| {
        let mut facts = Facts::default();
        for reference in references {
            facts.set(*reference, Values::of_kinds(kind::UNDEFINED));
        }
        let truths = |id: NodeId| analysis.values_where(id, &facts).truths();
        truths(condition) == Truths::UNDEFINED && truths(clause) == Truths::TRUE && truths(root).has(Truths::TRUE)
    };
    let alone = optional.iter().find(|reference| missing(&[**reference]));
    let found = alone.map(|one| vec![one.name]).or_else(|| {
        let names = optional.iter().map(|reference| reference.name).collect();
        (optional.len() > 1 && missing(&optional)).then_some(names)
    });
    found.map(|mut names: Vec<Name>| {
        names.dedup();
        names
    })
}

/// The operands of a chain of these operators.
fn joined(ops: &[BinaryOp], tree: &Tree, root: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(id) = open.pop().filter(|_| found.len() < MAX_CLAUSES) {
        match *tree.node(id) {
            Node::Paren(inner) => open.push(inner),
            Node::Binary(op, left, right) if ops.contains(&op) => open.extend([right, left]),
            _ => found.push(id),
        }
    }
    found
}

/// `!(RequestGPUs > 0)` in the policy of a slot, and `RequestGPUs <= 2` in one of the access point too: most jobs have no request of a
/// resource that not all slots have.
fn no_request(context: &LintContext<'_>, tree: &Tree, clause: NodeId) -> Option<(Reference, String)> {
    let is_request =
        |reference: &Reference| reference.name.folded().starts_with(b"request") && !(context.given)(reference.name);
    let is_of_slot = context.role.mine == Seen::Slot;
    if let Node::Binary(op, left, right) = *tree.node(clause) {
        let (small, large) = match op {
            BinaryOp::Less | BinaryOp::LessEqual => (left, right),
            BinaryOp::Greater | BinaryOp::GreaterEqual => (right, left),
            _ => return None,
        };
        let reference = tree.reference(tree.bare(small)).filter(is_request)?;
        let Node::Literal(Literal::Int(_) | Literal::Real(_)) = tree.node(tree.bare(large)) else { return None };
        let (name, whole) = (written(context.text, tree.span(small)?), written(context.text, tree.span(clause)?));
        let help = format!("write `{}` if it may be missing", whole.replacen(&name, &format!("({name} ?: 0)"), 1));
        let asks = is_of_slot || context.role.mine == Seen::Scheduler && context.role.other == Seen::Job;
        return asks.then_some((reference, help));
    }
    let Node::Unary(UnaryOp::Not, operand) = *tree.node(clause) else { return None };
    let operand = tree.bare(operand);
    let View::Compare { .. } = tree.view(operand) else { return None };
    let &[reference] = references(tree, operand).as_slice() else { return None };
    let shown = word_in_parentheses(tree, operand, context.text)?;
    (is_of_slot && is_request(&reference))
        .then(|| (reference, format!("write `{shown} =!= true` if it may be missing")))
}

/// `x != 1`, `!x`, `x == false`: the reference, and what to write.
pub(super) fn unless(tree: &Tree, clause: NodeId, text: &[u8]) -> Option<(Reference, String)> {
    let word = |id: NodeId| Some(written(text, tree.span(id)?));
    match *tree.node(clause) {
        Node::Unary(UnaryOp::Not, operand) => {
            let operand = tree.bare(operand);
            let help = format!("write `{} =!= true` if it may be missing", word_in_parentheses(tree, operand, text)?);
            if let Some(reference) = tree.reference(operand) {
                return Some((reference, help));
            }
            let asks = match tree.view(operand) {
                View::Compare { op, .. } => matches!(op, BinaryOp::Equal | BinaryOp::NotEqual),
                View::Call { name, .. } => ASKING.contains(&name.folded()),
                _ => false,
            };
            // It is not known which of several is missing.
            let &[reference] = references(tree, operand).as_slice() else { return None };
            asks.then_some((reference, help))
        }
        Node::Binary(op @ (BinaryOp::NotEqual | BinaryOp::Equal), left, right) => {
            let (reference, of, literal) = match (tree.reference(left), tree.reference(right)) {
                (Some(reference), None) => (reference, left, right),
                (None, Some(reference)) => (reference, right, left),
                _ => return None,
            };
            let Node::Literal(value) = tree.node(tree.bare(literal)) else { return None };
            let (name, value_text) = (word(of)?, word(literal)?);
            let test = match (op, value) {
                (BinaryOp::Equal, Literal::Bool(false)) => format!("{name} =!= true"),
                (BinaryOp::Equal, _) | (_, Literal::Undefined | Literal::Error) => return None,
                _ if value_text.starts_with('"') => format!("({name} ?: \"\") != {value_text}"),
                _ => format!("{name} =!= {value_text}"),
            };
            Some((reference, format!("write `{test}` if it may be missing")))
        }
        _ => None,
    }
}

/// `!(x || y == 1)`: the references, of which each is enough, and what to write.
fn none_of(tree: &Tree, clause: NodeId, text: &[u8]) -> Option<(Vec<Reference>, String)> {
    let Node::Unary(UnaryOp::Not, operand) = *tree.node(clause) else { return None };
    let operand = tree.bare(operand);
    let Node::Binary(BinaryOp::Or, ..) = *tree.node(operand) else { return None };
    let asked = |part: NodeId| {
        let part = tree.bare(part);
        let asks = match tree.view(part) {
            View::Compare { op, .. } => op == BinaryOp::Equal,
            View::Call { name, .. } => ASKING.contains(&name.folded()),
            _ => tree.reference(part).is_some(),
        };
        let references = references(tree, part);
        // Of several, it is not known which one is missing.
        (asks && references.len() == 1).then(|| references[0])
    };
    let parts = joined(&[BinaryOp::Or], tree, operand);
    let all: Option<Vec<Reference>> = parts.iter().map(|part| asked(*part)).collect();
    let each = |part: &NodeId| Some(format!("{} =!= true", word_in_parentheses(tree, tree.bare(*part), text)?));
    let each: Option<Vec<String>> = parts.iter().map(each).collect();
    Some((all?, format!("write `{}` if it may be missing", each?.join(" && "))))
}

/// The text of a part, in parentheses if it is made of others.
fn word_in_parentheses(tree: &Tree, id: NodeId, text: &[u8]) -> Option<String> {
    let word = written(text, tree.span(id)?);
    Some(if matches!(tree.node(id), Node::Binary(..)) { format!("({word})") } else { word })
}

/// The condition in `(condition) =!= true`, unless it is a plain reference.
fn flipped(tree: &Tree, clause: NodeId) -> Option<NodeId> {
    let Node::Binary(BinaryOp::Isnt, left, right) = *tree.node(clause) else { return None };
    let is_true = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Bool(true)));
    let condition = match (is_true(left), is_true(right)) {
        (false, true) => tree.bare(left),
        (true, false) => tree.bare(right),
        _ => return None,
    };
    matches!(tree.view(condition), View::Logic { .. } | View::Compare { .. } | View::Not(_)).then_some(condition)
}

/// The attributes that a part refers to, each once.
fn references(tree: &Tree, id: NodeId) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for reference in tree.references(id) {
        if !found.contains(&reference) && found.len() < 16 {
            found.push(reference);
        }
    }
    found
}
