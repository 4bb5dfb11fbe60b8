//! The tree of groups, and which group a submitter belongs to.
//!
//! Formula source: `group-quotas.md` §2.1, §2.2.

use hashbrown::HashMap;

use crate::accountant::{GroupOf, ROOT_GROUP};

/// What a group is due of its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// So many weighted slots.
    Static(f64),
    /// Such a fraction of what the static groups beside it leave.
    Dynamic(f64),
}

impl Share {
    /// The number as configured.
    pub fn configured(self) -> f64 {
        match self {
            Share::Static(number) | Share::Dynamic(number) => number,
        }
    }
}

/// A group as configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its full name, as it is spelled in `GROUP_NAMES`.
    pub name: Vec<u8>,
    /// What it is due; none was configured: nothing.
    pub share: Option<Share>,
    /// Whether it takes what others leave.
    pub accepts_surplus: bool,
    /// Whether its members are negotiated for once more together with everybody else.
    pub autoregroup: bool,
}

/// A group in the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// As configured.
    pub group: Group,
    /// The group above; none above the root.
    pub parent: Option<usize>,
    /// The groups below, by name.
    pub children: Vec<usize>,
}

/// What holds for groups that do not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defaults {
    /// `GROUP_ACCEPT_SURPLUS`.
    pub accepts_surplus: bool,
    /// `GROUP_AUTOREGROUP`.
    pub autoregroup: bool,
}

/// The groups, breadth first: the root, which everybody in no group belongs to, is the first.
#[derive(Debug, Clone)]
pub struct GroupTree {
    nodes: Vec<Node>,
    anybody_accepts: bool,
    /// Names in lower case.
    index: HashMap<Vec<u8>, usize>,
}

/// Why a group is not in the tree, or has no quota.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    /// The name of the root.
    #[error("`<none>` is the root of all groups and cannot be named")]
    Root,
    /// A name with an empty part.
    #[error("`{0}` is no name of a group: expected parts of at least one character between the dots")]
    Nameless(String),
    /// The group above it is not named.
    #[error("the group `{0}` is left out: the group `{1}` above it is not named")]
    Orphan(String, String),
    /// It is named twice.
    #[error("the group `{0}` is named twice")]
    Twice(String),
    /// Neither a static nor a dynamic quota.
    #[error("the group `{0}` has no quota: it is 0")]
    NoQuota(String),
}

impl GroupTree {
    /// The tree of groups given in any order, and what is odd about them.
    ///
    /// ```
    /// use classmate::quota::{Defaults, Group, GroupTree, Share};
    /// let group = |name: &str| Group {
    ///     name: name.into(), share: Some(Share::Static(5.0)), accepts_surplus: false, autoregroup: false,
    /// };
    /// let (tree, odd) = GroupTree::new([group("b"), group("a"), group("a.x"), group("c.y")], Defaults::default());
    /// let names: Vec<_> = tree.names().collect();
    /// assert_eq!(names, [b"<none>".as_slice(), b"a", b"b", b"a.x"]);
    /// assert_eq!(odd[0].to_string(), "the group `c.y` is left out: the group `c` above it is not named");
    /// ```
    pub fn new(groups: impl IntoIterator<Item = Group>, defaults: Defaults) -> (Self, Vec<Oddity>) {
        let mut sorted: Vec<Group> = groups.into_iter().collect();
        sorted.sort_by_key(|group| group.name.to_ascii_lowercase());
        let mut odd = Vec::new();
        let mut parents: HashMap<Vec<u8>, Option<Vec<u8>>> = HashMap::new();
        let mut kept = Vec::new();
        for group in sorted {
            let shown = || String::from_utf8_lossy(&group.name).into_owned();
            let folded = group.name.to_ascii_lowercase();
            let parent = memchr::memrchr(b'.', &folded).map(|dot| folded[..dot].to_vec());
            if group.name == ROOT_GROUP {
                odd.push(Oddity::Root);
            } else if folded.split(|&b| b == b'.').any(<[u8]>::is_empty) {
                odd.push(Oddity::Nameless(shown()));
            } else if let Some(missing) = parent.as_ref().filter(|parent| !parents.contains_key(*parent)) {
                let above = String::from_utf8_lossy(&group.name[..missing.len()]).into_owned();
                odd.push(Oddity::Orphan(shown(), above));
            } else if parents.contains_key(&folded) {
                odd.push(Oddity::Twice(shown()));
            } else {
                if group.share.is_none() {
                    odd.push(Oddity::NoQuota(shown()));
                }
                parents.insert(folded.clone(), parent.clone());
                kept.push((folded, parent, group));
            }
        }
        // Stable: breadth first, and as sorted within a level.
        kept.sort_by_key(|(folded, ..)| memchr::memchr_iter(b'.', folded).count());
        let autoregroup = defaults.autoregroup || kept.iter().any(|(.., group)| group.autoregroup);
        let anybody_accepts = defaults.accepts_surplus || kept.iter().any(|(.., group)| group.accepts_surplus);
        let root = Group { name: ROOT_GROUP.to_vec(), share: None, accepts_surplus: true, autoregroup };
        let mut nodes = vec![Node { group: root, parent: None, children: Vec::new() }];
        let mut index = HashMap::new();
        for (folded, parent, group) in kept {
            let parent = parent.and_then(|parent| index.get(&parent).copied()).unwrap_or(0);
            let at = nodes.len();
            index.insert(folded, at);
            nodes[parent].children.push(at);
            nodes.push(Node { group, parent: Some(parent), children: Vec::new() });
        }
        (Self { nodes, anybody_accepts, index }, odd)
    }

    /// The groups, breadth first, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of groups, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no group but the root.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// The names, breadth first, the root first.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.nodes.iter().map(|node| node.group.name.as_slice())
    }

    /// Whether somebody is negotiated for once more together with everybody else.
    pub fn autoregroup(&self) -> bool {
        !self.is_empty() && self.nodes[0].group.autoregroup
    }

    /// Whether groups that do not say, or one that does, take what others leave.
    pub fn anybody_accepts(&self) -> bool {
        self.anybody_accepts
    }

    /// The group a submitter, or the name of a group, belongs to: the deepest one there is; the root is 0.
    pub fn place(&self, name: &[u8]) -> usize {
        let Some(at) = memchr::memrchr(b'@', name) else {
            return self.index.get(&name.to_ascii_lowercase()).copied().unwrap_or(0);
        };
        // The user part goes first; then what is not there, from the end: parents of groups are groups.
        let mut path = name[..at].to_ascii_lowercase();
        while let Some(dot) = memchr::memrchr(b'.', &path) {
            path.truncate(dot);
            if let Some(&at) = self.index.get(&path) {
                return at;
            }
        }
        0
    }
}

impl GroupOf for GroupTree {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        &self.nodes[self.place(name)].group.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(names: &[&str]) -> (GroupTree, Vec<String>) {
        let group = |name: &&str| Group {
            name: name.as_bytes().to_vec(),
            share: Some(Share::Static(1.0)),
            accepts_surplus: false,
            autoregroup: false,
        };
        let (tree, odd) = GroupTree::new(names.iter().map(group), Defaults::default());
        (tree, odd.iter().map(ToString::to_string).collect())
    }

    /// Example 19 of `group-quotas.md` §10.
    #[test]
    fn example_19_bad_names_are_left_out_and_told() {
        let (tree, odd) = tree(&["B", "b", "a.b", "<none>", "x..y"]);
        assert_eq!(tree.names().collect::<Vec<_>>(), [b"<none>".as_slice(), b"B"]);
        assert_eq!(
            odd,
            [
                "`<none>` is the root of all groups and cannot be named",
                "the group `a.b` is left out: the group `a` above it is not named",
                "the group `b` is named twice",
                "`x..y` is no name of a group: expected parts of at least one character between the dots",
            ]
        );
    }

    #[test]
    fn submitters_belong_to_the_deepest_group_there_is() {
        let (tree, _) = tree(&["group_physics", "group_physics.hep", "Chem"]);
        for (name, group) in [
            ("group_physics.bob@d", "group_physics"),
            ("GROUP_PHYSICS.HEP.bob@d", "group_physics.hep"),
            ("group_physics.unknown.bob@d", "group_physics"),
            ("group_physics.john.doe@d", "group_physics"),
            ("nosuch.bob@d", "<none>"),
            ("bob@d", "<none>"),
            ("group_physics@d", "<none>"),
            ("chem", "Chem"),
            ("other", "<none>"),
            ("chem.x@a@d", "Chem"),
        ] {
            assert_eq!(tree.group_of(name.as_bytes()), group.as_bytes(), "{name}");
        }
    }
}
