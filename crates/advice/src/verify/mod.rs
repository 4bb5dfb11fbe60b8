//! A recorded cycle, replayed and compared strictly with what its negotiator logged; the cause of each difference.
//!
//! In: a snapshot, and the record of a cycle. Out: a [`Verification`], plain serializable data.

pub mod cause;
pub mod comparison;
pub mod log;
pub mod record;

use serde::Serialize;

use crate::verify::cause::{Conditions, DifferenceCause};
use crate::verify::comparison::{Agreement, Comparison, DecisionKind, Discrepancy, compare, published};
use crate::verify::record::CycleRecord;
use classmate::ClassAd;
use classmate_config::ConfigError;
use classmate_pool::{Outcome, Snapshot, negotiate};

/// A difference and its cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedDifference {
    /// The difference.
    #[serde(flatten)]
    pub difference: Discrepancy,
    /// Its cause.
    pub cause: DifferenceCause,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// True if there is no difference.
    pub identical: bool,
    /// The kinds of decisions that the record has, with their counts.
    pub compared: Vec<Compared>,
    /// The differences of the replay from the record, by kind and in the order of the cycle.
    pub differences: Vec<ExplainedDifference>,
    /// The clock of the replay, epoch seconds.
    pub now: i64,
    /// True if the negotiator had been started just before the cycle.
    pub restarted: bool,
}

/// The counts of one kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The kind.
    pub kind: DecisionKind,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Agreement,
}

impl Verification {
    /// The counts of one kind, if the record has it.
    pub fn counts(&self, kind: DecisionKind) -> Option<Agreement> {
        self.compared.iter().find(|one| one.kind == kind).map(|one| one.counts)
    }

    /// The causes, each with the number of differences it explains, in the order of the first of them.
    pub fn causes(&self) -> Vec<(DifferenceCause, usize)> {
        let mut causes: Vec<(DifferenceCause, usize)> = Vec::new();
        for one in &self.differences {
            match causes.iter_mut().find(|(cause, _)| *cause == one.cause) {
                Some((_, count)) => *count += 1,
                None => causes.push((one.cause.clone(), 1)),
            }
        }
        causes
    }
}

/// Replays a cycle at the time of the snapshot and compares it with its record. `negotiator` is the ad of the negotiator
/// after the cycle.
///
/// A difference gets a cause by an experiment: the cycle is replayed once more under the conditions that the record shows,
/// such as the order in which equal slots were taken, and differences that vanish were caused by them.
///
/// # Errors
/// A setting that is wrong for a cycle.
pub fn verify(
    snapshot: &Snapshot,
    record: &CycleRecord,
    negotiator: Option<&ClassAd>,
) -> Result<Verification, ConfigError> {
    let started = record.started.unwrap_or(snapshot.now);
    let statistics = negotiator.map(|ad| published(ad, started)).unwrap_or_default();
    let run = |snapshot: &Snapshot| -> Result<(Outcome, Comparison), ConfigError> {
        let outcome = negotiate(snapshot)?;
        let comparison = compare(record, &statistics, &outcome);
        Ok((outcome, comparison))
    };
    let (mut outcome, replay) = run(snapshot)?;
    let mut causes: Vec<Option<DifferenceCause>> = vec![None; replay.differences.len()];
    let mut left = replay.clone();
    let mut remaining = DifferenceCause::Unexplained;
    if left.first.is_some() {
        let mut conditions = Conditions::new(snapshot, record, None);
        for cause in DifferenceCause::BY_EXPERIMENT {
            if left.first.is_none() {
                break;
            }
            let Some(changed) = conditions.with(&cause) else { continue };
            let (replayed, found) = run(&changed)?;
            if is_later(found.first, left.first) {
                for (known, difference) in causes.iter_mut().zip(&replay.differences) {
                    if known.is_none() && !found.differences.contains(difference) {
                        *known = Some(cause.clone());
                    }
                }
                (outcome, left) = (replayed, found);
                conditions.keep(changed);
            }
        }
        if left.first.is_some() {
            remaining = cause::of_the_rest(conditions.snapshot(), record, &outcome, &left)?;
        }
    }
    let differences = replay.differences.into_iter().zip(causes);
    Ok(Verification {
        identical: replay.first.is_none(),
        compared: replay.counts.into_iter().map(|(kind, counts)| Compared { kind, counts }).collect(),
        differences: differences
            .map(|(difference, cause)| ExplainedDifference { difference, cause: cause.unwrap_or(remaining.clone()) })
            .collect(),
        now: snapshot.now,
        restarted: record.restarted,
    })
}

/// True if a replay agrees with its record for longer than another one.
fn is_later(first: Option<u64>, than: Option<u64>) -> bool {
    match (first, than) {
        (None, Some(_)) => true,
        (Some(first), Some(than)) => first > than,
        (_, None) => false,
    }
}
