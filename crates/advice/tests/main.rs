//! Integration tests of the advice; each module is named after what it guards.

mod anonymize;
mod planted;
mod policy_test;
#[path = "../../../tests/support/recorded.rs"]
mod recorded;
mod soundness;
mod submit;
mod upgrade;
mod verify;
