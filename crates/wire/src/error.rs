//! Failures of a conversation with a daemon: who it was with, and what went wrong.
//!
//! No message holds a key, a token or a claim ID; a test of the crate searches them.

use std::borrow::Cow;
use std::io;
use std::net::Ipv6Addr;
use std::time::Duration;

use classmate::internal::plural::counted;
use thiserror::Error;

/// A failed conversation with a daemon.
#[derive(Debug, Error)]
#[error("{}{}", .failure.message(.peer), .before.as_ref().map(|error| format!("; before that, {error}")).unwrap_or_default())]
pub struct WireError {
    /// The address, for messages.
    peer: Box<str>,
    failure: Failure,
    /// The failure of an attempt before.
    before: Option<Box<WireError>>,
}

/// A suggestion if there are no credentials.
const AUTHENTICATE: &str = "authenticate with an IDTOKEN, or run on the host of the daemon as a user that it knows";

/// Reasons of a [`WireError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The text is not an address.
    Address(&'static str),
    /// The name of the host does not resolve.
    Resolve(io::Error),
    /// The daemon cannot be reached.
    Connect(io::Error),
    /// The connection broke.
    Lost(io::Error),
    /// The daemon closed the connection, while the client waited for this.
    Closed(&'static str),
    /// The daemon did not send anything for this time.
    Silent(Duration),
    /// The conversation took longer than this.
    Late(Duration),
    /// The daemon was not asked: this time was over before its turn came.
    NotAsked(Duration),
    /// The peer sent something else than HTCondor's protocol.
    Protocol(String),
    /// The answer exceeds a limit of the client.
    Limit(String),
    /// Ads of the answer exceed a limit of the client, and were skipped; the others were read.
    Skipped {
        /// Their number.
        ads: u64,
        /// The limit that the first of them exceeds.
        limit: String,
    },
    /// The daemon does not permit a command.
    Denied {
        /// The command, in words.
        command: &'static str,
        /// The identity that the client has for the daemon.
        user: String,
    },
    /// The daemon requires an authentication that the client cannot do.
    NoMethod {
        /// The methods that the daemon accepts; empty if it does not say.
        accepted: Vec<String>,
        /// The methods that the client could use.
        available: Vec<&'static str>,
        /// The reasons for which files of tokens are left out.
        unusable: Vec<String>,
    },
    /// An authentication failed.
    Authentication {
        /// The method.
        method: &'static str,
        /// The reason.
        reason: String,
    },
    /// The daemon did not send anything for this time after a proof that it may refuse in silence: it refuses it, or hangs.
    Unanswered {
        /// The method.
        method: &'static str,
        /// The time.
        time: Duration,
    },
    /// The certificate of the daemon does not prove that it is the daemon.
    Untrusted(String),
    /// A token or key of the client cannot be used.
    Credential(String),
    /// The daemon answered with an error.
    Refused(String),
    /// The collector does not have an ad of this daemon.
    Unknown(&'static str),
    /// Each of several collectors failed.
    All(Vec<WireError>),
}

impl WireError {
    pub(crate) fn new(peer: impl Into<Box<str>>, failure: Failure) -> Self {
        WireError { peer: peer.into(), failure, before: None }
    }

    /// The same failure, of a second attempt.
    pub(crate) fn after(self, before: WireError) -> Self {
        WireError { before: Some(Box::new(before)), ..self }
    }

    /// The address of the daemon, or the name of the file of a credential.
    pub fn peer(&self) -> &str {
        &self.peer
    }

    /// The reason.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// A suggestion.
    pub fn help(&self) -> Option<Cow<'static, str>> {
        if let Failure::Connect(_) | Failure::Address(_) = &self.failure
            && let Some(other) = with_port(&self.peer)
        {
            return Some(Cow::Owned(format!("if the last part is the port, write {other}")));
        }
        Some(Cow::Borrowed(match &self.failure {
            Failure::All(errors) => return errors.iter().find_map(WireError::help),
            Failure::Address(_) => "expected HOST, HOST:PORT, [IPv6]:PORT or `<HOST:PORT?…>`",
            Failure::Connect(_) => "check the address and that the daemon is running; the usual port is 9618",
            Failure::Protocol(_) => "check that the port is that of an HTCondor daemon",
            Failure::NoMethod { available, unusable, .. } => {
                let general = available.is_empty().then(|| AUTHENTICATE.to_owned());
                let unused =
                    (!unusable.is_empty()).then(|| format!("a file of tokens is not used: {}", unusable.join("; ")));
                let parts: Vec<String> = general.into_iter().chain(unused).collect();
                return (!parts.is_empty()).then(|| Cow::Owned(parts.join("; ")));
            }
            Failure::Denied { .. } => "ask the administrator of the pool for a token with READ permission",
            Failure::Authentication { method: "IDTOKENS", .. } | Failure::Unanswered { .. } => {
                "check that the token was issued by this pool, and that it is neither expired nor revoked"
            }
            Failure::Authentication { method: "FS", .. } => {
                "on another host than the daemon, authenticate with an IDTOKEN"
            }
            Failure::Unknown(_) => "check that the daemon is running, and wait until it has sent its ad",
            Failure::Untrusted(_) => "check the host name in --pool and the authorities in the file of --ca",
            _ => return None,
        }))
    }

    /// True if the command is denied, and no authentication was tried before.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self.failure, Failure::Denied { .. }) && self.before.is_none()
    }

    /// True if an authentication failed, and not the conversation itself.
    pub(crate) fn is_unproved(&self) -> bool {
        matches!(
            self.failure,
            Failure::Authentication { .. }
                | Failure::Unanswered { .. }
                | Failure::NoMethod { .. }
                | Failure::Untrusted(_)
                | Failure::Credential(_)
        )
    }
}

/// The address that was meant if the last part of an IPv6 address without brackets is the port.
fn with_port(peer: &str) -> Option<String> {
    let inner = peer.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(peer, |(inner, _)| inner);
    let (address, port) = inner.rsplit_once(':')?;
    address.parse::<Ipv6Addr>().ok()?;
    port.parse::<u16>().ok().map(|port| format!("[{address}]:{port}"))
}

/// The reason of an error of the operating system, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

impl Failure {
    fn message(&self, peer: &str) -> String {
        match self {
            Failure::Address(why) => format!("`{peer}` is not an address: {why}"),
            Failure::Resolve(error) => format!("cannot find the host of `{peer}`: {}", reason(error)),
            Failure::Connect(error) => format!("cannot connect to `{peer}`: {}", reason(error)),
            Failure::Lost(error) => format!("lost the connection to `{peer}`: {}", reason(error)),
            Failure::Closed(waiting) => format!("`{peer}` closed the connection instead of sending {waiting}"),
            Failure::Silent(time) => format!("`{peer}` does not answer: nothing received for {} s", time.as_secs()),
            Failure::Late(time) => format!("`{peer}` is too slow: not finished after {} s", time.as_secs()),
            Failure::NotAsked(time) => {
                format!("`{peer}` was not asked: the daemons before it took more than {} s", time.as_secs())
            }
            Failure::Protocol(what) => format!("`{peer}` does not speak the protocol of HTCondor: {what}"),
            Failure::Limit(what) => format!("the answer of `{peer}` is too large: {what}"),
            Failure::Skipped { ads, limit } => {
                let exceed = if *ads == 1 { "exceeds" } else { "exceed" };
                format!("skipped {} of `{peer}` that {exceed} a limit: {limit}", counted(*ads, "ad"))
            }
            Failure::Denied { command, user } => format!("`{peer}` denies {command} to `{user}`"),
            Failure::NoMethod { accepted, available, .. } => {
                let accepted = if accepted.is_empty() { String::new() } else { format!(" by {}", accepted.join(", ")) };
                let available = if available.is_empty() {
                    "no credentials are available".to_owned()
                } else {
                    format!("only {} can be used", available.join(", "))
                };
                format!("`{peer}` requires authentication{accepted}, but {available}")
            }
            Failure::Authentication { method, reason } => {
                format!("{method} authentication with `{peer}` fails: {reason}")
            }
            Failure::Unanswered { method, time } => {
                let time = time.as_secs();
                format!(
                    "{method} authentication with `{peer}` fails: the daemon rejects it silently or hangs, nothing received for {time} s"
                )
            }
            Failure::Untrusted(what) => format!("cannot trust `{peer}`: {what}"),
            Failure::Credential(what) => format!("cannot use `{peer}`: {what}"),
            Failure::Unknown(daemon) => format!("`{peer}` does not have an ad of {daemon}"),
            Failure::Refused(what) => format!("`{peer}` reports an error: {what}"),
            Failure::All(errors) => {
                let reasons: Vec<String> = errors.iter().map(WireError::to_string).collect();
                format!("no collector can be read: {}", reasons.join("; "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_behind_an_address_without_brackets_is_suspected() {
        let help = |text: &str| {
            let address: crate::Address = text.parse().unwrap();
            let refused = Failure::Connect(io::Error::from_raw_os_error(111));
            WireError::new(address.to_string(), refused).help().unwrap().into_owned()
        };
        assert_eq!(help("::1:9618"), "if the last part is the port, write [::1]:9618");
        let wrong = "::1:47300".parse::<crate::Address>().unwrap_err();
        assert_eq!(wrong.help().unwrap(), "if the last part is the port, write [::1]:47300");
        for other in ["::1", "fd00::1234", "[::1]:9618", "cm:1", "fd00::1:abcd"] {
            assert!(help(other).starts_with("check the address"), "{other}");
        }
    }

    #[test]
    fn messages_are_lower_case_and_name_the_peer() {
        let refused = io::Error::from_raw_os_error(111);
        assert_eq!(
            WireError::new("cm:1", Failure::Connect(refused)).to_string(),
            "cannot connect to `cm:1`: connection refused"
        );
        let accepted = vec!["FS".to_owned(), "IDTOKENS".to_owned()];
        assert_eq!(
            WireError::new("cm:1", Failure::NoMethod { accepted, available: vec![], unusable: vec![] }).to_string(),
            "`cm:1` requires authentication by FS, IDTOKENS, but no credentials are available"
        );
    }

    #[test]
    fn a_client_without_credentials_is_told_what_to_do_and_which_files_are_not_used() {
        let help = |available: &[&'static str], unusable: &[&str]| {
            let unusable = unusable.iter().map(|&reason| reason.to_owned()).collect();
            let failure = Failure::NoMethod { accepted: Vec::new(), available: available.to_vec(), unusable };
            WireError::new("cm:1", failure).help().map(Cow::into_owned)
        };
        let (general, unused) = (AUTHENTICATE, "a file of tokens is not used: `a` is empty");
        assert_eq!(help(&[], &[]).as_deref(), Some(general));
        assert_eq!(help(&[], &["`a` is empty"]), Some(format!("{general}; {unused}")));
        assert_eq!(help(&["FS"], &["`a` is empty"]).as_deref(), Some(unused));
        assert_eq!(help(&["FS"], &[]), None);
    }
}
