//! Runs side by side: the same number of each in one row.

use std::collections::BTreeMap;

use serde::Serialize;

use super::contention::ContendedShare;
use super::result::{EntityRow, SimulationRun};

/// Several runs, number by number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Names of the runs, in the order of all values below.
    pub runs: Vec<String>,
    /// Measures of a run as a whole.
    pub measures: Vec<Measure>,
    /// Shares and waits of each group.
    pub groups: Vec<EntityComparison>,
    /// Shares and waits of each submitter; the largest user over all runs first.
    pub submitters: Vec<EntityComparison>,
}

/// A number of each run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value in each run; NaN, null in JSON, where it is not known.
    pub values: Vec<f64>,
}

/// Unit of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Jobs, cores, cycles.
    Count,
    /// A part of a whole, 0 to 1.
    Fraction,
    /// Seconds.
    Seconds,
    /// Core-seconds.
    CoreSeconds,
    /// A number by itself.
    Ratio,
}

/// Shares and waits of a submitter or a group in each run; none where it had no jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntityComparison {
    /// Its name.
    pub name: String,
    /// Its part of what was in use, 0 to 1.
    pub share: Vec<Option<f64>>,
    /// Its entitled share while it had jobs queued, 0 to 1.
    pub due: Vec<Option<f64>>,
    /// Usage and entitled share while it had waiting jobs under contention.
    pub contended: Vec<Option<ContendedShare>>,
    /// The mean of its waits, seconds.
    pub wait_mean: Vec<Option<f64>>,
    /// Its longest wait, seconds.
    pub longest_wait: Vec<Option<f64>>,
}

type MeasureFn = fn(&SimulationRun) -> f64;

const MEASURES: [(&str, Unit, MeasureFn); 20] = [
    ("cores", Unit::Count, |run| run.simulated.cores),
    ("simulated time", Unit::Seconds, |run| (run.simulated.end - run.simulated.start) as f64),
    ("utilization", Unit::Fraction, |run| run.simulated.utilisation),
    ("jobs completed", Unit::Count, |run| run.simulated.jobs.completed as f64),
    ("jobs running", Unit::Count, |run| run.simulated.jobs.running as f64),
    ("jobs waiting", Unit::Count, |run| run.simulated.jobs.waiting as f64),
    ("jobs never started", Unit::Count, |run| run.simulated.jobs.never_started as f64),
    ("jobs too large", Unit::Count, |run| run.simulated.jobs.too_large as f64),
    ("wait, mean", Unit::Seconds, |run| run.simulated.all.wait.mean),
    ("wait, median", Unit::Seconds, |run| run.simulated.all.wait.median),
    ("wait, 95%", Unit::Seconds, |run| run.simulated.all.wait.p95),
    ("wait, longest", Unit::Seconds, |run| run.simulated.all.longest_wait as f64),
    ("slowdown, mean", Unit::Ratio, |run| run.simulated.all.slowdown.mean),
    ("slowdown, 95%", Unit::Ratio, |run| run.simulated.all.slowdown.p95),
    ("contended time", Unit::Fraction, |run| run.simulated.contended.unwrap_or(f64::NAN)),
    ("distance from entitlement", Unit::Fraction, |run| run.simulated.distance.unwrap_or(f64::NAN)),
    ("Gini of slowdowns", Unit::Ratio, |run| run.simulated.gini.unwrap_or(f64::NAN)),
    ("Jain's index", Unit::Ratio, |run| run.simulated.jain),
    ("preemptions", Unit::Count, |run| run.simulated.all.preemptions as f64),
    ("lost work", Unit::CoreSeconds, |run| run.simulated.all.lost),
];

/// The measures of a run, by name.
pub fn measures(run: &SimulationRun) -> impl Iterator<Item = (&'static str, Unit, f64)> {
    MEASURES.into_iter().map(|(name, unit, number)| (name, unit, number(run)))
}

impl Comparison {
    /// Puts runs side by side, each with what it is called.
    pub fn new(runs: &[(String, SimulationRun)]) -> Self {
        let measure = |(name, unit, number): (&'static str, Unit, MeasureFn)| Measure {
            name,
            unit,
            values: runs.iter().map(|(_, run)| number(run)).collect(),
        };
        let several = runs.iter().any(|(_, run)| run.simulated.groups.len() > 1);
        let groups = if several { parts(runs, |run| &run.simulated.groups) } else { Vec::new() };
        Self {
            runs: runs.iter().map(|(name, _)| name.clone()).collect(),
            measures: MEASURES.into_iter().map(measure).collect(),
            groups,
            submitters: parts(runs, |run| &run.simulated.submitters),
        }
    }
}

/// All entities of any of the runs, the largest user first; ties by name.
fn parts(runs: &[(String, SimulationRun)], lines: fn(&SimulationRun) -> &[EntityRow]) -> Vec<EntityComparison> {
    let mut found: BTreeMap<&str, (f64, Vec<Option<&EntityRow>>)> = BTreeMap::new();
    for (at, (_, run)) in runs.iter().enumerate() {
        for line in lines(run) {
            let (used, of) = found.entry(&line.name).or_insert_with(|| (0.0, vec![None; runs.len()]));
            *used += line.core_seconds;
            of[at] = Some(line);
        }
    }
    let mut ranked: Vec<(f64, EntityComparison)> = Vec::with_capacity(found.len());
    for (name, (used, of)) in found {
        let each = |number: fn(&EntityRow) -> Option<f64>| of.iter().map(|line| line.and_then(number)).collect();
        let parts = EntityComparison {
            name: name.to_owned(),
            share: each(|line| Some(line.share)),
            due: each(|line| line.due),
            contended: of.iter().map(|line| line.and_then(|line| line.contended)).collect(),
            wait_mean: each(|line| Some(line.wait.mean)),
            longest_wait: each(|line| Some(line.longest_wait as f64)),
        };
        ranked.push((used, parts));
    }
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().map(|(_, parts)| parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::Snapshot;
    use crate::negotiate::rules::Rules;
    use crate::simulate::{SimulationPlan, UniformCluster, simulate};
    use crate::workload::swf;

    fn run(trace: &str) -> SimulationRun {
        let workload = swf::read(&mut trace.as_bytes()).unwrap();
        let base = Snapshot::default();
        let rules = std::sync::Arc::new(Rules::read(&base.config, &base.settings()).unwrap());
        let plan = SimulationPlan { interval: 60, until: None, step: None };
        let mut cluster = UniformCluster::new(&workload, &rules, &base, 2);
        let simulated = simulate(&workload, &mut cluster, &plan, &mut |_, _| {}).unwrap();
        SimulationRun {
            workload: "t".to_owned(),
            policy: "condor".to_owned(),
            interval: 60,
            seed: 0,
            provenance: None,
            faults: Vec::new(),
            further_faults: Vec::new(),
            simulated,
        }
    }

    #[test]
    fn who_is_in_one_run_alone_has_no_number_in_the_other() {
        let line =
            |id: i64, run: i64, user: i64| format!("{id} 0 -1 {run} -1 -1 -1 1 -1 -1 1 {user} -1 -1 -1 -1 -1 -1\n");
        let runs =
            [("one".to_owned(), run(&(line(1, 100, 1) + &line(2, 300, 2)))), ("two".to_owned(), run(&line(1, 100, 1)))];
        let found = Comparison::new(&runs);
        assert_eq!(found.runs, ["one", "two"]);
        let names: Vec<&str> = found.submitters.iter().map(|parts| parts.name.as_str()).collect();
        assert_eq!(names, ["user2@trace", "user1@trace"], "300 core-seconds stand before 200");
        assert_eq!(found.submitters[0].share, [Some(0.75), None]);
        assert_eq!(found.submitters[1].share, [Some(0.25), Some(1.0)]);
        assert_eq!(found.groups, []);
        let completed = found.measures.iter().find(|measure| measure.name == "jobs completed").unwrap();
        assert_eq!(completed.values, [2.0, 1.0]);
    }

    #[test]
    fn a_run_is_the_same_when_it_was_written_and_read() {
        let run = run("1 0 -1 7 -1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n");
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<SimulationRun>(&text).unwrap(), run);
    }
}
