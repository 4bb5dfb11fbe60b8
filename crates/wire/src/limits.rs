//! The memory that servers can make the client use: one daemon, access points that are read at the same time, and many of them. Each
//! question is asked in a process of its own, whose peak is measured.

use std::io::Write as _;
use std::iter::once;
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use classmate::Semantics;

use crate::ad::AdStream;
use crate::address::Address;
use crate::client::{Ads, Client};
use crate::command::{QUERY_JOB_ADS, QUERY_SCHEDD_ADS};
use crate::connection::Connection;
use crate::daemon::{daemon_that, serve};
use crate::error::{Failure, WireError};
use crate::pool::{LivePool, PoolSource, SourceFailure};
use crate::query::{AdType, Query};
use crate::silent::SilentAccessPoints;
use crate::transport::Timeouts;

/// The variables that tell a process whom it asks, and what.
const PEER: &str = "CLASSMATE_TEST_PEER";
const QUESTION: &str = "CLASSMATE_TEST_QUESTION";

/// The variable that tells it to read each ad in its own version: lines wait until that is known.
const ADVERTISED: &str = "CLASSMATE_TEST_ADVERTISED";

/// The most that the client may use besides the ads that it hands on, in KiB.
const MOST: u64 = 64 << 10;

/// Bytes of an answer that is not to be kept: more than the client may use.
const LARGE: usize = 80 << 20;

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

/// The sum of so many bytes of names that are in no other one.
fn many_names(number: usize, bytes: usize) -> String {
    (0..bytes / 10).map(|at| format!("n{number:x}_{at:04x}+")).collect()
}

/// A question, a part of the outcome, and the answer, which is too large.
type Answer = (&'static str, &'static str, fn() -> Vec<u8>);

const ANSWERS: [Answer; 16] = [
    ("ads", "a length of 9223372036854775807", || [int(1), int(1), int(i64::MAX)].concat()),
    ("ads", "a length of 9223372036854775807", || [int(1), int(i64::MAX)].concat()),
    ("ads", "a length of 200000000", || [int(1), int(1), int(200_000_000), vec![b'a'; LARGE]].concat()),
    ("ads", "skipped 1 ad of ", || ad((0..40).map(|at| format!("A{at} = \"{}\"", "a".repeat(4 << 20))))),
    ("ads", "a message is too short", || many(|_| ad([format!("A = \"{}\"", "a".repeat(4_000_000))]))),
    ("ads", "a message is too short", || many(|_| ad((0..60_000).map(|at| format!("A{at} = {at}"))))),
    ("ads", "a message is too short", || many(|_| ad((0..60_000).map(|at| format!("A{at} = (((((("))))),
    ("ads", "an expression of more than 262144 bytes; a message is too short", || {
        ad([format!("A = {}1", "1+".repeat(4 << 20))])
    }),
    ("ads", "more than 1048576 bytes of expressions", || {
        ad((0..50).map(|at| format!("A{at} = {}1", "1+".repeat(100_000))))
    }),
    ("ads", "more than 1048576 bytes of expressions", || {
        ad((0..60_000).map(|at| format!("A{at} = {{{}}}", "\"\",".repeat(50))))
    }),
    ("ads", "too many different attribute names", || {
        many(|number| ad((0..60_000).map(|at| format!("hostile_name_{number}_{at} = 1"))))
    }),
    ("ads", "too many different attribute names", || {
        many(|number| ad((0..4).map(|at| format!("A{at} = {}1", many_names(number * 4 + at, 250_000)))))
    }),
    ("jobs", "is too slow", || ad(["Owner = \"a\"", "X = Y + 1"]).split_off(8)),
    ("jobs", " that exceed a limit: more than 4194304 bytes; ", || {
        ad((0..20).map(|at| format!("A{at} = \"{}\"", "a".repeat(1 << 20)))).split_off(8)
    }),
    ("settings", "more than 20000 strings", || many(|_| string(&[b'a'; 500_000]))),
    ("settings", "more than 20000 strings", || many(|_| string(b""))),
];

/// A value in the state of this process, KiB.
fn memory(name: &str) -> Option<u64> {
    let state = std::fs::read_to_string("/proc/self/status").ok()?;
    state.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Reads the jobs of a pool; all failures are the outcome. Who takes them may be blocked.
fn ask_pool(client: &Client, collector: &Address, is_blocked: bool) -> Result<(), WireError> {
    let mut pool = LivePool::locate(client, std::slice::from_ref(collector), &|_, _| ())?;
    pool.each_job(&Query::all(), &mut |_| {
        if is_blocked {
            std::thread::sleep(Duration::from_secs(5));
        }
        if is_blocked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let failures = pool.failures().iter().filter(|failure| matches!(failure.source, PoolSource::AccessPoint(_)));
    let failures: Vec<String> = failures.map(ToString::to_string).collect();
    Err(WireError::new("", Failure::Protocol(failures.join("; "))))
}

/// Reads all ads of an answer. Its end and the ads that were skipped are the outcome.
fn read(mut ads: Ads) -> Result<(), WireError> {
    let end = ads.try_for_each(|ad| ad.map(drop));
    let Some(skipped) = ads.skipped() else { return end };
    let end = end.err().map(|error| reason(&error)).unwrap_or_default();
    Err(WireError::new("", Failure::Protocol(format!("{skipped}; {end}"))))
}

/// An error without the address.
fn reason(error: &WireError) -> String {
    match error.failure() {
        Failure::Limit(what) | Failure::Protocol(what) => what.clone(),
        _ => error.to_string(),
    }
}

fn ask(peer: &Address, question: &str) -> Result<(), WireError> {
    let any = Semantics::default();
    let semantics = if std::env::var_os(ADVERTISED).is_some() { any.advertised() } else { any };
    let client = |timeouts| Client::default().with_semantics(semantics).with_timeouts(timeouts);
    if question.starts_with("pool") {
        let timeouts = Timeouts { idle: Duration::from_secs(1), ..Timeouts::default() };
        return ask_pool(&client(timeouts), peer, question == "pool, blocked");
    }
    let total = Duration::from_secs(if question == "jobs" { 5 } else { 60 });
    let client = client(Timeouts { total, ..Timeouts::default() });
    match question {
        "settings" => client.setting_names(peer).map(drop),
        "jobs" => read(client.jobs(peer, &Query::all())?),
        _ => read(client.query(peer, AdType::Slot, &Query::all())?),
    }
}

#[test]
#[ignore = "the part of the next test that runs in a process of its own"]
fn asks_and_measures() {
    let (Ok(peer), Ok(question)) = (std::env::var(PEER), std::env::var(QUESTION)) else { return };
    let before = memory("VmRSS").unwrap();
    let outcome = ask(&peer.parse().unwrap(), &question).err().map(|error| reason(&error));
    let used = memory("VmHWM").unwrap().saturating_sub(before);
    writeln!(std::io::stdout(), "\noutcome {used} {}", outcome.unwrap_or_default()).unwrap();
}

/// The memory that a process takes to ask this, and the outcome.
fn measured(peer: &Address, question: &str, is_advertised: bool) -> (u64, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "limits::asks_and_measures"]);
    command.env(PEER, peer.to_string()).env(QUESTION, question).envs(is_advertised.then_some((ADVERTISED, "1")));
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = text.lines().find_map(|line| line.strip_prefix("outcome ")).unwrap_or_else(|| panic!("{text}"));
    let (used, outcome) = outcome.split_once(' ').unwrap();
    (used.parse().unwrap(), outcome.to_owned())
}

/// Asks each question, and asserts that its answer has that outcome and takes little memory.
fn answers_take_little_memory(is_advertised: bool) {
    if memory("VmHWM").is_none() {
        return;
    }
    for (at, (question, expected, answer)) in ANSWERS.into_iter().enumerate() {
        let peer = daemon_that(move |connection| {
            if question == "settings" {
                connection.string(1000)?;
            } else {
                AdStream::of_handshake().read(connection, true)?;
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
        let (used, outcome) = measured(&peer, question, is_advertised);
        assert!(outcome.contains(expected), "answer {at}: {outcome}");
        assert!(used <= MOST, "answer {at}: {used} KiB");
    }
}

#[test]
fn no_answer_takes_much_memory() {
    answers_take_little_memory(false);
}

#[test]
fn no_answer_in_the_version_of_its_ads_takes_much_memory() {
    answers_take_little_memory(true);
}

/// Starts a pool with so many access points, each of which answers like this and has commands for its sessions.
fn pool(
    points: usize,
    valid: &'static str,
    answer: fn(&mut Connection<TcpStream>) -> Result<(), WireError>,
) -> Address {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    serve(listener, valid, move |connection, command| {
        AdStream::of_handshake().read(connection, true)?;
        connection.end()?;
        if command == QUERY_JOB_ADS.number {
            return answer(connection);
        }
        let named = if command == QUERY_SCHEDD_ADS.number { points } else { 0 };
        for number in 0..named {
            let host = format!("127.0.{}.{}", number / 250, number % 250 + 1);
            connection.put_bytes(&ad([format!("Name = \"ap{number}\""), format!("MyAddress = \"<{host}:{port}>\"")]));
        }
        connection.put_int(0).send()
    });
    format!("127.0.0.1:{port}").parse().unwrap()
}

#[test]
fn sessions_with_many_daemons_take_little_memory() {
    static VALID: LazyLock<String> = LazyLock::new(|| "516,1,".repeat(10_000));
    if memory("VmHWM").is_none() {
        return;
    }
    let (used, outcome) = measured(
        &pool(1000, &VALID, |connection| connection.put_ad(&[("Owner", "0".to_owned())]).send()),
        "pool",
        false,
    );
    assert_eq!(outcome, "");
    assert!(used <= MOST, "{used} KiB");
}

/// Sends these lines of an ad that has more, which do not come.
fn unfinished(connection: &mut Connection<TcpStream>, lines: impl Iterator<Item = String>) -> Result<(), WireError> {
    let ad = ad(lines);
    // Behind the marks of another ad and the number of its lines.
    connection.put_int(65_000).put_bytes(&ad[16..ad.len() - 18]).send_part()?;
    // The client ends it.
    connection.int().map(drop)
}

/// Sends one ad again and again.
fn endless(connection: &mut Connection<TcpStream>, lines: &[String]) -> Result<(), WireError> {
    let ad = ad(lines).split_off(8);
    loop {
        connection.put_bytes(&ad).send()?;
    }
}

fn expression(at: usize, length: usize) -> String {
    format!("A{at} = {}1", "1+".repeat(length / 2))
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A question to a pool of eight access points, a part of the outcome, and what each of them sends.
type PoolAnswer = (&'static str, &'static str, fn(&mut Connection<TcpStream>) -> Result<(), WireError>);

const POOL_ANSWERS: [PoolAnswer; 9] = [
    ("pool", "nothing received", |connection| unfinished(connection, (0..15).map(|at| expression(at, 260_000)))),
    ("pool", "nothing received", |connection| unfinished(connection, once(expression(0, 250_000)))),
    ("pool", "nothing received", |connection| {
        unfinished(connection, once(format!("A = \"{}\"", "a".repeat(4_000_000))))
    }),
    ("pool", "nothing received", |connection| {
        unfinished(connection, once(format!("A = \"{}\"", "a".repeat(9_900_000))))
    }),
    ("pool", "nothing received", |connection| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        unfinished(connection, (0..50_000).map(|at| format!("hostile_name_{number}_{at}_of_an_access_point = 1")))
    }),
    ("pool", "", |connection| {
        // Also in many small ads, several of which are read at the same time.
        for _ in 0..40 {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            connection.put_bytes(&ad([format!("A = {}1", many_names(number, 60_000))])[8..]).send()?;
        }
        unfinished(connection, once("X = 1".to_owned()))
    }),
    // Eight threads, for each of which the allocator may keep what an ad took.
    ("pool", "", |connection| {
        let large = (0..3).map(|at| expression(at, 80_000)).chain(["X = 1".to_owned()]).collect::<Vec<_>>();
        connection.put_bytes(&ad(&large).split_off(8)).send()?;
        unfinished(connection, (0..20).map(|at| expression(at, 3000)))
    }),
    ("pool, blocked", "", |connection| endless(connection, &[format!("A = \"{}\"", "a".repeat(4_000_000))])),
    ("pool, blocked", "", |connection| endless(connection, &[expression(0, 250_000)])),
];

#[test]
fn a_job_that_is_too_large_is_left_out_alone() {
    let address = pool(2, "", |connection| {
        let large = (0..5).map(|at| format!("A{at} = \"{}\"", "a".repeat(1_000_000)));
        for ad in [ad(["ProcId = 1"]), ad(large), ad(["ProcId = 2"]), ad(["Owner = 0"])] {
            connection.put_bytes(&ad[8..]).send()?;
        }
        Ok(())
    });
    let client = Client::default();
    let mut pool = LivePool::locate(&client, &[address], &|_, _| ()).unwrap();
    let numbers: Vec<_> = pool.jobs(&Query::all(), |ad, ()| ad).iter().map(|ad| ad.eval_int("ProcId")).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(1), Some(2)]);
    let partial = pool.failures().iter().filter(|failure| failure.is_partial()).map(ToString::to_string);
    let partial: Vec<String> = partial.collect();
    assert_eq!(partial.len(), 2);
    assert!(
        partial[0].starts_with("cannot read all of access point `ap0`: skipped 1 ad of `127.0.0.1:"),
        "{partial:?}"
    );
    assert!(partial[0].ends_with("that exceeds a limit: more than 4194304 bytes"), "{partial:?}");
}

#[test]
fn a_negotiator_whose_ad_is_skipped_is_reported_as_such() {
    let collector = || {
        daemon_that(|connection| {
            AdStream::of_handshake().read(connection, true)?;
            connection.end()?;
            let large = ad([format!("A = {}1", "1+".repeat(200_000))]);
            connection.put_bytes(&large).put_int(0).send()
        })
    };
    let client = Client::default();
    let pool = LivePool::locate(&client, &[collector()], &|_, _| ()).unwrap();
    assert!(pool.negotiator().is_none());
    let of_negotiator = pool.failures().iter().filter(|failure| failure.source == PoolSource::Other("the negotiator"));
    let messages: Vec<String> = of_negotiator.map(ToString::to_string).collect();
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("cannot read all of the negotiator: skipped 1 ad of `127.0.0.1:"), "{messages:?}");
    assert!(messages[0].ends_with("that exceeds a limit: an expression of more than 262144 bytes"), "{messages:?}");
    assert!(matches!(pool.into_negotiator().unwrap_err().failure(), Failure::Skipped { ads: 1, .. }));
}

#[test]
fn only_an_access_point_that_was_asked_is_silent() {
    // Those that are asked at the same time take all the time that there is.
    let address = pool(20, "", |connection| connection.int().map(drop));
    let (idle, total) = (Duration::from_secs(2), Duration::from_millis(1900));
    let client = Client::default().with_timeouts(Timeouts { idle, total, ..Timeouts::default() });
    let mut silent = SilentAccessPoints::default();
    let mut read = || {
        let mut pool = LivePool::locate(&client, std::slice::from_ref(&address), &|_, _| ()).unwrap();
        pool.leave_out(&mut silent);
        let left = pool.access_points().len();
        pool.jobs(&Query::all(), |ad, ()| ad);
        pool.remember_silent(&mut silent);
        let failures = pool.failures().iter().filter(|failure| matches!(failure.source, PoolSource::AccessPoint(_)));
        let is_asked = |failure: &&SourceFailure| !matches!(failure.error.failure(), Failure::NotAsked(_));
        (left, failures.clone().count(), failures.filter(is_asked).count())
    };
    // Eight are asked, and left out the next time; then eight others; then the rest.
    assert_eq!([read(), read(), read()], [(20, 20, 8), (12, 20, 16), (4, 20, 20)]);
}

#[test]
fn no_pool_takes_much_memory() {
    if memory("VmHWM").is_none() {
        return;
    }
    for (at, (question, expected, answer)) in POOL_ANSWERS.into_iter().enumerate() {
        let address = pool(8, "", answer);
        for is_advertised in [false, true] {
            let (used, outcome) = measured(&address, question, is_advertised);
            assert!(outcome.contains(expected), "answer {at}: {outcome}");
            assert!(used <= MOST, "answer {at}, {is_advertised}: {used} KiB");
        }
    }
}
