//! `classmate sshare POOL`

use std::io::Write;
use std::path::PathBuf;

use clap::ArgAction;
use serde_json::{Value as Json, json};

use crate::cli::input::{self, Notes};
use crate::cli::pool::{JOBS, SLOTS, expect_directory};
use crate::cli::settings::pool;
use crate::cli::slurm::{ASSOCIATIONS, SLURM_CONF, SlurmArguments};
use crate::cli::{Failure, Form, FormatArguments, Now, Reply, Streams, language, parse_now, print_result};
use crate::report::sshare::{Separator, ShareColumns, ShareListing};
use crate::report::table::fits;
use classmate::ClassAd;
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::slurm::running::minutes_left;
use classmate_pool::internal::priority::slurm::{Algorithm, SlurmNodes, Standpoint};

/// Show shares, usage and fair share, like Slurm's `sshare`.
///
/// POOL is a directory with Slurm's `sacctmgr.dump`. Optional files are `sshare.usage`, `slurm.conf`, `slots.ads` and
/// `jobs.ads`. Without -a or -u, only users with the name of the current user are listed.
#[expect(clippy::struct_excessive_bools, reason = "one field is one option of the command")]
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
Columns:
  RawShares     configured shares; `parent` means it uses the shares of its account
  NormShares    shares as a fraction of its level (Fair Tree) or of the whole tree
  RawUsage      billing x seconds, halved every PriorityDecayHalfLife
  NormUsage     usage as a fraction of the total usage
  EffectvUsage  fraction of the usage of its account (Fair Tree), or usage including its siblings
  FairShare     fair-share factor; under Fair Tree, the rank of the user / number of users
  LevelFS       NormShares / EffectvUsage: above 1 if usage is below the share (Fair Tree)
  GrpTRESMins   limits of the association
  TRESRunMins   remaining usage of its running jobs
More columns for -o: Cluster, ID, Partition, GrpTRESRaw (as in sshare.usage). A prefix of a name is accepted. The suffix \
%n sets the width; a negative width aligns to the left.

Examples:
  classmate sshare examples/slurm -a
  classmate sshare examples/slurm -l -u sys,games
  classmate sshare examples/slurm -a -P -o Account,User,RawUsage    # usable as sshare.usage
  classmate sshare examples/slurm -a --linear                       # factors of Slurm 2.0

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 on a usage error or an invalid file.")]
pub(super) struct SshareArguments {
    /// Directory with the files of a pool
    #[arg(required_unless_present = "associations")]
    pool: Option<PathBuf>,
    /// Run the commands that the configuration includes (they can run any program)
    #[arg(long)]
    allow_commands: bool,
    /// Show all users
    #[arg(short = 'a', long)]
    all: bool,
    /// Only these users (comma-separated)
    #[arg(short = 'u', long, value_name = "USERS", value_delimiter = ',')]
    users: Vec<String>,
    /// Only these accounts (comma-separated)
    #[arg(short = 'A', long, value_name = "ACCOUNTS", value_delimiter = ',')]
    accounts: Vec<String>,
    /// Show users only, without accounts
    #[arg(short = 'U', long = "Users")]
    users_only: bool,
    /// Show all columns
    #[arg(short = 'l', long)]
    long: bool,
    /// Show partitions
    #[arg(short = 'm', long)]
    partition: bool,
    /// Columns to show (comma-separated)
    #[arg(short = 'o', long, value_name = "COLUMNS", conflicts_with = "long")]
    columns: Option<String>,
    #[command(flatten)]
    output: FormatArguments,
    /// Omit the header
    #[arg(short = 'n', visible_short_alias = 'h', long)]
    noheader: bool,
    /// Print `|` after each column
    #[arg(short = 'p', long)]
    parsable: bool,
    /// Print `|` between columns
    #[arg(short = 'P', long, conflicts_with = "parsable")]
    parsable2: bool,
    /// Current time: seconds since 1970, a date, or `wall` [default: the newest time in the files]
    #[arg(long, value_name = "TIME", value_parser = parse_now)]
    now: Option<Now>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    slurm: SlurmArguments,
}

pub(super) fn run(arguments: &SshareArguments, streams: Streams) -> Result<(), Failure> {
    let given = arguments.columns.as_deref().map(ShareColumns::parse).transpose();
    let given = given.map_err(|message| Failure::input(message).help("`classmate sshare --help` lists the columns"))?;
    let mut notes = Notes::default();
    let directory = arguments.pool.as_deref();
    expect_directory(directory, ASSOCIATIONS, "to name a single file, use --associations FILE")?;
    let known = [ASSOCIATIONS, SLURM_CONF].into_iter().chain(JOBS);
    if !arguments.slurm.has_associations() && !known.into_iter().any(|name| input::own(directory, name).is_some()) {
        let name = directory.map(|directory| directory.display().to_string()).unwrap_or_default();
        return Err(Failure::new(format!("`{name}` contains no files of Slurm: expected {ASSOCIATIONS}"))
            .help("`classmate snapshot --slurm DIR` saves them"));
    }
    let mut ads = |names: [&str; 3]| match names.iter().find_map(|name| input::own(directory, name)) {
        Some(path) => input::ads(&path, &language::settings(), &mut notes),
        None => Ok(Vec::<ClassAd>::new()),
    };
    let config = pool(None, directory, arguments.allow_commands, streams.err)?;
    let mut snapshot = Snapshot { config, slots: ads(SLOTS)?, jobs: ads(JOBS)?, ..Snapshot::default() };
    snapshot.now = arguments.now.map_or_else(|| snapshot.newest_time(), Now::seconds);
    let slurm = arguments.slurm.read(directory, &snapshot.config, (&mut snapshot.slots, &snapshot.jobs), &mut notes)?;
    notes.show(streams.err);
    let settings = snapshot.settings();
    let machines = SlurmNodes::of(snapshot.slots.iter().filter(|ad| is_slot(ad)), slurm.conf(), &settings);
    let algorithm = slurm.algorithm(machines.cluster);
    if let Algorithm::Linear { capacity } = algorithm
        && capacity <= 0.0
    {
        return Err(Failure::input("--linear divides by the capacity of the cluster, which is 0")
            .help("add slots.ads with Cpus, and a PriorityDecayHalfLife"));
    }
    let figures = Standpoint::figures_of(&slurm, &machines, &snapshot.jobs, &settings);
    let fair_tree = matches!(algorithm, Algorithm::FairTree { .. });
    let is_text = arguments.output.format == Form::Text;
    let columns = given.unwrap_or_else(|| {
        // Programs get all columns.
        ShareColumns::default_of(arguments.long || !is_text, arguments.partition || !is_text, fair_tree)
    });
    let lower = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
    let mut users = lower(&arguments.users);
    if users.is_empty() && !arguments.all {
        users.extend(
            ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok()).map(|name| name.to_lowercase()),
        );
    }
    let accounts = lower(&arguments.accounts);
    let computed = match algorithm {
        Algorithm::Exponential { damping } | Algorithm::DepthOblivious { damping } => Some(damping),
        Algorithm::Linear { .. } | Algorithm::FairTree { .. } => None,
    };
    let listing = ShareListing {
        tree: slurm.tree(),
        figures: &figures,
        fair_tree,
        computed: computed.filter(|_| slurm.files().options.release.rates_accounts()),
        cluster: slurm.files().associations.cluster.as_deref().unwrap_or_default(),
        run_minutes: &minutes_left(&snapshot.jobs, slurm.tree(), slurm.conf(), &settings),
        columns: &columns,
        separator: match (arguments.parsable, arguments.parsable2) {
            _ if !is_text => Separator::Bare,
            (true, _) => Separator::Parsable,
            (_, true) => Separator::Bare,
            _ => Separator::Padded,
        },
        header: !arguments.noheader || !is_text,
        users: if arguments.all && users.is_empty() { None } else { Some(&users) },
        accounts: if accounts.is_empty() { None } else { Some(&accounts) },
        users_only: arguments.users_only,
    };
    let lines = listing.lines();
    let rows = if is_text { Vec::new() } else { rows(&lines) };
    let result = json!({ "associations": rows });
    print_result(arguments.output.format, &Reply { schema: "sshare/1", result: &result, rows: &rows }, |out| {
        if listing.header && listing.separator == Separator::Padded && !fits(out, &lines) {
            return listing.table().write(out, streams.out);
        }
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    })
}

/// An object for each line behind the first, which has the names; the fields are separated by `|`.
fn rows(lines: &[String]) -> Vec<Json> {
    let Some((names, lines)) = lines.split_first() else { return Vec::new() };
    let value = |text: &str| match text.parse::<f64>() {
        Ok(number) if number.is_finite() => json!(number),
        _ => json!(text),
    };
    let row = |line: &String| {
        let fields = names.split('|').zip(line.split('|'));
        fields.map(|(name, text)| (name.to_owned(), value(text.trim()))).collect::<serde_json::Map<_, _>>()
    };
    lines.iter().map(|line| Json::Object(row(line))).collect()
}
