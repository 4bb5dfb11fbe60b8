//! A daemon on this host that gives all clients READ, for tests.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ad::AdStream;
use crate::address::Address;
use crate::connection::Connection;
use crate::entropy::Entropy;
use crate::error::WireError;
use crate::key::KeyPair;

/// Starts a daemon without sessions, which answers each question about configuration with these strings. It ends with the process.
pub(crate) fn daemon(answer: impl Fn(&str) -> Vec<String> + Send + Sync + 'static) -> Address {
    daemon_that(move |connection| {
        let question = String::from_utf8_lossy(connection.string(1000)?).into_owned();
        connection.end()?;
        for string in answer(&question) {
            connection.put_string(&string);
        }
        connection.send()
    })
}

/// Starts a daemon without sessions that goes on like this after the handshake.
pub(crate) fn daemon_that(
    goes_on: impl Fn(&mut Connection<TcpStream>) -> Result<(), WireError> + Send + Sync + 'static,
) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    serve(listener, "", move |connection, _| goes_on(connection));
    address
}

/// Answers at an address, several clients at the same time: after the handshake, in which it says for which commands it takes a
/// session again, it goes on with the number of the command like this. It ends with the process.
pub(crate) fn serve(
    listener: TcpListener,
    valid: &'static str,
    goes_on: impl Fn(&mut Connection<TcpStream>, i64) -> Result<(), WireError> + Send + Sync + 'static,
) {
    let goes_on = Arc::new(goes_on);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let goes_on = Arc::clone(&goes_on);
            std::thread::spawn(move || {
                // A client may close the connection early.
                let _ = converse(stream.unwrap(), valid)
                    .and_then(|(mut connection, command)| goes_on(&mut connection, command));
            });
        }
    });
}

/// A part of a conversation, in the place of an authentication that succeeds.
pub(crate) type Doubt = fn(&mut Connection<TcpStream>) -> Result<(), WireError>;

/// Starts a daemon that asks for CLAIMTOBE and, to a client that proves who it is, does this; a client that does not has this result
/// of the handshake. Also returns the number of conversations so far.
pub(crate) fn doubting_daemon(doubt: Doubt, result: &'static str) -> (Address, Arc<AtomicUsize>) {
    // The client closes the connection.
    counting(move |_, stream| drop(agree(stream, "", result, Some(doubt))))
}

/// Starts a daemon that takes sessions of commands about configuration again, but does this with the second client. Also returns the
/// number of conversations so far.
pub(crate) fn daemon_with_a_second_client(second: fn(TcpStream)) -> (Address, Arc<AtomicUsize>) {
    counting(move |at, stream| match at {
        1 => second(stream),
        _ => drop(converse(stream, "60007")),
    })
}

/// Starts a daemon that does this with one client after the other, each with its number. Also returns the number of conversations so far.
fn counting(converses: impl Fn(usize, TcpStream) + Send + 'static) -> (Address, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let conversations = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&conversations);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            converses(count.fetch_add(1, Ordering::Relaxed), stream.unwrap());
        }
    });
    (address, conversations)
}

/// Holds the handshake; returns the number of the command.
fn converse(stream: TcpStream, valid: &str) -> Result<(Connection<TcpStream>, i64), WireError> {
    agree(stream, valid, "AUTHORIZED", None)
}

/// Holds the handshake with this result. A client that wants to prove who it is may meet a doubt.
fn agree(
    stream: TcpStream,
    valid: &str,
    result: &str,
    doubt: Option<Doubt>,
) -> Result<(Connection<TcpStream>, i64), WireError> {
    let quoted = |text: &str| format!("\"{text}\"");
    let mut connection = Connection::new(stream, "client".into());
    connection.int()?;
    let request = AdStream::of_handshake().read(&mut connection, true)?;
    connection.end()?;
    let mut entropy = Entropy::System;
    let pair = KeyPair::new(&mut entropy)?;
    let policy = [("Encryption", "YES"), ("ECDHPublicKey", &pair.public()), ("AuthMethodsList", "CLAIMTOBE")];
    let mut policy = policy.map(|(name, text)| (name, quoted(text))).to_vec();
    policy.push(("Authentication", quoted(if doubt.is_some() { "YES" } else { "NO" })));
    policy.push(("AuthRequired", "false".to_owned()));
    connection.put_ad(&policy).send()?;
    if let Some(doubt) = doubt {
        let methods = connection.int()?;
        connection.end()?;
        connection.put_int(methods).send()?;
        if methods != 0 {
            doubt(&mut connection)?;
        }
    }
    let key = pair.agree(request.eval_string("ECDHPublicKey").unwrap_or_default().as_bytes()).unwrap();
    connection.encrypt(&key, &mut entropy)?;
    let after = [("ReturnCode", result), ("User", "a@b"), ("Sid", "cm:1:2"), ("ValidCommands", valid)];
    connection.put_ad(&after.map(|(name, text)| (name, quoted(text)))).send()?;
    Ok((connection, request.eval_int("Command").unwrap_or_default()))
}
