//! Integration tests of the pool; each module is named after what it guards.

mod advertised;
mod agree;
mod cycle;
mod cycles;
mod dirac;
mod divisions;
mod journal;
mod manual_examples;
mod pie;
mod policies_by_name;
mod random;
mod replay;
mod scenarios;
mod simulate;

#[path = "../../../tests/support/recorded.rs"]
mod recorded;
