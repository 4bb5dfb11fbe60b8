//! What separates slots of one structure into rows.
//!
//! In: the compiled expressions of a cycle, the columns, the requests. Out: which attributes separate slots by their
//! values, which only by what conditions make of them for the requests there are: of the memory of slots it matters
//! between which two of the amounts asked for it lies, not how much it is.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::negotiate::engine::evaluate::Wanted;
use crate::negotiate::engine::plan::Plans;
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Key;
use classmate::internal::program::atom::{Atom, World};
use classmate::internal::program::batch::{Groups, Rows};
use classmate::internal::program::column::{Column, refine};
use classmate::internal::value::Value;
use classmate::internal::value::logic::Truth;

/// An attribute that only ranks look at separates slots if it has no more values than this, and fewer in small pools.
const LOOSE: usize = 256;

/// Values of one attribute that are evaluated for all requests together; beyond, each separates slots.
const WORK: usize = 2_000_000;

/// From so many values on, those that make a comparison true are looked for by halving.
const MANY: usize = 64;

/// How attributes separate slots.
#[derive(Debug, Default)]
pub(super) struct Separation {
    /// By their values.
    pub(super) exact: HashSet<Key>,
    /// By what conditions make of them for each request.
    by_outcome: HashSet<Key>,
    /// Not at all: only ranks look at them, and they have too many values. Such ranks are those of slots, not of rows.
    pub(super) loose: HashSet<Key>,
}

impl Separation {
    /// How the attributes of so many slots separate them; what is made of varying attributes of requests is not foreseen.
    pub(super) fn of(plans: &Plans, vocabulary: &Vocabulary, count: usize, varying: &HashSet<Key>) -> Self {
        let (alone, together) = plans.compared(varying);
        let many = |key: Key| {
            vocabulary.columns.get(key).is_some_and(|column| column.entries.len() > (count / 32).clamp(64, LOOSE))
        };
        let ranked = plans.ranks().flat_map(|atom| &atom.row).map(|name| name.key());
        let loose: HashSet<Key> =
            ranked.filter(|key| many(*key) && !alone.contains(key) && !together.contains(key)).collect();
        let mut exact = together;
        // A rank that slots have by themselves separates them by what it is.
        let asking = plans.ranks().filter(|atom| !is_loose(atom, &loose) && !atom.other.is_empty());
        exact.extend(asking.flat_map(|atom| &atom.row).map(|name| name.key()));
        let by_outcome = alone.into_iter().filter(|key| !exact.contains(key)).collect();
        Self { exact, by_outcome, loose }
    }

    /// Whether slots of a row may differ in what an atom makes of them, as far as the values of attributes tell.
    fn tells_apart(&self, atom: &Atom) -> bool {
        !atom.row.iter().all(|name| self.exact.contains(&name.key()))
    }

    /// Whether an atom is a condition on an attribute that separates slots by outcomes.
    fn is_by_outcome(&self, atom: &Atom) -> bool {
        !atom.other.is_empty() && atom.row.iter().any(|name| self.by_outcome.contains(&name.key()))
    }
}

/// Whether a rank looks at an attribute that does not separate slots.
pub(super) fn is_loose(atom: &Atom, loose: &HashSet<Key>) -> bool {
    atom.row.iter().any(|name| loose.contains(&name.key()))
}

/// What requests of one structure have for some attributes, each combination with a request that has it.
type Seen = HashMap<Vec<u32>, usize>;

/// What requests have for the attributes that slots are compared with.
#[derive(Debug, Default)]
pub(super) struct Combinations {
    /// By structure of the request, and by the places of attributes among those of requests.
    by_kind: Vec<HashMap<Vec<usize>, Seen>>,
}

/// What a request has at some places.
pub(super) fn picked<T: FromIterator<u32>>(places: &[usize], ids: &[u32]) -> T {
    places.iter().map(|place| ids[*place]).collect()
}

fn places(atom: &Atom, vocabulary: &Vocabulary) -> Vec<usize> {
    atom.other.iter().filter_map(|name| vocabulary.place_of(name.key())).collect()
}

impl Combinations {
    /// Those of the requests of a cycle.
    pub(super) fn of(plans: &Plans, vocabulary: &Vocabulary, separation: &Separation, wanted: &[Wanted<'_>]) -> Self {
        let mut by_kind: Vec<HashMap<Vec<usize>, Seen>> = Vec::new();
        by_kind.resize_with(plans.requests(), HashMap::new);
        for (kind, atom) in (0..plans.slots()).flat_map(|slot| plans.open(slot)) {
            if separation.is_by_outcome(atom) {
                by_kind[kind].entry(places(atom, vocabulary)).or_default();
            }
        }
        for (at, wanted) in wanted.iter().enumerate() {
            let Some(lists) = by_kind.get_mut(wanted.kind) else { continue };
            for (places, seen) in lists {
                seen.entry(picked(places, &wanted.ids)).or_insert(at);
            }
        }
        Self { by_kind }
    }

    /// Whether slots were separated for a request as this one.
    pub(super) fn know(&self, kind: usize, ids: &[u32]) -> bool {
        let known = |(places, seen): (&Vec<usize>, &Seen)| seen.contains_key::<Vec<u32>>(&picked(places, ids));
        self.by_kind.get(kind).is_some_and(|lists| lists.iter().all(known))
    }
}

/// Separates slots by numbers, those of the members of each structure.
fn apply<'m>(groups: &mut [u32], codes: impl Iterator<Item = (&'m Vec<u32>, &'m Vec<u32>)>) {
    let mut code = vec![0; groups.len()];
    for (codes, members) in codes {
        for (place, number) in members.iter().zip(codes) {
            code[*place as usize] = *number;
        }
    }
    refine(groups, |at| code[at]);
}

/// What slots are separated with.
pub(super) struct Separator<'e, 's> {
    pub(super) ad: &'e (dyn Fn(u32) -> &'s ClassAd + Sync),
    pub(super) vocabulary: &'e Vocabulary,
    pub(super) plans: &'e Plans,
    pub(super) separation: &'e Separation,
    pub(super) combinations: &'e Combinations,
    pub(super) wanted: &'e [Wanted<'e>],
    pub(super) settings: &'e EvalOptions,
}

impl Separator<'_, '_> {
    /// Separates slots, the members of each structure by place.
    pub(super) fn separate(&self, groups: &mut [u32], members: &[Vec<u32>]) {
        let columns = &self.vocabulary.columns.columns;
        for column in columns.iter().filter(|column| self.separation.exact.contains(&column.name.key())) {
            refine(groups, |at| column.ids[at]);
        }
        // Slots of different structures are apart already: what separates each of them is applied at one go.
        let alone: Vec<Vec<Vec<u32>>> =
            members.par_iter().enumerate().map(|(kind, members)| self.by_themselves(kind, members)).collect();
        for at in 0..alone.iter().map(Vec::len).max().unwrap_or(0) {
            let codes = alone.iter().zip(members).filter_map(|(codes, members)| Some((codes.get(at)?, members)));
            apply(groups, codes);
        }
        let by_outcome: Vec<&Column> =
            columns.iter().filter(|column| self.separation.by_outcome.contains(&column.name.key())).collect();
        let of_column = |column: &&Column| {
            let of_kind = |(kind, members): (usize, &Vec<u32>)| {
                let codes = self.codes(kind, column, members);
                members.iter().map(|place| codes[column.ids[*place as usize] as usize]).collect()
            };
            members.par_iter().enumerate().map(of_kind).collect()
        };
        let codes: Vec<Vec<Vec<u32>>> = by_outcome.par_iter().map(of_column).collect();
        for codes in codes {
            apply(groups, codes.iter().zip(members));
        }
    }

    /// For each thing that is asked of slots alone its outcomes as numbers, member by member.
    fn by_themselves(&self, kind: usize, members: &[u32]) -> Vec<Vec<u32>> {
        let conditions = self.plans.closed(kind).filter(|atom| self.separation.tells_apart(atom));
        let separates =
            |atom: &&Arc<Atom>| !is_loose(atom, &self.separation.loose) && self.separation.tells_apart(atom);
        let ranks = self.plans.closed_ranks(kind).filter(separates);
        let truth: fn(&Value) -> Option<u64> = |value| Some(Truth::of(value) as u64);
        let number: fn(&Value) -> Option<u64> = |value| value.as_number().map(f64::to_bits);
        let asked: Vec<(&Atom, _)> =
            conditions.map(|atom| (&**atom, truth)).chain(ranks.map(|atom| (&**atom, number))).collect();
        asked.par_iter().map(|(atom, of)| self.outcomes(atom, *of, members)).collect()
    }

    /// What an atom is for slots alone, as numbers, member by member.
    fn outcomes(&self, atom: &Atom, of: fn(&Value) -> Option<u64>, members: &[u32]) -> Vec<u32> {
        let rows = Rows { columns: &self.vocabulary.columns, ads: members, ad: self.ad };
        let Some(sample) = members.first() else { return Vec::new() };
        let nobody = ClassAd::new();
        let world = World { row: (self.ad)(*sample), other: &nobody, selected: &self.vocabulary.selected };
        let found = rows.groups(atom);
        let count = found.first.len();
        let mut numbers: HashMap<Option<u64>, u32> = HashMap::new();
        let mut number = |value| {
            let next = numbers.len() as u32;
            *numbers.entry(value).or_insert(next)
        };
        // What could not be evaluated separates every group.
        let codes: Vec<u32> = match &rows.values(atom, &found, &world, self.settings) {
            Some(values) => values.each(count, of).into_iter().map(&mut number).collect(),
            None => (0..count as u32).collect(),
        };
        found.of.iter().map(|group| codes[*group as usize]).collect()
    }

    /// For each entry of a column a number: slots of a structure whose entries have the same cannot be told apart by it.
    fn codes(&self, kind: usize, column: &Column, members: &[u32]) -> Vec<u32> {
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
            && let Some(parts) = self.parts(kind, column, &ads)
        {
            for code in codes.iter_mut().filter(|code| **code != u32::MAX) {
                *code = parts[*code as usize];
            }
        }
        codes
    }

    /// The parts of ads, each with another value, that no request tells apart; none if every ad is a part.
    fn parts(&self, kind: usize, column: &Column, ads: &[u32]) -> Option<Vec<u32>> {
        let (mut parts, mut work) = (vec![0; ads.len()], 0);
        let sorted = column.ints.as_ref().filter(|_| ads.len() > MANY).map(|ints| {
            let mut sorted = ads.to_vec();
            sorted.sort_unstable_by_key(|place| ints[column.ids[*place as usize] as usize]);
            sorted
        });
        let mut cuts: HashSet<usize> = HashSet::new();
        let mut done: HashSet<(u32, &[u32])> = HashSet::new();
        for (request, atom) in self.plans.open(kind) {
            if !atom.row.iter().any(|name| name.key() == column.name.key()) {
                continue;
            }
            let seen = self.combinations.by_kind[request].get(&places(atom, self.vocabulary))?;
            // In the order of requests, so that always as much is evaluated.
            let mut seen: Vec<(&Vec<u32>, &usize)> = seen.iter().collect();
            seen.sort_unstable_by_key(|(_, wanted)| **wanted);
            for (ids, wanted) in seen {
                if !done.insert((atom.id, ids)) {
                    continue;
                }
                let (row, other) = ((self.ad)(ads[0]), &self.wanted[*wanted].ad);
                let world = World { row, other, selected: &self.vocabulary.selected };
                if let Some(sorted) = sorted.as_ref().filter(|_| atom.is_threshold(&world)) {
                    self.cut(atom, &world, sorted, &mut cuts)?;
                    continue;
                }
                work += ads.len();
                let truths = (work <= WORK).then(|| self.truths(atom, &world, ads))??;
                if refine(&mut parts, |at| truths[at] as u32) == ads.len() {
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
            refine(&mut parts, |at| between[&ads[at]]);
        }
        Some(parts)
    }

    fn truths(&self, atom: &Atom, world: &World<'_>, ads: &[u32]) -> Option<Vec<Truth>> {
        let rows = Rows { columns: &self.vocabulary.columns, ads, ad: self.ad };
        let groups = Groups { of: (0..ads.len() as u32).collect(), first: ads.to_vec() };
        let values = rows.values(atom, &groups, world, self.settings)?;
        Some(values.each(ads.len(), Truth::of))
    }

    /// Adds where the truth of a comparison changes, along ads in the order of what is compared, if it does; none if it
    /// could not be evaluated.
    fn cut(&self, atom: &Atom, world: &World<'_>, sorted: &[u32], cuts: &mut HashSet<usize>) -> Option<()> {
        let truth = |at: usize| self.truths(atom, world, &sorted[at..=at]).map(|truths| truths[0]);
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
}
