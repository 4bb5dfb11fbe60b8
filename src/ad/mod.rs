//! Ads: tables of attributes.

mod excerpt;
mod index;
mod places;
mod shape;
mod update;

use std::fmt;
use std::sync::Arc;

pub use crate::ad::excerpt::Excerpts;
pub(crate) use crate::ad::places::Places;
use crate::ad::shape::Shape;
pub use crate::ad::shape::Shapes;
use crate::name::{Key, Name};
use crate::syntax::expr::{Expr, Node, NodeId, Run, Tree, copy_into};
use crate::syntax::literal::Literal;
use crate::syntax::print::Style;
use crate::value::Value;

/// The value of an attribute: constants never become trees.
#[derive(Clone, Debug)]
pub enum Attribute {
    /// A constant.
    Literal(Literal),
    /// Anything else; the root is the tree's last node.
    Tree(Arc<Tree>),
}

/// An ad: attributes in the order of their insertion, found without regard to case.
///
/// ```
/// use classmate::ClassAd;
/// let mut ad = ClassAd::parse(b"[ Cpus = 4; Memory = Cpus * 1024 ]")?;
/// ad.insert("Arch", "X86_64");
/// assert_eq!(ad.len(), 3);
/// assert_eq!(ad.get("memory").unwrap().to_string(), "Cpus * 1024");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Default)]
pub struct ClassAd {
    /// The names; none without any. Ads of one shape share it.
    shape: Option<Arc<Shape>>,
    /// The values, in the order of the names.
    values: Vec<Attribute>,
    chained: Option<Arc<ClassAd>>,
}

impl ClassAd {
    /// An ad without attributes.
    pub fn new() -> Self {
        ClassAd::default()
    }

    /// An ad without attributes, with room for some.
    pub fn with_capacity(attributes: usize) -> Self {
        ClassAd { values: Vec::with_capacity(attributes), ..ClassAd::default() }
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
        // In the order of their insertion, as in an ad that was parsed.
        let values: Vec<NodeId> = self
            .values
            .iter()
            .map(|value| match value {
                Attribute::Literal(literal) => {
                    tree.nodes.push(Node::Literal(literal.clone()));
                    tree.root()
                }
                Attribute::Tree(source) => copy_into(&mut tree, source, source.root()),
            })
            .collect();
        let attributes: Vec<(Name, NodeId)> =
            self.listing().iter().map(|place| (self.own_names()[*place as usize], values[*place as usize])).collect();
        let run = Run { first: tree.attributes.len() as u32, len: attributes.len() as u32 };
        tree.attributes.extend(attributes);
        tree.nodes.push(Node::Ad(run));
        tree.spans.clear();
        Expr::whole(Arc::new(tree))
    }

    /// The ad's own attributes in the order in which HTCondor lists them: shorter names first, then without case.
    ///
    /// ```
    /// let ad = classmate::ClassAd::parse("[ zz = 1; B = 2; a = 3 ]")?;
    /// let names: Vec<String> = ad.listed().map(|(name, _)| name.to_string()).collect();
    /// assert_eq!(names, ["a", "B", "zz"]);
    /// # Ok::<(), classmate::SyntaxError>(())
    /// ```
    pub fn listed(&self) -> impl ExactSizeIterator<Item = (Name, &Attribute)> + Clone + '_ {
        self.listing().iter().map(|place| self.at(*place as usize))
    }

    /// Number of attributes, those of the chained parent not counted.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Tests whether the ad itself has no attributes.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    #[inline]
    fn position(&self, key: Key) -> Option<usize> {
        self.shape.as_ref()?.position(key)
    }

    fn own_names(&self) -> &[Name] {
        self.shape.as_ref().map_or(&[], |shape| shape.names())
    }

    /// The attribute with a name, in this ad or in its chained parents.
    pub fn lookup(&self, name: Name) -> Option<&Attribute> {
        self.lookup_key(name.key())
    }

    /// The attribute with the name of a key, in this ad or in its chained parents.
    #[inline]
    pub(crate) fn lookup_key(&self, key: Key) -> Option<&Attribute> {
        match self.position(key) {
            Some(at) => self.values.get(at),
            None => self.lookup_above(key),
        }
    }

    /// The attribute with the name of a key, in the chained parents.
    fn lookup_above(&self, key: Key) -> Option<&Attribute> {
        let mut parents = self.lineage().skip(1);
        parents.find_map(|ad| ad.values.get(ad.position(key)?))
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

    /// Tests whether the ad or a chained parent has an attribute.
    pub fn contains(&self, name: impl Into<Name>) -> bool {
        self.lookup(name.into()).is_some()
    }

    /// Sets an attribute to a value. The name's first spelling and place stay when it is there already.
    pub fn insert(&mut self, name: impl Into<Name>, value: impl Into<Value>) {
        let value = value.into();
        // Without an expression of its own, if it is a constant.
        let attribute = value.to_literal().map_or_else(|| Attribute::from(&value.to_expr()), Attribute::Literal);
        self.set(name.into(), attribute);
    }

    /// Sets an attribute to an expression.
    pub fn insert_expr(&mut self, name: impl Into<Name>, expr: &Expr) {
        self.set(name.into(), Attribute::from(expr));
    }

    /// Sets an attribute to a literal or an expression.
    pub fn set(&mut self, name: Name, value: Attribute) {
        if let Some(at) = self.position(name.key()) {
            self.values[at] = value;
            return;
        }
        let room = self.values.capacity();
        let shape = self.shape.get_or_insert_with(|| {
            let mut shape = Shape::default();
            shape.reserve(room);
            Arc::new(shape)
        });
        match Arc::get_mut(shape) {
            Some(own) => own.push(name),
            None => *shape = shape.with(name),
        }
        self.values.push(value);
    }

    /// The names, to be changed by this ad alone.
    fn own_shape(&mut self) -> Option<&mut Shape> {
        let shape = self.shape.as_mut()?;
        if Arc::get_mut(shape).is_none() {
            *shape = Arc::new(shape.own());
        }
        Arc::get_mut(shape)
    }

    /// Removes an attribute of the ad itself and returns its expression.
    pub fn remove(&mut self, name: impl Into<Name>) -> Option<Expr> {
        let at = self.position(name.into().key())?;
        self.own_shape()?.retain(|place| place != at);
        Some(self.values.remove(at).to_expr())
    }

    /// Keeps only the attributes for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Name) -> bool) {
        let kept: Vec<bool> = self.names().map(&mut keep).collect();
        if kept.iter().all(|kept| *kept) {
            return;
        }
        if let Some(shape) = self.own_shape() {
            shape.retain(|place| kept[place]);
        }
        let mut kept = kept.into_iter();
        self.values.retain(|_| kept.next() == Some(true));
    }

    /// The names of the ad's own attributes, in the order of their insertion.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> + '_ {
        self.own_names().iter().copied()
    }

    /// The ad's own attributes, in the order of their insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Name, Expr)> + '_ {
        self.attributes().map(|(name, value)| (name, value.to_expr()))
    }

    /// The attribute at a place in the order of insertion.
    pub(crate) fn at(&self, place: usize) -> (Name, &Attribute) {
        (self.own_names()[place], &self.values[place])
    }

    /// The attributes in the order of insertion.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = (Name, &Attribute)> + '_ {
        self.own_names().iter().copied().zip(&self.values)
    }

    /// Makes room for this number of further attributes and no more.
    pub fn reserve(&mut self, attributes: usize) {
        self.values.reserve_exact(attributes);
    }

    /// A copy with room for further attributes.
    #[must_use]
    pub fn copy_with_room(&self, attributes: usize) -> Self {
        let mut values = Vec::with_capacity(self.values.len() + attributes);
        values.extend_from_slice(&self.values);
        ClassAd { shape: self.shape.clone(), values, chained: self.chained.clone() }
    }

    /// The ad whose attributes show through where this one has none.
    pub fn chained(&self) -> Option<&Arc<ClassAd>> {
        self.chained.as_ref()
    }

    /// The ad, and the ads whose attributes show through, the nearest first.
    pub fn lineage(&self) -> impl Iterator<Item = &ClassAd> {
        std::iter::successors(Some(self), |ad| ad.chained().map(|parent| &**parent))
    }

    /// Sets or removes the ad whose attributes show through where this one has none
    /// (`docs/reference/classad-language.md` 6.8).
    pub fn chain(&mut self, parent: Option<Arc<ClassAd>>) {
        self.chained = parent;
    }

    /// Tests whether both ads have the same attributes with the same expressions (`docs/reference/classad-language.md`
    /// 10.4); chained parents do not count.
    pub fn same_as(&self, other: &ClassAd) -> bool {
        let same = |(place, (name, value)): (usize, (Name, &Attribute))| {
            other.find_near(name, place).is_some_and(|at| value.same_as(&other.values[at]))
        };
        self.len() == other.len() && self.attributes().enumerate().all(same)
    }

    /// The place of one of the ad's own attributes, which is probably the one that is given.
    #[inline]
    fn find_near(&self, name: Name, place: usize) -> Option<usize> {
        let is_there = self.own_names().get(place).is_some_and(|known| *known == name);
        if is_there { Some(place) } else { self.position(name.key()) }
    }

    /// As [`ClassAd::lookup`], faster if the attribute is at a place in the order of insertion.
    pub fn lookup_near(&self, name: Name, place: usize) -> Option<&Attribute> {
        match self.find_near(name, place) {
            Some(at) => self.values.get(at),
            None => self.lookup_above(name.key()),
        }
    }

    /// The places of the ad's own attributes in the order in which HTCondor lists them.
    pub fn listing(&self) -> &[u32] {
        self.shape.as_ref().map_or(&[], |shape| shape.listing())
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
    /// The expression, unless it is a constant.
    pub fn tree(&self) -> Option<&Arc<Tree>> {
        match self {
            Attribute::Literal(_) => None,
            Attribute::Tree(tree) => Some(tree),
        }
    }

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
    fn attributes_are_found_from_any_place_and_ads_are_the_same_in_any_order() {
        let mut parent = ClassAd::new();
        parent.insert("Last", 7i64);
        let names: Vec<Name> = (0..30).map(|number| Name::new(format!("Near{number}"))).collect();
        for count in [0, 1, 2, 8, 9, 30] {
            for turn in 0..count.max(1) {
                let (mut ad, mut turned) = (ClassAd::new(), ClassAd::new());
                for at in 0..count {
                    ad.insert(names[at], at as i64);
                    let at = (at + turn) % count;
                    turned.insert(names[at], at as i64);
                }
                ad.chain(Some(Arc::new(parent.clone())));
                for (name, place) in names.iter().chain([&Name::new("LAST")]).flat_map(|name| [(name, 0), (name, turn)])
                {
                    let value = |found: Option<&Attribute>| found.map(|value| value.to_expr().to_string());
                    assert_eq!(value(ad.lookup_near(*name, place)), value(ad.lookup(*name)));
                }
                assert!(ad.same_as(&turned) && turned.same_as(&ad));
                if count > 0 {
                    turned.insert(names[turn], -1i64);
                    assert!(!ad.same_as(&turned) && !turned.same_as(&ad));
                    turned.remove(names[turn]);
                    turned.insert("Another", turn as i64);
                    assert!(!ad.same_as(&turned) && !turned.same_as(&ad));
                }
            }
        }
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
