//! Facts about attributes at a place in an expression.

use super::values::Values;
use crate::name::Key;
use crate::syntax::view::{RefScope, Reference};

/// Facts about references, beside those that hold everywhere.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    known: Vec<(RefScope, Key, Values)>,
}

/// Maximum number of references with facts; facts about more are dropped.
const MAX_REFERENCES: usize = 64;

impl Facts {
    /// Tests whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The possible values of a reference.
    pub fn get(&self, reference: Reference) -> Option<&Values> {
        let key = reference.name.key();
        self.known
            .iter()
            .find(|(scope, name, _)| *scope == reference.scope && *name == key)
            .map(|(_, _, values)| values)
    }

    /// Sets what a reference can be.
    pub fn set(&mut self, reference: Reference, values: Values) {
        let key = reference.name.key();
        match self.known.iter().position(|(scope, name, _)| *scope == reference.scope && *name == key) {
            Some(at) => self.known[at].2 = values,
            None if self.known.len() < MAX_REFERENCES => self.known.push((reference.scope, key, values)),
            None => {}
        }
    }
}
