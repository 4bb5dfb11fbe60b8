//! One attribute of many ads, each distinct value once.

use std::sync::Arc;

use hashbrown::{HashMap, HashTable};

use crate::ad::{Attribute, ClassAd, Places};
use crate::name::Name;
use crate::syntax::expr::{Expr, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::print::Style;
use crate::threads::map_all;
use crate::value::Value;

/// What an attribute is in an ad.
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
    /// The same as integers, if every ad has it and it is an integer.
    pub ints: Option<Vec<i64>>,
}

/// Gives equal attributes equal numbers.
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
    /// What ads have for a name, numbered in the order in which they have it first; and the number of each ad.
    pub fn of(name: Name, ads: &[&ClassAd]) -> (Self, Vec<u32>) {
        let mut dictionary = Self::default();
        let ids = ads.iter().map(|ad| dictionary.id(ad, name)).collect();
        (dictionary, ids)
    }

    /// The number of what an ad has for a name.
    pub fn id(&mut self, ad: &ClassAd, name: Name) -> u32 {
        self.number(ad.lookup(name))
    }

    /// The number of what an ad has.
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
        // Neighbours are often alike.
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

    /// Trees are the same if they are written alike.
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

/// Whether two constants can never be told apart by an expression.
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

/// Ads a thread looks at before another one helps.
const GRAIN: usize = 4096;

/// Parts are looked up in a table if it takes no more than so many numbers an ad.
const ROOMY: usize = 8;

/// Attributes of some ads: a dictionary and the numbers of the ads for each.
type Part = Vec<(Dictionary, Vec<u32>)>;

impl Column {
    /// Attributes of so many ads; none for those that no ad has. Every ad is looked at once, for all attributes.
    pub fn of<'a>(names: &[Name], count: usize, ad: &(dyn Fn(usize) -> &'a ClassAd + Sync)) -> Vec<Option<Self>> {
        let firsts: Vec<usize> = (0..count).step_by(GRAIN).collect();
        let part = |first: &usize| {
            let ads = *first..count.min(first + GRAIN);
            let mut part: Part = names.iter().map(|_| (Dictionary::default(), Vec::with_capacity(ads.len()))).collect();
            let mut places = Places::new(names);
            for ad in ads.map(ad) {
                for ((dictionary, ids), attribute) in part.iter_mut().zip(places.of(ad)) {
                    ids.push(dictionary.number(attribute));
                }
            }
            part
        };
        let parts: Vec<Part> = map_all(&firsts, part);
        let numbered: Vec<(usize, Name)> = names.iter().copied().enumerate().collect();
        let columns = map_all(&numbered, |(at, name)| Self::joined(*name, parts.iter().map(|part| &part[*at])));
        columns.into_iter().collect()
    }

    /// One attribute of the ads of all parts, in their order.
    fn joined<'p>(name: Name, parts: impl Iterator<Item = &'p (Dictionary, Vec<u32>)> + Clone) -> Option<Self> {
        let (most, count) = parts
            .clone()
            .fold((0, 0), |(most, count), (dictionary, ids)| (most + dictionary.constants.len(), count + ids.len()));
        let mut dictionary = Dictionary { constants: HashTable::with_capacity(most), ..Dictionary::default() };
        let mut ids = Vec::with_capacity(count);
        for (of_part, numbers) in parts {
            let here = dictionary.join(of_part);
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

    /// What it is in an ad.
    pub fn entry(&self, ad: u32) -> &Entry {
        &self.entries[self.ids[ad as usize] as usize]
    }
}

/// Splits groups of ads by another property, numbering the parts in the order of first sight.
pub fn refine(groups: &mut [u32], property: impl Fn(usize) -> u32) -> usize {
    let width = (0..groups.len()).map(&property).max().map_or(0, |most| most as usize + 1);
    let known = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let key = |at: usize, group: u32| u64::from(group) * width as u64 + u64::from(property(at));
    if known.saturating_mul(width) <= ROOMY * groups.len() {
        const NEW: u32 = u32::MAX;
        let (mut numbers, mut next) = (vec![NEW; known * width], 0);
        for (at, group) in groups.iter_mut().enumerate() {
            let number = &mut numbers[key(at, *group) as usize];
            if *number == NEW {
                *number = next;
                next += 1;
            }
            *group = *number;
        }
        return next as usize;
    }
    let mut parts: HashMap<u64, u32> = HashMap::new();
    let mut last = (u64::MAX, 0);
    for (at, group) in groups.iter_mut().enumerate() {
        let key = key(at, *group);
        if key != last.0 {
            let next = parts.len() as u32;
            last = (key, *parts.entry(key).or_insert(next));
        }
        *group = last.1;
    }
    parts.len()
}

#[cfg(test)]
mod tests {
    use hashbrown::HashSet;

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
        let count = 3 * GRAIN;
        let column = Column::of(&[Name::new("a")], count, &order).remove(0).unwrap();
        let mut whole = Dictionary::default();
        let expected: Vec<u32> = (0..count).map(|at| whole.id(order(at), Name::new("a"))).collect();
        assert_eq!(column.ids, expected);
        assert_eq!(column.entries.len(), whole.entries().len());
    }

    #[test]
    fn groups_are_split_in_the_order_of_first_sight() {
        let mut groups = [0, 0, 1, 1, 0];
        assert_eq!(refine(&mut groups, |at| [7, 8, 7, 7, 7][at]), 3);
        assert_eq!(groups, [0, 1, 2, 2, 0]);
        assert_eq!(refine(&mut [], |_| 0), 0);
    }

    #[test]
    fn parts_are_the_same_whether_a_table_is_small_enough_or_not() {
        let values: Vec<u32> = (0..400).map(|at: u32| at.wrapping_mul(2_654_435_761) >> 28).collect();
        let before: Vec<u32> = (0..400).map(|at| at / 7 % 5).collect();
        let distinct: HashSet<(u32, u32)> = before.iter().copied().zip(values.iter().copied()).collect();
        let (mut small, mut large) = (before.clone(), before);
        let parts = refine(&mut small, |at| values[at]);
        assert_eq!(parts, distinct.len());
        // The same values far apart.
        assert_eq!(refine(&mut large, |at| values[at] * 1_000_000), parts);
        assert_eq!(small, large);
    }
}
