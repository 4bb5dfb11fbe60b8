//! Compiled conditions, run in the ads of an evaluation.
//!
//! In: the instructions of a condition ([`crate::syntax::compiled`]). Out: what [`Evaluator::truth`] gives, with the same steps and levels
//! counted. Comparisons of constants and of attributes that are constants are made in place; all else is left to the
//! evaluator, and so is a condition that comes too near the depth limit.

use std::sync::Arc;

use crate::ad::{Attribute, ClassAd};
use crate::eval::condition::{Aborted, plain_truth, text_steps};
use crate::eval::frame::{Holder, LEFT, RIGHT};
use crate::eval::{EvalError, Evaluator};
use crate::name::known;
use crate::syntax::compiled::{CompiledCondition, ConditionPart, Form, Instruction, MAX_KEPT, OperandPlace, Sides};
use crate::syntax::expr::{Node, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::value::logic::Truth;
use crate::value::{FrameId, compare};

/// The ads that the names of a condition are looked up in.
struct Around<'a> {
    own: &'a ClassAd,
    /// The ad for names without a scope that are missing in its own.
    alternate: Option<&'a ClassAd>,
    /// The ad that `TARGET` means; none if it means something else, or nothing is known of it.
    other: Option<&'a ClassAd>,
}

impl<'a> Around<'a> {
    /// The constant that an operand is; none if it is anything else.
    #[inline]
    fn literal<'t>(&self, place: OperandPlace, tree: &'t Tree) -> Option<&'t Literal>
    where
        'a: 't,
    {
        let attribute = match place {
            OperandPlace::Literal(id) => match tree.node(id) {
                Node::Literal(literal) => return Some(literal),
                _ => return None,
            },
            OperandPlace::Unscoped(key) => match (self.own.lookup_key(key), self.alternate) {
                (None, Some(alternate)) => alternate.lookup_key(key),
                (attribute, _) => attribute,
            },
            OperandPlace::Opposite(key) => self.alternate?.lookup_key(key),
            OperandPlace::Mine(key) => {
                self.other?;
                self.own.lookup_key(key)
            }
            OperandPlace::Theirs(key) => self.other?.lookup_key(key),
            OperandPlace::Other => return None,
        };
        match attribute {
            Some(Attribute::Literal(literal)) => Some(literal),
            Some(Attribute::Tree(_)) => None,
            None => Some(&Literal::Undefined),
        }
    }
}

impl<'a> Evaluator<'a> {
    /// The meaning of the value of a whole expression as a condition: that of [`Evaluator::truth`].
    pub(super) fn whole_truth(&mut self, tree: &Arc<Tree>, frame: FrameId) -> Result<Truth, Aborted> {
        match tree.compiled() {
            Some(compiled) => self.compiled_truth(compiled, tree, frame),
            None => self.truth(tree, tree.root(), frame),
        }
    }

    /// As [`Evaluator::whole_truth`], for those who want to know why it was abandoned.
    pub(super) fn whole_condition(&mut self, tree: &Arc<Tree>, frame: FrameId) -> Result<Truth, EvalError> {
        self.whole_truth(tree, frame).map_err(|abandoned| self.failure(abandoned))
    }

    /// The ads around a condition; none if names may be looked up in others, or mean something else.
    fn around(&self, compiled: &CompiledCondition, frame: FrameId) -> Option<Around<'a>> {
        let ad = |frame: FrameId| match self.frame(frame).holder {
            Holder::Ad(ad) => Some(ad),
            _ => None,
        };
        let own = ad(frame)?;
        let alternate = match self.frame(frame).alternate {
            Some(alternate) => Some(ad(alternate)?),
            None => None,
        };
        if self.search_scope != FrameId::NONE || !self.settings.semantics.is_present() {
            return None;
        }
        let mut other = None;
        if compiled.sides != Sides::Unused && self.frame(frame).parent.is_some() {
            let is_plain = compiled.sides == Sides::Certain
                || [known::MY, known::TARGET].into_iter().all(|side| own.lookup_key(side).is_none());
            other = match frame {
                LEFT if is_plain => ad(RIGHT),
                RIGHT if is_plain => ad(LEFT),
                _ => None,
            };
        }
        Some(Around { own, alternate, other })
    }

    fn compiled_truth(
        &mut self,
        compiled: &CompiledCondition,
        tree: &Arc<Tree>,
        frame: FrameId,
    ) -> Result<Truth, Aborted> {
        let base = self.depth;
        let around = self.around(compiled, frame);
        let Some(around) = around.filter(|_| base.saturating_add(compiled.levels) < self.deepest) else {
            return self.truth(tree, tree.root(), frame);
        };
        let (mut truth, mut kept, mut height) = (Truth::Undefined, [Truth::Undefined; MAX_KEPT], 0);
        let mut at = 0;
        while let Some(instruction) = compiled.instructions.get(at) {
            at += 1;
            match instruction {
                Instruction::Part(part) => truth = self.part_truth(part, &around, base, tree, frame)?,
                Instruction::Decide { op, end } => {
                    let decides = if *op == BinaryOp::And { truth.decides_and() } else { truth.decides_or() };
                    if decides {
                        at = *end as usize;
                    } else if let Some(place) = kept.get_mut(height) {
                        *place = truth;
                        height += 1;
                    }
                }
                Instruction::Join(op) => {
                    height -= 1;
                    let left = kept[height];
                    truth = if *op == BinaryOp::And { left.and(truth) } else { left.or(truth) };
                }
                Instruction::Negate => truth = truth.not(),
            }
        }
        self.depth = base;
        Ok(truth)
    }

    #[inline]
    fn part_truth(
        &mut self,
        part: &ConditionPart,
        around: &Around<'a>,
        base: u32,
        tree: &Arc<Tree>,
        frame: FrameId,
    ) -> Result<Truth, Aborted> {
        if self.search_scope == FrameId::NONE {
            match part.form {
                Form::Operator(op, left, right) => {
                    let steps = part.steps + left.steps() + right.steps();
                    if let Some(first) = around.literal(left, tree)
                        && let Some(second) = around.literal(right, tree)
                    {
                        if let Some(truth) = plain_truth(op, first, second) {
                            self.count(u64::from(steps))?;
                            return Ok(truth);
                        }
                        if let (Literal::Str(first), Literal::Str(second)) = (first, second)
                            && let Some(holds) = compare::texts(op, first, second)
                        {
                            self.count(u64::from(steps) + text_steps(first, second))?;
                            return Ok(if holds { Truth::True } else { Truth::False });
                        }
                    }
                }
                Form::Attribute(place) => {
                    if let Some(literal) = around.literal(place, tree) {
                        // The first of its steps is the part's own.
                        self.count(u64::from(part.steps + place.steps() - 1))?;
                        return Ok(self.meaning_of_literal(literal));
                    }
                }
                Form::Default(first, second) => match around.literal(first, tree) {
                    Some(Literal::Undefined) => {
                        if let Some(literal) = around.literal(second, tree) {
                            self.count(u64::from(part.steps + first.steps() + second.steps()))?;
                            return Ok(self.meaning_of_literal(literal));
                        }
                    }
                    Some(literal) => {
                        self.count(u64::from(part.steps + first.steps()))?;
                        return Ok(self.meaning_of_literal(literal));
                    }
                    None => {}
                },
                Form::TypeTest(test, place) => {
                    if let Some(literal) = around.literal(place, tree) {
                        self.count(u64::from(part.steps + place.steps()))?;
                        return Ok(if test(literal) { Truth::True } else { Truth::False });
                    }
                }
                Form::Other => {}
            }
        }
        self.count(u64::from(part.steps))?;
        self.depth = base + part.level;
        self.leaf(tree, part.node, frame)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::ad::{Attribute, ClassAd};
    use crate::eval::fold::tests::{random_ad, random_expr};
    use crate::eval::scope::{EvalOptions, Limits, Scope};
    use crate::random::SplitMix64;
    use crate::syntax::expr::Expr;
    use crate::syntax::parse::Mode;

    pub(in crate::eval) fn compile(ad: &ClassAd) {
        for (_, attribute) in ad.attributes() {
            if let Attribute::Tree(tree) = attribute {
                tree.compile();
            }
        }
    }

    #[test]
    fn compiled_conditions_have_the_same_values_and_steps_within_every_limit() {
        let mut random = SplitMix64::new(11);
        let mut compiled = 0;
        for round in 0..20_000 {
            let (my, target) = (random_ad(&mut random), random_ad(&mut random));
            let text = random_expr(&mut random, 1 + round % 5);
            let expr: Expr = text.parse().unwrap();
            let narrow = Limits { depth: round / 5 % 40, work: u64::from(3 * (round / 200 % 60)), ..Limits::default() };
            let mode = if round % 7 == 0 { Mode::Strict } else { Mode::HTCondor };
            let settings = [Limits::default(), narrow].map(|limits| EvalOptions {
                limits,
                now: 1000,
                mode,
                ..EvalOptions::default()
            });
            let outcomes = || -> Vec<_> {
                let scopes = settings.iter().flat_map(|settings| {
                    let alone = Scope::new(&my, settings);
                    [alone, alone.with_target(&target)]
                });
                let shown =
                    |outcome: (Result<crate::Value, _>, u64)| (outcome.0.map(|value| value.to_string()), outcome.1);
                scopes
                    .flat_map(|scope| {
                        [shown(scope.eval_counted(&expr)), shown(scope.eval_attr_counted("Requirements"))]
                    })
                    .collect()
            };
            let before = outcomes();
            compile(&my);
            compile(&target);
            expr.tree().compile();
            compiled += u32::from(expr.tree().compiled().is_some());
            assert_eq!(outcomes(), before, "{text} in {my} with {target}");
        }
        assert!(compiled > 8_000, "{compiled}");
    }
}
