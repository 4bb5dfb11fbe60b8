//! An administrator's changes to priorities and usage.
//!
//! In: an operation and the log. Out: the transaction that performs it, and the message to print. Formula source:
//! `docs/reference/accountant.md` 6, 7.

use super::GroupOf;
use super::customer::written;
use super::entry::Unwritable;
use super::factor::FactorRules;
use super::journal::Transaction;
use super::lease::{LeaseError, LeaseKind};
use super::log::AccountantLog;
use super::store::changes;
use super::usage::Accountant;

/// One change; names are full names of submitters.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Set the real priority.
    Priority(Vec<u8>, f64),
    /// Set the priority factor, at least 1.
    Factor(Vec<u8>, f64),
    /// Set the ceiling, weighted slots; -1: none.
    Ceiling(Vec<u8>, i64),
    /// Set the floor, weighted slots.
    Floor(Vec<u8>, i64),
    /// Set one of the three for some seconds.
    Lease(LeaseKind, Vec<u8>, f64, i64),
    /// End a lease now.
    CancelLease(LeaseKind, Vec<u8>),
    /// Set the weighted accumulated usage, weighted slot-seconds.
    Accumulated(Vec<u8>, f64),
    /// Set when usage began, epoch seconds.
    Begin(Vec<u8>, i64),
    /// Set when there was usage last, epoch seconds.
    Last(Vec<u8>, i64),
    /// Set the accumulated usage to nothing, as of now.
    ResetUsage(Vec<u8>),
    /// The same for all users.
    ResetAll,
    /// Remove the record.
    Delete(Vec<u8>),
}

/// The reason for which a change is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A group, or no name of a submitter at all.
    #[error("`{name}` is not the full name of a submitter: expected user@domain")]
    Name {
        /// The given name.
        name: String,
    },
    /// A value outside its range.
    #[error("`{value}` is out of range: expected {expected}")]
    Value {
        /// The given value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// The lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The log cannot hold the name.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
}

/// A change that is ready to be committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// The changes to write.
    pub transaction: Transaction,
    /// The message to print, in the words of `condor_userprio`.
    pub message: String,
    /// True if there was a record to change; others begin with the defaults.
    pub known: bool,
}

impl Edit {
    /// The user concerned; none: all users.
    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Priority(name, _)
            | Self::Factor(name, _)
            | Self::Ceiling(name, _)
            | Self::Floor(name, _)
            | Self::Lease(_, name, ..)
            | Self::CancelLease(_, name)
            | Self::Accumulated(name, _)
            | Self::Begin(name, _)
            | Self::Last(name, _)
            | Self::ResetUsage(name)
            | Self::Delete(name) => Some(name),
            Self::ResetAll => None,
        }
    }

    /// Makes the change to the records of a log at `now` (epoch seconds).
    ///
    /// # Errors
    /// A name or a value that will not do, or a lease that is in the way or missing.
    ///
    /// ```
    /// use classmate_pool::internal::accountant::{AccountantLog, Ungrouped, edit::Edit, factor::FactorRules};
    /// # use classmate_config::internal::config::{Config, knobs::NegotiatorKnobs};
    /// # let knobs = NegotiatorKnobs::read(&Config::default()).unwrap();
    /// let edit = Edit::Priority(b"alice@example.org".to_vec(), 5.0);
    /// let edited = edit.apply(&AccountantLog::default(), FactorRules::new(&knobs.accountant), &Ungrouped, 0).unwrap();
    /// assert_eq!(edited.message, "The priority of alice@example.org was set to 5.000000");
    /// assert!(edited.transaction.as_bytes().ends_with(b"Priority 5.000000\n"));
    /// ```
    pub fn apply(
        &self,
        log: &AccountantLog,
        rules: FactorRules,
        groups: &dyn GroupOf,
        now: i64,
    ) -> Result<Edited, EditError> {
        let name = self.name().unwrap_or_default();
        let shown = String::from_utf8_lossy(name).into_owned();
        if self.name().is_some() && !name.contains(&b'@') {
            return Err(EditError::Name { name: shown });
        }
        self.check()?;
        let mut accountant = Accountant::from_log(log, rules);
        let known = self.name().is_none_or(|name| accountant.get(name).is_some());
        let message = self.make(&mut accountant, groups, now, &shown)?;
        Ok(Edited { transaction: changes(&accountant, log)?, message, known })
    }

    /// The log after the change, in memory alone.
    ///
    /// # Errors
    /// As for [`Self::apply`].
    pub fn applied(
        &self,
        log: &AccountantLog,
        rules: FactorRules,
        groups: &dyn GroupOf,
        now: i64,
    ) -> Result<AccountantLog, EditError> {
        let edited = self.apply(log, rules, groups, now)?;
        let mut log = log.clone();
        log.change(&edited.transaction);
        Ok(log)
    }

    fn check(&self) -> Result<(), EditError> {
        let (value, fits, expected) = match self {
            Self::Priority(_, value) => (*value, value.is_finite(), "a finite number"),
            Self::Factor(_, value) => (*value, value.is_finite() && *value >= 1.0, "a number of at least 1"),
            Self::Ceiling(_, value) => (*value as f64, *value >= -1, "-1 (unlimited) or a whole number of slots"),
            Self::Floor(_, value) => (*value as f64, *value >= 0, "a whole number of slots"),
            Self::Accumulated(_, value) => (*value, value.is_finite() && *value >= 0.0, "seconds, at least 0"),
            Self::Begin(_, value) | Self::Last(_, value) => {
                (*value as f64, *value >= 0, "seconds since 1970, at least 0")
            }
            _ => return Ok(()),
        };
        if fits { Ok(()) } else { Err(EditError::Value { value: value.to_string(), expected }) }
    }

    fn make(
        &self,
        accountant: &mut Accountant,
        groups: &dyn GroupOf,
        now: i64,
        shown: &str,
    ) -> Result<String, EditError> {
        Ok(match self {
            Self::Priority(name, value) => {
                accountant.edit(name).priority = written(*value);
                format!("The priority of {shown} was set to {value:.6}")
            }
            Self::Factor(name, value) => {
                accountant.edit(name).factor = Some(written(*value));
                format!("The priority factor of {shown} was set to {value:.6}")
            }
            Self::Ceiling(name, value) => {
                accountant.edit(name).ceiling = *value;
                format!("The ceiling of {shown} was set to {value}")
            }
            Self::Floor(name, value) => {
                accountant.edit(name).floor = *value;
                format!("The floor of {shown} was set to {value}")
            }
            Self::Lease(kind, name, value, duration) => {
                let factor = accountant.factor(name, groups);
                accountant.edit(name).lease(*kind, name, written(*value), *duration, now, factor)?;
                let value = match kind {
                    LeaseKind::Factor => format!("{value:.6}"),
                    LeaseKind::Ceiling | LeaseKind::Floor => value.to_string(),
                };
                format!("Set {} lease on {shown} to {value} for {duration} seconds", kind.as_str())
            }
            Self::CancelLease(kind, name) => {
                accountant.edit(name).cancel_lease(*kind, name)?;
                format!("Cancelled {} lease for {shown}", kind.as_str())
            }
            Self::Accumulated(name, value) => {
                accountant.edit(name).weighted_accumulated = Some(written(*value));
                format!("The Accumulated Usage of {shown} was set to {value:.6}")
            }
            Self::Begin(name, time) => {
                accountant.edit(name).begin_usage = *time;
                format!("The Begin Usage Time of {shown} was set to {time}")
            }
            Self::Last(name, time) => {
                accountant.edit(name).last_usage = *time;
                format!("The Last Usage Time of {shown} was set to {time}")
            }
            Self::ResetUsage(name) => {
                accountant.edit(name).reset_accumulated(now);
                format!("The accumulated usage of {shown} was reset")
            }
            Self::ResetAll => {
                accountant.reset_accumulated(now);
                "The accumulated usage was reset for all users".to_owned()
            }
            Self::Delete(name) => {
                accountant.remove(name);
                format!("The accountant record named {shown} was deleted")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ungrouped;
    use super::*;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    const LOG: &str = "101 Customer.a@x * *\n103 Customer.a@x PriorityFactor 1000.000000\n\
                       103 Customer.a@x AccumulatedUsage 50.000000\n103 Customer.a@x WeightedAccumulatedUsage 90.000000\n\
                       103 Customer.a@x BeginUsageTime 10\n";

    fn apply(edit: &Edit) -> Result<Edited, EditError> {
        let knobs = NegotiatorKnobs::read(&Config::default()).unwrap();
        edit.apply(&AccountantLog::read(LOG.as_bytes()).unwrap(), FactorRules::new(&knobs.accountant), &Ungrouped, 1000)
    }

    fn lines(edit: &Edit) -> String {
        String::from_utf8(apply(edit).unwrap().transaction.as_bytes().to_vec()).unwrap()
    }

    fn a() -> Vec<u8> {
        b"a@x".to_vec()
    }

    #[test]
    fn only_what_changes_is_written() {
        let cases = [
            (Edit::Priority(a(), 5.0), "103 Customer.a@x Priority 5.000000\n"),
            (Edit::Priority(a(), 0.5), ""),
            (Edit::Factor(a(), 1000.0), ""),
            (Edit::Factor(a(), 1.5), "103 Customer.a@x PriorityFactor 1.500000\n"),
            (Edit::Ceiling(a(), 4), "103 Customer.a@x Ceiling 4\n"),
            (Edit::Floor(a(), 4), "103 Customer.a@x Floor 4\n"),
            (Edit::Accumulated(a(), 7.0), "103 Customer.a@x WeightedAccumulatedUsage 7.000000\n"),
            (Edit::Begin(a(), 7), "103 Customer.a@x BeginUsageTime 7\n"),
            (Edit::Last(a(), 7), "103 Customer.a@x LastUsageTime 7\n"),
            (Edit::Delete(a()), "102 Customer.a@x\n"),
            (
                Edit::ResetUsage(a()),
                "103 Customer.a@x AccumulatedUsage 0.000000\n103 Customer.a@x WeightedAccumulatedUsage 0.000000\n\
                 103 Customer.a@x BeginUsageTime 1000\n",
            ),
            (
                Edit::Lease(LeaseKind::Ceiling, a(), 4.0, 60),
                "103 Customer.a@x Ceiling 4\n103 Customer.a@x CeilingPreLeaseValue -1\n\
                 103 Customer.a@x CeilingLeaseExpiration 1060\n",
            ),
        ];
        for (edit, expected) in cases {
            assert_eq!(lines(&edit), expected, "{edit:?}");
        }
        assert_eq!(lines(&Edit::ResetAll), lines(&Edit::ResetUsage(a())));
    }

    #[test]
    fn a_submitter_that_is_not_known_gets_a_record() {
        let edited = apply(&Edit::Factor(b"b@x".to_vec(), 2.0)).unwrap();
        assert_eq!(edited.transaction.as_bytes(), b"101 Customer.b@x * *\n103 Customer.b@x PriorityFactor 2.000000\n");
        assert!(!edited.known);
        let edited = apply(&Edit::Delete(b"b@x".to_vec())).unwrap();
        assert!(edited.transaction.is_empty() && !edited.known);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = |edit: &Edit| apply(edit).unwrap_err().to_string();
        let group = Edit::Priority(b"group_physics".to_vec(), 1.0);
        assert_eq!(message(&group), "`group_physics` is not the full name of a submitter: expected user@domain");
        assert_eq!(message(&Edit::Factor(a(), 0.5)), "`0.5` is out of range: expected a number of at least 1");
        assert!(message(&Edit::Ceiling(a(), -2)).contains("-1 (unlimited)"));
        assert!(message(&Edit::Priority(a(), f64::NAN)).contains("a finite number"));
        assert!(message(&Edit::Priority(b"a b@x".to_vec(), 2.0)).contains("names cannot contain white space"));
        assert_eq!(message(&Edit::CancelLease(LeaseKind::Floor, a())), "no floor lease in effect for a@x");
    }
}
