//! Slurm's multifactor priority: factors of jobs, usage of associations, fair share among them.
//!
//! In: jobs, the tree of associations with what it used, `slurm.conf`. Out: a priority for every job and partition, and
//! a policy that serves jobs in their order. Formula source: `docs/reference/slurm-multifactor.md`.

pub mod billing;
pub mod candidate;
mod classic;
pub mod derive;
pub mod factor;
pub mod fair_share;
mod fair_tree;
pub mod ledger;
pub mod machines;
pub mod order;
pub mod policy;
pub mod ranking;
pub mod reset;
pub mod running;
pub mod settings;
pub mod tree;
pub mod usage;

pub use candidate::{SlurmJob, Standpoint};
pub use factor::{ClusterSize, FactorTerms, Factors, JobFacts, Maxima, Scale};
pub use fair_share::{Algorithm, Figures, Ties, figures, figures_at_first};
pub use machines::SlurmNodes;
pub use policy::SlurmPriority;
pub use settings::{Options, SlurmFiles, SlurmSettings};
pub use tree::{Association, AssociationTree, ROOT};
