//! DIRAC's job shares as a policy: task queues, shares of groups and users, corrections, lots
//! (`docs/reference/dirac-shares.md`).
//!
//! In: waiting jobs with their requirements, shares, the history of running jobs, a seed. Out: task queues with
//! priorities, and for a slot that requests a job the drawn queue and job. Pure: no clock, no randomness of its own.

pub mod ad;
pub mod chance;
pub mod choice;
pub mod correct;
pub mod cycle;
pub mod draw;
pub mod history;
pub mod listing;
pub mod past;
pub mod queue;
pub mod resource;
pub mod segment;
pub mod share;
pub mod site;
pub mod table;
pub mod task;
pub mod weight;

pub use ad::{distinguishing_request, group_of_job};
pub use chance::{chances, first_chances};
pub use choice::DiracChoice;
pub use correct::{Correction, SliceUse, ZeroUse, correct};
pub use cycle::{DiracPriority, WaitingQueues};
pub use draw::{Drawn, SplitMix64, draw_job, draw_listed, draw_order};
pub use history::RunHistory;
pub use listing::Listing;
pub use past::Past;
pub use queue::{MAX_QUEUE_JOBS, QueuedJob, Requirements, TaskQueue, TaskQueues};
pub use resource::SiteResource;
pub use segment::Segments;
pub use share::{DiracGroup, group_priorities};
pub use table::{PriorityTable, Row};
pub use task::TaskRequirements;
pub use weight::{entity_priorities, real_priority};
