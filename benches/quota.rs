//! Dividing a pool among ten thousand groups: reading their settings, the tree, an allocation round, and the negotiation of a cycle.

use std::fmt::Write;
use std::hint::black_box;

use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::Config;
use classmate_pool::internal::quota::{GroupTree, QuotaPool, QuotaSettings, Rounds};
use criterion::{Criterion, criterion_group, criterion_main};

const GROUPS: usize = 10_000;

/// Groups three levels deep: 20 at the top, 20 below each, 24 below each of those; every other accepts surplus.
fn configuration() -> String {
    let mut names = Vec::new();
    'all: for top in 0..20 {
        names.push(format!("g{top}"));
        for middle in 0..20 {
            names.push(format!("g{top}.m{middle}"));
            for leaf in 0..24 {
                names.push(format!("g{top}.m{middle}.l{leaf}"));
                if names.len() == GROUPS {
                    break 'all;
                }
            }
        }
    }
    let mut text = format!("GROUP_NAMES = {}\n", names.join(", "));
    for (at, name) in names.iter().enumerate() {
        let depth = name.split('.').count();
        let _ = match depth {
            1 => writeln!(text, "GROUP_QUOTA_{name} = {}", 100 + at % 7),
            2 => writeln!(text, "GROUP_QUOTA_DYNAMIC_{name} = 0.0{}", 1 + at % 5),
            _ => writeln!(text, "GROUP_QUOTA_DYNAMIC_{name} = 0.0{}", 1 + at % 9),
        };
        if at % 2 == 0 {
            let _ = writeln!(text, "GROUP_ACCEPT_SURPLUS_{name} = true");
        }
    }
    text
}

fn quotas(criterion: &mut Criterion) {
    let Ok(config) = Config::parse("c", configuration().as_bytes()) else { return };
    let Ok(settings) = QuotaSettings::read(&config) else { return };
    let tree = GroupTree::new(&settings);
    let count = tree.len();
    let pool = QuotaPool {
        total: 20_000.0,
        demand: (0..count).map(|at| (at * 7919 % 13) as f64).collect(),
        usage: (0..count).map(|at| (at * 7919 % 13 / 3) as f64).collect(),
        last_served: Vec::new(),
    };
    let mut group = criterion.benchmark_group(format!("{GROUPS} groups"));
    group.sample_size(20);
    group.bench_function("settings and tree", |bencher| {
        bencher.iter(|| QuotaSettings::read(black_box(&config)).map(|settings| GroupTree::new(&settings).len()));
    });
    for (name, weighted) in [("one round", true), ("one round without slot weights", false)] {
        let mut rules = settings.rules.clone();
        rules.weighted = weighted;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut rounds = Rounds::new(&tree, &rules, black_box(&pool), EvalOptions::default());
                rounds.divide().surplus
            });
        });
    }
    group.bench_function("three rounds with all calls", |bencher| {
        bencher.iter(|| {
            let mut rounds = Rounds::new(&tree, &settings.rules, black_box(&pool), EvalOptions::default());
            let mut calls = 0;
            while let Some(call) = rounds.next(|_| true) {
                let usage = rounds.in_use()[call.group];
                rounds.used(call.group, usage.max(f64::from(call.whole_limit() / 2)));
                calls += 1;
            }
            calls
        });
    });
    group.finish();
}

criterion_group!(benches, quotas);
criterion_main!(benches);
