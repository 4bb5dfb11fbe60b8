//! One connection to a daemon: packets, messages and values (`docs/reference/wire-cedar.md` 2, 3).
//!
//! In: bytes from the peer, which may be anything. Out: values, read from one buffer without copies. Nothing that the peer
//! sends makes the buffer larger than one string and one packet.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::budget::{Budget, Share};
use crate::cipher::{BASE, Cipher, Digests, HEADER, TAG};
use crate::entropy::Entropy;
use crate::error::{Failure, WireError};
use crate::key::Key;

/// Most bytes of a packet's body, by the protocol.
const MAX_PACKET: usize = 1 << 20;

/// Bytes of the packets that are sent.
const PACKET: usize = 64 << 10;

/// Most bytes of a string, by the protocol.
pub(crate) const MAX_STRING: usize = 10_000_000;

/// Most bytes that are received in clear text: no handshake needs as many.
const MAX_CLEAR: usize = 1 << 20;

/// Bytes of the strings of an ad, or of another message, that need no permission of the other conversations.
pub(crate) const SMALL: usize = 64 << 10;

/// The byte that stands for a missing string.
const NULL: u8 = 0xAD;

/// Digest of the packets of one direction that were in clear text.
#[derive(Default)]
struct Clear {
    digest: Sha256,
    bytes: usize,
}

impl Clear {
    fn add(&mut self, part: &[u8]) {
        self.digest.update(part);
        self.bytes += part.len();
    }

    fn finish(&mut self) -> [u8; 32] {
        let Clear { digest, bytes } = std::mem::take(self);
        if bytes == 0 { [0; 32] } else { digest.finalize().into() }
    }
}

/// The right to read a large ad, which one conversation of a client has at a time, and the buffer for it. What is given back to
/// the allocator would stay with the thread that had it.
#[derive(Clone, Default)]
pub(crate) struct Large {
    budget: Budget,
    buffer: Arc<Mutex<Vec<u8>>>,
}

impl fmt::Debug for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Large").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl Large {
    /// Exchanges a buffer, of which the part from `start` on is used, for the other one.
    fn swap(&self, buffer: &mut Vec<u8>, start: &mut usize) {
        let mut other = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        other.clear();
        other.extend_from_slice(&buffer[*start..]);
        std::mem::swap(&mut *other, buffer);
        *start = 0;
    }
}

/// A connection to a daemon over some transport.
pub(crate) struct Connection<T> {
    transport: T,
    peer: Arc<str>,
    sent: Clear,
    received: Clear,
    cipher: Option<Cipher>,
    /// Decrypted bytes that were received and not used yet.
    buffer: Vec<u8>,
    start: usize,
    /// True if the buffer holds the rest of the message.
    whole: bool,
    /// The message that is being written.
    out: Vec<u8>,
    /// The answer that the client waits for, for messages.
    waiting: &'static str,
    /// The right to a large ad, which the conversations of a client share, and the time for which it is waited for.
    large: Option<(Large, Duration)>,
    share: Option<Share>,
    /// Bytes of encrypted strings since the last ad.
    strings: usize,
}

impl<T: Read + Write> Connection<T> {
    /// A connection over a transport; `peer` is what messages call the daemon.
    pub(crate) fn new(transport: T, peer: Arc<str>) -> Self {
        Connection {
            transport,
            peer,
            sent: Clear::default(),
            received: Clear::default(),
            cipher: None,
            buffer: Vec::new(),
            start: 0,
            whole: false,
            out: Vec::new(),
            waiting: "an answer",
            large: None,
            share: None,
            strings: 0,
        }
    }

    pub(crate) fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Sets the answer that the client waits for.
    pub(crate) fn waits_for(&mut self, what: &'static str) {
        self.waiting = what;
    }

    /// Reads large ads only while no other conversation with the same budget does, which is waited for.
    pub(crate) fn shares(&mut self, large: &Large, time: Duration) {
        self.large = Some((large.clone(), time));
    }

    /// The end of an ad: the size of its strings, and the share that it needed. The buffer has the usual size again.
    pub(crate) fn release(&mut self) -> (usize, Option<Share>) {
        let share = self.share.take();
        if share.is_some()
            && let Some((large, _)) = &self.large
        {
            large.swap(&mut self.buffer, &mut self.start);
        }
        (std::mem::take(&mut self.strings), share)
    }

    /// Counts a string that comes, before memory is taken for it.
    fn count(&mut self, length: usize) -> Result<(), WireError> {
        self.strings += length;
        if self.strings > SMALL
            && self.share.is_none()
            && let Some((large, time)) = &self.large
        {
            let share = large.budget.take(1, *time);
            let what =
                || format!("other daemons send ads of more than {SMALL} bytes for longer than {} s", time.as_secs());
            self.share = Some(share.ok_or_else(|| self.fails(Failure::Limit(what())))?);
            large.swap(&mut self.buffer, &mut self.start);
        }
        Ok(())
    }

    /// Forgets what was sent so far: the shared port daemon has read it, not the peer.
    pub(crate) fn handed_over(&mut self) {
        self.sent = Clear::default();
    }

    /// Encrypts everything from now on.
    pub(crate) fn encrypt(&mut self, key: &Key, entropy: &mut Entropy) -> Result<(), WireError> {
        let digests: Digests = [self.sent.finish(), self.received.finish()];
        self.cipher = Some(Cipher::new(key, digests, entropy.bytes()?));
        Ok(())
    }

    /// An error of this conversation.
    pub(crate) fn fails(&self, failure: Failure) -> WireError {
        WireError::new(&*self.peer, failure)
    }

    pub(crate) fn invalid(&self, what: impl Into<String>) -> WireError {
        self.fails(Failure::Protocol(what.into()))
    }

    fn broken(&self, error: io::Error) -> WireError {
        if let Some(expired) = error.get_ref().and_then(|inner| inner.downcast_ref::<crate::transport::Expired>()) {
            return self.fails(expired.failure());
        }
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                self.fails(Failure::Closed(self.waiting))
            }
            _ => self.fails(Failure::Lost(error)),
        }
    }

    // Writing.

    pub(crate) fn put_int(&mut self, value: i64) -> &mut Self {
        self.put_bytes(&value.to_be_bytes())
    }

    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// A string; what follows a NUL is cut off, because strings cannot hold one.
    pub(crate) fn put_string(&mut self, text: &str) -> &mut Self {
        let text = text.split('\0').next().unwrap_or_default();
        if self.cipher.is_some() {
            self.put_int(text.len() as i64 + 1);
        }
        self.put_bytes(text.as_bytes()).put_bytes(&[0])
    }

    /// An ad of attributes with their expressions.
    pub(crate) fn put_ad(&mut self, attributes: &[(&str, String)]) -> &mut Self {
        self.put_int(attributes.len() as i64);
        for (name, expression) in attributes {
            self.put_string(&format!("{name} = {expression}"));
        }
        self.put_string("").put_string("")
    }

    /// Sends the message.
    pub(crate) fn send(&mut self) -> Result<(), WireError> {
        self.send_packets(true)
    }

    /// Sends a part of the message, which goes on.
    #[cfg(test)]
    pub(crate) fn send_part(&mut self) -> Result<(), WireError> {
        self.send_packets(false)
    }

    fn send_packets(&mut self, is_end: bool) -> Result<(), WireError> {
        let mut message = std::mem::take(&mut self.out);
        let count = message.len().div_ceil(PACKET);
        for (number, body) in message.chunks_mut(PACKET).enumerate() {
            let growth = self.cipher.as_ref().map_or(0, Cipher::growth);
            let mut header = [u8::from(is_end && number + 1 == count), 0, 0, 0, 0];
            header[1..].copy_from_slice(&((body.len() + growth) as u32).to_be_bytes());
            let packet = match &mut self.cipher {
                None => {
                    self.sent.add(&header);
                    self.sent.add(body);
                    [&header[..], body].concat()
                }
                Some(cipher) => {
                    let Some((base, tag)) = cipher.seal(header, body) else {
                        return Err(self.fails(Failure::Limit("too many packets on one connection".to_owned())));
                    };
                    [&header[..], base.as_ref().map_or(&[][..], |base| base), body, &tag].concat()
                }
            };
            self.transport.write_all(&packet).map_err(|error| self.broken(error))?;
        }
        self.transport.flush().map_err(|error| self.broken(error))
    }

    // Reading.

    /// Bytes of the message that are in the buffer.
    fn available(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Receives the next packet of the message.
    fn fill(&mut self) -> Result<(), WireError> {
        if self.whole {
            return Err(self.invalid("a message is too short"));
        }
        let mut header = [0; HEADER];
        self.receive(&mut header)?;
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize;
        if header[0] > 10 || !(1..=MAX_PACKET).contains(&length) {
            return Err(self.invalid("found bytes that are not a packet"));
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let place = self.buffer.len();
        match self.cipher.take() {
            None => {
                self.received.add(&header);
                if self.received.bytes + length > MAX_CLEAR {
                    return Err(self.fails(Failure::Limit("the handshake has more than 1 MiB".to_owned())));
                }
                self.receive_body(length)?;
                let Connection { received, buffer, .. } = self;
                received.add(&buffer[place..]);
            }
            Some(mut cipher) => {
                let base = if cipher.expects_base() { BASE } else { 0 };
                let Some(rest) = length.checked_sub(base + TAG) else {
                    return Err(self.invalid("an encrypted packet is too short"));
                };
                let base = if base > 0 {
                    let mut base = [0; BASE];
                    self.receive(&mut base)?;
                    Some(base)
                } else {
                    None
                };
                self.receive_body(rest)?;
                let mut tag = [0; TAG];
                self.receive(&mut tag)?;
                if cipher.open(header, base, &mut self.buffer[place..], tag).is_none() {
                    return Err(self.invalid("an encrypted packet was changed on its way, or the keys differ"));
                }
                self.cipher = Some(cipher);
            }
        }
        self.whole = header[0] != 0;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), WireError> {
        self.transport.read_exact(buffer).map_err(|error| self.broken(error))
    }

    /// Appends bytes of a packet to the buffer, which grows only as they come.
    fn receive_body(&mut self, mut length: usize) -> Result<(), WireError> {
        const STEP: usize = 64 << 10;
        while length > 0 {
            let (place, step) = (self.buffer.len(), length.min(STEP));
            if place + step > self.buffer.capacity() {
                // Twice as much, as usual, would be too much.
                self.buffer.reserve_exact(step.max(place / 4));
            }
            self.buffer.resize(place + step, 0);
            let Connection { transport, buffer, .. } = self;
            transport.read_exact(&mut buffer[place..]).map_err(|error| self.broken(error))?;
            length -= step;
        }
        Ok(())
    }

    /// Receives until this many bytes of the message are in the buffer.
    fn need(&mut self, count: usize) -> Result<(), WireError> {
        while self.available() < count {
            self.fill()?;
        }
        Ok(())
    }

    /// Raw bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&[u8], WireError> {
        self.need(count)?;
        self.start += count;
        Ok(&self.buffer[self.start - count..self.start])
    }

    /// An integer.
    pub(crate) fn int(&mut self) -> Result<i64, WireError> {
        let mut value = [0; 8];
        value.copy_from_slice(self.bytes(8)?);
        Ok(i64::from_be_bytes(value))
    }

    /// The length of something that follows, at most `most`.
    pub(crate) fn length(&mut self, most: usize) -> Result<usize, WireError> {
        let length = self.int()?;
        let Ok(wanted) = usize::try_from(length) else { return Err(self.invalid(format!("a length of {length}"))) };
        if wanted > most {
            return Err(self.fails(Failure::Limit(format!("a length of {length}, more than {most}"))));
        }
        Ok(wanted)
    }

    /// A string without its NUL, of at most `most` bytes.
    pub(crate) fn string(&mut self, most: usize) -> Result<&[u8], WireError> {
        let length = if self.cipher.is_some() {
            let length = self.length(most.saturating_add(1))?;
            if length == 0 {
                return Err(self.invalid("a string has no end"));
            }
            self.count(length)?;
            self.need(length)?;
            length
        } else {
            let mut searched = 0;
            loop {
                let bytes = &self.buffer[self.start..];
                if let Some(end) = memchr::memchr(0, &bytes[searched..]) {
                    break searched + end + 1;
                }
                searched = bytes.len();
                if searched > most {
                    return Err(self.fails(Failure::Limit(format!("a string of more than {most} bytes"))));
                }
                self.fill()?;
            }
        };
        if self.buffer[self.start + length - 1] != 0 {
            return Err(self.invalid("a string does not end in NUL"));
        }
        self.start += length;
        Ok(&self.buffer[self.start - length..self.start - 1])
    }

    /// Tests whether the string that follows has at most `most` bytes. One in clear text may have more.
    pub(crate) fn has_string_within(&mut self, most: usize) -> Result<bool, WireError> {
        if self.cipher.is_none() {
            return Ok(true);
        }
        self.need(8)?;
        let mut length = [0; 8];
        length.copy_from_slice(&self.buffer[self.start..self.start + 8]);
        Ok(i64::from_be_bytes(length) <= most as i64 + 1)
    }

    /// Passes over a string without keeping it; tests whether it is this one.
    pub(crate) fn skip_string(&mut self, expected: &[u8]) -> Result<bool, WireError> {
        if self.cipher.is_none() {
            return Ok(self.string(MAX_STRING)? == expected);
        }
        let mut left = self.length(MAX_STRING + 1)?;
        if left == expected.len() + 1 {
            return Ok(self.bytes(left)?.strip_suffix(&[0]) == Some(expected));
        }
        while left > 0 {
            self.need(1)?;
            let part = left.min(self.available());
            self.start += part;
            left -= part;
        }
        Ok(false)
    }

    /// A string that may be missing.
    pub(crate) fn optional_string(&mut self, most: usize) -> Result<Option<String>, WireError> {
        if self.cipher.is_none() {
            self.need(1)?;
        } else {
            self.need(9)?;
        }
        // A missing string is one byte, and with encryption its length may be 1: then no NUL follows.
        let at = self.start + if self.cipher.is_some() { 8 } else { 0 };
        if self.buffer[at] == NULL {
            let prefix = if self.cipher.is_some() { self.length(2)? } else { 1 };
            self.bytes(prefix)?;
            return Ok(None);
        }
        self.string(most).map(|text| Some(String::from_utf8_lossy(text).into_owned()))
    }

    /// The end of the message.
    pub(crate) fn end(&mut self) -> Result<(), WireError> {
        if self.available() > 0 || !self.whole {
            return Err(self.invalid("a message is longer than expected"));
        }
        self.buffer.clear();
        self.start = 0;
        self.whole = false;
        Ok(())
    }

    /// Tests whether the message ends here.
    pub(crate) fn at_end(&mut self) -> bool {
        self.available() == 0 && self.whole
    }
}

/// The value of a real number that was sent as two integers.
pub fn real(mantissa: i64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-2000, 2000) as i32;
    // In two steps, since the power alone may be too large or too small.
    mantissa as f64 / 2_147_483_647.0 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;
    use crate::script::Script;

    fn receiving(bytes: &[u8]) -> Connection<Script> {
        Connection::new(Script::new(bytes.to_vec(), usize::MAX), "peer".into())
    }

    fn packet(last: u8, body: &[u8]) -> Vec<u8> {
        [&[last], &(body.len() as u32).to_be_bytes()[..], body].concat()
    }

    #[test]
    fn an_ad_in_clear_text_is_that_of_the_test_vector() {
        let mut connection = receiving(b"");
        connection.put_ad(&[("A", "1".to_owned()), ("B", "\"x\"".to_owned())]).send().unwrap();
        let body = hex::bytes("000000000000000241203d20310042203d20227822000000");
        assert_eq!(connection.transport.outgoing, packet(1, &body));
    }

    #[test]
    fn reals_are_those_of_the_test_vectors() {
        for (mantissa, exponent, value) in
            [(0x3fff_ffff, 1, 1.0), (0xffff_ffff_b000_0001_u64 as i64, 2, -2.5), (0x63ff_ffff, 6, 50.0), (0, 0, 0.0)]
        {
            // 31 bits of precision.
            assert!((real(mantissa, exponent) - value).abs() < 1e-7 * (1.0 + value.abs()), "{value}");
        }
        assert_eq!(real(1, i64::MIN), 0.0);
        assert!(real(1, i64::MAX).is_infinite());
    }

    #[test]
    fn values_straddle_packets_and_messages_end() {
        let mut bytes = packet(0, &[0, 0, 0]);
        bytes.extend(packet(0, &[0, 0, 0, 1, 2, b'a']));
        bytes.extend(packet(1, b"bc\0"));
        bytes.extend(packet(10, b"\xad"));
        let mut connection = receiving(&bytes);
        assert_eq!(connection.int().unwrap(), 0x0102);
        assert_eq!(connection.string(10).unwrap(), b"abc");
        assert!(connection.at_end());
        connection.end().unwrap();
        assert_eq!(connection.optional_string(10).unwrap(), None);
        connection.end().unwrap();
        assert!(matches!(connection.int().unwrap_err().failure(), Failure::Closed("an answer")));
    }

    #[test]
    fn what_is_not_a_packet_is_refused() {
        for bytes in
            [b"\x0b\0\0\0\x01x".to_vec(), packet(1, b""), b"\x01\x00\x10\x00\x01x".to_vec(), b"SSH-2.0-x".to_vec()]
        {
            let error = receiving(&bytes).int().unwrap_err();
            assert!(matches!(error.failure(), Failure::Protocol(_)), "{error}");
        }
        // Too short, and too long.
        assert!(receiving(&packet(1, b"1234567")).int().is_err());
        let mut connection = receiving(&packet(1, b"123456789"));
        connection.int().unwrap();
        assert!(connection.end().is_err());
        // A string without an end, and one that is too long.
        assert!(receiving(&packet(1, b"abc")).string(10).is_err());
        assert!(receiving(&packet(1, &[b'a'; 100])).string(10).is_err());
    }

    #[test]
    fn clear_text_is_limited() {
        let bytes: Vec<u8> = (0..3).flat_map(|_| packet(0, &vec![b'a'; 500_000])).collect();
        let error = receiving(&bytes).string(MAX_STRING).unwrap_err();
        assert!(matches!(error.failure(), Failure::Limit(_)), "{error}");
    }

    #[test]
    fn strings_change_their_encoding_with_encryption() {
        let key = Key::of_session(b"x");
        let mut a = receiving(b"");
        a.encrypt(&key, &mut Entropy::Fixed((0..16).collect())).unwrap();
        a.put_string("ab\0c").put_int(-2).put_bytes(&[0, 0, 0, 0, 0, 0, 0, 1, NULL]).send().unwrap();
        let sent = std::mem::take(&mut a.transport.outgoing);
        assert!(!sent.windows(2).any(|pair| pair == b"ab"));
        let mut b = receiving(&sent);
        b.encrypt(&key, &mut Entropy::Fixed((0..16).collect())).unwrap();
        assert_eq!(b.string(10).unwrap(), b"ab");
        assert_eq!(b.int().unwrap(), -2);
        assert_eq!(b.optional_string(10).unwrap(), None);
        b.end().unwrap();
    }
}
