//! Recent runs by place, kept from cycle to cycle instead of read from the ads of jobs.

use std::sync::Arc;

use super::ad::{JobReader, resource};
use super::cycle::reader;
use super::history::RunHistory;
use super::site::SiteLimits;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::dirac::DiracSettings;

/// Fraction of the longest time span that passes before older entries are dropped.
const FORGET_FRACTION: f64 = 0.125;

/// Past runs, as far as they correct shares and limit sites.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::priority::dirac::{DiracChoice, Past};
/// let mut past = Past::new(DiracChoice::default().settings());
/// let job = ClassAd::parse(b"[Owner = \"ann\"; DiracGroup = \"mc\"]")?;
/// past.started(&job, &ClassAd::new(), &EvalOptions::default(), 10);
/// assert_eq!(past.history().of_groups(70.0, 120.0)[&b"mc"[..]], 0.5);
/// past.ended(&job, &ClassAd::new(), &EvalOptions::default(), 70);
/// // By default nothing is corrected, and what ended is forgotten.
/// assert!(past.history().of_groups(70.0, 120.0).is_empty());
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Past {
    settings: Arc<DiracSettings>,
    history: Arc<RunHistory>,
    limits: SiteLimits,
    /// The longest time that is looked back, seconds.
    longest: f64,
    /// Time at which older entries were dropped last.
    forgot: f64,
}

impl Past {
    /// Nothing ran yet.
    pub fn new(settings: &Arc<DiracSettings>) -> Self {
        let slices = settings.corrections.instances.iter().flat_map(|instance| &instance.slices);
        Self {
            longest: slices.map(|slice| slice.time_span).fold(0.0, f64::max),
            history: Arc::default(),
            limits: SiteLimits::new(settings),
            settings: Arc::clone(settings),
            forgot: f64::NEG_INFINITY,
        }
    }

    /// A job started on a slot.
    pub fn started(&mut self, job: &ClassAd, slot: &ClassAd, evaluation: &EvalOptions, now: i64) {
        let requirements = self.reader(evaluation).requirements(job);
        Arc::make_mut(&mut self.history).change(&requirements.group, &requirements.owner, now as f64, 1.0);
        if !self.limits.is_empty() {
            self.limits.started(&resource(slot, evaluation).sites, &requirements, now as f64);
        }
    }

    /// A job that ran on a slot ended, or lost it.
    pub fn ended(&mut self, job: &ClassAd, slot: &ClassAd, evaluation: &EvalOptions, now: i64) {
        let requirements = self.reader(evaluation).requirements(job);
        let history = Arc::make_mut(&mut self.history);
        history.change(&requirements.group, &requirements.owner, now as f64, -1.0);
        if now as f64 - self.forgot > FORGET_FRACTION * self.longest {
            self.forgot = now as f64;
            history.forget(now as f64 - self.longest);
        }
        if !self.limits.is_empty() {
            self.limits.ended(&resource(slot, evaluation).sites, &requirements);
        }
    }

    /// Usage by group and user.
    pub fn history(&self) -> &Arc<RunHistory> {
        &self.history
    }

    /// Current limits of sites.
    pub fn limits(&self) -> &SiteLimits {
        &self.limits
    }

    /// Returns whether a site rejects jobs of some kind at this moment, but will accept them after some time.
    pub fn delays(&self, now: i64) -> bool {
        self.limits.delays(now as f64)
    }

    fn reader<'s>(&self, evaluation: &'s EvalOptions) -> JobReader<'s> {
        reader(&self.settings, evaluation)
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiracChoice;
    use super::*;

    fn past(text: &str) -> Past {
        let choice = DiracChoice::read(vec![("dirac.cfg".to_owned(), text.into())], None, None).unwrap();
        Past::new(choice.settings())
    }

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    const CORRECTIONS: &str = "Operations\n{\nDefaults\n{\nJobScheduling\n{\nEnableSharesCorrection = True\n\
                               ShareCorrections\n{\nShareCorrectorsToStart = WMSHistory\nWMSHistory\n{\nG\n{\nHour\n{\n\
                               TimeSpan = 3600\nWeight = 1\nMaxCorrection = 2\n}\n}\n}\n}\n}\n}\n}\n";

    #[test]
    fn what_is_older_than_the_longest_span_leaves_and_sums_stay_exact() {
        let mut past = past(CORRECTIONS);
        let (job, slot, settings) =
            (ad("[Owner = \"ann\"; AcctGroup = \"g\"]"), ClassAd::new(), EvalOptions::default());
        // A job of 60 s every 100 s for ten days: 36 of them in any hour.
        for start in (0..864_000).step_by(100) {
            past.started(&job, &slot, &settings, start);
            past.ended(&job, &slot, &settings, start + 60);
        }
        assert_eq!(past.history().of_groups(864_000.0, 3600.0)[&b"g"[..]], 36.0 * 60.0 / 3600.0);
        // Steps are dropped once they are half of all: an hour and an eighth have 81 changes.
        assert!(past.history().steps() < 4 * 81, "{} steps", past.history().steps());
    }

    #[test]
    fn a_start_delays_others_though_its_job_has_ended() {
        let mut past = past(
            "Operations\n{\nDefaults\n{\nJobScheduling\n{\nMatchingDelay\n{\nCERN\n{\nJobType\n{\nMC = 300\n}\n}\n}\n\
             RunningLimit\n{\nCERN\n{\nOwner\n{\nann = 1\n}\n}\n}\n}\n}\n}\n",
        );
        let settings = EvalOptions::default();
        let (job, slot) = (ad("[Owner = \"ann\"; JobType = \"MC\"]"), ad("[Site = \"CERN\"]"));
        let requirements = past.reader(&settings).requirements(&job);
        let allowed = |past: &Past, now: f64| past.limits().allow(&[b"CERN"[..].into()], &requirements, now);
        past.started(&job, &slot, &settings, 1000);
        assert!(!allowed(&past, 1100.0));
        past.ended(&job, &slot, &settings, 1100);
        assert!(past.delays(1299) && !past.delays(1300));
        assert!(allowed(&past, 1300.0));
    }
}
