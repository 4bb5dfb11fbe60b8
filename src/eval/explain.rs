//! The references and operations that made a value undefined or an error.
//!
//! In: an expression whose value is undefined or error, or whose evaluation failed. Out: the parts responsible, with
//! the attributes that lead there.

use std::fmt;

use crate::ad::ClassAd;
use crate::builtin::near::{allowance, distance};
use crate::builtin::reason::reason;
use crate::builtin::{self, Function};
use crate::eval::EvalError;
use crate::eval::scope::Scope;
use crate::eval::walk::{AdSide, Spot, Target, Via, Walk};
use crate::name::{Name, known};
use crate::plural::counted;
use crate::semantics::{Semantics, VersionRule};
use crate::syntax::expr::{CallSite, Expr, Node, NodeId, base_of};
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::{Type, Value};

/// Maximum number of causes of one value.
const MAX_CAUSES: usize = 5;

/// Attributes that are followed into an evaluation that goes too deep.
const MAX_PATH: usize = 3;

/// Maximum number of parts that are considered.
const MAX_STEPS: usize = 10_000;

/// Reasons for the value of a part.
#[derive(Clone, Debug)]
pub enum Reason {
    /// No ad in sight has the attribute.
    Missing {
        /// True if the other side was searched too.
        both: bool,
    },
    /// A certain ad does not have the attribute.
    MissingIn(AdSide),
    /// There is no ad on the other side.
    NoTarget,
    /// It is written so.
    Written(Type),
    /// The attribute leads back to itself.
    Circular,
    /// An attribute of something that is no ad.
    NotAnAd(Type),
    /// An operator that does not work on these types.
    Operands(&'static str, Vec<Type>),
    /// A condition that is neither true nor false.
    NotACondition(Type),
    /// `x / 0`
    DivisionByZero,
    /// A result that is too large.
    OutOfRange(&'static str),
    /// `list[n]` behind the end of a list, with the length of the list.
    Index(Option<i64>, usize),
    /// A call of a function that does not exist.
    UnknownFunction,
    /// A call with too few or too many arguments.
    ArgumentCount(&'static Function, usize),
    /// A function's answer to these arguments.
    Function(&'static Function, Vec<Value>, Type),
    /// A problem with the contents of an argument of a function.
    Argument(&'static Function, String),
    /// The evaluation was abandoned.
    Failed(EvalError),
}

/// A part that made a value undefined or an error.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The attributes that lead to the part, outermost first.
    pub path: Vec<Via>,
    /// The part.
    pub part: Expr,
    /// The reason.
    pub reason: Reason,
    /// An attribute of a similar name that exists.
    pub similar: Option<(Name, AdSide)>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe("MY", "TARGET"))
    }
}

impl Cause {
    /// The cause for people, with names for the ad of the scope and for the one on the other side.
    pub fn describe(&self, my: &str, target: &str) -> String {
        let ad = |side: AdSide| called(side, my, target);
        let path: String = self.path.iter().map(|via| format!("in `{}` of {}: ", via.name, ad(via.side))).collect();
        let part = shortened(self.part.to_string().trim_start());
        let why = match &self.reason {
            Reason::Missing { both: true } => format!("neither {my} nor {target} defines `{part}`"),
            Reason::Missing { both: false } => format!("{my} does not define `{part}`"),
            Reason::MissingIn(side) => format!("{} does not define `{part}`", ad(*side)),
            Reason::NoTarget => format!("`{part}` requires a TARGET ad"),
            Reason::Written(kind) => match (part.as_str(), kind) {
                ("undefined", Type::Undefined) | ("error", Type::Error) => format!("`{part}` is written as a literal"),
                _ => format!("`{part}` is written as {}", kind.as_str()),
            },
            Reason::Circular => format!("`{part}` is a circular reference"),
            Reason::NotAnAd(kind) => format!("`{part}` selects an attribute of {}", with_article(*kind)),
            Reason::Operands(op, kinds) => {
                let kinds: Vec<String> = kinds.iter().map(|kind| with_article(*kind)).collect();
                format!("in `{part}`, `{op}` does not work on {}", kinds.join(" and "))
            }
            Reason::NotACondition(kind) => format!("in `{part}`, {} is not a condition", with_article(*kind)),
            Reason::DivisionByZero => format!("`{part}` divides by zero"),
            Reason::OutOfRange(op) => format!("in `{part}`, the result of `{op}` is out of range"),
            Reason::Index(Some(index), len) => {
                let elements = counted(*len, "element");
                format!("in `{part}`, index {index} is out of range: the list has {elements}, counted from 0")
            }
            Reason::Index(None, _) => format!("`{part}` uses an index of the wrong type"),
            Reason::UnknownFunction => {
                let name = part.split('(').next().unwrap_or_default().trim_end();
                format!("in `{part}`, function `{name}` does not exist")
            }
            Reason::ArgumentCount(function, count) => {
                format!("in `{part}`, `{}` does not take {}", function.name, counted(*count, "argument"))
            }
            Reason::Function(function, arguments, kind) => {
                let arguments: Vec<String> = arguments.iter().map(described).collect();
                let works = match (arguments.as_slice(), kind) {
                    ([], _) => format!("is {}", kind.as_str()),
                    (arguments, Type::Undefined) => format!("is undefined for {}", arguments.join(" and ")),
                    (arguments, _) => format!("does not work on {}", arguments.join(" and ")),
                };
                format!("in `{part}`, `{}` {works}", function.name)
            }
            Reason::Argument(_, why) => format!("in `{part}`, {why}"),
            Reason::Failed(failed) => format!("in `{part}`, {failed}"),
        };
        path + &why
    }

    /// A suggestion, if there is one; names as in [`Cause::describe`].
    pub fn help(&self, my: &str, target: &str) -> Option<String> {
        if let Some((name, side)) = self.similar {
            return Some(format!("did you mean `{name}` of {}?", called(side, my, target)));
        }
        match &self.reason {
            Reason::Operands("+", kinds) if kinds.contains(&Type::Str) => {
                Some("`strcat(a, b)` joins strings".to_owned())
            }
            Reason::ArgumentCount(function, _) | Reason::Function(function, ..) => {
                Some(format!("write `{}`", function.signature))
            }
            _ => None,
        }
    }
}

fn called<'n>(side: AdSide, my: &'n str, target: &'n str) -> &'n str {
    match side {
        AdSide::My => my,
        AdSide::Target => target,
        AdSide::Inner => side.as_str(),
    }
}

fn with_article(kind: Type) -> String {
    match kind {
        Type::Undefined | Type::Error => kind.as_str().to_owned(),
        Type::Int | Type::AbsTime => format!("an {}", kind.as_str()),
        Type::Ad => "an ad".to_owned(),
        _ => format!("a {}", kind.as_str()),
    }
}

/// A value as an argument: what it is, and its text if that says more.
fn described(value: &Value) -> String {
    match value.type_of() {
        kind @ (Type::Undefined | Type::Error | Type::Ad) => with_article(kind),
        kind => format!("the {} `{}`", kind.as_str(), shortened(&value.to_string())),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// The kinds of outcome that need an explanation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bad {
    Undefined,
    Error,
    Failed,
}

impl Bad {
    /// The type of the value that needs an explanation.
    fn kind(self) -> Type {
        if self == Bad::Undefined { Type::Undefined } else { Type::Error }
    }
}

fn bad(outcome: &Result<Value, EvalError>) -> Option<Bad> {
    match outcome {
        Ok(Value::Undefined) => Some(Bad::Undefined),
        Ok(Value::Error) => Some(Bad::Error),
        Ok(_) => None,
        Err(_) => Some(Bad::Failed),
    }
}

/// The parts that made the value of an expression undefined or an error, at most five; empty for other values.
///
/// ```
/// use classmate::ClassAd;
/// use classmate::internal::eval::explain::explain;
/// use classmate::{Scope, EvalOptions};
/// let ad = ClassAd::parse(b"[ Memory = 2048; Big = Memry > 1024 ]")?;
/// let settings = EvalOptions::default();
/// let causes = explain(Scope::new(&ad, &settings), &ad.get("Big").unwrap());
/// assert_eq!(causes[0].to_string(), "MY does not define `Memry`");
/// assert_eq!(causes[0].help("MY", "TARGET").unwrap(), "did you mean `Memory` of MY?");
/// # Ok::<(), classmate::internal::error::SyntaxError>(())
/// ```
pub fn explain(scope: Scope<'_>, expr: &Expr) -> Vec<Cause> {
    let mut walk = Walk::new(scope);
    let start = walk.start(expr);
    explain_at(&mut walk, &start)
}

/// As [`explain`], for a part of a walk.
pub(crate) fn explain_at(walk: &mut Walk<'_>, spot: &Spot) -> Vec<Cause> {
    let mut search = CauseSearch { walk, causes: Vec::new(), waiting: Vec::new() };
    search.run(spot.clone());
    search.causes
}

struct CauseSearch<'w, 'a> {
    walk: &'w mut Walk<'a>,
    causes: Vec<Cause>,
    waiting: Vec<Spot>,
}

impl CauseSearch<'_, '_> {
    fn run(&mut self, start: Spot) {
        self.waiting.push(start);
        let mut steps = 0;
        while let Some(spot) = self.waiting.pop() {
            steps += 1;
            if self.causes.len() >= MAX_CAUSES || steps > MAX_STEPS || self.walk.exhausted() {
                return;
            }
            let outcome = self.walk.value(&spot);
            let Some(class) = bad(&outcome) else { continue };
            match outcome {
                Err(failed @ (EvalError::Work(_) | EvalError::Memory(_))) => self.blame(&spot, Reason::Failed(failed)),
                // What goes too deep does so all the way down.
                Err(failed @ EvalError::Depth(_)) if spot.path.len() >= MAX_PATH => {
                    self.blame(&spot, Reason::Failed(failed));
                }
                _ => self.look(&spot, class),
            }
        }
    }

    fn blame(&mut self, spot: &Spot, reason: Reason) {
        let part = spot.expr();
        let same = |known: &Cause| known.part.same_as(&part) && known.path == spot.path;
        if self.causes.iter().any(same) {
            return;
        }
        let similar = match &reason {
            Reason::Missing { .. } => self.similar(&part, &[AdSide::My, AdSide::Target]),
            Reason::MissingIn(side) => self.similar(&part, &[*side]),
            _ => None,
        };
        self.causes.push(Cause { path: spot.path.clone(), part, reason, similar });
    }

    /// The attribute whose name is nearest to that of a reference.
    fn similar(&mut self, part: &Expr, sides: &[AdSide]) -> Option<(Name, AdSide)> {
        let (Node::Attr(name) | Node::Select(name) | Node::Absolute(name)) = part.node() else { return None };
        let wanted = name.as_bytes();
        let names = sides.iter().filter_map(|side| self.walk.ad(*side)).map(ClassAd::len).sum();
        if !self.walk.may_compare(names) {
            return None;
        }
        let mut best: Option<(usize, Name, AdSide)> = None;
        for side in sides {
            for known in self.walk.ad(*side).iter().flat_map(|ad| ad.names()).filter(|_| wanted.len() > 2) {
                let edits = distance(wanted, known.as_bytes(), allowance(wanted));
                if let Some(edits) = edits.filter(|edits| best.is_none_or(|(least, ..)| *edits < least)) {
                    best = Some((edits, known, *side));
                }
            }
        }
        best.map(|(_, name, side)| (name, side))
    }

    /// Looks for the part of a part that is to blame.
    fn look(&mut self, spot: &Spot, class: Bad) {
        match *spot.node() {
            Node::Literal(_) => self.blame(spot, Reason::Written(class.kind())),
            Node::Attr(_) | Node::Absolute(_) | Node::Select(_) => self.reference(spot, class),
            Node::List(_) | Node::Ad(_) => {}
            Node::Unary(op, operand) => self.unary(spot, class, op, operand),
            Node::Call(call) => self.call(spot, class, spot.tree.calls[call as usize]),
            _ => {
                let parts = self.evaluated(spot);
                if !self.descend(&parts, class) {
                    self.own(spot, class, &parts);
                }
            }
        }
    }

    fn evaluated(&mut self, spot: &Spot) -> Vec<(Spot, Result<Value, EvalError>)> {
        let mut evaluated = Vec::new();
        for (spot, _) in self.walk.children(spot).into_iter().filter(|(_, is_evaluated)| *is_evaluated) {
            let value = self.walk.value(&spot);
            evaluated.push((spot, value));
        }
        evaluated
    }

    /// Goes on to the parts that are as bad as the whole: the first error, or everything undefined.
    fn descend(&mut self, parts: &[(Spot, Result<Value, EvalError>)], class: Bad) -> bool {
        let most = if class == Bad::Undefined { MAX_CAUSES } else { 1 };
        let found = parts.iter().filter(|(_, value)| bad(value) == Some(class)).take(most);
        let found: Vec<Spot> = found.map(|(spot, _)| spot.clone()).collect();
        let any = !found.is_empty();
        self.waiting.extend(found.into_iter().rev());
        any
    }

    /// The part itself is to blame.
    fn own(&mut self, spot: &Spot, class: Bad, parts: &[(Spot, Result<Value, EvalError>)]) {
        if class == Bad::Failed {
            if let Err(failed) = self.walk.value(spot) {
                self.blame(spot, Reason::Failed(failed));
            }
            return;
        }
        let values: Vec<&Value> = parts.iter().filter_map(|(_, value)| value.as_ref().ok()).collect();
        let kinds: Vec<Type> = values.iter().map(|value| value.type_of()).collect();
        let reason = match (spot.node(), values.as_slice()) {
            (Node::Binary(BinaryOp::And | BinaryOp::Or, ..) | Node::Conditional { .. }, values) => {
                let wrong = values.iter().find(|value| value.as_condition().is_none() && !value.is_undefined());
                Reason::NotACondition(wrong.map_or(Type::Error, |value| value.type_of()))
            }
            (Node::Binary(BinaryOp::Divide | BinaryOp::Modulo, ..), [_, Value::Int(0)])
            | (Node::Binary(BinaryOp::Divide, ..), [_, Value::Real(0.0)]) => Reason::DivisionByZero,
            (Node::Binary(op, ..), _)
                if matches!(op.precedence(), 9 | 10) && all_numbers(&kinds) && *op != BinaryOp::Modulo =>
            {
                Reason::OutOfRange(op.symbol())
            }
            (Node::Binary(op, ..), _) => Reason::Operands(op.symbol(), kinds),
            (Node::Subscript { .. }, [Value::List(list), Value::Int(index)]) => Reason::Index(Some(*index), list.len()),
            (Node::Subscript { .. }, [Value::Ad(_), Value::Str(_)]) => Reason::MissingIn(AdSide::Inner),
            (Node::Subscript { .. }, _) => Reason::Index(None, 0),
            _ => return,
        };
        self.blame(spot, reason);
    }

    fn unary(&mut self, spot: &Spot, class: Bad, op: UnaryOp, operand: NodeId) {
        let operand = spot.part(operand);
        match self.walk.value(&operand) {
            value if bad(&value) == Some(class) => self.waiting.push(operand),
            Ok(value) => self.blame(spot, Reason::Operands(op.as_str(), vec![value.type_of()])),
            Err(failed) => self.blame(spot, Reason::Failed(failed)),
        }
    }

    fn reference(&mut self, spot: &Spot, class: Bad) {
        if let Node::Select(_) = spot.node() {
            let base = spot.part(base_of(spot.id));
            match self.walk.value(&base) {
                value if bad(&value) == Some(class) => return self.waiting.push(base),
                Ok(value) if !matches!(value, Value::Ad(_) | Value::List(_)) => {
                    return self.blame(spot, Reason::NotAnAd(value.type_of()));
                }
                _ => {}
            }
        }
        match self.walk.target(spot) {
            Ok(Some((Target::Missing, side))) => {
                let reason = self.missing(spot, side);
                self.blame(spot, reason);
            }
            Ok(Some((Target::Value, _))) => self.blame(spot, Reason::Written(class.kind())),
            Ok(Some((Target::Circular, _))) => self.blame(spot, Reason::Circular),
            Ok(Some((Target::Expr(target), _))) => self.waiting.push(target),
            Ok(None) => {}
            Err(failed) => self.blame(spot, Reason::Failed(failed)),
        }
    }

    fn missing(&mut self, spot: &Spot, side: AdSide) -> Reason {
        let scope = self.walk.scope();
        match spot.node() {
            Node::Attr(name) if scope.target.is_none() && matches!(name.key(), known::TARGET | known::OTHER) => {
                Reason::NoTarget
            }
            Node::Attr(_) => Reason::Missing { both: scope.target.is_some() },
            Node::Select(_) => match spot.tree.node(base_of(spot.id)) {
                Node::Attr(name) if matches!(name.key(), known::MY) => Reason::MissingIn(my_side(spot)),
                Node::Attr(name) if matches!(name.key(), known::TARGET | known::OTHER) => {
                    Reason::MissingIn(match my_side(spot) {
                        AdSide::Target => AdSide::My,
                        _ => AdSide::Target,
                    })
                }
                _ => Reason::MissingIn(AdSide::Inner),
            },
            _ => Reason::MissingIn(side),
        }
    }

    fn call(&mut self, spot: &Spot, class: Bad, site: CallSite) {
        let Some(function) = builtin::find(site.name) else { return self.blame(spot, Reason::UnknownFunction) };
        let count = site.arguments.len as usize;
        if !function.accepts(count) {
            return self.blame(spot, Reason::ArgumentCount(function, count));
        }
        let parts = self.evaluated(spot);
        if self.descend(&parts, class) {
            return;
        }
        if class == Bad::Failed {
            return self.own(spot, class, &parts);
        }
        let arguments = parts.iter().filter_map(|(_, value)| value.clone().ok()).take(6);
        let arguments: Vec<Value> = arguments.map(|value| self.walk.released(value)).collect();
        // An undefined argument that made an error is worth its own explanation.
        if class == Bad::Error {
            self.descend(&parts, Bad::Undefined);
        }
        let settings = self.walk.scope().settings;
        let is_old = |semantics: Semantics| semantics.is_old(VersionRule::VersionCase);
        let own = if settings.semantics.is_advertised() { spot.tree.semantics } else { settings.semantics };
        let other_case = (is_old(own) && !builtin::version::is_spelled(function.name, site.name))
            .then(|| format!("HTCondor before 25.13 knows only the spelling `{}`", function.name));
        let reason = match other_case.or_else(|| reason(function, &arguments, settings)) {
            Some(why) => Reason::Argument(function, why),
            None => Reason::Function(function, arguments, class.kind()),
        };
        self.blame(spot, reason);
    }
}

/// The side that `MY` is for a part.
fn my_side(spot: &Spot) -> AdSide {
    spot.path.last().map_or(AdSide::My, |via| via.side)
}

fn all_numbers(kinds: &[Type]) -> bool {
    kinds.iter().all(|kind| matches!(kind, Type::Bool | Type::Int | Type::Real))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::EvalOptions;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn causes(my: &str, target: Option<&str>, expr: &str) -> Vec<String> {
        let settings = EvalOptions::default();
        let my = ClassAd::parse(my.as_bytes()).unwrap();
        let target = target.map(|target| ClassAd::parse(target.as_bytes()).unwrap());
        let expr = parse_expr(expr.as_bytes(), &ParseOptions::default()).unwrap();
        let scope = Scope::new(&my, &settings);
        let scope = target.as_ref().map_or(scope, |target| scope.with_target(target));
        explain(scope, &expr).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_defined_value_needs_no_explanation() {
        assert!(causes("[]", None, "1 + 1").is_empty());
        assert!(causes("[]", None, "nosuch =?= undefined").is_empty());
    }

    #[test]
    fn a_spelling_that_a_version_does_not_know_is_told() {
        let settings = EvalOptions { semantics: "25.12".parse().unwrap(), ..EvalOptions::default() };
        let (ad, expr) = (ClassAd::new(), crate::parse_expr(b"versiongt(\"2\", \"1\")").unwrap());
        let causes = explain(Scope::new(&ad, &settings), &expr);
        let told: Vec<String> = causes.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["in `versiongt(\"2\",\"1\")`, HTCondor before 25.13 knows only the spelling `versionGT`"]);
    }

    #[test]
    fn all_missing_operands_are_named() {
        assert_eq!(
            causes("[]", Some("[]"), "a > 1 && TARGET.b > 2"),
            ["neither MY nor TARGET defines `a`", "TARGET does not define `TARGET.b`"]
        );
    }

    #[test]
    fn the_way_through_attributes_is_told() {
        assert_eq!(
            causes("[ a = b + 1; b = c * 2; c = \"x\" ]", None, "a"),
            ["in `a` of MY: in `b` of MY: in `c * 2`, `*` does not work on a string and an integer"]
        );
    }

    #[test]
    fn a_target_that_is_not_there_is_named() {
        assert_eq!(causes("[]", None, "TARGET.Memory > 1"), ["`TARGET` requires a TARGET ad"]);
    }

    #[test]
    fn sides_are_those_of_the_ad_that_has_the_attribute() {
        // Inside START of the target, TARGET is me.
        assert_eq!(
            causes("[]", Some("[ START = TARGET.Owner == \"ada\" ]"), "TARGET.START"),
            ["in `START` of TARGET: MY does not define `TARGET.Owner`"]
        );
    }

    #[test]
    fn operations_give_their_own_reasons() {
        for (expr, reason) in [
            ("1 / 0", "`1 / 0` divides by zero"),
            ("\"a\" + 1", "in `\"a\" + 1`, `+` does not work on a string and an integer"),
            ("{ 1 }[3]", "in `{ 1 }[3]`, index 3 is out of range: the list has 1 element, counted from 0"),
            ("\"a\" || true", "in `\"a\" || true`, a string is not a condition"),
            ("nosuch(1)", "in `nosuch(1)`, function `nosuch` does not exist"),
            ("floor(1, 2)", "in `floor(1,2)`, `floor` does not take 2 arguments"),
            (
                "regexp(\"[a\", \"b\")",
                "in `regexp(\"[a\",\"b\")`, the pattern is not valid: missing terminating ] for character class at offset 2",
            ),
            ("eval(\"1 +\")", "in `eval(\"1 +\")`, the string does not parse: expected an expression, found the end"),
            ("userMap(\"m\", \"joe\")", "in `userMap(\"m\",\"joe\")`, user map `m` does not exist"),
            ("size(1)", "in `size(1)`, `size` does not work on the integer `1`"),
            (
                "substr(\"a\", {1})",
                "in `substr(\"a\",{ 1 })`, `substr` does not work on the string `\"a\"` and the list `{ 1 }`",
            ),
            ("!\"a\"", "in `!\"a\"`, `!` does not work on a string"),
            ("(1).x", "`(1).x` selects an attribute of an integer"),
            ("1 + error", "`error` is written as a literal"),
            ("1.0e308 * 10", "in `1.000000000000000E+308 * 10`, the result of `*` is out of range"),
        ] {
            assert_eq!(causes("[]", None, expr), [reason], "{expr}");
        }
    }

    #[test]
    fn circles_are_named() {
        assert_eq!(causes("[ a = b; b = a ]", None, "a"), ["in `a` of MY: in `b` of MY: `a` is a circular reference"]);
    }

    #[test]
    fn an_evaluation_without_end_is_not_explained_for_ever() {
        let links: String = (0..40).map(|at| format!("a{at} = a{} + a{}; ", at + 1, at + 1)).collect();
        let causes = causes(&format!("[ {links} ]"), None, "a0");
        assert!(causes.len() <= MAX_CAUSES, "{causes:?}");
    }
}
