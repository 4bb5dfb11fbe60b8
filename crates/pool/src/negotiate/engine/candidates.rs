//! The candidates of a request: the unclaimed slots of its class, slots in use, and slots that are evaluated by themselves.
//!
//! In: the class of a request, and a search. Out: one offer after another, best first, and at last the counts of a rejection.
//! Unclaimed slots of classes are many, and stay where they are; the others are listed for each search, like all slots in
//! [`ScanMatcher`], which takes over if a slot with a consumption policy was matched and is a candidate again.

use std::cmp::Ordering;

use super::ClassMatcher;
use crate::negotiate::candidate::{PreemptState, RankKey};
use crate::negotiate::engine::class::SlotCounts;
use crate::negotiate::offer::{Limited, Offer, RankedOffer, Refusal, ScannedCandidates, SlotSearch, rejection};
use crate::negotiate::outcome::{MAX_TIED, Tally};
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use crate::priority::Session;
use crate::priority::session::Serve;
use classmate::internal::program::mask::Mask;

/// The candidates of a request.
#[derive(Debug)]
pub(super) struct CandidateList {
    pub(super) class: usize,
    /// The candidates that are not unclaimed slots of classes, and the counts of such slots.
    pub(super) listed: ScannedCandidates,
    /// The state of the turn, and the number of slots, at the time of the search.
    pub(super) session: Session,
    left: usize,
    /// Number of unclaimed slots of classes that were offered.
    made: usize,
    /// True after the first offer.
    begun: bool,
    /// The last offer, if its rank is known.
    last: Option<RankedOffer>,
    /// True if the last offer was of a slot with a consumption policy, and was taken.
    pub(super) drawn: bool,
    /// The rest of that slot, if it still fits.
    pub(super) again: Option<RankedOffer>,
}

impl ClassMatcher<'_> {
    /// Searches the candidates of a request.
    pub(super) fn scan(&mut self, class: usize, search: &SlotSearch<'_>) -> CandidateList {
        let (reach, left) = (self.reachable(search), self.offers.left());
        let mut listed = if self.odd.is_empty() {
            ScannedCandidates::new(search)
        } else {
            // The concurrency limits of the request are not reached, or it would not have come here.
            self.offers.scan(search, &Limited::Everywhere(None), self.offers.free_among(&self.odd))
        };
        self.scan_in_use(class, &mut listed, reach.as_ref(), search);
        listed.tally.suitable = listed.candidates.len();
        listed.passed_over = listed.tally.over_limit > 0;
        let state = &mut self.classes[class];
        state.begin_turn(reach);
        let mut largest = self.largest_tie;
        if !search.only_preferring() {
            largest = state.largest_tie(&self.rows, &self.compiled.table, search.session, largest);
        }
        for tied in listed.candidates.chunk_by(|a, b| a.0.compare(&b.0).is_eq()) {
            let tied = (&tied[0].0, tied.len());
            largest = state.tie_with(tied, &self.rows, &self.compiled.table, search.session, largest.max(tied.1));
        }
        self.largest_tie = largest.min(MAX_TIED);
        let (session, last, again) = (*search.session, None, None);
        CandidateList { class, listed, session, left, made: 0, begun: false, last, drawn: false, again }
    }

    /// Adds the candidates among slots of classes that are in use, and counts the others.
    fn scan_in_use(&self, class: usize, listed: &mut ScannedCandidates, reach: Option<&Mask>, search: &SlotSearch<'_>) {
        let class = &self.classes[class];
        let Some(verdict) = &class.verdict.preemption else { return };
        let (only_preferring, tally) = (search.only_preferring(), &mut listed.tally);
        for row in self.rows.in_use.rows() {
            let free = self.rows.free[row] as usize;
            if free == 0 || !class.verdict.both.contains(row) || reach.is_some_and(|reach| !reach.contains(row)) {
                continue;
            }
            let cost = self.rows.cost[row];
            let user = self.slot_of(self.compiled.table.slots(row as u32)[0]).user.as_deref().unwrap_or_default();
            let preempt_state = if verdict.prefers[row] {
                PreemptState::Rank
            } else if only_preferring {
                tally.beyond_share += free;
                continue;
            } else if user == search.name {
                tally.used_by_submitter += free;
                continue;
            } else if !verdict.required[row] {
                tally.preemption_not_required += free;
                continue;
            } else if !verdict.likes_as_well[row] {
                tally.prefers_its_job += free;
                continue;
            } else if !search.session.permits_preempting(cost) {
                tally.over_limit += free;
                continue;
            } else {
                PreemptState::Priority
            };
            for &place in self.compiled.table.slots(row as u32).iter().filter(|place| self.rows.is_free(**place)) {
                let preemption = f64::from_bits(verdict.preemption[row]);
                let key = class.verdict.order.key_of(row as u32, place, preempt_state, preemption);
                let slot = self.compiled.order[place as usize];
                listed.candidates.push((key, Offer { slot, preempt_state, cost, makes_room: false }));
            }
        }
        listed.candidates.sort_by(|a, b| self.compare(a, b));
    }

    fn slot_of(&self, place: u32) -> &Slot {
        self.offers.slot(self.compiled.order[place as usize])
    }

    /// Compares two candidates: `Greater` if the first is offered first.
    fn compare(&self, a: &RankedOffer, b: &RankedOffer) -> Ordering {
        a.0.compare(&b.0).then_with(|| self.position[b.1.slot].cmp(&self.position[a.1.slot]))
    }

    /// The offer of an unclaimed slot of a class, with its rank if that is kept.
    fn unclaimed(&self, class: usize, (rank, place): (u32, u32)) -> (Option<RankKey>, Offer) {
        let key = self.classes[class].verdict.order.keys.get(rank as usize).copied();
        let cost = self.rows.cost[self.compiled.table.row_of[place as usize] as usize];
        let slot = self.compiled.order[place as usize];
        (key, Offer { slot, preempt_state: PreemptState::None, cost, makes_room: false })
    }

    /// Takes the best candidate that is permitted; listed ones that are passed over are removed.
    pub(super) fn pop(&mut self, found: &mut CandidateList, session: &Session) -> Option<Offer> {
        let idle = if found.listed.serve == Serve::Any {
            self.classes[found.class].best(&mut self.rows, &self.compiled.table, session)
        } else {
            None
        };
        let idle = idle.map(|idle| self.unclaimed(found.class, idle));
        // Slots that were suitable at the time of the search may be over the limit by now.
        let first = !std::mem::replace(&mut found.begun, true);
        while let Some(best) = found.listed.candidates.last().copied() {
            if let Some((Some(key), offer)) = idle
                && self.compare(&best, &(key, offer)).is_lt()
            {
                break;
            }
            found.listed.candidates.pop();
            let Offer { preempt_state, cost, .. } = best.1;
            let preempts = preempt_state != PreemptState::None;
            if first || (preempts && session.permits_preempting(cost)) || session.permits_unclaimed(cost) {
                found.last = Some(best);
                return Some(best.1);
            }
            found.listed.tally.over_limit += 1;
        }
        let (key, offer) = idle?;
        found.last = key.map(|key| (key, offer));
        found.made += 1;
        Some(offer)
    }

    /// The counts of slots at the time of the search and since, and the number of unclaimed slots of classes that were
    /// suitable then and are left.
    fn tally(&mut self, found: &CandidateList) -> (Tally, usize) {
        let SlotCounts { unreachable, by_job, by_slot, idle } = self.classes[found.class].counts(&self.rows);
        let mut tally = Tally { considered: found.left, ..found.listed.tally };
        tally.unreachable += unreachable;
        tally.refused_by_job += by_job;
        tally.refused_by_slot += by_slot;
        if found.listed.serve != Serve::Any {
            tally.beyond_share += idle.iter().sum::<usize>();
            return (tally, 0);
        }
        let mut left = 0;
        for (cost, free) in self.rows.costs.iter().zip(idle) {
            if found.session.permits_unclaimed(*cost) {
                left += free;
            } else {
                tally.over_limit += free;
            }
        }
        // Slots that this request was given since were suitable, too.
        tally.suitable += found.made + left;
        (tally, left)
    }

    /// The reason why a request is rejected.
    pub(super) fn refusal(&mut self, found: &CandidateList) -> Refusal {
        let (mut tally, left) = self.tally(found);
        // By now every candidate was either offered or over the limit.
        tally.over_limit += left;
        Refusal { rejection: rejection(&tally), tally, reached: Vec::new(), untested: false }
    }

    /// The candidates of a request, with the unclaimed slots of its class among those that are listed.
    pub(super) fn all_listed(&mut self, found: CandidateList) -> ScannedCandidates {
        let (mut tally, _) = self.tally(&found);
        let CandidateList { class, mut listed, session, last, again, .. } = found;
        if listed.serve == Serve::Any {
            for left in self.classes[class].all_left(&self.rows, &self.compiled.table) {
                let (Some(key), offer) = self.unclaimed(class, left) else { continue };
                // Those that come before the last offer were over the limit when it was made.
                if last.is_some_and(|last| self.compare(&(key, offer), &last).is_gt()) {
                    tally.over_limit += usize::from(session.permits_unclaimed(offer.cost));
                } else if session.permits_unclaimed(offer.cost) {
                    listed.candidates.push((key, offer));
                }
            }
            listed.candidates.sort_by(|a, b| self.compare(a, b));
        }
        listed.tally = tally;
        if let Some(again) = again {
            listed.offer_again(again);
        }
        listed
    }
}
