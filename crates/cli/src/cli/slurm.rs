//! The files of a Slurm cluster, for all commands that read them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::Failure;
use crate::cli::input::{Notes, own};
use crate::cli::negotiate::refused;
use crate::cli::policy::{first_given, warn_of_dynamic_quotas};
use crate::cli::settings::contents;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::slurm::{Associations, SlurmConf, read_qos, read_usage};
use classmate_config::internal::config::{Config, ConfigError, Disk};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::priority::slurm::candidate::{Requester, partitions};
use classmate_pool::internal::priority::slurm::usage::Decay;
use classmate_pool::internal::priority::slurm::{Options, SlurmFiles, SlurmSettings, Ties, derive, tree};
use classmate_pool::internal::queue::job::JobId;

/// Files of Slurm, in a directory or each by its own flag.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Slurm")]
pub(super) struct SlurmArguments {
    /// Weights, flags and partitions, instead of POOL/slurm.conf [default: Slurm's defaults]
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
    /// Output of `sacctmgr dump`, instead of POOL/sacctmgr.dump; without it, accounts are the accounting groups
    #[arg(long, value_name = "FILE")]
    associations: Option<PathBuf>,
    /// Output of `sshare -a -m -P`, instead of POOL/sshare.usage; without it, all usage is 0
    #[arg(long, value_name = "FILE")]
    usage: Option<PathBuf>,
    /// Output of `sacctmgr -P show qos`, instead of POOL/sacctmgr.qos; without it, all QOS priorities are 0
    #[arg(long, value_name = "FILE")]
    qos: Option<PathBuf>,
    /// Compute fair share like Slurm 2.0, (S - U + 1) / 2, regardless of the priority flags
    #[arg(long)]
    linear: bool,
    /// How Fair Tree breaks ties between accounts [default: observed]
    #[arg(long, value_enum, value_name = "HOW")]
    ties: Option<TiesName>,
    /// How usage decays [default: linearized]
    #[arg(long, value_enum, value_name = "HOW")]
    decay: Option<DecayName>,
    /// Lines that change the settings.
    #[arg(skip)]
    changes: Vec<String>,
}

/// The names of the files in a pool.
const CONF: &str = "slurm.conf";
const ASSOCIATIONS: &str = "sacctmgr.dump";
const USAGE: &str = "sshare.usage";
const QOS: &str = "sacctmgr.qos";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum TiesName {
    /// Visit each account separately, like all releases of Slurm
    Observed,
    /// Merge the members of tied accounts, as documented
    Documented,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum DecayName {
    /// Factor (1 - 0.693 / half-life) per second, like Slurm
    Linearized,
    /// Exactly half after each half-life
    Exact,
}

/// The source of associations without a dump.
pub(super) struct Stand<'a> {
    /// The negotiator's settings.
    pub(super) config: &'a Config,
    /// The jobs.
    pub(super) jobs: &'a [ClassAd],
}

impl SlurmArguments {
    /// The flag of the first of them that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--slurm-conf", self.slurm_conf.is_some()),
            ("--associations", self.associations.is_some()),
            ("--usage", self.usage.is_some()),
            ("--qos", self.qos.is_some()),
            ("--linear", self.linear),
            ("--ties", self.ties.is_some()),
            ("--decay", self.decay.is_some()),
        ])
    }

    /// The same before settings are replaced: by those of the pool, where it has its own.
    pub(super) fn before(&self, pool: Option<&Path>) -> Self {
        let before = |given: &Option<PathBuf>, name: &str| given.clone().filter(|_| own(pool, name).is_none());
        Self {
            slurm_conf: before(&self.slurm_conf, CONF),
            associations: before(&self.associations, ASSOCIATIONS),
            qos: before(&self.qos, QOS),
            ..self.clone()
        }
    }

    /// Takes a line that changes the settings, if it is one.
    pub(super) fn change(&mut self, line: &str) -> bool {
        let is_mine = SlurmConf::is_line(line);
        if is_mine {
            self.changes.push(line.to_owned());
        }
        is_mine
    }

    /// Reads the files of a pool.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        stand: Option<&Stand<'_>>,
        notes: &mut Notes,
    ) -> Result<SlurmSettings, Failure> {
        // What was asked for must be there; what is only looked for may be missing.
        let found = |given: &Option<PathBuf>, name: &str| given.clone().or_else(|| own(pool, name));
        let text = |path: &Path| Ok::<_, Failure>((path.display().to_string(), contents(path)?));
        let mut warnings = Vec::new();
        let (name, file) = match found(&self.slurm_conf, CONF) {
            Some(path) => text(&path)?,
            None => (String::new(), Vec::new()),
        };
        let (conf, defects) = SlurmConf::read_changed(&name, &file, &Disk, ("--set", &self.changes));
        all_refused(&defects.errors)?;
        warnings.extend(defects.warnings);
        let associations = found(&self.associations, ASSOCIATIONS);
        let dump = associations.is_some();
        let associations = match (associations, stand) {
            (Some(path), _) => {
                let (name, text) = text(&path)?;
                let (associations, _, odd) = tree::read(&name, &text).map_err(|errors| {
                    all_refused(&errors).err().unwrap_or_else(|| {
                        Failure::input(format!(
                            "invalid associations in \
                    `{name}`"
                        ))
                    })
                })?;
                warnings.extend(odd);
                associations
            }
            (None, Some(stand)) => {
                warn_of_dynamic_quotas(stand.config, notes);
                derive::associations(stand.config, stand.jobs, &EvalOptions::default())
                    .map_err(|error| refused(&error))?
            }
            (None, None) => Associations::default(),
        };
        let mut listing = String::new();
        let usage = match found(&self.usage, USAGE) {
            Some(path) => {
                let (name, text) = text(&path)?;
                listing.clone_from(&name);
                read_usage(&name, &text).map_err(|error| refused(&error))?
            }
            None => Vec::new(),
        };
        let qos = match found(&self.qos, QOS) {
            Some(path) => {
                let (name, text) = text(&path)?;
                read_qos(&name, &text).map_err(|error| refused(&error))?
            }
            None => Vec::new(),
        };
        let options = Options {
            linear: self.linear,
            ties: match self.ties {
                None | Some(TiesName::Observed) => Ties::Observed,
                Some(TiesName::Documented) => Ties::Documented,
            },
            decay: match self.decay {
                None | Some(DecayName::Linearized) => Decay::Linearized,
                Some(DecayName::Exact) => Decay::Exact,
            },
        };
        for warning in warnings {
            let help = warning.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
            notes.warn(warning.to_line() + &help);
        }
        let files = SlurmFiles { conf, associations, usage, qos, options };
        let settings = SlurmSettings::new(files)
            .map_err(|errors| all_refused(&errors).err().unwrap_or_else(|| Failure::input("invalid associations")))?;
        for row in settings.unmatched_rows() {
            let user = row.user.as_ref().map(|user| format!(", user `{user}`")).unwrap_or_default();
            let known = row.user.as_ref().and_then(|user| settings.tree().find_user_anywhere(&row.account, user));
            let help = known.map_or("", |_| " (print it with `sshare -a -m -P`, which names partitions)");
            notes.warn(format!(
                "{listing}:{}: skipped usage of account `{}`{user}, which does not belong to an association{help}",
                row.line, row.account
            ));
        }
        if let Some(stand) = stand {
            let unknown = Unknown::of(stand.jobs, &settings, dump);
            unknown.warn(notes);
        }
        Ok(settings)
    }
}

/// Jobs that name what no file knows: how many, and the first of them with what it names.
#[derive(Default)]
struct Unknown {
    associations: Option<(usize, String)>,
    partitions: Option<(usize, String)>,
    qos: Option<(usize, String)>,
}

impl Unknown {
    /// The jobs of a pool that are not done. Without a dump all users have an association.
    fn of(jobs: &[ClassAd], settings: &SlurmSettings, dump: bool) -> Self {
        let evaluation = EvalOptions::default();
        let (tree, conf) = (settings.tree(), settings.conf());
        let mut found = Self::default();
        for ad in jobs {
            let facts = AdReader::of(ad, &evaluation);
            let (Some(cluster), Some(1 | 2 | 5)) = (facts.integer("ClusterId"), facts.integer("JobStatus")) else {
                continue;
            };
            let job = JobId { cluster, process: facts.integer("ProcId").unwrap_or(0) };
            let partitions = partitions(ad, settings, &evaluation);
            let asker = Requester::of_job(facts, tree);
            if dump && asker.association(tree, partitions.first().map(String::as_str)).is_none() {
                let account = asker.account(tree);
                let place = if account.is_empty() { String::new() } else { format!(" in account `{account}`") };
                count(&mut found.associations, || format!("{job} of `{}`{place}", asker.user));
            }
            let unlisted = partitions.iter().find(|name| conf.partition(name).is_none());
            if let Some(name) = unlisted.filter(|_| !conf.partitions.is_empty()) {
                count(&mut found.partitions, || format!("{job} in `{name}`"));
            }
            if let Some(name) = facts.string("QOS").filter(|name| !name.is_empty()) {
                let name = String::from_utf8_lossy(&name).to_lowercase();
                if settings.qos(&name).is_none() {
                    count(&mut found.qos, || format!("{job} with `{name}`"));
                }
            }
        }
        found
    }

    fn warn(self, notes: &mut Notes) {
        let kinds = [
            (self.associations, "without an association in the dump have the fair-share factor 0"),
            (self.partitions, "that request a partition that is not in `slurm.conf`"),
            (self.qos, "that request an unlisted QOS have QOS priority 0 and usage factor 1"),
        ];
        for (found, what) in kinds {
            if let Some((jobs, first)) = found {
                notes.warn(format!("jobs {what}: {jobs}, the first is {first}"));
            }
        }
    }
}

fn count(found: &mut Option<(usize, String)>, first: impl FnOnce() -> String) {
    match found {
        Some((jobs, _)) => *jobs += 1,
        None => *found = Some((1, first())),
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
