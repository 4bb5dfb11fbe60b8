//! The files of a pool, for all commands that read them.

use std::path::{Path, PathBuf};

use crate::cli::input::{self, Notes};
use crate::cli::live::LiveArguments;
use crate::cli::settings::{self, contents};
use crate::cli::slurm::SLURM_CONF;
use crate::cli::submit::SubmitFile;
use crate::cli::{Failure, Now, language, parse_now};
use crate::report::provenance::quoted;
use crate::report::{Color, counted};
use classmate::ClassAd;
use classmate_pool::internal::accountant::{AccountantLog, LogWarning};
use classmate_pool::internal::listing::ListingFormat;
use classmate_pool::internal::negotiate::directory::{AdFiles, PoolAds, SlotAttributes, published_log};
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::{Journal, Snapshot};

/// Files with the slots of a pool, the first of which counts: ads, or the nodes as Slurm lists them.
pub(super) const SLOTS: [&str; 3] = ["slots.ads", "scontrol.nodes", "nodes.json"];

/// Files with the jobs of a pool, the first of which counts: ads, or the jobs as Slurm lists them.
pub(super) const JOBS: [&str; 3] = ["jobs.ads", "squeue.json", "scontrol.jobs"];

/// The files of a pool, in a directory or each by its own flag.
#[derive(clap::Args, Clone, Default, Debug)]
pub(super) struct PoolFiles {
    /// Directory with the files of a pool
    #[arg(required_unless_present_any = ["slots", "collectors"], conflicts_with = "collectors")]
    pub(super) pool: Option<PathBuf>,
    /// Slot ads, instead of POOL/slots.ads
    #[arg(long, value_name = "FILE", conflicts_with = "collectors")]
    pub(super) slots: Option<PathBuf>,
    /// Job ads or a submit file, instead of POOL/jobs.ads
    #[arg(long, value_name = "FILE", conflicts_with = "collectors")]
    pub(super) jobs: Option<PathBuf>,
    /// Submitter ads, instead of POOL/submitters.ads [default: derived from the jobs, also those of a submit file]
    #[arg(long, value_name = "FILE", conflicts_with = "collectors")]
    pub(super) submitters: Option<PathBuf>,
    /// Accountant's log, instead of POOL/Accountantnew.log [default without one: the priorities in POOL/accounting.ads]
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Negotiator configuration, instead of the files in POOL
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long)]
    pub(super) allow_commands: bool,
    /// Current time: seconds since 1970, a date, or `wall` [default: the newest time in the files; `wall` with --pool]
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    pub(super) now: Option<Now>,
    /// Seed of `random()`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) live: LiveArguments,
}

impl PoolFiles {
    /// The directory, if one was given.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.pool.as_deref()
    }

    /// The pool as it is written on a command line, with what decides about it beside its files; none if a path is no text.
    pub(super) fn argument(&self) -> Option<String> {
        let files = [
            ("", &self.pool),
            ("--slots ", &self.slots),
            ("--jobs ", &self.jobs),
            ("--submitters ", &self.submitters),
            ("--log ", &self.log),
            ("--config ", &self.config),
        ];
        let mut words = Vec::new();
        for (option, path) in files.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?))) {
            words.push(format!("{option}{}", quoted(path.to_str()?)));
        }
        words.extend(self.live.words());
        words.extend(self.now.map(|now| match now {
            Now::Wall => "--now wall".to_owned(),
            Now::At(seconds) => format!("--now {seconds}"),
        }));
        words.extend((self.seed != 0).then(|| format!("--seed {}", self.seed)));
        words.extend(self.allow_commands.then(|| "--allow-commands".to_owned()));
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Reads the pool.
    pub(super) fn snapshot(&self, notes: &mut Notes, color: Color) -> Result<Snapshot, Failure> {
        self.read(SlotAttributes::All, false, notes, color)
    }

    /// Reads the pool to explain one cycle of HTCondor's, and a job of it.
    pub(super) fn snapshot_to_explain(&self, job: bool, notes: &mut Notes, color: Color) -> Result<Snapshot, Failure> {
        // What comes through a pipe can be read once only.
        let slots = self.listing(self.slots.as_ref(), SLOTS);
        let twice = slots.is_some_and(|path| std::fs::metadata(path).is_ok_and(|facts| facts.is_file()));
        let kept = match (job, twice) {
            (false, _) => SlotAttributes::Cycle,
            (true, true) => SlotAttributes::Explanation,
            (true, false) => SlotAttributes::All,
        };
        self.read(kept, false, notes, color)
    }

    /// Reads the pool for a job that is submitted to it: it does not have to have jobs.
    pub(super) fn snapshot_to_submit(&self, notes: &mut Notes, color: Color) -> Result<Snapshot, Failure> {
        if self.live.is_given() {
            return self.read_live(SlotAttributes::All, notes, color);
        }
        let jobs = self.listing(self.jobs.as_ref(), JOBS).filter(|path| self.jobs.is_some() || path.exists());
        self.read_with(jobs, SlotAttributes::All, false, notes, color)
    }

    /// Opens the accountant's log for writing.
    pub(super) fn journal(&self, now: i64) -> Result<Journal, Failure> {
        let Some(path) = self.file(self.log.as_ref(), "Accountantnew.log") else {
            return Err(Failure::input("--commit requires an accountant's log").help("name it with --log FILE"));
        };
        Ok(Journal::open(&path, now)?)
    }

    /// A file of a pool: the one that is given, or that of the directory.
    fn file(&self, given: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
        given.cloned().or_else(|| Some(self.pool.as_ref()?.join(name)))
    }

    /// A file of ads: the one that is given, or the first that the directory has.
    fn listing(&self, given: Option<&PathBuf>, names: [&str; 3]) -> Option<PathBuf> {
        let own = || names.iter().find_map(|name| input::own(self.directory(), name));
        given.cloned().or_else(own).or_else(|| self.file(None, names[0]))
    }

    /// As [`Self::file`], but a file of the directory may be missing.
    fn optional(&self, given: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
        self.file(given, name).filter(|path| given.is_some() || path.exists() || path.as_os_str() == "-")
    }

    /// Reads the pool with some attributes of its slots. To `commit`, the accountant's log may be missing.
    pub(super) fn read(
        &self,
        kept: SlotAttributes,
        commit: bool,
        notes: &mut Notes,
        color: Color,
    ) -> Result<Snapshot, Failure> {
        if self.live.is_given() {
            if commit {
                return Err(Failure::input("--commit requires an accountant's log, which --pool does not give"));
            }
            return self.read_live(kept, notes, color);
        }
        let Some(jobs) = self.listing(self.jobs.as_ref(), JOBS) else {
            return Err(Failure::input("the jobs of the pool are missing")
                .help("name a file with --jobs FILE, or a directory that has one with POOL"));
        };
        self.read_with(Some(jobs), kept, commit, notes, color)
    }

    /// As [`Self::read`], with a file of jobs or without one.
    fn read_with(
        &self,
        jobs: Option<PathBuf>,
        kept: SlotAttributes,
        commit: bool,
        notes: &mut Notes,
        color: Color,
    ) -> Result<Snapshot, Failure> {
        let help = "to name single files, use --slots FILE and --jobs FILE";
        expect_directory(self.directory(), "slots.ads and jobs.ads", help)?;
        let optional = |given: &Option<PathBuf>, name: &str| self.optional(given.as_ref(), name);
        let config = settings::pool(self.config.as_deref(), self.directory(), self.allow_commands, color)?;
        config.warnings().iter().for_each(|warning| notes.warn(warning.to_line()));
        let maps = settings::user_maps(&config, notes)?;
        let log = match optional(&self.log, "Accountantnew.log") {
            Some(path) => Some(read_log(&path, commit, notes)?),
            None => {
                let options = language::settings().parse_options();
                let published = |pool: &Path| published_log(&pool.join("accounting.ads"), &options, input::ad_input);
                self.directory().map(published).transpose()?.flatten()
            }
        };
        let slots = self.listing(self.slots.as_ref(), SLOTS);
        let configured = || input::own(self.directory(), SLURM_CONF).is_some();
        let slots = slots.filter(|path| self.slots.is_some() || path.exists() || !configured());
        let others = |names: [&str; 3]| format!("also read are Slurm's listings {} and {}", names[1], names[2]);
        let checked = |path: &Path| input::check(path).map_err(|failure| failure.help(&others(SLOTS)));
        slots.as_deref().map(checked).transpose()?;
        let of_slurm = jobs.clone().filter(|path| JOBS[1..].iter().any(|name| path.ends_with(name)));
        let submitted = self.jobs.as_deref().map(SubmitFile::detect).transpose()?.flatten();
        let jobs = jobs.filter(|_| submitted.is_none());
        // What the jobs of a submit file refer to is known only when the pool has been read.
        let kept = if submitted.is_some() { SlotAttributes::All } else { kept };
        // The submitters of a directory are those of its own jobs.
        let submitters = optional(&self.submitters, "submitters.ads");
        let submitters = submitters.filter(|_| submitted.is_none() || self.submitters.is_some());
        let files = AdFiles { slots, jobs, submitters };
        let given = [files.slots.clone(), files.jobs.clone(), files.submitters.clone()];
        let PoolAds { slots, unkept, jobs, submitters, reports } = files.read(&config, kept, input::ad_input)?;
        for file in reports {
            notes.add_file(file);
        }
        if let Some(path) = of_slurm.filter(|_| !jobs.iter().any(|ad| ad.contains("ClusterId"))) {
            expect_jobs(&path)?;
        }
        let is_job = |ad: &ClassAd| ad.contains("ClusterId") || ad.contains("ProcId");
        let is_submitter = |ad: &ClassAd| ad.contains("Name") && !(is_slot(ad) && ad.contains("MyType"));
        let requesting = submitters.as_deref().unwrap_or_default();
        let kinds = [
            (slots.len(), slots.iter().any(is_named_slot), SLOTS_OF.0, SLOTS_OF.1),
            (jobs.len(), jobs.iter().any(is_job), "jobs", "condor_q -allusers -long"),
            (requesting.len(), requesting.iter().any(is_submitter), "submitters", "condor_status -submitters -long"),
        ];
        for ((ads, has_kind, kind, tool), path) in kinds.into_iter().zip(given) {
            if let Some(path) = path.filter(|_| !has_kind) {
                expect_kind(&path, ads, (kind, tool), notes)?;
                // A queue can be empty.
                if kind == SLOTS_OF.0 {
                    let name = input::shown_name(&path);
                    notes.warn(format!("`{name}` contains no {kind}; expected the output of `{tool}`"));
                }
            }
        }
        // A directory with submitters comes from a pool, which has priorities.
        if let Some(directory) =
            self.directory().filter(|_| log.is_none() && submitters.as_ref().is_some_and(|ads| ads.len() > 1))
        {
            let text = "has no Accountantnew.log or accounting.ads: all submitters have the same priority";
            notes.warn(format!("`{}` {text}", directory.display()));
        }
        let seed = self.seed;
        let mut snapshot = Snapshot { config, slots, unkept, jobs, submitters, log, maps, seed, ..Snapshot::default() };
        snapshot.now = self.now.map_or_else(|| snapshot.newest_time(), Now::seconds);
        if let Some(file) = submitted {
            file.add_to(&mut snapshot)?;
        }
        Ok(snapshot)
    }

    /// Reads a live pool.
    fn read_live(&self, kept: SlotAttributes, notes: &mut Notes, color: Color) -> Result<Snapshot, Failure> {
        // What is given replaces what the pool has.
        let config = self.config.as_deref().map(|path| settings::pool(Some(path), None, self.allow_commands, color));
        let config = config.transpose()?;
        let log = self.log.as_deref().map(|path| read_log(path, false, notes)).transpose()?;
        let mut read = self.live.read(kept, config, log.is_some(), notes)?;
        if let Some(log) = log {
            read.snapshot.log = Some(log);
        }
        read.snapshot.maps = settings::user_maps(&read.snapshot.config, notes)?;
        read.snapshot.seed = self.seed;
        read.snapshot.now = self.now.unwrap_or(Now::Wall).seconds();
        Ok(read.snapshot)
    }
}

/// The ads of slots, and the command that prints them.
const SLOTS_OF: (&str, &str) = ("slots", "condor_status -long");

/// True if an ad is that of a slot that a cycle considers.
fn is_named_slot(ad: &ClassAd) -> bool {
    is_slot(ad) && ad.contains("Name")
}

/// Fails if none of the ads of a file is that of a slot.
pub(super) fn expect_slots(path: &Path, ads: &[ClassAd], notes: &Notes) -> Result<(), Failure> {
    if ads.iter().any(is_named_slot) {
        return Ok(());
    }
    expect_kind(path, ads.len(), SLOTS_OF, notes)?;
    Err(Failure::input(format!("`{}` does not contain any slots", input::shown_name(path))))
}

/// Fails if a file that is not empty has none of the ads that are wanted of it, but a number of others.
fn expect_kind(path: &Path, others: usize, (kind, tool): (&str, &str), notes: &Notes) -> Result<(), Failure> {
    let name = input::shown_name(path);
    let found = match others {
        0 if !notes.any_of(&name) => return Ok(()),
        0 => format!("no {kind}"),
        _ => format!("no {kind}, but {} of another kind", counted(others as u64, "ad")),
    };
    let failure = Failure::input(format!("`{name}` contains {found}"));
    let failure = failure.help(&format!("expected the output of `{tool}`"));
    // Notes are not shown after a failure, and they give the reason.
    let reasons = notes.lines(Color::Off);
    Err(if reasons.is_empty() { failure } else { failure.after(&reasons) })
}

/// Fails if a file that is not empty lists no jobs of Slurm.
fn expect_jobs(path: &Path) -> Result<(), Failure> {
    let text = contents(path)?;
    if text.trim_ascii().is_empty() {
        return Ok(());
    }
    if ListingFormat::detect(&text).is_some() {
        return Err(Failure::input(format!("`{}` lists no jobs", path.display()))
            .help("the queue was empty; list it again while jobs wait"));
    }
    Err(Failure::input(format!("`{}` does not contain jobs", path.display()))
        .help("expected the output of `squeue --json` or `scontrol -o show jobs`"))
}

/// Reads an accountant's log; to `commit`, it may be missing.
fn read_log(path: &Path, commit: bool, notes: &mut Notes) -> Result<AccountantLog, Failure> {
    let text = if commit && !path.exists() { Vec::new() } else { contents(path)? };
    parse_log(path, &text, notes)
        .map_err(|failure| failure.help("expected a complete copy of the negotiator's Accountantnew.log"))
}

/// Parses the text of an accountant's log.
pub(super) fn parse_log(path: &Path, text: &[u8], notes: &mut Notes) -> Result<AccountantLog, Failure> {
    let log = AccountantLog::read(text).map_err(|error| Failure::input(format!("`{}`: {error}", path.display())))?;
    let is_empty = log.iter().next().is_none() && log.sequence().is_none() && log.transactions() == 0;
    if is_empty && log.warnings().iter().any(|warning| matches!(warning, LogWarning::UnfinishedLine(1))) {
        return Err(Failure::input(format!("`{}` is not an accountant's log", path.display())));
    }
    // The end of a log that is being written is not complete; all else that is skipped is missing.
    if log.warnings().iter().any(|warning| matches!(warning, LogWarning::NoRecord(_))) {
        notes.skipped();
    }
    notes.warn_by_kind(log.warnings().iter().map(|warning| warning.to_line(path)));
    Ok(log)
}

/// Fails if the path of a pool is not a directory.
pub(super) fn expect_directory(pool: Option<&Path>, contents: &str, help: &str) -> Result<(), Failure> {
    let Some(pool) = pool.filter(|pool| !pool.is_dir()) else { return Ok(()) };
    let what = if pool.exists() { "is not a directory" } else { "does not exist" };
    Err(Failure::new(format!("`{}` {what}: expected a directory with {contents}", pool.display())).help(help))
}
