//! The tree of groups: who is above whom, and which group a submitter is in.
//!
//! In: settings. Out: a table, root first, parents before children, the children of a group side by side, so that going
//! up is a loop backwards and nothing recurses. Formula source: `docs/reference/group-quotas.md` 2.1, 2.2.

use std::ops::Range;

use hashbrown::HashMap;

use super::check;
use super::settings::{GroupSetting, QuotaSettings};
use crate::accountant::{GroupOf, ROOT_GROUP};
use classmate_config::internal::config::{Config, ConfigError, Diagnostic, Location};

/// The index of the root, the group of all submitters without one.
pub const ROOT: usize = 0;

/// A group of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its full name, as displayed; [`ROOT_GROUP`] for the root.
    pub name: Box<[u8]>,
    /// Its last component in lower case.
    key: Box<[u8]>,
    /// Its setting; none for the root.
    pub(super) setting: Option<usize>,
    /// The group above; the root is above itself.
    pub parent: usize,
    /// The groups below, in the order of their names without regard to case.
    pub children: Range<usize>,
    /// Its configured quota.
    pub configured: Configured,
    /// True if it accepts surplus.
    pub accepts_surplus: bool,
    /// True if its submitters negotiate once more with those without a group.
    pub autoregroup: bool,
}

/// A quota as it is configured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Configured {
    /// The root has the whole pool.
    Pool,
    /// Weighted slots.
    Static(f64),
    /// A fraction of what static siblings leave of the parent's quota.
    Dynamic(f64),
}

impl Configured {
    /// The number alone, as the accountant publishes it; 0 for the root.
    pub fn number(self) -> f64 {
        match self {
            Self::Pool => 0.0,
            Self::Static(quota) | Self::Dynamic(quota) => quota,
        }
    }
}

/// The groups, breadth first.
#[derive(Debug, Clone)]
pub struct GroupTree {
    groups: Vec<Group>,
    /// `GROUP_ACCEPT_SURPLUS`, or any group accepts surplus.
    pub any_accepts_surplus: bool,
    /// `GROUP_AUTOREGROUP`, or any group regroups.
    pub autoregroup: bool,
    warnings: Vec<Diagnostic>,
}

/// A group while the tree is built.
struct GroupDraft {
    setting: usize,
    parent: usize,
    children: Vec<usize>,
}

impl GroupTree {
    /// The tree of the declared groups; what cannot be is left out with a warning.
    ///
    /// ```
    /// use classmate_pool::internal::accountant::GroupOf;
    /// use classmate_config::Config;
    /// use classmate_pool::internal::quota::{GroupTree, QuotaSettings};
    /// let config = Config::parse("c", b"GROUP_NAMES = physics, physics.hep").unwrap();
    /// let tree = GroupTree::new(&QuotaSettings::read(&config).unwrap());
    /// assert_eq!(tree.group_of(b"Physics.hep.eve@x"), b"physics.hep");
    /// assert_eq!(tree.group_of(b"physics.other.eve@x"), b"physics");
    /// assert_eq!(tree.group_of(b"eve@x"), b"<none>");
    /// ```
    pub fn new(settings: &QuotaSettings) -> Self {
        let mut warnings = settings.warnings.clone();
        let folded: Vec<Vec<u8>> = settings.groups.iter().map(|group| group.name.to_ascii_lowercase()).collect();
        let mut sorted: Vec<usize> = (0..folded.len()).collect();
        sorted.sort_by(|&a, &b| folded[a].cmp(&folded[b]));

        // The root is at 0 and has no setting.
        let mut entries = vec![GroupDraft { setting: usize::MAX, parent: 0, children: Vec::new() }];
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        for setting in sorted {
            let group = &settings.groups[setting];
            let path = folded[setting].as_slice();
            let above = memchr::memrchr(b'.', path).map(|dot| &path[..dot]);
            let Some(parent) = above.map_or(Some(0), |above| known.get(above).copied()) else {
                warnings.push(check::without_parent(group));
                continue;
            };
            if group.name == ROOT_GROUP {
                warnings.push(check::named_like_the_root(group));
                continue;
            }
            if let Some(&first) = known.get(path) {
                warnings.push(check::duplicate(group, &settings.groups[entries[first].setting]));
                continue;
            }
            known.insert(path, entries.len());
            let at = entries.len();
            entries[parent].children.push(at);
            entries.push(GroupDraft { setting, parent, children: Vec::new() });
        }
        let mut tree = Self::in_rows(settings, &entries, &folded);
        warnings.extend(check::quotas(&tree, settings));
        tree.warnings = warnings;
        tree
    }

    /// The tree of groups with these names and without quotas.
    ///
    /// ```
    /// use classmate_pool::internal::accountant::GroupOf;
    /// use classmate_pool::internal::quota::GroupTree;
    /// let groups = GroupTree::of_names([b"physics".to_vec(), b"physics.hep".to_vec()]);
    /// assert_eq!(groups.group_of(b"physics.hep.eve@x"), b"physics.hep");
    /// assert_eq!(groups.group_of(b"physics.other.eve@x"), b"physics");
    /// assert_eq!(groups.group_of(b"physics@x"), b"<none>");
    /// ```
    pub fn of_names(names: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let named = names.into_iter().filter(|name| !name.is_empty());
        let groups = named.map(|name| GroupSetting { name, ..GroupSetting::default() }).collect();
        Self::new(&QuotaSettings { groups, ..QuotaSettings::default() })
    }

    /// The tree of the groups that a configuration names in `GROUP_NAMES`, without their quotas.
    ///
    /// # Errors
    /// A setting that cannot be expanded.
    pub fn named_in(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self::of_names(config.list("GROUP_NAMES")?))
    }

    /// The names of the groups without the root: those with fewer components first, then without regard to case.
    pub fn names(&self) -> Vec<&[u8]> {
        let mut names: Vec<&[u8]> = self.groups.iter().skip(1).map(|group| &*group.name).collect();
        names.sort_by_cached_key(|name| (memchr::memchr_iter(b'.', name).count(), name.to_ascii_lowercase()));
        names
    }

    /// The groups breadth first.
    fn in_rows(settings: &QuotaSettings, entries: &[GroupDraft], folded: &[Vec<u8>]) -> Self {
        let mut queue = vec![0];
        let mut row = vec![0; entries.len()];
        let mut groups: Vec<Group> = Vec::with_capacity(entries.len());
        while let Some(&entry) = queue.get(groups.len()) {
            let GroupDraft { setting, parent, children } = &entries[entry];
            let first = queue.len();
            for (at, &child) in children.iter().enumerate() {
                row[child] = first + at;
            }
            queue.extend_from_slice(children);
            let children = first..queue.len();
            let Some(group) = settings.groups.get(*setting) else {
                groups.push(Group {
                    name: ROOT_GROUP.into(),
                    key: Box::default(),
                    setting: None,
                    parent: ROOT,
                    children,
                    configured: Configured::Pool,
                    accepts_surplus: true,
                    autoregroup: false,
                });
                continue;
            };
            let path = &folded[*setting];
            let key = memchr::memrchr(b'.', path).map_or(&path[..], |dot| &path[dot + 1..]);
            groups.push(Group {
                name: group.name.clone().into(),
                key: key.into(),
                setting: Some(*setting),
                parent: row[*parent],
                children,
                configured: match (&group.fixed, &group.dynamic) {
                    (Some(quota), _) => Configured::Static(quota.value),
                    (None, Some(quota)) => Configured::Dynamic(quota.value),
                    (None, None) => Configured::Dynamic(0.0),
                },
                accepts_surplus: group.accept_surplus.unwrap_or(settings.accept_surplus),
                autoregroup: group.autoregroup.unwrap_or(settings.autoregroup),
            });
        }
        let any = |of: fn(&Group) -> bool| groups.iter().skip(1).any(of);
        let any_accepts_surplus = settings.accept_surplus || any(|group| group.accepts_surplus);
        let autoregroup = settings.autoregroup || any(|group| group.autoregroup);
        groups[ROOT].autoregroup = autoregroup;
        Self { groups, any_accepts_surplus, autoregroup, warnings: Vec::new() }
    }

    /// All groups, the root first.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Number of groups, including the root.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether no group is configured: there is only the root.
    pub fn is_empty(&self) -> bool {
        self.groups.len() == 1
    }

    /// A group's full name, for people.
    pub fn display(&self, group: usize) -> String {
        String::from_utf8_lossy(&self.groups[group].name).into_owned()
    }

    /// The warnings about the groups, in the order in which they were found.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The group with this full name, in any case; the root for [`ROOT_GROUP`].
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        if name == ROOT_GROUP {
            return Some(ROOT);
        }
        let (group, rest) = self.descend(&name.to_ascii_lowercase());
        (rest && group != ROOT).then_some(group)
    }

    /// The group of a submitter, `user@domain` or `group.path.user@domain`, or of a group's own name.
    ///
    /// The user is what follows the last dot before the last `@`; of the path before it counts as much as exists.
    pub fn of(&self, submitter: &[u8]) -> usize {
        let Some(at) = memchr::memrchr(b'@', submitter) else {
            return self.find(submitter).unwrap_or(ROOT);
        };
        match memchr::memrchr(b'.', &submitter[..at]) {
            Some(dot) => self.descend(&submitter[..dot].to_ascii_lowercase()).0,
            None => ROOT,
        }
    }

    /// The deepest group on a path in lower case, and whether it is the whole path.
    fn descend(&self, path: &[u8]) -> (usize, bool) {
        let mut group = ROOT;
        for key in path.split(|&byte| byte == b'.') {
            let Range { start, end } = self.groups[group].children;
            match self.groups[start..end].binary_search_by(|child| (*child.key).cmp(key)) {
                Ok(at) => group = start + at,
                Err(_) => return (group, false),
            }
        }
        (group, true)
    }

    /// The sums of the static and of the dynamic quotas directly below a group, as they are configured.
    pub(super) fn sums_below(&self, group: &Group) -> (f64, f64) {
        let below = group.children.clone().map(|child| self.groups[child].configured);
        below.fold((0.0, 0.0), |(fixed, dynamic), configured| match configured {
            Configured::Static(quota) => (fixed + quota, dynamic),
            Configured::Dynamic(fraction) => (fixed, dynamic + fraction),
            Configured::Pool => (fixed, dynamic),
        })
    }

    /// A group and those above it, the root last.
    pub fn upwards(&self, group: usize) -> impl Iterator<Item = usize> {
        let next = |&at: &usize| (at != ROOT).then(|| self.groups[at].parent);
        std::iter::successors(Some(group), next)
    }

    /// The place of a group's name in the configuration; none for the root.
    pub(super) fn place<'s>(&self, settings: &'s QuotaSettings, group: usize) -> Option<&'s Location> {
        settings.groups.get(self.groups[group].setting?)?.place.as_ref()
    }
}

impl GroupOf for GroupTree {
    fn group_of(&self, name: &[u8]) -> &[u8] {
        &self.groups[self.of(name)].name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::Config;

    fn tree(config: &str) -> GroupTree {
        GroupTree::new(&QuotaSettings::read(&Config::parse("c", config.as_bytes()).unwrap()).unwrap())
    }

    fn names(tree: &GroupTree) -> Vec<String> {
        (0..tree.len()).map(|group| tree.display(group)).collect()
    }

    #[test]
    fn groups_are_listed_breadth_first_and_by_name_without_regard_to_case() {
        let tree = tree("GROUP_NAMES = b.z, B, a, b.Y, a.c, a-b, a-b.d");
        assert_eq!(names(&tree), ["<none>", "a", "a-b", "B", "a.c", "a-b.d", "b.Y", "b.z"]);
        let parents: Vec<usize> = tree.groups().iter().map(|group| group.parent).collect();
        assert_eq!(parents, [0, 0, 0, 0, 1, 2, 3, 3]);
        assert_eq!(tree.groups()[3].children, 6..8);
        assert_eq!(tree.upwards(7).collect::<Vec<_>>(), [7, 3, 0]);
    }

    /// The cases of `docs/reference/group-quotas.md` 2.2.
    #[test]
    fn a_submitter_is_in_the_deepest_group_of_its_path() {
        let tree = tree("GROUP_NAMES = group_physics, group_physics.hep, Group_Bio, g");
        for (submitter, group) in [
            ("group_physics.alice@x", "group_physics"),
            ("group_physics.hep.alice@x", "group_physics.hep"),
            ("group_physics.unknown.bob@d", "group_physics"),
            ("nosuch.bob@d", "<none>"),
            ("john.doe@d", "<none>"),
            ("g.john.doe@d", "g"),
            ("group_physics.john.doe@d", "group_physics"),
            ("group_physics@d", "<none>"),
            ("GROUP_BIO.eve@d", "Group_Bio"),
            ("g.eve@home@d", "g"),
            ("group_bio", "Group_Bio"),
            ("group_physics.hep", "group_physics.hep"),
            ("group_physics.nosuch", "<none>"),
            ("<none>", "<none>"),
            ("", "<none>"),
            (".@", "<none>"),
        ] {
            assert_eq!(tree.group_of(submitter.as_bytes()), group.as_bytes(), "{submitter}");
        }
    }

    /// Example 19 of the quota description: `b` is a duplicate of `B`, `a.b` has no parent.
    #[test]
    fn duplicates_and_orphans_are_no_groups() {
        let groups = GroupTree::of_names(["B", "b", "a.b", "B.z", "C", "<none>"].map(|name| name.as_bytes().to_vec()));
        assert_eq!(groups.names(), [b"B".as_slice(), b"C", b"B.z"]);
        // By the bytes of the whole name, level by level.
        let groups = GroupTree::of_names(["a", "a-b", "a.x", "a-b.y"].map(|name| name.as_bytes().to_vec()));
        assert_eq!(groups.names(), [b"a".as_slice(), b"a-b", b"a-b.y", b"a.x"]);
    }

    #[test]
    fn a_deep_chain_is_built_and_descended_without_a_stack() {
        let names: Vec<String> = (1..=2000).map(|depth| vec!["a"; depth].join(".")).collect();
        let tree = tree(&format!("GROUP_NAMES = {}", names.join(" ")));
        assert_eq!(tree.len(), 2001);
        assert_eq!(tree.of(format!("{}.eve@x", names[1999]).as_bytes()), 2000);
        assert_eq!(tree.of(format!("{}.b.eve@x", names[999]).as_bytes()), 1000);
    }

    #[test]
    fn defaults_hold_for_groups_that_do_not_say() {
        let tree = tree(
            "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 1\nGROUP_ACCEPT_SURPLUS = true\nGROUP_ACCEPT_SURPLUS_b = false\n\
             GROUP_AUTOREGROUP_b = true",
        );
        let [root, a, b] = tree.groups() else { panic!("three groups") };
        assert_eq!((a.configured, b.configured), (Configured::Static(1.0), Configured::Dynamic(0.0)));
        assert_eq!((root.accepts_surplus, a.accepts_surplus, b.accepts_surplus), (true, true, false));
        assert_eq!((root.autoregroup, a.autoregroup, b.autoregroup), (true, false, true));
        assert!(tree.any_accepts_surplus && tree.autoregroup);
    }
}
