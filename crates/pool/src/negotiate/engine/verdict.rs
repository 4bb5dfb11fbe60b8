//! The verdicts of requests: the sets of rows that match them, and their orders.
//!
//! In: requests and an evaluator. Out: for each request a signature; requests of one signature have one verdict. Inputs that
//! several requests share are interned, evaluated once, by all threads, and their results are interned again by content.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use smallvec::SmallVec;

use crate::negotiate::engine::evaluate::{
    BEFORE, Evaluator, FirstRankOrder, PREFERS, PreemptionRanks, PriorityVerdict, RequestKey,
};
use crate::negotiate::engine::order::SlotOrder;
use crate::negotiate::engine::partitioning::{is_unpartitioned, picked};
use crate::negotiate::engine::plan::ConditionPart;
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::program::atom::Atom;
use classmate::internal::program::mask::Mask;
use classmate::internal::threads;

/// The result of the evaluation of a request for all rows.
#[derive(Debug)]
pub(super) struct ClassVerdict {
    /// Rows that the request accepts.
    pub(super) job: Mask,
    /// Rows of these that accept the request.
    pub(super) both: Mask,
    pub(super) order: Arc<SlotOrder>,
    pub(super) preemption: Option<ClassPreemption>,
}

/// The decisions of slots in use about a request, where slots are in use.
#[derive(Debug)]
pub(super) struct ClassPreemption {
    /// Rows that prefer the job to the one they run.
    pub(super) prefers: Arc<Mask>,
    pub(super) by_priority: Arc<PriorityVerdict>,
    pub(super) ranks: Arc<PreemptionRanks>,
}

/// The numbers of the results of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    /// For each block the set of rows that it accepts, and of those that accept it too.
    sets: Vec<[u32; 2]>,
    pub(super) order: u32,
    /// Preference, decisions about preemption by priority, and `PREEMPTION_RANK`.
    preemption: Option<[u32; 3]>,
}

/// Entries of attributes of a request.
type Ids = SmallVec<[u32; 6]>;

/// Distinct things by number, in the order of first sight.
#[derive(Debug)]
struct Numbered<T> {
    by_hash: HashTable<(u64, u32)>,
    things: Vec<Arc<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { by_hash: HashTable::new(), things: Vec::new() }
    }
}

impl<T: PartialEq> Numbered<T> {
    fn number(&mut self, hash: u64, thing: T) -> u32 {
        let things = &self.things;
        let known = self.by_hash.find(hash, |(other, at)| *other == hash && *things[*at as usize] == thing);
        if let Some((_, number)) = known {
            return *number;
        }
        let number = self.things.len() as u32;
        self.by_hash.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        self.things.push(Arc::new(thing));
        number
    }
}

/// Results of requests by the atoms and the values that they depend on, numbered by content: `Rank = Memory` and
/// `Rank = 2 * Memory` are one order.
#[derive(Debug)]
struct Results<T> {
    by_key: HashMap<(u32, Ids), u32>,
    different: Mutex<Numbered<T>>,
}

impl<T> Default for Results<T> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), different: Mutex::default() }
    }
}

impl<T: Hash + PartialEq + Send + Sync> Results<T> {
    /// The number of the result of each request; those that are not known are made.
    fn numbers(
        &mut self,
        requests: &[&RequestKey<'_>],
        key: impl Fn(&RequestKey<'_>) -> (u32, Ids) + Sync,
        make: impl Fn(&RequestKey<'_>) -> T + Sync,
    ) -> Vec<u32> {
        let new = unknown(&self.by_key, requests, &key);
        let (different, hasher) = (&self.different, DefaultHashBuilder::default());
        let made = all(&new, requests.len() == 1, |request| {
            let result = make(request);
            // At once, so that those that are the same do not pile up.
            (key(request), lock(different).number(hasher.hash_one(&result), result))
        });
        self.by_key.extend(made);
        requests.iter().map(|request| self.by_key[&key(request)]).collect()
    }

    fn get(&self, number: u32) -> Arc<T> {
        Arc::clone(&lock(&self.different).things[number as usize])
    }
}

/// The set of all rows of a block, by number.
const EVERYWHERE: u32 = 0;

/// The empty set.
const NOWHERE: u32 = 1;

/// A condition that could not be evaluated.
const NOT_EVALUATED: u32 = u32::MAX;

/// The numbers of parts of conditions with the values of the request that they look at.
#[derive(Debug, Default)]
struct PartsOfRequests {
    /// Those that look at one value or none, as most do, by the number of the part and the value.
    by_value: HashMap<(u32, u32), u32>,
    by_values: HashMap<(u32, Ids), u32>,
}

impl PartsOfRequests {
    /// The number of a part for a request, and whether it is new.
    fn number(&mut self, part: &ConditionPart, request: &RequestKey<'_>) -> (u32, bool) {
        let next = (self.by_value.len() + self.by_values.len()) as u32;
        let number = match *part.places {
            [] => self.by_value.entry((part.id, 0)).or_insert(next),
            [place] => self.by_value.entry((part.id, request.ids[place])).or_insert(next),
            _ => self.by_values.entry((part.id, picked(&part.places, &request.ids))).or_insert(next),
        };
        (*number, *number == next)
    }
}

/// The interned results of one block.
#[derive(Debug)]
struct BlockInterner {
    /// Parts of conditions, and for each the number of the set where it is true.
    parts: PartsOfRequests,
    of_part: Vec<u32>,
    /// The intersection of the sets that requests accept, and of these and those that accept the requests, by the number of
    /// the former and the numbers of all.
    of_sets: HashMap<Ids, Option<[Intersection; 2]>>,
    /// Intersections of several sets.
    met: HashMap<Ids, u32>,
    of_met: Vec<u32>,
    sets: Numbered<Mask>,
    hasher: DefaultHashBuilder,
}

/// A set, or the intersection of several, by number.
#[derive(Debug, Clone, Copy)]
enum Intersection {
    Set(u32),
    Met(u32),
}

impl BlockInterner {
    fn new(rows: usize) -> Self {
        let (mut sets, hasher) = (Numbered::default(), DefaultHashBuilder::default());
        for set in [Mask::all(rows), Mask::none(rows)] {
            sets.number(hasher.hash_one(&set), set);
        }
        Self {
            parts: PartsOfRequests::default(),
            of_part: Vec::new(),
            of_sets: HashMap::new(),
            met: HashMap::new(),
            of_met: Vec::new(),
            sets,
            hasher,
        }
    }

    /// The sets that requests accept, and those of these that accept the request; none for requests that could not be
    /// evaluated.
    fn signed(
        &mut self,
        evaluator: &Evaluator<'_>,
        block: usize,
        requests: &[&RequestKey<'_>],
    ) -> Vec<Option<[u32; 2]>> {
        let mut parts = self.parts_of(evaluator, block, requests).into_iter();
        let (mut sets, mut new) = (Ids::new(), Vec::new());
        let mut meetings: Vec<Option<[Intersection; 2]>> = Vec::with_capacity(requests.len());
        for request in requests {
            let plan = evaluator.plans.plan(request.structure, block);
            let parts = parts.by_ref().take(plan.job.len() + plan.slot.len());
            sets.clear();
            sets.push(plan.job.len() as u32);
            sets.extend(parts.map(|part| self.of_part[part as usize]));
            meetings.push(self.meet_both(&sets, &mut new));
        }
        self.find_meetings(&new, requests.len() == 1);
        let number = |meeting: Intersection| match meeting {
            Intersection::Set(set) => set,
            Intersection::Met(met) => self.of_met[met as usize],
        };
        meetings.into_iter().map(|pair| pair.map(|pair| pair.map(number))).collect()
    }

    /// The parts of the conditions of requests, one request after another: first the parts of the request, then those of the
    /// slots. New parts are evaluated.
    fn parts_of(&mut self, evaluator: &Evaluator<'_>, block: usize, requests: &[&RequestKey<'_>]) -> Vec<u32> {
        let (mut parts, mut new): (Vec<u32>, Vec<(&ConditionPart, &RequestKey<'_>)>) = (Vec::new(), Vec::new());
        for request in requests {
            let plan = evaluator.plans.plan(request.structure, block);
            for part in plan.job.iter().chain(&*plan.slot) {
                let (number, is_new) = self.parts.number(part, request);
                if is_new {
                    new.push((part, request));
                }
                parts.push(number);
            }
        }
        let hasher = &self.hasher;
        let made = all(&new, requests.len() == 1, |(part, request)| {
            let made = evaluator.part(part, block, request)?;
            Some((hasher.hash_one(&made), made))
        });
        for made in made {
            self.of_part.push(made.map_or(NOT_EVALUATED, |(hash, set)| self.sets.number(hash, set)));
        }
        parts
    }

    /// Computes the noted intersections.
    fn find_meetings(&mut self, new: &[Ids], alone: bool) {
        let (masks, hasher) = (&self.sets.things, &self.hasher);
        let made = all(new, alone, |sets: &Ids| {
            let mut met = Mask::clone(&masks[sets[0] as usize]);
            for set in &sets[1..] {
                met.keep(&masks[*set as usize]);
            }
            (hasher.hash_one(&met), met)
        });
        for (hash, set) in made {
            let number = self.sets.number(hash, set);
            self.of_met.push(number);
        }
    }

    /// The intersection of the first sets, and of all, given the number of the first and then all; none if one could not be
    /// evaluated.
    fn meet_both(&mut self, sets: &[u32], new: &mut Vec<Ids>) -> Option<[Intersection; 2]> {
        if let Some(known) = self.of_sets.get(sets) {
            return *known;
        }
        let (first, all) = (sets[0] as usize, &sets[1..]);
        let is_evaluated = !all.contains(&NOT_EVALUATED);
        let both = is_evaluated.then(|| [&all[..first], all].map(|sets| self.meet(Ids::from_slice(sets), new)));
        self.of_sets.insert(Ids::from_slice(sets), both);
        both
    }

    /// The intersection of some sets; noted if it is not known yet.
    fn meet(&mut self, mut sets: Ids, new: &mut Vec<Ids>) -> Intersection {
        sets.retain(|set| *set != EVERYWHERE);
        sets.sort_unstable();
        sets.dedup();
        match *sets {
            [] => Intersection::Set(EVERYWHERE),
            [NOWHERE, ..] => Intersection::Set(NOWHERE),
            [set] => Intersection::Set(set),
            _ => {
                let next = self.met.len() as u32;
                let number = *self.met.entry(sets.clone()).or_insert(next);
                if number == next {
                    new.push(sets);
                }
                Intersection::Met(number)
            }
        }
    }
}

/// Maps all things by all threads; by one thread for a request that comes alone, during the negotiation loop, because waking
/// the others would take longer than the work.
pub(super) fn all<T: Sync, R: Send + Sync>(things: &[T], alone: bool, make: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if alone { things.iter().map(make).collect() } else { threads::map_all(things, make) }
}

/// Some atoms, and the attributes they look at.
#[derive(Debug)]
struct AtomSet {
    /// Its number: the same atoms in every block have one.
    id: u32,
    /// The attributes of the request, by their place in the vocabulary.
    places: Vec<usize>,
}

impl AtomSet {
    /// The atoms for requests of a structure, of each block in turn.
    fn of<'a>(
        atoms: impl Iterator<Item = Option<&'a Arc<Atom>>>,
        by_slot: bool,
        vocabulary: &Vocabulary,
        known: &mut HashMap<(bool, Vec<Option<u32>>), u32>,
    ) -> Self {
        let atoms: Vec<_> = atoms.collect();
        let ids = atoms.iter().map(|atom| atom.map(|atom| atom.id)).collect();
        let places = vocabulary.places(atoms.iter().copied().flatten().flat_map(|atom| &atom.other));
        let next = known.len() as u32;
        Self { id: *known.entry((by_slot, ids)).or_insert(next), places }
    }

    fn key(&self, request: &RequestKey<'_>) -> (u32, Ids) {
        (self.id, picked(&self.places, &request.ids))
    }
}

/// The atoms for requests of one structure.
#[derive(Debug)]
struct StructureAsks {
    /// The ranks, and the first of them.
    ranks: AtomSet,
    first: AtomSet,
    /// True if they are ranks of slots, not of rows.
    by_slot: bool,
    prefers: AtomSet,
    by_priority: AtomSet,
    preemption_rank: AtomSet,
    /// True if `PREEMPTION_RANK` is that of slots, not of rows.
    preemption_by_slot: bool,
}

/// Numbers the requests by their results.
#[derive(Debug, Default)]
pub(super) struct Interner {
    structures: Vec<StructureAsks>,
    blocks: Vec<BlockInterner>,
    orders: Results<SlotOrder>,
    firsts: HashMap<(u32, Ids), Arc<FirstRankOrder>>,
    prefers: Results<Mask>,
    by_priority: Results<PriorityVerdict>,
    preemption_ranks: Results<PreemptionRanks>,
}

impl Interner {
    /// An empty interner.
    pub(super) fn new(evaluator: &Evaluator<'_>) -> Self {
        let (plans, vocabulary) = (evaluator.plans, evaluator.vocabulary);
        let mut known: [HashMap<_, _>; 5] = Default::default();
        let mut of_structure = |structure: usize| {
            let plans = || (0..plans.slots()).map(|block| plans.plan(structure, block));
            let ranks = || plans().flat_map(|plan| plan.ranks.iter().map(Option::as_ref));
            let is_by_slot = |atom: &Arc<Atom>| is_unpartitioned(atom, evaluator.unpartitioned);
            let by_slot = ranks().flatten().any(is_by_slot);
            let preemption_ranks = || plans().map(|plan| plan.preemption_rank.as_ref());
            let preemption_by_slot = preemption_ranks().flatten().any(is_by_slot);
            let firsts = plans().map(|plan| plan.ranks[BEFORE].as_ref());
            let prefers = plans().map(|plan| plan.preemption[PREFERS].as_ref());
            let by_priority = plans().flat_map(|plan| plan.preemption[PREFERS + 1..].iter().map(Option::as_ref));
            StructureAsks {
                ranks: AtomSet::of(ranks(), by_slot, vocabulary, &mut known[0]),
                first: AtomSet::of(firsts, by_slot, vocabulary, &mut known[1]),
                by_slot,
                prefers: AtomSet::of(prefers, false, vocabulary, &mut known[2]),
                by_priority: AtomSet::of(by_priority, false, vocabulary, &mut known[3]),
                preemption_rank: AtomSet::of(preemption_ranks(), preemption_by_slot, vocabulary, &mut known[4]),
                preemption_by_slot,
            }
        };
        Self {
            structures: (0..plans.requests()).map(&mut of_structure).collect(),
            blocks: evaluator.table.blocks.iter().map(|block| BlockInterner::new(block.slots.len())).collect(),
            ..Self::default()
        }
    }

    /// The memory of all sets, bytes.
    pub(super) fn bytes(&self) -> usize {
        // All sets of a block are of its length.
        let of_block =
            |block: &BlockInterner| block.sets.things.len() * block.sets.things.first().map_or(0, |set| set.len() / 8);
        self.blocks.iter().map(of_block).sum()
    }

    /// The signature of each request; none if it has to be evaluated slot by slot.
    pub(super) fn sign(&mut self, evaluator: &Evaluator<'_>, requests: &[&RequestKey<'_>]) -> Vec<Option<Signature>> {
        let signed = |(block, interner): (usize, &mut BlockInterner)| interner.signed(evaluator, block, requests);
        let blocks = self.blocks.iter_mut().enumerate();
        let sets: Vec<_> = if requests.len() == 1 {
            blocks.map(signed).collect()
        } else {
            threads::filter_map_into(blocks.collect(), |block| Some(signed(block)))
        };
        let orders = self.orders(evaluator, requests);
        let preemption = evaluator.plans.in_use.then(|| self.preemption(evaluator, requests));
        let sign = |at: usize| {
            let sets = sets.iter().map(|of_block| of_block[at]).collect::<Option<_>>()?;
            let preemption = preemption.as_ref().map(|results| results.each_ref().map(|of_all| of_all[at]));
            Some(Signature { sets, order: orders[at], preemption })
        };
        (0..requests.len()).map(sign).collect()
    }

    /// The numbers of the orders in which requests rank slots.
    fn orders(&mut self, evaluator: &Evaluator<'_>, requests: &[&RequestKey<'_>]) -> Vec<u32> {
        let asks = |request: &RequestKey<'_>| &self.structures[request.structure];
        let first = |request: &RequestKey<'_>| asks(request).first.key(request);
        let new = unknown(&self.orders.by_key, requests, |request| asks(request).ranks.key(request));
        let new = unknown(&self.firsts, &new, first);
        let firsts = all(&new, requests.len() == 1, |request| {
            (first(request), Arc::new(evaluator.first(request, asks(request).by_slot)))
        });
        self.firsts.extend(firsts);
        let (structures, firsts) = (&self.structures, &self.firsts);
        let asks = |request: &RequestKey<'_>| &structures[request.structure];
        let key = |request: &RequestKey<'_>| asks(request).ranks.key(request);
        self.orders.numbers(requests, key, |request| {
            let asks = asks(request);
            evaluator.sorted(&firsts[&asks.first.key(request)], request, asks.by_slot)
        })
    }

    /// The numbers of preferences, decisions about preemption by priority, and preemption ranks of requests.
    fn preemption(&mut self, evaluator: &Evaluator<'_>, requests: &[&RequestKey<'_>]) -> [Vec<u32>; 3] {
        let structures = &self.structures;
        let asks = |request: &RequestKey<'_>| &structures[request.structure];
        let prefers = |request: &RequestKey<'_>| asks(request).prefers.key(request);
        let by_priority = |request: &RequestKey<'_>| asks(request).by_priority.key(request);
        let rank = |request: &RequestKey<'_>| asks(request).preemption_rank.key(request);
        let ranks = |request: &RequestKey<'_>| evaluator.preemption_ranks(request, asks(request).preemption_by_slot);
        [
            self.prefers.numbers(requests, prefers, |request| evaluator.preemption(PREFERS, request)),
            self.by_priority.numbers(requests, by_priority, |request| evaluator.by_priority(request)),
            self.preemption_ranks.numbers(requests, rank, ranks),
        ]
    }

    /// The verdict on requests of a signature.
    pub(super) fn verdict(&self, evaluator: &Evaluator<'_>, signature: &Signature) -> ClassVerdict {
        let rows = evaluator.table.len();
        let (mut job, mut both) = (Mask::none(rows), Mask::none(rows));
        for ((known, block), [of_job, of_both]) in self.blocks.iter().zip(&evaluator.table.blocks).zip(&signature.sets)
        {
            job.put(block.first, &known.sets.things[*of_job as usize]);
            both.put(block.first, &known.sets.things[*of_both as usize]);
        }
        let preemption = signature.preemption.map(|[prefers, by_priority, ranks]| ClassPreemption {
            prefers: self.prefers.get(prefers),
            by_priority: self.by_priority.get(by_priority),
            ranks: self.preemption_ranks.get(ranks),
        });
        ClassVerdict { job, both, order: self.orders.get(signature.order), preemption }
    }
}

/// The first request of each key that is not known.
fn unknown<'w, 'a, K: Hash + Eq, V>(
    known: &HashMap<K, V>,
    requests: &[&'w RequestKey<'a>],
    key: impl Fn(&RequestKey<'a>) -> K,
) -> Vec<&'w RequestKey<'a>> {
    let mut seen = hashbrown::HashSet::new();
    let mut is_new = |key: K| !known.contains_key(&key) && seen.insert(key);
    requests.iter().copied().filter(|request| is_new(key(request))).collect()
}

fn lock<T>(numbered: &Mutex<Numbered<T>>) -> std::sync::MutexGuard<'_, Numbered<T>> {
    numbered.lock().unwrap_or_else(PoisonError::into_inner)
}
