//! `classmate simulate --workload FILE`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::cli::input::{self, Notes};
use crate::cli::library::{Progress, Watch};
use crate::cli::negotiate::interval;
use crate::cli::policy::PolicyArguments;
use crate::cli::provenance::{command_line, files_read, sums};
use crate::cli::settings::{self, contents};
use crate::cli::version::version;
use crate::cli::{
    Failure, Form, FormatArguments, Now, Reply, Streams, language, object, parse_now, parsed, print, print_result,
    raw_output, whatif, write_file, write_json,
};
use crate::report::provenance::provenance_line;
use crate::report::simulated::{self, html};
use classmate::EvalOptions;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::simulate::result::Provenance;
use classmate_pool::internal::simulate::{JobRun, NeverStarted, SimulationRun, job_run, simulate_jobs};
use classmate_pool::internal::workload::{Fault, job_ads, swf};
use classmate_pool::{Cluster, SimulationPlan, SlotCluster, Snapshot, UniformCluster, Workload};

/// Simulate a workload under a scheduling policy.
///
/// Reports waiting times and shares. A workload is a trace in the Standard Workload Format (`.swf`, `.swf.gz`) or a
/// file of job ads, each with its submission time (`QDate`) and a run time. Jobs arrive, wait, run and complete; at a
/// fixed interval the negotiator runs a cycle, if there are free cores for an idle job. Time advances from event to
/// event, so months take seconds.
///
/// By default, the pool is N identical cores, like one partitionable slot that has everything else the jobs request: no
/// job is preempted, and only cores and concurrency limits restrict jobs. With --pool, the slots of a pool are used
/// instead, with their Requirements, Rank and preemption, unless --slots is given too. The configuration, the
/// accountant's log and the policy files of the pool are used in both cases.
///
/// In a trace, user 7 of group 3 is the submitter `group3.user7@trace`, which is in the accounting group if the
/// configuration has `GROUP_NAMES = group3`. Malformed lines are reported by line number. Jobs that are too large, were
/// canceled before they ran, or are partial executions are counted. Jobs that are too large or never start are reported
/// with the reason.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate simulate --workload examples/simulate/trace.swf
  classmate simulate --workload examples/simulate/trace.swf --slots 128 --format json
  classmate simulate --workload examples/simulate/trace.swf --policy slurm --pool examples/slurm
  classmate simulate --workload examples/simulate/trace.swf --slots 128 --until 86400
  classmate simulate --workload examples/pool/jobs.ads --slots 20 --run-time 'RequestCpus * 600'
  classmate simulate --workload examples/simulate/trace.swf --slots 128 --report runs/condor
  classmate simulate --workload examples/simulate/trace.swf --job-times waits.swf

Columns:
  WAIT      time from submission to the first start, for jobs that started
  LONGEST   longest wait, including jobs that never started
  SLOWDOWN  mean of (end - submission) / run time over completed jobs, with a run time of at least 10 s
  SHARE     core-seconds in use as a fraction of all core-seconds in use
  ENTITLED  its entitled share while it had jobs queued, as a fraction of the pool: the mean over the cycles

Exit status: 0 if the simulation ran, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
pub(super) struct SimulateArguments {
    /// Trace or file of job ads (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// Directory with the slots, the configuration, the accountant's log and the policy files of a pool
    #[arg(long, value_name = "POOL")]
    pool: Option<PathBuf>,
    /// Number of identical cores [default: the slots of the pool, otherwise the number in the header of the trace]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// Negotiator configuration, instead of the files in POOL
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long)]
    allow_commands: bool,
    /// Stop at this time: seconds since 1970 or a date [default: after the last event]. The clock of a trace starts at
    /// the `UnixStartTime` in its header, otherwise at 0
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    until: Option<Now>,
    /// Seconds from one cycle to the next [default: `NEGOTIATOR_INTERVAL`]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..))]
    interval: Option<i64>,
    /// Step size of the shares over time [default: 1/100 of the simulated time, in whole hours]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..))]
    step: Option<i64>,
    /// Run time of a job in a file of ads: seconds, or an expression over the job
    #[arg(long, value_name = "EXPR", default_value = job_ads::RUN_TIME)]
    run_time: String,
    /// A line to add to the configuration, or a Slurm or DIRAC parameter under that policy, such as
    /// `PRIORITY_HALFLIFE = 3600`; repeatable
    #[arg(long = "set", value_name = "LINE")]
    set: Vec<String>,
    /// Move each submission by a random time of at most this, earlier or later: shows how much a result depends on
    /// details of the trace
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..))]
    shake: Option<i64>,
    /// Also write the times of each job to this file: `.swf` for the trace with the simulated waiting times, otherwise
    /// CSV; repeatable
    #[arg(long, value_name = "FILE")]
    job_times: Vec<PathBuf>,
    /// Also write the run to this directory, created if it does not exist: `run.json`, `submitters.csv`, `steps.csv`,
    /// `jobs.csv` and the report `index.html` with plots
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: FormatArguments,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Maximum number of jobs of a kind that are listed one by one.
const MAX_LISTED: usize = 20;

pub(super) fn run(arguments: &SimulateArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let played = played(arguments, command_line(), &progress(), streams, &mut notes);
    notes.show(streams.err);
    let played = played?;
    played.write_files(arguments)?;
    let run = &played.run;
    if arguments.output.format == Form::Csv {
        // The columns of `submitters.csv`.
        return print(raw_output(), |out| simulated::write_csv(out, &run.simulated));
    }
    let rows: Vec<_> = simulated::kinds(&run.simulated)
        .into_iter()
        .flat_map(|(kind, lines)| lines.iter().map(move |line| object(&[("kind", kind.into())], line)))
        .collect();
    let answer = Reply { schema: "simulate/1", result: run, rows: &rows };
    print_result(arguments.output.format, &answer, |out| simulated::write(out, &run.simulated, streams.out))
}

/// A simulation that was run, its workload, and the times of the jobs.
#[derive(Debug)]
pub struct Played {
    /// Its settings and results.
    pub run: SimulationRun,
    /// The jobs.
    pub workload: Workload,
    /// Times of the jobs, in the order of [`Workload::arrivals`].
    pub jobs: Vec<JobRun>,
}

impl Played {
    /// Writes the files that the options name.
    pub(super) fn write_files(&self, arguments: &SimulateArguments) -> Result<(), Failure> {
        let Played { run, workload, jobs } = self;
        if let Some(directory) = &arguments.report {
            report(directory, run)?;
            let file = directory.join("jobs.csv");
            write_file(&file, |file| file, |out| job_run::write_csv(out, workload, jobs))?;
        }
        for path in &arguments.job_times {
            let made = |out: &mut BufWriter<File>| {
                if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("swf")) {
                    let provenance = run.provenance.iter().map(provenance_line).collect::<Vec<_>>();
                    return job_run::write_swf(out, workload, jobs, run.simulated.cores, &provenance);
                }
                job_run::write_csv(out, workload, jobs)
            };
            write_file(path, |file| file, made)?;
        }
        Ok(())
    }
}

/// Runs a simulation. The `command` is the one to record.
pub(super) fn played(
    arguments: &SimulateArguments,
    command: Vec<String>,
    watch: &Watch<'_>,
    streams: Streams,
    notes: &mut Notes,
) -> Result<Played, Failure> {
    let _ = input::take_opened();
    let pool = arguments.pool.as_deref();
    if let Some(pool) = pool.filter(|pool| !pool.is_dir()) {
        return Err(Failure::new(format!("`{}` is not a directory: expected the directory of a pool", pool.display())));
    }
    let config = settings::pool(arguments.config.as_deref(), pool, arguments.allow_commands, streams.err)?;
    for warning in config.warnings() {
        notes.warn(warning.to_line());
    }
    let log = match input::own(pool, "Accountantnew.log") {
        Some(path) => Some(
            AccountantLog::read(&contents(&path)?)
                .map_err(|error| Failure::input(format!("`{}`: {error}", path.display())))?,
        ),
        None => None,
    };
    let mut snapshot = Snapshot { config, log, seed: arguments.seed, ..Snapshot::default() };
    let mut policy = arguments.policy.clone();
    let lines: Vec<&String> = arguments.set.iter().filter(|line| !policy.change(line)).collect();
    whatif::set(&mut snapshot, &lines, notes)?;
    let evaluation = snapshot.settings();
    let rules = Arc::new(Rules::read(&snapshot.config, &evaluation)?);
    let mut workload = workload(arguments, &rules, &evaluation, streams, notes)?;
    let what = if is_trace(&arguments.workload.display().to_string()) { "" } else { "ad " };
    note_faults(&arguments.workload.display().to_string(), what, (&workload.faults, &workload.further), notes);
    if let Some(most) = arguments.shake {
        workload.shake(most, arguments.seed);
    }
    // A policy without a file of its users takes them from the jobs.
    snapshot.jobs = if workload.of_ads() { workload.own_ads() } else { workload.first_ads() };
    let slots = input::own(pool, "slots.ads").filter(|_| arguments.slots.is_none());
    if let Some(path) = &slots {
        snapshot.slots = input::ads(path, &evaluation, notes)?;
    }
    policy.check(None)?;
    snapshot.policy = policy.read_checked(pool, &mut snapshot, notes)?;
    language::note_defects(&snapshot, notes);
    snapshot.jobs = Vec::new();
    if let Some(first) = workload.arrivals.first().map(|job| job.submit)
        && let Some(until) = arguments.until.map(Now::seconds).filter(|until| *until < first)
    {
        notes.warn(format!("no jobs simulated: the first job is submitted at {first}, and --until is {until}"));
    }
    let mut cluster = cluster(arguments.slots, slots.is_some(), &workload, &rules, &mut snapshot)?;
    let interval = interval(arguments.interval, &snapshot.config)?;
    let plan = SimulationPlan { interval, until: arguments.until.map(Now::seconds), step: arguments.step };
    let (total, mut is_stopped) = (workload.arrivals.len() as u64, false);
    let mut each = |now, arrived| {
        let flow = watch(Progress { done: arrived as u64, total, now });
        is_stopped = flow.is_break();
        flow
    };
    let result = simulate_jobs(&workload, &mut *cluster, &plan, &mut each);
    drop(cluster);
    let (simulated, jobs) = result?;
    if is_stopped {
        return Err(Failure::new("interrupted"));
    }
    let files = files_read(&[&snapshot.config]);
    let run = SimulationRun {
        workload: arguments.workload.display().to_string(),
        policy: snapshot.policy.name().to_owned(),
        interval,
        seed: arguments.seed,
        provenance: Some(Provenance { version: version(), command, files: sums(files)? }),
        faults: workload.faults.clone(),
        further_faults: workload.further.clone(),
        simulated,
    };
    if let Some(step) = arguments.step.filter(|step| *step < run.simulated.step) {
        let steps = run.simulated.step;
        notes.warn(format!("shares over time have steps of {steps} s, because steps of {step} s would be too many"));
    }
    let name = if workload.of_ads() { format!("{}:ad ", run.workload) } else { format!("{}:", run.workload) };
    report_jobs(&run, &name, arguments.until.is_some(), notes);
    Ok(Played { run, workload, jobs })
}

/// Reports the jobs that did not run, and the reasons. Jobs that still wait when the simulation is `stopped` on purpose
/// are not reported, unless no slot matches them. Their places in the workload follow the `name`.
fn report_jobs(run: &SimulationRun, name: &str, stopped: bool, notes: &mut Notes) {
    let simulated = &run.simulated;
    let more = |all: usize, what: &str, notes: &mut Notes| {
        if all > MAX_LISTED {
            notes.warn(format!("{} more jobs {what}; use --format json to list all", all - MAX_LISTED));
        }
    };
    for job in simulated.too_large.iter().take(MAX_LISTED) {
        // A trace may ask for more than can be counted.
        let more = if job.cores == u32::MAX { "more than " } else { "" };
        let cores = if job.cores == u32::MAX { u32::MAX - 1 } else { job.cores };
        let (place, job) = (job.place, &job.job);
        notes.warn(format!("{name}{place}: job {job} requests {more}{cores} cores, more than any slot has"));
    }
    more(simulated.too_large.len(), "are too large", notes);
    let hopeless = |job: &&NeverStarted| job.reason.as_ref().is_some_and(|why| why.starts_with("no slot"));
    let never: Vec<&NeverStarted> = simulated.never_started.iter().filter(|job| !stopped || hopeless(job)).collect();
    for job in never.iter().take(MAX_LISTED) {
        let reason = job.reason.as_deref().unwrap_or("its submitter was never reached");
        notes.warn(format!("{name}{}: job {} of {} never started: {reason}", job.place, job.job, job.submitter));
    }
    more(never.len(), "never started", notes);
    if never.iter().any(hopeless) {
        notes.warn("`classmate explain POOL --job JOB` shows which condition fails".to_owned());
    }
    if simulated.refused > 0 {
        let matches = simulated.refused;
        notes.warn(format!("{matches} matches were rejected by the slot: it had less than the job requests"));
    }
    if let Some(stopped) = &simulated.stopped {
        notes.warn(stopped.clone());
    }
}

/// Shows on a terminal how far a simulation is.
fn progress() -> impl Fn(Progress) -> ControlFlow<()> {
    let (bar, events) = (OnceLock::new(), AtomicU64::new(1));
    move |step| {
        let bar = bar.get_or_init(|| input::clocks(step.total));
        if !bar.is_hidden() && events.fetch_add(1, Ordering::Relaxed).is_multiple_of(1024) {
            let date = jiff::Timestamp::from_second(step.now).map(|date| date.strftime("%Y-%m-%d %H:%M").to_string());
            bar.set_message(date.unwrap_or_default());
            bar.set_position(step.done);
        }
        ControlFlow::Continue(())
    }
}

/// Writes a run into a directory.
fn report(directory: &Path, run: &SimulationRun) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    let file = |name: &str, write: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>| {
        write_file(&directory.join(name), |file| file, write)
    };
    file("run.json", &|out| write_json(out, run))?;
    file("submitters.csv", &|out| simulated::write_csv(out, &run.simulated))?;
    file("steps.csv", &|out| simulated::write_steps(out, &run.simulated))?;
    file("index.html", &|out| out.write_all(html::run(run).as_bytes()))
}

/// Reads a run that was written: a directory, or its `run.json`.
pub(super) fn written_run(path: &Path) -> Result<SimulationRun, Failure> {
    let file = if path.is_dir() { path.join("run.json") } else { path.to_owned() };
    serde_json::from_slice(&contents(&file)?).map_err(|error| {
        Failure::input(format!("`{}` is not a run: {error}", file.display()))
            .help("expected a `run.json` written by `classmate simulate --report`")
    })
}

/// Reads the workload, and notes what is wrong with it.
fn workload(
    arguments: &SimulateArguments,
    rules: &Rules,
    evaluation: &EvalOptions,
    streams: Streams,
    notes: &mut Notes,
) -> Result<Workload, Failure> {
    let path = &arguments.workload;
    let name = path.display().to_string();
    let (workload, what) = if is_trace(&name) {
        let mut input = input::open(path)?;
        (swf::read(&mut input.reader).map_err(|error| Failure::reading(&input.name, &error))?, "")
    } else {
        let run_time = parsed(&arguments.run_time, "--run-time", streams)?;
        let ads = input::ads(path, evaluation, notes)?;
        (job_ads::read(ads, &run_time, rules.knobs.accountant.domain.as_deref(), evaluation), "ad ")
    };
    if workload.arrivals.is_empty() {
        note_faults(&name, what, (&workload.faults, &workload.further), notes);
        return Err(Failure::input(format!("`{name}` does not contain any job that can be simulated"))
            .help("expected a trace in the Standard Workload Format (`.swf`) or job ads with `QDate` and a run time"));
    }
    Ok(workload)
}

/// Notes what is malformed in a workload: the first faults, and the places of the others.
fn note_faults(name: &str, what: &str, (faults, further): (&[Fault], &[(u64, u64)]), notes: &mut Notes) {
    for fault in faults {
        notes.skip(format!("{name}:{what}{fault}"));
    }
    if !further.is_empty() {
        let run =
            |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
        let places: Vec<String> = further.iter().take(MAX_LISTED).map(run).collect();
        let rest = further.len() - places.len();
        let rest = match rest {
            0 => String::new(),
            rest => format!(", and {rest} other places; use --format json to list all"),
        };
        let what = if what.is_empty() { "lines" } else { "ads" };
        notes.skip(format!("{name}: more {what} that are not valid jobs: {}{rest}", places.join(", ")));
    }
}

/// Notes what is malformed in the workload of a run.
pub(super) fn report_faults(run: &SimulationRun, notes: &mut Notes) {
    let what = if is_trace(&run.workload) { "" } else { "ad " };
    note_faults(&run.workload, what, (&run.faults, &run.further_faults), notes);
}

/// True for a trace by its name, false for a file of job ads.
fn is_trace(name: &str) -> bool {
    let bare = name.strip_suffix(".gz").unwrap_or(name);
    name == "-" || Path::new(bare).extension().is_some_and(|end| end.eq_ignore_ascii_case("swf"))
}

/// The slots of the snapshot if it holds those of a pool, otherwise a number of cores.
fn cluster<'w>(
    cores: Option<u32>,
    pool: bool,
    workload: &'w Workload,
    rules: &'w Arc<Rules>,
    snapshot: &mut Snapshot,
) -> Result<Box<dyn Cluster + 'w>, Failure> {
    if pool {
        let slots = SlotCluster::new(workload, rules, snapshot);
        return if slots.any() {
            Ok(Box::new(slots))
        } else {
            Err(Failure::input("the pool has no slots that can run a job")
                .help("specify the number of cores with --slots NUMBER"))
        };
    }
    let cores = cores.or_else(|| u32::try_from(workload.header.processors?).ok()).filter(|cores| *cores > 0);
    let cores =
        cores.ok_or_else(|| Failure::input("the number of cores is unknown").help("specify it with --slots NUMBER"))?;
    snapshot.slots = vec![PolicyArguments::everywhere(&snapshot.policy)];
    Ok(Box::new(UniformCluster::new(workload, rules, snapshot, cores)))
}
