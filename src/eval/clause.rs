//! The clauses of a Requirements, each with its value: which of them reject.

use crate::eval::EvalError;
use crate::eval::conditions::{Conditions, Connective, SplitRules};
use crate::eval::explain::{Cause, explain_at};
use crate::eval::scope::Scope;
use crate::eval::walk::{Spot, Target, Via, Walk};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node};
use crate::value::Value;

/// Maximum number of clauses of one expression.
const MAX_CLAUSES: usize = 200;

/// Splits `&&` alone. The number of conditions bounds what references that fan out can cost.
const CONJUNCTIONS: SplitRules = SplitRules {
    splits: |connective| matches!(connective, Connective::All),
    max_depth: usize::MAX,
    max_conditions: 10_000,
};

/// One of the conditions that `&&` joins.
#[derive(Clone, Debug)]
pub struct ClauseOutcome {
    /// The attributes that lead to the clause, outermost first.
    pub path: Vec<Via>,
    /// The clause.
    pub expr: Expr,
    /// Its value.
    pub value: Result<Value, EvalError>,
    /// Causes of a value that is undefined or an error.
    pub causes: Vec<Cause>,
}

impl ClauseOutcome {
    /// Tests whether the clause lets the match through.
    pub fn accepts(&self) -> bool {
        self.value.as_ref().is_ok_and(|value| value.as_condition() == Some(true))
    }
}

/// The clauses of an attribute of the ad of a scope, including those of the attributes that it consists of; empty if
/// the ad does not have the attribute.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::eval::clause::clauses;
/// use classmate::{Scope, EvalOptions};
/// let slot = ClassAd::parse(b"[ START = KeyboardIdle > 900; Requirements = START && Cpus > 1; Cpus = 4; KeyboardIdle = 5 ]")?;
/// let settings = EvalOptions::default();
/// let clauses = clauses(Scope::new(&slot, &settings), "Requirements");
/// let rejecting: Vec<_> = clauses.iter().filter(|clause| !clause.accepts()).collect();
/// assert_eq!(rejecting[0].expr.to_string(), "KeyboardIdle > 900");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn clauses(scope: Scope<'_>, attribute: impl Into<Name>) -> Vec<ClauseOutcome> {
    let Some(expr) = scope.my.get(attribute) else { return Vec::new() };
    let mut walk = Walk::new(scope);
    let start = walk.start(&expr);
    let conditions = Conditions::new(expr, start, CONJUNCTIONS, |expr, spot| {
        let spot = spot.part(expr.root());
        match (spot.node(), walk.target(&spot)) {
            (Node::Attr(_) | Node::Select(_), Ok(Some((Target::Expr(target), _)))) => Some((target.expr(), target)),
            _ => None,
        }
    });
    let spots = conditions.required().map(|(_, one)| one.place.part(one.expr.root())).take(MAX_CLAUSES);
    spots.map(|spot| clause(&mut walk, &spot)).collect()
}

fn clause(walk: &mut Walk<'_>, spot: &Spot) -> ClauseOutcome {
    let value = walk.value(spot);
    let unclear = value.as_ref().map_or(true, |value| value.is_undefined() || value.is_error());
    let causes = if unclear { explain_at(walk, spot) } else { Vec::new() };
    let value = value.map(|value| walk.released(value));
    ClauseOutcome { path: spot.path.clone(), expr: spot.expr(), value, causes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::EvalOptions;

    #[test]
    fn clauses_of_both_levels_are_found_in_order() {
        let settings = EvalOptions::default();
        let job = ClassAd::parse(b"[ Requirements = (TARGET.Cpus >= 2 && Fits) && TARGET.Arch == \"X\"; Fits = TARGET.Memory > 10 || false ]");
        let job = job.unwrap();
        let slot = ClassAd::parse(b"[ Cpus = 4; Memory = 5 ]").unwrap();
        let clauses = clauses(Scope::new(&job, &settings).with_target(&slot), "Requirements");
        let shown: Vec<(String, bool, usize)> =
            clauses.iter().map(|clause| (clause.expr.to_string(), clause.accepts(), clause.path.len())).collect();
        assert_eq!(
            shown,
            [
                ("TARGET.Cpus >= 2".to_owned(), true, 0),
                ("TARGET.Memory > 10 || false".to_owned(), false, 1),
                ("TARGET.Arch == \"X\"".to_owned(), false, 0)
            ]
        );
        assert_eq!(clauses[2].causes[0].to_string(), "TARGET does not define `TARGET.Arch`");
    }
}
