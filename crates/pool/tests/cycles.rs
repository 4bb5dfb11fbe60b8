//! Random cycles of a recorded HTCondor 25.14.1 pool, and small ones of one behavior each, compared strictly.
//!
//! `NAME/` in `tests/data/cycles.tar.gz` holds what the negotiator saw, in `expected.json` what it decided, and in
//! `after/negotiator.ads` what it published.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use crate::recorded;
use std::path::Path;

use classmate::internal::ad::ClassAd;
use classmate_pool::internal::negotiate::advertisement::advertisement;
use classmate_pool::internal::negotiate::directory::read_ad_file;
use classmate_pool::{CycleOptions, Matcher, Outcome, PreparedPool, Snapshot};
use rayon::prelude::*;
use serde_json::Value as Json;

/// Cycles that differ, each with the reason. One that no longer differs must leave the list.
const EXPLAINED: &[(&str, &str)] = &[("b10-adrevaluate-claim", CLAIMS)];

/// Cycles that differ unless equal candidates are ordered as by the sort of `condor_negotiator` (Q14).
const TIED: [&str; 3] = ["r1060", "r1136", "r5014"];

const CLAIMS: &str = "public ads do not say how many claims a slot has (Q51)";

/// The statistics of the negotiator ad, `LastNegotiationCycle…0`.
const STATISTICS: [&str; 13] = [
    "ActiveSubmitterCount",
    "CandidateSlots",
    "Matches",
    "NumIdleJobs",
    "NumJobsConsidered",
    "NumSchedulers",
    "PieSpins",
    "Pies",
    "Rejections",
    "SlotShareIter",
    "SubmittersShareLimit",
    "TotalSlots",
    "TrimmedSlots",
];

fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json[key].as_array().unwrap()
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json[key].as_str().unwrap_or_default()
}

fn cluster(job: &str) -> i64 {
    job.split('.').next().unwrap().parse().unwrap()
}

/// The log has six digits behind the point, or three.
fn near(found: f64, recorded: f64, digits: f64) -> bool {
    recorded > 1e300 || (found - recorded).abs() <= digits + 1e-6 * recorded.abs().max(1.0)
}

/// The first difference of two sequences.
fn differ<A, B>(what: &str, found: &[A], recorded: &[B], same: impl Fn(&A, &B) -> bool) -> Option<String>
where
    A: std::fmt::Debug,
    B: std::fmt::Debug,
{
    let pairs = found.iter().zip(recorded);
    let at = pairs.take_while(|(found, recorded)| same(found, recorded)).count();
    let equal = at == found.len() && at == recorded.len();
    (!equal).then(|| {
        format!(
            "{what} {at} of {}, {} recorded: {:?}, recorded {:?}",
            found.len(),
            recorded.len(),
            found.get(at),
            recorded.get(at)
        )
    })
}

/// The first difference of matches, in order: submitter, cluster, slot, spin, and whether a job is displaced.
fn matches(outcome: &Outcome, expected: &Json) -> Option<String> {
    let one = |m: &Json| {
        let displaces = text(m, "preempting").split(' ').next() != Some("none");
        let names = (text(m, "submitter").to_owned(), text(m, "slot").to_owned());
        (names, cluster(text(m, "job")), m["spin"].as_u64().unwrap(), displaces)
    };
    let recorded: Vec<_> = list(expected, "matches").iter().map(one).collect();
    let found: Vec<_> = outcome
        .matches
        .iter()
        .map(|m| ((m.submitter.clone(), m.slot.clone()), m.cluster, u64::from(m.spin), m.displaced.is_some()))
        .collect();
    differ("match", &found, &recorded, PartialEq::eq)
}

/// The first difference of limits, rejections with their reasons, and pies.
fn others(outcome: &Outcome, expected: &Json) -> Option<String> {
    let limit = |n: &Json| (text(n, "submitter").to_owned(), n["submitterLimit"].as_f64().unwrap());
    let recorded: Vec<_> = list(expected, "negotiations").iter().map(limit).collect();
    let found: Vec<_> = outcome.negotiations.iter().map(|n| (n.submitter.clone(), n.limit)).collect();
    let limits =
        differ("limit", &found, &recorded, |found, recorded| found.0 == recorded.0 && near(found.1, recorded.1, 6e-7));

    let rejection = |r: &Json| {
        let reason = text(r, "reason").split('|').next().unwrap().trim_end().to_owned();
        (text(r, "submitter").to_owned(), cluster(text(r, "job")), reason)
    };
    let recorded: Vec<_> = list(expected, "rejected").iter().map(rejection).collect();
    let found: Vec<_> =
        outcome.rejections.iter().map(|r| (r.submitter.clone(), r.job.cluster, r.reason.clone())).collect();
    let rejections = || differ("rejection", &found, &recorded, PartialEq::eq);

    let recorded: Vec<_> = list(expected, "pies").iter().map(|pie| pie["pieLeft"].as_f64().unwrap()).collect();
    let found: Vec<_> = outcome.pies.iter().map(|pie| pie.pie_left).collect();
    let pies = || differ("pie", &found, &recorded, |found, recorded| near(*found, *recorded, 6e-4));
    limits.or_else(rejections).or_else(pies)
}

/// The first difference of statistics.
fn statistics(outcome: &Outcome, recorded: &ClassAd) -> Option<String> {
    let published = advertisement(outcome, 0, true);
    STATISTICS.iter().find_map(|counted| {
        let attribute = format!("LastNegotiationCycle{counted}0");
        let text = |ad: &ClassAd| ad.get(attribute.as_str()).map(|expr| expr.to_string());
        let (found, recorded) = (text(&published), text(recorded));
        (recorded.is_some() && found != recorded).then(|| format!("{counted} is {found:?}, recorded {recorded:?}"))
    })
}

/// The first difference between a recorded cycle and its replay.
fn difference(folder: &Path, matcher: Matcher) -> Option<String> {
    // No limit, as the recorder writes it.
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap().replace("Infinity", "1.7e308");
    let expected: Json = serde_json::from_str(&text).unwrap();
    let mut snapshot = Snapshot::read_dir(folder).unwrap().snapshot;
    // Each negotiator was started for the cycle that is compared.
    snapshot.first_cycle = true;
    if let Some(now) = expected["now"].as_i64() {
        snapshot.now = now;
    }
    let options = CycleOptions { matcher, ..CycleOptions::default() };
    let outcome = PreparedPool::new(&snapshot).unwrap().negotiate(options).unwrap().outcome;
    let published = || {
        // A second cycle overwrote what the first published.
        let once = expected["cycles"].as_u64().is_none_or(|cycles| cycles == 1);
        let ads = if once { read_ad_file(folder.join("after/negotiator.ads")).unwrap() } else { Vec::new() };
        statistics(&outcome, ads.first()?)
    };
    matches(&outcome, &expected).or_else(|| others(&outcome, &expected)).or_else(published)
}

#[test]
fn recorded_cycles_are_replayed_exactly() {
    let folders = std::fs::read_dir(recorded::cycles()).unwrap();
    let mut names: Vec<String> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let differing: Vec<(String, String)> = names
        .par_iter()
        .filter_map(|name| {
            let tied = TIED.contains(&name.as_str());
            let folder = recorded::cycles().join(name);
            assert!(!tied || difference(&folder, Matcher::default()).is_some(), "{name} has no ties by now");
            let matcher = if tied { Matcher::ExactTies } else { Matcher::default() };
            difference(&folder, matcher).map(|difference| (name.clone(), difference))
        })
        .collect();
    let explained = |name: &str| EXPLAINED.iter().any(|(known, _)| *known == name);
    let unexplained: Vec<_> = differing.iter().filter(|(name, _)| !explained(name)).collect();
    assert!(unexplained.is_empty(), "{} of {} cycles differ: {unexplained:#?}", unexplained.len(), names.len());
    for (name, reason) in EXPLAINED {
        assert!(differing.iter().any(|(known, _)| known == name), "{name} is alike by now: {reason}");
    }
}
