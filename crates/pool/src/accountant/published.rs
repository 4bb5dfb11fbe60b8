//! The accountant's records as a negotiator publishes them: an ad for each submitter and group.
//!
//! In: accounting ads. Out: the log that would have the same records, as far as they are published: the time that is not
//! charged yet may be missing, and what each slot is charged to. Formula source: `docs/reference/wire-cedar.md` 13.4.

use std::borrow::Cow;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;

use super::entry::{Entry, Unwritable};
use super::journal::Transaction;
use super::log::AccountantLog;
use super::report::split_numbered;
use super::store::{CLOCK, real_text};
use crate::pool::ad_reader::AdReader;

/// Attributes of a record that are whole numbers.
const INTEGERS: [&str; 6] = ["ResourcesUsed", "UnchargedTime", "BeginUsageTime", "LastUsageTime", "Ceiling", "Floor"];

/// Attributes of a record that are real numbers.
const REALS: [&str; 5] = [
    "WeightedResourcesUsed",
    "WeightedUnchargedTime",
    "HierWeightedResourcesUsed",
    "AccumulatedUsage",
    "WeightedAccumulatedUsage",
];

impl AccountantLog {
    /// The log that has the records of accounting ads; also of the one ad for all in which `condor_userprio -long` of older versions
    /// numbers them.
    ///
    /// # Errors
    /// A name that the log cannot hold.
    ///
    /// ```
    /// use classmate::ClassAd;
    /// use classmate_pool::internal::accountant::AccountantLog;
    /// let ad = ClassAd::parse(b"[Name = \"a@x\"; Priority = 5000.0; PriorityFactor = 1000.0; LastUpdate = 7]").unwrap();
    /// let log = AccountantLog::of_ads(&[ad]).unwrap();
    /// assert_eq!(log.get(b"Customer.a@x").unwrap().real("Priority"), Some(5.0));
    /// assert_eq!(log.get(b"Accountant.").unwrap().integer("LastUpdateTime"), Some(7));
    /// ```
    pub fn of_ads(ads: &[ClassAd]) -> Result<Self, Unwritable> {
        let settings = EvalOptions::default();
        let mut transaction = Transaction::new();
        let mut updated = 0;
        let records = ads.iter().flat_map(|ad| match split_numbered(ad) {
            Some(apart) => apart.into_iter().map(Cow::Owned).collect(),
            None => vec![Cow::Borrowed(ad)],
        });
        for ad in records {
            let ad = AdReader::of(&ad, &settings);
            let Some(name) = ad.string("Name") else { continue };
            updated = updated.max(ad.integer("LastUpdate").unwrap_or(0));
            let key = [b"Customer.", name.as_bytes()].concat();
            transaction.push(Entry::Create { key: &key })?;
            let mut set = |name: &str, value: String| {
                transaction.push(Entry::Set { key: &key, name: name.as_bytes(), value: value.as_bytes() })
            };
            // The effective priority is published.
            let factor = ad.number("PriorityFactor").filter(|factor| *factor > 0.0);
            if let Some(priority) = ad.number("Priority") {
                set("Priority", real_text(priority / factor.unwrap_or(1.0)))?;
            }
            if let Some(factor) = factor {
                set("PriorityFactor", real_text(factor))?;
            }
            for name in INTEGERS {
                if let Some(number) = ad.integer(name) {
                    set(name, number.to_string())?;
                }
            }
            for name in REALS {
                if let Some(number) = ad.number(name) {
                    set(name, real_text(number))?;
                }
            }
        }
        let value = updated.to_string();
        transaction.push(Entry::Create { key: CLOCK })?;
        transaction.push(Entry::Set { key: CLOCK, name: b"LastUpdateTime", value: value.as_bytes() })?;
        let mut log = AccountantLog::default();
        log.change(&transaction);
        log.set_published();
        Ok(log)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ungrouped;
    use super::super::factor::FactorRules;
    use super::super::usage::Accountant;
    use super::*;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    /// Usage since the last update is charged though no records of slots are published. `condor_negotiator` logged this
    /// priority four seconds later.
    #[test]
    fn published_usage_is_charged_in_the_next_cycle() {
        let ad = "[Name = \"c@x\"; Priority = 500.284; PriorityFactor = 1000.0; WeightedResourcesUsed = 3.0; LastUpdate = 540]";
        let log = AccountantLog::of_ads(&[ClassAd::parse(ad.as_bytes()).unwrap()]).unwrap();
        let knobs = NegotiatorKnobs::read(&Config::default()).unwrap().accountant;
        let mut accountant = Accountant::from_log(&log, FactorRules::new(&knobs));
        accountant.recount_records(&log, &Ungrouped);
        accountant.update_priorities(544, knobs.half_life);
        assert!((accountant.effective_priority(b"c@x", &Ungrouped) - 500.364).abs() < 1e-9);
    }

    #[test]
    fn numbered_records_are_those_of_an_ad_each() {
        let one = "[Name1 = \"a@x\"; Priority1 = 5000.0; PriorityFactor1 = 1000.0; Name2 = \"b@x\"; Priority2 = 0.5; \
            PriorityFactor2 = 1.0; NumSubmittors = 2; LastUpdate = 7]";
        let log = AccountantLog::of_ads(&[ClassAd::parse(one.as_bytes()).unwrap()]).unwrap();
        let priority = |key: &[u8]| log.get(key).and_then(|record| record.real("Priority"));
        assert_eq!((priority(b"Customer.a@x"), priority(b"Customer.b@x")), (Some(5.0), Some(0.5)));
        assert_eq!(log.get(b"Accountant.").unwrap().integer("LastUpdateTime"), Some(7));
    }
}
