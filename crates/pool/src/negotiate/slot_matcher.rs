//! The search of slots for requests: one interface, two matchers that must agree.

use crate::negotiate::offer::{MadeRoom, Offer, Refusal, SlotSearch};
use crate::negotiate::outcome::Tally;
use crate::pool::Slot;
use crate::queue::request::Request;
use classmate::internal::ad::ClassAd;

/// The slots of a cycle that are not taken yet.
pub trait SlotMatcher {
    /// Returns whether the ad of a request of this autocluster is needed; otherwise it may be empty.
    fn needs_ad(&self, autocluster: u32) -> bool;

    /// The best slot for a request, from the candidates of an equal request if any are left.
    ///
    /// # Errors
    /// The reason no slot is suitable.
    fn best(&mut self, search: &SlotSearch<'_>) -> Result<Offer, Refusal>;

    /// The concurrency limits that were reached in slots when the last offer was sought, alphabetically.
    fn last_reached(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether a slot was over the submitter limit when candidates were last searched in the turn of this
    /// submitter.
    fn passed_over(&mut self, submitter: usize) -> bool;

    /// The offer of one slot to a request, if it is free and suitable, and no job is preempted.
    ///
    /// # Errors
    /// The verdict on the slot, counted; no count if it is not free.
    fn of_slot(&self, at: usize, search: &SlotSearch<'_>) -> Result<Offer, Tally>;

    /// Takes the offer of a request, with the room that was made for it: the slot leaves the list, unless it stays
    /// offered. Returns the concurrency limits that are held from now on, in lower case.
    fn take(&mut self, offer: &Offer, request: &Request, room: Option<&MadeRoom>) -> Option<Vec<u8>>;

    /// Preempts the dynamic slots in the way of an offer that makes room.
    fn make_room(&mut self, _: &Offer) -> Option<MadeRoom> {
        None
    }

    /// A slot as it is now.
    fn slot(&self, at: usize) -> &Slot;

    /// All slots as they are now.
    fn into_slots(self: Box<Self>) -> Vec<Slot>;

    /// Number of slots that are left.
    fn left(&self) -> usize;

    /// The largest number of candidates that were equal on every key when one was chosen.
    fn largest_tie(&self) -> usize;

    /// Forgets the candidates found last; at the beginning of a pass over the submitters.
    fn forget(&mut self);

    /// Forgets the candidates found last, as a search for another request does.
    fn drop_candidates(&mut self);

    /// Returns whether any slot matches a request of this autocluster, claimed or not; before the first is taken.
    fn is_feasible(&self, autocluster: u32, ad: &dyn Fn() -> ClassAd) -> bool;

    /// Number of classes of slots and requests; `None` if each is evaluated by itself.
    fn classes(&self) -> Option<ClassCounts> {
        None
    }
}

/// The classes of a pool, and the way in which it was evaluated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Classes of slots.
    pub slots: usize,
    /// Classes of requests.
    pub requests: usize,
    /// Atoms evaluated over columns.
    pub batched: u64,
    /// Atoms evaluated by the evaluator, once for each combination of values.
    pub scalar: u64,
    /// Of these, the ten expressions with the most evaluations, and their numbers.
    pub scalar_expressions: Vec<(String, u64)>,
    /// Autoclusters that were matched slot by slot.
    pub by_slot: usize,
    /// Slots that were evaluated one by one for every request.
    pub odd_slots: usize,
    /// The reason why the first of them was; `None` if there are none.
    pub odd: Option<&'static str>,
    /// The reason why slots were ranked one by one for every request; `None` if classes were.
    pub listed: Option<&'static str>,
}
