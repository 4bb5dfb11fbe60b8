//! Group quotas: how many slots the users of a group may have, whatever their priorities.
//!
//! In: settings, the size of the pool, what groups ask for and use. Out: which group is negotiated with next, up to
//! which limit, and how that came about. Knows no slots and no jobs. Formula source: `docs/reference/group-quotas.md`.

mod allocate;
pub mod assign;
pub mod check;
pub mod flat;
pub mod grant;
mod order;
mod remainder;
pub mod rounds;
pub mod settings;
pub mod story;
pub mod summary;
pub mod tree;

pub use check::Warning;
pub use grant::Grant;
pub use rounds::{Call, Pool, Round, Rounds};
pub use settings::{GroupSetting, QuotaRules, QuotaSettings};
pub use tree::{Configured, Group, GroupTree, ROOT};
