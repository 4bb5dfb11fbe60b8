//! Searches in strings: `regexp` with a simple pattern, lists of strings, equality.
//!
//! In: such searches of which it is known that they are true or false. Out: whether they contradict each other, as
//! `regexp("^a", x)` and `x == "b"` do.

use super::evaluate::Analysis;
use super::quantities::part_key;
use super::written::PieceAt;
use crate::builtin::tokens::{MEMBER_DELIMITERS, tokens};
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::operator::BinaryOp;
use crate::syntax::view::View;
use crate::text::Text;
use crate::value::Value;

/// Maximum number of searches that are compared with each other.
const MAX_SEARCHES: usize = 60;

/// The strings that a search finds.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Sought {
    Beginning(Vec<u8>),
    /// At the end, or before a newline there.
    End(Vec<u8>),
    Part(Vec<u8>),
    OneOf(Vec<Vec<u8>>),
}

/// A search in a string.
#[derive(Clone, Debug)]
struct TextSought {
    sought: Sought,
    any_case: bool,
    /// True if every string that is like this is found.
    is_exact: bool,
}

/// Searches in strings with their outcomes.
#[derive(Default)]
pub(super) struct Searches {
    /// Beside each, the key of the string that is searched.
    all: Vec<(String, TextSought, bool)>,
}

impl Searches {
    /// Adds a part that is true, or false, if it is a search.
    pub(super) fn add(&mut self, analysis: &Analysis<'_>, id: NodeId, is_true: bool) {
        let tree = analysis.tree();
        let found = match tree.view(id) {
            View::Compare { op, left, right } => {
                let is_true = is_true == matches!(op, BinaryOp::Equal | BinaryOp::Is);
                let any_case = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
                if !any_case && !matches!(op, BinaryOp::Is | BinaryOp::Isnt) {
                    return;
                }
                [(left, right), (right, left)].into_iter().find_map(|(side, other)| {
                    let Some(Value::Str(text)) = analysis.values(other).single() else { return None };
                    let sought = Sought::OneOf(vec![text.as_bytes().to_vec()]);
                    Some((side, TextSought { sought, any_case, is_exact: true }, is_true))
                })
            }
            View::Call { .. } => search_of(tree, id).map(|(side, search)| (side, search, is_true)),
            _ => None,
        };
        if let Some((side, search, is_true)) = found
            && self.all.len() < MAX_SEARCHES
            && (is_true || search.is_exact)
            && let Some(key) = part_key(tree, tree.bare(side))
        {
            self.all.push((key, search, is_true));
        }
    }

    /// Tests whether two searches contradict each other, or all strings of a list are excluded.
    pub(super) fn is_contradiction(&self) -> bool {
        self.all.iter().enumerate().filter(|(_, (.., is_true))| *is_true).any(|(at, (key, search, _))| {
            let others = || self.all.iter().enumerate().filter(move |(other, (of, ..))| *other != at && of == key);
            let excluded = |text: &Vec<u8>| {
                others().any(|(_, (_, other, is_true))| other.finds(text, search.any_case) == Some(!is_true))
            };
            match &search.sought {
                Sought::OneOf(list) => list.iter().all(excluded),
                _ => others().any(
                    |(_, (_, other, is_true))| {
                        if *is_true { search.excludes(other) } else { search.implies(other) }
                    },
                ),
            }
        })
    }
}

impl TextSought {
    /// Tests whether it finds a string; none if that depends on the case of letters that is not known.
    fn finds(&self, text: &[u8], any_case: bool) -> Option<bool> {
        let is_folded = any_case || self.any_case;
        let fold = |bytes: &[u8]| if is_folded { bytes.to_ascii_lowercase() } else { bytes.to_vec() };
        let text = fold(text);
        let line = text.strip_suffix(b"\n").unwrap_or(&text);
        let found = match &self.sought {
            Sought::Beginning(part) => text.starts_with(&fold(part)),
            Sought::End(part) => text.ends_with(&fold(part)) || line.ends_with(&fold(part)),
            Sought::Part(part) => memchr::memmem::find(&text, &fold(part)).is_some(),
            Sought::OneOf(list) => list.iter().any(|item| fold(item) == text),
        };
        if found && any_case && !self.any_case {
            return None;
        }
        // What is like a pattern need not match it.
        (self.is_exact || !found).then_some(found)
    }

    /// Tests whether the other finds all strings that this one finds.
    fn implies(&self, other: &Self) -> bool {
        if self.any_case && !other.any_case {
            return false;
        }
        let fold = |bytes: &[u8]| if other.any_case { bytes.to_ascii_lowercase() } else { bytes.to_vec() };
        match (&self.sought, &other.sought) {
            (Sought::Beginning(one), Sought::Beginning(other)) => fold(one).starts_with(&fold(other)),
            (Sought::End(one), Sought::End(other)) => fold(one).ends_with(&fold(other)),
            (Sought::Beginning(one) | Sought::End(one) | Sought::Part(one), Sought::Part(other)) => {
                memchr::memmem::find(&fold(one), &fold(other)).is_some()
            }
            _ => false,
        }
    }

    /// Tests whether no string is found by both.
    fn excludes(&self, other: &Self) -> bool {
        let is_folded = self.any_case || other.any_case;
        let fold = |bytes: &[u8]| if is_folded { bytes.to_ascii_lowercase() } else { bytes.to_vec() };
        match (&self.sought, &other.sought) {
            (Sought::Beginning(one), Sought::Beginning(other)) => {
                let (one, other) = (fold(one), fold(other));
                !one.starts_with(&other) && !other.starts_with(&one)
            }
            (Sought::End(one), Sought::End(other)) => {
                let (one, other) = (fold(one), fold(other));
                !one.ends_with(&other) && !other.ends_with(&one)
            }
            _ => false,
        }
    }
}

/// The part that a call searches, and the search.
fn search_of(tree: &Tree, id: NodeId) -> Option<(NodeId, TextSought)> {
    let View::Call { name, arguments } = tree.view(tree.bare(id)) else { return None };
    let text = |id: NodeId| match tree.view(tree.bare(id)) {
        View::Literal(Literal::Str(text)) => Some(text.as_bytes()),
        _ => None,
    };
    match (name.folded(), arguments) {
        (b"regexp", &[pattern, side, ref options @ ..]) => {
            let any_case = match options {
                [] => false,
                [letters] => match text(*letters)? {
                    b"" => false,
                    b"i" | b"I" => true,
                    _ => return None,
                },
                _ => return None,
            };
            let (sought, is_exact) = sought_by(text(pattern)?)?;
            Some((side, TextSought { sought, any_case, is_exact }))
        }
        (b"stringlistmember" | b"stringlistimember", &[side, list, ref delimiters @ ..]) => {
            let delimiters = match delimiters {
                [] => MEMBER_DELIMITERS,
                [letters] => text(*letters)?,
                _ => return None,
            };
            let items = tokens(text(list)?, delimiters).map(<[u8]>::to_vec).collect();
            let any_case = name.folded() == b"stringlistimember";
            Some((side, TextSought { sought: Sought::OneOf(items), any_case, is_exact: true }))
        }
        (b"member", &[side, list]) => {
            let View::List(items) = tree.view(tree.bare(list)) else { return None };
            let items: Option<Vec<Vec<u8>>> = items.iter().map(|item| text(*item).map(<[u8]>::to_vec)).collect();
            Some((side, TextSought { sought: Sought::OneOf(items?), any_case: true, is_exact: true }))
        }
        _ => None,
    }
}

/// Tests whether a part is a constant pattern that is simple: every search for it in a string ends with an answer.
pub(super) fn is_simple_pattern(tree: &Tree, id: NodeId) -> bool {
    match tree.view(tree.bare(id)) {
        View::Literal(Literal::Str(text)) => sought_by(text.as_bytes()).is_some_and(|(_, is_exact)| is_exact),
        _ => false,
    }
}

/// A part that is searched for among strings, these strings, and whether in any case of letters; none for other searches.
pub(super) fn listed_by(tree: &Tree, id: NodeId) -> Option<(NodeId, Vec<Text>, bool)> {
    let (side, search) = search_of(tree, id)?;
    match search.sought {
        Sought::OneOf(items) => Some((side, items.into_iter().map(Text::from).collect(), search.any_case)),
        _ => None,
    }
}

/// A string that a search by a pattern finds, as a rule, and its place in a string.
pub(super) fn found_by(tree: &Tree, id: NodeId) -> Option<(PieceAt, Text)> {
    let View::Call { name, arguments: &[pattern, ..] } = tree.view(tree.bare(id)) else { return None };
    let View::Literal(Literal::Str(pattern)) = tree.view(tree.bare(pattern)) else { return None };
    let pattern = Some(pattern.as_bytes()).filter(|_| name.folded() == b"regexp")?;
    let place = match (pattern.starts_with(b"^"), pattern.ends_with(b"$")) {
        (true, _) => PieceAt::Beginning,
        (false, true) => PieceAt::End,
        (false, false) => PieceAt::Within,
    };
    let mut text = Vec::new();
    example(pattern, &mut text, 0);
    Some((place, Text::from(text)))
}

/// Writes a string that a pattern, or its first alternative, finds; the rest of the pattern behind it. Of what is not
/// understood, something is written.
fn example<'p>(mut pattern: &'p [u8], text: &mut Vec<u8>, depth: u32) -> &'p [u8] {
    /// Deepest nesting of groups.
    const MAX_DEPTH: u32 = 20;
    while let [byte, rest @ ..] = pattern {
        pattern = rest;
        match *byte {
            b'^' | b'$' | b'*' | b'+' | b'?' => {}
            b'{' => pattern = behind(pattern, b'}'),
            b'|' => return behind(pattern, b')'),
            b')' => return pattern,
            b'(' if depth < MAX_DEPTH => {
                pattern = example(pattern.strip_prefix(b"?:").unwrap_or(pattern), text, depth + 1);
            }
            b'[' => {
                text.push(if pattern.starts_with(b"^") { b'x' } else { pattern.first().copied().unwrap_or(b'x') });
                pattern = behind(pattern, b']');
            }
            b'\\' => {
                let escaped = pattern.first().copied().unwrap_or(b'\\');
                text.push(if escaped == b'd' { b'1' } else { escaped });
                pattern = pattern.get(1..).unwrap_or_default();
            }
            b'.' => text.push(b'x'),
            letter => text.push(letter),
        }
    }
    pattern
}

/// The text behind a byte.
fn behind(text: &[u8], byte: u8) -> &[u8] {
    memchr::memchr(byte, text).map_or(&[], |at| &text[at + 1..])
}

/// The strings that a pattern finds, and whether it finds all such strings; none for patterns that are not simple.
fn sought_by(pattern: &[u8]) -> Option<(Sought, bool)> {
    let (at_start, rest) = pattern.strip_prefix(b"^").map_or((false, pattern), |rest| (true, rest));
    if at_start && let Some(inner) = rest.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")$")) {
        let items: Option<Vec<Vec<u8>>> = inner.split(|byte| *byte == b'|').map(whole_literal).collect();
        return items.map(|items| (lines(items), true));
    }
    let (part, rest) = literal(rest);
    match (at_start, rest) {
        (true, b"$") => Some((lines(vec![part]), true)),
        (true, _) => Some((Sought::Beginning(part), rest.is_empty())),
        (false, b"$") => Some((Sought::End(part), true)),
        (false, b"") => Some((Sought::Part(part), true)),
        _ => None,
    }
    .filter(|_| !rest.contains(&b'|') && !pattern.contains(&b'\n'))
}

/// The strings of which `$` finds the end: these, or these and a newline.
fn lines(items: Vec<Vec<u8>>) -> Sought {
    let ended = items.iter().map(|item| [item, &b"\n"[..]].concat()).collect::<Vec<_>>();
    Sought::OneOf(items.into_iter().chain(ended).collect())
}

/// A pattern that is nothing but literal text.
fn whole_literal(pattern: &[u8]) -> Option<Vec<u8>> {
    let (part, rest) = literal(pattern);
    rest.is_empty().then_some(part)
}

/// The literal text at the beginning of a pattern, and the rest of the pattern.
fn literal(pattern: &[u8]) -> (Vec<u8>, &[u8]) {
    let (mut text, mut at) = (Vec::new(), 0);
    while let Some(&byte) = pattern.get(at) {
        let (letter, length) = match (byte, pattern.get(at + 1)) {
            (b'\\', Some(&escaped)) if !escaped.is_ascii_alphanumeric() => (escaped, 2),
            (b'\\' | b'^' | b'$' | b'.' | b'*' | b'+' | b'?' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|', _) => {
                break;
            }
            _ => (byte, 1),
        };
        // A letter that can be repeated or missing is not certain to be there.
        if pattern.get(at + length).is_some_and(|next| matches!(next, b'*' | b'?' | b'{' | b'+')) {
            break;
        }
        text.push(letter);
        at += length;
    }
    (text, &pattern[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found_by_their_patterns() {
        for (pattern, expected) in [
            ("^slot[1-6]@", "slot1@"),
            (r"^node\.chtc$", "node.chtc"),
            ("^(?:cms|atlas)/", "cms/"),
            ("a(b|c)+d{2,3}e", "abde"),
            (r"\d+", "1"),
        ] {
            let mut text = Vec::new();
            example(pattern.as_bytes(), &mut text, 0);
            assert_eq!(String::from_utf8(text).unwrap(), expected, "{pattern}");
        }
    }

    #[test]
    fn simple_patterns_are_understood() {
        let beginning = |text: &str| Sought::Beginning(text.as_bytes().to_vec());
        assert_eq!(sought_by(b"^atlas"), Some((beginning("atlas"), true)));
        assert_eq!(sought_by(b"^atlas[0-9]+$"), Some((beginning("atlas"), false)));
        assert_eq!(sought_by(b"^ab?"), Some((beginning("a"), false)));
        assert_eq!(sought_by(br"\.edu$"), Some((Sought::End(b".edu".to_vec()), true)));
        assert_eq!(sought_by(b"prod"), Some((Sought::Part(b"prod".to_vec()), true)));
        assert_eq!(sought_by(b"a|b"), None);
        assert_eq!(sought_by(b"^a|b"), None);
        assert_eq!(sought_by(br"\d$"), None);
        let both = ["ann", "bob", "ann\n", "bob\n"].map(|text| text.as_bytes().to_vec());
        assert_eq!(sought_by(b"^(ann|bob)$"), Some((Sought::OneOf(both.into()), true)));
        assert_eq!(sought_by(b"^(ann|b.)$"), None);
    }
}
