//! Attributes by what is known of them.

/// Attributes of slots and jobs that are always there (`docs/reference/knobs.md` 8): a condition need not expect their
/// absence.
const ALWAYS: &[&str] = &[
    "activity",
    "arch",
    "clusterid",
    "committedtime",
    "completiondate",
    "cpus",
    "cumulativesuspensiontime",
    "disk",
    "enteredcurrentstatus",
    // Every job begins with `false`.
    "exitbysignal",
    "filesystemdomain",
    "globaljobid",
    "jobprio",
    "jobstatus",
    "jobuniverse",
    "machine",
    "memory",
    "mytype",
    "name",
    "numjobcompletions",
    "numjobstarts",
    "numrestarts",
    "numsystemholds",
    "opsys",
    "owner",
    "procid",
    "remotesyscpu",
    "remoteusercpu",
    "remotewallclocktime",
    "requestcpus",
    "requestdisk",
    "requestmemory",
    "requirements",
    "slotid",
    "state",
    "totalsuspensions",
    "uiddomain",
    "user",
    "qdate",
    "niceuser",
    "currenttime",
];

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

/// Attributes that differ from job to job, or change while a job waits.
const PER_JOB: &[(&str, Variety)] = &[
    ("args", Variety::Written),
    ("arguments", Variety::Written),
    ("clusterid", Variety::Submission),
    ("cmd", Variety::Written),
    ("committedtime", Variety::History),
    ("cumulativesuspensiontime", Variety::History),
    ("dagnodename", Variety::Written),
    ("enteredcurrentstatus", Variety::History),
    ("env", Variety::Written),
    ("environment", Variety::Written),
    ("err", Variety::Written),
    ("globaljobid", Variety::Job),
    ("in", Variety::Written),
    ("iwd", Variety::Written),
    ("joblaststartdate", Variety::History),
    ("jobruncount", Variety::History),
    ("jobstartdate", Variety::History),
    ("lastmatchtime", Variety::History),
    ("lastrejmatchreason", Variety::History),
    ("lastrejmatchtime", Variety::History),
    ("lastvacatetime", Variety::History),
    ("numjobmatches", Variety::History),
    ("numjobstarts", Variety::History),
    ("numjobreconnects", Variety::History),
    ("numrestarts", Variety::History),
    ("numshadowstarts", Variety::History),
    ("out", Variety::Written),
    ("procid", Variety::Process),
    ("qdate", Variety::Second),
    ("remotewallclocktime", Variety::History),
    ("shadowbday", Variety::History),
    ("transferin", Variety::Written),
    ("transferinput", Variety::Written),
    ("transferoutput", Variety::Written),
    ("userlog", Variety::Written),
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

/// Attributes that daemons add to ads or take away again, beside those above.
const COMING_AND_GOING: &[&str] = &[
    "accountinggroup",
    "acctgroup",
    "acctgroupuser",
    "clientmachine",
    "concurrencylimits",
    "currentrank",
    "currenttime",
    "dagmanowner",
    "jobid",
    "lastclaimedby",
    "lastremotehost",
    "lastremotepool",
    "localjobsrunning",
    "localowner",
    "matchedconcurrencylimits",
    "negotiatorname",
    "notifyuser",
    "offline",
    "preemptingaccountinggroup",
    "preemptingconcurrencylimits",
    "preemptingowner",
    "preemptinguser",
    "preemptstate",
    "publicclaimid",
    "remoteautoregroup",
    "remotegroup",
    "remotehost",
    "remotenegotiatinggroup",
    "remoteowner",
    "remotepool",
    "remotescheddname",
    "remoteslotid",
    "remoteuser",
    "scheddname",
    "startdname",
    "submitterautoregroup",
    "submittergroup",
    "submitternegotiatinggroup",
    "submitteruser",
    "submitteruserprio",
];

/// Attributes that are texts wherever they are.
const TEXTS: &[&str] = &[
    "accountinggroup",
    "acctgroup",
    "acctgroupuser",
    "activity",
    "arch",
    "checkpointplatform",
    "clientmachine",
    "cmd",
    "condorplatform",
    "condorversion",
    "filesystemdomain",
    "globaljobid",
    "iwd",
    "jobbatchname",
    "lastclaimedby",
    "lastremotehost",
    "machine",
    "mytype",
    "name",
    "ntdomain",
    "opsys",
    "opsysandver",
    "opsyslegacy",
    "opsyslongname",
    "opsysname",
    "opsysshortname",
    "osuser",
    "owner",
    "preemptingaccountinggroup",
    "preemptingowner",
    "preemptinguser",
    "remotegroup",
    "remotehost",
    "remotenegotiatinggroup",
    "remoteowner",
    "remotescheddname",
    "remoteuser",
    "scheddname",
    "slottype",
    "startdname",
    "state",
    "submittergroup",
    "submitternegotiatinggroup",
    "submitteruser",
    "targettype",
    "uiddomain",
    "user",
    "utsnamemachine",
    "utsnamenodename",
    "utsnamerelease",
    "utsnamesysname",
    "x509userproxyemail",
    "x509userproxyfirstfqan",
    "x509userproxysubject",
    "x509userproxyvoname",
];

/// Attributes that jobs have and slots have not, unless the configuration copies them.
const OF_JOBS: &[&str] = &[
    "acctgroup",
    "acctgroupuser",
    "args",
    "arguments",
    "clusterid",
    "cmd",
    "iwd",
    "jobprio",
    "jobstatus",
    "jobuniverse",
    "niceuser",
    "numjobstarts",
    "owner",
    "procid",
    "qdate",
    "requestcpus",
    "requestdisk",
    "requestgpus",
    "requestmemory",
    "user",
];

/// Returns true if an attribute (lower case) is a text wherever it is.
pub(super) fn is_text(name: &[u8]) -> bool {
    listed(TEXTS, name)
}

/// Returns true if an attribute (lower case) is one of jobs that slots have not by themselves.
pub(super) fn is_of_jobs(name: &[u8]) -> bool {
    listed(OF_JOBS, name)
}

/// Returns true if an attribute (lower case) is one that HTCondor knows, whatever the ads have.
pub(super) fn is_known(name: &[u8]) -> bool {
    [ALWAYS, OF_GROUP, COMING_AND_GOING, TEXTS, OF_JOBS].iter().any(|list| listed(list, name))
        || is_per_job(name)
        || NAMED.iter().any(|(attribute, _)| attribute.as_bytes() == name)
        || is_numbered(name)
}

/// Returns true for the numbered attributes that past matches leave in a job: `LastMatchName0`, `MachineAttrCpus1`.
fn is_numbered(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let stem = &name[..name.len() - digits];
    digits > 0 && (stem == b"lastmatchname" || stem.len() > b"machineattr".len() && stem.starts_with(b"machineattr"))
}

/// Returns true if an attribute (lower case) is always there.
pub(super) fn is_always_there(name: &[u8]) -> bool {
    listed(ALWAYS, name)
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
    PER_JOB.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, variety)| *variety)
}

/// Returns true if a word (lower case) is a value of an attribute whose values are names.
pub(super) fn is_value_of(attribute: &[u8], word: &[u8]) -> bool {
    NAMED.iter().any(|(name, words)| name.as_bytes() == attribute && listed(words, word))
}
