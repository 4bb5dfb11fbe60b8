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

/// The largest time and number that is believed, seconds since 1970 too; sums of three stay within bounds.
pub const MAX_NUMBER: i64 = 1 << 52;

/// Whole seconds of a time: a fraction of one counts as one, before 0 too, so that nothing is played as 0 that is not.
fn whole(seconds: f64) -> i64 {
    (if seconds < 0.0 { seconds.floor() } else { seconds.ceil() }) as i64
}

/// Something in a workload that is not a job that can be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{place}: {message}")]
pub struct Fault {
    /// The number of its line in a trace, of its ad among job ads; from 1.
    pub place: u64,
    /// The expected and the actual content.
    pub message: String,
}
