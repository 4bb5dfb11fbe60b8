//! One attribute of many ads, each distinct value once.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet, HashTable};

use crate::ad::{Attribute, ClassAd, Places};
use crate::name::{Key, Name};
use crate::program::table::structure_of;
use crate::semantics::Semantics;
use crate::syntax::expr::{Expr, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::print::Style;
use crate::threads::{filter_map_into, map_parts};
use crate::value::Value;

/// An attribute of an ad.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The ad does not have it.
    Absent,
    /// A constant.
    Constant(Value),
    /// An expression.
    Tree(Arc<Tree>),
}

/// One attribute of many ads.
#[derive(Debug, Clone)]
pub struct Column {
    /// The attribute.
    pub name: Name,
    /// For each ad the number of its entry.
    pub ids: Vec<u32>,
    /// The distinct entries, in the order of first sight.
    pub entries: Vec<Entry>,
    /// The entries as integers, if every ad has the attribute and all values are integers.
    pub ints: Option<Vec<i64>>,
}

/// More names than this are searched in the ads before their values are collected.
const MANY: usize = 1024;

/// Interns the attributes of ads: equal ones get equal numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    entries: Vec<Entry>,
    constants: HashTable<(u64, u32)>,
    /// Constants that say more than their value, by number.
    literals: HashMap<u32, Literal>,
    by_address: HashMap<usize, u32>,
    by_text: HashMap<(Vec<u8>, Semantics), u32>,
    absent: Option<u32>,
}

/// An attribute, if it is there, and the hash of a constant.
type Hashed<'a> = (Option<&'a Attribute>, u64);

/// The part of an attribute that is stored in its ad: if it is the same, the attributes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum StoredPart {
    Absent,
    /// The address of an expression.
    Tree(usize),
    Undefined,
    Error,
    Bool(bool),
    Int(i64),
    /// The bits of a real.
    Real(u64),
    /// The address of a string. Equal ones may have several.
    Text(usize),
}

impl StoredPart {
    /// The stored part of an attribute; `None` for rare constants.
    fn of(attribute: Option<&Attribute>) -> Option<Self> {
        Some(match attribute {
            None => StoredPart::Absent,
            Some(Attribute::Tree(tree)) => StoredPart::Tree(Arc::as_ptr(tree) as usize),
            Some(Attribute::Literal(literal)) => match literal {
                Literal::Undefined => StoredPart::Undefined,
                Literal::Error => StoredPart::Error,
                Literal::Bool(value) => StoredPart::Bool(*value),
                Literal::Int(value) => StoredPart::Int(*value),
                Literal::Real(value) => StoredPart::Real(value.to_bits()),
                Literal::Str(text) => StoredPart::Text(text.address()),
                _ => return None,
            },
        })
    }
}

/// The distinct attributes of some ads, in the order of first sight.
#[derive(Debug, Default)]
struct DistinctAttributes<'a> {
    found: Vec<Hashed<'a>>,
    /// The numbers of attributes by what is stored; of equal strings, the first one.
    known: HashMap<StoredPart, u32>,
    /// The numbers of constants that may be equal although what is stored of them differs, and their hashes.
    constants: HashTable<(u64, u32)>,
    last: Option<(StoredPart, u32)>,
}

impl<'a> DistinctAttributes<'a> {
    /// The number of an attribute, of which this is stored. Expressions at different addresses have different numbers.
    fn number(&mut self, attribute: Option<&'a Attribute>, stored: Option<StoredPart>) -> u32 {
        let Some(stored) = stored else { return self.number_of_content(attribute) };
        // Neighboring ads often have the same value.
        if let Some((last, number)) = self.last
            && last == stored
        {
            return number;
        }
        let number = match self.known.get(&stored) {
            Some(number) => *number,
            None => {
                let (next, number) = (self.found.len() as u32, self.number_of_content(attribute));
                if number == next {
                    self.known.insert(stored, number);
                }
                number
            }
        };
        self.last = Some((stored, number));
        number
    }

    /// The number of an attribute by its content.
    fn number_of_content(&mut self, attribute: Option<&'a Attribute>) -> u32 {
        let next = self.found.len() as u32;
        let Some(Attribute::Literal(literal)) = attribute else {
            self.found.push((attribute, 0));
            return next;
        };
        let hash = hash(literal);
        // A number is stored as a whole, and has been looked for.
        if !matches!(literal, Literal::Int(_) | Literal::Real(_)) {
            let found = &self.found;
            let same = |(other, number): &(u64, u32)| {
                *other == hash
                    && matches!(found[*number as usize].0, Some(Attribute::Literal(known)) if identical(known, literal))
            };
            if let Some((_, number)) = self.constants.find(hash, same) {
                return *number;
            }
            self.constants.insert_unique(hash, (hash, next), |(hash, _)| *hash);
        }
        self.found.push((attribute, hash));
        next
    }
}

/// Ads whose attributes are looked at before they are numbered: the memory of several ads is read at the same time, and the table of
/// each name is used several times in a row.
const ADS_PER_GROUP: usize = 128;

impl Dictionary {
    /// For each name the distinct attributes of a number of ads, in the order of first sight, and the number of each ad.
    /// Reads every ad once.
    pub fn of<'a>(names: &[Name], count: usize, ad: &(dyn Fn(usize) -> &'a ClassAd + Sync)) -> Vec<(Self, Vec<u32>)> {
        let of_part = |ads: Range<usize>| {
            let ids = || Vec::with_capacity(ads.len());
            let mut found: Vec<_> = names.iter().map(|_| (DistinctAttributes::default(), ids())).collect();
            let mut places = Places::new(names);
            let mut group: Vec<Vec<_>> = names.iter().map(|_| Vec::with_capacity(ADS_PER_GROUP)).collect();
            for start in ads.clone().step_by(ADS_PER_GROUP) {
                for ad in (start..ads.end.min(start + ADS_PER_GROUP)).map(ad) {
                    for (group, attribute) in group.iter_mut().zip(places.of(ad)) {
                        group.push((attribute, StoredPart::of(attribute)));
                    }
                }
                for ((distinct, ids), group) in found.iter_mut().zip(&mut group) {
                    ids.extend(group.drain(..).map(|(attribute, stored)| distinct.number(attribute, stored)));
                }
            }
            found.into_iter().map(|(distinct, ids)| (distinct.found, ids)).collect::<Vec<_>>()
        };
        let mut of_name: Vec<Vec<_>> = names.iter().map(|_| Vec::new()).collect();
        for part in map_parts(count, ADS_PER_TASK, of_part) {
            of_name.iter_mut().zip(part).for_each(|(parts, part)| parts.push(part));
        }
        filter_map_into(of_name, |parts| Some(Self::joined(parts)))
    }

    /// Joins parts, in their order: the distinct attributes of each, and the numbers of its ads.
    fn joined(parts: Vec<(Vec<Hashed<'_>>, Vec<u32>)>) -> (Self, Vec<u32>) {
        let most = parts.iter().map(|(found, _)| found.len()).sum();
        let mut whole = Self { constants: HashTable::with_capacity(most), ..Self::default() };
        let mut all = Vec::with_capacity(parts.iter().map(|(_, ids)| ids.len()).sum());
        for (found, ids) in parts {
            let number = |(attribute, hash): Hashed<'_>| whole.number(attribute, |_| hash);
            let here: Vec<u32> = found.into_iter().map(number).collect();
            all.extend(ids.iter().map(|id| here[*id as usize]));
        }
        (whole, all)
    }

    /// The number of the attribute of an ad.
    pub fn id(&mut self, ad: &ClassAd, name: Name) -> u32 {
        self.number(ad.lookup(name), hash)
    }

    /// The number of an attribute.
    fn number(&mut self, attribute: Option<&Attribute>, hash: impl Fn(&Literal) -> u64) -> u32 {
        match attribute {
            None => self.absent(),
            Some(Attribute::Literal(literal)) => self.constant(literal, hash(literal)),
            Some(Attribute::Tree(tree)) => self.tree(tree),
        }
    }

    fn absent(&mut self) -> u32 {
        match self.absent {
            Some(id) => id,
            None => {
                let id = self.add(Entry::Absent);
                *self.absent.insert(id)
            }
        }
    }

    fn add(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    fn constant(&mut self, literal: &Literal, hash: u64) -> u32 {
        let (entries, literals) = (&self.entries, &self.literals);
        let same = |(other, id): &(u64, u32)| {
            *other == hash
                && match (literals.get(id), &entries[*id as usize]) {
                    (Some(known), _) => identical(known, literal),
                    (None, Entry::Constant(value)) => !is_more_than_value(literal) && is_value(value, literal),
                    _ => false,
                }
        };
        if let Some((_, id)) = self.constants.find(hash, same) {
            return *id;
        }
        let id = self.add(Entry::Constant(Value::from(literal)));
        if is_more_than_value(literal) {
            self.literals.insert(id, literal.clone());
        }
        self.constants.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }

    /// Trees are equal if their texts and versions are.
    fn tree(&mut self, tree: &Arc<Tree>) -> u32 {
        let address = Arc::as_ptr(tree) as usize;
        if let Some(id) = self.by_address.get(&address) {
            return *id;
        }
        let key = (Expr::whole(Arc::clone(tree)).to_text(Style::New), tree.semantics.language());
        let id = match self.by_text.get(&key) {
            Some(id) => *id,
            None => {
                let id = self.add(Entry::Tree(Arc::clone(tree)));
                self.by_text.insert(key, id);
                id
            }
        };
        self.by_address.insert(address, id);
        id
    }

    /// The distinct entries so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Tests whether a constant that does not say more than its value has this one.
fn is_value(value: &Value, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Undefined, Literal::Undefined) | (Value::Error, Literal::Error) => true,
        (Value::Bool(a), Literal::Bool(b)) => a == b,
        (Value::Int(a), Literal::Int(b)) => a == b,
        (Value::Real(a), Literal::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::Str(a), Literal::Str(b)) => a == b,
        (Value::AbsTime(a), Literal::AbsTime(b)) => (a.seconds, a.offset) == (b.seconds, b.offset),
        _ => false,
    }
}

/// Tests whether different constants can have the same value as this one.
fn is_more_than_value(literal: &Literal) -> bool {
    matches!(literal, Literal::RelTime(_) | Literal::OldRelTime(_) | Literal::Suffixed(..))
}

/// Returns whether no expression can distinguish two constants.
pub fn identical(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Undefined, Literal::Undefined) | (Literal::Error, Literal::Error) => true,
        (Literal::Bool(a), Literal::Bool(b)) => a == b,
        (Literal::Int(a), Literal::Int(b)) => a == b,
        (Literal::Real(a), Literal::Real(b))
        | (Literal::RelTime(a), Literal::RelTime(b))
        | (Literal::OldRelTime(a), Literal::OldRelTime(b)) => a.to_bits() == b.to_bits(),
        (Literal::Str(a), Literal::Str(b)) => a == b,
        (Literal::Suffixed(a, suffix), Literal::Suffixed(b, other)) => suffix == other && identical(a, b),
        (Literal::AbsTime(a), Literal::AbsTime(b)) => (a.seconds, a.offset) == (b.seconds, b.offset),
        _ => false,
    }
}

fn hash(literal: &Literal) -> u64 {
    let mix = |kind: u64, bits: u64| {
        let mixed = (bits ^ kind.wrapping_mul(0xA076_1D64_78BD_642F)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (mixed >> 32)
    };
    match literal {
        Literal::Undefined => mix(0, 0),
        Literal::Error => mix(1, 0),
        Literal::Bool(value) => mix(2, u64::from(*value)),
        Literal::Int(value) => mix(3, *value as u64),
        Literal::Real(value) => mix(4, value.to_bits()),
        Literal::RelTime(value) | Literal::OldRelTime(value) => mix(5, value.to_bits()),
        Literal::Suffixed(number, suffix) => mix(8, hash(number) ^ u64::from(suffix.letter())),
        Literal::AbsTime(time) => mix(6, time.seconds as u64),
        Literal::Str(text) => text.chunks(8).fold(mix(7, text.len() as u64), |hash, chunk| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            mix(hash.rotate_left(5), u64::from_le_bytes(bytes) ^ hash)
        }),
    }
}

/// Minimum number of ads per task of a thread.
const ADS_PER_TASK: usize = 1024;

impl Column {
    /// The columns of attributes of a number of ads; none for an attribute that no ad has.
    pub fn of<'a>(names: &[Name], count: usize, ad: &(dyn Fn(usize) -> &'a ClassAd + Sync)) -> Vec<Option<Self>> {
        let column = |(name, (dictionary, ids)): (&Name, (Dictionary, Vec<u32>))| {
            let entries = dictionary.entries;
            let any = entries.iter().any(|entry| !matches!(entry, Entry::Absent));
            let int = |entry: &Entry| match entry {
                Entry::Constant(value) => value.as_int(),
                _ => None,
            };
            any.then(|| Self { name: *name, ids, ints: entries.iter().map(int).collect(), entries })
        };
        if names.len() <= MANY {
            return names.iter().zip(Dictionary::of(names, count, ad)).map(column).collect();
        }
        // Ads that each name attributes of their own, which no ad has, do not take room for them.
        let known: HashSet<Key> =
            (0..count).flat_map(|at| ad(at).lineage()).flat_map(ClassAd::names).map(Name::key).collect();
        let had: Vec<Name> = names.iter().copied().filter(|name| known.contains(&name.key())).collect();
        let mut columns = had.iter().zip(Dictionary::of(&had, count, ad)).map(column);
        names.iter().map(|name| if known.contains(&name.key()) { columns.next().flatten() } else { None }).collect()
    }

    /// The entry of an ad.
    pub fn entry(&self, ad: u32) -> &Entry {
        &self.entries[self.ids[ad as usize] as usize]
    }

    /// The structure of each entry.
    pub fn structures(&self) -> Vec<u32> {
        self.entries.iter().enumerate().map(|(id, entry)| structure_of(entry, id as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_entry_and_different_ones_never() {
        let texts = [
            "[a = 1]",
            "[a = 1.0]",
            "[a = 1]",
            "[b = 1]",
            "[a = x + 1]",
            "[A = x+1]",
            "[a = \"S\"]",
            "[a = \"s\"]",
            // Strings are stored once for each ad here.
            "[a = \"S\"]",
            "[a = true]",
            "[a = \"S\"]",
            "[a = 1]",
            "[a = true]",
            "[b = 2]",
        ];
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        let of = |name: &str| Column::of(&[Name::new(name)], ads.len(), &|at| &ads[at]).remove(0);
        let column = of("a").unwrap();
        assert_eq!(column.ids, [0, 1, 0, 2, 3, 3, 4, 5, 4, 6, 4, 0, 6, 2]);
        assert!(matches!(column.entry(3), Entry::Absent));
        assert!(of("c").is_none());
    }

    #[test]
    fn columns_of_many_names_are_those_of_each() {
        let ads = [ClassAd::parse(b"[n7 = 1; n1500 = 2]").unwrap(), ClassAd::parse(b"[n1500 = 3]").unwrap()];
        let names: Vec<Name> = (0..2000).map(|at| Name::new(format!("n{at}"))).collect();
        let columns = Column::of(&names, ads.len(), &|at| &ads[at]);
        let found: Vec<(usize, &[u32])> =
            columns.iter().enumerate().filter_map(|(at, column)| Some((at, &*column.as_ref()?.ids))).collect();
        assert_eq!((columns.len(), found), (2000, vec![(7, &[0, 1][..]), (1500, &[0, 1])]));
    }

    #[test]
    fn parts_are_numbered_as_if_they_were_one() {
        let texts = ["[a = 1]", "[b = 1]", "[a = x]", "[a = 2]"];
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        let order = |at: usize| &ads[(at / 3 + at % 2 * 2) % 4];
        let count = 3 * ADS_PER_TASK + 1;
        let column = Column::of(&[Name::new("a")], count, &order).remove(0).unwrap();
        let mut whole = Dictionary::default();
        let expected: Vec<u32> = (0..count).map(|at| whole.id(order(at), Name::new("a"))).collect();
        assert_eq!(column.ids, expected);
        assert_eq!(column.entries.len(), whole.entries().len());
    }
}
