//! A cycle with group quotas: group after group is dealt to, as the rounds of division say.
//!
//! In: the groups' tree and what is divided. Out: pies dealt, and what each group was granted and why. Formula source:
//! `group-quotas.md` §2.2, §4, §6.

use std::sync::Arc;

use crate::accountant::GroupOf;
use crate::config::{Config, ConfigError};
use crate::negotiate::deal::Dealing;
use crate::negotiate::preemption::Groups;
use crate::pool::PoolSize;
use crate::priority::{Claimant, Deal, GroupShare, History, PriorityPolicy};
use crate::queue::Submitter;
use crate::queue::request::Request;
use crate::quota::summary::{GroupSummary, summaries};
use crate::quota::{Call, GroupTree, Pool, QuotaSettings, ROOT, Rounds, assign, flat};
use crate::text::Text;
use crate::value::Value;

/// The groups of a pool.
#[derive(Debug, Clone)]
pub struct PoolGroups {
    /// The settings as read.
    pub settings: QuotaSettings,
    /// The tree of the groups.
    pub tree: Arc<GroupTree>,
}

/// A call that was made: whom it served, and how it went.
#[derive(Debug, Clone, Default)]
pub(super) struct Dealt {
    /// The group; none without groups.
    pub(super) group: Option<String>,
    /// The submitters that took part, by the numbers its history uses.
    pub(super) members: Vec<usize>,
    /// What happened.
    pub(super) history: History,
}

/// Whom is negotiated with at this moment.
#[derive(Debug)]
pub struct Negotiating {
    tree: Arc<GroupTree>,
    name: String,
    /// Whether groups are served once more with those in no group.
    autoregroup: bool,
    /// The quota of each group in this round, and which round that is.
    quotas: Vec<f64>,
    round: usize,
}

impl PoolGroups {
    /// The groups a configuration declares.
    ///
    /// # Errors
    /// A wrong setting.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let settings = QuotaSettings::read(config)?;
        let tree = Arc::new(GroupTree::new(&settings));
        Ok(Self { settings, tree })
    }

    /// What is divided among whom.
    ///
    /// # Errors
    /// Flat quotas that do not fit into the pool.
    pub fn pool(
        &self,
        size: &PoolSize,
        submitters: &[Submitter],
        policy: &dyn PriorityPolicy,
    ) -> Result<Pool, ConfigError> {
        let rules = &self.settings.rules;
        let total = if rules.weighted { size.weight } else { size.effective };
        if rules.flat {
            flat::fits(&self.tree, total)?;
        }
        let mut demand = vec![0.0; self.tree.len()];
        for submitter in submitters {
            let (running, idle) = if rules.weighted_demand {
                (submitter.weighted_running, submitter.weighted_idle)
            } else {
                (submitter.running, submitter.idle)
            };
            demand[self.tree.of(&submitter.name)] += running as f64 + idle as f64;
        }
        let usage = self.tree.groups().iter().map(|group| policy.group_usage(&group.name)).collect();
        Ok(Pool { total, demand, usage, last_served: Vec::new() })
    }
}

/// The quotas of the groups, as the ads of slots in use speak of them.
#[derive(Debug)]
pub(super) struct Quotas {
    tree: Arc<GroupTree>,
    quotas: Vec<f64>,
}

impl Quotas {
    /// The quotas of a pool.
    pub(super) fn new(groups: &PoolGroups, total: f64) -> Self {
        let assigned = assign::assign(&groups.tree, &groups.settings.rules, total);
        let mut quotas: Vec<f64> = assigned.iter().map(|assigned| assigned.quota).collect();
        if groups.tree.autoregroup {
            quotas[ROOT] = total;
        }
        Self { tree: Arc::clone(&groups.tree), quotas }
    }
}

impl GroupOf for Quotas {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        self.tree.group_of(name)
    }
}

impl Groups for Quotas {
    fn quota(&self, submitter: &[u8]) -> Option<f64> {
        self.quotas.get(self.tree.of(submitter)).copied()
    }
}

impl Negotiating {
    /// The name of the group.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group of a submitter.
    pub fn group_of(&self, submitter: &[u8]) -> &[u8] {
        self.tree.group_of(submitter)
    }

    /// Tells a request which group is negotiated with, and which its submitter belongs to.
    pub fn mark(&self, request: &mut Request, submitter: &[u8], policy: &dyn PriorityPolicy) {
        request.ad.insert("SubmitterNegotiatingGroup", Value::Str(Text::new(self.name.as_bytes())));
        request.ad.insert("SubmitterAutoregroup", self.autoregroup);
        let group = self.tree.of(submitter);
        let name = &self.tree.groups()[group].name;
        request.ad.insert("SubmitterGroup", Value::Str(Text::new(name)));
        request.ad.insert("SubmitterGroupResourcesInUse", policy.group_usage(name));
        request.ad.insert("SubmitterGroupQuota", self.quotas[group]);
    }
}

impl Dealing<'_> {
    /// Deals to one group after another until the rounds are over.
    pub(super) fn run_groups(
        &mut self,
        groups: &PoolGroups,
        pool: &Pool,
        size: &PoolSize,
        claimants: &[Claimant],
    ) -> (Vec<Dealt>, Vec<GroupSummary>) {
        let tree = &groups.tree;
        let rules = &groups.settings.rules;
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
        for (at, submitter) in self.submitters.iter().enumerate() {
            lists[tree.of(&submitter.name)].push(at);
        }
        for group in (1..tree.len()).filter(|&group| tree.groups()[group].autoregroup) {
            let (root, rest) = lists.split_at_mut(1);
            root[ROOT].extend_from_slice(&rest[group - 1]);
        }
        let mut rounds = Rounds::new(tree, rules, pool, self.settings.clone());
        let mut dealt: Vec<Dealt> = Vec::new();
        let mut first_pie = 1;
        while let Some(call) = rounds.next(|group| !lists[group].is_empty()) {
            self.turn_to(tree, &rounds, &call);
            let members = std::mem::take(&mut lists[call.group]);
            let asking: Vec<Claimant> = members.iter().map(|&at| claimants[at].clone()).collect();
            let mut turns = self.policy.begin(&asking, &deal(tree, &call, size, first_pie));
            self.run(&mut *turns, &members);
            lists[call.group] = turns.remaining().into_iter().map(|at| members[at]).collect();
            let history = turns.history().clone();
            first_pie += history.pies;
            let served = if call.autoregroup { 0..tree.len() } else { call.group..call.group + 1 };
            for group in served {
                rounds.used(group, self.policy.group_usage(&tree.groups()[group].name));
            }
            dealt.push(Dealt { group: Some(tree.display(call.group)), members, history });
        }
        self.negotiating = None;
        let summaries = summaries(tree, &rounds, &pool.demand);
        (dealt, summaries)
    }

    /// Makes a group the one that is negotiated with.
    fn turn_to(&mut self, tree: &Arc<GroupTree>, rounds: &Rounds<'_>, call: &Call) {
        let round = rounds.record().len();
        let name = tree.display(call.group);
        let autoregroup = tree.autoregroup && call.group == ROOT;
        match &mut self.negotiating {
            Some(negotiating) if negotiating.round == round => {
                (negotiating.name, negotiating.autoregroup) = (name, autoregroup);
            }
            other => {
                let quotas = (0..tree.len()).map(|group| rounds.quota(group)).collect();
                *other = Some(Negotiating { tree: Arc::clone(tree), name, autoregroup, quotas, round });
            }
        }
    }
}

/// What is dealt in a call.
fn deal(tree: &GroupTree, call: &Call, size: &PoolSize, first_pie: u32) -> Deal {
    let limit = f64::from(call.whole_limit());
    let (weight, group) = if call.autoregroup {
        (size.weight.min(limit), None)
    } else {
        (size.weight, Some(GroupShare { name: tree.groups()[call.group].name.to_vec(), quota: limit }))
    };
    Deal { weight, smallest_weight: size.smallest_weight, group, first_pie }
}
