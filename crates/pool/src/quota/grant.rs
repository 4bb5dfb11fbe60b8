//! The grant of a group in one round of allocation, and its sources.
//!
//! Numbers only; [`super::derivation`] puts them into words.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Maximum number of surplus sources that are kept apart.
const MAX_SOURCES: usize = 8;

/// The grant of a group in a round. `allocated` is `fair`, plus surplus taken, plus `rounding`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grant {
    /// Its own quota, in weighted slots.
    pub quota: f64,
    /// The quota of it and all below it.
    pub subtree_quota: f64,
    /// Demand, including running jobs.
    pub demand: f64,
    /// Usage at the start of the round.
    pub usage: f64,
    /// Demand that is covered by its own quota.
    pub fair: f64,
    /// Unused part of its own quota: it goes to the pot of its level.
    pub spare: f64,
    /// The pot that was shared between it and the groups directly below it.
    pub level: SurplusPot,
    /// Surplus it took, by pot.
    pub taken: SmallVec<[SurplusTaken; 1]>,
    /// Without slot weights: fractions given up (negative) and single slots won.
    pub rounding: f64,
    /// Weighted slots allocated in this round.
    pub allocated: f64,
    /// Demand beyond that.
    pub unmet: f64,
    /// Key in the order of groups; the lowest goes first.
    pub sort_key: f64,
}

/// A pot of surplus, at the group whose level it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SurplusPot {
    /// Its content: quota left by the group and those below it.
    pub pot: f64,
    /// Demand of the group and those below it that accept surplus.
    pub wanted: f64,
    /// The sum of the weights of those with demand; 0 if all demand was met.
    pub weights: f64,
    /// Remainder, which went to the level above.
    pub passed_up: f64,
}

/// Surplus that a group took from a pot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurplusTaken {
    /// The group whose pot it was.
    pub from: usize,
    /// Weighted slots.
    pub amount: f64,
}

impl Grant {
    /// All it took, in weighted slots.
    pub fn surplus(&self) -> f64 {
        self.taken.iter().map(|taken| taken.amount).sum()
    }

    /// Notes what was taken; beyond a few sources, what comes later counts as from the last.
    pub(super) fn take(&mut self, from: usize, amount: f64) {
        if let Some(known) = self.taken.iter_mut().find(|taken| taken.from == from) {
            known.amount += amount;
        } else if self.taken.len() < MAX_SOURCES {
            self.taken.push(SurplusTaken { from, amount });
        } else if let Some(last) = self.taken.last_mut() {
            *last = SurplusTaken { from, amount: last.amount + amount };
        }
    }
}
