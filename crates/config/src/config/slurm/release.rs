//! Releases of Slurm, where they print or order things differently.
//!
//! Formula source: `docs/reference/slurm-multifactor.md` 7.3.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A release such as 22.05: the year and the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Release {
    year: u16,
    month: u16,
}

impl Default for Release {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}.{:02}", self.year, self.month)
    }
}

impl Release {
    /// The newest release that this program knows.
    pub const NEWEST: Self = Self { year: 26, month: 5 };
    /// The release that files from before 24.05 count as.
    pub const OLD: Self = Self { year: 22, month: 5 };

    /// Reads `YY.MM`, with or without the number of an update.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Release;
    /// assert_eq!(Release::parse("22.05.8"), Some(Release::OLD));
    /// assert!(Release::parse("23.11") < Release::parse("24.05"));
    /// assert_eq!(Release::parse("new"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let year = parts.next()?.parse().ok().filter(|year| *year < 100)?;
        let month = parts.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
        parts.all(|part| part.parse::<u16>().is_ok()).then_some(Self { year, month })
    }

    /// The release of a listing of `sacctmgr -P show qos`: 24.05 added columns between two that are older.
    ///
    /// ```
    /// use classmate_config::internal::config::slurm::Release;
    /// assert_eq!(Release::of_qos(b"Name|Priority|MaxTRESPA|MaxJobsPA|MinTRES\n"), Some(Release::OLD));
    /// assert_eq!(Release::of_qos(b"Name|Priority\n"), None);
    /// ```
    pub fn of_qos(listing: &[u8]) -> Option<Self> {
        let header = String::from_utf8_lossy(listing.split(|&byte| byte == b'\n').next().unwrap_or_default());
        let has = |name: &str| header.split('|').any(|column| column.trim() == name);
        (has("MaxTRESPA") && has("MinTRES")).then(|| if has("MaxTRESRunMinsPA") { Self::NEWEST } else { Self::OLD })
    }

    /// The release of records of `scontrol show assoc_mgr`: until 23.02 they have their place in nested sets.
    pub fn of_associations(records: &[u8]) -> Option<Self> {
        let has = |name: &[u8]| memchr::memmem::find(records, name).is_some();
        if !has(b"SharesRaw/") {
            None
        } else if has(b" Lft=") {
            Some(Self::OLD)
        } else {
            has(b" Lineage=").then_some(Self::NEWEST)
        }
    }

    /// True if `sprio -l` has the columns of accounts and QOS.
    pub fn names_accounts(self) -> bool {
        self >= Self { year: 23, month: 2 }
    }

    /// True if `sprio` prints plain zeros for jobs with a priority set by hand. Before, their factors were zeros with seven
    /// digits, and those in several partitions had what is left of their site factor and nice value, both 0 - 2^31.
    pub fn prints_zeros(self) -> bool {
        self >= Self { year: 23, month: 2 }
    }

    /// True if `sshare` computes the factors of the classic algorithms itself, for accounts too.
    pub fn rates_accounts(self) -> bool {
        self < Self { year: 25, month: 11 }
    }
}
