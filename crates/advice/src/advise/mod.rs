//! A search for settings that make a pool reach a goal.
//!
//! In: a snapshot, goals, and how long to replay. Out: the changes that reach the goals, each with its measured effects. Every
//! candidate is replayed in a row of cycles over a copy of the pool: nothing is concluded from a formula.

mod goal;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use goal::{Goal, GoalBase, GoalError};

use crate::setting_change::SettingChange;
use classmate::internal::threads;
use classmate_pool::internal::accountant::Accountant;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::internal::quota::{GroupSetting, GroupTree, QuotaSettings};
use classmate_pool::internal::simulate::replay::{CycleReport, ReplayPlan, replay};
use classmate_pool::{CommitError, Snapshot};

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The goals, as they are met without a change.
    pub goals: Vec<GoalState>,
    /// True if all are met without a change.
    pub met: bool,
    /// Groups and submitters without a change.
    pub before: Usage,
    /// Observations about the pool without a change.
    pub observations: Vec<String>,
    /// Changes that reach all goals, the best first; the nearest one if none does.
    pub remedies: Vec<Remedy>,
    /// Number of combinations that were replayed.
    pub tried: usize,
}

/// A goal and what is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GoalState {
    /// The goal in words.
    pub goal: String,
    /// The weight in use, the mean over the second half of the cycles.
    pub used: f64,
    /// The bound in weighted slots.
    pub bound: f64,
    /// True if it is met.
    pub met: bool,
}

/// Changes and their effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remedy {
    /// Configuration lines and commands, to apply together.
    pub changes: Vec<String>,
    /// The mechanisms by which they work.
    pub reasons: Vec<String>,
    /// The goals with the changes.
    pub goals: Vec<GoalState>,
    /// True if all are met.
    pub met: bool,
    /// Groups and submitters with the changes.
    pub after: Usage,
}

/// Weights in use, means over the second half of the cycles.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Usage {
    /// In all.
    pub total: f64,
    /// By group, without those below it.
    pub groups: BTreeMap<String, f64>,
    /// By submitter.
    pub submitters: BTreeMap<String, f64>,
    /// Idle jobs after the last cycle by submitter.
    pub idle: BTreeMap<String, usize>,
    /// Rejected jobs in the last cycle by submitter and reason.
    #[serde(skip)]
    rejections: BTreeMap<String, BTreeMap<String, usize>>,
}

impl SettingChange {
    /// The ratio by which a factor changes, as a logarithm: of two remedies that do the same, the milder one is better.
    fn size(&self) -> f64 {
        match self {
            Self::Line(..) | Self::Ceiling(..) => 0.0,
            Self::Factor(_, before, after) => (*before as f64 / *after as f64).ln().abs(),
        }
    }

    /// The mechanism, for changes whose effect is not obvious.
    fn reason(&self, settings: &QuotaSettings) -> Option<String> {
        let Self::Line(name, value) = self else { return None };
        if name == ROUNDS {
            return Some("what a group with idle jobs cannot use in a cycle is not given to other groups".to_owned());
        }
        if let Some(group) = name.strip_prefix(REGROUP) {
            return Some(format!("{group} does not negotiate again for what all groups leave"));
        }
        let group = name.strip_prefix(SURPLUS)?;
        let is_below =
            |name: &[u8]| Search::is_within(group, &String::from_utf8_lossy(name)) && name.len() > group.len();
        Some(match value.as_str() {
            "True" if settings.groups.iter().any(|below| is_below(&below.name)) => {
                format!("{group} may use what other groups leave idle, and its quota does not limit its subgroups")
            }
            "True" => format!("{group} may use what other groups leave idle"),
            _ => format!("{group} keeps to its quota, so slots that it frees add up for larger jobs of other groups"),
        })
    }
}

const SURPLUS: &str = "GROUP_ACCEPT_SURPLUS_";
const REGROUP: &str = "GROUP_AUTOREGROUP_";
const ROUNDS: &str = "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS";

/// The part of the replayed time that is the half-life of priorities, if the configured one is longer: they settle in
/// the first half of the cycles, and so the second half shows what lasts.
const HALF_LIVES: i64 = 10;

/// Most changes in a remedy, and remedies in an answer.
const MAX_CHANGES: usize = 3;
const MAX_REMEDIES: usize = 3;

/// First changes that are combined with others: the nearest ones, and all with those of other settings.
const MAX_COMBINED: usize = 3;
const MAX_STARTS: usize = 5;

/// Two remedies are as good as each other if their usage differs by less than this fraction of the pool: the last slot
/// often stays idle, as it weighs more than what is left of each submitter limit.
const MAX_LOSS: f64 = 0.1;

/// Groups or submitters whose usage is reduced in a candidate, those with the highest first.
const MAX_OTHERS: usize = 4;

/// Searches changes that make a pool reach goals.
///
/// # Errors
/// A setting that is wrong, or a submitter whose factor cannot be changed.
pub fn advise(snapshot: &Snapshot, goals: &[Goal], plan: &ReplayPlan) -> Result<Advice, CommitError> {
    let settings = QuotaSettings::read(&snapshot.config)?;
    let search = Search { snapshot, goals, plan, tree: GroupTree::new(&settings), settings };
    let (before, quotas, pool) = search.usage(&[])?;
    let bounds: Vec<f64> = goals.iter().map(|goal| Search::bound(goal, &quotas, pool)).collect();
    let states = search.states(&before, &bounds);
    let met = states.iter().all(|state| state.met);
    let observations = search.observations(&before, &quotas, &states);
    let (mut remedies, mut tried) = (Vec::new(), 0);
    let candidates = if met { Vec::new() } else { search.candidates(&before, &quotas, &bounds, pool) };
    let mut starts: Vec<Vec<SettingChange>> = vec![Vec::new()];
    for _ in 0..MAX_CHANGES {
        let extended = |start: &Vec<SettingChange>| {
            let other = |change: &&SettingChange| start.iter().all(|own| own.setting() != change.setting());
            candidates
                .iter()
                .filter(other)
                .map(|change| {
                    let mut changes = [&start[..], std::slice::from_ref(change)].concat();
                    changes.sort();
                    changes
                })
                .collect::<Vec<_>>()
        };
        let sets: BTreeSet<Vec<SettingChange>> = starts.iter().flat_map(extended).collect();
        let sets: Vec<Vec<SettingChange>> = sets.into_iter().collect();
        tried += sets.len();
        let results = threads::map_all(&sets, |changes| search.usage(changes));
        let mut found = Vec::new();
        for (changes, result) in sets.into_iter().zip(results) {
            let (after, ..) = result?;
            let goals = search.states(&after, &bounds);
            found.push((Search::distance(&goals), changes, goals, after));
        }
        // The nearest to the goals first, then what keeps most of the pool in use, then what changes least.
        let best = found.iter().map(|(.., after)| after.total).fold(0.0, f64::max);
        let lost = |usage: &Usage| ((best - usage.total) / (MAX_LOSS * pool).max(1e-9)).floor();
        let size = |changes: &[SettingChange]| changes.iter().map(SettingChange::size).sum::<f64>();
        found.sort_by(|(one, changes, _, after), (other, others, _, beside)| {
            let by_use = lost(after).total_cmp(&lost(beside));
            let by_size = || size(changes).total_cmp(&size(others));
            let by_total = || beside.total.total_cmp(&after.total);
            one.total_cmp(other).then(by_use).then_with(by_size).then_with(by_total).then_with(|| changes.cmp(others))
        });
        found.retain(|(distance, ..)| *distance < Search::distance(&states));
        // The nearest ones are often values of one setting: others are combined, too, and shown.
        let mut known = BTreeSet::new();
        let settings =
            |changes: &[SettingChange]| changes.iter().map(|one| one.setting().to_owned()).collect::<Vec<_>>();
        let is_first: Vec<bool> = found.iter().map(|(_, changes, ..)| known.insert(settings(changes))).collect();
        let starting = found.iter().zip(&is_first).enumerate();
        let starting = starting.filter(|(at, (_, is_first))| *at < MAX_COMBINED || **is_first);
        starts = starting.map(|(_, ((_, changes, ..), _))| changes.clone()).take(MAX_STARTS).collect();
        remedies = found
            .into_iter()
            .zip(is_first)
            .filter(|(_, is_first)| *is_first)
            .take(MAX_REMEDIES)
            .map(|((_, changes, goals, after), _)| Remedy {
                changes: changes.iter().map(SettingChange::shown).collect(),
                reasons: changes.iter().filter_map(|change| change.reason(&search.settings)).collect(),
                met: goals.iter().all(|state| state.met),
                goals,
                after,
            })
            .collect();
        if starts.is_empty() || remedies.iter().any(|remedy: &Remedy| remedy.met) {
            break;
        }
    }
    if remedies.iter().any(|remedy| remedy.met) {
        remedies.retain(|remedy| remedy.met);
    } else {
        remedies.truncate(1);
    }
    Ok(Advice { goals: states, met, before, observations, remedies, tried })
}

/// A group and those above it, the nearest first.
fn lineage(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once('.').map(|(above, _)| above))
}

struct Search<'a> {
    snapshot: &'a Snapshot,
    goals: &'a [Goal],
    plan: &'a ReplayPlan,
    settings: QuotaSettings,
    tree: GroupTree,
}

impl Search<'_> {
    /// Usage with some changes, the quota of each group, and the weight of the pool.
    fn usage(&self, changes: &[SettingChange]) -> Result<(Usage, BTreeMap<String, f64>, f64), CommitError> {
        let mut snapshot = self.snapshot.clone();
        changes.iter().try_for_each(|change| change.apply(&mut snapshot))?;
        let settled = (i64::from(self.plan.cycles) * self.plan.interval / HALF_LIVES).max(1);
        let half_life = snapshot.config.integer("PRIORITY_HALFLIFE", 86_400, 1, i64::from(i32::MAX))?.min(settled);
        snapshot.config.add("advise", format!("PRIORITY_HALFLIFE = {half_life}").as_bytes())?;
        let first = self.plan.cycles / 2;
        let (mut usage, mut quotas, mut pool) = (Usage::default(), BTreeMap::new(), 0.0);
        let parts = f64::from(self.plan.cycles - first);
        let each = |report: CycleReport| {
            quotas = report.outcome.groups.iter().map(|group| (group.name.clone(), group.subtree_quota)).collect();
            pool = report.outcome.statistics.pool_weight;
            if report.cycle <= first {
                return;
            }
            for name in quotas.keys() {
                usage.groups.entry(name.clone()).or_default();
            }
            usage.rejections.clear();
            for rejected in &report.outcome.rejections {
                let reasons = usage.rejections.entry(rejected.submitter.clone()).or_default();
                *reasons.entry(rejected.reason.clone()).or_default() += rejected.jobs;
            }
            for line in &report.submitters {
                if !self.settings.groups.is_empty() {
                    let group = self.tree.display(self.tree.of(line.submitter.as_bytes()));
                    *usage.groups.entry(group).or_default() += line.weight;
                }
                *usage.submitters.entry(line.submitter.clone()).or_default() += line.weight;
                usage.idle.insert(line.submitter.clone(), line.idle);
                usage.total += line.weight;
            }
        };
        replay(snapshot, self.plan, |_, _| Ok(None), each)?;
        let sums = usage.groups.values_mut().chain(usage.submitters.values_mut()).chain([&mut usage.total]);
        sums.for_each(|sum| *sum /= parts);
        Ok((usage, quotas, pool))
    }

    /// True for a group and those below it; for a submitter of them, too.
    fn is_within(target: &str, name: &str) -> bool {
        let start = name.get(..target.len()).is_some_and(|start| start.eq_ignore_ascii_case(target));
        start && matches!(name.as_bytes().get(target.len()), None | Some(b'.'))
    }

    /// The amount of a group or submitter alone.
    fn own(target: &str, of: &BTreeMap<String, f64>) -> f64 {
        of.iter().find(|(name, _)| name.eq_ignore_ascii_case(target)).map_or(0.0, |(_, amount)| *amount)
    }

    /// The sum over a group and those below it.
    fn subtree(target: &str, of: &BTreeMap<String, f64>) -> f64 {
        of.iter().filter(|(name, _)| Self::is_within(target, name)).map(|(_, amount)| amount).sum()
    }

    /// The weight that a goal asks for, given the quotas of groups with those below them.
    fn bound(goal: &Goal, quotas: &BTreeMap<String, f64>, pool: f64) -> f64 {
        goal.fraction * if goal.of == GoalBase::Pool { pool } else { Self::own(&goal.target, quotas) }
    }

    fn states(&self, usage: &Usage, bounds: &[f64]) -> Vec<GoalState> {
        let state = |(goal, &bound): (&Goal, &f64)| {
            let used = if goal.is_submitter() {
                Self::own(&goal.target, &usage.submitters)
            } else {
                Self::subtree(&goal.target, &usage.groups)
            };
            let met = if goal.at_least { used >= bound - 1e-9 } else { used <= bound + 1e-9 };
            GoalState { goal: goal.to_string(), used, bound, met }
        };
        self.goals.iter().zip(bounds).map(state).collect()
    }

    /// The sum of what is lacking, in parts of each bound.
    fn distance(states: &[GoalState]) -> f64 {
        let lacking = |state: &GoalState| (state.used - state.bound).abs() / state.bound.max(1e-9);
        states.iter().filter(|state| !state.met).map(lacking).sum()
    }

    /// The groups that use most, other than those of the goals.
    fn others<'u>(&self, usage: &'u BTreeMap<String, f64>) -> Vec<(&'u str, f64)> {
        let is_target =
            |name: &str| self.goals.iter().any(|goal| goal.at_least && goal.target.eq_ignore_ascii_case(name));
        let mut ranked: Vec<(&str, f64)> = usage.iter().map(|(name, used)| (name.as_str(), *used)).collect();
        ranked.retain(|(name, used)| *used > 0.0 && !is_target(name));
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked.truncate(MAX_OTHERS);
        ranked
    }

    fn setting(&self, name: &str) -> Option<&GroupSetting> {
        self.settings.groups.iter().find(|group| group.name.eq_ignore_ascii_case(name.as_bytes()))
    }

    fn accepts_surplus(&self, name: &str) -> bool {
        self.setting(name).and_then(|group| group.accept_surplus).unwrap_or(self.settings.accept_surplus)
    }

    fn negotiates_again(&self, name: &str) -> bool {
        self.setting(name).and_then(|group| group.autoregroup).unwrap_or(self.settings.autoregroup)
    }

    fn observations(&self, usage: &Usage, quotas: &BTreeMap<String, f64>, states: &[GoalState]) -> Vec<String> {
        let mut found = Vec::new();
        for (goal, state) in self.goals.iter().zip(states).filter(|(goal, state)| goal.at_least && !state.met) {
            let idle = usage.idle.iter().filter(|(name, _)| Self::is_within(&goal.target, name));
            let idle: usize = idle.map(|(_, idle)| idle).sum();
            if idle == 0 {
                let target = &goal.target;
                found.push(format!(
                    "{target} has no idle jobs at the end: it does not request more than {:.1}",
                    state.used
                ));
                continue;
            }
            let GoalState { used, bound, .. } = state;
            found.push(format!("{} uses {used:.1} of {bound:.1}; at the end {idle} of its jobs are idle", goal.target));
            let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
            for (_, by) in usage.rejections.iter().filter(|(name, _)| Self::is_within(&goal.target, name)) {
                for (reason, jobs) in by {
                    *reasons.entry(reason).or_default() += jobs;
                }
            }
            if let Some((reason, jobs)) = reasons.into_iter().max_by_key(|(_, jobs)| *jobs) {
                // A job can be rejected in several rounds.
                let jobs = match jobs.min(idle) {
                    1 => "1 of them was".to_owned(),
                    jobs => format!("{jobs} of them were"),
                };
                found.push(format!("in the last cycle {jobs} rejected: {reason}"));
            }
        }
        for goal in self.goals.iter().filter(|goal| goal.at_least && goal.is_submitter()) {
            let own = self.factor(&goal.target);
            let others = self.others(&usage.submitters).into_iter().map(|(name, _)| (name, self.factor(name)));
            if let Some((name, other)) = others.min_by(|(_, one), (_, other)| one.total_cmp(other))
                && own > other
            {
                found.push(format!("the priority factor of {} is {own}, that of {name} is {other}", goal.target));
            }
        }
        for (name, used) in self.others(&usage.groups) {
            let quota = quotas.get(name).copied().unwrap_or(0.0);
            if used > quota + 1e-9 && name != "<none>" {
                let surplus = self.accepts_surplus(name).then_some(", as it accepts surplus");
                let again = self.negotiates_again(name).then_some(", as it negotiates again after all groups");
                let why = surplus.or(again).unwrap_or_default();
                found.push(format!("group {name} uses {used:.1}, {:.1} more than its quota{why}", used - quota));
            }
        }
        found
    }

    /// The changes that may help.
    fn candidates(
        &self,
        usage: &Usage,
        quotas: &BTreeMap<String, f64>,
        bounds: &[f64],
        pool: f64,
    ) -> Vec<SettingChange> {
        let mut found = Vec::new();
        let mut line = |name: &str, value: String| found.push(SettingChange::Line(name.to_owned(), value));
        let setting = |name: &str| self.setting(name);
        let own_quota = |name: &str| Self::own(name, quotas);
        let mut quota = |name: &str, weight: f64| {
            let Some(group) = setting(name) else { return };
            match (&group.fixed, &group.dynamic) {
                (None, Some(dynamic)) => {
                    // A fraction of the quota above it.
                    let own = own_quota(name);
                    let above = name.rsplit_once('.').map_or(pool, |(above, _)| own_quota(above));
                    let fraction = if own > 0.0 { dynamic.value * weight / own } else { weight / above };
                    if fraction.is_finite() {
                        line(&format!("GROUP_QUOTA_DYNAMIC_{name}"), format!("{:.3}", fraction.min(1.0)));
                    }
                }
                _ => line(&format!("GROUP_QUOTA_{name}"), format!("{}", weight.ceil())),
            }
        };
        for (goal, &bound) in self.goals.iter().zip(bounds).filter(|(goal, _)| !goal.is_submitter()) {
            let parts: &[f64] = if goal.at_least { &[1.0, 1.25, 1.5] } else { &[1.0] };
            for part in parts {
                quota(&goal.target, bound * part);
            }
            // The quotas of a group and its siblings are scaled down if the one above them does not cover them.
            let more = bound - own_quota(&goal.target);
            for above in lineage(&goal.target).skip(1).filter(|_| goal.at_least && more > 0.0) {
                quota(above, own_quota(above) + more);
            }
        }
        let others = self.others(&usage.groups);
        for (name, _) in &others {
            for part in [0.75, 0.5] {
                quota(name, own_quota(name) * part);
            }
        }
        // Surplus comes down from above: a group gets what each group above it accepts.
        for goal in self.goals.iter().filter(|goal| !goal.is_submitter()) {
            let own = lineage(&goal.target).filter(|name| setting(name).is_some());
            for name in own.filter(|name| self.accepts_surplus(name) != goal.at_least) {
                line(&format!("{SURPLUS}{name}"), if goal.at_least { "True" } else { "False" }.to_owned());
            }
        }
        let needs = |name: &str| {
            let needs = |goal: &Goal| lineage(&goal.target).any(|own| own.eq_ignore_ascii_case(name));
            self.goals.iter().any(|goal| goal.at_least && needs(goal))
        };
        for (other, _) in &others {
            let own = lineage(other).filter(|name| setting(name).is_some());
            for name in own.filter(|name| !needs(name) && self.accepts_surplus(name)) {
                line(&format!("{SURPLUS}{name}"), "False".to_owned());
            }
            if setting(other).is_some() && self.negotiates_again(other) {
                line(&format!("{REGROUP}{other}"), "False".to_owned());
            }
        }
        // Without other rounds, a group that accepts surplus does not get what another one could not use.
        if self.settings.rules.rounds > 1 && self.goals.iter().any(|goal| goal.at_least && !goal.is_submitter()) {
            line(ROUNDS, "1".to_owned());
        }
        for goal in self.goals.iter().filter(|goal| goal.is_submitter()) {
            let mut factors = |name: &str, parts: &[f64]| {
                let own = self.factor(name).round() as u64;
                let changed = parts.iter().map(|part| (own as f64 * part).round().max(1.0) as u64);
                found.extend(changed.filter(|to| *to != own).map(|to| SettingChange::Factor(name.to_owned(), own, to)));
            };
            let parts: &[f64] = if goal.at_least { &[0.5, 0.25, 0.1, 0.01] } else { &[2.0, 4.0, 10.0, 100.0] };
            factors(&goal.target, parts);
            for (name, _) in self.others(&usage.submitters).into_iter().filter(|_| goal.at_least) {
                factors(name, &[2.0, 4.0, 10.0]);
            }
        }
        let mut known = BTreeSet::new();
        found.retain(|change| known.insert(change.clone()));
        found
    }

    /// The priority factor of a submitter; 1000 is HTCondor's default.
    fn factor(&self, name: &str) -> f64 {
        let own = Rules::read(&self.snapshot.config, &self.snapshot.settings()).ok().and_then(|rules| {
            let log = self.snapshot.log.clone().unwrap_or_default();
            let rules = FactorRules::new(&rules.knobs.accountant);
            let default = rules.default_factor(name.as_bytes(), b"<none>");
            let accountant = Accountant::from_log(&log, rules);
            accountant.get(name.as_bytes()).and_then(|customer| customer.factor).or(Some(default))
        });
        own.unwrap_or(1000.0)
    }
}
