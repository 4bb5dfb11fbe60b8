//! The quantities on which conditions depend, and for each the regions of values that conditions distinguish.
//!
//! In: conditions. Out: their attributes, and the parts that occur more than once (`regexp("a", Name)`, `a <= b`), each
//! with regions that together hold every value, of attributes numbers up to a limit; and what is known of a part where a
//! quantity is in a region. A part that counts as a quantity may have any value, whatever its attributes are, so nothing is
//! lost by it but precision.
//!
//! One file, because a hint to a part and the regions for which it holds must agree.

use std::sync::Arc;

use hashbrown::HashMap;

use super::evaluate::{Analysis, is_known_version_function, is_self_contained, unknown};
use super::values::{Texts, Truths, Values, alike, kind};
use super::written::{PieceAt, WrittenSearch, WrittenValues};
use crate::ad::ClassAd;
use crate::builtin;
use crate::eval::scope::{EvalOptions, Scope};
use crate::syntax::expr::{Expr, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{RefScope, Reference, View};
use crate::text::Text;
use crate::value::Value;

/// Maximum number of numbers and of strings that one quantity is compared with.
const MAX_LANDMARKS: usize = 40;

/// Maximum number of comparisons over which constants are passed on.
const MAX_LINKS: usize = 8;

/// Maximum length of the key of a part that is compared with others, about.
const MAX_KEY: usize = 500;

/// Largest number that an attribute is supposed to have: up to it, integers are exact as reals, and neither sums nor
/// products with a few thousand wrap.
pub(super) const LARGEST: i64 = 1 << 50;

/// A set of values that are treated alike.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) values: Values,
    /// True for the strings that are none of those that conditions name; `values` are all strings then.
    pub(super) other_text: bool,
    /// True for the strings that differ by case from all those that conditions name.
    pub(super) other_case: bool,
}

impl Region {
    fn of(values: Values) -> Self {
        Self { values, other_text: false, other_case: false }
    }
}

/// Orders of two parts: the regions of a [`QuantityKind::Order`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PairOrder {
    Less,
    Equal,
    Greater,
    /// One of them is no number.
    Neither,
    Undefined,
    Error,
}

impl PairOrder {
    const ALL: [Self; 6] = [Self::Less, Self::Equal, Self::Greater, Self::Neither, Self::Undefined, Self::Error];

    fn truths(self, op: BinaryOp) -> Truths {
        let holds = match (self, op) {
            (Self::Undefined, _) => return Truths::UNDEFINED,
            (Self::Error, _) => return Truths::ERROR,
            (Self::Less, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::NotEqual)
            | (Self::Equal, BinaryOp::Equal | BinaryOp::LessEqual | BinaryOp::GreaterEqual)
            | (Self::Greater, BinaryOp::Greater | BinaryOp::GreaterEqual | BinaryOp::NotEqual)
            | (Self::Neither, BinaryOp::NotEqual) => true,
            _ => false,
        };
        if holds { Truths::TRUE } else { Truths::FALSE }
    }
}

/// The nature of a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QuantityKind {
    /// An attribute.
    Attribute(Reference),
    /// A part that occurs more than once.
    Part,
    /// The order of two parts that are compared more than once.
    Order,
}

/// A quantity with its regions.
#[derive(Debug)]
pub(super) struct Quantity {
    pub(super) kind: QuantityKind,
    pub(super) regions: Vec<Region>,
    numbers: Vec<f64>,
    texts: Vec<Text>,
    /// Strings that a string can have in it.
    pieces: Vec<(PieceAt, Text)>,
    /// True if the case of letters can count.
    case_counts: bool,
    /// True if it is compared with more strings or numbers than are kept.
    names_more: bool,
    /// True if it is compared with the largest number that an attribute is supposed to have, or larger ones.
    pub(super) is_beyond: bool,
}

/// Something known of a part, given the region of a quantity.
#[derive(Clone, Copy, Debug)]
enum Hint {
    /// The part is the quantity.
    Part,
    /// The part compares the pair of the quantity by this operator.
    Order(BinaryOp),
    /// The part compares the quantity with a string by this operator.
    Text(BinaryOp),
    /// The part compares the quantity in one case of letters with a string by this operator.
    TextInCase(BinaryOp),
    /// The part depends on nothing but the attribute.
    Alone(Option<WrittenSearch>),
}

/// A condition, and the hints to its parts.
#[derive(Debug)]
pub(super) struct ExaminedCondition<'a> {
    pub(super) expr: &'a Expr,
    hints: Vec<(NodeId, usize, Hint)>,
    /// Comparisons and calls of which it can matter for others that they are true or false.
    pub(super) decisive: Vec<NodeId>,
    /// The quantities at nodes, in the order of nodes.
    places: Vec<(NodeId, usize)>,
}

impl ExaminedCondition<'_> {
    /// The quantities in a part.
    pub(super) fn quantities(&self, id: NodeId) -> impl Iterator<Item = usize> {
        let first = self.expr.tree().first_of(id);
        self.places.iter().filter(move |(place, _)| (first..=id).contains(place)).map(|(_, quantity)| *quantity)
    }
}

/// The quantities of some conditions.
#[derive(Debug)]
pub(super) struct Quantities {
    pub(super) all: Vec<Quantity>,
    by_key: HashMap<String, usize>,
}

impl Quantities {
    /// Examines conditions.
    pub(super) fn of<'a>(conditions: &[&'a Expr], settings: &EvalOptions) -> (Self, Vec<ExaminedCondition<'a>>) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for condition in conditions {
            visit(condition.tree(), condition.root(), true, &mut |id, _| {
                if let Some(key) = key_of(condition.tree(), id) {
                    *counts.entry(key).or_default() += 1;
                }
            });
        }
        let mut found = Self { all: Vec::new(), by_key: HashMap::new() };
        let mut linked = Vec::new();
        let examined =
            conditions.iter().map(|condition| found.examine(condition, &counts, &mut linked, settings)).collect();
        found.all.iter_mut().for_each(Quantity::join_pieces);
        found.share(&linked);
        for quantity in &mut found.all {
            quantity.regions = regions(quantity);
        }
        (found, examined)
    }

    fn add(&mut self, key: String, kind: QuantityKind) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            let (regions, numbers, texts) = (Vec::new(), Vec::new(), Vec::new());
            self.all.push(Quantity {
                kind,
                regions,
                numbers,
                texts,
                pieces: Vec::new(),
                case_counts: false,
                names_more: false,
                is_beyond: false,
            });
            self.all.len() - 1
        })
    }

    fn attribute(&mut self, reference: Reference) -> usize {
        self.add(attribute_key(reference), QuantityKind::Attribute(reference))
    }

    /// The quantity of an attribute.
    pub(super) fn of_reference(&self, reference: Reference) -> Option<usize> {
        self.by_key.get(&attribute_key(reference)).copied()
    }

    fn examine<'a>(
        &mut self,
        expr: &'a Expr,
        counts: &HashMap<String, usize>,
        linked: &mut Vec<(usize, usize)>,
        settings: &EvalOptions,
    ) -> ExaminedCondition<'a> {
        let tree = expr.tree();
        let mut examined = ExaminedCondition { expr, hints: Vec::new(), decisive: Vec::new(), places: Vec::new() };
        for id in tree.first_of(expr.root())..=expr.root() {
            if let Some(reference) = tree.reference(id) {
                examined.places.push((id, self.attribute(reference)));
            }
        }
        let often = |key: &String| counts.get(key).is_some_and(|count| *count > 1);
        visit(tree, expr.root(), true, &mut |id, is_condition| match tree.view(id) {
            View::Compare { op, left, right } => {
                examined.decisive.push(id);
                let sides = [self.side(tree, left, counts), self.side(tree, right, counts)];
                for (one, two, quantity) in [(left, right, sides[0]), (right, left, sides[1])] {
                    if let Some(reference) = in_one_case(tree, one)
                        && let Some(Value::Str(text)) = constant(tree, two)
                    {
                        let quantity = self.attribute(reference);
                        self.all[quantity].texts.push(text);
                        examined.hints.push((id, quantity, Hint::TextInCase(op)));
                        continue;
                    }
                    match (constant(tree, two), quantity) {
                        (Some(Value::Str(text)), Some(quantity)) => {
                            self.all[quantity].texts.push(text);
                            self.all[quantity].case_counts |= matches!(op, BinaryOp::Is | BinaryOp::Isnt);
                            examined.hints.push((id, quantity, Hint::Text(op)));
                        }
                        (Some(value), quantity) => {
                            let Some(number) = value.as_number() else { continue };
                            if let Some(quantity) = quantity {
                                self.all[quantity].numbers.push(number);
                            }
                            if let Some(reference) = alone(tree, one, true) {
                                let quantity = self.attribute(reference);
                                let found = thresholds(tree, one, reference, number, settings);
                                self.all[quantity].numbers.extend(found);
                            }
                        }
                        _ => {}
                    }
                }
                if let [Some(left), Some(right)] = sides {
                    linked.push((left, right));
                }
                if matches!(op, BinaryOp::Is | BinaryOp::Isnt)
                    && let Some(key) = key_of(tree, id).filter(&often)
                {
                    let quantity = self.add(key, QuantityKind::Part);
                    examined.hints.push((id, quantity, Hint::Part));
                    examined.places.push((id, quantity));
                }
                if let Some((key, turned)) = order_key(tree, id).filter(|(key, _)| often(key)) {
                    let quantity = self.add(key, QuantityKind::Order);
                    examined.hints.push((id, quantity, Hint::Order(if turned { op.turned() } else { op })));
                    examined.places.push((id, quantity));
                }
            }
            view => {
                if matches!(view, View::Call { .. }) {
                    examined.decisive.push(id);
                }
                if let Some(quantity) = self.side(tree, id, counts) {
                    if is_condition {
                        self.all[quantity].numbers.push(0.0);
                    }
                    if self.all[quantity].kind == QuantityKind::Part {
                        examined.hints.push((id, quantity, Hint::Part));
                        examined.places.push((id, quantity));
                    }
                }
                if tree.reference(id).is_none()
                    && let Some(reference) = alone(tree, id, false)
                {
                    let quantity = self.attribute(reference);
                    let written = WrittenValues::of(tree, id);
                    let of = &mut self.all[quantity];
                    of.case_counts |= !written.texts.is_empty() && written.search != Some(WrittenSearch::AnyCase);
                    of.texts.extend(written.texts);
                    of.numbers.extend(written.numbers);
                    of.pieces.extend(written.pieces);
                    examined.hints.push((id, quantity, Hint::Alone(written.search)));
                    if is_condition {
                        self.all[quantity].numbers.push(0.0);
                    }
                }
            }
        });
        examined.places.sort_unstable();
        examined
    }

    /// The quantity that a part is.
    fn side(&mut self, tree: &Arc<Tree>, id: NodeId, counts: &HashMap<String, usize>) -> Option<usize> {
        let id = tree.bare(id);
        if let Some(reference) = tree.reference(id) {
            return Some(self.attribute(reference));
        }
        let key = part_key(tree, id)?;
        counts.get(&key).is_some_and(|count| *count > 1).then(|| self.add(key, QuantityKind::Part))
    }

    /// Lets quantities that are compared with each other have the constants of both.
    fn share(&mut self, linked: &[(usize, usize)]) {
        self.all.iter_mut().for_each(Quantity::tidy);
        for _ in 0..linked.len().min(MAX_LINKS) {
            for &(one, two) in linked.iter().filter(|(one, two)| one != two) {
                let all = [one, two].map(|at| (self.all[at].numbers.clone(), self.all[at].texts.clone()));
                for (at, (numbers, texts)) in [two, one].into_iter().zip(all) {
                    self.all[at].numbers.extend(numbers);
                    self.all[at].texts.extend(texts);
                    self.all[at].tidy();
                }
            }
        }
    }

    /// The known values of parts of a condition where quantities are in some regions.
    pub(super) fn known(
        &self,
        condition: &ExaminedCondition<'_>,
        chosen: &[Option<usize>],
        settings: &EvalOptions,
    ) -> HashMap<NodeId, Values> {
        let mut known: HashMap<NodeId, Values> = HashMap::new();
        for &(id, quantity, hint) in &condition.hints {
            let Some(at) = chosen[quantity] else { continue };
            let owner = &self.all[quantity];
            let region = &owner.regions[at];
            let values = match hint {
                Hint::Part => region.values.clone(),
                Hint::Order(op) => PairOrder::ALL[at].truths(op).values(),
                Hint::Text(op) | Hint::TextInCase(op) if region.other_text => match op {
                    BinaryOp::Equal | BinaryOp::Is => Truths::FALSE.values(),
                    BinaryOp::NotEqual | BinaryOp::Isnt => Truths::TRUE.values(),
                    _ => continue,
                },
                Hint::Text(BinaryOp::Is) if region.other_case => Truths::FALSE.values(),
                Hint::Text(BinaryOp::Isnt) if region.other_case => Truths::TRUE.values(),
                Hint::Alone(search) => {
                    let QuantityKind::Attribute(reference) = owner.kind else { continue };
                    let tree = condition.expr.tree();
                    let outcome =
                        |value| value_where(tree, id, reference, value, settings).map(|value| Values::value(&value));
                    match owner.outcomes(region, search, outcome) {
                        Some(values) => values,
                        None => continue,
                    }
                }
                Hint::Text(_) | Hint::TextInCase(_) => continue,
            };
            let values = known.get(&id).map_or(values.clone(), |before| before.intersection(&values));
            known.insert(id, values);
        }
        known
    }
}

impl Quantity {
    /// The outcomes of a part that depends on the quantity alone, and perhaps is a search for it, in a region; none if they
    /// are not known.
    fn outcomes(
        &self,
        region: &Region,
        search: Option<WrittenSearch>,
        outcome: impl Fn(Value) -> Option<Values>,
    ) -> Option<Values> {
        let is_found_as_it_is = search == Some(WrittenSearch::Exact);
        if is_found_as_it_is && region.other_case {
            return Some(Truths::FALSE.values());
        }
        let of_values = is_found_as_it_is || search == Some(WrittenSearch::AnyCase);
        let values = &region.values;
        let samples = match (&values.texts, values.single()) {
            (_, Some(value)) => vec![value],
            (Texts::Folded(texts), None) if search == Some(WrittenSearch::AnyCase) => {
                texts.first().cloned().map(Value::Str).into_iter().collect()
            }
            // All other strings are found, or none.
            (Texts::Any, None) if of_values && region.other_text => {
                let letters = ["other", "another", "x"].map(Text::new).into_iter();
                letters.filter(|text| !self.is_compared_with(text)).take(1).map(Value::Str).collect()
            }
            // Between numbers that are named, all have one outcome.
            (Texts::None, None) if search.is_some() && values.kinds == 0 && !self.names_more => {
                let int = values.ints.map(|(low, _)| Value::Int(low));
                let real = values.reals.map(|(low, high)| Value::Real(low / 2.0 + high / 2.0));
                int.into_iter().chain(real).collect()
            }
            // Nothing but a string, a number or a boolean is found.
            (Texts::None, None) if of_values && values.ints.is_none() && values.reals.is_none() => {
                return Some(Values::of_kinds(kind::UNDEFINED | kind::ERROR | kind::FALSE));
            }
            _ => Vec::new(),
        };
        samples.into_iter().map(outcome).reduce(|one, other| Some(one?.union(&other?))).flatten()
    }

    /// Tests whether a string is one of those that the quantity is compared with, but for case.
    pub(super) fn is_compared_with(&self, text: &Text) -> bool {
        self.texts.iter().any(|known| alike(known, text))
    }

    /// Adds a string, and a list, that has all pieces.
    fn join_pieces(&mut self) {
        self.pieces.sort_by_key(|(place, _)| *place);
        self.pieces.dedup();
        let pieces: Vec<&[u8]> = self.pieces.iter().map(|(_, text)| text.as_bytes()).collect();
        if pieces.len() > 1 {
            self.texts.extend([Text::from(pieces.concat()), Text::from(pieces.join(&b","[..]))]);
        }
    }

    fn tidy(&mut self) {
        // An integer beyond the limit can be the limit as a real.
        self.is_beyond |= self.numbers.iter().any(|number| number.abs() >= LARGEST as f64);
        self.numbers.retain(|number| number.abs() <= LARGEST as f64);
        self.numbers.sort_by(f64::total_cmp);
        self.numbers.dedup();
        self.texts.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        self.texts.dedup();
        self.names_more |= self.texts.len() > MAX_LANDMARKS || self.numbers.len() > MAX_LANDMARKS;
        self.numbers.truncate(MAX_LANDMARKS);
        self.texts.truncate(MAX_LANDMARKS);
    }
}

/// The regions of a quantity; together they hold every value.
fn regions(quantity: &mut Quantity) -> Vec<Region> {
    if quantity.kind == QuantityKind::Order {
        return PairOrder::ALL.iter().map(|_| Region::of(Values::any())).collect();
    }
    quantity.tidy();
    let kinds = [kind::UNDEFINED, kind::TRUE, kind::FALSE, kind::ERROR, kind::NAN];
    let rest = [kind::LIST | kind::AD, kind::ABS_TIME, kind::REL_TIME];
    let mut sets: Vec<Values> = kinds.into_iter().chain(rest).map(Values::of_kinds).collect();
    // Of an attribute; what is computed from attributes can be anything.
    let (least, most, infinite) = match quantity.kind {
        QuantityKind::Attribute(_) => (-LARGEST, LARGEST, LARGEST as f64),
        _ => (i64::MIN, i64::MAX, f64::INFINITY),
    };
    let (mut int, mut real) = (Some(least), -infinite);
    let gap = |int: Option<i64>, last: i64, real: (f64, f64)| Values {
        ints: int.filter(|first| *first <= last).map(|first| (first, last)),
        reals: (real.0 <= real.1).then_some(real),
        ..Values::none()
    };
    for number in &quantity.numbers {
        let (floor, whole) = (number.floor() as i64, number.floor() == *number);
        let last = if whole { floor.saturating_sub(1) } else { floor };
        sets.push(gap(int, last, (real, number.next_down())));
        if whole {
            sets.push(Values::value(&Value::Int(floor)));
        }
        sets.push(Values { reals: Some((*number, *number)), ..Values::none() });
        (int, real) = (floor.checked_add(1), number.next_up());
    }
    sets.push(gap(int, most, (real, infinite)));
    sets.retain(|set| !set.is_empty());
    let mut regions: Vec<Region> = sets.into_iter().map(Region::of).collect();
    let other_case = quantity.case_counts && !quantity.names_more;
    for (at, text) in quantity.texts.iter().enumerate() {
        if quantity.case_counts {
            regions.push(Region::of(Values { texts: Texts::Exact(vec![text.clone()]), ..Values::none() }));
        }
        // A text without letters has one case.
        let has_case = text.as_bytes().iter().any(u8::is_ascii_alphabetic);
        let is_first = !quantity.texts[..at].iter().any(|before| alike(before, text));
        if is_first && (has_case || !other_case) {
            let values = Values { texts: Texts::Folded(vec![text.clone()]), ..Values::none() };
            regions.push(Region { other_case, ..Region::of(values) });
        }
    }
    regions.push(Region { other_text: !quantity.names_more, ..Region::of(Values::any_text()) });
    regions
}

/// All values that an attribute is supposed to have.
pub(super) fn any_attribute() -> Values {
    let largest = LARGEST as f64;
    Values { ints: Some((-LARGEST, LARGEST)), reals: Some((-largest, largest)), ..Values::any() }
}

/// Visits the parts of a condition that are not composed of others by `&&`, `||`, `!` or a choice, and the sides of
/// comparisons.
fn visit(tree: &Tree, id: NodeId, is_condition: bool, each: &mut dyn FnMut(NodeId, bool)) {
    match tree.view(id) {
        View::Paren(inner) => visit(tree, inner, is_condition, each),
        View::Not(operand) => visit(tree, operand, true, each),
        View::Logic { op, .. } => {
            for operand in tree.operands(op, id) {
                visit(tree, operand, true, each);
            }
        }
        View::Choice { condition, yes, no } => {
            visit(tree, condition, true, each);
            visit(tree, yes, is_condition, each);
            visit(tree, no, is_condition, each);
        }
        View::Compare { left, right, .. } => {
            each(id, false);
            visit(tree, left, false, each);
            visit(tree, right, false, each);
        }
        View::Literal(_) => {}
        View::Call { arguments, .. } => {
            each(id, is_condition);
            for argument in arguments.iter().filter(|argument| tree.reference(tree.bare(**argument)).is_none()) {
                visit(tree, *argument, false, each);
            }
        }
        _ => each(id, is_condition),
    }
}

fn attribute_key(reference: Reference) -> String {
    format!("{:?}#{}", reference.scope, reference.name.key().index())
}

/// The key of the quantity that a visited part can be.
fn key_of(tree: &Tree, id: NodeId) -> Option<String> {
    match tree.view(id) {
        View::Compare { op: BinaryOp::Is | BinaryOp::Isnt, left, right }
            if [left, right].iter().any(|side| tree.is_constant(*side)) =>
        {
            None
        }
        View::Compare { op, .. } if !matches!(op, BinaryOp::Is | BinaryOp::Isnt) => {
            order_key(tree, id).map(|(key, _)| key)
        }
        View::Reference(_) => None,
        _ => part_key(tree, id),
    }
}

/// The key of a part that can be a quantity: the same for parts that have the same value.
pub(super) fn part_key(tree: &Tree, id: NodeId) -> Option<String> {
    let mut key = String::new();
    let is_time = |part: NodeId| matches!(tree.view(part), View::Call { name, .. } if name.folded() == b"time");
    let varies = || tree.names(id).next().is_some() || (tree.first_of(id)..=id).any(is_time);
    (varies() && write_key(tree, id, &mut key)).then_some(key)
}

/// Writes a part without its spelling; false if two such parts can have two values in one match, or the key is too long.
fn write_key(tree: &Tree, id: NodeId, key: &mut String) -> bool {
    let id = tree.bare(id);
    if key.len() > MAX_KEY {
        return false;
    }
    let mut operation = |name: &str, parts: &[NodeId]| {
        key.push_str(name);
        key.push('(');
        let same = parts.iter().all(|part| {
            let same = write_key(tree, *part, key);
            key.push(',');
            same
        });
        key.push(')');
        same
    };
    match tree.view(id) {
        View::Reference(reference) => key.push_str(&attribute_key(reference)),
        View::AdName(name) => key.push_str(&format!("ad {}", name.key().index())),
        View::Select { base, name } => return operation(&format!("select {}", name.key().index()), &[base]),
        View::Call { name, arguments } => {
            let Some(function) = builtin::find(name).filter(|function| function.pure || function.name == "time") else {
                return false;
            };
            return is_known_version_function(tree, name) && operation(function.name, arguments);
        }
        View::Compare { op, left, right } => {
            let (mut one, mut other) = (String::new(), String::new());
            if !write_key(tree, left, &mut one) || !write_key(tree, right, &mut other) {
                return false;
            }
            // `a < b` is the same as `b > a`.
            let (op, one, other) = if one <= other { (op, one, other) } else { (op.turned(), other, one) };
            key.push_str(&format!("{op:?}({one},{other})"));
        }
        View::Binary { op, left, right } | View::Logic { op, left, right } => {
            return operation(&format!("{op:?}"), &[left, right]);
        }
        View::Subscript { base, index } => return operation("[]", &[base, index]),
        View::Unary(op, operand) => return operation(&format!("{op:?}"), &[operand]),
        View::Not(operand) => return operation("!", &[operand]),
        View::Choice { condition, yes, no } => return operation("?", &[condition, yes, no]),
        View::List(parts) => return operation("list", parts),
        // Texts of numbers have fewer digits than numbers.
        View::Literal(Literal::Real(number)) => key.push_str(&format!("real {}", number.to_bits())),
        View::Literal(Literal::Str(text)) => key.push_str(&format!("text {:?}", text.as_bytes())),
        View::Literal(literal) => key.push_str(&Expr::literal(literal.clone()).to_string()),
        _ => return false,
    }
    true
}

/// The key of the order of two parts that a comparison compares; true if it names them the other way round.
fn order_key(tree: &Tree, id: NodeId) -> Option<(String, bool)> {
    let View::Compare { op, left, right } = tree.view(id) else { return None };
    if matches!(op, BinaryOp::Is | BinaryOp::Isnt) {
        return None;
    }
    let key = |id: NodeId| tree.reference(tree.bare(id)).map(attribute_key).or_else(|| part_key(tree, id));
    let (left, right) = (key(left)?, key(right)?);
    Some(if left <= right { (format!("{left} : {right}"), false) } else { (format!("{right} : {left}"), true) })
}

/// The value of a part that is the same for all ads.
fn constant(tree: &Arc<Tree>, id: NodeId) -> Option<Value> {
    Analysis::new(tree, &unknown).values(id).single()
}

/// The attribute whose string a part turns into one case of letters.
fn in_one_case(tree: &Tree, id: NodeId) -> Option<Reference> {
    match tree.view(tree.bare(id)) {
        View::Call { name, arguments: &[of] } if matches!(name.folded(), b"tolower" | b"toupper") => {
            tree.reference(tree.bare(of))
        }
        _ => None,
    }
}

/// The only attribute that a part depends on, perhaps beside the time.
fn alone(tree: &Tree, id: NodeId, may_have_time: bool) -> Option<Reference> {
    let (mut found, mut waiting) = (None, vec![id]);
    while let Some(id) = waiting.pop() {
        match tree.view(id) {
            View::Reference(reference) => {
                if found
                    .replace(reference)
                    .is_some_and(|other: Reference| attribute_key(other) != attribute_key(reference))
                {
                    return None;
                }
            }
            View::AdName(_) | View::Absolute(_) | View::Select { .. } | View::Ad(_) => return None,
            View::Call { name, .. } if may_have_time && name.folded() == b"time" => {}
            View::Call { name, .. } if !is_self_contained(name) => return None,
            _ => waiting.extend(tree.parts(id)),
        }
    }
    found
}

/// The value of a part where the only attribute that it depends on has a value.
fn value_where(
    tree: &Arc<Tree>,
    id: NodeId,
    reference: Reference,
    value: Value,
    settings: &EvalOptions,
) -> Option<Value> {
    let (mut my, mut target) = (ClassAd::new(), ClassAd::new());
    let ad = if reference.scope == RefScope::Target { &mut target } else { &mut my };
    ad.insert(reference.name, value);
    Scope::new(&my, settings).with_target(&target).eval(&Expr::at(Arc::clone(tree), id)).ok()
}

/// The numbers between which an operation on an attribute begins to be less, or more, than a number.
fn thresholds(tree: &Arc<Tree>, id: NodeId, reference: Reference, bound: f64, settings: &EvalOptions) -> Vec<f64> {
    let mut found = Vec::new();
    if tree.reference(tree.bare(id)).is_some() {
        return found;
    }
    let result = |number: f64, whole: bool| {
        let value = if whole { Value::Int(number as i64) } else { Value::Real(number) };
        value_where(tree, id, reference, value, settings).and_then(|value| value.as_number())
    };
    for whole in [true, false] {
        for beyond in [|value: f64, bound: f64| value > bound, |value: f64, bound: f64| value >= bound] {
            let is_beyond = |number: f64| Some(beyond(result(number, whole)?, bound));
            let (mut low, mut high) = (-LARGEST as f64, LARGEST as f64);
            let (Some(first), Some(last)) = (is_beyond(low), is_beyond(high)) else { continue };
            if first == last {
                continue;
            }
            // 120 halvings separate any two reals of this size.
            for _ in 0..120 {
                let middle = low / 2.0 + high / 2.0;
                let middle = if whole { middle.floor() } else { middle };
                if middle <= low || middle >= high {
                    break;
                }
                match is_beyond(middle) {
                    Some(beyond) if beyond == first => low = middle,
                    Some(_) => high = middle,
                    None => break,
                }
            }
            found.extend([low, high]);
        }
    }
    found
}
