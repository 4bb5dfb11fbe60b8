//! Which submitters belong to which group, from the names of the groups alone.
//!
//! Formula source: `group-quotas.md` §2.1, §2.2.

use hashbrown::HashMap;

use super::{GroupOf, ROOT_GROUP};

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
    /// use classmate::accountant::{GroupOf, groups::GroupNames};
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
        // Breadth first: what is shorter in components comes first, otherwise as sorted.
        groups.names.sort_by_key(|name| memchr::memchr_iter(b'.', name).count());
        for (at, name) in groups.names.iter().enumerate() {
            groups.folded.insert(name.to_ascii_lowercase(), at);
        }
        groups
    }

    /// The names, breadth first.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(Vec::as_slice)
    }

    /// Whether this is the name of a group, the root included.
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

    /// Example 19 of the quota description: `b` is a duplicate of `B`, `a.b` has no parent.
    #[test]
    fn duplicates_and_orphans_are_no_groups() {
        let groups = groups(&["B", "b", "a.b", "B.z", "C", "<none>"]);
        let names: Vec<&[u8]> = groups.iter().collect();
        assert_eq!(names, [b"B".as_slice(), b"C", b"B.z"]);
    }
}
