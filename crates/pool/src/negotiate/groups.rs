//! The groups of a cycle: the order in which they are negotiated with, and the quotas that ads show.
//!
//! In: the groups of the configuration, the size of the pool, submitters. Out: a deal for each call of a group.
//! Formula source: `docs/reference/group-quotas.md` 4, 6; `docs/reference/negotiation.md` 3.

use std::sync::Arc;

use crate::negotiate::negotiation_loop::{NegotiatedGroup, NegotiationLoop};
use crate::negotiate::preemption::KnownQuotas;
use crate::pool::PoolSize;
use crate::priority::{GroupShare, PieInput, PriorityPolicy};
use crate::queue::Submitter;
use crate::quota::summary::summaries;
use crate::quota::{Call, Configured, GroupTree, QuotaPool, QuotaRules, QuotaSettings, ROOT, Rounds, assign, flat};
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::{Config, ConfigError};

/// The group settings of the configuration.
#[derive(Debug, Clone)]
pub struct GroupRules {
    /// The groups; only the root if no groups are configured.
    pub tree: Arc<GroupTree>,
    /// Warnings about their settings, a line each.
    pub odd: Vec<String>,
    /// The settings for the division of the pool and the order of negotiation.
    pub rules: QuotaRules,
}

impl GroupRules {
    /// Reads the rules.
    ///
    /// # Errors
    /// An invalid value of a configuration variable.
    pub fn read(config: &Config) -> Result<Self, ConfigError> {
        let settings = QuotaSettings::read(config)?;
        let tree = GroupTree::new(&settings);
        let odd = tree.warnings().iter().map(classmate::Diagnostic::to_line).collect();
        Ok(Self { tree: Arc::new(tree), odd, rules: settings.rules })
    }

    /// The static quota of a group in weighted slots; `None` if the group is unknown, its quota is dynamic, or the
    /// quota is not positive.
    pub fn quota(&self, group: &[u8]) -> Option<f64> {
        let found = &self.tree.groups()[self.tree.find(group)?];
        match found.configured {
            Configured::Static(quota) if quota > 0.0 => Some(quota),
            _ => None,
        }
    }

    /// The quotas of the groups in a pool; `None` without groups.
    pub fn quotas(&self, size: &PoolSize) -> Option<KnownQuotas> {
        if self.tree.is_empty() {
            return None;
        }
        let quotas = assign::assign(&self.tree, &self.rules, self.total(size));
        Some(KnownQuotas { tree: self.tree.clone(), quotas: quotas.iter().map(|quota| quota.quota).collect() })
    }

    /// The size of the pool that quotas are shares of: the slot weight, or the number of slots with each partitionable
    /// slot counted by its cores.
    fn total(&self, size: &PoolSize) -> f64 {
        if self.rules.weighted { size.weight } else { size.effective }
    }

    /// Checks that the pool can be divided.
    ///
    /// # Errors
    /// Flat quotas that exceed the size of the pool.
    pub fn fit(&self, size: &PoolSize) -> Result<(), ConfigError> {
        if self.rules.flat { flat::fits(&self.tree, self.total(size)) } else { Ok(()) }
    }

    /// The input of the division: the size of the pool, the demand of submitters (running and idle), and the usage of
    /// groups.
    pub fn pool(&self, size: &PoolSize, submitters: &[Submitter], policy: &dyn PriorityPolicy) -> QuotaPool {
        let mut demand = vec![0.0; self.tree.len()];
        for submitter in submitters {
            let (running, idle) = if self.rules.weighted_demand {
                (submitter.weighted_running, submitter.weighted_idle)
            } else {
                (submitter.running, submitter.idle)
            };
            demand[self.tree.of(&submitter.name)] += running as f64 + idle as f64;
        }
        let usage = self.tree.groups().iter().map(|group| policy.group_usage(&group.name)).collect();
        QuotaPool { total: self.total(size), demand, usage, last_served: Vec::new() }
    }
}

/// Negotiates with each group in order, until the allocation rounds are over. Takes and returns the times at which each
/// group last won a remainder.
pub fn negotiate_groups(
    dealing: &mut NegotiationLoop<'_>,
    size: &PoolSize,
    settings: &EvalOptions,
    last_served: Vec<f64>,
) -> Vec<f64> {
    let GroupRules { tree, rules, .. } = &dealing.rules.groups;
    let pool = QuotaPool { last_served, ..dealing.rules.groups.pool(size, dealing.submitters, &*dealing.policy) };
    let mut lists = lists(tree, dealing.submitters);
    let mut rounds = Rounds::new(tree, rules, &pool, settings.clone());
    let mut quotas = Arc::default();
    let mut first_pie = 1;
    let mut divided = 0;
    while let Some(call) = rounds.next(|group| !lists[group].is_empty()) {
        // Quotas change from round to round at most.
        if std::mem::replace(&mut divided, rounds.record().len()) != divided {
            quotas = Arc::new((0..tree.len()).map(|group| rounds.quota(group)).collect());
        }
        dealing.group = Some(NegotiatedGroup {
            name: tree.display(call.group),
            autoregroup: tree.autoregroup && call.group == ROOT,
            quotas: Arc::clone(&quotas),
        });
        // The list keeps the order of this call, so that submitters that are equal in the next one stay in it.
        (lists[call.group], first_pie) =
            dealing.negotiate_submitters(&lists[call.group], &terms(tree, &call, size, first_pie));
        let served = if call.unbounded { 0..tree.len() } else { call.group..call.group + 1 };
        for group in served {
            rounds.used(group, dealing.policy.group_usage(&tree.groups()[group].name));
        }
    }
    dealing.outcome.groups = summaries(tree, &rounds, &pool.demand);
    rounds.last_served(settings.time() as f64)
}

/// The submitters of each group; those of groups with autoregroup are also in the list of the root.
fn lists(tree: &GroupTree, submitters: &[Submitter]) -> Vec<Vec<usize>> {
    let mut lists: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
    for (who, submitter) in submitters.iter().enumerate() {
        lists[tree.of(&submitter.name)].push(who);
    }
    let again = (1..tree.len()).filter(|&group| tree.groups()[group].autoregroup);
    let again: Vec<usize> = again.flat_map(|group| lists[group].clone()).collect();
    lists[ROOT].extend(again);
    lists
}

/// The input of the deal for a call of a group.
fn terms(tree: &GroupTree, call: &Call, size: &PoolSize, first_pie: u32) -> PieInput {
    let quota = f64::from(call.whole_limit());
    let name = || tree.groups()[call.group].name.to_vec();
    PieInput {
        weight: size.weight.min(quota),
        smallest_weight: size.smallest_weight,
        group: (!call.unbounded).then(|| GroupShare { name: name(), quota }),
        first_pie,
    }
}
