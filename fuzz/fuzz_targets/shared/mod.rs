//! Checks and inputs that several targets share.
#![allow(dead_code)]

use std::io::Read;

use classmate::internal::syntax::expr::{Expr, Node};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::UnaryOp;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;

/// Parses a text; the printed expression must parse again, and then print the same.
///
/// The first printing may lose what the language cannot write: `- 5` is printed ` -5`, which is a number.
pub fn round_trip(text: &[u8], options: &ParseOptions) {
    let expr = match parse_expr(text, options) {
        Ok(expr) => expr,
        Err(error) => {
            let range = error.span.range();
            assert!(range.start <= range.end && range.end <= text.len());
            let _ = error.to_string();
            return;
        }
    };
    for style in [Style::Old, Style::Pretty] {
        let _ = expr.to_text(style);
    }
    let first = expr.to_text(Style::New);
    if !reads_back(&expr) {
        return;
    }
    let second = parse_expr(&first, options).expect("printed text reads back");
    let printed = second.to_text(Style::New);
    let third = parse_expr(&printed, options).expect("printed text reads back again");
    assert_eq!(String::from_utf8_lossy(&third.to_text(Style::New)), String::from_utf8_lossy(&printed));
    assert!(second.same_as(&third));
}

/// Returns whether the canonical text of an expression can be parsed: selectors and function names are printed without
/// their quotes, and one after a number without the blank that it needs; reals near the largest are rounded up to
/// infinity; times beyond four digits of a year or 32 bits of seconds have no readable form; and a text at the limit of
/// nesting exceeds it when a negative number in it needs a sign of its own.
fn reads_back(expr: &Expr) -> bool {
    let tree = expr.tree();
    let plain = |name: classmate::internal::name::Name| {
        let text = name.as_bytes();
        let word = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let keyword = [&b"true"[..], b"false", b"undefined", b"error", b"is", b"isnt"];
        word && !keyword.contains(&name.folded())
    };
    let number = |at: usize| matches!(tree.nodes[at], Node::Literal(Literal::Int(_) | Literal::Real(_)));
    tree.nodes.iter().enumerate().all(|(at, node)| match node {
        // ` -0` reads back as the number 0, whose sign is gone; so does that of ` -0 ?: a`, whatever it belonged to.
        Node::Unary(UnaryOp::Minus, _) => {
            !matches!(tree.nodes[tree.first_of(at as u32) as usize], Node::Literal(Literal::Int(0)))
        }
        Node::Select(name) => plain(*name) && !number(at.saturating_sub(1)),
        Node::Literal(Literal::Real(value)) => !value.is_finite() || value.abs() < 1.79e308,
        Node::Call(call) => plain(tree.calls[*call as usize].name),
        Node::Literal(Literal::AbsTime(time)) => (-30_000_000_000..250_000_000_000).contains(&{ time.seconds }) && time.seconds != -1,
        Node::Literal(Literal::RelTime(seconds)) => seconds.abs() < 2_147_483_647.0,
        _ => true,
    })
}

/// An input that arrives in pieces.
pub struct Dripping<'a> {
    pub rest: &'a [u8],
    pub piece: usize,
}

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.piece.max(1).min(self.rest.len()).min(buffer.len());
        let (now, later) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.rest = later;
        Ok(length)
    }
}
