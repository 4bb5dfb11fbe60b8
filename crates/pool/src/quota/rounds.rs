//! The rounds of a cycle: divide, negotiate with each group in order, release what could not be used, divide again.
//!
//! The caller requests the next call and reports the usage of groups after it. Formula source:
//! `docs/reference/group-quotas.md` 4 to 7.

use super::allocate::{AllocationState, fair_share};
use super::assign::{Assigned, assign};
use super::grant::Grant;
use super::order;
use super::remainder::recover;
use super::settings::QuotaRules;
use super::tree::{Configured, GroupTree, ROOT};
use classmate::internal::eval::scope::EvalOptions;

/// Maximum number of passes over the groups in one round: a rate that is tiny compared to the quotas grows limits
/// faster than configured.
const MAX_PASSES: f64 = 10_000.0;

/// The weighted slots to divide, and the groups.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuotaPool {
    /// Weighted slots of the pool, busy ones included; without slot weights their number, a partitionable slot counted by its cores.
    pub total: f64,
    /// Demand of the submitters of each group, including running jobs, breadth first.
    pub demand: Vec<f64>,
    /// Usage of the submitters of each group.
    pub usage: Vec<f64>,
    /// Without slot weights: when each group last won a single slot; empty: never.
    pub last_served: Vec<f64>,
}

/// A group to negotiate with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// The group.
    pub group: usize,
    /// Limit of its usage in all; none where HTCondor computes 0/0 and matches nothing.
    pub limit: Option<f64>,
    /// True if the usage of the group does not count against the limit: that of the root, when groups that regroup
    /// negotiate there once more.
    pub unbounded: bool,
}

impl Call {
    /// The limit as the negotiator gets it: a whole number. What HTCondor computes as 0/0 is the lowest one.
    pub fn whole_limit(&self) -> i32 {
        self.limit.map_or(i32::MIN, |limit| limit as i32)
    }
}

/// History of a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// Number of the round, from 1.
    pub round: u32,
    /// Quota that no group requested.
    pub surplus: f64,
    /// The largest gap between what a group may use and what it uses.
    pub largest_gap: f64,
    /// The groups in the order in which they are negotiated with.
    pub order: Vec<usize>,
    /// The grant of each group, breadth first.
    pub grants: Vec<Grant>,
    /// The calls that were made.
    pub calls: Vec<Call>,
    /// Usage of each group at the end; empty before.
    pub usage_after: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum RoundStage {
    Dividing,
    Passing,
    Calling,
    Closing,
    Over,
}

/// The rounds of a cycle, one call after another.
///
/// ```
/// use classmate_config::Config;
/// use classmate::EvalOptions;
/// use classmate_pool::internal::quota::{GroupTree, QuotaPool, QuotaSettings, Rounds};
/// let text = b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 20\nGROUP_QUOTA_b = 10";
/// let settings = QuotaSettings::read(&Config::parse("c", text).unwrap()).unwrap();
/// let tree = GroupTree::new(&settings);
/// let pool = QuotaPool { total: 30.0, demand: vec![0.0, 5.0, 60.0], usage: vec![0.0; 3], ..QuotaPool::default() };
/// let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
/// let call = rounds.next(|_| true).unwrap();
/// assert_eq!((tree.display(call.group), call.whole_limit()), ("a".to_owned(), 20));
/// ```
#[derive(Debug)]
pub struct Rounds<'t> {
    tree: &'t GroupTree,
    rules: &'t QuotaRules,
    settings: EvalOptions,
    total: f64,
    assigned: Vec<Assigned>,
    states: Vec<AllocationState>,
    last_served: Vec<f64>,
    /// Usage of each group at the start of the round.
    usage: Vec<f64>,
    /// Current usage of each group.
    live: Vec<f64>,
    /// Current usage of each group's subtree; none if outdated.
    subtree_usage: Vec<f64>,
    outdated: Vec<bool>,
    stage: RoundStage,
    cursor: usize,
    /// Growth of the limits so far, as a part of the largest gap.
    grown: f64,
    called: bool,
    record: Vec<Round>,
}

impl<'t> Rounds<'t> {
    /// Starts a cycle: computes the quotas, and divides for the first round on demand.
    pub fn new(tree: &'t GroupTree, rules: &'t QuotaRules, pool: &QuotaPool, settings: EvalOptions) -> Self {
        let count = tree.len();
        let assigned = assign(tree, rules, pool.total);
        let known = |values: &[f64], at: usize| values.get(at).copied().filter(|v| v.is_finite()).unwrap_or(0.0);
        let states = assigned.iter().enumerate().map(|(at, assigned)| AllocationState {
            quota: assigned.quota,
            subtree_quota: assigned.subtree_quota,
            requested: known(&pool.demand, at).max(0.0),
            ..AllocationState::default()
        });
        let usage: Vec<f64> = (0..count).map(|at| known(&pool.usage, at).max(0.0)).collect();
        Self {
            tree,
            rules,
            settings,
            total: pool.total,
            states: states.collect(),
            assigned,
            last_served: (0..count).map(|at| known(&pool.last_served, at)).collect(),
            live: usage.clone(),
            subtree_usage: vec![0.0; count],
            outdated: vec![true; count],
            usage,
            stage: RoundStage::Dividing,
            cursor: 0,
            grown: 0.0,
            called: false,
            record: Vec::new(),
        }
    }

    /// The quotas, breadth first.
    pub fn assigned(&self) -> &[Assigned] {
        &self.assigned
    }

    /// The rounds so far; the current one is last.
    pub fn record(&self) -> &[Round] {
        &self.record
    }

    /// Current usage of each group.
    pub fn in_use(&self) -> &[f64] {
        &self.live
    }

    /// The quota of a group as the ads of this round speak of it: with autoregroup the root has the whole pool.
    pub fn quota(&self, group: usize) -> f64 {
        self.states[group].quota
    }

    /// Divides for the first round without negotiating: what the groups would be granted.
    pub fn divide(&mut self) -> &Round {
        if self.record.is_empty() {
            self.begin_round();
        }
        &self.record[0]
    }

    /// Sets the current usage of a group.
    pub fn used(&mut self, group: usize, usage: f64) {
        if self.live[group] != usage {
            self.live[group] = usage;
            // The ancestors of an outdated sum are already outdated.
            for above in self.tree.upwards(group) {
                if std::mem::replace(&mut self.outdated[above], true) {
                    break;
                }
            }
        }
    }

    /// The next group to negotiate with. `asks`: whether a group still has submitters.
    pub fn next(&mut self, asks: impl Fn(usize) -> bool) -> Option<Call> {
        loop {
            match self.stage {
                RoundStage::Dividing => {
                    self.divide_again();
                }
                RoundStage::Passing => self.begin_pass(),
                RoundStage::Calling => {
                    if let Some(call) = self.next_in_pass(&asks) {
                        return Some(call);
                    }
                }
                RoundStage::Closing => self.end_round(),
                RoundStage::Over => return None,
            }
        }
    }

    /// The times, in seconds since 1970, at which each group last won a remainder or had no demand, after a cycle at `now`. A
    /// negotiator remembers them until it restarts.
    pub fn last_served(&self, now: f64) -> Vec<f64> {
        let time = |(state, &before): (&AllocationState, &f64)| {
            if state.served || state.requested <= 0.0 { now } else { before }
        };
        self.states.iter().zip(&self.last_served).map(time).collect()
    }

    fn divide_again(&mut self) {
        let under_way = self.record.last().is_some_and(|round| round.usage_after.is_empty());
        if !under_way {
            if self.record.len() >= self.rules.rounds as usize {
                self.stage = RoundStage::Over;
                return;
            }
            self.begin_round();
        }
        self.grown = 0.0;
        self.stage = RoundStage::Passing;
    }

    fn begin_round(&mut self) {
        let (tree, rules) = (self.tree, self.rules);
        let mut grants: Vec<Grant> = Vec::with_capacity(self.states.len());
        for (state, &usage) in self.states.iter_mut().zip(&self.usage) {
            (state.allocated, state.subtree_requested, state.served) = (0.0, 0.0, false);
            let AllocationState { quota, subtree_quota, requested, .. } = *state;
            grants.push(Grant { quota, subtree_quota, demand: requested, usage, ..Grant::default() });
        }
        let mut surplus = fair_share(tree, &mut self.states, &mut grants);
        if !rules.weighted {
            surplus += recover(tree, &mut self.states, &mut grants, &self.last_served);
        }
        if tree.autoregroup || rules.flat {
            let root = &mut self.states[ROOT];
            (root.quota, root.allocated) = (self.total, self.total);
        }
        let keys = order::keys(tree, rules.order.as_ref(), &self.states, &self.usage, &self.settings);
        let mut largest_gap: f64 = 0.0;
        for (at, (state, grant)) in self.states.iter().zip(&mut grants).enumerate() {
            let may = if tree.any_accepts_surplus { state.allocated } else { state.quota };
            largest_gap = largest_gap.max(may - self.usage[at]);
            grant.quota = state.quota;
            (grant.allocated, grant.unmet, grant.sort_key) = (state.allocated, state.requested, keys[at]);
        }
        let round = self.record.len() as u32 + 1;
        let order = order::order(tree, &keys);
        self.record.push(Round { round, surplus, largest_gap, order, grants, ..Round::default() });
    }

    fn begin_pass(&mut self) {
        let gap = self.record.last().map_or(0.0, |round| round.largest_gap);
        let rate = self.rules.rate.max(gap / MAX_PASSES);
        self.grown = (self.grown + rate).min(gap);
        (self.cursor, self.called) = (0, false);
        self.stage = RoundStage::Calling;
    }

    fn next_in_pass(&mut self, asks: &impl Fn(usize) -> bool) -> Option<Call> {
        let round = self.record.last()?;
        let gap = round.largest_gap;
        while let Some(&group) = round.order.get(self.cursor) {
            self.cursor += 1;
            let AllocationState { allocated, .. } = self.states[group];
            let has_all = self.usage[group] >= allocated && !self.rules.preemption;
            if allocated <= 0.0 || has_all || !asks(group) {
                continue;
            }
            self.called = true;
            let limit = self.limit(group, gap);
            let unbounded = group == ROOT && (self.tree.autoregroup || self.rules.flat);
            let call = Call { group, limit, unbounded };
            if let Some(round) = self.record.last_mut() {
                round.calls.push(call);
            }
            return Some(call);
        }
        // Who is passed by once is passed by for the rest of the round.
        let over = self.grown >= gap || !self.called;
        self.stage = if over { RoundStage::Closing } else { RoundStage::Passing };
        None
    }

    /// The current limit of a group.
    fn limit(&mut self, group: usize, gap: f64) -> Option<f64> {
        let AllocationState { allocated, quota, .. } = self.states[group];
        let usage = self.usage[group];
        let target = allocated.max(quota);
        let missing = (target - usage).max(0.0);
        let mut limit = target;
        if missing > 0.0 {
            if gap <= 0.0 {
                return None;
            }
            limit = (usage + missing * (self.grown / gap)).min(target);
        }
        if !self.rules.weighted {
            limit = limit.floor();
        }
        Some(if self.rules.strict { self.strict(group, limit) } else { limit })
    }

    /// The limit as far as groups above (and the group itself) that accept no surplus have room.
    fn strict(&mut self, group: usize, limit: f64) -> f64 {
        let tree = self.tree;
        let usage = self.usage[group];
        let mut more = limit - usage;
        for at in tree.upwards(group) {
            let bounding = &tree.groups()[at];
            if bounding.accepts_surplus {
                continue;
            }
            let most = match bounding.configured {
                Configured::Static(quota) => quota,
                _ => self.states[at].subtree_quota,
            };
            // Usage now, although `usage` is from the start of the round: as in HTCondor.
            more = more.min((most - self.used_below(at)).max(0.0));
        }
        more + usage
    }

    /// Current usage of a group's subtree.
    fn used_below(&mut self, group: usize) -> f64 {
        if !self.outdated[group] {
            return self.subtree_usage[group];
        }
        // The rows below a group come after it: outdated ones are listed, then summed from the last.
        let tree = self.tree;
        let mut rows = vec![group];
        let mut next = 0;
        while let Some(&row) = rows.get(next) {
            rows.extend(tree.groups()[row].children.clone().filter(|&child| self.outdated[child]));
            next += 1;
        }
        for &row in rows.iter().rev() {
            let below: f64 = tree.groups()[row].children.clone().map(|child| self.subtree_usage[child]).sum();
            self.subtree_usage[row] = below + self.live[row];
            self.outdated[row] = false;
        }
        self.subtree_usage[group]
    }

    fn end_round(&mut self) {
        let (mut used, mut granted) = (0.0, 0.0);
        self.usage.clone_from(&self.live);
        for (state, &usage) in self.states.iter_mut().zip(&self.usage) {
            granted += state.allocated;
            used += usage.min(state.allocated);
            if usage < state.allocated {
                state.requested = usage;
            } else {
                state.requested += state.allocated;
            }
        }
        if let Some(round) = self.record.last_mut() {
            round.usage_after.clone_from(&self.usage);
        }
        let over = used >= granted || self.record.len() >= self.rules.rounds as usize;
        self.stage = if over { RoundStage::Over } else { RoundStage::Dividing };
    }
}
