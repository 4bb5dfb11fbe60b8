//! Changes after which more slots match.

use serde::Serialize;

use classmate::{ClassAd, Expr, Name};

/// The string that stands for any string, where a condition only wants one to be there.
pub const ANY_STRING: &str = "...";

/// The object of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// A name, a string or a comparison of the job is corrected.
    #[serde(rename = "meant")]
    Correction,
    /// An attribute of the job gets another value.
    Job,
    /// A constant in an expression of the job becomes another.
    Constant,
    /// A condition of the job is left out.
    Condition,
    /// The policy of slots.
    Slot,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The object of the change.
    pub of: Changed,
    /// The attribute.
    pub attribute: String,
    /// The present value or condition.
    pub before: String,
    /// The new value or condition; `true` if a condition is removed.
    pub after: String,
    /// The command of a submit file by which `condor_submit` makes the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The attributes of a job that a change writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenAttributes(Vec<(Name, Expr)>);

impl WrittenAttributes {
    /// Those of some attributes that are not the same in the job and in the ad that a change makes of it.
    pub(super) fn of(job: &ClassAd, after: &ClassAd, names: impl Iterator<Item = Name>) -> Self {
        let text = |ad: &ClassAd, name: Name| ad.get(name).map(|expr| expr.to_string());
        let differs = |name: &Name| text(job, *name) != text(after, *name);
        WrittenAttributes(names.filter(differs).filter_map(|name| Some((name, after.get(name)?))).collect())
    }

    /// The names of the attributes.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.0.iter().map(|(name, _)| *name)
    }

    /// Writes them in a job.
    pub(crate) fn write(&self, job: &mut ClassAd) {
        for (name, expr) in &self.0 {
            job.insert_expr(*name, expr);
        }
    }

    fn texts(&self) -> impl Iterator<Item = (Name, String)> + '_ {
        self.0.iter().map(|(name, expr)| (*name, expr.to_string()))
    }
}

impl PartialEq for WrittenAttributes {
    fn eq(&self, other: &Self) -> bool {
        self.texts().eq(other.texts())
    }
}

impl Eq for WrittenAttributes {}

/// A job in a cycle that was replayed with a change of it. As data: null, or the label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReplayedJob {
    /// It matches.
    Matched,
    /// It stays idle, and the label of the first cause.
    Idle(String),
}

/// Changes that were tried together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// The changes.
    pub changes: Vec<Change>,
    /// Slots that match then; if the policy of slots changes, those of them that do not now.
    pub slots: usize,
    /// Slots that match then and not now.
    pub won: usize,
    /// Slots that match now and not then; never more than are won.
    pub lost: usize,
    /// Slots of those that are won and that are unclaimed after the cycle; 0 if no cycle was run.
    pub unclaimed: usize,
    /// True if the change can help: false if something else keeps the job idle, whatever slots match, or if it gets a slot.
    pub helps: bool,
    /// Slots of those that are won and that are dynamic and in use: they are gone when their jobs end.
    #[serde(skip)]
    pub transient: usize,
    /// The number of times that the most reduced request is divided by four.
    #[serde(skip)]
    pub(crate) reduction: u32,
    /// The slots that are won, by their places in the pool.
    #[serde(skip)]
    pub(crate) won_slots: Vec<u32>,
    /// The attributes of the job that are written; none if the policy of slots changes.
    #[serde(skip)]
    pub(crate) written: WrittenAttributes,
    /// One that matches then and does not now.
    pub example: String,
    /// True if it is one of the few that are shown without details.
    #[serde(skip)]
    pub is_shown: bool,
    /// The job in a cycle with the change; none if it was not replayed.
    #[serde(rename = "stays_idle", skip_serializing_if = "Option::is_none")]
    pub replayed: Option<ReplayedJob>,
}

/// A change that was tried, and the ad that it makes: of the job, or of the slot that is named.
pub(crate) struct TestedChange {
    pub(crate) suggestion: Suggestion,
    /// The size of the change.
    pub(crate) weight: usize,
    pub(crate) after: ClassAd,
    /// A limit is moved, so that smaller changes may do for some slots.
    pub(crate) is_step: bool,
    /// Another string is written for a constant.
    pub(crate) writes_string: bool,
    /// A constant is corrected.
    pub(crate) corrects_value: bool,
    /// The letters by which strings were probably misspelled; none if it corrects no mistake.
    pub(crate) slip: Option<usize>,
}
