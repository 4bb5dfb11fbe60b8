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
//! | compare a recorded cycle with its replay | [`verify()`] |
//! | run a file of policy tests | [`run_policy_tests`] |
//!
//! Everything is read-only. Results are data that serializes; the command `classmate` turns them into text.
//!
//! ```
//! use classmate::ClassAd;
//! use classmate_advice::explain_job;
//! use classmate_pool::Snapshot;
//!
//! let slot = ClassAd::parse(b"[Name = \"slot1@host\"; State = \"Unclaimed\"; Memory = 2048; Requirements = true]")?;
//! let job = ClassAd::parse(
//!     b"[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"alice@pool\"; Requirements = TARGET.Memory >= 4096]",
//! )?;
//! let snapshot = Snapshot { slots: vec![slot], jobs: vec![job], ..Snapshot::default() };
//! let explanation = explain_job(&snapshot, "1.0".parse()?)?.ok_or("no such job")?;
//! assert_eq!(explanation.matching, 0);
//! assert_eq!(explanation.never, ["TARGET.Memory >= 4096"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Pages of other crates of the workspace link here at the first `cargo doc`, whichever is written first.
#![doc(html_root_url = "../")]

mod advise;
mod anonymize;
mod autoclusters;
mod explain;
mod fmt;
mod lint;
mod picture;
mod policy_test;
mod setting_change;
mod shadow;
mod submit;
mod submit_description;
mod verify;
mod versions;
mod whatif;

pub use crate::autoclusters::{Audit, audit as audit_autoclusters};
pub use crate::explain::causes::{Cause, Reason};
pub use crate::explain::cycle::group::{QuotaTrace, trace as trace_quota};
pub use crate::explain::cycle::submitter::{ShareTrace, trace as trace_share};
pub use crate::explain::repair::suggestion::Suggestion;
pub use crate::explain::replay::explain_job;
pub use crate::explain::slot::{SlotExplanation, explain as explain_slot};
pub use crate::explain::{Explanation, SlotPolicy};
pub use crate::fmt::ads::expression as format_expression;
pub use crate::lint::config::lint;
pub use crate::policy_test::PolicyFile;
pub use crate::policy_test::run::run as run_policy_tests;
pub use crate::verify::{Verification, verify};
pub use crate::whatif::{Difference, what_if};

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub mod advise {
        pub use crate::advise::*;
    }
    pub mod anonymize {
        pub use crate::anonymize::*;
    }
    pub mod picture {
        pub use crate::picture::*;
    }
    pub mod autoclusters {
        pub use crate::autoclusters::*;
    }
    pub mod explain {
        pub use crate::explain::*;
    }
    pub mod fmt {
        pub use crate::fmt::*;
    }
    pub mod lint {
        pub use crate::lint::*;
    }
    pub mod policy_test {
        pub use crate::policy_test::*;
    }
    pub mod shadow {
        pub use crate::shadow::*;
    }
    pub mod submit {
        pub use crate::submit::*;
    }
    pub mod submit_description {
        pub use crate::submit_description::*;
    }
    pub mod verify {
        pub use crate::verify::*;
    }
    pub mod versions {
        pub use crate::versions::*;
    }
    pub mod whatif {
        pub use crate::whatif::*;
    }
}
