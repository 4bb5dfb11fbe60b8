//! A cycle over a small pool, under any settings: both matchers have the same outcome, and the invariants of every cycle hold.
//!
//! The input is the size and shape of a generated pool, then lines of configuration, and after a byte 0xFF ads that join
//! its slots and jobs.
#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use classmate::internal::ad::ClassAd;
use classmate_config::internal::config::Config;
use classmate::internal::format::{Format, Reader};
use classmate_pool::internal::generate::{NOW, GeneratedPool, Shape};
use classmate_pool::internal::queue::JobId;
use classmate_pool::internal::negotiate::{CycleOptions, Matcher, PreparedPool, Snapshot};
use classmate::internal::syntax::parse::ParseOptions;
use libfuzzer_sys::fuzz_target;

fn ads(text: &[u8]) -> Vec<ClassAd> {
    Reader::new(text, Format::Long, &ParseOptions::default()).map(|ad| ad.expect("reading from memory succeeds")).collect()
}

fn made(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut text = Vec::new();
    write(&mut text).expect("writing to memory succeeds");
    text
}

fuzz_target!(|data: &[u8]| {
    let Some((sizes, rest)) = data.split_at_checked(8) else { return };
    let size = |at: usize, most: u8| u64::from(sizes[at] % most);
    let pool = GeneratedPool {
        slots: size(0, 12),
        jobs: size(1, 20),
        autoclusters: 1 + size(2, 6),
        submitters: 1 + size(3, 5),
        groups: size(4, 4),
        seed: size(5, 255),
        shape: [Shape::Ospool, Shape::Static, Shape::Gpu, Shape::Distinct, Shape::Stock][usize::from(sizes[6] % 5)],
        claimed: f64::from(sizes[7] % 5) / 4.0,
        ..GeneratedPool::default()
    };
    let mut parts = rest.split(|byte| *byte == 0xff);
    let (settings, slots, jobs) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let text = [&made(|out| pool.write_config(out))[..], b"\n", settings, b"\n"].concat();
    let Ok(config) = Config::parse("config", &text) else { return };
    let joined = |made: Vec<u8>, more: Option<&[u8]>| [ads(&made), ads(more.unwrap_or_default())].concat();
    let snapshot = Snapshot {
        config,
        slots: joined(made(|out| pool.write_slots(out)), slots),
        jobs: joined(made(|out| pool.write_jobs(out)), jobs),
        now: NOW,
        ..Snapshot::default()
    };
    let cycle = |matcher| {
        let cycle = PreparedPool::new(&snapshot)?.negotiate(CycleOptions { matcher, ..CycleOptions::default() });
        cycle.map(|cycle| cycle.outcome)
    };
    let (fast, slow) = (cycle(Matcher::default()), cycle(Matcher::Reference));
    assert_eq!(fast, slow);
    let Ok(outcome) = fast else { return };
    // No job is matched twice, and no more jobs are matched than there are.
    assert!(outcome.matches.len() <= snapshot.jobs.len());
    let matched: BTreeSet<(JobId, &str)> = outcome.matches.iter().map(|made| (made.job, made.submitter.as_str())).collect();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for job in &snapshot.jobs {
        let number = |name| job.constant(name).and_then(|value| value.as_int()).unwrap_or(0);
        *numbers.entry(format!("{}.{}", number("ClusterId"), number("ProcId"))).or_default() += 1;
    }
    if numbers.values().all(|count| *count == 1) {
        assert_eq!(matched.len(), outcome.matches.len());
    }
    assert!(outcome.matches.iter().all(|made| made.weight >= 0.0 || made.weight.is_nan()));
});
