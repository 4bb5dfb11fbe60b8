//! A client: connects to daemons, keeps the sessions it has with them, and asks for ads and settings.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use classmate::internal::format::long::LineReader;
use classmate::internal::format::report::Report;
use classmate::internal::format::selection::Selection;
use classmate::{ClassAd, ParseOptions, Semantics, Value};

use crate::ad::AdStream;
use crate::address::Address;
use crate::budget::Share;
use crate::command::{Command, DC_CONFIG_VAL, QUERY_JOB_ADS};
use crate::connection::{Connection, Large};
use crate::credentials::Credentials;
use crate::entropy::Entropy;
use crate::error::{Failure, WireError};
use crate::file_system;
use crate::handshake::{Handshake, Identification, Target, reach, shown};
use crate::query::{AdType, Query};
use crate::session::{Session, SessionCache};
use crate::transport::{Timeouts, Transport};

/// Longest value of a configuration variable, and most variables.
const MAX_SETTING: usize = 1 << 20;
const MAX_SETTINGS: usize = 20_000;

/// Most bytes of all strings of an answer about configuration, and of all values.
pub(crate) const MAX_CONFIGURATION: usize = 16 << 20;

/// Bytes of expressions that a conversation with an access point, one of several at the same time, remembers.
const REMEMBERED: usize = 128 << 10;

/// Names all variables that some file sets.
const NAMES_IN_FILES: &str = "?names:.*|.summary";

/// A client of daemons. It can be shared by threads; the sessions that it has with daemons are used again.
///
/// ```no_run
/// use classmate_wire::{AdType, Address, Client, Query};
///
/// let collector: Address = "cm.example.org".parse()?;
/// let client = Client::default();
/// for slot in client.query(&collector, AdType::Slot, &Query::all().attributes(["Name", "State"]))? {
///     let slot = slot?;
///     println!("{} {}", slot.eval_string("Name").unwrap_or_default(), slot.eval_string("State").unwrap_or_default());
/// }
/// # Ok::<(), classmate_wire::WireError>(())
/// ```
#[derive(Debug, Default)]
pub struct Client {
    credentials: Credentials,
    timeouts: Timeouts,
    identification: Identification,
    sessions: SessionCache,
    semantics: Semantics,
    /// The conversation that reads a large ad.
    large: Large,
}

impl Client {
    /// A client with these proofs of identity.
    pub fn new(credentials: Credentials) -> Self {
        Client { credentials, ..Client::default() }
    }

    /// The same client with other time limits.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The same client, which reads ads in another version of the language.
    #[must_use]
    pub fn with_semantics(mut self, semantics: Semantics) -> Self {
        self.semantics = semantics;
        self
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Asks a collector for ads, or another daemon for its own. They come as they are received.
    ///
    /// # Errors
    /// The daemon cannot be reached, or does not permit it.
    pub fn query(&self, daemon: &Address, kind: AdType, query: &Query) -> Result<Ads, WireError> {
        let (mut connection, session) = self.open(daemon, kind.command())?;
        connection.put_ad(&query.for_collector(kind)).send()?;
        connection.waits_for("the ads of the answer");
        Ok(self.answer(connection, session, Source::Collector))
    }

    /// Asks an access point for the ads of its jobs. They come as they are received, in no order.
    ///
    /// # Errors
    /// The daemon cannot be reached, or does not permit it.
    pub fn jobs(&self, access_point: &Address, query: &Query) -> Result<Ads, WireError> {
        let (mut connection, session) = self.open(access_point, QUERY_JOB_ADS)?;
        connection.put_ad(&query.for_jobs()).send()?;
        connection.waits_for("the job ads of the answer");
        Ok(self.answer(connection, session, Source::Queue))
    }

    /// The ads of an answer.
    fn answer(&self, connection: Connection<Transport>, session: Arc<Session>, source: Source) -> Ads {
        let options = ParseOptions { semantics: self.semantics, ..ParseOptions::default() };
        let stream = source.stream(LineReader::new(&options));
        Ads { connection, session, stream, source, options, done: false }
    }

    /// Asks a daemon for the value of a configuration variable, with all macros expanded. `None`: it is not defined.
    ///
    /// # Errors
    /// The daemon cannot be reached, or does not permit it.
    pub fn setting(&self, daemon: &Address, name: &str) -> Result<Option<String>, WireError> {
        let mut strings = self.config_val(daemon, name, 5, MAX_SETTING)?;
        Ok(if strings.is_empty() { None } else { strings.swap_remove(0) })
    }

    /// Asks a daemon for the names of the configuration variables that its files set.
    ///
    /// # Errors
    /// The daemon cannot be reached, or does not permit it.
    pub fn setting_names(&self, daemon: &Address) -> Result<Vec<String>, WireError> {
        let names = self.config_val(daemon, NAMES_IN_FILES, MAX_SETTINGS, MAX_CONFIGURATION)?;
        // Comments name the files.
        Ok(names.into_iter().flatten().filter(|name| !name.is_empty() && !name.starts_with('#')).collect())
    }

    /// The strings of an answer about configuration.
    fn config_val(
        &self,
        daemon: &Address,
        name: &str,
        most: usize,
        bytes: usize,
    ) -> Result<Vec<Option<String>>, WireError> {
        let (mut connection, _) = self.open(daemon, DC_CONFIG_VAL)?;
        connection.put_string(name).send()?;
        connection.waits_for("the value of a configuration variable");
        strings(&mut connection, most, bytes)
    }

    /// The identity that a daemon gives the client, and the version of the daemon.
    ///
    /// # Errors
    /// The daemon cannot be reached, or does not permit reading.
    pub fn identify(&self, daemon: &Address) -> Result<(String, String), WireError> {
        let (_, session) = self.open(daemon, DC_CONFIG_VAL)?;
        Ok((session.user.clone(), session.version.clone()))
    }

    /// Connects to a daemon.
    fn connect<'a>(
        &self,
        address: &'a Address,
        command: Command,
    ) -> Result<(Connection<Transport>, Target<'a>), WireError> {
        let name = address.to_string();
        let addresses = address.resolve(self.timeouts.connect)?;
        let (transport, socket) = Transport::connect(&addresses, self.timeouts).map_err(|error| {
            let why = if address.is_brokered() {
                Failure::Refused(format!(
                    "{error}; it can only be reached through a broker (CCB), which is not supported"
                ))
            } else {
                Failure::Connect(error)
            };
            WireError::new(&*name, why)
        })?;
        let mut connection = Connection::new(transport, name.into());
        reach(&mut connection, address, &self.identification)?;
        Ok((connection, Target { address, socket, command }))
    }

    fn handshake(&self, authenticate: bool) -> Handshake<'_> {
        Handshake {
            identification: &self.identification,
            credentials: &self.credentials,
            authenticate,
            anonymous: false,
            is_spared: false,
            entropy: Entropy::System,
            create: file_system::create,
        }
    }

    /// Begins a conversation: the payload of the command follows.
    fn open(&self, address: &Address, command: Command) -> Result<(Connection<Transport>, Arc<Session>), WireError> {
        let peer = address.sinful();
        if let Some(session) = self.sessions.find(&peer, command.number) {
            let (mut connection, target) = self.connect(address, command)?;
            let resumed = self.handshake(false).resume(&mut connection, &target, &session);
            if let Ok(true) = resumed {
                self.established(&mut connection);
                return Ok((connection, session));
            }
            self.sessions.forget(&peer, &session.id);
            // A daemon that was restarted does not know the session, or just closes the connection; one that hangs would do so again.
            if let Err(error) = resumed
                && matches!(error.failure(), Failure::Silent(_) | Failure::Late(_))
            {
                return Err(error);
            }
        }
        let required = self.credentials.is_required();
        let mut result = self.negotiate(address, command, required);
        // An anonymous client may be denied what one that says who it is may do.
        let again = !required && !self.credentials.methods().is_empty();
        if again && result.as_ref().is_err_and(WireError::is_denied) {
            result = self.negotiate(address, command, true);
        }
        let (connection, session) = result?;
        let session = Arc::new(session);
        self.sessions.keep(&peer, &session);
        Ok((connection, session))
    }

    /// The handshake is over: from now on an answer is read.
    fn established(&self, connection: &mut Connection<Transport>) {
        connection.transport().established();
        connection.shares(&self.large, self.timeouts.total);
    }

    /// Connects and agrees on a session.
    fn begin(
        &self,
        address: &Address,
        command: Command,
        handshake: &mut Handshake<'_>,
    ) -> Result<(Connection<Transport>, Session), WireError> {
        let (mut connection, target) = self.connect(address, command)?;
        let session = handshake.negotiate(&mut connection, &target)?;
        self.established(&mut connection);
        Ok((connection, session))
    }

    fn negotiate(
        &self,
        address: &Address,
        command: Command,
        authenticate: bool,
    ) -> Result<(Connection<Transport>, Session), WireError> {
        let mut handshake = self.handshake(authenticate);
        let error = match self.begin(address, command, &mut handshake) {
            Err(first) if handshake.is_spared => {
                let mut anonymous = Handshake { anonymous: true, ..self.handshake(false) };
                return self.begin(address, command, &mut anonymous).map_err(|error| error.after(first));
            }
            Err(error) => error,
            begun => return begun,
        };
        match error.failure() {
            Failure::NoMethod { accepted, available, unusable } if accepted.is_empty() => {
                let (available, unusable) = (available.clone(), unusable.clone());
                let (mut connection, target) = self.connect(address, command)?;
                let accepted = self.handshake(true).accepted_methods(&mut connection, &target)?;
                Err(connection.fails(Failure::NoMethod { accepted, available, unusable }))
            }
            _ => Err(error),
        }
    }
}

/// The strings of an answer about configuration.
pub(crate) fn strings<T: Read + Write>(
    connection: &mut Connection<T>,
    most: usize,
    most_bytes: usize,
) -> Result<Vec<Option<String>>, WireError> {
    let (mut strings, mut bytes) = (Vec::new(), 0);
    loop {
        let string = connection.optional_string(MAX_SETTING)?;
        bytes += string.as_ref().map_or(0, String::len);
        if strings.len() > most || bytes > most_bytes {
            let what = format!("more than {most} strings, or {most_bytes} bytes");
            return Err(connection.fails(Failure::Limit(what)));
        }
        strings.push(string);
        if connection.at_end() {
            break;
        }
    }
    connection.end()?;
    if let Some(Some(error)) = strings.first()
        && let Some(error) = error.strip_prefix("!error:")
    {
        return Err(connection.fails(Failure::Refused(shown(error))));
    }
    Ok(strings)
}

/// The next ad of an answer; none at its end.
pub(crate) fn next_ad<T: Read + Write>(
    connection: &mut Connection<T>,
    stream: &mut AdStream,
    source: Source,
) -> Result<Option<ClassAd>, WireError> {
    match source {
        Source::Collector => {
            while connection.int()? != 0 {
                if let Some(ad) = stream.next(connection)? {
                    return Ok(Some(ad));
                }
            }
            connection.end()?;
            Ok(None)
        }
        Source::Queue => {
            let ad = loop {
                let ad = stream.next(connection)?;
                connection.end()?;
                if let Some(ad) = ad {
                    break ad;
                }
            };
            if !matches!(ad.constant("Owner"), Some(Value::Int(0))) {
                return Ok(Some(ad));
            }
            let code = ad.eval_int("ErrorCode").unwrap_or(0);
            if code == 0 {
                return Ok(None);
            }
            let text = ad.eval_string("ErrorString").unwrap_or_else(|| format!("code {code}"));
            Err(connection.fails(Failure::Refused(shown(&text))))
        }
    }
}

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// One message with all ads.
    Collector,
    /// A message for each ad; the last one is a summary.
    Queue,
}

impl Source {
    /// Reads its ads with these lines.
    pub(crate) fn stream(self, lines: LineReader) -> AdStream {
        match self {
            Source::Collector => AdStream::of_answer(lines),
            Source::Queue => AdStream::of_jobs(lines.remembering(REMEMBERED)),
        }
    }
}

/// An ad, the bytes of its strings, and the share that a large one needs until it is taken.
pub(crate) struct Received {
    pub(crate) ad: ClassAd,
    pub(crate) bytes: usize,
    pub(crate) share: Option<Share>,
}

/// Ads as they are received from a daemon.
pub struct Ads {
    connection: Connection<Transport>,
    session: Arc<Session>,
    stream: AdStream,
    source: Source,
    options: ParseOptions,
    done: bool,
}

impl fmt::Debug for Ads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ads").field("session", &self.session).field("done", &self.done).finish_non_exhaustive()
    }
}

impl Ads {
    /// Equal strings are kept once, for ads that are all kept. Of constants only those of a selection are kept, if there is
    /// one.
    #[doc(hidden)]
    #[must_use]
    pub fn kept(mut self, selection: Option<&Arc<Selection>>) -> Self {
        let lines = LineReader::new(&self.options).sharing();
        let lines = match selection {
            Some(selection) => lines.selecting(Arc::clone(selection)),
            None => lines,
        };
        self.stream = self.source.stream(lines);
        self
    }

    /// The attributes that could not be read so far.
    pub fn report(&self) -> &Report {
        self.stream.lines().report()
    }

    /// The ads that were skipped so far, since they exceed a limit.
    pub fn skipped(&self) -> Option<WireError> {
        self.stream.skipped().map(|failure| self.connection.fails(failure))
    }

    /// The identity that the daemon gave the client.
    pub fn identity(&self) -> &str {
        &self.session.user
    }

    /// The next ad, and what it takes.
    pub(crate) fn receive(&mut self) -> Option<Result<Received, WireError>> {
        if self.done {
            return None;
        }
        let next = next_ad(&mut self.connection, &mut self.stream, self.source).transpose();
        let (bytes, share) = self.connection.release();
        self.done = !matches!(next, Some(Ok(_)));
        next.map(|next| next.map(|ad| Received { ad, bytes, share }))
    }
}

impl Iterator for Ads {
    type Item = Result<ClassAd, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receive().map(|next| next.map(|next| next.ad))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::*;
    use crate::daemon::{Doubt, daemon_with_a_second_client, doubting_daemon};

    /// Does not believe the client, and waits for its next method.
    fn refuses(connection: &mut Connection<TcpStream>) -> Result<(), WireError> {
        connection.int()?;
        connection.string(100)?;
        connection.end()?;
        connection.put_int(0).send()?;
        connection.int()?;
        connection.end()?;
        connection.put_int(0).send()?;
        Err(connection.invalid("it proves nothing"))
    }

    fn ends(connection: &mut Connection<TcpStream>) -> Result<(), WireError> {
        Err(connection.invalid("no more"))
    }

    fn is_silent(connection: &mut Connection<TcpStream>) -> Result<(), WireError> {
        std::thread::sleep(Duration::from_secs(2));
        ends(connection)
    }

    /// Believes the client, and says nothing more.
    fn hangs(connection: &mut Connection<TcpStream>) -> Result<(), WireError> {
        connection.int()?;
        connection.string(100)?;
        connection.end()?;
        connection.put_int(1).send()?;
        is_silent(connection)
    }

    /// The user that the daemon sees, or the error with the daemon as `D`, and the number of conversations.
    fn identified(doubt: Doubt, result: &'static str) -> (Result<String, String>, usize) {
        let (daemon, conversations) = doubting_daemon(doubt, result);
        let timeouts = Timeouts { idle: Duration::from_secs(1), ..Timeouts::default() };
        let client = Client::new(Credentials::none().with_claimed_identity("a@b")).with_timeouts(timeouts);
        let user = client.identify(&daemon).map(|(user, _)| user);
        let error = |error: WireError| error.to_string().replace(&daemon.to_string(), "D");
        (user.map_err(error), conversations.load(Ordering::Relaxed))
    }

    #[test]
    fn a_client_whose_proof_fails_goes_on_without_one() {
        assert_eq!(identified(refuses, "AUTHORIZED"), (Ok("a@b".to_owned()), 2));
        // The message has both failures.
        let denied = "`D` denies reading configuration to `a@b`; before that, CLAIMTOBE authentication with `D` fails: \
                      the daemon does not believe it";
        assert_eq!(identified(refuses, "DENIED"), (Err(denied.to_owned()), 2));
    }

    #[test]
    fn a_daemon_that_hangs_in_a_session_is_not_asked_again() {
        let hangs = |stream: TcpStream| {
            std::thread::sleep(Duration::from_millis(1500));
            drop(stream);
        };
        let silent = Err("`D` does not answer: nothing received for 1 s".to_owned());
        // One that closes the connection was restarted: a handshake follows.
        for (second, result, count) in [(hangs as fn(TcpStream), silent, 2), (drop, Ok("a@b".to_owned()), 3)] {
            let (daemon, conversations) = daemon_with_a_second_client(second);
            let timeouts = Timeouts { idle: Duration::from_secs(1), ..Timeouts::default() };
            let client = Client::new(Credentials::none()).with_timeouts(timeouts);
            client.identify(&daemon).unwrap();
            let again = client.identify(&daemon).map(|(user, _)| user);
            assert_eq!(again.map_err(|error| error.to_string().replace(&daemon.to_string(), "D")), result);
            assert_eq!(conversations.load(Ordering::Relaxed), count);
        }
    }

    #[test]
    fn a_conversation_that_breaks_is_not_begun_again() {
        let closed = "`D` closed the connection instead of sending the result of CLAIMTOBE authentication";
        assert_eq!(identified(ends, "AUTHORIZED"), (Err(closed.to_owned()), 1));
        let silent = "`D` does not answer: nothing received for 1 s";
        for doubt in [is_silent, hangs] {
            assert_eq!(identified(doubt, "AUTHORIZED"), (Err(silent.to_owned()), 1));
        }
    }
}
