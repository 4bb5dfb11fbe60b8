//! Defaults of earlier versions of HTCondor, and variables that these do not have.
//!
//! In: a series. Out: its table of defaults, as far as it is not the present one (`docs/reference/versions.md` 6).

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::table;
use classmate::Series;
use classmate::internal::records::{Record, records};
use classmate::internal::semantics::LATEST;

/// The series of a release.
fn series_of(release: &str) -> Option<Series> {
    let mut numbers = release.split('.').map_while(|number| number.parse().ok());
    Some(Series::new(numbers.next()?, numbers.next()?))
}

/// The releases that have a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedReleases {
    /// The first release, and its series.
    release: &'static str,
    since: Series,
    /// Earlier series whose newest releases have the change too.
    also: Vec<Series>,
}

impl ChangedReleases {
    /// The first release, with `@also` of a record.
    pub fn read(release: &'static str, record: &Record) -> Option<Self> {
        let also = record.get("also").unwrap_or_default().split(' ').filter_map(series_of).collect();
        Some(Self { release, since: series_of(release)?, also })
    }

    /// Tests whether a series has the change.
    pub fn is_in(&self, series: Series) -> bool {
        series >= self.since || self.also.contains(&series)
    }

    /// The release or series that has the change, or is the first without it, between two series of which only one has it.
    pub fn between(&self, one: Series, other: Series) -> Option<String> {
        let (low, high) = (one.min(other), one.max(other));
        if self.is_in(low) == self.is_in(high) {
            return None;
        }
        if self.since <= high {
            return Some(self.release.to_owned());
        }
        let mut passed = self.also.iter().filter(|series| low <= **series && **series <= high);
        if self.is_in(high) {
            return passed.next().map(ToString::to_string);
        }
        passed.next_back().map(|last| Series::new(last.major, last.minor + 1).to_string())
    }
}

/// The state of a variable in the table of defaults of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableState {
    /// The version does not have the variable.
    Absent,
    /// Daemons read the variable, and the table does not have it.
    Unlisted,
    /// The default.
    Text(&'static str),
    /// The present default.
    Present,
}

impl TableState {
    fn read(text: &'static str) -> Option<Self> {
        Some(match text {
            "absent" => TableState::Absent,
            "unlisted" => TableState::Unlisted,
            "now" => TableState::Present,
            _ => TableState::Text(text.strip_prefix('=')?.trim_start()),
        })
    }
}

/// The states of a variable that changed in HTCondor's table of defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableHistory {
    /// The variable.
    pub name: &'static str,
    /// Releases with their series, oldest first, and the state from each on.
    states: Vec<(&'static str, Series, TableState)>,
    /// True if the defaults are in HTCondor's code, not in its table of defaults.
    in_code: bool,
    /// True if only the entry in the table of defaults is new: daemons read the variable before, with the same default.
    pub entry_only: bool,
    /// True if only other variables refer to it.
    pub is_macro: bool,
    /// The subject of the variable; empty if a negotiation cycle does not depend on it.
    pub concerns: String,
}

impl VariableHistory {
    fn read(record: Record) -> Option<Self> {
        let state = |(release, text): &(&'static str, &'static str)| {
            Some((*release, series_of(release)?, TableState::read(text)?))
        };
        let states: Vec<_> = record.fields.iter().filter_map(state).collect();
        let [in_code, entry_only, is_macro] = ["code", "entry", "macro"].map(|field| record.get(field).is_some());
        let Record { name, about: concerns, .. } = record;
        (!states.is_empty()).then_some(Self { name, states, in_code, entry_only, is_macro, concerns })
    }

    fn state(&self, series: Series) -> TableState {
        let known = self.states.iter().rfind(|(_, since, _)| *since <= series).or(self.states.first());
        known.map_or(TableState::Absent, |(.., state)| *state)
    }

    /// The default in a series; `None` if the series does not have the variable, or its table does not.
    pub fn default_in(&self, series: Series) -> Option<&'static str> {
        match self.state(series) {
            TableState::Absent | TableState::Unlisted => None,
            TableState::Text(text) => Some(text),
            TableState::Present => table::default_text(self.name.as_bytes()),
        }
    }

    /// Tests whether a series does not have the variable.
    pub fn is_missing_in(&self, series: Series) -> bool {
        self.state(series) == TableState::Absent
    }

    /// The last change between two series, which is the first release with it; `None` if both have the same state.
    pub fn between(&self, one: Series, other: Series) -> Option<&'static str> {
        let (low, high) = (one.min(other), one.max(other));
        let is_passed = |(_, since, _): &&(_, Series, _)| low < *since && *since <= high;
        let last = self.states.iter().rfind(is_passed)?;
        (self.state(low) != self.state(high)).then_some(last.0)
    }

    /// The first release after a series that has the variable.
    pub fn first_after(&self, series: Series) -> Option<&'static str> {
        let later = self.states.iter().find(|(_, since, state)| series < *since && *state != TableState::Absent);
        later.map(|(release, ..)| *release)
    }

    /// The release from which on the variable has no effect, if there is one.
    pub fn removal(&self) -> Option<&'static str> {
        let (release, _, state) = self.states.last()?;
        (*state == TableState::Absent && !self.is_macro).then_some(release)
    }
}

static HISTORIES: LazyLock<Vec<VariableHistory>> =
    LazyLock::new(|| records(include_str!("data/defaults-history.txt")).filter_map(VariableHistory::read).collect());

static BY_NAME: LazyLock<HashMap<Vec<u8>, &'static VariableHistory>> = LazyLock::new(|| {
    HISTORIES.iter().map(|history| (history.name.to_ascii_uppercase().into_bytes(), history)).collect()
});

/// All variables that changed.
pub fn histories() -> &'static [VariableHistory] {
    &HISTORIES
}

/// The history of a variable (any case), if it changed.
pub fn history(name: &[u8]) -> Option<&'static VariableHistory> {
    BY_NAME.get(&name.to_ascii_uppercase()).copied()
}

/// The entry of a name in upper case in the table of defaults of a series: the name as it is spelled there, and its text.
pub(crate) fn entry(series: Series, upper: &[u8]) -> Option<(&'static str, &'static str)> {
    match BY_NAME.get(upper).filter(|_| series < LATEST) {
        Some(history) if !history.in_code => Some((history.name, history.default_in(series)?)),
        _ => table::entry(upper),
    }
}

/// The default of a variable in a series; `None` if the variable does not exist there, or has no default.
pub fn default_in(series: Series, name: &str) -> Option<&'static str> {
    match history(name.as_bytes()) {
        Some(history) => history.default_in(series),
        None => table::default_text(name.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::Semantics;

    fn series(text: &str) -> Series {
        text.parse::<Semantics>().unwrap().series()
    }

    /// The changes of the reference, and today's table.
    #[test]
    fn a_default_is_that_of_the_series() {
        let disk = |text: &str| default_in(series(text), "modify_request_expr_requestdisk");
        let late = Some("quantize(RequestDisk,{Target.DiskQuantum?:1024})");
        assert_eq!(disk("24.0"), Some("quantize(RequestDisk,{1024})"));
        // Those of 24.12.20 and 25.0.10.
        assert_eq!((disk("24.12"), disk("25.0")), (late, late));
        assert_eq!((disk("25.7"), disk("25.11")), (late, late));
        assert_eq!(disk("25.12"), Some("quantize(RequestDisk - $(CATALOG_SPACE),{Target.DiskQuantum?:1024})"));
        assert_eq!(default_in(series("25.4"), "REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX"), None);
        assert_eq!(default_in(series("25.5"), "REMOVE_SIGNIFICANT_ATTRIBUTES_REGEX"), Some("^Slot[0-9]*_"));
        // 25.11.0 does not have it, 25.12.2 does.
        assert_eq!(default_in(series("25.11"), "CATALOG_SPACE"), None);
        assert!(default_in(series("25.12"), "CATALOG_SPACE").is_some_and(|text| text.contains("MappingMethod")));
        assert_eq!(default_in(series("10.0"), "NEGOTIATOR_INTERVAL"), Some("60"));
    }

    #[test]
    fn every_record_is_read_and_each_state_is_another_one() {
        assert_eq!(histories().len(), records(include_str!("data/defaults-history.txt")).count());
        for one in histories() {
            assert!(one.states.is_sorted_by(|one, other| one.1 < other.1), "{}", one.name);
            assert!(one.states.windows(2).all(|pair| pair[0].2 != pair[1].2), "{}", one.name);
            assert!(one.states.len() > 1, "{}", one.name);
            let ends_with_the_table = one.default_in(LATEST) == table::default_text(one.name.as_bytes());
            assert!(ends_with_the_table || one.in_code, "{}", one.name);
        }
    }

    /// The names that `htcondor.param` has in twelve recorded releases: those with a default that is not empty.
    #[test]
    fn variables_exist_in_the_releases_that_were_recorded_with_them() {
        let (mut compared, mut columns) = (0, Vec::new());
        for line in include_str!("data/recorded-names.txt").lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let name = words.next().unwrap();
            if name == "NAME" {
                columns = words.map(series).collect();
                continue;
            }
            for (series, mark) in columns.iter().zip(words.next().unwrap().bytes()) {
                let has = default_in(*series, name).is_some_and(|text| !text.is_empty());
                assert_eq!(has, mark == b'1', "{name} in {series}");
                compared += 1;
            }
        }
        assert!(compared > 1000, "{compared}");
    }

    /// The keys of `htcondor.param` in 10.0.9, 10.9.0, 23.0.28, 23.10.29, 24.0.20, 25.10.1 and 25.11.0.
    #[test]
    fn removed_variables_have_their_defaults_until_they_were_removed() {
        let has = |name: &str, text: &str| default_in(series(text), name);
        for (name, last, first, default) in [
            ("IGNORE_LEAF_OOM", "10.0", "10.9", "true"),
            ("CPUBusy", "10.0", "10.9", "($(NonCondorLoadAvg) >= $(HighLoad))"),
            ("THINPOOL_EXTRA_SIZE_MB", "23.0", "23.10", "2000"),
            ("COLLECTOR_REPEAT_STARTD_ADS", "23.10", "24.0", "0"),
            ("STARTD_SENDS_ALIVES", "25.0", "25.10", "peer"),
            ("SEC_INVALIDATE_SESSIONS_VIA_TCP", "25.10", "25.11", "true"),
        ] {
            assert_eq!((has(name, last), has(name, first)), (Some(default), None), "{name}");
        }
        // A variable without a default.
        let removed = history(b"gridmap").unwrap();
        assert!(removed.removal().is_some() && !removed.is_missing_in(series("10.0")));
    }
}
