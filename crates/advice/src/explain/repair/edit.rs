//! Single changes of a job: what is written, and what a condition wants written.

use crate::explain::repair::suggestion::{Change, Changed};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::conditions::leaf_count;
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::{Expr, Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::value::Value;

/// The bound that a value has to satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bound {
    /// Whatever it is, as long as it is there.
    Any,
    AtMost,
    Exactly,
    AtLeast,
}

/// One thing to change in the job.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Attribute(Name, Bound, Literal),
    /// A node in the expression of an attribute.
    Constant(Name, Expr, NodeId, Bound, Literal),
    Condition(Name, Expr, NodeId),
    /// Something else in place of a node in the expression of an attribute: what was meant, or a longer list.
    Part(Changed, Name, Expr, NodeId, Expr),
    /// An attribute that becomes a list.
    List(Name, Expr),
}

impl Edit {
    pub(crate) fn key(&self) -> String {
        match self {
            Edit::Attribute(name, ..) | Edit::List(name, _) => format!("a {}", name.display().to_ascii_lowercase()),
            Edit::Constant(holder, _, id, ..) => format!("b {} {id}", holder.display().to_ascii_lowercase()),
            Edit::Condition(holder, _, id) => format!("c {} {id}", holder.display().to_ascii_lowercase()),
            Edit::Part(_, holder, _, id, _) => format!("d {} {id}", holder.display().to_ascii_lowercase()),
        }
    }

    /// Tests if another edit writes at the same place.
    pub(crate) fn is_of_the_place_of(&self, other: &Edit) -> bool {
        match (self, other) {
            (Edit::Attribute(a, ..), Edit::Attribute(b, ..)) => a == b,
            (Edit::Constant(a, _, one, ..), Edit::Constant(b, _, two, ..))
            | (Edit::Condition(a, _, one), Edit::Condition(b, _, two))
            | (Edit::Part(_, a, _, one, _), Edit::Part(_, b, _, two, _)) => a == b && one == two,
            _ => false,
        }
    }

    /// The attribute in which something is written.
    pub(crate) fn name(&self) -> Name {
        match self {
            Edit::Attribute(name, ..)
            | Edit::Constant(name, ..)
            | Edit::Condition(name, ..)
            | Edit::Part(_, name, ..)
            | Edit::List(name, _) => *name,
        }
    }

    pub(crate) fn of(&self) -> Changed {
        match self {
            Edit::Attribute(..) | Edit::List(..) => Changed::Job,
            Edit::Constant(..) => Changed::Constant,
            Edit::Condition(..) => Changed::Condition,
            Edit::Part(of, ..) => *of,
        }
    }

    pub(crate) fn value(&self) -> Option<(&Literal, Bound)> {
        match self {
            Edit::Attribute(_, bound, value) | Edit::Constant(_, _, _, bound, value) => Some((value, *bound)),
            Edit::Condition(..) | Edit::Part(..) | Edit::List(..) => None,
        }
    }

    /// The distance of the new number from the present one; 0 if one of them is not a number.
    pub(crate) fn shift(&self, job: &ClassAd) -> f64 {
        let (there, value) = match self {
            Edit::Attribute(name, _, value) => {
                (job.get(*name).and_then(|expr| expr.as_literal().and_then(number)), value)
            }
            Edit::Constant(_, expr, id, _, value) => match expr.tree().node(*id) {
                Node::Literal(there) => (number(there), value),
                _ => return 0.0,
            },
            _ => return 0.0,
        };
        there.zip(number(value)).map_or(0.0, |(there, value)| (value - there).abs())
    }

    /// The size of the change: removing a condition counts as many as the conditions that it consists of.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Edit::Condition(_, expr, id) => leaf_count(expr.tree(), *id),
            _ => 1,
        }
    }

    /// The text that is written, which distinguishes edits of one place.
    pub(crate) fn written(&self) -> String {
        match self {
            Edit::Attribute(_, _, value) | Edit::Constant(_, _, _, _, value) => {
                Expr::literal(value.clone()).to_string()
            }
            Edit::Part(.., other) | Edit::List(_, other) => other.to_string(),
            Edit::Condition(..) => String::new(),
        }
    }

    /// The text that becomes another one.
    pub(crate) fn texts<'e>(&'e self, job: &ClassAd) -> Option<(Vec<u8>, &'e [u8])> {
        let text = |literal: &Literal| match literal {
            Literal::Str(text) => Some(text.to_vec()),
            _ => None,
        };
        let (old, new) = match self {
            Edit::Attribute(name, _, Literal::Str(new)) => (job.get(*name)?.as_literal().and_then(text)?, new),
            Edit::Constant(_, expr, id, _, Literal::Str(new)) => match expr.tree().node(*id) {
                Node::Literal(old) => (text(old)?, new),
                _ => return None,
            },
            _ => return None,
        };
        Some((old, &**new))
    }

    pub(crate) fn change(&self, job: &ClassAd) -> Change {
        let attribute = |name: &Name, after: String| Change {
            of: Changed::Job,
            attribute: name.to_string(),
            before: job.get(*name).map_or_else(|| "undefined".to_owned(), |expr| expr.to_string()),
            after,
        };
        match self {
            Edit::Attribute(name, _, value) => attribute(name, Expr::literal(value.clone()).to_string()),
            Edit::List(name, list) => attribute(name, list.to_string()),
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
            Edit::Part(of, holder, expr, id, other) => Change {
                of: *of,
                attribute: holder.to_string(),
                before: expr.to_string(),
                after: expr.with_part(*id, other).to_string(),
            },
        }
    }
}

/// A number of a literal.
pub(crate) fn number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Real(value) => Some(*value),
        _ => None,
    }
}

/// The job with changes made.
pub(crate) fn changed(job: &ClassAd, edits: &[Edit]) -> ClassAd {
    let mut job = job.clone();
    // Later nodes first: a replacement moves only the nodes after it.
    let mut inside: Vec<(Name, NodeId, Expr)> = Vec::new();
    for edit in edits {
        match edit {
            Edit::Attribute(name, _, value) => job.insert_expr(*name, &Expr::literal(value.clone())),
            Edit::Constant(holder, _, id, _, value) => inside.push((*holder, *id, Expr::literal(value.clone()))),
            Edit::Condition(holder, _, id) => inside.push((*holder, *id, Expr::literal(Literal::Bool(true)))),
            Edit::Part(_, holder, _, id, other) => inside.push((*holder, *id, other.clone())),
            Edit::List(name, list) => job.insert_expr(*name, list),
        }
    }
    inside.sort_by_key(|(_, id, _)| std::cmp::Reverse(*id));
    for (holder, id, value) in inside {
        if let Some(expr) = job.get(holder).filter(|expr| expr.root() >= id) {
            job.insert_expr(holder, &expr.with_part(id, &value));
        }
    }
    job
}

/// The bound on the left side of a comparison.
pub(crate) fn bound(op: BinaryOp, handle_is_left: bool) -> Option<(Bound, i64)> {
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
pub(crate) fn constant(value: &Value, off: i64) -> Option<Literal> {
    match value {
        Value::Int(value) => value.checked_add(off).map(Literal::Int),
        Value::Real(value) if off == 0 && value.is_finite() => Some(Literal::Real(*value)),
        Value::Real(value) if value.is_finite() => Some(Literal::Real(value + off as f64)),
        Value::Str(text) if off == 0 => Some(Literal::Str(text.clone())),
        Value::Bool(value) if off == 0 => Some(Literal::Bool(*value)),
        _ => None,
    }
}

/// The parts of a chain of `||`, and the branches of `?:`.
pub(crate) fn options(expr: &Expr) -> Vec<Expr> {
    let tree = expr.tree();
    let (mut waiting, mut found) = (vec![expr.root()], Vec::new());
    while let Some(id) = waiting.pop() {
        let bare = tree.bare(id);
        if let Node::Binary(BinaryOp::Or, left, right) = *tree.node(bare) {
            waiting.extend([right, left]);
        } else if let Some([_, yes, no]) = tree.choice(bare) {
            waiting.extend([no, yes]);
        } else {
            found.push(expr.part(id));
        }
    }
    found
}

/// A part without parentheses and `!` in front of it, and whether an odd number of `!` was there.
pub(super) fn unnegated(tree: &Tree, id: NodeId) -> (NodeId, bool) {
    let (mut at, mut negated) = (tree.bare(id), false);
    while let Node::Unary(UnaryOp::Not, inner) = *tree.node(at) {
        (at, negated) = (tree.bare(inner), !negated);
    }
    (at, negated)
}

/// The operator of a comparison and both sides; the opposite operator if the comparison is negated.
pub(super) fn comparison(tree: &Tree, id: NodeId) -> Option<(BinaryOp, NodeId, NodeId)> {
    let (at, negated) = unnegated(tree, id);
    let Node::Binary(op, left, right) = *tree.node(at) else { return None };
    let op = match (negated, op) {
        (false, op) => op,
        (true, BinaryOp::Less) => BinaryOp::GreaterEqual,
        (true, BinaryOp::LessEqual) => BinaryOp::Greater,
        (true, BinaryOp::Greater) => BinaryOp::LessEqual,
        (true, BinaryOp::GreaterEqual) => BinaryOp::Less,
        (true, BinaryOp::NotEqual) => BinaryOp::Equal,
        (true, BinaryOp::Isnt) => BinaryOp::Is,
        _ => return None,
    };
    Some((op, left, right))
}
