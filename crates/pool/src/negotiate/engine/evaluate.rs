//! The evaluation of a request for all rows: the rows that conditions accept, and the order of ranks.
//!
//! Results are cached by block and by the values of the request that an atom looks at, for all requests with those values.

use hashbrown::HashSet;

use crate::negotiate::candidate::{RankKey, of_negotiator, of_unclaimed};
use crate::negotiate::engine::order::SlotOrder;
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

/// The decisions about preemption by priority that slots in use make about a request, by row.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PriorityVerdict {
    /// Rows for which `PREEMPTION_REQUIREMENTS` is true.
    pub(super) required: Mask,
    /// Rows that rank the job as high as the one they run.
    pub(super) likes_as_well: Mask,
}

/// `PREEMPTION_RANK` of slots in use for a request.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PreemptionRanks {
    /// The bits of the ranks, by row, or by place if slots of a row can differ in them.
    ranks: Vec<u64>,
    by_slot: bool,
}

impl PreemptionRanks {
    /// The rank of a slot, given its row and its place.
    pub(super) fn of(&self, row: u32, place: u32) -> f64 {
        f64::from_bits(self.ranks[if self.by_slot { place } else { row } as usize])
    }
}

/// The ranks of a plan.
pub(super) const BEFORE: usize = 0;
const JOB: usize = 1;
const AFTER: usize = 2;

/// The conditions of preemption of a plan.
pub(super) const PREFERS: usize = 0;
const REQUIRED: usize = 1;
const LIKES_AS_WELL: usize = 2;

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
        let mut keyed = Vec::new();
        for tied in sorted.chunk_by_mut(|a, b| before(a) == before(b)).filter(|tied| tied.len() > 1) {
            keyed.clear();
            keyed.extend(tied.iter().map(|&at| {
                let (job, after) = (job[at as usize], after[at as usize]);
                (descending(job), descending(after), first.places[at as usize], at)
            }));
            keyed.sort_unstable();
            tied.iter_mut().zip(&keyed).for_each(|(at, (.., sorted))| *at = *sorted);
        }
        let (mut starts, mut keys, mut last) = (Vec::new(), Vec::new(), None::<RankKey>);
        for (entry, at) in sorted.iter().map(|at| *at as usize).enumerate() {
            let key = of_unclaimed(first.before[at], job[at], after[at]);
            if last.replace(key).is_none_or(|last| last.compare(&key).is_ne()) {
                starts.push(entry as u32);
                keys.extend(Some(key).filter(|_| self.keyed));
            }
        }
        let entries = sorted.iter().map(|at| first.entries[*at as usize]).collect();
        SlotOrder::new(entries, &starts, keys, by_slot, self.table)
    }

    /// The rows for which one of the conditions of preemption is `true`, or not set; numbers do not count.
    pub(super) fn preemption(&self, which: usize, request: &RequestKey<'_>) -> Mask {
        let mut found = Mask::none(self.table.len());
        for (at, block) in self.table.blocks.iter().enumerate() {
            let part = match &self.plans.plan(request.structure, at).preemption[which] {
                Some(atom) => {
                    let truths = self.values(atom, (at, request), false, |value| matches!(value, Value::Bool(true)));
                    Mask::of(truths.len(), |row| truths[row])
                }
                None => Mask::all(block.slots.len()),
            };
            found.put(block.first, &part);
        }
        found
    }

    /// The decisions about preemption by priority that slots in use make about a request.
    pub(super) fn by_priority(&self, request: &RequestKey<'_>) -> PriorityVerdict {
        PriorityVerdict {
            required: self.preemption(REQUIRED, request),
            likes_as_well: self.preemption(LIKES_AS_WELL, request),
        }
    }

    /// `PREEMPTION_RANK` of slots in use for a request.
    pub(super) fn preemption_ranks(&self, request: &RequestKey<'_>, by_slot: bool) -> PreemptionRanks {
        let len = if by_slot { self.table.row_of.len() } else { self.table.len() };
        let mut ranks = vec![of_negotiator(None).to_bits(); len];
        for (at, block) in self.table.blocks.iter().enumerate() {
            let Some(atom) = &self.plans.plan(request.structure, at).preemption_rank else { continue };
            let values = self.values(atom, (at, request), by_slot, |value| of_negotiator(value.as_number()).to_bits());
            if by_slot {
                block.members.iter().zip(values).for_each(|(place, rank)| ranks[*place as usize] = rank);
            } else {
                ranks[block.first..block.first + values.len()].copy_from_slice(&values);
            }
        }
        PreemptionRanks { ranks, by_slot }
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
