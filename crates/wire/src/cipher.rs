//! The encrypted channel: AES-256-GCM with a nonce of 16 bytes for every packet (`docs/reference/wire-cedar.md` 7).

use aes_gcm::aead::consts::U16;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::aes::Aes256;
use aes_gcm::{AesGcm, Nonce};

use crate::key::Key;

/// Bytes that a packet grows by: its tag, and before the first one the base of the nonces.
pub(crate) const TAG: usize = 16;

/// Bytes of the base of the nonces.
pub(crate) const BASE: usize = 16;

/// Bytes of a packet's header.
pub(crate) const HEADER: usize = 5;

/// Digests of all that was sent and received in clear text.
pub(crate) type Digests = [[u8; 32]; 2];

/// The nonces of one direction.
#[derive(Debug)]
struct Nonces {
    base: [u8; BASE],
    count: u32,
}

impl Nonces {
    /// The next nonce; none if all were used.
    fn next(&mut self) -> Option<Nonce<U16>> {
        let first = u32::from_be_bytes([self.base[0], self.base[1], self.base[2], self.base[3]]);
        let mut nonce = self.base;
        nonce[..4].copy_from_slice(&first.wrapping_add(self.count).to_be_bytes());
        self.count = self.count.checked_add(1).filter(|count| *count != u32::MAX)?;
        Some(nonce.into())
    }
}

/// Encrypts and decrypts the packets of a connection. Round keys are zeroed when it is dropped.
pub(crate) struct Cipher {
    aead: AesGcm<Aes256, U16>,
    digests: Digests,
    sending: Nonces,
    receiving: Option<Nonces>,
}

impl Cipher {
    /// A channel with this key. The digests are those of what was sent and received in clear text; `base` is random.
    pub(crate) fn new(key: &Key, digests: Digests, base: [u8; BASE]) -> Self {
        Cipher { aead: AesGcm::new(key.bytes().into()), digests, sending: Nonces { base, count: 0 }, receiving: None }
    }

    /// Bytes that the next packet to be sent grows by.
    pub(crate) fn growth(&self) -> usize {
        if self.sending.count == 0 { BASE + TAG } else { TAG }
    }

    /// Encrypts `body` in place; the packet is the header, the returned base if there is one, the body and the tag.
    pub(crate) fn seal(&mut self, header: [u8; HEADER], body: &mut [u8]) -> Option<(Option<[u8; BASE]>, [u8; TAG])> {
        let first = (self.sending.count == 0).then_some(self.sending.base);
        let [sent, received] = &self.digests;
        let data = additional(first.is_some(), sent, received, header);
        let nonce = self.sending.next()?;
        let tag = self.aead.encrypt_inout_detached(&nonce, &data, InOutBuf::from(body)).ok()?;
        Some((first, tag.into()))
    }

    /// True until the first packet was received: its body begins with the base of the nonces.
    pub(crate) fn expects_base(&self) -> bool {
        self.receiving.is_none()
    }

    /// Decrypts a packet in place; `base` is that of the first packet.
    pub(crate) fn open(
        &mut self,
        header: [u8; HEADER],
        base: Option<[u8; BASE]>,
        body: &mut [u8],
        tag: [u8; TAG],
    ) -> Option<()> {
        if let Some(base) = base {
            self.receiving = Some(Nonces { base, count: 0 });
        }
        let nonce = self.receiving.as_mut()?.next()?;
        let [sent, received] = &self.digests;
        // The sender's order: what it sent comes first.
        let data = additional(base.is_some(), received, sent, header);
        self.aead.decrypt_inout_detached(&nonce, &data, InOutBuf::from(body), &tag.into()).ok()
    }
}

/// The additional data of a packet: before the header of the first one come the digests.
fn additional(first: bool, sent: &[u8; 32], received: &[u8; 32], header: [u8; HEADER]) -> Vec<u8> {
    if first { [&sent[..], &received[..], &header[..]].concat() } else { header.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::{bytes, text};

    /// The key of the test vectors is used as it is.
    fn cipher(sent: &str, received: &str) -> Cipher {
        let digest = |text: &str| <[u8; 32]>::try_from(bytes(text)).unwrap();
        let aead = AesGcm::new(&<[u8; 32]>::try_from((0..32).collect::<Vec<u8>>()).unwrap().into());
        let base = bytes("fffffffe00112233445566778899aabb").try_into().unwrap();
        let digests = [digest(sent), digest(received)];
        Cipher { aead, digests, sending: Nonces { base, count: 0 }, receiving: None }
    }

    const SENT: &str = "9fda9a30ff820da497c92577a29a9aca32c2810d1f933c67570afc105d81b454";
    const RECEIVED: &str = "4e6d171e6ba6b04afeea0765165e9a77383afd2989eea2f933ce765a2116e65d";
    const PACKETS: [(&str, &str); 3] = [
        (
            "00000000000001a0",
            "0100000028fffffffe00112233445566778899aabb0a0f64333fcaa656046a1ae5a73e52e3d90e265c23aa44ae",
        ),
        ("00000000000000056140626300", "010000001d6afd2a792a1736edf5d3478b84b1e6d4e295fb3c4d33993d43b52e933d"),
        // The counter wraps.
        ("78", "0100000011d6ca19ce21ec2412234f63fde2bd510db3"),
    ];

    #[test]
    fn packets_are_those_of_the_test_vectors() {
        let mut sender = cipher(SENT, RECEIVED);
        let mut receiver = cipher(RECEIVED, SENT);
        for (plain, wire) in PACKETS {
            let (mut body, wire) = (bytes(plain), bytes(wire));
            let mut header = [1, 0, 0, 0, 0];
            header[4] = (body.len() + sender.growth()) as u8;
            let (base, tag) = sender.seal(header, &mut body).unwrap();
            let packet = [&header[..], base.as_ref().map_or(&[][..], |base| base), &body, &tag].concat();
            assert_eq!(text(&packet), text(&wire));
            assert_eq!(receiver.expects_base(), base.is_some());
            receiver.open(header, base, &mut body, tag).unwrap();
            assert_eq!(text(&body), plain);
        }
    }

    #[test]
    fn changed_packets_and_digests_are_refused() {
        let sealed = || {
            let (mut sender, mut body) = (cipher(SENT, RECEIVED), b"abc".to_vec());
            let (base, tag) = sender.seal([1, 0, 0, 0, 35], &mut body).unwrap();
            (base, body, tag)
        };
        let (base, mut body, tag) = sealed();
        body[0] ^= 1;
        assert!(cipher(RECEIVED, SENT).open([1, 0, 0, 0, 35], base, &mut body, tag).is_none());
        let (base, mut body, tag) = sealed();
        assert!(cipher(RECEIVED, RECEIVED).open([1, 0, 0, 0, 35], base, &mut body, tag).is_none());
        let (base, mut body, tag) = sealed();
        assert!(cipher(RECEIVED, SENT).open([0, 0, 0, 0, 35], base, &mut body, tag).is_none());
    }

    #[test]
    fn no_nonce_is_used_twice() {
        let mut nonces = Nonces { base: [0xff; BASE], count: u32::MAX - 2 };
        assert!(nonces.next().is_some());
        assert!(nonces.next().is_none());
    }
}
