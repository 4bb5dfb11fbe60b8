//! What is certain of the clauses of a condition, whatever the ads are.

use super::evaluate::{Analysis, Base, not};
use super::facts::{Facts, Reference};
use super::values::Truths;
use crate::builtin;
use crate::syntax::expr::{Expr, Node, NodeId, Tree, copy_into};
use crate::syntax::operator::{BinaryOp, UnaryOp};

/// What is certain of a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certainty {
    /// It is always this: true, false, undefined or error.
    Always(Truths),
    /// It can be false, undefined or an error, but never true.
    Never,
    /// It is never true where the earlier clause is.
    Contradicts(NodeId),
    /// It says word for word what the earlier clause says.
    Repeats(NodeId),
    /// It changes nothing beside the other clause.
    Follows(NodeId),
    /// A constant among conditions decides them all: `true || …`.
    Splice(Truths),
}

/// What is certain of a clause of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The clause.
    pub clause: NodeId,
    /// What is certain of it.
    pub certainty: Certainty,
}

/// Operands of a chain that are compared with one another.
const COMPARED: usize = 48;
/// Claims about one expression.
const MOST: usize = 50;
/// Clauses that are looked at.
const STEPS: usize = 2000;

/// What is certain of the clauses of a condition, given what its references can be; constants that stand alone are left
/// out. The order is that of the text.
///
/// ```
/// use classmate::analysis::clauses::{Certainty, claims};
/// use classmate::analysis::evaluate::unknown;
/// use classmate::syntax::parse::{ParseOptions, parse_expr};
/// let expr = parse_expr(b"Cpus > 4 && Cpus > 2", &ParseOptions::default())?;
/// let found = claims(&expr, &unknown);
/// assert!(matches!(found[0].certainty, Certainty::Follows(_)));
/// # Ok::<(), classmate::error::SyntaxError>(())
/// ```
pub fn claims(expr: &Expr, base: Base<'_>) -> Vec<Claim> {
    let tree = expr.to_tree();
    let root = tree.root();
    let mut finder = Finder { analysis: Analysis::new(&tree, base), found: Vec::new() };
    finder.condition(root);
    let truths = finder.analysis.truths(root);
    let explained = |claim: &Claim| matches!(claim.certainty, Certainty::Contradicts(_) | Certainty::Always(_));
    let impossible = !truths.has(Truths::TRUE) && truths != Truths::NONE;
    if impossible && !is_constant(&tree, root) && !finder.found.iter().any(explained) {
        finder.found.push(Claim { clause: root, certainty: Certainty::Never });
    }
    // The nodes of a part of a tree are numbered from its first one.
    let first = if expr.root() == expr.tree().root() { 0 } else { expr.tree().first_of(expr.root()) };
    let mut found = finder.found;
    for claim in &mut found {
        claim.clause += first;
        match &mut claim.certainty {
            Certainty::Contradicts(other) | Certainty::Repeats(other) | Certainty::Follows(other) => *other += first,
            _ => {}
        }
    }
    found
}

/// Whether a part is a value rather than a condition: not made of logic or comparisons.
pub fn is_value(tree: &Tree, mut id: NodeId) -> bool {
    while let Node::Paren(inner) = *tree.node(id) {
        id = inner;
    }
    match tree.node(id) {
        Node::Binary(op, ..) => !(op.precedence() <= 2 || matches!(op.precedence(), 6 | 7)),
        Node::Unary(op, _) => *op != UnaryOp::Not,
        _ => true,
    }
}

struct Finder<'a> {
    analysis: Analysis<'a>,
    found: Vec<Claim>,
}

impl Finder<'_> {
    fn tell(&mut self, clause: NodeId, certainty: Certainty) {
        if self.found.len() < MOST {
            self.found.push(Claim { clause, certainty });
        }
    }

    /// Looks at a condition and at those it consists of.
    fn condition(&mut self, root: NodeId) {
        let mut open = vec![root];
        let mut steps = 0;
        while let Some(id) = open.pop() {
            steps += 1;
            if steps > STEPS || self.found.len() >= MOST {
                return;
            }
            let tree = self.analysis.tree();
            match *tree.node(id) {
                Node::Literal(_) | Node::Attr(_) | Node::Absolute(_) => continue,
                Node::Select(_) | Node::Subscript { .. } | Node::List(_) | Node::Ad(_) => continue,
                Node::Paren(inner) => {
                    open.push(inner);
                    continue;
                }
                _ => {}
            }
            if let Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) = *tree.node(id)
                && self.spliced(op, id)
            {
                continue;
            }
            // What is written as a value is none of our business, unless it fails.
            let truths = self.analysis.truths(id);
            let single = truths.0.is_power_of_two();
            if single && (!is_value(tree, id) || truths == Truths::ERROR) {
                self.tell(id, Certainty::Always(truths));
                continue;
            }
            match *tree.node(id) {
                Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                    let operands = self.analysis.tree().operands(op, id);
                    self.chain(op, &operands);
                    open.extend(operands.iter().rev());
                }
                Node::Unary(UnaryOp::Not, operand) => open.push(operand),
                Node::Conditional { condition, yes, no } => open.extend([no, yes, condition]),
                _ => {}
            }
        }
    }

    /// A constant that decides a chain: `true || …`, `… && false`.
    fn spliced(&mut self, op: BinaryOp, id: NodeId) -> bool {
        let tree = self.analysis.tree();
        let decisive = if op == BinaryOp::And { Truths::FALSE } else { Truths::TRUE };
        for operand in self.analysis.tree().operands(op, id) {
            let mut bare = operand;
            while let Node::Paren(inner) = *tree.node(bare) {
                bare = inner;
            }
            if matches!(tree.node(bare), Node::Literal(_)) && self.analysis.truths(bare) == decisive {
                self.tell(operand, Certainty::Splice(decisive));
                return true;
            }
        }
        false
    }

    /// Looks for clauses of a chain that repeat, contradict or follow from others.
    fn chain(&mut self, op: BinaryOp, operands: &[NodeId]) {
        let operands = &operands[..operands.len().min(COMPARED)];
        let nothing = Facts::default();
        let tree = self.analysis.tree();
        let going = if op == BinaryOp::And { Truths::TRUE } else { Truths::FALSE };
        let mut gone: Vec<NodeId> = Vec::new();
        for (at, &later) in operands.iter().enumerate() {
            for (before, &earlier) in operands[..at].iter().enumerate() {
                if gone.contains(&earlier) || gone.contains(&later) || impure(tree, later) {
                    continue;
                }
                if is_constant(tree, later) {
                    continue;
                }
                if same(tree, earlier, later) {
                    gone.push(later);
                    self.tell(later, Certainty::Repeats(earlier));
                    continue;
                }
                if !related(tree, earlier, later) {
                    continue;
                }
                let alone = self.analysis.truths(earlier).has(going) && self.analysis.truths(later).has(going);
                if !alone {
                    continue;
                }
                let beside = |analysis: &Analysis<'_>, given: NodeId, outcome: Truths, clause: NodeId| match analysis
                    .where_it_is(given, outcome, &nothing)
                {
                    Some(facts) => analysis.values_where(clause, &facts).truths(),
                    None => Truths::NONE,
                };
                let with = beside(&self.analysis, earlier, going, later);
                if !with.has(going) {
                    if op == BinaryOp::And {
                        gone.push(later);
                        self.tell(later, Certainty::Contradicts(earlier));
                    }
                    continue;
                }
                let unknown = Truths::UNDEFINED;
                let weak = going.or(unknown);
                // Behind the other: it counts only where that goes on.
                let behind = with.within(going) && beside(&self.analysis, earlier, unknown, later).within(weak);
                if behind {
                    gone.push(later);
                    self.tell(later, Certainty::Follows(earlier));
                    continue;
                }
                // Before the other, with nothing between them: it must not decide anything by itself.
                if before + 1 != at {
                    continue;
                }
                let outcomes = [
                    (going, going),
                    (not(going), weak.or(not(going))),
                    (unknown, weak),
                    (Truths::ERROR, weak.or(Truths::ERROR)),
                ];
                let needless = outcomes
                    .into_iter()
                    .all(|(outcome, allowed)| beside(&self.analysis, later, outcome, earlier).within(allowed));
                if needless && !impure(tree, earlier) {
                    gone.push(earlier);
                    self.tell(earlier, Certainty::Follows(later));
                }
            }
        }
        self.found.sort_by_key(|claim| claim.clause);
    }
}

/// Whether a part is a constant, perhaps in parentheses: where texts are put together, those stand for nothing.
fn is_constant(tree: &Tree, mut id: NodeId) -> bool {
    while let Node::Paren(inner) = *tree.node(id) {
        id = inner;
    }
    matches!(tree.node(id), Node::Literal(_))
}

/// Whether two parts are written alike.
fn same(tree: &Tree, one: NodeId, two: NodeId) -> bool {
    if tree.first_of(one) + two != tree.first_of(two) + one {
        return false;
    }
    let part = |id: NodeId| {
        let mut copy = Tree::default();
        copy_into(&mut copy, tree, id);
        Expr::whole(std::sync::Arc::new(copy))
    };
    part(one).same_as(&part(two))
}

/// Whether two parts speak of the same reference.
fn related(tree: &Tree, one: NodeId, two: NodeId) -> bool {
    let of = |id: NodeId| (tree.first_of(id)..=id).filter_map(|part| Reference::of(tree, part)).take(COMPARED);
    let known: Vec<Reference> = of(one).collect();
    of(two).any(|reference| known.contains(&reference))
}

/// Whether a part may have another value when it is evaluated again.
fn impure(tree: &Tree, id: NodeId) -> bool {
    (tree.first_of(id)..=id).any(|part| match *tree.node(part) {
        Node::Call(call) => builtin::find(tree.calls[call as usize].name).is_some_and(|function| !function.pure),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::evaluate::unknown;
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    /// Claims with the texts they are about.
    fn found(text: &str) -> Vec<String> {
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        let shown = |id: NodeId| expr.part(id).to_string();
        let line = |claim: Claim| {
            let about = shown(claim.clause);
            match claim.certainty {
                Certainty::Always(truths) => format!("{about}: always {}", truths.0),
                Certainty::Never => format!("{about}: never"),
                Certainty::Contradicts(other) => format!("{about}: contradicts {}", shown(other)),
                Certainty::Repeats(other) => format!("{about}: repeats {}", shown(other)),
                Certainty::Follows(other) => format!("{about}: follows from {}", shown(other)),
                Certainty::Splice(_) => format!("{about}: splice"),
            }
        };
        claims(&expr, &unknown).into_iter().map(line).collect()
    }

    #[test]
    fn clauses_that_repeat_contradict_or_follow_are_found() {
        assert_eq!(found("a > 1 && b > 2 && a > 1"), ["a > 1: repeats a > 1"]);
        assert_eq!(found("a > 5 && b && a > 1"), ["a > 1: follows from a > 5"]);
        assert_eq!(found("b && a > 1 && a > 5"), ["a > 1: follows from a > 5"]);
        // Without `a > 1`, an error in `b` is seen.
        assert_eq!(found("a > 1 && b && a > 5"), Vec::<String>::new());
        assert_eq!(found("b || a > 5 || a > 1"), ["a > 5: follows from a > 1"]);
        assert_eq!(found("a > 5 && a < 3"), ["a < 3: contradicts a > 5"]);
        assert_eq!(found("x =!= undefined && x > 3"), Vec::<String>::new());
        assert_eq!(found("a > 1 && (b || 1 > 2)"), ["1 > 2: always 2"]);
        assert_eq!(found("a > 1 || true"), ["true: splice"]);
        assert_eq!(found("!(\"a\" > 2)"), [" !(\"a\" > 2): always 8"]);
    }

    #[test]
    fn what_is_fine_gives_no_claim() {
        for text in [
            "true",
            "(true) && (true) && x",
            "Memory",
            "TARGET.Memory >= MY.RequestMemory && TARGET.Cpus >= MY.RequestCpus",
            "OpSys == \"LINUX\" || OpSys == \"WINDOWS\"",
            "random(10) > 3 && random(10) > 3",
            "x =?= undefined || x > 3",
            "(x > 1 ? 5 : 6) > 5",
            "ifThenElse(x > 1, 0, 7)",
            "isUndefined(x) || x == \"\"",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
