//! Quotas from the top down: what is a group's own, and what is its subtree's.
//!
//! Formula source: `group-quotas.md` §3.

use super::tree::{GroupTree, Share};

/// The quota of a group, in weighted slots.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quota {
    /// What the group itself may use.
    pub own: f64,
    /// What it and the groups below it may use.
    pub subtree: f64,
}

/// Deals `pool` weighted slots to the groups, breadth first.
///
/// Static groups come before dynamic ones. With `oversubscribe` what is configured is never scaled down, and a group's
/// own quota is all of its subtree's; otherwise own quotas sum to the pool.
pub fn assign(tree: &GroupTree, pool: f64, oversubscribe: bool) -> Vec<Quota> {
    let nodes = tree.nodes();
    let mut quotas = vec![Quota::default(); nodes.len()];
    let mut due = vec![0.0; nodes.len()];
    due[0] = pool;
    for (at, node) in nodes.iter().enumerate() {
        let quota: f64 = due[at];
        // Nothing is due below a group that is due nothing; NaN neither.
        if quota.is_nan() || quota <= 0.0 {
            continue;
        }
        let (mut fixed, mut fractions) = (0.0, 0.0);
        for &child in &node.children {
            match nodes[child].group.share {
                Some(Share::Static(slots)) => fixed += slots,
                Some(Share::Dynamic(fraction)) => fractions += fraction,
                None => {}
            }
        }
        let for_static = if oversubscribe { fixed } else { f64::min(fixed, quota) };
        let for_dynamic = f64::max(quota - for_static, 0.0);
        let mut dealt = 0.0;
        for &child in &node.children {
            let due_of_child = match nodes[child].group.share {
                Some(Share::Static(slots)) => slots * (for_static / if fixed > 0.0 { fixed } else { 1.0 }),
                Some(Share::Dynamic(fraction)) => fraction * (for_dynamic / f64::max(fractions, 1.0)),
                None => 0.0,
            };
            due[child] = f64::max(due_of_child, 0.0);
            dealt += due[child];
        }
        let own = if oversubscribe && at != 0 { quota } else { quota - dealt };
        quotas[at] = Quota { own: f64::max(own, 0.0), subtree: quota };
    }
    quotas
}
