//! Jobs and nodes as Slurm's own commands list them, as ads.
//!
//! In: `squeue --json`, `scontrol show jobs` and `scontrol show nodes`, with or without `-o` or `--json`, and the nodes of a
//! `slurm.conf`. Out: ads with the attributes that the policy reads (`docs/slurm.md`). Times of day are taken as UTC, since the
//! text does not say their zone. One file: both forms fill the same two records; the last quarter is tests.

use std::io::{self, BufRead};
use std::sync::{LazyLock, Mutex, PoisonError};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;

use classmate::Diagnostic;
use classmate::internal::ad::ClassAd;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::value::Value;
use classmate_config::SlurmConf;
use classmate_config::internal::config::Disk;
use classmate_config::internal::config::slurm::{Duration, NodeLine, TresWeights};

/// The first keys of records.
const RECORDS: [&str; 2] = ["JobId=", "NodeName="];

/// The text that is printed if there are none.
const NOTHING: [&str; 2] = ["No jobs in the system", "No nodes in the system"];

/// The kind of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingFormat {
    /// Records of `Key=Value`.
    Text,
    /// A JSON document.
    Json,
    /// A `slurm.conf`, of which the nodes are read.
    Configuration,
}

/// Keys of records that only listings of nodes have.
const OF_LISTINGS: [&[u8]; 3] = [b"CPUAlloc=", b"CfgTRES=", b"Partitions="];

/// Tests if a text is a `slurm.conf`: its first line is `Key=Value`, and one line is about nodes.
fn is_configuration(start: &[u8]) -> bool {
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).peekable();
    let key = |line: &[u8]| line.iter().position(|byte| !byte.is_ascii_alphanumeric()).filter(|at| *at > 0);
    let is_value = |line: &[u8], at: usize| matches!(line[at..], [b'=', next, ..] if !next.is_ascii_whitespace());
    let is_option = |line: &[u8]| key(line).is_some_and(|at| is_value(line, at));
    // An attribute of an ad would be a string.
    let is_node = |line: &[u8]| {
        let (name, value) = line.split_at_checked(9).unwrap_or((line, b""));
        name.eq_ignore_ascii_case(b"NodeName=") && !value.starts_with(b"\"")
    };
    lines.peek().is_some_and(|line| is_option(line)) && lines.any(is_node)
}

impl ListingFormat {
    /// The kind of listing that begins like this, if it is one of Slurm's.
    ///
    /// ```
    /// use classmate_pool::internal::listing::ListingFormat;
    /// assert_eq!(ListingFormat::detect(b"JobId=7 JobName=a"), Some(ListingFormat::Text));
    /// assert_eq!(ListingFormat::detect(b"{ \"jobs\": [ {"), Some(ListingFormat::Json));
    /// assert_eq!(ListingFormat::detect(b"ClusterName=c\nNodeName=n[1-4]"), Some(ListingFormat::Configuration));
    /// assert_eq!(ListingFormat::detect(b"JobId = 7\n"), None);
    /// assert_eq!(ListingFormat::detect(b"{ \"MyType\": \"Job\" }"), None);
    /// ```
    pub fn detect(start: &[u8]) -> Option<Self> {
        let start = start.trim_ascii_start();
        let begins = |word: &&str| start.starts_with(word.as_bytes());
        let is_listing = OF_LISTINGS.iter().any(|key| memchr::memmem::find(start, key).is_some());
        if !is_listing && is_configuration(start) {
            return Some(Self::Configuration);
        }
        if RECORDS.iter().chain(&NOTHING).any(begins) {
            return Some(Self::Text);
        }
        let key = start.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
        let (name, rest) = key.split_at(memchr::memchr(b'"', key)?);
        let value = rest.get(1..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let opened = match name {
            b"jobs" | b"nodes" => b'[',
            b"meta" => b'{',
            _ => return None,
        };
        (value.first() == Some(&opened)).then_some(Self::Json)
    }

    /// Reads all jobs or nodes of the listing in a file with this name, and the warnings about a configuration.
    ///
    /// # Errors
    /// A listing that cannot be read, that Slurm could not make, or that has a record without what every one has.
    pub fn read(self, name: &str, mut reader: impl BufRead) -> io::Result<(Vec<ClassAd>, Vec<Diagnostic>)> {
        let ads = match self {
            Self::Json => document(reader)?,
            Self::Configuration => {
                let mut text = Vec::new();
                reader.read_to_end(&mut text)?;
                let (conf, defects) = SlurmConf::read_changed(name, &text, &Disk, ("", &[]));
                if let Some(error) = defects.errors.first() {
                    // The file is named where it is read.
                    let line = error.place.as_ref().filter(|place| *place.file == *name).map(|place| place.line);
                    let own = |line| format!("line {line}: {}", error.message);
                    return Err(wrong(line.map_or_else(|| error.to_line(), own)));
                }
                return Ok((node_ads(&conf.nodes).map_err(wrong)?, defects.warnings));
            }
            Self::Text => {
                let mut text = String::new();
                reader.read_to_string(&mut text)?;
                let ads = records(&text)?.into_iter();
                ads.map(|(line, record)| text_ad(&record).map_err(|what| wrong(format!("line {line}: {what}"))))
                    .collect::<io::Result<_>>()?
            }
        };
        Ok((ads, Vec::new()))
    }
}

/// The content of a listing is not what Slurm writes.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidListing(String);

fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, InvalidListing(message))
}

/// A job, however it was listed. An absent number is one that is not set.
#[derive(Debug, Default)]
struct ListedJob {
    id: i64,
    user: String,
    account: String,
    partition: String,
    qos: String,
    state: String,
    /// The reason it waits.
    reason: String,
    submitted: Option<i64>,
    eligible: Option<i64>,
    accrues: Option<i64>,
    started: Option<i64>,
    /// The last time at which Slurm looked at it.
    seen: Option<i64>,
    /// Minutes, [`WITHOUT_END`] if there is none.
    limit: Option<i64>,
    priority: Option<i64>,
    nice: i64,
    requested: String,
    allocated: String,
    /// The CPUs that its size counts, which may be more than it requested.
    cpus: Option<i64>,
    release: String,
}

/// The limit of a job without end, as `sprio` counts it, in minutes.
const WITHOUT_END: i64 = 4_294_967_295;

impl ListedJob {
    fn ad(self) -> Result<ClassAd, String> {
        let status = match self.state.as_str() {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => 1,
            "RUNNING" | "CONFIGURING" | "COMPLETING" | "STAGE_OUT" | "SIGNALING" | "RESIZING" | "STOPPED" => 2,
            "SUSPENDED" => 7,
            _ => 4,
        };
        let tres = if status == 1 || self.allocated.is_empty() { &self.requested } else { &self.allocated };
        let amounts = TresWeights::amounts(tres)
            .ok_or_else(|| format!("the resources of job {} are `{tres}`, expected `name=amount,…`", self.id))?;
        let nodes = amounts.of("node").max(1.0);
        let each = |name: &str, least: f64| whole((amounts.of(name) / nodes).ceil().max(least));
        let mut ad = ClassAd::new();
        for (name, text) in [
            ("MyType", "Job"),
            ("Owner", &self.user),
            ("User", &self.user),
            ("SlurmAccount", &self.account),
            ("PartitionName", &self.partition),
            ("QOS", &self.qos),
            ("SlurmTres", &without(&amounts, &["billing"])),
            ("SlurmRequestedTres", if status == 1 { "" } else { &self.requested }),
            ("SlurmState", &self.state),
            ("SlurmReason", if status == 1 { &self.reason } else { "" }),
            ("SlurmRelease", &self.release),
        ] {
            if !text.is_empty() {
                ad.insert(name, Value::Str(text.into()));
            }
        }
        let mut integer = |name: &str, number: Option<i64>| {
            if let Some(number) = number {
                ad.insert(name, Value::Int(number));
            }
        };
        integer("ClusterId", Some(self.id));
        integer("ProcId", Some(0));
        integer("JobStatus", Some(status));
        integer("JobUniverse", Some(5));
        integer("QDate", self.submitted);
        integer("EnteredCurrentStatus", self.accrues);
        integer("JobPrio", Some(self.nice.saturating_neg()));
        integer("RequestNodes", Some(whole(nodes)));
        integer("RequestCpus", Some(each("cpu", 1.0)));
        integer("RequestMemory", Some(each("mem", 0.0)));
        integer("RequestGPUs", Some(each("gres/gpu", 0.0)).filter(|gpus| *gpus > 0));
        integer("SlurmCpus", self.cpus.filter(|cpus| *cpus > 0 && *cpus != whole(amounts.of("cpu"))));
        integer("AllowedJobDuration", self.limit.map(|minutes| minutes.saturating_mul(60)));
        // One that waits depends on others until it has a time; one that failed before it had a time has no priority either.
        let begins = self.eligible.filter(|_| status == 1).or(self.eligible.is_none().then_some(i64::MAX));
        integer("SlurmBeginTime", begins);
        integer("SlurmPriority", self.priority.filter(|priority| *priority == 0));
        if status != 1 {
            integer("JobCurrentStartDate", self.started);
        }
        // It was listed after its submission.
        integer("ServerTime", self.seen.or(self.submitted));
        let requirements = if ad.contains("RequestGPUs") {
            "TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory && TARGET.GPUs >= RequestGPUs"
        } else {
            "TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory"
        };
        expression(&mut ad, "Requirements", requirements)?;
        Ok(ad)
    }
}

/// A node, however it was listed.
#[derive(Debug, Default)]
struct ListedNode {
    name: String,
    /// `None`: those whose configuration has its name.
    partitions: Option<String>,
    /// Words with `+` between them; empty if it is not known.
    state: String,
    /// Its resources, and the part of them that is allocated.
    tres: TresWeights,
    used: TresWeights,
}

/// States in which no job begins on a node.
const UNAVAILABLE: [&str; 12] = [
    "DOWN",
    "DRAIN",
    "DRAINED",
    "DRAINING",
    "ERROR",
    "FAIL",
    "FUTURE",
    "MAINT",
    "NOT_RESPONDING",
    "POWERING_DOWN",
    "REBOOT_REQUESTED",
    "UNKNOWN",
];

impl ListedNode {
    fn ad(self) -> Result<ClassAd, String> {
        let mut ad = ClassAd::new();
        let others = without(&self.tres, &["cpu", "mem", "node", "billing", "gres/gpu"]);
        for (name, text) in [
            ("MyType", "Machine"),
            ("Name", self.name.as_str()),
            ("Machine", &self.name),
            ("PartitionName", self.partitions.as_deref().unwrap_or_default()),
            ("SlotType", "Partitionable"),
            ("State", "Unclaimed"),
            ("Activity", "Idle"),
            ("SlurmState", &self.state),
            ("SlurmTres", &others),
        ] {
            if !text.is_empty() {
                ad.insert(name, Value::Str(text.into()));
            }
        }
        ad.insert("PartitionableSlot", Value::Bool(true));
        // A node serves several jobs in a cycle.
        let mut resources = Vec::new();
        for (name, resource, requested) in [
            ("Cpus", "cpu", "TARGET.RequestCpus ?: 0"),
            ("Memory", "mem", "TARGET.RequestMemory ?: 0"),
            ("GPUs", "gres/gpu", "TARGET.RequestGPUs ?: 0"),
        ] {
            let (all, used) = (self.tres.of(resource), self.used.of(resource));
            if all > 0.0 || name != "GPUs" {
                resources.push(name);
                ad.insert(name, Value::Int(whole((all - used).max(0.0))));
                ad.insert(format!("TotalSlot{name}").as_str(), Value::Int(whole(all)));
                expression(&mut ad, &format!("Consumption{name}"), requested)?;
            }
        }
        ad.insert("MachineResources", Value::Str(resources.join(" ").as_str().into()));
        let mut states = self.state.split('+').map(|word| word.trim_end_matches(['*', '~', '#', '$', '@', '!', '%']));
        let available = !states.any(|state| UNAVAILABLE.contains(&state));
        let requirements = match (available, ad.contains("GPUs")) {
            (false, _) => "false",
            (true, false) => "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory",
            (true, true) => {
                "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory <= MY.Memory && (TARGET.RequestGPUs ?: 0) <= MY.GPUs"
            }
        };
        expression(&mut ad, "Requirements", requirements)?;
        Ok(ad)
    }
}

/// The ads of the nodes that a `slurm.conf` has.
///
/// # Errors
/// None that its nodes can cause.
pub fn node_ads(nodes: &[NodeLine]) -> Result<Vec<ClassAd>, String> {
    let named = nodes.iter().flat_map(|line| line.hosts.names().into_iter().map(move |name| (name, line)));
    let node = |(name, line): (String, &NodeLine)| {
        let mut tres = line.generic.clone();
        tres.0.extend([("cpu".to_owned(), line.cpus as f64), ("mem".to_owned(), line.memory as f64)]);
        let state = if line.future { "FUTURE" } else { "" };
        ListedNode { name, tres, state: state.to_owned(), ..ListedNode::default() }.ad()
    };
    named.map(node).collect()
}

/// Amounts as Slurm writes them, memory in MB, without some resources.
fn without(amounts: &TresWeights, left_out: &[&str]) -> String {
    let kept = amounts.0.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    kept.map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
}

/// An amount, which is not negative.
#[expect(clippy::cast_possible_truncation, reason = "larger amounts are cut to the largest number")]
fn whole(amount: f64) -> i64 {
    amount as i64
}

/// Adds an expression; the ads of all jobs or nodes share it.
fn expression(ad: &mut ClassAd, name: &str, text: &'static str) -> Result<(), String> {
    static PARSED: LazyLock<Mutex<HashMap<&'static str, Expr>>> = LazyLock::new(Mutex::default);
    let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let expr = match parsed.entry(text) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => new.insert(text.parse().map_err(|error| format!("`{text}`: {error}"))?),
    };
    ad.insert_expr(name, expr);
    Ok(())
}

/// The records of a text and the lines where they begin. A record is one line, or goes on in indented ones.
fn records(text: &str) -> io::Result<Vec<(usize, String)>> {
    let mut records: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let is_first = RECORDS.iter().any(|key| line.starts_with(key));
        match records.last_mut() {
            _ if is_first => records.push((number, line.to_owned())),
            Some((_, record)) if line.starts_with(char::is_whitespace) => {
                record.push(' ');
                record.push_str(line);
            }
            _ if NOTHING.contains(&line.trim()) => {}
            _ => {
                return Err(wrong(format!(
                    "line {number}: expected a record such as `JobId=…`, found `{}`",
                    line.trim()
                )));
            }
        }
    }
    Ok(records)
}

/// The ad of a record of `Key=Value`.
fn text_ad(record: &str) -> Result<ClassAd, String> {
    // The name of a job can be any text.
    let named = record.find(" JobName=").zip(record.find(" UserId="));
    let (head, rest) = match named.filter(|(name, user)| name < user) {
        Some((name, user)) => (&record[..name], &record[user..]),
        None => (record, ""),
    };
    let pairs: Vec<(&str, &str)> =
        head.split_whitespace().chain(rest.split_whitespace()).filter_map(|word| word.split_once('=')).collect();
    let value = |key: &str| {
        let found = pairs.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
        found.filter(|value| !["", "(null)", "N/A", "None"].contains(value))
    };
    let text = |key: &str| value(key).unwrap_or_default().to_owned();
    if record.starts_with(RECORDS[0]) { text_job(value, text) } else { text_node(value, text) }
}

fn text_job<'a>(value: impl Fn(&str) -> Option<&'a str>, text: impl Fn(&str) -> String) -> Result<ClassAd, String> {
    let number = |key: &str| value(key).map(|digits| digits.parse().map_err(|_| expected(key, digits, "a number")));
    let number = |key: &str| number(key).transpose();
    let time = |key: &str| {
        let written = value(key).filter(|written| *written != "Unknown");
        let parsed = |written: &str| written.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
        let wrong = |written: &str| expected(key, written, "a time such as `2026-01-31T23:59:59`");
        let seconds = |written: &str| parsed(written).map(|time| time.timestamp().as_second());
        written.map(|written| seconds(written).ok_or_else(|| wrong(written))).transpose()
    };
    let limit = match value("TimeLimit") {
        None | Some("Partition_Limit") => None,
        Some("UNLIMITED") => Some(WITHOUT_END),
        Some(written) => {
            let seconds = Duration::parse(written).and_then(Duration::seconds);
            let seconds = seconds.ok_or_else(|| expected("TimeLimit", written, "a time such as `1-12:00:00`"))?;
            i64::try_from(seconds / 60).ok()
        }
    };
    let user = text("UserId");
    let requested = value("ReqTRES").or_else(|| value("TRES")).unwrap_or_default();
    ListedJob {
        id: number("JobId")?.ok_or("a job has no `JobId`")?,
        user: user.split('(').next().unwrap_or_default().to_owned(),
        account: text("Account"),
        partition: text("Partition"),
        qos: text("QOS"),
        state: text("JobState"),
        reason: text("Reason"),
        submitted: time("SubmitTime")?,
        eligible: time("EligibleTime")?,
        accrues: time("AccrueTime")?,
        started: time("StartTime")?,
        seen: time("LastSchedEval")?,
        limit,
        priority: number("Priority")?,
        nice: number("Nice")?.unwrap_or(0),
        requested: requested.to_owned(),
        // Before 23.02 there is one list: what is allocated, once it is.
        allocated: value("AllocTRES").unwrap_or(requested).to_owned(),
        cpus: value("NumCPUs").and_then(|cpus| cpus.parse().ok()),
        release: value("TRES").map_or("", |_| "22.05").to_owned(),
    }
    .ad()
}

fn text_node<'a>(value: impl Fn(&str) -> Option<&'a str>, text: impl Fn(&str) -> String) -> Result<ClassAd, String> {
    let amounts = |key: &str| {
        let written = value(key).unwrap_or_default();
        TresWeights::amounts(written).ok_or_else(|| expected(key, written, "`name=amount,…`"))
    };
    let number = |key: &str| value(key).and_then(|digits| digits.parse::<f64>().ok());
    let own = [("cpu", number("CPUTot")), ("mem", number("RealMemory"))];
    let used = [("cpu", number("CPUAlloc")), ("mem", number("AllocMem"))];
    ListedNode {
        name: text("NodeName"),
        partitions: Some(text("Partitions")),
        state: text("State"),
        tres: completed(amounts("CfgTRES")?, &own, value("Gres").unwrap_or_default()),
        used: completed(amounts("AllocTRES")?, &used, ""),
    }
    .ad()
}

/// Amounts with exact ones, instead of those that are rounded to two digits, and with generic resources that are not tracked.
fn completed(mut amounts: TresWeights, exact: &[(&str, Option<f64>)], generic: &str) -> TresWeights {
    for (name, amount) in exact {
        // The CPUs that can be used may be fewer than there are.
        let known = amounts.has(name) && *name == "cpu";
        if let Some(amount) = amount.filter(|_| !known) {
            amounts.0.retain(|(known, _)| known != name);
            amounts.0.push(((*name).to_owned(), amount));
        }
    }
    let untracked = TresWeights::generic(generic).0.into_iter().filter(|(name, _)| !amounts.has(name));
    let untracked: Vec<_> = untracked.collect();
    amounts.0.extend(untracked);
    amounts
}

fn expected(key: &str, found: &str, what: &str) -> String {
    format!("`{key}` is `{found}`, expected {what}")
}

/// The document of `--json`: the parts that are read.
#[derive(Deserialize)]
struct JsonListing {
    jobs: Option<Vec<JsonJob>>,
    nodes: Option<Vec<JsonNode>>,
    #[serde(default)]
    errors: Vec<JsonError>,
    last_update: Option<JsonNumber>,
    meta: Option<JsonMeta>,
}

#[derive(Deserialize)]
struct JsonError {
    description: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct JsonMeta {
    /// `Slurm` before 24.05.
    #[serde(alias = "Slurm")]
    slurm: Option<JsonRelease>,
}

#[derive(Deserialize)]
struct JsonRelease {
    release: Option<String>,
}

/// A number; from 23.02 on with marks that say whether it is set.
#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum JsonNumber {
    Plain(i64),
    Marked { set: bool, infinite: bool, number: f64 },
}

impl JsonNumber {
    fn get(self) -> Option<i64> {
        match self {
            Self::Plain(number) => Some(number),
            Self::Marked { set, infinite, number } => (set && !infinite).then(|| whole(number)),
        }
    }

    /// A time; 0 is none.
    fn time(self) -> Option<i64> {
        self.get().filter(|seconds| *seconds > 0)
    }
}

/// One word, or from 23.02 on several.
#[derive(Deserialize)]
#[serde(untagged)]
enum JsonWords {
    One(String),
    Several(Vec<String>),
}

impl JsonWords {
    fn joined(self) -> String {
        match self {
            Self::One(word) => word.to_uppercase(),
            Self::Several(words) => words.join("+").to_uppercase(),
        }
    }
}

#[derive(Deserialize)]
struct JsonJob {
    job_id: i64,
    user_name: Option<String>,
    account: Option<String>,
    partition: Option<String>,
    qos: Option<String>,
    job_state: JsonWords,
    state_reason: Option<String>,
    submit_time: Option<JsonNumber>,
    eligible_time: Option<JsonNumber>,
    accrue_time: Option<JsonNumber>,
    start_time: Option<JsonNumber>,
    last_sched_evaluation: Option<JsonNumber>,
    time_limit: Option<JsonNumber>,
    priority: Option<JsonNumber>,
    nice: Option<i64>,
    cpus: Option<JsonNumber>,
    tres_req_str: Option<String>,
    tres_alloc_str: Option<String>,
}

#[derive(Deserialize)]
struct JsonNode {
    name: String,
    #[serde(default)]
    partitions: Vec<String>,
    state: JsonWords,
    #[serde(default)]
    state_flags: Vec<String>,
    tres: Option<String>,
    tres_used: Option<String>,
    gres: Option<String>,
    cpus: Option<f64>,
    real_memory: Option<f64>,
    alloc_cpus: Option<f64>,
    alloc_memory: Option<f64>,
}

/// The ads of a document.
fn document(reader: impl BufRead) -> io::Result<Vec<ClassAd>> {
    let JsonListing { jobs, nodes, errors, last_update, meta } = serde_json::from_reader(reader).map_err(|error| {
        // Valid JSON of another kind, or with a job that lacks a field.
        let found = if error.is_data() { "not the output of squeue or scontrol" } else { "invalid JSON" };
        wrong(format!("{found}: {error}"))
    })?;
    if let Some(error) = errors.into_iter().next() {
        let words = [error.description, error.error].into_iter().flatten();
        return Err(wrong(format!("Slurm reports an error: {}", words.collect::<Vec<_>>().join(": "))));
    }
    let release = meta.and_then(|meta| meta.slurm?.release).unwrap_or_default();
    let seen = last_update.and_then(JsonNumber::time);
    let ads: Result<Vec<ClassAd>, String> = match (jobs, nodes) {
        (Some(jobs), _) => jobs.into_iter().map(|job| job.listed(&release, seen).ad()).collect(),
        (None, Some(nodes)) => nodes.into_iter().map(JsonNode::ad).collect(),
        (None, None) => Err("it has neither `jobs` nor `nodes`".to_owned()),
    };
    ads.map_err(wrong)
}

impl JsonJob {
    fn listed(self, release: &str, seen: Option<i64>) -> ListedJob {
        let time = |number: Option<JsonNumber>| number.and_then(JsonNumber::time);
        let state = match self.job_state {
            JsonWords::One(state) => state,
            // The first is the state, the others are flags.
            JsonWords::Several(states) => states.into_iter().next().unwrap_or_default(),
        };
        ListedJob {
            id: self.job_id,
            user: self.user_name.unwrap_or_default(),
            account: self.account.unwrap_or_default(),
            partition: self.partition.unwrap_or_default(),
            qos: self.qos.unwrap_or_default(),
            state,
            reason: self.state_reason.filter(|reason| reason != "None").unwrap_or_default(),
            submitted: time(self.submit_time),
            eligible: time(self.eligible_time),
            accrues: time(self.accrue_time),
            started: time(self.start_time),
            seen: seen.or_else(|| time(self.last_sched_evaluation)),
            limit: match self.time_limit {
                // 22.05 writes a time without end so.
                None | Some(JsonNumber::Marked { infinite: true, .. }) => Some(WITHOUT_END),
                Some(limit) => limit.get(),
            },
            priority: self.priority.and_then(JsonNumber::get),
            // 22.05 prints -20 as 2^32 - 20.
            nice: self.nice.map_or(0, |nice| if nice > i64::from(i32::MAX) { nice - (1 << 32) } else { nice }),
            requested: self.tres_req_str.unwrap_or_default(),
            allocated: self.tres_alloc_str.unwrap_or_default(),
            cpus: self.cpus.and_then(JsonNumber::get),
            release: release.to_owned(),
        }
    }
}

impl JsonNode {
    fn ad(self) -> Result<ClassAd, String> {
        let amounts = |key: &str, text: Option<String>| {
            let text = text.unwrap_or_default();
            TresWeights::amounts(&text).ok_or_else(|| expected(key, &text, "`name=amount,…`"))
        };
        let own = [("cpu", self.cpus), ("mem", self.real_memory)];
        let used = [("cpu", self.alloc_cpus), ("mem", self.alloc_memory)];
        let flags = self.state_flags.iter().map(|flag| format!("+{flag}"));
        ListedNode {
            name: self.name,
            partitions: Some(self.partitions.join(",")),
            state: self.state.joined() + &flags.collect::<String>(),
            tres: completed(amounts("tres", self.tres)?, &own, self.gres.as_deref().unwrap_or_default()),
            used: completed(amounts("tres_used", self.tres_used)?, &used, ""),
        }
        .ad()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Vec<ClassAd>> {
        ListingFormat::detect(text.as_bytes()).unwrap().read("listing", text.as_bytes()).map(|(ads, _)| ads)
    }

    fn shown(ad: &ClassAd, name: &str) -> String {
        ad.get(name).map_or_else(|| "-".to_owned(), |expr| expr.to_string())
    }

    #[test]
    fn nodes_of_a_configuration_are_read_and_its_other_lines_left_alone() {
        let text = "# comment\n\nClusterName=c\nSlurmctldHost=h(10.0.0.1)\nNodeName=n[1-2] CPUs=4 RealMemory=100\n\
                    PartitionName=p Nodes=ALL\n";
        let ads = read(text).unwrap();
        let cpus: Vec<String> = ads.iter().map(|ad| shown(ad, "Name") + " " + &shown(ad, "Cpus")).collect();
        assert_eq!(cpus, ["\"n1\" 4", "\"n2\" 4"]);
        for ad in ["A=1\nNodeName=\"n1\"\n", "A = 1\nNodeName=n1\n", "NodeName=n1 CPUAlloc=0 CPUTot=4\n"] {
            assert_ne!(ListingFormat::detect(ad.as_bytes()), Some(ListingFormat::Configuration), "{ad}");
        }
        assert!(read("ClusterName=c\nNodeName=n[1- CPUs=2\n").is_err());
    }

    #[test]
    fn a_job_is_the_same_in_text_of_either_form() {
        let record = "JobId=7 JobName=a Account=evil UserId=ann(3) GroupId=x(1)\n   Priority=0 Nice=-5 Account=phys QOS=(null)\n   \
                      JobState=PENDING Reason=x y TimeLimit=1-00:30:00\n   SubmitTime=1970-01-01T00:01:40 \
                      EligibleTime=Unknown AccrueTime=Unknown\n   Partition=a,b \
                      ReqTRES=cpu=6,mem=3G,node=2,billing=6,gres/gpu=3 AllocTRES=(null)\n";
        for text in [record.to_owned(), record.replace("\n   ", " ")] {
            let ads = read(&text).unwrap();
            let names = "ClusterId JobStatus Owner SlurmAccount QOS PartitionName JobPrio AllowedJobDuration QDate \
                         EnteredCurrentStatus SlurmBeginTime SlurmPriority RequestNodes RequestCpus RequestMemory RequestGPUs SlurmTres";
            let found: Vec<String> = names.split_whitespace().map(|name| shown(&ads[0], name)).collect();
            // 1 day and 30 minutes are 88,200 s; 3 GPUs on 2 nodes are at most 2 on each; 3 GB on 2 nodes are 1536 MB on each.
            let expected = [
                "7",
                "1",
                "\"ann\"",
                "\"phys\"",
                "-",
                "\"a,b\"",
                "5",
                "88200",
                "100",
                "-",
                "9223372036854775807",
                "0",
                "2",
                "3",
                "1536",
                "2",
                "\"cpu=6,mem=3072,node=2,gres/gpu=3\"",
            ];
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn numbers_of_old_and_new_releases_are_read() {
        let jobs = |limit: &str, state: &str, priority: &str| {
            let text = format!(
                "{{\"jobs\": [{{\"job_id\": 1, \"nice\": 4294967276, \"job_state\": {state}, \"time_limit\": {limit}, \"priority\": {priority}, \
                 \"eligible_time\": 5, \"tres_req_str\": \"cpu=1\"}}]}}"
            );
            let ads = read(&text).unwrap();
            assert_eq!(shown(&ads[0], "JobPrio"), "20");
            ["AllowedJobDuration", "JobStatus", "SlurmPriority", "SlurmBeginTime"].map(|name| shown(&ads[0], name))
        };
        let set = |number: u32| format!("{{\"set\": true, \"infinite\": false, \"number\": {number}}}");
        assert_eq!(jobs("30", "\"PENDING\"", "0"), ["1800", "1", "0", "5"]);
        assert_eq!(jobs(&set(30), "[\"PENDING\"]", &set(7)), ["1800", "1", "-", "5"]);
        // Without end: 2^32 - 1 minutes.
        let endless = "{\"set\": true, \"infinite\": true, \"number\": 0}";
        assert_eq!(jobs(endless, "[\"RUNNING\", \"COMPLETING\"]", "1"), ["257698037700", "2", "-", "-"]);
        assert_eq!(jobs("null", "\"CANCELLED\"", "1"), ["257698037700", "4", "-", "-"]);
    }

    #[test]
    fn a_node_has_what_is_free_and_serves_no_job_if_it_is_drained() {
        let text = "NodeName=n1 CPUAlloc=4 CPUTot=16 Gres=gpu:2(S:0) RealMemory=64123 AllocMem=1000 State=MIXED Partitions=a,b \
                    CfgTRES=cpu=14,mem=62.62G,billing=14,gres/shard=8 AllocTRES=cpu=4,mem=1000M\n\
                    NodeName=n2 CPUTot=2 RealMemory=100 State=IDLE+DRAIN CfgTRES=cpu=2,mem=100M AllocTRES=\n";
        let ads = read(text).unwrap();
        let names = ["Machine", "Cpus", "TotalSlotCpus", "Memory", "GPUs", "SlurmTres", "PartitionName"];
        // 14 of 16 CPUs can be used, 4 of them are.
        let expected = ["\"n1\"", "10", "14", "63123", "2", "\"gres/shard=8\"", "\"a,b\""];
        assert_eq!(names.map(|name| shown(&ads[0], name)), expected);
        assert_eq!(shown(&ads[1], "Requirements"), "false");
    }

    #[test]
    fn nodes_of_a_configuration_have_its_numbers() {
        use classmate_config::internal::config::TextFiles;
        let text = b"NodeName=DEFAULT RealMemory=500 Sockets=2 CoresPerSocket=4\nNodeName=a[1-2] Gres=gpu:t4:3\n\
                     NodeName=b CPUs=3\nNodeName=c State=FUTURE\n";
        let (conf, defects) = classmate_config::SlurmConf::read("c", text, &TextFiles::default());
        assert_eq!((defects.errors, defects.warnings), (vec![], vec![]));
        let ads = node_ads(&conf.nodes).unwrap();
        let found: Vec<_> =
            ads.iter().map(|ad| ["Machine", "Cpus", "Memory", "GPUs"].map(|name| shown(ad, name))).collect();
        let of_default = |name| [name, "8", "500"];
        let expected = [of_default("\"a1\""), of_default("\"a2\""), ["\"b\"", "3", "500"], of_default("\"c\"")];
        let expected: Vec<_> =
            expected.iter().zip(["3", "3", "-", "-"]).map(|(all, gpus)| [all[0], all[1], all[2], gpus]).collect();
        assert_eq!(found, expected);
        // Slurm counts a node that does not exist yet, and no job begins there.
        assert_eq!([2, 3].map(|at: usize| shown(&ads[at], "Requirements") == "false"), [false, true]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(error("JobId=x JobState=PENDING"), "line 1: `JobId` is `x`, expected a number");
        assert_eq!(
            error("JobId=1 JobState=PENDING TRES=cpu=1 SubmitTime=today"),
            "line 1: `SubmitTime` is `today`, expected a time such as `2026-01-31T23:59:59`"
        );
        assert_eq!(error("JobId=1 TRES=cpu\n"), "line 1: the resources of job 1 are `cpu`, expected `name=amount,…`");
        assert!(error("JobId=1 TRES=cpu=1\nslurmctld is down\n").starts_with("line 2: expected a record"));
        let failed = "{\"meta\": {}, \"errors\": [{\"description\": \"no jobs\", \"error\": \"lost\"}], \"jobs\": []}";
        assert_eq!(error(failed), "Slurm reports an error: no jobs: lost");
        assert!(error("{\"jobs\": [").starts_with("invalid JSON"));
        assert!(
            error("{\"jobs\": [{\"job_id\": 5}]}")
                .starts_with("not the output of squeue or scontrol: missing field `job_state`")
        );
        assert_eq!(read("No jobs in the system\n").unwrap().len(), 0);
    }
}
