//! Membership of submitters in groups, from the names of the groups alone.
//!
//! Formula source: `docs/reference/group-quotas.md` 2.1, 2.2.

use hashbrown::HashMap;

use super::report::GroupReport;
use super::{GroupOf, ROOT_GROUP};
use classmate_config::internal::config::{Config, ConfigError};

/// The names of the configured groups.
#[derive(Debug, Clone, Default)]
pub struct GroupNames {
    names: Vec<Vec<u8>>,
    folded: HashMap<Vec<u8>, usize>,
}

impl GroupNames {
    /// Groups by their names, in any order; names without their parent are left out, and so are duplicates.
    ///
    /// ```
    /// use classmate_pool::internal::accountant::{GroupOf, groups::GroupNames};
    /// let groups = GroupNames::new([b"physics".to_vec(), b"physics.hep".to_vec()]);
    /// assert_eq!(groups.group_of(b"physics.hep.eve@x"), b"physics.hep");
    /// assert_eq!(groups.group_of(b"physics.other.eve@x"), b"physics");
    /// assert_eq!(groups.group_of(b"physics@x"), b"<none>");
    /// ```
    pub fn new(names: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut sorted: Vec<Vec<u8>> =
            names.into_iter().filter(|name| !name.is_empty() && name != ROOT_GROUP).collect();
        sorted.sort_by_key(|name| name.to_ascii_lowercase());
        let mut groups = Self::default();
        for name in sorted {
            let folded = name.to_ascii_lowercase();
            let parent = memchr::memrchr(b'.', &folded).map(|dot| &folded[..dot]);
            let orphan = parent.is_some_and(|parent| !groups.folded.contains_key(parent));
            if !orphan && !groups.folded.contains_key(&folded) {
                groups.folded.insert(folded, groups.names.len());
                groups.names.push(name);
            }
        }
        // Breadth first: names with fewer components come first, then in sorted order.
        groups.names.sort_by_key(|name| memchr::memchr_iter(b'.', name).count());
        for (at, name) in groups.names.iter().enumerate() {
            groups.folded.insert(name.to_ascii_lowercase(), at);
        }
        groups
    }

    /// The groups that a configuration names: `GROUP_NAMES`.
    ///
    /// # Errors
    /// A setting that cannot be expanded.
    pub fn configured(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self::new(config.list("GROUP_NAMES")?))
    }

    /// The names, breadth first.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Vec::as_slice)
    }

    /// Returns whether this is the name of a group, including the root.
    pub fn contains(&self, name: &[u8]) -> bool {
        name == ROOT_GROUP || self.folded.contains_key(&name.to_ascii_lowercase())
    }
}

impl GroupOf for GroupNames {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        let Some(at) = memchr::memrchr(b'@', name) else {
            return self.folded.get(&name.to_ascii_lowercase()).map_or(ROOT_GROUP, |&at| &self.names[at]);
        };
        let mut path = name[..at].to_ascii_lowercase();
        // Parents of a group are groups: the longest path that exists is the deepest node.
        while let Some(dot) = memchr::memrchr(b'.', &path) {
            path.truncate(dot);
            if let Some(&at) = self.folded.get(&path) {
                return &self.names[at];
            }
        }
        ROOT_GROUP
    }
}

/// The configured quota of a group, before any computation.
///
/// # Errors
/// A setting that is not a number or not a truth value.
pub fn configured_share(config: &Config, groups: &GroupNames, name: &[u8]) -> Result<GroupReport, ConfigError> {
    let accepts = config.boolean("GROUP_ACCEPT_SURPLUS", false)?;
    let regroups = config.boolean("GROUP_AUTOREGROUP", false)?;
    // Names of the configuration language are ASCII.
    let of = |knob: &str, group: &[u8]| format!("{knob}_{}", String::from_utf8_lossy(group));
    let blank =
        GroupReport { effective: None, configured: 0.0, subtree: None, sort_key: None, surplus: "no", requested: None };
    if name == ROOT_GROUP {
        let mut regroup = regroups;
        for group in groups.iter() {
            regroup |= config.boolean(&of("GROUP_AUTOREGROUP", group), regroups)?;
        }
        return Ok(GroupReport { surplus: if regroup { "regroup" } else { "byquota" }, ..blank });
    }
    let fixed = config.real(&of("GROUP_QUOTA", name), -1.0, f64::MIN, f64::MAX)?;
    let configured =
        if fixed >= 0.0 { fixed } else { config.real(&of("GROUP_QUOTA_DYNAMIC", name), 0.0, f64::MIN, f64::MAX)? };
    let surplus = if config.boolean(&of("GROUP_AUTOREGROUP", name), regroups)? {
        "regroup"
    } else if config.boolean(&of("GROUP_ACCEPT_SURPLUS", name), accepts)? {
        "byquota"
    } else {
        "no"
    };
    Ok(GroupReport { configured, surplus, ..blank })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> GroupNames {
        GroupNames::new(names.iter().map(|name| name.as_bytes().to_vec()))
    }

    #[test]
    fn a_submitter_is_in_the_deepest_group_of_its_path() {
        let groups = groups(&["group_physics", "group_physics.hep", "Group_Bio"]);
        let cases: [(&[u8], &[u8]); 9] = [
            (b"group_physics.alice@x", b"group_physics"),
            (b"group_physics.hep.alice@x", b"group_physics.hep"),
            (b"group_physics.unknown.bob@d", b"group_physics"),
            (b"nosuch.bob@d", b"<none>"),
            (b"john.doe@d", b"<none>"),
            (b"group_physics.john.doe@d", b"group_physics"),
            (b"group_physics@d", b"<none>"),
            (b"GROUP_BIO.eve@d", b"Group_Bio"),
            (b"group_bio", b"Group_Bio"),
        ];
        for (name, group) in cases {
            assert_eq!(groups.group_of(name), group, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn the_settings_say_quota_and_surplus() {
        let text =
            b"GROUP_NAMES = a, b\nGROUP_QUOTA_a = 10\nGROUP_QUOTA_DYNAMIC_b = 0.25\nGROUP_ACCEPT_SURPLUS_b = true\n";
        let config = Config::parse("c", text).unwrap();
        let groups = GroupNames::configured(&config).unwrap();
        let share = |name: &[u8]| configured_share(&config, &groups, name).map(|s| (s.configured, s.surplus)).unwrap();
        assert_eq!((share(b"a"), share(b"b"), share(b"<none>")), ((10.0, "no"), (0.25, "byquota"), (0.0, "byquota")));
    }

    /// Example 19 of the quota description: `b` is a duplicate of `B`, `a.b` has no parent.
    #[test]
    fn duplicates_and_orphans_are_no_groups() {
        let groups = groups(&["B", "b", "a.b", "B.z", "C", "<none>"]);
        let names: Vec<&[u8]> = groups.iter().collect();
        assert_eq!(names, [b"B".as_slice(), b"C", b"B.z"]);
    }
}
