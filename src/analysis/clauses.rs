//! Certain facts about the clauses of a condition, for all ads.
//!
//! One file, because each kind of claim excludes the ones after it.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::evaluate::{Analysis, Base, not};
use super::facts::Facts;
use super::values::{Truths, Values, kind};
use crate::builtin;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::view::{Reference, View};

/// A certain fact about a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Certainty {
    /// It is always this: true, false, undefined or error. Where it is no condition, a text or a list is no error.
    Always(Truths),
    /// It can be false, undefined or an error, but never true.
    Never,
    /// It is never true where the earlier clause is.
    Contradicts(NodeId),
    /// It says word for word what the earlier clause says.
    Repeats(NodeId),
    /// It changes nothing beside the other clause.
    Follows(NodeId),
    /// It is true wherever the other clause is, with which it is joined by `&&`.
    Covered(NodeId),
    /// It is true only where the other clause is, with which it is joined by `||`: after it, or just before it.
    Within(NodeId),
    /// A constant among conditions decides them all: `true || …`.
    Splice(Truths),
}

/// A certain fact about a clause of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The clause.
    pub clause: NodeId,
    /// The fact.
    pub certainty: Certainty,
}

/// References of one clause by which others are found to compare it with.
const MAX_REFERENCES: usize = 48;
/// Pairs of clauses of one chain that are compared.
const MAX_PAIRS: usize = 5000;
/// Clauses of a chain of which all pairs are compared.
const MAX_CLAUSES_IN_PAIRS: usize = 100;
/// Claims about one expression.
const MAX_CLAIMS: usize = 50;
/// Alternatives, or conditions, of two clauses that are compared one by one.
const MAX_ALTERNATIVES: usize = 8;
/// Pairs of clauses of one expression that are compared so.
const MAX_COMPARISONS: usize = 1000;
/// Maximum number of clauses that are considered.
const MAX_STEPS: usize = 2000;

/// Certain facts about the clauses of a condition, given the possible values of its references; constants that stand
/// alone are left out. The order is that of the text.
///
/// ```
/// use classmate::internal::analysis::clauses::{Certainty, claims};
/// use classmate::internal::analysis::evaluate::unknown;
/// use classmate::parse_expr;
/// let expr = parse_expr(b"Cpus > 4 && Cpus > 2")?;
/// let found = claims(&expr, &unknown);
/// assert!(matches!(found[0].certainty, Certainty::Follows(_)));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn claims(expr: &Expr, base: Base<'_>) -> Vec<Claim> {
    let (tree, root) = (expr.tree(), expr.root());
    let mut finder = Finder { analysis: Analysis::new(tree, base), found: Vec::new(), compared: 0 };
    finder.condition(root);
    finder.analysis.renew();
    let truths = finder.analysis.truths(root);
    let explained = |claim: &Claim| match claim.certainty {
        Certainty::Contradicts(_) | Certainty::Always(_) | Certainty::Never => true,
        Certainty::Splice(truths) => truths == Truths::FALSE,
        _ => false,
    };
    let impossible = !truths.has(Truths::TRUE) && truths != Truths::NONE;
    if impossible && !is_constant(tree, root) && !finder.found.iter().any(explained) {
        finder.found.push(Claim { clause: root, certainty: Certainty::Never });
    }
    finder.found
}

/// Tests whether a part is a value rather than a condition: not made of logic or comparisons.
pub fn is_value(tree: &Tree, id: NodeId) -> bool {
    match tree.node(tree.bare(id)) {
        Node::Binary(op, ..) => !(op.is_logic() || op.is_comparison()),
        Node::Unary(op, _) => *op != UnaryOp::Not,
        _ => true,
    }
}

struct Finder<'a> {
    analysis: Analysis<'a>,
    found: Vec<Claim>,
    /// Pairs of clauses compared one by one.
    compared: usize,
}

impl Finder<'_> {
    fn claim(&mut self, clause: NodeId, certainty: Certainty) {
        if self.found.len() < MAX_CLAIMS {
            self.found.push(Claim { clause, certainty });
        }
    }

    /// Looks at a condition and at those it consists of.
    fn condition(&mut self, root: NodeId) {
        // Beside each, whether it is a condition: the whole may be a value.
        let mut open = vec![(root, false)];
        let mut steps = 0;
        while let Some((id, decides)) = open.pop() {
            steps += 1;
            if steps > MAX_STEPS || self.found.len() >= MAX_CLAIMS {
                return;
            }
            let tree = self.analysis.tree();
            match *tree.node(id) {
                Node::Literal(_) | Node::Attr(_) | Node::Absolute(_) => continue,
                Node::Select(_) | Node::Subscript { .. } | Node::List(_) | Node::Ad(_) => continue,
                Node::Paren(inner) => {
                    open.push((inner, decides));
                    continue;
                }
                _ => {}
            }
            if let Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) = *tree.node(id)
                && self.spliced(op, id)
            {
                continue;
            }
            // What is written as a value is none of our business, unless it fails: a text is no condition, but it is a
            // value.
            let values = self.analysis.values(id);
            let truths = values.truths();
            let fails = values == Values::of_kinds(kind::ERROR);
            if truths.0.is_power_of_two() && (fails || truths != Truths::ERROR && (decides || !is_value(tree, id))) {
                self.claim(id, Certainty::Always(truths));
                continue;
            }
            if decides && truths == Truths::ERROR {
                self.claim(id, Certainty::Never);
                continue;
            }
            match tree.view(id) {
                View::Choice { condition, yes, no } => {
                    open.extend([(no, decides), (yes, decides), (condition, true)]);
                }
                View::Logic { op, .. } => {
                    let operands = tree.flattened(op, id);
                    self.chain(op, &operands);
                    open.extend(operands.iter().rev().map(|operand| (*operand, true)));
                }
                View::Not(operand) => open.push((operand, true)),
                _ => {}
            }
        }
    }

    /// A constant that decides a chain: `true || …`, `… && false`.
    fn spliced(&mut self, op: BinaryOp, id: NodeId) -> bool {
        let tree = self.analysis.tree();
        let decisive = if op == BinaryOp::And { Truths::FALSE } else { Truths::TRUE };
        for operand in tree.flattened(op, id) {
            let bare = tree.bare(operand);
            if matches!(tree.node(bare), Node::Literal(_)) && self.analysis.truths(bare) == decisive {
                self.claim(operand, Certainty::Splice(decisive));
                return true;
            }
        }
        false
    }

    /// Looks for clauses of a chain that repeat, contradict or follow from others.
    fn chain(&mut self, op: BinaryOp, operands: &[NodeId]) {
        self.analysis.renew();
        let tree = self.analysis.tree();
        // Clauses that speak of nothing in common have nothing to do with each other.
        let mut speaking: HashMap<Option<Reference>, Vec<usize>> = HashMap::new();
        let mut gone: HashSet<NodeId> = HashSet::new();
        // Of a chain too long for all pairs, what is written alike is still found.
        let mut written: HashMap<String, NodeId> = HashMap::new();
        let mut pairs = 0;
        for (at, &later) in operands.iter().enumerate() {
            if self.found.len() >= MAX_CLAIMS {
                break;
            }
            if is_constant(tree, later) {
                continue;
            }
            let impure = impure(tree, later);
            if operands.len() > MAX_CLAUSES_IN_PAIRS && !impure {
                let first = *written.entry(Expr::at(Arc::clone(tree), tree.bare(later)).to_string()).or_insert(later);
                if pairs >= MAX_PAIRS && first != later && !gone.contains(&first) && same(tree, first, later) {
                    self.claim(later, Certainty::Repeats(first));
                }
            }
            if pairs >= MAX_PAIRS {
                continue;
            }
            let about = references(tree, later);
            if !impure {
                let mut before: Vec<usize> =
                    about.iter().filter_map(|reference| speaking.get(reference)).flatten().copied().collect();
                before.sort_unstable();
                before.dedup();
                for before in before {
                    let earlier = operands[before];
                    if gone.contains(&later) || pairs >= MAX_PAIRS || self.found.len() >= MAX_CLAIMS {
                        break;
                    }
                    if !gone.contains(&earlier) {
                        pairs += 1;
                        gone.extend(self.pair(op, (earlier, later), before + 1 == at));
                    }
                }
            }
            if !gone.contains(&later) {
                for reference in about {
                    speaking.entry(reference).or_default().push(at);
                }
            }
        }
        self.found.sort_by_key(|claim| claim.clause);
    }

    /// Compares two clauses of a chain, the second of which always has the same value; the one that is settled then.
    fn pair(&mut self, op: BinaryOp, (earlier, later): (NodeId, NodeId), adjacent: bool) -> Option<NodeId> {
        let tree = self.analysis.tree();
        if same(tree, earlier, later) {
            self.claim(later, Certainty::Repeats(earlier));
            return Some(later);
        }
        self.beside(op, (earlier, later), adjacent).or_else(|| self.needless(op, (earlier, later), adjacent))
    }

    /// Compares two clauses by what one can be where the other one is something.
    fn beside(&mut self, op: BinaryOp, (earlier, later): (NodeId, NodeId), adjacent: bool) -> Option<NodeId> {
        let tree = self.analysis.tree();
        let going = if op == BinaryOp::And { Truths::TRUE } else { Truths::FALSE };
        let alone = self.analysis.truths(earlier).has(going) && self.analysis.truths(later).has(going);
        if !alone {
            return None;
        }
        let nothing = Facts::default();
        let beside = |analysis: &Analysis<'_>, given: NodeId, outcome: Truths, clause: NodeId| match analysis
            .where_it_is(given, outcome, &nothing)
        {
            Some(facts) => analysis.values_where(clause, &facts).truths(),
            None => Truths::NONE,
        };
        let with = beside(&self.analysis, earlier, going, later);
        if !with.has(going) {
            if op == BinaryOp::And {
                self.claim(later, Certainty::Contradicts(earlier));
                return Some(later);
            }
            return None;
        }
        let unknown = Truths::UNDEFINED;
        let weak = going.or(unknown);
        // Behind the other: it counts only where that goes on.
        if with.within(going) && beside(&self.analysis, earlier, unknown, later).within(weak) {
            self.claim(later, Certainty::Follows(earlier));
            return Some(later);
        }
        if op == BinaryOp::And && with.within(going) && self.has_implied_arm(earlier, later) {
            self.claim(later, Certainty::Covered(earlier));
            return Some(later);
        }
        // Before the other, with nothing between them: it must not decide anything by itself.
        if !adjacent {
            return None;
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
            self.claim(earlier, Certainty::Follows(later));
            return Some(earlier);
        }
        None
    }

    /// Two clauses of which one decides nothing, though without it an error might be missed.
    fn needless(&mut self, op: BinaryOp, (earlier, later): (NodeId, NodeId), adjacent: bool) -> Option<NodeId> {
        let tree = self.analysis.tree();
        self.compared += 1;
        let possible = |id: NodeId| self.analysis.truths(id).has(Truths::TRUE);
        if self.compared > MAX_COMPARISONS || impure(tree, earlier) || !possible(earlier) || !possible(later) {
            return None;
        }
        let (clause, certainty) = if op == BinaryOp::And {
            if self.any_implies(earlier, later) {
                (later, Certainty::Covered(earlier))
            } else if self.is_weaker_equality(earlier, later) {
                (earlier, Certainty::Covered(later))
            } else {
                return None;
            }
        } else if self.implies_all(later, earlier) {
            (later, Certainty::Within(earlier))
        } else if adjacent && self.implies_all(earlier, later) {
            (earlier, Certainty::Within(later))
        } else {
            return None;
        };
        self.claim(clause, certainty);
        Some(clause)
    }

    /// Tests whether all conditions of `then` are true where all of `given` are: each is one of those, or follows from
    /// them.
    fn implies_all(&self, given: NodeId, then: NodeId) -> bool {
        let tree = self.analysis.tree();
        let facts = self.analysis.where_it_is(given, Truths::TRUE, &Facts::default());
        // It is never true, which is reported elsewhere.
        let Some(facts) = facts else { return false };
        let (have, need) = (tree.flattened(BinaryOp::And, given), tree.flattened(BinaryOp::And, then));
        if have.len() > MAX_ALTERNATIVES || need.len() > MAX_ALTERNATIVES {
            return false;
        }
        need.into_iter().all(|clause| {
            have.iter().any(|known| same(tree, *known, clause))
                || self.analysis.values_where(clause, &facts).truths() == Truths::TRUE
        })
    }

    /// Tests whether some alternative of `then` is true where one of `given` is, and none before it is an error there.
    fn any_implies(&self, given: NodeId, then: NodeId) -> bool {
        let tree = self.analysis.tree();
        let (have, need) = (tree.flattened(BinaryOp::Or, given), tree.flattened(BinaryOp::Or, then));
        if need.len() < 2 || have.len() > MAX_ALTERNATIVES || need.len() > MAX_ALTERNATIVES {
            return false;
        }
        let nothing = Facts::default();
        let where_it_is = |id: NodeId, truths: Truths| self.analysis.where_it_is(id, truths, &nothing);
        // The first one that is true: those before it are false or undefined.
        (0..have.len()).all(|first| {
            let Some(facts) = where_it_is(have[first], Truths::TRUE) else { return true };
            let before: Vec<[Option<Facts>; 2]> = have[..first]
                .iter()
                .map(|id| [where_it_is(*id, Truths::FALSE), where_it_is(*id, Truths::UNDEFINED)])
                .collect();
            for clause in &need {
                let truths = self.analysis.values_where(*clause, &facts).truths();
                if truths == Truths::TRUE || same(tree, have[first], *clause) {
                    return true;
                }
                let fails = |[one, two]: &[Option<Facts>; 2]| {
                    let of = |facts: &Facts| self.analysis.values_where(*clause, facts).truths();
                    [one, two].into_iter().flatten().any(|facts| of(facts).has(Truths::ERROR))
                };
                let goes_on = !truths.has(Truths::ERROR)
                    || have[..first].iter().any(|known| same(tree, *known, *clause))
                    || before.iter().any(|both| !fails(both));
                if !goes_on {
                    return false;
                }
            }
            false
        })
    }

    /// Tests whether `a == x` precedes `a =?= x`: it is true wherever that is. Of other clauses that follow from a
    /// later one nothing is said: they may guard what is between them.
    fn is_weaker_equality(&self, earlier: NodeId, later: NodeId) -> bool {
        let tree = self.analysis.tree();
        let operator = |id: NodeId| match *tree.node(tree.bare(id)) {
            Node::Binary(op, ..) => Some(op),
            _ => None,
        };
        operator(earlier) == Some(BinaryOp::Equal)
            && operator(later) == Some(BinaryOp::Is)
            && self.implies_all(later, earlier)
    }

    /// Tests whether a clause `a || b` has an alternative that follows from another clause, whatever the other ones
    /// are.
    fn has_implied_arm(&self, given: NodeId, clause: NodeId) -> bool {
        let tree = self.analysis.tree();
        let clause = tree.bare(clause);
        if !matches!(tree.node(clause), Node::Binary(BinaryOp::Or, ..)) {
            return false;
        }
        let nothing = Facts::default();
        let certain = self.analysis.where_it_is(given, Truths::TRUE, &nothing);
        let unknown = self.analysis.where_it_is(given, Truths::UNDEFINED, &nothing);
        let truths = |arm: NodeId, facts: &Option<Facts>| {
            facts.as_ref().map_or(Truths::NONE, |facts| self.analysis.values_where(arm, facts).truths())
        };
        tree.flattened(BinaryOp::Or, clause).into_iter().any(|arm| {
            truths(arm, &certain) == Truths::TRUE && truths(arm, &unknown).within(Truths::TRUE.or(Truths::UNDEFINED))
        })
    }
}

/// Tests whether a part is a constant, perhaps in parentheses: where texts are put together, those have no meaning.
fn is_constant(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(tree.bare(id)), Node::Literal(_))
}

/// Tests whether two parts are written alike.
fn same(tree: &Arc<Tree>, one: NodeId, two: NodeId) -> bool {
    let (one, two) = (tree.bare(one), tree.bare(two));
    if tree.first_of(one) + two != tree.first_of(two) + one {
        return false;
    }
    Expr::at(Arc::clone(tree), one).same_as(&Expr::at(Arc::clone(tree), two))
}

/// The references in a part, each once; `None` if there are none.
fn references(tree: &Tree, id: NodeId) -> Vec<Option<Reference>> {
    let mut found: Vec<Option<Reference>> = Vec::new();
    for reference in tree.references(id).take(MAX_REFERENCES).map(Some) {
        if !found.contains(&reference) {
            found.push(reference);
        }
    }
    if found.is_empty() {
        found.push(None);
    }
    found
}

/// Tests whether a part may have another value when it is evaluated again.
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
                Certainty::Covered(other) => format!("{about}: covered by {}", shown(other)),
                Certainty::Within(other) => format!("{about}: within {}", shown(other)),
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
    fn groups_in_parentheses_are_part_of_the_chain() {
        assert_eq!(found("(a > 1 && b > 1) && (b > 1 && a > 1)"), ["b > 1: repeats b > 1", "a > 1: repeats a > 1"]);
        assert_eq!(found("TARGET.m > 1024 && (TARGET.m > 512 && q)"), ["TARGET.m > 512: follows from TARGET.m > 1024"]);
        assert_eq!(found("(a > 1) && a > 1"), ["a > 1: repeats (a > 1)"]);
        assert_eq!(found("x || (y || (x))"), ["(x): repeats x"]);
        // Another operator is a clause of its own.
        assert_eq!(found("a > 1 && (a > 1 || b)"), ["(a > 1 || b): covered by a > 1"]);
    }

    #[test]
    fn long_chains_are_compared_by_what_they_speak_of() {
        let others: Vec<String> = (0..300).map(|at| format!("b{at} > {at}")).collect();
        assert_eq!(found(&format!("a > 1 && {} && a > 1", others.join(" && "))), ["a > 1: repeats a > 1"]);
        // More pairs than are compared.
        let many: Vec<String> = (0..2000).map(|at| format!("a != {at}")).collect();
        assert_eq!(found(&many.join(" && ")), Vec::<String>::new());
        // Those that are written alike are found all the same, and `a != 5` follows from nothing.
        assert_eq!(
            found(&format!("{} && (a != 1999) && A != 1999 && a != 5", many.join(" && "))),
            ["(a != 1999): repeats a != 1999", "a != 5: repeats a != 5"]
        );
    }

    #[test]
    fn an_alternative_that_holds_anyway_covers_the_others() {
        assert_eq!(found("c >= 4 && (c >= 2 || f)"), ["(c >= 2 || f): covered by c >= 4"]);
        // An error of `f` is seen first, and a guard is no alternative.
        assert_eq!(found("c >= 4 && (f || c >= 2)"), Vec::<String>::new());
        assert_eq!(found("c >= 4 && (c >= 5 || f)"), Vec::<String>::new());
    }

    #[test]
    fn alternatives_that_let_in_nothing_more_are_found() {
        assert_eq!(found("A == \"a\" || (A == \"a\" && X > 3)"), ["(A == \"a\" && X > 3): within A == \"a\""]);
        assert_eq!(found("X > 3 || (X > 5 && Y > 2)"), ["(X > 5 && Y > 2): within X > 3"]);
        assert_eq!(found("(A && B) || (B && A)"), ["(B && A): within (A && B)"]);
        assert_eq!(
            found("regexp(\"x\", A) || q || (B && regexp(\"x\", A))"),
            ["(B && regexp(\"x\",A)): within regexp(\"x\",A)"]
        );
        // Just before the other one; with a third between them, an error of that decides.
        assert_eq!(found("(X > 5 && Y > 2) || X > 3"), ["(X > 5 && Y > 2): within X > 3"]);
        assert_eq!(found("(X > 5 && Y > 2) || q || X > 3"), Vec::<String>::new());
        for text in [
            "X > 5 || (X > 3 && Y > 2)",
            "(A && B) || (B && C)",
            "(A && random(9) > 3) || (random(9) > 3 && A)",
            "A == \"a\" || (A == \"b\" && X > 3)",
            "A =?= true || (A == true && X > 3)",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn conditions_with_an_alternative_more_are_found() {
        assert_eq!(
            found("(X>3 || Y==1) && (X>3 || Y==1 || Z)"),
            ["(X > 3 || Y == 1 || Z): covered by (X > 3 || Y == 1)"]
        );
        assert_eq!(
            found("(X>5 || Y==1) && q && (X>3 || Y==1 || Z)"),
            ["(X > 3 || Y == 1 || Z): covered by (X > 5 || Y == 1)"]
        );
        for text in [
            // Where `Y` is 1 and `X` a text, the first clause is an error or not, and the second one is.
            "(Y == 1 || X > 3) && (X > 3 || Y == 1 || Z)",
            "(A || B) && (B || A)",
            "(X>3 || Y==1) && (Z || X>3 || Y==1)",
            "(X>3 || Y==1) && (X>5 || Y==1 || Z)",
            "(X>3 || Y==1 || Z) && (X>3 || Y==1)",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_weaker_of_two_equalities_is_found() {
        // 1 == true is true, 1 =?= true is false; a text == true is an error.
        assert_eq!(found("F == true && F =?= true"), ["F == true: covered by F is true"]);
        assert_eq!(found("F == true && q && F =?= true"), ["F == true: covered by F is true"]);
        assert_eq!(found("F == true || F =?= true"), ["F is true: within F == true"]);
        assert_eq!(found("F =?= true && F == true"), ["F == true: follows from F is true"]);
        assert_eq!(found("F == 1 && F =?= true"), ["F == 1: covered by F is true"]);
        assert_eq!(found("F =!= undefined && F =?= true"), Vec::<String>::new());
    }

    #[test]
    fn calls_and_arithmetic_on_constants_are_known() {
        // The values are those of the reference.
        assert_eq!(found("q && size(\"abc\") == 3"), ["size(\"abc\") == 3: always 1"]);
        assert_eq!(found("q && member(\"a\", {\"b\"})"), ["member(\"a\",{ \"b\" }): always 2"]);
        assert_eq!(found("q && versionGE(\"8.9.1\", \"8.8.0\")"), ["versionGE(\"8.9.1\",\"8.8.0\"): always 1"]);
        assert_eq!(found("q && 1 / 0.0 > 5"), ["1 / 0.0 > 5: always 8"]);
        assert_eq!(found("q && random(1) < 5"), Vec::<String>::new());
        assert_eq!(found("q && formatTime(0) == \"x\""), Vec::<String>::new());
    }

    #[test]
    fn a_constant_that_decides_explains_that_nothing_is_true() {
        assert_eq!(found("false && a > 1"), ["false: splice"]);
        assert_eq!(found("a > 1 && (b || (false && c)) && b =?= undefined"), ["false: splice"]);
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
