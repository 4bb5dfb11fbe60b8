//! Which policy orders a cycle: its name on the command line, and the files it reads.

use std::path::Path;

use clap::ValueEnum;

use crate::cli::Failure;
use crate::cli::dirac::CsFiles;
use crate::cli::input::Notes;
use crate::priority::Policy;

/// The choice of a policy.
#[derive(clap::Args, Debug)]
pub(super) struct PolicyArguments {
    /// Whose rules decide who is served next
    #[arg(long, value_enum, value_name = "POLICY", default_value = "condor")]
    policy: PolicyName,
    #[command(flatten)]
    cs: CsFiles,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum PolicyName {
    /// HTCondor's user priorities: shares of a pie, dealt in spins
    Condor,
    /// DIRAC's job shares: slots draw lots among task queues
    Dirac,
}

impl PolicyArguments {
    /// The policy with what it reads.
    pub(super) fn read(&self, pool: Option<&Path>, notes: &mut Notes) -> Result<Policy, Failure> {
        match self.policy {
            PolicyName::Condor => Ok(Policy::Condor),
            PolicyName::Dirac => Ok(Policy::Dirac(self.cs.read(pool, notes)?)),
        }
    }

    /// Refuses to write books that the policy does not keep.
    pub(super) fn keeps_books(&self) -> Result<(), Failure> {
        match self.policy {
            PolicyName::Condor => Ok(()),
            PolicyName::Dirac => {
                Err(Failure::input("--commit writes the accountant's log, which DIRAC's policy does not keep")
                    .help("leave out --commit, or order the cycle with --policy condor"))
            }
        }
    }
}
