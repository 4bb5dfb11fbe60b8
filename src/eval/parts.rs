//! Parts of lists and ads: selection, projection, subscripts, elements.

use std::sync::Arc;

use crate::ad::ClassAd;
use crate::eval::frame::{Frame, Holder, LEFT, RIGHT};
use crate::eval::{EvalError, Evaluator, Found, with_stack};
use crate::name::{Name, known};
use crate::semantics::VersionRule;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::value::{AdOrigin, AdValue, FrameId, Items, List, Type, Value, WrittenAd, elements};

impl<'a> Evaluator<'a> {
    /// The ad that a value is, as a frame to look names up in.
    pub(crate) fn frame_of(&mut self, ad: &AdValue) -> Result<FrameId, EvalError> {
        let (holder, parent) = match ad.source() {
            AdOrigin::Frame(id) => return Ok(*id),
            AdOrigin::Temporary(_) => (Holder::Nowhere, None),
            AdOrigin::Made(made) => (Holder::Made(Arc::clone(made)), None),
            AdOrigin::Written(written) => {
                let parent = (written.frame != FrameId::NONE).then_some(written.frame);
                (Holder::Written(Arc::clone(written.expr.tree()), written.expr.root()), parent)
            }
        };
        self.push_counted(holder, parent)
    }

    pub(super) fn push_counted(&mut self, holder: Holder<'a>, parent: Option<FrameId>) -> Result<FrameId, EvalError> {
        let limit = self.settings.limits.bytes;
        if (self.frames.len() * size_of::<Frame<'_>>()) as u64 > limit {
            return Err(EvalError::Memory(limit));
        }
        Ok(self.push(holder, parent))
    }

    /// Runs something that may look at new ads, and forgets those again unless the result may be in them.
    pub(super) fn forgetting(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        let known = self.frames.len();
        let value = inner(self)?;
        if !matches!(value.type_of(), Type::List | Type::Ad) {
            self.frames.truncate(known);
        }
        Ok(value)
    }

    /// The ad that the base of a selection names, in the usual case, `MY.x` and `TARGET.x`, without making a value of
    /// it.
    pub(super) fn side(&self, tree: &Tree, base: NodeId, frame: FrameId) -> Option<FrameId> {
        let Node::Attr(scope) = tree.node(base) else { return None };
        let frame = self.current(frame);
        if let (LEFT | RIGHT, Holder::Ad(ad)) = (frame, &self.frame(frame).holder)
            && self.frame(frame).parent.is_some()
            && matches!(scope.key(), known::MY | known::TARGET)
            && ad.lookup(*scope).is_none()
        {
            let other = if frame == LEFT { RIGHT } else { LEFT };
            return Some(if scope.key() == known::MY { frame } else { other });
        }
        match self.resolve_reference(*scope, frame)? {
            (Found::Frame(id), _) => Some(id),
            _ => None,
        }
    }

    pub(super) fn select(
        &mut self,
        tree: &Arc<Tree>,
        base: NodeId,
        name: Name,
        frame: FrameId,
    ) -> Result<Value, EvalError> {
        if let Some(id) = self.side(tree, base, frame) {
            self.charge_work(1)?;
            return self.outward(name, id);
        }
        let from = self.deeper_by_reference(|evaluator| evaluator.eval(tree, base, frame))?;
        self.attribute_of(&from, name, frame)
    }

    /// `value.name`
    fn attribute_of(&mut self, value: &Value, name: Name, frame: FrameId) -> Result<Value, EvalError> {
        match value {
            Value::Undefined => Ok(Value::Undefined),
            Value::Ad(ad) => self.attribute_of_ad(ad, name),
            Value::List(list) => self.deeper(|evaluator| with_stack(|| evaluator.project(list, name, frame))),
            _ => Ok(Value::Error),
        }
    }

    /// An attribute of an ad or of the ads around it.
    pub(crate) fn attribute_of_ad(&mut self, ad: &AdValue, name: Name) -> Result<Value, EvalError> {
        self.forgetting(|evaluator| {
            let id = evaluator.searched(ad)?;
            evaluator.outward(name, id)
        })
    }

    /// The frame in which a selection looks: the ad, or what is left of an ad that nothing keeps.
    pub(crate) fn searched(&mut self, ad: &AdValue) -> Result<FrameId, EvalError> {
        if ad.is_temporary() { self.frame_of(&lost_ad()) } else { self.frame_of(ad) }
    }

    /// `{ [a = 1], [a = 2] }.a`: the attribute of every element, now. The root meanwhile is that of the ad where
    /// the projection stands. Lists and ads are copied.
    pub(crate) fn project(&mut self, list: &List, name: Name, frame: FrameId) -> Result<Value, EvalError> {
        let outer = self.root;
        let frame = self.current(frame);
        self.root = self.root_of(frame);
        let values = (0..list.len()).map(|at| {
            let value = self.with_fresh_search(|evaluator| {
                let element = evaluator.element_in(list, at, frame)?;
                evaluator.attribute_of(&element, name, frame)
            })?;
            self.detached(value)
        });
        let values = values.collect::<Result<Vec<Value>, EvalError>>();
        self.root = outer;
        Ok(Value::List(self.made_list(values?)?))
    }

    /// A copy of a list or ad: it has the same parts, but there is nothing around it any more.
    pub(crate) fn detached(&mut self, value: Value) -> Result<Value, EvalError> {
        Ok(match value {
            Value::Ad(ad) => Value::Ad(AdValue(match ad.source() {
                AdOrigin::Frame(id) => {
                    let holder = self.frame(*id).holder.clone();
                    AdOrigin::Frame(self.push_counted(holder, None)?)
                }
                AdOrigin::Written(written) => {
                    let expr = written.expr.clone();
                    AdOrigin::Written(Arc::new(WrittenAd { expr, frame: FrameId::NONE }))
                }
                other => other.clone(),
            })),
            Value::List(list) => Value::List(match list.items() {
                Items::Written { expr, .. } => List::written(expr.clone(), FrameId::NONE),
                _ => list.kept(),
            }),
            other => other,
        })
    }

    /// An element of a list, evaluated in the scope of the list, as a subscript does.
    fn element(&mut self, list: &List, at: usize) -> Result<Value, EvalError> {
        match list.items() {
            Items::Written { frame, .. } => self.element_in(list, at, *frame),
            _ => self.element_in(list, at, FrameId::NONE),
        }
    }

    /// An element of a list, evaluated in the scope where the list is used, as functions and projections do. Only
    /// the lists and ads that are elements stay in the scope they were written in.
    pub(crate) fn element_in(&mut self, list: &List, at: usize, frame: FrameId) -> Result<Value, EvalError> {
        match list.items() {
            Items::Made(values) => {
                self.charge_work(1)?;
                Ok(match &values[at] {
                    // Made elements are constants, and a duration as a constant evaluates to a number.
                    Value::RelTime(seconds) if !self.settings.semantics.is_old(VersionRule::ReltimeLiteral) => {
                        Value::Real(*seconds)
                    }
                    other => other.clone(),
                })
            }
            Items::Written { expr, frame: home } => {
                let id = elements(expr)[at];
                if *home == frame && self.search_scope == FrameId::NONE {
                    return self.eval(expr.tree(), id, frame);
                }
                self.eval_relocated(*home, &expr.part(id), frame)
            }
            Items::Temporary(_) => Ok(Value::Undefined), // never inside another
        }
    }

    pub(super) fn subscript(
        &mut self,
        tree: &Arc<Tree>,
        base: NodeId,
        index: NodeId,
        frame: FrameId,
    ) -> Result<Value, EvalError> {
        let base = self.deeper(|evaluator| evaluator.eval(tree, base, frame))?;
        let index = self.deeper(|evaluator| evaluator.eval(tree, index, frame))?;
        self.subscript_of(&base, &index)
    }

    /// `base[index]`
    pub(crate) fn subscript_of(&mut self, base: &Value, index: &Value) -> Result<Value, EvalError> {
        match (base, index) {
            (Value::Error, _) | (_, Value::Error) => Ok(Value::Error),
            (Value::Undefined, _) | (_, Value::Undefined) => Ok(Value::Undefined),
            (Value::List(list), Value::Int(at)) => {
                // The reference keeps the low 32 bits of the index.
                match usize::try_from(*at as i32) {
                    Ok(at) if at < list.len() => {
                        let element = self
                            .with_fresh_search(|evaluator| evaluator.deeper(|evaluator| evaluator.element(list, at)));
                        Ok(unless_lost(list, as_error_value(element)?))
                    }
                    _ => Ok(Value::Error),
                }
            }
            (Value::Ad(ad), Value::Str(text)) => {
                self.charge_work(text.len() as u64 / 64)?;
                let Some(name) = Name::known(text) else {
                    return Ok(Value::Undefined); // no ad has an attribute of a name never seen
                };
                self.forgetting(|evaluator| {
                    let id = evaluator.frame_of(ad)?;
                    let Some(found) = evaluator.find(name, id) else { return Ok(Value::Undefined) };
                    let value = evaluator.with_fresh_depth(id, |evaluator| evaluator.found_in(&found, id, id));
                    match as_error_value(value)? {
                        Value::Ad(ad) if ad.is_temporary() => Ok(Value::Ad(ad)),
                        Value::List(list) if list.is_temporary() => Ok(Value::List(list)),
                        value => Ok(match evaluator.detached(value)? {
                            Value::Ad(ad) => Value::Ad(ad.temporary()),
                            Value::List(list) => Value::List(list.temporary()),
                            value => value,
                        }),
                    }
                })
            }
            _ => Ok(Value::Error),
        }
    }
}

/// The rest of an ad that nothing keeps.
fn lost_ad() -> AdValue {
    AdValue::of(ClassAd::new())
}

/// An element taken from a list: from one that nothing but its value keeps, the lists and ads that are part of it
/// are empty when they are read.
fn unless_lost(list: &List, element: Value) -> Value {
    if !list.is_temporary() {
        return element;
    }
    let part = |other: &Expr| match list.items() {
        Items::Written { expr, .. } => Arc::ptr_eq(expr.tree(), other.tree()),
        _ => true,
    };
    match element {
        Value::Ad(AdValue(AdOrigin::Written(ad))) if part(&ad.expr) => Value::Ad(lost_ad()),
        Value::Ad(AdValue(AdOrigin::Made(_))) if list.values().is_some() => Value::Ad(lost_ad()),
        Value::List(inner) if !inner.is_temporary() => match inner.items() {
            Items::Written { expr, .. } if part(expr) => Value::List(List::of(Vec::new())),
            Items::Made(_) if list.values().is_some() => Value::List(List::of(Vec::new())),
            _ => Value::List(inner),
        },
        other => other,
    }
}

/// The error value with which the reference goes on although the evaluation of a part failed.
pub(crate) fn as_error_value(value: Result<Value, EvalError>) -> Result<Value, EvalError> {
    match value {
        Err(EvalError::Depth(_) | EvalError::Circular | EvalError::Function(_)) => Ok(Value::Error),
        other => other,
    }
}
