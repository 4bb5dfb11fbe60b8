//! Requirements: a part of a condition shall have one of some truths.
//!
//! In: conditions that shall hold or not. Out: requirements of their parts that are as good together, and alternatives
//! to one requirement of which one is met wherever it is. The parts of the conditions can be looked at one by one
//! then.

use std::sync::Arc;

use super::evaluate::not;
use super::quantities::part_key;
use super::values::Truths;
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, copy_node};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};

/// All truths but true.
pub(super) const NOT_TRUE: Truths = Truths(Truths::FALSE.0 | Truths::UNDEFINED.0 | Truths::ERROR.0);

/// The truths with which `||` goes on to its next operand.
const GOES_ON: Truths = Truths(Truths::FALSE.0 | Truths::UNDEFINED.0);

/// A part of a condition, and the truths of which it shall have one.
#[derive(Clone, Debug)]
pub(super) struct Requirement {
    pub(super) expr: Expr,
    pub(super) wanted: Truths,
}

impl Requirement {
    pub(super) fn of(expr: &Expr, wanted: Truths) -> Self {
        Self { expr: expr.clone(), wanted }
    }

    fn part(&self, id: NodeId, wanted: Truths) -> Self {
        Self { expr: self.expr.part(id), wanted }
    }

    /// The requirements of parts that are met together exactly where this one is.
    pub(super) fn parts(self) -> Vec<Self> {
        let (mut found, mut waiting) = (Vec::new(), vec![self]);
        while let Some(next) = waiting.pop() {
            let tree = next.expr.tree();
            let id = next.expr.root();
            match tree.view(id) {
                View::Paren(inner) => waiting.push(next.part(inner, next.wanted)),
                View::Not(operand) => waiting.push(next.part(operand, not(next.wanted))),
                View::Logic { op, left, right }
                    if next.wanted == (if op == BinaryOp::And { Truths::TRUE } else { Truths::FALSE }) =>
                {
                    waiting.extend([right, left].map(|operand| next.part(operand, next.wanted)));
                }
                _ => found.push(next),
            }
        }
        found
    }

    /// Sets of requirements of which one is met wherever this one is; none if it has no alternatives.
    pub(super) fn alternatives(&self) -> Vec<Vec<Self>> {
        let tree = self.expr.tree();
        let id = self.expr.root();
        let wanted = self.wanted;
        match tree.view(id) {
            // The first operand that is not true decides, but for errors behind one that is undefined.
            View::Logic { op: op @ BinaryOp::And, .. } if matches!(wanted, NOT_TRUE | GOES_ON) => {
                tree.flattened(op, id).into_iter().map(|operand| vec![self.part(operand, wanted)]).collect()
            }
            View::Logic { op: op @ BinaryOp::Or, .. } if matches!(wanted, Truths::TRUE | NOT_TRUE) => {
                let operands = tree.flattened(op, id);
                let before = |at: usize| operands[..at].iter().map(|operand| self.part(*operand, GOES_ON));
                let decides = if wanted == Truths::TRUE { Truths::TRUE } else { Truths::ERROR };
                let one = |at: usize| before(at).chain([self.part(operands[at], decides)]).collect();
                let none = (wanted == NOT_TRUE).then(|| before(operands.len()).collect());
                none.into_iter().chain((0..operands.len()).map(one)).collect()
            }
            View::Choice { condition, yes, no } => {
                let mut found: Vec<Vec<Self>> = [(Truths::TRUE, yes), (Truths::FALSE, no)]
                    .map(|(truth, branch)| vec![self.part(condition, truth), self.part(branch, wanted)])
                    .into();
                let absent = wanted.and(Truths::UNDEFINED.or(Truths::ERROR));
                if absent != Truths::NONE {
                    found.push(vec![self.part(condition, absent)]);
                }
                found
            }
            View::Binary { op: BinaryOp::Default, left, right } => {
                let defined = wanted.and(Truths(!Truths::UNDEFINED.0 & 15));
                let absent = vec![self.part(left, Truths::UNDEFINED), self.part(right, wanted)];
                [(defined != Truths::NONE).then(|| vec![self.part(left, defined)]), Some(absent)]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The number of nodes.
    pub(super) fn size(&self) -> usize {
        let root = self.expr.root();
        (root - self.expr.tree().first_of(root) + 1) as usize
    }

    /// The requirements of which one is met wherever this one is, if it is that one of several conditions is true.
    pub(super) fn choices(&self) -> Vec<Self> {
        let (tree, id) = (self.expr.tree(), self.expr.root());
        match tree.view(id) {
            View::Logic { op: op @ BinaryOp::Or, .. } if self.wanted == Truths::TRUE => {
                tree.flattened(op, id).into_iter().map(|operand| self.part(operand, Truths::TRUE)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The key that two requirements of the same part have.
    pub(super) fn key(&self) -> Option<String> {
        part_key(self.expr.tree(), self.expr.root())
    }

    /// The same requirement where it is known of some attributes if the ad of the expression has them. Where it has
    /// one, `x` is `MY.x`; where not, `x` is `TARGET.x`, and `MY.x` is undefined.
    pub(super) fn resolved(&self, names: &[(Name, bool)]) -> Self {
        let is_in = |name: Name| names.iter().find(|(of, _)| *of == name).map(|(_, is_in)| *is_in);
        let is_resolved = |reference: &Reference| match reference.scope {
            RefScope::Either => is_in(reference.name).is_some(),
            RefScope::My => is_in(reference.name) == Some(false),
            RefScope::Target => false,
        };
        let (tree, root) = (self.expr.tree(), self.expr.root());
        let first = tree.first_of(root);
        let resolved = |id: NodeId| tree.reference(id).filter(is_resolved);
        let mut new = Tree { semantics: tree.semantics, ..Tree::default() };
        let mut places: Vec<NodeId> = Vec::new();
        for id in first..=root {
            match resolved(id) {
                Some(Reference { scope: RefScope::My, .. }) => new.nodes.push(Node::Literal(Literal::Undefined)),
                Some(Reference { name, .. }) => {
                    let ad = if is_in(name) == Some(true) { "MY" } else { "TARGET" };
                    new.nodes.extend([Node::Attr(Name::new(ad)), Node::Select(name)]);
                }
                // The ad of a selection goes with it.
                None if id < root && is_base(tree, id) && resolved(id + 1).is_some() => {}
                None => copy_node(&mut new, tree, id, |part| places[(part - first) as usize]),
            }
            places.push((new.nodes.len() as NodeId).saturating_sub(1));
        }
        let root = places[(root - first) as usize];
        Self { expr: Expr::at(Arc::new(new), root), wanted: self.wanted }
    }
}

/// Tests whether a node is the ad of a selection that follows it.
fn is_base(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(id + 1), Node::Select(_))
}
