//! The tree of associations: accounts, and users in them, as rows addressed by number.
//!
//! In: associations in the order of a file. Out: a tree in which each association comes after its parent, or the
//! errors. Formula source: `docs/reference/slurm-multifactor.md` 1, 4.1, 6.2.
//!
//! The tree and its builder are one file, because the builder looks rows up in the unfinished tree.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use classmate::internal::builtin::near;
use classmate_config::internal::config::slurm::{AssociationRow, Defects, Shares, SlurmAssociations, UsageRow};
use classmate_config::internal::config::{ConfigError, Diagnostic, Location};

/// Maximum number of reported errors; more have a common cause.
const MAX_ERRORS: usize = 20;

/// The number of the root.
pub const ROOT: usize = 0;

/// An association.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    /// The account; for a user the one it is in.
    pub account: String,
    /// The user; none for an account.
    pub user: Option<String>,
    /// The only partition it is for.
    pub partition: Option<String>,
    /// Its shares.
    pub shares: Shares,
    /// Its priority, its own or that of the account above it; 0 if there is none.
    pub priority: u32,
    /// `GrpTRESMins`, as written.
    pub group_minutes: Option<String>,
    /// The number of its parent; the root is its own.
    pub parent: usize,
    /// Its nearest ancestor that has shares of its own.
    pub fair_share_parent: usize,
    /// Those whose nearest ancestor with shares of its own this is, in the order of Slurm's database: depth first, users
    /// before accounts, by name; or as records of associations place them.
    pub children: Vec<usize>,
    /// The sum of the shares on its level.
    pub level_shares: u64,
    /// Decayed billing × seconds, its descendants' included.
    pub usage: f64,
    /// `GrpTRESRaw` as a listing has it: usage by resource, which is only shown.
    pub by_resource: Option<String>,
    /// `TRESRunMins` as records of associations have it, which is only shown.
    pub run_minutes: Option<String>,
    /// Its place in the database, or in the listing of its usage.
    pub place: Option<u64>,
}

impl Association {
    /// The association of a row. One without a priority inherits that of the account above it, as the database hands it
    /// out.
    fn new(row: &AssociationRow, parent: usize, inherited: u32) -> Self {
        Self {
            account: row.account.clone(),
            user: row.user.clone(),
            partition: row.partition.clone(),
            shares: row.shares,
            priority: row.priority.unwrap_or(inherited),
            group_minutes: row.group_minutes.clone(),
            parent,
            fair_share_parent: ROOT,
            children: Vec::new(),
            level_shares: 0,
            usage: 0.0,
            by_resource: None,
            run_minutes: None,
            place: None,
        }
    }

    /// Its user and account, if it is a user.
    fn account_and_user(&self) -> Option<(String, String)> {
        Some((self.account.clone(), self.user.clone()?))
    }

    /// True if it is a user.
    pub fn is_user(&self) -> bool {
        self.user.is_some()
    }

    /// `account` or `account/user`.
    pub fn key(&self) -> String {
        match &self.user {
            Some(user) => format!("{}/{user}", self.account),
            None => self.account.clone(),
        }
    }

    /// Its shares as a fraction of its level; 0 if it has no shares of its own, or the level has none.
    pub fn share_of_level(&self) -> f64 {
        match self.shares {
            Shares::Own(shares) if self.level_shares > 0 => f64::from(shares) / self.level_shares as f64,
            _ => 0.0,
        }
    }
}

type AssociationKey = (String, Option<String>, Option<String>);

/// The associations; a parent's number is less than its children's.
#[derive(Debug, Clone)]
pub struct AssociationTree {
    nodes: Vec<Association>,
    index: HashMap<AssociationKey, usize>,
    /// The default account of a user, and whether the file names it.
    default_accounts: HashMap<String, (String, bool)>,
    /// The first association of a user in an account that is for a partition alone.
    partial: HashMap<(String, String), usize>,
    /// The value of the last digit of the listed usage; 0 if nothing was cut off.
    digit: f64,
}

impl AssociationTree {
    /// The tree of associations without usage.
    ///
    /// # Errors
    /// A parent that is missing, declared too late, or a descendant; and an association that is declared twice.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::SlurmAssociations;
    /// use classmate_pool::internal::priority::slurm::AssociationTree;
    /// let (dump, _) = SlurmAssociations::read("lab.cfg", b"Account - 'a'\nParent - 'b'\nAccount - 'c'\n");
    /// let errors = AssociationTree::new(&dump).unwrap_err();
    /// assert_eq!(errors[0].message, "`Parent` is the account `b`, which is not declared");
    /// ```
    pub fn new(associations: &SlurmAssociations) -> Result<Self, Vec<ConfigError>> {
        let mut builder = Builder::new(associations);
        builder.check_parents();
        for at in 0..associations.rows.len() {
            builder.add(at);
        }
        builder.errors.sort_by_key(classmate::Diagnostic::line);
        if builder.errors.is_empty() { Ok(builder.tree.levelled()) } else { Err(builder.errors) }
    }

    /// All of them, the root first.
    pub fn nodes(&self) -> &[Association] {
        &self.nodes
    }

    /// An association and those above it, the root last.
    pub fn upwards(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |&at| (at != ROOT).then(|| self.nodes[at].parent))
    }

    /// The value of the last digit of the usage while it is that of a listing; 0 if nothing was cut off.
    pub fn digit(&self) -> f64 {
        self.digit
    }

    /// Changes what one has used, and its ancestors with it.
    pub fn charge(&mut self, at: usize, usage: f64) {
        self.digit = 0.0;
        let mut node = at;
        loop {
            self.nodes[node].usage += usage;
            if node == ROOT {
                return;
            }
            node = self.nodes[node].parent;
        }
    }

    /// Multiplies all usage.
    pub fn decay(&mut self, factor: f64) {
        self.digit = 0.0;
        for node in &mut self.nodes {
            node.usage *= factor;
        }
    }

    /// Sets the usage of a listing. Usage of removed users remains in the figure of their account.
    ///
    /// A listing that names no partitions has a row for each association of a user in an account: they are taken in the order
    /// of the associations. Gives the rows that belong to no association.
    pub fn set_usage<'u>(&mut self, rows: &'u [UsageRow]) -> Vec<&'u UsageRow> {
        let mut unmatched = Vec::new();
        let mut said = vec![0.0f64; self.nodes.len()];
        self.digit = rows.iter().map(|row| row.digit).fold(0.0, f64::max);
        let mut unnamed = self.unnamed(rows);
        for (line, row) in (0..).zip(rows) {
            let key = (row.account.clone(), row.user.clone(), row.partition.clone());
            let of_user = row.user.clone().filter(|_| row.partition.is_none());
            let at = match of_user.and_then(|user| unnamed.get_mut(&(row.account.clone(), user))) {
                Some(associations) => associations.next(),
                None => self.index.get(&key).copied(),
            };
            match at {
                Some(at) => {
                    said[at] = row.usage;
                    self.nodes[at].by_resource.clone_from(&row.by_resource);
                    self.nodes[at].run_minutes.clone_from(&row.run_minutes);
                    self.nodes[at].place = row.place.or(Some(line));
                }
                None => unmatched.push(row),
            }
        }
        if rows.iter().any(|row| row.place.is_some()) {
            for at in 0..self.nodes.len() {
                let mut children = std::mem::take(&mut self.nodes[at].children);
                children.sort_by_key(|&child| self.nodes[child].place);
                self.nodes[at].children = children;
            }
        }
        // Of those below, the usage and how far it may be from what it was before digits were cut off.
        let mut below = vec![(0.0, 0.0); self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            let (sum, room) = below[at];
            let usage = if said[at] > 0.0 && sum - said[at] <= room { said[at] } else { said[at].max(sum) };
            self.nodes[at].usage = usage;
            if at != ROOT {
                let parent = &mut below[self.nodes[at].parent];
                *parent = (parent.0 + usage, parent.1 + self.digit);
            }
        }
        unmatched
    }

    /// The users in an account with associations for partitions to which the rows without a partition belong, in their
    /// order; none if the number of rows does not match, unless the only row is that of the association for all
    /// partitions.
    fn unnamed(&self, rows: &[UsageRow]) -> HashMap<(String, String), std::vec::IntoIter<usize>> {
        let mut found: HashMap<(String, String), (usize, Vec<usize>)> = HashMap::new();
        if self.partial.is_empty() {
            return HashMap::new();
        }
        for row in rows.iter().filter(|row| row.partition.is_none()) {
            let key = row.user.clone().map(|user| (row.account.clone(), user));
            if let Some(key) = key.filter(|key| self.partial.contains_key(key)) {
                found.entry(key).or_default().0 += 1;
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some((_, associations)) = node.account_and_user().and_then(|key| found.get_mut(&key)) {
                associations.push(at);
            }
        }
        let whole = |((account, user), (rows, associations)): ((String, String), (usize, Vec<usize>))| {
            let for_all = self.find_user(&account, &user, None).filter(|_| rows == 1 && associations.len() > 1);
            let associations = match for_all {
                Some(at) => vec![at],
                None if rows == associations.len() => associations,
                None => Vec::new(),
            };
            ((account, user), associations.into_iter())
        };
        found.into_iter().map(whole).collect()
    }

    /// Number of users; one in two accounts counts twice.
    pub fn users(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_user()).count()
    }

    /// The number of an account.
    pub fn find_account(&self, account: &str) -> Option<usize> {
        self.index.get(&(account.to_owned(), None, None)).copied()
    }

    /// The number of a user in an account: that for the partition, else the one for all.
    pub fn find_user(&self, account: &str, user: &str, partition: Option<&str>) -> Option<usize> {
        let find = |partition: Option<&str>| {
            let key = (account.to_owned(), Some(user.to_owned()), partition.map(str::to_owned));
            self.index.get(&key).copied()
        };
        partition.and_then(|partition| find(Some(partition))).or_else(|| find(None))
    }

    /// The number of a user in an account whatever the partition: the association for all, else the first for one.
    pub fn find_user_anywhere(&self, account: &str, user: &str) -> Option<usize> {
        let partial = || self.partial.get(&(account.to_owned(), user.to_owned())).copied();
        self.find_user(account, user, None).or_else(partial)
    }

    /// The account of a user's jobs that name none: the default account, else the user's first.
    pub fn default_account(&self, user: &str) -> Option<&str> {
        self.default_accounts.get(user).map(|(account, _)| account.as_str())
    }

    /// The largest priority of an association, 0 if none has any.
    pub fn max_priority(&self) -> u32 {
        self.nodes.iter().map(|node| node.priority).max().unwrap_or(0)
    }

    fn levelled(mut self) -> Self {
        for at in 1..self.nodes.len() {
            // A parent comes before its children, so its own value is known.
            let parent = self.nodes[at].parent;
            let above = match self.nodes[parent].shares {
                Shares::Parent => self.nodes[parent].fair_share_parent,
                Shares::Own(_) => parent,
            };
            self.nodes[at].fair_share_parent = above;
        }
        for at in self.by_lineage() {
            let above = self.nodes[at].fair_share_parent;
            self.nodes[above].children.push(at);
        }
        for at in 0..self.nodes.len() {
            let children = std::mem::take(&mut self.nodes[at].children);
            let shares = children.iter().map(|&child| match self.nodes[child].shares {
                Shares::Own(shares) => u64::from(shares),
                Shares::Parent => 0,
            });
            let sum = shares.sum();
            for &child in &children {
                self.nodes[child].level_shares = sum;
            }
            self.nodes[at].children = children;
        }
        self
    }
}

impl AssociationTree {
    /// The associations below the root in the order of their lineage, `/account/…/0-user/partition/`: since 23.11 the
    /// database returns them so, and Fair Tree visits those that are tied in this order.
    fn by_lineage(&self) -> Vec<usize> {
        let order = self.depth_first(|node| {
            let name = node.user.as_ref().map_or_else(|| node.account.clone(), |user| format!("0-{user}"));
            let partition = node.partition.as_ref().map(|name| format!("{}/", name.to_lowercase()));
            format!("{name}/{}", partition.unwrap_or_default())
        });
        order.into_iter().skip(1).map(|(at, _)| at).collect()
    }

    /// Numbers and depths as `sshare` lists them: in each account users before accounts, both by name.
    pub fn listed(&self) -> Vec<(usize, usize)> {
        self.depth_first(|node| {
            (!node.is_user(), node.user.clone(), node.account.clone(), node.place, node.partition.clone())
        })
    }

    /// Numbers and depths, each association before those below it, siblings by a key.
    fn depth_first<K: Ord>(&self, key: impl Fn(&Association) -> K) -> Vec<(usize, usize)> {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            below[node.parent].push(at);
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = vec![(ROOT, 0)];
        while let Some((at, depth)) = open.pop() {
            order.push((at, depth));
            below[at].sort_by_cached_key(|&child| key(&self.nodes[child]));
            open.extend(below[at].iter().rev().map(|&child| (child, depth + 1)));
        }
        order
    }
}

/// The warnings about associations that form a tree: zero shares never get anything.
pub fn oddities(associations: &SlurmAssociations, tree: &AssociationTree) -> Vec<Diagnostic> {
    let file: Arc<str> = Arc::from(associations.file.as_str());
    let zero = associations.rows.iter().filter(|row| row.shares == Shares::Own(0));
    let others_have =
        |row: &AssociationRow| tree.index.get(&key(row)).is_some_and(|&at| tree.nodes[at].level_shares > 0);
    zero.map(|row| {
        let message = if others_have(row) {
            format!("`{}` has 0 shares, so its fair share is the lowest of its level", name(row))
        } else {
            format!("`{}` and all its siblings have 0 shares, so Fair Tree ranks them equally", name(row))
        };
        Diagnostic::warning_at(message, Location { file: Arc::clone(&file), line: row.line, column: 1 })
            .help("assign shares, or use `Fairshare=parent` to inherit those of its account")
    })
    .collect()
}

/// Reads a dump and makes its tree.
///
/// # Errors
/// Errors in the file or the tree.
pub fn read(
    name: &str,
    text: &[u8],
) -> Result<(SlurmAssociations, AssociationTree, Vec<Diagnostic>), Vec<ConfigError>> {
    let (associations, Defects { errors, mut warnings }) = SlurmAssociations::read(name, text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let tree = AssociationTree::new(&associations)?;
    warnings.extend(oddities(&associations, &tree));
    Ok((associations, tree, warnings))
}

fn name(row: &AssociationRow) -> &str {
    row.user.as_deref().unwrap_or(&row.account)
}

fn key(row: &AssociationRow) -> AssociationKey {
    (row.account.clone(), row.user.clone(), row.partition.clone())
}

struct Builder<'a> {
    tree: AssociationTree,
    associations: &'a SlurmAssociations,
    /// Every account of the file, at any depth, by its row.
    declared: HashMap<&'a str, usize>,
    /// Accounts with an error: errors of their members are not reported again.
    broken: HashSet<&'a str>,
    lines: HashMap<AssociationKey, u32>,
    errors: Vec<ConfigError>,
}

impl<'a> Builder<'a> {
    fn new(associations: &'a SlurmAssociations) -> Self {
        let row = AssociationRow::account("root", "root", Shares::Own(1));
        let root = Association::new(&row, ROOT, associations.root_priority.unwrap_or(0));
        let tree = AssociationTree {
            nodes: vec![root],
            index: [(("root".to_owned(), None, None), ROOT)].into_iter().collect(),
            default_accounts: HashMap::new(),
            partial: HashMap::new(),
            digit: 0.0,
        };
        let mut declared = HashMap::new();
        for (at, row) in associations.rows.iter().enumerate().filter(|(_, row)| row.user.is_none()) {
            declared.entry(row.account.as_str()).or_insert(at);
        }
        Self { tree, associations, declared, broken: HashSet::new(), lines: HashMap::new(), errors: Vec::new() }
    }

    /// Reports `Parent` lines with undeclared names; errors of their members would be the same.
    fn check_parents(&mut self) {
        for (parent, line) in &self.associations.parents {
            if parent == "root" || self.declared.contains_key(parent.as_str()) {
                continue;
            }
            self.broken.insert(parent);
            if self.errors.len() < MAX_ERRORS {
                let message = format!("`Parent` is the account `{parent}`, which is not declared");
                self.error(*line, message, self.nearest(parent));
            }
        }
    }

    /// An account like one that is declared nowhere.
    fn nearest(&self, account: &str) -> Option<String> {
        let near = near::closest(account.as_bytes(), self.declared.keys().copied().chain(["root"]));
        near.map(|near| format!("did you mean `{near}`?"))
    }

    /// The accounts from one that is declared again up to where it was declared first, if that is above it.
    fn path_up(&self, row: &AssociationRow, parent: usize, first: usize) -> Option<Vec<String>> {
        if row.user.is_some() || self.errors.len() >= MAX_ERRORS {
            return None;
        }
        let mut path = vec![row.account.clone()];
        for at in self.tree.upwards(parent).filter(|at| *at != ROOT) {
            path.push(self.tree.nodes[at].account.clone());
            if at == first {
                return Some(path);
            }
        }
        None
    }

    fn add(&mut self, at: usize) {
        let row = &self.associations.rows[at];
        if row.user.is_none() && row.account == "root" {
            return;
        }
        let Some(parent) = self.tree.find_account(&row.parent) else {
            if !self.broken.contains(row.parent.as_str()) && self.errors.len() < MAX_ERRORS {
                self.no_parent(row);
            }
            if row.user.is_none() {
                self.broken.insert(&row.account);
            }
            return;
        };
        if row.user.is_none() && row.account == row.parent {
            let cycle = [row.account.as_str(), row.account.as_str()];
            return self.cycle(row, &cycle);
        }
        let key = key(row);
        if let Some(&known) = self.tree.index.get(&key) {
            if let Some(path) = self.path_up(row, parent, known) {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                return self.cycle(row, &path);
            }
            let first = self.lines.get(&key).copied().unwrap_or(0);
            let kind = if row.user.is_some() { "user" } else { "account" };
            let place = if row.user.is_some() { format!(" in `{}`", row.account) } else { String::new() };
            let message = format!("the {kind} `{}`{place} is declared twice, first in line {first}", name(row));
            self.error(row.line, message, None);
            return;
        }
        let number = self.tree.nodes.len();
        self.lines.insert(key.clone(), row.line);
        self.tree.index.insert(key, number);
        if let Some(user) = &row.user {
            if row.partition.is_some() {
                self.tree.partial.entry((row.account.clone(), user.clone())).or_insert(number);
            }
            let said = row.default_account.clone();
            let default =
                self.tree.default_accounts.entry(user.clone()).or_insert_with(|| (row.account.clone(), false));
            if let (Some(account), false) = (said, default.1) {
                *default = (account, true);
            }
        }
        self.tree.nodes.push(Association::new(row, parent, self.tree.nodes[parent].priority));
    }

    /// Reports why the parent of a row does not exist yet.
    fn no_parent(&mut self, row: &'a AssociationRow) {
        let mut path = vec![row.account.as_str()];
        let mut above = row.parent.as_str();
        let mut seen = HashSet::new();
        while let Some(&at) = self.declared.get(above) {
            path.push(above);
            if row.user.is_none() && above == row.account {
                return self.cycle(row, &path);
            }
            if !seen.insert(above) {
                break;
            }
            above = &self.associations.rows[at].parent;
        }
        let parent = row.parent.as_str();
        if let Some(&later) = self.declared.get(parent) {
            let line = self.associations.rows[later].line;
            let message =
                format!("`{}` is in the account `{parent}`, which is declared later, in line {line}", name(row));
            self.error(row.line, message, Some(format!("move the line of the account `{parent}` before it")));
        } else {
            let message = format!("`{}` is in the account `{parent}`, which is not declared", name(row));
            self.error(row.line, message, self.nearest(parent));
            // Its other members would get the same error.
            self.broken.insert(parent);
        }
    }

    fn cycle(&mut self, row: &'a AssociationRow, path: &[&str]) {
        let shown: Vec<String> = path.iter().take(6).map(|account| format!("`{account}`")).collect();
        let more = if path.len() > 6 { " in …" } else { "" };
        let message = format!("circular accounts: {}{more}", shown.join(" in "));
        self.error(row.line, message, Some("put one of them under `root`".to_owned()));
        self.broken.insert(&row.account);
    }

    fn error(&mut self, line: u32, message: String, help: Option<String>) {
        let file = Arc::from(self.associations.file.as_str());
        self.errors.push(Diagnostic::error_at(message, Location { file, line, column: 1 }).help_if(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<(String, u32, Option<String>)> {
        let errors = read("d", text.as_bytes()).unwrap_err();
        errors.into_iter().map(|error| (error.message.clone(), error.line(), error.help.map(String::from))).collect()
    }

    #[test]
    fn members_of_accounts_without_shares_of_their_own_compete_one_level_up() {
        // `docs/reference/slurm-multifactor.md` 8.5: phys's level is 2 + 4 + 3 + 1 = 10.
        let text = "Account - 'phys':Fairshare=5\nParent - 'phys'\nUser - 'daemon':Fairshare=2\nUser - 'bin':Fairshare=parent\n\
                    Account - 'astro':Fairshare=4\nAccount - 'hep':Fairshare=parent\nParent - 'hep'\n\
                    User - 'sys':Fairshare=3\nUser - 'games':Fairshare=1\nUser - 'man':Fairshare=parent\n";
        let (_, tree, _) = read("d", text.as_bytes()).unwrap();
        let phys = tree.find_account("phys").unwrap();
        let sys = &tree.nodes()[tree.find_user("hep", "sys", None).unwrap()];
        assert_eq!((sys.fair_share_parent, sys.level_shares, sys.share_of_level()), (phys, 10, 0.3));
        assert_eq!(tree.nodes()[phys].children.len(), 7);
        assert_eq!(tree.nodes()[tree.find_account("hep").unwrap()].children, [0usize; 0]);
    }

    #[test]
    fn circles_are_reported_with_their_accounts_once() {
        let text = "Parent - 'b'\nAccount - 'a'\nParent - 'a'\nAccount - 'b'\nUser - 'x'\n";
        let help = Some("put one of them under `root`".to_owned());
        assert_eq!(errors(text), [("circular accounts: `a` in `b` in `a`".to_owned(), 2, help.clone())]);
        let own = "Account - 'a'\nParent - 'a'\nAccount - 'a'\n";
        assert_eq!(errors(own), [("circular accounts: `a` in `a`".to_owned(), 3, help.clone())]);
        // Declared once more, below itself.
        let again = "Account - 'a'\nParent - 'a'\nAccount - 'b'\nParent - 'b'\nAccount - 'c'\nParent - 'c'\nAccount - 'a'\nUser - 'x'\n";
        assert_eq!(errors(again), [("circular accounts: `a` in `c` in `b` in `a`".to_owned(), 7, help)]);
    }

    #[test]
    fn missing_and_late_parents_are_reported_with_their_line() {
        assert_eq!(
            errors("Account - 'phys'\nParent - 'phsy'\nUser - 'a'\nUser - 'b'\n"),
            [(
                "`Parent` is the account `phsy`, which is not declared".to_owned(),
                2,
                Some("did you mean `phys`?".to_owned())
            )]
        );
        // Also without members.
        assert_eq!(
            errors("Account - 'a'\nParent - 'a'\nAccount - 'a'\nParent - 'gone'\nParent - 'gone'\n"),
            [
                ("circular accounts: `a` in `a`".to_owned(), 3, Some("put one of them under `root`".to_owned())),
                ("`Parent` is the account `gone`, which is not declared".to_owned(), 4, None)
            ]
        );
        assert_eq!(
            errors("Parent - 'p'\nUser - 'a'\nParent - 'root'\nAccount - 'p'\n"),
            [(
                "`a` is in the account `p`, which is declared later, in line 4".to_owned(),
                2,
                Some("move the line of the account `p` before it".to_owned())
            )]
        );
    }

    #[test]
    fn nobody_is_declared_twice() {
        let text = "Account - 'a'\nAccount - 'A'\nParent - 'a'\nUser - 'x'\nUser - 'x'\nUser - 'x':Partition='p'\n";
        let messages: Vec<_> = errors(text).into_iter().map(|(message, line, _)| (message, line)).collect();
        assert_eq!(
            messages,
            [
                ("the account `a` is declared twice, first in line 1".to_owned(), 2),
                ("the user `x` in `a` is declared twice, first in line 4".to_owned(), 5)
            ]
        );
    }

    #[test]
    fn shares_of_zero_are_odd() {
        let warned = |text: &str| {
            let (_, _, warnings) = read("d", text.as_bytes()).unwrap();
            warnings.into_iter().map(|warned| (warned.message, warned.place.unwrap().line)).collect::<Vec<_>>()
        };
        assert_eq!(
            warned("Account - 'a':Fairshare=0\nAccount - 'b'\n"),
            [("`a` has 0 shares, so its fair share is the lowest of its level".to_owned(), 1)]
        );
        // `docs/reference/slurm-multifactor.md` 5: all of a level whose level fair share is 0 share a rank.
        let tied = |name: &str| format!("`{name}` and all its siblings have 0 shares, so Fair Tree ranks them equally");
        assert_eq!(
            warned("Account - 'a'\nParent - 'a'\nUser - 'x':Fairshare=0\nUser - 'y':Fairshare=0\n"),
            [(tied("x"), 3), (tied("y"), 4)]
        );
    }

    #[test]
    fn usage_goes_up_to_the_root_and_listings_may_know_of_more() {
        let (_, mut tree, _) = read("d", b"Account - 'a'\nParent - 'a'\nUser - 'x'\nUser - 'y'\n").unwrap();
        let row = |account: &str, user: Option<&str>, usage| UsageRow {
            account: account.to_owned(),
            user: user.map(str::to_owned),
            partition: None,
            usage,
            digit: 0.0,
            by_resource: None,
            run_minutes: None,
            place: None,
            line: 0,
        };
        let rows = [row("a", Some("x"), 3.0), row("a", None, 10.0), row("gone", None, 1.0)];
        assert_eq!(tree.set_usage(&rows), [&rows[2]]);
        let usage = |tree: &AssociationTree| tree.nodes().iter().map(|node| node.usage).collect::<Vec<_>>();
        assert_eq!(usage(&tree), [10.0, 10.0, 3.0, 0.0]);
        tree.charge(3, 5.0);
        assert_eq!(usage(&tree), [15.0, 15.0, 3.0, 5.0]);
    }

    #[test]
    fn rows_that_name_no_partition_stand_in_the_order_of_the_associations() {
        let dump = b"Account - 'a'
Parent - 'a'
User - 'u':Partition='x'
User - 'u':Partition='y'
User - 'u'
";
        let (_, tree, _) = read("d", dump).unwrap();
        let used = |rows: &[(Option<&str>, f64)]| {
            let mut tree = tree.clone();
            let row = |&(partition, usage): &(Option<&str>, f64)| UsageRow {
                account: "a".to_owned(),
                user: Some("u".to_owned()),
                partition: partition.map(str::to_owned),
                usage,
                digit: 0.0,
                by_resource: None,
                run_minutes: None,
                place: None,
                line: 0,
            };
            let rows: Vec<UsageRow> = rows.iter().map(row).collect();
            let unmatched = tree.set_usage(&rows).len();
            (
                tree.nodes().iter().skip(2).map(|node| node.usage).collect::<Vec<_>>(),
                tree.nodes()[ROOT].usage,
                unmatched,
            )
        };
        assert_eq!(used(&[(None, 1.0), (None, 2.0), (None, 4.0)]), (vec![1.0, 2.0, 4.0], 7.0, 0));
        assert_eq!(used(&[(None, 4.0), (Some("y"), 2.0), (Some("x"), 1.0)]), (vec![1.0, 2.0, 4.0], 7.0, 0));
        // Any two of the three: the data does not identify them.
        assert_eq!(used(&[(None, 1.0), (None, 2.0)]), (vec![0.0; 3], 0.0, 2));
    }

    #[test]
    fn associations_inherit_the_priority_of_the_account_above() {
        let text = "Cluster - 'c':Priority=5\nAccount - 'a'\nAccount - 'b':Priority=9\nParent - 'a'\nUser - 'x'\n\
                    Parent - 'b'\nUser - 'y'\nUser - 'z':Priority=0\n";
        let (_, tree, _) = read("d", text.as_bytes()).unwrap();
        let priorities: Vec<u32> = tree.nodes().iter().map(|node| node.priority).collect();
        assert_eq!(priorities, [5, 5, 9, 5, 9, 0]);
    }

    #[test]
    fn a_very_deep_tree_is_no_trouble() {
        let mut text = String::from("Account - 'a0'\n");
        for depth in 1..50_000 {
            text.push_str(&format!("Parent - 'a{}'\nAccount - 'a{depth}'\n", depth - 1));
        }
        assert_eq!(read("d", text.as_bytes()).unwrap().1.nodes().len(), 50_001);
    }
}
