//! One turn while it `is_stateful`: what has been taken, and whether more may be.
//!
//! Numbers in, decisions out. Formula source: `docs/reference/negotiation.md` 7.5, 7.6.

use super::pie::permits;
use super::{Allowance, End, TurnResult};

/// The jobs that may be served next in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serve {
    /// Any slot within the limits.
    Any,
    /// Only slots that strictly prefer the job to the one they run.
    OnlyStartdRank,
    /// Nothing: the turn ends.
    Nothing,
}

/// The state of a turn.
///
/// ```
/// use classmate_pool::internal::priority::{Allowance, Session, session::Serve};
/// let allowance = Allowance { limit: 2.0, limit_unclaimed: 2.0, ceiling: 9.0, preferring_is_free: false };
/// let mut session = Session::new(allowance);
/// assert!(session.permits_unclaimed(2.0));
/// session.matched(2.0, false);
/// assert_eq!(session.serve(), Serve::Nothing);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Session {
    allowance: Allowance,
    used: f64,
    used_unclaimed: f64,
    limited: bool,
}

impl Session {
    /// A turn in which nothing has been taken.
    pub fn new(allowance: Allowance) -> Self {
        Self { allowance, used: 0.0, used_unclaimed: 0.0, limited: false }
    }

    /// The jobs that may be served now.
    pub fn serve(&self) -> Serve {
        let at_limit = self.used >= self.allowance.limit;
        if (at_limit && !self.allowance.preferring_is_free) || self.used >= self.allowance.ceiling {
            Serve::Nothing
        } else if at_limit {
            Serve::OnlyStartdRank
        } else {
            Serve::Any
        }
    }

    /// Weighted slots that may be taken in all.
    pub fn limit(&self) -> f64 {
        self.allowance.limit
    }

    /// Returns whether an unclaimed slot may be taken at this cost.
    pub fn permits_unclaimed(&self, cost: f64) -> bool {
        permits(cost, self.used_unclaimed, self.allowance.limit_unclaimed)
    }

    /// Returns whether a claimed slot may be taken at this cost.
    pub fn permits_preempting(&self, cost: f64) -> bool {
        permits(cost, self.used, self.allowance.limit)
    }

    /// Takes a slot, claimed or unclaimed.
    pub fn matched(&mut self, cost: f64, preempting: bool) {
        self.used += cost;
        if !preempting {
            self.used_unclaimed += cost;
        }
    }

    /// Records that a job was rejected because of the limit.
    pub fn refused_for_limit(&mut self) {
        self.limited = true;
    }

    /// The end of the turn once there are no more jobs, or none may be served any more.
    pub fn end(&self, out_of_jobs: bool) -> End {
        let more_later = !out_of_jobs || self.used >= self.allowance.limit || self.limited;
        if more_later { End::Resume } else { End::Done }
    }

    /// The result of the turn.
    pub fn spent(&self, out_of_jobs: bool, slots_left: usize) -> TurnResult {
        TurnResult { end: self.end(out_of_jobs), weight: self.used, slots_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(limit: f64, ceiling: f64, preferring_is_free: bool) -> Session {
        Session::new(Allowance { limit, limit_unclaimed: limit, ceiling, preferring_is_free })
    }

    #[test]
    fn at_the_limit_only_preferring_slots_are_free() {
        let mut turn = session(1.0, 9.0, true);
        assert_eq!(turn.serve(), Serve::Any);
        turn.matched(1.0, false);
        assert_eq!(turn.serve(), Serve::OnlyStartdRank);
        assert_eq!(turn.end(true), End::Resume);
    }

    #[test]
    fn the_ceiling_ends_a_turn_also_for_preferring_slots() {
        let mut turn = session(1.0, 2.0, true);
        turn.matched(2.0, false);
        assert_eq!(turn.serve(), Serve::Nothing);
    }

    #[test]
    fn a_slot_taken_from_somebody_leaves_the_unclaimed_allowance() {
        let mut turn = session(4.0, 9.0, true);
        turn.matched(3.0, true);
        assert!(turn.permits_unclaimed(4.0));
        assert!(!turn.permits_preempting(2.0));
    }

    #[test]
    fn running_out_of_jobs_is_done_unless_the_limit_was_in_the_way() {
        let mut turn = session(4.0, 9.0, true);
        assert_eq!(turn.end(true), End::Done);
        turn.refused_for_limit();
        assert_eq!(turn.end(true), End::Resume);
        assert_eq!(session(0.0, 9.0, true).end(true), End::Resume);
    }
}
