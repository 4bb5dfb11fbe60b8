//! The accountant: all customers, what they use, what their priority is.
//!
//! In: a log's records, the slots in use, matches. Out: priorities and usage. The clock is an argument.
//! Formula source: `docs/reference/accountant.md` 2 to 5.

use hashbrown::HashMap;

use super::customer::Customer;
use super::factor::FactorRules;
use super::log::AccountantLog;
use super::{GroupOf, ROOT_GROUP};
use crate::OrderedMap;

/// The account of a policy that is charged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// That of the submitter.
    #[default]
    Submitter,
    /// The one to which the policy gave this number.
    Number(usize),
    /// None that the policy knows.
    Unknown,
}

/// A slot in use, as the accountant sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlotInUse<'a> {
    /// The submitter it is charged to: the slot's `AccountingGroup`, else its `RemoteUser`.
    pub submitter: &'a [u8],
    /// The account, for policies that have accounts which submitters do not name.
    pub account: Account,
    /// Slot weight, not negative.
    pub weight: f64,
    /// True if its activity is `Suspended`.
    pub suspended: bool,
}

/// Places of submitters' records, for one who counts or charges matches often. They stay true as long as no customer is removed
/// and groups are the same.
#[derive(Debug, Clone, Default)]
pub struct RecordPlaces {
    by_name: HashMap<Vec<u8>, usize>,
    all: Vec<Places>,
    /// The numbers of the submitters of the slots counted last, in their order, and of those before.
    last: Vec<usize>,
    before: Vec<usize>,
}

/// Places of the records that a match is charged to.
#[derive(Debug, Clone)]
struct Places {
    /// The name of the submitter.
    submitter: Box<[u8]>,
    /// Those of the submitter and of its group.
    own: [usize; 2],
    /// Those of its group and of the groups above.
    groups: Box<[usize]>,
}

/// The number of the places of a submitter's records, which `find` finds if they are not known.
fn known_places(
    by_name: &mut HashMap<Vec<u8>, usize>,
    all: &mut Vec<Places>,
    submitter: &[u8],
    find: impl FnOnce() -> Places,
) -> usize {
    *by_name.entry_ref(submitter).or_insert_with(|| {
        all.push(find());
        all.len() - 1
    })
}

/// Customers by name, in the order in which they were first seen.
#[derive(Debug, Clone)]
pub struct Accountant {
    customers: OrderedMap<Box<[u8]>, Customer>,
    last_update: i64,
    rules: FactorRules,
}

impl Accountant {
    /// An accountant without records: each submitter has priority 0.5 × its default factor.
    pub fn new(rules: FactorRules) -> Self {
        Self { customers: OrderedMap::default(), last_update: 0, rules }
    }

    /// The customers of a log.
    pub fn from_log(log: &AccountantLog, rules: FactorRules) -> Self {
        let mut accountant = Self::new(rules);
        let clock = log.get(b"Accountant.").and_then(|record| record.integer("LastUpdateTime"));
        accountant.last_update = clock.unwrap_or(0);
        for (name, record) in log.table("Customer") {
            accountant.customers.insert(name.into(), Customer::from(record));
        }
        accountant
    }

    /// Counts the weighted slots in use by the log's records of slots, as a negotiator does when it starts. One that runs has them
    /// counted so, except that users who lost slots to preemption in the cycle before still have these (Q65). Published records are
    /// of one that runs, and stay.
    pub fn recount_records(&mut self, log: &AccountantLog, groups: &dyn GroupOf) {
        if log.is_published() {
            return;
        }
        let mut used: HashMap<Vec<u8>, f64> = HashMap::new();
        for (_, record) in log.table("Resource") {
            if let Some(user) = record.string("RemoteUser") {
                let weight = record.real("SlotWeight").unwrap_or(1.0);
                *used.entry(groups.group_of(&user).to_vec()).or_default() += weight;
                *used.entry(user).or_default() += weight;
            }
        }
        for (name, customer) in &mut self.customers {
            customer.weighted_resources = used.get(&**name).copied().unwrap_or(0.0);
        }
    }

    /// Time of the last update of priorities, epoch seconds; 0 if never.
    pub fn last_update(&self) -> i64 {
        self.last_update
    }

    /// The record of a customer, if there is one.
    pub fn get(&self, name: &[u8]) -> Option<&Customer> {
        self.customers.get(name)
    }

    /// Names and records in the order in which they were first seen.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Customer)> {
        self.customers.iter().map(|(name, customer)| (&**name, customer))
    }

    /// The priority factor: the stored one, else the default of the name and its group.
    pub fn factor(&self, name: &[u8], groups: &dyn GroupOf) -> f64 {
        let stored = self.get(name).and_then(|customer| FactorRules::stored(customer.factor));
        stored.unwrap_or_else(|| self.rules.default_factor(name, groups.group_of(name)))
    }

    /// Effective user priority: real priority × factor; lower is better.
    pub fn effective_priority(&self, name: &[u8], groups: &dyn GroupOf) -> f64 {
        let real = self.get(name).map_or(super::customer::BEST_PRIORITY, Customer::real_priority);
        real * self.factor(name, groups)
    }

    /// The effective priority when it is read for the first time, if it is another one then: a default factor below 1 is
    /// raised only for later reads.
    pub fn first_priority(&self, name: &[u8], groups: &dyn GroupOf) -> Option<f64> {
        let customer = self.get(name);
        if customer.is_some_and(|customer| FactorRules::stored(customer.factor).is_some()) {
            return None;
        }
        let real = customer.map_or(super::customer::BEST_PRIORITY, Customer::real_priority);
        Some(real * self.rules.too_small(name, groups.group_of(name))?)
    }

    /// Weighted slots in use by a submitter or group, matches of this cycle included.
    pub fn usage(&self, name: &[u8]) -> f64 {
        self.get(name).map_or(0.0, |customer| customer.weighted_resources)
    }

    /// Most weighted slots a submitter may have; negative: no limit.
    pub fn ceiling(&self, name: &[u8]) -> i64 {
        self.get(name).map_or(-1, |customer| customer.ceiling)
    }

    /// Weighted slots a submitter is served first; 0: none.
    pub fn floor(&self, name: &[u8]) -> i64 {
        self.get(name).map_or(0, |customer| customer.floor)
    }

    /// Decays priorities and charges usage up to `now` (`half_life` in seconds), and ends leases that have run out.
    ///
    /// Does nothing if no time has passed; a clock that stepped back only moves the last update.
    pub fn update_priorities(&mut self, now: i64, half_life: f64) {
        let dt = now.saturating_sub(self.last_update);
        self.last_update = now;
        let beta = 0.5_f64.powf(dt as f64 / half_life);
        for customer in self.customers.values_mut() {
            customer.expire_leases(now);
            if dt > 0 {
                customer.update(now, dt as f64, beta);
            }
        }
    }

    /// Recounts all usage from the slots claimed or being preempted.
    ///
    /// HTCondor resets the weighted counter only, so its other counters drift; here all are reset.
    pub fn recount<'a>(
        &mut self,
        slots: impl IntoIterator<Item = SlotInUse<'a>>,
        now: i64,
        discount_suspended: bool,
        groups: &dyn GroupOf,
    ) {
        self.recount_known(slots, now, discount_suspended, groups, &mut RecordPlaces::default());
    }

    /// The same for one who recounts often: `known` holds where the records of submitters are.
    pub fn recount_known<'a>(
        &mut self,
        slots: impl IntoIterator<Item = SlotInUse<'a>>,
        now: i64,
        discount_suspended: bool,
        groups: &dyn GroupOf,
        known: &mut RecordPlaces,
    ) {
        self.customers.values_mut().for_each(Customer::reset_use);
        let late = now.saturating_sub(self.last_update);
        let RecordPlaces { by_name, all, last, before } = known;
        std::mem::swap(last, before);
        last.clear();
        let mut at = 0;
        for slot in slots.into_iter().filter(|slot| !(slot.suspended && discount_suspended)) {
            // Mostly the same submitters have slots as before, or one more or less.
            let same =
                |place: &usize| before.get(*place).is_some_and(|known| *all[*known].submitter == *slot.submitter);
            let number = if let Some(place) = [at, at + 1].into_iter().find(same) {
                at = place + 1;
                before[place]
            } else {
                known_places(by_name, all, slot.submitter, || self.places(slot.submitter, groups))
            };
            last.push(number);
            self.charge(&all[number], slot.weight, late);
        }
    }

    /// Charges a match to the records at these places.
    fn charge(&mut self, places: &Places, weight: f64, late: i64) {
        for &at in &places.own {
            self.customers[at].add(weight, late);
        }
        for &at in &places.groups {
            self.customers[at].add_hierarchical(weight);
        }
    }

    /// Places of the records that a match of a submitter is charged to.
    fn places(&mut self, submitter: &[u8], groups: &dyn GroupOf) -> Places {
        let group = groups.group_of(submitter);
        let own = [self.entry(submitter), self.entry(group)];
        let groups = prefixes(group).map(|end| self.entry(&group[..end])).collect();
        Places { submitter: submitter.into(), own, groups }
    }

    /// Charges a match of a slot of this weight to a submitter, its group, and the groups above.
    pub fn add_match(&mut self, submitter: &[u8], weight: f64, now: i64, groups: &dyn GroupOf) {
        let places = self.places(submitter, groups);
        self.charge(&places, weight, now.saturating_sub(self.last_update));
    }

    /// The same for one who charges many matches: `known` holds where the records of submitters are.
    pub fn add_known_match(
        &mut self,
        submitter: &[u8],
        weight: f64,
        now: i64,
        groups: &dyn GroupOf,
        known: &mut RecordPlaces,
    ) {
        let RecordPlaces { by_name, all, .. } = known;
        let number = known_places(by_name, all, submitter, || self.places(submitter, groups));
        self.charge(&all[number], weight, now.saturating_sub(self.last_update));
    }

    /// Gives a customer a record, with the factor that holds for it: at first sight it is stored.
    pub fn ensure(&mut self, name: &[u8], groups: &dyn GroupOf) -> &mut Customer {
        let factor = self.factor(name, groups);
        let at = self.entry(name);
        let customer = &mut self.customers[at];
        if FactorRules::stored(customer.factor).is_none() {
            customer.factor = Some(factor);
        }
        customer
    }

    /// Gives every customer without a factor the one that holds for it.
    pub fn store_factors(&mut self, groups: &dyn GroupOf) {
        for (name, customer) in &mut self.customers {
            if FactorRules::stored(customer.factor).is_none() {
                customer.factor = Some(self.rules.default_factor(name, groups.group_of(name)));
            }
        }
    }

    /// The record of a customer, without a factor if it is new.
    pub(super) fn edit(&mut self, name: &[u8]) -> &mut Customer {
        let at = self.entry(name);
        &mut self.customers[at]
    }

    /// Resets the accumulated usage of all customers, as of `now`.
    pub(super) fn reset_accumulated(&mut self, now: i64) {
        self.customers.values_mut().for_each(|customer| customer.reset_accumulated(now));
    }

    /// Forgets a customer; whether there was one.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        self.customers.shift_remove(name).is_some()
    }

    /// Forgets customers of which nothing would be lost: submitters at the best priority that use nothing, never used
    /// anything and were never set; groups and those `kept` stay.
    pub fn remove_blank(&mut self, groups: &dyn GroupOf, kept: impl Fn(&[u8]) -> bool) {
        let rules = &self.rules;
        self.customers.retain(|name, customer| {
            let default = || rules.default_factor(name, groups.group_of(name));
            !name.contains(&b'@') || kept(name) || !customer.is_blank(default())
        });
    }

    fn entry(&mut self, name: &[u8]) -> usize {
        let known = self.customers.get_index_of(name);
        known.unwrap_or_else(|| self.customers.insert_full(name.into(), Customer::default()).0)
    }
}

/// The ends of the names of a group and of its ancestors in its name.
fn prefixes(group: &[u8]) -> impl Iterator<Item = usize> {
    let dots = if group == ROOT_GROUP { &[] } else { group };
    std::iter::once(group.len()).chain(memchr::memrchr_iter(b'.', dots))
}

#[cfg(test)]
mod tests {
    use super::super::Ungrouped;
    use super::*;
    use classmate_config::internal::config::Config;
    use classmate_config::internal::config::knobs::NegotiatorKnobs;

    fn accountant(log: &str) -> Accountant {
        let knobs = NegotiatorKnobs::read(&Config::parse("c", b"").unwrap()).unwrap();
        Accountant::from_log(&AccountantLog::read(log.as_bytes()).unwrap(), FactorRules::new(&knobs.accountant))
    }

    /// Groups by the text before the last dot, without a tree.
    struct Dotted;

    impl GroupOf for Dotted {
        fn group_of(&self, name: &[u8]) -> &[u8] {
            match name {
                b"a.b.eve@x" => b"a.b",
                _ => ROOT_GROUP,
            }
        }
    }

    #[test]
    fn without_a_log_everybody_has_half_the_default_factor() {
        let accountant = accountant("");
        assert_eq!(accountant.effective_priority(b"alice@x", &Ungrouped), 500.0);
        assert_eq!(accountant.effective_priority(b"nice-user.alice@x", &Ungrouped), 5e9);
        assert_eq!((accountant.usage(b"alice@x"), accountant.ceiling(b"a"), accountant.floor(b"a")), (0.0, -1, 0));
    }

    #[test]
    fn the_effective_priority_is_priority_times_factor() {
        let accountant = accountant(
            "101 Customer.a@x * *\n103 Customer.a@x Priority 10.000000\n103 Customer.a@x PriorityFactor 1000.000000\n\
             101 Customer.b@x * *\n103 Customer.b@x PriorityFactor 0.5\n103 Customer.b@x Ceiling 4\n103 Customer.b@x Floor 2\n",
        );
        assert_eq!(accountant.effective_priority(b"a@x", &Ungrouped), 10_000.0);
        assert_eq!(accountant.effective_priority(b"b@x", &Ungrouped), 500.0);
        assert_eq!((accountant.ceiling(b"b@x"), accountant.floor(b"b@x")), (4, 2));
    }

    #[test]
    fn matches_are_charged_to_the_submitter_and_every_group_above() {
        let mut accountant = accountant("");
        accountant.add_match(b"a.b.eve@x", 3.0, 0, &Dotted);
        accountant.add_match(b"bob@x", 2.0, 0, &Dotted);
        let hierarchical = |name: &[u8]| accountant.get(name).unwrap().hierarchical_resources;
        assert_eq!((accountant.usage(b"a.b.eve@x"), accountant.usage(b"a.b"), accountant.usage(b"a")), (3.0, 3.0, 0.0));
        assert_eq!((hierarchical(b"a.b"), hierarchical(b"a"), hierarchical(b"<none>")), (3.0, 3.0, 2.0));
        assert_eq!((accountant.usage(b"<none>"), hierarchical(b"bob@x")), (2.0, 0.0));
    }

    #[test]
    fn recounting_starts_from_nothing_for_every_counter() {
        let mut accountant = accountant("");
        let slots = [
            SlotInUse { submitter: b"a.b.eve@x", account: Account::Submitter, weight: 2.0, suspended: false },
            SlotInUse { submitter: b"a.b.eve@x", account: Account::Submitter, weight: 4.0, suspended: true },
        ];
        for _ in 0..3 {
            accountant.recount(slots, 0, true, &Dotted);
        }
        let eve = accountant.get(b"a.b.eve@x").unwrap();
        assert_eq!((eve.resources, eve.weighted_resources), (1, 2.0));
        assert_eq!(accountant.get(b"a").unwrap().hierarchical_resources, 2.0);
        accountant.recount(slots, 0, false, &Dotted);
        assert_eq!(accountant.usage(b"a.b.eve@x"), 6.0);
    }

    #[test]
    fn recounting_with_known_places_is_recounting() {
        let (mut one, mut other, mut known) = (accountant(""), accountant(""), RecordPlaces::default());
        for now in [0, 60, 75, 90, 120, 300] {
            let slot = |submitter, weight, suspended| {
                let account = Account::Submitter;
                SlotInUse { submitter, account, weight, suspended }
            };
            let all = [
                slot(&b"a.b.eve@x"[..], 2.5 + now as f64, false),
                slot(b"bob@x", 1.0, now == 60),
                slot(b"carol@x", 3.0, false),
                slot(b"dave@x", 0.5, now == 300),
                slot(b"bob@x", 4.0, false),
            ];
            // Some are left out, and come back.
            let left_out = |at: usize| matches!((now, at), (75, 0) | (90, 1 | 2) | (120, 3 | 4));
            let slots: Vec<SlotInUse<'_>> = (0..5).filter(|at| !left_out(*at)).map(|at| all[at]).collect();
            for accountant in [&mut one, &mut other] {
                accountant.update_priorities(now, 500.0);
            }
            one.recount(slots.iter().copied(), now + 3, true, &Dotted);
            other.recount_known(slots.iter().copied(), now + 3, true, &Dotted, &mut known);
            assert!(one.iter().eq(other.iter()), "at {now}");
        }
    }

    #[test]
    fn leases_end_before_a_cycle_reads_them() {
        let mut accountant = accountant(
            "101 Customer.a@x * *\n103 Customer.a@x Ceiling 4\n103 Customer.a@x CeilingPreLeaseValue -1\n\
             103 Customer.a@x CeilingLeaseExpiration 1000\n103 Customer.a@x PriorityFactor 5.0\n\
             103 Customer.a@x PriorityFactorPreLeaseValue 100.000000\n103 Customer.a@x PriorityFactorLeaseExpiration 1001\n",
        );
        accountant.update_priorities(999, 1e9);
        assert_eq!((accountant.ceiling(b"a@x"), accountant.factor(b"a@x", &Ungrouped)), (4, 5.0));
        accountant.update_priorities(1000, 1e9);
        assert_eq!((accountant.ceiling(b"a@x"), accountant.factor(b"a@x", &Ungrouped)), (-1, 5.0));
        accountant.update_priorities(1001, 1e9);
        assert_eq!(accountant.factor(b"a@x", &Ungrouped), 100.0);
    }

    #[test]
    fn records_of_which_nothing_would_be_lost_are_removed() {
        let mut accountant = accountant(
            "101 Customer.new@x * *\n103 Customer.new@x PriorityFactor 1000.0\n\
             101 Customer.active@x * *\n101 Customer.used@x * *\n103 Customer.used@x AccumulatedUsage 3.0\n\
             101 Customer.worse@x * *\n103 Customer.worse@x Priority 0.6\n\
             101 Customer.set@x * *\n103 Customer.set@x PriorityFactor 7.0\n\
             101 Customer.floor@x * *\n103 Customer.floor@x Floor 7\n101 Customer.group_a * *\n",
        );
        accountant.remove_blank(&Ungrouped, |name| name == b"active@x");
        let names: Vec<_> = accountant.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        assert_eq!(names, ["active@x", "used@x", "worse@x", "set@x", "floor@x", "group_a"]);
        assert_eq!(accountant.get(b"floor@x").unwrap().floor, 7);
        assert!(accountant.remove(b"set@x") && !accountant.remove(b"set@x"));
    }

    #[test]
    fn an_update_needs_time_to_pass() {
        let log = "101 Accountant. * *\n103 Accountant. LastUpdateTime 1000\n\
                   101 Customer.a@x * *\n103 Customer.a@x Priority 8.000000\n";
        let mut accountant = accountant(log);
        accountant.update_priorities(1000, 100.0);
        assert_eq!(accountant.get(b"a@x").unwrap().priority, 8.0);
        accountant.update_priorities(900, 100.0);
        assert_eq!((accountant.get(b"a@x").unwrap().priority, accountant.last_update()), (8.0, 900));
        accountant.update_priorities(1000, 100.0);
        assert_eq!(accountant.get(b"a@x").unwrap().priority, 4.0);
    }

    /// From the recorded log of a pool with the default half-life: 7 seconds of decay between
    /// `LastUpdateTime` 1795214099 and 1795214106 took 5.0 to 4.999719 and 20.0 to 19.998877.
    #[test]
    fn decay_agrees_with_a_recorded_pool() {
        let log = "101 Accountant. * *\n103 Accountant. LastUpdateTime 1795214099\n\
                   101 Customer.alice@pool.test * *\n103 Customer.alice@pool.test Priority 5.0\n\
                   101 Customer.group_phys.bob@pool.test * *\n103 Customer.group_phys.bob@pool.test Priority 20.0\n";
        let mut accountant = accountant(log);
        accountant.update_priorities(1_795_214_106, 86400.0);
        assert_eq!(accountant.get(b"alice@pool.test").unwrap().priority, 4.999_719);
        assert_eq!(accountant.get(b"group_phys.bob@pool.test").unwrap().priority, 19.998_877);
    }
}
