//! Attributes by what is known of them.

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
const KNOWN: u8 = 0;
/// It is in all slots or in all jobs (`docs/reference/knobs.md` 8): a condition need not expect its absence.
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
    ("concurrencylimits", KNOWN, None),
    ("condorplatform", TEXT, None),
    ("condorversion", TEXT, None),
    ("cpus", ALWAYS, None),
    ("cumulativesuspensiontime", ALWAYS, Some(Variety::History)),
    ("currentrank", KNOWN, None),
    ("currenttime", ALWAYS, None),
    ("dagmanowner", KNOWN, None),
    ("dagnodename", KNOWN, Some(Variety::Written)),
    ("disk", ALWAYS, None),
    ("enteredcurrentstatus", ALWAYS, Some(Variety::History)),
    ("env", KNOWN, Some(Variety::Written)),
    ("environment", KNOWN, Some(Variety::Written)),
    ("err", KNOWN, Some(Variety::Written)),
    // Every job begins with `false`.
    ("exitbysignal", ALWAYS, None),
    ("filesystemdomain", ALWAYS | TEXT, None),
    ("globaljobid", ALWAYS | TEXT, Some(Variety::Job)),
    ("in", KNOWN, Some(Variety::Written)),
    ("iwd", TEXT | OF_JOBS, Some(Variety::Written)),
    ("jobbatchname", TEXT, None),
    ("jobid", KNOWN, None),
    ("joblaststartdate", KNOWN, Some(Variety::History)),
    ("jobprio", ALWAYS | OF_JOBS, None),
    ("jobruncount", KNOWN, Some(Variety::History)),
    ("jobstartdate", KNOWN, Some(Variety::History)),
    ("jobstatus", ALWAYS | OF_JOBS, None),
    ("jobuniverse", ALWAYS | OF_JOBS, None),
    ("lastclaimedby", TEXT, None),
    ("lastmatchtime", KNOWN, Some(Variety::History)),
    ("lastrejmatchreason", KNOWN, Some(Variety::History)),
    ("lastrejmatchtime", KNOWN, Some(Variety::History)),
    ("lastremotehost", TEXT, None),
    ("lastremotepool", KNOWN, None),
    ("lastvacatetime", KNOWN, Some(Variety::History)),
    ("localjobsrunning", KNOWN, None),
    ("localowner", KNOWN, None),
    ("machine", ALWAYS | TEXT, None),
    ("matchedconcurrencylimits", KNOWN, None),
    ("memory", ALWAYS, None),
    ("mytype", ALWAYS | TEXT, None),
    ("name", ALWAYS | TEXT, None),
    ("negotiatorname", KNOWN, None),
    ("niceuser", ALWAYS | OF_JOBS, None),
    ("notifyuser", KNOWN, None),
    ("ntdomain", TEXT, None),
    ("numjobcompletions", ALWAYS, None),
    ("numjobmatches", KNOWN, Some(Variety::History)),
    ("numjobreconnects", KNOWN, Some(Variety::History)),
    ("numjobstarts", ALWAYS | OF_JOBS, Some(Variety::History)),
    ("numrestarts", ALWAYS, Some(Variety::History)),
    ("numshadowstarts", KNOWN, Some(Variety::History)),
    ("numsystemholds", ALWAYS, None),
    ("offline", KNOWN, None),
    ("opsys", ALWAYS | TEXT, None),
    ("opsysandver", TEXT, None),
    ("opsyslegacy", TEXT, None),
    ("opsyslongname", TEXT, None),
    ("opsysname", TEXT, None),
    ("opsysshortname", TEXT, None),
    ("osuser", TEXT, None),
    ("out", KNOWN, Some(Variety::Written)),
    ("owner", ALWAYS | TEXT | OF_JOBS, None),
    ("preemptingaccountinggroup", TEXT, None),
    ("preemptingconcurrencylimits", KNOWN, None),
    ("preemptingowner", TEXT, None),
    ("preemptinguser", TEXT, None),
    ("preemptstate", KNOWN, None),
    ("procid", ALWAYS | OF_JOBS, Some(Variety::Process)),
    ("publicclaimid", KNOWN, None),
    ("qdate", ALWAYS | OF_JOBS, Some(Variety::Second)),
    ("remoteautoregroup", KNOWN, None),
    ("remotegroup", TEXT, None),
    ("remotehost", TEXT, None),
    ("remotenegotiatinggroup", TEXT, None),
    ("remoteowner", TEXT, None),
    ("remotepool", KNOWN, None),
    ("remotescheddname", TEXT, None),
    ("remoteslotid", KNOWN, None),
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
    ("shadowbday", KNOWN, Some(Variety::History)),
    ("slotid", ALWAYS, None),
    ("slottype", TEXT, None),
    ("startdname", TEXT, None),
    ("state", ALWAYS | TEXT, None),
    ("submitterautoregroup", KNOWN, None),
    ("submittergroup", TEXT, None),
    ("submitternegotiatinggroup", TEXT, None),
    ("submitteruser", TEXT, None),
    ("submitteruserprio", KNOWN, None),
    ("targettype", TEXT, None),
    ("totalsuspensions", ALWAYS, None),
    ("transferin", KNOWN, Some(Variety::Written)),
    ("transferinput", KNOWN, Some(Variety::Written)),
    ("transferoutput", KNOWN, Some(Variety::Written)),
    ("uiddomain", ALWAYS | TEXT, None),
    ("user", ALWAYS | TEXT | OF_JOBS, None),
    ("userlog", KNOWN, Some(Variety::Written)),
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
const NAMED: &[(&str, &[&str])] = &[
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

/// The properties of an attribute (lower case), and how it differs from job to job.
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
pub(super) enum Witness {
    /// The other is there when this one is this number.
    Is(i32),
    /// It is true.
    True,
    /// It is false.
    False,
    /// It exists.
    There,
}

/// Attributes of jobs that are there when another one says so.
const ALONG: &[(&str, &str, Witness)] = &[
    ("holdreason", "JobStatus", Witness::Is(5)),
    ("holdreasoncode", "JobStatus", Witness::Is(5)),
    ("holdreasonsubcode", "JobStatus", Witness::Is(5)),
    ("holdreason", "HoldReasonCode", Witness::There),
    ("holdreasonsubcode", "HoldReasonCode", Witness::There),
    ("holdreasoncode", "HoldReasonSubCode", Witness::There),
    ("exitcode", "ExitBySignal", Witness::False),
    ("exitsignal", "ExitBySignal", Witness::True),
];

/// The attributes, with their conditions, that imply an attribute (lower case) exists.
pub(super) fn witnesses(name: &[u8]) -> impl Iterator<Item = (&'static str, Witness)> {
    let of = ALONG.iter().filter(move |(along, ..)| along.as_bytes() == name);
    of.map(|(_, attribute, witness)| (*attribute, *witness))
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
    NAMED.iter().any(|(name, words)| name.as_bytes() == attribute && listed(words, word))
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
