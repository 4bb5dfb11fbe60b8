//! Reads a pool again and again, and notices when its negotiator has finished a cycle.
//!
//! A negotiator has one thread: it answers only between cycles. So no cycle has started or ended during a reading if its ad
//! has the same cycles before and after it, and the configuration is the one it had if it was not reconfigured either. The last such
//! reading is what a cycle is predicted from.

use std::path::Path;
use std::time::{Duration, Instant};

use super::history::{ShadowHistory, ShadowLine, ShadowResult};
use super::load::RecordedLoad;
use super::log_tail::LogTail;
use crate::cli::input::Notes;
use crate::cli::live::{LiveReader, NO_CONFIG};
use crate::cli::status::{new_of, pause};
use crate::cli::{Failure, Now, settings};
use crate::report::Color;
use classmate_advice::internal::shadow::observed::observed;
use classmate_advice::internal::shadow::policy::PolicyComparison;
use classmate_advice::internal::shadow::published::{NegotiatorTimes, PublishedCycle, new_cycles, published_cycles};
use classmate_advice::internal::shadow::unread::{PoolPart, UnreadPart};
use classmate_advice::internal::shadow::{ActualSource, WatchedCycle, shadow_cycle};
use classmate_advice::internal::verify::record::CycleRecord;
use classmate_config::Config;
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::SlotAttributes;
use classmate_wire::{PoolSource, SourceFailure};

/// Time between two looks at the negotiator.
const LOOK: Duration = Duration::from_secs(1);

/// Longest pause after a failure.
const MAX_BACKOFF: Duration = Duration::from_mins(1);

/// Time of a question from which on it waited for an answer.
const WAITED: Duration = Duration::from_secs(5);

/// Longest time for which a cycle with a record waits for a reading after it.
const MAX_WAIT: Duration = Duration::from_mins(10);

/// Time after a cycle in which its matches become claims that a collector and an access point show.
const SETTLE: Duration = Duration::from_secs(5);

/// A reading of the pool during which no cycle took place.
struct PoolReading {
    snapshot: Snapshot,
    /// Time at which it began, epoch seconds.
    began: i64,
    /// The times of the negotiator at the start.
    negotiator: NegotiatorTimes,
    /// The parts that could not be read.
    unread: Vec<UnreadPart>,
}

/// A cycle that waits for a reading after it.
struct Pending {
    published: PublishedCycle,
    before: PoolReading,
    /// The times of the negotiator after the cycle.
    negotiator: NegotiatorTimes,
    /// Its matches, if a log has them.
    record: Option<CycleRecord>,
    since: Instant,
    /// Cycles after it that could not be predicted, with the reason.
    followers: Vec<(PublishedCycle, String)>,
}

/// The result of a step.
#[derive(Default)]
pub(super) struct WatchStep {
    pub(super) cycles: Vec<ShadowLine>,
    pub(super) events: Vec<String>,
    /// The time to the next step.
    pub(super) pause: Duration,
}

/// Watches a pool.
pub(super) struct Watcher<'r> {
    reader: LiveReader<'r>,
    every: Duration,
    /// The cycles in the ad of the negotiator.
    known: Vec<PublishedCycle>,
    /// The times of the negotiator in that ad.
    negotiator: NegotiatorTimes,
    before: Option<PoolReading>,
    pending: Option<Pending>,
    log: Option<LogTail>,
    /// The jobs so far, if another policy is to be compared.
    load: Option<RecordedLoad>,
    /// The time of the next reading.
    due: Instant,
    /// The failure that lasts, with its start and the pause after it.
    failing: Option<(String, Instant, Duration)>,
    /// True if the last question to the negotiator failed after a time.
    has_waited: bool,
    /// The sources that could not be read last time, and warnings.
    unread: Vec<String>,
}

impl<'r> Watcher<'r> {
    /// Looks at the negotiator once: what is wrong now, such as a token, will be wrong later.
    pub(super) fn start(reader: LiveReader<'r>, log: Option<&Path>, every: Duration) -> Result<Self, Failure> {
        let mut watcher = Watcher {
            reader,
            every,
            known: Vec::new(),
            negotiator: NegotiatorTimes::default(),
            before: None,
            pending: None,
            log: None,
            load: None,
            due: Instant::now(),
            failing: None,
            has_waited: false,
            unread: Vec::new(),
        };
        watcher.known = watcher.look()?;
        watcher.negotiator = watcher.reader.times();
        let log = log.map(|path| LogTail::at_end(path).map_err(|error| Failure::reading(path.display(), &error)));
        watcher.log = log.transpose()?;
        Ok(watcher)
    }

    /// Goes on with a record of the load, to compare another policy with what happens.
    pub(super) fn record_load(&mut self, directory: &Path, other: Config, began: i64) -> Result<(), Failure> {
        let mut base = self.reader.read(SlotAttributes::All, false)?.snapshot;
        base.jobs.clear();
        base.submitters = None;
        self.load = Some(RecordedLoad::new(directory, other, base, began)?);
        Ok(())
    }

    /// The load under the other policy, each time that it was compared, and at the end.
    pub(super) fn compare_policies(&mut self, is_end: bool) -> Result<Option<PolicyComparison>, Failure> {
        self.load.as_mut().map_or(Ok(None), |load| load.compare(is_end))
    }

    /// Looks at the pool once.
    pub(super) fn step(&mut self, history: &mut ShadowHistory) -> WatchStep {
        let (mut seen, began) = (WatchStep::default(), Instant::now());
        self.has_waited = false;
        // After a failure, the pool is not read before the negotiator answers.
        let is_due = began >= self.due;
        let looked = if is_due && self.failing.is_none() { Ok(Vec::new()) } else { self.look() };
        let result = match looked {
            Ok(_) if is_due => self.read(&mut seen).map(|(reading, cycles)| (Some(reading), cycles)),
            looked => looked.map(|cycles| (None, cycles)),
        };
        match result {
            Ok((reading, cycles)) => {
                let failed = self.failing.take();
                if let Some((_, since, _)) = &failed {
                    seen.events.push(format!("the pool is read again after {} s", since.elapsed().as_secs()));
                }
                let took = reading.is_some().then(|| began.elapsed().as_secs());
                self.take(reading, cycles, (failed.is_some(), took), history, &mut seen);
                seen.pause = LOOK.min(self.due.saturating_duration_since(Instant::now()));
            }
            Err(failure) => {
                let pause = self.fail(&failure, &mut seen);
                // Who waits for a negotiator in a long cycle does not ask all the time.
                seen.pause = if self.has_waited { LOOK } else { pause };
            }
        }
        seen
    }

    /// Finishes the cycle that waits for a reading after it.
    pub(super) fn end(&mut self, history: &mut ShadowHistory) -> WatchStep {
        let mut seen = WatchStep::default();
        let Some(pending) = self.pending.take() else { return seen };
        if pending.record.is_none() {
            std::thread::sleep(SETTLE.saturating_sub(pending.since.elapsed()));
        }
        let after = match self.read(&mut seen) {
            Ok((reading, cycles)) if cycles == self.known => Some(reading),
            // Another cycle took place: the last reading before it.
            Ok(_) => self.before.take(),
            Err(failure) => {
                seen.events.push(failure.message().to_owned());
                self.before.take()
            }
        };
        finish(pending, after.as_ref(), history, &mut seen.cycles);
        seen
    }

    /// Reports a failure when it is new; returns the pause after it.
    fn fail(&mut self, failure: &Failure, seen: &mut WatchStep) -> Duration {
        let text = failure.message().to_owned();
        let (since, pause) = match self.failing.take() {
            Some((known, since, pause)) if known == text => (since, MAX_BACKOFF.min(pause * 2)),
            known => {
                seen.events.push(text.clone());
                (known.map_or_else(Instant::now, |(_, since, _)| since), LOOK)
            }
        };
        self.failing = Some((text, since, pause));
        pause
    }

    /// The cycles that the negotiator has now.
    fn look(&mut self) -> Result<Vec<PublishedCycle>, Failure> {
        let began = Instant::now();
        let ad = self.reader.negotiator();
        self.has_waited = ad.is_err() && began.elapsed() >= WAITED;
        Ok(published_cycles(&ad?))
    }

    /// Reads the pool, and looks at the negotiator after that.
    fn read(&mut self, seen: &mut WatchStep) -> Result<(PoolReading, Vec<PublishedCycle>), Failure> {
        let (began, started, negotiator) = (Now::Wall.seconds(), Instant::now(), self.reader.times());
        let read = self.reader.read(SlotAttributes::Cycle, false)?;
        let mut notes = Notes::default();
        let maps = settings::user_maps(&read.snapshot.config, &mut notes)?;
        let unread: Vec<UnreadPart> = read.failures.iter().map(unread_part).collect();
        if let Some(load) = &mut self.load {
            seen.events.extend(load.observe(&read.snapshot.jobs, began, &unread));
        }
        let warnings = if read.has_config { notes.lines(Color::Off) } else { vec![NO_CONFIG.to_owned()] };
        let cycles = self.look()?;
        self.due = Instant::now() + pause(self.every, (!read.has_waited).then(|| started.elapsed()));
        seen.events
            .extend(new_of(&mut self.unread, read.failures.iter().map(ToString::to_string).chain(warnings).collect()));
        let snapshot = Snapshot { maps, first_cycle: cycles.is_empty(), ..read.snapshot };
        Ok((PoolReading { snapshot, began, negotiator, unread }, cycles))
    }

    /// Takes what was seen into account; `failed`: the look before it failed; `took`: the seconds that the reading took.
    fn take(
        &mut self,
        reading: Option<PoolReading>,
        cycles: Vec<PublishedCycle>,
        (failed, took): (bool, Option<u64>),
        history: &mut ShadowHistory,
        seen: &mut WatchStep,
    ) {
        let (new, is_cut) = new_cycles(&self.known, &cycles);
        let mut ended = self.known.first().map(|last| last.ended);
        let negotiator = self.reader.times();
        let is_same = cycles == self.known && negotiator == self.negotiator;
        (self.known, self.negotiator) = (cycles, negotiator);
        if !is_same {
            self.due = Instant::now();
        }
        if is_same && let Some(reading) = reading {
            let is_settled = |pending: &Pending| pending.record.is_some() || pending.since.elapsed() >= SETTLE;
            if self.pending.as_ref().is_some_and(is_settled)
                && let Some(pending) = self.pending.take()
            {
                finish(pending, Some(&reading), history, &mut seen.cycles);
            }
            self.before = Some(reading);
            return;
        }
        if new.is_empty() {
            return;
        }
        // The last reading before this cycle shows what became of the one before it. If there is none, what a log says waits for the next,
        // but not for ever.
        let is_over = |pending: &mut Pending| {
            self.before.is_some() || pending.record.is_none() || pending.since.elapsed() >= MAX_WAIT
        };
        if let Some(pending) = self.pending.take_if(is_over) {
            finish(pending, self.before.as_ref(), history, &mut seen.cycles);
        }
        if is_cut {
            seen.events.push("the negotiator was restarted, or cycles went by between two looks at it".to_owned());
        }
        let starts: Vec<i64> = new.iter().map(|cycle| cycle.started).collect();
        for (at, published) in new.into_iter().enumerate() {
            let next = starts.get(at + 1).copied();
            let gap = ended.replace(published.ended).map(|ended| published.started - ended);
            let Some(mut before) = self.before.take() else {
                let reason = reason_without_reading(failed, gap, took);
                // Its lines are not those of the next cycle.
                let _ = self.log.as_mut().map(|log| log.record(&published, next, None));
                self.pass(history, seen);
                match &mut self.pending {
                    Some(pending) => pending.followers.push((published, reason)),
                    None => seen.cycles.push(history.add(&published, None, ShadowResult::missed(reason))),
                }
                continue;
            };
            let (record, clock) = self.record(&published, next, &before, seen);
            self.pass(history, seen);
            before.snapshot.now = clock;
            let pending =
                Pending { published, before, negotiator, record, since: Instant::now(), followers: Vec::new() };
            match compared(&pending, None) {
                // Nothing is to be explained.
                Some(ShadowResult::Compared(cycle)) if cycle.identical => {
                    let read = Some(pending.before.began);
                    seen.cycles.push(history.add(&pending.published, read, ShadowResult::Compared(cycle)));
                }
                _ => self.pending = Some(pending),
            }
        }
    }

    /// Lists the cycles that the negotiator did not show before it ended, or that others followed too fast.
    fn pass(&mut self, history: &mut ShadowHistory, seen: &mut WatchStep) {
        let reason =
            || "only the log shows it: the negotiator was restarted, or ran more cycles than it publishes".to_owned();
        for published in self.log.as_mut().map(LogTail::passed).unwrap_or_default() {
            match &mut self.pending {
                Some(pending) => pending.followers.push((published, reason())),
                None => seen.cycles.push(history.add(&published, None, ShadowResult::missed(reason()))),
            }
        }
    }

    /// The matches of a cycle in the log, and the clock of the cycle; `next` is the start of the one after it.
    fn record(
        &mut self,
        published: &PublishedCycle,
        next: Option<i64>,
        before: &PoolReading,
        seen: &mut WatchStep,
    ) -> (Option<CycleRecord>, i64) {
        let Some(log) = &mut self.log else { return (None, published.started) };
        let updated = before.snapshot.log.as_ref().and_then(|log| log.get(b"Accountant.")?.integer("LastUpdateTime"));
        let wrong = match log.record(published, next, updated) {
            Ok(Some((record, clock))) => return (Some(record), clock),
            Ok(None) => format!("`{}` does not have the matches of the cycle", log.path().display()),
            Err(error) => Failure::reading(log.path().display(), &error).message().to_owned(),
        };
        seen.events.push(format!("{wrong}: comparing with the claims instead"));
        (None, published.started)
    }
}

/// The reason for which a cycle has no prediction: the look at the negotiator before it failed, or it followed the one before it after a
/// `gap` of seconds, or it began during a reading that `took` some seconds.
fn reason_without_reading(failed: bool, gap: Option<i64>, took: Option<u64>) -> String {
    match (failed, gap, took) {
        (true, ..) => "the pool could not be read between this cycle and the one before it".to_owned(),
        (_, Some(0..2), _) => "it followed the one before it too fast".to_owned(),
        (_, _, Some(took)) => format!("it began while the pool was being read, which took {} s", took.max(1)),
        _ => "the pool was not read between this cycle and the one before it".to_owned(),
    }
}

/// The part of the pool that a source is.
fn unread_part(failure: &SourceFailure) -> UnreadPart {
    let part = match &failure.source {
        PoolSource::AccessPoint(name) => PoolPart::AccessPoint(name.clone()),
        PoolSource::Slots => PoolPart::Slots,
        PoolSource::Submitters => PoolPart::Submitters,
        other => PoolPart::Other(other.to_string()),
    };
    UnreadPart { part, is_partial: failure.is_partial() }
}

/// Compares a cycle with its prediction. `None`: its matches are not known without a reading after it.
fn compared(pending: &Pending, after: Option<&PoolReading>) -> Option<ShadowResult> {
    let claims = || after.map(|after| observed(&pending.before.snapshot, &after.snapshot));
    let (record, source) = match &pending.record {
        Some(record) => (record.clone(), ActualSource::Log),
        None => (claims()?, ActualSource::Claims),
    };
    let watched = WatchedCycle {
        before: &pending.before.snapshot,
        read: pending.before.began,
        unread: &pending.before.unread,
        unread_after: after.map_or(&[], |after| &after.unread),
        record: &record,
        source,
        after: after.map(|after| &after.snapshot),
        published: &pending.published,
        negotiator: [pending.before.negotiator, pending.negotiator],
    };
    Some(match shadow_cycle(&watched) {
        Ok(cycle) => ShadowResult::Compared(cycle),
        Err(error) => ShadowResult::missed(error.to_line()),
    })
}

/// Finishes a cycle with the reading after it, if there is one, and those that followed it.
fn finish(pending: Pending, after: Option<&PoolReading>, history: &mut ShadowHistory, lines: &mut Vec<ShadowLine>) {
    let missed = || ShadowResult::missed("the pool could not be read after it, and no log has its matches");
    let result = compared(&pending, after).unwrap_or_else(missed);
    lines.push(history.add(&pending.published, Some(pending.before.began), result));
    for (published, reason) in pending.followers {
        lines.push(history.add(&published, None, ShadowResult::missed(reason)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_without_a_reading_before_it_has_its_reason() {
        let (failed, not_read) = ["could not be", "was not"]
            .map(|verb| format!("the pool {verb} read between this cycle and the one before it"))
            .into();
        let fast = "it followed the one before it too fast".to_owned();
        let slow = "it began while the pool was being read, which took 40 s".to_owned();
        for (has_failed, gap, took, reason) in [
            (true, Some(0), Some(40), &failed),
            (false, Some(1), Some(40), &fast),
            (false, Some(0), None, &fast),
            (false, Some(20), Some(40), &slow),
            (false, None, Some(40), &slow),
            // The computer slept, or the clock of the negotiator was set back.
            (false, Some(20), None, &not_read),
            (false, Some(-5), None, &not_read),
        ] {
            assert_eq!(reason_without_reading(has_failed, gap, took), *reason);
        }
    }
}
