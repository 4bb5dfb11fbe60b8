//! A TCP connection that never waits for ever: every read and write has a time limit, and all of them together have one.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::error::Failure;

/// Time limits of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// For finding the address of a name, and again for connecting: each of its addresses gets an equal part of what is left.
    pub connect: Duration,
    /// For each answer to begin and to continue.
    pub idle: Duration,
    /// For a whole answer, however slowly it comes.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 seconds to connect, 20 seconds without a byte, and 10 minutes for an answer.
    fn default() -> Self {
        Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(20), total: Duration::from_mins(10) }
    }
}

/// A limit that was exceeded, inside an `io::Error`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expired {
    Idle(Duration),
    Total(Duration),
}

impl Expired {
    pub(crate) fn failure(self) -> Failure {
        match self {
            Expired::Idle(time) => Failure::Silent(time),
            Expired::Total(time) => Failure::Late(time),
        }
    }
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl std::error::Error for Expired {}

/// A TCP connection with time limits.
#[derive(Debug)]
pub(crate) struct Transport {
    stream: TcpStream,
    timeouts: Timeouts,
    started: Instant,
    /// The limit that holds now, from `started`.
    most: Duration,
}

impl Transport {
    /// Connects to one of several addresses.
    pub(crate) fn connect(addresses: &[SocketAddr], timeouts: Timeouts) -> io::Result<(Self, SocketAddr)> {
        let started = Instant::now();
        let mut failed = io::Error::from(ErrorKind::AddrNotAvailable);
        for (address, remaining) in addresses.iter().zip((1..=addresses.len() as u32).rev()) {
            let share = timeouts.connect.saturating_sub(started.elapsed()) / remaining;
            if share.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(address, share) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(timeouts.idle))?;
                    stream.set_write_timeout(Some(timeouts.idle))?;
                    // The handshake takes a few messages.
                    let most = timeouts.connect + 2 * timeouts.idle;
                    return Ok((Transport { stream, timeouts, started: Instant::now(), most }, *address));
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// The handshake is over: from now on an answer is read.
    pub(crate) fn established(&mut self) {
        self.started = Instant::now();
        self.most = self.timeouts.total;
    }

    fn checked(&self, result: io::Result<usize>) -> io::Result<usize> {
        match result {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                Err(io::Error::other(Expired::Idle(self.timeouts.idle)))
            }
            Ok(_) if self.started.elapsed() > self.most => Err(io::Error::other(Expired::Total(self.most))),
            other => other,
        }
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.stream.read(buffer);
        self.checked(result)
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.stream.write(bytes);
        self.checked(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_address_that_does_not_answer_leaves_time_for_the_others() {
        let [full, open] = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [silent, answers] = [&full, &open].map(|listener| listener.local_addr().unwrap());
        // Connections that are not accepted, until there is no room for more: from then on the system does not answer.
        let connect = |_| TcpStream::connect_timeout(&silent, Duration::from_millis(300)).ok();
        let waiting: Vec<TcpStream> = (0..10_000).map_while(connect).collect();
        assert!((1..10_000).contains(&waiting.len()), "{} connections", waiting.len());
        let timeouts = Timeouts { connect: Duration::from_secs(3), ..Timeouts::default() };
        let found = Transport::connect(&[silent, silent, answers], timeouts).map(|(_, address)| address);
        assert_eq!(found.unwrap(), answers);
        let failed = Transport::connect(&[answers, silent][1..], timeouts).map(|(_, address)| address);
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
