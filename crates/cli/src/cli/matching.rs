//! `classmate match --job FILE --slots FILE`

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::cli::input::{self, Notes};
use crate::cli::live::CollectorArguments;
use crate::cli::{Failure, Form, FormatArguments, Reply, Streams, World, print_result};
use crate::report::Color;
use crate::report::counted;
use crate::report::table::{Screen, Table};
use classmate::internal::ad::Attribute;
use classmate::internal::eval::matching::{is_true, rank_counted};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::threads;
use classmate::{ClassAd, EvalError, EvalOptions, Scope, Value};
use classmate_pool::Snapshot;
use classmate_pool::internal::pool::slot::is_slot;
use classmate_wire::AdType;

/// Match every job with every slot and count the matches.
///
/// Each pair is listed with both decisions and the job's Rank. Requirements accept if they evaluate to true or a
/// nonzero number; false, UNDEFINED and ERROR reject. `NegotiatorRequirements` of a slot replaces its Requirements, as
/// in a cycle. Evaluation stops at a limit that grows with the input; for whole pools, `classmate negotiate` is quicker.
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
    /// Evaluate all pairs, no matter how long it takes
    #[arg(long)]
    no_limit: bool,
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
    /// The pair, and the steps of its evaluation.
    fn of(job: &ClassAd, slot: &ClassAd, settings: &EvalOptions) -> (Pair, u64) {
        let value = |my, target, name| Scope::new(my, settings).with_target(target).eval_attr_counted(name);
        let (of_job, one) = value(job, slot, "Requirements");
        let replaces = slot.contains("NegotiatorRequirements");
        let (of_slot, other) = value(slot, job, if replaces { "NegotiatorRequirements" } else { "Requirements" });
        let (rank, more) = rank_counted(job, slot, settings);
        (Pair { job: of_job, slot: of_slot, rank }, STEPS_OF_PAIR + one + other + more)
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
            let message = format!("{place} holds no ads: expected at least one {what}");
            // Of what was skipped nothing is known.
            return Err(if notes.any() { Failure::new(message) } else { Failure::input(message) });
        }
    }
    // A recorded pool is evaluated at the time of its recording, as by the commands that read a pool.
    if arguments.world.now.is_none() && arguments.slots.is_some() {
        let recorded = Snapshot { slots, ..Snapshot::default() };
        settings.now = Some(recorded.newest_time()).filter(|newest| *newest > 0).unwrap_or(settings.now);
        slots = recorded.slots;
    }
    let (allowed, most) =
        if arguments.no_limit { (u64::MAX, usize::MAX) } else { (allowance(&jobs, &slots), MOST_LISTED) };
    let pairs = jobs.len().saturating_mul(slots.len());
    if arguments.pairs == Pairs::All && pairs > most {
        return Err(Failure::new(format!("{} are too many to list", counted(pairs as u64, "pair"))).help(
            "count them with --pairs none, list those that match with --pairs matches, or list all with --no-limit",
        ));
    }
    let Some(found) = Matching::of(&jobs, &slots, (arguments.pairs, most), allowed, &settings) else {
        return Err(too_many_pairs(jobs.len(), slots.len()));
    };
    if found.pairs.len() > most {
        let most = counted(most as u64, "pair");
        return Err(Failure::new(format!("more than {most} match, which are too many to list"))
            .help("count them with --pairs none, or list all with --no-limit"));
    }
    let form = arguments.output.format;
    if form == Form::Text {
        let answer = Reply { schema: "", result: &(), rows: &[(); 0] };
        return print_result(form, &answer, |out| found.write(out, arguments.pairs, streams.out));
    }
    if arguments.pairs == Pairs::None {
        return print_result(form, &Reply { schema: "match/1", result: &found, rows: &found.jobs }, |_| Ok(()));
    }
    print_result(form, &Reply { schema: "match/1", result: &found, rows: found.rows() }, |_| Ok(()))
}

/// A pair as it is listed.
#[derive(Clone, Serialize)]
struct PairRow<'m> {
    job: &'m str,
    slot: &'m str,
    job_accepts: Verdict,
    slot_accepts: Verdict,
    #[serde(rename = "match")]
    matches: bool,
    rank: f64,
}

/// A pair that is listed, by the numbers of its job and its slot: there may be millions.
struct ListedPair {
    job: u32,
    slot: u32,
    job_accepts: Verdict,
    slot_accepts: Verdict,
    rank: f64,
}

/// The meaning of evaluated Requirements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Yes,
    No,
    Undefined,
    Error,
    Failed,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Verdict {
    fn of(outcome: &Result<Value, EvalError>) -> Self {
        match outcome {
            Err(_) => Verdict::Failed,
            Ok(value) if value.as_condition() == Some(true) => Verdict::Yes,
            Ok(value) if value.is_undefined() => Verdict::Undefined,
            Ok(value) if value.as_condition().is_none() => Verdict::Error,
            Ok(_) => Verdict::No,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::No => "no",
            Verdict::Undefined => "undefined",
            Verdict::Error => "error",
            Verdict::Failed => "failed",
        }
    }
}

/// The counts of a job.
#[derive(Serialize)]
struct JobRow {
    job: String,
    slots: usize,
    accepted_by_job: usize,
    accepting_job: usize,
    matching: usize,
}

/// Everything that is listed.
struct Matching {
    pairs: Vec<ListedPair>,
    jobs: Vec<JobRow>,
    /// The names of the slots.
    slots: Vec<String>,
}

impl Serialize for Matching {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Listed<'m, P: Fn() -> I, I: Iterator<Item = PairRow<'m>>> {
            #[serde(serialize_with = "one_by_one")]
            pairs: P,
            jobs: &'m [JobRow],
        }
        fn one_by_one<S: Serializer, I: Iterator<Item: Serialize>>(
            rows: &impl Fn() -> I,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(rows())
        }
        Listed { pairs: || self.rows(), jobs: &self.jobs }.serialize(serializer)
    }
}

/// Steps that stand for the overhead of a pair, and for the row of one that is listed.
const STEPS_OF_PAIR: u64 = 40;
const STEPS_OF_ROW: u64 = 300;

/// Steps that all pairs together may take, and the pairs of bytes of the ads that allow one more: the work of a pool grows with the
/// square of its size. 2 MB of any ads take some seconds of processor time at most, and pools as they are generated or recorded stay below.
const BASE_STEPS: u64 = 60_000_000;
const PAIRS_OF_BYTES: u64 = 16_000;

/// Most pairs that are listed, which are kept in memory.
const MOST_LISTED: usize = 20_000_000;

/// The steps that all pairs of some ads may take.
fn allowance(jobs: &[ClassAd], slots: &[ClassAd]) -> u64 {
    let bytes: u64 = jobs.iter().chain(slots).map(size).sum();
    BASE_STEPS + bytes.saturating_mul(bytes) / PAIRS_OF_BYTES
}

/// About the length of the text of an ad, bytes.
fn size(ad: &ClassAd) -> u64 {
    let value = |value: &Attribute| match value {
        Attribute::Literal(Literal::Str(text)) => text.len() + 2,
        Attribute::Literal(Literal::Int(number)) => number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1,
        Attribute::Literal(_) => 5,
        Attribute::Tree(tree) => 4 * tree.nodes.len(),
    };
    let line = " = \n".len();
    ad.attributes().map(|(name, attribute)| (name.folded().len() + line + value(attribute)) as u64).sum()
}

fn too_many_pairs(jobs: usize, slots: usize) -> Failure {
    let pairs = counted(jobs as u64 * slots as u64, "pair");
    let (jobs, slots) = (counted(jobs as u64, "job"), counted(slots as u64, "slot"));
    Failure::new(format!("evaluation limit reached: {pairs} of {jobs} and {slots}")).help(
        "give fewer ads, or evaluate all pairs with --no-limit; \
         `classmate negotiate` runs a cycle over pools of any size",
    )
}

/// Pairs that are evaluated before they are counted.
const PAIRS_AT_ONCE: usize = 1 << 16;

impl Matching {
    /// Evaluates all pairs, or until there are more to list than `most`; `None` if that takes more than the allowed steps.
    fn of(
        jobs: &[ClassAd],
        slots: &[ClassAd],
        (listed, most): (Pairs, usize),
        allowed: u64,
        settings: &EvalOptions,
    ) -> Option<Self> {
        let taken = AtomicU64::new(0);
        let is_over = || taken.load(Ordering::Relaxed) > allowed;
        let is_listed = |pair: &Pair| match listed {
            Pairs::All => true,
            Pairs::Matches => pair.matches(),
            Pairs::None => false,
        };
        let names = slots.iter().enumerate().map(|(at, ad)| slot_name(ad, at)).collect();
        let mut found = Matching { pairs: Vec::new(), jobs: Vec::with_capacity(jobs.len()), slots: names };
        // Some jobs at once, so that threads have work even if there are few slots.
        let at_once = PAIRS_AT_ONCE.div_ceil(slots.len().max(1));
        let parts = jobs.chunks(at_once).flat_map(|jobs| {
            let pair = |at: usize| {
                if is_over() {
                    return None;
                }
                let (pair, steps) = Pair::of(&jobs[at / slots.len()], &slots[at % slots.len()], settings);
                let row = if is_listed(&pair) { STEPS_OF_ROW } else { 0 };
                taken.fetch_add(steps + row, Ordering::Relaxed);
                Some(pair)
            };
            let count = if is_over() { 0 } else { jobs.len() * slots.len() };
            let mut pairs = threads::map_range(count, pair).into_iter().flatten();
            let of_job = move |_| pairs.by_ref().take(slots.len()).collect::<Vec<_>>();
            (0..jobs.len()).map(of_job).collect::<Vec<_>>()
        });
        for (at, (job, pairs)) in jobs.iter().zip(parts).enumerate() {
            // More are not listed, or not evaluated.
            if found.pairs.len() > most || is_over() {
                break;
            }
            let count = |holds: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| holds(pair)).count();
            found.jobs.push(JobRow {
                job: job_name(job, at),
                slots: slots.len(),
                accepted_by_job: count(&|pair| is_true(&pair.job)),
                accepting_job: count(&|pair| is_true(&pair.slot)),
                matching: count(&Pair::matches),
            });
            let shown = (0_u32..).zip(&pairs).filter(|(_, pair)| is_listed(pair));
            found.pairs.extend(shown.map(|(slot, pair)| ListedPair {
                job: at as u32,
                slot,
                job_accepts: Verdict::of(&pair.job),
                slot_accepts: Verdict::of(&pair.slot),
                rank: pair.rank,
            }));
        }
        (!is_over()).then_some(found)
    }

    /// The pairs, with their names.
    fn rows(&self) -> impl Iterator<Item = PairRow<'_>> + Clone {
        self.pairs.iter().map(|pair| {
            let ListedPair { job, slot, job_accepts, slot_accepts, rank } = *pair;
            let (job, slot) = (&*self.jobs[job as usize].job, &*self.slots[slot as usize]);
            let matches = [job_accepts, slot_accepts] == [Verdict::Yes; 2];
            PairRow { job, slot, job_accepts, slot_accepts, matches, rank }
        })
    }

    fn write(&self, out: &mut impl Screen, listed: Pairs, color: Color) -> std::io::Result<()> {
        if listed != Pairs::None {
            let table = Table::new(["JOB", "SLOT", "JOB ACCEPTS", "SLOT ACCEPTS", "MATCH", "RANK"], &[]);
            let cells = |pair: PairRow<'_>| {
                let both = if pair.matches { "yes" } else { "no" };
                let accepts = [pair.job_accepts, pair.slot_accepts].map(Verdict::as_str);
                [pair.job, pair.slot, accepts[0], accepts[1], both, &pair.rank.to_string()].map(str::to_owned)
            };
            table.write_made(out, self.rows().map(cells), color)?;
            writeln!(out)?;
        }
        let mut counts = Table::new([""; 2], &[]);
        for job in &self.jobs {
            counts.row([
                job.job.clone(),
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
