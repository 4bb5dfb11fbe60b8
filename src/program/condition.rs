//! Conditions taken apart: clauses that must all be true, each an expression of logic over atoms.
//!
//! In: the Requirements of one side of a match. Out: clauses. At the root false, undefined and error all mean "no
//! match", so clauses may be tested in any order and each by itself. What might mean something else by itself than
//! where it stands (circular references, random numbers, functions that move the evaluation, expressions near the
//! limits of the evaluator) is not taken apart.

use std::sync::Arc;

use crate::eval::with_stack;
use crate::name::{Key, known};
use crate::program::Side;
use crate::program::atom::{Atom, Atoms, Depends, Found, What, World};
use crate::program::living::Living;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};

/// Most levels of all expressions of a condition together: then no evaluation of it comes near the limit of 400.
pub const HEIGHT: usize = 300;

/// Most atoms: each may take this part of the work that one evaluation may take.
pub const ATOMS: usize = 64;

/// A step of a clause, in post-order.
#[derive(Debug, Clone)]
pub enum Step {
    /// The truth of an atom.
    Atom(Arc<Atom>),
    /// `!a`
    Not,
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `a ? b : c`
    Choose,
}

/// One of the clauses that must all be true.
#[derive(Debug, Clone)]
pub struct Clause {
    /// In post-order; one atom, mostly.
    pub steps: Vec<Step>,
}

impl Clause {
    /// The atoms.
    pub fn atoms(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Atom(atom) => Some(atom),
            _ => None,
        })
    }
}

/// The Requirements of a side, taken apart.
pub fn requirements(world: &World<'_>, side: Side, atoms: &mut Atoms) -> Vec<Clause> {
    let depends = world.depends_of(*crate::eval::REQUIREMENTS, side, &mut atoms.surveyed);
    let mut splitter = Splitter { world, atoms, clauses: Vec::new(), path: Vec::new(), count: 0 };
    let whole = depends.random || depends.height > HEIGHT;
    if !whole && splitter.requirements(side).is_some() {
        return splitter.clauses;
    }
    let atom = atoms.intern(What::Requirements, side, depends);
    vec![Clause { steps: vec![Step::Atom(atom)] }]
}

struct Splitter<'w, 'a> {
    world: &'w World<'a>,
    atoms: &'w mut Atoms,
    clauses: Vec<Clause>,
    /// The attributes whose expressions are being taken apart.
    path: Vec<(Side, Key)>,
    count: usize,
}

/// Where an expression of an attribute goes on.
enum Next {
    /// It has no expression: the reference is an atom.
    Here,
    In(Side, Key, Arc<Tree>),
}

impl Splitter<'_, '_> {
    fn requirements(&mut self, side: Side) -> Option<()> {
        let requirements = Reference { scope: RefScope::My, name: *crate::eval::REQUIREMENTS };
        match self.world.resolve(requirements, side) {
            Found::Tree(at, tree) if at == side => {
                let tree = Arc::clone(tree);
                if !self.is_divisible(&tree, side) {
                    return None;
                }
                self.path.push((side, requirements.name.key()));
                self.conjunction(&tree, tree.root(), side)
            }
            _ => None,
        }
    }

    /// Whether parts of a tree mean the same by themselves.
    fn is_divisible(&mut self, tree: &Arc<Tree>, side: Side) -> bool {
        let mentions = self.atoms.surveyed.mentions(tree);
        let bound = || Living::of(self.world, tree, (0, tree.root()), side).is_bound(tree);
        !(mentions.random || mentions.opaque || mentions.bound && bound())
    }

    /// Clauses of `a && b`, through parentheses and attributes.
    fn conjunction(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side) -> Option<()> {
        match *tree.node(id) {
            Node::Paren(inner) => self.conjunction(tree, inner, side),
            Node::Binary(BinaryOp::And, left, right) => {
                // To the left a chain may be long.
                with_stack(|| self.conjunction(tree, left, side))?;
                self.conjunction(tree, right, side)
            }
            _ => match self.next(tree, id, side)? {
                Next::In(at, key, inner) => {
                    self.path.push((at, key));
                    let found = with_stack(|| self.conjunction(&inner, inner.root(), at));
                    self.path.pop();
                    found
                }
                Next::Here => {
                    let mut steps = Vec::new();
                    self.steps(tree, id, side, &mut steps)?;
                    self.clauses.push(Clause { steps });
                    Some(())
                }
            },
        }
    }

    /// Where a node refers to, if that can be taken apart; none if the references go in a circle.
    fn next(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side) -> Option<Next> {
        let Some(reference) = tree.reference(id) else { return Some(Next::Here) };
        let key = reference.name.key();
        match self.world.resolve(reference, side) {
            Found::Tree(at, inner) => {
                if self.path.contains(&(at, key)) {
                    return None;
                }
                let apart = self.is_divisible(inner, at);
                Some(if apart { Next::In(at, key, Arc::clone(inner)) } else { Next::Here })
            }
            _ => Some(Next::Here),
        }
    }

    fn steps(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side, steps: &mut Vec<Step>) -> Option<()> {
        let mut all = |parts: &[NodeId], step: Option<Step>| {
            for part in parts {
                with_stack(|| self.steps(tree, *part, side, steps))?;
            }
            steps.extend(step);
            Some(())
        };
        match tree.view(id) {
            View::Paren(inner) => all(&[inner], None),
            View::Not(operand) => all(&[operand], Some(Step::Not)),
            View::Logic { op: BinaryOp::And, left, right } => all(&[left, right], Some(Step::And)),
            View::Logic { left, right, .. } => all(&[left, right], Some(Step::Or)),
            View::Choice { condition, yes, no } => all(&[condition, yes, no], Some(Step::Choose)),
            View::Call { .. } => self.atom(tree, id, side, steps),
            _ => match self.next(tree, id, side)? {
                Next::In(at, key, inner) => {
                    self.path.push((at, key));
                    let found = with_stack(|| self.steps(&inner, inner.root(), at, steps));
                    self.path.pop();
                    found
                }
                Next::Here => self.atom(tree, id, side, steps),
            },
        }
    }

    fn atom(&mut self, tree: &Arc<Tree>, id: NodeId, side: Side, steps: &mut Vec<Step>) -> Option<()> {
        let depends = self.world.depends(tree, id, side, &mut self.atoms.surveyed);
        self.count += 1;
        // A reference to what is being taken apart is circular here, and would not be by itself.
        if self.count > ATOMS || depends.followed.iter().any(|at| self.path.contains(at)) {
            return None;
        }
        let expr = Expr::at(Arc::clone(tree), id);
        steps.push(Step::Atom(self.atoms.intern(What::Part(expr), side, depends)));
        Some(())
    }
}

/// The value of an expression of the configuration, with the rows as `MY`.
pub fn expression(world: &World<'_>, expr: &Expr, side: Side, atoms: &mut Atoms) -> Arc<Atom> {
    let depends = world.depends(expr.tree(), expr.root(), side, &mut atoms.surveyed);
    atoms.intern(What::Whole(expr.clone()), side, depends)
}

/// The rank that an ad gives the opposite one; one without a Rank is ranked by the other's.
pub fn rank(world: &World<'_>, side: Side, atoms: &mut Atoms) -> Arc<Atom> {
    let rank = crate::name::Name::new("Rank");
    debug_assert_eq!(rank.key(), known::RANK);
    let mut depends = world.depends_of(rank, side, &mut atoms.surveyed);
    if !world.ad(side).contains(rank) {
        let Depends { row, other, .. } = world.depends_of(rank, side.opposite(), &mut atoms.surveyed);
        depends.row.extend(row);
        depends.other.extend(other);
    }
    atoms.intern(What::Rank, side, depends)
}
