//! The projection of claimed slots: the attributes that a negotiator without preemption requests.
//!
//! In: a slot ad. Out: the ad as the collector would send it. Formula source: `docs/reference/negotiation.md` 4.1. With
//! each attribute the collector sends those that its expression refers to, so that a weight can be computed.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::pool::ad_reader::AdReader;
use crate::pool::slot::State;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::references::internal;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::{Key, Name};

/// The attributes that are requested.
static ASKED: LazyLock<[Name; 11]> = LazyLock::new(|| {
    [
        "Name",
        "MyType",
        "State",
        "Activity",
        "StartdIpAddr",
        "AccountingGroup",
        "Owner",
        "RemoteUser",
        "Requirements",
        "SlotWeight",
        "ConcurrencyLimits",
    ]
    .map(Name::new)
});

/// Returns whether only a part of the ad is requested: the slot is claimed and not partitionable.
pub fn is_projected(ad: &ClassAd, settings: &EvalOptions) -> bool {
    let facts = AdReader::of(ad, settings);
    let state = facts.string("State").map(|state| State::named(&state));
    state == Some(State::Claimed) && facts.truth("PartitionableSlot") != Some(true)
}

/// Removes all attributes of an ad except those that are requested, and those that they refer to.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::pool::projection::project;
/// let mut ad = ClassAd::parse(b"[Name = \"s\"; SlotWeight = 2 * Cpus; Cpus = 4; Site = \"x\"]")?;
/// project(&mut ad, &EvalOptions::default());
/// assert!(ad.contains("Cpus") && !ad.contains("Site"));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn project(ad: &mut ClassAd, settings: &EvalOptions) {
    let mut kept: HashSet<Key> = ASKED.iter().map(|name| name.key()).collect();
    for name in ASKED.iter().filter(|name| ad.constant(**name).is_none()) {
        if let Some(expr) = ad.get(*name) {
            // Attributes with circular references have no value anyway.
            let needed = internal(ad, &expr, settings).unwrap_or_default();
            kept.extend(needed.iter().map(|name| Name::new(&**name).key()));
        }
    }
    ad.retain(|name| kept.contains(&name.key()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(ad: &str) -> Vec<String> {
        let mut ad = ClassAd::parse(ad.as_bytes()).unwrap();
        project(&mut ad, &EvalOptions::default());
        let mut names: Vec<String> = ad.names().map(|name| name.to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_asked_for_stays_with_all_it_refers_to() {
        assert_eq!(
            projected("[Name = \"s\"; State = \"Claimed\"; Site = \"x\"; GhostMultiplier = 3]"),
            ["Name", "State"]
        );
        assert_eq!(
            projected(
                "[SlotWeight = MY.Weight; Weight = Cpus / 2; Cpus = 4; Memory = 1; Requirements = START; START = TARGET.Memory > 2]"
            ),
            ["Cpus", "Requirements", "START", "SlotWeight", "Weight"]
        );
        // A circle stops nothing.
        assert_eq!(projected("[Requirements = A; A = B; B = A; Name = \"s\"]"), ["Name", "Requirements"]);
    }

    #[test]
    fn claimed_slots_are_projected_unless_partitionable() {
        let is = |ad: &str| is_projected(&ClassAd::parse(ad.as_bytes()).unwrap(), &EvalOptions::default());
        assert!(is("[State = \"claimed\"]"));
        assert!(is("[State = \"Claimed\"; PartitionableSlot = false]"));
        assert!(!is("[State = \"Claimed\"; PartitionableSlot = true]"));
        assert!(!is("[State = \"Preempting\"]") && !is("[State = \"Unclaimed\"]") && !is("[Name = \"s\"]"));
    }
}
