//! Repairs: the smallest changes of a job, or of the policy of slots, after which more slots match.
//!
//! In: a job analyzed against all slots. Out: [`suggestion::Suggestion`]s, each tested on all slots. From the ground up:
//! `edit` is one change of a job, `boundary` and `inversion` solve a comparison for a value in it, `membership` a list test,
//! `count` a limit of what is counted, `plan` maps slots to edits, `policy_edit` changes slots, and `nearest` selects what is
//! worth testing, and `selection` what is worth showing.

mod boundary;
pub(super) mod count;
pub(super) mod edit;
pub(super) mod failure;
mod inversion;
pub(crate) mod membership;
pub mod nearest;
pub(super) mod plan;
mod policy_edit;
pub mod selection;
pub mod suggestion;
