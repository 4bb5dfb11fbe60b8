//! The parts of an expression that can be evaluated at all, as far as the structure of two ads shows.
//!
//! In: a part of an expression, and two ads as samples of their structures. Out: the nodes that may be evaluated. The
//! value of an absent attribute is known, and so is the branch of conditions that ask for it: `ifThenElse(Catalogs =?=
//! undefined, 0, sum(…))`.

use crate::program::Side;
use crate::program::atom::{AdPair, Resolved};
use crate::program::mentions::is_moving;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::View;

/// The knowledge about the value of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knowledge {
    True,
    False,
    Undefined,
    /// True or false.
    Boolean,
    Unknown,
}

impl Knowledge {
    /// Returns whether it is true or false.
    fn is_boolean(self) -> bool {
        matches!(self, Knowledge::True | Knowledge::False | Knowledge::Boolean)
    }

    /// Returns whether the value is known.
    fn is_settled(self) -> bool {
        matches!(self, Knowledge::True | Knowledge::False | Knowledge::Undefined)
    }

    fn of(truth: bool) -> Self {
        if truth { Knowledge::True } else { Knowledge::False }
    }

    /// `!a`
    fn not(self) -> Self {
        match self {
            Knowledge::True => Knowledge::False,
            Knowledge::False => Knowledge::True,
            other => other,
        }
    }

    /// `a && b` if `ends` is false, `a || b` if it is true: the left operand that ends the evaluation.
    fn joined(self, other: Self, ends: bool) -> Self {
        let end = Knowledge::of(ends);
        if self == end || (self.is_boolean() && other == end) {
            end
        } else if self == end.not() {
            other
        } else if self.is_boolean() && other.is_boolean() {
            Knowledge::Boolean
        } else {
            Knowledge::Unknown
        }
    }

    /// `self ? yes : no`
    fn choose(self, yes: Self, no: Self) -> Self {
        match self {
            Knowledge::True => yes,
            Knowledge::False => no,
            Knowledge::Undefined => Knowledge::Undefined,
            Knowledge::Boolean if yes == no => yes,
            Knowledge::Boolean if yes.is_boolean() && no.is_boolean() => Knowledge::Boolean,
            Knowledge::Boolean | Knowledge::Unknown => Knowledge::Unknown,
        }
    }
}

/// The nodes of a part that may be evaluated.
#[derive(Debug)]
pub(crate) struct Liveness {
    first: NodeId,
    reachable: Vec<bool>,
}

impl Liveness {
    /// The reachable nodes of a part of an expression of the ad of a side.
    pub(crate) fn of(pair: &AdPair<'_>, tree: &Tree, (first, last): (NodeId, NodeId), side: Side) -> Self {
        let mut reachable = vec![true; (last - first + 1) as usize];
        // In older versions a part that does not count is evaluated too, and may fail.
        if pair.semantics.is_present() && (first..=last).any(|id| is_divided(tree, id)) {
            let knowledge = knowledge(pair, tree, (first, last), side);
            reachable.fill(false);
            let mut open = vec![last];
            while let Some(id) = open.pop() {
                reachable[(id - first) as usize] = true;
                if knowledge[(id - first) as usize].is_settled() {
                    continue;
                }
                let of = |id: NodeId| knowledge[(id - first) as usize];
                match tree.view(id) {
                    View::Choice { condition, yes, no } => match of(condition) {
                        Knowledge::True => open.push(yes),
                        Knowledge::False => open.push(no),
                        _ => open.extend([condition, yes, no]),
                    },
                    View::Paren(inner) | View::Not(inner) => open.push(inner),
                    // If the left operand of `&&` or `||` decided, the value would be known.
                    View::Logic { left, right, .. }
                    | View::Compare { left, right, .. }
                    | View::Binary { left, right, .. } => open.extend([left, right]),
                    // Inside a nested ad or a list, names may mean something else.
                    _ => reachable[(tree.first_of(id) - first) as usize..=(id - first) as usize].fill(true),
                }
            }
        }
        Self { first, reachable }
    }

    /// The nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let first = self.first;
        self.reachable.iter().enumerate().filter(|(_, reachable)| **reachable).map(move |(at, _)| first + at as NodeId)
    }

    /// Returns whether reachable parts depend on one another.
    pub(crate) fn is_bound(&self, tree: &Tree) -> bool {
        self.nodes().any(|id| matches!(tree.node(id), Node::Call(call) if is_moving(tree.calls[*call as usize].name)))
    }
}

/// Returns whether a node need not evaluate all of its parts.
fn is_divided(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.view(id), View::Logic { .. } | View::Choice { .. })
}

/// The knowledge about each node; parts come before the node they belong to.
fn knowledge(pair: &AdPair<'_>, tree: &Tree, (first, last): (NodeId, NodeId), side: Side) -> Vec<Knowledge> {
    let mut knowledge: Vec<Knowledge> = Vec::with_capacity((last - first + 1) as usize);
    for id in first..=last {
        let of = |id: NodeId| knowledge[(id - first) as usize];
        let found = match tree.view(id) {
            View::Choice { condition, yes, no } => of(condition).choose(of(yes), of(no)),
            View::Literal(literal) => of_literal(literal),
            View::Paren(inner) => of(inner),
            View::Not(inner) => of(inner).not(),
            View::Logic { op, left, right } => of(left).joined(of(right), op == BinaryOp::Or),
            View::Compare { op: op @ (BinaryOp::Is | BinaryOp::Isnt), left, right } => {
                if of(left) == Knowledge::Undefined && of(right) == Knowledge::Undefined {
                    Knowledge::of(op == BinaryOp::Is)
                } else if [left, right].into_iter().all(|id| is_plain(pair, tree, id, side)) {
                    Knowledge::Boolean
                } else {
                    Knowledge::Unknown
                }
            }
            View::Reference(reference) if matches!(pair.resolve(reference, side), Resolved::Absent) => {
                Knowledge::Undefined
            }
            _ => Knowledge::Unknown,
        };
        knowledge.push(found);
    }
    knowledge
}

fn of_literal(literal: &Literal) -> Knowledge {
    match literal {
        Literal::Undefined => Knowledge::Undefined,
        Literal::Bool(truth) => Knowledge::of(*truth),
        _ => Knowledge::Unknown,
    }
}

/// Returns whether a node is a constant or refers to one, so that its evaluation cannot fail.
fn is_plain(pair: &AdPair<'_>, tree: &Tree, id: NodeId, side: Side) -> bool {
    match tree.view(id) {
        View::Literal(_) => true,
        View::Reference(reference) => !matches!(pair.resolve(reference, side), Resolved::Tree(..)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::syntax::parse::{ParseOptions, parse_expr};
    use hashbrown::HashMap;

    /// The names that may be evaluated, with a slot that has `there` and a job that has `asked`, both constants.
    fn reachable(text: &str) -> String {
        let row = ClassAd::parse(b"[there = 1; tree = other + 1]").unwrap();
        let other = ClassAd::parse(b"[asked = 2]").unwrap();
        let selected = HashMap::new();
        let pair = AdPair { row: &row, other: &other, selected: &selected, semantics: crate::Semantics::default() };
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let reachable = Liveness::of(&pair, expr.tree(), (0, expr.root()), Side::Row);
        let names = reachable.nodes().filter_map(|id| expr.tree().reference(id));
        names.map(|reference| reference.name.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_branch_that_absence_decides_against_is_not_looked_at() {
        assert_eq!(reachable("ifThenElse(absent =?= undefined, there, asked)"), "there");
        assert_eq!(reachable("absent =!= undefined ? there : asked"), "asked");
        assert_eq!(reachable("ifThenElse(asked =?= undefined || absent =?= undefined, 0, there)"), "");
        assert_eq!(reachable("there > 1 && ifThenElse(absent, asked, asked)"), "there");
        assert_eq!(reachable("ifThenElse(there > 1, asked, absent)"), "there asked absent");
    }

    #[test]
    fn what_ends_a_chain_ends_it_only_to_the_left_or_beside_truths() {
        assert_eq!(reachable("false && there"), "");
        assert_eq!(reachable("absent is undefined || there > 1"), "");
        // `there > 1` may be an error; names in settled parts are not considered.
        assert_eq!(reachable("there > 1 || absent is undefined"), "there");
        assert_eq!(reachable("there is 1 || absent is undefined"), "");
        // The evaluation of an expression may fail, and then that of all.
        assert_eq!(reachable("tree is 1 || absent is undefined"), "tree");
        // Undefined ends nothing: an error to the right is an error.
        assert_eq!(reachable("absent && there"), "absent there");
    }

    #[test]
    fn names_in_ads_that_are_looked_into_may_mean_anything() {
        assert_eq!(reachable("[absent = 1; x = absent is undefined || there > 1].x"), "absent there");
    }
}
