//! `classmate taskqueues POOL`

use std::io::{BufWriter, Write};

use crate::cli::dirac::{Choices, CsFiles};
use crate::cli::input::Notes;
use crate::cli::negotiate::{PoolFiles, refused, snapshot};
use crate::cli::{Failure, Form, Streams, written};
use crate::report::taskqueues;
use classmate_pool::internal::negotiate::{Snapshot, survey};
use classmate_pool::internal::priority::Policy;
use classmate_pool::internal::priority::dirac::listing::ListingOptions;
use classmate_pool::internal::priority::dirac::{DiracPriority, Listing};

/// Show the waiting jobs of a pool as DIRAC's task queues: their shares, corrections, priorities and chances.
///
/// A task queue holds the waiting jobs of one owner and group with the same requirements. The share of a group (`JobShare`,
/// else its HTCondor quota, else 1000) is divided among its queues if the group has the property `JobSharing`, otherwise
/// first among its users who wait, then among the queues of each. A slot that asks for work draws lots among the queues
/// it accepts. POOL is a directory as `classmate negotiate` takes it, with DIRAC's configuration in `dirac.cfg`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
What the columns say:
  TQ          the number of the queue; older jobs make lower numbers
  JOBS        how many jobs wait in it
  CPU TIME    what they ask for in seconds, rounded up to a segment (360, 1800, 3600, 21600, …)
  SITES, PLATFORMS, TAGS  what they require; `-` is anything, `!CERN` is a banned site
  GROUP SHARE what the configuration gives the group; x0.50 behind it is the correction for what the group ran lately
  SHARE       what of it falls to the owner of the queue; x2.00 the correction for what that user ran lately
  PRIORITY    what of that falls to the queue: by the average UserPriority of its jobs, not by their number. A single job
              of priority 10 counts as a million, one of 0 as next to nothing; queues that differ in sites only add up
  FIRST       the chance that a slot that accepts all these queues tries this one first. Lots are random numbers divided by
              priorities, so this is more than in proportion for the largest

Corrections look at the jobs that run and those that ended, as far as the job ads tell when (JobCurrentStartDate,
CompletionDate): add the ads of `condor_history -long` to the jobs for a longer memory. They need EnableSharesCorrection.

What a job's ad says: DiracGroup, else AcctGroup, else the group in AccountingGroup; CPUTime, else AllowedJobDuration, else
86400; UserPriority, else 1 + JobPrio, from 0 to 10; Site, BannedSites, GridCE, Platform, JobType, Tags; RequestCpus above
1 gives the tags nProcessors and MultiProcessor. A slot's: CPUTimeLeft, Site, GridCE, Platform (else OpSysAndVer_Arch),
JobType, Tag, RequiredTag, Cpus, Memory.

--weighting, --profile, --lottery and --order can also stand in the file, in a section DIRAC does not look at:
  Classmate
  {
    Weighting = literal
  }

Examples:
  classmate taskqueues examples/dirac
  classmate taskqueues examples/dirac --slot slot1@c1.example.org --draws 3 --seed 42
  classmate taskqueues examples/dirac --weighting literal --format json
  classmate negotiate examples/dirac --policy dirac          a cycle in which these queues are drawn

Exit status: 0 on success, 1 when a file cannot be read, 2 when a file or a setting is wrong.")]
pub(super) struct Arguments {
    #[command(flatten)]
    files: PoolFiles,
    #[command(flatten)]
    cs: CsFiles,
    #[command(flatten)]
    choices: Choices,
    /// Only the queues that this slot accepts, with their chances there
    #[arg(long, value_name = "NAME")]
    slot: Option<String>,
    /// Draw so many times, each from all queues shown; --seed gives other draws
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    draws: u32,
    /// How the queues are printed
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let mut notes = Notes::default();
    let choice = arguments.cs.read(arguments.files.directory(), &mut notes)?;
    let options = arguments.choices.over(choice.settings().options);
    let choice = choice.with_options(options);
    let settings = choice.settings().clone();
    let snapshot =
        Snapshot { policy: Policy::Dirac(choice), ..snapshot(&arguments.files, false, &mut notes, streams.err)? };
    notes.show(streams.err);
    let listing = survey(&snapshot, |pool| {
        let slot = match &arguments.slot {
            Some(name) => Some(pool.slots.iter().find(|slot| *slot.name == *name.as_bytes()).ok_or_else(|| {
                let known = pool.slots.first().map(|slot| format!("the first is `{}`", slot.name));
                Failure::input(format!("`{name}` is no slot of the pool"))
                    .help(&known.unwrap_or_else(|| "the pool has none".to_owned()))
            })?),
            None => None,
        };
        let policy = DiracPriority::new(&settings, &pool.opening, None);
        let wanted = ListingOptions { slot, draws: arguments.draws as usize };
        Ok(Listing::new(&policy, pool.submitters.len(), pool.waiting, wanted, pool.opening.settings))
    })
    .map_err(|error| refused(&error))??;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = match arguments.format {
        Form::Json => serde_json::to_writer_pretty(&mut out, &listing).map_err(Into::into).and_then(|()| writeln!(out)),
        Form::Table => taskqueues::write(&mut out, &listing, streams.out),
    };
    written(printed.and_then(|()| out.flush()))
}
