//! Values: what expressions evaluate to.

pub mod arith;
pub mod compare;
pub mod logic;
pub mod text;
pub mod time;

use std::fmt;
use std::sync::Arc;

use crate::ad::ClassAd;
use crate::syntax::expr::{Expr, Node, NodeId};
use crate::syntax::literal::Literal;
use crate::syntax::print::Style;
use crate::syntax::time::AbsTime;
use crate::text::Text;

/// The result of an expression. 16 bytes; clones share strings, lists and ads.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Information is missing.
    #[default]
    Undefined,
    /// Types clash, or a domain was left.
    Error,
    /// `true` or `false`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Real(f64),
    /// A byte string.
    Str(Text),
    /// A point in time.
    AbsTime(AbsTime),
    /// A duration in seconds.
    RelTime(f64),
    /// A list of expressions that are not evaluated yet, or of values.
    List(List),
    /// An ad of expressions that are not evaluated yet.
    Ad(AdValue),
}

/// The types of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Type {
    /// `undefined`
    Undefined,
    /// `error`
    Error,
    /// Boolean.
    Bool,
    /// Integer.
    Int,
    /// Real.
    Real,
    /// String.
    Str,
    /// Absolute time.
    AbsTime,
    /// Relative time.
    RelTime,
    /// List.
    List,
    /// Ad.
    Ad,
}

impl Type {
    /// The name of the type in the conformance records and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Type::Undefined => "undefined",
            Type::Error => "error",
            Type::Bool => "boolean",
            Type::Int => "integer",
            Type::Real => "real",
            Type::Str => "string",
            Type::AbsTime => "abstime",
            Type::RelTime => "reltime",
            Type::List => "list",
            Type::Ad => "classad",
        }
    }

    /// The name with its article, for a sentence: `an integer`.
    pub fn with_article(self) -> String {
        let name = self.as_str();
        match self {
            Type::Undefined => name.to_owned(),
            Type::Error | Type::Int | Type::AbsTime => format!("an {name}"),
            _ => format!("a {name}"),
        }
    }
}

/// The number of an ad in the evaluation that a value came from; means nothing to anyone else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct FrameId(pub(crate) u32);

impl FrameId {
    /// No ad at all: for values made outside an evaluation, and for copies. Every evaluation begins with this frame.
    pub(crate) const NONE: FrameId = FrameId(0);
}

/// A list value.
#[derive(Clone, Debug)]
pub struct List(Arc<Items>);

#[derive(Debug)]
pub(crate) enum Items {
    /// Written in an expression: the elements are evaluated when they are taken, in the scope of the list.
    Written { expr: Expr, frame: FrameId },
    /// Made by a function or a projection.
    Made(Vec<Value>),
    /// A list that nothing but its value keeps: the lists that functions make, and what a subscript takes out of an ad.
    /// The lists and ads in it are lost to the reference when the list is, while an element is being taken.
    Temporary(List),
}

impl List {
    /// A list of values.
    pub fn of(values: Vec<Value>) -> Self {
        List(Arc::new(Items::Made(values)))
    }

    pub(crate) fn written(expr: Expr, frame: FrameId) -> Self {
        List(Arc::new(Items::Written { expr, frame }))
    }

    /// The same list, kept by nothing but the value.
    pub(crate) fn temporary(self) -> Self {
        if self.is_temporary() { self } else { List(Arc::new(Items::Temporary(self))) }
    }

    pub(crate) fn is_temporary(&self) -> bool {
        matches!(*self.0, Items::Temporary(_))
    }

    /// The same list, kept by something else.
    pub(crate) fn kept(self) -> Self {
        match &*self.0 {
            Items::Temporary(list) => list.clone(),
            _ => self,
        }
    }

    pub(crate) fn items(&self) -> &Items {
        match &*self.0 {
            Items::Temporary(list) => list.items(),
            items => items,
        }
    }

    /// The elements, if they are values already; those of a list written in an expression are not evaluated.
    pub fn values(&self) -> Option<&[Value]> {
        match self.items() {
            Items::Made(values) => Some(values),
            _ => None,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &*self.0 {
            Items::Written { expr, .. } => elements(expr).len(),
            Items::Made(values) => values.len(),
            Items::Temporary(list) => list.len(),
        }
    }

    /// Tests whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as expressions, not evaluated.
    pub fn exprs(&self) -> Vec<Expr> {
        match &*self.0 {
            Items::Written { expr, .. } => elements(expr).iter().map(|id| expr.part(*id)).collect(),
            Items::Made(values) => values.iter().map(Value::to_expr).collect(),
            Items::Temporary(list) => list.exprs(),
        }
    }
}

pub(crate) fn elements(expr: &Expr) -> &[NodeId] {
    match expr.node() {
        Node::List(run) => expr.tree().run(*run),
        _ => &[],
    }
}

/// An ad value.
#[derive(Clone, Debug)]
pub struct AdValue(pub(crate) AdOrigin);

#[derive(Clone, Debug)]
pub(crate) enum AdOrigin {
    /// One of the ads of the running evaluation.
    Frame(FrameId),
    /// Written in an expression.
    Written(Arc<WrittenAd>),
    /// Made by a function, or taken out of an evaluation.
    Made(Arc<ClassAd>),
    /// An ad that nothing but its value keeps: what a subscript takes out of another ad. It is lost to the reference
    /// before a selection looks into it.
    Temporary(Arc<AdOrigin>),
}

#[derive(Debug)]
pub(crate) struct WrittenAd {
    pub(crate) expr: Expr,
    /// The ad around it.
    pub(crate) frame: FrameId,
}

impl AdValue {
    /// An ad as a value.
    pub fn of(ad: ClassAd) -> Self {
        AdValue(AdOrigin::Made(Arc::new(ad)))
    }

    /// The same ad, kept by nothing but the value.
    pub(crate) fn temporary(self) -> Self {
        if self.is_temporary() { self } else { AdValue(AdOrigin::Temporary(Arc::new(self.0))) }
    }

    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self.0, AdOrigin::Temporary(_))
    }

    /// The ad, without regard to its keeper.
    pub(crate) fn source(&self) -> &AdOrigin {
        let mut source = &self.0;
        while let AdOrigin::Temporary(inner) = source {
            source = inner;
        }
        source
    }

    /// The ad itself.
    pub fn to_ad(&self) -> ClassAd {
        match self.source() {
            // Neither leaves an evaluation.
            AdOrigin::Frame(_) | AdOrigin::Temporary(_) => ClassAd::new(),
            AdOrigin::Written(written) => ClassAd::from_expr(&written.expr).unwrap_or_default(),
            AdOrigin::Made(ad) => (**ad).clone(),
        }
    }
}

impl Value {
    /// A string value.
    pub fn text(bytes: impl AsRef<[u8]>) -> Self {
        Value::Str(Text::new(bytes))
    }

    /// The type.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Undefined => Type::Undefined,
            Value::Error => Type::Error,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Real(_) => Type::Real,
            Value::Str(_) => Type::Str,
            Value::AbsTime(_) => Type::AbsTime,
            Value::RelTime(_) => Type::RelTime,
            Value::List(_) => Type::List,
            Value::Ad(_) => Type::Ad,
        }
    }

    /// Tests whether the value is `undefined`.
    pub fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined)
    }

    /// Tests whether the value is `error`.
    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error)
    }

    /// The value as a condition: booleans, and numbers other than zero (NaN included) are true
    /// (`docs/reference/classad-language.md` 4).
    pub fn as_condition(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Int(value) => Some(*value != 0),
            Value::Real(value) => Some(*value != 0.0),
            _ => None,
        }
    }

    /// Tests whether the value is true, or a number or a duration other than zero, as Python tests a number.
    pub fn is_nonzero(&self) -> bool {
        match self {
            Value::RelTime(seconds) => *seconds != 0.0,
            other => other.as_condition() == Some(true),
        }
    }

    /// The value as a number: booleans are 0 and 1 (`docs/reference/classad-language.md` 10.5).
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            Value::Int(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if the value is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The bytes, if the value is a string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an expression that evaluates to it (to a real, for a relative time:
    /// `docs/reference/classad-language.md` 4).
    pub fn to_expr(&self) -> Expr {
        match self {
            Value::List(list) => list.to_expr(),
            Value::Ad(ad) => match ad.source() {
                AdOrigin::Written(written) => written.expr.clone(),
                _ => ad.to_ad().to_expr(),
            },
            _ => Expr::literal(self.to_literal().unwrap_or(Literal::Error)),
        }
    }

    /// The constant that is written for the value; none for a list or an ad.
    pub(crate) fn to_literal(&self) -> Option<Literal> {
        Some(match self {
            Value::Undefined => Literal::Undefined,
            Value::Error => Literal::Error,
            Value::Bool(value) => Literal::Bool(*value),
            Value::Int(value) => Literal::Int(*value),
            Value::Real(value) => Literal::Real(*value),
            Value::Str(text) => Literal::Str(text.clone()),
            Value::AbsTime(time) => Literal::AbsTime(*time),
            Value::RelTime(seconds) => Literal::RelTime(*seconds),
            Value::List(_) | Value::Ad(_) => return None,
        })
    }

    /// The canonical text of the value.
    pub fn to_text(&self, style: Style) -> Vec<u8> {
        self.to_expr().to_text(style)
    }
}

impl List {
    fn to_expr(&self) -> Expr {
        use crate::syntax::expr::{Run, Tree, copy_into};
        match &*self.0 {
            Items::Written { expr, .. } => expr.clone(),
            Items::Temporary(list) => list.to_expr(),
            Items::Made(values) => {
                let mut tree = Tree::default();
                let children: Vec<NodeId> = values
                    .iter()
                    .map(|value| {
                        let element = value.to_expr();
                        copy_into(&mut tree, element.tree(), element.root())
                    })
                    .collect();
                let run = Run { first: tree.children.len() as u32, len: children.len() as u32 };
                tree.children.extend(children);
                tree.nodes.push(Node::List(run));
                tree.spans.clear();
                Expr::whole(Arc::new(tree))
            }
        }
    }
}

impl From<&Literal> for Value {
    /// The value of the constant: a relative-time literal is a real (`docs/reference/classad-language.md` 4).
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Undefined => Value::Undefined,
            Literal::Error => Value::Error,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Real(value) | Literal::RelTime(value) => Value::Real(*value),
            Literal::Str(text) => Value::Str(text.clone()),
            Literal::AbsTime(time) => Value::AbsTime(*time),
            Literal::OldRelTime(seconds) => Value::RelTime(*seconds),
            Literal::Suffixed(..) => Value::from(&literal.product()),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Str(Text::from(text))
    }
}

/// The canonical text; with `{:#}`, that of [`Style::PlainNew`], by which values can be told apart.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = if f.alternate() { Style::PlainNew } else { Style::New };
        f.write_str(&String::from_utf8_lossy(&self.to_text(style)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_takes_sixteen_bytes() {
        assert_eq!(size_of::<Value>(), 16);
    }
}
