//! Atoms: parts of expressions that are evaluated as one, and what their values depend on.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::ad::{Attribute, ClassAd};
use crate::name::{Key, Name, known};
use crate::program::Side;
use crate::program::condition::{MAX_ATOMS, MAX_HEIGHT};
use crate::program::liveness::Liveness;
use crate::program::mentions::Mentions;
use crate::program::table::closure;
use crate::semantics::Semantics;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::print::Style;
use crate::syntax::view::{RefScope, Reference};

/// The kinds of atoms.
#[derive(Debug, Clone)]
pub enum AtomKind {
    /// A part of an expression of the ad on the atom's side.
    Subexpr(Expr),
    /// An expression of its own, evaluated in the ad of the atom's side.
    Expr(Expr),
    /// True if the ad of the atom's side accepts the opposite one.
    Requirements,
    /// The rank that the ad of the atom's side gives the opposite one.
    Rank,
}

/// An expression to evaluate as one, and its dependencies.
#[derive(Debug, Clone)]
pub struct Atom {
    /// Its number: atoms with the same text and dependencies are one.
    pub id: u32,
    /// The expression.
    pub kind: AtomKind,
    /// The side of the ad that holds it.
    pub side: Side,
    /// The attributes of the rows that it depends on.
    pub row: Vec<Name>,
    /// The attributes of the other ad that it depends on.
    pub other: Vec<Name>,
}

impl Atom {
    /// Returns whether it is an ordering between an attribute that is a constant in each row and a value that all rows
    /// share: its truth changes at most once along the values of the attribute.
    pub fn is_threshold(&self, pair: &AdPair<'_>) -> bool {
        let AtomKind::Subexpr(expr) = &self.kind else { return false };
        let tree = expr.tree();
        let id = tree.bare(expr.root());
        let Node::Binary(
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual,
            left,
            right,
        ) = *tree.node(id)
        else {
            return false;
        };
        let of_row = |id| {
            let resolved = tree.reference(id).map(|reference| pair.resolve(reference, self.side));
            matches!(resolved, Some(Resolved::Constant(Side::Row, _)))
        };
        let fixed = |id| pair.depends(tree, id, self.side, &mut MentionsCache::default()).row.is_empty();
        (of_row(left) && fixed(right)) || (fixed(left) && of_row(right))
    }
}

/// The identity of an atom: kind, side, text and dependencies.
type AtomIdentity = (u8, Side, Option<(Vec<u8>, Semantics)>, Vec<Key>, Vec<Key>);

/// Interns atoms.
#[derive(Debug, Default)]
pub struct Atoms {
    known: HashMap<AtomIdentity, Arc<Atom>>,
    /// The mentions of the expressions so far.
    pub mentions: MentionsCache,
}

/// The address of a tree, and the first and the last node of a part of it.
type PartKey = (usize, NodeId, NodeId);

/// The mentions of expressions, each read once.
#[derive(Debug, Default)]
pub struct MentionsCache {
    /// By part; the tree is kept so that no other takes its place.
    parts: HashMap<PartKey, (Arc<Tree>, Arc<Mentions>)>,
}

impl MentionsCache {
    /// The mentions of a whole tree.
    pub(crate) fn of(&mut self, tree: &Arc<Tree>) -> Arc<Mentions> {
        self.of_part(tree, (0, tree.root()))
    }

    fn of_part(&mut self, tree: &Arc<Tree>, (first, last): (NodeId, NodeId)) -> Arc<Mentions> {
        let read = || (Arc::clone(tree), Arc::new(Mentions::of_part(tree, (first, last))));
        let key = (Arc::as_ptr(tree) as usize, first, last);
        Arc::clone(&self.parts.entry(key).or_insert_with(read).1)
    }
}

impl Atoms {
    /// The atom of something with these dependencies.
    pub fn intern(&mut self, kind: AtomKind, side: Side, depends: Dependencies) -> Arc<Atom> {
        let written = |expr: &Expr| (expr.to_text(Style::New), expr.tree().semantics.language());
        let (number, text) = match &kind {
            AtomKind::Subexpr(expr) => (0, Some(written(expr))),
            AtomKind::Expr(expr) => (1, Some(written(expr))),
            AtomKind::Requirements => (2, None),
            AtomKind::Rank => (3, None),
        };
        let sorted = |mut names: Vec<Name>| {
            names.sort_by_key(|name| name.folded());
            names
        };
        let (row, other) = (sorted(depends.row), sorted(depends.other));
        let keys = |names: &[Name]| names.iter().map(|name| name.key()).collect();
        let id = self.known.len() as u32;
        let key = (number, side, text, keys(&row), keys(&other));
        Arc::clone(self.known.entry(key).or_insert_with(|| Arc::new(Atom { id, kind, side, row, other })))
    }

    /// Adds atoms that were interned apart. Returns each, as it is here, by the number that it had there: those that are new
    /// here are numbered in the order of their numbers there.
    pub fn absorb(&mut self, others: Atoms) -> Vec<Arc<Atom>> {
        let mut others: Vec<(AtomIdentity, Arc<Atom>)> = others.known.into_iter().collect();
        others.sort_unstable_by_key(|(_, atom)| atom.id);
        let known = &mut self.known;
        let mut number = |(identity, atom): (AtomIdentity, Arc<Atom>)| {
            let id = known.len() as u32;
            let renumber = || if atom.id == id { Arc::clone(&atom) } else { Arc::new(Atom { id, ..(*atom).clone() }) };
            Arc::clone(known.entry(identity).or_insert_with(renumber))
        };
        others.into_iter().map(&mut number).collect()
    }
}

/// The meaning of a name.
pub(crate) enum Resolved<'a> {
    /// Nothing.
    Absent,
    /// The clock.
    Clock,
    /// A constant of a side.
    Constant(Side, &'a Literal),
    /// An expression of a side.
    Tree(Side, &'a Arc<Tree>),
}

/// A name, and the attribute that it is in the row and in the other ad: none (0), a constant (1), or the expression with this
/// address.
pub type Surrounding = (Key, [usize; 2]);

/// Two ads opposite to each other: a row, as a sample of its structure, and the other one.
#[derive(Clone, Copy)]
pub struct AdPair<'a> {
    /// One of the rows: which attributes it has, and their expressions, are those of all of them.
    pub row: &'a ClassAd,
    /// The other ad.
    pub other: &'a ClassAd,
    /// The names that each selecting attribute can have as a value.
    pub selected: &'a HashMap<Key, Vec<Name>>,
    /// The version of the language.
    pub semantics: Semantics,
}

/// The dependencies of a value.
#[derive(Debug, Default, Clone)]
pub struct Dependencies {
    /// Attributes of the row.
    pub row: Vec<Name>,
    /// Attributes of the other ad.
    pub other: Vec<Name>,
    /// Expressions that its evaluation may follow, by side and name.
    pub followed: Vec<(Side, Key)>,
    /// It draws random numbers somewhere.
    pub random: bool,
    /// Maximum number of levels of all of these together.
    pub height: usize,
}

impl Dependencies {
    /// Returns whether parts of a condition with this number of leaves have the same values by themselves, unless they
    /// follow references to the whole.
    pub fn is_divisible(&self, leaves: usize) -> bool {
        !self.random && self.height <= MAX_HEIGHT && leaves <= MAX_ATOMS
    }
}

impl<'a> AdPair<'a> {
    pub(crate) fn ad(&self, side: Side) -> &'a ClassAd {
        match side {
            Side::Row => self.row,
            Side::Other => self.other,
        }
    }

    /// Resolves a name in an ad as the evaluator does.
    pub(crate) fn resolve(&self, Reference { scope, name }: Reference, side: Side) -> Resolved<'a> {
        let first = if scope == RefScope::Target { side.opposite() } else { side };
        let (at, attribute) = match self.ad(first).lookup(name) {
            Some(attribute) => (first, attribute),
            None if name.key() == known::CURRENT_TIME => return Resolved::Clock,
            None if scope != RefScope::Either => return Resolved::Absent,
            None => match self.ad(side.opposite()).lookup(name) {
                Some(attribute) => (side.opposite(), attribute),
                None => return Resolved::Absent,
            },
        };
        match attribute {
            Attribute::Literal(literal) => Resolved::Constant(at, literal),
            Attribute::Tree(tree) => Resolved::Tree(at, tree),
        }
    }

    /// The dependencies of a part of an expression.
    pub fn depends(&self, tree: &Arc<Tree>, id: NodeId, side: Side, mentions: &mut MentionsCache) -> Dependencies {
        let mut walk = DependencyWalk::new(self, mentions);
        walk.part(tree, tree.first_of(id), id, side);
        walk.finish()
    }

    /// The attributes that an attribute of a side can lead to, in both ads. Its conditions are the same for all pairs for which
    /// these are.
    pub fn surroundings(&self, name: Name, side: Side, mentions: &mut MentionsCache) -> Vec<Surrounding> {
        let mut next = Vec::new();
        let place = self.look(name, side, &mut next, mentions);
        self.follow(vec![(name.key(), [place, 0])], next, mentions)
    }

    /// The attributes that an expression with the rows as `MY` can lead to, in both ads. What it depends on is the same for all
    /// pairs for which these are.
    pub fn surroundings_of(&self, expr: &Expr, mentions: &mut MentionsCache) -> Vec<Surrounding> {
        let mut next = Vec::new();
        let tree = expr.tree();
        self.add_mentioned(&mentions.of_part(tree, (tree.first_of(expr.root()), expr.root())), &mut next);
        self.follow(Vec::new(), next, mentions)
    }

    /// Adds what some names lead to.
    fn follow(&self, mut found: Vec<Surrounding>, first: Vec<Name>, mentions: &mut MentionsCache) -> Vec<Surrounding> {
        let mut next = Vec::new();
        closure(first, |names| {
            for name in names {
                let places = [Side::Row, Side::Other].map(|side| self.look(*name, side, &mut next, mentions));
                found.push((name.key(), places));
            }
            std::mem::take(&mut next)
        });
        found
    }

    /// The kind of an attribute in the ad of a side, as in [`Surrounding`]; adds the names that an expression mentions.
    fn look(&self, name: Name, side: Side, next: &mut Vec<Name>, mentions: &mut MentionsCache) -> usize {
        match self.ad(side).lookup(name) {
            None => 0,
            Some(Attribute::Literal(_)) => 1,
            Some(Attribute::Tree(tree)) => {
                self.add_mentioned(&mentions.of(tree), next);
                Arc::as_ptr(tree) as usize
            }
        }
    }

    fn add_mentioned(&self, Mentions { names, selectors, .. }: &Mentions, next: &mut Vec<Name>) {
        let selected = selectors.iter().filter_map(|name| self.selected.get(&name.key())).flatten();
        next.extend(names.iter().chain(selectors).chain(selected));
    }

    /// The dependencies of an attribute of a side.
    pub fn depends_of(&self, name: Name, side: Side, mentions: &mut MentionsCache) -> Dependencies {
        let mut walk = DependencyWalk::new(self, mentions);
        walk.own(name, side);
        walk.finish()
    }
}

struct DependencyWalk<'w, 'a> {
    pair: &'w AdPair<'a>,
    mentions: &'w mut MentionsCache,
    depends: Dependencies,
    seen: HashSet<(Side, Key)>,
    open: Vec<(Arc<Tree>, Side)>,
}

impl<'w, 'a> DependencyWalk<'w, 'a> {
    fn new(pair: &'w AdPair<'a>, mentions: &'w mut MentionsCache) -> Self {
        Self { pair, mentions, depends: Dependencies::default(), seen: HashSet::new(), open: Vec::new() }
    }

    /// Follows the expressions that are still open.
    fn finish(mut self) -> Dependencies {
        while let Some((tree, side)) = self.open.pop() {
            self.part(&tree, 0, tree.root(), side);
        }
        self.depends
    }

    /// Looks at the nodes of a part.
    fn part(&mut self, tree: &Arc<Tree>, first: NodeId, last: NodeId, side: Side) {
        let mentions = self.mentions.of_part(tree, (first, last));
        self.depends.height += mentions.depth;
        self.depends.random |= mentions.random;
        let reachable = Liveness::of(self.pair, tree, (first, last), side);
        // Inside nested ads, and where ads are selected from, a name may be that of either side.
        let plain = |id: NodeId| match tree.node(id) {
            Node::Ad(_) | Node::Subscript { .. } | Node::List(_) => false,
            Node::Select(_) => tree.reference(id).is_some(),
            _ => true,
        };
        let simple = !(mentions.bound && reachable.is_bound(tree)) && reachable.nodes().all(plain);
        if simple {
            for id in reachable.nodes() {
                if let Some(reference) = tree.reference(id) {
                    self.reference(reference, side);
                }
            }
            return;
        }
        let selected = mentions.selectors.iter().filter_map(|name| self.pair.selected.get(&name.key())).flatten();
        let names: Vec<Name> = mentions.names.iter().chain(&mentions.selectors).chain(selected).copied().collect();
        for name in names {
            self.own(name, Side::Row);
            self.own(name, Side::Other);
        }
    }

    fn reference(&mut self, Reference { scope, name }: Reference, side: Side) {
        let first = if scope == RefScope::Target { side.opposite() } else { side };
        self.own(name, first);
        if scope == RefScope::Either && !self.pair.ad(first).contains(name) {
            self.own(name, side.opposite());
        }
    }

    /// Adds an attribute of a side. The absence of an attribute is part of the structure of an ad.
    fn own(&mut self, name: Name, side: Side) {
        if !self.seen.insert((side, name.key())) {
            return;
        }
        let Some(attribute) = self.pair.ad(side).lookup(name) else { return };
        match side {
            Side::Row => self.depends.row.push(name),
            Side::Other => self.depends.other.push(name),
        }
        if let Attribute::Tree(tree) = attribute {
            self.depends.followed.push((side, name.key()));
            self.open.push((Arc::clone(tree), side));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn depends(expr: &str, row: &str, other: &str) -> (String, String) {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let (row, other) = (ad(row), ad(other));
        let selected = HashMap::from([(Name::new("w").key(), vec![Name::new("q")])]);
        let pair = AdPair { row: &row, other: &other, selected: &selected, semantics: Semantics::default() };
        let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
        let found = pair.depends(expr.tree(), expr.root(), Side::Row, &mut MentionsCache::default());
        let text = |names: &[Name]| {
            let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
            names.sort();
            names.join(" ")
        };
        (text(&found.row), text(&found.other))
    }

    #[test]
    fn names_count_on_the_side_where_they_are_found() {
        let pair = |row: &str, other: &str| (row.to_owned(), other.to_owned());
        assert_eq!(depends("a > b", "[a = 1]", "[b = 1]"), pair("a", "b"));
        assert_eq!(depends("MY.b || TARGET.a", "[a = 1]", "[b = 1; a = 2]"), pair("", "a"));
        assert_eq!(depends("a", "[a = c + d; c = 1]", "[d = TARGET.e; e = 2]"), pair("a c", "d"));
        assert_eq!(depends("x", "[e = 3]", "[x = TARGET.e + y; y = 1]"), pair("e", "x y"));
    }

    #[test]
    fn surroundings_are_what_conditions_depend_on_and_no_more() {
        let ad = |text: &str| ClassAd::parse(text.as_bytes()).unwrap();
        let (row, other) = (ad("[m = 1; u = 1]"), ad("[requirements = m > a; a = TARGET.c + 1]"));
        let selected = HashMap::new();
        let around = |row: &ClassAd| {
            let pair = AdPair { row, other: &other, selected: &selected, semantics: Semantics::default() };
            pair.surroundings("Requirements".into(), Side::Other, &mut MentionsCache::default())
        };
        let found = around(&row);
        let alike = ad("[m = 2; u = c; requirements = u]");
        assert_eq!(around(&alike), found);
        for changed in ["[u = 1]", "[m = u + 1]", "[m = 1; c = 1]", "[m = 1; a = 1]"] {
            assert_ne!(around(&ad(changed)), found, "{changed}");
        }
        let expr = parse_expr(b"m + TARGET.a", &ParseOptions::default()).unwrap();
        let around = |row: &ClassAd| {
            let pair = AdPair { row, other: &other, selected: &selected, semantics: Semantics::default() };
            pair.surroundings_of(&expr, &mut MentionsCache::default())
        };
        assert_eq!(around(&ad("[m = 2; u = 3]")), around(&row));
        for changed in ["[u = 1]", "[m = u + 1]", "[m = 1; c = 1]", "[m = 1; a = 1]"] {
            assert_ne!(around(&ad(changed)), around(&row), "{changed}");
        }
    }

    #[test]
    fn what_is_written_inside_may_be_found_on_either_side() {
        let both = ("a q w".to_owned(), "a q w".to_owned());
        assert_eq!(depends("{TARGET[w], a}[0]", "[a = 1; q = 1; w = \"q\"]", "[a = 2; q = 1; w = \"q\"]"), both);
    }
}
