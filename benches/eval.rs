//! Evaluations per second of expressions of different kinds.

use std::hint::black_box;

use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use criterion::{Criterion, criterion_group, criterion_main};

mod shape;

const EXPRESSIONS: [(&str, &str); 7] = [
    ("arithmetic", "1 + 2 * 3 - 4 / 2"),
    ("reference", "Memory"),
    ("target", "TARGET.RequestMemory <= MY.Memory && TARGET.RequestCpus <= MY.Cpus"),
    ("conditional", "ifThenElse(Memory > 1024, Cpus * 2, Cpus)"),
    ("string list", "stringListMember(GLIDEIN_Site, \"site1,site2,site3,site4,site5\", \",\")"),
    ("list", "sum({ 1, 2, Cpus, Memory }) + size(split(\"a,b,c\"))"),
    ("requirements", "Requirements"),
];

fn expressions(criterion: &mut Criterion) {
    let slot = &shape::ads(&shape::slots_text(1))[0];
    let job = &shape::ads(&shape::jobs_text(1))[0];
    let settings = EvalOptions { now: 1_783_252_800, ..EvalOptions::default() };
    let scope = Scope::new(slot, &settings).with_target(job);
    let mut group = criterion.benchmark_group("eval");
    for (name, text) in EXPRESSIONS {
        let Ok(expr) = parse_expr(text.as_bytes(), &ParseOptions::default()) else { continue };
        group.bench_function(name, |bencher| bencher.iter(|| black_box(scope.eval(black_box(&expr)))));
    }
    group.finish();
}

criterion_group!(benches, expressions);
criterion_main!(benches);
