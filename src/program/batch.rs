//! Atoms evaluated for many rows.
//!
//! In: an atom, rows, the other ad. Out: a value for each group of rows that are alike in what the atom looks at.
//! Operators, references and constants go over columns; everything else is evaluated once a group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use crate::ad::ClassAd;
use crate::eval::scope::{Limits, Scope, Settings};
use crate::eval::{Failed, matching, operate};
use crate::name::Key;
use crate::program::Side;
use crate::program::atom::{Atom, Found, What, World};
use crate::program::column::{Column, Entry, refine};
use crate::program::condition::{ATOMS, Clause, Step};
use crate::program::mask::Truths;
use crate::program::mentions::reference;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
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
    pub fn values(&self, atom: &Atom, groups: &Groups, world: &World<'_>, settings: &Settings) -> Option<Vec<Value>> {
        let known = self.columns;
        if let Some(values) = (Batch { rows: self, groups, world, settings, path: Vec::new(), work: 0 }).atom(atom) {
            known.batched.fetch_add(1, Ordering::Relaxed);
            return Some(values);
        }
        known.scalar.fetch_add(1, Ordering::Relaxed);
        let part = matches!(atom.what, What::Part(_));
        let Limits { depth, work, bytes } = settings.limits;
        let tight = Limits { depth, work: work / ATOMS as u64, bytes: bytes / ATOMS as u64 };
        let limited = Settings { limits: if part { tight } else { settings.limits }, ..settings.clone() };
        groups.first.iter().map(|at| scalar(atom, (self.ad)(*at), world.other, &limited)).collect()
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

    /// The truths of an atom.
    pub fn truths(&self, atom: &Atom, groups: &Groups, world: &World<'_>, settings: &Settings) -> Option<Truths> {
        let values = self.values(atom, groups, world, settings)?;
        let truths: Vec<Truth> = values.iter().map(Truth::of).collect();
        Some(Truths::of_groups(&groups.of, &truths))
    }
}

/// An atom evaluated for one pair of ads.
pub fn scalar(atom: &Atom, row: &ClassAd, other: &ClassAd, settings: &Settings) -> Option<Value> {
    let (my, target) = match atom.side {
        Side::Row => (row, other),
        Side::Other => (other, row),
    };
    let scope = Scope::new(my, settings).with_target(target);
    match &atom.what {
        What::Part(expr) => match scope.eval(expr) {
            Ok(value) => Some(value),
            Err(Failed::NoRoot | Failed::Function(_)) => Some(Value::Error),
            Err(_) => None,
        },
        What::Whole(expr) => Some(scope.eval(expr).unwrap_or(Value::Error)),
        What::Requirements => Some(Value::Bool(matching::accepts(my, target, settings))),
        What::Rank => Some(Value::Real(matching::rank(my, target, settings))),
    }
}

/// The values of a part of an expression, for each group.
#[derive(Clone)]
enum Vector {
    Same(Value),
    Each(Vec<Value>),
}

impl Vector {
    fn map(self, of: impl Fn(Value) -> Value) -> Self {
        match self {
            Vector::Same(value) => Vector::Same(of(value)),
            Vector::Each(values) => Vector::Each(values.into_iter().map(of).collect()),
        }
    }

    fn with(self, right: Vector, of: impl Fn(&Value, &Value) -> Value) -> Self {
        match (self, right) {
            (Vector::Same(a), Vector::Same(b)) => Vector::Same(of(&a, &b)),
            (Vector::Same(a), Vector::Each(mut b)) => {
                b.iter_mut().for_each(|b| *b = of(&a, b));
                Vector::Each(b)
            }
            (Vector::Each(mut a), Vector::Same(b)) => {
                a.iter_mut().for_each(|a| *a = of(a, &b));
                Vector::Each(a)
            }
            (Vector::Each(mut a), Vector::Each(b)) => {
                a.iter_mut().zip(&b).for_each(|(a, b)| *a = of(a, b));
                Vector::Each(a)
            }
        }
    }

    fn at(&self, group: usize) -> &Value {
        match self {
            Vector::Same(value) => value,
            Vector::Each(values) => &values[group],
        }
    }
}

/// Nodes that one atom may make vectors of.
const WORK: usize = 300;

struct Batch<'b, 'a> {
    rows: &'b Rows<'b, 'a>,
    groups: &'b Groups,
    world: &'b World<'b>,
    settings: &'b Settings,
    /// References being followed.
    path: Vec<(Side, Key)>,
    work: usize,
}

impl Batch<'_, '_> {
    fn atom(&mut self, atom: &Atom) -> Option<Vec<Value>> {
        let vector = match &atom.what {
            What::Part(expr) | What::Whole(expr) => self.node(expr.tree(), expr.root(), atom.side)?,
            What::Requirements => return None,
            What::Rank => self.rank(atom.side)?.map(|value| Value::Real(value.as_number().unwrap_or(0.0))),
        };
        Some(match vector {
            Vector::Same(value) => vec![value; self.groups.first.len()],
            Vector::Each(values) => values,
        })
    }

    fn rank(&mut self, side: Side) -> Option<Vector> {
        let rank = crate::name::Name::new("Rank");
        let own = crate::program::mentions::Scoped::Own;
        match self.world.resolve(own, rank, side) {
            Found::Absent => {
                let found = self.world.resolve(own, rank, side.opposite());
                self.found(rank.key(), found)
            }
            found => self.found(rank.key(), found),
        }
    }

    fn found(&mut self, key: Key, found: Found<'_>) -> Option<Vector> {
        match found {
            Found::Absent => Some(Vector::Same(Value::Undefined)),
            Found::Clock => Some(Vector::Same(Value::Int(self.settings.now))),
            Found::Constant(Side::Other, literal) => Some(Vector::Same(Value::from(literal))),
            Found::Constant(Side::Row, _) => {
                let column = self.rows.columns.get(key)?;
                let value = |at: &u32| match column.entry(*at) {
                    Entry::Constant(value) => Some(value.clone()),
                    _ => None,
                };
                Some(Vector::Each(self.groups.first.iter().map(value).collect::<Option<_>>()?))
            }
            Found::Tree(side, tree) => {
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
        match *tree.node(id) {
            // As an expression a duration is a real.
            Node::Literal(Literal::RelTime(_) | Literal::AbsTime(_)) => None,
            Node::Literal(ref literal) => Some(Vector::Same(Value::from(literal))),
            Node::Attr(_) | Node::Select(_) => {
                let (scoped, name) = reference(tree, id)?;
                let found = self.world.resolve(scoped, name, side);
                self.found(name.key(), found)
            }
            Node::Paren(inner) => self.node(tree, inner, side),
            Node::Unary(UnaryOp::Not, operand) => Some(self.node(tree, operand, side)?.map(|value| not(&value))),
            Node::Unary(op, operand) => Some(self.node(tree, operand, side)?.map(|value| arith::unary(op, value))),
            Node::Binary(op, left, right) => self.binary(tree, op, [left, right], side),
            Node::Conditional { condition, yes, no } => self.choose(tree, &[condition, yes, no], side),
            Node::Call(call) => {
                let site = tree.calls[call as usize];
                match (site.name.folded(), tree.run(site.arguments)) {
                    (b"ifthenelse", parts @ &[_, _, _]) => self.choose(tree, parts, side),
                    (b"isundefined", &[part]) => {
                        Some(self.node(tree, part, side)?.map(|value| Value::Bool(value.is_undefined())))
                    }
                    (b"time", []) => Some(Vector::Same(Value::Int(self.settings.now))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn binary(&mut self, tree: &Arc<Tree>, op: BinaryOp, parts: [NodeId; 2], side: Side) -> Option<Vector> {
        let [left, right] = [self.node(tree, parts[0], side)?, self.node(tree, parts[1], side)?];
        Some(match op {
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                left.with(right, |a, b| match (a, b) {
                    (Value::Int(a), Value::Int(b)) => Value::Bool(match op {
                        BinaryOp::Less => a < b,
                        BinaryOp::LessEqual => a <= b,
                        BinaryOp::Greater => a > b,
                        _ => a >= b,
                    }),
                    _ => operate(op, a, b),
                })
            }
            _ => left.with(right, |a, b| operate(op, a, b)),
        })
    }

    fn choose(&mut self, tree: &Arc<Tree>, parts: &[NodeId], side: Side) -> Option<Vector> {
        let [condition, yes, no] = parts else { return None };
        let condition = self.node(tree, *condition, side)?;
        let (yes, no) = (self.node(tree, *yes, side)?, self.node(tree, *no, side)?);
        let chosen = |group: usize| match Truth::of(condition.at(group)) {
            Truth::True => yes.at(group).clone(),
            Truth::False => no.at(group).clone(),
            Truth::Undefined => Value::Undefined,
            Truth::Error | Truth::Stranger => Value::Error,
        };
        Some(Vector::Each((0..self.groups.first.len()).map(chosen).collect()))
    }
}
