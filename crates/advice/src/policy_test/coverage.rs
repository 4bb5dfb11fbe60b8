//! Clause coverage: the clauses of a policy that the tests made true, and made something else.

use std::collections::BTreeMap;

use serde::Serialize;

use classmate::internal::eval::clause::{ClauseOutcome, clauses};
use classmate::internal::eval::conditions::{Conditions, Connective, SplitRules};
use classmate::internal::eval::walk::{Spot, Target, Walk};
use classmate::internal::syntax::expr::Node;
use classmate::{Expr, Scope};

/// A clause and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// Its owner, and the attributes that lead to it: `slot: Requirements, START`.
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

/// A clause: its place, and its text.
type Key = (String, String);

/// The clauses that tests looked at, with the numbers of evaluations that were true, and that were not.
#[derive(Debug, Default)]
pub struct Coverage(BTreeMap<Key, (usize, usize)>);

/// Clauses that are kept.
const MAX_CLAUSES: usize = 10_000;

/// A clause under `!` is one of its own.
const RULES: SplitRules =
    SplitRules { splits: |connective| connective != Connective::Not, max_depth: usize::MAX, max_conditions: 1000 };

/// The conditions of an expression, each with its place in the evaluation and the names that led to it.
fn conditions(walk: &mut Walk<'_>, expr: &Expr) -> Conditions<(Spot, Vec<Spot>)> {
    let start = (walk.start(expr), Vec::new());
    Conditions::new(expr.clone(), start, RULES, |expr, (spot, names)| {
        let name = spot.part(expr.root());
        match (name.node(), walk.target(&name)) {
            (Node::Attr(_) | Node::Select(_), Ok(Some((Target::Expr(target), _)))) => {
                Some((target.expr(), (target, [names.as_slice(), &[name]].concat())))
            }
            _ => None,
        }
    })
}

impl Coverage {
    /// Counts the clauses of one side's Requirements; returns those that `&&` joins.
    pub fn look(&mut self, whose: &str, scope: Scope<'_>) -> Vec<ClauseOutcome> {
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
        for condition in conditions(&mut Walk::new(scope), expr).all {
            if condition.connective == Connective::Leaf && !matches!(condition.expr.node(), Node::Literal(_)) {
                self.entry(Self::key(place, &condition.place.0.part(condition.expr.root())));
            }
        }
    }

    /// The place of a clause, and its text.
    fn key(place: &str, spot: &Spot) -> Key {
        let path: Vec<String> = spot.path.iter().map(|via| via.name.display().into_owned()).collect();
        ([&[place.to_owned()], path.as_slice()].concat().join(", "), spot.expr().to_string())
    }

    /// The counts of a clause, unless there are too many clauses.
    fn entry(&mut self, key: Key) -> Option<&mut (usize, usize)> {
        let fits = self.0.len() < MAX_CLAUSES || self.0.contains_key(&key);
        fits.then(|| self.0.entry(key).or_default())
    }

    /// Counts the clauses of an expression: the operands of `&&` and `||`, also behind attributes, and of a conditional
    /// its condition and the branch that is taken. Clauses of the other branch are entered with nothing counted.
    pub fn count(&mut self, place: &str, scope: Scope<'_>, expr: &Expr) {
        let mut walk = Walk::new(scope);
        let tree = conditions(&mut walk, expr);
        // Of every condition that is evaluated, how many parts were met, and the branch that a choice takes.
        let mut evaluated: Vec<Option<(usize, usize)>> = Vec::with_capacity(tree.all.len());
        for condition in &tree.all {
            let (above, names) = &condition.place;
            let spot = above.part(condition.expr.root());
            let is_evaluated = condition.parent.is_none_or(|parent| {
                let is_choice = tree.all[parent].connective == Connective::Choice;
                evaluated[parent].as_mut().is_some_and(|(met, branch)| {
                    *met += 1;
                    !is_choice || *met == 1 || met == branch
                })
            });
            let mut holds = |spot: &Spot| walk.value(spot).ok().and_then(|value| value.as_condition());
            let branch = match spot.tree.choice(spot.id).filter(|_| is_evaluated) {
                Some([choosing, ..]) => holds(&spot.part(choosing)).map_or(0, |holds| if holds { 2 } else { 3 }),
                None => 0,
            };
            evaluated.push(is_evaluated.then_some((0, branch)));
            // A name that was entered as a clause leads to an expression in an ad that tests look at.
            let known = condition.parent.map_or(0, |parent| tree.all[parent].place.1.len());
            for key in names.iter().skip(known).filter(|_| is_evaluated).map(|name| Self::key(place, name)) {
                if self.0.get(&key) == Some(&(0, 0)) {
                    self.0.remove(&key);
                }
            }
            if condition.connective != Connective::Leaf || matches!(spot.node(), Node::Literal(_)) {
                continue;
            }
            let held = is_evaluated.then(|| holds(&spot) == Some(true));
            if let Some((held_count, refused_count)) = self.entry(Self::key(place, &spot)) {
                *held_count += usize::from(held == Some(true));
                *refused_count += usize::from(held == Some(false));
            }
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
