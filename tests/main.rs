//! Integration tests of the language; each module is named after what it guards.

mod api;
mod proofs;
mod round_trip;
mod rules;
