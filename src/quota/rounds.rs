//! The order and the limits in which groups are negotiated for: allocation rounds, iterations, strict quotas.
//!
//! A state machine like the turns of a pie: it is asked for the next group, and told what everybody uses then.
//! Formula source: `group-quotas.md` §6, §7.

use serde::{Deserialize, Serialize};

use super::allocate::{Claim, allocate};
use super::assign::{Quota, assign};
use super::tree::{GroupTree, Share};
use crate::ad::ClassAd;
use crate::eval::scope::{Scope, Settings};
use crate::syntax::expr::Expr;
use crate::text::Text;
use crate::value::Value;

/// What does not change during a cycle.
#[expect(clippy::struct_excessive_bools, reason = "one field is one knob of the configuration")]
#[derive(Debug, Clone)]
pub struct Terms {
    /// Weighted slots of the pool.
    pub pool: f64,
    /// `NEGOTIATOR_USE_SLOT_WEIGHTS`; otherwise whole slots are granted.
    pub weighted: bool,
    /// `NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION`.
    pub oversubscribe: bool,
    /// `NEGOTIATOR_STRICT_ENFORCE_QUOTA`.
    pub strict: bool,
    /// `NEGOTIATOR_CONSIDER_PREEMPTION`.
    pub preemption: bool,
    /// `GROUP_QUOTA_MAX_ALLOCATION_ROUNDS`.
    pub rounds: u32,
    /// `GROUP_QUOTA_ROUND_ROBIN_RATE`.
    pub rate: f64,
    /// `GROUP_SORT_EXPR`; none: the order of the tree.
    pub order: Option<Expr>,
}

/// A group's turn to be negotiated for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// The group.
    pub group: usize,
    /// Which allocation round, from 1.
    pub round: u32,
    /// Weighted slots it may use in all; none where the reference divides zero by zero, which happens to groups that
    /// ask for nothing more.
    pub limit: Option<f64>,
    /// Whether usage is held against the limit; not for the root when members of groups compete there once more.
    pub bounded: bool,
}

impl Call {
    /// The limit as it is passed on: a whole number.
    pub fn quota(&self) -> Option<f64> {
        self.limit.map(f64::trunc)
    }
}

/// What was computed for a group in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// Its own quota.
    pub quota: f64,
    /// That of its subtree.
    pub subtree_quota: f64,
    /// What it gets.
    pub allocated: f64,
    /// What it asked for and did not get.
    pub unmet: f64,
    /// Where it comes in the order.
    pub sort_key: f64,
    /// What it used when the round began.
    pub usage: f64,
}

/// An allocation round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Which, from 1.
    pub round: u32,
    /// Surplus nobody took.
    pub surplus: f64,
    /// The largest distance of a group from what it may use.
    pub largest_gap: f64,
    /// The groups in their order.
    pub order: Vec<usize>,
    /// For each group, breadth first.
    pub grants: Vec<Grant>,
    /// Usage when the round was over, by group.
    pub usage_after: Vec<f64>,
}

/// The calls of a cycle.
#[derive(Debug, Clone)]
pub struct Rounds<'t> {
    tree: &'t GroupTree,
    terms: Terms,
    settings: Settings,
    quotas: Vec<Quota>,
    claims: Vec<Claim>,
    /// When each group was last served in turn, epoch seconds.
    last_served: Vec<f64>,
    /// Usage of each group when the round began.
    usage: Vec<f64>,
    history: Vec<Round>,
    /// Slots by which limits are raised so far in the round.
    raised: f64,
    cursor: usize,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Round,
    Iteration,
    Calling,
    Over,
}

impl<'t> Rounds<'t> {
    /// The rounds for groups that ask for so much in all (running jobs included) and use so much.
    pub fn new(
        tree: &'t GroupTree,
        terms: Terms,
        requested: &[f64],
        usage: Vec<f64>,
        last_served: Vec<f64>,
        settings: Settings,
    ) -> Self {
        let quotas = assign(tree, terms.pool, terms.oversubscribe);
        let claims = requested.iter().map(|&requested| Claim::of(requested)).collect();
        let (history, raised, cursor, stage) = (Vec::new(), 0.0, 0, Stage::Round);
        Self { tree, terms, settings, quotas, claims, last_served, usage, history, raised, cursor, stage }
    }

    /// The computed quotas, breadth first.
    pub fn quotas(&self) -> &[Quota] {
        &self.quotas
    }

    /// The rounds so far.
    pub fn history(&self) -> &[Round] {
        &self.history
    }

    /// The next group; none when the cycle is over. `usage` is what the members of a group use at this moment, those of
    /// groups below not counted; `asks` whether it still has submitters.
    pub fn next(&mut self, usage: &dyn Fn(usize) -> f64, asks: &dyn Fn(usize) -> bool) -> Option<Call> {
        loop {
            match self.stage {
                Stage::Round => self.start_round(usage),
                Stage::Iteration => self.start_iteration(usage),
                Stage::Calling => {
                    let round = self.history.last()?;
                    let Some(&group) = round.order.get(self.cursor) else {
                        self.stage = Stage::Iteration;
                        continue;
                    };
                    self.cursor += 1;
                    if let Some(call) = self.call(group, usage, asks) {
                        return Some(call);
                    }
                }
                Stage::Over => return None,
            }
        }
    }

    fn start_round(&mut self, usage: &dyn Fn(usize) -> f64) {
        let number = self.history.len() as u32 + 1;
        if number > self.terms.rounds {
            self.stage = Stage::Over;
            return;
        }
        let in_turn = (!self.terms.weighted).then_some(self.last_served.as_slice());
        let surplus = allocate(self.tree, &self.quotas, &mut self.claims, in_turn);
        if self.tree.autoregroup() {
            (self.quotas[0].own, self.claims[0].allocated) = (self.terms.pool, self.terms.pool);
        }
        let accepts = self.tree.anybody_accepts();
        let gap = |at: usize| {
            let target = if accepts { self.claims[at].allocated } else { self.quotas[at].own };
            f64::max(target - self.usage[at], 0.0)
        };
        let largest_gap = (0..self.tree.len()).map(gap).fold(0.0, f64::max);
        let keys: Vec<f64> = (0..self.tree.len()).map(|at| self.sort_key(at, usage(at))).collect();
        let mut order: Vec<usize> = (0..self.tree.len()).collect();
        let last = |at: usize| self.tree.autoregroup() && at == 0;
        order.sort_by(|&a, &b| last(a).cmp(&last(b)).then(keys[a].total_cmp(&keys[b])));
        let grant = |at: usize| Grant {
            quota: self.quotas[at].own,
            subtree_quota: self.quotas[at].subtree,
            allocated: self.claims[at].allocated,
            unmet: self.claims[at].requested,
            sort_key: keys[at],
            usage: self.usage[at],
        };
        let grants = (0..self.tree.len()).map(grant).collect();
        self.history.push(Round { round: number, surplus, largest_gap, order, grants, usage_after: Vec::new() });
        self.raised = f64::NEG_INFINITY;
        self.stage = Stage::Iteration;
    }

    /// Raises the limits, or ends the round when they cannot be raised any more.
    fn start_iteration(&mut self, usage: &dyn Fn(usize) -> f64) {
        let Some(round) = self.history.last() else { return };
        if self.raised >= round.largest_gap {
            return self.end_round(usage);
        }
        self.raised = f64::min(f64::max(self.raised, 0.0) + self.terms.rate, round.largest_gap);
        self.cursor = 0;
        self.stage = Stage::Calling;
    }

    fn end_round(&mut self, usage: &dyn Fn(usize) -> f64) {
        let (mut allocated, mut used) = (0.0, 0.0);
        for (at, claim) in self.claims.iter_mut().enumerate() {
            self.usage[at] = usage(at);
            allocated += claim.allocated;
            used += f64::min(self.usage[at], claim.allocated);
            // What a group could not use is there for others in the next round.
            claim.requested =
                if self.usage[at] < claim.allocated { self.usage[at] } else { claim.requested + claim.allocated };
        }
        if let Some(round) = self.history.last_mut() {
            round.usage_after.clone_from(&self.usage);
        }
        self.stage = if used >= allocated { Stage::Over } else { Stage::Round };
    }

    fn call(&self, group: usize, usage: &dyn Fn(usize) -> f64, asks: &dyn Fn(usize) -> bool) -> Option<Call> {
        let (allocated, used) = (self.claims[group].allocated, self.usage[group]);
        if allocated <= 0.0 || (used >= allocated && !self.terms.preemption) || !asks(group) {
            return None;
        }
        let round = self.history.last()?;
        let target = f64::max(allocated, self.quotas[group].own);
        let gap = f64::max(target - used, 0.0);
        let limit = if gap > 0.0 && round.largest_gap > 0.0 {
            Some(used + gap * (self.raised / round.largest_gap))
        } else if gap > 0.0 {
            None
        } else {
            Some(target)
        };
        let limit = limit.map(|limit| {
            let limit = f64::min(limit, target);
            let limit = if self.terms.weighted { limit } else { limit.floor() };
            if self.terms.strict { self.strict(group, limit, usage) } else { limit }
        });
        let bounded = !(group == 0 && self.tree.autoregroup());
        Some(Call { group, round: round.round, limit, bounded })
    }

    /// The limit within what the groups above may use, as far as they take no surplus (§6.4).
    fn strict(&self, group: usize, limit: f64, usage: &dyn Fn(usize) -> f64) -> f64 {
        let nodes = self.tree.nodes();
        let mut below: Vec<f64> = (0..nodes.len()).map(usage).collect();
        for at in (1..nodes.len()).rev() {
            if let Some(parent) = nodes[at].parent {
                below[parent] += below[at];
            }
        }
        let mut more = limit - self.usage[group];
        let mut at = Some(group);
        while let Some(here) = at {
            let node = &nodes[here];
            if !node.group.accepts_surplus {
                let quota = match node.group.share {
                    Some(Share::Static(slots)) => slots,
                    _ => self.quotas[here].subtree,
                };
                more = f64::min(more, f64::max(quota - below[here], 0.0));
            }
            at = node.parent;
        }
        more + self.usage[group]
    }

    /// `GROUP_SORT_EXPR` of a group; last if it is no number.
    fn sort_key(&self, at: usize, usage: f64) -> f64 {
        let Some(expr) = &self.terms.order else { return 0.0 };
        let mut ad = ClassAd::new();
        ad.insert("AccountingGroup", Value::Str(Text::new(&self.tree.nodes()[at].group.name)));
        ad.insert("GroupQuota", self.quotas[at].own);
        ad.insert("GroupResourcesAllocated", self.claims[at].allocated);
        ad.insert("GroupResourcesInUse", usage);
        let value = Scope::new(&ad, &self.settings).eval(expr).ok().and_then(|value| value.as_number());
        value.filter(|key| !key.is_nan()).unwrap_or(f64::from(f32::MAX))
    }
}
