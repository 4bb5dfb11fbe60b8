//! Names of knobs by what they look like.

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
