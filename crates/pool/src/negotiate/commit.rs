//! The charges of a cycle to the accountant's log, from its snapshot and its outcome.

use hashbrown::HashMap;

use crate::accountant::cycle::{Charge, ChargeCycle, SlotUse, post, posted};
use crate::accountant::factor::FactorRules;
use crate::accountant::usage::{Account, SlotInUse};
use crate::accountant::{AccountantLog, Journal, JournalError};
use crate::negotiate::rules::Rules;
use crate::negotiate::{Outcome, Snapshot, slots};
use crate::pool::ad_reader::AdReader;
use crate::pool::{Slot, State};
use crate::quota::GroupTree;
use classmate_config::internal::config::ConfigError;

/// The reason the charges of a cycle were not written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The log cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Charges a cycle to the accountant's log: decay and usage up to the time of the snapshot, the slots in use, and the
/// matches.
///
/// # Errors
/// A wrong setting, or a log that cannot be written; nothing is charged then.
pub fn commit(snapshot: &Snapshot, outcome: &Outcome, journal: &mut Journal) -> Result<(), CommitError> {
    let size = snapshot.config.integer("MAX_ACCOUNTANT_DATABASE_SIZE", 1_000_000, 0, i64::MAX)?;
    journal.set_largest(size as u64);
    with_cycle(snapshot, outcome, |cycle, factors, groups| post(journal, cycle, factors, groups))??;
    Ok(())
}

/// The log as [`commit`] would leave it, without writing it to disk.
///
/// # Errors
/// A wrong setting, or a name that the log cannot hold.
pub fn charged(snapshot: &Snapshot, outcome: &Outcome) -> Result<AccountantLog, CommitError> {
    let log = snapshot.log.clone().unwrap_or_default();
    let charged = with_cycle(snapshot, outcome, |cycle, factors, groups| posted(&log, cycle, factors, groups))?;
    Ok(charged.map_err(JournalError::from)?)
}

/// Collects the charges of a cycle, and passes them to a function.
fn with_cycle<R>(
    snapshot: &Snapshot,
    outcome: &Outcome,
    then: impl FnOnce(&ChargeCycle<'_>, FactorRules, &GroupTree) -> R,
) -> Result<R, ConfigError> {
    let settings = snapshot.settings();
    let rules = Rules::read(&snapshot.config, &settings)?;
    let groups = &*rules.groups.tree;
    let keyed = |slot: Slot| {
        let address = AdReader::of(&slot.ad, &settings).string("StartdIpAddr").unwrap_or_else(|| "".into());
        let key = [&*slot.name, b"@", &*address].concat();
        (slot, key)
    };
    // Only slots that take part: those that `NEGOTIATOR_SLOT_CONSTRAINT` leaves out are neither counted nor charged.
    let slots = slots(snapshot.slots.clone(), &rules, &settings);
    let slots: Vec<(Slot, Vec<u8>)> = slots.into_iter().map(keyed).collect();
    let by_name: HashMap<&[u8], usize> =
        slots.iter().enumerate().rev().map(|(at, (slot, _))| (&*slot.name, at)).collect();
    let used: Vec<SlotUse<'_>> = slots
        .iter()
        .map(|(slot, key)| {
            let charged = slot.charged.as_deref().filter(|_| slot.is_in_use());
            let in_use = charged.map(|submitter| {
                let account = Account::Submitter;
                SlotInUse { submitter, account, weight: slot.weight, suspended: slot.suspended }
            });
            SlotUse { key: key.clone(), in_use, matched: slot.state == State::Matched }
        })
        .collect();
    let matches: Vec<Charge<'_>> = outcome
        .matches
        .iter()
        .map(|made| {
            let slot = by_name.get(made.slot.as_bytes()).map(|&at| &slots[at]);
            Charge {
                key: slot.map_or_else(|| format!("{}@", made.slot).into_bytes(), |(_, key)| key.clone()),
                submitter: made.submitter.as_bytes(),
                weight: made.weight,
                shared: slot.is_some_and(|(slot, _)| slot.consumption.is_some()),
                limits: made.limits.clone().map(String::into_bytes),
            }
        })
        .collect();
    let submitters: Vec<&[u8]> = outcome.submitters.iter().map(|summary| summary.submitter.as_bytes()).collect();
    let names: Vec<&[u8]> = groups.names();
    let cycle = ChargeCycle {
        now: snapshot.now,
        half_life: rules.knobs.accountant.half_life,
        discount_suspended: rules.knobs.accountant.discount_suspended,
        slots: &used,
        matches: &matches,
        submitters: &submitters,
        groups: &names,
    };
    Ok(then(&cycle, FactorRules::new(&rules.knobs.accountant), groups))
}
