//! What one round of division granted to a group, and where it came from.
//!
//! Numbers only; [`super::story`] puts them into words.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Most sources of surplus that are told apart.
const SOURCES: usize = 8;

/// What a round granted to a group. `allocated` is `fair`, what was taken, and `rounding`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grant {
    /// Its own quota, in weighted slots.
    pub quota: f64,
    /// The quota of it and all below it.
    pub subtree_quota: f64,
    /// What it asked for, running jobs included.
    pub demand: f64,
    /// What it used when the round began.
    pub usage: f64,
    /// What its own quota covers of its demand.
    pub fair: f64,
    /// What it does not need of its own quota: it goes to the pot of its level.
    pub spare: f64,
    /// The pot that was shared between it and the groups directly below it.
    pub level: Level,
    /// What it took, from which pots.
    pub taken: SmallVec<[Taken; 1]>,
    /// Without slot weights: fractions given up (negative) and single slots won.
    pub rounding: f64,
    /// What it may use in this round.
    pub allocated: f64,
    /// What it asked for beyond that.
    pub unmet: f64,
    /// Where it stands in the order; the lowest goes first.
    pub sort_key: f64,
}

/// A pot of surplus, at the group whose level it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// What was in it: what the group and those below it left.
    pub pot: f64,
    /// What the group and those below it that accept surplus asked for.
    pub wanted: f64,
    /// The sum of the weights of those who wanted something; 0 if everybody got everything.
    pub weights: f64,
    /// What was left, and went to the level above.
    pub passed_up: f64,
}

/// What a group took from a pot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
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
        } else if self.taken.len() < SOURCES {
            self.taken.push(Taken { from, amount });
        } else if let Some(last) = self.taken.last_mut() {
            *last = Taken { from, amount: last.amount + amount };
        }
    }
}
