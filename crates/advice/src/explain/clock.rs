//! Conditions that compare the clock with a time: when they become true, and when they were true for the last time.
//!
//! In: a condition and the ads it is evaluated in. Out: seconds since 1970.

use crate::explain::clauses::truth;
use crate::explain::job_view::JobView;
use crate::explain::names::references;
use crate::explain::repair::edit::comparison;
use crate::explain::repair::plan::reads_clock;
use crate::submit::CRON;
use crate::submit::added::OF_HOLDS;
use classmate::internal::syntax::operator::BinaryOp;
use classmate::internal::syntax::view::{RefScope, Reference};
use classmate::internal::value::logic::Truth;
use classmate::{ClassAd, EvalOptions, Expr, Scope};

/// Times further away, in seconds, are no times.
const MAX_DISTANCE: f64 = 1e12;

/// Tests if an attribute of a job, in lower case, may change while the job waits: a hold, a release or a match sets it.
fn changes(name: &[u8]) -> bool {
    const OTHERS: [&[u8]; 6] = [
        b"jobcurrentstartdate",
        b"jobcurrentstartexecutingdate",
        b"lastmatchtime",
        b"lastrejmatchtime",
        b"lastvacatetime",
        b"numjobmatches",
    ];
    OF_HOLDS.contains(&name) || OTHERS.contains(&name)
}

/// The clock, plus or minus something, and a number.
struct OfClock {
    /// True if the clock has to be less than the number.
    is_less: bool,
    /// True if it may equal the number.
    is_equal_enough: bool,
    /// The number without the clock.
    missing: f64,
}

impl OfClock {
    /// A condition that compares the clock with a number.
    fn of(scope: Scope<'_>, condition: &Expr) -> Option<Self> {
        let (op, left, right) = comparison(condition.tree(), condition.root())?;
        let is_of_clock = |part| reads_clock(condition.tree(), part);
        let (of_clock, number) = match (is_of_clock(left), is_of_clock(right)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return None,
        };
        let is_less = match op {
            BinaryOp::Less | BinaryOp::LessEqual => of_clock == left,
            BinaryOp::Greater | BinaryOp::GreaterEqual => of_clock == right,
            _ => return None,
        };
        let value = |part| scope.eval(&condition.part(part)).ok()?.as_number();
        let missing = value(number)? - value(of_clock)?;
        let is_equal_enough = matches!(op, BinaryOp::LessEqual | BinaryOp::GreaterEqual);
        (missing.abs() < MAX_DISTANCE).then_some(OfClock { is_less, is_equal_enough, missing })
    }
}

/// The time at which a condition becomes true that compares the clock, plus or minus something, with a number; none if it is true
/// at the present time.
pub(super) fn begin(scope: Scope<'_>, condition: &Expr, now: i64) -> Option<i64> {
    let OfClock { is_less, is_equal_enough, missing } = OfClock::of(scope, condition)?;
    let missing = if is_equal_enough { missing.ceil() } else { missing.floor() + 1.0 };
    (missing > 0.0 && !is_less).then(|| now.checked_add(missing as i64))?
}

/// The time at which a condition of a job becomes true that depends on nothing but the job and the clock.
pub(super) fn begin_of_job(view: &JobView<'_>, condition: &Expr) -> Option<i64> {
    let (job, settings) = (view.job, &view.pool.settings);
    let then = begin(Scope::new(job, settings), condition, settings.now).filter(|_| is_of_job(job, condition))?;
    let is_at = |now: i64| truth(Scope::new(job, &EvalOptions { now, ..settings.clone() }), condition) == Truth::True;
    (is_at(then) && !is_at(then.saturating_sub(1))).then_some(then)
}

/// Tests if a condition refers only to attributes of a job that do not change while it waits.
fn is_of_job(job: &ClassAd, condition: &Expr) -> bool {
    let names = references(condition.tree(), condition.root());
    // The access point computes the next time of these.
    let recurs = CRON.iter().any(|(_, attribute)| job.contains(*attribute));
    let stays = |found: &Reference| {
        found.scope != RefScope::Target && job.contains(found.name) && !changes(found.name.folded())
    };
    !recurs && names.iter().all(stays)
}

/// The time at which a condition of a job became false for ever, and true if it was true at that second; none if it may be true
/// again, because it depends on more than the job and the clock.
pub(super) fn end(view: &JobView<'_>, condition: &Expr) -> Option<(i64, bool)> {
    /// Nothing that a job waits for takes so many seconds.
    const LONG: i64 = 10 * 365 * 24 * 3600;
    let (job, settings) = (view.job, &view.pool.settings);
    let found = OfClock::of(Scope::new(job, settings), condition)?;
    let ended = settings.now.checked_add(found.missing.floor() as i64)?;
    let is_at = |now: i64| truth(Scope::new(job, &EvalOptions { now, ..settings.clone() }), condition) == Truth::True;
    let is_over =
        || is_at(ended.saturating_sub(1)) && !is_at(settings.now) && !is_at(settings.now.saturating_add(LONG));
    (found.is_less && is_of_job(job, condition) && is_over()).then_some((ended, found.is_equal_enough))
}
