//! Negotiation cycles per second on pools of different sizes.

use std::hint::black_box;

use classmate::negotiate::{Snapshot, negotiate};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

mod shape;

fn cycles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cycle");
    group.sample_size(10);
    for (slots, jobs) in [(100, 100), (1000, 100)] {
        let snapshot = Snapshot {
            slots: shape::ads(&shape::slots_text(slots)),
            jobs: shape::ads(&shape::jobs_text(jobs)),
            now: 1_783_252_800,
            ..Snapshot::default()
        };
        group.throughput(Throughput::Elements((slots * jobs) as u64));
        group.bench_function(format!("{slots} slots, {jobs} jobs"), |bencher| {
            bencher.iter(|| black_box(negotiate(black_box(&snapshot)).is_ok()));
        });
    }
    group.finish();
}

criterion_group!(benches, cycles);
criterion_main!(benches);
