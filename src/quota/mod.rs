//! Group quotas: who may use how much of the pool, whatever the priorities of users.
//!
//! In: the groups of a configuration, the size of the pool, demand and usage. Out: quotas from the top down, grants
//! from the bottom up, and the order and limits in which groups are negotiated for. Formula source: `group-quotas.md`.

pub mod allocate;
pub mod assign;
pub mod rounds;
pub mod settings;
pub mod tree;

pub use allocate::{Claim, allocate};
pub use assign::{Quota, assign};
pub use rounds::{Call, Rounds, Terms};
pub use tree::{Defaults, Group, GroupTree, Share};
