//! The reference evaluator: walks the tree of an expression in the scope of its ads.
//!
//! In: expressions, ads, settings. Out: values, or a failure. This is the authority on every answer; compiled
//! forms are proven against it. The walk is native recursion within the depth limit, on a stack that grows.
//! One file, because names and nodes are evaluated in terms of each other.

pub mod clause;
mod compiled;
mod condition;
pub mod conditions;
mod context;
mod depth;
pub mod explain;
pub mod flatten;
pub mod fold;
mod frame;
mod known_values;
pub mod matching;
mod parts;
pub mod references;
pub mod scope;
pub mod trace;
pub mod walk;

use std::sync::{Arc, LazyLock};

use smallvec::SmallVec;
use thiserror::Error;

use crate::ad::Attribute;
use crate::builtin::{self, Call, Exit};
use crate::eval::context::RelocatedExpr;
use crate::eval::depth::CountedLevel;
pub(crate) use crate::eval::frame::Found;
use crate::eval::frame::{
    ALONE, Active, Frame, Holder, LEFT, LEFT_CONTEXT, MATCH, MATCH_AD, RIGHT, RIGHT_CONTEXT, borrowed_attribute,
    found_attribute, side,
};
use crate::eval::known_values::KnownValues;
pub(crate) use crate::eval::parts::as_error_value;
use crate::eval::scope::{EvalOptions, Scope};
use crate::name::{Key, Name, known};
use crate::random::SplitMix64;
use crate::semantics::VersionRule;
use crate::syntax::expr::{CallSite, Expr, Node, NodeId, Tree, base_of};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::parse::Mode;
use crate::value::logic::Truth;
use crate::value::{AdOrigin, AdValue, FrameId, List, Value, WrittenAd, arith, compare};

/// Reasons that an evaluation was abandoned. Callers treat it like an error value, but nothing inside an expression can
/// catch it (`docs/reference/classad-language.md` 6.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EvalError {
    /// More operators, parentheses and references on one path than allowed.
    #[error("the evaluation exceeds {0} levels")]
    Depth(u32),
    /// An attribute refers to itself, in a version that does not notice it.
    #[error("an attribute refers to itself")]
    Circular,
    /// More node evaluations than allowed.
    #[error("the evaluation exceeds {0} steps")]
    Work(u64),
    /// More bytes of strings and lists than allowed.
    #[error("the evaluation creates more than {0} bytes of strings and lists")]
    Memory(u64),
    /// Evaluations begun afresh inside one another, more than the stack is to hold. Only the reference's own limits
    /// can be exceeded without failing altogether, and such an evaluation has the value it then has there.
    #[error("nested evaluations exceed {0} levels in total")]
    Contexts(u32),
    /// The outermost ad is referred to (`.x`, `root`) where there is none: [`Evaluator::eval_nowhere`].
    #[error("a reference to the outermost ad without an ad")]
    Rootless,
    /// The left operand of `?:` is a value, in a version that cannot flatten such an operation.
    #[error("HTCondor before 23.10 cannot flatten `?:` behind a value")]
    Unflattened,
    /// A function gave up.
    #[error("the function `{0}` failed on its arguments")]
    Function(&'static str),
}

pub(crate) static REQUIREMENTS: LazyLock<Name> = LazyLock::new(|| Name::new("Requirements"));

/// One top-level evaluation.
pub struct Evaluator<'a> {
    settings: &'a EvalOptions,
    frames: SmallVec<[Frame<'a>; 6]>,
    active: SmallVec<[Active; 8]>,
    /// Right operands of logic that wait for their left ones.
    waiting: SmallVec<[(BinaryOp, NodeId); 24]>,
    /// Expressions that are being evaluated elsewhere than they are written.
    relocated: Vec<RelocatedExpr>,
    /// The frame that the expression belongs to.
    start: FrameId,
    /// The outermost ad around the one where evaluation started: what `root` and `.x` mean everywhere.
    root: FrameId,
    depth: u32,
    /// The limit of the depth; 0 in versions where [`depth`] has the limits.
    deepest: u32,
    /// Levels that count in such versions.
    references: u32,
    /// The reason that the evaluation of a condition was abandoned.
    failed: Option<EvalError>,
    /// Levels of the evaluations around this one, which was begun afresh inside them.
    outer_depth: u32,
    /// The ad that a search for an attribute moved to; none, mostly: see [`Evaluator::current`].
    search_scope: FrameId,
    /// Steps that may be taken.
    work: u64,
    /// Steps that may still be taken.
    steps_left: u64,
    bytes: u64,
    random: SplitMix64,
    /// Times that a value depended on what is around it: circular references, and too many levels.
    around: u64,
    /// Steps after which an evaluation is long, and the values that it has found since then.
    long: u64,
    known: Option<Box<KnownValues>>,
    /// True if the ads are folded ([`fold`]): what would show it, or reaches the depth limit, abandons the evaluation.
    is_folded: bool,
}

impl<'a> Evaluator<'a> {
    /// An evaluation in a scope.
    pub fn new(scope: Scope<'a>) -> Self {
        let frame = |id: FrameId, holder, parent, alternate| Frame { holder, parent, owner: id, alternate };
        let nowhere = frame(FrameId::NONE, Holder::Nowhere, None, None);
        let (frames, start) = match scope.target {
            None => {
                // An iterator over them would copy them several times.
                let mut frames = SmallVec::new();
                frames.push(nowhere);
                frames.push(frame(ALONE, Holder::Ad(scope.my), None, None));
                (frames, ALONE)
            }
            Some(target) => {
                let alternate = |side| (scope.settings.mode == Mode::HTCondor).then_some(side);
                let frames = [
                    nowhere,
                    frame(MATCH, Holder::Match, None, None),
                    frame(LEFT_CONTEXT, Holder::LeftContext, Some(MATCH), None),
                    frame(LEFT, Holder::Ad(scope.my), Some(LEFT_CONTEXT), alternate(RIGHT)),
                    frame(RIGHT_CONTEXT, Holder::RightContext, Some(MATCH), None),
                    frame(RIGHT, Holder::Ad(target), Some(RIGHT_CONTEXT), alternate(LEFT)),
                ];
                (SmallVec::from_buf(frames), LEFT)
            }
        };
        Evaluator {
            settings: scope.settings,
            frames,
            active: SmallVec::new(),
            waiting: SmallVec::new(),
            relocated: Vec::new(),
            start,
            root: ALONE,
            depth: 0,
            deepest: depth::deepest(scope.settings),
            references: 0,
            failed: None,
            outer_depth: 0,
            search_scope: FrameId::NONE,
            work: scope.settings.limits.work,
            steps_left: scope.settings.limits.work,
            bytes: 0,
            random: SplitMix64::new(scope.settings.seed),
            around: 0,
            long: known_values::LONG,
            known: None,
            is_folded: false,
        }
    }

    fn push(&mut self, holder: Holder<'a>, parent: Option<FrameId>) -> FrameId {
        let id = FrameId(self.frames.len() as u32);
        let owner = match (&holder, parent) {
            (Holder::Written(..), Some(parent)) => self.frame(parent).owner,
            _ => id,
        };
        self.frames.push(Frame { holder, parent, owner, alternate: None });
        id
    }

    fn frame(&self, id: FrameId) -> &Frame<'a> {
        &self.frames[id.0 as usize]
    }

    /// Tests whether the old behavior of a rule applies to an expression.
    #[inline]
    pub(crate) fn is_old(&self, rule: VersionRule, tree: &Tree) -> bool {
        !self.settings.semantics.is_present() && self.is_old_in(rule, tree)
    }

    #[cold]
    #[inline(never)]
    fn is_old_in(&self, rule: VersionRule, tree: &Tree) -> bool {
        let own = self.settings.semantics;
        if own.is_advertised() { tree.semantics.is_old(rule) } else { own.is_old(rule) }
    }

    /// The settings of the evaluation.
    pub(crate) fn settings(&self) -> &'a EvalOptions {
        self.settings
    }

    /// The next number of the sequence that `random()` draws from.
    pub(crate) fn next_random(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Counts steps of a function that are not node evaluations.
    #[inline]
    pub(crate) fn charge_work(&mut self, steps: u64) -> Result<(), EvalError> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(self.too_much_work()),
        }
    }

    /// Number of steps taken, and one for every 16 bytes of strings and lists that were made: about equal work.
    pub(crate) fn effort(&self) -> u64 {
        self.work - self.steps_left + self.bytes / 16
    }

    #[cold]
    #[inline(never)]
    fn too_much_work(&mut self) -> EvalError {
        self.steps_left = 0;
        EvalError::Work(self.work)
    }

    /// Abandons the evaluation if an expression or a whole ad that is looked at may be a folded one.
    #[inline]
    pub(crate) fn look(&mut self) -> Result<(), EvalError> {
        if self.is_folded { Err(self.too_much_work()) } else { Ok(()) }
    }

    /// Counts bytes of a string or list that was made.
    pub(crate) fn charge_bytes(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        if self.bytes > self.settings.limits.bytes {
            Err(EvalError::Memory(self.settings.limits.bytes))
        } else {
            Ok(())
        }
    }

    /// Evaluates an expression in the ad of the scope.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn eval_root(&mut self, expr: &Expr) -> Result<Value, EvalError> {
        let tree = expr.tree();
        if expr.root() == tree.root() && tree.compiled().is_some() {
            return Ok(self.whole_condition(tree, self.start)?.value());
        }
        let value = self.eval(tree, expr.root(), self.start)?;
        Ok(self.released(value))
    }

    /// Evaluates an expression outside any ad, not even an empty one: all names are undefined.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn eval_nowhere(mut self, expr: &Expr) -> Result<Value, EvalError> {
        (self.start, self.root) = (FrameId::NONE, FrameId::NONE);
        self.eval_root(expr)
    }

    /// Evaluates an attribute of the ad of the scope.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub fn eval_attribute(&mut self, name: Name) -> Result<Value, EvalError> {
        let value = self.outward(name, self.start)?;
        Ok(self.released(value))
    }

    /// Tests whether the Requirements of both sides of a match accept, the right one first; each may take what one
    /// evaluation may take.
    pub(crate) fn both_accept(mut self) -> bool {
        let requirements = *REQUIREMENTS;
        [RIGHT, LEFT].into_iter().all(|side| {
            self.begin_again();
            self.truth_outward(requirements, side) == Ok(Truth::True)
        })
    }

    /// Tests whether the Requirements of both ads of a match, as expressions rather than as attributes, have values
    /// other than zero: that of the ad of the scope, then that of the target, as if each were the ad of the scope.
    pub(crate) fn both_nonzero(mut self) -> Result<bool, EvalError> {
        Ok(self.requirements_are_nonzero()? && {
            self.begin_again();
            self.frames.truncate(RIGHT.0 as usize + 1);
            let (left, right) = self.frames.split_at_mut(RIGHT.0 as usize);
            std::mem::swap(&mut left[LEFT.0 as usize].holder, &mut right[0].holder);
            self.requirements_are_nonzero()?
        })
    }

    /// Tests whether the Requirements of the ad of the scope, as an expression, have a value other than zero.
    pub(crate) fn accepts_nonzero(mut self) -> Result<bool, EvalError> {
        self.requirements_are_nonzero()
    }

    fn requirements_are_nonzero(&mut self) -> Result<bool, EvalError> {
        let Holder::Ad(ad) = self.frame(self.start).holder else { return Ok(false) };
        match ad.lookup(*REQUIREMENTS) {
            None => Ok(false),
            Some(Attribute::Literal(literal)) => Ok(Value::from(literal).is_nonzero()),
            Some(Attribute::Tree(tree)) => match self.whole_condition(tree, self.start)? {
                // A duration is no condition, but a number.
                Truth::NotBoolean => {
                    self.begin_again();
                    Ok(self.eval(tree, tree.root(), self.start)?.is_nonzero())
                }
                truth => Ok(truth == Truth::True),
            },
        }
    }

    /// Forgets what the evaluation before has taken of its limits.
    fn begin_again(&mut self) {
        (self.depth, self.references) = (0, 0);
        (self.steps_left, self.bytes) = (self.work, 0);
        self.active.clear();
        self.known = None;
    }

    /// Evaluates an attribute of the ad of the scope as a condition.
    ///
    /// # Errors
    /// The evaluation was abandoned.
    pub(crate) fn attribute_truth(mut self, name: Name) -> Result<Truth, EvalError> {
        self.truth_outward(name, self.start).map_err(|abandoned| self.failure(abandoned))
    }

    /// Evaluates an attribute of the ad around both sides of the match, such as `symmetricMatch`.
    pub(crate) fn eval_match_attribute(mut self, name: Name) -> Result<Value, EvalError> {
        let value = self.outward(name, MATCH)?;
        Ok(self.released(value))
    }

    /// Evaluates a node in the scope of a frame.
    pub(crate) fn eval(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Value, EvalError> {
        self.charge_work(1)?;
        self.node(tree, id, frame)
    }

    /// As [`Evaluator::eval`], for a node that is counted already.
    fn node(&mut self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> Result<Value, EvalError> {
        match tree.node(id) {
            Node::Literal(literal) => Ok(Value::from(literal)),
            Node::Attr(name) => self.reference(*name, frame),
            Node::Absolute(_) if self.root == FrameId::NONE => Err(EvalError::Rootless),
            Node::Absolute(name) => self.outward(*name, self.root),
            Node::Select(name) => self.select(tree, base_of(id), *name, frame),
            Node::Subscript { base, index } => self.subscript(tree, *base, *index, frame),
            Node::Paren(inner) => self.deeper(|evaluator| evaluator.eval(tree, *inner, frame)),
            Node::Unary(UnaryOp::Not, operand) => {
                Ok(self.deeper(|evaluator| evaluator.condition(tree, *operand, frame))?.not().value())
            }
            Node::Unary(op, operand) => {
                Ok(arith::unary(*op, self.deeper(|evaluator| evaluator.eval(tree, *operand, frame))?))
            }
            Node::Binary(op, left, right) => self.deeper(|evaluator| evaluator.binary(tree, *op, *left, *right, frame)),
            Node::Conditional { condition, yes, no } => {
                self.deeper(|evaluator| evaluator.conditional(tree, [*condition, *yes, *no], frame))
            }
            Node::Call(call) => self.call(tree, tree.calls[*call as usize], frame),
            Node::List(_) => {
                let frame = self.home(tree, id, frame);
                Ok(Value::List(List::written(Expr::at(Arc::clone(tree), id), frame)))
            }
            Node::Ad(_) => {
                let expr = Expr::at(Arc::clone(tree), id);
                let frame = self.home(tree, id, frame);
                Ok(Value::Ad(AdValue(AdOrigin::Written(Arc::new(WrittenAd { expr, frame })))))
            }
        }
    }

    /// Evaluates one level deeper.
    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, EvalError>) -> Result<T, EvalError> {
        if self.depth >= self.deepest {
            return self.beyond(CountedLevel::Operator, inner);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// As [`Evaluator::deeper`], for what counts as a reference in all versions.
    pub(crate) fn deeper_by_reference<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        if self.depth >= self.deepest {
            return self.beyond(CountedLevel::Reference, inner);
        }
        self.deeper(inner)
    }

    fn binary(
        &mut self,
        tree: &Arc<Tree>,
        op: BinaryOp,
        left: NodeId,
        right: NodeId,
        frame: FrameId,
    ) -> Result<Value, EvalError> {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let truth = self.logic(tree, op, [left, right], frame).map_err(|abandoned| self.failure(abandoned))?;
                Ok(truth.value())
            }
            BinaryOp::Default => {
                let first = self.eval(tree, left, frame)?;
                if self.is_old(VersionRule::ElvisPrecedence, tree)
                    && !matches!(self.meaning(&first), Truth::Undefined | Truth::False)
                {
                    // It is evaluated too, and may fail.
                    self.eval(tree, right, frame)?;
                }
                if first.is_undefined() { self.eval(tree, right, frame) } else { Ok(first) }
            }
            _ => self.strict(tree, op, [left, right], frame).map_err(|abandoned| self.failure(abandoned)),
        }
    }

    /// The attribute of a borrowed ad, as an expression that is being evaluated.
    fn active_in(&self, name: Name, at: FrameId) -> Active {
        Active { holder: 0, part: name.key().index() as u32, owner: self.frame(at).owner.0 }
    }

    fn conditional(
        &mut self,
        tree: &Arc<Tree>,
        [condition, yes, no]: [NodeId; 3],
        frame: FrameId,
    ) -> Result<Value, EvalError> {
        let truth = self.condition(tree, condition, frame)?;
        match truth {
            Truth::True => self.eval(tree, yes, frame),
            Truth::False => self.eval(tree, no, frame),
            Truth::Undefined | Truth::Error if self.is_old(VersionRule::Cycle, tree) => {
                self.eval(tree, yes, frame)?;
                self.eval(tree, no, frame)?;
                Ok(if truth == Truth::Undefined { Value::Undefined } else { Value::Error })
            }
            Truth::Undefined => Ok(Value::Undefined),
            Truth::Error => Ok(Value::Error),
            Truth::NotBoolean => {
                // The reference evaluates both before it finds the condition wanting.
                self.eval(tree, yes, frame)?;
                self.eval(tree, no, frame)?;
                Ok(Value::Error)
            }
        }
    }

    // ---- names -------------------------------------------------------------------------------------------

    pub(crate) fn root_of(&self, mut frame: FrameId) -> FrameId {
        while let Some(parent) = self.frame(frame).parent {
            frame = parent;
        }
        frame
    }

    /// The attribute of one ad, its chained parents included.
    pub(crate) fn find(&self, name: Name, frame: FrameId) -> Option<Found<'a>> {
        let key = name.key();
        match &self.frame(frame).holder {
            Holder::Ad(ad) => ad.lookup(name).map(borrowed_attribute),
            Holder::Written(tree, root) => match tree.node(*root) {
                Node::Ad(run) => tree.ad_attribute(*run, name).map(|value| Found::Shared(Arc::clone(tree), value)),
                _ => None,
            },
            Holder::Made(ad) => ad.lookup(name).map(found_attribute),
            Holder::Match | Holder::LeftContext | Holder::RightContext if !known::is_of_match(key) => None,
            Holder::Match => match key {
                known::LEFT => Some(Found::Frame(LEFT)),
                known::RIGHT => Some(Found::Frame(RIGHT)),
                known::LEFT_CONTEXT => Some(Found::Frame(LEFT_CONTEXT)),
                known::RIGHT_CONTEXT => Some(Found::Frame(RIGHT_CONTEXT)),
                _ if known::is_match_attribute(key) => MATCH_AD.lookup(name).map(found_attribute),
                _ => None,
            },
            Holder::LeftContext => side(key, LEFT, RIGHT).map(Found::Frame),
            Holder::RightContext => side(key, RIGHT, LEFT).map(Found::Frame),
            Holder::Nowhere => None,
        }
    }

    /// The meaning of a special name in an ad that does not define it (`docs/reference/classad-language.md` 6.5).
    fn special(&self, key: Key, frame: FrameId) -> Option<Found<'a>> {
        if !known::is_special(key) || frame == FrameId::NONE {
            return None;
        }
        match key {
            known::SELF => Some(Found::Frame(frame)),
            known::MY if self.settings.mode == Mode::HTCondor => Some(Found::Frame(frame)),
            known::PARENT => self.frame(frame).parent.map(Found::Frame),
            known::ROOT | known::TOPLEVEL if self.root == FrameId::NONE => Some(Found::Rootless),
            known::ROOT | known::TOPLEVEL => Some(Found::Frame(self.root)),
            known::CURRENT_TIME if self.settings.mode == Mode::HTCondor => Some(Found::Clock),
            _ => None,
        }
    }

    /// The meaning of a name, looked up in an ad and the ads around it, and the ad it was found in.
    pub(crate) fn resolve(&self, name: Name, frame: FrameId) -> Option<(Found<'a>, FrameId)> {
        if let Holder::Ad(ad) = &self.frame(frame).holder
            && !known::is_known(name.key())
        {
            // Around such an ad are at most those of a match, which define only names that the evaluator knows.
            return ad.lookup(name).map(|attribute| (borrowed_attribute(attribute), frame));
        }
        let mut at = frame;
        loop {
            if let Some(found) = self.find(name, at) {
                return Some((found, at));
            }
            if let Some(found) = self.special(name.key(), at) {
                return Some((found, at));
            }
            at = self.frame(at).parent?;
        }
    }

    /// As [`Evaluator::resolve`], then on the other side of the match.
    pub(crate) fn resolve_reference(&self, name: Name, frame: FrameId) -> Option<(Found<'a>, FrameId)> {
        let frame = self.current(frame);
        self.resolve(name, frame).or_else(|| {
            let alternate = self.frame(frame).alternate?;
            self.resolve(name, alternate)
        })
    }

    /// An unscoped name.
    fn reference(&mut self, name: Name, frame: FrameId) -> Result<Value, EvalError> {
        match self.resolve_reference(name, frame) {
            Some((found, at)) => self.follow(found, name, at),
            None => Ok(Value::Undefined),
        }
    }

    /// A name looked up in an ad and the ads around it.
    fn outward(&mut self, name: Name, frame: FrameId) -> Result<Value, EvalError> {
        match self.resolve(name, frame) {
            Some((found, at)) => self.follow(found, name, at),
            None => Ok(Value::Undefined),
        }
    }

    fn follow(&mut self, found: Found<'a>, name: Name, at: FrameId) -> Result<Value, EvalError> {
        // A reference counts as a level even when nothing is left to evaluate.
        if self.depth >= self.deepest {
            return self.follow_beyond(found, name, at);
        }
        self.follow_found(found, name, at)
    }

    /// As [`Evaluator::follow`], within the limits.
    #[expect(
        clippy::inline_always,
        reason = "every reference comes here, and the other call is for old versions alone"
    )]
    #[inline(always)]
    pub(super) fn follow_found(&mut self, found: Found<'a>, name: Name, at: FrameId) -> Result<Value, EvalError> {
        match found {
            Found::Value(value) => Ok(value),
            Found::Literal(literal) => Ok(Value::from(literal)),
            Found::Frame(id) => {
                self.look()?;
                Ok(Value::Ad(AdValue(AdOrigin::Frame(id))))
            }
            Found::Clock => Ok(Value::Int(self.settings.time())),
            Found::Rootless => Err(EvalError::Rootless),
            Found::Borrowed(tree) => {
                let active = self.active_in(name, at);
                self.follow_tree(tree, tree.root(), at, active)
            }
            Found::Shared(tree, node) => {
                let holder = Arc::as_ptr(&tree) as usize;
                let active = Active { holder, part: node, owner: self.frame(at).owner.0 };
                self.follow_tree(&tree, node, at, active)
            }
        }
    }

    fn follow_tree(&mut self, tree: &Arc<Tree>, node: NodeId, at: FrameId, active: Active) -> Result<Value, EvalError> {
        if self.active.contains(&active) {
            return self.circular(tree);
        }
        let start = self.start_of_attribute(active, at);
        if let Some(known) = start.as_ref().and_then(|start| self.known(start)) {
            return known;
        }
        self.active.push(active);
        let value = self.with_fresh_search(|evaluator| {
            evaluator.deeper_by_reference(|evaluator| with_stack(|| evaluator.eval(tree, node, at)))
        });
        self.active.pop();
        if let (Some(start), Ok(value)) = (&start, &value) {
            self.remember(start, value);
        }
        value
    }

    /// A reference to an attribute that is being evaluated.
    #[cold]
    fn circular(&mut self, tree: &Tree) -> Result<Value, EvalError> {
        self.around += 1;
        if self.is_old(VersionRule::Cycle, tree) { Err(EvalError::Circular) } else { Ok(Value::Undefined) }
    }

    pub(crate) fn call(&mut self, tree: &Arc<Tree>, site: CallSite, frame: FrameId) -> Result<Value, EvalError> {
        let Some(function) = builtin::find(site.name) else {
            return Ok(Value::Error);
        };
        let arguments = tree.run(site.arguments);
        if !function.accepts(arguments.len()) {
            if function.name == "relTime" && arguments.len() == 2 {
                // This function finds out after its arguments, which may fail.
                arguments.iter().try_for_each(|id| self.eval(tree, *id, frame).map(drop))?;
            }
            return Ok(Value::Error);
        }
        match with_stack(|| (function.run)(&mut Call::new(self, tree, arguments, frame))) {
            Ok(Value::Bool(_))
                if self.is_old(VersionRule::VersionCase, tree)
                    && !builtin::version::is_spelled(function.name, site.name) =>
            {
                Ok(Value::Error)
            }
            Ok(value) | Err(Exit::Value(value)) => Ok(value),
            Err(Exit::Abandoned(error)) => Err(error),
        }
    }
}

/// The value of a strict operator.
pub fn operate(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match op {
        BinaryOp::Is => compare::identical(left, right),
        BinaryOp::Isnt => compare::not_identical(left, right),
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => compare::compare(op, left, right),
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => {
            arith::arithmetic(op, left, right)
        }
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::ShiftRightZero => arith::bitwise(op, left, right),
        BinaryOp::And => Truth::of(left).and(Truth::of(right)).value(),
        BinaryOp::Or => Truth::of(left).or(Truth::of(right)).value(),
        BinaryOp::Default => {
            if left.is_undefined() {
                right.clone()
            } else {
                left.clone()
            }
        }
    }
}

/// Runs on a stack that is long enough: function calls nest beyond the depth limit.
pub(crate) fn with_stack<T>(inner: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(96 << 10, 1 << 20, inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::syntax::parse::parse_expr;

    /// The canonical text of the value in a match of two ads.
    fn text(expr: &str, my: &str, target: &str) -> String {
        let settings = EvalOptions::default();
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let expr = parse_expr(expr.as_bytes(), &settings.parse_options()).unwrap();
        let (my, target) = (ad(my), ad(target));
        Scope::new(&my, &settings).with_target(&target).eval(&expr).map_or("failed".to_owned(), |v| v.to_string())
    }

    // Expected values are answers of the reference.

    #[test]
    fn elements_of_a_projected_list_are_looked_up_where_the_projection_stands() {
        assert_eq!(text("y.z", "[c = 1]", "[y = { TARGET.a }; A = c]"), "{ error }");
        assert_eq!(text("y[0]", "[c = 1]", "[y = { TARGET.a }; A = c]"), "undefined");
    }

    #[test]
    fn what_a_projection_finds_is_a_copy_without_surroundings() {
        let my = "[y = { [b = [d = c]; c = 5] }; c = 1; l = { [b = { c, MY, .LEFT.c }] }]";
        assert_eq!(text("y.b[0].d", my, "[]"), "undefined");
        assert_eq!(text("y.b[0].parent", my, "[]"), "undefined");
        assert_eq!(text("l.b[0][0]", my, "[]"), "undefined");
        assert_eq!(text("l.b[0][1]", my, "[]"), "undefined");
        assert_eq!(text("l.b[0][2]", my, "[]"), "1");
    }

    #[test]
    fn what_a_subscript_takes_out_of_an_ad_has_nothing_around_it() {
        let my = "[q = [a = b; l = { b }]; b = 3; s = split(\"a b\")]";
        assert_eq!(text("MY[\"q\"][\"a\"]", my, "[]"), "undefined");
        assert_eq!(text("MY[\"q\"]", my, "[]"), "[ a = b; l = { b } ]");
        assert_eq!(text("[l = { b }; b = 3][\"l\"][0]", "[]", "[]"), "undefined");
        assert_eq!(text("sum([l = { b }; b = 3][\"l\"])", my, "[]"), "3");
        assert_eq!(text("[x = [y = 5]][\"x\"][\"y\"]", "[]", "[]"), "5");
        assert_eq!(text("MY[\"s\"][1]", my, "[]"), "\"b\"");
    }

    #[test]
    fn what_nothing_keeps_is_lost_when_something_is_taken_out_of_it() {
        let in_my = |expr: &str| text(expr, "[x = [y = 5]; l = { x, { 7 } }; t = splitTime(0)]", "[]");
        assert_eq!(in_my("MY[\"x\"].y"), "undefined");
        assert_eq!(in_my("MY[\"x\"].parent"), "undefined");
        assert_eq!(in_my("ifThenElse(true, MY[\"x\"], 1).y"), "undefined");
        assert_eq!(in_my("MY[\"t\"].Year"), "undefined");
        assert_eq!(in_my("MY.t.Year"), "1970");
        assert_eq!(in_my("size(MY[\"x\"])"), "1");
        assert_eq!(in_my("size(MY[\"l\"][1])"), "0");
        assert_eq!(in_my("MY[\"l\"][1][0]"), "error");
        assert_eq!(in_my("string(MY[\"l\"][1])"), "\"{  }\"");
        assert_eq!(in_my("size(MY.l[1])"), "1");
        assert_eq!(in_my("evalInEachContext([a = 1], {[]})[0].a"), "undefined");
        assert_eq!(in_my("evalInEachContext({ 1 }, {[]})[0][0]"), "error");
    }

    /// Answers of 25.14.1.
    #[test]
    fn ads_written_in_what_is_evaluated_elsewhere_are_inside_each_other() {
        let in_context = |expr: &str| text(&format!("evalInEachContext({expr}, {{ [c = 7] }})[0]"), "[]", "[]");
        assert_eq!(in_context("[a = [b = c + 0]; c = 5].a.b + 0"), "5");
        assert_eq!(in_context("[a = {[b = c + 0]}; c = 5].a[0].b + 0"), "5");
        assert_eq!(in_context("[a = d; d = [b = c + 0]; c = 5].a.b + 0"), "5");
    }

    #[test]
    fn what_fails_inside_a_subscript_is_an_error() {
        assert_eq!(text("isError({ random(0) }[0])", "[]", "[]"), "true");
        assert_eq!(text("isError([a = random(0)][\"a\"])", "[]", "[]"), "true");
        assert_eq!(text("isError([a = random(0)].a)", "[]", "[]"), "failed");
    }

    #[test]
    fn a_duration_in_a_made_list_is_printed_as_one_but_is_a_number() {
        assert_eq!(
            text("string({[a = relTime(5)]}.a)", "[]", "[]"),
            "\"{ relTime(\"05\") }\"".replace("\"05\"", "\\\"05\\\"")
        );
        assert_eq!(text("({[a = relTime(5)]}.a)[0]", "[]", "[]"), "5.000000000000000E+00");
        assert_eq!(text("max({[a = relTime(5.5)]}.a)", "[]", "[]"), "5.000000000000000E+00");
        assert_eq!(text("min(evalInEachContext(relTime(-5.5), {[]}))", "[]", "[]"), "-5.000000000000000E+00");
        assert_eq!(text("member(relTime(5), {[a = relTime(5)]}.a)", "[]", "[]"), "false");
    }

    #[test]
    fn a_reference_inside_its_own_projection_is_circular() {
        assert_eq!(text("a", "[a = { a ?: [b = 3] }.b]", "[]"), "{ 3 }");
    }

    #[test]
    fn a_projection_that_never_ends_fails() {
        // The reference overflows its stack.
        assert_eq!(text("x.y", "[x = { x }]", "[]"), "failed");
    }

    #[test]
    fn the_ads_around_a_match_are_values_too() {
        assert_eq!(text("rCtx", "[]", "[]"), "[ ad = .RIGHT; my = .RIGHT; other = .LEFT; target = .LEFT ]");
        assert_eq!(
            text("string(.self)", "[a = 1]", "[]"),
            "\"[ lCtx = [ ad = .LEFT; my = .LEFT; other = .RIGHT; target = .RIGHT ]; LEFT = [ a = 1 ]; \
             rCtx = [ ad = .RIGHT; my = .RIGHT; other = .LEFT; target = .LEFT ]; RIGHT = [  ]; \
             leftRankValue = LEFT.rank; rightRankValue = RIGHT.rank; \
             symmetricMatch = RIGHT.requirements && LEFT.requirements; \
             leftMatchesRight = RIGHT.requirements; rightMatchesLeft = LEFT.requirements ]\""
        );
    }
}
