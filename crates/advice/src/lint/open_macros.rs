//! Expressions whose macros are expanded later.
//!
//! In: the text of an expression with `$(name)`. Out: the findings about the text with words in their places.

use super::expression::{LintContext, MAX_TEXT, lint as lint_expression};
use std::ops::Range;

use super::unknowns;
use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::parse::parse_expr;
use classmate::{Diagnostic, Name, ParseOptions, Span};
use classmate_config::internal::config::parenthesized;

/// Checks an expression whose macros are expanded later, also with a rule of the caller; it is given the text with
/// words in place of macros.
pub(super) fn lint_with_macros(
    context: &LintContext<'_>,
    rule: impl FnOnce(&[u8]) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if let Some(misused) = misused_macro(context.text) {
        return vec![misused];
    }
    // Whatever the macros are, a string that is not closed is no expression.
    if context.text.contains(&b'$') && unclosed(context.text) {
        let span = Span::new(0, context.text.trim_ascii_end().len());
        let found = Diagnostic::error("the string has no closing double quote", span).help("add the `\"`");
        return vec![found.code("syntax")];
    }
    let Some(open) = without_macros(context.text) else { return Vec::new() };
    let is_open = |name: Name| open.names.iter().any(|known| known.0 == name);
    let defined = |name: Name| is_open(name) || (context.defined)(name);
    let mut found = lint_expression(&LintContext { text: &open.text, defined: &defined, ..*context });
    // One place has one finding of a rule.
    let more = if open.text.len() > MAX_TEXT { Vec::new() } else { rule(&open.text) };
    let says_more = |one: &Diagnostic, other: &Diagnostic| other.code == one.code || one.code == "single-quotes";
    found.retain(|one| !more.iter().any(|other| says_more(one, other) && other.span == one.span));
    found.extend(more);
    if !open.names.is_empty() {
        unknowns::retain(&open.text, context.versions.read, &is_open, &mut found);
        for found in &mut found {
            open.restore(found);
        }
    }
    found
}

/// Tests whether a text has an odd number of double quotes, outside of the arguments of macros.
pub(super) fn unclosed(text: &[u8]) -> bool {
    let (mut quotes, mut depth, mut before) = (0_usize, 0_usize, b' ');
    for byte in text.iter().copied() {
        match byte {
            b'(' if depth > 0 || before == b'$' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 && before != b'\\' => quotes += 1,
            _ => {}
        }
        before = byte;
    }
    quotes % 2 == 1
}

/// A text whose macros are words of the same length, so that places stay.
pub(crate) struct WithoutMacros {
    pub(crate) text: Vec<u8>,
    /// The words, and the macros they replace.
    names: Vec<(Name, String)>,
}

impl WithoutMacros {
    /// Writes macros for their words in what was found.
    pub(super) fn restore(&self, finding: &mut Diagnostic) {
        finding.message = self.restored(&finding.message);
        finding.help = finding.help.as_deref().map(|help| self.restored(help).into());
        if finding.fix.as_ref().is_some_and(|fix| self.restored(&fix.text) != fix.text) {
            finding.fix = None;
        }
    }

    /// A text with the macros instead of their words.
    pub(crate) fn restored(&self, text: &str) -> String {
        let text = text.replace(char::from(OPEN), "_");
        self.names.iter().fold(text, |text, (name, written)| text.replace(&*name.display(), written))
    }
}

/// A text with a word in place of every `$(name)`, `$(name:default)`, `$$(name)` and `$FUNCTION(arguments)`: what they
/// will be is known when jobs are made. `None` if a `$` begins none of these.
pub(crate) fn without_macros(text: &[u8]) -> Option<WithoutMacros> {
    let mut open = WithoutMacros { text: text.to_vec(), names: Vec::new() };
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(dollar) = memchr::memchr(b'$', &text[at..]) {
        let start = at + dollar;
        let letters = text[start..].iter().take_while(|byte| **byte == b'$').count();
        let name = text[start + letters..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let bracket = start + letters + name.count();
        // Any other `$` is text, as at the end of a pattern.
        if text.get(bracket) != Some(&b'(') {
            at = start + letters;
            continue;
        }
        if letters > 2 {
            return None;
        }
        let end = bracket + parenthesized(&text[bracket..])?;
        for byte in &mut open.text[start..end] {
            if !byte.is_ascii_alphanumeric() {
                *byte = b'_';
            }
        }
        // Different macros may look alike then: nothing is said.
        let name = Name::new(&open.text[start..end]);
        let written = String::from_utf8_lossy(&text[start..end]).into_owned();
        if open.names.iter().any(|(known, other)| *known == name && *other != written) {
            return None;
        }
        open.names.push((name, written));
        places.push(start);
        at = end;
    }
    for place in unknowns::within_strings(text, &places) {
        open.text[place] = OPEN;
    }
    Some(open)
}

/// An operator outside of a part of a text that applies to less than this part, and the operator within it: the part is the text of a
/// macro without parentheses.
pub(super) fn torn(text: &[u8], part: Range<usize>, options: &ParseOptions) -> Option<(&'static str, &'static str)> {
    /// Parts of an expression that are looked at.
    const MOST: usize = 4096;
    let inner = text.get(part.clone())?;
    let start = part.start + inner.len() - inner.trim_ascii_start().len();
    let end = start + inner.trim_ascii().len();
    let own = parse_expr(inner, options).ok()?;
    let (within, least) = match own.node() {
        Node::Binary(op, ..) => (op.symbol(), op.precedence()),
        Node::Conditional { .. } => ("?", 0),
        _ => return None,
    };
    let expr = parse_expr(text, options).ok()?;
    let tree = expr.tree();
    if is_decided(tree, expr.root()) {
        return None;
    }
    let place = |id: NodeId| tree.span(id).map_or(0..0, Span::range);
    let binds = |id: NodeId| match *tree.node(id) {
        // An operator within the macro is its own.
        Node::Binary(_, left, right) if place(left).end > start && place(right).start < end => None,
        Node::Binary(op, ..) => {
            // `a / b * c` is not `a / (b * c)`.
            let is_before =
                place(id).start < start && matches!(op, BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::Subtract);
            (op.precedence() > least || is_before && op.precedence() == least).then(|| op.symbol())
        }
        Node::Unary(UnaryOp::Not, _) => Some("!"),
        // The sign of a product may be that of its first factor.
        Node::Unary(UnaryOp::Minus, _) => (least <= BinaryOp::Add.precedence()).then_some("-"),
        _ => None,
    };
    let crosses = |id: NodeId| {
        let span = place(id);
        span.start < start && start < span.end && span.end < end
            || start < span.start && span.start < end && end < span.end
    };
    let mut nodes = (tree.first_of(expr.root())..=expr.root()).take(MOST);
    Some((nodes.find_map(|id| binds(id).filter(|_| crosses(id)))?, within))
}

/// Tests for clauses joined by `&&` of which one is `false`, and by `||` of which one is `true`: the others do not count.
fn is_decided(tree: &Tree, id: NodeId) -> bool {
    match *tree.node(tree.bare(id)) {
        Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
            let decides = |one: &Literal| matches!(one, Literal::Bool(one) if *one == (op == BinaryOp::Or));
            let is_constant = |side: NodeId| matches!(tree.node(tree.bare(side)), Node::Literal(one) if decides(one));
            tree.flattened(op, tree.bare(id)).into_iter().any(is_constant)
        }
        _ => false,
    }
}

/// The alternative that makes a condition true whatever a part of it says, which is one of the clauses beside it:
/// `PART && a || b`.
pub(super) fn bypass(text: &[u8], part: Range<usize>, options: &ParseOptions) -> Option<Span> {
    let inner = text.get(part.clone())?;
    // Places of operands leave out parentheses.
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')');
    let start = part.start + inner.iter().take_while(|byte| is_around(byte)).count();
    let end = part.end - inner.iter().rev().take_while(|byte| is_around(byte)).count();
    let own = parse_expr(inner, options).ok()?;
    let expr = parse_expr(text, options).ok()?;
    let tree = expr.tree();
    let Node::Binary(BinaryOp::Or, ..) = *tree.node(expr.root()) else { return None };
    let place = |id: NodeId| tree.span(id).map_or(0..0, Span::range);
    let holds = |id: &NodeId| place(*id).start <= start && end <= place(*id).end;
    // Parentheses say that it is meant.
    let operands = {
        let (mut found, mut open) = (Vec::new(), vec![expr.root()]);
        while let Some(id) = open.pop() {
            match *tree.node(id) {
                Node::Binary(BinaryOp::Or, left, right) => open.extend([right, left]),
                _ => found.push(id),
            }
        }
        found
    };
    let beside = operands.iter().find(|id| holds(id))?;
    let is_larger = place(*beside).start < part.start || place(*beside).end > part.end;
    let is_joined = matches!(*tree.node(*beside), Node::Binary(BinaryOp::And, ..)) && is_larger;
    let is_constant = matches!(own.node(), Node::Literal(_)) || is_decided(tree, expr.root());
    // An alternative in front of the part is an exception that is meant.
    let other = operands.iter().rev().find(|id| place(**id).start >= place(*beside).end)?;
    tree.span(*other).filter(|_| is_joined && !is_constant)
}

/// The finding about a macro, `$(name)`, whose text an operator outside of it tears apart.
pub(super) fn torn_macro(reference: &str, (outside, within): (&str, &str), span: Span) -> Diagnostic {
    let message = format!("`{outside}` applies to a part of `{reference}` only: its `{within}` is not in parentheses");
    Diagnostic::warning(message, span).help(format!("write `({reference})`")).code("precedence")
}

/// `$(JobStatus != 3)`: a macro that is none.
pub(super) fn misused_macro(text: &[u8]) -> Option<Diagnostic> {
    for at in memchr::memmem::find_iter(text, b"$(") {
        let name = &text[at + 2..];
        let end = name.iter().position(|byte| matches!(byte, b')' | b':' | b'('))?;
        let plain = name[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
        if !plain && name[end] == b')' {
            let span = Span::new(at, at + end + 3);
            let shown = String::from_utf8_lossy(&text[span.range()]).into_owned();
            let finding = Diagnostic::error(format!("`{shown}` is not a macro reference and is not expanded"), span);
            let help = "`$(NAME)` can only contain the name of a macro; write a condition in plain parentheses";
            return Some(finding.help(help).code("leftover-macro"));
        }
    }
    None
}
