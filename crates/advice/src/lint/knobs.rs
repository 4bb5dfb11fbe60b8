//! Knobs whose values are expressions, and what those are for.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::Role;
use super::policy_state::JobState;
use super::scope::Seen;
use classmate_config::Config;
use classmate_config::internal::config::knob::{self, KnobKind};
use classmate_config::internal::config::setting::list_items;

const VALUE: Role = Role {
    condition: false,
    looks_at_jobs: false,
    there: &[],
    mine: Seen::Anything,
    other: Seen::Anything,
    state: JobState::Any,
};
pub(super) const CONDITION: Role = Role { condition: true, ..VALUE };
/// Of a slot, with a job as TARGET.
pub(super) const SLOT_VALUE: Role = Role { looks_at_jobs: true, mine: Seen::Slot, other: Seen::Job, ..VALUE };
pub(super) const SLOT_CONDITION: Role = Role { condition: true, ..SLOT_VALUE };
/// Of a slot with the job that it runs.
const STARTER_VALUE: Role = Role { looks_at_jobs: false, ..SLOT_VALUE };
const STARTER_CONDITION: Role = Role { condition: true, ..STARTER_VALUE };
/// Of a slot alone.
const LONE_SLOT_VALUE: Role = Role { mine: Seen::Slot, other: Seen::Nothing, ..VALUE };
const LONE_SLOT: Role = Role { condition: true, ..LONE_SLOT_VALUE };
/// Of a job, with a slot as TARGET.
pub(super) const MATCH_VALUE: Role = Role { mine: Seen::Job, other: Seen::Slot, ..VALUE };
pub(super) const MATCH: Role = Role { condition: true, ..MATCH_VALUE };
/// Of a job that runs on the access point, which is TARGET.
pub(super) const ON_ACCESS_POINT: Role = Role { mine: Seen::Job, other: Seen::Scheduler, ..MATCH };
/// Of a job alone.
pub(super) const LONE_JOB: Role = Role { condition: true, mine: Seen::Job, other: Seen::Nothing, ..VALUE };
/// Of an access point, with a job as TARGET.
const ACCESS_POINT: Role = Role { condition: true, mine: Seen::Scheduler, other: Seen::Job, ..VALUE };
/// Asked of jobs that are not removed.
pub(super) const REMOVE: Role = Role { state: JobState::NotRemoved, ..LONE_JOB };
/// Asked of jobs that are held.
pub(super) const RELEASE: Role =
    Role { there: &["holdreason", "holdreasoncode", "holdreasonsubcode"], state: JobState::Held, ..LONE_JOB };
/// Asked of jobs that are not held, completed or removed.
pub(super) const HOLD: Role = Role { state: JobState::NotHeld, ..LONE_JOB };
/// Asked of jobs that run.
pub(super) const VACATE: Role = Role { state: JobState::Running, ..LONE_JOB };
/// Asked when the program of a job ends.
pub(super) const EXIT: Role = Role { state: JobState::Ending, ..LONE_JOB };
/// Asked of jobs that are completed or removed.
pub(super) const LEAVE: Role = Role { state: JobState::Leaving, ..LONE_JOB };

/// The role of an attribute (lower case) of a job.
pub(super) fn job_role(name: &[u8]) -> Role {
    match name {
        b"periodicrelease" => RELEASE,
        b"periodichold" => HOLD,
        b"periodicvacate" => VACATE,
        b"leavejobinqueue" => LEAVE,
        b"onexithold" | b"onexitremove" => EXIT,
        b"requirements" => MATCH,
        b"rank" => MATCH_VALUE,
        b"periodicremove" => REMOVE,
        _ => Role::default(),
    }
}

/// Knobs of other daemons than the negotiator that hold expressions, and what they are for; [`PERIODIC`] has more.
const POLICIES: &[(&str, Role)] = &[
    ("START", SLOT_CONDITION),
    ("RANK", SLOT_VALUE),
    ("PREEMPT", SLOT_CONDITION),
    ("SUSPEND", SLOT_CONDITION),
    ("CONTINUE", SLOT_CONDITION),
    ("KILL", SLOT_CONDITION),
    ("WANT_SUSPEND", SLOT_CONDITION),
    ("WANT_VACATE", SLOT_CONDITION),
    ("WANT_HOLD", SLOT_CONDITION),
    ("RUNBENCHMARKS", LONE_SLOT),
    ("WANT_HOLD_REASON", SLOT_VALUE),
    ("WANT_HOLD_SUBCODE", SLOT_VALUE),
    ("IS_OWNER", SLOT_CONDITION),
    ("MAXJOBRETIREMENTTIME", SLOT_VALUE),
    ("MACHINEMAXVACATETIME", SLOT_VALUE),
    ("FETCHWORKDELAY", SLOT_VALUE),
    ("HIBERNATE", SLOT_VALUE),
    ("UNHIBERNATE", LONE_SLOT),
    ("SINGULARITY_JOB", STARTER_CONDITION),
    ("SINGULARITY_IMAGE_EXPR", STARTER_VALUE),
    ("SINGULARITY_BIND_EXPR", STARTER_VALUE),
    ("STARTER_RLIMIT_AS", STARTER_VALUE),
    ("JOB_RENICE_INCREMENT", STARTER_VALUE),
    ("SCHEDD_SLOT_WEIGHT", Role { mine: Seen::Job, ..VALUE }),
    ("START_LOCAL_UNIVERSE", ACCESS_POINT),
    ("START_SCHEDULER_UNIVERSE", ACCESS_POINT),
    ("DEFRAG_REQUIREMENTS", LONE_SLOT),
    ("DEFRAG_CANCEL_REQUIREMENTS", LONE_SLOT),
    ("DEFRAG_WHOLE_MACHINE_EXPR", LONE_SLOT),
    ("DEFRAG_RANK", LONE_SLOT_VALUE),
    ("DEFRAG_DRAINING_START_EXPR", SLOT_CONDITION),
    ("START_BACKFILL", SLOT_CONDITION),
    ("EVICT_BACKFILL", SLOT_CONDITION),
    ("ROOSTER_UNHIBERNATE", LONE_SLOT),
    ("ROOSTER_UNHIBERNATE_RANK", LONE_SLOT_VALUE),
    ("APPEND_REQUIREMENTS", MATCH),
    ("APPEND_REQ_VANILLA", MATCH),
    ("APPEND_RANK", MATCH_VALUE),
    ("APPEND_RANK_VANILLA", MATCH_VALUE),
    ("JOB_ROUTER_SOURCE_JOB_CONSTRAINT", CONDITION),
    ("ABSENT_REQUIREMENTS", LONE_SLOT),
    ("COLLECTOR_REQUIREMENTS", CONDITION),
    ("CURB_MATCHMAKING", CONDITION),
    ("GANGLIAD_REQUIREMENTS", CONDITION),
    ("GRIDMANAGER_SELECTION_EXPR", VALUE),
    ("MEMORY_USAGE_METRIC", VALUE),
    ("SCHEDD_PREEMPTION_RANK", SLOT_VALUE),
    ("SCHEDD_PREEMPTION_REQUIREMENTS", SLOT_CONDITION),
    ("SEC_TOKEN_REVOCATION_EXPR", CONDITION),
    ("TRANSFER_QUEUE_USER_EXPR", VALUE),
    ("ROOSTER_WAKEUP_CMD", VALUE),
    ("DAEMON_SHUTDOWN", CONDITION),
    ("DAEMON_SHUTDOWN_FAST", CONDITION),
];

/// Policies of the access point: each has a reason and a subcode, and a list of names of more of the same.
const PERIODIC: &[(&str, Role)] = &[
    ("SYSTEM_PERIODIC_HOLD", HOLD),
    ("SYSTEM_PERIODIC_REMOVE", REMOVE),
    ("SYSTEM_PERIODIC_RELEASE", RELEASE),
    ("SYSTEM_PERIODIC_VACATE", VACATE),
];

/// The conditions that slots put to jobs, and those of the access point for its jobs.
pub(crate) fn job_conditions() -> impl Iterator<Item = (&'static str, Role)> {
    POLICIES.iter().filter(|(_, role)| *role == SLOT_CONDITION).chain(PERIODIC).copied()
}

/// The weight of a slot is asked of the slot alone.
pub(super) const SLOT_WEIGHT: &str = "SLOT_WEIGHT";

/// Knobs of the negotiator whose expression sees one ad only.
const ONE_AD: [&str; 6] = [
    SLOT_WEIGHT,
    "NEGOTIATOR_SLOT_CONSTRAINT",
    "NEGOTIATOR_SUBMITTER_CONSTRAINT",
    "NEGOTIATOR_JOB_CONSTRAINT",
    "NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT",
    "GROUP_SORT_EXPR",
];

/// Daemons and tools that put knobs of a list of theirs into ads.
const ADVERTISING: [&str; 6] = ["STARTD", "SCHEDD", "SUBMIT", "MASTER", "COLLECTOR", "NEGOTIATOR"];

/// The names of those lists, after the name of the daemon.
const LISTS: [&str; 2] = ["ATTRS", "EXPRS"];

/// The name of a knob without the prefix of a daemon.
pub(crate) fn bare(name: &[u8]) -> &[u8] {
    const DAEMONS: [&[u8]; 8] =
        [b"NEGOTIATOR", b"STARTD", b"SCHEDD", b"COLLECTOR", b"TOOL", b"MASTER", b"SUBMIT", b"DEFRAG"];
    match memchr::memchr(b'.', name) {
        Some(dot) if DAEMONS.iter().any(|daemon| daemon.eq_ignore_ascii_case(&name[..dot])) => &name[dot + 1..],
        _ => name,
    }
}

/// The name (upper case) of a knob without the slots that it is for, `SLOT_TYPE_1_START`.
fn of_all_slots(upper: &str) -> &str {
    let numbered = upper.strip_prefix("SLOT_TYPE_").or_else(|| upper.strip_prefix("SLOT")).unwrap_or_default();
    let rest = numbered.trim_start_matches(|sign: char| sign.is_ascii_digit());
    rest.strip_prefix('_').filter(|_| rest.len() < numbered.len()).unwrap_or(upper)
}

/// The role of a knob's expression; `None` for knobs that are not expressions.
pub(super) fn role(name: &[u8]) -> Option<Role> {
    let upper = String::from_utf8_lossy(name).to_ascii_uppercase();
    let all = of_all_slots(&upper);
    let is_of_slots = |role: &Role| role.mine == Seen::Slot && role.other == Seen::Job;
    if let Some((_, role)) = POLICIES.iter().find(|(known, role)| all != upper && *known == all && is_of_slots(role)) {
        return Some(*role);
    }
    if let Some((_, role)) = POLICIES.iter().chain(PERIODIC).find(|(known, _)| *known == upper) {
        return Some(*role);
    }
    if let Some(role) = of_family(&upper) {
        return Some(role);
    }
    let knob = knob::find(name).filter(|knob| knob.kind == KnobKind::Expression)?;
    Some(match knob.name {
        "PREEMPTION_REQUIREMENTS" => SLOT_CONDITION,
        "PREEMPTION_RANK" | "NEGOTIATOR_PRE_JOB_RANK" | "NEGOTIATOR_POST_JOB_RANK" => SLOT_VALUE,
        "NEGOTIATOR_JOB_CONSTRAINT" => Role { looks_at_jobs: true, ..LONE_JOB },
        name if name.ends_with("_CONSTRAINT") && name.contains("SLOT") => LONE_SLOT,
        name if name.ends_with("_CONSTRAINT") => CONDITION,
        _ => VALUE,
    })
}

/// The role of the expression of a knob from a family of names.
fn of_family(upper: &str) -> Option<Role> {
    if let Some(member) = upper.strip_prefix("SUBMIT_REQUIREMENT_").filter(|member| !member.is_empty()) {
        return match member {
            "NAMES" => None,
            member if member.ends_with("_IS_WARNING") => None,
            member if member.ends_with("_REASON") => Some(VALUE),
            _ => Some(ACCESS_POINT),
        };
    }
    for (policy, role) in PERIODIC {
        let Some(member) = upper.strip_prefix(policy).and_then(|rest| rest.strip_prefix('_')) else { continue };
        return match member {
            "" | "NAMES" => None,
            member if member.ends_with("REASON") || member.ends_with("SUBCODE") => Some(VALUE),
            _ => Some(*role),
        };
    }
    if upper.starts_with("DOCKER_VOLUME_DIR_") && upper.ends_with("_MOUNT_IF") {
        return Some(STARTER_CONDITION);
    }
    let is_cron = ["STARTD_CRON_", "SCHEDD_CRON_"].iter().any(|start| upper.starts_with(start));
    if is_cron && upper.ends_with("_CONDITION") {
        return Some(CONDITION);
    }
    let of = |prefix: &str| upper.strip_prefix(prefix).is_some_and(|member| !member.is_empty());
    // A word, not an expression.
    let is_word = upper == "JOB_DEFAULT_NOTIFICATION";
    (of("JOB_DEFAULT_") && !is_word || of("MODIFY_REQUEST_EXPR_")).then_some(VALUE)
}

/// Returns true if a knob, perhaps with the prefix of a daemon, holds an expression.
pub fn is_expression(name: &[u8]) -> bool {
    role(bare(name)).is_some()
}

/// Returns true if the expression of a knob (upper case) sees one ad only.
pub(super) fn sees_one_ad(upper: &str) -> bool {
    let periodic = PERIODIC.iter().any(|(policy, _)| {
        upper.strip_prefix(policy).is_some_and(|rest| rest.is_empty() || rest.starts_with('_') && rest != "_NAMES")
    });
    periodic || ONE_AD.contains(&upper)
}

/// The names, upper case, that lists such as `STARTD_ATTRS` put into ads: their values are expressions, those of slots
/// look at jobs.
pub fn advertised(config: &Config) -> BTreeMap<Vec<u8>, Role> {
    let mut names = BTreeMap::new();
    // A list that only the daemon reads has its name in front, `STARTD.STARTD_ATTRS`.
    let mut put = |list: &str, role: Role| {
        let Ok(Some(found)) = config.get(list) else { return };
        for name in list_items(&found.text) {
            names.insert(name.to_ascii_uppercase(), role);
        }
    };
    for daemon in ADVERTISING {
        for list in LISTS {
            put(&format!("{daemon}_{list}"), VALUE);
        }
    }
    put("SYSTEM_SUBMIT_ATTRS", VALUE);
    // Those of one type of slots, `SLOT_TYPE_1_STARTD_ATTRS`, too.
    let upper = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_uppercase();
    let of_daemon = |own: &str| {
        own.split_once('_').is_some_and(|(front, list)| ADVERTISING.contains(&front) && LISTS.contains(&list))
    };
    for name in config.names().filter(|name| bare(name).len() < name.len() && of_daemon(&upper(bare(name)))) {
        put(&String::from_utf8_lossy(name), VALUE);
    }
    let of_slots = |name: &&[u8]| LISTS.iter().any(|list| upper(bare(name)).ends_with(&format!("STARTD_{list}")));
    for name in config.names().filter(of_slots) {
        put(&String::from_utf8_lossy(name), SLOT_VALUE);
    }
    names
}

/// Returns true if a name (upper case, without prefix) is of a list such as `STARTD_ATTRS`.
pub(super) fn is_list(upper: &str) -> bool {
    LISTS.iter().any(|list| {
        let front = upper.strip_suffix(list).and_then(|front| front.strip_suffix('_'));
        front.is_some_and(|front| {
            ADVERTISING.iter().any(|daemon| front.rsplit_once('_').map_or(front, |(_, end)| end) == *daemon)
        })
    })
}

/// The attributes of jobs, upper case, that slots get while they run one.
pub(super) fn copied(config: &Config) -> BTreeSet<Vec<u8>> {
    let lists = ["STARTD_JOB_ATTRS", "STARTD_JOB_EXPRS", "SYSTEM_STARTD_JOB_ATTRS"];
    let found = lists.iter().filter_map(|list| config.get(list).ok().flatten());
    found.flat_map(|found| list_items(&found.text)).map(|name| name.to_ascii_uppercase()).collect()
}

/// The words, upper case, of transforms and routes of jobs, which may be attributes that jobs get, and how often their statements
/// have them.
pub(super) fn of_transforms(config: &Config) -> BTreeMap<Vec<u8>, usize> {
    let transforms = |name: &[u8]| {
        let upper = bare(name).to_ascii_uppercase();
        upper.starts_with(b"JOB_TRANSFORM_") || upper.starts_with(b"JOB_ROUTER_")
    };
    let mut found = BTreeMap::new();
    for one in config.definitions().filter(|one| transforms(one.name)) {
        let times = usize::from(knob::is_transform(bare(one.name)));
        for word in one.raw.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_')) {
            *found.entry(word.to_ascii_uppercase()).or_default() += times;
        }
    }
    found.remove(&b""[..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_of_all_daemons_are_expressions() {
        for name in [
            "SUBMIT_REQUIREMENT_A",
            "SUBMIT_REQUIREMENT_A_REASON",
            "SCHEDD.SYSTEM_PERIODIC_HOLD_REASON",
            "SYSTEM_PERIODIC_REMOVE_SUBCODE",
            "SYSTEM_PERIODIC_HOLD_Memory",
            "APPEND_REQUIREMENTS",
            "Append_Rank",
            "DEFRAG_RANK",
            "DEFRAG_CANCEL_REQUIREMENTS",
            "MachineMaxVacateTime",
            "HIBERNATE",
            "MASTER.DAEMON_SHUTDOWN_FAST",
            "JOB_DEFAULT_REQUESTMEMORY",
            "MODIFY_REQUEST_EXPR_REQUESTCPUS",
        ] {
            assert!(is_expression(name.as_bytes()), "{name}");
        }
        for name in [
            "SUBMIT_REQUIREMENT_NAMES",
            "SUBMIT_REQUIREMENT_A_IS_WARNING",
            "SYSTEM_PERIODIC_HOLD_NAMES",
            "JOB_DEFAULT_NOTIFICATION",
            "JOB_TRANSFORM_A",
            "STARTD_ATTRS",
        ] {
            assert!(!is_expression(name.as_bytes()), "{name}");
        }
    }
}
