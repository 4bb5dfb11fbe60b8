//! Any bytes as what a daemon sends: every decoder of the wire protocol ends, with a result or an error.
//!
//! The first byte chooses the decoder, the second the size of the pieces in which the bytes come, and with its highest bit that each
//! ad is read in the version that it advertises. `WIRE_DECODER=0` to `5` in the
//! environment chooses one decoder for all inputs.
#![no_main]

use classmate::{ParseOptions, Semantics};
use classmate_wire::internal::{AnswerKind, answer, handshake};
use classmate_wire::{Address, Token};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The decoder that all inputs are for.
static DECODER: LazyLock<Option<u8>> = LazyLock::new(|| {
    let number = std::env::var("WIRE_DECODER").ok()?;
    Some(number.parse().expect("WIRE_DECODER is a number"))
});

fuzz_target!(|data: &[u8]| {
    let [kind, piece, bytes @ ..] = data else { return };
    let semantics = if *piece < 128 { Semantics::default() } else { Semantics::default().advertised() };
    let options = ParseOptions { semantics, ..ParseOptions::default() };
    let piece = usize::from(*piece % 128) + 1;
    match DECODER.unwrap_or(*kind) % 6 {
        0 => {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(address) = text.parse::<Address>() {
                let shown = address.to_string();
                let again: Address = shown.parse().expect("what is shown is an address");
                assert_eq!(again.to_string(), shown);
            }
        }
        1 => {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(token) = Token::parse(&text, "fuzzing") {
                assert!(!token.identity().is_empty());
            }
        }
        2 => {
            let _ = handshake(bytes, piece);
        }
        3 => {
            let _ = answer(AnswerKind::Ads, &options, bytes, piece);
        }
        4 => {
            let _ = answer(AnswerKind::Jobs, &options, bytes, piece);
        }
        _ => {
            let _ = answer(AnswerKind::Strings, &options, bytes, piece);
        }
    }
});
