//! Commands for programs that link this library, such as the Python module: options as on the command line, results as data.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use toml::Table;

use crate::cli::advise::advised;
use crate::cli::input::{self, Notes, OpenAds};
use crate::cli::simulate::written_run;
use crate::cli::{Streams, experiment, language, live, parsed_with, report, settings, test, written};
use crate::report::Color;
use classmate::{ClassAd, EvalOptions, Semantics};
use classmate_advice::internal::advise::{Advice, Goal, GoalError};
use classmate_pool::Snapshot;
use classmate_pool::internal::simulate::SimulationRun;
use classmate_pool::internal::simulate::experiment::Experiment;
use classmate_wire::Address;

pub use crate::cli::failure::Failure;
pub use crate::cli::language::newer;
pub use crate::cli::simulate::Played;

/// The progress of a computation.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps that are done: jobs that came, or runs.
    pub done: u64,
    /// Steps in all.
    pub total: u64,
    /// Simulated time, epoch seconds.
    pub now: i64,
}

/// Receives the progress of a computation, which fails if it breaks.
pub type Watch<'w> = dyn Fn(Progress) -> ControlFlow<()> + Sync + 'w;

/// Messages without colors.
const PLAIN: Streams = Streams { out: Color::Off, err: Color::Off };

/// Runs a function in a version of the language, on this thread.
pub fn in_version<T>(semantics: Semantics, inner: impl FnOnce() -> T) -> T {
    language::on_thread(semantics, inner)
}

/// Runs a simulation with the options of `classmate simulate` by their names, and writes the files that they name. Also returns
/// warnings.
///
/// # Errors
/// An option or a file that is wrong, or an interrupted simulation.
pub fn simulate(options: &Table, watch: &Watch<'_>) -> Result<(Played, Vec<String>), Failure> {
    input::hide_progress();
    let mut notes = Notes::default();
    let (result, arguments) = experiment::simulation(options, watch, PLAIN, &mut notes)?;
    result.write_files(&arguments)?;
    Ok((result, notes.lines(Color::Off)))
}

/// Reads a run that `simulate` wrote: a directory, or its `run.json`.
///
/// # Errors
/// A file that cannot be read, or is not a run.
pub fn read_run(path: &Path) -> Result<SimulationRun, Failure> {
    written_run(path)
}

/// The description of an experiment.
#[derive(Debug)]
pub enum PlanSource<'a> {
    /// A file in TOML.
    File(&'a Path),
    /// The content of such a file; paths are relative to the current directory.
    Table(Table),
}

/// Makes the runs of an experiment, some at a time. With an `output` directory, runs and results are written there, and runs
/// that it has are not repeated. Also returns warnings.
///
/// # Errors
/// A description or a file that is wrong, or an interrupted experiment.
pub fn experiment(
    source: PlanSource<'_>,
    (output, baseline): (Option<&Path>, Option<&str>),
    jobs: usize,
    watch: &Watch<'_>,
) -> Result<(Experiment, Vec<String>), Failure> {
    input::hide_progress();
    let plan = experiment::Plan::of(source, baseline)?;
    let (found, notes) = plan.made(output, jobs.max(1), watch, PLAIN)?;
    Ok((found, notes.lines(Color::Off)))
}

/// Searches for settings of a pool that reach goals, in a number of cycles at an interval in seconds; `run_time` is that of a job.
///
/// # Errors
/// A goal, a number or an expression that is wrong, or a configuration.
pub fn advise(
    snapshot: &Snapshot,
    goals: &[String],
    (cycles, interval): (u32, i64),
    run_time: &str,
) -> Result<Advice, Failure> {
    let goals: Vec<Goal> = goals
        .iter()
        .map(|goal| goal.parse().map_err(|error: GoalError| Failure::input(error.to_string())))
        .collect::<Result<_, _>>()?;
    if goals.is_empty() {
        return Err(Failure::input("no goals: expected one such as `physics >= 90% of quota`"));
    }
    if !(2..=100_000).contains(&cycles) || !(1..=i64::from(i32::MAX)).contains(&interval) {
        let help = "expected 2 to 100000 cycles, and an interval from 1 to 2147483647 seconds";
        return Err(Failure::input(format!("`{cycles}` cycles at an interval of `{interval}` s")).help(help));
    }
    let options = snapshot.settings().parse_options();
    let run_time = parsed_with(run_time.as_bytes(), "run_time", &options, Color::Off)?;
    advised(snapshot, &goals, (cycles, interval), run_time)
}

/// The collectors that the configuration of this host names, as `--pool` alone finds them.
///
/// # Errors
/// There is no configuration, or it is wrong.
pub fn own_collectors() -> Result<Vec<Address>, Failure> {
    settings::own_collectors()
}

/// The version that was chosen; with `advertised`, that of the first negotiator for what is in no ad.
pub fn version_of(negotiators: &[ClassAd], chosen: Semantics) -> Semantics {
    live::version_of(negotiators, chosen)
}

/// The page of `classmate report`, for a pool with this name.
///
/// # Errors
/// A configuration that is wrong.
pub fn cycle_page(name: &str, snapshot: &Snapshot) -> Result<String, Failure> {
    report::cycle_page(name, snapshot)
}

/// Runs policy tests; the results are those of `classmate test --format json` and of `classmate test`.
///
/// # Errors
/// A file that is wrong, or no tests.
pub fn test(files: &[PathBuf], only: Option<&str>, coverage: bool) -> Result<(Json, String), Failure> {
    let all: Vec<_> =
        files.iter().map(|path| test::of_file(path, only, coverage, Color::Off)).collect::<Result<_, _>>()?;
    let (results, mut text) = (test::Results::new(&all), Vec::new());
    results.check()?;
    written(results.write(&mut text, coverage, Color::Off))?;
    Ok((json!(results), String::from_utf8_lossy(&text).into_owned()))
}

/// The ads of a file in any format, compressed or not.
#[expect(missing_debug_implementations, reason = "a reader of any kind")]
pub struct AdFile {
    reader: OpenAds,
    name: String,
    /// Messages about its beginning, from when it was opened.
    notes: Notes,
}

impl AdFile {
    /// Opens a file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn open(path: &Path, settings: &EvalOptions) -> Result<Self, Failure> {
        input::hide_progress();
        let mut notes = Notes::default();
        let (reader, name, _) = input::open_ads(path, None, settings, &mut notes)?;
        Ok(Self { reader, name, notes })
    }

    /// Messages about ads that were skipped so far.
    pub fn problems(&self) -> Vec<String> {
        let mut notes = Notes::default();
        notes.add(&self.name, self.reader.report());
        [self.notes.lines(Color::Off), notes.lines(Color::Off)].concat()
    }
}

impl Iterator for AdFile {
    type Item = Result<ClassAd, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.reader.next()?.map_err(|error| Failure::reading(&self.name, &error)))
    }
}
