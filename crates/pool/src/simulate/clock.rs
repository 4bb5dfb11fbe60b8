//! Expressions whose values may change although no ad changes: those that look at the clock, at priorities, or at
//! random numbers.

use std::sync::{Arc, LazyLock};

use hashbrown::{HashMap, HashSet};

use crate::negotiate::rules::Rules;
use crate::workload::Workload;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::name::{Key, Name, known};
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::{Expr, Tree};

/// Functions that look at the clock, or may.
const CLOCK_FUNCTIONS: [&[u8]; 5] = [b"time", b"currenttime", b"abstime", b"formattime", b"daytime"];

/// Time-dependent attributes that matchmaking adds to a request or a slot.
const MOMENT_ATTRIBUTES: [&str; 9] = [
    "SubmittorPrio",
    "SubmitterUserPrio",
    "SubmitterUserResourcesInUse",
    "SubmitterGroupResourcesInUse",
    "SubmitterGroupQuota",
    "RemoteUserPrio",
    "RemoteUserResourcesInUse",
    "RemoteGroupResourcesInUse",
    "RemoteGroupQuota",
];

/// The keys of all time-dependent attributes.
static OF_THE_MOMENT: LazyLock<HashSet<Key>> = LazyLock::new(|| {
    let added = MOMENT_ATTRIBUTES.into_iter().map(|name| Name::new(name).key());
    added.chain([known::CURRENT_TIME]).collect()
});

static REQUIREMENTS: LazyLock<Name> = LazyLock::new(|| Name::new("Requirements"));

/// References of an expression, and whether its value may change by itself.
#[derive(Debug, Clone, Default)]
struct Looks {
    names: Vec<Name>,
    clock: bool,
}

impl Looks {
    fn of(tree: &Tree) -> Self {
        let found = Mentions::of(tree);
        let clock = found.opaque
            || found.random
            || found.live
            || !found.selectors.is_empty()
            || tree.calls.iter().any(|call| CLOCK_FUNCTIONS.contains(&call.name.folded()))
            || found.names.iter().any(|name| OF_THE_MOMENT.contains(&name.key()));
        Self { names: found.names, clock }
    }
}

/// Finds out which jobs and slots look at the clock when they are matched.
#[derive(Debug)]
pub(super) struct Clock {
    /// References of slot attributes, all slots together.
    slots: HashMap<Key, Looks>,
}

impl Clock {
    /// The clock of slots with these ads.
    pub(super) fn new<'a>(slots: impl Iterator<Item = &'a ClassAd>) -> Self {
        let mut found: HashMap<Key, Looks> = HashMap::new();
        let mut seen: HashSet<(Key, usize)> = HashSet::new();
        for ad in slots {
            for (name, attribute) in ad.attributes() {
                let Attribute::Tree(tree) = attribute else { continue };
                if !seen.insert((name.key(), Arc::as_ptr(tree) as usize)) {
                    continue;
                }
                let looks = Looks::of(tree);
                let own = found.entry(name.key()).or_default();
                own.clock |= looks.clock;
                own.names.extend(looks.names);
                own.names.sort_unstable_by_key(|name| name.folded());
                own.names.dedup();
            }
        }
        Self { slots: found }
    }

    /// Returns whether any slot's own requirements look at the clock.
    pub(super) fn of_slots(&self) -> bool {
        self.reaches(vec![*REQUIREMENTS], None)
    }

    /// Returns whether the requirements of a job look at the clock, in its own ad or through slots.
    pub(super) fn of_job(&self, job: &ClassAd) -> bool {
        match job.lookup(*REQUIREMENTS) {
            Some(Attribute::Tree(tree)) => {
                let looks = Looks::of(tree);
                looks.clock || self.reaches(looks.names, Some(job))
            }
            _ => false,
        }
    }

    /// Returns whether attributes of a job, or of slots, reachable from these names look at the clock.
    fn reaches(&self, names: Vec<Name>, job: Option<&ClassAd>) -> bool {
        let mut seen: HashSet<Key> = HashSet::new();
        let mut open = names;
        while let Some(name) = open.pop() {
            if !seen.insert(name.key()) {
                continue;
            }
            if OF_THE_MOMENT.contains(&name.key()) {
                return true;
            }
            if let Some(looks) = self.slots.get(&name.key()) {
                if looks.clock {
                    return true;
                }
                open.extend(&looks.names);
            }
            if let Some(Attribute::Tree(tree)) = job.and_then(|job| job.lookup(name)) {
                let looks = Looks::of(tree);
                if looks.clock {
                    return true;
                }
                open.extend(looks.names);
            }
        }
        false
    }

    /// Returns whether a rule of the cycle that chooses jobs and slots looks at the clock, by itself or through jobs or
    /// slots.
    pub(super) fn of_rules(&self, rules: &Rules, workload: &Workload) -> bool {
        let look = |rule: &Option<Expr>, ads: &dyn Fn(Vec<Name>) -> bool| {
            rule.as_ref().is_some_and(|expr| {
                let looks = Looks::of(expr.tree());
                looks.clock || ads(looks.names)
            })
        };
        let jobs = |names| {
            let ads = workload.arrivals.iter().filter_map(|arrival| arrival.ad.as_deref());
            Self::new(ads).reaches(names, None)
        };
        rules.trim.shutdown_within != 0
            || look(&rules.jobs, &jobs)
            || look(&rules.slots, &|names| self.reaches(names, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> ClassAd {
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn requirements_look_at_the_clock_through_whatever_they_name() {
        let slots = [ad("[Requirements = START; START = Open; Open = true; Left = End - CurrentTime; End = 5]")];
        let clock = Clock::new(slots.iter());
        let of = |requirements: &str| clock.of_job(&ad(&format!("[Requirements = {requirements}; Mine = time()]")));
        assert!(!clock.of_slots());
        assert!(!of("TARGET.Open") && !of("true") && !of("TARGET.NoSuch =?= 1"));
        assert!(of("time() > 5") && of("TARGET.Left > 3") && of("MY.Mine > 1") && of("random(2) == 1"));
        assert!(of("RemoteUserPrio > 5") && of("eval(\"true\")"));
        assert!(Clock::new([ad("[Requirements = START; START = CurrentTime > 5]")].iter()).of_slots());
    }
}
