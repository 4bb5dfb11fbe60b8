//! The names of the attributes of an ad in their order: a list of names that all ads with the same one share.
//!
//! In: names, one after another. Out: the place of each. The slots of a pool have few shapes, so the names and their
//! index are kept once for each, and an ad is no more than its values.

use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::ad::index::Index;
use crate::ad::{Attribute, ClassAd};
use crate::name::{Key, Name};

/// Ads with fewer attributes than this are searched from the beginning.
const INDEXED: usize = 9;

/// Maximum number of additions to a shared shape that are shared in turn. Beyond them an ad has a shape of its own, so
/// that adding many attributes one by one does not copy the names each time.
const FOLLOWED: u8 = 8;

/// The names of an ad.
#[derive(Default)]
pub(super) struct Shape {
    names: Vec<Name>,
    /// The keys of the names, which are looked at more often than the names themselves.
    keys: Vec<Key>,
    /// The place of each name, once there are many.
    index: Index,
    /// The names of the language itself that are there: they are looked up all the time and almost never there.
    marks: u32,
    /// Number of additions that led here.
    followed: u8,
    /// The shapes that ads with this one came to have by one more attribute.
    next: [OnceLock<(Name, Arc<Shape>)>; 2],
    /// The places of the names in the order in which ads list their attributes, once that was needed.
    listing: OnceLock<Box<[u32]>>,
}

impl Shape {
    /// The names, in the order of their insertion.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    /// The places of the names in the order in which ads list their attributes.
    pub(super) fn listing(&self) -> &[u32] {
        self.listing.get_or_init(|| {
            let mut places: Vec<(u128, u32)> = self.names.iter().map(|name| name.listing_head()).zip(0..).collect();
            places.sort_unstable_by(|(a, left), (b, right)| {
                a.cmp(b).then_with(|| self.names[*left as usize].listing_order(self.names[*right as usize]))
            });
            places.into_iter().map(|(_, place)| place).collect()
        })
    }

    /// Tests whether these are the names, spelled so and in this order.
    fn is_of(&self, names: impl Iterator<Item = Name>) -> bool {
        let mut own = self.names.iter();
        for name in names {
            if !own.next().is_some_and(|own| own.same_spelling(name)) {
                return false;
            }
        }
        own.next().is_none()
    }

    /// The place of a name.
    #[inline]
    pub(super) fn position(&self, key: Key) -> Option<usize> {
        if key.mark().is_some_and(|mark| self.marks & mark == 0) {
            return None;
        }
        if self.index.is_empty() {
            return self.keys.iter().position(|known| *known == key);
        }
        self.index.find(key, |place| self.keys[place])
    }

    /// Adds a name that is not there yet.
    pub(super) fn push(&mut self, name: Name) {
        // What others came to have from here is not what they would from there.
        self.next = <[OnceLock<_>; 2]>::default();
        self.listing.take();
        self.names.push(name);
        self.keys.push(name.key());
        self.marks |= name.key().mark().unwrap_or(0);
        if self.names.len() == INDEXED {
            self.reindex();
        } else if self.names.len() > INDEXED {
            let keys = &self.keys;
            self.index.insert(name.key(), keys.len() - 1, |place| keys[place]);
        }
    }

    /// Makes room for a number of names.
    pub(super) fn reserve(&mut self, names: usize) {
        self.names.reserve(names);
        self.keys.reserve(names);
    }

    /// These names and one more, for an ad that shares them with others.
    pub(super) fn with(&self, name: Name) -> Arc<Self> {
        let made = || {
            let mut own = self.own();
            own.push(name);
            own.followed = self.followed.saturating_add(1);
            Arc::new(own)
        };
        if self.followed >= FOLLOWED {
            return made();
        }
        for next in &self.next {
            let (known, shape) = next.get_or_init(|| (name, made()));
            if known.same_spelling(name) {
                return Arc::clone(shape);
            }
        }
        made()
    }

    /// A copy that is not shared.
    pub(super) fn own(&self) -> Self {
        let Self { names, keys, index, marks, followed, .. } = self;
        Self {
            names: names.clone(),
            keys: keys.clone(),
            index: index.clone(),
            marks: *marks,
            followed: *followed,
            ..Self::default()
        }
    }

    /// Keeps only the names at the places for which `keep` holds.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        self.next = <[OnceLock<_>; 2]>::default();
        self.listing.take();
        let mut place = 0;
        self.names.retain(|_| {
            place += 1;
            keep(place - 1)
        });
        self.keys.clear();
        self.keys.extend(self.names.iter().map(|name| name.key()));
        self.reindex();
    }

    fn reindex(&mut self) {
        self.index.clear();
        self.marks = self.keys.iter().filter_map(|key| key.mark()).fold(0, |marks, mark| marks | mark);
        if self.keys.len() < INDEXED {
            return;
        }
        let keys = &self.keys;
        for (at, key) in keys.iter().enumerate() {
            self.index.insert(*key, at, |place| keys[place]);
        }
    }
}

/// Shapes of ads that were made one after another, so that equal ones are one.
#[derive(Default)]
pub struct Shapes {
    hasher: DefaultHashBuilder,
    known: HashTable<Arc<Shape>>,
    /// Number of names of all of them together.
    names: usize,
    /// The one that was needed last is mostly the one that is needed next.
    last: Option<Arc<Shape>>,
}

impl std::fmt::Debug for Shapes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shapes({})", self.known.len())
    }
}

/// Names in all shapes together that are remembered; then all are forgotten.
const MAX_SHAPES: usize = 1 << 19;

/// Ads with more attributes than this have shapes of their own.
const MAX_NAMES: usize = 1 << 12;

impl Shapes {
    /// An ad of these attributes with room for `spare` more; `entries` is empty afterwards. As by [`ClassAd::set`], a
    /// name that comes again keeps its first spelling and place and takes the last value.
    pub fn make(&mut self, entries: &mut Vec<(Name, Attribute)>, spare: usize) -> ClassAd {
        let mut ad = ClassAd::with_capacity(entries.len() + spare);
        let names = || entries.iter().map(|(name, _)| *name);
        let shape = match &self.last {
            Some(last) if last.is_of(names()) => Some(Arc::clone(last)),
            _ => self.find(names),
        };
        if let Some(shape) = shape {
            ad.values.extend(entries.drain(..).map(|(_, value)| value));
            self.last = Some(Arc::clone(&shape));
            ad.shape = Some(shape);
            return ad;
        }
        for (name, value) in entries.drain(..) {
            ad.set(name, value);
        }
        if let Some(shape) = ad.shape.take() {
            // Those of a name that came again may be known.
            let shape = match self.find(|| shape.names.iter().copied()) {
                Some(known) => known,
                None => self.remember(shape),
            };
            self.last = Some(Arc::clone(&shape));
            ad.shape = Some(shape);
        }
        ad
    }

    fn find<N: Iterator<Item = Name>>(&self, names: impl Fn() -> N) -> Option<Arc<Shape>> {
        self.known.find(hashed(&self.hasher, names()), |shape| shape.is_of(names())).cloned()
    }

    fn remember(&mut self, shape: Arc<Shape>) -> Arc<Shape> {
        if shape.names.len() <= MAX_NAMES {
            self.names += shape.names.len();
            if self.names > MAX_SHAPES {
                self.known.clear();
                self.names = shape.names.len();
            }
            let of = |shape: &Arc<Shape>| hashed(&self.hasher, shape.names.iter().copied());
            self.known.insert_unique(of(&shape), Arc::clone(&shape), of);
        }
        shape
    }
}

/// A hash of names in their order; names that differ in case alone may have the same.
fn hashed(hasher: &DefaultHashBuilder, names: impl Iterator<Item = Name>) -> u64 {
    hasher.hash_one(names.fold(0u64, |mixed, name| mixed.rotate_left(5) ^ name.key().hash64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::literal::Literal;

    fn made(shapes: &mut Shapes, names: &[&str]) -> ClassAd {
        let value = |at: usize| Attribute::Literal(Literal::Int(at as i64));
        let mut entries = names.iter().enumerate().map(|(at, name)| (Name::new(name), value(at))).collect();
        let ad = shapes.make(&mut entries, 0);
        assert!(entries.is_empty());
        ad
    }

    fn shared(a: &ClassAd, b: &ClassAd) -> bool {
        Arc::ptr_eq(a.shape.as_ref().unwrap(), b.shape.as_ref().unwrap())
    }

    #[test]
    fn ads_with_the_same_names_share_them_and_others_do_not() {
        let mut shapes = Shapes::default();
        let ads = [&["a", "b"][..], &["a", "b"], &["b", "a"], &["A", "b"], &["a", "b", "a"], &["a", "b"]];
        let ads = ads.map(|names| made(&mut shapes, names));
        assert!(shared(&ads[0], &ads[1]) && shared(&ads[0], &ads[5]));
        assert!(!shared(&ads[0], &ads[2]) && !shared(&ads[0], &ads[3]));
        assert_eq!(ads[3].to_string(), "[ A = 0; b = 1 ]");
        assert_eq!(ads[4].to_string(), "[ a = 2; b = 1 ]");
    }

    #[test]
    fn what_one_ad_gets_or_loses_the_others_do_not_see() {
        let mut shapes = Shapes::default();
        let names: Vec<String> = (0..20).map(|number| format!("N{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut a, mut b, c) = (made(&mut shapes, &names), made(&mut shapes, &names), made(&mut shapes, &names));
        a.insert("New", 1i64);
        a.insert("n7", 70i64);
        b.remove("N3");
        assert_eq!((a.len(), b.len(), c.len()), (21, 19, 20));
        assert!(c.contains("n3") && !b.contains("N3") && !c.contains("New"));
        assert_eq!(a.constant("N7").and_then(|value| value.as_int()), Some(70));
        assert_eq!(c.constant("N7").and_then(|value| value.as_int()), Some(7));
        assert_eq!(b.constant("N19").and_then(|value| value.as_int()), Some(19));
    }

    #[test]
    fn ads_that_get_the_same_attributes_still_share_their_names() {
        let mut shapes = Shapes::default();
        let (mut a, mut b) = (made(&mut shapes, &["x"]), made(&mut shapes, &["x"]));
        for name in ["p", "q"] {
            a.insert(name, 1i64);
            b.insert(name, 2i64);
        }
        assert!(shared(&a, &b));
        // Another spelling, and a third way to go on, are distinguished.
        let (mut c, mut d) = (made(&mut shapes, &["x"]), made(&mut shapes, &["x"]));
        c.insert("P", 1i64);
        d.insert("r", 1i64);
        assert_eq!((c.to_string(), d.to_string()), ("[ P = 1; x = 0 ]".into(), "[ r = 1; x = 0 ]".into()));
        assert_eq!(a.to_string(), "[ p = 1; q = 1; x = 0 ]");
    }

    #[test]
    fn shapes_without_number_are_not_all_remembered() {
        let mut shapes = Shapes::default();
        let mut names: Vec<Name> = (0..3000).map(|number| Name::new(format!("Turned{number}"))).collect();
        for _ in 0..400 {
            names.rotate_left(1);
            let mut entries = names.iter().map(|name| (*name, Attribute::Literal(Literal::Bool(true)))).collect();
            assert_eq!(shapes.make(&mut entries, 0).len(), 3000);
            assert!(shapes.known.len() * 3000 <= MAX_SHAPES);
        }
    }

    #[test]
    fn many_additions_to_a_shared_shape_take_time_in_proportion() {
        let mut shapes = Shapes::default();
        let (mut a, b) = (made(&mut shapes, &["x"]), made(&mut shapes, &["x"]));
        let names: Vec<Name> = (0..20_000).map(|number| Name::new(format!("Added{number}"))).collect();
        for name in &names {
            a.insert(*name, 1i64);
        }
        // 20,000 copies of the names would be 200 million steps and more.
        assert_eq!((a.len(), b.len()), (20_001, 1));
        assert!(a.shape.as_ref().unwrap().followed <= FOLLOWED + 1);
    }
}
