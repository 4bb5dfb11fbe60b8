//! The worked examples of group quotas, and the examples of the manuals, with matches simulated by `conform quotas`.
//!
//! Expected values are those of `docs/reference/group-quotas.md` 10, by number; those in comments are computed by hand.
//! `crates/pool/tests/divisions.rs` checks the laws that hold for every tree of groups.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use classmate::ClassAd;
use classmate_cli::conform::{Kind, answer};
use classmate_cli::report::{Color, outcome};
use classmate_config::Config;
use classmate_pool::{Snapshot, negotiate};
use serde_json::{Map, Value as Json, json};

/// The result of a case.
fn run(spec: &Json) -> Json {
    let answered = answer(Kind::Quotas, json!({ "id": 1, "spec": spec }).to_string().as_bytes());
    assert_eq!(answered.get("malformed"), None, "{answered}");
    answered["result"].clone()
}

/// A case of groups given as `(name, quota, accepts)`: quotas below 1 are dynamic, others static.
fn case(total: u32, groups: &[(&str, f64, bool)], demand: &[(&str, f64)]) -> Json {
    let group = |&(name, quota, accept): &(&str, f64, bool)| {
        let kind = if quota > 0.0 && quota < 1.0 { "dynamic" } else { "static" };
        json!({ "name": name, kind: quota, "accept": accept })
    };
    let groups: Vec<Json> = groups.iter().map(group).collect();
    json!({ "total": total, "groups": groups, "demand": by_name(demand) })
}

fn by_name(values: &[(&str, f64)]) -> Json {
    values.iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect::<Map<_, _>>().into()
}

/// The same case with another input.
fn with(mut case: Json, key: &str, value: impl Into<Json>) -> Json {
    case[key] = value.into();
    case
}

fn scaled(case: Json) -> Json {
    with(case, "oversub", false)
}

/// A number of a group in a round.
fn of(result: &Json, round: usize, group: &str, key: &str) -> f64 {
    result["rounds"][round]["groups"][group][key].as_f64().unwrap()
}

fn column(result: &Json, groups: &[&str], key: &str) -> Vec<f64> {
    groups.iter().map(|group| of(result, 0, group, key)).collect()
}

fn final_use(result: &Json, groups: &[&str]) -> Vec<f64> {
    groups.iter().map(|&group| result["final"][group].as_f64().unwrap()).collect()
}

fn order(result: &Json) -> Vec<&str> {
    result["rounds"][0]["order"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// Groups called in a round with their whole limits.
fn limits(result: &Json, round: usize) -> Vec<(&str, Option<i64>)> {
    let calls = result["rounds"][round]["limits"].as_array().unwrap();
    calls.iter().map(|call| (call[0].as_str().unwrap(), call[2].as_i64())).collect()
}

fn called<const N: usize>(calls: [(&str, i64); N]) -> Vec<(&str, Option<i64>)> {
    calls.into_iter().map(|(group, limit)| (group, Some(limit))).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    let near = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6);
    assert!(near, "{found:?}, not {expected:?}");
}

const P: &str = "group_physics";
const C: &str = "group_chemistry";
const HEP: &str = "group_physics.hep";
const LEP: &str = "group_physics.lep";
const ROOT: &str = "<none>";

fn physics_and_chemistry(total: u32) -> Json {
    case(total, &[(P, 20.0, false), (C, 10.0, false)], &[(P, 100.0), (C, 100.0)])
}

#[test]
fn example_1_thirty_slots() {
    for oversubscription in [true, false] {
        let result = run(&with(physics_and_chemistry(30), "oversub", oversubscription));
        for key in ["quota", "subtree_quota", "allocated"] {
            assert_eq!(column(&result, &[P, C], key), [20.0, 10.0], "{key}");
        }
        assert_eq!(of(&result, 0, ROOT, "quota"), 0.0);
        assert_eq!(order(&result), [C, P, ROOT]);
        assert_eq!(limits(&result, 0), called([(C, 10), (P, 20)]));
        let used = with(physics_and_chemistry(30), "usage", by_name(&[(P, 15.0), (C, 5.0)]));
        let result = run(&with(used, "oversub", oversubscription));
        assert_eq!(column(&result, &[P, C], "sort_key"), [0.75, 0.5]);
        assert_eq!(order(&result), [C, P, ROOT]);
        assert_eq!(final_use(&result, &[P, C]), [20.0, 10.0]);
    }
}

#[test]
fn example_2_halved_pool() {
    let result = run(&scaled(physics_and_chemistry(15)));
    assert_eq!(column(&result, &[P, C], "quota"), [10.0, 5.0]);
    assert_eq!(final_use(&result, &[P, C]), [10.0, 5.0]);
    let result = run(&physics_and_chemistry(15));
    assert_eq!(column(&result, &[P, C, ROOT], "quota"), [20.0, 10.0, 0.0]);
    assert_eq!(result["rounds"][0]["usage_after"][P], 5.0);
    assert_eq!(of(&result, 1, P, "allocated"), 5.0);
    assert_eq!(final_use(&result, &[P, C]), [5.0, 10.0]);
}

#[test]
fn example_3_doubled_pool() {
    let demand = by_name(&[(P, 100.0), (C, 100.0), (ROOT, 100.0)]);
    let result = run(&with(physics_and_chemistry(60), "demand", demand));
    assert_eq!(column(&result, &[P, C, ROOT], "quota"), [20.0, 10.0, 30.0]);
    assert_eq!(column(&result, &[P, C, ROOT], "allocated"), [20.0, 10.0, 30.0]);
    assert_eq!(final_use(&result, &[P, C, ROOT]), [20.0, 10.0, 30.0]);
}

#[test]
fn example_4_dynamic_quotas() {
    let groups = |total, accept| case(total, &[(P, 0.66, accept), (C, 0.33, accept)], &[(P, 100.0), (C, 100.0)]);
    let result = run(&groups(30, false));
    close(&column(&result, &[P, C, ROOT], "quota"), &[19.8, 9.9, 0.3]);
    assert_eq!(limits(&result, 0), called([(C, 9), (P, 19)]));
    assert_eq!(limits(&run(&groups(60, false)), 0), called([(C, 19), (P, 39)]));
    let counted = run(&with(groups(30, true), "weighted", false));
    assert_eq!(column(&counted, &[P, C], "allocated"), [20.0, 10.0]);
    let thirds = case(15, &[(P, 2.0 / 3.0, false), (C, 1.0 / 3.0, false)], &[(P, 100.0), (C, 100.0)]);
    close(&column(&run(&thirds), &[P, C], "quota"), &[10.0, 5.0]);
}

#[test]
fn example_5_fractions_above_one_are_normalised() {
    let result = run(&case(30, &[(P, 0.9, false), (C, 0.6, false)], &[(P, 100.0), (C, 100.0)]));
    close(&column(&result, &[P, C, ROOT], "quota"), &[18.0, 12.0, 0.0]);
}

fn subgroups(accept: [bool; 4], demand: &[(&str, f64)]) -> Json {
    let [physics, hep, lep, chemistry] = accept;
    let groups = [(P, 20.0, physics), (HEP, 15.0, hep), (LEP, 5.0, lep), (C, 10.0, chemistry)];
    case(30, &groups, demand)
}

#[test]
fn example_6_static_subgroups() {
    let demand = [(HEP, 60.0), (LEP, 60.0), (C, 60.0)];
    let groups = subgroups([false; 4], &demand);
    let result = run(&scaled(groups.clone()));
    assert_eq!(column(&result, &[P, HEP, LEP, C], "quota"), [0.0, 15.0, 5.0, 10.0]);
    assert_eq!(column(&result, &[P, HEP, LEP, C], "subtree_quota"), [20.0, 15.0, 5.0, 10.0]);
    assert_eq!(column(&result, &[P, HEP, LEP, C], "allocated"), [0.0, 15.0, 5.0, 10.0]);
    assert_eq!(of(&result, 0, P, "sort_key"), 3.3e38);
    assert_eq!(order(&result), [C, HEP, LEP, P, ROOT]);
    assert_eq!(limits(&result, 0), called([(C, 10), (HEP, 15), (LEP, 5)]));
    let result = run(&groups);
    assert_eq!(column(&result, &[P, HEP, LEP, C], "quota"), [20.0, 15.0, 5.0, 10.0]);
    assert_eq!(final_use(&result, &[HEP, LEP, C]), [15.0, 5.0, 10.0]);
}

#[test]
fn example_7_dynamic_subgroups() {
    let groups = [(C, 0.33334, false), (P, 0.66667, false), (HEP, 0.75, false), (LEP, 0.25, false)];
    let result = run(&scaled(case(30, &groups, &[(HEP, 60.0), (LEP, 60.0), (C, 60.0)])));
    // 30 · 0.33334 / 1.00001 = 10.000100, 30 · 0.66667 / 1.00001 = 19.999900; three and one quarters of that
    close(&column(&result, &[C, HEP, LEP], "quota"), &[10.000_099_999, 14.999_925_001, 4.999_975_000]);
    close(&[of(&result, 0, C, "subtree_quota")], &[10.000_099_999]);
    close(&[of(&result, 0, P, "subtree_quota")], &[19.999_900_001]);
    assert_eq!(limits(&result, 0), called([(C, 10), (HEP, 14), (LEP, 4)]));
    assert_eq!(final_use(&result, &[C, HEP, LEP]), [10.0, 14.0, 4.0]);
}

const BOTH_BELOW: [bool; 4] = [false, true, true, false];

#[test]
fn example_8a_surplus_stays_below_a_parent_that_accepts_none() {
    let result = run(&scaled(subgroups(BOTH_BELOW, &[(HEP, 4.0), (LEP, 60.0), (C, 60.0)])));
    assert_eq!(column(&result, &[HEP, LEP, C], "quota"), [15.0, 5.0, 10.0]);
    assert_eq!(column(&result, &[HEP, LEP, C], "allocated"), [4.0, 16.0, 10.0]);
    assert_eq!(final_use(&result, &[HEP, LEP, C]), [4.0, 16.0, 10.0]);
}

#[test]
fn example_8b_a_limit_is_cut_to_the_room_of_the_parent() {
    let result = run(&scaled(subgroups(BOTH_BELOW, &[(HEP, 60.0), (LEP, 2.0), (C, 60.0)])));
    assert_eq!(column(&result, &[HEP, LEP], "allocated"), [18.0, 2.0]);
    assert_eq!(limits(&result, 0), called([(C, 10), (HEP, 18), (LEP, 2)]));
}

#[test]
fn example_8c_oversubscription_counts_surplus_twice_and_strictness_repairs_it() {
    let result = run(&subgroups(BOTH_BELOW, &[(HEP, 4.0), (LEP, 60.0), (C, 60.0)]));
    // spare of P 20 and of hep 11, with its own 5: 36
    assert_eq!(of(&result, 0, LEP, "allocated"), 36.0);
    assert_eq!(limits(&result, 0), called([(C, 10), (HEP, 15), (LEP, 16)]));
    assert_eq!(final_use(&result, &[HEP, LEP, C]), [4.0, 16.0, 10.0]);
}

#[test]
fn example_8d_with_oversubscription_the_first_sibling_takes_all() {
    let demand = [(HEP, 60.0), (LEP, 60.0)];
    let result = run(&subgroups(BOTH_BELOW, &demand));
    assert_eq!(column(&result, &[HEP, LEP], "allocated"), [30.0, 10.0]);
    assert_eq!(limits(&result, 0), called([(HEP, 20), (LEP, 0)]));
    assert_eq!(result["rounds"][0]["usage_after"][HEP], 20.0);
    assert_eq!(final_use(&result, &[HEP, LEP]), [20.0, 0.0]);
    let result = run(&scaled(subgroups(BOTH_BELOW, &demand)));
    assert_eq!(final_use(&result, &[HEP, LEP]), [15.0, 5.0]);
}

#[test]
fn example_9_surplus_through_the_parent() {
    let accept = [true, true, true, false];
    let result = run(&scaled(subgroups(accept, &[(HEP, 60.0), (LEP, 60.0), (C, 2.0)])));
    assert_eq!(column(&result, &[HEP, LEP, C], "allocated"), [21.0, 7.0, 2.0]);
    assert_eq!(final_use(&result, &[HEP, LEP, C]), [21.0, 7.0, 2.0]);
    let result = run(&scaled(subgroups(accept, &[(HEP, 60.0), (LEP, 60.0), (C, 60.0)])));
    assert_eq!(column(&result, &[HEP, LEP, C], "allocated"), [15.0, 5.0, 10.0]);
}

#[test]
fn example_10_surplus_in_proportion_with_caps() {
    let groups = |a| {
        case(100, &[("a", 40.0, true), ("b", 20.0, true), ("c", 40.0, false)], &[("a", a), ("b", 100.0), ("c", 10.0)])
    };
    close(&column(&run(&groups(100.0)), &["a", "b", "c"], "allocated"), &[60.0, 30.0, 10.0]);
    close(&column(&run(&groups(50.0)), &["a", "b", "c"], "allocated"), &[50.0, 40.0, 10.0]);
}

#[test]
fn example_11_acceptors_without_quota_come_last_and_share_equally() {
    let groups = [("a", 60.0, true), ("y", 0.0, true), ("z", 0.0, true)];
    let result = run(&case(100, &groups, &[("a", 70.0), ("y", 50.0), ("z", 50.0)]));
    assert_eq!(of(&result, 0, ROOT, "quota"), 40.0);
    assert_eq!(column(&result, &["a", "y", "z"], "allocated"), [70.0, 15.0, 15.0]);
}

fn strict_priority() -> Json {
    let groups = [(P, 1_000_000.0, false), (C, 10_000.0, false), ("bio", 1000.0, false)];
    let used = by_name(&[(P, 30.0), (C, 30.0), ("bio", 30.0)]);
    with(case(100, &groups, &[(P, 70.0), (C, 50.0), ("bio", 50.0)]), "usage", used)
}

#[test]
fn example_12_strict_priority_by_oversubscription() {
    let result = run(&strict_priority());
    assert_eq!(column(&result, &[P, C, "bio"], "sort_key"), [0.00003, 0.003, 0.03]);
    assert_eq!(order(&result)[..3], [P, C, "bio"]);
    assert_eq!(final_use(&result, &[P, C, "bio"]), [40.0, 30.0, 30.0]);
}

#[test]
fn example_13_surplus_goes_to_the_lowest_level_first() {
    let groups = [("a", 60.0, true), ("a.x", 30.0, true), ("a.y", 30.0, false), ("b", 40.0, true), ("b.u", 40.0, true)];
    let demand = [("a", 5.0), ("a.x", 80.0), ("a.y", 10.0), ("b.u", 80.0)];
    let result = run(&scaled(case(100, &groups, &demand)));
    assert_eq!(column(&result, &["a.x", "a.y", "b.u", "a"], "allocated"), [50.0, 10.0, 40.0, 0.0]);
}

#[test]
fn example_14_a_finite_rate_raises_limits_step_by_step() {
    let groups = |total, quota: f64, demand: f64| {
        with(case(total, &[("a", quota, false), ("b", quota, false)], &[("a", demand), ("b", demand)]), "rate", 10)
    };
    let result = run(&with(groups(200, 100.0, 200.0), "strict", false));
    let steps = (1..=10).flat_map(|step| [("a", Some(step * 10)), ("b", Some(step * 10))]);
    assert_eq!(limits(&result, 0), steps.collect::<Vec<_>>());
    // Matches of the same round are subtracted twice under strict enforcement, as in the reference.
    let used = with(groups(100, 50.0, 200.0), "usage", by_name(&[("a", 20.0)]));
    let result = run(&used);
    let first = called([("b", 10), ("a", 26), ("b", 20), ("a", 32), ("b", 30), ("a", 38), ("b", 20), ("a", 32)]);
    assert_eq!(limits(&result, 0)[..8], first);
    let after = |round: usize| {
        let after = &result["rounds"][round]["usage_after"];
        (after["b"].as_f64().unwrap(), after["a"].as_f64().unwrap())
    };
    assert_eq!((after(0), after(1)), ((30.0, 38.0), (40.0, 44.0)));
}

#[test]
fn example_15_what_cannot_be_matched_is_released_in_the_next_round() {
    let groups = case(100, &[("a", 50.0, true), ("b", 50.0, true)], &[("a", 100.0), ("b", 50.0)]);
    let result = run(&with(groups, "matchable", by_name(&[("b", 20.0)])));
    let after = &result["rounds"][0]["usage_after"];
    assert_eq!((after["a"].as_f64(), after["b"].as_f64()), (Some(50.0), Some(20.0)));
    assert_eq!((of(&result, 1, "a", "allocated"), of(&result, 1, "b", "allocated")), (80.0, 20.0));
    assert_eq!(final_use(&result, &["a", "b"]), [80.0, 20.0]);
}

#[test]
fn example_16_autoregroup() {
    let mut spec = case(30, &[(P, 20.0, false), (C, 10.0, false)], &[(P, 15.0), (C, 40.0)]);
    spec["groups"][1]["autoregroup"] = true.into();
    let result = run(&spec);
    assert_eq!(column(&result, &[P, C, ROOT], "allocated"), [15.0, 10.0, 30.0]);
    assert_eq!(order(&result), [C, P, ROOT]);
    assert_eq!(limits(&result, 0), called([(C, 10), (P, 20), (ROOT, 30)]));
    assert_eq!(final_use(&result, &[P, C]), [15.0, 15.0]);
    assert_eq!((&result["autoregroup"], result["rounds"].as_array().unwrap().len()), (&json!(true), 3));
}

#[test]
fn example_17_static_quotas_come_before_dynamic_ones() {
    let groups = [("s", 30.0, false), ("d1", 0.5, false), ("d2", 0.25, false)];
    let demand = [("s", 100.0), ("d1", 100.0), ("d2", 100.0)];
    let result = run(&case(100, &groups, &demand));
    assert_eq!(column(&result, &["s", "d1", "d2", ROOT], "quota"), [30.0, 35.0, 17.5, 17.5]);
    assert!(limits(&result, 0).contains(&("d2", Some(17))));
    let result = run(&scaled(case(20, &groups, &demand)));
    assert_eq!(column(&result, &["s", "d1", ROOT], "quota"), [20.0, 0.0, 0.0]);
}

#[test]
fn example_18_single_slots_go_to_those_served_longest_ago() {
    let names = ["a", "b", "c", "d"];
    let groups = |accept| {
        let groups = names.map(|name| (name, 0.25, accept));
        let case = case(10, &groups, &names.map(|name| (name, 10.0)));
        let times = by_name(&[("a", 300.0), ("b", 100.0), ("c", 200.0), ("d", 100.0)]);
        with(with(case, "weighted", false), "rr_time", times)
    };
    assert_eq!(column(&run(&groups(true)), &names, "allocated"), [2.0, 3.0, 2.0, 3.0]);
    let mut alone = groups(false);
    alone["demand"][ROOT] = 5.into();
    let result = run(&alone);
    assert_eq!(column(&result, &names, "allocated"), [2.0; 4]);
    assert_eq!(of(&result, 0, ROOT, "allocated"), 2.0);
    // The recovered thirds sum to 0.9999999999999991: no whole slot.
    let third = 1.0 / 3.0;
    let thirds = case(
        10,
        &[("a", third, true), ("b", third, true), ("c", third, true)],
        &[("a", 10.0), ("b", 10.0), ("c", 10.0)],
    );
    assert_eq!(column(&run(&with(thirds, "weighted", false)), &["a", "b", "c"], "allocated"), [3.0; 3]);
}

#[test]
fn example_19_bad_names_are_left_out() {
    let result = run(&case(10, &[("B", 1.0, false), ("b", 2.0, false), ("a.b", 3.0, false)], &[("b", 5.0)]));
    let groups: Vec<&String> = result["rounds"][0]["groups"].as_object().unwrap().keys().collect();
    assert_eq!(groups, [ROOT, "B"]);
    assert_eq!(result["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(column(&result, &["B"], "allocated"), [1.0]);
}

#[test]
fn example_20_children_larger_than_their_parent() {
    let groups = [("a", 60.0, false), ("a.x", 40.0, false), ("a.y", 40.0, false), ("b", 40.0, false)];
    let spec = case(100, &groups, &[("a.x", 80.0), ("a.y", 80.0), ("b", 80.0)]);
    let leaves = ["a.x", "a.y", "b"];
    assert_eq!(column(&run(&scaled(spec.clone())), &leaves, "quota"), [30.0, 30.0, 40.0]);
    let result = run(&spec);
    assert_eq!(column(&result, &leaves, "quota"), [40.0, 40.0, 40.0]);
    assert_eq!(limits(&result, 0), called([("b", 40), ("a.x", 40), ("a.y", 20)]));
    assert_eq!(final_use(&result, &leaves), [40.0, 20.0, 40.0]);
}

/// Example 15: of the 50 jobs of `b` 20 match any slot, so that its allocation of the second round is 20, and that of `a` 50 + 30.
#[test]
fn example_15_the_table_of_a_cycle_has_the_allocations_of_the_last_round() {
    let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
    let job = |cluster: usize, number: usize, group: &str, requirements: bool| {
        ad(format!(
            "[ClusterId = {cluster}; ProcId = {number}; JobStatus = 1; JobUniverse = 5; Owner = \"u\"; AcctGroup = \"{group}\"; \
             AcctGroupUser = \"u\"; AccountingGroup = \"{group}.u\"; Requirements = {requirements}]"
        ))
    };
    let of_a = (0..100).map(|number| job(1, number, "a", true));
    let of_b = (0..50).map(|number| job(2 + usize::from(number >= 20), number, "b", number < 20));
    let text =
        b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 50\nGROUP_QUOTA_b = 50\nGROUP_ACCEPT_SURPLUS = true\nUID_DOMAIN = x";
    let snapshot = Snapshot {
        slots: (0..100)
            .map(|slot| ad(format!("[Name = \"s{slot}\"; State = \"Unclaimed\"; Requirements = true]")))
            .collect(),
        jobs: of_a.chain(of_b).collect(),
        config: Config::parse("config", text).unwrap(),
        ..Snapshot::default()
    };
    let found = negotiate(&snapshot).unwrap();
    let mut out = Vec::new();
    outcome::write(&mut out, &found, 0, Color::Off).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows = ["a", "b"].map(|group| {
        let line = text.lines().find(|line| line.starts_with(&format!("{group} "))).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    });
    // QUOTA, REQUESTED, USED BEFORE, ALLOCATED, USED; and the number of rounds.
    assert_eq!(rows.each_ref().map(|row| row[..5].join(" ")), ["50 100 0 80 80", "50 50 0 20 20"], "{text}");
    assert!(found.groups.iter().all(|group| group.rounds.len() > 1));
}

/// The simulation counts free slots: 100 slots stand for those that can be matched, and `total` for the pool.
#[test]
fn example_21_groups_that_want_the_same_slots_share_them_with_a_finite_rate() {
    let spec = |rate: u32, strict: bool| {
        let case =
            case(200, &[("a", 100.0, false), ("b", 100.0, false), ("w", 0.0, false)], &[("a", 200.0), ("b", 200.0)]);
        // The windows slots are taken, so only the 100 linux slots are free.
        let used = with(case, "usage", by_name(&[("w", 100.0)]));
        with(with(used, "strict", strict), "rate", rate)
    };
    for strict in [false, true] {
        assert_eq!(final_use(&run(&spec(10, strict)), &["a", "b"]), [50.0, 50.0], "{strict}");
        assert_eq!(final_use(&run(&spec(1_000_000, strict)), &["a", "b"]), [100.0, 0.0], "{strict}");
    }
}

/// Ten idle jobs of 4 cores are a demand of 40 with weighted demand, 10 without; surplus is granted only up to it.
#[test]
fn example_22_weighted_demand() {
    let granted = |demand: f64| {
        let groups = [("a", 4.0, true), ("b", 96.0, false)];
        of(&run(&case(100, &groups, &[("a", demand)])), 0, "a", "allocated")
    };
    assert_eq!((granted(40.0), granted(10.0)), (40.0, 10.0));
}

/// `weighted`, `oversub`, `strict`, `preempt`, `rounds`, `rate` and `accept_default` may be given or left to their defaults.
#[test]
fn the_defaults_of_a_case_are_those_of_the_configuration() {
    let mut given = physics_and_chemistry(30);
    for key in ["weighted", "oversub", "strict", "preempt"] {
        given[key] = true.into();
    }
    (given["rounds"], given["rate"], given["accept_default"]) = (3.into(), 1e100.into(), false.into());
    assert_eq!(run(&given), run(&physics_and_chemistry(30)));
}

// The examples of the manuals that are not among those above.

#[test]
fn manual_7_the_group_with_the_smaller_part_of_its_quota_in_use_goes_first() {
    let used = with(physics_and_chemistry(30), "usage", by_name(&[(P, 15.0), (C, 5.0)]));
    assert_eq!(order(&run(&used)), [C, P, ROOT]);
}

#[test]
fn manual_8_quotas_are_never_scaled_up() {
    let result = run(&physics_and_chemistry(60));
    assert_eq!(column(&result, &[P, C], "quota"), [20.0, 10.0]);
}

#[test]
fn manual_8_a_third_priority_takes_what_the_first_two_leave() {
    let spec = with(strict_priority(), "demand", by_name(&[(P, 33.0), (C, 32.0), ("bio", 90.0)]));
    assert_eq!(final_use(&run(&spec), &[P, C, "bio"]), [33.0, 32.0, 35.0]);
}

#[test]
fn a_malformed_case_is_answered_with_the_reason() {
    for (spec, why) in [
        (json!({ "id": 1 }), "expected an object in `spec`"),
        (json!({ "spec": { "groups": [] } }), "expected a number in `total`, found `null`"),
        (
            json!({ "spec": { "total": 1, "groups": [{ "name": "a", "static": "x" }] } }),
            "expected a number in `static`, found `\"x\"`",
        ),
        (json!({ "spec": { "total": 1, "groups": [{}] } }), "`name` is missing"),
        (json!({ "spec": { "total": 1, "groups": 5 } }), "expected a list in `groups`"),
        (json!({ "spec": { "total": 1, "usage": [] } }), "expected an object in `usage`"),
        (
            json!({ "spec": { "total": 1, "demand": { "a": "x" } } }),
            "expected a number in `demand` of `a`, found `\"x\"`",
        ),
        (json!({ "spec": { "total": 1, "strict": 1 } }), "expected true or false in `strict`, found `1`"),
    ] {
        assert_eq!(answer(Kind::Quotas, spec.to_string().as_bytes())["malformed"], why);
    }
}

#[test]
fn a_limit_that_the_reference_cannot_compute_matches_nothing() {
    // Both have all they ask for, so the largest gap is 0 while their quotas are not used up: 0/0.
    let groups = case(10, &[("a", 5.0, true), ("b", 5.0, true)], &[("a", 2.0), ("b", 1.0)]);
    let result = run(&with(groups, "usage", by_name(&[("a", 2.0), ("b", 1.0)])));
    assert_eq!(limits(&result, 0), [("b", None), ("a", None)]);
    assert_eq!(final_use(&result, &["a", "b"]), [2.0, 1.0]);
}
