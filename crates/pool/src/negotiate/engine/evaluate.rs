//! A request against rows: where parts of conditions are true, in which order it likes them.
//!
//! What atoms are for a block of rows and the values of the request that they look at is kept and shared by all
//! requests with those values.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{HashMap, HashSet};

use crate::negotiate::candidate::{RankKey, Tier, of_negotiator, of_nobody};
use crate::negotiate::engine::plan::{Part, Plans};
use crate::negotiate::engine::table::Table;
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::atom::{Atom, World};
use classmate::internal::program::batch::{Groups, Rows, Vector};
use classmate::internal::program::condition::Step;
use classmate::internal::program::mask::{Mask, Truths};
use classmate::internal::value::Value;

/// What a request is, as far as it matters to slots.
#[derive(Debug, Clone)]
pub(super) struct Wanted<'a> {
    /// Its ad.
    pub(super) ad: &'a ClassAd,
    /// The entry of each attribute of the vocabulary.
    pub(super) ids: Vec<u32>,
    /// The number of its structure.
    pub(super) kind: usize,
}

/// Ranks of slots, best first. Slots of one rank stand in the order in which they are looked at.
#[derive(Debug)]
pub(super) struct Order {
    /// Rows, or places of slots if slots of a row can differ in rank.
    pub(super) entries: Vec<u32>,
    /// For each entry the number of its rank, 0 the best.
    pub(super) ranks: Vec<u32>,
    /// The ranks; none if nobody uses a slot, for then they are compared with no others.
    pub(super) keys: Vec<RankKey>,
    /// How many slots have each rank.
    pub(super) sizes: Vec<u32>,
    /// The ranks, those of most slots first.
    pub(super) by_size: Vec<u32>,
    /// Whether the entries are slots.
    pub(super) by_slot: bool,
    /// If the entries are slots, the row of each.
    rows: Vec<u32>,
    /// For each row, or slot, where it stands among the entries.
    pub(super) place_of: Vec<u32>,
}

/// What slots in use make of a request, row by row.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Default)]
pub(super) struct Grounds {
    pub(super) prefers: Vec<bool>,
    pub(super) required: Vec<bool>,
    pub(super) likes_as_well: Vec<bool>,
    /// `PREEMPTION_RANK`, its bits.
    pub(super) preemption: Vec<u64>,
}

/// What is made of an expression of the configuration that could not be evaluated.
const UNKNOWN: Vector = Vector::Same(Value::Undefined);

/// The ranks of a plan.
pub(super) const BEFORE: usize = 0;
const JOB: usize = 1;
const AFTER: usize = 2;

/// Rows, or slots, by the first rank alone: requests whose own rank differs share it.
#[derive(Debug)]
pub(super) struct First {
    before: Vec<f64>,
    /// The place of the first slot of each.
    places: Vec<u32>,
    entries: Vec<u32>,
    /// Best first, then by place.
    sorted: Vec<u32>,
}

/// A number whose order is that of ranks, best first: what is not a number is the worst, and both zeros are equal.
fn descending(rank: f64) -> u64 {
    let rank = if rank.is_nan() { f64::NEG_INFINITY } else { rank + 0.0 };
    let bits = rank.to_bits();
    // Negative numbers have the sign bit set and descend as they grow.
    let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    !ascending
}

/// A block, an atom or a part of a condition, and the values of the request that it looks at.
type AtomKey = (u32, u32, Vec<u32>);

/// A block, whether its slots or its rows, and attributes.
type GroupsKey = (u32, bool, Vec<Key>);

/// What is known of an atom; none if it could not be evaluated.
type Known<T> = HashMap<AtomKey, Option<Arc<T>>>;

/// Results that requests share.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Where atoms are true that are a clause of their own: more is not asked of them.
    yes: Mutex<Known<Mask>>,
    uniform: Mutex<HashMap<(usize, bool), Arc<Mask>>>,
    truths: Mutex<Known<Truths>>,
    groups: Mutex<HashMap<GroupsKey, Arc<Groups>>>,
}

fn kept<K: Hash + Eq, V: Clone>(map: &Mutex<HashMap<K, V>>, key: K, make: impl FnOnce() -> V) -> V {
    if let Some(found) = map.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return found.clone();
    }
    // Two threads may make the same; both make the same thing.
    let made = make();
    map.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(made).clone()
}

/// Everything about slots that does not change during a cycle.
pub(super) struct Evaluator<'e, 's> {
    pub(super) vocabulary: &'e Vocabulary,
    pub(super) plans: &'e Plans,
    pub(super) table: &'e Table,
    /// The ad of the slot at a place.
    pub(super) ad: &'e (dyn Fn(u32) -> &'s ClassAd + Sync),
    pub(super) settings: &'e EvalOptions,
    /// Attributes that only ranks look at, of too many values to separate rows.
    pub(super) loose: &'e HashSet<Key>,
    pub(super) kept: &'e Kept,
}

impl<'s> Evaluator<'_, 's> {
    fn rows<'r>(&'r self, ads: &'r [u32]) -> Rows<'r, 's> {
        Rows { columns: &self.vocabulary.columns, ads, ad: self.ad }
    }

    fn world<'w>(&'w self, kind: usize, wanted: &'w Wanted) -> World<'w> {
        let sample = self.table.blocks[kind].slots[0];
        World { row: (self.ad)(sample), other: wanted.ad, selected: &self.vocabulary.selected }
    }

    fn key(&self, atom: &Atom, kind: usize, wanted: &Wanted<'_>) -> AtomKey {
        let id = |name: &Name| self.vocabulary.place_of(name.key()).map_or(u32::MAX, |at| wanted.ids[at]);
        (kind as u32, atom.id, atom.other.iter().map(id).collect())
    }

    /// Where all clauses of a part of a condition are true; none if one could not be evaluated.
    pub(super) fn part(&self, part: &Part, kind: usize, wanted: &Wanted<'_>) -> Option<Mask> {
        let rows = self.rows(&self.table.blocks[kind].slots);
        let mut accepted = Mask::all(rows.ads.len());
        // All clauses are asked, so that whether a request is odd does not depend on the slots.
        for clause in &part.clauses {
            if let [Step::Atom(atom)] = clause.steps.as_slice() {
                accepted.keep(&*self.yes(atom, kind, wanted)?);
            } else {
                accepted.keep(&rows.clause(clause, |atom| self.truths(atom, kind, wanted))?.yes);
            }
        }
        Some(accepted)
    }

    /// Where an atom is true.
    fn yes(&self, atom: &Atom, kind: usize, wanted: &Wanted<'_>) -> Option<Arc<Mask>> {
        kept(&self.kept.yes, self.key(atom, kind, wanted), || {
            let rows = self.rows(&self.table.blocks[kind].slots);
            let groups = self.groups(atom, kind, &rows, false);
            let yes = rows.yes(atom, &groups, &self.world(kind, wanted), self.settings)?;
            // Many atoms are the same in all rows: those need no mask of their own.
            let uniform = yes.is_empty() || yes == Mask::all(yes.len());
            if !uniform {
                return Some(Arc::new(yes));
            }
            Some(kept(&self.kept.uniform, (kind, yes.is_empty()), || Arc::new(yes)))
        })
    }

    fn truths(&self, atom: &Atom, kind: usize, wanted: &Wanted<'_>) -> Option<Arc<Truths>> {
        kept(&self.kept.truths, self.key(atom, kind, wanted), || {
            let rows = self.rows(&self.table.blocks[kind].slots);
            let groups = self.groups(atom, kind, &rows, false);
            rows.truths(atom, &groups, &self.world(kind, wanted), self.settings).map(Arc::new)
        })
    }

    fn groups(&self, atom: &Atom, kind: usize, rows: &Rows<'_, 's>, by_slot: bool) -> Arc<Groups> {
        let columns = atom.row.iter().map(|name| name.key()).collect();
        kept(&self.kept.groups, (kind as u32, by_slot, columns), || Arc::new(rows.groups(atom)))
    }

    /// What is made of the value of an atom in every row of a block, or in every slot of it.
    fn values<T: Copy>(
        &self,
        atom: &Atom,
        (kind, wanted): (usize, &Wanted<'_>),
        by_slot: bool,
        of: impl Fn(&Value) -> T,
    ) -> Vec<T> {
        let block = &self.table.blocks[kind];
        let rows = self.rows(if by_slot { &block.members } else { &block.slots });
        let groups = self.groups(atom, kind, &rows, by_slot);
        let values = rows.values(atom, &groups, &self.world(kind, wanted), self.settings).unwrap_or(UNKNOWN);
        let values: Vec<T> = values.each(groups.first.len(), of);
        groups.of.iter().map(|group| values[*group as usize]).collect()
    }

    /// A rank in every row, or slot, in the order of the blocks.
    fn ranks(&self, which: usize, wanted: &Wanted<'_>, by_slot: bool) -> Vec<f64> {
        let mut ranks = Vec::new();
        for (kind, block) in self.table.blocks.iter().enumerate() {
            match &self.plans.plan(wanted.kind, kind).ranks[which] {
                Some(atom) => ranks.extend(self.values(atom, (kind, wanted), by_slot, |value| {
                    let number = value.as_number();
                    if which == JOB { number.unwrap_or(0.0) } else { of_negotiator(number) }
                })),
                None => {
                    let count = if by_slot { block.members.len() } else { block.slots.len() };
                    ranks.resize(ranks.len() + count, of_negotiator(None));
                }
            }
        }
        ranks
    }

    /// Sorts rows, or slots, by the rank of the negotiator that comes before the job's.
    pub(super) fn first(&self, wanted: &Wanted<'_>, by_slot: bool) -> First {
        let before = self.ranks(BEFORE, wanted, by_slot);
        let mut places = Vec::with_capacity(before.len());
        let mut entries = Vec::with_capacity(before.len());
        for block in &self.table.blocks {
            places.extend(if by_slot { &block.members } else { &block.slots });
            let rows = block.first as u32..(block.first + block.slots.len()) as u32;
            if by_slot { entries.extend(&block.members) } else { entries.extend(rows) }
        }
        let mut sorted: Vec<(u64, u32, u32)> = before
            .iter()
            .zip(&places)
            .enumerate()
            .map(|(at, (rank, place))| (descending(*rank), *place, at as u32))
            .collect();
        sorted.sort_unstable();
        let sorted = sorted.into_iter().map(|(_, _, at)| at).collect();
        First { before, places, entries, sorted }
    }

    /// Sorts rows, or slots, by all ranks, best first.
    pub(super) fn sorted(&self, first: &First, wanted: &Wanted<'_>, by_slot: bool) -> Order {
        let (job, after) = (self.ranks(JOB, wanted, by_slot), self.ranks(AFTER, wanted, by_slot));
        let mut sorted = first.sorted.clone();
        let before = |at: &u32| descending(first.before[*at as usize]);
        for tied in sorted.chunk_by_mut(|a, b| before(a) == before(b)).filter(|tied| tied.len() > 1) {
            let key = |at: &u32| {
                let at = *at as usize;
                (descending(job[at]), descending(after[at]), first.places[at])
            };
            tied.sort_unstable_by_key(key);
        }
        let len = if by_slot { self.table.row_of.len() } else { self.table.len() };
        let mut order = Order {
            entries: Vec::with_capacity(sorted.len()),
            ranks: Vec::with_capacity(sorted.len()),
            keys: Vec::new(),
            sizes: Vec::new(),
            by_size: Vec::new(),
            by_slot,
            rows: Vec::new(),
            place_of: vec![0; len],
        };
        let in_use = self.plans.in_use;
        let mut last: Option<RankKey> = None;
        for at in sorted {
            let (at, entry) = (at as usize, first.entries[at as usize]);
            let key = of_nobody(first.before[at], job[at], after[at]);
            if last.replace(key).is_none_or(|last| last.compare(&key).is_ne()) {
                order.keys.extend(Some(key).filter(|_| in_use));
                order.sizes.push(0);
            }
            let rank = order.sizes.len() - 1;
            order.place_of[entry as usize] = order.entries.len() as u32;
            order.entries.push(entry);
            order.ranks.push(rank as u32);
            order.sizes[rank] += if by_slot { 1 } else { self.table.slots(entry).len() as u32 };
        }
        if by_slot {
            order.rows = order.entries.iter().map(|place| self.table.row_of[*place as usize]).collect();
        }
        order.by_size = (0..order.sizes.len() as u32).collect();
        order.by_size.sort_by_key(|rank| std::cmp::Reverse(order.sizes[*rank as usize]));
        order
    }

    /// What slots in use make of a request.
    pub(super) fn grounds(&self, wanted: &Wanted<'_>) -> Grounds {
        let mut grounds = Grounds::default();
        for (kind, block) in self.table.blocks.iter().enumerate() {
            let [prefers, required, likes, preemption] = &self.plans.plan(wanted.kind, kind).preemption;
            let grow = |to: &mut Vec<bool>, atom: Option<&Arc<Atom>>| match atom {
                Some(atom) => {
                    to.resize(block.first, false);
                    to.extend(self.values(atom, (kind, wanted), false, |value| matches!(value, Value::Bool(true))));
                }
                None => to.resize(block.first + block.slots.len(), true),
            };
            grow(&mut grounds.prefers, prefers.as_ref());
            grow(&mut grounds.required, required.as_ref());
            grow(&mut grounds.likes_as_well, likes.as_ref());
            grounds.preemption.resize(block.first, 0);
            match preemption {
                Some(atom) => grounds.preemption.extend(
                    self.values(atom, (kind, wanted), false, |value| of_negotiator(value.as_number()).to_bits()),
                ),
                None => {
                    grounds.preemption.resize(block.first + block.slots.len(), of_negotiator(None).to_bits());
                }
            }
        }
        grounds
    }
}

impl Order {
    /// Whether nobody can tell one from the other.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let key = |(a, b): (&RankKey, &RankKey)| a.compare(b).is_eq();
        self.by_slot == other.by_slot
            && self.entries == other.entries
            && self.ranks == other.ranks
            && self.keys.iter().zip(&other.keys).all(key)
    }

    /// About how much memory it takes, bytes.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [&self.entries, &self.ranks, &self.sizes, &self.by_size, &self.rows, &self.place_of];
        numbers.iter().map(|numbers| size_of_val(numbers.as_slice())).sum::<usize>() + size_of_val(self.keys.as_slice())
    }

    /// The row of the entry at a place of the order.
    pub(super) fn row(&self, at: usize) -> u32 {
        if self.by_slot { self.rows[at] } else { self.entries[at] }
    }

    /// The key of a slot in use, from that of a slot nobody uses.
    pub(super) fn key_of(&self, row: u32, place: u32, tier: Tier, preemption: f64) -> RankKey {
        let at = self.place_of[if self.by_slot { place } else { row } as usize];
        let rank = self.ranks[at as usize];
        RankKey { tier, preemption, ..self.keys[rank as usize] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ranks_are_in_the_order_of_ranks() {
        let ranks = [f64::MAX, 7.5, 1e-300, 0.0, -0.0, -1.0, f64::MIN, f64::NEG_INFINITY, f64::NAN];
        for (at, a) in ranks.iter().enumerate() {
            for b in &ranks[at..] {
                let (first, second) = (of_nobody(*a, 0.0, 0.0), of_nobody(*b, 0.0, 0.0));
                assert_eq!(descending(*a).cmp(&descending(*b)), second.compare(&first), "{a} {b}");
            }
        }
    }
}
