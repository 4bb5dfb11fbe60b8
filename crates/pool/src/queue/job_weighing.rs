//! The weights of jobs, as their access points count them in submitter ads.
//!
//! In: the settings of access points, and a job. Out: its weight. Formula source: `docs/reference/negotiation.md` 4.3.

use std::sync::LazyLock;

use crate::pool::ad_reader::AdReader;
use crate::quota::settings::expression;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate_config::internal::config::knobs::PieKnobs;

static REQUEST_CPUS: LazyLock<Name> = LazyLock::new(|| Name::new("RequestCpus"));

/// The rule by which access points weigh jobs.
#[derive(Debug, Clone, Default)]
pub enum JobWeighing {
    /// The cores that a job requests.
    #[default]
    Cores,
    /// An expression of the job.
    OfJob(Expr),
    /// An expression of a slot that has just what the job requests.
    OfSlot(Expr),
}

impl JobWeighing {
    /// The rule of access points with these settings, given `SLOT_WEIGHT`. As they do, it ignores an invalid `SCHEDD_SLOT_WEIGHT`.
    pub(crate) fn of(knobs: &PieKnobs, slot_weight: Option<&Expr>) -> Self {
        if !knobs.weigh_jobs {
            return Self::Cores;
        }
        if let Ok(Some(expr)) = expression("SCHEDD_SLOT_WEIGHT", knobs.job_weight.as_ref()) {
            return Self::OfJob(expr);
        }
        let is_only = |name: &str| {
            knobs
                .slot_weight
                .as_ref()
                .is_some_and(|found| found.text.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        };
        match slot_weight {
            Some(_) if is_only("Memory") => "RequestMemory".parse().map_or(Self::Cores, Self::OfJob),
            Some(expr) if !is_only("Cpus") => Self::OfSlot(expr.clone()),
            _ => Self::Cores,
        }
    }

    /// The expression of the configuration.
    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Cores => None,
            Self::OfJob(expr) | Self::OfSlot(expr) => Some(expr),
        }
    }

    /// The weight of a job, a whole number.
    ///
    /// ```
    /// use classmate::{ClassAd, EvalOptions};
    /// use classmate_pool::internal::queue::job_weighing::JobWeighing;
    /// let job = ClassAd::parse(b"[RequestCpus = 2; RequestMemory = 6144]")?;
    /// let by_memory = JobWeighing::OfSlot("Memory / 1000.0".parse()?);
    /// let weights = [JobWeighing::Cores, by_memory].map(|rule| rule.weight(&job, &EvalOptions::default()));
    /// assert_eq!(weights, [2, 6]);
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    pub fn weight(&self, job: &ClassAd, settings: &EvalOptions) -> i64 {
        let facts = AdReader::of(job, settings);
        let cores = facts.integer(*REQUEST_CPUS).unwrap_or(1);
        let number = |ad: &ClassAd, expr: &Expr| Scope::new(ad, settings).eval(expr).ok()?.as_number();
        let weight = match self {
            Self::Cores => return cores,
            Self::OfJob(expr) => number(job, expr).unwrap_or(cores.max(1) as f64),
            Self::OfSlot(expr) => {
                let mut slot = ClassAd::new();
                slot.insert("Cpus", cores);
                for (name, request) in [("Memory", "RequestMemory"), ("Disk", "RequestDisk")] {
                    slot.insert(name, facts.integer(request).unwrap_or_else(|| cores.saturating_mul(1024)));
                }
                number(&slot, expr).unwrap_or(cores as f64)
            }
        };
        weight as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::rules::Rules;
    use classmate_config::internal::config::Config;

    /// The rules of `count_a_job` and `guessJobSlotWeight` in HTCondor's `schedd.cpp`.
    #[test]
    fn jobs_weigh_what_their_access_point_counts() {
        let settings = EvalOptions::default();
        let weight = |config: &str, job: &str| {
            let config = Config::parse("c", config.as_bytes()).unwrap();
            let rules = Rules::read(&config, &settings).unwrap();
            rules.job_weighing.weight(&ClassAd::parse(job.as_bytes()).unwrap(), &settings)
        };
        let job = "[RequestCpus = 2; RequestMemory = 6144]";
        for (config, expected) in [
            ("", 2),
            ("SLOT_WEIGHT = cpus", 2),
            ("SLOT_WEIGHT = Memory", 6144),
            ("SLOT_WEIGHT = Memory / 1024", 6),
            // 2 + 6.144.
            ("SLOT_WEIGHT = Cpus + Memory / 1000.0", 8),
            // 1024 KB a core.
            ("SLOT_WEIGHT = Disk", 2048),
            ("SLOT_WEIGHT = Unknown", 2),
            ("SLOT_WEIGHT = Memory\nSCHEDD_SLOT_WEIGHT = RequestMemory / 1024 + 1", 7),
            ("SLOT_WEIGHT = Memory\nSCHEDD_SLOT_WEIGHT = Memory", 2),
            ("SLOT_WEIGHT = Memory\nSCHEDD_SLOT_WEIGHT = 1 +", 6144),
            ("SLOT_WEIGHT = Memory\nSCHEDD_USE_SLOT_WEIGHT = false", 2),
        ] {
            assert_eq!(weight(config, job), expected, "{config}");
        }
        assert_eq!(weight("SLOT_WEIGHT = Memory / 1024", "[Owner = \"al\"]"), 1);
        assert_eq!(weight("", "[Owner = \"al\"]"), 1);
    }
}
