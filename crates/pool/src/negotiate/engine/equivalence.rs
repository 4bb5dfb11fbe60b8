//! Values of request attributes that no expression of a cycle can distinguish.
//!
//! In: the attributes of a cycle with all their expressions. Out: for each value one that is equivalent. If an attribute is
//! only compared with values of slots and with constants, all integers between two of these are equivalent, and so are all
//! strings that are none of these. A queue of a hundred thousand projects has then as many kinds of requests as slots name.

use hashbrown::{HashMap, HashSet};

use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::name::{Key, Name, known};
use classmate::internal::program::column::Entry;
use classmate::internal::program::mentions::is_moving;
use classmate::internal::syntax::expr::{Expr, Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::View;
use classmate::internal::value::Value;

/// Attributes with fewer values than this have none to replace.
const NOTABLE: usize = 2;

/// Integers up to this, and the sum of two, are exact as floating-point numbers.
const EXACT: i64 = 1 << 52;

/// For each attribute of requests, by place, and for each of its entries the first equivalent one.
#[derive(Debug, Default)]
pub(super) struct RequestEquivalence(Vec<Option<Vec<u32>>>);

/// The values that an attribute is compared with.
#[derive(Debug, Default)]
struct Comparisons {
    /// Attributes, each with a number that is added to the attribute.
    attributes: HashSet<(Key, i64)>,
    /// Integers and reals.
    numbers: Vec<f64>,
    /// Strings, in lower case.
    strings: HashSet<Vec<u8>>,
    /// True if strings, or integers, cannot be replaced.
    distinct_strings: bool,
    distinct_integers: bool,
}

impl Comparisons {
    fn keep_distinct(&mut self) {
        (self.distinct_strings, self.distinct_integers) = (true, true);
    }

    /// Adds a value that the attribute plus `offset` is compared with.
    fn add(&mut self, value: &Value, offset: i64) {
        match value {
            Value::Undefined | Value::Error => {}
            Value::Bool(_) => self.numbers.extend([0 - offset, 1 - offset].map(|number| number as f64)),
            Value::Int(number) if number.abs() <= EXACT => self.numbers.push((number - offset) as f64),
            Value::Real(number) if offset == 0 && number.is_finite() => self.numbers.push(*number),
            Value::Str(text) if text.is_ascii() => {
                self.strings.insert(text.to_ascii_lowercase());
            }
            Value::Str(_) => self.distinct_strings = true,
            _ => self.keep_distinct(),
        }
    }

    /// The class of a constant, if others can be equivalent to it.
    fn class(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Int(number) if !self.distinct_integers && number.abs() <= EXACT => {
                let number = *number as f64;
                let below = self.numbers.partition_point(|one| *one < number);
                let equal = self.numbers.get(below) == Some(&number);
                Some(1 + 2 * below + usize::from(equal))
            }
            Value::Str(text) if !self.distinct_strings && text.is_ascii() => {
                (!self.strings.contains(&text.to_ascii_lowercase())).then_some(0)
            }
            _ => None,
        }
    }
}

impl RequestEquivalence {
    /// Compares the uses of all attributes; `exprs` are the expressions of the configuration, `roots` the attributes that are
    /// evaluated themselves.
    pub(super) fn of(vocabulary: &Vocabulary, exprs: &[&Expr], roots: &[&str]) -> Self {
        let notable = vocabulary.requests.iter().filter(|column| column.dictionary.entries().len() >= NOTABLE);
        let mut found: HashMap<Key, Comparisons> =
            notable.map(|column| (column.name.key(), Comparisons::default())).collect();
        if found.is_empty() {
            return Self::default();
        }
        let selected = vocabulary.slots.selected.values().flatten().copied();
        for name in roots.iter().map(|name| Name::new(*name)).chain(selected) {
            found.entry(name.key()).and_modify(Comparisons::keep_distinct);
        }
        let of_slots = vocabulary.slots.columns.iter().flat_map(|column| &column.entries);
        let of_requests = vocabulary.requests.iter().flat_map(|column| column.dictionary.entries());
        let trees = of_slots.chain(of_requests).filter_map(|entry| match entry {
            Entry::Tree(tree) => Some(&**tree),
            _ => None,
        });
        for tree in trees.chain(exprs.iter().map(|expr| &**expr.tree())) {
            uses(tree, &mut found);
        }
        Self(
            vocabulary
                .requests
                .iter()
                .map(|column| {
                    let mut comparisons = found.remove(&column.name.key())?;
                    for (key, offset) in std::mem::take(&mut comparisons.attributes) {
                        compared_with(vocabulary, key, offset, &mut comparisons);
                    }
                    comparisons.numbers.sort_unstable_by(f64::total_cmp);
                    comparisons.numbers.dedup();
                    let mut first: HashMap<usize, u32> = HashMap::new();
                    let mut of = |(entry, id): (&Entry, u32)| match entry {
                        Entry::Constant(value) => {
                            comparisons.class(value).map_or(id, |class| *first.entry(class).or_insert(id))
                        }
                        _ => id,
                    };
                    Some(column.dictionary.entries().iter().zip(0..).map(&mut of).collect())
                })
                .collect(),
        )
    }

    /// Replaces entries of the attribute at a place by equivalent ones.
    pub(super) fn apply_to_column(&self, place: usize, ids: &mut [u32]) {
        if let Some(Some(of)) = self.0.get(place) {
            for id in ids {
                *id = of[*id as usize];
            }
        }
    }

    /// Replaces the entries of a request by equivalent ones, the same for all that are equivalent.
    pub(super) fn apply(&self, ids: &mut [u32]) {
        for (id, of) in ids.iter_mut().zip(&self.0) {
            if let Some(first) = of.as_ref().and_then(|of| of.get(*id as usize)) {
                *id = *first;
            }
        }
    }
}

/// Adds the values that an attribute of either side has.
fn compared_with(vocabulary: &Vocabulary, key: Key, offset: i64, comparisons: &mut Comparisons) {
    let of_slots = vocabulary.slots.place_of(key).map(|at| &*vocabulary.slots.columns[at].entries);
    let of_requests = vocabulary.place_of(key).map(|at| vocabulary.requests[at].dictionary.entries());
    for entry in of_slots.into_iter().chain(of_requests).flatten() {
        match entry {
            Entry::Absent => {}
            Entry::Constant(value) => comparisons.add(value, offset),
            Entry::Tree(_) => return comparisons.keep_distinct(),
        }
    }
}

/// Notes how a tree uses attributes.
fn uses(tree: &Tree, found: &mut HashMap<Key, Comparisons>) {
    let named = |id: NodeId| match *tree.node(id) {
        Node::Attr(name) | Node::Select(name) => Some(name),
        _ => None,
    };
    if !(0..=tree.root()).filter_map(named).any(|name| found.contains_key(&name.key())) {
        return;
    }
    let mut parents = vec![None; tree.root() as usize + 1];
    // In these, a name can mean something else.
    let mut moved = vec![false; parents.len()];
    for id in 0..=tree.root() {
        tree.parts(id).into_iter().for_each(|part| parents[part as usize] = Some(id));
        let moves = match tree.view(id) {
            View::Call { name, .. } => is_moving(name),
            View::Ad(_) => true,
            _ => false,
        };
        if moves {
            moved[tree.first_of(id) as usize..=id as usize].fill(true);
        }
    }
    for id in 0..=tree.root() {
        let Some(comparisons) = named(id).and_then(|name| found.get_mut(&name.key())) else { continue };
        if moved[id as usize] || tree.reference(id).is_none() || !compared(tree, &parents, id, comparisons) {
            comparisons.keep_distinct();
        }
    }
    // A subscript can name an attribute too.
    let strings = (0..=tree.root()).filter_map(|id| match tree.node(id) {
        Node::Subscript { index, .. } => match tree.node(tree.bare(*index)) {
            Node::Literal(Literal::Str(text)) => Name::known(text),
            _ => None,
        },
        Node::Absolute(name) => Some(*name),
        _ => None,
    });
    for name in strings {
        found.entry(name.key()).and_modify(Comparisons::keep_distinct);
    }
}

/// Notes what a reference is compared with; false if its value is used in another way.
fn compared(tree: &Tree, parents: &[Option<NodeId>], id: NodeId, comparisons: &mut Comparisons) -> bool {
    let (mut id, mut offset) = (id, 0i64);
    while let Some(parent) = parents[id as usize] {
        let integer = |id: NodeId| match tree.node(tree.bare(id)) {
            Node::Literal(Literal::Int(number)) => Some(*number).filter(|number| number.abs() <= EXACT),
            _ => None,
        };
        match tree.view(parent) {
            View::Paren(_) => {}
            // A constant is defined.
            View::Binary { op: BinaryOp::Default, left, .. } if left == id => {}
            View::Binary { op: BinaryOp::Add, left, right } if offset == 0 => {
                let Some(number) = integer(if left == id { right } else { left }) else { return false };
                offset = number;
                comparisons.distinct_strings = true;
            }
            View::Binary { op: BinaryOp::Subtract, left, right } if left == id && offset == 0 => {
                let Some(number) = integer(right) else { return false };
                offset = -number;
                comparisons.distinct_strings = true;
            }
            View::Compare { op, left, right } => {
                let is_order = !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::Is | BinaryOp::Isnt);
                comparisons.distinct_strings |= is_order;
                let other = tree.bare(if left == id { right } else { left });
                return match tree.view(other) {
                    View::Literal(literal) => {
                        comparisons.add(&Value::from(literal), offset);
                        true
                    }
                    View::Reference(reference) if reference.name.key() != known::CURRENT_TIME => {
                        comparisons.attributes.insert((reference.name.key(), offset));
                        true
                    }
                    _ => false,
                };
            }
            View::Call { name, .. } => return offset == 0 && is_type_test(name),
            _ => return false,
        }
        id = parent;
    }
    // It is the value of an attribute or an expression.
    false
}

/// Returns whether a function looks only at the type of its argument.
fn is_type_test(name: Name) -> bool {
    matches!(
        name.folded(),
        b"isundefined" | b"iserror" | b"isstring" | b"isinteger" | b"isreal" | b"isboolean" | b"islist" | b"isclassad"
    )
}
