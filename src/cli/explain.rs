//! `classmate explain POOL`

use std::io::{BufWriter, Write};

use clap::ValueEnum;

use crate::cli::input::Notes;
use crate::cli::negotiate::{PoolFiles, refused, snapshot};
use crate::cli::policy::PolicyArguments;
use crate::cli::{Failure, Streams, written};
use crate::eval::scope::Scope;
use crate::explain::cycle::story;
use crate::explain::{Market, explain, find};
use crate::negotiate::negotiate;
use crate::report::explain::{self as report, Layout};
use crate::report::{self as reports, Origin};
use crate::syntax::parse::{ParseOptions, parse_expr};

/// Say why a job does not run: which conditions refuse it, what is nearest, and what a cycle makes of it.
///
/// The Requirements of the job and of the slots are taken apart, through `&&`, `||`, `?:` and the attributes they refer
/// to; every condition is evaluated for every slot. What would have to change is tried before it is told.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
What the columns say:
  TRUE FALSE UNDEF ERROR  for how many slots a condition is what, looked at alone
  TOGETHER                for how many it is true and all before it are; for the parts of `||`, it or one before

Examples:
  classmate explain examples/pool --job 1.0
  classmate explain examples/pool --job 'Owner == \"bob\"' --format json

Exit status: 0 on success, 1 when a file cannot be read, 2 when a file or a setting is wrong or there is no such job.")]
pub(super) struct Arguments {
    #[command(flatten)]
    files: PoolFiles,
    /// The job: its number, or an expression over jobs, of which the first is taken for which it is true
    #[arg(long, value_name = "ID|EXPR")]
    job: String,
    /// Policies of slots that are shown, what refuses most slots first
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    policies: usize,
    /// Leave out the cycle
    #[arg(long)]
    no_cycle: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// For people
    Text,
    /// One object with everything
    Json,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let mut snapshot = snapshot(&arguments.files, false, &mut notes, streams.err)?;
    snapshot.policy = arguments.policy.read(arguments.files.directory(), &mut snapshot, &mut notes)?;
    notes.show(streams.err);
    let text = arguments.job.trim();
    let number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(text);
    let found = match number {
        Some(number) => {
            let whole = if number.contains('.') { number.to_owned() } else { format!("{number}.0") };
            find(&snapshot, |job, _| job.id.to_string() == whole)
        }
        None => {
            let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).map_err(|error| {
                let origin = Origin::whole("--job");
                Failure::rendered(reports::render(&error, text.as_bytes(), &origin, None, streams.err))
            })?;
            let settings = snapshot.settings();
            find(&snapshot, |_, ad| {
                Scope::new(ad, &settings).eval(&expr).is_ok_and(|value| value.as_condition() == Some(true))
            })
        }
    };
    let Some((job, ad)) = found else {
        let what = if number.is_some() { "there is no job" } else { "no job satisfies" };
        return Err(Failure::input(format!("{what} `{text}`"))
            .help(&format!("{} jobs were read; a number is cluster.process", snapshot.jobs.len())));
    };
    let market = Market::of(&snapshot).map_err(|error| refused(&error))?;
    let submitter = job.submitter.to_string();
    let mut explanation = explain(&market, job.id.to_string(), submitter.clone(), ad);
    if !arguments.no_cycle {
        let outcome = negotiate(&snapshot).map_err(|error| refused(&error))?;
        explanation.cycle = Some(story(&outcome, &market, job.id, &submitter, ad));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        Form::Text => report::write(&mut out, &explanation, Layout { policies: arguments.policies }, streams.out),
        Form::Json => {
            serde_json::to_writer_pretty(&mut out, &explanation).map_err(Into::into).and_then(|()| writeln!(out))
        }
    };
    written(printed.and_then(|()| out.flush()))
}
