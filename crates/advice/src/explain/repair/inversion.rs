//! Solving a comparison for something inside of one of its sides.
//!
//! In: a side of a comparison, such as `RequestMemory / RequestCpus`, what it is compared with, and the value that one of the
//! attributes in it has. Out: the nearest value for which the comparison holds. Algebra leads near to it; the result is
//! what the operators themselves say, so that quotients of integers and strict bounds are kept to the last integer.

use smallvec::SmallVec;

use crate::explain::repair::boundary::{around, beyond, nearest, outward, toward};
use crate::explain::repair::edit::{Bound, bound, constant, number};
use crate::explain::repair::suggestion::ANY_STRING;
use classmate::Value;
use classmate::internal::eval::operate;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::internal::value::arith::unary;

/// An operation between a node and the side of a comparison that contains it.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// `-` before it.
    Minus,
    /// An operator with something beside; whether the way goes on at the left operand.
    Binary(BinaryOp, bool),
    /// It is what is left of a division; whether a larger number is looked for.
    Modulo(bool),
    /// It is what is there by default, or that without a default, or a branch: the same if it counts.
    Same,
}

/// The way from a side of a comparison down to a node in it, through `+`, `-`, `*`, `/`, `%`, `?:` and branches.
#[derive(Debug, Clone)]
pub(crate) struct Inversion {
    /// The node that it leads to.
    pub(crate) inner: NodeId,
    /// The other operands on the way, from the outermost to the innermost.
    pub(crate) beside: Vec<NodeId>,
    /// The operations on the way, from the outermost to the innermost.
    steps: Vec<Step>,
}

/// The constraint that a comparison puts on one of its sides.
#[derive(Clone, Copy)]
pub(crate) struct Constraint<'v> {
    pub(crate) op: BinaryOp,
    /// It is the left side.
    pub(crate) is_left: bool,
    /// The value of the other side.
    pub(crate) other: &'v Value,
    /// The values of the other operands on the way.
    pub(crate) beside: &'v [&'v Value],
}

/// Maximum number of ways in one side of a comparison.
const MAX_INVERSIONS: usize = 8;
/// Maximum number of steps of a way.
const MAX_STEPS: usize = 16;

/// Numbers to begin at.
type Numbers = SmallVec<[f64; 8]>;

impl Inversion {
    /// The ways to everything that is not a number, in the order of the text.
    pub(crate) fn all(tree: &Tree, id: NodeId) -> Vec<Self> {
        let mut found = Vec::new();
        let mut waiting = vec![Inversion { inner: tree.bare(id), ..Inversion::straight() }];
        while let Some(inversion) = waiting.pop() {
            if found.len() == MAX_INVERSIONS {
                break;
            }
            let further = |inner: NodeId, beside: Option<NodeId>, step: Step| {
                let mut further = inversion.clone();
                further.inner = tree.bare(inner);
                further.beside.extend(beside);
                further.steps.push(step);
                further
            };
            if let Node::Literal(_) = tree.node(inversion.inner) {
                continue;
            }
            if inversion.steps.len() >= MAX_STEPS {
                found.push(inversion);
                continue;
            }
            if let Some([_, yes, no]) = tree.choice(inversion.inner) {
                waiting.extend([no, yes].map(|part| further(part, None, Step::Same)));
                continue;
            }
            match *tree.node(inversion.inner) {
                Node::Binary(
                    op @ (BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide),
                    left,
                    right,
                ) => {
                    waiting.push(further(right, Some(left), Step::Binary(op, false)));
                    waiting.push(further(left, Some(right), Step::Binary(op, true)));
                }
                Node::Binary(BinaryOp::Modulo, left, right) => {
                    waiting.push(further(left, Some(right), Step::Modulo(true)));
                    waiting.push(further(left, Some(right), Step::Modulo(false)));
                }
                Node::Binary(BinaryOp::Default, left, right) => {
                    waiting.extend([right, left].map(|part| further(part, None, Step::Same)));
                }
                Node::Unary(UnaryOp::Minus, inner) => waiting.push(further(inner, None, Step::Minus)),
                Node::Unary(UnaryOp::Plus, inner) => waiting.push(further(inner, None, Step::Same)),
                _ => found.push(inversion),
            }
        }
        found
    }

    /// The way to the constant that a side of a comparison is, or to the number in it that is no unit: 500 in `500 * 1024 * 1024`.
    pub(crate) fn to_constant(tree: &Tree, id: NodeId) -> Option<Self> {
        /// Numbers of smaller units in a larger one.
        const UNITS: [f64; 5] = [60.0, 1000.0, 1024.0, 3600.0, 1_048_576.0];
        let mut way = Inversion { inner: tree.bare(id), ..Inversion::straight() };
        if matches!(tree.node(way.inner), Node::Literal(_)) {
            return Some(way);
        }
        let is_computed = |at: NodeId| match tree.node(at) {
            Node::Literal(literal) => number(literal).is_some(),
            Node::Binary(op, ..) => {
                matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide)
            }
            Node::Paren(_) => true,
            _ => false,
        };
        let all = || tree.first_of(way.inner)..=way.inner;
        if !all().all(is_computed) {
            return None;
        }
        let numbered = |at: &NodeId| matches!(tree.node(*at), Node::Literal(_));
        let is_unit = |at: &NodeId| match tree.node(*at) {
            Node::Literal(literal) => number(literal).is_some_and(|number| UNITS.contains(&number)),
            _ => true,
        };
        let chosen = all().find(|at| !is_unit(at)).or_else(|| all().find(numbered))?;
        while let Node::Binary(op, left, right) = *tree.node(way.inner) {
            if way.steps.len() == MAX_STEPS {
                return None;
            }
            let is_left = chosen <= left;
            let (further, beside) = if is_left { (left, right) } else { (right, left) };
            way.inner = tree.bare(further);
            way.beside.push(beside);
            way.steps.push(Step::Binary(op, is_left));
        }
        Some(way)
    }

    /// The way on which nothing is done.
    pub(crate) fn straight() -> Self {
        Inversion { inner: 0, beside: Vec::new(), steps: Vec::new() }
    }

    /// Tests if there is no operation on the way.
    pub(crate) fn is_straight(&self) -> bool {
        self.steps.is_empty()
    }

    /// Tests if the value at the end is the value of the side, if it is selected.
    pub(crate) fn is_same(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Same))
    }

    /// Applies the steps inside the outermost ones to a value at the end of the way.
    fn seen(&self, inner: Value, beside: &[&Value], outermost: usize) -> Value {
        let (mut value, mut beside) = (inner, beside.iter().rev());
        for step in self.steps[outermost..].iter().rev() {
            value = match *step {
                Step::Minus => unary(UnaryOp::Minus, value),
                Step::Same => value,
                Step::Binary(op, is_left) => match beside.next() {
                    Some(other) if is_left => operate(op, &value, other),
                    Some(other) => operate(op, other, &value),
                    None => Value::Error,
                },
                Step::Modulo(_) => beside.next().map_or(Value::Error, |other| operate(BinaryOp::Modulo, &value, other)),
            };
        }
        value
    }

    /// Tests if the comparison holds with a value at the end of the way.
    pub(crate) fn holds(&self, constraint: &Constraint<'_>, literal: &Literal) -> bool {
        let side = self.seen(Value::from(literal), constraint.beside, 0);
        let result = if constraint.is_left {
            operate(constraint.op, &side, constraint.other)
        } else {
            operate(constraint.op, constraint.other, &side)
        };
        matches!(result, Value::Bool(true))
    }

    /// The value at the end of the way for which the comparison holds, the nearest to the present one, and the bound there:
    /// an integer unless the present value is a real or no integer would do. None if there is none, or what is beside it is
    /// no number.
    pub(crate) fn solved(&self, constraint: &Constraint<'_>, present: Option<&Literal>) -> Option<(Bound, Literal)> {
        if !matches!(constraint.other, Value::Int(_) | Value::Real(_)) {
            // Of all other strings none is nearer than another.
            if let (BinaryOp::NotEqual | BinaryOp::Isnt, Value::Str(other), true) =
                (constraint.op, constraint.other, self.is_same())
            {
                return (&**other != ANY_STRING.as_bytes()).then(|| (Bound::Any, Literal::Str(ANY_STRING.into())));
            }
            let (bound, off) = bound(constraint.op, constraint.is_left)?;
            // A number that is compared with a string was meant as one.
            if let (Value::Str(_), Some(present), true) = (constraint.other, present, self.is_same()) {
                let quoted = match present {
                    Literal::Int(value) => Some(value.to_string()),
                    Literal::Real(value) => Some(value.to_string()),
                    _ => None,
                };
                let quoted = quoted.map(|text| Literal::Str(text.as_str().into()));
                if let Some(quoted) = quoted.filter(|literal| self.holds(constraint, literal)) {
                    return Some((bound, quoted));
                }
            }
            return constant(constraint.other, off).filter(|_| self.is_same()).map(|literal| (bound, literal));
        }
        let unquoted = match present {
            Some(Literal::Str(text)) => unquoted(text),
            _ => None,
        };
        // What was written in quotation marks by mistake, as a number.
        if let Some(literal) = unquoted.as_ref().filter(|literal| self.holds(constraint, literal)) {
            return Some((bound(constraint.op, constraint.is_left)?.0, literal.clone()));
        }
        let present = unquoted.as_ref().or(present).filter(|literal| number(literal).is_some());
        if present.is_some_and(|literal| self.holds(constraint, literal)) {
            return None;
        }
        let found = self.begun(constraint, present);
        let whole = match present {
            Some(Literal::Real(_)) => None,
            Some(Literal::Int(present)) => self.whole(constraint, Some(*present), found.as_ref()),
            _ => self.whole(constraint, None, found.as_ref()),
        };
        whole.or_else(|| {
            let is_real = matches!(present, Some(Literal::Real(_)));
            let (bound, numbers) = found.filter(|(bound, _)| is_real || *bound == Bound::Exactly)?;
            let around = |number: &f64| match bound {
                Bound::AtMost => [[*number; 2], beyond(*number, false)].concat(),
                Bound::AtLeast => [[*number; 2], beyond(*number, true)].concat(),
                _ => vec![*number],
            };
            let mut reals = numbers.iter().flat_map(around).map(Literal::Real);
            reals.find(|literal| self.holds(constraint, literal)).map(|literal| (bound, literal))
        })
    }

    /// As [`Inversion::solved`], of integers alone.
    fn whole(
        &self,
        constraint: &Constraint<'_>,
        present: Option<i64>,
        found: Option<&(Bound, Numbers)>,
    ) -> Option<(Bound, Literal)> {
        if let (true, Value::Int(other), Some((bound, off))) =
            (self.is_same(), constraint.other, bound(constraint.op, constraint.is_left))
        {
            return other.checked_add(off).map(|value| (bound, Literal::Int(value)));
        }
        let holds = |value: i64| self.holds(constraint, &Literal::Int(value));
        let from = |(bound, numbers): &(Bound, Numbers)| {
            let near = |number: &f64| match bound {
                Bound::AtMost => around(&holds, number.floor() as i64),
                Bound::AtLeast => around(&holds, number.ceil() as i64),
                _ => Some(*number as i64).filter(|value| holds(*value)),
            };
            // At the ends of the range of integers a comparison holds by overflow, if at all.
            let value = numbers.iter().filter(|number| number.abs() < i64::MAX as f64).find_map(near)?;
            Some(match (present, bound) {
                (Some(present), _) => (*bound, toward(&holds, value, present)),
                (None, Bound::AtMost) => (*bound, outward(&holds, value, true)),
                (None, Bound::AtLeast) => (*bound, outward(&holds, value, false)),
                (None, _) => (*bound, value),
            })
        };
        let anywhere = || {
            let present = present.unwrap_or(0);
            let value = nearest(&holds, present)?;
            let bound = match constraint.op {
                BinaryOp::NotEqual | BinaryOp::Isnt => Bound::Exactly,
                _ if value > present => Bound::AtLeast,
                _ => Bound::AtMost,
            };
            Some((bound, value))
        };
        let is_periodic = self.steps.iter().any(|step| matches!(step, Step::Modulo(_)));
        let (bound, value) = found.and_then(from).or_else(|| if is_periodic { None } else { anywhere() })?;
        Some((bound, Literal::Int(value)))
    }

    /// Starting points for the value at the end of the way, by algebra over reals, and the bound there: the first that holds is
    /// the best.
    fn begun(&self, constraint: &Constraint<'_>, present: Option<&Literal>) -> Option<(Bound, Numbers)> {
        let (mut bound, _) = bound(constraint.op, constraint.is_left)?;
        let mut wanted = Numbers::from_iter(constraint.other.as_number());
        let mut beside = constraint.beside.iter();
        for (at, step) in self.steps.iter().enumerate() {
            let mut other = || beside.next().filter(|value| value.as_bytes().is_none())?.as_number();
            let turned = match *step {
                Step::Same => false,
                Step::Minus => {
                    wanted.iter_mut().for_each(|wanted| *wanted = -*wanted);
                    true
                }
                Step::Modulo(up) => {
                    let divisor = other()?;
                    let inner = present.map(|literal| self.seen(Value::from(literal), beside.as_slice(), at + 1));
                    wanted = left_over(&wanted, divisor.abs(), inner.and_then(|value| value.as_number()), up)?;
                    bound = Bound::Exactly;
                    false
                }
                Step::Binary(op, is_left) => {
                    let other = other()?;
                    if other == 0.0 && matches!(op, BinaryOp::Multiply | BinaryOp::Divide) {
                        return None;
                    }
                    let (inverse, turned): (fn(f64, f64) -> f64, bool) = match (op, is_left) {
                        (BinaryOp::Add, _) => (|wanted, other| wanted - other, false),
                        (BinaryOp::Subtract, true) => (|wanted, other| wanted + other, false),
                        (BinaryOp::Subtract, false) => (|wanted, other| other - wanted, true),
                        (BinaryOp::Multiply, _) => (|wanted, other| wanted / other, other < 0.0),
                        (BinaryOp::Divide, true) => (|wanted, other| wanted * other, other < 0.0),
                        (BinaryOp::Divide, false) => (|wanted, other| other / wanted, true),
                        _ => return None,
                    };
                    wanted.iter_mut().for_each(|wanted| *wanted = inverse(*wanted, other));
                    // Of a positive quotient alone it is known which way it goes.
                    if op == BinaryOp::Divide && !is_left {
                        wanted.retain(|wanted| other > 0.0 && *wanted > 0.0);
                    }
                    turned
                }
            };
            bound = match (turned, bound) {
                (true, Bound::AtMost) => Bound::AtLeast,
                (true, Bound::AtLeast) => Bound::AtMost,
                (_, bound) => bound,
            };
        }
        wanted.retain(|wanted| wanted.is_finite());
        (!wanted.is_empty()).then_some((bound, wanted))
    }
}

/// Numbers of which about as much is left as is wanted when they are divided: below the present one or above it, the
/// nearest first.
fn left_over(wanted: &[f64], divisor: f64, present: Option<f64>, up: bool) -> Option<Numbers> {
    if divisor == 0.0 || !divisor.is_finite() {
        return None;
    }
    let from = present.unwrap_or(0.0);
    let base = from - from % divisor;
    let mut found = Numbers::new();
    for wanted in wanted {
        // Strict bounds are beside, and what is too much begins anew at 0.
        for left in [*wanted, wanted - 1.0, wanted + 1.0, 0.0, divisor - 1.0] {
            let around = [base + left, base + left - divisor, base + left + divisor];
            found.extend(around.into_iter().filter(|number| if up { *number > from } else { *number < from }));
        }
    }
    // Without one there is nothing below.
    found.retain(|_| up || present.is_some());
    found.sort_by(|a, b| (a - from).abs().total_cmp(&(b - from).abs()));
    Some(found)
}

/// The number that a string contains.
fn unquoted(text: &[u8]) -> Option<Literal> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let literal = text.parse().map(Literal::Int).or_else(|_| text.parse().map(Literal::Real)).ok()?;
    number(&literal).is_some_and(f64::is_finite).then_some(literal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explain::repair::edit::comparison;
    use classmate::internal::ad::ClassAd;
    use classmate::internal::eval::scope::{EvalOptions, Scope};
    use classmate::internal::syntax::expr::Expr;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    fn parsed(text: &str) -> Expr {
        parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap()
    }

    /// The solutions of a comparison for `q`, on every way to it in its left side.
    fn solved(text: &str, present: Option<&Literal>) -> Vec<Option<(Bound, Literal)>> {
        let (expr, ad, settings) = (parsed(text), ClassAd::new(), EvalOptions::default());
        let tree = expr.tree();
        let (op, left, right) = comparison(tree, expr.root()).unwrap();
        let value = |id: NodeId| Scope::new(&ad, &settings).eval(&expr.part(id)).unwrap();
        let other = value(right);
        let inversions = Inversion::all(tree, left);
        let way = |inversion: &Inversion| {
            let beside: Vec<Value> = inversion.beside.iter().map(|id| value(*id)).collect();
            let beside: Vec<&Value> = beside.iter().collect();
            inversion.solved(&Constraint { op, is_left: true, other: &other, beside: &beside }, present)
        };
        inversions.iter().map(way).collect()
    }

    /// As [`solved`], as texts.
    fn shown(text: &str, present: Option<&Literal>) -> Vec<String> {
        let shown = |(bound, literal): (Bound, Literal)| format!("{bound:?} {:#}", Expr::literal(literal));
        solved(text, present).into_iter().map(|way| way.map(shown).unwrap_or_default()).collect()
    }

    fn integer(text: &str, present: i64) -> Option<i64> {
        match solved(text, Some(&Literal::Int(present))).into_iter().next().flatten() {
            Some((_, Literal::Int(value))) => Some(value),
            None => None,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_stands_around_is_taken_off() {
        assert_eq!(integer("q / 2 <= 10", 100), Some(21)); // 21 / 2 is 10
        assert_eq!(integer("2 / q <= 1", 1), Some(2));
        assert_eq!(integer("q - 3 >= 4", 0), Some(7));
        assert_eq!(integer("3 - q >= 4", 0), Some(-1));
        assert_eq!(integer("-(q * -2) <= 10", 100), Some(5));
        assert_eq!(integer("q * 0 <= -10", 1), None);
        assert_eq!(integer("q / 0 <= 10", 100), None);
        assert_eq!(integer("2 / q <= 0", 1), Some(3));
        assert_eq!(integer("1e300 / (q + 52) < 1", 5), Some(-53)); // not where the sum overflows
        assert_eq!(integer("q * 1.5 < 12", 100), Some(7)); // 7 · 1.5 is 10.5, and 8 · 1.5 is 12
    }

    #[test]
    fn quotients_of_integers_and_strict_bounds_are_kept_to_the_last_integer() {
        assert_eq!(integer("q / 1024 < 2", 4000), Some(2047));
        assert_eq!(integer("q / 2 < 1000", 4000), Some(1999));
        assert_eq!(integer("(q - 100) > 12.5", 0), Some(113));
        assert_eq!(integer("q > 12.5", 0), Some(13));
        assert_eq!(integer("q <= 1638.4", 2000), Some(1638));
        assert_eq!(integer("q / 1024 == 2", 4000), Some(3071));
        assert_eq!(integer("q / -1024 > -2", 4000), Some(2047));
        assert_eq!(integer("q + 9007199254740993 <= 9007199254740994", 5), Some(1));
    }

    #[test]
    fn what_is_left_of_a_division_is_reached_from_both_sides() {
        let both = |text: &str, present: i64| {
            let ways = solved(text, Some(&Literal::Int(present)));
            ways.into_iter().map(|way| way.and_then(|(_, literal)| number(&literal))).collect::<Vec<_>>()
        };
        assert_eq!(both("q % 1024 == 0", 9000), [Some(8192.0), Some(9216.0)]);
        assert_eq!(both("q % 1024 < 10", 9000), [Some(8201.0), Some(9216.0)]);
        assert_eq!(both("(q + 24) % 1024 == 0", 9000), [Some(8168.0), Some(9192.0)]);
        assert_eq!(both("q % 0 == 0", 9000), [None, None]);
        assert_eq!(shown("q % 1024 == 0", None), ["", "Exactly 1024"]);
    }

    #[test]
    fn a_default_and_the_branches_are_gone_through() {
        assert_eq!(shown("(q ?: 0) > 0", None), ["AtLeast 1"]);
        assert_eq!(shown("ifThenElse(isUndefined(q), 0, q) * 2 >= 5", None), ["AtLeast 3"]);
    }

    #[test]
    fn a_real_stays_a_real_and_is_the_next_that_is_written_as_shortly() {
        let real = |text: &str, present: f64| shown(text, Some(&Literal::Real(present)));
        assert_eq!(real("q < 0.5", 2.0), ["AtMost 0.4"]);
        assert_eq!(real("q / 2 > 3", 2.0), ["AtLeast 7.0"]);
        assert_eq!(real("q <= 1.5", 2.0), ["AtMost 1.5"]);
    }

    #[test]
    fn a_number_in_quotation_marks_is_the_number() {
        let text = |text: &str| Some(Literal::Str(text.into()));
        assert_eq!(shown("q / 2 < 4", text(" 6 ").as_ref()), ["AtMost 6"]);
        assert_eq!(shown("q / 2 < 4", text("16").as_ref()), ["AtMost 7"]);
        assert_eq!(shown("q / 2 < 4", text("NaN").as_ref()), ["AtMost 7"]);
    }

    /// Tests if a comparison holds with a value of `q`, by plain evaluation.
    fn is_so(expr: &Expr, literal: &Literal) -> bool {
        let (mut ad, settings) = (ClassAd::new(), EvalOptions::default());
        ad.insert_expr("q", &Expr::literal(literal.clone()));
        Scope::new(&ad, &settings).eval(expr).is_ok_and(|value| matches!(value, Value::Bool(true)))
    }

    fn constant() -> impl Strategy<Value = String> {
        let odd = ["0", "1", "1024", "0.5", "-0.25", "12.5", "1e300", "real(\"NaN\")", "real(\"INF\")", "\"x\""];
        prop_oneof![
            6 => (-60..60_i64).prop_map(|value| value.to_string()),
            3 => (-240..240_i32).prop_map(|value| format!("{:?}", f64::from(value) / 8.0)),
            2 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        ]
    }

    /// A side with `q` in it, and whether it goes one way all along.
    fn side() -> impl Strategy<Value = (String, bool)> {
        let step = (prop::sample::select(vec!["+", "-", "*", "/", "%", "-r", "/r", "neg"]), constant());
        prop::collection::vec(step, 1..4).prop_map(|steps| {
            let one_way = !steps.iter().any(|(op, _)| matches!(*op, "%" | "/r"));
            let text = steps.iter().fold("q".to_owned(), |inner, (op, other)| match *op {
                "-r" => format!("({other} - {inner})"),
                "/r" => format!("({other} / {inner})"),
                "neg" => format!("(-{inner})"),
                op => format!("({inner} {op} {other})"),
            });
            (text, one_way)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

        /// The value makes the comparison true, and the one before it does not: by plain evaluation.
        #[test]
        fn no_nearer_value_would_do(
            ((side, one_way), op, other) in (side(), prop::sample::select(vec!["<", "<=", ">", ">="]), constant()),
            present in -1000..1000_i64,
        ) {
            /// Integers that are looked at around the present one.
            const AROUND: i64 = 3000;
            let text = format!("{side} {op} {other}");
            let expr = parsed(&text);
            let is_so = |value: i64| is_so(&expr, &Literal::Int(value));
            if is_so(present) {
                return Ok(());
            }
            let found = solved(&text, Some(&Literal::Int(present)));
            for (bound, literal) in found.iter().flatten() {
                let Literal::Int(value) = *literal else {
                    prop_assert!(super::tests::is_so(&expr, literal), "{} by {:?}", text, literal);
                    continue;
                };
                prop_assert!(is_so(value), "{} by {}", text, value);
                let before = if value > present { value - 1 } else { value + 1 };
                prop_assert!(!is_so(before), "{} by {} from {}, and {} would do", text, value, present, before);
                let side = if value > present { Bound::AtLeast } else { Bound::AtMost };
                prop_assert!(!one_way || *bound == side, "{} by {:?} {} from {}", text, bound, value, present);
            }
            if one_way {
                let nearest = (1..AROUND).flat_map(|off| [present + off, present - off]).find(|value| is_so(*value));
                let solution = found.iter().flatten().next().and_then(|(_, literal)| number(literal));
                let near = solution.filter(|solution| (solution - present as f64).abs() < AROUND as f64);
                prop_assert_eq!(near, nearest.map(|value| value as f64), "{} from {}", text, present);
            }
        }

        /// One of both ways leads to the nearest value for the remainder of a division.
        #[test]
        fn what_is_left_is_reached_by_the_shortest_way(
            (add, divisor, left) in (-50..50_i64, 1..40_i64, 0..40_i64),
            op in prop::sample::select(vec!["==", "<", "<=", ">", ">="]),
            present in 100..1000_i64,
        ) {
            let text = format!("(q + {add}) % {divisor} {op} {left}");
            let expr = parsed(&text);
            let is_so = |value: i64| is_so(&expr, &Literal::Int(value));
            if is_so(present) {
                return Ok(());
            }
            let nearest = (1..50).find(|off| is_so(present + off) || is_so(present - off));
            let away = |(_, literal): (Bound, Literal)| number(&literal).map(|value| (value as i64 - present).abs());
            let found = solved(&text, Some(&Literal::Int(present))).into_iter().flatten().filter_map(away).min();
            prop_assert_eq!(found.filter(|away| *away < 50), nearest, "{} from {}", text, present);
        }

        /// A real in the result makes the comparison true.
        #[test]
        fn a_real_would_do(
            ((side, _), op, other) in (side(), prop::sample::select(vec!["<", "<=", ">", ">=", "=="]), constant()),
            present in prop::option::of(-100.0..100.0_f64),
        ) {
            let text = format!("{side} {op} {other}");
            for (_, literal) in solved(&text, present.map(Literal::Real).as_ref()).iter().flatten() {
                prop_assert!(is_so(&parsed(&text), literal), "{} by {:?}", text, literal);
            }
        }
    }
}
