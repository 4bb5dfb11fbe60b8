//! Recorded connections with a collector of HTCondor 25.14.1, replayed: what the client sends must be what was sent, byte by
//! byte, and what it receives must be read.

use std::collections::VecDeque;
use std::path::Path;

use classmate::internal::format::long::LineReader;

use crate::ad::AdStream;
use crate::address::Address;
use crate::command::QUERY_NEGOTIATOR_ADS;
use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::entropy::Entropy;
use crate::handshake::{Handshake, Identification, Target, reach};
use crate::hex;
use crate::query::{AdType, Query};
use crate::script::Script;
use crate::token::Token;

/// A recorded connection.
#[derive(Default)]
struct Recording {
    sent: Vec<u8>,
    received: Vec<u8>,
    /// The random numbers that the client drew, in its order.
    random: VecDeque<u8>,
    token: Option<String>,
}

impl Recording {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let mut recording = Recording::default();
        let (mut nonce, mut sends) = (Vec::new(), Vec::new());
        let after = |line: &str, word: &str| line.strip_prefix(word).map(|rest| rest.trim().to_owned());
        for line in text.lines() {
            if let Some(packet) = after(line, "send ") {
                sends.push(hex::bytes(&packet));
            } else if let Some(packet) = after(line, "recv ") {
                recording.received.extend(hex::bytes(&packet));
            } else if let Some(key) = after(line, "private key ") {
                recording.random.extend(hex::bytes(&key));
            } else if let Some(token) = after(line, "token ") {
                recording.token = Some(token);
            } else if let Some(plain) = after(line, "  send  plain ") {
                nonce = hex::bytes(plain.split(' ').nth(2).unwrap());
            }
        }
        if recording.token.is_some() {
            // The random number of the token exchange follows two integers, the identity and the token.
            let exchange = sends
                .iter()
                .find(|packet| packet.len() > 400 && !packet.windows(4).any(|part| part == b"Auth"))
                .unwrap();
            recording.random.extend(&exchange[exchange.len() - 256..]);
        }
        // The first nonce is the base.
        recording.random.extend(nonce);
        recording.sent = sends.concat();
        recording
    }
}

fn replay(name: &str, credentials: impl FnOnce(&Recording) -> Credentials) {
    let recording = Recording::read(name);
    let credentials = credentials(&recording);
    let text = String::from_utf8_lossy(&recording.sent).into_owned();
    let value = |name: &str| text.split(name).nth(1).unwrap().split('\0').next().unwrap().trim_matches('"');
    let address: Address = value("ConnectSinful = ").parse().unwrap();
    let socket = address.to_string().parse().unwrap();
    let target = Target { address: &address, socket, command: QUERY_NEGOTIATOR_ADS };
    let process = value("ServerPid = ").parse().unwrap();
    let identification = Identification {
        name: "cedar.py".to_owned(),
        version: "$CondorVersion: 25.14.1 2026-10-16 BuildID: cedar.py $".to_owned(),
        process,
    };
    let mut connection = Connection::new(Script::new(recording.received, 7), "recording".into());
    reach(&mut connection, &address, &identification).unwrap();
    let mut handshake = Handshake {
        identification: &identification,
        credentials: &credentials,
        authenticate: credentials.is_required(),
        anonymous: false,
        is_spared: false,
        entropy: Entropy::Fixed(recording.random),
        create: |_| Ok(()),
    };
    let session = handshake.negotiate(&mut connection, &target).unwrap();
    assert!(session.commands.contains(&5) && !session.id.is_empty());
    let query = Query::all().attributes(["Name"]);
    connection.put_ad(&query.for_collector(AdType::Negotiator)).send().unwrap();
    let mut ads = AdStream::of_answer(LineReader::new(&classmate::ParseOptions::default()));
    assert_eq!(connection.int().unwrap(), 1);
    assert_eq!(ads.read(&mut connection, true).unwrap().to_string(), "[ Name = \"cm.pool.test\" ]");
    assert_eq!(connection.int().unwrap(), 0);
    connection.end().unwrap();
    assert_eq!(hex::text(&connection.transport().outgoing), hex::text(&recording.sent));
    // Nothing that is shown of the session is secret.
    assert!(!format!("{session:?} {credentials:?}").contains(&session.id));
}

#[test]
fn without_authentication() {
    // The recorded client named two methods, and has neither.
    replay("query-negotiator.txt", |_| Credentials::none());
}

#[test]
fn with_a_token() {
    replay("query-with-token.txt", |recording| {
        let token = Token::parse(recording.token.as_deref().unwrap(), "recording").unwrap();
        Credentials::none().with_tokens([token]).required()
    });
}

#[test]
fn with_the_file_system() {
    // The recorded client made the directory.
    replay("query-with-fs.txt", |_| Credentials::none().with_file_system().required());
}
