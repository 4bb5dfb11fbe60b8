//! Words and operators that probably do not mean what they look like.

use super::attributes::{Variety, is_known, is_string, is_value_of, variety};
use super::expression::{LintContext, written};
use super::versions::version_dependent;
use classmate::internal::syntax::expr::{Node, NodeId, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, Expr, Name, Span};

/// Findings of one expression.
const MAX_DIAGNOSTICS: usize = 50;

type Rule = fn(&LintContext<'_>, &Tree, NodeId) -> Option<Diagnostic>;

const RULES: &[Rule] = &[
    unquoted_word,
    glob,
    default_beside_comparison,
    branch_comparison,
    macro_in_text,
    duration,
    list_identity,
    version_dependent,
    per_job,
];

pub(super) fn find(context: &LintContext<'_>, expr: &Expr, found: &mut Vec<Diagnostic>) {
    let tree = &**expr.tree();
    let start = found.len();
    for id in tree.first_of(expr.root())..=expr.root() {
        found.extend(RULES.iter().filter_map(|rule| rule(context, tree, id)));
        if found.len() > start + MAX_DIAGNOSTICS {
            break;
        }
    }
}

fn equality(tree: &Tree, id: NodeId) -> Option<(BinaryOp, NodeId, NodeId)> {
    match *tree.node(id) {
        Node::Binary(op, left, right) if op.precedence() == 6 => Some((op, left, right)),
        _ => None,
    }
}

/// `OpSys == LINUX`, `Machine == node01.example.org`
fn unquoted_word(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (_, left, right) = equality(tree, id)?;
    let word = |one: NodeId, two: NodeId| {
        let attribute = tree.reference(tree.bare(one))?;
        let bare = tree.bare(two);
        let unknown_word = |word: Name| {
            is_string(attribute.name.folded())
                && context.unknown_word.is_some_and(|is_unknown_word| is_unknown_word(word))
                && !may_be_missing(tree, word)
        };
        let Node::Attr(word) = *tree.node(bare) else {
            // The name of a host: a part of an ad that does not exist.
            return unknown_word(first_of_dotted(tree, bare)?).then_some(two);
        };
        let text = || context.schema.is_some_and(|schema| schema.is_text(attribute.name, word));
        let meant = is_value_of(attribute.name.folded(), word.folded()) || text() || unknown_word(word);
        (meant && !(context.defined)(word)).then_some(two)
    };
    let at = word(left, right).or_else(|| word(right, left))?;
    let span = tree.span(tree.bare(at))?;
    Some(unquoted(&written(context.text, span), span))
}

/// Parts of an expression that are looked at for a test of a word.
const LOOKED_AT: usize = 1024;

/// Returns true if an expression asks whether a word is there, `word =!= undefined`, `isUndefined(word)`, `word ?: 5`.
fn may_be_missing(tree: &Tree, word: Name) -> bool {
    let is_word = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Attr(name) if *name == word);
    let is_undefined = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Undefined));
    // Texts are never this long: a bound for the work of each of its words.
    tree.nodes.iter().take(LOOKED_AT).any(|node| match *node {
        Node::Binary(BinaryOp::Default, left, _) => is_word(left),
        Node::Binary(op, left, right) if op.precedence() == 6 => {
            is_word(left) && is_undefined(right) || is_undefined(left) && is_word(right)
        }
        Node::Call(call) => {
            let call = &tree.calls[call as usize];
            call.name.folded() == b"isundefined" && tree.run(call.arguments).iter().any(|id| is_word(*id))
        }
        _ => false,
    })
}

/// `AccountingGroup = physics`: an attribute that is a string, set to a word that is not an attribute of the same ad.
pub(super) fn unquoted_text(
    attribute: Name,
    text: &[u8],
    expr: &Expr,
    defined: &dyn Fn(Name) -> bool,
) -> Option<Diagnostic> {
    let tree = expr.tree();
    let Node::Attr(word) = *tree.node(tree.bare(expr.root())) else { return None };
    let meant = is_string(attribute.folded()) && !is_known(word.folded()) && !defined(word);
    let span = tree.span(tree.bare(expr.root())).filter(|_| meant)?;
    Some(unquoted(&written(text, span), span))
}

/// A word that is meant as a text.
fn unquoted(word: &str, span: Span) -> Diagnostic {
    let finding = Diagnostic::warning(format!("`{word}` without quotes is an attribute reference"), span);
    let string = format!("\"{word}\"");
    finding.help(format!("write `{string}`")).fix(span, string).code("unquoted-word")
}

/// The `a` of `a.b.c`, unless it names an ad.
fn first_of_dotted(tree: &Tree, id: NodeId) -> Option<Name> {
    let mut at = id;
    while let Node::Select(_) = tree.node(at) {
        at = base_of(at);
    }
    match *tree.node(at) {
        Node::Attr(name) if at != id && !matches!(name.folded(), b"my" | b"target" | b"parent" | b"self") => Some(name),
        _ => None,
    }
}

/// `Machine == "*.edu"`
fn glob(_: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = equality(tree, id)?;
    let differs = matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt);
    let pattern = |id: NodeId| match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Str(text)) => Some((id, wildcard(text, differs)?)),
        _ => None,
    };
    let (at, sign) = pattern(right).or_else(|| pattern(left))?;
    let message = format!("`{}` compares the whole string; `{sign}` is not a wildcard", op.symbol());
    let help = "write `regexp(\"^prefix\", value)`, or `stringListMember(value, \"a,b\")` for a list";
    Some(Diagnostic::warning(message, tree.span(at)?).help(help).code("glob-comparison"))
}

/// The part of a string that looks like a wildcard: `*`, a `?` inside a word, a range such as `[a-z]`. A `*` alone is
/// one where the text is to differ from it: it may be a value of its own, but nothing differs from "anything".
fn wildcard(text: &[u8], differs: bool) -> Option<String> {
    if text.contains(&b'*') {
        return (text.len() > 1 || differs).then(|| "*".to_owned());
    }
    let word = !text.iter().any(|byte| byte.is_ascii_whitespace() || b"/=&:".contains(byte));
    let inner = |at: usize| at > 0 && at + 1 < text.len();
    if word && memchr::memchr_iter(b'?', text).any(inner) {
        return Some("?".to_owned());
    }
    memchr::memchr_iter(b'[', text).filter(|_| word).find_map(|open| {
        let close = open + memchr::memchr(b']', &text[open..])?;
        let range = text[open..close].windows(3).any(|three| {
            three[1] == b'-'
                && three[0].is_ascii_alphanumeric()
                && three[2].is_ascii_alphanumeric()
                && three[0] < three[2]
        });
        range.then(|| String::from_utf8_lossy(&text[open..=close]).into_owned())
    })
}

/// `a == b ?: false`
fn default_beside_comparison(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Binary(op, left, right) = *tree.node(id) else { return None };
    if !matches!(op.precedence(), 6 | 7) {
        return None;
    }
    let Node::Binary(BinaryOp::Default, value, other) = *tree.node(right) else { return None };
    let is_boolean = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Bool(_)));
    if !is_boolean(other) || is_boolean(left) {
        return None;
    }
    let message = format!("`?:` binds more tightly than `{}`, so it applies only to the right side", op.symbol());
    let text = |id: NodeId| Some(written(context.text, tree.span(id)?));
    let (left, value, other) = (text(left)?, text(value)?, text(other)?);
    let help = format!("write `({left} {} {value}) ?: {other}`", op.symbol());
    Some(Diagnostic::warning(message, tree.span(right)?).help(help).code("precedence"))
}

/// `x ? 1 : 2 > 5`
fn branch_comparison(_: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Conditional { yes, no, .. } = *tree.node(id) else { return None };
    let number = matches!(tree.node(yes), Node::Literal(Literal::Int(_) | Literal::Real(_) | Literal::Str(_)));
    let Node::Binary(op, ..) = *tree.node(no) else { return None };
    if !number || !matches!(op.precedence(), 6 | 7) {
        return None;
    }
    let message = format!("`{}` applies only to the last part of the conditional", op.symbol());
    let help = "put parentheses around the whole conditional, or around its last part";
    Some(Diagnostic::warning(message, tree.span(no)?).help(help).code("precedence"))
}

/// `"$(NAME)"`
fn macro_in_text(_: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Literal(Literal::Str(value)) = tree.node(id) else { return None };
    let at = memchr::memmem::find(value, b"$(")?;
    if at > 0 && value[at - 1] == b'$' {
        return None;
    }
    let end = value[at..].iter().position(|byte| *byte == b')')? + at + 1;
    let name = &value[at + 2..end - 1];
    if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(byte)) {
        return None;
    }
    let shown = String::from_utf8_lossy(&value[at..end.min(at + 60)]).into_owned();
    let finding = Diagnostic::error(format!("`{shown}` in the string is not expanded"), tree.span(id)?);
    Some(finding.help("macros are expanded only in configuration and submit files").code("leftover-macro"))
}

/// `relTime("1:30")` in arithmetic
fn duration(_: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Literal(Literal::RelTime(seconds)) = tree.node(id) else { return None };
    let message = "a duration written as a string evaluates to a number of seconds";
    let help = format!("write `relTime({seconds:?})` for a duration, or the number itself");
    Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("version-dependent"))
}

/// `{ 1 } =?= split("1")`
fn list_identity(_: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Binary(BinaryOp::Is | BinaryOp::Isnt, left, right) = *tree.node(id) else { return None };
    let list = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::List(_) | Node::Ad(_));
    if !list(left) && !list(right) {
        return None;
    }
    let message = "comparing lists or ads for identity is false or ERROR, depending on how they were created";
    let help = "compare their elements, or `size` and `member`";
    Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("version-dependent"))
}

/// `TARGET.GlobalJobId` in an expression of a slot
fn per_job(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    if !context.role.looks_at_jobs {
        return None;
    }
    let reference = tree.reference(id)?;
    let ours =
        reference.scope == RefScope::My || (reference.scope == RefScope::Either && (context.defined)(reference.name));
    let variety = variety(reference.name.folded()).filter(|_| !ours)?;
    let what = match variety {
        Variety::Job => "is unique per job, so every job becomes its own autocluster",
        Variety::Process => "is unique per job of a submission, so each of them is in a different autocluster",
        Variety::Submission => "is unique per submission, so every submission becomes its own autocluster",
        Variety::Second => "is the submission time in seconds, so nearly every submission becomes its own autocluster",
        Variety::Written => "often differs from job to job, so there can be as many autoclusters as jobs",
        Variety::History => "changes during the life of a job, so identical jobs move to different autoclusters",
    };
    let message = format!("`{}` {what}", reference.name);
    let help = "use an attribute that many jobs share; `classmate autoclusters` shows the cost";
    Some(Diagnostic::warning(message, tree.span(id)?).help(help).code("per-job-attribute"))
}
