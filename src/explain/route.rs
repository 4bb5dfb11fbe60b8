//! Solving a comparison for something inside of one of its sides.
//!
//! In: a side of a comparison, such as `RequestMemory / RequestCpus`, and the value that it should have. Out: the value that
//! one of the attributes in it would have then.

use crate::explain::edit::{Bound, number};
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::Value;

/// What is done to a node on the way to a side of a comparison.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// None for a minus before it.
    op: Option<BinaryOp>,
    /// Whether the way goes on at the left operand.
    is_left: bool,
}

/// The way from a side of a comparison down to a node in it, through `+`, `-`, `*` and `/`.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// The node that it leads to.
    pub(super) inner: NodeId,
    /// The other operands on the way, from the outermost to the innermost.
    pub(super) beside: Vec<NodeId>,
    /// What is done on the way, from the outermost to the innermost.
    steps: Vec<Step>,
}

/// Ways that are looked at in one side of a comparison.
const ROUTES: usize = 8;
/// Steps of a way.
const STEPS: usize = 16;

impl Route {
    /// The ways to all that is no number, in the order of the text.
    pub(super) fn all(tree: &Tree, id: NodeId) -> Vec<Self> {
        let mut found = Vec::new();
        let mut waiting = vec![Route { inner: tree.bare(id), beside: Vec::new(), steps: Vec::new() }];
        while let Some(route) = waiting.pop() {
            if found.len() == ROUTES {
                break;
            }
            let further = |inner: NodeId, beside: Option<NodeId>, step: Step| {
                let mut further = route.clone();
                further.inner = tree.bare(inner);
                further.beside.extend(beside);
                further.steps.push(step);
                further
            };
            match *tree.node(route.inner) {
                Node::Literal(_) => {}
                Node::Binary(
                    op @ (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide),
                    left,
                    right,
                ) if route.steps.len() < STEPS => {
                    waiting.push(further(right, Some(left), Step { op: Some(op), is_left: false }));
                    waiting.push(further(left, Some(right), Step { op: Some(op), is_left: true }));
                }
                Node::Unary(UnaryOp::Minus, inner) if route.steps.len() < STEPS => {
                    waiting.push(further(inner, None, Step { op: None, is_left: true }));
                }
                _ => found.push(route),
            }
        }
        found
    }

    /// Whether nothing is done on the way.
    pub(super) fn is_straight(&self) -> bool {
        self.steps.is_empty()
    }

    /// The value at the end of the way for which the whole satisfies a bound, and the bound there; rounded so that it still
    /// holds. None if there is none, or what stands beside is no number.
    pub(super) fn solved(
        &self,
        bound: Bound,
        value: Literal,
        beside: &[&Value],
        whole: bool,
    ) -> Option<(Bound, Literal)> {
        if self.is_straight() {
            return Some((bound, value));
        }
        let (mut wanted, mut turned) = (number(&value)?, false);
        let mut beside = beside.iter();
        for step in &self.steps {
            let Some(op) = step.op else {
                (wanted, turned) = (-wanted, !turned);
                continue;
            };
            let other = beside.next().filter(|value| value.as_bytes().is_none())?.as_number()?;
            match (op, step.is_left) {
                (BinaryOp::Add, _) => wanted -= other,
                (BinaryOp::Subtract, true) => wanted += other,
                (BinaryOp::Subtract, false) => (wanted, turned) = (other - wanted, !turned),
                (BinaryOp::Multiply, _) if other != 0.0 => (wanted, turned) = (wanted / other, turned ^ (other < 0.0)),
                (BinaryOp::Divide, true) if other != 0.0 => (wanted, turned) = (wanted * other, turned ^ (other < 0.0)),
                // Of a positive quotient alone it is known which way it goes.
                (BinaryOp::Divide, false) if other > 0.0 && wanted > 0.0 => {
                    (wanted, turned) = (other / wanted, !turned);
                }
                _ => return None,
            }
        }
        let bound = match (turned, bound) {
            (true, Bound::AtMost) => Bound::AtLeast,
            (true, Bound::AtLeast) => Bound::AtMost,
            (_, bound) => bound,
        };
        let rounded = match bound {
            Bound::AtMost => wanted.floor(),
            Bound::AtLeast => wanted.ceil(),
            Bound::Exactly => wanted,
        };
        let literal = if whole && rounded.fract() == 0.0 && rounded.abs() < 9e15 {
            Literal::Int(rounded as i64)
        } else {
            Literal::Real(wanted)
        };
        wanted.is_finite().then_some((bound, literal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    /// For every way through an expression: the bound and the value at its end.
    fn solved(text: &str, bound: Bound, value: i64, beside: i64) -> Vec<Option<(Bound, f64)>> {
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let beside = Value::Int(beside);
        let routes = Route::all(expr.tree(), expr.root());
        let all = routes.iter().map(|route| {
            let values: Vec<&Value> = route.beside.iter().map(|_| &beside).collect();
            let (bound, literal) = route.solved(bound, Literal::Int(value), &values, true)?;
            Some((bound, number(&literal)?))
        });
        all.collect()
    }

    #[test]
    fn what_stands_around_is_taken_off() {
        // a / 2 <= 10: a <= 20; 2 / b <= 10: b >= 0.2, in whole numbers 1.
        let quotient = solved("a / b", Bound::AtMost, 10, 2);
        assert_eq!(quotient, [Some((Bound::AtMost, 20.0)), Some((Bound::AtLeast, 1.0))]);
        // a - 3 >= 4: a >= 7; 3 - b >= 4: b <= -1.
        let difference = solved("a - b", Bound::AtLeast, 4, 3);
        assert_eq!(difference, [Some((Bound::AtLeast, 7.0)), Some((Bound::AtMost, -1.0))]);
        // -(a * -2) <= 10, or a * -2 >= -10: a <= 5.
        assert_eq!(solved("-(a * b)", Bound::AtMost, 10, -2)[0], Some((Bound::AtMost, 5.0)));
        assert_eq!(solved("a / b", Bound::AtMost, 10, 0)[0], None);
        assert_eq!(solved("a * b", Bound::AtMost, 10, 0)[0], None);
        // 2 / b <= 0 holds for no b of which it is known which way it goes.
        assert_eq!(solved("2 / b", Bound::AtMost, 0, 2), [None]);
    }
}
