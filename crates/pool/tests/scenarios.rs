//! Cycles of a recorded HTCondor 25.14.1 pool, replayed: the same matches in the same order.
//!
//! `NAME/` in `tests/data/scenarios.tar.gz` holds what the negotiator saw, and in `expected.json` what it decided.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data has failed")]

use crate::recorded;
use std::collections::BTreeMap;
use std::path::PathBuf;

use classmate::internal::ad::ClassAd;
use classmate_pool::internal::negotiate::advertisement::advertisement;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::directory::read_ad_file;
use classmate_pool::internal::negotiate::outcome::Match;
use classmate_pool::internal::negotiate::{Outcome, Snapshot, negotiate};
use serde_json::Value as Json;

/// Candidates that are equal on every key, beyond which the order of the reference is arbitrary.
const ARBITRARY: usize = 16;

fn folder(name: &str) -> PathBuf {
    recorded::scenarios().join(name)
}

fn snapshot(name: &str) -> Snapshot {
    Snapshot::read_dir(folder(name)).unwrap().snapshot
}

fn expected(name: &str) -> Json {
    serde_json::from_slice(&std::fs::read(folder(name).join("expected.json")).unwrap()).unwrap()
}

fn text(json: &Json, key: &str) -> String {
    json[key].as_str().unwrap_or_default().to_owned()
}

fn number(json: &Json, key: &str) -> f64 {
    json[key].as_f64().unwrap()
}

fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json[key].as_array().unwrap()
}

fn cluster(job: &str) -> i64 {
    job.split('.').next().unwrap().parse().unwrap()
}

/// Submitter, cluster, slot, pie, spin and group of every match, in order.
type Sequence = Vec<(String, i64, String, u64, u64, String)>;

fn recorded_matches(expected: &Json) -> Sequence {
    let one = |m: &Json| {
        let (pie, spin) = (m["pie"].as_u64().unwrap(), m["spin"].as_u64().unwrap());
        (text(m, "submitter"), cluster(&text(m, "job")), text(m, "slot"), pie, spin, text(m, "group"))
    };
    list(expected, "matches").iter().map(one).collect()
}

fn matches(outcome: &Outcome) -> Sequence {
    let one = |m: &Match| {
        let (pie, spin) = (u64::from(m.pie), u64::from(m.spin));
        (m.submitter.clone(), m.cluster, m.slot.clone(), pie, spin, m.group.clone().unwrap_or_default())
    };
    outcome.matches.iter().map(one).collect()
}

fn counts(sequence: &Sequence) -> BTreeMap<(String, i64), usize> {
    let mut counts = BTreeMap::new();
    for (submitter, cluster, ..) in sequence {
        *counts.entry((submitter.clone(), *cluster)).or_default() += 1;
    }
    counts
}

fn close(found: f64, recorded: f64) -> bool {
    (found - recorded).abs() <= 1e-6 * recorded.abs().max(1.0)
}

/// Replays a scenario and compares matches, refusals, limits and pies.
fn replay(name: &str) {
    let (outcome, expected) = (negotiate(&snapshot(name)).unwrap(), expected(name));

    let (found, recorded) = (matches(&outcome), recorded_matches(&expected));
    if outcome.statistics.largest_tie > ARBITRARY {
        assert_eq!(counts(&found), counts(&recorded), "{name}");
    } else {
        assert_eq!(found, recorded, "{name}");
    }
    for (found, recorded) in outcome.matches.iter().zip(list(&expected, "matches")) {
        // As the log has it: `eve@x (AccountingGroup=eve@x)`, or `none`.
        let displaced = found.displaced.as_deref().unwrap_or("none");
        assert_eq!(Some(displaced), text(recorded, "preempting").split(' ').next(), "{name}: {found:?}");
        assert_eq!(found.preempting == PreemptState::None, found.displaced.is_none(), "{name}: {found:?}");
    }

    let recorded = &read_ad_file(folder(name).join("negotiator.ads")).unwrap()[0];
    let published = advertisement(&outcome, 0, true);
    for counted in [
        "TotalSlots",
        "TrimmedSlots",
        "CandidateSlots",
        "NumSchedulers",
        "ActiveSubmitterCount",
        "NumIdleJobs",
        "NumJobsConsidered",
        "Matches",
        "Rejections",
        "Pies",
        "PieSpins",
        "SlotShareIter",
        "SubmittersShareLimit",
    ] {
        let attribute = format!("LastNegotiationCycle{counted}0");
        let text = |ad: &ClassAd| ad.get(attribute.as_str()).map(|expr| expr.to_string());
        assert_eq!(text(&published), text(recorded), "{name}: {counted}");
    }

    let refusals: Vec<_> =
        outcome.rejections.iter().map(|r| (r.submitter.clone(), r.job.cluster, r.reason.clone(), r.spin)).collect();
    let refusal = |r: &Json| {
        let spin = r["spin"].as_u64().unwrap() as u32;
        (text(r, "submitter"), cluster(&text(r, "job")), text(r, "reason"), spin)
    };
    let recorded: Vec<_> = list(&expected, "rejected").iter().map(refusal).collect();
    assert_eq!(refusals, recorded, "{name}");

    let recorded = list(&expected, "negotiations");
    assert_eq!(outcome.negotiations.len(), recorded.len(), "{name}");
    for (found, recorded) in outcome.negotiations.iter().zip(recorded) {
        assert_eq!(found.submitter, text(recorded, "submitter"), "{name}");
        assert_eq!(u64::from(found.pie), recorded["pie"].as_u64().unwrap(), "{name}");
        assert_eq!(u64::from(found.spin), recorded["spin"].as_u64().unwrap(), "{name}");
        assert_eq!(found.group.clone().unwrap_or_default(), text(recorded, "group"), "{name}");
        let (limit, priority) = (number(recorded, "submitterLimit"), number(recorded, "prio"));
        assert!(close(found.limit, limit), "{name}: {} has {}, not {limit}", found.submitter, found.limit);
        assert!(close(found.priority, priority), "{name}: {} has {}, not {priority}", found.submitter, found.priority);
        let starved = recorded["starved"].as_f64().unwrap_or(0.0);
        assert!(close(found.starved, starved), "{name}: {} misses {}, not {starved}", found.submitter, found.starved);
    }

    let recorded = list(&expected, "pies");
    assert_eq!(outcome.pies.len(), recorded.len(), "{name}");
    for (found, recorded) in outcome.pies.iter().zip(recorded) {
        let pie_left = number(recorded, "pieLeft");
        // The log gives two decimals.
        let equal = (found.pie_left - pie_left).abs() <= 0.005 + 1e-9;
        assert!(equal, "{name}: {} is left, not {pie_left}", found.pie_left);
    }
}

#[test]
fn equal_submitters_share_the_pool() {
    replay("pie-equal");
}

#[test]
fn shares_are_inverse_to_priorities() {
    replay("pie-unequal");
}

#[test]
fn what_one_submitter_does_not_want_is_dealt_again() {
    replay("pie-leftover");
}

#[test]
fn slots_in_use_count_in_the_pie_and_are_not_matched() {
    replay("pie-usage");
}

#[test]
fn the_pie_is_dealt_by_weight_and_a_heavy_slot_may_round_up() {
    replay("pie-weighted");
}

#[test]
fn small_slots_go_first_by_default() {
    replay("order-default");
}

#[test]
fn the_jobs_rank_decides_when_the_first_rank_is_constant() {
    replay("order-jobrank");
}

#[test]
fn the_first_rank_goes_before_the_jobs() {
    replay("order-prejobrank");
}

#[test]
fn job_priorities_order_the_jobs_of_one_submitter() {
    replay("job-prio");
}

#[test]
fn requirements_of_many_shapes_are_met() {
    replay("match-mix");
}

#[test]
fn a_ceiling_leaves_the_rest_of_a_share_to_others() {
    replay("ceiling");
}

#[test]
fn a_floor_is_served_in_a_pie_of_its_own() {
    replay("floor");
}

#[test]
fn a_partitionable_slot_is_matched_once_a_cycle() {
    replay("pslots");
}

#[test]
fn concurrency_limits_hold_by_name_by_class_and_with_counts() {
    replay("limits");
}

#[test]
fn slots_of_a_worse_user_are_taken_after_those_nobody_uses() {
    replay("preempt-prio");
}

#[test]
fn slots_that_prefer_a_job_are_taken_whatever_the_priorities() {
    replay("preempt-rank");
}

#[test]
fn groups_have_their_static_quotas_and_everybody_else_the_rest() {
    replay("group-static");
}

#[test]
fn a_group_that_accepts_surplus_takes_what_others_leave() {
    replay("group-surplus");
}

#[test]
fn quotas_are_counted_in_slot_weight() {
    replay("group-weighted");
}

#[test]
fn surplus_goes_round_in_a_tree_of_groups() {
    replay("group-nested");
}

#[test]
fn members_of_groups_compete_once_more_with_everybody() {
    replay("group-autoregroup");
}

/// The lines of the negotiator's log that tell numbers: what was assigned, what was allocated in each round.
#[test]
fn quotas_and_grants_are_those_of_the_log() {
    for name in ["static", "surplus", "nested", "weighted", "autoregroup"] {
        let name = format!("group-{name}");
        let (outcome, expected) = (negotiate(&snapshot(&name)).unwrap(), expected(&name));
        let mut round = 0;
        let mut lines = 0;
        for line in list(&expected, "group_log") {
            let words: Vec<&str> = line.as_str().unwrap().split_whitespace().collect();
            let value = |key: &str| {
                let at = words.iter().position(|word| *word == key)?;
                words.get(at + 1)?.parse::<f64>().ok()
            };
            // The log gives six digits.
            let same = |found: f64, recorded: f64| (found - recorded).abs() <= 1e-5 * recorded.abs().max(1.0);
            let of = |group: &str| outcome.groups.iter().find(|found| found.name == group).unwrap();
            match words.as_slice() {
                [_, _, "allocation", "round", ..] => round += 1,
                [_, _, "subtree", group, "receiving", ..] => {
                    assert!(same(of(group).subtree_quota, value("quota=").unwrap()), "{name}: {words:?}");
                    lines += 1;
                }
                [_, _, "group=", group, "quota=", ..] => {
                    let granted = &of(group).rounds[round - 1];
                    assert!(same(granted.allocated, value("allocated=").unwrap()), "{name}: {words:?}");
                    assert!(same(granted.unmet, value("unallocated=").unwrap()), "{name}: {words:?}");
                    lines += 1;
                }
                [_, _, "Group", group, "allocated=", ..] if !line.as_str().unwrap().contains("resetting") => {
                    let used = of(group).rounds.get(round).map_or(of(group).usage, |next| next.usage);
                    assert!(same(used, value("usage=").unwrap()), "{name}: {words:?}");
                    lines += 1;
                }
                _ => {}
            }
        }
        assert!(lines >= 9, "{name}: {lines} lines");
        assert!(outcome.groups.iter().all(|group| group.rounds.len() == round), "{name}");
    }
}

/// What the accountant published of each group after the cycle.
#[test]
fn groups_are_published_as_recorded() {
    for name in ["static", "surplus", "nested", "weighted", "autoregroup"] {
        let name = format!("group-{name}");
        let outcome = negotiate(&snapshot(&name)).unwrap();
        let listed = recorded::userprio().join(&name);
        let recorded = read_ad_file(listed.join("accounting.ads")).unwrap();
        let text = |ad: &ClassAd, key: &str| ad.get(key).map(|expr| expr.to_string()).unwrap_or_default();
        let groups: Vec<&ClassAd> = recorded.iter().filter(|ad| text(ad, "IsAccountingGroup") == "true").collect();
        assert_eq!(groups.len(), outcome.groups.len(), "{name}");
        for ad in groups {
            let group = outcome.groups.iter().find(|group| format!("\"{}\"", group.name) == text(ad, "Name")).unwrap();
            for (key, value) in [
                ("ConfigQuota", group.configured),
                ("EffectiveQuota", group.quota),
                ("SubtreeQuota", group.subtree_quota),
                ("GroupSortKey", group.sort_key),
                ("Requested", group.demand),
                ("WeightedResourcesUsed", group.usage),
            ] {
                let recorded: f64 = text(ad, key).parse().unwrap();
                // Reals are published with 16 digits.
                let equal = (value - recorded).abs() <= 1e-15 * recorded.abs();
                assert!(equal, "{name}: {key} of {} is {value}, not {recorded}", group.name);
            }
            assert_eq!(format!("\"{}\"", group.surplus.as_str()), text(ad, "SurplusPolicy"), "{name}: {}", group.name);
        }
    }
}

#[test]
fn a_snapshot_written_down_and_read_again_has_the_same_outcome() {
    for name in ["match-mix", "pie-weighted"] {
        let original = snapshot(name);
        let written = serde_json::to_string(&original).unwrap();
        let read: Snapshot = serde_json::from_str(&written).unwrap();
        assert_eq!(negotiate(&read).unwrap(), negotiate(&original).unwrap(), "{name}");
        assert_eq!(serde_json::to_string(&read).unwrap(), written, "{name}");
    }
}

#[test]
fn without_submitter_ads_the_queue_speaks_for_itself() {
    let derived = Snapshot { submitters: None, ..snapshot("match-mix") };
    let outcome = negotiate(&derived).unwrap();
    assert_eq!(matches(&outcome), recorded_matches(&expected("match-mix")));
}

#[test]
fn without_a_log_everybody_has_the_same_priority() {
    let outcome = negotiate(&Snapshot { log: None, ..snapshot("pie-unequal") }).unwrap();
    let shares: Vec<_> = outcome.negotiations.iter().take(3).map(|n| (n.priority, n.share)).collect();
    assert_eq!(shares, [(500.0, 1.0 / 3.0); 3]);
}
