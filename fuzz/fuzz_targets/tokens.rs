//! Any sequence of tokens: the parser accepts or rejects it, and prints what it accepts.
#![no_main]

mod shared;

use classmate::internal::syntax::parse::{Mode, ParseOptions};
use libfuzzer_sys::fuzz_target;

const TOKENS: &[&str] = &[
    "a", "b", "x", "MY", "TARGET", "parent", "'a b'", "f", "strcat", "absTime", "relTime", "1", "0", "-5", "9223372036854775807", "1.5", ".5",
    "1e400", "\"s\"", "\"2020-01-01\"", "\"1:30\"", "true", "false", "undefined", "error", "(", "(", "(", ")", ")", ")", "[", "[", "]", "]",
    "{", "{", "}", "}", ",", ",", ";", ";", "=", "=", ".", ".", "..", "?", ":", "?:", "||", "&&", "|", "^", "&", "==", "!=", "=?=", "=!=", "is",
    "isnt", "<", "<=", ">", ">=", "<<", ">>", ">>>", "+", "-", "*", "/", "%", "!", "~", "/* c */", "// c\n",
];

fuzz_target!(|data: &[u8]| {
    let Some((flags, tokens)) = data.split_first() else { return };
    let mut text = String::new();
    for token in tokens {
        text.push_str(TOKENS[usize::from(*token) % TOKENS.len()]);
        if flags & 1 == 0 {
            text.push(' ');
        }
    }
    let mode = if flags & 2 == 0 { Mode::HTCondor } else { Mode::Strict };
    shared::round_trip(text.as_bytes(), &ParseOptions { mode, places: flags & 4 == 0, ..ParseOptions::default() });
});
