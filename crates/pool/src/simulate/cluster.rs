//! The cluster that jobs run on, as the engine sees it.

use classmate_config::internal::config::ConfigError;

/// Machines under a negotiator. Jobs go by their numbers in the workload.
pub trait Cluster {
    /// Cores in all.
    fn cores(&self) -> f64;

    /// Returns whether a job that requests this number of cores could ever run.
    fn could_run(&self, cores: u32) -> bool;

    /// A job comes, or comes back, and waits.
    ///
    /// The clock is epoch seconds, here and below.
    fn arrive(&mut self, job: usize, now: i64);

    /// A job that runs is done.
    fn end(&mut self, job: usize, now: i64);

    /// Brings usage up to a moment at which jobs ended.
    fn charge(&mut self, now: i64);

    /// Returns whether a cycle might start a job; if not, it can be skipped.
    fn may_start(&self) -> bool;

    /// Returns whether a later cycle might start a job without any arrival or end until then: a rule looks at the
    /// clock.
    fn looks_at_clock(&self) -> bool {
        false
    }

    /// The reason for which a waiting job has not started, in words.
    fn why_waiting(&mut self, job: usize, now: i64) -> String {
        let _ = (job, now);
        "its submitter was never reached".to_owned()
    }

    /// Runs a cycle. Displaced jobs are returned to the queue by [`Cluster::arrive`].
    ///
    /// # Errors
    /// A setting that is wrong.
    fn cycle(&mut self, now: i64) -> Result<CycleDecisions, ConfigError>;
}

/// The decisions of a cycle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CycleDecisions {
    /// Jobs that start, in order.
    pub started: Vec<usize>,
    /// Jobs that lose their slots, in order; they lost what they did.
    pub displaced: Vec<usize>,
    /// Matches rejected by the machine: the slot has less than the job requests.
    pub refused: u64,
    /// Submitters with requests, with their entitled fraction of the pool, 0 to 1.
    pub due: Vec<(usize, f64)>,
}
