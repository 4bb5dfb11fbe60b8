//! Expressions as text whose meaning is plain: with all parentheses, or in a form that means the same in all versions.

use classmate::internal::syntax::expr::{Node, NodeId, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::print::{Style, write_name};
use classmate::internal::syntax::view::RefScope;
use classmate::{Expr, Name};

/// Precedence of prefix operators and of everything behind an operand; see `BinaryOp::precedence`.
const PREFIX: u8 = 11;
const POSTFIX: u8 = 12;
/// Precedence of conditionals.
const CHOICE: u8 = 0;

/// The part of an expression that is written.
struct Writing<'t> {
    tree: &'t Tree,
    whole: &'t Expr,
    /// `None` if every operation inside another one has parentheses.
    portable: Option<PortableForm>,
    /// The style of parts without operations.
    style: Style,
}

/// The form of an expression that means the same in all versions.
#[derive(Clone, Copy)]
struct PortableForm {
    /// An attribute of MY that is undefined.
    undefined: Option<Name>,
}

/// A size suffix makes a real. A comparison has the same value for an integer.
const FACTOR: &str = "1024.0";
const COMPARED_FACTOR: &str = "1024";
/// Integers up to which every real is one.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The expression with parentheses around every operation that is part of another one.
pub(super) fn parenthesized(expr: &Expr, style: Style) -> String {
    written(expr, None, style)
}

/// The expression in a form that has its present meaning in all versions: operands of `?:` in parentheses, products of a factor for size
/// suffixes, seconds for relative times, and functions of versions in their original spelling. An attribute of MY may be undefined.
pub(super) fn portable(expr: &Expr, undefined: Option<Name>, style: Style) -> String {
    written(expr, Some(PortableForm { undefined }), style)
}

/// Nodes of an expression beyond which it is written as it is: a part is written inside another one.
const MAX_NODES: usize = 1000;

fn written(expr: &Expr, portable: Option<PortableForm>, style: Style) -> String {
    if expr.nodes().len() > MAX_NODES {
        return shown(expr, style);
    }
    Writing { tree: expr.tree(), whole: expr, portable, style }.text(expr.root(), None)
}

/// The text of an expression in a style.
pub(super) fn shown(expr: &Expr, style: Style) -> String {
    String::from_utf8_lossy(&expr.to_text(style)).into_owned()
}

impl Writing<'_> {
    fn list(&self, ids: &[NodeId]) -> String {
        ids.iter().map(|id| self.text(*id, None)).collect::<Vec<_>>().join(", ")
    }

    /// Tests whether a part is the attribute that is undefined.
    fn is_undefined(&self, id: NodeId) -> bool {
        let undefined = self.portable.and_then(|form| form.undefined);
        let reference = undefined.and_then(|name| Some((name, self.tree.reference(self.tree.bare(id))?)));
        reference.is_some_and(|(name, found)| found.name == name && found.scope != RefScope::Target)
    }

    /// The product that a size suffix means, without one for the suffix B.
    fn product(&self, id: NodeId, factor: &str) -> Option<String> {
        let Node::Literal(Literal::Suffixed(number, suffix)) = self.tree.node(id) else { return None };
        let power = suffix.factor().log(1024.0).round() as usize;
        let number = format!("{:#}", Expr::literal((**number).clone()));
        let factors = std::iter::once(number.as_str()).chain(std::iter::repeat_n(factor, power));
        (power > 0).then(|| factors.collect::<Vec<_>>().join(" * "))
    }

    /// An operand; the product of a size suffix as an integer, if it is only compared.
    fn operand(&self, id: NodeId, op: BinaryOp) -> String {
        let is_loose = op.is_comparison() && !matches!(op, BinaryOp::Is | BinaryOp::Isnt);
        let is_exact = |literal: &Literal| {
            matches!(literal, Literal::Suffixed(..))
                && matches!(literal.product(), Literal::Real(product) if product.abs() < MAX_EXACT)
        };
        match self.tree.node(id) {
            Node::Literal(literal) if is_loose && self.portable.is_some() && is_exact(literal) => {
                self.product(id, COMPARED_FACTOR).unwrap_or_else(|| self.text(id, Some(op.precedence())))
            }
            _ => self.text(id, Some(op.precedence())),
        }
    }

    /// A part; `around` is the precedence of the operator that it is an operand of.
    fn text(&self, id: NodeId, around: Option<u8>) -> String {
        if self.is_undefined(id) {
            return "undefined".to_owned();
        }
        let enclosed = |own: u8, text: String, is_needed: bool| match around {
            Some(outer) if is_needed || self.portable.is_none() || outer == POSTFIX || own == POSTFIX => {
                format!("({text})")
            }
            _ => text,
        };
        match *self.tree.node(id) {
            Node::Literal(ref literal) => match literal {
                Literal::Suffixed(..) if self.portable.is_some() => {
                    let text =
                        self.product(id, FACTOR).unwrap_or_else(|| format!("{:#}", Expr::literal(literal.product())));
                    let is_product = text.contains(FACTOR);
                    let times = BinaryOp::Multiply.precedence();
                    if is_product { enclosed(times, text, around >= Some(times)) } else { text }
                }
                Literal::RelTime(seconds) if self.portable.is_some() => {
                    format!("{:#}", Expr::literal(Literal::Real(*seconds)))
                }
                Literal::OldRelTime(seconds) if self.portable.is_some() => format!("relTime({seconds})"),
                _ => shown(&self.whole.part(id), self.style),
            },
            Node::Attr(_) | Node::Absolute(_) => shown(&self.whole.part(id), self.style),
            Node::Select(name) => format!("{}.{name}", self.text(base_of(id), None)),
            Node::Subscript { base, index } => format!("{}[{}]", self.text(base, None), self.text(index, None)),
            Node::Paren(inner) => format!("({})", self.text(inner, None)),
            Node::Unary(op, operand) => {
                let text = format!("{}{}", op.as_str(), self.text(operand, Some(PREFIX)));
                enclosed(PREFIX, text, around == Some(PREFIX))
            }
            Node::Binary(BinaryOp::Default, left, right) if self.is_undefined(left) => self.text(right, around),
            Node::Binary(op, left, right) => {
                let own = op.precedence();
                let is_chain = |part: NodeId| {
                    op.is_logic() && matches!(self.tree.node(part), Node::Binary(other, ..) if *other == op)
                };
                let left = if is_chain(left) { self.text(left, None) } else { self.operand(left, op) };
                let right = self.operand(right, op);
                enclosed(own, format!("{left} {} {right}", op.symbol()), false)
            }
            Node::Conditional { condition, yes, no } => {
                let parts = [condition, yes, no].map(|part| self.text(part, Some(CHOICE)));
                enclosed(CHOICE, format!("{} ? {} : {}", parts[0], parts[1], parts[2]), false)
            }
            Node::Call(call) => {
                let site = self.tree.calls[call as usize];
                let name = classmate::internal::builtin::find(site.name)
                    .filter(|function| self.portable.is_some() && function.name.starts_with("version"));
                let name = name.map_or_else(|| site.name.to_string(), |function| function.name.to_owned());
                format!("{name}({})", self.list(self.tree.run(site.arguments)))
            }
            Node::List(run) => format!("{{{}}}", self.list(self.tree.run(run))),
            Node::Ad(run) => {
                let attribute = |(name, value): &(Name, NodeId)| {
                    let mut text = Vec::new();
                    write_name(&mut text, *name, self.style);
                    format!("{} = {}", String::from_utf8_lossy(&text), self.text(*value, None))
                };
                format!("[{}]", self.tree.ad(run).iter().map(attribute).collect::<Vec<_>>().join("; "))
            }
        }
    }
}
