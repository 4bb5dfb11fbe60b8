//! What is known of attributes at a place in an expression.

use super::values::Values;
use crate::name::{Key, Name};
use crate::syntax::expr::{Node, NodeId, Tree, base_of};

/// Which ad a reference names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Side {
    /// None: mine, otherwise the other's.
    Plain,
    /// `MY.a`
    My,
    /// `TARGET.a`
    Target,
}

/// A reference whose value can be known: `a`, `MY.a`, `TARGET.a`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Reference {
    /// The ad it names.
    pub side: Side,
    /// The attribute.
    pub name: Name,
}

impl Reference {
    /// The reference that a node is.
    pub fn of(tree: &Tree, id: NodeId) -> Option<Reference> {
        match *tree.node(id) {
            Node::Attr(name) => Some(Reference { side: Side::Plain, name }),
            Node::Select(name) => match tree.node(base_of(id)) {
                Node::Attr(scope) if scope.folded() == b"my" => Some(Reference { side: Side::My, name }),
                Node::Attr(scope) if scope.folded() == b"target" => Some(Reference { side: Side::Target, name }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What is known of references, beside what holds everywhere.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    known: Vec<(Side, Key, Values)>,
}

/// References that are told apart; what is said of more is forgotten.
const MOST: usize = 64;

impl Facts {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What a reference can be.
    pub fn get(&self, reference: Reference) -> Option<&Values> {
        let key = reference.name.key();
        self.known.iter().find(|(side, name, _)| *side == reference.side && *name == key).map(|(_, _, values)| values)
    }

    /// Sets what a reference can be.
    pub fn set(&mut self, reference: Reference, values: Values) {
        let key = reference.name.key();
        match self.known.iter().position(|(side, name, _)| *side == reference.side && *name == key) {
            Some(at) => self.known[at].2 = values,
            None if self.known.len() < MOST => self.known.push((reference.side, key, values)),
            None => {}
        }
    }
}
