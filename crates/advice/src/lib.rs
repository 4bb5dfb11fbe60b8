//! Check policies and explain negotiation cycles.
//!
//! | task | entry point |
//! |---|---|
//! | find errors and likely mistakes in a configuration | [`lint`] |
//! | format an expression | [`format_expression`] |
//! | list significant attributes and what they cost | [`audit_autoclusters`] |
//! | explain why a job is idle | [`explain_job`] |
//! | explain why a slot is idle | [`explain_slot`] |
//! | derive the share of a submitter or the quota of a group | [`trace_share`], [`trace_quota`] |
//! | compare two pools | [`what_if`] |
//! | run a file of policy tests | [`run_policy_tests`] |
//!
//! Everything is read-only. Results are data that serializes; the command `classmate` turns them into text.
//!
//! ```
//! use classmate::internal::ad::ClassAd;
//! use classmate_advice::{ExplainedJob, explain_job, find_job};
//! use classmate_pool::internal::negotiate::{PreparedPool, Snapshot};
//!
//! let slot = ClassAd::parse(b"[Name = \"slot1@host\"; State = \"Unclaimed\"; Memory = 2048; Requirements = true]")?;
//! let job = ClassAd::parse(
//!     b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"alice@pool\"; Requirements = TARGET.Memory >= 4096]",
//! )?;
//! let snapshot = Snapshot { slots: vec![slot], jobs: vec![job], ..Snapshot::default() };
//! let (job, ad) = find_job(&snapshot, |_, _| true).ok_or("no job")?;
//! let mut pool = PreparedPool::for_explanation(&snapshot)?;
//! let explanation = explain_job(&mut pool, &ExplainedJob::of(&job, ad), true)?;
//! assert_eq!(explanation.matching, 0);
//! assert_eq!(explanation.never, ["TARGET.Memory >= 4096"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub mod autoclusters;
#[doc(hidden)]
pub mod explain;
#[doc(hidden)]
pub mod fmt;
#[doc(hidden)]
pub mod lint;
#[doc(hidden)]
pub mod policy_test;
#[doc(hidden)]
pub mod whatif;

pub use crate::autoclusters::{Audit, audit as audit_autoclusters};
pub use crate::explain::cycle::group::{QuotaTrace, trace as trace_quota};
pub use crate::explain::cycle::submitter::{ShareTrace, trace as trace_share};
pub use crate::explain::replay::{ExplainedJob, of_job as explain_job};
pub use crate::explain::slot::{SlotExplanation, explain as explain_slot};
pub use crate::explain::{Explanation, find as find_job};
pub use crate::fmt::ads::expression as format_expression;
pub use crate::lint::config::lint;
pub use crate::policy_test::run::run as run_policy_tests;
pub use crate::whatif::{Difference, what_if};

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::{autoclusters, explain, fmt, lint, policy_test, whatif};
}
