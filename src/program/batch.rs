//! Atoms evaluated over columns.
//!
//! In: an atom, groups of ads that agree in what it looks at, the other ad. Out: a value for each group. Operators,
//! references and constants go over columns. Any other part is evaluated once for each combination of the attributes of
//! rows that it looks at, mostly far fewer than the whole atom looks at.

use std::sync::Arc;

use crate::eval::operate;
use crate::eval::scope::Scope;
use crate::name::Key;
use crate::program::Side;
use crate::program::atom::{AdPair, Atom, AtomKind, MentionsCache, Resolved};
use crate::program::column::Entry;
use crate::program::condition::{MAX_HEIGHT, is_divisible};
use crate::program::view::{Groups, TableView};
use crate::syntax::expr::{Expr, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{DefinedTest, RefScope, Reference, View};
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
    /// A few values, and for each group the number of its value.
    Coded(Arc<[u32]>, Vec<Value>),
    /// Anything.
    Each(Vec<Value>),
}

impl Vector {
    fn map(self, of: impl Fn(Value) -> Value) -> Self {
        match self {
            Vector::Same(value) => Vector::Same(of(value)),
            Vector::Coded(codes, values) => Vector::Coded(codes, values.into_iter().map(of).collect()),
            other => Vector::Each(other.values().into_iter().map(of).collect()),
        }
    }

    fn values(self) -> Vec<Value> {
        match self {
            Vector::Same(value) => vec![value],
            Vector::Ints(values) => values.into_iter().map(Value::Int).collect(),
            Vector::Bools(values) => values.into_iter().map(Value::Bool).collect(),
            Vector::Coded(codes, values) => codes.iter().map(|code| values[*code as usize].clone()).collect(),
            Vector::Each(values) => values,
        }
    }

    /// The value of a group.
    pub fn get(&self, group: usize) -> Value {
        match self {
            Vector::Same(value) => value.clone(),
            Vector::Ints(values) => Value::Int(values[group]),
            Vector::Bools(values) => Value::Bool(values[group]),
            Vector::Coded(codes, values) => values[codes[group] as usize].clone(),
            Vector::Each(values) => values[group].clone(),
        }
    }

    /// Maps the value of each group.
    pub fn each<T: Clone>(&self, groups: usize, of: impl Fn(&Value) -> T) -> Vec<T> {
        match self {
            Vector::Each(values) => values.iter().map(of).collect(),
            Vector::Bools(values) => {
                let [no, yes] = [false, true].map(|value| of(&Value::Bool(value)));
                values.iter().map(|value| if *value { yes.clone() } else { no.clone() }).collect()
            }
            Vector::Coded(codes, values) => {
                let values: Vec<T> = values.iter().map(of).collect();
                codes.iter().map(|code| values[*code as usize].clone()).collect()
            }
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

/// An attribute with at least this many groups for each of its values is evaluated value by value.
const MIN_GROUPS_PER_CODE: usize = 4;

/// Maximum number of parts of an atom that the evaluator evaluates: each may take this fraction of the work of an atom.
const MAX_PARTS: usize = 16;

/// The evaluation of one atom.
pub(crate) struct Batch<'b> {
    view: &'b TableView<'b>,
    groups: &'b Groups,
    pair: AdPair<'b>,
    /// References being followed.
    path: Vec<(Side, Key)>,
    work: usize,
    /// Number of parts that the evaluator evaluated.
    parts: usize,
    mentions: MentionsCache,
}

impl<'b> Batch<'b> {
    /// An evaluation for groups of the ads of a view.
    pub(crate) fn new(view: &'b TableView<'b>, groups: &'b Groups) -> Self {
        let mentions = MentionsCache::default();
        Self { view, groups, pair: view.pair(), path: Vec::new(), work: 0, parts: 0, mentions }
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
            Resolved::Clock => Some(Vector::Same(Value::Int(self.view.settings.time()))),
            Resolved::Constant(Side::Other, literal) => Some(Vector::Same(Value::from(*literal))),
            Resolved::Constant(Side::Row, _) => {
                let column = self.view.table.column(key)?;
                if let Some(ints) = &column.ints {
                    let int = |at: &u32| ints[column.ids[*at as usize] as usize];
                    return Some(Vector::Ints(self.groups.first.iter().map(int).collect()));
                }
                let constant = |entry: &Entry| match entry {
                    Entry::Constant(value) => Some(value.clone()),
                    _ => None,
                };
                let first = &self.groups.first;
                if column.entries.len() * MIN_GROUPS_PER_CODE > first.len() {
                    let value = |at: &u32| constant(column.entry(*at));
                    return Some(Vector::Each(first.iter().map(value).collect::<Option<_>>()?));
                }
                // Ads of other structures have the other entries.
                let value = |entry: &Entry| constant(entry).unwrap_or(Value::Undefined);
                Some(match column.entries.as_slice() {
                    [entry] => Vector::Same(constant(entry)?),
                    entries => Vector::Coded(
                        first.iter().map(|at| column.ids[*at as usize]).collect(),
                        entries.iter().map(value).collect(),
                    ),
                })
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
        if let Some(DefinedTest { of, negated }) = tree.defined_test(id) {
            return Some(match self.node(tree, of, side)? {
                // These are all defined.
                Vector::Ints(_) | Vector::Bools(_) => Vector::Same(Value::Bool(!negated)),
                values => values.map(|value| Value::Bool(value.is_undefined() == negated)),
            });
        }
        match tree.view(id) {
            // As an expression a duration is a real.
            View::Literal(Literal::RelTime(_) | Literal::OldRelTime(_) | Literal::AbsTime(_)) => None,
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
                (b"time", []) => Some(Vector::Same(Value::Int(self.view.settings.time()))),
                _ => self.part(tree, id, side),
            },
            _ => self.part(tree, id, side),
        }
    }

    /// The values of a part from the evaluator; none if the whole might fail or be cut short where the part is not, or if
    /// the part has another value by itself.
    fn part(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side) -> Option<Vector> {
        // A part that is the whole atom gains nothing.
        let is_whole = self.work == 1;
        if is_whole || self.parts == MAX_PARTS || !is_divisible(&self.pair, tree, side, &mut self.mentions) {
            return None;
        }
        self.parts += 1;
        let depends = self.pair.depends(tree, id, side, &mut self.mentions);
        let is_circular = depends.followed.iter().any(|step| self.path.contains(step));
        if is_circular || depends.random || self.work + depends.height > MAX_HEIGHT {
            return None;
        }
        let firsts = &self.groups.first;
        let groups = self.view.groups_of(firsts, &depends.row);
        let (expr, settings) = (Expr::at(Arc::clone(tree), id), self.view.settings_of_part(MAX_PARTS));
        let value = |at: &u32| {
            let (my, target) = self.view.sides(side, *at);
            Scope::new(my, &settings).with_target(target).eval(&expr).ok()
        };
        let values = groups.first.iter().map(value).collect::<Option<Vec<Value>>>()?;
        Some(match values.as_slice() {
            [value] => Vector::Same(value.clone()),
            _ => Vector::Coded(groups.of.into(), values),
        })
    }

    fn choose(&mut self, tree: &Arc<Tree>, [condition, yes, no]: [NodeId; 3], side: Side) -> Option<Vector> {
        let condition = self.node(tree, condition, side)?;
        if let Vector::Same(value) = &condition {
            return match Truth::of(value) {
                Truth::True => self.node(tree, yes, side),
                Truth::False => self.node(tree, no, side),
                Truth::Undefined => Some(Vector::Same(Value::Undefined)),
                Truth::Error | Truth::NotBoolean => Some(Vector::Same(Value::Error)),
            };
        }
        let (yes, no) = (self.node(tree, yes, side)?, self.node(tree, no, side)?);
        let of = |condition: &Value, yes: &dyn Fn() -> Value, no: &dyn Fn() -> Value| match Truth::of(condition) {
            Truth::True => yes(),
            Truth::False => no(),
            Truth::Undefined => Value::Undefined,
            Truth::Error | Truth::NotBoolean => Value::Error,
        };
        if let (Vector::Same(yes), Vector::Same(no)) = (&yes, &no) {
            return Some(condition.map(|value| of(&value, &|| yes.clone(), &|| no.clone())));
        }
        let chosen = |group: usize| of(&condition.get(group), &|| yes.get(group), &|| no.get(group));
        Some(Vector::Each((0..self.groups.first.len()).map(chosen).collect()))
    }
}
