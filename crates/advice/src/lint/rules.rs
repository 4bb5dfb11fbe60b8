//! Words and operators that probably do not mean what they look like. One file of more than 600 lines: it is a list of rules that
//! share what they ask of a word.

use super::arguments::misused;
use super::attributes::{Kind, Variety, fact, is_known, is_string, is_value_of, misspelled_attribute, variety};
use super::commands::is_listed;
use super::compared_values::is_release;
use super::computed::computed;
use super::expression::{LintContext, written};
use super::odd_calls::odd_call;
use super::pool_types::unlike_pool;
use super::schema::AdSchema;
use super::scope::{Seen, unseen};
use classmate::internal::builtin::near;
use classmate::internal::syntax::expr::{Node, NodeId, Tree, base_of};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::RefScope;
use classmate::{Diagnostic, Expr, Name, ParseOptions, Span};
use classmate_pool::internal::pool::attribute;

/// Findings of one expression.
const MAX_DIAGNOSTICS: usize = 50;

type Rule = fn(&LintContext<'_>, &Tree, NodeId) -> Option<Diagnostic>;

const RULES: &[Rule] = &[
    unquoted_word,
    glob,
    item_of_several,
    default_beside_comparison,
    branch_comparison,
    macro_in_text,
    duration,
    list_identity,
    odd_call,
    computed,
    per_job,
    misused,
    unseen,
    unquoted_argument,
    truth_word,
    quoted_word,
    joined_scope,
    negated_identity,
    misspelled_scope,
    code_word,
    nowhere,
    name_of_command,
    slip,
    unlike_pool,
    bits_of_truths,
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

/// `HasCVMFS & HasDocker`: booleans have no bits.
fn bits_of_truths(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Binary(op @ (BinaryOp::BitAnd | BinaryOp::BitOr), left, right) = *tree.node(id) else { return None };
    let is_truth = |side: NodeId| {
        let Some(reference) = tree.reference(tree.bare(side)) else { return false };
        match fact(reference.name.folded()) {
            Some(fact) => fact.kind == Some(Kind::Boolean),
            // By its name: `HasFpga`, `IsShort`.
            None => is_named_as_truth(&reference.name.display()),
        }
    };
    if !is_truth(left) || !is_truth(right) {
        return None;
    }
    let meant = if op == BinaryOp::BitAnd { "&&" } else { "||" };
    let (start, end) = (tree.span(left)?.range().end, tree.span(right)?.range().start);
    let between = context.text.get(start..end)?;
    let at = start + memchr::memchr(op.symbol().bytes().next()?, between)?;
    let message = format!("`{}` is a bitwise operator: on conditions it is ERROR", op.symbol());
    let found = Diagnostic::warning(message, Span::new(at, at + op.symbol().len())).code("bitwise-operator");
    Some(found.help(format!("write `{meant}`")))
}

/// Tests for the name of an attribute that is true or false: `HasFpga`, `IS_SHORT`.
fn is_named_as_truth(name: &str) -> bool {
    ["has", "is", "want"].iter().any(|start| {
        let (word, rest) = name.split_at_checked(start.len()).unwrap_or_default();
        word.eq_ignore_ascii_case(start) && rest.starts_with(|next: char| next == '_' || next.is_ascii_uppercase())
    })
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
            // The name of a host: a part of an ad that does not exist. A name with `-` is a difference.
            let first = first_of_dotted(tree, bare).or_else(|| first_of_joined(context.text, tree, bare))?;
            let is_host = is_string(attribute.name.folded()) && !is_known(first.folded()) && !(context.defined)(first);
            return (unknown_word(first) || is_host && !may_be_missing(tree, first)).then_some(two);
        };
        let text = || context.schema.is_some_and(|schema| schema.is_text(attribute.name, word));
        let meant = is_value_of(attribute.name.folded(), word.folded())
            || is_release(attribute.name.folded(), word.folded())
            || text()
            || unknown_word(word);
        (meant && !(context.defined)(word)).then_some(two)
    };
    let at = word(left, right).or_else(|| word(right, left))?;
    let span = tree.span(tree.bare(at))?;
    let shown = written(context.text, span);
    // Single quotes are reported as such.
    (!shown.starts_with('\'')).then(|| unquoted(&shown, span))
}

/// `stringListMember(Owner, alice)`, `userMap("groups", Owner) == physics`: a word of which nothing is known, where a string is read.
fn unquoted_argument(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    const LISTS: [&[u8]; 2] = [b"stringlistmember", b"stringlistimember"];
    const TEXTS: [&[u8]; 6] = [b"usermap", b"strcat", b"substr", b"tolower", b"toupper", b"join"];
    let name = |id: NodeId| match *tree.node(tree.bare(id)) {
        Node::Call(call) => tree.calls[call as usize].name.folded(),
        _ => b"",
    };
    let is_unknown = |id: NodeId| match *tree.node(tree.bare(id)) {
        Node::Attr(word) => {
            let is_unknown = context.unknown_word.is_some_and(|is_unknown_word| is_unknown_word(word));
            is_unknown && !(context.defined)(word) && !may_be_missing(tree, word)
        }
        _ => false,
    };
    let at = match *tree.node(id) {
        Node::Call(call) if LISTS.contains(&name(id)) => {
            tree.run(tree.calls[call as usize].arguments).iter().copied().find(|one| is_unknown(*one))?
        }
        Node::Binary(op, left, right) if op.precedence() == 6 => {
            let other = |one: NodeId, two: NodeId| (TEXTS.contains(&name(one)) && is_unknown(two)).then_some(two);
            other(left, right).or_else(|| other(right, left))?
        }
        _ => return None,
    };
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
    let (tree, root) = (expr.tree(), expr.tree().bare(expr.root()));
    let word = match *tree.node(root) {
        Node::Attr(word) => word,
        _ => first_of_dotted(tree, root).or_else(|| first_of_joined(text, tree, root))?,
    };
    let span = tree.span(root)?;
    let shown = written(text, span);
    // An ad has a type of its own, also where that is the name of an attribute: `Machine`.
    let is_type = matches!(attribute.folded(), b"mytype" | b"targettype");
    let meant = is_string(attribute.folded()) && (is_type || !is_known(word.folded())) || shown.starts_with('\'');
    (meant && !defined(word)).then(|| unquoted(&shown, span))
}

/// `Site = Madison`: a value of an ad that is a word, or a name with dots, of which nothing is known.
pub(super) fn published(text: &[u8], options: &ParseOptions, may_exist: &dyn Fn(Name) -> bool) -> Option<Diagnostic> {
    if is_date(text.trim_ascii()) {
        let span = Span::new(0, text.trim_ascii_end().len());
        let shown = written(text, span);
        let finding = Diagnostic::warning(format!("`{shown}` is a difference of numbers, and not a date"), span);
        return Some(finding.help(format!("write `\"{shown}\"`")).code("unquoted-word"));
    }
    let expr = parse_expr(text, options).ok()?;
    let (tree, root) = (expr.tree(), expr.tree().bare(expr.root()));
    let word = match *tree.node(root) {
        Node::Attr(word) if !is_ad_word(word) => word,
        _ => match first_of_dotted(tree, root) {
            Some(word) => word,
            None => {
                let word = first_of_joined(text, tree, root)?;
                let mut others = tree.references(root).map(|reference| reference.name);
                others.all(|word| !may_exist(word)).then_some(word)?
            }
        },
    };
    let span = tree.span(root)?;
    let shown = written(text, span);
    if let Some(truth) = meant_literal(word.folded()) {
        let finding = Diagnostic::warning(format!("`{shown}` without quotes is an attribute reference"), span);
        return Some(finding.help(format!("write `{truth}`")).code("unquoted-word"));
    }
    (!may_exist(word)).then(|| unquoted(&shown, span))
}

/// `ifThenElse(Owner == "ann", group_a, group_b)`: a word of which nothing is known is the value of one of two cases.
pub(super) fn word_of_case(
    text: &[u8],
    options: &ParseOptions,
    may_exist: &dyn Fn(Name) -> bool,
) -> Option<Diagnostic> {
    let expr = parse_expr(text, options).ok()?;
    let tree = expr.tree();
    let mut open = vec![(expr.root(), false)];
    while let Some((id, is_case)) = open.pop() {
        let id = tree.bare(id);
        match *tree.node(id) {
            Node::Conditional { yes, no, .. } => open.extend([(no, true), (yes, true)]),
            Node::Call(call) if tree.calls[call as usize].name.folded() == b"ifthenelse" => {
                let cases = tree.run(tree.calls[call as usize].arguments).iter().skip(1);
                open.extend(cases.rev().map(|case| (*case, true)));
            }
            Node::Attr(word) if is_case && !is_ad_word(word) && !may_exist(word) => {
                let span = tree.span(id)?;
                return Some(unquoted(&written(text, span), span));
            }
            _ => {}
        }
    }
    None
}

/// `2026-12-31`
fn is_date(text: &[u8]) -> bool {
    text.len() == 10
        && text
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() })
}

fn is_ad_word(word: Name) -> bool {
    matches!(word.folded(), b"my" | b"target" | b"parent" | b"self")
}

/// The value of the language that a word (lower case) means that is not one: `true`, `false` or `undefined`.
pub(super) fn meant_literal(word: &[u8]) -> Option<&'static str> {
    /// Words of the language that a slip leaves.
    const WORDS: [&str; 3] = ["true", "false", "undefined"];
    match word {
        b"yes" | b"on" | b"enabled" => Some("true"),
        b"no" | b"off" | b"disabled" => Some("false"),
        // A slip keeps the first letter, or swaps it with the second one.
        _ => WORDS.into_iter().find(|meant| {
            let first = meant.as_bytes().first();
            let begins = word.first() == first || word.get(1) == first;
            let is_slip = begins && !is_known(word) && near::distance(word, meant.as_bytes(), 1) == Some(1);
            is_slip && word.last().is_some_and(u8::is_ascii_alphabetic)
        }),
    }
}

/// `HasDocker == yes`
fn truth_word(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Attr(word) = *tree.node(id) else { return None };
    let truth = meant_literal(word.folded()).filter(|_| !(context.defined)(word) && !may_be_missing(tree, word))?;
    let span = tree.span(id)?;
    let message = format!("`{}` is not a value but an attribute reference", written(context.text, span));
    Some(Diagnostic::warning(message, span).help(format!("write `{truth}`")).code("unquoted-word"))
}

/// `strcat('used ', MemoryUsage)`: single quotes enclose the name of an attribute.
fn quoted_word(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let name = tree.reference(id)?.name;
    let span = tree.span(id)?;
    let shown = written(context.text, span);
    let inner = shown.strip_prefix('\'').and_then(|shown| shown.strip_suffix('\''))?;
    if is_known(name.folded()) || (context.defined)(name) || inner.contains(['\'', '"']) {
        return None;
    }
    let string = format!("\"{inner}\"");
    let finding = Diagnostic::warning(format!("`{shown}` is the name of an attribute, not a string"), span);
    Some(finding.write(span, string).code("single-quotes"))
}

/// `TARGET_Memory` and `TARGETMemory`: the name of an ad and an attribute that a dot does not separate.
fn joined_scope(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Attr(word) = *tree.node(id) else { return None };
    let shown = word.display().into_owned();
    let attribute = shown.strip_prefix("TARGET")?;
    let attribute = attribute.strip_prefix('_').unwrap_or(attribute);
    let known = attribute::find(attribute.to_ascii_lowercase().as_bytes())?;
    if is_known(word.folded()) || (context.defined)(word) || context.schema.is_some_and(|schema| schema.has(word)) {
        return None;
    }
    let span = tree.span(id)?;
    let message = format!("`{shown}` is one name: a dot is between an ad and its attribute");
    Some(Diagnostic::warning(message, span).write(span, format!("TARGET.{}", known.name)).code("unknown-attribute"))
}

/// `Offline !=! true`, which compares with `!true`.
fn negated_identity(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Binary(BinaryOp::NotEqual, left, right) = *tree.node(id) else { return None };
    let (start, end) = (tree.span(left)?.range().end, tree.span(right)?.range().start);
    let between = context.text.get(start..end + 1)?;
    let at = start + between.len() - between.trim_ascii_start().len();
    if between.trim_ascii() != b"!=!" {
        return None;
    }
    let span = Span::new(at, at + 3);
    let message = "`!=!` is `!=` and the negation of the right side";
    Some(Diagnostic::warning(message, span).write(span, "=!=").code("precedence"))
}

/// `TARGT.Memory`: an attribute of an ad that there is not.
fn misspelled_scope(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Select(_) = tree.node(id) else { return None };
    let base = base_of(id);
    let Node::Attr(word) = *tree.node(base) else { return None };
    let is_slip = word.folded().len() >= 5 && near::distance(word.folded(), b"target", 1) == Some(1)
        || near::is_slip(word.folded(), b"my");
    let span = tree.span(base).filter(|_| is_slip && !(context.defined)(word) && !is_known(word.folded()))?;
    let shown = written(context.text, span);
    let message = format!("`{shown}` is not the name of an ad, so this is UNDEFINED");
    Some(Diagnostic::warning(message, span).write(span, "TARGET").code("unseen-attribute"))
}

/// `Site = Madison`: an attribute that HTCondor does not know, set to a word with a capital that it does not know either and that is
/// not an attribute of the same ad.
pub(super) fn bare_word(
    attribute: Name,
    text: &[u8],
    expr: &Expr,
    defined: &dyn Fn(Name) -> bool,
) -> Option<Diagnostic> {
    /// The beginnings of names of attributes of jobs that slots refer to.
    const STARTS: [&str; 9] = ["Want", "Is", "Has", "Use", "Need", "Request", "Require", "Job", "My"];
    let (tree, root) = (expr.tree(), expr.tree().bare(expr.root()));
    let Node::Attr(word) = *tree.node(root) else { return None };
    let span = tree.span(root)?;
    let shown = written(text, span);
    let is_word = shown.starts_with(|sign: char| sign.is_ascii_uppercase())
        && shown.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
        && !STARTS.iter().any(|start| shown.starts_with(start));
    let is_unknown = !is_known(word.folded()) && !is_known(attribute.folded()) && !defined(word);
    (is_word && is_unknown && shown.len() > 2).then(|| unquoted(&shown, span))
}

/// A word that is meant as a text.
fn unquoted(word: &str, span: Span) -> Diagnostic {
    let plain = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).filter(|word| !word.is_empty());
    let quotes = if plain.is_some() { "in single quotes" } else { "without quotes" };
    let finding = Diagnostic::warning(format!("`{word}` {quotes} is an attribute reference"), span);
    let string = format!("\"{}\"", plain.unwrap_or(word));
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

/// The `a` of `a-b/c`, words and numbers that are written without blanks between them: a name that has these signs.
fn first_of_joined(text: &[u8], tree: &Tree, id: NodeId) -> Option<Name> {
    let span = tree.span(id)?.range();
    if text.get(span)?.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let (mut at, mut first) = (id, None);
    while let Node::Binary(BinaryOp::Subtract | BinaryOp::Divide, left, right) = *tree.node(at) {
        match *tree.node(right) {
            Node::Attr(word) => first = Some(word),
            Node::Literal(Literal::Int(_)) => {}
            _ => return None,
        }
        at = left;
    }
    match *tree.node(at) {
        Node::Attr(word) if at != id => Some(word),
        Node::Literal(Literal::Int(_)) if at != id => first,
        _ => None,
    }
}

/// Attributes, lower case, that are one name.
const ONE_NAME: [&[u8]; 9] =
    [b"owner", b"user", b"machine", b"opsys", b"arch", b"acctgroup", b"accountinggroup", b"remoteowner", b"uiddomain"];

/// Attributes of slots, lower case, that are strings of several items, separated by commas.
const SEVERAL: [&[u8]; 2] = [b"hasfiletransferpluginmethods", b"starterabilitylist"];

/// `HasFileTransferPluginMethods == "osdf"`
fn item_of_several(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = equality(tree, id)?;
    let not = if matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt) { "!" } else { "" };
    [(left, right), (right, left)].into_iter().find_map(|(list, item)| {
        let reference = tree.reference(tree.bare(list)).filter(|list| SEVERAL.contains(&list.name.folded()))?;
        let Node::Literal(Literal::Str(text)) = tree.node(tree.bare(item)) else { return None };
        if text.is_empty() || text.contains(&b',') {
            return None;
        }
        let (item, written_list) = (tree.span(item)?, written(context.text, tree.span(list)?));
        let message = format!("`{}` compares the whole string; `{}` lists several items", op.symbol(), reference.name);
        let help = format!("write `{not}stringListMember({}, {written_list})`", written(context.text, item));
        Some(Diagnostic::warning(message, item).help(help).code("glob-comparison"))
    })
}

/// `Machine == "*.edu"`
fn glob(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (op, left, right) = equality(tree, id)?;
    let differs = matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt);
    let pattern = |id: NodeId| match tree.node(tree.bare(id)) {
        Node::Literal(Literal::Str(text)) => Some((id, wildcard(text, differs)?)),
        _ => None,
    };
    let Some((at, sign)) = pattern(right).or_else(|| pattern(left)) else {
        let listed = |list: NodeId, name: NodeId| {
            let reference = tree.reference(tree.bare(name)).filter(|name| ONE_NAME.contains(&name.name.folded()))?;
            let Node::Literal(Literal::Str(text)) = tree.node(tree.bare(list)) else { return None };
            text.contains(&b',').then(|| {
                let message = format!("`{}` compares the whole string; no `{}` has a `,`", op.symbol(), reference.name);
                let not = if matches!(op, BinaryOp::NotEqual | BinaryOp::Isnt) { "!" } else { "" };
                let help = format!("write `{not}stringListMember({}, …)` for a list", reference.name);
                Some(Diagnostic::warning(message, tree.span(list)?).help(help).code("glob-comparison"))
            })?
        };
        return listed(right, left).or_else(|| listed(left, right));
    };
    let message = format!("`{}` compares the whole string; `{sign}` is not a wildcard", op.symbol());
    let value = written(context.text, tree.span(if at == right { left } else { right })?);
    let meant = match tree.node(tree.bare(at)) {
        Node::Literal(Literal::Str(text)) => pattern_of(text).filter(|_| sign.len() == 1),
        _ => None,
    };
    let not = if differs { "!" } else { "" };
    let help = match meant {
        Some(pattern) => format!("write `{not}regexp(\"{pattern}\", {value})`"),
        None => "write `regexp(\"^prefix\", value)`, or `stringListMember(value, \"a,b\")` for a list".to_owned(),
    };
    Some(Diagnostic::warning(message, tree.span(at)?).help(help).code("glob-comparison"))
}

/// The regular expression that a string with `*` and `?` means; none if it has other signs of patterns, or is nothing but a wildcard.
fn pattern_of(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let plain = |sign: char| sign.is_alphanumeric() || "-_@ /:*?.".contains(sign);
    if !text.chars().all(plain) || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    // A point in brackets needs no backslash, which strings of configurations and of ads write differently.
    let inner = text.replace('.', "[.]").replace('*', ".*").replace('?', ".");
    let (front, end) = (inner.strip_prefix(".*"), inner.strip_suffix(".*"));
    Some(match (front, end) {
        (Some(front), Some(_)) => front.strip_suffix(".*").unwrap_or(front).to_owned(),
        (Some(front), None) => format!("{front}$"),
        (None, Some(end)) => format!("^{end}"),
        (None, None) => format!("^{inner}$"),
    })
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
fn macro_in_text(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let Node::Literal(Literal::Str(value)) = tree.node(id) else { return None };
    // What an expansion gives is meant: `$(DOLLAR)` keeps a macro from being expanded.
    let place = tree.span(id)?.range();
    if context.made.iter().any(|made| made.start < place.end && place.start < made.end) {
        return None;
    }
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

/// `TARGET.HasSingularty`: no ad of the pool has it, and the expression does not ask whether it is there.
fn nowhere(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (schema, reference) = (context.schema?, tree.reference(id)?);
    let (name, role) = (reference.name, context.role);
    let known = schema.has(name) || is_known(name.folded()) || (context.defined)(name);
    if !schema.is_whole() || known || role.mine == Seen::Anything || asks(tree, id) {
        return None;
    }
    if name_of_command(context, tree, id).is_some() {
        return None;
    }
    let of_slot = role.mine == Seen::Job && role.other == Seen::Slot && reference.scope != RefScope::My;
    let near = schema.near(name);
    // Jobs differ from day to day: only a slip is certain.
    if !of_slot && near.is_none() {
        return None;
    }
    let span = tree.span(id)?;
    let message = if of_slot {
        format!("no slot advertises `{name}`")
    } else {
        format!("no job and no slot of the pool has `{name}`")
    };
    let finding = Diagnostic::warning(message, span).code("unknown-attribute");
    Some(match near {
        Some(near) => finding.did_you_mean(Some(near)),
        None => finding.help(format!("write `{name} =?= …`, `?:` or `isUndefined` if it may be missing")),
    })
}

/// `request_memory * 2`: the name of a submit command, which is not that of its attribute.
fn name_of_command(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let name = tree.reference(id)?.name;
    let folded = name.folded();
    let has_it = is_known(folded) || (context.defined)(name) || context.schema.is_some_and(|schema| schema.has(name));
    // Ads of a compute entrypoint (HTCondor-CE) have the attribute `grid_resource`.
    if has_it || !folded.contains(&b'_') || folded == b"grid_resource" {
        return None;
    }
    let lower = std::str::from_utf8(folded).ok()?;
    let known = attribute::find(lower.replace('_', "").as_bytes()).filter(|_| !asks(tree, id))?;
    let attribute = known.name;
    let span = tree.span(id)?;
    let end = span.range().end;
    let message = if is_listed(lower) {
        format!("`{name}` is a submit command, and not an attribute: it is UNDEFINED here")
    } else if known.get("presence") == Some("always") && *name.display() == *lower {
        // Capitals, or an attribute that few ads have, may be a name of the site's own.
        format!("HTCondor does not know an attribute `{name}`")
    } else {
        return None;
    };
    let finding = Diagnostic::warning(message, span).help(format!("write `{attribute}`"));
    Some(finding.fix(Span::new(end.saturating_sub(folded.len()), end), attribute).code("unknown-attribute"))
}

/// `JobStatus == HELD`: the meaning of a number.
fn code_word(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let (_, left, right) = equality(tree, id)?;
    let meant = |one: NodeId, two: NodeId| {
        let attribute = tree.reference(tree.bare(one))?.name;
        let Node::Attr(word) = *tree.node(tree.bare(two)) else { return None };
        if is_known(word.folded()) || (context.defined)(word) {
            return None;
        }
        Some((two, attribute, fact(attribute.folded())?.code_of(&word.display())?))
    };
    let (at, attribute, code) = meant(left, right).or_else(|| meant(right, left))?;
    let span = tree.span(tree.bare(at))?;
    let message = format!("`{}` is an attribute reference; `{attribute}` is a number", written(context.text, span));
    Some(Diagnostic::warning(message, span).write(span, code).code("unquoted-word"))
}

/// Names of this length or more are misspelled if they are a known one without a letter, although the expression tests that they are
/// there.
const SHORTEST_ASKED: usize = 9;

/// `TARGET.RequestMemroy`: almost the name of an attribute that HTCondor knows.
fn slip(context: &LintContext<'_>, tree: &Tree, id: NodeId) -> Option<Diagnostic> {
    let name = tree.reference(id)?.name;
    let folded = name.folded();
    if context.schema.is_some_and(AdSchema::is_whole) || is_known(folded) || (context.defined)(name) {
        return None;
    }
    let meant = misspelled_attribute(folded)?;
    // A name of the site's own may be missing, and is not another one with swapped letters, or a long one without a letter.
    let lacks_letter = folded.len() >= SHORTEST_ASKED && near::lacks_letter(folded, meant.as_bytes());
    if asks(tree, id) && !lacks_letter && !near::is_slip(folded, meant.as_bytes()) {
        return None;
    }
    let span = tree.span(id)?;
    let finding = Diagnostic::warning(format!("HTCondor does not know an attribute `{name}`"), span);
    let end = span.range().end;
    let last = Span::new(end.saturating_sub(folded.len()), end);
    Some(finding.did_you_mean(Some(meant)).fix(last, meant).code("unknown-attribute"))
}

/// Returns true if the attribute of a node may be missing: another part of the expression tests that.
pub(super) fn asks(tree: &Tree, id: NodeId) -> bool {
    let Some(name) = tree.reference(id).map(|reference| reference.name) else { return true };
    let is_it = |other: NodeId| tree.reference(tree.bare(other)).is_some_and(|other| other.name == name);
    tree.nodes.iter().take(LOOKED_AT).any(|node| match *node {
        Node::Binary(BinaryOp::Default, left, _) => is_it(left),
        Node::Binary(BinaryOp::Is | BinaryOp::Isnt, left, right) => is_it(left) || is_it(right),
        Node::Call(call) => {
            let call = &tree.calls[call as usize];
            let asks = matches!(call.name.folded(), b"isundefined" | b"stringlistmember" | b"stringlistimember");
            asks && tree.run(call.arguments).iter().any(|id| is_it(*id))
        }
        _ => false,
    })
}

/// Tests whether a reference is the argument of a test of its type, `isString(…)`.
fn is_tested(tree: &Tree, id: NodeId) -> bool {
    tree.calls.iter().any(|call| {
        let is_test = call.name.folded().starts_with(b"is");
        is_test && tree.run(call.arguments).iter().any(|argument| tree.bare(*argument) == id)
    })
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
    // Counts are small: few autoclusters, in which jobs are for a while.
    if variety == Variety::History && reference.name.folded().starts_with(b"num") {
        return None;
    }
    // Nearly all jobs agree whether they have it, or of which type it is.
    if variety == Variety::Written && is_tested(tree, id) {
        return None;
    }
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
