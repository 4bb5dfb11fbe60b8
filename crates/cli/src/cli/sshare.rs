//! `classmate sshare POOL`

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::ArgAction;

use crate::cli::input::{self, Notes};
use crate::cli::settings::pool;
use crate::cli::slurm::{SlurmArguments, Stand};
use crate::cli::{Failure, Now, Streams, parse_now, written};
use crate::report::sshare::{Columns, Layout, Listing, Shown};
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::Settings;
use classmate_pool::internal::negotiate::Snapshot;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::slurm::running::{RESOURCES, minutes_left};
use classmate_pool::internal::priority::slurm::{Algorithm, SlurmNodes, Standpoint};

/// List shares, usage and fair share of accounts and users, as Slurm's `sshare` does.
///
/// POOL is a directory with Slurm's `sacctmgr.dump`, and if there are any `sshare.usage`, `slurm.conf`, and what a
/// pool exports (`slots.ads`, `jobs.ads`). Without -a or -u only the users of the caller's name are listed.
#[expect(clippy::struct_excessive_bools, reason = "one field is one option of the command")]
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
What the columns say:
  RawShares     shares as given; `parent`: none of its own, it stands as its account stands
  NormShares    shares as a fraction: of its level under Fair Tree, of everything otherwise
  RawUsage      billing x seconds; half is forgotten after each PriorityDecayHalfLife
  NormUsage     usage as a fraction of everybody's
  EffectvUsage  of its account's usage under Fair Tree; otherwise with what its siblings used
  FairShare     the factor; under Fair Tree the rank of the user by the number of users
  LevelFS       NormShares / EffectvUsage: above 1 it used less than its share (Fair Tree)
  GrpTRESMins   limits of the association
  TRESRunMins   what its running jobs may still use
Others for -o are ClusterSize, ID, Partition, GrpTRESRaw (as sshare.usage has it). Names may be shortened; %n behind one is its width,
negative: to the left.

Examples:
  classmate sshare examples/slurm -a
  classmate sshare examples/slurm -l -u sys,games
  classmate sshare examples/slurm -a -P -o Account,User,RawUsage    to be read as sshare.usage
  classmate sshare examples/slurm -a --linear                       the factors of version 2.0

Exit status: 0 on success, 1 when a file cannot be read, 2 on wrong usage or a wrong file.")]
pub(super) struct Arguments {
    /// A directory with the files of a pool
    #[arg(required_unless_present = "associations")]
    pool: Option<PathBuf>,
    /// Run the commands that the settings include; they can run any program then
    #[arg(long)]
    allow_commands: bool,
    /// Every user
    #[arg(short = 'a', long)]
    all: bool,
    /// Only these users, with commas between
    #[arg(short = 'u', long, value_name = "USERS", value_delimiter = ',')]
    users: Vec<String>,
    /// Only these accounts, with commas between
    #[arg(short = 'A', long, value_name = "ACCOUNTS", value_delimiter = ',')]
    accounts: Vec<String>,
    /// Users only, no accounts
    #[arg(short = 'U', long = "Users")]
    users_only: bool,
    /// Every column
    #[arg(short = 'l', long)]
    long: bool,
    /// Partitions too
    #[arg(short = 'm', long)]
    partition: bool,
    /// The columns, with commas between
    #[arg(short = 'o', long, value_name = "COLUMNS", conflicts_with = "long")]
    format: Option<String>,
    /// No header
    #[arg(short = 'n', visible_short_alias = 'h', long)]
    noheader: bool,
    /// `|` behind each column
    #[arg(short = 'p', long)]
    parsable: bool,
    /// `|` between the columns
    #[arg(short = 'P', long, conflicts_with = "parsable")]
    parsable2: bool,
    /// The clock: seconds since 1970, a date, or `wall`; by default the newest time in the files
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    now: Option<Now>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    slurm: SlurmArguments,
}

pub(super) fn run(arguments: &Arguments, streams: Streams) -> Result<(), Failure> {
    let given = arguments
        .format
        .as_deref()
        .map(Columns::parse)
        .transpose()
        .map_err(|message| Failure::input(message).help("the columns are listed by `classmate sshare --help`"))?;
    let mut notes = Notes::default();
    let directory = arguments.pool.as_deref();
    if let Some(path) = directory.filter(|path| !path.is_dir()) {
        let what = if path.exists() { "is not a directory" } else { "does not exist" };
        return Err(Failure::new(format!("`{}` {what}: expected a directory with sacctmgr.dump", path.display()))
            .help("give a single file with --associations FILE"));
    }
    let mut ads = |name: &str| match input::own(directory, name) {
        Some(path) => input::ads(&path, &Settings::default(), &mut notes),
        None => Ok(Vec::<ClassAd>::new()),
    };
    let mut snapshot = Snapshot { slots: ads("slots.ads")?, jobs: ads("jobs.ads")?, ..Snapshot::default() };
    snapshot.now = arguments.now.map_or_else(|| snapshot.newest_time(), Now::seconds);
    let config = pool(None, directory, arguments.allow_commands, streams.err)?;
    let stand = Stand { config: &config, jobs: &snapshot.jobs };
    let slurm = arguments.slurm.read(directory, Some(&stand), &mut notes)?;
    notes.show(streams.err);
    let settings = snapshot.settings();
    let machines = SlurmNodes::of(snapshot.slots.iter().filter(|ad| is_slot(ad)), slurm.conf(), &settings);
    let algorithm = slurm.algorithm(machines.cluster);
    if let Algorithm::Linear { capacity } = algorithm
        && capacity <= 0.0
    {
        return Err(Failure::input("--linear divides by the capacity of the cluster, which is 0")
            .help("expected slots.ads with Cpus, and a PriorityDecayHalfLife"));
    }
    let figures = Standpoint::figures(&slurm, &machines);
    let shown = Shown {
        long: arguments.long,
        partitions: arguments.partition,
        levels: matches!(algorithm, Algorithm::FairTree { .. }),
    };
    let columns = given.unwrap_or_else(|| Columns::default_of(shown));
    let lower = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
    let mut users = lower(&arguments.users);
    if users.is_empty() && !arguments.all {
        users.extend(
            ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).map(|name| name.to_lowercase()),
        );
    }
    let accounts = lower(&arguments.accounts);
    let listing = Listing {
        tree: slurm.tree(),
        figures: &figures,
        cluster: slurm.files().associations.cluster.as_deref().unwrap_or_default(),
        run_minutes: &minutes_left(&snapshot.jobs, slurm.tree(), slurm.conf(), &settings),
        resources: &RESOURCES,
        columns: &columns,
        layout: match (arguments.parsable, arguments.parsable2) {
            (true, _) => Layout::Parsable,
            (_, true) => Layout::Bare,
            _ => Layout::Padded,
        },
        header: !arguments.noheader,
        users: if arguments.all && users.is_empty() { None } else { Some(&users) },
        accounts: if accounts.is_empty() { None } else { Some(&accounts) },
        users_only: arguments.users_only,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let printed = listing.lines().iter().try_for_each(|line| writeln!(out, "{line}"));
    written(printed.and_then(|()| out.flush()))
}
