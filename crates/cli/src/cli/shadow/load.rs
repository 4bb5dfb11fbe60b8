//! The load of a pool in the state directory, and what another policy would have done with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cli::input::Notes;
use crate::cli::{Failure, Now, complain};
use crate::report::Color;
use classmate::internal::format::room::Room;
use classmate::{ClassAd, Format, Writer};
use classmate_advice::internal::shadow::load::LoadRecorder;
use classmate_advice::internal::shadow::policy::{PolicyComparison, compare_policies};
use classmate_advice::internal::shadow::unread::UnreadPart;
use classmate_config::Config;
use classmate_pool::Snapshot;
use classmate_pool::internal::negotiate::directory::{AdInput, read_ads};
use classmate_pool::internal::negotiate::rules::Rules;

/// The size at which the file of jobs is rotated; one older file is kept.
const MAX_BYTES: u64 = 256 << 20;

/// Pause between two comparisons, at least, and in multiples of the time that one takes.
const PAUSE: Duration = Duration::from_hours(1);
const FACTOR: u32 = 100;

/// Jobs that ended and wait for a file that cannot be written; further ones are lost.
const MAX_UNWRITTEN: usize = 10_000;

/// A comparison, or none if no job has run.
type Compared = Result<Option<PolicyComparison>, Failure>;

/// The jobs of a pool, in a file when they have ended, and the policy to compare with.
pub(super) struct RecordedLoad {
    recorder: LoadRecorder,
    directory: PathBuf,
    other: Config,
    /// The pool at the start.
    base: Snapshot,
    /// Jobs that ended and are not in the file yet.
    unwritten: Vec<ClassAd>,
    /// Number of jobs that ended and were lost, as too many waited.
    lost: u64,
    /// The reason why the file could not be written last time.
    wrong: Option<String>,
    /// The time of the next comparison.
    due: Instant,
    /// The comparison that is made now, and its start.
    running: Option<(JoinHandle<Compared>, Instant)>,
}

impl RecordedLoad {
    /// A record that began at this time, perhaps in an earlier run.
    ///
    /// # Errors
    /// A setting of the other policy that is wrong.
    pub(super) fn new(directory: &Path, other: Config, base: Snapshot, began: i64) -> Result<Self, Failure> {
        Rules::read(&other, &base.settings())?;
        Ok(RecordedLoad {
            recorder: LoadRecorder::new(began),
            directory: directory.to_owned(),
            other,
            base,
            unwritten: Vec::new(),
            lost: 0,
            wrong: None,
            due: Instant::now() + PAUSE,
            running: None,
        })
    }

    fn file(&self, is_old: bool) -> PathBuf {
        self.directory.join(if is_old { "jobs.1.ads" } else { "jobs.ads" })
    }

    /// Takes the jobs of a reading, with the sources that could not be read, and appends those that ended to the file. Returns the
    /// reason if that is not possible, when it is a new one; the jobs are written later then.
    pub(super) fn observe(&mut self, jobs: &[ClassAd], now: i64, unread: &[UnreadPart]) -> Option<String> {
        self.unwritten.extend(self.recorder.observe(jobs, now, unread));
        if self.unwritten.is_empty() {
            return None;
        }
        let Err(error) = self.write() else {
            self.unwritten.clear();
            self.wrong = None;
            return None;
        };
        let lost = self.unwritten.len().saturating_sub(MAX_UNWRITTEN) as u64;
        self.unwritten.truncate(MAX_UNWRITTEN);
        let is_first = lost > 0 && self.lost == 0;
        self.lost += lost;
        let mut reason = Failure::writing(self.file(false).display(), &error).message().to_owned();
        if is_first {
            reason.push_str(&format!(", and more than {MAX_UNWRITTEN} jobs wait: further ones are left out"));
            return Some(reason);
        }
        let reason = Some(reason);
        let is_new = self.wrong != reason;
        self.wrong = reason;
        self.wrong.clone().filter(|_| is_new)
    }

    fn write(&self) -> io::Result<()> {
        let path = self.file(false);
        if fs::metadata(&path).is_ok_and(|facts| facts.len() > MAX_BYTES) {
            fs::rename(&path, self.file(true))?;
        }
        let mut text = Vec::new();
        let mut writer = Writer::new(&mut text, Format::Long);
        for ad in &self.unwritten {
            writer.write(ad)?;
        }
        writer.finish()?;
        text.push(b'\n');
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let before = file.metadata()?.len();
        let written = file.write_all(&text);
        if written.is_err() {
            // All of it is written again later.
            file.set_len(before)?;
        }
        written
    }

    /// The load so far under the other policy, when a comparison is complete, which takes place beside the watch; at the end it is
    /// waited for. `None` also if no job has run.
    pub(super) fn compare(&mut self, is_end: bool) -> Compared {
        if is_end {
            // One that runs does not know the last jobs.
            self.running = None;
            return joined(self.comparison()?);
        }
        let result = match self.running.take_if(|(thread, _)| thread.is_finished()) {
            Some((thread, started)) => {
                let result = joined(thread);
                // Also after a failure, which is likely to come again.
                self.due = Instant::now() + PAUSE.max(started.elapsed() * FACTOR);
                result
            }
            None => Ok(None),
        };
        if self.running.is_none() && Instant::now() >= self.due {
            self.running = Some((self.comparison()?, Instant::now()));
        }
        result
    }

    /// Starts a comparison of what is known now.
    ///
    /// # Errors
    /// The system has no room for another thread.
    fn comparison(&self) -> Result<JoinHandle<Compared>, Failure> {
        let (base, other, now) = (self.base.clone(), self.other.clone(), Now::Wall.seconds());
        let files = self.files();
        let (mut more, left_out) = self.recorder.running(now);
        more.extend_from_slice(&self.unwritten);
        let left_out = left_out + self.lost;
        let compare = move || {
            let (options, mut notes) = (base.settings().parse_options(), Notes::default());
            let mut ads = Vec::new();
            for file in files? {
                let (read, file) = read_ads(file, &options, None, |ad, ()| ad)?;
                notes.add_file(file);
                ads.extend(read);
            }
            notes.lines(Color::Off).iter().for_each(|line| complain(line));
            ads.extend(more);
            Ok(compare_policies(ads, &base, &other, (now, left_out))?)
        };
        let thread = std::thread::Builder::new().name("comparison".into()).spawn(compare);
        thread.map_err(|error| Failure::new(format!("cannot start the comparison of policies: {error}")))
    }

    /// The files as they are now: another thread reads them, while they grow and are rotated.
    fn files(&self) -> Result<Vec<AdInput>, Failure> {
        let mut files = Vec::new();
        for path in [true, false].map(|is_old| self.file(is_old)).iter().filter(|path| path.exists()) {
            let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
            let (size, file) = opened.map_err(|error| Failure::reading(path.display(), &error))?;
            let (reader, name) = (Box::new(BufReader::new(file.take(size))), path.display().to_string());
            files.push(AdInput::text(reader, name, Room::default()));
        }
        Ok(files)
    }
}

/// The result of a comparison, which is waited for.
fn joined(thread: JoinHandle<Compared>) -> Compared {
    thread.join().unwrap_or_else(|_| Err(Failure::new("the comparison of policies ended early")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: i64) -> ClassAd {
        let text = format!(
            "[ClusterId = {number}; ProcId = 0; JobStatus = 2; User = \"a@x\"; Owner = \"a\"; JobUniverse = 5; \
             GlobalJobId = \"s#{number}.0\"; RequestCpus = 1; QDate = 50; JobCurrentStartDate = 60]"
        );
        ClassAd::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn jobs_wait_for_a_file_that_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("missing");
        let now = Now::Wall.seconds();
        let mut load = RecordedLoad::new(&directory, Config::default(), Snapshot::default(), now).unwrap();
        assert_eq!(load.observe(&[job(1), job(2), job(3)], now, &[]), None);
        let reason = load.observe(&[job(2), job(3)], now + 1, &[]).unwrap();
        assert!(reason.ends_with("jobs.ads`: no such file or directory"), "{reason}");
        // Known already.
        assert_eq!(load.observe(&[job(3)], now + 2, &[]), None);
        fs::create_dir(&directory).unwrap();
        assert_eq!(load.observe(&[job(3)], now + 3, &[]), None);
        let written = fs::read_to_string(directory.join("jobs.ads")).unwrap();
        assert_eq!(written.matches("\nClusterId = ").count() + usize::from(written.starts_with("ClusterId")), 2);
        assert!(load.unwritten.is_empty());
    }

    #[test]
    fn a_policy_that_is_wrong_is_no_policy() {
        let other = Config::parse("other.conf", b"NEGOTIATOR_PRE_JOB_RANK = (").unwrap();
        let error = RecordedLoad::new(Path::new("x"), other, Snapshot::default(), 0).err().unwrap();
        assert!(error.shown().contains("NEGOTIATOR_PRE_JOB_RANK"), "{}", error.shown());
    }
}
