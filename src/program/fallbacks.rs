//! Expressions that cannot be evaluated over columns.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::program::atom::{Atom, AtomKind};
use crate::syntax::print::Style;

/// Atoms that the evaluator evaluated, one group of ads at a time: text, number of atoms and number of evaluations.
#[derive(Debug, Default)]
pub struct Fallbacks {
    counts: Mutex<BTreeMap<String, (u64, u64)>>,
}

impl Fallbacks {
    /// Adds an atom that was evaluated for so many groups.
    pub fn add(&self, atom: &Atom, evaluations: usize) {
        let text = match &atom.kind {
            AtomKind::Subexpr(expr) | AtomKind::Expr(expr) => {
                String::from_utf8_lossy(&expr.to_text(Style::New)).into_owned()
            }
            AtomKind::Requirements => "Requirements".to_owned(),
            AtomKind::Rank => "Rank".to_owned(),
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (atoms, all) = counts.entry(text).or_default();
        *atoms += 1;
        *all += evaluations as u64;
    }

    /// Number of atoms.
    pub fn atoms(&self) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).values().map(|(atoms, _)| atoms).sum()
    }

    /// The expressions with the most evaluations, and their numbers, at most `most` of them.
    pub fn most(&self, most: usize) -> Vec<(String, u64)> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<(String, u64)> = counts.iter().map(|(text, (_, all))| (text.clone(), *all)).collect();
        all.sort_by_key(|(_, evaluations)| std::cmp::Reverse(*evaluations));
        all.truncate(most);
        all
    }
}
