//! Results of a negotiation cycle for one job, submitter or group.
//!
//! In: a snapshot and the outcome of its cycle. Out: [`trace::CycleTrace`] for a job, [`submitter::ShareTrace`],
//! [`group::QuotaTrace`], and [`reasons::CommonCause`] over all idle jobs.

pub mod competition;
pub mod group;
pub mod group_status;
pub mod left_out;
pub(crate) mod leftovers;
pub mod limit_status;
pub mod obstacle;
pub mod order;
pub mod pre_cycle;
pub mod reasons;
pub mod record;
pub mod slot_rank;
pub mod submitter;
pub mod trace;
pub(crate) mod unknown_group;
pub mod unsent;
