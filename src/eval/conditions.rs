//! A condition as a tree of conditions, joined by `&&`, `||`, `!` and `?:`, through the attributes it refers to.
//!
//! In: an expression, rules for what to split, and a function that follows references. Out: [`Conditions`], each
//! condition before its parts. This is the only place that takes conditions apart; what a reference leads to differs by
//! caller: one ad, both ads of a match, or an evaluation in progress.

use crate::syntax::expr::{Expr, NodeId, Tree};
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::View;

/// The logic by which the parts of a condition make its truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connective {
    /// There are no parts.
    Leaf,
    /// The contrary of its part: `!`.
    Not,
    /// All parts must be true: `&&`.
    All,
    /// One part must be true: `||`.
    Any,
    /// The first part selects one of the other two: `?:`, `ifThenElse`.
    Choice,
}

impl Connective {
    /// The name in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Connective::Leaf => "leaf",
            Connective::Not => "not",
            Connective::All => "all",
            Connective::Any => "any",
            Connective::Choice => "choice",
        }
    }
}

/// Rules for taking a condition apart.
#[derive(Debug, Clone, Copy)]
pub struct SplitRules {
    /// Connectives whose parts become conditions of their own.
    pub splits: fn(Connective) -> bool,
    /// Maximum number of levels.
    pub max_depth: usize,
    /// Maximum number of conditions.
    pub max_conditions: usize,
}

/// A condition in a tree of conditions.
#[derive(Debug, Clone)]
pub struct Condition<P> {
    /// The condition, without parentheses around it.
    pub expr: Expr,
    /// Its place: the attributes that lead to it, in the terms of the caller.
    pub place: P,
    /// The logic that joins its parts.
    pub connective: Connective,
    /// Its level, from 0.
    pub depth: usize,
    /// The condition it is a part of.
    pub parent: Option<usize>,
    /// True if the root is true only if this condition is: only `&&` is above it, and it is not a conjunction itself.
    pub required: bool,
}

/// A tree of conditions, each before its parts.
#[derive(Debug, Clone)]
pub struct Conditions<P> {
    /// The conditions, the root first.
    pub all: Vec<Condition<P>>,
    /// True if a limit of the rules left a condition whole.
    pub is_truncated: bool,
}

impl<P> Default for Conditions<P> {
    fn default() -> Self {
        Self { all: Vec::new(), is_truncated: false }
    }
}

/// The connective of a node and its parts in the order of the text; a chain of one operator has all its operands.
fn split(tree: &Tree, id: NodeId) -> (Connective, Vec<NodeId>) {
    match tree.view(id) {
        View::Not(operand) => (Connective::Not, vec![operand]),
        View::Logic { op, .. } => {
            (if op == BinaryOp::And { Connective::All } else { Connective::Any }, tree.flattened(op, id))
        }
        View::Choice { condition, yes, no } => (Connective::Choice, vec![condition, yes, no]),
        _ => (Connective::Leaf, Vec::new()),
    }
}

/// The number of conditions that a condition consists of, through `&&`, `||` and `?:`.
pub fn leaf_count(tree: &Tree, id: NodeId) -> usize {
    let (mut open, mut count) = (vec![id], 0);
    while let Some(id) = open.pop() {
        match split(tree, tree.bare(id)) {
            (Connective::Leaf | Connective::Not, _) => count += 1,
            (_, parts) => open.extend(parts),
        }
    }
    count
}

/// A part of an expression without the parentheses around it.
fn bare(expr: &Expr) -> Expr {
    expr.part(expr.tree().bare(expr.root()))
}

impl<P: Clone> Conditions<P> {
    /// Takes an expression at a place apart. `follow` returns the expression that a reference leads to and its place,
    /// or none for a condition that ends there; it must end on circular references.
    pub fn new(
        root: Expr,
        place: P,
        rules: SplitRules,
        mut follow: impl FnMut(&Expr, &P) -> Option<(Expr, P)>,
    ) -> Self {
        let mut tree = Conditions::default();
        let mut open = vec![(root, place, None::<usize>, true)];
        while let Some((expr, mut place, parent, required)) = open.pop() {
            let mut expr = bare(&expr);
            while let Some((target, at)) = follow(&expr, &place) {
                (expr, place) = (bare(&target), at);
            }
            let depth = parent.map_or(0, |parent: usize| tree.all[parent].depth + 1);
            let (mut connective, mut parts) = split(expr.tree(), expr.root());
            let fits = depth < rules.max_depth && tree.all.len() + open.len() + parts.len() < rules.max_conditions;
            if !fits || !(rules.splits)(connective) {
                tree.is_truncated |= !fits && !parts.is_empty();
                (connective, parts) = (Connective::Leaf, Vec::new());
            }
            let (here, is_all) = (tree.all.len(), connective == Connective::All);
            let below = parts.into_iter().rev();
            open.extend(below.map(|part| (expr.part(part), place.clone(), Some(here), required && is_all)));
            tree.all.push(Condition { expr, place, connective, depth, parent, required: required && !is_all });
        }
        tree
    }
}

impl<P> Conditions<P> {
    /// The conditions that must be true for the root to be true, with their numbers.
    pub fn required(&self) -> impl Iterator<Item = (usize, &Condition<P>)> {
        self.all.iter().enumerate().filter(|(_, condition)| condition.required)
    }

    /// The numbers of the parts of a condition, in the order of the text.
    pub fn parts(&self, at: usize) -> impl Iterator<Item = usize> {
        (at + 1..self.all.len()).filter(move |below| self.all[*below].parent == Some(at))
    }

    /// Tests whether a condition has no parts.
    pub fn is_leaf(&self, at: usize) -> bool {
        self.all[at].connective == Connective::Leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    const RULES: SplitRules = SplitRules { splits: |_| true, max_depth: 10, max_conditions: 20 };

    fn parsed(text: &str) -> Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    fn shown(text: &str, rules: SplitRules) -> Vec<String> {
        let follow = |expr: &Expr, (): &()| (expr.to_string() == "x").then(|| (parsed("(p || q)"), ()));
        let tree = Conditions::new(parsed(text), (), rules, follow);
        let line = |one: &Condition<()>| {
            let mark = if one.required { " required" } else { "" };
            format!("{}{:?} {}{mark}", " ".repeat(one.depth), one.connective, one.expr)
        };
        tree.all.iter().map(line).collect()
    }

    #[test]
    fn chains_are_flat_and_references_are_followed() {
        assert_eq!(
            shown("a && (b && x) && !c", RULES),
            [
                "All a && (b && x) &&  !c",
                " Leaf a required",
                " Leaf b required",
                " Any p || q required",
                "  Leaf p",
                "  Leaf q",
                " Not  !c required",
                "  Leaf c"
            ]
        );
        assert_eq!(
            shown("ifThenElse(a, b, c)", RULES),
            ["Choice ifThenElse(a,b,c) required", " Leaf a", " Leaf b", " Leaf c"]
        );
    }

    #[test]
    fn limits_and_rules_leave_conditions_whole() {
        let only_all = SplitRules { splits: |connective| connective == Connective::All, ..RULES };
        assert_eq!(shown("a && (b || c)", only_all)[2], " Leaf b || c required");
        let long = vec!["a"; 30].join(" && ");
        let tree = Conditions::new(parsed(&long), (), RULES, |_, ()| None);
        assert!(tree.is_truncated && tree.all.len() == 1);
        assert_eq!(leaf_count(parsed("a && (b || !c)").tree(), parsed("a && (b || !c)").root()), 3);
    }
}
