//! What DIRAC requires of a job and a slot, for explanations (`docs/reference/dirac-shares.md` 5).
//!
//! In: a job and slots. Out: for each slot, the requirement of the job that it does not meet.

use std::sync::Arc;

use super::ad::resource;
use super::cycle::reader;
use crate::priority::ranking::PolicyRequirements;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::dirac::DiracSettings;

/// The requirements of task queues.
#[derive(Debug)]
pub struct TaskRequirements {
    settings: Arc<DiracSettings>,
}

impl TaskRequirements {
    /// Under these settings.
    pub fn new(settings: &Arc<DiracSettings>) -> Self {
        TaskRequirements { settings: Arc::clone(settings) }
    }
}

impl PolicyRequirements for TaskRequirements {
    fn unmet(&self, job: &ClassAd, slots: &[&ClassAd], settings: &EvalOptions) -> Vec<Option<&'static str>> {
        let queue = reader(&self.settings, settings).requirements(job);
        let unmet = |slot: &&ClassAd| resource(slot, settings).unmet(&queue, |group| self.settings.shares_jobs(group));
        slots.iter().map(unmet).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::dirac::{DiracTree, Whose};

    #[test]
    fn the_requirement_that_a_slot_does_not_meet_is_named() {
        let tree = DiracTree::parse("c", b"").unwrap();
        let settings = Arc::new(DiracSettings::read(&tree, Whose::default()).unwrap());
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let slots =
            ["[Site = \"CERN\"; Cpus = 1]", "[Site = \"RAL\"; Cpus = 4; Tag = \"Tape\"; CPUTimeLeft = 400]"].map(ad);
        let unmet =
            |job: &str| TaskRequirements::new(&settings).unmet(&ad(job), &slots.each_ref(), &EvalOptions::default());
        // 100 s count as 360, and 90,000 as two days: the next of `maxCPUSegments`.
        assert_eq!(unmet("[CPUTime = 100]"), [None, None]);
        assert_eq!(unmet("[CPUTime = 100; Site = \"RAL\"]"), [Some("Site"), None]);
        assert_eq!(unmet("[CPUTime = 100; BannedSites = \"RAL\"]"), [None, Some("BannedSites")]);
        assert_eq!(unmet("[CPUTime = 100; Tags = \"Tape\"]"), [Some("Tags"), None]);
        assert_eq!(unmet("[CPUTime = 90000]"), [None, Some("CPUTime")]);
    }
}
