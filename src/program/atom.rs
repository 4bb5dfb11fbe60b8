//! Atoms: parts of expressions that are evaluated as one, and what their values depend on.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::ad::{Attribute, ClassAd};
use crate::name::{Key, Name, known};
use crate::program::Side;
use crate::program::liveness::Liveness;
use crate::program::mentions::Mentions;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::print::Style;
use crate::syntax::view::{RefScope, Reference};

/// What is evaluated.
#[derive(Debug, Clone)]
pub enum AtomKind {
    /// A part of an expression; it stands in the ad of the atom's side.
    Subexpr(Expr),
    /// An expression of its own, evaluated in the ad of the atom's side.
    Expr(Expr),
    /// Whether the ad of the atom's side accepts the opposite one.
    Requirements,
    /// How much the ad of the atom's side likes the opposite one.
    Rank,
}

/// Something to evaluate, and what its value depends on.
#[derive(Debug)]
pub struct Atom {
    /// Its number: atoms of the same text that depend on the same attributes are one.
    pub id: u32,
    /// What is evaluated.
    pub kind: AtomKind,
    /// The ad in which it is.
    pub side: Side,
    /// The attributes of the rows that it depends on.
    pub row: Vec<Name>,
    /// The attributes of the other ad that it depends on.
    pub other: Vec<Name>,
}

impl Atom {
    /// Whether it compares an attribute of the rows, a constant in each, with what is the same for all of them: along
    /// the values of the attribute its truth changes once at most.
    pub fn is_threshold(&self, world: &World<'_>) -> bool {
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
            let found = tree.reference(id).map(|reference| world.resolve(reference, self.side));
            matches!(found, Some(Found::Constant(Side::Row, _)))
        };
        let fixed = |id| world.depends(tree, id, self.side, &mut Surveyed::default()).row.is_empty();
        (of_row(left) && fixed(right)) || (fixed(left) && of_row(right))
    }
}

/// What two atoms have in common that are one: kind, side, text, and what they depend on.
type Identity = (u8, Side, Vec<u8>, Vec<Key>, Vec<Key>);

/// Numbers atoms.
#[derive(Debug, Default)]
pub struct Atoms {
    known: HashMap<Identity, Arc<Atom>>,
    /// The expressions surveyed so far.
    pub surveyed: Surveyed,
}

/// What expressions mention, each looked through once.
#[derive(Debug, Default)]
pub struct Surveyed {
    /// By the address of the tree, which is kept so that no other takes its place.
    trees: HashMap<usize, (Arc<Tree>, Arc<Mentions>)>,
}

impl Surveyed {
    /// What the whole of a tree mentions.
    pub(crate) fn mentions(&mut self, tree: &Arc<Tree>) -> Arc<Mentions> {
        let address = Arc::as_ptr(tree) as usize;
        let survey = || (Arc::clone(tree), Arc::new(Mentions::of(tree)));
        Arc::clone(&self.trees.entry(address).or_insert_with(survey).1)
    }
}

impl Atoms {
    /// The atom of something with these dependencies.
    pub fn intern(&mut self, kind: AtomKind, side: Side, depends: Depends) -> Arc<Atom> {
        let (tag, text) = match &kind {
            AtomKind::Subexpr(expr) => (0, expr.to_text(Style::New)),
            AtomKind::Expr(expr) => (1, expr.to_text(Style::New)),
            AtomKind::Requirements => (2, Vec::new()),
            AtomKind::Rank => (3, Vec::new()),
        };
        let sorted = |mut names: Vec<Name>| {
            names.sort_by_key(|name| name.folded());
            names
        };
        let (row, other) = (sorted(depends.row), sorted(depends.other));
        let keys = |names: &[Name]| names.iter().map(|name| name.key()).collect();
        let id = self.known.len() as u32;
        let key = (tag, side, text, keys(&row), keys(&other));
        Arc::clone(self.known.entry(key).or_insert_with(|| Arc::new(Atom { id, kind, side, row, other })))
    }
}

/// What a name stands for.
pub(crate) enum Found<'a> {
    /// Nothing.
    Absent,
    /// The clock.
    Clock,
    /// A constant of a side.
    Constant(Side, &'a Literal),
    /// An expression of a side.
    Tree(Side, &'a Arc<Tree>),
}

/// Two ads opposite to each other: one of the rows, standing for all of its structure, and the other.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// One of the rows: which attributes it has, and their expressions, are those of all of them.
    pub row: &'a ClassAd,
    /// The other ad.
    pub other: &'a ClassAd,
    /// What attributes that select others can name.
    pub selected: &'a HashMap<Key, Vec<Name>>,
}

/// What the value of something depends on.
#[derive(Debug, Default, Clone)]
pub struct Depends {
    /// Attributes of the row.
    pub row: Vec<Name>,
    /// Attributes of the other ad.
    pub other: Vec<Name>,
    /// Expressions it may evaluate on the way, by side and name.
    pub followed: Vec<(Side, Key)>,
    /// It draws random numbers somewhere.
    pub random: bool,
    /// The levels that all of these have together at most.
    pub height: usize,
}

impl<'a> World<'a> {
    pub(crate) fn ad(&self, side: Side) -> &'a ClassAd {
        match side {
            Side::Row => self.row,
            Side::Other => self.other,
        }
    }

    /// What a name stands for in an ad, as the evaluator resolves it.
    pub(crate) fn resolve(&self, reference: Reference, side: Side) -> Found<'a> {
        let Reference { scope, name } = reference;
        let first = if scope == RefScope::Target { side.opposite() } else { side };
        let (at, attribute) = match self.ad(first).lookup(name) {
            Some(attribute) => (first, attribute),
            None if name.key() == known::CURRENT_TIME => return Found::Clock,
            None if scope != RefScope::Either => return Found::Absent,
            None => match self.ad(side.opposite()).lookup(name) {
                Some(attribute) => (side.opposite(), attribute),
                None => return Found::Absent,
            },
        };
        match attribute {
            Attribute::Literal(literal) => Found::Constant(at, literal),
            Attribute::Tree(tree) => Found::Tree(at, tree),
        }
    }

    /// What a part of an expression depends on.
    pub fn depends(&self, tree: &Arc<Tree>, id: NodeId, side: Side, surveyed: &mut Surveyed) -> Depends {
        let mut walk =
            Walk { world: self, surveyed, depends: Depends::default(), seen: HashSet::new(), open: Vec::new() };
        walk.part(tree, tree.first_of(id), id, side);
        while let Some((tree, side)) = walk.open.pop() {
            walk.part(&tree, 0, tree.root(), side);
        }
        walk.depends
    }

    /// What an attribute of a side depends on.
    pub fn depends_of(&self, name: Name, side: Side, surveyed: &mut Surveyed) -> Depends {
        let mut walk =
            Walk { world: self, surveyed, depends: Depends::default(), seen: HashSet::new(), open: Vec::new() };
        walk.own(name, side);
        while let Some((tree, side)) = walk.open.pop() {
            walk.part(&tree, 0, tree.root(), side);
        }
        walk.depends
    }
}

struct Walk<'w, 'a> {
    world: &'w World<'a>,
    surveyed: &'w mut Surveyed,
    depends: Depends,
    seen: HashSet<(Side, Key)>,
    open: Vec<(Arc<Tree>, Side)>,
}

impl Walk<'_, '_> {
    /// Looks at the nodes of a part.
    fn part(&mut self, tree: &Arc<Tree>, first: NodeId, last: NodeId, side: Side) {
        let mentions = self.surveyed.mentions(tree);
        self.depends.height += mentions.depth.min((last - first + 1) as usize);
        self.depends.random |= mentions.random;
        let living = Liveness::of(self.world, tree, (first, last), side);
        // Where ads are written inside, or looked into, a name may stand for that of either side.
        let plain = |id: NodeId| match tree.node(id) {
            Node::Ad(_) | Node::Subscript { .. } | Node::List(_) => false,
            Node::Select(_) => tree.reference(id).is_some(),
            _ => true,
        };
        let simple = !(mentions.bound && living.is_bound(tree)) && living.nodes().all(plain);
        if simple {
            for id in living.nodes() {
                if let Some(reference) = tree.reference(id) {
                    self.reference(reference, side);
                }
            }
            return;
        }
        let selected = mentions.selectors.iter().filter_map(|name| self.world.selected.get(&name.key())).flatten();
        let names: Vec<Name> = mentions.names.iter().chain(&mentions.selectors).chain(selected).copied().collect();
        for name in names {
            self.own(name, Side::Row);
            self.own(name, Side::Other);
        }
    }

    fn reference(&mut self, Reference { scope, name }: Reference, side: Side) {
        let first = if scope == RefScope::Target { side.opposite() } else { side };
        self.own(name, first);
        if scope == RefScope::Either && !self.world.ad(first).contains(name) {
            self.own(name, side.opposite());
        }
    }

    /// An attribute of a side itself; that an ad does not have it is part of its structure.
    fn own(&mut self, name: Name, side: Side) {
        if !self.seen.insert((side, name.key())) {
            return;
        }
        let Some(attribute) = self.world.ad(side).lookup(name) else { return };
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
        let world = World { row: &row, other: &other, selected: &selected };
        let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
        let found = world.depends(expr.tree(), expr.root(), Side::Row, &mut Surveyed::default());
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
    fn what_is_written_inside_may_be_found_on_either_side() {
        let both = ("a q w".to_owned(), "a q w".to_owned());
        assert_eq!(depends("{TARGET[w], a}[0]", "[a = 1; q = 1; w = \"q\"]", "[a = 2; q = 1; w = \"q\"]"), both);
    }
}
