//! The inequalities that decided comparisons of a condition say, whatever the ads are otherwise.
//!
//! In: comparisons, and calls of version functions, of which it is known that they are true or false, and the possible
//! values of their sides. Out: whether they contradict each other, or numbers of attributes that agree with them.
//! Computation is exact here: neither are real numbers rounded, nor do integers wrap, as sums that could are left out.

use std::sync::Arc;

use hashbrown::HashMap;

use super::evaluate::{Analysis, is_known_version_function};
use super::linear::{Fraction, Inequality, LinearSum, Solution, solve};
use super::number::arithmetic;
use super::quantities::part_key;
use super::values::{Texts, Truths, Values, kind};
use crate::builtin::version::natural_compare;
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::syntax::view::{Reference, View};
use crate::text::Text;
use crate::value::Value;
use crate::value::compare::folded_order;

/// Maximum number of inequalities; what more comparisons say is not known.
const MAX_COMPARISONS: usize = 60;

/// The things that sides of comparisons are measured in; those of one kind have one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SideKind {
    Number,
    Text,
    AbsTime,
    RelTime,
    /// Texts, in the order of versions.
    Version,
}

/// A text that a comparison names.
struct NamedText {
    kind: SideKind,
    text: Text,
    variable: usize,
}

/// The inequalities of some comparisons.
#[derive(Default)]
pub(super) struct Inequalities {
    all: Vec<Inequality>,
    variables: HashMap<String, usize>,
    /// The attributes that are variables.
    attributes: Vec<(usize, Reference)>,
    texts: Vec<NamedText>,
    /// The variable that is `time()`.
    time: Option<usize>,
    /// True if the sides are taken for numbers where their types are not known.
    supposes_numbers: bool,
}

impl Inequalities {
    /// None yet, for the search of numbers: what is not known to be a number is supposed to be one.
    pub(super) fn supposing_numbers() -> Self {
        Self { supposes_numbers: true, ..Self::default() }
    }

    /// Adds what a part says that is true, or false.
    pub(super) fn add(&mut self, analysis: &Analysis<'_>, id: NodeId, is_true: bool) {
        // Nothing is known of the part if it is too large.
        let _ = self.added(analysis, id, is_true);
    }

    fn added(&mut self, analysis: &Analysis<'_>, id: NodeId, is_true: bool) -> Option<()> {
        let tree = analysis.tree();
        match tree.view(id) {
            View::Compare { op, left, right } => {
                let zero = Values::value(&Value::Int(0));
                for (call, other, op) in [(left, right, op), (right, left, op.turned())] {
                    if let View::Call { name, arguments: &[one, two] } = tree.view(tree.bare(call))
                        && name.folded() == b"versioncmp"
                        && analysis.values(other) == zero
                    {
                        return self.versions(analysis, (op, one, two), is_true);
                    }
                }
                let kind = self.common_kind(analysis, left, right)?;
                let sums = [self.side(analysis, kind, left)?, self.side(analysis, kind, right)?];
                self.compared(op, &sums, is_true)
            }
            View::Call { name, .. } if !is_known_version_function(tree, name) => None,
            View::Call { name, arguments: &[one, two] } => {
                let op = match name.folded() {
                    b"versionlt" => BinaryOp::Less,
                    b"versionle" => BinaryOp::LessEqual,
                    b"versioneq" => BinaryOp::Equal,
                    b"versionge" => BinaryOp::GreaterEqual,
                    b"versiongt" => BinaryOp::Greater,
                    _ => return None,
                };
                self.versions(analysis, (op, one, two), is_true)
            }
            View::Call { name, arguments: &[version, least, most] }
                if name.folded() == b"version_in_range" && is_true =>
            {
                self.versions(analysis, (BinaryOp::GreaterEqual, version, least), true)?;
                self.versions(analysis, (BinaryOp::LessEqual, version, most), true)
            }
            _ => None,
        }
    }

    fn versions(
        &mut self,
        analysis: &Analysis<'_>,
        (op, left, right): (BinaryOp, NodeId, NodeId),
        is_true: bool,
    ) -> Option<()> {
        let sums = [left, right].map(|id| self.side(analysis, SideKind::Version, id));
        let [Some(left), Some(right)] = sums else { return None };
        self.compared(op, &[left, right], is_true)
    }

    fn compared(&mut self, op: BinaryOp, [left, right]: &[LinearSum; 2], is_true: bool) -> Option<()> {
        if self.all.len() >= MAX_COMPARISONS {
            return None;
        }
        let (below, above) = (left.minus(right)?, right.minus(left)?);
        let mut say = |sum: LinearSum, is_strict| self.all.push(Inequality { sum, is_strict });
        match (op, is_true) {
            (BinaryOp::Less, true) | (BinaryOp::GreaterEqual, false) => say(below, true),
            (BinaryOp::LessEqual, true) | (BinaryOp::Greater, false) => say(below, false),
            (BinaryOp::Greater, true) | (BinaryOp::LessEqual, false) => say(above, true),
            (BinaryOp::GreaterEqual, true) | (BinaryOp::Less, false) => say(above, false),
            (BinaryOp::Equal | BinaryOp::Is, true) | (BinaryOp::NotEqual | BinaryOp::Isnt, false) => {
                say(below, false);
                say(above, false);
            }
            _ => {}
        }
        Some(())
    }

    /// The kind of both sides, if they have one.
    fn common_kind(&self, analysis: &Analysis<'_>, left: NodeId, right: NodeId) -> Option<SideKind> {
        let kinds = [left, right].map(|id| kind_of(&analysis.values(id)));
        match kinds {
            [Some(one), Some(other)] => (one == other).then_some(one),
            _ => self.supposes_numbers.then_some(SideKind::Number),
        }
    }

    fn side(&mut self, analysis: &Analysis<'_>, kind: SideKind, id: NodeId) -> Option<LinearSum> {
        analysis.renew();
        let tree = analysis.tree();
        let id = tree.bare(id);
        if kind == SideKind::Number {
            return self.sum(analysis, id, 0);
        }
        if let Some(Value::Str(text)) = analysis.values(id).single() {
            return Some(LinearSum::variable(self.named(kind, text)?));
        }
        let key = part_key(tree, id)?;
        Some(LinearSum::variable(self.variable(format!("{kind:?} {key}"))))
    }

    fn variable(&mut self, key: String) -> usize {
        let next = self.variables.len();
        *self.variables.entry(key).or_insert(next)
    }

    /// The variable of a text that is written, which has its place among the others.
    fn named(&mut self, kind: SideKind, text: Text) -> Option<usize> {
        if let Some(known) = self.texts.iter().find(|known| known.kind == kind && known.text == text) {
            return Some(known.variable);
        }
        let variable = self.variable(format!("{kind:?} text {:?}", text.as_bytes()));
        let mut order = Vec::new();
        for known in self.texts.iter().filter(|known| known.kind == kind) {
            let (one, other) = (LinearSum::variable(variable), LinearSum::variable(known.variable));
            let difference = match kind {
                SideKind::Version => natural_compare(text.as_bytes(), known.text.as_bytes()).cmp(&0),
                _ => folded_order(text.as_bytes(), known.text.as_bytes()),
            };
            let (less, more) = if difference.is_lt() { (&one, &other) } else { (&other, &one) };
            order.push(Inequality { sum: less.minus(more)?, is_strict: difference.is_ne() });
            if difference.is_eq() {
                order.push(Inequality { sum: more.minus(less)?, is_strict: false });
            }
        }
        self.all.extend(order);
        self.texts.push(NamedText { kind, text, variable });
        Some(variable)
    }

    /// A part as a sum of variables.
    fn sum(&mut self, analysis: &Analysis<'_>, id: NodeId, depth: u32) -> Option<LinearSum> {
        /// Deepest nesting of sums.
        const MAX_DEPTH: u32 = 30;
        let tree = analysis.tree();
        let id = tree.bare(id);
        let values = analysis.values(id);
        match values.single() {
            Some(Value::Int(number)) => return Some(LinearSum::constant(Fraction::whole(number))),
            Some(Value::Real(number)) => return Fraction::written(number).map(LinearSum::constant),
            Some(Value::Bool(value)) => return Some(LinearSum::constant(Fraction::whole(value.into()))),
            _ => {}
        }
        // An integer that may wrap is no sum.
        let supposes_numbers = self.supposes_numbers;
        let wraps = |op: BinaryOp, left: NodeId, right: NodeId| {
            let result = arithmetic(op, &analysis.values(left), &analysis.values(right));
            !supposes_numbers && result.ints == Some((i64::MIN, i64::MAX))
        };
        let within = |this: &mut Self, part: NodeId| this.sum(analysis, part, depth + 1);
        let sum = match tree.view(id) {
            _ if depth > MAX_DEPTH => return None,
            // The smallest integer has no negative.
            View::Unary(UnaryOp::Minus, operand)
                if supposes_numbers || analysis.values(operand).ints.is_none_or(|(low, _)| low != i64::MIN) =>
            {
                within(self, operand)?.times(Fraction::ONE.negated())?
            }
            View::Unary(UnaryOp::Plus, operand) => within(self, operand)?,
            View::Binary { op: op @ BinaryOp::Add, left, right } if !wraps(op, left, right) => {
                within(self, left)?.plus(&within(self, right)?)?
            }
            View::Binary { op: op @ BinaryOp::Subtract, left, right } if !wraps(op, left, right) => {
                within(self, left)?.minus(&within(self, right)?)?
            }
            View::Binary { op: op @ BinaryOp::Multiply, left, right } if !wraps(op, left, right) => {
                let (left, right) = (within(self, left)?, within(self, right)?);
                match (left.terms.is_empty(), right.terms.is_empty()) {
                    (_, true) => left.times(right.constant)?,
                    (true, false) => right.times(left.constant)?,
                    _ => self.opaque(tree, id)?,
                }
            }
            View::Binary { op: BinaryOp::Divide, left, right } => match analysis.values(right).single() {
                // Integers are divided without a rest.
                Some(Value::Real(number)) if number != 0.0 => {
                    within(self, left)?.times(Fraction::written(number)?.inverse()?)?
                }
                _ => self.opaque(tree, id)?,
            },
            _ => self.opaque(tree, id)?,
        };
        Some(sum)
    }

    /// A part of which nothing is known but that it has one value.
    fn opaque(&mut self, tree: &Arc<Tree>, id: NodeId) -> Option<LinearSum> {
        let variable = self.variable(format!("Number {}", part_key(tree, id)?));
        match tree.view(id) {
            View::Reference(reference) if !self.attributes.iter().any(|(of, _)| *of == variable) => {
                self.attributes.push((variable, reference));
            }
            View::Call { name, .. } if name.folded() == b"time" => self.time = Some(variable),
            _ => {}
        }
        Some(LinearSum::variable(variable))
    }

    /// Tests whether they contradict each other.
    pub(super) fn is_contradiction(&self) -> bool {
        !self.all.is_empty() && matches!(solve(&self.all), Solution::None)
    }

    /// Numbers of attributes with which all are so at a time, if such are found.
    pub(super) fn numbers(mut self, now: i64) -> Vec<(Reference, f64)> {
        if let Some(time) = self.time {
            let now = LinearSum::constant(Fraction::whole(now));
            let order = LinearSum::variable(time).minus(&now).zip(now.minus(&LinearSum::variable(time)));
            let both = order.map(|(one, other)| [one, other].map(|sum| Inequality { sum, is_strict: false }));
            self.all.extend(both.into_iter().flatten());
        }
        let Solution::Numbers(numbers) = solve(&self.all) else { return Vec::new() };
        let number = |variable: usize| numbers.iter().find(|(of, _)| *of == variable).map(|(_, number)| number.real());
        self.attributes.iter().filter_map(|(variable, reference)| Some((*reference, number(*variable)?))).collect()
    }
}

/// The one kind of all values of a set; none if some are infinite.
fn kind_of(values: &Values) -> Option<SideKind> {
    let (has_text, has_number) = (values.texts != Texts::None, values.has_number());
    let other = values.kinds & !(kind::TRUE | kind::FALSE);
    let is_finite = values.reals.is_none_or(|(low, high)| low.is_finite() && high.is_finite());
    match (has_number, has_text, other) {
        (true, false, 0) if is_finite => Some(SideKind::Number),
        (false, true, 0) => Some(SideKind::Text),
        (false, false, kind::ABS_TIME) => Some(SideKind::AbsTime),
        (false, false, kind::REL_TIME) => Some(SideKind::RelTime),
        _ => None,
    }
}

/// The only one of true and false that some truths allow.
pub(super) fn is_true(truths: Truths) -> Option<bool> {
    match truths {
        Truths::TRUE => Some(true),
        Truths::FALSE => Some(false),
        _ => None,
    }
}
