//! The charges of one cycle, posted to the log: all of them, or none.
//!
//! In: the slots as they were and the matches that were made. Out: one transaction. Formula source:
//! `docs/reference/accountant.md` 2, 4.
//!
//! HTCondor writes one transaction per match; here a cycle is one, so that a crash never leaves half of it.

use hashbrown::HashSet;

use super::entry::{Entry, Unwritable};
use super::factor::FactorRules;
use super::journal::{Journal, JournalError, Transaction};
use super::log::AccountantLog;
use super::record::Record;
use super::store::{changes, real_text};
use super::usage::{Accountant, SlotInUse};
use super::{GroupOf, ROOT_GROUP};
use crate::OrderedMap;
use classmate::internal::syntax::quote::quoted;

const RESOURCE: &[u8] = b"Resource.";

/// A slot as it was at the beginning of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotUse<'a> {
    /// `<Name>@<StartdIpAddr>`, the name under which its use is recorded.
    pub key: Vec<u8>,
    /// Claimed or being vacated: who is charged. None: it is not in use.
    pub in_use: Option<SlotInUse<'a>>,
    /// Handed out and not yet claimed: its record stays as it is.
    pub matched: bool,
}

/// A match that a cycle made.
#[derive(Debug, Clone, PartialEq)]
pub struct Charge<'a> {
    /// `<Name>@<StartdIpAddr>` of the slot.
    pub key: Vec<u8>,
    /// The record that is charged.
    pub submitter: &'a [u8],
    /// Slot weight, or the cost of the match.
    pub weight: f64,
    /// One of several matches of a partitionable slot with a consumption policy.
    pub shared: bool,
    /// Concurrency limits of the match, as text; none: it has no limits.
    pub limits: Option<Vec<u8>>,
}

/// Everything a cycle charges.
#[derive(Debug, Clone, PartialEq)]
pub struct ChargeCycle<'a> {
    /// The clock, epoch seconds.
    pub now: i64,
    /// `PRIORITY_HALFLIFE`, seconds.
    pub half_life: f64,
    /// `NEGOTIATOR_DISCOUNT_SUSPENDED_RESOURCES`.
    pub discount_suspended: bool,
    /// All slots of the pool.
    pub slots: &'a [SlotUse<'a>],
    /// The matches, in order.
    pub matches: &'a [Charge<'a>],
    /// The submitters of the cycle: they get records even if they got nothing.
    pub submitters: &'a [&'a [u8]],
    /// The groups that are configured: they always have records.
    pub groups: &'a [&'a [u8]],
}

/// Charges a cycle to the log, on disk: leases that ran out, decay and usage since the last update, what is in use,
/// and the matches. Large logs are compacted afterwards.
///
/// # Errors
/// A log that cannot be written, or a name it cannot hold: nothing is charged then.
pub fn post(
    journal: &mut Journal,
    cycle: &ChargeCycle<'_>,
    rules: FactorRules,
    groups: &dyn GroupOf,
) -> Result<(), JournalError> {
    let transaction = charges(journal.log(), cycle, rules, groups)?;
    journal.commit(&transaction)?;
    journal.compact_if_large(cycle.now)
}

/// The log as [`post`] would leave it, in memory alone.
///
/// # Errors
/// A name that the log cannot hold.
pub fn posted(
    log: &AccountantLog,
    cycle: &ChargeCycle<'_>,
    rules: FactorRules,
    groups: &dyn GroupOf,
) -> Result<AccountantLog, Unwritable> {
    let transaction = charges(log, cycle, rules, groups)?;
    let mut log = log.clone();
    log.change(&transaction);
    Ok(log)
}

/// The transaction that charges a cycle.
///
/// # Errors
/// A name that the log cannot hold.
pub fn charges(
    log: &AccountantLog,
    cycle: &ChargeCycle<'_>,
    rules: FactorRules,
    groups: &dyn GroupOf,
) -> Result<Transaction, Unwritable> {
    let mut accountant = Accountant::from_log(log, rules);
    accountant.recount_records(log, groups);
    accountant.update_priorities(cycle.now, cycle.half_life);
    let in_use = cycle.slots.iter().filter_map(|slot| slot.in_use);
    accountant.recount(in_use, cycle.now, cycle.discount_suspended, groups);
    let mut resources = Resources::new(log, cycle);
    for charge in cycle.matches {
        resources.charge(charge, cycle.now, &mut accountant, groups);
    }
    let active: HashSet<&[u8]> = cycle.submitters.iter().copied().collect();
    accountant.remove_blank(groups, |name| active.contains(name));
    for name in cycle.groups.iter().chain([&ROOT_GROUP]).chain(cycle.submitters) {
        accountant.ensure(name, groups);
    }
    accountant.store_factors(groups);
    let mut transaction = changes(&accountant, log)?;
    resources.write(log, &mut transaction)?;
    Ok(transaction)
}

/// The record of a slot in use.
#[derive(Debug, Clone, Default, PartialEq)]
struct SlotRecord {
    user: Vec<u8>,
    weight: f64,
    start: i64,
    limits: Option<Vec<u8>>,
    /// Matches made of a partitionable slot that has no user of its own.
    count: Option<i64>,
}

impl SlotRecord {
    fn read(record: &Record) -> Self {
        Self {
            user: record.string("RemoteUser").unwrap_or_default(),
            weight: record.real("SlotWeight").unwrap_or(1.0),
            start: record.integer("StartTime").unwrap_or(0),
            limits: record.string("MatchedConcurrencyLimits"),
            count: record.integer("NumCpMatches"),
        }
    }
}

/// The slots in use by key, in order.
#[derive(Default)]
struct Resources(OrderedMap<Vec<u8>, SlotRecord>);

impl Resources {
    /// The slots in use now. A record of the same user gets the weight of today; a record of another user, or of a slot that is
    /// no longer in use, is dropped.
    fn new(log: &AccountantLog, cycle: &ChargeCycle<'_>) -> Self {
        let mut resources = Self::default();
        for slot in cycle.slots {
            let before = log.get(&[RESOURCE, &slot.key].concat()).map(SlotRecord::read);
            let resource = match (slot.in_use, before) {
                (Some(used), _) if used.suspended && cycle.discount_suspended => continue,
                (Some(used), Some(before)) if before.user == used.submitter => {
                    SlotRecord { weight: used.weight, ..before }
                }
                (Some(used), _) => {
                    let user = used.submitter.to_vec();
                    SlotRecord { user, weight: used.weight, start: cycle.now, ..SlotRecord::default() }
                }
                (None, Some(before)) if slot.matched && !before.user.is_empty() => before,
                (None, _) => continue,
            };
            resources.0.insert(slot.key.clone(), resource);
        }
        resources
    }

    /// Records a match. The previous user of the slot stays charged for it until the next cycle sees the slot
    /// (`docs/reference/accountant.md` 4.1, 4.2).
    fn charge(&mut self, charge: &Charge<'_>, now: i64, accountant: &mut Accountant, groups: &dyn GroupOf) {
        let resource = SlotRecord {
            user: charge.submitter.to_vec(),
            weight: charge.weight,
            start: now,
            limits: charge.limits.clone(),
            ..SlotRecord::default()
        };
        let mut key = charge.key.clone();
        if charge.shared {
            let blank = || SlotRecord { weight: charge.weight, start: now, ..SlotRecord::default() };
            let slot = self.0.entry(key.clone()).or_insert_with(blank);
            let count = slot.count.unwrap_or(0);
            slot.count = Some(count + 1);
            key.extend_from_slice(format!("_cp_match_{count:03}").as_bytes());
        }
        accountant.add_match(charge.submitter, charge.weight, now, groups);
        self.0.insert(key, resource);
    }

    /// Adds to a transaction what differs from the log.
    fn write(&self, log: &AccountantLog, transaction: &mut Transaction) -> Result<(), Unwritable> {
        for (key, _) in log.table("Resource") {
            if !self.0.contains_key(key) {
                transaction.push(Entry::Destroy { key: &[RESOURCE, key].concat() })?;
            }
        }
        for (name, resource) in &self.0 {
            let key = [RESOURCE, name.as_slice()].concat();
            match log.get(&key).map(SlotRecord::read) {
                Some(before) if before == *resource => continue,
                Some(_) => {}
                None => transaction.push(Entry::Create { key: &key })?,
            }
            write_resource(&key, resource, transaction)?;
        }
        Ok(())
    }
}

fn write_resource(key: &[u8], resource: &SlotRecord, transaction: &mut Transaction) -> Result<(), Unwritable> {
    let mut set = |name: &str, value: &[u8]| transaction.push(Entry::Set { key, name: name.as_bytes(), value });
    if !resource.user.is_empty() {
        set("RemoteUser", &string_text(&resource.user))?;
        set("SlotWeight", real_text(resource.weight).as_bytes())?;
        set("StartTime", resource.start.to_string().as_bytes())?;
    }
    if let Some(limits) = &resource.limits {
        set("MatchedConcurrencyLimits", &string_text(limits))?;
    }
    if let Some(count) = resource.count {
        set("NumCpMatches", count.to_string().as_bytes())?;
    }
    Ok(())
}

/// A string as HTCondor writes it, unchanged; text that would not read back is escaped.
fn string_text(text: &[u8]) -> Vec<u8> {
    if text.iter().any(|b| matches!(b, b'"' | b'\\') || b.is_ascii_control()) {
        return quoted(text);
    }
    [b"\"", text, b"\""].concat()
}

#[cfg(test)]
mod tests {
    use super::super::Ungrouped;
    use super::super::usage::Account;
    use super::*;
    use crate::quota::GroupTree;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    fn rules() -> FactorRules {
        FactorRules::new(&NegotiatorKnobs::read(&Config::default()).unwrap().accountant)
    }

    fn cycle(now: i64) -> ChargeCycle<'static> {
        ChargeCycle {
            now,
            half_life: 100.0,
            discount_suspended: false,
            slots: &[],
            matches: &[],
            submitters: &[],
            groups: &[],
        }
    }

    fn charge<'a>(key: &str, submitter: &'a [u8], weight: f64) -> Charge<'a> {
        Charge { key: key.into(), submitter, weight, shared: false, limits: None }
    }

    fn claimed<'a>(key: &str, submitter: &'a [u8], weight: f64) -> SlotUse<'a> {
        let in_use = Some(SlotInUse { submitter, account: Account::Submitter, weight, suspended: false });
        SlotUse { key: key.into(), in_use, matched: false }
    }

    fn posted(log: &AccountantLog, cycle: &ChargeCycle<'_>, groups: &dyn GroupOf) -> AccountantLog {
        let transaction = charges(log, cycle, rules(), groups).unwrap();
        let mut text = log.to_text();
        text.extend_from_slice(transaction.as_bytes());
        let after = AccountantLog::read(&text).unwrap();
        assert_eq!(after.warnings(), []);
        after
    }

    /// The example of `docs/reference/accountant.md` 8: a match of weight 8, three seconds after the last update.
    #[test]
    fn a_first_match_is_written_as_the_reference_writes_it() {
        let log = AccountantLog::read(b"101 Accountant. * *\n103 Accountant. LastUpdateTime 1762900000\n").unwrap();
        let key = "slot1@ep1.example.org@<10.0.0.7:9618?addrs=10.0.0.7-9618>";
        let matches = [charge(key, b"alice@example.org", 8.0)];
        let cycle = ChargeCycle { matches: &matches, now: 1_762_900_000, ..cycle(0) };
        let transaction = charges(&log, &cycle, rules(), &Ungrouped).unwrap();
        let expected = format!(
            "101 Customer.alice@example.org * *\n\
             103 Customer.alice@example.org PriorityFactor 1000.000000\n\
             103 Customer.alice@example.org ResourcesUsed 1\n\
             103 Customer.alice@example.org WeightedResourcesUsed 8.000000\n\
             103 Customer.alice@example.org UnchargedTime 0\n\
             103 Customer.alice@example.org WeightedUnchargedTime 0.000000\n\
             101 Customer.<none> * *\n\
             103 Customer.<none> PriorityFactor 1000.000000\n\
             103 Customer.<none> ResourcesUsed 1\n\
             103 Customer.<none> WeightedResourcesUsed 8.000000\n\
             103 Customer.<none> UnchargedTime 0\n\
             103 Customer.<none> WeightedUnchargedTime 0.000000\n\
             103 Customer.<none> HierWeightedResourcesUsed 8.000000\n\
             101 Resource.{key} * *\n\
             103 Resource.{key} RemoteUser \"alice@example.org\"\n\
             103 Resource.{key} SlotWeight 8.000000\n\
             103 Resource.{key} StartTime 1762900000\n"
        );
        assert_eq!(String::from_utf8_lossy(transaction.as_bytes()), expected);
    }

    /// Half-life 100: 10 → 5 → 2.5 without use.
    #[test]
    fn cycles_decay_what_is_not_used() {
        let text = b"101 Accountant. * *\n103 Accountant. LastUpdateTime 1000\n\
                     101 Customer.a@x * *\n103 Customer.a@x Priority 10.0\n";
        let mut log = AccountantLog::read(text).unwrap();
        for (now, priority) in [(1100, 5.0), (1200, 2.5), (1200, 2.5), (1300, 1.25)] {
            log = posted(&log, &cycle(now), &Ungrouped);
            assert_eq!(log.get(b"Customer.a@x").unwrap().real("Priority"), Some(priority));
        }
        // The same cycle again changes nothing.
        assert!(charges(&log, &cycle(1300), rules(), &Ungrouped).unwrap().is_empty());
    }

    /// Matched at 1000 with weight 4, claimed from then on: 100 s later 400 weighted seconds are charged.
    #[test]
    fn a_match_is_charged_until_its_slot_is_released() {
        let groups = GroupTree::of_names([b"g".to_vec()]);
        let matches = [charge("s1@<a>", b"g.bob@x", 4.0)];
        let mut log = posted(&AccountantLog::default(), &ChargeCycle { matches: &matches, ..cycle(1000) }, &groups);
        let slots = [claimed("s1@<a>", b"g.bob@x", 4.0)];
        log = posted(&log, &ChargeCycle { slots: &slots, ..cycle(1100) }, &groups);
        let resource = log.get(b"Resource.s1@<a>").unwrap();
        assert_eq!((resource.integer("StartTime"), resource.real("SlotWeight")), (Some(1000), Some(4.0)));
        log = posted(&log, &cycle(1150), &groups);
        assert!(log.get(b"Resource.s1@<a>").is_none());
        for name in [b"Customer.g.bob@x".as_slice(), b"Customer.g"] {
            let record = log.get(name).unwrap();
            // 100 s and 50 s with one slot of weight 4
            assert_eq!(record.real("AccumulatedUsage"), Some(150.0));
            assert_eq!(record.real("WeightedAccumulatedUsage"), Some(600.0));
            assert_eq!((record.integer("BeginUsageTime"), record.integer("LastUsageTime")), (Some(1100), Some(1150)));
            assert_eq!((record.integer("ResourcesUsed"), record.real("WeightedResourcesUsed")), (Some(0), Some(0.0)));
        }
    }

    #[test]
    fn a_slot_that_is_taken_away_is_charged_to_both_users_until_the_next_cycle() {
        let slots = [claimed("s1@<a>", b"eve@x", 2.0)];
        let log = posted(&AccountantLog::default(), &ChargeCycle { slots: &slots, ..cycle(1000) }, &Ungrouped);
        let matches = [charge("s1@<a>", b"bob@x", 2.0)];
        let log = posted(&log, &ChargeCycle { slots: &slots, matches: &matches, ..cycle(1000) }, &Ungrouped);
        let used = |name: &[u8]| log.get(name).unwrap().real("WeightedResourcesUsed");
        assert_eq!((used(b"Customer.bob@x"), used(b"Customer.<none>")), (Some(2.0), Some(4.0)));
        assert_eq!(log.get(b"Resource.s1@<a>").unwrap().string("RemoteUser").unwrap(), b"bob@x");
        assert_eq!(used(b"Customer.eve@x"), Some(2.0));
    }

    #[test]
    fn a_slot_handed_out_keeps_its_record_until_it_is_claimed_or_let_go() {
        let matches = [charge("s1@<a>", b"bob@x", 2.0)];
        let log = posted(&AccountantLog::default(), &ChargeCycle { matches: &matches, ..cycle(1000) }, &Ungrouped);
        let slots = [SlotUse { key: b"s1@<a>".to_vec(), in_use: None, matched: true }];
        let log = posted(&log, &ChargeCycle { slots: &slots, ..cycle(1010) }, &Ungrouped);
        assert!(log.get(b"Resource.s1@<a>").is_some());
        let slots = [SlotUse { matched: false, ..slots[0].clone() }];
        let log = posted(&log, &ChargeCycle { slots: &slots, ..cycle(1020) }, &Ungrouped);
        assert!(log.get(b"Resource.s1@<a>").is_none());
    }

    #[test]
    fn matches_of_a_partitionable_slot_are_numbered() {
        let shared = |weight| Charge { shared: true, ..charge("p@<a>", b"bob@x", weight) };
        let matches = [shared(1.0), shared(2.0)];
        let log = posted(&AccountantLog::default(), &ChargeCycle { matches: &matches, ..cycle(1000) }, &Ungrouped);
        assert_eq!(log.get(b"Resource.p@<a>").unwrap().integer("NumCpMatches"), Some(2));
        assert_eq!(log.get(b"Resource.p@<a>_cp_match_001").unwrap().real("SlotWeight"), Some(2.0));
        assert_eq!(log.get(b"Customer.bob@x").unwrap().real("WeightedResourcesUsed"), Some(3.0));
    }

    #[test]
    fn groups_and_submitters_of_a_cycle_have_records() {
        let groups = GroupTree::of_names([b"g".to_vec()]);
        let cycle = ChargeCycle { groups: &[b"g"], submitters: &[b"g.idle@x"], ..cycle(1000) };
        let log = posted(&AccountantLog::default(), &cycle, &groups);
        let names: Vec<_> = log.table("Customer").map(|(name, _)| name.to_vec()).collect();
        assert_eq!(names, [b"g".to_vec(), b"<none>".to_vec(), b"g.idle@x".to_vec()]);
        // Without it the submitter, who never used anything, is forgotten; the group is not.
        let log = posted(&log, &ChargeCycle { submitters: &[], now: 1001, ..cycle }, &groups);
        assert!(log.get(b"Customer.g.idle@x").is_none() && log.get(b"Customer.g").is_some());
    }
}
