//! Evaluation over sets of values.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::HashMap;

use super::compare::{compare, identical, narrowed, narrowed_identical};
use super::facts::Facts;
use super::number::{arithmetic, bitwise, unary};
use super::patterns::is_simple_pattern;
use super::quantities::LARGEST;
use super::values::{Texts, Truths, Values, kind};
use crate::ad::ClassAd;
use crate::builtin;
use crate::eval::scope::{EvalOptions, Limits, Scope};
use crate::name::Name;
use crate::semantics::VersionRule;
use crate::syntax::expr::{Expr, Node, NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::{Reference, View};
use crate::text::Text;
use crate::value::Value;
use crate::value::logic::Truth;

/// Deepest nesting that is followed; what is deeper can be anything.
const MAX_DEPTH: u32 = 120;
/// Maximum number of nodes that are visited for one expression; then everything can be anything.
const MAX_NODES: u32 = 50_000;
/// Maximum number of operands of a chain of conditions whose facts are distinguished.
const MAX_OPERANDS: usize = 256;

/// A string that holds this byte is one of which nothing is known.
pub const OPEN: u8 = 1;

/// The possible values of the references of an expression, whatever is around them.
pub type Base<'a> = &'a dyn Fn(Reference) -> Values;

/// References of which nothing is known.
pub fn unknown(_: Reference) -> Values {
    Values::any()
}

/// The evaluation of the parts of one expression over sets of values.
///
/// ```
/// use classmate::internal::analysis::evaluate::{Analysis, unknown};
/// use classmate::internal::analysis::values::Truths;
/// use classmate::parse_expr;
/// let expr = parse_expr(b"Memory > 10 && Memory < 5")?;
/// let truths = Analysis::new(expr.tree(), &unknown).truths(expr.root());
/// // `false` if the slot has memory, otherwise undefined, or an error: never true.
/// assert!(!truths.has(Truths::TRUE));
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub struct Analysis<'a> {
    tree: &'a Arc<Tree>,
    base: Base<'a>,
    parts: Option<&'a HashMap<NodeId, Values>>,
    left: Cell<u32>,
}

impl<'a> Analysis<'a> {
    /// An analysis of a tree, given what its references can be.
    pub fn new(tree: &'a Arc<Tree>, base: Base<'a>) -> Self {
        Analysis { tree, base, parts: None, left: Cell::new(MAX_NODES) }
    }

    /// The same, where it is also known what some parts can be.
    #[must_use]
    pub fn with_parts(self, parts: &'a HashMap<NodeId, Values>) -> Self {
        Analysis { parts: Some(parts), ..self }
    }

    /// The tree.
    pub fn tree(&self) -> &'a Arc<Tree> {
        self.tree
    }

    /// Begins to count anew: as many nodes may be visited again.
    pub fn renew(&self) {
        self.left.set(MAX_NODES);
    }

    /// Everything that a part can be, whatever the ads are.
    pub fn values(&self, id: NodeId) -> Values {
        self.eval(id, &Facts::default(), 0)
    }

    /// The possible meanings of a part as a condition, for all ads.
    pub fn truths(&self, id: NodeId) -> Truths {
        self.values(id).truths()
    }

    /// Everything that a part can be where some facts hold.
    pub fn values_where(&self, id: NodeId, facts: &Facts) -> Values {
        self.eval(id, facts, 0)
    }

    /// The known values of a reference.
    fn known(&self, reference: Reference, facts: &Facts) -> Values {
        facts.get(reference).cloned().unwrap_or_else(|| (self.base)(reference))
    }

    fn eval(&self, id: NodeId, facts: &Facts, depth: u32) -> Values {
        let left = self.left.get();
        if left == 0 || depth >= MAX_DEPTH {
            return Values::any();
        }
        self.left.set(left - 1);
        let values = self.computed(id, facts, depth + 1);
        match self.parts.and_then(|parts| parts.get(&id)) {
            Some(known) => values.intersection(known),
            None => values,
        }
    }

    fn computed(&self, id: NodeId, facts: &Facts, depth: u32) -> Values {
        if let Some(value) = constant(self.tree, id) {
            return Values::value(&value);
        }
        match self.tree.view(id) {
            View::Reference(reference) => self.known(reference, facts),
            View::Literal(Literal::Str(text)) if text.contains(&OPEN) => Values::any_text(),
            View::Literal(literal) => Values::literal(literal),
            View::Paren(inner) => self.eval(inner, facts, depth),
            View::Not(operand) => not(self.eval(operand, facts, depth).truths()).values(),
            View::Unary(op, operand) => unary(op, &self.eval(operand, facts, depth)),
            View::Logic { op, .. } => self.chain(op, id, facts, depth).values(),
            View::Binary { op: BinaryOp::Default, left, right } => {
                let first = self.eval(left, facts, depth);
                if !first.has(kind::UNDEFINED) {
                    return first;
                }
                first.without(kind::UNDEFINED).union(&self.eval(right, facts, depth))
            }
            View::Compare { op, left, right } | View::Binary { op, left, right } => {
                let (one, two) = (self.eval(left, facts, depth), self.eval(right, facts, depth));
                binary(op, &one, &two)
            }
            View::Choice { condition, yes, no } => self.conditional([condition, yes, no], facts, depth),
            View::Call { name, arguments } => self.call(name, arguments, facts, depth),
            View::List(_) => Values::of_kinds(kind::LIST),
            View::Ad(_) => Values::of_kinds(kind::AD),
            View::AdName(_) | View::Absolute(_) | View::Select { .. } | View::Subscript { .. } => Values::any(),
        }
    }

    fn conditional(&self, [condition, yes, no]: [NodeId; 3], facts: &Facts, depth: u32) -> Values {
        let truths = self.eval(condition, facts, depth).truths();
        let mut result = truths.and(Truths::UNDEFINED.or(Truths::ERROR)).values();
        for (truth, branch) in [(Truths::TRUE, yes), (Truths::FALSE, no)] {
            if truths.has(truth)
                && let Some(facts) = self.where_it_is(condition, truth, facts)
            {
                result = result.union(&self.eval(branch, &facts, depth));
            }
        }
        result
    }

    /// `a && b && …` or `a || b || …`: every operand is evaluated where those before it were true (false).
    fn chain(&self, op: BinaryOp, id: NodeId, facts: &Facts, depth: u32) -> Truths {
        let going = if op == BinaryOp::And { Truths::TRUE } else { Truths::FALSE };
        let operands = self.tree.operands(op, id);
        let mut so_far = going;
        let mut within = facts.clone();
        for (at, operand) in operands.iter().enumerate() {
            let mut next = Truths::NONE;
            if so_far.has(going) {
                next = combined(op, going, self.eval(*operand, &within, depth).truths());
            }
            if so_far.has(Truths::UNDEFINED) {
                let truths = self.eval(*operand, facts, depth).truths();
                next = next.or(combined(op, Truths::UNDEFINED, truths));
            }
            // What decides the chain stays.
            let decided = so_far.0 & !(going.0 | Truths::UNDEFINED.0);
            so_far = next.or(Truths(decided));
            if at < MAX_OPERANDS && so_far.has(going) {
                match self.where_it_is(*operand, going, &within) {
                    Some(facts) => within = facts,
                    None => so_far = Truths(so_far.0 & !going.0),
                }
            }
            if so_far == Truths::NONE {
                break;
            }
        }
        so_far
    }

    /// The facts where a condition is true, false, undefined or an error; `None` if it cannot be that.
    pub fn where_it_is(&self, id: NodeId, outcome: Truths, facts: &Facts) -> Option<Facts> {
        let mut facts = facts.clone();
        let mut open = vec![(id, outcome)];
        let mut steps = 0;
        while let Some((id, outcome)) = open.pop() {
            steps += 1;
            if steps > MAX_OPERANDS {
                break;
            }
            match self.tree.view(id) {
                View::Reference(reference) => {
                    let now = meaning(&self.known(reference, &facts), outcome);
                    learn(&mut facts, reference, now)?;
                }
                View::Paren(inner) => open.push((inner, outcome)),
                View::Not(operand) => open.push((operand, not(outcome))),
                View::Logic { op: BinaryOp::And, left, right } if outcome == Truths::TRUE => {
                    open.extend([(right, outcome), (left, outcome)]);
                }
                View::Logic { op: BinaryOp::Or, left, right } if outcome == Truths::FALSE => {
                    open.extend([(right, outcome), (left, outcome)]);
                }
                View::Compare { op: op @ (BinaryOp::Is | BinaryOp::Isnt), left, right }
                    if matches!(outcome, Truths::TRUE | Truths::FALSE) =>
                {
                    let holds = (op == BinaryOp::Is) == (outcome == Truths::TRUE);
                    for (one, two) in [(left, right), (right, left)] {
                        if let Some(reference) = self.tree.reference(one) {
                            let other = self.eval(two, &facts, 1);
                            let now = narrowed_identical(&self.known(reference, &facts), &other, holds);
                            learn(&mut facts, reference, now)?;
                        }
                    }
                }
                View::Compare { op, left, right } => {
                    for (one, op, two) in [(left, op, right), (right, op.turned(), left)] {
                        if let Some(reference) = self.tree.reference(one) {
                            let other = self.eval(two, &facts, 1);
                            let now = narrowed(op, &self.known(reference, &facts), &other, outcome);
                            learn(&mut facts, reference, now)?;
                        }
                    }
                }
                View::Call { name, arguments: &[argument] } => {
                    if let Some(kinds) = predicate(name.folded())
                        && let Some(reference) = self.tree.reference(argument)
                        && matches!(outcome, Truths::TRUE | Truths::FALSE)
                    {
                        let known = self.known(reference, &facts);
                        let now =
                            if outcome == Truths::TRUE { known.intersection(&kinds) } else { except(&known, &kinds) };
                        learn(&mut facts, reference, now)?;
                    }
                }
                _ => {}
            }
        }
        Some(facts)
    }

    /// The kinds of the value of `regexp`.
    fn pattern_search(&self, arguments: &[NodeId], facts: &Facts, depth: u32) -> u16 {
        let values: Vec<Values> = arguments.iter().map(|id| self.eval(*id, facts, depth)).collect();
        let mut kinds = absent(&values);
        // A pattern can be none, and a search can be given up.
        let is_certain = arguments.first().is_some_and(|id| is_simple_pattern(self.tree, *id));
        if !is_certain || values.iter().any(has_other_than_text) {
            kinds |= kind::ERROR;
        }
        if values.iter().all(Values::has_text) { kinds | kind::TRUE | kind::FALSE } else { kinds }
    }

    /// The kinds of the value of `stringListMember` and `stringListIMember`: one undefined argument is an empty text,
    /// undefined delimiters are the usual ones.
    fn list_search(&self, arguments: &[NodeId], facts: &Facts, depth: u32) -> u16 {
        let values: Vec<Values> = arguments.iter().map(|id| self.eval(*id, facts, depth)).collect();
        let (searched, delimiters) = values.split_at(values.len().min(2));
        let mut kinds = absent(searched) | absent(delimiters) & kind::ERROR;
        if values.iter().any(has_other_than_text) {
            kinds |= kind::ERROR;
        }
        if kinds & kind::UNDEFINED != 0 {
            kinds |= kind::FALSE;
        }
        if searched.iter().all(Values::has_text) { kinds | kind::TRUE | kind::FALSE } else { kinds }
    }

    fn call(&self, name: Name, arguments: &[NodeId], facts: &Facts, depth: u32) -> Values {
        let Some(function) = builtin::find(name) else { return Values::of_kinds(kind::ERROR) };
        if !function.accepts(arguments.len()) {
            // Some functions give up instead.
            return Values::any();
        }
        let spelled = name;
        let name = name.folded();
        if let (Some(kinds), &[argument]) = (predicate(name), arguments) {
            let values = self.eval(argument, facts, depth);
            let mut truths = Truths::NONE;
            if !values.intersection(&kinds).is_empty() {
                truths = truths.or(Truths::TRUE);
            }
            if !except(&values, &kinds).is_empty() {
                truths = truths.or(Truths::FALSE);
            }
            return truths.values();
        }
        if let Some(kinds) = of_absent(name)
            && arguments.iter().any(|id| self.eval(*id, facts, depth) == Values::of_kinds(kind::UNDEFINED))
        {
            return Values::of_kinds(kinds);
        }
        match (name, arguments) {
            (b"regexp", _) => Values::of_kinds(self.pattern_search(arguments, facts, depth)),
            (b"stringlistmember" | b"stringlistimember", _) => {
                Values::of_kinds(self.list_search(arguments, facts, depth))
            }
            (b"debug", &[argument]) => self.eval(argument, facts, depth),
            (b"member" | b"identicalmember" | b"anycompare" | b"allcompare", _) => Values::of_kinds(kind::ALL & 15),
            // Older versions do not know some of them in another spelling.
            _ if !is_known_version_function(self.tree, spelled) => Values::any(),
            (
                b"versioncmp" | b"versionlt" | b"versionle" | b"versioneq" | b"versionge" | b"versiongt",
                &[left, right],
            ) => {
                let sides = [left, right].map(|id| self.eval(id, facts, depth));
                // One that is undefined comes before one that is an error.
                let kinds = (sides[0].kinds | sides[1].kinds) & (kind::UNDEFINED | kind::ERROR);
                let absent = Values::of_kinds(kinds);
                match (sides.iter().all(Values::has_defined), name) {
                    (false, _) => absent,
                    (true, b"versioncmp") => absent.union(&Values::any_int()),
                    (true, _) => absent.union(&Values::of_kinds(kind::TRUE | kind::FALSE)),
                }
            }
            (b"tolower" | b"toupper", &[argument]) => {
                let values = self.eval(argument, facts, depth);
                let turned = |text: &Text| {
                    let bytes = text.as_bytes();
                    let lower = name == b"tolower";
                    Text::from(if lower { bytes.to_ascii_lowercase() } else { bytes.to_ascii_uppercase() })
                };
                let other = Values { texts: Texts::None, ..values.clone() };
                let absent = Values::of_kinds(values.kinds & (kind::UNDEFINED | kind::ERROR));
                let texts = match (&values.texts, other.has_defined()) {
                    (_, true) | (Texts::Any, _) => Texts::Any,
                    (Texts::Exact(texts) | Texts::Folded(texts), _) => Texts::Exact(texts.iter().map(turned).collect()),
                    (Texts::None, false) => Texts::None,
                };
                Values { texts, ..absent }
            }
            (b"int", _) => Values::any_int().with(kind::UNDEFINED | kind::ERROR),
            (b"real", _) => Values::any_real().with(kind::UNDEFINED | kind::ERROR),
            (b"string" | b"strcat" | b"substr", _) => Values::any_text().with(kind::UNDEFINED | kind::ERROR),
            (b"size" | b"stringlistsize", _) => {
                Values { ints: Some((0, i64::MAX)), ..Values::of_kinds(kind::UNDEFINED | kind::ERROR) }
            }
            (b"time", _) => Values { ints: Some((0, LARGEST)), ..Values::none() },
            _ => Values::any(),
        }
    }
}

/// Undefined and error, as far as some values can be that.
fn absent(values: &[Values]) -> u16 {
    values.iter().fold(0, |kinds, values| kinds | values.kinds & (kind::UNDEFINED | kind::ERROR))
}

/// Tests if values can be something defined that is no string.
fn has_other_than_text(values: &Values) -> bool {
    Values { texts: Texts::None, ..values.clone() }.has_defined()
}

/// Tests if the version of a tree knows a function as it is spelled.
pub(super) fn is_known_version_function(tree: &Tree, name: Name) -> bool {
    let is_old = tree.semantics.is_old(VersionRule::VersionCase);
    !is_old || builtin::find(name).is_some_and(|function| builtin::version::is_spelled(function.name, name))
}

/// Functions whose value depends on the zone, on maps and accounts, or on the ads around them, in lower case.
const SURROUNDED: [&[u8]; 17] = [
    b"countmatches",
    b"eval",
    b"evalineachcontext",
    b"getdayofmonth",
    b"getdayofweek",
    b"getdayofyear",
    b"getdays",
    b"gethours",
    b"getminutes",
    b"getmonth",
    b"getseconds",
    b"getyear",
    b"splittime",
    b"unparse",
    b"unresolved",
    b"userhome",
    b"usermap",
];

/// Tests whether the value of a function depends on nothing but its arguments.
pub(super) fn is_self_contained(name: Name) -> bool {
    builtin::find(name).is_some_and(|function| function.pure) && !SURROUNDED.contains(&name.folded())
}

/// Nodes of a constant part that is computed.
const MAX_CONSTANT_NODES: NodeId = 64;

/// The value of a call or an operation on numbers that depends on nothing but what is written; `None` for all others.
fn constant(tree: &Arc<Tree>, id: NodeId) -> Option<Value> {
    match *tree.node(id) {
        Node::Call(_) => {}
        Node::Binary(op, ..) if matches!(op.precedence(), 9 | 10) => {}
        _ => return None,
    }
    let first = tree.first_of(id);
    let written = |part: NodeId| match tree.node(part) {
        Node::Literal(Literal::Str(text)) => !text.contains(&OPEN),
        Node::Literal(_) | Node::Paren(_) | Node::Unary(..) | Node::Binary(..) | Node::List(_) => true,
        Node::Conditional { .. } | Node::Subscript { .. } => true,
        Node::Call(call) => {
            let name = tree.calls[*call as usize].name;
            is_self_contained(name)
        }
        _ => false,
    };
    if id - first > MAX_CONSTANT_NODES || !(first..=id).all(written) {
        return None;
    }
    let limits = Limits { work: 10_000, bytes: 1 << 16, ..Limits::default() };
    let settings = EvalOptions { semantics: tree.semantics, limits, ..EvalOptions::default() };
    Scope::new(&ClassAd::new(), &settings).eval(&Expr::at(Arc::clone(tree), id)).ok()
}

/// Notes what a reference is; `None` if that leaves nothing.
fn learn(facts: &mut Facts, reference: Reference, now: Values) -> Option<()> {
    let empty = now.is_empty();
    facts.set(reference, now);
    (!empty).then_some(())
}

fn binary(op: BinaryOp, left: &Values, right: &Values) -> Values {
    match op {
        BinaryOp::Is => identical(left, right).values(),
        BinaryOp::Isnt => not(identical(left, right)).values(),
        op if op.is_comparison() => compare(op, left, right).values(),
        op if matches!(op.precedence(), 9 | 10) => arithmetic(op, left, right),
        op => bitwise(op, left, right),
    }
}

/// `!truths`
pub fn not(truths: Truths) -> Truths {
    truths.map(Truth::not)
}

/// `left op right` where `left` is what lets the right operand count: what goes on, or undefined.
fn combined(op: BinaryOp, left: Truths, right: Truths) -> Truths {
    match (op, left) {
        (_, left) if left != Truths::UNDEFINED => right,
        (BinaryOp::And, _) => right.map(|right| Truth::Undefined.and(right)),
        _ => right.map(|right| Truth::Undefined.or(right)),
    }
}

/// The values that mean this as a condition.
fn meaning(values: &Values, outcome: Truths) -> Values {
    let zero = Values { ints: Some((0, 0)), reals: Some((0.0, 0.0)), ..Values::of_kinds(kind::FALSE) };
    match outcome {
        Truths::TRUE => {
            let mut values = values.intersection(&numbers()).without(kind::FALSE);
            values.ints = values.ints.and_then(|(low, high)| match (low == 0, high == 0) {
                (true, true) => None,
                (true, false) => Some((1, high)),
                (false, true) => Some((low, -1)),
                _ => Some((low, high)),
            });
            values.reals = values.reals.filter(|(low, high)| *low != 0.0 || *high != 0.0);
            values
        }
        Truths::FALSE => values.intersection(&zero),
        Truths::UNDEFINED => values.intersection(&Values::of_kinds(kind::UNDEFINED)),
        _ => except(&values.clone().without(kind::UNDEFINED), &numbers()),
    }
}

/// Booleans, integers and reals.
fn numbers() -> Values {
    Values { kinds: kind::TRUE | kind::FALSE | kind::NAN, texts: Texts::None, ..Values::any() }
}

/// The part of a set without the values of others, each of which has all of its kind.
fn except(values: &Values, others: &Values) -> Values {
    Values {
        kinds: values.kinds & !others.kinds,
        ints: values.ints.filter(|_| others.ints.is_none()),
        reals: values.reals.filter(|_| others.reals.is_none()),
        texts: if others.has_text() { Texts::None } else { values.texts.clone() },
    }
}

/// The possible values of a function one of whose arguments is undefined: undefined or an error, never an answer. Not
/// those of string lists: for them one undefined argument is an empty text.
fn of_absent(name: &[u8]) -> Option<u16> {
    match name {
        b"member" | b"regexpmember" => Some(kind::UNDEFINED | kind::ERROR),
        _ => None,
    }
}

/// The types that a predicate such as `isString` asks for.
fn predicate(name: &[u8]) -> Option<Values> {
    Some(match name {
        b"isundefined" => Values::of_kinds(kind::UNDEFINED),
        b"iserror" => Values::of_kinds(kind::ERROR),
        b"isboolean" => Values::of_kinds(kind::TRUE | kind::FALSE),
        b"islist" => Values::of_kinds(kind::LIST),
        b"isclassad" => Values::of_kinds(kind::AD),
        b"isabstime" => Values::of_kinds(kind::ABS_TIME),
        b"isreltime" => Values::of_kinds(kind::REL_TIME),
        b"isinteger" => Values::any_int(),
        b"isreal" => Values::any_real(),
        b"isstring" => Values::any_text(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn truths(text: &str) -> Truths {
        let expr = parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap();
        Analysis::new(expr.tree(), &unknown).truths(expr.root())
    }

    #[test]
    fn what_contradicts_itself_is_never_true() {
        for text in [
            "Memory > 10 && Memory < 5",
            "x == 1 && x == 2",
            "Arch == \"X86_64\" && Cpus > 1 && Arch == \"INTEL\"",
            "isUndefined(x) && x > 1",
            "x =?= undefined && x == 3",
            "!(x >= 5) && x > 7",
            "1 > x && x > 1",
            "MY.x < 3 && (y == 1 && MY.x >= 3)",
        ] {
            assert!(!truths(text).has(Truths::TRUE), "{text}");
        }
        for text in ["x > 10 && y < 5", "MY.x > 10 && TARGET.x < 5", "x != 1 && x > 0", "x == \"a\" && x == \"A\""] {
            assert!(truths(text).has(Truths::TRUE), "{text}");
        }
    }

    #[test]
    fn what_does_not_depend_on_the_ads_is_known() {
        assert_eq!(truths("true || x"), Truths::TRUE);
        assert_eq!(truths("x || true"), Truths::TRUE.or(Truths::ERROR));
        assert_eq!(truths("\"a\" > 5"), Truths::ERROR);
        assert_eq!(truths("x == undefined"), Truths::UNDEFINED.or(Truths::ERROR));
        assert_eq!(truths("(x > 1) & (y > 2)").and(Truths::TRUE.or(Truths::FALSE)), Truths::NONE);
        assert_eq!(truths("1 =?= 1.0"), Truths::FALSE);
        assert_eq!(truths("isUndefined(x > 1 && y =?= 2)"), truths("z =?= 1"));
        assert_eq!(truths("nosuch(1)"), Truths::ERROR);
    }

    #[test]
    fn deep_and_long_expressions_end_soon() {
        let deep = "(".repeat(150) + "x" + &")".repeat(150);
        assert_eq!(truths(&deep), Truths(15));
        let long = vec!["x > 1 || y"; 20_000].join(" && ");
        assert!(truths(&long).has(Truths::TRUE));
        let twisted = (0..60).fold("x".to_owned(), |text, at| format!("(a{at} && {text} || b{at})"));
        assert!(truths(&twisted).has(Truths::TRUE));
    }
}
