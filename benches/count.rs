//! One pass over all pairs of a job and a slot, to count its instructions, which do not depend on other load.
//!
//!     cargo bench -p classmate --bench count --no-run
//!     valgrind --tool=callgrind --toggle-collect='count::pass' target/release/deps/count-…
//!
//! `CLASSMATE_SLOTS` and `CLASSMATE_JOBS` name files of real ads; without them, ads are generated.
#![expect(clippy::print_stdout, reason = "the numbers are what it is for")]

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::eval::scope::EvalOptions;

mod shape;

/// 2026-07-05T12:00:00Z, a day on which recorded slots have not expired.
const NOW: i64 = 1_783_252_800;

#[inline(never)]
fn pass(jobs: &[ClassAd], slots: &[ClassAd], settings: &EvalOptions) -> usize {
    jobs.iter().map(|job| slots.iter().filter(|slot| symmetric(job, slot, settings)).count()).sum()
}

fn main() {
    let (slots, jobs) = (shape::slots(), shape::jobs());
    let settings = EvalOptions { now: NOW, ..EvalOptions::default() };
    let matches = pass(&jobs, &slots, &settings);
    println!("pairs {}, matches {matches}", slots.len() * jobs.len());
}
