//! Changes after which more slots match.

use serde::Serialize;

use classmate::ClassAd;

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
    /// One that matches then and does not now.
    pub example: String,
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
    /// The letters by which strings were probably misspelled; none if it corrects no mistake.
    pub(crate) slip: Option<usize>,
}
