//! Pairs of a job and a slot per second, and the parts of a match.
//!
//! `CLASSMATE_SLOTS` and `CLASSMATE_JOBS` name files of real ads; without them, ads are generated.

use std::hint::black_box;

use classmate::internal::eval::matching::{rank, symmetric};
use classmate::internal::eval::scope::EvalOptions;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

mod shape;

/// 2026-07-05T12:00:00Z, a day on which recorded slots have not expired.
const NOW: i64 = 1_783_252_800;

fn pairs(criterion: &mut Criterion) {
    let (slots, jobs) = (shape::slots(), shape::jobs());
    // Real slots evaluate the time of day, as in HTCondor's library.
    let wall =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(NOW, |t| t.as_secs() as i64);
    let now = if std::env::var_os("CLASSMATE_SLOTS").is_some() { wall() } else { NOW };
    let settings = EvalOptions { now, ..EvalOptions::default() };
    let mut group = criterion.benchmark_group("match");
    group.throughput(Throughput::Elements((slots.len() * jobs.len()) as u64));
    group.bench_function("symmetric", |bencher| {
        bencher.iter(|| {
            let matches = |job| slots.iter().filter(|slot| symmetric(job, slot, &settings)).count();
            black_box(jobs.iter().map(matches).sum::<usize>())
        });
    });
    group.bench_function("rank", |bencher| {
        bencher.iter(|| {
            let sum = |job| slots.iter().map(|slot| rank(job, slot, &settings)).sum::<f64>();
            black_box(jobs.iter().map(sum).sum::<f64>())
        });
    });
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
