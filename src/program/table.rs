//! Many ads by column, as far as expressions can reach their attributes.
//!
//! In: ads, and the names and expressions to begin with. Out: a column for each attribute that any expression names,
//! directly or through others, and the structure of each ad.

use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;

use hashbrown::{HashMap, HashSet};

use crate::ad::ClassAd;
use crate::name::{Key, Name, scopes};
use crate::program::column::{Column, Entry};
use crate::program::fallbacks::Fallbacks;
use crate::program::mentions::Mentions;
use crate::program::partition::Partition;
use crate::syntax::expr::Tree;

/// Fewer ads of one structure than this are evaluated one by one.
const MIN_ADS_BY_COLUMN: usize = 8;

/// All names that can be reached from some: `mentioned` gives the names that a round of new names leads to.
///
/// ```
/// use classmate::Name;
/// use classmate::internal::program::table::closure;
/// let [a, b, c] = ["a", "b", "c"].map(Name::new);
/// let next = |name: &Name| if *name == a { vec![b, a] } else { vec![c] };
/// assert_eq!(closure([a], |names| names.iter().flat_map(next).collect()), [a, b, c]);
/// ```
pub fn closure(roots: impl IntoIterator<Item = Name>, mut mentioned: impl FnMut(&[Name]) -> Vec<Name>) -> Vec<Name> {
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    let mut open: Vec<Name> = roots.into_iter().collect();
    loop {
        open.retain(|name| known.insert(name.key()));
        if open.is_empty() {
            return found;
        }
        let next = mentioned(&open);
        found.append(&mut open);
        open = next;
    }
}

/// Returns whether an ad has an attribute with the name of a scope, which changes the meaning of expressions.
pub fn redefines_scopes(ad: &ClassAd) -> bool {
    static SCOPES: LazyLock<Vec<Name>> = LazyLock::new(|| scopes().collect());
    SCOPES.iter().any(|scope| ad.contains(*scope))
}

/// Numbers the structure of an attribute: absent, a constant, or the expression that the entry of this number is.
pub fn structure_of(entry: &Entry, id: u32) -> u32 {
    match entry {
        Entry::Absent => 0,
        Entry::Constant(_) => 1,
        Entry::Tree(_) => id + 2,
    }
}

/// The names that expressions mention, collected for [`Table::collect`].
#[derive(Debug)]
pub struct Reach {
    /// The policy: whether the mentions of an expression are all that it can look at.
    is_foreseen: fn(&Mentions) -> bool,
    /// Names mentioned since the last round.
    pub names: Vec<Name>,
    /// All attributes so far whose values are names of attributes: `TARGET[Which]`.
    pub selectors: Vec<Name>,
    /// True if the expressions of the table are all foreseen.
    pub foreseen: bool,
}

impl Reach {
    /// Some names to begin with, under a policy on which expressions are foreseen.
    pub fn new(names: Vec<Name>, is_foreseen: fn(&Mentions) -> bool) -> Self {
        Self { is_foreseen, names, selectors: Vec::new(), foreseen: true }
    }

    /// Adds the names that an expression mentions; returns whether it is foreseen.
    pub fn add(&mut self, tree: &Tree) -> bool {
        let mentions = Mentions::of(tree);
        let foreseen = (self.is_foreseen)(&mentions);
        self.names.extend(mentions.names);
        self.names.extend(&mentions.selectors);
        self.selectors.extend(mentions.selectors);
        foreseen
    }
}

/// Many ads by column.
#[derive(Debug, Default)]
pub struct Table {
    /// The columns; none for attributes that no ad has.
    pub columns: Vec<Column>,
    /// The names that each selecting attribute can have as a value.
    pub selected: HashMap<Key, Vec<Name>>,
    /// Atoms that the evaluator evaluated.
    pub scalar: Fallbacks,
    /// Number of atoms that were evaluated over columns.
    pub batched: AtomicU64,
    /// Expressions of the ads that are not foreseen, as entries of columns.
    pub unforeseen: HashSet<(Key, u32)>,
    place_of: HashMap<Key, usize>,
    /// True if expressions look at nothing but the columns.
    foreseen: bool,
}

impl Table {
    /// Collects the columns of a number of ads that expressions can reach. After each round, `opposite` adds the names that
    /// the ads on the other side lead to.
    pub fn collect<'a>(
        (count, ad): (usize, &(dyn Fn(usize) -> &'a ClassAd + Sync)),
        reach: &mut Reach,
        mut opposite: impl FnMut(&mut Self, &[Name], &mut Reach),
    ) -> Self {
        let mut table = Self::default();
        closure(std::mem::take(&mut reach.names), |names| {
            for column in Column::of(names, count, ad).into_iter().flatten() {
                for (id, entry) in column.entries.iter().enumerate() {
                    if let Entry::Tree(tree) = entry
                        && !reach.add(tree)
                    {
                        table.unforeseen.insert((column.name.key(), id as u32));
                    }
                }
                table.push(column);
            }
            opposite(&mut table, names, reach);
            std::mem::take(&mut reach.names)
        });
        table.foreseen = reach.foreseen && table.unforeseen.is_empty();
        table
    }

    /// The ads that have an expression which is not foreseen, ascending.
    pub fn unforeseen_ads(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for column in &self.columns {
            let is_unforeseen = |id: u32| self.unforeseen.contains(&(column.name.key(), id));
            let entries: Vec<bool> = (0..column.entries.len() as u32).map(is_unforeseen).collect();
            if entries.contains(&true) {
                let ads = column.ids.iter().zip(0..).filter(|(id, _)| entries[**id as usize]);
                found.extend(ads.map(|(_, at)| at));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether an attribute is in any of the ads; known only for those that expressions can reach.
    pub fn has(&self, name: Name) -> bool {
        self.place_of.contains_key(&name.key())
    }

    /// Returns whether expressions look at nothing but the columns.
    pub fn is_foreseen(&self) -> bool {
        self.foreseen
    }

    /// Returns whether some ads of one structure are worth evaluating by column.
    pub fn is_by_column(&self, ads: &[u32]) -> bool {
        self.foreseen && ads.len() >= MIN_ADS_BY_COLUMN
    }

    /// Adds a column.
    pub fn push(&mut self, column: Column) {
        self.place_of.insert(column.name.key(), self.columns.len());
        self.columns.push(column);
    }

    /// The place of an attribute among the columns.
    pub fn place_of(&self, key: Key) -> Option<usize> {
        self.place_of.get(&key).copied()
    }

    /// The column of an attribute.
    pub fn column(&self, key: Key) -> Option<&Column> {
        self.place_of(key).map(|at| &self.columns[at])
    }

    /// The structure of each ad: which attributes it has, and the expressions of those that are not
    /// constants.
    pub fn structures(&self, count: usize) -> Partition {
        let mut structures = Partition::whole(count);
        for column in &self.columns {
            let of_entries = column.structures();
            if of_entries.windows(2).any(|pair| pair[0] != pair[1]) {
                structures.split(|at| of_entries[column.ids[at] as usize]);
            }
        }
        structures
    }
}
