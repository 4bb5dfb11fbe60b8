//! The files of a Slurm cluster, for all commands that read them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::cli::input::{Notes, own};
use crate::cli::policy::{first_given, warn_of_dynamic_quotas};
use crate::cli::pool::{JOBS, SLOTS};
use crate::cli::settings::contents;
use crate::cli::{Failure, language, words};
use classmate::ClassAd;
use classmate_config::internal::config::Disk;
use classmate_config::internal::config::slurm::{Release, TresWeights, read_qos, read_usage};
use classmate_config::{Config, ConfigError, SlurmConf};
use classmate_pool::JobId;
use classmate_pool::internal::listing::node_ads;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::priority::slurm::candidate::{Requester, partitions};
use classmate_pool::internal::priority::slurm::usage::Decay;
use classmate_pool::internal::priority::slurm::{Options, SlurmFiles, SlurmSettings, Ties, derive, tree};

/// Files of Slurm, in a directory or each by its own flag.
#[derive(clap::Args, Clone, Default, Debug)]
#[command(next_help_heading = "Slurm")]
pub(super) struct SlurmArguments {
    /// Weights, flags and partitions, instead of POOL/slurm.conf [default: Slurm's defaults]
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
    /// Output of `sacctmgr dump`, instead of POOL/sacctmgr.dump; without it, accounts are the accounting groups
    #[arg(long, value_name = "FILE")]
    associations: Option<PathBuf>,
    /// Output of `scontrol -o show assoc_mgr flags=assoc` or `sshare -a -m -P`, instead of `POOL/scontrol.assoc_mgr` or
    /// POOL/sshare.usage; without it, all usage is 0
    #[arg(long, value_name = "FILE")]
    usage: Option<PathBuf>,
    /// Output of `sacctmgr -P show qos`, instead of POOL/sacctmgr.qos; without it, the QOS lines of the dump count
    #[arg(long, value_name = "FILE")]
    qos: Option<PathBuf>,
    /// Compute fair share like Slurm 2.0, (S - U + 1) / 2, regardless of the priority flags
    #[arg(long)]
    linear: bool,
    /// How Fair Tree breaks ties between accounts [default: observed]
    #[arg(long, value_parser = words(&TIES), value_name = "HOW")]
    ties: Option<Ties>,
    /// Slurm release whose output to print [default: what the files show, else the newest]
    #[arg(long, value_name = "YY.MM", value_parser = release)]
    release: Option<Release>,
    /// Under `DEPTH_OBLIVIOUS`, compute what Slurm shows before `sshare` is called for the first time
    #[arg(long)]
    first_look: bool,
    /// How usage decays [default: linearized]
    #[arg(long, value_parser = words(&DECAYS), value_name = "HOW")]
    decay: Option<Decay>,
    /// Lines that change the settings.
    #[arg(skip)]
    changes: Vec<String>,
}

/// The names of the files in a pool.
pub(super) const SLURM_CONF: &str = "slurm.conf";
/// The configuration as Slurm prints it, in two files.
const PRINTED: [&str; 2] = ["scontrol.config", "scontrol.partitions"];
pub(super) const ASSOCIATIONS: &str = "sacctmgr.dump";
const RECORDS: &str = "scontrol.assoc_mgr";
const USAGE: &str = "sshare.usage";
const QOS: &str = "sacctmgr.qos";

/// Tests if a pool is a cluster of Slurm: it has one of Slurm's files.
pub(super) fn is_cluster(pool: &Path) -> bool {
    let files = [SLURM_CONF, ASSOCIATIONS, RECORDS, USAGE].into_iter().chain(PRINTED);
    let listings = JOBS[1..].iter().chain(&SLOTS[1..]).copied();
    files.chain(listings).any(|name| own(Some(pool), name).is_some())
}

const TIES: [(&str, &str, Ties); 2] = [
    ("observed", "Visit each account separately, like all releases of Slurm", Ties::Observed),
    ("documented", "Merge the members of tied accounts, as documented", Ties::Documented),
];

const DECAYS: [(&str, &str, Decay); 2] = [
    ("linearized", "Factor (1 - 0.693 / half-life) per second, like Slurm", Decay::Linearized),
    ("exact", "Exactly half after each half-life", Decay::Exact),
];

impl SlurmArguments {
    /// The first flag that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--slurm-conf", self.slurm_conf.is_some()),
            ("--associations", self.associations.is_some()),
            ("--usage", self.usage.is_some()),
            ("--qos", self.qos.is_some()),
            ("--linear", self.linear),
            ("--ties", self.ties.is_some()),
            ("--release", self.release.is_some()),
            ("--first-look", self.first_look),
            ("--decay", self.decay.is_some()),
        ])
    }

    /// The arguments before settings are replaced: the pool's own files, where it has them.
    pub(super) fn before(&self, pool: Option<&Path>) -> Self {
        let before = |given: &Option<PathBuf>, name: &str| given.clone().filter(|_| own(pool, name).is_none());
        Self {
            slurm_conf: before(&self.slurm_conf, SLURM_CONF),
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

    /// Returns true if associations are given apart from the directory.
    pub(super) fn has_associations(&self) -> bool {
        self.associations.is_some()
    }

    /// Reads the files of a pool. If it has no slots, the nodes of the configuration are added.
    pub(super) fn read(
        &self,
        pool: Option<&Path>,
        config: &Config,
        snapshot: (&mut Vec<ClassAd>, &[ClassAd]),
        notes: &mut Notes,
    ) -> Result<SlurmSettings, Failure> {
        let (slots, jobs) = snapshot;
        // A file that was named must exist; a file of the pool may be missing.
        let found = |given: &Option<PathBuf>, name: &str| given.clone().or_else(|| own(pool, name));
        let text = |path: &Path| Ok::<_, Failure>((path.display().to_string(), contents(path)?));
        let mut warnings = Vec::new();
        let files: Vec<PathBuf> = match (&self.slurm_conf, own(pool, SLURM_CONF)) {
            (Some(path), _) => vec![path.clone()],
            // Partitions can be changed while Slurm runs.
            (None, Some(path)) => std::iter::once(path).chain(own(pool, PRINTED[1])).collect(),
            (None, None) => PRINTED.iter().filter_map(|name| own(pool, name)).collect(),
        };
        let texts = files.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>()?;
        let (conf, defects) = SlurmConf::read_all(&texts, &Disk, ("--set", &self.changes));
        all_refused(&defects.errors)?;
        // Slurm does not list the nodes of a cloud that are off, but counts them.
        if slots.iter().all(|ad| ad.contains("SlurmState")) {
            let options = language::settings();
            let name = |ad: &ClassAd| AdReader::of(ad, &options).string("Machine").map(|name| name.to_vec());
            let listed: HashSet<_> = slots.iter().filter_map(name).collect();
            let nodes = node_ads(&conf.nodes).map_err(Failure::input)?;
            slots.extend(nodes.into_iter().filter(|ad| !name(ad).is_some_and(|name| listed.contains(&name))));
        }
        warnings.extend(defects.warnings);
        let associations = found(&self.associations, ASSOCIATIONS);
        let dump = associations.is_some();
        let associations = match associations {
            Some(path) => {
                let (name, text) = text(&path)?;
                let (associations, _, found) = tree::read(&name, &text).map_err(|errors| {
                    let invalid = || Failure::input(format!("invalid associations in `{name}`"));
                    all_refused(&errors).err().unwrap_or_else(invalid)
                })?;
                warnings.extend(found);
                associations
            }
            None => {
                warn_of_dynamic_quotas(config, notes);
                derive::associations(config, jobs, &language::settings())?
            }
        };
        let mut listing = String::new();
        let printed = |ad: &ClassAd| AdReader::of(ad, &language::settings()).string("SlurmRelease");
        let printed = jobs.first().and_then(printed).map(|name| String::from_utf8_lossy(&name).into_owned());
        let mut release = conf.release.or_else(|| Release::parse(&printed?));
        let usage = match self.usage.clone().or_else(|| own(pool, RECORDS)).or_else(|| own(pool, USAGE)) {
            Some(path) => {
                let (name, text) = text(&path)?;
                listing.clone_from(&name);
                release = release.or_else(|| Release::of_associations(&text));
                read_usage(&name, &text)?
            }
            None => Vec::new(),
        };
        let qos = match found(&self.qos, QOS) {
            Some(path) => {
                let (name, text) = text(&path)?;
                release = release.or_else(|| Release::of_qos(&text));
                read_qos(&name, &text)?
            }
            None => associations.qos.clone(),
        };
        let options = Options {
            linear: self.linear,
            ties: self.ties.unwrap_or(Ties::Observed),
            decay: self.decay.unwrap_or(Decay::Linearized),
            first_look: self.first_look,
            release: self.release.or(release).unwrap_or_default(),
        };
        notes.warn_of_slurm(&warnings);
        let files = SlurmFiles { conf, associations, usage, qos, options };
        let settings = SlurmSettings::new(files)
            .map_err(|errors| all_refused(&errors).err().unwrap_or_else(|| Failure::input("invalid associations")))?;
        for row in settings.unmatched_rows() {
            let user = row.user.as_ref().map(|user| format!(", user `{user}`")).unwrap_or_default();
            let known = row.user.as_ref().and_then(|user| settings.tree().find_user_anywhere(&row.account, user));
            let help = known.map_or("", |_| " (print it with `sshare -a -m -P`, which names partitions)");
            notes.skip(format!(
                "{listing}:{}: skipped usage of account `{}`{user}, which does not belong to an association{help}",
                row.line, row.account
            ));
        }
        Unknown::of(jobs, &settings, dump).warn(notes);
        Ok(settings)
    }
}

/// Reads `--release`.
fn release(text: &str) -> Result<Release, String> {
    Release::parse(text).ok_or_else(|| "expected a release such as `22.05`".to_owned())
}

/// Jobs with names that are in no file, or with amounts that cannot be read: their number, and the first of them.
#[derive(Default)]
struct Unknown {
    associations: Option<(usize, String)>,
    partitions: Option<(usize, String)>,
    qos: Option<(usize, String)>,
    amounts: Option<(usize, String)>,
}

impl Unknown {
    /// The jobs of a pool that are not done. Without a dump all users have an association.
    fn of(jobs: &[ClassAd], settings: &SlurmSettings, dump: bool) -> Self {
        let evaluation = language::settings();
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
            let amounts = facts.string("SlurmTres").map(|text| String::from_utf8_lossy(&text).into_owned());
            if let Some(text) = amounts.filter(|text| TresWeights::amounts(text).is_none()) {
                count(&mut found.amounts, || format!("{job} with `{text}`"));
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
            (self.amounts, "whose `SlurmTres` cannot be read have the amounts that they request"),
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
    Err(Failure::from(first.clone()).and(others.iter().cloned().map(Failure::from)))
}
