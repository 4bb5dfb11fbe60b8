//! The parts of an evaluation, one by one, after it is over.
//!
//! In: a scope and an expression. Out: the value of any part, and the target of any reference. Parts are evaluated
//! again, within one budget for the whole walk.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::ad::ClassAd;
use crate::eval::frame::{Active, LEFT, RIGHT};
use crate::eval::scope::Scope;
use crate::eval::{EvalError, Evaluator, Found};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::View;
use crate::value::logic::Truth;
use crate::value::{FrameId, Value};

/// A part of an expression, and where it is evaluated.
#[derive(Clone)]
pub struct Spot {
    /// The expression that the part belongs to.
    pub tree: Arc<Tree>,
    /// The root of the part.
    pub id: NodeId,
    frame: FrameId,
    /// The references being followed on the way here.
    active: SmallVec<[Active; 8]>,
    /// The attributes on the way here.
    pub path: Vec<Via>,
}

impl Spot {
    /// The node at the root of the part.
    pub fn node(&self) -> &Node {
        self.tree.node(self.id)
    }

    /// The part as an expression of its own.
    pub fn expr(&self) -> Expr {
        Expr::at(Arc::clone(&self.tree), self.id)
    }

    /// Another part of the same expression.
    #[must_use]
    pub fn part(&self, id: NodeId) -> Spot {
        Spot { id, ..self.clone() }
    }
}

/// The ad that an attribute was found in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdSide {
    /// The ad of the scope.
    My,
    /// The ad on the other side.
    Target,
    /// An ad inside another, or one made by a function.
    Inner,
}

impl AdSide {
    /// The name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            AdSide::My => "MY",
            AdSide::Target => "TARGET",
            AdSide::Inner => "an inner ad",
        }
    }
}

/// An attribute whose expression was followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Via {
    /// The attribute.
    pub name: Name,
    /// The ad that has it.
    pub side: AdSide,
}

/// The target of a reference.
pub enum Target {
    /// No ad has the attribute.
    Missing,
    /// A constant, an ad, or the clock.
    Value,
    /// An expression.
    Expr(Spot),
    /// An expression that is being followed already: the reference is undefined.
    Circular,
}

/// Evaluates parts within one budget.
pub struct Walk<'a> {
    evaluator: Evaluator<'a>,
    scope: Scope<'a>,
    /// Steps left of the budget.
    steps_left: u64,
    /// Names that may still be compared with one that is nowhere.
    comparisons: usize,
}

/// Names that are compared in one walk with those that are nowhere: a slot has some hundred.
const MAX_COMPARISONS: usize = 500_000;

impl<'a> Walk<'a> {
    /// Starts a walk in a scope, with its limits.
    pub fn new(scope: Scope<'a>) -> Self {
        Walk {
            evaluator: Evaluator::new(scope),
            scope,
            steps_left: scope.settings.limits.work,
            comparisons: MAX_COMPARISONS,
        }
    }

    /// An expression in the ad of the scope.
    pub fn start(&self, expr: &Expr) -> Spot {
        Spot {
            tree: Arc::clone(expr.tree()),
            id: expr.root(),
            frame: self.evaluator.start,
            active: SmallVec::new(),
            path: Vec::new(),
        }
    }

    pub(crate) fn scope(&self) -> Scope<'a> {
        self.scope
    }

    /// Tests whether a number of names may still be compared; counts them.
    pub(crate) fn may_compare(&mut self, names: usize) -> bool {
        let left = self.comparisons.checked_sub(names);
        self.comparisons = left.unwrap_or(self.comparisons);
        left.is_some()
    }

    /// Tests whether the budget is used up.
    pub(crate) fn exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// The value of a part. It may refer to ads of the walk: see [`Walk::released`].
    pub fn value(&mut self, spot: &Spot) -> Result<Value, EvalError> {
        self.evaluator.steps_left = self.steps_left;
        self.evaluator.bytes = 0;
        self.evaluator.active.clone_from(&spot.active);
        // A part that the evaluation does not come to may be looked at, too, within attributes that do not lead there.
        self.evaluator.known = None;
        let value = self.evaluator.eval(&spot.tree, spot.id, spot.frame);
        self.steps_left = self.evaluator.steps_left;
        self.evaluator.depth = 0;
        self.evaluator.outer_depth = 0;
        self.evaluator.search_scope = FrameId::NONE;
        value
    }

    /// A value that means the same outside the walk.
    pub(crate) fn released(&self, value: Value) -> Value {
        self.evaluator.released(value)
    }

    fn side(&self, frame: FrameId) -> AdSide {
        match (frame, self.scope.target) {
            (LEFT, Some(_)) => AdSide::My,
            (RIGHT, Some(_)) => AdSide::Target,
            (frame, None) if frame == self.evaluator.start => AdSide::My,
            _ => AdSide::Inner,
        }
    }

    /// The ad of a side.
    pub(crate) fn ad(&self, side: AdSide) -> Option<&'a ClassAd> {
        match side {
            AdSide::My => Some(self.scope.my),
            AdSide::Target => self.scope.target,
            AdSide::Inner => None,
        }
    }

    /// The target of a reference, and the ad that was searched last; `None` for parts that are not references.
    pub fn target(&mut self, spot: &Spot) -> Result<Option<(Target, AdSide)>, EvalError> {
        let name = match spot.node() {
            Node::Attr(name) | Node::Absolute(name) | Node::Select(name) => *name,
            _ => return Ok(None),
        };
        self.evaluator.steps_left = self.steps_left;
        self.evaluator.active.clone_from(&spot.active);
        self.evaluator.known = None;
        let located = self.evaluator.locate(&spot.tree, spot.id, spot.frame);
        self.evaluator.search_scope = FrameId::NONE;
        self.steps_left = self.evaluator.steps_left;
        self.evaluator.depth = 0;
        let Some(located) = located? else { return Ok(None) };
        let side = self.side(located.at);
        let owner = self.evaluator.frame(located.at).owner.0;
        let Some(found) = located.found else { return Ok(Some((Target::Missing, side))) };
        let Some((tree, id)) = found.tree() else { return Ok(Some((Target::Value, side))) };
        let active = match found {
            Found::Borrowed(_) => Active { holder: 0, part: name.key().index() as u32, owner },
            _ => Active { holder: Arc::as_ptr(&tree) as usize, part: id, owner },
        };
        if spot.active.contains(&active) {
            return Ok(Some((Target::Circular, side)));
        }
        let mut spot = Spot { tree, id, frame: located.at, ..spot.clone() };
        spot.active.push(active);
        spot.path.push(Via { name, side });
        Ok(Some((Target::Expr(spot), side)))
    }

    /// The parts of an expression in the order of the text, and whether its value depends on them. References have none
    /// here: see [`Walk::target`].
    pub(crate) fn children(&mut self, spot: &Spot) -> Vec<(Spot, bool)> {
        let parts: Vec<(NodeId, bool)> = match spot.tree.view(spot.id) {
            View::List(_) | View::Ad(_) => Vec::new(),
            View::Select { base, .. } if matches!(spot.tree.node(base), Node::Attr(_) | Node::Absolute(_)) => {
                Vec::new()
            }
            View::Reference(_) => Vec::new(),
            View::Logic { op, left, right } | View::Compare { op, left, right } | View::Binary { op, left, right } => {
                let first = self.value(&spot.part(left)).ok();
                let decided = first.is_none_or(|first| match op {
                    BinaryOp::And => Truth::of(&first).decides_and(),
                    BinaryOp::Or => Truth::of(&first).decides_or(),
                    BinaryOp::Default => !first.is_undefined(),
                    _ => false,
                });
                vec![(left, true), (right, !decided)]
            }
            View::Choice { condition, yes, no } => {
                let truth = self.value(&spot.part(condition)).ok().and_then(|value| value.as_condition());
                vec![(condition, true), (yes, truth == Some(true)), (no, truth == Some(false))]
            }
            View::Call { name, arguments } => {
                let evaluated = |at: usize| match name.folded() {
                    // The first argument is evaluated in other ads.
                    b"evalineachcontext" | b"countmatches" => at > 0 || arguments.len() != 2,
                    b"unparse" | b"unresolved" => false,
                    _ => true,
                };
                arguments.iter().enumerate().map(|(at, id)| (*id, evaluated(at))).collect()
            }
            _ => spot.tree.parts(spot.id).into_iter().map(|id| (id, true)).collect(),
        };
        parts.into_iter().map(|(id, is_evaluated)| (spot.part(id), is_evaluated)).collect()
    }
}
