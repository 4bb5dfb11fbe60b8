//! Integration tests of the advice; each module is named after what it guards.

mod policy_test;
mod soundness;
