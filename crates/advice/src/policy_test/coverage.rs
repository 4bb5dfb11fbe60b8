//! Clause coverage: the clauses of a policy that the tests made true, and made something else.

use std::collections::BTreeMap;

use serde::Serialize;

use classmate::internal::eval::clause::{Clause, clauses};
use classmate::internal::eval::scope::Scope;
use classmate::internal::eval::walk::{Spot, Target, Walk};
use classmate::internal::syntax::expr::{Expr, Node};
use classmate::internal::syntax::operator::BinaryOp;

/// A clause and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// Whose it is, and the attributes that lead to it: `slot: Requirements, START`.
    pub place: String,
    /// The clause.
    pub clause: String,
    /// Evaluations in which it let the match through.
    pub held: usize,
    /// Evaluations in which it did not.
    pub refused: usize,
}

impl Covered {
    /// Returns true if the tests made it true and made it otherwise.
    pub fn is_complete(&self) -> bool {
        self.held > 0 && self.refused > 0
    }
}

/// The clauses that tests looked at.
#[derive(Debug, Default)]
pub struct Coverage(BTreeMap<(String, String), (usize, usize)>);

/// Clauses that are kept.
const MAX_CLAUSES: usize = 10_000;

/// Parts of one expression that are counted.
const PARTS: usize = 1000;

/// The parts of a part of an expression.
enum Made {
    /// These, all of which are clauses again; of a constant none.
    Of(Vec<Spot>),
    /// A condition and its branches.
    Choosing(Box<[Spot; 3]>),
    /// The value of an attribute.
    Named(Spot),
    /// Nothing: it is a clause.
    Clause,
}

impl Made {
    fn of(walk: &mut Walk<'_>, spot: &Spot) -> Self {
        if let Some(parts) = spot.tree.choice(spot.id) {
            return Self::Choosing(Box::new(parts.map(|id| spot.part(id))));
        }
        match *spot.node() {
            Node::Literal(_) => Self::Of(Vec::new()),
            Node::Paren(inner) => Self::Of(vec![spot.part(inner)]),
            Node::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                Self::Of(vec![spot.part(right), spot.part(left)])
            }
            Node::Attr(_) | Node::Select(_) => match walk.target(spot) {
                Ok(Some((Target::Expr(target), _))) => Self::Named(target),
                _ => Self::Clause,
            },
            _ => Self::Clause,
        }
    }
}

impl Coverage {
    /// Counts the clauses of one side's Requirements; returns those that `&&` joins.
    pub fn look(&mut self, whose: &str, scope: Scope<'_>) -> Vec<Clause> {
        let found = clauses(scope, "Requirements");
        if let Some(expr) = scope.my.get("Requirements") {
            self.count(&format!("{whose}: Requirements"), scope, &expr);
        }
        found
    }

    /// Enters the clauses of one side's Requirements, so that they are listed if no test reaches them.
    pub fn expect_of(&mut self, whose: &str, scope: Scope<'_>) {
        if let Some(expr) = scope.my.get("Requirements") {
            self.expect(&format!("{whose}: Requirements"), scope, &expr);
        }
    }

    /// Enters the clauses of an expression with nothing counted, those of branches that are not taken too.
    pub fn expect(&mut self, place: &str, scope: Scope<'_>, expr: &Expr) {
        let mut walk = Walk::new(scope);
        let mut waiting = vec![walk.start(expr)];
        for _ in 0..PARTS {
            let Some(spot) = waiting.pop() else { break };
            match Made::of(&mut walk, &spot) {
                Made::Of(parts) => waiting.extend(parts),
                Made::Choosing(parts) => waiting.extend(parts.into_iter().rev()),
                Made::Named(target) => waiting.push(target),
                Made::Clause => self.enter(place, &spot),
            }
        }
    }

    /// The place of a clause, and its text.
    fn key(place: &str, spot: &Spot) -> (String, String) {
        let path: Vec<String> = spot.path.iter().map(|via| via.name.display().into_owned()).collect();
        ([&[place.to_owned()], path.as_slice()].concat().join(", "), spot.expr().to_string())
    }

    fn enter(&mut self, place: &str, spot: &Spot) {
        if self.0.len() < MAX_CLAUSES {
            self.0.entry(Self::key(place, spot)).or_default();
        }
    }

    /// Takes out a name that was entered as a clause and leads to an expression in an ad that tests look at.
    fn leave(&mut self, place: &str, spot: &Spot) {
        let key = Self::key(place, spot);
        if self.0.get(&key) == Some(&(0, 0)) {
            self.0.remove(&key);
        }
    }

    /// Counts the clauses of an expression: the operands of `&&` and `||`, also behind attributes, and of a conditional
    /// its
    /// condition and the branch that is taken. Clauses of the other branch are entered with nothing counted.
    pub fn count(&mut self, place: &str, scope: Scope<'_>, expr: &Expr) {
        self.expect(place, scope, expr);
        let mut walk = Walk::new(scope);
        let mut waiting = vec![walk.start(expr)];
        for _ in 0..PARTS {
            let Some(spot) = waiting.pop() else { break };
            match Made::of(&mut walk, &spot) {
                Made::Of(parts) => waiting.extend(parts),
                Made::Choosing(parts) => Self::conditional(&mut walk, *parts, &mut waiting),
                Made::Named(target) => {
                    self.leave(place, &spot);
                    waiting.push(target);
                }
                Made::Clause => self.leaf(place, &mut walk, &spot),
            }
        }
    }

    /// Goes on with the condition and the branch that it takes.
    fn conditional(walk: &mut Walk<'_>, [condition, yes, no]: [Spot; 3], waiting: &mut Vec<Spot>) {
        match walk.value(&condition).ok().and_then(|value| value.as_condition()) {
            Some(true) => waiting.push(yes),
            Some(false) => waiting.push(no),
            None => {}
        }
        waiting.push(condition);
    }

    fn leaf(&mut self, place: &str, walk: &mut Walk<'_>, spot: &Spot) {
        let held = walk.value(spot).is_ok_and(|value| value.as_condition() == Some(true));
        let key = Self::key(place, spot);
        if self.0.len() >= MAX_CLAUSES && !self.0.contains_key(&key) {
            return;
        }
        let counts = self.0.entry(key).or_default();
        if held {
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
    }

    /// The clauses with their counts, by place and text.
    pub fn finish(self) -> Vec<Covered> {
        let covered = |((place, clause), (held, refused)): ((String, String), (usize, usize))| Covered {
            place,
            clause,
            held,
            refused,
        };
        self.0.into_iter().map(covered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::ad::ClassAd;
    use classmate::internal::eval::scope::EvalOptions;

    #[test]
    fn the_parts_of_alternatives_and_of_the_branch_taken_are_counted() {
        let settings = EvalOptions::default();
        let job = ClassAd::parse(
            b"[ Requirements = (TARGET.A > 1 || TARGET.B > 1) && (TARGET.C ? TARGET.D : TARGET.E) && \
              ifThenElse(TARGET.F, TARGET.G, TARGET.H); ]",
        );
        let job = job.unwrap();
        let mut coverage = Coverage::default();
        for slot in [
            b"[ A = 2; B = 0; C = true; D = true; F = false; H = true ]".as_slice(),
            b"[ A = 0; B = 2; C = false; E = false; F = false; H = false ]",
        ] {
            let slot = ClassAd::parse(slot).unwrap();
            coverage.look("job", Scope::new(&job, &settings).with_target(&slot));
        }
        let shown: Vec<String> = coverage
            .finish()
            .iter()
            .map(|one| format!("{} {}/{}", one.clause.replace("TARGET.", ""), one.held, one.refused))
            .collect();
        assert_eq!(shown, ["A > 1 1/1", "B > 1 1/1", "C 1/1", "D 1/0", "E 0/1", "F 0/2", "G 0/0", "H 1/1"]);
    }
}
