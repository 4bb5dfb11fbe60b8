//! The priority factor of a name that has none stored.
//!
//! In: a submitter's (or group's) name and its group. Out: the factor. Formula source: `docs/reference/accountant.md` 3.

use classmate_config::internal::config::knobs::AccountantKnobs;

/// The smallest factor there is.
const MIN_FACTOR: f64 = 1.0;

/// Default factors, from the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRules(AccountantKnobs);

impl FactorRules {
    /// The rules a configuration sets.
    pub fn new(knobs: &AccountantKnobs) -> Self {
        Self(knobs.clone())
    }

    /// The factor of a name of this group if none was set: that of nice users, the group's own, that of remote users,
    /// or the default; at least 1.
    pub fn default_factor(&self, name: &[u8], group: &[u8]) -> f64 {
        self.chosen(name, group).max(MIN_FACTOR)
    }

    /// The default factor of a name of this group if it is less than 1: `condor_negotiator` raises it when it stores it, but
    /// uses it as it is that time.
    pub fn too_small(&self, name: &[u8], group: &[u8]) -> Option<f64> {
        Some(self.chosen(name, group)).filter(|factor| *factor < MIN_FACTOR)
    }

    /// A stored factor if it counts (at least 1).
    pub fn stored(factor: Option<f64>) -> Option<f64> {
        factor.filter(|factor| *factor >= MIN_FACTOR)
    }

    fn chosen(&self, name: &[u8], group: &[u8]) -> f64 {
        if name.starts_with(b"nice-user") {
            return self.0.nice_user_factor;
        }
        // The exact group only: ancestors are not consulted.
        if let Some((_, factor)) = self.0.group_factors.iter().find(|(known, _)| known.eq_ignore_ascii_case(group)) {
            return *factor;
        }
        match &self.0.local_domain {
            Some(local) if local != domain(name) => self.0.remote_factor,
            _ => self.0.default_factor,
        }
    }
}

/// The part of a name after the last `@`; empty without one.
fn domain(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'@', name).map_or(b"", |at| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    fn rules(config: &str) -> FactorRules {
        let config = Config::parse("c", config.as_bytes()).unwrap();
        FactorRules::new(&NegotiatorKnobs::read(&config).unwrap().accountant)
    }

    #[test]
    fn everybody_is_local_without_a_local_domain() {
        assert_eq!(rules("").default_factor(b"alice@x", b"<none>"), 1000.0);
    }

    #[test]
    fn rules_apply_in_order() {
        let rules = rules("ACCOUNTANT_LOCAL_DOMAIN = x\nGROUP_PRIO_FACTOR_group_a = 7");
        assert_eq!(rules.default_factor(b"nice-user.bob@y", b"group_a"), 1e10);
        assert_eq!(rules.default_factor(b"group_a.bob@y", b"Group_A"), 7.0);
        assert_eq!(rules.default_factor(b"bob@y", b"<none>"), 1e7);
        assert_eq!(rules.default_factor(b"bob@X", b"<none>"), 1e7);
        assert_eq!(rules.default_factor(b"a@y@x", b"<none>"), 1000.0);
        // A group's own record has no domain.
        assert_eq!(rules.default_factor(b"group_b", b"group_b"), 1e7);
    }

    #[test]
    fn factors_below_one_are_raised() {
        assert_eq!(rules("DEFAULT_PRIO_FACTOR = 0.1").default_factor(b"a@x", b"<none>"), 1.0);
        assert_eq!(FactorRules::stored(Some(0.9)), None);
        assert_eq!(FactorRules::stored(Some(1.0)), Some(1.0));
    }
}
