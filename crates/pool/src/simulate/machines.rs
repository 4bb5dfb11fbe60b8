//! What jobs run on, as the engine sees it.

use classmate_config::internal::config::ConfigError;

/// Machines under a negotiator. Jobs go by their numbers in the workload.
pub trait Machines {
    /// Cores in all.
    fn cores(&self) -> f64;

    /// Whether a job that asks for so many cores could ever run.
    fn could_run(&self, cores: u32) -> bool;

    /// A job comes, or comes back, and waits.
    ///
    /// The clock is epoch seconds, here and below.
    fn arrive(&mut self, job: usize, now: i64);

    /// A job that runs is done.
    fn end(&mut self, job: usize, now: i64);

    /// Brings the books up to a moment at which jobs ended.
    fn charge(&mut self, now: i64);

    /// Whether a cycle might start a job; if not, it can be left out.
    fn may_start(&self) -> bool;

    /// Whether a later cycle might start a job although nothing comes and nothing ends until then: a rule looks at the
    /// clock.
    fn looks_at_clock(&self) -> bool {
        false
    }

    /// Why a job that waits has not started, in words.
    fn why_waiting(&mut self, job: usize, now: i64) -> String {
        let _ = (job, now);
        "it never had its turn".to_owned()
    }

    /// Runs a cycle. Jobs that are displaced are told by [`Machines::arrive`] that they wait again.
    ///
    /// # Errors
    /// A setting that is wrong.
    fn cycle(&mut self, now: i64) -> Result<Decided, ConfigError>;
}

/// What a cycle decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    /// Jobs that start, in order.
    pub started: Vec<usize>,
    /// Jobs that lose their slots, in order; they lost what they did.
    pub displaced: Vec<usize>,
    /// Matches that came to nothing: the slot has less than the job asks for, and its machine refused the claim.
    pub refused: u64,
    /// Submitters that asked, with the fraction of the pool the policy gives them, 0 to 1.
    pub due: Vec<(usize, f64)>,
}
