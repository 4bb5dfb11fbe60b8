//! Names of knobs by what they look like.

use std::sync::LazyLock;

use crate::builtin::near;
use crate::config::setting::is_number;
use crate::config::table;

/// Names that begin so belong to the negotiator: one that is not known is a mistake.
pub(super) const FAMILY: [&str; 8] =
    ["NEGOTIATOR_", "NEGOTIATION_", "GROUP_", "PREEMPTION_", "ACCOUNTANT_", "PRIORITY_", "CONCURRENCY_LIMIT_", "HFS_"];

/// What every daemon reads under a name made of its own: `NEGOTIATOR_ARGS`. A name that begins so is one of them too.
const OF_EVERY_DAEMON: [&str; 26] = [
    "ADDRESS_FILE",
    "ADMIN",
    "ARGS",
    "ATTRS",
    "CLASSAD",
    "CLASS",
    "CORE",
    "D_",
    "DAEMON",
    "DEBUG",
    "ENVIRONMENT",
    "EXPRS",
    "HOST",
    "INHERIT",
    "IP",
    "LOCK",
    "LOG",
    "NOT_RESPONDING",
    "PORT",
    "PUBLISH_",
    "RUN",
    "STATISTICS",
    "STATS",
    "SUPER_",
    "TIMEOUT",
    "USE_SHARED_PORT",
];

/// Whether a name (upper case) is of those that every daemon has: `NEGOTIATOR_ARGS`, `MAX_NEGOTIATOR_LOG`.
pub(super) fn is_of_every_daemon(upper: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(upper) else { return false };
    let of = |daemon: &str| {
        let behind = name.strip_prefix(daemon).and_then(|rest| rest.strip_prefix('_'));
        let generic = |rest: &str| {
            OF_EVERY_DAEMON.iter().any(|known| {
                rest.strip_prefix(known)
                    .is_some_and(|more| more.is_empty() || more.starts_with('_') || known.ends_with('_'))
            })
        };
        // The log's own: `MAX_NEGOTIATOR_LOG`, `TRUNC_NEGOTIATOR_MATCH_LOG_ON_OPEN`.
        let before = ["MAX_", "MAX_NUM_", "TRUNC_", "KEEP_", "PREFIX_"].iter().any(|before| {
            let rest = name.strip_prefix(before).and_then(|rest| rest.strip_prefix(daemon));
            rest.is_some_and(|rest| rest.starts_with('_') && rest.contains("_LOG"))
        });
        behind.is_some_and(generic) || before
    };
    SUBSYSTEMS.into_iter().any(of)
}

/// Daemons and tools whose names may stand before a dot.
pub(super) const SUBSYSTEMS: [&str; 16] = [
    "MASTER",
    "COLLECTOR",
    "NEGOTIATOR",
    "SCHEDD",
    "STARTD",
    "SHADOW",
    "STARTER",
    "TOOL",
    "SUBMIT",
    "CREDD",
    "GRIDMANAGER",
    "HAD",
    "REPLICATION",
    "JOB_ROUTER",
    "DAGMAN",
    "DEFRAG",
];

/// What is said of one type of slots, behind `SLOT_TYPE_<number>_`, beside policies and attributes.
const OF_SLOT_TYPE: [&str; 12] = [
    "CONSUMPTION_POLICY",
    "CONTINUE",
    "KILL",
    "NAME_PREFIX",
    "PARTITIONABLE",
    "PREEMPT",
    "RANK",
    "SLOT_WEIGHT",
    "START",
    "STARTD_ATTRS",
    "SUSPEND",
    "WANT_VACATE",
];

/// The knob of a type of slots that a name is but for a slip: `SLOT_TYPE_1_PARTITONABLE`.
pub(super) fn of_slot_type(name: &[u8]) -> Option<String> {
    const PREFIX: &[u8] = b"SLOT_TYPE_";
    let prefix = name.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX))?;
    let rest = &name[prefix.len()..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let what = rest[digits..].strip_prefix(b"_").filter(|what| digits > 0 && what.len() >= 5)?;
    let known = near::closest_within(if what.len() < 8 { 1 } else { 2 }, what, OF_SLOT_TYPE)?;
    let front = String::from_utf8_lossy(&name[..name.len() - what.len()]);
    (!known.as_bytes().eq_ignore_ascii_case(what)).then(|| format!("{front}{known}"))
}

/// The concurrency limit that a name is but for a slip, `XSW_LIMT`, where its value is a number.
pub(super) fn of_limit(name: &[u8], value: &[u8]) -> Option<String> {
    let at = memchr::memrchr(b'_', name).filter(|at| *at > 0)? + 1;
    let slip = near::distance(&name[at..], b"LIMIT", 1) == Some(1);
    let front = String::from_utf8_lossy(&name[..at]);
    (slip && is_number(value.trim_ascii())).then(|| format!("{front}LIMIT"))
}

/// The names of the table.
static TABLE: LazyLock<Vec<&str>> = LazyLock::new(|| table::entries().map(|(name, _)| name).collect());

/// The knob with a default, of any daemon, that a name is but for one letter. Names that differ in a digit are meant.
pub(super) fn of_table(name: &[u8]) -> Option<String> {
    fn digits(name: &[u8]) -> impl Iterator<Item = &u8> {
        name.iter().filter(|byte| byte.is_ascii_digit())
    }
    if name.len() < 6 {
        return None;
    }
    let alike = |known: &&str| {
        known.len() >= 5 && known.len().abs_diff(name.len()) <= 1 && digits(known.as_bytes()).eq(digits(name))
    };
    near::closest_within(1, name, TABLE.iter().copied().filter(alike)).map(str::to_owned)
}
