//! The plots of simulations: use, queue, shares over time, and how long jobs waited.

use indexmap::IndexSet;

use crate::report::duration;
use crate::report::plot::{Axis, Bars, COLORS, Line, Marks, Plot, Stroke};
use classmate_pool::internal::simulate::compare::Unit;
use classmate_pool::internal::simulate::experiment::{Experiment, Interval};
use classmate_pool::internal::simulate::result::{EntityRow, SimulationRun, TimeStep};

/// A run and what it is called.
pub(super) type Named<'r> = (&'r str, &'r SimulationRun);

/// Utilization over time, one line per run.
pub(super) fn utilisation(runs: &[Named<'_>]) -> Plot {
    over_time(runs, "Utilization", "Fraction of cores in use", Axis::percent("utilization (%)", 1.0), |step| {
        step.utilisation
    })
}

/// Number of waiting jobs over time, one line per run.
pub(super) fn queue(runs: &[Named<'_>]) -> Plot {
    let steps = runs.iter().flat_map(|(_, run)| &run.simulated.over_time);
    let most = steps.map(|step| step.waiting).fold(1.0, f64::max);
    over_time(runs, "Queue length", "Waiting jobs", Axis::up_to("jobs waiting", most), |step| step.waiting)
}

fn over_time(runs: &[Named<'_>], title: &str, note: &str, y: Axis, value: fn(&TimeStep) -> f64) -> Plot {
    let clock = Clock::of(runs);
    let line = |(color, (name, run)): (usize, &Named<'_>)| Line {
        name: (*name).to_owned(),
        color,
        stroke: Stroke::Solid,
        points: clock.points(run, |step| Some(step.map_or(0.0, value))),
        target: Vec::new(),
    };
    let lines = runs.iter().enumerate().map(line).collect();
    let note = format!("{note}, {}.", means(runs));
    Plot { title: title.to_owned(), note, y, marks: Marks::Lines(clock.axis, lines) }
}

/// Histogram of waiting times until the first start, with bars for each run.
pub(super) fn waits(runs: &[Named<'_>]) -> Plot {
    let part = |(_, run): &Named<'_>| {
        let waits = &run.simulated.waits;
        let all: u64 = waits.iter().map(|class| class.jobs).sum();
        waits.iter().map(|class| class.jobs as f64 / all.max(1) as f64).collect::<Vec<f64>>()
    };
    let name = |up_to: Option<i64>| match up_to {
        None => "more".to_owned(),
        Some(seconds) if seconds < 3600 => format!("{} min", seconds / 60),
        Some(seconds) if seconds < 86_400 => format!("{} h", seconds / 3600),
        Some(seconds) => format!("{} d", seconds / 86_400),
    };
    let classes = runs.first().map_or([].as_slice(), |(_, run)| &run.simulated.waits);
    let kinds = runs.iter().enumerate();
    let bars = kinds
        .map(|(color, run)| Bars { name: run.0.to_owned(), color, heights: part(run), errors: Vec::new() })
        .collect::<Vec<_>>();
    let most = bars.iter().flat_map(|bars| &bars.heights).copied().fold(0.01, f64::max);
    Plot {
        title: "Waiting times".to_owned(),
        note: "Time from submission to the first start, for jobs that started. Each bar covers the range from the \
               previous label to its own."
            .to_owned(),
        y: Axis::percent("jobs (%)", most),
        marks: Marks::Bars(
            "waiting time, up to".to_owned(),
            classes.iter().map(|class| name(class.up_to)).collect(),
            bars,
        ),
    }
}

/// A measure of an experiment: bars for each policy, one for each setting.
pub(super) fn measure(found: &Experiment, name: &str) -> Plot {
    let policies: IndexSet<&str> = found.variants.iter().map(|one| one.policy.as_str()).collect();
    let settings: IndexSet<&str> = found.variants.iter().map(|one| one.setting.as_str()).collect();
    let value = |policy: &str, setting: &str| {
        let variant = found.variants.iter().find(|one| one.policy == policy && one.setting == setting);
        variant.and_then(|one| one.measures.iter().find(|measure| measure.name == name))
    };
    let unit =
        found.variants.first().and_then(|one| one.measures.iter().find(|one| one.name == name)).map(|one| one.unit);
    let scale = if unit == Some(Unit::Seconds) { 3600.0 } else { 1.0 };
    let bars = |(color, policy): (usize, &&str)| {
        let of = |number: &dyn Fn(&Interval) -> f64| -> Vec<f64> {
            let value = |setting: &&str| value(policy, setting).map_or(0.0, |found| number(&found.value));
            settings.iter().map(|setting| value(setting).max(0.0) / scale).collect()
        };
        let (heights, errors) = (of(&|found| found.mean), of(&|found| found.half_width.unwrap_or(0.0)));
        Bars { name: (*policy).to_owned(), color, heights, errors }
    };
    let bars: Vec<Bars> = policies.iter().enumerate().map(bars).collect();
    let tops = bars.iter().flat_map(|bars| bars.heights.iter().zip(&bars.errors)).map(|(height, error)| height + error);
    let most = tops.fold(0.0, f64::max);
    let y = match unit {
        Some(Unit::Fraction) => Axis::percent(format!("{name} (%)"), most),
        Some(Unit::Seconds) => Axis::up_to(format!("{name} (h)"), most),
        _ => Axis::up_to(name, most),
    };
    Plot {
        title: name.to_owned(),
        note: "Means over the seeds, with 95% confidence intervals.".to_owned(),
        y,
        marks: Marks::Bars("setting".to_owned(), settings.iter().map(|name| (*name).to_owned()).collect(), bars),
    }
}

/// Distribution of the waiting times of all jobs, or of those of a submitter or a group, one line per run.
pub(super) fn distribution(runs: &[Named<'_>], who: Option<(Whose, &str)>) -> Plot {
    let row = |run: &SimulationRun| -> Vec<f64> {
        let Some((whose, name)) = who else { return run.simulated.all.wait_quantiles.clone() };
        let found = whose.rows(run).iter().find(|line| line.name == name);
        found.map(|line| line.wait_quantiles.clone()).unwrap_or_default()
    };
    // A wait of less than a minute is at the left end.
    let across = |seconds: f64| (seconds / 60.0).max(1.0).log10();
    let line = |(color, (name, run)): (usize, &Named<'_>)| {
        let waits = row(run);
        let count = waits.len().saturating_sub(1).max(1) as f64;
        let point = |(at, wait): (usize, &f64)| Some((across(*wait), at as f64 / count));
        let points = waits.iter().enumerate().map(point).collect();
        Line { name: (*name).to_owned(), color, stroke: Stroke::Solid, points, target: Vec::new() }
    };
    let lines: Vec<Line> = runs.iter().enumerate().map(line).collect();
    let ends = lines.iter().flat_map(|line| line.points.iter().flatten()).map(|(at, _)| *at);
    let marks = [60.0, 600.0, 3600.0, 14_400.0, 86_400.0, 604_800.0, 2_592_000.0, 31_536_000.0];
    let longest = ends.fold(across(3600.0), f64::max);
    let max = marks.map(across).into_iter().find(|at| *at >= longest - 1e-9).unwrap_or(longest);
    let ticks = marks.into_iter().filter(|at| across(*at) <= max + 1e-9);
    let axis = Axis {
        label: "waiting time, log scale".to_owned(),
        max,
        ticks: ticks.map(|at| (across(at), duration(at))).collect(),
    };
    Plot {
        title: who.map_or_else(|| "All jobs".to_owned(), |(_, name)| name.to_owned()),
        note: "Jobs that started within this time from their submission.".to_owned(),
        y: Axis::percent("jobs (%)", 1.0),
        marks: Marks::Lines(axis, lines),
    }
}

/// The entities whose shares are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Submitters,
    Groups,
}

impl Whose {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Submitters => "submitters",
            Self::Groups => "groups",
        }
    }

    /// Their results in a run.
    pub(super) fn rows(self, run: &SimulationRun) -> &[EntityRow] {
        match self {
            Self::Submitters => &run.simulated.submitters,
            Self::Groups => &run.simulated.groups,
        }
    }

    /// The share of one in a step, and the one that it is entitled to.
    fn share(self, step: &TimeStep, who: &str) -> (Option<f64>, Option<f64>) {
        let (shares, due) = match self {
            Self::Submitters => (&step.shares, &step.due),
            Self::Groups => (&step.group_shares, &step.group_due),
        };
        let used = !step.shares.is_empty();
        (used.then(|| shares.get(who).copied().unwrap_or(0.0)), due.get(who).copied())
    }
}

/// Shares of usage and entitled shares over time, of one run: a line for each name, at most [`own_lines`].
pub(super) fn shares((name, run): Named<'_>, whose: Whose, names: &[String]) -> Plot {
    let clock = Clock::of(&[(name, run)]);
    let mut lines: Vec<Line> =
        names.iter().enumerate().map(|(color, who)| share_line(&clock, run, whose, who, (who, color))).collect();
    let points = clock.points(run, |_| None);
    let entitled = "entitled share".to_owned();
    lines.push(Line { name: entitled, color: COLORS - 1, stroke: Stroke::Dashed, points, target: Vec::new() });
    let of = whose.name();
    let title = if name.is_empty() { format!("Shares of {of}") } else { format!("Shares of {of}: {name}") };
    let means = means(&[(name, run)]);
    let note = format!(
        "Fraction of the cores in use, {means}. Dashed: entitled share of the pool while jobs were queued; shaded: the \
         distance from it."
    );
    Plot { title, note, y: Axis::percent("share (%)", 1.0), marks: Marks::Lines(clock.axis, lines) }
}

/// A line with the share of a group or submitter in a run, and the one that it is entitled to.
fn share_line(clock: &Clock, run: &SimulationRun, whose: Whose, who: &str, (name, color): (&str, usize)) -> Line {
    let points = clock.points(run, |step| step.and_then(|step| whose.share(step, who).0));
    let target = clock.points(run, |step| step.and_then(|step| whose.share(step, who).1));
    Line { name: name.to_owned(), color, stroke: Stroke::Solid, points, target }
}

/// The same for many: a small plot for each name with a line for each run. Each has its own scale: next to one with half of the
/// pool, those with a percent would be flat.
pub(super) fn small_shares(runs: &[Named<'_>], whose: Whose, names: &[String]) -> Vec<Plot> {
    let clock = Clock::of(runs);
    let lines = |who: &String| -> Vec<Line> {
        let line = |(color, (name, run)): (usize, &Named<'_>)| share_line(&clock, run, whose, who, (name, color));
        runs.iter().enumerate().map(line).collect()
    };
    let plot = |who: &String| {
        let lines = lines(who);
        let points = lines.iter().flat_map(|line| line.points.iter().chain(&line.target)).flatten();
        let most = points.map(|(_, share)| *share).fold(0.0, f64::max);
        let (title, note) = (who.clone(), String::new());
        Plot { title, note, y: Axis::percent("share (%)", most), marks: Marks::Lines(clock.axis.clone(), lines) }
    };
    names.iter().map(plot).collect()
}

/// Number of entities with a line of their own in one plot.
pub(super) fn own_lines() -> usize {
    COLORS - 1
}

/// Over how long a time the values of a plot are means.
pub(super) fn means(runs: &[Named<'_>]) -> String {
    let mut steps: Vec<i64> = runs.iter().map(|(_, run)| run.simulated.step).collect();
    steps.dedup();
    match steps[..] {
        [step] if step % 3600 == 0 => format!("means over {} h", step / 3600),
        [step] => format!("means over {step} s"),
        _ => "means over the steps of each run".to_owned(),
    }
}

/// The time axis of some runs: each from its own start.
struct Clock {
    axis: Axis,
    /// Seconds of the axis's unit.
    unit: f64,
}

impl Clock {
    fn of(runs: &[Named<'_>]) -> Self {
        let spans = runs.iter().map(|(_, run)| run.simulated.end - run.simulated.start);
        let longest = spans.max().unwrap_or(0).max(1) as f64;
        let (unit, name) = match longest {
            span if span <= 3.0 * 3600.0 => (60.0, "minutes"),
            span if span <= 4.0 * 86_400.0 => (3600.0, "hours"),
            _ => (86_400.0, "days"),
        };
        let mut starts: Vec<i64> = runs.iter().map(|(_, run)| run.simulated.start).collect();
        starts.dedup();
        // Times of a trace without a start time count from 0.
        let date = starts.first().filter(|start| starts.len() == 1 && **start > 365 * 86_400);
        let date = date.and_then(|start| jiff::Timestamp::from_second(*start).ok());
        let since =
            date.map_or_else(|| "the first job".to_owned(), |date| date.strftime("%Y-%m-%d %H:%M UTC").to_string());
        Self { axis: Axis::ending(format!("{name} since {since}"), longest / unit), unit }
    }

    /// A value for each step of a run, in the middle of the step.
    fn points(&self, run: &SimulationRun, value: impl Fn(Option<&TimeStep>) -> Option<f64>) -> Vec<Option<(f64, f64)>> {
        let run = &run.simulated;
        let length = run.step.max(1);
        let count = (run.end - run.start + length - 1) / length;
        let mut steps = run.over_time.iter().peekable();
        let mut points = Vec::new();
        for number in 0..count.clamp(0, 10_000) {
            let begin = run.start + number * length;
            let step = steps.next_if(|step| step.start <= begin);
            let end = (begin + length).min(run.end);
            let middle = (f64::midpoint(begin as f64, end as f64) - run.start as f64) / self.unit;
            points.push(value(step).map(|value| (middle, value)));
        }
        points
    }
}
