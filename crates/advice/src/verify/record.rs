//! A cycle as its negotiator recorded it.
//!
//! Plain data, in the order in which it was logged. What a log leaves out is absent.

/// A cycle of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CycleRecord {
    /// The line that starts it, from 1; 0 if none does.
    pub line: u64,
    /// The time at which it started, epoch seconds; `None` if lines have no time.
    pub started: Option<i64>,
    /// True if it has ended.
    pub finished: bool,
    /// True if it is the first cycle of a negotiator that was started just before.
    pub restarted: bool,
    /// Its matches.
    pub matches: Vec<RecordedMatch>,
    /// Its rejections.
    pub rejections: Vec<RecordedRejection>,
    /// Its visits to submitters; empty if the log does not have them.
    pub visits: Vec<RecordedVisit>,
    /// Its pies; empty if the log does not have them.
    pub pies: Vec<RecordedPie>,
}

impl CycleRecord {
    /// The time of the first decision, epoch seconds.
    pub fn first_decision(&self) -> Option<i64> {
        let made = self.matches.first().and_then(|made| made.time);
        let rejected = self.rejections.first().and_then(|rejected| rejected.time);
        made.into_iter().chain(rejected).min()
    }

    /// The time of the last decision, epoch seconds.
    pub fn last_decision(&self) -> Option<i64> {
        let made = self.matches.last().and_then(|made| made.time);
        made.max(self.rejections.last().and_then(|rejected| rejected.time))
    }

    /// True if nothing was decided in it.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty() && self.rejections.is_empty()
    }
}

/// A match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedMatch {
    /// Its line, from 1.
    pub line: u64,
    /// Its time, epoch seconds.
    pub time: Option<i64>,
    /// The cluster of the request.
    pub cluster: i64,
    /// The number in the cluster of the first job of the request.
    pub process: i64,
    /// The submitter.
    pub submitter: String,
    /// The slot.
    pub slot: String,
    /// True if a job is preempted.
    pub displaces: bool,
    /// The pie spin, from 1; 0 if unknown.
    pub spin: u32,
}

/// A rejection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedRejection {
    /// Its line, from 1.
    pub line: u64,
    /// Its time, epoch seconds.
    pub time: Option<i64>,
    /// The cluster of the request.
    pub cluster: i64,
    /// The submitter.
    pub submitter: String,
    /// The reason.
    pub reason: String,
}

/// A visit to a submitter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedVisit {
    /// Its line, from 1.
    pub line: u64,
    /// The submitter.
    pub submitter: String,
    /// The address of the access point.
    pub access_point: String,
    /// The effective priority of the submitter.
    pub priority: Option<f64>,
    /// Its priority factor.
    pub factor: Option<f64>,
    /// Its submitter limit.
    pub limit: Option<f64>,
}

/// The size of the pie at the start of a spin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RecordedPie {
    /// Its line, from 1.
    pub line: u64,
    /// Weighted slots left.
    pub left: f64,
}
