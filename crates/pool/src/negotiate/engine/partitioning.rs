//! The partitioning of slots of one structure into rows.
//!
//! In: the compiled expressions of a cycle, the columns, the requests. Out: classes of slots. Some attributes split slots by
//! their values, others only by the outcomes of conditions for the requests of the queue: the memory of a slot matters only
//! as far as it lies between two of the requested amounts.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::engine::evaluate::RequestKey;
use crate::negotiate::engine::plan::MatchPlans;
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Key;
use classmate::internal::program::atom::Atom;
use classmate::internal::program::column::Column;
use classmate::internal::program::partition::Partition;
use classmate::internal::program::view::{AdSource, Groups, TableView};
use classmate::internal::threads;
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;

/// An attribute that only ranks look at splits slots if it has no more values than this, and fewer in small pools.
const MAX_RANK_VALUES: usize = 256;

/// Evaluations per attribute for all requests together; beyond that, each value of the attribute is a class.
const MAX_EVALUATIONS: usize = 2_000_000;

/// More values than this are searched by bisection for those that make a comparison true.
const MAX_SCANNED_VALUES: usize = 64;

/// The ways in which attributes split slots.
#[derive(Debug, Default)]
pub(super) struct Partitioning {
    /// Attributes that split slots by their values.
    pub(super) exact: HashSet<Key>,
    /// Attributes that split slots by the outcomes of conditions for each request.
    by_outcome: HashSet<Key>,
    /// Attributes that do not split slots: only ranks look at them, and they have too many values. Such ranks are evaluated
    /// per slot, not per row.
    pub(super) unpartitioned: HashSet<Key>,
}

impl Partitioning {
    /// The ways in which the attributes of so many slots split them. Conditions on varying attributes of requests have no
    /// outcomes in advance.
    pub(super) fn of(plans: &MatchPlans, vocabulary: &Vocabulary, count: usize, varying: &HashSet<Key>) -> Self {
        let (alone, together) = plans.compared(varying);
        let many = |key: Key| {
            vocabulary
                .slots
                .column(key)
                .is_some_and(|column| column.entries.len() > (count / 32).clamp(64, MAX_RANK_VALUES))
        };
        let ranked = plans.ranks().flat_map(|atom| &atom.row).map(|name| name.key());
        let unpartitioned: HashSet<Key> =
            ranked.filter(|key| many(*key) && !alone.contains(key) && !together.contains(key)).collect();
        let mut exact = together;
        // A rank that looks at slots alone splits them by its value.
        let requester = plans.ranks().filter(|atom| !is_unpartitioned(atom, &unpartitioned) && !atom.other.is_empty());
        exact.extend(requester.flat_map(|atom| &atom.row).map(|name| name.key()));
        let by_outcome = alone.into_iter().filter(|key| !exact.contains(key)).collect();
        Self { exact, by_outcome, unpartitioned }
    }

    /// Returns whether slots with the same values of exact attributes may differ in the value of an atom.
    fn is_open(&self, atom: &Atom) -> bool {
        !atom.row.iter().all(|name| self.exact.contains(&name.key()))
    }

    /// Returns whether an atom is a condition on an attribute that splits slots by outcomes.
    fn is_by_outcome(&self, atom: &Atom) -> bool {
        !atom.other.is_empty() && atom.row.iter().any(|name| self.by_outcome.contains(&name.key()))
    }
}

/// Returns whether a rank looks at an attribute that does not split slots.
pub(super) fn is_unpartitioned(atom: &Atom, unpartitioned: &HashSet<Key>) -> bool {
    atom.row.iter().any(|name| unpartitioned.contains(&name.key()))
}

/// The combinations of entries that requests of one structure have at some places, each with the first request.
type Seen = HashMap<Vec<u32>, usize>;

/// The combinations of entries in requests of the attributes that slots are compared with.
#[derive(Debug, Default)]
pub(super) struct Combinations {
    /// By the structure of the request, and by the places of attributes among those of requests.
    by_structure: Vec<HashMap<Vec<usize>, Seen>>,
}

/// The entries of a request at some places.
pub(super) fn picked<T: FromIterator<u32>>(places: &[usize], ids: &[u32]) -> T {
    places.iter().map(|place| ids[*place]).collect()
}

impl Combinations {
    /// The combinations of the requests of a cycle.
    pub(super) fn of(
        plans: &MatchPlans,
        vocabulary: &Vocabulary,
        partitioning: &Partitioning,
        requests: &[RequestKey<'_>],
    ) -> Self {
        let mut by_structure: Vec<HashMap<Vec<usize>, Seen>> = Vec::new();
        by_structure.resize_with(plans.requests(), HashMap::new);
        for (structure, atom) in (0..plans.slots()).flat_map(|slot| plans.open(slot)) {
            if partitioning.is_by_outcome(atom) {
                by_structure[structure].entry(vocabulary.places(atom.other.iter())).or_default();
            }
        }
        for (at, request) in requests.iter().enumerate() {
            let Some(lists) = by_structure.get_mut(request.structure) else { continue };
            for (places, seen) in lists {
                seen.entry(picked(places, &request.ids)).or_insert(at);
            }
        }
        Self { by_structure }
    }

    /// Returns whether slots were split for requests like this one.
    pub(super) fn know(&self, structure: usize, ids: &[u32]) -> bool {
        let known = |(places, seen): (&Vec<usize>, &Seen)| seen.contains_key::<Vec<u32>>(&picked(places, ids));
        self.by_structure.get(structure).is_some_and(|lists| lists.iter().all(known))
    }
}

/// Splits classes by numbers, given for the members of each structure.
fn apply<'m>(groups: &mut Partition, codes: impl Iterator<Item = (&'m Vec<u32>, &'m Vec<u32>)>) {
    let mut code = vec![0; groups.of.len()];
    for (codes, members) in codes {
        for (place, number) in members.iter().zip(codes) {
            code[*place as usize] = *number;
        }
    }
    groups.split(|at| code[at]);
}

/// Splits the slots of each structure into classes that no request can distinguish.
pub(super) struct Partitioner<'e> {
    pub(super) source: &'e dyn AdSource,
    pub(super) vocabulary: &'e Vocabulary,
    pub(super) plans: &'e MatchPlans,
    pub(super) partitioning: &'e Partitioning,
    pub(super) combinations: &'e Combinations,
    pub(super) requests: &'e [RequestKey<'e>],
    pub(super) settings: &'e EvalOptions,
}

impl Partitioner<'_> {
    /// Splits the slots, given the members of each structure by place.
    pub(super) fn split(&self, groups: &mut Partition, members: &[Vec<u32>]) {
        let columns = &self.vocabulary.slots.columns;
        for column in columns.iter().filter(|column| self.partitioning.exact.contains(&column.name.key())) {
            groups.split(|at| column.ids[at]);
        }
        // Slots of different structures are in different classes already: the codes of all structures are applied at once.
        let alone: Vec<Vec<Vec<u32>>> =
            threads::map_range(members.len(), |structure| self.by_themselves(structure, &members[structure]));
        for at in 0..alone.iter().map(Vec::len).max().unwrap_or(0) {
            let codes = alone.iter().zip(members).filter_map(|(codes, members)| Some((codes.get(at)?, members)));
            apply(groups, codes);
        }
        let by_outcome: Vec<&Column> =
            columns.iter().filter(|column| self.partitioning.by_outcome.contains(&column.name.key())).collect();
        let of_column = |column: &&Column| {
            let of_structure = |structure: usize| {
                let codes = self.codes(structure, column, &members[structure]);
                members[structure].iter().map(|place| codes[column.ids[*place as usize] as usize]).collect()
            };
            threads::map_range(members.len(), of_structure)
        };
        let codes: Vec<Vec<Vec<u32>>> = threads::map_all(&by_outcome, of_column);
        for codes in codes {
            apply(groups, codes.iter().zip(members));
        }
    }

    /// Some slots of one structure opposite to an ad.
    fn view<'v>(&'v self, ads: &'v [u32], other: &'v ClassAd) -> TableView<'v> {
        TableView { table: &self.vocabulary.slots, ads, source: self.source, other, settings: self.settings }
    }

    /// For each atom that looks at slots alone its values as numbers, member by member.
    fn by_themselves(&self, structure: usize, members: &[u32]) -> Vec<Vec<u32>> {
        let conditions = self.plans.closed(structure).filter(|atom| self.partitioning.is_open(atom));
        let separates = |atom: &&Arc<Atom>| {
            !is_unpartitioned(atom, &self.partitioning.unpartitioned) && self.partitioning.is_open(atom)
        };
        let ranks = self.plans.closed_ranks(structure).filter(separates);
        let truth: fn(&Value) -> Option<u64> = |value| Some(Truth::of(value) as u64);
        let number: fn(&Value) -> Option<u64> = |value| value.as_number().map(f64::to_bits);
        let asked: Vec<(&Atom, _)> =
            conditions.map(|atom| (&**atom, truth)).chain(ranks.map(|atom| (&**atom, number))).collect();
        threads::map_all(&asked, |(atom, of)| self.outcomes(atom, *of, members))
    }

    /// The values of an atom for slots alone, as numbers, member by member.
    fn outcomes(&self, atom: &Atom, of: fn(&Value) -> Option<u64>, members: &[u32]) -> Vec<u32> {
        let nobody = ClassAd::new();
        let view = self.view(members, &nobody);
        let found = view.groups(atom);
        let count = found.first.len();
        let mut numbers: HashMap<Option<u64>, u32> = HashMap::new();
        let mut number = |value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        };
        // An atom that could not be evaluated puts every group in a class of its own.
        let codes: Vec<u32> = match &view.values(atom, &found) {
            Some(values) => values.each(count, of).into_iter().map(&mut number).collect(),
            None => (0..count as u32).collect(),
        };
        found.of.iter().map(|group| codes[*group as usize]).collect()
    }

    /// For each entry of a column a number: no request distinguishes slots of a structure whose entries have the same number.
    fn codes(&self, structure: usize, column: &Column, members: &[u32]) -> Vec<u32> {
        let mut codes = vec![u32::MAX; column.entries.len()];
        let mut ads = Vec::new();
        for place in members {
            let code = &mut codes[column.ids[*place as usize] as usize];
            if *code == u32::MAX {
                *code = ads.len() as u32;
                ads.push(*place);
            }
        }
        if ads.len() > 1
            && let Some(parts) = self.parts(structure, column, &ads)
        {
            for code in codes.iter_mut().filter(|code| **code != u32::MAX) {
                *code = parts[*code as usize];
            }
        }
        codes
    }

    /// The classes of ads with different values that no request distinguishes; none if every ad is a class.
    fn parts(&self, structure: usize, column: &Column, ads: &[u32]) -> Option<Vec<u32>> {
        let (mut parts, mut work) = (Partition::whole(ads.len()), 0);
        let sorted = column.ints.as_ref().filter(|_| ads.len() > MAX_SCANNED_VALUES).map(|ints| {
            let mut sorted = ads.to_vec();
            sorted.sort_unstable_by_key(|place| ints[column.ids[*place as usize] as usize]);
            sorted
        });
        let mut cuts: HashSet<usize> = HashSet::new();
        let mut done: HashSet<(u32, &[u32])> = HashSet::new();
        for (request, atom) in self.plans.open(structure) {
            if !atom.row.iter().any(|name| name.key() == column.name.key()) {
                continue;
            }
            let seen = self.combinations.by_structure[request].get(&self.vocabulary.places(atom.other.iter()))?;
            // In the order of requests, so that the number of evaluations is reproducible.
            let mut seen: Vec<(&Vec<u32>, &usize)> = seen.iter().collect();
            seen.sort_unstable_by_key(|(_, first)| **first);
            for (ids, first) in seen {
                if !done.insert((atom.id, ids)) {
                    continue;
                }
                let view = self.view(ads, self.requests[*first].ad);
                if let Some(sorted) = sorted.as_ref().filter(|_| atom.is_threshold(&view.pair())) {
                    cut(atom, &view, sorted, &mut cuts)?;
                    continue;
                }
                work += ads.len();
                let truths = (work <= MAX_EVALUATIONS).then(|| truths(atom, &view))??;
                parts.split(|at| truths[at] as u32);
                if parts.count == ads.len() {
                    return None;
                }
            }
        }
        if let Some(sorted) = sorted.filter(|_| !cuts.is_empty()) {
            let mut number = 0;
            let mut between: HashMap<u32, u32> = HashMap::new();
            for (at, place) in sorted.iter().enumerate() {
                number += u32::from(cuts.contains(&at));
                between.insert(*place, number);
            }
            parts.split(|at| between[&ads[at]]);
        }
        Some(parts.of)
    }
}

/// The truth of an atom for each ad by itself.
fn truths(atom: &Atom, view: &TableView<'_>) -> Option<Vec<Truth>> {
    let groups = Groups { of: (0..view.ads.len() as u32).collect(), first: view.ads.to_vec() };
    Some(view.values(atom, &groups)?.each(view.ads.len(), Truth::of))
}

/// Adds the place where the truth of a comparison changes, if it does, along ads in the order of the value compared; none
/// if the comparison could not be evaluated.
fn cut(atom: &Atom, view: &TableView<'_>, sorted: &[u32], cuts: &mut HashSet<usize>) -> Option<()> {
    let truth = |at: usize| truths(atom, &TableView { ads: &sorted[at..=at], ..*view }).map(|truths| truths[0]);
    let (first, last) = (truth(0)?, truth(sorted.len() - 1)?);
    let (mut same, mut other) = (0, sorted.len() - 1);
    while first != last && other - same > 1 {
        let middle = usize::midpoint(same, other);
        if truth(middle)? == first { same = middle } else { other = middle }
    }
    if first != last {
        cuts.insert(other);
    }
    Some(())
}
