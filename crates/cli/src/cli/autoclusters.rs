//! `classmate autoclusters POOL`

use std::path::PathBuf;

use serde_json::json;

use crate::cli::input::{self, Notes};
use crate::cli::live::LiveArguments;
use crate::cli::whatif::{edit, some};
use crate::cli::{Failure, FormatArguments, Now, Reply, Streams, language, parse_now, print_result, settings};
use crate::report::autoclusters as report;
use classmate_advice::internal::autoclusters::audit;
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::SlotAttributes;

/// Show significant attributes and the autoclusters they create.
///
/// An attribute is significant if an expression of a slot or of the negotiator refers to it. Jobs that differ in a
/// significant attribute, or in an attribute that their own expressions refer to, are in different autoclusters. POOL
/// is a directory as for `classmate negotiate`, or a file of slot ads; without jobs, only the reasons are shown.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Columns:
  VALUES                number of different values among idle jobs
  AUTOCLUSTERS WITHOUT  number of autoclusters without references to it; REQUESTS WITHOUT: number of resource requests
  MATTERS               whether a match can depend on it through Requirements, Rank or the configuration
  BECAUSE OF            expression that refers to it, and the number of slots or jobs with it (--reasons lists all)

Examples:
  classmate autoclusters examples/pool
  classmate autoclusters examples/stuck/slots.ads --reasons
  classmate autoclusters --pool cm.example.org
  classmate autoclusters examples/pool --set-slot true 'Start = TARGET.GlobalJobId =!= \"\"'

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
pub(super) struct AutoclustersArguments {
    /// Directory with the files of a pool, or a file of slot ads
    #[arg(required_unless_present = "collectors", conflicts_with = "collectors")]
    pool: Option<PathBuf>,
    /// Job ads, instead of POOL/jobs.ads
    #[arg(long, value_name = "FILE", conflicts_with = "collectors")]
    jobs: Option<PathBuf>,
    /// Negotiator configuration, instead of the files in POOL
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long)]
    allow_commands: bool,
    /// Set an attribute of the slots for which EXPR is true, and show the effect; repeatable
    #[arg(long, num_args = 2, value_names = ["EXPR", "NAME = VALUE"])]
    set_slot: Vec<String>,
    /// List every expression that refers to an attribute
    #[arg(long)]
    reasons: bool,
    /// Current time: seconds since 1970, a date, or `wall` [default: the newest time in the files]
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    now: Option<Now>,
    #[command(flatten)]
    output: FormatArguments,
    #[command(flatten)]
    live: LiveArguments,
}

pub(super) fn run(arguments: &AutoclustersArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let mut snapshot = snapshot(arguments, &mut notes, streams)?;
    notes.show(streams.err);
    let before = audit(&snapshot)?;
    if arguments.set_slot.is_empty() {
        let answer = Reply { schema: "autoclusters/1", result: &before, rows: &before.attributes };
        return print_result(arguments.output.format, &answer, |out| {
            report::write(out, &before, arguments.reasons, streams.out)
        });
    }
    for pair in arguments.set_slot.chunks_exact(2) {
        let settings = snapshot.settings();
        let edit = edit(pair, "--set-slot", streams)?;
        let count = edit.apply(&mut snapshot.slots, &settings);
        some(count, (&edit.of, &pair[0]), &snapshot.slots, "slot")?;
    }
    let after = audit(&snapshot)?;
    let both = json!({ "before": before, "after": after });
    let answer = Reply { schema: "autoclusters-change/1", result: &both, rows: &after.attributes };
    print_result(arguments.output.format, &answer, |out| report::write_change(out, &before, &after))
}

fn snapshot(arguments: &AutoclustersArguments, notes: &mut Notes, streams: Streams) -> Result<Snapshot, Failure> {
    let Some(pool) = arguments.pool.as_deref() else {
        let given = arguments.config.as_deref();
        let config =
            given.map(|path| settings::pool(Some(path), None, arguments.allow_commands, streams.err)).transpose()?;
        let mut snapshot = arguments.live.read(SlotAttributes::All, config, true, notes)?.snapshot;
        snapshot.now = arguments.now.unwrap_or(Now::Wall).seconds();
        return Ok(snapshot);
    };
    let folder = pool.is_dir();
    let evaluation = language::settings();
    let slots = if folder { pool.join("slots.ads") } else { pool.to_owned() };
    let jobs = arguments.jobs.clone().or_else(|| folder.then(|| pool.join("jobs.ads")).filter(|path| path.exists()));
    let config =
        settings::pool(arguments.config.as_deref(), folder.then_some(pool), arguments.allow_commands, streams.err)?;
    let mut snapshot = Snapshot {
        config,
        slots: input::ads(&slots, &evaluation, notes)?,
        jobs: jobs.map(|path| input::ads(&path, &evaluation, notes)).transpose()?.unwrap_or_default(),
        ..Snapshot::default()
    };
    snapshot.now = arguments.now.map_or_else(|| snapshot.newest_time(), Now::seconds);
    Ok(snapshot)
}
