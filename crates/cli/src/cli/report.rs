//! `classmate report POOL -o FILE`

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::input::Notes;
use crate::cli::policy::PolicyArguments;
use crate::cli::pool::PoolFiles;
use crate::cli::{Failure, Streams, print, raw_output};
use crate::report::cycle::page;
use classmate_advice::internal::autoclusters::audit;
use classmate_advice::internal::explain::cycle::reasons::{ran, survey};
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;

/// Write an HTML report about a negotiation cycle.
///
/// The report covers groups, submitters, pie spins, slots, the reasons why jobs stayed idle, and significant
/// attributes. It is one file without scripts or external resources.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate report examples/groups -o cycle.html
  classmate report examples/pool -o - > cycle.html

Exit status: 0 on success, 1 if a file cannot be read or written, 2 if a file or an option is invalid.")]
pub(super) struct ReportArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Output file (`-` for standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

pub(super) fn run(arguments: &ReportArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let directory = arguments.files.directory();
    let mut snapshot = arguments.files.snapshot(&mut notes, streams.err)?;
    snapshot.policy = arguments.policy.read(directory, &mut snapshot, &mut notes)?;
    notes.show(streams.err);
    let (outcome, queue) = ran(&snapshot)?;
    let audit = audit(&snapshot)?;
    let reasons = survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true)?;
    let name = directory.map_or_else(|| "a pool".to_owned(), shown);
    let text = page(&name, &snapshot, &outcome, &reasons, &audit);
    if arguments.output.as_os_str() == "-" {
        return print(raw_output(), |out| out.write_all(text.as_bytes()));
    }
    std::fs::write(&arguments.output, text).map_err(|error| Failure::writing(arguments.output.display(), &error))
}

/// The last part of a path, as the pool is called.
fn shown(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| path.display().to_string())
}
