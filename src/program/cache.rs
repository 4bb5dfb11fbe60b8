//! Values of atoms that are evaluated once and shared.
//!
//! In: blocks of ads, the atoms of clauses, and numbers for the values of the other ad. Out: the ads for which a clause
//! is true. The result for an atom is kept for each block and for the values of the other ad that the atom looks at.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use crate::name::{Key, Name};
use crate::program::atom::Atom;
use crate::program::condition::{Clause, ClauseStep};
use crate::program::mask::{Mask, RowTruths};
use crate::program::view::{Groups, TableView};

/// The ads of one block, opposite to one ad whose values have numbers.
pub struct CachedView<'v, 't> {
    /// The ads.
    pub view: TableView<'t>,
    /// The number of their block.
    pub block: u32,
    /// The number of the value that an attribute of the other ad has; none if the result is not to be kept.
    pub number: &'v dyn Fn(&Name) -> Option<u32>,
}

/// A block, an atom, and the values of the other ad that it looks at.
type AtomKey = (u32, u32, Vec<u32>);

/// Results by atom; none for an atom that could not be evaluated.
type ByAtom<T> = Mutex<HashMap<AtomKey, Option<Arc<T>>>>;

/// A block, whether its members or only their classes are meant, and attributes.
type GroupsKey = (u32, bool, Vec<Key>);

/// Results of atoms.
#[derive(Debug, Default)]
pub struct EvalCache {
    /// The ads for which atoms are true that are a clause of their own: more is not needed of these.
    yes: ByAtom<Mask>,
    truths: ByAtom<RowTruths>,
    /// The sets of all ads and of none, by block.
    uniform: Mutex<HashMap<(u32, bool), Arc<Mask>>>,
    groups: Mutex<HashMap<GroupsKey, Arc<Groups>>>,
}

fn cached<K: Hash + Eq, V: Clone>(map: &Mutex<HashMap<K, V>>, key: K, make: impl FnOnce() -> V) -> V {
    if let Some(found) = map.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return found.clone();
    }
    // Two threads may make the same; both make the same thing.
    let made = make();
    map.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone()
}

impl EvalCache {
    /// The ads for which a clause is true; none if it could not be evaluated.
    pub fn clause(&self, at: &CachedView<'_, '_>, clause: &Clause) -> Option<Arc<Mask>> {
        match clause.steps.as_slice() {
            [ClauseStep::Atom(atom)] => self.yes(at, atom),
            _ => at.view.clause(clause, |atom| self.truths(at, atom)).map(|truths| Arc::new(truths.yes.clone())),
        }
    }

    fn yes(&self, at: &CachedView<'_, '_>, atom: &Atom) -> Option<Arc<Mask>> {
        at.keep(&self.yes, atom, || {
            let yes = at.view.yes(atom, &self.groups(at, atom))?;
            // Many atoms are the same for all ads: those need no mask of their own.
            let uniform = yes.is_empty() || yes == Mask::all(yes.len());
            if !uniform {
                return Some(Arc::new(yes));
            }
            Some(cached(&self.uniform, (at.block, yes.is_empty()), || Arc::new(yes)))
        })
    }

    fn truths(&self, at: &CachedView<'_, '_>, atom: &Atom) -> Option<Arc<RowTruths>> {
        at.keep(&self.truths, atom, || at.view.truths(atom, &self.groups(at, atom)).map(Arc::new))
    }

    fn groups(&self, at: &CachedView<'_, '_>, atom: &Atom) -> Arc<Groups> {
        self.groups_of(&at.view, (at.block, false), atom)
    }

    /// The groups of the ads of a block, or of all members of its classes, by what an atom looks at.
    pub fn groups_of(&self, view: &TableView<'_>, (block, members): (u32, bool), atom: &Atom) -> Arc<Groups> {
        let columns = atom.row.iter().map(|name| name.key()).collect();
        cached(&self.groups, (block, members, columns), || Arc::new(view.groups(atom)))
    }
}

impl CachedView<'_, '_> {
    /// A result for an atom, kept if all values of the other ad that it looks at have numbers.
    fn keep<T>(&self, map: &ByAtom<T>, atom: &Atom, make: impl FnOnce() -> Option<Arc<T>>) -> Option<Arc<T>> {
        match atom.other.iter().map(self.number).collect() {
            Some(numbers) => cached(map, (self.block, atom.id, numbers), make),
            None => make(),
        }
    }
}
