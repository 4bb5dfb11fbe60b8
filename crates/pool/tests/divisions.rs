//! What holds of every division of every tree of groups.

use std::collections::BTreeMap;

use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::Config;
use classmate_pool::internal::quota::settings::Stated;
use classmate_pool::internal::quota::{
    GroupSetting, GroupTree, QuotaPool, QuotaRules, QuotaSettings, ROOT, Round, Rounds,
};
use proptest::prelude::*;

/// A group as it is drawn: which of the earlier ones is its parent, quota, whether it accepts, demand and use.
#[derive(Debug, Clone)]
struct Drawn {
    parent: usize,
    fixed: Option<f64>,
    dynamic: Option<f64>,
    accept: bool,
    demand: f64,
    usage: f64,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let fixed = prop_oneof![Just(None), (0u32..60).prop_map(|slots| Some(f64::from(slots)))];
    let number = |most: u32| prop_oneof![3 => (0..most).prop_map(f64::from), 1 => 0.0..f64::from(most), 1 => Just(0.0)];
    (any::<usize>(), fixed, prop::option::weighted(0.8, 0.0..1.0f64), any::<bool>(), number(200), 0.0..1.0f64).prop_map(
        |(parent, fixed, dynamic, accept, demand, used)| {
            let usage = (demand * used).floor();
            Drawn { parent, fixed, dynamic, accept, demand, usage }
        },
    )
}

/// A pool: its groups with their names, and its size.
#[derive(Debug, Clone)]
struct Drawing {
    groups: Vec<(String, Drawn)>,
    total: f64,
    root_demand: f64,
}

fn drawing() -> impl Strategy<Value = Drawing> {
    (proptest::collection::vec(drawn(), 0..14), 0u32..300, 0u32..100).prop_map(|(drawn, total, root)| {
        let mut groups: Vec<(String, Drawn)> = Vec::new();
        for (at, group) in drawn.into_iter().enumerate() {
            // Every third at the top; the others below an earlier one.
            let name = match groups.get(group.parent % groups.len().max(1)) {
                Some((parent, _)) if group.parent % 3 != 0 => format!("{parent}.g{at}"),
                _ => format!("g{at}"),
            };
            groups.push((name, group));
        }
        Drawing { groups, total: f64::from(total), root_demand: f64::from(root) }
    })
}

fn settings(drawing: &Drawing, oversubscription: bool, weighted: bool) -> QuotaSettings {
    let defaults = QuotaSettings::read(&Config::default()).unwrap_or_default();
    let group = |(name, group): &(String, Drawn)| GroupSetting {
        name: name.clone().into_bytes(),
        fixed: group.fixed.map(Stated::from),
        dynamic: group.dynamic.map(Stated::from),
        accept_surplus: Some(group.accept),
        ..GroupSetting::default()
    };
    QuotaSettings {
        groups: drawing.groups.iter().map(group).collect(),
        rules: QuotaRules { oversubscription, weighted, ..defaults.rules },
        ..QuotaSettings::default()
    }
}

fn pool(drawing: &Drawing, tree: &GroupTree) -> QuotaPool {
    let of = |value: fn(&Drawn) -> f64, root: f64| {
        let mut values = vec![root; tree.len()];
        for (name, group) in &drawing.groups {
            if let Some(at) = tree.find(name.as_bytes()) {
                values[at] = value(group);
            }
        }
        values
    };
    QuotaPool {
        total: drawing.total,
        demand: of(|group| group.demand, drawing.root_demand),
        usage: of(|group| group.usage, 0.0),
        last_served: Vec::new(),
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// The groups, and what the first round grants them.
fn divided(settings: &QuotaSettings, drawing: &Drawing) -> (GroupTree, Round) {
    let tree = GroupTree::new(settings);
    let pool = pool(drawing, &tree);
    let round = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default()).divide().clone();
    (tree, round)
}

/// Quota, grant and place in the order of each group by name.
fn division(settings: &QuotaSettings, drawing: &Drawing) -> BTreeMap<String, (f64, f64, usize)> {
    let (tree, round) = divided(settings, drawing);
    let place = |group: usize| round.order.iter().position(|&at| at == group).unwrap_or(usize::MAX);
    let grants = round.grants.iter().enumerate();
    grants.map(|(at, grant)| (tree.display(at), (grant.quota, grant.allocated, place(at)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_oversubscription_nothing_is_made_or_lost(drawing in drawing(), weighted in any::<bool>()) {
        let (tree, round) = divided(&settings(&drawing, false, weighted), &drawing);
        prop_assert_eq!(tree.warnings().iter().filter(|w| w.message.contains("left out")).count(), 0);
        let quotas: f64 = round.grants.iter().map(|grant| grant.quota).sum();
        prop_assert!(near(quotas, drawing.total), "quotas {quotas} of {}", drawing.total);
        let allocated: f64 = round.grants.iter().map(|grant| grant.allocated).sum();
        prop_assert!(allocated <= drawing.total * (1.0 + 1e-12), "{allocated} of {}", drawing.total);
        if weighted {
            prop_assert!(near(allocated + round.surplus, drawing.total), "{allocated} and {}", round.surplus);
        }
        // A group that accepts no surplus bounds all below it.
        for group in (0..tree.len()).filter(|&group| group != ROOT && !tree.groups()[group].accepts_surplus) {
            let below = (0..tree.len()).filter(|&at| tree.upwards(at).any(|above| above == group));
            let sum: f64 = below.map(|at| round.grants[at].allocated).sum();
            let most = round.grants[group].subtree_quota;
            prop_assert!(sum <= most + 1e-9 * most.max(1.0), "{sum} below a quota of {most}");
        }
    }

    #[test]
    fn every_grant_is_the_sum_of_its_parts(drawing in drawing(), over in any::<bool>(), weighted in any::<bool>()) {
        let (tree, round) = divided(&settings(&drawing, over, weighted), &drawing);
        for (at, grant) in round.grants.iter().enumerate() {
            // Rounding of fractions may hand out part of a slot more than was asked for, never a whole one.
            let most = if weighted { grant.demand } else { grant.demand.ceil() };
            prop_assert!(grant.allocated <= most + 1e-9, "{} of {}", grant.allocated, grant.demand);
            prop_assert!(grant.fair <= grant.quota && grant.spare >= 0.0);
            prop_assert!(near(grant.allocated, grant.fair + grant.surplus() + grant.rounding), "{grant:?}");
            if weighted {
                prop_assert!(near(grant.allocated + grant.unmet, grant.demand), "{grant:?}");
            } else {
                prop_assert_eq!(grant.allocated.fract(), 0.0);
            }
            // Level by level: what comes into a pot is taken from it or goes up.
            let children = tree.groups()[at].children.clone();
            let from_below: f64 = children.map(|child| round.grants[child].level.passed_up).sum();
            prop_assert!(near(grant.level.pot, grant.spare + from_below));
            let taken = round.grants.iter().flat_map(|grant| &grant.taken).filter(|taken| taken.from == at);
            let taken: f64 = taken.map(|taken| taken.amount).sum();
            prop_assert!(near(grant.level.pot, taken + grant.level.passed_up), "{:?} and {taken}", grant.level);
            // Who accepts nothing, or is below such a group, takes from below it only.
            for taken in &grant.taken {
                let between = tree.upwards(at).take_while(|&above| above != taken.from);
                prop_assert!(between.into_iter().all(|above| tree.groups()[above].accepts_surplus));
            }
        }
    }

    /// What comes into the pot of a level (what the group leaves of its own quota, and what the levels below it pass up) is
    /// what the group and those below it take from it and what it passes up; so of all that is left anywhere, what nobody
    /// takes comes out at the root.
    #[test]
    fn surplus_is_conserved_level_by_level(drawing in drawing(), over in any::<bool>(), weighted in any::<bool>()) {
        let (tree, round) = divided(&settings(&drawing, over, weighted), &drawing);
        let mut taken_from = vec![0.0; tree.len()];
        for (taker, grant) in round.grants.iter().enumerate() {
            for taken in &grant.taken {
                prop_assert!(taken.amount > 0.0);
                prop_assert!(tree.upwards(taker).any(|above| above == taken.from), "taken from beside it: {grant:?}");
                taken_from[taken.from] += taken.amount;
            }
        }
        for (at, grant) in round.grants.iter().enumerate() {
            let children = tree.groups()[at].children.clone();
            let came_up: f64 = children.map(|child| round.grants[child].level.passed_up).sum();
            let (into, out) = (grant.spare + came_up, taken_from[at] + grant.level.passed_up);
            prop_assert!(near(into, out), "{}: {into} comes in, {out} goes out", tree.display(at));
            // Nothing goes up that somebody at this level still wants.
            prop_assert!(grant.level.passed_up <= 1e-9 || grant.level.wanted <= grant.level.pot + 1e-9);
        }
        let left: f64 = round.grants.iter().map(|grant| grant.spare).sum();
        let taken: f64 = taken_from.iter().sum();
        prop_assert!(near(left, taken + round.grants[ROOT].level.passed_up), "{left} left, {taken} taken");
        if weighted {
            prop_assert!(near(round.grants[ROOT].level.passed_up, round.surplus));
        }
    }

    /// In every round, with whatever the groups win; counted slots round up to the whole slot.
    #[test]
    fn allocations_never_exceed_demand(
        drawing in drawing(),
        over in any::<bool>(),
        weighted in any::<bool>(),
        wins in proptest::collection::vec(0.0..1.0f64, 1..8),
    ) {
        let settings = settings(&drawing, over, weighted);
        let tree = GroupTree::new(&settings);
        let pool = pool(&drawing, &tree);
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        let mut calls = 0;
        while let Some(call) = rounds.next(|group| pool.demand[group] > 0.0) {
            let usage = rounds.in_use()[call.group];
            let room = (f64::from(call.whole_limit()) - usage).max(0.0).min((pool.demand[call.group] - usage).max(0.0));
            rounds.used(call.group, usage + (room * wins[calls % wins.len()]).floor());
            calls += 1;
        }
        for round in rounds.record() {
            for (at, grant) in round.grants.iter().enumerate() {
                let most = if weighted { pool.demand[at] } else { pool.demand[at].ceil() };
                prop_assert!(grant.allocated <= most + 1e-9, "{}: {} of {most}", tree.display(at), grant.allocated);
            }
        }
    }

    #[test]
    fn the_order_of_the_declarations_does_not_matter(
        drawing in drawing(),
        over in any::<bool>(),
        weighted in any::<bool>(),
        turn in any::<usize>(),
    ) {
        let settings = settings(&drawing, over, weighted);
        let mut turned = settings.clone();
        turned.groups.reverse();
        let count = turned.groups.len();
        turned.groups.rotate_left(turn % count.max(1));
        prop_assert_eq!(division(&settings, &drawing), division(&turned, &drawing));
    }

    #[test]
    fn rounds_end_and_limits_stay_within_grants(
        drawing in drawing(),
        over in any::<bool>(),
        strict in any::<bool>(),
        preemption in any::<bool>(),
        rate in prop_oneof![Just(1e100), 1.0..50.0f64],
        wins in proptest::collection::vec(0.0..1.0f64, 1..8),
    ) {
        let mut settings = settings(&drawing, over, true);
        (settings.rules.strict, settings.rules.preemption, settings.rules.rate) = (strict, preemption, rate);
        let tree = GroupTree::new(&settings);
        let pool = pool(&drawing, &tree);
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        let mut calls = 0;
        while let Some(call) = rounds.next(|group| pool.demand[group] > 0.0) {
            let usage = rounds.in_use()[call.group];
            let grant = &rounds.record()[rounds.record().len() - 1].grants[call.group];
            let limit = call.limit.unwrap_or(0.0);
            let most = grant.allocated.max(grant.quota).max(grant.usage);
            prop_assert!(limit <= most + 1e-9, "a limit of {limit} beyond {most}");
            let room = (f64::from(call.whole_limit()) - usage).max(0.0);
            rounds.used(call.group, usage + (room * wins[calls % wins.len()]).floor());
            calls += 1;
            prop_assert!(calls < 100_000);
        }
        prop_assert!(rounds.record().len() <= 3);
    }

    #[test]
    fn any_numbers_at_all_are_divided(
        total in any::<f64>(),
        numbers in proptest::collection::vec(any::<f64>(), 12),
        weighted in any::<bool>(),
        over in any::<bool>(),
    ) {
        let names = ["a", "a.b", "a.c", "d"];
        let group = |(at, name): (usize, &&str)| GroupSetting {
            name: name.as_bytes().to_vec(),
            fixed: (at % 2 == 0).then(|| numbers[at].into()),
            dynamic: Some(numbers[at].into()),
            accept_surplus: Some(at < 3),
            ..GroupSetting::default()
        };
        let settings = QuotaSettings {
            groups: names.iter().enumerate().map(group).collect(),
            rules: QuotaRules { weighted, oversubscription: over, ..QuotaRules::default() },
            ..QuotaSettings::default()
        };
        let tree = GroupTree::new(&settings);
        let pool = QuotaPool {
            total,
            demand: numbers[..5].to_vec(),
            usage: numbers[5..10].to_vec(),
            last_served: numbers[7..].to_vec(),
        };
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        let mut calls = 0;
        while let Some(call) = rounds.next(|_| true) {
            rounds.used(call.group, f64::from(call.whole_limit()).max(0.0));
            calls += 1;
            prop_assert!(calls <= 3 * 5 * 10_001);
        }
    }
}

/// Ten thousand groups, each below the one before: nothing recurses.
#[test]
fn a_chain_of_ten_thousand_groups_is_divided() {
    const DEPTH: usize = 10_000;
    let mut name = Vec::new();
    let mut groups = Vec::with_capacity(DEPTH);
    for depth in 0..DEPTH {
        if depth > 0 {
            name.push(b'.');
        }
        name.push(b'g');
        groups.push(GroupSetting {
            name: name.clone(),
            dynamic: Some(1.0.into()),
            accept_surplus: Some(true),
            ..GroupSetting::default()
        });
    }
    let rules = QuotaRules { oversubscription: false, ..QuotaRules::default() };
    let settings = QuotaSettings { groups, rules, ..QuotaSettings::default() };
    for weighted in [true, false] {
        let settings = QuotaSettings { rules: QuotaRules { weighted, ..settings.rules.clone() }, ..settings.clone() };
        let tree = GroupTree::new(&settings);
        assert_eq!((tree.len(), tree.upwards(DEPTH).count()), (DEPTH + 1, DEPTH + 1));
        let mut demand = vec![1.0; DEPTH + 1];
        demand[DEPTH] = 60.0;
        let usage = vec![0.0; DEPTH + 1];
        let pool = QuotaPool { total: 100.0, demand, usage, last_served: Vec::new() };
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        let round = rounds.divide();
        // Everything is handed down to the last, which needs 60; the 40 left go to its parent, then up, one each.
        assert_eq!(round.grants[DEPTH].allocated, 60.0);
        assert!(round.grants[DEPTH - 40..DEPTH].iter().all(|grant| grant.allocated == 1.0));
        assert_eq!(round.grants.iter().map(|grant| grant.allocated).sum::<f64>(), 100.0);
        let mut calls = 0;
        while let Some(call) = rounds.next(|_| true) {
            rounds.used(call.group, f64::from(call.whole_limit()));
            calls += 1;
        }
        assert_eq!(calls, 41);
    }
}
