//! Single changes of a job: what is written, and what a condition wants written.

use crate::ad::ClassAd;
use crate::explain::clauses::bare;
use crate::explain::suggestion::{Change, Changed};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::value::Value;

/// Where a value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    AtMost,
    Exactly,
    AtLeast,
}

/// One thing to change in the job.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Attribute(Name, Bound, Literal),
    /// A node in the expression of an attribute.
    Constant(Name, Expr, NodeId, Bound, Literal),
    Condition(Name, Expr, NodeId),
}

impl Edit {
    pub(super) fn key(&self) -> String {
        match self {
            Edit::Attribute(name, ..) => format!("a {}", name.display().to_ascii_lowercase()),
            Edit::Constant(holder, _, id, ..) => format!("b {} {id}", holder.display().to_ascii_lowercase()),
            Edit::Condition(holder, _, id) => format!("c {} {id}", holder.display().to_ascii_lowercase()),
        }
    }

    /// Whether another one writes at the same place.
    pub(super) fn is_of_the_place_of(&self, other: &Edit) -> bool {
        match (self, other) {
            (Edit::Attribute(a, ..), Edit::Attribute(b, ..)) => a == b,
            (Edit::Constant(a, _, one, ..), Edit::Constant(b, _, two, ..))
            | (Edit::Condition(a, _, one), Edit::Condition(b, _, two)) => a == b && one == two,
            _ => false,
        }
    }

    /// The attribute in which something is written.
    pub(super) fn name(&self) -> Name {
        match self {
            Edit::Attribute(name, ..) | Edit::Constant(name, ..) | Edit::Condition(name, ..) => *name,
        }
    }

    pub(super) fn of(&self) -> Changed {
        match self {
            Edit::Attribute(..) => Changed::Job,
            Edit::Constant(..) => Changed::Constant,
            Edit::Condition(..) => Changed::Condition,
        }
    }

    pub(super) fn value(&self) -> Option<(&Literal, Bound)> {
        match self {
            Edit::Attribute(_, bound, value) | Edit::Constant(_, _, _, bound, value) => Some((value, *bound)),
            Edit::Condition(..) => None,
        }
    }

    pub(super) fn change(&self, job: &ClassAd) -> Change {
        match self {
            Edit::Attribute(name, _, value) => Change {
                of: Changed::Job,
                attribute: name.to_string(),
                before: job.get(*name).map_or_else(|| "undefined".to_owned(), |expr| expr.to_string()),
                after: Expr::literal(value.clone()).to_string(),
            },
            Edit::Constant(holder, expr, id, _, value) => Change {
                of: Changed::Constant,
                attribute: holder.to_string(),
                before: expr.to_string(),
                after: expr.with_literal(*id, value.clone()).to_string(),
            },
            Edit::Condition(holder, expr, _) => Change {
                of: Changed::Condition,
                attribute: holder.to_string(),
                before: expr.to_string(),
                after: "true".to_owned(),
            },
        }
    }
}

/// A number of a literal.
pub(super) fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Real(value) => Some(*value),
        _ => None,
    }
}

/// The job with changes made.
pub(super) fn changed(job: &ClassAd, edits: &[Edit]) -> ClassAd {
    let mut job = job.clone();
    // Later nodes first: what is replaced moves only what stands behind it.
    let mut inside: Vec<(Name, NodeId, Literal)> = Vec::new();
    for edit in edits {
        match edit {
            Edit::Attribute(name, _, value) => job.insert_expr(*name, &Expr::literal(value.clone())),
            Edit::Constant(holder, _, id, _, value) => inside.push((*holder, *id, value.clone())),
            Edit::Condition(holder, _, id) => inside.push((*holder, *id, Literal::Bool(true))),
        }
    }
    inside.sort_by_key(|(_, id, _)| std::cmp::Reverse(*id));
    for (holder, id, value) in inside {
        if let Some(expr) = job.get(holder).filter(|expr| expr.root() >= id) {
            job.insert_expr(holder, &expr.with_literal(id, value));
        }
    }
    job
}

/// The bound on the left side of a comparison.
pub(super) fn bound(op: BinaryOp, handle_is_left: bool) -> Option<(Bound, i64)> {
    let (bound, off) = match op {
        BinaryOp::LessEqual => (Bound::AtMost, 0),
        BinaryOp::Less => (Bound::AtMost, -1),
        BinaryOp::GreaterEqual => (Bound::AtLeast, 0),
        BinaryOp::Greater => (Bound::AtLeast, 1),
        BinaryOp::Equal | BinaryOp::Is => return Some((Bound::Exactly, 0)),
        _ => return None,
    };
    Some(match (handle_is_left, bound) {
        (true, bound) => (bound, off),
        (false, Bound::AtMost) => (Bound::AtLeast, -off),
        (false, _) => (Bound::AtMost, -off),
    })
}

/// A value that satisfies a bound as a constant.
pub(super) fn constant(value: &Value, off: i64) -> Option<Literal> {
    match value {
        Value::Int(value) => value.checked_add(off).map(Literal::Int),
        Value::Real(value) if off == 0 && value.is_finite() => Some(Literal::Real(*value)),
        Value::Real(value) if value.is_finite() => Some(Literal::Real(value + off as f64)),
        Value::Str(text) if off == 0 => Some(Literal::Str(text.clone())),
        Value::Bool(value) if off == 0 => Some(Literal::Bool(*value)),
        _ => None,
    }
}

/// The parts of a chain of `||`.
pub(super) fn options(expr: &Expr) -> Vec<Expr> {
    let (mut waiting, mut found) = (vec![expr.root()], Vec::new());
    while let Some(id) = waiting.pop() {
        match *expr.tree().node(bare(expr.tree(), id)) {
            Node::Binary(BinaryOp::Or, left, right) => waiting.extend([right, left]),
            _ => found.push(expr.part(id)),
        }
    }
    found
}
