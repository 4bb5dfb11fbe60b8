//! Usage and the priorities that follow from it: records, decay, `HTCondor`'s transaction log.
//!
//! In: a log and the slots in use. Out: priorities and usage of submitters. Time is an argument.

pub mod customer;
pub mod cycle;
pub mod edit;
pub mod entry;
pub mod factor;
pub mod journal;
pub mod lease;
pub mod log;
pub mod published;
pub mod record;
pub mod report;
pub mod store;
pub mod usage;

pub use customer::Customer;
pub use journal::{Journal, JournalError, Transaction};
pub use log::{AccountantLog, LogError, LogWarning};
pub use usage::Accountant;

/// The record of all submitters without a group, and the name of the root group.
pub const ROOT_GROUP: &[u8] = b"<none>";

/// Maps a submitter (or a group's own name) to its group.
///
/// The group tree implements it if groups are configured, [`Ungrouped`] if not.
pub trait GroupOf {
    /// The full name of the group, as displayed; [`ROOT_GROUP`] for those in none.
    fn group_of(&self, name: &[u8]) -> &[u8];
}

/// No groups are configured: all submitters are in [`ROOT_GROUP`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Ungrouped;

impl GroupOf for Ungrouped {
    fn group_of(&self, _name: &[u8]) -> &[u8] {
        ROOT_GROUP
    }
}
