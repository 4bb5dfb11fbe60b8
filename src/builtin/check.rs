//! Expressions that parse but probably do not mean what their author wanted.
//!
//! In: a parsed expression with places, and its text. Out: warnings. Nothing here changes what an expression
//! evaluates to; an unknown function, for example, is an error value when it is called. One file: a list of rules, each a
//! function of one node.

use crate::builtin::find;
use crate::builtin::near::{foreign, nearest};
use crate::diagnostic::Diagnostic;
use crate::name::Name;
use crate::plural::counted;
use crate::span::Span;
use crate::syntax::expr::{CallSite, Expr, Node, NodeId, Tree, base_of};
use crate::syntax::literal::Literal;
use crate::syntax::operator::{BinaryOp, UnaryOp};
use crate::value::Type;

/// Maximum number of warnings about one expression.
const MAX_FINDINGS: usize = 20;

/// Longest text that a fix repeats.
const MAX_FIX_LENGTH: usize = 400;

/// The warnings about an expression that was parsed from a text with places, in the order of the text, each with a
/// code that does not change: `unknown-function`, `type-clash`.
///
/// ```
/// use classmate::internal::builtin::check::check;
/// use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
/// let options = ParseOptions { places: true, ..ParseOptions::default() };
/// let source = b"isUndefind(Cpus)";
/// let findings = check(&parse_expr(source, &options).unwrap(), source);
/// assert_eq!(findings[0].message, "unknown function `isUndefind`");
/// assert_eq!(findings[0].fix.as_ref().unwrap().apply(source), b"isUndefined(Cpus)");
/// ```
pub fn check(expr: &Expr, source: &[u8]) -> Vec<Diagnostic> {
    check_with(expr, source, &|_| false)
}

/// As [`check`], for ads in which the attributes that `is_text` accepts are strings.
pub fn check_with(expr: &Expr, source: &[u8], is_text: &dyn Fn(Name) -> bool) -> Vec<Diagnostic> {
    let tree = &**expr.tree();
    if tree.spans.len() != tree.nodes.len() {
        return Vec::new();
    }
    let checker = Checker { tree, source, is_text };
    let inner = expr.root();
    let mut findings: Vec<Diagnostic> = Vec::new();
    for id in tree.first_of(inner)..=inner {
        if let Some((code, finding)) = RULES.iter().find_map(|(code, rule)| Some((*code, rule(&checker, id)?))) {
            // `a + b + c` says what `a + b` said.
            let inside =
                |known: &Diagnostic| known.message == finding.message && known.span.start == finding.span.start;
            if findings.last().is_some_and(inside) {
                findings.pop();
            }
            findings.push(finding.code(code));
        }
        if findings.len() > 10 * MAX_FINDINGS {
            break;
        }
    }
    findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
    findings.truncate(MAX_FINDINGS);
    findings
}

type CheckRule = fn(&Checker<'_>, NodeId) -> Option<Diagnostic>;

/// Rules with the codes of what they find.
const RULES: &[(&str, CheckRule)] = &[
    ("unknown-function", unknown_function),
    ("argument-count", argument_count),
    ("odd-number", unset_constant),
    ("type-clash", added_text),
    ("type-clash", moved_time),
    ("division-by-zero", zero_divisor),
    ("bitwise-operator", power),
    ("bitwise-operator", bitwise_condition),
    ("type-clash", condition_type),
    ("compared-with-undefined", compared_with_unset),
    ("unquoted-word", foreign_null),
    ("single-quotes", quoted_text),
    ("precedence", summed_comparisons),
    ("comparison-chain", comparison_chain),
    ("precedence", negated_operand),
    ("precedence", scaled_test),
    ("type-clash", calculated_text),
    ("always-error", negative_subscript),
    ("impossible-value", other_case),
    ("type-clash", compared_list),
    ("type-clash", compared_types),
    ("type-clash", number_as_text),
    ("precedence", tight_default),
    ("version-dependent", two_dots),
    ("string-escape", backslash_path),
    ("missing-parentheses", unwritten_call),
];

struct Checker<'t> {
    tree: &'t Tree,
    source: &'t [u8],
    is_text: &'t dyn Fn(Name) -> bool,
}

impl Checker<'_> {
    fn span(&self, id: NodeId) -> Span {
        self.tree.spans[id as usize]
    }

    fn text(&self, id: NodeId) -> String {
        self.text_at(self.span(id))
    }

    fn text_at(&self, span: Span) -> String {
        String::from_utf8_lossy(self.bytes(span)).into_owned()
    }

    fn bytes(&self, span: Span) -> &[u8] {
        self.source.get(span.range()).unwrap_or_default()
    }

    /// The operands, for an operator between two.
    fn binary(&self, id: NodeId) -> Option<(BinaryOp, NodeId, NodeId)> {
        match *self.tree.node(id) {
            Node::Binary(op, left, right) => Some((op, left, right)),
            _ => None,
        }
    }

    fn literal(&self, id: NodeId) -> Option<&Literal> {
        match self.tree.node(id) {
            Node::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// The place of the operator between two operands, if nothing else is there.
    fn operator(&self, left: NodeId, right: NodeId) -> Option<Span> {
        let (start, end) = (self.span(left).end, self.span(right).start);
        let between = self.source.get(start as usize..end as usize)?;
        let operator = between.trim_ascii();
        let offset = start as usize + between.len() - between.trim_ascii_start().len();
        (!operator.is_empty() && operator.len() <= 4).then(|| Span::new(offset, offset + operator.len()))
    }

    /// The type of every defined value that a node can have, as far as that is plain to see.
    fn certain_type(&self, id: NodeId) -> Option<Type> {
        match self.tree.node(self.tree.bare(id)) {
            Node::Literal(literal) => match literal {
                Literal::Undefined | Literal::Error => None,
                Literal::Bool(_) => Some(Type::Bool),
                Literal::Int(_) => Some(Type::Int),
                Literal::Real(_) | Literal::RelTime(_) => Some(Type::Real),
                Literal::Str(_) => Some(Type::Str),
                Literal::AbsTime(_) => Some(Type::AbsTime),
                Literal::OldRelTime(_) => Some(Type::RelTime),
                Literal::Suffixed(..) => Some(Type::Real),
            },
            Node::List(_) => Some(Type::List),
            Node::Ad(_) => Some(Type::Ad),
            Node::Unary(UnaryOp::Not, _) => Some(Type::Bool),
            Node::Binary(op, ..) => (op.precedence() <= 2 || matches!(op.precedence(), 6 | 7)).then_some(Type::Bool),
            _ => None,
        }
    }

    /// Tests whether the value of a node is a string, if it has one: an attribute that is, a call that returns one, or an
    /// element of a list that a string is split into.
    fn is_text(&self, id: NodeId) -> bool {
        let id = self.tree.bare(id);
        let calls = |id: NodeId, names: &[&[u8]]| match *self.tree.node(self.tree.bare(id)) {
            Node::Call(call) => names.contains(&self.tree.calls[call as usize].name.folded()),
            _ => false,
        };
        self.certain_type(id) == Some(Type::Str)
            || calls(id, &TEXTS)
            || matches!(*self.tree.node(id), Node::Subscript { base, .. } if calls(base, &SPLITS))
            || self.tree.reference(id).is_some_and(|reference| (self.is_text)(reference.name))
    }

    fn fits(&self, id: NodeId) -> bool {
        self.bytes(self.span(id)).len() <= MAX_FIX_LENGTH
    }
}

/// Functions, lower case, whose values are strings.
const TEXTS: [&[u8]; 12] = [
    b"strcat",
    b"join",
    b"toupper",
    b"tolower",
    b"substr",
    b"regexps",
    b"replace",
    b"replaceall",
    b"formattime",
    b"interval",
    b"unparse",
    b"string",
];

/// Functions, lower case, whose values are lists of strings.
const SPLITS: [&[u8]; 3] = [b"split", b"splitusername", b"splitslotname"];

fn compares(op: BinaryOp) -> bool {
    matches!(op.precedence(), 6 | 7) && !matches!(op, BinaryOp::Is | BinaryOp::Isnt)
}

fn call(checker: &Checker<'_>, id: NodeId) -> Option<CallSite> {
    match *checker.tree.node(id) {
        Node::Call(call) => Some(checker.tree.calls[call as usize]),
        _ => None,
    }
}

/// The place of the name in a call.
fn name_span(checker: &Checker<'_>, id: NodeId, site: CallSite) -> Span {
    let start = checker.span(id).range().start;
    let quotes = if checker.source.get(start) == Some(&b'\'') { 2 } else { 0 };
    Span::new(start, start + site.name.as_bytes().len() + quotes)
}

/// `isUndefind(x)`
fn unknown_function(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let site = call(checker, id).filter(|site| find(site.name).is_none())?;
    let span = name_span(checker, id, site);
    let finding = Diagnostic::warning(format!("unknown function `{}`", site.name), span);
    if let Some(help) = foreign(site.name.as_bytes()) {
        return Some(finding.help(help));
    }
    Some(match nearest(site.name.as_bytes()).as_slice() {
        [] => finding.help("the call evaluates to ERROR; `classmate functions` lists all functions"),
        [only] => finding.help(format!("did you mean `{}`?", only.name)).fix(span, only.name),
        [first, others @ ..] => {
            let others: Vec<String> = others.iter().map(|other| format!("`{}`", other.name)).collect();
            let help = format!("did you mean `{}`, or {}?", first.name, others.join(" or "));
            finding.help(help).fix(span, first.name)
        }
    })
}

/// `ifThenElse(x, 1)`
fn argument_count(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let site = call(checker, id)?;
    let count = site.arguments.len as usize;
    let function = find(site.name).filter(|function| !function.accepts(count))?;
    let wanted = match (function.least, function.most) {
        (least, Some(most)) if least == most => counted(most, "argument"),
        (least, Some(most)) => format!("{least} to {}", counted(most, "argument")),
        (least, None) => format!("at least {}", counted(least, "argument")),
    };
    let message = format!("`{}` takes {wanted}, found {count}", function.name);
    let help = format!("write `{}`", function.signature.replace(" or ", "` or `"));
    Some(Diagnostic::warning(message, checker.span(id)).help(help))
}

/// An integer out of range, or with a sign before a zero: `99999999999999999999`, `-0x10`
fn unset_constant(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let Literal::Int(value) = checker.literal(id)? else { return None };
    let text = checker.bytes(checker.span(id));
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.len() > 1 && digits[0] == b'0' {
        let message = format!("`{}` has the value {value}", checker.text(id));
        return Some(Diagnostic::warning(message, checker.span(id)).help(
            "numbers are decimal and do not start with a \
        zero",
        ));
    }
    if *value == 0 && digits.iter().any(|digit| (b'1'..=b'9').contains(digit)) {
        let message = format!("`{}` is out of range and has the value 0", checker.text(id));
        let help = "the range of integers is -9223372036854775808 to 9223372036854775807; write a real as `1.0e20`";
        return Some(Diagnostic::warning(message, checker.span(id)).help(help));
    }
    None
}

/// `"a" + "b"`
fn added_text(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (BinaryOp::Add, mut first, right) = checker.binary(id)? else { return None };
    let mut operands = vec![right];
    while let Some((BinaryOp::Add, left, right)) = checker.binary(first).filter(|_| operands.len() < 20) {
        operands.push(right);
        first = left;
    }
    operands.push(first);
    operands.reverse();
    if !operands.iter().any(|id| checker.certain_type(*id) == Some(Type::Str)) {
        return None;
    }
    // `a == "x" + b == "y"` is a sum of comparisons.
    let is_between = |inner: NodeId| checker.binary(inner).is_some_and(|(op, _, right)| compares(op) && right == id);
    let is_chain = |node: &Node| matches!(*node, Node::Binary(op, left, _) if compares(op) && is_between(left));
    if operands.len() == 2 && checker.tree.nodes.iter().any(is_chain) {
        return None;
    }
    let finding = Diagnostic::warning("`+` does not join strings: the result is ERROR", checker.span(id));
    if !checker.fits(id) {
        return Some(finding.help("write `strcat(a, b)`"));
    }
    let operands: Vec<String> = operands.iter().map(|id| checker.text(*id)).collect();
    let written = format!("strcat({})", operands.join(", "));
    Some(finding.write(checker.span(id), written))
}

/// `absTime("…") + 60`
fn moved_time(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| matches!(op, BinaryOp::Add | BinaryOp::Subtract))?;
    let point = |id| checker.certain_type(id) == Some(Type::AbsTime);
    let number = |id| matches!(checker.certain_type(id), Some(Type::Int | Type::Real));
    let moved = if point(left) && number(right) {
        right
    } else if op == BinaryOp::Add && number(left) && point(right) {
        left
    } else {
        return None;
    };
    let message = format!("`{}` between a time and a number is ERROR", op.symbol());
    let written = match checker.literal(moved) {
        Some(Literal::Int(seconds)) => format!("relTime({seconds})"),
        Some(Literal::Real(seconds) | Literal::RelTime(seconds)) => format!("relTime({seconds:?})"),
        _ => return None,
    };
    let help = format!("write `{written}`: a call with a number is a duration, with a string only a number of seconds");
    Some(Diagnostic::warning(message, checker.span(moved)).help(help).fix(checker.span(moved), written))
}

/// `x / 0`
fn zero_divisor(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op @ (BinaryOp::Divide | BinaryOp::Modulo), left, right) = checker.binary(id)? else { return None };
    matches!(checker.literal(checker.tree.bare(right))?, Literal::Int(0)).then(|| {
        // A negative real divided by zero is the real minus infinity, and zero divided by it is no number.
        let whole = op == BinaryOp::Modulo || matches!(checker.certain_type(left), Some(Type::Int | Type::Bool));
        let message = if whole {
            "a division by zero is ERROR"
        } else {
            "a division by zero is ERROR, except for reals that are not positive"
        };
        let finding = Diagnostic::warning(message, checker.span(right));
        finding.help("write `value ?: other` to replace UNDEFINED, or `x == 0 ? other : y / x`")
    })
}

/// `2 ^ 10`
fn power(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (BinaryOp::BitXor, left, right) = checker.binary(id)? else { return None };
    let number = |id| matches!(checker.literal(id), Some(Literal::Int(_) | Literal::Real(_)));
    if !number(right) || !(number(left) || matches!(checker.tree.node(left), Node::Attr(_) | Node::Select(_))) {
        return None;
    }
    // The bits may well be meant: nothing is written in its place.
    let finding = Diagnostic::warning("`^` is the bitwise exclusive or", checker.span(id));
    Some(finding.help(format!("write `pow({}, {})` for a power", checker.text(left), checker.text(right))))
}

/// `a > 1 & b > 2`
fn bitwise_condition(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op @ (BinaryOp::BitAnd | BinaryOp::BitOr), left, right) = checker.binary(id)? else { return None };
    if ![left, right].iter().any(|id| checker.certain_type(*id) == Some(Type::Bool)) {
        return None;
    }
    let span = checker.operator(left, right)?;
    let meant = if op == BinaryOp::BitAnd { "&&" } else { "||" };
    let message = format!("`{}` is a bitwise operator: on conditions it is ERROR", op.symbol());
    let finding = Diagnostic::warning(message, span);
    // `flags & 4 == 4` is `flags & (4 == 4)`: the bits may well be meant.
    let compared = checker.binary(right).filter(|(inner, one, _)| {
        let bits = matches!(checker.certain_type(*one), None | Some(Type::Int));
        matches!(inner.precedence(), 6 | 7) && bits && checker.certain_type(left).is_none()
    });
    if let Some((inner, one, two)) = compared
        && checker.fits(id)
    {
        let (left, one, two) = (checker.text(left), checker.text(one), checker.text(two));
        let bits = format!("({left} {} {one}) {} {two}", op.symbol(), inner.symbol());
        return Some(finding.help(format!("write `{bits}` for the bits, or `{meant}` between two conditions")));
    }
    Some(finding.write(span, meant))
}

/// `x > 1 || "LINUX"`
fn condition_type(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op @ (BinaryOp::And | BinaryOp::Or), left, right) = checker.binary(id)? else { return None };
    let wrong = |id: &NodeId| {
        let kind = checker.certain_type(*id)?;
        matches!(kind, Type::Str | Type::List | Type::Ad | Type::AbsTime).then_some((*id, kind))
    };
    let (operand, kind) = [left, right].iter().find_map(wrong)?;
    let message = format!("`{}` needs a condition, found {}", op.symbol(), kind.with_article());
    let help = "write a whole comparison on both sides, as in `x == 1 || x == 2`";
    Some(Diagnostic::warning(message, checker.span(operand)).help(help))
}

/// `x == undefined`
fn compared_with_unset(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op))?;
    let unset = |id: NodeId| {
        checker.literal(checker.tree.bare(id)).filter(|literal| matches!(literal, Literal::Undefined | Literal::Error))
    };
    let literal = unset(right).or_else(|| unset(left))?;
    let word = if matches!(literal, Literal::Error) { "error" } else { "undefined" };
    let span = checker.operator(left, right)?;
    let message = format!("a comparison with `{word}` is always {word}");
    let finding = Diagnostic::warning(message, span);
    Some(match op {
        BinaryOp::Equal => finding.write(span, "=?="),
        BinaryOp::NotEqual => finding.write(span, "=!="),
        _ => finding.help("write `=?=` or `=!=` to test for it"),
    })
}

/// `x == null`
fn foreign_null(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let Node::Attr(name) = checker.tree.node(id) else { return None };
    if !matches!(name.folded(), b"null" | b"none" | b"nil" | b"undef") {
        return None;
    }
    let span = checker.span(id);
    let finding = Diagnostic::warning(format!("`{name}` is an attribute reference here"), span);
    Some(finding.help("write `undefined`, and compare with `=?=` or `=!=`").fix(span, "undefined"))
}

/// `OpSys == 'LINUX'`
fn quoted_text(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (_, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op) || *op == BinaryOp::Is)?;
    let quoted = |id: NodeId| match checker.tree.node(id) {
        Node::Attr(name) if checker.source.get(checker.span(id).range().start) == Some(&b'\'') => Some((id, *name)),
        _ => None,
    };
    let is_constant = |id: NodeId| matches!(checker.tree.node(checker.tree.bare(id)), Node::Literal(_));
    // Beside a constant it is meant as the name: `'Owner' == "kim"`.
    let (id, name) =
        quoted(right).filter(|_| !is_constant(left)).or_else(|| quoted(left).filter(|_| !is_constant(right)))?;
    let written = Expr::literal(Literal::Str(name.as_bytes().to_vec().into())).to_string();
    Some(
        Diagnostic::warning("single quotes enclose an attribute name, not a string", checker.span(id))
            .write(checker.span(id), written),
    )
}

/// `a == "x" + b == "y"`
fn summed_comparisons(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op))?;
    let (inner, first, middle) = checker.binary(left).filter(|(inner, ..)| compares(*inner))?;
    let (_, end, start) = checker.binary(middle).filter(|(op, ..)| *op == BinaryOp::Add)?;
    if checker.certain_type(end) != Some(Type::Str) {
        return None;
    }
    let finding = Diagnostic::warning(format!("`+` binds more tightly than `{}`", inner.symbol()), checker.span(id));
    if ![first, end, start, right].iter().all(|id| checker.fits(*id)) {
        return Some(finding.help("write `(a == b) + (c == d)`"));
    }
    let of = |one, op: BinaryOp, two| format!("({} {} {})", checker.text(one), op.symbol(), checker.text(two));
    Some(finding.write(checker.span(id), format!("{} + {}", of(first, inner, end), of(start, op, right))))
}

/// `1 < x < 4`
fn comparison_chain(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op))?;
    let (inner, first, middle) = checker.binary(left).filter(|(inner, ..)| inner.precedence() == op.precedence())?;
    if !compares(inner) || checker.certain_type(right) == Some(Type::Bool) {
        return None;
    }
    let finding = Diagnostic::warning(
        "comparisons cannot be chained: the result of the first one is \
    compared",
        checker.span(id),
    );
    if ![first, middle, right].iter().all(|id| checker.fits(*id)) {
        return Some(finding.help("write `a < b && b < c`"));
    }
    let (first, middle, right) = (checker.text(first), checker.text(middle), checker.text(right));
    let written = format!("{first} {} {middle} && {middle} {} {right}", inner.symbol(), op.symbol());
    Some(finding.write(checker.span(id), written))
}

/// `!x == 2`
fn negated_operand(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| matches!(op.precedence(), 6 | 7))?;
    let Node::Unary(UnaryOp::Not, operand) = *checker.tree.node(left) else { return None };
    let whole = matches!(checker.tree.node(operand), Node::Attr(_) | Node::Select(_) | Node::Call(_));
    // `!x =?= true` is false where `x` is missing, and `x =!= true` is true.
    if whole && op == BinaryOp::Is && matches!(checker.literal(right), Some(Literal::Bool(true))) {
        let finding = Diagnostic::warning("`!` applies only to the left side of `=?=`", checker.span(left));
        return Some(
            finding.help(format!("write `{} =!= true`, which accepts a missing value", checker.text(operand))),
        );
    }
    if !whole || !compares(op) || !matches!(checker.certain_type(right), Some(Type::Int | Type::Real | Type::Str)) {
        return None;
    }
    let finding = Diagnostic::warning("`!` applies only to the left side of the comparison", checker.span(left));
    if !(checker.fits(operand) && checker.fits(right)) {
        return Some(finding.help("write `!(a == b)`"));
    }
    let written = format!("!({} {} {})", checker.text(operand), op.symbol(), checker.text(right));
    Some(finding.write(checker.span(id), written))
}

/// The first part of a sum or a product that has an operator: `a * 2` of `a * 2 + b`.
fn first_calculation(checker: &Checker<'_>, mut id: NodeId) -> Option<NodeId> {
    let of = |id: NodeId| checker.binary(id).filter(|(op, ..)| matches!(op.precedence(), 9 | 10));
    while let Some((_, left, _)) = of(id) {
        if of(left).is_none() {
            return Some(id);
        }
        id = left;
    }
    None
}

/// `x =?= undefined * 1000`, `x =?= "a" * 1000 + y`
fn scaled_test(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| op.precedence() == 6)?;
    let part = first_calculation(checker, right)?;
    let (inner, value, factor) = checker.binary(part)?;
    let constant = matches!(checker.literal(value), Some(Literal::Undefined | Literal::Bool(_) | Literal::Str(_)));
    if !constant || !matches!(checker.certain_type(factor), Some(Type::Int | Type::Real)) {
        return None;
    }
    let message = format!("`{}` binds more tightly than `{}`", inner.symbol(), op.symbol());
    let finding = Diagnostic::warning(message, checker.span(part));
    if part != right || ![left, value, factor].iter().all(|id| checker.fits(*id)) {
        return Some(finding.help("put parentheses around the comparison"));
    }
    let (left, value, factor) = (checker.text(left), checker.text(value), checker.text(factor));
    let written = format!("({left} {} {value}) {} {factor}", op.symbol(), inner.symbol());
    Some(finding.write(checker.span(id), written))
}

/// `"4" * Memory`: a string is not a number, whatever its text.
fn calculated_text(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    // `+` is an attempt to join strings.
    let (op, left, right) =
        checker.binary(id).filter(|(op, ..)| matches!(op.precedence(), 9 | 10) && *op != BinaryOp::Add)?;
    let text = [left, right].into_iter().find(|id| checker.certain_type(*id) == Some(Type::Str))?;
    let is_scaled_test = |node: &Node| match *node {
        Node::Binary(op, _, right) => op.precedence() == 6 && first_calculation(checker, right) == Some(id),
        _ => false,
    };
    let number = |id: NodeId| matches!(checker.certain_type(id), Some(Type::Int | Type::Real));
    if text == left && number(right) && checker.tree.nodes.iter().any(is_scaled_test) {
        return None;
    }
    let message =
        format!("`{}` calculates with numbers, and one side is a string: this is never a number", op.symbol());
    Some(Diagnostic::warning(message, checker.span(text)).help("write a number, without quotes, or compare the string"))
}

/// `toLower(x) =?= "X86"`
fn other_case(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| matches!(op, BinaryOp::Is | BinaryOp::Isnt))?;
    let cased = |one: NodeId, other: NodeId| {
        let function = call(checker, checker.tree.bare(one))?.name;
        let Literal::Str(text) = checker.literal(checker.tree.bare(other))? else { return None };
        let (is_other, meant): (fn(&u8) -> bool, Vec<u8>) = match function.folded() {
            b"tolower" => (u8::is_ascii_uppercase, text.to_ascii_lowercase()),
            b"toupper" => (u8::is_ascii_lowercase, text.to_ascii_uppercase()),
            _ => return None,
        };
        text.iter().any(is_other).then(|| (other, function, Literal::Str(meant.into())))
    };
    let (at, function, meant) = cased(left, right).or_else(|| cased(right, left))?;
    let always = if op == BinaryOp::Is { "never" } else { "always" };
    let message = format!("the value of `{function}` has no such letters: this is {always} true");
    Some(Diagnostic::warning(message, checker.span(id)).write(checker.span(at), Expr::literal(meant).to_string()))
}

/// `split(x)[-1]`
fn negative_subscript(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let Node::Subscript { index, .. } = *checker.tree.node(id) else { return None };
    let negative = match checker.tree.node(checker.tree.bare(index)) {
        Node::Literal(Literal::Int(number)) => *number < 0,
        Node::Unary(UnaryOp::Minus, operand) => {
            matches!(checker.literal(*operand), Some(Literal::Int(number)) if *number > 0)
        }
        _ => false,
    };
    negative.then(|| {
        let finding = Diagnostic::warning("a negative subscript is always ERROR", checker.span(id));
        finding.help("subscripts count from 0; `list[size(list) - 1]` is the last element")
    })
}

/// `{1, 2} == x`
fn compared_list(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op))?;
    let whole = |id: NodeId| checker.certain_type(id).filter(|kind| matches!(kind, Type::List | Type::Ad));
    let kind = whole(left).or_else(|| whole(right))?;
    let (what, help) = match kind {
        Type::List => ("lists", "write `member(value, list)`, or compare elements, `list[0] == 1`"),
        _ => ("ads", "compare attributes, `ad.a == 1`"),
    };
    let message = format!("`{}` does not compare {what}: the result is ERROR", op.symbol());
    Some(Diagnostic::warning(message, checker.operator(left, right)?).help(help))
}

/// `1 == "1"`
fn compared_types(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| compares(*op))?;
    let (one, other) = (checker.certain_type(left)?, checker.certain_type(right)?);
    let number = |kind| matches!(kind, Type::Bool | Type::Int | Type::Real);
    if one == other || (number(one) && number(other)) {
        return None;
    }
    let message = format!("`{}` between {} and {} is ERROR", op.symbol(), one.with_article(), other.with_article());
    let help = "compare values of the same type; convert with `string(value)`, `int(string)` or `real(string)`";
    Some(Diagnostic::warning(message, checker.operator(left, right)?).help(help))
}

/// `Memory > "1024"`
fn number_as_text(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (_, left, right) = checker.binary(id).filter(|(op, ..)| op.precedence() == 7)?;
    let number = |id: NodeId| match checker.literal(id) {
        Some(Literal::Str(text)) if !text.is_empty() && text.iter().all(u8::is_ascii_digit) => Some(id),
        _ => None,
    };
    let (id, other) = number(right).map(|id| (id, left)).or_else(|| Some((number(left)?, right)))?;
    if checker.is_text(other) {
        return None;
    }
    let written = checker.text(id).trim_matches('"').to_owned();
    let finding =
        Diagnostic::warning("a number in quotes is a string: comparing it with a number is ERROR", checker.span(id));
    Some(finding.write(checker.span(id), written))
}

/// `x ?: 1 + 2`
fn tight_default(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = checker.binary(id).filter(|(op, ..)| matches!(op.precedence(), 9 | 10))?;
    let (BinaryOp::Default, value, other) = checker.binary(left)? else { return None };
    let message = format!("`?:` binds more tightly than `{}`", op.symbol());
    let finding = Diagnostic::warning(message, checker.span(left));
    if ![value, other, right].iter().all(|id| checker.fits(*id)) {
        return Some(finding.help("put parentheses around the right side of `?:`"));
    }
    let (value, other, right) = (checker.text(value), checker.text(other), checker.text(right));
    let help =
        format!("write `({value} ?: {other}) {op} {right}`, or `{value} ?: ({other} {op} {right})`", op = op.symbol());
    Some(finding.help(help).fix(checker.span(left), format!("({value} ?: {other})")))
}

/// `TARGET..Memory`
fn two_dots(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let start = match checker.tree.node(id) {
        Node::Select(_) => checker.span(base_of(id)).range().end,
        Node::Absolute(_) => checker.span(id).range().start,
        _ => return None,
    };
    let behind = checker.source.get(start..).unwrap_or_default();
    let at = start + behind.len() - behind.trim_ascii_start().len();
    checker.source.get(at..)?.strip_prefix(b"..")?;
    let span = Span::new(at, at + 2);
    Some(Diagnostic::warning("two dots are read as one", span).write(span, "."))
}

/// `"C:\temp\new"`
fn backslash_path(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    let Literal::Str(value) = checker.literal(id)? else { return None };
    let token = checker.bytes(checker.span(id));
    let inner = token.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let drive = inner.first().is_some_and(u8::is_ascii_alphabetic) && inner.get(1..3) == Some(b":\\");
    if !drive || inner.get(3) == Some(&b'\\') || value.get(1..3) == Some(b":\\") || inner.len() > MAX_FIX_LENGTH {
        return None;
    }
    let written = checker.text(id).replace('\\', "\\\\");
    Some(Diagnostic::warning("`\\` in a string starts an escape", checker.span(id)).write(checker.span(id), written))
}

/// `time - QDate`
fn unwritten_call(checker: &Checker<'_>, id: NodeId) -> Option<Diagnostic> {
    // Attributes do not have these names.
    const QUESTIONS: [&[u8]; 5] = [b"isundefined", b"iserror", b"ifthenelse", b"regexp", b"stringlistmember"];
    let Node::Attr(name) = checker.tree.node(id) else { return None };
    if QUESTIONS.contains(&name.folded()) {
        let span = checker.span(id);
        let finding = Diagnostic::warning(format!("`{name}` is an attribute reference here"), span);
        return Some(finding.help(format!("write `{name}(…)` for the function")));
    }
    let function = find(*name).filter(|function| function.most == Some(0) && name.folded() != b"currenttime")?;
    let span = checker.span(id);
    let finding = Diagnostic::warning(format!("`{name}` is an attribute reference here"), span);
    let written = format!("{}()", function.name);
    Some(finding.help(format!("write `{written}` for the function")).fix(span, written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse::{ParseOptions, parse_expr};

    fn messages(source: &str) -> Vec<String> {
        let options = ParseOptions { places: true, ..ParseOptions::default() };
        let expr = parse_expr(source.as_bytes(), &options).unwrap();
        check(&expr, source.as_bytes()).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn usual_requirements_are_not_warned_about() {
        for source in [
            "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") && TARGET.Disk >= RequestDisk",
            "x =?= undefined || y isnt error",
            "(Flags & 4) == 4",
            "a < b == c < d",
            "(a == b) == true",
            "x ?: 0 > 5",
            "!Busy == true",
            "formatTime(time(), \"%H\") >= \"08\" && split(Name, \"-\")[1] < \"5\"",
            "toUpper(Code) >= \"5\" && \"3\" < substr(Code, 1, 1)",
            "OpSysMajorVer == \"7\"",
            "CurrentTime - QDate > 60",
            "'a b' + 1",
            "absTime(\"2020-01-01T00:00:00Z\") - absTime(\"2019-01-01T00:00:00Z\")",
            "\"C:\\\\temp\"",
            "x ? \"a\" : { 1 }",
        ] {
            assert_eq!(messages(source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn a_number_in_quotes_is_a_string_among_strings() {
        let quoted = ["a number in quotes is a string: comparing it with a number is ERROR"];
        assert_eq!(messages("Memory > \"1024\""), quoted);
        assert_eq!(messages("size(Name) > \"5\""), quoted);
        let options = ParseOptions { places: true, ..ParseOptions::default() };
        let source = b"TARGET.Owner < \"5\"";
        let expr = parse_expr(source, &options).unwrap();
        assert!(check_with(&expr, source, &|name| name.folded() == b"owner").is_empty());
    }

    #[test]
    fn tests_that_are_scaled_or_negated_need_parentheses() {
        // classad2: 1, not 1000; false where `x` is missing; ERROR.
        assert_eq!(messages("a =?= undefined * 1000"), ["`*` binds more tightly than `=?=`"]);
        assert_eq!(
            messages("toLower(a) =?= \"X86\""),
            ["the value of `toLower` has no such letters: this is never true"]
        );
        assert_eq!(messages("isUndefined && a"), ["`isUndefined` is an attribute reference here"]);
        assert_eq!(messages("!x =?= true"), ["`!` applies only to the left side of `=?=`"]);
        assert_eq!(messages("split(a, \".\")[-1] == \"org\""), ["a negative subscript is always ERROR"]);
        for source in ["(a =?= undefined) * 1000", "a == 2 * b", "!(x =?= true)", "x =!= true", "list[1 - 1]"] {
            assert_eq!(messages(source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn a_sum_of_comparisons_needs_parentheses() {
        // classad2: ERROR, as `"a" + Owner` is.
        let source = "Owner == \"a\" + Owner == \"b\"";
        assert_eq!(messages(source), ["`+` binds more tightly than `==`"]);
        let options = ParseOptions { places: true, ..ParseOptions::default() };
        let found = check(&parse_expr(source.as_bytes(), &options).unwrap(), source.as_bytes());
        let fix = found[0].fix.as_ref().unwrap();
        assert_eq!(fix.apply(source.as_bytes()), b"(Owner == \"a\") + (Owner == \"b\")");
    }

    #[test]
    fn many_mistakes_give_few_warnings() {
        let source = vec!["nosuch()"; 1000].join(" + ");
        assert_eq!(messages(&source).len(), MAX_FINDINGS);
    }

    #[test]
    fn an_expression_without_places_gives_no_warnings() {
        let expr = parse_expr(b"nosuch()", &ParseOptions::default()).unwrap();
        assert!(check(&expr, b"nosuch()").is_empty());
    }
}
