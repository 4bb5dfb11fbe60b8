//! The slots that a cycle leaves out of matchmaking.
//!
//! Formula source: `docs/reference/negotiation.md` 6. Pool sizes are computed before.

use crate::pool::ad_reader::AdReader;
use crate::pool::{Slot, State};
use classmate::internal::eval::scope::EvalOptions;

/// The rules by which slots are left out (HTCondor: trimming).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trim {
    /// True if slots in use are considered; otherwise only the partitionable ones among them.
    pub preemption: bool,
    /// True if also those with retirement time left are considered.
    pub early_preemption: bool,
    /// Slots that shut down within this many seconds are left out; 0: none.
    pub shutdown_within: i64,
    /// True if claimed partitionable slots that belong to other central managers are considered.
    pub working_cm_slots: bool,
}

impl Trim {
    /// Returns whether a slot is considered.
    pub fn keeps(&self, slot: &Slot, settings: &EvalOptions) -> bool {
        self.exclusion(slot, settings).is_none()
    }

    /// The reason a slot is left out, in a clause; `None` if it is considered.
    pub fn exclusion(&self, slot: &Slot, settings: &EvalOptions) -> Option<&'static str> {
        if !self.keeps_use(slot, settings) {
            let in_use = "in use, and NEGOTIATOR_CONSIDER_PREEMPTION is false";
            let protected = "in use within retirement time (RetirementTimeRemaining is above 0), and \
                             NEGOTIATOR_CONSIDER_EARLY_PREEMPTION is false";
            return Some(if self.preemption { protected } else { in_use });
        }
        if self.shutdown_within > 0 && shuts_down(slot, self.shutdown_within, settings) {
            return Some("shutting down within NEGOTIATOR_TRIM_SHUTDOWN_THRESHOLD");
        }
        let claimed = "claimed and partitionable, and WantMatching is false or WorkingCM names another central manager";
        (!self.keeps_claimed_partitionable(slot, settings)).then_some(claimed)
    }

    /// The `CurrentTime` that a slot has for the rest of the cycle, epoch seconds: `condor_negotiator` sets it for the test
    /// of the shutdown condition, and leaves it in an ad that had none before. `None` if it is not set.
    pub fn moved_clock(&self, slot: &Slot, settings: &EvalOptions) -> Option<i64> {
        let tested = self.shutdown_within > 0 && has_shutdown_condition(slot);
        (tested && !slot.ad.contains("CurrentTime")).then(|| shutdown_clock(slot, self.shutdown_within, settings))
    }

    fn keeps_use(&self, slot: &Slot, settings: &EvalOptions) -> bool {
        if !self.preemption {
            return slot.partitionable || !slot.is_in_use();
        }
        let retiring = || AdReader::of(&slot.ad, settings).number("RetirementTimeRemaining").is_some_and(|t| t > 0.0);
        self.early_preemption || !retiring()
    }

    fn keeps_claimed_partitionable(&self, slot: &Slot, settings: &EvalOptions) -> bool {
        if !slot.partitionable || slot.state != State::Claimed {
            return true;
        }
        let facts = AdReader::of(&slot.ad, settings);
        let elsewhere = facts.string("WorkingCM").is_some_and(|name| !name.is_empty());
        facts.truth("WantMatching") != Some(false) && (self.working_cm_slots || !elsewhere)
    }
}

/// The conditions under which a slot shuts down; the fast one decides if it has a value.
const SHUTDOWN: [&str; 2] = ["DaemonShutdownFast", "DaemonShutdown"];

fn has_shutdown_condition(slot: &Slot) -> bool {
    SHUTDOWN.iter().any(|&name| slot.ad.contains(name))
}

/// Returns whether a slot will shut down within a number of seconds: `CurrentTime` is moved forward, `time()` is not.
fn shuts_down(slot: &Slot, within: i64, settings: &EvalOptions) -> bool {
    if !has_shutdown_condition(slot) {
        return false;
    }
    let mut then = slot.ad.clone();
    then.insert("CurrentTime", shutdown_clock(slot, within, settings));
    let shutdown = SHUTDOWN.into_iter().find_map(|name| AdReader::of(&then, settings).truth(name));
    shutdown == Some(true)
}

fn shutdown_clock(slot: &Slot, within: i64, settings: &EvalOptions) -> i64 {
    let clock = AdReader::of(&slot.ad, settings).integer("MyCurrentTime").unwrap_or(settings.now);
    clock.saturating_add(within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::slot::Weighing;
    use classmate::internal::ad::ClassAd;

    const IDLE_ONLY: Trim =
        Trim { preemption: false, early_preemption: false, shutdown_within: 0, working_cm_slots: false };
    const PREEMPTING: Trim = Trim { preemption: true, ..IDLE_ONLY };

    fn keeps(trim: Trim, ad: &str) -> bool {
        let ad = ClassAd::parse(format!("[Name = \"s\"; {ad}]").as_bytes()).unwrap();
        let weighing = Weighing { weighted: true, default: None, forced: false };
        let settings = EvalOptions { now: 1000, ..EvalOptions::default() };
        trim.keeps(&Slot::new(ad, &weighing, &settings).unwrap(), &settings)
    }

    #[test]
    fn without_preemption_slots_in_use_are_left_out_unless_partitionable() {
        assert!(!keeps(IDLE_ONLY, "State = \"Claimed\""));
        assert!(!keeps(IDLE_ONLY, "State = \"Preempting\""));
        assert!(keeps(IDLE_ONLY, "State = \"Claimed\"; PartitionableSlot = true"));
        assert!(keeps(IDLE_ONLY, "State = \"Unclaimed\""));
        assert!(keeps(PREEMPTING, "State = \"Claimed\""));
    }

    #[test]
    fn slots_within_retirement_time_are_left_for_later() {
        assert!(!keeps(PREEMPTING, "State = \"Claimed\"; RetirementTimeRemaining = 10"));
        let early = Trim { early_preemption: true, ..PREEMPTING };
        assert!(keeps(early, "State = \"Claimed\"; RetirementTimeRemaining = 10"));
        assert!(keeps(IDLE_ONLY, "State = \"Unclaimed\"; RetirementTimeRemaining = 10"));
    }

    #[test]
    fn slots_about_to_shut_down_are_left_out() {
        let soon = Trim { shutdown_within: 100, ..IDLE_ONLY };
        assert!(!keeps(soon, "DaemonShutdown = CurrentTime > 1050"));
        assert!(keeps(IDLE_ONLY, "DaemonShutdown = CurrentTime > 1050"));
        assert!(keeps(soon, "DaemonShutdown = CurrentTime > 1050; MyCurrentTime = 500"));
        assert!(keeps(soon, "DaemonShutdown = true; DaemonShutdownFast = false"));
        // The wall clock stays.
        assert!(keeps(soon, "DaemonShutdown = time() > 1050"));
        assert!(!keeps(soon, "DaemonShutdown = time() >= 1000"));
    }

    #[test]
    fn claimed_partitionable_slots_may_not_want_matches() {
        assert!(!keeps(IDLE_ONLY, "State = \"Claimed\"; PartitionableSlot = true; WantMatching = false"));
        assert!(!keeps(IDLE_ONLY, "State = \"Claimed\"; PartitionableSlot = true; WorkingCM = \"x\""));
    }
}
