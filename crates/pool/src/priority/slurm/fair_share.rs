//! The fair-share factor, by one of the algorithms Slurm has had.
//!
//! In: a tree with usage. Out: the figures of every association. Formula source: `docs/reference/slurm-multifactor.md` 4, 5.

use serde::{Deserialize, Serialize};

use super::classic::{self, Formula};
use super::{AssociationTree, fair_tree};

/// Algorithm of the fair-share factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Algorithm {
    /// Version 2.0: `(S − U_E + 1) / 2`, with usage as a fraction of the capacity `R_H`.
    Linear {
        /// Processor seconds that can be used, see [`super::usage::capacity`].
        capacity: f64,
    },
    /// `2^(−U_E / S / damping)`.
    Exponential {
        /// `FairShareDampeningFactor`.
        damping: f64,
    },
    /// The same, with usage weighed against siblings whatever the depth.
    DepthOblivious {
        /// `FairShareDampeningFactor`.
        damping: f64,
    },
    /// Users ranked level by level.
    FairTree {
        /// Treatment of tied accounts.
        ties: Ties,
    },
}

/// Treatment of tied accounts under Fair Tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ties {
    /// As released: each is visited by itself, and the best user of the second has the rank of the last of the first.
    #[default]
    Observed,
    /// As documented: their members are merged.
    Documented,
}

/// The figures of an association.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// S: shares as a fraction; of the whole tree for the classic algorithms, of the level under Fair Tree.
    pub norm_shares: f64,
    /// U: usage as a fraction of the whole.
    pub norm_usage: f64,
    /// `U_E`; under Fair Tree usage as a fraction of the level.
    pub effective_usage: f64,
    /// S / U on its level, infinite without usage; Fair Tree only, and not for accounts without shares of their own.
    pub level_fair_share: Option<f64>,
    /// From 1, higher is better; users under Fair Tree only.
    pub rank: Option<usize>,
    /// The factor, 0 to 1; under Fair Tree users have one only.
    pub factor: Option<f64>,
}

/// The figures of every association under `DEPTH_OBLIVIOUS` before `sshare` was called for the first time, with those that
/// are associations of jobs marked; under the other algorithms the usual ones.
pub fn figures_at_first(tree: &AssociationTree, algorithm: Algorithm, asked: &[bool]) -> Vec<Figures> {
    match algorithm {
        Algorithm::DepthOblivious { damping } => classic::figures_at_first(tree, damping, asked),
        _ => figures(tree, algorithm),
    }
}

/// The figures of every association, by its number.
///
/// ```
/// use classmate_pool::internal::priority::slurm::{Algorithm, Ties, figures, tree};
/// let text = b"Account - 'a'\nParent - 'a'\nUser - 'x':Fairshare=3\nUser - 'y':Fairshare=1\n";
/// let (_, mut tree, _) = tree::read("lab.cfg", text).unwrap();
/// tree.charge(2, 30.0);
/// let all = figures(&tree, Algorithm::FairTree { ties: Ties::Observed });
/// assert_eq!((all[2].level_fair_share, all[2].factor), (Some(0.75), Some(0.5)));
/// assert_eq!((all[3].level_fair_share, all[3].factor), (Some(f64::INFINITY), Some(1.0)));
/// ```
pub fn figures(tree: &AssociationTree, algorithm: Algorithm) -> Vec<Figures> {
    match algorithm {
        Algorithm::FairTree { ties } => fair_tree::figures(tree, ties),
        Algorithm::Linear { capacity } => classic::figures(tree, Formula::Linear { capacity }),
        Algorithm::Exponential { damping } => classic::figures(tree, Formula::Exponential { damping }),
        Algorithm::DepthOblivious { damping } => classic::figures(tree, Formula::DepthOblivious { damping }),
    }
}
