//! Variables whose value is one of some words.
//!
//! In: the name and the value of a variable. Out: the problem of a value that is another word.

use super::types::Problem;
use classmate::Series;
use classmate::internal::diagnostic::Severity;

/// Variables, their words, and what HTCondor does with others; the words of truth are among them where they count as well.
type Choice = (&'static [&'static str], &'static [&'static str], &'static str);

const CHOICES: [Choice; 19] = [
    // `defrag.cpp`
    (&["DEFRAG_DRAINING_SCHEDULE"], &["graceful", "quick", "fast"], "the daemon ends with an error"),
    // `master.cpp`
    (
        &["MASTER_NEW_BINARY_RESTART"],
        &["GRACEFUL", "PEACEFUL", "FAST", "NEVER", "KILL", "NONE", "NO"],
        "the default is taken",
    ),
    // `vanilla_proc.cpp`
    (&["CGROUP_MEMORY_LIMIT_POLICY"], &["hard", "custom", "none"], "there is no limit"),
    // `ResMgr.cpp`
    (&["BACKFILL_SYSTEM"], &["BOINC"], "there is no backfill"),
    // The manual's chapter on the startd.
    (&["LINUX_HIBERNATION_METHOD"], &["pm-utils", "/sys", "/proc"], "the machine does not sleep"),
    // `vmgahp_config.cpp`
    (&["VM_TYPE"], &["kvm", "xen"], "there are no virtual machines"),
    // `collector.cpp`
    (
        &["HANDLE_QUERY_IN_PROC_POLICY"],
        &[
            "always",
            "never",
            "small_table",
            "small_query",
            "small_table_or_query",
            "small_table_and_query",
            "TRUE",
            "FALSE",
        ],
        "`small_table_or_query` is taken",
    ),
    // `spooled_job_files.cpp`, `starter.cpp`
    (&["JOB_EXECDIR_PERMISSIONS", "JOB_SPOOL_PERMISSIONS"], &["user", "group", "world"], "`user` is taken"),
    // `startd_main.cpp`
    (&["SLOT_CONFIG_FAILURE_MODE"], &["clear", "continue", "abort"], "it is ignored"),
    // `submit_utils.cpp`
    (
        &["JOB_DEFAULT_NOTIFICATION"],
        &["NEVER", "ERROR", "ALWAYS", "COMPLETE", "START"],
        "`condor_submit` rejects every job",
    ),
    (
        &["SUBMIT_DEFAULT_SHOULD_TRANSFER_FILES"],
        &["YES", "NO", "IF_NEEDED", "ALWAYS", "NEVER", "TRUE", "FALSE"],
        "`IF_NEEDED` is taken",
    ),
    (
        &["DEFAULT_UNIVERSE"],
        // `CondorUniverseNumberEx` takes the numbers as well.
        &[
            "vanilla",
            "container",
            "docker",
            "grid",
            "java",
            "local",
            "parallel",
            "scheduler",
            "vm",
            "5",
            "7",
            "9",
            "10",
            "11",
            "12",
            "13",
        ],
        "`condor_submit` rejects every job",
    ),
    // The manual's chapter on the daemon of credentials.
    (&["LOCAL_CREDMON_PRIVATE_KEY_ALGORITHM"], &["ES256", "RS256"], "no tokens are signed"),
    // `enum_utils.cpp`: `True` is none of them.
    (
        &["STARTD_CRON_AUTOPUBLISH"],
        &["Never", "Always", "If_Changed", "False", "IfChanged", "IfDifferent", "If_Different"],
        "`Never` is taken",
    ),
    // `startd_main.cpp`, `VolumeManager.h`, `singularity.cpp`
    (
        &["ENABLE_STARTD_DAEMON_AD", "LVM_HIDE_MOUNT", "SINGULARITY_USE_PID_NAMESPACES"],
        &["TRUE", "FALSE", "AUTO"],
        "`AUTO` is taken",
    ),
    // `Starter.cpp`, which knows no other words of truth.
    (
        &["STARTER_LOG_NAME_APPEND"],
        &["Slot", "ClusterId", "JobId", "false", "Cluster", "true", "1", "0"],
        "`Slot` is taken",
    ),
    // `uids.cpp`
    (&["WINDOWS_LOGON32_TYPE"], &["AUTO", "NETWORK", "INTERACTIVE", "BATCH", "SERVICE"], "`AUTO` is taken"),
    // `adstash/config.py`
    (
        &["ADSTASH_INTERFACE"],
        &["elasticsearch", "opensearch", "jsonfile", "null"],
        "`condor_adstash` ends with an error",
    ),
    // `condor_config.cpp`
    (&["ENABLE_IPV4", "ENABLE_IPV6"], &["TRUE", "FALSE", "AUTO"], "daemons end with an error"),
];

/// Other words of truth.
const TRUTHS: [&str; 6] = ["yes", "no", "t", "f", "1", "0"];

fn choice(upper: &str) -> Option<&'static Choice> {
    CHOICES.iter().find(|(names, _, _)| names.contains(&upper))
}

/// Tests whether the value of a variable (upper case) is one of some words.
pub(super) fn has(upper: &str) -> bool {
    choice(upper).is_some()
}

/// Tests whether a series before the current ones knows a value (HTCondor's change of 2023 to `vanilla_proc.cpp`).
pub(super) fn is_of_older(upper: &str, value: &str, series: Series) -> bool {
    upper == "CGROUP_MEMORY_LIMIT_POLICY" && value == "soft" && series < Series::new(10, 5)
}

/// The problem of a value that is none of the words.
pub(super) fn check(upper: &str, value: &str) -> Option<Problem> {
    let (_, words, effect) = choice(upper)?;
    // `vanilla_proc.cpp` compares these as they are written.
    let is_exact = upper == "CGROUP_MEMORY_LIMIT_POLICY";
    let is = |word: &&str| if is_exact { *word == value } else { word.eq_ignore_ascii_case(value) };
    let is_truth = words.contains(&"TRUE") && TRUTHS.iter().any(|word| word.eq_ignore_ascii_case(value));
    if is_truth || words.iter().any(is) {
        return None;
    }
    let shown: Vec<String> = words.iter().take(4).map(|word| format!("`{word}`")).collect();
    let (last, first) = shown.split_last()?;
    let first = if first.is_empty() { String::new() } else { format!("{} or ", first.join(", ")) };
    let help = format!("write {first}{last}: {effect} otherwise");
    Some((Severity::Error, format!("`{upper}` is `{value}`"), help))
}
