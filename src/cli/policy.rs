//! Which policy orders a cycle: its name on the command line, and the files it reads.

use std::path::Path;

use clap::ValueEnum;

use crate::ad::ClassAd;
use crate::cli::Failure;
use crate::cli::dirac::CsFiles;
use crate::cli::input::Notes;
use crate::cli::slurm::{SlurmArguments, Stand};
use crate::negotiate::Snapshot;
use crate::priority::Policy;
use crate::priority::slurm::machines::enlist;
use crate::value::{List, Value};

/// The choice of a policy.
#[derive(clap::Args, Debug)]
pub(super) struct PolicyArguments {
    /// Whose rules decide who is served next
    #[arg(long, value_enum, value_name = "POLICY", default_value = "condor")]
    policy: PolicyName,
    #[command(flatten)]
    slurm: SlurmArguments,
    #[command(flatten)]
    cs: CsFiles,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum PolicyName {
    /// HTCondor's user priorities: shares of a pie, dealt in spins
    Condor,
    /// DIRAC's job shares: slots draw lots among task queues
    Dirac,
    /// Slurm's multifactor priority: jobs in the order of their priorities
    Slurm,
}

impl PolicyArguments {
    /// Whether it is HTCondor's, which asks nothing of slots but what the negotiator does.
    pub(super) fn is_condor(&self) -> bool {
        self.policy == PolicyName::Condor
    }

    /// The policy with what it reads. It may tell the slots what its files say of them.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        snapshot: &mut Snapshot,
        notes: &mut Notes,
    ) -> Result<Policy, Failure> {
        match self.policy {
            PolicyName::Condor | PolicyName::Dirac if self.slurm.is_given() => {
                Err(Failure::input("files of Slurm are given, and the policy is not Slurm's")
                    .help("add `--policy slurm`"))
            }
            name => self.read_as(Some(name), pool, snapshot, notes),
        }
    }

    /// As [`PolicyArguments::read`], with the policy of that name, if one is given.
    pub(super) fn read_as(
        &self,
        name: Option<PolicyName>,
        pool: Option<&Path>,
        snapshot: &mut Snapshot,
        notes: &mut Notes,
    ) -> Result<Policy, Failure> {
        match name.unwrap_or(self.policy) {
            PolicyName::Condor => Ok(Policy::Condor),
            PolicyName::Dirac => Ok(Policy::Dirac(self.cs.read(pool, notes)?)),
            PolicyName::Slurm => {
                let stand = Stand { config: &snapshot.config, jobs: &snapshot.jobs };
                let settings = self.slurm.read(pool, Some(&stand), notes)?;
                let evaluation = snapshot.settings();
                enlist(&mut snapshot.slots, settings.conf(), &evaluation);
                Ok(Policy::Slurm(Box::new(settings)))
            }
        }
    }

    /// What a machine says that any job may use, as far as the policy asks: it belongs to every partition.
    pub(super) fn everywhere(policy: &Policy) -> ClassAd {
        let mut ad = ClassAd::new();
        if let Policy::Slurm(settings) = policy {
            let names: Vec<Value> =
                settings.conf().partitions.iter().map(|partition| Value::Str(partition.name.as_str().into())).collect();
            if !names.is_empty() {
                ad.insert("PartitionName", Value::List(List::of(names)));
            }
        }
        ad
    }
}
