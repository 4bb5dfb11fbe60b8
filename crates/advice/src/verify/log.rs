//! The logs of a negotiator, read line by line: `NegotiatorLog`, at any debug level, and `MatchLog`.
//!
//! In: lines. Out: the cycles in them, each with the decisions that it logged. Knows no pool and no replay.

use std::io::{self, BufRead};

use crate::verify::record::{CycleRecord, RecordedMatch, RecordedPie, RecordedRejection, RecordedVisit};
use classmate::Zone;
use classmate::internal::syntax::time::parse_instant;

/// Seconds without a decision after which the next one in a `MatchLog`, which does not mark cycles, belongs to another
/// cycle: `NEGOTIATOR_CYCLE_DELAY`, which no negotiator falls below by default.
const PAUSE: i64 = 20;

/// Offsets of time zones are multiples of this, in seconds.
const ZONE_STEP: i64 = 900;

/// The largest difference between two time zones, in seconds.
const MAX_ZONE: i64 = 26 * 3600;

/// The cycles of a log, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CycleLog {
    /// The cycles.
    pub cycles: Vec<CycleRecord>,
    /// The updates of priorities: local time of the log as epoch seconds, seconds since the update before, and the
    /// number of cycles that had started.
    updates: Vec<(i64, i64, usize)>,
    /// True if lines mark the start of a cycle.
    marked: bool,
    /// True if decisions are logged: the log has some, or says so when it begins.
    pub decides: bool,
}

impl CycleLog {
    /// Reads a log whose times are local times in `zone`.
    ///
    /// # Errors
    /// The log cannot be read.
    ///
    /// ```
    /// use classmate::Zone;
    /// use classmate_advice::internal::verify::log::CycleLog;
    /// let text = "11/22/26 13:39:03 ---------- Started Negotiation Cycle ----------\n\
    ///     11/22/26 13:39:03       Matched 5.0 eve@x <10.0.0.1:1?a> preempting none <10.0.0.2:2?b> slot1@m10\n\
    ///     11/22/26 13:39:03       Rejected 5.0 eve@x <10.0.0.1:1?a>: no match found\n";
    /// let log = CycleLog::read(text.as_bytes(), &Zone::utc())?;
    /// assert_eq!((log.cycles[0].started, log.cycles[0].matches[0].slot.as_str()), (Some(1_795_354_743), "slot1@m10"));
    /// assert_eq!(log.cycles[0].rejections[0].reason, "no match found");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(mut text: impl BufRead, zone: &Zone) -> io::Result<Self> {
        let mut reader = LogReader { log: Self::default(), zone, restarted: false, spin: 0, last: None };
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            if text.read_until(b'\n', &mut line)? == 0 {
                return Ok(reader.log);
            }
            number += 1;
            reader.line(number, &String::from_utf8_lossy(&line));
        }
    }

    /// Adds the decisions of a `MatchLog` to the cycles in which they were made, where these have none.
    pub fn add_matches(&mut self, matches: Self) {
        if !self.marked {
            return *self = matches;
        }
        self.decides |= matches.decides;
        let made = |cycle: &CycleRecord| {
            let times = cycle.matches.iter().map(|made| made.time);
            times.chain(cycle.rejections.iter().map(|one| one.time)).collect::<Vec<_>>()
        };
        let starts: Vec<i64> = self.cycles.iter().map(|cycle| cycle.started.unwrap_or(i64::MIN)).collect();
        let empty: Vec<bool> = self.cycles.iter().map(|cycle| made(cycle).is_empty()).collect();
        let within = |time: Option<i64>| {
            let at = starts.iter().rposition(|start| time.is_some_and(|time| *start <= time))?;
            empty[at].then_some(at)
        };
        for cycle in matches.cycles {
            for made in cycle.matches {
                if let Some(at) = within(made.time) {
                    self.cycles[at].matches.push(made);
                }
            }
            for rejected in cycle.rejections {
                if let Some(at) = within(rejected.time) {
                    self.cycles[at].rejections.push(rejected);
                }
            }
        }
    }

    /// Shifts all times by the difference between two time zones if the last cycle that has ended started at `latest`, epoch
    /// seconds, in another zone. Returns the seconds by which the times were wrong.
    pub fn align(&mut self, latest: i64) -> i64 {
        let last = self.cycles.iter().rev().find(|cycle| cycle.finished).and_then(|cycle| cycle.started);
        let wrong = last.and_then(|last| zone_difference(last, latest)).unwrap_or(0);
        self.shift(wrong);
        wrong
    }

    /// Shifts all times by the difference between two time zones if a cycle that has ended started at `started`, epoch seconds, in
    /// another zone. If several may be that cycle, this is no reason to doubt `known`, the difference so far, nor that there is
    /// none. Returns the seconds by which the times were wrong.
    pub fn align_any(&mut self, started: i64, known: i64) -> i64 {
        let ended = self.cycles.iter().rev().filter(|cycle| cycle.finished);
        let mut found: Vec<i64> = ended.filter_map(|cycle| zone_difference(cycle.started?, started)).collect();
        found.sort_by_key(|wrong| (*wrong != known, *wrong != 0));
        let wrong = found.first().copied().unwrap_or(known);
        self.shift(wrong);
        wrong
    }

    /// Shifts all times back.
    fn shift(&mut self, seconds: i64) {
        for cycle in &mut self.cycles {
            let made = cycle.matches.iter_mut().map(|made| &mut made.time);
            let rejected = cycle.rejections.iter_mut().map(|rejected| &mut rejected.time);
            for time in made.chain(rejected).chain([&mut cycle.started]).flatten() {
                *time -= seconds;
            }
        }
        for (time, ..) in &mut self.updates {
            *time -= seconds;
        }
    }

    /// The position of the first cycle that started at or after a time, epoch seconds, and has ended.
    pub fn cycle_after(&self, time: i64) -> Option<usize> {
        self.cycles.iter().position(|cycle| cycle.finished && cycle.started.is_some_and(|start| start >= time))
    }

    /// The clock of a cycle: the update of its priorities, if the log has it and `last_update` is the one before the first
    /// of them; otherwise the time at which it started.
    ///
    /// The log says how many seconds passed between two updates, so that the clock is known to the second and without a
    /// time zone.
    pub fn clock(&self, cycle: usize, last_update: Option<i64>) -> Option<i64> {
        let started = self.cycles[cycle].started;
        let since = |last: i64| {
            let until = |update: &&(i64, i64, usize)| update.2 <= cycle + 1 && update.0 >= last;
            let passed: i64 = self.updates.iter().filter(until).map(|(_, passed, _)| passed).sum();
            (passed > 0).then_some(last + passed)
        };
        let updated = last_update.and_then(since).filter(|at| started.is_none_or(|started| (at - started).abs() <= 2));
        updated.or(started)
    }
}

/// The difference between two time zones, in which one time is another; none if there is no such difference.
fn zone_difference(time: i64, other: i64) -> Option<i64> {
    let wrong = time - other;
    let hours = (wrong as f64 / ZONE_STEP as f64).round() as i64 * ZONE_STEP;
    ((wrong - hours).abs() <= 1 && hours.abs() <= MAX_ZONE).then_some(hours)
}

/// A log that is being read.
struct LogReader<'z> {
    log: CycleLog,
    zone: &'z Zone,
    /// True if the negotiator was started since the last cycle.
    restarted: bool,
    spin: u32,
    /// The last time stamp, as text and as epoch seconds: most lines have the same one.
    last: Option<(String, Option<i64>)>,
}

impl LogReader<'_> {
    fn line(&mut self, number: u64, line: &str) {
        let (time, text) = stamp(line.trim_end());
        let text = text.trim_start();
        let first = text.split([' ', '\t']).next().unwrap_or_default();
        // Most lines are none of these.
        match first {
            "Matched" => {
                if let Some(made) = matched(text) {
                    let (time, spin) = (self.time(time), self.spin);
                    self.decided(time).matches.push(RecordedMatch { line: number, time, spin, ..made });
                }
            }
            "Rejected" => {
                if let Some(rejected) = rejected(text) {
                    let time = self.time(time);
                    self.decided(time).rejections.push(RecordedRejection { line: number, time, ..rejected });
                }
            }
            "Negotiating" => {
                let submitter = text.strip_prefix("Negotiating with ").and_then(|rest| rest.split_once(" at "));
                if let Some((submitter, place)) = submitter.filter(|(submitter, _)| !submitter.contains(' ')) {
                    let (submitter, access_point) = (submitter.to_owned(), place.trim_end().to_owned());
                    let visit = RecordedVisit { line: number, submitter, access_point, ..RecordedVisit::default() };
                    self.cycle().visits.push(visit);
                }
            }
            "submitterLimit" => self.of_visit(text, |visit, limit| visit.limit = Some(limit)),
            "SubmitterPrio" => self.of_visit(text, |visit, priority| visit.priority = Some(priority)),
            "SubmitterPrioFactor" => self.of_visit(text, |visit, factor| visit.factor = Some(factor)),
            "pieLeft" => {
                if let Some(left) = assigned(text) {
                    self.cycle().pies.push(RecordedPie { line: number, left });
                }
            }
            "Phase" => {
                let spin = text.strip_prefix("Phase 4.").and_then(|rest| rest.split(':').next()?.parse().ok());
                self.spin = spin.unwrap_or(self.spin);
            }
            "**" => self.restarted |= text.ends_with("STARTING UP"),
            "Daemon" => self.log.decides |= text.starts_with("Daemon Log is logging:") && text.contains("D_MATCH"),
            "(ACCOUNTANT)" | "Updating" => {
                let passed =
                    text.split_once("Updating priorities").and_then(|(_, rest)| rest.split_once("TimePassed="));
                let passed = passed.and_then(|(_, seconds)| seconds.trim().parse().ok());
                if let Some((passed, time)) = passed.zip(self.time(time)) {
                    self.log.updates.push((time, passed, self.log.cycles.len()));
                }
            }
            "----------" if text.contains("Started Negotiation Cycle") => {
                let started = self.time(time);
                let restarted = std::mem::take(&mut self.restarted);
                self.log.marked = true;
                self.log.cycles.push(CycleRecord { line: number, started, restarted, ..CycleRecord::default() });
                self.spin = 0;
            }
            "----------" if text.contains("Finished Negotiation Cycle") => self.cycle().finished = true,
            _ => {}
        }
    }

    /// A time stamp as epoch seconds.
    fn time(&mut self, stamp: &str) -> Option<i64> {
        if let Some((_, time)) = self.last.as_ref().filter(|(known, _)| known == stamp) {
            return *time;
        }
        let time = instant(stamp, self.zone);
        self.last = Some((stamp.to_owned(), time));
        time
    }

    /// The cycle that is being logged.
    fn cycle(&mut self) -> &mut CycleRecord {
        if self.log.cycles.is_empty() {
            self.log.cycles.push(CycleRecord::default());
        }
        let last = self.log.cycles.len() - 1;
        &mut self.log.cycles[last]
    }

    /// The cycle of a decision. A log that does not mark cycles has pauses between them.
    fn decided(&mut self, time: Option<i64>) -> &mut CycleRecord {
        self.log.decides = true;
        if self.log.marked {
            return self.cycle();
        }
        let last = self.log.cycles.last().map(CycleRecord::last_decision);
        let pause = |last: Option<i64>| last.zip(time).is_some_and(|(last, time)| time - last >= PAUSE);
        if last.is_none_or(pause) {
            self.log.cycles.push(CycleRecord { started: time, finished: true, ..CycleRecord::default() });
        }
        self.cycle()
    }

    fn of_visit(&mut self, text: &str, set: impl FnOnce(&mut RecordedVisit, f64)) {
        if let Some((visit, number)) = self.cycle().visits.last_mut().zip(assigned(text)) {
            set(visit, number);
        }
    }
}

/// The number after `=`.
fn assigned(text: &str) -> Option<f64> {
    text.split_once('=')?.1.trim().parse().ok()
}

/// Splits a line into its time stamp and its text; categories and process numbers in between are left out.
fn stamp(line: &str) -> (&str, &str) {
    let digits =
        |text: &str| text.bytes().take_while(|byte| byte.is_ascii_digit() || b"/-:.TZ+".contains(byte)).count();
    let is_stamp = |text: &str, mark: &[char]| text.contains(mark) && text.starts_with(|c: char| c.is_ascii_digit());
    let date = digits(line);
    let mut end = 0;
    if is_stamp(&line[..date], &['/', '-']) {
        end = date;
        let time = line[date..].strip_prefix(' ').unwrap_or_default();
        let length = digits(time);
        if is_stamp(&time[..length], &[':']) {
            end = date + 1 + length;
        }
    } else if date >= 9 && line[..date].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        end = date;
    } else if let Some((seconds, _)) = line.strip_prefix('(').and_then(|rest| rest.split_once(") "))
        && seconds.len() >= 9
        && seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return (seconds, &line[seconds.len() + 2..]);
    }
    let (stamp, mut text) = line.split_at(end);
    // `(D_MATCH) (pid:17) (cid:3) ` and the like.
    while let Some((mark, rest)) = text.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        if !mark.starts_with("D_") && !mark.contains(':') {
            break;
        }
        text = rest;
    }
    (stamp, text)
}

/// A time stamp as epoch seconds: seconds, an ISO date, or `MM/DD/YY HH:MM:SS`.
fn instant(stamp: &str, zone: &Zone) -> Option<i64> {
    let whole = |text: &str| text.split('.').next().unwrap_or_default().to_owned();
    let Some((date, time)) = stamp.split_once(' ').filter(|(date, _)| date.contains('/')) else {
        return parse_instant(&whole(stamp).replace(' ', "T"), zone);
    };
    let mut parts = date.split('/');
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    let century = if year.len() == 2 { "20" } else { "" };
    parse_instant(&format!("{century}{year}-{month}-{day}T{}", whole(time)), zone)
}

/// A request in a line: the job, its submitter, and what follows the address of its access point.
fn request(text: &str) -> Option<((i64, i64), String, &str)> {
    let mut words = text.splitn(4, ' ').skip(1);
    let (job, submitter, rest) = (words.next()?, words.next()?, words.next()?);
    let (cluster, process) = job.split_once('.')?;
    let (_, rest) = rest.strip_prefix('<')?.split_once('>')?;
    Some(((cluster.parse().ok()?, process.parse().ok()?), submitter.to_owned(), rest))
}

/// `Matched 5.0 eve@x <access point> preempting none <execution point> slot1@m10`, perhaps followed by `(offline)`.
fn matched(text: &str) -> Option<RecordedMatch> {
    let ((cluster, process), submitter, rest) = request(text)?;
    let (preempted, rest) = rest.trim_start().strip_prefix("preempting ")?.split_once(" <")?;
    let (_, slot) = rest.split_once("> ")?;
    let slot = slot.split(' ').next()?.to_owned();
    let displaces = preempted.split(' ').next() != Some("none");
    Some(RecordedMatch { cluster, process, submitter, slot, displaces, ..RecordedMatch::default() })
}

/// `Rejected 5.0 eve@x <access point>: no match found`, perhaps followed by details after `|`.
fn rejected(text: &str) -> Option<RecordedRejection> {
    let ((cluster, _), submitter, rest) = request(text)?;
    let reason = rest.strip_prefix(':')?.split('|').next()?.trim().to_owned();
    Some(RecordedRejection { cluster, submitter, reason, ..RecordedRejection::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> CycleLog {
        CycleLog::read(text.as_bytes(), &Zone::utc()).unwrap()
    }

    #[test]
    fn every_form_of_a_time_stamp_is_read() {
        for line in [
            "11/22/26 13:39:03 ---------- Started Negotiation Cycle ----------",
            "11/22/26 13:39:03.579 (D_ALWAYS:2) (pid:17) ---------- Started Negotiation Cycle ----------",
            "2026-11-22T13:39:03 (pid:17) ---------- Started Negotiation Cycle ----------",
            "2026-11-22 13:39:03.1 ---------- Started Negotiation Cycle ----------",
            "(1795354743) ---------- Started Negotiation Cycle ----------",
            "1795354743.500 (D_ALWAYS) ---------- Started Negotiation Cycle ----------",
        ] {
            assert_eq!(read(line).cycles[0].started, Some(1_795_354_743), "{line}");
        }
        assert_eq!(read("---------- Started Negotiation Cycle ----------").cycles[0].started, None);
    }

    #[test]
    fn decisions_are_read_with_what_they_preempt() {
        let log = read(
            "Matched 5.0 g.eve@x <1> preempting bob@x (AccountingGroup=g.bob@x) <2> slot1@m (offline)\n\
             Matched pslot slot1@m by startd rank preempting 1 dynamic slots\n\
             Rejected 7.2 eve@x <1>: concurrency limit a, b reached | 3 slots\n",
        );
        let made = &log.cycles[0].matches;
        assert_eq!(made.len(), 1);
        assert_eq!(
            (made[0].cluster, &*made[0].submitter, &*made[0].slot, made[0].displaces),
            (5, "g.eve@x", "slot1@m", true)
        );
        assert_eq!(log.cycles[0].rejections[0].reason, "concurrency limit a, b reached");
    }

    #[test]
    fn a_match_log_is_divided_at_pauses_or_by_the_cycles_of_the_other_log() {
        let matches = "11/22/26 13:00:00 Matched 1.0 a@x <1> preempting none <2> s1@m\n\
             11/22/26 13:00:05 Rejected 1.0 a@x <1>: no match found\n\
             11/22/26 13:01:00 Matched 2.0 a@x <1> preempting none <2> s2@m\n";
        assert_eq!(read(matches).cycles.iter().map(|cycle| cycle.matches.len()).collect::<Vec<_>>(), [1, 1]);
        let mut log = read(
            "11/22/26 12:59:59 ---------- Started Negotiation Cycle ----------\n\
             11/22/26 13:00:59 ---------- Finished Negotiation Cycle ----------\n\
             11/22/26 13:00:59 ---------- Started Negotiation Cycle ----------\n",
        );
        log.add_matches(read(matches));
        let counts: Vec<_> = log.cycles.iter().map(|cycle| (cycle.matches.len(), cycle.rejections.len())).collect();
        assert_eq!(counts, [(1, 1), (1, 0)]);
        assert!(log.cycles[0].finished);
        assert_eq!((log.cycle_after(1_795_352_399), log.cycle_after(1_795_352_400)), (Some(0), None));
    }

    #[test]
    fn a_log_of_another_time_zone_is_aligned_with_the_negotiator_ad() {
        let text = "11/22/26 13:00:00 ---------- Started Negotiation Cycle ----------\n\
             11/22/26 13:00:01 Matched 1.0 a@x <1> preempting none <2> s1@m\n\
             11/22/26 13:00:02 ---------- Finished Negotiation Cycle ----------\n";
        let started = 1_795_352_400;
        for (latest, wrong) in
            [(started, 0), (started + 6 * 3600, -6 * 3600), (started - 19_800, 19_800), (started + 77, 0)]
        {
            let mut log = read(text);
            assert_eq!(log.align(latest), wrong);
            let cycle = &log.cycles[0];
            assert_eq!((cycle.started, cycle.matches[0].time), (Some(started - wrong), Some(started + 1 - wrong)));
        }
    }

    #[test]
    fn any_cycle_that_fits_aligns_a_log() {
        let cycle = |time: &str| {
            format!(
                "11/22/26 {time}:00 ---------- Started Negotiation Cycle ----------\n11/22/26 {time}:02 ---------- Finished Negotiation Cycle ----------\n"
            )
        };
        let (quarter, hours, started) = (900, 6 * 3600, 1_795_352_400);
        // Started at 13:00 and 13:15: the second one would do for the first, in another zone.
        let both = cycle("13:00") + &cycle("13:15");
        for (latest, known, wrong) in [
            (started, 0, 0),
            (started + quarter, 0, 0),
            (started + hours, -hours, -hours),
            (started + quarter + hours, -hours, -hours),
            // A cycle that the log does not have.
            (started + 77, 0, 0),
            (started + 77 + hours, -hours, -hours),
        ] {
            let mut log = read(&both);
            assert_eq!(log.align_any(latest, known), wrong);
            let starts = [started - wrong, started + quarter - wrong].map(Some);
            assert_eq!(log.cycles.iter().map(|cycle| cycle.started).collect::<Vec<_>>(), starts);
        }
        assert_eq!(read(&(cycle("13:00") + &cycle("13:01"))).align_any(started + hours, 0), -hours);
    }

    #[test]
    fn updates_of_priorities_give_the_clock() {
        let log = read(
            "11/22/26 13:00:00 ** condor_negotiator (CONDOR_NEGOTIATOR) STARTING UP\n\
             11/22/26 13:00:00 (ACCOUNTANT) Updating priorities - AgingFactor=   0.796 , TimePassed=33\n\
             11/22/26 13:00:01 ---------- Started Negotiation Cycle ----------\n\
             11/22/26 13:00:01 (ACCOUNTANT) Updating priorities - AgingFactor=   0.999 , TimePassed=2\n\
             11/22/26 13:01:01 ---------- Started Negotiation Cycle ----------\n",
        );
        assert!(log.cycles[0].restarted && !log.cycles[1].restarted);
        let started = 1_795_352_401;
        assert_eq!(log.clock(0, Some(started - 34)), Some(started + 1));
        // Another log of the accountant, or none.
        assert_eq!((log.clock(0, Some(5)), log.clock(0, None)), (Some(started), Some(started)));
    }
}
