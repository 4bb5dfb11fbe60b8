//! The fast path to the best slot: requests against classes of slots. One file: the matcher and its state.
//!
//! In: the slots of a cycle and its requests. Out: the same offers and refusals as [`ScanMatcher`], which evaluates slots one by
//! one and remains the authority: `crates/pool/tests/agree.rs` compares the two match by match. Slots that no request can
//! distinguish are one row; a request is evaluated once for all rows; its candidates are a heap that survives the passes
//! over the submitters, because slots are only ever removed. Rejections are counted from the rows, and only when a request
//! is rejected.

mod candidates;
mod class;
mod compiled;
mod equivalence;
mod evaluate;
mod in_use;
mod order;
mod partitioning;
mod plan;
mod requests;
mod rows;
mod table;
mod verdict;
mod vocabulary;

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::negotiate::CycleObserver;
use crate::negotiate::engine::candidates::CandidateList;
use crate::negotiate::engine::class::RequestClass;
pub(super) use crate::negotiate::engine::compiled::only_odd;
use crate::negotiate::engine::compiled::{CompiledCycle, SlotAds};
use crate::negotiate::engine::evaluate::{Evaluator, RequestKey};
use crate::negotiate::engine::in_use::PreemptionOrder;
use crate::negotiate::engine::requests::DistinctRequests;
use crate::negotiate::engine::rows::RowState;
use crate::negotiate::engine::verdict::{Interner, Signature, all};
use crate::negotiate::engine::vocabulary::is_plain;
use crate::negotiate::offer::{Limited, MadeRoom, Offer, Refusal, ScanMatcher, SlotSearch};
use crate::negotiate::outcome::Tally;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use crate::pool::address::Protocols;
use crate::queue::request::Request;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::Key;
use classmate::internal::program::cache::EvalCache;
use classmate::internal::program::mask::Mask;
use classmate::internal::threads;

/// Memory for classes and their orders, bytes. Classes beyond it are dropped each time they fill it again, and rebuilt on
/// demand.
pub(super) const CLASS_MEMORY: usize = 2 << 30;

/// The first request of an autocluster in the queue.
#[derive(Debug)]
pub(super) struct SampleRequest {
    /// Its autocluster.
    pub(super) autocluster: u32,
    /// Its ad, with the attributes of its submitter.
    pub(super) ad: ClassAd,
}

/// Autoclusters that are evaluated together before their orders are sorted.
const BATCH_SIZE: usize = 512;

/// Expressions that are not evaluated over columns are named up to this number.
const MAX_EXPRESSIONS: usize = 10;

/// The route by which an autocluster gets its candidates.
#[derive(Debug, Clone)]
enum Route {
    /// Slot by slot.
    Slots,
    /// By the class of each request, determined when the request comes.
    Request,
    /// By this class, subject to these concurrency limits.
    RequestClass(usize, Option<Vec<u8>>),
}

/// The properties of an access point on which the slots in its reach depend.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ReachKey {
    protocols: Protocols,
    /// Its name, if it has claimed partitionable slots.
    claimant: Option<Box<[u8]>>,
}

/// Finds candidates by classes of slots.
pub struct ClassMatcher<'c> {
    offers: ScanMatcher<'c>,
    rules: &'c Rules,
    compiled: CompiledCycle,
    /// Slots that are evaluated by themselves, in their order.
    odd: Vec<usize>,
    /// For each slot the order in which it is evaluated: its place and true, or, if it does not have one, the place before
    /// which it is evaluated.
    position: Vec<(u32, bool)>,
    cache: EvalCache,
    interner: Interner,
    /// By autocluster; none for those without a request in the queue.
    routes: Vec<Option<Route>>,
    classes: Vec<RequestClass>,
    by_signature: HashMap<Signature, usize>,
    /// The orders that classes hold, by their number in signatures.
    orders: HashMap<u32, usize>,
    by_ids: HashMap<Vec<u32>, Option<usize>>,
    rows: RowState,
    /// The slots in use, sorted, by the addresses of the order, the preferences and the preemption ranks of the classes that
    /// share them.
    preemption_orders: HashMap<[usize; 3], Arc<PreemptionOrder>>,
    /// The rows that can be reached.
    reachable: HashMap<ReachKey, Arc<Mask>>,
    found: Option<CandidateList>,
    largest_tie: usize,
    /// The classes that are kept to the end of the cycle.
    pinned: PinnedClasses,
    /// Memory of all classes and orders, bytes, and its limit.
    taken: usize,
    room: usize,
}

/// The classes that serve autoclusters.
#[derive(Debug, Default)]
struct PinnedClasses {
    classes: usize,
    orders: usize,
    /// Their memory, bytes.
    bytes: usize,
}

impl<'c> ClassMatcher<'c> {
    /// A matcher over offers and the requests of the queue, some of whose attributes vary within an autocluster, with a
    /// memory limit for classes in bytes.
    ///
    /// # Errors
    /// The offers themselves if the cycle has to be evaluated slot by slot, and the reason.
    pub(super) fn new(
        offers: ScanMatcher<'c>,
        rules: &'c Rules,
        samples: &[SampleRequest],
        (varying, room): (&HashSet<Key>, usize),
        observer: &mut dyn CycleObserver,
    ) -> Result<Self, (Box<ScanMatcher<'c>>, &'static str)> {
        let (compiled, requests) = match CompiledCycle::new(&offers, rules, samples, varying, observer) {
            Ok(compiled) => compiled,
            Err(obstacle) => return Err((Box::new(offers), obstacle)),
        };
        observer.phase_started("evaluate");
        let (mut odd, mut place) = (Vec::new(), 0);
        let mut position = vec![(u32::MAX, false); offers.slots.len()];
        for slot in &offers.order {
            let has_place = compiled.order.get(place as usize) == Some(slot);
            position[*slot] = (place, has_place);
            place += u32::from(has_place);
            if !has_place {
                odd.push(*slot);
            }
        }
        let slot = |place: u32| offers.slot(compiled.order[place as usize]);
        let rows = RowState::new(&compiled.table, &slot, compiled.plans.in_use);
        let mut matcher = Self {
            offers,
            rules,
            compiled,
            odd,
            position,
            cache: EvalCache::default(),
            interner: Interner::default(),
            routes: Vec::new(),
            classes: Vec::new(),
            by_signature: HashMap::new(),
            orders: HashMap::new(),
            by_ids: HashMap::new(),
            rows,
            preemption_orders: HashMap::new(),
            reachable: HashMap::new(),
            found: None,
            largest_tie: 0,
            pinned: PinnedClasses::default(),
            taken: 0,
            room,
        };
        matcher.interner = matcher.with(Interner::new);
        let used = matcher.compiled.plans.request_attributes();
        matcher.prepare(&requests, samples, varying.iter().any(|name| used.contains(name)));
        Ok(matcher)
    }

    fn route(&self, autocluster: u32) -> Option<&Route> {
        self.routes.get(autocluster as usize)?.as_ref()
    }

    /// The class of a request, from its ad.
    fn class_of(&mut self, ad: &ClassAd) -> Option<usize> {
        if !is_plain(ad) {
            return None;
        }
        let mut ids = self.compiled.vocabulary.ids(ad);
        if let Some(class) = self.by_ids.get(&ids) {
            return *class;
        }
        let given = ids.clone();
        let structure = self.compiled.structures.get(&self.compiled.vocabulary.structure(&ids)).copied();
        let unforeseen = self.compiled.vocabulary.is_unforeseen(&ids);
        self.compiled.equivalence.apply(&mut ids);
        // Rows distinguish slots for the requests of the queue, not for any request.
        let known = structure.filter(|structure| !unforeseen && self.compiled.combinations.know(*structure, &ids));
        if self.taken + self.interner.bytes() > self.pinned.bytes + self.room {
            self.forget_classes();
        }
        let class = known.and_then(|structure| {
            let request = RequestKey { ad, ids, structure };
            *self.classes_of(&[&request]).first()?
        });
        self.by_ids.insert(given, class);
        class
    }

    /// Drops the classes that were made during the negotiation loop, except the one whose candidates were found last: it may be
    /// needed again.
    fn forget_classes(&mut self) {
        let PinnedClasses { classes, orders, bytes } = self.pinned;
        let found = self.found.as_mut().filter(|found| found.class >= classes);
        let last = found.map(|found| self.classes.swap_remove(std::mem::replace(&mut found.class, classes)));
        self.classes.truncate(classes);
        let order = last.as_ref().filter(|last| last.order >= orders);
        let order = order.map(|last| self.rows.orders.swap_remove(last.order));
        self.rows.orders.truncate(orders);
        self.rows.orders.extend(order);
        self.classes.extend(last.map(|mut last| {
            last.order = last.order.min(orders);
            last
        }));
        self.by_signature.clear();
        self.by_ids.clear();
        self.orders.clear();
        self.preemption_orders.clear();
        self.cache = EvalCache::default();
        self.interner = self.with(Interner::new);
        self.taken = bytes;
    }

    fn with<T>(&self, run: impl FnOnce(&Evaluator<'_>) -> T) -> T {
        run(&Evaluator {
            vocabulary: &self.compiled.vocabulary,
            plans: &self.compiled.plans,
            table: &self.compiled.table,
            source: &SlotAds { offers: &self.offers, order: &self.compiled.order },
            settings: self.offers.settings,
            unpartitioned: &self.compiled.unpartitioned,
            keyed: self.compiled.plans.in_use || !self.odd.is_empty(),
            cache: &self.cache,
        })
    }

    /// Maps each request to its class: requests with equal results share a heap of candidates. None for those that have to be
    /// evaluated slot by slot.
    fn classes_of(&mut self, requests: &[&RequestKey<'_>]) -> Vec<Option<usize>> {
        let mut interner = std::mem::take(&mut self.interner);
        let signatures = self.with(|evaluator| interner.sign(evaluator, requests));
        let mut new: Vec<&Signature> = Vec::new();
        for signature in signatures.iter().flatten() {
            let next = self.classes.len() + new.len();
            if *self.by_signature.entry_ref(signature).or_insert(next) == next {
                new.push(signature);
            }
        }
        let verdicts = self.with(|evaluator| all(&new, requests.len() == 1, |new| interner.verdict(evaluator, new)));
        for (signature, verdict) in new.into_iter().zip(verdicts) {
            let (rows, taken) = (&mut self.rows, &mut self.taken);
            *taken += 2 * (verdict.job.len() / 8);
            let order = *self.orders.entry(signature.order).or_insert_with(|| {
                *taken += verdict.order.bytes();
                rows.add_order(&verdict.order)
            });
            self.classes.push(RequestClass::new(verdict, order));
        }
        self.interner = interner;
        signatures.iter().map(|signature| self.by_signature.get(signature.as_ref()?).copied()).collect()
    }

    /// The rows that can be reached; none if all can.
    fn reachable(&mut self, search: &SlotSearch<'_>) -> Option<Arc<Mask>> {
        let rows = &self.rows;
        if rows.claimants.is_empty() && rows.protocols.is_some_and(|protocols| protocols.meet(search.protocols)) {
            return None;
        }
        let key = ReachKey { protocols: search.protocols, claimant: rows.claimants.get(search.schedd).cloned() };
        let table = &self.compiled.table;
        let made = || {
            let reaches = |row: usize| {
                let first = table.slots(row as u32).first();
                first.is_some_and(|place| {
                    let slot = self.offers.slot(self.compiled.order[*place as usize]);
                    !slot.is_elsewhere(search.schedd) && slot.protocols.meet(search.protocols)
                })
            };
            Arc::new(Mask::of(table.len(), reaches))
        };
        Some(Arc::clone(self.reachable.entry(key).or_insert_with(made)))
    }

    /// Ranks slots one by one, of which it is known whether they match.
    fn by_listing(&mut self, search: &SlotSearch<'_>, class: Option<usize>) -> Result<Offer, Refusal> {
        let Some(class) = class.or_else(|| self.class_of(&search.request.ad)) else { return self.offers.best(search) };
        let verdict = &self.classes[class].verdict;
        let (position, row_of) = (&self.position, &self.compiled.table.row_of);
        let known = |at: usize| match position[at] {
            (place, true) => {
                let row = row_of[place as usize] as usize;
                Some([verdict.job.contains(row), verdict.both.contains(row)])
            }
            _ => None,
        };
        self.offers.best(&SlotSearch { known: Some(&known), ..*search })
    }

    /// Evaluates slots one by one.
    fn by_slot(&mut self, search: &SlotSearch<'_>) -> Result<Offer, Refusal> {
        let answer = self.offers.best(search);
        if !matches!(&answer, Err(refusal) if refusal.untested) {
            self.found = None;
        }
        answer
    }
}

impl SlotMatcher for ClassMatcher<'_> {
    fn needs_ad(&self, autocluster: u32) -> bool {
        self.rules.knobs.matching.depth_first
            || self.compiled.listed.is_some()
            || !self.odd.is_empty()
            || !matches!(self.route(autocluster), Some(Route::RequestClass(..)))
    }

    fn best(&mut self, search: &SlotSearch<'_>) -> Result<Offer, Refusal> {
        let request = search.request;
        let route = self.route(request.autocluster).cloned().unwrap_or(Route::Slots);
        let (class, text) = match route {
            Route::RequestClass(class, text) => (Some(class), text),
            Route::Request => match self.offers.limited(&request.ad) {
                Limited::Everywhere(text) => (None, text),
                Limited::BySlot => return self.by_slot(search),
            },
            Route::Slots => return self.by_slot(search),
        };
        if let Some(name) = text.as_deref().and_then(|text| self.offers.reached(text)) {
            return Err(Refusal::untested(&name));
        }
        if self.compiled.listed.is_some() {
            return self.by_listing(search, class);
        }
        if self.offers.found.as_ref().is_some_and(|found| self.offers.keeps(found, search)) {
            return self.by_slot(search);
        }
        loop {
            let kept = self.found.take_if(|found| self.offers.keeps(&found.listed, search));
            let mut found = match kept {
                Some(found) if found.drawn => {
                    self.offers.found = Some(self.all_listed(found));
                    return self.by_slot(search);
                }
                Some(found) => found,
                None => match class.or_else(|| self.class_of(&request.ad)) {
                    Some(class) => self.scan(class, search),
                    None => return self.by_slot(search),
                },
            };
            self.offers.found = None;
            let offer = self.pop(&mut found, search.session);
            self.largest_tie = self.largest_tie.max(usize::from(offer.is_some()));
            if offer.is_some_and(|offer| self.offers.is_bad(&offer)) {
                self.found = Some(found);
                continue;
            }
            let answer = offer.ok_or_else(|| self.refusal(&found));
            self.found = Some(found);
            return answer;
        }
    }

    fn make_room(&mut self, offer: &Offer) -> Option<MadeRoom> {
        match &self.found {
            Some(found) => self.offers.room_in(&found.listed, offer),
            None => self.offers.make_room(offer),
        }
    }

    fn take(&mut self, offer: &Offer, request: &Request, room: Option<&MadeRoom>) -> Option<Vec<u8>> {
        let held = match self.route(request.autocluster) {
            Some(Route::RequestClass(_, Some(text))) => Some(text.clone()),
            _ => self.offers.limits_of(offer, request, room),
        };
        let draws = self.offers.slot(offer.slot).consumption.is_some();
        let again = self.offers.take_under(offer, request, held.as_deref(), room);
        match (&mut self.found, &mut self.offers.found, again) {
            (Some(found), _, again) if draws => (found.drawn, found.again) = (true, again),
            (None, Some(found), Some(again)) => found.offer_again(again),
            _ => {}
        }
        match self.position[offer.slot] {
            (place, true) => self.rows.take(place, self.compiled.table.row_of[place as usize]),
            // A slot that stays has moved to the end.
            _ if self.offers.order.last() == Some(&offer.slot) => {
                self.odd.retain(|at| *at != offer.slot);
                self.odd.push(offer.slot);
                self.position[offer.slot] = (self.compiled.order.len() as u32, false);
            }
            _ => {}
        }
        held
    }

    fn last_reached(&self) -> Vec<String> {
        // What classes serve has the same limits in all slots.
        if self.found.is_some() { Vec::new() } else { self.offers.last_reached() }
    }

    fn passed_over(&mut self, submitter: usize) -> bool {
        let Some(found) = self.found.take() else { return self.offers.passed_over(submitter) };
        let passed_over = found.listed.submitter == submitter && self.has_passed_over(&found);
        self.found = Some(found);
        passed_over
    }

    fn of_slot(&self, at: usize, search: &SlotSearch<'_>) -> Result<Offer, Tally> {
        self.offers.of_slot(at, search)
    }

    fn slot(&self, at: usize) -> &Slot {
        self.offers.slot(at)
    }

    fn into_slots(self: Box<Self>) -> Vec<Slot> {
        threads::drop_later(self.compiled);
        self.offers.slots
    }

    fn left(&self) -> usize {
        self.offers.left()
    }

    fn largest_tie(&self) -> usize {
        self.largest_tie.max(self.offers.largest_tie())
    }

    fn forget(&mut self) {
        self.found = None;
        self.offers.forget();
    }

    fn drop_candidates(&mut self) {
        self.found = None;
        self.offers.drop_candidates();
    }

    fn is_feasible(&self, autocluster: u32, ad: &dyn Fn() -> ClassAd) -> bool {
        match self.route(autocluster) {
            Some(Route::RequestClass(class, _)) if !self.classes[*class].verdict.both.is_empty() => true,
            // The table lacks the slots that are evaluated by themselves, and those that the cycle does not consider.
            Some(Route::RequestClass(..)) => {
                let ad = ad();
                let others = self.offers.slots.iter().zip(&self.position);
                let others: Vec<&Slot> =
                    others.filter(|(_, (_, has_place))| !has_place).map(|(slot, _)| slot).collect();
                threads::any(&others, |slot| symmetric(&ad, &slot.ad, self.offers.settings))
            }
            _ => self.offers.is_feasible(autocluster, ad),
        }
    }

    fn classes(&self) -> Option<super::slot_matcher::ClassCounts> {
        let table = &self.compiled.vocabulary.slots;
        Some(super::slot_matcher::ClassCounts {
            slots: self.compiled.table.classes,
            requests: self.classes.len(),
            batched: table.batched.load(std::sync::atomic::Ordering::Relaxed),
            scalar: table.scalar.atoms(),
            scalar_expressions: table.scalar.most(MAX_EXPRESSIONS),
            by_slot: self.routes.iter().flatten().filter(|route| matches!(route, Route::Slots)).count(),
            odd_slots: self.odd.len(),
            odd: self.compiled.odd,
            listed: self.compiled.listed,
        })
    }
}

impl ClassMatcher<'_> {
    /// Evaluates the distinct requests of the queue for all rows, and finds the route of every autocluster.
    fn prepare(&mut self, (requests, numbers): &DistinctRequests<'_>, samples: &[SampleRequest], varying: bool) {
        let mut classes = Vec::with_capacity(requests.len());
        for requests in requests.chunks(BATCH_SIZE) {
            if varying || self.taken + self.interner.bytes() >= self.room {
                break;
            }
            classes.extend(self.classes_of(&requests.iter().collect::<Vec<_>>()));
        }
        let most = samples.iter().map(|sample| sample.autocluster).max().unwrap_or(0);
        self.routes.resize(most as usize + 1, None);
        let limits = threads::map_all(samples, |sample| self.offers.limited(&sample.ad));
        for ((sample, number), limits) in samples.iter().zip(numbers).zip(limits) {
            let route = match (number.map(|number| classes.get(number)), limits) {
                (None | Some(Some(None)), _) | (_, Limited::BySlot) => Route::Slots,
                // The limits that a match holds may differ from those of the request, once the slot is known.
                (_, Limited::Everywhere(Some(_))) if sample.ad.constant("ConcurrencyLimits").is_none() => Route::Slots,
                (Some(None), _) => Route::Request,
                (Some(Some(Some(class))), Limited::Everywhere(text)) => Route::RequestClass(*class, text),
            };
            self.routes[sample.autocluster as usize] = Some(route);
        }
        self.pinned = PinnedClasses { classes: self.classes.len(), orders: self.rows.orders.len(), bytes: self.taken };
        if !self.routes.iter().flatten().any(|route| matches!(route, Route::Request)) {
            // No request is evaluated any more. To free so many pieces takes a while.
            let results = (std::mem::take(&mut self.cache), std::mem::take(&mut self.interner));
            threads::drop_later(results);
        }
    }
}
