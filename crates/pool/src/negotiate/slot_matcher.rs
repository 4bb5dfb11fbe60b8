//! Where requests look for slots: one question, two answers that must be the same.

use crate::negotiate::offer::{Offer, Refusal, RequestingSubmitter};
use crate::negotiate::outcome::Tally;
use crate::pool::Slot;
use crate::priority::Session;
use crate::queue::request::Request;
use classmate::internal::ad::ClassAd;

/// The slots of a cycle that are still to be had.
pub trait SlotMatcher {
    /// Whether the ad of a request of this autocluster is looked at; otherwise it may be empty.
    fn needs_ad(&self, autocluster: u32) -> bool;

    /// The best slot for a request, from the candidates of its like if there are any left.
    ///
    /// # Errors
    /// Why no slot will do.
    fn best(
        &mut self,
        request: &Request,
        requester: &RequestingSubmitter<'_>,
        session: &Session,
    ) -> Result<Offer, Refusal>;

    /// Whether a slot was too heavy for a submitter when candidates were last looked for in its turn.
    fn passed_over(&mut self, submitter: usize) -> bool;

    /// What one slot offers to a request, if it is still to be had, nobody is displaced, and it will do.
    ///
    /// # Errors
    /// What became of the slot; nothing is counted if it is not to be had.
    fn of_slot(
        &self,
        at: usize,
        request: &Request,
        requester: &RequestingSubmitter<'_>,
        session: &Session,
    ) -> Result<Offer, Tally>;

    /// Takes what a request was offered: the slot leaves the list, unless it stays to be had. Gives the concurrency limits
    /// that are held from now on, in lower case.
    fn take(&mut self, offer: &Offer, request: &Request) -> Option<Vec<u8>>;

    /// Gives up the dynamic slots that are in the way of an offer that makes room, and names them.
    fn make_room(&mut self, _: &Offer) -> Vec<String> {
        Vec::new()
    }

    /// A slot as it is now.
    fn slot(&self, at: usize) -> &Slot;

    /// All slots as they are now; the market is closed.
    fn into_slots(self: Box<Self>) -> Vec<Slot>;

    /// How many slots are left.
    fn left(&self) -> usize;

    /// Most candidates that were equal on every key when one was chosen.
    fn largest_tie(&self) -> usize;

    /// Forgets the candidates found last; at the beginning of a pass over the submitters.
    fn forget(&mut self);

    /// Whether any slot would do for a request of this autocluster, whoever has it; before the first is taken.
    fn is_feasible(&self, autocluster: u32, ad: &dyn Fn() -> ClassAd) -> bool;

    /// Into how many classes slots and requests fall; none if each is looked at by itself.
    fn classes(&self) -> Option<ClassCounts> {
        None
    }
}

/// How a pool was taken together, and how it was evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// Classes of slots.
    pub slots: usize,
    /// Classes of requests.
    pub requests: usize,
    /// Atoms evaluated over columns.
    pub batched: u64,
    /// Atoms evaluated by the evaluator, once for each combination of values.
    pub scalar: u64,
    /// Autoclusters that were asked slot by slot.
    pub by_slot: usize,
}
