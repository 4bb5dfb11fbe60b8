//! `classmate quotas POOL`

use crate::cli::input::Notes;
use crate::cli::pool::PoolFiles;
use crate::cli::{Failure, FormatArguments, Reply, Streams, print_result};
use crate::report::quotas;
use classmate_pool::PreparedPool;
use classmate_pool::internal::negotiate::quotas::Division;
use classmate_pool::internal::quota::settings::FLAT;

/// Show how group quotas divide a pool.
///
/// Shows the allocation at the start of a cycle, before any job is matched. POOL is a directory as for `classmate
/// negotiate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Columns, in slot weight (number of slots if NEGOTIATOR_USE_SLOT_WEIGHTS = False):
  CONFIGURED  GROUP_QUOTA_<group>, or GROUP_QUOTA_DYNAMIC_<group> as a percentage of what static quotas leave
  QUOTA       quota of the group itself in this pool; SUBTREE includes all groups below it
  REQUESTED   running and idle jobs of its submitters; IN USE is their current usage
  TAKES       surplus that it takes from other groups (GROUP_ACCEPT_SURPLUS)
  LEAVES      unused part of its quota: sibling groups and subgroups that accept surplus share it in proportion to their
              quotas, and the rest moves up one level
  ALLOCATED   the part of its quota that it requests, plus the surplus that it takes
  SURPLUS     whether it accepts surplus, or autoregroups: its submitters negotiate again with users outside any group
  ORDER       position in the negotiation order (GROUP_SORT_EXPR): by default, the lowest usage / quota is first

Submitter `physics.hep.alice@example.org` is in group `physics.hep` if GROUP_NAMES has it, otherwise in `physics`, \
otherwise in no group. `<none>` is the root group: users without a group, with the slots that the groups leave.

Examples:
  classmate quotas examples/groups
  classmate quotas examples/groups --group physics.lep
  classmate quotas examples/groups --format json

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
pub(super) struct QuotasArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Derive the quota and the allocation of this group, step by step
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Allocate like HTCondor 7: flat groups, static quotas that must fit the pool, no surplus, one round
    #[arg(long)]
    flat: bool,
    #[command(flatten)]
    output: FormatArguments,
}

pub(super) fn run(arguments: &QuotasArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let mut snapshot = arguments.files.snapshot(&mut notes, streams.err)?;
    if arguments.flat {
        snapshot.config.add("--flat", format!("{FLAT} = true\n").as_bytes())?;
    }
    let mut division = PreparedPool::new(&snapshot)?.division();
    for warning in &division.warnings {
        notes.warn(warning.clone());
    }
    notes.show(streams.err);
    if division.groups.len() == 1 && division.warnings.is_empty() {
        return Err(Failure::input("no groups are configured").help(
            "configure them: GROUP_NAMES = physics, and GROUP_QUOTA_physics = 20 or GROUP_QUOTA_DYNAMIC_physics = 0.5",
        ));
    }
    if let Some(name) = &arguments.group {
        keep(&mut division, name)?;
    }
    let answer = Reply { schema: "quotas/1", result: &division, rows: &division.groups };
    print_result(arguments.output.format, &answer, |out| match &arguments.group {
        Some(_) => division.groups.iter().try_for_each(|group| quotas::write_story(out, group)),
        None => quotas::write(out, &division, streams.out),
    })
}

/// Keeps only one group of a division.
fn keep(division: &mut Division, name: &str) -> Result<(), Failure> {
    let known: Vec<String> = division.groups.iter().map(|group| group.summary.name.clone()).collect();
    division.groups.retain(|group| group.summary.name.eq_ignore_ascii_case(name));
    if division.groups.is_empty() {
        const MAX_LISTED: usize = 12;
        let mut listed = known.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if known.len() > MAX_LISTED {
            listed.push_str(", …");
        }
        return Err(Failure::input(format!("group `{name}` does not exist")).help(&format!("the groups are {listed}")));
    }
    Ok(())
}
