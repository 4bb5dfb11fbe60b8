//! `classmate autoclusters POOL`

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::input::{self, Notes};
use crate::cli::negotiate::refused;
use crate::cli::{Failure, Form, Now, Streams, page, parse_now, parsed, settings, written};
use crate::report::autoclusters::{self as report, Layout};
use classmate::internal::eval::scope::{EvalOptions as Evaluation, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::parse::ParseOptions;
use classmate_advice::internal::autoclusters::{Audit, audit};
use classmate_pool::internal::negotiate::Snapshot;

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
  classmate autoclusters slots.ads.gz --reasons
  classmate autoclusters examples/pool --set-slot 'Cpus > 1' 'Start = TARGET.GlobalJobId =!= \"\"'

Exit status: 0 on success, 1 if a file cannot be read, 2 if a file or an option is invalid.")]
pub(super) struct Arguments {
    /// Directory with the files of a pool, or a file of slot ads
    pool: PathBuf,
    /// Job ads, instead of POOL/jobs.ads
    #[arg(long, value_name = "FILE")]
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
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let mut snapshot = snapshot(arguments, &mut notes, streams)?;
    notes.show(streams.err);
    let before = checked(&snapshot)?;
    let mut out = page(arguments.format == Form::Table);
    let layout = Layout { reasons: arguments.reasons };
    if arguments.set_slot.is_empty() {
        let printed = match arguments.format {
            Form::Table => report::write(&mut out, &before, layout, streams.out),
            Form::Json => {
                serde_json::to_writer_pretty(&mut out, &before).map_err(Into::into).and_then(|()| writeln!(out))
            }
        };
        return written(printed.and_then(|()| out.flush()));
    }
    for pair in arguments.set_slot.chunks_exact(2) {
        set(&mut snapshot, &pair[0], &pair[1], streams)?;
    }
    let after = checked(&snapshot)?;
    let printed = match arguments.format {
        Form::Table => report::write_change(&mut out, &before, &after),
        Form::Json => {
            let both = json!({ "before": before, "after": after });
            serde_json::to_writer_pretty(&mut out, &both).map_err(Into::into).and_then(|()| writeln!(out))
        }
    };
    written(printed.and_then(|()| out.flush()))
}

fn checked(snapshot: &Snapshot) -> Result<Audit, Failure> {
    audit(snapshot).map_err(|error| refused(&error))
}

fn snapshot(arguments: &Arguments, notes: &mut Notes, streams: Streams) -> Result<Snapshot, Failure> {
    let pool: &Path = &arguments.pool;
    let folder = pool.is_dir();
    let evaluation = Evaluation::default();
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

/// Sets an attribute of the slots for which an expression holds.
fn set(snapshot: &mut Snapshot, of: &str, assignment: &str, streams: Streams) -> Result<(), Failure> {
    let condition = parsed(of.as_bytes(), "--set-slot", &ParseOptions::default(), streams)?;
    let Some((name, value)) =
        assignment.split_once('=').filter(|(name, value)| !name.trim().is_empty() && !value.starts_with('='))
    else {
        return Err(Failure::input(format!("expected `NAME = VALUE`, found `{assignment}`")));
    };
    let (name, value) =
        (Name::new(name.trim()), parsed(value.as_bytes(), "--set-slot", &ParseOptions::default(), streams)?);
    let settings = snapshot.settings();
    let mut changed = 0;
    for ad in &mut snapshot.slots {
        if Scope::new(ad, &settings).holds(&condition) {
            ad.insert_expr(name, &value);
            changed += 1;
        }
    }
    if changed == 0 {
        return Err(Failure::input(format!("`{of}` is not true for any slot")));
    }
    Ok(())
}
