//! Ads: tables of attributes.

pub mod flatten;
mod index;
pub mod refs;
mod update;

use std::fmt;
use std::sync::Arc;

use crate::ad::index::Index;
use crate::error::SyntaxError;
use crate::format::new::parse_whole_ad;
use crate::name::{Key, Name};
use crate::syntax::expr::{Expr, Node, NodeId, Run, Tree, copy_into};
use crate::syntax::literal::Literal;
use crate::syntax::parse::ParseOptions;
use crate::syntax::print::Style;
use crate::value::Value;

/// The value of an attribute: constants never become trees.
#[derive(Clone, Debug)]
pub(crate) enum Attribute {
    /// A constant.
    Literal(Literal),
    /// Anything else; the root is the tree's last node.
    Tree(Arc<Tree>),
}

#[derive(Clone, Debug)]
struct Entry {
    name: Name,
    value: Attribute,
}

/// Ads with fewer attributes than this are searched from the beginning.
const INDEXED: usize = 9;

/// An ad: attributes in the order of their insertion, found without regard to case.
///
/// ```
/// use classmate::ad::ClassAd;
/// let mut ad = ClassAd::parse(b"[ Cpus = 4; Memory = Cpus * 1024 ]")?;
/// ad.insert("Arch", "X86_64");
/// assert_eq!(ad.len(), 3);
/// assert_eq!(ad.get("memory").unwrap().to_string(), "Cpus * 1024");
/// # Ok::<(), classmate::error::SyntaxError>(())
/// ```
#[derive(Clone, Default)]
pub struct ClassAd {
    entries: Vec<Entry>,
    /// Where each name stands, once there are many.
    index: Index,
    /// Which of the names of the language itself the ad defines: they are asked for all the time and hardly ever there.
    marks: u32,
    chained: Option<Arc<ClassAd>>,
}

impl ClassAd {
    /// An ad without attributes.
    pub fn new() -> Self {
        ClassAd::default()
    }

    /// An ad without attributes, with room for some.
    pub fn with_capacity(attributes: usize) -> Self {
        ClassAd { entries: Vec::with_capacity(attributes), ..ClassAd::default() }
    }

    /// Parses one ad of new syntax, `[ a = 1; b = a + 1 ]`.
    ///
    /// # Errors
    /// The text is not one ad and nothing else.
    pub fn parse(text: &[u8]) -> Result<Self, SyntaxError> {
        ClassAd::parse_with(text, &ParseOptions::default())
    }

    /// As [`ClassAd::parse`], with options.
    ///
    /// # Errors
    /// The text is not one ad and nothing else.
    pub fn parse_with(text: &[u8], options: &ParseOptions) -> Result<Self, SyntaxError> {
        parse_whole_ad(text, options)
    }

    /// The ad that an expression writes down, if it is one.
    pub fn from_expr(expr: &Expr) -> Option<Self> {
        let Node::Ad(run) = expr.node() else { return None };
        let attributes = expr.tree().ad(*run);
        let mut ad = ClassAd::with_capacity(attributes.len());
        for (name, value) in attributes {
            ad.insert_expr(*name, &expr.part(*value));
        }
        Some(ad)
    }

    /// The ad as an expression, its own attributes only.
    pub fn to_expr(&self) -> Expr {
        let mut tree = Tree::default();
        let mut attributes: Vec<(Name, NodeId)> = Vec::with_capacity(self.len());
        for entry in self.listed() {
            let value = match &entry.value {
                Attribute::Literal(literal) => {
                    tree.nodes.push(Node::Literal(literal.clone()));
                    tree.root()
                }
                Attribute::Tree(source) => copy_into(&mut tree, source, source.root()),
            };
            attributes.push((entry.name, value));
        }
        let run = Run { first: tree.attributes.len() as u32, len: attributes.len() as u32 };
        tree.attributes.extend(attributes);
        tree.nodes.push(Node::Ad(run));
        tree.spans.clear();
        Expr::whole(Arc::new(tree))
    }

    fn listed(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        entries.sort_by(|a, b| a.name.listing_order(b.name));
        entries
    }

    /// Number of attributes, those of the chained parent not counted.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the ad itself has no attributes.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: Key) -> Option<usize> {
        if key.mark().is_some_and(|mark| self.marks & mark == 0) {
            return None;
        }
        if self.index.is_empty() {
            return self.entries.iter().position(|entry| entry.name.key() == key);
        }
        self.index.find(key, |place| self.entries[place].name.key())
    }

    /// The attribute with a name, in this ad or in its chained parents.
    pub(crate) fn lookup(&self, name: Name) -> Option<&Attribute> {
        let mut ad = self;
        loop {
            if let Some(at) = ad.position(name.key()) {
                return Some(&ad.entries[at].value);
            }
            ad = ad.chained.as_deref()?;
        }
    }

    /// The expression of an attribute, in this ad or in its chained parents.
    pub fn get(&self, name: impl Into<Name>) -> Option<Expr> {
        self.lookup(name.into()).map(Attribute::to_expr)
    }

    /// The value of an attribute that is a constant; expressions are not evaluated.
    pub fn constant(&self, name: impl Into<Name>) -> Option<Value> {
        match self.lookup(name.into())? {
            Attribute::Literal(literal) => Some(Value::from(literal)),
            Attribute::Tree(_) => None,
        }
    }

    /// Whether the ad or a chained parent has an attribute.
    pub fn contains(&self, name: impl Into<Name>) -> bool {
        self.lookup(name.into()).is_some()
    }

    /// Sets an attribute to a value. The name's first spelling and place stay when it is there already.
    pub fn insert(&mut self, name: impl Into<Name>, value: impl Into<Value>) {
        self.insert_expr(name.into(), &value.into().to_expr());
    }

    /// Sets an attribute to an expression.
    pub fn insert_expr(&mut self, name: impl Into<Name>, expr: &Expr) {
        self.set(name.into(), Attribute::from(expr));
    }

    pub(crate) fn set(&mut self, name: Name, value: Attribute) {
        if let Some(at) = self.position(name.key()) {
            self.entries[at].value = value;
            return;
        }
        self.entries.push(Entry { name, value });
        self.marks |= name.key().mark().unwrap_or(0);
        if self.entries.len() == INDEXED {
            self.reindex();
        } else if self.entries.len() > INDEXED {
            let entries = &self.entries;
            self.index.insert(name.key(), entries.len() - 1, |place| entries[place].name.key());
        }
    }

    fn reindex(&mut self) {
        self.index.clear();
        self.marks =
            self.entries.iter().filter_map(|entry| entry.name.key().mark()).fold(0, |marks, mark| marks | mark);
        if self.entries.len() < INDEXED {
            return;
        }
        for (at, entry) in self.entries.iter().enumerate() {
            self.index.insert(entry.name.key(), at, |place| self.entries[place].name.key());
        }
    }

    /// Removes an attribute of the ad itself and returns its expression.
    pub fn remove(&mut self, name: impl Into<Name>) -> Option<Expr> {
        let at = self.position(name.into().key())?;
        let entry = self.entries.remove(at);
        self.reindex();
        Some(entry.value.to_expr())
    }

    /// Keeps only the attributes for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Name) -> bool) {
        self.entries.retain(|entry| keep(entry.name));
        self.reindex();
    }

    /// The names of the ad's own attributes, in the order of their insertion.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> + '_ {
        self.entries.iter().map(|entry| entry.name)
    }

    /// The ad's own attributes, in the order of their insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Name, Expr)> + '_ {
        self.entries.iter().map(|entry| (entry.name, entry.value.to_expr()))
    }

    /// The attribute at a place in the order of insertion.
    pub(crate) fn at(&self, place: usize) -> (Name, &Attribute) {
        let entry = &self.entries[place];
        (entry.name, &entry.value)
    }

    pub(crate) fn attributes(&self) -> impl ExactSizeIterator<Item = (Name, &Attribute)> + '_ {
        self.entries.iter().map(|entry| (entry.name, &entry.value))
    }

    /// The values of the ad's own attributes, to be replaced by equal ones.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Attribute> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    /// Makes room for so many more attributes and no more.
    pub(crate) fn reserve(&mut self, attributes: usize) {
        self.entries.reserve_exact(attributes);
    }

    /// The ad whose attributes show through where this one has none.
    pub fn chained(&self) -> Option<&Arc<ClassAd>> {
        self.chained.as_ref()
    }

    /// Sets or removes the ad whose attributes show through where this one has none (§6.8).
    pub fn chain(&mut self, parent: Option<Arc<ClassAd>>) {
        self.chained = parent;
    }

    /// Whether both ads have the same attributes with the same expressions (§10.4); chained parents do not count.
    pub fn same_as(&self, other: &ClassAd) -> bool {
        self.len() == other.len()
            && self.entries.iter().all(|entry| {
                other.position(entry.name.key()).is_some_and(|at| entry.value.same_as(&other.entries[at].value))
            })
    }
}

impl From<&Expr> for Attribute {
    fn from(expr: &Expr) -> Self {
        match expr.node() {
            Node::Literal(literal) => Attribute::Literal(literal.clone()),
            _ => Attribute::Tree(expr.to_tree()),
        }
    }
}

impl Attribute {
    pub(crate) fn to_expr(&self) -> Expr {
        match self {
            Attribute::Literal(literal) => Expr::literal(literal.clone()),
            Attribute::Tree(tree) => Expr::whole(Arc::clone(tree)),
        }
    }

    pub(crate) fn same_as(&self, other: &Attribute) -> bool {
        match (self, other) {
            (Attribute::Literal(a), Attribute::Literal(b)) => a.same_as(b),
            (Attribute::Tree(a), Attribute::Tree(b)) if Arc::ptr_eq(a, b) => true,
            (Attribute::Tree(_), Attribute::Tree(_)) => self.to_expr().same_as(&other.to_expr()),
            _ => false,
        }
    }
}

impl fmt::Display for ClassAd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_expr().to_text(Style::New)))
    }
}

impl fmt::Debug for ClassAd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_takes_sixteen_bytes() {
        assert_eq!(size_of::<Attribute>(), 16);
    }

    #[test]
    fn a_repeated_name_keeps_its_spelling_and_takes_the_last_value() {
        let ad = ClassAd::parse(b"[a = 1; A = 2]").unwrap();
        assert_eq!(ad.to_string(), "[ a = 2 ]");
    }

    #[test]
    fn large_ads_find_what_was_set_and_lose_what_was_removed() {
        let mut ad = ClassAd::new();
        for number in 0..100 {
            ad.insert(format!("Attr{number}").as_str(), i64::from(number));
        }
        assert_eq!(ad.constant("ATTR57").and_then(|value| value.as_int()), Some(57));
        assert_eq!(ad.remove("attr3").map(|expr| expr.to_string()).as_deref(), Some("3"));
        assert!(!ad.contains("Attr3"));
        assert_eq!(ad.constant("Attr99").and_then(|value| value.as_int()), Some(99));
        ad.retain(|name| name.as_bytes().ends_with(b"0"));
        assert_eq!(ad.len(), 10);
    }

    #[test]
    fn the_chained_parent_shows_through() {
        let mut child = ClassAd::parse(b"[a = 1]").unwrap();
        child.chain(Some(Arc::new(ClassAd::parse(b"[a = 100; p = a + 1]").unwrap())));
        assert_eq!(child.get("p").unwrap().to_string(), "a + 1");
        assert_eq!(child.get("a").unwrap().to_string(), "1");
        assert_eq!(child.len(), 1);
    }
}
