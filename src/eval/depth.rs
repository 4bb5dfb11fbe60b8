//! The depth limits of versions before 25.13, where operators nest without limit.
//!
//! The limit of the evaluator is 0 in these versions, so that all levels come here, and evaluations with the present
//! rules pay nothing.

use std::sync::Arc;

use crate::eval::condition::Aborted;
use crate::eval::{EvalError, EvalOptions, Evaluator, Found, with_stack};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::operator::BinaryOp;
use crate::value::logic::Truth;
use crate::value::{FrameId, Value};

/// Levels that count in versions before 25.13.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedLevel {
    Operator,
    Reference,
}

/// The references that may be followed on one path before version 10.3.
const OLDEST_LIMIT: u32 = 1000;

/// Levels of any kind on one path, beyond which an evaluation fails instead of taking all memory. HTCondor overflows its
/// stack.
const MAX_LEVELS: u32 = 100_000;

/// The limit of levels on one path.
pub(super) fn deepest(settings: &EvalOptions) -> u32 {
    if settings.semantics.is_old(VersionRule::DepthOperators) { 0 } else { settings.limits.depth }
}

impl<'a> Evaluator<'a> {
    fn has_old_limits(&self) -> bool {
        self.settings.semantics.is_old(VersionRule::DepthOperators)
    }

    /// The failure beyond the present limit. Where the limit is narrower than what the ads are allowed, nothing may go on
    /// with it as with an error value.
    fn too_deep(&mut self) -> EvalError {
        self.around += 1;
        if self.is_folded { EvalError::Work(self.work) } else { EvalError::Depth(self.deepest) }
    }

    fn limit_of_references(&self) -> u32 {
        if self.settings.semantics.is_old(VersionRule::DepthReference) {
            OLDEST_LIMIT
        } else {
            self.settings.limits.depth
        }
    }

    /// One level deeper than the present limit.
    #[cold]
    #[inline(never)]
    pub(super) fn beyond<T>(
        &mut self,
        level: CountedLevel,
        inner: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        if !self.has_old_limits() {
            return Err(self.too_deep());
        }
        let counted = u32::from(level == CountedLevel::Reference);
        if counted > 0 {
            self.beyond_reference()?;
        }
        if self.depth >= MAX_LEVELS {
            return Err(EvalError::Depth(MAX_LEVELS));
        }
        self.depth += 1;
        self.references += counted;
        let result = with_stack(|| inner(self));
        self.references -= counted;
        self.depth -= 1;
        result
    }

    /// A reference deeper than the present limit, whether or not anything is left to evaluate.
    #[cold]
    #[inline(never)]
    pub(super) fn beyond_reference(&mut self) -> Result<(), EvalError> {
        if !self.has_old_limits() {
            return Err(self.too_deep());
        }
        let limit = self.limit_of_references();
        if self.references >= limit { Err(EvalError::Depth(limit)) } else { Ok(()) }
    }

    /// As `Evaluator::follow`, deeper than the present limit.
    #[cold]
    #[inline(never)]
    pub(super) fn follow_beyond(&mut self, found: Found<'a>, name: Name, at: FrameId) -> Result<Value, EvalError> {
        self.beyond_reference()?;
        self.follow_found(found, name, at)
    }

    /// As [`Evaluator::beyond`], for the arguments of `strcat` and `join`.
    pub(crate) fn deeper_by_call<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        if self.settings.semantics.is_old(VersionRule::DepthReference) {
            return self.deeper(inner);
        }
        self.deeper_by_reference(inner)
    }

    /// Enters one level deeper than the present limit.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_beyond(&mut self) -> Result<(), Aborted> {
        if !self.has_old_limits() {
            let too_deep = self.too_deep();
            return Err(self.abandon(too_deep));
        }
        self.depth += 1;
        Ok(())
    }

    /// As `Evaluator::logic`, one level deeper than the present limit.
    #[cold]
    #[inline(never)]
    pub(super) fn logic_beyond(
        &mut self,
        tree: &Arc<Tree>,
        op: BinaryOp,
        operands: [NodeId; 2],
        frame: FrameId,
    ) -> Result<Truth, Aborted> {
        self.enter_beyond()?;
        with_stack(|| self.logic(tree, op, operands, frame))
    }

    /// As `Evaluator::tree_truth`, one level deeper than the present limit.
    #[cold]
    #[inline(never)]
    pub(super) fn tree_truth_beyond(&mut self, tree: &'a Arc<Tree>, name: Name, at: FrameId) -> Result<Truth, Aborted> {
        match self.follow(Found::Borrowed(tree), name, at) {
            Ok(value) => Ok(self.meaning(&value)),
            Err(failed) => Err(self.abandon(failed)),
        }
    }
}
