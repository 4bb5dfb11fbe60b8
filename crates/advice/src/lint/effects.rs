//! Variables that have no effect because a switch is off.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about. A switch counts only with
//! a value that a file gives it: another file may set one that is missing.

use std::collections::BTreeMap;

use super::knobs::bare;
use super::{lists, second_place, unknowns};
use classmate::Diagnostic;
use classmate_config::internal::config::check::has_root;
use classmate_config::{Config, Definition};

/// The value of a switch with which other variables are not read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Off {
    False,
    Zero,
    ZeroOrLess,
    Negative,
}

/// Switches, the values that turn them off, and the variables that are not looked at then (HTCondor's sources that read them).
const SWITCHES: [(&str, Off, &[&str]); 28] = [
    // `classadHistory.cpp`
    (
        "ENABLE_HISTORY_ROTATION",
        Off::False,
        &["MAX_HISTORY_LOG", "MAX_HISTORY_ROTATIONS", "ROTATE_HISTORY_DAILY", "ROTATE_HISTORY_MONTHLY"],
    ),
    // `ResState.cpp`
    ("WANT_SUSPEND", Off::False, &["SUSPEND"]),
    ("PREEMPT", Off::False, &["WANT_HOLD", "WANT_HOLD_REASON", "WANT_HOLD_SUBCODE"]),
    ("WANT_HOLD", Off::False, &["WANT_HOLD_REASON", "WANT_HOLD_SUBCODE"]),
    // `user_job_policy.cpp`
    ("SYSTEM_PERIODIC_HOLD", Off::False, &["SYSTEM_PERIODIC_HOLD_REASON", "SYSTEM_PERIODIC_HOLD_SUBCODE"]),
    // `file_transfer.cpp`
    ("ENABLE_URL_TRANSFERS", Off::False, &["FILETRANSFER_PLUGINS"]),
    // `ResMgr.cpp`
    ("ENABLE_BACKFILL", Off::False, &["BACKFILL_SYSTEM", "START_BACKFILL", "EVICT_BACKFILL"]),
    // `view_server.cpp`
    (
        "KEEP_POOL_HISTORY",
        Off::False,
        &["POOL_HISTORY_DIR", "POOL_HISTORY_MAX_STORAGE", "POOL_HISTORY_SAMPLING_INTERVAL"],
    ),
    // `proc_family_proxy.cpp`
    ("USE_GID_PROCESS_TRACKING", Off::False, &["MIN_TRACKING_GID", "MAX_TRACKING_GID"]),
    // `starter.cpp`
    (
        "ENABLE_SSH_TO_JOB",
        Off::False,
        &[
            "SSH_TO_JOB_SSHD",
            "SSH_TO_JOB_SSHD_ARGS",
            "SSH_TO_JOB_SSHD_CONFIG_TEMPLATE",
            "SSH_TO_JOB_SSH_KEYGEN",
            "SSH_TO_JOB_SSH_KEYGEN_ARGS",
        ],
    ),
    // `collector.cpp`
    (
        "ENABLE_CCB_SERVER",
        Off::False,
        &["CCB_RECONNECT_FILE", "CCB_SERVER_READ_BUFFER", "CCB_SERVER_WRITE_BUFFER", "CCB_SWEEP_INTERVAL"],
    ),
    // `master.cpp`
    ("ENABLE_KERNEL_TUNING", Off::False, &["KERNEL_TUNING_LOG", "LINUX_KERNEL_TUNING_SCRIPT"]),
    ("PUBLISH_OBITUARIES", Off::False, &["OBITUARY_LOG_LENGTH"]),
    // `vmgahp_config.cpp`
    ("VM_NETWORKING", Off::False, &["VM_NETWORKING_DEFAULT_TYPE", "VM_NETWORKING_TYPE"]),
    // `condor_config.cpp`
    ("ENABLE_PERSISTENT_CONFIG", Off::False, &["PERSISTENT_CONFIG_DIR"]),
    // `file_lock.cpp`
    ("CREATE_LOCKS_ON_LOCAL_DISK", Off::False, &["LOCAL_DISK_LOCK_DIR"]),
    // `VolumeManager.cpp`
    (
        "STARTD_ENFORCE_DISK_LIMITS",
        Off::False,
        &["LVM_BACKING_FILE", "LVM_BACKING_FILE_SIZE_MB", "LVM_THINPOOL_NAME", "LVM_VOLUME_GROUP_NAME"],
    ),
    // `schedd.cpp`
    ("SCHEDD_USE_SLOT_WEIGHT", Off::False, &["SCHEDD_SLOT_WEIGHT"]),
    ("JOB_START_DELAY", Off::ZeroOrLess, &["JOB_START_COUNT"]),
    ("JOB_STOP_DELAY", Off::Zero, &["JOB_STOP_COUNT"]),
    // `shared_port_server.cpp`, `masterDaemon.cpp`
    ("USE_SHARED_PORT", Off::False, &["COLLECTOR_USES_SHARED_PORT", "SHARED_PORT_PORT"]),
    // `HAD.cpp`
    ("HAD_USE_REPLICATION", Off::False, &["REPLICATION_LIST"]),
    // `write_user_log.cpp`
    ("EVENT_LOG_MAX_SIZE", Off::Zero, &["EVENT_LOG_MAX_ROTATIONS"]),
    // `defrag.cpp`
    (
        "DEFRAG_INTERVAL",
        Off::ZeroOrLess,
        &[
            "DEFRAG_CANCEL_REQUIREMENTS",
            "DEFRAG_DRAINING_MACHINES_PER_HOUR",
            "DEFRAG_MAX_CONCURRENT_DRAINING",
            "DEFRAG_MAX_WHOLE_MACHINES",
            "DEFRAG_RANK",
            "DEFRAG_REQUIREMENTS",
            "DEFRAG_SCHEDULE",
            "DEFRAG_WHOLE_MACHINE_EXPR",
        ],
    ),
    ("DEFRAG_MAX_CONCURRENT_DRAINING", Off::Zero, &DEFRAG),
    ("DEFRAG_MAX_WHOLE_MACHINES", Off::Zero, &DEFRAG),
    // `rooster.cpp`
    (
        "ROOSTER_INTERVAL",
        Off::Negative,
        &["ROOSTER_MAX_UNHIBERNATE", "ROOSTER_UNHIBERNATE", "ROOSTER_UNHIBERNATE_RANK", "ROOSTER_WAKEUP_CMD"],
    ),
    // `condor_user_policy.cpp`, `schedd.cpp`
    (
        "PERIODIC_EXPR_INTERVAL",
        Off::ZeroOrLess,
        &[
            "MAX_PERIODIC_EXPR_INTERVAL",
            "PERIODIC_EXPR_TIMESLICE",
            "SYSTEM_PERIODIC_HOLD",
            "SYSTEM_PERIODIC_RELEASE",
            "SYSTEM_PERIODIC_REMOVE",
            "SYSTEM_PERIODIC_VACATE",
        ],
    ),
];

/// Settings of the daemon that drains machines, beside the two limits with which it drains none (`defrag.cpp`).
const DEFRAG: [&str; 4] =
    ["DEFRAG_DRAINING_MACHINES_PER_HOUR", "DEFRAG_INTERVAL", "DEFRAG_RANK", "DEFRAG_REQUIREMENTS"];

/// Variables that have no effect if none of some others has a value (HTCondor's sources that read them). A `*` at the end of a name
/// stands for any text.
const NEEDS: [(&[&str], &[&str]); 9] = [
    // `write_user_log.cpp`
    (
        &[
            "EVENT_LOG_FORMAT_OPTIONS",
            "EVENT_LOG_JOB_AD_INFORMATION_ATTRS",
            "EVENT_LOG_MAX_ROTATIONS",
            "EVENT_LOG_MAX_SIZE",
            "EVENT_LOG_ROTATION_LOCK",
            "EVENT_LOG_USE_XML",
        ],
        &["EVENT_LOG"],
    ),
    // `schedd.cpp`
    (&["JOB_START_COUNT"], &["JOB_START_DELAY"]),
    (&["JOB_STOP_COUNT"], &["JOB_STOP_DELAY"]),
    // `ResState.cpp`
    (&["WANT_HOLD_REASON", "WANT_HOLD_SUBCODE"], &["WANT_HOLD"]),
    // `condor_config.cpp`
    (&["SETTABLE_ATTRS_*"], &["ENABLE_RUNTIME_CONFIG", "ENABLE_PERSISTENT_CONFIG"]),
    // `masterDaemon.cpp`
    (&["MASTER_HA_LIST"], &["HA_LOCK_URL", "HA_*_LOCK_URL"]),
    // `HAD.cpp`
    (&["HAD_USE_REPLICATION"], &["REPLICATION_LIST"]),
    // `startd_main.cpp`, `vmuniverse_mgr.cpp`
    (&["VM_MAX_NUMBER", "VM_MEMORY", "VM_NETWORKING"], &["VM_TYPE"]),
    // `collector.cpp`
    (&["CONDOR_VIEW_CLASSAD_TYPES"], &["CONDOR_VIEW_HOST"]),
];

/// The findings about variables without effect, about backfill without a system, and about exponents in place of percentages.
pub(super) fn check(config: &Config) -> lists::Found {
    let written = config.definitions().filter(|one| one.place.is_some() && one.template.is_none());
    let written: BTreeMap<String, Definition<'_>> =
        written.map(|one| (String::from_utf8_lossy(bare(one.name)).to_ascii_uppercase(), one)).collect();
    let mut found = Vec::new();
    for (switch, off, names) in SWITCHES {
        let Some(value) = written.get(switch).and_then(|one| value(config, one)) else { continue };
        if !is_off(off, &value) {
            continue;
        }
        let mut is_said = false;
        for name in names {
            let Some(one) = written.get(*name) else { continue };
            // Who turns off both means it.
            if self::value(config, one).is_some_and(|value| is_on(&value)) {
                let message = format!("`{name}` has no effect: `{switch}` is `{value}`");
                let help = format!("turn on `{switch}`, or remove `{name}`");
                let (Some(first), Some(second)) = (one.place, written[switch].place) else { continue };
                let pair = second_place::later(config, (name, first.clone()), (switch, second.clone()));
                // The policy that nothing asks for is not the mistake.
                let is_switch = pair[0].0 == switch || switch == "WANT_SUSPEND";
                let (at, other) = if is_switch { (&written[switch], one) } else { (one, &written[switch]) };
                // One switch makes one finding.
                if is_switch && std::mem::replace(&mut is_said, true) {
                    continue;
                }
                let (problem, subject) = warning(at, message, &help);
                let Some(place) = other.place else { continue };
                let label = format!("`{}` is set here", if is_switch { name } else { &switch });
                let problem = second_place::beside(config, problem, (place, other.name.len()), &label);
                found.push((problem, subject));
            }
        }
    }
    lacking(config, &written, &mut found);
    if let Some(one) = written.get("ENABLE_BACKFILL")
        && value(config, one).is_some_and(|value| matches!(value.as_str(), "true" | "yes" | "t" | "y" | "1"))
        && written.contains_key("START_BACKFILL")
        && config.definition(b"BACKFILL_SYSTEM").is_none_or(|system| system.raw.is_empty())
    {
        let message = "`ENABLE_BACKFILL` has no effect: there is no `BACKFILL_SYSTEM`".to_owned();
        found.push(warning(one, message, "add `BACKFILL_SYSTEM = BOINC`"));
    }
    for (name, one) in &written {
        let Some(attribute) = name.strip_prefix("SCHEDD_ROUND_ATTR_") else { continue };
        let Some(exponent) = value(config, one).and_then(|value| value.parse::<u32>().ok()) else { continue };
        if exponent >= MAX_EXPONENT {
            let message = format!("`{attribute}` is rounded up to a multiple of 10 to the power of {exponent}");
            found.push(warning(one, message, &format!("write `{exponent}%` for a percentage")));
        }
    }
    for (name, one) in written.iter().filter(|(name, _)| name.starts_with("_CONDOR_")) {
        let meant = &name["_CONDOR_".len()..];
        let message = format!("`{name}` is not read: `_CONDOR_` begins names in the environment only");
        let (found_here, subject) = warning(one, message, &format!("write `{meant}`"));
        found.push((found_here.code("unknown-knob"), subject));
    }
    found
}

/// Those of which other files of a configuration may have the first.
const ELSEWHERE: [&str; 3] = ["CONDOR_VIEW_HOST", "EVENT_LOG", "VM_TYPE"];

/// Variables without the one that they belong to.
fn lacking(config: &Config, written: &BTreeMap<String, Definition<'_>>, found: &mut lists::Found) {
    // Files that are not here may have it.
    if lists::misses_files(config) {
        return;
    }
    let is_set = |name: &str| {
        let text = config.get(name).ok().flatten().map(|found| found.text).unwrap_or_default();
        is_on(&String::from_utf8_lossy(text.trim_ascii()).to_ascii_lowercase())
    };
    let has = |name: &&str| match name.split_once('*') {
        Some((front, end)) => written.keys().any(|known| known.starts_with(front) && known.ends_with(end)),
        None => is_set(name),
    };
    for (names, needed) in NEEDS {
        let all = names.iter().flat_map(|name| {
            let front = name.strip_suffix('*');
            let is_it = move |known: &str| front.map_or(known == *name, |front| known.starts_with(front));
            written.iter().filter(move |(known, _)| is_it(known))
        });
        let mut all = all.filter(|(_, one)| value(config, one).is_some_and(|value| is_on(&value)));
        let Some((name, one)) = all.next().filter(|_| !needed.iter().any(has)) else { continue };
        // Other files may have what is set for a whole machine.
        let is_told = needed.iter().any(|name| written.contains_key(*name));
        if ELSEWHERE.contains(&needed[0]) && !is_told && !has_root(config) {
            continue;
        }
        let needed = needed.iter().filter(|name| !name.contains('*')).map(|name| format!("`{name}`"));
        let needed = needed.collect::<Vec<_>>().join(" or ");
        let message = format!("`{name}` has no effect without {needed}");
        found.push(warning(one, message, &format!("set {needed} too, or remove `{name}`")));
    }
}

/// Tests whether a value (lower case) turns something on.
fn is_on(value: &str) -> bool {
    !value.is_empty() && value != "0" && !matches!(value, "false" | "no" | "f" | "n")
}

/// The exponent from which on a rounded attribute says nothing.
const MAX_EXPONENT: u32 = 10;

fn warning(one: &Definition<'_>, message: String, help: &str) -> (Diagnostic, String) {
    let name = String::from_utf8_lossy(one.name).into_owned();
    (one.name_warning(message).code("conflicting-knobs").help(help), name)
}

/// The expanded value, lower case; none if a machine decides it.
fn value(config: &Config, one: &Definition<'_>) -> Option<String> {
    let text = unknowns::known_value(config, one)?;
    Some(String::from_utf8_lossy(&text).to_ascii_lowercase())
}

fn is_off(off: Off, value: &str) -> bool {
    let number = || value.parse::<i64>().ok();
    match off {
        Off::False => matches!(value, "false" | "no" | "f" | "n" | "0"),
        Off::Zero => number() == Some(0),
        Off::ZeroOrLess => number().is_some_and(|number| number <= 0),
        Off::Negative => number().is_some_and(|number| number < 0),
    }
}
