//! Knobs of single groups, and the groups they are of.

use super::super::knob::{self, Knob};
use super::super::reference::is_name_byte;
use super::super::setting::list_items;
use super::super::{Definition, shown};
use super::Checker;
use classmate::internal::builtin::near;
use classmate::internal::diagnostic::Severity;

/// Prefixes of the knobs of single groups, longer before shorter.
const OF_GROUPS: [&str; 5] =
    ["GROUP_QUOTA_DYNAMIC_", "GROUP_QUOTA_", "GROUP_ACCEPT_SURPLUS_", "GROUP_AUTOREGROUP_", "GROUP_PRIO_FACTOR_"];

/// Groups whose names are compared with those of groups that are not declared, for all of these together.
const MAX_COMPARED_GROUPS: usize = 1_000_000;

/// A part of a name without the sign in front of it.
fn separated(rest: &[u8]) -> Option<&[u8]> {
    rest.strip_prefix(b"_").or_else(|| rest.strip_prefix(b"."))
}

impl Checker<'_> {
    /// Returns true if a name of a family is of a group that there is.
    pub(super) fn is_member(&self, knob: &Knob, name: &[u8]) -> bool {
        let group = knob.name.ends_with("<group>").then(|| knob::member(knob, name)).flatten();
        group.is_some_and(|group| self.groups.contains_key(&group.to_ascii_uppercase()))
    }

    /// Reports a knob of a group that does not exist.
    pub(super) fn member(&mut self, knob: &Knob, name: &[u8], definition: &Definition<'_>) {
        let Some(member) = knob.name.ends_with("<group>").then(|| knob::member(knob, name)).flatten() else { return };
        let is_declared = self.groups.contains_key(&member.to_ascii_uppercase());
        let plain = knob::all().filter(|knob| !knob.is_family() && knob.name.starts_with("GROUP_QUOTA_"));
        if let Some(meant) = near::closest_within(1, name, plain.map(|knob| knob.name)).filter(|_| !is_declared) {
            let message = format!("`{}` is not a negotiator configuration variable", shown(name));
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
            return;
        }
        if !self.groups_known || self.groups.contains_key(&member.to_ascii_uppercase()) {
            return;
        }
        if let Some(meant) = self.of_declared_group(name) {
            let message = format!("`{}` is not a negotiator configuration variable", shown(name));
            self.found.push(definition.name_warning(message).code("unknown-knob").did_you_mean(Some(meant)));
            return;
        }
        let message = format!("`{}` has no effect: group `{}` is not in GROUP_NAMES", shown(name), shown(member));
        // In a configuration of many groups and more that are not declared, those after the first have no suggestion.
        self.compared_groups += self.groups.len();
        let known = self.groups.keys().filter(|_| self.compared_groups <= MAX_COMPARED_GROUPS);
        let nearest = near::closest(member, known).and_then(|near| self.spelt(near));
        let warning = definition.name_warning(message).code("undeclared-group");
        self.found.push(match nearest {
            Some(nearest) => warning.did_you_mean(Some(nearest)),
            None => warning.help(format!("declare it: `GROUP_NAMES = $(GROUP_NAMES), {}`", shown(member))),
        });
    }

    /// A group as it is declared.
    fn spelt(&self, group: &[u8]) -> Option<String> {
        self.groups.get(&group.to_ascii_uppercase()).map(|known| shown(known))
    }

    /// The knob of a group that a name with a dot means, `GROUP_ACCEPT_SURPLUS.a`: the negotiator looks for the one with an underscore
    /// (HTCondor's `GroupEntry.cpp`).
    pub(super) fn with_dot(&self, name: &[u8]) -> Option<String> {
        let upper = name.to_ascii_uppercase();
        let dotted = OF_GROUPS.into_iter().find_map(|prefix| {
            let front = prefix.strip_suffix('_')?;
            let group = upper.strip_prefix(front.as_bytes())?.strip_prefix(b".")?;
            Some(format!("{prefix}{}", shown(&name[name.len() - group.len()..])))
        });
        self.without_underscore(name).or(dotted)
    }

    /// The knob of a declared group that a name is but for its underscores: `GROUPQUOTA_a`, `GROUP_QUOTA_DYNAMICa`.
    fn without_underscore(&self, name: &[u8]) -> Option<String> {
        let upper = name.to_ascii_uppercase();
        OF_GROUPS.iter().find_map(|prefix| {
            // After the letters of the prefix, with or without its underscores, comes a group.
            let mut rest = upper.as_slice();
            for letter in prefix.bytes().filter(|byte| *byte != b'_') {
                rest = separated(rest).unwrap_or(rest).strip_prefix(&[letter])?;
            }
            let group = self.spelt(rest).or_else(|| self.spelt(separated(rest)?))?;
            Some(format!("{prefix}{group}"))
        })
    }

    /// The knob of a declared group that a name may have meant: the underscores are missing, or the part before the
    /// group is misspelled or in another order (`GROUP_QUOTAS_a`, `GROUP_DYNAMIC_QUOTA_a`).
    pub(super) fn of_declared_group(&self, name: &[u8]) -> Option<String> {
        self.without_underscore(name).or_else(|| self.misspelled(name))
    }

    fn misspelled(&self, name: &[u8]) -> Option<String> {
        let upper = name.to_ascii_uppercase();
        let words = |text: &[u8]| {
            let mut words: Vec<Vec<u8>> = text.split(|byte| *byte == b'_').map(<[u8]>::to_vec).collect();
            words.sort_unstable();
            words
        };
        // The longest group that the name ends with: a group `a_b` rather than `b`.
        let ends = memchr::memchr_iter(b'_', &upper).filter(|at| *at > 0);
        let group = ends.map(|at| &upper[at + 1..]).find(|group| self.groups.contains_key(*group))?;
        let front = &upper[..upper.len() - group.len()];
        let turned = OF_GROUPS.into_iter().find(|prefix| words(prefix.as_bytes()) == words(front));
        let prefix = turned.or_else(|| near::closest(front, OF_GROUPS))?;
        Some(format!("{prefix}{}", self.spelt(group)?))
    }

    /// Group names that cannot have knobs of their own.
    pub(super) fn group_names(&mut self, text: &[u8], definition: &Definition<'_>) {
        for name in list_items(text) {
            if name.contains(&b';') {
                let message = format!("`{}` is one name: `;` does not separate", shown(&name));
                let warning = definition.value_problem(Severity::Warning, message).code("bad-value");
                self.found.push(warning.help("separate groups with commas"));
            } else if !name.iter().copied().all(is_name_byte) {
                let message = format!("the group `{}` cannot have a quota", shown(&name));
                let warning = definition.value_problem(Severity::Warning, message).code("bad-value");
                self.found.push(
                    warning.help("names of configuration variables can contain only letters, digits, `_`, `.` and `/`"),
                );
            }
        }
    }
}
