//! Results of a simulation. Plain data; the names of its fields are those of `--format json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contention::ContendedShare;
use super::spread::Spread;
use crate::workload::Fault;
use crate::workload::arrival::Counts;

/// Input, settings and results of a run: it can be kept and compared with others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulationRun {
    /// The file of the workload.
    pub workload: String,
    /// The name of the policy.
    pub policy: String,
    /// Seconds from one cycle to the next.
    pub interval: i64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Program, command and files that made this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Malformed parts of the workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The places of the rest of it, if there is much: first and last of each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_faults: Vec<(u64, u64)>,
    /// The results.
    #[serde(flatten)]
    pub simulated: SimulationResult,
}

/// Program, command and files that made a result: the same again makes the same result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program, with the commit if it is known.
    pub version: String,
    /// Arguments of the command.
    pub command: Vec<String>,
    /// Files that were read, in this order.
    pub files: Vec<FileSum>,
}

/// A file and its checksum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Its path.
    pub path: String,
    /// SHA-256 of its bytes as they are on disk.
    pub sha256: String,
}

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SimulationResult {
    /// Submission time of the first job, epoch seconds.
    pub start: i64,
    /// The last event, or when the simulation was stopped.
    pub end: i64,
    /// Cores of the machines.
    pub cores: f64,
    /// Cycles that were run; those that could not have started a job are left out.
    pub cycles: u64,
    /// Numbers of jobs by result.
    pub jobs: JobCounts,
    /// Matches rejected by the machine because the slot had less than the job requested.
    #[serde(default)]
    pub refused: u64,
    /// The jobs that request more cores than there are.
    #[serde(default, rename = "too_large_jobs")]
    pub too_large: Vec<TooLarge>,
    /// The jobs that never started.
    #[serde(default, rename = "never_started_jobs")]
    pub never_started: Vec<NeverStarted>,
    /// The reason for which the simulation was stopped, if it was.
    #[serde(default)]
    pub stopped: Option<String>,
    /// Core-seconds in use out of all there were, 0 to 1.
    pub utilisation: f64,
    /// Jain's index over the core-seconds of the submitters with jobs that could run.
    pub jain: f64,
    /// Time in which jobs waited that no cycle could start, as a fraction of the simulated time.
    #[serde(default)]
    pub contended: Option<f64>,
    /// Fraction of the pool that submitters with waiting jobs lacked to their entitled shares, its mean over the contended
    /// time; none without contention.
    #[serde(default)]
    pub distance: Option<f64>,
    /// Gini's coefficient of the submitters' mean bounded slowdowns: 0 if all are slowed down alike.
    #[serde(default)]
    pub gini: Option<f64>,
    /// All submitters together.
    pub all: EntityRow,
    /// Each submitter, by name.
    pub submitters: Vec<EntityRow>,
    /// Each group, by name.
    pub groups: Vec<EntityRow>,
    /// Histogram of the waiting times of jobs that started.
    pub waits: Vec<WaitBin>,
    /// Length of the steps below, seconds.
    pub step: i64,
    /// Steps of time in which anything ran or waited.
    pub over_time: Vec<TimeStep>,
}

/// Numbers of jobs of a workload: each record is in one of the counts from `bad` to `waiting`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// Records of the source.
    #[serde(flatten)]
    pub source: Counts,
    /// Jobs that request more cores than there are.
    pub too_large: u64,
    /// Jobs that come after the end.
    pub yet_to_come: u64,
    /// Jobs that ran to their ends.
    pub completed: u64,
    /// Jobs that run at the end.
    pub running: u64,
    /// Jobs that wait at the end.
    pub waiting: u64,
    /// Those of them that never started.
    pub never_started: u64,
}

/// A job that requests more cores than there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLarge {
    /// Its number.
    pub job: String,
    /// The number of its line in a trace, of its ad among job ads.
    pub place: u64,
    /// Requested cores.
    pub cores: u32,
}

/// A job that came and never started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverStarted {
    /// Its number.
    pub job: String,
    /// The number of its line in a trace, of its ad among job ads.
    pub place: u64,
    /// Its submitter.
    pub submitter: String,
    /// The reason, for the first of them.
    pub reason: Option<String>,
}

/// Results of a submitter, a group or all submitters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EntityRow {
    /// Its name.
    pub name: String,
    /// Jobs that came.
    pub jobs: u64,
    /// Jobs that ran to their ends.
    pub completed: u64,
    /// Jobs that request more cores than there are.
    pub too_large: u64,
    /// Seconds from submission to the first start, of the jobs that started.
    pub wait: Spread,
    /// The waits that 0, 5, 10, … 100 % of these jobs did not exceed, seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wait_quantiles: Vec<f64>,
    /// The longest wait, seconds; that of jobs that never started too.
    pub longest_wait: i64,
    /// Bounded slowdown of the jobs that ended: the time from submission to end by the run time, that taken as 10 s at
    /// least; 1 or more.
    pub slowdown: Spread,
    /// Core-seconds in use, lost work included.
    pub core_seconds: f64,
    /// That as a fraction of all usage.
    pub share: f64,
    /// Its entitled share while it had jobs queued, the mean over the cycles; for a group, that of its members with
    /// queued jobs. None without queued jobs.
    pub due: Option<f64>,
    /// Usage and entitled share while it had waiting jobs under contention.
    #[serde(default)]
    pub contended: Option<ContendedShare>,
    /// Runs that were cut short.
    pub preemptions: u64,
    /// Core-seconds that were lost with them.
    pub lost: f64,
}

/// The jobs whose waits are in one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitBin {
    /// The longest wait of the class, seconds; none in the last one, which has no end.
    pub up_to: Option<i64>,
    /// Number of jobs.
    pub jobs: u64,
}

/// A step of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeStep {
    /// Start time, epoch seconds.
    pub start: i64,
    /// Core-seconds in use out of all there were, 0 to 1.
    pub utilisation: f64,
    /// Jobs that wait, the mean over the step.
    pub waiting: f64,
    /// Each submitter's fraction of what was in use.
    pub shares: BTreeMap<String, f64>,
    /// Entitled share of each submitter with queued jobs, the mean over the cycles of the step.
    pub due: BTreeMap<String, f64>,
    /// The same by groups, if there are several: fractions of what was in use.
    pub group_shares: BTreeMap<String, f64>,
    /// Entitled share of each group whose members had queued jobs.
    pub group_due: BTreeMap<String, f64>,
}
