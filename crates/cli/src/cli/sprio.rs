//! `classmate sprio POOL`

use std::collections::BTreeSet;
use std::io::Write;

use clap::ArgAction;
use serde_json::{Value as Json, json};

use crate::cli::input::Notes;
use crate::cli::pool::PoolFiles;
use crate::cli::slurm::SlurmArguments;
use crate::cli::{Failure, FormatArguments, Reply, Streams, print_result};
use crate::report::sprio::{DefaultColumns, Format, PriorityLine, Sort};
use classmate_config::SlurmConf;
use classmate_config::internal::config::slurm::PriorityFlags;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::slurm::candidate::is_listed;
use classmate_pool::internal::priority::slurm::machines::enlist;
use classmate_pool::internal::priority::slurm::{Factors, SlurmJob, SlurmNodes, SlurmSettings, Standpoint};

/// Show job priorities and their factors, like Slurm's `sprio`.
///
/// POOL is a directory as for `classmate negotiate`, with optional Slurm files: `slurm.conf`, `sacctmgr.dump`,
/// `sshare.usage` and `sacctmgr.qos`. An idle job has one line per partition. Held jobs are not listed,
/// and others only with the flag `CALCULATE_RUNNING`.
#[expect(clippy::struct_excessive_bools, reason = "one field is one option of the command")]
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
#[command(after_help = "\
The priority is the integer part of a sum, at least 1:
  factors from 0 to 1, times the weights PriorityWeightAge, …Assoc, …Fairshare, …JobSize,
  …Partition, …QOS; for each resource, the requested fraction of the partition times its
  PriorityWeightTRES; and the site factor, minus nice.

Job attributes:
  AccountingGroup `phys.hep.ann`: account hep and user ann; or SlurmAccount and Owner
  PartitionName, QOS, RequestCpus, RequestMemory, RequestGpus, RequestNodes, AllowedJobDuration
  JobPrio: nice is -JobPrio

Letters of -o and -S, weighted (capital) and as factors:
  A a  age             B b  association     F f  fair share     J j  job size
  P p  partition       Q q  QOS             T t  resources
  Y y  priority, also as a fraction of 4294967295               S    site     N  nice
  i    job             r    partition       u    user           o    account
  n    QOS             c    cluster
A field of -o is %[.][width]letter; the dot aligns it to the right, and it is cut to its width.

Examples:
  classmate sprio examples/slurm
  classmate sprio examples/slurm -l -S -Y          # all columns, highest priority first
  classmate sprio examples/slurm -n -u ann         # factors of one user's jobs
  classmate sprio examples/slurm -w                # the weights
  classmate sprio examples/slurm -h -o '%i %Y'

Exit status: 0 on success, 1 if a file cannot be read, 2 on a usage error or an invalid file.")]
pub(super) struct SprioArguments {
    #[command(flatten)]
    files: PoolFiles,
    /// Show all columns
    #[arg(short = 'l', long)]
    long: bool,
    /// Show unweighted factors
    #[arg(short = 'n', long)]
    norm: bool,
    /// Show the weights instead of jobs
    #[arg(short = 'w', long)]
    weights: bool,
    /// Columns to show
    #[arg(short = 'o', long, value_name = "COLUMNS", conflicts_with_all = ["long", "norm"])]
    columns: Option<String>,
    #[command(flatten)]
    output: FormatArguments,
    /// Sort by these columns, each prefixed with + or -
    #[arg(short = 'S', long, value_name = "LETTERS", default_value = "i", allow_hyphen_values = true)]
    sort: String,
    /// Omit the header
    #[arg(short = 'h', long)]
    noheader: bool,
    /// Only jobs of these users (comma-separated)
    #[arg(short = 'u', long, value_name = "USERS", value_delimiter = ',')]
    user: Vec<String>,
    /// Only these jobs: `7`, `7.2` or `7_2` (comma-separated)
    #[arg(short = 'j', long = "job", value_name = "JOBS", value_delimiter = ',')]
    job: Vec<String>,
    /// Only these partitions (comma-separated)
    #[arg(short = 'p', long, value_name = "PARTITIONS", value_delimiter = ',')]
    partition: Vec<String>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    // Last: its heading holds for whatever follows.
    #[command(flatten)]
    slurm: SlurmArguments,
}

pub(super) fn run(arguments: &SprioArguments, streams: Streams) -> Result<(), Failure> {
    let sort = Sort::parse(&arguments.sort).map_err(wrong_letters)?;
    let given = arguments.columns.as_deref().map(Format::parse).transpose().map_err(wrong_letters)?;
    let wanted = arguments.job.iter().map(|text| wanted(text)).collect::<Result<Vec<_>, _>>()?;
    let mut notes = Notes::default();
    let mut snapshot = arguments.files.snapshot(&mut notes, streams.err)?;
    let directory = arguments.files.directory();
    let slurm = arguments.slurm.read(directory, &snapshot.config, &snapshot.jobs, &mut notes)?;
    notes.show(streams.err);
    let settings = snapshot.settings();
    enlist(&mut snapshot.slots, slurm.conf(), &settings);
    let slots = snapshot.slots.iter().filter(|ad| is_slot(ad));
    let machines = SlurmNodes::of(slots, slurm.conf(), &settings);
    let figures = Standpoint::figures_of(&slurm, &machines, &snapshot.jobs, &settings);
    let standpoint = Standpoint::new(&slurm, &machines, slurm.tree(), &figures);
    let conf = slurm.conf();
    let shown = DefaultColumns {
        long: arguments.long,
        normal: arguments.norm,
        user: !arguments.user.is_empty(),
        release: slurm.files().options.release,
    };
    let format = given.unwrap_or_else(|| Format::default_of(shown, conf.weights, !conf.tres_weights.is_empty()));
    let mut lines = Vec::new();
    if !arguments.weights {
        let listed = snapshot.jobs.iter().filter(|ad| is_listed(AdReader::of(ad, &settings), conf.flags, settings.now));
        let jobs: Vec<Vec<SlurmJob>> = listed.map(|ad| standpoint.candidates(ad, &settings)).collect();
        // A cluster of several jobs shows `7_2`, otherwise `7`.
        let several = jobs.iter().flatten().filter(|candidate| candidate.id.process != 0);
        let several: BTreeSet<i64> = several.map(|candidate| candidate.id.cluster).collect();
        for job in &jobs {
            let row = |one: &SlurmJob| line(one, &standpoint, &slurm, several.contains(&one.id.cluster));
            let mut of_job: Vec<PriorityLine> = job.iter().map(row).collect();
            if let Some(primary) = job.iter().position(|one| one.primary).filter(|_| job.len() > 1) {
                confuse(&mut of_job, primary, conf.flags);
            }
            let shown = job.iter().zip(of_job).filter(|(candidate, _)| arguments.shows(candidate, &wanted));
            lines.extend(shown.map(|(_, line)| line));
        }
        sort.sort(&mut lines);
    }
    let rows: Vec<Json> = lines.iter().map(row).collect();
    // Slurm prints a string that is not set.
    let tres = conf.written.get("priorityweighttres").map_or("(null)", String::as_str);
    let weights = conf.weights;
    let result = json!({
        "jobs": rows,
        "weights": {
            "age": weights.age, "association": weights.association, "fair_share": weights.fair_share,
            "job_size": weights.job_size, "partition": weights.partition, "qos": weights.qos, "tres": tres,
        },
    });
    print_result(arguments.output.format, &Reply { schema: "sprio/1", result: &result, rows: &rows }, |out| {
        if !arguments.noheader {
            writeln!(out, "{}", format.header())?;
        }
        if arguments.weights {
            return writeln!(out, "{}", format.weights(weights, tres));
        }
        lines.iter().try_for_each(|line| writeln!(out, "{}", format.row(line)))
    })
}

/// A job in a partition for programs: its weighted factors.
fn row(line: &PriorityLine) -> Json {
    let Factors { age, association, fair_share, job_size, partition, qos, tres } = &line.weighted;
    let tres: serde_json::Map<String, Json> = tres.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "job": line.id,
        "partition": line.partition,
        "user": line.user,
        "account": line.account,
        "qos": line.qos,
        "cluster": line.cluster,
        "priority": line.sum.max(1.0).trunc(),
        "set_by_hand": line.direct,
        "site": line.site,
        "nice": line.nice,
        "weighted": {
            "age": age, "association": association, "fair_share": fair_share, "job_size": job_size,
            "partition": partition, "qos": qos, "tres": tres,
        },
    })
}

impl SprioArguments {
    fn shows(&self, candidate: &SlurmJob, jobs: &[(i64, Option<i64>)]) -> bool {
        let among =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|one| one.eq_ignore_ascii_case(name));
        among(&self.user, &candidate.user)
            && among(&self.partition, &candidate.partition)
            && (jobs.is_empty()
                || jobs.iter().any(|(cluster, process)| {
                    *cluster == candidate.id.cluster && process.is_none_or(|process| process == candidate.id.process)
                }))
    }
}

/// Repeats the mistakes of Slurm in the lines of a job in several partitions; its real priorities there are others.
///
/// The factors of each line start as the weighted ones of the partition that the job names first: those of resources that
/// another partition does not have stay, and are weighted again. Before 23.02 a priority set by hand does not show, and the
/// lines have their partition factors only.
fn confuse(lines: &mut [PriorityLine], primary: usize, flags: PriorityFlags) {
    let of_primary = lines[primary].weighted.tres.clone();
    for (at, line) in lines.iter_mut().enumerate() {
        if line.direct {
            if !line.release.prints_zeros() {
                line.weighted.partition = line.partition_weighted;
                (line.direct, line.site, line.nice) = (false, UNSET, UNSET);
                line.sum = line.total();
            }
        } else if at != primary && !flags.raw_tres {
            for ((name, value), (_, before)) in line.weighted.tres.iter_mut().zip(&of_primary) {
                if *value == 0.0 {
                    *value = before * line.tres_weights.of(name);
                }
            }
            line.sum = line.total();
        }
    }
}

/// A site factor or nice value that is not set, around the offset of 2^31.
const UNSET: i64 = -2_147_483_648;

/// The cluster and the process of `7`, `7_2` or `7.2`.
fn wanted(text: &str) -> Result<(i64, Option<i64>), Failure> {
    let number = |digits: &str| digits.parse::<u64>().ok().and_then(|number| i64::try_from(number).ok());
    let found = match text.split_once(['_', '.']) {
        Some((cluster, process)) => number(cluster).zip(number(process).map(Some)),
        None => number(text).map(|cluster| (cluster, None)),
    };
    found.ok_or_else(|| {
        Failure::input(format!("`{text}` is not a job ID")).help("expected a job ID such as `7`, `7.2` or `7_2`")
    })
}

fn line(candidate: &SlurmJob, standpoint: &Standpoint<'_>, slurm: &SlurmSettings, process: bool) -> PriorityLine {
    let (id, terms) = (candidate.id, standpoint.terms(candidate));
    let SlurmConf { weights, tres_weights, .. } = slurm.conf();
    let direct = candidate.facts.direct.is_some();
    let mut line = PriorityLine {
        id: if process { format!("{}_{}", id.cluster, id.process) } else { id.cluster.to_string() },
        partition: candidate.partition.clone(),
        user: candidate.user.clone(),
        account: candidate.account.clone(),
        qos: candidate.qos.clone(),
        cluster: slurm.files().associations.cluster.clone().unwrap_or_default(),
        weighted: terms.weighted,
        sum: terms.sum,
        site: if direct { 0 } else { candidate.facts.site },
        nice: if direct { 0 } else { candidate.facts.nice },
        direct,
        release: slurm.files().options.release,
        partition_weighted: standpoint.partition_term(candidate),
        weights: *weights,
        tres_weights: tres_weights.clone(),
    };
    if !direct {
        line.sum = line.total();
    }
    line
}

fn wrong_letters(message: String) -> Failure {
    Failure::input(message).help("`classmate sprio --help` lists the letters")
}
