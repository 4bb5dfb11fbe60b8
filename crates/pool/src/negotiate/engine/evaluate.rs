//! The evaluation of a request for all rows: the rows that conditions accept, and the order of ranks.
//!
//! Results are cached by block and by the values of the request that an atom looks at, for all requests with those values.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::negotiate::candidate::{PreemptState, RankKey, of_negotiator, of_unclaimed};
use crate::negotiate::engine::plan::{ConditionPart, MatchPlans};
use crate::negotiate::engine::table::{Block, ClassTable};
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::{Key, Name};
use classmate::internal::program::atom::Atom;
use classmate::internal::program::batch::Vector;
use classmate::internal::program::cache::{CachedView, EvalCache};
use classmate::internal::program::mask::Mask;
use classmate::internal::program::view::{AdSource, TableView};
use classmate::internal::value::Value;

/// The attributes of a request that slots can look at.
#[derive(Debug, Clone)]
pub(super) struct RequestKey<'a> {
    /// Its ad.
    pub(super) ad: &'a ClassAd,
    /// The entry of each attribute of the vocabulary.
    pub(super) ids: Vec<u32>,
    /// The number of its structure.
    pub(super) structure: usize,
}

/// Slots in the order of their ranks, best first. Slots of one rank are in the order in which they are evaluated.
#[derive(Debug)]
pub(super) struct SlotOrder {
    /// Rows, or places of slots if slots of a row can differ in rank.
    pub(super) entries: Vec<u32>,
    /// For each entry the number of its rank, 0 the best.
    pub(super) ranks: Vec<u32>,
    /// The ranks; empty if they are not compared with others.
    pub(super) keys: Vec<RankKey>,
    /// Number of slots of each rank.
    pub(super) sizes: Vec<u32>,
    /// The ranks, those of most slots first.
    pub(super) by_size: Vec<u32>,
    /// True if the entries are slots.
    pub(super) by_slot: bool,
    /// The row of each entry, if the entries are slots.
    rows: Vec<u32>,
    /// For each row, or slot, its place among the entries.
    pub(super) place_of: Vec<u32>,
}

/// The preemption decisions of slots in use about a request, row by row.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Default)]
pub(super) struct PreemptionVerdict {
    pub(super) prefers: Vec<bool>,
    pub(super) required: Vec<bool>,
    pub(super) likes_as_well: Vec<bool>,
    /// `PREEMPTION_RANK`, its bits.
    pub(super) preemption: Vec<u64>,
}

/// The ranks of a plan.
pub(super) const BEFORE: usize = 0;
const JOB: usize = 1;
const AFTER: usize = 2;

/// Rows, or slots, by the first rank alone: requests that differ in their own rank share it.
#[derive(Debug)]
pub(super) struct FirstRankOrder {
    before: Vec<f64>,
    /// The place of the first slot of each.
    places: Vec<u32>,
    entries: Vec<u32>,
    /// Best first, then by place.
    sorted: Vec<u32>,
}

/// Maps a rank to an integer that sorts the best rank first: NaN is the worst, and both zeros are equal.
pub(super) fn descending(rank: f64) -> u64 {
    let rank = if rank.is_nan() { f64::NEG_INFINITY } else { rank + 0.0 };
    let bits = rank.to_bits();
    // Negative numbers have the sign bit set and descend as they grow.
    let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    !ascending
}

/// The data about slots that does not change during a cycle.
pub(super) struct Evaluator<'e> {
    pub(super) vocabulary: &'e Vocabulary,
    pub(super) plans: &'e MatchPlans,
    pub(super) table: &'e ClassTable,
    /// The ads of slots, by place.
    pub(super) source: &'e dyn AdSource,
    pub(super) settings: &'e EvalOptions,
    /// Attributes that only ranks look at, with too many values to split rows.
    pub(super) unpartitioned: &'e HashSet<Key>,
    /// True if unclaimed slots of classes are compared with other slots.
    pub(super) keyed: bool,
    pub(super) cache: &'e EvalCache,
}

impl Evaluator<'_> {
    /// Some slots of one structure opposite to a request.
    fn view<'v>(&'v self, ads: &'v [u32], request: &'v RequestKey<'_>) -> TableView<'v> {
        let table = &self.vocabulary.slots;
        TableView { table, ads, source: self.source, other: request.ad, settings: self.settings }
    }

    /// The rows of a block for which all clauses of a part of a condition are true; none if one could not be evaluated.
    pub(super) fn part(&self, part: &ConditionPart, block: usize, request: &RequestKey<'_>) -> Option<Mask> {
        let view = self.view(&self.table.blocks[block].slots, request);
        let number = |name: &Name| Some(self.vocabulary.place_of(name.key()).map_or(u32::MAX, |at| request.ids[at]));
        let at = CachedView { view, block: block as u32, number: &number };
        let mut accepted = Mask::all(view.ads.len());
        // All clauses are evaluated, so that whether a request is unforeseen does not depend on the slots.
        for clause in &part.clauses {
            accepted.keep(&*self.cache.clause(&at, clause)?);
        }
        Some(accepted)
    }

    /// Maps the value of an atom, for every row of a block or for every slot of it.
    fn values<T: Copy>(
        &self,
        atom: &Atom,
        (block, request): (usize, &RequestKey<'_>),
        by_slot: bool,
        of: impl Fn(&Value) -> T,
    ) -> Vec<T> {
        let Block { slots, members, .. } = &self.table.blocks[block];
        let view = self.view(if by_slot { members } else { slots }, request);
        let groups = self.cache.groups_of(&view, (block as u32, by_slot), atom);
        let values = view.values(atom, &groups).unwrap_or(Vector::Same(Value::Undefined));
        let values: Vec<T> = values.each(groups.first.len(), of);
        groups.of.iter().map(|group| values[*group as usize]).collect()
    }

    /// A rank of every row, or slot, in the order of the blocks.
    fn ranks(&self, which: usize, request: &RequestKey<'_>, by_slot: bool) -> Vec<f64> {
        let mut ranks = Vec::new();
        for (at, block) in self.table.blocks.iter().enumerate() {
            match &self.plans.plan(request.structure, at).ranks[which] {
                Some(atom) => ranks.extend(self.values(atom, (at, request), by_slot, |value| {
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
    pub(super) fn first(&self, request: &RequestKey<'_>, by_slot: bool) -> FirstRankOrder {
        let before = self.ranks(BEFORE, request, by_slot);
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
        FirstRankOrder { before, places, entries, sorted }
    }

    /// Sorts rows, or slots, by all ranks, best first.
    pub(super) fn sorted(&self, first: &FirstRankOrder, request: &RequestKey<'_>, by_slot: bool) -> SlotOrder {
        let (job, after) = (self.ranks(JOB, request, by_slot), self.ranks(AFTER, request, by_slot));
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
        let mut order = SlotOrder {
            entries: Vec::with_capacity(sorted.len()),
            ranks: Vec::with_capacity(sorted.len()),
            keys: Vec::new(),
            sizes: Vec::new(),
            by_size: Vec::new(),
            by_slot,
            rows: Vec::new(),
            place_of: vec![0; len],
        };
        let mut last: Option<RankKey> = None;
        for at in sorted {
            let (at, entry) = (at as usize, first.entries[at as usize]);
            let key = of_unclaimed(first.before[at], job[at], after[at]);
            if last.replace(key).is_none_or(|last| last.compare(&key).is_ne()) {
                order.keys.extend(Some(key).filter(|_| self.keyed));
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

    /// The preemption decisions of slots in use about a request.
    pub(super) fn preemption(&self, request: &RequestKey<'_>) -> PreemptionVerdict {
        let mut verdict = PreemptionVerdict::default();
        for (at, block) in self.table.blocks.iter().enumerate() {
            let [prefers, required, likes, rank] = &self.plans.plan(request.structure, at).preemption;
            let grow = |to: &mut Vec<bool>, atom: Option<&Arc<Atom>>| match atom {
                Some(atom) => {
                    to.resize(block.first, false);
                    to.extend(self.values(atom, (at, request), false, |value| matches!(value, Value::Bool(true))));
                }
                None => to.resize(block.first + block.slots.len(), true),
            };
            grow(&mut verdict.prefers, prefers.as_ref());
            grow(&mut verdict.required, required.as_ref());
            grow(&mut verdict.likes_as_well, likes.as_ref());
            verdict.preemption.resize(block.first, 0);
            match rank {
                Some(atom) => verdict.preemption.extend(
                    self.values(atom, (at, request), false, |value| of_negotiator(value.as_number()).to_bits()),
                ),
                None => {
                    verdict.preemption.resize(block.first + block.slots.len(), of_negotiator(None).to_bits());
                }
            }
        }
        verdict
    }
}

impl SlotOrder {
    /// Returns whether both orders are observably equal.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let key = |(a, b): (&RankKey, &RankKey)| a.compare(b).is_eq();
        self.by_slot == other.by_slot
            && self.entries == other.entries
            && self.ranks == other.ranks
            && self.keys.iter().zip(&other.keys).all(key)
    }

    /// Approximate memory use, bytes.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [&self.entries, &self.ranks, &self.sizes, &self.by_size, &self.rows, &self.place_of];
        numbers.iter().map(|numbers| size_of_val(numbers.as_slice())).sum::<usize>() + size_of_val(self.keys.as_slice())
    }

    /// The row of the entry at a place of the order.
    pub(super) fn row(&self, at: usize) -> u32 {
        if self.by_slot { self.rows[at] } else { self.entries[at] }
    }

    /// The number of the rank of a slot.
    pub(super) fn rank_of(&self, row: u32, place: u32) -> u32 {
        self.ranks[self.place_of[if self.by_slot { place } else { row } as usize] as usize]
    }

    /// The key of a slot in use, from that of an unclaimed slot.
    pub(super) fn key_of(&self, row: u32, place: u32, preempt_state: PreemptState, preemption: f64) -> RankKey {
        RankKey { preempt_state, preemption, ..self.keys[self.rank_of(row, place) as usize] }
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
                let (first, second) = (of_unclaimed(*a, 0.0, 0.0), of_unclaimed(*b, 0.0, 0.0));
                assert_eq!(descending(*a).cmp(&descending(*b)), second.compare(&first), "{a} {b}");
            }
        }
    }
}
