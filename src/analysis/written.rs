//! The values that a part of a condition names, and the search for an attribute among them that it is.

use super::patterns::{found_by, listed_by};
use crate::syntax::expr::{NodeId, Tree};
use crate::syntax::literal::Literal;
use crate::syntax::view::View;
use crate::text::Text;
use crate::value::Value;

/// A search for an attribute among values that are written: its outcome is the same for all numbers between two of them,
/// and, but for an order, for all other strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrittenSearch {
    /// With the case of letters.
    Exact,
    AnyCase,
    /// Comparisons with numbers.
    Order,
}

/// The place of a string in another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PieceAt {
    Beginning,
    /// Anywhere, as an item of a list too.
    Within,
    End,
}

/// The values that a part names.
#[derive(Default)]
pub(super) struct WrittenValues {
    pub(super) texts: Vec<Text>,
    pub(super) numbers: Vec<f64>,
    /// Strings that a string can have in it.
    pub(super) pieces: Vec<(PieceAt, Text)>,
    pub(super) search: Option<WrittenSearch>,
}

impl WrittenValues {
    /// The values that a part names.
    pub(super) fn of(tree: &Tree, id: NodeId) -> Self {
        let id = tree.bare(id);
        searched(tree, id).unwrap_or_else(|| named(tree, id))
    }
}

/// The values among which a part searches for an attribute.
fn searched(tree: &Tree, id: NodeId) -> Option<WrittenValues> {
    let View::Call { name, arguments } = tree.view(id) else { return None };
    let is_attribute = |id: NodeId| tree.reference(tree.bare(id)).is_some();
    let literal = |id: NodeId| match tree.view(tree.bare(id)) {
        View::Literal(literal) => Some(literal),
        _ => None,
    };
    let items = |list: NodeId| match tree.view(tree.bare(list)) {
        View::List(items) => items.iter().map(|item| literal(*item)).collect::<Option<Vec<&Literal>>>(),
        _ => None,
    };
    if let Some((side, texts, any_case)) = listed_by(tree, id) {
        let search = if any_case { WrittenSearch::AnyCase } else { WrittenSearch::Exact };
        return is_attribute(side).then(|| WrittenValues { texts, search: Some(search), ..WrittenValues::default() });
    }
    let (items, search) = match (name.folded(), arguments) {
        (b"member", &[item, list]) if is_attribute(item) => (items(list)?, WrittenSearch::AnyCase),
        (b"identicalmember", &[item, list]) if is_attribute(item) => (items(list)?, WrittenSearch::Exact),
        (b"anycompare" | b"allcompare", &[op, list, item]) if is_attribute(item) => {
            let Some(Literal::Str(op)) = literal(op) else { return None };
            let search = match op.as_bytes() {
                b"==" if name.folded() == b"anycompare" => WrittenSearch::AnyCase,
                b"<" | b"<=" | b">" | b">=" | b"==" | b"!=" => WrittenSearch::Order,
                _ => return None,
            };
            (items(list)?, search)
        }
        _ => return None,
    };
    let mut written = WrittenValues { search: Some(search), ..WrittenValues::default() };
    for item in items {
        match item {
            Literal::Str(text) if search != WrittenSearch::Order => written.texts.push(text.clone()),
            Literal::Int(_) | Literal::Real(_) => written.numbers.extend(Value::from(item).as_number()),
            _ => return None,
        }
    }
    Some(written)
}

/// The values that a part of another kind names.
fn named(tree: &Tree, id: NodeId) -> WrittenValues {
    let mut written = WrittenValues::default();
    let is_split = |part: NodeId| matches!(tree.view(part), View::Call { name, .. } if name.folded() == b"split");
    let splits = (tree.first_of(id)..=id).any(is_split);
    let of_list = matches!(tree.view(id), View::Call { name, .. } if name.folded().starts_with(b"stringlist"));
    for part in tree.first_of(id)..=id {
        let View::Literal(Literal::Str(text)) = tree.view(part) else { continue };
        let bytes = text.as_bytes();
        written.texts.push(text.clone());
        if splits {
            // Whichever item is taken, it is this one.
            written.texts.push(Text::from([bytes, b" ", bytes, b" ", bytes].concat()));
        }
        if of_list {
            written.pieces.push((PieceAt::Within, text.clone()));
        }
    }
    if let Some((place, text)) = found_by(tree, id) {
        written.texts.push(text.clone());
        written.pieces.push((place, text));
    }
    written
}
