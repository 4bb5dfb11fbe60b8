//! Associations where no dump gives any: the accounting groups, with those who have jobs in them.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 10.2.

use hashbrown::HashSet;

use crate::pool::ad_reader::AdReader;
use crate::quota::QuotaSettings;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate_config::internal::config::slurm::{AssociationRow, Shares, SlurmAssociations};
use classmate_config::internal::config::{Config, ConfigError};

/// The associations of configured groups and of jobs: a share each, or the whole part of a group's static quota.
///
/// # Errors
/// A setting of the groups that is wrong.
pub fn associations(
    config: &Config,
    jobs: &[ClassAd],
    settings: &EvalOptions,
) -> Result<SlurmAssociations, ConfigError> {
    let mut derived = Derived::default();
    for group in QuotaSettings::read(config)?.groups {
        let path = String::from_utf8_lossy(&group.name).to_lowercase();
        let shares = group.fixed.map_or(1, |quota| (quota.value as u32).max(1));
        derived.account(&path, shares);
    }
    for ad in jobs {
        let facts = AdReader::of(ad, settings);
        let text = |name: &str| {
            let text = facts.string(name).filter(|text| !text.is_empty())?;
            let text = String::from_utf8_lossy(&text).to_lowercase();
            Some(text.split('@').next().unwrap_or_default().to_owned())
        };
        let owner = || text("Owner").or_else(|| text("User"));
        let (path, user) = match (text("AccountingGroup"), text("AcctGroup")) {
            (Some(whole), _) => match whole.rsplit_once('.') {
                Some((path, user)) => (path.to_owned(), Some(user.to_owned())),
                None if derived.accounts.contains(&whole) => (whole, owner()),
                None => (String::new(), Some(whole)),
            },
            (None, Some(group)) => (group, text("AcctGroupUser").or_else(owner)),
            (None, None) => (String::new(), owner()),
        };
        // The account that a job names takes precedence over that of its group.
        let path = text("SlurmAccount").unwrap_or(path);
        if let Some(user) = user.filter(|user| !user.is_empty()) {
            let account = derived.account(&path, 1);
            derived.user(&user, account);
        }
    }
    let mut rows = derived.account_rows;
    rows.append(&mut derived.user_rows);
    Ok(SlurmAssociations { file: "the accounting groups".to_owned(), rows, ..SlurmAssociations::default() })
}

#[derive(Default)]
struct Derived {
    accounts: HashSet<String>,
    users: HashSet<(String, String)>,
    account_rows: Vec<AssociationRow>,
    user_rows: Vec<AssociationRow>,
}

impl Derived {
    /// Makes the accounts of a path; gives the last one.
    fn account<'p>(&mut self, path: &'p str, shares: u32) -> &'p str {
        let mut parent = "root";
        let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        for (at, &part) in parts.iter().enumerate() {
            // Accounts have unique names: a second group of the same last name is the same account.
            if part != "root" && self.accounts.insert(part.to_owned()) {
                let shares = if at + 1 == parts.len() { shares } else { 1 };
                self.account_rows.push(AssociationRow::account(part, parent, Shares::Own(shares)));
            }
            parent = part;
        }
        parent
    }

    fn user(&mut self, user: &str, account: &str) {
        if self.users.insert((user.to_owned(), account.to_owned())) {
            self.user_rows.push(AssociationRow::user(user, account, Shares::Own(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::slurm::AssociationTree;

    #[test]
    fn groups_become_accounts_with_their_quotas_as_shares() {
        let config =
            Config::parse("c", b"GROUP_NAMES = a, a.b, c\nGROUP_QUOTA_a = 30.7\nGROUP_QUOTA_DYNAMIC_c = 0.5\n")
                .unwrap();
        let job = |text: &str| ClassAd::parse(format!("[{text}]").as_bytes()).unwrap();
        let jobs = [
            job("AccountingGroup = \"a.b.Ann\""),
            job("AccountingGroup = \"a.b.ann\""),
            job("AccountingGroup = \"c\"; Owner = \"joe\""),
            job("User = \"eve@x\""),
            job("AcctGroup = \"d\"; AcctGroupUser = \"max\""),
            job("AccountingGroup = \"a.b.sue\"; SlurmAccount = \"C\""),
        ];
        let found = associations(&config, &jobs, &EvalOptions::default()).unwrap();
        let tree = AssociationTree::new(&found).unwrap();
        let keys: Vec<_> = tree.nodes().iter().map(|node| (node.key(), node.shares)).collect();
        let expected = ["root", "a", "b", "c", "d", "b/ann", "c/joe", "root/eve", "d/max", "c/sue"];
        assert_eq!(keys.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), expected);
        assert_eq!(keys[1].1, Shares::Own(30));
    }
}
