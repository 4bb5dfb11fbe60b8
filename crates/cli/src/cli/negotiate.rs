//! `classmate negotiate POOL`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::cli::input::{self, Notes};
use crate::cli::policy::PolicyArguments;
use crate::cli::settings::{self, contents};
use crate::cli::stats::{Measured, Report, Stopwatch};
use crate::cli::{Failure, Form, Now, Streams, leaked, parse_now, parsed, written};
use crate::report::{self, Color, outcome};
use classmate::internal::format::long::LongWriter;
use classmate::internal::syntax::parse::ParseOptions;
use classmate_config::internal::config::ConfigError;
use classmate_config::internal::config::disk::io_reason;
use classmate_pool::internal::accountant::{Journal, JournalError, Log};
use classmate_pool::internal::negotiate::advertisement::advertisement;
use classmate_pool::internal::negotiate::commit::CommitError;
use classmate_pool::internal::negotiate::directory::{AdFiles, PoolAds, SlotAttributes};
use classmate_pool::internal::negotiate::{CycleOptions, Matcher, Outcome, PreparedPool, Purpose, Snapshot, commit};
use classmate_pool::internal::pool::slot::copies;
use classmate_pool::internal::simulate::replay::{ReplayPlan, replay};

/// Run a negotiation cycle as `condor_negotiator` would.
///
/// Shows the matches of each submitter and why the remaining jobs did not match. POOL is a directory with the output of
/// HTCondor's tools: `slots.ads` (`condor_status -long`) and `jobs.ads` (`condor_q -allusers -long`). Optional files
/// are `submitters.ads` (`condor_status -submitters -long`), `Accountantnew.log` (from the negotiator's spool
/// directory) and the negotiator's configuration: `condor_config`, then the files in `config.d` in alphabetical order,
/// then `config`. An option can replace each file. Read-only unless --commit is given.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate negotiate examples/pool
  classmate negotiate examples/pool --matches none --format json
  classmate negotiate examples/pool --ad
  classmate negotiate examples/slurm --policy slurm
  classmate negotiate examples/pool --commit      update examples/pool/Accountantnew.log
  classmate negotiate examples/pool --cycles 24 --interval 3600 --run-time 7200
  classmate negotiate --slots slots.ads.gz --jobs jobs.ads --log Accountantnew.log

Exit status: 0 if the cycle ran, 1 if a file cannot be read, 2 if a file or an option is invalid.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct Arguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Charge the cycle to the accountant's log: decay, usage and matches in one transaction
    #[arg(long)]
    commit: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    /// Print only the statistics, as attributes of the negotiator ad in the long format
    #[arg(long, conflicts_with_all = ["format", "matches", "stats"])]
    ad: bool,
    /// Also print the time and memory of each phase and the number of slot and request classes (in JSON: part of
    /// `statistics`)
    #[arg(long)]
    stats: bool,
    /// Evaluate slots one by one, like `condor_negotiator` (slower, same result)
    #[arg(long)]
    reference_path: bool,
    /// Number of threads [default: all CPUs]; does not affect the result
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Number of matches to list: `all`, `none` or a number
    #[arg(long, value_name = "HOW MANY", default_value = "all")]
    matches: Shown,
    /// Run N cycles: matched jobs run, completed jobs leave the queue, and priorities are updated
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["ad", "matches", "stats", "reference_path"],
          value_parser = clap::value_parser!(u32).range(1..))]
    cycles: Option<u32>,
    /// Seconds from one cycle to the next [default: `NEGOTIATOR_INTERVAL`]
    #[arg(long, value_name = "SECONDS", requires = "cycles", value_parser = clap::value_parser!(i64).range(1..))]
    interval: Option<i64>,
    /// Run time of a job: seconds, or an expression over the job with the slot as TARGET [default: jobs never end]
    #[arg(long, value_name = "EXPR", requires = "cycles")]
    run_time: Option<String>,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// The files of a pool, in a directory or each by its own flag.
#[derive(clap::Args, Debug)]
pub(super) struct PoolFiles {
    /// Directory with the files of a pool
    #[arg(required_unless_present_all = ["slots", "jobs"])]
    pool: Option<PathBuf>,
    /// Slot ads, instead of POOL/slots.ads
    #[arg(long, value_name = "FILE")]
    slots: Option<PathBuf>,
    /// Job ads, instead of POOL/jobs.ads
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,
    /// Submitter ads, instead of POOL/submitters.ads [default: derived from the jobs]
    #[arg(long, value_name = "FILE")]
    submitters: Option<PathBuf>,
    /// Accountant's log, instead of POOL/Accountantnew.log; without one, all users start at the minimum priority
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Negotiator configuration, instead of the files in POOL
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long)]
    pub(super) allow_commands: bool,
    /// Current time: seconds since 1970, a date, or `wall` [default: the newest time in the files]
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    now: Option<Now>,
    /// Seed of `random()`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

impl PoolFiles {
    /// The files of a directory, perhaps with other settings.
    pub(super) fn of(pool: &Path, config: Option<&Path>, allow_commands: bool, now: Option<Now>) -> Self {
        let (slots, jobs, submitters, log) = (None, None, None, None);
        let (pool, config) = (Some(pool.to_owned()), config.map(Path::to_owned));
        Self { pool, slots, jobs, submitters, log, config, allow_commands, now, seed: 0 }
    }

    /// The directory, if one was given.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.pool.as_deref()
    }
}

/// How many matches are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shown(usize);

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Shown(usize::MAX)),
            "none" => Ok(Shown(0)),
            number => number.parse().map(Shown).map_err(|_| "expected `all`, `none` or a number".to_owned()),
        }
    }
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    if let Some(threads) = arguments.threads {
        // A pool of threads that is there already stays: then this process has run a cycle before.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global();
    }
    let mut watch = Stopwatch::start();
    let mut notes = Notes::default();
    // Several cycles change slots, other policies ask them more, and the slow path is there for doubt.
    let less = arguments.policy.is_condor() && arguments.cycles.is_none() && !arguments.reference_path;
    let kept = if less { SlotAttributes::Cycle } else { SlotAttributes::All };
    let files = &arguments.files;
    let how = How { config: files.config.as_deref(), commit: arguments.commit, kept };
    let snapshot = leaked(read(files, &how, &mut notes, streams.err)?);
    let policy = arguments.policy.read(arguments.files.directory(), snapshot, &mut notes)?;
    snapshot.policy = policy;
    if arguments.commit && !snapshot.policy.uses_accountant() {
        return Err(Failure::input("--commit updates the HTCondor accountant, so it requires --policy condor")
            .help("remove --commit"));
    }
    // The books are locked and read again before the cycle: nobody writes to them in between.
    let mut journal = if arguments.commit { Some(books(&arguments.files, snapshot.now)?) } else { None };
    if let Some(journal) = &journal {
        snapshot.log = Some(journal.log().clone());
    }
    notes.show(streams.err);
    if let Some(cycles) = arguments.cycles {
        return play(arguments, cycles, std::mem::take(snapshot), journal, streams);
    }
    // Only --commit reads the slots again.
    let slots = if arguments.commit { copies(&snapshot.slots) } else { std::mem::take(&mut snapshot.slots) };
    let pool = PreparedPool::prepare(snapshot, slots, Purpose::Cycle, &mut watch).map_err(|error| refused(&error))?;
    let matcher = if arguments.reference_path { Matcher::Reference } else { Matcher::default() };
    let options = CycleOptions { matcher, feasibility: false, observer: Some(&mut watch) };
    let cycle = leaked(pool).negotiate(options).map_err(|error| refused(&error))?;
    watch.stop();
    let measured = Measured::new(watch, &cycle);
    let outcome = leaked(cycle.outcome);
    if let Some(journal) = &mut journal {
        commit(snapshot, outcome, journal).map_err(|error| not_charged(&error))?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        _ if arguments.ad => {
            let mut text = Vec::new();
            let kept = snapshot.config.integer("NEGOTIATION_CYCLE_STATS_LENGTH", 3, 0, 100);
            let kept = kept.map_err(|error| refused(&error))?;
            LongWriter::default().write(&mut text, &advertisement(outcome, snapshot.now, kept > 0));
            out.write_all(&text)
        }
        Form::Json if arguments.stats => serde_json::to_writer_pretty(&mut out, &Report::new(outcome, &measured))
            .map_err(Into::into)
            .and_then(|()| writeln!(out)),
        Form::Json => serde_json::to_writer_pretty(&mut out, outcome).map_err(Into::into).and_then(|()| writeln!(out)),
        Form::Table if arguments.stats => print(&mut out, outcome, arguments.matches.0, streams)
            .and_then(|()| writeln!(out))
            .and_then(|()| measured.write(&mut out)),
        Form::Table => print(&mut out, outcome, arguments.matches.0, streams),
    };
    written(printed.and_then(|()| out.flush()))
}

/// Plays several cycles.
fn play(
    arguments: &Arguments,
    cycles: u32,
    snapshot: Snapshot,
    mut journal: Option<Journal>,
    streams: Streams,
) -> Result<(), Failure> {
    let interval = match arguments.interval {
        Some(interval) => interval,
        None => {
            let read = snapshot.config.integer("NEGOTIATOR_INTERVAL", 60, 1, i64::from(i32::MAX));
            read.map_err(|error| refused(&error))?
        }
    };
    let run_time = arguments.run_time.as_deref();
    let run_time = run_time.map(|text| parsed(text.as_bytes(), "--run-time", &ParseOptions::default(), streams));
    let plan = ReplayPlan { cycles, interval, run_time: run_time.transpose()? };
    let book = |snapshot: &Snapshot, outcome: &Outcome| match &mut journal {
        Some(journal) => commit(snapshot, outcome, journal).map(|()| Some(journal.log().clone())),
        None => Ok(None),
    };
    let progress = input::steps(u64::from(cycles), "cycle");
    let mut played = Vec::new();
    let done = replay(snapshot, &plan, book, |cycle| {
        progress.inc(1);
        played.push(cycle);
    });
    progress.finish_and_clear();
    done.map_err(|error| not_charged(&error))?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        Form::Json => {
            let cycles = serde_json::json!({ "cycles": played });
            serde_json::to_writer_pretty(&mut out, &cycles).map_err(Into::into).and_then(|()| writeln!(out))
        }
        Form::Table => report::replay::write(&mut out, &played, streams.out),
    };
    written(printed.and_then(|()| out.flush()))
}

fn not_charged(error: &CommitError) -> Failure {
    match error {
        CommitError::Config(error) => refused(error),
        CommitError::Journal(error) => not_written(error),
    }
}

/// Opens the accountant's log for writing.
fn books(arguments: &PoolFiles, now: i64) -> Result<Journal, Failure> {
    let path = arguments.log.clone().or_else(|| Some(arguments.pool.as_ref()?.join("Accountantnew.log")));
    let Some(path) = path else {
        return Err(Failure::input("--commit requires an accountant's log").help("name it with --log FILE"));
    };
    Journal::open(&path, now).map_err(|error| not_written(&error))
}

/// A log that cannot be written, with what to do about it.
pub(super) fn not_written(error: &JournalError) -> Failure {
    let message = match error {
        JournalError::File { what, path, source } => {
            format!("cannot {what} `{}`: {}", path.display(), io_reason(source))
        }
        other => other.to_string(),
    };
    let failure = match error {
        JournalError::Corrupt { .. } | JournalError::Unwritable(_) => Failure::input(message),
        _ => Failure::new(message),
    };
    failure.help(error.help())
}

fn print(out: &mut impl Write, result: &Outcome, matches: usize, streams: Streams) -> std::io::Result<()> {
    outcome::write(out, result, matches, streams.out)
}

pub(super) fn snapshot(
    arguments: &PoolFiles,
    commit: bool,
    notes: &mut Notes,
    color: Color,
) -> Result<Snapshot, Failure> {
    read(arguments, &How { config: arguments.config.as_deref(), commit, kept: SlotAttributes::All }, notes, color)
}

/// The pool to explain one cycle of HTCondor's, and a job of it.
pub(super) fn snapshot_to_explain(
    arguments: &PoolFiles,
    job: bool,
    notes: &mut Notes,
    color: Color,
) -> Result<Snapshot, Failure> {
    // What comes through a pipe can be read once only.
    let slots = file(arguments, arguments.slots.as_ref(), "slots.ads");
    let twice = slots.is_some_and(|path| std::fs::metadata(path).is_ok_and(|facts| facts.is_file()));
    let kept = match (job, twice) {
        (false, _) => SlotAttributes::Cycle,
        (true, true) => SlotAttributes::Explanation,
        (true, false) => SlotAttributes::All,
    };
    read(arguments, &How { config: arguments.config.as_deref(), commit: false, kept }, notes, color)
}

/// The pool with its own settings, whatever `--config` says.
pub(super) fn snapshot_but_settings(
    arguments: &PoolFiles,
    notes: &mut Notes,
    color: Color,
) -> Result<Snapshot, Failure> {
    read(arguments, &How { config: None, commit: false, kept: SlotAttributes::All }, notes, color)
}

/// A file of a pool: the one that is given, or that of the directory.
fn file(arguments: &PoolFiles, given: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
    given.cloned().or_else(|| arguments.pool.as_ref().map(|pool| pool.join(name)))
}

/// How a pool is read.
struct How<'a> {
    /// The settings, instead of the pool's own.
    config: Option<&'a Path>,
    /// Whether the books are going to be written.
    commit: bool,
    /// What is kept of slots.
    kept: SlotAttributes,
}

fn read(
    arguments: &PoolFiles,
    &How { config, commit, kept }: &How<'_>,
    notes: &mut Notes,
    color: Color,
) -> Result<Snapshot, Failure> {
    if let Some(pool) = &arguments.pool
        && !pool.is_dir()
    {
        let what = if pool.exists() { "is not a directory" } else { "does not exist" };
        return Err(Failure::new(format!(
            "`{}` {what}: expected a directory with slots.ads and jobs.ads",
            pool.display()
        ))
        .help("to name single files, use --slots FILE and --jobs FILE"));
    }
    let file = |given: &Option<PathBuf>, name: &str| file(arguments, given.as_ref(), name);
    // What was asked for must be there; what is only looked for may be missing.
    let optional = |given: &Option<PathBuf>, name: &str| {
        file(given, name).filter(|path| given.is_some() || path.exists() || path.as_os_str() == "-")
    };
    let mut warnings = Vec::new();
    let config = settings::pool(config, arguments.pool.as_deref(), arguments.allow_commands, color)?;
    warnings.extend(config.warnings().iter().map(classmate::Diagnostic::to_line));
    let (maps, odd) = settings::user_maps(&config)?;
    warnings.extend(odd);
    let log = match optional(&arguments.log, "Accountantnew.log") {
        Some(path) => {
            let text = if commit && !path.exists() { Vec::new() } else { contents(&path)? };
            let log = Log::read(&text).map_err(|error| {
                Failure::input(format!("`{}`: {error}", path.display()))
                    .help("expected a complete copy of the negotiator's Accountantnew.log")
            })?;
            warnings.extend(log.warnings().iter().map(|warning| warning.to_line(&path)));
            Some(log)
        }
        None => None,
    };
    let slots = file(&arguments.slots, "slots.ads");
    slots.as_deref().map(input::check).transpose()?;
    let jobs = file(&arguments.jobs, "jobs.ads");
    let files = AdFiles { slots, jobs, submitters: optional(&arguments.submitters, "submitters.ads") };
    let PoolAds { slots, unkept, jobs, submitters, reports } = files.read(&config, kept, input::ad_input)?;
    for (name, report) in reports {
        notes.add(&name, &report);
    }
    let (maps, seed) = (Arc::new(maps), arguments.seed);
    let mut snapshot = Snapshot { config, slots, unkept, jobs, submitters, log, maps, seed, ..Snapshot::default() };
    for warning in warnings {
        notes.warn(warning);
    }
    snapshot.now = arguments.now.map_or_else(|| snapshot.newest_time(), Now::seconds);
    Ok(snapshot)
}

pub(super) fn refused(error: &ConfigError) -> Failure {
    let failure = Failure::input(error.to_line());
    match &error.help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
