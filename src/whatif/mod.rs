//! What a change of settings, jobs or slots does to a cycle: two outcomes, and their difference.
//!
//! In: a snapshot, and changes. Out: a [`Difference`], plain data that serialises.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use crate::ad::ClassAd;
use crate::config::ConfigError;
use crate::eval::matching::symmetric;
use crate::eval::scope::{Scope, Settings};
use crate::name::Name;
use crate::negotiate::Snapshot;
use crate::negotiate::candidate::Tier;
use crate::negotiate::outcome::{Match, Outcome, Rejection};
use crate::negotiate::rules::Rules;
use crate::negotiate::scene::scene;
use crate::pool::facts::Facts;
use crate::queue::Job;
use crate::syntax::expr::Expr;

/// Requests that are asked whether any slot matches them: so many, or in small pools as many as make so many evaluations.
const ASKED: (usize, usize) = (20, 20_000);

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
    /// Slots matched by class: what kind of slot they are. None if the slots are not known.
    pub classes: Vec<Moved<usize>>,
    /// Requests by their first job that some slot matched, whoever has it, and that none matches after the change. In large
    /// pools only some requests are asked, those first that find no slot on one side only.
    pub stranded: Vec<String>,
    /// Requests by their first job that no slot matched, and that some match after the change.
    pub freed: Vec<String>,
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
        let weight = |outcome: &Outcome| outcome.matches.iter().fold(0.0, |sum, made| sum + made.weight);
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
            classes: Vec::new(),
            stranded: Vec::new(),
            freed: Vec::new(),
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
            && self.stranded.is_empty()
            && self.freed.is_empty()
    }

    /// Adds what needs the pools to be told: matches by classes of slots, and jobs that match nothing at all, or no longer.
    ///
    /// # Errors
    /// A setting of a configuration that is wrong.
    pub fn with_pools(
        mut self,
        (before, old): (&Snapshot, &Outcome),
        (after, new): (&Snapshot, &Outcome),
    ) -> Result<Self, ConfigError> {
        self.classes = paired(&classes(before, old), &classes(after, new));
        let none = |outcome: &Outcome| -> Vec<String> {
            let refused = outcome.rejections.iter().filter(|one| one.rejection == Rejection::NoMatch);
            refused.map(|one| one.job.clone()).collect()
        };
        // First those of which the cycles say different things.
        let mut asked: Vec<String> = self.no_match_now.iter().chain(&self.no_match_before).cloned().collect();
        asked.extend(none(old).into_iter().chain(none(new)));
        let mut known = BTreeSet::new();
        asked.retain(|job| known.insert(job.clone()));
        let slots = before.slots.len().max(after.slots.len()).max(1);
        asked.truncate(ASKED.0.max(ASKED.1 / slots));
        asked.sort_unstable();
        if asked.is_empty() {
            return Ok(self);
        }
        let (could, can) = (matching(before, &asked)?, matching(after, &asked)?);
        for (job, (could, can)) in asked.into_iter().zip(could.into_iter().zip(can)) {
            match (could, can) {
                (true, false) => self.stranded.push(job),
                (false, true) => self.freed.push(job),
                _ => {}
            }
        }
        Ok(self)
    }

    /// The difference as an ad, for conditions over it: `MatchesBefore`, `MatchesAfter`, `WeightBefore`, `WeightAfter`,
    /// `PreemptionsBefore`, `PreemptionsAfter`, `JobsWon`, `JobsLost`, `JobsMoved`, `SlotsWon`, `SlotsLost`,
    /// `RequestsStranded`, `RequestsFreed`, `RequestsUnmatchedNow`, `RequestsUnmatchedBefore`.
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
            ("RequestsStranded", self.stranded.len()),
            ("RequestsFreed", self.freed.len()),
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

/// Several cycles as one outcome: what was matched in all of them, and how groups and submitters stand in the last.
pub fn summed(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
    let mut sum = Outcome::default();
    for mut outcome in outcomes {
        let mut matches = std::mem::take(&mut sum.matches);
        matches.append(&mut outcome.matches);
        outcome.matches = matches;
        for line in std::mem::take(&mut sum.submitters) {
            match outcome.submitters.iter_mut().find(|one| one.submitter == line.submitter) {
                Some(one) => {
                    one.matched += line.matched;
                    one.weight += line.weight;
                }
                None => outcome.submitters.push(line),
            }
        }
        sum = outcome;
    }
    sum
}

/// Slots of a kind, and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SlotKind {
    /// Cores, memory, GPUs and architecture.
    pub name: String,
    /// How many there are.
    pub slots: usize,
    /// How many of them were in use when the cycle began.
    pub in_use: usize,
    /// How many of them were matched.
    pub matched: usize,
}

/// The slots of a pool by their kind, those of which there are most first.
pub fn kinds(snapshot: &Snapshot, outcome: &Outcome) -> Vec<SlotKind> {
    let settings = snapshot.settings();
    let got: BTreeSet<&str> = outcome.matches.iter().map(|made| made.slot.as_str()).collect();
    let mut kinds: BTreeMap<String, SlotKind> = BTreeMap::new();
    for ad in &snapshot.slots {
        let facts = Facts::of(ad, &settings);
        let Some(name) = facts.string("Name") else { continue };
        let name_of_kind = kind(facts);
        let entry =
            kinds.entry(name_of_kind.clone()).or_insert_with(|| SlotKind { name: name_of_kind, ..SlotKind::default() });
        entry.slots += 1;
        entry.in_use += usize::from(facts.string("State").is_some_and(|state| state.eq_ignore_ascii_case(b"Claimed")));
        entry.matched += usize::from(got.contains(String::from_utf8_lossy(&name).as_ref()));
    }
    let mut kinds: Vec<SlotKind> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.slots));
    kinds
}

/// Matches by the kind of slot.
fn classes(snapshot: &Snapshot, outcome: &Outcome) -> BTreeMap<String, usize> {
    kinds(snapshot, outcome).into_iter().map(|kind| (kind.name, kind.matched)).collect()
}

/// What kind of slot it is: cores, memory, GPUs and architecture, as far as the ad says so.
fn kind(facts: Facts<'_>) -> String {
    let mut parts = Vec::new();
    for name in ["Cpus", "Memory", "GPUs"] {
        if let Some(count) = facts.integer(name).filter(|count| name != "GPUs" || *count > 0) {
            parts.push(format!("{name} {count}"));
        }
    }
    for name in ["Arch", "OpSys"] {
        if let Some(text) = facts.string(name) {
            parts.push(String::from_utf8_lossy(&text).into_owned());
        }
    }
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

/// For each of some jobs, whether any slot matches it, whoever has it.
fn matching(snapshot: &Snapshot, jobs: &[String]) -> Result<Vec<bool>, ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let domain = rules.knobs.accountant.domain.clone();
    let ids: hashbrown::HashMap<&str, usize> = jobs.iter().enumerate().map(|(at, job)| (job.as_str(), at)).collect();
    let mut found: Vec<Option<(&ClassAd, Vec<u8>)>> = vec![None; jobs.len()];
    for ad in &snapshot.jobs {
        if let Some(job) = Job::new(ad, domain.as_deref(), &settings)
            && let Some(at) = ids.get(job.id.to_string().as_str())
        {
            found[*at] = Some((ad, job.submitter.to_vec()));
        }
    }
    let asking: Vec<(&ClassAd, &[u8])> = found.iter().flatten().map(|(ad, submitter)| (*ad, &**submitter)).collect();
    let (scene, askers) = scene(snapshot, &asking)?;
    let mut askers = askers.into_iter();
    let mut any = |one: Option<(&ClassAd, Vec<u8>)>| {
        one.and_then(|_| askers.next())
            .is_some_and(|asker| scene.slots.par_iter().any(|slot| symmetric(&asker.ad, &slot.ad, &scene.settings)))
    };
    Ok(found.into_iter().map(&mut any).collect())
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
