//! The candidates of a request: the unclaimed slots of its class, slots in use, and slots that are evaluated by themselves.
//!
//! In: the class of a request, and a search. Out: one offer after another, best first, and at last the counts of a rejection.
//! Slots of classes are many, and stay where they are, sorted by rank; those that are evaluated by themselves are listed for each
//! search, like all slots in [`ScanMatcher`], which takes over if a slot with a consumption policy was matched and is a candidate
//! again.

use std::cmp::Ordering;

use super::ClassMatcher;
use crate::negotiate::candidate::{PreemptState, RankKey};
use crate::negotiate::engine::class::{Candidate, SlotCounts};
use crate::negotiate::offer::{Limited, Offer, RankedOffer, Refusal, ScannedCandidates, SlotSearch, rejection};
use crate::negotiate::outcome::{MAX_TIED, Tally};
use crate::negotiate::slot_matcher::SlotMatcher;
use crate::pool::Slot;
use crate::priority::Session;
use crate::priority::session::Serve;

/// The candidates of a request.
#[derive(Debug)]
pub(super) struct CandidateList {
    pub(super) class: usize,
    /// Slots that are evaluated by themselves, with their counts.
    pub(super) listed: ScannedCandidates,
    /// The name of the submitter.
    pub(super) name: Vec<u8>,
    /// The state of the turn, and the numbers of slots that are left and were taken, at the time of the search.
    pub(super) session: Session,
    left: usize,
    pub(super) taken_before: usize,
    /// The place among the slots in use of the class where the search for the next offer begins.
    pub(super) next_in_use: usize,
    /// Number of offers of slots of classes: in use, and unclaimed.
    made_in_use: usize,
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
        self.sort_in_use(class);
        let state = &mut self.classes[class];
        state.begin_turn(reach);
        let mut found = CandidateList {
            class,
            listed: ScannedCandidates::new(search),
            name: search.name.to_vec(),
            session: *search.session,
            left,
            taken_before: self.rows.log.len(),
            next_in_use: state.first_in_use,
            made_in_use: 0,
            made: 0,
            begun: false,
            last: None,
            drawn: false,
            again: None,
        };
        let mut largest = self.largest_tie;
        if !search.only_preferring() {
            largest = state.largest_tie(&self.rows, search.session, largest);
        }
        largest = self.largest_tie_in_use(&found, largest);
        if !self.odd.is_empty() {
            // The concurrency limits of the request are not reached, or it would not have come here.
            found.listed = self.offers.scan(search, &Limited::Everywhere(None), &self.offers.free_among(&self.odd));
            for tied in found.listed.candidates.chunk_by(|a, b| a.0.compare(&b.0).is_eq()) {
                let tied = (&tied[0].0, tied.len());
                let (rows, table, session) = (&self.rows, &self.compiled.table, search.session);
                largest = match tied.0.preempt_state {
                    PreemptState::None => self.classes[class].tie_with(tied, rows, table, session, largest),
                    _ => self.tie_in_use_with(&found, tied, largest),
                };
            }
        }
        self.largest_tie = largest.min(MAX_TIED);
        found
    }

    pub(super) fn slot_of(&self, place: u32) -> &Slot {
        self.offers.slot(self.compiled.order[place as usize])
    }

    /// Compares two candidates: `Greater` if the first is offered first.
    fn compare(&self, a: &RankedOffer, b: &RankedOffer) -> Ordering {
        a.0.compare(&b.0).then_with(|| self.position[b.1.slot].cmp(&self.position[a.1.slot]))
    }

    /// The offer of an unclaimed slot of a class, with its rank if that is kept.
    fn unclaimed(&self, class: usize, (number, place, row): Candidate) -> (Option<RankKey>, Offer) {
        let order = &self.classes[class].verdict.order;
        let cost = self.rows.cost[row as usize];
        let offer = Offer {
            slot: self.compiled.order[place as usize],
            preempt_state: PreemptState::None,
            cost,
            makes_room: false,
        };
        (order.key_of_rank(order.rank_of(number)), offer)
    }

    /// The offer of a slot of a class.
    pub(super) fn offer(&self, place: u32, preempt_state: PreemptState) -> Offer {
        let cost = self.rows.cost[self.compiled.table.row_of[place as usize] as usize];
        Offer { slot: self.compiled.order[place as usize], preempt_state, cost, makes_room: false }
    }

    /// Takes the best candidate that is permitted; listed ones that are passed over are removed.
    pub(super) fn pop(&mut self, found: &mut CandidateList, session: &Session) -> Option<Offer> {
        let idle = if found.listed.serve == Serve::Any {
            self.classes[found.class].best(&mut self.rows, &self.compiled.table, session)
        } else {
            None
        };
        let idle = idle.map(|idle| self.unclaimed(found.class, idle));
        let first = !std::mem::replace(&mut found.begun, true);
        let in_use = self.best_in_use(found, session, first);
        let best = match (idle, in_use) {
            (Some((Some(key), offer)), Some(in_use)) if self.compare(&in_use, &(key, offer)).is_lt() => idle,
            (_, Some((key, offer))) => Some((Some(key), offer)),
            (_, None) => idle,
        };
        while let Some(listed) = found.listed.candidates.last().copied() {
            if let Some((Some(key), offer)) = best
                && self.compare(&listed, &(key, offer)).is_lt()
            {
                break;
            }
            found.listed.candidates.pop();
            // Slots that were suitable at the time of the search may be over the limit by now.
            if first || listed.1.is_permitted(session) {
                found.last = Some(listed);
                return Some(listed.1);
            }
            found.listed.tally.over_limit += 1;
        }
        let (key, offer) = best?;
        found.last = key.map(|key| (key, offer));
        if offer.preempt_state == PreemptState::None {
            found.made += 1;
        } else {
            found.next_in_use += 1;
            found.made_in_use += 1;
        }
        Some(offer)
    }

    /// The counts of slots at the time of the search and since, and the number of unclaimed slots of classes that were
    /// suitable then and are left.
    fn tally(&mut self, found: &CandidateList) -> (Tally, usize) {
        let mut in_use = self.tally_in_use(found);
        // Slots in use that were suitable were either offered or are over the limit by now.
        in_use.over_limit += in_use.suitable - found.made_in_use;
        let SlotCounts { unreachable, by_job, by_slot, idle } = self.classes[found.class].counts(&self.rows);
        let mut tally = found.listed.tally;
        tally += in_use;
        tally.considered = found.left;
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

    /// True if a slot was over the limit of the submitter when the candidates were searched.
    pub(super) fn has_passed_over(&mut self, found: &CandidateList) -> bool {
        let mut too_heavy = || {
            let idle = &self.classes[found.class].counts(&self.rows).idle;
            let costs = self.rows.costs.iter().zip(idle);
            found.listed.serve == Serve::Any
                && costs.filter(|(_, free)| **free > 0).any(|(cost, _)| !found.session.permits_unclaimed(*cost))
        };
        found.listed.passed_over || too_heavy() || self.tally_in_use(found).over_limit > 0
    }

    /// The candidates of a request, with the slots of its class among those that are listed.
    pub(super) fn all_listed(&mut self, mut found: CandidateList) -> ScannedCandidates {
        found.listed.passed_over = self.has_passed_over(&found);
        let session = found.session;
        while let Some(candidate) = self.best_in_use(&mut found, &session, true) {
            found.listed.candidates.push(candidate);
            found.next_in_use += 1;
            found.made_in_use += 1;
        }
        let (mut tally, _) = self.tally(&found);
        let CandidateList { class, mut listed, last, again, .. } = found;
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
        }
        listed.candidates.sort_by(|a, b| self.compare(a, b));
        listed.tally = tally;
        if let Some(again) = again {
            listed.offer_again(again);
        }
        listed
    }
}
