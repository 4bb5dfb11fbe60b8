//! One expression: what does not parse, what parses to something else than was meant, and what is certain of it.

use std::ops::Range;
use std::sync::Arc;

use super::attributes::{fact, is_string};
use super::policy_state::{self, JobState};
use super::schema::AdSchema;
use super::scope::Seen;
use super::units::in_unit;
use super::versions::{LintVersions, changed, read_elsewhere};
use super::{alternatives, bindings, comparison, exclusive, missing, rules, samples};
use crate::versions::VersionText;
use classmate::internal::analysis::clauses::{Certainty, Claim, claims, is_value};
use classmate::internal::analysis::evaluate::unknown;
use classmate::internal::analysis::values::Truths;
use classmate::internal::builtin::check::check_with;
use classmate::internal::error::SyntaxErrorKind;
use classmate::internal::syntax::diagnose::diagnose;
use classmate::internal::syntax::expr::{Node, NodeId, Tree, copy_into};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::token::Quoting;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{ClassAd, Diagnostic, Expr, Name, ParseOptions, Span, SyntaxError};

/// The purpose of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Role {
    /// It decides something, and undefined means no.
    pub condition: bool,
    /// It is the slot's, or the negotiator's, and looks at jobs.
    pub looks_at_jobs: bool,
    /// Attributes, lower case, that are there whenever it is asked.
    pub there: &'static [&'static str],
    /// The ad that is MY.
    pub mine: Seen,
    /// The ad that is TARGET.
    pub other: Seen,
    /// The jobs for which it is evaluated.
    pub state: JobState,
}

/// An expression and what is known of its surroundings.
#[derive(Clone, Copy)]
pub struct LintContext<'a> {
    /// The text.
    pub text: &'a [u8],
    /// The quoting of its strings.
    pub quoting: Quoting,
    /// True if what follows an expression is ignored, as in a line of the long format.
    pub prefix: bool,
    /// Its role.
    pub role: Role,
    /// Returns true if the ad that contains it has an attribute.
    pub defined: &'a dyn Fn(Name) -> bool,
    /// Returns true if the ad that contains it has an attribute of a job as the job has it.
    pub copied: &'a dyn Fn(Name) -> bool,
    /// Attributes that the configuration gives to jobs.
    pub given: &'a dyn Fn(Name) -> bool,
    /// The ads that are looked at together with it.
    pub schema: Option<&'a AdSchema>,
    /// Returns true if a word is probably not an attribute of any ad; `None` if that is not known.
    pub unknown_word: Option<&'a dyn Fn(Name) -> bool>,
    /// The parts of the text that come from macros: what is a constant there now may be another one.
    pub made: &'a [Range<usize>],
    /// The attribute of a job or a slot that gets this value, if there is one.
    pub attribute: Option<Name>,
    /// The attribute that has this value, and its ad.
    pub own: Option<(Name, &'a ClassAd)>,
    /// True if it is put into other texts, as a macro is.
    pub is_macro: bool,
    /// The text that says in words what the expression is for: the comment above it, and the reason that it has.
    pub beside: &'a dyn Fn() -> String,
    /// The version in which the text is read, and those in which it must mean the same.
    pub versions: &'a LintVersions,
}

impl<'a> LintContext<'a> {
    /// An expression of whose surroundings nothing is known.
    pub fn of(text: &'a [u8], quoting: Quoting, role: Role) -> Self {
        let (schema, unknown_word, own, versions) = (None, None, None, LintVersions::unknown());
        let (prefix, made, defined, is_macro, attribute) = (false, &[][..], &|_| false, false, None);
        let beside: &dyn Fn() -> String = &String::new;
        LintContext {
            text,
            quoting,
            prefix,
            role,
            defined,
            copied: &|_| false,
            given: &|_| false,
            schema,
            unknown_word,
            made,
            attribute,
            own,
            is_macro,
            beside,
            versions,
        }
    }

    /// Tests whether the ad that contains the expression has an attribute of its own, of which nothing is known, for a reference.
    pub(super) fn has_its_own(&self, reference: Reference) -> bool {
        reference.scope != RefScope::Target && (self.defined)(reference.name) && !(self.copied)(reference.name)
    }

    /// The text, to be compared in several versions.
    pub(super) fn written(&self) -> VersionText<'a> {
        VersionText { text: self.text, quoting: self.quoting, prefix: self.prefix }
    }

    /// The reading of the text, with places.
    pub(super) fn options(&self) -> ParseOptions {
        let (quoting, semantics) = (self.quoting, self.versions.read);
        ParseOptions { quoting, semantics, places: true, ..ParseOptions::default() }
    }
}

/// Bytes of an expression of which more than the syntax is looked at.
pub(super) const MAX_TEXT: usize = 100_000;

/// Longest part that a message repeats.
const MAX_QUOTE: usize = 80;

/// Checks an expression.
pub fn lint(context: &LintContext<'_>) -> Vec<Diagnostic> {
    let options = context.options();
    match parse_expr(context.text, &options) {
        Ok(expr) => parsed(context, &expr),
        Err(error) => {
            let attribute = context.attribute.as_ref().map(|name| name.folded());
            let finding = in_unit(unparsed(context.text, &error, &options), context.text, attribute);
            vec![read_elsewhere(finding, context.written(), context.versions)]
        }
    }
}

/// Checks an expression that was parsed with places.
pub fn parsed(context: &LintContext<'_>, expr: &Expr) -> Vec<Diagnostic> {
    if context.text.len() > MAX_TEXT {
        return Vec::new();
    }
    // An attribute of which nothing is known may be a text.
    let may_be_text =
        |name: Name| is_string(name.folded()) || fact(name.folded()).is_none_or(|fact| fact.kind.is_none());
    let mut found = check_with(expr, context.text, &may_be_text);
    rules::find(context, expr, &mut found);
    comparison::find(context, expr, &mut found);
    // The value of an attribute may be written as a calculation.
    let is_value_alone = !context.role.condition && expr.tree().references(expr.root()).next().is_none();
    let certain: Vec<Diagnostic> = certain_of(context, expr)
        .iter()
        .filter(|claim| !(is_value_alone && is_truth(claim)))
        .filter_map(|claim| claimed(context.text, expr, claim))
        .collect();
    // What says why is said; what only says that is not, then.
    let changed = changed(context, expr);
    let reported: Vec<Span> = found.iter().chain(&changed).map(|found| found.span).collect();
    let explained = |found: &Diagnostic| {
        let of_whole = expr.tree().span(expr.root()) == Some(found.span);
        let holds = |other: &Span| found.span.start <= other.start && other.end <= found.span.end;
        let is_reported = reported.iter().any(holds);
        let of_value = || !context.role.condition && is_value(expr.tree(), expr.root());
        is_reported && found.code.starts_with("always-")
            || found.code == "never-true" && (is_reported || of_whole && (!reported.is_empty() || of_value()))
    };
    found.extend(certain.into_iter().filter(|found| !explained(found)));
    bindings::find(context, expr, &mut found);
    exclusive::find(context, expr, &mut found);
    let before = found.len();
    samples::find(context, expr, &mut found);
    let causes: Vec<Span> = found[before..].iter().map(|found| found.span).collect();
    let explained = |span: Span| causes.iter().any(|cause| span.start <= cause.start && cause.end <= span.end);
    found.retain(|found| found.code != "never-true" || !explained(found.span));
    if context.role.condition {
        found.extend(no_condition(context, expr));
        found.extend(policy_state::find(context, expr));
        found.extend(policy_state::never_started(context, expr));
        missing::find(context, expr, &mut found);
        alternatives::find(context, expr, &mut found);
    }
    for found in &mut found {
        found.fix = found.fix.take().filter(|fix| {
            // What looks like a comment stays.
            let gone = context.text.get(fix.range.clone()).unwrap_or_default();
            comments(gone) <= comments(fix.text.as_bytes())
        });
    }
    let words: Vec<Span> = found.iter().filter(|one| one.code == "unquoted-word").map(|one| one.span).collect();
    found.retain(|one| one.code != "unknown-attribute" || !words.contains(&one.span));
    found.sort_by_key(|found| (found.span.start, found.span.end));
    // What the language says of a word comes before what its neighbour says.
    found.dedup_by(|next, first| {
        let says_why = matches!(next.code, "unquoted-word" | "single-quotes");
        next == first || says_why && (next.code, next.span) == (first.code, first.span)
    });
    // What is odd comes before its meanings in other versions.
    found.extend(changed);
    found
}

/// Tests for the claim that a clause is always true, or never.
fn is_truth(claim: &Claim) -> bool {
    matches!(claim.certainty, Certainty::Always(Truths::TRUE | Truths::FALSE) | Certainty::Never)
}

/// The largest number of comments that a text may contain.
fn comments(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, b"/*").count() + memchr::memmem::find_iter(text, b"//").count()
}

/// Constants in macros that are left open, of one expression.
const MAX_CONSTANTS: usize = 500;

/// The proven claims about the clauses. A claim that a clause is constant must hold for all values of the macros.
fn certain_of(context: &LintContext<'_>, expr: &Expr) -> Vec<Claim> {
    let mut now = claims(expr, &unknown);
    let is_made = |span: Span| {
        let range = span.range();
        context.made.iter().any(|made| made.start < range.end && range.start < made.end)
    };
    let tree = expr.tree();
    let made: Vec<NodeId> = (tree.first_of(expr.root())..=expr.root())
        .filter(|id| matches!(tree.node(*id), Node::Literal(_)) && tree.span(*id).is_some_and(is_made))
        .collect();
    if made.is_empty() {
        return now;
    }
    let relates =
        |claim: &Claim| !matches!(claim.certainty, Certainty::Always(_) | Certainty::Never | Certainty::Splice(_));
    now.retain(relates);
    if made.len() > MAX_CONSTANTS {
        return now;
    }
    // Each constant is an attribute of its own, of which nothing is known.
    let first = tree.first_of(expr.root());
    let mut open = Tree::default();
    copy_into(&mut open, tree, expr.root());
    for (number, id) in made.into_iter().enumerate() {
        open.nodes[(id - first) as usize] = Node::Attr(Name::new(format!("\u{1}constant {number}").as_bytes()));
    }
    let mut whatever = claims(&Expr::whole(Arc::new(open)), &unknown);
    if first > 0 {
        // Parts of trees are not looked at by themselves.
        whatever.clear();
    }
    let more: Vec<Claim> = now.into_iter().filter(|claim| !whatever.contains(claim)).collect();
    whatever.into_iter().chain(more).collect()
}

/// A condition that is a constant but neither a boolean nor a number.
fn no_condition(context: &LintContext<'_>, expr: &Expr) -> Option<Diagnostic> {
    let tree = expr.tree();
    let Node::Literal(literal) = tree.node(tree.bare(expr.root())) else { return None };
    // Whatever macros are within its quotes, a string is a string.
    let is_made = |at: usize| context.made.iter().any(|made| made.contains(&at));
    let is_open = |span: Span| match literal {
        Literal::Str(_) => is_made(span.range().start) || is_made(span.range().end.saturating_sub(1)),
        _ => !context.made.is_empty(),
    };
    let span = tree.span(expr.root()).filter(|span| !is_open(*span))?;
    let (code, what) = match literal {
        Literal::Bool(_) | Literal::Int(_) | Literal::Real(_) | Literal::RelTime(_) => return None,
        Literal::Undefined => ("always-undefined", "always UNDEFINED"),
        Literal::Error => ("always-error", "always ERROR"),
        _ => ("never-true", "never true"),
    };
    let finding = Diagnostic::warning(format!("`{}` as a condition is {what}", quoted(context.text, span)), span);
    Some(finding.help("write a comparison, `true` or `false`").code(code))
}

/// The diagnostic for a text that does not parse.
pub(super) fn unparsed(text: &[u8], error: &SyntaxError, options: &ParseOptions) -> Diagnostic {
    let finding = diagnose(text, error, options);
    let at = (error.span.start as usize).min(text.len());
    let rest = &text[at..];
    if rest.starts_with(b"$") && matches!(error.kind, SyntaxErrorKind::BadCharacter(_)) {
        return leftover(at, rest).code("leftover-macro");
    }
    let equals = rest.starts_with(b"=") && !rest.starts_with(b"==");
    if equals && matches!(error.kind, SyntaxErrorKind::Unexpected { .. }) {
        return finding.code("assignment");
    }
    if is_unit(text, at) {
        return in_unit(finding.code("size-suffix"), text, None);
    }
    finding.code("syntax")
}

fn leftover(start: usize, rest: &[u8]) -> Diagnostic {
    let macro_text = rest.strip_prefix(b"$(").unwrap_or_default();
    let end = macro_text.iter().position(|byte| *byte == b')').unwrap_or(0);
    let name = &macro_text[..end];
    let plain = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(byte));
    let length = if end == 0 { 1 } else { end + 3 };
    let span = Span::new(start, start + length);
    let shown = String::from_utf8_lossy(&rest[..length.min(MAX_QUOTE)]).into_owned();
    let finding = Diagnostic::error(format!("`{shown}` is not expanded and is not valid in an expression"), span);
    finding.help(if plain {
        "macros are expanded only in configuration and submit files; write the name of an attribute without `$( )`"
    } else {
        "`$(NAME)` can only contain the name of a macro; write a condition in plain parentheses"
    })
}

/// Returns true if there is a unit after a digit: `2G`, `2 GB`.
pub(super) fn is_unit(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_ascii_end();
    let apart = before.len() < at;
    let rest = &text[at.min(text.len())..];
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let unit = match rest[..letters] {
        [] => false,
        // Behind a blank it may be a name.
        [first, ref more @ ..] if apart => b"KMGTPkmgtp".contains(&first) && is_bytes(more),
        [first, ref more @ ..] => b"KMGTPkmgtpBb".contains(&first) && is_bytes(more),
    };
    before.last().is_some_and(u8::is_ascii_digit) && unit
}

/// Returns true for the rest of a unit after its letter: nothing, `B`, `iB`.
fn is_bytes(letters: &[u8]) -> bool {
    [b"".as_slice(), b"b", b"ib", b"i"].iter().any(|known| letters.eq_ignore_ascii_case(known))
}

/// A part of a text as it is written.
pub(super) fn written(text: &[u8], span: Span) -> String {
    String::from_utf8_lossy(text.get(span.range()).unwrap_or_default()).into_owned()
}

/// A part of a text for a message, cut if it is long.
pub(super) fn quoted(text: &[u8], span: Span) -> String {
    let bytes = text.get(span.range()).unwrap_or_default();
    if bytes.len() > MAX_QUOTE {
        return format!("{}…", String::from_utf8_lossy(&bytes[..MAX_QUOTE]));
    }
    String::from_utf8_lossy(bytes).into_owned()
}

/// The help for the `7` of `x == 5 || 7`, which is meant as another value of `x`.
fn compared_number(text: &[u8], expr: &Expr, clause: NodeId) -> Option<String> {
    let tree = expr.tree();
    if !matches!(tree.node(tree.bare(clause)), Node::Literal(Literal::Int(_) | Literal::Real(_))) {
        return None;
    }
    (tree.first_of(expr.root())..=expr.root()).find_map(|id| {
        let Node::Binary(BinaryOp::Or, before, number) = *tree.node(id) else { return None };
        let Node::Binary(op @ (BinaryOp::Equal | BinaryOp::Is), one, _) = *tree.node(tree.bare(before)) else {
            return None;
        };
        tree.reference(tree.bare(one)).filter(|_| number == clause)?;
        let written = |id: NodeId| Some(quoted(text, tree.span(id)?));
        let (before, one, number) = (written(before)?, written(one)?, written(number)?);
        Some(format!("write `{before} || {one} {} {number}`", op.symbol()))
    })
}

fn claimed(text: &[u8], expr: &Expr, claim: &Claim) -> Option<Diagnostic> {
    let span = |id: NodeId| expr.tree().span(id);
    let place = span(claim.clause)?;
    let this = quoted(text, place);
    let beside = |other: NodeId| Some(quoted(text, span(other)?));
    let (message, related, help, code) = match claim.certainty {
        Certainty::Always(truths) => {
            let (code, word) = match truths {
                Truths::TRUE => ("always-true", "true"),
                Truths::FALSE => ("always-false", "false"),
                Truths::UNDEFINED => ("always-undefined", "UNDEFINED"),
                _ => ("always-error", "ERROR"),
            };
            let correct = if matches!(truths, Truths::TRUE | Truths::FALSE) {
                format!("; correct it, or write `{word}`")
            } else {
                String::new()
            };
            (format!("`{this}` is always {word}"), None, format!("it is {word} for all ads{correct}"), code)
        }
        Certainty::Never => {
            let help = "it is false, UNDEFINED or ERROR for all ads".to_owned();
            (format!("`{this}` is never true"), None, help, "never-true")
        }
        Certainty::Contradicts(other) => {
            let (label, help) = ("conflicts with this", "the condition can never be true".to_owned());
            (format!("`{this}` contradicts `{}`", beside(other)?), Some((other, label)), help, "contradiction")
        }
        Certainty::Repeats(other) => {
            let help = "remove one of them".to_owned();
            (format!("`{this}` is repeated"), Some((other, "here")), help, "duplicate-clause")
        }
        Certainty::Follows(other) => {
            let message = format!("`{this}` has no effect together with `{}`", beside(other)?);
            (message, Some((other, "this clause")), "remove it".to_owned(), "implied-clause")
        }
        Certainty::Covered(other) => {
            let help = "it does not reject anything else: remove it".to_owned();
            let message = format!("`{this}` is true wherever `{}` is", beside(other)?);
            (message, Some((other, "this clause")), help, "implied-clause")
        }
        Certainty::Within(other) => {
            let help = "it does not accept anything else: remove it".to_owned();
            let message = format!("`{this}` is true only where `{}` is", beside(other)?);
            (message, Some((other, "this clause")), help, "implied-clause")
        }
        Certainty::Splice(truths) => {
            let (word, op) = if truths == Truths::TRUE { ("true", "||") } else { ("false", "&&") };
            let help = format!("the other clauses have no effect: write `{word}`, or remove this clause");
            let help = compared_number(text, expr, claim.clause).unwrap_or(help);
            (format!("`{this}` with `{op}` decides the whole condition"), None, help, "constant-clause")
        }
    };
    let mut finding = Diagnostic::warning(message, place).help(help).code(code);
    if let Some((other, label)) = related {
        finding = finding.related(span(other)?, label);
    }
    let repeats = matches!(claim.certainty, Certainty::Repeats(_) | Certainty::Follows(_));
    Some(if repeats { without(expr, claim.clause, finding) } else { finding })
}

/// A finding with the fix that leaves a clause of a chain out, if that keeps the kind of the value.
fn without(expr: &Expr, clause: NodeId, finding: Diagnostic) -> Diagnostic {
    let tree = expr.tree();
    let around = (0..tree.nodes.len() as NodeId).find_map(|id| match *tree.node(id) {
        Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if left == clause || right == clause => {
            Some((id, op, left, right))
        }
        _ => None,
    });
    let Some((id, op, left, right)) = around else { return finding };
    let (Some(first), Some(second)) = (tree.span(left), tree.span(right)) else { return finding };
    let kept = if left == clause { right } else { left };
    let more = tree.nodes.iter().any(|node| matches!(node, Node::Binary(other, one, _) if *other == op && *one == id));
    if !(more || matches!(tree.view(kept), View::Logic { .. } | View::Compare { .. })) {
        return finding;
    }
    let gone = if left == clause {
        Span::new(first.range().start, second.range().start)
    } else {
        Span::new(first.range().end, second.range().end)
    };
    finding.fix(gone, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of what is found in a condition.
    fn codes(text: &str) -> Vec<&'static str> {
        let role = Role { condition: true, ..Role::default() };
        let text = text.as_bytes();
        let context = LintContext::of(text, Quoting::New, role);
        lint(&context).into_iter().map(|found| found.code).collect()
    }

    #[test]
    fn only_what_can_be_undefined_is_true_when_undefined() {
        for text in [
            "(TARGET.X < 11) =!= true",
            "(TARGET.X < 11) isnt true && TARGET.Cpus > 1",
            "(TARGET.X > 5 && TARGET.Y > 3) =!= true",
            "true =!= !(TARGET.X == \"a\")",
        ] {
            assert_eq!(codes(text), ["true-when-undefined"], "{text}");
        }
        for text in [
            "(TARGET.X =!= undefined && TARGET.X > 5) =!= true",
            "((TARGET.X ?: 0) > 5) =!= true",
            "(isUndefined(TARGET.X) || TARGET.X > 5) =!= true",
            "TARGET.X =!= undefined && (TARGET.X > 5) =!= true",
            "(TARGET.Cpus > 5) =!= true",
            "TARGET.X =!= true",
            "(TARGET.X =?= 5) =!= true",
            "ifThenElse(TARGET.X =!= undefined, TARGET.X > 5, false) =!= true",
        ] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn negated_questions_refuse_where_the_attribute_is_missing() {
        for text in [
            "TARGET.Cpus > 1 && !(TARGET.Foo == \"x\")",
            "TARGET.Cpus > 1 && !regexp(\"x\", TARGET.Foo)",
            "TARGET.Cpus > 1 && !member(\"x\", TARGET.Foo)",
        ] {
            assert_eq!(codes(text), ["undefined-means-no"], "{text}");
        }
        for text in [
            "TARGET.Cpus > 1 && !(TARGET.Foo =?= \"x\")",
            "TARGET.Cpus > 1 && TARGET.Foo =!= undefined && !regexp(\"x\", TARGET.Foo)",
            "TARGET.Cpus > 1 && (isUndefined(TARGET.Foo) || !regexp(\"x\", TARGET.Foo))",
            // A missing list is an empty one: this is true.
            "TARGET.Cpus > 1 && !stringListMember(\"x\", TARGET.Foo)",
            "!regexp(\"x\", TARGET.Machine)",
            "regexp(\"x\", TARGET.Foo)",
        ] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn bits_that_are_compared_are_not_mended() {
        let role = Role { condition: true, ..Role::default() };
        let fixed = |text: &str| {
            let text = text.as_bytes();
            let context = LintContext::of(text, Quoting::New, role);
            let found = lint(&context);
            assert_eq!(found[0].code, "bitwise-operator");
            (found[0].fix.is_some(), found[0].help.clone().unwrap())
        };
        assert_eq!(
            fixed("TARGET.a & 4 == 4"),
            (false, "write `(TARGET.a & 4) == 4` for the bits, or `&&` between two conditions".into())
        );
        assert!(fixed("TARGET.a > 1 & TARGET.b > 1").0);
        assert!(!fixed("TARGET.a | TARGET.b != 0").0);
    }

    #[test]
    fn large_integers_beside_reals_contradict_nothing() {
        // 2^53 + 1 is equal to the real 2^53: `9007199254740993 <= 9007199254740992.0` is true.
        assert_eq!(codes("TARGET.x <= 9007199254740992.0 && b && TARGET.x == 9007199254740993"), Vec::<&str>::new());
        assert_eq!(codes("TARGET.x == 9007199254740993 && TARGET.x <= 9007199254740992.0"), ["implied-clause"]);
        assert_eq!(codes("-5.0 / 0 < TARGET.Cpus"), ["division-by-zero"]);
    }

    #[test]
    fn what_is_no_condition_is_reported() {
        for (text, code) in [
            ("\"yes\"", "never-true"),
            ("error", "always-error"),
            ("isUndefined(TARGET.A) ? \"a\" : \"b\"", "never-true"),
            ("TARGET.Cpus > 1 && ifThenElse(isUndefined(TARGET.A), {1}, {2})", "never-true"),
            ("TARGET.Cpus > 1 && (isUndefined(TARGET.A) ? 1 + {1} : error)", "always-error"),
            ("(undefined)", "always-undefined"),
            ("member(\"a\", {\"b\"})", "never-true"),
        ] {
            assert_eq!(codes(text), [code], "{text}");
        }
        for text in ["true", "false", "0", "1.5", "size(\"abc\")"] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_text_is_no_error_where_no_condition_is_asked_for() {
        let codes = |text: &str| {
            let context = LintContext::of(text.as_bytes(), Quoting::New, Role::default());
            lint(&context).into_iter().map(|found| found.code).collect::<Vec<_>>()
        };
        for text in [
            "ifThenElse(JobStatus =?= 1, \"a\", \"b\")",
            "isUndefined(A) ? \"a\" : \"b\"",
            "ifThenElse(isUndefined(A), {1}, {2})",
            "isUndefined(A) ? {1} : isUndefined(B) ? \"b\" : [c = 1]",
            "ifThenElse(A =?= 1, absTime(0), \"never\")",
            "ifThenElse(A =?= 1, error, \"b\")",
            "strcat(\"a\", \"b\")",
        ] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
        for text in [
            "ifThenElse(A =?= 1, 1 + {2}, \"b\")",
            "A =?= 1 ? \"a\" : 1 + {2}",
            "ifThenElse(isUndefined(A), 1 + {2}, error)",
            "1 + {2}",
        ] {
            assert_eq!(codes(text), ["always-error"], "{text}");
        }
        // In the condition of a conditional, a string is not a condition.
        assert_eq!(codes("ifThenElse(isUndefined(A) ? \"a\" : \"b\", 1, 2)"), ["always-error"]);
    }

    #[test]
    fn wildcards_in_comparisons_are_told() {
        for text in [
            "TARGET.Machine == \"node*.x\"",
            "TARGET.Machine == \"node?.x\"",
            "TARGET.Machine == \"node[a-z]\"",
            "TARGET.Machine == \"node[0-9]\"",
            "TARGET.Owner != \"*\"",
        ] {
            assert_eq!(codes(text), ["glob-comparison"], "{text}");
        }
        for text in [
            "TARGET.Owner == \"*\"",
            "TARGET.Url == \"http://x/y?z=1\"",
            "TARGET.Note == \"why?\"",
            "TARGET.Note == \"is it so? yes\"",
            "TARGET.Addr == \"<[2001:db8::1]:9618>\"",
            "TARGET.Tag == \"a[1]\"",
        ] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
    }
}
