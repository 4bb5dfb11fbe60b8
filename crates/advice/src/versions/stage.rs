//! Stages between two versions, at which some of the rules that differ have changed and others have not.

use super::VersionReading;
use classmate::Semantics;
use classmate::internal::semantics::VersionRule;

/// A version without some of the rules that changed in it or before.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stage {
    pub(super) semantics: Semantics,
    without: Vec<VersionRule>,
}

impl Stage {
    /// A version as it is.
    pub(super) fn of(semantics: Semantics) -> Self {
        Stage { semantics, without: Vec::new() }
    }

    /// The first version in which the changed ones of some rules have changed; `ends` are the versions before and after all.
    fn after(changed: &[VersionRule], rules: &[VersionRule], ends: [Semantics; 2]) -> Self {
        let since = changed.iter().map(|rule| rule.change().since).max();
        let Some(since) = since.filter(|_| changed.len() < rules.len()) else {
            return Stage::of(ends[usize::from(!changed.is_empty())]);
        };
        let is_early = |rule: &&VersionRule| !changed.contains(rule) && rule.change().since <= since;
        let without: Vec<VersionRule> = rules.iter().filter(is_early).copied().collect();
        let semantics = without.iter().fold(Semantics::of(since), |all, rule| all.with(*rule, ends[0]));
        Stage { semantics, without }
    }

    /// Makes a reading one at this stage.
    pub(super) fn name(&self, reading: &mut VersionReading) {
        reading.series = self.semantics.to_string();
        reading.without = self.without.iter().map(|rule| rule.change().name).collect();
    }
}

/// The stages from one version to the other, each behind the rule that changes before it, and the last of them. Rules change in the
/// order of their releases, except that those that make the text unreadable come last.
pub(super) fn steps(
    rules: &[VersionRule],
    versions: [Semantics; 2],
    is_readable: impl Fn(Semantics) -> bool,
) -> (Vec<(VersionRule, Stage)>, Stage) {
    let is_back = versions[1].series() < versions[0].series();
    let mut ends = versions;
    let mut waiting = rules.to_vec();
    waiting.sort_by_key(|rule| rule.change().since);
    let mut changed = Vec::new();
    if is_back {
        ends.reverse();
        waiting.reverse();
        changed.clone_from(&waiting);
    }
    let mut found = Vec::new();
    while !waiting.is_empty() {
        let next = |rule: VersionRule| {
            let mut next = changed.clone();
            if is_back {
                next.retain(|other| *other != rule);
            } else {
                next.push(rule);
            }
            next
        };
        let stage = |rule: VersionRule| Stage::after(&next(rule), rules, ends);
        let at = waiting.iter().position(|rule| is_readable(stage(*rule).semantics)).unwrap_or(0);
        let rule = waiting.remove(at);
        found.push((rule, stage(rule)));
        changed = next(rule);
    }
    (found, Stage::of(versions[1]))
}
