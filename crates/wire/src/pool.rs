//! All of a pool that a negotiation cycle looks at, read from its daemons.
//!
//! In: the addresses of collectors. Out: ads, settings, and for each source that could not be read, why. A pool of which an
//! access point is missing looks like a smaller pool: who uses this has to show the failures.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use classmate::internal::format::report::Report;
use classmate::internal::format::selection::Selection;
use classmate::{ClassAd, Name};

use crate::address::Address;
use crate::budget::Budget;
use crate::client::{Ads, Client, MAX_CONFIGURATION, Received};
use crate::error::{Failure, WireError};
use crate::query::{AdType, Query};
use crate::silent::{SilentAccessPoints, waiting};

/// Daemons that are asked at the same time.
const PARALLEL: usize = 8;

/// Ads between two reports of progress.
const STEP: u64 = 1000;

/// A source of what a cycle looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PoolSource {
    /// The jobs of the access point with this name.
    AccessPoint(String),
    /// The slots.
    Slots,
    /// The submitters.
    Submitters,
    /// Another one, in words.
    Other(&'static str),
}

impl fmt::Display for PoolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolSource::AccessPoint(name) => write!(f, "access point `{name}`"),
            PoolSource::Slots => f.write_str("the slots"),
            PoolSource::Submitters => f.write_str("the submitters"),
            PoolSource::Other(what) => f.write_str(what),
        }
    }
}

/// The ads of the negotiators.
const NEGOTIATOR: PoolSource = PoolSource::Other("the negotiator");

/// A source of a pool that could not be read, or not all of it.
#[derive(Debug)]
pub struct SourceFailure {
    /// The source.
    pub source: PoolSource,
    /// The reason.
    pub error: WireError,
}

impl fmt::Display for SourceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all_of = if self.is_partial() { "all of " } else { "" };
        write!(f, "cannot read {all_of}{}: {}", self.source, self.error)
    }
}

impl SourceFailure {
    /// True if ads of the source were skipped, and the others were read.
    pub fn is_partial(&self) -> bool {
        matches!(self.error.failure(), Failure::Skipped { .. })
    }
}

/// A daemon of a pool.
#[derive(Clone, Debug)]
pub struct Daemon {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Address,
}

impl Daemon {
    /// The daemon of an ad, with these attributes; its name if the address is not one.
    fn of(ad: &ClassAd, name: &str, address: &str) -> Result<Self, (String, WireError)> {
        let shown = ad.eval_string(name).unwrap_or_default();
        match ad.eval_string(address).unwrap_or_default().parse() {
            Ok(address) => Ok(Daemon { name: shown, address }),
            Err(error) => Err((shown, error)),
        }
    }

    /// The ad that the daemon itself has, which is newer than that of a collector.
    ///
    /// # Errors
    /// It does not answer, does not permit reading, or does not have such an ad.
    pub fn own_ad(&self, client: &Client, kind: AdType) -> Result<ClassAd, WireError> {
        let mut ads = client.query(&self.address, kind, &Query::all())?;
        let ad = ads.next().transpose()?;
        let unknown = || WireError::new(self.address.to_string(), Failure::Unknown("its own"));
        ad.ok_or_else(|| ads.skipped().unwrap_or_else(unknown))
    }

    /// An access point as a source.
    pub(crate) fn source(&self) -> PoolSource {
        PoolSource::AccessPoint(self.name.clone())
    }
}

/// A function that gets the number of further ads of a source, again and again.
pub type Progress<'a> = &'a (dyn Fn(&str, u64) + Sync);

/// A pool whose daemons are known, to be read source by source.
///
/// ```no_run
/// use classmate_wire::{Client, LivePool, Query};
///
/// let client = Client::default();
/// let mut pool = LivePool::locate(&client, &["cm.example.org".parse()?], &|_, _| ())?;
/// let jobs = pool.jobs(&Query::all(), |ad, ()| ad);
/// let slots = pool.slots(&Query::all(), None)?;
/// println!("{} jobs, {} slots", jobs.len(), slots.len());
/// for failure in pool.failures() {
///     eprintln!("{failure}");
/// }
/// # Ok::<(), classmate_wire::WireError>(())
/// ```
pub struct LivePool<'a> {
    client: &'a Client,
    collector: Address,
    progress: Progress<'a>,
    negotiator_ads: Vec<ClassAd>,
    negotiator: Option<Daemon>,
    submitters: Vec<ClassAd>,
    access_points: Vec<Daemon>,
    failures: Vec<SourceFailure>,
    reports: Vec<(String, Report)>,
}

impl fmt::Debug for LivePool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivePool").field("collector", &self.collector).finish_non_exhaustive()
    }
}

impl<'a> LivePool<'a> {
    /// Asks the collectors, the first one that answers, for the negotiator, the submitters and the access points.
    ///
    /// # Errors
    /// No collector answers, or none permits reading.
    pub fn locate(client: &'a Client, collectors: &[Address], progress: Progress<'a>) -> Result<Self, WireError> {
        let (collector, (negotiator_ads, rest)) = first_answer(collectors, |collector| {
            let ads = client.query(collector, AdType::Negotiator, &Query::all())?;
            Ok((collector.clone(), collect(ads, "negotiators", progress)?))
        })?;
        let mut pool = LivePool {
            client,
            collector,
            progress,
            negotiator_ads,
            negotiator: None,
            submitters: Vec::new(),
            access_points: Vec::new(),
            failures: Vec::new(),
            reports: Vec::new(),
        };
        pool.add(NEGOTIATOR, format!("negotiators of {}", pool.collector), rest);
        let unknown = || WireError::new(pool.collector.to_string(), Failure::Unknown("a negotiator"));
        match pool.negotiator_ads.first().map(|ad| Daemon::of(ad, "Name", "MyAddress")) {
            Some(Ok(negotiator)) => pool.negotiator = Some(negotiator),
            Some(Err((_, error))) => pool.failures.push(SourceFailure { source: NEGOTIATOR, error }),
            // Its ad was skipped.
            None if !pool.failures.is_empty() => {}
            None => pool.failures.push(SourceFailure { source: NEGOTIATOR, error: unknown() }),
        }
        let ads = pool.client.query(&pool.collector, AdType::Submitter, &Query::all())?;
        pool.submitters = pool.collect(PoolSource::Submitters, "submitters", ads)?;
        let query = Query::all().attributes(["Name", "MyAddress"]);
        let ads = pool.client.query(&pool.collector, AdType::AccessPoint, &query)?;
        let access_points = pool.collect(PoolSource::Other("the access points"), "access points", ads)?;
        // Submitters of other pools use access points that the collector has no ads of.
        let own = access_points.iter().map(|ad| Daemon::of(ad, "Name", "MyAddress"));
        let others = pool.submitters.iter().map(|ad| Daemon::of(ad, "ScheddName", "ScheddIpAddr"));
        let (mut seen, mut failed) = (HashSet::new(), Vec::new());
        for daemon in own.chain(others) {
            match daemon {
                Ok(daemon) if seen.insert(daemon.name.to_ascii_lowercase()) => pool.access_points.push(daemon),
                Ok(_) => {}
                Err((name, error)) => failed.push((name, error)),
            }
        }
        // Another ad may have a valid address of it.
        failed.retain(|(name, _)| seen.insert(name.to_ascii_lowercase()));
        let failures = failed.into_iter().map(|(name, error)| (PoolSource::AccessPoint(name), error));
        pool.failures.extend(failures.map(|(source, error)| SourceFailure { source, error }));
        pool.access_points.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(pool)
    }

    /// The address of the collector that answered.
    pub fn collector(&self) -> &Address {
        &self.collector
    }

    /// The ads of the negotiators.
    pub fn negotiator_ads(&self) -> &[ClassAd] {
        &self.negotiator_ads
    }

    /// The negotiator.
    pub fn negotiator(&self) -> Option<&Daemon> {
        self.negotiator.as_ref()
    }

    /// The negotiator, and nothing else.
    ///
    /// # Errors
    /// Its ad was not received, or exceeds a limit.
    pub fn into_negotiator(self) -> Result<Daemon, WireError> {
        let failure = self.failures.into_iter().find(|failure| failure.source == NEGOTIATOR);
        let unknown = || WireError::new(self.collector.to_string(), Failure::Unknown("a negotiator"));
        self.negotiator.ok_or_else(|| failure.map_or_else(unknown, |failure| failure.error))
    }

    /// The submitter ads.
    pub fn submitters(&self) -> &[ClassAd] {
        &self.submitters
    }

    /// The access points, by name.
    pub fn access_points(&self) -> &[Daemon] {
        &self.access_points
    }

    /// The sources that could not be read so far.
    pub fn failures(&self) -> &[SourceFailure] {
        &self.failures
    }

    /// The sources that could not be read, to be kept.
    pub fn into_failures(self) -> Vec<SourceFailure> {
        self.failures
    }

    /// The reports on what was read, with attributes that are not expressions.
    pub fn reports(&self) -> &[(String, Report)] {
        &self.reports
    }

    /// Collects ads of a source and reports the progress.
    fn collect(&mut self, source: PoolSource, what: &str, ads: Ads) -> Result<Vec<ClassAd>, WireError> {
        let (found, rest) = collect(ads, what, self.progress)?;
        self.add(source, format!("{what} of {}", self.collector), rest);
        Ok(found)
    }

    /// Remembers what else the answer of a source told; its report has a name.
    fn add(&mut self, source: PoolSource, name: String, (report, skipped): Rest) {
        self.reports.push((name, report));
        self.failures.extend(skipped.map(|error| SourceFailure { source, error }));
    }

    /// The slot ads; of constants only those of a selection are kept, if there is one.
    ///
    /// # Errors
    /// The collector cannot be asked.
    pub fn slots(&mut self, query: &Query, selection: Option<&Arc<Selection>>) -> Result<Vec<ClassAd>, WireError> {
        let ads = self.client.query(&self.collector, AdType::Slot, query)?.kept(selection);
        self.collect(PoolSource::Slots, "slots", ads)
    }

    /// The accounting ads, from the negotiator as they are now, otherwise from the collector as they were after the last
    /// cycle.
    pub fn accounting(&mut self, query: &Query) -> Vec<ClassAd> {
        let (negotiator, collector) = (self.negotiator.clone(), self.collector.clone());
        let mut ask = |daemon: &Address, source: PoolSource| {
            let ads = self.client.query(daemon, AdType::Accounting, query);
            let ads = ads.and_then(|ads| self.collect(source.clone(), "accounting ads", ads));
            self.remember(source, ads)
        };
        negotiator
            .and_then(|daemon| ask(&daemon.address, PoolSource::Other("priorities of the negotiator")))
            .or_else(|| ask(&collector, PoolSource::Other("accounting ads of the collector")))
            .unwrap_or_default()
    }

    /// The configuration variables that the files of the negotiator set, with their values, all macros expanded. `None` if
    /// they cannot be read.
    pub fn settings(&mut self) -> Option<Vec<(String, String)>> {
        let negotiator = self.negotiator.clone()?;
        let settings = self.read_settings(&negotiator.address);
        self.remember(PoolSource::Other("the configuration of the negotiator"), settings)
    }

    fn read_settings(&self, daemon: &Address) -> Result<Vec<(String, String)>, WireError> {
        let until = Deadline::of(self.client);
        let names = self.client.setting_names(daemon)?;
        // After a failure, which is one of the whole source, no further names are asked for.
        let (left, has_failed) = (AtomicUsize::new(MAX_CONFIGURATION), AtomicBool::new(false));
        let ask = |name: &String| {
            if has_failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let late = || WireError::new(daemon.to_string(), Failure::Late(until.total));
            let value = if until.is_over() { Err(late()) } else { self.client.setting(daemon, name) };
            let value = value.and_then(|value| {
                let bytes = value.as_ref().map_or(0, String::len);
                let is_room = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
                let what = || Failure::Limit(format!("more than {MAX_CONFIGURATION} bytes of configuration"));
                is_room.map(|_| value).map_err(|_| WireError::new(daemon.to_string(), what()))
            });
            has_failed.fetch_or(value.is_err(), Ordering::Relaxed);
            value
        };
        let mut settings = Vec::new();
        for (name, value) in names.iter().zip(in_parallel(&names, ask)) {
            settings.extend(value?.map(|value| (name.clone(), value)));
        }
        Ok(settings)
    }

    /// Hands on the job ads of all access points as they are received, in no order, until there are enough.
    pub fn each_job(&mut self, query: &Query, take: &mut dyn FnMut(ClassAd) -> ControlFlow<()>) {
        /// Bytes of the ads that wait to be taken, and what an empty one counts.
        const WAITING: usize = 1 << 20;
        const EMPTY: usize = 1 << 10;
        // The channel holds what the budget permits.
        let ((sender, receiver), waiting) = (std::sync::mpsc::channel(), Budget::of(WAITING));
        let (client, access_points) = (self.client, &self.access_points);
        let until = Deadline::of(client);
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                // With its last copy the channel ends, and with the channel the loop below.
                let sender = sender;
                in_parallel(access_points, |access_point| {
                    until.check(&access_point.address)?;
                    let mut ads = client.jobs(&access_point.address, query)?;
                    while let Some(next) = ads.receive() {
                        let Received { ad, bytes, share } = next?;
                        let waiting = waiting.take(EMPTY + bytes, Duration::MAX);
                        if sender.send((ad, share, waiting)).is_err() {
                            break;
                        }
                    }
                    Ok(((), rest(&ads)))
                })
            });
            let receiver = receiver;
            // What an ad takes of the budgets is free again when it was taken.
            while let Ok((ad, _share, _waiting)) = receiver.recv() {
                if take(ad).is_break() {
                    break;
                }
            }
            drop(receiver);
            reader.join().unwrap_or_default()
        });
        self.of_access_points(read);
    }

    /// Leaves out the negotiator, which failed to answer, such as one in a long cycle: its settings are not known, and priorities are
    /// those of the collector. Returns true if it was waited for.
    pub fn leave_out_negotiator(&mut self, error: WireError) -> bool {
        let has_waited = waiting(error.failure()).is_some();
        if self.negotiator.take().is_some() {
            self.failures.push(SourceFailure { source: NEGOTIATOR, error });
        }
        has_waited
    }

    /// Leaves out the access points that were silent not long ago; each is a source that cannot be read.
    pub fn leave_out(&mut self, silent: &mut SilentAccessPoints) {
        self.failures.extend(silent.leave_out(&mut self.access_points, Instant::now()));
    }

    /// Remembers the access points that were silent in this reading of jobs; true if there are any.
    pub fn remember_silent(&self, silent: &mut SilentAccessPoints) -> bool {
        silent.remember(&self.access_points, &self.failures, Instant::now())
    }

    /// The job ads of all access points, by access point and job ID. `make` may change each ad; it is given a place to keep
    /// what it wants from ad to ad of an access point.
    pub fn jobs<K: Default>(
        &mut self,
        query: &Query,
        make: impl Fn(ClassAd, &mut K) -> ClassAd + Sync,
    ) -> Vec<ClassAd> {
        let (progress, until) = (self.progress, Deadline::of(self.client));
        let read = in_parallel(&self.access_points, |access_point| {
            until.check(&access_point.address)?;
            let ads = self.client.jobs(&access_point.address, query)?.kept(None);
            let (mut ads, rest) = collect(ads, "jobs", progress)?;
            let ids = [Name::new("ClusterId"), Name::new("ProcId")];
            ads.sort_by_cached_key(|ad| ids.map(|name| ad.eval_int(name)));
            let mut kept = K::default();
            Ok((ads.into_iter().map(|ad| make(ad, &mut kept)).collect::<Vec<_>>(), rest))
        });
        self.of_access_points(read).into_iter().flatten().collect()
    }

    /// Remembers the reports and failures of all access points, in order, and returns what was read.
    fn of_access_points<T>(&mut self, read: Vec<Result<(T, Rest), WireError>>) -> Vec<T> {
        let sources: Vec<(PoolSource, String)> =
            self.access_points.iter().map(|one| (one.source(), format!("jobs of {}", one.name))).collect();
        let mut all = Vec::new();
        for ((source, jobs), result) in sources.into_iter().zip(read) {
            if let Some((found, rest)) = self.remember(source.clone(), result) {
                self.add(source, jobs, rest);
                all.push(found);
            }
        }
        all
    }

    /// Remembers the failure of a source; otherwise returns what was read.
    fn remember<T>(&mut self, source: PoolSource, result: Result<T, WireError>) -> Option<T> {
        match result {
            Ok(found) => Some(found),
            Err(error) => {
                self.failures.push(SourceFailure { source, error });
                None
            }
        }
    }
}

/// The end of the time in which the conversations of a source begin: a peer may name any number of silent ones.
#[derive(Clone, Copy)]
struct Deadline {
    began: Instant,
    total: Duration,
}

impl Deadline {
    fn of(client: &Client) -> Self {
        Deadline { began: Instant::now(), total: client.timeouts().total }
    }

    fn is_over(self) -> bool {
        self.began.elapsed() > self.total
    }

    /// Fails when the time is over, and the daemon was not asked.
    fn check(self, daemon: &Address) -> Result<(), WireError> {
        if self.is_over() { Err(WireError::new(daemon.to_string(), Failure::NotAsked(self.total))) } else { Ok(()) }
    }
}

/// The first answer of some collectors; the failures of all of them if none answers.
///
/// # Errors
/// No collector answers, or none is given.
pub fn first_answer<T>(collectors: &[Address], ask: impl Fn(&Address) -> Result<T, WireError>) -> Result<T, WireError> {
    let mut failed = Vec::new();
    for collector in collectors {
        match ask(collector) {
            Ok(answer) => return Ok(answer),
            Err(error) => failed.push(error),
        }
    }
    Err(match (failed.pop(), failed.is_empty()) {
        (None, _) => WireError::new("", Failure::Address("no collector is given")),
        (Some(only), true) => only,
        (Some(last), false) => {
            failed.push(last);
            let peers: Vec<&str> = failed.iter().map(WireError::peer).collect();
            WireError::new(peers.join(", "), Failure::All(failed))
        }
    })
}

/// The attributes and the ads of an answer that were left out.
type Rest = (Report, Option<WireError>);

fn rest(ads: &Ads) -> Rest {
    (ads.report().clone(), ads.skipped())
}

/// Collects ads and reports the progress.
fn collect(mut ads: Ads, what: &str, progress: Progress<'_>) -> Result<(Vec<ClassAd>, Rest), WireError> {
    let mut found = Vec::new();
    for ad in ads.by_ref() {
        found.push(ad?);
        if (found.len() as u64).is_multiple_of(STEP) {
            progress(what, STEP);
        }
    }
    progress(what, found.len() as u64 % STEP);
    Ok((found, rest(&ads)))
}

/// The results of a function for each item, in order, several at the same time.
fn in_parallel<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL.min(items.len()) {
            scope.spawn(|| {
                while let Some((at, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
                {
                    let result = function(item);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::ad::AdStream;
    use crate::daemon::{daemon, serve};

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(in_parallel(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[u64], |item| *item).is_empty());
    }

    #[test]
    fn after_the_first_failure_no_further_setting_is_asked_for() {
        const ANSWERED: usize = 20;
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let address = daemon(move |question| match question.strip_prefix('V').map(str::parse::<usize>) {
            None => (0..1000).map(|number| format!("V{number}")).collect(),
            Some(number) => {
                count.fetch_add(1, Ordering::Relaxed);
                vec![if number.unwrap() < ANSWERED { "x" } else { "!error:unsup:1: no" }.to_owned()]
            }
        });
        let client = Client::default();
        let negotiator = Daemon { name: "cm".to_owned(), address: address.clone() };
        let mut pool = LivePool {
            client: &client,
            collector: address,
            progress: &|_, _| (),
            negotiator_ads: Vec::new(),
            negotiator: Some(negotiator),
            submitters: Vec::new(),
            access_points: Vec::new(),
            failures: Vec::new(),
            reports: Vec::new(),
        };
        assert_eq!(pool.settings(), None);
        let failures: Vec<String> = pool.failures().iter().map(ToString::to_string).collect();
        assert!(failures.len() == 1 && failures[0].contains("configuration of the negotiator"), "{failures:?}");
        // Each of those that ask at the same time may fail once.
        let asked = asked.load(Ordering::Relaxed);
        assert!((ANSWERED + 1..=ANSWERED + PARALLEL).contains(&asked), "{asked}");
    }

    #[test]
    fn failures_name_the_source() {
        let error = WireError::new("a:1", Failure::Refused("no".to_owned()));
        let failure = SourceFailure { source: PoolSource::AccessPoint("x".to_owned()), error };
        assert_eq!(failure.to_string(), "cannot read access point `x`: `a:1` reports an error: no");
    }

    #[test]
    fn a_pool_is_read_without_a_negotiator_that_does_not_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let collector: Address = listener.local_addr().unwrap().to_string().parse().unwrap();
        // The address of the negotiator is one of a port where nothing listens.
        serve(listener, "", |connection, command| {
            AdStream::of_handshake().read(connection, true)?;
            connection.end()?;
            let line = match command {
                50 => "MyAddress = \"<127.0.0.1:1>\"",
                78 => "Priority = 7",
                _ => return connection.put_int(0).send(),
            };
            connection.put_int(1).put_int(1).put_string(line).put_string("").put_string("").put_int(0).send()
        });
        let client = Client::default();
        let mut pool = LivePool::locate(&client, &[collector], &|_, _| ()).unwrap();
        let error = pool.negotiator().unwrap().own_ad(&client, AdType::Negotiator).unwrap_err();
        assert!(!pool.leave_out_negotiator(error), "it is refused at once");
        assert_eq!(pool.settings(), None);
        let accounting: Vec<String> = pool.accounting(&Query::all()).iter().map(ToString::to_string).collect();
        assert_eq!(accounting, ["[ Priority = 7 ]"]);
        let failures: Vec<String> = pool.failures().iter().map(ToString::to_string).collect();
        assert_eq!(failures, ["cannot read the negotiator: cannot connect to `127.0.0.1:1`: connection refused"]);
    }
}
