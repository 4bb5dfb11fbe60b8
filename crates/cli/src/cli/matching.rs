//! `classmate match --job FILE --slots FILE`

use std::path::PathBuf;
use std::rc::Rc;

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::cli::input::{self, Notes};
use crate::cli::live::CollectorArguments;
use crate::cli::{Failure, Form, FormatArguments, Reply, Streams, World, print_result};
use crate::report::Color;
use crate::report::counted;
use crate::report::table::{Screen, Table};
use classmate::internal::eval::matching::{is_true, requirements};
use classmate::internal::threads;
use classmate::{ClassAd, EvalError, EvalOptions, Value, rank};
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_wire::AdType;

/// Match every job with every slot and count the matches.
///
/// Each pair is listed with both decisions and the job's Rank. Requirements accept if they evaluate to true or a
/// nonzero number; false, UNDEFINED and ERROR reject.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate match --job examples/pool/jobs.ads --slots examples/pool/slots.ads
  classmate match --job examples/stuck/jobs.ads --slots examples/stuck/slots.ads --pairs matches
  condor_status -long | classmate match --job examples/pool/jobs.ads --slots - --pairs none
  classmate match --job examples/pool/jobs.ads --pool cm.example.org --pairs matches")]
pub(super) struct MatchArguments {
    /// File of job ads, in any format, or a submit file (`-` for standard input) [default with --pool: all jobs of the pool]
    #[arg(long, value_name = "FILE", required_unless_present = "collectors")]
    job: Option<PathBuf>,
    /// File of slot ads [default with --pool: all slots of the pool]
    #[arg(long, value_name = "FILE", required_unless_present = "collectors")]
    slots: Option<PathBuf>,
    /// Pairs to list
    #[arg(long, value_enum, default_value = "all")]
    pairs: Pairs,
    #[command(flatten)]
    output: FormatArguments,
    #[command(flatten)]
    world: World,
    #[command(flatten)]
    live: CollectorArguments,
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

pub(super) fn run(arguments: &MatchArguments, streams: Streams) -> Result<(), Failure> {
    let mut settings = arguments.world.settings();
    let mut notes = Notes::default();
    let mut read = |file: &Option<PathBuf>, kind| match file {
        Some(path) => Ok((input::ads(path, &settings, &mut notes)?, format!("`{}`", path.display()))),
        None => Ok::<_, Failure>((arguments.live.ads(kind, &mut notes)?, "the pool".to_owned())),
    };
    let (jobs, of_jobs) = read(&arguments.job, None)?;
    let (mut slots, of_slots) = read(&arguments.slots, Some(AdType::Slot))?;
    let all = slots.len();
    slots.retain(is_slot);
    if slots.len() < all {
        let others = all - slots.len();
        notes.warn(format!("skipped {others} ads in {of_slots} that are not slot ads (MyType)"));
    }
    notes.show(streams.err);
    for (ads, what, place) in [(&jobs, "job", of_jobs), (&slots, "slot", of_slots)] {
        if ads.is_empty() {
            return Err(Failure::input(format!("{place} holds no ads: expected at least one {what}")));
        }
    }
    // A recorded pool is evaluated at the time of its recording, as by the commands that read a pool.
    if arguments.world.now.is_none() && arguments.slots.is_some() {
        let recorded = Snapshot { slots, ..Snapshot::default() };
        settings.now = Some(recorded.newest_time()).filter(|newest| *newest > 0).unwrap_or(settings.now);
        slots = recorded.slots;
    }
    let found = Matching::of(&jobs, &slots, arguments.pairs, &settings);
    let form = arguments.output.format;
    if form == Form::Text {
        let answer = Reply { schema: "", result: &(), rows: &[(); 0] };
        return print_result(form, &answer, |out| found.write(out, arguments.pairs, streams.out));
    }
    if arguments.pairs == Pairs::None {
        return print_result(form, &Reply { schema: "match/1", result: &found, rows: &found.jobs }, |_| Ok(()));
    }
    print_result(form, &Reply { schema: "match/1", result: &found, rows: &found.pairs }, |_| Ok(()))
}

/// A name that is shared by the rows of a job or a slot.
fn shared<S: Serializer>(name: &Rc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name)
}

/// A pair as it is listed.
#[derive(Serialize)]
struct PairRow {
    #[serde(serialize_with = "shared")]
    job: Rc<str>,
    #[serde(serialize_with = "shared")]
    slot: Rc<str>,
    job_accepts: &'static str,
    slot_accepts: &'static str,
    #[serde(rename = "match")]
    matches: bool,
    rank: f64,
}

/// The counts of a job.
#[derive(Serialize)]
struct JobRow {
    #[serde(serialize_with = "shared")]
    job: Rc<str>,
    slots: usize,
    accepted_by_job: usize,
    accepting_job: usize,
    matching: usize,
}

/// Everything that is listed.
#[derive(Serialize)]
struct Matching {
    pairs: Vec<PairRow>,
    jobs: Vec<JobRow>,
}

/// Pairs that are evaluated before they are counted.
const PAIRS_AT_ONCE: usize = 1 << 16;

impl Matching {
    fn of(jobs: &[ClassAd], slots: &[ClassAd], listed: Pairs, settings: &EvalOptions) -> Self {
        let names: Vec<Rc<str>> = slots.iter().enumerate().map(|(at, ad)| slot_name(ad, at).into()).collect();
        let mut found = Matching { pairs: Vec::new(), jobs: Vec::with_capacity(jobs.len()) };
        // Some jobs at once, so that threads have work even if there are few slots.
        let at_once = PAIRS_AT_ONCE.div_ceil(slots.len().max(1));
        let parts = jobs.chunks(at_once).flat_map(|jobs| {
            let pair = |at: usize| Pair::of(&jobs[at / slots.len()], &slots[at % slots.len()], settings);
            let mut pairs = threads::map_range(jobs.len() * slots.len(), pair).into_iter();
            let of_job = move |_| pairs.by_ref().take(slots.len()).collect::<Vec<_>>();
            (0..jobs.len()).map(of_job).collect::<Vec<_>>()
        });
        for (at, (job, pairs)) in jobs.iter().zip(parts).enumerate() {
            let name: Rc<str> = job_name(job, at).into();
            let count = |holds: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| holds(pair)).count();
            found.jobs.push(JobRow {
                job: Rc::clone(&name),
                slots: slots.len(),
                accepted_by_job: count(&|pair| is_true(&pair.job)),
                accepting_job: count(&|pair| is_true(&pair.slot)),
                matching: count(&Pair::matches),
            });
            let shown = pairs.iter().zip(&names).filter(|(pair, _)| match listed {
                Pairs::All => true,
                Pairs::Matches => pair.matches(),
                Pairs::None => false,
            });
            found.pairs.extend(shown.map(|(pair, slot)| PairRow {
                job: Rc::clone(&name),
                slot: Rc::clone(slot),
                job_accepts: verdict(&pair.job),
                slot_accepts: verdict(&pair.slot),
                matches: pair.matches(),
                rank: pair.rank,
            }));
        }
        found
    }

    fn write(&self, out: &mut impl Screen, listed: Pairs, color: Color) -> std::io::Result<()> {
        if listed != Pairs::None {
            let mut table = Table::new(["JOB", "SLOT", "JOB ACCEPTS", "SLOT ACCEPTS", "MATCH", "RANK"], &[]);
            for pair in &self.pairs {
                let both = if pair.matches { "yes" } else { "no" };
                let rank = pair.rank.to_string();
                table.row([&*pair.job, &*pair.slot, pair.job_accepts, pair.slot_accepts, both, &rank]);
            }
            table.write(out, color)?;
            writeln!(out)?;
        }
        let mut counts = Table::new([""; 2], &[]);
        for job in &self.jobs {
            counts.row([
                job.job.to_string(),
                format!(
                    "{}: {} accepted by the job, {} {} the job, {} {}",
                    counted(job.slots as u64, "slot"),
                    job.accepted_by_job,
                    job.accepting_job,
                    if job.accepting_job == 1 { "accepts" } else { "accept" },
                    job.matching,
                    if job.matching == 1 { "matches" } else { "match" }
                ),
            ]);
        }
        counts.write_rows(out)
    }
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
        Some(Value::Str(name)) => String::from_utf8_lossy(&name).into_owned(),
        _ => format!("#{}", at + 1),
    }
}
