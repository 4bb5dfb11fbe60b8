//! Group quotas: limits on the slots of the users of a group, regardless of their priorities.
//!
//! In: settings, the size of the pool, demand and usage of groups. Out: the next group to negotiate with, its limit,
//! and the derivation. Knows no slots and no jobs. Formula source: `docs/reference/group-quotas.md`.

mod allocate;
pub mod assign;
pub mod check;
pub mod derivation;
pub mod flat;
pub mod grant;
mod order;
mod remainder;
pub mod rounds;
pub mod settings;
pub mod summary;
pub mod tree;

pub use grant::Grant;
pub use rounds::{Call, QuotaPool, Round, Rounds};
pub use settings::{GroupSetting, QuotaRules, QuotaSettings};
pub use tree::{Configured, Group, GroupTree, ROOT};
