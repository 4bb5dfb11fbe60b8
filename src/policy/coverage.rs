//! Which clauses of a policy the tests ever made true, and ever made otherwise.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::eval::clause::{Clause, clauses};
use crate::eval::scope::Scope;

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
    /// Whether the tests made it true and made it otherwise.
    pub fn is_complete(&self) -> bool {
        self.held > 0 && self.refused > 0
    }
}

/// The clauses that tests looked at.
#[derive(Debug, Default)]
pub struct Coverage(BTreeMap<(String, String), (usize, usize)>);

/// Clauses that are kept.
const MOST: usize = 10_000;

impl Coverage {
    /// Counts the clauses of one side's Requirements; returns them.
    pub fn look(&mut self, whose: &str, scope: Scope<'_>) -> Vec<Clause> {
        let found = clauses(scope, "Requirements");
        for clause in found.iter().filter(|clause| clause.expr.as_literal().is_none()) {
            let path: Vec<String> = clause.path.iter().map(|via| via.name.display().into_owned()).collect();
            let place = format!("{whose}: {}", [&["Requirements".to_owned()], path.as_slice()].concat().join(", "));
            let key = (place, clause.expr.to_string());
            if self.0.len() >= MOST && !self.0.contains_key(&key) {
                continue;
            }
            let counts = self.0.entry(key).or_default();
            if clause.accepts() {
                counts.0 += 1;
            } else {
                counts.1 += 1;
            }
        }
        found
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
