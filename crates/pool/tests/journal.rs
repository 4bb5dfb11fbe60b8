//! A writer of the accountant's log is killed at any moment: the next start has every whole transaction.
//!
//! `CLASSMATE_KILLS=20000 cargo test --release --test journal` kills so many times; 2000 times without it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use classmate_pool::internal::accountant::entry::Entry;
use classmate_pool::internal::accountant::{AccountantLog, Journal, Transaction};
use proptest::prelude::*;

/// Names the log to the child that writes it.
const WRITER: &str = "CLASSMATE_TEST_WRITER";
const KEYS: [&[u8]; 3] = [b"Customer.a@x", b"Customer.b@x", b"Accountant."];

/// One transaction: the same number in three records.
fn numbered(number: i64) -> Transaction {
    let value = number.to_string();
    let mut transaction = Transaction::new();
    for key in KEYS {
        transaction.push(Entry::Create { key }).unwrap();
        transaction.push(Entry::Set { key, name: b"N", value: value.as_bytes() }).unwrap();
    }
    transaction
}

/// The number that all records agree on.
fn number(log: &AccountantLog) -> i64 {
    let numbers: Vec<Option<i64>> =
        KEYS.iter().map(|key| log.get(key).and_then(|record| record.integer("N"))).collect();
    assert!(numbers.iter().all(|number| *number == numbers[0]), "half a transaction: {numbers:?}");
    numbers[0].unwrap_or(0)
}

/// The child: commits for ever, says on standard output what is committed, compacts now and then.
#[test]
#[ignore = "runs as the child of `a_killed_writer_loses_at_most_what_was_not_committed`"]
fn writer() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let mut journal = Journal::open(Path::new(&path), 7).unwrap();
    let mut next = number(journal.log()) + 1;
    let mut out = std::io::stdout();
    loop {
        journal.commit(&numbered(next)).unwrap();
        writeln!(out, "committed {next}").unwrap();
        out.flush().unwrap();
        if next % 16 == 0 {
            journal.compact(7).unwrap();
        }
        next += 1;
    }
}

#[test]
fn a_killed_writer_loses_at_most_what_was_not_committed() {
    let kills: u64 = std::env::var("CLASSMATE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Accountantnew.log");
    let mut last = 0;
    for kill in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "journal::writer", "--ignored", "--nocapture", "--test-threads=1"])
            .env(WRITER, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let committed = |line: &str| line.rsplit_once("committed ").and_then(|(_, number)| number.parse::<i64>().ok());
        // At least one commit, then any time at all: a multiplicative hash spreads the moments.
        let mut told = loop {
            if let Some(number) = committed(&lines.next().unwrap().unwrap()) {
                break number;
            }
        };
        std::thread::sleep(Duration::from_micros(kill.wrapping_mul(2_654_435_761) % 4000));
        child.kill().unwrap();
        child.wait().unwrap();
        // What was said before the end; the last line may be cut.
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        let whole = rest.len().saturating_sub(1);
        told = rest[..whole].iter().filter_map(|line| committed(line)).max().unwrap_or(told);

        let journal = Journal::open(&path, 7).unwrap();
        let found = number(journal.log());
        assert!(found >= told && found > last, "kill {kill}: {told} was committed, {found} found after {last}");
        assert!(journal.found().len() <= 2, "kill {kill}: {:?}", journal.found());
        last = found;
    }
}

/// An operation of a random history.
#[derive(Debug, Clone)]
enum Step {
    Set(u8, u8, i32),
    Delete(u8, u8),
    Destroy(u8),
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let step = prop_oneof![
        4 => (0..6_u8, 0..4_u8, any::<i32>()).prop_map(|(key, name, value)| Step::Set(key, name, value)),
        1 => (0..6_u8, 0..4_u8).prop_map(|(key, name)| Step::Delete(key, name)),
        1 => (0..6_u8).prop_map(Step::Destroy),
    ];
    prop::collection::vec(prop::collection::vec(step, 0..6), 0..12)
}

fn transaction(steps: &[Step]) -> Transaction {
    let mut transaction = Transaction::new();
    let key = |key: u8| format!("Customer.u{key}@x").into_bytes();
    let name = |name: u8| [b'A' + name];
    for step in steps {
        let (key, last) = match step {
            Step::Set(k, ..) | Step::Delete(k, _) | Step::Destroy(k) => (key(*k), step),
        };
        transaction.push(Entry::Create { key: &key }).unwrap();
        match last {
            Step::Set(_, n, value) => {
                let value = value.to_string();
                transaction.push(Entry::Set { key: &key, name: &name(*n), value: value.as_bytes() }).unwrap();
            }
            Step::Delete(_, n) => transaction.push(Entry::Delete { key: &key, name: &name(*n) }).unwrap(),
            Step::Destroy(_) => transaction.push(Entry::Destroy { key: &key }).unwrap(),
        }
    }
    transaction
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The log on disk, replayed, is the log in memory; compacted it still is.
    #[test]
    fn a_replayed_log_is_the_state_before(history in steps(), compacted in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Accountantnew.log");
        let mut journal = Journal::open(&path, 7).unwrap();
        for steps in &history {
            journal.commit(&transaction(steps)).unwrap();
        }
        if compacted {
            journal.compact(7).unwrap();
        }
        let replayed = AccountantLog::read(&std::fs::read(&path).unwrap()).unwrap();
        prop_assert!(replayed.warnings().is_empty(), "{:?}", replayed.warnings());
        prop_assert_eq!(
            String::from_utf8(replayed.to_text()).unwrap(),
            String::from_utf8(journal.log().to_text()).unwrap()
        );
    }
}
