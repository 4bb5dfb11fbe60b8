//! Expressions that cannot be evaluated over columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::program::atom::{Atom, AtomKind};
use crate::syntax::expr::{Expr, NodeId};
use crate::syntax::print::Style;

/// Maximum number of expressions that are kept.
const MAX_KEPT: usize = 1000;

/// Atoms that the evaluator evaluated, one group of ads at a time.
#[derive(Debug, Default)]
pub struct Fallbacks {
    atoms: AtomicU64,
    /// Evaluations of whole ads: their Requirements, and their Rank.
    of_ads: [AtomicU64; 2],
    /// Expressions by the address of their tree, which they keep, and node, with the numbers of their evaluations.
    of_expressions: Mutex<HashMap<(usize, NodeId), (Expr, u64)>>,
}

impl Fallbacks {
    /// Adds an atom and the number of its evaluations.
    pub fn add(&self, atom: &Atom, evaluations: usize) {
        self.atoms.fetch_add(1, Ordering::Relaxed);
        let evaluations = evaluations as u64;
        let expr = match &atom.kind {
            AtomKind::Subexpr(expr) | AtomKind::Expr(expr) => expr,
            AtomKind::Requirements | AtomKind::Rank => {
                let which = usize::from(matches!(atom.kind, AtomKind::Rank));
                self.of_ads[which].fetch_add(evaluations, Ordering::Relaxed);
                return;
            }
        };
        let mut kept = self.of_expressions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (Arc::as_ptr(expr.tree()) as usize, expr.root());
        if let Some((_, all)) = kept.get_mut(&key) {
            *all += evaluations;
        } else if kept.len() < MAX_KEPT {
            kept.insert(key, (expr.clone(), evaluations));
        }
    }

    /// Number of atoms.
    pub fn atoms(&self) -> u64 {
        self.atoms.load(Ordering::Relaxed)
    }

    /// The texts of the expressions with the most evaluations, and their numbers, at most `most` of them.
    pub fn most(&self, most: usize) -> Vec<(String, u64)> {
        let kept = self.of_expressions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_text: BTreeMap<String, u64> = BTreeMap::new();
        for (expr, evaluations) in kept.values() {
            *by_text.entry(String::from_utf8_lossy(&expr.to_text(Style::New)).into_owned()).or_default() += evaluations;
        }
        for (name, evaluations) in ["Requirements", "Rank"].iter().zip(&self.of_ads) {
            *by_text.entry((*name).to_owned()).or_default() += evaluations.load(Ordering::Relaxed);
        }
        let mut all: Vec<(String, u64)> = by_text.into_iter().filter(|(_, evaluations)| *evaluations > 0).collect();
        all.sort_by_key(|(_, evaluations)| std::cmp::Reverse(*evaluations));
        all.truncate(most);
        all
    }
}
