//! The text that a negotiator appends to its log, cycle by cycle, also when the log is rotated.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use classmate::Zone;
use classmate_advice::internal::shadow::published::PublishedCycle;
use classmate_advice::internal::verify::log::CycleLog;
use classmate_advice::internal::verify::record::CycleRecord;

/// Most bytes that are read between two cycles; what is beyond is skipped.
const MAX_APPENDED: u64 = 256 << 20;

/// Most cycles that may come late.
const MAX_AWAITED: usize = 1000;

/// The line that ends a cycle.
const END: &[u8] = b"Finished Negotiation Cycle";

/// A log that is read as it grows.
#[derive(Debug)]
pub(super) struct LogTail {
    path: PathBuf,
    /// The file, as the system knows it.
    identity: u64,
    /// Bytes of the file that were read.
    offset: u64,
    /// The time of the last line of the log when a part of it could not be read, epoch seconds: cycles that started until then may
    /// lack matches.
    gap: Option<i64>,
    /// Most bytes that are read between two cycles.
    most: u64,
    /// The text after the last cycle that has ended.
    unfinished: Vec<u8>,
    /// Cycles with a start and an end, which were not taken yet, each with its clock.
    cycles: VecDeque<(CycleRecord, Option<i64>)>,
    /// Seconds by which the times were wrong that were read last, as the log is of another time zone.
    wrong: i64,
    /// Decisions of a log that does not mark cycles.
    loose: CycleRecord,
    /// Cycles that were passed over.
    passed: Vec<PublishedCycle>,
    /// The starts of cycles that were asked for and not there, as the log is late or could not be read: they may come.
    awaited: VecDeque<i64>,
}

impl LogTail {
    /// A log from its present end on.
    pub(super) fn at_end(path: &Path) -> io::Result<Self> {
        let (identity, offset) = facts(&File::open(path)?)?;
        let (unfinished, cycles) = (Vec::new(), VecDeque::new());
        let (path, loose, passed, awaited) = (path.to_owned(), CycleRecord::default(), Vec::new(), VecDeque::new());
        let (gap, most, wrong) = (None, MAX_APPENDED, 0);
        Ok(LogTail { path, identity, offset, gap, most, unfinished, cycles, wrong, loose, passed, awaited })
    }

    /// The path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The cycles that ended without being read from the negotiator's ad: it did not publish them, or no longer did when it was
    /// asked.
    pub(super) fn passed(&mut self) -> Vec<PublishedCycle> {
        std::mem::take(&mut self.passed)
    }

    /// The record of a cycle that has ended, and its clock; `None` if the log does not have its matches. `next`: the start of the
    /// cycle after it, if that has ended too; `updated`: the time of the update of priorities before it.
    pub(super) fn record(
        &mut self,
        cycle: &PublishedCycle,
        next: Option<i64>,
        updated: Option<i64>,
    ) -> io::Result<Option<(CycleRecord, i64)>> {
        if let Err(error) = self.read(cycle, updated) {
            self.await_one(cycle.started);
            return Err(error);
        }
        while let Some((one, _)) = self.cycles.front()
            && let Some(started) = one.started.filter(|start| *start < cycle.started - 1)
        {
            let ended = one.last_decision().unwrap_or(started);
            match self.awaited.iter().position(|awaited| (awaited - started).abs() <= 1) {
                Some(at) => drop(self.awaited.remove(at)),
                None => self.passed.push(PublishedCycle { started, ended, ..PublishedCycle::default() }),
            }
            self.cycles.pop_front();
        }
        let is_it = |one: &CycleRecord| one.started.is_none_or(|start| (start - cycle.started).abs() <= 1);
        let (record, clock) = match self.cycles.front() {
            Some((first, _)) if is_it(first) => self.cycles.pop_front().unwrap_or_default(),
            Some(_) => return Ok(None),
            None => {
                self.await_one(cycle.started);
                match self.of_time(cycle, next) {
                    Some(record) => (record, None),
                    None => return Ok(None),
                }
            }
        };
        let has_gap = self.gap.is_some_and(|gap| cycle.started <= gap);
        let least = if has_gap { i64::MAX } else { 1 };
        let is_without = cycle.matches.map_or(has_gap, |made| (record.matches.len() as i64) < made.min(least));
        Ok((!is_without).then_some((record, clock.unwrap_or(cycle.started))))
    }

    fn await_one(&mut self, started: i64) {
        self.awaited.truncate(MAX_AWAITED - 1);
        self.awaited.push_front(started);
    }

    /// Takes the decisions of a time out of those that belong to no marked cycle, and drops earlier ones. `None` if there are more
    /// matches than the negotiator published.
    fn of_time(&mut self, cycle: &PublishedCycle, next: Option<i64>) -> Option<CycleRecord> {
        let last = cycle.ended + 1;
        let (from, until) = (cycle.started - 1, next.map_or(last, |next| last.min(cycle.ended.max(next - 1))));
        let CycleRecord { matches, rejections, .. } = std::mem::take(&mut self.loose);
        let is_later = |time: Option<i64>| time.is_some_and(|time| time > until);
        let is_within = |time: Option<i64>| time.is_none_or(|time| (from..=until).contains(&time));
        let (later, matches): (Vec<_>, Vec<_>) = matches.into_iter().partition(|made| is_later(made.time));
        let mut matches: Vec<_> = matches.into_iter().filter(|made| is_within(made.time)).collect();
        let published = cycle.matches.map_or(usize::MAX, |made| usize::try_from(made).unwrap_or(0));
        // Those from its end on may be of the next cycle.
        let sure = matches.iter().take_while(|made| made.time.is_none_or(|time| time < cycle.ended)).count();
        let extra = matches.split_off(published.max(sure).min(matches.len()));
        self.loose.matches = extra.into_iter().chain(later).collect();
        let (later, rejections): (Vec<_>, Vec<_>) = rejections.into_iter().partition(|one| is_later(one.time));
        self.loose.rejections = later;
        let rejections = rejections.into_iter().filter(|one| is_within(one.time)).collect();
        let started = Some(cycle.started);
        (matches.len() <= published).then(|| CycleRecord {
            started,
            finished: true,
            matches,
            rejections,
            ..CycleRecord::default()
        })
    }

    /// Reads what was appended, of which a cycle that the negotiator published is a part.
    fn read(&mut self, published: &PublishedCycle, updated: Option<i64>) -> io::Result<()> {
        self.append()?;
        let end = memchr::memmem::rfind(&self.unfinished, END).map(|at| {
            at + self.unfinished[at..].iter().position(|byte| *byte == b'\n').map_or(END.len(), |line| line + 1)
        });
        let is_marked = memchr::memmem::find(&self.unfinished, b"Negotiation Cycle ----").is_some();
        let end = end.unwrap_or(if is_marked { 0 } else { self.unfinished.len() });
        let rest = self.unfinished.split_off(end);
        let text = std::mem::replace(&mut self.unfinished, rest);
        let mut log = CycleLog::read(&*text, &Zone::local())?;
        self.wrong = log.align_any(published.started, self.wrong);
        let clocks: Vec<Option<i64>> = (0..log.cycles.len()).map(|at| log.clock(at, updated)).collect();
        for (cycle, clock) in log.cycles.into_iter().zip(clocks) {
            if cycle.line > 0 {
                self.cycles.extend(cycle.finished.then_some((cycle, clock)));
            } else {
                self.loose.matches.extend(cycle.matches);
                self.loose.rejections.extend(cycle.rejections);
            }
        }
        Ok(())
    }

    /// Reads whole lines that were appended, also before a rotation.
    fn append(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let (identity, length) = facts(&file)?;
        if identity != self.identity || length < self.offset {
            // A folder that cannot be listed has none.
            let rotated = self.rotated(identity).unwrap_or_default();
            if rotated.is_empty() {
                self.lose(&file)?;
            }
            for mut old in rotated {
                // What was taken of several is not taken again after a failure.
                let (known, _) = facts(&old)?;
                if known != self.identity {
                    (self.identity, self.offset) = (known, 0);
                }
                self.take(&mut old)?;
            }
            (self.identity, self.offset) = (identity, 0);
        }
        self.take(&mut file)
    }

    /// The file that was read so far, under its new name, such as `MatchLog.old` or `MatchLog.20261126T154559`, and those that came
    /// after it and were rotated as well.
    fn rotated(&self, current: u64) -> io::Result<Vec<File>> {
        let name = self.path.file_name().unwrap_or_default().as_encoded_bytes();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let rest = entry.file_name();
            let rest = rest.as_encoded_bytes().strip_prefix(name).and_then(|rest| rest.strip_prefix(b"."));
            let is_rotated = rest.is_some_and(|rest| {
                rest == b"old" || rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'T') && !rest.is_empty()
            });
            // One may be gone at once.
            if is_rotated && let Ok(file) = File::open(entry.path()) {
                let (identity, length) = facts(&file)?;
                if identity != current {
                    files.push((file.metadata()?.modified()?, identity, length, file));
                }
            }
        }
        files.sort_by_key(|(modified, ..)| *modified);
        let is_known =
            |(_, identity, length, _): &(_, u64, u64, File)| *identity == self.identity && *length >= self.offset;
        let first = files.iter().position(is_known).unwrap_or(files.len());
        Ok(files.into_iter().skip(first).map(|(.., file)| file).collect())
    }

    fn take(&mut self, file: &mut File) -> io::Result<()> {
        let first = file.metadata()?.len().saturating_sub(self.most);
        if self.offset < first {
            self.lose(file)?;
            self.offset = first;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut text = Vec::new();
        (&mut *file).take(self.most).read_to_end(&mut text)?;
        text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1));
        self.offset += text.len() as u64;
        if self.unfinished.len() as u64 + text.len() as u64 > self.most {
            self.lose(file)?;
        }
        self.unfinished.append(&mut text);
        Ok(())
    }

    /// A part of the log up to this file is lost: what was read before it does not belong to what comes after it.
    fn lose(&mut self, file: &File) -> io::Result<()> {
        let written = file.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.gap = Some(written.as_secs() as i64);
        self.unfinished.clear();
        Ok(())
    }
}

/// The identity and the length of a file.
fn facts(file: &File) -> io::Result<(u64, u64)> {
    let facts = file.metadata()?;
    #[cfg(unix)]
    let identity = std::os::unix::fs::MetadataExt::ino(&facts);
    #[cfg(not(unix))]
    let identity = 0;
    Ok((identity, facts.len()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    /// 13:00:00 of 22 November 2026, UTC.
    const START: i64 = 1_795_352_400;

    fn append(path: &Path, text: &str) {
        std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn cycle(minute: i64, matches: i64) -> PublishedCycle {
        let started = START + 60 * minute;
        PublishedCycle { started, ended: started + 2, matches: Some(matches), ..PublishedCycle::default() }
    }

    fn written(minute: u32, slot: &str) -> String {
        format!(
            "11/22/26 13:{minute:02}:00 ---------- Started Negotiation Cycle ----------\n\
             11/22/26 13:{minute:02}:01 Matched 1.0 a@x <1> preempting none <2> {slot}\n\
             11/22/26 13:{minute:02}:02 ---------- Finished Negotiation Cycle ----------\n"
        )
    }

    fn slots(record: Option<(CycleRecord, i64)>) -> Vec<String> {
        record.map(|(record, _)| record.matches.into_iter().map(|made| made.slot).collect()).unwrap_or_default()
    }

    #[test]
    fn a_log_is_read_as_it_grows_and_when_it_is_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("NegotiatorLog");
        append(&path, &written(0, "early@m"));
        let mut tail = LogTail::at_end(&path).unwrap();
        append(&path, &written(1, "s1@m"));
        append(&path, "11/22/26 13:02:00 ---------- Started Negotiation Cycle ----------\n11/22/26 13:0");
        assert_eq!(slots(tail.record(&cycle(1, 1), None, None).unwrap()), ["s1@m"]);
        append(&path, "2:01 Matched 1.0 a@x <1> preempting none <2> s2@m\n");
        std::fs::rename(&path, folder.path().join("NegotiatorLog.old")).unwrap();
        append(&path, "11/22/26 13:02:02 ---------- Finished Negotiation Cycle ----------\n");
        assert_eq!(slots(tail.record(&cycle(2, 1), None, None).unwrap()), ["s2@m"]);
        // A cycle that the negotiator has published and the log does not have.
        assert_eq!(tail.record(&cycle(3, 2), None, None).unwrap(), None);
        assert!(tail.passed().is_empty());
        // Two that it did not publish, because it was restarted.
        for minute in 4..7 {
            append(&path, &written(minute, "s3@m"));
        }
        assert_eq!(slots(tail.record(&cycle(6, 1), None, None).unwrap()), ["s3@m"]);
        let passed = tail.passed().into_iter().map(|one| (one.started, one.ended)).collect::<Vec<_>>();
        assert_eq!(passed, [4, 5].map(|minute| (cycle(minute, 1).started, cycle(minute, 1).started + 1)));
    }

    #[test]
    fn cycles_that_the_log_shows_late_are_not_passed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join("NegotiatorLog"), folder.path().join("away"));
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        std::fs::rename(&path, &away).unwrap();
        for minute in 1..3 {
            append(&away, &written(minute, "s1@m"));
            assert!(tail.record(&cycle(minute.into(), 1), None, None).is_err());
        }
        // One that the log does not have yet, and one that was not asked for.
        std::fs::rename(&away, &path).unwrap();
        append(&path, &written(3, "s3@m"));
        assert_eq!(slots(tail.record(&cycle(3, 1), None, None).unwrap()), ["s3@m"]);
        assert_eq!(tail.record(&cycle(4, 1), None, None).unwrap(), None);
        append(&path, &(written(4, "s4@m") + &written(5, "s5@m") + &written(6, "s6@m")));
        assert_eq!(slots(tail.record(&cycle(6, 1), None, None).unwrap()), ["s6@m"]);
        assert_eq!(tail.passed().iter().map(|one| one.started).collect::<Vec<_>>(), [cycle(5, 1).started]);
    }

    /// A cycle with a match and an update of priorities this time after the one before.
    fn updated(minute: u32, passed: i64) -> String {
        let update = format!(
            "11/22/26 13:{minute:02}:01 (ACCOUNTANT) Updating priorities - AgingFactor=   0.9 , TimePassed={passed}\n"
        );
        let text = written(minute, &format!("s{minute}@m"));
        text.replacen('\n', &format!("\n{update}"), 1)
    }

    #[test]
    fn each_of_several_cycles_that_ended_before_the_log_is_read_has_its_own_clock() {
        // Also if the log is of another time zone.
        for zone in [0, 6 * 3600] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("NegotiatorLog");
            append(&path, "");
            let mut tail = LogTail::at_end(&path).unwrap();
            append(&path, &(updated(1, 60) + &updated(2, 61)));
            // Updates at 13:00:01, 13:01:01 and 13:02:02.
            let time = |seconds| START + zone + seconds;
            for (minute, before, clock) in [(1, time(1), time(61)), (2, time(61), time(122))] {
                let one = cycle(minute, 1);
                let one = PublishedCycle { started: one.started + zone, ended: one.ended + zone, ..one };
                let (record, found) = tail.record(&one, None, Some(before)).unwrap().unwrap();
                assert_eq!((record.matches[0].slot.as_str(), found), (&*format!("s{minute}@m"), clock));
            }
        }
    }

    #[test]
    fn a_log_with_several_old_files_is_read_when_it_is_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("NegotiatorLog");
        let rotate = |name: &str| std::fs::rename(&path, folder.path().join(format!("NegotiatorLog.{name}"))).unwrap();
        let lines = written(2, "s2@m").split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
        append(&folder.path().join("NegotiatorLog.20261121T100000"), &written(0, "older@m"));
        append(&folder.path().join("NegotiatorLog.lock"), &written(0, "none@m"));
        append(&path, &written(0, "early@m"));
        let mut tail = LogTail::at_end(&path).unwrap();
        append(&path, &written(1, "s1@m"));
        append(&path, &lines[0]);
        // Twice between two looks.
        rotate("20261122T130200");
        std::thread::sleep(Duration::from_millis(20));
        append(&path, &lines[1]);
        rotate("20261122T130201");
        append(&path, &lines[2]);
        assert_eq!(slots(tail.record(&cycle(1, 1), None, None).unwrap()), ["s1@m"]);
        assert_eq!(slots(tail.record(&cycle(2, 1), None, None).unwrap()), ["s2@m"]);
        // What is gone is noticed, as the negotiator says how many matches it made.
        append(&path, &lines[0].replace(":02:", ":03:"));
        std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        append(&path, &lines[1..].concat().replace(":02:", ":03:"));
        assert_eq!(tail.record(&cycle(3, 2), None, None).unwrap(), None);
        append(&path, &written(4, "s4@m"));
        assert_eq!(slots(tail.record(&cycle(4, 1), None, None).unwrap()), ["s4@m"]);
    }

    /// Sets the time at which the log was last written, to a minute and three seconds.
    fn written_at(path: &Path, minute: u64) {
        let time = UNIX_EPOCH + Duration::from_secs(START as u64 + 60 * minute + 3);
        File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn what_is_too_long_is_a_gap_for_all_cycles_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MatchLog");
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        let made = |minute: u32, number: u32| {
            format!("11/22/26 13:0{minute}:01 Matched 1.{number} a@x <1> preempting none <2> s{minute}{number}@m\n")
        };
        let line = made(1, 0).len() as u64;
        // Three lines are too long by one: the first match of cycle 1 is lost.
        append(&path, &(made(1, 0) + &made(1, 1) + &made(2, 0)));
        written_at(&path, 2);
        tail.most = 2 * line;
        assert_eq!(tail.record(&cycle(1, 2), None, None).unwrap(), None);
        // The cycle after it is in the same part: it is complete if it has as many matches as the negotiator shows.
        let unknown = PublishedCycle { matches: None, ..cycle(2, 0) };
        let [mut complete, mut lacking, mut unsure] = [0; 3].map(|_| {
            let mut tail = LogTail::at_end(&path).unwrap();
            (tail.most, tail.offset) = (2 * line, 0);
            assert_eq!(tail.record(&cycle(1, 2), None, None).unwrap(), None);
            tail
        });
        assert_eq!(slots(complete.record(&cycle(2, 1), None, None).unwrap()), ["s20@m"]);
        assert_eq!(lacking.record(&cycle(2, 2), None, None).unwrap(), None);
        assert_eq!(unsure.record(&unknown, None, None).unwrap(), None);
        // A later one is not affected: as ever, a match that the log does not have is no reason to doubt it.
        append(&path, &made(3, 0));
        assert_eq!(slots(tail.record(&cycle(3, 2), None, None).unwrap()), ["s30@m"]);
    }

    #[test]
    fn text_before_a_gap_is_not_part_of_a_cycle_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("NegotiatorLog");
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        let lines =
            [1, 2].map(|minute| written(minute, "s@m").split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>());
        append(&path, &lines[0][..2].concat());
        assert_eq!(slots(tail.record(&cycle(0, 0), None, None).unwrap()), [""; 0]);
        // The end of the first cycle and the start of the next are lost.
        std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        append(&path, &lines[1][1..].concat());
        written_at(&path, 2);
        assert_eq!(tail.record(&cycle(1, 1), None, None).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_listed_is_a_gap() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("NegotiatorLog");
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        std::fs::rename(&path, folder.path().join("NegotiatorLog.old")).unwrap();
        append(&path, &written(1, "s1@m"));
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o100)).unwrap();
        // Root may list it.
        let is_listed = std::fs::read_dir(folder.path()).is_ok();
        let found = tail.record(&cycle(1, 2), None, None);
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
        assert_eq!(slots(found.unwrap()).len(), usize::from(is_listed));
    }

    #[test]
    fn a_match_log_is_divided_by_the_times_of_cycles() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MatchLog");
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        for minute in 1..3 {
            append(
                &path,
                &format!("11/22/26 13:0{minute}:01 Matched {minute}.0 a@x <1> preempting none <2> s{minute}@m\n"),
            );
        }
        assert_eq!(slots(tail.record(&cycle(1, 1), None, None).unwrap()), ["s1@m"]);
        assert_eq!(slots(tail.record(&cycle(2, 1), None, None).unwrap()), ["s2@m"]);
    }

    #[test]
    fn a_cycle_of_a_match_log_does_not_take_the_matches_of_the_next_one() {
        let made = |second: u32, slot: &str| {
            format!("11/22/26 13:00:0{second} Matched 1.0 a@x <1> preempting none <2> {slot}@m\n")
        };
        let lasting = |started, ended, matches| PublishedCycle {
            started: START + started,
            ended: START + ended,
            matches,
            ..PublishedCycle::default()
        };
        // The next cycle starts in the second in which the first one ends, or in the one after that; it has ended too, or not.
        for (next, is_known) in [(2, false), (2, true), (3, false), (3, true)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("MatchLog");
            append(&path, "");
            let mut tail = LogTail::at_end(&path).unwrap();
            append(&path, &[made(1, "s1"), made(2, "s2"), made(next, "s3"), made(4, "s4")].concat());
            let known = is_known.then_some(START + next as i64);
            let first = tail.record(&lasting(0, 2, Some(2)), known, None).unwrap();
            assert_eq!(slots(first), ["s1@m", "s2@m"]);
            let second = tail.record(&lasting(next as i64, 4, Some(2)), None, None).unwrap();
            assert_eq!(slots(second), ["s3@m", "s4@m"]);
        }
        // The number of matches is not published: the start of the next cycle tells them apart.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MatchLog");
        append(&path, "");
        let mut tail = LogTail::at_end(&path).unwrap();
        append(&path, &[made(1, "s1"), made(3, "s3")].concat());
        let first = tail.record(&lasting(0, 2, None), Some(START + 3), None).unwrap();
        assert_eq!(slots(first), ["s1@m"]);
        // More matches before the end than the negotiator published: something is wrong.
        append(&path, &[made(5, "s5"), made(5, "s6")].concat());
        assert_eq!(tail.record(&lasting(3, 7, Some(2)), None, None).unwrap(), None);
    }
}
