//! `classmate negotiate POOL`

use std::io::Write;

use serde::Serialize;

use crate::cli::input::{self, Notes};
use crate::cli::output::Out;
use crate::cli::policy::PolicyArguments;
use crate::cli::pool::PoolFiles;
use crate::cli::stats::{Measured, Report, Stopwatch};
use crate::cli::{Failure, FormatArguments, Reply, Streams, language, leaked, parsed, print, print_result, raw_output};
use crate::report::{self, outcome};
use classmate::internal::format::long::LongWriter;
use classmate::internal::threads::set_number;
use classmate_config::Config;
use classmate_pool::internal::negotiate::Purpose;
use classmate_pool::internal::negotiate::advertisement::advertisement;
use classmate_pool::internal::negotiate::directory::SlotAttributes;
use classmate_pool::internal::pool::slot::copies;
use classmate_pool::internal::simulate::replay::{CycleReport, ReplayPlan, replay};
use classmate_pool::{CycleOptions, Journal, Matcher, Outcome, PreparedPool, Snapshot, commit};

/// Run a negotiation cycle as `condor_negotiator` would.
///
/// Shows the matches of each submitter and why the remaining jobs did not match. POOL is a directory with the output of
/// HTCondor's tools: `slots.ads` (`condor_status -long`) and `jobs.ads` (`condor_q -allusers -long`). Optional files
/// are `submitters.ads` (`condor_status -submitters -long`), priorities, from `Accountantnew.log` (from the negotiator's
/// spool directory) or `accounting.ads` (`condor_status -accounting -long`), and the negotiator's configuration:
/// `condor_config`, then the files in `config.d` in alphabetical order, then `config`. `classmate snapshot` writes all of
/// them. An option can replace each file. Read-only unless --commit is given.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate negotiate examples/pool
  classmate negotiate examples/pool --matches none --format json
  classmate negotiate examples/pool --ad
  classmate negotiate examples/slurm --policy slurm
  classmate negotiate examples/pool --commit      # update examples/pool/Accountantnew.log
  classmate negotiate examples/pool --cycles 24 --interval 3600 --run-time 7200
  classmate negotiate --slots examples/pool/slots.ads --jobs examples/groups/jobs.ads

Exit status: 0 if the cycle ran, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct NegotiateArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Charge the cycle to the accountant's log: decay, usage and matches in one transaction
    #[arg(long)]
    commit: bool,
    #[command(flatten)]
    output: FormatArguments,
    /// Print only the statistics, as attributes of the negotiator ad in the long format
    #[arg(long, conflicts_with_all = ["format", "matches", "stats"])]
    ad: bool,
    /// Also print the time and memory of each phase and the number of slot and request classes (in JSON: part of
    /// `statistics`)
    #[arg(long)]
    stats: bool,
    /// Evaluate slots one by one, like `condor_negotiator` (slower, same result)
    #[arg(long)]
    reference_path: bool,
    /// Order equal slots as `condor_negotiator`'s sort does, not as in the slot file (slower)
    #[arg(long)]
    exact_ties: bool,
    /// Number of threads [default: all CPUs]; does not affect the result
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Number of matches to list: `all`, `none` or a number [default: all; with --cycles none]
    #[arg(long, value_name = "HOW MANY", value_parser = parse_matches)]
    matches: Option<usize>,
    /// Run N cycles: matched jobs run, completed jobs leave the queue, and priorities are updated
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["ad", "stats", "reference_path", "exact_ties"],
          value_parser = clap::value_parser!(u32).range(1..))]
    cycles: Option<u32>,
    #[command(flatten)]
    pace: Pace,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    policy: PolicyArguments,
}

/// The clock of several cycles.
#[derive(clap::Args, Debug)]
pub(super) struct Pace {
    /// Seconds from one cycle to the next [default: `NEGOTIATOR_INTERVAL`]
    #[arg(long, value_name = "SECONDS", requires = "cycles", value_parser = clap::value_parser!(i64).range(1..))]
    interval: Option<i64>,
    /// Run time of a job: seconds, or an expression over the job with the slot as TARGET [default: jobs never end]
    #[arg(long, value_name = "EXPR", requires = "cycles")]
    run_time: Option<String>,
}

impl Pace {
    pub(super) fn plan(&self, cycles: u32, config: &Config, streams: Streams) -> Result<ReplayPlan, Failure> {
        let run_time = self.run_time.as_deref().map(|text| parsed(text, "--run-time", streams)).transpose();
        Ok(ReplayPlan { cycles, interval: interval(self.interval, config)?, run_time: run_time?, refill: false })
    }
}

/// Seconds from one cycle to the next.
pub(super) fn interval(given: Option<i64>, config: &Config) -> Result<i64, Failure> {
    let configured = || config.integer("NEGOTIATOR_INTERVAL", 60, 1, i64::from(i32::MAX));
    Ok(given.map_or_else(configured, Ok)?)
}

/// Parses the number of matches to list.
pub(super) fn parse_matches(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        "none" => Ok(0),
        number => number.parse().map_err(|_| "expected `all`, `none` or a number".to_owned()),
    }
}

pub(super) fn run(arguments: &NegotiateArguments, streams: Streams) -> Result<(), Failure> {
    if let Some(threads) = arguments.threads {
        // A pool of threads that is there already stays: then this process has run a cycle before.
        set_number(usize::from(threads));
    }
    let mut watch = Stopwatch::start();
    let mut notes = Notes::default();
    // Several cycles change slots, other policies need more attributes, and the slow path is for doubt.
    let slow = arguments.reference_path || arguments.exact_ties;
    let less = arguments.policy.is_condor() && arguments.cycles.is_none() && !slow;
    let kept = if less { SlotAttributes::Cycle } else { SlotAttributes::All };
    let files = &arguments.files;
    let snapshot = leaked(files.read(kept, arguments.commit, &mut notes, streams.err)?);
    snapshot.policy = arguments.policy.read(files.directory(), snapshot, &mut notes)?;
    if arguments.commit && !snapshot.policy.uses_accountant() {
        return Err(Failure::input("--commit updates the HTCondor accountant, so it requires --policy condor")
            .help("remove --commit"));
    }
    // The log is locked and read again before the cycle, so that no other process writes to it in between.
    let mut journal = if arguments.commit { Some(files.journal(snapshot.now)?) } else { None };
    if let Some(journal) = &journal {
        snapshot.log = Some(journal.log().clone());
    }
    language::note_defects(snapshot, &mut notes);
    notes.show(streams.err);
    if let Some(cycles) = arguments.cycles {
        return play(arguments, cycles, std::mem::take(snapshot), journal, streams);
    }
    // Only --commit reads the slots again.
    let slots = if arguments.commit { copies(&snapshot.slots) } else { std::mem::take(&mut snapshot.slots) };
    let pool = PreparedPool::prepare(snapshot, slots, Purpose::Cycle, &mut watch)?;
    let matcher = match arguments {
        _ if arguments.exact_ties => Matcher::ExactTies,
        _ if arguments.reference_path => Matcher::Reference,
        _ => Matcher::default(),
    };
    let options = CycleOptions { matcher, observer: Some(&mut watch), ..CycleOptions::default() };
    let cycle = leaked(pool).negotiate(options)?;
    watch.stop();
    let measured = Measured::new(watch, &cycle);
    let outcome = leaked(cycle.outcome);
    if let Some(journal) = &mut journal {
        commit(snapshot, outcome, journal)?;
    }
    if arguments.ad {
        let kept = snapshot.config.integer("NEGOTIATION_CYCLE_STATS_LENGTH", 3, 0, 100)?;
        let mut text = Vec::new();
        LongWriter::default().write(&mut text, &advertisement(outcome, snapshot.now, kept > 0));
        return print(raw_output(), |out| out.write_all(&text));
    }
    let write = |out: &mut Out| {
        outcome::write(out, outcome, arguments.matches.unwrap_or(usize::MAX), streams.out)?;
        if arguments.stats {
            writeln!(out)?;
            measured.write(out)?;
        }
        Ok(())
    };
    let (form, schema, rows) = (arguments.output.format, "negotiate/1", &outcome.matches);
    if arguments.stats {
        return print_result(form, &Reply { schema, result: &Report::new(outcome, &measured), rows }, write);
    }
    print_result(form, &Reply { schema, result: outcome, rows }, write)
}

/// Several cycles for programs.
#[derive(Serialize)]
struct Cycles<'a> {
    cycles: &'a [CycleReport],
}

/// The counts of a cycle.
#[derive(Serialize)]
struct CycleRow {
    cycle: u32,
    now: i64,
    ended: usize,
    started: usize,
    displaced: usize,
    running: usize,
    idle: usize,
}

impl CycleRow {
    fn of(report: &CycleReport) -> Self {
        let CycleReport { cycle, now, ended, started, displaced, running, idle, .. } = *report;
        CycleRow { cycle, now, ended, started, displaced, running, idle }
    }
}

/// Runs several cycles.
fn play(
    arguments: &NegotiateArguments,
    cycles: u32,
    snapshot: Snapshot,
    mut journal: Option<Journal>,
    streams: Streams,
) -> Result<(), Failure> {
    if arguments.matches.is_some_and(|most| most > 0) {
        return Err(Failure::input("the matches of several cycles are not listed")
            .help("use --matches none, or --format json, which has them all"));
    }
    let plan = arguments.pace.plan(cycles, &snapshot.config, streams)?;
    let book = |snapshot: &Snapshot, outcome: &Outcome| match &mut journal {
        Some(journal) => commit(snapshot, outcome, journal).map(|()| Some(journal.log().clone())),
        None => Ok(None),
    };
    let progress = input::steps(u64::from(cycles), "cycle");
    let mut played = Vec::new();
    let done = replay(snapshot, &plan, book, |cycle| {
        progress.inc(1);
        played.push(cycle);
    });
    progress.finish_and_clear();
    done?;
    let result = Cycles { cycles: &played };
    let rows: Vec<CycleRow> = played.iter().map(CycleRow::of).collect();
    let answer = Reply { schema: "negotiate-cycles/1", result: &result, rows: &rows };
    print_result(arguments.output.format, &answer, |out| report::replay::write(out, &played, streams.out))
}
