//! Settings after which a job that a limit keeps idle gets a slot: a quota, a concurrency limit, a ceiling.
//!
//! In: a snapshot, and a job explained in its cycle. Out: commands, each with the effects of its change. Every change is made in
//! a copy of the snapshot, in which the cycle is replayed: nothing is concluded from a formula.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::explain::causes::Reason;
use crate::explain::cycle::group_status::GroupStatus;
use crate::explain::cycle::limit_status::LimitStatus;
use crate::explain::cycle::trace::CycleTrace;
use crate::explain::cycle::unknown_group::UnknownGroup;
use crate::explain::replay::ExplainedJob;
use crate::explain::{Explanation, PoolFacts};
use crate::setting_change::SettingChange;
use crate::whatif::Difference;
use classmate::ClassAd;
use classmate_pool::internal::negotiate::Purpose;
use classmate_pool::internal::pool::slot::copies;
use classmate_pool::internal::queue::Job;
use classmate_pool::internal::quota::{GroupSetting, QuotaSettings};
use classmate_pool::{CycleOptions, Outcome, PreparedPool, Snapshot};

/// A change of settings after which the job gets a slot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TestedSetting {
    /// The command that makes the change, or shows all its effects.
    pub command: String,
    /// The lines of a configuration that make the change; none if the command makes it.
    pub lines: Vec<String>,
    /// Jobs that get a slot only after the change.
    pub won: usize,
    /// Jobs that get a slot only before it.
    pub lost: usize,
}

/// Cycles that are replayed between a value that is too small and one that is large enough.
const MAX_STEPS: usize = 6;

/// Other groups whose quotas are tried.
const MAX_OTHERS: usize = 3;

/// The largest quota that is tried, as a multiple of the pool.
const MOST_POOLS: i64 = 4;

/// The settings after which a job gets a slot, if its first cause is a limit. The snapshot must have its slots.
pub fn settings(
    snapshot: &Snapshot,
    job: &ExplainedJob,
    (before, pool): (&Outcome, &PoolFacts<'_>),
    explanation: &Explanation,
) -> Vec<TestedSetting> {
    let (Some(first), Some(story)) = (explanation.causes.first(), &explanation.cycle) else { return Vec::new() };
    let of_settings = [
        Reason::NotSent,
        Reason::UnknownGroup,
        Reason::GroupQuota,
        Reason::Share,
        Reason::ConcurrencyLimit,
        Reason::Ceiling,
    ];
    if !of_settings.contains(&first.reason) || snapshot.slots.is_empty() {
        return Vec::new();
    }
    let mut trials = SettingTrials { snapshot, changed: without_slots(snapshot), job, before };
    match first.reason {
        Reason::UnknownGroup => {
            let unknown = UnknownGroup::of(pool, job.ad());
            unknown.and_then(|unknown| trials.group(&unknown)).into_iter().collect()
        }
        Reason::NotSent => story.unsent.as_ref().and_then(|unsent| trials.tried(&unsent.changes)).into_iter().collect(),
        Reason::GroupQuota => story.group.as_ref().map_or_else(Vec::new, |group| trials.quotas(group)),
        // Every slot counts for the size of the pool.
        Reason::Share if pool.rules.pool_size.is_some() => {
            let line = SettingChange::Line("NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT".to_owned(), "True".to_owned());
            trials.tried(&[line]).into_iter().collect()
        }
        Reason::ConcurrencyLimit => trials.limits(story).into_iter().collect(),
        Reason::Ceiling => trials.ceiling(story).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A copy without slots.
fn without_slots(snapshot: &Snapshot) -> Snapshot {
    Snapshot {
        config: snapshot.config.clone(),
        slots: Vec::new(),
        unkept: Vec::new(),
        jobs: snapshot.jobs.clone(),
        submitters: snapshot.submitters.clone(),
        submitters_in_order: snapshot.submitters_in_order,
        first_cycle: snapshot.first_cycle,
        served: snapshot.served.clone(),
        log: snapshot.log.clone(),
        maps: Arc::clone(&snapshot.maps),
        policy: snapshot.policy.clone(),
        now: snapshot.now,
        seed: snapshot.seed,
    }
}

/// Cycles with changed settings.
struct SettingTrials<'t> {
    snapshot: &'t Snapshot,
    /// The snapshot without slots, whose settings are changed.
    changed: Snapshot,
    job: &'t ExplainedJob,
    before: &'t Outcome,
}

impl SettingTrials<'_> {
    /// Jobs that get a slot only after what was changed, and only before it; none if the job does not get a slot.
    fn replayed(&mut self) -> Option<(usize, usize)> {
        let slots = copies(&self.snapshot.slots);
        let mut pool = PreparedPool::prepare(&self.changed, slots, Purpose::Cycle, &mut ()).ok()?;
        let after = pool.negotiate(CycleOptions::default()).ok()?.outcome;
        after.matches.iter().find(|made| self.job.is_of(made))?;
        let effect = Difference::of(self.before, &after);
        Some((effect.jobs_won.len(), effect.jobs_lost.len()))
    }

    /// The effects of changes; none if the job does not get a slot, or a setting cannot have the value.
    fn tried(&mut self, changes: &[SettingChange]) -> Option<TestedSetting> {
        let Snapshot { config, log, .. } = self.snapshot;
        (self.changed.config, self.changed.log) = (config.clone(), log.clone());
        changes.iter().try_for_each(|change| change.apply(&mut self.changed)).ok()?;
        let (won, lost) = self.replayed()?;
        let line = |change: &SettingChange| matches!(change, SettingChange::Line(..)).then(|| change.shown());
        let lines: Vec<String> = changes.iter().filter_map(line).collect();
        let command = if lines.is_empty() {
            changes.iter().map(SettingChange::shown).collect::<Vec<_>>().join("; ")
        } else {
            let policy = match self.snapshot.policy.name() {
                "condor" => String::new(),
                name => format!(" --policy {name}"),
            };
            let set: String = lines.iter().map(|line| format!(" --set '{line}'")).collect();
            format!("classmate whatif POOL{policy}{set}")
        };
        Some(TestedSetting { command, lines, won, lost })
    }

    /// The group that the job may mean.
    fn group(&mut self, unknown: &UnknownGroup) -> Option<TestedSetting> {
        let group = unknown.similar.as_ref()?;
        let settings = self.snapshot.settings();
        let is_mine = |ad: &&mut ClassAd| Job::new(ad, None, &settings).is_some_and(|job| self.job.is_job(&job));
        let ad = self.changed.jobs.iter_mut().find(is_mine)?;
        for (name, text) in [("AccountingGroup", format!("{group}.{}", unknown.user)), ("AcctGroup", group.clone())] {
            ad.insert(name, text.as_str());
        }
        let (won, lost) = self.replayed()?;
        Some(TestedSetting { command: format!("accounting_group = {group}"), lines: Vec::new(), won, lost })
    }

    /// The smallest value that was found above one that is too small: the guesses are tried in order, then the largest value, then
    /// values between the last that was too small and the first that is large enough.
    fn smallest(
        &mut self,
        range: [i64; 2],
        guesses: &[i64],
        change: impl Fn(i64) -> Vec<SettingChange>,
    ) -> Option<TestedSetting> {
        self.smallest_value(range, guesses, change).map(|(_, tested)| tested)
    }

    /// As [`SettingTrials::smallest`], with the value.
    fn smallest_value(
        &mut self,
        [mut low, most]: [i64; 2],
        guesses: &[i64],
        change: impl Fn(i64) -> Vec<SettingChange>,
    ) -> Option<(i64, TestedSetting)> {
        let mut found = None;
        for &value in guesses.iter().chain([&most]) {
            if value <= low || value > most {
                continue;
            }
            found = self.tried(&change(value)).map(|tested| (value, tested));
            if found.is_some() {
                break;
            }
            low = value;
        }
        let (mut high, mut best) = found?;
        for _ in 0..MAX_STEPS {
            if low + 1 >= high {
                break;
            }
            // By factors, as the values are of any size.
            let between = whole((low.max(1) as f64 * high as f64).sqrt()).clamp(low + 1, high - 1);
            match self.tried(&change(between)) {
                Some(tested) => (high, best) = (between, tested),
                None => low = between,
            }
        }
        Some((high, best))
    }

    /// Larger quotas of the group and of those above it, and surplus for it.
    fn quotas(&mut self, group: &GroupStatus) -> Vec<TestedSetting> {
        let settings = QuotaSettings::readable(&self.snapshot.config);
        let declared = |name: &str| settings.groups.iter().find(|one| one.name.eq_ignore_ascii_case(name.as_bytes()));
        // The root has no setting.
        let above = std::iter::successors(Some(group.group.as_str()), |name| Some(name.rsplit_once('.')?.0));
        let of: Vec<&GroupSetting> = above.filter_map(declared).collect();
        let larger = of.iter().find_map(|one| self.quota(one, group));
        // A quota that costs other jobs their slots is better taken from a group beside it, if that costs fewer.
        let moved = larger
            .as_ref()
            .is_none_or(|larger| larger.lost > 1)
            .then(|| of.iter().find_map(|one| self.moved_quota(one, &settings, group)));
        let both = larger.into_iter().chain(moved.flatten());
        let mut found: Vec<TestedSetting> = both.min_by_key(|one| (one.lost, one.won)).into_iter().collect();
        let own = of.first().filter(|one| !one.accept_surplus.unwrap_or(settings.accept_surplus));
        found.extend(own.and_then(|one| {
            let name = format!("GROUP_ACCEPT_SURPLUS_{}", String::from_utf8_lossy(&one.name));
            self.tried(&[SettingChange::Line(name, "True".to_owned())])
        }));
        if found.is_empty() && of.len() > 1 {
            found.extend(self.nested_quotas(&of, group));
        }
        if of.is_empty() {
            // What the groups have is not left for those without one.
            let mut others: Vec<&GroupSetting> =
                settings.groups.iter().filter(|one| one.fixed.is_some() && !one.name.contains(&b'.')).collect();
            let quota = |one: &GroupSetting| one.fixed.as_ref().map_or(0.0, |fixed| fixed.value);
            others.sort_by(|one, other| quota(other).total_cmp(&quota(one)));
            found.extend(others.into_iter().take(MAX_OTHERS).filter_map(|one| self.smaller_quota(one, group)));
        }
        found
    }

    /// Larger quotas of a group and of those above it together: of all whose quota is no more than what limits the group.
    fn nested_quotas(&mut self, of: &[&GroupSetting], group: &GroupStatus) -> Option<TestedSetting> {
        let fixed =
            |one: &&GroupSetting| Some((String::from_utf8_lossy(&one.name).into_owned(), one.fixed.as_ref()?.value));
        let limiting: Vec<(String, f64)> =
            of.iter().filter_map(fixed).filter(|(_, quota)| *quota <= group.limit).collect();
        let change = |more: i64| {
            let line = |(name, quota): &(String, f64)| {
                SettingChange::Line(format!("GROUP_QUOTA_{name}"), whole(*quota).saturating_add(more).to_string())
            };
            limiting.iter().map(line).collect()
        };
        let most = whole(self.before.statistics.pool_weight.ceil());
        let needed = whole((group.demand - group.limit).max(1.0).ceil());
        if limiting.len() > 1 { self.smallest([0, most], &[1, needed], change) } else { None }
    }

    /// A smaller quota of a group, the largest of those.
    fn smaller_quota(&mut self, of: &GroupSetting, group: &GroupStatus) -> Option<TestedSetting> {
        let name = String::from_utf8_lossy(&of.name).into_owned();
        let value = whole(of.fixed.as_ref()?.value);
        let needed = whole((group.demand - group.limit).max(1.0).ceil());
        let change = |less: i64| vec![SettingChange::Line(format!("GROUP_QUOTA_{name}"), (value - less).to_string())];
        self.smallest([0, value], &[1, needed], change)
    }

    /// A larger quota of a group, and a smaller one of the largest group beside it: their sum is not scaled down.
    fn moved_quota(&mut self, of: &GroupSetting, all: &QuotaSettings, group: &GroupStatus) -> Option<TestedSetting> {
        let fixed = |one: &GroupSetting| one.fixed.as_ref().map(|fixed| whole(fixed.value));
        let above =
            |one: &GroupSetting| one.name.rsplitn(2, |byte| *byte == b'.').nth(1).map(<[u8]>::to_ascii_lowercase);
        let beside = |one: &&GroupSetting| !one.name.eq_ignore_ascii_case(&of.name) && above(one) == above(of);
        let other = all.groups.iter().filter(beside).max_by_key(|one| fixed(one))?;
        let (own, others) = (fixed(of)?, fixed(other)?);
        let line = |one: &GroupSetting, value: i64| {
            SettingChange::Line(format!("GROUP_QUOTA_{}", String::from_utf8_lossy(&one.name)), value.to_string())
        };
        let needed = whole((group.demand - group.limit).max(1.0).ceil());
        self.smallest([0, others], &[1, needed], |more| vec![line(of, own + more), line(other, others - more)])
    }

    /// A larger quota of a group, in the form in which its quota is set.
    fn quota(&mut self, of: &GroupSetting, group: &GroupStatus) -> Option<TestedSetting> {
        let name = String::from_utf8_lossy(&of.name).into_owned();
        let needed = (group.demand - group.limit).max(1.0);
        match (&of.fixed, &of.dynamic) {
            // In thousandths.
            (None, Some(dynamic)) => {
                let value = whole(dynamic.value * 1000.0);
                let guess = whole(dynamic.value * 1000.0 * (group.quota + needed) / group.quota.max(1e-3));
                let change = |value: i64| {
                    let text = format!("{}", value as f64 / 1000.0);
                    vec![SettingChange::Line(format!("GROUP_QUOTA_DYNAMIC_{name}"), text)]
                };
                let (found, tested) = self.smallest_value([value, 1000], &[guess], change)?;
                // What a person would write, if it does.
                let rounded = found - found % 10;
                let better = (rounded > value && rounded < found).then(|| self.tried(&change(rounded))).flatten();
                Some(better.unwrap_or(tested))
            }
            (fixed, _) => {
                let value = whole(fixed.as_ref().map_or(0.0, |fixed| fixed.value));
                // Quotas of more than the pool are scaled down with those of the other groups.
                let most = whole(self.before.statistics.pool_weight.ceil()).saturating_mul(MOST_POOLS);
                let change = |value: i64| vec![SettingChange::Line(format!("GROUP_QUOTA_{name}"), value.to_string())];
                self.smallest([value, most], &[value + 1, value + whole(needed.ceil())], change)
            }
        }
    }

    /// Higher maxima of all limits that the job reaches, with the same number of requests like its own more.
    fn limits(&mut self, story: &CycleTrace) -> Option<TestedSetting> {
        let reached: Vec<&LimitStatus> = story.limits.iter().filter(|limit| limit.is_reached()).collect();
        let change = |requests: i64| {
            // The limits of one kind, whose names have a dot, share a setting.
            let mut maxima: BTreeMap<&str, i64> = BTreeMap::new();
            for limit in &reached {
                let maximum = whole((limit.held() + limit.wanted * requests as f64).ceil());
                maxima.entry(limit.setting.as_str()).and_modify(|most| *most = maximum.max(*most)).or_insert(maximum);
            }
            let line = |(setting, maximum): (&str, i64)| SettingChange::Line(setting.to_owned(), maximum.to_string());
            maxima.into_iter().map(line).collect()
        };
        let waiting = i64::try_from(self.snapshot.jobs.len()).unwrap_or(i64::MAX);
        self.smallest([0, waiting], &[1], change)
    }

    /// A higher ceiling of the submitter.
    fn ceiling(&mut self, story: &CycleTrace) -> Option<TestedSetting> {
        let ceiling = story.ceiling?;
        let most = ceiling.saturating_add(whole(self.before.statistics.pool_weight.ceil()));
        let submitter = self.job.submitter();
        let change = |value: i64| vec![SettingChange::Ceiling(submitter.clone(), value)];
        self.smallest([ceiling, most], &[ceiling.saturating_add(1)], change)
    }
}

/// A number of slots, which is not negative.
#[expect(clippy::cast_possible_truncation, reason = "larger amounts are cut to the largest number")]
fn whole(amount: f64) -> i64 {
    amount as i64
}
