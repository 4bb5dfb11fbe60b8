//! Conditions taken apart: clauses that must all be true, each an expression of logic over atoms.
//!
//! In: the Requirements of one side of a match. Out: clauses. At the root false, undefined and error all mean "no
//! match", so clauses may be tested in any order and each by itself. Anything that might have another value by
//! itself (circular references, random numbers, functions that move the evaluation, expressions near the
//! limits of the evaluator) is not taken apart.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::eval::conditions::{Conditions, Connective, SplitRules};
use crate::eval::with_stack;
use crate::name::{Key, known};
use crate::program::Side;
use crate::program::atom::{AdPair, Atom, AtomKind, Atoms, Dependencies, MentionsCache, Resolved};
use crate::program::liveness::Liveness;
use crate::syntax::expr::{Expr, Tree};
use crate::syntax::view::{RefScope, Reference};

/// Maximum number of levels of all expressions of a condition together: no evaluation of it comes near the limit of
/// 400.
pub const MAX_HEIGHT: usize = 300;

/// Maximum number of atoms: each may take this fraction of the work allowed for one evaluation.
pub const MAX_ATOMS: usize = 64;

/// Splits all connectives, to many more conditions than there may be atoms.
const RULES: SplitRules = SplitRules { splits: |_| true, max_depth: usize::MAX, max_conditions: 8 * MAX_ATOMS };

/// A step of a clause, in post-order.
#[derive(Debug, Clone)]
pub enum ClauseStep {
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
    pub steps: Vec<ClauseStep>,
}

impl Clause {
    /// The atoms.
    pub fn atoms(&self) -> impl Iterator<Item = &Arc<Atom>> {
        self.steps.iter().filter_map(|step| match step {
            ClauseStep::Atom(atom) => Some(atom),
            _ => None,
        })
    }
}

/// The Requirements of a side, taken apart.
pub fn requirements(pair: &AdPair<'_>, side: Side, atoms: &mut Atoms) -> Vec<Clause> {
    let depends = pair.depends_of(*crate::eval::REQUIREMENTS, side, &mut atoms.mentions);
    // In older versions more is evaluated, and may fail, than a taken-apart condition evaluates.
    let clauses = if depends.is_divisible(0) && pair.semantics.is_present() { split(pair, side, atoms) } else { None };
    clauses.unwrap_or_else(|| {
        let atom = atoms.intern(AtomKind::Requirements, side, depends);
        vec![Clause { steps: vec![ClauseStep::Atom(atom)] }]
    })
}

/// A place in the expressions of a match: the ad that has the condition, and the attributes that lead to it.
type ConditionPlace = (Side, SmallVec<[(Side, Key); 4]>);

/// Takes the Requirements of a side apart; none if its parts might have other values by themselves.
fn split(pair: &AdPair<'_>, side: Side, atoms: &mut Atoms) -> Option<Vec<Clause>> {
    let requirements = Reference { scope: RefScope::My, name: *crate::eval::REQUIREMENTS };
    let Resolved::Tree(at, tree) = pair.resolve(requirements, side) else { return None };
    if at != side || !is_divisible(pair, tree, side, &mut atoms.mentions) {
        return None;
    }
    let (root, mut is_circular) = (Expr::whole(Arc::clone(tree)), false);
    let place = (side, smallvec![(side, requirements.name.key())]);
    let conditions = Conditions::new(root, place, RULES, |expr, (side, path): &ConditionPlace| {
        let reference = expr.tree().reference(expr.root())?;
        let Resolved::Tree(at, tree) = pair.resolve(reference, *side) else { return None };
        let step = (at, reference.name.key());
        is_circular |= path.contains(&step);
        if is_circular || !is_divisible(pair, tree, at, &mut atoms.mentions) {
            return None;
        }
        Some((Expr::whole(Arc::clone(tree)), (at, path.iter().copied().chain([step]).collect())))
    });
    let leaves = (0..conditions.all.len()).filter(|at| conditions.is_leaf(*at)).count();
    if is_circular || conditions.is_truncated || leaves > MAX_ATOMS {
        return None;
    }
    let clause = |(at, _)| {
        let mut steps = Vec::new();
        push_steps(pair, &conditions, at, atoms, &mut steps)?;
        Some(Clause { steps })
    };
    conditions.required().map(clause).collect()
}

/// Returns whether parts of an expression of a side have the same values by themselves.
pub(crate) fn is_divisible(pair: &AdPair<'_>, tree: &Arc<Tree>, side: Side, mentions: &mut MentionsCache) -> bool {
    let mentions = mentions.of(tree);
    let bound = || Liveness::of(pair, tree, (0, tree.root()), side).is_bound(tree);
    !(mentions.random || mentions.opaque || mentions.bound && bound())
}

/// Appends the steps of a condition in post-order; none if a part of it is circular where it is used.
fn push_steps(
    pair: &AdPair<'_>,
    conditions: &Conditions<ConditionPlace>,
    at: usize,
    atoms: &mut Atoms,
    steps: &mut Vec<ClauseStep>,
) -> Option<()> {
    let condition = &conditions.all[at];
    if conditions.is_leaf(at) {
        let (side, path) = &condition.place;
        let expr = &condition.expr;
        let depends = pair.depends(expr.tree(), expr.root(), *side, &mut atoms.mentions);
        // A reference to an expression that is being taken apart is circular here, and would not be by itself.
        if depends.followed.iter().any(|at| path.contains(at)) {
            return None;
        }
        steps.push(ClauseStep::Atom(atoms.intern(AtomKind::Subexpr(expr.clone()), *side, depends)));
        return Some(());
    }
    for (place, part) in conditions.parts(at).enumerate() {
        with_stack(|| push_steps(pair, conditions, part, atoms, steps))?;
        match condition.connective {
            Connective::All if place > 0 => steps.push(ClauseStep::And),
            Connective::Any if place > 0 => steps.push(ClauseStep::Or),
            Connective::Choice if place == 2 => steps.push(ClauseStep::Choose),
            Connective::Not => steps.push(ClauseStep::Not),
            _ => {}
        }
    }
    Some(())
}

/// The value of an expression of the configuration, with the rows as `MY`.
pub fn expression(pair: &AdPair<'_>, expr: &Expr, side: Side, atoms: &mut Atoms) -> Arc<Atom> {
    let depends = pair.depends(expr.tree(), expr.root(), side, &mut atoms.mentions);
    atoms.intern(AtomKind::Expr(expr.clone()), side, depends)
}

/// The rank that an ad gives the opposite one; one without a Rank is ranked by the other's.
pub fn rank(pair: &AdPair<'_>, side: Side, atoms: &mut Atoms) -> Arc<Atom> {
    let rank = crate::name::Name::new("Rank");
    debug_assert_eq!(rank.key(), known::RANK);
    let mut depends = pair.depends_of(rank, side, &mut atoms.mentions);
    if !pair.ad(side).contains(rank) {
        let Dependencies { row, other, .. } = pair.depends_of(rank, side.opposite(), &mut atoms.mentions);
        depends.row.extend(row);
        depends.other.extend(other);
    }
    atoms.intern(AtomKind::Rank, side, depends)
}
