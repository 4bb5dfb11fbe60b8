//! The attributes of a job that `condor_submit` writes in any case, and those that a command gives a value (`submit_utils.cpp`).
//!
//! In: the commands of a submit file, and its folder. Out: attributes of a job. What only the access point knows is left out: the
//! working directory, names of files, and the environment.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::requirements::{GRID, JAVA, PARALLEL, VANILLA, VM};
use super::{DEFERRAL, SubmitFile, amount, is_true};

use classmate::internal::syntax::expr::Node;
use classmate::{ClassAd, EvalOptions, Name, Scope};
use classmate_config::internal::config::table::default_text;
use classmate_config::{Config, ConfigError};

/// The attributes of every job before it runs, with the releases that the reference has.
const ALWAYS: &str = r#"[
    TargetType = "Machine"; JobSubmitMethod = 0; JobPrio = 0; JobNotification = 0; LeaveJobInQueue = false;
    CondorVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $";
    SubmitVersion = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1+dfsg-1 $";
    CondorPlatform = "$CondorPlatform: X86_64-Debian_ $";
    MinHosts = 1; MaxHosts = 1; CurrentHosts = 0; NumCkpts = 0; NumJobStarts = 0; NumJobCompletions = 0; NumRestarts = 0;
    NumSystemHolds = 0; ExitStatus = 0; ExitBySignal = false; TotalSuspensions = 0; LastSuspensionTime = 0;
    CommittedTime = 0; CommittedSlotTime = 0; CommittedSuspensionTime = 0; CumulativeSlotTime = 0;
    CumulativeSuspensionTime = 0; RemoteWallClockTime = 0.0; RemoteUserCpu = 0.0; RemoteSysCpu = 0.0;
    CumulativeRemoteUserCpu = 0.0; CumulativeRemoteSysCpu = 0.0;
]"#;

static OF_EVERY_JOB: LazyLock<ClassAd> = LazyLock::new(|| ClassAd::parse(ALWAYS.as_bytes()).unwrap_or_default());

/// A job before its submit file is read.
pub(super) fn of_every_job() -> ClassAd {
    OF_EVERY_JOB.clone()
}

/// Tests if HTCondor counts or measures what an attribute says, or writes its own release there.
pub(super) fn is_measured(name: Name) -> bool {
    const WRITTEN: [&[u8]; 4] = [b"jobprio", b"leavejobinqueue", b"jobnotification", b"targettype"];
    OF_EVERY_JOB.contains(name) && !WRITTEN.contains(&name.folded())
}

/// The form in which `condor_submit` writes the text of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandText {
    /// A string.
    Text,
    /// A string, without quotation marks around it.
    Unquoted,
    /// An expression.
    Expression,
    /// The truth value of an expression.
    Truth,
    /// The whole number of an expression.
    Number,
    /// An amount with a unit, in KB.
    Kilobytes,
}

use CommandText::{Expression, Kilobytes, Number, Text, Truth, Unquoted};

/// Attributes with their commands. The name of the attribute is a command too, which counts for less.
const COMMANDS: [(&str, &[&str], CommandText); 74] = [
    ("NextJobStartDelay", &["next_job_start_delay"], Expression),
    ("KeepClaimIdle", &["keep_claim_idle"], Expression),
    ("JobAdInformationAttrs", &["job_ad_information_attrs"], Text),
    ("UserLogExecuteEventAttrs", &["ulog_execute_attrs"], Text),
    ("JobMaterializeMaxIdle", &["max_idle", "materialize_max_idle"], Expression),
    ("DockerPullPolicy", &["docker_pull_policy"], Text),
    ("DockerOverrideEntrypoint", &["docker_override_entrypoint"], Truth),
    ("DockerSendCredentials", &["docker_send_credentials"], Truth),
    ("ContainerTargetDir", &["container_target_dir"], Unquoted),
    ("MountUnderScratch", &["mount_under_scratch"], Unquoted),
    ("TransferContainer", &["transfer_container"], Truth),
    ("TransferPlugins", &["transfer_plugins"], Text),
    ("WantIOProxy", &["want_io_proxy"], Truth),
    ("WantJobNetworking", &["want_job_networking"], Truth),
    ("JobStarterDebug", &["starter_debug"], Unquoted),
    ("ContainerIsCommon", &["container_is_common"], Truth),
    ("JobMachineAttrs", &["job_machine_attrs"], Text),
    ("JobMachineAttrsHistoryLength", &["job_machine_attrs_history_length"], Number),
    ("NotifyUser", &["notify_user"], Text),
    ("RemoteIwd", &["remote_initialdir"], Text),
    ("OutputDestination", &["output_destination"], Text),
    ("WantGracefulRemoval", &["want_graceful_removal"], Expression),
    ("JobMaxVacateTime", &["job_max_vacate_time"], Expression),
    ("EncryptExecuteDirectory", &["encrypt_execute_directory"], Truth),
    ("EncryptInputFiles", &["encrypt_input_files"], Text),
    ("EncryptOutputFiles", &["encrypt_output_files"], Text),
    ("DontEncryptInputFiles", &["dont_encrypt_input_files"], Text),
    ("DontEncryptOutputFiles", &["dont_encrypt_output_files"], Text),
    ("LoadProfile", &["load_profile"], Truth),
    ("PrimaryUnixGroup", &["primary_unix_group"], Text),
    ("FetchFiles", &["fetch_files"], Text),
    ("CompressFiles", &["compress_files"], Text),
    ("AppendFiles", &["append_files"], Text),
    ("LocalFiles", &["local_files"], Text),
    ("IsNoopJob", &["noop_job"], Expression),
    ("NoopJobExitSignal", &["noop_job_exit_signal"], Expression),
    ("NoopJobExitCode", &["noop_job_exit_code"], Expression),
    ("DAGNodeName", &["dag_node_name"], Text),
    ("LastMatchListLength", &["match_list_length"], Number),
    ("DAGManJobId", &["dagman_job_id"], Number),
    ("SubmitEventNotes", &["submit_event_notes"], Text),
    ("SubmitEventUserNotes", &["submit_event_user_notes"], Text),
    ("StackSize", &["stack_size"], Expression),
    ("JarFiles", &["jar_files"], Text),
    ("JobDescription", &["description"], Text),
    ("JobBatchName", &["batch_name"], Unquoted),
    ("JobBatchId", &["batch_id"], Unquoted),
    ("MaxJobRetirementTime", &["max_job_retirement_time"], Expression),
    ("JobLeaseDuration", &["job_lease_duration"], Expression),
    ("CoreSize", &["core_size"], Number),
    ("JobPrio", &["priority", "prio"], Number),
    ("RunAsOwner", &["run_as_owner"], Truth),
    ("MaxTransferInputMB", &["max_transfer_input_mb"], Expression),
    ("MaxTransferOutputMB", &["max_transfer_output_mb"], Expression),
    ("ManifestDesired", &["manifest"], Truth),
    ("ManifestDir", &["manifest_dir"], Text),
    ("SuccessCheckpointExitCode", &["checkpoint_exit_code"], Number),
    ("CheckpointDestination", &["checkpoint_destination"], Text),
    ("EraseOutputAndErrorOnRestart", &["erase_output_and_error_on_restart"], Truth),
    ("TransferCheckpoint", &["transfer_checkpoint_files"], Text),
    ("PreserveRelativePaths", &["preserve_relative_paths"], Truth),
    ("SkipIfDataflow", &["skip_if_dataflow"], Truth),
    ("AllowedJobDuration", &["allowed_job_duration"], Expression),
    ("AllowedExecuteDuration", &["allowed_execute_duration"], Expression),
    ("JobSetName", &["jobset"], Unquoted),
    ("ProjectName", &["project_name"], Text),
    ("LeaveJobInQueue", &["leave_in_queue"], Expression),
    ("PeriodicHold", &["periodic_hold"], Expression),
    ("PeriodicRelease", &["periodic_release"], Expression),
    ("PeriodicRemove", &["periodic_remove"], Expression),
    ("PeriodicVacate", &["periodic_vacate"], Expression),
    ("OnExitHold", &["on_exit_hold"], Expression),
    ("ImageSize", &["image_size"], Kilobytes),
    ("DiskUsage", &["disk_usage"], Kilobytes),
];

/// The places in [`COMMANDS`] by the names of commands, lower case, with the rank of the name: the lowest counts.
static BY_NAME: LazyLock<HashMap<String, (usize, usize)>> = LazyLock::new(|| {
    let named = COMMANDS.iter().enumerate().flat_map(|(place, (attribute, commands, _))| {
        let names = commands.iter().copied().chain([*attribute]).enumerate();
        names.map(move |(rank, name)| (name.to_ascii_lowercase(), (place, rank)))
    });
    named.collect()
});

/// The command that gives an attribute its value as it is written, and whether that is a text without quotation marks; none if
/// there is no such command, or if submit files usually set the attribute (`+ProjectName`).
///
/// ```
/// use classmate_advice::internal::submit::attributes::command_of;
/// assert_eq!(command_of("AllowedJobDuration"), Some(("allowed_job_duration", false)));
/// assert_eq!(command_of("JobBatchName"), Some(("batch_name", true)));
/// assert_eq!(command_of("NumJobStarts"), None);
/// ```
pub fn command_of(attribute: &str) -> Option<(&'static str, bool)> {
    let is_it = |(name, ..): &&(&str, &[&str], CommandText)| {
        name.eq_ignore_ascii_case(attribute) && !name.eq_ignore_ascii_case("ProjectName")
    };
    if let Some((command, _)) = DEFERRAL.iter().find(|(_, name)| name.eq_ignore_ascii_case(attribute)) {
        return Some((command, false));
    }
    let (_, commands, written) = COMMANDS.iter().find(is_it)?;
    Some((commands.first()?, matches!(written, Text | Unquoted)))
}

/// The occasions for an e-mail, in the order of their numbers.
const NOTIFICATIONS: [&str; 5] = ["never", "always", "complete", "error", "start"];

/// The code of a job that was held when it was submitted (`condor_holdcodes.h`).
const SUBMITTED_ON_HOLD: i64 = 15;

/// Shorter leases, in seconds, are made as long.
const SHORTEST_LEASE: i64 = 20;

/// A command of a file that has an attribute of its own.
pub(super) struct Command {
    /// The place of the attribute in [`COMMANDS`].
    place: usize,
    name: String,
}

impl Command {
    /// All of a file, in the order of the attributes; of one attribute, the name that counts most comes first.
    pub(super) fn all(config: &Config) -> Vec<Self> {
        let mut found: Vec<((usize, usize), String)> = Vec::new();
        for name in config.names() {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            found.extend(BY_NAME.get(&name).map(|place| (*place, name)));
        }
        found.sort_unstable();
        found.into_iter().map(|((place, _), name)| Command { place, name }).collect()
    }
}

impl SubmitFile<'_> {
    /// Sets the attributes that have commands of their own.
    pub(super) fn commands(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        let mut last = None;
        for Command { place, name } in &self.shared.commands {
            let place = *place;
            let (attribute, _, written) = COMMANDS[place];
            let Some(text) = self.value(name)?.filter(|_| last != Some(place)) else { continue };
            last = Some(place);
            match written {
                Text => job.insert(attribute, text.as_str()),
                Unquoted => job.insert(attribute, unquoted(&text)),
                Kilobytes => {
                    if let Some(amount) = amount(&text, 1 << 10) {
                        job.insert(attribute, amount);
                    }
                }
                Expression => job.insert_expr(attribute, &self.parsed(name, &text)?),
                Truth | Number => {
                    let mut ad = ClassAd::new();
                    ad.insert_expr(attribute, &self.parsed(name, &text)?);
                    let value = Scope::new(&ad, &EvalOptions::default()).eval_attr(Name::new(attribute));
                    // `condor_submit` refuses other values.
                    match value.ok().and_then(|value| value.as_number()) {
                        Some(number) if written == Truth => job.insert(attribute, number != 0.0),
                        Some(number) => job.insert(attribute, number.trunc() as i64),
                        None => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets the attributes that depend on the universe and on several commands.
    pub(super) fn others(&self, job: &mut ClassAd, universe: i64) -> Result<(), ConfigError> {
        if let Some((_, text)) = self.either("notification", "JobNotification")?
            && let Some(number) = NOTIFICATIONS.iter().position(|name| text.eq_ignore_ascii_case(name))
        {
            job.insert("JobNotification", number as i64);
        }
        if matches!(universe, VANILLA | JAVA | PARALLEL | VM) && !job.contains("JobLeaseDuration") {
            job.insert("JobLeaseDuration", default_number(b"JOB_DEFAULT_LEASE_DURATION"));
        }
        if job.eval_int("JobLeaseDuration").is_some_and(|seconds| (1..SHORTEST_LEASE).contains(&seconds)) {
            job.insert("JobLeaseDuration", SHORTEST_LEASE);
        }
        if universe == PARALLEL {
            let mut count = self.either("machine_count", "MachineCount")?;
            if count.is_none() {
                count = self.either("node_count", "NodeCount")?;
            }
            if let Some(count) = count.and_then(|(_, text)| text.parse::<i64>().ok()) {
                job.insert("MinHosts", count);
                job.insert("MaxHosts", count);
            }
            job.insert("WantIOProxy", true);
            job.insert("JobRequiresSandbox", true);
        }
        if job.contains("SuccessCheckpointExitCode") {
            job.insert("WantFTOnCheckpoint", true);
        }
        if self.value("hold")?.is_some_and(|held| is_true(&held)) {
            job.insert("HoldReasonCode", SUBMITTED_ON_HOLD);
            job.insert("HoldReason", "submitted on hold at user's request");
        }
        self.program(job, universe)?;
        self.retries(job)
    }

    /// The path of the program; none if there is none.
    fn executable(&self) -> Result<Option<String>, ConfigError> {
        Ok(match self.value("shell")? {
            Some(_) => Some("/bin/sh".to_owned()),
            None => self.either("executable", "Cmd")?.map(|(_, path)| path),
        })
    }

    /// Sets the program, if its path does not depend on where the job is submitted, and its arguments.
    fn program(&self, job: &mut ClassAd, universe: i64) -> Result<(), ConfigError> {
        let shell = self.value("shell")?;
        let executable = self.executable()?;
        let stays = self.either("transfer_executable", "TransferExecutable")?;
        let stays = stays.is_some_and(|(_, text)| text.starts_with(['f', 'F']))
            || shell.is_some()
            || executable.is_none()
            || matches!(universe, JAVA | VM);
        if stays {
            job.insert("TransferExecutable", false);
        }
        let command = match universe {
            JAVA => Some("java".to_owned()),
            _ => Some(executable.unwrap_or_default()).filter(|path| stays || path.starts_with('/')),
        };
        if let Some(command) = command {
            job.insert("Cmd", command.as_str());
        }
        let arguments = self.either("arguments", "Args")?.map(|(_, text)| text);
        let is_plain = |text: &String| !text.contains(['"', '\'', '\\']);
        let words = |text: &str| text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        match arguments {
            _ if shell.is_some() || self.value("arguments2")?.is_some() => {}
            None => job.insert("Arguments", ""),
            Some(text) if is_plain(&text) => job.insert("Args", words(&text).as_str()),
            Some(text) => {
                let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_owned);
                if let Some(inside) = inside.filter(is_plain) {
                    job.insert("Arguments", words(&inside).as_str());
                }
            }
        }
        let mut sets_environment = false;
        for command in ["environment", "env", "environment2", "getenv", "get_environment", "get_env"] {
            sets_environment |= self.value(command)?.is_some();
        }
        if !sets_environment {
            job.insert("Environment", "");
        }
        Ok(())
    }

    /// Sets when the job leaves the queue, which retries delay (`SetJobRetries`).
    fn retries(&self, job: &mut ClassAd) -> Result<(), ConfigError> {
        let most = self.either("max_retries", "JobMaxRetries")?;
        let success = self.either("success_exit_code", "JobSuccessExitCode")?;
        let until = self.value("retry_until")?;
        let remove = self.either("on_exit_remove", "OnExitRemove")?;
        if most.is_none() && success.is_none() && until.is_none() {
            if let Some((command, text)) = remove {
                job.insert_expr("OnExitRemove", &self.parsed(command, &text)?);
            }
            return Ok(());
        }
        let number = |found: &Option<(&str, String)>| found.as_ref().and_then(|(_, text)| text.parse::<i64>().ok());
        job.insert("JobMaxRetries", number(&most).unwrap_or_else(|| default_number(b"DEFAULT_JOB_MAX_RETRIES")));
        if !job.contains("OnExitHold") {
            job.insert("OnExitHold", false);
        }
        let mut all = "NumJobCompletions > JobMaxRetries || ExitCode =?= ".to_owned();
        match number(&success) {
            Some(code) => {
                job.insert("JobSuccessExitCode", code);
                all.push_str("JobSuccessExitCode");
            }
            None => all.push('0'),
        }
        // A choice needs parentheses beside `||`.
        let operand = |command: &str, text: &str| -> Result<String, ConfigError> {
            let expr = self.parsed(command, text)?;
            let is_choice = matches!(expr.tree().node(expr.root()), Node::Conditional { .. });
            Ok(if is_choice { format!(" || ({text})") } else { format!(" || {text}") })
        };
        match until.as_deref().map(|text| (text, text.parse::<i64>())) {
            Some((_, Ok(code))) => all.push_str(&format!(" || ExitCode =?= {code}")),
            Some((text, Err(_))) => all.push_str(&operand("retry_until", text)?),
            None => {}
        }
        if let Some((command, text)) = &remove {
            all.push_str(&operand(command, text)?);
        }
        job.insert_expr("OnExitRemove", &self.parsed("retry_until", &all)?);
        Ok(())
    }

    /// Sets if and when the job's files are transferred (`SetTransferFiles`), and the domain of those that are shared.
    pub(super) fn file_transfer(
        &self,
        job: &mut ClassAd,
        universe: i64,
        file_system: Option<&str>,
    ) -> Result<(), ConfigError> {
        let stated = self.either("ShouldTransferFiles", "should_transfer_files")?;
        let stated = stated.map(|(_, text)| text.to_ascii_uppercase());
        let when = self.either("WhenToTransferOutput", "when_to_transfer_output")?;
        let when = when.map_or_else(|| "ON_EXIT".to_owned(), |(_, text)| text.to_ascii_uppercase());
        let (should, when) = match stated.as_deref() {
            _ if universe == VM && job.eval_bool("JobVMCheckpoint") == Some(true) => ("YES", "ON_EXIT_OR_EVICT"),
            _ if universe == VM => ("YES", "ON_EXIT"),
            Some("YES" | "TRUE" | "ALWAYS") => ("YES", when.as_str()),
            Some("NO" | "FALSE" | "NEVER") => ("NO", when.as_str()),
            None if when == "ON_EXIT_OR_EVICT" => ("YES", when.as_str()),
            _ => ("IF_NEEDED", when.as_str()),
        };
        job.insert("ShouldTransferFiles", should);
        if should != "NO" {
            job.insert("WhenToTransferOutput", when);
        }
        if let Some(domain) = file_system.filter(|_| should != "YES") {
            job.insert("FileSystemDomain", domain);
        }
        Ok(())
    }

    /// Sets the sizes of the executable and of the input files as far as they can be read.
    pub(super) fn sizes(&self, job: &mut ClassAd, universe: i64) -> Result<(), ConfigError> {
        // With `disk_usage`, the size of the input files is not counted.
        let is_stated = job.contains("DiskUsage");
        if is_stated {
            job.remove("TransferInputSizeMB");
        }
        let executable = self.executable()?;
        let initial = self.either("initialdir", "Iwd")?.map(|(_, path)| path).unwrap_or_default();
        // In KB.
        let size = |path: &str| match self.folder {
            _ if path.contains("://") => Some(0),
            None => None,
            Some(folder) => self.shared.size(folder.join(&initial).join(path)),
        };
        let program = match (universe, executable.as_deref()) {
            (GRID, _) => None,
            (VM, _) => job.eval_int("JobVMMemory").and_then(|memory| memory.checked_mul(1 << 10)),
            (_, None) => Some(0),
            (_, Some(path)) => size(path),
        };
        let Some(program) = program else { return Ok(()) };
        job.insert("ExecutableSize", program);
        if !job.contains("ImageSize") {
            job.insert("ImageSize", program);
        }
        if is_stated {
            return Ok(());
        }
        let list = self.either("transfer_input_files", "TransferInputFiles")?.map(|(_, list)| list).unwrap_or_default();
        let jars = self.either("jar_files", "JarFiles")?.map(|(_, list)| list).filter(|_| universe == JAVA);
        let mut inputs: Vec<String> = [list, jars.unwrap_or_default()].iter().flat_map(|list| files(list)).collect();
        inputs.extend(self.either("input", "stdin")?.map(|(_, path)| path));
        inputs.extend(executable.filter(|_| universe == JAVA));
        if job.eval_bool("TransferContainer") != Some(false) {
            inputs.extend(self.value("container_image")?.filter(|image| !image.starts_with("docker:")));
        }
        inputs.extend(self.value("tool_daemon_cmd")?);
        let sizes: Option<Vec<i64>> = inputs.iter().map(|path| size(path)).collect();
        if let Some(all) = sizes.and_then(|sizes| sizes.into_iter().try_fold(program, i64::checked_add)) {
            job.insert("DiskUsage", all);
            job.insert("TransferInputSizeMB", (all / 1024).saturating_add(i64::from(all % 1024 > 0)));
        }
        Ok(())
    }
}

/// The number that is the default of a setting.
fn default_number(setting: &[u8]) -> i64 {
    default_text(setting).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The files of a list.
fn files(list: &str) -> impl Iterator<Item = String> {
    list.trim_matches('"').split(',').map(|file| file.trim().to_owned()).filter(|file| !file.is_empty())
}

/// A text without quotation marks around it.
///
/// ```
/// use classmate_advice::internal::submit::attributes::unquoted;
/// assert_eq!([unquoted("\"a b\""), unquoted("\"a")], ["a b", "\"a"]);
/// ```
pub fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
