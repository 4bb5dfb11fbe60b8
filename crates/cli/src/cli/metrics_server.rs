//! A server for scrapes: HTTP/1.1 with one request for each connection.
//!
//! A client that is slow, or does not take its answer, holds one of a few threads for a few seconds, and nothing else.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::fmt::rfc2822::DateTimePrinter;

use crate::cli::Now;
use crate::report::metrics::MEDIA_TYPE;

/// Time of a conversation.
const TIME: Duration = Duration::from_secs(10);

/// Conversations at the same time; further connections are closed.
const MAX_CONNECTIONS: usize = 64;

/// Most bytes of a request, and of what is read behind it.
const MAX_REQUEST: u64 = 16 << 10;

/// Pause when no connection can be accepted, such as without a free file descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// The last metrics, for all scrapes.
#[derive(Clone, Debug)]
pub(super) struct MetricsServer {
    text: Arc<Mutex<Arc<str>>>,
}

impl MetricsServer {
    /// Serves metrics at an address from now on. Returns the address with its port.
    ///
    /// # Errors
    /// The address cannot be used.
    pub(super) fn start(address: impl ToSocketAddrs, text: String) -> io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        let place = listener.local_addr()?;
        let server = MetricsServer { text: Arc::new(Mutex::new(text.into())) };
        let shared = server.clone();
        std::thread::Builder::new().name("metrics".into()).spawn(move || shared.serve(&listener))?;
        Ok((server, place))
    }

    /// Serves these metrics from now on.
    pub(super) fn set(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
    }

    fn text(&self) -> Arc<str> {
        Arc::clone(&self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn serve(&self, listener: &TcpListener) {
        // Each conversation has a copy.
        let open = Arc::new(());
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(PAUSE);
                continue;
            };
            let (server, conversation) = (self.clone(), Arc::clone(&open));
            if Arc::strong_count(&open) <= MAX_CONNECTIONS + 1 {
                // A client that goes away is not a failure of the server. Without a thread for it, its connection is closed.
                let _ = std::thread::Builder::new().spawn(move || {
                    let _ = server.converse(&stream);
                    drop(conversation);
                });
            }
        }
    }

    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        let mut stream = TimedStream { stream, until: Instant::now() + TIME };
        let mut reader = BufReader::new(stream.take(MAX_REQUEST));
        let mut first = Vec::new();
        reader.read_until(b'\n', &mut first)?;
        let mut line = first.clone();
        let is_end = |line: &[u8]| matches!(line, b"\r\n" | b"\n");
        while line.last() == Some(&b'\n') && !is_end(&line) {
            line.clear();
            reader.read_until(b'\n', &mut line)?;
        }
        let request = String::from_utf8_lossy(&first);
        let mut words = request.split_ascii_whitespace();
        let (method, target, version) = (words.next(), words.next().unwrap_or_default(), words.next());
        let is_request = is_end(&line) && version.is_some_and(|version| version.starts_with("HTTP/1."));
        let text: Arc<str>;
        let (status, kind, body) = match (method, target.split('?').next().unwrap_or_default()) {
            _ if !is_request => ("400 Bad Request", PLAIN, "not a request of HTTP/1.1\n"),
            (Some("GET" | "HEAD"), "/metrics") => {
                text = self.text();
                ("200 OK", MEDIA_TYPE, &*text)
            }
            (Some("GET" | "HEAD"), "/") => ("200 OK", HTML, "<a href=\"/metrics\">metrics of the pool</a>\n"),
            (Some("GET" | "HEAD"), _) => ("404 Not Found", PLAIN, "not found: the metrics are at /metrics\n"),
            _ => ("405 Method Not Allowed", PLAIN, "only GET and HEAD are supported\n"),
        };
        let length = body.len();
        let body = if method == Some("HEAD") { "" } else { body };
        let now = jiff::Timestamp::from_second(Now::Wall.seconds()).unwrap_or_default();
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&now).map_err(io::Error::other)?;
        write!(
            stream,
            "HTTP/1.1 {status}\r\nDate: {date}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Allow: GET, HEAD\r\nConnection: close\r\n\r\n"
        )?;
        stream.write_all(body.as_bytes())?;
        stream.stream.shutdown(Shutdown::Write)?;
        // A connection that is closed with unread bytes may take the answer with it.
        io::copy(&mut stream.take(MAX_REQUEST), &mut io::sink()).map(drop)
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// A connection until a time.
#[derive(Clone, Copy)]
struct TimedStream<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl TimedStream<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for TimedStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for TimedStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn each_request_has_its_answer() {
        let (server, address) = MetricsServer::start("127.0.0.1:0", "a 1\n".to_owned()).unwrap();
        let get = |path: &str| asked(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let answer = get("/metrics?x=1");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\nDate: "), "{answer}");
        assert!(answer.contains(" GMT\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
        assert!(answer.contains("\r\nContent-Length: 4\r\n") && answer.ends_with("\r\n\r\na 1\n"), "{answer}");
        server.set("b 2\n".to_owned());
        assert!(get("/metrics").ends_with("\r\n\r\nb 2\n"));
        let head = asked(address, "HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.contains("\r\nContent-Length: 4\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(get("/").starts_with("HTTP/1.1 200") && get("/other").starts_with("HTTP/1.1 404"));
        let posted = asked(address, "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        assert!(posted.starts_with("HTTP/1.1 405 "), "{posted}");
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(20_000));
        for wrong in ["\r\n\r\n", "GET /metrics\r\n\r\n", "SSH-2.0-x\r\n\r\n", &long] {
            assert!(asked(address, wrong).starts_with("HTTP/1.1 400 "), "{wrong:.20}");
        }
    }

    #[test]
    fn clients_that_take_no_answer_do_not_stop_it() {
        let (_server, address) = MetricsServer::start("127.0.0.1:0", "a 1\n".repeat(1 << 20)).unwrap();
        let greedy: Vec<TcpStream> = (0..MAX_CONNECTIONS / 2)
            .map(|number| {
                let mut stream = TcpStream::connect(address).unwrap();
                // Some are silent, some ask for thousands of answers.
                if number % 2 == 0 {
                    stream.set_nonblocking(true).unwrap();
                    let _ = stream.write_all("GET /metrics HTTP/1.1\r\n\r\n".repeat(5_000).as_bytes());
                }
                stream
            })
            .collect();
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").ends_with("a 1\n"));
        drop(greedy);
    }
}
