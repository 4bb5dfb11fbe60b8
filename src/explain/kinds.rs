//! Slots that a job cannot tell apart: one stands for all, so that 100,000 slots are as quickly looked at as their kinds.
//!
//! Two slots are of one kind if they have the same of every attribute that can be reached from the Requirements of either
//! side. Where that cannot be foreseen, because an expression evaluates texts or draws random numbers, every slot is a kind.

use hashbrown::HashSet;

use crate::ad::{Attribute, ClassAd};
use crate::name::Name;
use crate::program::column::{Column, Entry, refine};
use crate::program::mentions::Mentions;
use crate::syntax::expr::Tree;

/// The kinds of some slots, for one job.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// For each slot its kind.
    pub(super) of: Vec<u32>,
    /// For each kind its first slot.
    pub(super) first: Vec<usize>,
    /// For each kind how many slots it has.
    pub(super) sizes: Vec<usize>,
    /// For each kind its policy: slots of one policy have the same expressions, and the same Requirements.
    pub(super) policy: Vec<u32>,
}

impl Kinds {
    /// The kinds of slots.
    pub(super) fn of(slots: &[ClassAd], job: &ClassAd) -> Self {
        let requirements = Name::new("Requirements");
        let mut known: HashSet<&'static [u8]> = HashSet::from([requirements.folded()]);
        let mut waiting = vec![requirements];
        let (mut of, mut policies) = (vec![0; slots.len()], vec![0; slots.len()]);
        let mut foreseen = true;
        while !waiting.is_empty() {
            let columns = Column::of(&waiting, slots.len(), &|at| &slots[at]).into_iter().flatten();
            let columns: Vec<Column> = columns.collect();
            let mut mentioned = Vec::new();
            for name in waiting.drain(..) {
                if let Some(Attribute::Tree(tree)) = job.lookup(name) {
                    foreseen &= mention(tree, &mut mentioned);
                }
            }
            for column in &columns {
                let tree = |id: u32| match column.entries.get(id as usize) {
                    Some(Entry::Tree(_)) => id + 1,
                    _ => 0,
                };
                for entry in &column.entries {
                    if let Entry::Tree(tree) = entry {
                        foreseen &= mention(tree, &mut mentioned);
                    }
                }
                if column.entries.len() > 1 {
                    refine(&mut of, |at| column.ids[at]);
                    let whole = column.name.folded() == requirements.folded();
                    if whole || column.entries.iter().any(|entry| matches!(entry, Entry::Tree(_))) {
                        refine(&mut policies, |at| if whole { column.ids[at] } else { tree(column.ids[at]) });
                    }
                }
            }
            waiting = mentioned.into_iter().filter(|name| known.insert(name.folded())).collect();
        }
        if !foreseen {
            of = (0..slots.len() as u32).collect();
        }
        let mut kinds = Kinds::default();
        for (at, kind) in of.iter().enumerate() {
            if *kind as usize == kinds.first.len() {
                kinds.first.push(at);
                kinds.sizes.push(0);
                kinds.policy.push(policies[at]);
            }
            kinds.sizes[*kind as usize] += 1;
        }
        kinds.of = of;
        kinds
    }

    /// What is so for each kind, for each slot.
    pub(super) fn each<T: Clone>(&self, of_kind: &[T]) -> Vec<T> {
        self.of.iter().map(|kind| of_kind[*kind as usize].clone()).collect()
    }

    /// The kinds among some slots, each with its first slot among them and how many they are.
    pub(super) fn among(&self, slots: &[usize]) -> Vec<(usize, usize)> {
        let mut place: hashbrown::HashMap<u32, usize> = hashbrown::HashMap::new();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for at in slots {
            match place.entry(self.of[*at]) {
                hashbrown::hash_map::Entry::Occupied(known) => found[*known.get()].1 += 1,
                hashbrown::hash_map::Entry::Vacant(new) => {
                    new.insert(found.len());
                    found.push((*at, 1));
                }
            }
        }
        found
    }
}

/// Adds the names that a tree mentions; false if it can look at others too.
fn mention(tree: &Tree, names: &mut Vec<Name>) -> bool {
    let found = Mentions::of(tree);
    names.extend(found.names);
    !(found.opaque || found.random || found.bound) && found.selectors.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(job: &str, slots: &[&str]) -> Vec<u32> {
        let slots: Vec<ClassAd> = slots.iter().map(|text| ClassAd::parse(text.as_bytes()).unwrap()).collect();
        Kinds::of(&slots, &ClassAd::parse(job.as_bytes()).unwrap()).of
    }

    #[test]
    fn only_what_can_be_reached_tells_slots_apart() {
        let slots = [
            "[Name = \"a\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"b\"; Memory = 1; Disk = 8; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"c\"; Memory = 2; Disk = 7; Requirements = Start; Start = TARGET.Big is true]",
            "[Name = \"d\"; Memory = 1; Disk = 7; Requirements = Start; Start = TARGET.Big isnt true]",
        ];
        assert_eq!(kinds("[Requirements = TARGET.Memory > 1]", &slots), [0, 0, 1, 2]);
        assert_eq!(kinds("[Requirements = Fits; Fits = TARGET.Disk > 1]", &slots), [0, 1, 0, 2]);
        // A condition that evaluates a text can look at anything.
        assert_eq!(kinds("[Requirements = eval(TARGET.Text)]", &slots), [0, 1, 2, 3]);
    }
}
