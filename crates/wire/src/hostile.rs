//! The client against a server on this host whose conversations are valid up to a random place: behind it bytes are random, changed or
//! missing. `RANDOM_RUNS` in the environment is the number of conversations.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use crate::ad::AdStream;
use crate::address::Address;
use crate::client::Client;
use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::entropy::Entropy;
use crate::error::WireError;
use crate::key::{Key, KeyPair};
use crate::query::{AdType, Query};
use crate::token::Token;
use crate::transport::Timeouts;
use classmate::internal::random::SplitMix64;

const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhQGIifQ.c2VjcmV0";

/// Numbers and bytes that are the same in each run.
struct Random(SplitMix64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0.below(most as u64) as usize
    }

    /// A byte; small ones are more often lengths that fit.
    fn byte(&mut self) -> u8 {
        let byte = self.below(256) as u8;
        if self.below(4) == 0 { byte } else { byte & 3 }
    }
}

/// The change of what a server sends, from a byte on.
#[derive(Clone, Copy, PartialEq)]
enum Damage {
    None,
    Changed,
    Missing,
    Random,
}

/// The transport of a server, with a damage.
struct Damaged<'r> {
    stream: TcpStream,
    damage: Damage,
    /// Bytes until the damage begins.
    left: usize,
    random: &'r mut Random,
}

impl Damaged<'_> {
    fn is_damaged(&self) -> bool {
        self.damage != Damage::None && self.left == 0
    }
}

impl Read for Damaged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The client waits for what does not come.
        if self.is_damaged() { Ok(0) } else { self.stream.read(buffer) }
    }
}

impl Write for Damaged<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = bytes.to_vec();
        if let Some(damaged) = sent.get_mut(self.left..).filter(|damaged| !damaged.is_empty()) {
            match self.damage {
                Damage::None => {}
                Damage::Changed => damaged[0] ^= 1 << self.random.below(8),
                Damage::Missing => sent.truncate(self.left),
                Damage::Random => damaged.iter_mut().for_each(|byte| *byte = self.random.byte()),
            }
        }
        self.left = self.left.saturating_sub(bytes.len());
        self.stream.write_all(&sent)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The messages of an answer to a command: often valid, often nearly so.
fn answer(command: i64, random: &mut Random) -> Vec<Vec<u8>> {
    let string = |text: &str| [&(text.len() as i64 + 1).to_be_bytes()[..], text.as_bytes(), &[0]].concat();
    let lines = ["Owner = \"a\"", "Cpus = 4", "ZKM", "ClaimId = \"x\"", "A = ((((1", "ErrorCode = 5", "\u{ad}", ""];
    let mut ad = |more: &[&str]| {
        let chosen: Vec<_> = (0..random.below(6)).map(|_| lines[random.below(lines.len())]).collect();
        // A mark takes the next string with it.
        let count = chosen.iter().chain(more).filter(|line| **line != "ZKM").count() as i64;
        let strings = chosen.iter().chain(more).chain(&["", ""]).flat_map(|line| string(line));
        count.to_be_bytes().into_iter().chain(strings).collect::<Vec<u8>>()
    };
    let (one, two, last) = (ad(&[]), ad(&["Name = \"s\""]), ad(&["Owner = 0"]));
    let (more, end) = (1_i64.to_be_bytes().to_vec(), 0_i64.to_be_bytes().to_vec());
    let mut messages = match command {
        516 => vec![one, two, last],
        5 => vec![[&more[..], &one, &more, &two, &end].concat()],
        _ => vec![["60", "X = 60", "<Default>"].map(string).concat()],
    };
    for _ in 0..random.below(3) {
        let place = random.below(messages.len());
        let message = &mut messages[place];
        let at = random.below(message.len());
        match random.below(4) {
            0 => message.truncate(at.max(1)),
            1 => message[at..].iter_mut().for_each(|byte| *byte = random.byte()),
            2 => message.insert(at, random.byte()),
            _ => message[at] = random.byte(),
        }
    }
    messages
}

/// Holds a conversation as a daemon does, and keeps the key of the session.
fn converse(
    connection: &mut Connection<Damaged<'_>>,
    random: &mut Random,
    known: &mut Option<Key>,
) -> Result<(), WireError> {
    let quoted = |text: &str| format!("\"{text}\"");
    connection.int()?;
    let request = AdStream::of_handshake().read(connection, true)?;
    connection.end()?;
    let mut entropy = Entropy::System;
    if let Some(key) = known.as_ref().filter(|_| request.eval_string("UseSession").is_some()) {
        let result = ["AUTHORIZED", "SID_NOT_FOUND"][usize::from(random.below(8) == 0)];
        connection.put_ad(&[("ReturnCode", quoted(result))]).send()?;
        connection.encrypt(key, &mut entropy)?;
    } else {
        let pair = KeyPair::new(&mut entropy)?;
        let authenticates = random.below(2) == 0;
        let policy = [
            ("Authentication", quoted(if authenticates { "YES" } else { "NO" })),
            ("Encryption", quoted("YES")),
            ("AuthMethodsList", quoted("TOKEN,SSL,CLAIMTOBE")),
            ("SessionDuration", quoted("60")),
            ("SessionLease", "3600".to_owned()),
            ("ECDHPublicKey", quoted(&pair.public())),
            ("AuthRequired", ["true", "false"][random.below(2)].to_owned()),
        ];
        connection.put_ad(&policy).send()?;
        if authenticates {
            connection.int()?;
            connection.end()?;
            let method = [2, 2, 256, 2048][random.below(4)];
            connection.put_int(method).send()?;
            if method == 2 {
                connection.int()?;
                connection.string(100)?;
                connection.end()?;
                connection.put_int(1).send()?;
                connection.put_int(0).send()?;
            } else {
                for _ in 0..random.below(10) {
                    let part: Vec<u8> = (0..=random.below(400)).map(|_| random.byte()).collect();
                    connection.put_int(0).put_int(part.len() as i64 - 1).put_bytes(&part).send()?;
                }
            }
        }
        let Some(key) = pair.agree(request.eval_string("ECDHPublicKey").unwrap().as_bytes()) else { return Ok(()) };
        connection.encrypt(&key, &mut entropy)?;
        let result = ["AUTHORIZED", "DENIED"][usize::from(random.below(8) == 0)];
        let after = [("ReturnCode", result), ("User", "a@b"), ("Sid", "cm:1:2"), ("ValidCommands", "5,516,60007")];
        connection.put_ad(&after.map(|(name, text)| (name, quoted(text)))).send()?;
        *known = Some(key);
    }
    for message in answer(request.eval_int("Command").unwrap_or(0), random) {
        connection.put_bytes(&message).send()?;
    }
    Ok(())
}

/// Serves conversations.
fn serve(listener: &TcpListener) {
    let (mut random, mut bytes) = (Random(SplitMix64::new(1)), Random(SplitMix64::new(2)));
    let mut known = None;
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        stream.set_nodelay(true).unwrap();
        let damage = [Damage::None, Damage::Changed, Damage::Missing, Damage::Random][random.below(4)];
        let left = if random.below(4) == 0 { 0 } else { random.below(1500) };
        let transport = Damaged { stream: stream.try_clone().unwrap(), damage, left, random: &mut bytes };
        let mut connection = Connection::new(transport, "client".into());
        let _ = converse(&mut connection, &mut random, &mut known);
        drop(connection);
        let more: Vec<u8> = (0..random.below(2000)).map(|_| random.byte()).collect();
        if damage == Damage::Random {
            let _ = (&stream).write_all(&more);
        }
        let _ = stream.shutdown(Shutdown::Write);
        // What is closed with unread bytes may take sent ones with it.
        let _ = io::copy(&mut &stream, &mut io::sink());
    }
}

#[test]
fn every_conversation_ends() {
    let runs: usize = std::env::var("RANDOM_RUNS").map_or(500, |runs| runs.parse().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = listener.local_addr().unwrap().to_string().parse().unwrap();
    std::thread::spawn(move || serve(&listener));
    let second = Duration::from_secs(1);
    let timeouts = Timeouts { connect: 10 * second, idle: 10 * second, total: 20 * second };
    let mut client = Client::default();
    let (mut read, mut failed) = (0, 0);
    for run in 0..runs {
        if run % 8 == 0 {
            let credentials = Credentials::none().with_tokens(Token::parse(TOKEN, "test")).with_distrust().unwrap();
            client = Client::new(credentials.with_claimed_identity("a@b")).with_timeouts(timeouts);
        }
        let result = match run % 4 {
            0 => client
                .query(&address, AdType::Slot, &Query::all())
                .and_then(|mut ads| ads.try_for_each(|ad| ad.map(drop))),
            1 => client.jobs(&address, &Query::all()).and_then(|mut ads| ads.try_for_each(|ad| ad.map(drop))),
            2 => client.setting(&address, "X").map(drop),
            _ => client.setting_names(&address).map(drop),
        };
        match result {
            Ok(()) => read += 1,
            Err(error) => {
                let text = error.to_string();
                assert!(text.len() < 1000 && !text.contains(char::is_control), "{text:?}");
                assert!(!text.contains("c2VjcmV0") && !format!("{error:?}").contains("c2VjcmV0"), "{text}");
                failed += 1;
            }
        }
    }
    assert!(read > runs / 50 && failed > runs / 4, "{read} conversations were read, {failed} failed");
}
