//! Which parts of an expression can be evaluated at all, as far as the structure of two ads tells.
//!
//! In: a part of an expression, two ads standing for all with the same attributes and expressions. Out: its nodes that
//! may be looked at. What an attribute is that an ad does not have is known, and so is which way conditions go that ask
//! for it: `ifThenElse(Catalogs =?= undefined, 0, sum(…))`.

use crate::program::Side;
use crate::program::atom::{Found, World};
use crate::program::mentions::is_moving;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::View;

/// What is known of the value of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    True,
    False,
    Undefined,
    /// One of the two truths.
    Truth,
    Nothing,
}

impl Known {
    /// Whether it is true or false.
    fn is_truth(self) -> bool {
        matches!(self, Known::True | Known::False | Known::Truth)
    }

    /// Whether the value is known.
    fn is_settled(self) -> bool {
        matches!(self, Known::True | Known::False | Known::Undefined)
    }

    fn of(truth: bool) -> Self {
        if truth { Known::True } else { Known::False }
    }

    /// `!a`
    fn not(self) -> Self {
        match self {
            Known::True => Known::False,
            Known::False => Known::True,
            other => other,
        }
    }

    /// `a && b`, if `ends` is false, and `a || b`, if it is true: what ends the evaluation when it stands to the left.
    fn joined(self, other: Self, ends: bool) -> Self {
        let end = Known::of(ends);
        if self == end || (self.is_truth() && other == end) {
            end
        } else if self == end.not() {
            other
        } else if self.is_truth() && other.is_truth() {
            Known::Truth
        } else {
            Known::Nothing
        }
    }

    /// `self ? yes : no`
    fn choose(self, yes: Self, no: Self) -> Self {
        match self {
            Known::True => yes,
            Known::False => no,
            Known::Undefined => Known::Undefined,
            Known::Truth if yes == no => yes,
            Known::Truth if yes.is_truth() && no.is_truth() => Known::Truth,
            Known::Truth | Known::Nothing => Known::Nothing,
        }
    }
}

/// The nodes of a part that may be looked at.
#[derive(Debug)]
pub(crate) struct Liveness {
    first: NodeId,
    lives: Vec<bool>,
}

impl Liveness {
    /// Those of the part of an expression that ends in a node; the expression stands in the ad of a side.
    pub(crate) fn of(world: &World<'_>, tree: &Tree, (first, last): (NodeId, NodeId), side: Side) -> Self {
        let mut lives = vec![true; (last - first + 1) as usize];
        if (first..=last).any(|id| is_divided(tree, id)) {
            let known = known(world, tree, (first, last), side);
            lives.fill(false);
            let mut open = vec![last];
            while let Some(id) = open.pop() {
                lives[(id - first) as usize] = true;
                if known[(id - first) as usize].is_settled() {
                    continue;
                }
                let of = |id: NodeId| known[(id - first) as usize];
                match tree.view(id) {
                    View::Choice { condition, yes, no } => match of(condition) {
                        Known::True => open.push(yes),
                        Known::False => open.push(no),
                        _ => open.extend([condition, yes, no]),
                    },
                    View::Paren(inner) | View::Not(inner) => open.push(inner),
                    // If the left operand of `&&` or `||` decided, the value would be known.
                    View::Logic { left, right, .. }
                    | View::Compare { left, right, .. }
                    | View::Binary { left, right, .. } => open.extend([left, right]),
                    // In an ad or a list that is looked into, names may mean something else.
                    _ => lives[(tree.first_of(id) - first) as usize..=(id - first) as usize].fill(true),
                }
            }
        }
        Self { first, lives }
    }

    /// The nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let first = self.first;
        self.lives.iter().enumerate().filter(|(_, lives)| **lives).map(move |(at, _)| first + at as NodeId)
    }

    /// Whether parts of what may be looked at depend on one another.
    pub(crate) fn is_bound(&self, tree: &Tree) -> bool {
        self.nodes().any(|id| matches!(tree.node(id), Node::Call(call) if is_moving(tree.calls[*call as usize].name)))
    }
}

/// Whether not all parts of a node need be looked at.
fn is_divided(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.view(id), View::Logic { .. } | View::Choice { .. })
}

/// What is known of each node, those of a part before it.
fn known(world: &World<'_>, tree: &Tree, (first, last): (NodeId, NodeId), side: Side) -> Vec<Known> {
    let mut known: Vec<Known> = Vec::with_capacity((last - first + 1) as usize);
    for id in first..=last {
        let of = |id: NodeId| known[(id - first) as usize];
        let found = match tree.view(id) {
            View::Choice { condition, yes, no } => of(condition).choose(of(yes), of(no)),
            View::Literal(literal) => of_literal(literal),
            View::Paren(inner) => of(inner),
            View::Not(inner) => of(inner).not(),
            View::Logic { op, left, right } => of(left).joined(of(right), op == BinaryOp::Or),
            View::Compare { op: op @ (BinaryOp::Is | BinaryOp::Isnt), left, right } => {
                if of(left) == Known::Undefined && of(right) == Known::Undefined {
                    Known::of(op == BinaryOp::Is)
                } else if [left, right].into_iter().all(|id| is_plain(world, tree, id, side)) {
                    Known::Truth
                } else {
                    Known::Nothing
                }
            }
            View::Reference(reference) if matches!(world.resolve(reference, side), Found::Absent) => Known::Undefined,
            _ => Known::Nothing,
        };
        known.push(found);
    }
    known
}

fn of_literal(literal: &Literal) -> Known {
    match literal {
        Literal::Undefined => Known::Undefined,
        Literal::Bool(truth) => Known::of(*truth),
        _ => Known::Nothing,
    }
}

/// Whether a node is a constant or stands for one: no evaluation of it can fail.
fn is_plain(world: &World<'_>, tree: &Tree, id: NodeId, side: Side) -> bool {
    match tree.view(id) {
        View::Literal(_) => true,
        View::Reference(reference) => !matches!(world.resolve(reference, side), Found::Tree(..)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::syntax::parse::{ParseOptions, parse_expr};
    use hashbrown::HashMap;

    /// The names that may be looked at, of a slot with `there` and a job with `asked`, both constants.
    fn living(text: &str) -> String {
        let row = ClassAd::parse(b"[there = 1; tree = other + 1]").unwrap();
        let other = ClassAd::parse(b"[asked = 2]").unwrap();
        let selected = HashMap::new();
        let world = World { row: &row, other: &other, selected: &selected };
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let living = Liveness::of(&world, expr.tree(), (0, expr.root()), Side::Row);
        let names = living.nodes().filter_map(|id| expr.tree().reference(id));
        names.map(|reference| reference.name.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_branch_that_absence_decides_against_is_not_looked_at() {
        assert_eq!(living("ifThenElse(absent =?= undefined, there, asked)"), "there");
        assert_eq!(living("absent =!= undefined ? there : asked"), "asked");
        assert_eq!(living("ifThenElse(asked =?= undefined || absent =?= undefined, 0, there)"), "");
        assert_eq!(living("there > 1 && ifThenElse(absent, asked, asked)"), "there");
        assert_eq!(living("ifThenElse(there > 1, asked, absent)"), "there asked absent");
    }

    #[test]
    fn what_ends_a_chain_ends_it_only_to_the_left_or_beside_truths() {
        assert_eq!(living("false && there"), "");
        assert_eq!(living("absent is undefined || there > 1"), "");
        // `there > 1` may be an error; of what is settled no name is looked at.
        assert_eq!(living("there > 1 || absent is undefined"), "there");
        assert_eq!(living("there is 1 || absent is undefined"), "");
        // The evaluation of an expression may fail, and then that of all.
        assert_eq!(living("tree is 1 || absent is undefined"), "tree");
        // Undefined ends nothing: an error to the right is an error.
        assert_eq!(living("absent && there"), "absent there");
    }

    #[test]
    fn names_in_ads_that_are_looked_into_may_mean_anything() {
        assert_eq!(living("[absent = 1; x = absent is undefined || there > 1].x"), "absent there");
    }
}
