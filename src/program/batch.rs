//! Atoms evaluated for many rows.
//!
//! In: an atom, rows, the other ad. Out: a value for each group of rows that are alike in what the atom looks at.
//! Operators, references and constants go over columns; everything else is evaluated once a group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use crate::ad::ClassAd;
use crate::eval::scope::{EvalOptions, Limits, Scope};
use crate::eval::{EvalError, matching, operate};
use crate::name::Key;
use crate::program::Side;
use crate::program::atom::{Atom, AtomKind, Found, World};
use crate::program::column::{Column, Entry, refine};
use crate::program::condition::{Clause, MAX_ATOMS, Step};
use crate::program::mask::{Mask, Truths};
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};
use crate::value::logic::{Truth, not};
use crate::value::{Value, arith};

/// The ads of a pool by column.
#[derive(Debug, Default)]
pub struct Columns {
    /// The columns.
    pub columns: Vec<Column>,
    /// Where each attribute is among them.
    pub by_key: HashMap<Key, usize>,
    /// Atoms that were evaluated by the evaluator, a group of rows at a time.
    pub scalar: AtomicU64,
    /// Atoms that were evaluated over columns.
    pub batched: AtomicU64,
}

impl Columns {
    /// The column of an attribute.
    pub fn get(&self, key: Key) -> Option<&Column> {
        self.by_key.get(&key).map(|&at| &self.columns[at])
    }
}

/// Rows: ads that stand for others, all of one structure.
#[derive(Clone, Copy)]
pub struct Rows<'t, 'a> {
    /// The columns of all ads.
    pub columns: &'t Columns,
    /// The ads that are rows, by number.
    pub ads: &'t [u32],
    /// The ad of a number.
    pub ad: &'t (dyn Fn(u32) -> &'a ClassAd + Sync),
}

/// Rows alike in what an atom looks at.
#[derive(Debug)]
pub struct Groups {
    /// The group of each row.
    pub of: Vec<u32>,
    /// An ad of each group.
    pub first: Vec<u32>,
}

impl Rows<'_, '_> {
    /// Groups the rows by what an atom looks at.
    pub fn groups(&self, atom: &Atom) -> Groups {
        let mut of = vec![0; self.ads.len()];
        for column in atom.row.iter().filter_map(|name| self.columns.get(name.key())) {
            refine(&mut of, |row| column.ids[self.ads[row] as usize]);
        }
        let mut first = Vec::new();
        for (row, group) in of.iter().enumerate() {
            if *group as usize == first.len() {
                first.push(self.ads[row]);
            }
        }
        Groups { of, first }
    }

    /// The value of an atom for each group; none if a part of an expression takes so much that its whole might not
    /// have been evaluated to the end.
    pub fn values(&self, atom: &Atom, groups: &Groups, world: &World<'_>, settings: &EvalOptions) -> Option<Vector> {
        let known = self.columns;
        if let Some(values) = (Batch { rows: self, groups, world, settings, path: Vec::new(), work: 0 }).atom(atom) {
            known.batched.fetch_add(1, Ordering::Relaxed);
            return Some(values);
        }
        known.scalar.fetch_add(1, Ordering::Relaxed);
        let part = matches!(atom.kind, AtomKind::Subexpr(_));
        let Limits { depth, work, bytes } = settings.limits;
        let tight = Limits { depth, work: work / MAX_ATOMS as u64, bytes: bytes / MAX_ATOMS as u64 };
        let limited = EvalOptions { limits: if part { tight } else { settings.limits }, ..settings.clone() };
        let value = |at: &u32| scalar(atom, (self.ad)(*at), world.other, &limited);
        Some(Vector::Each(groups.first.iter().map(value).collect::<Option<_>>()?))
    }

    /// Where a clause is true, and false, and an error.
    pub fn clause(&self, clause: &Clause, mut truths: impl FnMut(&Atom) -> Option<Arc<Truths>>) -> Option<Arc<Truths>> {
        let mut stack: Vec<Arc<Truths>> = Vec::new();
        for step in &clause.steps {
            let made = match step {
                Step::Atom(atom) => truths(atom)?,
                Step::Not => Arc::new(stack.pop()?.not()),
                Step::And | Step::Or => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    Arc::new(if matches!(step, Step::And) { left.and(&right) } else { left.or(&right) })
                }
                Step::Choose => {
                    let (no, yes, condition) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    Arc::new(condition.choose(&yes, &no))
                }
            };
            stack.push(made);
        }
        stack.pop()
    }

    /// Where an atom is true.
    pub fn yes(&self, atom: &Atom, groups: &Groups, world: &World<'_>, settings: &EvalOptions) -> Option<Mask> {
        let len = groups.of.len();
        let is_true = |value: &Value| value.as_condition() == Some(true);
        Some(match self.values(atom, groups, world, settings)? {
            Vector::Same(value) => {
                if is_true(&value) {
                    Mask::all(len)
                } else {
                    Mask::none(len)
                }
            }
            values => {
                let yes = values.each(groups.first.len(), is_true);
                Mask::of(len, |row| yes[groups.of[row] as usize])
            }
        })
    }

    /// The truths of an atom.
    pub fn truths(&self, atom: &Atom, groups: &Groups, world: &World<'_>, settings: &EvalOptions) -> Option<Truths> {
        let values = self.values(atom, groups, world, settings)?;
        Some(match values {
            Vector::Same(value) => Truths::same(groups.of.len(), Truth::of(&value)),
            values => Truths::of_groups(&groups.of, &values.each(groups.first.len(), Truth::of)),
        })
    }
}

/// An atom evaluated for one pair of ads.
pub fn scalar(atom: &Atom, row: &ClassAd, other: &ClassAd, settings: &EvalOptions) -> Option<Value> {
    let (my, target) = match atom.side {
        Side::Row => (row, other),
        Side::Other => (other, row),
    };
    let scope = Scope::new(my, settings).with_target(target);
    match &atom.kind {
        AtomKind::Subexpr(expr) => match scope.eval(expr) {
            Ok(value) => Some(value),
            Err(EvalError::NoRoot | EvalError::Function(_)) => Some(Value::Error),
            Err(_) => None,
        },
        AtomKind::Expr(expr) => Some(scope.eval(expr).unwrap_or(Value::Error)),
        AtomKind::Requirements => Some(Value::Bool(matching::accepts(my, target, settings))),
        AtomKind::Rank => Some(Value::Real(matching::rank(my, target, settings))),
    }
}

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

    /// What is made of the value of each of so many groups.
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
            (Vector::Same(a), right) => {
                let mut values = right.values();
                for b in &mut values {
                    *b = operate(op, &a, b);
                }
                Vector::Each(values)
            }
            (left, Vector::Same(b)) => {
                let mut values = left.values();
                for a in &mut values {
                    *a = operate(op, a, &b);
                }
                Vector::Each(values)
            }
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

/// An operator over integers; the usual ones in a loop each.
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

/// Nodes that one atom may make vectors of.
const WORK: usize = 300;

struct Batch<'b, 'a> {
    rows: &'b Rows<'b, 'a>,
    groups: &'b Groups,
    world: &'b World<'b>,
    settings: &'b EvalOptions,
    /// References being followed.
    path: Vec<(Side, Key)>,
    work: usize,
}

impl Batch<'_, '_> {
    fn atom(&mut self, atom: &Atom) -> Option<Vector> {
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
        let found = match self.world.resolve(rank, side) {
            Found::Absent => self.world.resolve(rank, side.opposite()),
            found => found,
        };
        self.found(rank.name.key(), &found)
    }

    fn found(&mut self, key: Key, found: &Found<'_>) -> Option<Vector> {
        match found {
            Found::Absent => Some(Vector::Same(Value::Undefined)),
            Found::Clock => Some(Vector::Same(Value::Int(self.settings.now))),
            Found::Constant(Side::Other, literal) => Some(Vector::Same(Value::from(*literal))),
            Found::Constant(Side::Row, _) => {
                let column = self.rows.columns.get(key)?;
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
            Found::Tree(side, tree) => {
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
        if self.work > WORK {
            return None;
        }
        match tree.view(id) {
            // As an expression a duration is a real.
            View::Literal(Literal::RelTime(_) | Literal::AbsTime(_)) => None,
            View::Literal(literal) => Some(Vector::Same(Value::from(literal))),
            View::Reference(reference) => {
                let found = self.world.resolve(reference, side);
                self.found(reference.name.key(), &found)
            }
            View::Paren(inner) => self.node(tree, inner, side),
            View::Not(operand) => Some(self.node(tree, operand, side)?.map(|value| not(&value))),
            View::Unary(op, operand) => Some(self.node(tree, operand, side)?.map(|value| arith::unary(op, value))),
            View::Logic { op, left, right } | View::Compare { op, left, right } | View::Binary { op, left, right } => {
                self.binary(tree, op, [left, right], side)
            }
            View::Choice { condition, yes, no } => self.choose(tree, [condition, yes, no], side),
            View::Call { name, arguments } => match (name.folded(), arguments) {
                (b"isundefined", &[part]) => {
                    Some(self.node(tree, part, side)?.map(|value| Value::Bool(value.is_undefined())))
                }
                (b"time", []) => Some(Vector::Same(Value::Int(self.settings.now))),
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&mut self, tree: &Arc<Tree>, op: BinaryOp, parts: [NodeId; 2], side: Side) -> Option<Vector> {
        let [left, right] = [self.node(tree, parts[0], side)?, self.node(tree, parts[1], side)?];
        Some(left.operate(op, right))
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
