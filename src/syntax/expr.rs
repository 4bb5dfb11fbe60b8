//! Expressions as flat tables of nodes.
//!
//! Nodes are in post-order, children by index and before their parent, so the nodes of any part of an
//! expression are contiguous and nothing recursive is built, compared or dropped.

use std::sync::{Arc, OnceLock};

use crate::name::Name;
use crate::semantics::{Semantics, VersionRule};
use crate::span::Span;
use crate::syntax::compiled::{CompiledCondition, OwnAd};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};

/// The index of a node in its [`Tree`].
pub type NodeId = u32;

/// The node that a selection takes its attribute from: in post-order always the one just before.
pub fn base_of(selection: NodeId) -> NodeId {
    selection.saturating_sub(1)
}

/// A range in one of the side tables of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Index of the first entry.
    pub first: u32,
    /// Number of entries.
    pub len: u32,
}

impl Run {
    /// The range as indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// One node, 16 bytes.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant.
    Literal(Literal),
    /// An unscoped name, `a`.
    Attr(Name),
    /// A name at the root, `.a`.
    Absolute(Name),
    /// A selection, `base.name`. The base is the node just before: [`base_of`].
    Select(Name),
    /// A subscript, `base[index]`.
    Subscript {
        /// The list or ad.
        base: NodeId,
        /// The index or attribute name.
        index: NodeId,
    },
    /// Parentheses; they are part of the tree and printed back.
    Paren(NodeId),
    /// An operator with one operand.
    Unary(UnaryOp, NodeId),
    /// An operator with two operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// `condition ? yes : no`
    Conditional {
        /// The condition.
        condition: NodeId,
        /// Chosen when the condition is true.
        yes: NodeId,
        /// Chosen when the condition is false.
        no: NodeId,
    },
    /// A call; the arguments are entries of [`Tree::calls`] and [`Tree::children`].
    Call(u32),
    /// A list; the elements are entries of [`Tree::children`].
    List(Run),
    /// An ad; the attributes are entries of [`Tree::attributes`], in listing order.
    Ad(Run),
}

/// The name and arguments of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallSite {
    /// The function, as spelled.
    pub name: Name,
    /// The arguments, in [`Tree::children`].
    pub arguments: Run,
}

/// The tables behind an [`Expr`].
#[derive(Debug, Default)]
pub struct Tree {
    /// The nodes in post-order.
    pub nodes: Vec<Node>,
    /// List elements and call arguments.
    pub children: Vec<NodeId>,
    /// Calls.
    pub calls: Vec<CallSite>,
    /// Attributes of ads.
    pub attributes: Vec<(Name, NodeId)>,
    /// The place of each node in the source text; empty for expressions that were not parsed with places.
    pub spans: Vec<Span>,
    /// The version in which the text was read.
    pub semantics: Semantics,
    /// The whole expression as a compiled condition, once it was compiled; none if it is no condition.
    pub(crate) compiled: OnceLock<Option<Box<CompiledCondition>>>,
}

impl Tree {
    /// Compiles the whole expression, if it is a condition, for all later evaluations. The tree must not change afterwards.
    pub fn compile(&self) {
        self.compiled.get_or_init(|| CompiledCondition::new(self, None).map(Box::new));
    }

    /// As [`Tree::compile`], for a tree that is evaluated in one ad only, of which `own` tells; what it refers to there are expressions.
    pub(crate) fn compile_for(&self, own: &OwnAd<'_>) {
        self.compiled.get_or_init(|| CompiledCondition::new(self, Some(own)).map(Box::new));
    }

    /// The whole expression as a compiled condition, if it was compiled and is one.
    pub(crate) fn compiled(&self) -> Option<&CompiledCondition> {
        self.compiled.get()?.as_deref()
    }

    /// The node at an index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The index of the last node, the root of the whole tree.
    pub fn root(&self) -> NodeId {
        (self.nodes.len() - 1) as NodeId
    }

    /// The operands of a chain of one operator, `a && b && c`, in the order of the text; the node alone if it is none.
    pub fn operands(&self, op: BinaryOp, id: NodeId) -> Vec<NodeId> {
        let mut operands = Vec::new();
        let mut first = id;
        while let Node::Binary(other, left, right) = *self.node(first) {
            if other != op {
                break;
            }
            operands.push(right);
            first = left;
        }
        operands.push(first);
        operands.reverse();
        operands
    }

    /// The elements of a list or the arguments of a call.
    pub fn run(&self, run: Run) -> &[NodeId] {
        &self.children[run.range()]
    }

    /// The attributes of an ad, in listing order.
    pub fn ad(&self, run: Run) -> &[(Name, NodeId)] {
        &self.attributes[run.range()]
    }

    /// The attribute of an ad with a name, in any case.
    pub fn ad_attribute(&self, run: Run, name: Name) -> Option<NodeId> {
        let attributes = self.ad(run);
        let found = if attributes.len() <= 8 {
            attributes.iter().position(|(known, _)| *known == name)
        } else {
            attributes.binary_search_by(|(known, _)| known.listing_order(name)).ok()
        };
        found.map(|at| attributes[at].1)
    }

    /// The place of a node, if the tree was parsed with places.
    pub fn span(&self, id: NodeId) -> Option<Span> {
        self.spans.get(id as usize).copied()
    }

    /// The children of a node, in the order of the text.
    pub fn parts(&self, id: NodeId) -> Parts {
        match *self.node(id) {
            Node::Literal(_) | Node::Attr(_) | Node::Absolute(_) => Parts::new(),
            Node::Select(_) => Parts::from_slice(&[base_of(id)]),
            Node::Paren(child) | Node::Unary(_, child) => Parts::from_slice(&[child]),
            Node::Subscript { base, index } => Parts::from_slice(&[base, index]),
            Node::Binary(_, left, right) => Parts::from_slice(&[left, right]),
            Node::Conditional { condition, yes, no } => Parts::from_slice(&[condition, yes, no]),
            Node::Call(call) => Parts::from_slice(self.run(self.calls[call as usize].arguments)),
            Node::List(run) => Parts::from_slice(self.run(run)),
            Node::Ad(run) => self.ad(run).iter().map(|(_, value)| *value).collect(),
        }
    }

    /// A part without the parentheses around it.
    pub fn bare(&self, mut id: NodeId) -> NodeId {
        while let Node::Paren(inner) = *self.node(id) {
            id = inner;
        }
        id
    }

    /// The first node of the contiguous range that is the part ending in `id`.
    pub fn first_of(&self, id: NodeId) -> NodeId {
        let mut first = id;
        // The leftmost leaf: in post-order the smallest index below a node.
        while let Some(child) = self.parts(first).into_iter().min() {
            first = child;
        }
        first
    }
}

/// The children of a node; most have at most three.
pub type Parts = smallvec::SmallVec<[NodeId; 4]>;

/// An expression: a shared tree and the node in it that is meant. Cloning is a reference count.
///
/// ```
/// use classmate::parse_expr;
/// let expr = parse_expr(b"Memory >= 2 * 1024")?;
/// assert_eq!(expr.to_string(), "Memory >= 2 * 1024");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expr {
    tree: Arc<Tree>,
    root: NodeId,
}

impl Expr {
    /// The expression that is the whole of a tree. The tree must not be empty.
    pub fn whole(tree: Arc<Tree>) -> Self {
        let root = tree.root();
        Expr { tree, root }
    }

    /// A part of this expression's tree.
    #[must_use]
    pub fn part(&self, root: NodeId) -> Self {
        Expr { tree: Arc::clone(&self.tree), root }
    }

    /// The expression of a node in a tree.
    pub fn at(tree: Arc<Tree>, root: NodeId) -> Self {
        Expr { tree, root }
    }

    /// A constant.
    pub fn literal(literal: Literal) -> Self {
        Expr::whole(Arc::new(Tree { nodes: vec![Node::Literal(literal)], ..Tree::default() }))
    }

    /// The tables.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// The node that is meant.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The node that is meant.
    pub fn node(&self) -> &Node {
        self.tree.node(self.root)
    }

    /// The nodes of the expression, in post-order: they are contiguous.
    pub fn nodes(&self) -> &[Node] {
        &self.tree.nodes[self.tree.first_of(self.root) as usize..=self.root as usize]
    }

    /// The constant, if the expression is one.
    pub fn as_literal(&self) -> Option<&Literal> {
        match self.node() {
            Node::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The tree of just this expression: shared when it is the whole tree, copied when it is a part.
    pub fn to_tree(&self) -> Arc<Tree> {
        if self.root == self.tree.root() { Arc::clone(&self.tree) } else { Arc::new(self.extract()) }
    }

    fn extract(&self) -> Tree {
        let mut target = Tree::default();
        copy_into(&mut target, &self.tree, self.root);
        target
    }

    /// The expression with another one in place of one of its parts; itself if the part lies outside.
    ///
    /// Nodes in front of the part keep their numbers.
    ///
    /// ```
    /// use classmate::parse_expr;
    /// let parsed = |text: &[u8]| parse_expr(text);
    /// let expr = parsed(b"{ Cpus } == f(Arch, 1) && true")?;
    /// let both = expr.tree().parts(expr.root())[0];
    /// let right = expr.tree().parts(both)[1];
    /// assert_eq!(expr.with_part(right, &parsed(b"g(a, b + 1)")?).to_string(), "{ Cpus } == g(a,b + 1) && true");
    /// # Ok::<(), classmate::internal::error::SyntaxError>(())
    /// ```
    #[must_use]
    pub fn with_part(&self, part: NodeId, other: &Expr) -> Self {
        if part > self.root {
            return self.clone();
        }
        let first = self.tree.first_of(part);
        let new = other.root - other.tree.first_of(other.root) + 1;
        let moved = |id: NodeId| match id {
            id if id < first => id,
            id if id <= part => first + new - 1,
            id => id - (part - first + 1) + new,
        };
        let mut tree = Tree {
            nodes: Vec::with_capacity(self.tree.nodes.len() + new as usize),
            children: self.tree.children.iter().map(|id| moved(*id)).collect(),
            calls: self.tree.calls.clone(),
            attributes: self.tree.attributes.iter().map(|(name, id)| (*name, moved(*id))).collect(),
            spans: Vec::new(),
            semantics: self.tree.semantics,
            ..Tree::default()
        };
        for (id, node) in (0..).zip(&self.tree.nodes) {
            if (first..=part).contains(&id) {
                if id == part {
                    copy_into(&mut tree, &other.tree, other.root);
                    tree.semantics = self.tree.semantics;
                }
                continue;
            }
            tree.nodes.push(with_moved_parts(node, moved));
        }
        tree.spans.clear();
        Expr { tree: Arc::new(tree), root: moved(self.root) }
    }

    /// Tests whether both are the same expression, structurally and without evaluation
    /// (`docs/reference/classad-language.md` 10.4): spelling of references and calls counts, parentheses count, names
    /// of attributes compare without case. In versions before 23.7, reals have to be equal.
    ///
    /// The work is bounded by the smaller of both; nothing recurses.
    pub fn same_as(&self, other: &Expr) -> bool {
        let is_exact = self.tree.semantics.is_old(VersionRule::RealSameness);
        let distance = if is_exact { 0.0 } else { f64::EPSILON };
        self.root == other.root && same_nodes(&self.tree, &other.tree, distance) || self.same_parts(other, distance)
    }

    /// Compares the roots, then the parts of each two nodes that are alike.
    fn same_parts(&self, other: &Expr, distance: f64) -> bool {
        let mut pairs = vec![(self.root, other.root)];
        while let Some((left, right)) = pairs.pop() {
            let (a, b) = (&*self.tree, &*other.tree);
            if !same_head(a, left, b, right, distance) {
                return false;
            }
            if let (Node::Ad(x), Node::Ad(y)) = (a.node(left), b.node(right)) {
                pairs.extend(a.ad(*x).iter().zip(b.ad(*y)).map(|((_, value), (_, other))| (*value, *other)));
                continue;
            }
            let (mine, theirs) = (a.parts(left), b.parts(right));
            if mine.len() != theirs.len() {
                return false;
            }
            pairs.extend(mine.into_iter().zip(theirs));
        }
        true
    }
}

/// Tests whether equal nodes have equal numbers in both trees, as in most trees of equal expressions: only ads may write
/// down their attributes in another order.
fn same_nodes(a: &Tree, b: &Tree, distance: f64) -> bool {
    let same_parts = |(x, y): (&Node, &Node)| match (x, y) {
        (Node::Subscript { base: x, index: i }, Node::Subscript { base: y, index: j }) => x == y && i == j,
        (Node::Paren(x), Node::Paren(y)) | (Node::Unary(_, x), Node::Unary(_, y)) => x == y,
        (Node::Binary(_, x, i), Node::Binary(_, y, j)) => x == y && i == j,
        (Node::Conditional { condition: x, yes: i, no: p }, Node::Conditional { condition: y, yes: j, no: q }) => {
            x == y && i == j && p == q
        }
        (Node::Call(x), Node::Call(y)) => {
            a.run(a.calls[*x as usize].arguments) == b.run(b.calls[*y as usize].arguments)
        }
        (Node::List(x), Node::List(y)) => a.run(*x) == b.run(*y),
        (Node::Ad(x), Node::Ad(y)) => a.ad(*x).iter().zip(b.ad(*y)).all(|((_, i), (_, j))| i == j),
        _ => true,
    };
    a.nodes.len() == b.nodes.len()
        && (0..)
            .zip(a.nodes.iter().zip(&b.nodes))
            .all(|(id, pair)| same_head(a, id, b, id, distance) && same_parts(pair))
}

fn same_head(a: &Tree, left: NodeId, b: &Tree, right: NodeId, distance: f64) -> bool {
    match (a.node(left), b.node(right)) {
        (Node::Literal(x), Node::Literal(y)) => x.same_within(y, distance),
        (Node::Attr(x), Node::Attr(y))
        | (Node::Absolute(x), Node::Absolute(y))
        | (Node::Select(x), Node::Select(y)) => x.same_spelling(*y),
        (Node::Subscript { .. }, Node::Subscript { .. })
        | (Node::Paren(_), Node::Paren(_))
        | (Node::Conditional { .. }, Node::Conditional { .. })
        | (Node::List(_), Node::List(_)) => true,
        (Node::Unary(x, _), Node::Unary(y, _)) => x == y,
        (Node::Binary(x, ..), Node::Binary(y, ..)) => x == y,
        (Node::Call(x), Node::Call(y)) => a.calls[*x as usize].name.same_spelling(b.calls[*y as usize].name),
        (Node::Ad(x), Node::Ad(y)) => {
            x.len == y.len && a.ad(*x).iter().zip(b.ad(*y)).all(|((name, _), (other, _))| name == other)
        }
        _ => false,
    }
}

/// A node whose parts have new numbers; those of calls, lists and ads are in the tables of the tree.
fn with_moved_parts(node: &Node, moved: impl Fn(NodeId) -> NodeId) -> Node {
    match node {
        Node::Subscript { base, index } => Node::Subscript { base: moved(*base), index: moved(*index) },
        Node::Paren(child) => Node::Paren(moved(*child)),
        Node::Unary(op, child) => Node::Unary(*op, moved(*child)),
        Node::Binary(op, left, right) => Node::Binary(*op, moved(*left), moved(*right)),
        Node::Conditional { condition, yes, no } => {
            Node::Conditional { condition: moved(*condition), yes: moved(*yes), no: moved(*no) }
        }
        other => other.clone(),
    }
}

/// Copies a part of a tree behind the nodes of another, which then has its version, and returns its root there.
pub fn copy_into(target: &mut Tree, source: &Tree, root: NodeId) -> NodeId {
    let first = source.first_of(root);
    let base = target.nodes.len() as NodeId;
    let moved = |id: NodeId| id - first + base;
    target.semantics = source.semantics;
    for id in first..=root {
        copy_node(target, source, id, moved);
        if let Some(span) = source.span(id)
            && target.spans.len() + 1 == target.nodes.len()
        {
            target.spans.push(span);
        }
    }
    moved(root)
}

/// Copies a node of a tree behind the nodes of another, given the new numbers of its parts; without its place.
pub(crate) fn copy_node(target: &mut Tree, source: &Tree, id: NodeId, moved: impl Fn(NodeId) -> NodeId) {
    let node = match source.node(id) {
        Node::Call(call) => {
            let site = source.calls[*call as usize];
            let arguments = copy_run(target, source.run(site.arguments), moved);
            target.calls.push(CallSite { name: site.name, arguments });
            Node::Call((target.calls.len() - 1) as u32)
        }
        Node::List(run) => Node::List(copy_run(target, source.run(*run), moved)),
        Node::Ad(run) => {
            let copied = Run { first: target.attributes.len() as u32, len: run.len };
            target.attributes.extend(source.ad(*run).iter().map(|(name, value)| (*name, moved(*value))));
            Node::Ad(copied)
        }
        other => with_moved_parts(other, moved),
    };
    target.nodes.push(node);
}

fn copy_run(target: &mut Tree, elements: &[NodeId], moved: impl Fn(NodeId) -> NodeId) -> Run {
    let run = Run { first: target.children.len() as u32, len: elements.len() as u32 };
    target.children.extend(elements.iter().map(|element| moved(*element)));
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::fold::tests::random_expr;
    use crate::random::SplitMix64;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    #[test]
    fn expressions_whose_nodes_are_the_same_are_those_whose_parts_are() {
        let mut random = SplitMix64::new(5);
        let (mut same, mut moved) = (0, 0);
        for round in 0..20_000 {
            let [one, other, third] = [0, 1, 2].map(|shift| random_expr(&mut random, (round >> shift) & 1));
            let texts = [
                format!("[a = {one}; b = {{{other}, {third}}}]"),
                format!("[b = {{{other}, {third}}}; a = {one}]"),
                format!("f({one}, {other}) ? {third} : x[{other}]"),
                format!("f({one}, {third}) ? {other} : x[{one}]"),
                one,
                other,
            ];
            let exprs = texts.map(|text| text.parse::<Expr>().unwrap());
            for a in &exprs {
                for b in &exprs {
                    let by_parts = a.same_parts(b, f64::EPSILON);
                    assert_eq!(a.same_as(b), by_parts, "{a} {b}");
                    same += u32::from(by_parts);
                    moved += u32::from(by_parts && !same_nodes(&a.tree, &b.tree, f64::EPSILON));
                }
            }
        }
        assert!(same > 130_000 && moved > 5_000, "{same} {moved}");
    }

    /// The answers of 23.0.28 and 23.10.29.
    #[test]
    fn before_23_7_reals_are_the_same_only_if_they_are_equal() {
        let is_same = |series: &str, [one, other]: [&str; 2]| {
            let options = ParseOptions { semantics: series.parse().unwrap(), ..ParseOptions::default() };
            let parse = |text: &str| parse_expr(text.as_bytes(), &options).unwrap();
            parse(one).same_as(&parse(other))
        };
        for (texts, old, now) in [
            (["1e-17", "2e-17"], false, true),
            (["x + 1e-17", "x + 2e-17"], false, true),
            (["{1e-17}", "{2e-17}"], false, true),
            (["[a = 1e-17]", "[a = 2e-17]"], false, true),
            (["1.0", "1.0000000000000002"], false, true),
            (["0.0", "-0.0"], true, true),
            (["100.5", "100.50000000000001"], false, false),
            (["1", "1.0"], false, false),
        ] {
            assert_eq!([is_same("23.6", texts), is_same("23.7", texts)], [old, now], "{texts:?}");
        }
    }

    #[test]
    fn a_node_takes_sixteen_bytes() {
        assert_eq!(size_of::<Literal>(), 16);
        assert_eq!(size_of::<Node>(), 16);
    }
}
