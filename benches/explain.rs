//! Explaining a job against many slots, linting many lines, and comparing two cycles.

use std::fmt::Write as _;
use std::hint::black_box;

use classmate_advice::internal::explain::PoolFacts;
use classmate_advice::internal::explain::job_view::JobView;
use classmate_advice::internal::lint::config::lint;
use classmate_advice::internal::whatif::kind::SlotKinds;
use classmate_advice::internal::whatif::{Difference, PoolRun};
use classmate_config::internal::config::Config;
use classmate_pool::internal::generate::{GeneratedPool, NOW};
use classmate_pool::internal::negotiate::{PreparedPool, Snapshot, negotiate};
use criterion::{Criterion, criterion_group, criterion_main};

mod shape;

/// Slots a job is explained against.
const SLOTS: u64 = 100_000;

/// A generated pool in the shape of a large production pool, with the attributes that matter.
fn pool(slots: u64) -> Snapshot {
    let pool = GeneratedPool { slots, ..GeneratedPool::default() };
    let (mut of_slots, mut of_jobs) = (Vec::new(), Vec::new());
    // Writing to memory cannot fail.
    let _ = pool.write_slots(&mut of_slots);
    let _ = pool.write_jobs(&mut of_jobs);
    Snapshot { slots: shape::ads(&of_slots), jobs: shape::ads(&of_jobs), now: NOW, ..Snapshot::default() }
}

fn one_job(criterion: &mut Criterion) {
    let snapshot = pool(SLOTS);
    let Ok(pool) = PreparedPool::for_explanation(&snapshot) else { return };
    let facts = PoolFacts::new(&pool);
    let mut group = criterion.benchmark_group("explain");
    group.sample_size(10);
    group.bench_function("a job against 100,000 slots", |bencher| {
        bencher
            .iter(|| black_box(JobView::of(&facts, &snapshot.jobs[0]).explanation("1.0".to_owned(), "a@x".to_owned())));
    });
    group.finish();
}

fn two_cycles(criterion: &mut Criterion) {
    let snapshot = pool(2_000);
    let mut group = criterion.benchmark_group("whatif");
    group.sample_size(10);
    group.bench_function("one cycle over 2,000 slots", |bencher| bencher.iter(|| black_box(negotiate(&snapshot))));
    group.bench_function("two cycles and their difference", |bencher| {
        bencher.iter(|| {
            let run = || {
                let kinds = SlotKinds::of(&snapshot.slots, &snapshot.settings());
                PreparedPool::new(&snapshot).and_then(|mut pool| PoolRun::of(&mut pool, &kinds))
            };
            let (Ok(before), Ok(after)) = (run(), run()) else { unreachable!("the defaults are right") };
            black_box(Difference::between(&before, &after))
        });
    });
    group.finish();
}

/// Lines of a configuration.
const LINES: usize = 10_000;

fn many_lines(criterion: &mut Criterion) {
    let mut text = String::from("GROUP_NAMES = g0\nGROUP_QUOTA_g0 = 1\nBASE = TARGET.RequestCpus <= 8\n");
    for line in 3..LINES {
        let _ = match line % 4 {
            0 => writeln!(text, "SITE_{line} = $(BASE) && TARGET.RequestMemory <= {line}"),
            1 => writeln!(text, "STARTD_CRON_{line}_PERIOD = {line}s"),
            2 => {
                writeln!(text, "SLOT_TYPE_{line}_START = TARGET.RequestCpus <= {line} && (TARGET.Owner == \"u{line}\")")
            }
            _ => writeln!(text, "# site policy, part {line}"),
        };
    }
    let mut group = criterion.benchmark_group("lint");
    group.sample_size(10);
    group.bench_function("10,000 lines of configuration", |bencher| {
        bencher.iter(|| {
            let Ok(config) = Config::parse("c", text.as_bytes()) else { unreachable!("the text is right") };
            black_box(lint(&config))
        });
    });
    group.finish();
}

criterion_group!(benches, one_job, two_cycles, many_lines);
criterion_main!(benches);
