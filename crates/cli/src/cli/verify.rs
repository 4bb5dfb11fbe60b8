//! `classmate verify POOL`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::input::{self, Notes};
use crate::cli::pool::PoolFiles;
use crate::cli::{Failure, FormatArguments, Reply, Streams, language, print_result};
use crate::report::counted;
use crate::report::verify as report;
use classmate::Zone;
use classmate_advice::internal::verify::log::CycleLog;
use classmate_advice::{Verification, verify};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::SlotAttributes;
use classmate_pool::internal::pool::ad_reader::AdReader;

/// Replay a recorded cycle and compare it with the negotiator's own log.
///
/// POOL is a directory as for `classmate negotiate`, with the negotiator's `NegotiatorLog`, `MatchLog` or both. The
/// comparison is strict: matches in their order, and everything else that the log has. A `NegotiatorLog` has matches and
/// rejections with `NEGOTIATOR_DEBUG = D_MATCH`; with `D_FULLDEBUG` also submitter limits and the pie of each spin. The
/// negotiator ad after the cycle (`after/negotiator.ads` or `negotiator.ads`) adds statistics.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Each difference has a cause, which is found by an experiment: the cycle is replayed under a condition that the log \
shows, such as the order in which equal slots were taken. Differences that vanish were caused by it.

Examples:
  classmate verify examples/verify
  classmate verify examples/verify --format json
  classmate verify examples/verify --cycle 1
  classmate verify examples/verify --against examples/verify/NegotiatorLog

Exit status: 0 if the replay is identical, 1 if it differs or a file cannot be read, 2 if a file or an option is \
invalid.")]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// A log of the negotiator, instead of POOL/NegotiatorLog and POOL/MatchLog; repeatable
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// The cycle of the log to compare, counted from 1 [default: the first that started after the snapshot]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    cycle: Option<u32>,
    /// Number of differences to list: `all`, `none` or a number
    #[arg(long, value_name = "HOW MANY", default_value = "10", value_parser = super::negotiate::parse_matches)]
    differences: usize,
    #[command(flatten)]
    output: FormatArguments,
}

/// The result, with the log that it is about.
#[derive(Serialize)]
struct Verified {
    /// The cycle.
    cycle: CycleOfLog,
    #[serde(flatten)]
    result: Verification,
}

/// A cycle of a log.
#[derive(Serialize)]
pub(crate) struct CycleOfLog {
    /// The files.
    pub(crate) logs: Vec<String>,
    /// Its number, from 1.
    pub(crate) number: usize,
    /// The number of cycles in the log.
    pub(crate) of: usize,
    /// Its start, epoch seconds.
    pub(crate) started: Option<i64>,
}

pub(super) fn run(arguments: &VerifyArguments, streams: Streams) -> Result<ExitCode, Failure> {
    let files = &arguments.files;
    let mut notes = Notes::default();
    let mut snapshot = files.read(SlotAttributes::Cycle, false, &mut notes, streams.err)?;
    let (mut log, logs) = arguments.log()?;
    let published =
        ["after/negotiator.ads", "negotiator.ads"].iter().find_map(|name| input::own(files.directory(), name));
    let ads = published.map(|path| input::ads(&path, &language::settings(), &mut notes)).transpose()?;
    let negotiator = ads.as_ref().and_then(|ads| ads.first());
    let latest = negotiator.and_then(|ad| AdReader::of(ad, &language::settings()).integer("LastNegotiationCycleTime0"));
    let wrong = latest.map_or(0, |latest| log.align(latest));
    if wrong != 0 {
        let (hours, minutes) = (wrong.abs() / 3600, wrong.abs() / 60 % 60);
        let way = if wrong > 0 { "ahead of" } else { "behind" };
        notes.warn(format!("the log is from a time zone {hours:02}:{minutes:02} {way} that of this process"));
    }
    let at = arguments.chosen(&log, &logs, &snapshot)?;
    let record = &log.cycles[at];
    if files.now.is_none() {
        let updated = snapshot.log.as_ref().and_then(|log| log.get(b"Accountant.")?.integer("LastUpdateTime"));
        snapshot.now = log.clock(at, updated).unwrap_or(snapshot.now);
    }
    notes.show(streams.err);
    let result = verify(&snapshot, record, negotiator)?;
    let identical = result.identical;
    let cycle = CycleOfLog { logs, number: at + 1, of: log.cycles.len(), started: record.started };
    let verified = Verified { cycle, result };
    let reply = Reply { schema: "verify/1", result: &verified, rows: &verified.result.differences };
    print_result(arguments.output.format, &reply, |out| {
        report::write(out, &verified.cycle, &verified.result, arguments.differences)
    })?;
    Ok(if identical { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl VerifyArguments {
    /// Reads the logs; the decisions of a `MatchLog` belong to the cycles of a `NegotiatorLog`.
    fn log(&self) -> Result<(CycleLog, Vec<String>), Failure> {
        let own = || ["NegotiatorLog", "MatchLog"].iter().filter_map(|name| input::own(self.files.directory(), name));
        let paths: Vec<PathBuf> = if self.against.is_empty() { own().collect() } else { self.against.clone() };
        if paths.is_empty() {
            let help = "name one with --against FILE";
            return Err(Failure::new("the directory of the pool has no NegotiatorLog and no MatchLog").help(help));
        }
        let mut whole: Option<CycleLog> = None;
        for path in &paths {
            let log = read(path)?;
            match &mut whole {
                Some(whole) => whole.add_matches(log),
                None => whole = Some(log),
            }
        }
        let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let log = whole.unwrap_or_default();
        if log.cycles.is_empty() || !log.decides {
            let what = if log.cycles.is_empty() { "negotiation cycle" } else { "match or rejection" };
            let help =
                "a NegotiatorLog has matches if NEGOTIATOR_DEBUG has D_MATCH; otherwise they are in the MatchLog";
            return Err(Failure::input(format!("no {what} in {}", names.join(", "))).help(help));
        }
        Ok((log, names))
    }

    /// The position of the cycle to compare.
    fn chosen(&self, log: &CycleLog, names: &[String], snapshot: &Snapshot) -> Result<usize, Failure> {
        let (cycles, names) = (counted(log.cycles.len(), "cycle"), names.join(", "));
        if let Some(number) = self.cycle {
            let at = number as usize - 1;
            return if at < log.cycles.len() {
                Ok(at)
            } else {
                Err(Failure::input(format!("{cycles} in {names}: expected a number up to {}", log.cycles.len())))
            };
        }
        if let [only] = &log.cycles[..]
            && only.started.is_none()
        {
            return Ok(0);
        }
        let taken = snapshot.newest_time();
        log.cycle_after(taken).ok_or_else(|| {
            let last = log.cycles.iter().rev().find_map(|cycle| cycle.started);
            let last =
                last.map(|last| format!(", the last of which started at {}", report::time(last))).unwrap_or_default();
            let message = format!(
                "{names} has {cycles}{last}, and none that started after the snapshot ({}) and ended",
                report::time(taken)
            );
            Failure::input(message).help("choose one with --cycle NUMBER; set TZ if the log is from another time zone")
        })
    }
}

fn read(path: &Path) -> Result<CycleLog, Failure> {
    let input = input::open(path)?;
    CycleLog::read(input.reader, &Zone::local()).map_err(|error| Failure::reading(&input.name, &error))
}
