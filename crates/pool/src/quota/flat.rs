//! The flat groups of `HTCondor` 7, as an option.
//!
//! A group has a number of slots and nothing below it. What the quotas leave of the pool belongs to those in no group,
//! who are served last and bounded by nothing but what is left. Quotas must fit into the pool.
//! Formula source: `docs/reference/group-quotas.md` 11.

use super::check;
use super::settings::QuotaSettings;
use super::tree::{Configured, GroupTree};
use classmate_config::internal::config::{ConfigError, Diagnostic};

impl QuotaSettings {
    /// The same groups as version 7 understood them: static quotas only, no groups below groups, no surplus, no
    /// oversubscription, one round.
    #[must_use]
    pub fn flat(mut self) -> Self {
        let (flat, below): (Vec<_>, Vec<_>) = self.groups.into_iter().partition(|group| !group.name.contains(&b'.'));
        self.groups = flat;
        self.warnings.extend(below.iter().map(check::no_flat_group));
        for group in &mut self.groups {
            if group.dynamic.take().is_some() {
                self.warnings.push(check::no_flat_quota(group));
            }
            group.accept_surplus = Some(false);
        }
        self.accept_surplus = false;
        let rules = &mut self.rules;
        (rules.flat, rules.oversubscription, rules.rounds, rules.rate) = (true, false, 1, 1e100);
        self
    }
}

/// Returns whether flat quotas fit into a pool of `total` slots.
///
/// # Errors
/// They do not: version 7 did not scale them.
pub fn fits(tree: &GroupTree, total: f64) -> Result<(), ConfigError> {
    let quotas = tree.groups().iter().map(|group| match group.configured {
        Configured::Static(quota) => quota,
        _ => 0.0,
    });
    let sum: f64 = quotas.sum();
    if sum <= total {
        return Ok(());
    }
    Err(Diagnostic::without_place(format!("flat group quotas sum to {sum}, more than the {total} slots of the pool"))
        .help("lower them, or omit --flat to scale them down"))
}

#[cfg(test)]
mod tests {
    use crate::quota::{GroupTree, QuotaPool, QuotaSettings, Rounds};
    use classmate::internal::eval::scope::EvalOptions;
    use classmate_config::internal::config::Config;

    fn flat(config: &str) -> (QuotaSettings, GroupTree) {
        let config = Config::parse("c", format!("{config}\nCLASSMATE_FLAT_GROUPS = true").as_bytes()).unwrap();
        let settings = QuotaSettings::read(&config).unwrap();
        let tree = GroupTree::new(&settings);
        (settings, tree)
    }

    /// The example of the 7.x manual: physics 20 with 15 in use, chemistry 10 with 5, of 30.
    #[test]
    fn the_emptier_group_goes_first_and_those_in_none_get_all_that_is_left() {
        let (settings, tree) = flat(
            "GROUP_NAMES = group_physics, group_chemistry\nGROUP_QUOTA_group_physics = 20\n\
                                     GROUP_QUOTA_group_chemistry = 10",
        );
        let pool = QuotaPool {
            total: 30.0,
            demand: vec![9.0, 100.0, 100.0],
            usage: vec![0.0, 5.0, 15.0],
            ..QuotaPool::default()
        };
        let mut rounds = Rounds::new(&tree, &settings.rules, &pool, EvalOptions::default());
        let mut calls = Vec::new();
        while let Some(call) = rounds.next(|_| true) {
            calls.push((tree.display(call.group), call.whole_limit()));
            rounds.used(call.group, f64::from(call.whole_limit()));
        }
        let expected = [("group_chemistry", 10), ("group_physics", 20), ("<none>", 30)];
        assert_eq!(calls, expected.map(|(name, limit)| (name.to_owned(), limit)));
    }

    #[test]
    fn what_version_7_did_not_have_is_left_out_and_said() {
        let (settings, tree) = flat(
            "GROUP_NAMES = a, a.x, b\nGROUP_QUOTA_a = 5\nGROUP_QUOTA_DYNAMIC_b = 0.5\n\
                                     GROUP_ACCEPT_SURPLUS = true",
        );
        assert_eq!((tree.len(), tree.any_accepts_surplus), (3, false));
        assert!(!settings.rules.oversubscription);
        let warnings: Vec<String> = tree.warnings().iter().map(classmate::Diagnostic::to_line).collect();
        assert_eq!(
            warnings,
            [
                "c:1:1: group `a.x` is ignored: flat groups do not have subgroups",
                "c:1:1: `GROUP_QUOTA_DYNAMIC_b` has no effect: flat groups have static quotas",
                "c:1:1: group `b` has neither GROUP_QUOTA nor GROUP_QUOTA_DYNAMIC: its quota is 0",
            ]
        );
    }

    #[test]
    fn flat_quotas_beyond_the_pool_are_refused() {
        let (_, tree) = flat("GROUP_NAMES = a, b\nGROUP_QUOTA_a = 20\nGROUP_QUOTA_b = 11");
        assert!(super::fits(&tree, 31.0).is_ok());
        let error = super::fits(&tree, 30.0).unwrap_err();
        assert_eq!(error.message, "flat group quotas sum to 31, more than the 30 slots of the pool");
    }
}
