//! Services of an evaluation to functions beyond the values of their arguments: the targets of references, values in
//! another ad, and the size of what they make.

use std::sync::Arc;

use crate::ad::{Attribute, ClassAd};
use crate::eval::frame::{Frame, Holder, LEFT, LEFT_CONTEXT, MATCH_AD, RIGHT, RIGHT_CONTEXT, found_attribute};
use crate::eval::{EvalError, Evaluator, Found, with_stack};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::number::real_to_integer;
use crate::value::{AdOrigin, AdValue, FrameId, Items, List, Value};

/// Levels of all evaluations that are begun afresh inside one another, each with the whole depth at its disposal.
const MAX_TOTAL_DEPTH: u32 = 12_800;

/// Levels that one more evaluation inside others counts at least.
const MIN_LEVELS: u32 = 20;

/// An expression that is being evaluated elsewhere than it is written.
pub(crate) struct RelocatedExpr {
    /// The address of its tree, and its nodes there.
    tree: usize,
    first: NodeId,
    last: NodeId,
    /// The ad that it is written in.
    home: FrameId,
    /// The ad that it is evaluated in. What is in ads written in it is evaluated in those.
    frame: FrameId,
}

/// The target of a reference, and the ad in which the search ended.
pub(crate) struct Located<'a> {
    /// The target, not evaluated.
    pub(crate) found: Option<Found<'a>>,
    /// The ad that has it; if there is none, the last ad that was searched.
    pub(crate) at: FrameId,
}

impl<'a> Evaluator<'a> {
    /// Follows a reference without evaluating what it leads to, and goes on in the ad where the search ended; `None`
    /// for nodes that are no reference.
    pub(crate) fn locate(
        &mut self,
        tree: &Arc<Tree>,
        id: NodeId,
        frame: FrameId,
    ) -> Result<Option<Located<'a>>, EvalError> {
        self.look()?;
        let (found, last) = match tree.node(id) {
            Node::Attr(name) => {
                let from = self.current(frame);
                let last = self.frame(from).alternate.unwrap_or(from);
                (self.resolve_reference(*name, frame), self.root_of(last))
            }
            Node::Absolute(name) => (self.resolve(*name, self.root), self.root),
            Node::Select(name) => {
                match self.deeper_by_reference(|evaluator| evaluator.eval(tree, base_of(id), frame))? {
                    Value::Ad(ad) => {
                        let from = self.searched(&ad)?;
                        (self.resolve(*name, from), self.root_of(from))
                    }
                    Value::List(list) => {
                        let found = Some(Found::Value(self.project(&list, *name, frame)?));
                        return Ok(Some(Located { found, at: self.current(frame) }));
                    }
                    _ => return Ok(Some(Located { found: None, at: self.current(frame) })),
                }
            }
            _ => return Ok(None),
        };
        let located = match found {
            Some((found, at)) => Located { found: Some(found), at },
            None => Located { found: None, at: last },
        };
        self.move_to(located.at);
        Ok(Some(located))
    }

    /// The expression of an attribute of one ad and its chained parents, as it is written there.
    pub(crate) fn expression(&self, name: Name, frame: FrameId) -> Option<Expr> {
        match &self.frame(frame).holder {
            Holder::Written(tree, root) => match tree.node(*root) {
                Node::Ad(run) => tree.ad_attribute(*run, name).map(|value| Expr::at(Arc::clone(tree), value)),
                _ => None,
            },
            other => other.ad()?.get(name),
        }
    }

    /// Evaluates something in an ad as an evaluation of its own: nothing is circular yet, and all depth is left. In
    /// a match the ad sees the side opposite to the one it is part of.
    pub(crate) fn with_fresh_depth_in(
        &mut self,
        ad: &AdValue,
        inner: impl FnOnce(&mut Self, FrameId) -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        self.forgetting(|evaluator| {
            let frame = evaluator.frame_of(ad)?;
            let alternate = evaluator.frame(frame).alternate;
            evaluator.frames[frame.0 as usize].alternate = evaluator.opposite_of(frame);
            let value = evaluator.with_fresh_depth(frame, |evaluator| inner(evaluator, frame));
            evaluator.frames[frame.0 as usize].alternate = alternate;
            value
        })
    }

    /// Evaluates something as an evaluation of its own, whose root is the outermost ad around a frame: nothing is
    /// circular yet, and all depth is left.
    pub(crate) fn with_fresh_depth(
        &mut self,
        frame: FrameId,
        inner: impl FnOnce(&mut Self) -> Result<Value, EvalError>,
    ) -> Result<Value, EvalError> {
        // Their number is bounded by what they take together: the reference has no limit and overflows its stack.
        if self.outer_depth >= MAX_TOTAL_DEPTH {
            self.around += 1;
            return Err(EvalError::Contexts(MAX_TOTAL_DEPTH));
        }
        let outer = (std::mem::take(&mut self.active), std::mem::take(&mut self.depth), self.root);
        let references = std::mem::take(&mut self.references);
        self.outer_depth += outer.1 + MIN_LEVELS;
        self.root = self.root_of(frame);
        let value = self.with_fresh_search(|evaluator| with_stack(|| inner(evaluator)));
        self.outer_depth -= outer.1 + MIN_LEVELS;
        (self.active, self.depth, self.root) = outer;
        self.references = references;
        value
    }

    /// Evaluates something that is somewhere else: the place that a search moved to does not count there, nor do
    /// searches there move what is being evaluated here.
    pub(crate) fn with_fresh_search<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let moved = std::mem::replace(&mut self.search_scope, FrameId::NONE);
        let value = inner(self);
        self.search_scope = moved;
        value
    }

    /// The ad in which names of a frame are looked up.
    ///
    /// `unresolved`, `evalInEachContext` and `countMatches` leave the reference where they found their first argument;
    /// until the expression around them is done, names are looked up from there.
    pub(crate) fn current(&self, frame: FrameId) -> FrameId {
        if self.search_scope == FrameId::NONE { frame } else { self.search_scope }
    }

    /// Goes on in the ad where a search ended.
    pub(crate) fn move_to(&mut self, frame: FrameId) {
        self.search_scope = frame;
    }

    /// The outermost ad.
    pub(crate) fn root(&self) -> FrameId {
        self.root
    }

    /// Tests whether a frame is one of the two sides of a match.
    pub(crate) fn is_side(frame: FrameId) -> bool {
        matches!(frame, LEFT | RIGHT)
    }

    /// Tests whether a frame is one of the two ads around the sides of a match, whose attributes are absolute
    /// references.
    pub(crate) fn is_side_context(&self, frame: FrameId) -> bool {
        matches!(self.frame(frame).holder, Holder::LeftContext | Holder::RightContext)
    }

    /// The alternate scope of the nearest ad around that has one.
    fn opposite_of(&self, frame: FrameId) -> Option<FrameId> {
        let mut at = frame;
        loop {
            let Frame { alternate, parent, .. } = self.frame(at);
            if alternate.is_some() {
                return *alternate;
            }
            at = (*parent)?;
        }
    }

    /// An ad written in an expression, as a frame to look names up in.
    pub(crate) fn frame_of_written(
        &mut self,
        tree: &Arc<Tree>,
        root: NodeId,
        parent: Option<FrameId>,
    ) -> Result<FrameId, EvalError> {
        self.push_counted(Holder::Written(Arc::clone(tree), root), parent)
    }

    /// Goes one level deeper, for walks that evaluate only now and then; [`Evaluator::ascend`] comes back.
    pub(crate) fn descend(&mut self) -> Result<(), EvalError> {
        if self.depth >= self.settings.limits.depth {
            self.around += 1;
            return Err(EvalError::Depth(self.settings.limits.depth));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// The frame that evaluation begins in.
    pub(crate) fn start(&self) -> FrameId {
        self.start
    }

    /// The meanings of the attributes of an ad, last first.
    pub(crate) fn parts(&self, frame: FrameId) -> Vec<Found<'a>> {
        match &self.frame(frame).holder {
            Holder::Written(tree, root) => {
                let parts = tree.parts(*root);
                parts.into_iter().rev().map(|part| Found::Shared(Arc::clone(tree), part)).collect()
            }
            Holder::LeftContext | Holder::RightContext => vec![Found::Frame(RIGHT), Found::Frame(LEFT)],
            holder => {
                let mut attributes: Vec<_> = holder.ad().into_iter().flat_map(ClassAd::attributes).collect();
                attributes.sort_by(|(a, _), (b, _)| b.listing_order(*a));
                let mut parts: Vec<_> = attributes.into_iter().map(|(_, value)| found_attribute(value)).collect();
                if let Holder::Match = holder {
                    parts.extend([RIGHT, LEFT, RIGHT_CONTEXT, LEFT_CONTEXT].map(Found::Frame));
                }
                parts
            }
        }
    }

    /// Number of attributes of an ad itself, chained parents not counted.
    pub(crate) fn size_of(&self, frame: FrameId) -> usize {
        match &self.frame(frame).holder {
            Holder::Written(tree, root) => tree.parts(*root).len(),
            Holder::Match => MATCH_AD.len() + 4, // LEFT, RIGHT and the context around each
            other => other.ad().map_or(0, ClassAd::len),
        }
    }

    /// Evaluates an expression as if it stood in a frame; the lists and ads written in it stay part of the ad that
    /// they are written in, `home`.
    pub(crate) fn eval_relocated(&mut self, home: FrameId, expr: &Expr, frame: FrameId) -> Result<Value, EvalError> {
        match expr.node() {
            Node::Literal(_) | Node::Attr(_) | Node::Absolute(_) => {
                return self.eval(expr.tree(), expr.root(), frame);
            }
            Node::List(_) | Node::Ad(_) => return self.eval(expr.tree(), expr.root(), home),
            _ => {}
        }
        let mut first = expr.root();
        loop {
            let parts = expr.tree().parts(first);
            self.charge_work(parts.len() as u64 / 8)?;
            match parts.into_iter().min() {
                Some(part) => first = part,
                None => break,
            }
        }
        let tree = Arc::as_ptr(expr.tree()) as usize;
        self.relocated.push(RelocatedExpr { tree, first, last: expr.root(), home, frame });
        let value = self.eval(expr.tree(), expr.root(), frame);
        self.relocated.pop();
        value
    }

    /// The ad that a list or ad is written in, when names are looked up in `frame`.
    pub(crate) fn home(&self, tree: &Arc<Tree>, id: NodeId, frame: FrameId) -> FrameId {
        let tree = Arc::as_ptr(tree) as usize;
        let covers = |away: &RelocatedExpr| away.tree == tree && (away.first..=away.last).contains(&id);
        let away = self.relocated.iter().rev().find(|away| away.frame == frame && covers(away));
        away.map_or(frame, |away| away.home)
    }

    /// Evaluates what was found in an ad as if it stood in a frame.
    pub(crate) fn found_in(&mut self, found: &Found<'a>, home: FrameId, frame: FrameId) -> Result<Value, EvalError> {
        match found {
            Found::Value(value) => Ok(value.clone()),
            Found::Literal(literal) => Ok(Value::from(*literal)),
            Found::Frame(id) => Ok(Value::Ad(AdValue(AdOrigin::Frame(*id)))),
            Found::Clock => Ok(Value::Int(self.settings.time())),
            Found::Rootless => Err(EvalError::Rootless),
            Found::Borrowed(tree) => self.eval_relocated(home, &Expr::whole(Arc::clone(tree)), frame),
            Found::Shared(tree, node) => self.eval_relocated(home, &Expr::at(Arc::clone(tree), *node), frame),
        }
    }

    /// A list of values, counted against the limit of bytes as if its elements were shared with nothing: so whatever
    /// is made of lists stays as small as the limit, even when it is written out.
    ///
    /// Durations become constants there, which lose the parts of a second.
    pub(crate) fn made_list(&mut self, mut values: Vec<Value>) -> Result<List, EvalError> {
        for value in &mut values {
            if let Value::RelTime(seconds) = value {
                *seconds = real_to_integer(*seconds) as f64;
            }
            self.charge_value(value)?;
        }
        Ok(List::of(values))
    }

    fn charge_value(&mut self, value: &Value) -> Result<(), EvalError> {
        self.charge_bytes(size_of::<Value>())?;
        match value {
            Value::Str(text) => self.charge_bytes(text.len()),
            Value::List(list) => match list.items() {
                Items::Made(values) => values.iter().try_for_each(|value| self.charge_value(value)),
                Items::Written { expr, .. } => self.charge_nodes(expr.nodes()),
                Items::Temporary(_) => Ok(()),
            },
            Value::Ad(ad) => match ad.source() {
                AdOrigin::Temporary(_) => Ok(()),
                AdOrigin::Written(written) => self.charge_nodes(written.expr.nodes()),
                AdOrigin::Made(ad) => self.charge_ad(Some(ad)),
                AdOrigin::Frame(id) => match self.frame(*id).holder.clone() {
                    Holder::Written(tree, root) => self.charge_nodes(Expr::at(tree, root).nodes()),
                    Holder::Match => [LEFT, RIGHT]
                        .into_iter()
                        .try_for_each(|side| self.charge_value(&Value::Ad(AdValue(AdOrigin::Frame(side))))),
                    Holder::LeftContext | Holder::RightContext | Holder::Nowhere => Ok(()),
                    holder => self.charge_ad(holder.ad()),
                },
            },
            _ => Ok(()),
        }
    }

    fn charge_ad(&mut self, ad: Option<&ClassAd>) -> Result<(), EvalError> {
        ad.into_iter().flat_map(ClassAd::attributes).try_for_each(|(_, value)| match value {
            Attribute::Literal(literal) => self.charge_bytes(literal_size(literal)),
            Attribute::Tree(tree) => self.charge_nodes(&tree.nodes),
        })
    }

    pub(crate) fn charge_nodes(&mut self, nodes: &[Node]) -> Result<(), EvalError> {
        nodes.iter().try_for_each(|node| {
            self.charge_bytes(match node {
                Node::Literal(literal) => literal_size(literal),
                _ => size_of::<Node>(),
            })
        })
    }

    /// Bytes that may still be made.
    pub(crate) fn bytes_left(&self) -> usize {
        usize::try_from(self.settings.limits.bytes.saturating_sub(self.bytes)).unwrap_or(usize::MAX)
    }

    /// The failure of making more bytes than that.
    pub(crate) fn too_many_bytes(&self) -> EvalError {
        EvalError::Memory(self.settings.limits.bytes)
    }
}

fn literal_size(literal: &Literal) -> usize {
    match literal {
        Literal::Str(text) => size_of::<Node>() + text.len(),
        _ => size_of::<Node>(),
    }
}
