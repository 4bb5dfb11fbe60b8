//! `classmate experiment FILE.toml`

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use clap::{CommandFactory, Parser, ValueEnum};
use toml::{Table, Value};

use crate::cli::input::{self, Notes};
use crate::cli::library::{PlanSource, Progress, Watch};
use crate::cli::policy::PolicyName;
use crate::cli::provenance::sums;
use crate::cli::simulate::{Played, SimulateArguments, played, report_faults};
use crate::cli::version::version;
use crate::cli::{
    Failure, FormatArguments, Reply, Streams, defaults, language, print, print_result, raw_output, write_file,
    write_json,
};
use crate::report::simulated::{experiment, html};
use classmate::Semantics;
use classmate::internal::span::Position;
use classmate_pool::internal::simulate::SimulationRun;
use classmate_pool::internal::simulate::experiment::Experiment;
use classmate_pool::internal::simulate::result::Provenance;

/// Simulate a workload under policies × settings × seeds.
///
/// The results have 95% confidence intervals over the seeds. FILE is TOML. `[simulate]` has the options of `classmate
/// simulate` that all runs share, each table `[policies.NAME]` and `[settings.NAME]` those of a policy and of a setting,
/// which come before those of `[simulate]`; the lines of `set` are added up. `seeds` is a number of seeds or a list, and
/// `baseline` names the policy, the setting, or `policy/setting` that others are compared with, seed by seed. Paths are
/// relative to FILE.
///
/// With `shake`, each seed also moves the submissions: without it, only DIRAC's lottery and random expressions depend on
/// the seed.
///
/// Each run is written when it is complete. An experiment that was stopped continues where it was: runs of the same
/// version, command and files are not repeated. The result does not depend on the number of jobs that run at a time.
///
/// `--submit` makes the runs on an HTCondor pool: it writes a submit description with a job for each run that is not
/// complete, which transfers the files that it reads. When the jobs have ended, the same command without `--submit`
/// collects their results, and makes the runs that are missing.
///
/// `semantics` is an option of a run too: it names the version of HTCondor whose language applies, instead of the one of
/// `--semantics`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate experiment examples/simulate/experiment.toml --output shares
  classmate experiment examples/simulate/experiment.toml --output shares --jobs 2 --baseline condor

Files in the output directory:
  results.csv   one line per run: measures, version, checksum of the workload, command
  summary.csv   one line per policy, setting and measure: mean, confidence interval, difference from the baseline
  results.parquet, summary.parquet
                the same for programs that read Parquet
  index.html    the summary with plots
  points        the runs, which `compare` reads

Exit status: 0 on success, 1 if a file cannot be read or written or no run is left to submit, 2 if the input is invalid.")]
pub(super) struct ExperimentArguments {
    /// Experiment in TOML
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output directory [default: FILE without its ending]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Number of runs at a time; does not affect the result
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Policy, setting, or `policy/setting` that others are compared with, instead of `baseline` in FILE
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Write `experiment.sub`, which `condor_submit` reads, to the output directory instead, and print its path
    #[arg(long, conflicts_with_all = ["jobs", "format"])]
    submit: bool,
    /// Make only this run: POLICY~SETTING~SEED, as the jobs of --submit do
    #[arg(long, value_name = "RUN", conflicts_with_all = ["submit", "jobs", "format"])]
    run: Option<String>,
    #[command(flatten)]
    format: FormatArguments,
}

/// Options of `simulate` that an experiment sets itself, or that run programs.
const REFUSED: [&str; 5] = ["allow-commands", "format", "job-times", "report", "seed"];

/// An experiment as its file describes it.
pub(super) struct Plan {
    /// The file.
    file: Option<PathBuf>,
    points: Vec<PlannedRun>,
    baseline: Option<String>,
}

/// A run to make.
struct PlannedRun {
    policy: String,
    setting: String,
    seed: u64,
    /// Arguments of `classmate`.
    command: Vec<String>,
    arguments: PointArguments,
}

impl PlannedRun {
    fn name(&self) -> String {
        format!("{}~{}~{}", self.policy, self.setting, self.seed)
    }

    fn file(&self) -> String {
        self.name() + ".json"
    }

    /// The files and directories that its options name.
    fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        let options = self.command.iter().filter_map(|word| word.strip_prefix("--")?.split_once('='));
        options.filter(|(name, path)| is_path(name) && *path != "-").map(|(_, path)| PathBuf::from(path))
    }
}

/// The arguments of a run, parsed as those of `classmate simulate`.
#[derive(Parser)]
#[command(name = "simulate", no_binary_name = true)]
struct PointArguments {
    #[command(flatten)]
    simulate: SimulateArguments,
    #[arg(long, value_parser = language::parse_semantics)]
    semantics: Option<Semantics>,
}

impl PointArguments {
    /// Simulates in the version that they name, otherwise in the one that is chosen.
    fn played(
        &self,
        command: Vec<String>,
        watch: &Watch<'_>,
        streams: Streams,
        notes: &mut Notes,
    ) -> Result<Played, Failure> {
        if let Some(note) = self.semantics.and_then(language::newer) {
            notes.warn(note);
        }
        let semantics = self.semantics.unwrap_or_else(language::chosen);
        language::on_thread(semantics, || played(&self.simulate, command, watch, streams, notes))
    }
}

pub(super) fn run(arguments: &ExperimentArguments, streams: Streams) -> Result<(), Failure> {
    let plan = Plan::read(&arguments.file, arguments.baseline.as_deref())?;
    let output = arguments.output.clone().unwrap_or_else(|| arguments.file.with_extension(""));
    let directory = points_of(&output)?;
    if arguments.submit {
        return submit(&arguments.file, &plan.points, &output);
    }
    if let Some(name) = &arguments.run {
        let Some(point) = plan.points.iter().find(|point| point.name() == *name) else {
            return Err(Failure::input(format!("`{name}` is not a run of the experiment"))
                .help("expected POLICY~SETTING~SEED, such as `condor~default~1`"));
        };
        let (_, notes) = one_run(point, Some(&directory), &|_| ControlFlow::Continue(()), streams)?;
        notes.show(streams.err);
        return Ok(());
    }
    let bar = input::steps(plan.points.len() as u64, "runs");
    let watch = |step: Progress| {
        bar.set_position(step.done);
        ControlFlow::Continue(())
    };
    let made = plan.made(Some(&output), usize::from(arguments.jobs), &watch, streams);
    bar.finish_and_clear();
    let (found, notes) = made?;
    notes.show(streams.err);
    let answer = Reply { schema: "experiment/1", result: &found, rows: &found.points };
    print_result(arguments.format.format, &answer, |out| experiment::write(out, &found, streams.out))
}

/// The directory of the runs in an output directory; it is created if it does not exist.
fn points_of(output: &Path) -> Result<PathBuf, Failure> {
    let directory = output.join("points");
    fs::create_dir_all(&directory).map_err(|error| Failure::writing(directory.display(), &error))?;
    Ok(directory)
}

/// Writes a submit description of the runs that are not complete.
fn submit(file: &Path, points: &[PlannedRun], output: &Path) -> Result<(), Failure> {
    let (mut inputs, output) = (BTreeSet::new(), &plain(output));
    for path in points.iter().flat_map(PlannedRun::inputs).chain([file.to_owned()]) {
        inputs.extend(transferred(&plain(&path), output)?);
    }
    for path in inputs.iter().map(PathBuf::as_path).chain([output.as_path()]) {
        // Jobs find files where they are here, relative to the current directory.
        let below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let text = path.to_string_lossy();
        if !below
            || text.is_empty()
            || text.contains(|c: char| c.is_whitespace() || c == ',' || c == '"' || c == '\'' || c == '$')
        {
            return Err(Failure::input(format!(
                "--submit cannot transfer `{}`",
                if below && text.is_empty() { "." } else { &text }
            ))
            .help("expected a path below the current directory, without blanks, commas, quotes and `$`"));
        }
    }
    let logs = output.join("logs");
    fs::create_dir_all(&logs).map_err(|error| Failure::writing(logs.display(), &error))?;
    let missing = points.iter().filter(|point| made_before(&output.join("points").join(point.file()), point).is_none());
    let names: Vec<String> = missing.map(|point| format!("  {}\n", point.name())).collect();
    if names.is_empty() {
        return Err(Failure::new("all runs are complete".to_owned()).help("collect them: remove --submit"));
    }
    let program = std::env::current_exe().map_err(|error| Failure::new(format!("cannot find classmate: {error}")))?;
    let inputs: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
    let (program, file, output, inputs) = (program.display(), file.display(), output.display(), inputs.join(", "));
    let semantics = language::option().map_or_else(String::new, |option| format!(" {option}"));
    let text = format!(
        "# {} runs of an experiment. Submit it in the directory where it was made: condor_submit {output}/experiment.sub\n\
         # When the jobs have ended, collect their results:\n\
         #   classmate experiment {file} --output {output}{semantics}\n\
         executable = {program}\n\
         arguments = experiment {file} --output {output}{semantics} --run $(run)\n\
         should_transfer_files = YES\n\
         preserve_relative_paths = true\n\
         transfer_input_files = {inputs}\n\
         transfer_output_files = {output}/points/$(run).json\n\
         output = {output}/logs/$(run).out\n\
         error = {output}/logs/$(run).err\n\
         log = {output}/experiment.log\n\
         request_cpus = 1\n\
         request_memory = 1 GB\n\
         request_disk = 1 GB\n\
         max_retries = 2\n\
         queue run from (\n{})\n",
        names.len(),
        names.concat()
    );
    let path = format!("{output}/experiment.sub");
    atomic(Path::new(&path), |out| out.write_all(text.as_bytes()))?;
    print(raw_output(), |out| writeln!(out, "{path}"))
}

/// A path without `.`, of which HTCondor would make a directory of its own.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// The file, or the entries of the directory, without hidden ones and the one that results are written to.
fn transferred(path: &Path, output: &Path) -> Result<Vec<PathBuf>, Failure> {
    let directory = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if !directory.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    if path == output {
        return Err(Failure::input(format!("--submit cannot write to `{}`, which the runs read", directory.display()))
            .help("name another directory with --output"));
    }
    let failed = |error: std::io::Error| Failure::reading(directory.display(), &error);
    let entries = fs::read_dir(directory).map_err(failed)?.map(|entry| Ok(plain(&entry.map_err(failed)?.path())));
    let is_hidden = |entry: &Path| entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    entries.filter(|entry| !entry.as_ref().is_ok_and(|entry| output.starts_with(entry) || is_hidden(entry))).collect()
}

/// Writes a file so that it is never there in part.
fn atomic(path: &Path, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<(), Failure> {
    let mut text = Vec::new();
    let partial = path.with_extension("partial");
    write(&mut text).map_err(|error| Failure::writing(path.display(), &error))?;
    write_file(&partial, |file| file, |out| out.write_all(&text))?;
    fs::rename(&partial, path).map_err(|error| Failure::writing(path.display(), &error))
}

type RunResult = Result<(SimulationRun, Notes), Failure>;

/// Makes the runs that a directory does not have yet, some at a time, and reads the others.
fn all_runs(
    points: &[PlannedRun],
    directory: Option<&Path>,
    jobs: usize,
    watch: &Watch<'_>,
    streams: Streams,
) -> Result<(Vec<SimulationRun>, Notes), Failure> {
    let (next, completed, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let done: Mutex<BTreeMap<usize, RunResult>> = Mutex::new(BTreeMap::new());
    let progress = |now| watch(Progress { done: completed.load(Ordering::Relaxed), total: points.len() as u64, now });
    let semantics = language::chosen();
    let work = || {
        while let Some((at, point)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|at| Some((at, points.get(at)?)))
            .filter(|_| !failed.load(Ordering::Relaxed))
        {
            let result = one_run(point, directory, &|step| progress(step.now), streams);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
            completed.fetch_add(1, Ordering::Relaxed);
            failed.fetch_or(progress(0).is_break(), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(points.len()) {
            scope.spawn(|| language::on_thread(semantics, work));
        }
    });
    let (mut runs, mut notes) = (Vec::with_capacity(points.len()), Notes::default());
    for result in done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        let (run, own) = result?;
        runs.push(run);
        notes.extend(own);
    }
    if runs.len() < points.len() {
        return Err(Failure::new("interrupted"));
    }
    Ok((runs, notes))
}

/// Makes a run, unless the directory has it.
fn one_run(point: &PlannedRun, directory: Option<&Path>, watch: &Watch<'_>, streams: Streams) -> RunResult {
    let path = directory.map(|directory| directory.join(point.file()));
    let mut notes = Notes::default();
    if let Some(run) = path.as_ref().and_then(|path| made_before(path, point)) {
        report_faults(&run, &mut notes);
        return Ok((run, notes));
    }
    if let Some((path, directory)) = path.as_ref().zip(directory).filter(|(path, _)| path.exists()) {
        let kind = if fs::read(path).is_ok_and(|text| serde_json::from_slice::<SimulationRun>(&text).is_ok()) {
            "of another version, command or file"
        } else {
            "that are not complete"
        };
        notes.warn(format!("runs {kind} in `{}` are made again", directory.display()));
    }
    let Played { run, .. } = point.arguments.played(point.command.clone(), watch, streams, &mut notes)?;
    if let Some(path) = path {
        atomic(&path, |out| write_json(out, &run))?;
    }
    Ok((run, notes))
}

/// The run of a file, if this version made it by the same command from the same files.
fn made_before(path: &Path, point: &PlannedRun) -> Option<SimulationRun> {
    let run: SimulationRun = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let made = run.provenance.as_ref()?;
    let same = made.version == version()
        && made.command == point.command
        && sums(made.files.iter().map(|file| PathBuf::from(&file.path))).is_ok_and(|files| files == made.files);
    same.then_some(run)
}

impl Plan {
    /// Reads the description of an experiment.
    fn read(file: &Path, baseline: Option<&str>) -> Result<Self, Failure> {
        let text = fs::read_to_string(file).map_err(|error| Failure::reading(file.display(), &error))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let place = Position::of(text.as_bytes(), error.span().map_or(0, |span| span.start));
            Failure::input(format!("`{}`:{}:{}: {}", file.display(), place.line, place.column, error.message()))
        })?;
        let (name, directory) = (file.display().to_string(), file.parent().unwrap_or(Path::new("")));
        Ok(Self { file: Some(file.to_owned()), ..plan(table, &name, directory, baseline)? })
    }

    /// The experiment of a file, or of a table whose paths are relative to the current directory.
    pub(super) fn of(source: PlanSource<'_>, baseline: Option<&str>) -> Result<Self, Failure> {
        match source {
            PlanSource::File(file) => Self::read(file, baseline),
            PlanSource::Table(table) => plan(table, "experiment", Path::new(""), baseline),
        }
    }

    /// Makes the runs, and writes them and the results to a directory if there is one, which may have some of them already.
    pub(super) fn made(
        self,
        output: Option<&Path>,
        jobs: usize,
        watch: &Watch<'_>,
        streams: Streams,
    ) -> Result<(Experiment, Notes), Failure> {
        let directory = output.map(points_of).transpose()?;
        let (runs, notes) = all_runs(&self.points, directory.as_deref(), jobs, watch, streams)?;
        let points = self.points.into_iter().zip(runs);
        let named: Vec<_> = points.map(|(point, run)| (point.policy, point.setting, run)).collect();
        let files = named.iter().flat_map(|(.., run)| &run.provenance).flat_map(|made| &made.files);
        let files = self.file.iter().cloned().chain(files.map(|file| PathBuf::from(&file.path)));
        let command = std::iter::once("experiment".to_owned());
        let command = command.chain(self.file.iter().map(|file| file.display().to_string())).collect();
        let provenance = Provenance { version: version(), command, files: sums(files)? };
        let found = Experiment::new(&named, self.baseline, provenance);
        if let Some(output) = output {
            let file =
                |name: &str, write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| atomic(&output.join(name), write);
            for (name, table) in [("results", experiment::runs(&found)), ("summary", experiment::summary(&found))] {
                file(&format!("{name}.csv"), &|out| table.write_csv(out))?;
                file(&format!("{name}.parquet"), &|out| table.write_parquet(out))?;
            }
            file("index.html", &|out| out.write_all(html::experiment(&found).as_bytes()))?;
        }
        Ok((found, notes))
    }
}

/// The runs of an experiment whose description has a `name`, and paths relative to a directory.
fn plan(mut table: Table, name: &str, directory: &Path, baseline: Option<&str>) -> Result<Plan, Failure> {
    let wrong = |message: String| Failure::input(format!("`{name}`: {message}"));
    let seeds = match table.remove("seeds") {
        None => vec![1],
        Some(Value::Integer(count)) if (1..=10_000).contains(&count) => (1..=count as u64).collect(),
        Some(Value::Array(seeds)) if !seeds.is_empty() => {
            let seed = |seed: &Value| seed.as_integer().and_then(|seed| u64::try_from(seed).ok());
            let all: Option<Vec<u64>> = seeds.iter().map(seed).collect();
            all.ok_or_else(|| wrong("`seeds` holds something other than whole numbers of 0 or more".to_owned()))?
        }
        Some(_) => return Err(wrong("`seeds` is not a number from 1 to 10000 or a list of seeds".to_owned())),
    };
    let own_baseline = match table.remove("baseline") {
        None => None,
        Some(Value::String(name)) => Some(name),
        Some(other) => return Err(wrong(format!("`baseline` is {}: expected a string", other.type_str()))),
    };
    let common = options(table.remove("simulate"), "simulate").map_err(wrong)?;
    let policies = variants(table.remove("policies"), "policies", "condor").map_err(wrong)?;
    let settings = variants(table.remove("settings"), "settings", "default").map_err(wrong)?;
    if let Some(name) = table.keys().next() {
        return Err(wrong(format!("`{name}` is unknown"))
            .help("expected `seeds`, `baseline`, `[simulate]`, `[policies.NAME]` or `[settings.NAME]`"));
    }
    let baseline = baseline.map(str::to_owned).or(own_baseline);
    let mut points = Vec::new();
    for (policy, of_policy) in &policies {
        for (setting, of_setting) in &settings {
            let mut merged = common.clone();
            let known = PolicyName::from_str(policy, false).is_ok();
            if known {
                merged.insert("policy".to_owned(), Value::String(policy.clone()));
            }
            for (name, value) in of_policy.iter().chain(of_setting) {
                add(&mut merged, name, value);
            }
            if !merged.contains_key("policy") {
                return Err(wrong(format!("`policies.{policy}` does not name its policy"))
                    .help("add `policy = \"condor\"`, or call it `condor`, `dirac` or `slurm`"));
            }
            // A run of another version is another run.
            if let Some((_, series)) = language::option().as_deref().and_then(|option| option.split_once('=')) {
                merged.entry("semantics").or_insert_with(|| Value::String(series.to_owned()));
            }
            for &seed in &seeds {
                let mut command = vec!["simulate".to_owned()];
                for (name, value) in &merged {
                    command.extend(
                        argument(name, value, directory)
                            .map_err(|message| wrong(format!("{message}, in the run {policy}/{setting}")))?,
                    );
                }
                command.push(format!("--seed={seed}"));
                let arguments =
                    parsed(&command).map_err(|message| wrong(format!("{message}, in the run {policy}/{setting}")))?;
                let (policy, setting) = (policy.clone(), setting.clone());
                points.push(PlannedRun { policy, setting, seed, command, arguments });
            }
        }
    }
    if let Some(name) = &baseline {
        let is_it = |point: &PlannedRun| {
            [&point.policy, &point.setting].contains(&name) || *name == format!("{}/{}", point.policy, point.setting)
        };
        if !points.iter().any(is_it) {
            return Err(wrong(format!("the baseline `{name}` is not a policy or setting of the experiment")));
        }
    }
    Ok(Plan { file: None, points, baseline })
}

/// Adds an option after others: it replaces an earlier value, except that lines of `set` are added up.
fn add(options: &mut Table, name: &str, value: &Value) {
    let lines = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let value = match options.get(name) {
        Some(before) if name == "set" => Value::Array([lines(before), lines(value)].concat()),
        _ => value.clone(),
    };
    options.insert(name.to_owned(), value);
}

/// The options of a table of the file.
fn options(value: Option<Value>, name: &str) -> Result<Table, String> {
    let table = match value {
        None => Table::new(),
        Some(Value::Table(table)) => table,
        Some(other) => return Err(format!("`{name}` is {}: expected a table", other.type_str())),
    };
    match table.keys().find(|key| REFUSED.contains(&key.as_str())) {
        Some(key) => Err(format!("`{name}.{key}` cannot be set in an experiment")),
        None => Ok(table),
    }
}

/// The policies, or the settings, with their options; one without any if there are none.
fn variants(value: Option<Value>, name: &str, only: &str) -> Result<Vec<(String, Table)>, String> {
    let tables = match value {
        None => return Ok(vec![(only.to_owned(), Table::new())]),
        Some(Value::Table(tables)) if !tables.is_empty() => tables,
        Some(_) => return Err(format!("`{name}` has no tables: expected `[{name}.NAME]`")),
    };
    let variant = |(own, value): (String, Value)| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if own.is_empty() || own.starts_with('.') || !own.bytes().all(plain) {
            return Err(format!("`{name}.{own}` is not a name of letters, digits, `-`, `_` and `.`"));
        }
        let options = options(Some(value), &format!("{name}.{own}"))?;
        Ok((own, options))
    };
    tables.into_iter().map(variant).collect()
}

/// True for an option of `simulate` that is a path.
fn is_path(name: &str) -> bool {
    let command = PointArguments::command();
    let known = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    known.is_some_and(|argument| argument.get_value_parser().type_id() == TypeId::of::<PathBuf>())
}

/// Runs a simulation with options of its command line, which are also returned.
pub(super) fn simulation(
    options: &Table,
    watch: &Watch<'_>,
    streams: Streams,
    notes: &mut Notes,
) -> Result<(Played, SimulateArguments), Failure> {
    let mut command = vec!["simulate".to_owned()];
    if options.contains_key("format") {
        return Err(Failure::input("`format` has no effect here: the result has all formats"));
    }
    for (name, value) in options {
        command.extend(argument(name, value, Path::new("")).map_err(Failure::input)?);
    }
    if !options.contains_key("semantics") {
        command.extend(language::option());
    }
    let arguments = parsed(&command).map_err(Failure::input)?;
    let played = arguments.played(command, watch, streams, notes)?;
    Ok((played, arguments.simulate))
}

/// The arguments of `classmate simulate`.
fn parsed(command: &[String]) -> Result<PointArguments, String> {
    PointArguments::try_parse_from(&command[1..]).map_err(|error| {
        // The message, and the arguments that it lists below.
        let text = error.to_string();
        let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
    })
}

/// An option as on the command line; paths are relative to a directory.
fn argument(name: &str, value: &Value, directory: &Path) -> Result<Vec<String>, String> {
    let command = PointArguments::command();
    if !command.get_arguments().any(|argument| argument.get_long() == Some(name)) {
        return Err(format!("`classmate simulate` does not have the option `--{name}`"));
    }
    let value = match value {
        Value::String(path) if is_path(name) && path != "-" => {
            let path: PathBuf = directory.join(path).components().collect();
            Value::String(path.display().to_string())
        }
        other => other.clone(),
    };
    let words = defaults::spelled(name, &value)?;
    Ok(words.into_iter().map(OsString::into_string).map(Result::unwrap_or_default).collect())
}
