//! Defaults of earlier versions of HTCondor, as far as they concern a negotiation cycle.
//!
//! In: a series. Out: the changes of the table of defaults since then (`docs/reference/versions.md` 6).

use std::sync::LazyLock;

use super::table;
use classmate::Series;
use classmate::internal::records::records;
use classmate::internal::semantics::LATEST;

/// A change of the default of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultChange {
    /// The variable.
    pub name: &'static str,
    /// The first release with the new default.
    pub release: &'static str,
    /// Its series.
    pub since: Series,
    /// The default before; `None` if the variable did not exist.
    pub old: Option<&'static str>,
    /// The present default, if it is not in the table of defaults.
    pub new: Option<&'static str>,
    /// True if the variable has had no effect since.
    pub gone: bool,
    /// True if only the entry in the table of defaults is new: daemons read the variable before.
    pub entry_only: bool,
    /// Earlier series whose newest releases have the change too.
    pub also: Vec<Series>,
    /// The subject of the variable.
    pub concerns: String,
}

impl DefaultChange {
    /// Tests whether a series has the change.
    pub fn is_in(&self, series: Series) -> bool {
        series >= self.since || self.also.contains(&series)
    }

    /// Tests whether the variable did not exist before.
    pub fn is_new(&self) -> bool {
        self.old.is_none() && !self.entry_only
    }
}

static CHANGES: LazyLock<Vec<DefaultChange>> = LazyLock::new(|| {
    let changes = records(include_str!("data/defaults-history.txt")).filter_map(|record| {
        let series = |text: &str| {
            let mut numbers = text.split('.').map_while(|number| number.parse().ok());
            Some(Series::new(numbers.next()?, numbers.next()?))
        };
        let release = record.get("since")?;
        let since = series(release)?;
        let also = record.get("also").unwrap_or_default().split(' ').filter_map(series).collect();
        let (old, new) = (record.get("old"), record.get("new"));
        let (gone, entry_only) = (record.get("gone").is_some(), record.get("entry").is_some());
        Some(DefaultChange {
            name: record.name,
            release,
            since,
            old,
            new,
            gone,
            entry_only,
            also,
            concerns: record.about,
        })
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
    changes().iter().find(|change| change.name.as_bytes().eq_ignore_ascii_case(name) && !change.is_in(series))
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
        assert_eq!(default_in(Series::new(10, 0), "NEGOTIATOR_INTERVAL"), Some("60"));
    }

    #[test]
    fn every_change_is_read_and_changes_the_default() {
        assert_eq!(changes().len(), 18);
        for change in changes() {
            assert!(!change.concerns.is_empty(), "{}", change.name);
            assert_ne!(change.old, default_in(change.since, change.name).filter(|_| !change.gone), "{}", change.name);
        }
    }
}
