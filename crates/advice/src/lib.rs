//! Check, explain and change what a pool does.

pub mod autoclusters;
pub mod explain;
pub mod fmt;
pub mod lint;
pub mod policy_test;
pub mod whatif;

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::{autoclusters, explain, fmt, lint, policy_test, whatif};
}
