//! The slots of a pool: their weights, and the slots that take part in a cycle.
//!
//! In: slot ads. Out: slots with the values that the negotiator needs of each, in the order of the ads.

pub mod ad_reader;
pub mod address;
pub mod attribute;
pub mod claim;
pub mod consumption;
pub mod needed;
pub mod projection;
pub mod resource;
pub mod similar;
pub mod size;
pub mod slot;
pub mod stash;
pub mod trim;

pub use size::PoolSize;
pub use slot::{Slot, State};
