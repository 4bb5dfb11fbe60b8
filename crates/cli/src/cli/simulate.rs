//! `classmate simulate --workload FILE`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::input::{self, Notes};
use crate::cli::negotiate::refused;
use crate::cli::policy::PolicyArguments;
use crate::cli::settings::{self, contents};
use crate::cli::{Failure, Now, Streams, parse_now, parsed, written};
use crate::report::simulated::{self, html};
use classmate::internal::eval::scope::Settings as Evaluation;
use classmate::internal::syntax::parse::ParseOptions;
use classmate_config::internal::config::setting::Settings as Knobs;
use classmate_pool::internal::accountant::Log;
use classmate_pool::internal::negotiate::Snapshot;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::simulate::{
    Cluster, NeverStarted, SimulationPlan, SimulationRun, SlotCluster, UniformCluster, simulate,
};
use classmate_pool::internal::workload::{Workload, job_ads, swf};

/// Play a workload under a policy and show who waited how long and who had how much.
///
/// A workload is a trace in the Standard Workload Format (`.swf`, `.swf.gz`) or a file of job ads, each with `QDate`, the
/// time it was submitted, and a run time. The jobs come, wait, run and end; every so many seconds the negotiator runs a
/// cycle, if a job waits for which there are cores. Time goes from event to event: months take seconds.
///
/// The machines are so many cores, all alike, as one machine that is carved up and has all else that jobs ask for: nobody
/// is displaced, and of the requirements of jobs only cores and concurrency limits count. With --pool they are the slots of a pool instead, with their requirements, ranks and
/// preemption, unless --slots is given too; its settings, its books and the policy's files hold in any case.
///
/// Of a trace, user 7 of group 3 is the submitter `group3.user7@trace`: with `GROUP_NAMES = group3` in the settings it is
/// a member of that group. Lines that are no job are told with their numbers; jobs that are larger than the machines, were
/// cancelled before they ran, or are parts of others are counted. Jobs that were too large or never started are told, with
/// the reason.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate simulate --workload trace.swf.gz                            as many cores as the trace's header says
  classmate simulate --workload trace.swf.gz --slots 128 --format json
  classmate simulate --workload trace.swf --slots 128 --policy slurm --pool examples/slurm
  classmate simulate --workload trace.swf --slots 128 --until 2005-11-25T00:00:00Z
  classmate simulate --workload jobs.ads --slots 20 --run-time 'JobLength * 60'
  classmate simulate --workload trace.swf --slots 128 --report runs/condor

What the columns say:
  WAIT      seconds from submission to the first start, of the jobs that started
  LONGEST   the longest wait, that of jobs that never started too
  SLOWDOWN  (end - submission) / run time, the run time taken as 10 s at least; mean of the jobs that ended
  SHARE     core-seconds in use as a fraction of everybody's
  DUE       what the policy gave it when it asked, as a fraction of the pool; the mean over the cycles

Exit status: 0 when the workload was played, 1 when a file cannot be read, 2 when a file or a setting is wrong.")]
pub(super) struct Arguments {
    /// The trace or the job ads; `-` is standard input
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// A directory with the slots, the settings, the books and the policy's files of a pool
    #[arg(long, value_name = "POOL")]
    pool: Option<PathBuf>,
    /// How many cores there are, all alike [default: the slots of the pool, else as many as the trace's header says]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    slots: Option<u32>,
    /// The negotiator's settings, instead of those in POOL
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run the commands that the settings include; they can run any program then
    #[arg(long)]
    allow_commands: bool,
    /// Stop at this time: seconds since 1970 or a date; by default when nothing can happen any more. The clock of a trace
    /// begins at the `UnixStartTime` of its header, else at 0
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    until: Option<Now>,
    /// Seconds from one cycle to the next [default: that of the settings]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..))]
    interval: Option<i64>,
    /// How long the steps are in which shares over time are told [default: a hundredth, in whole hours]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i64).range(1..))]
    step: Option<i64>,
    /// How long a job of a file of ads runs: seconds, or an expression over the job
    #[arg(long, value_name = "EXPR", default_value = job_ads::RUN_TIME)]
    run_time: String,
    /// Also write the run into this directory, made if it is not there: `run.json`, `submitters.csv`, `steps.csv` and the page
    /// `index.html` with plots
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Where random numbers begin; the same seed gives the same result
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// How the result is printed
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// Maximum number of jobs of a kind that are listed one by one.
const MAX_LISTED: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Tables for people
    Table,
    /// One object with everything, shares over time too
    Json,
    /// A line for everybody, each group and each submitter
    Csv,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let pool = arguments.pool.as_deref();
    if let Some(pool) = pool.filter(|pool| !pool.is_dir()) {
        return Err(Failure::new(format!("`{}` is no directory: expected that of a pool", pool.display())));
    }
    let config = settings::pool(arguments.config.as_deref(), pool, arguments.allow_commands, streams.err)?;
    for warning in config.warnings() {
        notes.warn(warning.to_line());
    }
    let log = match input::own(pool, "Accountantnew.log") {
        Some(path) => Some(
            Log::read(&contents(&path)?).map_err(|error| Failure::input(format!("`{}`: {error}", path.display())))?,
        ),
        None => None,
    };
    let mut snapshot = Snapshot { config, log, seed: arguments.seed, ..Snapshot::default() };
    let evaluation = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &evaluation).map_err(|error| refused(&error))?;
    let workload = workload(arguments, &rules, &evaluation, streams, &mut notes)?;
    // Where a policy has no file that says who there is, it asks the jobs.
    snapshot.jobs = if workload.of_ads() { workload.own_ads() } else { workload.first_ads() };
    let slots = input::own(pool, "slots.ads").filter(|_| arguments.slots.is_none());
    if let Some(path) = &slots {
        snapshot.slots = input::many_ads(path, &evaluation, &mut notes, None, |ad, ()| ad)?;
    }
    snapshot.policy = arguments.policy.read(pool, &mut snapshot, &mut notes)?;
    snapshot.jobs = Vec::new();
    if let Some(first) = workload.arrivals.first().map(|job| job.submit)
        && let Some(until) = arguments.until.map(Now::seconds).filter(|until| *until < first)
    {
        notes.warn(format!("nothing is played: the first job is submitted at {first}, and --until is {until}"));
    }
    let cluster = cluster(arguments.slots, slots.is_some(), &workload, &rules, &mut snapshot);
    // What is wrong with the header may be why there are none.
    notes.show(streams.err);
    let mut cluster = cluster?;
    let interval = match arguments.interval {
        Some(interval) => interval,
        None => Knobs::new(&snapshot.config)
            .integer("NEGOTIATOR_INTERVAL", 60, 1, i64::from(i32::MAX))
            .map_err(|error| refused(&error))?,
    };
    let plan = SimulationPlan { interval, until: arguments.until.map(Now::seconds), step: arguments.step };
    let result = simulate(&workload, &mut *cluster, &plan, &mut progress(workload.arrivals.len()));
    let run = SimulationRun {
        workload: arguments.workload.display().to_string(),
        policy: snapshot.policy.name().to_owned(),
        interval,
        seed: arguments.seed,
        faults: workload.faults.clone(),
        further_faults: workload.further.clone(),
        simulated: result.map_err(|error| refused(&error))?,
    };
    let mut notes = Notes::default();
    if let Some(step) = arguments.step.filter(|step| *step < run.simulated.step) {
        let steps = run.simulated.step;
        notes.warn(format!("shares over time are told in steps of {steps} s, not {step} s: there would be too many"));
    }
    let name = if workload.of_ads() { format!("{}:ad ", run.workload) } else { format!("{}:", run.workload) };
    report_jobs(&run, &name, arguments.until.is_some(), &mut notes);
    notes.show(streams.err);
    if let Some(directory) = &arguments.report {
        report(directory, &run)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        Form::Json => serde_json::to_writer_pretty(&mut out, &run).map_err(Into::into).and_then(|()| writeln!(out)),
        Form::Csv => simulated::write_csv(&mut out, &run.simulated),
        Form::Table => simulated::write(&mut out, &run.simulated, streams.out),
    };
    written(printed.and_then(|()| out.flush()))
}

/// Reports the jobs that did not run, and the reasons. Jobs that still wait when the simulation is `stopped` on purpose
/// are not reported, unless no slot matches them. Their places in the workload follow the `name`.
fn report_jobs(run: &SimulationRun, name: &str, stopped: bool, notes: &mut Notes) {
    let simulated = &run.simulated;
    let more = |all: usize, what: &str, notes: &mut Notes| {
        if all > MAX_LISTED {
            notes.warn(format!("{} more jobs {what}: --format json has all", all - MAX_LISTED));
        }
    };
    for job in simulated.too_large.iter().take(MAX_LISTED) {
        // A trace may ask for more than can be counted.
        let more = if job.cores == u32::MAX { "more than " } else { "" };
        let cores = if job.cores == u32::MAX { u32::MAX - 1 } else { job.cores };
        let (place, job) = (job.place, &job.job);
        notes.warn(format!("{name}{place}: job {job} asks for {more}{cores} cores: no machine has as many"));
    }
    more(simulated.too_large.len(), "are too large", notes);
    let hopeless = |job: &&NeverStarted| job.reason.as_ref().is_some_and(|why| why.starts_with("no slot"));
    let never: Vec<&NeverStarted> = simulated.never_started.iter().filter(|job| !stopped || hopeless(job)).collect();
    for job in never.iter().take(MAX_LISTED) {
        let reason = job.reason.as_deref().unwrap_or("it never had its turn");
        notes.warn(format!("{name}{}: job {} of {} never started: {reason}", job.place, job.job, job.submitter));
    }
    more(never.len(), "never started", notes);
    if never.iter().any(hopeless) {
        notes.warn("`classmate explain POOL --job JOB` shows which part of the requirements is not met".to_owned());
    }
    if simulated.refused > 0 {
        let matches = simulated.refused;
        notes.warn(format!("{matches} matches came to nothing: the slot had less than the job asks for"));
    }
    if let Some(stopped) = &simulated.stopped {
        notes.warn(stopped.clone());
    }
}

/// Shows on a terminal how far a simulation is.
fn progress(jobs: usize) -> impl FnMut(i64, usize) {
    let bar = input::clocks(jobs as u64);
    let mut events = 0_u64;
    move |now, arrived| {
        events += 1;
        if !bar.is_hidden() && events.is_multiple_of(1024) {
            let date = jiff::Timestamp::from_second(now).map(|date| date.strftime("%Y-%m-%d %H:%M").to_string());
            bar.set_message(date.unwrap_or_default());
            bar.set_position(arrived as u64);
        }
    }
}

/// Writes a run into a directory.
fn report(directory: &Path, run: &SimulationRun) -> Result<(), Failure> {
    let fail = |path: &Path, error: &io::Error| {
        Failure::new(format!("cannot write `{}`: {}", path.display(), input::plain(error)))
    };
    std::fs::create_dir_all(directory).map_err(|error| fail(directory, &error))?;
    let file = |name: &str, write: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>| {
        let path = directory.join(name);
        let written = File::create(&path).and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        });
        written.map_err(|error| fail(&path, &error))
    };
    file("run.json", &|out| {
        serde_json::to_writer_pretty(&mut *out, run).map_err(Into::into).and_then(|()| writeln!(out))
    })?;
    file("submitters.csv", &|out| simulated::write_csv(out, &run.simulated))?;
    file("steps.csv", &|out| simulated::write_steps(out, &run.simulated))?;
    file("index.html", &|out| out.write_all(html::run(run).as_bytes()))
}

/// Reads the workload, and notes what is wrong with it.
fn workload(
    arguments: &Arguments,
    rules: &Rules,
    evaluation: &Evaluation,
    streams: Streams,
    notes: &mut Notes,
) -> Result<Workload, Failure> {
    let path = &arguments.workload;
    let name = path.display().to_string();
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    let (workload, what) =
        if Path::new(bare).extension().is_some_and(|end| end.eq_ignore_ascii_case("swf")) || name == "-" {
            let mut input = input::open(path)?;
            (swf::read(&mut input.reader).map_err(|error| input::unreadable(&input.name, &error))?, "")
        } else {
            let run_time = parsed(arguments.run_time.as_bytes(), "--run-time", &ParseOptions::default(), streams)?;
            let ads = input::many_ads(path, evaluation, notes, None, |ad, ()| ad)?;
            (job_ads::read(ads, &run_time, rules.knobs.accountant.domain.as_deref(), evaluation), "ad ")
        };
    for fault in &workload.faults {
        notes.warn(format!("{name}:{what}{fault}"));
    }
    if !workload.further.is_empty() {
        let run =
            |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
        let places: Vec<String> = workload.further.iter().take(MAX_LISTED).map(run).collect();
        let rest = workload.further.len() - places.len();
        let rest = if rest > 0 { format!(", and {rest} other places: --format json has all") } else { String::new() };
        let what = if what.is_empty() { "lines" } else { "ads" };
        notes.warn(format!("{name}: more {what} are no job: {}{rest}", places.join(", ")));
    }
    if workload.arrivals.is_empty() {
        notes.show(streams.err);
        return Err(Failure::input(format!("`{name}` holds no job that can be played"))
            .help("expected a trace in the Standard Workload Format (`.swf`) or job ads with `QDate` and a run time"));
    }
    Ok(workload)
}

/// The slots of the snapshot if it holds those of a pool, otherwise a number of cores.
fn cluster<'w>(
    cores: Option<u32>,
    pool: bool,
    workload: &'w Workload,
    rules: &'w Rules,
    snapshot: &mut Snapshot,
) -> Result<Box<dyn Cluster + 'w>, Failure> {
    if pool {
        let slots = SlotCluster::new(workload, rules, snapshot);
        return if slots.any() {
            Ok(Box::new(slots))
        } else {
            Err(Failure::input("the pool has no slots that can run a job")
                .help("say how many cores there are: --slots"))
        };
    }
    let cores = cores.or_else(|| u32::try_from(workload.header.processors?).ok()).filter(|cores| *cores > 0);
    let cores = cores
        .ok_or_else(|| Failure::input("how many cores there are is not known").help("say so with --slots NUMBER"))?;
    snapshot.slots = vec![PolicyArguments::everywhere(&snapshot.policy)];
    Ok(Box::new(UniformCluster::new(workload, rules, snapshot, cores)))
}
