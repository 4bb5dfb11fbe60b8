//! Slurm's multifactor priority: factors of jobs, usage of associations, fair share among them.
//!
//! In: jobs, the tree of associations with what it used, `slurm.conf`. Out: a priority for every job and partition, and
//! a policy that serves jobs in their order. Formula source: `slurm-multifactor.md`.

pub mod billing;
pub mod classic;
pub mod factor;
pub mod fair_share;
pub mod fair_tree;
pub mod order;
pub mod reset;
pub mod tree;
pub mod usage;

pub use factor::{Cluster, Factors, JobFacts, Maxima, Scale, Terms};
pub use fair_share::{Algorithm, Figures, Ties, figures};
pub use tree::{Association, AssociationTree, ROOT};
