//! Run HTCondor negotiation cycles and simulations over a pool.
//!
//! | task | entry point |
//! |---|---|
//! | read a pool directory: slot ads, job ads, configuration, accountant's log | [`Snapshot::read_dir`] |
//! | run one cycle | [`negotiate`], [`PreparedPool::negotiate`] with options |
//! | explain why a job or a slot is idle | `explain_job` and `explain_slot` of the crate `classmate-advice` |
//! | charge the matches of a cycle to the accountant | [`commit`] |
//! | simulate a workload under a policy | [`simulate`] |
//! | generate a pool of any size | [`GeneratedPool`] |
//!
//! A cycle is a pure function: the same [`Snapshot`] always gives the same [`Outcome`], whatever the number of threads.
//!
//! ```
//! use classmate_pool::{Snapshot, negotiate};
//!
//! let pool = Snapshot::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pool"))?;
//! let outcome = negotiate(&pool.snapshot)?;
//! for made in &outcome.matches {
//!     println!("job {} of {} matched {}", made.job, made.submitter, made.slot);
//! }
//! for rejected in &outcome.rejections {
//!     println!("{} jobs like {} of {} got no slot: {}", rejected.jobs, rejected.job, rejected.submitter, rejected.reason);
//! }
//! assert!(!outcome.matches.is_empty() && !outcome.rejections.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Pages of other crates of the workspace link here at the first `cargo doc`, whichever is written first.
#![doc(html_root_url = "../")]

mod accountant;
mod generate;
mod introsort;
mod listing;
mod negotiate;
mod pool;
mod priority;
mod queue;
mod quota;
mod simulate;
mod workload;

/// A map that keeps the order in which its keys came.
pub(crate) type OrderedMap<K, V> = indexmap::IndexMap<K, V, hashbrown::DefaultHashBuilder>;

pub use accountant::{AccountantLog, Journal, LogError};
pub use generate::{GeneratedPool, Shape};
pub use negotiate::commit::{CommitError, commit};
pub use negotiate::outcome::{Match, Negotiation, Pie, Rejected, Rejection, Statistics, Tally};
pub use negotiate::{
    Cycle, CycleObserver, CycleOptions, Feasibility, LoadError, LoadedPool, Matcher, Outcome, PreparedPool, Snapshot,
    negotiate,
};
pub use priority::Policy;
pub use queue::{JobId, JobIdError};
pub use quota::summary::GroupSummary;
pub use simulate::{Cluster, SimulationPlan, SimulationResult, SlotCluster, UniformCluster, simulate};
pub use workload::Workload;

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub mod accountant {
        pub use crate::accountant::*;
    }
    pub mod generate {
        pub use crate::generate::*;
    }
    pub mod introsort {
        pub use crate::introsort::*;
    }
    pub mod listing {
        pub use crate::listing::*;
    }
    pub mod negotiate {
        pub use crate::negotiate::*;
    }
    pub mod pool {
        pub use crate::pool::*;
    }
    pub mod priority {
        pub use crate::priority::*;
    }
    pub mod queue {
        pub use crate::queue::*;
    }
    pub mod quota {
        pub use crate::quota::*;
    }
    pub mod simulate {
        pub use crate::simulate::*;
    }
    pub mod workload {
        pub use crate::workload::*;
    }
}
