//! The group allocations in the first round of a cycle, computed without running it.

use serde::Serialize;

use crate::negotiate::rules::Rules;
use crate::pool::PoolSize;
use crate::priority::PriorityPolicy;
use crate::queue::Submitter;
use crate::quota::derivation::QuotaDerivation;
use crate::quota::summary::{GroupSummary, summaries};
use crate::quota::{GroupTree, ROOT, Rounds};
use classmate::internal::eval::scope::EvalOptions;

/// The division of a pool among its groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Division {
    /// The size of the pool that is divided: slot weight, or without weights the number of slots.
    pub pool: f64,
    /// True if slots count by weight; otherwise each slot counts 1, and a partitionable slot the number of its cores.
    pub weighted: bool,
    /// The quota that no group requested, in the unit of `pool`.
    pub surplus: f64,
    /// The groups in the order in which they are negotiated with.
    pub order: Vec<String>,
    /// The groups, each followed by the groups below it.
    pub groups: Vec<ExplainedGroup>,
    /// Warnings about the group settings.
    pub warnings: Vec<String>,
}

/// A group and the derivation of its allocation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedGroup {
    /// Its numbers.
    #[serde(flatten)]
    pub summary: GroupSummary,
    /// Number of groups above it: 0 for the root.
    pub depth: usize,
    /// Its place in the order of negotiation, from 1.
    pub place: usize,
    /// The reason it was not allocated more (or less), as a clause.
    pub why: String,
    /// The derivation of its quota and allocation, a sentence per line.
    pub story: Vec<String>,
}

/// Divides a pool of a known size, which the quotas fit, among its groups.
///
/// ```
/// use classmate::ClassAd;
/// use classmate_config::Config;
/// use classmate_pool::{PreparedPool, Snapshot};
/// let slot = ClassAd::parse(b"[Name = \"slot1@m\"; Cpus = 8]")?;
/// let config = Config::parse("c", b"GROUP_NAMES = a\nGROUP_QUOTA_DYNAMIC_a = 0.75").unwrap();
/// let snapshot = Snapshot { slots: vec![slot], config, ..Snapshot::default() };
/// let division = PreparedPool::new(&snapshot).unwrap().division();
/// assert_eq!((division.groups[0].summary.quota, division.groups[1].summary.quota), (2.0, 6.0));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub(super) fn divided(
    rules: &Rules,
    size: &PoolSize,
    submitters: &[Submitter],
    policy: &dyn PriorityPolicy,
    settings: EvalOptions,
) -> Division {
    let groups = &rules.groups;
    let pool = groups.pool(size, submitters, policy);
    let (tree, quota_rules) = (&*groups.tree, &groups.rules);
    let mut rounds = Rounds::new(tree, quota_rules, &pool, settings);
    let round = rounds.divide();
    let order = round.order.iter().map(|&group| tree.display(group)).collect();
    let surplus = round.surplus;
    let story = QuotaDerivation::new(tree, quota_rules, &rounds);
    let mut summaries: Vec<Option<GroupSummary>> =
        summaries(tree, &rounds, &pool.demand).into_iter().map(Some).collect();
    let explained = |(group, depth): (usize, usize)| {
        let summary = summaries.get_mut(group)?.take()?;
        Some(ExplainedGroup {
            summary,
            depth,
            place: story.place(group),
            why: story.brief(group),
            story: story.lines(group),
        })
    };
    Division {
        pool: pool.total,
        weighted: quota_rules.weighted,
        surplus,
        order,
        groups: depth_first(tree).into_iter().filter_map(explained).collect(),
        warnings: groups.odd.clone(),
    }
}

/// The groups, each followed by the groups below it, with their depths.
fn depth_first(tree: &GroupTree) -> Vec<(usize, usize)> {
    let mut found = Vec::with_capacity(tree.len());
    let mut pending = vec![(ROOT, 0)];
    while let Some((group, depth)) = pending.pop() {
        found.push((group, depth));
        pending.extend(tree.groups()[group].children.clone().rev().map(|child| (child, depth + 1)));
    }
    found
}
