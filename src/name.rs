//! Attribute and function names: interned, compared without ASCII case, spelled as written.
//!
//! In: bytes. Out: a [`Name`], one pointer wide. Every distinct spelling is stored once for the life of the
//! process, so names are cheap to copy, compare and hash; two spellings of one name share a [`Key`].

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, PoisonError, RwLock};

use hashbrown::HashMap;

/// The identity of a name without its spelling: equal for `Cpus`, `cpus` and `CPUS`.
///
/// Keys are numbered in the order in which names are first seen, so they mean nothing between runs and never
/// decide an order; only equality is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(u32);

impl Key {
    /// The number of the key, for tables indexed by it.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The bit of a name that the language itself knows, for sets of them; none for other names.
    pub fn mark(self) -> Option<u32> {
        known::is_known(self).then(|| 1 << self.0)
    }

    /// A well mixed hash, so that tables of keys need no hasher of their own.
    pub fn hash64(self) -> u64 {
        u64::from(self.0).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }
}

struct Spelling {
    text: &'static [u8],
    folded: &'static [u8],
    key: Key,
    plain: bool,
    number: u32,
}

/// An interned name: compares and hashes without regard to ASCII case, prints as it was written.
///
/// A name is any byte string; the language writes those that are not identifiers in single quotes.
///
/// ```
/// use classmate::Name;
/// let a = Name::new("RequestCpus");
/// assert_eq!(a, Name::new("requestcpus"));
/// assert_eq!(a.as_bytes(), b"RequestCpus");
/// ```
#[derive(Clone, Copy)]
pub struct Name(&'static Spelling);

impl Name {
    /// Interns a spelling.
    ///
    /// The text is kept until the process ends; names come from a limited vocabulary, values do not.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        let text = text.as_ref();
        let known = INTERNER.read().unwrap_or_else(PoisonError::into_inner).spellings.get(text).copied();
        let intern = || INTERNER.write().unwrap_or_else(PoisonError::into_inner).intern(text);
        Name(known.unwrap_or_else(intern))
    }

    /// The name, if any spelling of it was interned before: what was never seen is the name of nothing. The
    /// spelling may be another one than `text`.
    ///
    /// For texts that are values, which are not to be kept for ever.
    pub fn known(text: &[u8]) -> Option<Self> {
        let folded = text.to_ascii_lowercase();
        let interner = INTERNER.read().unwrap_or_else(PoisonError::into_inner);
        interner.first.get(folded.as_slice()).map(|spelling| Name(spelling))
    }

    /// The spelling.
    pub fn as_bytes(self) -> &'static [u8] {
        self.0.text
    }

    /// The spelling in lower case (ASCII).
    pub fn folded(self) -> &'static [u8] {
        self.0.folded
    }

    /// The identity shared by all spellings of this name.
    pub fn key(self) -> Key {
        self.0.key
    }

    /// The spelling as text for people; bytes that are not UTF-8 are replaced.
    pub fn display(self) -> std::borrow::Cow<'static, str> {
        String::from_utf8_lossy(self.0.text)
    }

    /// Tests whether both names are spelled alike, case included.
    pub fn same_spelling(self, other: Name) -> bool {
        std::ptr::eq(self.0, other.0)
    }

    /// The number of the spelling, for tables indexed by it. Spellings are numbered from 0 in the order in which they
    /// are first seen, so the numbers mean nothing between runs.
    pub fn number(self) -> usize {
        self.0.number as usize
    }

    /// Tests whether the name is an identifier that needs no quotes: `[A-Za-z_][A-Za-z0-9_]*` and not one of
    /// `error false is isnt parent true undefined`.
    pub fn is_plain(self) -> bool {
        self.0.plain
    }

    /// The order in which ads list their attributes: shorter names first, then without case.
    pub fn listing_order(self, other: Name) -> Ordering {
        let (a, b) = (self.0.folded, other.0.folded);
        a.len().cmp(&b.len()).then_with(|| a.cmp(b))
    }
}

impl Name {
    /// The beginning of what [`Name::listing_order`] compares, as a number of the same order.
    pub(crate) fn listing_head(self) -> u128 {
        let (mut head, folded) = ([0; 16], self.0.folded);
        head[..4].copy_from_slice(&u32::try_from(folded.len()).unwrap_or(u32::MAX).to_be_bytes());
        let count = folded.len().min(12);
        head[4..4 + count].copy_from_slice(&folded[..count]);
        u128::from_be_bytes(head)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key.hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.display())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

/// Names that were made of texts lately, by the address of the text.
type Recent = [Cell<Option<Name>>; 256];

thread_local! {
    static RECENT: Recent = const { [const { Cell::new(None) }; 256] };
}

impl From<&str> for Name {
    /// As [`Name::new`], but what is written out in the program is found faster: it stays where it is.
    fn from(text: &str) -> Self {
        let place = (text.as_ptr().addr().wrapping_mul(0x9E37_79B9) >> 12) & 255;
        RECENT.with(|recent: &Recent| match recent[place].get() {
            Some(name) if name.as_bytes() == text.as_bytes() => name,
            _ => {
                let name = Name::new(text);
                recent[place].set(Some(name));
                name
            }
        })
    }
}

/// Names that the evaluator itself knows; interned first, in this order, so that their keys are constants.
const WELL_KNOWN: [&str; 21] = [
    "self",
    "my",
    "parent",
    "root",
    "toplevel",
    "currenttime",
    "left",
    "right",
    "lctx",
    "rctx",
    "other",
    "target",
    "ad",
    "symmetricmatch",
    "leftmatchesright",
    "rightmatchesleft",
    "leftrankvalue",
    "rightrankvalue",
    "requirements",
    "rank",
    "abstime",
];

/// The names that mean an ad, or something around a match, wherever no ad defines them: `self` to `rightRankValue`.
pub fn scopes() -> impl Iterator<Item = Name> {
    let before = known::REQUIREMENTS.index();
    WELL_KNOWN[..before].iter().map(|text| Name::new(*text)).filter(|name| name.key() != known::CURRENT_TIME)
}

/// All names that the evaluator itself knows.
pub fn well_known() -> impl Iterator<Item = Name> {
    WELL_KNOWN.iter().map(|text| Name::new(*text))
}

/// Keys of the names that the evaluator itself knows.
pub mod known {
    use super::Key;
    /// `self`
    pub const SELF: Key = Key(0);
    /// `MY`
    pub const MY: Key = Key(1);
    /// `parent`
    pub const PARENT: Key = Key(2);
    /// `root`
    pub const ROOT: Key = Key(3);
    /// `toplevel`
    pub const TOPLEVEL: Key = Key(4);
    /// `CurrentTime`
    pub const CURRENT_TIME: Key = Key(5);
    /// `LEFT`
    pub const LEFT: Key = Key(6);
    /// `RIGHT`
    pub const RIGHT: Key = Key(7);
    /// `lCtx`
    pub const LEFT_CONTEXT: Key = Key(8);
    /// `rCtx`
    pub const RIGHT_CONTEXT: Key = Key(9);
    /// `OTHER`
    pub const OTHER: Key = Key(10);
    /// `TARGET`
    pub const TARGET: Key = Key(11);
    /// `ad`
    pub const AD: Key = Key(12);
    /// `symmetricMatch`, the first of the attributes of the ad around a match.
    const SYMMETRIC_MATCH: Key = Key(13);
    /// `Requirements`
    pub const REQUIREMENTS: Key = Key(18);
    /// `Rank`
    pub const RANK: Key = Key(19);

    /// `absTime`, the last of them.
    const ABS_TIME: Key = Key(20);

    /// Tests whether the key is one of the special names of the language, resolved in any ad that does not define it.
    pub fn is_special(key: Key) -> bool {
        key.0 <= CURRENT_TIME.0
    }

    /// Tests whether the key is a name that the evaluator itself knows.
    pub fn is_known(key: Key) -> bool {
        key.0 <= ABS_TIME.0
    }

    /// Tests whether the key is a name that means something around a match: a side, a context, or a computed attribute.
    pub fn is_of_match(key: Key) -> bool {
        key == MY || (LEFT.0..REQUIREMENTS.0).contains(&key.0)
    }

    /// Tests whether the key is one of the attributes of the ad around a match, `symmetricMatch` to `rightRankValue`.
    pub fn is_match_attribute(key: Key) -> bool {
        (SYMMETRIC_MATCH.0..REQUIREMENTS.0).contains(&key.0)
    }
}

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(|| {
    let mut interner = Interner::default();
    for text in WELL_KNOWN {
        interner.intern(text.as_bytes());
    }
    RwLock::new(interner)
});

/// Bytes that a spelling takes besides its text, about: itself and its places in two tables.
const SPELLING_OVERHEAD: usize = 128;

thread_local! {
    /// Bytes of the names that this thread was the first to see.
    static INTERNED: Cell<usize> = const { Cell::new(0) };
}

/// Bytes, about, of the names that this thread was the first to see: a bound for those who read endless new ones.
pub fn interned() -> usize {
    INTERNED.get()
}

/// Tests whether a text was interned before, in exactly this spelling.
pub fn is_spelled(text: &[u8]) -> bool {
    INTERNER.read().unwrap_or_else(PoisonError::into_inner).spellings.contains_key(text)
}

/// All names that were ever seen.
#[derive(Default)]
struct Interner {
    spellings: HashMap<&'static [u8], &'static Spelling>,
    /// The first spelling of each name in lower case.
    first: HashMap<&'static [u8], &'static Spelling>,
}

impl Interner {
    fn intern(&mut self, text: &[u8]) -> &'static Spelling {
        if let Some(known) = self.spellings.get(text) {
            return known;
        }
        let folded = text.to_ascii_lowercase();
        let (folded, key) = match self.first.get(folded.as_slice()) {
            Some(first) => (first.folded, first.key),
            None => (&*folded.leak(), Key(self.first.len() as u32)),
        };
        let text = if text == folded { folded } else { text.to_vec().leak() };
        let (plain, number) = (is_plain(text, folded), self.spellings.len() as u32);
        let spelling: &'static Spelling = Box::leak(Box::new(Spelling { text, folded, key, plain, number }));
        self.spellings.insert(text, spelling);
        INTERNED.set(INTERNED.get() + 2 * text.len() + SPELLING_OVERHEAD);
        self.first.entry(folded).or_insert(spelling);
        spelling
    }
}

fn is_plain(text: &[u8], folded: &[u8]) -> bool {
    let starts = text.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts
        && text.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !matches!(folded, b"error" | b"false" | b"is" | b"isnt" | b"parent" | b"true" | b"undefined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_equal_but_keep_their_text() {
        let (a, b) = (Name::new("TotalSlots"), Name::new("TOTALSLOTS"));
        assert_eq!(a, b);
        assert_eq!(a.key(), b.key());
        assert!(!a.same_spelling(b));
        assert_eq!(b.as_bytes(), b"TOTALSLOTS");
        assert_eq!(b.folded(), b"totalslots");
    }

    #[test]
    fn names_are_counted_once() {
        let name = "x".repeat(1 << 20);
        let before = interned();
        Name::new(&name);
        Name::new(&name);
        assert_eq!(interned() - before, (2 << 20) + SPELLING_OVERHEAD);
    }

    #[test]
    fn only_names_seen_before_are_known() {
        let name = Name::new("SeenOnceByThisTest");
        assert_eq!(Name::known(b"seenONCEbythistest"), Some(name));
        assert_eq!(Name::known(b"NeverSeenByAnyTest"), None);
        assert_eq!(Name::known(b"My").map(Name::key), Some(known::MY));
    }

    #[test]
    fn well_known_keys_are_the_names_they_stand_for() {
        for (index, text) in WELL_KNOWN.iter().enumerate() {
            assert_eq!(Name::new(text).key(), Key(index as u32), "{text}");
        }
        assert_eq!(Name::new("CurrentTime").key(), known::CURRENT_TIME);
        assert_eq!(Name::new("Rank").key(), known::RANK);
        assert!(known::is_special(Name::new("toplevel").key()));
        assert!(!known::is_special(Name::new("LEFT").key()));
        assert!(known::is_known(Name::new(WELL_KNOWN[WELL_KNOWN.len() - 1]).key()));
        assert!(!known::is_known(Name::new("a name of its own").key()));
        for (name, of_match, attribute) in [
            ("LEFT", true, false),
            ("ad", true, false),
            ("SymmetricMatch", true, true),
            ("rightRankValue", true, true),
            ("Requirements", false, false),
            ("my", true, false),
            ("parent", false, false),
        ] {
            let key = Name::new(name).key();
            assert_eq!((known::is_of_match(key), known::is_match_attribute(key)), (of_match, attribute), "{name}");
        }
    }

    #[test]
    fn listing_order_is_length_then_text() {
        let mut names: Vec<Name> = ["ZZZ", "b", "AA", "a"].into_iter().map(Name::from).collect();
        names.sort_by(|a, b| a.listing_order(*b));
        assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a", "b", "AA", "ZZZ"]);
    }

    #[test]
    fn only_identifiers_that_are_not_reserved_are_plain() {
        for plain in ["a", "_x9", "my", "target", "istrue"] {
            assert!(Name::new(plain).is_plain(), "{plain}");
        }
        for quoted in ["", "1x", "a b", "IS", "Parent", "undefined", "é"] {
            assert!(!Name::new(quoted).is_plain(), "{quoted}");
        }
    }
}
