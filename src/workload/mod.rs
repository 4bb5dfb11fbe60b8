//! Workloads: jobs that arrive one after another, each with the time it runs.
//!
//! In: a trace in the Standard Workload Format, or job ads. Out: arrivals in the order of their times, and every line
//! that is none. Nothing is left out without being counted.

pub mod arrival;
pub mod header;
pub mod job_ads;
pub mod swf;

pub use arrival::{Arrival, Workload};
pub use header::Header;

/// Something in a workload that is not a job that can be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{place}: {message}")]
pub struct Fault {
    /// The number of its line in a trace, of its ad among job ads; from 1.
    pub place: u64,
    /// What was expected, and what was found.
    pub message: String,
}
