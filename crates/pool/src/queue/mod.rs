//! The queue: order of jobs, autoclusters, requests of submitters.
//!
//! In: job ads and submitter ads. Out: submitters with their requests (runs of like jobs).

pub mod autocluster;
pub mod cluster;
mod hash_table;
pub mod job;
pub mod job_names;
pub mod job_weighing;
pub mod numbering;
pub mod request;
pub mod significant;
pub mod submitter;

pub use job::{Job, JobId, JobIdError};
pub use request::Queue;
pub use submitter::Submitter;
