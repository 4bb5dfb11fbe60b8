//! The job ads that `condor_submit` makes of a submit file, without names of files, the environment and what only the access point
//! knows.
//!
//! In: the text of a submit file, and facts about the access point. Out: an ad for each job.

pub(crate) mod added;
pub mod attributes;
mod dags;
pub(crate) mod expanded;
mod items;
pub(crate) mod other_names;
pub(crate) mod pending;
pub(crate) mod queue;
pub(crate) mod requirements;
mod shared;
pub(crate) mod statements;

use std::borrow::Cow;
use std::path::Path;

use pending::PendingLines;
use queue::{ItemKind, PathKind, QueueStatement};
use shared::{ItemCommands, SharedValues};
use statements::{block_end, joined, lines_after, queue_arguments, statements};

use classmate::internal::diagnostic::Severity;
use classmate::internal::span::Location;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions, Semantics};
use classmate_config::internal::config::table::default_text;
use classmate_config::{Config, ConfigError, Context};
use classmate_pool::internal::queue::cluster::Siblings;

pub use dags::DagMacros;
pub use items::QueueItems;
pub use statements::is_submit;

/// Facts about the access point and the user.
#[derive(Debug, Clone, Default)]
pub struct SubmitContext {
    /// The user.
    pub owner: String,
    /// `UID_DOMAIN`: `Owner@domain` is the submitter; without one, `Owner`.
    pub domain: String,
    /// `FILESYSTEM_DOMAIN`; unknown if none.
    pub file_system: Option<String>,
    /// `CondorVersion` of the access point; that of the reference if none.
    pub version: Option<String>,
    /// `CondorPlatform` of the access point; that of the reference if none.
    pub platform: Option<String>,
    /// The number of the first cluster.
    pub cluster: i64,
    /// The time, seconds since 1970.
    pub now: i64,
    /// The version of the language.
    pub semantics: Semantics,
}

/// The input files of a job are taken to be this large if they cannot be read, in MB.
const INPUT_SIZE: i64 = 1;

/// Commands that say when a job starts as the lines of cron do, and their attributes.
pub(crate) const CRON: [(&str, &str); 5] = [
    ("cron_minute", "CronMinute"),
    ("cron_hour", "CronHour"),
    ("cron_day_of_month", "CronDayOfMonth"),
    ("cron_month", "CronMonth"),
    ("cron_day_of_week", "CronDayOfWeek"),
];

/// The commands for the time at which a job starts, and their attributes.
pub(crate) const DEFERRAL: [(&str, &str); 3] = [
    ("deferral_time", "DeferralTime"),
    ("deferral_window", "DeferralWindow"),
    ("deferral_prep_time", "DeferralPrepTime"),
];

/// More jobs than a submit file may reasonably make.
const MAX_JOBS: usize = 100_000;

/// The job ads of a submit file, in order. Files with items, and those of which the sizes count, are relative to the `folder`; without
/// one, none are read.
///
/// # Errors
/// A statement that is not understood, a value that is not an expression, or too many jobs, with its place.
///
/// ```
/// use classmate_advice::internal::submit::{SubmitContext, jobs};
/// let text = b"use strict : true\nrequest_memory = 8 GB\n+IsShort = true\nqueue 3";
/// let jobs = jobs("a.sub", text, &SubmitContext::default(), None).unwrap();
/// assert_eq!(jobs.len(), 3);
/// assert_eq!(jobs[2].eval_int("ProcId"), Some(2));
/// assert_eq!(jobs[2].eval_int("RequestMemory"), Some(8192));
/// assert_eq!(jobs[2].eval_bool("IsShort"), Some(true));
/// ```
pub fn jobs(
    file: &str,
    text: &[u8],
    context: &SubmitContext,
    folder: Option<&Path>,
) -> Result<Vec<ClassAd>, ConfigError> {
    let of_submit = Context { subsystem: "SUBMIT".to_owned(), ..Context::default() };
    let mut config = Config::new(of_submit).read_as(context.semantics);
    let (mut found, mut process): (Vec<ClassAd>, i64) = (Vec::new(), 0);
    let mut pending = PendingLines::default();
    let all = statements(text).0;
    let varies = varies(text);
    // The last job, while nothing changes that the next one depends on.
    let mut last: Option<ClassAd> = None;
    let mut siblings = Siblings::default();
    // The line that ends a value of several lines.
    let mut end: Option<String> = None;
    for (at, (number, _, line)) in all.iter().enumerate() {
        let one_line = joined(line);
        let one = String::from_utf8_lossy(one_line.trim_ascii());
        if end.is_some() {
            end = end.filter(|end| *end != one);
            pending.push(line);
            continue;
        }
        end = block_end(&one);
        let Some(arguments) = queue_arguments(one_line.trim_ascii()) else {
            pending.add(*number, line);
            continue;
        };
        if pending.has_statements() {
            config.add(file, pending.text())?;
            pending = PendingLines::behind(*number);
            last = None;
        }
        let wrong = |message: String| {
            Diagnostic::error_at(message, Some(Location { file: file.into(), line: *number as u32, column: 1 }))
        };
        let arguments = if arguments.contains(&b'$') {
            let mut expanding = config.clone();
            expanding.add(file, &[b"queue = ", arguments].concat())?;
            Cow::Owned(expanding.get("queue")?.map(|found| found.text).unwrap_or_default())
        } else {
            Cow::Borrowed(arguments.trim_ascii())
        };
        let arguments = String::from_utf8_lossy(&arguments);
        let mut queue = QueueStatement::parse(&arguments).map_err(|fault| wrong(fault.message()))?;
        if queue.kind == ItemKind::Paths(PathKind::Unstated) {
            let stated = SubmitFile { config: &config, folder, shared: &SharedValues::default() };
            let stated = stated.value("submit_match_directories")?.unwrap_or_default();
            queue.kind = ItemKind::Paths(match stated.to_ascii_lowercase().as_str() {
                "never" | "no" | "false" => PathKind::Files,
                "only" => PathKind::Directories,
                _ => PathKind::Any,
            });
        }
        let count = queue.jobs().ok_or_else(|| wrong(format!("`{}` is not a number of jobs", queue.count)))?;
        let items = QueueItems::of(&queue, &lines_after(text, &all, at), folder).map_err(wrong)?;
        let rows = items.rows.len();
        let used = || (0..rows).filter(|row| queue.slice.is_none_or(|slice| slice.has(*row, rows)));
        if used().count().saturating_mul(count).saturating_add(found.len()) > MAX_JOBS {
            return Err(wrong(format!("this `queue` makes more than {MAX_JOBS} jobs")));
        }
        let mut commands = ItemCommands::of(&config);
        // A blank item leaves the values of the item before.
        let mut set = vec![String::new(); items.names.len()];
        for row in used() {
            for (value, of_item) in set.iter_mut().zip(items.values(&items.rows[row])) {
                of_item.clone_into(value);
            }
            if !items.names.is_empty() {
                last = None;
            }
            for step in 0..count {
                let mut job = match last.take().filter(|_| !varies) {
                    Some(job) => job,
                    None => {
                        let numbers = [context.cluster, process, step as i64, row as i64];
                        let (config, shared) = commands.with(&variables(&items.names, &set, numbers))?;
                        siblings.chain(SubmitFile { config, folder, shared }.job(context, process)?)
                    }
                };
                job.insert("ProcId", process);
                found.push(job.clone());
                last = Some(job);
                process = process.saturating_add(1);
            }
            if !items.names.is_empty() {
                last = None;
            }
        }
    }
    Ok(found)
}

/// The variables of a job: those of its item, then the numbers of the cluster, of the job, of the step and of the item.
fn variables<'n>(
    names: &'n [String],
    values: &[String],
    [cluster, process, step, row]: [i64; 4],
) -> Vec<(&'n str, String)> {
    let numbers = [
        ("Cluster", cluster),
        ("ClusterId", cluster),
        ("Process", process),
        ("ProcId", process),
        ("Step", step),
        ("Row", row),
        ("ItemIndex", row),
    ];
    let of_item = names.iter().map(String::as_str).zip(values.iter().cloned());
    of_item.chain(numbers.map(|(name, number)| (name, number.to_string()))).collect()
}

/// Returns true if the jobs of one item may differ in more than their number.
fn varies(text: &[u8]) -> bool {
    const NAMES: [&str; 6] = ["process", "procid", "step", "jobid", "taskid", "$random"];
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    NAMES.iter().any(|name| text.contains(name))
}

/// The commands of a submit file for one job.
struct SubmitFile<'c> {
    config: &'c Config,
    folder: Option<&'c Path>,
    shared: &'c SharedValues,
}

impl SubmitFile<'_> {
    /// The value of a command; none if it is not set, or empty.
    fn value(&self, command: &str) -> Result<Option<String>, ConfigError> {
        let command = other_names::written(self.config, command);
        self.shared.value(self.config, command, || {
            if self.config.assignment(command.as_bytes()).is_none() {
                return Ok(None);
            }
            let found = self.config.get(command)?.map(|found| String::from_utf8_lossy(&found.text).trim().to_owned());
            Ok(found.filter(|text| !text.is_empty()))
        })
    }

    /// An expression that is the value of a command, with its place if it does not parse.
    fn parsed(&self, command: &str, text: &str) -> Result<Expr, ConfigError> {
        let command = other_names::written(self.config, command);
        let options =
            ParseOptions { quoting: Quoting::Old, semantics: self.config.semantics(), ..ParseOptions::default() };
        let refused = |error| {
            let finding = diagnose(text.as_bytes(), &error, &options);
            let message = format!("`{command}` is not a valid expression: {}", finding.message);
            let definition = self.config.assignment(command.as_bytes());
            let problem = match definition {
                Some(definition) => definition.value_problem(Severity::Error, message),
                None => Diagnostic::error_at(message, None),
            };
            problem.help_if(finding.help)
        };
        self.shared.expression(command, text, || parse_expr(text.as_bytes(), &options).map_err(refused))
    }

    fn expr(&self, command: &str) -> Result<Option<Expr>, ConfigError> {
        self.value(command)?.map(|text| self.parsed(command, &text)).transpose()
    }

    /// The ad of a job.
    fn job(&self, context: &SubmitContext, process: i64) -> Result<ClassAd, ConfigError> {
        let mut job = attributes::of_every_job();
        let universe = self.value("universe")?.unwrap_or_else(|| "vanilla".to_owned()).to_ascii_lowercase();
        let number = match universe.as_str() {
            "scheduler" => 7,
            "grid" => 9,
            "java" => 10,
            "parallel" => 11,
            "local" => 12,
            "vm" => 13,
            _ => 5,
        };
        job.insert("MyType", "Job");
        job.insert("ClusterId", context.cluster);
        job.insert("ProcId", process);
        job.insert("QDate", context.now);
        job.insert("EnteredCurrentStatus", context.now);
        for (attribute, known) in [("CondorVersion", &context.version), ("CondorPlatform", &context.platform)] {
            if let Some(known) = known {
                job.insert(attribute, known.as_str());
            }
        }
        job.insert("JobUniverse", number);
        job.insert("JobStatus", if self.value("hold")?.is_some_and(|held| is_true(&held)) { 5 } else { 1 });
        job.insert("Owner", context.owner.as_str());
        let user = match context.domain.as_str() {
            "" => context.owner.clone(),
            domain => format!("{}@{domain}", context.owner),
        };
        job.insert("User", user.as_str());
        job.insert("TransferInputSizeMB", INPUT_SIZE);
        self.commands(&mut job)?;
        self.account(&mut job, &context.owner)?;
        let rank = self.value("rank")?.unwrap_or_else(|| "0.0".to_owned());
        job.insert_expr("Rank", &self.parsed("rank", &rank)?);
        if let Some(limits) = self.value("concurrency_limits")? {
            let mut limits: Vec<String> = limits.split(',').map(|limit| limit.trim().to_ascii_lowercase()).collect();
            limits.sort();
            job.insert("ConcurrencyLimits", limits.join(",").as_str());
        }
        self.delayed(&mut job)?;
        if number == requirements::VM {
            self.machine(&mut job)?;
        }
        self.others(&mut job, number)?;
        self.file_transfer(&mut job, number, context.file_system.as_deref())?;
        self.sizes(&mut job, number)?;
        self.requests(&mut job)?;
        // As the tool does: what a job has anyway decides on the conditions too.
        for (name, attribute) in &self.shared.attributes {
            if let Some(expr) = self.expr(name)? {
                job.insert_expr(attribute.as_str(), &expr);
            }
        }
        if !job.contains("Requirements") {
            self.shared.set_requirements(&mut job, &universe, |job| {
                let requirements = self.requirements(job, number, &universe)?;
                job.insert_expr("Requirements", &self.parsed("requirements", &requirements)?);
                Ok(())
            })?;
        }
        Ok(job)
    }

    /// A command that may also be named as the attribute is: the name that is used, and the value.
    fn either<'n>(&self, command: &'n str, attribute: &'n str) -> Result<Option<(&'n str, String)>, ConfigError> {
        if let Some(value) = self.value(command)? {
            return Ok(Some((command, value)));
        }
        Ok(self.value(attribute)?.map(|value| (attribute, value)))
    }

    /// The value of a command that may also be named as the attribute is; of neither, the text of the attribute.
    fn text(&self, job: &ClassAd, command: &str, attribute: &str) -> Result<Option<String>, ConfigError> {
        let value = self.either(command, attribute)?.map(|(_, value)| value);
        Ok(value.or_else(|| job.contains(attribute).then(|| job.eval_string(attribute))?))
    }

    /// The truth of a command that may also be named as the attribute is; of neither, that of the attribute.
    fn truth(&self, job: &ClassAd, command: &str, attribute: &str) -> Result<bool, ConfigError> {
        let value = self.either(command, attribute)?;
        let is_set = || job.contains(attribute) && job.eval_bool(attribute) == Some(true);
        Ok(value.map_or_else(is_set, |(_, value)| is_true(&value)))
    }

    /// Sets when the job may start: the commands of deferral and those like the lines of cron.
    fn delayed(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        let mut is_delayed = false;
        for (command, attribute) in CRON {
            if let Some((_, value)) = self.either(command, attribute)? {
                job.insert(attribute, value.as_str());
                is_delayed = true;
            }
        }
        let [time, window, preparation] = DEFERRAL;
        if let Some((command, value)) = self.either(time.0, time.1)? {
            job.insert_expr("DeferralTime", &self.parsed(command, &value)?);
            is_delayed = true;
        }
        if !is_delayed {
            return Ok(());
        }
        for (of_cron, (command, attribute), default) in
            [(("cron_window", "CronWindow"), window, 0), (("cron_prep_time", "CronPrepTime"), preparation, 300)]
        {
            let found = match self.either(of_cron.0, of_cron.1)? {
                Some(found) => Some(found),
                None => self.either(command, attribute)?,
            };
            match found {
                Some((command, value)) => job.insert_expr(attribute, &self.parsed(command, &value)?),
                None => job.insert(attribute, default),
            }
        }
        Ok(())
    }

    /// Sets the attributes of a virtual machine.
    fn machine(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        if let Some(kind) = self.text(job, "vm_type", "JobVMType")? {
            job.insert("JobVMType", kind.to_ascii_lowercase().as_str());
        }
        let memory = self.text(job, "vm_memory", "JobVMMemory")?;
        if let Some(amount) = memory.and_then(|memory| amount(&memory, 1 << 20)) {
            job.insert("JobVMMemory", amount);
            // The memory of a machine that is suspended is written to a file.
            job.insert("TransferInputSizeMB", amount);
        }
        for (command, attribute) in [("vm_checkpoint", "JobVMCheckpoint"), ("vm_networking", "JobVMNetworking")] {
            let is_set = self.truth(job, command, attribute)?;
            job.insert(attribute, is_set);
        }
        if self.text(job, "xen_kernel", "VMPARAM_Xen_Kernel")?.is_some_and(|kernel| kernel.eq_ignore_ascii_case("vmx"))
        {
            job.insert("JobVMHardwareVT", true);
        }
        let network = self.text(job, "vm_networking_type", "JobVMNetworkingType")?;
        if let Some(network) = network.filter(|_| job.eval_bool("JobVMNetworking") == Some(true)) {
            job.insert("JobVMNetworkingType", network.as_str());
        }
        Ok(())
    }

    /// The accounting group and its user. `nice_user` is a group of its own (`SetAccountingGroup`, `submit_utils.cpp`).
    fn account(&self, job: &mut ClassAd, owner: &str) -> Result<(), ConfigError> {
        let (mut group, user) = (self.value("accounting_group")?, self.value("accounting_group_user")?);
        let is_nice = self.truth(job, "nice_user", "NiceUser")?;
        if is_nice {
            group = group.or_else(|| default_text(b"NICE_USER_ACCOUNTING_GROUP_NAME").map(str::to_owned));
        }
        if is_nice && !job.contains("MaxJobRetirementTime") {
            job.insert("MaxJobRetirementTime", 0);
        }
        let is_set = group.is_some() || user.is_some();
        let user = user.unwrap_or_else(|| owner.to_owned());
        if let Some(group) = &group {
            job.insert("AcctGroup", group.as_str());
        }
        if is_set {
            let whole = group.map_or_else(|| user.clone(), |group| format!("{group}.{user}"));
            job.insert("AcctGroupUser", user.as_str());
            job.insert("AccountingGroup", whole.as_str());
        }
        Ok(())
    }

    /// Sets the requests for resources.
    fn requests(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        let disk = "MAX({ 1024, (TransferInputSizeMB + 1) * 1.25 }) * 1024";
        let memory = if job.contains("JobVMMemory") { "MY.JobVMMemory" } else { "128" };
        for (attribute, command, unit, default) in [
            ("RequestDisk", "request_disk", Some(1 << 10), disk),
            ("RequestMemory", "request_memory", Some(1 << 20), memory),
            ("RequestCpus", "request_cpus", None, "1"),
        ] {
            let text = self.value(command)?;
            let value = text.as_deref().unwrap_or(default);
            if value.eq_ignore_ascii_case("undefined") {
                if attribute == "RequestDisk" && !job.contains("DiskUsage") {
                    job.insert("DiskUsage", INPUT_SIZE * 1024);
                }
                continue;
            }
            match unit.and_then(|unit| amount(value, unit)) {
                Some(amount) => job.insert(attribute, amount),
                None => job.insert_expr(attribute, &self.parsed(command, value)?),
            }
        }
        for (name, resource) in &self.shared.requests {
            // `condor_submit` warns of the last four, and does nothing with them.
            let is_known = ["cpus", "disk", "memory", "cpu", "gpu", "gpu_memory", "gpus_memory"]
                .iter()
                .any(|known| resource.eq_ignore_ascii_case(known));
            if is_known || resource.len() < 2 || resource.starts_with('_') {
                continue;
            }
            let resource = if resource.eq_ignore_ascii_case("gpus") { "GPUs" } else { resource };
            if let Some(expr) = self.expr(name)? {
                job.insert_expr(format!("Request{resource}").as_str(), &expr);
            }
        }
        if !job.contains("RequestGPUs")
            && let Some(expr) = self.expr("request_gpus")?
        {
            job.insert_expr("RequestGPUs", &expr);
        }
        if job.contains("RequestGPUs") {
            self.required_gpus(job)?;
        }
        Ok(())
    }

    /// Sets the condition on GPUs, if there is one: a bound of a property to which the own condition refers is not added to it.
    fn required_gpus(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        let own = self.expr("require_gpus")?;
        let refers = |property: &str| {
            let refers = |own: &Expr| own.tree().names(own.root()).any(|name| name == Name::new(property));
            own.as_ref().is_some_and(refers)
        };
        let mut all: Vec<String> = self.value("require_gpus")?.into_iter().collect();
        for (bound, what, condition) in [
            ("Min", "Capability", "Capability >="),
            ("Max", "Capability", "Capability <="),
            ("Min", "Memory", "GlobalMemoryMb >="),
            ("Min", "Runtime", "MaxSupportedVersion >="),
        ] {
            let command = format!("gpus_{bound}imum_{what}").to_ascii_lowercase();
            let Some(value) = self.value(&command)? else { continue };
            let version = value.split_once('.').unwrap_or((&value, "0"));
            let number = match what {
                "Memory" => amount(&value, 1 << 20),
                "Runtime" => {
                    version.0.parse().ok().zip(version.1.parse().ok()).map(|(a, b): (i64, i64)| a * 1000 + b * 10)
                }
                _ => None,
            };
            let attribute = format!("GPUs{bound}{what}");
            match number {
                Some(number) => job.insert(attribute.as_str(), number),
                None => job.insert_expr(attribute.as_str(), &self.parsed(&command, &value)?),
            }
            if !condition.split(' ').next().is_some_and(refers) {
                all.push(format!("{condition} {attribute}"));
            }
        }
        let is_open = |own: &Expr| matches!(own.node(), Node::Binary(BinaryOp::Or, ..) | Node::Conditional { .. });
        if let [own_text, _, ..] = all.as_mut_slice()
            && own.as_ref().is_some_and(is_open)
        {
            *own_text = format!("({own_text})");
        }
        let text = all.join(" && ");
        if !text.is_empty() {
            job.insert_expr("RequireGPUs", &self.parsed("require_gpus", &text)?);
        }
        Ok(())
    }
}

fn is_true(text: &str) -> bool {
    ["true", "yes", "t", "1"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// An amount with a unit such as `8 GB`, in units of so many bytes, rounded up; none if it is an expression. Without a unit it
/// is in these units already.
fn amount(text: &str, unit: u64) -> Option<i64> {
    let Some(positive) = text.strip_prefix('-') else {
        let whole = (bytes(text.strip_prefix('+').unwrap_or(text), unit)? / unit as f64).ceil();
        return (whole < i64::MAX as f64).then_some(whole as i64);
    };
    // The sign is that of the digits before the point, and what is less than a unit is cut.
    let digits = positive.find(|c: char| !c.is_ascii_digit()).unwrap_or(positive.len());
    let end = positive.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(positive.len());
    let before = bytes(&format!("0{}{}", &positive[..digits], &positive[end..]), unit)?;
    let all = bytes(positive, unit)? - 2.0 * before;
    let whole = ((all + unit as f64 - 1.0) / unit as f64).trunc();
    (whole > i64::MIN as f64).then_some(whole as i64)
}

/// The bytes of an amount with a unit such as `8 GB`; without a unit, `unit` is meant. None for an expression.
pub(crate) fn bytes(text: &str, unit: u64) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim() {
        "" => unit,
        word => bytes_of_unit(word)?,
    };
    Some(number * unit as f64)
}

/// The bytes of a unit of sizes, from `K` to `TB` in any case; none for other words.
pub(crate) fn bytes_of_unit(word: &str) -> Option<u64> {
    match word.to_ascii_uppercase().as_str() {
        "K" | "KB" => Some(1 << 10),
        "M" | "MB" => Some(1 << 20),
        "G" | "GB" => Some(1 << 30),
        "T" | "TB" => Some(1 << 40),
        _ => None,
    }
}
