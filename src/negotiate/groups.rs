//! The groups of a cycle: whose turn it is, and what requests and slots are told of quotas.
//!
//! In: the groups of the configuration, the size of the pool, submitters. Out: one deal for every call of a group.
//! Formula source: `group-quotas.md` §4, §6; `negotiation.md` §3.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::accountant::GroupOf;
use crate::config::setting::Settings as Knobs;
use crate::config::{Config, ConfigError};
use crate::eval::scope::Settings;
use crate::negotiate::deal::{Dealing, Negotiating};
use crate::negotiate::outcome::Group;
use crate::negotiate::preemption::Groups;
use crate::pool::PoolSize;
use crate::priority::{Deal, GroupShare};
use crate::quota::{Call, GroupTree, Rounds, Terms, assign, settings};

/// What the configuration says of groups.
#[derive(Debug, Clone)]
pub struct GroupRules {
    /// The groups; only the root without groups.
    pub tree: Arc<GroupTree>,
    /// What is odd about them, in words.
    pub odd: Vec<String>,
    /// How they are negotiated for; the pool is not known yet.
    pub terms: Terms,
    /// `NEGOTIATOR_USE_WEIGHTED_DEMAND`: demand is counted in weighted slots, otherwise in jobs.
    pub weighted_demand: bool,
}

impl GroupRules {
    /// Reads the rules.
    ///
    /// # Errors
    /// A value that is not what its knob takes.
    pub fn read(config: &Config, weighted: bool, preemption: bool) -> Result<Self, ConfigError> {
        let (tree, odd) = settings::groups(config)?;
        Ok(Self {
            tree: Arc::new(tree),
            odd,
            terms: settings::terms(config, 0.0, weighted, preemption)?,
            weighted_demand: Knobs::new(config).boolean("NEGOTIATOR_USE_WEIGHTED_DEMAND", true)?,
        })
    }

    /// The slots that quotas are shares of: weighted, or counted with the cores of partitionable slots.
    fn pool(&self, size: &PoolSize) -> f64 {
        if self.terms.weighted { size.weight } else { size.effective }
    }
}

impl GroupOf for Arc<GroupTree> {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        GroupTree::group_of(self, name)
    }
}

/// The groups and their quotas at the beginning of a cycle.
#[derive(Debug)]
pub struct KnownQuotas {
    tree: Arc<GroupTree>,
    quotas: Vec<f64>,
}

impl KnownQuotas {
    /// The quotas of the groups in a pool; none without groups.
    pub fn of(groups: &GroupRules, size: &PoolSize) -> Option<Self> {
        if groups.tree.is_empty() {
            return None;
        }
        let quotas = assign(&groups.tree, groups.pool(size), groups.terms.oversubscribe);
        Some(Self { tree: groups.tree.clone(), quotas: quotas.iter().map(|quota| quota.own).collect() })
    }
}

impl GroupOf for KnownQuotas {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        self.tree.group_of(name)
    }
}

impl Groups for KnownQuotas {
    fn quota(&self, submitter: &[u8]) -> Option<f64> {
        self.quotas.get(self.tree.place(submitter)).copied()
    }
}

/// Negotiates for every group in its turn, until the rounds are over.
pub fn deal(dealing: &mut Dealing<'_>, size: &PoolSize, settings: &Settings) {
    let rules = &dealing.rules.groups;
    let tree = rules.tree.clone();
    let name = |at: usize| tree.nodes()[at].group.name.as_slice();
    let mut lists = vec![Vec::new(); tree.len()];
    let mut requested = vec![0.0; tree.len()];
    for (who, submitter) in dealing.submitters.iter().enumerate() {
        let at = tree.place(&submitter.name);
        lists[at].push(who);
        let (running, idle) = if rules.weighted_demand {
            (submitter.weighted_running, submitter.weighted_idle)
        } else {
            (submitter.running, submitter.idle)
        };
        requested[at] += running as f64 + idle as f64;
    }
    if tree.autoregroup() {
        let again = (1..tree.len()).filter(|&at| tree.nodes()[at].group.autoregroup);
        let again: Vec<usize> = again.flat_map(|at| lists[at].clone()).collect();
        lists[0].extend(again);
    }
    let terms = Terms { pool: rules.pool(size), ..rules.terms.clone() };
    let usage = (0..tree.len()).map(|at| dealing.policy.group_usage(name(at))).collect();
    let mut rounds = Rounds::new(&tree, terms, &requested, usage, vec![0.0; tree.len()], settings.clone());
    let mut first_pie = 1;
    loop {
        let policy = &*dealing.policy;
        let Some(call) = rounds.next(&|at| policy.group_usage(name(at)), &|at| !lists[at].is_empty()) else { break };
        let quotas = rounds.quotas().iter().map(|quota| quota.own).collect();
        dealing.group = Some(Negotiating {
            name: String::from_utf8_lossy(name(call.group)).into_owned(),
            autoregroup: tree.autoregroup() && call.group == 0,
            quotas: Arc::new(quotas),
        });
        let quota = limit(&rounds, &call);
        let deal = Deal {
            weight: f64::min(size.weight, quota),
            smallest_weight: size.smallest_weight,
            group: call.bounded.then(|| GroupShare { name: name(call.group).to_vec(), quota }),
            first_pie,
        };
        let (left, next_pie) = dealing.deal(&lists[call.group], &deal);
        first_pie = next_pie;
        let left: HashSet<usize> = left.into_iter().collect();
        lists[call.group].retain(|who| !left.contains(who));
    }
    let last = rounds.history().last();
    let group = |at: usize| Group {
        name: String::from_utf8_lossy(name(at)).into_owned(),
        quota: rounds.quotas()[at].own,
        allocated: last.map_or(0.0, |round| round.grants[at].allocated),
        usage: dealing.policy.group_usage(name(at)),
    };
    dealing.outcome.groups = (0..tree.len()).map(group).collect();
}

/// The limit of a call, a whole number. Where the reference divides zero by zero, the group may have what it is due: it
/// asks for nothing more.
fn limit(rounds: &Rounds<'_>, call: &Call) -> f64 {
    let due = || {
        let grant = rounds.history().last().and_then(|round| round.grants.get(call.group));
        grant.map_or(0.0, |grant| f64::max(grant.allocated, grant.quota).trunc())
    };
    call.quota().unwrap_or_else(due)
}
