//! Questions whether something is in a list: what would be, and what the list would be.

use crate::explain::clauses::is_long;
use crate::explain::repair::edit::{constant, number};
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::{Expr, List, Value};

/// The elements of a text with a list.
fn split<'t>(text: &'t [u8], separators: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    let elements = text.split(|byte| separators.contains(byte)).map(<[u8]>::trim_ascii);
    elements.filter(|element| !element.is_empty())
}

/// A question whether something is in a list.
pub(crate) struct Membership {
    /// The item.
    pub(crate) item: NodeId,
    /// The list.
    pub(crate) list: NodeId,
    /// The separators of a string list; none for a list value.
    separators: Option<Vec<u8>>,
    /// Tests if upper and lower case are the same.
    ignores_case: bool,
}

impl Membership {
    /// The question that a call is, compared with true or not; none if it is another.
    pub(crate) fn of(tree: &Tree, id: NodeId) -> Option<Self> {
        let is_true = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Bool(true)));
        let id = match *tree.node(tree.bare(id)) {
            Node::Binary(BinaryOp::Is | BinaryOp::Equal, left, right) if is_true(right) => left,
            Node::Binary(BinaryOp::Is | BinaryOp::Equal, left, right) if is_true(left) => right,
            Node::Binary(BinaryOp::Default, left, _) => left,
            _ => id,
        };
        let Node::Call(call) = *tree.node(tree.bare(id)) else { return None };
        let site = &tree.calls[call as usize];
        let (item, list, last) = match *tree.run(site.arguments) {
            [item, list] => (item, list, None),
            [item, list, last] => (item, list, Some(last)),
            _ => return None,
        };
        let separators = match (site.name.folded(), last.map(|last| tree.node(tree.bare(last)))) {
            (b"member" | b"identicalmember", None) => None,
            (b"stringlistmember" | b"stringlistimember", None) => Some(b" ,".to_vec()),
            (b"stringlistmember" | b"stringlistimember", Some(Node::Literal(Literal::Str(text)))) => {
                Some(text.to_vec())
            }
            _ => return None,
        };
        let ignores_case = site.name.folded() != b"stringlistmember";
        Some(Membership { item, list, separators, ignores_case })
    }

    /// Tests if two strings are the same element.
    pub(crate) fn is_same(&self, one: &[u8], other: &[u8]) -> bool {
        one == other || self.ignores_case && one.eq_ignore_ascii_case(other)
    }

    /// Tests if it is a string with elements, of which upper and lower case differ.
    pub(crate) fn is_case_sensitive(&self) -> bool {
        self.is_of_strings() && !self.ignores_case
    }

    /// The elements of a constant list.
    pub(crate) fn strings<'l>(&'l self, list: &'l Literal) -> Vec<&'l [u8]> {
        let (Some(separators), Literal::Str(text)) = (&self.separators, list) else { return Vec::new() };
        split(text, separators).take(MAX_ELEMENTS).collect()
    }

    /// Tests if the list is a string.
    pub(crate) fn is_of_strings(&self) -> bool {
        self.separators.is_some()
    }

    /// The elements of a value of the list, as far as they are constants.
    fn elements(&self, list: &Value) -> Vec<Literal> {
        match (&self.separators, list) {
            (Some(separators), Value::Str(text)) => {
                let elements = split(text, separators).take(MAX_ELEMENTS);
                elements.map(|part| Literal::Str(part.to_vec().into())).collect()
            }
            (None, Value::List(list)) => match list.values() {
                Some(values) => values.iter().take(MAX_ELEMENTS).filter_map(|value| constant(value, 0)).collect(),
                None => list.exprs().iter().take(MAX_ELEMENTS).filter_map(|expr| expr.as_literal().cloned()).collect(),
            },
            _ => Vec::new(),
        }
    }

    /// The element of a value of the list that is nearest to what is there; without anything there, the first.
    pub(crate) fn nearest(&self, list: &Value, there: Option<&Literal>) -> Option<Literal> {
        /// Further than any two names, or numbers.
        const UNRELATED_DISTANCE: f64 = f64::MAX;
        let distance = |element: &Literal| match (there, element) {
            (Some(Literal::Str(old)), Literal::Str(new)) => {
                near::distance(old, new, near::allowance(old)).map_or(UNRELATED_DISTANCE, |edits| edits as f64)
            }
            (Some(old), new) => match (number(old), number(new)) {
                (Some(old), Some(new)) => (old - new).abs(),
                _ => UNRELATED_DISTANCE,
            },
            (None, _) => UNRELATED_DISTANCE,
        };
        let all = self.elements(list).into_iter().map(|element| (distance(&element), element));
        all.reduce(|best, other| if other.0 < best.0 { other } else { best }).map(|(_, element)| element)
    }

    /// A text with a list in which an item is in place of an element that looks like it, and that is no known one; none if
    /// there is none.
    pub(crate) fn corrected(
        &self,
        list: Option<&Expr>,
        item: &Value,
        is_known: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Expr> {
        let (separators, Literal::Str(old), Value::Str(item)) = (self.separators.as_ref()?, list?.as_literal()?, item)
        else {
            return None;
        };
        if list.is_some_and(is_long) {
            return None;
        }
        let (separator, item) = (*separators.last()?, item.trim_ascii());
        let mut elements: Vec<&[u8]> = split(old, separators).collect();
        let distance = |element: &[u8]| near::distance(element, item, near::allowance(element));
        let near = elements.iter().take(MAX_ELEMENTS).enumerate();
        let (_, at) = near.filter_map(|(at, element)| Some((distance(element)?, at))).min()?;
        let is_one = !item.is_empty() && !item.iter().any(|byte| separators.contains(byte));
        if !is_one || is_known(elements[at]) {
            return None;
        }
        elements[at] = item;
        Some(Expr::literal(Literal::Str(elements.join(&[separator][..]).into())))
    }

    /// A list with one more element, a text if it is one or none is there and a text is asked; none if it is something else,
    /// or has elements that are no constants.
    pub(crate) fn longer(&self, list: Option<&Expr>, item: &Value) -> Option<Expr> {
        if list.is_some_and(is_long) {
            return None;
        }
        let Some(separators) = &self.separators else {
            let mut elements = match list {
                None => Vec::new(),
                Some(list) => match list.node() {
                    Node::List(run) => {
                        let element = |id: &NodeId| list.part(*id).as_literal().map(Value::from);
                        list.tree().run(*run).iter().map(element).collect::<Option<Vec<Value>>>()?
                    }
                    _ => return None,
                },
            };
            elements.push(constant(item, 0).map(|literal| Value::from(&literal))?);
            return Some(Value::List(List::of(elements)).to_expr());
        };
        let separator = *separators.last()?;
        let Value::Str(item) = item else { return None };
        let item = item.trim_ascii();
        let old: &[u8] = match list.map(Expr::as_literal) {
            Some(Some(Literal::Str(text))) => text.trim_ascii(),
            None => b"",
            Some(_) => return None,
        };
        let text = if old.is_empty() { item.to_vec() } else { [old, &[separator], item].concat() };
        // An element with a separator in it is two.
        let is_one = !item.is_empty() && !item.iter().any(|byte| separators.contains(byte));
        is_one.then(|| Expr::literal(Literal::Str(text.into())))
    }
}

/// Maximum number of elements of a list that are compared.
const MAX_ELEMENTS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    #[test]
    fn the_nearest_element_is_wanted_and_without_any_the_first() {
        let expr = parse_expr(b"stringListMember(X, L, \"; \")", &ParseOptions::default()).unwrap();
        let question = Membership::of(expr.tree(), expr.root()).unwrap();
        let text = |text: &str| Literal::Str(text.into());
        let shown = |literal: Option<Literal>| match literal {
            Some(Literal::Str(text)) => Some(String::from_utf8_lossy(&text).into_owned()),
            _ => None,
        };
        let nearest = |list: &str, there: Option<&Literal>| shown(question.nearest(&Value::Str(list.into()), there));
        let list = "atlas; cms ;lhcb";
        assert_eq!(nearest(list, None).as_deref(), Some("atlas"));
        assert_eq!(nearest(list, Some(&text("lhbc"))).as_deref(), Some("lhcb"));
        assert_eq!(nearest(" ; ", None), None);
        let parsed = |text: &str| parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let longer = |question: &Membership, list: Option<&str>, item: Value| {
            question.longer(list.map(parsed).as_ref(), &item).map(|expr| format!("{expr:#}"))
        };
        let belle = || Value::Str("belle".into());
        assert_eq!(longer(&question, Some("\"a;b\""), belle()).as_deref(), Some("\"a;b belle\""));
        assert_eq!(longer(&question, None, belle()).as_deref(), Some("\"belle\""));
        assert_eq!(longer(&question, Some("1"), belle()), None);
        assert_eq!(longer(&question, Some("\"a\""), Value::Str("x y".into())), None);
        let corrected = |list: &str, item: &str, known: &[u8]| {
            let found = question.corrected(Some(&parsed(list)), &Value::Str(item.into()), &|element| element == known);
            found.map(|expr| format!("{expr:#}"))
        };
        assert_eq!(corrected("\"atlas;lhbc\"", "lhcb", b"").as_deref(), Some("\"atlas lhcb\""));
        assert_eq!(corrected("\"atlas;lhbc\"", "lhcb", b"lhbc"), None);
        assert_eq!(corrected("\"atlas\"", "belle", b""), None);
        let expr = parsed("member(X, L) =?= true");
        let question = Membership::of(expr.tree(), expr.root()).unwrap();
        assert_eq!(longer(&question, Some("{ \"a\", 1 }"), belle()).as_deref(), Some("{ \"a\",1,\"belle\" }"));
        assert_eq!(longer(&question, None, Value::Int(3)).as_deref(), Some("{ 3 }"));
        assert_eq!(longer(&question, Some("{ a }"), Value::Int(3)), None);
        assert_eq!(longer(&question, Some("\"a\""), Value::Int(3)), None);
    }
}
