//! Everything the policy reads from files of its own, checked.

use serde::{Deserialize, Serialize};

use super::usage::{Decay, capacity};
use super::{Algorithm, AssociationTree, ClusterSize, Ties};
use classmate_config::internal::config::ConfigError;
use classmate_config::internal::config::slurm::{
    FairShare, PriorityType, Qos, Release, SlurmAssociations, SlurmConf, UsageRow, Weights,
};

/// The files, as they are written down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SlurmFiles {
    /// `slurm.conf`.
    pub conf: SlurmConf,
    /// The associations.
    pub associations: SlurmAssociations,
    /// Their usage.
    pub usage: Vec<UsageRow>,
    /// The qualities of service.
    pub qos: Vec<Qos>,
    /// Options outside of Slurm's files.
    pub options: Options,
}

/// Choices between what Slurm's versions do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The fair share of version 2.0, regardless of the flags.
    pub linear: bool,
    /// Treatment of tied accounts under Fair Tree.
    pub ties: Ties,
    /// The decay of usage.
    pub decay: Decay,
    /// Under `DEPTH_OBLIVIOUS`, what Slurm computes before `sshare` was called for the first time.
    #[serde(default)]
    pub first_look: bool,
    /// The release whose listings are printed.
    #[serde(default)]
    pub release: Release,
}

/// The settings of the policy: files whose associations make a tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SlurmFiles", into = "SlurmFiles")]
pub struct SlurmSettings {
    files: SlurmFiles,
    tree: AssociationTree,
}

impl PartialEq for SlurmSettings {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl SlurmSettings {
    /// Checks the files.
    ///
    /// # Errors
    /// Associations that make no tree.
    pub fn new(mut files: SlurmFiles) -> Result<Self, Vec<ConfigError>> {
        let mut tree = AssociationTree::new(&files.associations)?;
        tree.set_usage(&files.usage);
        if files.conf.priority_type == PriorityType::Basic {
            // First come, first served: all priorities are equal, and the submission time decides.
            files.conf.weights = Weights::default();
            files.conf.tres_weights.0.clear();
        }
        Ok(Self { files, tree })
    }

    /// The files.
    pub fn files(&self) -> &SlurmFiles {
        &self.files
    }

    /// `slurm.conf`.
    pub fn conf(&self) -> &SlurmConf {
        &self.files.conf
    }

    /// The tree of associations with what they have used.
    pub fn tree(&self) -> &AssociationTree {
        &self.tree
    }

    /// Rows of usage that belong to no association.
    pub fn unmatched_rows(&self) -> Vec<&UsageRow> {
        self.tree.clone().set_usage(&self.files.usage)
    }

    /// A quality of service by name.
    pub fn qos(&self, name: &str) -> Option<&Qos> {
        self.files.qos.iter().find(|qos| qos.name == name)
    }

    /// The half-life of usage in seconds, 0 if it does not decay.
    pub fn half_life(&self) -> f64 {
        self.files.conf.half_life.seconds().unwrap_or(0) as f64
    }

    /// The fair-share algorithm in a cluster of this size.
    pub fn algorithm(&self, cluster: ClusterSize) -> Algorithm {
        let damping = f64::from(self.files.conf.dampening);
        let Options { linear, ties, .. } = self.files.options;
        match self.files.conf.flags.fair_share {
            _ if linear => Algorithm::Linear { capacity: capacity(cluster.cpus, self.half_life()) },
            FairShare::FairTree => Algorithm::FairTree { ties },
            FairShare::Exponential => Algorithm::Exponential { damping },
            FairShare::DepthOblivious => Algorithm::DepthOblivious { damping },
        }
    }
}

impl TryFrom<SlurmFiles> for SlurmSettings {
    type Error = String;

    fn try_from(files: SlurmFiles) -> Result<Self, String> {
        Self::new(files).map_err(|errors| errors.first().map(ToString::to_string).unwrap_or_default())
    }
}

impl From<SlurmSettings> for SlurmFiles {
    fn from(settings: SlurmSettings) -> Self {
        settings.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::slurm::{AssociationRow, Shares};

    #[test]
    fn settings_are_written_and_read_back_and_checked_again() {
        let rows =
            vec![AssociationRow::account("a", "root", Shares::Own(2)), AssociationRow::user("x", "a", Shares::Parent)];
        let files = SlurmFiles {
            associations: SlurmAssociations { rows, ..SlurmAssociations::default() },
            ..SlurmFiles::default()
        };
        let settings = SlurmSettings::new(files).unwrap();
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<SlurmSettings>(&text).unwrap(), settings);
        let error = serde_json::from_str::<SlurmSettings>(&text.replace("\"root\"", "\"gone\"")).unwrap_err();
        assert!(error.to_string().starts_with("`a` is in the account `gone`, which is not declared"), "{error}");
    }
}
