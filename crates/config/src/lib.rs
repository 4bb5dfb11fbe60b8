//! Read HTCondor configuration, slurm.conf and DIRAC configuration files.

pub mod config;

/// Parts that the other crates of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::config;
}
