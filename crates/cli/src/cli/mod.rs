//! The command line: one file a subcommand.

mod ads;
mod advise;
mod against;
mod autoclusters;
mod compare;
mod completions;
mod config;
mod conform;
mod defaults;
mod dirac;
mod eval;
mod experiment;
mod explain;
mod export;
mod failure;
mod fmt;
mod functions;
mod generate;
mod help;
mod input;
mod interruption;
pub(crate) mod language;
pub mod library;
mod lint;
mod live;
mod man;
mod matching;
mod metrics_server;
mod negotiate;
mod output;
mod pager;
mod policy;
mod pool;
mod proof;
mod provenance;
mod quotas;
mod repl;
mod report;
mod settings;
mod shadow;
mod simulate;
mod slurm;
mod snapshot;
mod sprio;
mod sshare;
mod stats;
mod status;
mod submit;
mod taskqueues;
mod test;
mod top;
mod userprio;
mod verify;
mod version;
mod versions;
mod whatif;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(crate) use failure::Failure;
use failure::MessageBody;
use help::misused;
use output::{FORMATS, line_output, object, raw_output, source_output, text_output, write_file, write_json};
pub(crate) use output::{Form, FormatArguments, Reply, Streams, columns, complain, print, print_result, written};
pub(crate) use shadow::{ShadowHistory, ShadowRow};
pub(crate) use status::{Account, PoolStatus};
pub(crate) use verify::CycleOfLog;
use words::words;

use crate::report::{Color, Origin, render_diagnostic};
use classmate::internal::builtin::user_map::{Homes, UserMap, UserMaps};
use classmate::internal::span::Position;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::time::parse_instant;
use classmate::{EvalOptions, Expr, Mode, ParseOptions, Semantics, SyntaxError, Zone};
use classmate_config::internal::config::disk::io_reason;

/// Columns of help, however wide the terminal is.
const WIDEST_HELP: usize = 100;

/// Evaluate ClassAds, replay HTCondor negotiation cycles, and explain the results.
#[derive(Parser, Debug)]
#[command(name = "classmate", version = version::version(), propagate_version = true, max_term_width = WIDEST_HELP)]
#[command(after_help = "\
Examples:
  classmate eval '1 + 2 * 3'
  classmate eval 'RequestMemory > 1024' --my examples/pool/jobs.ads
  classmate match --job examples/pool/jobs.ads --slots examples/pool/slots.ads --pairs none
  classmate negotiate examples/pool
  classmate negotiate --pool cm.example.org
  classmate explain examples/pool --job 1.0
  classmate whatif examples/groups --set 'GROUP_QUOTA_chemistry = 5'
  classmate report examples/groups -o cycle.html
  classmate quotas examples/groups
  classmate taskqueues examples/dirac
  classmate sprio examples/slurm
  classmate config check examples/pool/config
  classmate lint examples/pool

Exit status: 0 on success, 1 on failure, 2 on a usage error or input that does not parse.")]
pub struct Cli {
    /// When to color the output; `auto` means on a terminal, unless `NO_COLOR` or `FORCE_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    /// Version of HTCondor whose language applies: a series such as 24.0, `latest`, or `advertised` (that of each ad)
    #[arg(long, global = true, value_name = "SERIES", default_value = "latest", value_parser = language::parse_semantics)]
    semantics: Semantics,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    fn for_stream(self, terminal: bool) -> Color {
        // 0 and false turn colors off, on a terminal too.
        let forced = variable("FORCE_COLOR").map(|value| value != "0" && !value.eq_ignore_ascii_case("false"));
        match self {
            ColorChoice::Always => Color::On,
            ColorChoice::Auto if !has_no_color() && forced.unwrap_or(terminal && !is_dumb()) => Color::On,
            _ => Color::Off,
        }
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// True if `NO_COLOR` is set.
fn has_no_color() -> bool {
    variable("NO_COLOR").is_some()
}

/// True if terminals are said to understand no escape sequences.
fn is_dumb() -> bool {
    variable("TERM").is_some_and(|terminal| terminal == "dumb")
}

#[derive(Subcommand, Debug)]
enum Command {
    Eval(eval::EvalArguments),
    Match(matching::MatchArguments),
    Repl(repl::ReplArguments),
    Functions(functions::FunctionsArguments),
    Negotiate(Box<negotiate::NegotiateArguments>),
    Explain(Box<explain::ExplainArguments>),
    Whatif(Box<whatif::WhatifArguments>),
    Diff(whatif::DiffArguments),
    Report(Box<report::ReportArguments>),
    Advise(Box<advise::AdviseArguments>),
    Generate(generate::GenerateArguments),
    Simulate(Box<simulate::SimulateArguments>),
    Compare(compare::CompareArguments),
    Experiment(experiment::ExperimentArguments),
    Verify(Box<verify::VerifyArguments>),
    Quotas(quotas::QuotasArguments),
    Taskqueues(taskqueues::TaskqueuesArguments),
    Userprio(Box<userprio::UserprioArguments>),
    Sprio(Box<sprio::SprioArguments>),
    Sshare(Box<sshare::SshareArguments>),
    Ads(ads::AdsArguments),
    Snapshot(snapshot::SnapshotArguments),
    Shadow(shadow::ShadowArguments),
    Export(export::ExportArguments),
    Top(top::TopArguments),
    Config(config::ConfigArguments),
    Autoclusters(autoclusters::AutoclustersArguments),
    Lint(lint::LintArguments),
    Fmt(fmt::FmtArguments),
    Policy(proof::ProofArguments),
    Test(test::TestArguments),
    Versions(Box<versions::VersionsArguments>),
    Conform(conform::ConformArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}

impl Command {
    /// The refusal of `--semantics`, of a command for which it means nothing.
    fn without_semantics(&self) -> Option<Failure> {
        let without_ads = |name: &str| {
            Failure::input(format!("`{name}` does not read or evaluate ads, so --semantics has no effect"))
                .help("remove --semantics")
        };
        match self {
            Command::Functions(_) => Some(without_ads("functions")),
            Command::Generate(_) => Some(without_ads("generate")),
            Command::Compare(_) => Some(without_ads("compare")),
            Command::Completions(_) => Some(without_ads("completions")),
            Command::Man(_) => Some(without_ads("man")),
            Command::Versions(_) => Some(
                Failure::input(
                    "`versions` reads and evaluates in all versions from --from to --to, so --semantics has no effect",
                )
                .help("name one version with `--from SERIES --to SERIES`"),
            ),
            _ => None,
        }
    }
}

/// Clock and mode, for all commands that evaluate.
#[derive(clap::Args, Debug)]
pub(crate) struct World {
    /// Evaluate as with STRICT_CLASSAD_EVALUATION
    #[arg(long)]
    strict: bool,
    /// Result of `time()`: seconds since 1970, a date such as 2026-07-05T12:00:00Z, or `wall` [default: wall; `match` with
    /// slots from a file: the newest time in them]
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    now: Option<Now>,
    /// Seed of `random()`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// A map for `userMap` in the format of `CLASSAD_USER_MAPFILE_` files: lines of `* user value`; repeatable
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_map)]
    user_map: Vec<NamedMap>,
    /// User accounts for `userHome`, in the format of /etc/passwd [default: /etc/passwd]
    #[arg(long, value_name = "FILE", value_parser = parse_accounts)]
    accounts: Option<Arc<Homes>>,
}

/// A user map and its name.
#[derive(Clone, Debug)]
struct NamedMap(String, Arc<UserMap>);

fn contents_of(file: &str) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("cannot read `{file}`: {}", io_reason(&error)))
}

fn parse_map(text: &str) -> Result<NamedMap, String> {
    let (name, file) = text.split_once('=').ok_or("expected NAME=FILE")?;
    let map = UserMap::parse(&contents_of(file)?);
    match map.skipped().first() {
        Some(line) => Err(format!("`{file}`: {line}")),
        None => Ok(NamedMap(name.to_owned(), Arc::new(map))),
    }
}

/// The account database of a machine that has one.
const ACCOUNTS: &str = "/etc/passwd";

fn parse_accounts(file: &str) -> Result<Arc<Homes>, String> {
    Ok(Arc::new(Homes::parse(&contents_of(file)?)))
}

/// The clock of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Now {
    /// The wall clock.
    Wall,
    /// Seconds since 1970.
    At(i64),
}

impl Now {
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Now::Wall => jiff::Timestamp::now().as_second(),
            Now::At(seconds) => seconds,
        }
    }
}

fn parse_now(text: &str) -> Result<Now, String> {
    if text == "wall" {
        return Ok(Now::Wall);
    }
    parse_instant(text, &Zone::local())
        .map(Now::At)
        .ok_or_else(|| "expected seconds since 1970, a date such as 2026-07-05T12:00:00Z, or `wall`".to_owned())
}

impl World {
    pub(crate) fn settings(&self) -> EvalOptions {
        let mut maps = UserMaps::default();
        for NamedMap(name, map) in &self.user_map {
            maps.insert(name.as_bytes(), Arc::clone(map));
        }
        EvalOptions {
            mode: if self.strict { Mode::Strict } else { Mode::HTCondor },
            now: self.now.unwrap_or(Now::Wall).seconds(),
            zone: Zone::local(),
            seed: self.seed,
            maps: Arc::new(maps),
            // Without such a database no user has a home directory.
            homes: self.accounts.clone().or_else(|| parse_accounts(ACCOUNTS).ok()).unwrap_or_default(),
            ..language::settings()
        }
    }
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    output::choose_messages(&arguments.iter().map(|one| one.to_string_lossy().into_owned()).collect::<Vec<_>>());
    match (answered(&userprio::spelled(arguments)), input::flaw()) {
        (Ok(ExitCode::SUCCESS), Some(flaw)) => {
            let failure = Failure::new(flaw);
            failure.show();
            ExitCode::from(failure.status)
        }
        (Ok(status), _) => status,
        (Err(failure), _) => {
            failure.show();
            ExitCode::from(failure.status)
        }
    }
}

/// Parses the arguments and runs the subcommand.
fn answered(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let width = columns().or_else(output::asked_columns).unwrap_or(WIDEST_HELP);
    let command = help::arranged(Cli::command(), arguments, width.min(WIDEST_HELP));
    let matches = defaults::read().and_then(|defaults| defaults.matches(&command, arguments)).map_err(|failure| {
        // The version and the help do not depend on defaults.
        let shown = command.try_get_matches_from(arguments).err().filter(|error| !error.use_stderr());
        shown.map_or(failure, |error| misused(&error))
    })?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| misused(&error))?;
    if let Some(refusal) = cli.command.without_semantics().filter(|_| language::is_given(arguments)) {
        return Err(refusal);
    }
    language::choose(cli.semantics);
    let streams = Streams {
        out: cli.color.for_stream(std::io::IsTerminal::is_terminal(&std::io::stdout())),
        err: cli.color.for_stream(std::io::IsTerminal::is_terminal(&std::io::stderr())),
    };
    let done = |result: Result<(), Failure>| result.map(|()| ExitCode::SUCCESS);
    match &cli.command {
        Command::Eval(arguments) => done(eval::run(arguments, streams)),
        Command::Match(arguments) => done(matching::run(arguments, streams)),
        Command::Repl(arguments) => done(repl::run(arguments, streams)),
        Command::Functions(arguments) => done(functions::run(arguments)),
        Command::Negotiate(arguments) => done(negotiate::run(arguments, streams)),
        Command::Explain(arguments) => done(explain::run(arguments, streams)),
        Command::Whatif(arguments) => whatif::run(arguments, streams),
        Command::Report(arguments) => done(report::run(arguments, streams)),
        Command::Advise(arguments) => done(advise::run(arguments, streams)),
        Command::Verify(arguments) => verify::run(arguments, streams),
        Command::Diff(arguments) => whatif::diff(arguments, streams),
        Command::Generate(arguments) => done(generate::run(arguments)),
        Command::Simulate(arguments) => done(simulate::run(arguments, streams)),
        Command::Compare(arguments) => done(compare::run(arguments, streams)),
        Command::Experiment(arguments) => done(experiment::run(arguments, streams)),
        Command::Quotas(arguments) => done(quotas::run(arguments, streams)),
        Command::Taskqueues(arguments) => done(taskqueues::run(arguments, streams)),
        Command::Userprio(arguments) => done(userprio::run(arguments, streams)),
        Command::Sprio(arguments) => done(sprio::run(arguments, streams)),
        Command::Sshare(arguments) => done(sshare::run(arguments, streams)),
        Command::Ads(arguments) => done(ads::run(arguments, streams)),
        Command::Snapshot(arguments) => done(snapshot::run(arguments, streams)),
        Command::Shadow(arguments) => done(shadow::run(arguments, streams)),
        Command::Export(arguments) => done(export::run(arguments, streams)),
        Command::Top(arguments) => done(top::run(arguments, streams)),
        Command::Config(arguments) => config::run(arguments, streams),
        Command::Autoclusters(arguments) => done(autoclusters::run(arguments, streams)),
        Command::Lint(arguments) => lint::run(arguments, streams),
        Command::Policy(arguments) => proof::run(arguments, streams),
        Command::Test(arguments) => test::run(arguments, streams),
        Command::Versions(arguments) => done(versions::run(arguments, streams)),
        Command::Fmt(arguments) => fmt::run(arguments, streams),
        Command::Conform(arguments) => done(conform::run(arguments)),
        Command::Completions(arguments) => done(completions::run(arguments)),
        Command::Man(arguments) => done(man::run(arguments)),
    }
}

/// Keeps a value until the process ends, which is when the command ends: to free every ad of a large pool takes long.
fn leaked<'v, T: 'v>(value: T) -> &'v mut T {
    Box::leak(Box::new(value))
}

/// Parses the expression of a flag of the command line.
fn parsed(text: &str, flag: &str, streams: Streams) -> Result<Expr, Failure> {
    let options = ParseOptions { semantics: language::chosen(), ..ParseOptions::default() };
    parsed_with(text.as_bytes(), flag, &options, streams.err)
}

/// Parses an expression with options; `name` is what messages call it.
fn parsed_with(text: &[u8], name: &str, options: &ParseOptions, color: Color) -> Result<Expr, Failure> {
    parse_expr(text, options).map_err(|error| unparsed(&error, text, name, color))
}

/// The failure of a text that does not parse.
fn unparsed(error: &SyntaxError, text: &[u8], name: &str, color: Color) -> Failure {
    let options = ParseOptions { semantics: language::chosen(), ..ParseOptions::default() };
    let finding = diagnose(text, error, &options);
    let place = Position::of(text, finding.span.start as usize);
    let drawn = render_diagnostic(&finding, text, &Origin::whole(name), color);
    Failure::drawn(MessageBody::at(&finding, name, place.line, place.column), &drawn)
}
