//! The security handshake as a client (`docs/reference/wire-cedar.md` 6): both sides agree on a policy, the client proves who it is if it has to,
//! and everything after that is encrypted.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use base64ct::{Base64, Encoding};
use classmate::{ClassAd, Value};

use crate::ad::AdStream;
use crate::address::Address;
use crate::command::{COMMANDS, Command, DC_AUTHENTICATE, SHARED_PORT_CONNECT};
use crate::connection::Connection;
use crate::credentials::{ALL_METHODS, Credentials, Method, configured_name};
use crate::entropy::Entropy;
use crate::error::{Failure, WireError};
use crate::file_system::{self, MakeDirectory};
use crate::key::KeyPair;
use crate::session::Session;

/// The version of HTCondor whose protocol the client speaks.
const VERSION: &str =
    concat!("$CondorVersion: 25.14.1 2026-10-16 BuildID: classmate-", env!("CARGO_PKG_VERSION"), " $");

/// Validity of a session, and the time after which an unused one ends, in seconds.
const SESSION_SECONDS: u64 = 3600;

/// Longest text of an attribute that becomes part of a message.
const MAX_SHOWN: usize = 200;

/// Longest ID of a session, which is kept with it: HTCondor's own have a host name and three numbers.
const MAX_ID: usize = 1000;

/// Facts about the client that daemons get.
#[derive(Clone, Debug)]
pub(crate) struct Identification {
    /// The name for the log of a shared port daemon.
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) process: u32,
}

impl Default for Identification {
    fn default() -> Self {
        Identification { name: "classmate".to_owned(), version: VERSION.to_owned(), process: std::process::id() }
    }
}

/// The daemon that a conversation goes to, and its command.
pub(crate) struct Target<'a> {
    pub(crate) address: &'a Address,
    /// The socket address of the connection.
    pub(crate) socket: SocketAddr,
    pub(crate) command: Command,
}

impl Target<'_> {
    /// The address as the client sees it, for FS authentication.
    fn place(&self) -> String {
        match self.address.endpoint() {
            Some(endpoint) => format!("{}?sock={endpoint}", self.socket),
            None => self.socket.to_string(),
        }
    }
}

/// Begins conversations.
pub(crate) struct Handshake<'a> {
    pub(crate) identification: &'a Identification,
    pub(crate) credentials: &'a Credentials,
    /// The client authenticates even if the daemon does not require it.
    pub(crate) authenticate: bool,
    /// The client does not authenticate; a daemon that asks for that lets it fail.
    pub(crate) anonymous: bool,
    /// The authentication failed, and the daemon would go on without it.
    pub(crate) is_spared: bool,
    pub(crate) entropy: Entropy,
    /// Makes the directories of FS authentication.
    pub(crate) create: MakeDirectory,
}

/// The text of a string literal.
fn quoted(text: &str) -> String {
    // A backslash at the end would hide the closing quote.
    format!("\"{}\"", text.trim_end_matches('\\').replace('"', "\\\""))
}

/// A string attribute of an ad of the handshake.
fn text(ad: &ClassAd, name: &str) -> String {
    ad.constant(name)
        .and_then(|value| value.as_bytes().map(|text| String::from_utf8_lossy(text).into_owned()))
        .unwrap_or_default()
}

/// A text of the peer, cut and without control characters.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_SHOWN).collect()
}

/// Asks the shared port daemon for the endpoint of the address, if it has one.
pub(crate) fn reach<T: Read + Write>(
    connection: &mut Connection<T>,
    address: &Address,
    identification: &Identification,
) -> Result<(), WireError> {
    if let Some(endpoint) = address.endpoint() {
        connection.put_int(SHARED_PORT_CONNECT).put_string(endpoint).put_string(&identification.name);
        connection.put_int(-1).put_int(0).send()?;
        connection.handed_over();
    }
    Ok(())
}

impl Handshake<'_> {
    /// The policy of the client.
    fn policy(&self, target: &Target<'_>, methods: &str, public: &str) -> Vec<(&'static str, String)> {
        let level = quoted(if self.authenticate { "REQUIRED" } else { "OPTIONAL" });
        let required = || quoted("REQUIRED");
        vec![
            ("AuthMethods", quoted(methods)),
            ("CryptoMethods", quoted("AES")),
            ("OutgoingNegotiation", quoted("PREFERRED")),
            ("Authentication", level.clone()),
            ("AuthenticationNew", level),
            ("Encryption", required()),
            ("Integrity", required()),
            ("Enact", quoted("NO")),
            ("Subsystem", quoted("TOOL")),
            ("ServerPid", self.identification.process.to_string()),
            ("SessionDuration", quoted("60")),
            ("SessionLease", SESSION_SECONDS.to_string()),
            ("NewSession", quoted("YES")),
            ("NegotiatedSession", "true".to_owned()),
            ("ECDHPublicKey", quoted(public)),
            ("RemoteVersion", quoted(&self.identification.version)),
            ("ConnectSinful", quoted(&target.address.sinful())),
            ("Command", target.command.number.to_string()),
        ]
    }

    /// Agrees on a new session, after which the payload of the command follows.
    pub(crate) fn negotiate<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        target: &Target<'_>,
    ) -> Result<Session, WireError> {
        let methods = if self.anonymous { Vec::new() } else { self.credentials.methods() };
        let pair = KeyPair::new(&mut self.entropy)?;
        let names: Vec<&str> = methods.iter().map(|method| method.wire_name()).collect();
        // The list may not be empty, even if no authentication is wanted, nor may those be that a daemon accepts of it.
        let names = match names.as_slice() {
            _ if self.anonymous => ALL_METHODS.to_owned(),
            [] => "FS,TOKEN".to_owned(),
            names => names.join(","),
        };
        connection.put_int(DC_AUTHENTICATE).put_ad(&self.policy(target, &names, &pair.public())).send()?;
        connection.waits_for(
            "its security policy; it may not run behind this port, demand another policy, or not know the command",
        );
        let mut ads = AdStream::of_handshake();
        let reply = ads.read(connection, true)?;
        connection.end()?;
        if text(&reply, "Encryption") == "NO" {
            return Err(connection.invalid("it does not encrypt"));
        }
        if text(&reply, "Authentication") == "YES" {
            let is_optional = !self.authenticate && matches!(reply.constant("AuthRequired"), Some(Value::Bool(false)));
            let result = self.authenticate(connection, target, &reply, &methods, is_optional);
            self.is_spared = is_optional && result.as_ref().is_err_and(WireError::is_unproved);
            result?;
        } else if self.authenticate {
            return Err(connection.invalid("it skips the authentication that is required"));
        }
        let Some(key) = pair.agree(text(&reply, "ECDHPublicKey").as_bytes()) else {
            return Err(connection.invalid("it did not send a public key"));
        };
        connection.encrypt(&key, &mut self.entropy)?;
        connection.waits_for("the result of the security handshake");
        let after = ads.read(connection, true)?;
        connection.end()?;
        let user = shown(&text(&after, "User"));
        match text(&after, "ReturnCode").as_str() {
            "AUTHORIZED" => {}
            "DENIED" => return Err(connection.fails(Failure::Denied { command: target.command.phrase, user })),
            "CMD_NOT_FOUND" => {
                return Err(
                    connection.fails(Failure::Refused(format!("it does not support {}", target.command.phrase)))
                );
            }
            other => return Err(connection.invalid(format!("unknown result `{}` of the handshake", shown(other)))),
        }
        let id = text(&after, "Sid");
        if id.len() > MAX_ID {
            return Err(connection.fails(Failure::Limit(format!("a session ID of more than {MAX_ID} bytes"))));
        }
        let valid = text(&after, "ValidCommands");
        let valid: HashSet<i64> = valid.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        let seconds = text(&reply, "SessionDuration").parse().unwrap_or(60).min(SESSION_SECONDS);
        let lease = reply.constant("SessionLease").and_then(|value| value.as_number()).unwrap_or(60.0);
        Ok(Session {
            id,
            key,
            user,
            commands: COMMANDS.iter().copied().filter(|number| valid.contains(number)).collect(),
            expires: Instant::now() + Duration::from_secs(seconds),
            lease: Duration::from_secs(lease.clamp(1.0, SESSION_SECONDS as f64) as u64),
            version: shown(&text(&reply, "RemoteVersion")),
        })
    }

    /// Proves who the client is, by the first method that works. An anonymous client lets all fail.
    fn authenticate<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        target: &Target<'_>,
        reply: &ClassAd,
        methods: &[Method],
        is_optional: bool,
    ) -> Result<(), WireError> {
        let agreed = text(reply, "AuthMethodsList");
        let agreed = if agreed.is_empty() { text(reply, "AuthMethods") } else { agreed };
        let agrees =
            |method: &Method| agreed.split(',').any(|name| name.trim().eq_ignore_ascii_case(method.wire_name()));
        let mut left: Vec<Method> = methods.iter().copied().filter(agrees).collect();
        if self.anonymous && is_optional {
            return match choice(connection, &left)? {
                0 => Ok(()),
                _ => Err(connection.invalid("it chose an authentication method that the client does not have")),
            };
        }
        if left.is_empty() {
            let accepted = agreed
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(|name| configured_name(&shown(name)));
            return Err(connection.fails(Failure::NoMethod {
                accepted: accepted.collect(),
                available: methods.iter().map(|method| method.name()).collect(),
                unusable: self.credentials.unusable().to_vec(),
            }));
        }
        let mut last = None;
        loop {
            let chosen = match choice(connection, &left) {
                // What comes after a refusal says less than the refusal.
                Err(error) => return Err(last.unwrap_or(error)),
                Ok(chosen) => chosen,
            };
            let Some(at) = left.iter().position(|method| method.bit() == chosen) else {
                return Err(last.unwrap_or_else(|| {
                    let accepted = vec!["other methods".to_owned()];
                    connection.fails(Failure::NoMethod { accepted, available: Vec::new(), unusable: Vec::new() })
                }));
            };
            let method = left.remove(at);
            let proof = match method {
                Method::Fs => file_system::prove(connection, &target.place(), self.create)?,
                Method::Token => self.present_token(connection, reply)?,
                Method::Ssl => match self.credentials.ssl() {
                    Some(ssl) => ssl.prove(connection, target.address.host())?,
                    None => Err("there are no authorities to trust".to_owned()),
                },
                Method::ClaimToBe => {
                    connection.put_int(1).put_string(self.credentials.claimed().unwrap_or_default()).send()?;
                    connection.waits_for("the result of CLAIMTOBE authentication");
                    let accepted = connection.int()?;
                    connection.end()?;
                    if accepted == 1 { Ok(()) } else { Err("the daemon does not believe it".to_owned()) }
                }
            };
            match proof {
                Ok(()) => {
                    connection.waits_for("the result of authentication");
                    let has_key = connection.int().map_err(|error| after_proof(connection, method, error))?;
                    connection.end()?;
                    if has_key == 0 {
                        return Ok(());
                    }
                    return Err(connection.invalid("it uses an old way to exchange keys"));
                }
                Err(reason) => {
                    last = Some(connection.fails(Failure::Authentication { method: method.name(), reason }));
                }
            }
        }
    }

    /// Presents the first token that the server may accept.
    fn present_token<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        reply: &ClassAd,
    ) -> Result<Result<(), String>, WireError> {
        let (domain, keys) = (text(reply, "TrustDomain"), text(reply, "IssuerKeys"));
        let tokens = self.credentials.tokens();
        let suitable: Vec<_> = tokens.iter().filter(|token| token.suits(&domain, &keys)).collect();
        let Some(token) = suitable.iter().find(|token| token.problem().is_none()) else {
            if let Some(own) = self.credentials.own_token(&domain, &keys)? {
                return own.prove(connection, &mut self.entropy);
            }
            if let Some(problem) = suitable.iter().find_map(|token| token.problem()) {
                return Err(problem);
            }
            let origin = tokens.first().map_or("", |token| token.origin());
            let what = format!(
                "no token for this pool: `{}` trusts tokens of `{}` signed with {}",
                connection.fails(Failure::Refused(String::new())).peer(),
                shown(&domain),
                if keys.is_empty() { "no key".to_owned() } else { shown(&keys) }
            );
            return Err(WireError::new(origin, Failure::Credential(what)));
        };
        token.prove(connection, &mut self.entropy)
    }

    /// Resumes a session; false if the daemon does not know it any more.
    pub(crate) fn resume<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        target: &Target<'_>,
        session: &Session,
    ) -> Result<bool, WireError> {
        let nonce = Base64::encode_string(&self.entropy.bytes::<33>()?);
        let policy = [
            ("UseSession", quoted("YES")),
            ("Sid", quoted(&session.id)),
            ("Command", target.command.number.to_string()),
            ("CryptoMethods", quoted("AES")),
            ("ConnectSinful", quoted(&target.address.sinful())),
            ("Nonce", quoted(&nonce)),
            ("ResumeResponse", "true".to_owned()),
            ("RemoteVersion", quoted(&self.identification.version)),
        ];
        connection.put_int(DC_AUTHENTICATE).put_ad(&policy).send()?;
        connection.waits_for("the resumption of a session");
        let reply = AdStream::of_handshake().read(connection, true)?;
        connection.end()?;
        if text(&reply, "ReturnCode") != "AUTHORIZED" {
            return Ok(false);
        }
        connection.encrypt(&session.key, &mut self.entropy)?;
        Ok(true)
    }

    /// Asks a daemon which methods it accepts: it names those that the client names too.
    pub(crate) fn accepted_methods<T: Read + Write>(
        &mut self,
        connection: &mut Connection<T>,
        target: &Target<'_>,
    ) -> Result<Vec<String>, WireError> {
        let pair = KeyPair::new(&mut self.entropy)?;
        connection.put_int(DC_AUTHENTICATE).put_ad(&self.policy(target, ALL_METHODS, &pair.public())).send()?;
        let reply = AdStream::of_handshake().read(connection, true)?;
        let list = text(&reply, "AuthMethodsList");
        Ok(list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| configured_name(&shown(name)))
            .collect())
    }
}

/// The bit of the method that the server chooses among these.
fn choice<T: Read + Write>(connection: &mut Connection<T>, methods: &[Method]) -> Result<i64, WireError> {
    connection.put_int(methods.iter().map(|method| method.bit()).sum()).send()?;
    connection.waits_for("the choice of an authentication method");
    let chosen = connection.int()?;
    connection.end()?;
    Ok(chosen)
}

/// An error behind a proof. A server that dislikes a token just stops talking; by the other methods it has accepted the proof before.
fn after_proof<T: Read + Write>(connection: &Connection<T>, method: Method, error: WireError) -> WireError {
    match error.failure() {
        Failure::Silent(time) if method == Method::Token => {
            connection.fails(Failure::Unanswered { method: method.name(), time: *time })
        }
        Failure::Closed(_) => {
            let reason = "the daemon gave no reason".to_owned();
            connection.fails(Failure::Authentication { method: method.name(), reason })
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Script, handshake_with};

    #[test]
    fn only_silence_after_a_token_may_be_a_refusal() {
        let connection = Connection::new(Script::new(Vec::new(), 4096), "cm:1".into());
        let silent = |method| {
            after_proof(&connection, method, connection.fails(Failure::Silent(Duration::from_secs(20)))).to_string()
        };
        assert_eq!(
            silent(Method::Token),
            "IDTOKENS authentication with `cm:1` fails: the daemon rejects it silently or hangs, nothing received for 20 s"
        );
        for other in [Method::Fs, Method::Ssl, Method::ClaimToBe] {
            assert_eq!(silent(other), "`cm:1` does not answer: nothing received for 20 s");
        }
    }

    #[test]
    fn a_server_cannot_skip_authentication() {
        let mut server = Connection::new(Script::new(Vec::new(), 4096), "peer".into());
        let policy = [("Authentication", "\"NO\"".to_owned()), ("Encryption", "\"YES\"".to_owned())];
        server.put_ad(&policy).send().unwrap();
        let sent = std::mem::take(&mut server.transport().outgoing);
        let error = handshake_with(&sent, 4096, true).unwrap_err();
        assert!(error.to_string().contains("it skips the authentication"), "{error}");
    }
}
