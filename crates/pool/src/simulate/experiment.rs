//! An experiment: the measures of many runs, with confidence intervals over their seeds and differences from a baseline.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compare::{Unit, measures};
use super::result::{Provenance, SimulationRun};

/// Results of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experiment {
    /// The policy and setting that others are compared with: `policy/setting`, a policy, or a setting.
    pub baseline: Option<String>,
    /// Program, command and files of the experiment.
    pub provenance: Provenance,
    /// Each policy under each setting, with the means over the seeds.
    pub variants: Vec<Variant>,
    /// Each run.
    pub points: Vec<Point>,
}

/// A run of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Name of its policy in the experiment.
    pub policy: String,
    /// Name of its setting.
    pub setting: String,
    /// Its seed.
    pub seed: u64,
    /// Its measures, by their keys; NaN, null in JSON, if unknown.
    pub measures: BTreeMap<String, f64>,
    /// Version of the program.
    pub version: String,
    /// SHA-256 of its workload.
    pub workload_sha256: String,
    /// The command that makes this run.
    pub command: String,
}

/// A policy under a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// Name of its policy in the experiment.
    pub policy: String,
    /// Name of its setting.
    pub setting: String,
    /// The measures, in the order of a comparison.
    pub measures: Vec<MeasureInterval>,
}

/// A measure over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureInterval {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its mean and confidence interval.
    #[serde(flatten)]
    pub value: Interval,
    /// Mean and confidence interval of the differences from the baseline, seed by seed; none for the baseline itself.
    pub difference: Option<Interval>,
}

/// A mean with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean of the known values; NaN, null in JSON, without any.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval (Student); none with fewer than two values.
    pub half_width: Option<f64>,
    /// Number of values.
    pub count: usize,
}

impl Interval {
    /// The interval of the values that are known.
    ///
    /// ```
    /// use classmate_pool::internal::simulate::experiment::Interval;
    /// let found = Interval::of([1.0, 2.0, 3.0, f64::NAN]);
    /// // A standard deviation of 1, and 4.303 of it over the root of 3.
    /// assert_eq!((found.mean, found.count), (2.0, 3));
    /// assert!((found.half_width.unwrap() - 4.303 / 3_f64.sqrt()).abs() < 1e-3);
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let half_width = (count > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            student(count - 1) * (squares / (count - 1) as f64 / count as f64).sqrt()
        });
        Self { mean, half_width, count }
    }

    /// True if the interval does not contain 0.
    pub fn is_significant(&self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// The 97.5 % quantile of Student's distribution.
fn student(freedom: usize) -> f64 {
    const FIRST: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
        2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518,
        2.0484, 2.0452, 2.0423,
    ];
    let known = freedom.checked_sub(1).and_then(|at| FIRST.get(at).copied());
    // An expansion around the normal distribution, exact to four places beyond the table.
    let (z, n) = (1.959_964_f64, freedom as f64);
    known.unwrap_or_else(|| {
        z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
    })
}

/// The key of a measure in tables for programs, such as `wait_mean`.
pub fn key(name: &str) -> String {
    let plain = name.to_lowercase().replace('\'', "");
    plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

impl Experiment {
    /// Sums up runs, each with its policy, its setting and its seed.
    pub fn new(runs: &[(String, String, SimulationRun)], baseline: Option<String>, provenance: Provenance) -> Self {
        let mut of: indexmap::IndexMap<(&str, &str), Vec<&SimulationRun>> = indexmap::IndexMap::new();
        for (policy, setting, run) in runs {
            of.entry((policy, setting)).or_default().push(run);
        }
        let base = |policy: &str, setting: &str| {
            let name = baseline.as_deref()?;
            let place = of.keys().copied().find(|(own, other)| {
                name == format!("{own}/{other}")
                    || (name == *own && *other == setting)
                    || (name == *other && *own == policy)
            })?;
            (place != (policy, setting)).then(|| &of[&place])
        };
        let variant = |(&(policy, setting), runs): (&(&str, &str), &Vec<&SimulationRun>)| {
            let base = base(policy, setting);
            let values = |runs: &[&SimulationRun], at: usize| -> Vec<(u64, f64)> {
                runs.iter().filter_map(|run| Some((run.seed, measures(run).nth(at)?.2))).collect()
            };
            let measure = |(at, (name, unit, _)): (usize, (&'static str, Unit, f64))| {
                let own = values(runs, at);
                let difference = base.map(|base| {
                    let other: BTreeMap<u64, f64> = values(base, at).into_iter().collect();
                    Interval::of(own.iter().filter_map(|(seed, value)| Some(value - other.get(seed)?)))
                });
                let value = Interval::of(own.iter().map(|(_, value)| *value));
                MeasureInterval { name, unit, value, difference }
            };
            let measures = runs.first().map(|run| measures(run).enumerate().map(measure).collect());
            Variant { policy: policy.to_owned(), setting: setting.to_owned(), measures: measures.unwrap_or_default() }
        };
        let point = |(policy, setting, run): &(String, String, SimulationRun)| {
            let made = run.provenance.clone().unwrap_or_default();
            let workload = made.files.iter().find(|file| file.path == run.workload);
            Point {
                policy: policy.clone(),
                setting: setting.clone(),
                seed: run.seed,
                measures: measures(run).map(|(name, _, value)| (key(name), value)).collect(),
                version: made.version,
                workload_sha256: workload.map(|file| file.sha256.clone()).unwrap_or_default(),
                command: format!("classmate {}", made.command.join(" ")),
            }
        };
        let variants = of.iter().map(variant).collect();
        let points = runs.iter().map(point).collect();
        Self { baseline, provenance, variants, points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student_go_over_into_the_expansion() {
        assert_eq!((student(1), student(4)), (12.7062, 2.7764));
        // From tables: 2.0395 for 31, 1.9840 for 100.
        assert!((student(31) - 2.0395).abs() < 1e-4 && (student(100) - 1.9840).abs() < 1e-4);
        assert_eq!(Interval::of([3.0]).half_width, None);
        assert!(Interval::of([1.0, 1.1, 0.9]).is_significant() && !Interval::of([-1.0, 1.1, 0.9]).is_significant());
    }

    #[test]
    fn keys_are_words() {
        assert_eq!(["wait, 95%", "Jain's index", "cores"].map(key), ["wait_95", "jains_index", "cores"]);
    }
}
