//! `classmate config dump|get|check`

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;
use classmate::internal::pcre::{self, Options};
use serde_json::json;

use crate::cli::output::Out;
use crate::cli::settings::{Sources, rendered};
use crate::cli::{
    Failure, Form, FormatArguments, Reply, Streams, complain, line_output, print, print_result, source_output,
};
use crate::report::config::{ConfigLayout, SourceLines, diagnostic_json, json, origin, render, write};
use crate::report::counted;
use crate::report::escape::own;
use crate::report::lint::counts;
use crate::report::message_kinds::MessageKinds;
use classmate_config::internal::config::check::{check, sort};
use classmate_config::{Config, Definition};
use classmate_pool::internal::quota::check::diagnostics;

/// List, look up and check HTCondor configuration variables.
///
/// A configuration consists of lines `NAME = value`; the last assignment wins. A value can refer to other variables as
/// `$(NAME)` or `$(NAME:default)`. References are expanded when the value is used, so the order of assignments does not
/// matter. `NAME = $(NAME) more` and `NAME += more` append to the earlier value. Conditions, includes, templates (`use
/// POLICY : …`), multi-line values and function macros such as `$INT(…)` work as in the daemons of HTCondor 25.14.1. A
/// name with a prefix, such as `NEGOTIATOR.NAME`, applies only to that daemon.
///
/// FILE is a file, `-` for standard input, or the directory of a pool: its `condor_config`, the files in its `config.d`
/// in alphabetical order, then its `config`. Variables that are not set have their built-in default. Environment
/// variables and commands are used only with --environment and --allow-commands.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate config check examples/pool/config
  classmate config get NEGOTIATOR_INTERVAL examples/pool/config --origin
  classmate config dump examples/pool --changed --verbose
  classmate config dump --match '^GROUP_'
  classmate config get NEGOTIATOR_INTERVAL --set 'NEGOTIATOR_INTERVAL = $INT(2 * 30)'

Exit status: 0 on success, 1 if a name is not defined or a file cannot be read, 2 if a file is invalid.")]
pub(super) struct ConfigArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Dump(Dump),
    Get(Get),
    Check(Check),
}

/// List configuration variables, like `condor_config_val -dump`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
The list includes built-in defaults. Values are listed unexpanded. --verbose adds the place of the assignment, the raw \
value if it differs, the default, and the type and purpose of negotiator variables:

  PRIORITY_HALFLIFE = 7200
   # at: condor_config, line 12
   # raw: PRIORITY_HALFLIFE = 2 * $(HOUR)
   # default: 86400

The output is itself a valid configuration.")]
struct Dump {
    #[command(flatten)]
    sources: Sources,
    /// Omit built-in defaults
    #[arg(long)]
    changed: bool,
    /// Only names that match a regular expression, ignoring case
    #[arg(long = "match", value_name = "REGEX")]
    pattern: Option<String>,
    /// Print expanded values
    #[arg(long)]
    expand: bool,
    /// Print the origin, raw value and default of each variable
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    output: FormatArguments,
}

/// Print the expanded value of a configuration variable.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate config get PRIORITY_HALFLIFE examples/pool/config
  classmate config get MAX_JOBS_RUNNING examples/pool/config --subsystem SCHEDD --origin")]
struct Get {
    /// Name of the variable, in any case
    name: String,
    #[command(flatten)]
    sources: Sources,
    /// Print the unexpanded value
    #[arg(long)]
    raw: bool,
    /// Also print the place of the assignment
    #[arg(long)]
    origin: bool,
    #[command(flatten)]
    output: FormatArguments,
}

/// Check the syntax, values and names of configuration variables.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Errors prevent the negotiator from starting: a number out of range, an expression that does not parse, a value that \
refers to itself, an `if` without `endif`. Warnings do not: an unknown variable, the quota of an undeclared group, \
obsolete syntax. Each report shows the line and suggests a fix.

Exit status: 0 without errors, 2 with errors (or with warnings under --deny-warnings).")]
struct Check {
    #[command(flatten)]
    sources: Sources,
    /// Treat warnings as errors
    #[arg(long)]
    deny_warnings: bool,
    #[command(flatten)]
    output: FormatArguments,
}

pub(super) fn run(arguments: &ConfigArguments, streams: Streams) -> Result<ExitCode, Failure> {
    match &arguments.action {
        Action::Dump(arguments) => dump(arguments, streams).map(|()| ExitCode::SUCCESS),
        Action::Get(arguments) => get(arguments, streams),
        Action::Check(arguments) => checked(arguments, streams),
    }
}

fn dump(arguments: &Dump, streams: Streams) -> Result<(), Failure> {
    let regex = |pattern: &String| {
        let built = pcre::compile(pattern, Options::from_letters(b"i"), false);
        built.map_err(|error| Failure::input(format!("`{pattern}` is not a regular expression: {error}")))
    };
    let pattern = arguments.pattern.as_ref().map(regex).transpose()?;
    let config = arguments.sources.read()?.whole(streams.err)?;
    let wanted = |definition: &Definition<'_>| {
        (definition.place.is_some() || !arguments.changed)
            && pattern.as_ref().is_none_or(|pattern| pattern.is_match(definition.name).unwrap_or(false))
    };
    let all = config.all();
    let listed = all.iter().filter(|definition| wanted(definition));
    let layout = ConfigLayout { expand: arguments.expand, verbose: arguments.verbose };
    if arguments.output.format != Form::Text {
        let values: Vec<_> = listed.map(|definition| json(&config, definition)).collect();
        let whole = json!({
            "subsystem": config.context().subsystem,
            "local_name": config.context().local_name,
            "files": config.sources().iter().map(|source| &*source.name).collect::<Vec<_>>(),
            "values": values,
        });
        let answer = Reply { schema: "config-dump/1", result: &whole, rows: &values };
        return print_result(arguments.output.format, &answer, |_| Ok(()));
    }
    print(line_output(), |out| text(out, &config, listed, layout, arguments.changed))
}

fn text<'d>(
    out: &mut impl Write,
    config: &Config,
    mut listed: impl Iterator<Item = &'d Definition<'d>>,
    layout: ConfigLayout,
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
        let found = config.get(&arguments.name).map_err(|error| rendered(&error, &config, streams.err))?;
        found.map(|found| found.text).unwrap_or_default()
    };
    if value.is_empty() {
        complain(&format!("Not defined: {}", arguments.name));
        if arguments.origin && definition.place.is_some() {
            complain(&format!(" # empty at: {}", origin(&definition)));
        }
        return Ok(ExitCode::from(1));
    }
    if arguments.output.format != Form::Text {
        let shown = json(&config, &definition);
        let answer = Reply { schema: "config-get/1", result: &shown, rows: &[&shown] };
        return print_result(arguments.output.format, &answer, |_| Ok(())).map(|()| ExitCode::SUCCESS);
    }
    print(line_output(), |out| {
        out.write_all(&value)?;
        writeln!(out)?;
        if arguments.origin { writeln!(out, " # at: {}", origin(&definition)) } else { Ok(()) }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Messages of one kind that are shown.
const SHOWN: u64 = 100;

fn checked(arguments: &Check, streams: Streams) -> Result<ExitCode, Failure> {
    let reading = arguments.sources.read()?;
    let mut found = check(&reading.config);
    found.extend(diagnostics(&reading.config, &found));
    sort(&reading.config, &mut found);
    found.extend(reading.error);
    let (errors, warnings) = counts(&found);
    let sources = SourceLines::of(reading.config.sources());
    let write = |out: &mut Out| {
        let mut kinds = MessageKinds::new(SHOWN);
        for diagnostic in found.iter().filter(|found| kinds.is_shown(found.severity.as_str(), &found.message)) {
            writeln!(out, "{}\n", own(&render(diagnostic, &sources, streams.out)))?;
        }
        kinds.rest().iter().try_for_each(|note| writeln!(out, "{note}\n"))?;
        if !kinds.rest().is_empty() {
            writeln!(out, "note: `--format json` lists all messages\n")?;
        }
        writeln!(out, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))
    };
    if arguments.output.format == Form::Text {
        print(source_output(), write)?;
    } else {
        let listed: Vec<_> = found.iter().map(diagnostic_json).collect();
        let whole = json!({ "errors": errors, "warnings": warnings, "diagnostics": listed });
        let answer = Reply { schema: "config-check/1", result: &whole, rows: &listed };
        print_result(arguments.output.format, &answer, |_| Ok(()))?;
    }
    let wrong = errors > 0 || arguments.deny_warnings && warnings > 0;
    Ok(if wrong { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
