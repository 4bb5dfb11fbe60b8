//! Expressions as conditions: what most of Requirements is made of, without making values of it.
//!
//! In: a node. Out: whether its value is true, false, undefined, error or no condition: [`Truth::of`] what
//! [`Evaluator::eval`] gives, with the same steps and levels counted in the same order. Chains of `&&` and `||` are
//! walked without recursion, and constants of expressions and ads are compared in place.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ad::Attribute;
use crate::eval::frame::Holder;
use crate::eval::{EvalError, Evaluator, Found, operate, with_stack};
use crate::name::{Name, known};
use crate::semantics::VersionRule;
use crate::syntax::expr::{Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::parse::Mode;
use crate::value::logic::Truth;
use crate::value::{FrameId, Type, Value, compare};

/// The evaluation was abandoned; the evaluator knows why. It takes no room beside a result, which so fits a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Aborted;

/// The value of an operand, or the constant that it is.
enum Operand<'t> {
    Literal(&'t Literal),
    Value(Value),
}

impl Operand<'_> {
    fn text(&self) -> Option<&[u8]> {
        match self {
            Operand::Literal(Literal::Str(text)) | Operand::Value(Value::Str(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self) -> Cow<'_, Value> {
        match self {
            Operand::Literal(literal) => Cow::Owned(Value::from(*literal)),
            Operand::Value(value) => Cow::Borrowed(value),
        }
    }
}

/// A comparison of two constants of the kinds that most are, as a condition; none for other operators and kinds.
/// Integers are compared by their order, and what is undefined is identical to itself alone.
#[inline]
pub(super) fn plain_truth(op: BinaryOp, first: &Literal, second: &Literal) -> Option<Truth> {
    use Literal::{Bool, Int, Undefined};
    let truth = match (op, first, second) {
        (BinaryOp::Less, Int(a), Int(b)) => a < b,
        (BinaryOp::LessEqual, Int(a), Int(b)) => a <= b,
        (BinaryOp::Greater, Int(a), Int(b)) => a > b,
        (BinaryOp::GreaterEqual, Int(a), Int(b)) => a >= b,
        (BinaryOp::Equal | BinaryOp::Is, Int(a), Int(b)) => a == b,
        (BinaryOp::NotEqual | BinaryOp::Isnt, Int(a), Int(b)) => a != b,
        (BinaryOp::Equal | BinaryOp::Is, Bool(a), Bool(b)) => a == b,
        (BinaryOp::NotEqual | BinaryOp::Isnt, Bool(a), Bool(b)) => a != b,
        (BinaryOp::Is, Undefined, other) | (BinaryOp::Is, other, Undefined) => matches!(other, Undefined),
        (BinaryOp::Isnt, Undefined, other) | (BinaryOp::Isnt, other, Undefined) => !matches!(other, Undefined),
        _ => return None,
    };
    Some(if truth { Truth::True } else { Truth::False })
}

/// The steps that a comparison of two strings takes beside those of its operands.
pub(super) fn text_steps(a: &[u8], b: &[u8]) -> u64 {
    (a.len().min(b.len()) / 32) as u64
}

impl<'a> Evaluator<'a> {
    /// As [`Evaluator::truth`], for those who want to know why it was abandoned.
    pub(super) fn condition(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Truth, EvalError> {
        self.truth(tree, id, frame).map_err(|abandoned| self.failure(abandoned))
    }

    /// The reason that the evaluation was abandoned.
    pub(super) fn failure(&mut self, _: Aborted) -> EvalError {
        self.failed.take().unwrap_or(EvalError::Work(self.work))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn abandon(&mut self, failed: EvalError) -> Aborted {
        self.failed = Some(failed);
        Aborted
    }

    #[inline]
    fn step(&mut self) -> Result<(), Aborted> {
        self.count(1)
    }

    /// Counts several steps.
    #[inline]
    pub(super) fn count(&mut self, steps: u64) -> Result<(), Aborted> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    #[cold]
    #[inline(never)]
    fn exhausted(&mut self) -> Aborted {
        let too_much = self.too_much_work();
        self.abandon(too_much)
    }

    /// The meaning of a value as a condition.
    #[inline]
    pub(super) fn meaning(&self, value: &Value) -> Truth {
        match value {
            Value::Int(_) | Value::Real(_) if !self.has_numeric_conditions() => Truth::NotBoolean,
            value => Truth::of(value),
        }
    }

    /// Tests whether the right operand is evaluated although the left one is an error: in versions where it may fail.
    #[inline]
    fn goes_on_after(&self, truth: Truth, tree: &Tree) -> bool {
        truth == Truth::Error && self.is_old(VersionRule::Cycle, tree)
    }

    fn has_numeric_conditions(&self) -> bool {
        !(self.settings.semantics.is_old(VersionRule::StrictBoolean) && self.settings.mode == Mode::Strict)
    }

    /// The meaning of a constant as a condition.
    fn meaning_of_literal(&self, literal: &Literal) -> Truth {
        meaning_of_literal(literal, |value| self.meaning(value))
    }

    /// Goes one level deeper; the caller comes back.
    #[inline]
    fn enter(&mut self) -> Result<(), Aborted> {
        if self.depth >= self.deepest {
            return self.enter_beyond();
        }
        self.depth += 1;
        Ok(())
    }

    /// The meaning of the value of a node as a condition.
    pub(super) fn truth(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Truth, Aborted> {
        let depth = self.depth;
        let truth = self.counted_truth(tree, id, frame);
        self.depth = depth;
        truth
    }

    /// As [`Evaluator::truth`], but the depth afterwards is any.
    fn counted_truth(&mut self, tree: &Arc<Tree>, mut id: NodeId, frame: FrameId) -> Result<Truth, Aborted> {
        let mut negations = 0;
        let truth = loop {
            self.step()?;
            match tree.node(id) {
                Node::Paren(inner) => {
                    self.enter()?;
                    id = *inner;
                }
                Node::Unary(UnaryOp::Not, operand) => {
                    self.enter()?;
                    negations += 1;
                    id = *operand;
                }
                Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                    if self.depth >= self.deepest {
                        break self.logic_beyond(tree, *op, [*left, *right], frame)?;
                    }
                    self.depth += 1;
                    break self.logic(tree, *op, [*left, *right], frame)?;
                }
                _ => break self.leaf(tree, id, frame)?,
            }
        };
        // Twice is not the same as not at all: what is no condition becomes an error.
        Ok(if negations == 0 { truth } else { (0..negations).fold(truth, |truth, _| truth.not()) })
    }

    /// `left && right`, `left || right`, for a node that is counted already and whose level is entered.
    pub(super) fn logic(
        &mut self,
        tree: &Arc<Tree>,
        op: BinaryOp,
        [left, right]: [NodeId; 2],
        frame: FrameId,
    ) -> Result<Truth, Aborted> {
        let (depth, below) = (self.depth, self.waiting.len());
        let truth = self.counted_logic(tree, op, left, right, frame);
        self.depth = depth;
        self.waiting.truncate(below);
        truth
    }

    /// As [`Evaluator::logic`], but the depth afterwards is any, and so is what waits.
    fn counted_logic(
        &mut self,
        tree: &Arc<Tree>,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
        frame: FrameId,
    ) -> Result<Truth, Aborted> {
        // `a && b && c` is `(a && b) && c`: down along the left side, then up again.
        let (top, below, mut id) = (self.depth, self.waiting.len(), left);
        self.waiting.push((op, right));
        let mut truth = loop {
            match tree.node(id) {
                Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                    self.step()?;
                    self.enter()?;
                    self.waiting.push((*op, *right));
                    id = *left;
                }
                _ => break self.truth(tree, id, frame)?,
            }
        };
        while self.waiting.len() > below
            && let Some((op, right)) = self.waiting.pop()
        {
            self.depth = top + (self.waiting.len() - below) as u32;
            truth = match op {
                BinaryOp::And if truth.decides_and() && !self.goes_on_after(truth, tree) => truth,
                BinaryOp::And => truth.and(self.truth(tree, right, frame)?),
                _ if truth.decides_or() && !self.goes_on_after(truth, tree) => truth,
                _ => truth.or(self.truth(tree, right, frame)?),
            };
        }
        Ok(truth)
    }

    /// A node that is not logic, counted already.
    pub(super) fn leaf(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Truth, Aborted> {
        match tree.node(id) {
            Node::Attr(name) => match self.plain_reference(*name, frame) {
                Some((Some(Attribute::Literal(literal)), _)) if self.depth < self.deepest => {
                    Ok(self.meaning_of_literal(literal))
                }
                Some((Some(Attribute::Tree(tree)), at)) => self.tree_truth(tree, *name, at),
                Some((None, _)) => Ok(Truth::Undefined),
                _ => match self.resolve_reference(*name, frame) {
                    Some((found, at)) => self.follow_truth(found, *name, at),
                    None => Ok(Truth::Undefined),
                },
            },
            Node::Select(name) => match self.side(tree, base_of(id), frame) {
                Some(side) => {
                    self.step()?;
                    self.truth_outward(*name, side)
                }
                None => self.value_truth(tree, id, frame),
            },
            Node::Binary(op, left, right) if *op != BinaryOp::Default => {
                self.enter()?;
                // They stay where they are made: moving them takes longer than most comparisons.
                let Ok(first) = &self.operand(tree, *left, frame) else { return Err(Aborted) };
                let Ok(second) = &self.operand(tree, *right, frame) else { return Err(Aborted) };
                if let (Operand::Literal(first), Operand::Literal(second)) = (first, second)
                    && let Some(truth) = plain_truth(*op, first, second)
                {
                    return Ok(truth);
                }
                if let Some(holds) = self.text_comparison(*op, first, second)? {
                    return Ok(if holds { Truth::True } else { Truth::False });
                }
                Ok(self.meaning(&operate(*op, &first.value(), &second.value())))
            }
            _ => self.value_truth(tree, id, frame),
        }
    }

    /// The type of the value of a node.
    pub(crate) fn type_of(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Type, EvalError> {
        match &self.operand(tree, id, frame) {
            Ok(Operand::Literal(Literal::Str(_))) => Ok(Type::Str),
            Ok(operand) => Ok(operand.value().type_of()),
            Err(abandoned) => Err(self.failure(*abandoned)),
        }
    }

    fn value_truth(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Truth, Aborted> {
        match self.node(tree, id, frame) {
            Ok(value) => Ok(self.meaning(&value)),
            Err(failed) => Err(self.abandon(failed)),
        }
    }

    /// As [`Evaluator::outward`], as a condition.
    pub(super) fn truth_outward(&mut self, name: Name, frame: FrameId) -> Result<Truth, Aborted> {
        match self.resolve(name, frame) {
            Some((found, at)) => self.follow_truth(found, name, at),
            None => Ok(Truth::Undefined),
        }
    }

    /// As [`Evaluator::follow`], as a condition.
    fn follow_truth(&mut self, found: Found<'a>, name: Name, at: FrameId) -> Result<Truth, Aborted> {
        match found {
            Found::Borrowed(tree) => self.tree_truth(tree, name, at),
            Found::Literal(literal) if self.depth < self.deepest => Ok(self.meaning_of_literal(literal)),
            found => match self.follow(found, name, at) {
                Ok(value) => Ok(self.meaning(&value)),
                Err(failed) => Err(self.abandon(failed)),
            },
        }
    }

    /// An expression of an attribute that was found in an ad, as a condition.
    fn tree_truth(&mut self, tree: &'a Arc<Tree>, name: Name, at: FrameId) -> Result<Truth, Aborted> {
        if self.depth >= self.deepest {
            return self.tree_truth_beyond(tree, name, at);
        }
        let active = self.active_in(name, at);
        if self.active.contains(&active) {
            return self.circular(tree).map(|_| Truth::Undefined).map_err(|failed| self.abandon(failed));
        }
        let start = self.start_of_attribute(active, at);
        if let Some(known) = start.as_ref().and_then(|start| self.known(start)) {
            return known.map_err(|failed| self.abandon(failed));
        }
        self.depth += 1;
        self.active.push(active);
        let truth = self.with_fresh_search(|evaluator| with_stack(|| evaluator.whole_truth(tree, at)));
        self.active.pop();
        self.depth -= 1;
        if let (Some(start), Ok(truth)) = (&start, &truth) {
            self.remember(start, truth);
        }
        truth
    }

    /// As [`Evaluator::resolve_reference`] for the case that nearly all are: a name without a meaning of its own, in
    /// one of the ads that an evaluation is given. The attribute, if there is one, and the ad that has it; none for
    /// other cases.
    #[inline]
    fn plain_reference(&self, name: Name, frame: FrameId) -> Option<(Option<&'a Attribute>, FrameId)> {
        let Holder::Ad(ad) = self.frame(frame).holder else { return None };
        if known::is_known(name.key()) || self.search_scope != FrameId::NONE {
            return None;
        }
        if let Some(attribute) = ad.lookup(name) {
            return Some((Some(attribute), frame));
        }
        let Some(alternate) = self.frame(frame).alternate else { return Some((None, frame)) };
        let Holder::Ad(ad) = self.frame(alternate).holder else { return None };
        Some((ad.lookup(name), alternate))
    }

    /// An operator that evaluates both operands, for a node that is counted already and whose level is entered.
    pub(super) fn strict(
        &mut self,
        tree: &Arc<Tree>,
        op: BinaryOp,
        [left, right]: [NodeId; 2],
        frame: FrameId,
    ) -> Result<Value, Aborted> {
        let Ok(first) = &self.operand(tree, left, frame) else { return Err(Aborted) };
        let Ok(second) = &self.operand(tree, right, frame) else { return Err(Aborted) };
        match self.text_comparison(op, first, second)? {
            Some(holds) => Ok(Value::Bool(holds)),
            None => Ok(operate(op, &first.value(), &second.value())),
        }
    }

    /// A comparison of two strings; none for other operators and kinds.
    fn text_comparison(
        &mut self,
        op: BinaryOp,
        first: &Operand<'_>,
        second: &Operand<'_>,
    ) -> Result<Option<bool>, Aborted> {
        let (Some(a), Some(b)) = (first.text(), second.text()) else { return Ok(None) };
        self.count(text_steps(a, b))?;
        Ok(compare::texts(op, a, b))
    }

    /// Evaluates an operand; constants of the expression and of the ads stay where they are.
    fn operand<'t>(&mut self, tree: &'t Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Operand<'t>, Aborted>
    where
        'a: 't,
    {
        self.step()?;
        let (found, name, at) = match tree.node(id) {
            Node::Literal(literal) => return Ok(Operand::Literal(literal)),
            Node::Attr(name) => match self.plain_reference(*name, frame) {
                Some((Some(Attribute::Literal(literal)), _)) if self.depth < self.deepest => {
                    return Ok(Operand::Literal(literal));
                }
                Some((None, _)) => return Ok(Operand::Literal(&Literal::Undefined)),
                Some((Some(Attribute::Tree(tree)), at)) => (Found::Borrowed(tree), *name, at),
                _ => match self.resolve_reference(*name, frame) {
                    Some((found, at)) => (found, *name, at),
                    None => return Ok(Operand::Literal(&Literal::Undefined)),
                },
            },
            Node::Select(name) => match self.side(tree, base_of(id), frame) {
                Some(side) => {
                    self.step()?;
                    match self.resolve(*name, side) {
                        Some((found, at)) => (found, *name, at),
                        None => return Ok(Operand::Value(Value::Undefined)),
                    }
                }
                None => return self.operand_value(tree, id, frame),
            },
            _ => return self.operand_value(tree, id, frame),
        };
        match found {
            Found::Literal(literal) if self.depth < self.deepest => Ok(Operand::Literal(literal)),
            found => match self.follow(found, name, at) {
                Ok(value) => Ok(Operand::Value(value)),
                Err(failed) => Err(self.abandon(failed)),
            },
        }
    }

    fn operand_value<'t>(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Operand<'t>, Aborted> {
        match self.node(tree, id, frame) {
            Ok(value) => Ok(Operand::Value(value)),
            Err(failed) => Err(self.abandon(failed)),
        }
    }
}

/// The meaning of a constant as a condition, where `meaning` is that of other values than truths, strings and undefined.
#[inline]
pub(super) fn meaning_of_literal(literal: &Literal, meaning: impl FnOnce(&Value) -> Truth) -> Truth {
    match literal {
        Literal::Bool(true) => Truth::True,
        Literal::Bool(false) => Truth::False,
        Literal::Undefined => Truth::Undefined,
        Literal::Str(_) => Truth::NotBoolean,
        other => meaning(&Value::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::compiled::tests::compile;
    use crate::eval::scope::{EvalOptions, Limits, Scope};

    /// Expressions of every kind, evaluated in `MY` with `TARGET` opposite.
    const EXPRESSIONS: [&str; 34] = [
        "true",
        "Missing",
        "Cpus",
        "MY.Cpus > 1 && TARGET.Cpus > 1 && Missing",
        "(Missing || true) && (error || true)",
        "true || error && \"text\"",
        "\"text\" && true",
        "\"text\" || true",
        "!\"text\"",
        "!!\"text\"",
        "!!3",
        "!(Cpus > 100) && !Missing",
        "false && Loop",
        "Loop",
        "A",
        "A || B || C || true",
        "(((Cpus)))",
        "(((!(((Cpus > 1))))))",
        "Cpus > 1 ? A : B",
        "Missing ? A : B",
        "\"text\" ? A : B",
        "Missing ?: A",
        "isUndefined(Missing) && ifThenElse(Cpus > 1, B, C)",
        "Name == \"SLOT1\" && TARGET.Name =!= \"job\"",
        "Name =?= \"slot1\" || Name < \"a\"",
        "[x = Cpus > 1].x && {true, false}[0]",
        "{true} && true",
        "MY && TARGET",
        "TARGET.MY.Cpus == other.Cpus",
        "parent.Cpus || root.Cpus",
        "strcat(\"a\", Name) == \"aslot1\" && .Cpus",
        "absTime(\"2020-01-01T00:00:00Z\") || relTime(5) && true",
        "CurrentTime > 5 && 1 + 1 && 0.0 || -0.0",
        "1 & 2 && 3 | 4 && Big == Big",
    ];

    #[test]
    fn a_condition_is_what_the_value_means_within_every_limit() {
        let target = ClassAd::parse(b"[Name = \"job\"; Cpus = 1; C = MY.Name]").unwrap();
        let big = format!("\"{}\"", "x".repeat(320));
        for text in EXPRESSIONS {
            let my = format!(
                "[Requirements = {text}; Name = \"slot1\"; Cpus = 4; Loop = Loop || true; A = B && Missing; B = Cpus > 2; Big = {big}]"
            );
            let [my, compiled] = [(); 2].map(|()| ClassAd::parse(my.as_bytes()).unwrap());
            compile(&compiled);
            let limits = (0..60).map(|work| Limits { work, ..Limits::default() });
            let limits = limits.chain((0..20).map(|depth| Limits { depth, ..Limits::default() }));
            for limits in limits.chain([Limits::default()]) {
                for mode in [Mode::HTCondor, Mode::Strict] {
                    let settings = EvalOptions { mode, limits, ..EvalOptions::default() };
                    let requirements = Name::new("Requirements");
                    for scope in [Scope::new(&my, &settings), Scope::new(&my, &settings).with_target(&target)] {
                        let value = Evaluator::new(scope).eval_attribute(requirements);
                        let value = value.map(|value| Truth::of(&value));
                        assert_eq!(
                            Evaluator::new(scope).attribute_truth(requirements),
                            value,
                            "{text} within {limits:?}"
                        );
                        let scope = Scope { my: &compiled, ..scope };
                        assert_eq!(
                            Evaluator::new(scope).attribute_truth(requirements),
                            value,
                            "{text} compiled, {limits:?}"
                        );
                    }
                }
            }
        }
    }
}
