//! The effects of a change of settings, jobs or slots on a cycle: two outcomes, and their difference.
//!
//! In: a snapshot, and changes. Out: a [`Difference`], plain serializable data.

pub mod kind;
pub mod unread;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::explain::cycle::record::JobOf;
use crate::explain::replay::division_of;
use crate::whatif::kind::SlotKinds;
use classmate::{ClassAd, EvalOptions, Expr, Name, Scope};
use classmate_config::ConfigError;
use classmate_pool::internal::negotiate::candidate::PreemptState;
use classmate_pool::internal::negotiate::quotas::ExplainedGroup;
use classmate_pool::internal::queue::job_names::JobNames;
use classmate_pool::internal::quota::summary::scaled_down;
use classmate_pool::{CycleOptions, Feasibility, JobId, Match, Outcome, PreparedPool, Rejection, Snapshot};

/// The result of a pool, and the jobs that match any slot.
#[derive(Debug, Default)]
pub struct PoolRun {
    /// The outcome of one cycle or several.
    pub outcome: Outcome,
    /// The idle jobs that were offered in the first cycle, by number.
    pub feasibility: Vec<Feasibility>,
    /// Slots matched, by what kind of slot they are.
    pub classes: BTreeMap<String, usize>,
}

impl PoolRun {
    /// Runs one cycle, which uses up the pool; `kinds` are those of its slots.
    ///
    /// # Errors
    /// A setting that is wrong for a cycle.
    pub fn of(pool: &mut PreparedPool<'_>, kinds: &SlotKinds) -> Result<Self, ConfigError> {
        let cycle = pool.negotiate(CycleOptions { feasibility: true, ..CycleOptions::default() })?;
        Ok(PoolRun { classes: kinds.matched(&cycle.outcome), outcome: cycle.outcome, feasibility: cycle.feasibility })
    }
}

/// Runs one cycle over each of two snapshots and compares the outcomes.
///
/// # Errors
/// A setting that is wrong for a cycle.
///
/// ```
/// use classmate_advice::what_if;
/// use classmate_pool::Snapshot;
/// assert!(what_if(&Snapshot::default(), &Snapshot::default()).is_ok_and(|difference| difference.is_none()));
/// ```
pub fn what_if(before: &Snapshot, after: &Snapshot) -> Result<Difference, ConfigError> {
    Ok(Difference::between(&run(before)?, &run(after)?))
}

/// Runs one cycle over a snapshot.
///
/// # Errors
/// A setting that is wrong for a cycle.
pub(crate) fn run(snapshot: &Snapshot) -> Result<PoolRun, ConfigError> {
    let kinds = SlotKinds::of(&snapshot.slots, &snapshot.settings());
    PreparedPool::new(snapshot).and_then(|mut pool| PoolRun::of(&mut pool, &kinds))
}

/// An attribute to set in the ads for which a condition holds.
#[derive(Debug, Clone)]
pub struct AdEdit {
    /// The condition that selects the ads.
    pub of: Expr,
    /// The attribute.
    pub name: Name,
    /// Its new value.
    pub value: Expr,
}

impl AdEdit {
    /// Sets the attribute; returns the number of changed ads.
    pub fn apply(&self, ads: &mut [ClassAd], settings: &EvalOptions) -> usize {
        let mut changed = 0;
        for ad in ads {
            if Scope::new(ad, settings).holds(&self.of) {
                ad.insert_expr(self.name, &self.value);
                changed += 1;
            }
        }
        changed
    }
}

/// Removes the ads for which a condition holds; returns their number.
pub fn drain(ads: &mut Vec<ClassAd>, condition: &Expr, settings: &EvalOptions) -> usize {
    let before = ads.len();
    ads.retain(|ad| !Scope::new(ad, settings).holds(condition));
    before - ads.len()
}

/// A count or an amount before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta<T> {
    /// The name.
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
    /// Its allocation in the first round.
    pub allocated: f64,
    /// Its usage at the end.
    pub usage: f64,
}

/// The differences of two outcomes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Matches before and after.
    pub matches: (usize, usize),
    /// Weighted slots that were matched, before and after.
    pub weight: (f64, f64),
    /// Preempting matches, before and after.
    pub preemptions: (usize, usize),
    /// Matches by submitter.
    pub submitters: Vec<Delta<usize>>,
    /// Weight of the slots matched, by submitter.
    pub weights: Vec<Delta<f64>>,
    /// Groups.
    pub groups: Vec<Delta<GroupFigures>>,
    /// For each of these groups, the lines of the derivation of its quota and allocation that differ; none if they were not
    /// derived.
    pub group_reasons: Vec<Delta<Vec<String>>>,
    /// Sentences on static quotas that are scaled down after the change, except those that are true before it.
    pub scaled_quotas: Vec<String>,
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
    pub classes: Vec<Delta<usize>>,
    /// Requests, by their first job, that matched any slot before the change, claimed or not, and match none after it.
    pub stranded: Vec<String>,
    /// Requests by their first job that no slot matched, and that some match after the change.
    pub freed: Vec<String>,
    /// Requests whose jobs are left without a slot only after the change, because no matching slot is left.
    pub no_match_now: Vec<ShortRequest>,
    /// Requests whose jobs were left without a slot for that reason only before it.
    pub no_match_before: Vec<ShortRequest>,
    /// Requests, by their first job, that are rejected before and after the change, for different reasons.
    pub reasons: Vec<Delta<String>>,
}

/// Jobs of a request that found no slot left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShortRequest {
    /// The name of its first job.
    pub request: String,
    /// Number of its jobs that were not matched.
    pub jobs: usize,
}

impl Difference {
    /// The difference of two outcomes.
    ///
    /// ```
    /// use classmate_pool::Outcome;
    /// use classmate_advice::Difference;
    /// assert!(Difference::of(&Outcome::default(), &Outcome::default()).is_none());
    /// ```
    pub fn of<'o>(before: &'o Outcome, after: &'o Outcome) -> Self {
        let both = [before, after].into_iter();
        let matched = both.clone().flat_map(|outcome| &outcome.matches).map(|one| (one.job, one.schedd.as_deref()));
        let refused = both.flat_map(|outcome| &outcome.rejections).map(|one| (one.job, one.schedd.as_deref()));
        let names = &JobNames::of(matched.chain(refused));
        // In the order of the text of names.
        let by_job = |outcome: &Outcome| -> BTreeMap<String, String> {
            let named = |made: &Match| (names.name(made.job, made.schedd.as_deref()), made.slot.clone());
            outcome.matches.iter().map(named).collect()
        };
        let ids = |outcome: &'o Outcome| -> BTreeSet<JobOf<'o>> {
            outcome.matches.iter().map(|made| (made.schedd.as_deref(), made.job)).collect()
        };
        let (matched_before, matched_after) = (ids(before), ids(after));
        let without = |one: &BTreeSet<JobOf<'o>>, other: &BTreeSet<JobOf<'o>>| one.difference(other).copied().collect();
        let (old, new) = (by_job(before), by_job(after));
        let slots = |jobs: &BTreeMap<String, String>| jobs.values().cloned().collect::<BTreeSet<String>>();
        let (old_slots, new_slots) = (slots(&old), slots(&new));
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.difference(other).cloned().collect();
        let jobs_only = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| -> Vec<String> {
            one.keys().filter(|job| !other.contains_key(*job)).cloned().collect()
        };
        let weight = |outcome: &Outcome| outcome.matches.iter().fold(0.0, |sum, made| sum + made.weight);
        let preemptions =
            |outcome: &Outcome| outcome.matches.iter().filter(|made| made.preempting != PreemptState::None).count();
        let submitters = |outcome: &Outcome| -> BTreeMap<String, usize> {
            outcome.submitters.iter().map(|line| (line.submitter.clone(), line.matched)).collect()
        };
        let weights = |outcome: &Outcome| {
            let mut weights: BTreeMap<String, f64> = BTreeMap::new();
            for made in &outcome.matches {
                *weights.entry(made.submitter.clone()).or_default() += made.weight;
            }
            weights
        };
        let groups = |outcome: &Outcome| -> BTreeMap<String, GroupFigures> {
            let figures = outcome.groups.iter().map(|group| {
                let figures = GroupFigures { quota: group.quota, allocated: group.granted(), usage: group.usage };
                (group.name.clone(), figures)
            });
            figures.collect()
        };
        let mut scaled_quotas = scaled_down(&after.groups);
        let known = scaled_down(&before.groups);
        scaled_quotas.retain(|sentence| !known.contains(sentence));
        let moved = old.iter().filter_map(|(job, slot)| {
            let other = new.get(job).filter(|other| *other != slot)?;
            Some((job.clone(), slot.clone(), other.clone()))
        });
        Difference {
            matches: (before.matches.len(), after.matches.len()),
            weight: (weight(before), weight(after)),
            preemptions: (preemptions(before), preemptions(after)),
            submitters: paired(&submitters(before), &submitters(after)),
            weights: paired(&weights(before), &weights(after)),
            groups: paired(&groups(before), &groups(after)),
            scaled_quotas,
            jobs_won: jobs_only(&new, &old),
            jobs_lost: jobs_only(&old, &new),
            jobs_moved: moved.collect(),
            slots_won: only(&new_slots, &old_slots),
            slots_lost: only(&old_slots, &new_slots),
            no_match_now: short(after, names, without(&matched_before, &matched_after)),
            no_match_before: short(before, names, without(&matched_after, &matched_before)),
            reasons: reasons(before, after),
            ..Difference::default()
        }
    }

    /// Returns whether the outcomes are equal.
    pub fn is_none(&self) -> bool {
        let Difference { matches, weight, preemptions, .. } = *self;
        let are_same = matches.0 == matches.1 && weight.0 == weight.1 && preemptions.0 == preemptions.1;
        are_same && *self == Difference { matches, weight, preemptions, ..Difference::default() }
    }

    /// The difference of two runs: with matches by classes of slots, and jobs that match nothing at all, or no longer.
    ///
    /// ```
    /// use classmate_advice::internal::whatif::{Difference, PoolRun};
    /// let ran = PoolRun::default();
    /// assert!(Difference::between(&ran, &ran).is_none());
    /// ```
    pub fn between(before: &PoolRun, after: &PoolRun) -> Self {
        let mut found = Self::of(&before.outcome, &after.outcome);
        found.classes = paired(&before.classes, &after.classes);
        found.stranded = newly_stuck(&before.feasibility, &after.feasibility);
        found.freed = newly_stuck(&after.feasibility, &before.feasibility);
        found
    }

    /// Adds the reasons for which groups changed: derivations before and after the change, as [`derivations`] finds them.
    pub fn add_reasons(&mut self, before: &GroupDerivations, after: &GroupDerivations) {
        let reasons = self.groups.iter().map(|Delta { name, .. }| {
            let lines = |of: &GroupDerivations| of.get(name).cloned().unwrap_or_default();
            let (before, after) = (lines(before), lines(after));
            let only = |one: &[String], other: &[String]| -> Vec<String> {
                one.iter().filter(|line| !other.contains(line)).cloned().collect()
            };
            Delta { name: name.clone(), before: only(&before, &after), after: only(&after, &before) }
        });
        self.group_reasons = reasons.collect();
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

/// The derivation of the quota and allocation of each group, line by line.
pub type GroupDerivations = BTreeMap<String, Vec<String>>;

/// Derives the quotas and allocations of a cycle over a snapshot.
///
/// # Errors
/// A setting that is wrong for a cycle.
pub fn derivations(snapshot: &Snapshot) -> Result<GroupDerivations, ConfigError> {
    let prepared = PreparedPool::for_explanation(snapshot)?;
    let groups = division_of(&prepared).map(|division| division.groups).unwrap_or_default();
    let lines = |group: ExplainedGroup| {
        let mut lines = group.story;
        lines.push(group.why);
        (group.summary.name, lines)
    };
    Ok(groups.into_iter().map(lines).collect())
}

/// Joins several cycles into one outcome: the matches of all, and the groups and submitters of the last.
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

/// Requests that no slot would do for, by their first job, of which some job had a slot that would do.
fn newly_stuck(before: &[Feasibility], after: &[Feasibility]) -> Vec<String> {
    let could = |job: JobId| {
        let at = before.binary_search_by_key(&job, |prospect| prospect.job);
        at.is_ok_and(|at| before[at].infeasible_request.is_none())
    };
    let stuck = after.iter().filter_map(|prospect| Some((prospect.job, prospect.infeasible_request?)));
    let requests: BTreeSet<JobId> = stuck.filter(|(job, _)| could(*job)).map(|(_, first)| first).collect();
    requests.into_iter().map(|first| first.to_string()).collect()
}

/// The requests some of whose jobs were rejected because no matching slot was left.
fn short<'o>(outcome: &'o Outcome, names: &JobNames, mut waiting: BTreeSet<JobOf<'o>>) -> Vec<ShortRequest> {
    // The jobs of a request follow one another: those it got slots for in the same spin, and those that are left.
    let mut got: BTreeMap<(i64, &str, u32, u32), usize> = BTreeMap::new();
    for made in &outcome.matches {
        *got.entry((made.cluster, &made.submitter, made.pie, made.spin)).or_default() += 1;
    }
    let mut found: Vec<ShortRequest> = Vec::new();
    // The last refusal says why a job got nothing.
    for one in outcome.rejections.iter().rev() {
        let JobId { cluster, process } = one.job;
        let of_request = got.get(&(cluster, one.submitter.as_str(), one.pie, one.spin)).copied().unwrap_or(0);
        let beyond = process.saturating_add(i64::try_from(one.jobs.saturating_add(of_request)).unwrap_or(i64::MAX));
        let of_schedd = |id: JobId| (one.schedd.as_deref(), id);
        let range = of_schedd(one.job)..of_schedd(JobId { cluster, process: beyond });
        let own: Vec<JobOf<'_>> = waiting.range(range).copied().collect();
        for job in &own {
            waiting.remove(job);
        }
        let without_slot = matches!(
            one.rejection,
            Rejection::NoMatch | Rejection::SiteLimit | Rejection::NotRequested | Rejection::NotDrawn
        );
        if without_slot && !own.is_empty() {
            let request = names.name(one.job, one.schedd.as_deref());
            match found.iter_mut().find(|known| known.request == request) {
                Some(known) => known.jobs += own.len(),
                None => found.push(ShortRequest { request, jobs: own.len() }),
            }
        }
    }
    found.reverse();
    found
}

/// The requests that are rejected in both outcomes, for different reasons.
fn reasons(before: &Outcome, after: &Outcome) -> Vec<Delta<String>> {
    let last = |outcome: &Outcome| -> BTreeMap<String, String> {
        outcome.rejections.iter().map(|one| (one.job.to_string(), one.reason.clone())).collect()
    };
    let (before, after) = (last(before), last(after));
    let moved = before.into_iter().filter_map(|(name, before)| {
        let after = after.get(&name).filter(|after| **after != before)?.clone();
        Some(Delta { name, before, after })
    });
    moved.collect()
}

/// The differences, by name.
fn paired<T: Copy + Default + PartialEq>(before: &BTreeMap<String, T>, after: &BTreeMap<String, T>) -> Vec<Delta<T>> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let of = |map: &BTreeMap<String, T>, name: &String| map.get(name).copied().unwrap_or_default();
    names
        .into_iter()
        .map(|name| Delta { name: name.clone(), before: of(before, name), after: of(after, name) })
        .filter(|moved| moved.before != moved.after)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_two_access_points_with_the_same_id_are_told_apart() {
        let ad = |text: String| ClassAd::parse(text.as_bytes()).unwrap();
        let job = |place: &str, slot: &str| {
            ad(format!(
                "[ClusterId = 1; ProcId = 0; JobStatus = 1; User = \"{place}@x\"; Owner = \"{place}\"; JobUniverse = 5; \
                 GlobalJobId = \"{place}#1.0#9\"; RequestCpus = 1; Requirements = TARGET.Name == \"{slot}\"]"
            ))
        };
        let slot =
            |name: &str| ad(format!("[Name = \"{name}\"; State = \"Unclaimed\"; Cpus = 1; Requirements = true]"));
        let jobs = vec![job("ap1", "s1"), job("ap2", "s2")];
        let before = Snapshot { slots: vec![slot("s1"), slot("s2")], jobs, ..Snapshot::default() };
        let after = Snapshot { slots: vec![slot("s1")], ..before.clone() };
        let [before, after] = [before, after].map(|pool| classmate_pool::negotiate(&pool).unwrap());
        let found = Difference::of(&before, &after);
        assert_eq!((found.matches, found.jobs_lost, found.jobs_won), ((2, 1), vec!["1.0@ap2".to_owned()], vec![]));
        let short = ShortRequest { request: "1.0@ap2".to_owned(), jobs: 1 };
        assert_eq!(found.no_match_now, [short]);
    }
}
