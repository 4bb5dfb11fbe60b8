//! `classmate config dump|get|check`

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use classmate::internal::pcre::RegexBuilder;
use serde_json::json;

use crate::cli::settings::{Sources, rendered};
use crate::cli::{Failure, Streams, complain, written};
use crate::report::config::{Layout, diagnostic_json, json, origin, render, write};
use crate::report::counted;
use classmate::internal::diagnostic::Severity;
use classmate_config::internal::config::check::{check, sort};
use classmate_config::internal::config::{Config, Definition};
use classmate_pool::internal::quota::check::diagnostics;

/// Read HTCondor configuration files: list what they set, look up a value, find what is wrong.
///
/// A configuration is made of lines `NAME = value`; the last one wins. A value may refer to others, `$(NAME)` or
/// `$(NAME:default)`, which are looked up when it is read, so their order does not matter. `NAME = $(NAME) more` takes
/// the earlier value, `NAME += more` too. Conditions, includes, templates (`use POLICY : …`), values of many lines and
/// function macros such as `$INT(…)` are read as the daemons of 25.14.1 read them. A name with a prefix, as in
/// `NEGOTIATOR.NAME`, counts for that daemon only.
///
/// FILE is a file, `-` for standard input, or the directory of a pool: its `condor_config`, the files of its `config.d`
/// in the order of their names, then its `config`. What is not set has the built-in default. Neither the environment is
/// looked at nor a command run unless that is allowed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate config check /etc/condor/condor_config --local-files
  classmate config get PREEMPTION_REQUIREMENTS condor_config --origin
  classmate config dump condor_config --changed --verbose
  classmate config dump --match '^GROUP_'
  classmate config get NEGOTIATOR_INTERVAL --set 'NEGOTIATOR_INTERVAL = $INT(2 * 30)'

Exit status: 0 on success; 1 when a name is not defined or a file cannot be read; 2 when a file is wrong.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Dump(Dump),
    Get(Get),
    Check(Check),
}

/// List names and values, sorted, as `condor_config_val -dump` does: the built-in defaults too.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Values are listed as they are written; --verbose adds below each name where it was set, how it is written if that is
not its value, its default, and for a knob of the negotiator its type and what it does:

  PRIORITY_HALFLIFE = 7200
   # at: condor_config, line 12
   # raw: PRIORITY_HALFLIFE = 2 * $(HOUR)
   # default: 86400

What is listed can be read again as a configuration.")]
struct Dump {
    #[command(flatten)]
    sources: Sources,
    /// Only what the files set, not the built-in defaults
    #[arg(long)]
    changed: bool,
    /// Only names that match a regular expression, in any case
    #[arg(long = "match", value_name = "REGEX")]
    pattern: Option<String>,
    /// Values after expansion
    #[arg(long)]
    expand: bool,
    /// Tell where each value comes from, how it is written, and its default
    #[arg(long, short)]
    verbose: bool,
    /// How the list is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    /// Lines for people
    Text,
    /// One object with everything
    Json,
}

/// Print the value of a name after expansion; status 1 if it is not defined, or empty.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate config get PRIORITY_HALFLIFE condor_config
  classmate config get X condor_config --subsystem SCHEDD --local-name second --origin")]
struct Get {
    /// The name, in any case
    name: String,
    #[command(flatten)]
    sources: Sources,
    /// The value as it is written, before expansion
    #[arg(long)]
    raw: bool,
    /// Tell below the value where it was set
    #[arg(long)]
    origin: bool,
}

/// Find what is wrong: text that cannot be read, values that are not what their knob takes, names that are hardly meant.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
An error stops the negotiator: a number out of its range, an expression that does not parse, a value that refers to
itself, an `if` without `endif`. A warning does not: a knob that does not exist, the quota of a group that is not
declared, an obsolete form. Each is shown with the line it is about and with what to do.

Exit status: 0 without errors; 2 with errors, and with --deny-warnings also with warnings.")]
struct Check {
    #[command(flatten)]
    sources: Sources,
    /// Warnings are errors
    #[arg(long)]
    deny_warnings: bool,
    /// How the result is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<ExitCode, Failure> {
    match &arguments.action {
        Action::Dump(arguments) => dump(arguments, streams).map(|()| ExitCode::SUCCESS),
        Action::Get(arguments) => get(arguments, streams),
        Action::Check(arguments) => checked(arguments, streams),
    }
}

fn dump(arguments: &Dump, streams: Streams) -> Result<(), Failure> {
    let pattern = match &arguments.pattern {
        Some(pattern) => Some(
            RegexBuilder::new()
                .caseless(true)
                .build(pattern)
                .map_err(|error| Failure::input(format!("`{pattern}` is not a regular expression: {error}")))?,
        ),
        None => None,
    };
    let config = arguments.sources.read()?.whole(streams.err)?;
    let wanted = |definition: &Definition<'_>| {
        (definition.place.is_some() || !arguments.changed)
            && pattern.as_ref().is_none_or(|pattern| pattern.is_match(definition.name).unwrap_or(false))
    };
    let all = config.all();
    let listed = all.iter().filter(|definition| wanted(definition));
    let mut out = BufWriter::new(std::io::stdout().lock());
    let layout = Layout { expand: arguments.expand, verbose: arguments.verbose };
    written(
        match arguments.format {
            Form::Json => {
                let values: Vec<_> = listed.map(|definition| json(&config, definition)).collect();
                let whole = json!({
                    "subsystem": config.context().subsystem,
                    "local_name": config.context().local_name,
                    "files": config.sources().iter().map(|source| &*source.name).collect::<Vec<_>>(),
                    "values": values,
                });
                serde_json::to_writer_pretty(&mut out, &whole).map_err(Into::into).and_then(|()| writeln!(out))
            }
            Form::Text => text(&mut out, &config, listed, layout, arguments.changed),
        }
        .and_then(|()| out.flush()),
    )
}

fn text<'d>(
    out: &mut impl Write,
    config: &Config,
    mut listed: impl Iterator<Item = &'d Definition<'d>>,
    layout: Layout,
    changed: bool,
) -> std::io::Result<()> {
    writeln!(out, "# Configuration of {}", config.context().subsystem)?;
    listed.try_for_each(|definition| write(out, config, definition, layout))?;
    writeln!(out, "# Contributing configuration file(s):")?;
    for source in config.sources() {
        writeln!(out, "#\t{}", source.name)?;
    }
    if !changed {
        writeln!(out, "#\t<Default>")?;
    }
    Ok(())
}

fn get(arguments: &Get, streams: Streams) -> Result<ExitCode, Failure> {
    let config = arguments.sources.read()?.whole(streams.err)?;
    let Some(definition) = config.definition(arguments.name.as_bytes()) else {
        complain(&format!("Not defined: {}", arguments.name));
        return Ok(ExitCode::from(1));
    };
    let value = if arguments.raw {
        definition.raw.to_vec()
    } else {
        let found = config.get(&arguments.name).map_err(|error| rendered(error, &config, streams.err))?;
        found.map(|found| found.text).unwrap_or_default()
    };
    if value.is_empty() {
        complain(&format!("Not defined: {}", arguments.name));
        if arguments.origin && definition.place.is_some() {
            complain(&format!(" # empty at: {}", origin(&definition)));
        }
        return Ok(ExitCode::from(1));
    }
    let mut out = std::io::stdout().lock();
    let printed = out.write_all(&value).and_then(|()| writeln!(out));
    written(
        printed.and_then(|()| if arguments.origin { writeln!(out, " # at: {}", origin(&definition)) } else { Ok(()) }),
    )?;
    Ok(ExitCode::SUCCESS)
}

fn checked(arguments: &Check, streams: Streams) -> Result<ExitCode, Failure> {
    let reading = arguments.sources.read()?;
    let mut found = check(&reading.config);
    found.extend(diagnostics(&reading.config, &found));
    sort(&reading.config, &mut found);
    found.extend(reading.error);
    let count = |severity: Severity| found.iter().filter(|diagnostic| diagnostic.severity == severity).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let mut out = BufWriter::new(std::io::stdout().lock());
    let sources = reading.config.sources();
    let printed = match arguments.format {
        Form::Json => {
            let all: Vec<_> = found.iter().map(diagnostic_json).collect();
            serde_json::to_writer_pretty(
                &mut out,
                &json!({ "errors": errors, "warnings": warnings, "diagnostics": all }),
            )
            .map_err(Into::into)
            .and_then(|()| writeln!(out))
        }
        Form::Text => found
            .iter()
            .try_for_each(|diagnostic| writeln!(out, "{}\n", render(diagnostic, sources, streams.out)))
            .and_then(|()| writeln!(out, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))),
    };
    written(printed.and_then(|()| out.flush()))?;
    let wrong = errors > 0 || arguments.deny_warnings && warnings > 0;
    Ok(if wrong { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
