//! The attributes that a cycle can look at, and their values in every slot and request.
//!
//! In: slots, requests, the expressions of the configuration. Out: a column for each attribute that any of their
//! expressions names, directly or through others; or nothing, if an expression can look at anything else.

use hashbrown::{HashMap, HashSet};

use classmate::internal::ad::ClassAd;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::column::{Dictionary, Entry};
use classmate::internal::program::table::{Reach, Table, redefines_scopes, structure_of};
use classmate::internal::program::view::AdSource;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::threads;
use classmate::internal::value::Value;

/// One attribute of the requests.
#[derive(Debug)]
pub(super) struct RequestColumn {
    pub(super) name: Name,
    pub(super) dictionary: Dictionary,
    /// The entry of each request of the queue.
    of_queue: Vec<u32>,
}

/// The attributes of a cycle.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// The attributes of slots.
    pub(super) slots: Table,
    /// The attributes of requests.
    pub(super) requests: Vec<RequestColumn>,
    place_of: HashMap<Key, usize>,
    /// Expressions of requests that are not foreseen, as entries of an attribute.
    unforeseen: HashSet<(Key, u32)>,
}

/// Obstacles that expressions can be.
const OF_SETTINGS: &str =
    "an expression of the configuration evaluates a string, uses a whole ad, or depends on usage during the cycle";
const OF_SLOTS: &str = "a slot expression evaluates a string, uses a whole ad, or depends on usage during the cycle";

impl Vocabulary {
    /// Collects the attributes that expressions look at, beginning with some names and expressions.
    ///
    /// # Errors
    /// The property of an ad, or of an expression of a slot or of the configuration, that makes it unforeseeable.
    pub(super) fn collect(
        (count, slots): (usize, &dyn AdSource),
        requests: &[&ClassAd],
        roots: &[&str],
        exprs: &[&Expr],
    ) -> Result<Self, &'static str> {
        let plain = |ad: &ClassAd| ad.chained().is_none() && !redefines_scopes(ad);
        if !threads::map_range(count, |at| plain(slots.ad(at as u32))).into_iter().all(|plain| plain)
            || !requests.iter().copied().all(plain)
        {
            return Err("an ad has a parent, or an attribute named like a scope");
        }
        let roots = roots.iter().map(|name| Name::new(*name)).collect();
        let mut reach = Reach::new(roots, |mentions| !mentions.opaque && !mentions.live);
        if !exprs.iter().all(|expr| reach.add(expr.tree())) {
            return Err(OF_SETTINGS);
        }
        let mut found = Self::default();
        let slots = Table::collect((count, &|at| slots.ad(at as u32)), &mut reach, |table, names, reach| {
            found.add_requests(names, requests, reach);
            reach.foreseen &= found.select(table, reach).is_some();
            if !reach.foreseen {
                reach.names.clear();
            }
        });
        if slots.is_foreseen() { Ok(Self { slots, ..found }) } else { Err(OF_SLOTS) }
    }

    /// Adds attributes of requests.
    fn add_requests(&mut self, names: &[Name], requests: &[&ClassAd], reach: &mut Reach) {
        let columns: Vec<_> = threads::map_all(names, |name| Dictionary::of(*name, requests));
        for (name, (dictionary, of_queue)) in names.iter().zip(columns) {
            for (id, entry) in dictionary.entries().iter().enumerate() {
                if let Entry::Tree(tree) = entry
                    && !reach.add(tree)
                {
                    self.unforeseen.insert((name.key(), id as u32));
                }
            }
            self.place_of.insert(name.key(), self.requests.len());
            self.requests.push(RequestColumn { name: *name, dictionary, of_queue });
        }
    }

    /// Returns whether a request with these entries has an expression that is not foreseen.
    pub(super) fn is_unforeseen(&self, ids: &[u32]) -> bool {
        let unforeseen = &self.unforeseen;
        !unforeseen.is_empty()
            && self.requests.iter().zip(ids).any(|(column, id)| unforeseen.contains(&(column.name.key(), *id)))
    }

    /// The place of an attribute among those of the requests.
    pub(super) fn place_of(&self, key: Key) -> Option<usize> {
        self.place_of.get(&key).copied()
    }

    /// The places of some attributes, ascending.
    pub(super) fn places<'n>(&self, names: impl Iterator<Item = &'n Name>) -> Vec<usize> {
        let mut places: Vec<usize> = names.filter_map(|name| self.place_of(name.key())).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The entries of each attribute in the ads of the queue. They are moved out, so this works once.
    pub(super) fn take_queue(&mut self, requests: usize) -> Vec<Vec<u32>> {
        let columns: Vec<Vec<u32>> =
            self.requests.iter_mut().map(|column| std::mem::take(&mut column.of_queue)).collect();
        threads::map_range(requests, |at| columns.iter().map(|column| column[at]).collect())
    }

    /// The entry of each attribute in the ad of a request.
    pub(super) fn ids(&mut self, request: &ClassAd) -> Vec<u32> {
        self.requests.iter_mut().map(|column| column.dictionary.id(request, column.name)).collect()
    }

    /// The structure of a request with these entries: which attributes it has, and the expressions of those that are not
    /// constants.
    pub(super) fn structure(&self, ids: &[u32]) -> Vec<u32> {
        let of = |(column, id): (&RequestColumn, &u32)| structure_of(&column.dictionary.entries()[*id as usize], *id);
        self.requests.iter().zip(ids).map(of).collect()
    }

    /// Adds the names that selecting attributes can have as values; none if a value is computed.
    fn select(&self, slots: &mut Table, reach: &mut Reach) -> Option<()> {
        for selector in &reach.selectors {
            let mut names = Vec::new();
            let of_slots = slots.column(selector.key()).map(|column| column.entries.as_slice());
            let of_requests = self.place_of(selector.key()).map(|at| self.requests[at].dictionary.entries());
            for entry in of_slots.unwrap_or_default().iter().chain(of_requests.unwrap_or_default()) {
                match entry {
                    Entry::Constant(Value::Str(text)) => names.extend(Name::known(text)),
                    Entry::Tree(_) => return None,
                    _ => {}
                }
            }
            reach.names.extend(&names);
            slots.selected.insert(selector.key(), names);
        }
        Some(())
    }
}
