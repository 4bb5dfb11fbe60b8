//! The ads of an evaluation, and the meanings of names in them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::ad::{Attribute, ClassAd};
use crate::eval::Evaluator;
use crate::name::{Key, Name, known};
use crate::syntax::expr::{Expr, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::value::{AdOrigin, AdValue, FrameId, Items, List, Value, WrittenAd};

/// One of the ads of an evaluation.
pub(super) struct Frame<'a> {
    pub(super) holder: Holder<'a>,
    /// The ad around this one.
    pub(super) parent: Option<FrameId>,
    /// The frame of the whole ad that this one is written in.
    pub(super) owner: FrameId,
    /// The ad for names that are missing here: the other side of a match, in HTCondor mode.
    pub(super) alternate: Option<FrameId>,
}

#[derive(Clone)]
pub(super) enum Holder<'a> {
    Ad(&'a ClassAd),
    /// An ad written in an expression: the tree, and the node of the ad.
    Written(Arc<Tree>, NodeId),
    Made(Arc<ClassAd>),
    /// The ad around both sides of a match.
    Match,
    LeftContext,
    RightContext,
    /// No ad at all, where the parts of a copied list are: every name is undefined.
    Nowhere,
}

impl Holder<'_> {
    /// The ad, unless it is written in an expression.
    pub(super) fn ad(&self) -> Option<&ClassAd> {
        match self {
            Holder::Ad(ad) => Some(ad),
            Holder::Made(ad) => Some(ad),
            Holder::Match => Some(&MATCH_AD),
            Holder::LeftContext => Some(&LEFT_CONTEXT_AD),
            Holder::RightContext => Some(&RIGHT_CONTEXT_AD),
            Holder::Written(..) | Holder::Nowhere => None,
        }
    }
}

/// The frame of an evaluation without a match.
pub(super) const ALONE: FrameId = FrameId(1);
/// Frames of a match, in this order.
pub(super) const MATCH: FrameId = FrameId(1);
pub(super) const LEFT_CONTEXT: FrameId = FrameId(2);
pub(super) const LEFT: FrameId = FrameId(3);
pub(super) const RIGHT_CONTEXT: FrameId = FrameId(4);
pub(super) const RIGHT: FrameId = FrameId(5);

/// The meaning of a name.
pub(crate) enum Found<'a> {
    Value(Value),
    Literal(&'a Literal),
    Frame(FrameId),
    Borrowed(&'a Arc<Tree>),
    Shared(Arc<Tree>, NodeId),
    /// `CurrentTime`
    Clock,
    /// The outermost ad, where there is none.
    Rootless,
}

impl Found<'_> {
    /// The expression, unless it is a value or an ad of the evaluation.
    pub(crate) fn tree(&self) -> Option<(Arc<Tree>, NodeId)> {
        match self {
            Found::Borrowed(tree) => Some((Arc::clone(tree), tree.root())),
            Found::Shared(tree, node) => Some((Arc::clone(tree), *node)),
            Found::Value(_) | Found::Literal(_) | Found::Frame(_) | Found::Clock | Found::Rootless => None,
        }
    }
}

/// An expression that is being evaluated: a reference to it is circular.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Active {
    pub(super) holder: usize,
    pub(super) part: u32,
    pub(super) owner: u32,
}

pub(super) static MATCH_AD: LazyLock<ClassAd> = LazyLock::new(|| {
    ClassAd::parse(
        b"[ symmetricMatch = RIGHT.requirements && LEFT.requirements; leftMatchesRight = RIGHT.requirements; \
          rightMatchesLeft = LEFT.requirements; leftRankValue = LEFT.rank; rightRankValue = RIGHT.rank ]",
    )
    .unwrap_or_default()
});

static LEFT_CONTEXT_AD: LazyLock<ClassAd> = LazyLock::new(|| {
    ClassAd::parse(b"[ ad = .LEFT; my = .LEFT; other = .RIGHT; target = .RIGHT ]").unwrap_or_default()
});

static RIGHT_CONTEXT_AD: LazyLock<ClassAd> = LazyLock::new(|| {
    ClassAd::parse(b"[ ad = .RIGHT; my = .RIGHT; other = .LEFT; target = .LEFT ]").unwrap_or_default()
});

impl Evaluator<'_> {
    /// A value that means the same outside this evaluation.
    pub(crate) fn released(&self, value: Value) -> Value {
        match value {
            Value::List(_) | Value::Ad(_) => self.released_value(value, &mut HashMap::new()),
            other => other,
        }
    }

    /// Each ad is copied once, however many lists it is in.
    fn released_value(&self, value: Value, known: &mut HashMap<u32, AdValue>) -> Value {
        match value {
            Value::Ad(ad) => match *ad.source() {
                AdOrigin::Frame(id) => Value::Ad(known.entry(id.0).or_insert_with(|| self.released_ad(id)).clone()),
                _ => Value::Ad(ad),
            },
            Value::List(list) => match list.items() {
                Items::Made(values) => Value::List(List::of(
                    values.iter().map(|value| self.released_value(value.clone(), known)).collect(),
                )),
                _ => Value::List(list),
            },
            other => other,
        }
    }

    fn released_ad(&self, id: FrameId) -> AdValue {
        AdValue(match &self.frame(id).holder {
            Holder::Made(ad) => AdOrigin::Made(Arc::clone(ad)),
            Holder::Written(tree, root) => {
                let expr = Expr::at(Arc::clone(tree), *root);
                AdOrigin::Written(Arc::new(WrittenAd { expr, frame: FrameId::NONE }))
            }
            Holder::Match => AdOrigin::Made(Arc::new(self.match_ad())),
            other => AdOrigin::Made(Arc::new(other.ad().cloned().unwrap_or_default())),
        })
    }

    /// The ad around a match as it would be written.
    fn match_ad(&self) -> ClassAd {
        let mut ad = MATCH_AD.clone();
        for (name, frame) in [("LEFT", LEFT), ("RIGHT", RIGHT), ("lCtx", LEFT_CONTEXT), ("rCtx", RIGHT_CONTEXT)] {
            ad.insert_expr(Name::new(name), &self.released_ad(frame).to_ad().to_expr());
        }
        ad
    }
}

pub(super) fn borrowed_attribute(attribute: &Attribute) -> Found<'_> {
    match attribute {
        Attribute::Literal(literal) => Found::Literal(literal),
        Attribute::Tree(tree) => Found::Borrowed(tree),
    }
}

pub(super) fn found_attribute<'a>(attribute: &Attribute) -> Found<'a> {
    match attribute {
        Attribute::Literal(literal) => Found::Value(Value::from(literal)),
        Attribute::Tree(tree) => Found::Shared(Arc::clone(tree), tree.root()),
    }
}

pub(super) fn side(key: Key, mine: FrameId, other: FrameId) -> Option<FrameId> {
    match key {
        known::OTHER | known::TARGET => Some(other),
        known::MY | known::AD => Some(mine),
        _ => None,
    }
}
