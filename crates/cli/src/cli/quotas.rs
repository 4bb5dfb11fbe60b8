//! `classmate quotas POOL`

use std::io::{BufWriter, Write};

use crate::cli::input::Notes;
use crate::cli::negotiate::{PoolFiles, refused, snapshot};
use crate::cli::{Failure, Form, Streams, written};
use crate::report::quotas;
use classmate_config::internal::config::{Config, ConfigError};
use classmate_pool::internal::negotiate::Snapshot;
use classmate_pool::internal::negotiate::quotas::{Division, divide};
use classmate_pool::internal::quota::settings::FLAT;

/// Show how a pool is divided among its accounting groups, and why.
///
/// POOL is a directory as `classmate negotiate` takes it. What is shown is the first division of a cycle, before anything
/// is matched.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
What the columns say, in slots counted by weight (by number with NEGOTIATOR_USE_SLOT_WEIGHTS = False):
  CONFIGURED  GROUP_QUOTA_<group>, or GROUP_QUOTA_DYNAMIC_<group> as a percentage of what static quotas leave
  QUOTA       what the group itself may use in a pool of this size; SUBTREE with all groups below it
  DEMAND      running and idle jobs of its submitters; IN USE what they use now
  TAKES       what it takes of quota that others do not need (GROUP_ACCEPT_SURPLUS)
  LEAVES      what it does not need of its own quota: the groups beside and below it that accept surplus share that in
              proportion to their quotas, and what is left goes one level up
  GRANTED     what it may use: its quota as far as it needs it, and what it takes
  SURPLUS     whether it accepts surplus, or regroups: its submitters are served once more with those in no group
  ORDER       when it is served: GROUP_SORT_EXPR, by default whoever uses least of its quota goes first

A submitter `physics.hep.alice@example.org` is in the group `physics.hep` if that is in GROUP_NAMES, else in `physics`,
else in none. `<none>` is the root of the tree: users without a group, with what the groups leave.

Examples:
  classmate quotas examples/pool
  classmate quotas examples/pool --group physics.hep
  classmate quotas examples/pool --format json
  classmate quotas examples/pool --config other.conf       what a change would do

Exit status: 0 on success, 1 when a file cannot be read, 2 when a file or a setting is wrong.")]
pub(super) struct Arguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Derive the quota and the grant of this group, line by line
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Divide as version 7 did: flat groups with static quotas that must fit into the pool, no surplus, one round
    #[arg(long)]
    flat: bool,
    /// How the division is printed
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let mut snapshot = snapshot(&arguments.files, false, &mut notes, streams.err)?;
    if arguments.flat {
        make_flat(&mut snapshot).map_err(|error| refused(&error))?;
    }
    let mut division = divide(&snapshot).map_err(|error| refused(&error))?;
    for warning in &division.warnings {
        notes.warn(warning.clone());
    }
    notes.show(streams.err);
    if division.groups.len() == 1 && division.warnings.is_empty() {
        return Err(Failure::input("no groups are configured").help(
            "name them in the settings: GROUP_NAMES = physics, and GROUP_QUOTA_physics = 20 or GROUP_QUOTA_DYNAMIC_physics = 0.5",
        ));
    }
    if let Some(name) = &arguments.group {
        keep(&mut division, name)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match (arguments.format, &arguments.group) {
        (Form::Json, _) => {
            serde_json::to_writer_pretty(&mut out, &division).map_err(Into::into).and_then(|()| writeln!(out))
        }
        (Form::Table, Some(_)) => division.groups.iter().try_for_each(|group| quotas::write_story(&mut out, group)),
        (Form::Table, None) => quotas::write(&mut out, &division, streams.out),
    };
    written(printed.and_then(|()| out.flush()))
}

/// Adds the setting that asks for flat groups.
fn make_flat(snapshot: &mut Snapshot) -> Result<(), ConfigError> {
    let config: &mut Config = &mut snapshot.config;
    config.add("--flat", format!("{FLAT} = true\n").as_bytes())
}

/// Keeps only one group of a division.
fn keep(division: &mut Division, name: &str) -> Result<(), Failure> {
    let known: Vec<String> = division.groups.iter().map(|group| group.summary.name.clone()).collect();
    division.groups.retain(|group| group.summary.name.eq_ignore_ascii_case(name));
    if division.groups.is_empty() {
        const MOST: usize = 12;
        let mut listed = known.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if known.len() > MOST {
            listed.push_str(", …");
        }
        return Err(Failure::input(format!("`{name}` is no group")).help(&format!("the groups are {listed}")));
    }
    Ok(())
}
