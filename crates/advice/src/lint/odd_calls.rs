//! Calls and subscripts whose value is a defect of this version (`docs/reference/classad-language.md` 14).
//!
//! In: a part of an expression. Out: a finding of the rule `version-dependent`.

use super::attributes::is_always_present;
use super::expression::LintContext;
use classmate::Diagnostic;
use classmate::internal::builtin::pattern::{Options, Pattern};
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::UnaryOp;

/// Says of the arguments of a call which one makes its value odd.
type ArgumentTest = fn(&LintContext<'_>, &Tree, &[NodeId]) -> Option<NodeId>;

/// A function, lower case, what its arguments are when its value is odd, what is odd, and what to write.
type Entry = (&'static [u8], ArgumentTest, &'static str, &'static str);

const COMPUTED_TIME: &str = "a time is parsed only from a quoted string; a computed string is returned unchanged";
const COMPUTED_DURATION: &str =
    "a duration is parsed only from a quoted string; the value of a computed string is unpredictable";
const TRUNCATED: &str = "only the lower 32 bits of this number are used";
const WITHIN: &str = "the range is -2147483648 to 2147483647";
const UNFIT: &str = "a real outside the integer range becomes -9223372036854775808";
const COMPARE_REAL: &str = "compare the real itself";
const AT_THE_END: &str = "the pattern also matches the empty string, so replacing all matches is an error";
const MATCH_SOMETHING: &str = "use a pattern that cannot match the empty string, `a+` instead of `a*`";

const TABLE: &[Entry] = &[
    (
        b"pow",
        negative_result,
        "negative integer powers are too large by 1: `pow(-2, 3)` is -7",
        "use a real, `pow(-2.0, 3)`",
    ),
    (
        b"stringlistmax",
        may_be_negative,
        "the maximum of negative numbers is wrong: it starts with 1.1754944e-38",
        "write `max({ a, b })` or `max(split(text))` if all values can be negative",
    ),
    (b"abstime", text, COMPUTED_TIME, "write the time in quotes, or use a number of seconds"),
    (b"reltime", text, COMPUTED_DURATION, "write the duration in quotes, or use a number of seconds"),
    (b"abstime", wide, TRUNCATED, WITHIN),
    (b"reltime", wide, TRUNCATED, WITHIN),
    (b"interval", wide, TRUNCATED, WITHIN),
    (b"random", wide, TRUNCATED, WITHIN),
    (b"substr", |context, tree, arguments| wide(context, tree, arguments.get(1..)?), TRUNCATED, WITHIN),
    (b"regexps", everywhere, AT_THE_END, MATCH_SOMETHING),
    (b"replaceall", all_of_them, AT_THE_END, MATCH_SOMETHING),
    (
        b"anycompare",
        optional_element,
        "if this element is UNDEFINED, the elements after it are ignored",
        "put it last, or write `(element ?: value)`",
    ),
    (b"int", unfit, UNFIT, COMPARE_REAL),
    (b"floor", unfit, UNFIT, COMPARE_REAL),
    (b"ceiling", unfit, UNFIT, COMPARE_REAL),
    (b"round", unfit, UNFIT, COMPARE_REAL),
];

/// The finding about a call or a subscript with such a value.
pub(super) fn odd_call(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let warning = |message: &str, blame: NodeId, help: &str| {
        let finding = Diagnostic::warning(message, tree.span(blame)?).help(help);
        Some(finding.code("version-dependent"))
    };
    match *tree.node(id) {
        Node::Subscript { index, .. } if is_wide(tree, index) => warning(TRUNCATED, index, WITHIN),
        Node::Call(call) => {
            let site = tree.calls[call as usize];
            let arguments = tree.run(site.arguments);
            let mut of_it = TABLE.iter().filter(|(function, ..)| *function == site.name.folded());
            let (blame, message, help) =
                of_it.find_map(|(_, test, message, help)| Some((test(context, tree, arguments)?, message, help)))?;
            warning(message, blame, help)
        }
        _ => None,
    }
}

/// The number that is written, with its sign.
fn number(tree: &Tree, id: NodeId) -> Option<Literal> {
    match tree.node(tree.bare(id)) {
        Node::Literal(literal @ (Literal::Int(_) | Literal::Real(_))) => Some(literal.clone()),
        Node::Unary(UnaryOp::Minus, operand) => match tree.node(tree.bare(*operand)) {
            Node::Literal(Literal::Int(value)) => Some(Literal::Int(value.checked_neg()?)),
            Node::Literal(Literal::Real(value)) => Some(Literal::Real(-value)),
            _ => None,
        },
        _ => None,
    }
}

fn is_wide(tree: &Tree, id: NodeId) -> bool {
    matches!(number(tree, id), Some(Literal::Int(value)) if i32::try_from(value).is_err())
}

fn wide(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    arguments.iter().copied().find(|id| is_wide(tree, *id))
}

fn negative_result(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    let &[base, power] = arguments else { return None };
    let (Literal::Int(base_value), Literal::Int(power_value)) = (number(tree, base)?, number(tree, power)?) else {
        return None;
    };
    (base_value < 0 && power_value > 0 && power_value % 2 == 1).then_some(base)
}

/// A list of numbers that may all be negative, or zero.
fn may_be_negative(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    let separators = written(tree, arguments, 1).unwrap_or(b", ");
    let items = written(tree, arguments, 0).map(String::from_utf8_lossy);
    let is_positive = |item: &str| item.trim().parse::<f64>().is_ok_and(|number| number > 1e-30);
    let has_positive =
        items.is_some_and(|items| items.split(|sign| separators.contains(&(sign as u8))).any(is_positive));
    arguments.first().copied().filter(|_| !has_positive)
}

/// The text of an argument that is written, or nothing.
fn written<'t>(tree: &'t Tree, arguments: &[NodeId], at: usize) -> Option<&'t [u8]> {
    match tree.node(tree.bare(*arguments.get(at)?)) {
        Node::Literal(Literal::Str(text)) => Some(text),
        _ => None,
    }
}

/// An argument that certainly is a text that was computed.
fn text(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    const GIVES_TEXT: [&[u8]; 12] = [
        b"strcat",
        b"join",
        b"substr",
        b"toupper",
        b"tolower",
        b"string",
        b"replace",
        b"replaceall",
        b"regexps",
        b"formattime",
        b"unparse",
        b"interval",
    ];
    let &first = arguments.first()?;
    let computed = match *tree.node(tree.bare(first)) {
        Node::Literal(Literal::Str(_)) => true,
        Node::Call(call) => GIVES_TEXT.contains(&tree.calls[call as usize].name.folded()),
        _ => false,
    };
    computed.then_some(first)
}

fn everywhere(context: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    written(tree, arguments, 3).filter(|letters| letters.contains(&b'g'))?;
    all_of_them(context, tree, arguments)
}

fn all_of_them(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    let letters = written(tree, arguments, 3).unwrap_or_default();
    matches_nothing(written(tree, arguments, 0)?, letters).then(|| arguments[0])
}

/// Returns true if a pattern matches the empty text at the end of a text.
fn matches_nothing(pattern: &[u8], letters: &[u8]) -> bool {
    let options = Options::from_letters(letters);
    // A comment of an extended pattern ends with its line.
    let end: &[u8] = if options.extended { b"\n)\\z" } else { b")\\z" };
    let behind = [b"(?<=\\x01)(?:", pattern, end].concat();
    Pattern::compile(&behind, options).is_ok_and(|pattern| pattern.is_match(b"\x01") == Ok(true))
}

/// An element of a written list that may be undefined, with others behind it.
fn optional_element(context: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    let Node::List(run) = *tree.node(tree.bare(*arguments.get(1)?)) else { return None };
    let (_, before) = tree.run(run).split_last()?;
    before.iter().copied().find(|id| match tree.node(tree.bare(*id)) {
        Node::Literal(literal) => matches!(literal, Literal::Undefined),
        _ => tree
            .reference(tree.bare(*id))
            .is_some_and(|reference| !is_always_present(reference.name.folded()) && !(context.defined)(reference.name)),
    })
}

fn unfit(_: &LintContext<'_>, tree: &Tree, arguments: &[NodeId]) -> Option<NodeId> {
    let &[only] = arguments else { return None };
    // 2^63
    matches!(number(tree, only), Some(Literal::Real(value)) if value.abs() > 9.223_372_036_854_775e18).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::expression::{Role, lint};
    use classmate::internal::syntax::token::Quoting;

    /// Returns true if a text has a construct that depends on the version.
    fn depends(text: &str) -> bool {
        let context = LintContext::of(text.as_bytes(), Quoting::New, Role::default());
        lint(&context).iter().any(|found| found.code == "version-dependent")
    }

    /// The values in comments are those of the reference.
    #[test]
    fn defects_of_this_version_are_reported() {
        for text in [
            // -7, -26
            "pow(-2, 3)",
            "pow(-3, (3)) < x",
            "stringListMax(Scores) > 5",
            // The text, and 0.
            "absTime(strcat(\"2020-01-01\", \"T00:00:00Z\"))",
            "relTime(strcat(x, \":00\"))",
            // error
            "regexps(\"a*\", x, \"b\", \"g\")",
            "regexps(\".*\", \"abc\", \"X\", \"gi\")",
            "replaceAll(\"a*\", \"xay\", \"b\")",
            "regexps(\"$\", \"abc\", \"X\", \"g\")",
            // 1, "bc", 705032704.0, "8160+02:25:04"
            "{1,2}[4294967296]",
            "substr(\"abc\", 4294967297)",
            "relTime(5000000000)",
            "interval(5000000000)",
            "random(-5000000000)",
            "absTime(5000000000)",
            // false, though 1 < 5
            "anyCompare(\"<\", {undefined, 1}, 5)",
            "anyCompare(\"<\", {TARGET.A, TARGET.B}, 5)",
            // -9223372036854775808
            "int(1e300) > x",
            "floor(1e19)",
            // 10240 and 1901 before
            "int(\"10K\") > x",
            "splitTime(2147483648).Year",
        ] {
            assert!(depends(text), "{text}");
        }
    }

    #[test]
    fn what_means_the_same_everywhere_is_not_reported() {
        for text in [
            "pow(2, -2)",
            "pow(-2, 2)",
            "pow(-2.0, 3)",
            "pow(x, y)",
            "stringListMin(Scores)",
            "stringListMax(\"1,2,3\") == 3",
            "absTime(\"2020-01-01T00:00:00Z\")",
            "absTime(QDate)",
            "regexps(\"a*\", x, \"b\")",
            "regexps(\"a+\", x, \"b\", \"g\")",
            // "Xa"
            "regexps(\"^\", \"a\", \"X\", \"g\")",
            "replaceAll(\"a+\", \"xay\", \"b\")",
            "{1,2}[1]",
            "substr(\"abc\", 2)",
            "random(100)",
            "anyCompare(\"<\", {1, TARGET.A}, 5)",
            "anyCompare(\"<\", {TARGET.Cpus, TARGET.Memory}, 5)",
            "allCompare(\"<\", {TARGET.A, TARGET.B}, 5)",
            "int(1e10)",
            "(MappingMethod ?: \"\") != \"Copy\"",
            "quantize(RequestDisk,{Target.DiskQuantum?:1024})",
            "x ? : 1",
            "versionGT(a, \"24\")",
            "int(\"10\") + 0",
            "formatTime(QDate)",
        ] {
            assert!(!depends(text), "{text}");
        }
    }
}
