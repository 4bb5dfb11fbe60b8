//! Clauses of one condition that are never true together, because an attribute exists only while another one has some values, or
//! because HTCondor never gives two attributes these values at once.
//!
//! In: an expression. Out: findings of the rule `contradiction`.

use super::attributes::{exists_only, fact};
use super::expression::{LintContext, written};
use super::unknowns;
use classmate::internal::analysis::compare::narrowed;
use classmate::internal::analysis::evaluate::{Analysis, unknown};
use classmate::internal::analysis::values::{Truths, Values};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, Expr, Name};

/// The activities of a slot in each of its states, lower case (the manual's chapter on states and activities, `ResState.cpp`).
const ACTIVITIES: [(&str, &[&str]); 7] = [
    ("owner", &["idle"]),
    ("unclaimed", &["idle", "benchmarking"]),
    ("matched", &["idle"]),
    ("claimed", &["idle", "busy", "suspended", "retiring", "cleaning"]),
    ("preempting", &["vacating", "killing"]),
    ("backfill", &["idle", "busy", "killing"]),
    ("drained", &["idle", "retiring"]),
];

/// Attributes with values that they do not have at once, lower case (`Resource.cpp`).
pub(super) const APART: [[(&str, &str); 2]; 7] = [
    [("partitionableslot", "true"), ("dynamicslot", "true")],
    [("slottype", "partitionable"), ("dynamicslot", "true")],
    [("slottype", "dynamic"), ("partitionableslot", "true")],
    [("slottype", "partitionable"), ("partitionableslot", "false")],
    [("slottype", "dynamic"), ("dynamicslot", "false")],
    [("slottype", "static"), ("partitionableslot", "true")],
    [("slottype", "static"), ("dynamicslot", "true")],
];

/// A clause that compares an attribute with a constant.
struct ComparedClause {
    at: NodeId,
    scope: RefScope,
    name: Name,
    /// The only value with which the clause is true, as text in lower case.
    value: Option<String>,
}

/// Clauses of one chain that are looked at.
const MAX_CLAUSES: usize = 64;

/// The findings about clauses that exclude each other.
pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let tree = expr.tree();
    let mut open = vec![expr.root()];
    while let Some(id) = open.pop() {
        match *tree.node(tree.bare(id)) {
            Node::Binary(BinaryOp::And, _, _) => {
                let leaves = leaves(tree, tree.bare(id));
                let clauses: Vec<ComparedClause> =
                    leaves.iter().filter_map(|leaf| clause(tree, *leaf)).take(MAX_CLAUSES).collect();
                found.extend(excluded(context, tree, &clauses).or_else(|| apart(context, expr, &leaves)));
                open.extend(leaves);
            }
            Node::Binary(BinaryOp::Or, left, right) => open.extend([left, right]),
            _ => {}
        }
    }
}

/// The clauses of a chain of `&&`.
fn leaves(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    let (mut open, mut found) = (vec![id], Vec::new());
    while let Some(id) = open.pop() {
        match *tree.node(tree.bare(id)) {
            Node::Binary(BinaryOp::And, left, right) => open.extend([right, left]),
            _ => found.push(id),
        }
    }
    found
}

fn clause(tree: &Tree, id: NodeId) -> Option<ComparedClause> {
    let at = tree.bare(id);
    let of = |side: NodeId, value: Option<String>| {
        let reference = tree.reference(tree.bare(side))?;
        Some(ComparedClause { at, scope: reference.scope, name: reference.name, value })
    };
    match *tree.node(at) {
        Node::Unary(UnaryOp::Not, side) => of(side, Some("false".to_owned())),
        Node::Binary(op, left, right) if op.precedence() == 6 || is_order(op) => {
            let (side, constant) = match (constant(tree, right), constant(tree, left)) {
                (Some(constant), _) => (left, constant),
                (None, Some(constant)) => (right, constant),
                (None, None) => return None,
            };
            match op {
                // Another rule says what a missing attribute does to these.
                BinaryOp::NotEqual | BinaryOp::Isnt => None,
                BinaryOp::Equal | BinaryOp::Is => of(side, Some(constant)),
                _ => of(side, None),
            }
        }
        _ => of(at, Some("true".to_owned())),
    }
}

fn is_order(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

/// A constant that is not UNDEFINED, as text in lower case.
fn constant(tree: &Tree, id: NodeId) -> Option<String> {
    match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Int(number)) => Some(number.to_string()),
        Node::Literal(Literal::Bool(truth)) => Some(truth.to_string()),
        Node::Literal(Literal::Str(text)) => Some(String::from_utf8_lossy(text).to_ascii_lowercase()),
        _ => None,
    }
}

/// The first two clauses that exclude each other.
fn excluded(context: &LintContext<'_>, tree: &Tree, clauses: &[ComparedClause]) -> Option<Diagnostic> {
    let pairs = clauses.iter().enumerate().flat_map(|(at, one)| clauses[..at].iter().map(move |other| (other, one)));
    let mut pairs = pairs.filter(|(first, second)| first.scope == second.scope && first.name != second.name);
    pairs.find_map(|(first, second)| {
        let why = reason(first, second).or_else(|| reason(second, first)).or_else(|| never_both(first, second))?;
        let (span, other) = (tree.span(second.at)?, tree.span(first.at)?);
        let shown = (written(context.text, span), written(context.text, other));
        let found = Diagnostic::warning(format!("`{}` contradicts `{}`: {why}", shown.0, shown.1), span);
        Some(found.related(other, "conflicts with this").help("remove one of the two clauses").code("contradiction"))
    })
}

/// A clause that compares something computed from attributes, `time() - QDate`, with a constant.
struct ComputedClause {
    at: NodeId,
    /// The text of the computed part.
    of: String,
    /// Its values with which the clause is true.
    values: Values,
}

fn computed_clause(expr: &Expr, analysis: &Analysis<'_>, leaf: NodeId) -> Option<ComputedClause> {
    let (tree, at) = (expr.tree(), expr.tree().bare(leaf));
    let Node::Binary(op, left, right) = *tree.node(at) else { return None };
    let (op, side, constant) = match (tree.is_constant(left), tree.is_constant(right)) {
        (false, true) => (op, left, right),
        (true, false) => (op.turned(), right, left),
        _ => return None,
    };
    let side = tree.bare(side);
    // Comparisons of attributes are claims about clauses. A random number is another one each time.
    let varies = |id: NodeId| match tree.node(id) {
        Node::Call(call) => matches!(tree.calls[*call as usize].name.folded(), b"random" | b"eval"),
        _ => false,
    };
    let is_computed = matches!(tree.node(side), Node::Binary(..) | Node::Call(_));
    if !(is_order(op) || op == BinaryOp::Equal) || !is_computed || (tree.first_of(side)..=side).any(varies) {
        return None;
    }
    let values = narrowed(op, &Values::any(), &analysis.values(constant), Truths::TRUE);
    let of = expr.part(side).to_string();
    // Two macros that are not known may have one name here.
    let is_known = !values.is_empty() && unknowns::marked(of.as_bytes()).is_none();
    is_known.then_some(ComputedClause { at, of, values })
}

/// The first two clauses that compare the same computed value with constants, and are never both true.
fn apart(context: &LintContext<'_>, expr: &Expr, leaves: &[NodeId]) -> Option<Diagnostic> {
    let (tree, analysis) = (expr.tree(), Analysis::new(expr.tree(), &unknown));
    let computed = leaves.iter().filter_map(|leaf| computed_clause(expr, &analysis, *leaf));
    let clauses: Vec<ComputedClause> = computed.take(MAX_CLAUSES).collect();
    let pairs = clauses.iter().enumerate().flat_map(|(at, one)| clauses[..at].iter().map(move |other| (other, one)));
    let mut pairs = pairs.filter(|(first, second)| first.of == second.of);
    let (first, second) = pairs.find(|(first, second)| first.values.intersection(&second.values).is_empty())?;
    let (span, other) = (tree.span(second.at)?, tree.span(first.at)?);
    let shown = (written(context.text, span), written(context.text, other));
    let found = Diagnostic::warning(format!("`{}` contradicts `{}`", shown.0, shown.1), span);
    let found = found.related(other, "conflicts with this").help("the condition can never be true");
    Some(found.code("contradiction"))
}

/// The reason for which the second clause is never true where the first one is.
fn reason(first: &ComparedClause, second: &ComparedClause) -> Option<String> {
    let value = first.value.as_deref()?;
    let is = |name: Name, known: &str| name.folded() == known.as_bytes();
    if let Some((name, values)) = exists_only(second.name.folded())
        && is(first.name, &name.to_ascii_lowercase())
        && !values.iter().any(|known| known.eq_ignore_ascii_case(value))
    {
        let other = fact(second.name.folded()).map_or_else(|| second.name.to_string(), |fact| fact.name.to_owned());
        return Some(format!("`{other}` exists only while `{name}` is {}", values.join(" or ")));
    }
    let own = second.value.as_deref()?;
    let why =
        if is(second.name, "activity") { "a slot in this state never has this activity" } else { "no slot is both" };
    are_apart((first.name, value), (second.name, own)).then(|| why.to_owned())
}

/// The reason for which two attributes never exist at once: each does while a third one has other values.
fn never_both(first: &ComparedClause, second: &ComparedClause) -> Option<String> {
    let (name, values) = exists_only(first.name.folded())?;
    let (other, others) = exists_only(second.name.folded())?;
    let is_apart = name == other && !values.iter().any(|value| others.contains(value));
    is_apart.then(|| {
        format!("one exists while `{name}` is {}, the other while it is {}", values.join(" or "), others.join(" or "))
    })
}

/// The activities of a slot in a state, lower case.
pub(super) fn activities(state: &str) -> Option<&'static [&'static str]> {
    ACTIVITIES.iter().find(|(known, _)| *known == state).map(|(_, all)| *all)
}

/// Tests whether no slot has two attributes with these values, lower case; of a state and an activity, the state comes first.
pub(super) fn are_apart((first, value): (Name, &str), (second, own): (Name, &str)) -> bool {
    let is = |name: Name, known: &str| name.folded() == known.as_bytes();
    if is(first, "state") && is(second, "activity") {
        return activities(value).is_some_and(|all| !all.contains(&own));
    }
    APART.iter().any(|[one, two]| is(first, one.0) && value == one.1 && is(second, two.0) && own == two.1)
}
