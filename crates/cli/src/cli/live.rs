//! A live pool, for all commands that can read one.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::input::{self, Notes};
use crate::cli::{Failure, language, settings};
use classmate::{ClassAd, Report, Semantics};
use classmate_advice::internal::shadow::published::NegotiatorTimes;
use classmate_config::Config;
use classmate_pool::Snapshot;
use classmate_pool::internal::accountant::AccountantLog;
use classmate_pool::internal::negotiate::directory::{NAMED_SLOTS, SlotAttributes, names_of};
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::cluster::Siblings;
use classmate_wire::internal::first_answer;
use classmate_wire::{
    AdType, Address, Client, Credentials, Daemon, LivePool, Progress, Query, SilentAccessPoints, SourceFailure,
    WireError,
};

/// The heading of the options. Each names it: a heading for the structure would hold for whatever follows.
const HEADING: &str = "Live pool";

/// The addresses of a live pool's collectors.
#[derive(clap::Args, Clone, Default, Debug)]
pub(super) struct CollectorArguments {
    /// Read a live pool: the address of its collector, or of several with commas in between; without HOST, at the end, that
    /// of HTCondor's configuration on this host
    #[arg(id = "collectors", long = "pool", visible_alias = "live", value_name = "HOST[:PORT]", value_delimiter = ',', num_args = 0..=1,
        default_missing_value = OF_HOST, value_parser = collector, help_heading = HEADING)]
    collectors: Vec<Collector>,
    /// Authenticate with an IDTOKEN in FILE [default: without authentication where the pool permits it]
    #[arg(long, value_name = "FILE", requires = "collectors", help_heading = HEADING)]
    token: Option<PathBuf>,
    /// Authenticate by SSL, with daemons whose certificates an authority in FILE (PEM) has signed
    #[arg(long, value_name = "FILE", requires = "collectors", help_heading = HEADING)]
    ca: Option<PathBuf>,
    /// The client's certificate for SSL (PEM) [default: anonymous]
    #[arg(long, value_name = "FILE", requires = "ca", help_heading = HEADING)]
    certificate: Option<PathBuf>,
    /// The private key of the certificate (PEM) [default: in the file of the certificate]
    #[arg(long, value_name = "FILE", requires = "certificate", help_heading = HEADING)]
    key: Option<PathBuf>,
}

/// A value of `--pool`.
#[derive(Clone, Debug)]
enum Collector {
    At(Address),
    /// Those of this host's configuration.
    OfHost,
}

/// The value that stands for none.
const OF_HOST: &str = "(this host)";

fn collector(text: &str) -> Result<Collector, String> {
    if text == OF_HOST {
        return Ok(Collector::OfHost);
    }
    text.parse().map(Collector::At).map_err(|error: WireError| match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    })
}

/// A live pool with all that a cycle reads.
#[derive(clap::Args, Clone, Default, Debug)]
pub(super) struct LiveArguments {
    #[command(flatten)]
    place: CollectorArguments,
    /// Fail if any source of the live pool cannot be read, such as an access point
    #[arg(long, requires = "collectors", help_heading = HEADING)]
    strict: bool,
}

/// A live pool that was read.
pub(super) struct LiveSnapshot {
    pub(super) snapshot: Snapshot,
    pub(super) accounting: Vec<ClassAd>,
    pub(super) negotiators: Vec<ClassAd>,
    /// The settings of the negotiator, if they were read.
    pub(super) settings: Option<Vec<(String, String)>>,
    /// True if the configuration is that of the pool, or was given.
    pub(super) has_config: bool,
    /// True if an access point did not answer in time.
    pub(super) has_waited: bool,
    /// The sources that could not be read.
    pub(super) failures: Vec<SourceFailure>,
    /// Reports on what was read.
    pub(super) reports: Vec<(String, Report)>,
}

impl CollectorArguments {
    /// True if a pool is given.
    pub(super) fn is_given(&self) -> bool {
        !self.collectors.is_empty()
    }

    /// Fails if no pool is given.
    pub(super) fn expect_given(&self) -> Result<(), Failure> {
        let none = || {
            Failure::input("no pool is given").help(
                "name the collector: --pool HOST[:PORT], or --pool alone for that of HTCondor's configuration on this host",
            )
        };
        if self.is_given() { Ok(()) } else { Err(none()) }
    }

    /// The addresses of all collectors.
    fn addresses(&self) -> Result<Vec<Address>, Failure> {
        let mut addresses = Vec::new();
        for collector in &self.collectors {
            match collector {
                Collector::At(address) => addresses.push(address.clone()),
                Collector::OfHost => addresses.extend(settings::own_collectors()?),
            }
        }
        Ok(addresses)
    }

    /// A client with the proofs of identity that the user has.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        let own = self.certificate.as_deref().map(|path| (path, self.key.as_deref().unwrap_or(path)));
        let credentials = Credentials::in_files(self.token.as_deref(), self.ca.as_deref(), own)?;
        Ok(Client::new(credentials).with_semantics(language::chosen()))
    }

    /// A reader of the pool, with a configuration if it is known.
    pub(super) fn reader<'r>(
        &self,
        client: &'r Client,
        config: Option<Config>,
        progress: Progress<'r>,
    ) -> Result<LiveReader<'r>, Failure> {
        Ok(LiveReader {
            collectors: self.addresses()?,
            client,
            known: config.clone(),
            given: config,
            progress,
            negotiator: None,
            times: NegotiatorTimes::default(),
            silent: SilentAccessPoints::default(),
        })
    }

    /// Hands on ads of one type as they are received, until there are enough; none: jobs. Returns messages about access
    /// points that cannot be read.
    pub(super) fn each_ad(
        &self,
        kind: Option<AdType>,
        query: &Query,
        notes: &mut Notes,
        take: &mut dyn FnMut(ClassAd) -> ControlFlow<()>,
    ) -> Result<Vec<String>, Failure> {
        let (client, collectors) = (self.client()?, self.addresses()?);
        let nothing = |_: &str, _: u64| ();
        if let Some(kind) = kind.filter(|kind| *kind != AdType::Accounting) {
            let mut ads = first_answer(&collectors, |collector| client.query(collector, kind, query))?;
            // What was left out is reported also if the others end early.
            let end = ads.by_ref().find_map(|ad| match ad.map(&mut *take) {
                Ok(ControlFlow::Continue(())) => None,
                Ok(ControlFlow::Break(())) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            });
            notes.add(&format!("the ads of {kind}"), ads.report().clone());
            if let Some(skipped) = ads.skipped() {
                notes.skip(skipped.to_string());
            }
            end.unwrap_or(Ok(()))?;
            return Ok(Vec::new());
        }
        let mut pool = LivePool::locate(&client, &collectors, &nothing)?;
        if kind.is_some() {
            let _ = pool.accounting(query).into_iter().try_for_each(take);
        } else {
            pool.each_job(query, take);
        }
        for (name, report) in pool.reports() {
            notes.add(name, report.clone());
        }
        let (partial, failures): (Vec<_>, Vec<_>) = pool.failures().iter().partition(|failure| failure.is_partial());
        for failure in partial {
            notes.skip(failure.to_string());
        }
        Ok(failures.iter().map(ToString::to_string).collect())
    }

    /// All ads of one type; none: jobs. Access points that cannot be read are warnings.
    pub(super) fn ads(&self, kind: Option<AdType>, notes: &mut Notes) -> Result<Vec<ClassAd>, Failure> {
        let mut ads = Vec::new();
        let failures = self.each_ad(kind, &Query::all(), notes, &mut |ad| {
            ads.push(ad);
            ControlFlow::Continue(())
        })?;
        for failure in failures {
            notes.skip(failure);
        }
        Ok(ads)
    }
}

impl LiveArguments {
    /// The collectors as they are written on a command line, without credentials.
    pub(super) fn words(&self) -> Vec<String> {
        let word = |collector: &Collector| match collector {
            Collector::At(address) => format!("--pool {address}"),
            Collector::OfHost => "--pool".to_owned(),
        };
        self.place.collectors.iter().map(word).collect()
    }

    /// True if a pool is given.
    pub(super) fn is_given(&self) -> bool {
        self.place.is_given()
    }

    /// Reads the pool once, with progress on a terminal. A configuration that is given replaces that of the negotiator; with
    /// `priorities` those of the negotiator are not read.
    pub(super) fn read(
        &self,
        kept: SlotAttributes,
        config: Option<Config>,
        priorities: bool,
        notes: &mut Notes,
    ) -> Result<LiveSnapshot, Failure> {
        let bar = input::received();
        let progress = |what: &str, count: u64| {
            bar.set_message(what.to_owned());
            bar.inc(count);
        };
        let mut read = self.place.reader(&self.place.client()?, config, &progress)?.read(kept, priorities)?;
        bar.finish_and_clear();
        for (name, report) in std::mem::take(&mut read.reports) {
            notes.add(&name, report);
        }
        if !read.has_config {
            notes.warn(NO_CONFIG.to_owned());
        }
        if self.strict {
            all_read(&read.failures)?;
        }
        read.failures.iter().for_each(|failure| notes.skip(failure.to_string()));
        Ok(read)
    }
}

/// Fails if a source cannot be read, and names each of them.
fn all_read(failures: &[SourceFailure]) -> Result<(), Failure> {
    let mut failures = failures.iter().map(|failure| Failure::input(failure.to_string()));
    let Some(first) = failures.next() else { return Ok(()) };
    Err(first.help("without --strict, this is a warning").and(failures))
}

/// A warning if the configuration cannot be read.
pub(super) const NO_CONFIG: &str = "the configuration of the negotiator is not known: using the defaults of HTCondor";

/// Reads a pool as often as it is asked to.
pub(super) struct LiveReader<'r> {
    collectors: Vec<Address>,
    client: &'r Client,
    /// The configuration that was given, which replaces that of the negotiator.
    given: Option<Config>,
    /// The configuration, if it is known.
    known: Option<Config>,
    negotiator: Option<Daemon>,
    /// The times at which the negotiator read its configuration, when it was last asked.
    times: NegotiatorTimes,
    /// The access points that let it wait.
    silent: SilentAccessPoints,
    progress: Progress<'r>,
}

/// The version that was chosen; if that is the one of each ad, that of the negotiator for what is in no ad.
pub(super) fn version_of(negotiators: &[ClassAd], chosen: Semantics) -> Semantics {
    let settings = language::settings();
    let version = negotiators.first().and_then(|ad| AdReader::of(ad, &settings).string("CondorVersion"));
    match version.and_then(|text| Semantics::of_ad(&text)) {
        Some(version) if chosen.is_advertised() => version.advertised(),
        _ => chosen,
    }
}

impl LiveReader<'_> {
    /// The name of the pool for people.
    pub(super) fn name(&self) -> String {
        self.collectors.first().map(ToString::to_string).unwrap_or_default()
    }

    /// Reads the pool, jobs first: they and the configuration decide which attributes of slots are needed.
    pub(super) fn read(&mut self, kept: SlotAttributes, priorities: bool) -> Result<LiveSnapshot, Failure> {
        self.read_without(None, kept, priorities)
    }

    /// As [`Self::read`], without a negotiator that failed to answer.
    pub(super) fn read_without(
        &mut self,
        negotiator: Option<WireError>,
        kept: SlotAttributes,
        priorities: bool,
    ) -> Result<LiveSnapshot, Failure> {
        let all = Query::all();
        let mut pool = LivePool::locate(self.client, &self.collectors, self.progress)?;
        let is_busy = negotiator.is_some_and(|error| pool.leave_out_negotiator(error));
        let settings = if self.known.is_none() { pool.settings() } else { None };
        let semantics = version_of(pool.negotiator_ads(), language::chosen());
        let from_negotiator = || {
            let place = pool
                .negotiator()
                .map_or_else(String::new, |negotiator| format!("the negotiator `{}`", negotiator.name));
            settings.as_deref().map(|settings| Config::of_values(settings, &place).read_as(semantics))
        };
        self.known = self.known.take().map(|given| given.read_as(semantics)).or_else(from_negotiator);
        let has_config = self.known.is_some();
        let config = self.known.clone().unwrap_or_else(|| Config::default().read_as(semantics));
        let accounting = if priorities { Vec::new() } else { pool.accounting(&all) };
        pool.leave_out(&mut self.silent);
        let jobs = pool.jobs(&all, |ad, siblings: &mut Siblings| siblings.chain(ad));
        let has_waited = pool.remember_silent(&mut self.silent) || is_busy;
        let first = match kept {
            SlotAttributes::Explanation => pool.slots(&all.clone().limit(NAMED_SLOTS as u64), None)?,
            _ => Vec::new(),
        };
        let selection = kept.selection(&config, &jobs, &first).map(Arc::new);
        let slots = pool.slots(&all, selection.as_ref())?;
        let log = AccountantLog::of_ads(&accounting).map_err(|error| Failure::input(error.to_string()))?;
        let (negotiators, submitters) = (pool.negotiator_ads().to_vec(), Some(pool.submitters().to_vec()));
        let (reports, failures) = (pool.reports().to_vec(), pool.into_failures());
        let (unkept, log) = (names_of(&first), Some(log));
        let snapshot = Snapshot { config, slots, unkept, jobs, submitters, log, ..Snapshot::default() };
        Ok(LiveSnapshot { snapshot, accounting, negotiators, settings, has_config, has_waited, failures, reports })
    }

    /// The ad that the negotiator itself has, which is newer than that of the collector. A negotiator answers between
    /// cycles. After a restart or a reconfiguration of it, its configuration is read again.
    pub(super) fn negotiator(&mut self) -> Result<ClassAd, Failure> {
        Ok(self.ask_negotiator()??)
    }

    /// As [`Self::negotiator`]; the inner error is one of the negotiator, or the reason for which it is not known.
    pub(super) fn ask_negotiator(&mut self) -> Result<Result<ClassAd, WireError>, Failure> {
        let known = match self.negotiator.take() {
            Some(daemon) => Ok(daemon),
            None => LivePool::locate(self.client, &self.collectors, self.progress)?.into_negotiator(),
        };
        Ok(known.and_then(|daemon| self.ask(daemon)))
    }

    fn ask(&mut self, daemon: Daemon) -> Result<ClassAd, WireError> {
        let ad = daemon.own_ad(self.client, AdType::Negotiator)?;
        // After a failure it may have another address.
        self.negotiator = Some(daemon);
        let times = NegotiatorTimes::of(&ad);
        if times != self.times {
            self.times = times;
            self.known.clone_from(&self.given);
        }
        Ok(ad)
    }

    /// The times at which the negotiator read its configuration, as its last ad shows them.
    pub(super) fn times(&self) -> NegotiatorTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_wire::PoolSource;

    #[test]
    fn each_source_that_cannot_be_read_is_named_where_all_must_be_read() {
        let failure = |name: &str| {
            let error = "".parse::<Address>().unwrap_err();
            SourceFailure { source: PoolSource::AccessPoint(name.to_owned()), error }
        };
        let failures = ["ap1", "ap2", "ap3"].map(failure);
        let shown = all_read(&failures).unwrap_err().shown();
        let found: Vec<&str> = shown.lines().filter(|line| line.contains("access point")).collect();
        assert_eq!(found.len(), 3, "{shown}");
        assert!(found.iter().zip(&failures).all(|(line, failure)| line.contains(&failure.to_string())), "{shown}");
        assert_eq!(shown.matches("without --strict").count(), 1, "{shown}");
        assert!(all_read(&[]).is_ok());
    }
}
