//! Which policy orders a cycle: its name on the command line, and the files it reads.

use clap::ValueEnum;

use crate::cli::Failure;
use crate::priority::Policy;

/// The choice of a policy.
#[derive(clap::Args, Debug)]
pub(super) struct PolicyArguments {
    /// Whose rules decide who is served next
    #[arg(long, value_enum, value_name = "POLICY", default_value = "condor")]
    policy: PolicyName,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum PolicyName {
    /// HTCondor's user priorities: shares of a pie, dealt in spins
    Condor,
}

impl PolicyArguments {
    /// The policy with what it reads.
    pub(super) fn read(&self) -> Result<Policy, Failure> {
        match self.policy {
            PolicyName::Condor => Ok(Policy::Condor),
        }
    }

    /// Refuses to write books that the policy does not keep.
    pub(super) fn keeps_books(&self) -> Result<(), Failure> {
        match self.policy {
            PolicyName::Condor => Ok(()),
        }
    }
}
