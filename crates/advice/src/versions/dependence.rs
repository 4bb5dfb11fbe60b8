//! Parts of an expression that have another value in another version, although all versions read the same tree.
//!
//! In: an expression and versions. Out: a call or condition whose value differs for some values of what it refers to, with these values.
//! An operand that is no constant may have any value that its kind allows, so that nothing else in the expression matters.

use classmate::internal::builtin;
use classmate::internal::semantics::VersionRule;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::{BinaryOp, UnaryOp};
use classmate::{ClassAd, EvalOptions, Expr, Mode, Scope, Semantics, Value, parse_expr};

use super::defects::is_call;

/// Functions that use a value in another way in another version.
const FUNCTIONS: [&str; 13] = [
    "eval",
    "int",
    "real",
    "floor",
    "ceil",
    "ceiling",
    "round",
    "pow",
    "quantize",
    "interval",
    "formatTime",
    "splitTime",
    "stringList_regexpMember",
];

/// Functions whose value is a number or a boolean, if not undefined.
const NUMERIC: [&str; 15] = [
    "int",
    "real",
    "floor",
    "ceil",
    "ceiling",
    "round",
    "pow",
    "random",
    "time",
    "currentTime",
    "sum",
    "avg",
    "dayTime",
    "stringListSum",
    "stringListAvg",
];

/// Functions whose value is a boolean or a small number, if not undefined.
const SMALL: [&str; 26] = [
    "bool",
    "size",
    "timeZoneOffset",
    "strcmp",
    "stricmp",
    "versioncmp",
    "versionLT",
    "versionLE",
    "versionEQ",
    "versionGE",
    "versionGT",
    "version_in_range",
    "member",
    "identicalMember",
    "anyCompare",
    "allCompare",
    "regexp",
    "regexpMember",
    "stringListSize",
    "stringListMember",
    "stringListIMember",
    "stringListSubsetMatch",
    "stringListISubsetMatch",
    "stringList_regexpMember",
    "stringListsIntersect",
    "countMatches",
];

/// Functions whose value is always a boolean.
const TESTS: [&str; 9] =
    ["isUndefined", "isError", "isString", "isInteger", "isReal", "isBoolean", "isList", "isClassAd", "isAbsTime"];

/// Functions whose value is a string, if not undefined.
const TEXTUAL: [&str; 11] = [
    "string",
    "strcat",
    "join",
    "substr",
    "toUpper",
    "toLower",
    "unparse",
    "formatTime",
    "interval",
    "replace",
    "replaceAll",
];

/// The values that a part can have beside booleans, small numbers and errors.
#[derive(Clone, Copy)]
struct ValueKinds {
    texts: bool,
    large_numbers: bool,
    undefined: bool,
}

impl ValueKinds {
    const ALL: Self = ValueKinds { texts: true, large_numbers: true, undefined: true };
    const NONE: Self = ValueKinds { texts: false, large_numbers: false, undefined: false };
    const SMALL: Self = ValueKinds { undefined: true, ..Self::NONE };
    const NUMBERS: Self = ValueKinds { large_numbers: true, ..Self::SMALL };
    const TEXTS: Self = ValueKinds { texts: true, ..Self::SMALL };

    fn or(self, other: Self) -> Self {
        ValueKinds {
            texts: self.texts || other.texts,
            large_numbers: self.large_numbers || other.large_numbers,
            undefined: self.undefined || other.undefined,
        }
    }

    fn allow(self, value: &Value) -> bool {
        match value {
            Value::Str(_) => self.texts,
            Value::Int(number) => self.large_numbers || i32::try_from(*number).is_ok(),
            Value::Undefined => self.undefined,
            _ => true,
        }
    }
}

/// Texts whose value differs between the versions on both sides of a boundary, if `eval` reads them.
const TEXTS: [&str; 12] = [
    "10K",
    "9223372036854775808",
    "010",
    "1 ?: 2 + 3",
    "1 ? : 2 + 3",
    "relTime(\"1:30\")",
    "{absTime(\"bad\")}",
    "versiongt(\"2\", \"1\")",
    "formatTime(4294967297)",
    "splitTime(undefined)",
    "1 && true",
    "stringList_regexpMember(\"[\", \"\")",
];

/// Values that functions use in another way in another version, beside plain ones.
pub(super) fn telling() -> Vec<Value> {
    // The last one is the real that versions make of `relTime("1:30")`.
    let numbers = [1.into(), 4_294_967_297_i64.into(), true.into(), Value::Undefined, 90.0.into()];
    // Of the second one, `floor` makes 512 with the suffix, and 0 without.
    let texts = ["10K", "0.5K", "[", "", "x"].iter().chain(&TEXTS[1..]).map(|text| Value::from(*text));
    numbers.into_iter().chain(texts).collect()
}

/// Levels of an expression beyond which a limit of its depth may matter: 400 steps, of which a level takes two at most.
const MAX_LEVELS: usize = 190;

/// Tests whether the value of an expression that two versions read alike may differ between them.
pub(super) fn may_differ(expr: &Expr, versions: [Semantics; 2], settings: &EvalOptions) -> bool {
    may_reach_limit(expr, versions) || dependent(expr, &versions, settings).is_some()
}

/// Tests whether an expression may be too deep for one of two versions alone.
pub(super) fn may_reach_limit(expr: &Expr, versions: [Semantics; 2]) -> bool {
    let is_limit = |rule: VersionRule| matches!(rule, VersionRule::DepthReference | VersionRule::DepthOperators);
    versions[0].differences(versions[1]).any(|change| is_limit(change.rule)) && levels(expr.tree()) > MAX_LEVELS
}

/// The levels of parts inside one another.
fn levels(tree: &Tree) -> usize {
    let mut levels: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for id in 0..=tree.root() {
        let inside = tree.parts(id).iter().filter_map(|part| levels.get(*part as usize).copied()).max();
        levels.push(inside.unwrap_or_default() + 1);
    }
    levels.into_iter().max().unwrap_or_default()
}

/// A call or condition of the expression, with values in place of its operands, whose value is not the same in all versions.
pub(super) fn dependent(expr: &Expr, versions: &[Semantics], settings: &EvalOptions) -> Option<Expr> {
    let tree = expr.tree();
    let is_strict = settings.mode == Mode::Strict;
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let operands = match *tree.node(id) {
            Node::Call(call) => {
                let site = tree.calls[call as usize];
                let is_one = |name: &&str| builtin::find(site.name).is_some_and(|function| function.name == *name);
                FUNCTIONS.iter().any(is_one).then(|| tree.run(site.arguments).to_vec())
            }
            Node::Unary(UnaryOp::Not, operand) if is_strict => Some(vec![operand]),
            Node::Binary(op, left, right) if is_strict && op.is_logic() => Some(vec![left, right]),
            Node::Conditional { condition, yes, no } if is_strict => Some(vec![condition, yes, no]),
            _ => None,
        }?;
        differing(expr, id, &operands, versions, settings)
    })
}

/// A part with values in place of its operands that are no constants, so that it is not the same in all versions.
fn differing(
    expr: &Expr,
    part: NodeId,
    operands: &[NodeId],
    versions: &[Semantics],
    settings: &EvalOptions,
) -> Option<Expr> {
    let tree = expr.tree();
    let observer = observer(expr, part);
    let open: Vec<NodeId> = operands.iter().copied().filter(|id| !is_constant(tree, *id)).collect();
    let telling = telling();
    let values = |at: usize| -> Vec<Value> {
        let Some(id) = open.get(at) else { return vec![Value::Undefined] };
        let kinds = kinds(tree, *id);
        telling.iter().filter(|value| kinds.allow(value)).cloned().collect()
    };
    let [first, second] = [values(0), values(1)];
    let others = if open.len() > 2 { vec![Value::from(1), Value::from("x")] } else { vec![Value::from(1)] };
    let ad = ClassAd::new();
    let shown = |expr: &Expr, semantics: Semantics| {
        let settings = EvalOptions { semantics, ..settings.clone() };
        Scope::new(&ad, &settings).eval(expr).map_or_else(|failed| failed.to_string(), |value| format!("{value:#}"))
    };
    // Alone, with its places counted from its own first one.
    let start = tree.first_of(part);
    let own = Expr::whole(expr.part(part).to_tree());
    let pairs = first.iter().flat_map(|one| second.iter().map(move |two| [one, two]));
    pairs.flat_map(|pair| others.iter().map(move |other| (pair, other))).find_map(|(pair, other)| {
        // From the last one, so that the places of the others stay.
        let placed = open.iter().enumerate().rev().fold(own.clone(), |expr, (at, id)| {
            let value = pair.get(at).copied().unwrap_or(other);
            expr.with_part(*id - start, &value.to_expr())
        });
        let seen = observer.as_ref().map(|(around, hole)| around.with_part(*hole, &placed));
        let mut values = versions.iter().map(|version| shown(seen.as_ref().unwrap_or(&placed), *version));
        let first = values.next()?;
        values.any(|value| value != first).then_some(placed)
    })
}

/// Tests whether a part has the same value in every ad. The clock of an evaluation does not change.
fn is_constant(tree: &Tree, id: NodeId) -> bool {
    (tree.first_of(id)..=id).all(|part| match tree.node(part) {
        Node::Attr(_) | Node::Absolute(_) | Node::Select(_) => false,
        Node::Call(call) => {
            let site = tree.calls[*call as usize];
            // With an offset, `absTime` does not depend on the time zone.
            let has_offset = tree.run(site.arguments).len() == 2;
            builtin::find(site.name).is_none_or(|function| match function.name {
                "absTime" => has_offset,
                name => function.pure && name != "eval" || name == "time",
            })
        }
        _ => true,
    })
}

/// The values that a part can have.
fn kinds(tree: &Tree, id: NodeId) -> ValueKinds {
    let of_any = |ids: &[NodeId]| ids.iter().fold(ValueKinds::NONE, |all, id| all.or(kinds(tree, *id)));
    match *tree.node(id) {
        Node::Paren(inner) | Node::Unary(UnaryOp::Plus, inner) => kinds(tree, inner),
        Node::Unary(UnaryOp::Not, _) => ValueKinds::SMALL,
        Node::Unary(..) => ValueKinds::NUMBERS,
        Node::Binary(BinaryOp::Default, left, right) => of_any(&[left, right]),
        Node::Binary(BinaryOp::Is | BinaryOp::Isnt, ..) => ValueKinds::NONE,
        Node::Binary(op, ..) if op.is_comparison() || op.is_logic() => ValueKinds::SMALL,
        Node::Binary(..) => ValueKinds::NUMBERS,
        Node::Call(call) => {
            let site = tree.calls[call as usize];
            let name = builtin::find(site.name).map_or("", |function| function.name);
            match *tree.run(site.arguments) {
                [_, yes, no] if name == "ifThenElse" => of_any(&[yes, no]).or(ValueKinds::SMALL),
                _ if TESTS.contains(&name) => ValueKinds::NONE,
                _ if SMALL.contains(&name) => ValueKinds::SMALL,
                _ if NUMERIC.contains(&name) => ValueKinds::NUMBERS,
                _ if TEXTUAL.contains(&name) => ValueKinds::TEXTS,
                _ => ValueKinds::ALL,
            }
        }
        Node::Conditional { yes, no, .. } => of_any(&[yes, no]).or(ValueKinds::SMALL),
        Node::Literal(Literal::Str(_)) => ValueKinds::TEXTS,
        Node::Literal(_) => ValueKinds::NUMBERS,
        _ => ValueKinds::ALL,
    }
}

/// An expression around a part that uses only its truth or its type, and the place of the part in it: what it makes of the part is all
/// that the whole can depend on.
fn observer(expr: &Expr, part: NodeId) -> Option<(Expr, NodeId)> {
    let tree = expr.tree();
    let (mut hole, mut around) = (part, None);
    for id in part + 1..=expr.root() {
        if tree.parts(id).contains(&hole) {
            if !matches!(tree.node(id), Node::Paren(_)) {
                around = Some(id);
                break;
            }
            hole = id;
        }
    }
    let around = around?;
    // A suffix can change the type of what it gives.
    if is_call(expr, part, &["quantize"]) {
        return None;
    }
    let is_absent = |id: NodeId| matches!(tree.node(id), Node::Literal(Literal::Undefined | Literal::Error));
    let (is_of_truth, is_of_type) = match *tree.node(around) {
        Node::Binary(op, ..) if op.is_logic() => (true, false),
        Node::Binary(BinaryOp::Is | BinaryOp::Isnt, left, right) => (false, is_absent(left) || is_absent(right)),
        Node::Conditional { condition, .. } => (condition == hole, false),
        Node::Unary(UnaryOp::Not, _) => (false, true),
        Node::Call(call) => {
            let site = tree.calls[call as usize];
            let name = builtin::find(site.name).map_or("", |function| function.name);
            let is_condition = name == "ifThenElse" && tree.run(site.arguments).first() == Some(&hole);
            (is_condition, name == "bool" || TESTS.contains(&name) || name == "isRelTime")
        }
        _ => (false, false),
    };
    if is_of_truth {
        // A suffix can change whether these are 0.
        let is_open = is_call(expr, part, &["ceil", "ceiling", "pow"]);
        return if is_open { None } else { Some((parse_expr(b"!x").ok()?, 0)) };
    }
    let start = tree.first_of(around);
    is_of_type.then(|| (Expr::whole(expr.part(around).to_tree()), hole - start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versions::survey::{VersionSurvey, survey};
    use crate::versions::{DifferenceSeverity, VersionText};
    use classmate::internal::semantics::{RULES, VersionRule};
    use classmate::internal::syntax::token::Quoting;
    use classmate::{Series, parse_expr};

    fn surveyed(text: &str, ends: [Semantics; 2], settings: &EvalOptions) -> VersionSurvey {
        survey(VersionText { text: text.as_bytes(), quoting: Quoting::New, prefix: false }, ends, settings, None)
    }

    /// Every rule of the table changes the value of an expression for some value of an attribute, except those about the
    /// expressions of other attributes, and those that are not seen in values.
    #[test]
    fn every_rule_that_depends_on_a_value_is_reported() {
        for change in &RULES {
            let (texts, mode): (&[&str], _) = match change.rule {
                VersionRule::SuffixConversion => (
                    &[
                        "int(a)",
                        "real(a)",
                        "floor(a)",
                        "ceiling(a)",
                        "round(a)",
                        "pow(a, 2)",
                        "quantize(a, 3)",
                        "interval(a)",
                    ],
                    Mode::HTCondor,
                ),
                VersionRule::SizeSuffix
                | VersionRule::IntegerRange
                | VersionRule::ElvisPrecedence
                | VersionRule::EmptyMiddle
                | VersionRule::ReltimeLiteral
                | VersionRule::TimeLiteralBad => (&["eval(a)"], Mode::HTCondor),
                VersionRule::IntegerBase => (&["eval(a)"], Mode::Strict),
                VersionRule::VersionCase => (&["versiongt(a, b)", "eval(a)"], Mode::HTCondor),
                VersionRule::Time32bit => (&["formatTime(a)", "splitTime(a)"], Mode::HTCondor),
                VersionRule::SplittimeUndefined => (&["splitTime(a)"], Mode::HTCondor),
                VersionRule::RegexpmemberEmpty => (&["stringList_regexpMember(a, b)"], Mode::HTCondor),
                VersionRule::StrictBoolean => (&["a && b", "a || b", "!a", "a ? b : c"], Mode::Strict),
                VersionRule::SuffixPrinting
                | VersionRule::Cycle
                | VersionRule::DepthReference
                | VersionRule::DepthOperators
                | VersionRule::DepthParser
                | VersionRule::RealSameness
                | VersionRule::AttributeOrder
                | VersionRule::EnvironmentOrder => continue,
            };
            let before = Series::new(change.since.major, change.since.minor.saturating_sub(1));
            for text in texts {
                let settings = EvalOptions { mode, ..EvalOptions::default() };
                for scope in ["", "MY.", "TARGET."] {
                    let text = text.replace("(a", &format!("({scope}a"));
                    let text = text.strip_prefix('a').map_or(text.clone(), |rest| format!("{scope}a{rest}"));
                    let found = surveyed(&text, [before, change.since].map(Semantics::of), &settings);
                    assert!(!found.rules.is_empty(), "{text}: {} in {before} and {}", change.name, change.since);
                }
            }
        }
    }

    /// The values are those of HTCondor 23.0.28, 24.0.20 and 25.14.1.
    #[test]
    fn the_value_that_makes_a_difference_is_shown() {
        for (text, ends, example, values) in [
            ("real(s)", ["23.0", "25.14"], "s = \"10K\"", ["10240.0", "10.0"]),
            ("real(TARGET.s) > 5000", ["23.0", "25.14"], "TARGET.s = \"10K\"", ["true", "false"]),
            ("interval(a)", ["23.0", "25.14"], "a = \"10K\"", ["\"2:50:40\"", "\"10\""]),
            (
                "formatTime(a ?: 1)",
                ["24.0", "25.14"],
                "a = 4294967297",
                ["\"Thu Jan  1 00:00:01 1970\"", "\"Sun Feb  7 06:28:17 2106\""],
            ),
        ] {
            let found = surveyed(text, ends.map(|series| series.parse().unwrap()), &EvalOptions::default());
            let shown: Vec<_> = found.ranges.iter().map(|range| range.value.clone().unwrap_or_default()).collect();
            assert_eq!((found.example, found.write), (vec![example.to_owned()], None), "{text}");
            assert_eq!(shown, values, "{text}");
        }
    }

    /// 23.0.28 converts "10K" to 10240.0, and 25.14.1 to 10.0, and every condition around it may be true.
    #[test]
    fn a_part_is_shown_if_the_whole_has_too_many_attributes_for_an_example() {
        let text =
            "a == \"p\" ? (b == \"q\" ? (c == \"r\" ? (d == \"s\" ? (e == \"t\" ? real(f) : 1) : 1) : 1) : 1) : 1";
        let found = surveyed(text, ["23.0", "25.14"].map(|series| series.parse().unwrap()), &EvalOptions::default());
        let shown: Vec<_> = found.ranges.iter().map(|range| range.value.as_deref().unwrap_or_default()).collect();
        assert_eq!(found.rules.iter().map(|rule| rule.name).collect::<Vec<_>>(), ["suffix-conversion"]);
        assert_eq!(found.severity, Some(DifferenceSeverity::Note));
        assert_eq!(shown, ["a part differs: `real(\"10K\")` is 10240.0", "a part differs: `real(\"10K\")` is 10.0"]);
    }

    /// The operands are numbers, or constants that all versions use alike.
    #[test]
    fn operands_that_make_no_difference_are_told_apart() {
        let versions = ["10.0", "25.14"].map(|series| series.parse().unwrap());
        for (text, is_dependent) in [
            ("int(a)", true),
            ("int(+a)", true),
            ("int(a * 2)", false),
            ("int(a ?: 2)", true),
            ("int(size(a)) + floor(a > 2)", false),
            ("int(\"10\")", false),
            ("int(\"10K\")", true),
            ("int(b ? a : 1)", true),
            ("formatTime(time())", false),
            ("formatTime(a + 1)", true),
            // Constant: "1901" in 10.0.9 to 25.14.1.
            ("formatTime(absTime(2147483648, 0), \"%Y\")", false),
            ("splitTime(a).Year", true),
            ("stringList_regexpMember(\"x\", a)", false),
            ("a && b + int(b.c) > 1", true),
            ("a + b", false),
            // No argument of these is a text with a suffix, a large number, or undefined.
            ("formatTime(bool(a))", false),
            ("formatTime(size(a))", false),
            ("formatTime(strcat(a))", false),
            ("formatTime(b ? a > 1 : size(a))", false),
            ("formatTime(real(a))", true),
            ("splitTime(isUndefined(a))", false),
            ("splitTime(bool(a))", true),
            // A suffix does not change the type of a number, nor whether it is 0. But `floor("0.5K")` is 512 in 23.0.28, and 0 in
            // 23.10.29; `int("0.5K")` is 0 in both.
            ("isUndefined(int(a))", false),
            ("isString((real(a)))", false),
            ("int(a) =?= undefined", false),
            ("a && int(b.c)", false),
            ("real(a) ? b : c", false),
            ("ifThenElse(!real(a), b, c)", false),
            ("a && floor(b.c)", true),
            ("ifThenElse(!floor(a), b, c)", true),
            ("b ? int(a) : 1", true),
            // `ceiling("-0.5K")` is -512 in 23.0.28, and 0 in 23.10.29; `quantize(4096, {1, "7true"})` is "7true" there and a number later.
            ("ceiling(a) ? 1 : 2", true),
            ("isString(quantize(a, {1, b}))", true),
            ("pow(a, 2) ? b : c", true),
            // Only the type is seen.
            ("isUndefined(ceiling(a))", false),
            ("isError(pow(a, 2))", false),
            // `1 + relTime("1:30")` is an error below 23.7.
            ("isError(eval(a))", true),
            ("eval(a) || b", true),
        ] {
            let expr = parse_expr(text.as_bytes()).unwrap();
            let found = dependent(&expr, &versions, &EvalOptions::default());
            assert_eq!(found.is_some(), is_dependent, "{text}: {found:?}");
        }
    }
}
