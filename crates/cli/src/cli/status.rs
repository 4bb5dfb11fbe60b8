//! The present state of a live pool: what is in it, what the negotiator would do now, and why jobs are idle.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cli::input::Notes;
use crate::cli::live::{LiveReader, NO_CONFIG};
use crate::cli::{Failure, Now, language, settings};
use crate::report::Color;
use classmate::ClassAd;
use classmate_advice::internal::explain::cycle::reasons::{CauseSurvey, ran, survey};
use classmate_advice::internal::explain::cycle::record::OutcomeRecord;
use classmate_pool::internal::negotiate::directory::SlotAttributes;
use classmate_pool::internal::pool::ad_reader::AdReader;
use classmate_pool::internal::queue::job::Job;
use classmate_pool::internal::queue::job_names::JobNames;
use classmate_pool::{Outcome, Snapshot};

/// Pause between two readings, in multiples of the time that a reading takes.
const PAUSE: u32 = 3;

/// Pause after a reading that failed, at least: it may fail at once.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The pause after a reading that took this time; `None`: one that failed or waited, as a silent daemon takes time, but no work.
pub(super) fn pause(every: Duration, took: Option<Duration>) -> Duration {
    every.max(took.map_or(PAUSE_AFTER_FAILURE, |took| took * PAUSE))
}

/// The messages about a reading of which those about the one before it, which they replace, have none of the same kind.
pub(super) fn new_of(before: &mut Vec<String>, now: Vec<String>) -> Vec<String> {
    let known: Vec<String> = before.iter().map(|one| kind(one)).collect();
    let new = now.iter().filter(|one| !known.contains(&kind(one))).cloned().collect();
    *before = now;
    new
}

/// A message without numbers and plurals, except in what it quotes.
fn kind(message: &str) -> String {
    let word = |word: &str| {
        let letters: String = word.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        if letters == "are" { "i".to_owned() } else { letters.trim_end_matches('s').to_owned() }
    };
    let part = |(at, part): (usize, &str)| {
        if at % 2 == 1 { part.to_owned() } else { part.split(' ').map(word).collect::<Vec<_>>().join(" ") }
    };
    message.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

/// A live pool at one moment.
#[derive(Debug)]
pub(crate) struct PoolStatus {
    /// Its ads, with the wall clock.
    pub(crate) snapshot: Snapshot,
    /// The cycle that the negotiator would run now.
    pub(crate) outcome: Outcome,
    /// The causes for which jobs would stay idle.
    pub(crate) idle: CauseSurvey,
    /// The accounting records of submitters, by name.
    pub(crate) accounts: BTreeMap<String, Account>,
    /// The jobs of submitters, by name.
    pub(crate) submitters: BTreeMap<String, JobCounts>,
    /// The ad of the negotiator, with its last cycles.
    pub(crate) negotiator: ClassAd,
    /// The names of all jobs.
    pub(crate) names: JobNames,
    /// The sources that could not be read.
    pub(crate) failures: Vec<String>,
    /// Messages about the configuration.
    pub(crate) warnings: Vec<String>,
    /// True if the reading waited for a daemon that did not answer in time.
    has_waited: bool,
}

/// The accounting record of a submitter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Account {
    /// The effective priority: the real one times the factor.
    pub(crate) priority: f64,
    pub(crate) factor: f64,
    /// Weighted slots in use.
    pub(crate) in_use: f64,
    /// Accumulated usage, weighted slot seconds.
    pub(crate) usage: f64,
}

/// Jobs by state, as the ads of a submitter count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct JobCounts {
    pub(crate) idle: i64,
    pub(crate) running: i64,
    pub(crate) held: i64,
}

impl PoolStatus {
    /// Reads the pool and runs a cycle over it.
    pub(super) fn read(reader: &mut LiveReader<'_>) -> Result<Self, Failure> {
        let (negotiator, error) = match reader.ask_negotiator()? {
            Ok(ad) => (Some(ad), None),
            Err(error) => (None, Some(error)),
        };
        let read = reader.read_without(error, SlotAttributes::All, false)?;
        let mut notes = Notes::default();
        let maps = settings::user_maps(&read.snapshot.config, &mut notes)?;
        let snapshot = Snapshot { maps, now: Now::Wall.seconds(), ..read.snapshot };
        let failures = read.failures.iter().map(ToString::to_string).collect();
        let warnings = if read.has_config { notes.lines(Color::Off) } else { vec![NO_CONFIG.to_owned()] };
        // That of the collector is as of the last cycle.
        let negotiator = negotiator.or_else(|| read.negotiators.into_iter().next()).unwrap_or_default();
        let status = Self::of(snapshot, &read.accounting, negotiator, failures)?;
        Ok(PoolStatus { warnings, has_waited: read.has_waited, ..status })
    }

    /// The failures, and then the warnings.
    pub(super) fn take_messages(&mut self) -> Vec<String> {
        let mut messages = std::mem::take(&mut self.failures);
        messages.append(&mut self.warnings);
        messages
    }

    /// The time for which a reading worked, as [`pause`] takes it.
    pub(super) fn worked(reading: &Result<Self, Failure>, took: Duration) -> Option<Duration> {
        reading.as_ref().is_ok_and(|status| !status.has_waited).then_some(took)
    }

    /// The state of a pool that was read.
    pub(crate) fn of(
        snapshot: Snapshot,
        accounting: &[ClassAd],
        negotiator: ClassAd,
        failures: Vec<String>,
    ) -> Result<Self, Failure> {
        let (outcome, queue) = ran(&snapshot)?;
        let idle = survey(&snapshot, &OutcomeRecord::new(&outcome, &queue), |_| true)?;
        let settings = language::settings();
        let mut accounts = BTreeMap::new();
        for ad in accounting {
            let ad = AdReader::of(ad, &settings);
            let number = |name: &str| ad.number(name).unwrap_or(0.0);
            if let Some(name) = ad.string("Name")
                && ad.truth("IsAccountingGroup") != Some(true)
            {
                let account = Account {
                    priority: number("Priority"),
                    factor: number("PriorityFactor"),
                    in_use: number("WeightedResourcesUsed"),
                    usage: number("WeightedAccumulatedUsage"),
                };
                accounts.insert(name.to_string(), account);
            }
        }
        let mut submitters: BTreeMap<String, JobCounts> = BTreeMap::new();
        for ad in snapshot.submitters.iter().flatten() {
            let ad = AdReader::of(ad, &settings);
            let Some(name) = ad.string("Name") else { continue };
            let counts = submitters.entry(name.to_string()).or_default();
            let count = |name: &str| ad.integer(name).unwrap_or(0);
            counts.idle += count("IdleJobs");
            counts.running += count("RunningJobs");
            counts.held += count("HeldJobs");
        }
        let jobs = Job::all(&snapshot.jobs, None, &settings);
        let names = JobNames::of(jobs.iter().map(|job| (job.id, job.schedd.as_deref())));
        drop(jobs);
        Ok(PoolStatus {
            snapshot,
            outcome,
            idle,
            accounts,
            submitters,
            negotiator,
            names,
            failures,
            warnings: Vec::new(),
            has_waited: false,
        })
    }

    /// A number in the ad of the negotiator about its last cycle, such as `Matches`.
    pub(crate) fn last_cycle(&self, what: &str) -> Option<f64> {
        AdReader::of(&self.negotiator, &language::settings()).number(format!("LastNegotiationCycle{what}0").as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_new_once_for_each_kind_and_source() {
        let mut before = Vec::new();
        let skipped = |ads: &str, name: &str| {
            format!("cannot read all of access point `{name}`: skipped {ads} a limit: more than 4 bytes")
        };
        let mut new = |ads: &str, name: &str| new_of(&mut before, vec![skipped(ads, name)]).len();
        assert_eq!([new("1 ad of `h:1` that exceeds", "ap1"), new("12 ads of `h:1` that exceed", "ap1")], [1, 0]);
        // Another source, one that is read again, and another kind.
        assert_eq!([new("12 ads of `h:1` that exceed", "ap2"), new("12 ads of `h:1` that exceed", "ap1")], [1, 1]);
        assert_eq!(
            new_of(&mut before, vec!["cannot read access point `ap1`: `h:1` does not answer".to_owned()]).len(),
            1
        );
        assert!(new_of(&mut before, Vec::new()).is_empty());
    }

    #[test]
    fn a_reading_that_waited_is_not_followed_by_a_long_pause() {
        let status = PoolStatus::of(Snapshot::default(), &[], ClassAd::default(), Vec::new()).unwrap();
        let (every, took) = (Duration::from_secs(30), Duration::from_secs(20));
        let after = |reading: &_| pause(every, PoolStatus::worked(reading, took)).as_secs();
        let mut reading = Ok(status);
        assert_eq!(after(&reading), 60);
        if let Ok(status) = &mut reading {
            status.has_waited = true;
        }
        assert_eq!((after(&reading), after(&Err(Failure::new("failed")))), (30, 30));
    }

    #[test]
    fn a_reading_that_fails_at_once_is_not_repeated_at_once() {
        let [none, second, three, minute] = [0, 1, 3, 60].map(Duration::from_secs);
        assert_eq!([pause(none, None), pause(three, None), pause(minute, None)], [second, three, minute]);
        assert_eq!([pause(none, Some(none)), pause(second, Some(second))], [none, three]);
    }
}
