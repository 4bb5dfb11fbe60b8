//! Defaults of earlier versions of HTCondor, as far as they concern a negotiation cycle, and variables that were removed.
//!
//! In: a series. Out: the changes of the table of defaults since then (`docs/reference/versions.md` 6).

use std::sync::LazyLock;

use super::table;
use classmate::Series;
use classmate::internal::records::{Record, records};
use classmate::internal::semantics::LATEST;

/// The releases that have a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedReleases {
    /// The first release, and its series.
    release: &'static str,
    since: Series,
    /// The newest series that does not have the change, if those between were not looked at.
    lacking: Option<Series>,
    /// Earlier series whose newest releases have the change too.
    also: Vec<Series>,
}

impl ChangedReleases {
    /// The first release, with `@lacking` and `@also` of a record.
    pub fn read(release: &'static str, record: &Record) -> Option<Self> {
        let series = |text: &str| {
            let mut numbers = text.split('.').map_while(|number| number.parse().ok());
            Some(Series::new(numbers.next()?, numbers.next()?))
        };
        let also = record.get("also").unwrap_or_default().split(' ').filter_map(series).collect();
        Some(Self { release, since: series(release)?, lacking: record.get("lacking").and_then(series), also })
    }

    /// Tests whether a series has the change.
    pub fn is_in(&self, series: Series) -> bool {
        series >= self.since || self.also.contains(&series)
    }

    /// Tests whether a series was not looked at.
    pub fn is_unknown_in(&self, series: Series) -> bool {
        self.lacking.is_some_and(|lacking| lacking < series && series < self.since)
    }

    /// The first release, as text.
    pub fn first(&self) -> String {
        let unsure = if self.lacking.is_some() { " or earlier" } else { "" };
        format!("{}{unsure}", self.release)
    }

    /// The release or series that has the change, or is the first without it, between two series of which only one has it.
    pub fn between(&self, one: Series, other: Series) -> Option<String> {
        let (low, high) = (one.min(other), one.max(other));
        if self.is_in(low) == self.is_in(high) {
            return None;
        }
        if self.since <= high {
            return Some(self.first());
        }
        let mut passed = self.also.iter().filter(|series| low <= **series && **series <= high);
        if self.is_in(high) {
            return passed.next().map(ToString::to_string);
        }
        passed.next_back().map(|last| Series::new(last.major, last.minor + 1).to_string())
    }
}

/// A name that a version does not have any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovedName {
    /// A variable, which has had no effect since.
    Variable,
    /// A macro, to which other variables referred.
    Macro,
}

/// A change of the default of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultChange {
    /// The variable.
    pub name: &'static str,
    /// The releases with the new default.
    pub releases: ChangedReleases,
    /// The default before; `None` if the variable did not exist.
    pub old: Option<&'static str>,
    /// The present default, if it is not in the table of defaults.
    pub new: Option<&'static str>,
    /// True if the defaults are in HTCondor's code, not in its table of defaults.
    pub in_code: bool,
    /// The kind of name that the change removed, if it did.
    pub removed: Option<RemovedName>,
    /// True if only the entry in the table of defaults is new: daemons read the variable before.
    pub entry_only: bool,
    /// The subject of the variable.
    pub concerns: String,
}

impl DefaultChange {
    /// Tests whether the variable has had no effect since.
    pub fn is_removal(&self) -> bool {
        self.removed == Some(RemovedName::Variable)
    }

    /// Tests whether a series certainly does not have the variable.
    pub fn is_missing_in(&self, series: Series) -> bool {
        self.old.is_none()
            && !self.is_removal()
            && !self.entry_only
            && !self.releases.is_in(series)
            && !self.releases.is_unknown_in(series)
    }
}

static CHANGES: LazyLock<Vec<DefaultChange>> = LazyLock::new(|| {
    let changes = records(include_str!("data/defaults-history.txt")).filter_map(|record| {
        let releases = ChangedReleases::read(record.get("since")?, &record)?;
        let (old, new) = (record.get("old"), record.get("new"));
        let has = |field| record.get(field).is_some();
        let (in_code, entry_only) = (has("code"), has("entry"));
        let removed = match (has("gone"), has("macro")) {
            (true, _) => Some(RemovedName::Variable),
            (_, true) => Some(RemovedName::Macro),
            _ => None,
        };
        let (name, concerns) = (record.name, record.about);
        Some(DefaultChange { name, releases, old, new, in_code, removed, entry_only, concerns })
    });
    changes.collect()
});

/// All changes; those of one variable oldest first.
pub fn changes() -> &'static [DefaultChange] {
    &CHANGES
}

/// The first change of a variable after a series, if there is one: the default in the series is that before the change.
pub fn change(series: Series, name: &[u8]) -> Option<&'static DefaultChange> {
    if series >= LATEST {
        return None;
    }
    changes().iter().find(|change| change.name.as_bytes().eq_ignore_ascii_case(name) && !change.releases.is_in(series))
}

/// The change after which a variable has no effect any more, if there is one.
pub fn removal(name: &[u8]) -> Option<&'static DefaultChange> {
    changes().iter().find(|change| change.is_removal() && change.name.as_bytes().eq_ignore_ascii_case(name))
}

/// The default of a variable in a series; `None` if the variable does not exist there, or has no default.
pub fn default_in(series: Series, name: &str) -> Option<&'static str> {
    let of_variable = || changes().iter().filter(|change| change.name.eq_ignore_ascii_case(name));
    match change(series, name.as_bytes()) {
        Some(change) => change.old,
        None => of_variable().find_map(|change| change.new).or_else(|| table::default_text(name.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes of the reference, and today's table.
    #[test]
    fn a_default_is_that_of_the_series() {
        let disk = |major, minor| default_in(Series::new(major, minor), "modify_request_expr_requestdisk");
        assert_eq!(disk(24, 0), Some("quantize(RequestDisk,{1024})"));
        // Those of 24.12.20 and 25.0.10.
        assert_eq!(disk(24, 12), Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})"));
        assert_eq!(disk(25, 0), Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})"));
        assert_eq!(disk(25, 7), Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})"));
        assert_eq!(disk(25, 11), Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})"));
        assert_eq!(disk(25, 12), Some("quantize(RequestDisk - $(CATALOG_SPACE),{Target.DiskQuantum?:1024})"));
        assert_eq!(default_in(Series::new(25, 4), "REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX"), None);
        assert_eq!(default_in(Series::new(25, 5), "REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX"), Some("^Slot[0-9]*_"));
        // 25.11.0 does not have it, 25.12.2 does.
        assert_eq!(default_in(Series::new(25, 11), "CATALOG_SPACE"), None);
        assert!(default_in(Series::new(25, 12), "CATALOG_SPACE").is_some_and(|text| text.contains("MappingMethod")));
        assert_eq!(default_in(Series::new(10, 0), "NEGOTIATOR_INTERVAL"), Some("60"));
    }

    #[test]
    fn every_change_is_read_and_changes_the_default() {
        assert_eq!(changes().len(), 67);
        for change in changes() {
            assert!(!change.concerns.is_empty(), "{}", change.name);
            let now = default_in(change.releases.since, change.name);
            assert!(change.old != now || change.is_removal(), "{}", change.name);
            assert!(now.is_none() || change.removed.is_none(), "{}", change.name);
        }
    }

    /// The keys of `htcondor.param` in 10.0.9, 10.9.0, 23.0.28, 23.10.29, 24.0.20, 25.10.1 and 25.11.0.
    #[test]
    fn removed_variables_have_their_defaults_until_they_were_removed() {
        let has = |name: &str, (major, minor): (u16, u16)| default_in(Series::new(major, minor), name);
        for (name, last, first, default) in [
            ("IGNORE_LEAF_OOM", (10, 0), (10, 9), "true"),
            ("CPUBusy", (10, 0), (10, 9), "($(NonCondorLoadAvg) >= $(HighLoad))"),
            ("THINPOOL_EXTRA_SIZE_MB", (23, 0), (23, 10), "2000"),
            ("COLLECTOR_REPEAT_STARTD_ADS", (23, 10), (24, 0), "0"),
            ("STARTD_SENDS_ALIVES", (25, 0), (25, 10), "peer"),
            ("SEC_INVALIDATE_SESSIONS_VIA_TCP", (25, 10), (25, 11), "true"),
        ] {
            assert_eq!((has(name, last), has(name, first)), (Some(default), None), "{name}");
        }
        // Variables without a default.
        let removed = removal(b"gridmap").unwrap();
        assert!(!removed.releases.is_in(Series::new(10, 0)) && !removed.is_missing_in(Series::new(10, 0)));
    }
}
