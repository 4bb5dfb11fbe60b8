//! The comparison of candidates for a job.
//!
//! In: a slot and a request. Out: a key; the largest wins, ties go to the slot that comes first.
//! Formula source: `docs/reference/negotiation.md` 10.5, 10.6.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching;
use classmate::internal::eval::scope::{EvalOptions, Scope};
use classmate::internal::syntax::expr::Expr;

/// The ground on which a match takes a slot. Larger is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreemptState {
    /// Its user has a worse priority.
    Priority,
    /// It prefers the job to the one it runs.
    Rank,
    /// It is unclaimed.
    None,
}

/// The expressions of the configuration that rank slots.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    /// `NEGOTIATOR_PRE_JOB_RANK`.
    pub before_job: Option<Expr>,
    /// `NEGOTIATOR_POST_JOB_RANK`.
    pub after_job: Option<Expr>,
    /// `PREEMPTION_RANK`.
    pub preemption: Option<Expr>,
    /// `NEGOTIATOR_IGNORE_JOB_RANKS`: slots are ranked without regard to the job.
    pub ignore_jobs: bool,
}

/// The sort key of candidates, most important part first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankKey {
    /// `NEGOTIATOR_PRE_JOB_RANK`; the lowest number if it is not a number.
    pub before_job: f64,
    /// The job's `Rank`; 0 if it is not a number.
    pub job: f64,
    /// `NEGOTIATOR_POST_JOB_RANK`; the lowest number if it is not a number.
    pub after_job: f64,
    /// The ground on which the match takes the slot.
    pub preempt_state: PreemptState,
    /// `PREEMPTION_RANK`, if a job is preempted.
    pub preemption: f64,
}

impl Ranking {
    /// The key of a slot for a request.
    pub fn key(
        &self,
        slot: &ClassAd,
        request: &ClassAd,
        preempt_state: PreemptState,
        settings: &EvalOptions,
    ) -> RankKey {
        RankKey {
            before_job: value(self.before_job.as_ref(), slot, request, settings),
            job: matching::rank(request, slot, settings),
            after_job: value(self.after_job.as_ref(), slot, request, settings),
            preempt_state,
            preemption: self.preemption_of(slot, request, preempt_state, settings),
        }
    }

    /// The key of a slot for all jobs: its ranks are evaluated with an empty job, and all are those of the slot unclaimed,
    /// `PREEMPTION_RANK` too (`docs/reference/negotiation.md` 10.8).
    pub fn of_slot(&self, slot: &ClassAd, settings: &EvalOptions) -> RankKey {
        let empty = ClassAd::new();
        let rank = |expr: Option<&Expr>| value(expr, slot, &empty, settings);
        of_unclaimed(rank(self.before_job.as_ref()), 1.0, rank(self.after_job.as_ref()))
    }

    /// The last key: `PREEMPTION_RANK` if a job is preempted.
    pub fn preemption_of(
        &self,
        slot: &ClassAd,
        request: &ClassAd,
        preempt_state: PreemptState,
        settings: &EvalOptions,
    ) -> f64 {
        if preempt_state == PreemptState::None {
            UNCLAIMED
        } else {
            value(self.preemption.as_ref(), slot, request, settings)
        }
    }
}

/// The last key of an unclaimed slot.
const UNCLAIMED: f64 = f32::MIN as f64;

/// The value of a rank expression of the configuration; the lowest number if it is not a number.
fn value(expr: Option<&Expr>, slot: &ClassAd, request: &ClassAd, settings: &EvalOptions) -> f64 {
    let scope = Scope::new(slot, settings).with_target(request);
    of_negotiator(expr.and_then(|expr| scope.eval(expr).ok()?.as_number()))
}

/// The value of a rank expression of the configuration, given as a number if it is one; otherwise the lowest number.
pub(crate) fn of_negotiator(value: Option<f64>) -> f64 {
    // `condor_negotiator` keeps these in single precision.
    value.map_or(f64::MIN, |number| f64::from(number as f32))
}

/// The key of an unclaimed slot.
pub(crate) fn of_unclaimed(before_job: f64, job: f64, after_job: f64) -> RankKey {
    RankKey { before_job, job, after_job, preempt_state: PreemptState::None, preemption: UNCLAIMED }
}

impl RankKey {
    /// Compares two candidates: `Greater` if this one is better. NaN is the worst value.
    pub fn compare(&self, other: &Self) -> Ordering {
        by_value(self.before_job, other.before_job)
            .then_with(|| by_value(self.job, other.job))
            .then_with(|| by_value(self.after_job, other.after_job))
            .then_with(|| self.preempt_state.cmp(&other.preempt_state))
            .then_with(|| by_value(self.preemption, other.preemption))
    }
}

fn by_value(a: f64, b: f64) -> Ordering {
    // With NaN out of the way the order is total, and both zeros are equal.
    let low = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    low(a).partial_cmp(&low(b)).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::internal::syntax::parse::{ParseOptions, parse_expr};

    const KEY: RankKey =
        RankKey { before_job: 0.0, job: 0.0, after_job: 0.0, preempt_state: PreemptState::None, preemption: 0.0 };

    /// The worked table of `docs/reference/negotiation.md` 10.6.
    #[test]
    fn keys_are_compared_from_the_first_to_the_last() {
        let slots = [(100.0, 1.0, 10.0), (100.0, 2.0, 20.0), (100.0, 2.0, 30.0), (0.0, 1.0, 40.0), (200.0, 1.0, 50.0)];
        let mut order: Vec<usize> = (1..=5).collect();
        let key = |slot: usize| {
            let (before_job, job, after_job) = slots[slot - 1];
            RankKey { before_job, job, after_job, ..KEY }
        };
        order.sort_by(|a, b| key(*b).compare(&key(*a)));
        assert_eq!(order, [5, 3, 2, 1, 4]);
    }

    #[test]
    fn displacing_nobody_is_better_and_counts_after_the_ranks() {
        let displacing = RankKey { preempt_state: PreemptState::Rank, ..KEY };
        assert_eq!(displacing.compare(&KEY), Ordering::Less);
        assert_eq!(RankKey { preempt_state: PreemptState::Priority, ..KEY }.compare(&displacing), Ordering::Less);
        assert_eq!(RankKey { after_job: 1.0, ..displacing }.compare(&KEY), Ordering::Greater);
    }

    #[test]
    fn without_jobs_a_slot_has_one_rank() {
        let expr = |text: &str| Some(parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap());
        let ranking =
            Ranking { before_job: expr("5"), after_job: expr("TARGET.x"), ignore_jobs: true, ..Ranking::default() };
        let key = ranking.of_slot(&ClassAd::parse(b"[Rank = 7]").unwrap(), &EvalOptions::default());
        assert_eq!((key.before_job, key.job, key.after_job), (5.0, 1.0, f64::MIN));
    }

    #[test]
    fn what_is_not_a_number_never_wins() {
        let nan = RankKey { job: f64::NAN, ..KEY };
        assert_eq!(nan.compare(&KEY), Ordering::Less);
        assert_eq!(KEY.compare(&nan), Ordering::Greater);
        assert_eq!(nan.compare(&nan), Ordering::Equal);
    }

    #[test]
    fn ranks_are_single_precision_and_missing_ones_are_lowest() {
        let expr = |text: &str| Some(parse_expr(text.as_bytes(), &ParseOptions::default()).unwrap());
        let ranking =
            Ranking { before_job: expr("16777217 + TARGET.x"), after_job: expr("\"a\""), ..Ranking::default() };
        let slot = ClassAd::parse(b"[Rank = 7]").unwrap();
        let key = ranking.key(
            &slot,
            &ClassAd::parse(b"[x = 0; Rank = 0.1]").unwrap(),
            PreemptState::None,
            &EvalOptions::default(),
        );
        assert_eq!((key.before_job, key.after_job, key.job), (16_777_216.0, f64::MIN, 0.1));
        assert_eq!(key.preemption, f64::from(f32::MIN));
        // A job without Rank is ranked by the slot's.
        let key = ranking.key(&slot, &ClassAd::new(), PreemptState::Rank, &EvalOptions::default());
        assert_eq!((key.before_job, key.job, key.preemption), (f64::MIN, 7.0, f64::MIN));
    }
}
