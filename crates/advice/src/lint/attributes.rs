//! Properties of HTCondor's attributes that lint relies on: type, presence, variation among jobs.

/// The way in which an attribute differs among jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variety {
    /// Each job has its own.
    Job,
    /// It counts the jobs of one submission.
    Process,
    /// Each submission has its own.
    Submission,
    /// It is the second of the submission.
    Second,
    /// It is what a user wrote for the job, often a text of its own.
    Written,
    /// It records the history of the job.
    History,
}

/// Nothing but its name is known of an attribute: daemons add it to ads and take it away again.
const NO_PROPERTY: u8 = 0;
/// In all slots, or in all jobs (`docs/reference/knobs.md` 8): a condition need not handle its absence.
pub(super) const ALWAYS: u8 = 1;
/// It is a string wherever it is.
pub(super) const TEXT: u8 = 2;
/// Jobs have it, and slots do not unless the configuration copies it.
pub(super) const OF_JOBS: u8 = 4;

/// Attributes, lower case: their properties, and how they differ from job to job or change while a job waits.
const ATTRIBUTES: &[(&str, u8, Option<Variety>)] = &[
    ("accountinggroup", TEXT, None),
    ("acctgroup", TEXT | OF_JOBS, None),
    ("acctgroupuser", TEXT | OF_JOBS, None),
    ("activity", ALWAYS | TEXT, None),
    ("arch", ALWAYS | TEXT, None),
    ("args", OF_JOBS, Some(Variety::Written)),
    ("arguments", OF_JOBS, Some(Variety::Written)),
    ("checkpointplatform", TEXT, None),
    ("clientmachine", TEXT, None),
    ("clusterid", ALWAYS | OF_JOBS, Some(Variety::Submission)),
    ("cmd", TEXT | OF_JOBS, Some(Variety::Written)),
    ("committedtime", ALWAYS, Some(Variety::History)),
    ("completiondate", ALWAYS, None),
    ("concurrencylimits", NO_PROPERTY, None),
    ("condorplatform", TEXT, None),
    ("condorversion", TEXT, None),
    ("cpus", ALWAYS, None),
    ("cumulativesuspensiontime", ALWAYS, Some(Variety::History)),
    ("currentrank", NO_PROPERTY, None),
    ("currenttime", ALWAYS, None),
    ("dagmanowner", NO_PROPERTY, None),
    ("dagnodename", NO_PROPERTY, Some(Variety::Written)),
    ("disk", ALWAYS, None),
    ("enteredcurrentstatus", ALWAYS, Some(Variety::History)),
    ("env", NO_PROPERTY, Some(Variety::Written)),
    ("environment", NO_PROPERTY, Some(Variety::Written)),
    ("err", NO_PROPERTY, Some(Variety::Written)),
    // Every job begins with `false`.
    ("exitbysignal", ALWAYS, None),
    ("filesystemdomain", ALWAYS | TEXT, None),
    ("globaljobid", ALWAYS | TEXT, Some(Variety::Job)),
    ("in", NO_PROPERTY, Some(Variety::Written)),
    ("iwd", TEXT | OF_JOBS, Some(Variety::Written)),
    ("jobbatchname", TEXT, None),
    ("jobid", NO_PROPERTY, None),
    ("joblaststartdate", NO_PROPERTY, Some(Variety::History)),
    ("jobprio", ALWAYS | OF_JOBS, None),
    ("jobruncount", NO_PROPERTY, Some(Variety::History)),
    ("jobstartdate", NO_PROPERTY, Some(Variety::History)),
    ("jobstatus", ALWAYS | OF_JOBS, None),
    ("jobuniverse", ALWAYS | OF_JOBS, None),
    ("lastclaimedby", TEXT, None),
    ("lastmatchtime", NO_PROPERTY, Some(Variety::History)),
    ("lastrejmatchreason", NO_PROPERTY, Some(Variety::History)),
    ("lastrejmatchtime", NO_PROPERTY, Some(Variety::History)),
    ("lastremotehost", TEXT, None),
    ("lastremotepool", NO_PROPERTY, None),
    ("lastvacatetime", NO_PROPERTY, Some(Variety::History)),
    ("localjobsrunning", NO_PROPERTY, None),
    ("localowner", NO_PROPERTY, None),
    ("machine", ALWAYS | TEXT, None),
    ("matchedconcurrencylimits", NO_PROPERTY, None),
    ("memory", ALWAYS, None),
    ("mytype", ALWAYS | TEXT, None),
    ("name", ALWAYS | TEXT, None),
    ("negotiatorname", NO_PROPERTY, None),
    ("niceuser", ALWAYS | OF_JOBS, None),
    ("notifyuser", NO_PROPERTY, None),
    ("ntdomain", TEXT, None),
    ("numjobcompletions", ALWAYS, None),
    ("numjobmatches", NO_PROPERTY, Some(Variety::History)),
    ("numjobreconnects", NO_PROPERTY, Some(Variety::History)),
    ("numjobstarts", ALWAYS | OF_JOBS, Some(Variety::History)),
    ("numrestarts", ALWAYS, Some(Variety::History)),
    ("numshadowstarts", NO_PROPERTY, Some(Variety::History)),
    ("numsystemholds", ALWAYS, None),
    ("offline", NO_PROPERTY, None),
    ("opsys", ALWAYS | TEXT, None),
    ("opsysandver", TEXT, None),
    ("opsyslegacy", TEXT, None),
    ("opsyslongname", TEXT, None),
    ("opsysname", TEXT, None),
    ("opsysshortname", TEXT, None),
    ("osuser", TEXT, None),
    ("out", NO_PROPERTY, Some(Variety::Written)),
    ("owner", ALWAYS | TEXT | OF_JOBS, None),
    ("preemptingaccountinggroup", TEXT, None),
    ("preemptingconcurrencylimits", NO_PROPERTY, None),
    ("preemptingowner", TEXT, None),
    ("preemptinguser", TEXT, None),
    ("preemptstate", NO_PROPERTY, None),
    ("procid", ALWAYS | OF_JOBS, Some(Variety::Process)),
    ("publicclaimid", NO_PROPERTY, None),
    ("qdate", ALWAYS | OF_JOBS, Some(Variety::Second)),
    ("remoteautoregroup", NO_PROPERTY, None),
    ("remotegroup", TEXT, None),
    ("remotehost", TEXT, None),
    ("remotenegotiatinggroup", TEXT, None),
    ("remoteowner", TEXT, None),
    ("remotepool", NO_PROPERTY, None),
    ("remotescheddname", TEXT, None),
    ("remoteslotid", NO_PROPERTY, None),
    ("remotesyscpu", ALWAYS, None),
    ("remoteuser", TEXT, None),
    ("remoteusercpu", ALWAYS, None),
    ("remotewallclocktime", ALWAYS, Some(Variety::History)),
    ("requestcpus", ALWAYS | OF_JOBS, None),
    ("requestdisk", ALWAYS | OF_JOBS, None),
    ("requestgpus", OF_JOBS, None),
    ("requestmemory", ALWAYS | OF_JOBS, None),
    ("requirements", ALWAYS, None),
    ("scheddname", TEXT, None),
    ("shadowbday", NO_PROPERTY, Some(Variety::History)),
    ("slotid", ALWAYS, None),
    ("slottype", TEXT, None),
    ("startdname", TEXT, None),
    ("state", ALWAYS | TEXT, None),
    ("submitterautoregroup", NO_PROPERTY, None),
    ("submittergroup", TEXT, None),
    ("submitternegotiatinggroup", TEXT, None),
    ("submitteruser", TEXT, None),
    ("submitteruserprio", NO_PROPERTY, None),
    ("targettype", TEXT, None),
    ("totalsuspensions", ALWAYS, None),
    ("transferin", NO_PROPERTY, Some(Variety::Written)),
    ("transferinput", NO_PROPERTY, Some(Variety::Written)),
    ("transferoutput", NO_PROPERTY, Some(Variety::Written)),
    ("uiddomain", ALWAYS | TEXT, None),
    ("user", ALWAYS | TEXT | OF_JOBS, None),
    ("userlog", NO_PROPERTY, Some(Variety::Written)),
    ("utsnamemachine", TEXT, None),
    ("utsnamenodename", TEXT, None),
    ("utsnamerelease", TEXT, None),
    ("utsnamesysname", TEXT, None),
    ("x509userproxyemail", TEXT, None),
    ("x509userproxyfirstfqan", TEXT, None),
    ("x509userproxysubject", TEXT, None),
    ("x509userproxyvoname", TEXT, None),
];

/// Attributes whose values are names of a fixed list, and those values.
const ENUMERATED: &[(&str, &[&str])] = &[
    ("arch", &["x86_64", "intel", "aarch64", "ppc64le", "ppc64", "arm64"]),
    ("opsys", &["linux", "windows", "osx", "macos", "freebsd"]),
    ("opsysname", &["centos", "debian", "ubuntu", "fedora", "almalinux", "rocky", "redhat", "sl", "macos"]),
    ("opsysshortname", &["centos", "debian", "ubuntu", "fedora", "almalinux", "rocky", "redhat", "sl", "macos"]),
    (
        "opsysandver",
        &[
            "centos7",
            "centos8",
            "debian12",
            "debian11",
            "ubuntu22",
            "ubuntu24",
            "almalinux9",
            "almalinux8",
            "rocky8",
            "rocky9",
        ],
    ),
    ("state", &["unclaimed", "claimed", "matched", "preempting", "backfill", "drained"]),
    ("activity", &["idle", "busy", "suspended", "vacating", "killing", "benchmarking", "retiring"]),
    ("slottype", &["static", "dynamic", "partitionable"]),
    ("mytype", &["machine", "job", "submitter", "scheduler", "negotiator"]),
    ("targettype", &["machine", "job"]),
];

/// The attributes of a group that `GROUP_SORT_EXPR` can refer to.
pub(super) const OF_GROUP: &[&str] =
    &["accountinggroup", "groupquota", "groupresourcesallocated", "groupresourcesinuse", "sortexpr", "sortexprstring"];

fn listed(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes() == name)
}

/// The properties of an attribute (lower case), and how it differs from job to job, or changes while a job waits.
fn attribute(name: &[u8]) -> Option<(u8, Option<Variety>)> {
    let at = ATTRIBUTES.binary_search_by_key(&name, |(known, ..)| known.as_bytes()).ok()?;
    Some((ATTRIBUTES[at].1, ATTRIBUTES[at].2))
}

/// Returns true if an attribute (lower case) has a property, such as [`TEXT`].
pub(super) fn has(name: &[u8], property: u8) -> bool {
    attribute(name).is_some_and(|(properties, _)| properties & property != 0)
}

/// Returns true if an attribute (lower case) is one that HTCondor knows, whatever the ads have.
pub(super) fn is_known(name: &[u8]) -> bool {
    attribute(name).is_some() || listed(OF_GROUP, name) || is_numbered(name)
}

/// Returns true for the numbered attributes that past matches leave in a job: `LastMatchName0`, `MachineAttrCpus1`.
fn is_numbered(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &name[..name.len() - digits];
    digits > 0 && (stem == b"lastmatchname" || stem.len() > b"machineattr".len() && stem.starts_with(b"machineattr"))
}

/// The condition on one attribute that implies another one exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PresenceCondition {
    /// It is this number.
    Is(i32),
    /// It is true.
    True,
    /// It is false.
    False,
    /// It exists.
    Defined,
}

/// Attributes of jobs that exist if a condition on another one holds.
const IMPLIED_BY: &[(&str, &str, PresenceCondition)] = &[
    ("holdreason", "JobStatus", PresenceCondition::Is(5)),
    ("holdreasoncode", "JobStatus", PresenceCondition::Is(5)),
    ("holdreasonsubcode", "JobStatus", PresenceCondition::Is(5)),
    ("holdreason", "HoldReasonCode", PresenceCondition::Defined),
    ("holdreasonsubcode", "HoldReasonCode", PresenceCondition::Defined),
    ("holdreasoncode", "HoldReasonSubCode", PresenceCondition::Defined),
    ("exitcode", "ExitBySignal", PresenceCondition::False),
    ("exitsignal", "ExitBySignal", PresenceCondition::True),
];

/// The attributes, with their conditions, that imply an attribute (lower case) exists.
pub(super) fn presence_conditions(name: &[u8]) -> impl Iterator<Item = (&'static str, PresenceCondition)> {
    let of = IMPLIED_BY.iter().filter(move |(implied, ..)| implied.as_bytes() == name);
    of.map(|(_, attribute, condition)| (*attribute, *condition))
}

/// Returns true if an attribute (lower case) differs from job to job.
pub fn is_per_job(name: &[u8]) -> bool {
    variety(name).is_some()
}

/// The way in which an attribute (lower case) differs from job to job; `None` if it usually does not.
pub(super) fn variety(name: &[u8]) -> Option<Variety> {
    attribute(name)?.1
}

/// Returns true if a word (lower case) is a value of an attribute whose values are names.
pub(super) fn is_value_of(attribute: &[u8], word: &[u8]) -> bool {
    ENUMERATED.iter().any(|(name, words)| name.as_bytes() == attribute && listed(words, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sorted_for_the_search() {
        assert!(ATTRIBUTES.is_sorted_by(|one, two| one.0 < two.0));
        assert!(has(b"clusterid", ALWAYS) && has(b"clusterid", OF_JOBS) && !has(b"clusterid", TEXT));
    }
}
