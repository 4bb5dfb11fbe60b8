//! Addresses of daemons: `HOST:PORT`, and the form in which daemons advertise themselves (`docs/reference/wire-cedar.md` 5).

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::sync::mpsc;
use std::time::Duration;
use std::{fmt, thread};

use crate::error::{Failure, WireError};

/// The port of a collector.
pub const COLLECTOR_PORT: u16 = 9618;

/// Longest text of an address, and most addresses in one.
const MAX_TEXT: usize = 4096;
const MAX_ADDRESSES: usize = 32;

/// The address of a daemon.
///
/// ```
/// use classmate_wire::Address;
/// let collector: Address = "cm.example.org".parse()?;
/// assert_eq!(collector.to_string(), "cm.example.org:9618");
/// let startd: Address = "<[::1]:9618?addrs=[--1]-9618&alias=node7.example.org&noUDP&sock=startd_9_a>".parse()?;
/// assert_eq!(startd.to_string(), "[::1]:9618");
/// # Ok::<(), classmate_wire::WireError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    host: String,
    port: u16,
    /// All addresses, if the daemon lists them.
    listed: Vec<SocketAddr>,
    /// The endpoint behind a shared port.
    endpoint: Option<String>,
    /// The host name for certificates.
    alias: Option<String>,
    /// The daemon can only be reached through a broker.
    brokered: bool,
}

impl Address {
    /// The text of a host and a port, with brackets around an IPv6 address.
    fn host_and_port(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The form in which daemons write the address.
    pub(crate) fn sinful(&self) -> String {
        match &self.endpoint {
            Some(endpoint) => format!("<{}?sock={endpoint}>", self.host_and_port()),
            None => format!("<{}>", self.host_and_port()),
        }
    }

    pub(crate) fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// The host for certificates.
    pub fn host(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.host)
    }

    /// True if only a broker (CCB) can ask the daemon to connect to the client.
    pub(crate) fn is_brokered(&self) -> bool {
        self.brokered
    }

    /// The socket addresses to try, in order; they are found in this time.
    pub(crate) fn resolve(&self, most: Duration) -> Result<Vec<SocketAddr>, WireError> {
        if !self.listed.is_empty() {
            return Ok(self.listed.clone());
        }
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, self.port)]);
        }
        let place = (self.host.clone(), self.port);
        let found = within(most, move || place.to_socket_addrs().map(Iterator::collect));
        found.map_err(|error| WireError::new(self.to_string(), Failure::Resolve(error)))
    }

    /// Parses an address that has this port if it does not name one.
    ///
    /// # Errors
    /// The text is not an address.
    pub fn with_default_port(text: &str, port: u16) -> Result<Self, WireError> {
        Address::parse(text.trim(), port).map_err(|why| WireError::new(text, Failure::Address(why)))
    }

    fn parse(text: &str, default_port: u16) -> Result<Self, &'static str> {
        if text.len() > MAX_TEXT {
            return Err("it is too long");
        }
        let (inner, advertised) = match text.strip_prefix('<') {
            Some(inner) => (inner.strip_suffix('>').ok_or("`>` is missing at its end")?, true),
            None => (text, false),
        };
        let (place, parameters) = inner.split_once('?').unwrap_or((inner, ""));
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or("`]` is missing")?;
                host.parse::<std::net::Ipv6Addr>().map_err(|_| "the part in brackets is not an IPv6 address")?;
                (
                    host,
                    port.strip_prefix(':')
                        .or_else(|| port.is_empty().then_some(""))
                        .ok_or("`:` is missing after `]`")?,
                )
            }
            None if place.parse::<std::net::Ipv6Addr>().is_ok() => (place, ""),
            None => place.split_once(':').unwrap_or((place, "")),
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_name) {
            return Err("the host is missing or is not a name");
        }
        let port = match port {
            "" if advertised => return Err("the port is missing"),
            "" => default_port,
            port => port.parse().ok().filter(|port| *port > 0).ok_or("the port is not a number from 1 to 65535")?,
        };
        let mut address =
            Address { host: host.to_owned(), port, listed: Vec::new(), endpoint: None, alias: None, brokered: false };
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = decoded(value).ok_or("a `%` is not followed by two hexadecimal digits")?;
            match name {
                "addrs" => {
                    address.listed = value
                        .split('+')
                        .take(MAX_ADDRESSES)
                        .filter_map(|one| one.rsplit_once('-'))
                        .filter_map(listed)
                        .collect();
                }
                // It becomes part of a path when a client proves who it is.
                "sock"
                    if value.is_empty()
                        || !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) =>
                {
                    return Err("the endpoint in `sock=` is not a name");
                }
                "sock" => address.endpoint = Some(value),
                "alias" => address.alias = Some(value),
                "CCBID" => address.brokered = true,
                _ => {}
            }
        }
        Ok(address)
    }
}

/// The result of a question to the system, which has no time limit of its own: a thread that is too late ends by itself.
fn within<T: Send + 'static>(most: Duration, ask: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = mpsc::channel();
    // The receiver is gone if the time is over.
    let ask = move || drop(sender.send(ask()));
    thread::Builder::new().name("resolver".into()).spawn(ask)?;
    receiver.recv_timeout(most).unwrap_or_else(|_| {
        let what = format!("the name service does not answer within {} s", most.as_secs());
        Err(io::Error::new(ErrorKind::TimedOut, what))
    })
}

/// An address in `addrs=`, in which `-` stands for `:`.
fn listed((ip, port): (&str, &str)) -> Option<SocketAddr> {
    let ip = match ip.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.replace('-', ":").parse().ok()?,
        None => ip.parse().ok()?,
    };
    Some(SocketAddr::new(ip, port.parse().ok().filter(|port| *port > 0)?))
}

/// A parameter's value without percent-encoding.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(if byte == b'%' { (digit()? * 16 + digit()?) as u8 } else { byte });
    }
    String::from_utf8(bytes).ok()
}

impl FromStr for Address {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self, WireError> {
        Address::with_default_port(text, COLLECTOR_PORT)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host_and_port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse().unwrap()
    }

    #[test]
    fn hosts_and_ports_are_read() {
        for (text, shown) in [
            ("cm", "cm:9618"),
            ("cm.example.org:1", "cm.example.org:1"),
            ("::1", "[::1]:9618"),
            ("[::1]", "[::1]:9618"),
            ("[fd00::2]:99", "[fd00::2]:99"),
            (" 10.0.0.1 ", "10.0.0.1:9618"),
            ("<10.0.0.1:5?x>", "10.0.0.1:5"),
        ] {
            assert_eq!(address(text).to_string(), shown, "{text}");
        }
    }

    #[test]
    fn advertised_addresses_are_read() {
        let both = address(
            "<127.0.0.1:9618?addrs=127.0.0.1-9618+[fd00--2]-9618&alias=cm%2Eexample&noUDP&sock=collector_1_a.b&CCBID=1%23>",
        );
        assert_eq!(
            both.resolve(Duration::ZERO).unwrap(),
            ["127.0.0.1:9618".parse().unwrap(), "[fd00::2]:9618".parse().unwrap()]
        );
        assert_eq!((both.endpoint(), both.host(), both.is_brokered()), (Some("collector_1_a.b"), "cm.example", true));
        assert_eq!(both.sinful(), "<127.0.0.1:9618?sock=collector_1_a.b>");
        let six = address("<[::1]:9618?addrs=[--1]-9618&alias=cm.pool.test&noUDP&sock=x>");
        assert_eq!(six.resolve(Duration::ZERO).unwrap(), ["[::1]:9618".parse().unwrap()]);
        assert_eq!(six.sinful(), "<[::1]:9618?sock=x>");
    }

    #[test]
    fn a_name_service_that_is_silent_is_not_waited_for() {
        assert_eq!(within(Duration::from_mins(10), || Ok(7)).unwrap(), 7);
        // It answers when the test ends.
        let (sender, receiver) = mpsc::channel::<()>();
        let silent = move || receiver.recv().map_err(io::Error::other);
        let error = within(Duration::ZERO, silent).unwrap_err();
        let error = WireError::new("cm:9618", Failure::Resolve(error));
        let expected = "cannot find the host of `cm:9618`: the name service does not answer within 0 s";
        assert_eq!(error.to_string(), expected);
        drop(sender);
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        for text in [
            "",
            ":9618",
            "cm:0",
            "cm:x",
            "cm:65536",
            "<cm:1",
            "<cm>",
            "[::1:9618",
            "[zz]:1",
            "a b:1",
            "<cm:1?sock=../../etc>",
            "<cm:1?sock=>",
            "<cm:1?alias=%zz>",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
