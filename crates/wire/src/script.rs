//! A peer that sends given bytes and keeps what it receives, and conversations with it: for tests and for fuzzing.

use std::io::{self, Cursor, Read, Write};

use classmate::ParseOptions;
use classmate::internal::format::long::LineReader;

use crate::address::Address;
use crate::client::{MAX_CONFIGURATION, Source, next_ad, strings};
use crate::command::QUERY_ANY_ADS;
use crate::connection::Connection;
use crate::credentials::Credentials;
use crate::entropy::Entropy;
use crate::error::WireError;
use crate::handshake::{Handshake, Identification, Target};
use crate::key::Key;
use crate::new_names::OF_PROCESS;
use crate::token::Token;

/// A peer that sends given bytes.
#[derive(Debug)]
pub(crate) struct Script {
    incoming: Cursor<Vec<u8>>,
    /// Bytes that are read at once.
    piece: usize,
    /// The bytes that it received.
    pub(crate) outgoing: Vec<u8>,
}

impl Script {
    /// A peer that sends these bytes in pieces.
    pub(crate) fn new(bytes: Vec<u8>, piece: usize) -> Self {
        Script { incoming: Cursor::new(bytes), piece: piece.max(1), outgoing: Vec::new() }
    }
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.piece);
        self.incoming.read(&mut buffer[..most])
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The forms of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerKind {
    /// Of a collector.
    Ads,
    /// Of an access point.
    Jobs,
    /// About configuration.
    Strings,
}

/// Holds a handshake with a peer that sends these bytes.
///
/// # Errors
/// Nearly always: the bytes are not a handshake.
pub fn handshake(bytes: &[u8], piece: usize) -> Result<(), WireError> {
    handshake_with(bytes, piece, false)
}

/// As [`handshake`], where authentication is required or not.
pub(crate) fn handshake_with(bytes: &[u8], piece: usize, authenticate: bool) -> Result<(), WireError> {
    OF_PROCESS.restart();
    let address: Address = "<127.0.0.1:9618?sock=collector>".parse()?;
    let socket = ([127, 0, 0, 1], 9618).into();
    let tokens = Token::parse("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhQGIifQ.c2VjcmV0", "fuzzing");
    let credentials = Credentials::none().with_tokens(tokens).with_claimed_identity("a@b").with_distrust()?;
    let credentials = credentials.with_file_system();
    let mut connection = Connection::new(Script::new(bytes.to_vec(), piece), "peer".into());
    let identification = Identification::default();
    let mut handshake = Handshake {
        identification: &identification,
        credentials: &credentials,
        authenticate,
        anonymous: false,
        is_spared: false,
        entropy: Entropy::Fixed((1..=32).collect()),
        create: |_| Err(io::ErrorKind::PermissionDenied.into()),
    };
    let target = Target { address: &address, socket, command: QUERY_ANY_ADS };
    let session = handshake.negotiate(&mut connection, &target)?;
    let mut again = Connection::new(Script::new(bytes.to_vec(), piece), "peer".into());
    handshake.resume(&mut again, &target, &session).map(drop)
}

/// Reads an answer with this content, sent over an encrypted channel, with its ads read like this; returns how many ads or strings it
/// has.
///
/// # Errors
/// The bytes are not such an answer.
pub fn answer(kind: AnswerKind, options: &ParseOptions, bytes: &[u8], piece: usize) -> Result<usize, WireError> {
    OF_PROCESS.restart();
    let key = Key::of_session(b"fuzzing");
    let fixed = || Entropy::Fixed((0..16).collect());
    let mut sender = Connection::new(Script::new(Vec::new(), piece), "peer".into());
    sender.encrypt(&key, &mut fixed())?;
    sender.put_bytes(bytes).send()?;
    let sent = std::mem::take(&mut sender.transport().outgoing);
    let mut connection = Connection::new(Script::new(sent, piece), "peer".into());
    connection.encrypt(&key, &mut fixed())?;
    let source = match kind {
        AnswerKind::Ads => Source::Collector,
        AnswerKind::Jobs => Source::Queue,
        AnswerKind::Strings => return strings(&mut connection, 1000, MAX_CONFIGURATION).map(|strings| strings.len()),
    };
    let (mut stream, mut count) = (source.stream(LineReader::new(options)), 0);
    while next_ad(&mut connection, &mut stream, source)?.is_some() {
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    fn read(kind: AnswerKind, bytes: &[u8], piece: usize) -> Result<usize, WireError> {
        answer(kind, &ParseOptions::default(), bytes, piece)
    }

    fn string(text: &[u8]) -> Vec<u8> {
        [&(text.len() as i64 + 1).to_be_bytes()[..], text, &[0]].concat()
    }

    fn int(value: i64) -> Vec<u8> {
        value.to_be_bytes().to_vec()
    }

    #[test]
    fn answers_are_read_to_their_end() {
        let ad = |line: &[u8]| [int(1), string(line), string(b""), string(b"")].concat();
        let two = [int(1), ad(b"A = 1"), int(1), ad(b"B = \"\n\""), int(0)].concat();
        assert_eq!(read(AnswerKind::Ads, &two, 3).unwrap(), 2);
        assert!(read(AnswerKind::Ads, &two[..two.len() - 8], 1000).is_err());
        assert_eq!(read(AnswerKind::Jobs, &ad(b"Owner = 0"), 1000).unwrap(), 0);
        let failed = [int(2), string(b"Owner = 0"), string(b"ErrorCode = 3"), string(b""), string(b"")].concat();
        assert!(matches!(read(AnswerKind::Jobs, &failed, 1000).unwrap_err().failure(), Failure::Refused(_)));
        assert_eq!(read(AnswerKind::Strings, &[string(b"a"), string(b"")].concat(), 1000).unwrap(), 2);
        assert!(read(AnswerKind::Strings, &string(b"!error:unsup:1: no"), 1000).is_err());
        // 17 MB, more than 16 MiB.
        let long = read(AnswerKind::Strings, &string(&vec![b'a'; 1_000_000]).repeat(17), usize::MAX);
        assert!(matches!(long.unwrap_err().failure(), Failure::Limit(_)));
        let text = [&b"ErrorString = \""[..], &vec![b'a'; 1000], b"\""].concat();
        let failed = [int(3), string(b"Owner = 0"), string(b"ErrorCode = 3"), string(&text), string(b""), string(b"")];
        assert!(read(AnswerKind::Jobs, &failed.concat(), 1000).unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn random_bytes_are_refused() {
        let mut state = 88_172_645_463_325_252_u64;
        for round in 0..2_000 {
            let bytes: Vec<u8> = (0..round % 300)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    // Small values are more often lengths that fit.
                    if state.is_multiple_of(4) { (state >> 8) as u8 } else { (state >> 8) as u8 & 3 }
                })
                .collect();
            assert!(handshake(&bytes, 1 + round % 7).is_err());
            for kind in [AnswerKind::Ads, AnswerKind::Jobs, AnswerKind::Strings] {
                let _ = read(kind, &bytes, 1 + round % 7);
            }
        }
    }
}
