//! `classmate report POOL`

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::input::Notes;
use crate::cli::policy::PolicyArguments;
use crate::cli::pool::PoolFiles;
use crate::cli::provenance::{Made, provenance};
use crate::cli::{Failure, Form, Reply, Streams, leaked, print, print_result, raw_output, words};
use crate::report::cycle::page;
use crate::report::cycle_text;
use classmate_advice::internal::autoclusters::audit;
use classmate_advice::internal::explain::cycle::reasons::{ran, survey};
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_advice::internal::picture::picture;
use classmate_advice::internal::whatif::kind::kinds;
use classmate_pool::Snapshot;

/// Write an HTML report about a negotiation cycle.
///
/// The report shows what is in use and wasted after the cycle, the machines, groups and submitters, the reasons why jobs
/// stayed idle, an explanation for each submitter, pie spins, slots, and significant attributes. It is one file without
/// external resources. Its script sorts and filters; the page is complete without it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate report examples/groups
  classmate report examples/groups --open
  classmate report examples/pool -o - > cycle.html
  classmate report examples/pool --format json

Exit status: 0 on success, 1 if a file cannot be read or written, 2 if a file or an option is invalid.")]
pub(super) struct ReportArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Output file (`-` for standard output) [default: the name of POOL, with the ending `.html`]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Open the report in a browser: `$BROWSER`, otherwise the default one
    #[arg(long)]
    open: bool,
    /// Output format: the page, or its numbers on standard output
    #[arg(long, value_name = "FORMAT", value_parser = words(&FORMS), default_value = "html")]
    format: Form,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

const FORMS: [(&str, &str, Form); 5] = [
    ("html", "HTML page", Form::Html),
    ("text", "Tables with the numbers of the page [alias: table]", Form::Text),
    ("json", "One JSON object with the numbers of the page", Form::Json),
    ("jsonl", "One JSON object per machine", Form::JsonLines),
    ("csv", "One line per machine, after a line of headings", Form::Csv),
];

pub(super) fn run(arguments: &ReportArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let directory = arguments.files.directory();
    let mut snapshot = arguments.files.snapshot(&mut notes, streams.err)?;
    snapshot.policy = arguments.policy.read(directory, &mut snapshot, &mut notes)?;
    let snapshot = leaked(snapshot);
    notes.show(streams.err);
    let (outcome, queue) = leaked(ran(snapshot)?);
    let reasons = survey(snapshot, &OutcomeRecord::new(outcome, queue), |_| true)?;
    let picture = picture(snapshot, outcome, &reasons)?;
    let made = provenance(arguments.format, &[&snapshot.config])?;
    if arguments.format != Form::Html {
        let result = Made { provenance: made, result: &picture };
        let answer = Reply { schema: "report/1", result: &result, rows: &picture.machines };
        let text = |out: &mut _| cycle_text::write(out, &picture, &kinds(snapshot, outcome), streams.out);
        return print_result(arguments.format, &answer, text);
    }
    let name = directory.map_or_else(|| "pool".to_owned(), shown);
    let asked = directory.map_or_else(|| "--pool HOST".to_owned(), |path| path.display().to_string());
    let text = page((&name, &asked), snapshot, outcome, &picture, (&audit(snapshot)?, made.as_ref()));
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.html")));
    if path.as_os_str() == "-" {
        return print(raw_output(), |out| out.write_all(text.as_bytes()));
    }
    std::fs::write(&path, text).map_err(|error| Failure::writing(path.display(), &error))?;
    print(raw_output(), |out| writeln!(out, "{}", path.display()))?;
    if arguments.open { open(&path) } else { Ok(()) }
}

/// The page of a cycle of a pool with this name.
pub(super) fn cycle_page(name: &str, snapshot: &Snapshot) -> Result<String, Failure> {
    let (outcome, queue) = ran(snapshot)?;
    let reasons = survey(snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true)?;
    let picture = picture(snapshot, &outcome, &reasons)?;
    Ok(page((name, name), snapshot, &outcome, &picture, (&audit(snapshot)?, None)))
}

/// Opens a file in the browser, and does not wait for it.
fn open(path: &Path) -> Result<(), Failure> {
    let own = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let browser = own.as_deref().unwrap_or(OsStr::new(usual));
    let started =
        Command::new(browser).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(|error| {
        Failure::new(format!("cannot open the report with `{}`: {error}", browser.display()))
            .help("name a browser in the environment variable BROWSER")
    })
}

/// The last part of a path, as the pool is called.
pub(super) fn shown(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| path.display().to_string())
}
