//! The policy that orders a cycle: its name on the command line, and the files it reads.

use std::path::Path;

use clap::ValueEnum;

use crate::cli::Failure;
use crate::cli::dirac::DiracArguments;
use crate::cli::input::{Notes, own};
use crate::cli::slurm::{SLURM_CONF, SlurmArguments};
use classmate::{ClassAd, List, Value};
use classmate_config::Config;
use classmate_config::internal::config::slurm::Weights;
use classmate_pool::internal::priority::dirac::group_of_job;
use classmate_pool::internal::priority::slurm::machines::enlist;
use classmate_pool::internal::quota::{GroupSetting, QuotaSettings};
use classmate_pool::{Policy, Snapshot};

/// Warns of quotas that are fractions of the pool: only those in slots are used as shares.
pub(super) fn warn_of_dynamic_quotas(config: &Config, notes: &mut Notes) {
    // Errors in them are reported by the cycle.
    let Ok(settings) = QuotaSettings::read(config) else { return };
    let dynamic = |group: &&GroupSetting| group.fixed.is_none() && group.dynamic.is_some();
    let mut groups = settings.groups.iter().filter(dynamic);
    if let Some(first) = groups.next() {
        let others = match groups.count() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let name = String::from_utf8_lossy(&first.name);
        notes.warn(format!(
            "GROUP_QUOTA_DYNAMIC of `{name}`{others} is ignored under this policy: only GROUP_QUOTA is used as a share"
        ));
    }
}

/// The first of some flags that is given.
pub(super) fn first_given(flags: &[(&'static str, bool)]) -> Option<&'static str> {
    flags.iter().find_map(|&(flag, given)| given.then_some(flag))
}

/// The choice of a policy.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct PolicyArguments {
    /// Scheduling policy; with `--policy slurm` or `--policy dirac`, --help lists the options of that policy
    #[arg(long, value_enum, value_name = "POLICY", default_value = "condor")]
    policy: PolicyName,
    #[command(flatten)]
    slurm: SlurmArguments,
    #[command(flatten)]
    dirac: DiracArguments,
}

/// The policies, with their descriptions in the help.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum PolicyName {
    /// HTCondor: user priorities and pie spins
    Condor,
    /// DIRAC: job shares and a lottery among task queues
    Dirac,
    /// Slurm: multifactor job priority
    Slurm,
}

impl PolicyArguments {
    /// True for HTCondor's policy, which needs no other attributes of slots than the negotiator.
    pub(super) fn is_condor(&self) -> bool {
        self.policy == PolicyName::Condor
    }

    /// True if an option gives settings of a policy.
    pub(super) fn has_settings(&self) -> bool {
        self.slurm.given().or(self.dirac.given()).is_some()
    }

    /// The change from another policy in words, if this is not the same one.
    pub(super) fn changed_from(&self, before: PolicyName) -> Option<String> {
        let name = |policy: PolicyName| policy.to_possible_value().map(|value| value.get_name().to_owned());
        let (before, after) = (name(before)?, name(self.policy)?);
        (before != after).then(|| format!("policy: {before} → {after}"))
    }

    /// Fails if an option is given that neither this policy nor the `other`, which is compared with it, reads.
    pub(super) fn check(&self, other: Option<PolicyName>) -> Result<(), Failure> {
        let unread = |name: PolicyName| self.policy != name && other != Some(name);
        let slurm = self.slurm.given().filter(|_| unread(PolicyName::Slurm));
        let dirac = self.dirac.given().filter(|_| unread(PolicyName::Dirac));
        let stray = slurm.map(|flag| (flag, "Slurm", "slurm")).or(dirac.map(|flag| (flag, "DIRAC", "dirac")));
        if let Some((flag, whose, policy)) = stray {
            return Err(
                Failure::input(format!("{flag} requires the {whose} policy")).help(&format!("add `--policy {policy}`"))
            );
        }
        Ok(())
    }

    /// The choice before a change: by the rules of `name`, and where these are the same with the settings of the pool, if it
    /// has its own.
    pub(super) fn before(&self, name: Option<PolicyName>, pool: Option<&Path>) -> Self {
        let policy = name.unwrap_or(self.policy);
        if policy != self.policy {
            return Self { policy, ..self.clone() };
        }
        Self { slurm: self.slurm.before(pool), dirac: self.dirac.before(pool), ..self.clone() }
    }

    /// Takes a line that changes the policy's own settings, if it is one.
    pub(super) fn change(&mut self, line: &str) -> bool {
        match self.policy {
            PolicyName::Condor => false,
            PolicyName::Dirac => self.dirac.change(line),
            PolicyName::Slurm => self.slurm.change(line),
        }
    }

    /// Reads the files of the policy for a pool. It may add attributes to the slots.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        snapshot: &mut Snapshot,
        notes: &mut Notes,
    ) -> Result<Policy, Failure> {
        self.check(None)?;
        if self.is_condor() && snapshot.slots.is_empty() && own(pool, SLURM_CONF).is_some() {
            let message = "there are no slots, only the nodes of `slurm.conf`";
            return Err(Failure::input(message).help("add `--policy slurm`"));
        }
        self.read_checked(pool, snapshot, notes)
    }

    /// As [`PolicyArguments::read`], after [`PolicyArguments::check`].
    pub(super) fn read_checked(
        &self,
        pool: Option<&Path>,
        snapshot: &mut Snapshot,
        notes: &mut Notes,
    ) -> Result<Policy, Failure> {
        match self.policy {
            PolicyName::Condor => Ok(Policy::Condor),
            PolicyName::Dirac => {
                warn_of_dynamic_quotas(&snapshot.config, notes);
                let settings = snapshot.settings();
                let groups = || snapshot.jobs.iter().map(|job| group_of_job(job, &settings)).collect();
                Ok(Policy::Dirac(self.dirac.read(pool, &groups, notes)?))
            }
            PolicyName::Slurm => {
                let settings = self.slurm.read(pool, &snapshot.config, (&mut snapshot.slots, &snapshot.jobs), notes)?;
                let evaluation = snapshot.settings();
                enlist(&mut snapshot.slots, settings.conf(), &evaluation);
                let conf = settings.conf();
                if conf.weights == Weights::default() && conf.tres_weights.0.is_empty() {
                    notes.warn(format!(
                        "all weights are 0, Slurm's default, so priorities do not depend on shares, age or size: set them in \
                         {SLURM_CONF}"
                    ));
                }
                Ok(Policy::Slurm(Box::new(settings)))
            }
        }
    }

    /// The ad of a machine that any job may use: it belongs to every partition.
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
