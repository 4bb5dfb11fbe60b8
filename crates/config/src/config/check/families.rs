//! Names that begin like those of a feature or a daemon, and that HTCondor does not know.
//!
//! In: the name of a variable that HTCondor does not know. Out: the family that it seems to be of, and the variable that was
//! probably meant.

use std::sync::LazyLock;

use super::is_variable;
use super::names::{DAEMONS, is_of_slot_type, is_of_slot_type_alone, known_names};
use crate::config::name_list::names;

/// Beginnings that only variables of HTCondor have, and of which all members are known.
const FAMILIES: [&str; 28] = [
    "AUTH_SSL_",
    "CCB_",
    "CGROUP_",
    "CONDOR_Q_",
    "CONDOR_VIEW_",
    "CREDD_",
    "DAGMAN_",
    "DEFRAG_",
    "DOCKER_",
    "EVENT_LOG_",
    "FILETRANSFER_",
    "FILE_TRANSFER_",
    "FLOCK_",
    "GANGLIAD_",
    "HAD_",
    "HIBERNATION_",
    "HISTORY_",
    "JOB_ROUTER_",
    "KERBEROS_",
    "LVM_",
    "PREEN_",
    "REPLICATION_",
    "ROOSTER_",
    "SEC_TOKEN_",
    "SHARED_PORT_",
    "SINGULARITY_",
    "SSH_TO_JOB_",
    "SUBMIT_REQUEST_",
];

/// Beginnings that any name can follow.
const OPEN: [&str; 8] = [
    "DOCKER_VOLUME_DIR_",
    "JOB_ROUTER_CREATE_IDTOKEN_",
    "JOB_ROUTER_DEFAULT_",
    "JOB_ROUTER_ROUTE_",
    "JOB_ROUTER_SCHEDD",
    "JOB_ROUTER_TRANSFORM_",
    // A Compute Entrypoint makes its own: `JOB_ROUTER_DEFAULTS_GENERATED`.
    "JOB_ROUTER_DEFAULTS_",
    "SSH_TO_JOB_SSH",
];

/// The family of a name (upper case), and the member that it probably means.
pub(super) fn of_family(upper: &str) -> Option<(&'static str, Option<&'static str>)> {
    let family = *FAMILIES.iter().find(|front| upper.starts_with(**front))?;
    let is_open = OPEN.iter().any(|front| upper.starts_with(front));
    if is_open || family == "SSH_TO_JOB_" && upper.ends_with("_CMD") {
        return None;
    }
    let own = words(&upper[family.len()..]);
    let members = MEMBERS.iter().filter(|member| member.starts_with(family));
    let alike = |member: &&&str| {
        let theirs = words(&member[family.len()..]);
        let same = own.iter().filter(|one| theirs.iter().any(|other| is_alike(one, other))).count();
        // The more words are alike, and the fewer are not.
        (same, usize::MAX - theirs.len().abs_diff(own.len()))
    };
    let meant = members.max_by_key(|member| alike(member)).filter(|member| alike(member).0 > 0);
    Some((family, meant.copied()))
}

fn words(text: &str) -> Vec<&str> {
    text.split('_').filter(|word| !word.is_empty()).collect()
}

/// Tests whether two words are equal, but perhaps for an end such as that of a plural.
fn is_alike(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short == long || short.len() >= 3 && long.starts_with(short) && long.len() <= short.len() + 3
}

/// The variable that a name (upper case) means whose number of a type of slots is left out, or that ends in another word for a request.
pub(super) fn of_request(upper: &str) -> Option<String> {
    const REQUESTS: [(&str, &str); 10] = [
        ("REQUESTCORES", "REQUESTCPUS"),
        ("REQUESTCPU", "REQUESTCPUS"),
        ("REQUESTGPU", "REQUESTGPUS"),
        ("REQUESTMEM", "REQUESTMEMORY"),
        ("REQUESTRAM", "REQUESTMEMORY"),
        ("REQUEST_CPUS", "REQUESTCPUS"),
        ("REQUEST_DISK", "REQUESTDISK"),
        ("REQUEST_GPUS", "REQUESTGPUS"),
        ("REQUEST_MEM", "REQUESTMEMORY"),
        ("REQUEST_MEMORY", "REQUESTMEMORY"),
    ];
    const OF_SLOTS: [&str; 5] = ["CONSUMPTION_POLICY", "PARTITIONABLE", "RANK", "START", "STARTD_ATTRS"];
    if let Some(what) = upper.strip_prefix("SLOT_TYPE_").filter(|what| OF_SLOTS.contains(what)) {
        return Some(format!("SLOT_TYPE_1_{what}"));
    }
    let front = ["JOB_DEFAULT_", "MODIFY_REQUEST_EXPR_"].into_iter().find(|front| upper.starts_with(front))?;
    let (_, meant) = REQUESTS.iter().find(|(word, _)| *word == &upper[front.len()..])?;
    Some(format!("{front}{meant}"))
}

/// The known names of the families.
static MEMBERS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let of_family = |name: &&str| FAMILIES.iter().any(|front| name.starts_with(front));
    known_names().filter(of_family).collect()
});

/// Policies of the execution point (`ResMgr.cpp`, `Resource.cpp`).
const POLICIES: [&str; 13] = [
    "CONTINUE",
    "IS_OWNER",
    "KILL",
    "MACHINEMAXVACATETIME",
    "MAXJOBRETIREMENTTIME",
    "PREEMPT",
    "RANK",
    "START",
    "SUSPEND",
    "WANT_HOLD",
    "WANT_HOLD_REASON",
    "WANT_SUSPEND",
    "WANT_VACATE",
];

/// The variable that a name (upper case) means which has the name of a daemon in front and no dot after it,
/// `SCHEDD_MAX_JOBS_RUNNING`; `is_known` tells whether HTCondor knows a variable.
pub(super) fn of_daemon(upper: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    let rest = names(DAEMONS).filter_map(|daemon| Some((daemon, upper.strip_prefix(daemon)?.strip_prefix('_')?)));
    // Policies of the execution point have short names.
    let is_policy = |daemon: &str, rest: &str| daemon == "STARTD" && POLICIES.contains(&rest);
    let long =
        |(daemon, rest): &(&str, &str)| is_policy(daemon, rest) || rest.matches('_').count() >= 2 && is_known(rest);
    let (daemon, rest) = rest.into_iter().find(long)?;
    Some(format!("{daemon}.{rest}"))
}

/// The variable of a slot, or of a type of slots, with a dot in place of the underscore: `SLOT_TYPE_1.START`. `SLOT_TYPE_1` is the local
/// name of starters (`Starter.cpp`), so it counts before other variables.
pub(super) fn of_slots(name: &str) -> Option<String> {
    let (front, rest) = name.split_once('.')?;
    let upper = front.to_ascii_uppercase();
    let rest_upper = rest.to_ascii_uppercase();
    let (number, is_other) = match upper.strip_prefix("SLOT_TYPE_") {
        Some(number) => (number, is_variable(rest_upper.as_bytes()) && !is_of_slot_type(&rest_upper)),
        None => (upper.strip_prefix("SLOT")?, false),
    };
    // A slot has attributes of its own, and no policies.
    let front = if is_of_slot_type_alone(&rest_upper) { format!("SLOT_TYPE_{number}") } else { front.to_owned() };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !is_other && !rest.is_empty() && !rest.contains('.')).then(|| format!("{front}_{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_suggested_by_their_words() {
        assert_eq!(of_family("DOCKER_MOUNTS"), Some(("DOCKER_", Some("DOCKER_MOUNT_VOLUMES"))));
        assert_eq!(of_family("DEFRAG_MAX_DRAINING"), Some(("DEFRAG_", Some("DEFRAG_MAX_CONCURRENT_DRAINING"))));
        assert_eq!(of_family("DOCKER_VOLUME_DIR_A"), None);
        assert_eq!(of_family("MY_OWN"), None);
    }

    #[test]
    fn underscores_are_not_dots() {
        let is_known = |name: &str| name == "MAX_JOBS_RUNNING";
        assert_eq!(of_daemon("SCHEDD_MAX_JOBS_RUNNING", &is_known).as_deref(), Some("SCHEDD.MAX_JOBS_RUNNING"));
        assert_eq!(of_daemon("SITE_MAX_JOBS_RUNNING", &is_known), None);
        assert_eq!(of_slots("SLOT_TYPE_1.START").as_deref(), Some("SLOT_TYPE_1_START"));
        assert_eq!(of_slots("SLOT1.START").as_deref(), Some("SLOT_TYPE_1_START"));
        assert_eq!(of_slots("SCHEDD.START"), None);
        assert_eq!(of_slots("slot_type_1.BASE_CGROUP"), None);
        assert_eq!(of_slots("SLOT_TYPE_1.BACKFILL").as_deref(), Some("SLOT_TYPE_1_BACKFILL"));
        assert_eq!(of_slots("SLOT_TYPE_1.PARTITONABLE").as_deref(), Some("SLOT_TYPE_1_PARTITONABLE"));
    }
}
