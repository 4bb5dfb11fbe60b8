//! The flat groups of `HTCondor` 7, as an option.
//!
//! A group has a number of slots and nothing below it. What the quotas leave of the pool belongs to those in no group,
//! who are served last and bounded by nothing but what is left. Quotas must fit into the pool.
//! Formula source: `group-quotas.md` §11.

use super::settings::QuotaSettings;
use super::tree::{Configured, GroupTree};
use crate::config::ConfigError;

impl QuotaSettings {
    /// The same groups as version 7 understood them: static quotas only, no groups below groups, no surplus, no
    /// oversubscription, one round.
    #[must_use]
    pub fn flat(mut self) -> Self {
        self.groups.retain(|group| !group.name.contains(&b'.'));
        for group in &mut self.groups {
            group.dynamic = None;
            group.accept_surplus = Some(false);
        }
        self.accept_surplus = false;
        let rules = &mut self.rules;
        (rules.flat, rules.oversubscription, rules.rounds, rules.rate) = (true, false, 1, 1e100);
        self
    }
}

/// Whether flat quotas fit into a pool of `total` slots.
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
    Err(ConfigError::new(format!("flat group quotas sum to {sum}, more than the {total} slots of the pool"), None)
        .with_help("lower them, or divide without --flat: then they are scaled down"))
}
