//! IDTOKENS (`docs/reference/wire-cedar.md` 9.3): the client proves that it knows the signature of a token, which never travels.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding};
use classmate::{ClassAd, Format, ParseOptions, Reader};
use zeroize::Zeroizing;

use crate::connection::Connection;
use crate::entropy::Entropy;
use crate::error::{Failure, WireError};
use crate::key::{HmacSha1, HmacSha256, Key};

/// A fixed table of HTCondor, which salts the keys of tokens.
const SEED: &[u8; 256] = include_bytes!("seed.bin");

/// Bytes of the random numbers of both sides.
const RANDOM: usize = 256;

/// Longest token, and largest file of tokens, certificates or a key.
const MAX_TOKEN: usize = 64 << 10;
const MAX_FILE: u64 = 1 << 20;

/// Bytes for which there is room in any case.
const LEAST_ROOM: u64 = 64 << 10;

/// Validity of a token that the client signs itself.
const OWN_TOKEN_SECONDS: u64 = 60;

/// An IDTOKEN. Its signature is secret: it is zeroed when the token is dropped, and never printed.
#[derive(Clone)]
pub struct Token {
    /// Header and payload, without the signature.
    text: String,
    signature: Zeroizing<Vec<u8>>,
    identity: String,
    issuer: String,
    key: String,
    expires: Option<u64>,
    /// The file it is from, for messages.
    origin: String,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("identity", &self.identity).field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Token {
    /// Reads a token: `header.payload.signature`. `origin` is what messages call it.
    ///
    /// # Errors
    /// The text is not a token.
    pub fn parse(text: &str, origin: &str) -> Result<Self, WireError> {
        let invalid = |what: &str| WireError::new(origin, Failure::Credential(what.to_owned()));
        let text = text.trim();
        if text.len() > MAX_TOKEN {
            return Err(invalid("the token is too long"));
        }
        let mut parts = text.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(invalid("expected an IDTOKEN of three parts with `.` between them"));
        };
        let signature = Base64UrlUnpadded::decode_vec(signature)
            .map(Zeroizing::new)
            .map_err(|_| invalid("the third part of the token is not Base64"))?;
        let header = object(header).ok_or_else(|| invalid("the first part of the token is not a JSON object"))?;
        let body = object(payload).ok_or_else(|| invalid("the second part of the token is not a JSON object"))?;
        let string = |ad: &ClassAd, name: &str| ad.eval_string(name);
        let algorithm = string(&header, "alg").unwrap_or_default();
        if !algorithm.starts_with("HS") {
            return Err(invalid("the token is not signed with HMAC, so it is not an IDTOKEN"));
        }
        let Some(identity) = string(&body, "sub").filter(|identity| !identity.is_empty()) else {
            return Err(invalid("the token has no `sub`"));
        };
        let end = text.rfind('.').unwrap_or_default();
        Ok(Token {
            text: text[..end].to_owned(),
            signature,
            identity,
            issuer: string(&body, "iss").unwrap_or_default(),
            key: string(&header, "kid").unwrap_or_else(|| "POOL".to_owned()),
            expires: body.eval_int("exp").and_then(|time| u64::try_from(time).ok()),
            origin: origin.to_owned(),
        })
    }

    /// Reads the tokens of a file: one a line; blank lines and those that begin with `#` do not count.
    ///
    /// # Errors
    /// The file cannot be read, or has no token, or a line is not a token.
    pub fn read(path: &Path) -> Result<Vec<Self>, WireError> {
        let name = path.display().to_string();
        let text = contents(path)?;
        let text = std::str::from_utf8(&text)
            .map_err(|_| WireError::new(&*name, Failure::Credential("it is not a file of tokens".to_owned())))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let tokens = lines.map(|line| Token::parse(line, &name)).collect::<Result<Vec<_>, _>>()?;
        if tokens.is_empty() {
            return Err(WireError::new(name, Failure::Credential("it contains no token".to_owned())));
        }
        Ok(tokens)
    }

    /// Signs a token with the signing key of a pool, as its daemons do: valid for a minute.
    ///
    /// # Errors
    /// The key cannot be read.
    pub fn sign(path: &Path, identity: &str, trust_domain: &str) -> Result<Self, WireError> {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut scrambled = contents(path)?;
        let key = signing_key(&mut scrambled, name == "POOL");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let header = format!("{{\"alg\":\"HS256\",\"kid\":{}}}", quoted(&name));
        let payload = format!(
            "{{\"exp\":{},\"iat\":{now},\"iss\":{},\"jti\":\"{now}\",\"sub\":{}}}",
            now + OWN_TOKEN_SECONDS,
            quoted(trust_domain),
            quoted(identity),
        );
        let text = format!(
            "{}.{}",
            Base64UrlUnpadded::encode_string(header.as_bytes()),
            Base64UrlUnpadded::encode_string(payload.as_bytes())
        );
        let signature = Zeroizing::new(key.authenticate::<HmacSha256>(&[text.as_bytes()]).unwrap_or_default());
        Ok(Token {
            text,
            signature,
            identity: identity.to_owned(),
            issuer: trust_domain.to_owned(),
            key: name,
            expires: Some(now + OWN_TOKEN_SECONDS),
            origin: path.display().to_string(),
        })
    }

    /// The identity that it stands for.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Tests whether a server with these signing keys in this trust domain may accept it. What the server does not say does
    /// not count.
    pub(crate) fn suits(&self, trust_domain: &str, keys: &str) -> bool {
        let mut keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty()).peekable();
        (trust_domain.is_empty() || self.issuer == trust_domain)
            && (keys.peek().is_none() || keys.any(|key| key == self.key))
    }

    /// The reason that it cannot be used now, if there is one.
    pub(crate) fn problem(&self) -> Option<WireError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        let expired = self.expires.filter(|expires| *expires <= now)?;
        let what = format!("the token of `{}` expired {} s ago", self.identity, now - expired);
        Some(WireError::new(&*self.origin, Failure::Credential(what)))
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The key that both sides derive.
    fn proof_key(&self) -> Key {
        Key::derived(&self.signature, &[SEED, self.text.as_bytes()].concat(), b"master ka")
    }

    /// Proves to a server that the client has the token. The inner error is the reason of a refusal.
    pub(crate) fn prove<T: Read + Write>(
        &self,
        connection: &mut Connection<T>,
        entropy: &mut Entropy,
    ) -> Result<Result<(), String>, WireError> {
        let key = self.proof_key();
        let own = entropy.bytes::<RANDOM>()?;
        let name = &self.identity;
        connection.put_int(0).put_int(name.len() as i64).put_string(name).put_string(&self.text);
        connection.put_int(RANDOM as i64).put_bytes(&own).send()?;
        connection.waits_for("its part of the token exchange");
        let status = connection.int()?;
        let mut names = [const { Vec::new() }; 2];
        for name in &mut names {
            connection.length(MAX_TOKEN)?;
            *name = connection.string(MAX_TOKEN)?.to_vec();
        }
        let mut parts = [const { Vec::new() }; 3];
        for part in &mut parts {
            let length = connection.length(MAX_TOKEN)?;
            *part = connection.bytes(length)?.to_vec();
        }
        connection.end()?;
        if status != 0 {
            return Ok(Err("the daemon does not accept the token".to_owned()));
        }
        let ([client, server], [echo, theirs, proof]) = (names, parts);
        if client != name.as_bytes() || echo != own || theirs.len() != RANDOM {
            return Err(connection.invalid("the token exchange is not about this client"));
        }
        let expected = key.authenticate::<HmacSha1>(&[&client, b" ", &server, &[0], &own, &theirs]);
        if expected.as_ref() != Some(&proof) {
            return Ok(Err("the daemon does not know the key that signed the token".to_owned()));
        }
        let proof = key.authenticate::<HmacSha1>(&[&client, &[0], &theirs]).unwrap_or_default();
        connection.put_int(0).put_int(name.len() as i64).put_string(name);
        connection.put_int(RANDOM as i64).put_bytes(&theirs).put_int(proof.len() as i64).put_bytes(&proof).send()?;
        Ok(Ok(()))
    }
}

/// A JSON object in Base64, as an ad.
fn object(text: &str) -> Option<ClassAd> {
    let text = Base64UrlUnpadded::decode_vec(text).ok()?;
    Reader::new(text.as_slice(), Format::Json, &ParseOptions::default()).next()?.ok()
}

/// The key that signs tokens, from the content of its file; that of a pool is doubled.
fn signing_key(scrambled: &mut Zeroizing<Vec<u8>>, pool: bool) -> Key {
    for (byte, mask) in scrambled.iter_mut().zip([0xDE, 0xAD, 0xBE, 0xEF].into_iter().cycle()) {
        *byte ^= mask;
    }
    let secret = if pool { Zeroizing::new(scrambled.repeat(2)) } else { Zeroizing::new(scrambled.to_vec()) };
    Key::derived(&secret, b"htcondor", b"master jwt")
}

/// The content of a small file. It is read without copies that stay in memory: there is room for all of it from the start.
pub(crate) fn contents(path: &Path) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let failed = |what: String| WireError::new(path.display().to_string(), Failure::Credential(what));
    let read = File::open(path).and_then(|file| {
        // A pipe does not tell its size.
        let size = file.metadata()?.len().clamp(LEAST_ROOM, MAX_FILE) + 1;
        let mut text = Zeroizing::new(Vec::with_capacity(size as usize));
        file.take(MAX_FILE + 1).read_to_end(&mut text)?;
        Ok(text)
    });
    match read {
        Ok(text) if text.len() as u64 > MAX_FILE => Err(failed(format!("it is larger than {} MiB", MAX_FILE >> 20))),
        Ok(text) => Ok(text),
        Err(error) => Err(failed(crate::error::reason(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::{bytes, text};
    use sha2::{Digest, Sha256};

    const UNSIGNED: &str =
        "eyJhbGciOiJIUzI1NiIsImtpZCI6IlBPT0wifQ.eyJpc3MiOiJ2bSIsImp0aSI6IjEiLCJzdWIiOiJjb25kb3JAdm0ifQ";

    fn token() -> Token {
        let signature = bytes("7f3c6814afd7c34391a84e7b8f4674350c02c1ec8f08b0723fa29af6b8eab47e");
        let text = format!("{UNSIGNED}.{}", Base64UrlUnpadded::encode_string(&signature));
        Token::parse(&text, "test").unwrap()
    }

    #[test]
    fn the_seed_is_the_table_of_htcondor() {
        let expected = "54029671f8b74888ae45fa5f5aa73755986b977fd44645dfe54d8fb646f69633";
        assert_eq!(text(&Sha256::digest(SEED)), expected);
    }

    #[test]
    fn the_signing_key_and_its_signature_are_those_of_the_test_vectors() {
        let key = signing_key(&mut Zeroizing::new((0..16).collect()), true);
        assert_eq!(text(key.bytes()), "2eb54acdc8342ed29ed7804f2208e50b0350fff72d5f433e43f9c43fa9fe3fed");
        let signature = key.authenticate::<HmacSha256>(&[UNSIGNED.as_bytes()]).unwrap();
        assert_eq!(signature, *token().signature);
    }

    #[test]
    fn the_proofs_are_those_of_the_test_vectors() {
        let key = token().proof_key();
        assert_eq!(text(key.bytes()), "657016557ba9f867110f4459b015e5ec1f36852ed122411d75f4e86834c50479");
        let (own, theirs) = ([1; RANDOM], [2; RANDOM]);
        let server = key.authenticate::<HmacSha1>(&[b"condor@vm condor@password\0", &own, &theirs]).unwrap();
        assert_eq!(text(&server), "d4f66bd4d410d9e5aee6203b3c4d98454d882b9e");
        let client = key.authenticate::<HmacSha1>(&[b"condor@vm\0", &theirs]).unwrap();
        assert_eq!(text(&client), "9ab10a9fcbae610f6795bb320505dc6788bdb49c");
    }

    #[test]
    fn tokens_are_chosen_by_issuer_and_key() {
        let token = token();
        assert_eq!((token.identity(), &*token.issuer, &*token.key), ("condor@vm", "vm", "POOL"));
        assert!(token.suits("vm", "OTHER, POOL") && token.suits("", ""));
        assert!(!token.suits("elsewhere", "POOL") && !token.suits("vm", "OTHER"));
        assert!(token.problem().is_none());
    }

    #[test]
    fn what_is_not_a_token_is_refused() {
        for text in ["", "a", "a.b.c", "a.b.c.d", &format!("{UNSIGNED}."), &format!("{UNSIGNED}.*"), "e30.e30.e30"] {
            let parsed = Token::parse(text, "test");
            assert!(parsed.is_err() || text.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn an_own_token_is_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("POOL");
        std::fs::write(&path, (0..16).collect::<Vec<u8>>()).unwrap();
        let own = Token::sign(&path, "condor@password", "pool.test").unwrap();
        let whole = format!("{}.{}", own.text, Base64UrlUnpadded::encode_string(&own.signature));
        let read = Token::parse(&whole, "test").unwrap();
        assert!(read.suits("pool.test", "POOL") && read.problem().is_none() && read.identity() == "condor@password");
    }

    #[test]
    fn files_with_secrets_are_read_into_one_place() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for size in [0, 100, 64 << 10, 300_000, MAX_FILE] {
            file.as_file().set_len(size).unwrap();
            let text = contents(file.path()).unwrap();
            // A second place would have another size.
            assert_eq!((text.len() as u64, text.capacity() as u64), (size, size.max(LEAST_ROOM) + 1));
        }
        file.as_file().set_len(MAX_FILE + 1).unwrap();
        assert!(contents(file.path()).is_err());
    }

    #[test]
    fn debug_output_and_messages_hide_the_signature() {
        let shown = format!("{:?}", token());
        assert!(!shown.contains("fzxoFK") && !shown.contains(UNSIGNED) && shown.contains("condor@vm"), "{shown}");
        let path = Path::new("/nonexistent/token");
        assert_eq!(
            Token::read(path).unwrap_err().to_string(),
            "cannot use `/nonexistent/token`: no such file or directory"
        );
    }
}
