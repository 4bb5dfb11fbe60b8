//! The visits of a cycle to a submitter.

use serde::Serialize;

use classmate_pool::internal::priority::Passed;
use classmate_pool::{Outcome, Snapshot};

/// A visit to the submitter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turn {
    /// Number of the turn among all turns of the cycle, from 1.
    pub turn: usize,
    /// Number of the pie, from 1.
    pub pie: u32,
    /// Number of the pie spin, from 1.
    pub spin: u32,
    /// The group negotiated for; none without groups.
    pub group: Option<String>,
    /// Its fraction of the pie.
    pub share: f64,
    /// Weighted slots it might take.
    pub limit: f64,
    /// Jobs that got a slot then.
    pub matched: usize,
    /// The reason it was not served, if it was not.
    pub passed: Option<Passed>,
}

/// The visits to a submitter.
pub(crate) fn turns(outcome: &Outcome, submitter: &str) -> Vec<Turn> {
    let visits = outcome.negotiations.iter().enumerate().filter(|(_, visit)| visit.submitter == submitter);
    let made = |pie: u32, spin: u32| {
        let made = outcome.matches.iter();
        made.filter(|made| made.submitter == submitter && (made.pie, made.spin) == (pie, spin)).count()
    };
    visits
        .map(|(at, visit)| Turn {
            turn: at + 1,
            pie: visit.pie,
            spin: visit.spin,
            group: visit.group.clone(),
            share: visit.share,
            limit: visit.limit,
            matched: made(visit.pie, visit.spin),
            passed: visit.passed,
        })
        .collect()
}

/// The ceiling of a submitter, as the accountant's log has it.
pub(crate) fn ceiling(snapshot: &Snapshot, submitter: &str) -> Option<i64> {
    let record = snapshot.log.as_ref()?.get(format!("Customer.{submitter}").as_bytes())?;
    record.integer("Ceiling").filter(|ceiling| *ceiling >= 0)
}
