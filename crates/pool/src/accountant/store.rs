//! Writes the accountant's numbers to its log: only changes.
//!
//! In: an accountant and the log it was read from. Out: a transaction. Formula source: `docs/reference/accountant.md` 1, 8.

use super::customer::Customer;
use super::entry::{Entry, Unwritable};
use super::journal::Transaction;
use super::lease::LeaseKind;
use super::log::AccountantLog;
use super::record::Record;
use super::usage::Accountant;

/// Key of the record that holds the clock.
pub(super) const CLOCK: &[u8] = b"Accountant.";
const CUSTOMER: &[u8] = b"Customer.";

/// A number as the log writes it: integers plain, reals with six decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
enum StoredNumber {
    Int(i64),
    Real(f64),
}

impl StoredNumber {
    fn text(self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Real(number) => real_text(number),
        }
    }

    /// Returns whether the record has this number, or does not need it: `absent` is the meaning of a missing one; none: it is
    /// written in any case.
    fn stands(self, record: Option<&Record>, name: &str, absent: Option<Self>) -> bool {
        match (self, record.filter(|record| record.get(name).is_some())) {
            (Self::Int(number), Some(record)) => record.integer(name) == Some(number),
            (Self::Real(number), Some(record)) => record.real(name) == Some(number),
            (number, None) => absent == Some(number),
        }
    }
}

/// A real as the log writes it.
pub(super) fn real_text(number: f64) -> String {
    if number.is_nan() {
        "real(\"NaN\")".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "real(\"INF\")" } else { "real(\"-INF\")" }.to_owned()
    } else {
        format!("{number:.6}")
    }
}

/// The changes that bring a log up to date with the accountant.
///
/// Customers of the log that the accountant does not know any more are destroyed.
///
/// # Errors
/// A customer whose name the log cannot hold.
pub fn changes(accountant: &Accountant, log: &AccountantLog) -> Result<Transaction, Unwritable> {
    let mut transaction = Transaction::new();
    let clock = StoredNumber::Int(accountant.last_update());
    if !clock.stands(log.get(CLOCK), "LastUpdateTime", Some(StoredNumber::Int(0))) {
        if log.get(CLOCK).is_none() {
            transaction.push(Entry::Create { key: CLOCK })?;
        }
        let (name, value) = (b"LastUpdateTime", clock.text());
        transaction.push(Entry::Set { key: CLOCK, name, value: value.as_bytes() })?;
    }
    for (name, _) in log.table("Customer") {
        if accountant.get(name).is_none() {
            transaction.push(Entry::Destroy { key: &[CUSTOMER, name].concat() })?;
        }
    }
    for (name, customer) in accountant.iter() {
        let key = [CUSTOMER, name].concat();
        let record = log.get(&key);
        if record.is_none() {
            transaction.push(Entry::Create { key: &key })?;
        }
        for (name, number, absent) in attributes(customer, record) {
            if !number.stands(record, name, absent) {
                let (name, value) = (name.as_bytes(), number.text());
                transaction.push(Entry::Set { key: &key, name, value: value.as_bytes() })?;
            }
        }
    }
    Ok(transaction)
}

/// The attributes of a customer's record, in the order in which HTCondor writes them.
fn attributes(customer: &Customer, record: Option<&Record>) -> Vec<(&'static str, StoredNumber, Option<StoredNumber>)> {
    use StoredNumber::{Int, Real};
    let zero = Some(Int(0));
    let zero_real = Some(Real(0.0));
    // An update and a count write these whatever they are.
    let counted = |absent| if customer.counted { None } else { absent };
    let mut all = vec![("Priority", Real(customer.priority), Some(Real(super::customer::BEST_PRIORITY)))];
    if let Some(factor) = customer.factor {
        all.push(("PriorityFactor", Real(factor), None));
    }
    all.push(("ResourcesUsed", Int(customer.resources), counted(zero)));
    all.push(("WeightedResourcesUsed", Real(customer.weighted_resources), counted(zero_real)));
    all.push(("UnchargedTime", Int(customer.uncharged), counted(zero)));
    all.push(("WeightedUnchargedTime", Real(customer.weighted_uncharged), counted(zero_real)));
    all.push(("HierWeightedResourcesUsed", Real(customer.hierarchical_resources), zero_real));
    all.push(("AccumulatedUsage", Real(customer.accumulated), zero_real));
    if let Some(weighted) = customer.weighted_accumulated {
        let before = record.and_then(|record| record.real("AccumulatedUsage")).unwrap_or(0.0);
        all.push(("WeightedAccumulatedUsage", Real(weighted), Some(Real(before))));
    }
    all.push(("BeginUsageTime", Int(customer.begin_usage), zero));
    all.push(("LastUsageTime", Int(customer.last_usage), zero));
    all.push(("Ceiling", Int(customer.ceiling), Some(Int(-1))));
    all.push(("Floor", Int(customer.floor), zero));
    for kind in LeaseKind::ALL {
        let (before, expires) = kind.attributes();
        let lease = customer.leases[kind as usize];
        let value = match kind {
            LeaseKind::Factor => Real(lease.before),
            LeaseKind::Ceiling | LeaseKind::Floor => Int(lease.before as i64),
        };
        // Once a lease has ended, what was before it means nothing.
        if lease.expires != 0 {
            all.push((before, value, None));
        }
        all.push((expires, Int(lease.expires), zero));
    }
    all
}
