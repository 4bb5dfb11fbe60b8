//! The load of a pool under another policy, next to what happened.
//!
//! In: the jobs of a [`LoadRecorder`](super::load::LoadRecorder), the pool, and another configuration of the negotiator. Out: a
//! [`PolicyComparison`], plain serializable data. The load is simulated under both configurations: how far the simulation under
//! the present one differs from what happened shows how far the other one can be believed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::load::{CUT_RUNS, CUT_TIME, FIRST_START};
use classmate::{ClassAd, parse_expr};
use classmate_config::{Config, ConfigError};
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::simulate::{JobRun, simulate_jobs};
use classmate_pool::internal::workload::Arrival;
use classmate_pool::internal::workload::job_ads::{self, RUN_TIME};
use classmate_pool::{SimulationPlan, SimulationResult, SlotCluster, Snapshot, Workload};

/// Figures of a submitter under one policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyFigures {
    /// Core-seconds in use as a fraction of all, 0 to 1.
    pub share: f64,
    /// Mean time from arrival to the first start of the jobs that started, seconds.
    pub wait: f64,
    /// The longest of these times, seconds.
    pub longest: i64,
    /// Runs that were cut short.
    pub preemptions: u64,
    /// Jobs that started until the end of the record.
    pub started: u64,
}

/// A submitter, or all of them, under each policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// The name.
    pub name: String,
    /// The jobs.
    pub jobs: u64,
    /// The jobs as they ran.
    pub happened: PolicyFigures,
    /// The simulation under the present configuration.
    pub present: PolicyFigures,
    /// The simulation under the other one.
    pub other: PolicyFigures,
}

/// A load under the present policy and another one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicyComparison {
    /// Arrival of the first job, epoch seconds.
    pub from: i64,
    /// End of the record, epoch seconds.
    pub until: i64,
    /// Jobs in the queue that do not run, and are left out because their run time is not known.
    pub left_out: u64,
    /// All submitters together, then each one by name.
    pub rows: Vec<PolicyRow>,
}

/// Runs the load on the slots of `base` until a time, under the configuration of `base` and under another one. `None`: no job ran.
///
/// # Errors
/// A setting that is wrong.
pub fn compare_policies(
    ads: Vec<ClassAd>,
    base: &Snapshot,
    other: &Config,
    (until, left_out): (i64, u64),
) -> Result<Option<PolicyComparison>, ConfigError> {
    let settings = base.settings();
    let rules = Rules::read(&base.config, &settings)?;
    // The name of an attribute is an expression.
    let Ok(run_time) = parse_expr(RUN_TIME) else { return Ok(None) };
    let workload = job_ads::read(ads, &run_time, rules.knobs.accountant.domain.as_deref(), &settings);
    let Some(from) = workload.arrivals.first().map(|job| job.submit) else { return Ok(None) };
    let number = |job: &Arrival, name: &str| {
        job.ad.as_ref().and_then(|ad| AdReader::of(ad, &settings).integer(name)).unwrap_or(0)
    };
    let mut rows: BTreeMap<String, PolicyRow> = BTreeMap::new();
    let mut used = BTreeMap::new();
    add(&workload, &mut rows, FigureOf::Happened, |at, name| {
        let job = &workload.arrivals[at];
        let seconds = (job.run_time + number(job, CUT_TIME)) as f64 * f64::from(job.cores);
        *used.entry(name.to_owned()).or_insert(0.0) += seconds;
        (Some(number(job, FIRST_START)), u64::try_from(number(job, CUT_RUNS)).unwrap_or(0))
    });
    let all = used.get("").copied().unwrap_or(0.0_f64).max(1.0);
    for (name, row) in &mut rows {
        row.jobs = row.happened.started;
        row.happened.share = used.get(name).copied().unwrap_or(0.0) / all;
    }
    for (config, figures) in [(&base.config, FigureOf::Present), (other, FigureOf::Other)] {
        let (result, runs) = simulated(&workload, base, config, until)?;
        add(&workload, &mut rows, figures, |at, _| (runs[at].start, u64::from(runs[at].preemptions)));
        for entity in &result.submitters {
            figures.of(rows.entry(entity.name.clone()).or_default()).share = entity.share;
        }
        figures.of(rows.entry(String::new()).or_default()).share = result.all.share;
    }
    let rows = rows.into_iter().map(|(name, row)| PolicyRow { name, ..row }).collect();
    Ok(Some(PolicyComparison { from, until, left_out, rows }))
}

/// Adds the waits and preemptions of all jobs to the rows of their submitters, and to that of all of them, which has no name.
/// `fate`: the first start of a job until the end, and the runs that were cut short.
fn add(
    workload: &Workload,
    rows: &mut BTreeMap<String, PolicyRow>,
    column: FigureOf,
    mut fate: impl FnMut(usize, &str) -> (Option<i64>, u64),
) {
    for (at, job) in workload.arrivals.iter().enumerate() {
        let name = String::from_utf8_lossy(&workload.submitters[job.submitter].name).into_owned();
        for name in [name, String::new()] {
            let (start, preemptions) = fate(at, &name);
            let figures = column.of(rows.entry(name).or_default());
            figures.preemptions += preemptions;
            if let Some(start) = start {
                let wait = (start - job.submit).max(0);
                figures.longest = figures.longest.max(wait);
                figures.started += 1;
                // The mean so far.
                figures.wait += (wait as f64 - figures.wait) / figures.started as f64;
            }
        }
    }
}

/// A column of a comparison.
#[derive(Debug, Clone, Copy)]
enum FigureOf {
    Happened,
    Present,
    Other,
}

impl FigureOf {
    fn of(self, row: &mut PolicyRow) -> &mut PolicyFigures {
        match self {
            FigureOf::Happened => &mut row.happened,
            FigureOf::Present => &mut row.present,
            FigureOf::Other => &mut row.other,
        }
    }
}

/// The result of a simulation, and the runs of the jobs.
fn simulated(
    workload: &Workload,
    base: &Snapshot,
    config: &Config,
    until: i64,
) -> Result<(SimulationResult, Vec<JobRun>), ConfigError> {
    let snapshot = Snapshot { config: config.clone(), ..base.clone() };
    let rules = Arc::new(Rules::read(config, &snapshot.settings())?);
    let interval = config.integer("NEGOTIATOR_INTERVAL", 60, 1, i64::from(i32::MAX))?;
    let mut cluster = SlotCluster::new(workload, &rules, &snapshot);
    let plan = SimulationPlan { interval, until: Some(until), step: None };
    simulate_jobs(workload, &mut cluster, &plan, &mut |_, _| ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two users on one core: `a` has used much, so that `b` comes first unless factors say otherwise.
    #[test]
    fn another_policy_changes_who_waits() {
        let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
        let job = |number: i64, user: &str, start: i64| {
            ad(format!(
                "[ClusterId = {number}; ProcId = 0; JobStatus = 1; User = \"{user}@x\"; Owner = \"{user}\"; JobUniverse = 5; \
                 RequestCpus = 1; Requirements = true; QDate = 100; {RUN_TIME} = 600; {FIRST_START} = {start}; \
                 {CUT_RUNS} = 0; {CUT_TIME} = 0]"
            ))
        };
        let slot = "[Name = \"s@m\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 1; SlotWeight = 1; Requirements = true]";
        let config = |text: &str| Config::parse("c", text.as_bytes()).unwrap();
        let base = Snapshot { slots: vec![ad(slot.to_owned())], ..Snapshot::default() };
        let other = config("NEGOTIATOR_INTERVAL = 300\nNEGOTIATOR_JOB_CONSTRAINT = Owner =!= \"a\"");
        let ads = vec![job(1, "a", 110), job(2, "b", 710)];
        let found = compare_policies(ads, &base, &other, (1300, 0)).unwrap().unwrap();
        let row = |name: &str| found.rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!((found.from, row("").jobs, row("").happened.longest), (100, 2, 610));
        // a waited 10 s and b 610 s; each had half of the use.
        assert_eq!((row("").happened.wait, row("a@x").happened.share), (310.0, 0.5));
        // Simulated, the first job starts at once and the other one when it ends, at 700, until which both have 600 s.
        assert_eq!((row("").present.longest, row("a@x").present.share, row("b@x").present.share), (600, 0.5, 0.5));
        // Under the other policy only b runs; the wait of a has no end.
        assert_eq!((row("a@x").other.started, row("a@x").other.longest, row("b@x").other.share), (0, 0, 1.0));
        assert_eq!(compare_policies(Vec::new(), &base, &other, (1, 0)).unwrap(), None);
    }
}
