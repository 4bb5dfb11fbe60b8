//! Any bytes as the accountant's log: reading ends, reads the same in pieces, and the records can be written and read again.
//!
//! The first byte is the size of the pieces.
#![no_main]

mod shared;

use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::accountant::journal::read_log;
use libfuzzer_sys::fuzz_target;
use shared::Dripping;

fuzz_target!(|data: &[u8]| {
    let Some((piece, text)) = data.split_first() else { return };
    let whole = AccountantLog::read(text);
    let dripped = read_log(Dripping { rest: text, piece: usize::from(*piece) + 1 });
    let (log, dripped) = match (whole, dripped) {
        (Ok(log), Ok((dripped, length))) => {
            assert_eq!(length, text.len() as u64);
            (log, dripped)
        }
        (Err(error), Err(_)) => {
            assert!(error.offset <= text.len() as u64 && error.line > 0);
            return;
        }
        (whole, dripped) => panic!("{whole:?} {dripped:?}"),
    };
    assert_eq!(log.warnings(), dripped.warnings());
    let written = log.to_text();
    assert_eq!(written, dripped.to_text());
    for (_, record) in log.iter() {
        for (name, _) in record.iter() {
            let name = String::from_utf8_lossy(name);
            let _ = (record.integer(&name), record.real(&name), record.string(&name));
        }
    }
    let again = AccountantLog::read(&written).expect("what was written reads back");
    assert!(again.warnings().is_empty(), "{:?}", again.warnings());
    assert_eq!(again.to_text(), written);
});
