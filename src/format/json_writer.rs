//! Ads as JSON: the writer (`docs/reference/classad-language.md` 8.7).

use crate::ad::{Attribute, ClassAd};
use crate::format::MAX_INDENT;
use crate::format::json_string::write_string;
use crate::format::order::Order;
use crate::name::Name;
use crate::syntax::expr::{Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::number::write_real_short;
use crate::syntax::print::{Style, write_expr, write_integer, write_line, write_literal};
use crate::value::Value;

/// Writes ads as JSON, in listing order, their own attributes only (`docs/reference/classad-language.md` 8.7).
///
/// Relative-time constants are written as numbers, as the reference does, and are reals when they are read back.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate::internal::format::json::JsonWriter;
/// let ad = ClassAd::parse(b"[ZZ=x is 1; b={2.5,undefined}]")?;
/// let mut out = Vec::new();
/// JsonWriter::new().write_line(&mut out, &ad);
/// assert_eq!(out, br#"{"b": [2.5,null],"ZZ": "\/Expr(x is 1)\/"}"#);
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonWriter {
    order: Order,
    text: Vec<u8>,
}

impl Default for JsonWriter {
    fn default() -> Self {
        JsonWriter::new()
    }
}

/// How values are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Everything on one line.
    Line,
    /// One attribute or element a line, indented by two spaces a level.
    Lines,
}

impl JsonWriter {
    /// A writer; one writer for many ads of the same kind sorts their names only once.
    pub fn new() -> Self {
        JsonWriter { order: Order::listing(), text: Vec::new() }
    }

    /// Writes an ad over several lines, without a last line end.
    pub fn write(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_as(out, ad, Layout::Lines);
    }

    /// Writes an ad on one line, without a line end.
    pub fn write_line(&mut self, out: &mut Vec<u8>, ad: &ClassAd) {
        self.write_as(out, ad, Layout::Line);
    }

    /// Writes names and values as an object on one line, in the order given, without a line end.
    ///
    /// ```
    /// use classmate::internal::format::json::JsonWriter;
    /// use classmate::internal::value::Value;
    /// let mut out = Vec::new();
    /// JsonWriter::new().write_values(&mut out, [("b".into(), Value::from(2)), ("A".into(), Value::Error)]);
    /// assert_eq!(out, br#"{"b": 2,"A": "\/Expr(error)\/"}"#);
    /// ```
    pub fn write_values(&mut self, out: &mut Vec<u8>, values: impl IntoIterator<Item = (Name, Value)>) {
        out.push(b'{');
        for (at, (name, value)) in values.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(out, name.as_bytes());
            out.extend_from_slice(b": ");
            match Attribute::from(&value.to_expr()) {
                Attribute::Literal(literal) => write_constant(out, &literal, &mut self.text),
                Attribute::Tree(tree) => write_tree(out, &tree, Layout::Line, &mut self.text),
            }
        }
        out.push(b'}');
    }

    fn write_as(&mut self, out: &mut Vec<u8>, ad: &ClassAd, layout: Layout) {
        out.push(b'{');
        for (at, (name, value)) in self.order.of(ad).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            if layout == Layout::Lines {
                write_line(out, 2);
            }
            write_string(out, name.as_bytes());
            out.extend_from_slice(b": ");
            match value {
                Attribute::Literal(literal) => write_constant(out, literal, &mut self.text),
                Attribute::Tree(tree) => write_tree(out, tree, layout, &mut self.text),
            }
        }
        if layout == Layout::Lines {
            out.push(b'\n');
        }
        out.push(b'}');
    }
}

enum Step {
    Node(NodeId),
    Name(Name),
    Text(&'static str),
    Line,
    In,
    Out,
}

/// Writes the value of an attribute of an ad. What is still to be written waits on a stack.
fn write_tree(out: &mut Vec<u8>, tree: &Tree, layout: Layout, text: &mut Vec<u8>) {
    let mut steps = vec![Step::Node(tree.root())];
    let mut level = 1;
    while let Some(step) = steps.pop() {
        let id = match step {
            Step::Node(id) => id,
            Step::Name(name) => {
                write_string(out, name.as_bytes());
                continue;
            }
            Step::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                continue;
            }
            Step::Line => {
                if layout == Layout::Lines {
                    write_line(out, (2 * level).min(MAX_INDENT));
                }
                continue;
            }
            Step::In => {
                level += 1;
                continue;
            }
            Step::Out => {
                level -= 1;
                continue;
            }
        };
        match tree.node(id) {
            Node::Literal(literal) => write_constant(out, literal, text),
            Node::List(run) => {
                steps.extend([Step::Text("]"), Step::Line, Step::Out]);
                for (at, element) in tree.run(*run).iter().enumerate().rev() {
                    steps.extend([Step::Node(*element), Step::Line]);
                    if at > 0 {
                        steps.push(Step::Text(","));
                    }
                }
                steps.extend([Step::In, Step::Text("[")]);
            }
            Node::Ad(run) => {
                steps.extend([Step::Text("}"), Step::Line, Step::Out]);
                for (at, (name, value)) in tree.ad(*run).iter().enumerate().rev() {
                    steps.extend([Step::Node(*value), Step::Text(": "), Step::Name(*name), Step::Line]);
                    if at > 0 {
                        steps.push(Step::Text(","));
                    }
                }
                steps.extend([Step::In, Step::Text("{")]);
            }
            _ => write_quoted_expr(out, text, |text| write_expr(text, tree, id, Style::New)),
        }
    }
}

fn write_constant(out: &mut Vec<u8>, literal: &Literal, text: &mut Vec<u8>) {
    match literal {
        Literal::Undefined => out.extend_from_slice(b"null"),
        Literal::Bool(true) => out.extend_from_slice(b"true"),
        Literal::Bool(false) => out.extend_from_slice(b"false"),
        Literal::Int(value) => write_integer(out, *value),
        Literal::Real(value) | Literal::RelTime(value) if value.is_finite() => write_real_short(out, *value),
        Literal::RelTime(value) => {
            write_quoted_expr(out, text, |text| write_literal(text, &Literal::Real(*value), Style::New));
        }
        Literal::Str(string) => write_string(out, string),
        Literal::Error | Literal::Real(_) | Literal::AbsTime(_) => {
            write_quoted_expr(out, text, |text| write_literal(text, literal, Style::New));
        }
    }
}

/// Writes `"\/Expr(…)\/"`.
fn write_quoted_expr(out: &mut Vec<u8>, text: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    text.clear();
    write(text);
    out.extend_from_slice(br#""\/Expr("#);
    crate::format::json_string::write_escaped(out, text);
    out.extend_from_slice(br#")\/""#);
}
