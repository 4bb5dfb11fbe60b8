//! The choice of a slot for one request.
//!
//! In: a request and the rest of its submitter's turn. Out: a slot, or the reason why there is none.
//! One file: the reference matcher, to be read from top to bottom.
//! Formula source: `docs/reference/negotiation.md` 10.

mod room;

use std::collections::BTreeSet;
use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::accountant::AccountantLog;
use crate::introsort;
use crate::negotiate::candidate::{PreemptState, RankKey};
use crate::negotiate::concurrency::ConcurrencyLimits;
use crate::negotiate::outcome::{MAX_TIED, Rejection, Tally};
use crate::negotiate::preemption::PreemptionRefusal;
use crate::negotiate::rules::Rules;
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::ad_reader::AdReader;
use crate::pool::address::Protocols;
use crate::pool::consumption::Draw;
use crate::pool::{Slot, State};
use crate::priority::Session;
use crate::priority::session::Serve;
use crate::queue::request::Request;
use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching;
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::threads;

pub use room::{MadeRoom, VARIOUS};

/// Minimum number of slots per task of a thread.
const GRAIN: usize = 256;

/// The known matches of a request with slots, given by index: whether the request accepts the slot, and whether both accept
/// each other; `None` if that has to be evaluated.
pub type KnownMatches<'k> = dyn Fn(usize) -> Option<[bool; 2]> + Sync + 'k;

/// A search of a slot for a request.
#[derive(Clone, Copy)]
pub struct SlotSearch<'a> {
    /// The request.
    pub request: &'a Request,
    /// The rest of the turn.
    pub session: &'a Session,
    /// Number of the submitter.
    pub submitter: usize,
    /// Its name.
    pub name: &'a [u8],
    /// Name of its access point; empty if unknown.
    pub schedd: &'a [u8],
    /// The protocols that reach it.
    pub protocols: Protocols,
    /// The slots that the turn permits at this moment.
    pub serve: Serve,
    /// The matches that are known, if any are.
    pub known: Option<&'a KnownMatches<'a>>,
}

impl SlotSearch<'_> {
    /// Returns whether only slots that prefer the job to the one they run are permitted.
    pub(super) fn only_preferring(&self) -> bool {
        self.serve != Serve::Any
    }
}

/// A slot for a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// Index of the slot.
    pub slot: usize,
    /// The ground on which it takes the slot.
    pub preempt_state: PreemptState,
    /// Weight to be charged.
    pub cost: f64,
    /// True if dynamic slots carved from it are preempted first to make room.
    pub makes_room: bool,
}

impl Offer {
    /// Returns whether a candidate of an earlier search is still within the limits of the turn.
    pub(super) fn is_permitted(&self, session: &Session) -> bool {
        let preempts = self.preempt_state != PreemptState::None;
        (preempts && session.permits_preempting(self.cost)) || session.permits_unclaimed(self.cost)
    }
}

/// The reason why there is no slot, with the verdicts on all.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The reason.
    pub rejection: Rejection,
    /// The verdicts on slots, counted.
    pub tally: Tally,
    /// Concurrency limits that are reached, alphabetically.
    pub reached: Vec<String>,
    /// True if a concurrency limit rejected the request before any slot was evaluated.
    pub untested: bool,
}

impl Refusal {
    /// The rejection of a request for every slot, because a concurrency limit is reached.
    pub(super) fn untested(limit: &[u8]) -> Self {
        let reached = vec![String::from_utf8_lossy(limit).into_owned()];
        Self { rejection: Rejection::ConcurrencyLimit, tally: Tally::default(), reached, untested: true }
    }
}

/// The verdict on one slot.
enum SlotVerdict {
    Unreachable,
    RefusedByJob,
    RefusedBySlot,
    /// Its job may not be preempted.
    InUse(PreemptionRefusal),
    /// It is unclaimed, but the submitter has reached its limit.
    BeyondShare,
    OverLimit,
    /// A concurrency limit is reached.
    Limited(Vec<u8>),
    Suitable(RankKey, Offer),
    /// The verdict with these dynamic slots preempted, by number.
    WithRoom(Vec<usize>, Box<SlotVerdict>),
}

/// The slots of a cycle that are not taken yet, and the candidates found last.
#[derive(Debug)]
pub struct ScanMatcher<'c> {
    pub(super) slots: Vec<Slot>,
    /// The ranks of slots, if they last for the cycle; otherwise empty.
    ranks: Vec<RankKey>,
    rules: &'c Rules,
    pub(super) settings: &'c EvalOptions,
    /// Slots in the order of evaluation; those that are not free are skipped.
    pub(super) order: Vec<usize>,
    free: Vec<bool>,
    left: usize,
    pub(super) found: Option<ScannedCandidates>,
    largest_tie: usize,
    concurrency: ConcurrencyLimits,
    /// Slots by name, if dynamic ones may be preempted to make room; otherwise empty.
    named: HashMap<Box<[u8]>, usize>,
    /// Dynamic slots that cannot be preempted any more, by the slot they were carved from: all that a request could
    /// have preempted, matched or not, because `condor_negotiator` drops their claims when it evaluates the slot.
    given_up: HashMap<usize, HashSet<usize>>,
    /// Slots with a consumption policy in which room was made, as they were before: `condor_negotiator` takes the room
    /// away again, and with it what matches took, when it forgets the candidates.
    enlarged: Vec<(usize, Slot)>,
    /// Number of claims handed out of slots that stay in the list after a match.
    handed_out: HashMap<usize, usize>,
    /// True if equal candidates are ordered as by `condor_negotiator`, and not by the order of the slots.
    exact_ties: bool,
}

/// The concurrency limits a request falls under.
pub(super) enum Limited {
    /// The same for every slot, in lower case; `None` if there are none.
    Everywhere(Option<Vec<u8>>),
    /// The value of an expression that depends on the slot.
    BySlot,
}

/// An offer with its rank.
pub(super) type RankedOffer = (RankKey, Offer);

/// The sorted candidates of a scan, kept for the next job of the same request.
#[derive(Debug)]
pub(super) struct ScannedCandidates {
    autocluster: u32,
    pub(super) submitter: usize,
    pub(super) serve: Serve,
    /// Best last.
    pub(super) candidates: Vec<RankedOffer>,
    pub(super) tally: Tally,
    /// True if a slot was over the limit when the candidates were searched.
    pub(super) passed_over: bool,
    /// Number of slots that a concurrency limit excluded when the candidates were searched.
    limited: usize,
    /// The dynamic slots to preempt, by the slot in which room is made.
    rooms: HashMap<usize, Vec<usize>>,
    reached: BTreeSet<Vec<u8>>,
    /// Those reached when the last offer was sought: by the search, or by a choice among what it found.
    last_reached: BTreeSet<Vec<u8>>,
}

impl<'c> ScanMatcher<'c> {
    /// A matcher over the slots that are not left out of matchmaking. They are evaluated in their order; with
    /// `NEGOTIATOR_IGNORE_JOB_RANKS`, which gives each slot a rank for the whole cycle, the best rank first.
    pub fn new(mut slots: Vec<Slot>, ranks: Vec<RankKey>, rules: &'c Rules, settings: &'c EvalOptions) -> Self {
        let mut order: Vec<usize> = (0..slots.len()).filter(|&at| rules.trim.keeps(&slots[at], settings)).collect();
        for &at in &order {
            if let Some(clock) = rules.trim.moved_clock(&slots[at], settings) {
                slots[at].ad.insert("CurrentTime", clock);
            }
        }
        if !ranks.is_empty() {
            order.sort_by(|&a, &b| ranks[b].compare(&ranks[a]));
        }
        let mut concurrency = rules.concurrency.clone();
        for slot in &slots {
            let facts = AdReader::of(&slot.ad, settings);
            for held in ["ConcurrencyLimits", "PreemptingConcurrencyLimits"].iter().filter_map(|&by| facts.string(by)) {
                concurrency.hold(&held.to_ascii_lowercase());
            }
        }
        let mut free = vec![false; slots.len()];
        for &at in &order {
            free[at] = true;
        }
        let named = if rules.makes_room() { room::by_name(&slots) } else { HashMap::new() };
        let (left, given_up, handed_out) = (order.len(), HashMap::new(), HashMap::new());
        Self {
            slots,
            ranks,
            rules,
            settings,
            order,
            free,
            left,
            found: None,
            largest_tie: 0,
            concurrency,
            named,
            given_up,
            enlarged: Vec::new(),
            handed_out,
            exact_ties: false,
        }
    }

    /// Orders equal candidates as by `condor_negotiator`.
    #[must_use]
    pub fn with_exact_ties(mut self) -> Self {
        self.exact_ties = true;
        self
    }

    /// Adds the concurrency limits of slots that are matched but not claimed yet, which only the accountant's log has.
    #[must_use]
    pub fn with_books(mut self, log: &AccountantLog) -> Self {
        for slot in self.slots.iter().filter(|slot| slot.state == State::Matched) {
            let address = AdReader::of(&slot.ad, self.settings).string("StartdIpAddr").unwrap_or_else(|| "".into());
            let key = [b"Resource.", &*slot.name, b"@", &*address].concat();
            if let Some(held) = log.get(&key).and_then(|record| record.string("MatchedConcurrencyLimits")) {
                self.concurrency.hold(&held.to_ascii_lowercase());
            }
        }
        self
    }

    /// The first concurrency limit, in a string in lower case, that is reached.
    pub(super) fn reached(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.concurrency.reached(text).map(<[u8]>::to_vec)
    }

    /// Returns whether candidates may be used for another job of the request that they were found for.
    pub(super) fn keeps(&self, found: &ScannedCandidates, search: &SlotSearch<'_>) -> bool {
        self.rules.knobs.matching.match_list_caching
            && (found.autocluster, found.submitter, found.serve)
                == (search.request.autocluster, search.submitter, search.serve)
            && self.still_holds(found, search.request)
    }
}

impl SlotMatcher for ScanMatcher<'_> {
    fn needs_ad(&self, _: u32) -> bool {
        true
    }

    fn slot(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    fn into_slots(self: Box<Self>) -> Vec<Slot> {
        self.slots
    }

    fn left(&self) -> usize {
        self.left
    }

    fn largest_tie(&self) -> usize {
        self.largest_tie
    }

    fn is_feasible(&self, _: u32, ad: &dyn Fn() -> ClassAd) -> bool {
        let ad = ad();
        threads::any(&self.slots, |slot| matching::symmetric(&ad, &slot.ad, self.settings))
    }

    fn forget(&mut self) {
        self.found = None;
        self.take_room_away();
        let free = &self.free;
        self.order.retain(|&at| free[at]);
    }

    fn drop_candidates(&mut self) {
        self.found = None;
    }

    fn best(&mut self, search: &SlotSearch<'_>) -> Result<Offer, Refusal> {
        let request = search.request;
        let limited = self.limited(&request.ad);
        if let Limited::Everywhere(Some(text)) = &limited
            && let Some(name) = self.concurrency.reached(text)
        {
            return Err(Refusal::untested(name));
        }
        loop {
            let kept = self.found.take().filter(|found| self.keeps(found, search));
            let (found, offer) = if let Some(mut found) = kept {
                let offer = self.pop(&mut found, search, &limited);
                (found, offer)
            } else {
                let mut found = self.scan(search, &limited, &self.free_among(&self.order));
                found.last_reached.clone_from(&found.reached);
                let offer = found.candidates.pop().map(|(_, offer)| offer);
                (found, offer)
            };
            if offer.is_some_and(|offer| self.is_bad(&offer)) {
                self.found = Some(found);
                continue;
            }
            let answer = offer.ok_or_else(|| {
                let names = if found.last_reached.is_empty() { &found.reached } else { &found.last_reached };
                let over_concurrency_limit = found.limited;
                Refusal {
                    rejection: rejection(&Tally { over_concurrency_limit, ..found.tally }),
                    tally: found.tally,
                    reached: in_text(names),
                    untested: false,
                }
            });
            self.found = Some(found);
            return answer;
        }
    }

    fn last_reached(&self) -> Vec<String> {
        self.found.as_ref().map_or_else(Vec::new, |found| in_text(&found.last_reached))
    }

    fn passed_over(&mut self, submitter: usize) -> bool {
        self.found.as_ref().is_some_and(|found| found.submitter == submitter && found.passed_over)
    }

    fn of_slot(&self, at: usize, search: &SlotSearch<'_>) -> Result<Offer, Tally> {
        if !self.free.get(at).copied().unwrap_or(false) {
            return Err(Tally::default());
        }
        let limited = self.limited(&search.request.ad);
        let reached = match &limited {
            Limited::Everywhere(Some(text)) => self.concurrency.reached(text),
            _ => None,
        };
        // The rank is not needed.
        let offer = match reached {
            Some(name) => Err(SlotVerdict::Limited(name.to_vec())),
            None => self.fit(at, search, &limited),
        };
        match offer {
            Ok(offer) if offer.preempt_state == PreemptState::None => Ok(offer),
            Ok(_) => Err(Tally { considered: 1, ..Tally::default() }),
            Err(refused) => {
                let mut found = ScannedCandidates::new(search);
                found.tally.considered = 1;
                found.note(at, refused);
                Err(found.tally)
            }
        }
    }

    fn make_room(&mut self, offer: &Offer) -> Option<MadeRoom> {
        self.found.as_ref().and_then(|found| self.room_in(found, offer))
    }

    fn take(&mut self, offer: &Offer, request: &Request, room: Option<&MadeRoom>) -> Option<Vec<u8>> {
        let held = self.limits_of(offer, request, room);
        let again = self.take_under(offer, request, held.as_deref(), room);
        if let (Some(found), Some(again)) = (&mut self.found, again) {
            found.offer_again(again);
        }
        held
    }
}

impl ScanMatcher<'_> {
    /// The concurrency limits of a request with this ad, if they are known without a slot.
    pub(super) fn limited(&self, ad: &ClassAd) -> Limited {
        if !ad.contains("ConcurrencyLimits") {
            return Limited::Everywhere(None);
        }
        match AdReader::of(ad, self.settings).string("ConcurrencyLimits") {
            Some(text) => Limited::Everywhere(Some(text.to_ascii_lowercase())),
            None => Limited::BySlot,
        }
    }

    /// The ad of the slot of an offer, with the room that is made for it.
    pub(super) fn ad_with<'a>(&'a self, offer: &Offer, room: Option<&'a MadeRoom>) -> &'a ClassAd {
        room.map_or(&self.slots[offer.slot].ad, |room| &room.ad)
    }

    /// The concurrency limits of a request in a slot with this ad, in lower case.
    pub(super) fn limits_in(&self, slot: &ClassAd, request: &Request) -> Option<Vec<u8>> {
        Slot::limits_in(slot, &request.ad, self.settings).map(|text| text.to_ascii_lowercase())
    }

    /// The concurrency limits that the match of an offer holds, in lower case.
    pub(super) fn limits_of(&self, offer: &Offer, request: &Request, room: Option<&MadeRoom>) -> Option<Vec<u8>> {
        if self.slots[offer.slot].is_unlimited_for(&request.ad) {
            return None;
        }
        self.limits_in(self.ad_with(offer, room), request)
    }

    /// Returns whether an offer is a bad match, because its slot has no claim left. Then the slot leaves the list, and
    /// the next best is looked for.
    pub(super) fn is_bad(&mut self, offer: &Offer) -> bool {
        let is_bad = self.has_no_claim_left(offer.slot);
        if is_bad {
            self.free[offer.slot] = false;
            self.left -= 1;
        }
        is_bad
    }

    /// The room that is made for an offer among these candidates.
    pub(super) fn room_in(&self, found: &ScannedCandidates, offer: &Offer) -> Option<MadeRoom> {
        let room = found.rooms.get(&offer.slot)?;
        Some(MadeRoom::new(&self.slots[offer.slot].ad, room, self.settings))
    }

    /// Returns whether a slot has handed out all claims that its ad lists, which may be none. False if the ad has no list.
    fn has_no_claim_left(&self, at: usize) -> bool {
        let slot = &self.slots[at];
        let handed_out = self.handed_out.get(&at).copied().unwrap_or(0);
        let spent = slot.claims(self.settings).is_some_and(|claims| handed_out >= claims);
        spent && !slot.is_without_claim(self.settings)
    }

    /// The first concurrency limit of a request in a slot that is reached; `None` if there is none, or if limits do not
    /// depend on the slot.
    fn reached_in(&self, slot: &ClassAd, request: &Request, limited: &Limited) -> Option<Vec<u8>> {
        let Limited::BySlot = limited else { return None };
        let text = self.limits_in(slot, request)?;
        self.concurrency.reached(&text).map(<[u8]>::to_vec)
    }

    /// Returns whether the best of the candidates found last is still valid. Preemption expressions that are not
    /// declared stable in the configuration are evaluated again.
    fn still_holds(&self, found: &ScannedCandidates, request: &Request) -> bool {
        let knobs = &self.rules.knobs.matching;
        if knobs.preemption_requirements_stable && knobs.preemption_rank_stable {
            return true;
        }
        // Without candidates there is no rank to compare, and `cache_still_valid` in HTCondor's `matchmaker.cpp` keeps the list.
        let Some((key, offer)) = found.candidates.last() else { return knobs.preemption_requirements_stable };
        if offer.makes_room {
            return false;
        }
        let slot = &self.slots[offer.slot].ad;
        let required = knobs.preemption_requirements_stable
            || offer.preempt_state != PreemptState::Priority
            || self.rules.preemption.is_required(slot, &request.ad, self.settings);
        let ranked = knobs.preemption_rank_stable
            || self
                .rules
                .ranking
                .preemption_of(slot, &request.ad, offer.preempt_state, self.settings)
                .total_cmp(&key.preemption)
                .is_eq();
        required && ranked
    }

    /// Takes the offer of a request under these concurrency limits, with the room that was made for it. A slot that is
    /// not used up is a candidate again if it still fits.
    pub(super) fn take_under(
        &mut self,
        offer: &Offer,
        request: &Request,
        held: Option<&[u8]>,
        room: Option<&MadeRoom>,
    ) -> Option<RankedOffer> {
        self.concurrency.hold(held.unwrap_or_default());
        let slot = &mut self.slots[offer.slot];
        if slot.consumption.is_some() || slot.stays {
            *self.handed_out.entry(offer.slot).or_insert(0) += 1;
            slot.restore_requirements();
        }
        if let Some(room) = room.filter(|_| slot.consumption.is_some()) {
            self.enlarged.push((offer.slot, slot.clone()));
            slot.ad = room.ad.clone();
            slot.user = Some(VARIOUS.into());
            slot.restore_requirements();
        }
        if let Some(consumption) = &slot.consumption {
            let amounts = consumption.amounts(&slot.ad, &request.ad, self.settings);
            slot.deduct(&amounts, &self.rules.weighing, self.settings);
            return self.rest(offer.slot, request);
        }
        if slot.stays {
            self.order.retain(|&at| at != offer.slot);
            self.order.push(offer.slot);
        } else if std::mem::replace(&mut self.free[offer.slot], false) {
            self.left -= 1;
        }
        None
    }

    /// Makes slots in which room was made what they were before.
    fn take_room_away(&mut self) {
        for (at, slot) in self.enlarged.drain(..).rev() {
            self.slots[at] = slot;
        }
    }

    /// The rest of a slot with a consumption policy, if it still fits the request.
    fn rest(&self, at: usize, request: &Request) -> Option<RankedOffer> {
        let slot = &self.slots[at];
        let draw = draw(slot, request, self.settings)?;
        if !matching::symmetric(&draw.request, &slot.ad, self.settings) {
            return None;
        }
        let key = self.key(at, &slot.ad, &request.ad, PreemptState::None);
        let cost = cost(slot, Some(&draw), self.settings);
        Some((key, Offer { slot: at, preempt_state: PreemptState::None, cost, makes_room: false }))
    }

    /// Those of some slots that are free.
    pub(super) fn free_among(&self, slots: &[usize]) -> Vec<usize> {
        slots.iter().copied().filter(|&at| self.free[at]).collect()
    }

    /// Evaluates free slots.
    pub(super) fn scan(&mut self, search: &SlotSearch<'_>, limited: &Limited, free: &[usize]) -> ScannedCandidates {
        self.take_room_away();
        let ignore_jobs = self.rules.ranking.ignore_jobs;
        let scan_part = |part: Range<usize>| {
            let (mut found, mut weight) = (ScannedCandidates::new(search), 0.0);
            for &at in &free[part] {
                found.tally.considered += 1;
                let suitable = found.candidates.len();
                found.note(at, self.test(at, search, limited));
                // If ranks do not depend on the job, the slots come best first, and the search ends when the limit is
                // exceeded. Only a suitable slot ends it: even with a negative limit, one is found.
                if ignore_jobs && found.candidates.len() > suitable {
                    weight += AdReader::of(&self.slots[at].ad, self.settings).number("SlotWeight").unwrap_or(1.0);
                    if weight > search.session.limit() {
                        break;
                    }
                }
            }
            found
        };
        let least = if ignore_jobs { free.len() } else { GRAIN };
        let mut parts = threads::map_parts(free.len(), least, scan_part).into_iter();
        let mut found = parts.next().unwrap_or_else(|| ScannedCandidates::new(search));
        parts.for_each(|part| found.join(part));
        for (at, room) in &found.rooms {
            self.given_up.entry(*at).or_default().extend(room);
        }
        found.tally.suitable = found.candidates.len();
        found.passed_over = found.tally.over_limit > 0;
        found.limited = found.tally.over_concurrency_limit;
        // Without a match list `condor_negotiator` does not sort: the first of the best wins.
        if self.exact_ties && self.rules.knobs.matching.match_list_caching {
            introsort::sort(&mut found.candidates, |(a, _), (b, _)| a.compare(b).is_gt());
        } else {
            found.candidates.sort_by(|(a, _), (b, _)| b.compare(a));
        }
        // Candidates are popped from the end.
        found.candidates.reverse();
        let ties = found.candidates.chunk_by(|(a, _), (b, _)| a.compare(b).is_eq()).map(<[_]>::len);
        self.largest_tie = self.largest_tie.max(ties.max().unwrap_or(0)).min(MAX_TIED);
        found
    }

    /// The verdict on a slot, with the rank of its offer if it is suitable.
    fn test(&self, at: usize, search: &SlotSearch<'_>, limited: &Limited) -> SlotVerdict {
        self.ranked(at, &self.slots[at].ad, self.fit(at, search, limited), search.request)
    }

    /// The offer of a suitable slot.
    ///
    /// # Errors
    /// The verdict on a slot that is not suitable, or is suitable only with room made in it.
    fn fit(&self, at: usize, search: &SlotSearch<'_>, limited: &Limited) -> Result<Offer, SlotVerdict> {
        let slot = &self.slots[at];
        if slot.is_elsewhere(search.schedd) || !slot.protocols.meet(search.protocols) || self.is_reached_through(slot) {
            return Err(SlotVerdict::Unreachable);
        }
        let draw = match self.accepted(at, search) {
            Ok(draw) => draw,
            Err(refused) => return Err(self.with_room(at, search, limited).unwrap_or(refused)),
        };
        let preempt_state = self.displacing(slot, search)?;
        let cost = cost(slot, draw.as_ref(), self.settings);
        let offer = Offer { slot: at, preempt_state, cost, makes_room: false };
        self.permitted(offer, &slot.ad, search, limited)
    }

    /// The rank of a slot with this ad. A slot that is the only one is not compared with any, and its ranks are not evaluated.
    fn key(&self, at: usize, slot: &ClassAd, request: &ClassAd, preempt_state: PreemptState) -> RankKey {
        let Rules { ranking, .. } = self.rules;
        if let Some(rank) = self.ranks.get(at) {
            return RankKey { preempt_state, ..*rank };
        }
        if self.slots.len() > 1 {
            return ranking.key(slot, request, preempt_state, self.settings);
        }
        let preemption = ranking.preemption_of(slot, request, preempt_state, self.settings);
        RankKey { before_job: 0.0, job: 0.0, after_job: 0.0, preempt_state, preemption }
    }

    /// A verdict with the rank of the offer, if there is one.
    fn ranked(&self, at: usize, slot: &ClassAd, offer: Result<Offer, SlotVerdict>, request: &Request) -> SlotVerdict {
        match offer {
            Ok(offer) => SlotVerdict::Suitable(self.key(at, slot, &request.ad, offer.preempt_state), offer),
            Err(verdict) => verdict,
        }
    }

    /// The offer of a slot with this ad that fits, if it is permitted.
    fn permitted(
        &self,
        offer: Offer,
        slot: &ClassAd,
        search: &SlotSearch<'_>,
        limited: &Limited,
    ) -> Result<Offer, SlotVerdict> {
        let session = search.session;
        let permitted = match offer.preempt_state {
            PreemptState::None => session.permits_unclaimed(offer.cost),
            PreemptState::Priority => session.permits_preempting(offer.cost),
            PreemptState::Rank => true,
        };
        if !permitted {
            return Err(SlotVerdict::OverLimit);
        }
        match self.reached_in(slot, search.request, limited) {
            Some(name) => Err(SlotVerdict::Limited(name)),
            None => Ok(offer),
        }
    }

    /// The resources that the request would draw from a slot with a consumption policy, if both accept each other.
    ///
    /// # Errors
    /// The verdict of the side that rejects the other.
    fn accepted(&self, at: usize, search: &SlotSearch<'_>) -> Result<Option<Draw>, SlotVerdict> {
        let (slot, request) = (&self.slots[at], search.request);
        let draw = draw(slot, request, self.settings);
        if slot.consumption.is_some() && draw.is_none() {
            return Err(SlotVerdict::RefusedBySlot);
        }
        // The threads of `condor_negotiator` test all slots before it looks at their consumption policies.
        let of_policy = draw.as_ref().filter(|_| !self.rules.knobs.matching.threads);
        let asked = of_policy.map_or(&request.ad, |draw| &draw.request);
        let known = search.known.and_then(|known| known(at));
        if !known.map_or_else(|| matching::accepts(asked, &slot.ad, self.settings), |[by_job, _]| by_job) {
            return Err(SlotVerdict::RefusedByJob);
        }
        if !known.map_or_else(|| matching::accepts(&slot.ad, asked, self.settings), |[_, both]| both) {
            return Err(SlotVerdict::RefusedBySlot);
        }
        Ok(draw)
    }

    /// The preemption that a match with a slot would take.
    ///
    /// # Errors
    /// The reason its job may not be preempted, or that an unclaimed slot is beyond the share of the submitter.
    fn displacing(&self, slot: &Slot, search: &SlotSearch<'_>) -> Result<PreemptState, SlotVerdict> {
        let only_preferring = search.only_preferring();
        match slot.user.as_deref().filter(|_| self.rules.trim.preemption) {
            Some(user) => {
                let users = (user, search.name);
                let preemption = &self.rules.preemption;
                let ground = preemption.verdict(&slot.ad, &search.request.ad, users, only_preferring, self.settings);
                ground.map_err(SlotVerdict::InUse)
            }
            None if only_preferring => Err(SlotVerdict::BeyondShare),
            None => Ok(PreemptState::None),
        }
    }

    /// The best candidate that is free and permitted; those passed over are removed.
    fn pop(&self, found: &mut ScannedCandidates, search: &SlotSearch<'_>, limited: &Limited) -> Option<Offer> {
        found.last_reached.clear();
        let session = search.session;
        while let Some((_, offer)) = found.candidates.pop() {
            if !self.free[offer.slot] {
                continue;
            }
            let room = if offer.makes_room { self.room_in(found, &offer) } else { None };
            if let Some(name) = self.reached_in(self.ad_with(&offer, room.as_ref()), search.request, limited) {
                // Not a reason for a rejection: as in `condor_negotiator`, reasons come from the search, except for the
                // submitter limit.
                found.tally.over_concurrency_limit += 1;
                found.last_reached.insert(name);
            } else if offer.is_permitted(session) {
                return Some(offer);
            } else {
                found.tally.over_limit += 1;
            }
        }
        None
    }
}

impl ScannedCandidates {
    pub(super) fn new(search: &SlotSearch<'_>) -> Self {
        let SlotSearch { request: Request { autocluster, .. }, submitter, serve, .. } = *search;
        Self {
            autocluster: *autocluster,
            submitter,
            serve,
            candidates: Vec::new(),
            tally: Tally::default(),
            passed_over: false,
            limited: 0,
            rooms: HashMap::new(),
            reached: BTreeSet::new(),
            last_reached: BTreeSet::new(),
        }
    }

    /// Puts a slot that is not used up back among the candidates.
    pub(super) fn offer_again(&mut self, again: RankedOffer) {
        // The same place as in `condor_negotiator`: the candidates are popped from the end, and the slot goes before
        // those at the end that are worse than it.
        let worse = self.candidates.iter().rev().take_while(|(other, _)| other.compare(&again.0).is_lt()).count();
        self.candidates.insert(self.candidates.len() - worse, again);
    }

    /// Adds what was found among other slots.
    fn join(&mut self, other: Self) {
        self.candidates.extend(other.candidates);
        self.tally += other.tally;
        self.rooms.extend(other.rooms);
        self.reached.extend(other.reached);
    }

    /// Counts the verdict on a slot, and keeps it if it is suitable.
    fn note(&mut self, at: usize, verdict: SlotVerdict) {
        let tally = &mut self.tally;
        match verdict {
            SlotVerdict::Unreachable => tally.unreachable += 1,
            SlotVerdict::RefusedByJob => tally.refused_by_job += 1,
            SlotVerdict::RefusedBySlot => tally.refused_by_slot += 1,
            SlotVerdict::InUse(refusal) => *refusal.count_in(tally) += 1,
            SlotVerdict::BeyondShare => tally.beyond_share += 1,
            SlotVerdict::OverLimit => tally.over_limit += 1,
            SlotVerdict::Limited(name) => {
                tally.over_concurrency_limit += 1;
                self.reached.insert(name);
            }
            SlotVerdict::Suitable(key, offer) => self.candidates.push((key, offer)),
            SlotVerdict::WithRoom(room, verdict) => {
                self.rooms.insert(at, room);
                self.note(at, *verdict);
            }
        }
    }
}

/// The names of concurrency limits, as text.
fn in_text(limits: &BTreeSet<Vec<u8>>) -> Vec<String> {
    limits.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// The resources that a request draws from a slot by its consumption policy; `None` without a policy, or if the slot
/// does not have enough.
fn draw(slot: &Slot, request: &Request, settings: &EvalOptions) -> Option<Draw> {
    slot.consumption.as_ref()?.draw(&slot.ad, &request.ad, settings)
}

fn cost(slot: &Slot, draw: Option<&Draw>, settings: &EvalOptions) -> f64 {
    match (&slot.consumption, draw) {
        (Some(consumption), Some(draw)) => consumption.cost(&slot.ad, &draw.amounts, settings),
        _ => slot.weight,
    }
}

/// The reason of a rejection: the first that applies (`docs/reference/negotiation.md` 11.5).
pub(super) fn rejection(tally: &Tally) -> Rejection {
    if tally.over_concurrency_limit > 0 {
        Rejection::ConcurrencyLimit
    } else if tally.preemption_not_required > 0 {
        Rejection::PreemptionRequirements
    } else if tally.over_limit > 0 {
        Rejection::SubmitterLimit
    } else {
        Rejection::NoMatch
    }
}
