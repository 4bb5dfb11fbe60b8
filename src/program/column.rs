//! One attribute of many ads, each distinct value once.

use std::sync::Arc;

use hashbrown::{HashMap, HashTable};

use crate::ad::{Attribute, ClassAd, Places};
use crate::name::Name;
use crate::program::table::structure_of;
use crate::syntax::expr::{Expr, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::print::Style;
use crate::threads::map_all;
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

/// Interns the attributes of ads: equal ones get equal numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    entries: Vec<Entry>,
    constants: HashTable<(u64, u32)>,
    literals: Vec<Option<Literal>>,
    by_address: HashMap<usize, u32>,
    by_text: HashMap<Vec<u8>, u32>,
    absent: Option<u32>,
    last: Option<u32>,
}

impl Dictionary {
    /// The distinct attributes of ads for a name, in the order of first sight, and the number of each ad.
    pub fn of(name: Name, ads: &[&ClassAd]) -> (Self, Vec<u32>) {
        let mut dictionary = Self::default();
        let ids = ads.iter().map(|ad| dictionary.id(ad, name)).collect();
        (dictionary, ids)
    }

    /// The number of the attribute of an ad.
    pub fn id(&mut self, ad: &ClassAd, name: Name) -> u32 {
        self.number(ad.lookup(name))
    }

    /// The number of an attribute.
    fn number(&mut self, attribute: Option<&Attribute>) -> u32 {
        match attribute {
            None => self.absent(),
            Some(Attribute::Literal(literal)) => self.constant(literal),
            Some(Attribute::Tree(tree)) => self.tree(tree),
        }
    }

    fn absent(&mut self) -> u32 {
        match self.absent {
            Some(id) => id,
            None => {
                let id = self.add(Entry::Absent, None);
                *self.absent.insert(id)
            }
        }
    }

    /// The numbers here of the entries of another dictionary.
    fn join(&mut self, other: &Dictionary) -> Vec<u32> {
        let each = other.entries.iter().zip(&other.literals);
        each.map(|(entry, literal)| match (entry, literal) {
            (Entry::Tree(tree), _) => self.tree(tree),
            (_, Some(literal)) => self.constant(literal),
            _ => self.absent(),
        })
        .collect()
    }

    fn add(&mut self, entry: Entry, literal: Option<Literal>) -> u32 {
        self.entries.push(entry);
        self.literals.push(literal);
        (self.entries.len() - 1) as u32
    }

    fn constant(&mut self, literal: &Literal) -> u32 {
        // Neighboring ads often have the same value.
        if let Some(last) = self.last
            && let Some(Some(known)) = self.literals.get(last as usize)
            && identical(known, literal)
        {
            return last;
        }
        let hash = hash(literal);
        let literals = &self.literals;
        let same =
            |(_, id): &(u64, u32)| literals[*id as usize].as_ref().is_some_and(|known| identical(known, literal));
        let id = match self.constants.find(hash, same) {
            Some((_, id)) => *id,
            None => {
                let id = self.add(Entry::Constant(Value::from(literal)), Some(literal.clone()));
                self.constants.insert_unique(hash, (hash, id), |(hash, _)| *hash);
                id
            }
        };
        self.last = Some(id);
        id
    }

    /// Trees are equal if their texts are.
    fn tree(&mut self, tree: &Arc<Tree>) -> u32 {
        let address = Arc::as_ptr(tree) as usize;
        if let Some(id) = self.by_address.get(&address) {
            return *id;
        }
        let text = Expr::whole(Arc::clone(tree)).to_text(Style::New);
        let id = match self.by_text.get(&text) {
            Some(id) => *id,
            None => {
                let id = self.add(Entry::Tree(Arc::clone(tree)), None);
                self.by_text.insert(text, id);
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

/// Returns whether no expression can distinguish two constants.
pub fn identical(a: &Literal, b: &Literal) -> bool {
    match (a, b) {
        (Literal::Undefined, Literal::Undefined) | (Literal::Error, Literal::Error) => true,
        (Literal::Bool(a), Literal::Bool(b)) => a == b,
        (Literal::Int(a), Literal::Int(b)) => a == b,
        (Literal::Real(a), Literal::Real(b)) | (Literal::RelTime(a), Literal::RelTime(b)) => a.to_bits() == b.to_bits(),
        (Literal::Str(a), Literal::Str(b)) => a == b,
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
        Literal::RelTime(value) => mix(5, value.to_bits()),
        Literal::AbsTime(time) => mix(6, time.seconds as u64),
        Literal::Str(text) => text.chunks(8).fold(mix(7, text.len() as u64), |hash, chunk| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            mix(hash.rotate_left(5), u64::from_le_bytes(bytes) ^ hash)
        }),
    }
}

/// Ads per task of a thread.
const ADS_PER_TASK: usize = 4096;

/// Attributes of some ads: for each a dictionary and the numbers of the ads.
type Segment = Vec<(Dictionary, Vec<u32>)>;

impl Column {
    /// The columns of attributes of a number of ads; none for an attribute that no ad has. Reads every ad once.
    pub fn of<'a>(names: &[Name], count: usize, ad: &(dyn Fn(usize) -> &'a ClassAd + Sync)) -> Vec<Option<Self>> {
        let firsts: Vec<usize> = (0..count).step_by(ADS_PER_TASK).collect();
        let segment = |first: &usize| {
            let ads = *first..count.min(first + ADS_PER_TASK);
            let mut segment: Segment =
                names.iter().map(|_| (Dictionary::default(), Vec::with_capacity(ads.len()))).collect();
            let mut places = Places::new(names);
            for ad in ads.map(ad) {
                for ((dictionary, ids), attribute) in segment.iter_mut().zip(places.of(ad)) {
                    ids.push(dictionary.number(attribute));
                }
            }
            segment
        };
        let segments: Vec<Segment> = map_all(&firsts, segment);
        let numbered: Vec<(usize, Name)> = names.iter().copied().enumerate().collect();
        map_all(&numbered, |(at, name)| Self::joined(*name, segments.iter().map(|segment| &segment[*at])))
    }

    /// Joins one attribute of the ads of all segments, in their order.
    fn joined<'p>(name: Name, segments: impl Iterator<Item = &'p (Dictionary, Vec<u32>)> + Clone) -> Option<Self> {
        let (most, count) = segments
            .clone()
            .fold((0, 0), |(most, count), (dictionary, ids)| (most + dictionary.constants.len(), count + ids.len()));
        let mut dictionary = Dictionary { constants: HashTable::with_capacity(most), ..Dictionary::default() };
        let mut ids = Vec::with_capacity(count);
        for (of_segment, numbers) in segments {
            let here = dictionary.join(of_segment);
            ids.extend(numbers.iter().map(|number| here[*number as usize]));
        }
        let any = dictionary.entries.iter().any(|entry| !matches!(entry, Entry::Absent));
        let int = |entry: &Entry| match entry {
            Entry::Constant(value) => value.as_int(),
            _ => None,
        };
        let ints = dictionary.entries.iter().map(int).collect();
        any.then_some(Self { name, ids, entries: dictionary.entries, ints })
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
        let texts =
            ["[a = 1]", "[a = 1.0]", "[a = 1]", "[b = 1]", "[a = x + 1]", "[A = x+1]", "[a = \"S\"]", "[a = \"s\"]"];
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        let of = |name: &str| Column::of(&[Name::new(name)], ads.len(), &|at| &ads[at]).remove(0);
        let column = of("a").unwrap();
        assert_eq!(column.ids, [0, 1, 0, 2, 3, 3, 4, 5]);
        assert!(matches!(column.entry(3), Entry::Absent));
        assert!(of("c").is_none());
    }

    #[test]
    fn parts_are_numbered_as_if_they_were_one() {
        let texts = ["[a = 1]", "[b = 1]", "[a = x]", "[a = 2]"];
        let ads: Vec<ClassAd> = texts.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        let order = |at: usize| &ads[(at / 3 + at % 2 * 2) % 4];
        let count = 3 * ADS_PER_TASK;
        let column = Column::of(&[Name::new("a")], count, &order).remove(0).unwrap();
        let mut whole = Dictionary::default();
        let expected: Vec<u32> = (0..count).map(|at| whole.id(order(at), Name::new("a"))).collect();
        assert_eq!(column.ids, expected);
        assert_eq!(column.entries.len(), whole.entries().len());
    }
}
