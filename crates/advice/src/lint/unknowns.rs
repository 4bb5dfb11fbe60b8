//! Unknown parts of an expression: macros of a submit file, and facts that only a machine knows.
//!
//! They are in the text as words. A word by itself is an attribute of which nothing is known; inside a string its first
//! byte is [`OPEN`], which makes the whole string unknown.

use classmate::internal::analysis::evaluate::OPEN;
use classmate::internal::syntax::expr::{Node, NodeId};
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{Diagnostic, Name, ParseOptions, Semantics};
use classmate_config::internal::config::facts::UNKNOWN;
use classmate_config::{Config, Definition};

/// Returns true if a name is in place of a fact that only a machine knows.
pub(super) fn is_fact(name: Name) -> bool {
    name.folded().starts_with(UNKNOWN.as_bytes())
}

/// An expanded text in which the strings that hold a fact are marked; `None` if it contains none.
pub(super) fn marked(text: &[u8]) -> Option<Vec<u8>> {
    let places: Vec<usize> = memchr::memmem::find_iter(text, UNKNOWN.as_bytes()).collect();
    if places.is_empty() {
        return None;
    }
    let mut marked = text.to_vec();
    for at in within_strings(text, &places) {
        marked[at] = OPEN;
    }
    Some(marked)
}

/// The expanded value of a variable, without blanks around it; none if it cannot be expanded or a machine decides a part of it.
pub(super) fn known_value(config: &Config, one: &Definition<'_>) -> Option<Vec<u8>> {
    let text = config.expansion(one.name, one.raw).ok()?;
    marked(&text).is_none().then(|| text.trim_ascii().to_vec())
}

/// Those of some places, in order, that are inside a string of old syntax.
pub(super) fn within_strings(text: &[u8], places: &[usize]) -> Vec<usize> {
    let (mut inside, mut at, mut found) = (false, 0, Vec::new());
    let mut places = places.iter().copied().peekable();
    while at < text.len() {
        if places.peek() == Some(&at) {
            places.next();
            if inside {
                found.push(at);
            }
        }
        match text[at] {
            b'"' => inside = !inside,
            b'\\' if inside && text.get(at + 1) == Some(&b'"') => at += 1,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Leaves out what cannot be said where a part of the text is open: that it does not parse, and, where an open part is
/// a condition of its own (it may hold an `||`), how its neighbours go together.
pub(super) fn retain(text: &[u8], semantics: Semantics, is_open: &dyn Fn(Name) -> bool, found: &mut Vec<Diagnostic>) {
    const TEXT: [&str; 2] = ["syntax", "size-suffix"];
    const TOGETHER: [&str; 9] = [
        "always-true",
        "always-false",
        "always-undefined",
        "always-error",
        "never-true",
        "contradiction",
        "duplicate-clause",
        "implied-clause",
        "undefined-means-no",
    ];
    found.retain(|found| !TEXT.contains(&found.code));
    let options = ParseOptions { quoting: Quoting::Old, semantics, ..ParseOptions::default() };
    let Ok(expr) = parse_expr(text, &options) else { return };
    let tree = expr.tree();
    let open = |id: NodeId| matches!(*tree.node(id), Node::Attr(name) if is_open(name));
    let spliced = (0..tree.nodes.len() as NodeId).any(|id| match *tree.node(id) {
        Node::Binary(BinaryOp::And | BinaryOp::Or, left, right) => open(left) || open(right),
        Node::Unary(UnaryOp::Not, operand) => open(operand),
        Node::Conditional { condition, yes, no } => open(condition) || open(yes) || open(no),
        _ => false,
    });
    if spliced || open(expr.root()) {
        found.retain(|found| !TOGETHER.contains(&found.code));
    }
}

/// A message in which facts are written as the macros that they come from.
pub(super) fn shown(message: &str) -> String {
    let message = message.replace(char::from(OPEN), &UNKNOWN[..1]);
    let mut parts = message.split(UNKNOWN);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        shown.push_str("$(");
        shown.push_str(&part[..name]);
        shown.push(')');
        shown.push_str(&part[name..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_inside_strings_are_marked() {
        let text = b"unknown_fact_A > 1 && \"x\\\"unknown_fact_B\" == unknown_fact_C";
        let marked = marked(text).unwrap();
        assert_eq!(marked.iter().position(|byte| *byte == OPEN), marked.iter().rposition(|byte| *byte == OPEN));
        assert_eq!(marked[26], OPEN);
        assert_eq!(shown(std::str::from_utf8(&marked).unwrap()), "$(A) > 1 && \"x\\\"$(B)\" == $(C)");
        assert_eq!(super::marked(b"Memory > 1"), None);
    }
}
