//! The file that `sacctmgr dump` writes: accounts and users with their shares.
//!
//! In: text. Out: its associations in the order of the file, each with its line. Whether they make a tree is looked at
//! where the tree is made. Formula source: `docs/reference/slurm-multifactor.md` 6.2.

use std::sync::Arc;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use super::{Defects, Qos};
use crate::config::{Diagnostic, Location};
use classmate::internal::builtin::near;

/// The number that a dump writes for shares of `parent`.
const PARENT_NUMBER: &str = "2147483647";

/// The shares of an association.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shares {
    /// So many of those on its level.
    Own(u32),
    /// `parent`: none of its own, it has the fair share of its parent.
    Parent,
}

/// An association: an account, or a user in an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssociationRow {
    /// The account; for a user the one it is in. Lower case.
    pub account: String,
    /// The user; none for an account.
    pub user: Option<String>,
    /// The account above an account; for a user its account.
    pub parent: String,
    /// The only partition it is for.
    pub partition: Option<String>,
    /// Its shares.
    pub shares: Shares,
    /// Its priority, if it has one.
    pub priority: Option<u32>,
    /// `DefaultAccount` of a user.
    pub default_account: Option<String>,
    /// `GrpTRESMins`, as written.
    pub group_minutes: Option<String>,
    /// The line, from 1; 0 if it comes from no file.
    pub line: u32,
}

impl AssociationRow {
    /// An account with shares of its own.
    pub fn account(account: &str, parent: &str, shares: Shares) -> Self {
        Self {
            account: account.to_owned(),
            user: None,
            parent: parent.to_owned(),
            partition: None,
            shares,
            priority: None,
            default_account: None,
            group_minutes: None,
            line: 0,
        }
    }

    /// A user in an account.
    pub fn user(user: &str, account: &str, shares: Shares) -> Self {
        Self { user: Some(user.to_owned()), ..Self::account(account, account, shares) }
    }
}

/// The associations of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SlurmAssociations {
    /// The name under which the file was handed in.
    pub file: String,
    /// The cluster.
    pub cluster: Option<String>,
    /// Accounts and users, in the order of the file.
    pub rows: Vec<AssociationRow>,
    /// The accounts that lines `Parent` name, each with its first line, in their order.
    #[serde(default)]
    pub parents: Vec<(String, u32)>,
    /// The priority of the root, if the line of the cluster gives one.
    #[serde(default)]
    pub root_priority: Option<u32>,
    /// Qualities of service, which dumps list since 25.05.
    #[serde(default)]
    pub qos: Vec<Qos>,
}

impl SlurmAssociations {
    /// Reads a dump.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::{SlurmAssociations, Shares};
    /// let text = b"Cluster - 'lab'\nAccount - 'phys':Fairshare=5\nParent - 'phys'\nUser - 'ann':Fair=parent\n";
    /// let (dump, defects) = SlurmAssociations::read("lab.cfg", text);
    /// assert!(defects.errors.is_empty());
    /// assert_eq!(dump.rows[0].shares, Shares::Own(5));
    /// assert_eq!((dump.rows[1].account.as_str(), dump.rows[1].shares), ("phys", Shares::Parent));
    /// ```
    pub fn read(name: &str, text: &[u8]) -> (Self, Defects) {
        let text = String::from_utf8_lossy(text);
        let mut dump = Self { file: name.to_owned(), ..Self::default() };
        let mut defects = Defects::default();
        let file: Arc<str> = Arc::from(name);
        let mut parent = "root".to_owned();
        let mut parents = HashSet::new();
        for (number, line) in (1..).zip(text.split('\n')) {
            let place = || Location { file: Arc::clone(&file), line: number, column: 1 };
            let line = line.split('#').next().unwrap_or_default().trim_end();
            let Some((kind, rest)) = line.split_once(" - ") else {
                if !line.trim().is_empty() {
                    defects.skipped(&place(), &format!("expected `Kind - 'name'`, found `{}`", line.trim()));
                }
                continue;
            };
            let (fields, closed) = fields(rest);
            if !closed {
                let message = format!("a quote of `{}` is not closed", line.trim());
                defects.errors.push(Diagnostic::error_at(message, Some(place())).help("close it on the same line"));
                continue;
            }
            let name = unquoted(fields.first().copied().unwrap_or_default()).to_lowercase();
            // Of `User - :Fairshare=1` the first part is an option, and of `User - ''` nothing.
            let nameless = name.is_empty() || rest.trim_start().starts_with(':');
            if nameless && KINDS.iter().any(|known| kind.trim().eq_ignore_ascii_case(known)) {
                let kind = kind.trim();
                let error = Diagnostic::error_at(format!("a line `{kind}` without a name"), Some(place()));
                defects.errors.push(error.help(format!("expected `{kind} - 'name'`")));
                continue;
            }
            match kind.trim().to_ascii_lowercase().as_str() {
                "cluster" | "machine" => {
                    let mut root = AssociationRow::account(&name, "", Shares::Own(1));
                    // What else is wrong with the options of the root has no effect on priorities.
                    for field in fields.iter().skip(1).filter(|field| is_priority(field)) {
                        if let Err(message) = root.set(field) {
                            defects.error(&place(), format!("`{name}`: {message}"));
                        }
                    }
                    dump.root_priority = root.priority;
                    dump.cluster = Some(name);
                }
                "qos" => match quality(name, &fields[1.min(fields.len())..]) {
                    Ok(qos) => dump.qos.push(qos),
                    Err(message) => defects.error(&place(), message),
                },
                "parent" => {
                    if parents.insert(name.clone()) {
                        dump.parents.push((name.clone(), number));
                    }
                    parent = name;
                }
                kind @ ("account" | "project" | "user") => {
                    let mut row = match kind {
                        "user" => AssociationRow::user(&name, &parent, Shares::Own(1)),
                        _ => AssociationRow::account(&name, &parent, Shares::Own(1)),
                    };
                    row.line = number;
                    for field in &fields[1.min(fields.len())..] {
                        match row.set(field) {
                            Ok(true) => {}
                            Ok(false) => defects.warnings.push(unknown(&name, field, place())),
                            Err(message) => defects.error(&place(), format!("`{name}`: {message}")),
                        }
                    }
                    dump.rows.push(row);
                }
                _ => {
                    let kind = kind.trim();
                    let expected = "expected QOS, Cluster, Parent, Account or User";
                    defects.skipped(&place(), &format!("unknown kind of entry `{kind}`: {expected}"));
                }
            }
        }
        (dump, defects)
    }
}

impl AssociationRow {
    /// Sets what an item `Option=value` says; those that do not count for priorities are skipped. Returns true if there
    /// is such an option.
    fn set(&mut self, item: &str) -> Result<bool, String> {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        let (key, value) = (key.trim(), unquoted(value));
        if abbreviates(key, "FairShare", 1) || abbreviates(key, "Shares", 1) {
            self.shares = if value.to_ascii_lowercase().starts_with("parent") || value == PARENT_NUMBER {
                Shares::Parent
            } else {
                let shares = value
                    .parse()
                    .map_err(|_| format!("shares are `{value}`, expected a whole number from 0 on, or `parent`"))?;
                Shares::Own(shares)
            };
        } else if abbreviates(key, "Priority", 2) {
            let priority = value.parse();
            self.priority =
                Some(priority.map_err(|_| format!("the priority is `{value}`, expected a whole number from 0 on"))?);
        } else if key.eq_ignore_ascii_case("Partition") {
            self.partition = Some(value.to_owned()).filter(|name| !name.is_empty());
        } else if key.eq_ignore_ascii_case("DefaultAccount") {
            self.default_account = Some(value.to_lowercase()).filter(|name| !name.is_empty());
        } else if key.eq_ignore_ascii_case("GrpTRESMins") {
            self.group_minutes = Some(value.to_owned()).filter(|limits| !limits.is_empty());
        } else {
            let limit = |prefix: &str| key.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
            return Ok(
                ["Grp", "Max"].into_iter().any(limit) || OTHERS.iter().any(|name| key.eq_ignore_ascii_case(name))
            );
        }
        Ok(true)
    }
}

/// The quality of service of a line `QOS`; options other than its priority and its usage factor do not count here.
fn quality(name: String, items: &[&str]) -> Result<Qos, String> {
    let mut qos = Qos { name, priority: 0, usage_factor: 1.0 };
    for item in items {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        let value = unquoted(value);
        if abbreviates(key.trim(), "Priority", 3) {
            qos.priority = value.parse().map_err(|_| {
                format!("the priority of QOS `{}` is `{value}`, expected a whole number from 0 on", qos.name)
            })?;
        } else if key.trim().eq_ignore_ascii_case("UsageFactor") {
            let factor = value.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 0.0);
            qos.usage_factor = factor
                .ok_or_else(|| format!("the usage factor of QOS `{}` is `{value}`, expected 0 or more", qos.name))?;
        }
    }
    Ok(qos)
}

/// The kinds of lines that have a name.
const KINDS: [&str; 7] = ["QOS", "Cluster", "Machine", "Parent", "Account", "Project", "User"];

/// Options that count for priorities.
const USED: [&str; 6] = ["FairShare", "Shares", "Priority", "Partition", "DefaultAccount", "GrpTRESMins"];

/// Options that say nothing of priorities, besides limits.
const OTHERS: [&str; 21] = [
    "AdminLevel",
    "Classification",
    "Cluster",
    "Comment",
    "Coordinator",
    "DefaultQOS",
    "DefaultWCKey",
    "Description",
    "Flags",
    "Lineage",
    "MinPrioThresh",
    "MinPriorityThreshold",
    "Names",
    "Organization",
    "Parent",
    "QOS",
    "QOSLevel",
    "RawUsage",
    "Users",
    "WCKeys",
    "WithDeleted",
];

/// Reports an unknown option: misspelled shares would silently be 1.
fn unknown(name: &str, item: &str, place: Location) -> Diagnostic {
    let key = item.split('=').next().unwrap_or_default().trim();
    let warning = Diagnostic::warning_at(format!("`{name}`: `{key}` is not an option of an association"), place);
    warning.did_you_mean(near::closest(key.as_bytes(), USED))
}

/// Returns true if an item `Option=value` is a priority.
fn is_priority(item: &str) -> bool {
    item.split_once('=').is_some_and(|(key, _)| abbreviates(key.trim(), "Priority", 2))
}

/// Returns true if a key is a beginning of a name, of so many letters at least.
fn abbreviates(key: &str, name: &str, least: usize) -> bool {
    key.len() >= least && name.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key))
}

/// The parts between colons that are outside quotes, and whether every quote is closed.
fn fields(text: &str) -> (Vec<&str>, bool) {
    let mut fields = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, ':') => {
                fields.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.push(&text[start..]);
    fields.retain(|field| !field.trim().is_empty());
    (fields, quote.is_none())
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('\'').or_else(|| inside('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_that_is_not_closed_is_told_with_its_line() {
        let text = b"Cluster - 'lab'\nAccount - 'phys:Fairshare=5\n";
        let (_, defects) = SlurmAssociations::read("lab.cfg", text);
        let reported: Vec<(u32, &str)> =
            defects.errors.iter().map(|reported| (reported.line(), reported.message.as_str())).collect();
        assert_eq!(reported, [(2, "a quote of `Account - 'phys:Fairshare=5` is not closed")]);
    }

    #[test]
    fn a_line_without_a_name_is_no_association() {
        let (dump, defects) =
            SlurmAssociations::read("d", b"User - :Fairshare=1\nUser - ''\nAccount - \"\":Fairshare=2\nParent - ''\n");
        let reported: Vec<(u32, &str)> =
            defects.errors.iter().map(|reported| (reported.line(), reported.message.as_str())).collect();
        let expected = [
            (1, "a line `User` without a name"),
            (2, "a line `User` without a name"),
            (3, "a line `Account` without a name"),
            (4, "a line `Parent` without a name"),
        ];
        assert_eq!((reported, dump.rows.len()), (expected.to_vec(), 0));
    }

    #[test]
    fn options_that_nobody_knows_are_told_and_limits_are_known() {
        let text = b"User - 'a':Frshare=2:GrpCPUs=4:MaxJobs=3:DefaultWCKey='x':Colour=red\n";
        let (dump, defects) = SlurmAssociations::read("d", text);
        assert_eq!((dump.rows[0].shares, defects.errors.len()), (Shares::Own(1), 0));
        let reported: Vec<(&str, Option<&str>)> =
            defects.warnings.iter().map(|reported| (reported.message.as_str(), reported.help.as_deref())).collect();
        let expected = [
            ("`a`: `Frshare` is not an option of an association", Some("did you mean `FairShare`?")),
            ("`a`: `Colour` is not an option of an association", None),
        ];
        assert_eq!(reported, expected);
    }

    #[test]
    fn quotes_hide_colons_and_parents_may_be_numbers() {
        let text = "Account - \"CMS\":Description='has: colon':FairShare=40:Pri=7\nParent - 'cms'\n\
                    User - 'bin':Shares=2147483647:Partition='debug':DefaultAccount='CMS':GrpTRESMins=cpu=100\n";
        let (dump, defects) = SlurmAssociations::read("d", text.as_bytes());
        assert_eq!(defects, Defects::default());
        let account =
            AssociationRow { priority: Some(7), line: 1, ..AssociationRow::account("cms", "root", Shares::Own(40)) };
        let user = AssociationRow {
            partition: Some("debug".to_owned()),
            default_account: Some("cms".to_owned()),
            group_minutes: Some("cpu=100".to_owned()),
            line: 3,
            ..AssociationRow::user("bin", "cms", Shares::Parent)
        };
        assert_eq!(dump.rows, [account, user]);
    }

    #[test]
    fn dumps_since_25_05_begin_with_qualities_of_service() {
        let text =
            b"QOS - 'normal':Description='Normal QOS default'\nQOS - 'Vast':Priority=1000:UsageFactor=2.000000\n\
                     Cluster - 'lab':Fairshare=1:QOS='vast':Priority=7\n";
        let (dump, defects) = SlurmAssociations::read("d", text);
        assert_eq!((defects, dump.root_priority), (Defects::default(), Some(7)));
        let qos = |name: &str, priority, usage_factor| Qos { name: name.to_owned(), priority, usage_factor };
        assert_eq!(dump.qos, [qos("normal", 0, 1.0), qos("vast", 1000, 2.0)]);
        let (_, defects) = SlurmAssociations::read("d", b"QOS - 'a':Priority=x\nQOS - 'b':UsageFactor=-1\n");
        assert_eq!(defects.errors.len(), 2);
    }

    #[test]
    fn wrong_shares_are_told_with_their_line() {
        for (text, found) in [("-1", "-1"), ("1.5", "1.5"), ("''", ""), ("many", "many")] {
            let text = format!("\nUser - 'ann':Fairshare={text}");
            let (_, defects) = SlurmAssociations::read("d", text.as_bytes());
            let expected = format!("`ann`: shares are `{found}`, expected a whole number from 0 on, or `parent`");
            assert_eq!(defects.errors[0].message, expected);
            assert_eq!(defects.errors[0].line(), 2);
        }
    }

    #[test]
    fn lines_of_no_known_kind_are_only_odd() {
        let (dump, defects) = SlurmAssociations::read("d", b"# comment\n\nWhat is this\nFoo - 'x'\n");
        assert!(dump.rows.is_empty() && defects.errors.is_empty());
        assert_eq!(defects.warnings.len(), 2);
        assert_eq!(defects.warnings[1].line(), 4);
    }
}
