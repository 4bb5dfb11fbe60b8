//! The clauses of a Requirements, each with its value: which of them refuses.

use crate::eval::Failed;
use crate::eval::explain::{Cause, explain_at};
use crate::eval::scope::Scope;
use crate::eval::walk::{Spot, Target, Via, Walk};
use crate::name::Name;
use crate::syntax::expr::{Expr, Node};
use crate::syntax::operator::BinaryOp;
use crate::value::Value;

/// At most so many clauses of one expression.
const MOST: usize = 200;

/// One of the conditions that `&&` joins.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The attributes that lead to the clause, outermost first.
    pub path: Vec<Via>,
    /// The clause.
    pub expr: Expr,
    /// Its value.
    pub value: Result<Value, Failed>,
    /// Why the value is undefined or an error, if it is.
    pub causes: Vec<Cause>,
}

impl Clause {
    /// Whether the clause lets the match through.
    pub fn accepts(&self) -> bool {
        self.value.as_ref().is_ok_and(|value| value.as_condition() == Some(true))
    }
}

/// The clauses of an attribute of the ad of a scope, those of the attributes that it consists of included; empty if
/// the ad has no such attribute.
///
/// ```
/// use classmate::internal::ad::ClassAd;
/// use classmate::internal::eval::clause::clauses;
/// use classmate::internal::eval::scope::{Scope, Settings};
/// let slot = ClassAd::parse(b"[ START = KeyboardIdle > 900; Requirements = START && Cpus > 1; Cpus = 4; KeyboardIdle = 5 ]")?;
/// let settings = Settings::default();
/// let clauses = clauses(Scope::new(&slot, &settings), "Requirements");
/// let refusing: Vec<_> = clauses.iter().filter(|clause| !clause.accepts()).collect();
/// assert_eq!(refusing[0].expr.to_string(), "KeyboardIdle > 900");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn clauses(scope: Scope<'_>, attribute: impl Into<Name>) -> Vec<Clause> {
    let Some(expr) = scope.my.get(attribute) else { return Vec::new() };
    let mut walk = Walk::new(scope);
    let mut waiting = vec![walk.start(&expr)];
    let mut found = Vec::new();
    while let Some(spot) = waiting.pop() {
        if found.len() >= MOST {
            break;
        }
        match *spot.node() {
            Node::Paren(inner) => waiting.push(spot.part(inner)),
            Node::Binary(BinaryOp::And, left, right) => waiting.extend([spot.part(right), spot.part(left)]),
            Node::Attr(_) | Node::Select(_) => match walk.target(&spot) {
                Ok(Some((Target::Expr(target), _))) => waiting.push(target),
                _ => found.push(clause(&mut walk, &spot)),
            },
            _ => found.push(clause(&mut walk, &spot)),
        }
    }
    found
}

fn clause(walk: &mut Walk<'_>, spot: &Spot) -> Clause {
    let value = walk.value(spot);
    let unclear = value.as_ref().map_or(true, |value| value.is_undefined() || value.is_error());
    let causes = if unclear { explain_at(walk, spot) } else { Vec::new() };
    let value = value.map(|value| walk.released(value));
    Clause { path: spot.path.clone(), expr: spot.expr(), value, causes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::Settings;

    #[test]
    fn clauses_of_both_levels_are_found_in_order() {
        let settings = Settings::default();
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
        assert_eq!(clauses[2].causes[0].to_string(), "TARGET has no attribute for `TARGET.Arch`");
    }
}
