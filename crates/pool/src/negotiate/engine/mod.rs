//! The fast way to the best slot: requests against classes of slots.
//!
//! In: the slots of a cycle and its requests. Out: the same offers and refusals as [`Offers`], which looks at slot after
//! slot and remains the authority: `crates/pool/tests/agree.rs` compares the two match by match. Slots that no request can tell
//! apart are one row; a request is evaluated once against all rows; its candidates are a heap that survives the passes
//! over the submitters, for slots only ever leave. What is refused is counted from the rows, and only when somebody is
//! refused.

mod class;
mod evaluate;
mod parts;
mod plan;
mod rows;
mod separation;
mod table;
mod verdict;
mod vocabulary;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::negotiate::CycleObserver;
use crate::negotiate::candidate::{RankKey, Tier};
use crate::negotiate::engine::class::{Class, Tallied};
use crate::negotiate::engine::evaluate::{Evaluator, Kept, Wanted};
use crate::negotiate::engine::parts::Parts;
use crate::negotiate::engine::rows::Rows;
use crate::negotiate::engine::verdict::{Known, Signature, all};
use crate::negotiate::market::Market;
use crate::negotiate::offer::{Asking, Limited, Offer, Offers, Refusal, rejection};
use crate::negotiate::outcome::{MOST_TIED, Tally};
use crate::negotiate::rules::Rules;
use crate::pool::Slot;
use crate::priority::Session;
use crate::priority::session::Serve;
use crate::queue::request::Request;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::symmetric;
use classmate::internal::name::Key;
use classmate::internal::program::mask::Mask;

/// What a request says that other requests of its autocluster need not.
pub(super) const VARYING: [&str; 14] = [
    "SubmitterNegotiatingGroup",
    "SubmitterAutoregroup",
    "SubmitterGroup",
    "SubmitterGroupResourcesInUse",
    "SubmitterGroupQuota",
    "SubmittorPrio",
    "SubmitterUserPrio",
    "SubmitterUserResourcesInUse",
    "Owner",
    "ClusterId",
    "ProcId",
    "GlobalJobId",
    "WantMatchDiagnostics",
    "_condor_RESOURCE_COUNT",
];

/// Memory for classes and their orders, bytes. What is made beyond is forgotten when as much again has come together,
/// and made anew when it is asked for.
pub(super) const ROOM: usize = 2 << 30;

/// A request as it was first seen in the queue: what stands for its autocluster.
#[derive(Debug)]
pub(super) struct Sample {
    /// Its autocluster.
    pub(super) autocluster: u32,
    /// Its ad, marked with who asks.
    pub(super) ad: ClassAd,
}

/// Autoclusters that are evaluated before what suits them is sorted.
const AT_ONCE: usize = 512;

/// How an autocluster is served.
#[derive(Debug, Clone)]
enum Way {
    /// Slot by slot.
    Slots,
    /// By the class of each request, which is found when the request comes.
    Request,
    /// By this class, under these concurrency limits.
    Class(usize, Option<Vec<u8>>),
}

/// The candidates of a request.
#[derive(Debug)]
struct Found {
    autocluster: u32,
    submitter: usize,
    serve: Serve,
    class: usize,
    /// How the turn stood, and how many slots there were, when the candidates were looked for.
    session: Session,
    left: usize,
    /// Slots in use that will do, best last.
    in_use: Vec<(RankKey, u32, Offer)>,
    /// What became of slots in use.
    tally: Tally,
    /// Offers made so far: of slots in use, and of others by their cost.
    made_in_use: usize,
    made: HashMap<u64, usize>,
}

/// The slots of a cycle, by class.
pub struct Engine<'c> {
    offers: Offers<'c>,
    rules: &'c Rules,
    parts: Parts,
    place_of: Vec<u32>,
    kept: Kept,
    known: Known,
    ways: HashMap<u32, Way>,
    classes: Vec<Class>,
    by_signature: HashMap<Signature, usize>,
    /// The orders that classes hold, by their number in signatures.
    orders: HashMap<u32, usize>,
    by_ids: HashMap<Vec<u32>, Option<usize>>,
    rows: Rows,
    found: Option<Found>,
    largest_tie: usize,
    /// What is kept to the end of the cycle.
    lasting: Lasting,
    /// Memory of all classes and orders, bytes, and how much they may take.
    taken: usize,
    room: usize,
}

/// Classes that autoclusters are served by.
#[derive(Debug, Default)]
struct Lasting {
    classes: usize,
    orders: usize,
    /// Their memory, bytes.
    bytes: usize,
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("classes", &self.parts.table.classes).finish_non_exhaustive()
    }
}

impl<'c> Engine<'c> {
    /// An engine over offers and the requests of the queue, some of whose attributes vary within an autocluster; with so
    /// many bytes for classes.
    ///
    /// # Errors
    /// The offers themselves if the cycle does what only they can, and what that is.
    pub(super) fn new(
        offers: Offers<'c>,
        rules: &'c Rules,
        samples: &[Sample],
        (varying, room): (&HashSet<Key>, usize),
        observer: &mut dyn CycleObserver,
    ) -> Result<Self, (Box<Offers<'c>>, &'static str)> {
        let (parts, wanted) = match Parts::new(&offers, rules, samples, varying, observer) {
            Ok(parts) => parts,
            Err(obstacle) => return Err((Box::new(offers), obstacle)),
        };
        observer.phase_started("evaluate");
        let mut place_of = vec![u32::MAX; offers.slots().len()];
        for (place, slot) in parts.order.iter().enumerate() {
            place_of[*slot] = place as u32;
        }
        let slot = |place: u32| offers.slot_at(parts.order[place as usize]);
        let rows = Rows::new(&parts.table, &slot, rules.trim.preemption);
        let mut engine = Self {
            offers,
            rules,
            parts,
            place_of,
            kept: Kept::default(),
            known: Known::default(),
            ways: HashMap::new(),
            classes: Vec::new(),
            by_signature: HashMap::new(),
            orders: HashMap::new(),
            by_ids: HashMap::new(),
            rows,
            found: None,
            largest_tie: 0,
            lasting: Lasting::default(),
            taken: 0,
            room,
        };
        engine.known = engine.with(Known::new);
        let asked = engine.parts.plans.asked();
        engine.prepare(&wanted, samples, varying.iter().any(|name| asked.contains(name)));
        Ok(engine)
    }

    /// The class of a request, from its ad.
    fn class_of(&mut self, ad: &ClassAd) -> Option<usize> {
        let ids = self.parts.vocabulary.ids(ad);
        if let Some(known) = self.by_ids.get(&ids) {
            return *known;
        }
        let kind = self.parts.kinds.get(&self.parts.vocabulary.structure(&ids)).copied();
        let odd = self.parts.vocabulary.is_odd(&ids, &self.parts.odd);
        // Rows hold what requests of the queue can tell apart, not what this one might.
        let foreseen = kind.filter(|kind| !odd && self.parts.combinations.know(*kind, &ids));
        if self.taken + self.known.bytes() > self.lasting.bytes + self.room {
            self.forget_classes();
        }
        let class = foreseen.and_then(|kind| {
            let wanted = Wanted { ad, ids: ids.clone(), kind };
            *self.classes_of(&[&wanted]).first()?
        });
        self.by_ids.insert(ids, class);
        class
    }

    /// Forgets the classes that were made during the deal, but for the one whose candidates were found last: it may be
    /// asked again.
    fn forget_classes(&mut self) {
        let Lasting { classes, orders, bytes } = self.lasting;
        let found = self.found.as_mut().filter(|found| found.class >= classes);
        let last = found.map(|found| self.classes.swap_remove(std::mem::replace(&mut found.class, classes)));
        self.classes.truncate(classes);
        let open = last.as_ref().filter(|last| last.order >= orders).map(|last| self.rows.open.swap_remove(last.order));
        self.rows.open.truncate(orders);
        self.rows.open.extend(open);
        self.classes.extend(last.map(|mut last| {
            last.order = last.order.min(orders);
            last
        }));
        self.by_signature.clear();
        self.by_ids.clear();
        self.orders.clear();
        self.kept = Kept::default();
        self.known = self.with(Known::new);
        self.taken = bytes;
    }

    fn with<T>(&self, run: impl FnOnce(&Evaluator<'_, '_>) -> T) -> T {
        let ad = |place: u32| &self.offers.slot_at(self.parts.order[place as usize]).ad;
        run(&Evaluator {
            vocabulary: &self.parts.vocabulary,
            plans: &self.parts.plans,
            table: &self.parts.table,
            ad: &ad,
            settings: self.offers.settings(),
            loose: &self.parts.loose,
            kept: &self.kept,
        })
    }

    /// The class of each request: those of which everything is alike are served from one heap. None for those that have
    /// to be asked slot by slot.
    fn classes_of(&mut self, wanted: &[&Wanted<'_>]) -> Vec<Option<usize>> {
        let mut known = std::mem::take(&mut self.known);
        let signatures = self.with(|evaluator| known.sign(evaluator, wanted));
        let mut new: Vec<&Signature> = Vec::new();
        for signature in signatures.iter().flatten() {
            let next = self.classes.len() + new.len();
            if *self.by_signature.entry_ref(signature).or_insert(next) == next {
                new.push(signature);
            }
        }
        let verdicts = self.with(|evaluator| all(&new, wanted.len() == 1, |new| known.verdict(evaluator, new)));
        for (signature, verdict) in new.into_iter().zip(verdicts) {
            let (rows, taken) = (&mut self.rows, &mut self.taken);
            *taken += 2 * (verdict.job.len() / 8);
            let order = *self.orders.entry(signature.order).or_insert_with(|| {
                *taken += verdict.order.bytes();
                rows.add_order(&verdict.order)
            });
            self.classes.push(Class::new(verdict, order));
        }
        self.known = known;
        signatures.iter().map(|signature| self.by_signature.get(signature.as_ref()?).copied()).collect()
    }

    /// Where the rows can be reached from; none if everywhere.
    fn reachable(&self, asking: &Asking<'_>) -> Option<Mask> {
        let rows = &self.rows;
        let everywhere = rows.unclaimed && rows.protocols.is_some_and(|protocols| protocols.meet(asking.protocols));
        (!everywhere).then(|| {
            Mask::of(self.parts.table.len(), |row| match self.parts.table.slots(row as u32).first() {
                Some(place) => {
                    let slot = self.offers.slot_at(self.parts.order[*place as usize]);
                    !slot.is_elsewhere(asking.schedd) && slot.protocols.meet(asking.protocols)
                }
                None => false,
            })
        })
    }

    /// Looks for the candidates of a request anew.
    fn scan(&mut self, class: usize, request: &Request, asking: &Asking<'_>, session: &Session) -> Found {
        let reach = self.reachable(asking);
        let only_preferring = asking.serve != Serve::Any;
        let mut found = Found {
            autocluster: request.autocluster,
            submitter: asking.submitter,
            serve: asking.serve,
            class,
            session: *session,
            left: self.offers.left(),
            in_use: Vec::new(),
            tally: Tally::default(),
            made_in_use: 0,
            made: HashMap::new(),
        };
        self.scan_in_use(&mut found, reach.as_ref(), asking, session);
        let ties = found.in_use.chunk_by(|a, b| a.0.compare(&b.0).is_eq()).map(<[_]>::len);
        self.largest_tie = self.largest_tie.max(ties.max().unwrap_or(0)).min(MOST_TIED);
        let state = &mut self.classes[class];
        state.begin(reach);
        if !only_preferring {
            self.largest_tie = state.largest_tie(&self.rows, &self.parts.table, session, self.largest_tie);
        }
        found
    }

    /// What becomes of slots in use.
    fn scan_in_use(&self, found: &mut Found, reach: Option<&Mask>, asking: &Asking<'_>, session: &Session) {
        let class = &self.classes[found.class];
        let Some(grounds) = &class.verdict.grounds else { return };
        let only_preferring = asking.serve != Serve::Any;
        for row in self.rows.in_use.rows() {
            let free = self.rows.free[row] as usize;
            if free == 0 || !class.verdict.both.contains(row) || reach.is_some_and(|reach| !reach.contains(row)) {
                continue;
            }
            let cost = self.rows.cost[row];
            let user = self.slot_of(self.parts.table.slots(row as u32)[0]).user.as_deref().unwrap_or_default();
            let tier = if grounds.prefers[row] {
                Tier::Rank
            } else if only_preferring {
                found.tally.beyond_share += free;
                continue;
            } else if user == asking.name {
                found.tally.used_by_submitter += free;
                continue;
            } else if !grounds.required[row] {
                found.tally.preemption_not_required += free;
                continue;
            } else if !grounds.likes_as_well[row] {
                found.tally.prefers_its_job += free;
                continue;
            } else if !session.permits_preempting(cost) {
                found.tally.over_limit += free;
                continue;
            } else {
                Tier::Priority
            };
            for &place in self.parts.table.slots(row as u32).iter().filter(|place| self.rows.is_free(**place)) {
                let preemption = f64::from_bits(grounds.preemption[row]);
                let key = class.verdict.order.key_of(row as u32, place, tier, preemption);
                found.in_use.push((
                    key,
                    place,
                    Offer { slot: self.parts.order[place as usize], tier, cost, makes_room: false },
                ));
            }
        }
        found.in_use.sort_by(|a, b| a.0.compare(&b.0).then_with(|| b.1.cmp(&a.1)));
        found.tally.suitable = found.in_use.len();
    }

    /// Looks at slot after slot.
    fn by_slot(&mut self, request: &Request, asking: &Asking<'_>, session: &Session) -> Result<Offer, Refusal> {
        let answer = self.offers.best(request, asking, session);
        if !matches!(&answer, Err(refusal) if refusal.untested) {
            self.found = None;
        }
        answer
    }

    fn slot_of(&self, place: u32) -> &Slot {
        self.offers.slot_at(self.parts.order[place as usize])
    }

    /// The best candidate that is allowed; those passed over are gone.
    fn pop(&mut self, found: &mut Found, session: &Session) -> Option<Offer> {
        while found.in_use.last().is_some_and(|(_, _, offer)| {
            // Those that were suitable when they were looked for may be over the limit by now.
            let first = found.made_in_use == 0 && found.made.is_empty();
            !first && !session.permits_preempting(offer.cost) && !session.permits_unclaimed(offer.cost)
        }) {
            found.in_use.pop();
        }
        let idle = if found.serve == Serve::Any {
            self.classes[found.class].best(&mut self.rows, &self.parts.table, session)
        } else {
            None
        };
        let place = match (found.in_use.last(), idle) {
            (None, None) => return None,
            (Some(_), None) => None,
            (None, Some((_, place))) => Some(place),
            (Some((key, used, _)), Some((rank, place))) => {
                let idle = &self.classes[found.class].verdict.order.keys[rank as usize];
                key.compare(idle).then_with(|| place.cmp(used)).is_lt().then_some(place)
            }
        };
        let Some(place) = place else {
            found.made_in_use += 1;
            return found.in_use.pop().map(|(_, _, offer)| offer);
        };
        let cost = self.rows.cost[self.parts.table.row_of[place as usize] as usize];
        *found.made.entry(cost.to_bits()).or_insert(0) += 1;
        Some(Offer { slot: self.parts.order[place as usize], tier: Tier::None, cost, makes_room: false })
    }

    /// Why a request gets nothing, with what became of the slots when its candidates were looked for.
    fn refusal(&mut self, found: &Found) -> Refusal {
        let class = &mut self.classes[found.class];
        let Tallied { unreachable, by_job, by_slot, idle } = class.tallied(&self.rows).clone();
        let mut tally = Tally {
            considered: found.left,
            unreachable,
            refused_by_job: by_job,
            refused_by_slot: by_slot,
            ..found.tally
        };
        let made: usize = found.made.values().sum();
        if found.serve == Serve::Any {
            // Those that this request was given since were there too; all of them were suitable.
            tally.suitable += made;
            for (cost, free) in self.rows.costs.iter().zip(idle) {
                if found.session.permits_unclaimed(*cost) {
                    tally.suitable += free;
                } else {
                    tally.over_limit += free;
                }
            }
        } else {
            tally.beyond_share += idle.iter().sum::<usize>();
        }
        // By now every candidate was either offered or too heavy.
        tally.over_limit += tally.suitable - made - found.made_in_use;
        Refusal { rejection: rejection(&tally), tally, reached: Vec::new(), untested: false }
    }
}

impl Market for Engine<'_> {
    fn needs_ad(&self, autocluster: u32) -> bool {
        self.rules.knobs.matching.depth_first || !matches!(self.ways.get(&autocluster), Some(Way::Class(..)))
    }

    fn best(&mut self, request: &Request, asking: &Asking<'_>, session: &Session) -> Result<Offer, Refusal> {
        let way = self.ways.get(&request.autocluster).cloned().unwrap_or(Way::Slots);
        let (class, text) = match way {
            Way::Class(class, text) => (Some(class), text),
            Way::Request => match self.offers.limited(request) {
                Limited::Everywhere(text) => (None, text),
                Limited::BySlot => return self.by_slot(request, asking, session),
            },
            Way::Slots => return self.by_slot(request, asking, session),
        };
        if let Some(name) = text.as_deref().and_then(|text| self.offers.reached(text)) {
            return Err(Refusal::untested(&name));
        }
        let kept = self.found.take_if(|found| {
            self.rules.knobs.matching.match_list_caching
                && (found.autocluster, found.submitter, found.serve)
                    == (request.autocluster, asking.submitter, asking.serve)
        });
        let mut found = match kept {
            Some(found) => found,
            None => match class.or_else(|| self.class_of(&request.ad)) {
                Some(class) => self.scan(class, request, asking, session),
                None => return self.by_slot(request, asking, session),
            },
        };
        self.offers.forget_candidates();
        let offer = self.pop(&mut found, session);
        let answer = offer.ok_or_else(|| self.refusal(&found));
        self.found = Some(found);
        answer
    }

    fn take(&mut self, offer: &Offer, request: &Request) -> Option<Vec<u8>> {
        let held = match self.ways.get(&request.autocluster) {
            Some(Way::Class(_, text)) => {
                let text = text.clone();
                self.offers.take_under(offer, request, text)
            }
            _ => self.offers.take(offer, request),
        };
        let place = self.place_of[offer.slot];
        self.rows.taken(place, self.parts.table.row_of[place as usize]);
        held
    }

    fn passed_over(&mut self, submitter: usize) -> bool {
        let Some(found) = self.found.take() else { return self.offers.passed_over(submitter) };
        let mut too_heavy = || {
            let idle = &self.classes[found.class].tallied(&self.rows).idle;
            let costs = self.rows.costs.iter().zip(idle);
            found.serve == Serve::Any
                && costs.filter(|(_, free)| **free > 0).any(|(cost, _)| !found.session.permits_unclaimed(*cost))
        };
        let passed_over = found.submitter == submitter && (found.tally.over_limit > 0 || too_heavy());
        self.found = Some(found);
        passed_over
    }

    fn of_slot(&self, at: usize, request: &Request, asking: &Asking<'_>, session: &Session) -> Result<Offer, Tally> {
        self.offers.of_slot(at, request, asking, session)
    }

    fn slot(&self, at: usize) -> &Slot {
        self.offers.slot_at(at)
    }

    fn into_slots(self: Box<Self>) -> Vec<Slot> {
        self.offers.give_back()
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

    fn would_do(&self, autocluster: u32, ad: &dyn Fn() -> ClassAd) -> bool {
        match self.ways.get(&autocluster) {
            Some(Way::Class(class, _)) if !self.classes[*class].verdict.both.is_empty() => true,
            // What the table lacks are slots that the cycle does not look at.
            Some(Way::Class(..)) => {
                let ad = ad();
                let others = self.offers.slots().par_iter().enumerate();
                let others = others.filter(|(at, _)| self.place_of[*at] as usize >= self.parts.order.len());
                others.any(|(_, slot)| symmetric(&ad, &slot.ad, self.offers.settings()))
            }
            _ => self.offers.would_do(autocluster, ad),
        }
    }

    fn classes(&self) -> Option<super::market::Classes> {
        let columns = &self.parts.vocabulary.columns;
        Some(super::market::Classes {
            slots: self.parts.table.classes,
            requests: self.classes.len(),
            batched: columns.batched.load(std::sync::atomic::Ordering::Relaxed),
            scalar: columns.scalar.load(std::sync::atomic::Ordering::Relaxed),
            by_slot: self.ways.values().filter(|way| matches!(way, Way::Slots)).count(),
        })
    }
}

impl Engine<'_> {
    /// Evaluates every autocluster against all rows.
    fn prepare(&mut self, wanted: &[Wanted<'_>], samples: &[Sample], varying: bool) {
        let mut first_of: HashMap<(usize, Vec<u32>), usize> = HashMap::new();
        let mut firsts: Vec<&Wanted<'_>> = Vec::new();
        let mut number = |wanted| {
            let next = firsts.len();
            let number = *first_of.entry(self.known.looked_at(wanted)).or_insert(next);
            if number == next {
                firsts.push(wanted);
            }
            number
        };
        let alike: Vec<Option<usize>> =
            wanted.iter().map(|wanted| (wanted.kind != usize::MAX).then(|| number(wanted))).collect();
        let mut classes = Vec::with_capacity(firsts.len());
        for firsts in firsts.chunks(AT_ONCE) {
            if varying || self.taken + self.known.bytes() >= self.room {
                break;
            }
            classes.extend(self.classes_of(firsts));
        }
        for (sample, alike) in samples.iter().zip(alike) {
            let way = match (alike.map(|alike| classes.get(alike)), self.offers.limited_ad(&sample.ad)) {
                (None | Some(Some(None)), _) | (_, Limited::BySlot) => Way::Slots,
                (Some(None), _) => Way::Request,
                (Some(Some(Some(class))), Limited::Everywhere(text)) => Way::Class(*class, text),
            };
            self.ways.insert(sample.autocluster, way);
        }
        self.lasting = Lasting { classes: self.classes.len(), orders: self.rows.open.len(), bytes: self.taken };
        if !self.ways.values().any(|way| matches!(way, Way::Request)) {
            // No request is evaluated any more. It takes a while to give back so many pieces.
            let kept = (std::mem::take(&mut self.kept), std::mem::take(&mut self.known));
            rayon::spawn(move || drop(kept));
        }
    }
}
