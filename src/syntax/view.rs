//! Expressions as readers of them see them: one view of a node, and the attributes that a part refers to.
//!
//! In: a node of a [`Tree`]. Out: its meaning with spelling resolved: `MY.x` is a reference, `ifThenElse(c, a, b)` is
//! the same choice as `c ? a : b`, and `isUndefined(x)` is the same test as `x is undefined`. Nothing here evaluates.

use crate::name::{Name, known};
use crate::syntax::expr::{Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};

/// The ad in which a reference is looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RefScope {
    /// `x`: the ad of the expression, then the opposite one.
    Either,
    /// `MY.x`: the ad of the expression.
    My,
    /// `TARGET.x`: the opposite ad.
    Target,
}

/// A reference to an attribute of one of two matched ads: `x`, `MY.x` or `TARGET.x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Reference {
    /// The ad in which it is looked up.
    pub scope: RefScope,
    /// The attribute.
    pub name: Name,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.scope {
            RefScope::Either => write!(f, "{}", self.name),
            RefScope::My => write!(f, "MY.{}", self.name),
            RefScope::Target => write!(f, "TARGET.{}", self.name),
        }
    }
}

/// One node with its meaning resolved; operands are nodes of the same tree.
#[derive(Clone, Copy, Debug)]
pub enum View<'t> {
    /// A constant.
    Literal(&'t Literal),
    /// `x`, `MY.x` or `TARGET.x`.
    Reference(Reference),
    /// A name that denotes an ad or a part of a match, such as `MY` or `parent`.
    AdName(Name),
    /// `.x`
    Absolute(Name),
    /// `base.name`, unless it is a [`View::Reference`].
    Select {
        /// The ad.
        base: NodeId,
        /// The attribute.
        name: Name,
    },
    /// `base[index]`
    Subscript {
        /// The list or ad.
        base: NodeId,
        /// The index or attribute name.
        index: NodeId,
    },
    /// `(inner)`
    Paren(NodeId),
    /// `!operand`
    Not(NodeId),
    /// Another operator with one operand.
    Unary(UnaryOp, NodeId),
    /// `left && right` or `left || right`; see [`Tree::operands`] and [`Tree::flattened`] for chains.
    Logic {
        /// [`BinaryOp::And`] or [`BinaryOp::Or`].
        op: BinaryOp,
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// `==`, `!=`, `is`, `isnt`, `<`, `<=`, `>` or `>=`.
    Compare {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// Another operator with two operands: arithmetic, bits, or `?:`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: NodeId,
        /// The right operand.
        right: NodeId,
    },
    /// `condition ? yes : no` or `ifThenElse(condition, yes, no)`.
    Choice {
        /// The condition.
        condition: NodeId,
        /// The value if the condition is true.
        yes: NodeId,
        /// The value if the condition is false.
        no: NodeId,
    },
    /// Another call.
    Call {
        /// The function, as spelled.
        name: Name,
        /// The arguments.
        arguments: &'t [NodeId],
    },
    /// A list.
    List(&'t [NodeId]),
    /// An ad, with its attributes in listing order.
    Ad(&'t [(Name, NodeId)]),
}

/// A test for a missing value: `x is undefined`, `x =!= undefined` or `isUndefined(x)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefinedTest {
    /// The tested part.
    pub of: NodeId,
    /// The test is true if the part is undefined.
    pub negated: bool,
}

impl Tree {
    /// The view of a node. Parentheses are a view of their own: see [`Tree::bare`].
    ///
    /// ```
    /// use classmate::parse_expr;
    /// use classmate::internal::syntax::view::{RefScope, View};
    /// let expr = parse_expr(b"TARGET.Memory >= 1024")?;
    /// let View::Compare { left, right, .. } = expr.tree().view(expr.root()) else { unreachable!() };
    /// let View::Reference(memory) = expr.tree().view(left) else { unreachable!() };
    /// assert_eq!(memory.scope, RefScope::Target);
    /// assert!(matches!(expr.tree().view(right), View::Literal(_)));
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn view(&self, id: NodeId) -> View<'_> {
        match *self.node(id) {
            Node::Literal(ref literal) => View::Literal(literal),
            Node::Attr(name) if is_ad_name(name) => View::AdName(name),
            Node::Attr(name) => View::Reference(Reference { scope: RefScope::Either, name }),
            Node::Absolute(name) => View::Absolute(name),
            Node::Select(name) => self.reference(id).map_or(View::Select { base: base_of(id), name }, View::Reference),
            Node::Subscript { base, index } => View::Subscript { base, index },
            Node::Paren(inner) => View::Paren(inner),
            Node::Unary(UnaryOp::Not, operand) => View::Not(operand),
            Node::Unary(op, operand) => View::Unary(op, operand),
            Node::Binary(op, left, right) if op.is_logic() => View::Logic { op, left, right },
            Node::Binary(op, left, right) if op.is_comparison() => View::Compare { op, left, right },
            Node::Binary(op, left, right) => View::Binary { op, left, right },
            Node::Conditional { condition, yes, no } => View::Choice { condition, yes, no },
            Node::Call(call) => {
                let site = self.calls[call as usize];
                match *self.run(site.arguments) {
                    [condition, yes, no] if site.name.folded() == b"ifthenelse" => View::Choice { condition, yes, no },
                    ref arguments => View::Call { name: site.name, arguments },
                }
            }
            Node::List(run) => View::List(self.run(run)),
            Node::Ad(run) => View::Ad(self.ad(run)),
        }
    }

    /// The reference that a node is, if it is one.
    pub fn reference(&self, id: NodeId) -> Option<Reference> {
        let (scope, name) = match *self.node(id) {
            Node::Attr(name) if !is_ad_name(name) => (RefScope::Either, name),
            Node::Select(name) => match self.node(base_of(id)) {
                Node::Attr(ad) if ad.key() == known::MY => (RefScope::My, name),
                Node::Attr(ad) if ad.key() == known::TARGET => (RefScope::Target, name),
                _ => return None,
            },
            _ => return None,
        };
        Some(Reference { scope, name })
    }

    /// The references in a part, in the order of the text, each as often as it is written.
    ///
    /// ```
    /// use classmate::parse_expr;
    /// let expr = parse_expr(b"MY.a > b && TARGET.c")?;
    /// let found: Vec<String> = expr.tree().references(expr.root()).map(|found| found.to_string()).collect();
    /// assert_eq!(found, ["MY.a", "b", "TARGET.c"]);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn references(&self, id: NodeId) -> impl Iterator<Item = Reference> {
        (self.first_of(id)..=id).filter_map(|part| self.reference(part))
    }

    /// The references in a part as in [`Tree::references`], without those inside ads that are written in it, which
    /// may mean attributes of these ads.
    pub fn outer_references(&self, id: NodeId) -> Vec<Reference> {
        let (mut found, mut waiting) = (Vec::new(), vec![id]);
        while let Some(part) = waiting.pop() {
            match self.view(part) {
                View::Reference(reference) => found.push(reference),
                View::Ad(_) => {}
                _ => waiting.extend(self.parts(part)),
            }
        }
        found.reverse();
        found
    }

    /// The attribute names in a part, in whatever ad they are looked up, in the order of the text.
    pub fn names(&self, id: NodeId) -> impl Iterator<Item = Name> {
        (self.first_of(id)..=id).filter_map(|part| match *self.node(part) {
            Node::Attr(name) | Node::Absolute(name) | Node::Select(name) => Some(name),
            _ => None,
        })
    }

    /// Tests if a part is made of constants and operators alone.
    ///
    /// ```
    /// use classmate::parse_expr;
    /// let is_constant = |text: &str| parse_expr(text.as_bytes()).map(|expr| expr.tree().is_constant(expr.root()));
    /// assert!(is_constant("22 * (60 - 1)")?);
    /// assert!(!is_constant("22 * Minutes")?);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn is_constant(&self, id: NodeId) -> bool {
        let is_one =
            |part| matches!(self.node(part), Node::Literal(_) | Node::Paren(_) | Node::Unary(..) | Node::Binary(..));
        (self.first_of(id)..=id).all(is_one)
    }

    /// The condition and the branches of `c ? yes : no` or `ifThenElse(c, yes, no)`.
    pub fn choice(&self, id: NodeId) -> Option<[NodeId; 3]> {
        match self.view(id) {
            View::Choice { condition, yes, no } => Some([condition, yes, no]),
            _ => None,
        }
    }

    /// The test for a missing value that a node is, if it is one. Parentheses around the constant are skipped.
    ///
    /// ```
    /// use classmate::parse_expr;
    /// let expr = parse_expr(b"x =!= undefined")?;
    /// let test = expr.tree().defined_test(expr.root()).unwrap();
    /// assert!(!test.negated);
    /// assert_eq!(expr.part(test.of).to_string(), "x");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn defined_test(&self, id: NodeId) -> Option<DefinedTest> {
        match self.view(id) {
            View::Compare { op: op @ (BinaryOp::Is | BinaryOp::Isnt), left, right } => {
                let negated = op == BinaryOp::Is;
                let pairs = [(left, right), (right, left)];
                pairs
                    .into_iter()
                    .find(|(_, other)| self.is_undefined(*other))
                    .map(|(of, _)| DefinedTest { of, negated })
            }
            View::Call { name, arguments: &[of] } if name.folded() == b"isundefined" => {
                Some(DefinedTest { of, negated: true })
            }
            _ => None,
        }
    }

    /// Tests if a part is the constant `undefined`, perhaps in parentheses.
    fn is_undefined(&self, id: NodeId) -> bool {
        matches!(self.node(self.bare(id)), Node::Literal(Literal::Undefined))
    }

    /// The operands of a chain of one operator, `a && (b && c) && d`, in the order of the text and through
    /// parentheses; the node alone if it is not such a chain.
    ///
    /// ```
    /// use classmate::internal::syntax::operator::BinaryOp;
    /// use classmate::parse_expr;
    /// let expr = parse_expr(b"a && (b && c) && d")?;
    /// assert_eq!(expr.tree().flattened(BinaryOp::And, expr.root()).len(), 4);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn flattened(&self, op: BinaryOp, id: NodeId) -> Vec<NodeId> {
        let (mut operands, mut waiting) = (Vec::new(), vec![id]);
        while let Some(id) = waiting.pop() {
            match *self.node(self.bare(id)) {
                Node::Binary(other, left, right) if other == op => waiting.extend([right, left]),
                _ => operands.push(id),
            }
        }
        operands
    }
}

/// Tests if a name without a scope denotes an ad or a part of a match rather than an attribute.
pub(crate) fn is_ad_name(name: Name) -> bool {
    let key = name.key();
    (known::is_special(key) && key != known::CURRENT_TIME) || known::is_of_match(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::expr::Expr;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn parsed(text: &str) -> Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    fn references(text: &str) -> Vec<String> {
        let expr = parsed(text);
        expr.tree().references(expr.root()).map(|found| found.to_string()).collect()
    }

    #[test]
    fn scopes_are_part_of_a_reference() {
        assert_eq!(references("a + my.b * Target.c"), ["a", "MY.b", "TARGET.c"]);
        assert_eq!(references("CurrentTime > a"), ["CurrentTime", "a"]);
        assert_eq!(references("other.x + parent.y + .z + a.b"), ["a"]);
        assert_eq!(references("size(MY) + (MY).x"), Vec::<String>::new());
    }

    #[test]
    fn references_inside_ads_can_be_left_out() {
        let expr = parsed("[a = b].a + f(c, MY.d)");
        let outer: Vec<String> = expr.tree().outer_references(expr.root()).iter().map(ToString::to_string).collect();
        assert_eq!(outer, ["c", "MY.d"]);
        assert_eq!(references("[a = b].a + f(c, MY.d)"), ["b", "c", "MY.d"]);
        let part = expr.tree().parts(expr.root())[1];
        assert_eq!(expr.tree().references(part).count(), 2);
    }

    #[test]
    fn both_spellings_of_a_choice_are_one_view() {
        for text in ["a ? b : c", "IfThenElse(a, b, c)"] {
            let expr = parsed(text);
            let parts = expr.tree().choice(expr.root()).unwrap();
            assert_eq!(parts.map(|part| expr.part(part).to_string()), ["a", "b", "c"], "{text}");
        }
        assert!(parsed("ifThenElse(a, b)").tree().choice(0).is_none());
        let call = parsed("ifThenElse(a, b)");
        assert!(matches!(call.tree().view(call.root()), View::Call { arguments: [_, _], .. }));
    }

    #[test]
    fn tests_for_missing_values_are_recognized() {
        let test = |text: &str| {
            let expr = parsed(text);
            expr.tree().defined_test(expr.root()).map(|test| (expr.part(test.of).to_string(), test.negated))
        };
        for text in ["x is undefined", "(undefined) =?= x", "isundefined(x)"] {
            assert_eq!(test(text), Some(("x".to_owned(), true)), "{text}");
        }
        assert_eq!(test("undefined isnt MY.x"), Some(("MY.x".to_owned(), false)));
        for text in ["x == undefined", "isUndefined(x, y)", "x is y", "!isUndefined(x)"] {
            assert_eq!(test(text), None, "{text}");
        }
    }

    #[test]
    fn operators_are_sorted_by_kind() {
        let view = |text: &str| {
            let expr = parsed(text);
            match expr.tree().view(expr.root()) {
                View::Logic { .. } => "logic",
                View::Compare { .. } => "compare",
                View::Binary { .. } => "binary",
                View::Not(_) => "not",
                View::Unary(..) => "unary",
                View::AdName(_) => "ad name",
                View::Select { .. } => "select",
                _ => "other",
            }
        };
        for (text, kind) in [
            ("a && b", "logic"),
            ("a || b", "logic"),
            ("a <= b", "compare"),
            ("a isnt b", "compare"),
            ("a ?: b", "binary"),
            ("a & b", "binary"),
            ("!a", "not"),
            ("-a", "unary"),
            ("TARGET", "ad name"),
            ("a.b", "select"),
            ("(a && b)", "other"),
        ] {
            assert_eq!(view(text), kind, "{text}");
        }
    }
}
