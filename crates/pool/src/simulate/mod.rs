//! A workload played on machines: jobs come, wait, run and end, and the books move on.
//!
//! In: arrivals, machines under a policy, how far to play. Out: who waited how long and who had how much. Exact: time
//! goes from event to event, nothing is rounded to a tick; the same input always gives the same result.

pub mod alike;
mod books;
mod clock;
pub mod compare;
pub mod engine;
pub mod integral;
mod line;
pub mod machines;
pub mod replay;
pub mod result;
mod slot_index;
pub mod slots;
pub mod spread;
pub mod tally;

pub use alike::Alike;
pub use engine::{Plan, simulate};
pub use machines::{Decided, Machines};
pub use result::{NeverStarted, Run, Simulated};
pub use slots::Slots;
