//! `classmate compare RUN RUN…`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::cli::settings::contents;
use crate::cli::{Failure, Streams, written};
use crate::report::simulated::{compared, html};
use classmate_pool::internal::simulate::SimulationRun;
use classmate_pool::internal::simulate::compare::Comparison;

/// Compare simulation runs in tables and plots.
///
/// RUN is a directory written by `classmate simulate --report`, or its `run.json`. Each run is named after its
/// directory.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate simulate --workload trace.swf --slots 128 --policy condor --report runs/condor
  classmate simulate --workload trace.swf --slots 128 --policy slurm --report runs/slurm
  classmate compare runs/condor runs/slurm
  classmate compare runs/condor runs/slurm --format html > compared.html

Exit status: 0 on success, 1 if a file cannot be read, 2 if a file is not a run.")]
pub(super) struct Arguments {
    /// Two or more runs: directories or files
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Tables
    Table,
    /// One JSON object with the full result
    Json,
    /// HTML page with plots
    Html,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let names: Vec<String> = arguments.runs.iter().map(|path| called(path)).collect();
    let mut runs = Vec::with_capacity(names.len());
    for (path, name) in arguments.runs.iter().zip(&names) {
        let alone = names.iter().filter(|other| *other == name).count() == 1;
        let name = if alone { name.clone() } else { path.display().to_string() };
        runs.push((name, read(path)?));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        Form::Html => out.write_all(html::comparison(&runs).as_bytes()),
        Form::Json => serde_json::to_writer_pretty(&mut out, &Comparison::new(&runs))
            .map_err(Into::into)
            .and_then(|()| writeln!(out)),
        Form::Table => compared::write(&mut out, &Comparison::new(&runs), streams.out),
    };
    written(printed.and_then(|()| out.flush()))
}

/// What a run is called: by its directory, or by its file if that has a name of its own.
fn called(path: &Path) -> String {
    let own = if path.file_name().is_some_and(|name| name == "run.json") { path.parent() } else { Some(path) };
    let name = own.and_then(|path| if path.is_dir() { path.file_name() } else { path.file_stem() });
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn read(path: &Path) -> Result<SimulationRun, Failure> {
    let file = if path.is_dir() { path.join("run.json") } else { path.to_owned() };
    serde_json::from_slice(&contents(&file)?).map_err(|error| {
        Failure::input(format!("`{}` is not a run: {error}", file.display()))
            .help("expected a `run.json` written by `classmate simulate --report`")
    })
}
