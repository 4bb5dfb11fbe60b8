//! The attributes that a cycle can look at, and their values in every slot and request.
//!
//! In: slots, requests, the expressions of the configuration. Out: a column for each attribute that any of their
//! expressions names, directly or through others, and the expressions that can look at anything else.

use hashbrown::{HashMap, HashSet};

use classmate::internal::ad::ClassAd;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::column::{Dictionary, Entry};
use classmate::internal::program::table::{Reach, Table, redefines_scopes, structure_of};
use classmate::internal::program::view::AdSource;
use classmate::internal::syntax::expr::Expr;
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
    /// True if requests have too many attributes for a table: not all of them were collected.
    pub(super) is_too_wide: bool,
}

/// The cells of a table of requests, whose attributes are its columns, and the columns below which it may have more.
const MAX_CELLS: usize = 1 << 24;
const NARROW: usize = 1000;

/// Returns whether an ad has neither a parent nor an attribute that changes the meaning of expressions.
pub(super) fn is_plain(ad: &ClassAd) -> bool {
    ad.chained().is_none() && !redefines_scopes(ad)
}

impl Vocabulary {
    /// Collects the attributes that expressions of plain ads look at, beginning with some names and expressions. Slots with
    /// expressions that are not foreseen have to be left out, and the rest collected again. None if an expression of
    /// the beginning is not foreseen.
    pub(super) fn collect(
        (count, slots): (usize, &dyn AdSource),
        requests: &[&ClassAd],
        roots: &[&str],
        exprs: &[&Expr],
    ) -> Option<Self> {
        let roots = roots.iter().map(|name| Name::new(*name)).collect();
        let mut reach = Reach::new(roots, |mentions| !mentions.opaque && !mentions.live);
        if !exprs.iter().all(|expr| reach.add(expr.tree())) {
            return None;
        }
        let mut found = Self::default();
        let slots = Table::collect((count, &|at| slots.ad(at as u32)), &mut reach, |table, names, reach| {
            found.add_requests(names, requests, reach);
            found.select(table, reach);
        });
        Some(Self { slots, ..found })
    }

    /// Adds attributes of requests.
    fn add_requests(&mut self, names: &[Name], requests: &[&ClassAd], reach: &mut Reach) {
        let columns = self.requests.len() + names.len();
        self.is_too_wide |= columns > NARROW && columns * requests.len() > MAX_CELLS;
        if self.is_too_wide {
            return;
        }
        let columns = Dictionary::of(names, requests.len(), &|at| requests[at]);
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

    /// The structure of each entry of the attribute at a place.
    pub(super) fn structures_of(&self, place: usize) -> Vec<u32> {
        let entries = self.requests[place].dictionary.entries();
        entries.iter().zip(0..).map(|(entry, id)| structure_of(entry, id)).collect()
    }

    /// For each entry of the attribute at a place whether it is an expression that is not foreseen; none if no expression is.
    pub(super) fn unforeseen_of(&self, place: usize) -> Option<Vec<bool>> {
        let column = &self.requests[place];
        let entries = 0..column.dictionary.entries().len() as u32;
        let is_unforeseen = |id: u32| self.unforeseen.contains(&(column.name.key(), id));
        (!self.unforeseen.is_empty()).then(|| entries.map(is_unforeseen).collect())
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

    /// For each attribute its place and the entries in the ads of the queue. They are moved out, so this works once.
    pub(super) fn take_queue(&mut self) -> Vec<(usize, Vec<u32>)> {
        self.requests.iter_mut().map(|column| std::mem::take(&mut column.of_queue)).enumerate().collect()
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

    /// Adds the names that selecting attributes can have as values. A value that is computed is not foreseen.
    fn select(&mut self, slots: &mut Table, reach: &mut Reach) {
        for selector in &reach.selectors {
            let key = selector.key();
            let mut names = Vec::new();
            let mut add = |entries: &[Entry], unforeseen: &mut HashSet<(Key, u32)>| {
                for (entry, id) in entries.iter().zip(0..) {
                    match entry {
                        Entry::Constant(Value::Str(text)) => names.extend(Name::known(text)),
                        Entry::Tree(_) => {
                            unforeseen.insert((key, id));
                        }
                        _ => {}
                    }
                }
            };
            if let Some(column) = slots.place_of(key) {
                add(&slots.columns[column].entries, &mut slots.unforeseen);
            }
            if let Some(at) = self.place_of(key) {
                add(self.requests[at].dictionary.entries(), &mut self.unforeseen);
            }
            reach.names.extend(&names);
            slots.selected.insert(key, names);
        }
    }
}
