//! Which attributes a cycle can look at, and what they are in every slot and request.
//!
//! In: slots, requests, the expressions of the configuration. Out: a column for each attribute that any of their
//! expressions names, directly or through others; or nothing, if one of them does what cannot be foreseen.

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use classmate::internal::ad::ClassAd;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::batch::Columns;
use classmate::internal::program::column::{Column, Dictionary, Entry};
use classmate::internal::program::mentions::Mentions;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::value::Value;

/// One attribute of the requests.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) name: Name,
    pub(super) dictionary: Dictionary,
    /// The entry of each request of the queue.
    of_queue: Vec<u32>,
}

/// The attributes of a cycle.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// What they are in slots.
    pub(super) columns: Columns,
    /// What they are in requests.
    pub(super) asked: Vec<Asked>,
    /// What attributes that select others can name.
    pub(super) selected: HashMap<Key, Vec<Name>>,
    place_of: HashMap<Key, usize>,
    known: HashSet<Key>,
    open: Vec<Name>,
    selectors: Vec<Name>,
}

/// What an expression does that cannot be foreseen.
const OF_SETTINGS: &str =
    "an expression of the configuration evaluates a string, uses a whole ad, or depends on usage during the cycle";
const OF_SLOTS: &str = "a slot expression evaluates a string, uses a whole ad, or depends on usage during the cycle";

/// The expressions of requests that cannot be foreseen, as entries of an attribute.
type Odd = HashSet<(Key, u32)>;

impl Vocabulary {
    /// Collects the attributes that expressions look at, beginning with some names and expressions; with the entries of
    /// requests that cannot be foreseen.
    ///
    /// # Errors
    /// What ads or an expression of a slot or of the configuration do that cannot be foreseen.
    pub(super) fn collect<'s>(
        slots: &(dyn Fn(usize) -> ClassRef<'s> + Sync),
        count: usize,
        requests: &[&ClassAd],
        roots: &[&str],
        exprs: &[&Expr],
    ) -> Result<(Self, Odd), &'static str> {
        // A pool whose ads define what names an ad is not for this.
        let scopes: Vec<Name> = classmate::internal::name::scopes().collect();
        let plain = |ad: &ClassAd| ad.chained().is_none() && !scopes.iter().any(|scope| ad.contains(*scope));
        if !(0..count).into_par_iter().all(|at| plain(slots(at).0)) || !requests.iter().copied().all(plain) {
            return Err("an ad has a parent, or an attribute named like a scope");
        }
        let mut found = Self::default();
        let mut odd = Odd::new();
        for name in roots {
            found.name(Name::new(name));
        }
        for expr in exprs {
            found.foreseen(&Mentions::of(expr.tree())).ok_or(OF_SETTINGS)?;
        }
        while !found.open.is_empty() {
            let names = std::mem::take(&mut found.open);
            let made = Column::of(&names, count, &|at| slots(at).0);
            let asked: Vec<_> = names.par_iter().map(|name| Dictionary::of(*name, requests)).collect();
            for (name, (column, asked)) in names.into_iter().zip(made.into_iter().zip(asked)) {
                found.slot_column(name, column).ok_or(OF_SLOTS)?;
                found.request_column(name, asked, &mut odd);
            }
            found.select().ok_or(OF_SLOTS)?;
        }
        Ok((found, odd))
    }

    fn name(&mut self, name: Name) {
        if self.known.insert(name.key()) {
            self.open.push(name);
        }
    }

    /// Notes what an expression mentions; none if it cannot be foreseen.
    fn foreseen(&mut self, mentions: &Mentions) -> Option<()> {
        for name in mentions.names.iter().chain(&mentions.selectors) {
            self.name(*name);
        }
        self.selectors.extend(&mentions.selectors);
        (!mentions.opaque && !mentions.live).then_some(())
    }

    fn slot_column(&mut self, name: Name, column: Option<Column>) -> Option<()> {
        let Some(column) = column else { return Some(()) };
        for entry in &column.entries {
            if let Entry::Tree(tree) = entry {
                self.foreseen(&Mentions::of(tree))?;
            }
        }
        self.columns.by_key.insert(name.key(), self.columns.columns.len());
        self.columns.columns.push(column);
        Some(())
    }

    fn request_column(&mut self, name: Name, (dictionary, of_queue): (Dictionary, Vec<u32>), odd: &mut Odd) {
        for (id, entry) in dictionary.entries().iter().enumerate() {
            if let Entry::Tree(tree) = entry
                && self.foreseen(&Mentions::of(tree)).is_none()
            {
                odd.insert((name.key(), id as u32));
            }
        }
        self.place_of.insert(name.key(), self.asked.len());
        self.asked.push(Asked { name, dictionary, of_queue });
    }

    /// Whether a request with these entries has an expression that cannot be foreseen.
    pub(super) fn is_odd(&self, ids: &[u32], odd: &HashSet<(Key, u32)>) -> bool {
        !odd.is_empty() && self.asked.iter().zip(ids).any(|(asked, id)| odd.contains(&(asked.name.key(), *id)))
    }

    /// Where an attribute is among those of the requests.
    pub(super) fn place_of(&self, key: Key) -> Option<usize> {
        self.place_of.get(&key).copied()
    }

    /// The entries of each attribute in the ads of the queue, once: they are not kept.
    pub(super) fn take_queue(&mut self, requests: usize) -> Vec<Vec<u32>> {
        let columns: Vec<Vec<u32>> = self.asked.iter_mut().map(|asked| std::mem::take(&mut asked.of_queue)).collect();
        (0..requests).into_par_iter().map(|at| columns.iter().map(|column| column[at]).collect()).collect()
    }

    /// The entry of each attribute in the ad of a request.
    pub(super) fn ids(&mut self, request: &ClassAd) -> Vec<u32> {
        self.asked.iter_mut().map(|asked| asked.dictionary.id(request, asked.name)).collect()
    }

    /// The structure of a request with these entries: which attributes it has, and the expressions of those that are no
    /// constants.
    pub(super) fn structure(&self, ids: &[u32]) -> Vec<u32> {
        let shape = |(asked, id): (&Asked, &u32)| shape(&asked.dictionary.entries()[*id as usize], *id);
        self.asked.iter().zip(ids).map(shape).collect()
    }

    /// Adds the names that selecting attributes can have as values; none if they are computed.
    fn select(&mut self) -> Option<()> {
        for selector in self.selectors.clone() {
            let mut names = Vec::new();
            let slots = self.columns.get(selector.key()).map(|column| column.entries.as_slice());
            let asked = self.asked.iter().find(|asked| asked.name == selector);
            let asked = asked.map(|asked| asked.dictionary.entries());
            for entry in slots.unwrap_or_default().iter().chain(asked.unwrap_or_default()) {
                match entry {
                    Entry::Constant(Value::Str(text)) => names.extend(Name::known(text)),
                    Entry::Tree(_) => return None,
                    _ => {}
                }
            }
            for name in &names {
                self.name(*name);
            }
            self.selected.insert(selector.key(), names);
        }
        Some(())
    }
}

/// A slot's ad.
#[derive(Clone, Copy)]
pub(super) struct ClassRef<'a>(pub(super) &'a ClassAd);

/// How an attribute shapes an ad: absent, a constant, or which expression.
pub(super) fn shape(entry: &Entry, id: u32) -> u32 {
    match entry {
        Entry::Absent => 0,
        Entry::Constant(_) => 1,
        Entry::Tree(_) => id + 2,
    }
}
