//! Simulation of a workload: jobs arrive, wait, run and end, and usage is charged.
//!
//! In: arrivals, machines under a policy, how far to simulate. Out: waiting times and shares. Exact: time
//! goes from event to event, nothing is rounded to a tick; the same input always gives the same result.

mod clock;
pub mod cluster;
pub mod compare;
pub mod contention;
pub mod engine;
pub mod experiment;
pub mod integral;
pub mod job_run;
mod ledger;
pub mod replay;
pub mod result;
mod slot_index;
pub mod slots;
pub mod spread;
pub mod tally;
mod tied_jobs;
pub mod uniform_cluster;

pub use cluster::{Cluster, CycleDecisions};
pub use engine::{SimulationPlan, simulate, simulate_jobs};
pub use job_run::{JobEnd, JobRun};
pub use result::{NeverStarted, SimulationResult, SimulationRun};
pub use slots::SlotCluster;
pub use uniform_cluster::UniformCluster;
