//! A hundred thousand submitters, ordered by priority and dealt a pool of as many slots.

use std::hint::black_box;

use classmate_config::internal::config::Config;
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::accountant::{Accountant, Ungrouped};
use classmate_pool::internal::priority::{
    ChargedUsage, Claimant, CondorPriority, End, PieInput, PriorityPolicy, TurnResult,
};
use criterion::{Criterion, criterion_group, criterion_main};

const SUBMITTERS: usize = 100_000;

fn name(at: usize) -> Vec<u8> {
    format!("user{at}@site{}.example", at % 97).into_bytes()
}

/// Deals slots of one core until no submitter can be served, and returns the number of matches.
fn deal(policy: &CondorPriority, claimants: &[Claimant]) -> f64 {
    let terms = PieInput { weight: SUBMITTERS as f64, smallest_weight: 1.0, group: None, first_pie: 1 };
    let mut turns = policy.begin(claimants, &(), &terms);
    let (mut left, mut taken) = (SUBMITTERS as f64, 0.0);
    let mut usage: Vec<f64> = claimants.iter().map(|claimant| policy.standing(&claimant.submitter).usage).collect();
    while let Some(turn) = turns.next_turn() {
        // A submitter that is due part of a slot gets a whole one; every third has fewer jobs than its share.
        let wants = if turn.who % 3 == 0 { 1.0 } else { f64::INFINITY };
        let due = turn.allowance.limit.ceil();
        let weight = due.min(wants).min(left).max(0.0);
        (left, taken) = (left - weight, taken + weight);
        let end = if wants <= due { End::Done } else { End::Resume };
        usage[turn.who] += weight;
        let charged = ChargedUsage { submitter: usage[turn.who], group: None };
        turns.ended(TurnResult { end, weight, slots_left: left as usize }, Some(charged));
    }
    taken
}

fn submitters(criterion: &mut Criterion) {
    let config = Config::default();
    let Ok(knobs) = NegotiatorKnobs::read(&config) else { return };
    let mut accountant = Accountant::new(FactorRules::new(&knobs.accountant));
    for at in 0..SUBMITTERS {
        accountant.add_match(&name(at), (at * 7919 % 31) as f64, 0, &Ungrouped);
    }
    let mut policy = CondorPriority::new(accountant, std::sync::Arc::new(Ungrouped), &knobs);
    policy.charge(&[], 3600);
    let claimant =
        |at| Claimant { submitter: name(at), idle_jobs: 10, last_heard: at as i64, job_prio: None, schedd: Some(0) };
    let claimants: Vec<Claimant> = (0..SUBMITTERS).map(claimant).collect();
    let mut group = criterion.benchmark_group(format!("{SUBMITTERS} submitters"));
    group.sample_size(10);
    group.bench_function("ordered and dealt", |bencher| {
        bencher.iter(|| deal(black_box(&policy), black_box(&claimants)));
    });
    group.finish();
}

criterion_group!(benches, submitters);
criterion_main!(benches);
