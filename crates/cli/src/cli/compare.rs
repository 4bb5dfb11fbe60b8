//! `classmate compare RUN RUN…`

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::simulate::written_run;
use crate::cli::{FORMATS, Failure, Form, Reply, Streams, print, print_result, raw_output, words};
use crate::report::simulated::{compared, html};
use classmate_pool::internal::simulate::compare::Comparison;

/// Compare simulation runs in tables and plots.
///
/// RUN is a directory written by `classmate simulate --report`, or its `run.json`. Each run is named after its
/// directory.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate simulate --workload examples/simulate/trace.swf --policy condor --report runs/condor
  classmate simulate --workload examples/simulate/trace.swf --policy slurm --report runs/slurm
  classmate compare runs/condor runs/slurm
  classmate compare runs/condor runs/slurm --format html > compared.html

Exit status: 0 on success, 1 if a file cannot be read, 2 if a file is not a run.")]
pub(super) struct CompareArguments {
    /// Two or more runs: directories or files
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMS), default_value = "text")]
    format: Form,
}

const FORMS: [(&str, &str, Form); 5] =
    [FORMATS[0], FORMATS[1], FORMATS[2], FORMATS[3], ("html", "HTML page with plots", Form::Html)];

pub(super) fn run(arguments: &CompareArguments, streams: Streams) -> Result<(), Failure> {
    let names: Vec<String> = arguments.runs.iter().map(|path| called(path)).collect();
    let mut runs = Vec::with_capacity(names.len());
    for (path, name) in arguments.runs.iter().zip(&names) {
        let alone = names.iter().filter(|other| *other == name).count() == 1;
        let name = if alone { name.clone() } else { path.display().to_string() };
        runs.push((name, written_run(path)?));
    }
    if arguments.format == Form::Html {
        return print(raw_output(), |out| out.write_all(html::comparison(&runs).as_bytes()));
    }
    let comparison = Comparison::new(&runs);
    let answer = Reply { schema: "compare/1", result: &comparison, rows: &comparison.measures };
    print_result(arguments.format, &answer, |out| compared::write(out, &comparison, streams.out))
}

/// The name of a run: of its directory, or of its file if that has a name of its own.
fn called(path: &Path) -> String {
    let own = if path.file_name().is_some_and(|name| name == "run.json") { path.parent() } else { Some(path) };
    let name = own.and_then(|path| if path.is_dir() { path.file_name() } else { path.file_stem() });
    name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
