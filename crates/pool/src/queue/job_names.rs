//! Names of jobs for people: each access point numbers its jobs on its own.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::job::JobId;

/// Names of jobs: the ID, and the access point if several have a job with this ID.
///
/// ```
/// use classmate_pool::internal::queue::job::JobId;
/// use classmate_pool::internal::queue::job_names::JobNames;
/// let [one, two] = [JobId { cluster: 1, process: 0 }, JobId { cluster: 2, process: 0 }];
/// let [a, b] = [Some(&b"ap1@x"[..]), Some(&b"ap2"[..])];
/// let names = JobNames::of([(one, a), (one, b), (two, a), (two, a)]);
/// assert_eq!([names.name(one, a), names.name(one, b), names.name(two, a)], ["1.0@ap1@x", "1.0@ap2", "2.0"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct JobNames {
    shared: HashSet<JobId>,
}

impl JobNames {
    /// The names of jobs, each with its access point.
    pub fn of<'a>(jobs: impl IntoIterator<Item = (JobId, Option<&'a [u8]>)>) -> Self {
        let (mut known, mut shared) = (HashMap::new(), HashSet::new());
        for (id, schedd) in jobs {
            match known.entry(id) {
                Entry::Vacant(free) => _ = free.insert(schedd),
                Entry::Occupied(first) if *first.get() != schedd => _ = shared.insert(id),
                Entry::Occupied(_) => {}
            }
        }
        JobNames { shared }
    }

    /// The name of a job.
    pub fn name(&self, id: JobId, schedd: Option<&[u8]>) -> String {
        match schedd.filter(|_| self.shared.contains(&id)) {
            Some(schedd) => format!("{id}@{}", String::from_utf8_lossy(schedd)),
            None => id.to_string(),
        }
    }
}
