//! The memory that servers can make the client use. Each question is asked in a process of its own, whose peak is measured.

use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use crate::address::Address;
use crate::client::Client;
use crate::daemon::daemon_that;
use crate::error::{Failure, WireError};
use crate::query::{AdType, Query};
use crate::transport::Timeouts;

/// The variables that tell a process whom it asks, and what.
const PEER: &str = "CLASSMATE_TEST_PEER";
const QUESTION: &str = "CLASSMATE_TEST_QUESTION";

/// The most that the client may use besides the ads that it hands on, in KiB.
const MOST: u64 = 64 << 10;

/// Bytes of an answer that is not to be kept.
const LARGE: usize = 100 << 20;

fn int(value: i64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn string(text: &[u8]) -> Vec<u8> {
    [&int(text.len() as i64 + 1)[..], text, &[0]].concat()
}

/// An ad in the answer of a collector.
fn ad<L: AsRef<[u8]>>(lines: impl IntoIterator<Item = L>) -> Vec<u8> {
    let (mut body, mut count) = (Vec::new(), 0);
    for line in lines {
        body.extend(string(line.as_ref()));
        count += 1;
    }
    [int(1), int(count), body, string(b""), string(b"")].concat()
}

/// As many of these parts as make a large answer.
fn many(part: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut answer = Vec::new();
    for number in 0.. {
        answer.extend(part(number));
        if answer.len() > LARGE {
            break;
        }
    }
    answer
}

/// A question, a part of the outcome, and the answer, which is too large.
type Answer = (&'static str, &'static str, fn() -> Vec<u8>);

const ANSWERS: [Answer; 14] = [
    ("ads", "a length of 9223372036854775807", || [int(1), int(1), int(i64::MAX)].concat()),
    ("ads", "a length of 9223372036854775807", || [int(1), int(i64::MAX)].concat()),
    ("ads", "a length of 200000000", || [int(1), int(1), int(200_000_000), vec![b'a'; LARGE]].concat()),
    ("ads", "a length of ", || ad((0..40).map(|at| format!("A{at} = \"{}\"", "a".repeat(4 << 20))))),
    ("ads", "a message is too short", || many(|_| ad([format!("A = \"{}\"", "a".repeat(9 << 20))]))),
    ("ads", "a message is too short", || many(|_| ad((0..60_000).map(|at| format!("A{at} = {at}"))))),
    ("ads", "a message is too short", || many(|_| ad((0..60_000).map(|at| format!("A{at} = (((((("))))),
    ("ads", "an expression of more than", || ad([format!("A = {}1", "1+".repeat(4 << 20))])),
    ("ads", "an ad with more than", || ad((0..50).map(|at| format!("A{at} = {}1", "1+".repeat(100_000))))),
    ("ads", "an ad with more than", || ad((0..60_000).map(|at| format!("A{at} = {{{}}}", "\"\",".repeat(50))))),
    ("ads", "too many different attribute names", || {
        many(|number| ad((0..60_000).map(|at| format!("hostile_name_{number}_{at} = 1"))))
    }),
    ("jobs", "is too slow", || ad(["Owner = \"a\"", "X = Y + 1"]).split_off(8)),
    ("settings", "more than 20000 strings", || many(|_| string(&[b'a'; 500_000]))),
    ("settings", "more than 20000 strings", || many(|_| string(b""))),
];

/// A value in the state of this process, KiB.
fn memory(name: &str) -> Option<u64> {
    let state = std::fs::read_to_string("/proc/self/status").ok()?;
    state.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix(" kB")?.parse().ok())
}

fn ask(peer: &Address, question: &str) -> Result<(), WireError> {
    let total = Duration::from_secs(if question == "jobs" { 2 } else { 60 });
    let timeouts = Timeouts { total, ..Timeouts::default() };
    let client = Client::default().with_timeouts(timeouts);
    match question {
        "settings" => client.setting_names(peer).map(drop),
        "jobs" => client.jobs(peer, &Query::all())?.try_for_each(|ad| ad.map(drop)),
        _ => client.query(peer, AdType::Slot, &Query::all())?.try_for_each(|ad| ad.map(drop)),
    }
}

#[test]
#[ignore = "the part of the next test that runs in a process of its own"]
fn asks_and_measures() {
    let (Ok(peer), Ok(question)) = (std::env::var(PEER), std::env::var(QUESTION)) else { return };
    let before = memory("VmRSS").unwrap();
    let outcome = ask(&peer.parse().unwrap(), &question).err().map(|error| match error.failure() {
        Failure::Limit(what) | Failure::Protocol(what) => what.clone(),
        _ => error.to_string(),
    });
    let used = memory("VmHWM").unwrap().saturating_sub(before);
    writeln!(std::io::stdout(), "\noutcome {used} {}", outcome.unwrap_or_default()).unwrap();
}

#[test]
fn no_answer_takes_much_memory() {
    if memory("VmHWM").is_none() {
        return;
    }
    for (at, (question, expected, answer)) in ANSWERS.into_iter().enumerate() {
        let peer = daemon_that(move |connection| {
            if question == "settings" {
                connection.string(1000)?;
            } else {
                crate::ad::AdStream::of_handshake().read(connection, true)?;
            }
            connection.end()?;
            let answer = answer();
            loop {
                connection.put_bytes(&answer).send()?;
                // The answer of an access point goes on for ever.
                if question != "jobs" {
                    return Ok(());
                }
            }
        });
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "limits::asks_and_measures"])
            .env(PEER, peer.to_string())
            .env(QUESTION, question)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let outcome = text.lines().find_map(|line| line.strip_prefix("outcome ")).unwrap_or_else(|| panic!("{text}"));
        let (used, outcome) = outcome.split_once(' ').unwrap();
        assert!(outcome.contains(expected), "answer {at}: {outcome}");
        assert!(used.parse::<u64>().unwrap() <= MOST, "answer {at}: {used} KiB");
    }
}
