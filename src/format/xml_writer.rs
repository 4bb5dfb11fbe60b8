//! Ads as XML: the writer (`docs/reference/classad-language.md` 8.8).

use crate::ad::{Attribute, ClassAd};
use crate::format::MAX_INDENT;
use crate::format::order::Order;
use crate::format::xml_token::encode_entities;
use crate::name::Name;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::number::write_real;
use crate::syntax::print::{Style, write_expr, write_integer, write_line};
use crate::syntax::quote::write_escaped;
use crate::syntax::time::write_abs;

/// Writes ads in the XML form, in listing order, their own attributes only (`docs/reference/classad-language.md` 8.8).
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate::internal::format::xml::XmlWriter;
/// let ad = ClassAd::parse(b"[b = true; c = {1, a < 2}]")?;
/// let mut out = Vec::new();
/// XmlWriter::new().write_compact(&mut out, &ad);
/// assert_eq!(out, br#"<c><a n="b"><b v="t"/></a><a n="c"><l><i>1</i><e>a &lt; 2</e></l></a></c>"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct XmlWriter {
    order: Order,
}

impl Default for XmlWriter {
    fn default() -> Self {
        XmlWriter::new()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Compact,
    /// One attribute a line, indented by four spaces a level.
    Spaced,
}

impl XmlWriter {
    /// What tools write before the first ad.
    pub const HEADER: &'static str =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";
    /// What tools write behind the last ad.
    pub const FOOTER: &'static str = "</classads>\n";

    /// A writer; one writer for many ads of the same kind sorts their names only once.
    pub fn new() -> Self {
        XmlWriter { order: Order::listing() }
    }

    /// Writes an ad on one line, without a line end.
    pub fn write_compact(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_as(out, ad, Layout::Compact);
    }

    /// Writes an ad with one attribute a line, line end included.
    pub fn write_spaced(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_as(out, ad, Layout::Spaced);
        out.push(b'\n');
    }

    fn write_as(&mut self, out: &mut Vec<u8>, ad: &ClassAd, layout: Layout) {
        out.extend_from_slice(b"<c>");
        for (name, value) in self.order.of(ad) {
            if layout == Layout::Spaced {
                write_line(out, 4);
            }
            write_start(out, name);
            match value {
                Attribute::Literal(literal) => write_constant(out, literal),
                Attribute::Tree(tree) => write_tree(out, tree, layout),
            }
            out.extend_from_slice(b"</a>");
        }
        if layout == Layout::Spaced {
            out.push(b'\n');
        }
        out.extend_from_slice(b"</c>");
    }
}

enum Step {
    Node(NodeId),
    Start(Name),
    Text(&'static str),
    Line,
    In,
    Out,
}

/// Writes the value of an attribute of an ad. What is still to be written waits on a stack.
fn write_tree(out: &mut Vec<u8>, tree: &Tree, layout: Layout) {
    let mut steps = vec![Step::Node(tree.root())];
    let mut level = 1;
    while let Some(step) = steps.pop() {
        match step {
            Step::Start(name) => write_start(out, name),
            Step::Text(text) => out.extend_from_slice(text.as_bytes()),
            Step::Line if layout == Layout::Spaced => write_line(out, (4 * level).min(MAX_INDENT)),
            Step::Line => {}
            Step::In => level += 1,
            Step::Out => level -= 1,
            Step::Node(id) => match tree.node(id) {
                Node::Literal(literal) => write_constant(out, literal),
                Node::List(run) => {
                    steps.push(Step::Text("</l>"));
                    steps.extend(tree.run(*run).iter().rev().map(|element| Step::Node(*element)));
                    steps.push(Step::Text("<l>"));
                }
                Node::Ad(run) => {
                    steps.extend([Step::Text("</c>"), Step::Line, Step::Out]);
                    for (name, value) in tree.ad(*run).iter().rev() {
                        steps.extend([Step::Text("</a>"), Step::Node(*value), Step::Start(*name), Step::Line]);
                    }
                    steps.extend([Step::In, Step::Text("<c>")]);
                }
                _ => {
                    out.extend_from_slice(b"<e>");
                    let start = out.len();
                    write_expr(out, tree, id, Style::New);
                    encode_entities(out, start);
                    out.extend_from_slice(b"</e>");
                }
            },
        }
    }
}

fn write_start(out: &mut Vec<u8>, name: Name) {
    out.extend_from_slice(b"<a n=\"");
    let start = out.len();
    write_escaped(out, name.as_bytes(), Some(b'"'));
    encode_entities(out, start);
    out.extend_from_slice(b"\">");
}

fn write_constant(out: &mut Vec<u8>, literal: &Literal) {
    match literal {
        Literal::Undefined => out.extend_from_slice(b"<un/>"),
        Literal::Error => out.extend_from_slice(b"<er/>"),
        Literal::Bool(true) => out.extend_from_slice(b"<b v=\"t\"/>"),
        Literal::Bool(false) => out.extend_from_slice(b"<b v=\"f\"/>"),
        Literal::Int(value) => {
            out.extend_from_slice(b"<i>");
            write_integer(out, *value);
            out.extend_from_slice(b"</i>");
        }
        Literal::Real(value) | Literal::RelTime(value) => {
            out.extend_from_slice(b"<r>");
            match *value {
                0.0 => out.extend_from_slice(b"0.0"), // -0.0 as well
                value if value.is_nan() => out.extend_from_slice(b"NaN"),
                f64::INFINITY => out.extend_from_slice(b"INF"),
                f64::NEG_INFINITY => out.extend_from_slice(b"-INF"),
                value => write_real(out, value),
            }
            out.extend_from_slice(b"</r>");
        }
        Literal::Str(text) => {
            out.extend_from_slice(b"<s>");
            let start = out.len();
            write_escaped(out, text, None);
            encode_entities(out, start);
            out.extend_from_slice(b"</s>");
        }
        Literal::AbsTime(time) => {
            out.extend_from_slice(b"<at>");
            write_abs(out, *time);
            out.extend_from_slice(b"</at>");
        }
    }
}
