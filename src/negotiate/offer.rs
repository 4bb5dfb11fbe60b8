//! Choosing the slot for one request.
//!
//! In: a request and what its submitter may still take. Out: a slot, or why there is none.
//! Formula source: `negotiation.md` §10, of which preemption is left out: slots in use are not offered.

use rayon::prelude::*;

use crate::eval::matching;
use crate::eval::scope::Settings;
use crate::negotiate::candidate::{RankKey, Tier};
use crate::negotiate::outcome::{Rejection, Tally};
use crate::negotiate::rules::Rules;
use crate::pool::Slot;
use crate::pool::address::Protocols;
use crate::pool::consumption::Draw;
use crate::priority::Session;
use crate::priority::session::Serve;
use crate::queue::request::Request;

/// Slots a thread looks at before another one helps.
const GRAIN: usize = 256;

/// Who asks for a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asking<'a> {
    /// Number of the submitter.
    pub submitter: usize,
    /// Name of its access point; empty if unknown.
    pub schedd: &'a [u8],
    /// How that can be reached.
    pub protocols: Protocols,
    /// What the turn allows at this moment.
    pub serve: Serve,
}

/// A slot for a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// Index of the slot.
    pub slot: usize,
    /// Whom it displaces.
    pub tier: Tier,
    /// Weight to be charged.
    pub cost: f64,
}

/// Why there is none, and what became of the slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refusal {
    /// The reason.
    pub rejection: Rejection,
    /// What became of the slots.
    pub tally: Tally,
}

/// What became of one slot.
enum Verdict {
    Unreachable,
    RefusedByJob,
    RefusedBySlot,
    InUse,
    /// Nobody uses it, but the submitter has its share.
    BeyondShare,
    OverLimit,
    Suitable(RankKey, Offer),
}

/// The slots of a cycle that are still to be had, and the candidates found last.
#[derive(Debug)]
pub struct Offers<'c> {
    slots: Vec<Slot>,
    rules: &'c Rules,
    settings: &'c Settings,
    /// Slots in the order in which they are looked at; those that are not free are skipped.
    order: Vec<usize>,
    free: Vec<bool>,
    left: usize,
    found: Option<Found>,
    largest_tie: usize,
}

/// The sorted candidates of a full scan, kept for the next job of the same request.
#[derive(Debug)]
struct Found {
    autocluster: u32,
    submitter: usize,
    serve: Serve,
    /// Best last.
    candidates: Vec<(RankKey, Offer)>,
    tally: Tally,
}

impl<'c> Offers<'c> {
    /// The slots that are looked at, in their order.
    pub fn new(slots: Vec<Slot>, rules: &'c Rules, settings: &'c Settings) -> Self {
        let order: Vec<usize> = (0..slots.len()).filter(|&at| rules.trim.keeps(&slots[at], settings)).collect();
        let mut free = vec![false; slots.len()];
        for &at in &order {
            free[at] = true;
        }
        Self { slots, rules, settings, left: order.len(), order, free, found: None, largest_tie: 0 }
    }

    /// A slot as it is now.
    pub fn slot(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    /// How many slots are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Most candidates that were equal on every key in one scan.
    pub fn largest_tie(&self) -> usize {
        self.largest_tie
    }

    /// Forgets the candidates found last; at the beginning of a pass over the submitters.
    pub fn forget(&mut self) {
        self.found = None;
        let free = &self.free;
        self.order.retain(|&at| free[at]);
    }

    /// The best slot for a request, from the candidates of its like if there are any left.
    ///
    /// # Errors
    /// Why no slot will do.
    pub fn best(&mut self, request: &Request, asking: &Asking<'_>, session: &Session) -> Result<Offer, Refusal> {
        let kept = self.found.take().filter(|found| {
            self.rules.knobs.matching.match_list_caching
                && (found.autocluster, found.submitter, found.serve)
                    == (request.autocluster, asking.submitter, asking.serve)
        });
        let mut found = kept.unwrap_or_else(|| self.scan(request, asking, session));
        let offer = self.pop(&mut found, session);
        let refusal = Refusal { rejection: rejection(&found.tally), tally: found.tally };
        self.found = Some(found);
        offer.ok_or(refusal)
    }

    /// Takes what a request was offered: the slot leaves the list, unless it stays to be had.
    pub fn take(&mut self, offer: &Offer, request: &Request) {
        let slot = &mut self.slots[offer.slot];
        if let Some(draw) = draw(slot, request, self.settings) {
            slot.deduct(&draw, &self.rules.weighing, self.settings);
            self.offer_again(offer.slot, request);
        } else if slot.stays {
            self.order.retain(|&at| at != offer.slot);
            self.order.push(offer.slot);
        } else if std::mem::replace(&mut self.free[offer.slot], false) {
            self.left -= 1;
        }
    }

    /// Puts a slot that is not used up back among the candidates, if it still fits.
    fn offer_again(&mut self, at: usize, request: &Request) {
        let slot = &self.slots[at];
        let (Some(draw), Some(found)) = (draw(slot, request, self.settings), &mut self.found) else { return };
        if !matching::symmetric(&draw.request, &slot.ad, self.settings) {
            return;
        }
        let key = self.rules.ranking.key(&slot.ad, &request.ad, Tier::None, self.settings);
        let cost = cost(slot, Some(&draw), self.settings);
        let place = found.candidates.partition_point(|(other, _)| other.compare(&key).is_lt());
        found.candidates.insert(place, (key, Offer { slot: at, tier: Tier::None, cost }));
    }

    /// Looks at every slot.
    fn scan(&mut self, request: &Request, asking: &Asking<'_>, session: &Session) -> Found {
        let free = self.order.par_iter().with_min_len(GRAIN).filter(|&&at| self.free[at]);
        let verdicts: Vec<Verdict> = free.map(|&at| self.test(at, request, asking, session)).collect();
        let mut tally = Tally { considered: verdicts.len(), ..Tally::default() };
        let mut candidates = Vec::new();
        for verdict in verdicts {
            match verdict {
                Verdict::Unreachable => tally.unreachable += 1,
                Verdict::RefusedByJob => tally.refused_by_job += 1,
                Verdict::RefusedBySlot => tally.refused_by_slot += 1,
                Verdict::InUse => tally.in_use += 1,
                Verdict::BeyondShare => tally.beyond_share += 1,
                Verdict::OverLimit => tally.over_limit += 1,
                Verdict::Suitable(key, offer) => candidates.push((key, offer)),
            }
        }
        tally.suitable = candidates.len();
        // Stable, so that ties go to the slot that comes first; then turned round to take from the end.
        candidates.sort_by(|(a, _), (b, _)| b.compare(a));
        candidates.reverse();
        let ties = candidates.chunk_by(|(a, _), (b, _)| a.compare(b).is_eq()).map(<[_]>::len);
        self.largest_tie = self.largest_tie.max(ties.max().unwrap_or(0));
        let Asking { submitter, serve, .. } = *asking;
        Found { autocluster: request.autocluster, submitter, serve, candidates, tally }
    }

    /// Whether a slot will do, and how good it is.
    fn test(&self, at: usize, request: &Request, asking: &Asking<'_>, session: &Session) -> Verdict {
        let slot = &self.slots[at];
        let elsewhere = slot.partitionable && slot.claimed_by.as_ref().is_some_and(|schedd| **schedd != *asking.schedd);
        if elsewhere || !slot.protocols.meet(asking.protocols) {
            return Verdict::Unreachable;
        }
        let draw = draw(slot, request, self.settings);
        if slot.consumption.is_some() && draw.is_none() {
            return Verdict::RefusedBySlot;
        }
        let asked = draw.as_ref().map_or(&request.ad, |draw| &draw.request);
        if !matching::accepts(asked, &slot.ad, self.settings) {
            return Verdict::RefusedByJob;
        }
        if !matching::accepts(&slot.ad, asked, self.settings) {
            return Verdict::RefusedBySlot;
        }
        if self.rules.trim.preemption && slot.user.is_some() {
            return Verdict::InUse;
        }
        if asking.serve != Serve::Any {
            return Verdict::BeyondShare;
        }
        let cost = cost(slot, draw.as_ref(), self.settings);
        if !session.permits_unclaimed(cost) {
            return Verdict::OverLimit;
        }
        let tier = Tier::None;
        let key = self.rules.ranking.key(&slot.ad, &request.ad, tier, self.settings);
        Verdict::Suitable(key, Offer { slot: at, tier, cost })
    }

    /// The best candidate that is still to be had and allowed; those passed over are gone.
    fn pop(&self, found: &mut Found, session: &Session) -> Option<Offer> {
        while let Some((_, offer)) = found.candidates.pop() {
            if !self.free[offer.slot] {
                continue;
            }
            if session.permits_unclaimed(offer.cost) {
                return Some(offer);
            }
            found.tally.over_limit += 1;
        }
        None
    }
}

/// What a request would take of a slot that says so.
fn draw(slot: &Slot, request: &Request, settings: &Settings) -> Option<Draw> {
    slot.consumption.as_ref()?.draw(&slot.ad, &request.ad, settings)
}

fn cost(slot: &Slot, draw: Option<&Draw>, settings: &Settings) -> f64 {
    match (&slot.consumption, draw) {
        (Some(consumption), Some(draw)) => consumption.cost(&slot.ad, draw, settings),
        _ => slot.weight,
    }
}

/// The reason, the first that applies.
fn rejection(tally: &Tally) -> Rejection {
    if tally.over_limit > 0 { Rejection::SubmitterLimit } else { Rejection::NoMatch }
}
