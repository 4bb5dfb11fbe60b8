//! A job of a workload: arrival, requested resources, and run time.

use std::sync::LazyLock;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::{Fault, Header, MAX_NUMBER};
use crate::pool::attribute::names_with;
use crate::queue::job::JobId;
use classmate::internal::ad::ClassAd;
use classmate::internal::name::Name;
use classmate::internal::random::SplitMix64;
use classmate::internal::value::Value;

static CLUSTER: LazyLock<Name> = LazyLock::new(|| Name::new("ClusterId"));
static PROCESS: LazyLock<Name> = LazyLock::new(|| Name::new("ProcId"));
static STATUS: LazyLock<Name> = LazyLock::new(|| Name::new("JobStatus"));
static SUBMITTED: LazyLock<Name> = LazyLock::new(|| Name::new("QDate"));
static CPU_TIME: LazyLock<Name> = LazyLock::new(|| Name::new("CPUTime"));
static DURATION: LazyLock<Name> = LazyLock::new(|| Name::new("AllowedJobDuration"));
static SINCE: LazyLock<Name> = LazyLock::new(|| Name::new("EnteredCurrentStatus"));

/// Faults that are kept with their texts; of the others only the places are.
const MAX_FAULTS: usize = 1000;

/// A job that comes.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its number.
    pub id: JobId,
    /// The number of its line in a trace, of its ad among job ads; from 1.
    pub place: u64,
    /// Submission time, epoch seconds.
    pub submit: i64,
    /// Run time, seconds, 0 or more.
    pub run_time: i64,
    /// Cores it requests, 1 or more.
    pub cores: u32,
    /// The name its use is charged to, by its number in [`Workload::submitters`].
    pub submitter: usize,
    /// Memory it requests in MB, 1 or more; 0 if unknown.
    pub memory: u32,
    /// Time it requests in seconds, if known.
    pub asked_time: Option<i64>,
    /// Its ad, if it came with one.
    pub ad: Option<Box<ClassAd>>,
}

/// Jobs in the order of their arrival, and the rest of the source.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The jobs, by time of submission, then by number.
    pub arrivals: Vec<Arrival>,
    /// Names of submitters, in the order of first sight.
    pub submitters: Vec<WorkloadSubmitter>,
    /// Header fields of a trace.
    pub header: Header,
    /// The first malformed parts.
    pub faults: Vec<Fault>,
    /// The places of the rest of it: first and last of each run.
    pub further: Vec<(u64, u64)>,
    /// Numbers of records left out, by reason.
    pub counts: Counts,
    numbers: HashMap<Vec<u8>, usize>,
}

/// One to whom use is charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadSubmitter {
    /// The whole name, `group.user@domain`.
    pub name: Vec<u8>,
    /// The group by its name, for sums over groups; empty if there is none.
    pub group: Vec<u8>,
}

/// Numbers of records in a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        self.submitters.push(WorkloadSubmitter { name: name.to_vec(), group: group.to_vec() });
        self.numbers.insert(name.to_vec(), at);
        at
    }

    /// Records a line or an ad that is not a job.
    pub fn fault(&mut self, place: u64, message: impl Into<String>) {
        self.counts.bad += 1;
        self.remark(place, message);
    }

    /// Records an error in the source outside of any job.
    pub fn remark(&mut self, place: u64, message: impl Into<String>) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault { place, message: message.into() });
            return;
        }
        match self.further.last_mut() {
            Some((_, last)) if *last == place || *last + 1 == place => *last = place,
            _ => self.further.push((place, place)),
        }
    }

    /// The ad of a job that waits since its arrival: its own, without attributes of earlier runs, or one made from a
    /// trace. Jobs are renumbered in the order of their arrival.
    pub fn job_ad(&self, job: usize) -> ClassAd {
        let arrival = &self.arrivals[job];
        let mut ad = match &arrival.ad {
            Some(ad) => {
                let mut ad = ClassAd::clone(ad);
                // History ads have attributes of earlier runs.
                for name in names_with("run") {
                    ad.remove(name);
                }
                ad.insert(*PROCESS, 0_i64);
                ad.insert(*STATUS, 1_i64);
                ad
            }
            None => self.request_ad(job),
        };
        self.insert_own(job, &mut ad);
        ad
    }

    /// The ad of a waiting job of a trace without what is its own: its number, its times, and the time it requests.
    pub(crate) fn request_ad(&self, job: usize) -> ClassAd {
        let arrival = &self.arrivals[job];
        let submitter = &self.submitters[arrival.submitter];
        let mut ad = ClassAd::new();
        let own = memchr::memrchr(b'@', &submitter.name).map_or(&submitter.name[..], |at| &submitter.name[..at]);
        let user = if submitter.group.is_empty() { own } else { &own[submitter.group.len() + 1..] };
        let domain = &submitter.name[own.len()..];
        ad.insert("User", Value::text([user, domain].concat()));
        ad.insert("Owner", Value::text(user));
        if !submitter.group.is_empty() {
            ad.insert("AccountingGroup", Value::text(own));
        }
        ad.insert("Requirements", true);
        ad.insert("RequestCpus", i64::from(arrival.cores));
        // What is not known is next to nothing, as for a job that was never measured.
        ad.insert("RequestMemory", i64::from(arrival.memory.max(1)));
        ad.insert("RequestDisk", 1_i64);
        ad.insert(*PROCESS, 0_i64);
        ad.insert(*STATUS, 1_i64);
        ad
    }

    /// Adds to the ad of a waiting job what is its own.
    pub(crate) fn insert_own(&self, job: usize, ad: &mut ClassAd) {
        let arrival = &self.arrivals[job];
        if arrival.ad.is_none() {
            ad.insert(*SUBMITTED, arrival.submit);
            if let Some(time) = arrival.asked_time {
                ad.insert(*CPU_TIME, time);
                ad.insert(*DURATION, time);
            }
        }
        ad.insert(*SINCE, arrival.submit);
        ad.insert(*CLUSTER, job as i64 + 1);
    }

    /// Returns whether the jobs came as ads: their places are those of ads, not of lines.
    pub fn of_ads(&self) -> bool {
        self.arrivals.iter().any(|job| job.ad.is_some())
    }

    /// The first ad of each submitter: who there is.
    pub fn first_ads(&self) -> Vec<ClassAd> {
        let mut seen = vec![false; self.submitters.len()];
        let first = |job: &usize| !std::mem::replace(&mut seen[self.arrivals[*job].submitter], true);
        let first: Vec<usize> = (0..self.arrivals.len()).filter(first).collect();
        first.into_iter().map(|job| self.job_ad(job)).collect()
    }

    /// The ads of all jobs that came with one, as they wait, each with its own number.
    pub fn own_ads(&self) -> Vec<ClassAd> {
        let own = |(at, job): (usize, &Arrival)| {
            job.ad.as_ref()?;
            let mut ad = self.job_ad(at);
            ad.insert("ClusterId", job.id.cluster);
            ad.insert("ProcId", job.id.process);
            Some(ad)
        };
        self.arrivals.iter().enumerate().filter_map(own).collect()
    }

    /// Moves each submission by a random number of seconds, at most this earlier or later, but not before the first one. Equal
    /// seeds give equal workloads.
    pub fn shake(&mut self, most: i64, seed: u64) {
        let first = self.arrivals.first().map_or(0, |job| job.submit);
        let mut generator = SplitMix64::new(seed);
        let most = most.clamp(0, MAX_NUMBER);
        for job in &mut self.arrivals {
            let moved = job.submit - most + generator.below(2 * most as u64 + 1) as i64;
            job.submit = moved.max(first);
            if let Some(ad) = job.ad.as_mut().filter(|ad| ad.get("QDate").is_some()) {
                ad.insert("QDate", job.submit);
            }
        }
        self.sort();
    }

    /// Puts the jobs into the order in which they come.
    pub(super) fn sort(&mut self) {
        self.arrivals.sort_by_key(|job| (job.submit, job.id));
    }
}

#[cfg(test)]
mod tests {
    use super::super::swf;

    #[test]
    fn shaken_jobs_are_the_same_jobs_near_their_times() {
        let line = |id: i64| format!("{id} {} -1 9 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n", 1000 + id * 60);
        let workload = swf::read(&mut (0..50).map(line).collect::<String>().as_bytes()).unwrap();
        let shaken = |seed| {
            let mut shaken = workload.clone();
            shaken.shake(300, seed);
            shaken.arrivals.iter().map(|job| (job.submit, job.id.cluster)).collect::<Vec<_>>()
        };
        let found = shaken(7);
        assert_eq!(found, shaken(7));
        assert_ne!(found, shaken(8));
        assert!(found.is_sorted_by_key(|(submit, _)| *submit) && found[0].0 >= 1000);
        let mut ids: Vec<i64> = found.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..50).collect::<Vec<_>>());
        assert!(found.iter().all(|(submit, id)| (submit - (1000 + id * 60)).abs() <= 300));
    }
}
