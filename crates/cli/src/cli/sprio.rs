//! `classmate sprio POOL`

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;

use clap::ArgAction;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::cli::against::{JobAge, PrintedPriorities};
use crate::cli::input::Notes;
use crate::cli::pool::PoolFiles;
use crate::cli::slurm::SlurmArguments;
use crate::cli::{Failure, FormatArguments, Reply, Streams, complain, print_result};
use crate::report::counted;
use crate::report::sprio::{DefaultColumns, Format, PriorityLine, Sort};
use crate::report::table::fits;
use classmate::{ClassAd, EvalOptions, Value};
use classmate_config::SlurmConf;
use classmate_config::internal::config::slurm::{PriorityFlags, Weights};
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_pool::internal::priority::ranking::HeldUntil;
use classmate_pool::internal::priority::slurm::candidate::{held_until, is_listed};
use classmate_pool::internal::priority::slurm::machines::enlist;
use classmate_pool::internal::priority::slurm::{Factors, SlurmJob, SlurmNodes, SlurmSettings, Standpoint};

/// Show job priorities and their factors, like Slurm's `sprio`.
///
/// POOL is a directory as for `classmate negotiate`, with optional Slurm files: `slurm.conf`, `sacctmgr.dump`,
/// `sshare.usage` and `sacctmgr.qos`. Jobs and nodes can be listings of Slurm: `squeue.json`, `scontrol.nodes`. An idle job has one line per partition. Held jobs are not listed,
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
  classmate sprio examples/slurm-cluster --against examples/slurm-cluster/sprio.txt

Exit status: 0 on success, 1 if a file cannot be read or some input was skipped, 2 on a usage error or an invalid file.")]
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
    /// Compare with what Slurm printed: the output of `sprio`, with its header or in the same columns
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    against: Option<PathBuf>,
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
    let slurm = arguments.slurm.read(directory, &snapshot.config, (&mut snapshot.slots, &snapshot.jobs), &mut notes)?;
    if slurm.conf().weights == Weights::default() && slurm.conf().tres_weights.is_empty() {
        let text = "all weights of the factors are 0: set them in slurm.conf, as in `PriorityWeightAge=1000`";
        notes.warn(text.to_owned());
    }
    notes.show(streams.err);
    let settings = snapshot.settings();
    enlist(&mut snapshot.slots, slurm.conf(), &settings);
    let conf = slurm.conf();
    let machines = SlurmNodes::of(snapshot.slots.iter().filter(|ad| is_slot(ad)), conf, &settings);
    let shown = DefaultColumns {
        long: arguments.long,
        normal: arguments.norm,
        user: !arguments.user.is_empty(),
        release: slurm.files().options.release,
    };
    let default_of = |shown| Format::default_of(shown, conf.weights, !conf.tres_weights.is_empty());
    let is_default = given.is_none();
    let format = given.unwrap_or_else(|| default_of(shown));
    let mut cluster = ListedCluster { arguments, wanted: &wanted, snapshot: &mut snapshot, slurm: &slurm, machines };
    if let Some(path) = &arguments.against {
        let switched = |bits: u8| {
            let [long, normal, user] = [1, 2, 4].map(|bit| bits & bit != 0);
            default_of(DefaultColumns { long, normal, user, ..shown })
        };
        let known: Vec<Format> = (0..8).map(switched).collect();
        let printed = PrintedPriorities::read(path, Some(&format), &known)?;
        cluster.complete(&printed);
        let snapshot = &*cluster.snapshot;
        let fitted = || printed.computed_at(&cluster.ages(&printed), conf, snapshot.now);
        let now = arguments.files.now.map_or_else(fitted, |_| snapshot.now);
        let lines: Vec<PriorityLine> = cluster.lines(now).into_iter().map(|(_, line)| line).collect();
        return compare(&printed, &lines, arguments);
    }
    let mut lines = Vec::new();
    if !arguments.weights {
        lines.extend(cluster.lines(cluster.snapshot.now).into_iter().map(|(_, line)| line));
        sort.sort(&mut lines);
        if lines.is_empty() {
            complain(&cluster.without_lines());
        }
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
        if is_default && !arguments.noheader && !arguments.weights && !fits(out, &[format.header()]) {
            return format.table(&lines).write(out, streams.out);
        }
        if !arguments.noheader {
            writeln!(out, "{}", format.header())?;
        }
        if arguments.weights {
            return writeln!(out, "{}", format.weights(weights, tres));
        }
        lines.iter().try_for_each(|line| writeln!(out, "{}", format.row(line)))
    })
}

/// A cluster whose priorities are listed.
struct ListedCluster<'a> {
    arguments: &'a SprioArguments,
    /// The jobs that are listed, if not all.
    wanted: &'a [(i64, Option<i64>)],
    snapshot: &'a mut Snapshot,
    slurm: &'a SlurmSettings,
    machines: SlurmNodes,
}

impl ListedCluster<'_> {
    /// The jobs in their partitions, with their lines as Slurm computed them `now`, which may be before they were listed.
    fn lines(&self, now: i64) -> Vec<(SlurmJob, PriorityLine)> {
        let settings = self.snapshot.settings();
        let computed = EvalOptions { now, ..settings.clone() };
        let conf = self.slurm.conf();
        let figures = Standpoint::figures_of(self.slurm, &self.machines, &self.snapshot.jobs, &computed);
        let standpoint = Standpoint::new(self.slurm, &self.machines, self.slurm.tree(), &figures);
        let listed = |ad: &&ClassAd| is_listed(AdReader::of(ad, &settings), conf.flags, settings.now);
        let candidates = |ad: &ClassAd| {
            let facts = AdReader::of(ad, &settings);
            // Until it began, what it requested counted.
            let requested = facts.string("SlurmRequestedTres");
            let began_later = facts.integer("JobCurrentStartDate").is_some_and(|start| start > now);
            let mut jobs = match requested.filter(|_| began_later) {
                Some(tres) => {
                    let mut ad = ad.clone();
                    ad.insert("SlurmTres", Value::Str(tres));
                    standpoint.candidates(&ad, &settings)
                }
                None => standpoint.candidates(ad, &settings),
            };
            // Slurm prints what a job does not have, as in a cluster without accounts.
            let absent = |name: &str| ad.contains("SlurmState") && !ad.contains(name);
            for job in &mut jobs {
                job.facts.now = now;
                if absent("SlurmAccount") {
                    "(null)".clone_into(&mut job.account);
                }
                if absent("QOS") {
                    "(null)".clone_into(&mut job.qos);
                }
            }
            jobs
        };
        let jobs: Vec<Vec<SlurmJob>> = self.snapshot.jobs.iter().filter(listed).map(candidates).collect();
        // A cluster of several jobs shows `7_2`, otherwise `7`.
        let several = jobs.iter().flatten().filter(|candidate| candidate.id.process != 0);
        let several: BTreeSet<i64> = several.map(|candidate| candidate.id.cluster).collect();
        let mut lines = Vec::new();
        for job in jobs {
            let row = |one: &SlurmJob| line(one, &standpoint, self.slurm, several.contains(&one.id.cluster));
            let mut of_job: Vec<PriorityLine> = job.iter().map(row).collect();
            if let Some(primary) = job.iter().position(|one| one.primary).filter(|_| job.len() > 1) {
                confuse(&mut of_job, primary, conf.flags);
            }
            lines.extend(job.into_iter().zip(of_job).filter(|(job, _)| self.arguments.shows(job, self.wanted)));
        }
        lines
    }

    /// The reason for which no job has a line, as a note.
    fn without_lines(&self) -> String {
        let (settings, flags) = (self.snapshot.settings(), self.slurm.conf().flags);
        let mut reasons: IndexMap<[&str; 2], u64> = IndexMap::new();
        for ad in &self.snapshot.jobs {
            let facts = AdReader::of(ad, &settings);
            let reason = if is_listed(facts, flags, settings.now) {
                ["is left out by the options", "are left out by the options"]
            } else {
                match held_until(facts, settings.now) {
                    _ if !matches!(facts.integer("JobStatus"), Some(1 | 5)) => ["does not wait", "do not wait"],
                    Some(HeldUntil::Released) => ["is held", "are held"],
                    Some(HeldUntil::Known) => ["has no begin time", "have no begin time"],
                    _ => ["may not begin yet", "may not begin yet"],
                }
            };
            *reasons.entry(reason).or_default() += 1;
        }
        let jobs = counted(self.snapshot.jobs.len() as u64, "job");
        let reasons: Vec<String> = reasons
            .iter()
            .map(|([one, many], jobs)| format!("{jobs} {}", if *jobs == 1 { one } else { many }))
            .collect();
        match reasons.as_slice() {
            [] => "note: there are no jobs".to_owned(),
            reasons => format!("note: of {jobs} none is listed: {}", reasons.join(", ")),
        }
    }

    /// Adds to jobs what Slurm lists nowhere else than in its priorities: site factors, and priorities set by hand.
    fn complete(&mut self, printed: &PrintedPriorities) {
        let lines: Vec<PriorityLine> = self.lines(self.snapshot.now).into_iter().map(|(_, line)| line).collect();
        let known = printed.beyond_lists(&lines);
        let settings = self.snapshot.settings();
        let (mut by_hand, mut with_site) = (0, 0);
        for ad in &mut self.snapshot.jobs {
            let facts = AdReader::of(ad, &settings);
            let (Some(cluster), None | Some(0)) = (facts.integer("ClusterId"), facts.integer("ProcId")) else {
                continue;
            };
            let Some(beyond) = known.get(&cluster.to_string()) else { continue };
            if let Some(priority) = beyond.by_hand.filter(|_| !ad.contains("SlurmPriority")) {
                ad.insert("SlurmPriority", Value::Int(priority));
                by_hand += 1;
            }
            if let Some(site) = beyond.site.filter(|_| !ad.contains("SiteFactor")) {
                ad.insert("SiteFactor", Value::Int(site));
                with_site += 1;
            }
        }
        for (jobs, what) in [(by_hand, "a priority set by hand"), (with_site, "a site factor")] {
            if jobs > 0 {
                let has = if jobs == 1 { "has" } else { "have" };
                complain(&format!(
                    "note: {} {has} {what}, which is taken from `{}`: Slurm does not list it with jobs",
                    counted(jobs, "job"),
                    printed.name()
                ));
            }
        }
    }

    /// The ages of jobs, by job and partition as they are printed.
    fn ages(&self, printed: &PrintedPriorities) -> HashMap<[String; 2], JobAge> {
        let age = |(job, line): (SlurmJob, PriorityLine)| {
            if line.direct {
                return None;
            }
            let age = JobAge { since: job.facts.accrues_since?, rest: line.sum - line.weighted.age };
            Some((printed.key_of(&line), age))
        };
        self.lines(self.snapshot.now).into_iter().filter_map(age).collect()
    }
}

/// Compares lines with those that Slurm printed, and fails if they differ.
fn compare(printed: &PrintedPriorities, lines: &[PriorityLine], arguments: &SprioArguments) -> Result<(), Failure> {
    let result = printed.compare(lines);
    let (object, rows) = result.json();
    print_result(arguments.output.format, &Reply { schema: "sprio-against/1", result: &object, rows: &rows }, |out| {
        result.lines().iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    if result.is_identical() {
        return Ok(());
    }
    let failure = Failure::new(format!("the priorities differ from those in `{}`", printed.name()));
    let late = "only what depends on the time differs: set `--now` to when Slurm computed it";
    // Without `--now`, no time makes more of them equal.
    Err(if arguments.files.now.is_some() && result.is_of_time() { failure.help(late) } else { failure })
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
