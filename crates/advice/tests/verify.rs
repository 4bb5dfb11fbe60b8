//! The logs of 354 random cycles of a recorded HTCondor 25.14.1 pool, verified: identical where the strict comparison of
//! `crates/pool/tests/cycles.rs` finds them identical, and every difference with the cause that is documented there.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use std::collections::BTreeMap;

use crate::recorded;
use classmate::Zone;
use classmate_advice::internal::verify::cause::DifferenceCause;
use classmate_advice::internal::verify::comparison::DecisionKind;
use classmate_advice::internal::verify::log::CycleLog;
use classmate_advice::{Verification, verify};
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::read_ad_file;
use rayon::prelude::*;

/// The cycles that differ, each with the only cause of its differences.
const DIFFERENT: [(&str, DifferenceCause); 4] = [
    ("r1004", DifferenceCause::FirstCycle),
    ("r1060", DifferenceCause::EqualSlots),
    ("r1136", DifferenceCause::EqualSlots),
    ("r5014", DifferenceCause::EqualSlots),
];

fn log(name: &str) -> CycleLog {
    let text = std::fs::read(recorded::negotiator_logs().join(name)).unwrap();
    CycleLog::read(&*text, &Zone::utc()).unwrap()
}

/// Verifies a recorded cycle at the time that its log shows.
fn verified(name: &str) -> Verification {
    let folder = recorded::cycles().join(name);
    let mut snapshot = Snapshot::read_dir(&folder).unwrap().snapshot;
    let log = log(name);
    let at = log.cycle_after(snapshot.newest_time()).unwrap();
    let updated =
        snapshot.log.as_ref().unwrap().get(b"Accountant.").and_then(|record| record.integer("LastUpdateTime"));
    snapshot.now = log.clock(at, updated).unwrap();
    let published = read_ad_file(folder.join("after/negotiator.ads")).unwrap();
    verify(&snapshot, &log.cycles[at], published.first()).unwrap()
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(recorded::negotiator_logs()).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn logs_are_verified_as_the_strict_comparison_finds_them() {
    let names = names();
    assert_eq!(names.len(), 354);
    let found: Vec<(String, Verification)> =
        names.into_par_iter().map(|name| (name.clone(), verified(&name))).collect();
    let causes: BTreeMap<&str, Vec<DifferenceCause>> = found
        .iter()
        .filter(|(_, result)| !result.identical)
        .map(|(name, result)| (name.as_str(), result.causes().into_iter().map(|(cause, _)| cause).collect()))
        .collect();
    let expected = DIFFERENT.map(|(name, cause)| (name, vec![cause]));
    assert_eq!(causes, BTreeMap::from(expected));
    assert!(found.iter().all(|(_, result)| result.identical == result.differences.is_empty()));
    // All matches and rejections of the logs, counted with `grep -c`.
    let count = |kind| found.iter().map(|(_, result)| result.counts(kind).unwrap().recorded).sum::<usize>();
    assert_eq!((count(DecisionKind::Match), count(DecisionKind::Rejection)), (MATCHES, REJECTIONS));
}

/// `cat logs/* | sed '/Finished/q'` of each log, with `grep -cE ' Matched [0-9]'` and `grep -cE ' Rejected [0-9]'`.
const MATCHES: usize = 3863;
const REJECTIONS: usize = 7952;

#[test]
fn the_clock_of_a_log_is_that_of_its_accountant() {
    let mut once = 0;
    for name in names() {
        let folder = recorded::cycles().join(&name);
        let text = std::fs::read_to_string(folder.join("expected.json")).unwrap().replace("Infinity", "1.7e308");
        let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        let updated = Snapshot::read_dir(folder).unwrap().snapshot.log.unwrap();
        let updated = updated.get(b"Accountant.").and_then(|record| record.integer("LastUpdateTime"));
        let log = log(&name);
        // `now` is the last update in the accountant's log: with two cycles that of the second.
        if let [_] = &log.cycles[..] {
            assert_eq!(log.clock(0, updated), expected["now"].as_i64(), "{name}");
            once += 1;
        }
    }
    assert_eq!(once, 350);
}

/// Cycles that are identical as recorded: what decides them is changed.
#[test]
fn causes_are_found_where_the_snapshot_lacks_what_decides() {
    let causes = |name: &str, change: &dyn Fn(&mut Snapshot)| {
        let mut snapshot = Snapshot::read_dir(recorded::cycles().join(name)).unwrap().snapshot;
        let record = &log(name).cycles[0];
        snapshot.now = record.started.unwrap();
        change(&mut snapshot);
        verify(&snapshot, record, None).unwrap().causes().into_iter().map(|(cause, _)| cause).collect::<Vec<_>>()
    };
    // The order of the ads, from last to first.
    let reverse = |snapshot: &mut Snapshot| {
        snapshot.submitters.as_mut().unwrap().reverse();
        snapshot.submitters_in_order = true;
    };
    assert_eq!(causes("r1028", &reverse), [DifferenceCause::EqualSubmitters]);
    // Other numbers of autoclusters.
    let renumber = |snapshot: &mut Snapshot| {
        for (number, ad) in snapshot.jobs.iter_mut().enumerate() {
            ad.insert("AutoClusterId", 1000 + number as i64);
        }
    };
    assert_eq!(causes("r42", &renumber), [DifferenceCause::AutoclusterNumbers]);
}

#[test]
fn a_changed_pool_is_the_cause_if_the_log_names_what_is_not_there() {
    // A cycle with matches: without one of the slots, and without one of the clusters.
    let name = "r1136";
    let whole = Snapshot::read_dir(recorded::cycles().join(name)).unwrap().snapshot;
    let log = log(name);
    let record = &log.cycles[0];
    let made = &record.matches[0];
    let is = |ad: &classmate::ClassAd, attribute: &str, value: &str| {
        ad.get(attribute).is_some_and(|expr| expr.to_string().trim_matches('"') == value)
    };
    let mut snapshot = Snapshot { now: record.started.unwrap(), ..whole.clone() };
    snapshot.slots.retain(|ad| !is(ad, "Name", &made.slot));
    let causes = verify(&snapshot, record, None).unwrap().causes();
    assert!(
        causes.iter().any(|(cause, _)| *cause == DifferenceCause::NotInSnapshot(format!("slot {}", made.slot))),
        "{causes:?}"
    );
    let mut snapshot = Snapshot { now: record.started.unwrap(), ..whole };
    snapshot.jobs.retain(|ad| !is(ad, "ClusterId", &made.cluster.to_string()));
    let causes = verify(&snapshot, record, None).unwrap().causes();
    let missing = DifferenceCause::NotInSnapshot(format!("cluster {}", made.cluster));
    assert!(causes.iter().any(|(cause, _)| *cause == missing), "{causes:?}");
}

#[test]
fn a_match_in_another_place_is_a_difference_beside_others() {
    let mut record = log("r1028").cycles.swap_remove(0);
    let snapshot = Snapshot::read_dir(recorded::cycles().join("r1028")).unwrap().snapshot;
    let snapshot = Snapshot { now: record.started.unwrap(), ..snapshot };
    let all = record.matches.len();
    let matches = |record: &_| {
        let result = verify(&snapshot, record, None).unwrap();
        let of_replay: Vec<String> = result
            .differences
            .iter()
            .filter(|one| one.difference.kind == DecisionKind::Match)
            .filter_map(|one| one.difference.replayed.clone())
            .collect();
        (result.counts(DecisionKind::Match).unwrap().identical, of_replay)
    };
    assert_eq!(matches(&record), (all, Vec::new()));
    record.matches.swap(0, 1);
    let (identical, of_replay) = matches(&record);
    assert_eq!(identical, all - 1);
    assert!(of_replay.len() == 1 && of_replay[0].contains("in the order)"), "{of_replay:?}");
    record.matches.last_mut().unwrap().slot = "slot1@elsewhere".to_owned();
    let (identical, of_replay) = matches(&record);
    assert_eq!((identical, of_replay.len()), (all - 2, 2), "{of_replay:?}");
}
