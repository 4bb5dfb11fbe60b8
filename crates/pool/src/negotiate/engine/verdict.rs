//! What requests come to: the sets of rows that suit them, their orders, and which of them come to the same.
//!
//! In: requests and an evaluator. Out: for each request a signature; requests of one signature have one verdict. Whatever
//! several requests ask is numbered first, then evaluated once, by all threads, and numbered again by what came out.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use rayon::prelude::*;
use smallvec::SmallVec;

use crate::negotiate::engine::evaluate::{BEFORE, Evaluator, First, Grounds, Order, Wanted};
use crate::negotiate::engine::plan::Part;
use crate::negotiate::engine::separation::{is_loose, picked};
use crate::negotiate::engine::vocabulary::Vocabulary;
use classmate::internal::program::atom::Atom;
use classmate::internal::program::mask::Mask;

/// A request against all rows.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Rows that the request accepts.
    pub(super) job: Mask,
    /// Rows that accept it too.
    pub(super) both: Mask,
    pub(super) order: Arc<Order>,
    pub(super) grounds: Option<Arc<Grounds>>,
}

/// By which numbers what a request comes to is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    /// For each block the set of rows that it accepts, and of those that accept it too.
    sets: Vec<[u32; 2]>,
    pub(super) order: u32,
    grounds: Option<u32>,
}

/// Entries of attributes of a request.
type Ids = SmallVec<[u32; 6]>;

/// Different things by number, in the order in which they were found.
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

impl<T> Numbered<T> {
    fn number(&mut self, hash: u64, thing: T, same: impl Fn(&T, &T) -> bool) -> u32 {
        let things = &self.things;
        let known = self.by_hash.find(hash, |(other, at)| *other == hash && same(&things[*at as usize], &thing));
        if let Some((_, number)) = known {
            return *number;
        }
        let number = self.things.len() as u32;
        self.by_hash.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        self.things.push(Arc::new(thing));
        number
    }
}

/// The set of all rows of a block, by number.
const EVERYWHERE: u32 = 0;

/// The empty set.
const NOWHERE: u32 = 1;

/// What could not be evaluated.
const ODD: u32 = u32::MAX;

/// What is known of a block.
#[derive(Debug)]
struct OfBlock {
    /// Parts of conditions, by their number and the values of the request that they look at; and for each the number of
    /// the set where it is true.
    parts: HashMap<(u32, Ids), u32>,
    of_part: Vec<u32>,
    /// Where several sets meet.
    met: HashMap<Ids, u32>,
    of_met: Vec<u32>,
    sets: Numbered<Mask>,
    hasher: DefaultHashBuilder,
}

/// A set, or where several meet: by number.
#[derive(Debug, Clone, Copy)]
enum Meeting {
    Set(u32),
    Met(u32),
}

impl OfBlock {
    fn new(rows: usize) -> Self {
        let (mut sets, hasher) = (Numbered::default(), DefaultHashBuilder::default());
        for set in [Mask::all(rows), Mask::none(rows)] {
            sets.number(hasher.hash_one(&set), set, PartialEq::eq);
        }
        Self { parts: HashMap::new(), of_part: Vec::new(), met: HashMap::new(), of_met: Vec::new(), sets, hasher }
    }

    /// The sets that requests accept, and those that accept them too; none for those that are odd.
    fn signed(&mut self, evaluator: &Evaluator<'_, '_>, kind: usize, wanted: &[&Wanted<'_>]) -> Vec<Option<[u32; 2]>> {
        let plan = |wanted: &Wanted<'_>| evaluator.plans.plan(wanted.kind, kind);
        let mut asked = self.asked(evaluator, kind, wanted).into_iter();
        let mut new = Vec::new();
        let mut meetings: Vec<Option<[Meeting; 2]>> = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let (job, slot) = (plan(wanted).job.len(), plan(wanted).slot.len());
            let mut sets: Ids = asked.by_ref().take(job + slot).map(|part| self.of_part[part as usize]).collect();
            meetings.push(if sets.contains(&ODD) {
                None
            } else {
                let both = sets.clone();
                sets.truncate(job);
                Some([sets, both].map(|sets| self.meet(sets, &mut new)))
            });
        }
        self.find_meetings(&new, wanted.len() == 1);
        let number = |meeting: Meeting| match meeting {
            Meeting::Set(set) => set,
            Meeting::Met(met) => self.of_met[met as usize],
        };
        meetings.into_iter().map(|pair| pair.map(|pair| pair.map(number))).collect()
    }

    /// The parts of conditions that requests ask, those of the request and then those of the slot, one request after
    /// another; those that are new are evaluated.
    fn asked(&mut self, evaluator: &Evaluator<'_, '_>, kind: usize, wanted: &[&Wanted<'_>]) -> Vec<u32> {
        let (mut asked, mut new): (Vec<u32>, Vec<(&Part, &Wanted<'_>)>) = (Vec::new(), Vec::new());
        for wanted in wanted {
            let plan = evaluator.plans.plan(wanted.kind, kind);
            for part in plan.job.iter().chain(&plan.slot) {
                let next = self.parts.len() as u32;
                let number = *self.parts.entry((part.id, picked(&part.places, &wanted.ids))).or_insert(next);
                if number == next {
                    new.push((part, wanted));
                }
                asked.push(number);
            }
        }
        let hasher = &self.hasher;
        let made = all(&new, wanted.len() == 1, |(part, wanted)| {
            let made = evaluator.part(part, kind, wanted)?;
            Some((hasher.hash_one(&made), made))
        });
        for made in made {
            self.of_part.push(made.map_or(ODD, |(hash, set)| self.sets.number(hash, set, PartialEq::eq)));
        }
        asked
    }

    /// Finds where sets meet, which was noted.
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
            let number = self.sets.number(hash, set, PartialEq::eq);
            self.of_met.push(number);
        }
    }

    /// Where some sets meet; noted if that is not known yet.
    fn meet(&mut self, mut sets: Ids, new: &mut Vec<Ids>) -> Meeting {
        sets.retain(|set| *set != EVERYWHERE);
        sets.sort_unstable();
        sets.dedup();
        match *sets {
            [] => Meeting::Set(EVERYWHERE),
            [NOWHERE, ..] => Meeting::Set(NOWHERE),
            [set] => Meeting::Set(set),
            _ => {
                let next = self.met.len() as u32;
                let number = *self.met.entry(sets.clone()).or_insert(next);
                if number == next {
                    new.push(sets);
                }
                Meeting::Met(number)
            }
        }
    }
}

/// What is made of all things, by all threads; by one for a request that comes alone, during the deal: to wake others takes
/// longer than what is to be done.
pub(super) fn all<T: Sync, R: Send>(things: &[T], alone: bool, make: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if alone { things.iter().map(make).collect() } else { things.par_iter().map(make).collect() }
}

/// What some atoms look at.
#[derive(Debug)]
struct Asks {
    /// Its number: the same atoms in every block have one.
    id: u32,
    /// The attributes of the request, by their place in the vocabulary.
    places: Vec<usize>,
}

impl Asks {
    /// What is asked of requests of a structure, of each block in turn.
    fn of<'a>(
        atoms: impl Iterator<Item = Option<&'a Arc<Atom>>>,
        by_slot: bool,
        vocabulary: &Vocabulary,
        known: &mut HashMap<(bool, Vec<Option<u32>>), u32>,
    ) -> Self {
        let (mut ids, mut places) = (Vec::new(), Vec::new());
        for atom in atoms {
            ids.push(atom.map(|atom| atom.id));
            let names = atom.into_iter().flat_map(|atom| &atom.other);
            places.extend(names.filter_map(|name| vocabulary.place_of(name.key())));
        }
        places.sort_unstable();
        places.dedup();
        let next = known.len() as u32;
        Self { id: *known.entry((by_slot, ids)).or_insert(next), places }
    }

    fn key(&self, wanted: &Wanted<'_>) -> (u32, Ids) {
        (self.id, picked(&self.places, &wanted.ids))
    }
}

/// What is asked of requests of one structure.
#[derive(Debug)]
struct OfKind {
    /// The ranks, and the first of them.
    ranks: Asks,
    first: Asks,
    /// Whether they are ranks of slots, not of rows.
    by_slot: bool,
    preemption: Asks,
    /// All attributes that anything looks at, by their place in the vocabulary.
    places: Vec<usize>,
}

/// What is known of requests.
#[derive(Debug, Default)]
pub(super) struct Known {
    kinds: Vec<OfKind>,
    blocks: Vec<OfBlock>,
    /// Orders by what ranks are asked and the values of the request that they look at.
    orders: HashMap<(u32, Ids), u32>,
    firsts: HashMap<(u32, Ids), Arc<First>>,
    /// `Rank = Memory` and `Rank = 2 * Memory` are one.
    different_orders: Mutex<Numbered<Order>>,
    grounds: HashMap<(u32, Ids), u32>,
    different_grounds: Mutex<Numbered<Grounds>>,
    hasher: DefaultHashBuilder,
}

impl Known {
    /// Nothing is known yet of any request.
    pub(super) fn new(evaluator: &Evaluator<'_, '_>) -> Self {
        let (plans, vocabulary) = (evaluator.plans, evaluator.vocabulary);
        let mut known = [HashMap::new(), HashMap::new(), HashMap::new()];
        let mut of_kind = |kind: usize| {
            let plans = || (0..plans.slots()).map(|block| plans.plan(kind, block));
            let ranks = || plans().flat_map(|plan| plan.ranks.iter().map(Option::as_ref));
            let by_slot = ranks().flatten().any(|atom| is_loose(atom, evaluator.loose));
            let preemption = plans().flat_map(|plan| plan.preemption.iter().map(Option::as_ref));
            let ranked = Asks::of(ranks(), by_slot, vocabulary, &mut known[0]);
            let first = Asks::of(plans().map(|plan| plan.ranks[BEFORE].as_ref()), by_slot, vocabulary, &mut known[1]);
            let preemption = Asks::of(preemption, false, vocabulary, &mut known[2]);
            let parts = plans().flat_map(|plan| plan.job.iter().chain(&plan.slot));
            let mut places: Vec<usize> = parts.flat_map(|part| &part.places).copied().collect();
            places.extend(ranked.places.iter().chain(&preemption.places));
            places.sort_unstable();
            places.dedup();
            OfKind { ranks: ranked, first, by_slot, preemption, places }
        };
        Self {
            kinds: (0..plans.requests()).map(&mut of_kind).collect(),
            blocks: evaluator.table.blocks.iter().map(|block| OfBlock::new(block.slots.len())).collect(),
            ..Self::default()
        }
    }

    /// What requests are for slots: those of one structure that are alike in it come to the same.
    pub(super) fn looked_at(&self, wanted: &Wanted<'_>) -> (usize, Vec<u32>) {
        let places = self.kinds.get(wanted.kind).map(|kind| &kind.places);
        (wanted.kind, places.map_or_else(|| wanted.ids.clone(), |places| picked(places, &wanted.ids)))
    }

    /// The memory of all sets, bytes.
    pub(super) fn bytes(&self) -> usize {
        // All sets of a block are of its length.
        let of_block =
            |block: &OfBlock| block.sets.things.len() * block.sets.things.first().map_or(0, |set| set.len() / 8);
        self.blocks.iter().map(of_block).sum()
    }

    /// The signature of each request; none if it has to be asked slot by slot.
    pub(super) fn sign(&mut self, evaluator: &Evaluator<'_, '_>, wanted: &[&Wanted<'_>]) -> Vec<Option<Signature>> {
        let signed = |(kind, of_block): (usize, &mut OfBlock)| of_block.signed(evaluator, kind, wanted);
        let alone = wanted.len() == 1;
        let sets: Vec<_> = if alone {
            self.blocks.iter_mut().enumerate().map(signed).collect()
        } else {
            self.blocks.par_iter_mut().enumerate().map(signed).collect()
        };
        let orders = self.orders(evaluator, wanted);
        let grounds = self.grounds(evaluator, wanted);
        let sign = |at: usize| {
            let sets = sets.iter().map(|of_block| of_block[at]).collect::<Option<_>>()?;
            Some(Signature { sets, order: orders[at], grounds: grounds.get(at).copied() })
        };
        (0..wanted.len()).map(sign).collect()
    }

    /// The numbers of the orders in which requests like slots.
    fn orders(&mut self, evaluator: &Evaluator<'_, '_>, wanted: &[&Wanted<'_>]) -> Vec<u32> {
        let kind = |wanted: &Wanted<'_>| &self.kinds[wanted.kind];
        let (key, first) = (
            |wanted: &Wanted<'_>| kind(wanted).ranks.key(wanted),
            |wanted: &Wanted<'_>| kind(wanted).first.key(wanted),
        );
        let new = unknown(&self.orders, wanted, key);
        let new_firsts = unknown(&self.firsts, &new, first);
        let alone = wanted.len() == 1;
        let firsts =
            all(&new_firsts, alone, |wanted| (first(wanted), Arc::new(evaluator.first(wanted, kind(wanted).by_slot))));
        self.firsts.extend(firsts);
        let (kinds, known) = (&self.kinds, &self.firsts);
        let orders = all(&new, alone, |wanted| {
            let kind = &kinds[wanted.kind];
            let order = evaluator.sorted(&known[&kind.first.key(wanted)], wanted, kind.by_slot);
            let hash = self.hasher.hash_one((&order.entries, &order.ranks));
            // At once, so that those that are the same do not pile up.
            let number = lock(&self.different_orders).number(hash, order, Order::same_as);
            (kind.ranks.key(wanted), number)
        });
        self.orders.extend(orders);
        wanted.iter().map(|wanted| self.orders[&self.kinds[wanted.kind].ranks.key(wanted)]).collect()
    }

    /// The numbers of what slots in use make of requests; none if there are none.
    fn grounds(&mut self, evaluator: &Evaluator<'_, '_>, wanted: &[&Wanted<'_>]) -> Vec<u32> {
        if !evaluator.plans.in_use {
            return Vec::new();
        }
        let kinds = &self.kinds;
        let key = |wanted: &Wanted<'_>| kinds[wanted.kind].preemption.key(wanted);
        let new = unknown(&self.grounds, wanted, key);
        let made = all(&new, wanted.len() == 1, |wanted| {
            let grounds = evaluator.grounds(wanted);
            let hash = self.hasher.hash_one(&grounds);
            (key(wanted), lock(&self.different_grounds).number(hash, grounds, PartialEq::eq))
        });
        self.grounds.extend(made);
        wanted.iter().map(|wanted| self.grounds[&key(wanted)]).collect()
    }

    /// What requests of a signature come to.
    pub(super) fn verdict(&self, evaluator: &Evaluator<'_, '_>, signature: &Signature) -> Verdict {
        let rows = evaluator.table.len();
        let (mut job, mut both) = (Mask::none(rows), Mask::none(rows));
        for ((known, block), [of_job, of_both]) in self.blocks.iter().zip(&evaluator.table.blocks).zip(&signature.sets)
        {
            job.put(block.first, &known.sets.things[*of_job as usize]);
            both.put(block.first, &known.sets.things[*of_both as usize]);
        }
        let order = Arc::clone(&lock(&self.different_orders).things[signature.order as usize]);
        let grounds = signature.grounds.map(|at| Arc::clone(&lock(&self.different_grounds).things[at as usize]));
        Verdict { job, both, order, grounds }
    }
}

/// The requests whose key is not known, the first of each.
fn unknown<'w, 'a, K: Hash + Eq, V>(
    known: &HashMap<K, V>,
    wanted: &[&'w Wanted<'a>],
    key: impl Fn(&Wanted<'a>) -> K,
) -> Vec<&'w Wanted<'a>> {
    let mut seen = hashbrown::HashSet::new();
    let mut is_new = |key: K| !known.contains_key(&key) && seen.insert(key);
    wanted.iter().copied().filter(|wanted| is_new(key(wanted))).collect()
}

fn lock<T>(numbered: &Mutex<Numbered<T>>) -> std::sync::MutexGuard<'_, Numbered<T>> {
    numbered.lock().unwrap_or_else(PoisonError::into_inner)
}
