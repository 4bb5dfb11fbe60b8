//! Values of attributes in JSON and XML: lists and ads in one another are read without recursion.

use std::sync::Arc;

use crate::ad::Attribute;
use crate::error::{SyntaxError, SyntaxErrorKind};
use crate::format::MAX_DEPTH;
use crate::format::vocabulary::Expressions;
use crate::name::Name;
use crate::span::Span;
use crate::syntax::build::Builder;
use crate::syntax::expr::{Node, NodeId};
use crate::syntax::literal::Literal;

/// A value as it starts.
pub(super) enum Start {
    Constant(Literal),
    Expression(Attribute),
    List,
    Ad,
}

/// The syntax of values. Places are offsets in the text.
pub(super) trait ValueSyntax {
    /// The expressions of the input.
    fn expressions(&mut self) -> &mut Expressions;

    /// Reads the start of the value at a place; also returns the place after it.
    fn start(&mut self, text: &[u8], at: usize) -> Result<(Start, usize), SyntaxError>;

    /// The place of what follows a bracket or a value.
    fn following(&self, text: &[u8], at: usize) -> Result<usize, SyntaxError>;

    /// Moves to the next element of a list, or behind its end: then false.
    fn next_element(&mut self, text: &[u8], at: &mut usize, is_first: bool) -> Result<bool, SyntaxError>;

    /// Moves to the value of the next attribute of an ad, or behind its end: then there is no name.
    fn next_attribute(&mut self, text: &[u8], at: &mut usize, is_first: bool) -> Result<Option<Name>, SyntaxError>;
}

/// A list or ad whose end was not reached, and the number of elements or attributes when it began.
enum Open {
    List(usize),
    /// With the name of the attribute whose value is read.
    Ad(usize, Option<Name>),
}

/// Reads the value of an attribute; also returns the place after it.
pub(super) fn value(syntax: &mut impl ValueSyntax, text: &[u8], at: usize) -> Result<(Attribute, usize), SyntaxError> {
    let (mut start, mut at) = syntax.start(text, at)?;
    match start {
        Start::Constant(literal) => return Ok((Attribute::Literal(literal), at)),
        Start::Expression(attribute) => return Ok((attribute, at)),
        Start::List | Start::Ad => {}
    }
    let (options, inside) = (syntax.expressions().options().clone(), at);
    let mut counted = at;
    let mut builder = Builder::new(&options);
    let mut stack: Vec<Open> = Vec::new();
    loop {
        if stack.len() >= MAX_DEPTH {
            let kind = SyntaxErrorKind::TooDeep(MAX_DEPTH);
            return Err(SyntaxError::new(kind, Span::new(inside, inside + 1)));
        }
        let mut done: Option<NodeId> = match start {
            Start::Constant(literal) => Some(builder.push(0, Node::Literal(literal), 0)),
            Start::Expression(attribute) => Some(builder.graft(&attribute.to_expr())),
            Start::List => {
                stack.push(Open::List(builder.mark()));
                None
            }
            Start::Ad => {
                stack.push(Open::Ad(builder.bindings(), None));
                None
            }
        };
        // What is complete may complete what is around it.
        loop {
            at = syntax.following(text, at)?;
            syntax.expressions().count(at - counted, Span::new(inside, at))?;
            counted = at;
            let goes_on = match stack.last_mut() {
                None => return Ok((Attribute::Tree(Arc::new(builder.finish())), at)),
                Some(Open::List(_)) => {
                    let is_first = done.is_none();
                    if let Some(element) = done {
                        builder.element(element);
                    }
                    syntax.next_element(text, &mut at, is_first)?
                }
                Some(Open::Ad(_, name)) => {
                    if let (Some(name), Some(value)) = (*name, done) {
                        builder.bind(at, name, value, at)?;
                    }
                    *name = syntax.next_attribute(text, &mut at, name.is_none())?;
                    name.is_some()
                }
            };
            if goes_on {
                break;
            }
            done = stack.pop().map(|open| match open {
                Open::List(mark) => builder.list(0, mark, 0),
                Open::Ad(mark, _) => builder.ad(0, mark, 0),
            });
        }
        (start, at) = syntax.start(text, at)?;
    }
}
