//! A change of the settings of a pool: what is set, and the snapshot that it makes.
//!
//! In: a snapshot. Out: the same with the change. Used by searches that replay cycles.

use classmate_config::ConfigError;
use classmate_pool::internal::accountant::Ungrouped;
use classmate_pool::internal::accountant::edit::Edit;
use classmate_pool::internal::accountant::factor::FactorRules;
use classmate_pool::internal::negotiate::rules::Rules;
use classmate_pool::{CommitError, Snapshot};

/// A change of the settings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SettingChange {
    /// A variable of the configuration and its value.
    Line(String, String),
    /// The priority factor of a submitter, before and after.
    Factor(String, u64, u64),
    /// The ceiling of a submitter, in weighted slots.
    Ceiling(String, i64),
}

impl SettingChange {
    /// The line of a configuration, or the command.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Line(name, value) => format!("{name} = {value}"),
            Self::Factor(name, _, factor) => format!("condor_userprio -setfactor {name} {factor}"),
            Self::Ceiling(name, ceiling) => format!("condor_userprio -setceiling {name} {ceiling}"),
        }
    }

    /// The setting that is changed: two changes of one setting exclude each other.
    pub(crate) fn setting(&self) -> &str {
        match self {
            Self::Line(name, _) | Self::Factor(name, ..) | Self::Ceiling(name, _) => name,
        }
    }

    /// Makes the change.
    ///
    /// # Errors
    /// A value that the setting cannot have.
    pub(crate) fn apply(&self, snapshot: &mut Snapshot) -> Result<(), CommitError> {
        let edit = match self {
            Self::Line(..) => return Ok(snapshot.config.add("change", self.shown().as_bytes())?),
            Self::Factor(name, _, factor) => Edit::Factor(name.clone().into_bytes(), *factor as f64),
            Self::Ceiling(name, ceiling) => Edit::Ceiling(name.clone().into_bytes(), *ceiling),
        };
        let rules = Rules::read(&snapshot.config, &snapshot.settings())?;
        let log = snapshot.log.take().unwrap_or_default();
        let factors = FactorRules::new(&rules.knobs.accountant);
        let edited = edit.applied(&log, factors, &Ungrouped, snapshot.now);
        snapshot.log = Some(edited.map_err(|error| ConfigError::without_place(error.to_string()))?);
        Ok(())
    }
}
