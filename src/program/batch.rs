//! Atoms evaluated over columns.
//!
//! In: an atom, groups of ads that agree in what it looks at, the other ad. Out: a value for each group, or none if the
//! atom holds anything but operators, references and constants.

use std::sync::Arc;

use crate::eval::operate;
use crate::name::Key;
use crate::program::Side;
use crate::program::atom::{AdPair, Atom, AtomKind, Resolved};
use crate::program::column::Entry;
use crate::program::view::{Groups, TableView};
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};
use crate::value::logic::{Truth, not};
use crate::value::{Value, arith};

/// The values of a part of an expression, for each group.
#[derive(Debug, Clone)]
pub enum Vector {
    /// The same in all.
    Same(Value),
    /// Integers.
    Ints(Vec<i64>),
    /// True or false.
    Bools(Vec<bool>),
    /// Anything.
    Each(Vec<Value>),
}

impl Vector {
    fn map(self, of: impl Fn(Value) -> Value) -> Self {
        match self {
            Vector::Same(value) => Vector::Same(of(value)),
            other => Vector::Each(other.values().into_iter().map(of).collect()),
        }
    }

    fn values(self) -> Vec<Value> {
        match self {
            Vector::Same(value) => vec![value],
            Vector::Ints(values) => values.into_iter().map(Value::Int).collect(),
            Vector::Bools(values) => values.into_iter().map(Value::Bool).collect(),
            Vector::Each(values) => values,
        }
    }

    /// The value of a group.
    pub fn get(&self, group: usize) -> Value {
        match self {
            Vector::Same(value) => value.clone(),
            Vector::Ints(values) => Value::Int(values[group]),
            Vector::Bools(values) => Value::Bool(values[group]),
            Vector::Each(values) => values[group].clone(),
        }
    }

    /// Maps the value of each group.
    pub fn each<T>(&self, groups: usize, of: impl Fn(&Value) -> T) -> Vec<T> {
        match self {
            Vector::Each(values) => values.iter().map(of).collect(),
            other => (0..groups).map(|group| of(&other.get(group))).collect(),
        }
    }

    fn operate(self, op: BinaryOp, right: Vector) -> Self {
        match (self, right) {
            (Vector::Same(a), Vector::Same(b)) => Vector::Same(operate(op, &a, &b)),
            (Vector::Ints(a), Vector::Same(Value::Int(b))) => ints(op, &a, |_| b),
            (Vector::Same(Value::Int(a)), Vector::Ints(b)) => ints_with(op, b.len(), |_| a, |at| b[at]),
            (Vector::Ints(a), Vector::Ints(b)) => ints(op, &a, |at| b[at]),
            (Vector::Same(a), right) => right.map(|b| operate(op, &a, &b)),
            (left, Vector::Same(b)) => left.map(|a| operate(op, &a, &b)),
            (left, right) => {
                let (mut values, right) = (left.values(), right.values());
                for (a, b) in values.iter_mut().zip(&right) {
                    *a = operate(op, a, b);
                }
                Vector::Each(values)
            }
        }
    }
}

fn ints(op: BinaryOp, left: &[i64], right: impl Fn(usize) -> i64) -> Vector {
    ints_with(op, left.len(), |at| left[at], right)
}

/// Applies an operator to integers; the frequent ones in a loop of their own.
fn ints_with(op: BinaryOp, len: usize, left: impl Fn(usize) -> i64, right: impl Fn(usize) -> i64) -> Vector {
    let compare = |of: fn(i64, i64) -> bool| Vector::Bools((0..len).map(|at| of(left(at), right(at))).collect());
    let combine = |of: fn(i64, i64) -> i64| Vector::Ints((0..len).map(|at| of(left(at), right(at))).collect());
    match op {
        BinaryOp::Less => compare(|a, b| a < b),
        BinaryOp::LessEqual => compare(|a, b| a <= b),
        BinaryOp::Greater => compare(|a, b| a > b),
        BinaryOp::GreaterEqual => compare(|a, b| a >= b),
        BinaryOp::Equal | BinaryOp::Is => compare(|a, b| a == b),
        BinaryOp::NotEqual | BinaryOp::Isnt => compare(|a, b| a != b),
        BinaryOp::Add => combine(i64::wrapping_add),
        BinaryOp::Subtract => combine(i64::wrapping_sub),
        BinaryOp::Multiply => combine(i64::wrapping_mul),
        _ => {
            let each = |at| operate(op, &Value::Int(left(at)), &Value::Int(right(at)));
            Vector::Each((0..len).map(each).collect())
        }
    }
}

/// Maximum number of nodes of an atom that are evaluated over columns.
const MAX_NODES: usize = 300;

/// The evaluation of one atom.
pub(crate) struct Batch<'b> {
    view: &'b TableView<'b>,
    groups: &'b Groups,
    pair: AdPair<'b>,
    /// References being followed.
    path: Vec<(Side, Key)>,
    work: usize,
}

impl<'b> Batch<'b> {
    /// An evaluation for groups of the ads of a view.
    pub(crate) fn new(view: &'b TableView<'b>, groups: &'b Groups) -> Self {
        Self { view, groups, pair: view.pair(), path: Vec::new(), work: 0 }
    }

    /// The value of an atom for each group; none if it has to be evaluated by the evaluator.
    pub(crate) fn atom(&mut self, atom: &Atom) -> Option<Vector> {
        match &atom.kind {
            AtomKind::Subexpr(expr) | AtomKind::Expr(expr) => self.node(expr.tree(), expr.root(), atom.side),
            AtomKind::Requirements => None,
            AtomKind::Rank => Some(match self.rank(atom.side)? {
                ints @ Vector::Ints(_) => ints,
                other => other.map(|value| Value::Real(value.as_number().unwrap_or(0.0))),
            }),
        }
    }

    fn rank(&mut self, side: Side) -> Option<Vector> {
        let rank = Reference { scope: RefScope::My, name: crate::name::Name::new("Rank") };
        let resolved = match self.pair.resolve(rank, side) {
            Resolved::Absent => self.pair.resolve(rank, side.opposite()),
            resolved => resolved,
        };
        self.resolved(rank.name.key(), &resolved)
    }

    fn resolved(&mut self, key: Key, resolved: &Resolved<'_>) -> Option<Vector> {
        match resolved {
            Resolved::Absent => Some(Vector::Same(Value::Undefined)),
            Resolved::Clock => Some(Vector::Same(Value::Int(self.view.settings.now))),
            Resolved::Constant(Side::Other, literal) => Some(Vector::Same(Value::from(*literal))),
            Resolved::Constant(Side::Row, _) => {
                let column = self.view.table.column(key)?;
                if let Some(ints) = &column.ints {
                    let int = |at: &u32| ints[column.ids[*at as usize] as usize];
                    return Some(Vector::Ints(self.groups.first.iter().map(int).collect()));
                }
                let value = |at: &u32| match column.entry(*at) {
                    Entry::Constant(value) => Some(value.clone()),
                    _ => None,
                };
                Some(Vector::Each(self.groups.first.iter().map(value).collect::<Option<_>>()?))
            }
            Resolved::Tree(side, tree) => {
                let side = *side;
                if self.path.contains(&(side, key)) {
                    return None;
                }
                let tree = Arc::clone(tree);
                self.path.push((side, key));
                let vector = self.node(&tree, tree.root(), side);
                self.path.pop();
                vector
            }
        }
    }

    fn node(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side) -> Option<Vector> {
        self.work += 1;
        if self.work > MAX_NODES {
            return None;
        }
        match tree.view(id) {
            // As an expression a duration is a real.
            View::Literal(Literal::RelTime(_) | Literal::AbsTime(_)) => None,
            View::Literal(literal) => Some(Vector::Same(Value::from(literal))),
            View::Reference(reference) => {
                let resolved = self.pair.resolve(reference, side);
                self.resolved(reference.name.key(), &resolved)
            }
            View::Paren(inner) => self.node(tree, inner, side),
            View::Not(operand) => Some(self.node(tree, operand, side)?.map(|value| not(&value))),
            View::Unary(op, operand) => Some(self.node(tree, operand, side)?.map(|value| arith::unary(op, value))),
            View::Logic { op, left, right } | View::Compare { op, left, right } | View::Binary { op, left, right } => {
                let left = self.node(tree, left, side)?;
                Some(left.operate(op, self.node(tree, right, side)?))
            }
            View::Choice { condition, yes, no } => self.choose(tree, [condition, yes, no], side),
            View::Call { name, arguments } => match (name.folded(), arguments) {
                (b"isundefined", &[part]) => {
                    Some(self.node(tree, part, side)?.map(|value| Value::Bool(value.is_undefined())))
                }
                (b"time", []) => Some(Vector::Same(Value::Int(self.view.settings.now))),
                _ => None,
            },
            _ => None,
        }
    }

    fn choose(&mut self, tree: &Arc<Tree>, [condition, yes, no]: [NodeId; 3], side: Side) -> Option<Vector> {
        let condition = self.node(tree, condition, side)?;
        let (yes, no) = (self.node(tree, yes, side)?, self.node(tree, no, side)?);
        let chosen = |group: usize| match Truth::of(&condition.get(group)) {
            Truth::True => yes.get(group),
            Truth::False => no.get(group),
            Truth::Undefined => Value::Undefined,
            Truth::Error | Truth::NotBoolean => Value::Error,
        };
        Some(Vector::Each((0..self.groups.first.len()).map(chosen).collect()))
    }
}
