//! Integration tests of the language; each module is named after what it guards.

mod round_trip;
