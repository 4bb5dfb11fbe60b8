//! The files of a Slurm cluster, for all commands that read them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::ad::ClassAd;
use crate::cli::Failure;
use crate::cli::input::Notes;
use crate::cli::negotiate::refused;
use crate::cli::settings::{Disk, contents};
use crate::config::slurm::{Associations, SlurmConf, read_qos, read_usage};
use crate::config::{Config, ConfigError, ConfigWarning};
use crate::eval::scope::Settings;
use crate::priority::slurm::usage::Decay;
use crate::priority::slurm::{Options, SlurmFiles, SlurmSettings, Ties, derive, tree};

/// Files of Slurm, in a directory or each by its own flag.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Slurm")]
pub(super) struct SlurmArguments {
    /// Weights, flags and partitions, instead of POOL/slurm.conf; without one the defaults of Slurm hold
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
    /// What `sacctmgr dump` writes, instead of POOL/sacctmgr.dump; without one the accounting groups are the accounts
    #[arg(long, value_name = "FILE")]
    associations: Option<PathBuf>,
    /// What `sshare -a -P` prints, instead of POOL/sshare.usage; without it nobody has used anything
    #[arg(long, value_name = "FILE")]
    usage: Option<PathBuf>,
    /// What `sacctmgr -P show qos` prints, instead of POOL/sacctmgr.qos; without it no QOS has a priority
    #[arg(long, value_name = "FILE")]
    qos: Option<PathBuf>,
    /// Compute fair share as version 2.0 did, (S - U + 1) / 2, whatever the flags say
    #[arg(long)]
    linear: bool,
    /// What becomes of accounts that stand alike under Fair Tree
    #[arg(long, value_enum, value_name = "HOW", default_value = "observed")]
    ties: TiesName,
    /// How usage decays
    #[arg(long, value_enum, value_name = "HOW", default_value = "linearized")]
    decay: DecayName,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum TiesName {
    /// Each is visited by itself, as every release does
    Observed,
    /// Their members are merged, as the documentation says
    Documented,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum DecayName {
    /// (1 - 0.693 / half-life) for each second, as Slurm does
    Linearized,
    /// Half after each half-life
    Exact,
}

/// What associations are made of where there is no dump.
pub(super) struct Stand<'a> {
    /// The negotiator's settings.
    pub(super) config: &'a Config,
    /// The jobs.
    pub(super) jobs: &'a [ClassAd],
}

impl SlurmArguments {
    /// Whether any of the files is named.
    pub(super) fn is_given(&self) -> bool {
        [&self.slurm_conf, &self.associations, &self.usage, &self.qos].iter().any(|file| file.is_some())
    }

    /// Reads the files of a pool.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        stand: Option<&Stand<'_>>,
        notes: &mut Notes,
    ) -> Result<SlurmSettings, Failure> {
        // What was asked for must be there; what is only looked for may be missing.
        let found = |given: &Option<PathBuf>, name: &str| {
            given.clone().or_else(|| pool.map(|pool| pool.join(name)).filter(|path| path.exists()))
        };
        let text = |path: &Path| Ok::<_, Failure>((path.display().to_string(), contents(path)?));
        let mut warnings = Vec::new();
        let conf = match found(&self.slurm_conf, "slurm.conf") {
            Some(path) => {
                let (name, text) = text(&path)?;
                let (conf, defects) = SlurmConf::read(&name, &text, &Disk);
                all_refused(&defects.errors)?;
                warnings.extend(defects.warnings);
                conf
            }
            None => SlurmConf::default(),
        };
        let associations = match (found(&self.associations, "sacctmgr.dump"), stand) {
            (Some(path), _) => {
                let (name, text) = text(&path)?;
                let (associations, _, odd) = tree::read(&name, &text).map_err(|errors| {
                    all_refused(&errors).err().unwrap_or_else(|| Failure::input(format!("`{name}` holds no tree")))
                })?;
                warnings.extend(odd);
                associations
            }
            (None, Some(stand)) => {
                derive::associations(stand.config, stand.jobs, &Settings::default()).map_err(|error| refused(&error))?
            }
            (None, None) => Associations::default(),
        };
        let usage = match found(&self.usage, "sshare.usage") {
            Some(path) => {
                let (name, text) = text(&path)?;
                read_usage(&name, &text).map_err(|error| refused(&error))?
            }
            None => Vec::new(),
        };
        let qos = match found(&self.qos, "sacctmgr.qos") {
            Some(path) => {
                let (name, text) = text(&path)?;
                read_qos(&name, &text).map_err(|error| refused(&error))?
            }
            None => Vec::new(),
        };
        let options = Options {
            linear: self.linear,
            ties: match self.ties {
                TiesName::Observed => Ties::Observed,
                TiesName::Documented => Ties::Documented,
            },
            decay: match self.decay {
                DecayName::Linearized => Decay::Linearized,
                DecayName::Exact => Decay::Exact,
            },
        };
        for ConfigWarning { message, place, .. } in warnings {
            notes.warn(format!("{place}: {message}"));
        }
        let files = SlurmFiles { conf, associations, usage, qos, options };
        let settings = SlurmSettings::new(files).map_err(|errors| {
            all_refused(&errors).err().unwrap_or_else(|| Failure::input("the associations make no tree"))
        })?;
        for row in settings.strangers() {
            let user = row.user.as_ref().map(|user| format!(", user `{user}`")).unwrap_or_default();
            notes
                .warn(format!("usage of account `{}`{user} belongs to no association and is passed over", row.account));
        }
        Ok(settings)
    }
}

/// Every error of a file, the first with its help.
fn all_refused(errors: &[ConfigError]) -> Result<(), Failure> {
    let Some((first, others)) = errors.split_first() else { return Ok(()) };
    let mut failure = refused(first);
    for error in others {
        failure.message.push('\n');
        failure.message.push_str(&refused(error).message);
    }
    Err(failure)
}
