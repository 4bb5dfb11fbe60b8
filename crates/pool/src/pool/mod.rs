//! The machines: slots, how much they weigh, which of them take part.
//!
//! In: slot ads. Out: views with what the negotiator asks of every slot, in the order of the ads.

pub mod ad_reader;
pub mod address;
pub mod claim;
pub mod consumption;
pub mod needed;
pub mod projection;
pub mod resource;
pub mod size;
pub mod slot;
pub mod stash;
pub mod trim;

pub use size::PoolSize;
pub use slot::{Slot, State};
