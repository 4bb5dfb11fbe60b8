//! `classmate match --job FILE --slots FILE`

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use crate::cli::input::{self, Notes};
use crate::cli::{Failure, Form, Streams, World, print, words};
use crate::report::{counted, printable};
use classmate::internal::eval::matching::{is_true, requirements};
use classmate::internal::threads;
use classmate::{ClassAd, EvalError, EvalOptions, Value, rank};
use classmate_pool::internal::pool::slot::is_slot;

/// Match every job with every slot and count the matches.
///
/// Each pair is listed with both decisions and the job's Rank. Requirements accept if they evaluate to true or a
/// nonzero number; false, UNDEFINED and ERROR reject.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate match --job jobs.ads --slots slots.ads
  classmate match --job job.ads --slots slots.ads.gz --pairs matches --now 2026-07-05T12:00:00Z
  condor_status -long | classmate match --job job.ads --slots - --pairs none")]
pub(super) struct MatchArguments {
    /// File of job ads, in any format (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    job: PathBuf,
    /// File of slot ads
    #[arg(long, value_name = "FILE")]
    slots: PathBuf,
    /// Pairs to list
    #[arg(long, value_enum, default_value = "all")]
    pairs: Pairs,
    /// Output format
    #[arg(long, value_parser = words(&FORMS), default_value = "table")]
    format: Form,
    #[command(flatten)]
    world: World,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Pairs {
    /// Every pair
    All,
    /// Only pairs that match
    Matches,
    /// Only the counts
    None,
}

const FORMS: [(&str, &str, Form); 2] = [
    ("table", "Aligned columns", Form::Text),
    ("json", "JSON lines: one line per pair, then one line per job", Form::Json),
];

/// The Requirements of a job and a slot, evaluated for each other.
struct Pair {
    job: Result<Value, EvalError>,
    slot: Result<Value, EvalError>,
    rank: f64,
}

impl Pair {
    fn of(job: &ClassAd, slot: &ClassAd, settings: &EvalOptions) -> Pair {
        Pair {
            job: requirements(job, slot, settings),
            slot: requirements(slot, job, settings),
            rank: rank(job, slot, settings),
        }
    }

    fn matches(&self) -> bool {
        is_true(&self.job) && is_true(&self.slot)
    }
}

#[derive(Default)]
struct Counts {
    job: usize,
    slot: usize,
    both: usize,
}

pub(super) fn run(arguments: &MatchArguments, streams: Streams) -> Result<(), Failure> {
    let settings = arguments.world.settings();
    let mut notes = Notes::default();
    let jobs = input::ads(&arguments.job, &settings, &mut notes)?;
    let mut slots = input::ads(&arguments.slots, &settings, &mut notes)?;
    let all = slots.len();
    slots.retain(is_slot);
    if slots.len() < all {
        let (others, file) = (all - slots.len(), arguments.slots.display());
        notes.warn(format!("skipped {others} ads in `{file}` that are not slot ads (MyType)"));
    }
    notes.show(streams.err);
    for (ads, what, path) in [(&jobs, "job", &arguments.job), (&slots, "slot", &arguments.slots)] {
        if ads.is_empty() {
            return Err(Failure::input(format!("`{}` holds no ads: expected at least one {what}", path.display())));
        }
    }
    print(None, |out| write(out, arguments, &jobs, &slots, &settings))
}

fn write(
    out: &mut impl Write,
    arguments: &MatchArguments,
    jobs: &[ClassAd],
    slots: &[ClassAd],
    settings: &EvalOptions,
) -> std::io::Result<()> {
    let job_names: Vec<String> = jobs.iter().enumerate().map(|(at, ad)| job_name(ad, at)).collect();
    let slot_names: Vec<String> = slots.iter().enumerate().map(|(at, ad)| slot_name(ad, at)).collect();
    let width = |names: &[String], least: usize| names.iter().map(|name| name.chars().count()).fold(least, usize::max);
    let (job_width, slot_width) = (width(&job_names, 3), width(&slot_names, 4));
    let table = arguments.format == Form::Text;
    if table && arguments.pairs != Pairs::None {
        writeln!(
            out,
            "{:job_width$}  {:slot_width$}  {:11}  {:12}  {:5}  RANK",
            "JOB", "SLOT", "JOB ACCEPTS", "SLOT ACCEPTS", "MATCH"
        )?;
    }
    let mut summaries = Vec::with_capacity(jobs.len());
    for (job, name) in jobs.iter().zip(&job_names) {
        let pairs = threads::map_all(slots, |slot| Pair::of(job, slot, settings));
        let mut counts = Counts::default();
        for (pair, slot) in pairs.iter().zip(&slot_names) {
            counts.job += usize::from(is_true(&pair.job));
            counts.slot += usize::from(is_true(&pair.slot));
            counts.both += usize::from(pair.matches());
            if arguments.pairs == Pairs::None || (arguments.pairs == Pairs::Matches && !pair.matches()) {
                continue;
            }
            let (job_says, slot_says) = (verdict(&pair.job), verdict(&pair.slot));
            if table {
                let both = if pair.matches() { "yes" } else { "no" };
                let rank = pair.rank;
                writeln!(
                    out,
                    "{name:job_width$}  {slot:slot_width$}  {job_says:11}  {slot_says:12}  {both:5}  {rank}"
                )?;
            } else {
                let line = json!({ "job": name, "slot": slot, "job_accepts": job_says, "slot_accepts": slot_says,
                    "match": pair.matches(), "rank": pair.rank });
                writeln!(out, "{line}")?;
            }
        }
        summaries.push((name, counts));
    }
    if table && arguments.pairs != Pairs::None {
        writeln!(out)?;
    }
    for (name, counts) in summaries {
        let Counts { job, slot, both } = counts;
        if table {
            let total = slots.len();
            writeln!(
                out,
                "{name:job_width$}  {}: {job} accepted by the job, {slot} {} the job, {both} {}",
                counted(total as u64, "slot"),
                if slot == 1 { "accepts" } else { "accept" },
                if both == 1 { "matches" } else { "match" }
            )?;
        } else {
            let line = json!({ "job": name, "slots": slots.len(), "accepted_by_job": job, "accepting_job": slot, "matching": both });
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The meaning of evaluated Requirements.
fn verdict(outcome: &Result<Value, EvalError>) -> &'static str {
    match outcome {
        Err(_) => "failed",
        Ok(value) if value.as_condition() == Some(true) => "yes",
        Ok(value) if value.is_undefined() => "undefined",
        Ok(value) if value.as_condition().is_none() => "error",
        Ok(_) => "no",
    }
}

/// `cluster.proc`, or the ad's number.
fn job_name(ad: &ClassAd, at: usize) -> String {
    let number = |name: &str| ad.constant(name).and_then(|value| value.as_int());
    match (number("ClusterId"), number("ProcId")) {
        (Some(cluster), Some(process)) => format!("{cluster}.{process}"),
        _ => format!("#{}", at + 1),
    }
}

/// The slot's name, or the ad's number.
fn slot_name(ad: &ClassAd, at: usize) -> String {
    match ad.constant("Name") {
        Some(Value::Str(name)) => printable(&name),
        _ => format!("#{}", at + 1),
    }
}
