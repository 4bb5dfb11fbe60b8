//! The matches of a cycle, as the claims that appeared after it show them.
//!
//! In: the pool before and after. Out: the record of a cycle, without order.

use std::collections::HashMap;

use crate::verify::record::{CycleRecord, RecordedMatch};
use classmate::{ClassAd, EvalOptions};
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::{Activity, Job};

/// The jobs that run now and did not run before, each with its slot. A job that was started in a slot that its user had
/// claimed before was not matched.
pub fn observed(before: &Snapshot, after: &Snapshot) -> CycleRecord {
    let settings = EvalOptions::default();
    let text = |ad: &ClassAd, name: &str| {
        AdReader::of(ad, &settings).string(name).map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let host = |ad: &ClassAd| {
        let job = Job::new(ad, None, &settings).filter(|job| job.activity == Activity::Running)?;
        Some((text(ad, "RemoteHost")?, String::from_utf8_lossy(&job.submitter).into_owned()))
    };
    let ran: HashMap<String, String> =
        before.jobs.iter().filter_map(|ad| Some((text(ad, "GlobalJobId")?, host(ad)?.0))).collect();
    let users: HashMap<String, String> =
        before.slots.iter().filter_map(|ad| Some((text(ad, "Name")?, text(ad, "RemoteUser")?))).collect();
    let mut record = CycleRecord { finished: true, ..CycleRecord::default() };
    for ad in &after.jobs {
        let Some(((slot, submitter), id)) = host(ad).zip(text(ad, "GlobalJobId")) else { continue };
        let facts = AdReader::of(ad, &settings);
        let number = |name: &str| facts.integer(name).unwrap_or(0);
        let user = text(ad, "User").unwrap_or_default();
        if ran.get(&id) == Some(&slot) || users.get(&slot) == Some(&user) {
            continue;
        }
        record.matches.push(RecordedMatch {
            cluster: number("ClusterId"),
            process: number("ProcId"),
            submitter,
            displaces: users.contains_key(&slot),
            slot,
            ..RecordedMatch::default()
        });
    }
    record
}
