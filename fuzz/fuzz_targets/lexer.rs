//! Any bytes: tokens come in order, within the text, and end.
#![no_main]

use classmate::internal::syntax::lexer::Lexer;
use classmate::internal::syntax::parse::{Mode, ParseOptions};
use classmate::internal::syntax::token::Quoting;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for mode in [Mode::HTCondor, Mode::Strict] {
        for quoting in [Quoting::New, Quoting::Old] {
            let mut behind = 0;
            for token in Lexer::new(data, &ParseOptions { mode, quoting, ..ParseOptions::default() }) {
                match token {
                    Ok((start, _, end)) => {
                        assert!(behind <= start && start < end && end <= data.len());
                        behind = end;
                    }
                    Err(error) => {
                        let range = error.span.range();
                        assert!(range.start <= range.end && range.end <= data.len());
                        let _ = error.to_string();
                    }
                }
            }
        }
    }
});
