//! Keys of sessions: agreed between both sides, or imported (`docs/reference/wire-cedar.md` 7.1). They are zeroed when they are dropped.

use std::fmt;

use base64ct::{Base64, Encoding};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::entropy::Entropy;
use crate::error::WireError;

/// A key of 32 bytes.
#[derive(Clone)]
pub(crate) struct Key(Zeroizing<[u8; 32]>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// HKDF with SHA-256.
    pub(crate) fn derived(secret: &[u8], salt: &[u8], info: &[u8]) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        // 32 bytes are less than the most that can be derived, so this does not fail.
        let _ = Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut *key);
        Key(key)
    }

    /// The key of a session with this shared secret, or this text of an imported session.
    pub(crate) fn of_session(secret: &[u8]) -> Self {
        Key::derived(secret, b"htcondor", b"keygen")
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// HMAC of several pieces with a digest of 20 or 32 bytes.
    pub(crate) fn authenticate<M: Mac + KeyInit>(&self, pieces: &[&[u8]]) -> Option<Vec<u8>> {
        let mut mac = <M as KeyInit>::new_from_slice(&*self.0).ok()?;
        for piece in pieces {
            mac.update(piece);
        }
        Some(mac.finalize().into_bytes().to_vec())
    }
}

/// HMAC-SHA-1, which proves that a peer knows a token.
pub(crate) type HmacSha1 = Hmac<sha1::Sha1>;

/// HMAC-SHA-256, which signs tokens.
pub(crate) type HmacSha256 = Hmac<Sha256>;

/// A private key of P-256 and its public half.
pub(crate) struct KeyPair(SecretKey);

impl KeyPair {
    /// A new pair.
    pub(crate) fn new(entropy: &mut Entropy) -> Result<Self, WireError> {
        loop {
            let bytes = Zeroizing::new(entropy.bytes::<32>()?);
            // All but one of 2^32 are below the order of the curve.
            if let Ok(secret) = SecretKey::from_slice(&*bytes) {
                return Ok(KeyPair(secret));
            }
        }
    }

    /// The public key: an uncompressed point in Base64.
    pub(crate) fn public(&self) -> String {
        Base64::encode_string(self.0.public_key().to_sec1_point(false).as_bytes())
    }

    /// The session key agreed with the owner of a public key; none if that is not a point of the curve.
    pub(crate) fn agree(&self, public: &[u8]) -> Option<Key> {
        let point = Base64::decode_vec(std::str::from_utf8(public).ok()?).ok()?;
        let public = PublicKey::from_sec1_bytes(&point).ok()?;
        let shared = p256::ecdh::diffie_hellman(self.0.to_nonzero_scalar(), public.as_affine());
        Some(Key::of_session(shared.raw_secret_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::{bytes, text};

    #[test]
    fn session_keys_are_those_of_the_test_vectors() {
        let secret: Vec<u8> = (0..32).collect();
        let expected = "7eee2b53b21d8ff7a44536f836471d12cf7b42b1c8a61902aabe690504027afb";
        assert_eq!(text(Key::of_session(&secret).bytes()), expected);
        let expected = "b16104945ca655ea2fa6d072d4bd1e7a5f378389cc9563548beeb69dd5a12e71";
        assert_eq!(text(Key::of_session(b"cdacb85da03288d2").bytes()), expected);
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = Key::of_session(b"secret");
        assert_eq!(format!("{key:?}"), "Key(…)");
    }

    #[test]
    fn types_with_secrets_do_not_derive_debug() {
        let mut found = 0;
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
            // One file is not text.
            let Ok(source) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
            for item in code.split("\n\n").filter(|item| item.contains("struct ")) {
                let secret = ["Zeroizing<", "SecretKey)", ": Key,", ": AesGcm<"].iter().any(|part| item.contains(part));
                found += usize::from(secret);
                assert!(!secret || !item.contains("Debug"), "{item}");
            }
        }
        assert!(found >= 5, "{found}");
    }

    #[test]
    fn points_that_are_not_on_the_curve_are_refused() {
        let pair = KeyPair::new(&mut Entropy::Fixed((1..=32).collect())).unwrap();
        let mut point = vec![4];
        point.extend([7; 64]);
        assert!(pair.agree(Base64::encode_string(&point).as_bytes()).is_none());
        assert!(pair.agree(b"AAAA").is_none() && pair.agree(b"\xff").is_none() && pair.agree(b"").is_none());
        assert_eq!(pair.public().len(), 88);
        assert_eq!(bytes(&text(&point)), point);
    }
}
