//! Run negotiation cycles and simulations over a pool.

pub mod accountant;
pub mod generate;
pub mod negotiate;
pub mod pool;
pub mod priority;
pub mod queue;
pub mod quota;
pub mod simulate;
pub mod workload;

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::{accountant, generate, negotiate, pool, priority, queue, quota, simulate, workload};
}
