//! Compiled conditions, run in the ads of an evaluation.
//!
//! In: the instructions of a condition ([`crate::syntax::compiled`]). Out: what [`Evaluator::truth`] gives, with the same steps and levels
//! counted. Comparisons of constants and of attributes that are constants are made in place; all else is left to the
//! evaluator, and so is a condition that comes too near the depth limit.

use std::sync::Arc;

use crate::ad::{Attribute, ClassAd};
use crate::eval::condition::{Aborted, meaning_of_literal, plain_truth, text_steps};
use crate::eval::frame::{Holder, LEFT, RIGHT};
use crate::eval::scope::{EvalOptions, Scope};
use crate::eval::{EvalError, Evaluator};
use crate::name::known;
use crate::syntax::compiled::{CompiledCondition, ConditionPart, Form, Instruction, MAX_KEPT, OperandPlace, Sides};
use crate::syntax::expr::{Expr, Node, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::parse::Mode;
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
    /// The ads around a condition in an ad: that for names which it lacks, and the opposite side of a match.
    #[inline]
    fn new(
        compiled: &CompiledCondition,
        own: &'a ClassAd,
        alternate: Option<&'a ClassAd>,
        opposite: Option<&'a ClassAd>,
    ) -> Self {
        let is_plain = match compiled.sides {
            Sides::Unused => false,
            Sides::Certain => true,
            Sides::Used => [known::MY, known::TARGET].into_iter().all(|side| own.lookup_key(side).is_none()),
        };
        Around { own, alternate, other: opposite.filter(|_| is_plain) }
    }

    /// The truth of a part that consists of constants and attributes that are constants, and the steps that it takes;
    /// none for other parts.
    #[expect(clippy::inline_always, reason = "most of the time of a condition is spent here, in either loop")]
    #[inline(always)]
    fn truth(&self, part: &ConditionPart, tree: &Tree) -> Option<(Truth, u64)> {
        let (truth, steps) = match part.form {
            Form::Operator(op, left, right) => {
                let steps = left.steps() + right.steps();
                match (self.literal(left, tree)?, self.literal(right, tree)?) {
                    (Literal::Str(first), Literal::Str(second)) => {
                        let truth = if compare::texts(op, first, second)? { Truth::True } else { Truth::False };
                        return Some((truth, u64::from(part.steps + steps) + text_steps(first, second)));
                    }
                    (first, second) => (plain_truth(op, first, second)?, steps),
                }
            }
            Form::Other => return None,
            _ => self.truth_of_one(&part.form, tree)?,
        };
        Some((truth, u64::from(part.steps + steps)))
    }

    /// The truth of a form with one operand that decides it, and the steps of its operands.
    fn truth_of_one(&self, form: &Form, tree: &Tree) -> Option<(Truth, u32)> {
        Some(match *form {
            // The first of its steps is the part's own.
            Form::Attribute(place) => (meaning_now(self.literal(place, tree)?), place.steps() - 1),
            Form::Default(first, second) => match self.literal(first, tree)? {
                Literal::Undefined => (meaning_now(self.literal(second, tree)?), first.steps() + second.steps()),
                literal => (meaning_now(literal), first.steps()),
            },
            Form::TypeTest(test, place) => {
                (if test(self.literal(place, tree)?) { Truth::True } else { Truth::False }, place.steps())
            }
            Form::Operator(..) | Form::Other => return None,
        })
    }

    /// The constant that an operand is; none if it is anything else.
    #[expect(clippy::inline_always, reason = "most of the time of a condition is spent here, in either loop")]
    #[inline(always)]
    fn literal<'t>(&self, place: OperandPlace, tree: &'t Tree) -> Option<&'t Literal>
    where
        'a: 't,
    {
        match place {
            OperandPlace::Literal(id) => match tree.node(id) {
                Node::Literal(literal) => Some(literal),
                _ => None,
            },
            OperandPlace::Unscoped(key) => match self.own.lookup_key(key) {
                Some(attribute) => constant(attribute),
                None => self.elsewhere(place),
            },
            _ => self.elsewhere(place),
        }
    }

    /// The constant that an attribute is that its own ad lacks, or that has a scope.
    fn elsewhere(&self, place: OperandPlace) -> Option<&'a Literal> {
        let attribute = match place {
            OperandPlace::Unscoped(key) => self.alternate.and_then(|alternate| alternate.lookup_key(key)),
            OperandPlace::Opposite(key) => self.alternate?.lookup_key(key),
            OperandPlace::Mine(key) => {
                self.other?;
                self.own.lookup_key(key)
            }
            OperandPlace::Theirs(key) => self.other?.lookup_key(key),
            OperandPlace::Literal(_) | OperandPlace::Other => return None,
        };
        attribute.map_or(Some(&Literal::Undefined), constant)
    }
}

#[inline]
fn constant(attribute: &Attribute) -> Option<&Literal> {
    match attribute {
        Attribute::Literal(literal) => Some(literal),
        Attribute::Tree(_) => None,
    }
}

/// The meaning of a constant as a condition in the present version of the language.
fn meaning_now(literal: &Literal) -> Truth {
    meaning_of_literal(literal, Truth::of)
}

impl CompiledCondition {
    /// Runs the instructions with a function that gives the truth of a part.
    #[inline]
    fn run<E>(&self, mut part_truth: impl FnMut(&ConditionPart) -> Result<Truth, E>) -> Result<Truth, E> {
        let (mut truth, mut kept, mut height) = (Truth::Undefined, [Truth::Undefined; MAX_KEPT], 0);
        let mut at = 0;
        while let Some(instruction) = self.instructions.get(at) {
            at += 1;
            match instruction {
                Instruction::Part(part) => truth = part_truth(part)?,
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
        Ok(truth)
    }
}

/// The meaning of the value of an expression in a scope, without an evaluator: of one that is compiled and looks at
/// nothing but constants, within the limits. None for others.
pub(super) fn truth_of_constants(scope: &Scope<'_>, expr: &Expr) -> Option<Truth> {
    let tree = expr.tree();
    let compiled = tree.compiled().filter(|_| expr.root() == tree.root())?;
    let EvalOptions { mode, semantics, ref limits, .. } = *scope.settings;
    if !semantics.is_present() || compiled.levels >= limits.depth {
        return None;
    }
    let around = Around::new(compiled, scope.my, scope.target.filter(|_| mode == Mode::HTCondor), scope.target);
    let mut steps = 0;
    let truth = compiled.run(|part| {
        let (truth, more) = around.truth(part, tree).ok_or(())?;
        steps += more;
        Ok::<_, ()>(truth)
    });
    truth.ok().filter(|_| steps <= limits.work)
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
        let opposite = match frame {
            _ if self.frame(frame).parent.is_none() => None,
            LEFT => ad(RIGHT),
            RIGHT => ad(LEFT),
            _ => None,
        };
        Some(Around::new(compiled, own, alternate, opposite))
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
        let truth = compiled.run(|part| {
            if self.search_scope == FrameId::NONE
                && let Some((truth, steps)) = around.truth(part, tree)
            {
                self.count(steps)?;
                return Ok(truth);
            }
            self.count(u64::from(part.steps))?;
            self.depth = base + part.level;
            self.leaf(tree, part.node, frame)
        })?;
        self.depth = base;
        Ok(truth)
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
        let (mut compiled, mut alone) = (0, 0);
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
            let scopes = || {
                settings.iter().flat_map(|settings| {
                    let alone = Scope::new(&my, settings);
                    [alone, alone.with_target(&target)]
                })
            };
            let outcomes = || -> Vec<_> {
                let shown =
                    |outcome: (Result<crate::Value, _>, u64)| (outcome.0.map(|value| value.to_string()), outcome.1);
                scopes()
                    .flat_map(|scope| {
                        [shown(scope.eval_counted(&expr)), shown(scope.eval_attr_counted("Requirements"))]
                    })
                    .collect()
            };
            let before = outcomes();
            let values = || scopes().map(|scope| scope.eval(&expr).map(|value| value.to_string())).collect::<Vec<_>>();
            let values_before = values();
            compile(&my);
            compile(&target);
            expr.tree().compile();
            compiled += u32::from(expr.tree().compiled().is_some());
            assert_eq!(outcomes(), before, "{text} in {my} with {target}");
            assert_eq!(values(), values_before, "{text} in {my} with {target}");
            alone += scopes().filter(|scope| super::truth_of_constants(scope, &expr).is_some()).count();
        }
        assert!(compiled > 8_000 && alone > 800, "{compiled} {alone}");
    }
}
