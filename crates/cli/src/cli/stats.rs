//! Time and memory of a cycle: `--stats`.

use crate::report::counted;
use crate::report::escape::escaped;
use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;

use classmate_pool::internal::negotiate::summary::SubmitterSummary;
use classmate_pool::{Cycle, CycleObserver, GroupSummary, Match, Negotiation, Outcome, Pie, Rejected, Statistics};

/// Ticks of processor time in a second, as Linux reports them.
const TICKS: f64 = 100.0;

/// The time and memory of a phase.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Phase {
    name: &'static str,
    /// By the clock.
    seconds: f64,
    /// Of all processors, in steps of 0.01.
    cpu_seconds: f64,
    /// Memory in use at its end.
    rss_bytes: u64,
}

/// A clock that is read when a phase begins.
#[derive(Debug)]
pub(super) struct Stopwatch {
    phases: Vec<Phase>,
    running: Option<(&'static str, Instant, f64)>,
}

impl Stopwatch {
    /// Reading the files has begun.
    pub(super) fn start() -> Self {
        Self { phases: Vec::new(), running: Some(("load", Instant::now(), processor_seconds())) }
    }

    /// The phase that is running is over.
    pub(super) fn stop(&mut self) {
        if let Some((name, since, before)) = self.running.take() {
            let (seconds, cpu_seconds) = (since.elapsed().as_secs_f64(), processor_seconds() - before);
            self.phases.push(Phase { name, seconds, cpu_seconds, rss_bytes: status_bytes("VmRSS:") });
        }
    }
}

impl CycleObserver for Stopwatch {
    fn phase_started(&mut self, phase: &'static str) {
        self.stop();
        self.running = Some((phase, Instant::now(), processor_seconds()));
    }
}

/// An expression that is not evaluated over columns.
#[derive(Debug, Clone, Serialize)]
struct ScalarExpression {
    expression: String,
    /// Number of evaluations, one for each combination of values.
    evaluations: u64,
}

/// The time, memory and work of a cycle.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Measured {
    load_seconds: f64,
    /// All phases after loading.
    cycle_seconds: f64,
    phases: Vec<Phase>,
    peak_rss_bytes: u64,
    slots: usize,
    /// Classes of slots that no request can distinguish; as many as slots if they were looked at one by one.
    slot_classes: usize,
    requests: usize,
    /// Classes of requests that no slot can distinguish.
    request_classes: usize,
    /// Atoms of expressions that were evaluated over columns.
    batched: u64,
    /// Atoms that needed the evaluator, once for each combination of values.
    scalar_fallbacks: u64,
    /// Of these, the ten expressions that were evaluated most.
    scalar_expressions: Vec<ScalarExpression>,
    /// Autoclusters that were asked slot by slot.
    asked_by_slot: usize,
    /// The reason why all of them were; null if none was needed.
    slot_by_slot: Option<&'static str>,
    /// Slots that were evaluated one by one, while the others were in classes.
    slots_one_by_one: usize,
    /// The reason why the first of them was; null if there are none.
    one_by_one: Option<&'static str>,
    /// The reason why slots were ranked one by one for each request; null if classes were.
    ranked_one_by_one: Option<&'static str>,
}

impl Measured {
    /// From a stopwatch that was stopped and the cycle it watched.
    pub(super) fn new(watch: Stopwatch, cycle: &Cycle) -> Self {
        let seconds = |of: &dyn Fn(&Phase) -> bool| {
            watch.phases.iter().filter(|phase| of(phase)).map(|phase| phase.seconds).sum()
        };
        let (statistics, classes) = (&cycle.outcome.statistics, cycle.classes.clone().unwrap_or_default());
        let slots = statistics.total_slots;
        Self {
            load_seconds: seconds(&|phase| phase.name == "load"),
            cycle_seconds: seconds(&|phase| phase.name != "load"),
            peak_rss_bytes: status_bytes("VmHWM:"),
            slots,
            slot_classes: if cycle.classes.is_some() { classes.slots } else { slots },
            requests: cycle.requests,
            request_classes: if cycle.classes.is_some() { classes.requests } else { cycle.requests },
            batched: classes.batched,
            scalar_fallbacks: classes.scalar,
            scalar_expressions: classes
                .scalar_expressions
                .into_iter()
                .map(|(expression, evaluations)| ScalarExpression { expression, evaluations })
                .collect(),
            asked_by_slot: if cycle.by_slot.is_some() { statistics.autoclusters } else { classes.by_slot },
            slot_by_slot: cycle.by_slot,
            slots_one_by_one: classes.odd_slots,
            one_by_one: classes.odd,
            ranked_one_by_one: classes.listed,
            phases: watch.phases,
        }
    }

    /// Writes it for people.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        writeln!(out, "{:<12} {:>9} {:>9} {:>9}", "phase", "seconds", "cpu", "MiB")?;
        for Phase { name, seconds, cpu_seconds, rss_bytes } in &self.phases {
            writeln!(out, "{name:<12} {seconds:>9.3} {cpu_seconds:>9.2} {:>9.0}", mib(*rss_bytes))?;
        }
        writeln!(out, "{:<12} {:>9.3} {:>9} {:>9.0}", "cycle", self.cycle_seconds, "", mib(self.peak_rss_bytes))?;
        writeln!(
            out,
            "{} in {}, {} in {}; {} evaluated over columns, {} by the evaluator; {} matched slot by slot{}{}",
            counted(self.slots as u64, "slot"),
            counted(self.slot_classes as u64, "class"),
            counted(self.requests as u64, "request"),
            counted(self.request_classes as u64, "class"),
            counted(self.batched, "atom"),
            self.scalar_fallbacks,
            counted(self.asked_by_slot as u64, "autocluster"),
            self.slot_by_slot.map_or_else(String::new, |why| format!(": {why}")),
            self.one_by_one.map_or_else(String::new, |why| {
                format!("; {} evaluated one by one: {why}", counted(self.slots_one_by_one as u64, "slot"))
            })
        )?;
        for ScalarExpression { expression, evaluations } in &self.scalar_expressions {
            writeln!(out, "{} of {}", counted(*evaluations, "evaluation"), escaped(expression))?;
        }
        if let Some(why) = self.ranked_one_by_one {
            writeln!(out, "slots ranked one by one: {why}")?;
        }
        Ok(())
    }
}

/// An outcome whose statistics include the measurements.
#[derive(Serialize)]
pub(super) struct Report<'o> {
    submitters: &'o [SubmitterSummary],
    matches: &'o [Match],
    rejections: &'o [Rejected],
    negotiations: &'o [Negotiation],
    pies: &'o [Pie],
    groups: &'o [GroupSummary],
    statistics: Both<'o>,
    quirks: &'o [String],
}

#[derive(Serialize)]
struct Both<'o> {
    #[serde(flatten)]
    counted: &'o Statistics,
    #[serde(flatten)]
    measured: &'o Measured,
}

impl<'o> Report<'o> {
    /// Both together.
    pub(super) fn new(outcome: &'o Outcome, measured: &'o Measured) -> Self {
        let Outcome { submitters, matches, rejections, negotiations, pies, groups, statistics, quirks, .. } = outcome;
        let statistics = Both { counted: statistics, measured };
        Self { submitters, matches, rejections, negotiations, pies, groups, statistics, quirks }
    }
}

/// Processor time of this process so far, seconds; 0 where the system does not report it.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold anything; times are the 14th and 15th field.
    let fields = text.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// A figure of this process in bytes; 0 where the system does not report it.
fn status_bytes(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
