//! `classmate taskqueues POOL`

use std::collections::HashSet;

use crate::cli::dirac::DiracArguments;
use crate::cli::input::Notes;
use crate::cli::pool::PoolFiles;
use crate::cli::{Failure, FormatArguments, Reply, Streams, print_result};
use crate::report::taskqueues;
use classmate_pool::internal::priority::dirac::listing::ListingOptions;
use classmate_pool::internal::priority::dirac::{DiracPriority, Listing};
use classmate_pool::{Policy, PreparedPool, Snapshot};

/// Show idle jobs as DIRAC task queues with their shares and priorities.
///
/// A task queue holds the waiting jobs of one owner and group with the same requirements. The share of a group is its
/// `JobShare`, otherwise its HTCondor quota, otherwise 1000. It is divided among its queues if the group has the
/// property `JobSharing`, otherwise first among its users with waiting jobs, then among the queues of each user. A slot
/// that requests work draws one of the queues that it accepts at random. POOL is a directory as for `classmate
/// negotiate`, with the DIRAC configuration in `dirac.cfg`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Columns:
  TQ          queue number; queues with older jobs have lower numbers
  JOBS        number of waiting jobs
  CPU TIME    requested seconds, rounded up to a segment (360, 1800, 3600, 21600, …)
  SITES, PLATFORMS, TAGS  requirements; `-` means any, `!CERN` is a banned site
  GROUP SHARE configured share of the group; a suffix such as x0.50 is the correction for its recent usage
  SHARE       part of the group share for the owner of the queue; x2.00 is the correction for that user's recent usage
  PRIORITY    part of the share for this queue, from the average UserPriority of its jobs, not their number. A single job
              with priority 10 counts as a million, one with 0 as almost nothing. Queues that differ only in sites add up
  FIRST       probability that a slot that accepts all these queues tries this one first. Lots are random numbers divided
              by priorities, so the largest priority gets more than its proportion

Corrections use running and completed jobs with known times in their ads (JobCurrentStartDate, CompletionDate). For a \
longer history, add the output of `condor_history -long` to the jobs. Corrections require EnableSharesCorrection.

Job attributes: DiracGroup, otherwise AcctGroup, otherwise the group in AccountingGroup; CPUTime, otherwise \
AllowedJobDuration, otherwise 86400; UserPriority, otherwise 1 + JobPrio, from 0 to 10; Site, BannedSites, GridCE, \
Platform, JobType, Tags. RequestCpus above 1 adds the tags nProcessors and MultiProcessor. Slot attributes: CPUTimeLeft, \
Site, GridCE, Platform (otherwise OpSysAndVer_Arch), JobType, Tag, RequiredTag, Cpus, Memory.

--weighting, --profile, --lottery and --order can also be set in the file, in a section that DIRAC ignores:
  Classmate
  {
    Weighting = literal
  }

Examples:
  classmate taskqueues examples/dirac
  classmate taskqueues examples/dirac --slot slot1@c1.example.org --draws 3 --seed 42
  classmate taskqueues examples/dirac --weighting literal --format json
  classmate negotiate examples/dirac --policy dirac          # a cycle with these queues

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 if a file or an option is invalid.")]
pub(super) struct TaskqueuesArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Show only the queues that this slot accepts, with their probabilities there
    #[arg(long, value_name = "NAME")]
    slot: Option<String>,
    /// Draw N times from the queues shown; --seed changes the draws
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    draws: u32,
    #[command(flatten)]
    output: FormatArguments,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    dirac: DiracArguments,
}

pub(super) fn run(arguments: &TaskqueuesArguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let choice = arguments.dirac.read(arguments.files.directory(), &HashSet::new, &mut notes)?;
    let settings = choice.settings().clone();
    let snapshot = Snapshot { policy: Policy::Dirac(choice), ..arguments.files.snapshot(&mut notes, streams.err)? };
    notes.show(streams.err);
    let pool = PreparedPool::new(&snapshot)?;
    let listing = pool.with_opening(|opening, waiting| {
        let slot = match &arguments.slot {
            Some(name) => Some(opening.slots.iter().find(|slot| *slot.name == *name.as_bytes()).ok_or_else(|| {
                let known = opening.slots.first().map(|slot| format!("the first is `{}`", slot.name));
                Failure::input(format!("the pool has no slot `{name}`"))
                    .help(&known.unwrap_or_else(|| "the pool has none".to_owned()))
            })?),
            None => None,
        };
        let policy = DiracPriority::new(&settings, opening, None);
        let wanted = ListingOptions { slot, draws: arguments.draws as usize };
        Ok::<_, Failure>(Listing::new(&policy, pool.submitters().len(), waiting, wanted, opening.settings))
    })?;
    let answer = Reply { schema: "taskqueues/1", result: &listing, rows: &listing.queues };
    print_result(arguments.output.format, &answer, |out| taskqueues::write(out, &listing, streams.out))
}
