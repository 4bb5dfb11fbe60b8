//! Choosing the slot for one request.
//!
//! In: a request and what its submitter may still take. Out: a slot, or why there is none.
//! Formula source: `negotiation.md` §10, of which preemption is left out: slots in use are not offered.

use crate::eval::matching;
use crate::eval::scope::Settings;
use crate::negotiate::candidate::{RankKey, Tier};
use crate::negotiate::outcome::{Rejection, Tally};
use crate::negotiate::rules::Rules;
use crate::pool::Slot;
use crate::pool::address::Protocols;
use crate::priority::Session;
use crate::priority::session::Serve;
use crate::queue::request::Request;

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

/// The slots of a cycle that are still to be had, and the candidates found last.
#[derive(Debug)]
pub struct Offers<'c> {
    slots: &'c [Slot],
    rules: &'c Rules,
    settings: &'c Settings,
    /// Slots in the order in which they are looked at; taken ones are gone from `free`.
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
    pub fn new(slots: &'c [Slot], rules: &'c Rules, settings: &'c Settings) -> Self {
        let order: Vec<usize> = (0..slots.len()).filter(|&at| rules.trim.keeps(&slots[at], settings)).collect();
        let mut free = vec![false; slots.len()];
        for &at in &order {
            free[at] = true;
        }
        Self { slots, rules, settings, left: order.len(), order, free, found: None, largest_tie: 0 }
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

    /// The best slot for a request, by the candidates of its like if there are any left.
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

    /// Takes a slot out of the list, or puts it at the end if it stays to be had.
    pub fn take(&mut self, slot: usize) {
        if self.slots[slot].stays {
            self.order.retain(|&at| at != slot);
            self.order.push(slot);
        } else if std::mem::replace(&mut self.free[slot], false) {
            self.left -= 1;
        }
    }

    /// Looks at every slot.
    fn scan(&mut self, request: &Request, asking: &Asking<'_>, session: &Session) -> Found {
        let mut tally = Tally::default();
        let mut candidates = Vec::new();
        for &at in self.order.iter().filter(|&&at| self.free[at]) {
            tally.considered += 1;
            let slot = &self.slots[at];
            if let Some(tier) = self.test(slot, request, asking, session, &mut tally) {
                let key = self.rules.ranking.key(&slot.ad, &request.ad, tier, self.settings);
                candidates.push((key, Offer { slot: at, tier, cost: slot.weight }));
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

    /// Whether a slot will do, and whom it displaces; otherwise counts why not.
    fn test(
        &self,
        slot: &Slot,
        request: &Request,
        asking: &Asking<'_>,
        session: &Session,
        tally: &mut Tally,
    ) -> Option<Tier> {
        let elsewhere = slot.partitionable && slot.claimed_by.as_ref().is_some_and(|schedd| **schedd != *asking.schedd);
        if elsewhere || !slot.protocols.meet(asking.protocols) {
            tally.unreachable += 1;
            return None;
        }
        if !matching::accepts(&request.ad, &slot.ad, self.settings) {
            tally.refused_by_job += 1;
            return None;
        }
        if !matching::accepts(&slot.ad, &request.ad, self.settings) {
            tally.refused_by_slot += 1;
            return None;
        }
        let used = self.rules.trim.preemption && slot.user.is_some();
        if used || asking.serve != Serve::Any {
            tally.in_use += usize::from(used);
            return None;
        }
        if !session.permits_unclaimed(slot.weight) {
            tally.over_limit += 1;
            return None;
        }
        Some(Tier::None)
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

/// The reason, the first that applies.
fn rejection(tally: &Tally) -> Rejection {
    if tally.over_limit > 0 { Rejection::SubmitterLimit } else { Rejection::NoMatch }
}
