//! The common part of the writers of JSON and XML: ads as brackets inside brackets.

use crate::ad::{Attribute, ClassAd};
use crate::format::MAX_INDENT;
use crate::name::Name;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::print::write_line;

/// A notation for the parts of ads.
pub trait Notation: Default {
    /// Spaces of a level, where attributes have lines of their own.
    const INDENT: usize;
    /// The brackets of a list.
    const LIST: [&'static str; 2];
    /// True if elements of lists have lines of their own where attributes do.
    const LIST_HAS_LINES: bool;
    /// The brackets of an ad.
    const AD: [&'static str; 2];
    /// The text after an attribute.
    const ATTRIBUTE_END: &'static str;
    /// The text between elements and between attributes.
    const SEPARATOR: &'static str;

    /// Writes the text that an attribute starts with.
    fn write_name(out: &mut Vec<u8>, name: Name);

    /// Writes a constant.
    fn write_constant(&mut self, out: &mut Vec<u8>, literal: &Literal);

    /// Writes an expression that is neither a constant nor a list nor an ad.
    fn write_expr(&mut self, out: &mut Vec<u8>, tree: &Tree, id: NodeId);
}

/// Writes ads in a notation, in listing order, their own attributes only.
#[derive(Clone, Debug, Default)]
pub struct NotationWriter<N> {
    pub(super) notation: N,
}

enum Task {
    Node(NodeId),
    Name(Name),
    Text(&'static str),
    Line,
    In,
    Out,
}

impl<N: Notation> NotationWriter<N> {
    /// Writes an ad over several lines, without a last line end.
    pub fn write(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_in_pieces(out, ad, true, &mut |_| {});
    }

    /// Writes an ad on one line, without a line end.
    pub fn write_line(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_in_pieces(out, ad, false, &mut |_| {});
    }

    /// Writes an ad; `hand_on` sees after every step what is written, and may take it away.
    pub(super) fn write_in_pieces(
        &mut self,
        out: &mut Vec<u8>,
        ad: &ClassAd,
        has_lines: bool,
        hand_on: &mut dyn FnMut(&mut Vec<u8>),
    ) {
        out.extend_from_slice(N::AD[0].as_bytes());
        for (at, (name, value)) in ad.listed().enumerate() {
            if at > 0 {
                out.extend_from_slice(N::SEPARATOR.as_bytes());
            }
            if has_lines {
                write_line(out, N::INDENT);
            }
            N::write_name(out, name);
            write_value(&mut self.notation, out, value, has_lines, hand_on);
            out.extend_from_slice(N::ATTRIBUTE_END.as_bytes());
        }
        if has_lines {
            out.push(b'\n');
        }
        out.extend_from_slice(N::AD[1].as_bytes());
    }
}

/// Writes the value of an attribute of an ad. Parts that are not written yet wait on a stack.
pub(super) fn write_value<N: Notation>(
    notation: &mut N,
    out: &mut Vec<u8>,
    value: &Attribute,
    has_lines: bool,
    hand_on: &mut dyn FnMut(&mut Vec<u8>),
) {
    let tree = match value {
        Attribute::Literal(literal) => {
            notation.write_constant(out, literal);
            return hand_on(out);
        }
        Attribute::Tree(tree) => tree,
    };
    let mut steps = vec![Task::Node(tree.root())];
    let mut level = 1;
    while let Some(step) = steps.pop() {
        hand_on(out);
        let separator = |at: usize| (at > 0).then_some(Task::Text(N::SEPARATOR));
        let id = match step {
            Task::Node(id) => id,
            other => {
                match other {
                    Task::Name(name) => N::write_name(out, name),
                    Task::Text(text) => out.extend_from_slice(text.as_bytes()),
                    Task::Line if has_lines => write_line(out, (N::INDENT * level).min(MAX_INDENT)),
                    Task::In => level += 1,
                    Task::Out => level -= 1,
                    Task::Line | Task::Node(_) => {}
                }
                continue;
            }
        };
        match tree.node(id) {
            Node::Literal(literal) => notation.write_constant(out, literal),
            Node::List(run) => {
                let line = |step: Task| N::LIST_HAS_LINES.then_some(step);
                steps.push(Task::Text(N::LIST[1]));
                steps.extend([Task::Line, Task::Out].into_iter().filter_map(line));
                for (at, element) in tree.run(*run).iter().enumerate().rev() {
                    steps.push(Task::Node(*element));
                    steps.extend(line(Task::Line).into_iter().chain(separator(at)));
                }
                steps.extend(line(Task::In));
                steps.push(Task::Text(N::LIST[0]));
            }
            Node::Ad(run) => {
                steps.extend([Task::Text(N::AD[1]), Task::Line, Task::Out]);
                for (at, (name, value)) in tree.ad(*run).iter().enumerate().rev() {
                    steps.extend([Task::Text(N::ATTRIBUTE_END), Task::Node(*value), Task::Name(*name), Task::Line]);
                    steps.extend(separator(at));
                }
                steps.extend([Task::In, Task::Text(N::AD[0])]);
            }
            _ => notation.write_expr(out, tree, id),
        }
    }
}
