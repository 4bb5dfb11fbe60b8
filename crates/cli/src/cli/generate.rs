//! `classmate generate POOL`

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use indicatif::ProgressBarIter;

use crate::cli::{Failure, input, words, write_file};
use classmate_pool::internal::generate::{GENERATED, GeneratedPool, Shape};

/// Maximum number of groups; no real configuration has more.
const MAX_GROUPS: u64 = 1_000_000;

/// Maximum number of passes; more would need priorities that are out of range.
const MAX_PASSES: i64 = 100;

/// From 0 to 1.
fn fraction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Generate a synthetic pool.
///
/// The pool is a directory for `classmate negotiate`. Its ads are modeled on a large production pool: the distributions
/// of cores, memory, disk, sites and START expressions, and many kinds of job requirements. The same seed generates the
/// same pool.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate generate pool --slots 1000 --jobs 10000 --autoclusters 100 --submitters 20 --groups 5
  classmate generate cluster --shape static --slots 2000 --jobs 1000 --unmatched 1
  classmate negotiate pool --matches none --stats

Exit status: 0 if the pool was written, 1 if a file cannot be written or another pool would be replaced.")]
pub(super) struct GenerateArguments {
    /// Output directory, created if it does not exist; a generated pool in it is replaced, another one is not
    pool: PathBuf,
    /// Number of slots
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    slots: u64,
    /// Number of idle jobs
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    jobs: u64,
    /// Generate about as many jobs as slots, with submitter priorities chosen so that the slots are assigned in this
    /// many passes over the submitters (if each slot matches each job: `--shape static --unmatched 0`)
    #[arg(long, value_name = "NUMBER", default_value_t = 0, conflicts_with = "jobs",
          value_parser = clap::value_parser!(u32).range(..=MAX_PASSES))]
    passes: u32,
    /// Number of autoclusters, each with a single submitter
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    autoclusters: u64,
    /// Number of submitters
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    submitters: u64,
    /// Number of accounting groups, each with an equal quota
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_GROUPS))]
    groups: u64,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Kind of slots and jobs
    #[arg(long, value_parser = words(&SHAPES), default_value = "ospool")]
    shape: Shape,
    /// Write about 475 attributes per slot, not only those that matter
    #[arg(long)]
    full: bool,
    /// Fraction of static slots that already run a job, 0 to 1
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0, value_parser = fraction)]
    claimed: f64,
    /// Fraction of autoclusters that request more than any slot has, 0 to 1
    #[arg(long, value_name = "FRACTION", default_value_t = 0.05, value_parser = fraction)]
    unmatched: f64,
}

const SHAPES: [(&str, &str, Shape); 5] = [
    ("ospool", "Partitionable slots at many sites", Shape::Ospool),
    ("static", "Static slots with one core", Shape::Static),
    ("gpu", "Like `ospool`, but half of the slots have GPUs", Shape::Gpu),
    ("stock", "Static slots and jobs as HTCondor 25.14.1 advertises and submits them by default", Shape::Stock),
    ("distinct", "All slots and all autoclusters differ: the worst case", Shape::Distinct),
];

/// Refuses to replace a pool that was not generated, such as a snapshot.
fn refuse_other_pool(directory: &Path) -> Result<(), Failure> {
    let is_generated =
        || std::fs::read(directory.join("config")).is_ok_and(|text| text.starts_with(GENERATED.as_bytes()));
    if ["slots.ads", "jobs.ads", "config"].iter().any(|file| directory.join(file).exists()) && !is_generated() {
        let message = format!("`{}` has a pool whose `config` does not begin with `{GENERATED}`", directory.display());
        return Err(Failure::new(message).help("name a new directory, or delete this one"));
    }
    Ok(())
}

pub(super) fn run(arguments: &GenerateArguments) -> Result<(), Failure> {
    let pool = GeneratedPool {
        slots: arguments.slots,
        jobs: arguments.jobs,
        passes: arguments.passes,
        autoclusters: arguments.autoclusters,
        submitters: arguments.submitters,
        groups: arguments.groups,
        seed: arguments.seed,
        shape: arguments.shape,
        full: arguments.full,
        claimed: arguments.claimed,
        unmatched: arguments.unmatched,
    };
    refuse_other_pool(&arguments.pool)?;
    std::fs::create_dir_all(&arguments.pool).map_err(|error| Failure::writing(arguments.pool.display(), &error))?;
    let progress = input::written();
    let file = |name: &'static str, write: &dyn Fn(&mut BufWriter<ProgressBarIter<File>>) -> io::Result<()>| {
        progress.set_message(name);
        write_file(&arguments.pool.join(name), |file| progress.wrap_write(file), write)
    };
    file("slots.ads", &|out| pool.write_slots(out))?;
    file("jobs.ads", &|out| pool.write_jobs(out))?;
    file("submitters.ads", &|out| pool.write_submitters(out))?;
    file("config", &|out| pool.write_config(out))?;
    file("Accountantnew.log", &|out| pool.write_log(out))?;
    progress.finish_and_clear();
    Ok(())
}
