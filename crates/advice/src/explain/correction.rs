//! Corrections of likely mistakes in a condition of the job: a similar name for one that no ad defines, the other scope for a name that
//! only the opposite ad defines, a string for a word without quotation marks, a number for one with them, a similar value, a pattern for
//! a string with `*` in it, the scope of a name that both sides define.
//!
//! In: a condition. Out: what to write in its place, and the condition with that written.

use crate::explain::clauses::others;
use crate::explain::job_view::JobView;
use crate::explain::names::MissingAttribute;
use crate::explain::repair::edit::comparison;
use crate::explain::repair::membership::Membership;
use classmate::internal::builtin::near;
use classmate::internal::program::column::Entry;
use classmate::internal::program::table::Table;
use classmate::internal::syntax::expr::{Node, NodeId, Tree};
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::parse::parse_expr;
use classmate::internal::syntax::view::{RefScope, Reference, View};
use classmate::{ClassAd, Expr, Name, ParseOptions, Semantics, Text, Value};

/// Parts of a condition with what to write there, and the condition that comes of it.
pub(super) struct Correction {
    pub(super) parts: Vec<(NodeId, Expr)>,
    pub(super) whole: Expr,
}

fn parsed(text: &[u8], semantics: Semantics) -> Option<Expr> {
    parse_expr(text, &ParseOptions { semantics, ..ParseOptions::default() }).ok()
}

/// Similar names for the undefined names in the job's conditions, with their scopes.
pub(super) fn names(view: &JobView<'_>) -> Vec<Expr> {
    let similar = view.absent.iter().filter(|one| one.of_job && one.decides).filter_map(renamed);
    similar.collect()
}

/// A similar name, with the scope of the one that is missing; or the name with the other scope.
fn renamed(one: &MissingAttribute) -> Option<Expr> {
    let similar = one.similar.as_ref()?;
    if similar.contains('.') {
        return parsed(similar.as_bytes(), Semantics::default());
    }
    let scope = one.name.split_once('.').map(|(scope, _)| format!("{scope}.")).unwrap_or_default();
    parsed(format!("{scope}{similar}").as_bytes(), Semantics::default())
}

/// The correction of undefined names and unquoted words; none if nothing can be corrected.
pub(super) fn of_names_and_words(view: &JobView<'_>, expr: &Expr) -> Option<Correction> {
    if view.absent.iter().all(|one| !one.of_job || !one.decides) {
        return None;
    }
    let tree = expr.tree();
    let mut parts: Vec<(NodeId, Expr)> = Vec::new();
    let mut waiting = vec![expr.root()];
    while let Some(id) = waiting.pop() {
        let written = match tree.view(id) {
            View::Reference(found) => found.to_string(),
            // Attributes of an ad that is written or selected here are not the job's, but a name before a dot may be a scope.
            View::Select { base, .. } if matches!(tree.node(base), Node::Attr(_)) => {
                waiting.push(base);
                continue;
            }
            View::Select { .. } | View::Ad(_) => continue,
            View::Compare { op: BinaryOp::Equal | BinaryOp::Is, left, right } => {
                let word = [left, right].into_iter().find_map(|side| {
                    let one = absent(view, &word(tree, tree.bare(side))?.to_string())?;
                    let text = quoted(view, &expr.part(id), &one.name, true)?;
                    Some((tree.bare(side), Expr::literal(Literal::Str(Text::from(text.as_str())))))
                });
                match word {
                    Some(word) => parts.push(word),
                    None => waiting.extend(tree.parts(id)),
                }
                continue;
            }
            _ => {
                waiting.extend(tree.parts(id));
                continue;
            }
        };
        parts.extend(absent(view, &written).and_then(renamed).map(|name| (id, name)));
    }
    if parts.is_empty() {
        return None;
    }
    parts.sort_by_key(|(id, _)| *id);
    // Later nodes first: a replacement moves only the nodes after it.
    let whole = parts.iter().rev().fold(expr.clone(), |whole, (id, other)| whole.with_part(*id, other));
    Some(Correction { parts, whole })
}

/// The name with which a word without quotation marks begins: `w1` of `w1.example.org`, which is read as an attribute of an ad.
fn word(tree: &Tree, id: NodeId) -> Option<Name> {
    match tree.view(id) {
        View::Reference(Reference { scope: RefScope::Either, name }) => Some(name),
        View::Select { base, .. } => word(tree, base),
        _ => None,
    }
}

/// The string in the opposite ad that equals an unquoted word, which begins with a name, ignoring case.
pub(super) fn quoted(view: &JobView<'_>, expr: &Expr, name: &str, of_job: bool) -> Option<String> {
    let tree = expr.tree();
    let Node::Binary(BinaryOp::Equal | BinaryOp::Is, left, right) = *tree.node(tree.bare(expr.root())) else {
        return None;
    };
    let holder = if of_job { view.job } else { &view.pool.slots.first()?.ad };
    let is_word =
        |side: NodeId| word(tree, tree.bare(side)).is_some_and(|found| found.to_string().eq_ignore_ascii_case(name));
    let (side, other) = [(left, right), (right, left)].into_iter().find(|(side, _)| is_word(*side))?;
    let (word, name) = (expr.part(tree.bare(side)).to_string(), others(tree, tree.bare(other), holder)?);
    let meant = |ad: &ClassAd| {
        let value = ad.constant(name)?;
        let text = String::from_utf8_lossy(value.as_bytes()?).into_owned();
        text.eq_ignore_ascii_case(&word).then_some(text)
    };
    if of_job { view.pool.slots.iter().find_map(|slot| meant(&slot.ad)) } else { meant(view.job) }
}

/// The record of a name in the job's conditions that no ad defines.
fn absent<'v>(view: &'v JobView<'_>, written: &str) -> Option<&'v MissingAttribute> {
    view.absent.iter().find(|one| one.of_job && one.decides && one.name.eq_ignore_ascii_case(written))
}

/// The comparison with a pattern that was probably intended by a comparison with a string that contains `*`.
pub(super) fn pattern(expr: &Expr) -> Option<Expr> {
    let tree = expr.tree();
    let Node::Binary(op @ (BinaryOp::Equal | BinaryOp::Is), left, right) = *tree.node(tree.bare(expr.root())) else {
        return None;
    };
    let (text, other) =
        [(left, right), (right, left)].into_iter().find_map(|(side, other)| match tree.node(tree.bare(side)) {
            Node::Literal(Literal::Str(text)) if text.contains(&b'*') => Some((text, other)),
            _ => None,
        })?;
    if matches!(tree.node(tree.bare(other)), Node::Literal(_)) {
        return None;
    }
    let mut pattern = Vec::new();
    for byte in text.iter() {
        match byte {
            b'*' => pattern.extend(b".*"),
            b'?' => pattern.push(b'.'),
            byte if byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'-' | b'@' | b'/' | b'"' | b'\'') => {
                pattern.extend([b'\\', *byte]);
            }
            byte => pattern.push(*byte),
        }
    }
    let pattern = Expr::literal(Literal::Str(Text::from([b"^".as_slice(), &pattern, b"$"].concat())));
    // `==` compares without regard to case.
    let options = if op == BinaryOp::Equal { ", \"i\"" } else { "" };
    let text = format!("regexp({pattern}, {}{options})", expr.part(tree.bare(other)));
    parsed(text.as_bytes(), tree.semantics)
}

/// A string in a comparison that no slot has as a value, and what was probably meant.
pub(super) struct MeantValue {
    /// The attribute of slots.
    pub(super) name: Name,
    /// The string.
    pub(super) id: NodeId,
    /// The literal that was meant.
    pub(super) value: Literal,
}

/// What was probably intended by the string with which a condition compares an attribute of slots: the number in it if slots have
/// numbers, or the value of slots that the string misspells; none if slots have such a value.
pub(super) fn value(expr: &Expr, job: &ClassAd, table: &Table) -> Option<MeantValue> {
    let tree = expr.tree();
    let (op, left, right) = comparison(tree, expr.root())?;
    let (id, text, name) = [(left, right), (right, left)].into_iter().find_map(|(side, other)| {
        let Node::Literal(Literal::Str(text)) = tree.node(tree.bare(side)) else { return None };
        Some((tree.bare(side), text, others(tree, tree.bare(other), job)?))
    })?;
    let entries = &table.column(name.key())?.entries;
    if entries.iter().any(|entry| matches!(entry, Entry::Tree(_))) {
        return None;
    }
    let values = entries.iter().filter_map(|entry| if let Entry::Constant(value) = entry { Some(value) } else { None });
    let values: Vec<&Value> = values.collect();
    let is_number = |value: &&Value| matches!(value, Value::Int(_) | Value::Real(_));
    let value = if !values.is_empty() && values.iter().all(is_number) {
        number(text)?
    } else if matches!(op, BinaryOp::Equal | BinaryOp::Is) {
        let is_it = |value: &[u8]| value == &**text || op == BinaryOp::Equal && value.eq_ignore_ascii_case(text);
        let texts: Vec<&[u8]> = values.into_iter().filter_map(Value::as_bytes).collect();
        let near = texts.iter().filter_map(|value| Some((edits(text, value)?, *value)));
        let (_, meant) = near.min().filter(|_| !texts.iter().any(|value| is_it(value)))?;
        Literal::Str(Text::from(meant.to_vec()))
    } else {
        return None;
    };
    Some(MeantValue { name, id, value })
}

/// The number that a string is.
fn number(text: &[u8]) -> Option<Literal> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let real = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Literal::Real);
    text.parse().ok().map(Literal::Int).or_else(real)
}

/// The number of edits between two values if one is probably a misspelling of the other. Values with other numbers, or with another
/// short word, are those of other things: `node16` and `node17`, `Site-A` and `Site-B`.
fn edits(one: &[u8], other: &[u8]) -> Option<usize> {
    /// Letters of a word that may be misspelled, and of the whole.
    const LETTERS: [usize; 2] = [3, 5];
    fn digits(text: &[u8]) -> impl Iterator<Item = &u8> {
        text.iter().filter(|byte| byte.is_ascii_digit())
    }
    fn letters(text: &[u8]) -> impl Iterator<Item = u8> {
        text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
    }
    fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty())
    }
    // There may be as many values as slots: what costs least decides about most of them.
    if !digits(one).eq(digits(other)) || letters(one).count() < LETTERS[1] {
        return None;
    }
    // Only the signs between the words differ, or the case.
    if letters(one).eq(letters(other)) {
        return Some(0);
    }
    let of_word = |(one, other): (&[u8], &[u8])| {
        if one.eq_ignore_ascii_case(other) {
            return Some(0);
        }
        near::distance(one, other, near::allowance(one)).filter(|_| one.len() >= LETTERS[0])
    };
    if words(one).count() != words(other).count() {
        return None;
    }
    let edits: usize = words(one).zip(words(other)).map(of_word).sum::<Option<usize>>()?;
    (edits <= near::allowance(one)).then_some(edits)
}

/// The comparison of versions that was probably intended by a comparison of an attribute with a number, if the attribute is a
/// version in the ads of the other side.
pub(super) fn versions(expr: &Expr, is_version: &dyn Fn(Name, &str) -> bool) -> Option<Expr> {
    let tree = expr.tree();
    let (op, left, right) = comparison(tree, expr.root())?;
    let number = |id: NodeId| matches!(tree.node(tree.bare(id)), Node::Literal(Literal::Int(_) | Literal::Real(_)));
    let (attribute, number, is_left) = match (number(left), number(right)) {
        (false, true) => (left, right, true),
        (true, false) => (right, left, false),
        _ => return None,
    };
    let attribute = tree.bare(attribute);
    let number = format!("{:#}", expr.part(tree.bare(number)));
    tree.reference(attribute).filter(|found| is_version(found.name, &number))?;
    let function = match (op, is_left) {
        (BinaryOp::Equal, _) => "versionEQ",
        (BinaryOp::GreaterEqual, true) | (BinaryOp::LessEqual, false) => "versionGE",
        (BinaryOp::Greater, true) | (BinaryOp::Less, false) => "versionGT",
        (BinaryOp::LessEqual, true) | (BinaryOp::GreaterEqual, false) => "versionLE",
        (BinaryOp::Less, true) | (BinaryOp::Greater, false) => "versionLT",
        _ => return None,
    };
    let text = format!("{function}({:#}, \"{number}\")", expr.part(attribute));
    parsed(text.as_bytes(), tree.semantics)
}

/// The condition with `TARGET.` before names that are looked up in the job though the slots have them as well, where that was probably
/// meant; none without such names.
pub(super) fn of_slots(expr: &Expr, is_shared: &dyn Fn(Name) -> bool) -> Option<Expr> {
    let whole = expr.part(expr.tree().bare(expr.root()));
    let tree = whole.tree();
    let (mut parts, mut waiting) = (Vec::new(), vec![whole.root()]);
    while let Some(id) = waiting.pop() {
        match tree.view(id) {
            View::Reference(Reference { scope: RefScope::Either, name }) if is_shared(name) => parts.push((id, name)),
            View::Reference(_) | View::Select { .. } | View::Ad(_) => {}
            _ => waiting.extend(tree.parts(id)),
        }
    }
    // Later nodes first: a replacement moves only the nodes after it.
    parts.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    let scoped = |name: Name| parsed(format!("TARGET.{name}").as_bytes(), tree.semantics);
    let replaced = |whole: Expr, (id, name): &(NodeId, Name)| Some(whole.with_part(*id, &scoped(*name)?));
    parts.iter().try_fold(whole.clone(), replaced).filter(|_| !parts.is_empty())
}

/// The test of a list of strings in any case that was probably intended by one in the same case: no element is a value of the
/// attribute, and one is but for the case.
pub(super) fn in_any_case(expr: &Expr, values: &dyn Fn(Name) -> Vec<Vec<u8>>) -> Option<Expr> {
    let tree = expr.tree();
    let question = Membership::of(tree, expr.root()).filter(Membership::is_case_sensitive)?;
    let item = tree.bare(question.item);
    let name = tree.reference(item)?.name;
    let list = expr.part(tree.bare(question.list));
    let elements = question.strings(list.as_literal()?);
    let values = values(name);
    let is_any = |is_same: fn(&[u8], &[u8]) -> bool| {
        values.iter().any(|value| elements.iter().any(|element| is_same(element, value.trim_ascii())))
    };
    if is_any(|one, other| one == other) || !is_any(<[u8]>::eq_ignore_ascii_case) {
        return None;
    }
    let text = format!("{:#}", expr.part(tree.bare(expr.root())));
    let (function, arguments) = text.split_once('(')?;
    let is_first = function.eq_ignore_ascii_case("stringListMember");
    is_first.then(|| parsed(format!("stringListIMember({arguments}").as_bytes(), tree.semantics)).flatten()
}

/// The search for a pattern in any case that was probably intended by one in the case that is written, if it has letters.
pub(super) fn any_case(expr: &Expr) -> Option<Expr> {
    let tree = expr.tree();
    let Node::Call(call) = *tree.node(tree.bare(expr.root())) else { return None };
    let site = &tree.calls[call as usize];
    let [pattern, text] = *tree.run(site.arguments) else { return None };
    let Node::Literal(Literal::Str(written)) = tree.node(tree.bare(pattern)) else { return None };
    let is_search = site.name.folded() == b"regexp" && written.iter().any(u8::is_ascii_alphabetic);
    tree.reference(tree.bare(text)).filter(|_| is_search)?;
    parsed(format!("regexp({}, {}, \"i\")", expr.part(pattern), expr.part(text)).as_bytes(), tree.semantics)
}

/// Tests if a string is numbers with a dot between each.
pub(super) fn is_version(text: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    text.contains(&b'.') && text.split(|byte| *byte == b'.').all(is_number)
}

/// The condition that was put in quotation marks by mistake.
pub(super) fn unquoted(expr: &Expr) -> Option<Expr> {
    let tree = expr.tree();
    let Node::Literal(Literal::Str(text)) = tree.node(tree.bare(expr.root())) else { return None };
    parsed(text, tree.semantics).filter(|meant| matches!(meant.node(), Node::Binary(..) | Node::Unary(..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beside_versions_was_meant_as_one() {
        let of = |text: &str| {
            let found = versions(&text.parse().unwrap(), &|name, _| name.folded() == b"python");
            found.map(|expr| format!("{expr:#}"))
        };
        assert_eq!(of("TARGET.Python >= 3.11").unwrap(), "versionGE(TARGET.Python,\"3.11\")");
        assert_eq!(of("(4 > Python)").unwrap(), "versionLT(Python,\"4\")");
        assert_eq!(of("!(Python == 3.9)"), None);
        assert_eq!(of("Memory >= 3.11"), None);
        assert_eq!(of("Python >= \"3.11\""), None);
        assert_eq!(
            ["3.9.25", "3", "3.", "3.x", ""].map(|text| is_version(text.as_bytes())),
            [true, false, false, false, false]
        );
    }

    #[test]
    fn a_list_in_another_case_was_meant_in_any_case() {
        let of = |text: &str| {
            let found = in_any_case(&text.parse().unwrap(), &|_| vec![b"CHTC".to_vec(), b"UCSD ".to_vec()]);
            found.map(|expr| format!("{expr:#}"))
        };
        assert_eq!(of("stringListMember(Site, \"chtc,ucsd\")").unwrap(), "stringListIMember(Site,\"chtc,ucsd\")");
        assert_eq!(
            of("stringListMember(Site, \"a;ucsd\", \";\")").unwrap(),
            "stringListIMember(Site,\"a;ucsd\",\";\")"
        );
        // One is there as it is written, none is there, and the other function.
        assert_eq!(of("stringListMember(Site, \"chtc,UCSD\")"), None);
        assert_eq!(of("stringListMember(Site, \"unl\")"), None);
        assert_eq!(of("stringListIMember(Site, \"chtc\")"), None);
    }

    /// The edits by hand.
    #[test]
    fn a_value_is_misspelled_but_a_number_or_a_short_word_is_another() {
        let of = |one: &str, other: &str| edits(one.as_bytes(), other.as_bytes());
        assert_eq!(of("SU-ITZ", "SU-ITS"), Some(1));
        assert_eq!(of("Nebrasca", "Nebraska"), Some(1));
        assert_eq!(of("su_its", "SU-ITS"), Some(0));
        assert_eq!(of("LINXU", "LINUX"), Some(1));
        for (one, other) in [
            ("node16", "node17"),
            ("CentOS8", "CentOS9"),
            ("Site-A", "Site-B"),
            ("UNL", "UCL"),
            ("c01.example.org", "c01.example.com.org"),
            ("aarch64", "X86_64"),
        ] {
            assert_eq!(of(one, other), None, "{one} {other}");
        }
    }

    #[test]
    fn a_pattern_in_another_case_was_meant_in_any_case() {
        let of = |text: &str| any_case(&text.parse().unwrap()).map(|expr| format!("{expr:#}"));
        assert_eq!(of("regexp(\"^C0[1-6]\\\\.x\", Machine)").unwrap(), "regexp(\"^C0[1-6]\\.x\",Machine,\"i\")");
        assert_eq!(of("regexp(\"^0\", Machine)"), None);
        assert_eq!(of("regexp(\"^c\", Machine, \"i\")"), None);
        assert_eq!(of("regexp(\"^c\", \"C\")"), None);
    }

    #[test]
    fn a_text_with_a_star_was_meant_as_a_pattern() {
        let of = |text: &str| {
            pattern(&parsed(text.as_bytes(), Semantics::default()).unwrap()).map(|expr| format!("{expr:#}"))
        };
        assert_eq!(of("TARGET.Machine == \"n*.x\"").unwrap(), "regexp(\"^n.*\\.x$\",TARGET.Machine,\"i\")");
        assert_eq!(of("(\"a*\" is Name)").unwrap(), "regexp(\"^a.*$\",Name)");
        assert_eq!(of("TARGET.Machine == \"n1\""), None);
        assert_eq!(of("TARGET.Machine != \"n*\""), None);
        assert_eq!(of("\"a\" == \"a*\""), None);
    }
}
