//! Negotiation cycles over generated pools: one for each row of the table in `docs/performance.md`, at sizes that fit a bench;
//! `benches/rows` runs them at full size.

use std::hint::black_box;

use classmate_config::internal::config::Config;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::generate::{GeneratedPool, NOW, Shape};
use classmate_pool::internal::negotiate::{CycleOptions, Matcher, PreparedPool, Purpose, Snapshot, negotiate};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

mod shape;

fn text(write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = write(&mut text);
    text
}

fn made(pool: &GeneratedPool) -> Snapshot {
    Snapshot {
        config: Config::parse("config", &text(&|out| pool.write_config(out))).unwrap_or_default(),
        slots: shape::ads(&text(&|out| pool.write_slots(out))),
        jobs: shape::ads(&text(&|out| pool.write_jobs(out))),
        submitters: Some(shape::ads(&text(&|out| pool.write_submitters(out)))),
        log: AccountantLog::read(&text(&|out| pool.write_log(out))).ok(),
        now: NOW,
        ..Snapshot::default()
    }
}

fn cycles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cycle");
    group.sample_size(10);
    let ospool = GeneratedPool {
        slots: 2000,
        jobs: 20_000,
        autoclusters: 200,
        submitters: 20,
        groups: 5,
        ..GeneratedPool::default()
    };
    let passes = GeneratedPool {
        shape: Shape::Static,
        slots: 10_000,
        autoclusters: 100,
        submitters: 100,
        unmatched: 0.0,
        ..GeneratedPool::default()
    };
    let fixed = GeneratedPool { shape: Shape::Static, submitters: 10, ..GeneratedPool::default() };
    for (name, pool) in [
        ("all rejected", GeneratedPool { slots: 20_000, jobs: 1000, autoclusters: 1000, unmatched: 1.0, ..fixed }),
        ("half matched", GeneratedPool { slots: 10_000, jobs: 10_000, autoclusters: 100, unmatched: 0.5, ..fixed }),
        ("glide-ins", ospool),
        ("glide-ins, twice the slots", GeneratedPool { slots: 4000, ..ospool }),
        ("glide-ins, twice the requests", GeneratedPool { autoclusters: 400, ..ospool }),
        ("one pass over the submitters", GeneratedPool { passes: 1, ..passes }),
        ("sixteen passes", GeneratedPool { passes: 16, ..passes }),
        (
            "worst case",
            GeneratedPool {
                shape: Shape::Distinct,
                slots: 2000,
                jobs: 100,
                unmatched: 0.0,
                ..GeneratedPool::default()
            },
        ),
    ] {
        let snapshot = made(&pool);
        group.throughput(Throughput::Elements(pool.slots * pool.autoclusters));
        group.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || snapshot.clone(),
                |snapshot| {
                    let slots = std::mem::take(&mut snapshot.slots);
                    let pool = PreparedPool::prepare(snapshot, slots, Purpose::Cycle, &mut ());
                    black_box(pool.and_then(|mut pool| pool.negotiate(CycleOptions::default())).is_ok())
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn slot_by_slot(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reference path");
    group.sample_size(10);
    for (slots, jobs) in [(100, 100), (1000, 100)] {
        let snapshot = Snapshot {
            slots: shape::ads(&shape::slots_text(slots)),
            jobs: shape::ads(&shape::jobs_text(jobs)),
            now: NOW,
            ..Snapshot::default()
        };
        group.throughput(Throughput::Elements((slots * jobs) as u64));
        group.bench_function(format!("{slots} slots, {jobs} jobs"), |bencher| {
            bencher.iter(|| {
                let options = CycleOptions { matcher: Matcher::Reference, ..CycleOptions::default() };
                black_box(PreparedPool::new(black_box(&snapshot)).and_then(|mut pool| pool.negotiate(options)).is_ok())
            });
        });
        group.bench_function(format!("{slots} slots, {jobs} jobs, by classes"), |bencher| {
            bencher.iter(|| black_box(negotiate(black_box(&snapshot)).is_ok()));
        });
    }
    group.finish();
}

criterion_group!(benches, cycles, slot_by_slot);
criterion_main!(benches);
