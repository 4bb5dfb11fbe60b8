//! What a change of settings, jobs or slots does to a cycle: two outcomes, and their difference.
//!
//! In: a snapshot, and changes. Out: a [`Difference`], plain data that serialises.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ad::ClassAd;
use crate::eval::scope::{Scope, Settings};
use crate::name::Name;
use crate::negotiate::candidate::Tier;
use crate::negotiate::outcome::{Match, Outcome, Rejection};
use crate::syntax::expr::Expr;

/// An attribute to set in the ads for which a condition holds.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Which ads.
    pub of: Expr,
    /// The attribute.
    pub name: Name,
    /// Its new value.
    pub value: Expr,
}

fn holds(ad: &ClassAd, condition: &Expr, settings: &Settings) -> bool {
    Scope::new(ad, settings).eval(condition).is_ok_and(|value| value.as_condition() == Some(true))
}

impl Setting {
    /// Sets the attribute, and tells in how many ads.
    pub fn apply(&self, ads: &mut [ClassAd], settings: &Settings) -> usize {
        let mut changed = 0;
        for ad in ads {
            if holds(ad, &self.of, settings) {
                ad.insert_expr(self.name, &self.value);
                changed += 1;
            }
        }
        changed
    }
}

/// Takes away the ads for which a condition holds, and tells how many.
pub fn drain(ads: &mut Vec<ClassAd>, condition: &Expr, settings: &Settings) -> usize {
    let before = ads.len();
    ads.retain(|ad| !holds(ad, condition, settings));
    before - ads.len()
}

/// A count or an amount before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moved<T> {
    /// Whose.
    pub name: String,
    /// Before the change.
    pub before: T,
    /// After it.
    pub after: T,
}

/// A group before and after; zeros where there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Its own quota in weighted slots.
    pub quota: f64,
    /// What it was granted in the last round.
    pub allocated: f64,
    /// What it uses at the end.
    pub usage: f64,
}

/// How two outcomes differ. What is the same is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Matches before and after.
    pub matches: (usize, usize),
    /// Weighted slots that were matched, before and after.
    pub weight: (f64, f64),
    /// Matches that displace somebody, before and after.
    pub preemptions: (usize, usize),
    /// Matches by submitter.
    pub submitters: Vec<Moved<usize>>,
    /// Groups.
    pub groups: Vec<Moved<GroupFigures>>,
    /// Jobs that get a slot only after the change.
    pub jobs_won: Vec<String>,
    /// Jobs that get a slot only before it.
    pub jobs_lost: Vec<String>,
    /// Jobs that get another slot: job, slot before, slot after.
    pub jobs_moved: Vec<(String, String, String)>,
    /// Slots that are matched only after the change.
    pub slots_won: Vec<String>,
    /// Slots that are matched only before it.
    pub slots_lost: Vec<String>,
    /// Requests that found no slot that matches only after the change, by their first job.
    pub no_match_now: Vec<String>,
    /// Requests that found none only before it.
    pub no_match_before: Vec<String>,
}

impl Difference {
    /// The difference of two outcomes.
    ///
    /// ```
    /// use classmate::negotiate::Outcome;
    /// use classmate::whatif::Difference;
    /// assert!(Difference::of(&Outcome::default(), &Outcome::default()).is_none());
    /// ```
    pub fn of(before: &Outcome, after: &Outcome) -> Self {
        let by_job = |outcome: &Outcome| -> BTreeMap<String, String> {
            outcome.matches.iter().map(|made| (made.job.clone(), made.slot.clone())).collect()
        };
        let (old, new) = (by_job(before), by_job(after));
        let slots = |jobs: &BTreeMap<String, String>| jobs.values().cloned().collect::<BTreeSet<String>>();
        let (old_slots, new_slots) = (slots(&old), slots(&new));
        let unmatched = |outcome: &Outcome| -> BTreeSet<String> {
            let refused = outcome.rejections.iter().filter(|one| one.rejection == Rejection::NoMatch);
            refused.map(|one| one.job.clone()).collect()
        };
        let (old_none, new_none) = (unmatched(before), unmatched(after));
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect();
        let missing = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            one.keys().filter(|job| !other.contains_key(*job)).cloned().collect()
        };
        let weight = |outcome: &Outcome| outcome.matches.iter().map(|made| made.weight).sum();
        let displaced = |outcome: &Outcome| outcome.matches.iter().filter(|made| displaces(made)).count();
        let moved = old.iter().filter_map(|(job, slot)| {
            let other = new.get(job).filter(|other| *other != slot)?;
            Some((job.clone(), slot.clone(), other.clone()))
        });
        Difference {
            matches: (before.matches.len(), after.matches.len()),
            weight: (weight(before), weight(after)),
            preemptions: (displaced(before), displaced(after)),
            submitters: paired(&submitters(before), &submitters(after)),
            groups: paired(&groups(before), &groups(after)),
            jobs_won: missing(&new, &old),
            jobs_lost: missing(&old, &new),
            jobs_moved: moved.collect(),
            slots_won: only(&new_slots, &old_slots),
            slots_lost: only(&old_slots, &new_slots),
            no_match_now: only(&new_none, &old_none),
            no_match_before: only(&old_none, &new_none),
        }
    }

    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        self.matches.0 == self.matches.1
            && self.preemptions.0 == self.preemptions.1
            && self.submitters.is_empty()
            && self.groups.is_empty()
            && self.jobs_won.is_empty()
            && self.jobs_lost.is_empty()
            && self.jobs_moved.is_empty()
            && self.no_match_now.is_empty()
            && self.no_match_before.is_empty()
    }

    /// The difference as an ad, for conditions over it: `MatchesBefore`, `MatchesAfter`, `WeightBefore`, `WeightAfter`,
    /// `PreemptionsBefore`, `PreemptionsAfter`, `JobsWon`, `JobsLost`, `JobsMoved`, `SlotsWon`, `SlotsLost`,
    /// `RequestsUnmatchedNow`, `RequestsUnmatchedBefore`.
    pub fn to_ad(&self) -> ClassAd {
        let mut ad = ClassAd::new();
        let counts = [
            ("MatchesBefore", self.matches.0),
            ("MatchesAfter", self.matches.1),
            ("PreemptionsBefore", self.preemptions.0),
            ("PreemptionsAfter", self.preemptions.1),
            ("JobsWon", self.jobs_won.len()),
            ("JobsLost", self.jobs_lost.len()),
            ("JobsMoved", self.jobs_moved.len()),
            ("SlotsWon", self.slots_won.len()),
            ("SlotsLost", self.slots_lost.len()),
            ("RequestsUnmatchedNow", self.no_match_now.len()),
            ("RequestsUnmatchedBefore", self.no_match_before.len()),
        ];
        for (name, count) in counts {
            ad.insert(name, i64::try_from(count).unwrap_or(i64::MAX));
        }
        ad.insert("WeightBefore", self.weight.0);
        ad.insert("WeightAfter", self.weight.1);
        ad
    }
}

fn displaces(made: &Match) -> bool {
    made.preempting != Tier::None
}

fn submitters(outcome: &Outcome) -> BTreeMap<String, usize> {
    outcome.submitters.iter().map(|line| (line.submitter.clone(), line.matched)).collect()
}

fn groups(outcome: &Outcome) -> BTreeMap<String, GroupFigures> {
    let figures = outcome.groups.iter().map(|group| {
        let figures = GroupFigures { quota: group.quota, allocated: group.allocated, usage: group.usage };
        (group.name.clone(), figures)
    });
    figures.collect()
}

/// What differs, by name.
fn paired<T: Copy + Default + PartialEq>(before: &BTreeMap<String, T>, after: &BTreeMap<String, T>) -> Vec<Moved<T>> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let of = |map: &BTreeMap<String, T>, name: &String| map.get(name).copied().unwrap_or_default();
    names
        .into_iter()
        .map(|name| Moved { name: name.clone(), before: of(before, name), after: of(after, name) })
        .filter(|moved| moved.before != moved.after)
        .collect()
}
