//! `classmate export --pool HOST`

use std::time::{Duration, Instant};

use crate::cli::live::{CollectorArguments, LiveReader};
use crate::cli::metrics_server::MetricsServer;
use crate::cli::shadow::parse_duration;
use crate::cli::status::{PoolStatus, new_of, pause};
use crate::cli::{Failure, Now, Streams, complain, settings};
use crate::report::metrics::{ReadingCounts, metrics};
use classmate_config::internal::config::disk::io_reason;

/// Serve metrics of a live pool for Prometheus.
///
/// Reads the pool at intervals and serves its state at `/metrics`: slots and jobs by state, groups with quota, use and
/// demand, submitters with priority, use and jobs, the causes for which jobs are idle, and the last negotiation cycle. A
/// scrape gets the last reading, so that any number of them does not load the pool.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate export --pool cm.example.org
  classmate export --pool cm.example.org --listen 0.0.0.0:9118 --every 1m

The Grafana dashboard for these metrics is docs/grafana-dashboard.json. While the pool cannot be read, the value of htcondor_up is \
0 and there are no other metrics of the pool.

Exit status: 1 if the address cannot be used, 2 if the pool cannot be read at the start or an option is invalid.")]
pub(super) struct ExportArguments {
    /// Address to serve at
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9118", value_parser = place)]
    listen: String,
    /// Time between two readings of the pool, at least; three times as long as a reading takes
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    every: Duration,
    /// Negotiator configuration, instead of the one it reports
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    #[command(flatten)]
    place: CollectorArguments,
}

/// Tests for an address with its port.
fn place(text: &str) -> Result<String, String> {
    let is_place = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
    if text.rsplit_once(':').is_some_and(is_place) {
        return Ok(text.to_owned());
    }
    Err("expected ADDRESS:PORT, such as 127.0.0.1:9118, [::1]:9118 or 0.0.0.0:9118".to_owned())
}

pub(super) fn run(arguments: &ExportArguments, streams: Streams) -> Result<(), Failure> {
    arguments.place.expect_given()?;
    let config = arguments.config.as_deref().map(|path| settings::pool(Some(path), None, false, streams.err));
    let client = arguments.place.client()?;
    let nothing = |_: &str, _: u64| ();
    let mut reader = arguments.place.reader(&client, config.transpose()?, &nothing)?;
    let mut readings = ReadingCounts::default();
    let started = Instant::now();
    let first = PoolStatus::read(&mut reader);
    let mut took = PoolStatus::worked(&first, started.elapsed());
    let mut first = first?;
    readings.add(true, started.elapsed());
    let server = MetricsServer::start(&*arguments.listen, metrics(Some(&first), readings));
    let (mut failing, mut unread) = (None, Vec::new());
    let messages = first.take_messages();
    drop(first);
    let (server, address) = server
        .map_err(|error| Failure::new(format!("cannot serve at `{}`: {}", arguments.listen, io_reason(&error))))?;
    complain(&format!("note: serving http://{address}/metrics"));
    warn_of_new(messages, &mut unread);
    loop {
        std::thread::sleep(pause(arguments.every, took));
        let new;
        (new, took) = read_again(&mut reader, &mut readings, (&mut failing, &mut unread));
        server.set(new);
    }
}

/// Reads the pool once more; reports a failure when it is new. Returns the metrics, and the time for which it worked.
fn read_again(
    reader: &mut LiveReader<'_>,
    readings: &mut ReadingCounts,
    (failing, unread): (&mut Option<String>, &mut Vec<String>),
) -> (String, Option<Duration>) {
    let started = Instant::now();
    let mut status = PoolStatus::read(reader);
    readings.add(status.is_ok(), started.elapsed());
    match &status {
        Ok(_) if failing.take().is_some() => complain("note: the pool is read again"),
        Err(failure) if failing.as_deref() != Some(failure.message()) => {
            complain(&format!("warning: {}", failure.message()));
            *failing = Some(failure.message().to_owned());
        }
        _ => {}
    }
    let metrics = metrics(status.as_ref().ok(), *readings);
    if let Ok(status) = &mut status {
        warn_of_new(status.take_messages(), unread);
    }
    (metrics, PoolStatus::worked(&status, started.elapsed()))
}

/// Names the sources that cannot be read and could be read the time before, and other news.
fn warn_of_new(messages: Vec<String>, unread: &mut Vec<String>) {
    for message in new_of(unread, messages) {
        complain(&format!("warning: {message}"));
    }
}

impl ReadingCounts {
    fn add(&mut self, is_success: bool, took: Duration) {
        self.took = took.as_secs_f64();
        if is_success {
            self.succeeded += 1;
            self.last = Some(Now::Wall.seconds());
        } else {
            self.failed += 1;
        }
    }
}
