//! The numbers that an access point gives to autoclusters.
//!
//! In: the jobs of a queue. Out: the number of each autocluster at each access point. They only matter with
//! `NEGOTIATE_ALL_JOBS_IN_CLUSTER` (`docs/reference/negotiation.md` 8.4).

use hashbrown::{HashMap, HashSet};

use crate::OrderedMap;
use crate::pool::ad_reader::AdReader;
use crate::queue::hash_table::HashTable;
use crate::queue::job::Job;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;

/// The numbers of autoclusters, by access point.
#[derive(Debug, Clone, Default)]
pub struct AutoclusterNumbers(HashMap<(Box<[u8]>, u32), usize>);

impl AutoclusterNumbers {
    /// Numbers the autoclusters of the jobs of all access points; `autocluster` gives that of a job.
    ///
    /// A job that has been in a negotiation before has the number in its `AutoClusterId`. The others get the next
    /// numbers in the order of the table, as far as it follows from the jobs in the queue: those that left it are not
    /// known.
    pub fn new<'j>(
        jobs: &'j [Job<'_>],
        mut autocluster: impl FnMut(&'j ClassAd) -> u32,
        settings: &EvalOptions,
    ) -> Self {
        let mut places: OrderedMap<&[u8], Vec<&Job<'_>>> = OrderedMap::default();
        for job in jobs {
            places.entry(schedd(job)).or_default().push(job);
        }
        let mut numbers = HashMap::new();
        for (schedd, mut jobs) in places {
            jobs.sort_by_key(|job| job.id);
            let mut last = 0;
            for job in &jobs {
                if let Some(number) = AdReader::of(&job.ad, settings).integer("AutoClusterId").filter(|id| *id > 0) {
                    numbers.insert((schedd.into(), autocluster(&job.ad)), number as usize);
                    last = last.max(number as usize);
                }
            }
            for at in order(&jobs, settings) {
                numbers.entry((schedd.into(), autocluster(&jobs[at].ad))).or_insert_with(|| {
                    last += 1;
                    last
                });
            }
        }
        Self(numbers)
    }

    /// The number of an autocluster at the access point of a job.
    pub fn of(&self, job: &Job<'_>, autocluster: u32) -> Option<usize> {
        self.0.get(&(schedd(job).into(), autocluster)).copied()
    }
}

/// The name of a job's access point; empty if unknown.
fn schedd<'j>(job: &'j Job<'_>) -> &'j [u8] {
    job.schedd.as_deref().unwrap_or_default()
}

/// The indexes of jobs, which are sorted by number, in the order of the access point's table of ads. It holds a header, an
/// ad of each user, and two ads of each cluster before its jobs.
fn order(jobs: &[&Job<'_>], settings: &EvalOptions) -> Vec<usize> {
    // As a 32-bit integer that is extended.
    let hash =
        |cluster: i64, process: i64| i64::from((cluster as i32).wrapping_mul(1013).wrapping_add(process as i32)) as u64;
    let (mut table, mut inserted) = (HashTable::default(), vec![None]);
    table.insert(hash(0, 0));
    let mut users = HashSet::new();
    let mut cluster = None;
    for (at, job) in jobs.iter().enumerate() {
        if cluster.replace(job.id.cluster) != Some(job.id.cluster) {
            let owner = AdReader::of(&job.ad, settings).string("Owner");
            if users.insert(owner.map_or_else(Vec::new, |owner| owner.to_vec())) {
                table.insert(hash(0, users.len() as i64));
                inserted.push(None);
            }
            table.insert(hash(job.id.cluster, -1));
            table.insert(hash(job.id.cluster, -2));
            inserted.extend([None, None]);
        }
        table.insert(hash(job.id.cluster, job.id.process));
        inserted.push(Some(at));
    }
    table.order().filter_map(|place| inserted[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded: eight clusters of 4, 1, 3, 5, 8, 2, 1 and 12 jobs of one user. The jobs of the fourth differ; those of the
    /// first and of the last are equal.
    #[test]
    fn autoclusters_are_numbered_in_the_order_of_the_table() {
        let mut ads = Vec::new();
        for (cluster, count) in (1..).zip([4, 1, 3, 5, 8, 2, 1, 12]) {
            for process in 0..count {
                let kind = match cluster {
                    8 => 1,
                    4 => 40 + process,
                    _ => cluster,
                };
                let text =
                    format!("[ClusterId = {cluster}; ProcId = {process}; Owner = \"a\"; User = \"a@x\"; K = {kind}]");
                ads.push(ClassAd::parse(text.as_bytes()).unwrap());
            }
        }
        let settings = EvalOptions::default();
        let jobs = Job::all(&ads, None, &settings);
        let kind = |ad: &ClassAd| AdReader::of(ad, &settings).integer("K").unwrap() as u32;
        let numbers = AutoclusterNumbers::new(&jobs, kind, &settings);
        let found: Vec<usize> =
            [1, 2, 3, 40, 41, 42, 43, 44, 5, 6, 7].map(|kind| numbers.of(&jobs[0], kind).unwrap()).to_vec();
        assert_eq!(found, [1, 11, 9, 5, 6, 7, 8, 10, 4, 3, 2]);
    }

    #[test]
    fn a_number_in_the_ad_counts() {
        let ads = ["AutoClusterId = 7; K = 1", "K = 2", "K = 1"]
            .map(|text| ClassAd::parse(format!("[ClusterId = 1; User = \"a@x\"; {text}]").as_bytes()).unwrap());
        let settings = EvalOptions::default();
        let jobs = Job::all(&ads, None, &settings);
        let kind = |ad: &ClassAd| AdReader::of(ad, &settings).integer("K").unwrap() as u32;
        let numbers = AutoclusterNumbers::new(&jobs, kind, &settings);
        assert_eq!([1, 2, 3].map(|kind| numbers.of(&jobs[0], kind)), [Some(7), Some(8), None]);
    }
}
