//! Slurm's own files: `slurm.conf` (the priority family, partitions), the dump of its associations, its listings.
//!
//! In: the text of files. Out: typed settings, and what is wrong with them and where. Formula source:
//! `docs/reference/slurm-multifactor.md` 6.

mod conf;
mod dump;
mod duration;
mod flags;
mod hosts;
mod line;
mod listing;
mod node;
mod partition;
mod release;
mod weights;
mod written;

pub use conf::{Defects, PriorityType, ResetPeriod, SKIPPED_LINE, SlurmConf};
pub use dump::{AssociationRow, Shares, SlurmAssociations};
pub use duration::{Duration, INFINITE};
pub use flags::{BillingSum, FairShare, PriorityFlags};
pub use hosts::HostList;
pub use listing::{Qos, UsageRow, read_qos, read_usage};
pub use node::NodeLine;
pub use partition::Partition;
pub use release::Release;
pub use weights::{TresWeights, Weights};
pub use written::{associations_text, conf_text, qos_text, usage_text};
