//! A job of a workload: when it comes, what it asks for, and how long it runs.

use hashbrown::HashMap;
use serde::Serialize;

use super::{Fault, Header};
use crate::ad::ClassAd;
use crate::queue::job::JobId;

/// Faults that are kept with their texts; the others are only counted.
const KEPT: usize = 1000;

/// A job that comes.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its number.
    pub id: JobId,
    /// When it is submitted, epoch seconds.
    pub submit: i64,
    /// How long it runs, seconds, 0 or more.
    pub run_time: i64,
    /// Cores it asks for, 1 or more.
    pub cores: u32,
    /// The name its use is charged to, by its number in [`Workload::submitters`].
    pub submitter: usize,
    /// Seconds it asks for, if it says.
    pub asked_time: Option<i64>,
    /// Its ad, if it came with one.
    pub ad: Option<ClassAd>,
}

/// Jobs in the order in which they come, and what else the source said.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The jobs, by time of submission, then by number.
    pub arrivals: Vec<Arrival>,
    /// Names of submitters, in the order of first sight.
    pub submitters: Vec<Submitter>,
    /// What the header of a trace says.
    pub header: Header,
    /// What was not understood, the first of it.
    pub faults: Vec<Fault>,
    /// What was left out and why.
    pub counts: Counts,
    numbers: HashMap<Vec<u8>, usize>,
}

/// One to whom use is charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitter {
    /// The whole name, `group.user@domain`.
    pub name: Vec<u8>,
    /// The group by its name, for sums over groups; empty if there is none.
    pub group: Vec<u8>,
}

/// What a source held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lines or ads that should be jobs.
    pub records: u64,
    /// Those that were not understood.
    pub bad: u64,
    /// Jobs that were cancelled before they ran.
    pub cancelled: u64,
    /// Lines about parts of jobs that have a line of their own.
    pub partial: u64,
}

impl Workload {
    /// The number of a submitter, new if need be.
    pub fn submitter(&mut self, name: &[u8], group: &[u8]) -> usize {
        if let Some(&at) = self.numbers.get(name) {
            return at;
        }
        let at = self.submitters.len();
        self.submitters.push(Submitter { name: name.to_vec(), group: group.to_vec() });
        self.numbers.insert(name.to_vec(), at);
        at
    }

    /// Notes something that is no job.
    pub fn fault(&mut self, place: u64, message: impl Into<String>) {
        self.counts.bad += 1;
        if self.faults.len() < KEPT {
            self.faults.push(Fault { place, message: message.into() });
        }
    }

    /// Puts the jobs into the order in which they come.
    pub(super) fn sort(&mut self) {
        self.arrivals.sort_by_key(|job| (job.submit, job.id));
    }
}
