//! Any text: printed expressions parse again and print the same.
#![no_main]

mod shared;

use classmate::internal::syntax::parse::{Mode, ParseOptions, parse_full, parse_prefix};
use classmate::internal::syntax::token::Quoting;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for mode in [Mode::HTCondor, Mode::Strict] {
        shared::round_trip(data, &ParseOptions { mode, ..ParseOptions::default() });
    }
    let old = ParseOptions { quoting: Quoting::Old, ..ParseOptions::default() };
    if let Ok((_, used)) = parse_prefix(data, &old) {
        assert!(used <= data.len());
    }
    let _ = parse_full(data, &ParseOptions::default());
});
