//! The worked examples of `docs/reference/group-quotas.md` 10, by number, through the conformance door.
//!
//! In a case `P` is `group_physics` and `C` is `group_chemistry`; every expected value is copied from the example.

#![expect(clippy::unwrap_used, reason = "a test whose data is wrong has failed")]

use std::collections::BTreeMap;

use classmate_cli::conform::{Kind, answer};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn play(spec: &Json) -> Json {
    let answer = answer(Kind::Quotas, json!({ "id": 1, "spec": spec }).to_string().as_bytes());
    assert!(answer.get("malformed").is_none(), "{answer}");
    answer["result"].clone()
}

/// A spec: pool, `oversub`, groups (`name: quota` with `*` in front for a fraction, `+` behind for accepting surplus, `~`
/// for autoregroup), demand, usage.
fn spec(total: f64, oversub: bool, groups: &[&str], demand: &[(&str, f64)], usage: &[(&str, f64)]) -> Json {
    let group = |text: &&str| {
        let (name, quota) = text.split_once(' ').unwrap_or((text, ""));
        let flags = quota.trim_start_matches(|c: char| c == '*' || c == '.' || c.is_ascii_digit());
        let number = quota[..quota.len() - flags.len()].trim_start_matches('*');
        let kind = if quota.starts_with('*') { "dynamic" } else { "static" };
        json!({
            "name": name, kind: number.parse::<f64>().unwrap(),
            "accept": flags.contains('+'), "autoregroup": flags.contains('~'),
        })
    };
    let numbers = |pairs: &[(&str, f64)]| {
        pairs.iter().map(|(name, n)| ((*name).to_owned(), json!(n))).collect::<serde_json::Map<_, _>>()
    };
    json!({
        "total": total, "weighted": true, "oversub": oversub, "strict": true, "preempt": true, "rounds": 3, "rate": 1e100,
        "accept_default": false, "groups": groups.iter().map(group).collect::<Vec<_>>(),
        "demand": numbers(demand), "usage": numbers(usage),
    })
}

/// A number of every group of a round: `quota`, `subtree_quota`, `allocated`.
fn numbers(result: &Json, round: usize, what: &str) -> BTreeMap<String, f64> {
    let groups = result["rounds"][round - 1]["groups"].as_object().unwrap();
    groups.iter().map(|(name, group)| (name.clone(), group[what].as_f64().unwrap())).collect()
}

/// Group and limit, truncated, in the order of the calls of a round.
fn limits(result: &Json, round: usize) -> Vec<(String, f64)> {
    let limits = result["rounds"][round - 1]["limits"].as_array().unwrap();
    limits.iter().map(|call| (call[0].as_str().unwrap().to_owned(), call[2].as_f64().unwrap_or(f64::NAN))).collect()
}

fn close(found: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (name, number) in expected {
        let found = found[*name];
        assert!((found - number).abs() < 1e-6, "{name}: {found}, not {number}");
    }
}

fn ends(result: &Json, expected: &[(&str, f64)]) {
    let found = result["final"].as_object().unwrap();
    let found = found.iter().map(|(name, number)| (name.clone(), number.as_f64().unwrap())).collect();
    close(&found, expected);
}

fn calls(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
    expected.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect()
}

const THIRTY: &[&str] = &["P 20", "C 10"];
const ALL: &[(&str, f64)] = &[("P", 100.0), ("C", 100.0)];

#[test]
fn example_1_thirty_slots() {
    for oversub in [false, true] {
        let result = play(&spec(30.0, oversub, THIRTY, ALL, &[]));
        close(&numbers(&result, 1, "quota"), &[("P", 20.0), ("C", 10.0), ("<none>", 0.0)]);
        close(&numbers(&result, 1, "allocated"), &[("P", 20.0), ("C", 10.0)]);
        assert_eq!(limits(&result, 1), calls(&[("C", 10.0), ("P", 20.0)]));
    }
    let result = play(&spec(30.0, true, THIRTY, ALL, &[("P", 15.0), ("C", 5.0)]));
    close(&numbers(&result, 1, "sort_key"), &[("P", 0.75), ("C", 0.5)]);
    ends(&result, &[("P", 20.0), ("C", 10.0)]);
}

#[test]
fn example_2_a_halved_pool() {
    let result = play(&spec(15.0, false, THIRTY, ALL, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 10.0), ("C", 5.0)]);
    ends(&result, &[("P", 10.0), ("C", 5.0)]);
    let result = play(&spec(15.0, true, THIRTY, ALL, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 20.0), ("C", 10.0), ("<none>", 0.0)]);
    close(&numbers(&result, 2, "allocated"), &[("P", 5.0)]);
    ends(&result, &[("P", 5.0), ("C", 10.0)]);
}

#[test]
fn example_3_a_doubled_pool_leaves_the_rest_to_everybody() {
    let result = play(&spec(60.0, true, THIRTY, &[("P", 100.0), ("C", 100.0), ("<none>", 100.0)], &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 20.0), ("C", 10.0), ("<none>", 30.0)]);
    close(&numbers(&result, 1, "allocated"), &[("<none>", 30.0)]);
}

#[test]
fn example_4_fractions_are_truncated_when_they_become_limits() {
    let groups = &["P *0.66", "C *0.33"];
    let result = play(&spec(30.0, true, groups, ALL, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 19.8), ("C", 9.9), ("<none>", 0.3)]);
    assert_eq!(limits(&result, 1), calls(&[("C", 9.0), ("P", 19.0)]));
    let result = play(&spec(60.0, true, groups, ALL, &[]));
    assert_eq!(limits(&result, 1), calls(&[("C", 19.0), ("P", 39.0)]));
    let mut counted = spec(30.0, true, &["P *0.66+", "C *0.33+"], ALL, &[]);
    counted["weighted"] = json!(false);
    close(&numbers(&play(&counted), 1, "allocated"), &[("P", 20.0), ("C", 10.0)]);
}

#[test]
fn example_5_fractions_above_one_are_normalised() {
    let result = play(&spec(30.0, true, &["P *0.9", "C *0.6"], ALL, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 18.0), ("C", 12.0), ("<none>", 0.0)]);
}

const SUBGROUPS: &[&str] = &["P 20", "P.hep 15", "P.lep 5", "C 10"];
const SIXTY: &[(&str, f64)] = &[("P.hep", 60.0), ("P.lep", 60.0), ("C", 60.0)];

#[test]
fn example_6_static_subgroups() {
    let result = play(&spec(30.0, false, SUBGROUPS, SIXTY, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 0.0), ("P.hep", 15.0), ("P.lep", 5.0), ("C", 10.0)]);
    close(&numbers(&result, 1, "subtree_quota"), &[("P", 20.0), ("P.hep", 15.0)]);
    assert_eq!(limits(&result, 1), calls(&[("C", 10.0), ("P.hep", 15.0), ("P.lep", 5.0)]));
    let order: Vec<_> = result["rounds"][0]["order"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert_eq!(order, ["C", "P.hep", "P.lep", "P", "<none>"]);
    let result = play(&spec(30.0, true, SUBGROUPS, SIXTY, &[]));
    close(&numbers(&result, 1, "quota"), &[("P", 20.0)]);
    ends(&result, &[("P.hep", 15.0), ("P.lep", 5.0), ("C", 10.0)]);
}

#[test]
fn example_7_dynamic_subgroups() {
    let groups = &["C *0.33334", "P *0.66667", "P.hep *0.75", "P.lep *0.25"];
    let result = play(&spec(30.0, false, groups, SIXTY, &[]));
    // Divided by 1.00001.
    close(&numbers(&result, 1, "subtree_quota"), &[("C", 10.000_2 / 1.000_01), ("P", 20.000_1 / 1.000_01)]);
    assert_eq!(limits(&result, 1), calls(&[("C", 10.0), ("P.hep", 14.0), ("P.lep", 4.0)]));
}

const LOCAL: &[&str] = &["P 20", "P.hep 15+", "P.lep 5+", "C 10"];

#[test]
fn example_8a_surplus_stays_under_a_parent_that_accepts_none() {
    let demand = &[("P.hep", 4.0), ("P.lep", 60.0), ("C", 60.0)];
    let result = play(&spec(30.0, false, LOCAL, demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.hep", 4.0), ("P.lep", 16.0), ("C", 10.0)]);
    ends(&result, &[("P.hep", 4.0), ("P.lep", 16.0), ("C", 10.0)]);
}

#[test]
fn example_8b_what_is_granted_is_cut_to_what_the_parent_may_use() {
    let demand = &[("P.hep", 60.0), ("P.lep", 2.0), ("C", 60.0)];
    let result = play(&spec(30.0, false, LOCAL, demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.hep", 18.0), ("P.lep", 2.0)]);
    assert!(limits(&result, 1).contains(&("P.lep".to_owned(), 2.0)), "{:?}", limits(&result, 1));
}

#[test]
fn example_8c_and_d_oversubscription_counts_the_parents_quota_twice() {
    let demand = &[("P.hep", 4.0), ("P.lep", 60.0), ("C", 60.0)];
    let result = play(&spec(30.0, true, LOCAL, demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.lep", 36.0)]);
    ends(&result, &[("P.hep", 4.0), ("P.lep", 16.0), ("C", 10.0)]);
    let result = play(&spec(30.0, true, LOCAL, SIXTY, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.hep", 30.0), ("P.lep", 10.0)]);
    ends(&result, &[("P.hep", 20.0), ("P.lep", 0.0)]);
}

#[test]
fn example_9_surplus_comes_through_a_parent_that_accepts() {
    let groups = &["P 20+", "P.hep 15+", "P.lep 5+", "C 10"];
    let demand = &[("P.hep", 60.0), ("P.lep", 60.0), ("C", 2.0)];
    let result = play(&spec(30.0, false, groups, demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.hep", 21.0), ("P.lep", 7.0), ("C", 2.0)]);
    let result = play(&spec(30.0, false, groups, SIXTY, &[]));
    close(&numbers(&result, 1, "allocated"), &[("P.hep", 15.0), ("P.lep", 5.0), ("C", 10.0)]);
}

#[test]
fn example_10_surplus_is_dealt_in_proportion_and_capped_by_demand() {
    let groups = &["a 40+", "b 20+", "c 40"];
    let demand = &[("a", 100.0), ("b", 100.0), ("c", 10.0)];
    close(
        &numbers(&play(&spec(100.0, true, groups, demand, &[])), 1, "allocated"),
        &[("a", 60.0), ("b", 30.0), ("c", 10.0)],
    );
    let demand = &[("a", 50.0), ("b", 100.0), ("c", 10.0)];
    close(
        &numbers(&play(&spec(100.0, true, groups, demand, &[])), 1, "allocated"),
        &[("a", 50.0), ("b", 40.0), ("c", 10.0)],
    );
}

#[test]
fn example_11_groups_without_quota_take_what_is_left_equally() {
    let demand = &[("a", 70.0), ("y", 50.0), ("z", 50.0)];
    let result = play(&spec(100.0, true, &["a 60+", "y 0+", "z 0+"], demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("a", 70.0), ("y", 15.0), ("z", 15.0)]);
}

#[test]
fn example_12_strict_priority_by_oversubscription() {
    let groups = &["P 1000000", "C 10000", "bio 1000"];
    let demand = &[("P", 70.0), ("C", 50.0), ("bio", 50.0)];
    let result = play(&spec(100.0, true, groups, demand, &[("P", 30.0), ("C", 30.0), ("bio", 30.0)]));
    close(&numbers(&result, 1, "sort_key"), &[("P", 0.000_03), ("C", 0.003), ("bio", 0.03)]);
    ends(&result, &[("P", 40.0), ("C", 30.0), ("bio", 30.0)]);
}

#[test]
fn example_13_the_lowest_level_comes_first() {
    let groups = &["a 60+", "a.x 30+", "a.y 30", "b 40+", "b.u 40+"];
    let demand = &[("a", 5.0), ("a.x", 80.0), ("a.y", 10.0), ("b.u", 80.0)];
    let result = play(&spec(100.0, false, groups, demand, &[]));
    close(&numbers(&result, 1, "allocated"), &[("a.x", 50.0), ("a.y", 10.0), ("b.u", 40.0), ("a", 0.0)]);
}

#[test]
fn example_14_limits_rise_step_by_step() {
    let mut slow = spec(200.0, true, &["a 100", "b 100"], &[("a", 200.0), ("b", 200.0)], &[]);
    (slow["rate"], slow["strict"]) = (json!(10.0), json!(false));
    let steps: Vec<_> = limits(&play(&slow), 1).into_iter().map(|(_, limit)| limit).collect();
    let expected: Vec<f64> = (1..=10).flat_map(|step| [f64::from(step) * 10.0; 2]).collect();
    assert_eq!(steps, expected);
    let mut strict = spec(100.0, true, &["a 50", "b 50"], &[("a", 200.0), ("b", 200.0)], &[("a", 20.0)]);
    strict["rate"] = json!(10.0);
    let result = play(&strict);
    let first: Vec<_> = limits(&result, 1).into_iter().take(8).collect();
    let expected =
        [("b", 10.0), ("a", 26.0), ("b", 20.0), ("a", 32.0), ("b", 30.0), ("a", 38.0), ("b", 20.0), ("a", 32.0)];
    assert_eq!(first, calls(&expected));
    assert_eq!(
        (result["rounds"][0]["usage_after"]["a"].as_f64(), result["rounds"][0]["usage_after"]["b"].as_f64()),
        (Some(38.0), Some(30.0))
    );
    assert_eq!(
        (result["rounds"][1]["usage_after"]["a"].as_f64(), result["rounds"][1]["usage_after"]["b"].as_f64()),
        (Some(44.0), Some(40.0))
    );
}

#[test]
fn example_15_what_a_group_cannot_use_is_for_others_in_the_next_round() {
    let mut case = spec(100.0, true, &["a 50+", "b 50+"], &[("a", 100.0), ("b", 50.0)], &[]);
    case["matchable"] = json!({ "b": 20.0 });
    let result = play(&case);
    close(&numbers(&result, 2, "allocated"), &[("a", 80.0), ("b", 20.0)]);
    ends(&result, &[("a", 80.0), ("b", 20.0)]);
}

#[test]
fn example_16_autoregroup_is_a_second_chance() {
    let result = play(&spec(30.0, true, &["P 20", "C 10~"], &[("P", 15.0), ("C", 40.0)], &[]));
    assert_eq!(result["autoregroup"], json!(true));
    ends(&result, &[("P", 15.0), ("C", 15.0)]);
}

#[test]
fn example_17_static_before_dynamic() {
    let result = play(&spec(100.0, true, &["s 30", "d1 *0.5", "d2 *0.25"], &[], &[]));
    close(&numbers(&result, 1, "quota"), &[("s", 30.0), ("d1", 35.0), ("d2", 17.5), ("<none>", 17.5)]);
    let result = play(&spec(20.0, false, &["s 30", "d1 *0.5", "d2 *0.25"], &[], &[]));
    close(&numbers(&result, 1, "quota"), &[("s", 20.0), ("d1", 0.0), ("<none>", 0.0)]);
}

#[test]
fn example_18_whole_slots_go_to_those_who_wait_longest() {
    let demand = &[("a", 10.0), ("b", 10.0), ("c", 10.0), ("d", 10.0)];
    let mut case = spec(10.0, true, &["a *0.25+", "b *0.25+", "c *0.25+", "d *0.25+"], demand, &[]);
    case["weighted"] = json!(false);
    case["rr_time"] = json!({ "a": 300, "b": 100, "c": 200, "d": 100 });
    close(&numbers(&play(&case), 1, "allocated"), &[("a", 2.0), ("b", 3.0), ("c", 2.0), ("d", 3.0)]);
    // The three thirds sum to less than ten in double arithmetic: one slot is lost.
    let third = format!("*{}+", 1.0 / 3.0);
    let groups: Vec<String> = ["a", "b", "c"].iter().map(|name| format!("{name} {third}")).collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let mut case = spec(10.0, true, &groups, &demand[..3], &[]);
    case["weighted"] = json!(false);
    close(&numbers(&play(&case), 1, "allocated"), &[("a", 3.0), ("b", 3.0), ("c", 3.0)]);
}

#[test]
fn example_20_children_larger_than_their_parent() {
    let demand = &[("a.x", 80.0), ("a.y", 80.0), ("b", 80.0)];
    let groups = &["a 60", "a.x 40", "a.y 40", "b 40"];
    ends(&play(&spec(100.0, false, groups, demand, &[])), &[("a.x", 30.0), ("a.y", 30.0), ("b", 40.0)]);
    ends(&play(&spec(100.0, true, groups, demand, &[])), &[("a.x", 40.0), ("a.y", 20.0), ("b", 40.0)]);
}

#[test]
fn what_is_no_case_is_told() {
    let answer = |case: &str| answer(Kind::Quotas, case.as_bytes())["malformed"].as_str().unwrap().to_owned();
    assert_eq!(answer(r#"{"id": 1}"#), "expected an object in `spec`");
    assert_eq!(answer(r#"{"id": 1, "spec": {"groups": []}}"#), "expected a number in `total`, found `null`");
    assert_eq!(
        answer(r#"{"id": 1, "spec": {"total": 1, "groups": [{"name": "a", "static": "x"}]}}"#),
        "expected a number in `static`, found `\"x\"`"
    );
}

/// A random tree of two levels with demand and usage.
fn pools() -> impl Strategy<Value = Json> {
    let group = (0..3u8, 0.0..60.0f64, any::<bool>(), 0.0..80.0f64, 0.0..10.0f64);
    (1.0..200.0f64, prop::collection::vec((group.clone(), prop::collection::vec(group, 0..4)), 1..5)).prop_map(|(total, tree)| {
        let (mut groups, mut demand, mut usage) = (Vec::new(), serde_json::Map::new(), serde_json::Map::new());
        let mut add = |name: String, (kind, quota, accept, asks, uses): (u8, f64, bool, f64, f64)| {
            let mut group = json!({ "name": name, "accept": accept });
            match kind {
                0 => group["static"] = json!(quota.floor()),
                1 => group["dynamic"] = json!(quota / 60.0),
                _ => {}
            }
            demand.insert(name.clone(), json!((asks + uses).floor()));
            usage.insert(name, json!(uses.floor().min((asks + uses).floor())));
            groups.push(group);
        };
        for (at, (parent, children)) in tree.into_iter().enumerate() {
            add(format!("g{at}"), parent);
            for (child, group) in children.into_iter().enumerate() {
                add(format!("g{at}.c{child}"), group);
            }
        }
        json!({ "total": total.floor(), "oversub": false, "strict": true, "preempt": true, "rounds": 3, "groups": groups, "demand": demand, "usage": usage })
    })
}

proptest! {
    #[test]
    fn without_oversubscription_quotas_sum_to_the_pool_and_grants_to_no_more(spec in pools()) {
        let result = play(&spec);
        let total = spec["total"].as_f64().unwrap();
        let sum = |what: &str| numbers(&result, 1, what).values().sum::<f64>();
        prop_assert!((sum("quota") - total).abs() < 1e-6 * total.max(1.0), "{}", sum("quota"));
        prop_assert!(sum("allocated") <= total + 1e-6 * total.max(1.0), "{}", sum("allocated"));
        let surplus = result["rounds"][0]["surplus"].as_f64().unwrap();
        // What is not granted is the surplus that nobody took.
        prop_assert!((sum("allocated") + surplus - total).abs() < 1e-6 * total.max(1.0), "{} and {surplus}", sum("allocated"));
        for (name, granted) in numbers(&result, 1, "allocated") {
            let asked = spec["demand"][&name].as_f64().unwrap_or(0.0);
            prop_assert!(granted <= asked + 1e-9, "{name}: {granted} of {asked}");
        }
    }

    #[test]
    fn the_order_of_the_groups_in_the_configuration_changes_nothing(spec in pools(), seed in any::<prop::sample::Index>()) {
        let mut other = spec.clone();
        let groups = other["groups"].as_array_mut().unwrap();
        let by = seed.index(groups.len());
        groups.rotate_left(by);
        groups.reverse();
        prop_assert_eq!(play(&other), play(&spec));
    }
}
