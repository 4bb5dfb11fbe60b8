//! A goal for the use of a pool: `physics >= 90% of quota`, `alice@example.org >= 25% of pool`.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A bound on the usage of a group or a submitter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Goal {
    /// The group, or the submitter if it contains `@`.
    pub target: String,
    /// True for a lower bound.
    pub at_least: bool,
    /// The bound, as a fraction of `of`.
    pub fraction: f64,
    /// The amount that the bound is a fraction of.
    pub of: GoalBase,
}

/// The amount that a goal is a fraction of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalBase {
    /// The quota of the group and of those below it, as it is before any change.
    Quota,
    /// The weight of the pool.
    Pool,
}

/// A text that is not a goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalError(String);

impl fmt::Display for GoalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = "expected NAME >= PERCENT% of quota|pool, such as `physics >= 90% of quota`";
        write!(out, "`{}` is not a goal: {expected}", self.0)
    }
}

impl std::error::Error for GoalError {}

impl Goal {
    /// True for a submitter, false for a group.
    pub fn is_submitter(&self) -> bool {
        self.target.contains('@')
    }
}

impl FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Self, GoalError> {
        let parsed = || {
            let (at, sign) = [">=", "<="].into_iter().find_map(|sign| Some((text.find(sign)?, sign)))?;
            let (target, bound) = (text[..at].trim(), text[at + sign.len()..].trim());
            let (percent, base) = bound.split_once('%')?;
            let of = match base.split_whitespace().collect::<Vec<_>>()[..] {
                ["of", "quota"] => GoalBase::Quota,
                ["of", "pool"] => GoalBase::Pool,
                _ => return None,
            };
            let fraction = percent.trim().parse::<f64>().ok().filter(|part| (0.0..=100_000.0).contains(part))? / 100.0;
            let goal = Goal { target: target.to_owned(), at_least: sign == ">=", fraction, of };
            let is_wrong = target.is_empty() || goal.is_submitter() && of == GoalBase::Quota;
            (!is_wrong).then_some(goal)
        };
        parsed().ok_or_else(|| GoalError(text.to_owned()))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.at_least { ">=" } else { "<=" };
        let of = if self.of == GoalBase::Quota { "quota" } else { "pool" };
        // Without the digits that come from the division by 100.
        let percent = (self.fraction * 1e8).round() / 1e6;
        write!(out, "{} {sign} {percent}% of {of}", self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read_and_written() {
        let goal: Goal = "physics.hep >= 90% of quota".parse().unwrap();
        assert_eq!(
            (goal.target.as_str(), goal.at_least, goal.fraction, goal.of),
            ("physics.hep", true, 0.9, GoalBase::Quota)
        );
        assert_eq!(goal.to_string(), "physics.hep >= 90% of quota");
        assert!("a@x<=2.5 % of pool".parse::<Goal>().is_ok_and(|goal| !goal.at_least && goal.is_submitter()));
        for wrong in ["", "x", "x >= 5", "x >= 5% of it", ">= 5% of pool", "a@x >= 5% of quota", "x >= -1% of pool"] {
            assert!(wrong.parse::<Goal>().is_err(), "{wrong}");
        }
    }
}
