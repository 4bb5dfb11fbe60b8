//! Assigns quotas to groups, from the size of the pool down.
//!
//! Formula source: `docs/reference/group-quotas.md` 3.

use super::settings::QuotaRules;
use super::tree::{Configured, GroupTree, ROOT};

/// A group's quota and how it came about.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Assigned {
    /// Quota of the group itself, in weighted slots.
    pub quota: f64,
    /// Quota of the group and all groups below it.
    pub subtree_quota: f64,
    /// The division among the groups below.
    pub division: LevelDivision,
}

/// Division of a group's subtree quota among its children.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LevelDivision {
    /// Sum of the static quotas as configured.
    pub static_sum: f64,
    /// Quota available for them: the sum, or less if they are scaled down.
    pub static_available: f64,
    /// Sum of the dynamic quotas as configured; beyond 1 they are scaled down.
    pub dynamic_sum: f64,
    /// Remainder after static quotas.
    pub dynamic_available: f64,
    /// Sum of the quotas of its children.
    pub handed_down: f64,
}

/// The quotas of all groups in a pool of `total` weighted slots.
///
/// Without oversubscription the own quotas of all groups sum to the pool.
///
/// ```
/// use classmate_config::Config;
/// use classmate_pool::internal::quota::{GroupTree, QuotaSettings, assign::assign};
/// let text = b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 20\nGROUP_QUOTA_DYNAMIC_b = 0.5";
/// let settings = QuotaSettings::read(&Config::parse("c", text).unwrap()).unwrap();
/// let quotas = assign(&GroupTree::new(&settings), &settings.rules, 30.0);
/// assert_eq!(quotas.iter().map(|q| q.quota).collect::<Vec<_>>(), [5.0, 20.0, 5.0]);
/// ```
pub fn assign(tree: &GroupTree, rules: &QuotaRules, total: f64) -> Vec<Assigned> {
    let groups = tree.groups();
    let mut assigned = vec![Assigned::default(); groups.len()];
    assigned[ROOT].subtree_quota = total.max(0.0);
    // Parents come first, so what a group has is known when it is divided.
    for (at, group) in groups.iter().enumerate() {
        let quota = assigned[at].subtree_quota;
        // Below a zero quota all quotas are zero; NaN stays NaN.
        if quota <= 0.0 || quota.is_nan() {
            assigned[at].subtree_quota = 0.0;
            continue;
        }
        let (static_sum, dynamic_sum) = tree.sums_below(group);
        let static_available = if rules.oversubscription { static_sum } else { static_sum.min(quota) };
        let dynamic_available = (quota - static_available).max(0.0);
        let mut handed_down = 0.0;
        for child in group.children.clone() {
            let share = match groups[child].configured {
                Configured::Static(quota) => {
                    quota * (static_available / if static_sum > 0.0 { static_sum } else { 1.0 })
                }
                Configured::Dynamic(fraction) => fraction * (dynamic_available / dynamic_sum.max(1.0)),
                Configured::Pool => 0.0,
            };
            let share = share.max(0.0);
            assigned[child].subtree_quota = share;
            handed_down += share;
        }
        // The root never has more than is left, or surplus would be counted twice.
        let keeps_all = rules.oversubscription && at != ROOT;
        assigned[at].quota = if keeps_all { quota } else { (quota - handed_down).max(0.0) };
        assigned[at].division =
            LevelDivision { static_sum, static_available, dynamic_sum, dynamic_available, handed_down };
    }
    assigned
}
